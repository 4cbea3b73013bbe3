// SPDX-License-Identifier: Apache-2.0
// Plants: branches of links on branches. All links of one level and one segment number are equal,
// so one bulk call adds them: segment c of S has length L / S and radius
//
//   r_c = radius (1 - (1 - tip) c / (S - 1)),
//
// and a branch of n < S links consists of segments S - n .. S - 1. A branch at part u of its
// carrier has n = S (1 - shorten u) (1 - variation random) links. It leaves the carrier in the
// direction
//
//   R Rx(phi) Rz(spread + u (spread_tip - spread)),   phi = phi_0 + j phyllotaxis,
//
// and turns from link to link by droop sin(angle to the vertical) / S in the vertical plane, and by
// a random angle of at most `wiggle`. Springs: bending modulus E, E pi r^4 / (4 length) about x and
// y, and over 1 + poisson about z, along the link (E I / length and G J / length of a round rod).
//
// Memory besides the scene: two levels of branches and one set of segments.

#include "generate/field_defaults.h"
#include "generate/tools.h"

#include <math.h>
#include <string.h>

static const char* const what = "branching";

mabd_branch_level mabd_generate_default_branch_level(void) {
    mabd_branch_level def = {0};
#include "generate/branch_level.def"
    return def;
}

mabd_branching_def mabd_default_branching_def(void) {
    mabd_branching_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/branching.def"
    return def;
}

/// A branch to which links are still added.
typedef struct branch {
    int32_t links;      // number when complete
    int32_t body;       // body that holds the next link, or MABD_WORLD
    int32_t children;   // number started so far
    mabd_vec3 end;      // start of the next link [m]
    mabd_quat rotation; // rotation of the next link
    mabd_real phi;      // azimuth of its first child
} branch;

typedef struct branches {
    branch* items;
    int32_t count;
    size_t bytes;
} branches;

typedef struct growth {
    mabd_scene* scene;
    const mabd_branching_def* def;
    uint64_t random;
    int32_t level;
    branches now, next; // branches of the current and of the next level
} growth;

// ---- checks ------------------------------------------------------------------------------------

static mabd_status check_range(const char* field, mabd_real value, mabd_real least, mabd_real most,
                               mabd_error* error) {
    if (value >= least && value <= most) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG, "branching: %s must be in %g .. %g, not %g", field,
                     (double)least, (double)most, (double)value);
}

static mabd_status check_level(const mabd_branch_level* level, mabd_error* error) {
    const mabd_real nearly_one = (mabd_real)0.999;
    MABD_TRY(mabd_generate_count(what, "segments", level->segments, 1, error));
    MABD_TRY(mabd_generate_count(what, "children", level->children, 0, error));
    MABD_TRY(mabd_generate_positive(what, "length", level->length, error));
    MABD_TRY(mabd_generate_positive(what, "radius", level->radius, error));
    MABD_TRY(check_range("tip", level->tip, (mabd_real)1e-3, 1, error));
    MABD_TRY(check_range("spread", level->spread, 0, MABD_PI, error));
    MABD_TRY(check_range("spread_tip", level->spread_tip, 0, MABD_PI, error));
    MABD_TRY(mabd_generate_finite(what, "droop", &level->droop, 1, error));
    MABD_TRY(check_range("bare", level->bare, 0, nearly_one, error));
    return check_range("shorten", level->shorten, 0, 1, error);
}

/// Count the links if every branch were full, an upper bound of the number of links.
static int64_t most_links(const mabd_branching_def* def) {
    int64_t total = 0, count = 1;
    for (int32_t i = 0; i < def->level_count && total <= INT32_MAX; i++) {
        total += count * def->levels[i].segments;
        count *= def->levels[i].children;
        if (count > INT32_MAX) return count;
    }
    return total;
}

