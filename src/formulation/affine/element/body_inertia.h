// SPDX-License-Identifier: Apache-2.0
// Inertia of one body in a step: its prediction, the force of inertia at a reference, the next
// reference, and its rates at the end. Rotations follow affine/element/spin.h. Bodies of a soft
// class, whose strain has an inertia that counts, and all bodies with the integrator bdf2-linear,
// take BDF2 on the coordinates A themselves:
//
//   reference = polar of q + lead (v + curve (v - v1)),   r = M (q_hat - ref)/bh^2,
//   q_hat = q_b + bh v_b,   v = (q_new - q_b)/bh
//
// The centre takes BDF2 on t in both cases; that of a body that is not soft is corrected
// (affine/element/orbit.h).
//
// A step of a body that is not soft reads and writes its rows of sim->spin and sim->center, a row
// of q_new and nothing else of the state: its rows of v and v1 are not used, and its row of q1 is
// for failed steps. Between predict and finish it has in addition
//   spin_ref    y to the reference, and marks: MABD_SPIN_DAMPED, MABD_SPIN_FLOWS
//   spin_flow   corrections of a nearly free body
//   spin_step   u from the reference to q_new, and the change of the rate about a light axis
#pragma once

#include "formulation/affine/data.h"
#include "formulation/affine/element/affine_body.h"
#include "formulation/affine/element/orbit.h"
#include "formulation/affine/element/spin.h"

#include "math/polar.h"

#include <string.h>

/// Centre of a body at the state and one step ago, world.
typedef struct mabd_affine_center {
    mabd_vec3 t, t1; // [m]
    mabd_vec3 v, v1; // [m/s]
    mabd_vec3 a, a1; // [m/s^2]
    mabd_real f;     // of affine/element/orbit.h: also how many of a, a1 are known
} mabd_affine_center;

/// Load the centre of a body.
MABD_FN mabd_affine_center mabd_affine_center_load(const mabd_affine_sim* sim, int32_t body) {
    const mabd_real* row = sim->center + MABD_CENTER_REALS * (size_t)body;
    const mabd_real* orbit = sim->orbit + 6 * (size_t)body;
    mabd_affine_center c;
    c.t = mabd_v3_load(row), c.t1 = mabd_v3_load(row + 3);
    c.v = mabd_v3_load(row + 6), c.v1 = mabd_v3_load(row + 9);
    c.a = mabd_v3_load(orbit), c.a1 = mabd_v3_load(orbit + 3), c.f = sim->orbit_part[body];
    return c;
}
/// Store the centre of a body; accelerations only where they are known.
MABD_FN void mabd_affine_center_store(const mabd_affine_sim* sim, int32_t body,
                                      const mabd_affine_center* c) {
    mabd_real* row = sim->center + MABD_CENTER_REALS * (size_t)body;
    mabd_real* orbit = sim->orbit + 6 * (size_t)body;
    mabd_v3_store(c->t, row), mabd_v3_store(c->t1, row + 3);
    mabd_v3_store(c->v, row + 6), mabd_v3_store(c->v1, row + 9);
    sim->orbit_part[body] = c->f;
    if (c->f > MABD_ORBIT_UNKNOWN) mabd_v3_store(c->a, orbit), mabd_v3_store(c->a1, orbit + 3);
}

