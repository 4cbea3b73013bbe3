// SPDX-License-Identifier: Apache-2.0
// Start of one joint at a reference: values of its rows, compliances of its controls, branches of
// its force laws, dampers of its rotation. None of it depends on H; the sides of the joint add
// their shares to it (element/assemble_rows.h).
#pragma once

#include "formulation/affine/element/axis.h"
#include "formulation/affine/element/turn_joint.h"

#include <string.h>

// Strain of a body in the last iteration or step, body frame.
MABD_FN mabd_sym3 mabd_affine_rows_strain_of(const mabd_affine_sim* sim, const mabd_real* stress,
                                             int32_t body) {
    const mabd_model* m = sim->model;
    const mabd_sym3 none = {0, 0, 0, 0, 0, 0};
    if (m->body_motion[body] != MABD_MOTION_DYNAMIC) return none;
    return mabd_affine_block_strain(mabd_affine_block_of(sim, body),
                                    mabd_sym3_load(stress + 6 * (size_t)body));
}

// Compute the rotation vector of a joint at the reference and its axes, once for both bodies and
// for the update.
MABD_FN void mabd_affine_rows_find_turn(mabd_affine_sim* sim, const mabd_model_joint* joint) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const size_t at = 3 * (size_t)joint->coordinate;
    mabd_joint_view view;
    mabd_rotvec turn;
    mabd_affine_view(sim, joint, sim->ref, &view);
    turn.phi = mabd_so3_log(mabd_joint_frames(&view));
    turn.c = mabd_so3_gradient_factor(turn.phi);
    mabd_v3_store(turn.phi, sim->phi + at);
    const mabd_mat3 axes = mabd_affine_joint_vector_axes(view.Aa, view.Fa, turn);
    for (int32_t r = 0; r < set->control_count; r++) {
        if (set->control_row[r].kind != MABD_ROW_VECTOR) continue;
        mabd_v3_store(mabd_m3_column(&axes, set->control_row[r].axis),
                      sim->turn_axes + at + 3 * (size_t)r);
    }
}

// Compliance of a single coordinate: J H^-1 J' of both bodies, without geometric stiffness.
MABD_FN mabd_real mabd_affine_rows_own_compliance(const mabd_affine_sim* sim,
                                                  const mabd_model_joint* joint,
                                                  const mabd_joint_view* view,
                                                  const mabd_row* row) {
    const mabd_model* m = sim->model;
    const mabd_vec3 gap = mabd_joint_gap(view);
    const mabd_sym3 none = {0, 0, 0, 0, 0, 0};
    mabd_real sum = 0;
    for (int is_b = 0; is_b < 2; is_b++) {
        const int32_t body = is_b ? joint->b : joint->a;
        if (m->body_motion[body] != MABD_MOTION_DYNAMIC) continue;
        const mabd_vec12 J = mabd_affine_row_jacobian(view, row, gap, is_b);
        const mabd_affine_block* b = mabd_affine_block_of(sim, body);
        sum += mabd_vec12_dot(J, mabd_affine_block_solve(b, none, J));
    }
    return sum;
}

// Find the branch of a row with a law that the first solve starts from, by the extrapolated
// coordinate of the axis and its force in the last step. stiffness: of what acts on the axis
// besides the law.
MABD_FN const mabd_axis_line* mabd_affine_rows_find_law(mabd_affine_sim* sim,
                                                        const mabd_model_joint* joint,
                                                        const mabd_joint_view* view, int32_t r,
                                                        mabd_real force, mabd_real stiffness,
                                                        mabd_real remainder) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const int32_t i = joint->coordinate + r;
    mabd_affine_axis_state* axis = &sim->axes[i];
    if (!axis->known) {
        mabd_affine_rebound_start(sim, joint, r);
        const mabd_axis_law law = mabd_affine_axis_law(sim, joint, r);
        axis->known = true;
        const mabd_real bodies =
            mabd_affine_rows_own_compliance(sim, joint, view, &set->control_row[r]);
        const mabd_real own = bodies / (1 + bodies * stiffness);
        mabd_axis_search_start(&law, own, mabd_axis_find(&law, own, sim->x_ref[i] + own * force),
                               &axis->search);
    }
    axis->remainder = remainder;
    return &axis->search.line;
}

