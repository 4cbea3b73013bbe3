// SPDX-License-Identifier: Apache-2.0
// Bodies with any rows. Rows are built one by one. Point rows come first and follow from their
// attachment (affine/element/affine_body.h); for the others J and H^-1 J' are stored. The degrees
// of freedom of a junction are unknowns (topology/order.c): it writes -H and J, and no J H^-1 J'.

#pragma once

#include "formulation/affine/element/assembly.h"
#include "formulation/affine/element/axis.h"
#include "formulation/affine/element/joint_jacobian.h"
#include "formulation/affine/element/joint_start.h"
#include "formulation/affine/element/side_share.h"

#include <string.h>

/// Add the forces of the motors of a joint on its body a or b to r.
MABD_FN void mabd_affine_stage_add_motors(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                          const mabd_joint_view* view, int is_b, mabd_vec12* r) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_real* force = sim->motors + (size_t)joint->row_set * MABD_JOINT_MAX_ROWS;
    if (set->motor_count == 0) return;
    const mabd_vec3 gap = mabd_joint_gap(view);
    for (int32_t k = 0; k < set->motor_count; k++) {
        const mabd_vec12 J = mabd_affine_row_jacobian(view, &set->motor[k].row, gap, is_b);
        *r = mabd_vec12_axpy(force[k], J, *r);
    }
}

// Compute the rows of one joint on a body, and add the forces of its motors to r.
MABD_FN void mabd_affine_rows_side_rows(const mabd_affine_sim* sim, const mabd_plan_side* side,
                                        mabd_affine_side_work* work, mabd_vec12* r) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[side->slot]];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_joint_view view;
    mabd_vec3 phi;
    mabd_affine_ref_view(sim, joint, &phi, &view);
    const mabd_vec3 gap = mabd_joint_gap(&view);
    work->point.X = side->is_b ? view.Xb : view.Xa;
    work->sign = side->is_b ? 1 : -1;
    work->points = set->rigid_count > 0 && set->rigid[0].kind == MABD_ROW_POINT ? 3 : 0;
    work->others = 0;
    for (int32_t k = work->points; k < set->rigid_count; k++) {
        work->rows[work->others++].J =
            mabd_affine_row_jacobian(&view, &set->rigid[k], gap, side->is_b);
    }
    for (int32_t k = 0; k < set->control_count; k++) {
        mabd_vec12* J = &work->rows[work->others++].J;
        *J = mabd_affine_row_jacobian(&view, &set->control_row[k], gap, side->is_b);
        if (!set->control[k].law || mabd_affine_is_damped_turn(set, k)) continue;
        const mabd_axis_line* line = &sim->axes[joint->coordinate + k].search.line;
        if (!line->flat) continue;
        *r = mabd_vec12_axpy(-line->lambda, *J, *r);
        memset(J, 0, sizeof *J);
    }
    mabd_affine_stage_add_motors(sim, joint, &view, side->is_b, r);
}

/// Prepare the place of a side for its share: zero it if the side is the first to write.
MABD_FN void mabd_affine_stage_open_side(const mabd_affine_sim* sim, int32_t side,
                                         const mabd_affine_assembly* own, mabd_vec3 X,
                                         const mabd_affine_side_place* to) {
    const mabd_plan_side* at = &sim->model->plan->sides[side];
    const mabd_model_joint* joint = &sim->model->joints[sim->model->plan->slot_joint[at->slot]];
    const bool alone = sim->model->row_sets[joint->row_set].points_only;
    const int32_t width = sim->model->plan->slot_width[at->slot];
    if (to->mode == MABD_SIDE_DEFERRED || (alone && to->mode != MABD_SIDE_ADD)) {
        memset(to->D, 0, (size_t)(width * width) * sizeof *to->D);
        memset(to->rhs, 0, (size_t)width * sizeof *to->rhs);
    }
    if (!alone) return;
    const mabd_vec3 here = mabd_v3_add(mabd_m3_mul(own->R, X), own->t);
    mabd_v3_store(mabd_v3_axpy(at->is_b ? 1 : -1, here, mabd_v3_load(to->rhs)), to->rhs);
    if (to->mode == MABD_SIDE_GROUND) mabd_affine_add_ground(sim, side, to->rhs);
}

// Effect of an increment on the point rows at X: s R (D X + tau)
MABD_FN mabd_vec3 mabd_affine_rows_point_rows(mabd_mat3 R, const mabd_affine_side_work* at,
                                              const mabd_vec12* y) {
    return mabd_v3_scale(at->sign, mabd_m3_mul(R, mabd_vec12_move(y, at->point.X)));
}

