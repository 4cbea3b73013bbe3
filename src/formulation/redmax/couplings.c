// SPDX-License-Identifier: Apache-2.0
// Couplings: coordinates of joints that move in concert, sum of ratio_k q_k = offset.
//
// [RM sec. 2.4.10] leaves the dependent coordinates out, q = f(q_R), and solves J'r = 0 with the
// matrix J'H J, one product with H for each coordinate that is left. For linear couplings the rows
//
//   r_k - ratio_k lambda = 0,   sum ratio_k q_k = offset
//
// have the same solution: J'ratio = 0. They are rows of the border (border.c), a solve in O(links)
// each, and lambda ratio_k is the force of the coupling on q_k. The rows are linear, so that rates
// and accelerations of a stage fulfil them with its coordinates. Stages that hold rates instead
// (sdirk2) hold sum ratio_k v_k = 0. A ratio enters r_k by lambda and the row by q_k; the offset
// enters the row alone.

#include "formulation/redmax/redmax_loops.h"

#include "base/error.h"
#include "formulation/redmax/redmax_sim.h"

#include <math.h>
#include <string.h>

/// Largest error of a coupling at the start [m], [rad] times ratios.
#define START_MAX ((mabd_real)1e-6)

static const mabd_model_coupling* coupling_of(const mabd_redmax_sim* sim, int32_t i) {
    return &sim->model->couplings[sim->couplings.order[i]];
}

mabd_real mabd_redmax_coupled(const mabd_redmax_sim* sim, const mabd_model_coupling* own,
                              const mabd_real* x) {
    mabd_real sum = 0;
    for (int32_t i = own->first; i < own->first + own->count; i++) {
        sum += sim->model->coupling_axes[i].ratio * x[sim->couplings.freedom[i]];
    }
    return sum;
}

mabd_real mabd_redmax_coupled_free(const mabd_redmax_sim* sim, const mabd_model_coupling* own,
                                   const mabd_real* x) {
    mabd_real sum = 0;
    for (int32_t i = own->first; i < own->first + own->count; i++) {
        const int32_t k = sim->couplings.freedom[i];
        if (!sim->freedoms[k].held) sum += sim->model->coupling_axes[i].ratio * x[k];
    }
    return sum;
}

void mabd_redmax_pull_coupling(const mabd_redmax_sim* sim, const mabd_model_coupling* own,
                               mabd_real force, bool rows, mabd_real* b) {
    for (int32_t i = own->first; i < own->first + own->count; i++) {
        const int32_t k = sim->couplings.freedom[i];
        if (!rows || !sim->freedoms[k].held) b[k] += sim->model->coupling_axes[i].ratio * force;
    }
}

// Row of a coupling of a part among the rows of the simulation.
static int32_t row_of(const mabd_redmax_part* part, int32_t i) {
    return part->row_first + part->row_count - part->coupling_count + (i - part->coupling_first);
}

void mabd_redmax_coupling_rows(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_part* part = s->part;
    for (int32_t i = part->coupling_first; i < part->coupling_first + part->coupling_count; i++) {
        const mabd_model_coupling* own = coupling_of(sim, i);
        const int32_t row = row_of(part, i);
        mabd_redmax_border* border = mabd_redmax_borders(s) + (row - part->row_first);
        memset(border, 0, sizeof *border);
        border->a = border->b = -1;
        border->coupling = own, border->weight = s->by_rate && s->gamma > 0 ? 1 / s->gamma : 1;
        sim->loops.gap[row] = s->by_rate ? mabd_redmax_coupled(sim, own, sim->v)
                                         : mabd_redmax_coupled(sim, own, sim->q) - own->offset;
    }
}

void mabd_redmax_pull_couplings(const mabd_redmax_solve* s) {
    const mabd_redmax_part* part = s->part;
    for (int32_t i = part->coupling_first; i < part->coupling_first + part->coupling_count; i++) {
        const mabd_real force = s->sim->loops.force[row_of(part, i)];
        mabd_redmax_pull_coupling(s->sim, coupling_of(s->sim, i), -force, false, s->sim->r);
    }
}

mabd_real mabd_redmax_coupling_gap(const mabd_redmax_solve* s, int32_t* joint) {
    const mabd_redmax_part* part = s->part;
    const mabd_redmax_sim* sim = s->sim;
    mabd_real most = 0;
    for (int32_t i = part->coupling_first; i < part->coupling_first + part->coupling_count; i++) {
        const mabd_real size = (mabd_real)fabs(sim->loops.gap[row_of(part, i)]);
        if (size <= most) continue;
        most = size;
        *joint = sim->model->coupling_axes[coupling_of(sim, i)->first].joint;
    }
    return most;
}

// ---- the start ---------------------------------------------------------------------------------

mabd_status mabd_redmax_check_couplings(const mabd_redmax_sim* sim, mabd_error* error) {
    for (int32_t i = 0; i < sim->model->coupling_count; i++) {
        const mabd_model_coupling* own = &sim->model->couplings[i];
        const mabd_real gap = mabd_redmax_coupled(sim, own, sim->now.q) - own->offset;
        if (fabs(gap) <= START_MAX) continue;
        return mabd_fail_at(error, MABD_ERR_INPUT, -1, sim->model->coupling_axes[own->first].joint,
                            0, "coupling %d is off by %g in the start pose", (int)i, (double)gap);
    }
    return MABD_OK;
}

static bool has_welds(const mabd_redmax_sim* sim, const mabd_redmax_part* part) {
    bool found = false;
    for (int32_t i = part->cut_first; i < part->cut_first + part->cut_count; i++) {
        found |= sim->loops.cuts[i].weld;
    }
    return found;
}

void mabd_redmax_close_couplings(mabd_redmax_sim* sim, mabd_real time) {
    for (int32_t p = 0; p < sim->part_count; p++) {
        mabd_redmax_report report = {.link = -1, .joint = -1};
        const mabd_redmax_solve s = {.sim = sim,
                                     .part = &sim->parts[p],
                                     .report = &report,
                                     .time = time,
                                     .from = time,
                                     .force = sim->force,
                                     .motor = sim->motor,
                                     .from_node = &sim->now};
        if (sim->parts[p].coupling_count == 0 && !has_welds(sim, &sim->parts[p])) continue;
        mabd_redmax_load_node(&s, &sim->now);
        if (mabd_redmax_close_loops(&s) == MABD_OK) mabd_redmax_store_node(&s, &sim->now);
    }
}
