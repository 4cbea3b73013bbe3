// SPDX-License-Identifier: Apache-2.0
// Residuals that are round-off.
//
// An entry of the residual is a sum that cancels at the solution, and poses and multipliers are
// known to a last place: no iteration makes it smaller than a few eps times the sum of its terms'
// magnitudes. With m for the mass, or a moment of inertia, of an entry:
//
//   bodies   |bh^2 E|:   m (|c| + |c_p| + bh |v_p|), q in place of c;   |f||l|, (|t| + |X||f|)|l|
//   rows     |C|:        |c_a| + |c_b| + |X_a| + |X_b|,  1 for directions and angles
//
// The second sum is large where light bodies carry heavy ones: a link of 0.3 g that carries 49 kg
// over bh = 22 ms has |J'||l|/m of 800 m, and |X||l|/J of 1e5 rad, whose last place is 1e-11 rad.

#include "formulation/quaternion/round_off.h"

#include "formulation/quaternion/kinematics.h"

#include <float.h>
#include <math.h>

/// Last places of the sum of magnitudes that are round-off. Residuals of the exact Newton end at 3
/// of them (figure, preset exact), those of the symmetric one at 15 to 100: the round-off of its
/// increments, times the second derivatives of rows that its matrix lacks, is not taken back.
#define LAST_PLACES           ((mabd_real)16)
#define LAST_PLACES_SYMMETRIC ((mabd_real)128)

// Add what a pose and its history contribute to the sums of a body.
static void add_body(const mabd_quaternion_solve* s, int32_t slot, mabd_real* sums) {
    const mabd_quaternion_sim* sim = s->sim;
    const int32_t body = sim->bodies[s->part->body_first + slot];
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
    const mabd_real *pose = sim->pose + 7 * (size_t)body,
                    *past = sim->past.body + MABD_NODE_REALS * (size_t)body;
    mabd_real way[7], turn = 0;
    for (int k = 0; k < 7; k++) {
        way[k] = (mabd_real)(fabs(pose[k]) + fabs(past[k]) + s->bh * fabs(past[7 + k]));
    }
    for (int k = 3; k < 7; k++) turn += 2 * way[k];
    for (int k = 0; k < 3; k++) {
        sums[k] = c->material.mass * way[k];
        sums[3 + k] = c->principal[k] * turn;
    }
}

// |c| of a side.
static mabd_real distance(mabd_vec3 c) {
    return (mabd_real)(fabs(c.x) + fabs(c.y) + fabs(c.z));
}

// Add a wrench on a body with its arm X. Each component of its torque has the round-off of the
// longest products: that about the axis of a thin rod is a small difference of large ones.
static void add_wrench(const mabd_rigid_wrench* w, mabd_vec3 X, mabd_real l, mabd_real* sums) {
    const mabd_real force = (mabd_real)(mabd_v3_norm(w->f) * fabs(l));
    const mabd_real torque = (mabd_real)(mabd_v3_norm(w->t) * fabs(l));
    for (int k = 0; k < 3; k++) {
        sums[k] += force;
        sums[3 + k] += torque + mabd_v3_norm(X) * force;
    }
}

// Add the rows of a joint to the sums of its bodies, and write those of its rows.
static void add_joint(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                      mabd_real* sums) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_joint_view v =
        mabd_quaternion_view(sim, sim->pose, s->time, &sim->model->joints[j->joint]);
    const mabd_real size = 1 + distance(v.ta) + distance(v.tb) + distance(v.Xa) + distance(v.Xb);
    mabd_real* rows = sums + 6 * (size_t)s->part->body_count + (j->row - s->part->row_first);
    mabd_real C[2 * MABD_JOINT_MAX_ROWS];
    mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
    mabd_quaternion_rows(s, j, C, J);
    for (int32_t r = 0; r < j->width; r++) {
        const mabd_real l = sim->multiplier[j->row + r];
        rows[r] = size;
        if (j->slot_a >= 0) add_wrench(&J[r].a, v.Xa, l, sums + 6 * (size_t)j->slot_a);
        if (j->slot_b >= 0) add_wrench(&J[r].b, v.Xb, l, sums + 6 * (size_t)j->slot_b);
    }
}

// Write the sums of magnitudes of a part into sim->rest.
static mabd_real* find_sums(const mabd_quaternion_solve* s) {
    mabd_real* sums = s->sim->rest + s->part->vector_first;
    for (int32_t i = 0; i < s->part->body_count; i++) add_body(s, i, sums + 6 * (size_t)i);
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + i];
        if (j->slot >= 0) add_joint(s, j, sums);
    }
    return sums;
}

bool mabd_quaternion_is_round_off(const mabd_quaternion_solve* s) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_real tolerance = sim->def.quaternion.newton_tolerance;
    const mabd_real eps =
        sizeof(mabd_real) == sizeof(float) ? (mabd_real)FLT_EPSILON : (mabd_real)DBL_EPSILON;
    const mabd_real part = eps * (sim->dual ? LAST_PLACES_SYMMETRIC : LAST_PLACES);
    const mabd_real* residual = sim->residual + s->part->vector_first;
    const mabd_real* sums = find_sums(s);
    const int32_t bodies = 6 * s->part->body_count;
    for (int32_t i = 0; i < bodies; i++) {
        const int32_t body = sim->bodies[s->part->body_first + i / 6];
        const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
        const mabd_real mass = i % 6 < 3 ? c->material.mass : c->principal[i % 6 - 3];
        if (!(fabs(residual[i]) <= fmax(tolerance * mass, part * sums[i]))) return false;
    }
    for (int32_t i = bodies; i < bodies + s->part->row_count; i++) {
        if (!(fabs(residual[i]) <= fmax(tolerance, part * sums[i]))) return false;
    }
    return true;
}
