// SPDX-License-Identifier: Apache-2.0
// Light on a surface. Colors are linear; vectors are in camera axes (X right, Y up, Z forward).
#pragma once

#include "render/view.h"

typedef struct mabd_lights {
    mabd_vec3 key_world; // towards the key light
    float key[3], fill[3], up[3];
} mabd_lights;

/// Key light from the upper left behind the viewer, fill light from the right.
mabd_lights mabd_lights_make(const mabd_view* view);
/// Compute the rgb (3) of a surface from albedo (3), unit normal (3), unit vector to the eye (3),
/// `lit`, the share of the key light that arrives, and `open`, the share of the surroundings that
/// is visible.
void mabd_shade(const mabd_lights* lights, const float* albedo, const float* normal,
                const float* to_eye, float lit, float open, float* rgb);
/// Compute the rgb (3) averaged over the visible half of a thin rod along `axis` (3, any length).
void mabd_shade_rod(const mabd_lights* lights, const float* albedo, const float* axis,
                    const float* to_eye, float lit, float* rgb);
/// Convert a linear value >= 0 to 8-bit sRGB; values above white are compressed, not cut.
uint8_t mabd_srgb(float linear);
