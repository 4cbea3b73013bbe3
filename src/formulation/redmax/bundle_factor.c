// SPDX-License-Identifier: Apache-2.0
// Elimination of the border of H (border.c) along the tree.
//
// With all links behind link i eliminated, the wrench f on it and the rows g of its bundle
// (bundle_plan.c), those that are not yet complete, depend on its variation x and on the unknowns y
// of the bundle alone:
//
//   f = N x + n - P y        g = R x + Q y + m
//
// where each border adds its wrench to P and its row to R at the links that it acts on. Where a
// border ends all links that it acts on are known, so its row is the equation g_t = c_t of its
// unknown, and both are eliminated, t those that end, o those that go on:
//
//   y_t = Q_tt^-1 (c_t - m_t - R_t x - Q_to y_o)
//
//   N  += P_t X_R      X = Q_tt^-1 [R_t  Q_to]        R_o -= Q_ot X_R
//   P_o -= P_t X_Q                                    Q_oo -= Q_ot X_Q
//
// Then dq of the link, as without borders (factor.c), where C holds the ratios of couplings:
//
//   dq = u - K x_p + L y_o     L = D^-1 (S'P_o + C)     Z = R_o B + C_w
//   P_o = X'(P_o - G L)        R_o = R_o T - Z K        Q_oo += Z L
//
// The sums of a parent are those of its children: a border that passes two of them has both parts.
// At the ground x = 0. This is an LU factorisation of the whole bordered matrix, from the leaves to
// the ground; Q_tt is L H^-1 U of the loops that end at a link with that link held, a definite
// matrix like the dense one, whose redundant rows have the same shift (rigid/refine.h). The cost is
// one of k^2 for each link with a bundle of k and of t (t + o)^2 where t end: linear in the number
// of loops where each of them is short, and passes few others.

#include "formulation/redmax/redmax_bundles.h"

#include "dual/dense_lu.h"
#include "formulation/redmax/lean.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_springs.h"
#include "formulation/redmax/small_lu.h"

#include <math.h>
#include <string.h>

/// Shift of the rows relative to the mean of their diagonal entries.
#define SHIFT ((mabd_real)1e-8)
#define WIDTH MABD_VARIATION

/// Sums of a bundle of k borders.
typedef struct bundle_sums {
    size_t k;
    mabd_real *P, *R, *Q;
} bundle_sums;

static bundle_sums sums_of(const mabd_redmax_sim* sim, const mabd_redmax_bundle* own) {
    bundle_sums out;
    out.k = (size_t)own->ends + (size_t)own->open;
    out.P = sim->bundles.work + own->sums;
    out.R = out.P + 6 * out.k;
    out.Q = out.R + WIDTH * out.k;
    return out;
}

static void clear_sums(const bundle_sums* a) {
    memset(a->P, 0, (6 + WIDTH + a->k) * a->k * sizeof *a->P);
}

static bool is_mass(mabd_redmax_weights w) {
    return w.q == 0 && w.v == 0;
}

// a (n) += s b
static void add_scaled(size_t n, mabd_real s, const mabd_real* MABD_RESTRICT b,
                       mabd_real* MABD_RESTRICT a) {
    for (size_t i = 0; i < n; i++) a[i] += s * b[i];
}

// ---- borders that act on a link ----------------------------------------------------------------

// Add what a border does on a link to the sums of its bundle.
static void add_touch(const mabd_redmax_border* border, const mabd_redmax_touch* touch, bool mass,
                      const bundle_sums* a) {
    const mabd_spatial on = touch->on_b ? border->on_b : border->on_a;
    mabd_real *P = a->P + 6 * (size_t)touch->place, *R = a->R + WIDTH * (size_t)touch->place;
    mabd_real at[6];
    mabd_sp_store(on, at);
    add_scaled(6, 1, at, P);
    if (mass) {
        add_scaled(6, 1, at, R + 6);
        return;
    }
    mabd_sp_store(touch->on_b ? border->rate_b : border->rate_a, at);
    add_scaled(6, 1, at, R);
    mabd_sp_store(touch->on_b ? border->pose_b : border->pose_a, at);
    add_scaled(6, 1, at, R + 12);
}

static void add_touches(const mabd_redmax_solve* s, const mabd_redmax_bundle* own, bool mass,
                        const bundle_sums* a) {
    const mabd_redmax_touch* touches = s->sim->bundles.touches + own->touch_first;
    for (int32_t i = 0; i < own->touch_count; i++) {
        if (touches[i].axis >= 0 || !mabd_redmax_is_active(s, mass, touches[i].border)) continue;
        add_touch(&mabd_redmax_borders(s)[touches[i].border], &touches[i], mass, a);
    }
}

// ---- borders that end --------------------------------------------------------------------------

