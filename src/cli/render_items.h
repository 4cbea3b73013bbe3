// SPDX-License-Identifier: Apache-2.0
// What `mabd render` draws of a frame: geoms of bodies, springs as coils, cables and the splines of
// joints as lines, and the penalty ground.
#pragma once

#include "mabd/record.h"
#include "mabd/render.h"

/// Most items that a frame needs.
size_t render_item_count(const mabd_recording* recording);
/// Fill the items of all bodies and lines at the poses of a frame; returns their number. Colors are
/// faded by a share from 0 to 1.
int32_t render_items_fill(const mabd_recording* recording, const mabd_real* positions,
                          const mabd_real* quaternions, float faded, mabd_render_item* items);
