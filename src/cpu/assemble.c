// SPDX-License-Identifier: Apache-2.0
// Assemble: y = H^-1 r of every body, and its share of the dual system K lambda = J y + C.
//
//   r = M (q_hat - q_ref)/bh^2 + external forces       strain is zero at the reference: no elastic force
//   D(j)    = sum over the bodies of joint j of J H^-1 J', + c of compliant rows
//   U(i,j)  = J_i H^-1 J_j' of the body that carries both
//   b(j)    = C(ref) + sum J y
//
// Bodies go in order; the first body of a joint (the lower index, or the only moving one) writes its blocks, the
// second adds. A body that carries nothing but ball joints takes the short way: its blocks are
// R c(X, Y) R' with the 3x3 compliance of body/affine.h. All others build their rows one by one. The freedoms of
// a hub are unknowns (topology/graph.c): it writes -H and J, and no J H^-1 J'.

#include "cpu/stages.h"

#include "math/block.h"

#include <string.h>

// r in the body frame: inertia, gravity, drag.
static mabd_affine inertia_force(const mabd_cpu_sim* sim, size_t body, const mabd_body_block* b,
                                 mabd_real mass, mabd_mat3 R) {
    const mabd_real *q_hat = sim->q_hat + 12 * body, *ref = sim->ref + 12 * body;
    mabd_affine r;
    r.d1 = mabd_m3_tmul(R, mabd_v3_load(q_hat));
    r.d2 = mabd_m3_tmul(R, mabd_v3_load(q_hat + 3));
    r.d3 = mabd_m3_tmul(R, mabd_v3_load(q_hat + 6));
    r.d1.x -= 1, r.d2.y -= 1, r.d3.z -= 1;
    r.d1 = mabd_v3_scale(b->sm[0], r.d1);
    r.d2 = mabd_v3_scale(b->sm[1], r.d2);
    r.d3 = mabd_v3_scale(b->sm[2], r.d3);
    mabd_vec3 f = mabd_v3_scale(b->mm, mabd_v3_sub(mabd_v3_load(q_hat + 9), mabd_v3_load(ref + 9)));
    f = mabd_v3_axpy(mass, mabd_v3_load(sim->model->gravity), f);
    r.tau = mabd_m3_tmul(R, f);
    return r;
}

// drag (wind - t'), t' = (t - t_b)/bh: the part that depends on t is in the block.
static void add_drag(const mabd_cpu_sim* sim, size_t body, const mabd_body_block* b, mabd_real drag,
                     mabd_mat3 R, mabd_affine* r) {
    mabd_vec3 t_b = mabd_v3_scale(sim->step.w, mabd_v3_load(sim->q + 12 * body + 9));
    t_b = mabd_v3_axpy(sim->step.w1, mabd_v3_load(sim->q1 + 12 * body + 9), t_b);
    mabd_vec3 f = mabd_v3_scale(drag, sim->step.wind);
    f = mabd_v3_axpy(b->drag_rate, mabd_v3_sub(t_b, mabd_v3_load(sim->ref + 12 * body + 9)), f);
    r->tau = mabd_v3_add(r->tau, mabd_m3_tmul(R, f));
}

static void add_point_forces(const mabd_cpu_sim* sim, int32_t body, mabd_mat3 R, mabd_affine* r) {
    const mabd_model* m = sim->model;
    int32_t low = 0, high = m->force_count; // sorted by body: the first one of this body
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (m->forces[middle].body < body) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (int32_t i = low; i < m->force_count && m->forces[i].body == body; i++) {
        const mabd_model_force* force = &m->forces[i];
        const mabd_real s = sim->force_scale[i];
        mabd_vec3 f = force->force, t = force->torque;
        if (!force->body_frame) f = mabd_m3_tmul(R, f), t = mabd_m3_tmul(R, t);
        *r = mabd_affine_axpy(s, mabd_affine_at(force->point, f), *r);
        *r = mabd_affine_axpy(s, mabd_affine_torque(t), *r);
    }
}

