// SPDX-License-Identifier: Apache-2.0
// Start states: checks, errors, and projections.
//
//   rigid rows      C(q) = 0 to 1e-6 m or rad. A larger joint error is refused, unless joints
//                   are to be closed: then q moves by the least motion in the mass metric
//                   (projection.h), iterated:
//                     K lambda = C(q),  u = -M^-1 J' lambda,  t += R u_v,  R <- R exp(u_w)
//                   This is Newton's iteration for C = 0, so the error converges quadratically. The
//                   sum of the motions is the least one to second order in the error. Rotations are
//                   limited to half a radian per iteration, so that joints with large errors are
//                   closed as well.
//                   A state that is set during a run may also have errors from the strain of the
//                   bodies: poses are those of the rotations, and joints are closed by strained
//                   bodies. The allowed error is that of the joint at the current state with its
//                   bodies unstrained.
//   rigid servos    x = target. Off by more than 1e-6: a warning, since the first step moves them
//                   there. An error if the target lies beyond the stops of the axis, or if closing
//                   the joints of the component together with its servos fails. Closing
//                   joints holds these rows as well.
//   velocities      J u = 0 on rigid rows; scripted bodies move according to their scripts. Rates
//                   of more than 1e-6 m/s or rad/s, relative to 1 + the speeds of the two bodies,
//                   are projected:
//                     K lambda = J u,  u -= M^-1 J' lambda
//                   which removes the kinetic energy of the part of u across the joints. Servos and
//                   motors are not projected: they act from the first step on.
//
// Components without a violation keep their bits.

#include "formulation/affine/start.h"

#include "base/error.h"
#include "formulation/affine/cpu/isa_table.h"
#include "math/polar.h"
#include "math/quat.h"
#include "scene/signal.h"

#include <stdio.h>
#include <string.h>

// Largest joint error and rate of a row that is accepted [m], [rad], [m/s], [rad/s], in addition to
// round-off.
#define START_TOLERANCE ((mabd_real)1e-6)
#define START_ROUND_OFF (64 * MABD_AFFINE_EPSILON)

// Closing: iterations, largest rotation of a body in one iteration [rad], joint error above which
// an iteration that does not halve it is the last one [m], [rad].
#define CLOSE_MAX_ITERATIONS 80
#define CLOSE_MAX_ROTATION   ((mabd_real)0.5)
#define CLOSE_FLOOR          ((mabd_real)1e-8)

// Velocities: number of projections; each leaves a part of about 1e-8, or 1e-3 with an iterative
// solver.
#define RATE_MAX_ITERATIONS 20

typedef struct start_work {
    mabd_affine_sim* sim;
    const mabd_model* m;
    mabd_affine_start* start;
    mabd_affine_projection p;
    mabd_real* q0; // (bodies + 1 x 12) poses before joints were closed
    mabd_warnings* warnings;
    mabd_error* error;
} start_work;

static size_t pose_bytes(const start_work* s) {
    return mabd_bytes(12 * (s->sim->sizes.bodies + 1), sizeof(mabd_real));
}

// Allocate memory that only states with a violation need. MABD_ERR_MEMORY.
static mabd_status reserve(start_work* s) {
    if (s->q0) return MABD_OK;
    s->q0 = mabd_alloc(s->p.allocator, pose_bytes(s));
    return s->q0 ? mabd_affine_projection_create(&s->p) : MABD_ERR_MEMORY;
}

static mabd_status no_memory(const start_work* s) {
    return mabd_fail_memory(s->error, "checking the start state");
}

// ---- joint errors ----

// The joint with the largest error beyond its tolerance.
typedef struct joint_error {
    int32_t joint;    // -1 = none
    mabd_real size;   // [m] or [rad]
    mabd_real excess; // over the tolerance
    bool angle;
} joint_error;

static void keep_worse(joint_error* worst, int32_t joint, mabd_real size, mabd_real tolerance,
                       bool angle) {
    if (!(size - tolerance > worst->excess)) return;
    worst->joint = joint, worst->size = size, worst->angle = angle;
    worst->excess = size - tolerance;
}

