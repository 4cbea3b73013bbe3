// SPDX-License-Identifier: Apache-2.0
// Contacts for a user: forces of the last substep, distances at the end of the step.

#include "formulation/impulse/impulse_contact.h"
#include "formulation/impulse/impulse_sim.h"

#include <math.h>

/// Part of the bound from which friction counts as slipping.
#define SLIPS_PART ((mabd_real)1e-6)

void mabd_impulse_report_contacts(const mabd_impulse_sim* sim, mabd_step_info* info) {
    const mabd_impulse_contacts* c = sim->contacts;
    if (c->order.color_count > info->impulse.colors) info->impulse.colors = c->order.color_count;
    info->contact_points = c->points.count;
    info->contact_iterations = info->iterations;
    for (int32_t i = 0; i < c->manifolds.count; i++) {
        const mabd_impulse_manifold* m = mabd_impulse_manifold_at(c, i);
        const mabd_impulse_pair V = mabd_impulse_load(&sim->lines[m->a], &sim->lines[m->b]);
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            const mabd_impulse_point* p = mabd_impulse_point_at(c, k);
            const mabd_real u = mabd_v3_dot(p->normal, mabd_impulse_point_rate(p, &V));
            const mabd_real closes = -(sim->h * u + (p->distance > 0 ? p->distance : 0));
            info->contacts += p->l > 0;
            if (-p->distance > info->penetration) info->penetration = -p->distance;
            if (closes > info->contact_residual) info->contact_residual = closes;
        }
    }
}

int32_t mabd_impulse_get_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts) {
    const mabd_impulse_sim* sim = self;
    const mabd_impulse_contacts* c = sim->contacts;
    int32_t count = 0;
    for (int32_t i = 0; c && i < c->manifolds.count; i++) {
        const mabd_impulse_manifold* m = mabd_impulse_manifold_at(c, i);
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            const mabd_impulse_point* p = mabd_impulse_point_at(c, k);
            if (!(p->l > 0) || count++ >= capacity) continue;
            mabd_contact_info* out = &contacts[count - 1];
            const mabd_rigid_pose* b = &sim->poses[m->b];
            mabd_vec3 push = mabd_v3_scale(p->l, p->normal);
            push = mabd_v3_axpy(p->l2, p->t2, mabd_v3_axpy(p->l1, p->t1, push));
            out->a = m->a, out->b = m->b;
            mabd_v3_store(mabd_v3_add(b->c, mabd_m3_mul(b->R, p->Xb)), out->point);
            mabd_v3_store(p->normal, out->normal);
            mabd_v3_store(mabd_v3_scale(1 / sim->part, push), out->force);
            out->distance = p->distance;
            out->slips = hypot(p->l1, p->l2) >= m->friction * p->l * (1 - SLIPS_PART);
        }
    }
    return count;
}

mabd_status mabd_impulse_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b) {
    const mabd_impulse_sim* sim = self;
    *depth = 0, *a = *b = -1;
    if (!sim->contacts) return MABD_OK;
    mabd_impulse_write_poses(sim, sim->contacts->from);
    return mabd_collide_overlap(sim->contacts->geometry, sim->contacts->from, depth, a, b);
}
