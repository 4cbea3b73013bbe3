// SPDX-License-Identifier: Apache-2.0
// Sheaves of a pulley, their hinges, and the blocks of a tackle.
#pragma once

#include "generate/pulley_path.h"

#define MABD_PULLEY_SHEAVE UINT32_C(4) // category of sheaves and blocks
#define MABD_PULLEY_END    UINT32_C(8) // category of loads and counters

/// Return the thickness of the cheeks of a tackle's block [m], beside the sheaves.
mabd_real mabd_generate_pulley_cheek(const mabd_pulley_def* def);
/// Add all sheaves, strand after strand, with their hinges and blocks; *first gets the index of the
/// first sheave.
mabd_status mabd_generate_pulley_sheaves(mabd_scene* scene, const mabd_generate_pulley_path* path,
                                         int32_t* first, mabd_error* error);

/// Add a batch of bodies, one for each strand; a single one gets no number behind its name.
mabd_status mabd_generate_pulley_bodies(mabd_scene* scene, mabd_body_def* body,
                                        const mabd_generate_body_batch* batch, int32_t* first,
                                        mabd_error* error);
/// Add a batch of joints that has frames, one for each strand; a single one gets no number behind
/// its name.
mabd_status mabd_generate_pulley_joints(mabd_scene* scene, mabd_joint_def* joint,
                                        const mabd_generate_joint_batch* batch, mabd_error* error);
