// SPDX-License-Identifier: Apache-2.0
// Changes of the coordinates of joints that close loops where a body is cut (cuts.c): no joint
// state has them, they follow from the changes of the links on both sides.
//
// The string of such a joint ends at a share of a body that its main link carries. With the twists
// xi of both by the changes of the other coordinates, and the columns S of the string seen from the
// share, in the principal frame of both,
//
//   S dq = xi_main - xi_share      S dv = eta_main - eta_share(dq)
//
// in the sense of least squares: where the loop allows the changes there is an exact solution, and
// else they are projected afterwards (tangent_closing.c).

#include "formulation/redmax/redmax_tangent.h"

#include "dual/dense_lu.h"

#include <string.h>

#define STRING_MAX 6

/// The freedoms of a string, and their columns (6 each) at its end.
typedef struct weld_string {
    const mabd_redmax_link *share, *main;
    int32_t at_share, at_main, count;
    int32_t freedom[STRING_MAX];
    mabd_real S[STRING_MAX][6];
    mabd_real matrix[STRING_MAX * STRING_MAX]; // S'S, factored
    int32_t pivot[STRING_MAX];
} weld_string;

static void write_columns(const mabd_redmax_sim* sim, weld_string* w) {
    const int32_t joint = w->share->joint;
    w->count = 0;
    for (int32_t i = w->at_share; i >= 0 && sim->links[i].joint == joint;
         i = sim->links[i].parent) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            mabd_spatial S = sim->S[k];
            mabd_frame E = w->share->principal; // from the link of the column to the end
            for (int32_t n = w->at_share; n != i; n = sim->links[n].parent) {
                E = mabd_frame_product(&sim->E[n], &E);
            }
            S = mabd_frame_to_child(&E, S);
            w->freedom[w->count] = k;
            mabd_sp_store(S, w->S[w->count++]);
        }
    }
}

// False if the string has no freedom, or two that are one.
static bool factor(weld_string* w) {
    mabd_real scale[STRING_MAX];
    int32_t bad;
    for (int32_t i = 0; i < w->count; i++) {
        for (int32_t k = 0; k < w->count; k++) {
            mabd_real sum = 0;
            for (int c = 0; c < 6; c++) sum += w->S[i][c] * w->S[k][c];
            w->matrix[i * w->count + k] = sum;
        }
    }
    return w->count > 0 && mabd_dense_lu_factor(w->count, w->matrix, w->pivot, scale, &bad);
}

// x (freedoms) of the string from the twists of all links.
static void solve(const weld_string* w, const mabd_spatial* twist, mabd_real* x) {
    const mabd_spatial main = mabd_frame_to_child(&w->main->principal, twist[w->at_main]);
    const mabd_spatial share = mabd_frame_to_child(&w->share->principal, twist[w->at_share]);
    mabd_real gap[6], y[STRING_MAX];
    mabd_sp_store(mabd_sp_sub(main, share), gap);
    for (int32_t i = 0; i < w->count; i++) {
        y[i] = 0;
        for (int c = 0; c < 6; c++) y[i] += w->S[i][c] * gap[c];
    }
    mabd_dense_lu_solve(w->count, w->matrix, w->pivot, y);
    for (int32_t i = 0; i < w->count; i++) x[w->freedom[i]] = y[i];
}

void mabd_redmax_follow_welds(mabd_redmax_gradient* g, const mabd_redmax_part* part) {
    const mabd_redmax_sim* sim = g->sim;
    const size_t bytes = (size_t)sim->link_count * sizeof *g->xi;
    memset(g->changes.parent_side, 0, bytes), memset(g->changes.body_side, 0, bytes);
    g->changes.moved = -1;
    for (int32_t i = part->cut_first; i < part->cut_first + part->cut_count; i++) {
        const mabd_redmax_cut* cut = &sim->loops.cuts[i];
        weld_string w = {.at_share = cut->a, .at_main = cut->b};
        if (!cut->weld) continue;
        mabd_redmax_place_now(sim);
        w.share = &sim->links[w.at_share], w.main = &sim->links[w.at_main];
        write_columns(sim, &w);
        if (!factor(&w)) continue;
        for (int32_t d = 0; d < g->direction_count; d++) {
            const mabd_redmax_tangent t = g->directions[d].now;
            mabd_redmax_link_changes(g, part, t);
            solve(&w, g->xi, t.q);
            mabd_redmax_link_changes(g, part, t);
            solve(&w, g->eta, t.v);
        }
    }
}
