// SPDX-License-Identifier: Apache-2.0
// The order of a method, from its solutions with three steps alone: x_h = x + c h^p + ... gives,
// for the largest differences d of the three,
//   d_01 / d_12 = (h_0^p - h_1^p) / (h_1^p - h_2^p),
// free of the error of any reference.
#pragma once

/// The order p with (h_0^p - h_1^p) / (h_1^p - h_2^p) = ratio, for steps h (3) falling; NaN if none
/// lies in -4 to 12.
double compare_order_of(const double* h, double ratio);
