// SPDX-License-Identifier: Apache-2.0
// Trees, level by level. A link of level k has length L shrink^k and radius r taper^k; its child c
// of n continues from its far end in the direction
//
//   R_child = R Rx(phi) Rz(theta),   phi = phi_k + 2 pi c / n,   theta = spread
//
// with phi_k = k times the golden angle, so that branches of consecutive levels point in different
// directions. In a random tree phi_k is drawn per link, n in 1 .. branching, theta in [1/2, 1]
// spread. Stiffness of the joints follows that of an elastic rod: E I / L ~ radius^4 / length.
//
// Memory besides the scene: two levels.

#include "generate/field_defaults.h"
#include "generate/tools.h"

#include <math.h>

static const char* const what = "tree";
static const mabd_real golden_angle = (mabd_real)2.39996322972865332223;
static const mabd_real least_scale = (mabd_real)1e-6; // least size of the last level / the first

mabd_tree_def mabd_default_tree_def(void) {
    mabd_tree_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/tree.def"
    return def;
}

/// State that passes from level to level.
typedef struct growth {
    mabd_scene* scene;
    const mabd_tree_def* def;
    uint64_t random;                // state of the random numbers
    int32_t level;                  // level of `links`
    int32_t first;                  // index of the first body of the level
    int32_t placed;                 // number of links added so far, all levels
    mabd_generate_body_batch links; // poses of the level
} growth;

/// Draw a whole number, uniform in 1 .. most.
static int32_t next_count(uint64_t* state, int32_t most) {
    return 1 + (int32_t)(((mabd_generate_random_bits(state) >> 32) * (uint64_t)most) >> 32);
}

static bool is_random(const mabd_tree_def* def) {
    return def->links > 0;
}

static mabd_real level_length(const mabd_tree_def* def, int32_t level) {
    return def->length * (mabd_real)pow(def->shrink, level);
}

static mabd_real level_radius(const mabd_tree_def* def, int32_t level) {
    return def->radius * (mabd_real)pow(def->taper, level);
}

/// Count the links of the tree; more than INT32_MAX if they are too many.
static int64_t link_total(const mabd_tree_def* def) {
    if (is_random(def)) return def->links;
    int64_t total = 0, level_links = 1;
    for (int32_t level = 0; level < def->depth && total <= INT32_MAX; level++) {
        total += level_links;
        if (level_links > INT32_MAX) break; // the next product might not fit
        level_links *= def->branching;
    }
    return total;
}

static mabd_status check_counts(const mabd_tree_def* def, mabd_error* error) {
    MABD_TRY(mabd_generate_count(what, "branching", def->branching, 1, error));
    MABD_TRY(mabd_generate_count(what, "links", def->links, 0, error));
    if (!is_random(def)) MABD_TRY(mabd_generate_count(what, "depth", def->depth, 1, error));
    return mabd_generate_total(what, link_total(def), error);
}

static mabd_status check_scale(const mabd_tree_def* def, int32_t level, mabd_error* error) {
    if (level_length(def, level) >= least_scale * def->length &&
        level_radius(def, level) >= least_scale * def->radius) {
        return MABD_OK;
    }
    return mabd_fail(error, MABD_ERR_ARG,
                     "tree: links of level %d would be less than a millionth of the first one; "
                     "raise shrink and taper",
                     level);
}

static mabd_status check_factor(const char* field, mabd_real value, mabd_error* error) {
    if (value > 0 && value <= 1) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG, "tree: %s must be above 0 and at most 1, not %g", field,
                     (double)value);
}

static mabd_status check(const mabd_scene* scene, const mabd_tree_def* def, mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(check_counts(def, error));
    MABD_TRY(mabd_generate_positive(what, "length", def->length, error));
    MABD_TRY(mabd_generate_positive(what, "radius", def->radius, error));
    MABD_TRY(check_factor("shrink", def->shrink, error));
    MABD_TRY(check_factor("taper", def->taper, error));
    if (!is_random(def)) MABD_TRY(check_scale(def, def->depth - 1, error));
    if (!(def->spread >= 0 && def->spread <= MABD_PI)) {
        return mabd_fail(error, MABD_ERR_ARG, "tree: spread must be in 0 .. pi, not %g",
                         (double)def->spread);
    }
    MABD_TRY(mabd_generate_joint(what, "joint", def->joint, error));
    MABD_TRY(mabd_generate_joint(what, "root", def->root, error));
    MABD_TRY(mabd_generate_finite(what, "anchor", def->anchor, 3, error));
    MABD_TRY(mabd_generate_finite(what, "direction", def->direction, 3, error));
    if ((unsigned)def->shape >= MABD_SHAPE_PLANE) {
        return mabd_fail(error, MABD_ERR_ARG, "tree: unknown shape");
    }
    return MABD_OK;
}

