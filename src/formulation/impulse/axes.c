// SPDX-License-Identifier: Apache-2.0
// Rows of axes with stops, limited drives or friction; with the spring, damper and armature of the
// same axis they are one force law of the coordinate (joint/axis_law.h), solved exactly in each
// sweep.
//
// In a substep the coordinate moves by D = h (J V + J g). What acts on the axis is a graph of the
// multiplier (force -lambda on x) over D, by implicit Euler; an impulse p = -h lambda on the row
// changes D by h K p, so the axis meets the rest of the system as the line
//
//   D + h^2 K lambda = z
//
// and the point of the graph on it is the new impulse. That is more than rows one by one
// ([SI eq. 33, 82, 125] clamp each): a stop, a drive and friction on one axis end in one visit. A
// stop is a wall for D itself, at the distance that is left, so an axis arrives and does not
// overshoot ([SI eq. 67, 107] act on what is violated: 5 mm at 1 m/s and 10 ms). The distance that
// is violated all the same ends as errors of joints do. One sense holds for coordinates, stops and
// drives ([SI eq. 109] against [SI eq. 122]).
//
// Relaxation has the same law, but stops at the new pose: what arrives loses its speed.

#include "formulation/impulse/impulse_kernel.h"
#include "formulation/impulse/impulse_limits.h"
#include "formulation/impulse/impulse_sim.h"
#include "rigid/joint_coordinates.h"
#include "rigid/twist.h"

#include <math.h>
#include <string.h>

int32_t mabd_impulse_axis_rows(const mabd_row_set* set) {
    int32_t rows = 0;
    for (int32_t r = 0; r < set->control_count; r++) rows += set->control[r].law;
    return rows;
}

// ---- inputs and coordinates --------------------------------------------------------------------

mabd_real mabd_impulse_input(const mabd_impulse_sim* sim, const mabd_model_joint* joint, int32_t r,
                             mabd_real part) {
    const mabd_control* c = &sim->model->row_sets[joint->row_set].control[r];
    const size_t k = (size_t)(joint->coordinate + r);
    const mabd_real time = sim->from + part * sim->h;
    if (sim->inputs.target_set[k]) {
        const mabd_real share = (time - sim->time) / sim->def.h;
        return mabd_rigid_held_target(&sim->inputs, k, mabd_axis_is_position(c), share);
    }
    return mabd_rigid_signal(c->drive ? c->drive : c->servo, sim->from, sim->h, time);
}

static mabd_rigid_twist twist_of(const mabd_impulse_sim* sim, int32_t body) {
    const mabd_impulse_line* line = &sim->lines[body];
    mabd_rigid_twist u;
    u.v = mabd_v3_load(line->v);
    u.w = mabd_m3_tmul(sim->poses[body].R, mabd_v3_load(line->w));
    return u;
}

void mabd_impulse_read_coordinates(mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; m->coordinate_count > 0 && i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        mabd_real x[2 * MABD_JOINT_MAX_ROWS];
        if (joint->coordinate < 0) continue;
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        mabd_real* own = sim->x + 2 * (size_t)joint->coordinate;
        const mabd_joint_view view = mabd_rigid_view(m, joint, sim->poses);
        mabd_rigid_control_coordinates(set, &view, twist_of(sim, joint->a), twist_of(sim, joint->b),
                                       own, x);
        memcpy(own, x, 2 * (size_t)set->control_count * sizeof *x);
    }
}

// ---- laws --------------------------------------------------------------------------------------

// Distance to a stop that an axis beyond it moves back in a substep.
static mabd_real way_back(const mabd_impulse_sim* sim, mabd_real beyond) {
    return sim->h * sim->soft.rate * beyond;
}

// Force of the line of control r of a joint at the start of the substep.
static mabd_real line_force(const mabd_impulse_sim* sim, const mabd_model_joint* joint, int32_t r) {
    const mabd_control* c = &sim->model->row_sets[joint->row_set].control[r];
    const mabd_real x = sim->x[2 * (size_t)(joint->coordinate + r)];
    const mabd_real servo = c->gain > 0 ? c->gain * mabd_impulse_input(sim, joint, r, 1) : 0;
    return c->law || c->rigid ? 0 : c->offset + servo - c->stiffness * x;
}

