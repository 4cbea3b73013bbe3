// SPDX-License-Identifier: Apache-2.0
// Segments of a long chain (affine/cpu/pack.h): equal links whose joints all have w rows, in 8
// lanes of MABD_SEGMENT_LINKS consecutive links each.
//
// Block elimination along a chain is one long dependency: each joint waits for the one before. The
// chain is therefore cut at every MABD_SEGMENT_LINKS-th joint. Between two cuts, joint k = 1 .. n -
// 1 of a lane is eliminated with its block S_k, the block U_k to the next joint, and the fill-in
// block F_k to cut 0 before the lane:
//
//   cut 0 --- 1 --- 2 --- ... --- n - 1 --- cut n     U_0 is F_1: body 0 couples cut 0 and joint 1
//
//   Z_k = S_k^-1 U_k          Y_k = S_k^-1 F_k'           h_k = S_k^-1 b_k
//   S_k+1 = D_k+1 - U_k' Z_k  F_k+1 = -F_k Z_k            b_k+1 -= U_k' h_k
//   S_0 -= F_k Y_k                                        b_0 -= F_k h_k
//
// The remaining system is the reduced chain of the cuts, with blocks S_0, S_n and F_n of every
// lane. It is shorter by the factor MABD_SEGMENT_LINKS and solved like any other chain
// (affine/cpu/reduced_chain.c). Back substitution is
//
//   lambda_k = h_k - Y_k lambda_0 - Z_k lambda_k+1
//
// Lanes do not depend on each other, and segments are distributed over threads. The cuts depend on
// the model only, so the bits of the result depend on neither. Prediction, blocks and elimination
// are one pass over the bodies; so are multipliers and update. Blocks of joints inside a segment
// never leave the cache.
//
// This header is independent of the kinds of rows: one source for w = 3 .. 6, a constant at each
// call.
#pragma once

#include "formulation/affine/cpu/pack_lanes.h"
#include "formulation/affine/limits.h"

#include "math/block.h"

#define MABD_SEGMENT_ROWS MABD_BLOCK_MAX
/// Number of entries of a symmetric w x w block.
#define MABD_SEGMENT_SYMMETRIC(w) ((w) * ((w) + 1) / 2)

/// Reals of a side: block, right-hand side, C.
#define MABD_SEGMENT_SIDE (MABD_SEGMENT_SYMMETRIC(MABD_SEGMENT_ROWS) + 2 * MABD_SEGMENT_ROWS)

/// Index of entry (i, j) of a symmetric block: the diagonal first, then the upper triangle by rows,
/// as in mabd_sym3.
MABD_BLOCK_FN int mabd_affine_segment_at(int w, int i, int j) {
    const int low = i < j ? i : j, high = i < j ? j : i;
    return low == high ? low : w + low * (2 * w - low - 1) / 2 + (high - low - 1);
}

/// State of the elimination in all lanes, after joint k.
typedef struct mabd_affine_segment_front {
    // S, b of the next joint: share of the body before it, less the eliminated part
    mabd_lanes S[MABD_SEGMENT_SYMMETRIC(MABD_SEGMENT_ROWS)], b[MABD_SEGMENT_ROWS];
    mabd_lanes F[MABD_SEGMENT_ROWS * MABD_SEGMENT_ROWS]; // from the cut before to it, by rows
    mabd_lanes S0[MABD_SEGMENT_SYMMETRIC(MABD_SEGMENT_ROWS)], b0[MABD_SEGMENT_ROWS];
    // the part that elimination subtracts from b0; it is small compared with a position in a long
    // chain, so it is added at the end
    mabd_lanes c0[MABD_SEGMENT_ROWS];
    // first joint whose pivot is not positive, as a number; MABD_SEGMENT_LINKS = none
    mabd_lanes bad;
} mabd_affine_segment_front;

// ---- elimination ----

/// Factor S = L d L' (lower triangles), r = 1/d. S is overwritten.
MABD_BLOCK_FN void mabd_affine_segment_factor(int w, mabd_real* S, mabd_real* L, mabd_real* r) {
    MABD_UNROLL
    for (int j = 0; j < w; j++) {
        r[j] = 1 / S[j * w + j];
        MABD_UNROLL
        for (int i = j + 1; i < w; i++) {
            L[i * w + j] = S[i * w + j] * r[j];
            MABD_UNROLL
            for (int k = j + 1; k <= i; k++) S[i * w + k] -= L[i * w + j] * S[k * w + j];
        }
    }
}