/// Add the bodies whose poses are in `links` as the next level; takes ownership of `links`.
static mabd_status add_level(growth* g, mabd_generate_body_batch* links, mabd_error* error) {
    const mabd_tree_def* def = g->def;
    mabd_generate_body_batch_free(g->scene, &g->links);
    g->links = *links;
    const mabd_real length = level_length(def, g->level), radius = level_radius(def, g->level);
    mabd_geom geom = mabd_generate_link_geom(def->shape, length, radius, &def->material);
    mabd_real drag = def->drag * (length * radius) / (def->length * def->radius);
    char name[MABD_PART_NAME];
    mabd_body_def body =
        mabd_generate_link_body(mabd_generate_part_name_n(def->name, "level", g->level, NULL, name),
                                &geom, def->material, drag);
    g->placed += links->n;
    return mabd_generate_body_batch_add(g->scene, &body, &g->links, &g->first, error);
}

static mabd_status pin_root(growth* g, mabd_quat rotation, mabd_error* error) {
    char name[MABD_PART_NAME];
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = mabd_generate_part_name(g->def->name, "root", name);
    joint.type = g->def->root;
    joint.a = MABD_WORLD;
    joint.b = g->first;
    mabd_v3_store(mabd_v3_load(g->def->anchor), joint.anchor);
    mabd_q_store(mabd_generate_link_joint_frame(joint.type, rotation), joint.frame);
    return mabd_scene_add_joint(g->scene, &joint, NULL, error);
}

static mabd_status plant(growth* g, mabd_error* error) {
    const mabd_tree_def* def = g->def;
    const mabd_real across[3] = {0, 1, 0};
    mabd_real frame[4];
    if (!mabd_frame_from_axes(def->direction, across, frame) &&
        !mabd_frame_from_axes(def->direction, NULL, frame)) {
        return mabd_fail(error, MABD_ERR_ARG, "tree: direction has no length");
    }
    mabd_quat rotation = mabd_q_load(frame);
    mabd_generate_body_batch links;
    MABD_TRY(mabd_generate_body_batch_create(g->scene, 1, true, false, &links, error));
    mabd_vec3 middle = mabd_v3_axpy(def->length / 2, mabd_generate_link_direction(rotation),
                                    mabd_v3_load(def->anchor));
    mabd_v3_store(middle, links.position);
    mabd_q_store(rotation, links.rotation);
    MABD_TRY(add_level(g, &links, error));
    return def->pinned ? pin_root(g, rotation, error) : MABD_OK;
}

/// Draw the number of children of every link of the level into counts (links.n). Returns the sum.
static int32_t draw_counts(growth* g, int32_t* counts) {
    int32_t sum = 0;
    for (int32_t i = 0; i < g->links.n; i++) {
        counts[i] = g->def->branching;
        if (is_random(g->def)) {
            int32_t left = g->def->links - g->placed - sum;
            int32_t drawn = next_count(&g->random, g->def->branching);
            counts[i] = drawn < left ? drawn : left;
        }
        sum += counts[i];
    }
    return sum;
}

/// Compute the rotation of child c of n on a link with `rotation`; phi is the azimuth of child 0.
static mabd_quat child_rotation(growth* g, mabd_quat rotation, mabd_real phi, int32_t c,
                                int32_t n) {
    mabd_real theta = g->def->spread;
    if (is_random(g->def)) theta *= (mabd_real)0.5 * (1 + mabd_generate_random_real(&g->random));
    phi += 2 * MABD_PI * (mabd_real)c / (mabd_real)n;
    mabd_quat turn = mabd_q_product(mabd_q_axis_angle(mabd_v3(1, 0, 0), phi),
                                    mabd_q_axis_angle(mabd_v3(0, 0, 1), theta));
    return mabd_q_normalize(mabd_q_product(rotation, turn));
}

