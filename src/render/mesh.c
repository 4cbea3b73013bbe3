// SPDX-License-Identifier: Apache-2.0
// Rows of vertices around the z axis make the round shapes:
//   capsule    pole .. equator (corner -z), equator .. pole (corner +z)
//   cylinder   centre, rim (normal -z), rim (normal out) | rim (out), rim (+z), centre
// A bevelled box has three vertices at each corner, one for each face that meets there.

#include "render/mesh.h"

#include <math.h>
#include <string.h>

static const int32_t level_segments[MABD_MESH_LEVELS] = {6, 8, 12, 16, 24, 36, 56, 84, 128};

int mabd_mesh_level(double radius, double error) {
    // sagitta r (1 - cos(pi/n)) ~ r pi^2 / 2 n^2 <= error
    double needed = 2.22 * sqrt(radius / error);
    for (int level = 0; level < MABD_MESH_LEVELS - 1; level++) {
        if (level_segments[level] >= needed) return level;
    }
    return MABD_MESH_LEVELS - 1;
}

static void take(mabd_arena* arena, int32_t vertex_count, int32_t triangle_count, mabd_mesh* mesh) {
    mesh->vertex_count = vertex_count;
    mesh->triangle_count = triangle_count;
    mesh->vertices = mabd_arena_take(arena, (size_t)vertex_count, sizeof *mesh->vertices);
    mesh->triangles = mabd_arena_take(arena, 3 * (size_t)triangle_count, sizeof *mesh->triangles);
}

// Connect rows of `segments` vertices with each other and around the axis.
static void take_rows(mabd_arena* arena, int32_t segments, int32_t rows, mabd_mesh* mesh) {
    mesh->segments = segments;
    take(arena, segments * rows, 2 * segments * (rows - 1), mesh);
    if (!arena->memory) return;
    uint16_t* t = mesh->triangles;
    for (int32_t row = 0; row + 1 < rows; row++) {
        for (int32_t i = 0; i < segments; i++, t += 6) {
            int32_t j = (i + 1) % segments, base = row * segments;
            uint16_t a = (uint16_t)(base + i), b = (uint16_t)(base + j);
            uint16_t c = (uint16_t)(a + segments), d = (uint16_t)(b + segments);
            t[0] = a, t[1] = b, t[2] = d;
            t[3] = a, t[4] = d, t[5] = c;
        }
    }
}

static void set_vertex(mabd_mesh_vertex* v, double cx, double cy, double cz, double nx, double ny,
                       double nz) {
    v->corner[0] = (float)cx, v->corner[1] = (float)cy, v->corner[2] = (float)cz;
    v->normal[0] = (float)nx, v->normal[1] = (float)ny, v->normal[2] = (float)nz;
}

static void make_round(mabd_arena* arena, int32_t segments, mabd_mesh* mesh) {
    int32_t rings = segments / 4 + 1, rows = 2 * rings; // of one hemisphere, of both
    take_rows(arena, segments, rows, mesh);
    if (!arena->memory) return;
    for (int32_t row = 0; row < rows; row++) {
        int32_t up = row >= rings;
        double latitude = acos(0.0) * ((double)(row - up) / (rings - 1) - 1);
        for (int32_t i = 0; i < segments; i++) {
            double longitude = 4 * acos(0.0) * i / segments, c = cos(latitude);
            set_vertex(&mesh->vertices[row * segments + i], 0, 0, up ? 1 : -1, c * cos(longitude),
                       c * sin(longitude), sin(latitude));
        }
    }
}

static void make_cylinder(mabd_arena* arena, int32_t segments, mabd_mesh* mesh) {
    // radius of the corner, its z, outward and upward part of the normal
    static const double rows[6][4] = {{0, -1, 0, -1}, {1, -1, 0, -1}, {1, -1, 1, 0},
                                      {1, 1, 1, 0},   {1, 1, 0, 1},   {0, 1, 0, 1}};
    take_rows(arena, segments, 6, mesh);
    if (!arena->memory) return;
    for (int32_t row = 0; row < 6; row++) {
        const double* r = rows[row];
        for (int32_t i = 0; i < segments; i++) {
            double longitude = 4 * acos(0.0) * i / segments;
            double c = cos(longitude), s = sin(longitude);
            set_vertex(&mesh->vertices[row * segments + i], r[0] * c, r[0] * s, r[1], r[2] * c,
                       r[2] * s, r[3]);
        }
    }
}

// Position of a box vertex with half edges 1 and bevel 0.2, to find which way a triangle faces.
static void box_point(const mabd_mesh_vertex* v, double* p) {
    for (int k = 0; k < 3; k++) p[k] = v->corner[k] + 0.2 * v->normal[k];
}

static void box_triangle(mabd_mesh* mesh, int a, int b, int c) {
    double p[3], q[3], r[3];
    box_point(&mesh->vertices[a], p);
    box_point(&mesh->vertices[b], q);
    box_point(&mesh->vertices[c], r);
    double outward = 0; // (q - p) x (r - p) . p
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        outward += p[k] * ((q[i] - p[i]) * (r[j] - p[j]) - (q[j] - p[j]) * (r[i] - p[i]));
    }
    uint16_t* t = mesh->triangles + 3 * mesh->triangle_count++;
    t[0] = (uint16_t)a;
    t[1] = (uint16_t)(outward > 0 ? b : c);
    t[2] = (uint16_t)(outward > 0 ? c : b);
}

// Corner k of the box has bit i set if it is on the upper side of axis i; vertex 3 k + face axis.
static void make_box(mabd_arena* arena, mabd_mesh* mesh) {
    mesh->segments = 4;
    take(arena, 24, 44, mesh);
    if (!arena->memory) return;
    for (int k = 0; k < 24; k++) {
        double s[3], n[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) s[i] = (k / 3) >> i & 1 ? 1 : -1;
        n[k % 3] = s[k % 3];
        set_vertex(&mesh->vertices[k], s[0], s[1], s[2], n[0], n[1], n[2]);
    }
    mesh->triangle_count = 0;
    for (int axis = 0; axis < 3; axis++) {
        int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3;
        for (int side = 0; side < 2; side++) {
            int k = side << axis;
            box_triangle(mesh, 3 * k + axis, 3 * (k + u) + axis, 3 * (k + u + v) + axis);
            box_triangle(mesh, 3 * k + axis, 3 * (k + u + v) + axis, 3 * (k + v) + axis);
        }
    }
    for (int axis = 0; axis < 3; axis++) { // edges along `axis`
        int a = (axis + 1) % 3, b = (axis + 2) % 3, step = 1 << axis;
        for (int side = 0; side < 4; side++) {
            int k = (side & 1) << a | side >> 1 << b;
            box_triangle(mesh, 3 * k + a, 3 * (k + step) + a, 3 * (k + step) + b);
            box_triangle(mesh, 3 * k + a, 3 * (k + step) + b, 3 * k + b);
        }
    }
    for (int k = 0; k < 8; k++) box_triangle(mesh, 3 * k, 3 * k + 1, 3 * k + 2);
}

void mabd_meshes_make(mabd_arena* arena, mabd_meshes* meshes) {
    meshes->largest = 24;
    for (int level = 0; level < MABD_MESH_LEVELS; level++) {
        make_round(arena, level_segments[level], &meshes->round[level]);
        make_cylinder(arena, level_segments[level], &meshes->cylinder[level]);
        int32_t count = meshes->round[level].vertex_count;
        if (count > meshes->largest) meshes->largest = count;
    }
    make_box(arena, &meshes->box);
}
