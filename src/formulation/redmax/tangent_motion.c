// SPDX-License-Identifier: Apache-2.0
// Derivatives of the residual of a tree, in both directions, by one sweep down and one up.
//
// With N, T, B, W, P of factor.c, and twists e of a link against its parent and f of what it
// carries against itself (a fixed link behind it),
//
//   x = T x_p + Bq dq + Bv dv + Ba da + G e + Gf f
//       G = (ad(XV), ad(XA) - aS ad(XV), 1)    Gf = (ad(V), ad(A), 1)      rows dV, dA, xi
//   dF = N x + dF_own + sum_c X_c'(dF_c - P dq - adF(F) e) - adF(F) f
//   dr = S'dF + W (dq, dv, da)
//
// and transposed, with z on r and bars b on F, w the bar of dF:
//
//   w = X w_p + S z + b                        xb = N'w + sum_c T_c'xb_c
//   q-bar = Bq'xb + W'z - P'X w_p     v-bar = Bv'xb + W'z     a-bar = Ba'xb + W'z
//   e-bar = G'xb - adF(F)'X w_p       f-bar = Gf'xb - adF(F)'w       own wrench: w
//
// S of r and z is `left` where bounds of pins vary with F (factor.c). adF(F)' = -adF(F). Prescribed
// freedoms have no row: their z is left out.

#include "formulation/redmax/lean.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_tangent.h"

#include <string.h>

static const mabd_redmax_weights by_q = {1, 0, 0}, by_v = {0, 1, 0}, by_a = {0, 0, 1};

static size_t at18(int32_t link) {
    return MABD_VARIATION * (size_t)link;
}

// ---- forward -----------------------------------------------------------------------------------

static void add_column(const mabd_redmax_sim* sim, int32_t i, int k, mabd_redmax_weights w,
                       mabd_real s, mabd_real* x) {
    mabd_real B[MABD_VARIATION];
    mabd_redmax_column(sim, i, k, w, B);
    for (int c = 0; c < MABD_VARIATION; c++) x[c] += s * B[c];
}

static void add_twist(mabd_spatial dV, mabd_spatial dA, mabd_spatial xi, mabd_real* x) {
    mabd_sp_store(mabd_sp_add(mabd_sp_load(x), dV), x);
    mabd_sp_store(mabd_sp_add(mabd_sp_load(x + 6), dA), x + 6);
    mabd_sp_store(mabd_sp_add(mabd_sp_load(x + 12), xi), x + 12);
}

// Variation of a link.
static void vary(const mabd_redmax_sim* sim, int32_t i, const mabd_redmax_changes* c) {
    const mabd_redmax_link* link = &sim->links[i];
    mabd_real* x = sim->x + at18(i);
    mabd_redmax_transfer(sim, i, MABD_VARIATION,
                         link->parent < 0 ? NULL : sim->x + at18(link->parent), x);
    if (link->parent < 0) {
        const mabd_spatial fall = mabd_sp(mabd_v3(0, 0, 0), c->fall);
        mabd_sp_store(mabd_frame_to_child(&sim->E[i], fall), x + 6);
    }
    for (int k = 0; k < link->count; k++) {
        const int32_t at = link->first + k;
        if (c->q) add_column(sim, i, k, by_q, c->q[at], x);
        if (c->v) add_column(sim, i, k, by_v, c->v[at], x);
        if (c->a) add_column(sim, i, k, by_a, c->a[at], x);
    }
    if (c->parent_side) {
        const mabd_spatial e = c->parent_side[i], dV = mabd_sp_cross(sim->XV[i], e);
        add_twist(dV, mabd_sp_sub(mabd_sp_cross(sim->XA[i], e), mabd_sp_cross(sim->Sv[i], dV)), e,
                  x);
    }
    if (c->parent_side && c->moved == i) add_twist(c->dV, c->dA, mabd_sp_zero(), x);
    if (c->body_side) {
        const mabd_spatial f = c->body_side[i];
        add_twist(mabd_sp_cross(sim->V[i], f), mabd_sp_cross(sim->A[i], f), f, x);
    }
}

