// SPDX-License-Identifier: Apache-2.0
#include "formulation/affine/start_close.h"

#include "base/error.h"
#include "formulation/affine/start_check.h"
#include "math/quat.h"

#include <string.h>

// Closing: iterations, largest rotation of a body in one iteration [rad], joint error above which
// an iteration that does not halve it is the last one [m], [rad].
#define CLOSE_MAX_ITERATIONS 80
#define CLOSE_MAX_ROTATION   ((mabd_real)0.5)
#define CLOSE_FLOOR          ((mabd_real)1e-8)

// Move a body by a part of its correction; its velocity in the world does not change.
static void move_body(const mabd_affine_start_work* s, mabd_real* q, mabd_real* v, int32_t body,
                      mabd_real part) {
    mabd_real* own = q + 12 * (size_t)body;
    const mabd_affine_twist u = s->p.twists[body];
    const mabd_mat3 R = mabd_m3_load(own);
    const mabd_real angle = part * mabd_v3_norm(u.w);
    mabd_affine_twist rates = {{0, 0, 0}, {0, 0, 0}};
    if (v) rates = mabd_affine_twist_of(own, v + 12 * (size_t)body);
    const mabd_vec3 velocity = mabd_m3_mul(R, rates.v), omega = mabd_m3_mul(R, rates.w);
    mabd_v3_store(mabd_v3_axpy(part, mabd_m3_mul(R, u.v), mabd_v3_load(own + 9)), own + 9);
    if (!(angle > 0)) return;
    const mabd_vec3 axis = mabd_v3_scale(part / angle, u.w);
    const mabd_mat3 turned = mabd_m3_product(R, mabd_q_matrix(mabd_q_axis_angle(axis, angle)));
    mabd_m3_store(turned, own);
    if (!v) return;
    rates.v = mabd_m3_tmul(turned, velocity), rates.w = mabd_m3_tmul(turned, omega);
    mabd_affine_twist_rates(own, rates, v + 12 * (size_t)body);
}

static void move_component(const mabd_affine_start_work* s, const mabd_plan_component* c,
                           mabd_real* q, mabd_real* v) {
    const int32_t* bodies = s->m->plan->component_bodies + c->body_first;
    mabd_real largest = 0;
    for (int32_t i = 0; i < c->body_count; i++) {
        const mabd_real angle = mabd_v3_norm(s->p.twists[bodies[i]].w);
        if (angle > largest) largest = angle;
    }
    const mabd_real part = largest > CLOSE_MAX_ROTATION ? CLOSE_MAX_ROTATION / largest : 1;
    for (int32_t i = 0; i < c->body_count; i++) move_body(s, q, v, bodies[i], part);
}

// Close the held rows of a component; changes q, and v unless it is null. *left gets the largest
// error.
static mabd_status close_component(mabd_affine_start_work* s, int32_t component, mabd_real* q,
                                   mabd_real* v, mabd_real* left) {
    const mabd_plan_component* c = &s->m->plan->components[component];
    mabd_real last = (mabd_real)INFINITY;
    s->p.q = q;
    for (int k = 0; k < CLOSE_MAX_ITERATIONS; k++) {
        *left = mabd_affine_projection_errors(&s->p, component);
        if (*left == 0 || (*left <= CLOSE_FLOOR && *left > last / 2)) return MABD_OK;
        last = *left;
        const mabd_status status = mabd_affine_projection_solve(&s->p, component);
        if (status == MABD_ERR_SINGULAR) return MABD_OK; // *left has the error
        MABD_TRY(status);
        move_component(s, c, q, v);
    }
    *left = mabd_affine_projection_errors(&s->p, component);
    return MABD_OK;
}

mabd_status mabd_affine_close_components(mabd_affine_start_work* s, mabd_real* q, mabd_real* v,
                                         bool* closed) {
    *closed = true;
    s->p.q = q, s->p.servos = true;
    for (int32_t i = 0; i < s->m->plan->component_count; i++) {
        mabd_real left = mabd_affine_projection_errors(&s->p, i);
        if (left <= MABD_AFFINE_START_TOLERANCE) continue;
        MABD_TRY(close_component(s, i, q, v, &left));
        *closed &= left <= MABD_AFFINE_START_TOLERANCE;
    }
    return MABD_OK;
}

static mabd_real angle_between(const mabd_real* q, const mabd_real* q0) {
    return mabd_v3_norm(mabd_so3_log(mabd_m3_tproduct(mabd_m3_load(q0), mabd_m3_load(q))));
}

// Warn how far bodies have moved from q0.
static void warn_moved(const mabd_affine_start_work* s) {
    int32_t far = -1, turned = -1;
    mabd_real distance = 0, angle = 0;
    char name[2][160];
    for (int32_t i = 0; i < s->m->body_count; i++) {
        const mabd_real *q = s->start->q + 12 * (size_t)i, *q0 = s->q0 + 12 * (size_t)i;
        const mabd_real way = mabd_v3_norm(mabd_v3_sub(mabd_v3_load(q + 9), mabd_v3_load(q0 + 9)));
        const mabd_real turn = angle_between(q, q0);
        if (far < 0 || way > distance) far = i, distance = way;
        if (turned < 0 || turn > angle) turned = i, angle = turn;
    }
    mabd_warn(s->warnings, far, -1, s->start->step,
              "joints closed: bodies moved by at most %.4g m (%s) and %.4g rad (%s)",
              (double)distance, mabd_model_body_label(s->m, far, name[0], sizeof name[0]),
              (double)angle, mabd_model_body_label(s->m, turned, name[1], sizeof name[1]));
}

mabd_status mabd_affine_close_joints(mabd_affine_start_work* s) {
    mabd_affine_start* start = s->start;
    bool closed;
    if (mabd_affine_start_reserve(s) != MABD_OK) return mabd_affine_start_no_memory(s);
    memcpy(s->q0, start->q, 12 * (s->sim->sizes.bodies + 1) * sizeof(mabd_real));
    if (mabd_affine_close_components(s, start->q, start->v, &closed) != MABD_OK)
        return mabd_affine_start_no_memory(s);
    mabd_affine_open_joint open = mabd_affine_find_open_joint(s, start->q);
    if (open.joint >= 0)
        return mabd_affine_refuse_open_joint(s, &open, ": the joints cannot be closed");
    if (!closed) {
        return mabd_fail(s->error, MABD_ERR_INPUT,
                         "the joints cannot be closed with all rigid servos at their targets");
    }
    if (memcmp(s->q0, start->q, 12 * s->sim->sizes.bodies * sizeof(mabd_real)) == 0) return MABD_OK;
    start->changed = true;
    warn_moved(s);
    return MABD_OK;
}
