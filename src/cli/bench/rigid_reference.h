// SPDX-License-Identifier: Apache-2.0
// Reference motion of a scene for peers: rigid bodies, exact joints, classical Runge-Kutta of order
// four with small steps. It shares no code with the formulations and is only fast enough for
// references.
//
//   state    x, q, v, w of each body:   x' = v,  q' = (0, w) q / 2,  M a = f + J' lambda,  J a = g
//   joint    rows of the second time derivative of
//              x_b + R_b X_b - x_a - R_a X_a = 0     3 rows
//              n_k . u_b = 0,  k = 1, 2              of hinges: n_k fixed in a, normal to its axis
//   lambda   (J M^-1 J') lambda = g - J M^-1 f       by an envelope Cholesky factorisation, in the
//                                                    order of joints with the smallest envelope
//   Closed linkages and taut nets have redundant rows: the diagonal is enlarged by SHIFT, and
//   refinements remove the error of the shift from all rows that are not redundant.
//   Joints are kept by their accelerations only: they drift by the error of the method, h^4.
#pragma once

#include "bench/peers/peer_scene.h"

/// Positions of all centres of mass at equidistant times.
typedef struct rigid_path {
    double interval;   // between two times, the first one after the start [s]
    int32_t count;     // of times
    int32_t bodies;    //
    double* positions; // (count x bodies x 3) [m]
} rigid_path;

/// Allocate a path of `count` times for a scene, all NaN. False if memory is short; then nothing is
/// allocated.
bool rigid_path_create(const peer_scene* scene, double interval, int32_t count, rigid_path* path);
void rigid_path_destroy(rigid_path* path);
/// Root mean square distance of two paths of the same size over all bodies and times [m]. NaN if a
/// number is not finite.
double rigid_path_distance(const rigid_path* a, const rigid_path* b);
/// Integrate the scene from its start with steps of at most `h` and write the path; the last state
/// goes to `states` (bodies), which may be null. False if memory is short.
bool rigid_reference_run(const peer_scene* scene, double h, rigid_path* path, peer_state* states);
