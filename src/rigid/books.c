// SPDX-License-Identifier: Apache-2.0
// Works of a step from the states at its ends, by sums that do not know the scheme.
//
//   change of kinetic + gravity + spring
//       = drives + scripts + forces - dampers - friction - drag - impacts - integrator
//
// A force that follows from the state does the work (F0 + F1)/2 . (x1 - x0) over a step, of second
// order; F0 is the force right after the start of the step, so inputs that jump there do no harm.
//
//   forces     at the point P they act on: (F0 + F1)/2 . (P1 - P0); a torque over the vector of the
//              rotation of the step, at most half a turn
//   drag       d (v - wind), on the way of the centre; wind that drives a body is < 0
//   servos     with gains kp (target - x), limited ones below and at their limit
//   dampers    d x' dx; on rotation vectors d F'r . y, r the relative angular velocity and y the
//              turn of the step in the joint frame on b
//   friction   F |dx|: the force is constant while x moves; where it is not, mean of the step
//   motors     (M0 + M1)/2 dx
//
// Rigid servos, rates and limited servos without gains are known by the force f of their axis
// alone, whose other parts store and take energy as well:
//
//   drive = f dx + change of spring and armature + dampers + friction
//
// At a stop such a drive pushes with its limit. Forces f are means over the step: the formulations
// have them (the mean of both ends of a step of bdf2, the sum of b_i f_i of one with stages).
//
// A script moves body s of a joint. A row of value C with the force f on it does f dC on both
// bodies; the part f d_s C comes from the script with the other sign. That part is the mean of two
// differences, with the other body at its start and at its end:
//
//   d_s C = (C(s1, b1) - C(s0, b1) + C(s1, b0) - C(s0, b0))/2
//
// Motors count as rows with f = M; dampers and armatures of rotation vectors by their torque on s
// and the turn of s.
//
// A servo with gains is a drive, not a spring: its energy is in no account. Stops are booked by
// redmax alone (stop_work).

#include "rigid/books.h"

#include "math/quat.h"
#include "model/first_force.h"

#include <math.h>
#include <string.h>

// ---- accounts ----------------------------------------------------------------------------------

void mabd_rigid_books_open(mabd_rigid_books* books, const mabd_measure* start) {
    memset(books, 0, sizeof *books);
    books->start[0] = start->kinetic, books->start[1] = start->gravity;
    books->start[2] = start->spring;
}

void mabd_rigid_books_carry(mabd_rigid_books* books, const mabd_measure* before,
                            const mabd_measure* after) {
    books->start[0] += after->kinetic - before->kinetic;
    books->start[1] += after->gravity - before->gravity;
    books->start[2] += after->spring - before->spring;
}

static bool has_stops(const mabd_model* m) {
    for (int32_t i = 0; m->laws && i < m->row_set_count; i++) {
        for (int32_t r = 0; r < m->row_sets[i].control_count; r++) {
            if (m->row_sets[i].control[r].limited) return true;
        }
    }
    return false;
}

mabd_energy_balance mabd_rigid_books_balance(const mabd_rigid_books* books, const mabd_model* model,
                                             const mabd_measure* now, unsigned booked) {
    const mabd_rigid_works* w = &books->work;
    mabd_energy_balance b;
    b.kinetic = now->kinetic - books->start[0];
    b.gravity = now->gravity - books->start[1];
    b.spring = now->spring - books->start[2];
    b.elastic = 0;
    b.drives = w->drives, b.scripts = w->scripts, b.forces = w->forces;
    b.dampers = w->dampers, b.drag = w->drag;
    b.surfaces = b.rolling = 0; // rigid formulations refuse both
    const bool touches = model->contact.enabled && (booked & MABD_BOOKED_CONTACTS) == 0;
    const bool stopped = (booked & MABD_BOOKED_STOPS) == 0 && has_stops(model);
    b.friction = touches ? (mabd_real)NAN : w->friction;
    b.impacts = touches || stopped ? (mabd_real)NAN : w->impacts;
    b.integrator = b.drives + b.scripts + b.forces - b.dampers - b.drag -
                   (touches ? 0 : w->friction) - (touches || stopped ? 0 : w->impacts) -
                   (b.kinetic + b.gravity + b.spring);
    return b;
}

