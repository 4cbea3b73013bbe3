// SPDX-License-Identifier: Apache-2.0
// Axes with force laws: stops, limited drives and dry friction.
//
// An axis is on one branch of its law at a time, and its row is that of the branch
// (rigid/axis_row.h). After each linear solve the branches move to those that the solution is on,
// and the solve is repeated at the same pose: the axes of a part are one linear complementarity
// problem there, with one solution, and bodies do not fly off on a wrong branch. Only then does the
// line search of newton.c move the poses. A solve begins with the branches at the extrapolated
// coordinates and the forces of the last one.
//
// A step in which a force or a rate jumps - an axis meets a stop, sticks or turns back, a drive
// reaches its target - is taken by implicit Euler, and the next one has no history (step.c). BDF2
// would lack h/2 times the jump of the force ever after, and methods with a history throw an axis
// back from its stop. A stop takes the speed away within two steps of Euler: in the first one the
// axis arrives, and its rate is the mean one on the way; in the second one it stays. So after such
// a step velocities across rigid rows and stops are taken away by impulses (kinematics.c), which
// also removes the part of first order that differences over a step of Euler leave there, and with
// which the next method would open the joints and the stops. To leave a
// stop, to slip or to give way is no jump: with a new start after each of them a rope between stops
// lost ten times the energy.

#include "formulation/quaternion/quaternion_axes.h"

#include "formulation/quaternion/kinematics.h"
#include "scene/signal.h"

#include <math.h>
#include <string.h>

/// An axis that moves by less than this many tolerances in a step has no impact and no jump.
#define IMPACT_TOLERANCES 10

/// An axis of a part with a law.
typedef struct law_axis {
    const mabd_quaternion_joint* j;
    const mabd_model_joint* joint;
    const mabd_control* control;
    int32_t r;          // of the controls of its joint
    int32_t coordinate; // of its coordinate
    bool turns;         // dampers and armature are in ball_damper.h
} law_axis;

// ---- all axes of a part ------------------------------------------------------------------------

// Step to the next axis with a law; axis->j null: the first one. False at the end.
static bool next_axis(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                      law_axis* axis) {
    const mabd_quaternion_joint* first = sim->joints + part->joint_first;
    int32_t i = axis->j ? (int32_t)(axis->j - first) : 0, r = axis->j ? axis->r + 1 : 0;
    for (; part->laws && i < part->joint_count; i++, r = 0) {
        const mabd_model_joint* joint = &sim->model->joints[first[i].joint];
        const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
        for (; set->laws && r < set->control_count; r++) {
            if (!set->control[r].law) continue;
            *axis = (law_axis){&first[i],
                               joint,
                               &set->control[r],
                               r,
                               joint->coordinate + r,
                               mabd_quaternion_is_damped_turn(set, r)};
            return true;
        }
    }
    return false;
}

// Number of the row of an axis over all parts.
static int32_t row_of(const mabd_quaternion_sim* sim, const law_axis* axis) {
    return axis->j->row + sim->model->row_sets[axis->joint->row_set].rigid_count + axis->r;
}

void mabd_quaternion_mark_laws(mabd_quaternion_sim* sim) {
    for (int32_t p = 0; p < sim->part_count; p++) {
        mabd_quaternion_part* part = &sim->parts[p];
        law_axis axis = {0};
        part->laws = true;
        part->laws = next_axis(sim, part, &axis);
    }
}

// ---- forces ------------------------------------------------------------------------------------

// Target of the servo that is a part of the line of a law; a drive has its own box.
static mabd_real base_force(const mabd_quaternion_sim* sim, const mabd_control* c, int32_t k) {
    return c->offset + (c->drive ? 0 : c->gain * sim->input[k]);
}

// The law of an axis in a solve with the given past.
static mabd_axis_law law_with(const mabd_quaternion_sim* sim, const law_axis* axis,
                              const mabd_axis_past* past) {
    const int32_t k = axis->coordinate;
    return mabd_axis_law_of(axis->control, axis->turns, base_force(sim, axis->control, k),
                            sim->input[k], past);
}