/// Solve with a factored block: x = S \ x
MABD_BLOCK_FN void mabd_affine_segment_solve(int w, const mabd_real* L, const mabd_real* r,
                                             mabd_real* x) {
    MABD_UNROLL
    for (int i = 1; i < w; i++) {
        MABD_UNROLL
        for (int k = 0; k < i; k++) x[i] -= L[i * w + k] * x[k];
    }
    MABD_UNROLL
    for (int i = w - 1; i >= 0; i--) {
        x[i] *= r[i];
        MABD_UNROLL
        for (int k = w - 1; k > i; k--) x[i] -= L[k * w + i] * x[k];
    }
}

/// Sum of a[stride i].at[l] x[i], in ascending order of i.
MABD_BLOCK_FN mabd_real mabd_affine_segment_dot(int w, const mabd_lanes* a, int stride, int l,
                                                const mabd_real* x) {
    mabd_real sum = a[0].at[l] * x[0];
    MABD_UNROLL
    for (int i = 1; i < w; i++) sum += a[stride * i].at[l] * x[i];
    return sum;
}

/// Eliminate joint k. `from`, `to` (block, then right-hand side) and U (by rows) belong to body k
/// and its joints k and k + 1.
MABD_BLOCK_FN void mabd_affine_segment_eliminate(int w, mabd_real k,
                                                 const mabd_lanes* MABD_RESTRICT from,
                                                 const mabd_lanes* MABD_RESTRICT to,
                                                 const mabd_lanes* MABD_RESTRICT U,
                                                 mabd_affine_segment_front* MABD_RESTRICT front,
                                                 mabd_lanes* MABD_RESTRICT saved) {
    const int n = MABD_SEGMENT_SYMMETRIC(w);
    MABD_EACH_LANE(l) {
        mabd_real S[MABD_SEGMENT_ROWS * MABD_SEGMENT_ROWS],
            L[MABD_SEGMENT_ROWS * MABD_SEGMENT_ROWS];
        mabd_real Z[MABD_SEGMENT_ROWS * MABD_SEGMENT_ROWS],
            Y[MABD_SEGMENT_ROWS * MABD_SEGMENT_ROWS]; // by columns
        mabd_real r[MABD_SEGMENT_ROWS], h[MABD_SEGMENT_ROWS];
        MABD_UNROLL
        for (int i = 0; i < w; i++) {
            h[i] = front->b[i].at[l] + from[n + i].at[l];
            MABD_UNROLL
            for (int j = 0; j <= i; j++) {
                const int at = mabd_affine_segment_at(w, i, j);
                S[i * w + j] = front->S[at].at[l] + from[at].at[l];
            }
        }
        mabd_affine_segment_factor(w, S, L, r);
        mabd_real least = r[0], most = r[0];
        MABD_UNROLL
        for (int i = 1; i < w; i++) {
            least = r[i] < least ? r[i] : least;
            most += r[i]; // NaN if one of them is
        }
        const bool good = (least > 0) & (most < (mabd_real)INFINITY);
        front->bad.at[l] = good | (front->bad.at[l] < k) ? front->bad.at[l] : k;

        mabd_affine_segment_solve(w, L, r, h);
        MABD_UNROLL
        for (int i = 0; i < w; i++) saved[2 * w * w + i].at[l] = h[i];
        MABD_UNROLL
        for (int c = 0; c < w; c++) {
            mabd_real *z = Z + c * w, *y = Y + c * w;
            MABD_UNROLL
            for (int i = 0; i < w; i++) z[i] = U[i * w + c].at[l], y[i] = front->F[c * w + i].at[l];
            mabd_affine_segment_solve(w, L, r, z);
            mabd_affine_segment_solve(w, L, r, y);
            MABD_UNROLL
            for (int i = 0; i < w; i++) {
                saved[c * w + i].at[l] = z[i], saved[w * w + c * w + i].at[l] = y[i];
            }
        }
        MABD_UNROLL
        for (int i = 0; i < w; i++) {
            front->b[i].at[l] = to[n + i].at[l] - mabd_affine_segment_dot(w, U + i, w, l, h);
            front->c0[i].at[l] -= mabd_affine_segment_dot(w, front->F + i * w, 1, l, h);
            MABD_UNROLL
            for (int j = 0; j <= i; j++) {
                const int at = mabd_affine_segment_at(w, i, j);
                front->S[at].at[l] =
                    to[at].at[l] - mabd_affine_segment_dot(w, U + j, w, l, Z + i * w);
                front->S0[at].at[l] -=
                    mabd_affine_segment_dot(w, front->F + j * w, 1, l, Y + i * w);
            }
        }
        MABD_UNROLL
        for (int i = 0; i < w; i++) { // F_k+1 = -F_k Z_k
            mabd_real next[MABD_SEGMENT_ROWS];
            MABD_UNROLL
            for (int c = 0; c < w; c++) {
                next[c] = -mabd_affine_segment_dot(w, front->F + i * w, 1, l, Z + c * w);
            }
            MABD_UNROLL
            for (int c = 0; c < w; c++) front->F[i * w + c].at[l] = next[c];
        }
    }
}

