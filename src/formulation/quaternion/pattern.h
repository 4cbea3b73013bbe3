// SPDX-License-Identifier: Apache-2.0
// Parts of a simulation and the pattern of their linear systems (pattern.c).
#pragma once

#include "formulation/quaternion/quaternion_data.h"

/// Sizes of the arrays of a simulation; those of edges and their reals are upper bounds.
typedef struct mabd_quaternion_counts {
    int32_t parts, bodies, joints, rows;
    size_t diagonal_reals, edge_reals;
} mabd_quaternion_counts;

/// Divide the bodies of a model into parts. part (body_count): part of each body, -1 = it does not
/// move by forces.
mabd_quaternion_counts mabd_quaternion_count(const mabd_model* model, int32_t* part);
/// Fill bodies, joints, slots and edges of all parts. part: from mabd_quaternion_count. work
/// (body_count + joint_count).
void mabd_quaternion_fill_pattern(mabd_quaternion_sim* sim, const int32_t* part, int32_t* work);
/// Find an elimination order (slot_count of the part) without fill. False if the part has cycles:
/// then order is incomplete. work (4 bodies + 2 joints of the part), done (joints).
bool mabd_quaternion_leaf_order(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                                int32_t* work, bool* done, int32_t* order);
