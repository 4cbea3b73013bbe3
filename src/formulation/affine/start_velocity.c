// SPDX-License-Identifier: Apache-2.0
#include "formulation/affine/start_velocity.h"

#include "base/error.h"
#include "math/quat.h"
#include "scene/signal.h"

#include <string.h>

// Velocities: number of projections; each leaves a part of about 1e-8, or 1e-3 with an iterative
// solver.
#define RATE_MAX_ITERATIONS 20

// Compute the velocity of a scripted body: the origin of its frame moves along the direction, and
// it rotates about it.
static void script_rates(const mabd_affine_start_work* s, const mabd_model_script* script,
                         mabd_real* v) {
    const mabd_real time = s->start->time;
    const mabd_real* q = s->start->q + 12 * (size_t)script->body;
    const mabd_model_class* c = &s->m->classes[s->m->body_class[script->body]];
    const mabd_real speed = script->translation ? mabd_signal_rate(script->translation, time) : 0;
    const mabd_real turn = script->angle ? mabd_signal_rate(script->angle, time) : 0;
    const mabd_vec3 omega = mabd_v3_scale(turn, script->axis);
    // centre of mass relative to the origin of the frame, in principal axes, then in world axes
    const mabd_mat3 axes = mabd_q_matrix(mabd_q_load(c->axes)), R = mabd_m3_load(q);
    const mabd_vec3 arm = mabd_m3_mul(R, mabd_m3_tmul(axes, mabd_v3_load(c->center)));
    const mabd_vec3 velocity =
        mabd_v3_add(mabd_v3_scale(speed, script->direction), mabd_v3_cross(omega, arm));
    const mabd_affine_twist u = {mabd_m3_tmul(R, velocity), mabd_m3_tmul(R, omega)};
    mabd_affine_twist_rates(q, u, v);
}

static bool any_motion(const mabd_affine_start_work* s) {
    const size_t n = 12 * s->sim->sizes.bodies;
    for (size_t i = 0; i < n; i++) {
        if (s->start->v[i] != 0) return true;
    }
    return false;
}

static mabd_real speed_of(const mabd_real* v) {
    return mabd_v3_norm(mabd_v3_load(v + 9)) + mabd_v3_norm(mabd_v3_load(v)) +
           mabd_v3_norm(mabd_v3_load(v + 3)) + mabd_v3_norm(mabd_v3_load(v + 6));
}

// Rate of the rows of a joint relative to the allowed rate, <= 1 is good; *rate gets the largest.
static mabd_real joint_excess(const mabd_affine_start_work* s, int32_t joint, mabd_real* rate) {
    const mabd_model_joint* j = &s->m->joints[joint];
    const mabd_real* rows =
        s->sim->lambda_last + s->m->plan->slot_row[s->m->plan->joint_slot[joint]];
    mabd_real speed = 1;
    *rate = 0;
    for (int32_t r = 0; r < s->m->row_sets[j->row_set].rigid_count; r++) {
        if ((mabd_real)fabs(rows[r]) > *rate) *rate = (mabd_real)fabs(rows[r]);
    }
    if (j->a < s->m->body_count) speed += speed_of(s->start->v + 12 * (size_t)j->a);
    if (j->b < s->m->body_count) speed += speed_of(s->start->v + 12 * (size_t)j->b);
    return *rate / ((MABD_AFFINE_START_TOLERANCE + MABD_AFFINE_START_ROUND_OFF) * speed);
}

// Find the joint of a component with the largest relative rate, -1 = all are good.
static int32_t find_rate(const mabd_affine_start_work* s, const mabd_plan_component* c,
                         mabd_real* rate) {
    int32_t worst = -1;
    mabd_real most = 1;
    for (int32_t slot = c->slot_first; slot < c->slot_first + c->slot_count; slot++) {
        const int32_t joint = s->m->plan->slot_joint[slot];
        mabd_real own;
        if (joint < 0) continue;
        const mabd_real excess = joint_excess(s, joint, &own);
        if (excess > most) most = excess, worst = joint, *rate = own;
    }
    return worst;
}