static mabd_status check(const mabd_scene* scene, const mabd_branching_def* def,
                         mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    if (def->level_count < 1 || def->level_count > MABD_BRANCH_LEVELS) {
        return mabd_fail(error, MABD_ERR_ARG, "branching: levels must be 1 to %d, not %d",
                         MABD_BRANCH_LEVELS, (int)def->level_count);
    }
    for (int32_t i = 0; i < def->level_count; i++) MABD_TRY(check_level(&def->levels[i], error));
    MABD_TRY(mabd_generate_total(what, most_links(def), error));
    MABD_TRY(mabd_generate_finite(what, "phyllotaxis", &def->phyllotaxis, 1, error));
    MABD_TRY(check_range("wiggle", def->wiggle, 0, MABD_PI, error));
    MABD_TRY(check_range("variation", def->variation, 0, (mabd_real)0.999, error));
    MABD_TRY(check_range("bending", def->bending, 0, (mabd_real)1e30, error));
    MABD_TRY(check_range("damping", def->damping, 0, (mabd_real)1e30, error));
    MABD_TRY(check_range("drag", def->drag, 0, (mabd_real)1e30, error));
    return mabd_generate_finite(what, "anchor", def->anchor, 3, error);
}

// ---- numbers of a level ------------------------------------------------------------------------

static mabd_real segment_length(const mabd_branch_level* level) {
    return level->length / (mabd_real)level->segments;
}

static mabd_real segment_radius(const mabd_branch_level* level, int32_t c) {
    if (level->segments == 1) return level->radius;
    const mabd_real part = (mabd_real)c / (mabd_real)(level->segments - 1);
    return level->radius * (1 - (1 - level->tip) * part);
}

/// Count the branches that a branch of `links` links carries.
static int32_t child_count(const mabd_branch_level* level, int32_t links) {
    return (int32_t)(((int64_t)level->children * links + level->segments / 2) / level->segments);
}

/// Draw the number of links of a branch at part u (0 .. 1) of its carrier.
static int32_t draw_links(growth* g, const mabd_branch_level* level, mabd_real u) {
    const mabd_real part =
        (1 - level->shorten * u) * (1 - g->def->variation * mabd_generate_random_real(&g->random));
    const int32_t n = (int32_t)floor((mabd_real)level->segments * part + (mabd_real)0.5);
    return n < 1 ? 1 : n;
}

// ---- directions --------------------------------------------------------------------------------

/// Turn `rotation` by `angle` [rad] about a world axis of any length; unchanged if the axis is
/// zero.
static mabd_quat turn_about(mabd_quat rotation, mabd_vec3 axis, mabd_real angle) {
    const mabd_real norm = mabd_v3_norm(axis);
    if (!(norm > (mabd_real)1e-9)) return rotation;
    mabd_quat turn = mabd_q_axis_angle(mabd_v3_scale(1 / norm, axis), angle);
    return mabd_q_normalize(mabd_q_product(turn, rotation));
}

/// Compute the rotation of the link that follows a link with `rotation`.
static mabd_quat bend(growth* g, const mabd_branch_level* level, mabd_quat rotation) {
    const mabd_vec3 down = mabd_v3_cross(mabd_generate_link_direction(rotation), mabd_v3(0, 0, -1));
    const mabd_real droop = level->droop / (mabd_real)level->segments * mabd_v3_norm(down);
    rotation = turn_about(rotation, down, droop);
    const mabd_real azimuth = 2 * MABD_PI * mabd_generate_random_real(&g->random);
    const mabd_real angle = g->def->wiggle * mabd_generate_random_real(&g->random);
    const mabd_vec3 across = mabd_v3(0, (mabd_real)cos(azimuth), (mabd_real)sin(azimuth));
    return mabd_q_normalize(mabd_q_product(rotation, mabd_q_axis_angle(across, angle)));
}

// ---- growing -----------------------------------------------------------------------------------

static mabd_status take_branches(growth* g, int64_t count, branches* list, mabd_error* error) {
    list->count = 0;
    list->bytes = mabd_bytes((size_t)count, sizeof(branch));
    list->items = mabd_alloc(&g->scene->allocator, list->bytes);
    return list->items ? MABD_OK : mabd_fail_memory(error, "growing branches");
}

static void drop_branches(growth* g, branches* list) {
    if (list->items) mabd_free(&g->scene->allocator, list->items, list->bytes);
    memset(list, 0, sizeof *list);
}

