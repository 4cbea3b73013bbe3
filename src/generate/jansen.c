// SPDX-License-Identifier: Apache-2.0
// Theo Jansen's leg. The throw OM of length m turns with the shaft at O; the pivot B of the frame
// is at (a, l) from O. Rods j and b meet in C, k and c in D, d and e in E, f and g in F, h and i in
// the foot P:
//
//   upper triangle B C E (b d e), lower triangle D F P (g h i), bars j = MC, k = MD, c = BD, f = EF
//
// 7 moving bodies and 10 hinges per leg: 3 x 7 - 2 x 10 = 1 degree of freedom. The right leg is the
// mirror image of the left one.

#include "generate/field_defaults.h"
#include "generate/planar.h"

#include <math.h>

#define MOST_PAIRS 32

static const char* const what = "jansen";
static const mabd_real servo_time = (mabd_real)1e6; // time that a driven shaft keeps turning [s]

// Jansen's proportions.
static const mabd_real num_a = 38, num_b = (mabd_real)41.5, num_c = (mabd_real)39.3,
                       num_d = (mabd_real)40.1, num_e = (mabd_real)55.8, num_f = (mabd_real)39.4,
                       num_g = (mabd_real)36.7, num_h = (mabd_real)65.7, num_i = 49, num_j = 50,
                       num_k = (mabd_real)61.9, num_l = (mabd_real)7.8, num_m = 15;

enum { AT_O, AT_M, AT_B, AT_C, AT_D, AT_E, AT_F, AT_P, POINTS };
enum { BAR_J, BAR_K, BAR_C, BAR_F, UPPER, LOWER, PARTS };
#define SHAFT PARTS // body index in the table of hinges
#define FRAME (PARTS + 1)

static const char* const part_names[PARTS] = {"j", "k", "c", "f", "upper", "lower"};
static const int part_ends[PARTS][2] = {{AT_M, AT_C}, {AT_M, AT_D}, {AT_B, AT_D},
                                        {AT_E, AT_F}, {AT_B, AT_C}, {AT_D, AT_F}};
static const int part_layer[PARTS] = {1, 2, 1, 1, 0, 0}; // layers of the bars, side by side
static const struct {
    const char* name;
    int a, b, at;
} hinges[] = {
    {"crank-j", SHAFT, BAR_J, AT_M}, {"crank-k", SHAFT, BAR_K, AT_M},
    {"j-upper", BAR_J, UPPER, AT_C}, {"frame-upper", FRAME, UPPER, AT_B},
    {"frame-c", FRAME, BAR_C, AT_B}, {"k-lower", BAR_K, LOWER, AT_D},
    {"c-lower", BAR_C, LOWER, AT_D}, {"upper-f", UPPER, BAR_F, AT_E},
    {"f-lower", BAR_F, LOWER, AT_F},
};

mabd_jansen_def mabd_default_jansen_def(void) {
    mabd_jansen_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/jansen.def"
    return def;
}

static mabd_status check(const mabd_scene* scene, const mabd_jansen_def* def, mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "pairs", def->pairs, 1, error));
    if (def->pairs > MOST_PAIRS) {
        return mabd_fail(error, MABD_ERR_ARG, "jansen: pairs must be at most %d, not %d",
                         MOST_PAIRS, (int)def->pairs);
    }
    MABD_TRY(mabd_generate_positive(what, "scale", def->scale, error));
    MABD_TRY(mabd_generate_positive(what, "width", def->width, error));
    MABD_TRY(mabd_generate_positive(what, "spacing", def->spacing, error));
    MABD_TRY(mabd_generate_finite(what, "angle", &def->angle, 1, error));
    MABD_TRY(mabd_generate_finite(what, "speed", &def->speed, 1, error));
    return mabd_generate_finite(what, "position", def->position, 3, error);
}

static mabd_real throw_angle(const mabd_jansen_def* def, int32_t pair) {
    return def->angle + 2 * MABD_PI * (mabd_real)pair / (mabd_real)def->pairs;
}

