// SPDX-License-Identifier: Apache-2.0
// Responses of a part to wrenches on its links, several at a time (factor.c has the recursion for
// one): the reals of all of them lie next to each other, so that a sweep reads each link once. Rows
// of H have no right-hand side; the wrenches enter as n = -F of their links.

#include "formulation/redmax/redmax_contact.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_pins.h"
#include "formulation/redmax/redmax_sim.h"
#include "formulation/redmax/small_lu.h"

#include <string.h>

enum { LANES = MABD_RESPONSES, WIDTH = MABD_VARIATION };

/// A real of each response.
typedef struct real_lanes {
    mabd_real at[LANES];
} real_lanes;

static real_lanes* part_of(void* memory, size_t offset) {
    return (real_lanes*)memory + offset;
}
// Variations of link i; and n of it, behind those of all links; then u of freedoms.
static real_lanes* x_of(const mabd_redmax_sim* sim, size_t i) {
    return part_of(sim->contacts->responses.data, WIDTH * i);
}
static real_lanes* n_of(const mabd_redmax_sim* sim, size_t i) {
    return part_of(sim->contacts->responses.data, WIDTH * (size_t)sim->link_count + 6 * i);
}
static real_lanes* u_of(const mabd_redmax_sim* sim, size_t k) {
    return part_of(sim->contacts->responses.data, (WIDTH + 6) * (size_t)sim->link_count + k);
}

// y += s x
MABD_HOT void add_times(mabd_real s, const real_lanes* MABD_RESTRICT x,
                        real_lanes* MABD_RESTRICT y) {
    for (int l = 0; l < LANES; l++) y->at[l] += s * x->at[l];
}

// out += R x by columns, or R'x.
MABD_HOT void add_turned(const mabd_mat3* R, bool back, const real_lanes* x, real_lanes* out) {
    const mabd_real c[9] = {R->c1.x, R->c1.y, R->c1.z, R->c2.x, R->c2.y,
                            R->c2.z, R->c3.x, R->c3.y, R->c3.z};
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) add_times(back ? c[3 * j + k] : c[3 * k + j], &x[k], &out[j]);
    }
}

// out += s a x b
MABD_HOT void add_cross(mabd_real s, mabd_vec3 a, const real_lanes* b, real_lanes* out) {
    add_times(s * a.y, &b[2], &out[0]), add_times(-s * a.z, &b[1], &out[0]);
    add_times(s * a.z, &b[0], &out[1]), add_times(-s * a.x, &b[2], &out[1]);
    add_times(s * a.x, &b[1], &out[2]), add_times(-s * a.y, &b[0], &out[2]);
}

// u = -D^-1 S'n of a link.
static void solve_pivots(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                         const real_lanes* n, real_lanes* u) {
    const mabd_redmax_sim* sim = s->sim;
    const bool holds = mabd_redmax_has_holds(sim, link);
    memset(u, 0, (size_t)link->count * sizeof *u);
    if (mabd_redmax_is_held(sim, link)) return;
    for (int k = 0; k < link->count; k++) {
        mabd_real S[6];
        mabd_sp_store(mabd_redmax_left(s)[link->first + k], S);
        for (int c = 0; c < 6; c++) add_times(-S[c], &n[c], &u[k]);
    }
    const mabd_real* D = sim->D + 3 * (size_t)link->first;
    for (int l = 0; l < LANES; l++) {
        mabd_real y[3];
        for (int k = 0; k < link->count; k++) y[k] = u[k].at[l];
        if (holds) mabd_v3_store(mabd_m3_mul(sim->balls[link->ball].forces, mabd_v3_load(y)), y);
        mabd_small_lu_solve(link->count, D, sim->pivot + link->first, y);
        for (int k = 0; k < link->count; k++) u[k].at[l] = y[k];
    }
}

