// SPDX-License-Identifier: Apache-2.0
// Assembly of one body: y = H^-1 r and its share of the dual system (affine/cpu/assemble.c).
#pragma once

#include "formulation/affine/element/assemble_balls.h"
#include "formulation/affine/element/assemble_rows.h"
#include "formulation/affine/element/assemble_springs.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/element/eliminate.h"
#include "math/block.h"
#include "model/first_force.h"

// Add drag (wind - t') with t' = (t - t_b)/bh; the part that depends on t is in the block.
MABD_FN void mabd_affine_body_add_drag(const mabd_affine_sim* sim, size_t body,
                                       const mabd_affine_block* b, mabd_real drag, mabd_mat3 R,
                                       mabd_vec12* r) {
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, (int32_t)body);
    mabd_vec3 t_b = mabd_v3_scale(step->w, mabd_v3_load(sim->q + 12 * body + 9));
    t_b = mabd_v3_axpy(step->w1, mabd_v3_load(sim->q1 + 12 * body + 9), t_b);
    mabd_vec3 f = mabd_v3_scale(drag, sim->step.wind);
    f = mabd_v3_axpy(b->drag_rate, mabd_v3_sub(t_b, mabd_v3_load(sim->ref + 12 * body + 9)), f);
    r->tau = mabd_v3_add(r->tau, mabd_m3_tmul(R, f));
}

// Add the forces at points of a body, body frame.
MABD_FN void mabd_affine_body_add_point_forces(const mabd_affine_sim* sim, int32_t body,
                                               mabd_mat3 R, mabd_vec12* r) {
    const mabd_model* m = sim->model;
    const int32_t first = mabd_model_first_force(m, body);
    for (int32_t i = first; i < m->force_count && m->forces[i].body == body; i++) {
        const mabd_model_force* force = &m->forces[i];
        const mabd_real s = sim->force_scale[i];
        mabd_vec3 f = force->force, t = force->torque;
        if (!force->body_frame) f = mabd_m3_tmul(R, f), t = mabd_m3_tmul(R, t);
        *r = mabd_vec12_axpy(s, mabd_vec12_at(force->point, f), *r);
        *r = mabd_vec12_axpy(s, mabd_vec12_torque(t), *r);
    }
}

// Add the forces of joints on a body that have motors but no rows.
MABD_FN void mabd_affine_body_add_motor_only(const mabd_affine_sim* sim, int32_t body,
                                             mabd_vec12* r) {
    for (size_t i = 0; i < sim->sizes.motor_only; i++) {
        const mabd_model_joint* joint = &sim->model->joints[sim->motor_only[i]];
        mabd_joint_view view;
        if (joint->a != body && joint->b != body) continue;
        mabd_affine_view(sim, joint, sim->ref, &view);
        mabd_affine_stage_add_motors(sim, joint, &view, joint->b == body, r);
    }
}

/// Add forces at points and of joints without rows on a body to r. R: of its reference.
MABD_FN void mabd_affine_stage_push_body(const mabd_affine_sim* sim, int32_t body, mabd_mat3 R,
                                         mabd_vec12* r) {
    mabd_affine_body_add_point_forces(sim, body, R, r);
    mabd_affine_body_add_motor_only(sim, body, r);
}

// Compute r in the body frame: inertia, gravity, drag and all other external forces.
MABD_FN mabd_vec12 mabd_affine_body_external_force(const mabd_affine_sim* sim,
                                                   mabd_affine_body_kind kind, int32_t body,
                                                   const mabd_affine_block* b, mabd_mat3 R) {
    const mabd_model* m = sim->model;
    const mabd_body_material* material = &m->classes[m->body_class[body]].material;
    mabd_vec12 r = mabd_affine_body_inertia_force(sim, body, b, material->mass);
    if (kind == MABD_BODY_SIMPLE || kind == MABD_BODY_ROWS) return r;
    if (material->drag > 0) mabd_affine_body_add_drag(sim, (size_t)body, b, material->drag, R, &r);
    mabd_affine_stage_push_body(sim, body, R, &r);
    return r;
}

/// Assemble a body of a kind; if kind is a constant, the other branches are not compiled. touched:
/// process the contacts of the body. thread: whose work space is used.
MABD_BLOCK_FN void mabd_affine_stage_assemble_kind(mabd_affine_sim* sim, mabd_affine_body_kind kind,
                                                   bool touched, int32_t body,
                                                   const mabd_real* stress, int32_t thread) {
    const size_t at = (size_t)body, place = (size_t)thread * sim->sizes.widest_body;
    const mabd_affine_block* b = mabd_affine_block_of(sim, body);
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * at);
    const mabd_sym3 G = mabd_affine_block_geometric(b, mabd_sym3_load(stress + 6 * at));
    const mabd_sym3 Z = mabd_affine_block_woodbury(b, G);
    const bool rows = kind != MABD_BODY_SIMPLE && kind != MABD_BODY_SPRUNG;
    mabd_vec12 r = mabd_affine_body_external_force(sim, kind, body, b, R);
    mabd_sym3_store(Z, sim->geometric + 6 * at);
    if (rows) mabd_affine_stage_open_rows(sim, body, sim->sides + place, &r);
    mabd_affine_assembly own;
    own.block = b, own.G = G, own.Z = Z, own.R = R;
    own.t = mabd_v3_load(sim->ref + 12 * at + 9);
    own.eliminated_count = 0, own.eliminated = NULL;
    if (touched && sim->contacts && sim->contacts->by_body.head[body] >= 0) {
        mabd_affine_stage_eliminate_contacts(sim, body, &r, &own);
    } else {
        own.y = mabd_affine_block_solve(b, Z, r);
    }
    mabd_vec12_store(own.y, sim->q_new + 12 * at);
    switch (kind) {
    case MABD_BODY_SIMPLE:
        mabd_affine_stage_assemble_balls(sim, body, &own, sim->points + place);
        break;
    case MABD_BODY_SPRUNG:
        mabd_affine_stage_assemble_springs(sim, body, &own, sim->springs + place);
        break;
    case MABD_BODY_GENERAL:
    case MABD_BODY_ROWS:
        mabd_affine_stage_assemble_rows(sim, body, &own, sim->sides + place);
        break;
    case MABD_BODY_JUNCTION:
        mabd_affine_stage_assemble_junction(sim, body, &own, sim->sides + place);
        break;
    }
}

/// Assemble a body of any kind.
MABD_FN void mabd_affine_stage_assemble_body(mabd_affine_sim* sim, int32_t body,
                                             const mabd_real* stress, int32_t thread) {
    mabd_affine_stage_assemble_kind(sim, (mabd_affine_body_kind)sim->body_kind[body], true, body,
                                    stress, thread);
}
