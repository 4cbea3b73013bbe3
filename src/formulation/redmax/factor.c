// SPDX-License-Identifier: Apache-2.0
// The exact Newton matrix of a tree, factored in O(links).
//
// A variation of a link is x = (dV, dA, xi), 18 reals; xi, the variation of its pose, is needed
// only if forces depend on poses, and drops out otherwise (12 reals). With aS = ad(S v),
// XV = X V_p, XA = X A_p and (dS.v) the matrix with columns dS_k v, for
// H = wq dr/dq + wv dr/dv + wa dr/da:
//
//   x_i = T x_p + B dq,  B = wq Bq + wv Bv + wa Ba           T = [ X 0 0; -aS X  X 0; 0 0 X ]
//   Bq = ( ad(XV) S + dS.v ;  ad(XA) S - aS (ad(XV) S + dS.v) + ad(V) dS.v + dS.a + d2S(v,v) ; S )
//   Bv = ( S ;  -aS S + ad(V) S + S' + dS.v ; 0 )            Ba = ( 0 ; S ; 0 )
//
//   N = ( -adF(M V) - ad(V)'M - dF_ext/dV | M | -dF_ext/dxi )      of the link itself
//   W = wq ((dS_k)'F + k) + wv d + wa I                      P = wq adF(F) S
//
// where k, d, I are -dtau/dq, -dtau/dv, -dtau/da. Elimination of dq from the leaves to the ground:
//
//   D = S'N B + W     K = D^-1 S'N T     G = N B - P         N_p += X'(N T - G K)
//
//   H dq = b     up    u = D^-1 (b - S'n),  n_p += X'(n + G u)
//                down  dq = u - K x_p,  x = T x_p + B dq
//   H'z = y      up    u = y + B'x,  x_p += T'x - K'u
//                down  t = X n_p,  z = D^-T (u + G't),  n = t - S z
//
// A held freedom has the row dq = b: a unit row of D, K = 0, and S z is left out of n; others of
// its link may be free. Where components of the rotation vector of a ball are held, dtheta = Y dq,
// its equations of motion are multiplied by L, which is Y^-T with zero rows for the held ones, and
// these rows are Y_k dq = b_k:
//
//   D -> L D + Y_held    K = D^-1 L S'N T    u = D^-1 (b - L S'n)    n = t - S L'z
//
// Where bounds of pins vary with F (pins.c), r = S'F + t b(F): S' in D, K, u, S in n, and S of the
// rows of H x, are `left`, S + t db/dF.
//
// D is not symmetric; links of three freedoms are factored with pivoting. ([RM] fills dense J,
// dJ/dq and dJ'/dq, n^3 numbers, and factors a dense H.)

#include "formulation/redmax/lean.h"
#include "formulation/redmax/redmax_bundles.h"
#include "formulation/redmax/redmax_contact.h"
#include "formulation/redmax/redmax_lift.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_pins.h"
#include "formulation/redmax/redmax_springs.h"

#include "formulation/redmax/small_lu.h"

#include <math.h>
#include <string.h>

/// Smallest pivot of a link, relative to the terms that it sums.
#define PIVOT_LEAST ((mabd_real)1e-14)
/// Reals of N
#define N_REALS (6 * MABD_VARIATION)

// ---- blocks of a link --------------------------------------------------------------------------

// Write a block (3 x 3) of N.
static void put_block(mabd_real* N, int row, int column, mabd_mat3 M) {
    mabd_real* at = N + MABD_VARIATION * row + column;
    at[0] = M.c1.x, at[1] = M.c2.x, at[2] = M.c3.x;
    at += MABD_VARIATION;
    at[0] = M.c1.y, at[1] = M.c2.y, at[2] = M.c3.y;
    at += MABD_VARIATION;
    at[0] = M.c1.z, at[1] = M.c2.z, at[2] = M.c3.z;
}

