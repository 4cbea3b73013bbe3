// SPDX-License-Identifier: Apache-2.0
// Bodies whose joints have point rows and, on the rotation vector, springs: chains and trees that bend.
//
// A vector row acts on the twist alone: J' = T'n / 2 with its axis n in the body frame (joint/rows.h). With
// C = T H^-1 T' (diagonal), P(X) = J(X) H^-1 T' and Z of body/affine.h the blocks need 3x3 products only:
//
//   Q = I - Z C,  M = Q N / 2                      N: the axes of a joint as columns, signs included
//   point, point     s_i s_j R c(X_i, X_j) R'
//   point, vector    s_i R P(X_i) M_j
//   vector, vector   N_i' C M_j / 2
//
// because (H + T'GT)^-1 T' = H^-1 T' Q.

#include "cpu/assemble.h"

// ---- 3 x v blocks of K -----------------------------------------------------------------------------

static void add_to(mabd_real* K, int32_t stride, int32_t row, int32_t column, mabd_real value) {
    K[row * stride + column] += value;
}

// The 3x3 block of point rows.
static void add_points(mabd_real s, const mabd_mat3* B, int32_t stride, mabd_real* K) {
    const mabd_vec3 columns[3] = {B->c1, B->c2, B->c3};
    for (int32_t c = 0; c < 3; c++) {
        add_to(K, stride, 0, c, s * columns[c].x);
        add_to(K, stride, 1, c, s * columns[c].y);
        add_to(K, stride, 2, c, s * columns[c].z);
    }
}

// Point rows of one joint, vector rows of another (or the same); `across` writes the transpose.
static void add_mixed(const mabd_assembly* own, const mabd_spring_work* points,
                      const mabd_spring_work* vectors, int32_t stride, bool across, mabd_real* K) {
    for (int32_t k = 0; k < vectors->count; k++) {
        mabd_vec3 v = mabd_m3_mul(points->RP, vectors->M[k]);
        for (int32_t i = 0; i < own->touches; i++) { // - s R J(X) u u' T'n / 2
            const mabd_affine* u = &own->touch[i];
            const mabd_vec3 x = mabd_m3_mul(own->R, mabd_affine_move(u, points->point.X));
            const mabd_real turn = mabd_v3_dot(vectors->N[k], mabd_affine_twist(*u)) / 2;
            v = mabd_v3_axpy(-points->sign * turn, x, v);
        }
        add_to(K, stride, across ? 3 + k : 0, across ? 0 : 3 + k, v.x);
        add_to(K, stride, across ? 3 + k : 1, across ? 1 : 3 + k, v.y);
        add_to(K, stride, across ? 3 + k : 2, across ? 2 : 3 + k, v.z);
    }
}

static void add_vectors(const mabd_assembly* own, const mabd_spring_work* from,
                        const mabd_spring_work* to, int32_t stride, mabd_real* K) {
    const mabd_body_block* b = own->block;
    for (int32_t k = 0; k < to->count; k++) {
        const mabd_vec3 m = to->M[k];
        mabd_vec3 v = mabd_v3(b->c[0] * m.x, b->c[1] * m.y, b->c[2] * m.z);
        for (int32_t i = 0; i < own->touches; i++) {
            const mabd_vec3 turn = mabd_affine_twist(own->touch[i]);
            v = mabd_v3_axpy(-mabd_v3_dot(to->N[k], turn) / 2, turn, v);
        }
        for (int32_t i = 0; i < from->count; i++) {
            add_to(K, stride, 3 + i, 3 + k, (mabd_real)0.5 * mabd_v3_dot(from->N[i], v));
        }
    }
}

// ---- sides and pairs -------------------------------------------------------------------------------

// P(X) of an attachment.
static mabd_mat3 attachment_matrix(const mabd_attachment* x) {
    return mabd_m3(mabd_v3(0, x->p21, x->p31), mabd_v3(x->p12, 0, x->p32),
                   mabd_v3(x->p13, x->p23, 0));
}