// ---- what is booked ----------------------------------------------------------------------------

static const mabd_row_set* set_of(const mabd_model* m, int32_t joint) {
    return &m->row_sets[m->joints[joint].row_set];
}

static bool is_held(const mabd_control* c) {
    return c->rigid || (c->max_force > 0 && !(c->drive_gain > 0) && !(c->drive_damping > 0));
}

static bool is_turn(const mabd_row_set* set, int32_t r) {
    return set->damped && r >= set->turn && r < set->turn + 3;
}

bool mabd_rigid_has_held(const mabd_row_set* set) {
    bool held = false;
    for (int32_t r = 0; r < set->control_count; r++) held |= is_held(&set->control[r]);
    return held;
}

bool mabd_rigid_has_script(const mabd_model* m, int32_t joint) {
    const uint8_t a = m->body_motion[m->joints[joint].a], b = m->body_motion[m->joints[joint].b];
    return (a == MABD_MOTION_SCRIPTED && b == MABD_MOTION_DYNAMIC) ||
           (b == MABD_MOTION_SCRIPTED && a == MABD_MOTION_DYNAMIC);
}

static bool set_works(const mabd_row_set* set) {
    bool works = set->motor_count > 0;
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        works |= c->rigid || c->law || c->gain > 0 || c->damping > 0 || c->friction_speed > 0;
    }
    return works;
}

bool mabd_rigid_books_joint(const mabd_model* m, int32_t joint) {
    const mabd_row_set* set = set_of(m, joint);
    const mabd_model_joint* own = &m->joints[joint];
    if (m->body_motion[own->a] != MABD_MOTION_DYNAMIC &&
        m->body_motion[own->b] != MABD_MOTION_DYNAMIC) {
        return false;
    }
    return set_works(set);
}

bool mabd_rigid_books_joints(const mabd_model* m) {
    bool works = m->script_count > 0;
    for (int32_t i = 0; i < m->row_set_count; i++) works |= set_works(&m->row_sets[i]);
    return works;
}

bool mabd_rigid_books_bodies(const mabd_rigid_step* step) {
    const mabd_model* m = step->model;
    bool drag = false;
    for (int32_t i = 0; i < m->class_count; i++) drag |= m->classes[i].material.drag > 0;
    return drag || m->force_count > 0 || step->inputs->has_applied;
}

// ---- bodies ------------------------------------------------------------------------------------

// Value of a signal at the start or at the end of a step.
static mabd_real signal_at(const mabd_rigid_step* s, const mabd_signal* signal, bool end) {
    return mabd_rigid_signal(signal, s->time, s->h, end ? s->time + s->h : s->time);
}

// Rotation vector of a body over a step, world [rad].
static mabd_vec3 turn_of(const mabd_rigid_state* s0, const mabd_rigid_state* s1) {
    return mabd_so3_log(mabd_q_matrix(mabd_q_product(s1->q, mabd_q_conjugate(s0->q))));
}

static mabd_real force_work(const mabd_rigid_step* s, const mabd_model_force* f,
                            const mabd_rigid_state* s0, const mabd_rigid_state* s1) {
    const mabd_real by0 = (f->signal ? signal_at(s, f->signal, false) : 1) / 2;
    const mabd_real by1 = (f->signal ? signal_at(s, f->signal, true) : 1) / 2;
    const mabd_vec3 arm =
        mabd_v3_sub(mabd_q_rotate(s1->q, f->point), mabd_q_rotate(s0->q, f->point));
    const mabd_vec3 path = mabd_v3_add(mabd_v3_sub(s1->c, s0->c), arm);
    mabd_vec3 force = mabd_v3_scale(by0 + by1, f->force);
    mabd_vec3 torque = mabd_v3_scale(by0 + by1, f->torque);
    if (f->body_frame) {
        force = mabd_v3_axpy(by0, mabd_q_rotate(s0->q, f->force),
                             mabd_v3_scale(by1, mabd_q_rotate(s1->q, f->force)));
        torque = mabd_v3_axpy(by0, mabd_q_rotate(s0->q, f->torque),
                              mabd_v3_scale(by1, mabd_q_rotate(s1->q, f->torque)));
    }
    mabd_real work = mabd_v3_dot(force, path);
    if (mabd_v3_dot(torque, torque) > 0) work += mabd_v3_dot(torque, turn_of(s0, s1));
    return work;
}

