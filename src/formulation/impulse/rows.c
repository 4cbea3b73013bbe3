// SPDX-License-Identifier: Apache-2.0
// Rows of joints at the start of a substep: J, the compliance J M^-1 J', and biases.
//
// Rows are those of rigid/row_jacobian.h, with torques turned to world axes. Where all three
// rotations are locked the rows are twice the vector part of the quaternion of the joint frames, in
// world axes, with J = (0, -E, 0, E): cross rows lose the direction at a right angle, and
// differences of Euler angles [SI eq. 57, 131] at any large one.
//
// Forces of point rows act on both bodies at the anchor of b, where the joint is open too: their
// rate is that of the opening as body a sees it, and angular momentum is kept. ([SI eq. 82] pushes
// at the two centres and leaves a couple.)
//
// Biases of a block (b of impulse_kernel.h):
//
//   rigid row     rate C + J g                    relaxation: 0
//   rigid servo   rate (x - target(t)) - (target(t + h) - target(t))/h + J g
//                                                 relaxation: without its error
//
//   line          forces of the axis by implicit Euler (axes.c), also in relaxation
//
// (Not the whole error of a servo in one substep: sweeps that have not converged leave one, and a
// four-bar with a driven crank then gained energy without bound.)

#include "formulation/impulse/impulse_kernel.h"
#include "formulation/impulse/impulse_limits.h"
#include "formulation/impulse/impulse_sim.h"
#include "math/quat.h"
#include "rigid/twist.h"

#include <string.h>

static bool is_turn(const mabd_row_set* set, int32_t r) {
    return set->damped && set->control_row[r].kind == MABD_ROW_VECTOR;
}

// True if springs act on a damped rotation vector: they are in the rows of its dampers.
static bool has_turn_springs(const mabd_row_set* set) {
    bool has = false;
    for (int32_t r = 0; r < set->control_count; r++) {
        has |= is_turn(set, r) && !set->control[r].law && set->control[r].stiffness > 0;
    }
    return has;
}

int32_t mabd_impulse_block_controls(const mabd_row_set* set,
                                    mabd_impulse_control rows[MABD_IMPULSE_MAX_ROWS]) {
    const bool sprung = has_turn_springs(set);
    int32_t n = 0;
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        const bool moves = c->damping > 0 || c->armature > 0, turns = is_turn(set, r);
        if (c->rigid) rows[n++] = (mabd_impulse_control){MABD_IMPULSE_SERVO, r};
        if (turns && !c->rigid && (moves || sprung)) {
            rows[n++] = (mabd_impulse_control){MABD_IMPULSE_TURN, r};
        } else if (!c->rigid && !c->law && (c->stiffness > 0 || moves)) {
            rows[n++] = (mabd_impulse_control){MABD_IMPULSE_LINE, r};
        }
    }
    return n;
}

int32_t mabd_impulse_block_width(const mabd_row_set* set) {
    mabd_impulse_control rows[MABD_IMPULSE_MAX_ROWS];
    return set->rigid_count + mabd_impulse_block_controls(set, rows);
}

// ---- J and C -----------------------------------------------------------------------------------

mabd_impulse_row mabd_impulse_world_row(const mabd_impulse_sim* sim, int32_t a, int32_t b,
                                        const mabd_rigid_row* J) {
    mabd_impulse_row row;
    row.f = J->b.f;
    row.ta = mabd_m3_mul(sim->poses[a].R, J->a.t);
    row.tb = mabd_m3_mul(sim->poses[b].R, J->b.t);
    return row;
}

// Rows that lock the whole rotation.
static void lock_rows(const mabd_joint_view* view, mabd_real* C, mabd_impulse_row* J) {
    const mabd_quat s = mabd_q_from_matrix(mabd_joint_frames(view)); // s.w >= 0
    const mabd_mat3 B = mabd_m3_product(view->Aa, view->Fa);
    const mabd_vec3 zero = mabd_v3(0, 0, 0);
    mabd_v3_store(mabd_m3_mul(B, mabd_v3(2 * s.x, 2 * s.y, 2 * s.z)), C);
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 e = mabd_v3(k == 0, k == 1, k == 2);
        J[k].f = zero, J[k].ta = mabd_v3_scale(-1, e), J[k].tb = e;
    }
}

// Row of the relative angular velocity about an axis of the joint frame on b.
static mabd_impulse_row turn_row(const mabd_joint_view* view, int axis) {
    mabd_impulse_row J;
    J.f = mabd_v3(0, 0, 0);
    J.tb = mabd_m3_mul(view->Ab, mabd_m3_column(&view->Fb, axis));
    J.ta = mabd_v3_scale(-1, J.tb);
    return J;
}