// Change of r of a link by its wrench F and its laws.
static void write_rows(const mabd_redmax_solve* s, int32_t i, const mabd_redmax_changes* c,
                       mabd_spatial F, mabd_real* r) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    for (int j = 0; j < link->count; j++) {
        const int32_t row = link->first + j;
        mabd_real sum = mabd_sp_dot(mabd_redmax_left(s)[row], F) + (c->r ? c->r[row] : 0);
        for (int k = 0; k < link->count; k++) {
            const int32_t at = link->first + k;
            if (c->q) sum += mabd_redmax_own(sim, i, by_q, j, k) * c->q[at];
            if (c->v) sum += mabd_redmax_own(sim, i, by_v, j, k) * c->v[at];
            if (c->a) sum += mabd_redmax_own(sim, i, by_a, j, k) * c->a[at];
        }
        r[row] = sim->freedoms[row].prescribed ? 0 : sum;
    }
}

static mabd_spatial times(const mabd_real* N, const mabd_real* x) {
    mabd_real out[6] = {0};
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < MABD_VARIATION; c++) out[r] += N[MABD_VARIATION * r + c] * x[c];
    }
    return mabd_sp_load(out);
}

void mabd_redmax_push(const mabd_redmax_solve* s, const mabd_redmax_changes* c, mabd_real* r,
                      mabd_spatial* wrench) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t first = s->part->link_first, end = first + s->part->link_count;
    for (int32_t i = first; i < end; i++) {
        mabd_real N[6 * MABD_VARIATION];
        vary(sim, i, c);
        mabd_redmax_local(s, i, N);
        mabd_spatial F = times(N, sim->x + at18(i));
        if (c->load) F = mabd_sp_add(F, c->load[i]);
        mabd_sp_store(F, sim->up + at18(i));
    }
    if (s->part->border_count > 0) mabd_redmax_push_motions(s);
    for (int32_t i = end - 1; i >= first; i--) {
        const mabd_redmax_link* link = &sim->links[i];
        mabd_spatial F = mabd_sp_load(sim->up + at18(i)), e = mabd_sp_zero();
        if (c->body_side) F = mabd_sp_sub(F, mabd_sp_cross_wrench(c->body_side[i], sim->F[i]));
        if (wrench) wrench[i] = F;
        write_rows(s, i, c, F, r);
        if (link->parent < 0) continue;
        if (c->parent_side) e = c->parent_side[i];
        for (int32_t k = link->first; c->q && k < link->first + link->count; k++) {
            e = mabd_sp_axpy(c->q[k], sim->S[k], e);
        }
        F = mabd_sp_sub(F, mabd_sp_cross_wrench(e, sim->F[i]));
        mabd_real* up = sim->up + at18(link->parent);
        mabd_sp_store(mabd_sp_add(mabd_sp_load(up), mabd_frame_to_parent(&sim->E[i], F)), up);
    }
}

// ---- backwards ---------------------------------------------------------------------------------

// X w_p of a link; w is in the first six entries of sim->x.
static mabd_spatial parent_bar(const mabd_redmax_sim* sim, int32_t i) {
    const int32_t parent = sim->links[i].parent;
    if (parent < 0) return mabd_sp_zero();
    return mabd_frame_to_child(&sim->E[i], mabd_sp_load(sim->x + at18(parent)));
}

// Bars of the variations of links by z and by wrenches, their own alone; none if both are null.
static void pull_wrenches(const mabd_redmax_solve* s, const mabd_real* z,
                          const mabd_spatial* wrench) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_spatial* left = mabd_redmax_left(s);
    const int32_t first = s->part->link_first, end = first + s->part->link_count;
    if (!z && !wrench) {
        const size_t bytes = MABD_VARIATION * (size_t)s->part->link_count * sizeof *sim->x;
        memset(sim->x + at18(first), 0, bytes), memset(sim->up + at18(first), 0, bytes);
        return;
    }
    for (int32_t i = first; i < end; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        mabd_real N[6 * MABD_VARIATION], w[6], *up = sim->up + at18(i);
        mabd_spatial bar = parent_bar(sim, i);
        for (int32_t k = link->first; z && k < link->first + link->count; k++) {
            if (!sim->freedoms[k].prescribed) bar = mabd_sp_axpy(z[k], left[k], bar);
        }
        if (wrench) bar = mabd_sp_add(bar, wrench[i]);
        mabd_sp_store(bar, w);
        memcpy(sim->x + at18(i), w, sizeof w);
        mabd_redmax_local(s, i, N);
        for (int c = 0; c < MABD_VARIATION; c++) {
            up[c] = 0;
            for (int r = 0; r < 6; r++) up[c] += N[MABD_VARIATION * r + c] * w[r];
        }
    }
    if (s->part->border_count > 0) mabd_redmax_pull_motions(s);
}

