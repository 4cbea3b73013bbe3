// SPDX-License-Identifier: Apache-2.0
// Unit meshes of the rounded solids of piece.h: a vertex is a corner of the core and a normal,
//   x = axes (corner o half + round normal)
// so one mesh serves every size, with bevelled edges and exact normals.
#pragma once

#include "base/memory.h"
#include "mabd/render.h"

#define MABD_MESH_LEVELS 9

typedef struct mabd_mesh_vertex {
    float corner[3], normal[3];
} mabd_mesh_vertex;

typedef struct mabd_mesh {
    int32_t segments; // around the axis
    int32_t vertex_count, triangle_count;
    mabd_mesh_vertex* vertices; // (vertex_count)
    uint16_t* triangles;        // (triangle_count x 3), counter-clockwise from outside
} mabd_mesh;

typedef struct mabd_meshes {
    mabd_mesh round[MABD_MESH_LEVELS];    // capsule; sphere if half = 0
    mabd_mesh cylinder[MABD_MESH_LEVELS]; // bevelled by `round`
    mabd_mesh box;                        // bevelled by `round`
    int32_t largest;                      // most vertices of any mesh
} mabd_meshes;

/// Take the memory of all meshes from the arena, and fill them unless the arena only measures.
void mabd_meshes_make(mabd_arena* arena, mabd_meshes* meshes);
/// Return the coarsest level whose outline is within `error` of a circle of `radius` (same unit).
int mabd_mesh_level(double radius, double error);
