// SPDX-License-Identifier: Apache-2.0
#include "collide/match.h"

int mabd_collide_compare(mabd_collide_key a, mabd_collide_key b) {
    if (a.i != b.i) return a.i < b.i ? -1 : 1;
    return (a.j > b.j) - (a.j < b.j);
}

static const mabd_collide_identity* identity_at(const mabd_collide_known* known, int32_t i) {
    return (const void*)((const char*)known->data + (size_t)i * known->stride);
}

int32_t mabd_collide_match_pair(mabd_collide_known* known, mabd_collide_key key) {
    while (known->place < known->count &&
           mabd_collide_compare(identity_at(known, known->place)->key, key) < 0)
        known->place++;
    int32_t end = known->place;
    while (end < known->count && mabd_collide_compare(identity_at(known, end)->key, key) == 0)
        end++;
    return end - known->place;
}

int32_t mabd_collide_match_nearest(const mabd_collide_known* known, int32_t count, mabd_vec3 X,
                                   uint32_t* taken) {
    int32_t best = -1;
    mabd_real least = (mabd_real)INFINITY;
    for (int32_t k = 0; k < count && k < 32; k++) {
        const mabd_vec3 d = mabd_v3_sub(identity_at(known, known->place + k)->X, X);
        const mabd_real square = mabd_v3_dot(d, d);
        if (*taken >> k & 1u || !(square < least)) continue;
        best = k, least = square;
    }
    if (best < 0) return -1;
    *taken |= UINT32_C(1) << best;
    return known->place + best;
}
