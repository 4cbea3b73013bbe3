// SPDX-License-Identifier: Apache-2.0
// Predict and refer: where the step is linearised. The reference is rigid, so strain is zero there and the
// linear solve returns the whole stress (linearising at q^n instead bloats bodies by (omega h)^2/2).
//
//   q_hat = q_b + bh v_b,  q_b = w q + w1 q1,  v_b = w v + w1 v1         what inertia alone would do
//   reference = polar of q + lead (v + curve (v - v1))                   a guess of second order

#include "cpu/stages.h"

#include "math/polar.h"
#include "math/quat.h"
#include "scene/signal.h"

#include <string.h>

void MABD_STAGE(predict_body)(mabd_cpu_sim* sim, int32_t index) {
    const size_t body = (size_t)index;
    const mabd_real *q = sim->q + 12 * body, *q1 = sim->q1 + 12 * body;
    const mabd_real *v = sim->v + 12 * body, *v1 = sim->v1 + 12 * body;
    const mabd_step_scale* step = mabd_cpu_scale(sim, index);
    const mabd_real bh = step->beta_h, w = step->w, w1 = step->w1;
    mabd_real* q_hat = sim->q_hat + 12 * body;
    mabd_real guess[12];
    for (int k = 0; k < 12; k++) {
        q_hat[k] = (w * q[k] + w1 * q1[k]) + bh * (w * v[k] + w1 * v1[k]);
        guess[k] = q[k] + step->lead * (v[k] + step->curve * (v[k] - v1[k]));
    }
    mabd_real* ref = sim->ref + 12 * body;
    mabd_mat3 R = mabd_m3_identity();
    // a prediction without rotation keeps that of the state
    if (!mabd_polar(mabd_m3_load(guess), &R)) mabd_polar(mabd_m3_load(q), &R);
    mabd_m3_store(R, ref);
    memcpy(ref + 9, guess + 9, 3 * sizeof(mabd_real));
}

// Pose of a scripted body at the end of the step.
static void pose_script(mabd_cpu_sim* sim, const mabd_model_script* script) {
    const mabd_model* m = sim->model;
    const mabd_real time = sim->step.time_end;
    mabd_model_start start = m->start[script->body];
    mabd_vec3 position = mabd_v3_load(start.position);
    if (script->translation) {
        const mabd_real s = mabd_signal_value(script->translation, time);
        position = mabd_v3_axpy(s, script->direction, script->pivot);
    }
    if (script->angle) {
        const mabd_quat turn =
            mabd_q_axis_angle(script->axis, mabd_signal_value(script->angle, time));
        mabd_q_store(mabd_q_product(turn, mabd_q_load(start.rotation)), start.rotation);
    }
    mabd_v3_store(position, start.position);
    mabd_real rates[12], *q = sim->q_new + 12 * (size_t)script->body;
    mabd_model_to_affine(&m->classes[m->body_class[script->body]], &start, q, rates);
    memcpy(sim->ref + 12 * (size_t)script->body, q, 12 * sizeof(mabd_real));
}

void MABD_STAGE(predict)(mabd_cpu_sim* sim) {
    const mabd_model* m = sim->model;
    mabd_contacts* contacts = sim->contacts;
    for (int32_t i = 0; i < m->body_count; i++) {
        const size_t body = (size_t)i;
        if (contacts) contacts->euler[i] = contacts->calm[i] > 0;
        if (m->body_motion[i] == MABD_MOTION_DYNAMIC) {
            MABD_STAGE(predict_body)(sim, i);
        } else {
            memcpy(sim->q_new + 12 * body, sim->q + 12 * body, 12 * sizeof(mabd_real));
            memcpy(sim->ref + 12 * body, sim->q + 12 * body, 12 * sizeof(mabd_real));
        }
    }
    for (int32_t i = 0; i < m->script_count; i++) pose_script(sim, &m->scripts[i]);
    for (size_t i = 0; i < sim->sizes.coordinates; i++) {
        sim->x_ref[i] = sim->x[i] + sim->step.lead * sim->xd[i];
    }
    for (size_t i = 0; i < sim->sizes.axes; i++) sim->axes[i].known = false;
}

bool MABD_STAGE(refer)(mabd_cpu_sim* sim, int32_t* body) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (m->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        const mabd_real* q = sim->q_new + 12 * (size_t)i;
        mabd_real* ref = sim->ref + 12 * (size_t)i;
        mabd_mat3 R;
        if (!mabd_polar(mabd_m3_load(q), &R)) {
            *body = i;
            return false;
        }
        mabd_m3_store(R, ref);
        memcpy(ref + 9, q + 9, 3 * sizeof(mabd_real));
    }
    return true;
}