// Set the diagonal entry and right-hand side of a row with a law. A flat branch has no row: it is
// decoupled, and its force is added to r (side_rows).
MABD_FN void mabd_affine_rows_start_law(mabd_affine_sim* sim, const mabd_model_joint* joint,
                                        const mabd_joint_view* view, int32_t r, int32_t row,
                                        mabd_real remainder, mabd_real* d, mabd_real* rhs) {
    const mabd_axis_line* line =
        mabd_affine_rows_find_law(sim, joint, view, r, sim->lambda_last[row], 0, remainder);
    *d = line->flat ? 1 : line->compliance;
    *rhs = line->flat ? 0 : sim->x_ref[joint->coordinate + r] - line->x_star + remainder;
}

// Set the compliance and right-hand side of the rows of a damped rotation without force laws. D,
// rhs: of the first of them, in a block of `width` rows.
MABD_FN void mabd_affine_rows_start_turn(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                         const mabd_joint_view* view, int32_t width, mabd_real* D,
                                         mabd_real* rhs) {
    const size_t at = mabd_affine_turn_place(sim, joint);
    const mabd_turn_gains gains = mabd_affine_turn_gains(sim, joint->row_set);
    const mabd_turn_damper damper = mabd_affine_turn_damper(sim, joint, view, &gains);
    mabd_vec3 b;
    const mabd_sym3 C =
        mabd_turn_rows(&gains, 1 / sim->step.beta_h, &damper, mabd_v3_load(sim->x_ref + at), &b);
    mabd_v3_store(b, rhs);
    mabd_v3_store(mabd_v3(C.xx, C.xy, C.xz), D);
    mabd_v3_store(mabd_v3(C.xy, C.yy, C.yz), D + width);
    mabd_v3_store(mabd_v3(C.xz, C.yz, C.zz), D + 2 * width);
}

// The branches of the laws of a damped rotation.
typedef struct mabd_affine_turn_lines {
    mabd_real slope[3], level[3]; // lambda_law = slope x - level, unless held
    mabd_real remainder[3];       // of the coordinates
    mabd_real x_star[3];          // where held
    bool held[3];
} mabd_affine_turn_lines;

// Find the lines of the axes of a damped rotation. damper: S and f at the reference. lambda: of the
// last step, zeros if there was none. An axis yields to its law by at least the inverse of twice
// its stiffness in S: the other axes may move with it.
MABD_FN void mabd_affine_rows_turn_lines(mabd_affine_sim* sim, const mabd_model_joint* joint,
                                         const mabd_joint_view* view, const mabd_sym3* ea,
                                         const mabd_sym3* eb, const mabd_turn_gains* gains,
                                         const mabd_real* damper, const mabd_real* lambda,
                                         mabd_affine_turn_lines* lines) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const bool known = lambda[0] != 0 || lambda[1] != 0 || lambda[2] != 0;
    mabd_real f[3];
    mabd_v3_store(mabd_affine_turn_last_force(sim, joint, view, gains), f);
    mabd_v3_store(gains->stiffness, lines->slope);
    mabd_v3_store(gains->target, lines->level);
    for (int32_t k = 0; k < 3; k++) {
        const int32_t r = set->turn + k, i = joint->coordinate + r;
        const mabd_control* c = &set->control[r];
        lines->remainder[k] = c->law || c->rigid
                                  ? mabd_affine_coordinate_remainder(view, &set->control_row[r], ea,
                                                                     eb, sim->x_ref[i])
                                  : 0;
        if (c->law) {
            const mabd_axis_line* line =
                mabd_affine_rows_find_law(sim, joint, view, r, known ? lambda[k] - f[k] : 0,
                                          damper[k] / 2, lines->remainder[k]);
            lines->slope[k] = line->compliance > 0 ? 1 / line->compliance : 0;
            lines->level[k] = line->flat ? -line->lambda : lines->slope[k] * line->x_star;
        } else if (sim->sizes.axes > 0) {
            sim->axes[i].remainder = lines->remainder[k];
        }
        lines->held[k] = mabd_affine_axis_is_held(sim, joint, r, &lines->x_star[k]);
    }
}

