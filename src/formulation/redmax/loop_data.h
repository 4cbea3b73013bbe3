// SPDX-License-Identifier: Apache-2.0
// Data of the loops of a simulation in the redmax formulation: joints that the tree cuts, their
// rows, and the border that they add to the Newton matrix (border.c).
#pragma once

#include "math/spatial.h"
#include "model/model_data.h"

/// A joint that is not in the tree, or the weld of a body to the share of it behind that joint
/// (cuts.c).
typedef struct mabd_redmax_cut {
    int32_t joint;                // of the model
    bool weld;                    // of the links a and b, which have shares of one body
    int32_t a, b;                 // links of its bodies, -1 = ground or script
    int32_t row_first, row_count; // rigid rows, in the rows of the simulation
    int32_t turn_first;           // relative motions, in the borders of the simulation
    int32_t turn_count;           // 0, 3 (turns) or 6 (turns and shifts)
} mabd_redmax_cut;

/// One column and one row of the border. Wrenches and twists in the frames of the links a and b,
/// which may be -1.
typedef struct mabd_redmax_border {
    int32_t a, b;
    mabd_spatial on_a, on_b;             // wrenches of a unit
    mabd_spatial rate_a, rate_b;         // row: coefficients of the variations dV
    mabd_spatial pose_a, pose_b;         // of xi
    mabd_real own;                       // diagonal entry
    const mabd_model_coupling* coupling; // null = none; else forces and row are those of its
    mabd_real weight;                    // freedoms, the row times this
} mabd_redmax_border;

/// Rows and borders of all parts.
typedef struct mabd_redmax_loops {
    int32_t cut_count, row_count;
    mabd_row_set weld;           // rows of welds
    mabd_redmax_cut* cuts;       // by part
    mabd_redmax_border* borders; // by part: its rows, then its relative motions
    mabd_real* own;              // (links with cut joints x 6 x 6) derivatives by their own motion
    mabd_real* lambda;           // (rows) state: forces of the last step [N], [N m]
    // iterate (rows)
    mabd_real *force, *trial, *step;    // forces, at the start of a search, their increment
    mabd_real *stage_force, *end_force; // of the first of two stages, and of the last one
    mabd_real* start_force;             // of the projection of the start of a run with derivatives
    mabd_real* gap;                     // values [m], [rad], or rates [m/s], [rad/s]
    mabd_real* weight;                  // of the merit
    bool* left_out; // rows that stages by rates do without: they depend on others (redundancy.c)
    // vectors of a bordered solve (borders)
    mabd_real *y, *rhs, *rest, *scale;
    int32_t* pivot;
    mabd_real *matrix, *factor; // (borders x borders of each part)
    mabd_real* pull;            // (freedoms)
} mabd_redmax_loops;

/// Where a border acts on a link of its own: its place in the bundle of the link.
typedef struct mabd_redmax_touch {
    int32_t border; // of the part
    int32_t place;
    int32_t axis; // of a coupling, in coupling_axes of the model; -1 = wrenches and rows
    bool on_b;    // of the wrenches of the border, those on its link b
} mabd_redmax_touch;

/// The borders that are known at a link, or at the ground, when elimination has come from the
/// leaves to it (bundle_factor.c): first those that end there, then those that go on to the parent.
typedef struct mabd_redmax_bundle {
    int32_t first;      // of sim->bundles.list and up
    int32_t ends, open; // borders
    int32_t touch_first, touch_count;
    int32_t spring_first, spring_count; // springs over points between whose borders end here
    int32_t pivot;                      // of its borders that end, in bundles.pivot
    size_t sums;                        // in bundles.work: P, R and Q of all of its borders
    size_t kept;                        // in bundles.kept
} mabd_redmax_bundle;

/// Bundles of all parts with many borders; other parts have none.
typedef struct mabd_redmax_bundles {
    mabd_redmax_bundle* bundles; // (links + parts) of a link, of the ground in a part
    int32_t* list;               // borders of the part, of each bundle
    int32_t* up;                 // place of an open border in the bundle of the parent
    mabd_redmax_touch* touches;  // by link
    int32_t* springs;            // by bundle, in sim->springs.springs
    int32_t* pivot;
    mabd_real *work, *kept;
    mabd_real *m, *w;      // (borders) sums of rows, and what ends, in a solve
    mabd_real* total;      // (borders) of refined solves
    mabd_real* diagonal;   // (borders) of the rows when they end
    mabd_real* scratch;    // by part
    size_t* scratch_first; // (parts)
    size_t sizes[2];       // bytes of the two blocks of memory
    void* memory[2];
} mabd_redmax_bundles;
