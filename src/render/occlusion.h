// SPDX-License-Identifier: Apache-2.0
// Ambient occlusion from the sample buffers.
#pragma once

#include "render/raster.h"

/// open[i] = 0..255, how much of its surroundings the nearest surface in pixel i sees
/// (height x width pixels); scratch has the same size.
void mabd_occlusion(const mabd_view* view, const mabd_target* target, int32_t samples,
                    uint8_t* open, uint8_t* scratch);