/// Returns a where `first` is true, else b, component by component: in lanes a choice of values.
MABD_HOT mabd_vec3 mabd_affine_choose(bool first, mabd_vec3 a, mabd_vec3 b) {
    return mabd_v3(first ? a.x : b.x, first ? a.y : b.y, first ? a.z : b.z);
}
/// Compute the corrections of the path of a centre. fast: the body turns far enough to have some.
MABD_HOT mabd_orbit mabd_affine_center_orbit(const mabd_affine_step_scale* s,
                                             const mabd_affine_center* c, const mabd_spin* spin,
                                             bool fast) {
    const mabd_vec3 w = mabd_q_rotate(spin->p, spin->o), zero = mabd_v3(0, 0, 0);
    const bool on = fast & (c->f >= MABD_ORBIT_TWO_STEPS);
    const mabd_real f = mabd_orbit_part(s->lead, w, c->a, c->a1, c->f);
    const mabd_vec3 z = mabd_orbit_rotation(s->lead, w, c->a, c->a1, f);
    mabd_orbit orbit = mabd_orbit_correction(s->lead, z, c->a);
    orbit.cv = mabd_affine_choose(on, orbit.cv, zero);
    orbit.ct = mabd_affine_choose(on, orbit.ct, zero);
    orbit.f = on ? f : c->f + 1;
    orbit.f = fast ? orbit.f : MABD_ORBIT_UNKNOWN;
    return orbit;
}
/// Compute the motion of a centre by inertia only: t_b + bh v_b, less its corrections.
MABD_HOT mabd_vec3 mabd_affine_center_target(const mabd_affine_step_scale* s,
                                             const mabd_affine_center* c, const mabd_orbit* orbit) {
    const mabd_vec3 t = mabd_v3(mabd_affine_step_target(s, c->t.x, c->t1.x, c->v.x, c->v1.x),
                                mabd_affine_step_target(s, c->t.y, c->t1.y, c->v.y, c->v1.y),
                                mabd_affine_step_target(s, c->t.z, c->t1.z, c->v.z, c->v1.z));
    return mabd_v3_axpy(-s->beta_h, mabd_v3_axpy(s->beta_h, orbit->cv, orbit->ct), t);
}
/// Compute the prediction t + lead (v + curve (v - v1)) of a centre.
MABD_HOT mabd_vec3 mabd_affine_center_guess(const mabd_affine_step_scale* s,
                                            const mabd_affine_center* c) {
    return mabd_v3(mabd_affine_step_guess(s, c->t.x, c->v.x, c->v1.x),
                   mabd_affine_step_guess(s, c->t.y, c->v.y, c->v1.y),
                   mabd_affine_step_guess(s, c->t.z, c->v.z, c->v1.z));
}
/// Compute the centre after a step by BDF2 that moved it to t.
MABD_HOT mabd_affine_center mabd_affine_center_next(const mabd_affine_step_scale* s,
                                                    const mabd_affine_center* c,
                                                    const mabd_orbit* orbit, mabd_vec3 t) {
    const mabd_real rate = 1 / s->beta_h;
    const mabd_vec3 base = mabd_v3_axpy(s->w1, c->t1, mabd_v3_scale(s->w, c->t));
    const mabd_vec3 base_v = mabd_v3_axpy(s->w1, c->v1, mabd_v3_scale(s->w, c->v));
    mabd_affine_center next;
    next.t = t;
    next.v = mabd_v3_axpy(rate, mabd_v3_sub(t, base), orbit->ct);
    next.a = mabd_v3_axpy(rate, mabd_v3_sub(next.v, base_v), orbit->cv);
    next.t1 = c->t, next.v1 = c->v, next.a1 = c->a;
    next.f = orbit->f;
    return next;
}

/// True if a body turns in its own frame and its history is in sim->spin and sim->center.
MABD_FN bool mabd_affine_turns(const mabd_affine_sim* sim, int32_t body) {
    return sim->sizes.spins > 0 && !mabd_affine_block_of(sim, body)->soft &&
           sim->model->body_motion[body] == MABD_MOTION_DYNAMIC;
}

/// Compute the rates of the affine coordinates of a body at the state.
MABD_FN mabd_vec12 mabd_affine_body_rates(const mabd_affine_sim* sim, int32_t body) {
    if (!mabd_affine_turns(sim, body)) return mabd_vec12_load(sim->v + 12 * (size_t)body);
    const mabd_spin spin = mabd_spin_load(sim->spin + MABD_SPIN_REALS * (size_t)body);
    const mabd_mat3 V = mabd_spin_rates(spin.p, spin.o);
    mabd_vec12 v;
    v.d1 = V.c1, v.d2 = V.c2, v.d3 = V.c3;
    v.tau = mabd_affine_center_load(sim, body).v;
    return v;
}

