// SPDX-License-Identifier: Apache-2.0
// Planar linkages in the x-z plane; angles from +x towards +z, hinge axes -y.
//
// Four-bar: ground pivots A, D; crank AB at angle p1, coupler BC at p2, rocker DC at p3. C is the
// intersection above the line BD of the circles of radius b about B and c about D. The velocities
// follow from the loop a w1 n1 + b w2 n2 = c w3 n3 (n normal to its bar), times the directions of
// the bars:
//
//   w2 = -w1 a sin(p3 - p1) / (b sin(p3 - p2)),   w3 = w1 a sin(p2 - p1) / (c sin(p2 - p3))
//
// Double four-bar: N + 1 upright bars, N level bars; all level bars have the same velocity
// v = w length.

#include "generate/field_defaults.h"
#include "generate/tools.h"

#include <math.h>

static const mabd_real servo_time = (mabd_real)1e6; // time that a driven crank keeps turning [s]

/// Position and motion of a bar, in coordinates x, z of the plane.
typedef struct bar {
    mabd_real x, z;   // near hinge [m]
    mabd_real angle;  // [rad]
    mabd_real length; // [m]
    mabd_real speed;  // rate of the angle [rad/s]
    mabd_real vx, vz; // velocity of the near hinge [m/s]
} bar;

/// A point of the plane of the linkage.
static mabd_vec3 plane_point(const mabd_real* origin, mabd_real x, mabd_real z) {
    return mabd_v3(origin[0] + x, origin[1], origin[2] + z);
}

static void place_bar(const mabd_real* origin, const bar* beam, mabd_body_def* body) {
    const mabd_real half = beam->length / 2;
    const mabd_real c = (mabd_real)cos(beam->angle), s = (mabd_real)sin(beam->angle);
    mabd_v3_store(plane_point(origin, beam->x + half * c, beam->z + half * s), body->position);
    mabd_q_store(mabd_q_axis_angle(mabd_v3(0, -1, 0), beam->angle), body->rotation);
    mabd_v3_store(mabd_v3(beam->vx - beam->speed * half * s, 0, beam->vz + beam->speed * half * c),
                  body->velocity);
    mabd_v3_store(mabd_v3(0, -beam->speed, 0), body->angular_velocity);
}

static mabd_joint_def hinge_def(void) {
    const mabd_real c = (mabd_real)0.70710678118654752440;
    mabd_joint_def joint = mabd_default_joint_def();
    joint.type = MABD_JOINT_HINGE;
    mabd_q_store(mabd_q(c, 0, 0, -c), joint.frame); // x -> -y
    return joint;
}

// ---- four-bar ----------------------------------------------------------------------------------

mabd_four_bar_def mabd_default_four_bar_def(void) {
    mabd_four_bar_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/four_bar.def"
    return def;
}

static mabd_status check_four_bar(const mabd_scene* scene, const mabd_four_bar_def* def,
                                  mabd_error* error) {
    const char* what = "four-bar";
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_positive(what, "crank", def->crank, error));
    MABD_TRY(mabd_generate_positive(what, "coupler", def->coupler, error));
    MABD_TRY(mabd_generate_positive(what, "rocker", def->rocker, error));
    MABD_TRY(mabd_generate_positive(what, "ground", def->ground, error));
    MABD_TRY(mabd_generate_positive(what, "width", def->width, error));
    MABD_TRY(mabd_generate_finite(what, "angle", &def->angle, 1, error));
    MABD_TRY(mabd_generate_finite(what, "speed", &def->speed, 1, error));
    MABD_TRY(mabd_generate_finite(what, "position", def->position, 3, error));
    if (def->driven && def->torque.kind != MABD_SIGNAL_NONE) {
        return mabd_fail(error, MABD_ERR_ARG, "four-bar: give driven or torque, not both");
    }
    return MABD_OK;
}