static mabd_real applied_work(const mabd_real* wrench, const mabd_rigid_state* s0,
                              const mabd_rigid_state* s1) {
    const mabd_vec3 torque = mabd_v3_load(wrench + 3);
    mabd_real work = mabd_v3_dot(mabd_v3_load(wrench), mabd_v3_sub(s1->c, s0->c));
    if (mabd_v3_dot(torque, torque) > 0) work += mabd_v3_dot(torque, turn_of(s0, s1));
    return work;
}

void mabd_rigid_book_body(const mabd_rigid_step* s, int32_t body, mabd_rigid_works* work) {
    const mabd_model* m = s->model;
    const mabd_real drag = m->classes[m->body_class[body]].material.drag;
    const mabd_real* applied =
        s->inputs->has_applied ? s->inputs->applied + 6 * (size_t)body : NULL;
    int32_t i = mabd_model_first_force(m, body);
    const bool pushed = i < m->force_count && m->forces[i].body == body;
    if (m->body_motion[body] != MABD_MOTION_DYNAMIC || (!pushed && !(drag > 0) && !applied)) return;
    const mabd_rigid_state s0 = s->state(s->self, body, false), s1 = s->state(s->self, body, true);
    for (; i < m->force_count && m->forces[i].body == body; i++) {
        work->forces += force_work(s, &m->forces[i], &s0, &s1);
    }
    if (applied) work->forces += applied_work(applied, &s0, &s1);
    if (!(drag > 0)) return;
    const mabd_vec3 wind = mabd_v3_add(mabd_rigid_wind(m, s->time, s->h, s->time),
                                       mabd_rigid_wind(m, s->time, s->h, s->time + s->h));
    const mabd_vec3 v = mabd_v3_sub(mabd_v3_add(s0.v, s1.v), wind);
    work->drag += drag / 2 * mabd_v3_dot(v, mabd_v3_sub(s1.c, s0.c));
}

mabd_real mabd_rigid_weight_share(const mabd_rigid_step* s, int32_t body) {
    const mabd_model* m = s->model;
    const mabd_rigid_state s0 = s->state(s->self, body, false), s1 = s->state(s->self, body, true);
    const mabd_vec3 more = mabd_v3_axpy(s->h, s0.v, mabd_v3_sub(s0.c, s1.c));
    const mabd_real mass = m->classes[m->body_class[body]].material.mass;
    return mass / 2 * mabd_v3_dot(mabd_v3_load(m->gravity), more);
}

// ---- axes --------------------------------------------------------------------------------------

/// Works of one control in a step [J].
typedef struct axis_work {
    mabd_real drive, damper, friction; // done; taken
    mabd_real spring, armature;        // changes of energy
} axis_work;

// Target of a control at an end of a step.
static mabd_real target_at(const mabd_rigid_step* s, const mabd_control* c, int32_t coordinate,
                           bool end) {
    const mabd_signal* signal = c->drive ? c->drive : c->servo;
    if (s->inputs->target_set[coordinate]) return s->inputs->target[coordinate];
    return signal_at(s, signal, end);
}

// Parts of the force of a limited servo with gains at one end of a step.
static void limited_servo(const mabd_control* c, mabd_real target, const mabd_real* x,
                          mabd_real* drive, mabd_real* damper) {
    const mabd_real pull = c->drive_gain * (target - x[0]), drag = c->drive_damping * x[1];
    const mabd_real force = pull - drag;
    *drive = force > c->max_force ? c->max_force : force < -c->max_force ? -c->max_force : pull;
    *damper = fabs(force) > c->max_force ? 0 : drag;
}

