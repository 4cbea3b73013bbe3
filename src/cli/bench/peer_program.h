// SPDX-License-Identifier: Apache-2.0
// Finds, builds where possible, queries and runs the programs mabd-peer-NAME of bench/peers.
#pragma once

#include "bench/peers/peer_measure.h"

/// Engines: name, package of the distribution or of the Python package index.
#define PEER_PROGRAM_LIST(X)                                                                       \
    X(MUJOCO, "mujoco", "mujoco-core")                                                             \
    X(ODE, "ode", "libode-dev")                                                                    \
    X(BULLET, "bullet", "libbullet-dev")

typedef enum peer_program_id {
#define X(name, text, package) PEER_PROGRAM_##name,
    PEER_PROGRAM_LIST(X)
#undef X
        PEER_PROGRAM_COUNT
} peer_program_id;

#define PEER_VARIANTS_MAX 12

typedef struct peer_program_info {
    const char* name;
    char path[4096];
    char version[64];
    int32_t variant_count;
    char variants[PEER_VARIANTS_MAX][32];
    char settings[PEER_VARIANTS_MAX][PEER_TEXT_BYTES];
} peer_program_info;

/// Find a program in `folder` and query its variants. folder = null: beside this program; in a
/// build tree that can build a missing program, it is built. False: message (size) describes in one
/// line what is missing and how to get it.
bool peer_program_find(peer_program_id id, const char* folder, peer_program_info* program,
                       char* message, size_t size);
/// Run a variant on a scene of `bodies` bodies (a text file). The result also describes failures:
/// killed, out of time, no valid answer. Requested samples are filled from the answer; they are NaN
/// where it has none.
void peer_program_run(const peer_program_info* program, int32_t variant, FILE* scene,
                      int32_t bodies, const peer_limits* limits, peer_result* result);