// Add a column of three rows.
MABD_FN void mabd_affine_rows_add_column(mabd_vec3 v, mabd_real* K, int32_t stride) {
    K[0] += v.x, K[stride] += v.y, K[2 * stride] += v.z;
}

// Add the diagonal block and the right-hand side of one joint.
MABD_FN void mabd_affine_rows_add_diagonal(const mabd_affine_assembly* own,
                                           mabd_affine_side_work* work, mabd_real* D,
                                           mabd_real* rhs) {
    const int32_t points = work->points, width = points + work->others;
    const mabd_mat3 R = own->R;
    const mabd_vec12* y = &own->y;
    if (points) {
        work->point = mabd_affine_block_attach(own->block, own->Z, work->point.X);
        mabd_sym3 c = mabd_affine_block_self_compliance(own->block, &work->point);
        mabd_affine_eliminate_soften_self(own, work->point.X, &c);
        c = mabd_sym3_rotate(R, c);
        mabd_affine_rows_add_column(mabd_v3(c.xx, c.xy, c.xz), D, width);
        mabd_affine_rows_add_column(mabd_v3(c.xy, c.yy, c.yz), D + 1, width);
        mabd_affine_rows_add_column(mabd_v3(c.xz, c.yz, c.zz), D + 2, width);
        mabd_affine_rows_add_column(mabd_affine_rows_point_rows(R, work, y), rhs, 1);
    }
    for (int32_t r = 0; r < work->others; r++) {
        mabd_affine_row_work* row = &work->rows[r];
        const int32_t at = points + r;
        row->Y = mabd_affine_assembly_solve(own, row->J);
        rhs[at] += mabd_vec12_dot(row->J, *y);
        if (points) {
            const mabd_vec3 v = mabd_affine_rows_point_rows(R, work, &row->Y);
            mabd_affine_rows_add_column(v, D + at, width);
            mabd_affine_rows_add_column(v, D + at * width, 1);
        }
        for (int32_t c = 0; c <= r; c++) {
            const mabd_real k = mabd_vec12_dot(work->rows[c].J, row->Y);
            D[at * width + points + c] += k;
            if (c < r) D[(points + c) * width + at] += k;
        }
    }
}

// Add the block of two joints on one body; U is zero before the first share.
MABD_FN void mabd_affine_rows_add_coupling(const mabd_affine_assembly* own,
                                           const mabd_affine_side_work* from,
                                           const mabd_affine_side_work* to, mabd_real* U) {
    const int32_t width = to->points + to->others;
    const mabd_mat3 R = own->R;
    if (from->points && to->points) {
        mabd_mat3 c = mabd_affine_block_compliance(own->block, &from->point, &to->point);
        mabd_affine_eliminate_soften(own, from->point.X, to->point.X, &c);
        const mabd_mat3 K = mabd_m3_product(mabd_m3_product(R, c), mabd_m3_transpose(R));
        const mabd_real sign = from->sign * to->sign;
        mabd_affine_rows_add_column(mabd_v3_scale(sign, K.c1), U, width);
        mabd_affine_rows_add_column(mabd_v3_scale(sign, K.c2), U + 1, width);
        mabd_affine_rows_add_column(mabd_v3_scale(sign, K.c3), U + 2, width);
    }
    for (int32_t c = 0; from->points && c < to->others; c++) {
        mabd_affine_rows_add_column(mabd_affine_rows_point_rows(R, from, &to->rows[c].Y),
                                    U + to->points + c, width);
    }
    for (int32_t r = 0; r < from->others; r++) {
        mabd_real* row = U + (from->points + r) * width;
        if (to->points)
            mabd_affine_rows_add_column(mabd_affine_rows_point_rows(R, to, &from->rows[r].Y), row,
                                        1);
        for (int32_t c = 0; c < to->others; c++) {
            row[to->points + c] += mabd_vec12_dot(from->rows[r].Y, to->rows[c].J);
        }
    }
}

// True if a side starts its joint: joints with point rows only have nothing to start.
MABD_FN bool mabd_affine_starts_joint(const mabd_affine_sim* sim, int32_t s) {
    const mabd_plan* plan = sim->model->plan;
    const uint8_t mode = sim->shares->side_mode[s];
    if (plan->sides[s].is_b < 0) return false;
    const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[plan->sides[s].slot]];
    const bool first = mode == MABD_SIDE_FIRST || mode == MABD_SIDE_GROUND;
    return first && !sim->model->row_sets[joint->row_set].points_only &&
           !mabd_affine_in_group(sim, joint);
}