static void add_motors(const mabd_cpu_sim* sim, const mabd_model_joint* joint,
                       const mabd_joint_view* view, int is_b, mabd_affine* r) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_real* force = sim->motors + (size_t)joint->row_set * MABD_JOINT_MAX_ROWS;
    if (set->motor_count == 0) return;
    const mabd_vec3 gap = mabd_joint_gap(view);
    for (int32_t k = 0; k < set->motor_count; k++) {
        const mabd_affine J = mabd_row_jacobian(view, &set->motor[k].row, gap, is_b);
        *r = mabd_affine_axpy(force[k], J, *r);
    }
}

static void add_loose_motors(const mabd_cpu_sim* sim, int32_t body, mabd_affine* r) {
    for (size_t i = 0; i < sim->sizes.loose; i++) {
        const mabd_model_joint* joint = &sim->model->joints[sim->loose[i]];
        mabd_joint_view view;
        if (joint->a != body && joint->b != body) continue;
        mabd_cpu_view(sim, joint, sim->ref, &view);
        add_motors(sim, joint, &view, joint->b == body, r);
    }
}

// True for the body that starts the blocks of a joint; the other one adds.
static bool is_first(const mabd_model* m, const mabd_model_joint* joint, int32_t body) {
    const int32_t other = joint->a == body ? joint->b : joint->a;
    return m->body_motion[other] != MABD_MOTION_DYNAMIC || other > body;
}

// ---- bodies that carry ball joints only ----------------------------------------------------------

// Blocks of one body wait until there are LANES of them: the compiler makes vectors of the loop over them.
#define LANES 4

// By pointer: a copy as an argument waits until all its parts have reached the cache.
typedef struct simple_body {
    const mabd_body_block* block;
    mabd_sym3 Z;
    mabd_mat3 R;
    mabd_affine y;
} simple_body;

typedef struct block_batch {
    mabd_real X[3][LANES], Y[3][LANES]; // the two points of a block
    mabd_real K[9][LANES];              // R c(X, Y) R', by rows
    mabd_real sign[LANES];
    bool first[LANES];    // write, do not add
    bool diagonal[LANES]; // X is Y: symmetric, to the last bit
    mabd_real* to[LANES];
    int32_t count;
} block_batch;

static void compute_blocks(const simple_body* MABD_RESTRICT own, block_batch* MABD_RESTRICT w) {
    const mabd_body_block* MABD_RESTRICT b = own->block;
    const mabd_sym3 Z = own->Z;
    const mabd_mat3 R = own->R;
    for (int l = 0; l < LANES; l++) {
        const mabd_attachment x =
            mabd_body_block_attach(b, Z, mabd_v3(w->X[0][l], w->X[1][l], w->X[2][l]));
        const mabd_attachment y =
            mabd_body_block_attach(b, Z, mabd_v3(w->Y[0][l], w->Y[1][l], w->Y[2][l]));
        const mabd_mat3 c = mabd_body_block_compliance(b, &x, &y);
        const mabd_mat3 C = mabd_m3_product(mabd_m3_product(R, c), mabd_m3_transpose(R));
        const mabd_real s = w->sign[l];
        w->K[0][l] = s * C.c1.x, w->K[1][l] = s * C.c2.x, w->K[2][l] = s * C.c3.x;
        w->K[3][l] = s * C.c1.y, w->K[4][l] = s * C.c2.y, w->K[5][l] = s * C.c3.y;
        w->K[6][l] = s * C.c1.z, w->K[7][l] = s * C.c2.z, w->K[8][l] = s * C.c3.z;
    }
}

static void flush_blocks(const simple_body* own, block_batch* w) {
    for (int l = w->count; l < LANES; l++) { // the rest computes the first one again
        for (int k = 0; k < 3; k++) w->X[k][l] = w->X[k][0], w->Y[k][l] = w->Y[k][0];
        w->sign[l] = w->sign[0];
    }
    compute_blocks(own, w);
    for (int l = 0; l < w->count; l++) {
        mabd_real* to = w->to[l];
        if (w->diagonal[l]) {
            w->K[3][l] = w->K[1][l], w->K[6][l] = w->K[2][l], w->K[7][l] = w->K[5][l];
        }
        if (w->first[l]) {
            for (int k = 0; k < 9; k++) to[k] = w->K[k][l];
        } else {
            for (int k = 0; k < 9; k++) to[k] += w->K[k][l];
        }
    }
    w->count = 0;
}