/// Start the branches on link number `link` of `carrier`, which is body `body`, begins at `start`
/// and has the given rotation.
static void start_children(growth* g, branch* carrier, int32_t link, int32_t body, mabd_vec3 start,
                           mabd_quat rotation) {
    const mabd_branch_level* level = &g->def->levels[g->level];
    const int32_t n = child_count(level, carrier->links);
    const mabd_real links = (mabd_real)carrier->links;
    for (; carrier->children < n; carrier->children++) {
        const int32_t j = carrier->children;
        const mabd_real u = level->bare + (1 - level->bare) * (mabd_real)(j + 1) / (mabd_real)n;
        mabd_real on_link = u * links - (mabd_real)link; // position along this link, 0 .. 1
        if (on_link > 1 && link + 1 < carrier->links) return;
        if (on_link > 1) on_link = 1;
        const mabd_branch_level* below = level + 1;
        const mabd_real spread = below->spread + u * (below->spread_tip - below->spread);
        const mabd_real phi = carrier->phi + (mabd_real)j * g->def->phyllotaxis;
        mabd_quat turn = mabd_q_product(mabd_q_axis_angle(mabd_v3(1, 0, 0), phi),
                                        mabd_q_axis_angle(mabd_v3(0, 0, 1), spread));
        branch* child = &g->next.items[g->next.count++];
        *child = (branch){
            .links = draw_links(g, below, u),
            .body = body,
            .end = mabd_v3_axpy(on_link * segment_length(level),
                                mabd_generate_link_direction(rotation), start),
            .rotation = mabd_q_normalize(mabd_q_product(rotation, turn)),
            .phi = 2 * MABD_PI * mabd_generate_random_real(&g->random),
        };
    }
}

/// Compute the poses of segment c of all branches that have it, and the joints that hold them.
static void place_segments(growth* g, int32_t c, mabd_generate_body_batch* links,
                           mabd_generate_joint_batch* joints) {
    const mabd_branch_level* level = &g->def->levels[g->level];
    const mabd_real length = segment_length(level);
    const int32_t first = mabd_scene_body_count(g->scene);
    const bool bears = g->level + 1 < g->def->level_count;
    int32_t n = 0;
    for (int32_t i = 0; i < g->now.count; i++) {
        branch* b = &g->now.items[i];
        const int32_t link = c - (level->segments - b->links);
        if (link < 0) continue;
        const mabd_vec3 start = b->end, direction = mabd_generate_link_direction(b->rotation);
        const mabd_quat rotation = b->rotation;
        mabd_v3_store(mabd_v3_axpy(length / 2, direction, start), links->position + 3 * (size_t)n);
        mabd_q_store(rotation, links->rotation + 4 * (size_t)n);
        mabd_generate_joint_batch_set(joints, n, b->body, first + n, start);
        mabd_q_store(mabd_generate_link_joint_frame(MABD_JOINT_BALL, rotation),
                     joints->frame + 4 * (size_t)n);
        if (bears) start_children(g, b, link, first + n, start, rotation);
        b->body = first + n;
        b->end = mabd_v3_axpy(length, direction, start);
        b->rotation = bend(g, level, rotation);
        n++;
    }
}

/// Add the joint that holds the trunk, or the joints of segment c of the current level.
static mabd_status add_joints(growth* g, int32_t c, const char* name,
                              const mabd_generate_joint_batch* joints, mabd_error* error) {
    const mabd_branching_def* def = g->def;
    const mabd_branch_level* level = &def->levels[g->level];
    mabd_joint_def joint = mabd_default_joint_def();
    if (g->level == 0 && c == 0) {
        char root[MABD_PART_NAME];
        joint.name = mabd_generate_part_name(def->name, "root", root);
        joint.type = MABD_JOINT_FIXED;
        joint.b = joints->b[0];
        mabd_v3_store(mabd_v3_load(joints->anchor), joint.anchor);
        mabd_q_store(mabd_q_load(joints->frame), joint.frame);
        return mabd_scene_add_joint(g->scene, &joint, NULL, error);
    }
    const mabd_real r = segment_radius(level, c), length = segment_length(level);
    const mabd_real k = def->bending * MABD_PI * r * r * r * r / (4 * length);
    const mabd_real twist = k / (1 + def->material.poisson);
    mabd_axis_def across = {.stiffness = k, .damping = def->damping * k};
    mabd_axis_def along = {.stiffness = twist, .damping = def->damping * twist};
    joint.name = name;
    joint.type = MABD_JOINT_BALL;
    if (k > 0) {
        joint.axes[MABD_AXIS_RX] = joint.axes[MABD_AXIS_RY] = &across;
        joint.axes[MABD_AXIS_RZ] = &along;
    }
    return mabd_generate_joint_batch_add(g->scene, &joint, joints, error);
}

