// SPDX-License-Identifier: Apache-2.0
#include "formulation/impulse/impulse_sweep.h"

#define DECLARE(isa) extern const mabd_impulse_lanes mabd_impulse_lanes_##isa;
#define POINTER(isa) &mabd_impulse_lanes_##isa,

MABD_ISA_EACH(DECLARE)

const mabd_impulse_lanes* mabd_impulse_lanes_of(int32_t isa) {
    static const mabd_impulse_lanes* const tables[] = {MABD_ISA_EACH(POINTER)};
    return tables[isa];
}

// The tiles of one phase.
typedef struct phase_job {
    const mabd_impulse_job* job;
    const mabd_impulse_lanes* lanes;
    int32_t first; // tile
} phase_job;

static void run_tile(void* context, int32_t part, int32_t thread) {
    const phase_job* phase = context;
    const mabd_impulse_job* job = phase->job;
    const mabd_impulse_order* o = &job->packs->order;
    const int32_t tile = phase->first + part;
    job->changes[tile] =
        phase->lanes->run(job, o->tile_pack[tile], o->tile_pack[tile + 1], &job->spare[thread]);
}

mabd_impulse_change mabd_impulse_run(const mabd_impulse_job* job, const mabd_impulse_lanes* lanes,
                                     mabd_pool* pool) {
    const mabd_impulse_order* o = &job->packs->order;
    mabd_impulse_change most = {0, 0};
    for (int32_t k = 0; k < o->phase_count; k++) {
        const int32_t p = job->sweep->backwards ? o->phase_count - 1 - k : k;
        phase_job phase = {job, lanes, o->phase_first[p]};
        mabd_pool_run(pool, o->phase_first[p + 1] - phase.first, run_tile, &phase);
    }
    for (int32_t t = 0; t < o->tile_count; t++) {
        const mabd_impulse_change* of = &job->changes[t];
        if (of->change > most.change) most.change = of->change;
        if (of->largest > most.largest) most.largest = of->largest;
    }
    return most;
}