// N of the inertia of a link, with (p, f) = M V and V = (w, v):
//
//   M = [ I  [mc]; -[mc]  m ]
//   -adF(M V) - ad(V)'M = [ [w]I - [v][mc] - [p]   [w][mc] + m [v] - [f]; -[w][mc] - [f]   m [w] ]
static void write_inertia(const mabd_spatial_inertia* M, mabd_spatial V, mabd_real* N) {
    const mabd_spatial momentum = mabd_inertia_mul(M, V);
    const mabd_mat3 arm = mabd_m3_skew(M->mc), one = mabd_m3_identity();
    const mabd_mat3 f = mabd_m3_skew(momentum.v), turn = mabd_m3_skew_product(V.w, arm);
    const mabd_mat3 zero = mabd_m3_axpy(-1, one, one);
    mabd_mat3 block = mabd_m3_axpy(-1, mabd_m3_skew(momentum.w), mabd_m3_skew_product(V.w, M->Io));
    put_block(N, 0, 0, mabd_m3_axpy(-1, mabd_m3_skew_product(V.v, arm), block));
    block = mabd_m3_axpy(-1, f, turn);
    put_block(N, 0, 3, mabd_m3_axpy(M->mass, mabd_m3_skew(V.v), block));
    put_block(N, 3, 0, mabd_m3_axpy(-1, turn, mabd_m3_axpy(-1, f, zero)));
    put_block(N, 3, 3, mabd_m3_axpy(M->mass, mabd_m3_skew(V.w), zero));
    put_block(N, 0, 6, M->Io);
    put_block(N, 0, 9, arm);
    put_block(N, 3, 6, mabd_m3_axpy(-1, arm, zero));
    put_block(N, 3, 9, mabd_m3_axpy(M->mass, one, zero));
}

void mabd_redmax_local(const mabd_redmax_solve* s, int32_t i, mabd_real* N) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    memset(N, 0, 6 * MABD_VARIATION * sizeof *N);
    if (!(link->M.mass > 0)) return;
    write_inertia(&link->M, sim->V[i], N);
    if (mabd_redmax_is_loaded(s, link)) mabd_redmax_load_derivatives(s, i, N);
    if (link->loop >= 0 && !s->forces_at_once) mabd_redmax_subtract_own(sim, i, N);
    if (link->spring >= 0 && !s->still) mabd_redmax_subtract_springs(sim, i, N);
    if (s->part->pushed) mabd_redmax_subtract_push(sim, i, N);
}

// Terms of B that the derivatives of S add, of a ball or a path: dS.v, dS.a + d2S(v, v), S' along
// column k.
static void curved_terms(const mabd_redmax_sim* sim, const mabd_redmax_link* link, int k,
                         mabd_spatial* by_v, mabd_spatial* rest, mabd_spatial* rate) {
    *by_v = *rest = *rate = mabd_sp_zero();
    if (link->path >= 0) {
        const mabd_redmax_path* path = &sim->paths[link->path];
        *by_v = path->by_v[k], *rest = path->rest[k], *rate = path->rate[k];
    }
    if (link->kind != MABD_PRIMITIVE_BALL) return;
    const mabd_redmax_ball* ball = &sim->balls[link->ball];
    by_v->w = mabd_m3_column(&ball->by_v, k);
    rest->w = mabd_v3_add(mabd_m3_column(&ball->by_a, k), mabd_m3_column(&ball->bend, k));
    rate->w = mabd_m3_column(&ball->rate, k);
}

void mabd_redmax_column(const mabd_redmax_sim* sim, int32_t i, int k, mabd_redmax_weights w,
                        mabd_real* B) {
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_spatial S = sim->S[link->first + k];
    mabd_spatial by_v, rest, rate;
    curved_terms(sim, link, k, &by_v, &rest, &rate);
    const mabd_spatial dV = mabd_sp_add(mabd_sp_cross(sim->XV[i], S), by_v);
    mabd_spatial q = mabd_sp_sub(mabd_sp_cross(sim->XA[i], S), mabd_sp_cross(sim->Sv[i], dV));
    q = mabd_sp_add(mabd_sp_add(q, mabd_sp_cross(sim->V[i], by_v)), rest);
    const mabd_spatial turn = mabd_sp_cross(mabd_sp_sub(sim->V[i], sim->Sv[i]), S);
    const mabd_spatial v = mabd_sp_add(turn, mabd_sp_add(rate, by_v));
    mabd_sp_store(mabd_sp_axpy(w.v, S, mabd_sp_scale(w.q, dV)), B);
    mabd_sp_store(mabd_sp_axpy(w.a, S, mabd_sp_axpy(w.v, v, mabd_sp_scale(w.q, q))), B + 6);
    mabd_sp_store(mabd_sp_scale(w.q, S), B + 12);
}

