// SPDX-License-Identifier: Apache-2.0
// Pictures without a display: a software rasterizer and a PNG writer.
#pragma once

#include "mabd/scene.h"

/// A geom to draw, with the pose of its body and a color.
typedef struct mabd_render_item {
    mabd_geom geom;
    mabd_real position[3]; // of the body [m]
    mabd_real rotation[4]; // quaternion of the body
    float color[3];        // linear rgb, 0..1
} mabd_render_item;

/// Position and orientation of the eye.
typedef struct mabd_camera {
    bool fit;   // choose position and target so that all items are in view from `direction`
    bool raise; // with fit: raise `direction` until most items are visible over bowls and hills
    mabd_real direction[3]; // from the target to the eye, with fit
    mabd_real position[3];  // of the eye [m], without fit
    mabd_real target[3];    // center of the picture [m], without fit
    mabd_real fov;          // vertical field of view [rad]
} mabd_camera;

/// Definition of a picture.
typedef struct mabd_render_def {
    int32_t width, height; // pixels, 1..16384
    mabd_camera camera;
    bool ground;      // draw a grid in the plane z = ground_height
    bool ground_auto; // place the grid at the highest level plane among the items, or just below
                      // their lowest point if there is none
    mabd_real ground_height; // [m]
    int32_t samples;         // per pixel and axis: 1, 2 or 3 (antialiasing)
} mabd_render_def;

/// Default linear color rgb (3) of a body: two colors alternate with the index, static bodies are
/// grey.
MABD_API void mabd_render_color(int32_t body, bool is_static, float* rgb);
/// Default definition: 1280 x 720 pixels, fitted camera raised over bowls and hills, ground below
/// the scene, 2 x 2 samples.
MABD_API mabd_render_def mabd_default_render_def(void);
/// Draw n items into rgb (height x width x 3), sRGB, top row first. `allocator` may be null.
/// Memory: O(pixels + items), freed on return. MABD_ERR_ARG with the item or field that is not
/// valid. Equal input gives equal bytes.
MABD_API mabd_status mabd_render_draw(const mabd_render_def* def, int32_t n,
                                      const mabd_render_item* items,
                                      const mabd_allocator* allocator, uint8_t* rgb,
                                      mabd_error* error);
/// Write rgb (height x width x 3) as an 8-bit RGB PNG file. An existing file is replaced as a
/// whole. MABD_ERR_IO with path and reason.
MABD_API mabd_status mabd_png_write(const char* path, int32_t width, int32_t height,
                                    const uint8_t* rgb, mabd_error* error);
