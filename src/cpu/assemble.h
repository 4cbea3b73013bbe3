// SPDX-License-Identifier: Apache-2.0
// The parts of the assemble stage, one text for each instruction set like the stages themselves.
#pragma once

#include "cpu/stages.h"

/// One body while its share of the dual system is put together. By pointer: a copy as an argument waits
/// until all its parts have reached the cache.
typedef struct mabd_assembly {
    const mabd_body_block* block;
    mabd_sym3 G, Z; // body/affine.h
    mabd_mat3 R;    // of the reference
    mabd_affine y;  // H^-1 r
} mabd_assembly;

/// True for the body that starts the blocks of a joint; the other one adds.
static inline bool mabd_starts_joint(const mabd_model* m, const mabd_model_joint* joint,
                                     int32_t body) {
    const int32_t other = joint->a == body ? joint->b : joint->a;
    return m->body_motion[other] != MABD_MOTION_DYNAMIC || other > body;
}

#ifdef MABD_ISA
/// Ask for what a body of kind MABD_BODY_SIMPLE will need; any index is allowed. The first says where the
/// second looks.
void MABD_STAGE(prefetch_joints)(const mabd_cpu_sim* sim, int32_t body);
void MABD_STAGE(prefetch_blocks)(const mabd_cpu_sim* sim, int32_t body);
/// Blocks and right-hand sides of a body that carries ball joints only.
void MABD_STAGE(assemble_balls)(mabd_cpu_sim* sim, int32_t body, const mabd_assembly* own);

/// The same of one that carries joints with point rows and springs on the rotation vector, after start_rows.
void MABD_STAGE(assemble_springs)(mabd_cpu_sim* sim, int32_t body, const mabd_assembly* own);

/// r += what the motors of a joint push on its body b or a.
void MABD_STAGE(add_motors)(const mabd_cpu_sim* sim, const mabd_model_joint* joint,
                            const mabd_joint_view* view, int is_b, mabd_affine* r);
/// Start the joints that this body starts, and r += what its motors push. Of a body that is no hub its
/// rows stay in sim->sides for assemble_rows.
void MABD_STAGE(start_rows)(mabd_cpu_sim* sim, const mabd_real* stress, int32_t body,
                            mabd_affine* r);
/// Blocks and right-hand sides of a body with any rows, after start_rows.
void MABD_STAGE(assemble_rows)(mabd_cpu_sim* sim, int32_t body, const mabd_assembly* own);
/// The same of a hub: -H, J, and its part of the right-hand sides.
void MABD_STAGE(assemble_hub)(mabd_cpu_sim* sim, int32_t body, const mabd_assembly* own);
#endif
