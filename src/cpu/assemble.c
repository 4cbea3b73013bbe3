// SPDX-License-Identifier: Apache-2.0
// Assemble: y = H^-1 r of every body, and its share of the dual system K lambda = J y + C.
//
//   r = M (q_hat - q_ref)/bh^2 + external forces       strain is zero at the reference: no elastic force
//   D(j)    = sum over the bodies of joint j of J H^-1 J', + c of compliant rows
//   U(i,j)  = J_i H^-1 J_j' of the body that carries both
//   b(j)    = C(ref) + sum J y
//
// Bodies go tile by tile, in packs (pack_balls.c, pack_rows.c) or one by one; the first side of a joint writes its blocks, the second adds
// (cpu/pack.h). One by one, a body that carries nothing but ball joints takes the short way (assemble_balls.c), all others
// build their rows (assemble_rows.c).

#include "cpu/assemble.h"

#include "math/block.h"

// r in the body frame: inertia, gravity.
static mabd_affine inertia_force(const mabd_cpu_sim* sim, int32_t body, const mabd_body_block* b,
                                 mabd_real mass) {
    const size_t at = 12 * (size_t)body;
    const mabd_step_scale* step = mabd_cpu_scale(sim, body);
    mabd_real q_hat[12];
    for (size_t k = 0; k < 12; k++) {
        q_hat[k] = mabd_step_target(step, sim->q[at + k], sim->q1[at + k], sim->v[at + k],
                                    sim->v1[at + k]);
    }
    const mabd_vec3 weight = mabd_v3_scale(mass, mabd_v3_load(sim->model->gravity));
    return mabd_body_block_inertia(b, mabd_affine_load(q_hat), mabd_affine_load(sim->ref + at),
                                   weight);
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

void MABD_STAGE(push_body)(const mabd_cpu_sim* sim, int32_t body, mabd_mat3 R, mabd_affine* r) {
    add_point_forces(sim, body, R, r);
    add_loose_motors(sim, body, r);
}

static mabd_affine external_force(const mabd_cpu_sim* sim, int32_t body, const mabd_body_block* b,
                                  mabd_mat3 R) {
    const mabd_model* m = sim->model;
    const mabd_body_material* material = &m->classes[m->body_class[body]].material;
    mabd_affine r = inertia_force(sim, body, b, material->mass);
    const uint8_t kind = sim->body_kind[body];
    if (kind == MABD_BODY_SIMPLE || kind == MABD_BODY_ROWS) return r;
    if (material->drag > 0) add_drag(sim, (size_t)body, b, material->drag, R, &r);
    MABD_STAGE(push_body)(sim, body, R, &r);
    return r;
}

// What geometric stiffness is made of.
static const mabd_real* choose_stress(const mabd_cpu_sim* sim, mabd_pass pass) {
    if (pass == MABD_PASS_FIRST) return sim->stress;
    return pass == MABD_PASS_AGAIN && sim->sizes.held > 0 ? sim->stress_held : sim->stress_new;
}

static void assemble_body(mabd_cpu_sim* sim, int32_t body, const mabd_real* stress,
                          int32_t thread) {
    const size_t at = (size_t)body, place = (size_t)thread * sim->sizes.widest_body;
    const mabd_body_block* b = mabd_cpu_block(sim, body);
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * at);
    const mabd_sym3 G = mabd_body_block_geometric(b, mabd_sym3_load(stress + 6 * at));
    const mabd_sym3 Z = mabd_body_block_woodbury(b, G);
    const mabd_body_kind kind = sim->body_kind[body];
    const bool rows = kind != MABD_BODY_SIMPLE && kind != MABD_BODY_SPRUNG;
    mabd_affine r = external_force(sim, body, b, R);
    mabd_sym3_store(Z, sim->geometric + 6 * at);
    if (rows) MABD_STAGE(open_rows)(sim, body, sim->sides + place, &r);
    mabd_assembly own = {.block = b, .G = G, .Z = Z, .R = R};
    own.t = mabd_v3_load(sim->ref + 12 * at + 9);
    if (sim->contacts && sim->contacts->head[body] >= 0) {
        MABD_STAGE(touch)(sim, body, &r, &own);
    } else {
        own.y = mabd_body_block_solve(b, Z, r);
    }
    mabd_affine_store(own.y, sim->q_new + 12 * at);
    switch (kind) {
    case MABD_BODY_SIMPLE:
        MABD_STAGE(assemble_balls)(sim, body, &own, sim->points + place);
        break;
    case MABD_BODY_SPRUNG:
        MABD_STAGE(assemble_springs)(sim, body, &own, sim->springs + place);
        break;
    case MABD_BODY_GENERAL:
    case MABD_BODY_ROWS:
        MABD_STAGE(assemble_rows)(sim, body, &own, sim->sides + place);
        break;
    case MABD_BODY_HUB:
        MABD_STAGE(assemble_hub)(sim, body, &own, sim->sides + place);
        break;
    }
}