// Compute the kinetic energy of a component [J].
static mabd_real energy_of(const mabd_affine_start_work* s, const mabd_plan_component* c) {
    mabd_real energy = 0;
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = s->m->plan->component_bodies[i];
        const size_t at = 12 * (size_t)body;
        energy += mabd_affine_twist_energy(
            s->m, body, mabd_affine_twist_of(s->start->q + at, s->start->v + at));
    }
    return energy;
}

static void slow_component(const mabd_affine_start_work* s, const mabd_plan_component* c) {
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = s->m->plan->component_bodies[i];
        const size_t at = 12 * (size_t)body;
        mabd_affine_twist u = mabd_affine_twist_of(s->start->q + at, s->start->v + at);
        u.v = mabd_v3_add(u.v, s->p.twists[body].v);
        u.w = mabd_v3_add(u.w, s->p.twists[body].w);
        mabd_affine_twist_rates(s->start->q + at, u, s->start->v + at);
    }
}

// Project the velocities of a component whose rates are in lambda.
static mabd_status project_component(mabd_affine_start_work* s, int32_t component) {
    const mabd_plan_component* c = &s->m->plan->components[component];
    mabd_real last = (mabd_real)INFINITY;
    for (int k = 0; k < RATE_MAX_ITERATIONS; k++) {
        const mabd_real now = mabd_affine_projection_rates(&s->p, component, s->start->v);
        if (now == 0 || now > last / 2) return MABD_OK;
        last = now;
        MABD_TRY(mabd_affine_projection_solve(&s->p, component));
        slow_component(s, c);
    }
    return MABD_OK;
}

static void warn_projected(const mabd_affine_start_work* s, int32_t joint, mabd_real rate,
                           mabd_real taken, mabd_real of) {
    char label[160];
    mabd_warn(s->warnings, -1, joint, s->start->step,
              "velocities against the joints, at most %.4g m/s or rad/s at %s, were projected: "
              "%.4g J of %.4g J of kinetic energy %s",
              (double)rate, mabd_model_joint_label(s->m, joint, label, sizeof label),
              (double)fabs(taken), (double)of, taken < 0 ? "added" : "taken out");
}

static mabd_status project_velocities(mabd_affine_start_work* s) {
    mabd_real taken = 0, before = 0, worst_rate = 0;
    int32_t worst = -1;
    s->p.q = s->start->q, s->p.servos = false;
    for (int32_t i = 0; i < s->m->plan->component_count; i++) {
        const mabd_plan_component* c = &s->m->plan->components[i];
        mabd_real rate = 0;
        if (!(mabd_affine_projection_rates(&s->p, i, s->start->v) > MABD_AFFINE_START_TOLERANCE))
            continue;
        const int32_t joint = find_rate(s, c, &rate);
        if (joint < 0) continue;
        if (mabd_affine_start_reserve(s) != MABD_OK) return mabd_affine_start_no_memory(s);
        const mabd_real energy = energy_of(s, c);
        const mabd_status status = project_component(s, i);
        if (status == MABD_ERR_MEMORY) return mabd_affine_start_no_memory(s);
        if (status != MABD_OK) {
            return mabd_fail_at(s->error, MABD_ERR_INPUT, -1, joint, s->start->time,
                                "velocities against the joints cannot be projected");
        }
        before += energy, taken += energy - energy_of(s, c);
        if (rate > worst_rate) worst_rate = rate, worst = joint;
    }
    if (worst < 0) return MABD_OK;
    s->start->changed = true;
    warn_projected(s, worst, worst_rate, taken, before);
    return MABD_OK;
}

mabd_status mabd_affine_settle_velocities(mabd_affine_start_work* s) {
    const size_t bytes = 12 * sizeof(mabd_real);
    for (int32_t i = 0; i < s->m->script_count; i++) {
        const mabd_model_script* script = &s->m->scripts[i];
        script_rates(s, script, s->start->v + 12 * (size_t)script->body);
    }
    const mabd_status status = any_motion(s) ? project_velocities(s) : MABD_OK;
    for (int32_t i = 0; i < s->m->script_count; i++) {
        memset(s->start->v + 12 * (size_t)s->m->scripts[i].body, 0, bytes);
    }
    return status;
}