void mabd_impulse_joint_rows(const mabd_impulse_sim* sim, const mabd_impulse_joint* joint,
                             mabd_real* C, mabd_impulse_row* J) {
    const mabd_model_joint* own = &sim->model->joints[joint->joint];
    const mabd_row_set* set = &sim->model->row_sets[own->row_set];
    const mabd_joint_view view = mabd_rigid_view(sim->model, own, sim->poses);
    const int32_t plain = set->rigid_count - (joint->locked ? 3 : 0);
    const mabd_vec3 gap = mabd_joint_gap(&view);
    mabd_rigid_row rows[MABD_JOINT_MAX_ROWS];
    mabd_rigid_joint_rows(&view, plain, set->rigid, NULL, C, rows);
    for (int32_t r = 0; r < plain; r++) {
        J[r] = mabd_impulse_world_row(sim, own->a, own->b, &rows[r]);
        if (set->rigid[r].kind != MABD_ROW_POINT) continue;
        J[r].ta = mabd_v3_sub(J[r].ta, mabd_v3_cross(gap, J[r].f));
    }
    if (joint->locked) lock_rows(&view, C + plain, J + plain);
    mabd_impulse_control more[MABD_IMPULSE_MAX_ROWS];
    const int32_t count = mabd_impulse_block_controls(set, more);
    for (int32_t k = 0, at = set->rigid_count; k < count; k++, at++) {
        const mabd_row* row = &set->control_row[more[k].control];
        const mabd_real* near = sim->x + 2 * (size_t)(own->coordinate + more[k].control);
        if (more[k].kind == MABD_IMPULSE_TURN) {
            C[at] = 0, J[at] = turn_row(&view, row->axis);
            continue;
        }
        mabd_rigid_joint_rows(&view, 1, row, near, &C[at], rows);
        J[at] = mabd_impulse_world_row(sim, own->a, own->b, rows);
    }
}

// ---- K -----------------------------------------------------------------------------------------

mabd_real mabd_impulse_compliance(const mabd_impulse_sim* sim, int32_t a, int32_t b,
                                  const mabd_impulse_row* J, const mabd_impulse_row* K) {
    const mabd_real masses = sim->lines[a].inverse_mass + sim->lines[b].inverse_mass;
    return masses * mabd_v3_dot(J->f, K->f) +
           mabd_v3_dot(J->ta, mabd_sym3_mul(sim->inertia[a], K->ta)) +
           mabd_v3_dot(J->tb, mabd_sym3_mul(sim->inertia[b], K->tb));
}

// ---- blocks ------------------------------------------------------------------------------------

// Biases of a rigid servo, whose coordinate is x.
static void set_servo(const mabd_impulse_sim* sim, const mabd_model_joint* joint, int32_t r,
                      mabd_real rate, mabd_real x, int32_t row, mabd_impulse_block* block) {
    const mabd_real start = mabd_impulse_input(sim, joint, r, 0);
    block->hold[row] = -(mabd_impulse_input(sim, joint, r, 1) - start) / sim->h;
    block->bias[row] = rate * (x - start) + block->hold[row];
    block->give[row] = 0;
}

// Bias and softness of a row with the force slope D - level, D = h (J V + J g): in impulses
// J V + J g - level/(h slope) + p/(h^2 slope) = 0.
static void set_line(const mabd_impulse_sim* sim, const mabd_model_joint* joint,
                     const mabd_impulse_control* of, int32_t row, mabd_impulse_block* block) {
    const mabd_axis_law law = mabd_impulse_law(sim, joint, of->control, of->kind);
    block->bias[row] = block->hold[row] = -law.level / (sim->h * law.slope);
    block->give[row] = 1 / (sim->h * sim->h * law.slope);
}

static void set_biases(const mabd_impulse_sim* sim, const mabd_impulse_joint* j, mabd_real rate,
                       const mabd_real* C, mabd_impulse_block* block) {
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_impulse_control more[MABD_IMPULSE_MAX_ROWS];
    const int32_t count = mabd_impulse_block_controls(set, more);
    for (int32_t r = 0; r < set->rigid_count; r++) {
        block->bias[r] = rate * C[r];
        block->hold[r] = block->give[r] = 0;
    }
    for (int32_t k = 0, at = set->rigid_count; k < count; k++, at++) {
        if (more[k].kind == MABD_IMPULSE_SERVO) {
            set_servo(sim, joint, more[k].control, rate, C[at], at, block);
        } else {
            set_line(sim, joint, &more[k], at, block);
        }
    }
}

// Inertia of row r of a block: of the armature of its axis. It resists the change of J V alone, and
// springs and dampers what moves, J V + J g: their rows have 1 - I c of J g, c = give. (All of J g
// is a force I J g/h that no h makes smaller.)
static mabd_real row_armature(const mabd_row_set* set, int32_t r) {
    mabd_impulse_control more[MABD_IMPULSE_MAX_ROWS];
    if (r < set->rigid_count) return 0;
    mabd_impulse_block_controls(set, more);
    return set->control[more[r - set->rigid_count].control].armature;
}

void mabd_impulse_set_block(const mabd_impulse_sim* sim, const mabd_impulse_joint* j,
                            mabd_real rate, mabd_impulse_block* block) {
    mabd_real C[MABD_IMPULSE_MAX_ROWS];
    const mabd_row_set* set = &sim->model->row_sets[sim->model->joints[j->joint].row_set];
    mabd_impulse_joint_rows(sim, j, C, block->J);
    set_biases(sim, j, rate, C, block);
    for (int32_t r = 0; r < j->width; r++) {
        const mabd_real part = 1 - row_armature(set, r) * block->give[r];
        const mabd_real shift = part * (mabd_v3_dot(block->J[r].ta, sim->shift[j->a]) +
                                        mabd_v3_dot(block->J[r].tb, sim->shift[j->b]));
        block->bias[r] += shift;
        if (block->give[r] > 0) block->hold[r] += shift;
    }
}

void mabd_impulse_position_errors(const mabd_impulse_sim* sim, const mabd_impulse_joint* j,
                                  mabd_real* C) {
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_impulse_control more[MABD_IMPULSE_MAX_ROWS];
    const int32_t count = mabd_impulse_block_controls(set, more);
    for (int32_t k = 0, at = set->rigid_count; k < count; k++, at++) {
        const bool servo = more[k].kind == MABD_IMPULSE_SERVO;
        C[at] = servo ? C[at] - mabd_impulse_input(sim, joint, more[k].control, 1) : 0;
    }
}
