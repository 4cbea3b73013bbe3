// SPDX-License-Identifier: Apache-2.0
// A protein-like backbone. In units of the link length over 3.83 (angstroms, if a link is the step
// from one alpha carbon to the next), residue i of a helix about the axis through (X, Y) is at
//
//   (X + 2.3 cos(p + s 100 deg i), Y + 2.3 sin(p + s 100 deg i), Z + 1.5 s i),   s = +-1 (up, down)
//
// (right-handed both ways). Axes are 10 apart on a square grid of side m (odd), visited row by row
// in alternating directions, with helices up and down in turn; layers of m x m helices are stacked.
// n links on a circular arc, which bulges away from the layer, join the end of a helix to the start
// of the next one. With D the distance, the half angle u of the arc solves
//
//   sin(u) / sin(u / n) = D / link,   0 < u < pi,
//
// whose left side decreases from n to 0. All links are equal, so they share one body class.

#include "generate/field_defaults.h"
#include "generate/tools.h"

#include <math.h>

static const char* const what = "backbone";
static const mabd_real rise = (mabd_real)1.5, helix_radius = (mabd_real)2.3, spacing = 10;
static const mabd_real residue_turn = (mabd_real)(100.0 / 180.0 * 3.14159265358979323846);
static const mabd_real arc_slack = (mabd_real)1.3; // least length of an arc / D
static const int32_t shortest = 14, longest = 20;  // residues of a helix
static const mabd_real layer_gap = 12;             // distance between the helices of two layers

mabd_backbone_def mabd_default_backbone_def(void) {
    mabd_backbone_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/backbone.def"
    return def;
}

/// State of the walk over the residues, in angstroms.
typedef struct walk {
    uint64_t random;
    int32_t side;       // side of the grid
    int32_t helix;      // index of the current helix
    int32_t residues;   // number in the current helix
    mabd_real x, y, z;  // axis of the current helix and height of its first residue
    mabd_real phase, s; // angle of the first residue, +1 up, -1 down
    mabd_real link;     // length of a link
} walk;

static mabd_real link_length(void) {
    const mabd_real across = 2 * helix_radius * (mabd_real)sin(residue_turn / 2);
    return (mabd_real)sqrt(rise * rise + across * across);
}

static mabd_vec3 residue(const walk* w, int32_t i) {
    const mabd_real angle = w->phase + w->s * residue_turn * (mabd_real)i;
    return mabd_v3(w->x + helix_radius * (mabd_real)cos(angle),
                   w->y + helix_radius * (mabd_real)sin(angle), w->z + w->s * rise * (mabd_real)i);
}

/// Draw length, phase and place of the helix with number w->helix.
static void start_helix(walk* w) {
    const int32_t layer = w->helix / (w->side * w->side), at = w->helix % (w->side * w->side);
    int32_t row = at / w->side, column = at % w->side;
    if (row % 2) column = w->side - 1 - column;
    if (layer % 2) row = w->side - 1 - row, column = w->side - 1 - column;
    const mabd_real height = rise * (mabd_real)(longest - 1);
    const mabd_real base = (mabd_real)layer * (height + layer_gap);
    w->residues = shortest + (int32_t)(mabd_generate_random_real(&w->random) *
                                       (mabd_real)(longest - shortest + 1));
    const mabd_real free = height - rise * (mabd_real)(w->residues - 1);
    const mabd_real shift = mabd_generate_random_real(&w->random) * free;
    w->phase = 2 * MABD_PI * mabd_generate_random_real(&w->random);
    w->s = at % 2 == 0 ? 1 : -1;
    w->x = spacing * (mabd_real)column;
    w->y = spacing * (mabd_real)row;
    w->z = w->s > 0 ? base + shift : base + height - shift;
}

/// Solve for the half angle u of the arc: sin(u) / sin(u / n) = ratio, 0 < ratio < n.
static mabd_real arc_half_angle(mabd_real ratio, int32_t n) {
    mabd_real low = 0, high = MABD_PI;
    for (int i = 0; i < 60; i++) {
        const mabd_real u = (low + high) / 2;
        if (sin(u) > ratio * sin(u / (mabd_real)n)) {
            low = u;
        } else {
            high = u;
        }
    }
    return (low + high) / 2;
}

/// Compute the points of an arc from `from` to `to`, without `from`: at most `room` of them, into
/// points (x 3). Returns their number.
static int32_t add_arc(const walk* w, mabd_vec3 from, mabd_vec3 to, mabd_real outward, int32_t room,
                       mabd_real* points) {
    const mabd_vec3 chord = mabd_v3_sub(to, from);
    const mabd_real distance = mabd_v3_norm(chord);
    int32_t n = (int32_t)ceil(arc_slack * distance / w->link);
    if (n < 3) n = 3;
    const mabd_real u = arc_half_angle(distance / w->link, n);
    const mabd_real r = w->link / (2 * (mabd_real)sin(u / (mabd_real)n));
    const mabd_vec3 along = mabd_v3_scale(1 / distance, chord);
    // Normal of the chord: outward along z, or along x where the chord is upright.
    mabd_vec3 across = mabd_v3(0, 0, outward);
    if (fabs(along.z) > (mabd_real)0.8) across = mabd_v3(1, 0, 0);
    across = mabd_v3_axpy(-mabd_v3_dot(across, along), along, across);
    across = mabd_v3_scale(1 / mabd_v3_norm(across), across);
    for (int32_t i = 1; i <= n && i <= room; i++) {
        const mabd_real a = u * (2 * (mabd_real)i / (mabd_real)n - 1); // -u .. u
        const mabd_real forward = r * (mabd_real)(sin(u) + sin(a));
        const mabd_real aside = r * (mabd_real)(cos(a) - cos(u));
        mabd_vec3 p = mabd_v3_axpy(aside, across, mabd_v3_axpy(forward, along, from));
        mabd_v3_store(p, points + 3 * (size_t)(i - 1));
    }
    return n < room ? n : room;
}