/// Start the elimination with body 0, whose joint 0 is the cut.
MABD_BLOCK_FN void mabd_affine_segment_begin(int w, const mabd_lanes* from, const mabd_lanes* to,
                                             const mabd_lanes* U,
                                             mabd_affine_segment_front* front) {
    const int n = MABD_SEGMENT_SYMMETRIC(w);
    for (int k = 0; k < n; k++) front->S0[k] = from[k], front->S[k] = to[k];
    for (int k = 0; k < w; k++) front->b0[k] = from[n + k], front->b[k] = to[n + k];
    for (int k = 0; k < w * w; k++) front->F[k] = U[k];
    for (int k = 0; k < w; k++) {
        MABD_EACH_LANE(l) front->c0[k].at[l] = 0;
    }
    MABD_EACH_LANE(l) front->bad.at[l] = MABD_SEGMENT_LINKS;
}

/// Compute lambda_k from the multipliers of the cut and of joint k + 1.
MABD_BLOCK_FN void mabd_affine_segment_back(int w, const mabd_lanes* MABD_RESTRICT saved,
                                            const mabd_lanes* MABD_RESTRICT cut,
                                            const mabd_lanes* MABD_RESTRICT next,
                                            mabd_lanes* MABD_RESTRICT lambda) {
    MABD_EACH_LANE(l) {
        MABD_UNROLL
        for (int i = 0; i < w; i++) {
            mabd_real far = saved[w * w + i].at[l] * cut[0].at[l];
            mabd_real near = saved[i].at[l] * next[0].at[l];
            MABD_UNROLL
            for (int c = 1; c < w; c++) {
                far += saved[w * w + c * w + i].at[l] * cut[c].at[l];
                near += saved[c * w + i].at[l] * next[c].at[l];
            }
            lambda[i].at[l] = (saved[2 * w * w + i].at[l] - far) - near;
        }
    }
}

// ---- places ----