/// Compute crank, coupler and rocker at the start.
static mabd_status close_loop(const mabd_four_bar_def* def, bar bars[3], mabd_error* error) {
    const mabd_real a = def->crank, b = def->coupler, c = def->rocker, d = def->ground;
    const mabd_real bx = a * (mabd_real)cos(def->angle), bz = a * (mabd_real)sin(def->angle);
    const mabd_real ex = d - bx, ez = -bz, e2 = ex * ex + ez * ez, e = (mabd_real)sqrt(e2);
    if (!(e <= b + c && e >= fabs(b - c) && e > 0)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "four-bar: coupler %g and rocker %g cannot meet %g apart; change the "
                         "lengths or the angle",
                         (double)b, (double)c, (double)e);
    }
    // C = B + u e/|e| + v normal
    const mabd_real u = (e2 + b * b - c * c) / (2 * e);
    const mabd_real v = (mabd_real)sqrt(fmax(0, b * b - u * u));
    const mabd_real cx = bx + (u * ex - v * ez) / e, cz = bz + (u * ez + v * ex) / e;
    const mabd_real p1 = def->angle, p2 = (mabd_real)atan2(cz - bz, cx - bx);
    const mabd_real p3 = (mabd_real)atan2(cz, cx - d), w1 = def->speed;
    const mabd_real dead = (mabd_real)sin(p3 - p2);
    mabd_real w2 = 0, w3 = 0;
    if (w1 != 0) {
        if (fabs(dead) < (mabd_real)1e-6) {
            return mabd_fail(error, MABD_ERR_ARG,
                             "four-bar: coupler and rocker are in line at the start, so speed must "
                             "be 0");
        }
        w2 = -w1 * a * (mabd_real)sin(p3 - p1) / (b * dead);
        w3 = -w1 * a * (mabd_real)sin(p2 - p1) / (c * dead);
    }
    bars[0] = (bar){.angle = p1, .length = a, .speed = w1};
    bars[1] = (bar){bx, bz, p2, b, w2, -w1 * bz, w1 * bx};
    bars[2] = (bar){.x = d, .angle = p3, .length = c, .speed = w3};
    return MABD_OK;
}

static mabd_status add_bars(mabd_scene* scene, const mabd_four_bar_def* def, const bar bars[3],
                            int32_t ids[3], mabd_error* error) {
    static const char* const parts[] = {"crank", "coupler", "rocker"};
    for (int i = 0; i < 3; i++) {
        mabd_geom geom =
            mabd_generate_link_geom(MABD_SHAPE_BOX, bars[i].length, def->width / 2, &def->material);
        char name[MABD_PART_NAME];
        mabd_body_def body = mabd_generate_link_body(
            mabd_generate_part_name(def->name, parts[i], name), &geom, def->material, 0);
        place_bar(def->position, &bars[i], &body);
        MABD_TRY(mabd_scene_add_body(scene, &body, &ids[i], error));
    }
    return MABD_OK;
}

/// Make the control of the hinge of the crank: servo or motor. Returns false if there is none.
static bool drive_axis(const mabd_four_bar_def* def, mabd_axis_def* axis) {
    *axis = (mabd_axis_def){.motor = def->torque};
    if (def->driven) {
        axis->servo_rigid = true;
        axis->servo.kind = MABD_SIGNAL_RAMP;
        axis->servo.end = servo_time;
        axis->servo.value_end = def->speed * servo_time;
    }
    return def->driven || def->torque.kind != MABD_SIGNAL_NONE;
}

mabd_status mabd_generate_four_bar(mabd_scene* scene, const mabd_four_bar_def* def,
                                   mabd_error* error) {
    MABD_TRY(check_four_bar(scene, def, error));
    bar bars[3];
    int32_t ids[3];
    MABD_TRY(close_loop(def, bars, error));
    MABD_TRY(add_bars(scene, def, bars, ids, error));

    const bar *crank = &bars[0], *coupler = &bars[1], *rocker = &bars[2];
    const mabd_real cx = coupler->x + coupler->length * (mabd_real)cos(coupler->angle);
    const mabd_real cz = coupler->z + coupler->length * (mabd_real)sin(coupler->angle);
    const struct {
        const char* part;
        int32_t a, b;
        mabd_real x, z;
    } hinges[] = {
        {"crank", MABD_WORLD, ids[0], crank->x, crank->z},
        {"coupler", ids[0], ids[1], coupler->x, coupler->z},
        {"rocker", ids[1], ids[2], cx, cz},
        {"ground", MABD_WORLD, ids[2], rocker->x, rocker->z},
    };
    mabd_axis_def axis;
    const bool driven = drive_axis(def, &axis);
    for (int i = 0; i < 4; i++) {
        char name[MABD_PART_NAME];
        mabd_joint_def joint = hinge_def();
        joint.name = mabd_generate_part_name(def->name, hinges[i].part, name);
        joint.a = hinges[i].a;
        joint.b = hinges[i].b;
        mabd_v3_store(plane_point(def->position, hinges[i].x, hinges[i].z), joint.anchor);
        if (i == 0 && driven) joint.axes[MABD_AXIS_RX] = &axis;
        MABD_TRY(mabd_scene_add_joint(scene, &joint, NULL, error));
    }
    return MABD_OK;
}

// ---- double four-bar ---------------------------------------------------------------------------

mabd_double_four_bar_def mabd_default_double_four_bar_def(void) {
    mabd_double_four_bar_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/double_four_bar.def"
    return def;
}

