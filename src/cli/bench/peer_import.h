// SPDX-License-Identifier: Apache-2.0
// A scene of other engines as a model of mabd: with its joints, to be simulated as they do it, and
// without, to judge where its shapes overlap.
#pragma once

#include "bench/peers/peer_measure.h"
#include "mabd/sim.h"

/// Build a model from a scene, to be destroyed, with a Young's modulus [Pa] for all bodies.
/// `jointed` false: bodies that share a joint move freely and still do not touch.
mabd_status bench_peer_import(const peer_scene* scene, bool jointed, double young,
                              mabd_model** model, mabd_error* error);
/// Find the deepest overlap [m] of bodies in the poses of samples, by the shapes of a scene; 0 if
/// it has none, NaN if a pose is not finite.
mabd_status bench_peer_overlap(const peer_scene* scene, const peer_samples* samples, double* depth,
                               mabd_error* error);
