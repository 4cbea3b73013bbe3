// SPDX-License-Identifier: Apache-2.0
// Tiles and packs: built once, from the model alone. The same walk is made twice, to count and to fill.

#include "cpu/pack.h"

#include "cpu/sim.h"

#include <string.h>

// Bodies of a pack lie at most so far apart: a tile of bodies that are all different is not searched over and over.
#define WINDOW 128

typedef struct walk {
    const mabd_model* model;
    const uint8_t* kinds;
    mabd_packs* out; // arrays are null while counting
    uint8_t packed[MABD_TILE_BODIES];
} walk;

static bool may_be_packed(const walk* w, int32_t body) {
    const int32_t* start = w->model->plan->side_start;
    return w->model->body_motion[body] == MABD_MOTION_DYNAMIC &&
           (w->kinds[body] == MABD_BODY_SIMPLE || w->kinds[body] == MABD_BODY_ROWS) &&
           start[body + 1] - start[body] <= MABD_PACK_SIDES;
}

static bool are_sides_alike(const mabd_model* m, int32_t a, int32_t b) {
    const mabd_plan* plan = m->plan;
    const mabd_plan_side *of_a = plan->sides + a, *of_b = plan->sides + b;
    return of_a->is_b == of_b->is_b && m->joints[plan->slot_joint[of_a->slot]].row_set ==
                                           m->joints[plan->slot_joint[of_b->slot]].row_set;
}

static bool are_alike(const walk* w, int32_t a, int32_t b) {
    const mabd_model* m = w->model;
    const int32_t* start = m->plan->side_start;
    const int32_t count = start[a + 1] - start[a];
    bool alike = may_be_packed(w, b) && w->kinds[a] == w->kinds[b] &&
                 m->body_class[a] == m->body_class[b] && start[b + 1] - start[b] == count;
    if (!alike || w->kinds[a] == MABD_BODY_SIMPLE) return alike;
    for (int32_t i = 0; i < count; i++) alike &= are_sides_alike(m, start[a] + i, start[b] + i);
    return alike;
}

// ---- packs -------------------------------------------------------------------------------------------

static void fill_side(const mabd_model* m, const mabd_pack* pack, int32_t place,
                      mabd_pack_side* side) {
    const mabd_plan* plan = m->plan;
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_plan_side* at = &plan->sides[plan->side_start[pack->body[l]] + place];
        const mabd_model_joint* joint = &m->joints[plan->slot_joint[at->slot]];
        const mabd_real* X = at->is_b ? joint->Xb : joint->Xa;
        for (int k = 0; k < 3; k++) side->X[k].at[l] = X[k];
        side->sign.at[l] = at->is_b ? 1 : -1;
        side->block[l] = plan->slot_block[at->slot];
        side->row[l] = plan->slot_row[at->slot];
    }
}

static void fill_far(const mabd_model* m, const mabd_pack* pack, int32_t place,
                     mabd_pack_far* far) {
    const mabd_plan* plan = m->plan;
    far->one_frame = true;
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_plan_side* at = &plan->sides[plan->side_start[pack->body[l]] + place];
        const mabd_model_joint* joint = &m->joints[plan->slot_joint[at->slot]];
        const int32_t body = at->is_b ? joint->a : joint->b;
        mabd_lane_put_v3(mabd_v3_load(at->is_b ? joint->Xa : joint->Xb), far->X, l);
        far->body[l] = body, far->frame[l] = joint->frame;
        far->row_set = joint->row_set, far->is_b = at->is_b;
        far->one_frame &= far->frame[l] == far->frame[0];
        if (m->body_motion[body] != MABD_MOTION_DYNAMIC) continue;
        const mabd_body_material* of = &m->classes[m->body_class[body]].material;
        far->soft.at[l] = 1 / (2 * of->mu);
        far->share.at[l] = of->lambda / (2 * of->mu + 3 * of->lambda);
    }
}

static void fill_pair(const mabd_model* m, const mabd_pack* pack, int32_t place,
                      mabd_pack_pair* pair) {
    const mabd_plan* plan = m->plan;
    for (int l = 0; l < MABD_LANES; l++) {
        const int32_t edge = plan->pairs[plan->pair_start[pack->body[l]] + place].edge;
        pair->block[l] = plan->edge_block[edge];
    }
}

static void add_pack(walk* w, mabd_pack* pack) {
    mabd_packs* out = w->out;
    const int32_t sides = pack->side_count, pairs = sides * (sides - 1) / 2;
    const int32_t fars = pack->kind == MABD_BODY_ROWS ? sides : 0;
    pack->side_first = out->side_count, pack->pair_first = out->pair_count;
    pack->far_first = out->far_count;
    if (out->packs) {
        out->packs[out->pack_count] = *pack;
        for (int32_t i = 0; i < sides; i++) {
            fill_side(w->model, pack, i, &out->sides[out->side_count + i]);
        }
        for (int32_t i = 0; i < fars; i++) {
            fill_far(w->model, pack, i, &out->fars[out->far_count + i]);
        }
        for (int32_t i = 0; i < pairs; i++) {
            fill_pair(w->model, pack, i, &out->pairs[out->pair_count + i]);
        }
    }
    out->pack_count++;
    out->side_count += sides;
    out->far_count += fars;
    out->pair_count += pairs;
}

