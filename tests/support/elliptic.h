// SPDX-License-Identifier: Apache-2.0
// Elliptic functions by the arithmetic-geometric mean, modulus k in [0, 1).
#pragma once

/// Complete elliptic integral of the first kind K(k) = pi / (2 agm(1, sqrt(1 - k^2))).
double elliptic_k(double k);
/// Jacobi's sn(u, k) by descending Landen transformations.
double elliptic_sn(double u, double k);
