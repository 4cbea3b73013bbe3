// SPDX-License-Identifier: Apache-2.0
#include "formulation/affine/start_close.h"

#include "base/error.h"
#include "formulation/affine/limits.h"
#include "formulation/affine/start_check.h"
#include "math/quat.h"

#include <string.h>

// ---- motion ----

// Move a body by a part of its correction.
static void move_body(const mabd_affine_start_work* s, mabd_real* q, int32_t body, mabd_real part) {
    mabd_real* own = q + 12 * (size_t)body;
    const mabd_affine_twist u = s->p.twists[body];
    const mabd_mat3 R = mabd_m3_load(own);
    const mabd_real angle = part * mabd_v3_norm(u.w);
    mabd_v3_store(mabd_v3_axpy(part, mabd_m3_mul(R, u.v), mabd_v3_load(own + 9)), own + 9);
    if (!(angle > 0)) return;
    const mabd_vec3 axis = mabd_v3_scale(part / angle, u.w);
    mabd_m3_store(mabd_m3_product(R, mabd_q_matrix(mabd_q_axis_angle(axis, angle))), own);
}

// Move the bodies of a component by a part of their corrections.
static void move_component(const mabd_affine_start_work* s, const mabd_plan_component* c,
                           mabd_real* q, mabd_real part) {
    const int32_t* bodies = s->m->plan->component_bodies + c->body_first;
    for (int32_t i = 0; i < c->body_count; i++) move_body(s, q, bodies[i], part);
}

// The largest part of the corrections, at most 1, that turns no body too far.
static mabd_real longest_step(const mabd_affine_start_work* s, const mabd_plan_component* c) {
    const int32_t* bodies = s->m->plan->component_bodies + c->body_first;
    mabd_real largest = 0;
    for (int32_t i = 0; i < c->body_count; i++) {
        const mabd_real angle = mabd_v3_norm(s->p.twists[bodies[i]].w);
        if (angle > largest) largest = angle;
    }
    return largest > MABD_CLOSE_MAX_ROTATION_RAD ? MABD_CLOSE_MAX_ROTATION_RAD / largest : 1;
}

static void copy_component(const mabd_affine_start_work* s, const mabd_plan_component* c,
                           const mabd_real* from, mabd_real* to) {
    const int32_t* bodies = s->m->plan->component_bodies + c->body_first;
    for (int32_t i = 0; i < c->body_count; i++) {
        const size_t at = 12 * (size_t)bodies[i];
        memcpy(to + at, from + at, 12 * sizeof *to);
    }
}

// Displacement of a body in its principal frame: exp(w) turns R0 to R.
static mabd_affine_twist displacement(const mabd_real* q0, const mabd_real* q) {
    const mabd_mat3 R = mabd_m3_load(q);
    const mabd_vec3 way = mabd_v3_sub(mabd_v3_load(q + 9), mabd_v3_load(q0 + 9));
    const mabd_affine_twist d = {mabd_m3_tmul(R, way),
                                 mabd_so3_log(mabd_m3_tproduct(mabd_m3_load(q0), R))};
    return d;
}

// ---- closing a component ----

// Sum of the squared errors of the held rows of a component, of the last call of
// mabd_affine_projection_errors.
static mabd_real sum_of_squares(const mabd_affine_start_work* s, const mabd_plan_component* c) {
    const int32_t* first = s->m->plan->slot_row + c->slot_first;
    mabd_real sum = 0;
    for (int32_t i = first[0]; i < first[c->slot_count]; i++) {
        sum += s->sim->lambda_last[i] * s->sim->lambda_last[i];
    }
    return sum;
}