static void open_springs(const mabd_cpu_sim* sim, const mabd_assembly* own, const mabd_mat3* Q,
                         const mabd_plan_side* side, mabd_spring_work* work) {
    const mabd_model* m = sim->model;
    const mabd_model_joint* joint = &m->joints[m->plan->slot_joint[side->slot]];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    const mabd_vec3 X = mabd_v3_load(side->is_b ? joint->Xb : joint->Xa);
    work->point = mabd_body_block_attach(own->block, own->Z, X);
    work->sign = side->is_b ? 1 : -1;
    work->count = set->control_count;
    const mabd_mat3 signed_R =
        mabd_m3(mabd_v3_scale(work->sign, own->R.c1), mabd_v3_scale(work->sign, own->R.c2),
                mabd_v3_scale(work->sign, own->R.c3));
    work->RP = mabd_m3_product(signed_R, attachment_matrix(&work->point));
    if (work->count == 0) return;
    const mabd_mat3 axes = mabd_cpu_vector_axes(sim, joint, side->is_b);
    for (int32_t k = 0; k < work->count; k++) {
        work->N[k] = mabd_m3_column(&axes, set->control_row[k].axis);
        work->M[k] = mabd_v3_scale((mabd_real)0.5, mabd_m3_mul(*Q, work->N[k]));
    }
}

static void add_side(const mabd_assembly* own, const mabd_spring_work* work, mabd_real* D,
                     mabd_real* rhs) {
    const int32_t width = 3 + work->count;
    const mabd_vec3 X = work->point.X;
    mabd_sym3 c = mabd_body_block_self_compliance(own->block, &work->point);
    mabd_touch_soften_self(own, X, &c);
    c = mabd_sym3_rotate(own->R, c);
    const mabd_mat3 points =
        mabd_m3(mabd_v3(c.xx, c.xy, c.xz), mabd_v3(c.xy, c.yy, c.yz), mabd_v3(c.xz, c.yz, c.zz));
    add_points(1, &points, width, D);
    const mabd_vec3 move = mabd_m3_mul(own->R, mabd_affine_move(&own->y, X));
    mabd_v3_store(mabd_v3_axpy(work->sign, move, mabd_v3_load(rhs)), rhs);
    if (work->count == 0) return;
    const mabd_vec3 twist = mabd_v3_scale((mabd_real)0.5, mabd_affine_twist(own->y));
    add_mixed(own, work, work, width, false, D);
    add_mixed(own, work, work, width, true, D);
    add_vectors(own, work, work, width, D);
    for (int32_t k = 0; k < work->count; k++) rhs[3 + k] += mabd_v3_dot(work->N[k], twist);
}

// U is zero before the first share.
static void add_pair(const mabd_assembly* own, const mabd_spring_work* from,
                     const mabd_spring_work* to, mabd_real* U) {
    const int32_t width = 3 + to->count;
    mabd_mat3 c = mabd_body_block_compliance(own->block, &from->point, &to->point);
    mabd_touch_soften(own, from->point.X, to->point.X, &c);
    const mabd_mat3 points = mabd_m3_product(mabd_m3_product(own->R, c), mabd_m3_transpose(own->R));
    add_points(from->sign * to->sign, &points, width, U);
    if (to->count) add_mixed(own, from, to, width, false, U);
    if (from->count) add_mixed(own, to, from, width, true, U);
    if (from->count && to->count) add_vectors(own, from, to, width, U);
}

void MABD_STAGE(assemble_springs)(mabd_cpu_sim* sim, int32_t body, const mabd_assembly* own,
                                  mabd_spring_work* springs) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t count = plan->side_start[body + 1] - plan->side_start[body];
    const mabd_real* c = own->block->c;
    const mabd_sym3 Z = own->Z;
    const mabd_mat3 Q = mabd_m3(mabd_v3(1 - Z.xx * c[0], -Z.xy * c[0], -Z.xz * c[0]),
                                mabd_v3(-Z.xy * c[1], 1 - Z.yy * c[1], -Z.yz * c[1]),
                                mabd_v3(-Z.xz * c[2], -Z.yz * c[2], 1 - Z.zz * c[2]));
    for (int32_t i = 0; i < count; i++) {
        const mabd_side_place to = mabd_cpu_place(sim, plan->side_start[body] + i);
        open_springs(sim, own, &Q, &sides[i], &springs[i]);
        MABD_STAGE(open_side)(sim, plan->side_start[body] + i, own, springs[i].point.X, &to);
        add_side(own, &springs[i], to.D, to.rhs);
    }
    for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
        const mabd_plan_pair* pair = &plan->pairs[p];
        const size_t at = plan->edge_block[pair->edge], end = plan->edge_block[pair->edge + 1];
        mabd_real* U = sim->U + at;
        for (size_t k = 0; k < end - at && !sim->shared_edges; k++) U[k] = 0;
        add_pair(own, &springs[pair->i], &springs[pair->j], U);
    }
}
