// SPDX-License-Identifier: Apache-2.0
// Estimates of the cost of a grid, from a sample of the geoms.
//
// Of m geoms drawn evenly, count the pairs that lie in the same or neighbouring cells. With n geoms
// in all there are about count (n / m)^2 such pairs, and a search tests each of them. The estimate
// decides
//  - which axes a key needs: a chain that is spread out along x is found by x alone, and two axes
//    less save four passes of the radix sort;
//  - whether to merge two levels, such as the hubs and the rods of a net.
// The two decisions change the time, never the result. The costs are nanoseconds of one machine;
// only their ratios matter.
#include "contact/broad_internal.h"

#define SAMPLE_MAX   1024
#define SAMPLE_LEAST 32
#define SAMPLE_SHARE 32 // one geom in this many at most: the sample costs m^2 / 2
#define COST_TEST    3.0
#define COST_PASS    6.0
#define COST_MARKER  1.5
#define COST_QUERY   120.0 // query of one geom in a coarser level
#define COST_MEMBER  20.0  // to hash one member
#define DIGIT        11.0

typedef struct cell_sample {
    int32_t count;
    int32_t cell[3][SAMPLE_MAX];
} cell_sample;

static int32_t sample_size(int64_t n) {
    const int64_t m = n / SAMPLE_SHARE;
    return m > SAMPLE_MAX ? SAMPLE_MAX : (int32_t)m;
}

// Add the members of a level among `tries` geoms, at cells of the given scale.
static void add_members(const mabd_broad* broad, int32_t level, int32_t tries,
                        const double scale[3], cell_sample* sample) {
    const mabd_broad_input* const input = broad->input;
    for (int32_t k = 0; k < tries; k++) {
        // multiples of the golden ratio: evenly spread and without a period
        const uint32_t turn = (uint32_t)k * UINT32_C(2654435769);
        const int32_t i = (int32_t)((uint64_t)turn * (uint64_t)input->geom_count >> 32);
        if (broad->bin[i] == BROAD_UNBOUNDED || broad->bin_level[broad->bin[i]] != level) continue;
        const int32_t at = sample->count++;
        for (int axis = 0; axis < 3; axis++) {
            double t = ((double)input->boxes[i].lo[axis] - broad->lo[axis]) * scale[axis];
            t = t < 1e9 ? t : 1e9;
            sample->cell[axis][at] = (int32_t)t;
        }
    }
}

// Count pairs of neighbours. near[s]: pairs (a, b), a < rows, a < b, that are neighbours along all
// axes of the set s (bits x 1, y 2, z 4).
static void count_near(const cell_sample* sample, int32_t rows, int64_t near[8]) {
    for (int s = 0; s < 8; s++) near[s] = 0;
    for (int32_t a = 0; a < rows; a++) {
        int32_t sum[8] = {0};
        const int32_t x = sample->cell[0][a], y = sample->cell[1][a], z = sample->cell[2][a];
        for (int32_t b = a + 1; b < sample->count; b++) {
            const int32_t dx = sample->cell[0][b] - x, dy = sample->cell[1][b] - y;
            const int32_t dz = sample->cell[2][b] - z;
            const int32_t nx = (dx >= -1) & (dx <= 1), ny = (dy >= -1) & (dy <= 1);
            const int32_t nz = (dz >= -1) & (dz <= 1);
            sum[1] += nx, sum[2] += ny, sum[3] += nx & ny, sum[4] += nz;
            sum[5] += nx & nz, sum[6] += ny & nz, sum[7] += nx & ny & nz;
        }
        for (int s = 0; s < 8; s++) near[s] += sum[s];
    }
}

int broad_choose_axes(const mabd_broad* broad, int32_t level, const int bits[3]) {
    static const double markers[8] = {0, 1, 1, 2, 1, 2, 2, 5};
    const broad_level* const grid = &broad->levels[level];
    cell_sample sample = {.count = 0};
    int64_t near[8];
    add_members(broad, level, sample_size(broad->input->geom_count), grid->scale, &sample);
    if (sample.count < SAMPLE_LEAST) return BROAD_ALL_AXES;
    count_near(&sample, sample.count, near);

    const double share = (double)grid->count / sample.count / sample.count;
    int best = BROAD_ALL_AXES;
    double least = 0;
    for (int set = BROAD_ALL_AXES; set > 0; set--) {
        int sum = 0;
        for (int k = 0; k < 3; k++) sum += set >> k & 1 ? bits[k] : 0;
        const double cost = COST_PASS * (double)(int)((sum + DIGIT - 1) / DIGIT) +
                            COST_MARKER * markers[set] + COST_TEST * share * (double)near[set];
        if (set == BROAD_ALL_AXES || cost < least) least = cost, best = set;
    }
    return best;
}

bool broad_merge_pays(const mabd_broad* broad, int32_t fine, const double cell[3]) {
    const int32_t tries = sample_size(broad->input->geom_count);
    if (tries < SAMPLE_LEAST) return false;
    const double scale[3] = {1 / cell[0], 1 / cell[1], 1 / cell[2]};
    cell_sample sample = {.count = 0};
    int64_t near[8];
    add_members(broad, fine, tries, scale, &sample);
    const int32_t rows = sample.count;
    add_members(broad, fine + 1, tries, scale, &sample);
    count_near(&sample, rows, near);
    const double share = (double)broad->input->geom_count / tries;
    // one more pair than counted: a sample without pairs says little
    const double tests = (double)(near[BROAD_ALL_AXES] + 1) * share * share;
    return COST_TEST * tests < COST_QUERY * (double)broad->levels[fine].count +
                                   COST_MEMBER * (double)broad->levels[fine + 1].count;
}
