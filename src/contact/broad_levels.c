// SPDX-License-Identifier: Apache-2.0
// Sizes, levels and keys of the broad phase (see broad.c).
//
// Correct cells. Let two boxes of a level overlap along an axis, the corner lo_j at or above lo_i.
// Then lo_j - lo_i <= e, the largest extent, and the cell size is c = (1 + 2^-7) e or more. So x /
// c differs by at most 1 - 2^-8, rounding adds less than 2^-10 within 2^40 cells, and the cells of
// the corners differ by 0 or 1. Limiting x / c to +-2^40 cannot increase the difference. The bound
// also holds after any non-decreasing map of the cells that never stretches: closing gaps, halving.
#include "contact/broad_internal.h"
#include "contact/radix_sort.h"

#include <math.h>
#include <string.h>

#define BIN_OFFSET    ((1023 - 128) * 8) // bin 0: below 2^-128 m
#define WINDOW        8                  // bins of a level: one octave
#define NO_LEVEL      255
#define LARGE         1267650600228229401496703205376.0 // 2^100 [m]; larger boxes are in no grid
#define CELL_MIN      9.313225746154785e-10             // 2^-30 [m]: for boxes without extent
#define CELL_FLAT     64                                // smallest cell size = largest / CELL_FLAT
#define CELL_MARGIN   1.0078125                         // 1 + 2^-7
#define KEY_BITS      63
#define KEYS_TOO_WIDE 64 // compact_keys then makes narrower ones
#define BLOCK         256

