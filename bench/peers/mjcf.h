// SPDX-License-Identifier: Apache-2.0
// Writes a peer_scene as MJCF, the model format of MuJoCo.
//
//   tree      bodies are nested along a spanning tree of the joints, breadth first from the world,
//             or from a free body where no joint leads to it: reduced coordinates, no gap at the
//             joints of the tree. Joints that close a loop are <equality><connect>
//   free      all bodies are free, all joints are <equality><connect>
//
// A connect joins two points. A hinge is two of them, MJCF_HINGE_ARM apart along its axis; where a
// scene has parallel hinges only, one is enough to close a loop of the tree, and the rows of the
// other would be redundant. MuJoCo's XML reader takes 500 levels per file: deeper trees continue in
// included files. Fixed bodies are part of the world. Bodies that share a joint do not touch.
#pragma once

#include "bench/peers/peer_scene.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MJCF_HINGE_ARM 0.1 // distance of the two points of a hinge [m]

/// Settings of a model.
typedef struct mjcf_options {
    bool tree;              // false: free bodies
    const char* integrator; // as MJCF names it
    double time_constant;   // of constraints and contacts (solref) [s]; 0: MuJoCo's defaults
} mjcf_options;

/// Spanning tree of a scene. Fixed bodies, the first body of each part without a way to the world,
/// and all bodies of a model with free bodies have the joint -1.
typedef struct mjcf_tree {
    int32_t* joint;        // (bodies) joint to the parent, -1 = none: the body is free
    int32_t* parent;       // (bodies) PEER_WORLD = the world
    int32_t* depth;        // (bodies) 0 below the world
    int32_t *first, *next; // (bodies) first child and next sibling, -1 = none
    bool* in_tree;         // (joints) false: the joint is a constraint
    bool* done;            // (bodies) what hangs on it was found
    bool parallel;         // a tree, and all joints are hinges, parallel in the start pose
} mjcf_tree;

/// Take a file of a model. Returns false if it cannot; then writing ends.
typedef bool (*mjcf_add_file)(void* context, const char* name, const char* text, size_t length);

/// Find the tree, to be destroyed. False if memory is short; then nothing is allocated.
bool mjcf_tree_create(const peer_scene* scene, bool tree, mjcf_tree* result);
void mjcf_tree_destroy(mjcf_tree* tree);
/// Write the model as files for `add`, the first of them "scene.xml"; body i of the scene has the
/// name "b" and its number. False if memory is short or `add` returned false.
bool mjcf_write(const peer_scene* scene, const mjcf_tree* tree, const mjcf_options* options,
                mjcf_add_file add, void* context);

#ifdef __cplusplus
}
#endif
