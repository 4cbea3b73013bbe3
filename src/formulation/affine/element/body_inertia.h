// SPDX-License-Identifier: Apache-2.0
// Inertia of one body in a step: its prediction, the force of inertia at a reference, the next
// reference, and its rates at the end. Rotations follow affine/element/spin.h. Bodies of a soft
// class, whose strain has an inertia that counts, and all bodies with the integrator bdf2-linear,
// take BDF2 on the coordinates A themselves:
//
//   reference = polar of q + lead (v + curve (v - v1)),   r = M (q_hat - ref)/bh^2,
//   q_hat = q_b + bh v_b,   v = (q_new - q_b)/bh
//
// The centre takes BDF2 on t in both cases.
#pragma once

#include "formulation/affine/data.h"
#include "formulation/affine/element/affine_body.h"
#include "formulation/affine/element/spin.h"

#include "math/polar.h"

#include <string.h>

/// A body at the state, and its rotation to the current reference.
typedef struct mabd_affine_spin_open {
    mabd_spin state;
    mabd_vec3 y; // [rad]
    mabd_spin_flow flow;
} mabd_affine_spin_open;

/// Load the rotation of a body that is not soft, and predict its rotation over the solve.
MABD_FN mabd_affine_spin_open mabd_affine_predict_spin(const mabd_affine_sim* sim, int32_t body) {
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    const mabd_affine_block* b = mabd_affine_block_of(sim, body);
    mabd_affine_spin_open open;
    open.state = mabd_spin_load(sim->spin + MABD_SPIN_REALS * (size_t)body);
    if (mabd_spin_is_wild(step, &open.state)) mabd_spin_damp(step, b->J, &open.state);
    open.y = mabd_spin_guess(step, &open.state);
    open.flow.cw = open.flow.ck = mabd_v3(0, 0, 0);
    if (!b->even && mabd_spin_is_free(step, b->J, &open.state)) {
        mabd_spin_free(step, b->J, &open.state, &open.y, &open.flow);
    }
    return open;
}

/// Load the rotation of a body that is not soft, and its rotation to the reference.
MABD_FN mabd_affine_spin_open mabd_affine_open_spin(const mabd_affine_sim* sim, int32_t body) {
    mabd_affine_spin_open open = mabd_affine_predict_spin(sim, body);
    if (sim->spin_ref_set) open.y = mabd_v3_load(sim->spin_ref + 4 * (size_t)body);
    return open;
}

// ---- references --------------------------------------------------------------------------------

// Store the rotation p exp(y) as the reference of a body.
MABD_FN void mabd_affine_place_spin(mabd_affine_sim* sim, int32_t body, mabd_quat p, mabd_vec3 y) {
    const mabd_quat q = mabd_spin_advance(p, mabd_spin_quat_any(y));
    mabd_m3_store(mabd_q_matrix(q), sim->ref + 12 * (size_t)body);
    if (sim->spin_ref_set) mabd_v3_store(y, sim->spin_ref + 4 * (size_t)body);
}

// Compute the rotation of the reference of a body of a soft class.
MABD_FN void mabd_affine_predict_soft(mabd_affine_sim* sim, int32_t body) {
    const size_t at = 12 * (size_t)body;
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    mabd_real guess[9];
    for (size_t k = 0; k < 9; k++) {
        guess[k] = mabd_affine_step_guess(step, sim->q[at + k], sim->v[at + k], sim->v1[at + k]);
    }
    mabd_mat3 R = mabd_m3_identity();
    // without a rotation in the prediction, use that of the state
    if (!mabd_polar(mabd_m3_load(guess), &R)) mabd_polar(mabd_m3_load(sim->q + at), &R);
    mabd_m3_store(R, sim->ref + at);
}

/// Set the reference and new state of a body that does not move.
MABD_FN void mabd_affine_stage_hold_body(mabd_affine_sim* sim, int32_t body) {
    const size_t at = 12 * (size_t)body, bytes = 12 * sizeof(mabd_real);
    memcpy(sim->q_new + at, sim->q + at, bytes);
    memcpy(sim->ref + at, sim->q + at, bytes);
}

/// Compute the first reference of one moving body.
MABD_FN void mabd_affine_stage_predict_body(mabd_affine_sim* sim, int32_t body) {
    const size_t at = 12 * (size_t)body;
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    if (mabd_affine_block_of(sim, body)->soft) {
        mabd_affine_predict_soft(sim, body);
    } else {
        const mabd_affine_spin_open open = mabd_affine_predict_spin(sim, body);
        mabd_affine_place_spin(sim, body, open.state.p, open.y);
    }
    for (size_t k = at + 9; k < at + 12; k++) {
        sim->ref[k] = mabd_affine_step_guess(step, sim->q[k], sim->v[k], sim->v1[k]);
    }
}