/// Compute the points of the walk (count x 3), in angstroms, the first one at the origin.
static void walk_points(const mabd_backbone_def* def, int32_t count, mabd_real* points) {
    // About 24 links per helix and side / 4 layers: side^3 / 4 = helices.
    const mabd_real helices = (mabd_real)count / 24;
    int32_t side = (int32_t)ceil(cbrt(4 * helices));
    walk w = {.random = def->seed, .side = side | 1, .link = link_length()};
    int32_t n = 0;
    while (n < count) {
        start_helix(&w);
        if (n > 0) {
            mabd_vec3 from = mabd_v3_load(points + 3 * (size_t)(n - 1));
            n += add_arc(&w, from, residue(&w, 0), -w.s, count - n, points + 3 * (size_t)n);
        }
        for (int32_t i = n > 0 ? 1 : 0; i < w.residues && n < count; i++, n++) {
            mabd_v3_store(residue(&w, i), points + 3 * (size_t)n);
        }
        w.helix++;
    }
    const mabd_vec3 origin = mabd_v3_load(points);
    for (int32_t i = 0; i < count; i++) {
        mabd_real* p = points + 3 * (size_t)i;
        mabd_v3_store(mabd_v3_sub(mabd_v3_load(p), origin), p);
    }
}

static mabd_status check(const mabd_scene* scene, const mabd_backbone_def* def, mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "links", def->links, 1, error));
    MABD_TRY(mabd_generate_total(what, (int64_t)def->links + 1, error));
    MABD_TRY(mabd_generate_positive(what, "length", def->length, error));
    MABD_TRY(mabd_generate_positive(what, "radius", def->radius, error));
    return mabd_generate_finite(what, "anchor", def->anchor, 3, error);
}

/// Add the links between the points (links + 1) and their joints. Link after link takes its
/// direction from the walk and begins at the end of the one before, so joints close to round-off.
static void place_links(const mabd_backbone_def* def, const mabd_real* points, int32_t first,
                        mabd_generate_body_batch* links, mabd_generate_joint_batch* joints) {
    mabd_vec3 at = mabd_v3_load(def->anchor);
    for (int32_t i = 0; i < def->links; i++) {
        const mabd_real* p = points + 3 * (size_t)i;
        const mabd_vec3 step = mabd_v3_sub(mabd_v3_load(p + 3), mabd_v3_load(p));
        const mabd_real x[3] = {step.x, step.y, step.z};
        mabd_real frame[4];
        (void)mabd_frame_from_axes(x, NULL, frame);
        const mabd_quat rotation = mabd_q_load(frame);
        const mabd_vec3 direction = mabd_generate_link_direction(rotation);
        mabd_v3_store(mabd_v3_axpy(def->length / 2, direction, at),
                      links->position + 3 * (size_t)i);
        mabd_q_store(rotation, links->rotation + 4 * (size_t)i);
        const int32_t j = def->pinned ? i : i - 1;
        if (j >= 0) {
            mabd_generate_joint_batch_set(joints, j, i == 0 ? MABD_WORLD : first + i - 1, first + i,
                                          at);
            mabd_q_store(mabd_generate_link_joint_frame(MABD_JOINT_BALL, rotation),
                         joints->frame + 4 * (size_t)j);
        }
        at = mabd_v3_axpy(def->length, direction, at);
    }
}

static mabd_status add_links(mabd_scene* scene, const mabd_backbone_def* def,
                             const mabd_real* points, mabd_error* error) {
    mabd_generate_body_batch links;
    mabd_generate_joint_batch joints;
    MABD_TRY(mabd_generate_body_batch_create(scene, def->links, true, false, &links, error));
    mabd_status status =
        mabd_generate_joint_batch_create(scene, def->links - !def->pinned, true, &joints, error);
    if (status == MABD_OK) {
        place_links(def, points, mabd_scene_body_count(scene), &links, &joints);
        mabd_geom geom =
            mabd_generate_link_geom(MABD_SHAPE_CAPSULE, def->length, def->radius, &def->material);
        mabd_body_def body = mabd_generate_link_body(def->name, &geom, def->material, def->drag);
        status = mabd_generate_body_batch_add(scene, &body, &links, NULL, error);
        mabd_joint_def joint = mabd_default_joint_def();
        joint.name = def->name;
        for (int k = 0; k < MABD_AXIS_COUNT; k++) joint.axes[k] = def->axes[k];
        if (status == MABD_OK)
            status = mabd_generate_joint_batch_add(scene, &joint, &joints, error);
        mabd_generate_joint_batch_free(scene, &joints);
    }
    mabd_generate_body_batch_free(scene, &links);
    return status;
}

mabd_status mabd_generate_backbone(mabd_scene* scene, const mabd_backbone_def* def,
                                   mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    const int32_t count = def->links + 1;
    const size_t bytes = mabd_bytes((size_t)count, 3 * sizeof(mabd_real));
    mabd_real* points = mabd_alloc(&scene->allocator, bytes);
    if (!points) return mabd_fail_memory(error, "generating a backbone");
    walk_points(def, count, points);
    mabd_status status = add_links(scene, def, points, error);
    mabd_free(&scene->allocator, points, bytes);
    return status;
}
