// SPDX-License-Identifier: Apache-2.0
// From a model to the links, freedoms and parts of a simulation in the redmax formulation.
#pragma once

#include "formulation/redmax/redmax_data.h"
#include "topology/ground_tree.h"

/// The joint graph of a model and its tree from the ground.
typedef struct mabd_redmax_graph {
    mabd_graph graph;
    mabd_tree tree;
    void* memory; // behind the arrays of the graph
    size_t bytes;
} mabd_redmax_graph;

typedef struct mabd_redmax_counts {
    int32_t parts, links, freedoms, balls, motors;
} mabd_redmax_counts;

/// Build the graph of a model and its tree. MABD_ERR_MEMORY: it holds nothing.
mabd_status mabd_redmax_graph_init(const mabd_allocator* allocator, const mabd_model* model,
                                   mabd_redmax_graph* graph);
void mabd_redmax_graph_free(const mabd_allocator* allocator, mabd_redmax_graph* graph);
/// Count parts, links, freedoms, balls and motors of a model.
mabd_redmax_counts mabd_redmax_count(const mabd_model* model, const mabd_redmax_graph* graph);
/// Fill parts, links, freedoms and the maps from bodies and joints; all arrays are there.
void mabd_redmax_fill(mabd_redmax_sim* sim, const mabd_redmax_graph* graph);