/// Return the velocity of the centre of a body at the state, or one step ago (before) [m/s].
MABD_FN mabd_vec3 mabd_affine_center_velocity(const mabd_affine_sim* sim, int32_t body,
                                              bool before) {
    const mabd_real* v = before ? sim->v1 : sim->v;
    if (!mabd_affine_turns(sim, body)) return mabd_v3_load(v + 12 * (size_t)body + 9);
    return mabd_v3_load(sim->center + MABD_CENTER_REALS * (size_t)body + (before ? 9 : 6));
}

/// True if the path of the centre of a body that turns at the rate o [rad/s] is corrected.
MABD_FN bool mabd_affine_has_orbit(const mabd_affine_sim* sim, int32_t body, mabd_vec3 o) {
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    return step->orbits && sim->anchored[body] && mabd_orbit_is_fast(step->lead, o);
}

/// Compute the corrections of the path of the centre of a body that turns in its own frame.
MABD_FN mabd_orbit mabd_affine_body_orbit(const mabd_affine_sim* sim, int32_t body,
                                          const mabd_affine_center* c, const mabd_spin* spin) {
    const mabd_orbit none = {{0, 0, 0}, {0, 0, 0}, MABD_ORBIT_UNKNOWN};
    if (!mabd_affine_has_orbit(sim, body, spin->o)) return none;
    return mabd_affine_center_orbit(mabd_affine_scale(sim, body), c, spin, true);
}

/// A body at the state, and its rotation to the current reference.
typedef struct mabd_affine_spin_open {
    mabd_spin state;
    mabd_vec3 y; // [rad]
    mabd_spin_flow flow;
} mabd_affine_spin_open;

/// Load the rotation of a body that is not soft, and its rotation to the reference.
MABD_FN mabd_affine_spin_open mabd_affine_open_spin(const mabd_affine_sim* sim, int32_t body) {
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    const mabd_real* to = sim->spin_ref + 4 * (size_t)body;
    const int marks = (int)to[3];
    mabd_affine_spin_open open;
    open.state = mabd_spin_load(sim->spin + MABD_SPIN_REALS * (size_t)body);
    open.y = mabd_v3_load(to);
    open.flow.cw = open.flow.ck = mabd_v3(0, 0, 0);
    if (marks & MABD_SPIN_DAMPED) {
        mabd_spin_damp(step, mabd_affine_block_of(sim, body)->J, &open.state);
    }
    if (marks & MABD_SPIN_FLOWS) {
        const mabd_real* flow = sim->spin_flow + 6 * (size_t)body;
        open.flow.cw = mabd_v3_load(flow), open.flow.ck = mabd_v3_load(flow + 3);
    }
    return open;
}

// ---- references --------------------------------------------------------------------------------

// Store the rotation p exp(y) as the reference of a body.
MABD_FN void mabd_affine_place_spin(mabd_affine_sim* sim, int32_t body, mabd_quat p, mabd_vec3 y) {
    const mabd_quat q = mabd_spin_advance(p, mabd_spin_quat_any(y));
    mabd_m3_store(mabd_q_matrix(q), sim->ref + 12 * (size_t)body);
    mabd_v3_store(y, sim->spin_ref + 4 * (size_t)body);
}