static mabd_axis_law law_of(const mabd_quaternion_solve* s, const law_axis* axis) {
    const mabd_real* x = s->sim->past.x + 2 * (size_t)axis->coordinate;
    const mabd_axis_past past = {s->bh, x[0], x[1]};
    return law_with(s->sim, axis, &past);
}

// Derivative of a target by the time, first or second.
static mabd_real target_slope(const mabd_quaternion_solve* s, const mabd_control* c, int32_t k,
                              bool second) {
    const mabd_signal* signal = c->drive ? c->drive : c->servo;
    if (!signal || s->sim->inputs.target_set[k]) return 0;
    return second ? mabd_signal_bend(signal, s->time) : mabd_signal_rate(signal, s->time);
}

// Add the force of the drive of a law; true if it holds the axis, with x'' in *bend.
static bool add_drive(const mabd_quaternion_solve* s, const mabd_control* c, int32_t k, mabd_real x,
                      mabd_real rate, int branch, mabd_real* force, mabd_real* bend) {
    if (!(c->max_force > 0)) return false;
    if (branch != 0) {
        *force -= (mabd_real)branch * c->max_force;
    } else if (c->drive_gain > 0 || c->drive_damping > 0) {
        *force += c->drive_gain * (s->sim->input[k] - x) - c->drive_damping * rate;
    } else {
        *bend = target_slope(s, c, k, !c->drive_rate);
        return true;
    }
    return false;
}

mabd_real mabd_quaternion_control_force(const mabd_quaternion_solve* s, const mabd_control* c,
                                        int32_t k, mabd_real x, mabd_real rate, bool* held,
                                        mabd_real* bend) {
    mabd_real force = base_force(s->sim, c, k) - c->stiffness * x - c->damping * rate;
    *held = c->rigid, *bend = 0;
    if (c->rigid) *bend = target_slope(s, c, k, true);
    if (!c->law) return force;
    const mabd_axis_branch branch = s->sim->axes[k].branch;
    if (branch.stop != 0) {
        *held = true;
        return force;
    }
    *held = add_drive(s, c, k, x, rate, branch.box[0], &force, bend);
    if (branch.box[1] != 0) {
        force -= (mabd_real)branch.box[1] * c->friction;
    } else if (c->friction > 0) {
        *held = true;
    }
    return force;
}

bool mabd_quaternion_is_held(const mabd_quaternion_solve* s, const mabd_control* c, int32_t k,
                             mabd_real* to) {
    *to = 0;
    if (c->law && s->sim->axes[k].found.stop != 0) return true;
    const bool gains = c->drive_gain > 0 || c->drive_damping > 0;
    if (!c->rigid && (!c->law || gains || c->max_force < (mabd_real)INFINITY)) return false;
    *to = c->drive_rate ? s->sim->input[k] : target_slope(s, c, k, false);
    return true;
}

// Force of a drive that holds its axis: what the row does besides the rest of its line.
static mabd_quaternion_effort effort_of_hold(const mabd_control* c, bool turns, int side,
                                             const mabd_real* x, mabd_real lambda) {
    const mabd_real damping = turns ? 0 : c->damping;
    mabd_quaternion_effort out = {.by_lambda = 1, .by_x = c->spring, .by_rate = damping};
    out.force = lambda + c->spring * (x[0] - c->rest) + damping * x[1];
    out.by_spring = x[0] - c->rest, out.by_rest = -c->spring, out.by_damping = turns ? 0 : x[1];
    if (c->law && c->friction > 0) {
        out.force += (mabd_real)side * c->friction, out.by_friction = (mabd_real)side;
    }
    return out;
}