// Set the compliance and right-hand side of the rows of a damped rotation with force laws or rigid
// servos. D, rhs: of the first of them, in a block of `width` rows. x_ref (3): its coordinates.
MABD_FN void mabd_affine_rows_start_turn_lines(const mabd_affine_turn_lines* lines, mabd_real least,
                                               const mabd_real* damper, const mabd_real* x_ref,
                                               int32_t width, mabd_real* D, mabd_real* rhs) {
    const int entry[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}; // of xx yy zz xy xz yz
    const mabd_real *S = damper, *f = damper + 6;
    mabd_real M[6], C[6], b[3];
    for (int k = 0; k < 6; k++) M[k] = S[k];
    for (int i = 0; i < 3; i++) {
        b[i] = lines->slope[i] * x_ref[i] - lines->level[i] + f[i];
        M[i] += lines->slope[i] + least;
        for (int k = 0; k < 3; k++) {
            if (lines->held[k]) b[i] += S[entry[i][k]] * (lines->x_star[k] - x_ref[k]);
        }
    }
    for (int i = 0; i < 3; i++) { // held rows: those of the identity
        for (int k = 0; k < 3 && lines->held[i]; k++) M[entry[i][k]] = i == k;
    }
    mabd_sym3_store(mabd_sym3_inverse(mabd_sym3_load(M)), C);
    for (int i = 0; i < 3; i++) {
        rhs[i] = lines->held[i] ? x_ref[i] - lines->x_star[i] : 0;
        rhs[i] += lines->remainder[i];
        for (int k = 0; k < 3; k++) {
            const bool free = !lines->held[i] && !lines->held[k];
            D[i * width + k] = free ? C[entry[i][k]] : 0;
            if (free) rhs[i] += C[entry[i][k]] * b[k];
        }
    }
}

// Start the rows of a damped rotation. ea, eb: strains of the bodies. row: first row of the joint.
MABD_FN void mabd_affine_rows_start_damped(mabd_affine_sim* sim, const mabd_model_joint* joint,
                                           const mabd_joint_view* view, const mabd_sym3* ea,
                                           const mabd_sym3* eb, int32_t row, int32_t width,
                                           mabd_real* D, mabd_real* rhs) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const int32_t first = set->rigid_count + set->turn;
    const size_t at = mabd_affine_turn_place(sim, joint);
    bool exact = false;
    for (int32_t r = set->turn; r < set->turn + 3; r++) {
        exact |= set->control[r].law || set->control[r].rigid;
    }
    D += first * width + first, rhs += first;
    if (!exact) {
        mabd_affine_rows_start_turn(sim, joint, view, width, D, rhs);
        return;
    }
    const mabd_turn_gains gains = mabd_affine_turn_gains(sim, joint->row_set);
    const mabd_turn_damper found = mabd_affine_turn_damper(sim, joint, view, &gains);
    mabd_real* damper = sim->turn_damper + 3 * at;
    mabd_sym3_store(found.S, damper);
    mabd_v3_store(found.force, damper + 6);
    mabd_affine_turn_lines lines;
    mabd_affine_rows_turn_lines(sim, joint, view, ea, eb, &gains, damper,
                                sim->lambda_last + row + first, &lines);
    mabd_affine_rows_start_turn_lines(&lines, mabd_turn_least(&gains, 1 / sim->step.beta_h), damper,
                                      sim->x_ref + at, width, D, rhs);
}