// to <- or += sign R c(X, Y) R', now or later
static void add_block(const simple_body* own, block_batch* w, mabd_vec3 X, mabd_vec3 Y,
                      bool diagonal, mabd_real sign, bool first, mabd_real* to) {
    const int l = w->count++;
    w->X[0][l] = X.x, w->X[1][l] = X.y, w->X[2][l] = X.z;
    w->Y[0][l] = Y.x, w->Y[1][l] = Y.y, w->Y[2][l] = Y.z;
    w->sign[l] = sign, w->diagonal[l] = diagonal;
    w->first[l] = first, w->to[l] = to;
    if (w->count == LANES) flush_blocks(own, w);
}

// J y = +-R (D X + tau) of one side, added to C(ref) or to what the first body left.
static void add_point_rhs(mabd_cpu_sim* sim, const mabd_model_joint* joint, mabd_vec3 X, int is_b,
                          bool first, mabd_mat3 R, const mabd_affine* y, mabd_real* rhs) {
    mabd_vec3 move = mabd_v3_add(mabd_v3_scale(X.x, y->d1), mabd_v3_scale(X.y, y->d2));
    move = mabd_m3_mul(R, mabd_v3_add(mabd_v3_axpy(X.z, y->d3, move), y->tau));
    mabd_vec3 start = mabd_v3_load(rhs);
    if (first) { // P_b - P_a at the reference
        const mabd_real* own = sim->ref + 12 * (size_t)(is_b ? joint->b : joint->a);
        const mabd_real* far = sim->ref + 12 * (size_t)(is_b ? joint->a : joint->b);
        const mabd_vec3 Y = mabd_v3_load(is_b ? joint->Xa : joint->Xb);
        const mabd_vec3 here = mabd_v3_add(mabd_m3_mul(R, X), mabd_v3_load(own + 9));
        const mabd_vec3 there =
            mabd_v3_add(mabd_m3_mul(mabd_m3_load(far), Y), mabd_v3_load(far + 9));
        start = is_b ? mabd_v3_sub(here, there) : mabd_v3_sub(there, here);
    }
    mabd_v3_store(is_b ? mabd_v3_add(start, move) : mabd_v3_sub(start, move), rhs);
}

static void assemble_simple(mabd_cpu_sim* sim, int32_t body, const simple_body* own) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t side_count = plan->side_start[body + 1] - plan->side_start[body];
    mabd_vec3* points = sim->points;
    block_batch batch;
    batch.count = 0;
    for (int32_t i = 0; i < side_count; i++) {
        const int32_t slot = sides[i].slot, is_b = sides[i].is_b;
        const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[slot]];
        const bool first = is_first(sim->model, joint, body);
        const mabd_vec3 X = points[i] = mabd_v3_load(is_b ? joint->Xb : joint->Xa);
        add_block(own, &batch, X, X, true, 1, first, sim->D + plan->slot_block[slot]);
        add_point_rhs(sim, joint, X, is_b, first, own->R, &own->y,
                      sim->lambda + plan->slot_row[slot]);
    }
    for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
        const mabd_plan_pair* pair = &plan->pairs[p];
        const mabd_real sign = sides[pair->i].is_b == sides[pair->j].is_b ? 1 : -1;
        add_block(own, &batch, points[pair->i], points[pair->j], false, sign, !sim->shared_edges,
                  sim->U + plan->edge_block[pair->edge]);
    }
    if (batch.count > 0) flush_blocks(own, &batch);
}