// Law of the angular velocity of a rotation vector phi about axis r of the joint frame on b: its
// dampers and armature act there. The springs f on phi have the torque N' f there, with N of
// row_jacobian.h; their stiffness is taken as that of the angle about the axis.
static mabd_axis_law turn_law(const mabd_impulse_sim* sim, const mabd_model_joint* joint, int32_t r,
                              const mabd_axis_past* past) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_control* own = &set->control[r];
    mabd_real phi[3] = {0, 0, 0}, f[3] = {0, 0, 0}, stiffness = 0;
    for (int32_t k = set->turn; k < set->turn + 3; k++) {
        const int axis = set->control_row[k].axis;
        phi[axis] = sim->x[2 * (size_t)(joint->coordinate + k)];
        f[axis] = line_force(sim, joint, k);
        stiffness += set->control[k].law ? 0 : set->control[k].stiffness;
    }
    const mabd_mat3 N = mabd_so3_log_gradients(mabd_v3_load(phi));
    const mabd_vec3 torque = mabd_m3_tmul(N, mabd_v3_load(f));
    const mabd_control turn = {.damping = own->damping,
                               .armature = own->armature,
                               .stiffness = own->law ? 0 : own->stiffness};
    mabd_axis_law law =
        mabd_axis_law_of(&turn, false, mabd_v3_get(torque, set->control_row[r].axis), 0, past);
    if (!(law.slope > 0)) law.slope = stiffness * MABD_IMPULSE_SLOPE_LEAST; // a torque alone
    return law;
}

mabd_axis_law mabd_impulse_law(const mabd_impulse_sim* sim, const mabd_model_joint* joint,
                               int32_t r, mabd_impulse_kind kind) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_control* c = &set->control[r];
    const mabd_real* x = sim->x + 2 * (size_t)(joint->coordinate + r);
    const mabd_axis_past past = {sim->h, 0, x[1]};
    if (kind == MABD_IMPULSE_TURN) return turn_law(sim, joint, r, &past);
    const bool turns = set->damped && set->control_row[r].kind == MABD_ROW_VECTOR;
    const bool driven = c->drive || c->gain > 0;
    const mabd_real input = driven ? mabd_impulse_input(sim, joint, r, 1) : 0;
    const mabd_real servo = c->drive ? 0 : c->gain * input;
    const mabd_real base = c->offset + servo - c->stiffness * x[0];
    const bool position = c->drive && !c->drive_rate;
    return mabd_axis_law_of(c, turns, base, position ? input - x[0] : input, &past);
}

// A drive without gains that holds a position ends its error as a rigid servo does (rows.c).
static void soften_drive(const mabd_impulse_sim* sim, const mabd_impulse_axis* axis,
                         mabd_axis_law* law) {
    const mabd_model_joint* joint = &sim->model->joints[axis->joint];
    const mabd_control* c = &sim->model->row_sets[joint->row_set].control[axis->control];
    if (!c->drive || c->drive_rate || law->box[0].compliance > 0) return;
    const mabd_real x = sim->x[2 * (size_t)(joint->coordinate + axis->control)];
    const mabd_real start = mabd_impulse_input(sim, joint, axis->control, 0);
    const mabd_real end = mabd_impulse_input(sim, joint, axis->control, 1);
    law->box[0].at = end - start + way_back(sim, start - x);
}

// Armature I resists the change of J V alone, as in blocks (rows.c): its force has D/h - J g, the
// rate without the gyroscopic part, where the law of the coordinate has D/h. (With D/h its force
// I J g/h is one that no h makes smaller: a tumbling pair with a stop that it never meets gained
// energy.)
static mabd_real armature_shift(const mabd_impulse_sim* sim, const mabd_row_set* set,
                                const mabd_impulse_axis* axis) {
    const bool turns =
        set->damped && set->control_row[axis->control].kind == MABD_ROW_VECTOR; // acts in a block
    return turns ? 0 : set->control[axis->control].armature * axis->shift / sim->h;
}

