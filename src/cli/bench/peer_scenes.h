// SPDX-License-Identifier: Apache-2.0
// The scenes on which mabd and other engines are compared, and the conversion of any model with
// rigid ball joints and hinges to a scene for all engines.
#pragma once

#include "bench/peers/peer_scene.h"
#include "mabd/sim.h"

#define BENCH_PEER_KIND_LIST(X)                                                                    \
    X(CHAIN, "chain") /* links of 0.1 m, ball joints, pinned at one end, let go level */           \
    X(HEAVY, "heavy") /* the same, the last body a ball of the mass of a thousand links */         \
    X(NET, "net")     /* size x size hubs and rods between them, hung by one edge, let go level */ \
    X(GRID, "grid")   /* joint-grid of size x size balls, hung by the middle of its upper edge */  \
    X(STACK, "stack") /* boxes of 0.2 m one on the other */                                        \
    X(RAGDOLLS, "ragdolls") /* figures of eleven bodies, without stops, dropped on a plane */      \
    X(PILE, "pile") /* spheres, capsules, boxes and cylinders, dropped between four walls */       \
    X(BOWL, "bowl") /* the same, dropped into a bowl */

typedef enum bench_peer_kind {
#define X(name, text) BENCH_PEER_##name,
    BENCH_PEER_KIND_LIST(X)
#undef X
        BENCH_PEER_KIND_COUNT
} bench_peer_kind;

typedef struct bench_peer_case {
    bench_peer_kind kind;
    int32_t size; // links, hubs or balls per side, boxes, figures, bodies
} bench_peer_case;

/// Build the model of a case, to be destroyed. It suggests h (10 ms; nets 1/30 s, grids 1/60 s) and
/// the time of motion: 2 s, 4 s of what comes to rest.
mabd_status bench_peer_build(const bench_peer_case* what, mabd_model** model, mabd_error* error);
/// Young's modulus of the bodies of a kind [Pa].
double bench_peer_young(bench_peer_kind kind);
/// Convert a model at its start to a scene of `steps` steps of h, to be destroyed. MABD_ERR_ARG if
/// it has anything but dynamic and fixed bodies, ball joints and hinges without springs, gravity,
/// and shapes that all touch without rebound.
mabd_status bench_peer_export(const mabd_model* model, double h, int64_t steps, peer_scene* scene,
                              mabd_error* error);
/// The same without what acts on the axes of joints: springs, drives, stops.
mabd_status bench_peer_export_bare(const mabd_model* model, double h, int64_t steps,
                                   peer_scene* scene, mabd_error* error);
/// Read the state of a simulation in the frames of a peer_scene: states (bodies). MABD_ERR_MEMORY.
mabd_status bench_peer_get(const mabd_sim* sim, peer_state* states);