static void measure_joint(const mabd_joint_view* view, const mabd_row_set* set, mabd_real* gap,
                          mabd_real* angle) {
    const mabd_vec3 gap_vector = mabd_joint_gap(view);
    *gap = *angle = 0;
    if (set->rigid_count > 0 && set->rigid[0].kind == MABD_ROW_POINT)
        *gap = mabd_v3_norm(gap_vector);
    for (int32_t r = 0; r < set->rigid_count; r++) {
        const mabd_row* row = &set->rigid[r];
        const mabd_real C = (mabd_real)fabs(mabd_row_value(view, row, gap_vector));
        const mabd_real turn = C < 1 ? (mabd_real)asin(C) : MABD_PI / 2;
        if (row->kind == MABD_ROW_SLIDE && C > *gap) *gap = C;
        if (row->kind == MABD_ROW_CROSS && turn > *angle) *angle = turn;
    }
}

// View of a joint at the current state of the simulation, its bodies without strain.
static mabd_joint_view unstrained_view(const start_work* s, const mabd_model_joint* joint) {
    mabd_joint_view view;
    mabd_affine_view(s->sim, joint, s->sim->q, &view);
    mabd_polar(view.Aa, &view.Aa);
    mabd_polar(view.Ab, &view.Ab);
    return view;
}

static void add_joint_error(const start_work* s, const mabd_real* q, int32_t index,
                            joint_error* worst) {
    const mabd_model_joint* joint = &s->m->joints[index];
    const mabd_row_set* set = &s->m->row_sets[joint->row_set];
    mabd_joint_view view;
    mabd_real gap, angle, strain_gap = 0, strain_angle = 0;
    mabd_affine_view(s->sim, joint, q, &view);
    measure_joint(&view, set, &gap, &angle);
    if (!s->start->is_initial && (gap > START_TOLERANCE || angle > START_TOLERANCE)) {
        const mabd_joint_view now = unstrained_view(s, joint);
        measure_joint(&now, set, &strain_gap, &strain_angle);
    }
    const mabd_real size = mabd_v3_norm(view.ta) + mabd_v3_norm(view.tb) + mabd_v3_norm(view.Xa) +
                           mabd_v3_norm(view.Xb);
    keep_worse(worst, index, gap, START_TOLERANCE + START_ROUND_OFF * (1 + size) + strain_gap,
               false);
    keep_worse(worst, index, angle, START_TOLERANCE + START_ROUND_OFF + strain_angle, true);
}

static joint_error find_joint_error(const start_work* s, const mabd_real* q) {
    joint_error worst = {-1, 0, 0, false};
    for (int32_t i = 0; i < s->m->joint_count; i++) {
        if (s->m->plan->joint_slot[i] >= 0) add_joint_error(s, q, i, &worst);
    }
    return worst;
}

static mabd_status refuse_joint_error(const start_work* s, const joint_error* open,
                                      const char* why) {
    char label[160];
    mabd_model_joint_label(s->m, open->joint, label, sizeof label);
    return mabd_fail_at(s->error, MABD_ERR_INPUT, -1, open->joint, s->start->time,
                        "%s is open by %.4g %s%s", label, (double)open->size,
                        open->angle ? "rad" : "m", why);
}

// ---- closing joints ----

