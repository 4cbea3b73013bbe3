// SPDX-License-Identifier: Apache-2.0
// mabd as one of the engines: in this process, through the public API, judged like the others.
#pragma once

#include "bench/peers/peer_measure.h"
#include "mabd/sim.h"

#define BENCH_MABD_VARIANTS 16

/// Variants of mabd on one model.
typedef struct bench_mabd {
    const mabd_model* model;
    int32_t count;
    mabd_integrator integrators[BENCH_MABD_VARIANTS]; // (count)
    peer_variant variants[BENCH_MABD_VARIANTS];       // (count)
    char settings[BENCH_MABD_VARIANTS][PEER_TEXT_BYTES];
} bench_mabd;

/// One variant: the affine formulation with its defaults.
void bench_mabd_defaults(const mabd_model* model, bench_mabd* mabd);
/// A variant for each integrator of the affine formulation, with its name.
void bench_mabd_integrators(const mabd_model* model, bench_mabd* mabd);
/// The engine for the variants, which must live as long; its scenes must come from their model. One
/// thread. own_gap is that of the points of the affine bodies, energy includes their elastic
/// energy; poses are those of the nearest rigid bodies.
peer_engine bench_peer_mabd(const bench_mabd* mabd);
