// SPDX-License-Identifier: Apache-2.0
// The tree of joints of a model that hangs at the ground, for joint coordinates.
#pragma once

#include "model/model_data.h"
#include "topology/ground_tree.h"

/// The joint graph of a model and its tree from the ground (topology/ground_tree.h). Joints without
/// freedoms to hold are not in it: those between bodies that do not move by forces, and free joints
/// without controls and motors.
typedef struct mabd_joint_tree {
    mabd_graph graph;
    mabd_tree tree;
    void* memory; // behind the arrays of the graph
    size_t bytes;
} mabd_joint_tree;

/// Build the graph of a model and its tree, in O(bodies + joints). Components of the tree that
/// springs or couplings connect become one (joint_groups.c). MABD_ERR_MEMORY: it holds nothing.
mabd_status mabd_joint_tree_init(const mabd_allocator* allocator, const mabd_model* model,
                                 mabd_joint_tree* tree);
/// Merge the components of a tree that springs or couplings of a model connect: their bodies and
/// cut joints follow each other in order and cuts; they have no levels. O(bodies + points + axes).
/// MABD_ERR_MEMORY: the tree is as it was (joint_groups.c).
mabd_status mabd_joint_tree_merge(const mabd_allocator* allocator, const mabd_model* model,
                                  mabd_tree* tree);
/// Bring the bodies of each component of a tree into depth-first order: seen from the ground, those
/// behind a body follow it, so a subtree is a range of order. The components have no levels then.
/// O(bodies). MABD_ERR_MEMORY: the tree is as it was (joint_order.c).
mabd_status mabd_joint_tree_sort(const mabd_allocator* allocator, int32_t body_count,
                                 mabd_tree* tree);
/// Free a tree; all zero is allowed.
void mabd_joint_tree_free(const mabd_allocator* allocator, mabd_joint_tree* tree);
/// Bytes that a tree holds.
size_t mabd_joint_tree_bytes(const mabd_joint_tree* tree);
/// Freedoms of a joint; *quaternions gets how many unit quaternions its positions have.
int mabd_model_joint_freedoms(const mabd_model* model, const mabd_model_joint* joint,
                              int* quaternions);
