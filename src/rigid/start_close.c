// SPDX-License-Identifier: Apache-2.0
#include "rigid/start_close.h"

#include "math/quat.h"
#include "rigid/start_check.h"

#include <math.h>
#include <string.h>

// Iterations. Joints that are open by a small part of a body close in 4; a hinge chain of 3,000
// links, displaced by 1 m and 1 rad at random, takes 336.
#define CLOSE_MAX_ITERATIONS 1000
// Every so many iterations progress is checked: joints cannot be closed if the sum of squares of
// their errors has not fallen to the part below. That of the chain of 3,000 links falls to 0.72 in
// its slowest 20 iterations.
#define CLOSE_CHECK_ITERATIONS 20
#define CLOSE_LEAST_FALL       ((mabd_real)0.9)
// Halvings of an iteration that does not reduce the sum of squares. Full iterations do not end
// where a chain is nearly straight and too short: closing it by straightening, as the linearisation
// proposes, bends it to the other side.
#define CLOSE_MAX_HALVINGS 10
// Joint error below which an iteration that does not halve it is the last one [m], [rad]: half of
// the error that a start may have. In a net of 30,000 hinges an iteration takes 3 % of it from
// there on, since its softest modes are softer than the shift of redundant rows.
#define CLOSE_FLOOR ((mabd_real)5e-7)
// Rounds of moving back along the freedoms of the joints.
#define SHORTEN_MAX_ROUNDS 30
// Part of a displacement along the freedoms of the joints, relative to the displacement, at which
// the rounds end. It changes the squared length by the square of this number.
#define SHORTEN_TOLERANCE ((mabd_real)1e-6)

// ---- motion ------------------------------------------------------------------------------------

// The bodies of a component (c->body_count).
static const int32_t* bodies_of(const mabd_rigid_start_work* s, const mabd_plan_component* c) {
    return s->m->plan->component_bodies + c->body_first;
}

static const mabd_model_class* class_of(const mabd_rigid_start_work* s, int32_t body) {
    return &s->m->classes[s->m->body_class[body]];
}

// Move a body by a part of its correction.
static void move_body(const mabd_rigid_start_work* s, mabd_rigid_pose* poses, int32_t body,
                      mabd_real part) {
    mabd_rigid_pose* own = &poses[body];
    const mabd_rigid_twist u = s->p.twists[body];
    const mabd_real angle = part * mabd_v3_norm(u.w);
    own->c = mabd_v3_axpy(part, u.v, own->c);
    if (!(angle > 0)) return;
    const mabd_vec3 axis = mabd_v3_scale(part / angle, u.w);
    own->R = mabd_m3_product(own->R, mabd_q_matrix(mabd_q_axis_angle(axis, angle)));
}

// Move the bodies of a component by a part of their corrections.
static void move_component(const mabd_rigid_start_work* s, const mabd_plan_component* c,
                           mabd_rigid_pose* poses, mabd_real part) {
    const int32_t* bodies = bodies_of(s, c);
    for (int32_t i = 0; i < c->body_count; i++) move_body(s, poses, bodies[i], part);
}

// The largest part of the corrections, at most 1, that turns no body too far.
static mabd_real longest_step(const mabd_rigid_start_work* s, const mabd_plan_component* c) {
    const int32_t* bodies = bodies_of(s, c);
    mabd_real largest = 0;
    for (int32_t i = 0; i < c->body_count; i++) {
        const mabd_real angle = mabd_v3_norm(s->p.twists[bodies[i]].w);
        if (angle > largest) largest = angle;
    }
    return largest > MABD_START_TURN_RAD ? MABD_START_TURN_RAD / largest : 1;
}

static void copy_component(const mabd_rigid_start_work* s, const mabd_plan_component* c,
                           const mabd_rigid_pose* from, mabd_rigid_pose* to) {
    const int32_t* bodies = bodies_of(s, c);
    for (int32_t i = 0; i < c->body_count; i++) to[bodies[i]] = from[bodies[i]];
}

