// SPDX-License-Identifier: Apache-2.0
#include "topology/color.h"

#include <string.h>

int32_t mabd_color_greedy(int32_t n, const int32_t* start, const int32_t* other, int32_t* color,
                          int32_t* taken) {
    int32_t count = 0;
    for (int32_t s = 0; s < n; s++) color[s] = taken[s] = -1;
    for (int32_t s = 0; s < n; s++) {
        for (int32_t k = start[s]; k < start[s + 1]; k++) {
            const int32_t c = color[other[k]];
            if (c >= 0) taken[c] = s;
        }
        int32_t c = 0;
        while (taken[c] == s) c++; // colours below s have been given: c <= s
        color[s] = c;
        if (c >= count) count = c + 1;
    }
    return count;
}

void mabd_color_sort(int32_t n, const int32_t* color, int32_t count, int32_t* first,
                     int32_t* order) {
    memset(first, 0, ((size_t)count + 1) * sizeof *first);
    for (int32_t s = 0; s < n; s++) first[color[s] + 1]++;
    for (int32_t c = 0; c < count; c++) first[c + 1] += first[c];
    for (int32_t s = 0; s < n; s++) order[first[color[s]]++] = s;
    for (int32_t c = count; c > 0; c--) first[c] = first[c - 1];
    first[0] = 0;
}