// Move a component along its correction, halved until the sum of squares of the errors falls below
// `squares`. False if it does not fall: q is unchanged. *left gets the largest error.
static bool search_line(mabd_affine_start_work* s, int32_t component, mabd_real* q,
                        mabd_real squares, mabd_real* left) {
    const mabd_plan_component* c = &s->m->plan->components[component];
    const bool at_floor = *left <= MABD_CLOSE_FLOOR; // round-off may hide the fall
    mabd_real part = longest_step(s, c);
    copy_component(s, c, q, s->before);
    for (int k = 0; k <= MABD_CLOSE_MAX_HALVINGS; k++, part /= 2) {
        move_component(s, c, q, part);
        *left = mabd_affine_projection_errors(&s->p, component);
        if (at_floor || sum_of_squares(s, c) < squares) return true;
        copy_component(s, c, s->before, q);
    }
    *left = mabd_affine_projection_errors(&s->p, component);
    return false;
}

// Close the held rows of a component; changes q. *left gets the largest error.
static mabd_status close_rows(mabd_affine_start_work* s, int32_t component, mabd_real* q,
                              mabd_real* left) {
    const mabd_plan_component* c = &s->m->plan->components[component];
    mabd_real checked = (mabd_real)INFINITY; // sum of squares when progress was last checked
    *left = mabd_affine_projection_errors(&s->p, component);
    for (int k = 0; k < MABD_CLOSE_MAX_ITERATIONS; k++) {
        if (*left == 0) return MABD_OK;
        const mabd_real last = *left, squares = sum_of_squares(s, c);
        if (k % MABD_CLOSE_CHECK_ITERATIONS == 0) {
            if (squares > MABD_CLOSE_LEAST_FALL * checked) return MABD_OK;
            checked = squares;
        }
        const mabd_status status = mabd_affine_projection_solve(&s->p, component);
        if (status == MABD_ERR_SINGULAR) return MABD_OK; // *left has the error
        MABD_TRY(status);
        if (!search_line(s, component, q, squares, left)) return MABD_OK;
        if (*left <= MABD_CLOSE_FLOOR && *left > last / 2) return MABD_OK;
    }
    return MABD_OK;
}

// Write the displacements d from q0 to q to s->moved and return d' M d / 2.
static mabd_real measure_moved(const mabd_affine_start_work* s, const mabd_plan_component* c,
                               const mabd_real* q0, const mabd_real* q) {
    const int32_t* bodies = s->m->plan->component_bodies + c->body_first;
    mabd_real sum = 0;
    for (int32_t i = 0; i < c->body_count; i++) {
        const size_t at = 12 * (size_t)bodies[i];
        const mabd_affine_twist d = displacement(q0 + at, q + at);
        mabd_affine_twist_rates(q + at, d, s->moved + at);
        sum += mabd_affine_twist_energy(s->m, bodies[i], d);
    }
    return sum;
}

// The part of the displacement along the freedoms of the joints, t = d - M^-1 J' K^-1 J d: -t to
// the twists of the projection. *along gets t' M t / 2. MABD_ERR_SINGULAR, MABD_ERR_MEMORY.
static mabd_status find_way_back(const mabd_affine_start_work* s, int32_t component,
                                 const mabd_real* q, mabd_real* along) {
    const mabd_plan_component* c = &s->m->plan->components[component];
    const int32_t* bodies = s->m->plan->component_bodies + c->body_first;
    mabd_affine_projection_rates(&s->p, component, s->moved);
    MABD_TRY(mabd_affine_projection_solve(&s->p, component));
    *along = 0;
    for (int32_t i = 0; i < c->body_count; i++) {
        const size_t at = 12 * (size_t)bodies[i];
        const mabd_affine_twist d = mabd_affine_twist_of(q + at, s->moved + at);
        mabd_affine_twist* u = &s->p.twists[bodies[i]];
        u->v = mabd_v3_scale(-1, mabd_v3_add(d.v, u->v));
        u->w = mabd_v3_scale(-1, mabd_v3_add(d.w, u->w));
        *along += mabd_affine_twist_energy(s->m, bodies[i], *u);
    }
    return MABD_OK;
}

