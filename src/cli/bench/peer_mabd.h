// SPDX-License-Identifier: Apache-2.0
// mabd as one of the engines: in this process, through the public API, judged like the others.
#pragma once

#include "bench/peers/peer_measure.h"
#include "mabd/sim.h"

/// The engine for `model`, from which its scenes must come: BDF2, preset balanced, one thread.
/// own_gap is that of the points of the affine bodies, energy includes their elastic energy; poses
/// are those of the nearest rigid bodies.
peer_engine bench_peer_mabd(const mabd_model* model);
