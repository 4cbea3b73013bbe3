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
// R c(X, Y) R' with the 3x3 compliance of body/affine.h. All others build their rows one by one.

#include "cpu/stages.h"

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

static void add_symmetric(mabd_sym3 S, bool first, mabd_real* K) {
    const mabd_real rows[9] = {S.xx, S.xy, S.xz, S.xy, S.yy, S.yz, S.xz, S.yz, S.zz};
    if (first) {
        for (int k = 0; k < 9; k++) K[k] = rows[k];
    } else {
        for (int k = 0; k < 9; k++) K[k] += rows[k];
    }
}

// K <- or += s R B R'
static void add_rotated(mabd_mat3 R, mabd_mat3 B, mabd_real s, bool first, mabd_real* K) {
    const mabd_mat3 C = mabd_m3_product(mabd_m3_product(R, B), mabd_m3_transpose(R));
    const mabd_real rows[9] = {C.c1.x, C.c2.x, C.c3.x, C.c1.y, C.c2.y,
                               C.c3.y, C.c1.z, C.c2.z, C.c3.z};
    if (first) {
        for (int k = 0; k < 9; k++) K[k] = s * rows[k];
    } else {
        for (int k = 0; k < 9; k++) K[k] += s * rows[k];
    }
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

// One side's diagonal block and right-hand side.
static mabd_attachment add_side(mabd_cpu_sim* sim, int32_t body, const mabd_body_block* b,
                                mabd_sym3 Z, mabd_mat3 R, const mabd_affine* y,
                                mabd_plan_side side) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[side.slot]];
    const bool first = is_first(sim->model, joint, body);
    const mabd_attachment point =
        mabd_body_block_attach(b, Z, mabd_v3_load(side.is_b ? joint->Xb : joint->Xa));
    const mabd_sym3 c = mabd_sym3_rotate(R, mabd_body_block_self_compliance(b, &point));
    add_symmetric(c, first, sim->D + plan->slot_block[side.slot]);
    add_point_rhs(sim, joint, point.X, side.is_b, first, R, y,
                  sim->lambda + plan->slot_row[side.slot]);
    return point;
}

static void add_pair(mabd_cpu_sim* sim, const mabd_body_block* b, mabd_mat3 R,
                     const mabd_plan_side* sides, const mabd_plan_pair* pair,
                     const mabd_attachment* x, const mabd_attachment* y) {
    const mabd_real sign = sides[pair->i].is_b == sides[pair->j].is_b ? 1 : -1;
    add_rotated(R, mabd_body_block_compliance(b, x, y), sign, !sim->shared_edges,
                sim->U + sim->model->plan->edge_block[pair->edge]);
}

static void assemble_simple(mabd_cpu_sim* sim, int32_t body, const mabd_body_block* b, mabd_sym3 Z,
                            mabd_mat3 R, mabd_affine y) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const mabd_plan_pair* pairs = plan->pairs + plan->pair_start[body];
    const int32_t side_count = plan->side_start[body + 1] - plan->side_start[body];
    const int32_t pair_count = plan->pair_start[body + 1] - plan->pair_start[body];
    if (side_count == 2) { // a link of a chain: both points stay in registers
        const mabd_attachment x = add_side(sim, body, b, Z, R, &y, sides[0]);
        const mabd_attachment z = add_side(sim, body, b, Z, R, &y, sides[1]);
        if (pair_count == 1) add_pair(sim, b, R, sides, pairs, &x, &z);
        return;
    }
    mabd_attachment* points = sim->points;
    for (int32_t i = 0; i < side_count; i++) {
        points[i] = add_side(sim, body, b, Z, R, &y, sides[i]);
    }
    for (int32_t p = 0; p < pair_count; p++) {
        add_pair(sim, b, R, sides, &pairs[p], &points[pairs[p].i], &points[pairs[p].j]);
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

static const mabd_row* row_of(const mabd_row_set* set, int32_t r) {
    return r < set->rigid_count ? &set->rigid[r] : &set->control_row[r - set->rigid_count];
}

static int32_t width_of(const mabd_row_set* set) {
    return set->rigid_count + set->control_count;
}

// Rows of all joints on a body into sim->rows; what their motors push goes into r.
static void body_rows(mabd_cpu_sim* sim, const mabd_real* stress, int32_t body, mabd_affine* r) {
    const mabd_model* m = sim->model;
    const mabd_plan* plan = m->plan;
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        const mabd_plan_side* side = &plan->sides[s];
        const mabd_model_joint* joint = &m->joints[plan->slot_joint[side->slot]];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        mabd_row_work* rows =
            sim->rows + (size_t)(s - plan->side_start[body]) * MABD_JOINT_MAX_ROWS;
        mabd_joint_view view;
        mabd_vec3 phi;
        if (is_first(m, joint, body)) {
            if (set->vectors) find_turn(sim, joint);
            mabd_cpu_ref_view(sim, joint, &phi, &view);
            start_joint(sim, stress, joint, &view, sim->D + plan->slot_block[side->slot],
                        sim->lambda + plan->slot_row[side->slot]);
        } else {
            mabd_cpu_ref_view(sim, joint, &phi, &view);
        }
        const mabd_vec3 gap = mabd_joint_gap(&view);
        for (int32_t k = 0; k < width_of(set); k++) {
            rows[k].J = mabd_row_jacobian(&view, row_of(set, k), gap, side->is_b);
        }
        add_motors(sim, joint, &view, side->is_b, r);
    }
}