// The pack that begins with a body: it and those like it that come next.
static void pack_from(walk* w, const mabd_tile* tile, int32_t body) {
    const mabd_model* m = w->model;
    mabd_pack pack = {.body_class = m->body_class[body], .kind = w->kinds[body]};
    pack.side_count = m->plan->side_start[body + 1] - m->plan->side_start[body];
    int32_t end = body + WINDOW < tile->body_last ? body + WINDOW : tile->body_last;
    for (int32_t i = body; i < end && pack.count < MABD_LANES; i++) {
        if (w->packed[i - tile->body_first] || !are_alike(w, body, i)) continue;
        w->packed[i - tile->body_first] = 1;
        pack.body[pack.count++] = i;
    }
    for (int32_t l = pack.count; l < MABD_LANES; l++) pack.body[l] = pack.body[pack.count - 1];
    add_pack(w, &pack);
}

static void make_tile(walk* w, int32_t first, int32_t last) {
    const mabd_model* m = w->model;
    mabd_packs* out = w->out;
    mabd_tile tile = {.body_first = first, .body_last = last};
    memset(w->packed, 0, sizeof w->packed);
    tile.pack_first = out->pack_count, tile.odd_first = out->odd_count;
    for (int32_t i = first; i < last; i++) {
        if (w->packed[i - first] || m->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        if (may_be_packed(w, i)) {
            pack_from(w, &tile, i);
        } else {
            if (out->odd) out->odd[out->odd_count] = i;
            out->odd_count++;
        }
    }
    tile.pack_last = out->pack_count, tile.odd_last = out->odd_count;
    if (out->tiles) out->tiles[out->tile_count] = tile;
    out->tile_count++;
}

static void make_tiles(walk* w) {
    mabd_packs* out = w->out;
    const int32_t bodies = w->model->body_count;
    out->tile_count = out->pack_count = out->side_count = out->pair_count = out->odd_count = 0;
    out->far_count = 0;
    for (int32_t first = 0; first < bodies; first += MABD_TILE_BODIES) {
        const int32_t last = bodies - first < MABD_TILE_BODIES ? bodies : first + MABD_TILE_BODIES;
        make_tile(w, first, last);
    }
}

// ---- sides -------------------------------------------------------------------------------------------

// Sides go apart by number; those of one body rise, and so do bodies.
static void count_aparts(const mabd_model* m, mabd_packs* out) {
    const mabd_plan* plan = m->plan;
    out->apart_count = 0, out->apart_reals = 0;
    for (int32_t body = 0; body < m->body_count; body++) {
        for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
            const int32_t slot = plan->sides[s].slot;
            if (plan->sides[s].is_b < 0) continue;
            const mabd_model_joint* joint = &m->joints[plan->slot_joint[slot]];
            const int32_t other = plan->sides[s].is_b ? joint->a : joint->b;
            if (m->body_motion[other] != MABD_MOTION_DYNAMIC || other > body ||
                other / MABD_TILE_BODIES == body / MABD_TILE_BODIES) {
                continue;
            }
            const size_t width = (size_t)plan->slot_width[slot];
            if (out->aparts) {
                const mabd_apart apart = {s, slot, out->apart_reals};
                out->aparts[out->apart_count] = apart;
                out->side_mode[s] = MABD_SIDE_APART;
            }
            out->apart_count++;
            out->apart_reals += width * width + width;
        }
    }
}

// One body in the order of its tile. `seen` (slots): the slot has had a side.
static void find_modes(const mabd_model* m, const mabd_packs* out, int32_t body, bool* seen) {
    const mabd_plan* plan = m->plan;
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        const int32_t slot = plan->sides[s].slot;
        if (plan->sides[s].is_b < 0 || out->side_mode[s] == MABD_SIDE_APART) continue;
        const mabd_model_joint* joint = &m->joints[plan->slot_joint[slot]];
        const int32_t other = plan->sides[s].is_b ? joint->a : joint->b;
        const bool ground = m->body_motion[other] != MABD_MOTION_DYNAMIC;
        out->side_mode[s] = (uint8_t)(ground       ? MABD_SIDE_GROUND
                                      : seen[slot] ? MABD_SIDE_ADD
                                                   : MABD_SIDE_FIRST);
        seen[slot] = true;
    }
}

