// SPDX-License-Identifier: Apache-2.0
// Tiles and packs: built once, from the model only. The same walk runs twice, to count and to fill.

#include "formulation/affine/cpu/pack.h"

#include "formulation/affine/dual_select.h"
#include "formulation/affine/element/side_share.h"
#include "formulation/affine/limits.h"

#include <string.h>

typedef struct walk {
    const mabd_model* model;
    const uint8_t* kinds;
    mabd_affine_packs* out; // arrays are null while counting
    int32_t* segment_at;    // (bodies) the slot before a body that starts a segment, else -1
    int32_t* tile_of;       // (bodies)
    int32_t* span_of;       // (bodies) first body of its tile, or of its lane of a segment
    uint8_t packed[MABD_TILE_BODIES];
} walk;

static const mabd_model_joint* side_joint(const mabd_model* m, int32_t side) {
    return &m->joints[m->plan->slot_joint[m->plan->sides[side].slot]];
}

// True if a body with springs can be packed: all its joints are balls or in groups.
static bool has_lane_joints(const walk* w, int32_t body) {
    const mabd_model* m = w->model;
    for (int32_t s = m->plan->side_start[body]; s < m->plan->side_start[body + 1]; s++) {
        const mabd_model_joint* joint = side_joint(m, s);
        if (m->row_sets[joint->row_set].points_only) continue;
        if (!mabd_affine_is_spring_joint(m, w->kinds, joint)) return false;
    }
    return true;
}

static bool may_be_packed(const walk* w, int32_t body) {
    const int32_t* start = w->model->plan->side_start;
    if (w->model->body_motion[body] != MABD_MOTION_DYNAMIC) return false;
    if (start[body + 1] - start[body] > MABD_PACK_SIDES) return false;
    return w->kinds[body] == MABD_BODY_SIMPLE || w->kinds[body] == MABD_BODY_ROWS ||
           (w->kinds[body] == MABD_BODY_SPRUNG && has_lane_joints(w, body));
}

static bool are_sides_alike(const mabd_model* m, bool sprung, int32_t a, int32_t b) {
    const mabd_plan* plan = m->plan;
    if (sprung) {
        return plan->slot_width[plan->sides[a].slot] == plan->slot_width[plan->sides[b].slot];
    }
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
    const bool sprung = w->kinds[a] == MABD_BODY_SPRUNG;
    for (int32_t i = 0; i < count; i++) {
        alike &= are_sides_alike(m, sprung, start[a] + i, start[b] + i);
    }
    return alike;
}

// ---- packs ----

static void fill_side(const mabd_model* m, const int32_t* body, int32_t place,
                      mabd_affine_pack_side* side) {
    const mabd_plan* plan = m->plan;
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_plan_side* at = &plan->sides[plan->side_start[body[l]] + place];
        const mabd_model_joint* joint = &m->joints[plan->slot_joint[at->slot]];
        const mabd_real* X = at->is_b ? joint->Xb : joint->Xa;
        for (int k = 0; k < 3; k++) side->X[k].at[l] = X[k];
        side->sign.at[l] = at->is_b ? 1 : -1;
        side->block[l] = plan->slot_block[at->slot];
        side->row[l] = plan->slot_row[at->slot];
        side->width = plan->slot_width[at->slot];
        side->spring[l] = joint->coordinate;
        side->row_set[l] = joint->row_set;
    }
}

// Set soft and share (mabd_affine_strain_of) of a lane.
static void put_material(const mabd_body_material* of, mabd_lanes* soft, mabd_lanes* share, int l) {
    soft->at[l] = 1 / (2 * of->mu);
    share->at[l] = of->lambda / (2 * of->mu + 3 * of->lambda);
}

static void fill_far(const mabd_model* m, const mabd_affine_pack* pack, int32_t place,
                     mabd_affine_pack_other* far) {
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
        put_material(&m->classes[m->body_class[body]].material, &far->soft, &far->share, l);
    }
}

