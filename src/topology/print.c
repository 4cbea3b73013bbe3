// SPDX-License-Identifier: Apache-2.0
#include "topology/print.h"

#include "base/hash.h"

mabd_plan_totals mabd_plan_sum(const mabd_plan* plan, mabd_component kind) {
    mabd_plan_totals t = {0};
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        if (c->kind != kind) continue;
        t.components++;
        t.bodies += c->body_count;
        const int64_t own = (int64_t)plan->junction_slots * c->junction_count;
        t.joints += c->slot_count - own;
        t.junctions += c->junction_count;
        t.rows += plan->slot_row[c->slot_first + c->slot_count] - plan->slot_row[c->slot_first];
        t.rows -= MABD_PLAN_SLOT_ROWS * own;
        t.couplings += c->edge_count;
        t.cycles += c->loops;
        t.cut_rows += c->cut_rows;
    }
    return t;
}

static uint64_t hash_ints(uint64_t hash, const int32_t* values, int64_t n) {
    return mabd_hash(hash, values, (size_t)n * sizeof(int32_t));
}

static uint64_t hash_components(uint64_t hash, const mabd_plan* plan) {
    int32_t moving = 0;
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        int32_t fields[] = {(int32_t)c->kind, c->loops,      c->cut_rows,   c->junction_count,
                            c->ground_count,  c->slot_first, c->slot_count, c->edge_first,
                            c->edge_count,    c->body_first, c->body_count};
        hash = hash_ints(hash, fields, sizeof(fields) / sizeof(fields[0]));
        moving += c->body_count;
    }
    return hash_ints(hash, plan->component_bodies, moving);
}

uint64_t mabd_plan_hash(const mabd_plan* plan) {
    int32_t counts[] = {plan->body_count, plan->joint_count, plan->slot_count,
                        plan->row_count,  plan->edge_count,  plan->component_count,
                        plan->widest,     plan->loops,       plan->junction_count};
    size_t slots = (size_t)plan->slot_count, edges = (size_t)plan->edge_count;
    uint64_t hash = hash_ints(MABD_HASH_START, counts, sizeof(counts) / sizeof(counts[0]));
    hash = hash_ints(hash, plan->counts, MABD_COMPONENT_COUNT);
    hash = hash_ints(hash, plan->slot_joint, plan->slot_count);
    hash = hash_ints(hash, plan->elimination, plan->slot_count);
    hash = hash_ints(hash, plan->joint_slot, plan->joint_count);
    hash = hash_ints(hash, plan->slot_width, plan->slot_count);
    hash = hash_ints(hash, plan->slot_row, (int64_t)plan->slot_count + 1);
    hash = mabd_hash(hash, plan->slot_block, (slots + 1) * sizeof(size_t));
    hash = hash_ints(hash, plan->edge_from, plan->edge_count);
    hash = hash_ints(hash, plan->edge_to, plan->edge_count);
    hash = mabd_hash(hash, plan->edge_block, (edges + 1) * sizeof(size_t));
    hash = hash_ints(hash, plan->side_start, (int64_t)plan->body_count + 1);
    hash = mabd_hash(hash, plan->sides,
                     (size_t)plan->side_start[plan->body_count] * sizeof(mabd_plan_side));
    hash = hash_ints(hash, plan->early, plan->body_count);
    hash = hash_ints(hash, plan->pair_start, (int64_t)plan->body_count + 1);
    hash = mabd_hash(hash, plan->pairs,
                     (size_t)plan->pair_start[plan->body_count] * sizeof(mabd_plan_pair));
    return hash_components(hash, plan);
}