mabd_quaternion_effort mabd_quaternion_effort_of(const mabd_quaternion_sim* sim, int32_t index,
                                                 int32_t r, mabd_real lambda) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_control* c = &set->control[r];
    const int32_t k = joint->coordinate + r;
    const mabd_real* x = sim->now.x + 2 * (size_t)k;
    const mabd_axis_branch branch = sim->branch[k];
    const mabd_real gain = c->drive ? c->drive_gain : c->gain;
    const mabd_real damping = c->drive ? c->drive_damping : c->gain_damping;
    mabd_quaternion_effort out = {0};
    if (!c->servo && !c->drive) return out;
    const bool holds = c->rigid || !(gain > 0 || damping > 0);
    const mabd_real pull = gain * (sim->input[k] - x[0]) - damping * x[1];
    int side = c->drive ? branch.box[0] : 0;
    if (c->drive && branch.stop != 0) { // the law does not tell its parts apart at a stop
        const mabd_real ahead = c->drive_rate ? sim->input[k] : sim->input[k] - x[0];
        if (holds || fabs(pull) > c->max_force) side = (holds ? ahead : pull) > 0 ? -1 : 1;
    }
    if (side != 0) {
        out.force = -(mabd_real)side * c->max_force;
        return out;
    }
    if (holds) {
        return effort_of_hold(c, mabd_quaternion_is_damped_turn(set, r), branch.box[1], x, lambda);
    }
    out.force = pull;
    out.by_x = -gain, out.by_rate = -damping, out.by_target = gain;
    return out;
}

// ---- rows --------------------------------------------------------------------------------------

bool mabd_quaternion_law_row(const mabd_quaternion_sim* sim, int32_t k, mabd_real* C,
                             mabd_real* compliance) {
    const mabd_axis_search* axis = &sim->axes[k];
    if (axis->line.flat) { // own (lambda - force) = 0, and lambda has no part in the matrix
        *C = -axis->own * mabd_axis_flat_force(axis);
        *compliance = axis->own;
        return true;
    }
    *C -= axis->line.x_star;
    *compliance = axis->line.compliance;
    return false;
}

// J M^-1 J' of a row on both bodies of a joint.
static mabd_real compliance_of(const mabd_quaternion_sim* sim, const law_axis* axis,
                               const mabd_rigid_row* J) {
    const mabd_model* m = sim->model;
    const int32_t bodies[2] = {axis->joint->a, axis->joint->b};
    mabd_real sum = 0;
    for (int side = 0; side < 2; side++) {
        const mabd_rigid_wrench* w = side ? &J->b : &J->a;
        if (sim->body_slot[bodies[side]] < 0) continue;
        const mabd_model_class* c = &m->classes[m->body_class[bodies[side]]];
        const mabd_vec3 t = w->t, over = mabd_v3(1 / c->principal[0], 1 / c->principal[1],
                                                 1 / c->principal[2]);
        sum += mabd_v3_dot(w->f, w->f) / c->material.mass +
               mabd_v3_dot(t, mabd_rigid_diagonal_mul(over, t));
    }
    return sum > 0 ? sum : 1;
}

// Compliance of the single coordinate of an axis over `bh`, and the coordinate at sim->pose. A
// damped rotation yields by at least the inverse of twice its damper: the others may move with it.
static mabd_real own_compliance(const mabd_quaternion_solve* s, const law_axis* axis, mabd_real bh,
                                mabd_real* x) {
    mabd_real C[2 * MABD_JOINT_MAX_ROWS];
    mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
    const int32_t row = row_of(s->sim, axis) - axis->j->row;
    mabd_quaternion_rows(s, axis->j, C, J);
    *x = C[row];
    const mabd_real bodies = bh * bh * compliance_of(s->sim, axis, &J[row]);
    const mabd_real damper = (axis->control->damping + axis->control->armature / bh) / bh;
    return axis->turns ? bodies / (1 + bodies * damper / 2) : bodies;
}

// ---- branches ----------------------------------------------------------------------------------

void mabd_quaternion_take_branches(const mabd_quaternion_solve* s,
                                   const mabd_quaternion_node* node) {
    mabd_quaternion_sim* sim = s->sim;
    law_axis axis = {0};
    while (next_axis(sim, s->part, &axis)) {
        const int32_t k = axis.coordinate;
        if (s->part->has_branches) {
            sim->axes[k].branch = sim->branch[k];
            continue;
        }
        const mabd_real *now = node->x + 2 * (size_t)k, h = sim->def.h;
        const mabd_axis_past past = {h, now[0], now[1]};
        const mabd_axis_law law = law_with(sim, &axis, &past);
        mabd_real x;
        sim->axes[k].branch =
            mabd_axis_find(&law, own_compliance(s, &axis, h, &x), now[0] + h * now[1]);
    }
}