static void fill_pair(const mabd_model* m, const mabd_affine_pack* pack, int32_t place,
                      mabd_affine_pack_pair* pair) {
    const mabd_plan* plan = m->plan;
    for (int l = 0; l < MABD_LANES; l++) {
        const int32_t edge = plan->pairs[plan->pair_start[pack->body[l]] + place].edge;
        pair->block[l] = plan->edge_block[edge];
    }
}

static void add_pack(walk* w, mabd_affine_pack* pack) {
    mabd_affine_packs* out = w->out;
    const int32_t sides = pack->side_count, pairs = sides * (sides - 1) / 2;
    const int32_t fars = pack->kind == MABD_BODY_ROWS ? sides : 0;
    pack->side_first = out->side_count, pack->pair_first = out->pair_count;
    pack->other_first = out->other_count;
    if (out->packs) {
        out->packs[out->pack_count] = *pack;
        for (int32_t i = 0; i < sides; i++) {
            fill_side(w->model, pack->body, i, &out->sides[out->side_count + i]);
        }
        for (int32_t i = 0; i < fars; i++) {
            fill_far(w->model, pack, i, &out->others[out->other_count + i]);
        }
        for (int32_t i = 0; i < pairs; i++) {
            fill_pair(w->model, pack, i, &out->pairs[out->pair_count + i]);
        }
    }
    out->pack_count++;
    out->side_count += sides;
    out->other_count += fars;
    out->pair_count += pairs;
}

// Create the pack that starts with a body: the body and the following ones that match it.
static void pack_from(walk* w, const mabd_affine_tile* tile, int32_t body) {
    const mabd_model* m = w->model;
    mabd_affine_pack pack = {.body_class = m->body_class[body], .kind = w->kinds[body]};
    pack.side_count = m->plan->side_start[body + 1] - m->plan->side_start[body];
    int32_t end = body + MABD_PACK_MAX_SPREAD < tile->body_last ? body + MABD_PACK_MAX_SPREAD
                                                                : tile->body_last;
    for (int32_t i = body; i < end && pack.count < MABD_LANES; i++) {
        if (w->packed[i - tile->body_first] || !are_alike(w, body, i)) continue;
        w->packed[i - tile->body_first] = 1;
        pack.body[pack.count++] = i;
    }
    for (int32_t l = pack.count; l < MABD_LANES; l++) pack.body[l] = pack.body[pack.count - 1];
    add_pack(w, &pack);
}