// Ask for what a body will need, AHEAD bodies before its turn: joints and blocks lie in the order of the plan,
// which is not that of the bodies. What tells where they are is asked for as long before.
#define AHEAD 6
static void prefetch_joints(const mabd_cpu_sim* sim, int32_t body) {
    const mabd_plan* plan = sim->model->plan;
    if (body >= plan->body_count || sim->body_kind[body] != MABD_BODY_SIMPLE) return;
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        const int32_t slot = plan->sides[s].slot;
        const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[slot]];
        MABD_PREFETCH(joint);
        MABD_PREFETCH(joint->Xb);
        MABD_PREFETCH(plan->slot_block + slot);
        MABD_PREFETCH(plan->slot_row + slot);
    }
    for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
        MABD_PREFETCH(plan->edge_block + plan->pairs[p].edge);
    }
}
static void prefetch_blocks(const mabd_cpu_sim* sim, int32_t body) {
    const mabd_plan* plan = sim->model->plan;
    if (body >= plan->body_count || sim->body_kind[body] != MABD_BODY_SIMPLE) return;
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        const int32_t slot = plan->sides[s].slot;
        const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[slot]];
        const mabd_real* far = sim->ref + 12 * (size_t)(plan->sides[s].is_b ? joint->a : joint->b);
        MABD_PREFETCH(far);
        MABD_PREFETCH(far + 11);
        MABD_PREFETCH(sim->D + plan->slot_block[slot]);
        MABD_PREFETCH(sim->D + plan->slot_block[slot] + 8);
        MABD_PREFETCH(sim->lambda + plan->slot_row[slot]);
    }
    for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
        const mabd_real* U = sim->U + plan->edge_block[plan->pairs[p].edge];
        MABD_PREFETCH(U);
        MABD_PREFETCH(U + 8);
    }
}

// ---- any rows -----------------------------------------------------------------------------------

// Strain of the last iteration or step, body frame.
static mabd_sym3 strain_of(const mabd_cpu_sim* sim, const mabd_real* stress, int32_t body) {
    const mabd_model* m = sim->model;
    const mabd_sym3 none = {0, 0, 0, 0, 0, 0};
    if (m->body_motion[body] != MABD_MOTION_DYNAMIC) return none;
    return mabd_body_block_strain(&sim->blocks[m->body_class[body]],
                                  mabd_sym3_load(stress + 6 * (size_t)body));
}

// The rotation vector of a joint at the reference, once for both its bodies and for the update.
static void find_turn(mabd_cpu_sim* sim, const mabd_model_joint* joint) {
    mabd_joint_view view;
    mabd_cpu_view(sim, joint, sim->ref, &view);
    mabd_v3_store(mabd_joint_turn(&view), sim->phi + 3 * (size_t)joint->coordinate);
}

// C(ref) and the compliances of a joint: what starts its blocks.
static void start_joint(mabd_cpu_sim* sim, const mabd_real* stress, const mabd_model_joint* joint,
                        const mabd_joint_view* view, mabd_real* D, mabd_real* rhs) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const int32_t width = set->rigid_count + set->control_count;
    const mabd_vec3 gap = mabd_joint_gap(view);
    memset(D, 0, (size_t)(width * width) * sizeof *D);
    for (int32_t r = 0; r < set->rigid_count; r++)
        rhs[r] = mabd_row_value(view, &set->rigid[r], gap);
    mabd_sym3 ea = {0, 0, 0, 0, 0, 0}, eb = ea;
    if (set->nonlinear) {
        ea = strain_of(sim, stress, joint->a), eb = strain_of(sim, stress, joint->b);
        for (int32_t r = 0; r < set->rigid_count; r++) {
            rhs[r] += mabd_row_remainder(view, &set->rigid[r], ea, eb);
        }
    }
    if (set->control_count == 0) return;

    const mabd_control_value* value = sim->controls + (size_t)joint->row_set * MABD_JOINT_MAX_ROWS;
    const mabd_real rate = 1 / sim->step.beta_h, w = sim->step.w, w1 = sim->step.w1;
    mabd_real* x_ref = sim->x_ref + joint->coordinate;
    mabd_real near[MABD_JOINT_MAX_ROWS];
    for (int32_t r = 0; r < set->control_count; r++) near[r] = x_ref[r];
    mabd_joint_coordinates(view, set->control_count, set->control_row, near, x_ref);
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        const int32_t row = set->rigid_count + r, i = joint->coordinate + r;
        const mabd_real x_b = w * sim->x[i] + w1 * sim->x1[i];
        const mabd_real xd_b = w * sim->xd[i] + w1 * sim->xd1[i];
        // x* = c (k rest + kp target + d x_b/bh + I (x_b/bh + x'_b)/bh)
        const mabd_real x_star =
            c->rigid ? value[r].target
                     : value[r].compliance *
                           (value[r].target +
                            rate * (c->damping * x_b + c->armature * (rate * x_b + xd_b)));
        rhs[row] = x_ref[r] - x_star;
        if (c->rigid) {
            rhs[row] += mabd_coordinate_remainder(view, &set->control_row[r], ea, eb, x_ref[r]);
        }
        D[row * width + row] = value[r].compliance;
    }
}