static void find_all_modes(const mabd_model* m, const mabd_packs* out, bool* seen) {
    for (int32_t t = 0; t < out->tile_count; t++) {
        const mabd_tile* tile = &out->tiles[t];
        for (int32_t p = tile->pack_first; p < tile->pack_last; p++) {
            const mabd_pack* pack = &out->packs[p];
            for (int32_t l = 0; l < pack->count; l++) find_modes(m, out, pack->body[l], seen);
        }
        for (int32_t i = tile->odd_first; i < tile->odd_last; i++) {
            find_modes(m, out, out->odd[i], seen);
        }
    }
}

static bool begins_joint(uint8_t mode) {
    return mode == MABD_SIDE_FIRST || mode == MABD_SIDE_GROUND;
}

// What the sides of packs have to know of it.
static void write_modes(const mabd_model* m, const mabd_packs* out) {
    const mabd_plan* plan = m->plan;
    for (int32_t p = 0; p < out->pack_count; p++) {
        const mabd_pack* pack = &out->packs[p];
        for (int32_t i = 0; i < pack->side_count; i++) {
            mabd_pack_side* side = &out->sides[pack->side_first + i];
            for (int l = 0; l < MABD_LANES; l++) {
                const int32_t s = plan->side_start[pack->body[l]] + i;
                side->mode[l] = out->side_mode[s];
                const mabd_apart* apart = mabd_packs_apart(out, s);
                if (apart) side->block[l] = apart->offset;
                if (pack->kind != MABD_BODY_ROWS) continue;
                out->fars[pack->far_first + i].begins |= begins_joint(side->mode[l]);
            }
        }
    }
}

// ---- memory ------------------------------------------------------------------------------------------

static void layout(const mabd_model* m, mabd_packs* p, mabd_arena* arena) {
    const size_t sides = (size_t)m->plan->side_start[m->plan->body_count];
    p->tiles = mabd_arena_take(arena, (size_t)p->tile_count, sizeof *p->tiles);
    p->packs = mabd_arena_take(arena, (size_t)p->pack_count, sizeof *p->packs);
    p->sides = mabd_arena_take(arena, (size_t)p->side_count, sizeof *p->sides);
    p->fars = mabd_arena_take(arena, (size_t)p->far_count, sizeof *p->fars);
    p->pairs = mabd_arena_take(arena, (size_t)p->pair_count, sizeof *p->pairs);
    p->odd = mabd_arena_take(arena, (size_t)p->odd_count, sizeof *p->odd);
    p->side_mode = mabd_arena_take(arena, sides, sizeof *p->side_mode);
    p->aparts = mabd_arena_take(arena, (size_t)p->apart_count, sizeof *p->aparts);
    p->apart = mabd_arena_take(arena, p->apart_reals, sizeof *p->apart);
}

// Counts, and the bytes of all: the head, then the arrays.
static size_t measure(walk* w) {
    mabd_arena arena = {0};
    make_tiles(w);
    count_aparts(w->model, w->out);
    layout(w->model, w->out, &arena);
    const size_t head = mabd_bytes(sizeof(mabd_packs), 1);
    return arena.used > SIZE_MAX - head ? SIZE_MAX : arena.used + head;
}

size_t mabd_packs_bytes_for(const mabd_model* model, const uint8_t* kinds) {
    mabd_packs counts = {0};
    walk w = {.model = model, .kinds = kinds, .out = &counts};
    return measure(&w);
}

mabd_status mabd_packs_create(const mabd_allocator* allocator, const mabd_model* model,
                              const uint8_t* kinds, mabd_packs** packs) {
    mabd_packs counts = {0};
    walk w = {.model = model, .kinds = kinds, .out = &counts};
    const size_t bytes = measure(&w), head = mabd_bytes(sizeof counts, 1);
    const size_t slots = (size_t)model->plan->slot_count;
    *packs = NULL;
    if (bytes == SIZE_MAX) return MABD_ERR_MEMORY;
    mabd_packs* out = mabd_alloc(allocator, bytes);
    bool* seen = mabd_alloc(allocator, slots);
    if (out && seen) {
        mabd_arena arena = {.memory = (char*)out + head, .size = bytes - head};
        *out = counts;
        out->bytes = bytes;
        layout(model, out, &arena);
        w.out = out;
        make_tiles(&w);
        count_aparts(model, out);
        find_all_modes(model, out, seen);
        write_modes(model, out);
        *packs = out;
    } else {
        mabd_free(allocator, out, bytes);
    }
    mabd_free(allocator, seen, slots);
    return *packs ? MABD_OK : MABD_ERR_MEMORY;
}

void mabd_packs_destroy(const mabd_allocator* allocator, mabd_packs* packs) {
    if (packs) mabd_free(allocator, packs, packs->bytes);
}

const mabd_apart* mabd_packs_apart(const mabd_packs* packs, int32_t side) {
    int32_t low = 0, high = packs->apart_count;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (packs->aparts[middle].side < side) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = low < packs->apart_count && packs->aparts[low].side == side;
    return found ? &packs->aparts[low] : NULL;
}
