// SPDX-License-Identifier: Apache-2.0
// Pieces of joints without atomic rows on their way into a scene.
#pragma once

#include "scene/check.h"
#include "scene/joint_piece.h"
#include "scene/scene_data.h"

/// Check what a joint definition says about screws, splines and parts, and write its pieces
/// and their reals behind the last ones of the scene, without counting them; *count gets their
/// number, 0 for a plain joint, *reals that of the reals. MABD_ERR_INPUT, MABD_ERR_MEMORY.
mabd_status mabd_stage_pieces(mabd_scene* scene, const mabd_subject* joint,
                              const mabd_joint_def* def, int32_t* count, int32_t* reals);
