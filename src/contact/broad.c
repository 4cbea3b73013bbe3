// SPDX-License-Identifier: Apache-2.0
// Broad phase on sorted grids.
//
//   survey    read all boxes once: sizes, bounds, unbounded geoms
//   levels    octaves of box size that are in use, the fullest first; each gets a grid whose cells
//             are as large as its largest box, axis by axis. A million equal links are one level; a
//             few large cylinders among them are another. A sample of the geoms decides whether
//             merging two levels is faster and which axes a key needs (broad_sample.c).
//   keys      the cell of each box's lower corner, as one integer (z, y, x)
//   sort      radix sort by key, level by level; boxes are copied into that order
//   search    within each level by five markers over the sorted keys, across levels by hashed cells
//   pairs     radix sort of the pairs found
//
// Unbounded geoms (planes) are in no grid; each is tested against all boxes while the keys are
// computed.
//
// Cost: O(n levels + candidates). All passes read arrays in order, except the scatter of the radix
// sort and the hashed cells. Candidates are few where boxes of one size fill space at most a few
// times over; beyond that any method takes O(pairs). A pass depends on an earlier one only through
// the order that it sorted, so each pass can be divided into fixed blocks with one histogram and
// one list of pairs per block.
#include "base/error.h"
#include "contact/broad_internal.h"
#include "contact/radix_sort.h"

#include <math.h>
#include <string.h>

#define PAIRS_MAX INT32_MAX // positions in the radix sort are 32 bits wide

static int32_t greatest(int32_t a, int32_t b) {
    return a > b ? a : b;
}

// ---- create and destroy ------------------------------------------------------------------------

static void lay_out_list(broad_pair_list* list, mabd_arena* arena, int32_t bodies, int32_t pairs) {
    list->first = mabd_arena_take(arena, (size_t)bodies + 2, sizeof(int32_t));
    list->larger = mabd_arena_take(arena, (size_t)pairs, sizeof(int32_t));
}

static void lay_out(mabd_broad* broad, mabd_arena* arena, const mabd_broad_def* def) {
    const size_t n = (size_t)def->geom_capacity, places = n + BROAD_LEVELS_MAX;
    lay_out_list(&broad->excluded, arena, def->body_count, def->exclusion_count);
    if (def->member_count > 0) {
        lay_out_list(&broad->exceptions, arena, def->body_count, def->exception_count);
        broad->member_first = mabd_arena_take(arena, (size_t)def->body_count + 1, sizeof(int32_t));
        broad->member_group = mabd_arena_take(arena, (size_t)def->member_count, sizeof(int32_t));
    }
    broad->bin = mabd_arena_take(arena, n, sizeof(uint16_t));
    for (int k = 0; k < 2; k++) broad->key[k] = mabd_arena_take(arena, places, sizeof(uint64_t));
    for (int k = 0; k < 2; k++) broad->id[k] = mabd_arena_take(arena, places, sizeof(int32_t));
    broad->sorted = mabd_arena_take(arena, places, sizeof(broad_entry));
    broad->bucket_first = mabd_arena_take(arena, 2 * n + 17, sizeof(int32_t));
    broad->bucket = mabd_arena_take(arena, n, sizeof(int32_t));
    broad->bin_count = mabd_arena_take(arena, BROAD_BINS, sizeof(int32_t));
    broad->bin_extent = mabd_arena_take(arena, BROAD_BINS, sizeof(*broad->bin_extent));
    broad->bin_level = mabd_arena_take(arena, BROAD_BINS, sizeof(uint8_t));
    broad->scratch = mabd_arena_take(arena, 1, mabd_radix_scratch_bytes());
}

static mabd_status check_pairs(const mabd_broad_def* def, int32_t count,
                               const int32_t (*pairs)[2]) {
    if (count < 0) return MABD_ERR_ARG;
    for (int32_t k = 0; k < count; k++) {
        for (int side = 0; side < 2; side++) {
            const int32_t body = pairs[k][side];
            if (body < -1 || body >= def->body_count) return MABD_ERR_ARG;
        }
    }
    return MABD_OK;
}

static mabd_status check_members(const mabd_broad_def* def) {
    if (def->member_count < 0) return MABD_ERR_ARG;
    for (int32_t k = 0; k < def->member_count; k++) {
        const int32_t* m = def->members[k];
        if (m[0] < 0 || m[0] >= def->body_count) return MABD_ERR_ARG;
        const bool rises = k == 0 || m[-2] < m[0] || (m[-2] == m[0] && m[-1] < m[1]);
        if (!rises) return MABD_ERR_ARG;
    }
    return MABD_OK;
}

static mabd_status check_def(const mabd_broad_def* def) {
    if (def->geom_capacity < 0 || def->body_count < 0 || def->pair_capacity < 0)
        return MABD_ERR_ARG;
    MABD_TRY(check_pairs(def, def->exclusion_count, def->exclusions));
    MABD_TRY(check_pairs(def, def->exception_count, def->exceptions));
    return check_members(def);
}