static void pack_tile(walk* w, mabd_affine_tile* tile) {
    mabd_affine_packs* out = w->out;
    memset(w->packed, 0, sizeof w->packed);
    for (int32_t i = tile->body_first; i < tile->body_last; i++) {
        if (w->packed[i - tile->body_first]) continue;
        if (w->model->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        if (may_be_packed(w, i)) {
            pack_from(w, tile, i);
        } else {
            if (out->unpacked) out->unpacked[out->unpacked_count] = i;
            out->unpacked_count++;
        }
    }
}

// ---- segments ----

// Joint `place` (0 or 1) of a link.
static const mabd_plan_side* link_side(const mabd_model* m, int32_t body, int32_t place) {
    return &m->plan->sides[m->plan->side_start[body] + place];
}

static const mabd_model_joint* link_joint(const mabd_model* m, int32_t body, int32_t place) {
    return side_joint(m, m->plan->side_start[body] + place);
}

static bool are_joints_alike(const mabd_model_joint* i, const mabd_model_joint* j) {
    return i->row_set == j->row_set && i->frame == j->frame;
}

static bool may_be_link(const walk* w, int32_t body) {
    const mabd_model* m = w->model;
    const int32_t* start = m->plan->side_start;
    if (!may_be_packed(w, body) || start[body + 1] - start[body] != 2) return false;
    if (link_side(m, body, 1)->slot != link_side(m, body, 0)->slot + 1) return false;
    if (w->kinds[body] == MABD_BODY_SIMPLE) return true;
    return w->kinds[body] == MABD_BODY_ROWS &&
           m->plan->slot_width[link_side(m, body, 0)->slot] >= MABD_SEGMENT_LEAST_ROWS &&
           are_joints_alike(link_joint(m, body, 0), link_joint(m, body, 1));
}

// Attachment of a joint on a body, or on the other one.
static const mabd_real* anchor(const mabd_model* m, const mabd_plan_side* side, bool other) {
    const mabd_model_joint* joint = &m->joints[m->plan->slot_joint[side->slot]];
    return (side->is_b != 0) != other ? joint->Xb : joint->Xa;
}

// True if link b follows body a in a chain and is of its class.
static bool continues(const walk* w, int32_t a, int32_t b) {
    const mabd_model* m = w->model;
    if (b != a + 1 || !may_be_link(w, b) || m->body_class[a] != m->body_class[b]) return false;
    if (w->kinds[a] != w->kinds[b]) return false;
    if (w->kinds[a] == MABD_BODY_ROWS &&
        !are_joints_alike(link_joint(m, a, 0), link_joint(m, b, 0))) {
        return false;
    }
    if (link_side(m, b, 0)->slot != link_side(m, a, 1)->slot) return false;
    return link_side(m, a, 0)->is_b == link_side(m, b, 0)->is_b &&
           link_side(m, a, 1)->is_b == link_side(m, b, 1)->is_b;
}

// Find the segments of one chain, from its start.
static void find_segments(walk* w, const mabd_plan_component* c) {
    const int32_t* path = w->model->plan->component_bodies + c->body_first;
    int32_t length = 0; // number of equal links that end here
    for (int32_t k = 0; k < c->body_count; k++) {
        const bool next = length > 0 && continues(w, path[k - 1], path[k]);
        length = next ? length + 1 : may_be_link(w, path[k]) ? 1 : 0;
        if (length < MABD_SEGMENT_BODIES) continue;
        const int32_t first = path[k] - MABD_SEGMENT_BODIES + 1;
        w->segment_at[first] = link_side(w->model, first, 0)->slot;
        length = 0;
    }
}

// Find the segments of all chains. Models with contacts get none: contacts need blocks and factors
// of single joints.
static void find_all_segments(walk* w) {
    const mabd_plan* plan = w->model->plan;
    for (int32_t i = 0; i < w->model->body_count; i++) w->segment_at[i] = -1;
    for (int32_t i = 0; i < plan->component_count && !w->model->contact.enabled; i++) {
        const mabd_plan_component* c = &plan->components[i];
        if (mabd_rigid_direct_dual(c) == &mabd_dual_chain) find_segments(w, c);
    }
}

// Set the other body of joint `place` of a link, next to lane l.
static void fill_segment_end(const mabd_model* m, int32_t link, int32_t place, int l,
                             mabd_affine_segment_end* end) {
    const mabd_model_joint* joint = link_joint(m, link, place);
    const int32_t body = link_side(m, link, place)->is_b ? joint->a : joint->b;
    end->body[l] = body;
    if (m->body_motion[body] != MABD_MOTION_DYNAMIC) return;
    put_material(&m->classes[m->body_class[body]].material, &end->soft, &end->share, l);
}

// Set attachments of links in rows 1 .. MABD_SEGMENT_LINKS of X, of the bodies before and after in
// the first and the last row.
static void fill_segment_X(const mabd_model* m, int32_t body, mabd_lanes* X) {
    for (int32_t i = 0; i < MABD_SEGMENT_BODIES; i++) {
        const int32_t k = i % MABD_SEGMENT_LINKS, l = i / MABD_SEGMENT_LINKS;
        const mabd_plan_side *from = link_side(m, body + i, 0), *to = link_side(m, body + i, 1);
        mabd_lanes* at = X + 6 * (k + 1);
        mabd_lane_put_v3(mabd_v3_load(anchor(m, from, false)), at, l);
        mabd_lane_put_v3(mabd_v3_load(anchor(m, to, false)), at + 3, l);
        if (k == 0) mabd_lane_put_v3(mabd_v3_load(anchor(m, from, true)), at - 3, l);
        if (k + 1 == MABD_SEGMENT_LINKS) {
            mabd_lane_put_v3(mabd_v3_load(anchor(m, to, true)), at + 6, l);
        }
    }
}

static void fill_segment(const walk* w, int32_t body, int32_t slot, int32_t index) {
    const mabd_model* m = w->model;
    mabd_affine_packs* out = w->out;
    mabd_affine_segment* segment = &out->segments[index];
    segment->body = body, segment->slot = slot, segment->bad = -1;
    segment->width = m->plan->slot_width[slot], segment->kind = w->kinds[body];
    segment->row_set = link_joint(m, body, 0)->row_set,
    segment->frame = link_joint(m, body, 0)->frame;
    segment->saved = out->saved_count;
    for (int32_t k = 0; k < 2; k++) segment->sign[k] = link_side(m, body, k)->is_b ? 1 : -1;
    fill_segment_X(m, body, out->segment_X + 6 * (size_t)(MABD_SEGMENT_LINKS + 2) * (size_t)index);
    int32_t firsts[MABD_LANES], lasts[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) {
        firsts[l] = body + MABD_SEGMENT_LINKS * l, lasts[l] = firsts[l] + MABD_SEGMENT_LINKS - 1;
        fill_segment_end(m, firsts[l], 0, l, &segment->before);
        fill_segment_end(m, lasts[l], 1, l, &segment->after);
        segment->edge[l] = m->plan->edge_block[m->plan->pairs[m->plan->pair_start[firsts[l]]].edge];
    }
    fill_side(m, firsts, 0, &segment->before.side);
    fill_side(m, lasts, 1, &segment->after.side);
    for (int32_t i = 1; i < MABD_SEGMENT_BODIES && segment->kind == MABD_BODY_SIMPLE; i++) {
        out->joint_inner[m->plan->slot_joint[slot + i]] = true;
    }
}

static void add_segment(walk* w, int32_t body) {
    mabd_affine_packs* out = w->out;
    const int32_t slot = w->segment_at[body];
    if (out->segments) fill_segment(w, body, slot, out->segment_count);
    for (int32_t i = 0; i < MABD_SEGMENT_BODIES; i++) {
        w->span_of[body + i] = body + i - i % MABD_SEGMENT_LINKS;
    }
    out->saved_count += (size_t)(MABD_SEGMENT_LINKS - 1) *
                        (size_t)MABD_SEGMENT_SAVED(w->model->plan->slot_width[slot]);
    out->segment_count++;
}

// ---- tiles ----

// End of a tile that starts with a body: at the latest the start of the next segment.
static int32_t tile_end(const walk* w, int32_t first) {
    const int32_t bodies = w->model->body_count;
    if (w->segment_at[first] >= 0) return first + MABD_SEGMENT_BODIES;
    int32_t last = first + 1;
    while (last < bodies && last - first < MABD_TILE_BODIES && w->segment_at[last] < 0) last++;
    return last;
}

static int32_t make_tile(walk* w, int32_t first) {
    mabd_affine_packs* out = w->out;
    const int32_t fars = out->other_count;
    mabd_affine_tile tile = {.body_first = first, .body_last = tile_end(w, first), .segment = -1};
    for (int32_t i = first; i < tile.body_last; i++) {
        w->tile_of[i] = out->tile_count, w->span_of[i] = first;
    }
    tile.pack_first = out->pack_count, tile.unpacked_first = out->unpacked_count;
    if (w->segment_at[first] >= 0) {
        tile.segment = out->segment_count;
        add_segment(w, first);
    } else {
        pack_tile(w, &tile);
    }
    tile.pack_last = out->pack_count, tile.unpacked_last = out->unpacked_count;
    tile.looks = out->other_count > fars;
    if (out->tiles) out->tiles[out->tile_count] = tile;
    out->tile_count++;
    return tile.body_last;
}

static void make_tiles(walk* w) {
    mabd_affine_packs* out = w->out;
    out->tile_count = out->pack_count = out->side_count = out->pair_count = out->unpacked_count = 0;
    out->segment_count = out->other_count = 0, out->saved_count = 0;
    for (int32_t first = 0; first < w->model->body_count;) first = make_tile(w, first);
}

// ---- groups ----

static void put_in_group(const mabd_model* m, int32_t joint, int l,
                         mabd_affine_spring_group* group) {
    const mabd_model_joint* from = &m->joints[joint];
    group->a[l] = from->a, group->b[l] = from->b;
    group->frame[l] = from->frame, group->coordinate[l] = from->coordinate;
    group->row[l] = m->plan->slot_row[m->plan->joint_slot[joint]] + 3;
    group->row_set[l] = from->row_set;
}

// Create groups of consecutive joints with dampers or without, distributed over the tiles.
static void make_groups(walk* w) {
    const mabd_model* m = w->model;
    mabd_affine_packs* out = w->out;
    int32_t count = 0; // joints of the last group
    bool damped = false;
    out->ungrouped_count = out->group_count = 0;
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (m->plan->joint_slot[i] < 0 ||
            !mabd_affine_is_spring_joint(m, w->kinds, &m->joints[i])) {
            if (m->joints[i].coordinate < 0) continue;
            if (out->ungrouped) out->ungrouped[out->ungrouped_count] = i;
            out->ungrouped_count++;
            continue;
        }
        const bool same = m->row_sets[m->joints[i].row_set].damped == damped;
        if (count % MABD_LANES == 0 || !same) out->group_count++, count = 0;
        damped = m->row_sets[m->joints[i].row_set].damped;
        if (out->groups) {
            mabd_affine_spring_group* group = &out->groups[out->group_count - 1];
            for (int l = count; l < MABD_LANES; l++) put_in_group(m, i, l, group);
            group->count = count + 1;
            group->damped = damped;
        }
        count++;
    }
    for (int32_t t = 0; out->tiles && t < out->tile_count; t++) {
        const int64_t groups = out->group_count;
        out->tiles[t].group_first = (int32_t)(groups * t / out->tile_count);
        out->tiles[t].group_last = (int32_t)(groups * (t + 1) / out->tile_count);
    }
}