static void set_law(mabd_impulse_sim* sim, mabd_impulse_axis* axis) {
    const mabd_model_joint* joint = &sim->model->joints[axis->joint];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_control* c = &set->control[axis->control];
    const mabd_real x = sim->x[2 * (size_t)(joint->coordinate + axis->control)];
    axis->law = mabd_impulse_law(sim, joint, axis->control, MABD_IMPULSE_LINE);
    axis->law.level += armature_shift(sim, set, axis);
    soften_drive(sim, axis, &axis->law);
    axis->lower = c->lower - x, axis->upper = c->upper - x;
    axis->law.lower = axis->lower > 0 ? way_back(sim, axis->lower) : axis->lower;
    axis->law.upper = axis->upper < 0 ? way_back(sim, axis->upper) : axis->upper;
}

// ---- rows --------------------------------------------------------------------------------------

static void set_row(mabd_impulse_sim* sim, mabd_impulse_axis* axis, const mabd_impulse_row* J) {
    axis->J = *J;
    axis->K = mabd_impulse_compliance(sim, axis->a, axis->b, J, J);
    axis->shift = mabd_v3_dot(J->ta, sim->shift[axis->a]) + mabd_v3_dot(J->tb, sim->shift[axis->b]);
    const mabd_impulse_pair V =
        mabd_impulse_load(&sim->begin_lines[axis->a], &sim->begin_lines[axis->b]);
    axis->before = mabd_impulse_rate(J, &V);
    set_law(sim, axis);
}

static void set_joint(mabd_impulse_sim* sim, const mabd_impulse_joint* j) {
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_rigid_view(sim->model, joint, sim->poses);
    mabd_real near[MABD_JOINT_MAX_ROWS], x[MABD_JOINT_MAX_ROWS];
    mabd_rigid_row rows[MABD_JOINT_MAX_ROWS];
    for (int32_t r = 0; r < set->control_count; r++) {
        near[r] = sim->x[2 * (size_t)(joint->coordinate + r)];
    }
    mabd_rigid_joint_rows(&view, set->control_count, set->control_row, near, x, rows);
    mabd_impulse_axis* axis = sim->axes + j->axis;
    for (int32_t r = 0; r < set->control_count; r++) {
        if (!set->control[r].law) continue;
        const mabd_impulse_row J = mabd_impulse_world_row(sim, j->a, j->b, &rows[r]);
        set_row(sim, axis++, &J);
    }
}

void mabd_impulse_set_axes(mabd_impulse_sim* sim) {
    for (int32_t i = 0; sim->axis_count > 0 && i < sim->joint_count; i++) {
        if (sim->joints[i].axis_count > 0) set_joint(sim, &sim->joints[i]);
    }
}

void mabd_impulse_number_axes(mabd_impulse_sim* sim) {
    for (int32_t i = 0; i < sim->joint_count; i++) {
        const mabd_impulse_joint* j = &sim->joints[i];
        const mabd_row_set* set = &sim->model->row_sets[sim->model->joints[j->joint].row_set];
        mabd_impulse_axis* axis = sim->axes + j->axis;
        for (int32_t r = 0; j->axis_count > 0 && r < set->control_count; r++) {
            if (!set->control[r].law) continue;
            axis->a = j->a, axis->b = j->b, axis->joint = j->joint;
            axis->control = r;
            axis++;
        }
    }
}

void mabd_impulse_move_axes(mabd_impulse_sim* sim) {
    for (int32_t i = 0; i < sim->axis_count; i++) {
        mabd_impulse_axis* axis = &sim->axes[i];
        const mabd_impulse_pair V = mabd_impulse_load(&sim->lines[axis->a], &sim->lines[axis->b]);
        const mabd_real shift = sim->h * axis->shift;
        const mabd_real D = sim->h * mabd_impulse_rate(&axis->J, &V) + shift;
        axis->moved = D;
        const mabd_real below = D - axis->lower, above = axis->upper - D; // distances now
        if (axis->law.lower > -(mabd_real)INFINITY)
            axis->law.lower = shift - (below > 0 ? below : 0);
        if (axis->law.upper < (mabd_real)INFINITY)
            axis->law.upper = shift + (above > 0 ? above : 0);
    }
}
