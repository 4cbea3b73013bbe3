// SPDX-License-Identifier: Apache-2.0
// Hoberman's sphere: rings of angulated scissors (scissor.c) on great circles that cross two at a
// time and at equal distances. The normals n_i of the planes are
//
//   3 rings: the axes of an octahedron;         6 crossings,  4 on a ring
//   4 rings: the diagonals of a cube;          12 crossings,  6 on a ring (cuboctahedron)
//   6 rings: the diagonals of an icosahedron;  30 crossings, 10 on a ring (icosidodecahedron).
//
// Rings i and j cross at +-d, d = n_i x n_j / |n_i x n_j|. The rays of a ring, a = 2 pi / pairs
// apart, begin at a crossing, so with pairs a multiple of the 2 (rings - 1) crossings every
// crossing lies on a ray of both rings. Their hinges on that ray have the same radius: one ball
// joint holds the outer ones together, one the inner ones.
//
// The opening angle psi between the radius and an outer arm is pi/2 + a/2 - phi of scissor.c:
//
//   pivots at radius  l cos(phi) / sin(a/2) = l sin(psi - a/2) / sin(a/2).
//
// The inner hinges reach the middle at psi = a. At psi = pi/2 + a/2 inner and outer hinges meet:
// fully expanded. Beyond it the outer ones are nearer to the middle; they reach it at psi = pi.
// Six rings of 20 pairs: 240 bars, 360 hinges, 60 balls, 1980 rows of rank 1433.

#include "generate/field_defaults.h"
#include "generate/scissor.h"

#include <math.h>

#define MAX_RINGS 6

static const char* const what = "hoberman-sphere";

mabd_hoberman_sphere_def mabd_default_hoberman_sphere_def(void) {
    mabd_hoberman_sphere_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/hoberman.def"
    return def;
}

// ---- checks ------------------------------------------------------------------------------------

static mabd_status check_counts(const mabd_hoberman_sphere_def* def, mabd_error* error) {
    if (def->rings != 3 && def->rings != 4 && def->rings != 6) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "hoberman-sphere: rings must be 3, 4 or 6, not %d: other great circles do "
                         "not cross each other at equal distances",
                         (int)def->rings);
    }
    const int32_t crossings = 2 * (def->rings - 1);
    if (def->pairs < crossings || def->pairs % crossings != 0) {
        return mabd_fail(
            error, MABD_ERR_ARG,
            "hoberman-sphere: pairs must be a multiple of %d, the crossings on each of "
            "%d rings, not %d",
            (int)crossings, (int)def->rings, (int)def->pairs);
    }
    return mabd_generate_total(what, (3 * (int64_t)def->pairs + crossings) * def->rings, error);
}

static mabd_status check_angle(const mabd_hoberman_sphere_def* def, mabd_error* error) {
    const mabd_real least = 2 * MABD_PI / (mabd_real)def->pairs;
    if (def->angle > least && def->angle < MABD_PI) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG,
                     "hoberman-sphere: angle must be between 2 pi / pairs = %g and pi, not %g",
                     (double)least, (double)def->angle);
}

static mabd_status check(const mabd_scene* scene, const mabd_hoberman_sphere_def* def,
                         mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(check_counts(def, error));
    MABD_TRY(mabd_generate_positive(what, "arm", def->arm, error));
    MABD_TRY(mabd_generate_positive(what, "width", def->width, error));
    MABD_TRY(check_angle(def, error));
    MABD_TRY(mabd_generate_finite(what, "speed", &def->speed, 1, error));
    MABD_TRY(mabd_generate_finite(what, "spin", &def->spin, 1, error));
    MABD_TRY(mabd_generate_finite(what, "velocity", def->velocity, 3, error));
    return mabd_generate_finite(what, "position", def->position, 3, error);
}

// ---- rings -------------------------------------------------------------------------------------

static mabd_vec3 unit(mabd_vec3 v) {
    return mabd_v3_scale(1 / mabd_v3_norm(v), v);
}

/// Compute the unit normal of ring i.
static mabd_vec3 normal_of(int32_t rings, int32_t i) {
    const mabd_real golden = (mabd_real)1.6180339887498948482;
    const mabd_real sign = i % 2 ? -1 : 1;
    if (rings == 3) return mabd_v3(i == 0, i == 1, i == 2);
    if (rings == 4) return unit(mabd_v3(i < 2 ? 1 : -1, sign, 1));
    if (i < 2) return unit(mabd_v3(0, sign, golden));
    return unit(i < 4 ? mabd_v3(sign, golden, 0) : mabd_v3(golden, 0, sign));
}

/// Compute the unit vector to a crossing of rings i and j; the other one is opposite.
static mabd_vec3 crossing_of(int32_t rings, int32_t i, int32_t j) {
    return unit(mabd_v3_cross(normal_of(rings, i), normal_of(rings, j)));
}