// ---- sides ----

// Number the deferred sides; those of one body rise, and so do bodies.
static void count_deferred(const walk* w) {
    const mabd_model* m = w->model;
    const mabd_plan* plan = m->plan;
    mabd_affine_packs* out = w->out;
    out->shares.deferred_count = 0, out->shares.value_count = 0;
    for (int32_t body = 0; body < m->body_count; body++) {
        for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
            const int32_t slot = plan->sides[s].slot;
            if (plan->sides[s].is_b < 0) continue;
            const mabd_model_joint* joint = &m->joints[plan->slot_joint[slot]];
            const int32_t other = plan->sides[s].is_b ? joint->a : joint->b;
            if (m->body_motion[other] != MABD_MOTION_DYNAMIC || other > body ||
                w->tile_of[other] == w->tile_of[body]) {
                continue;
            }
            const size_t width = (size_t)plan->slot_width[slot];
            if (out->shares.deferred) {
                const mabd_affine_deferred deferred = {s, slot, out->shares.value_count};
                out->shares.deferred[out->shares.deferred_count] = deferred;
                out->shares.side_mode[s] = MABD_SIDE_DEFERRED;
            }
            out->shares.deferred_count++;
            out->shares.value_count += width * width + width;
        }
    }
}

// Set the modes of one body's sides, in the order of its tile. seen (slots): the slot has had a
// side.
static void find_modes(const mabd_model* m, const mabd_affine_packs* out, int32_t body,
                       bool* seen) {
    const mabd_plan* plan = m->plan;
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        const int32_t slot = plan->sides[s].slot;
        if (plan->sides[s].is_b < 0 || out->shares.side_mode[s] == MABD_SIDE_DEFERRED) continue;
        const mabd_model_joint* joint = &m->joints[plan->slot_joint[slot]];
        const int32_t other = plan->sides[s].is_b ? joint->a : joint->b;
        const bool ground = m->body_motion[other] != MABD_MOTION_DYNAMIC;
        out->shares.side_mode[s] = (uint8_t)(ground       ? MABD_SIDE_GROUND
                                             : seen[slot] ? MABD_SIDE_ADD
                                                          : MABD_SIDE_FIRST);
        seen[slot] = true;
    }
}