// The first body of a joint starts its blocks.
static void start_side(mabd_cpu_sim* sim, const mabd_real* stress, int32_t body,
                       const mabd_plan_side* side) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[side->slot]];
    mabd_joint_view view;
    mabd_vec3 phi;
    if (!is_first(sim->model, joint, body)) return;
    if (sim->model->row_sets[joint->row_set].vectors) find_turn(sim, joint);
    mabd_cpu_ref_view(sim, joint, &phi, &view);
    start_joint(sim, stress, joint, &view, sim->D + plan->slot_block[side->slot],
                sim->lambda + plan->slot_row[side->slot]);
}

// Rows of one joint on a body, and what its motors push.
static void side_rows(const mabd_cpu_sim* sim, const mabd_plan_side* side, mabd_side_work* work,
                      mabd_affine* r) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[side->slot]];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_joint_view view;
    mabd_vec3 phi;
    mabd_cpu_ref_view(sim, joint, &phi, &view);
    const mabd_vec3 gap = mabd_joint_gap(&view);
    work->point.X = side->is_b ? view.Xb : view.Xa;
    work->sign = side->is_b ? 1 : -1;
    work->points = set->rigid_count > 0 && set->rigid[0].kind == MABD_ROW_POINT ? 3 : 0;
    work->others = 0;
    for (int32_t k = work->points; k < set->rigid_count; k++) {
        work->rows[work->others++].J = mabd_row_jacobian(&view, &set->rigid[k], gap, side->is_b);
    }
    for (int32_t k = 0; k < set->control_count; k++) {
        work->rows[work->others++].J =
            mabd_row_jacobian(&view, &set->control_row[k], gap, side->is_b);
    }
    add_motors(sim, joint, &view, side->is_b, r);
}

// s R (D X + tau): what an increment does to the point rows at X
static mabd_vec3 point_rows(mabd_mat3 R, const mabd_side_work* at, const mabd_affine* y) {
    const mabd_vec3 X = at->point.X;
    mabd_vec3 move = mabd_v3_add(mabd_v3_scale(X.x, y->d1), mabd_v3_scale(X.y, y->d2));
    move = mabd_v3_add(mabd_v3_axpy(X.z, y->d3, move), y->tau);
    return mabd_v3_scale(at->sign, mabd_m3_mul(R, move));
}

// Add a column of three rows.
static void add_column(mabd_vec3 v, mabd_real* K, int32_t stride) {
    K[0] += v.x, K[stride] += v.y, K[2 * stride] += v.z;
}

// The diagonal block and the right-hand side of one joint.
static void add_diagonal(const mabd_body_block* b, mabd_sym3 Z, mabd_mat3 R, const mabd_affine* y,
                         mabd_side_work* work, mabd_real* D, mabd_real* rhs) {
    const int32_t points = work->points, width = points + work->others;
    if (points) {
        work->point = mabd_body_block_attach(b, Z, work->point.X);
        const mabd_sym3 c = mabd_sym3_rotate(R, mabd_body_block_self_compliance(b, &work->point));
        add_column(mabd_v3(c.xx, c.xy, c.xz), D, width);
        add_column(mabd_v3(c.xy, c.yy, c.yz), D + 1, width);
        add_column(mabd_v3(c.xz, c.yz, c.zz), D + 2, width);
        add_column(point_rows(R, work, y), rhs, 1);
    }
    for (int32_t r = 0; r < work->others; r++) {
        mabd_row_work* row = &work->rows[r];
        const int32_t at = points + r;
        row->Y = mabd_body_block_solve(b, Z, row->J);
        rhs[at] += mabd_affine_dot(row->J, *y);
        if (points) {
            const mabd_vec3 v = point_rows(R, work, &row->Y);
            add_column(v, D + at, width);
            add_column(v, D + at * width, 1);
        }
        for (int32_t c = 0; c <= r; c++) {
            const mabd_real k = mabd_affine_dot(work->rows[c].J, row->Y);
            D[at * width + points + c] += k;
            if (c < r) D[(points + c) * width + at] += k;
        }
    }
}