// Predict the rotation of a body that is not soft over the solve: reference, marks and corrections.
MABD_FN void mabd_affine_predict_spin(mabd_affine_sim* sim, int32_t body) {
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    const mabd_affine_block* b = mabd_affine_block_of(sim, body);
    mabd_spin state = mabd_spin_load(sim->spin + MABD_SPIN_REALS * (size_t)body);
    int marks = mabd_spin_is_wild(step, &state) ? MABD_SPIN_DAMPED : 0;
    if (marks) mabd_spin_damp(step, b->J, &state);
    mabd_vec3 y = mabd_spin_guess(step, &state);
    if (!b->even && sim->turns_freely[body] && mabd_spin_is_free(step, b->J, &state)) {
        mabd_spin_flow flow;
        mabd_real* to = sim->spin_flow + 6 * (size_t)body;
        mabd_spin_free(step, b->J, &state, &y, &flow);
        mabd_v3_store(flow.cw, to), mabd_v3_store(flow.ck, to + 3);
        marks |= MABD_SPIN_FLOWS;
    }
    mabd_affine_place_spin(sim, body, state.p, y);
    sim->spin_ref[4 * (size_t)body + 3] = (mabd_real)marks;
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
        for (size_t k = at + 9; k < at + 12; k++) {
            sim->ref[k] = mabd_affine_step_guess(step, sim->q[k], sim->v[k], sim->v1[k]);
        }
    } else {
        const mabd_affine_center c = mabd_affine_center_load(sim, body);
        mabd_affine_predict_spin(sim, body);
        mabd_v3_store(mabd_affine_center_guess(step, &c), sim->ref + at + 9);
    }
}

/// Move the reference of a body to q_new. False if A_new has no rotation.
MABD_FN bool mabd_affine_stage_relinearize_body(mabd_affine_sim* sim, int32_t body) {
    const mabd_real* q = sim->q_new + 12 * (size_t)body;
    mabd_real* ref = sim->ref + 12 * (size_t)body;
    const mabd_mat3 A = mabd_m3_load(q);
    if (mabd_affine_block_of(sim, body)->soft) {
        mabd_mat3 R = A;
        if (!mabd_polar(A, &R)) return false;
        mabd_m3_store(R, ref);
    } else {
        if (!(mabd_m3_det(A) > 0)) return false;
        const mabd_vec3 y = mabd_v3_load(sim->spin_ref + 4 * (size_t)body);
        const mabd_vec3 u = mabd_v3_load(sim->spin_step + 4 * (size_t)body);
        const mabd_quat p = mabd_q_load(sim->spin + MABD_SPIN_REALS * (size_t)body);
        mabd_affine_place_spin(sim, body, p, mabd_spin_join(y, u));
    }
    memcpy(ref + 9, q + 9, 3 * sizeof(mabd_real));
    return true;
}

// ---- the force of inertia ----------------------------------------------------------------------

// Compute the inertia of the rotation of a body that is not soft, at its reference.
MABD_FN mabd_vec12 mabd_affine_spin_force(const mabd_affine_sim* sim, int32_t body,
                                          const mabd_affine_block* b,
                                          const mabd_affine_spin_open* open) {
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    const mabd_vec3 O = mabd_spin_rate(step, open->state.d, open->flow.ck, open->y);
    const mabd_vec3 torque = mabd_spin_torque(step, b->J, &open->state, open->flow.cw, O);
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
    if (b->soft) {
        mabd_real q_hat[12];
        for (size_t k = 0; k < 12; k++) {
            q_hat[k] = mabd_affine_step_target(step, sim->q[at + k], sim->q1[at + k],
                                               sim->v[at + k], sim->v1[at + k]);
        }
        mabd_vec12 target = mabd_vec12_load(q_hat);
        if (sim->has_applied) {
            mabd_affine_block_apply_force(b, sim->applied + 6 * (size_t)body, R, &target);
        }
        return mabd_affine_block_inertia(b, target, ref, weight);
    }
    const mabd_affine_center c = mabd_affine_center_load(sim, body);
    const mabd_affine_spin_open open = mabd_affine_open_spin(sim, body);
    const mabd_orbit orbit = mabd_affine_body_orbit(sim, body, &c, &open.state);
    mabd_vec12 r = mabd_affine_spin_force(sim, body, b, &open);
    if (sim->has_applied) {
        const mabd_real* wrench = sim->applied + 6 * (size_t)body;
        weight = mabd_v3_add(weight, mabd_v3_load(wrench));
        const mabd_vec3 torque = mabd_m3_tmul(R, mabd_v3_load(wrench + 3));
        r = mabd_vec12_axpy(1, mabd_vec12_torque(torque), r);
    }
    r.tau = mabd_affine_center_force(b, mabd_affine_center_target(step, &c, &orbit), ref, weight);
    return r;
}