/// Compute all points of one leg; side -1 = left, +1 = right.
static bool place_points(const mabd_jansen_def* def, int32_t pair, mabd_real side,
                         mabd_generate_plane_point p[POINTS]) {
    const mabd_real s = def->scale, t = throw_angle(def, pair), left = -side;
    const mabd_real x = s * num_m * (mabd_real)cos(t), z = s * num_m * (mabd_real)sin(t);
    p[AT_O] = (mabd_generate_plane_point){0};
    p[AT_M] = (mabd_generate_plane_point){x, z, -def->speed * z, def->speed * x};
    p[AT_B] = (mabd_generate_plane_point){.x = side * s * num_a, .z = -s * num_l};
    return mabd_generate_plane_meet(&p[AT_B], s * num_b, &p[AT_M], s * num_j, left, &p[AT_C]) &&
           mabd_generate_plane_meet(&p[AT_B], s * num_c, &p[AT_M], s * num_k, -left, &p[AT_D]) &&
           mabd_generate_plane_meet(&p[AT_B], s * num_d, &p[AT_C], s * num_e, left, &p[AT_E]) &&
           mabd_generate_plane_meet(&p[AT_E], s * num_f, &p[AT_D], s * num_g, -left, &p[AT_F]) &&
           mabd_generate_plane_meet(&p[AT_D], s * num_i, &p[AT_F], s * num_h, left, &p[AT_P]);
}

/// Make a square bar of a body from (x0, z0) to (x1, z1), `layer` bar widths off the plane.
static mabd_geom bar_geom(const mabd_jansen_def* def, const mabd_real from[2],
                          const mabd_real to[2], mabd_real layer) {
    const mabd_real dx = to[0] - from[0], dz = to[1] - from[1];
    mabd_geom geom = mabd_generate_link_geom(MABD_SHAPE_BOX, (mabd_real)sqrt(dx * dx + dz * dz),
                                             def->width / 2, &def->material);
    mabd_v3_store(mabd_v3((from[0] + to[0]) / 2, layer * def->width, (from[1] + to[1]) / 2),
                  geom.position);
    mabd_q_store(mabd_q_axis_angle(mabd_v3(0, -1, 0), (mabd_real)atan2(dz, dx)), geom.rotation);
    return geom;
}

/// Make the bars of a part in its frame from its lengths. Returns their number.
static int part_geoms(const mabd_jansen_def* def, int part, mabd_real side, mabd_geom geoms[3]) {
    const mabd_real lengths[PARTS] = {num_j, num_k, num_c, num_f, num_b, num_g};
    const mabd_real first = def->scale * lengths[part];
    const mabd_real layer = -side * (mabd_real)part_layer[part];
    const mabd_real near[2] = {0, 0}, far[2] = {first, 0};
    geoms[0] = bar_geom(def, near, far, layer);
    if (part != UPPER && part != LOWER) return 1;
    // The third corner is at distance q from the near end and r from the far one.
    const mabd_real q = def->scale * (part == UPPER ? num_d : num_i);
    const mabd_real r = def->scale * (part == UPPER ? num_e : num_h);
    const mabd_real x = (first * first + q * q - r * r) / (2 * first);
    const mabd_real third[2] = {x, -side * (mabd_real)sqrt(q * q - x * x)};
    geoms[1] = bar_geom(def, near, third, layer);
    geoms[2] = bar_geom(def, far, third, layer);
    return 3;
}

