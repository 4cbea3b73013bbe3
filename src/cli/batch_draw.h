// SPDX-License-Identifier: Apache-2.0
// Random numbers of `mabd batch`: a function of seed, stream and index, so that copy 17 gets the
// same numbers for any number of copies, and a resumed run those of the uninterrupted run.
//
//   u(seed, stream, index) = floor(mix(mix(mix(seed) + stream) + index) / 2^11) / 2^53   in [0, 1)
//
// all modulo 2^64, where mix(x) is the step of splitmix64 (constants are hexadecimal):
//   x += 9e3779b97f4a7c15; x = (x ^ x >> 30) bf58476d1ce4e5b9;
//   x = (x ^ x >> 27) 94d049bb133111eb; x ^ x >> 31
#pragma once

#include <stdint.h>

/// Draw a number in [0, 1). Streams: 2 k for the k-th --vary, with index = copy; 2 k + 1 for
/// control k, with index = period 2^32 + copy.
double batch_draw(uint64_t seed, uint64_t stream, uint64_t index);
