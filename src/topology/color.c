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

void mabd_color_edges(int32_t n, const int32_t* a, const int32_t* b, int32_t nodes, uint32_t* taken,
                      int32_t* color) {
    memset(taken, 0, (size_t)nodes * sizeof *taken);
    for (int32_t e = 0; e < n; e++) {
        const uint32_t used = (a[e] < 0 ? 0 : taken[a[e]]) | (b[e] < 0 ? 0 : taken[b[e]]);
        int32_t c = 0;
        while (c < MABD_COLOR_MOST && used >> c & 1u) c++;
        color[e] = c;
        if (c == MABD_COLOR_MOST) continue;
        if (a[e] >= 0) taken[a[e]] |= UINT32_C(1) << c;
        if (b[e] >= 0) taken[b[e]] |= UINT32_C(1) << c;
    }
}