static void find_all_modes(const mabd_model* m, const mabd_affine_packs* out, bool* seen) {
    for (int32_t t = 0; t < out->tile_count; t++) {
        const mabd_affine_tile* tile = &out->tiles[t];
        for (int32_t p = tile->pack_first; p < tile->pack_last; p++) {
            const mabd_affine_pack* pack = &out->packs[p];
            for (int32_t l = 0; l < pack->count; l++) find_modes(m, out, pack->body[l], seen);
        }
        for (int32_t i = tile->unpacked_first; i < tile->unpacked_last; i++) {
            find_modes(m, out, out->unpacked[i], seen);
        }
        for (int32_t i = tile->body_first; i < tile->body_last && tile->segment >= 0; i++) {
            find_modes(m, out, i, seen);
        }
    }
}

// Make deferred sides add directly: tiles are processed in order, so the first side has been
// written.
static void join_deferred(mabd_affine_packs* out) {
    for (int32_t i = 0; i < out->shares.deferred_count; i++) {
        out->shares.side_mode[out->shares.deferred[i].side] = MABD_SIDE_ADD;
    }
    out->shares.deferred_count = 0;
}

static bool begins_joint(uint8_t mode) {
    return mode == MABD_SIDE_FIRST || mode == MABD_SIDE_GROUND;
}