// Columns B of a link (18 each).
static void write_columns(mabd_redmax_sim* sim, int32_t i, mabd_redmax_weights w) {
    const mabd_redmax_link* link = &sim->links[i];
    for (int32_t k = 0; k < link->count; k++) {
        mabd_redmax_column(sim, i, k, w, sim->B + MABD_VARIATION * (size_t)(link->first + k));
    }
}

mabd_real mabd_redmax_own(const mabd_redmax_sim* sim, int32_t i, mabd_redmax_weights w, int j,
                          int k) {
    const mabd_redmax_link* link = &sim->links[i];
    if (link->path >= 0) return w.q * mabd_sp_dot(sim->paths[link->path].dS[j][k], sim->F[i]);
    if (link->kind != MABD_PRIMITIVE_BALL) {
        const mabd_redmax_freedom* f = &sim->freedoms[link->first + k];
        mabd_real slope = 0;
        if (j != k || f->held) return 0;
        mabd_redmax_friction(f, sim->v[link->first + k], &slope);
        return w.q * (f->k + f->bend) + w.v * (f->d + slope) + w.a * f->I;
    }
    const mabd_redmax_ball* ball = &sim->balls[link->ball];
    const mabd_vec3 by = mabd_v3(k == 0, k == 1, k == 2), of = mabd_v3(j == 0, j == 1, j == 2);
    mabd_real W = w.q * mabd_v3_dot(mabd_turn_slope(&ball->chart, by, of), sim->F[i].w);
    if (link->laws) {
        W += w.q * ball->k[3 * j + k] + w.v * ball->d[3 * j + k] + w.a * ball->inertia[3 * j + k];
    }
    return W;
}

// ---- sums over variations ----------------------------------------------------------------------

