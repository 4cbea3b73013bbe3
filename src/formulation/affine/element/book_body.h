// SPDX-License-Identifier: Apache-2.0
// Work of drag and of forces on one body in a finished step, from the state before it (q1, v1) to
// the state after it (q, v). A force F that varies does the work (F0 + F1)/2 . (P1 - P0) at the
// point P it acts on, a torque T the work (T0 + T1)/2 . w, w the vector of the rotation, at most
// half a turn. Both are of second order; a constant force has its exact work, and so has a torque
// about the axis of the rotation.
#pragma once

#include "formulation/affine/data.h"
#include "formulation/affine/element/body_inertia.h"
#include "model/first_force.h"

/// Compute the rotation vector of a body over a step, world [rad].
MABD_CALL mabd_vec3 mabd_affine_step_turn(const mabd_affine_sim* sim, size_t body) {
    const mabd_mat3 A0 = mabd_m3_load(sim->q1 + 12 * body), A1 = mabd_m3_load(sim->q + 12 * body);
    mabd_mat3 R = mabd_m3_product(A1, mabd_m3_transpose(A0));
    mabd_polar(R, &R);
    return mabd_so3_log(R);
}

/// Compute the displacement of the centre of a body over a step, world [m].
MABD_FN mabd_vec3 mabd_affine_step_shift(const mabd_affine_sim* sim, size_t body) {
    return mabd_v3_sub(mabd_v3_load(sim->q + 12 * body + 9), mabd_v3_load(sim->q1 + 12 * body + 9));
}

// Work of a force of the scene.
MABD_FN mabd_real mabd_affine_force_work(const mabd_affine_sim* sim, int32_t index) {
    const mabd_model_force* force = &sim->model->forces[index];
    const size_t at = 12 * (size_t)force->body;
    const mabd_real s0 = sim->force_start[index] / 2, s1 = sim->force_scale[index] / 2;
    const mabd_vec3 path = mabd_v3_sub(mabd_affine_point_of(sim->q, force->body, force->point),
                                       mabd_affine_point_of(sim->q1, force->body, force->point));
    mabd_vec3 f = mabd_v3_scale(s0 + s1, force->force), t = mabd_v3_scale(s0 + s1, force->torque);
    if (force->body_frame) {
        const mabd_mat3 A0 = mabd_m3_load(sim->q1 + at), A1 = mabd_m3_load(sim->q + at);
        f = mabd_v3_axpy(s0, mabd_m3_mul(A0, force->force),
                         mabd_v3_scale(s1, mabd_m3_mul(A1, force->force)));
        t = mabd_v3_axpy(s0, mabd_m3_mul(A0, force->torque),
                         mabd_v3_scale(s1, mabd_m3_mul(A1, force->torque)));
    }
    mabd_real work = mabd_v3_dot(f, path);
    if (mabd_v3_dot(force->torque, force->torque) > 0) {
        work += mabd_v3_dot(t, mabd_affine_step_turn(sim, (size_t)force->body));
    }
    return work;
}

/// Add the work of a finished step to the row `place` of booked bodies.
MABD_FN void mabd_affine_stage_book_body(mabd_affine_sim* sim, int32_t place) {
    const mabd_model* m = sim->model;
    const int32_t body = sim->booked_body[place];
    const mabd_real drag = m->classes[m->body_class[body]].material.drag;
    mabd_real* work = sim->work_body + MABD_BOOK_BODY_COLUMNS * (size_t)place;
    for (int32_t i = mabd_model_first_force(m, body);
         i < m->force_count && m->forces[i].body == body; i++) {
        work[MABD_BOOK_FORCES] += mabd_affine_force_work(sim, i);
    }
    const mabd_vec3 wind = mabd_v3_add(sim->wind_start, sim->step.wind);
    const mabd_vec3 v = mabd_v3_add(mabd_affine_center_velocity(sim, body, true),
                                    mabd_affine_center_velocity(sim, body, false));
    work[MABD_BOOK_DRAG] +=
        drag / 2 * mabd_v3_dot(mabd_v3_sub(v, wind), mabd_affine_step_shift(sim, (size_t)body));
}

/// Compute the work of the force and torque that act on a body for one step [J].
MABD_FN mabd_real mabd_affine_applied_work(const mabd_affine_sim* sim, size_t body) {
    const mabd_vec3 f = mabd_v3_load(sim->applied + 6 * body);
    const mabd_vec3 t = mabd_v3_load(sim->applied + 6 * body + 3);
    mabd_real work = 0;
    if (mabd_v3_dot(f, f) > 0) work = mabd_v3_dot(f, mabd_affine_step_shift(sim, body));
    if (mabd_v3_dot(t, t) > 0) work += mabd_v3_dot(t, mabd_affine_step_turn(sim, body));
    return work;
}