// ---- tiles -------------------------------------------------------------------------------------------

// Lanes take one block: bodies that are touched, or that others are not like in the scheme of this solve, go one by one.
bool MABD_STAGE(fits_lanes)(const mabd_cpu_sim* sim, const mabd_pack* pack) {
    if (!sim->contacts) return true;
    const bool euler = mabd_cpu_is_euler(sim, pack->body[0]);
    for (int32_t l = 0; l < pack->count; l++) {
        if (sim->contacts->head[pack->body[l]] >= 0) return false;
        if (mabd_cpu_is_euler(sim, pack->body[l]) != euler) return false;
    }
    return true;
}

static void assemble_singly(mabd_cpu_sim* sim, const mabd_pack* pack, mabd_pass pass,
                            const mabd_real* stress, int32_t thread) {
    for (int32_t l = 0; l < pack->count; l++) {
        if (pass == MABD_PASS_AGAIN && MABD_STAGE(is_kept)(sim, pack->body[l])) {
            MABD_STAGE(assemble_kept)(sim, pack->body[l]);
        } else {
            assemble_body(sim, pack->body[l], stress, thread);
        }
    }
}

void MABD_STAGE(start)(mabd_cpu_sim* sim, mabd_pass pass, const mabd_tile* tile) {
    const mabd_packs* packs = sim->packs;
    const mabd_real* stress = choose_stress(sim, pass);
    for (int32_t p = tile->pack_first; p < tile->pack_last; p++) {
        const mabd_pack* pack = &packs->packs[p]; // in lanes joints are begun on the way
        if (pack->kind == MABD_BODY_SIMPLE || MABD_STAGE(fits_lanes)(sim, pack)) continue;
        for (int32_t l = 0; l < pack->count; l++) {
            MABD_STAGE(start_joints)(sim, stress, pack->body[l]);
        }
    }
    for (int32_t i = tile->odd_first; i < tile->odd_last; i++) {
        MABD_STAGE(start_joints)(sim, stress, packs->odd[i]);
    }
    for (int32_t i = tile->group_first; i < tile->group_last; i++) {
        MABD_STAGE(start_group)(sim, &packs->groups[i]);
    }
    MABD_STAGE_END();
}

// What a pack will read of its bodies: asked for while the one before is under way.
MABD_HOT void ask_for_bodies(const mabd_cpu_sim* sim, const mabd_pack* pack) {
    const mabd_real* arrays[5] = {sim->q, sim->q1, sim->v, sim->v1, sim->ref};
    for (int32_t l = 0; l < pack->count; l++) {
        for (int k = 0; k < 5; k++) {
            const mabd_real* row = arrays[k] + 12 * (size_t)pack->body[l];
            MABD_PREFETCH_FAR(row);
            MABD_PREFETCH_FAR(row + 11);
        }
    }
}

void MABD_STAGE(assemble)(mabd_cpu_sim* sim, mabd_pass pass, bool predict, const mabd_tile* tile,
                          int32_t thread) {
    const mabd_packs* packs = sim->packs;
    const mabd_real* stress = choose_stress(sim, pass);
    if (tile->run >= 0 && packs->runs[tile->run].kind == MABD_BODY_SIMPLE) {
        MABD_STAGE(assemble_run)(sim, tile->run, stress, predict);
    } else if (tile->run >= 0) {
        MABD_STAGE(assemble_row_run)(sim, tile->run, stress, predict);
    }
    if (predict && tile->looks) { // at the references of later packs as well
        for (int32_t p = tile->pack_first; p < tile->pack_last; p++) {
            if (p + 1 < tile->pack_last) ask_for_bodies(sim, &packs->packs[p + 1]);
            MABD_STAGE(predict_pack)(sim, &packs->packs[p], true);
        }
        predict = false;
    }
    for (int32_t p = tile->pack_first; p < tile->pack_last; p++) {
        const mabd_pack* pack = &packs->packs[p];
        if (p + 1 < tile->pack_last && pack->kind != MABD_BODY_SPRUNG) {
            ask_for_bodies(sim, pack + 1);
        }
        const bool kept =
            pack->kind == MABD_BODY_SIMPLE && pass == MABD_PASS_AGAIN && sim->sizes.held > 0;
        if (kept || !MABD_STAGE(fits_lanes)(sim, pack)) {
            assemble_singly(sim, pack, pass, stress, thread);
        } else if (pack->kind == MABD_BODY_SPRUNG) {
            MABD_STAGE(assemble_spring_pack)(sim, pack, stress, predict);
        } else {
            MABD_STAGE(assemble_pack)(sim, pack, stress, predict);
        }
    }
    for (int32_t i = tile->odd_first; i < tile->odd_last; i++) {
        assemble_body(sim, packs->odd[i], stress, thread);
    }
    MABD_STAGE_END();
}