// Copy the mode of one side of a body to lane l of its pack.
static void write_mode(const mabd_affine_packs* out, int32_t side, int l,
                       mabd_affine_pack_side* to) {
    to->mode[l] = out->shares.side_mode[side];
    const mabd_affine_deferred* deferred = mabd_affine_shares_find(&out->shares, side);
    if (deferred) to->block[l] = deferred->offset;
}

static void write_modes(const mabd_model* m, const mabd_affine_packs* out) {
    const int32_t* start = m->plan->side_start;
    for (int32_t p = 0; p < out->pack_count; p++) {
        const mabd_affine_pack* pack = &out->packs[p];
        for (int32_t i = 0; i < pack->side_count; i++) {
            mabd_affine_pack_side* side = &out->sides[pack->side_first + i];
            for (int l = 0; l < MABD_LANES; l++) {
                write_mode(out, start[pack->body[l]] + i, l, side);
                if (pack->kind != MABD_BODY_ROWS) continue;
                out->others[pack->other_first + i].begins |= begins_joint(side->mode[l]);
            }
        }
    }
    for (int32_t r = 0; r < out->segment_count; r++) {
        mabd_affine_segment* segment = &out->segments[r];
        for (int l = 0; l < MABD_LANES; l++) {
            const int32_t first = segment->body + MABD_SEGMENT_LINKS * l,
                          last = first + MABD_SEGMENT_LINKS - 1;
            write_mode(out, start[first], l, &segment->before.side);
            write_mode(out, start[last] + 1, l, &segment->after.side);
        }
    }
}

// ---- halo ----

