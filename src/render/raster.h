// SPDX-License-Identifier: Apache-2.0
// Drawing triangles into sample buffers, and thin lines by coverage.
#pragma once

#include "render/view.h"

/// Sample buffers, top row first (view height x width). A key of 0 is empty.
typedef struct mabd_target {
    int32_t width, height;
    float* key;       // depth key, grows towards the eye
    uint32_t* normal; // packed normal in camera axes; null: depth only
    int32_t* item;    // index of the visible item; null if normal is null
} mabd_target;

typedef struct mabd_raster_vertex {
    mabd_vec3 point;  // camera coordinates
    mabd_vec3 screen; // x, y [samples], key; valid if clip = 0
    mabd_vec3 normal; // camera axes
    unsigned clip;    // a bit for each clipping plane that the vertex is outside of
} mabd_raster_vertex;

/// Compute screen and clip of a vertex from its point.
void mabd_raster_vertex_set(const mabd_view* view, mabd_raster_vertex* vertex);
/// Clip and draw a triangle that is counter-clockwise as seen from the eye; others are skipped.
void mabd_raster_triangle(const mabd_view* view, const mabd_target* target, int32_t item,
                          const mabd_raster_vertex* a, const mabd_raster_vertex* b,
                          const mabd_raster_vertex* c);

/// Pack a vector of any length > 0 into 2 x 16 bits (octahedral map), and unpack it to unit length.
uint32_t mabd_normal_pack(float x, float y, float z);
void mabd_normal_unpack(uint32_t packed, float* n);

/// A straight band on the screen [pixels], with the depth key at both ends.
typedef struct mabd_line {
    float x0, y0, key0;
    float x1, y1, key1;
    float width;
} mabd_line;

/// Called for each pixel that a line touches: coverage 0..1, key at the pixel.
typedef void mabd_line_visit(void* context, int32_t x, int32_t y, float coverage, float key);
/// Visit the pixels of a line within width x height. The coverage is that of a box filter one pixel
/// wide.
void mabd_line_draw(const mabd_line* line, int32_t width, int32_t height, mabd_line_visit* visit,
                    void* context);