MABD_HOT mabd_real dot(int n, const mabd_real* a, const mabd_real* b) {
    mabd_real sum = 0;
    for (int k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

// N B of one column.
MABD_HOT mabd_spatial times_column(const mabd_real* N, int n, const mabd_real* B) {
    mabd_real out[6];
    for (int r = 0; r < 6; r++) out[r] = dot(n, N + MABD_VARIATION * r, B);
    return mabd_sp_load(out);
}

// N T, in place.
MABD_HOT void times_transfer(const mabd_redmax_sim* sim, int32_t i, int n, mabd_real* N) {
    for (int r = 0; r < 6; r++) {
        mabd_real* row = N + MABD_VARIATION * r;
        const mabd_spatial a = mabd_sp_load(row + 6);
        const mabd_spatial v = mabd_sp_sub(mabd_sp_load(row), mabd_sp_cross_wrench(sim->Sv[i], a));
        mabd_sp_store(mabd_frame_to_parent(&sim->E[i], v), row);
        mabd_sp_store(mabd_frame_to_parent(&sim->E[i], a), row + 6);
        if (n == 12) continue;
        mabd_sp_store(mabd_frame_to_parent(&sim->E[i], mabd_sp_load(row + 12)), row + 12);
    }
}

// Np += X' N: f = R N_force, m = R N_moment + p x f, by columns.
MABD_HOT void add_to_parent(const mabd_frame* E, int n, const mabd_real* MABD_RESTRICT N,
                            mabd_real* MABD_RESTRICT Np) {
    const mabd_mat3 R = E->R;
    const mabd_vec3 p = E->p;
    enum { W = MABD_VARIATION };
    for (int c = 0; c < n; c++) {
        const mabd_real a = N[3 * W + c], b = N[4 * W + c], d = N[5 * W + c];
        const mabd_real x = R.c1.x * a + R.c2.x * b + R.c3.x * d;
        const mabd_real y = R.c1.y * a + R.c2.y * b + R.c3.y * d;
        const mabd_real z = R.c1.z * a + R.c2.z * b + R.c3.z * d;
        const mabd_real k = N[c], l = N[W + c], m = N[2 * W + c];
        Np[c] += R.c1.x * k + R.c2.x * l + R.c3.x * m + (p.y * z - p.z * y);
        Np[W + c] += R.c1.y * k + R.c2.y * l + R.c3.y * m + (p.z * x - p.x * z);
        Np[2 * W + c] += R.c1.z * k + R.c2.z * l + R.c3.z * m + (p.x * y - p.y * x);
        Np[3 * W + c] += x, Np[4 * W + c] += y, Np[5 * W + c] += z;
    }
}

void mabd_redmax_transfer(const mabd_redmax_sim* sim, int32_t i, int n, const mabd_real* x_p,
                          mabd_real* x) {
    memset(x, 0, MABD_VARIATION * sizeof *x);
    if (!x_p) return;
    const mabd_spatial dV = mabd_frame_to_child(&sim->E[i], mabd_sp_load(x_p));
    const mabd_spatial dA = mabd_frame_to_child(&sim->E[i], mabd_sp_load(x_p + 6));
    mabd_sp_store(dV, x);
    mabd_sp_store(mabd_sp_sub(dA, mabd_sp_cross(sim->Sv[i], dV)), x + 6);
    if (n == 12) return;
    mabd_sp_store(mabd_frame_to_child(&sim->E[i], mabd_sp_load(x_p + 12)), x + 12);
}

void mabd_redmax_vary(const mabd_redmax_sim* sim, int32_t i, int n, const mabd_real* dq,
                      mabd_real* x) {
    const mabd_redmax_link* link = &sim->links[i];
    mabd_real* own = x + MABD_VARIATION * (size_t)i;
    mabd_redmax_transfer(sim, i, n,
                         link->parent < 0 ? NULL : x + MABD_VARIATION * (size_t)link->parent, own);
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        const mabd_real* B = sim->B + MABD_VARIATION * (size_t)k;
        for (int c = 0; c < n; c++) own[c] += dq[k] * B[c];
    }
}

// ---- held axes ---------------------------------------------------------------------------------

// Replace the rows of held components of a ball in D and in S'N T (its K). Returns the size of D.
static mabd_real hold_rows(mabd_redmax_sim* sim, const mabd_redmax_link* link, int n,
                           mabd_real* D) {
    const mabd_redmax_ball* ball = &sim->balls[link->ball];
    mabd_real* K = sim->K + MABD_VARIATION * (size_t)link->first;
    mabd_real scale = 0;
    for (int c = 0; c < 3; c++) {
        const mabd_vec3 column = mabd_m3_mul(ball->forces, mabd_v3(D[c], D[3 + c], D[6 + c]));
        for (int k = 0; k < 3; k++) {
            const bool held = sim->freedoms[link->first + k].held;
            const mabd_vec3 Y = mabd_m3_column(&ball->rows, c);
            D[3 * k + c] = held ? mabd_v3_get(Y, k) : mabd_v3_get(column, k);
            const mabd_real size = (mabd_real)fabs(D[3 * k + c]);
            if (!(size <= scale)) scale = size;
        }
    }
    for (int c = 0; c < n; c++) {
        mabd_real *a = K + c, *b = a + MABD_VARIATION, *d = b + MABD_VARIATION;
        const mabd_vec3 column = mabd_m3_mul(ball->forces, mabd_v3(*a, *b, *d));
        *a = column.x, *b = column.y, *d = column.z;
    }
    return scale;
}

// Replace the rows of held freedoms of a link without a ball in D (m x m) and in its K.
static void hold_freedoms(mabd_redmax_sim* sim, const mabd_redmax_link* link, mabd_real* D) {
    const int m = link->count;
    for (int k = 0; k < m; k++) {
        if (!sim->freedoms[link->first + k].held) continue;
        for (int c = 0; c < m; c++) D[m * k + c] = c == k;
        memset(sim->K + MABD_VARIATION * (size_t)(link->first + k), 0,
               MABD_VARIATION * sizeof *sim->K);
    }
}

// ---- factor ------------------------------------------------------------------------------------

// S'N T: rows of N T (6 x 18) in the ratios of S.
MABD_HOT void combine_rows(int n, mabd_spatial S, const mabd_real* MABD_RESTRICT N,
                           mabd_real* MABD_RESTRICT K) {
    enum { W = MABD_VARIATION };
    for (int c = 0; c < n; c++) {
        K[c] = S.w.x * N[c] + S.w.y * N[W + c] + S.w.z * N[2 * W + c] + S.v.x * N[3 * W + c] +
               S.v.y * N[4 * W + c] + S.v.z * N[5 * W + c];
    }
}

// D of a link: its pivots; K and G of its freedoms.
MABD_HOT mabd_status eliminate(const mabd_redmax_solve* s, int32_t i, int n, mabd_redmax_weights w,
                               mabd_real* N) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_spatial* left = mabd_redmax_left(s);
    const int m = link->count;
    mabd_real D[9], scale = 0;
    for (int k = 0; k < m; k++) {
        const size_t at = (size_t)(link->first + k);
        const mabd_spatial NB = times_column(N, n, sim->B + MABD_VARIATION * at);
        sim->G[at] = mabd_sp_axpy(-w.q, mabd_sp_cross_wrench(sim->S[at], sim->F[i]), NB);
        for (int j = 0; j < m; j++) {
            const mabd_spatial S = left[link->first + j];
            const mabd_real own = mabd_redmax_own(sim, i, w, j, k);
            D[m * j + k] = mabd_sp_dot(S, NB) + own;
            const mabd_real terms =
                (mabd_real)fabs(own) + (mabd_real)sqrt(mabd_sp_dot(S, S) * mabd_sp_dot(NB, NB));
            if (terms > scale) scale = terms;
        }
        sim->stiff[at] = D[m * k + k];
    }
    times_transfer(sim, i, n, N);
    if (m == 1 && sim->freedoms[link->first].held) {
        sim->D[3 * (size_t)link->first] = 1, sim->pivot[link->first] = 0;
        memset(sim->K + MABD_VARIATION * (size_t)link->first, 0, MABD_VARIATION * sizeof *N);
        return MABD_OK;
    }
    for (int k = 0; k < m; k++) {
        combine_rows(n, left[link->first + k], N,
                     sim->K + MABD_VARIATION * (size_t)(link->first + k));
    }
    if (mabd_redmax_has_holds(sim, link)) {
        scale = hold_rows(sim, link, n, D);
    } else if (link->kind != MABD_PRIMITIVE_BALL) {
        hold_freedoms(sim, link, D);
    }
    if (!mabd_small_lu_factor(m, D, PIVOT_LEAST * scale, sim->pivot + link->first)) {
        return MABD_ERR_SINGULAR;
    }
    for (int j = 0; j < m; j++) {
        memcpy(sim->D + 3 * (size_t)(link->first + j), D + m * j, (size_t)m * sizeof *D);
    }
    if (m == 1) {
        const mabd_real inverse = 1 / D[0];
        mabd_real* K = sim->K + MABD_VARIATION * (size_t)link->first;
        for (int c = 0; c < n; c++) K[c] *= inverse;
        return MABD_OK;
    }
    for (int c = 0; c < n; c++) {
        mabd_real b[3];
        for (int k = 0; k < m; k++) b[k] = sim->K[MABD_VARIATION * (size_t)(link->first + k) + c];
        mabd_small_lu_solve(m, sim->D + 3 * (size_t)link->first, sim->pivot + link->first, b);
        for (int k = 0; k < m; k++) sim->K[MABD_VARIATION * (size_t)(link->first + k) + c] = b[k];
    }
    return MABD_OK;
}