void mabd_quaternion_begin_impacts(const mabd_quaternion_solve* s) {
    law_axis axis = {0};
    while (next_axis(s->sim, s->part, &axis)) {
        mabd_axis_search* own = &s->sim->axes[axis.coordinate];
        own->found = own->branch;
    }
}

// The multiplier of a flat branch is known: its row has no entries of bodies in the matrix.
static void set_multiplier(const mabd_quaternion_solve* s, const law_axis* axis) {
    const mabd_axis_search* own = &s->sim->axes[axis->coordinate];
    if (!own->line.flat) return;
    s->sim->multiplier[row_of(s->sim, axis)] = s->bh * s->bh * mabd_axis_flat_force(own);
}

void mabd_quaternion_start_axes(const mabd_quaternion_solve* s) {
    law_axis axis = {0};
    while (next_axis(s->sim, s->part, &axis)) {
        mabd_axis_search* own = &s->sim->axes[axis.coordinate];
        const mabd_axis_law law = law_of(s, &axis);
        const mabd_real force = s->sim->multiplier[row_of(s->sim, &axis)] / (s->bh * s->bh);
        mabd_real x;
        const mabd_real compliance = own_compliance(s, &axis, s->bh, &x);
        mabd_axis_search_start(&law, compliance,
                               mabd_axis_find_by_force(&law, compliance, x, force), own);
        set_multiplier(s, &axis);
    }
}

// Change of a coordinate by the solution of a linear solve: J dx.
static mabd_real displacement(const mabd_quaternion_solve* s, const law_axis* axis) {
    const mabd_quaternion_joint* j = axis->j;
    const int32_t slots[2] = {j->slot_a, j->slot_b};
    mabd_real C[2 * MABD_JOINT_MAX_ROWS], sum = 0;
    mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
    mabd_quaternion_rows(s, j, C, J);
    const mabd_rigid_row* row = &J[row_of(s->sim, axis) - j->row];
    for (int side = 0; side < 2; side++) {
        const mabd_rigid_wrench* w = side ? &row->b : &row->a;
        if (slots[side] < 0) continue;
        const mabd_real* dx = s->sim->y + s->part->vector_first + 6 * (size_t)slots[side];
        sum += mabd_v3_dot(w->f, mabd_v3_load(dx)) + mabd_v3_dot(w->t, mabd_v3_load(dx + 3));
    }
    return sum;
}

// Coordinate and force of an axis after a linear solve: exact on its branch.
static void read_axis(const mabd_quaternion_solve* s, const law_axis* axis, mabd_real* x,
                      mabd_real* force) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_axis_search* own = &sim->axes[axis->coordinate];
    const int32_t row = row_of(sim, axis);
    const mabd_real* y = sim->y + s->part->vector_first + 6 * (size_t)s->part->body_count;
    *force = y[row - s->part->row_first] / (s->bh * s->bh);
    if (own->line.flat) {
        *force = mabd_axis_flat_force(own);
        *x = sim->row_x[row] + displacement(s, axis);
    } else {
        *x = own->line.x_star - own->line.compliance * *force;
    }
}

static void move_axis(const mabd_quaternion_solve* s, const law_axis* axis) {
    const mabd_axis_law law = law_of(s, axis);
    mabd_axis_search_move(&law, &s->sim->axes[axis->coordinate]);
    set_multiplier(s, axis);
}

bool mabd_quaternion_move_axes(const mabd_quaternion_solve* s, bool first, int32_t* joint) {
    mabd_quaternion_sim* sim = s->sim;
    law_axis axis = {0}, last = {0};
    int32_t changed = 0;
    while (next_axis(sim, s->part, &axis)) {
        mabd_axis_search* own = &sim->axes[axis.coordinate];
        const mabd_axis_law law = law_of(s, &axis);
        mabd_real x, force;
        read_axis(s, &axis, &x, &force);
        mabd_axis_search_by_force(&law, own, x, force, 0);
        if (own->moves) changed++, last = axis;
    }
    if (changed == 0) return false;
    *joint = last.j->joint;
    if (!mabd_axis_moves_all(&s->part->stalls, first, changed)) {
        move_axis(s, &last);
        return true;
    }
    for (axis = (law_axis){0}; next_axis(sim, s->part, &axis);) {
        if (sim->axes[axis.coordinate].moves) move_axis(s, &axis);
    }
    return true;
}