static int size_bin(double extent) {
    uint64_t bits;
    memcpy(&bits, &extent, sizeof(bits));
    const int bin = (int)(bits >> 49) - BIN_OFFSET;
    return bin < 0 ? 0 : bin; // below BROAD_BINS for all sizes up to LARGE
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

static void note_extent(mabd_broad* broad, int bin, const double* extent) {
    double* const most = broad->bin_extent[bin];
    if (broad->bin_count[bin]++ == 0) {
        memcpy(most, extent, 3 * sizeof(double));
        return;
    }
    for (int k = 0; k < 3; k++) most[k] = larger(most[k], extent[k]);
}

int32_t broad_survey(mabd_broad* broad) {
    const mabd_broad_box* const boxes = broad->input->boxes;
    const int32_t n = broad->input->geom_count;
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    int32_t unbounded = 0;
    memset(broad->bin_count, 0, sizeof(int32_t) * BROAD_BINS);
    for (int32_t i = 0; i < n; i++) {
        double corner[3], extent[3];
        for (int k = 0; k < 3; k++) corner[k] = (double)boxes[i].lo[k];
        for (int k = 0; k < 3; k++) extent[k] = (double)boxes[i].hi[k] - corner[k];
        // false for NaN too, and for inf - inf
        if (!((extent[0] >= 0) & (extent[1] >= 0) & (extent[2] >= 0))) return i;
        const double most = larger(extent[0], larger(extent[1], extent[2]));
        if (most > LARGE) {
            broad->bin[i] = BROAD_UNBOUNDED;
            broad->id[1][unbounded++] = i;
            continue;
        }
        const int bin = size_bin(most);
        broad->bin[i] = (uint16_t)bin;
        note_extent(broad, bin, extent);
        for (int k = 0; k < 3; k++) lo[k] = corner[k] < lo[k] ? corner[k] : lo[k];
        for (int k = 0; k < 3; k++) hi[k] = corner[k] > hi[k] ? corner[k] : hi[k];
    }
    memcpy(broad->lo, lo, sizeof(lo));
    memcpy(broad->hi, hi, sizeof(hi));
    broad->unbounded_count = unbounded;
    return -1;
}

// ---- levels ------------------------------------------------------------------------------------

// Return the octave of free bins that holds the most geoms; the lowest of equals.
static int fullest_window(const mabd_broad* broad, int first, int last) {
    int best = -1;
    int64_t most = 0;
    for (int start = first; start <= last; start++) {
        int64_t sum = 0;
        for (int bin = start; bin < start + WINDOW && bin <= last; bin++) {
            if (broad->bin_level[bin] != NO_LEVEL) break;
            sum += broad->bin_count[bin];
        }
        if (sum > most) most = sum, best = start;
    }
    return best;
}

// Give bins the numbers of their windows in the order in which these are found.
static void take_windows(mabd_broad* broad, int first, int last) {
    memset(broad->bin_level, NO_LEVEL, BROAD_BINS);
    for (int window = 0; window < BROAD_LEVELS_MAX - 1; window++) {
        const int start = fullest_window(broad, first, last);
        if (start < 0) return;
        for (int bin = start; bin < start + WINDOW && bin <= last; bin++) {
            if (broad->bin_level[bin] != NO_LEVEL) break;
            broad->bin_level[bin] = (uint8_t)window;
        }
    }
}

// Number the windows by size and gather the largest extents and the counts. If sizes fill more
// octaves than there are levels, the remaining bins go to the next larger level.
static int32_t number_levels(mabd_broad* broad, int first, int last, double (*extent)[3]) {
    int32_t level = -1;
    int window = -1;
    for (int bin = first; bin <= last; bin++) {
        if (broad->bin_count[bin] == 0) continue;
        const int own = broad->bin_level[bin];
        const bool joined = level >= 0 && (own == window || window == NO_LEVEL);
        if (!joined) {
            level++;
            broad->levels[level].count = 0;
            memset(extent[level], 0, sizeof(extent[level]));
        }
        window = own;
        broad->levels[level].count += broad->bin_count[bin];
        for (int k = 0; k < 3; k++) {
            extent[level][k] = larger(extent[level][k], broad->bin_extent[bin][k]);
        }
        broad->bin_level[bin] = (uint8_t)level;
    }
    return level + 1;
}

// Lay out the keys of a set of axes, with `bits` bits for each.
static void set_key_layout(broad_level* level, int axes, const int bits[3]) {
    level->axes = axes;
    level->bits = 0;
    for (int k = 0; k < 3; k++) {
        const bool used = axes >> k & 1;
        level->shift[k] = used ? level->bits : 0;
        level->used[k] = used ? UINT64_MAX : 0;
        level->bits += used ? bits[k] : 0;
    }
}

static void set_grid(mabd_broad* broad, int32_t index, const double cell[3]) {
    broad_level* const level = &broad->levels[index];
    int bits[3];
    for (int k = 0; k < 3; k++) {
        level->scale[k] = 1 / cell[k];
        level->base[k] = 0;
        level->base[k] = (double)broad_cell(level, k, broad->lo[k]) - 2;
        level->cells[k] = broad_cell(level, k, broad->hi[k]);
        bits[k] = broad_bit_length((uint64_t)level->cells[k] + 1);
    }
    set_key_layout(level, broad_choose_axes(broad, index, bits), bits);
    if (level->bits <= KEY_BITS) return;
    const int none[3] = {0, 0, 0};
    set_key_layout(level, BROAD_ALL_AXES, none);
    level->bits = KEYS_TOO_WIDE;
}

static void cell_size(const double extent[3], double cell[3]) {
    const double most = larger(extent[0], larger(extent[1], extent[2]));
    const double least = larger(most / CELL_FLAT, CELL_MIN);
    for (int k = 0; k < 3; k++) cell[k] = larger(extent[k], least) * CELL_MARGIN;
}

// Merge levels that are searched faster as one, from the largest down.
static void merge_levels(mabd_broad* broad, double (*extent)[3], int first, int last) {
    for (int32_t fine = broad->level_count - 2; fine >= 0; fine--) {
        double cell[3];
        cell_size(extent[fine + 1], cell);
        if (!broad_merge_pays(broad, fine, cell)) continue;
        for (int k = 0; k < 3; k++) {
            extent[fine + 1][k] = larger(extent[fine][k], extent[fine + 1][k]);
        }
        broad->levels[fine + 1].count += broad->levels[fine].count;
        broad->level_count--;
        for (int32_t l = fine; l < broad->level_count; l++) {
            memcpy(extent[l], extent[l + 1], sizeof(extent[l]));
            broad->levels[l].count = broad->levels[l + 1].count;
        }
        for (int bin = first; bin <= last; bin++) {
            if (broad->bin_count[bin] != 0 && broad->bin_level[bin] > fine) broad->bin_level[bin]--;
        }
    }
}

void broad_choose_levels(mabd_broad* broad) {
    double extent[BROAD_LEVELS_MAX][3], cell[3] = {0, 0, 0};
    int first = 0, last = BROAD_BINS - 1;
    while (first <= last && broad->bin_count[first] == 0) first++;
    while (last > first && broad->bin_count[last] == 0) last--;
    take_windows(broad, first, last);
    broad->level_count = number_levels(broad, first, last, extent);
    merge_levels(broad, extent, first, last);

    int64_t place = 0;
    for (int32_t l = 0; l < broad->level_count; l++) {
        double own[3];
        cell_size(extent[l], own);
        // Cells are not smaller than those of finer levels, so a finer box spans two cells at most.
        for (int k = 0; k < 3; k++) cell[k] = larger(cell[k], own[k]);
        set_grid(broad, l, cell);
        broad->levels[l].first = place;
        place += broad->levels[l].count + 1;
    }
}

// ---- keys --------------------------------------------------------------------------------------

MABD_HOT uint64_t cell_key(const broad_level* level, const mabd_broad_box* box) {
    const uint64_t x = (uint64_t)broad_cell(level, 0, (double)box->lo[0]);
    const uint64_t y = (uint64_t)broad_cell(level, 1, (double)box->lo[1]);
    const uint64_t z = (uint64_t)broad_cell(level, 2, (double)box->lo[2]);
    return (x & level->used[0]) | (y & level->used[1]) << level->shift[1] |
           (z & level->used[2]) << level->shift[2];
}

static bool below_plane(const mabd_broad_plane* plane, const mabd_broad_box* box) {
    mabd_real height = 0;
    for (int k = 0; k < 3; k++) {
        const mabd_real n = plane->normal[k];
        height += n * (n > 0 ? box->lo[k] : box->hi[k]);
    }
    return height <= plane->offset;
}

// Test geoms first .. end-1 against the u-th unbounded one, a plane if `plane` is not null.
static void test_unbounded(mabd_broad* broad, int32_t u, const mabd_broad_plane* plane,
                           int32_t first, int32_t end) {
    const mabd_broad_box* const boxes = broad->input->boxes;
    const mabd_broad_geom* const geoms = broad->input->geoms;
    const int32_t geom = broad->id[1][u];
    for (int32_t i = first; i < end; i++) {
        if (broad->bin[i] == BROAD_UNBOUNDED) {
            if (i > geom && broad_overlap(&boxes[geom], &boxes[i]))
                broad_offer(broad, geom, &geoms[geom], i, &geoms[i]);
        } else if (plane != NULL ? below_plane(plane, &boxes[i])
                                 : broad_overlap(&boxes[geom], &boxes[i])) {
            broad_offer(broad, geom, &geoms[geom], i, &geoms[i]);
        }
    }
}

static void test_all_unbounded(mabd_broad* broad, int32_t first, int32_t end) {
    const mabd_broad_plane* plane = broad->input->planes;
    const mabd_broad_plane* const planes_end = plane + broad->input->plane_count;
    for (int32_t u = 0; u < broad->unbounded_count; u++) {
        const bool flat = plane < planes_end && plane->geom == broad->id[1][u];
        test_unbounded(broad, u, flat ? plane : NULL, first, end);
        if (flat) plane++;
    }
}

void broad_fill_keys(mabd_broad* broad) {
    const mabd_broad_input* const input = broad->input;
    int64_t place[BROAD_LEVELS_MAX];
    for (int32_t l = 0; l < broad->level_count; l++) place[l] = broad->levels[l].first;
    for (int32_t block = 0; block < input->geom_count; block += BLOCK) {
        const int32_t left = input->geom_count - block, end = block + (left < BLOCK ? left : BLOCK);
        for (int32_t i = block; i < end; i++) {
            if (broad->bin[i] == BROAD_UNBOUNDED) continue;
            const int32_t l = broad->bin_level[broad->bin[i]];
            const int64_t at = place[l]++;
            broad->id[0][at] = i;
            broad->key[0][at] = cell_key(&broad->levels[l], &input->boxes[i]);
        }
        test_all_unbounded(broad, block, end);
    }
}

// ---- sorting -----------------------------------------------------------------------------------

static int sort_keys(mabd_broad* broad, const broad_level* level, int bits) {
    uint64_t* const key[2] = {broad->key[0] + level->first, broad->key[1] + level->first};
    int32_t* const id[2] = {broad->id[0] + level->first, broad->id[1] + level->first};
    return mabd_radix_sort(level->count, bits, key, id, broad->scratch);
}

// Renumber the cells along an axis so that gaps shrink to one empty cell: at most 2 n numbers
// remain, however far apart the geoms are. compact (geom_capacity): new number by geom. Returns the
// largest.
static uint32_t close_gaps(mabd_broad* broad, const broad_level* level, int axis,
                           uint32_t* compact) {
    const int64_t first = level->first, end = first + level->count;
    for (int64_t p = first; p < end; p++) {
        const mabd_broad_box* box = &broad->input->boxes[broad->id[0][p]];
        broad->key[0][p] = (uint64_t)broad_cell(level, axis, (double)box->lo[axis]);
    }
    const int now = sort_keys(broad, level, broad_bit_length((uint64_t)level->cells[axis]));
    const uint64_t* const key = broad->key[now];
    const int32_t* const id = broad->id[now];
    uint32_t number = 1;
    for (int64_t p = first; p < end; p++) {
        const uint64_t gap = p > first ? key[p] - key[p - 1] : 0;
        number += gap > 2 ? 2 : (uint32_t)gap;
        compact[id[p]] = number;
    }
    // the ids are needed in id[0]; their order does not matter
    memmove(broad->id[0] + first, id + first, sizeof(*id) * (size_t)level->count);
    return number;
}

// Return the cell number after cells grow 2^halved times; 0 and one cell at the end stay empty.
static uint32_t halved_cell(uint32_t number, int halved) {
    return 1 + ((number - 1) >> halved);
}

static int halved_bits(uint32_t most, int halved) {
    return broad_bit_length((uint64_t)halved_cell(most, halved) + 1);
}

// Build the keys of a level whose cells do not fit into one key: close the gaps along all axes,
// then halve the longest axis (cells of twice the size) until the bits suffice.
static void compact_keys(mabd_broad* broad, broad_level* level) {
    uint32_t* const compact = (uint32_t*)(void*)broad->sorted; // filled once all keys are sorted
    const size_t stride = (size_t)broad->geom_capacity;
    uint32_t most[3];
    int bits[3], halved[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        most[k] = close_gaps(broad, level, k, compact + (size_t)k * stride);
        bits[k] = halved_bits(most[k], 0);
    }
    while (bits[0] + bits[1] + bits[2] > KEY_BITS) {
        int k = bits[0] >= bits[1] ? 0 : 1;
        if (bits[2] > bits[k]) k = 2;
        bits[k] = halved_bits(most[k], ++halved[k]);
    }
    set_key_layout(level, BROAD_ALL_AXES, bits);
    for (int64_t p = level->first; p < level->first + level->count; p++) {
        uint64_t key = 0;
        for (int k = 0; k < 3; k++) {
            const uint32_t number = compact[(size_t)k * stride + (size_t)broad->id[0][p]];
            key |= (uint64_t)halved_cell(number, halved[k]) << level->shift[k];
        }
        broad->key[0][p] = key;
    }
}

void broad_sort_keys(mabd_broad* broad, broad_level* level) {
    const int64_t first = level->first;
    if (level->bits == KEYS_TOO_WIDE) compact_keys(broad, level);
    if (sort_keys(broad, level, level->bits) == 1) {
        // levels may end in different buffers: the search needs all in the first
        memcpy(broad->key[0] + first, broad->key[1] + first,
               sizeof(uint64_t) * (size_t)level->count);
        memcpy(broad->id[0] + first, broad->id[1] + first, sizeof(int32_t) * (size_t)level->count);
    }
    broad->key[0][first + level->count] = UINT64_MAX;
}

void broad_sort_entries(mabd_broad* broad, const broad_level* level) {
    const int64_t end = level->first + level->count;
    for (int64_t p = level->first; p < end; p++) {
        const int32_t i = broad->id[0][p];
        broad->sorted[p].box = broad->input->boxes[i];
        broad->sorted[p].geom = broad->input->geoms[i];
    }
}