/// Start the joints whose first side is on this body with their parts that do not depend on H, but
/// for the rows of damped rotations.
MABD_FN void mabd_affine_stage_start_joints(mabd_affine_sim* sim, const mabd_real* stress,
                                            int32_t body) {
    const mabd_plan* plan = sim->model->plan;
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        if (!mabd_affine_starts_joint(sim, s)) continue;
        mabd_affine_rows_start_side(sim, stress, &plan->sides[s]);
    }
}

/// Start the rows of damped rotations of the same joints, after mabd_affine_stage_start_joints.
MABD_FN void mabd_affine_stage_start_turns(mabd_affine_sim* sim, const mabd_real* stress,
                                           int32_t body) {
    const mabd_plan* plan = sim->model->plan;
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        if (!mabd_affine_starts_joint(sim, s)) continue;
        mabd_affine_rows_start_side_turn(sim, stress, &plan->sides[s]);
    }
}

/// Add motor forces on a body to r. If the body is not a junction, its rows are stored in `work`
/// for assemble_rows.
MABD_FN void mabd_affine_stage_open_rows(mabd_affine_sim* sim, int32_t body,
                                         mabd_affine_side_work* work, mabd_vec12* r) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t count = plan->side_start[body + 1] - plan->side_start[body];
    const bool junction = sim->body_kind[body] == MABD_BODY_JUNCTION;
    for (int32_t i = 0; i < count; i++) {
        if (sides[i].is_b >= 0)
            mabd_affine_rows_side_rows(sim, &sides[i], &work[junction ? 0 : i], r);
    }
}

/// Assemble blocks and right-hand sides of a body with any rows, after start_joints and open_rows.
MABD_FN void mabd_affine_stage_assemble_rows(mabd_affine_sim* sim, int32_t body,
                                             const mabd_affine_assembly* own,
                                             mabd_affine_side_work* work) {
    const mabd_plan* plan = sim->model->plan;
    const int32_t start = plan->side_start[body], count = plan->side_start[body + 1] - start;
    for (int32_t i = 0; i < count; i++) {
        const mabd_affine_side_place to = mabd_affine_place_of_side(sim, start + i);
        mabd_affine_stage_open_side(sim, start + i, own, work[i].point.X, &to);
        mabd_affine_rows_add_diagonal(own, &work[i], to.D, to.rhs);
    }
    for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
        const mabd_plan_pair* pair = &plan->pairs[p];
        const size_t at = plan->edge_block[pair->edge];
        mabd_real* U = sim->U + at;
        if (!sim->shared_edges) memset(U, 0, (plan->edge_block[pair->edge + 1] - at) * sizeof *U);
        mabd_affine_rows_add_coupling(own, &work[pair->i], &work[pair->j], U);
    }
}

// ---- junctions ----

// Write the rows of a joint as rows of 12 numbers. Returns their number.
MABD_CALL int32_t mabd_affine_rows_junction_rows(mabd_mat3 R, const mabd_affine_side_work* work,
                                                 mabd_real (*J)[12]) {
    const mabd_vec3 X = work->point.X;
    const mabd_vec3 rows[3] = {mabd_v3(R.c1.x, R.c2.x, R.c3.x), mabd_v3(R.c1.y, R.c2.y, R.c3.y),
                               mabd_v3(R.c1.z, R.c2.z, R.c3.z)};
    for (int32_t k = 0; k < work->points; k++) {
        mabd_vec12_store(mabd_vec12_at(X, mabd_v3_scale(work->sign, rows[k])), J[k]);
    }
    for (int32_t k = 0; k < work->others; k++) {
        mabd_vec12_store(work->rows[k].J, J[work->points + k]);
    }
    return work->points + work->others;
}

// Write the two blocks that couple side i of a junction with its degrees of freedom: J before the
// junction's slots, J' after them.
MABD_CALL void mabd_affine_rows_couple_with_junction(mabd_affine_sim* sim,
                                                     const mabd_plan_pair* pairs, int32_t early,
                                                     int32_t late, int32_t i, int32_t width,
                                                     mabd_real (*J)[12]) {
    const mabd_plan* plan = sim->model->plan;
    for (int32_t half = 0; half < 2; half++) {
        const int32_t place = i < early ? 2 * i + half // pairs as in topology/plan.c
                                        : 2 * early + half * (late - 1) + (i - early - half - 1);
        mabd_real* U = sim->U + plan->edge_block[pairs[place].edge];
        for (int32_t r = 0; r < width; r++) {
            for (int32_t k = 0; k < MABD_PLAN_SLOT_ROWS; k++) {
                U[i < early ? r * MABD_PLAN_SLOT_ROWS + k : k * width + r] =
                    J[r][MABD_PLAN_SLOT_ROWS * half + k];
            }
        }
    }
}

