// SPDX-License-Identifier: Apache-2.0
// Planes, bowls and height fields, drawn as triangles made from their geom.
#pragma once

#include "render/canvas.h"

/// Draw a sheet (camera coordinates). Planes are left out of shadow maps.
void mabd_sheet_draw(const mabd_canvas* canvas, const mabd_piece* piece, int32_t item);