/// Body k of every lane.
MABD_HOT void mabd_affine_segment_bodies(const mabd_affine_segment* segment, int32_t k,
                                         int32_t* body) {
    for (int l = 0; l < MABD_LANES; l++) body[l] = segment->body + MABD_SEGMENT_LINKS * l + k;
}
/// Attachments of body k of every lane, k = -1 .. MABD_SEGMENT_LINKS.
MABD_HOT const mabd_lanes* mabd_affine_segment_X(const mabd_affine_sim* sim, int32_t segment,
                                                 int32_t k) {
    return sim->packs->segment_X +
           6 * ((size_t)segment * (MABD_SEGMENT_LINKS + 2) + (size_t)(k + 1));
}
/// The data that elimination saves of joint k >= 1.
MABD_HOT mabd_lanes* mabd_affine_segment_saved(const mabd_affine_sim* sim,
                                               const mabd_affine_segment* segment, int32_t k) {
    return sim->packs->saved + segment->saved +
           (size_t)(k - 1) * (size_t)MABD_SEGMENT_SAVED(segment->width);
}
/// The saved data of the joint to prefetch in back substitution; at the end of a segment, one of
/// the next segment.
MABD_HOT const mabd_lanes* mabd_affine_segment_saved_before(const mabd_affine_sim* sim,
                                                            const mabd_affine_segment* segment,
                                                            const mabd_affine_segment* next,
                                                            int32_t k) {
    const int32_t far = k - MABD_PREFETCH_JOINTS;
    return far > 0 ? mabd_affine_segment_saved(sim, segment, far)
                   : mabd_affine_segment_saved(sim, next, far + MABD_SEGMENT_LINKS - 1);
}
/// The segment after this one; the last segment is its own successor.
MABD_HOT const mabd_affine_segment* mabd_affine_segment_next(const mabd_affine_sim* sim,
                                                             const mabd_affine_segment* segment) {
    return segment + 1 < sim->packs->segments + sim->packs->segment_count ? segment + 1 : segment;
}
/// Set the attachments of both joints of body k of every lane.
MABD_HOT void mabd_affine_segment_sides(const mabd_affine_sim* sim, int32_t segment, int32_t k,
                                        mabd_affine_pack_side* side) {
    const mabd_lanes* X = mabd_affine_segment_X(sim, segment, k);
    for (int i = 0; i < 3; i++) side[0].X[i] = X[i], side[1].X[i] = X[3 + i];
}
/// Set the signs of the point rows of both joints of every link.
MABD_HOT void mabd_affine_segment_signs(const mabd_affine_segment* segment,
                                        mabd_affine_pack_side* side) {
    MABD_EACH_LANE(l) side[0].sign.at[l] = segment->sign[0], side[1].sign.at[l] = segment->sign[1];
}
/// Bit l: body k of lane l is in the halo.
MABD_HOT uint8_t mabd_affine_segment_halo(const mabd_affine_segment* segment, int32_t k) {
    return k == 0 ? segment->halo[0] : k == MABD_SEGMENT_LINKS - 1 ? segment->halo[1] : 0;
}

/// Load the multipliers of joint k of all lanes.
MABD_BLOCK_FN void mabd_affine_segment_load(int w, const mabd_affine_sim* sim,
                                            const mabd_affine_segment* segment, int32_t k,
                                            mabd_lanes* to) {
    const int32_t row = sim->model->plan->slot_row[segment->slot] + w * k;
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_real* from = sim->lambda + row + w * MABD_SEGMENT_LINKS * l;
        for (int i = 0; i < w; i++) to[i].at[l] = from[i];
    }
}
/// Store the multipliers of joint k of all lanes.
MABD_BLOCK_FN void mabd_affine_segment_store(int w, mabd_affine_sim* sim,
                                             const mabd_affine_segment* segment, int32_t k,
                                             const mabd_lanes* from) {
    const int32_t row = sim->model->plan->slot_row[segment->slot] + w * k;
    for (int l = 0; l < MABD_LANES; l++) {
        mabd_real* to = sim->lambda + row + w * MABD_SEGMENT_LINKS * l;
        for (int i = 0; i < w; i++) to[i] = from[i].at[l];
    }
}