// Displacement of a body: exp(w) turns R0 to R.
static mabd_rigid_twist displacement(const mabd_rigid_pose* from, const mabd_rigid_pose* to) {
    const mabd_rigid_twist d = {mabd_v3_sub(to->c, from->c),
                                mabd_so3_log(mabd_m3_tproduct(from->R, to->R))};
    return d;
}

// ---- closing a component -----------------------------------------------------------------------

// Sum of the squared errors of the held rows of a component, of the last call of
// mabd_rigid_projection_errors.
static mabd_real sum_of_squares(const mabd_rigid_start_work* s, const mabd_plan_component* c) {
    const int32_t* first = s->m->plan->slot_row + c->slot_first;
    mabd_real sum = 0;
    for (int32_t i = first[0]; i < first[c->slot_count]; i++) {
        sum += s->p.rows[i] * s->p.rows[i];
    }
    return sum;
}

// Move a component along its correction, halved until the sum of squares of the errors falls below
// `squares`. False if it does not fall: q is unchanged. *left gets the largest error.
static bool search_line(mabd_rigid_start_work* s, int32_t component, mabd_rigid_pose* q,
                        mabd_real squares, mabd_real* left) {
    const mabd_plan_component* c = &s->m->plan->components[component];
    const bool at_floor = *left <= CLOSE_FLOOR; // round-off may hide the fall
    mabd_real part = longest_step(s, c);
    copy_component(s, c, q, s->before);
    for (int k = 0; k <= CLOSE_MAX_HALVINGS; k++, part /= 2) {
        move_component(s, c, q, part);
        *left = mabd_rigid_projection_errors(&s->p, component);
        if (at_floor || sum_of_squares(s, c) < squares) return true;
        copy_component(s, c, s->before, q);
    }
    *left = mabd_rigid_projection_errors(&s->p, component);
    return false;
}

// Close the held rows of a component; changes q. *left gets the largest error.
static mabd_status close_rows(mabd_rigid_start_work* s, int32_t component, mabd_rigid_pose* q,
                              mabd_real* left) {
    const mabd_plan_component* c = &s->m->plan->components[component];
    mabd_real checked = (mabd_real)INFINITY; // sum of squares when progress was last checked
    *left = mabd_rigid_projection_errors(&s->p, component);
    for (int k = 0; k < CLOSE_MAX_ITERATIONS; k++) {
        if (*left == 0) return MABD_OK;
        const mabd_real last = *left, squares = sum_of_squares(s, c);
        if (k % CLOSE_CHECK_ITERATIONS == 0) {
            if (squares > CLOSE_LEAST_FALL * checked) return MABD_OK;
            checked = squares;
        }
        const mabd_status status = mabd_rigid_projection_solve(&s->p, component);
        if (status == MABD_ERR_SINGULAR) return MABD_OK; // *left has the error
        MABD_TRY(status);
        if (!search_line(s, component, q, squares, left)) return MABD_OK;
        if (*left <= CLOSE_FLOOR && *left > last / 2) return MABD_OK;
    }
    return MABD_OK;
}

// Write the displacements d from q0 to q to s->moved and return d' M d / 2.
static mabd_real measure_moved(const mabd_rigid_start_work* s, const mabd_plan_component* c,
                               const mabd_rigid_pose* q0, const mabd_rigid_pose* q) {
    const int32_t* bodies = bodies_of(s, c);
    mabd_real sum = 0;
    for (int32_t i = 0; i < c->body_count; i++) {
        const int32_t body = bodies[i];
        s->moved[body] = displacement(&q0[body], &q[body]);
        sum += mabd_rigid_twist_energy(class_of(s, body), s->moved[body]);
    }
    return sum;
}

