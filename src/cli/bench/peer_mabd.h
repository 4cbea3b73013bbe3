// SPDX-License-Identifier: Apache-2.0
// mabd as an engine among the others: in this process, through the public API, judged as they are.
#pragma once

#include "bench/peers/peer_measure.h"
#include "mabd/sim.h"

/// BDF2, preset balanced, one thread, over `model`, which the scenes it is given must come from. own_gap is that
/// of the affine bodies' own points, energy counts what they store; poses are of the rigid bodies nearest to them.
peer_engine bench_peer_mabd(const mabd_model* model);