// Works of control r; turned: displacement that its damper acts on.
static axis_work work_of(const mabd_rigid_step* s, const mabd_rigid_joint_step* own, int32_t r,
                         mabd_real turned) {
    const mabd_model_joint* joint = &s->model->joints[own->joint];
    const mabd_control* c = &s->model->row_sets[joint->row_set].control[r];
    const mabd_real *x0 = own->x[0] + 2 * r, *x1 = own->x[1] + 2 * r, dx = x1[0] - x0[0];
    const mabd_real target0 = target_at(s, c, joint->coordinate + r, false);
    const mabd_real target1 = target_at(s, c, joint->coordinate + r, true);
    axis_work w = {0, 0, 0, 0, 0};
    if (c->max_force > 0 && (c->drive_gain > 0 || c->drive_damping > 0)) {
        mabd_real drive[2], damper[2];
        limited_servo(c, target0, x0, &drive[0], &damper[0]);
        limited_servo(c, target1, x1, &drive[1], &damper[1]);
        w.drive += (drive[0] + drive[1]) / 2 * dx;
        w.damper += (damper[0] + damper[1]) / 2 * dx;
    } else if (!c->rigid && !c->drive && c->gain > 0) {
        w.drive += c->gain * (target0 + target1 - x0[0] - x1[0]) / 2 * dx;
    }
    w.damper += c->damping * (x0[1] + x1[1]) / 2 * turned;
    w.friction = own->friction ? own->friction[r] : c->friction * (mabd_real)fabs(dx);
    w.spring = c->spring * ((x0[0] + x1[0]) / 2 - c->rest) * dx;
    w.armature = c->armature * (x1[1] - x0[1]) * (x1[1] + x0[1]) / 2;
    return w;
}

// Force of a held drive whose axis is at a stop: its limit, towards the target.
static mabd_real pushed_force(const mabd_rigid_step* s, const mabd_rigid_joint_step* own,
                              int32_t r) {
    const mabd_model_joint* joint = &s->model->joints[own->joint];
    const mabd_control* c = &s->model->row_sets[joint->row_set].control[r];
    const mabd_real target = target_at(s, c, joint->coordinate + r, true);
    const mabd_real left = target - own->x[1][2 * r + (c->drive_rate ? 1 : 0)];
    if (!is_held(c) || c->rigid || !(c->max_force < (mabd_real)INFINITY)) return 0;
    return left > 0 ? c->max_force : left < 0 ? -c->max_force : 0;
}

static mabd_joint_view view_of(const mabd_rigid_step* s, int32_t joint, const mabd_rigid_state* a,
                               const mabd_rigid_state* b) {
    mabd_joint_view view;
    mabd_model_joint_view(s->model, &s->model->joints[joint], &view);
    view.Aa = mabd_q_matrix(a->q), view.ta = a->c;
    view.Ab = mabd_q_matrix(b->q), view.tb = b->c;
    return view;
}

// Turn y of b relative to a over the step, components in the joint frame on b [rad].
static mabd_vec3 relative_turn(const mabd_rigid_step* s, int32_t joint) {
    const mabd_model_joint* own = &s->model->joints[joint];
    const mabd_rigid_state a0 = s->state(s->self, own->a, false),
                           b0 = s->state(s->self, own->b, false),
                           a1 = s->state(s->self, own->a, true),
                           b1 = s->state(s->self, own->b, true);
    const mabd_joint_view view = view_of(s, joint, &a0, &b0);
    const mabd_quat q0 = mabd_q_product(mabd_q_conjugate(a0.q), b0.q);
    const mabd_quat q1 = mabd_q_product(mabd_q_conjugate(a1.q), b1.q);
    const mabd_mat3 turn = mabd_q_matrix(mabd_q_product(mabd_q_conjugate(q0), q1));
    return mabd_m3_tmul(view.Fb, mabd_so3_log(turn));
}