// True if rows of a body in another tile, or in another lane of a segment, depend on this body.
// Whether its joints have such rows is not checked; it matters little.
static bool is_halo(const walk* w, int32_t body) {
    const mabd_model* m = w->model;
    const mabd_plan* plan = m->plan;
    if (m->body_motion[body] != MABD_MOTION_DYNAMIC) return false;
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        if (plan->sides[s].is_b < 0) continue;
        const mabd_model_joint* joint = side_joint(m, s);
        const int32_t other = plan->sides[s].is_b ? joint->a : joint->b;
        if (m->body_motion[other] == MABD_MOTION_DYNAMIC && w->kinds[other] == MABD_BODY_ROWS &&
            w->span_of[other] != w->span_of[body]) {
            return true;
        }
    }
    return false;
}

static void find_halo(const walk* w) {
    mabd_affine_packs* out = w->out;
    out->halo_count = 0;
    for (int32_t i = 0; i < w->model->body_count; i++) {
        if (!is_halo(w, i)) continue;
        if (out->halo) out->halo[out->halo_count] = i;
        out->halo_count++;
    }
}

// Copy the halo to packs and segments.
static void write_halo(const walk* w) {
    const mabd_affine_packs* out = w->out;
    for (int32_t p = 0; p < out->pack_count; p++) {
        mabd_affine_pack* pack = &out->packs[p];
        for (int l = 0; l < pack->count; l++) {
            if (is_halo(w, pack->body[l])) pack->halo |= (uint8_t)(1 << l);
        }
    }
    for (int32_t r = 0; r < out->segment_count; r++) {
        mabd_affine_segment* segment = &out->segments[r];
        for (int l = 0; l < MABD_LANES; l++) {
            const int32_t first = segment->body + MABD_SEGMENT_LINKS * l,
                          last = first + MABD_SEGMENT_LINKS - 1;
            if (is_halo(w, first)) segment->halo[0] |= (uint8_t)(1 << l);
            if (is_halo(w, last)) segment->halo[1] |= (uint8_t)(1 << l);
        }
    }
}

// ---- memory ----

static void layout(const mabd_model* m, mabd_affine_packs* p, mabd_arena* arena) {
    const size_t sides = (size_t)m->plan->side_start[m->plan->body_count];
    p->tiles = mabd_arena_take(arena, (size_t)p->tile_count, sizeof *p->tiles);
    p->packs = mabd_arena_take(arena, (size_t)p->pack_count, sizeof *p->packs);
    p->sides = mabd_arena_take(arena, (size_t)p->side_count, sizeof *p->sides);
    p->others = mabd_arena_take(arena, (size_t)p->other_count, sizeof *p->others);
    p->pairs = mabd_arena_take(arena, (size_t)p->pair_count, sizeof *p->pairs);
    p->groups = mabd_arena_take(arena, (size_t)p->group_count, sizeof *p->groups);
    p->ungrouped = mabd_arena_take(arena, (size_t)p->ungrouped_count, sizeof *p->ungrouped);
    p->unpacked = mabd_arena_take(arena, (size_t)p->unpacked_count, sizeof *p->unpacked);
    p->halo = mabd_arena_take(arena, (size_t)p->halo_count, sizeof *p->halo);
    p->shares.side_mode = mabd_arena_take(arena, sides, sizeof *p->shares.side_mode);
    p->shares.deferred =
        mabd_arena_take(arena, (size_t)p->shares.deferred_count, sizeof *p->shares.deferred);
    p->shares.values = mabd_arena_take(arena, p->shares.value_count, sizeof *p->shares.values);
    p->motions = mabd_arena_take(arena, (size_t)p->tile_count, sizeof *p->motions);
    p->joint_errors = mabd_arena_take(arena, (size_t)p->tile_count, sizeof *p->joint_errors);
    p->inner_errors = mabd_arena_take(arena, (size_t)p->tile_count, sizeof *p->inner_errors);
    p->segments = mabd_arena_take(arena, (size_t)p->segment_count, sizeof *p->segments);
    const size_t links = (size_t)p->segment_count * (MABD_SEGMENT_LINKS + 2);
    p->segment_X = mabd_arena_take(arena, 6 * links, sizeof *p->segment_X);
    const size_t joints = p->segment_count > 0 ? (size_t)m->joint_count : 0;
    p->joint_inner = mabd_arena_take(arena, joints, sizeof *p->joint_inner);
    if (joints == 0) p->joint_inner = NULL;
    p->saved = mabd_arena_take(arena, p->saved_count, sizeof *p->saved);
}

