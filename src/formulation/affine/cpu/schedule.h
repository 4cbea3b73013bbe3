// SPDX-License-Identifier: Apache-2.0
// The stages of a step on the CPU: each distributes tiles over the threads of the pool and merges
// their reports in the order of the tiles.
#pragma once

#include "formulation/affine/data.h"

/// Compute the references of all bodies, unless assemble does (mabd_affine_fuses_predict).
void mabd_affine_predict(mabd_affine_sim* sim);
/// True if the first assemble of a solve also predicts, tile by tile: no stage before it reads
/// references.
bool mabd_affine_fuses_predict(const mabd_affine_sim* sim);
/// Compute the reference of one moving body.
void mabd_affine_predict_body(mabd_affine_sim* sim, int32_t body);
/// Assemble the dual system at the reference.
void mabd_affine_assemble(mabd_affine_sim* sim, mabd_affine_pass pass);
/// Compute the new state of all bodies from the multipliers.
mabd_affine_motion_report mabd_affine_update(mabd_affine_sim* sim);
/// Measure the errors of all rigid rows at q (bodies + 1 x 12), with controls at the end of the
/// step. At q_new: call after update.
mabd_affine_joint_error mabd_affine_check_joints(mabd_affine_sim* sim, const mabd_real* q);
/// Move the references to q_new. False, and the body in *body, if A_new of a body has no rotation.
bool mabd_affine_relinearize(mabd_affine_sim* sim, int32_t* body);
/// Compute new rates; q_new becomes q, q becomes q1. With keep_history q1, v1, x1, xd1 do not
/// change.
void mabd_affine_finish(mabd_affine_sim* sim, bool keep_history);
/// Compute J of one joint on a body (side: of the plan), in the frame of the body. Returns the
/// number of rows, at most MABD_PLAN_SLOT_ROWS. Not for slots of junctions.
int32_t mabd_affine_joint_rows(mabd_affine_sim* sim, int32_t body, int32_t side, mabd_vec12* rows);