// The part of the displacement along the freedoms of the joints, t = d - M^-1 J' K^-1 J d: -t to
// the twists of the projection. *along gets t' M t / 2. MABD_ERR_SINGULAR, MABD_ERR_MEMORY.
static mabd_status find_way_back(mabd_rigid_start_work* s, int32_t component, mabd_real* along) {
    const mabd_plan_component* c = &s->m->plan->components[component];
    const int32_t* bodies = bodies_of(s, c);
    mabd_rigid_projection_rates(&s->p, component, s->moved);
    MABD_TRY(mabd_rigid_projection_solve(&s->p, component));
    *along = 0;
    for (int32_t i = 0; i < c->body_count; i++) {
        const mabd_rigid_twist d = s->moved[bodies[i]];
        mabd_rigid_twist* u = &s->p.twists[bodies[i]];
        u->v = mabd_v3_scale(-1, mabd_v3_add(d.v, u->v));
        u->w = mabd_v3_scale(-1, mabd_v3_add(d.w, u->w));
        *along += mabd_rigid_twist_energy(class_of(s, bodies[i]), *u);
    }
    return MABD_OK;
}

// Move a closed component along the freedoms of its joints while this brings it closer to q0.
static mabd_status shorten(mabd_rigid_start_work* s, int32_t component, const mabd_rigid_pose* q0,
                           mabd_rigid_pose* q, mabd_real* left) {
    const mabd_plan_component* c = &s->m->plan->components[component];
    mabd_real length = measure_moved(s, c, q0, q), along;
    for (int k = 0; k < SHORTEN_MAX_ROUNDS; k++) {
        const mabd_status status = find_way_back(s, component, &along);
        if (status == MABD_ERR_SINGULAR) return MABD_OK;
        MABD_TRY(status);
        if (!(along > SHORTEN_TOLERANCE * SHORTEN_TOLERANCE * length)) return MABD_OK;
        const mabd_real before = *left;
        copy_component(s, c, q, s->saved);
        move_component(s, c, q, longest_step(s, c));
        MABD_TRY(close_rows(s, component, q, left));
        const mabd_real now = measure_moved(s, c, q0, q);
        if (*left > MABD_START_TOLERANCE || !(now < length)) {
            copy_component(s, c, s->saved, q);
            *left = before;
            return MABD_OK;
        }
        length = now;
    }
    return MABD_OK;
}

mabd_status mabd_rigid_close_components(mabd_rigid_start_work* s, const mabd_rigid_pose* q0,
                                        mabd_rigid_pose* poses, bool* closed) {
    *closed = true;
    s->p.poses = poses, s->p.servos = true;
    for (int32_t i = 0; i < s->m->plan->component_count; i++) {
        mabd_real left = mabd_rigid_component_error(&s->p, i);
        if (left <= MABD_START_TOLERANCE) continue;
        MABD_TRY(close_rows(s, i, poses, &left));
        const bool good = left <= MABD_START_TOLERANCE;
        if (good && q0) MABD_TRY(shorten(s, i, q0, poses, &left));
        *closed &= good;
    }
    s->p.poses = s->poses;
    return MABD_OK;
}

// ---- closing a start state ---------------------------------------------------------------------

static void copy_poses(const mabd_rigid_start_work* s, const mabd_rigid_pose* from,
                       mabd_rigid_pose* to) {
    memcpy(to, from, ((size_t)s->m->body_count + 1) * sizeof *to);
}

// Turn the angular velocities of bodies from the poses q0 to those of the start: velocities in the
// world stay.
static void carry_velocities(const mabd_rigid_start_work* s) {
    for (int32_t i = 0; i < s->m->body_count; i++) {
        const mabd_mat3 R0 = s->q0[i].R, R = s->poses[i].R;
        if (memcmp(&R0, &R, sizeof R) == 0) continue;
        s->u[i].w = mabd_m3_tmul(R, mabd_m3_mul(R0, s->u[i].w));
    }
}