// Write Q_tt, with own entries of borders and the tensions of springs.
static void write_ends(const mabd_redmax_solve* s, const mabd_redmax_bundle* own, bool mass,
                       const bundle_sums* a, mabd_real* F) {
    const size_t t = (size_t)own->ends;
    const int32_t* list = s->sim->bundles.list + own->first;
    for (size_t i = 0; i < t; i++) {
        const mabd_redmax_border* border = &mabd_redmax_borders(s)[list[i]];
        memcpy(F + i * t, a->Q + i * a->k, t * sizeof *F);
        if (!mabd_redmax_is_active(s, mass, list[i])) {
            F[i * t + i] = 1;
        } else if (!mass) {
            F[i * t + i] += border->own;
        }
    }
    for (int32_t i = 0; !mass && !s->still && i < own->spring_count; i++) {
        const int32_t index = s->sim->bundles.springs[own->spring_first + i];
        const int32_t border = s->sim->springs.springs[index].border - s->part->border_first;
        size_t place = 0;
        while (list[place] != border) place++;
        mabd_redmax_add_tensions(s, index, own->ends, F + place * (t + 1));
    }
}

// Find the rows among those that end which follow from others, and take them out of the sums.
static void leave_out_dependent(const mabd_redmax_solve* s, const mabd_redmax_bundle* own,
                                mabd_real* F, mabd_real* work, const bundle_sums* a) {
    const size_t t = (size_t)own->ends;
    const int32_t* list = s->sim->bundles.list + own->first;
    mabd_redmax_find_dependent(s, own->ends, list, F, work);
    for (size_t i = 0; i < t; i++) {
        if (list[i] >= s->part->row_count || mabd_redmax_is_active(s, true, list[i])) continue;
        memset(a->P + 6 * i, 0, 6 * sizeof *F);
        memset(a->R + WIDTH * i, 0, WIDTH * sizeof *F);
        for (size_t j = 0; j < a->k; j++) a->Q[i * a->k + j] = a->Q[j * a->k + i] = 0;
        for (size_t j = 0; j < t; j++) F[i * t + j] = F[j * t + i] = 0;
        F[i * t + i] = 1;
    }
}

// Keep what those that end do with the link and with those that go on.
static void keep_ends(const bundle_sums* a, size_t t, const mabd_redmax_kept* kept) {
    const size_t o = a->k - t;
    memcpy(kept->P, a->P, 6 * t * sizeof *a->P);
    memcpy(kept->R, a->R, WIDTH * t * sizeof *a->R);
    for (size_t i = 0; i < t; i++) {
        memcpy(kept->ahead + i * o, a->Q + i * a->k + t, o * sizeof *a->Q);
        for (size_t j = 0; j < o; j++) kept->behind[i * o + j] = a->Q[(t + j) * a->k + i];
    }
}

// Add the shift of the rows.
static void shift_rows(const mabd_redmax_solve* s, const mabd_redmax_bundle* own, bool mass,
                       mabd_real* F) {
    const size_t t = (size_t)own->ends;
    const int32_t* list = s->sim->bundles.list + own->first;
    mabd_real* diagonal = s->sim->bundles.diagonal + s->part->border_first;
    mabd_real sum = 0;
    int32_t count = 0;
    for (size_t i = 0; i < t; i++) {
        diagonal[list[i]] = (mabd_real)fabs(F[i * t + i]);
        if (list[i] >= s->part->row_count || !mabd_redmax_is_active(s, mass, list[i])) continue;
        sum += diagonal[list[i]], count++;
    }
    if (s->ranks) return; // none of the rows that are left follows from others
    const mabd_real shift = SHIFT * (sum > 0 ? sum / (mabd_real)count : 1);
    for (size_t i = 0; i < t; i++) {
        if (list[i] < s->part->row_count) F[i * t + i] += shift;
    }
}

// X = Q_tt^-1 [R_t  Q_to] (t x (18 + o)).
static void solve_ends(const mabd_redmax_kept* kept, const int32_t* pivot, size_t t, size_t o,
                       mabd_real* X) {
    const size_t width = WIDTH + o;
    for (size_t i = 0; i < t; i++) {
        memcpy(X + i * width, kept->R + WIDTH * i, WIDTH * sizeof *X);
        memcpy(X + i * width + WIDTH, kept->ahead + i * o, o * sizeof *X);
    }
    mabd_dense_lu_solve_rows((int32_t)t, kept->F, pivot, (int32_t)width, X);
}

