// SPDX-License-Identifier: Apache-2.0
// Bodies whose joints have point rows and springs on the rotation vector: chains and trees that
// bend.
//
// A vector row acts on the rotation only: J' = T'n / 2 with its axis n in the body frame
// (joint/rows.h). With the compliances S = T H^-1 T' of the rotation and V(X) = J(X) H^-1 T'
// between a point and the rotation (affine/element/affine_body.h, geometric stiffness included) the
// blocks need 3 x 3 products only:
//
//   point, point     s_i s_j R c(X_i, X_j) R'
//   point, vector    s_i R V(X_i) N_j / 2        N: the axes of a joint as columns, signs included
//   vector, vector   N_i' S N_j / 4
//
// The right-hand side of point rows is P_b - P_a as predicted by inertia alone; each side adds its
// own point. That of vector rows is x_ref - x_star of the joint (pack_turns.c) and N' T y / 2 of
// each side.

#pragma once

#include "formulation/affine/element/assemble_rows.h"

// ---- 3 x v blocks of K ----

// Add a value to one entry of a block.
MABD_FN void mabd_affine_springs_add_to(mabd_real* K, int32_t stride, int32_t row, int32_t column,
                                        mabd_real value) {
    K[row * stride + column] += value;
}

// Add the 3 x 3 block of point rows.
MABD_FN void mabd_affine_springs_add_points(mabd_real s, const mabd_mat3* B, int32_t stride,
                                            mabd_real* K) {
    const mabd_vec3 columns[3] = {B->c1, B->c2, B->c3};
    for (int32_t c = 0; c < 3; c++) {
        mabd_affine_springs_add_to(K, stride, 0, c, s * columns[c].x);
        mabd_affine_springs_add_to(K, stride, 1, c, s * columns[c].y);
        mabd_affine_springs_add_to(K, stride, 2, c, s * columns[c].z);
    }
}

// Add point rows of one joint times vector rows of another (or the same); `across` writes the
// transpose.
MABD_FN void mabd_affine_springs_add_mixed(const mabd_affine_assembly* own,
                                           const mabd_affine_spring_work* points,
                                           const mabd_affine_spring_work* vectors, int32_t stride,
                                           bool across, mabd_real* K) {
    for (int32_t k = 0; k < vectors->count; k++) {
        mabd_vec3 v = mabd_v3_scale((mabd_real)0.5, mabd_m3_mul(points->V, vectors->N[k]));
        for (int32_t i = 0; i < own->eliminated_count; i++) { // - s R J(X) u u' T'n / 2
            const mabd_vec12* u = &own->eliminated[i];
            const mabd_vec3 x = mabd_m3_mul(own->R, mabd_vec12_move(u, points->point.X));
            const mabd_real turn = mabd_v3_dot(vectors->N[k], mabd_vec12_rotation(*u)) / 2;
            v = mabd_v3_axpy(-points->sign * turn, x, v);
        }
        mabd_affine_springs_add_to(K, stride, across ? 3 + k : 0, across ? 0 : 3 + k, v.x);
        mabd_affine_springs_add_to(K, stride, across ? 3 + k : 1, across ? 1 : 3 + k, v.y);
        mabd_affine_springs_add_to(K, stride, across ? 3 + k : 2, across ? 2 : 3 + k, v.z);
    }
}

// Add vector rows of one joint times vector rows of another (or the same): N_i' S N_j / 4
MABD_FN void mabd_affine_springs_add_vectors(const mabd_affine_assembly* own,
                                             const mabd_affine_spring_work* from,
                                             const mabd_affine_spring_work* to, int32_t stride,
                                             mabd_real* K) {
    const mabd_sym3 S = mabd_affine_block_turn_compliance(own->block, own->Z);
    for (int32_t k = 0; k < to->count; k++) {
        mabd_vec3 v = mabd_v3_scale((mabd_real)0.5, mabd_sym3_mul(S, to->N[k]));
        for (int32_t i = 0; i < own->eliminated_count; i++) {
            const mabd_vec3 turn = mabd_vec12_rotation(own->eliminated[i]);
            v = mabd_v3_axpy(-mabd_v3_dot(to->N[k], turn) / 2, turn, v);
        }
        for (int32_t i = 0; i < from->count; i++) {
            mabd_affine_springs_add_to(K, stride, 3 + i, 3 + k,
                                       (mabd_real)0.5 * mabd_v3_dot(from->N[i], v));
        }
    }
}

// ---- sides and pairs ----

// Compute attachment, V and axes of one joint on a body.
MABD_FN void mabd_affine_springs_open_springs(const mabd_affine_sim* sim,
                                              const mabd_affine_assembly* own,
                                              const mabd_plan_side* side,
                                              mabd_affine_spring_work* work) {
    const mabd_model* m = sim->model;
    const mabd_model_joint* joint = &m->joints[m->plan->slot_joint[side->slot]];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    const mabd_vec3 X = mabd_v3_load(side->is_b ? joint->Xb : joint->Xa);
    work->point = mabd_affine_block_attach(own->block, own->Z, X);
    work->sign = side->is_b ? 1 : -1;
    work->count = set->control_count;
    const mabd_mat3 signed_R =
        mabd_m3(mabd_v3_scale(work->sign, own->R.c1), mabd_v3_scale(work->sign, own->R.c2),
                mabd_v3_scale(work->sign, own->R.c3));
    work->V = mabd_m3_product(signed_R, mabd_affine_block_point_turn(own->block, &work->point));
    for (int32_t k = 0; k < work->count; k++) {
        work->N[k] = mabd_affine_turn_axis(sim, joint, k, side->is_b, own->R);
    }
}

