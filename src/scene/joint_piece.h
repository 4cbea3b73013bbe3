// SPDX-License-Identifier: Apache-2.0
// Pieces of joints without atomic rows, as scene and model hold them: a screw, a spline,
// or the parts of a composite. The frame behind a piece is
//
//   E = (rotation, position) Q(q)
//
//   spline-curve     Q = C_i exp(D_1 B_1) exp(D_2 B_2) exp(D_3 B_3)
//                    D_k = log(C_(i+k-1)^-1 C_(i+k))
//   spline-surface   Q = prod_k exp(e_k f_k(q1, q2)),  e_k: slides x y z, turns x y z
#pragma once

#include "mabd/scene.h"
#include "math/frame_exp.h"
#include "math/spline.h"

typedef struct mabd_joint_piece {
    int32_t type;          // mabd_joint, no composite
    int32_t rows, columns; // of a surface; frames of a curve and 7; else 0
    int32_t closed;        // of a curve
    int32_t chart;         // mabd_joint_chart of a ball
    int32_t first;         // of its reals, (rows x columns) of a curve, (6 x rows x columns) of a
                           // surface
    mabd_real pitch;       // [m/rad]
    mabd_real position[3], rotation[4];
    mabd_real start[2]; // of splines
} mabd_joint_piece;

/// A segment of a curve: its first frame, twists to the next three.
typedef struct mabd_curve_segment {
    mabd_frame C;
    mabd_spatial D[3];
    mabd_real u; // place in the segment
} mabd_curve_segment;

/// Freedoms of a piece; *quaternions gets how many unit quaternions its positions have.
int mabd_piece_freedoms(const mabd_joint_piece* piece, int* quaternions);
/// Segments of a spline along coordinate k = 0, 1.
int mabd_piece_segments(const mabd_joint_piece* piece, int k);
/// True if a coordinate lies beyond the ends of a spline.
bool mabd_piece_is_beyond(const mabd_joint_piece* piece, int k, mabd_real q);
/// Segment of a curve at q; values: the reals of all pieces.
mabd_curve_segment mabd_piece_curve(const mabd_joint_piece* piece, const mabd_real* values,
                                    mabd_real q);
/// Write f_k and its derivatives by q1, q2 to f: f[i][j] = d^(i+j) f/dq1^i dq2^j, i + j <= 3.
void mabd_piece_surface(const mabd_joint_piece* piece, const mabd_real* values, int k,
                        const mabd_real* q, mabd_real f[4][4]);
/// The frame that a piece has at its start coordinates, in the frame behind the piece before.
mabd_frame mabd_piece_start_frame(const mabd_joint_piece* piece, const mabd_real* values);