// Start the blocks of a joint with C(ref) and its compliances.
MABD_FN void mabd_affine_rows_start_joint(mabd_affine_sim* sim, const mabd_real* stress,
                                          const mabd_model_joint* joint,
                                          const mabd_joint_view* view, int32_t slot) {
    const mabd_plan* plan = sim->model->plan;
    mabd_real *D = sim->D + plan->slot_block[slot], *rhs = sim->lambda + plan->slot_row[slot];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const int32_t width = set->rigid_count + set->control_count;
    const mabd_vec3 gap = mabd_joint_gap(view);
    memset(D, 0, (size_t)(width * width) * sizeof *D);
    for (int32_t r = 0; r < set->rigid_count; r++)
        rhs[r] = mabd_row_value(view, &set->rigid[r], gap);
    mabd_sym3 ea = {0, 0, 0, 0, 0, 0}, eb = ea;
    if (set->nonlinear) {
        ea = mabd_affine_rows_strain_of(sim, stress, joint->a),
        eb = mabd_affine_rows_strain_of(sim, stress, joint->b);
        for (int32_t r = 0; r < set->rigid_count; r++) {
            rhs[r] += mabd_affine_row_remainder(view, &set->rigid[r], ea, eb);
        }
    }
    if (set->control_count == 0) return;

    const mabd_affine_control_value* value =
        sim->controls + (size_t)joint->row_set * MABD_JOINT_MAX_ROWS;
    const mabd_real rate = 1 / sim->step.beta_h, w = sim->step.w, w1 = sim->step.w1;
    mabd_real* x_ref = sim->x_ref + joint->coordinate;
    mabd_real near[MABD_JOINT_MAX_ROWS] = {0};
    for (int32_t r = 0; r < set->control_count; r++) near[r] = x_ref[r];
    mabd_joint_coordinates(view, set->control_count, set->control_row, near, x_ref);
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        const int32_t row = set->rigid_count + r, i = joint->coordinate + r;
        if (mabd_affine_is_damped_turn(set, r)) continue;
        const bool exact = c->rigid || c->law;
        const mabd_real remainder =
            exact ? mabd_affine_coordinate_remainder(view, &set->control_row[r], &ea, &eb, x_ref[r])
                  : 0;
        if (c->law) {
            mabd_affine_rows_start_law(sim, joint, view, r, plan->slot_row[slot] + row, remainder,
                                       &D[row * width + row], &rhs[row]);
            continue;
        }
        const mabd_real x_b = w * sim->x[i] + w1 * sim->x1[i];
        const mabd_real xd_b = w * sim->xd[i] + w1 * sim->xd1[i];
        const mabd_real x_star =
            c->rigid ? value[r].target : mabd_affine_control_goal(c, &value[r], rate, x_b, xd_b);
        rhs[row] = x_ref[r] - x_star;
        if (c->rigid) rhs[row] += remainder;
        D[row * width + row] = value[r].compliance;
    }
}

// Start the rows of the damped rotation of a joint, after the others. On a device it is a kernel of
// its own: in one kernel both need more registers than sm_120 has.
MABD_FN void mabd_affine_rows_start_joint_turn(mabd_affine_sim* sim, const mabd_real* stress,
                                               const mabd_model_joint* joint,
                                               const mabd_joint_view* view, int32_t slot) {
    const mabd_plan* plan = sim->model->plan;
    mabd_real *D = sim->D + plan->slot_block[slot], *rhs = sim->lambda + plan->slot_row[slot];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_sym3 ea = {0, 0, 0, 0, 0, 0}, eb = ea;
    if (set->nonlinear) {
        ea = mabd_affine_rows_strain_of(sim, stress, joint->a),
        eb = mabd_affine_rows_strain_of(sim, stress, joint->b);
    }
    mabd_affine_rows_start_damped(sim, joint, view, &ea, &eb, plan->slot_row[slot],
                                  set->rigid_count + set->control_count, D, rhs);
}

// Start the blocks of a joint from its first side, without the rows of a damped rotation.
MABD_FN void mabd_affine_rows_start_side(mabd_affine_sim* sim, const mabd_real* stress,
                                         const mabd_plan_side* side) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[side->slot]];
    mabd_joint_view view;
    mabd_vec3 phi;
    if (sim->model->row_sets[joint->row_set].vectors) mabd_affine_rows_find_turn(sim, joint);
    mabd_affine_ref_view(sim, joint, &phi, &view);
    mabd_affine_rows_start_joint(sim, stress, joint, &view, side->slot);
}

// Start the rows of the damped rotation of a joint from its first side.
MABD_FN void mabd_affine_rows_start_side_turn(mabd_affine_sim* sim, const mabd_real* stress,
                                              const mabd_plan_side* side) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[side->slot]];
    mabd_joint_view view;
    mabd_vec3 phi;
    if (!sim->model->row_sets[joint->row_set].damped) return;
    mabd_affine_ref_view(sim, joint, &phi, &view);
    mabd_affine_rows_start_joint_turn(sim, stress, joint, &view, side->slot);
}