// N T - G K, in place.
MABD_HOT void reduce(const mabd_redmax_sim* sim, const mabd_redmax_link* link, int n,
                     mabd_real* MABD_RESTRICT N) {
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        const mabd_real* MABD_RESTRICT K = sim->K + MABD_VARIATION * (size_t)k;
        mabd_real G[6];
        mabd_sp_store(sim->G[k], G);
        for (int r = 0; r < 6; r++) {
            mabd_real* row = N + MABD_VARIATION * r;
            for (int c = 0; c < n; c++) row[c] -= G[r] * K[c];
        }
    }
}

// N of a link, which is there from its first child to its parent.
static mabd_real* slot_of(const mabd_redmax_solve* s, int32_t i) {
    const int32_t slot = s->part->structure.slot_first + s->sim->lean[i].slot;
    return s->sim->N + MABD_LEAN_SLOT * (size_t)slot;
}

// Add N of a link itself to that of its children.
static void add_local(const mabd_redmax_solve* s, int32_t i, mabd_real* N) {
    mabd_real own[N_REALS];
    if (s->sim->lean[i].leaf) {
        mabd_redmax_local(s, i, N);
        return;
    }
    mabd_redmax_local(s, i, own);
    for (int k = 0; k < N_REALS; k++) N[k] += own[k];
}