static mabd_real motor_mean(const mabd_rigid_step* s, int32_t joint, int32_t r) {
    const size_t k = mabd_rigid_motor_input(s->inputs, joint, r);
    const mabd_signal* signal = set_of(s->model, joint)->motor[r].force;
    if (s->inputs->target_set[k]) return s->inputs->target[k];
    return (signal_at(s, signal, false) + signal_at(s, signal, true)) / 2;
}

mabd_real mabd_rigid_motor_work(const mabd_rigid_step* s, int32_t joint, int32_t r) {
    const mabd_model_joint* own = &s->model->joints[joint];
    const mabd_row* row = &set_of(s->model, joint)->motor[r].row;
    const mabd_real zero = 0;
    mabd_real x[2];
    for (int end = 0; end < 2; end++) {
        const mabd_rigid_state a = s->state(s->self, own->a, end),
                               b = s->state(s->self, own->b, end);
        const mabd_joint_view view = view_of(s, joint, &a, &b);
        mabd_joint_coordinates(&view, 1, row, end ? &x[0] : &zero, &x[end]);
    }
    return motor_mean(s, joint, r) * (x[1] - x[0]);
}

// Work that the stop of a control takes by implicit Euler, which changes the kinetic energy by
// `mean`: all but what is booked of the others. Its rate at the end is dx/h, before impulses.
static mabd_real stop_work(const mabd_rigid_step* s, const mabd_rigid_joint_step* own, int32_t r,
                           const axis_work* w, mabd_real drive) {
    const mabd_real *x0 = own->x[0] + 2 * r, *x1 = own->x[1] + 2 * r;
    const mabd_real rate = (x1[0] - x0[0]) / s->h;
    const mabd_real armature = set_of(s->model, own->joint)->control[r].armature;
    const mabd_real moved = armature * (rate * rate - x0[1] * x0[1]) / 2;
    return drive - w->damper - w->friction - w->spring - moved - own->mean[r];
}

void mabd_rigid_book_joint(const mabd_rigid_step* s, const mabd_rigid_joint_step* own,
                           mabd_rigid_works* work) {
    const mabd_row_set* set = set_of(s->model, own->joint);
    const mabd_vec3 y = set->damped ? relative_turn(s, own->joint) : mabd_v3(0, 0, 0);
    const bool held = mabd_rigid_has_held(set);
    for (int32_t r = 0; r < set->control_count; r++) {
        const bool turns = is_turn(set, r);
        const mabd_real dx = own->x[1][2 * r] - own->x[0][2 * r];
        const mabd_real turned = turns ? mabd_v3_get(y, set->control_row[r].axis) : dx;
        const axis_work w = work_of(s, own, r, turned);
        work->dampers += w.damper, work->friction += w.friction;
        mabd_real drive = w.drive;
        if (held && own->stop[r] != 0) {
            drive = pushed_force(s, own, r) * dx;
        } else if (held) {
            drive = own->through[r] + w.friction + w.spring;
            if (!turns || own->turns_in) drive += w.damper + w.armature;
        }
        work->drives += drive;
        if (own->ends[r]) work->impacts += stop_work(s, own, r, &w, drive);
    }
    for (int32_t r = 0; r < set->motor_count; r++)
        work->drives += mabd_rigid_motor_work(s, own->joint, r);
}

// ---- scripts -----------------------------------------------------------------------------------

#define MOST_ROWS (3 * MABD_JOINT_MAX_ROWS)

