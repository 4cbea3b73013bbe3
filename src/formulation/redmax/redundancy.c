// SPDX-License-Identifier: Apache-2.0
// Rows of loops that follow from others, in stages that hold rates.
//
// Closed loops may have more rows than they need: a sphere of scissors with 1980 rows has one
// freedom. Where all loops are closed, redundant rows agree with the others. The stages of sdirk2
// leave the closed poses by errors of second order, and there the rates G v = 0 of redundant rows
// contradict each other by as much: exact rows would lock the mechanism, and Newton's method finds
// no solution. (Measured on 48 bodies of a Hoberman sphere at h = 10 ms: rates of 4e-7 m/s stay,
// the forces of the rows grow from 1 to 1e1, and the iteration ends after 40 matrices.)
//
// So rows that depend on others are left out of a step with such stages: by the Cholesky factor of
// G M^-1 G' at the start of the step, where loops are closed, with the largest of the remaining
// pivots next, each relative to its own diagonal entry. What a left out row opens in the step is of
// the order of its error, and closing.c takes it away.
//
//   pivot r / diagonal r = sin^2 of the angle between row r and the span of the rows before it
//
// Cost: one factor of the mass matrix, a solve in O(links) for a row, and rows^3/3. Where borders
// are eliminated along the tree (bundle_factor.c), the rows that end at a link are chosen there,
// behind those of the loops inside theirs, and without a shift, which is as large as their pivots:
// two factors, and a way along the loop of each row.

#include "formulation/redmax/redmax_bundles.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_sim.h"
#include "formulation/redmax/small_lu.h"

#include <math.h>
#include <string.h>

/// Least square of the sine between a row and the span of others; round-off of rows that depend on
/// others came to 1e-13.
#define LEAST_PIVOT ((mabd_real)1e-6)
/// Least diagonal entry of a row, relative to that with both bodies free: below it the row has no
/// effect, such as those across the plane of a planar mechanism. Round-off came to 1e-18.
#define LEAST_ROW ((mabd_real)1e-6)

// Size of W' M^-1 W of the body of a link alone.
static mabd_real free_effect(const mabd_redmax_sim* sim, int32_t link, mabd_spatial W) {
    if (link < 0) return 0;
    const mabd_redmax_link* own = &sim->links[link];
    const mabd_mat3* Io = &own->M.Io;
    return mabd_v3_dot(W.v, W.v) / own->M.mass +
           3 * mabd_v3_dot(W.w, W.w) / (Io->c1.x + Io->c2.y + Io->c3.z);
}

mabd_real mabd_redmax_least_effect(const mabd_redmax_solve* s, int32_t r) {
    const mabd_redmax_border* row = mabd_redmax_borders(s) + r;
    if (row->coupling) return 0;
    return LEAST_ROW *
           (free_effect(s->sim, row->a, row->on_a) + free_effect(s->sim, row->b, row->on_b));
}

static bool has_effect(const mabd_redmax_solve* s, int32_t r, mabd_real diagonal) {
    return mabd_redmax_borders(s)[r].coupling || diagonal > mabd_redmax_least_effect(s, r);
}

// Row with the largest pivot relative to its diagonal entry, of those that are left; -1 = none.
static int32_t best_row(int32_t n, const mabd_real* A, const mabd_real* diagonal,
                        const bool* left) {
    mabd_real most = LEAST_PIVOT;
    int32_t best = -1;
    for (int32_t r = 0; r < n; r++) {
        if (!left[r] || !(A[(size_t)r * (size_t)n + (size_t)r] > most * diagonal[r])) continue;
        most = A[(size_t)r * (size_t)n + (size_t)r] / diagonal[r], best = r;
    }
    return best;
}

// A -= column p of A times its transpose over the pivot, in the rows that are left.
static void eliminate(int32_t n, mabd_real* A, int32_t p, const bool* left) {
    const mabd_real* pivot = A + (size_t)p * (size_t)n;
    for (int32_t r = 0; r < n; r++) {
        mabd_real* row = A + (size_t)r * (size_t)n;
        const mabd_real factor = row[p] / pivot[p];
        if (!left[r] || factor == 0) continue;
        for (int32_t k = 0; k < n; k++) row[k] -= factor * pivot[k];
    }
}

// ---- rows that end along the tree ---------------------------------------------------------------

// S M^-1 S' of a wrench on a link, of the links from it up to `top`, by the factored mass matrix of
// the tree alone.
static mabd_real effect_up_to(const mabd_redmax_solve* s, int32_t link, int32_t top,
                              mabd_spatial F) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_real sum = 0;
    for (int32_t i = link; i != top; i = sim->links[i].parent) {
        const mabd_redmax_link* own = &sim->links[i];
        mabd_real f[3], y[3];
        if (!mabd_redmax_is_held(sim, own)) {
            const bool holds = mabd_redmax_has_holds(sim, own);
            for (int k = 0; k < own->count; k++) {
                const bool held = !holds && sim->freedoms[own->first + k].held;
                f[k] = held ? 0 : mabd_sp_dot(sim->S[own->first + k], F);
            }
            if (holds) {
                const mabd_mat3 L = sim->balls[own->ball].forces;
                mabd_v3_store(mabd_m3_mul(L, mabd_v3_load(f)), f);
            }
            for (int k = 0; k < own->count; k++) y[k] = f[k];
            mabd_small_lu_solve(own->count, sim->D + 3 * (size_t)own->first,
                                sim->pivot + own->first, y);
            for (int k = 0; k < own->count; k++) {
                sum += f[k] * y[k];
                F = mabd_sp_axpy(-y[k], sim->G[own->first + k], F);
            }
        }
        F = mabd_frame_to_parent(&sim->E[i], F);
    }
    return sum;
}