// From the leaves to the ground; n = 12 or 18 is a constant where this is inlined.
MABD_HOT mabd_status eliminate_all(const mabd_redmax_solve* s, int n, mabd_redmax_weights w,
                                   int32_t* at) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t first = s->part->link_first;
    const bool bundled = mabd_redmax_has_bundles(s);
    if (bundled) mabd_redmax_bundles_begin(s);
    for (int32_t i = first + s->part->link_count - 1; i >= first; i--) {
        const mabd_redmax_link* link = &sim->links[i];
        mabd_real* N = slot_of(s, i);
        *at = i;
        add_local(s, i, N);
        if (bundled) MABD_TRY(mabd_redmax_bundle_close(s, w, i, N));
        if (s->lifted) {
            const mabd_real* d = sim->defect + MABD_VARIATION * (size_t)i;
            mabd_sp_store(times_column(N, n, d), sim->lift + 6 * (size_t)i);
        }
        MABD_TRY(eliminate(s, i, n, w, N));
        if (bundled) mabd_redmax_bundle_pass(s, w, i);
        if (link->parent < 0) continue;
        mabd_real* Np = slot_of(s, link->parent);
        reduce(sim, link, n, N);
        if (sim->lean[i].opens) memset(Np, 0, N_REALS * sizeof *Np);
        add_to_parent(&sim->E[i], n, N, Np);
    }
    *at = -1;
    return bundled ? mabd_redmax_bundle_close(s, w, -1, NULL) : MABD_OK;
}

void mabd_redmax_derive_forces(const mabd_redmax_solve* s) {
    if (s->part->cut_count > 0) mabd_redmax_border_derivatives(s);
    if (s->part->spring_count > 0 && !s->still) mabd_redmax_spring_derivatives(s);
}

mabd_status mabd_redmax_factor(const mabd_redmax_solve* s, mabd_redmax_weights w, int32_t* at) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t first = s->part->link_first, end = first + s->part->link_count;
    if (mabd_redmax_is_lean(s)) return mabd_redmax_lean_factor(s, w, at);
    if (w.q != 0 || w.v != 0) mabd_redmax_derive_forces(s); // the mass matrix has none
    for (int32_t i = first; i < end; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        write_columns(sim, i, w);
        if (link->ball >= 0 && link->laws) mabd_redmax_ball_derivatives(s, i);
    }
    return mabd_redmax_width(s->part) == 12 ? eliminate_all(s, 12, w, at)
                                            : eliminate_all(s, MABD_VARIATION, w, at);
}

// ---- solves ------------------------------------------------------------------------------------

void mabd_redmax_solve_pivots(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                              const mabd_real* b, mabd_spatial n, mabd_real* u) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_spatial* left = mabd_redmax_left(s);
    mabd_real y[3];
    for (int k = 0; k < link->count; k++) y[k] = b[link->first + k];
    if (mabd_redmax_has_holds(sim, link)) {
        const mabd_mat3 L = sim->balls[link->ball].forces;
        const mabd_vec3 t = mabd_m3_mul(L, mabd_v3(mabd_sp_dot(left[link->first], n),
                                                   mabd_sp_dot(left[link->first + 1], n),
                                                   mabd_sp_dot(left[link->first + 2], n)));
        for (int k = 0; k < 3; k++) y[k] -= mabd_v3_get(t, k);
    } else {
        for (int k = 0; k < link->count; k++) {
            if (!sim->freedoms[link->first + k].held) {
                y[k] -= mabd_sp_dot(left[link->first + k], n);
            }
        }
    }
    mabd_small_lu_solve(link->count, sim->D + 3 * (size_t)link->first, sim->pivot + link->first, y);
    for (int k = 0; k < link->count; k++) u[link->first + k] = y[k];
}

void mabd_redmax_apply(const mabd_redmax_solve* s, const mabd_real* b, mabd_real* dq) {
    mabd_redmax_apply_defects(s, false, b, dq);
}