// Count everything, and the bytes of all arrays: the head, then the arrays.
static size_t measure(walk* w) {
    mabd_arena arena = {0};
    find_all_segments(w);
    make_tiles(w);
    make_groups(w);
    count_deferred(w);
    find_halo(w);
    layout(w->model, w->out, &arena);
    const size_t head = mabd_bytes(sizeof(mabd_affine_packs), 1);
    return arena.used > SIZE_MAX - head ? SIZE_MAX : arena.used + head;
}

// Bytes of the temporary arrays of a walk.
static size_t walk_bytes(const mabd_model* m) {
    return 3 * (size_t)m->body_count * sizeof(int32_t) + (size_t)m->plan->slot_count;
}

static bool begin_walk(walk* w, const mabd_allocator* allocator, bool** seen) {
    const size_t bodies = (size_t)w->model->body_count;
    w->segment_at = mabd_alloc(allocator, walk_bytes(w->model));
    if (!w->segment_at) return false;
    w->tile_of = w->segment_at + bodies;
    w->span_of = w->tile_of + bodies;
    *seen = (bool*)(w->span_of + bodies);
    return true;
}

size_t mabd_affine_packs_bytes_for(const mabd_model* model, const uint8_t* kinds) {
    mabd_affine_packs counts = {0};
    walk w = {.model = model, .kinds = kinds, .out = &counts};
    bool* seen;
    if (!begin_walk(&w, &model->allocator, &seen)) return SIZE_MAX;
    const size_t bytes = measure(&w);
    mabd_free(&model->allocator, w.segment_at, walk_bytes(model));
    return bytes;
}

static mabd_affine_packs* fill(walk* w, size_t bytes, bool in_order, mabd_affine_packs* out,
                               bool* seen) {
    const size_t head = mabd_bytes(sizeof *out, 1);
    mabd_arena arena = {.memory = (char*)out + head, .size = bytes - head};
    *out = *w->out;
    out->bytes = bytes;
    layout(w->model, out, &arena);
    w->out = out;
    make_tiles(w);
    make_groups(w);
    count_deferred(w);
    find_all_modes(w->model, out, seen);
    if (in_order) join_deferred(out);
    write_modes(w->model, out);
    find_halo(w);
    write_halo(w);
    return out;
}

mabd_status mabd_affine_packs_create(const mabd_allocator* allocator, const mabd_model* model,
                                     const uint8_t* kinds, bool in_order,
                                     mabd_affine_packs** packs) {
    mabd_affine_packs counts = {0};
    walk w = {.model = model, .kinds = kinds, .out = &counts};
    bool* seen;
    *packs = NULL;
    if (!begin_walk(&w, allocator, &seen)) return MABD_ERR_MEMORY;
    int32_t* memory = w.segment_at;
    const size_t bytes = measure(&w);
    mabd_affine_packs* out = bytes == SIZE_MAX ? NULL : mabd_alloc(allocator, bytes);
    if (out) *packs = fill(&w, bytes, in_order, out, seen);
    mabd_free(allocator, memory, walk_bytes(model));
    return out ? MABD_OK : MABD_ERR_MEMORY;
}

void mabd_affine_packs_destroy(const mabd_allocator* allocator, mabd_affine_packs* packs) {
    if (packs) mabd_free(allocator, packs, packs->bytes);
}