static mabd_status add_segments(growth* g, int32_t c, mabd_generate_body_batch* links,
                                mabd_generate_joint_batch* joints, mabd_error* error) {
    const mabd_branching_def* def = g->def;
    const mabd_branch_level* level = &def->levels[g->level];
    const mabd_real length = segment_length(level), radius = segment_radius(level, c);
    char stem[MABD_PART_NAME];
    char name[MABD_PART_NAME];
    const char* base = mabd_generate_part_name_n(def->name, "level", g->level, NULL, stem);
    base = mabd_generate_part_name_n(base, "segment", c, NULL, name);
    mabd_geom geom = mabd_generate_link_geom(MABD_SHAPE_CAPSULE, length, radius, &def->material);
    mabd_body_def body =
        mabd_generate_link_body(base, &geom, def->material, def->drag * 2 * radius * length);
    place_segments(g, c, links, joints);
    MABD_TRY(mabd_generate_body_batch_add(g->scene, &body, links, NULL, error));
    return add_joints(g, c, base, joints, error);
}

static mabd_status grow_segments(growth* g, int32_t c, mabd_error* error) {
    const int32_t segments = g->def->levels[g->level].segments;
    int32_t n = 0;
    for (int32_t i = 0; i < g->now.count; i++) n += g->now.items[i].links >= segments - c;
    if (n == 0) return MABD_OK;
    mabd_generate_body_batch links;
    mabd_generate_joint_batch joints;
    MABD_TRY(mabd_generate_body_batch_create(g->scene, n, true, false, &links, error));
    mabd_status status = mabd_generate_joint_batch_create(g->scene, n, true, &joints, error);
    if (status == MABD_OK) {
        status = add_segments(g, c, &links, &joints, error);
        mabd_generate_joint_batch_free(g->scene, &joints);
    }
    mabd_generate_body_batch_free(g->scene, &links);
    return status;
}

/// Add all branches of the current level and start those of the next one.
static mabd_status grow_level(growth* g, mabd_error* error) {
    const mabd_branch_level* level = &g->def->levels[g->level];
    if (g->level + 1 < g->def->level_count) {
        int64_t children = 0;
        for (int32_t i = 0; i < g->now.count; i++) {
            children += child_count(level, g->now.items[i].links);
        }
        MABD_TRY(take_branches(g, children, &g->next, error));
    }
    for (int32_t c = 0; c < level->segments; c++) MABD_TRY(grow_segments(g, c, error));
    drop_branches(g, &g->now);
    g->now = g->next;
    memset(&g->next, 0, sizeof g->next);
    return MABD_OK;
}

static mabd_status plant(growth* g, mabd_error* error) {
    const mabd_real up[3] = {0, 0, 1}, across[3] = {0, 1, 0};
    mabd_real frame[4];
    (void)mabd_frame_from_axes(up, across, frame);
    MABD_TRY(take_branches(g, 1, &g->now, error));
    g->now.count = 1;
    g->now.items[0] = (branch){
        .links = g->def->levels[0].segments,
        .body = MABD_WORLD,
        .end = mabd_v3_load(g->def->anchor),
        .rotation = mabd_q_load(frame),
        .phi = 2 * MABD_PI * mabd_generate_random_real(&g->random),
    };
    return MABD_OK;
}

mabd_status mabd_generate_branching(mabd_scene* scene, const mabd_branching_def* def,
                                    mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    growth g = {.scene = scene, .def = def, .random = def->seed};
    mabd_status status = plant(&g, error);
    for (; status == MABD_OK && g.level < def->level_count; g.level++) {
        status = grow_level(&g, error);
    }
    drop_branches(&g, &g.now);
    drop_branches(&g, &g.next);
    return status;
}
