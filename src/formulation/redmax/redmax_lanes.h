// SPDX-License-Identifier: Apache-2.0
// Copies of a robot in lanes.
//
// Lean parts (lean.h) with links of the same kinds behind the same parents, such as copies of a
// robot, form packs of as many parts as the vectors of the instruction set have reals. The stages
// of a step of all parts of a pack are solved at once (lean_lanes.c), before each part takes its
// step (step.c), which finds the solutions instead of calling newton.c. Masses, lengths and laws
// may differ, and the branches of laws that axes are on (axes.c). Parts of a pack that take the
// same method in a step go together. None of this changes bits.
#pragma once

#include "formulation/redmax/lean.h"

/// Newton's method (newton.c): largest step [rad], shortenings of a step, the least decline of the
/// merit.
#define MABD_NEWTON_STEP_LIMIT ((mabd_real)0.5)
/// Increments below which an iteration that no longer declines has met round-off.
#define MABD_NEWTON_NOISE      ((mabd_real)1e-7)
#define MABD_NEWTON_SEARCH_MAX 8
#define MABD_NEWTON_DECLINE    ((mabd_real)1e-4)
/// Changes of branches of laws, in multiples of the iterations that a solve may take.
#define MABD_NEWTON_BRANCH_CHANGES 4

/// What a solve in lanes did with a part.
typedef enum mabd_lean_lane_state {
    MABD_LEAN_LANE_LEFT, // nothing: it goes alone
    MABD_LEAN_LANE_SOLVED,
} mabd_lean_lane_state;

/// What the memory of a pack depends on.
typedef struct mabd_lean_size {
    int32_t links, freedoms, balls; // of each of its parts
    int32_t slots;                  // of N
} mabd_lean_size;

/// The solver of one instruction set.
typedef struct mabd_lean_lanes_table {
    int width; // parts of a pack
    /// Bytes of memory for parts of a size.
    size_t (*bytes)(const mabd_lean_size* size);
    /// Solve a stage of parts s[0] .. s[count - 1], which start at sim->q; s has `width` entries
    /// with parts to load. Solutions go to sim->trial (q), v, a, r, E, V and F.
    void (*newton)(const mabd_redmax_solve* s, int count, const mabd_lean_size* size, void* memory,
                   mabd_lean_lane_state* state);
} mabd_lean_lanes_table;

/// Consecutive entries of sim->pack_parts.
typedef struct mabd_lean_pack {
    int32_t first, count;
} mabd_lean_pack;

/// Find the packs of all parts for an instruction set, 0 .. mabd_isa_count() - 1, and take memory
/// for them. MABD_ERR_MEMORY.
mabd_status mabd_redmax_lanes_create(mabd_redmax_sim* sim, int32_t isa);
/// Free what mabd_redmax_lanes_create took; also after it failed.
void mabd_redmax_lanes_destroy(mabd_redmax_sim* sim);
/// Bytes that it took.
size_t mabd_redmax_lanes_bytes(const mabd_redmax_sim* sim);
/// Solve the stages of the step of the parts of a pack, before they take it from sim->time, and
/// mark the parts that are solved.
void mabd_redmax_solve_pack(mabd_redmax_sim* sim, int32_t pack, int32_t thread);
/// Take the solution of a stage that was found in lanes; false if there is none.
bool mabd_redmax_take_lane(const mabd_redmax_solve* s);
