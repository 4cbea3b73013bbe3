// SPDX-License-Identifier: Apache-2.0
#include "mabd/render.h"

void mabd_render_color(int32_t body, bool is_static, float* rgb) {
    // close in hue, so that a chain too fine to resolve still has a clean color
    static const float chain[2][3] = {
        {0.018f, 0.085f, 0.275f}, // blue
        {0.070f, 0.370f, 0.400f}, // teal
    };
    static const float grey[3] = {0.200f, 0.200f, 0.205f};
    const float* color = is_static || body < 0 ? grey : chain[body % 2];
    for (int k = 0; k < 3; k++) rgb[k] = color[k];
}