// Move a body by a part of its correction; its velocity in the world does not change.
static void move_body(const start_work* s, mabd_real* q, mabd_real* v, int32_t body,
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

static void move_component(const start_work* s, const mabd_plan_component* c, mabd_real* q,
                           mabd_real* v) {
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
static mabd_status close_component(start_work* s, int32_t component, mabd_real* q, mabd_real* v,
                                   mabd_real* left) {
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

// Close all components with errors in held rows; *closed: all of them are within the tolerance.
static mabd_status close_all(start_work* s, mabd_real* q, mabd_real* v, bool* closed) {
    *closed = true;
    s->p.q = q, s->p.servos = true;
    for (int32_t i = 0; i < s->m->plan->component_count; i++) {
        mabd_real left = mabd_affine_projection_errors(&s->p, i);
        if (left <= START_TOLERANCE) continue;
        MABD_TRY(close_component(s, i, q, v, &left));
        *closed &= left <= START_TOLERANCE;
    }
    return MABD_OK;
}

static mabd_real angle_between(const mabd_real* q, const mabd_real* q0) {
    return mabd_v3_norm(mabd_so3_log(mabd_m3_tproduct(mabd_m3_load(q0), mabd_m3_load(q))));
}

// Warn how far bodies have moved from q0.
static void warn_moved(const start_work* s) {
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

static mabd_status close_joints(start_work* s) {
    mabd_affine_start* start = s->start;
    bool closed;
    if (reserve(s) != MABD_OK) return no_memory(s);
    memcpy(s->q0, start->q, 12 * (s->sim->sizes.bodies + 1) * sizeof(mabd_real));
    if (close_all(s, start->q, start->v, &closed) != MABD_OK) return no_memory(s);
    joint_error open = find_joint_error(s, start->q);
    if (open.joint >= 0) return refuse_joint_error(s, &open, ": the joints cannot be closed");
    if (!closed) {
        return mabd_fail(s->error, MABD_ERR_INPUT,
                         "the joints cannot be closed with all rigid servos at their targets");
    }
    if (memcmp(s->q0, start->q, 12 * s->sim->sizes.bodies * sizeof(mabd_real)) == 0) return MABD_OK;
    start->changed = true;
    warn_moved(s);
    return MABD_OK;
}

// ---- servos and stops ----

typedef struct axis_place {
    int32_t joint, row; // -1 = none; of the controls
    mabd_real off;      // [m] or [rad]
} axis_place;

static const mabd_row* axis_row(const start_work* s, const axis_place* axis) {
    return &s->m->row_sets[s->m->joints[axis->joint].row_set].control_row[axis->row];
}

// "joint 'elbow': rx"
static const char* axis_label(const start_work* s, const axis_place* axis, char* text,
                              size_t size) {
    const mabd_row* row = axis_row(s, axis);
    char label[160];
    snprintf(text, size, "%s: %c%c", mabd_model_joint_label(s->m, axis->joint, label, sizeof label),
             row->kind == MABD_ROW_SLIDE ? 't' : 'r', "xyz"[row->axis]);
    return text;
}
static const char* axis_unit(const start_work* s, const axis_place* axis) {
    return axis_row(s, axis)->kind == MABD_ROW_SLIDE ? "m" : "rad";
}

// Refuse a target beyond the stops of its own axis, which cannot be met.
static mabd_status check_target(const start_work* s, const axis_place* axis, mabd_real target) {
    const mabd_control* c = &s->m->row_sets[s->m->joints[axis->joint].row_set].control[axis->row];
    char label[200];
    const mabd_real below = c->lower - target, above = target - c->upper;
    if (!c->limited || (below <= START_TOLERANCE && above <= START_TOLERANCE)) return MABD_OK;
    const bool low = below > 0;
    return mabd_fail_at(s->error, MABD_ERR_INPUT, -1, axis->joint, s->start->time,
                        "%s: the target %g %s of the rigid servo lies %g %s %s the %s stop",
                        axis_label(s, axis, label, sizeof label), (double)target,
                        axis_unit(s, axis), (double)(low ? below : above), axis_unit(s, axis),
                        low ? "below" : "above", low ? "lower" : "upper");
}

// Find the rigid servo farthest from its target.
static mabd_status find_servo(const start_work* s, axis_place* worst) {
    for (int32_t i = 0; i < s->m->joint_count; i++) {
        const mabd_model_joint* joint = &s->m->joints[i];
        const mabd_row_set* set = &s->m->row_sets[joint->row_set];
        mabd_joint_view view;
        if (joint->coordinate < 0 || s->m->plan->joint_slot[i] < 0) continue;
        for (int32_t r = 0; r < set->control_count; r++) {
            axis_place axis = {i, r, 0};
            mabd_real target, x;
            if (!mabd_affine_rigid_servo(s->sim, joint->row_set, r, &target)) continue;
            MABD_TRY(check_target(s, &axis, target));
            mabd_affine_view(s->sim, joint, s->start->q, &view);
            mabd_joint_coordinates(&view, 1, &set->control_row[r], &target, &x);
            axis.off = (mabd_real)fabs(x - target);
            if (axis.off > START_TOLERANCE + START_ROUND_OFF && axis.off > worst->off)
                *worst = axis;
        }
    }
    return MABD_OK;
}

// Check servos off their targets: a warning, or an error if the component cannot be closed with
// them.
static mabd_status check_servos(start_work* s) {
    axis_place worst = {-1, -1, 0};
    char label[200];
    bool closed;
    MABD_TRY(find_servo(s, &worst));
    if (worst.joint < 0) return MABD_OK;
    if (reserve(s) != MABD_OK) return no_memory(s);
    memcpy(s->q0, s->start->q, 12 * (s->sim->sizes.bodies + 1) * sizeof(mabd_real));
    if (close_all(s, s->q0, NULL, &closed) != MABD_OK) return no_memory(s);
    axis_label(s, &worst, label, sizeof label);
    if (!closed) {
        return mabd_fail_at(s->error, MABD_ERR_INPUT, -1, worst.joint, s->start->time,
                            "%s is %.4g %s off the target of its rigid servo, which the joints do "
                            "not allow",
                            label, (double)worst.off, axis_unit(s, &worst));
    }
    mabd_warn(s->warnings, -1, worst.joint, s->start->step,
              "%s is %.4g %s off the target of its rigid servo: the first step moves it there",
              label, (double)worst.off, axis_unit(s, &worst));
    return MABD_OK;
}

static mabd_status check_stops(const start_work* s) {
    for (int32_t i = 0; s->m->laws && i < s->m->joint_count; i++) {
        const mabd_model_joint* joint = &s->m->joints[i];
        const mabd_row_set* set = &s->m->row_sets[joint->row_set];
        mabd_real x[MABD_JOINT_MAX_ROWS], now[MABD_JOINT_MAX_ROWS];
        mabd_joint_view view;
        if (!set->laws || joint->coordinate < 0) continue;
        view = unstrained_view(s, joint);
        mabd_joint_coordinates(&view, set->control_count, set->control_row,
                               s->sim->x + joint->coordinate, now);
        mabd_affine_view(s->sim, joint, s->start->q, &view);
        mabd_joint_coordinates(&view, set->control_count, set->control_row,
                               s->sim->x + joint->coordinate, x);
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            const axis_place axis = {i, r, 0};
            const mabd_real below = c->lower - x[r], above = x[r] - c->upper;
            char label[200];
            if (!c->limited || (below <= START_TOLERANCE && above <= START_TOLERANCE)) continue;
            // strain of the bodies explains the distance beyond the stop
            if (below <= START_TOLERANCE + (c->lower - now[r]) && below > 0) continue;
            if (above <= START_TOLERANCE + (now[r] - c->upper) && above > 0) continue;
            return mabd_fail_at(
                s->error, MABD_ERR_INPUT, -1, i, s->start->time,
                "%s is at %g %s, %g %s %s its %s stop", axis_label(s, &axis, label, sizeof label),
                (double)x[r], axis_unit(s, &axis), (double)(below > 0 ? below : above),
                axis_unit(s, &axis), below > 0 ? "below" : "above", below > 0 ? "lower" : "upper");
        }
    }
    return MABD_OK;
}

// ---- poses ----

static mabd_status check_openings(const start_work* s) {
    const joint_error open = find_joint_error(s, s->start->q);
    if (open.joint < 0) return MABD_OK;
    return refuse_joint_error(s, &open,
                              s->start->is_initial
                                  ? " at the start; \"start\": {\"close\": true} in the scene, or "
                                    "--close-joints, closes it"
                                  : " in the state to set; a scene with \"start\": {\"close\": "
                                    "true} closes it");
}

static mabd_status settle_pose(start_work* s) {
    const mabd_affine_start* start = s->start;
    mabd_affine_joint_error all = {0, 0, 0, -1}; // of rows, servos and stops, in lanes
    s->sim->stages->check(s->sim, start->q, 0, s->m->joint_count, &all);
    const bool good = all.gap <= START_TOLERANCE && all.angle <= START_TOLERANCE;
    if (good && !s->m->laws) return MABD_OK;
    if (start->close) {
        MABD_TRY(close_joints(s));
    } else {
        if (!good) MABD_TRY(check_openings(s));
        MABD_TRY(check_servos(s));
    }
    return start->stops || start->changed ? check_stops(s) : MABD_OK;
}

// ---- velocities ----

// Compute the velocity of a scripted body: the origin of its frame moves along the direction, and
// it rotates about it.
static void script_rates(const start_work* s, const mabd_model_script* script, mabd_real* v) {
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

static bool any_motion(const start_work* s) {
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
static mabd_real joint_excess(const start_work* s, int32_t joint, mabd_real* rate) {
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
    return *rate / ((START_TOLERANCE + START_ROUND_OFF) * speed);
}

// Find the joint of a component with the largest relative rate, -1 = all are good.
static int32_t find_rate(const start_work* s, const mabd_plan_component* c, mabd_real* rate) {
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
static mabd_real energy_of(const start_work* s, const mabd_plan_component* c) {
    mabd_real energy = 0;
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = s->m->plan->component_bodies[i];
        const size_t at = 12 * (size_t)body;
        energy += mabd_affine_twist_energy(
            s->m, body, mabd_affine_twist_of(s->start->q + at, s->start->v + at));
    }
    return energy;
}

static void slow_component(const start_work* s, const mabd_plan_component* c) {
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
static mabd_status project_component(start_work* s, int32_t component) {
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

static void warn_projected(const start_work* s, int32_t joint, mabd_real rate, mabd_real taken,
                           mabd_real of) {
    char label[160];
    mabd_warn(s->warnings, -1, joint, s->start->step,
              "velocities against the joints, at most %.4g m/s or rad/s at %s, were projected: "
              "%.4g J of %.4g J of kinetic energy %s",
              (double)rate, mabd_model_joint_label(s->m, joint, label, sizeof label),
              (double)fabs(taken), (double)of, taken < 0 ? "added" : "taken out");
}

static mabd_status project_velocities(start_work* s) {
    mabd_real taken = 0, before = 0, worst_rate = 0;
    int32_t worst = -1;
    s->p.q = s->start->q, s->p.servos = false;
    for (int32_t i = 0; i < s->m->plan->component_count; i++) {
        const mabd_plan_component* c = &s->m->plan->components[i];
        mabd_real rate = 0;
        if (!(mabd_affine_projection_rates(&s->p, i, s->start->v) > START_TOLERANCE)) continue;
        const int32_t joint = find_rate(s, c, &rate);
        if (joint < 0) continue;
        if (reserve(s) != MABD_OK) return no_memory(s);
        const mabd_real energy = energy_of(s, c);
        const mabd_status status = project_component(s, i);
        if (status == MABD_ERR_MEMORY) return no_memory(s);
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

static mabd_status settle_velocities(start_work* s) {
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

mabd_status mabd_affine_start_settle(mabd_affine_sim* sim, const mabd_allocator* allocator,
                                     mabd_affine_start* start, mabd_warnings* warnings,
                                     mabd_error* error) {
    start_work s = {.sim = sim,
                    .m = sim->model,
                    .start = start,
                    .p = {.sim = sim, .allocator = allocator},
                    .warnings = warnings,
                    .error = error};
    mabd_status status = MABD_OK;
    start->changed = false;
    if (start->pose) status = settle_pose(&s);
    if (status == MABD_OK) status = settle_velocities(&s);
    mabd_affine_projection_destroy(&s.p);
    mabd_free(allocator, s.q0, pose_bytes(&s));
    return status;
}