static void assemble_general(mabd_cpu_sim* sim, int32_t body, const mabd_body_block* b, mabd_sym3 Z,
                             mabd_affine y) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t side_count = plan->side_start[body + 1] - plan->side_start[body];
    for (int32_t i = 0; i < side_count; i++) {
        const int32_t slot = sides[i].slot, width = plan->slot_width[slot];
        mabd_row_work* rows = sim->rows + (size_t)i * MABD_JOINT_MAX_ROWS;
        mabd_real *D = sim->D + plan->slot_block[slot], *rhs = sim->lambda + plan->slot_row[slot];
        for (int32_t r = 0; r < width; r++) {
            rows[r].Y = mabd_body_block_solve(b, Z, rows[r].J);
            rhs[r] += mabd_affine_dot(rows[r].J, y);
            for (int32_t c = 0; c <= r; c++) {
                const mabd_real k = mabd_affine_dot(rows[c].J, rows[r].Y);
                D[r * width + c] += k;
                if (c < r) D[c * width + r] += k;
            }
        }
    }
    for (int32_t p = plan->pair_start[body]; p < plan->pair_start[body + 1]; p++) {
        const mabd_plan_pair* pair = &plan->pairs[p];
        const mabd_row_work* from = sim->rows + (size_t)pair->i * MABD_JOINT_MAX_ROWS;
        const mabd_row_work* to = sim->rows + (size_t)pair->j * MABD_JOINT_MAX_ROWS;
        const int32_t height = plan->slot_width[sides[pair->i].slot];
        const int32_t width = plan->slot_width[sides[pair->j].slot];
        mabd_real* U = sim->U + plan->edge_block[pair->edge];
        for (int32_t r = 0; r < height; r++) {
            for (int32_t c = 0; c < width; c++) {
                const mabd_real k = mabd_affine_dot(from[r].Y, to[c].J);
                U[r * width + c] = sim->shared_edges ? U[r * width + c] + k : k;
            }
        }
    }
}

void MABD_STAGE(assemble)(mabd_cpu_sim* sim, bool first_iteration) {
    const mabd_model* m = sim->model;
    const mabd_real* stress = first_iteration ? sim->stress : sim->stress_new;
    if (sim->shared_edges) memset(sim->U, 0, sim->sizes.edge_reals * sizeof *sim->U);
    for (int32_t body = 0; body < m->body_count; body++) {
        if (m->body_motion[body] != MABD_MOTION_DYNAMIC) continue;
        const size_t at = (size_t)body;
        const int32_t kind = m->body_class[body];
        const mabd_body_material* material = &m->classes[kind].material;
        const mabd_body_block* b = &sim->blocks[kind];
        const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * at);
        const mabd_sym3 Z = mabd_body_block_geometric(b, mabd_sym3_load(stress + 6 * at));
        mabd_sym3_store(Z, sim->geometric + 6 * at);
        mabd_affine r = inertia_force(sim, at, b, material->mass, R);
        if (sim->body_simple[body]) {
            const mabd_affine y = mabd_body_block_solve(b, Z, r);
            mabd_affine_store(y, sim->q_new + 12 * at);
            assemble_simple(sim, body, b, Z, R, y);
        } else {
            if (material->drag > 0) add_drag(sim, at, b, material->drag, R, &r);
            add_point_forces(sim, body, R, &r);
            add_loose_motors(sim, body, &r);
            body_rows(sim, stress, body, &r);
            const mabd_affine y = mabd_body_block_solve(b, Z, r);
            mabd_affine_store(y, sim->q_new + 12 * at);
            assemble_general(sim, body, b, Z, y);
        }
    }
}
