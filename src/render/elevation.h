// SPDX-License-Identifier: Apache-2.0
// The elevation of a fitted camera: high enough to look over the rim of bowls and the ridges of
// height fields at the items among them.
#pragma once

#include "render/view.h"

/// Raise a viewing direction (from the target to the eye, unit length) in steps until bowls and
/// height fields hide few items. The compass bearing stays the same. Returns `direction` if few
/// items are hidden, if it points straight up or down, or if there are no such sheets.
mabd_vec3 mabd_elevation_raise(const mabd_frame* frame, int32_t n, const mabd_render_item* items,
                               mabd_vec3 direction);
