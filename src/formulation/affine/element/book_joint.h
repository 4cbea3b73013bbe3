// SPDX-License-Identifier: Apache-2.0
// Work of one joint in a finished step, from the state before it (x1, xd1, q1) to the state after
// it (x, xd, q); energy_books.c has the signs and the causes.
//
// An axis with the coordinate x has the force -lambda on it,
//
//   lambda = k (x - rest) + kp (x - target) + d x' + I x'' + limited drive + friction + stop
//
// Forces that follow from the state do the work (F0 + F1)/2 (x1 - x0), of second order: servos
// with gains, dampers. Friction takes F |x1 - x0|: its force is constant while x moves. A limited
// servo is a servo and a damper while it is below its limit, and a drive of constant force at it.
// On a damped rotation (element/turn_damper.h) dampers act on the angular velocity O, and the
// displacement is the turn y of the step: d (O0 + O1)/2 . y.
//
// Rigid servos and rates are known by lambda alone. The axis does the work -lambda dx on the
// bodies, and what its other parts store and take comes from the drive:
//
//   drive = -lambda dx + change of spring and armature + dampers + friction + stops
//
// lambda is the mean of both ends where the step continues the one before; else, after a jump of a
// control and at the start, that of the end: once, so the order stays two.
//
// A joint with a scripted body s. All its rows hold a value C with the force -lambda on it, so
// lambda times the part of dC that s moves is the work of the script. That part is the mean of two
// differences, with the other body at its start and at its end:
//
//   d_s C = (C(s1, b1) - C(s0, b1) + C(s1, b0) - C(s0, b0))/2
//
// A motor has the force +M on its coordinate: its script does -M d_s x.
//
// Stops are booked solve by solve. Implicit Euler, which takes all impacts, changes the kinetic
// energy by exactly (force) (dx0 + dx1)/2 with dx0 = x0' h, dx1 = x1' h: a stop that ends x0' takes
// the energy of that speed. Part of its force carries the springs and drives of the axis, F, and
// the weight of the bodies of the joint. Those do the work of the displacement, not of the mean of
// both rates; the stop is spared the difference, F (dx0 - dx1)/2 + m g . (v0 h - dt)/2. Dampers and
// armature do the work of the mean. Weights of bodies further away remain in `integrator`.
#pragma once

#include "formulation/affine/data.h"
#include "formulation/affine/element/axis.h"
#include "formulation/affine/element/body_inertia.h"

// ---- stops, by solve ---------------------------------------------------------------------------

// Force of the law of an axis at x without its stops.
MABD_FN mabd_real mabd_affine_force_without_stops(const mabd_axis_law* law, mabd_real x) {
    mabd_real lambda = law->slope * x - law->level;
    for (int i = 0; i < MABD_AXIS_BOXES; i++) {
        if (law->box[i].most > 0 && law->box[i].most < (mabd_real)INFINITY) {
            lambda += mabd_axis_box_limit(&law->box[i], x, 1);
        }
    }
    return lambda;
}

// m g . (v0 h - dt)/2 of a body in the current solve.
MABD_FN mabd_real mabd_affine_weight_share(const mabd_affine_sim* sim, int32_t body) {
    const mabd_model* m = sim->model;
    const size_t at = 12 * (size_t)body + 9;
    if (m->body_motion[body] != MABD_MOTION_DYNAMIC) return 0;
    const mabd_vec3 shift = mabd_v3_sub(mabd_v3_load(sim->q_new + at), mabd_v3_load(sim->q + at));
    const mabd_vec3 free =
        mabd_v3_scale(sim->step.lead, mabd_affine_center_velocity(sim, body, false));
    return m->classes[m->body_class[body]].material.mass / 2 *
           mabd_v3_dot(mabd_v3_load(m->gravity), mabd_v3_sub(free, shift));
}

