// SPDX-License-Identifier: Apache-2.0
// From a model to the links, freedoms and parts of a simulation in the redmax formulation.
#pragma once

#include "formulation/redmax/redmax_data.h"
#include "model/joint_tree.h"

typedef struct mabd_redmax_counts {
    int32_t parts, links, freedoms, balls, laws;
} mabd_redmax_counts;

/// Count parts, links, freedoms, balls and laws of a model.
mabd_redmax_counts mabd_redmax_count(const mabd_model* model, const mabd_joint_tree* graph);
/// Fill parts, links, freedoms and the maps from bodies and joints; all arrays are there.
void mabd_redmax_fill(mabd_redmax_sim* sim, const mabd_joint_tree* graph);
