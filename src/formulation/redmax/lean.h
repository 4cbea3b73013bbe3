// SPDX-License-Identifier: Apache-2.0
// Sweeps over the links of a part: ranges for threads, memory, and lean parts.
//
// A part is *lean* if each of its links has one turn or slide along an axis of its frame, or none,
// or three slides, or is a ball in its local chart; if forces on its links depend neither on poses
// nor on velocities; and if three slides have springs, dampers, armature, servos and motors without
// limits, balls dampers and armature. Single turns and slides have any law but pins: a part with
// stops, limited drives, friction or prescribed motion is *ruled*, because the laws in force differ
// from solve to solve (axes.c). The residual, factor and solves are those of lean_text.h,
// compiled for each instruction set (base/isa.h). All other parts, and lean ones under forces from
// outside, take motion.c and factor.c. Those without balls, three slides and rules are *plain*.
// Backward steps take these sweeps too, but where losses ask for wrenches of joints or parameters
// are those of axes of balls. The factor goes the way of the last residual.
//
// The links of a part are in depth-first order, so that a subtree is a range of links. Large parts
// are divided into tasks, subtrees of bounded size, and what is between them and the ground:
//
//   up      all tasks, then the other links from the leaves on; the root of a task adds to its
//           parent in the order of links, as if one thread had done all
//   down    the other links from the ground on, then all tasks
//
// The division depends on the tree alone, so all numbers of threads give the same bits.
#pragma once

#include "formulation/redmax/redmax_motion.h"

/// Reals of a slot of N: 6 x 18, or 12 columns of two padded halves (cpu/lean_text.h).
#define MABD_LEAN_SLOT 112
/// Reals of a ball at an iterate (lean_ball_text.h).
#define MABD_LEAN_CHART 18
/// Reals of the law of a freedom that is in force: k, d, I of lean_text.h, and 1, or 0 of a held
/// freedom, whose row is dq = b.
#define MABD_LEAN_LAW 4
/// Square of the smallest pivot relative to the terms that it sums.
#define MABD_LEAN_PIVOT 1e-28

/// The structure of a link; links, freedoms and slots count from the first ones of the part.
typedef struct mabd_lean_link {
    int32_t parent;  // -1 = ground
    int32_t freedom; // the first one
    int32_t slot;    // of N
    int32_t ball;    // number among the balls of the part, -1 = no ball
    int8_t axis;     // of a lean part: the first turn 0..2 or slide 3..5 along x y z, -1 = fixed
    int8_t count;    // freedoms of a link of a lean part: 0, 1, or 3
    bool leaf;
    bool opens; // the first child that adds to its parent
    bool body;
    mabd_real sign;
} mabd_lean_link;

/// Links from .. to - 1 of a part.
typedef struct mabd_lean_range {
    int32_t from, to;
    bool task;   // a subtree
    int32_t bad; // link whose pivot failed in the last factor, -1 = none
    mabd_real sum[2];
} mabd_lean_range;

typedef enum mabd_lean_phase {
    MABD_LEAN_RESIDUAL_DOWN,
    MABD_LEAN_RESIDUAL_UP,
    MABD_LEAN_FACTOR,
    MABD_LEAN_CLEAR, // what children add to in solves
    MABD_LEAN_SOLVE_UP,
    MABD_LEAN_SOLVE_DOWN,
    MABD_LEAN_REACT,   // forces that hold freedoms, after a solve
    MABD_LEAN_BACK_UP, // the transposed solve
    MABD_LEAN_BACK_DOWN,
    MABD_LEAN_PULL_DOWN, // bars of rates and accelerations
    MABD_LEAN_PULL_UP,
} mabd_lean_phase;

/// A sweep over a part.
typedef struct mabd_lean_sweep {
    const mabd_redmax_solve* s;
    mabd_lean_phase phase;
    mabd_redmax_weights w;
    const mabd_real* in; // freedoms of the simulation
    mabd_real* out;
    mabd_real* more; // freedoms, besides `out`
} mabd_lean_sweep;