// Add what the stop of control r takes in the current solve to row. True if it is an impact.
MABD_FN bool mabd_affine_book_stop(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                   int32_t r, mabd_real least, mabd_real* row) {
    const int32_t k = joint->coordinate + r;
    const mabd_axis_search* axis = &sim->axes[k].search;
    if (axis->branch.stop == 0) return false;
    mabd_axis_law law = mabd_affine_axis_law(sim, joint, r);
    const mabd_control* c = &sim->model->row_sets[joint->row_set].control[r];
    const size_t at = (size_t)joint->row_set * MABD_JOINT_MAX_ROWS + (size_t)r;
    const mabd_real force = axis->lambda - mabd_affine_force_without_stops(&law, axis->x);
    const mabd_real dx = axis->x - sim->x[k], dx0 = sim->step.lead * sim->xd[k];
    law.slope = c->stiffness, law.level = sim->controls[at].target; // without dampers
    const mabd_real carried = mabd_affine_force_without_stops(&law, axis->x);
    row[MABD_BOOK_STOPS] += (force * (dx0 + dx) + carried * (dx0 - dx)) / 2;
    row[MABD_BOOK_PUSH] += force * dx;
    return fabs(dx0 - dx) > least;
}

/// Book the stops of row `place` of booked joints in a solve that is not finished. more: in
/// addition to earlier solves of the step. least: smallest displacement that an impact takes [m],
/// [rad].
MABD_FN void mabd_affine_stage_book_stops(mabd_affine_sim* sim, int32_t place, bool more,
                                          mabd_real least) {
    const mabd_model_joint* joint = &sim->model->joints[sim->booked_joint[place]];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real* row = sim->work_joint + MABD_BOOK_JOINT_COLUMNS * (size_t)place;
    bool impact = false;
    if (!more) row[MABD_BOOK_STOPS] = row[MABD_BOOK_PUSH] = 0;
    for (int32_t r = 0; set->laws && r < set->control_count; r++) {
        if (set->control[r].limited) impact |= mabd_affine_book_stop(sim, joint, r, least, row);
    }
    if (!impact) return;
    row[MABD_BOOK_STOPS] -=
        mabd_affine_weight_share(sim, joint->a) + mabd_affine_weight_share(sim, joint->b);
}

// ---- axes, by step -----------------------------------------------------------------------------

/// Work of the axes of a joint in a step [J].
typedef struct mabd_affine_axis_work {
    mabd_real drives;            // of forces that follow from the state
    mabd_real dampers, friction; // taken
    mabd_real stored;            // change of spring and armature
    bool held;                   // has a drive that only lambda knows
} mabd_affine_axis_work;

// Parts of the force of a limited servo with gains at one end of a step.
MABD_FN void mabd_affine_book_servo(const mabd_control* c, mabd_real target, mabd_real x,
                                    mabd_real xd, mabd_real* drive, mabd_real* damper) {
    const mabd_real pull = c->drive_gain * (target - x), drag = c->drive_damping * xd;
    const mabd_real force = pull - drag;
    *drive = force > c->max_force ? c->max_force : force < -c->max_force ? -c->max_force : pull;
    *damper = fabs(force) > c->max_force ? 0 : drag;
}

// Add the work of control r.
MABD_FN void mabd_affine_book_axis(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                   int32_t r, mabd_affine_axis_work* work) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_control* c = &set->control[r];
    const size_t at = (size_t)joint->row_set * MABD_JOINT_MAX_ROWS + (size_t)r;
    const mabd_affine_control_value *v0 = &sim->controls_start[at], *v1 = &sim->controls[at];
    const int32_t k = joint->coordinate + r;
    const mabd_real x0 = sim->x1[k], x1 = sim->x[k], dx = x1 - x0;
    mabd_real rate0 = sim->xd1[k], rate1 = sim->xd[k], turned = dx;
    const bool limited = c->max_force > 0, gains = c->drive_gain > 0 || c->drive_damping > 0;
    if (limited && gains) {
        mabd_real drive0, drive1, damper0, damper1;
        mabd_affine_book_servo(c, v0->drive, x0, rate0, &drive0, &damper0);
        mabd_affine_book_servo(c, v1->drive, x1, rate1, &drive1, &damper1);
        work->drives += (drive0 + drive1) / 2 * dx;
        work->dampers += (damper0 + damper1) / 2 * dx;
    }
    work->held |= c->rigid || (limited && !gains);
    if (!c->rigid && c->gain > 0) {
        const mabd_real targets = v0->target + v1->target - 2 * c->offset;
        work->drives += (targets - c->gain * (x0 + x1)) / 2 * dx;
    }
    if (mabd_affine_is_damped_turn(set, r)) {
        const mabd_real* turn = sim->turn + 4 * (size_t)(joint->coordinate + set->turn);
        const int32_t axis = r - set->turn;
        turned = turn[3 + axis], rate1 = turn[6 + axis], rate0 = turn[9 + axis];
    }
    work->dampers += c->damping * (rate0 + rate1) / 2 * turned;
    work->friction += c->friction * (mabd_real)fabs(dx);
    work->stored += c->spring * ((x0 + x1) / 2 - c->rest) * dx;
    work->stored += c->armature * (rate1 - rate0) * (rate1 + rate0) / 2;
}

