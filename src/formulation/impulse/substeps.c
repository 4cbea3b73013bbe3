// SPDX-License-Identifier: Apache-2.0
// Automatic substeps: as many as the geometric stiffness of the joints needs (rigid/stability.h).
//
// Rows are those of the start of a substep, so joint forces F at points X of the bodies act as if
// they were constant over it. The forces of the last substep decide about the next step; their
// number never falls in a run.

#include "formulation/impulse/impulse_sim.h"
#include "rigid/stability.h"

// Force of the rows of a joint on its body b, world [N].
static mabd_vec3 joint_force(const mabd_impulse_sim* sim, const mabd_impulse_joint* j) {
    const mabd_real over = 1 / sim->part, *l = sim->lambda + j->row;
    mabd_real C[MABD_IMPULSE_MAX_ROWS];
    mabd_impulse_row J[MABD_IMPULSE_MAX_ROWS];
    mabd_vec3 F = mabd_v3(0, 0, 0);
    mabd_impulse_joint_rows(sim, j, C, J);
    for (int32_t r = 0; r < j->width; r++) F = mabd_v3_axpy(over * l[r], J[r].f, F);
    for (int32_t k = j->axis; k < j->axis + j->axis_count; k++) {
        F = mabd_v3_axpy(over * sim->axis_impulse[k], sim->axes[k].J.f, F);
    }
    return F;
}

static void add_joint(mabd_impulse_sim* sim, const mabd_impulse_joint* j) {
    const mabd_model_joint* own = &sim->model->joints[j->joint];
    const mabd_vec3 F = joint_force(sim, j);
    if (j->a < sim->model->body_count) {
        const mabd_vec3 on_a = mabd_m3_tmul(sim->poses[j->a].R, mabd_v3_scale(-1, F));
        mabd_rigid_stability_add_force(&sim->stability[j->a], mabd_v3_load(own->Xa), on_a);
    }
    if (j->b < sim->model->body_count) {
        const mabd_vec3 on_b = mabd_m3_tmul(sim->poses[j->b].R, F);
        mabd_rigid_stability_add_force(&sim->stability[j->b], mabd_v3_load(own->Xb), on_b);
    }
}

void mabd_impulse_watch_stability(mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    if (sim->def.impulse.substeps > 0) return;
    for (int32_t i = 0; i < m->body_count; i++) sim->stability[i] = mabd_rigid_stability_none();
    for (int32_t i = 0; sim->part > 0 && i < sim->joint_count; i++) add_joint(sim, &sim->joints[i]);
    for (int32_t i = 0; i < m->body_count; i++) {
        if (!(sim->lines[i].moves > 0)) continue;
        const mabd_model_class* c = &m->classes[m->body_class[i]];
        const mabd_real rate2 = mabd_rigid_stability_rate2(&sim->stability[i], c);
        const mabd_real spin = mabd_v3_norm(mabd_v3_load(sim->lines[i].w));
        const int32_t depth = mabd_rigid_stability_depth(sim->def.h, rate2, spin);
        if (depth > sim->depth) sim->depth = depth;
    }
}

int32_t mabd_impulse_substeps(const mabd_impulse_sim* sim) {
    const int32_t given = sim->def.impulse.substeps;
    return given > 0 ? given : 1 << sim->depth;
}