// Store pairs of bodies as sorted lists of larger bodies, indexed by the smaller one.
static mabd_status fill_list(mabd_broad* broad, int32_t count, const int32_t (*pairs)[2],
                             broad_pair_list* list) {
    const size_t bytes = mabd_bytes((size_t)count, sizeof(uint64_t));
    uint64_t* const key[2] = {mabd_alloc(&broad->allocator, bytes),
                              mabd_alloc(&broad->allocator, bytes)};
    const bool taken = key[0] != NULL && key[1] != NULL;
    if (taken) {
        const int bits = broad_bit_length((uint64_t)broad->body_count + 1);
        for (int32_t k = 0; k < count; k++) {
            const int32_t a = pairs[k][0], b = pairs[k][1];
            const uint64_t large = (uint64_t)(greatest(a, b) + 1),
                           small = (uint64_t)(a + b + 2) - large;
            key[0][k] = small << bits | large;
            list->first[small + 1]++;
            if (small > 0) list->reach = greatest(list->reach, (int32_t)(large - small));
        }
        const uint64_t* sorted = key[mabd_radix_sort(count, 2 * bits, key, NULL, broad->scratch)];
        for (int32_t k = 0; k < count; k++) {
            list->larger[k] = (int32_t)(sorted[k] & ((UINT64_C(1) << bits) - 1)) - 1;
        }
        for (int32_t b = 0; b <= broad->body_count; b++) list->first[b + 1] += list->first[b];
    }
    for (int k = 0; k < 2; k++) mabd_free(&broad->allocator, key[k], bytes);
    return taken ? MABD_OK : MABD_ERR_MEMORY;
}

static mabd_status fill_lists(mabd_broad* broad, const mabd_broad_def* def) {
    MABD_TRY(fill_list(broad, def->exclusion_count, def->exclusions, &broad->excluded));
    broad->member_count = def->member_count;
    if (def->member_count == 0) return MABD_OK;
    for (int32_t k = 0; k < def->member_count; k++) {
        broad->member_first[def->members[k][0] + 1]++;
        broad->member_group[k] = def->members[k][1];
    }
    for (int32_t b = 0; b < def->body_count; b++) {
        broad->member_first[b + 1] += broad->member_first[b];
    }
    return fill_list(broad, def->exception_count, def->exceptions, &broad->exceptions);
}

static size_t pair_bytes(int64_t pairs) {
    return mabd_bytes((size_t)pairs, sizeof(uint64_t));
}

static int64_t first_pairs(const mabd_broad_def* def) {
    return def->pair_capacity != 0 ? def->pair_capacity : 2 * (int64_t)def->geom_capacity;
}

// Compute the bytes of the arena, which holds everything but the pairs; SIZE_MAX if they overflow.
static size_t arena_bytes(const mabd_broad_def* def) {
    mabd_broad count = {0};
    mabd_arena arena = {0};
    mabd_arena_take(&arena, 1, sizeof(count));
    lay_out(&count, &arena, def);
    return arena.used;
}

size_t mabd_broad_bytes_for(const mabd_broad_def* def) {
    const size_t arena = arena_bytes(def), pairs = pair_bytes(first_pairs(def));
    if (arena == SIZE_MAX || pairs > (SIZE_MAX - arena) / 2) return SIZE_MAX;
    return arena + 2 * pairs;
}

mabd_status mabd_broad_create(const mabd_allocator* allocator, const mabd_broad_def* def,
                              mabd_broad** out) {
    *out = NULL;
    MABD_TRY(check_def(def));
    const size_t bytes = arena_bytes(def);
    char* memory = bytes == SIZE_MAX ? NULL : mabd_alloc(allocator, bytes);
    if (memory == NULL) return MABD_ERR_MEMORY;

    mabd_arena arena = {.memory = memory, .size = bytes};
    mabd_broad* broad = mabd_arena_take(&arena, 1, sizeof(*broad));
    lay_out(broad, &arena, def);
    broad->allocator = *allocator;
    broad->bytes = arena.size;
    broad->geom_capacity = def->geom_capacity;
    broad->body_count = def->body_count;
    mabd_status status = fill_lists(broad, def);
    if (status == MABD_OK) status = mabd_broad_reserve(broad, first_pairs(def));
    if (status != MABD_OK) {
        mabd_broad_destroy(broad);
        return status;
    }
    *out = broad;
    return MABD_OK;
}

void mabd_broad_destroy(mabd_broad* broad) {
    if (broad == NULL) return;
    const mabd_allocator allocator = broad->allocator;
    for (int k = 0; k < 2; k++) {
        mabd_free(&allocator, broad->raw[k], pair_bytes(broad->pair_capacity));
    }
    mabd_free(&allocator, broad, broad->bytes);
}

