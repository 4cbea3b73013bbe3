// SPDX-License-Identifier: Apache-2.0
// Results of contacts.

#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_sim.h"

#include <math.h>
#include <string.h>

/// Part of the bound from which friction counts as slipping.
#define SLIPS_PART ((mabd_real)1e-3)

mabd_rigid_pose mabd_variational_pose_now(const mabd_variational_sim* sim, int32_t body) {
    mabd_rigid_pose pose;
    if (!mabd_variational_moves(sim, body)) {
        return mabd_variational_fixed_pose(sim, body, sim->time);
    }
    pose.R = mabd_q_matrix(sim->now[body].q), pose.c = sim->now[body].c;
    return pose;
}

bool mabd_variational_presses(const mabd_variational_known* k) {
    return k->memory.gamma > MABD_VARIATIONAL_PRESSED_PART * k->weight;
}

int32_t mabd_variational_get_contacts(const void* self, int32_t capacity,
                                      mabd_contact_info* contacts) {
    const mabd_variational_sim* sim = self;
    const mabd_variational_contacts* c = sim->contacts;
    int32_t count = 0;
    for (int32_t i = 0; c && i < c->known.count; i++) {
        const mabd_variational_known* k = (const mabd_variational_known*)c->known.data + i;
        if (!mabd_variational_presses(k) || count++ >= capacity) continue;
        mabd_contact_info* out = &contacts[count - 1];
        const mabd_rigid_pose b = mabd_variational_pose_now(sim, k->b);
        mabd_vec3 force = mabd_v3_scale(k->memory.gamma, k->axis[0]);
        for (int e = 0; e < 2; e++) force = mabd_v3_axpy(k->friction[e], k->axis[1 + e], force);
        out->a = k->a, out->b = k->b;
        mabd_v3_store(mabd_v3_add(b.c, mabd_m3_mul(b.R, k->X[1])), out->point);
        mabd_v3_store(k->axis[0], out->normal);
        mabd_v3_store(force, out->force);
        out->distance = k->distance;
        out->slips = hypot(k->friction[0], k->friction[1]) >= k->bound * (1 - SLIPS_PART);
    }
    return count;
}

mabd_status mabd_variational_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b) {
    const mabd_variational_sim* sim = self;
    mabd_variational_contacts* c = sim->contacts;
    *depth = 0, *a = *b = -1;
    if (!c || !c->geometry) return MABD_OK;
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const mabd_rigid_pose pose = mabd_variational_pose_now(sim, i);
        mabd_m3_store(pose.R, c->to + 12 * (size_t)i);
        mabd_v3_store(pose.c, c->to + 12 * (size_t)i + 9);
    }
    return mabd_collide_overlap(c->geometry, c->to, depth, a, b);
}

void mabd_variational_count_contacts(const mabd_variational_sim* sim, mabd_step_info* info) {
    const mabd_variational_contacts* c = sim->contacts;
    for (int32_t i = 0; c && i < c->known.count; i++) {
        const mabd_variational_known* k = (const mabd_variational_known*)c->known.data + i;
        info->contact_points++;
        info->contacts += mabd_variational_presses(k);
        if (-k->distance > info->penetration) info->penetration = -k->distance;
    }
}
