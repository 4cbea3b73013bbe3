// SPDX-License-Identifier: Apache-2.0
// Numbers of `mabd batch`, drawn by place: a function of seed, stream and index, so that copy 17 gets the same ones
// whatever the number of copies, and a resumed run those of the uninterrupted one.
//
//   u(seed, stream, index) = floor(mix(mix(mix(seed) + stream) + index) / 2^11) / 2^53      in [0, 1)
//
// all modulo 2^64, mix(x) the step of splitmix64: x += 9e3779b97f4a7c15; x = (x ^ x >> 30) bf58476d1ce4e5b9;
// x = (x ^ x >> 27) 94d049bb133111eb; x ^ x >> 31 (constants are hexadecimal).
#pragma once

#include <stdint.h>

/// Streams: the k-th --vary has 2 k, index = copy; control k has 2 k + 1, index = period 2^32 + copy.
double batch_draw(uint64_t seed, uint64_t stream, uint64_t index);
