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
    double young;                                       // of the bodies [Pa], for the settings
    mabd_formulation formulations[BENCH_MABD_VARIANTS]; // (count)
    mabd_integrator integrators[BENCH_MABD_VARIANTS];   // (count)
    peer_variant variants[BENCH_MABD_VARIANTS];         // (count)
    char settings[BENCH_MABD_VARIANTS][PEER_TEXT_BYTES];
} bench_mabd;

/// A variant for each of `count` formulations with its defaults and its name, at most
/// BENCH_MABD_VARIANTS.
void bench_mabd_formulations(const mabd_model* model, double young, int32_t count,
                             const int* formulations, bench_mabd* mabd);
/// A variant for each integrator of the affine formulation, with its name.
void bench_mabd_integrators(const mabd_model* model, bench_mabd* mabd);
/// The engine for the variants, which must live as long; its scenes must come from their model. One
/// thread. own_gap is that of the points of the bodies of the formulation; the energy of affine
/// bodies includes their elastic energy, and their poses are those of the nearest rigid bodies.
peer_engine bench_peer_mabd(const bench_mabd* mabd);