/// Compute the rotation of ring i: z = n_i, ray 0 at a crossing.
static mabd_quat rotation_of(int32_t rings, int32_t i) {
    const mabd_vec3 x = crossing_of(rings, i, (i + 1) % rings), z = normal_of(rings, i);
    return mabd_q_normalize(mabd_q_from_matrix(mabd_m3(x, mabd_v3_cross(z, x), z)));
}

static mabd_generate_scissor ring_of(const mabd_hoberman_sphere_def* def, int32_t i) {
    const mabd_real a = 2 * MABD_PI / (mabd_real)def->pairs;
    return (mabd_generate_scissor){.units = def->pairs,
                                   .arm = def->arm,
                                   .width = def->width,
                                   .phi = (MABD_PI + a) / 2 - def->angle,
                                   .rate = -def->speed,
                                   .drag = def->drag,
                                   .material = def->material,
                                   .position = mabd_v3_load(def->position),
                                   .rotation = rotation_of(def->rings, i),
                                   .velocity = mabd_v3_load(def->velocity),
                                   .spin = mabd_v3(0, 0, def->spin)};
}

/// Add bars and hinges of ring i.
static mabd_status add_ring(mabd_scene* scene, const mabd_hoberman_sphere_def* def, int32_t i,
                            mabd_generate_scissor* ring, mabd_error* error) {
    char name[MABD_PART_NAME];
    *ring = ring_of(def, i);
    ring->name = mabd_generate_part_name_n(def->name, "ring", i, NULL, name);
    mabd_status status = mabd_generate_scissor_bars(scene, ring, error);
    for (int c = MABD_SCISSOR_MIDDLE; c <= MABD_SCISSOR_OUTER && status == MABD_OK; c++) {
        status = mabd_generate_scissor_hinges(scene, ring, (mabd_scissor_circle)c, 0, error);
    }
    ring->name = NULL; // of this function
    return status;
}

// ---- crossings ---------------------------------------------------------------------------------

/// Find the ray of a ring that points along the unit vector d.
static int32_t ray_along(const mabd_generate_scissor* ring, mabd_vec3 d) {
    const mabd_vec3 in_ring = mabd_q_rotate(mabd_q_conjugate(ring->rotation), d);
    const double angle = atan2((double)in_ring.y, (double)in_ring.x);
    const int32_t ray = (int32_t)lround(angle / (double)mabd_generate_scissor_alpha(ring));
    return ray < 0 ? ray + ring->units : ray;
}

/// Set the ball that holds the inner or outer hinges of two rings together at the crossing d. It
/// joins the bars that begin at the ray of the crossing.
static void set_ball(mabd_generate_joint_batch* batch, int32_t at, mabd_scissor_circle circle,
                     const mabd_generate_scissor* one, const mabd_generate_scissor* other,
                     mabd_vec3 d) {
    const int32_t i = ray_along(one, d), j = ray_along(other, d);
    const bool inner = circle == MABD_SCISSOR_INNER;
    mabd_generate_joint_batch_set(batch, at, (inner ? one->a : one->b) + i,
                                  (inner ? other->a : other->b) + j,
                                  mabd_generate_scissor_point(one, circle, i));
}

/// Add the balls at all crossings, of the inner or the outer hinges.
static mabd_status add_balls(mabd_scene* scene, const mabd_hoberman_sphere_def* def,
                             const mabd_generate_scissor* rings, mabd_scissor_circle circle,
                             mabd_error* error) {
    const char* part = circle == MABD_SCISSOR_INNER ? "inner" : "outer";
    mabd_generate_joint_batch batch;
    const int32_t n = def->rings * (def->rings - 1);
    MABD_TRY(mabd_generate_joint_batch_create(scene, n, false, &batch, error));
    int32_t at = 0;
    for (int32_t i = 0; i < def->rings; i++) {
        for (int32_t j = i + 1; j < def->rings; j++) {
            const mabd_vec3 d = crossing_of(def->rings, i, j);
            set_ball(&batch, at++, circle, rings + i, rings + j, d);
            set_ball(&batch, at++, circle, rings + i, rings + j, mabd_v3_scale(-1, d));
        }
    }
    char name[MABD_PART_NAME];
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = mabd_generate_part_name(def->name, part, name);
    joint.type = MABD_JOINT_BALL;
    mabd_status status = mabd_generate_joint_batch_add(scene, &joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}

mabd_status mabd_generate_hoberman_sphere(mabd_scene* scene, const mabd_hoberman_sphere_def* def,
                                          mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    const int64_t pairs = (int64_t)def->rings * def->pairs;
    MABD_TRY(mabd_generate_reserve(scene, 2 * pairs, 3 * pairs + 2 * def->rings * (def->rings - 1),
                                   error));
    mabd_generate_scissor rings[MAX_RINGS];
    for (int32_t i = 0; i < def->rings; i++) {
        MABD_TRY(add_ring(scene, def, i, rings + i, error));
    }
    MABD_TRY(add_balls(scene, def, rings, MABD_SCISSOR_INNER, error));
    return add_balls(scene, def, rings, MABD_SCISSOR_OUTER, error);
}