void mabd_redmax_pull_back(const mabd_redmax_solve* s, const mabd_real* z,
                           const mabd_spatial* wrench) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t first = s->part->link_first, end = first + s->part->link_count;
    pull_wrenches(s, z, wrench);
    if (s->part->border_count > 0) mabd_redmax_pull_row_bars(s);
    if (s->rates_at_once || s->forces_at_once) mabd_redmax_pull_cuts(s, z || wrench);
    for (int32_t i = end - 1; i >= first; i--) {
        const int32_t parent = sim->links[i].parent;
        if (parent < 0) continue;
        mabd_redmax_transfer_back(sim, i, MABD_VARIATION, sim->up + at18(i),
                                  sim->up + at18(parent));
    }
}

mabd_real mabd_redmax_bar(const mabd_redmax_sim* sim, int32_t i, int k, mabd_redmax_weights w,
                          const mabd_real* z) {
    const mabd_redmax_link* link = &sim->links[i];
    mabd_real B[MABD_VARIATION], sum = 0;
    mabd_redmax_column(sim, i, k, w, B);
    for (int c = 0; c < MABD_VARIATION; c++) sum += B[c] * sim->up[at18(i) + (size_t)c];
    for (int j = 0; z && j < link->count; j++) {
        if (sim->freedoms[link->first + j].prescribed) continue;
        sum += mabd_redmax_own(sim, i, w, j, k) * z[link->first + j];
    }
    if (w.q == 0) return sum;
    const mabd_spatial turned = mabd_sp_cross_wrench(parent_bar(sim, i), sim->F[i]);
    return sum + w.q * mabd_sp_dot(sim->S[link->first + k], turned);
}

void mabd_redmax_pull_rates(const mabd_redmax_solve* s, const mabd_real* z, mabd_real* v,
                            mabd_real* a) {
    const mabd_redmax_sim* sim = s->sim;
    if (mabd_redmax_is_lean(s)) {
        mabd_redmax_lean_pull_rates(s, z, v, a);
        return;
    }
    mabd_redmax_pull_back(s, z, NULL);
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int k = 0; k < link->count; k++) {
            v[link->first + k] = mabd_redmax_bar(sim, i, k, by_v, z);
            a[link->first + k] = mabd_redmax_bar(sim, i, k, by_a, z);
        }
    }
}

// a . ad(b) e as a bar on e: ad(b)'a
static mabd_spatial twist_bar(const mabd_redmax_sim* sim, int32_t i, mabd_spatial V, mabd_spatial A,
                              mabd_spatial Sv, mabd_spatial w) {
    const mabd_real* xb = sim->up + at18(i);
    const mabd_spatial dA = mabd_sp_load(xb + 6);
    const mabd_spatial dV = mabd_sp_sub(mabd_sp_load(xb), mabd_sp_cross_wrench(Sv, dA));
    mabd_spatial bar = mabd_sp_add(mabd_sp_cross_wrench(V, dV), mabd_sp_cross_wrench(A, dA));
    bar = mabd_sp_add(bar, mabd_sp_load(xb + 12));
    return mabd_sp_add(bar, mabd_sp_cross_wrench(w, sim->F[i]));
}

mabd_spatial mabd_redmax_parent_side_bar(const mabd_redmax_sim* sim, int32_t i) {
    return twist_bar(sim, i, sim->XV[i], sim->XA[i], sim->Sv[i], parent_bar(sim, i));
}

mabd_spatial mabd_redmax_body_side_bar(const mabd_redmax_sim* sim, int32_t i) {
    return twist_bar(sim, i, sim->V[i], sim->A[i], mabd_sp_zero(), mabd_redmax_load_bar(sim, i));
}

void mabd_redmax_motion_bar(const mabd_redmax_sim* sim, int32_t i, mabd_spatial* dV,
                            mabd_spatial* dA) {
    *dV = mabd_sp_load(sim->up + at18(i)), *dA = mabd_sp_load(sim->up + at18(i) + 6);
}

mabd_spatial mabd_redmax_load_bar(const mabd_redmax_sim* sim, int32_t i) {
    return mabd_sp_load(sim->x + at18(i));
}

mabd_vec3 mabd_redmax_fall_bar(const mabd_redmax_sim* sim, const mabd_redmax_part* part) {
    mabd_vec3 sum = mabd_v3(0, 0, 0);
    for (int32_t i = part->link_first; i < part->link_first + part->link_count; i++) {
        if (sim->links[i].parent >= 0) continue;
        const mabd_spatial dA = mabd_sp_load(sim->up + at18(i) + 6);
        sum = mabd_v3_add(sum, mabd_frame_to_parent(&sim->E[i], dA).v);
    }
    return sum;
}