/// Continue a rotation by y with the small rotation of I + [u]. *q: quaternion of the whole.
MABD_FN mabd_vec3 mabd_affine_continue_spin(mabd_vec3 y, mabd_vec3 u, mabd_quat* q) {
    const mabd_quat more = mabd_spin_tangent(u);
    *q = mabd_q_product(mabd_spin_quat_any(y), more);
    if (!(mabd_v3_dot(y, y) > MABD_SPIN_FAR_RAD * MABD_SPIN_FAR_RAD)) return mabd_spin_vector(*q);
    const mabd_vec3 z = mabd_spin_vector(more); // beyond half a turn: no turn is lost
    return mabd_v3_axpy((mabd_real)0.5, mabd_v3_cross(y, z), mabd_v3_add(y, z));
}

/// Move the reference of a body to q_new. False if A_new has no rotation.
MABD_FN bool mabd_affine_stage_relinearize_body(mabd_affine_sim* sim, int32_t body) {
    const mabd_real* q = sim->q_new + 12 * (size_t)body;
    mabd_real* ref = sim->ref + 12 * (size_t)body;
    const mabd_mat3 A = mabd_m3_load(q);
    mabd_mat3 R = A;
    if (mabd_affine_block_of(sim, body)->soft) {
        if (!mabd_polar(A, &R)) return false;
        mabd_m3_store(R, ref);
    } else {
        if (!(mabd_m3_det(A) > 0)) return false;
        mabd_real* stored = sim->spin_ref + 4 * (size_t)body;
        const mabd_quat p = mabd_q_load(sim->spin + MABD_SPIN_REALS * (size_t)body);
        const mabd_vec3 y =
            sim->spin_ref_set ? mabd_v3_load(stored) : mabd_affine_predict_spin(sim, body).y;
        mabd_vec3 a, u;
        mabd_quat turn;
        mabd_spin_small(mabd_m3_load(ref), A, &a, &u);
        mabd_v3_store(mabd_affine_continue_spin(y, u, &turn), stored);
        mabd_m3_store(mabd_q_matrix(mabd_spin_advance(p, turn)), ref);
    }
    memcpy(ref + 9, q + 9, 3 * sizeof(mabd_real));
    return true;
}

// ---- the force of inertia ----------------------------------------------------------------------

// Compute the inertia of the rotation of a body that is not soft, at its reference.
MABD_FN mabd_vec12 mabd_affine_spin_force(const mabd_affine_sim* sim, int32_t body,
                                          const mabd_affine_block* b) {
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    const mabd_affine_spin_open open = mabd_affine_open_spin(sim, body);
    const mabd_vec3 O = mabd_spin_rate(step, open.state.d, open.flow.ck, open.y);
    const mabd_vec3 torque = mabd_spin_torque(step, b->J, &open.state, open.flow.cw, O);
    const mabd_sym3 stress = mabd_sym3_load(sim->stress + 6 * (size_t)body);
    return mabd_spin_force(b->sm, step->beta_h, O, torque, mabd_affine_block_strain(b, stress));
}

/// Compute r in the body frame: inertia, gravity, forces applied for this step. mass [kg].
MABD_FN mabd_vec12 mabd_affine_body_inertia_force(const mabd_affine_sim* sim, int32_t body,
                                                  const mabd_affine_block* b, mabd_real mass) {
    const size_t at = 12 * (size_t)body;
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    const mabd_vec12 ref = mabd_vec12_load(sim->ref + at);
    const mabd_mat3 R = mabd_m3(ref.d1, ref.d2, ref.d3);
    mabd_vec3 weight = mabd_v3_scale(mass, mabd_v3_load(sim->model->gravity));
    mabd_real q_hat[12];
    for (size_t k = b->soft ? 0 : 9; k < 12; k++) {
        q_hat[k] = mabd_affine_step_target(step, sim->q[at + k], sim->q1[at + k], sim->v[at + k],
                                           sim->v1[at + k]);
    }
    if (b->soft) {
        mabd_vec12 target = mabd_vec12_load(q_hat);
        if (sim->has_applied) {
            mabd_affine_block_apply_force(b, sim->applied + 6 * (size_t)body, R, &target);
        }
        return mabd_affine_block_inertia(b, target, ref, weight);
    }
    mabd_vec12 r = mabd_affine_spin_force(sim, body, b);
    if (sim->has_applied) {
        const mabd_real* wrench = sim->applied + 6 * (size_t)body;
        weight = mabd_v3_add(weight, mabd_v3_load(wrench));
        const mabd_vec3 torque = mabd_m3_tmul(R, mabd_v3_load(wrench + 3));
        r = mabd_vec12_axpy(1, mabd_vec12_torque(torque), r);
    }
    r.tau = mabd_affine_center_force(b, mabd_v3_load(q_hat + 9), ref, weight);
    return r;
}

// ---- the end of a step -------------------------------------------------------------------------

/// True if the rate about a light axis follows from its torque: joints with rows other than points
/// hold that axis, and its rate follows from its rotation.
MABD_FN bool mabd_affine_has_light(const mabd_affine_sim* sim, int32_t body,
                                   const mabd_affine_block* b) {
    return b->light >= 0 && sim->body_kind[body] == MABD_BODY_SIMPLE;
}

