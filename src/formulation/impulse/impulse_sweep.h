// SPDX-License-Identifier: Apache-2.0
// Sweeps over packs (impulse_packs.h), one source for each instruction set (base/isa.h), on threads
// (base/pool.h). All give the same bits.
#pragma once

#include "base/isa.h"
#include "base/pool.h"
#include "formulation/impulse/impulse_bodies.h"
#include "formulation/impulse/impulse_packs.h"
#include "math/sym3.h"
#include "rigid/twist.h"

/// Lines of a thread.
typedef struct mabd_impulse_spare {
    mabd_impulse_line empty;  // zero: of lanes without an item
    mabd_impulse_line unused; // written for bodies that do not move
} mabd_impulse_spare;

/// Packs, lines and what a sweep does.
typedef struct mabd_impulse_job {
    const mabd_impulse_packs* packs;
    mabd_impulse_line* lines;  // (bodies)
    mabd_impulse_spare* spare; // (threads)
    const mabd_impulse_pass* sweep;
    mabd_impulse_task task;
    mabd_impulse_change* changes; // (tiles)
} mabd_impulse_job;

/// Where rows are computed.
typedef struct mabd_impulse_placing {
    const mabd_impulse_packs* packs;
    const mabd_rigid_pose* poses; // (bodies + 1)
    const mabd_sym3* inertia;     // (bodies + 1) inverse, world [1/(kg m^2)]
    const mabd_vec3* shift;       // (bodies + 1) rate of turning besides w (forces.c)
    bool shifts;                  // some are not zero
    bool carrying;                // inertia of bodies may differ from that of create
    bool keep;                    // K^-1 of the packs are good enough
    int32_t world;                // body_count
    mabd_real rate;               // of errors [1/s]
} mabd_impulse_placing;

/// Sweeps of one instruction set.
struct mabd_impulse_lanes {
    /// Compute the rows of a pack of kind BALL or POINT0.
    void (*place)(const mabd_impulse_placing* place, int32_t pack);
    /// Compute the squares of the openings of a pack of kind BALL or POINT0 [m^2].
    void (*gaps)(const mabd_impulse_placing* place, int32_t pack, mabd_lanes* gaps);
    /// Run packs first .. last - 1 of a job.
    mabd_impulse_change (*run)(const mabd_impulse_job* job, int32_t first, int32_t last,
                               mabd_impulse_spare* spare);
    /// Do something to a pack of bodies.
    void (*bodies)(const mabd_impulse_bodies* job, mabd_impulse_body_task task, int32_t pack);
};
/// Returns the table of an instruction set, 0 .. mabd_isa_count() - 1.
const mabd_impulse_lanes* mabd_impulse_lanes_of(int32_t isa);

/// Run a job on all packs in their order, or backwards. Returns the largest change and impulse,
/// zero if not measured.
mabd_impulse_change mabd_impulse_run(const mabd_impulse_job* job, const mabd_impulse_lanes* lanes,
                                     mabd_pool* pool);

#define MABD_IMPULSE_JOIN_(name, isa) mabd_impulse_##name##_##isa
#define MABD_IMPULSE_JOIN(name, isa)  MABD_IMPULSE_JOIN_(name, isa)
#ifdef MABD_ISA
#define MABD_IMPULSE_ISA(name) MABD_IMPULSE_JOIN(name, MABD_ISA)
void MABD_IMPULSE_ISA(bodies)(const mabd_impulse_bodies* job, mabd_impulse_body_task task,
                              int32_t pack);
void MABD_IMPULSE_ISA(gaps)(const mabd_impulse_placing* place, int32_t pack, mabd_lanes* gaps);
void MABD_IMPULSE_ISA(place)(const mabd_impulse_placing* place, int32_t pack);
#endif