// ---- the end of a step -------------------------------------------------------------------------

/// True if the rate about a light axis follows from its torque: joints with rows other than points,
/// and springs, hold that axis, and its rate follows from its rotation.
MABD_FN bool mabd_affine_has_light(const mabd_affine_sim* sim, int32_t body,
                                   const mabd_affine_block* b) {
    return b->light >= 0 && sim->hangs_on_points[body];
}

/// Store the rotation of a body that is not soft from its reference: of the columns D of an
/// increment. Z: of the body in this solve, null if not known: a light axis is then treated like
/// the others.
MABD_FN void mabd_affine_store_spin_step(const mabd_affine_sim* sim, int32_t body, mabd_mat3 D,
                                         const mabd_real* Z) {
    const mabd_affine_block* b = mabd_affine_block_of(sim, body);
    mabd_real* to = sim->spin_step + 4 * (size_t)body;
    mabd_vec3 a, u;
    mabd_spin_small(D, &a, &u);
    mabd_v3_store(u, to);
    to[3] = 0;
    if (!mabd_affine_has_light(sim, body, b)) return;
    mabd_vec3 Gw = mabd_v3(0, 0, 0);
    if (Z) Gw = mabd_spin_stiff(b->c, mabd_sym3_load(Z), mabd_v3_scale(2, a));
    to[3] = mabd_spin_light(mabd_affine_scale(sim, body)->beta_h, b->J, b->light, a, Gw);
}

// Save what a failed step restores and the history does not have; the rate there may be damped.
MABD_FN void mabd_affine_save_start(const mabd_affine_sim* sim, int32_t body) {
    const mabd_spin s = mabd_spin_load(sim->spin + MABD_SPIN_REALS * (size_t)body);
    mabd_real* start = sim->spin_start + 10 * (size_t)body;
    mabd_q_store(s.p, start), mabd_v3_store(s.o, start + 4), mabd_v3_store(s.torque, start + 7);
}

// Advance the rotation of a body to the end of a solve.
MABD_FN void mabd_affine_finish_spin(mabd_affine_sim* sim, bool keep_history, int32_t body,
                                     const mabd_affine_spin_open* open) {
    const mabd_affine_block* b = mabd_affine_block_of(sim, body);
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    const mabd_real* moved = sim->spin_step + 4 * (size_t)body;
    mabd_spin_end end;
    end.reference = open->y;
    end.y = mabd_spin_join(open->y, mabd_v3_load(moved));
    end.light = moved[3];
    const mabd_vec3 on_light =
        mabd_affine_has_light(sim, body, b) ? mabd_v3_load(b->on_light) : mabd_v3(0, 0, 0);
    const mabd_spin next = mabd_spin_next(step, b->J, on_light, &open->state, &open->flow, &end,
                                          mabd_spin_quat_any(end.y), keep_history);
    if (step->saves_start) mabd_affine_save_start(sim, body);
    mabd_spin_store(next, sim->spin + MABD_SPIN_REALS * (size_t)body);
}

// Know the acceleration of a centre at the start of the step before the first correction: a, at the
// middle of the step until now, c->a, goes on in a straight line to both sides.
MABD_FN void mabd_affine_start_orbit(const mabd_affine_sim* sim, int32_t body,
                                     const mabd_affine_center* c, mabd_vec3 o,
                                     mabd_affine_center* next) {
    if (!sim->anchored[body] || !mabd_orbit_is_fast(sim->def.h, o)) return;
    next->a1 = mabd_v3_sub(mabd_v3_scale(2, c->a), next->a);
    next->f = MABD_ORBIT_TWO_STEPS;
}

