// SPDX-License-Identifier: Apache-2.0
#include "rigid/start_velocity.h"

#include <math.h>

// Velocities: number of projections; each leaves a part of about 1e-8, or 1e-3 with an iterative
// solver.
#define RATE_MAX_ITERATIONS 20

// Rates of a component before it is projected.
typedef struct fast_joint {
    int32_t joint;  // with the largest rate relative to the accepted one
    mabd_real rate; // its largest rate [m/s], [rad/s]
    bool warns;     // the rate exceeds the tolerance, not only round-off
} fast_joint;

static bool is_zero(mabd_vec3 a) {
    return a.x == 0 && a.y == 0 && a.z == 0;
}

static bool any_motion(const mabd_rigid_start_work* s) {
    for (int32_t i = 0; i < s->m->body_count; i++) {
        if (!is_zero(s->u[i].v) || !is_zero(s->u[i].w)) return true;
    }
    return false;
}

// 1 + the speeds of both bodies of a joint.
static mabd_real speed_at(const mabd_rigid_start_work* s, const mabd_model_joint* j) {
    const mabd_rigid_twist a = s->u[j->a], b = s->u[j->b];
    return 1 + mabd_v3_norm(a.v) + 2 * mabd_v3_norm(a.w) + mabd_v3_norm(b.v) +
           2 * mabd_v3_norm(b.w);
}

// 1 + the arms of a joint: its rates have round-off of this many times the speeds.
static mabd_real size_of(const mabd_model_joint* j) {
    return 1 + mabd_v3_norm(mabd_v3_load(j->Xa)) + mabd_v3_norm(mabd_v3_load(j->Xb));
}

// Find the joint of a component with the largest rate relative to the accepted one, which is that
// of the tolerance, or round-off if no joint exceeds the tolerance and the start is to be exact.
// joint = -1: all are accepted.
static fast_joint find_rate(const mabd_rigid_start_work* s, const mabd_plan_component* c) {
    fast_joint over = {-1, 0, true}, noisy = {-1, 0, false};
    mabd_real most_over = 1, most_noisy = 1;
    for (int32_t slot = c->slot_first; slot < c->slot_first + c->slot_count; slot++) {
        const int32_t joint = s->m->plan->slot_joint[slot];
        mabd_real rates[2 * MABD_JOINT_MAX_ROWS];
        if (joint < 0) continue;
        const mabd_real rate = mabd_rigid_joint_rates(&s->p, joint, s->u, rates);
        const mabd_real speed = speed_at(s, &s->m->joints[joint]);
        const mabd_real part = rate / ((MABD_START_TOLERANCE + MABD_START_ROUND_OFF) * speed);
        const mabd_real noise =
            rate / (MABD_START_ROUND_OFF * speed * size_of(&s->m->joints[joint]));
        if (part > most_over) most_over = part, over.joint = joint, over.rate = rate;
        if (noise > most_noisy) most_noisy = noise, noisy.joint = joint, noisy.rate = rate;
    }
    return over.joint >= 0 || !s->start->exact ? over : noisy;
}

// Compute the kinetic energy of a component [J].
static mabd_real energy_of(const mabd_rigid_start_work* s, const mabd_plan_component* c) {
    mabd_real energy = 0;
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = s->m->plan->component_bodies[i];
        energy += mabd_rigid_twist_energy(&s->m->classes[s->m->body_class[body]], s->u[body]);
    }
    return energy;
}

// Project the velocities of a component.
static mabd_status project_component(mabd_rigid_start_work* s, int32_t component) {
    const mabd_plan_component* c = &s->m->plan->components[component];
    mabd_real last = (mabd_real)INFINITY;
    for (int k = 0; k < RATE_MAX_ITERATIONS; k++) {
        const mabd_real now = mabd_rigid_projection_rates(&s->p, component, s->u);
        if (now == 0 || now > last / 2) return MABD_OK;
        last = now;
        MABD_TRY(mabd_rigid_projection_solve(&s->p, component));
        for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
            const int32_t body = s->m->plan->component_bodies[i];
            s->u[body] = mabd_rigid_twist_axpy(1, s->p.twists[body], s->u[body]);
        }
    }
    return MABD_OK;
}

static void warn_projected(const mabd_rigid_start_work* s, int32_t joint, mabd_real rate,
                           mabd_real taken, mabd_real of) {
    char label[160];
    mabd_warn(s->warnings, -1, joint, s->start->step,
              "velocities against the joints, at most %.4g m/s or rad/s at %s, were projected: "
              "%.4g J of %.4g J of kinetic energy %s",
              (double)rate, mabd_model_joint_label(s->m, joint, label, sizeof label),
              (double)fabs(taken), (double)of, taken < 0 ? "added" : "taken out");
}

static mabd_status project_velocities(mabd_rigid_start_work* s) {
    mabd_real taken = 0, before = 0, worst_rate = 0;
    int32_t worst = -1;
    s->p.servos = false;
    for (int32_t i = 0; i < s->m->plan->component_count; i++) {
        const mabd_plan_component* c = &s->m->plan->components[i];
        const fast_joint fast = find_rate(s, c);
        if (fast.joint < 0) continue;
        if (mabd_rigid_start_reserve(s) != MABD_OK) return mabd_rigid_start_no_memory(s);
        const mabd_real energy = energy_of(s, c);
        const mabd_status status = project_component(s, i);
        if (status == MABD_ERR_MEMORY) return mabd_rigid_start_no_memory(s);
        if (status != MABD_OK) {
            return mabd_fail_at(s->error, MABD_ERR_INPUT, -1, fast.joint, s->start->time,
                                "velocities against the joints cannot be projected");
        }
        s->changed = true;
        if (!fast.warns) continue;
        before += energy, taken += energy - energy_of(s, c);
        if (fast.rate > worst_rate) worst_rate = fast.rate, worst = fast.joint;
    }
    if (worst >= 0) warn_projected(s, worst, worst_rate, taken, before);
    return MABD_OK;
}

mabd_status mabd_rigid_settle_velocities(mabd_rigid_start_work* s) {
    return any_motion(s) ? project_velocities(s) : MABD_OK;
}