// The block of two joints on one body; U is zero before the first share.
static void add_coupling(const mabd_body_block* b, mabd_mat3 R, const mabd_side_work* from,
                         const mabd_side_work* to, mabd_real* U) {
    const int32_t width = to->points + to->others;
    if (from->points && to->points) {
        const mabd_mat3 c = mabd_body_block_compliance(b, &from->point, &to->point);
        const mabd_mat3 K = mabd_m3_product(mabd_m3_product(R, c), mabd_m3_transpose(R));
        const mabd_real sign = from->sign * to->sign;
        add_column(mabd_v3_scale(sign, K.c1), U, width);
        add_column(mabd_v3_scale(sign, K.c2), U + 1, width);
        add_column(mabd_v3_scale(sign, K.c3), U + 2, width);
    }
    for (int32_t c = 0; from->points && c < to->others; c++) {
        add_column(point_rows(R, from, &to->rows[c].Y), U + to->points + c, width);
    }
    for (int32_t r = 0; r < from->others; r++) {
        mabd_real* row = U + (from->points + r) * width;
        if (to->points) add_column(point_rows(R, to, &from->rows[r].Y), row, 1);
        for (int32_t c = 0; c < to->others; c++) {
            row[to->points + c] += mabd_affine_dot(from->rows[r].Y, to->rows[c].J);
        }
    }
}

static void assemble_general(mabd_cpu_sim* sim, int32_t body, const mabd_body_block* b, mabd_sym3 Z,
                             mabd_mat3 R, mabd_affine y) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t side_count = plan->side_start[body + 1] - plan->side_start[body];
    for (int32_t i = 0; i < side_count; i++) {
        add_diagonal(b, Z, R, &y, &sim->sides[i], sim->D + plan->slot_block[sides[i].slot],
                     sim->lambda + plan->slot_row[sides[i].slot]);
    }
    for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
        const mabd_plan_pair* pair = &plan->pairs[p];
        const size_t at = plan->edge_block[pair->edge];
        mabd_real* U = sim->U + at;
        if (!sim->shared_edges) memset(U, 0, (plan->edge_block[pair->edge + 1] - at) * sizeof *U);
        add_coupling(b, R, &sim->sides[pair->i], &sim->sides[pair->j], U);
    }
}

// ---- hubs ----------------------------------------------------------------------------------------

// Rows of a joint as rows of 12 numbers; returns how many.
static int32_t hub_rows(mabd_mat3 R, const mabd_side_work* work, mabd_real (*J)[12]) {
    const mabd_vec3 X = work->point.X;
    const mabd_vec3 rows[3] = {mabd_v3(R.c1.x, R.c2.x, R.c3.x), mabd_v3(R.c1.y, R.c2.y, R.c3.y),
                               mabd_v3(R.c1.z, R.c2.z, R.c3.z)};
    for (int32_t k = 0; k < work->points; k++) {
        mabd_affine_store(mabd_affine_at(X, mabd_v3_scale(work->sign, rows[k])), J[k]);
    }
    for (int32_t k = 0; k < work->others; k++) {
        mabd_affine_store(work->rows[k].J, J[work->points + k]);
    }
    return work->points + work->others;
}