// Values of all rows of a joint: rigid ones, controls, motors. near: values that the angles of
// motors are nearest to, null = 0; those of controls are nearest to x.
static void row_values(const mabd_rigid_step* s, const mabd_rigid_joint_step* own,
                       const mabd_rigid_state* a, const mabd_rigid_state* b, const mabd_real* near,
                       mabd_real* values) {
    const mabd_row_set* set = set_of(s->model, own->joint);
    const mabd_joint_view view = view_of(s, own->joint, a, b);
    const mabd_vec3 gap = mabd_joint_gap(&view);
    mabd_real x[MABD_JOINT_MAX_ROWS] = {0};
    int32_t row = 0;
    for (; row < set->rigid_count; row++) {
        values[row] = mabd_row_value(&view, &set->rigid[row], gap);
    }
    for (int32_t r = 0; r < set->control_count; r++) x[r] = own->x[1][2 * r];
    if (set->control_count > 0) {
        mabd_joint_coordinates(&view, set->control_count, set->control_row, x, values + row);
        row += set->control_count;
    }
    for (int32_t r = 0; r < set->motor_count; r++, row++) {
        const mabd_real there = near ? near[row] : 0;
        mabd_joint_coordinates(&view, 1, &set->motor[r].row, &there, values + row);
    }
}

// Write d_s C of all rows, s: body b or a.
static void script_path(const mabd_rigid_step* s, const mabd_rigid_joint_step* own, bool is_b,
                        int32_t count, mabd_real* path) {
    const mabd_model_joint* joint = &s->model->joints[own->joint];
    for (int end = 0; end < 2; end++) { // of the other body
        mabd_real value[2][MOST_ROWS];
        for (int k = 0; k < 2; k++) {
            const mabd_rigid_state a = s->state(s->self, joint->a, is_b ? end : k),
                                   b = s->state(s->self, joint->b, is_b ? k : end);
            row_values(s, own, &a, &b, k ? value[0] : NULL, value[k]);
        }
        for (int32_t r = 0; r < count; r++) path[r] += (value[1][r] - value[0][r]) / 2;
    }
}

// Torque of dampers and armatures of rotation vectors on b, world, mean of a step.
static mabd_vec3 turn_torque(const mabd_rigid_step* s, const mabd_rigid_joint_step* own) {
    const mabd_model_joint* joint = &s->model->joints[own->joint];
    const mabd_row_set* set = &s->model->row_sets[joint->row_set];
    mabd_vec3 sum = mabd_v3(0, 0, 0);
    for (int end = 0; end < 2; end++) {
        const mabd_rigid_state b = s->state(s->self, joint->b, end);
        const mabd_joint_view view = view_of(s, own->joint, &b, &b);
        mabd_real torque[3] = {0, 0, 0};
        for (int32_t r = set->turn; r < set->turn + 3; r++) {
            const mabd_control* c = &set->control[r];
            const mabd_real change = own->x[1][2 * r + 1] - own->x[0][2 * r + 1];
            torque[set->control_row[r].axis] -=
                (c->damping * own->x[end][2 * r + 1] + c->armature * change / s->h) / 2;
        }
        const mabd_vec3 on_b = mabd_m3_mul(view.Fb, mabd_v3_load(torque));
        sum = mabd_v3_add(sum, mabd_q_rotate(b.q, on_b));
    }
    return sum;
}

void mabd_rigid_book_script(const mabd_rigid_step* s, const mabd_rigid_joint_step* own,
                            const mabd_real* force, mabd_rigid_works* work) {
    const mabd_model_joint* joint = &s->model->joints[own->joint];
    const mabd_row_set* set = &s->model->row_sets[joint->row_set];
    const int32_t rows = set->rigid_count + set->control_count;
    const int32_t bodies[2] = {joint->a, joint->b};
    for (int side = 0; side < 2; side++) {
        mabd_real path[MOST_ROWS] = {0};
        if (s->model->body_motion[bodies[side]] != MABD_MOTION_SCRIPTED) continue;
        script_path(s, own, side == 1, rows + set->motor_count, path);
        for (int32_t r = 0; r < rows; r++) work->scripts -= force[r] * path[r];
        for (int32_t r = 0; r < set->motor_count; r++) {
            work->scripts -= motor_mean(s, own->joint, r) * path[rows + r];
        }
        if (!set->damped) continue;
        const mabd_rigid_state s0 = s->state(s->self, bodies[side], false),
                               s1 = s->state(s->self, bodies[side], true);
        const mabd_real turned = mabd_v3_dot(turn_torque(s, own), turn_of(&s0, &s1));
        work->scripts += side == 0 ? turned : -turned;
    }
}