// Take those that end out of N and of the sums of the others.
static void reduce_sums(const mabd_redmax_kept* kept, size_t t, const mabd_real* X,
                        const bundle_sums* a, mabd_real* N) {
    const size_t o = a->k - t, width = WIDTH + o;
    for (size_t i = 0; i < t; i++) {
        const mabd_real *row = X + i * width, *P = kept->P + 6 * i;
        for (int r = 0; N && r < 6; r++) add_scaled(WIDTH, P[r], row, N + WIDTH * r);
        for (size_t j = 0; j < o; j++) {
            const mabd_real behind = kept->behind[i * o + j];
            add_scaled(6, -row[WIDTH + j], P, a->P + 6 * (t + j));
            if (behind == 0) continue;
            add_scaled(WIDTH, -behind, row, a->R + WIDTH * (t + j));
            add_scaled(o, -behind, row + WIDTH, a->Q + (t + j) * a->k + t);
        }
    }
}

static mabd_status close(const mabd_redmax_solve* s, const mabd_redmax_bundle* own, bool mass,
                         int32_t freedoms, mabd_real* N) {
    mabd_redmax_bundles* b = &s->sim->bundles;
    const size_t t = (size_t)own->ends, o = (size_t)own->open;
    const bundle_sums a = sums_of(s->sim, own);
    const mabd_redmax_kept kept = mabd_redmax_kept_of(s->sim, own, freedoms);
    mabd_real* X = b->scratch + b->scratch_first[s->part - s->sim->parts];
    int32_t bad;
    if (t == 0) return MABD_OK;
    write_ends(s, own, mass, &a, kept.F);
    if (s->ranks) leave_out_dependent(s, own, kept.F, X, &a);
    keep_ends(&a, t, &kept);
    shift_rows(s, own, mass, kept.F);
    if (!mabd_dense_lu_factor(own->ends, kept.F, b->pivot + own->pivot, X, &bad)) {
        return MABD_ERR_SINGULAR;
    }
    solve_ends(&kept, b->pivot + own->pivot, t, o, X);
    reduce_sums(&kept, t, X, &a, N);
    s->part->structure.operations += (int64_t)(t * t * t / 3 + t * (t + 6 + o) * (WIDTH + o));
    return MABD_OK;
}

void mabd_redmax_bundles_begin(const mabd_redmax_solve* s) {
    const bundle_sums ground = sums_of(s->sim, mabd_redmax_bundle_of(s, -1));
    clear_sums(&ground);
    s->part->structure.operations = 0;
}

mabd_status mabd_redmax_bundle_close(const mabd_redmax_solve* s, mabd_redmax_weights w,
                                     int32_t link, mabd_real* N) {
    const mabd_redmax_bundle* own = mabd_redmax_bundle_of(s, link);
    const bundle_sums a = sums_of(s->sim, own);
    if (a.k == 0) return MABD_OK;
    if (link >= 0 && s->sim->lean[link].leaf) clear_sums(&a);
    add_touches(s, own, is_mass(w), &a);
    return close(s, own, is_mass(w), link < 0 ? 0 : s->sim->links[link].count, N);
}

// ---- the freedoms of a link --------------------------------------------------------------------

// Add the ratios of couplings to the rows of freedoms in `to` (borders that go on x freedoms).
static void add_ratios(const mabd_redmax_solve* s, const mabd_redmax_bundle* own, bool mass,
                       const mabd_redmax_link* link, bool row, mabd_real* to) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_touch* touches = sim->bundles.touches + own->touch_first;
    for (int32_t i = 0; i < own->touch_count; i++) {
        const int32_t axis = touches[i].axis;
        if (axis < 0 || !mabd_redmax_is_active(s, mass, touches[i].border)) continue;
        const mabd_real ratio = sim->model->coupling_axes[axis].ratio;
        const mabd_real weight =
            row && !mass ? mabd_redmax_borders(s)[touches[i].border].weight : 1;
        const size_t place = (size_t)(touches[i].place - own->ends);
        const int32_t k = sim->couplings.freedom[axis] - link->first;
        to[place * (size_t)link->count + (size_t)k] += weight * ratio;
    }
}

// L = D^-1 (S'P_o + C), in the rows of held axes.
static void write_columns(const mabd_redmax_solve* s, const mabd_redmax_bundle* own, bool mass,
                          const mabd_redmax_link* link, const bundle_sums* a, mabd_real* L) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_spatial* left = mabd_redmax_left(s) + link->first;
    const size_t m = (size_t)link->count, o = (size_t)own->open;
    memset(L, 0, o * m * sizeof *L);
    if (mabd_redmax_is_held(sim, link)) return;
    for (size_t j = 0; j < o; j++) {
        const mabd_spatial P = mabd_sp_load(a->P + 6 * ((size_t)own->ends + j));
        for (size_t k = 0; k < m; k++) L[j * m + k] = mabd_sp_dot(left[k], P);
    }
    add_ratios(s, own, mass, link, false, L);
    const bool holds = mabd_redmax_has_holds(sim, link);
    for (size_t j = 0; j < o; j++) {
        mabd_real y[3];
        for (size_t k = 0; k < m; k++) {
            const bool held = !holds && sim->freedoms[(size_t)link->first + k].held;
            y[k] = held ? 0 : L[j * m + k];
        }
        if (holds) {
            mabd_v3_store(mabd_m3_mul(sim->balls[link->ball].forces, mabd_v3_load(y)), y);
        }
        mabd_small_lu_solve(link->count, sim->D + 3 * (size_t)link->first, sim->pivot + link->first,
                            y);
        for (size_t k = 0; k < m; k++) L[j * m + k] = y[k];
    }
}

