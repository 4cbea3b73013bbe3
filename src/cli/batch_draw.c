// SPDX-License-Identifier: Apache-2.0
// Random numbers of `mabd batch`; see batch_draw.h.
#include "cli/batch_draw.h"

static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

double batch_draw(uint64_t seed, uint64_t stream, uint64_t index) {
    return (double)(mix(mix(mix(seed) + stream) + index) >> 11) / 9007199254740992.0;
}
