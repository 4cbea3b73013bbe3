// SPDX-License-Identifier: Apache-2.0
// The parts of the assemble stage, one text for each instruction set like the stages themselves.
#pragma once

#include "cpu/stages.h"

/// One body while its share of the dual system is put together. By pointer: a copy as an argument waits
/// until all its parts have reached the cache.
typedef struct mabd_assembly {
    const mabd_body_block* block;
    mabd_sym3 G, Z;           // body/affine.h
    mabd_mat3 R;              // of the reference
    mabd_affine y;            // H^-1 r
    int32_t touches;          // rows against fixed bodies, eliminated (cpu/contacts.h)
    const mabd_affine* touch; // (touches) u/sqrt(s)
} mabd_assembly;

/// y <- y - sum of (u u'/s) r: what eliminated rows make of H^-1 r.
MABD_FN void mabd_touch_subtract(int32_t count, const mabd_affine* touch, mabd_affine r,
                                 mabd_affine* y) {
    for (int32_t k = 0; k < count; k++) {
        *y = mabd_affine_axpy(-mabd_affine_dot(touch[k], r), touch[k], *y);
    }
}
/// The same of a body after assemble, with the rows that it has left.
MABD_FN void mabd_cpu_subtract_touches(const mabd_cpu_sim* sim, int32_t body, mabd_affine r,
                                       mabd_affine* y) {
    const mabd_contacts* c = sim->contacts;
    if (!c || c->head[body] < 0) return;
    const mabd_affine* rows = (const mabd_affine*)c->rows.data + c->row_first[body];
    mabd_touch_subtract(c->row_count[body], rows, r, y);
}
/// H^-1 r of the body under way.
MABD_FN mabd_affine mabd_assembly_solve(const mabd_assembly* own, mabd_affine r) {
    mabd_affine y = mabd_body_block_solve(own->block, own->Z, r);
    mabd_touch_subtract(own->touches, own->touch, r, &y);
    return y;
}
/// D X + tau: what an increment does to a point, body frame.
MABD_FN mabd_vec3 mabd_affine_move(const mabd_affine* y, mabd_vec3 X) {
    const mabd_vec3 move = mabd_v3_add(mabd_v3_scale(X.x, y->d1), mabd_v3_scale(X.y, y->d2));
    return mabd_v3_add(mabd_v3_axpy(X.z, y->d3, move), y->tau);
}
/// c <- c - sum of J(X) (u u'/s) J(Y)', the compliance between two points (3x3).
MABD_FN void mabd_touch_soften(const mabd_assembly* own, mabd_vec3 X, mabd_vec3 Y, mabd_mat3* c) {
    for (int32_t k = 0; k < own->touches; k++) {
        const mabd_vec3 x = mabd_affine_move(&own->touch[k], X),
                        y = mabd_affine_move(&own->touch[k], Y);
        c->c1 = mabd_v3_axpy(-y.x, x, c->c1);
        c->c2 = mabd_v3_axpy(-y.y, x, c->c2);
        c->c3 = mabd_v3_axpy(-y.z, x, c->c3);
    }
}
/// The same with Y = X.
MABD_FN void mabd_touch_soften_self(const mabd_assembly* own, mabd_vec3 X, mabd_sym3* c) {
    for (int32_t k = 0; k < own->touches; k++) {
        const mabd_vec3 x = mabd_affine_move(&own->touch[k], X);
        c->xx -= x.x * x.x, c->yy -= x.y * x.y, c->zz -= x.z * x.z;
        c->xy -= x.x * x.y, c->xz -= x.x * x.z, c->yz -= x.y * x.z;
    }
}

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
/// own->y = H^-1 r with the rows of the body's contacts against fixed ones eliminated, which are left in own->touch; r
/// gets what slipping ones push.
void MABD_STAGE(touch)(mabd_cpu_sim* sim, int32_t body, mabd_affine* r, mabd_assembly* own);
/// Blocks and right-hand sides of a body that carries ball joints only.
void MABD_STAGE(assemble_balls)(mabd_cpu_sim* sim, int32_t body, const mabd_assembly* own);
/// True if its y and blocks are kept by assemble_balls; then assemble_kept puts them in place again at the same reference.
bool MABD_STAGE(is_kept)(const mabd_cpu_sim* sim, int32_t body);
void MABD_STAGE(assemble_kept)(mabd_cpu_sim* sim, int32_t body);

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
