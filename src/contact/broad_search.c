// SPDX-License-Identifier: Apache-2.0
// The searches of the broad phase (see broad.c).
//
// Within a level the geoms are sorted by cell, x fastest. Of the 27 cells around a geom the 13 that
// come after its own form five ranges of consecutive keys: the rest of its own row, and three cells
// in each of four rows ahead. As the geom advances, each range only moves forward, so five markers
// sweep the sorted list once: no table and no look-up.
//
//      row y+1, z        [x-1 x x+1]                 and rows y-1, y, y+1 of z+1
//      row y,   z             [x x+1]
//
// Across levels the members of the coarser level are hashed by the cell of their lower corner. A
// finer box with corners in the cells a and b (equal or neighbours) overlaps only members whose
// corner is in cells a - 1 .. b.
#include "contact/broad_internal.h"

#include <string.h>

#define CELLS_MAX 27

// Compute the offsets from a key to the first cell of each range ahead and return their number.
// With fewer than three axes there are fewer rows.
static int runs_ahead(const broad_level* level, uint64_t ahead[4]) {
    uint64_t unit[3];
    int axes = 0;
    for (int k = 0; k < 3; k++) {
        if (level->axes >> k & 1) unit[axes++] = UINT64_C(1) << level->shift[k];
    }
    if (axes < 2) return 0;
    ahead[0] = unit[1] - 1;
    if (axes < 3) return 1;
    ahead[1] = unit[2] - unit[1] - 1;
    ahead[2] = unit[2] - 1;
    ahead[3] = unit[2] + unit[1] - 1;
    return 4;
}

void broad_search_level(mabd_broad* broad, const broad_level* level) {
    const uint64_t* const key = broad->key[0];
    const int64_t first = level->first, end = first + level->count;
    int64_t marker[4] = {first, first, first, first};
    uint64_t ahead[4];
    const int runs = runs_ahead(level, ahead);
    for (int64_t p = first; p < end; p++) {
        const uint64_t own = key[p];
        for (int64_t q = p + 1; key[q] <= own + 1; q++) broad_test(broad, p, q);
        for (int r = 0; r < runs; r++) {
            const uint64_t from = own + ahead[r];
            int64_t q = marker[r];
            while (key[q] < from) q++;
            marker[r] = q;
            for (; key[q] <= from + 2; q++) broad_test(broad, p, q);
        }
    }
}

// ---- across levels -----------------------------------------------------------------------------

typedef struct cell_table {
    const broad_level* level;
    uint64_t mask;
    int32_t* first;     // (mask + 2) into members
    int32_t* members;   // places in the sorted arrays
    mabd_broad_box box; // around all members
} cell_table;

typedef struct cell_query {
    int64_t from[3], to[3]; // queried cells
    int32_t count;          // number of ranges of members
    int32_t first[CELLS_MAX], end[CELLS_MAX];
} cell_query;

static uint64_t bucket_of(const cell_table* table, int64_t x, int64_t y, int64_t z) {
    uint64_t h = (uint64_t)x * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 32 ^ (uint64_t)y) * UINT64_C(0xC2B2AE3D27D4EB4F);
    h = (h ^ h >> 32 ^ (uint64_t)z) * UINT64_C(0x165667B19E3779F9);
    return (h ^ h >> 32) & table->mask;
}

static uint64_t member_bucket(const cell_table* table, const mabd_broad_box* box) {
    const broad_level* const level = table->level;
    return bucket_of(table, broad_cell(level, 0, (double)box->lo[0]),
                     broad_cell(level, 1, (double)box->lo[1]),
                     broad_cell(level, 2, (double)box->lo[2]));
}

static void grow_box(mabd_broad_box* box, const mabd_broad_box* by) {
    for (int k = 0; k < 3; k++) {
        if (by->lo[k] < box->lo[k]) box->lo[k] = by->lo[k];
        if (by->hi[k] > box->hi[k]) box->hi[k] = by->hi[k];
    }
}

static cell_table build_table(mabd_broad* broad, const broad_level* level) {
    cell_table table = {.level = level,
                        .mask = 15,
                        .first = broad->bucket_first,
                        .members = broad->bucket,
                        .box = broad->sorted[level->first].box};
    while (table.mask + 1 < (uint64_t)level->count) table.mask = 2 * table.mask + 1;
    memset(table.first, 0, sizeof(int32_t) * (size_t)(table.mask + 2));
    const int64_t begin = level->first, end = begin + level->count;
    for (int64_t p = begin; p < end; p++) {
        table.first[member_bucket(&table, &broad->sorted[p].box)]++;
        grow_box(&table.box, &broad->sorted[p].box);
    }
    // first = end of each bucket, counted down to its start while it is filled
    for (uint64_t h = 0; h <= table.mask; h++) table.first[h + 1] += table.first[h];
    for (int64_t p = end - 1; p >= begin; p--) {
        table.members[--table.first[member_bucket(&table, &broad->sorted[p].box)]] = (int32_t)p;
    }
    return table;
}

static void add_bucket(const cell_table* table, uint64_t bucket, cell_query* query) {
    const int32_t first = table->first[bucket], end = table->first[bucket + 1];
    if (first == end) return;
    for (int32_t k = 0; k < query->count; k++) {
        if (query->first[k] == first) return; // two cells in one bucket
    }
    query->first[query->count] = first;
    query->end[query->count++] = end;
}

static void run_query(const cell_table* table, cell_query* query) {
    query->count = 0;
    for (int64_t z = query->from[2]; z <= query->to[2]; z++) {
        for (int64_t y = query->from[1]; y <= query->to[1]; y++) {
            for (int64_t x = query->from[0]; x <= query->to[0]; x++) {
                add_bucket(table, bucket_of(table, x, y, z), query);
            }
        }
    }
}

// Find the buckets near a box; reuse those of the last query if the cells are the same.
static void ask(const cell_table* table, const mabd_broad_box* box, cell_query* query) {
    bool same = true;
    for (int k = 0; k < 3; k++) {
        const int64_t from = broad_cell(table->level, k, (double)box->lo[k]) - 1;
        const int64_t to = broad_cell(table->level, k, (double)box->hi[k]);
        same = same && query->from[k] == from && query->to[k] == to;
        query->from[k] = from, query->to[k] = to;
    }
    if (!same) run_query(table, query);
}

static void offer_buckets(mabd_broad* broad, const cell_table* table, const cell_query* query,
                          int64_t p) {
    for (int32_t k = 0; k < query->count; k++) {
        for (int32_t m = query->first[k]; m < query->end[k]; m++) {
            broad_test(broad, p, table->members[m]);
        }
    }
}

void broad_search_finer(mabd_broad* broad, int32_t level) {
    const cell_table table = build_table(broad, &broad->levels[level]);
    cell_query query = {.from = {-2, -2, -2}}; // no cell of any box
    for (int32_t l = 0; l < level; l++) {
        const int64_t end = broad->levels[l].first + broad->levels[l].count;
        for (int64_t p = broad->levels[l].first; p < end; p++) {
            if (!broad_overlap(&broad->sorted[p].box, &table.box)) continue;
            ask(&table, &broad->sorted[p].box, &query);
            offer_buckets(broad, &table, &query, p);
        }
    }
}