/// Compute the rotation of a body that is not soft over the solve that led to q_new.
MABD_FN mabd_spin_end mabd_affine_end_spin(const mabd_affine_sim* sim, int32_t body,
                                           const mabd_affine_spin_open* open, mabd_quat* q) {
    const size_t at = (size_t)body;
    const mabd_affine_block* b = mabd_affine_block_of(sim, body);
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    mabd_spin_end end;
    mabd_vec3 a, u;
    mabd_spin_small(mabd_m3_load(sim->ref + 12 * at), mabd_m3_load(sim->q_new + 12 * at), &a, &u);
    end.y = mabd_affine_continue_spin(open->y, u, q);
    end.light = 0;
    if (!mabd_affine_has_light(sim, body, b)) return end;
    const mabd_vec3 O = mabd_spin_rate(step, open->state.d, open->flow.ck, open->y);
    const mabd_vec3 Gw =
        mabd_spin_stiff(b->c, mabd_sym3_load(sim->geometric + 6 * at), mabd_v3_scale(2, a));
    end.light = mabd_spin_light(step, b->J, b->light, O, a, Gw);
    return end;
}

/// Save the rotation of a body of a copy that has settled.
MABD_FN void mabd_affine_save_spin(const mabd_affine_sim* sim, int32_t body) {
    const mabd_affine_block* b = mabd_affine_block_of(sim, body);
    if (b->soft || sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) return;
    const mabd_affine_spin_open open = mabd_affine_open_spin(sim, body);
    mabd_quat q;
    const mabd_spin_end end = mabd_affine_end_spin(sim, body, &open, &q);
    mabd_real* to = sim->spin_end + 8 * (size_t)body;
    mabd_v3_store(end.y, to);
    to[3] = end.light;
    mabd_q_store(q, to + 4);
}

// Compute the rotation at the end of a solve and its rates v (9); the row of sim->spin moves on.
MABD_FN void mabd_affine_finish_spin(mabd_affine_sim* sim, bool keep_history, int32_t body,
                                     mabd_real* v) {
    const mabd_affine_block* b = mabd_affine_block_of(sim, body);
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    mabd_affine_spin_open open = mabd_affine_open_spin(sim, body);
    mabd_spin_end end;
    mabd_quat q;
    if (sim->sizes.by_copy > 0) {
        const mabd_real* from = sim->spin_end + 8 * (size_t)body;
        end.y = mabd_v3_load(from), end.light = from[3];
        q = mabd_q_load(from + 4);
    } else {
        end = mabd_affine_end_spin(sim, body, &open, &q);
    }
    const mabd_real none[3] = {0, 0, 0};
    const mabd_real* on_light = mabd_affine_has_light(sim, body, b) ? b->on_light : none;
    const mabd_spin next =
        mabd_spin_next(step, b->J, on_light, &open.state, &open.flow, &end, q, keep_history);
    mabd_spin_store(next, sim->spin + MABD_SPIN_REALS * (size_t)body);
    mabd_m3_store(mabd_spin_rates(next.p, next.o), v);
}

/// Compute the rates of one body at the end of a solve, to row v (12) of its array.
MABD_FN void mabd_affine_stage_finish_body(mabd_affine_sim* sim, bool keep_history, int32_t body,
                                           mabd_real* v) {
    const size_t at = 12 * (size_t)body;
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    const mabd_real rate = 1 / step->beta_h;
    const bool turns = !mabd_affine_block_of(sim, body)->soft &&
                       sim->model->body_motion[body] == MABD_MOTION_DYNAMIC;
    for (size_t k = turns ? 9 : 0; k < 12; k++) {
        v[k] = mabd_affine_step_rate(rate, step->w, step->w1, sim->q_new[at + k], sim->q[at + k],
                                     sim->q1[at + k]);
    }
    if (turns) mabd_affine_finish_spin(sim, keep_history, body, v);
}

/// Set the rotation of a body from q and v, without history.
MABD_FN void mabd_affine_stage_reset_spin(mabd_affine_sim* sim, int32_t body) {
    const size_t at = 12 * (size_t)body;
    mabd_mat3 R = mabd_m3_identity();
    mabd_spin s;
    mabd_polar(mabd_m3_load(sim->q + at), &R);
    s.p = mabd_q_from_matrix(R);
    const mabd_mat3 skew = mabd_m3_tproduct(R, mabd_m3_load(sim->v + at)); // [o]
    s.o = s.o1 = mabd_v3_scale((mabd_real)0.5, mabd_so3_two_sines(skew));
    s.d = s.torque = mabd_v3(0, 0, 0);
    mabd_spin_store(s, sim->spin + MABD_SPIN_REALS * (size_t)body);
}

/// Make the rotation of the state that one step ago, or go back to it.
MABD_FN void mabd_affine_stage_copy_spin(mabd_affine_sim* sim, bool back, int32_t body) {
    mabd_real* row = sim->spin + MABD_SPIN_REALS * (size_t)body;
    mabd_spin s = mabd_spin_load(row);
    if (back) {
        s.p = mabd_spin_advance(s.p, mabd_spin_quat_any(mabd_v3_scale(-1, s.d)));
        s.o = s.o1;
    } else {
        s.o1 = s.o;
    }
    s.d = mabd_v3(0, 0, 0);
    mabd_spin_store(s, row);
}
