// SPDX-License-Identifier: Apache-2.0
// The elevation of a fitted camera: high enough to look over the rim of bowls and the ridges of
// height fields at the items among them.
#pragma once

#include "render/view.h"

/// A viewing direction (from the target to the eye, unit length) with the compass bearing of
/// `direction` (unit length) and an elevation at least as large: raised in steps until most items
/// are not hidden by bowls and height fields. Returns `direction` if nothing is hidden, if it points
/// straight up or down, or if there are no such sheets.
mabd_vec3 mabd_elevation_raise(const mabd_frame* frame, int32_t n, const mabd_render_item* items,
                               mabd_vec3 direction);