// Move a closed component along the freedoms of its joints while this brings it closer to q0.
static mabd_status shorten(mabd_affine_start_work* s, int32_t component, const mabd_real* q0,
                           mabd_real* q, mabd_real* left) {
    const mabd_plan_component* c = &s->m->plan->components[component];
    mabd_real length = measure_moved(s, c, q0, q), along;
    for (int k = 0; k < MABD_SHORTEN_MAX_ROUNDS; k++) {
        const mabd_status status = find_way_back(s, component, q, &along);
        if (status == MABD_ERR_SINGULAR) return MABD_OK;
        MABD_TRY(status);
        if (!(along > MABD_SHORTEN_TOLERANCE * MABD_SHORTEN_TOLERANCE * length)) return MABD_OK;
        const mabd_real before = *left;
        copy_component(s, c, q, s->saved);
        move_component(s, c, q, longest_step(s, c));
        MABD_TRY(close_rows(s, component, q, left));
        const mabd_real now = measure_moved(s, c, q0, q);
        if (*left > MABD_AFFINE_START_TOLERANCE || !(now < length)) {
            copy_component(s, c, s->saved, q);
            *left = before;
            return MABD_OK;
        }
        length = now;
    }
    return MABD_OK;
}

mabd_status mabd_affine_close_components(mabd_affine_start_work* s, const mabd_real* q0,
                                         mabd_real* q, bool* closed) {
    *closed = true;
    s->p.q = q, s->p.servos = true;
    for (int32_t i = 0; i < s->m->plan->component_count; i++) {
        mabd_real left = mabd_affine_projection_errors(&s->p, i);
        if (left <= MABD_AFFINE_START_TOLERANCE) continue;
        MABD_TRY(close_rows(s, i, q, &left));
        const bool good = left <= MABD_AFFINE_START_TOLERANCE;
        if (good && q0) MABD_TRY(shorten(s, i, q0, q, &left));
        *closed &= good;
    }
    return MABD_OK;
}

// ---- closing a start state ----

// Turn the rates of bodies from the poses q0 to those of the start: velocities in the world stay.
static void carry_velocities(const mabd_affine_start_work* s) {
    for (size_t at = 0; at < 12 * s->sim->sizes.bodies; at += 12) {
        mabd_real *q = s->start->q + at, *v = s->start->v + at;
        if (memcmp(q, s->q0 + at, 9 * sizeof *q) == 0) continue;
        const mabd_mat3 R0 = mabd_m3_load(s->q0 + at), R = mabd_m3_load(q);
        mabd_affine_twist u = mabd_affine_twist_of(s->q0 + at, v);
        u.v = mabd_m3_tmul(R, mabd_m3_mul(R0, u.v));
        u.w = mabd_m3_tmul(R, mabd_m3_mul(R0, u.w));
        mabd_affine_twist_rates(q, u, v);
    }
}

// Warn how far bodies have moved from q0.
static void warn_moved(const mabd_affine_start_work* s) {
    int32_t far = -1, turned = -1;
    mabd_real distance = 0, angle = 0;
    char name[2][160];
    for (int32_t i = 0; i < s->m->body_count; i++) {
        const mabd_real *q = s->start->q + 12 * (size_t)i, *q0 = s->q0 + 12 * (size_t)i;
        const mabd_affine_twist d = displacement(q0, q);
        const mabd_real way = mabd_v3_norm(d.v), turn = mabd_v3_norm(d.w);
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
    if (mabd_affine_close_components(s, s->q0, start->q, &closed) != MABD_OK)
        return mabd_affine_start_no_memory(s);
    mabd_affine_open_joint open = mabd_affine_find_open_joint(s, start->q);
    if (open.joint >= 0)
        return mabd_affine_refuse_open_joint(s, &open, ": the joints cannot be closed");
    if (!closed) {
        return mabd_fail(s->error, MABD_ERR_INPUT,
                         "the joints cannot be closed with all rigid servos at their targets");
    }
    if (memcmp(s->q0, start->q, 12 * s->sim->sizes.bodies * sizeof(mabd_real)) == 0) return MABD_OK;
    carry_velocities(s);
    start->changed = true;
    warn_moved(s);
    return MABD_OK;
}