static mabd_status add_shaft(mabd_scene* scene, const mabd_jansen_def* def, int32_t* shaft,
                             mabd_error* error) {
    mabd_geom geoms[MOST_PAIRS + 1];
    const mabd_real run = def->spacing * (mabd_real)(def->pairs - 1);
    const mabd_real axle[3] = {def->width / 2, run + 6 * def->width, 0};
    geoms[0] = mabd_generate_material_geom(MABD_SHAPE_CYLINDER, axle, &def->material);
    geoms[0].position[1] = run / 2;
    mabd_q_store(mabd_q_axis_angle(mabd_v3(1, 0, 0), MABD_PI / 2), geoms[0].rotation); // z -> -y
    for (int32_t i = 0; i < def->pairs; i++) {
        const mabd_real t = throw_angle(def, i), m = def->scale * num_m;
        const mabd_real near[2] = {0, 0}, far[2] = {m * (mabd_real)cos(t), m * (mabd_real)sin(t)};
        geoms[i + 1] = bar_geom(def, near, far, 0);
        geoms[i + 1].position[1] = def->spacing * (mabd_real)i;
    }
    char name[MABD_PART_NAME];
    mabd_body_def body = mabd_generate_link_body(mabd_generate_part_name(def->name, "shaft", name),
                                                 geoms, def->material, 0);
    body.geom_count = def->pairs + 1;
    mabd_v3_store(mabd_v3_load(def->position), body.position);
    body.angular_velocity[1] = -def->speed;
    MABD_TRY(mabd_scene_add_body(scene, &body, shaft, error));

    mabd_axis_def axis = {.servo_rigid = true,
                          .servo = {.kind = MABD_SIGNAL_RAMP,
                                    .end = servo_time,
                                    .value_end = def->speed * servo_time}};
    mabd_joint_def joint = mabd_generate_plane_hinge();
    joint.name = mabd_generate_part_name(def->name, "shaft", name);
    joint.b = *shaft;
    mabd_v3_store(mabd_v3_load(def->position), joint.anchor);
    if (def->driven) joint.axes[MABD_AXIS_RX] = &axis;
    return mabd_scene_add_joint(scene, &joint, NULL, error);
}

/// Add the parts of leg number `leg`; bodies (PARTS + 2) gets their indices.
static mabd_status add_parts(mabd_scene* scene, const mabd_jansen_def* def, int32_t leg,
                             const mabd_generate_plane_point p[POINTS], int32_t* bodies,
                             mabd_error* error) {
    const mabd_real side = leg % 2 ? 1 : -1, y = def->spacing * (mabd_real)(leg / 2);
    for (int part = 0; part < PARTS; part++) {
        mabd_geom geoms[3];
        const int count = part_geoms(def, part, side, geoms);
        char text[MABD_PART_NAME];
        const char* name = mabd_generate_part_name_n(def->name, "leg", leg, part_names[part], text);
        mabd_body_def body = mabd_generate_link_body(name, geoms, def->material, 0);
        body.geom_count = count;
        mabd_generate_plane_place(def->position, &p[part_ends[part][0]], &p[part_ends[part][1]], 0,
                                  y, &body);
        MABD_TRY(mabd_scene_add_body(scene, &body, &bodies[part], error));
    }
    return MABD_OK;
}

static mabd_status add_leg(mabd_scene* scene, const mabd_jansen_def* def, int32_t leg,
                           int32_t shaft, mabd_error* error) {
    mabd_generate_plane_point p[POINTS];
    if (!place_points(def, leg / 2, leg % 2 ? 1 : -1, p)) {
        return mabd_fail(error, MABD_ERR_ARG, "jansen: the bars do not meet");
    }
    int32_t bodies[PARTS + 2];
    bodies[SHAFT] = shaft;
    bodies[FRAME] = MABD_WORLD;
    MABD_TRY(add_parts(scene, def, leg, p, bodies, error));
    for (size_t i = 0; i < sizeof hinges / sizeof hinges[0]; i++) {
        char text[MABD_PART_NAME];
        mabd_joint_def joint = mabd_generate_plane_hinge();
        joint.name = mabd_generate_part_name_n(def->name, "leg", leg, hinges[i].name, text);
        joint.a = bodies[hinges[i].a];
        joint.b = bodies[hinges[i].b];
        const mabd_real y = def->spacing * (mabd_real)(leg / 2);
        mabd_v3_store(mabd_generate_plane_world(def->position, &p[hinges[i].at], y), joint.anchor);
        MABD_TRY(mabd_scene_add_joint(scene, &joint, NULL, error));
    }
    return MABD_OK;
}

mabd_status mabd_generate_jansen(mabd_scene* scene, const mabd_jansen_def* def, mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    int32_t shaft = 0;
    MABD_TRY(add_shaft(scene, def, &shaft, error));
    for (int32_t leg = 0; leg < 2 * def->pairs; leg++) {
        MABD_TRY(add_leg(scene, def, leg, shaft, error));
    }
    return MABD_OK;
}
