// SPDX-License-Identifier: Apache-2.0
// Dense Jacobians of a tree of links, as [RM] fills them (alg. 1, 2 and sec. 3.1), for tests: the
// library works without them in O(links).
//
// J_ij (6) is the twist of link i, in its frame, by rate j: S_j carried to i, if link l(j) of j is
// on the way from the ground to i. With d(deeper) = links on that way behind l(j),
//
//   dJ_ij/dq_k   = ad(J_ij) J_ik      k of a link behind l(j):  dE_i = E_i [J_ik] dq_k
//                = X_ij dS_j/dq_k     k of the same link (a ball: S = J_r(q))
//                = 0                  else
//   J'_ij        = sum_k dJ_ij/dq_k v_k
//   dJ'_ij/dq_l  = sum_k d2J_ij/dq_k dq_l v_k, by the product rule on the three lines above
//
// In large trees, without derivatives: J'_ij = X_i J'_pj + ad(J_ij) S_i v_i of the parent p.
//
// Curves and surfaces are left out.
#pragma once

#include "support/redmax_case.h"

typedef struct dense_tree {
    const redmax_case* c;
    int32_t links, n;
    mabd_spatial *J, *Jdot; // (links x n)
    mabd_spatial* dJ;       // (links x n x n) derivative of J_ij by q_k
    mabd_spatial* dJdot;    // (links x n x n) derivative of J'_ij by q_l
} dense_tree;

static inline size_t dense_at(const dense_tree* d, int32_t i, int32_t j) {
    return (size_t)i * (size_t)d->n + (size_t)j;
}
static inline size_t dense_at3(const dense_tree* d, int32_t i, int32_t j, int32_t k) {
    return dense_at(d, i, j) * (size_t)d->n + (size_t)k;
}
static inline int32_t dense_link(const dense_tree* d, int32_t j) {
    return d->c->inside->freedoms[j].link;
}
// True if link a is on the way from the ground to link i, or is i.
static inline bool dense_reaches(const dense_tree* d, int32_t a, int32_t i) {
    while (i > a) i = d->c->inside->links[i].parent;
    return i == a;
}
static inline mabd_spatial dense_carry(const dense_tree* d, int32_t i, mabd_spatial V) {
    return mabd_frame_to_child(&d->c->inside->E[i], V);
}
static inline mabd_vec3 dense_unit(int32_t k) {
    return mabd_v3(k == 0, k == 1, k == 2);
}

// Column of freedom j in the frame of its own link.
static inline mabd_spatial dense_column(const dense_tree* d, int32_t j) {
    const mabd_redmax_sim* sim = d->c->inside;
    const mabd_redmax_link* link = &sim->links[dense_link(d, j)];
    const mabd_vec3 e = dense_unit(j - link->first), zero = mabd_v3(0, 0, 0);
    if (link->kind == MABD_PRIMITIVE_SCREW) return link->S;
    if (link->kind == MABD_PRIMITIVE_TRANSLATION) {
        return mabd_sp(zero, mabd_v3_scale(link->S.v.x, e));
    }
    const mabd_chart x = mabd_chart_at(mabd_v3_load(sim->q + link->first));
    return mabd_sp(mabd_chart_mul(&x, e), zero);
}

// Derivative of that column by freedom k of the same link, or, with d >= 0 as well, of its second
// derivative by k summed over the rates and by freedom l.
static inline mabd_spatial dense_bend(const dense_tree* d, int32_t j, int32_t k, int32_t l) {
    const mabd_redmax_sim* sim = d->c->inside;
    const mabd_redmax_link* link = &sim->links[dense_link(d, j)];
    const mabd_vec3 e = dense_unit(j - link->first);
    if (link->kind != MABD_PRIMITIVE_BALL) return mabd_sp_zero();
    const mabd_chart x = mabd_chart_at(mabd_v3_load(sim->q + link->first));
    const mabd_vec3 rates = mabd_v3_load(sim->v + link->first), zero = mabd_v3(0, 0, 0);
    if (l < 0) return mabd_sp(mabd_chart_slope(&x, dense_unit(k - link->first), e), zero);
    return mabd_sp(mabd_chart_bend(&x, dense_unit(l - link->first), rates, e), zero);
}

// ad(a) b
#define DENSE_AD(a, b) mabd_sp_cross((a), (b))

static inline void dense_first(dense_tree* d, int32_t i, int32_t j) {
    const int32_t own = dense_link(d, j), parent = d->c->inside->links[i].parent;
    if (!dense_reaches(d, own, i)) return;
    d->J[dense_at(d, i, j)] =
        i == own ? dense_column(d, j) : dense_carry(d, i, d->J[dense_at(d, parent, j)]);
}

static inline void dense_second(dense_tree* d, int32_t i, int32_t j) {
    const int32_t own = dense_link(d, j), parent = d->c->inside->links[i].parent;
    mabd_spatial* rate = &d->Jdot[dense_at(d, i, j)];
    for (int32_t k = 0; k < d->n && dense_reaches(d, own, i); k++) {
        const int32_t by = dense_link(d, k);
        mabd_spatial* out = &d->dJ[dense_at3(d, i, j, k)];
        if (by < own || !dense_reaches(d, by, i)) continue;
        if (by > own) {
            *out = DENSE_AD(d->J[dense_at(d, i, j)], d->J[dense_at(d, i, k)]);
        } else if (i == own) {
            *out = dense_bend(d, j, k, -1);
        } else {
            *out = dense_carry(d, i, d->dJ[dense_at3(d, parent, j, k)]);
        }
        *rate = mabd_sp_axpy(d->c->inside->v[k], *out, *rate);
    }
}

