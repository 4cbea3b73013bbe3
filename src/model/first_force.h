// SPDX-License-Identifier: Apache-2.0
// Forces of the scene on one body.
#pragma once

#include "model/model_data.h"

/// First force of the scene on a body or a later one: forces are sorted by body.
MABD_FN int32_t mabd_model_first_force(const mabd_model* m, int32_t body) {
    int32_t low = 0, high = m->force_count;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (m->forces[middle].body < body) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
