// SPDX-License-Identifier: Apache-2.0
// Sweeps over contact points, and their rebound.
//
// A manifold does its normal rows, then its friction. Friction is one impulse in the tangent plane
// ([SI eq. 33] clamps two rows one by one: at 45 degrees friction is the root of 2 too strong). If
// the one that ends the slip is inside the disk of radius mu l it is taken; else
//
//   lt <- disk(lt - u / k),   k >= the eigenvalues of J M^-1 J'
//
// whose fixed point is opposite to the slip u; a projection of lt - K^-1 u is not, where K is no
// multiple of the unit matrix.
//
// Rebound is a pass of its own after relaxation ([SI eq. 40, 41] add it to the bias of the row: a
// ball with e = 1 rose from 1 m to 1.83 m). Points that pushed in the step and came faster than the
// threshold get the rate -e u, with u from before the step.

#include "formulation/impulse/impulse_contact.h"
#include "formulation/impulse/impulse_limits.h"
#include "formulation/impulse/impulse_sim.h"

#include <math.h>

static void push(const mabd_impulse_sim* sim, const mabd_impulse_manifold* m,
                 const mabd_impulse_point* p, mabd_vec3 impulse, mabd_impulse_pair* V) {
    mabd_impulse_push(V, sim->lines[m->a].inverse_mass, &sim->inertia[m->a],
                      sim->lines[m->b].inverse_mass, &sim->inertia[m->b], impulse,
                      mabd_v3_cross(impulse, p->ra), mabd_v3_cross(p->rb, impulse));
}

static void note(mabd_impulse_sim* sim, mabd_real change, mabd_real l) {
    sim->change = (mabd_real)fmax(sim->change, fabs(change));
    sim->largest = (mabd_real)fmax(sim->largest, fabs(l));
}

static void sweep_normal(mabd_impulse_sim* sim, const mabd_impulse_manifold* m,
                         mabd_impulse_point* p, mabd_impulse_pair* V) {
    const mabd_real u = mabd_v3_dot(p->normal, mabd_impulse_point_rate(p, V));
    const mabd_real l = p->l - p->over_K * (u + p->bias);
    const mabd_real held = l > 0 ? l : 0, dl = held - p->l;
    p->l = held;
    if (held > p->most) p->most = held;
    push(sim, m, p, mabd_v3_scale(dl, p->normal), V);
    note(sim, dl, held);
}

static void sweep_friction(mabd_impulse_sim* sim, const mabd_impulse_manifold* m,
                           mabd_impulse_point* p, mabd_impulse_pair* V) {
    const mabd_vec3 rate = mabd_impulse_point_rate(p, V);
    const mabd_real u1 = mabd_v3_dot(p->t1, rate), u2 = mabd_v3_dot(p->t2, rate);
    const mabd_real most = m->friction * p->l, det = p->K11 * p->K22 - p->K12 * p->K12;
    mabd_real l1 = p->l1 - (p->K22 * u1 - p->K12 * u2) / det;
    mabd_real l2 = p->l2 - (p->K11 * u2 - p->K12 * u1) / det;
    if (!(l1 * l1 + l2 * l2 <= most * most)) {
        l1 = p->l1 - u1 / p->bound, l2 = p->l2 - u2 / p->bound;
        const mabd_real size = (mabd_real)sqrt(l1 * l1 + l2 * l2);
        if (size > most) l1 *= most / size, l2 *= most / size;
    }
    const mabd_real d1 = l1 - p->l1, d2 = l2 - p->l2;
    p->l1 = l1, p->l2 = l2;
    push(sim, m, p, mabd_v3_axpy(d2, p->t2, mabd_v3_scale(d1, p->t1)), V);
    note(sim, d1, l1), note(sim, d2, l2);
}

static void sweep_manifold(mabd_impulse_sim* sim, const mabd_impulse_manifold* m, bool back) {
    mabd_impulse_line *a = &sim->lines[m->a], *b = &sim->lines[m->b];
    mabd_impulse_pair V = mabd_impulse_load(a, b);
    for (int32_t k = 0; k < m->count; k++) {
        const int32_t i = m->first + (back ? m->count - 1 - k : k);
        sweep_normal(sim, m, mabd_impulse_point_at(sim->contacts, i), &V);
    }
    for (int32_t k = 0; m->friction > 0 && k < m->count; k++) {
        const int32_t i = m->first + (back ? m->count - 1 - k : k);
        sweep_friction(sim, m, mabd_impulse_point_at(sim->contacts, i), &V);
    }
    mabd_impulse_store(&V, a, b);
}

void mabd_impulse_sweep_contacts(mabd_impulse_sim* sim, bool back) {
    const mabd_impulse_contacts* c = sim->contacts;
    const int32_t n = mabd_impulse_manifold_places(c), *items = c->order.pack_item;
    for (int32_t k = 0; k < n; k++) {
        const int32_t i = items[back ? n - 1 - k : k];
        if (i >= 0) sweep_manifold(sim, mabd_impulse_manifold_at(c, i), back);
    }
}

// ---- rebound -----------------------------------------------------------------------------------

static bool was_hit(const mabd_impulse_manifold* m, const mabd_impulse_point* p,
                    mabd_real threshold) {
    return m->restitution > 0 && p->most > 0 && p->approach < -threshold;
}

static bool rebound_manifold(mabd_impulse_sim* sim, const mabd_impulse_manifold* m,
                             mabd_real threshold) {
    mabd_impulse_line *a = &sim->lines[m->a], *b = &sim->lines[m->b];
    mabd_impulse_pair V = mabd_impulse_load(a, b);
    bool hit = false;
    for (int32_t k = m->first; k < m->first + m->count; k++) {
        mabd_impulse_point* p = mabd_impulse_point_at(sim->contacts, k);
        if (!was_hit(m, p, threshold)) continue;
        hit = true;
        const mabd_real u = mabd_v3_dot(p->normal, mabd_impulse_point_rate(p, &V));
        const mabd_real l = p->l - p->over_K * (u + m->restitution * p->approach);
        const mabd_real held = l > 0 ? l : 0;
        push(sim, m, p, mabd_v3_scale(held - p->l, p->normal), &V);
        p->l = held;
    }
    mabd_impulse_store(&V, a, b);
    return hit;
}

void mabd_impulse_rebound(mabd_impulse_sim* sim) {
    const mabd_impulse_contacts* c = sim->contacts;
    const mabd_real fall = 2 * sim->def.h * mabd_v3_norm(mabd_v3_load(sim->model->gravity));
    const mabd_real threshold = (mabd_real)fmax(MABD_IMPULSE_REBOUND_MPS, fall);
    const int32_t n = mabd_impulse_manifold_places(c), *items = c->order.pack_item;
    bool hit = true;
    for (int sweep = 0; hit && sweep < MABD_IMPULSE_REBOUND_SWEEPS; sweep++) {
        hit = false;
        for (int32_t k = 0; k < n; k++) {
            const int32_t i = items[sweep % 2 ? n - 1 - k : k];
            if (i >= 0) hit |= rebound_manifold(sim, mabd_impulse_manifold_at(c, i), threshold);
        }
    }
}
