// SPDX-License-Identifier: Apache-2.0
// From a model to the links, freedoms and parts of a simulation in the redmax formulation.
#pragma once

#include "formulation/redmax/redmax_data.h"
#include "model/joint_tree.h"

typedef struct mabd_redmax_counts {
    int32_t parts, links, freedoms, balls, paths, laws;
    int32_t charts;                          // balls with charts of their own
    int32_t cuts, rows, borders, loop_links; // of loops
    size_t matrix;                           // entries of the matrices of borders
} mabd_redmax_counts;

/// Count parts, links, freedoms, balls and laws of a model.
mabd_redmax_counts mabd_redmax_count(const mabd_model* model, const mabd_joint_tree* graph);
/// Borders that a spring adds to the Newton matrix (springs.c): 0 if it moves one link only
/// (attach.c).
int32_t mabd_redmax_spring_borders(const mabd_model* model, const mabd_model_spring* spring);
/// Count the rows and borders of couplings and springs into the components of a tree (attach.c).
void mabd_redmax_count_springs(const mabd_model* model, mabd_tree* tree);
/// Lay out the arrays of springs, ground and couplings (attach.c).
void mabd_redmax_lay_out_springs(mabd_redmax_sim* sim, const mabd_redmax_counts* n,
                                 mabd_arena* arena);
/// Fill springs, points of the ground and couplings; links and cut joints are there (attach.c).
void mabd_redmax_fill_springs(mabd_redmax_sim* sim, const mabd_tree* tree);
/// Fill parts, links, freedoms and the maps from bodies and joints; all arrays are there.
void mabd_redmax_fill(mabd_redmax_sim* sim, const mabd_joint_tree* graph);

/// True if a joint that the tree cuts needs its coordinates, so that a body of it is cut instead
/// (cuts.c).
bool mabd_redmax_cuts_body(const mabd_model* model, int32_t joint);
/// The body of a cut joint that is cut (cuts.c).
int32_t mabd_redmax_cut_body(const mabd_model* model, const mabd_model_joint* joint);
/// Add cut joints, rows and borders to the counts (cuts.c).
void mabd_redmax_count_cuts(const mabd_model* model, const mabd_tree* tree, mabd_redmax_counts* n);
/// Fill the cut joints of all parts, whose links are there (cuts.c).
void mabd_redmax_fill_cuts(mabd_redmax_sim* sim, const mabd_tree* tree);
/// Lay out the arrays of loops but for lambda (cuts.c).
void mabd_redmax_lay_out_loops(mabd_redmax_loops* loops, const mabd_redmax_counts* n,
                               mabd_arena* arena);