/// Advance the history of one body to the end of a solve. Of a body that does not turn in its own
/// frame, only the rates are computed, to row v (12) of their array.
MABD_FN void mabd_affine_stage_finish_body(mabd_affine_sim* sim, bool keep_history, int32_t body,
                                           mabd_real* v) {
    const size_t at = 12 * (size_t)body;
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body);
    if (mabd_affine_turns(sim, body)) {
        const mabd_affine_center c = mabd_affine_center_load(sim, body);
        const mabd_affine_spin_open open = mabd_affine_open_spin(sim, body);
        const mabd_orbit orbit = mabd_affine_body_orbit(sim, body, &c, &open.state);
        const mabd_vec3 t = mabd_v3_load(sim->q_new + at + 9);
        mabd_affine_center next = mabd_affine_center_next(step, &c, &orbit, t);
        if (keep_history) next.t1 = c.t1, next.v1 = c.v1; // a part of a step
        if (step->starts_orbits) mabd_affine_start_orbit(sim, body, &c, open.state.o, &next);
        mabd_affine_center_store(sim, body, &next);
        mabd_affine_finish_spin(sim, keep_history, body, &open);
        return;
    }
    const mabd_real rate = 1 / step->beta_h;
    for (size_t k = 0; k < 12; k++) {
        v[k] = mabd_affine_step_rate(rate, step->w, step->w1, sim->q_new[at + k], sim->q[at + k],
                                     sim->q1[at + k]);
    }
}

/// Set the history of a body from q and v: there is no step before.
MABD_FN void mabd_affine_stage_reset_spin(mabd_affine_sim* sim, int32_t body) {
    const size_t at = 12 * (size_t)body;
    mabd_mat3 R = mabd_m3_identity();
    mabd_spin s;
    mabd_affine_center c;
    mabd_polar(mabd_m3_load(sim->q + at), &R);
    s.p = mabd_q_from_matrix(R);
    const mabd_mat3 skew = mabd_m3_tproduct(R, mabd_m3_load(sim->v + at)); // [o]
    s.o = s.o1 = mabd_v3_scale((mabd_real)0.5, mabd_so3_two_sines(skew));
    s.d = s.torque = mabd_v3(0, 0, 0);
    c.t = c.t1 = mabd_v3_load(sim->q + at + 9);
    c.v = c.v1 = mabd_v3_load(sim->v + at + 9);
    c.a = c.a1 = mabd_v3(0, 0, 0), c.f = MABD_ORBIT_UNKNOWN;
    mabd_spin_store(s, sim->spin + MABD_SPIN_REALS * (size_t)body);
    mabd_affine_center_store(sim, body, &c);
}

/// Make the state of a body that one step ago, or go back to it.
MABD_FN void mabd_affine_stage_copy_spin(mabd_affine_sim* sim, bool back, int32_t body) {
    mabd_real* row = sim->spin + MABD_SPIN_REALS * (size_t)body;
    const mabd_real* start = sim->spin_start + 10 * (size_t)body;
    mabd_spin s = mabd_spin_load(row);
    mabd_affine_center c = mabd_affine_center_load(sim, body);
    if (back) {
        s.p = mabd_q_load(start);
        s.o = s.o1 = mabd_v3_load(start + 4), s.torque = mabd_v3_load(start + 7);
        c.t = c.t1, c.v = c.v1;
    } else {
        mabd_affine_save_start(sim, body);
        s.o1 = s.o;
        c.t1 = c.t, c.v1 = c.v;
    }
    s.d = mabd_v3(0, 0, 0);
    c.f = MABD_ORBIT_UNKNOWN;
    mabd_spin_store(s, row);
    mabd_affine_center_store(sim, body, &c);
}