// The diagonal entry of a row: both wrenches meet where its loop closes, and are opposite there.
// That of a coupling is estimated by those of its axes.
static mabd_real row_effect(const mabd_redmax_solve* s, const mabd_redmax_border* row) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_model_coupling* own = row->coupling;
    mabd_real sum = 0;
    if (!own) {
        const int32_t top = mabd_redmax_meeting(sim, row->a, row->b);
        return effect_up_to(s, row->a, top, row->on_a) + effect_up_to(s, row->b, top, row->on_b);
    }
    for (int32_t i = own->first; i < own->first + own->count; i++) {
        const int32_t k = sim->couplings.freedom[i];
        const mabd_real ratio = sim->model->coupling_axes[i].ratio;
        if (!sim->freedoms[k].held) sum += ratio * ratio / (mabd_real)fabs(sim->stiff[k]);
    }
    return sum;
}

void mabd_redmax_find_dependent(const mabd_redmax_solve* s, int32_t n, const int32_t* list,
                                const mabd_real* F, mabd_real* work) {
    const mabd_real* diagonal = s->sim->loops.rest + s->part->border_first;
    bool* left = s->sim->loops.left_out + s->part->row_first;
    const size_t width = (size_t)n;
    memcpy(work, F, width * width * sizeof *work);
    for (int32_t i = 0; i < n; i++) {
        if (list[i] < s->part->row_count) left[list[i]] = true;
    }
    for (;;) {
        mabd_real most = LEAST_PIVOT;
        int32_t best = -1;
        for (int32_t i = 0; i < n; i++) {
            const int32_t r = list[i];
            if (r >= s->part->row_count || !left[r] || !has_effect(s, r, diagonal[r])) continue;
            const mabd_real pivot = work[(size_t)i * width + (size_t)i];
            if (pivot > most * diagonal[r]) most = pivot / diagonal[r], best = i;
        }
        if (best < 0) return;
        left[list[best]] = false;
        for (int32_t i = 0; i < n; i++) {
            const int32_t r = list[i];
            mabd_real* row = work + (size_t)i * width;
            const mabd_real factor = row[best] / work[(size_t)best * width + (size_t)best];
            if (r >= s->part->row_count || !left[r] || factor == 0) continue;
            for (size_t k = 0; k < width; k++) {
                row[k] -= factor * work[(size_t)best * width + k];
            }
        }
    }
}

// Leave out rows as their loops end: first the diagonal entries, by the tree alone.
static void leave_out_along_tree(mabd_redmax_solve* s) {
    const mabd_redmax_weights mass = {0, 0, 1};
    const int32_t n = s->part->row_count;
    bool* left = s->sim->loops.left_out + s->part->row_first;
    mabd_real* diagonal = s->sim->loops.rest + s->part->border_first;
    int32_t link;
    s->ranks = true;
    for (int32_t r = 0; r < n; r++) left[r] = true;
    const bool factored = mabd_redmax_factor(s, mass, &link) == MABD_OK;
    for (int32_t r = 0; r < n; r++) {
        if (factored) diagonal[r] = row_effect(s, mabd_redmax_borders(s) + r);
    }
    for (int32_t r = 0; r < n; r++) left[r] = false;
    if (factored) mabd_redmax_factor(s, mass, &link);
}

bool mabd_redmax_take_rows_back(const mabd_redmax_solve* s) {
    bool* left = s->sim->loops.left_out + s->part->row_first;
    bool some = false;
    for (int32_t r = 0; r < s->part->row_count; r++) some |= left[r], left[r] = false;
    return some;
}

// Forces of rows that are left out are zero.
static void clear_forces(const mabd_redmax_solve* s) {
    mabd_redmax_loops* loops = &s->sim->loops;
    for (int32_t r = s->part->row_first; r < s->part->row_first + s->part->row_count; r++) {
        if (loops->left_out[r]) loops->force[r] = 0;
    }
}

void mabd_redmax_leave_out_rows(const mabd_redmax_solve* s) {
    mabd_redmax_loops* loops = &s->sim->loops;
    const int32_t n = s->part->row_count;
    bool* left = loops->left_out + s->part->row_first;
    mabd_real* diagonal = loops->rest + s->part->border_first;
    const mabd_redmax_weights mass = {0, 0, 1};
    mabd_redmax_solve poses = *s;
    int32_t link, best;
    for (int32_t r = 0; r < n; r++) left[r] = false;
    if (n == 0) return;
    poses.by_rate = false, poses.time = s->from;
    mabd_redmax_load_node(&poses, s->from_node);
    mabd_redmax_velocities(&poses);
    mabd_redmax_rows(&poses);
    if (mabd_redmax_has_bundles(s)) {
        leave_out_along_tree(&poses);
        clear_forces(s);
        return;
    }
    if (mabd_redmax_factor(&poses, mass, &link) != MABD_OK) return; // the stage reports it
    mabd_real* A = mabd_redmax_mass_matrix(&poses);
    for (int32_t r = 0; r < n; r++) {
        diagonal[r] = A[(size_t)r * (size_t)n + (size_t)r], left[r] = true;
        if (!has_effect(&poses, r, diagonal[r])) diagonal[r] = (mabd_real)INFINITY; // no pivot
    }
    while ((best = best_row(n, A, diagonal, left)) >= 0) {
        left[best] = false;
        eliminate(n, A, best, left);
    }
    clear_forces(s);
}