// Z = R_o B + C_w
static void write_rows(const mabd_redmax_solve* s, const mabd_redmax_bundle* own, bool mass,
                       const mabd_redmax_link* link, const bundle_sums* a, mabd_real* Z) {
    const size_t m = (size_t)link->count, o = (size_t)own->open;
    for (size_t j = 0; j < o; j++) {
        const mabd_real* R = a->R + WIDTH * ((size_t)own->ends + j);
        for (size_t k = 0; k < m; k++) {
            const mabd_real* B = s->sim->B + WIDTH * ((size_t)link->first + k);
            mabd_real sum = 0;
            for (int c = 0; c < mabd_redmax_width(s->part); c++) sum += R[c] * B[c];
            Z[j * m + k] = sum;
        }
    }
    add_ratios(s, own, mass, link, true, Z);
}

// Rows and wrenches of a border that goes on, seen from the parent.
static void transfer(const mabd_redmax_solve* s, int32_t i, const mabd_real* L, const mabd_real* Z,
                     mabd_real* P, mabd_real* R) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    mabd_spatial F = mabd_sp_load(P);
    mabd_real to[WIDTH] = {0};
    mabd_redmax_transfer_back(sim, i, mabd_redmax_width(s->part), R, to);
    for (int32_t k = 0; k < link->count; k++) {
        const mabd_real* K = sim->K + WIDTH * (size_t)(link->first + k);
        F = mabd_sp_axpy(-L[k], sim->G[link->first + k], F);
        for (int c = 0; c < mabd_redmax_width(s->part); c++) to[c] -= Z[k] * K[c];
    }
    memcpy(R, to, sizeof to);
    mabd_sp_store(mabd_frame_to_parent(&sim->E[i], F), P);
}

// Add the sums of those that go on to those of the parent.
static void push(const mabd_redmax_solve* s, const mabd_redmax_bundle* own, const mabd_real* L,
                 const mabd_real* Z, size_t m, const bundle_sums* a, const bundle_sums* to) {
    const size_t t = (size_t)own->ends, o = (size_t)own->open;
    const int32_t* up = s->sim->bundles.up + own->first + own->ends;
    for (size_t j = 0; j < o; j++) {
        const size_t place = (size_t)up[j];
        const mabd_real* Q = a->Q + (t + j) * a->k + t;
        mabd_real* row = to->Q + place * to->k;
        add_scaled(6, 1, a->P + 6 * (t + j), to->P + 6 * place);
        add_scaled(WIDTH, 1, a->R + WIDTH * (t + j), to->R + WIDTH * place);
        for (size_t c = 0; c < o; c++) {
            mabd_real sum = Q[c];
            for (size_t k = 0; k < m; k++) sum += Z[j * m + k] * L[c * m + k];
            row[up[c]] += sum;
        }
    }
}

void mabd_redmax_bundle_pass(const mabd_redmax_solve* s, mabd_redmax_weights w, int32_t i) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_redmax_bundle* own = mabd_redmax_bundle_of(s, i);
    const bundle_sums a = sums_of(sim, own);
    const bundle_sums to = sums_of(sim, mabd_redmax_bundle_of(s, link->parent));
    const mabd_redmax_kept kept = mabd_redmax_kept_of(sim, own, link->count);
    const size_t m = (size_t)link->count, o = (size_t)own->open, t = (size_t)own->ends;
    if (sim->lean[i].opens) clear_sums(&to);
    if (o == 0) return;
    for (size_t j = 0; s->lifted && j < o; j++) {
        const mabd_real *R = a.R + WIDTH * (t + j), *d = sim->defect + WIDTH * (size_t)i;
        kept.defect[j] = 0;
        for (int c = 0; c < mabd_redmax_width(s->part); c++) kept.defect[j] += R[c] * d[c];
    }
    write_columns(s, own, is_mass(w), link, &a, kept.L);
    write_rows(s, own, is_mass(w), link, &a, kept.Z);
    for (size_t j = 0; j < o; j++) {
        transfer(s, i, kept.L + j * m, kept.Z + j * m, a.P + 6 * (t + j), a.R + WIDTH * (t + j));
    }
    push(s, own, kept.L, kept.Z, m, &a, &to);
    s->part->structure.operations += (int64_t)(o * (o * (1 + m) + 100 + 48 * m));
}