mabd_status mabd_broad_reserve(mabd_broad* broad, int64_t pairs) {
    if (pairs <= broad->pair_capacity) return MABD_OK;
    if (pairs > PAIRS_MAX) return MABD_ERR_MEMORY;
    uint64_t* const raw[2] = {mabd_alloc(&broad->allocator, pair_bytes(pairs)),
                              mabd_alloc(&broad->allocator, pair_bytes(pairs))};
    const bool taken = raw[0] != NULL && raw[1] != NULL;
    for (int k = 0; k < 2; k++) {
        if (!taken) {
            mabd_free(&broad->allocator, raw[k], pair_bytes(pairs));
            continue;
        }
        mabd_free(&broad->allocator, broad->raw[k], pair_bytes(broad->pair_capacity));
        broad->raw[k] = raw[k];
    }
    if (!taken) return MABD_ERR_MEMORY;
    broad->pair_capacity = pairs;
    return MABD_OK;
}

size_t mabd_broad_bytes(const mabd_broad* broad) {
    return broad->bytes + 2 * pair_bytes(broad->pair_capacity);
}

// ---- update ------------------------------------------------------------------------------------

static mabd_status refuse(const mabd_broad_input* input, int32_t geom, const char* why,
                          mabd_broad_result* result, mabd_error* error) {
    result->bad_geom = geom;
    return mabd_fail_at(error, MABD_ERR_ARG, input->geoms[geom].body, -1, 0, "geom %d: %s",
                        (int)geom, why);
}

static mabd_status check_planes(const mabd_broad* broad, const mabd_broad_input* input,
                                mabd_broad_result* result, mabd_error* error) {
    for (int32_t k = 0; k < input->plane_count; k++) {
        const mabd_broad_plane* const plane = &input->planes[k];
        if (plane->geom < (k > 0 ? plane[-1].geom + 1 : 0) || plane->geom >= input->geom_count) {
            return mabd_fail(error, MABD_ERR_ARG, "plane %d: geoms must rise, below %d", (int)k,
                             (int)input->geom_count);
        }
        const mabd_real* const n = plane->normal;
        const mabd_real size = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        if (!(size > 0 && isfinite(size) && isfinite(plane->offset))) {
            return refuse(input, plane->geom, "a plane needs a finite normal and offset", result,
                          error);
        }
        if (broad->bin[plane->geom] != BROAD_UNBOUNDED) {
            return refuse(input, plane->geom, "the box of a plane must be infinite", result, error);
        }
    }
    return MABD_OK;
}

static void find_pairs(mabd_broad* broad) {
    broad_choose_levels(broad);
    broad_fill_keys(broad);
    for (int32_t l = 0; l < broad->level_count; l++) broad_sort_keys(broad, &broad->levels[l]);
    for (int32_t l = 0; l < broad->level_count; l++) {
        broad_sort_entries(broad, &broad->levels[l]);
        broad_search_level(broad, &broad->levels[l]);
    }
    for (int32_t l = 1; l < broad->level_count; l++) broad_search_finer(broad, l);
}

// Sort the packed pairs and write them as pairs into the free buffer.
static const mabd_broad_pair* sort_pairs(mabd_broad* broad) {
    const int shift = broad->pair_shift;
    const uint64_t mask = (UINT64_C(1) << shift) - 1;
    const int now = mabd_radix_sort(broad->raw_count, 2 * shift, broad->raw, NULL, broad->scratch);
    const uint64_t* const sorted = broad->raw[now];
    mabd_broad_pair* const pairs = (mabd_broad_pair*)(void*)broad->raw[1 - now];
    for (int64_t k = 0; k < broad->raw_count; k++) {
        pairs[k].i = (int32_t)(sorted[k] >> shift);
        pairs[k].j = (int32_t)(sorted[k] & mask);
    }
    return pairs;
}

mabd_status mabd_broad_update(mabd_broad* broad, const mabd_broad_input* input,
                              mabd_broad_result* result, mabd_error* error) {
    *result = (mabd_broad_result){.bad_geom = -1};
    if (input->geom_count < 0 || input->geom_count > broad->geom_capacity) {
        return mabd_fail(error, MABD_ERR_ARG, "%d geoms, room for %d", (int)input->geom_count,
                         (int)broad->geom_capacity);
    }
    broad->input = input;
    broad->raw_count = 0;
    broad->pair_shift = broad_bit_length((uint64_t)input->geom_count);
    const int32_t bad = broad_survey(broad);
    if (bad >= 0) return refuse(input, bad, "its box is not a number or inside out", result, error);
    MABD_TRY(check_planes(broad, input, result, error));

    find_pairs(broad);
    result->count = broad->raw_count;
    result->level_count = broad->level_count;
    result->unbounded_count = broad->unbounded_count;
    if (broad->raw_count > broad->pair_capacity) {
        return mabd_fail(error, MABD_ERR_MEMORY, "%lld pairs of geoms, room for %lld",
                         (long long)broad->raw_count, (long long)broad->pair_capacity);
    }
    result->pairs = sort_pairs(broad);
    return MABD_OK;
}