void mabd_redmax_apply_defects(const mabd_redmax_solve* s, bool defects, const mabd_real* b,
                               mabd_real* dq) {
    mabd_redmax_sim* sim = s->sim;
    if (mabd_redmax_is_lean(s)) {
        mabd_redmax_lean_apply(s, b, dq);
        return;
    }
    const int32_t first = s->part->link_first, end = first + s->part->link_count;
    const int n = mabd_redmax_width(s->part);
    mabd_redmax_clear_bars(s);
    for (int32_t i = end - 1; i >= first; i--) {
        const mabd_redmax_link* link = &sim->links[i];
        mabd_spatial sum = mabd_sp_load(sim->up + MABD_VARIATION * (size_t)i);
        if (defects) sum = mabd_sp_add(sum, mabd_sp_load(sim->lift + 6 * (size_t)i));
        mabd_redmax_solve_pivots(s, link, b, sum, sim->u);
        if (link->parent < 0) continue;
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            sum = mabd_sp_axpy(sim->u[k], sim->G[k], sum);
        }
        mabd_real* up = sim->up + MABD_VARIATION * (size_t)link->parent;
        const mabd_spatial F = mabd_frame_to_parent(&sim->E[i], sum);
        mabd_sp_store(mabd_sp_add(mabd_sp_load(up), F), up);
    }
    for (int32_t i = first; i < end; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const mabd_real* x_p =
            sim->x + MABD_VARIATION * (size_t)(link->parent < 0 ? i : link->parent);
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            const mabd_real* K = sim->K + MABD_VARIATION * (size_t)k;
            dq[k] = sim->u[k] - (link->parent < 0 ? 0 : dot(n, K, x_p));
        }
        mabd_redmax_vary(sim, i, n, dq, sim->x);
        if (defects) mabd_redmax_add_defect(sim, i);
    }
}

void mabd_redmax_transfer_back(const mabd_redmax_sim* sim, int32_t i, int n, const mabd_real* x,
                               mabd_real* x_p) {
    const mabd_spatial a = mabd_sp_load(x + 6);
    const mabd_spatial v = mabd_sp_sub(mabd_sp_load(x), mabd_sp_cross_wrench(sim->Sv[i], a));
    const mabd_spatial parts[3] = {v, a, mabd_sp_load(x + 12)};
    for (int k = 0; 6 * k < n; k++) {
        const mabd_spatial F = mabd_frame_to_parent(&sim->E[i], parts[k]);
        mabd_sp_store(mabd_sp_add(mabd_sp_load(x_p + 6 * k), F), x_p + 6 * k);
    }
}

void mabd_redmax_pull_up(mabd_redmax_sim* sim, int32_t i, int n, const mabd_real* u) {
    const mabd_redmax_link* link = &sim->links[i];
    mabd_real* x_p = sim->up + MABD_VARIATION * (size_t)link->parent;
    mabd_redmax_transfer_back(sim, i, n, sim->up + MABD_VARIATION * (size_t)i, x_p);
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        const mabd_real* K = sim->K + MABD_VARIATION * (size_t)k;
        for (int c = 0; c < n; c++) x_p[c] -= K[c] * u[k];
    }
}

void mabd_redmax_solve_pivots_back(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                                   mabd_real* b, mabd_real* z, mabd_spatial* n) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_small_lu_solve_transposed(link->count, sim->D + 3 * (size_t)link->first,
                                   sim->pivot + link->first, b);
    for (int k = 0; k < link->count; k++) z[link->first + k] = b[k];
    mabd_redmax_subtract_twist(s, link, b, n);
}

void mabd_redmax_subtract_twist(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                                mabd_real* b, mabd_spatial* n) {
    const mabd_redmax_sim* sim = s->sim;
    const bool holds = mabd_redmax_has_holds(sim, link);
    if (holds) {
        const mabd_mat3 L = sim->balls[link->ball].forces;
        mabd_v3_store(mabd_m3_tmul(L, mabd_v3_load(b)), b);
    }
    for (int k = 0; k < link->count; k++) {
        if (!holds && sim->freedoms[link->first + k].held) continue;
        *n = mabd_sp_axpy(-b[k], mabd_redmax_left(s)[link->first + k], *n);
    }
}

void mabd_redmax_clear_bars(const mabd_redmax_solve* s) {
    memset(s->sim->up + MABD_VARIATION * (size_t)s->part->link_first, 0,
           MABD_VARIATION * (size_t)s->part->link_count * sizeof *s->sim->up);
}

void mabd_redmax_apply_transposed(const mabd_redmax_solve* s, const mabd_real* y, mabd_real* z) {
    if (mabd_redmax_is_lean(s)) {
        mabd_redmax_lean_apply_transposed(s, y, z);
        return;
    }
    mabd_redmax_clear_bars(s);
    mabd_redmax_apply_transposed_bars(s, y, z);
}