// The sum over k of own link of d2J_ij/dq_k dq_l v_k.
static inline mabd_spatial dense_own_part(const dense_tree* d, int32_t i, int32_t j, int32_t l,
                                          const mabd_spatial* up) {
    const int32_t own = dense_link(d, j), by = dense_link(d, l);
    const mabd_redmax_link* link = &d->c->inside->links[own];
    if (by < own) return mabd_sp_zero();
    if (by == own) return i == own ? dense_bend(d, j, j, l) : dense_carry(d, i, *up);
    mabd_spatial sum = mabd_sp_zero();
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        sum = mabd_sp_axpy(d->c->inside->v[k], d->dJ[dense_at3(d, i, j, k)], sum);
    }
    return DENSE_AD(sum, d->J[dense_at(d, i, l)]);
}

static inline void dense_third(dense_tree* d, mabd_spatial* own_part, int32_t i, int32_t j) {
    const int32_t own = dense_link(d, j), parent = d->c->inside->links[i].parent;
    for (int32_t l = 0; l < d->n && dense_reaches(d, own, i); l++) {
        mabd_spatial* part = &own_part[dense_at3(d, i, j, l)];
        const mabd_spatial* up = i == own ? NULL : &own_part[dense_at3(d, parent, j, l)];
        if (!dense_reaches(d, dense_link(d, l), i)) continue;
        *part = dense_own_part(d, i, j, l, up);
        mabd_spatial sum = *part;
        for (int32_t k = 0; k < d->n; k++) {
            if (dense_link(d, k) <= own || !dense_reaches(d, dense_link(d, k), i)) continue;
            const mabd_spatial one =
                DENSE_AD(d->dJ[dense_at3(d, i, j, l)], d->J[dense_at(d, i, k)]);
            const mabd_spatial two =
                DENSE_AD(d->J[dense_at(d, i, j)], d->dJ[dense_at3(d, i, k, l)]);
            sum = mabd_sp_axpy(d->c->inside->v[k], mabd_sp_add(one, two), sum);
        }
        d->dJdot[dense_at3(d, i, j, l)] = sum;
    }
}

/// Fill J, J' and their derivatives at the iterate of a case of one part, whose links are placed.
static inline dense_tree dense_tree_make(const redmax_case* c) {
    dense_tree d = {.c = c, .links = c->inside->link_count, .n = c->inside->freedom_count};
    const size_t entries = (size_t)d.links * (size_t)d.n;
    d.J = calloc(entries, sizeof *d.J), d.Jdot = calloc(entries, sizeof *d.J);
    d.dJ = calloc(entries * (size_t)d.n, sizeof *d.J);
    d.dJdot = calloc(entries * (size_t)d.n, sizeof *d.J);
    mabd_spatial* own_part = calloc(entries * (size_t)d.n, sizeof *d.J);
    for (int32_t i = 0; i < d.links; i++) {
        for (int32_t j = 0; j < d.n; j++) dense_first(&d, i, j);
        for (int32_t j = 0; j < d.n; j++) dense_second(&d, i, j);
        for (int32_t j = 0; j < d.n; j++) dense_third(&d, own_part, i, j);
    }
    free(own_part);
    return d;
}

// J'_ij without derivatives.
static inline void dense_rate(dense_tree* d, int32_t i, int32_t j) {
    const mabd_redmax_link* link = &d->c->inside->links[i];
    const mabd_real* v = d->c->inside->v;
    const int32_t own = dense_link(d, j);
    mabd_spatial sum = mabd_sp_zero();
    if (!dense_reaches(d, own, i)) return;
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        sum = mabd_sp_axpy(v[k], i == own ? dense_bend(d, j, k, -1) : dense_column(d, k), sum);
    }
    if (i != own) {
        const mabd_spatial up = dense_carry(d, i, d->Jdot[dense_at(d, link->parent, j)]);
        sum = mabd_sp_add(up, DENSE_AD(d->J[dense_at(d, i, j)], sum));
    }
    d->Jdot[dense_at(d, i, j)] = sum;
}

/// Fill J and J' only, as dense_tree_make.
static inline dense_tree dense_tree_make_rates(const redmax_case* c) {
    dense_tree d = {.c = c, .links = c->inside->link_count, .n = c->inside->freedom_count};
    const size_t entries = (size_t)d.links * (size_t)d.n;
    d.J = calloc(entries, sizeof *d.J), d.Jdot = calloc(entries, sizeof *d.J);
    for (int32_t i = 0; i < d.links; i++) {
        for (int32_t j = 0; j < d.n; j++) dense_first(&d, i, j);
        for (int32_t j = 0; j < d.n; j++) dense_rate(&d, i, j);
    }
    return d;
}

static inline void dense_tree_free(dense_tree* d) {
    free(d->J), free(d->Jdot), free(d->dJ), free(d->dJdot);
}

/// Sum over j of rows (n) of a link times x (n).
static inline mabd_spatial dense_apply(const dense_tree* d, const mabd_spatial* rows, int32_t i,
                                       const mabd_real* x) {
    mabd_spatial sum = mabd_sp_zero();
    for (int32_t j = 0; j < d->n; j++) sum = mabd_sp_axpy(x[j], rows[dense_at(d, i, j)], sum);
    return sum;
}

/// y (n) += sum over the links of J_i' w_i.
static inline void dense_pull(const dense_tree* d, const mabd_spatial* w, mabd_real* y) {
    for (int32_t i = 0; i < d->links; i++) {
        for (int32_t j = 0; j < d->n; j++) y[j] += mabd_sp_dot(d->J[dense_at(d, i, j)], w[i]);
    }
}