bool mabd_quaternion_axes_settled(const mabd_quaternion_solve* s, const mabd_real* multiplier,
                                  int32_t* joint) {
    const mabd_quaternion_sim* sim = s->sim;
    law_axis axis = {0};
    while (next_axis(sim, s->part, &axis)) {
        const int32_t row = row_of(sim, &axis);
        const mabd_axis_law law = law_of(s, &axis);
        mabd_axis_search own = sim->axes[axis.coordinate];
        own.solved = false; // rho stays
        mabd_axis_search_by_force(&law, &own, sim->row_x[row], multiplier[row] / (s->bh * s->bh),
                                  sim->def.quaternion.newton_tolerance);
        *joint = axis.j->joint;
        if (own.moves) return false;
    }
    return true;
}

// ---- steps -------------------------------------------------------------------------------------

static mabd_real least_way(const mabd_quaternion_sim* sim) {
    return IMPACT_TOLERANCES * sim->def.quaternion.newton_tolerance;
}

bool mabd_quaternion_meets_stop(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part) {
    law_axis axis = {0};
    while (next_axis(sim, part, &axis)) {
        const mabd_real* x = sim->now.x + 2 * (size_t)axis.coordinate;
        if (axis.control->limited &&
            mabd_axis_meets_stop(axis.control, x[0], sim->def.h * x[1], least_way(sim))) {
            return true;
        }
    }
    return false;
}

bool mabd_quaternion_changed_branch(const mabd_quaternion_solve* s) {
    const mabd_quaternion_sim* sim = s->sim;
    law_axis axis = {0};
    while (s->part->has_branches && next_axis(sim, s->part, &axis)) {
        const int32_t k = axis.coordinate;
        const mabd_axis_law law = law_of(s, &axis);
        const mabd_real way = sim->row_x[row_of(sim, &axis)] - sim->now.x[2 * (size_t)k];
        if (fabs(way) > least_way(sim) &&
            mabd_axis_jumps_between(&law, sim->branch[k], sim->axes[k].branch)) {
            return true;
        }
    }
    return false;
}

bool mabd_quaternion_axes_kinked(const mabd_quaternion_solve* s) {
    const mabd_quaternion_sim* sim = s->sim;
    law_axis axis = {0};
    while (next_axis(sim, s->part, &axis)) {
        const int32_t k = axis.coordinate, row = row_of(sim, &axis);
        const mabd_axis_search* own = &sim->axes[k];
        const mabd_axis_law law = law_of(s, &axis);
        const mabd_real force = sim->multiplier[row] / (s->bh * s->bh);
        const bool changed =
            s->part->has_branches && memcmp(&own->branch, &sim->branch[k], sizeof own->branch) != 0;
        if (changed || mabd_axis_is_edge(&law, own->own, sim->row_x[row], force, least_way(sim))) {
            return true;
        }
    }
    return false;
}

void mabd_quaternion_copy_branches(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                                   mabd_axis_branch* to) {
    law_axis axis = {0};
    while (next_axis(sim, part, &axis)) to[axis.coordinate] = sim->axes[axis.coordinate].branch;
}

void mabd_quaternion_set_branches(const mabd_quaternion_solve* s, const mabd_axis_branch* from) {
    law_axis axis = {0};
    while (next_axis(s->sim, s->part, &axis)) {
        const mabd_axis_law law = law_of(s, &axis);
        mabd_real x;
        const mabd_real own = own_compliance(s, &axis, s->bh, &x);
        mabd_axis_search_start(&law, own, from[axis.coordinate], &s->sim->axes[axis.coordinate]);
    }
}

void mabd_quaternion_keep_branches(mabd_quaternion_sim* sim) {
    for (int32_t p = 0; p < sim->part_count; p++) {
        mabd_quaternion_copy_branches(sim, &sim->parts[p], sim->branch);
        sim->parts[p].has_branches = true;
    }
}