// Write -H to the blocks of the junction's two slots, starting with slot `first`, and to the block
// between them.
MABD_CALL void mabd_affine_rows_write_junction(mabd_affine_sim* sim, const mabd_real* H,
                                               int32_t first, int32_t edge) {
    const mabd_plan* plan = sim->model->plan;
    const int32_t n = MABD_PLAN_SLOT_ROWS;
    mabd_real *D1 = sim->D + plan->slot_block[first], *D2 = sim->D + plan->slot_block[first + 1];
    mabd_real* U = sim->U + plan->edge_block[edge];
    for (int32_t r = 0; r < n; r++) {
        for (int32_t c = 0; c < n; c++) {
            D1[r * n + c] = -H[12 * r + c];
            D2[r * n + c] = -H[12 * (n + r) + n + c];
            U[r * n + c] = -H[12 * r + n + c];
        }
    }
    memset(sim->lambda + plan->slot_row[first], 0, 2 * (size_t)n * sizeof(mabd_real));
}

// H += j j'
MABD_CALL void mabd_affine_rows_add_square(const mabd_vec12* j, mabd_real* H) {
    mabd_real row[12];
    mabd_vec12_store(*j, row);
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 12; k++) H[12 * i + k] += row[i] * row[k];
    }
}

/// Assemble a junction: -H, J, and its part of the right-hand sides.
MABD_CALL void mabd_affine_stage_assemble_junction(mabd_affine_sim* sim, int32_t body,
                                                   const mabd_affine_assembly* own,
                                                   mabd_affine_side_work* work) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const mabd_plan_pair* pairs = plan->pairs + plan->pair_start[body];
    const int32_t count = plan->side_start[body + 1] - plan->side_start[body];
    const int32_t early = plan->early[body];
    mabd_real H[144], J[MABD_PLAN_SLOT_ROWS][12];
    mabd_affine_block_matrix(own->block, own->G, H);
    for (int32_t k = 0; k < own->eliminated_count; k++)
        mabd_affine_rows_add_square(&own->eliminated[own->eliminated_count + k], H);
    mabd_affine_rows_write_junction(sim, H, sides[early].slot, pairs[2 * early].edge);
    for (int32_t i = 0; i < count; i++) {
        if (sides[i].is_b < 0) continue;
        mabd_vec12 none = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}; // forces were added before
        const mabd_affine_side_place to =
            mabd_affine_place_of_side(sim, plan->side_start[body] + i);
        mabd_affine_rows_side_rows(sim, &sides[i], work, &none);
        mabd_affine_stage_open_side(sim, plan->side_start[body] + i, own, work->point.X, &to);
        const int32_t width = mabd_affine_rows_junction_rows(own->R, work, J);
        for (int32_t r = 0; r < width; r++)
            to.rhs[r] += mabd_vec12_dot(mabd_vec12_load(J[r]), own->y);
        mabd_affine_rows_couple_with_junction(sim, pairs, early, count - early, i, width, J);
    }
    // blocks that elimination of the junction will fill
    const int32_t pair_count = plan->pair_start[body + 1] - plan->pair_start[body];
    for (int32_t p = 2 * count - 3; p < pair_count && !sim->shared_edges; p++) {
        const size_t at = plan->edge_block[pairs[p].edge];
        memset(sim->U + at, 0, (plan->edge_block[pairs[p].edge + 1] - at) * sizeof *sim->U);
    }
}

// ---- rows for responses (affine/contact/response.h) ----

/// Compute J of one joint on a body, in the frame of the body. Returns the number of rows. Not for
/// slots of junctions.
MABD_FN int32_t mabd_affine_stage_joint_rows(mabd_affine_sim* sim, int32_t body, int32_t side,
                                             mabd_vec12* rows) {
    mabd_real J[MABD_PLAN_SLOT_ROWS][12];
    mabd_vec12 none = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}; // forces were added before
    mabd_affine_rows_side_rows(sim, &sim->model->plan->sides[side], sim->sides, &none);
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    const int32_t count = mabd_affine_rows_junction_rows(R, sim->sides, J);
    for (int32_t k = 0; k < count; k++) rows[k] = mabd_vec12_load(J[k]);
    return count;
}
