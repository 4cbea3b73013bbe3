// SPDX-License-Identifier: Apache-2.0
// Numbers by which the splines of joints are changed: the control values of a surface, slides x y z
// before turns x y z and each row by row; of a curve 6 for each frame, its position and a turn in
// the frame.
#pragma once

#include "scene/joint_piece.h"

/// How many there are of a piece; 0 if it is no spline.
int32_t mabd_piece_value_count(const mabd_joint_piece* piece);
/// Write the derivatives of one f_k of mabd_piece_surface by its control value number `value` (row
/// by row) to f.
void mabd_piece_surface_by_value(const mabd_joint_piece* piece, int32_t value, const mabd_real* q,
                                 mabd_real f[4][4]);
