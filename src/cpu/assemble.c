// SPDX-License-Identifier: Apache-2.0
// Assemble: y = H^-1 r of every body, and its share of the dual system K lambda = J y + C.
//
//   r = M (q_hat - q_ref)/bh^2 + external forces       strain is zero at the reference: no elastic force
//   D(j)    = sum over the bodies of joint j of J H^-1 J', + c of compliant rows
//   U(i,j)  = J_i H^-1 J_j' of the body that carries both
//   b(j)    = C(ref) + sum J y
//
// Bodies go in order; the first body of a joint (the lower index, or the only moving one) writes its
// blocks, the second adds. A body that carries nothing but ball joints takes the short way
// (assemble_balls.c), all others build their rows one by one (assemble_rows.c).

#include "cpu/assemble.h"

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
    const mabd_step_scale* step = mabd_cpu_scale(sim, (int32_t)body);
    mabd_vec3 t_b = mabd_v3_scale(step->w, mabd_v3_load(sim->q + 12 * body + 9));
    t_b = mabd_v3_axpy(step->w1, mabd_v3_load(sim->q1 + 12 * body + 9), t_b);
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

static void add_loose_motors(const mabd_cpu_sim* sim, int32_t body, mabd_affine* r) {
    for (size_t i = 0; i < sim->sizes.loose; i++) {
        const mabd_model_joint* joint = &sim->model->joints[sim->loose[i]];
        mabd_joint_view view;
        if (joint->a != body && joint->b != body) continue;
        mabd_cpu_view(sim, joint, sim->ref, &view);
        MABD_STAGE(add_motors)(sim, joint, &view, joint->b == body, r);
    }
}

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

// Joints and blocks are asked for this many bodies before their turn: they lie in the order of the plan,
// which need not be that of the bodies. What tells where they are is asked for as long before.
#define AHEAD 6

// What geometric stiffness is made of.
static const mabd_real* choose_stress(const mabd_cpu_sim* sim, mabd_pass pass) {
    if (pass == MABD_PASS_FIRST) return sim->stress;
    return pass == MABD_PASS_AGAIN && sim->sizes.held > 0 ? sim->stress_held : sim->stress_new;
}

void MABD_STAGE(assemble)(mabd_cpu_sim* sim, mabd_pass pass) {
    const mabd_model* m = sim->model;
    const mabd_real* stress = choose_stress(sim, pass);
    if (sim->sizes.held > 0 && pass != MABD_PASS_AGAIN) {
        memcpy(sim->stress_held, stress, 6 * sim->sizes.held * sizeof *stress);
    }
    if (sim->contacts) sim->contacts->rows.count = 0;
    if (sim->shared_edges) memset(sim->U, 0, sim->sizes.edge_reals * sizeof *sim->U);
    for (int32_t body = 0; body < m->body_count; body++) {
        MABD_STAGE(prefetch_joints)(sim, body + 2 * AHEAD);
        MABD_STAGE(prefetch_blocks)(sim, body + AHEAD);
        if (m->body_motion[body] != MABD_MOTION_DYNAMIC) continue;
        if (pass == MABD_PASS_AGAIN && MABD_STAGE(is_kept)(sim, body)) {
            MABD_STAGE(assemble_kept)(sim, body);
            continue;
        }
        const size_t at = (size_t)body;
        const mabd_body_block* b = mabd_cpu_block(sim, body);
        const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * at);
        const mabd_sym3 G = mabd_body_block_geometric(b, mabd_sym3_load(stress + 6 * at));
        const mabd_sym3 Z = mabd_body_block_woodbury(b, G);
        const mabd_body_kind kind = sim->body_kind[body];
        mabd_affine r = external_force(sim, body, b, R);
        mabd_sym3_store(Z, sim->geometric + 6 * at);
        if (kind != MABD_BODY_SIMPLE) MABD_STAGE(start_rows)(sim, stress, body, &r);
        mabd_assembly own = {.block = b, .G = G, .Z = Z, .R = R};
        if (sim->contacts && sim->contacts->head[body] >= 0) {
            MABD_STAGE(touch)(sim, body, &r, &own);
        } else {
            own.y = mabd_body_block_solve(b, Z, r);
        }
        mabd_affine_store(own.y, sim->q_new + 12 * at);
        switch (kind) {
        case MABD_BODY_SIMPLE:
            MABD_STAGE(assemble_balls)(sim, body, &own);
            break;
        case MABD_BODY_SPRUNG:
            MABD_STAGE(assemble_springs)(sim, body, &own);
            break;
        case MABD_BODY_GENERAL:
            MABD_STAGE(assemble_rows)(sim, body, &own);
            break;
        case MABD_BODY_HUB:
            MABD_STAGE(assemble_hub)(sim, body, &own);
            break;
        }
    }
    MABD_STAGE_END();
}