static mabd_status check_double(const mabd_scene* scene, const mabd_double_four_bar_def* def,
                                mabd_error* error) {
    const char* what = "double-four-bar";
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "loops", def->loops, 1, error));
    MABD_TRY(mabd_generate_total(what, 3 * (int64_t)def->loops + 1, error));
    MABD_TRY(mabd_generate_positive(what, "length", def->length, error));
    MABD_TRY(mabd_generate_positive(what, "mass", def->mass, error));
    MABD_TRY(mabd_generate_positive(what, "width", def->width, error));
    MABD_TRY(mabd_generate_finite(what, "velocity", &def->velocity, 1, error));
    return mabd_generate_finite(what, "position", def->position, 3, error);
}

/// Make a uniform bar and its geom. The width matters for pictures and for the small moment about
/// the axis of the bar.
static mabd_body_def double_bar(const mabd_double_four_bar_def* def, mabd_geom* geom) {
    const mabd_real volume = def->length * def->width * def->width;
    mabd_material material = mabd_default_material();
    material.density = def->mass / volume;
    material.young = def->young;
    material.poisson = def->poisson;
    *geom = mabd_generate_link_geom(MABD_SHAPE_BOX, def->length, def->width / 2, &material);
    mabd_body_def body = mabd_generate_link_body(NULL, geom, material, 0);
    body.mass = def->mass;
    body.inertia_given = true;
    body.inertia[0] = def->mass * def->width * def->width / 6;
    body.inertia[1] = body.inertia[2] = def->mass * def->length * def->length / 12;
    return body;
}

/// Add n equal bars, bar i shifted by i lengths along x from `beam`.
static mabd_status add_row(mabd_scene* scene, const mabd_double_four_bar_def* def, const bar* beam,
                           int32_t n, const char* part, int32_t* first, mabd_error* error) {
    mabd_geom geom;
    mabd_body_def body = double_bar(def, &geom);
    char name[MABD_PART_NAME];
    body.name = mabd_generate_part_name(def->name, part, name);
    place_bar(def->position, beam, &body);
    mabd_generate_body_batch batch;
    MABD_TRY(mabd_generate_body_batch_create(scene, n, false, false, &batch, error));
    for (int32_t i = 0; i < n; i++) {
        mabd_vec3 step = mabd_v3(def->length * (mabd_real)i, 0, 0);
        mabd_v3_store(mabd_v3_add(mabd_v3_load(body.position), step),
                      batch.position + 3 * (size_t)i);
    }
    mabd_status status = mabd_generate_body_batch_add(scene, &body, &batch, first, error);
    mabd_generate_body_batch_free(scene, &batch);
    return status;
}

/// Add the hinges from left to right: ground i, then the upper end of upright i to level bars i - 1
/// and i.
static mabd_status add_hinges(mabd_scene* scene, const mabd_double_four_bar_def* def,
                              int32_t upright, int32_t level, mabd_error* error) {
    const mabd_real L = def->length;
    mabd_generate_joint_batch batch;
    MABD_TRY(mabd_generate_joint_batch_create(scene, 3 * def->loops + 1, false, &batch, error));
    int32_t n = 0;
    for (int32_t i = 0; i <= def->loops; i++) {
        const mabd_real x = L * (mabd_real)i;
        mabd_vec3 top = plane_point(def->position, x, L);
        mabd_generate_joint_batch_set(&batch, n++, MABD_WORLD, upright + i,
                                      plane_point(def->position, x, 0));
        if (i > 0) mabd_generate_joint_batch_set(&batch, n++, upright + i, level + i - 1, top);
        if (i < def->loops) mabd_generate_joint_batch_set(&batch, n++, upright + i, level + i, top);
    }
    mabd_joint_def joint = hinge_def();
    joint.name = def->name;
    mabd_status status = mabd_generate_joint_batch_add(scene, &joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}

mabd_status mabd_generate_double_four_bar(mabd_scene* scene, const mabd_double_four_bar_def* def,
                                          mabd_error* error) {
    MABD_TRY(check_double(scene, def, error));
    const mabd_real L = def->length;
    bar upright = {.angle = MABD_PI / 2, .length = L, .speed = -def->velocity / L};
    bar level = {.z = L, .length = L, .vx = def->velocity};
    int32_t first_upright = 0, first_level = 0;
    MABD_TRY(add_row(scene, def, &upright, def->loops + 1, "upright", &first_upright, error));
    MABD_TRY(add_row(scene, def, &level, def->loops, "level", &first_level, error));
    return add_hinges(scene, def, first_upright, first_level, error);
}