// The two blocks that couple side i of a hub with its freedoms: J before the hub's slots, J' after them.
static void couple_with_hub(mabd_cpu_sim* sim, const mabd_plan_pair* pairs, int32_t early,
                            int32_t late, int32_t i, int32_t width, mabd_real (*J)[12]) {
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

// -H in the blocks of the hub's two slots, of which `first` is the first, and in the one between them.
static void write_hub(mabd_cpu_sim* sim, const mabd_real* H, int32_t first, int32_t edge) {
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

static void assemble_hub(mabd_cpu_sim* sim, int32_t body, const mabd_body_block* b, mabd_sym3 G,
                         mabd_mat3 R, mabd_affine y) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const mabd_plan_pair* pairs = plan->pairs + plan->pair_start[body];
    const int32_t count = plan->side_start[body + 1] - plan->side_start[body];
    const int32_t early = plan->early[body];
    mabd_real H[144], J[MABD_PLAN_SLOT_ROWS][12];
    mabd_body_block_matrix(b, G, H);
    write_hub(sim, H, sides[early].slot, pairs[2 * early].edge);
    for (int32_t i = 0; i < count; i++) {
        if (sides[i].is_b < 0) continue;
        mabd_affine none;
        side_rows(sim, &sides[i], sim->sides, &none);
        const int32_t width = hub_rows(R, sim->sides, J);
        mabd_real* rhs = sim->lambda + plan->slot_row[sides[i].slot];
        for (int32_t r = 0; r < width; r++) rhs[r] += mabd_affine_dot(mabd_affine_load(J[r]), y);
        couple_with_hub(sim, pairs, early, count - early, i, width, J);
    }
    // blocks that eliminating the hub will fill
    const int32_t pair_count = plan->pair_start[body + 1] - plan->pair_start[body];
    for (int32_t p = 2 * count - 3; p < pair_count && !sim->shared_edges; p++) {
        const size_t at = plan->edge_block[pairs[p].edge];
        memset(sim->U + at, 0, (plan->edge_block[pairs[p].edge + 1] - at) * sizeof *sim->U);
    }
}

// ---- all bodies ----------------------------------------------------------------------------------

static mabd_affine external_force(const mabd_cpu_sim* sim, int32_t body, const mabd_body_block* b,
                                  mabd_mat3 R) {
    const mabd_model* m = sim->model;
    const mabd_body_material* material = &m->classes[m->body_class[body]].material;
    mabd_affine r = inertia_force(sim, (size_t)body, b, material->mass, R);
    if (sim->body_kind[body] == MABD_BODY_SIMPLE) return r;
    if (material->drag > 0) add_drag(sim, (size_t)body, b, material->drag, R, &r);
    add_point_forces(sim, body, R, &r);
    add_loose_motors(sim, body, &r);
    return r;
}

void MABD_STAGE(assemble)(mabd_cpu_sim* sim, bool first_iteration) {
    const mabd_model* m = sim->model;
    const mabd_real* stress = first_iteration ? sim->stress : sim->stress_new;
    if (sim->shared_edges) memset(sim->U, 0, sim->sizes.edge_reals * sizeof *sim->U);
    for (int32_t body = 0; body < m->body_count; body++) {
        prefetch_joints(sim, body + 2 * AHEAD);
        prefetch_blocks(sim, body + AHEAD);
        if (m->body_motion[body] != MABD_MOTION_DYNAMIC) continue;
        const size_t at = (size_t)body;
        const mabd_body_block* b = &sim->blocks[m->body_class[body]];
        const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * at);
        const mabd_sym3 G = mabd_body_block_geometric(b, mabd_sym3_load(stress + 6 * at));
        const mabd_sym3 Z = mabd_body_block_woodbury(b, G);
        const mabd_body_kind kind = sim->body_kind[body];
        mabd_affine r = external_force(sim, body, b, R);
        mabd_sym3_store(Z, sim->geometric + 6 * at);
        if (kind != MABD_BODY_SIMPLE) {
            const mabd_plan_side* sides = m->plan->sides + m->plan->side_start[body];
            const int32_t count = m->plan->side_start[body + 1] - m->plan->side_start[body];
            for (int32_t i = 0; i < count; i++) {
                if (sides[i].is_b < 0) continue;
                start_side(sim, stress, body, &sides[i]);
                side_rows(sim, &sides[i], &sim->sides[kind == MABD_BODY_HUB ? 0 : i], &r);
            }
        }
        const mabd_affine y = mabd_body_block_solve(b, Z, r);
        mabd_affine_store(y, sim->q_new + 12 * at);
        switch (kind) {
        case MABD_BODY_SIMPLE: {
            const simple_body own = {b, Z, R, y};
            assemble_simple(sim, body, &own);
            break;
        }
        case MABD_BODY_GENERAL:
            assemble_general(sim, body, b, Z, R, y);
            break;
        case MABD_BODY_HUB:
            assemble_hub(sim, body, b, G, R, y);
            break;
        }
    }
}
