// SPDX-License-Identifier: Apache-2.0
// Ambient occlusion from the sample buffers.
#pragma once

#include "render/raster.h"

/// Compute open[i] = 0..255 (height x width), the share of its surroundings that the nearest
/// surface in pixel i sees. scratch has the size of open.
void mabd_occlusion(const mabd_view* view, const mabd_target* target, int32_t samples,
                    uint8_t* open, uint8_t* scratch);
