// SPDX-License-Identifier: Apache-2.0
// Pictures without a display: a software rasteriser and a PNG writer.
#pragma once

#include "mabd/scene.h"

/// One shaded piece: a geom and the pose of its body.
typedef struct mabd_render_item {
    mabd_geom geom;
    mabd_real position[3]; // of the body [m]
    mabd_real rotation[4]; // of the body
    float color[3];        // 0..1, linear
} mabd_render_item;

typedef struct mabd_camera {
    bool fit;   // choose position and target so that all items are in view, seen along `direction`
    bool raise; // with fit: raise `direction` until most items are visible over bowls and hills
    mabd_real direction[3]; // from the target to the eye, with fit
    mabd_real position[3];  // of the eye [m], without fit
    mabd_real target[3];    // looked at [m], without fit
    mabd_real fov;          // vertical field of view [rad]
} mabd_camera;

typedef struct mabd_render_def {
    int32_t width, height; // pixels, 1..16384
    mabd_camera camera;
    bool ground;      // grid in the plane z = ground_height
    bool ground_auto; // put the grid on the highest level plane among the items, or else just
                      // below their lowest point
    mabd_real ground_height; // [m]
    int32_t samples;         // per pixel and axis: 1, 2 or 3 (antialiasing)
} mabd_render_def;

/// A calm linear colour rgb (3) for a body: two alternate along a chain, static ones are grey.
MABD_API void mabd_render_color(int32_t body, bool is_static, float* rgb);
/// 1280 x 720, camera fitted, ground below the scene, 2 x 2 samples.
MABD_API mabd_render_def mabd_default_render_def(void);
/// Draw n items into rgb (height x width x 3), top row first, sRGB. `allocator` may be null.
MABD_API mabd_status mabd_render_draw(const mabd_render_def* def, int32_t n,
                                      const mabd_render_item* items,
                                      const mabd_allocator* allocator, uint8_t* rgb,
                                      mabd_error* error);
/// Write an 8-bit RGB PNG (temporary file, then rename).
MABD_API mabd_status mabd_png_write(const char* path, int32_t width, int32_t height,
                                    const uint8_t* rgb, mabd_error* error);