// Warn how far bodies have moved from q0.
static void warn_moved(const mabd_rigid_start_work* s) {
    int32_t far = -1, turned = -1;
    mabd_real distance = 0, angle = 0;
    char name[2][160];
    for (int32_t i = 0; i < s->m->body_count; i++) {
        const mabd_rigid_twist d = displacement(&s->q0[i], &s->poses[i]);
        const mabd_real way = mabd_v3_norm(d.v), turn = mabd_v3_norm(d.w);
        if (far < 0 || way > distance) far = i, distance = way;
        if (turned < 0 || turn > angle) turned = i, angle = turn;
    }
    mabd_warn(s->warnings, far, -1, s->start->step,
              "joints closed: bodies moved by at most %.4g m (%s) and %.4g rad (%s)",
              (double)distance, mabd_model_body_label(s->m, far, name[0], sizeof name[0]),
              (double)angle, mabd_model_body_label(s->m, turned, name[1], sizeof name[1]));
}

// True if a component has an error above the tolerance.
static bool any_open(mabd_rigid_start_work* s) {
    s->p.servos = true;
    for (int32_t i = 0; i < s->m->plan->component_count; i++) {
        if (mabd_rigid_component_error(&s->p, i) > MABD_START_TOLERANCE) return true;
    }
    return false;
}

mabd_status mabd_rigid_close_joints(mabd_rigid_start_work* s) {
    bool closed;
    if (!any_open(s)) return MABD_OK;
    if (mabd_rigid_start_reserve(s) != MABD_OK) return mabd_rigid_start_no_memory(s);
    copy_poses(s, s->poses, s->q0);
    if (mabd_rigid_close_components(s, s->q0, s->poses, &closed) != MABD_OK) {
        return mabd_rigid_start_no_memory(s);
    }
    const mabd_rigid_open_joint open = mabd_rigid_find_open_joint(s);
    if (open.joint >= 0) {
        return mabd_rigid_refuse_open_joint(s, &open, ": the joints cannot be closed");
    }
    if (!closed) {
        return mabd_fail(s->error, MABD_ERR_INPUT,
                         "the joints cannot be closed with all rigid servos at their targets");
    }
    carry_velocities(s);
    s->changed = true;
    warn_moved(s);
    return MABD_OK;
}

// True if a joint of a component is open by more than round-off.
static bool is_inexact(const mabd_rigid_start_work* s, const mabd_plan_component* c) {
    for (int32_t slot = c->slot_first; slot < c->slot_first + c->slot_count; slot++) {
        const int32_t joint = s->m->plan->slot_joint[slot];
        mabd_real C[2 * MABD_JOINT_MAX_ROWS];
        if (joint < 0) continue;
        const mabd_joint_view view = mabd_rigid_view(s->m, &s->m->joints[joint], s->poses);
        if (mabd_rigid_joint_errors(&s->p, joint, C) > mabd_rigid_round_off(&view)) return true;
    }
    return false;
}

mabd_status mabd_rigid_close_exactly(mabd_rigid_start_work* s) {
    bool moves = false;
    s->p.servos = false;
    for (int32_t i = 0; i < s->m->plan->component_count; i++) {
        const mabd_plan_component* c = &s->m->plan->components[i];
        mabd_real left;
        if (!is_inexact(s, c)) continue;
        if (mabd_rigid_start_reserve(s) != MABD_OK) return mabd_rigid_start_no_memory(s);
        if (!moves) copy_poses(s, s->poses, s->q0);
        moves = true;
        const mabd_real error = mabd_rigid_component_error(&s->p, i);
        if (close_rows(s, i, s->poses, &left) != MABD_OK) return mabd_rigid_start_no_memory(s);
        if (!(left < error)) copy_component(s, c, s->q0, s->poses);
    }
    if (!moves) return MABD_OK;
    carry_velocities(s);
    s->changed = true;
    return MABD_OK;
}