// ---- motors ------------------------------------------------------------------------------------

// Displacement of the coordinate of motor r in a step.
MABD_FN mabd_real mabd_affine_motor_path(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                         int32_t r) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_row* row = &set->motor[r].row;
    for (int32_t i = 0; i < set->control_count; i++) {
        const mabd_row* other = &set->control_row[i];
        const int32_t k = joint->coordinate + i;
        if (other->kind == row->kind && other->axis == row->axis) return sim->x[k] - sim->x1[k];
    }
    mabd_joint_view before, after;
    mabd_real zero = 0, x0, x1;
    mabd_affine_view(sim, joint, sim->q1, &before);
    mabd_affine_view(sim, joint, sim->q, &after);
    mabd_joint_coordinates(&before, 1, row, &zero, &x0);
    mabd_joint_coordinates(&after, 1, row, &x0, &x1);
    return x1 - x0;
}

// Mean of the force of motor r over a step.
MABD_FN mabd_real mabd_affine_motor_mean(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                         int32_t r) {
    const size_t at = (size_t)joint->row_set * MABD_JOINT_MAX_ROWS + (size_t)r;
    return (sim->motors_start[at] + sim->motors[at]) / 2;
}

// ---- scripts -----------------------------------------------------------------------------------

#define MABD_BOOK_MAX_ROWS (3 * MABD_JOINT_MAX_ROWS)

// Values of all rows of a joint: rigid ones, controls, motors. a, b: coordinates of its bodies
// (12). near: values that the angles of motors are nearest to, null = 0.
MABD_CALL void mabd_affine_book_values(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                       const mabd_real* a, const mabd_real* b,
                                       const mabd_real* near, mabd_real* values) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_joint_view view;
    mabd_model_joint_view(sim->model, joint, &view);
    view.Aa = mabd_m3_load(a), view.ta = mabd_v3_load(a + 9);
    view.Ab = mabd_m3_load(b), view.tb = mabd_v3_load(b + 9);
    const mabd_vec3 gap = mabd_joint_gap(&view);
    int32_t row = 0;
    for (; row < set->rigid_count; row++) {
        values[row] = mabd_row_value(&view, &set->rigid[row], gap);
    }
    if (set->control_count > 0) {
        mabd_joint_coordinates(&view, set->control_count, set->control_row,
                               sim->x + joint->coordinate, values + row);
        row += set->control_count;
    }
    for (int32_t r = 0; r < set->motor_count; r++, row++) {
        const mabd_real there = near ? near[row] : 0;
        mabd_joint_coordinates(&view, 1, &set->motor[r].row, &there, values + row);
    }
}

// Add d_s C of all rows to path, s: body b (is_b) or a.
MABD_CALL void mabd_affine_book_path(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                     int is_b, int32_t count, mabd_real* path) {
    const size_t a = 12 * (size_t)joint->a, b = 12 * (size_t)joint->b;
    for (int end = 0; end < 2; end++) { // of the other body
        const mabd_real* other = end ? sim->q : sim->q1;
        mabd_real from[MABD_BOOK_MAX_ROWS], to[MABD_BOOK_MAX_ROWS];
        mabd_affine_book_values(sim, joint, is_b ? other + a : sim->q1 + a,
                                is_b ? sim->q1 + b : other + b, NULL, from);
        mabd_affine_book_values(sim, joint, is_b ? other + a : sim->q + a,
                                is_b ? sim->q + b : other + b, from, to);
        for (int32_t r = 0; r < count; r++) path[r] += (to[r] - from[r]) / 2;
    }
}