// n_p += X'(n + G u)
static void push_up(const mabd_redmax_sim* sim, int32_t i) {
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_frame* E = &sim->E[i];
    real_lanes f[6], turned[3] = {0}, *to = n_of(sim, (size_t)link->parent);
    memcpy(f, n_of(sim, (size_t)i), sizeof f);
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        mabd_real G[6];
        mabd_sp_store(sim->G[k], G);
        for (int c = 0; c < 6; c++) add_times(G[c], u_of(sim, (size_t)k), &f[c]);
    }
    add_turned(&E->R, false, f + 3, turned);
    add_turned(&E->R, false, f, to);
    add_cross(1, E->p, turned, to);
    for (int c = 0; c < 3; c++) add_times(1, &turned[c], &to[3 + c]);
}

// out = X V
static void to_child(const mabd_frame* E, const real_lanes* V, real_lanes* out) {
    real_lanes arm[3];
    memcpy(arm, V + 3, sizeof arm);
    add_cross(-1, E->p, V, arm);
    add_turned(&E->R, true, V, out);
    add_turned(&E->R, true, arm, out + 3);
}

// dq = u - K x_p,  x = T x_p + B dq
static void move_down(const mabd_redmax_sim* sim, int32_t i, int n) {
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_spatial Sv = sim->Sv[i];
    real_lanes* x = x_of(sim, (size_t)i);
    memset(x, 0, WIDTH * sizeof *x);
    const real_lanes* x_p = link->parent < 0 ? NULL : x_of(sim, (size_t)link->parent);
    if (x_p) { // dA - ad(S v) dV
        for (int c = 0; c < n; c += 6) to_child(&sim->E[i], x_p + c, x + c);
        add_cross(-1, Sv.w, x, x + 6);
        add_cross(-1, Sv.w, x + 3, x + 9);
        add_cross(-1, Sv.v, x, x + 9);
    }
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        real_lanes* u = u_of(sim, (size_t)k);
        const mabd_real* K = sim->K + WIDTH * (size_t)k;
        for (int c = 0; x_p && c < n; c++) add_times(-K[c], &x_p[c], u);
        for (int c = 0; c < n; c++) add_times(sim->B[WIDTH * (size_t)k + (size_t)c], u, &x[c]);
    }
}

mabd_status mabd_redmax_take_responses(mabd_redmax_sim* sim) {
    mabd_list* list = &sim->contacts->responses;
    const size_t links = (size_t)sim->link_count, freedoms = (size_t)sim->freedom_count;
    list->count = 0;
    return mabd_list_reserve(&sim->contacts->allocator, list, sizeof(real_lanes),
                             (int64_t)((WIDTH + 6) * links + freedoms));
}

void mabd_redmax_clear_responses(const mabd_redmax_solve* s) {
    memset(n_of(s->sim, (size_t)s->part->link_first), 0,
           6 * (size_t)s->part->link_count * sizeof(real_lanes));
}

void mabd_redmax_set_wrench(const mabd_redmax_sim* sim, int32_t link, int lane, mabd_spatial F) {
    real_lanes* n = n_of(sim, (size_t)link);
    mabd_real f[6];
    mabd_sp_store(F, f);
    for (int c = 0; c < 6; c++) n[c].at[lane] -= f[c];
}

void mabd_redmax_find_responses(const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t first = s->part->link_first, end = first + s->part->link_count;
    const int n = mabd_redmax_width(s->part);
    for (int32_t i = end - 1; i >= first; i--) {
        const mabd_redmax_link* link = &sim->links[i];
        solve_pivots(s, link, n_of(sim, (size_t)i), u_of(sim, (size_t)link->first));
        if (link->parent >= 0) push_up(sim, i);
    }
    for (int32_t i = first; i < end; i++) move_down(sim, i, n);
}

mabd_spatial mabd_redmax_response(const mabd_redmax_sim* sim, int32_t link, int lane) {
    const real_lanes* x = x_of(sim, (size_t)link) + 12;
    mabd_real xi[6];
    for (int c = 0; c < 6; c++) xi[c] = x[c].at[lane];
    return mabd_sp_load(xi);
}