/// Compute the poses of the next level and the joints that hold them; indices of children count
/// from 0.
static void grow_poses(growth* g, const int32_t* counts, mabd_generate_body_batch* links,
                       mabd_generate_joint_batch* joints) {
    const mabd_real half_parent = level_length(g->def, g->level) / 2;
    const mabd_real half_child = level_length(g->def, g->level + 1) / 2;
    int32_t child = 0;
    for (int32_t i = 0; i < g->links.n; i++) {
        mabd_quat rotation = mabd_q_load(g->links.rotation + 4 * (size_t)i);
        mabd_vec3 end = mabd_v3_axpy(half_parent, mabd_generate_link_direction(rotation),
                                     mabd_v3_load(g->links.position + 3 * (size_t)i));
        mabd_real phi = is_random(g->def) ? 2 * MABD_PI * mabd_generate_random_real(&g->random)
                                          : golden_angle * (mabd_real)(g->level + 1);
        for (int32_t c = 0; c < counts[i]; c++, child++) {
            mabd_quat turned = child_rotation(g, rotation, phi, c, counts[i]);
            mabd_vec3 middle = mabd_v3_axpy(half_child, mabd_generate_link_direction(turned), end);
            mabd_v3_store(middle, links->position + 3 * (size_t)child);
            mabd_q_store(turned, links->rotation + 4 * (size_t)child);
            mabd_generate_joint_batch_set(joints, child, g->first + i, child, end);
            mabd_q_store(mabd_generate_link_joint_frame(g->def->joint, turned),
                         joints->frame + 4 * (size_t)child);
        }
    }
}

static mabd_status add_joints(growth* g, mabd_generate_joint_batch* joints, mabd_error* error) {
    const mabd_tree_def* def = g->def;
    const mabd_real t2 = def->taper * def->taper;
    const mabd_real scale = (mabd_real)pow(t2 * t2 / def->shrink, g->level - 1);
    char name[MABD_PART_NAME];
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = mabd_generate_part_name_n(def->name, "level", g->level, NULL, name);
    joint.type = def->joint;
    mabd_axis_def axes[MABD_AXIS_COUNT];
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        if (!def->axes[k]) continue;
        axes[k] = *def->axes[k];
        axes[k].stiffness *= scale, axes[k].damping *= scale, axes[k].armature *= scale;
        axes[k].servo_stiffness *= scale, axes[k].servo_damping *= scale;
        joint.axes[k] = &axes[k];
    }
    for (int32_t i = 0; i < joints->n; i++) joints->b[i] += g->first;
    return mabd_generate_joint_batch_add(g->scene, &joint, joints, error);
}

static mabd_status grow_with_counts(growth* g, int32_t* counts, mabd_error* error) {
    const int32_t n = draw_counts(g, counts);
    mabd_generate_body_batch links;
    mabd_generate_joint_batch joints;
    MABD_TRY(mabd_generate_joint_batch_create(g->scene, n, true, &joints, error));
    mabd_status status = mabd_generate_body_batch_create(g->scene, n, true, false, &links, error);
    if (status == MABD_OK) {
        grow_poses(g, counts, &links, &joints);
        g->level++;
        status = add_level(g, &links, error);
    }
    if (status == MABD_OK) status = add_joints(g, &joints, error);
    mabd_generate_joint_batch_free(g->scene, &joints);
    return status;
}

/// Add the next level.
static mabd_status grow(growth* g, mabd_error* error) {
    MABD_TRY(check_scale(g->def, g->level + 1, error));
    const size_t bytes = mabd_bytes((size_t)g->links.n, sizeof(int32_t));
    int32_t* counts = mabd_alloc(&g->scene->allocator, bytes);
    if (!counts) return mabd_fail_memory(error, "growing a tree");
    mabd_status status = grow_with_counts(g, counts, error);
    mabd_free(&g->scene->allocator, counts, bytes);
    return status;
}

static bool is_done(const growth* g) {
    return is_random(g->def) ? g->placed >= g->def->links : g->level + 1 >= g->def->depth;
}

mabd_status mabd_generate_tree(mabd_scene* scene, const mabd_tree_def* def, mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    MABD_TRY(mabd_generate_reserve(scene, link_total(def), link_total(def), error));
    growth g = {.scene = scene, .def = def, .random = def->seed};
    mabd_status status = plant(&g, error);
    while (status == MABD_OK && !is_done(&g)) status = grow(&g, error);
    mabd_generate_body_batch_free(scene, &g.links);
    return status;
}