/// Prefetch a part of the next or last segment, which most likely is the next tile of this thread:
/// the rows of as many bodies as one round processes, in the order of their addresses, into the
/// second-level cache.
MABD_HOT void mabd_affine_segment_prefetch_rows(int columns, const mabd_real* base, int64_t body) {
    const uintptr_t row = (uintptr_t)columns * sizeof *base;
    const uintptr_t at = (uintptr_t)base + (uintptr_t)body * row;
    for (uintptr_t k = 0; k < MABD_LANES * row; k += 64) MABD_PREFETCH_FAR(at + k);
}
/// Prefetch the state of MABD_LANES consecutive bodies, in two parts.
MABD_HOT void mabd_affine_segment_prefetch_history(const mabd_affine_sim* sim,
                                                   const mabd_affine_block* block, bool second,
                                                   int64_t body) {
    if (block->soft) {
        mabd_affine_segment_prefetch_rows(12, second ? sim->v : sim->q, body);
        mabd_affine_segment_prefetch_rows(12, second ? sim->v1 : sim->q1, body);
    } else if (second) {
        mabd_affine_segment_prefetch_rows(MABD_CENTER_REALS, sim->center, body);
        mabd_affine_segment_prefetch_rows(1, sim->orbit_part, body);
    } else {
        mabd_affine_segment_prefetch_rows(MABD_SPIN_REALS, sim->spin, body);
        mabd_affine_segment_prefetch_rows(4, sim->spin_ref, body);
    }
}
/// Prefetch the shares of the cuts, which are far apart in memory: one lane in each of some rounds.
MABD_HOT void mabd_affine_segment_prefetch_cuts(const mabd_affine_sim* sim,
                                                const mabd_affine_segment* segment, int32_t k) {
    const uintptr_t bytes = (uintptr_t)(segment->width * segment->width) * sizeof(mabd_real);
    if (k < MABD_LANES || k >= 3 * MABD_LANES) return;
    const int l = k % MABD_LANES;
    const mabd_affine_pack_side* side =
        k < 2 * MABD_LANES ? &segment->before.side : &segment->after.side;
    const mabd_affine_side_place to = mabd_affine_pack_place(sim, side, segment->width, l);
    MABD_PREFETCH_FAR(to.rhs);
    for (uintptr_t i = 0; i < bytes; i += 64) MABD_PREFETCH_FAR((uintptr_t)to.D + i);
    const uintptr_t edge = (uintptr_t)(sim->U + segment->edge[l]);
    for (uintptr_t i = 0; i < bytes && k < 2 * MABD_LANES; i += 64) MABD_PREFETCH_FAR(edge + i);
}
/// Prefetch `count` cache lines.
MABD_HOT void mabd_affine_segment_prefetch(int count, const mabd_lanes* at) {
    for (int k = 0; k < count; k++) MABD_PREFETCH_FAR((uintptr_t)at + 64 * (uintptr_t)k);
}

#ifdef MABD_ISA
/// Assemble a segment: eliminate all joints of its links except those at the ends of lanes
/// (segment.c).
void MABD_STAGE(assemble_segment)(mabd_affine_sim* sim, int32_t segment, const mabd_real* stress,
                                  bool predict);
/// Compute the new state of a segment, and the errors of its joints there.
void MABD_STAGE(update_segment)(mabd_affine_sim* sim, int32_t segment,
                                mabd_affine_motion_report* report, mabd_affine_joint_error* worst);
/// Assemble a segment whose joints are not balls (segment_rows.c).
void MABD_STAGE(assemble_row_segment)(mabd_affine_sim* sim, int32_t segment,
                                      const mabd_real* stress, bool predict);
/// Compute the new state of a segment whose joints are not balls; check measures their errors.
void MABD_STAGE(update_row_segment)(mabd_affine_sim* sim, int32_t segment,
                                    mabd_affine_motion_report* report);

// ---- parts of both kinds of segments (segment.c) ----

/// Write the shares of both cuts of every lane, and the block between them at the place of the
/// first body's block. before, after (rows): C of the cuts before the first and after the last
/// links, added by the side that begins the joint; null = balls.
void MABD_STAGE(leave_cuts)(mabd_affine_sim* sim, mabd_affine_segment* segment,
                            const mabd_affine_segment_front* front, const mabd_lanes* before,
                            const mabd_lanes* after);

/// Per lane: the largest squared rotation of all bodies and its body; the first broken body, -1 =
/// none.
typedef struct mabd_affine_segment_motion {
    mabd_lanes rotation, rotated, broken;
} mabd_affine_segment_motion;
/// Merge the motion of all lanes of a segment into a report.
void MABD_STAGE(report_segment)(const mabd_affine_segment* segment,
                                const mabd_affine_segment_motion* w,
                                mabd_affine_motion_report* report);
/// Include one more body of every lane; bodies are visited from the last to the first.
MABD_HOT void mabd_affine_segment_watch(mabd_real k,
                                        const mabd_affine_moved_lanes* MABD_RESTRICT moved,
                                        mabd_affine_segment_motion* MABD_RESTRICT w, int l) {
    const mabd_real rotation = moved->rotation.at[l];
    const bool more = rotation >= w->rotation.at[l];
    w->rotation.at[l] = more ? rotation : w->rotation.at[l];
    w->rotated.at[l] = more ? k : w->rotated.at[l];
    w->broken.at[l] = moved->size.at[l] < MABD_BROKEN_SQUARE ? w->broken.at[l] : k;
}
#endif
