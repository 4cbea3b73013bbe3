// SPDX-License-Identifier: Apache-2.0
// Triangles into sample buffers, and thin lines by coverage.
#pragma once

#include "render/view.h"

/// Sample buffers, top row first (view height x width). A key of 0 is empty.
typedef struct mabd_target {
    int32_t width, height;
    float* key;       // depth key, grows towards the eye
    uint32_t* normal; // packed normal in camera axes; null: depth only
    int32_t* item;    // item that is seen; null with normal
} mabd_target;

typedef struct mabd_raster_vertex {
    mabd_vec3 point;  // camera coordinates
    mabd_vec3 screen; // x, y [samples], key; valid if clip = 0
    mabd_vec3 normal; // camera axes
    unsigned clip;    // bit set for each plane that it is behind
} mabd_raster_vertex;

/// Complete a vertex that has point and normal: screen and clip.
void mabd_raster_vertex_set(const mabd_view* view, mabd_raster_vertex* vertex);
/// Draw one triangle, counter-clockwise towards the eye, clipped; others are skipped.
void mabd_raster_triangle(const mabd_view* view, const mabd_target* target, int32_t item,
                          const mabd_raster_vertex* a, const mabd_raster_vertex* b,
                          const mabd_raster_vertex* c);

/// Unit vector to 2 x 16 bit (octahedral map) and back. pack takes any length > 0.
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
/// Visit the pixels of a line within width x height; coverage is that of a pixel-wide box filter.
void mabd_line_draw(const mabd_line* line, int32_t width, int32_t height, mabd_line_visit* visit,
                    void* context);