// Work of the script of body b (is_b) or a of a joint. force (rows): lambda.
MABD_FN mabd_real mabd_affine_book_script(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                          int is_b, const mabd_real* force) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const int32_t rows = set->rigid_count + set->control_count;
    mabd_real path[MABD_BOOK_MAX_ROWS] = {0}, work = 0;
    mabd_affine_book_path(sim, joint, is_b, rows + set->motor_count, path);
    for (int32_t r = 0; r < rows; r++) work += force[r] * path[r];
    for (int32_t r = 0; r < set->motor_count; r++) {
        work -= mabd_affine_motor_mean(sim, joint, r) * path[rows + r];
    }
    return work;
}

// ---- a joint -----------------------------------------------------------------------------------

// Forces lambda of the rows of a joint over a step.
MABD_FN void mabd_affine_book_forces(const mabd_affine_sim* sim, int32_t index, int32_t rows,
                                     bool continued, mabd_real* force) {
    const int32_t slot = sim->model->plan->joint_slot[index];
    for (int32_t r = 0; r < rows; r++) {
        const int32_t at = slot >= 0 ? sim->model->plan->slot_row[slot] + r : -1;
        force[r] = at >= 0 ? sim->lambda[at] : 0;
        if (continued && at >= 0) force[r] = (force[r] + sim->lambda_last[at]) / 2;
    }
}

/// Add the work of a finished step to row `place` of booked joints. continued: the step is one
/// solve that continues the step before.
MABD_FN void mabd_affine_stage_book_joint(mabd_affine_sim* sim, int32_t place, bool continued) {
    const mabd_model* m = sim->model;
    const int32_t index = sim->booked_joint[place];
    const mabd_model_joint* joint = &m->joints[index];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    const int32_t rows = set->rigid_count + set->control_count;
    mabd_real* total = sim->work_joint + MABD_BOOK_JOINT_COLUMNS * (size_t)place;
    mabd_affine_axis_work work = {0, 0, 0, 0, false};
    mabd_real force[2 * MABD_JOINT_MAX_ROWS];
    for (int32_t r = 0; joint->coordinate >= 0 && r < set->control_count; r++) {
        mabd_affine_book_axis(sim, joint, r, &work);
    }
    const bool script_a = m->body_motion[joint->a] == MABD_MOTION_SCRIPTED,
               script_b = m->body_motion[joint->b] == MABD_MOTION_SCRIPTED;
    if (work.held || script_a || script_b) {
        mabd_affine_book_forces(sim, index, rows, continued, force);
    }
    if (work.held) {
        work.drives = work.stored + work.dampers + work.friction + total[MABD_BOOK_PUSH];
        for (int32_t r = 0; r < set->control_count; r++) {
            const int32_t k = joint->coordinate + r;
            work.drives -= force[set->rigid_count + r] * (sim->x[k] - sim->x1[k]);
        }
    }
    for (int32_t r = 0; r < set->motor_count; r++) {
        work.drives +=
            mabd_affine_motor_mean(sim, joint, r) * mabd_affine_motor_path(sim, joint, r);
    }
    total[MABD_BOOK_DRIVES] += work.drives;
    total[MABD_BOOK_DAMPERS] += work.dampers;
    total[MABD_BOOK_FRICTION] += work.friction;
    total[MABD_BOOK_IMPACTS] += total[MABD_BOOK_STOPS];
    total[MABD_BOOK_STOPS] = total[MABD_BOOK_PUSH] = 0;
    if (script_a) total[MABD_BOOK_SCRIPTS] += mabd_affine_book_script(sim, joint, 0, force);
    if (script_b) total[MABD_BOOK_SCRIPTS] += mabd_affine_book_script(sim, joint, 1, force);
}