// Prepare the place of a side for its share. A joint that is started in lanes already has the
// right-hand sides of its springs; all else is zeroed.
MABD_FN void mabd_affine_springs_open_place(const mabd_affine_sim* sim, int32_t side,
                                            const mabd_affine_assembly* own, mabd_vec3 X,
                                            const mabd_affine_side_place* to) {
    const mabd_plan_side* at = &sim->model->plan->sides[side];
    const mabd_model_joint* joint = &sim->model->joints[sim->model->plan->slot_joint[at->slot]];
    if (!mabd_affine_in_group(sim, joint)) {
        mabd_affine_stage_open_side(sim, side, own, X, to);
        return;
    }
    if (to->mode != MABD_SIDE_ADD) {
        for (int k = 0; k < 36; k++) to->D[k] = 0;
        for (int k = 0; k < (to->mode == MABD_SIDE_DEFERRED ? 6 : 3); k++) to->rhs[k] = 0;
    }
    if (to->mode == MABD_SIDE_FIRST || to->mode == MABD_SIDE_GROUND) {
        mabd_affine_add_compliance(sim, joint->row_set, joint->coordinate, to->D);
    }
    const mabd_vec3 here = mabd_v3_add(mabd_m3_mul(own->R, X), own->t);
    mabd_v3_store(mabd_v3_axpy(at->is_b ? 1 : -1, here, mabd_v3_load(to->rhs)), to->rhs);
    if (to->mode == MABD_SIDE_GROUND) mabd_affine_add_ground(sim, side, to->rhs);
}

// Add the diagonal block and the right-hand side of one joint.
MABD_FN void mabd_affine_springs_add_side(const mabd_affine_assembly* own,
                                          const mabd_affine_spring_work* work, mabd_real* D,
                                          mabd_real* rhs) {
    const int32_t width = 3 + work->count;
    const mabd_vec3 X = work->point.X;
    mabd_sym3 c = mabd_affine_block_self_compliance(own->block, &work->point);
    mabd_affine_eliminate_soften_self(own, X, &c);
    c = mabd_sym3_rotate(own->R, c);
    const mabd_mat3 points =
        mabd_m3(mabd_v3(c.xx, c.xy, c.xz), mabd_v3(c.xy, c.yy, c.yz), mabd_v3(c.xz, c.yz, c.zz));
    mabd_affine_springs_add_points(1, &points, width, D);
    const mabd_vec3 move = mabd_m3_mul(own->R, mabd_vec12_move(&own->y, X));
    mabd_v3_store(mabd_v3_axpy(work->sign, move, mabd_v3_load(rhs)), rhs);
    if (work->count == 0) return;
    const mabd_vec3 rotation = mabd_v3_scale((mabd_real)0.5, mabd_vec12_rotation(own->y));
    mabd_affine_springs_add_mixed(own, work, work, width, false, D);
    mabd_affine_springs_add_mixed(own, work, work, width, true, D);
    mabd_affine_springs_add_vectors(own, work, work, width, D);
    for (int32_t k = 0; k < work->count; k++) rhs[3 + k] += mabd_v3_dot(work->N[k], rotation);
}

// Add the block of two joints on one body; U is zero before the first share.
MABD_FN void mabd_affine_springs_add_pair(const mabd_affine_assembly* own,
                                          const mabd_affine_spring_work* from,
                                          const mabd_affine_spring_work* to, mabd_real* U) {
    const int32_t width = 3 + to->count;
    mabd_mat3 c = mabd_affine_block_compliance(own->block, &from->point, &to->point);
    mabd_affine_eliminate_soften(own, from->point.X, to->point.X, &c);
    const mabd_mat3 points = mabd_m3_product(mabd_m3_product(own->R, c), mabd_m3_transpose(own->R));
    mabd_affine_springs_add_points(from->sign * to->sign, &points, width, U);
    if (to->count) mabd_affine_springs_add_mixed(own, from, to, width, false, U);
    if (from->count) mabd_affine_springs_add_mixed(own, to, from, width, true, U);
    if (from->count && to->count) mabd_affine_springs_add_vectors(own, from, to, width, U);
}

/// Assemble a body whose joints have point rows and springs on the rotation vector, after
/// start_joints.
MABD_FN void mabd_affine_stage_assemble_springs(mabd_affine_sim* sim, int32_t body,
                                                const mabd_affine_assembly* own,
                                                mabd_affine_spring_work* springs) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t count = plan->side_start[body + 1] - plan->side_start[body];
    for (int32_t i = 0; i < count; i++) {
        const mabd_affine_side_place to =
            mabd_affine_place_of_side(sim, plan->side_start[body] + i);
        mabd_affine_springs_open_springs(sim, own, &sides[i], &springs[i]);
        mabd_affine_springs_open_place(sim, plan->side_start[body] + i, own, springs[i].point.X,
                                       &to);
        mabd_affine_springs_add_side(own, &springs[i], to.D, to.rhs);
    }
    for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
        const mabd_plan_pair* pair = &plan->pairs[p];
        const size_t at = plan->edge_block[pair->edge], end = plan->edge_block[pair->edge + 1];
        mabd_real* U = sim->U + at;
        for (size_t k = 0; k < end - at && !sim->shared_edges; k++) U[k] = 0;
        mabd_affine_springs_add_pair(own, &springs[pair->i], &springs[pair->j], U);
    }
}