/// The sweeps of one instruction set.
typedef struct mabd_lean_table {
    /// Do links from .. to - 1 of a part; what they add to links before `from` is left out. *bad
    /// gets a link whose pivot fails.
    void (*links)(const mabd_lean_sweep* sweep, int32_t from, int32_t to, int32_t* bad);
    /// Let link i add to its parent.
    void (*push)(const mabd_lean_sweep* sweep, int32_t i);
} mabd_lean_table;
/// Returns the table of an instruction set, 0 .. mabd_isa_count() - 1.
const mabd_lean_table* mabd_lean_table_of(int32_t isa);

/// True if the residual of a solve may take the sweeps of lean parts.
MABD_FN bool mabd_redmax_may_sweep(const mabd_redmax_solve* s) {
    return s->part->structure.lean && !s->part->poses && !s->part->pushed && !s->pull && !s->lifted;
}
/// True if the factor of a solve, and what follows from it, take the sweeps of lean parts.
MABD_FN bool mabd_redmax_is_lean(const mabd_redmax_solve* s) {
    const mabd_redmax_structure* own = &s->part->structure;
    return mabd_redmax_may_sweep(s) && (own->plain || own->swept);
}

/// Find the structure of all parts and their packs (redmax_lanes.h), and take memory for them;
/// links are there. MABD_ERR_MEMORY.
mabd_status mabd_redmax_lean_create(mabd_redmax_sim* sim);
/// Free what mabd_redmax_lean_create took; also after it failed.
void mabd_redmax_lean_destroy(mabd_redmax_sim* sim);
/// Bytes that it took.
size_t mabd_redmax_lean_bytes(const mabd_redmax_sim* sim);

/// Work on links from .. to - 1 of the simulation, whose parents are done or among them.
typedef void (*mabd_lean_work)(const mabd_redmax_solve* s, void* context, int32_t from, int32_t to,
                               mabd_real sum[2]);
/// Do a work on all links of a part, on all threads if it is divided; total gets the sums in the
/// order of ranges.
void mabd_redmax_each_range(const mabd_redmax_solve* s, mabd_lean_work work, void* context,
                            mabd_real total[2]);

/// mabd_redmax_residual of a lean part; frames in the world are left out.
void mabd_redmax_lean_residual(const mabd_redmax_solve* s);
/// mabd_redmax_factor of a lean part.
mabd_status mabd_redmax_lean_factor(const mabd_redmax_solve* s, mabd_redmax_weights w,
                                    int32_t* link);
/// mabd_redmax_apply of a lean part.
void mabd_redmax_lean_apply(const mabd_redmax_solve* s, const mabd_real* b, mabd_real* x);
/// After mabd_redmax_lean_apply of a ruled part, x its solution: y (freedoms) gets what x adds to
/// the residuals of held freedoms; that of others is meaningless.
void mabd_redmax_lean_react(const mabd_redmax_solve* s, const mabd_real* x, mabd_real* y);
/// Write the law of a freedom of a ruled part that is in force at the rate v, to law
/// (MABD_LEAN_LAW): tau = base - k q - d v - I a; returns base. slope: d with the slope of smooth
/// friction, for a factor.
mabd_real mabd_redmax_lean_law(const mabd_redmax_solve* s, int32_t freedom, mabd_real v, bool slope,
                               mabd_real* law);
/// mabd_redmax_apply_transposed of a lean part.
void mabd_redmax_lean_apply_transposed(const mabd_redmax_solve* s, const mabd_real* y,
                                       mabd_real* z);
/// mabd_redmax_pull_rates of a lean part.
void mabd_redmax_lean_pull_rates(const mabd_redmax_solve* s, const mabd_real* z, mabd_real* v,
                                 mabd_real* a);
