// SPDX-License-Identifier: Apache-2.0
// The floor with its grid, and the background. Colors are linear.
#pragma once

#include "render/light_map.h"

typedef struct mabd_ground {
    bool drawn;       // requested, and the eye is above it
    mabd_real height; // scene units
    mabd_real cell;   // grid spacing [m]: 1, 2 or 5 times a power of ten
    int32_t major;    // every major-th line is stronger
    mabd_real reach;  // where the floor begins to fade [scene units]
    mabd_vec3 center; // of the fading [scene units]
    const mabd_frame* frame;
    const mabd_view* view;
    int32_t samples;
    const mabd_light_map* key; // null: no shadow
    const mabd_light_map* sky; // taken from below; null: none
} mabd_ground;

/// The largest of 1, 2, 5 times a power of ten that is at most `length` (> 0).
mabd_real mabd_ground_step(mabd_real length);
/// Compute height, spacing and reach for a picture. The shadow maps are null.
mabd_ground mabd_ground_make(const mabd_render_def* def, const mabd_frame* frame,
                             const mabd_view* view);
/// Compute the color rgb (3) of the pixel (x, y) without items: floor or background. Returns the
/// depth key of the floor there, 0 if there is none.
float mabd_ground_color(const mabd_ground* ground, int32_t x, int32_t y, float* rgb);