void mabd_redmax_apply_transposed_bars(const mabd_redmax_solve* s, const mabd_real* y,
                                       mabd_real* z) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t first = s->part->link_first, end = first + s->part->link_count;
    const int n = mabd_redmax_width(s->part);
    for (int32_t i = end - 1; i >= first; i--) {
        const mabd_redmax_link* link = &sim->links[i];
        const mabd_real* x = sim->up + MABD_VARIATION * (size_t)i;
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            sim->u[k] = y[k] + dot(n, sim->B + MABD_VARIATION * (size_t)k, x);
        }
        if (link->parent >= 0) mabd_redmax_pull_up(sim, i, n, sim->u);
    }
    for (int32_t i = first; i < end; i++) { // x: n of the file head
        const mabd_redmax_link* link = &sim->links[i];
        const mabd_real* n_p =
            sim->x + MABD_VARIATION * (size_t)(link->parent < 0 ? i : link->parent);
        mabd_spatial t = mabd_sp_zero();
        mabd_real b[3];
        if (link->parent >= 0) t = mabd_frame_to_child(&sim->E[i], mabd_sp_load(n_p));
        for (int k = 0; k < link->count; k++) {
            b[k] = sim->u[link->first + k] + mabd_sp_dot(sim->G[link->first + k], t);
        }
        mabd_redmax_solve_pivots_back(s, link, b, z, &t);
        mabd_sp_store(t, sim->x + MABD_VARIATION * (size_t)i);
    }
}

void mabd_redmax_multiply(const mabd_redmax_solve* s, mabd_redmax_weights w, const mabd_real* x,
                          mabd_real* y) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_redmax_multiply_forces(s, w, x, y);
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const bool holds = mabd_redmax_has_holds(sim, link);
        for (int32_t k = link->first; k < link->first + link->count && !holds; k++) {
            if (sim->freedoms[k].held) y[k] = x[k];
        }
        if (!holds) continue;
        const mabd_redmax_ball* ball = &sim->balls[link->ball];
        const mabd_vec3 f = mabd_m3_mul(ball->forces, mabd_v3_load(y + link->first));
        const mabd_vec3 way = mabd_m3_mul(ball->rows, mabd_v3_load(x + link->first));
        for (int k = 0; k < 3; k++) {
            y[link->first + k] = mabd_v3_get(sim->freedoms[link->first + k].held ? way : f, k);
        }
    }
}

void mabd_redmax_multiply_forces(const mabd_redmax_solve* s, mabd_redmax_weights w,
                                 const mabd_real* x, mabd_real* y) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t first = s->part->link_first, end = first + s->part->link_count;
    const int n = mabd_redmax_width(s->part);
    for (int32_t i = first; i < end; i++) {
        mabd_real N[6 * MABD_VARIATION];
        mabd_redmax_local(s, i, N);
        mabd_redmax_vary(sim, i, n, x, sim->x);
        const mabd_spatial f = times_column(N, n, sim->x + MABD_VARIATION * (size_t)i);
        mabd_sp_store(f, sim->up + MABD_VARIATION * (size_t)i);
    }
    for (int32_t i = end - 1; i >= first; i--) {
        const mabd_redmax_link* link = &sim->links[i];
        mabd_spatial f = mabd_sp_load(sim->up + MABD_VARIATION * (size_t)i);
        for (int j = 0; j < link->count; j++) {
            const int32_t at = link->first + j;
            mabd_real sum = mabd_sp_dot(mabd_redmax_left(s)[at], f);
            for (int k = 0; k < link->count; k++) {
                sum += mabd_redmax_own(sim, i, w, j, k) * x[link->first + k];
            }
            y[at] = sum;
        }
        if (link->parent < 0) continue;
        for (int32_t k = link->first; k < link->first + link->count; k++) { // f - P dq
            f = mabd_sp_axpy(-w.q * x[k], mabd_sp_cross_wrench(sim->S[k], sim->F[i]), f);
        }
        mabd_real* up = sim->up + MABD_VARIATION * (size_t)link->parent;
        mabd_sp_store(mabd_sp_add(mabd_sp_load(up), mabd_frame_to_parent(&sim->E[i], f)), up);
    }
}
