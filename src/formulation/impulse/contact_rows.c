// SPDX-License-Identifier: Apache-2.0
// Rows of contact points in a substep [SI eq. 26-36].
//
//   normal     distance d = n . (P_b - P_a)       J = (-n, -(r_a x n), n, r_b x n)
//   tangents   the same with t1, t2
//
// with r to the middle of both points, so that impulses keep angular momentum. Bias of the normal:
//
//   d > 0           d/h: arrives and does not pass
//   -slop < d <= 0  0: what rests stays
//   d <= -slop      max(-4 m/s, rate (d + slop)), rate of soft rows (impulse_data.h)
//
// The row itself stays rigid: one that leaks lets a load sink by l K/(a2 rate), and a stack of 20
// leans on it and falls.

#include "formulation/impulse/impulse_contact.h"
#include "formulation/impulse/impulse_limits.h"
#include "formulation/impulse/impulse_sim.h"

#include <math.h>

static mabd_impulse_row row_along(const mabd_impulse_point* p, mabd_vec3 n) {
    mabd_impulse_row J;
    J.f = n, J.ta = mabd_v3_cross(n, p->ra), J.tb = mabd_v3_cross(p->rb, n);
    return J;
}

static void set_bias(const mabd_impulse_sim* sim, mabd_impulse_point* p) {
    const mabd_real deep = p->distance + sim->def.impulse.slop;
    p->bias = p->distance > 0 ? p->distance / sim->h : 0;
    if (deep < 0) {
        p->bias = (mabd_real)fmax(-MABD_IMPULSE_PUSH_MPS, sim->soft_contact.rate * deep);
    }
    p->bias += p->shift;
}

static void set_point(mabd_impulse_sim* sim, const mabd_impulse_manifold* m,
                      mabd_impulse_point* p) {
    const mabd_rigid_pose *a = &sim->poses[m->a], *b = &sim->poses[m->b];
    const mabd_vec3 on_a = mabd_v3_add(a->c, mabd_m3_mul(a->R, p->Xa));
    const mabd_vec3 on_b = mabd_v3_add(b->c, mabd_m3_mul(b->R, p->Xb));
    const mabd_vec3 middle = mabd_v3_scale((mabd_real)0.5, mabd_v3_add(on_a, on_b));
    p->distance = mabd_v3_dot(p->normal, mabd_v3_sub(on_b, on_a));
    p->ra = mabd_v3_sub(middle, a->c), p->rb = mabd_v3_sub(middle, b->c);
    const mabd_impulse_row n = row_along(p, p->normal);
    const mabd_impulse_row s = row_along(p, p->t1), t = row_along(p, p->t2);
    p->over_K = 1 / mabd_impulse_compliance(sim, m->a, m->b, &n, &n);
    p->K11 = mabd_impulse_compliance(sim, m->a, m->b, &s, &s);
    p->K12 = mabd_impulse_compliance(sim, m->a, m->b, &s, &t);
    p->K22 = mabd_impulse_compliance(sim, m->a, m->b, &t, &t);
    const mabd_real half = (p->K11 - p->K22) / 2;
    p->bound = (p->K11 + p->K22) / 2 + (mabd_real)sqrt(half * half + p->K12 * p->K12);
    p->shift = mabd_v3_dot(n.ta, sim->shift[m->a]) + mabd_v3_dot(n.tb, sim->shift[m->b]);
    const mabd_impulse_pair V = mabd_impulse_load(&sim->begin_lines[m->a], &sim->begin_lines[m->b]);
    p->before = mabd_impulse_point_rate(p, &V);
    set_bias(sim, p);
}

void mabd_impulse_set_contacts(mabd_impulse_sim* sim) {
    const mabd_impulse_contacts* c = sim->contacts;
    for (int32_t i = 0; i < c->manifolds.count; i++) {
        const mabd_impulse_manifold* m = mabd_impulse_manifold_at(c, i);
        for (int32_t k = 0; k < m->count; k++) {
            set_point(sim, m, mabd_impulse_point_at(c, m->first + k));
        }
    }
}

void mabd_impulse_warm_contacts(mabd_impulse_sim* sim, mabd_real scale) {
    const mabd_impulse_contacts* c = sim->contacts;
    for (int32_t i = 0; i < c->manifolds.count; i++) {
        const mabd_impulse_manifold* m = mabd_impulse_manifold_at(c, i);
        mabd_impulse_line *a = &sim->lines[m->a], *b = &sim->lines[m->b];
        mabd_impulse_pair V = mabd_impulse_load(a, b);
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            mabd_impulse_point* p = mabd_impulse_point_at(c, k);
            p->l *= scale, p->l1 *= scale, p->l2 *= scale;
            mabd_vec3 push = mabd_v3_scale(p->l, p->normal);
            push = mabd_v3_axpy(p->l2, p->t2, mabd_v3_axpy(p->l1, p->t1, push));
            mabd_impulse_push(&V, a->inverse_mass, &sim->inertia[m->a], b->inverse_mass,
                              &sim->inertia[m->b], push, mabd_v3_cross(push, p->ra),
                              mabd_v3_cross(p->rb, push));
        }
        mabd_impulse_store(&V, a, b);
    }
}

void mabd_impulse_move_contacts(mabd_impulse_sim* sim) {
    const mabd_impulse_contacts* c = sim->contacts;
    for (int32_t i = 0; i < c->manifolds.count; i++) {
        const mabd_impulse_manifold* m = mabd_impulse_manifold_at(c, i);
        const mabd_impulse_pair V = mabd_impulse_load(&sim->lines[m->a], &sim->lines[m->b]);
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            mabd_impulse_point* p = mabd_impulse_point_at(c, k);
            p->distance +=
                sim->h * (mabd_v3_dot(p->normal, mabd_impulse_point_rate(p, &V)) + p->shift);
            p->bias = p->distance > 0 ? p->distance / sim->h : 0; // of relaxation
        }
    }
}
