// SPDX-License-Identifier: Apache-2.0
// The plan of a model in figures: what its components are, and how they are solved. Only patterns are
// looked at.

#include "base/hash.h"
#include "dual/block_factor.h"
#include "formulation/affine/data.h"
#include "mabd/sim.h"
#include "model/model_data.h"
#include "topology/print.h"

mabd_plan_totals mabd_model_plan_totals(const mabd_model* model, mabd_component kind) {
    return mabd_plan_sum(model->plan, kind);
}

static uint64_t hash_slots(uint64_t hash, const int32_t* slots, int32_t n, int32_t offset) {
    for (int32_t i = 0; i < n; i++) {
        const int32_t slot = slots[i] - offset;
        hash = mabd_hash(hash, &slot, sizeof slot);
    }
    return hash;
}

// Equal for components that are alike but for the numbers of their slots.
static uint64_t hash_pattern(const mabd_dual_system* system) {
    uint64_t hash = mabd_hash(MABD_HASH_START, &system->slot_count, sizeof system->slot_count);
    hash = mabd_hash(hash, system->width, (size_t)system->slot_count * sizeof(int32_t));
    hash = hash_slots(hash, system->from, system->edge_count, system->slot_offset);
    return hash_slots(hash, system->to, system->edge_count, system->slot_offset);
}

static mabd_dual_line* find(mabd_dual_line* lines, int32_t count, const mabd_dual_line* like) {
    for (int32_t i = 0; i < count; i++) {
        if (lines[i].pattern == like->pattern && lines[i].kind == like->kind &&
            lines[i].bodies == like->bodies) {
            return &lines[i];
        }
    }
    return NULL;
}

static mabd_dual_line describe(const mabd_plan_component* c, const mabd_dual_system* system) {
    return (mabd_dual_line){.kind = c->kind,
                            .components = 1,
                            .bodies = c->body_count,
                            .joints = c->slot_count - 2 * c->junction_count,
                            .rows = system->row_count - 2 * MABD_PLAN_SLOT_ROWS * c->junction_count,
                            .junctions = c->junction_count,
                            .cut_rows = c->cut_rows,
                            .pattern = hash_pattern(system)};
}

// Chains and trees are eliminated in the plan's order and in place: one front a slot.
static mabd_status foresee(const mabd_allocator* allocator, const mabd_dual_system* system,
                           const mabd_dual_ops* ops, mabd_dual_line* line) {
    const bool in_place = ops == &mabd_dual_chain || ops == &mabd_dual_tree;
    mabd_block_outlook outlook;
    line->solver = ops->name;
    line->direct = in_place || ops == &mabd_dual_block || ops == &mabd_dual_stale;
    if (ops != &mabd_dual_block) line->bytes = ops->bytes_for(allocator, system);
    if (!line->direct) return MABD_OK;
    MABD_TRY(mabd_block_foresee(allocator, system, in_place, &outlook));
    if (ops == &mabd_dual_block) line->bytes = outlook.bytes;
    line->order = outlook.orders.which;
    for (int k = 0; k < MABD_ORDER_COUNT; k++) {
        line->order_flops[k] = outlook.orders.counts[k].flops;
        line->order_entries[k] = outlook.orders.counts[k].entries;
    }
    line->fronts = in_place ? system->slot_count : outlook.nodes;
    line->flops = in_place ? line->order_flops[line->order] : outlook.flops;
    line->entries = in_place ? line->order_entries[line->order] : outlook.entries;
    return MABD_OK;
}

mabd_status mabd_model_dual_plan(const mabd_model* model, mabd_dual dual, int32_t capacity,
                                 mabd_dual_line* lines, int32_t* count, int32_t* left_out) {
    const mabd_plan* plan = model->plan;
    const mabd_affine_sim sim = {.model = model, .dual = dual};
    *count = *left_out = 0;
    for (int32_t i = 0; i < plan->component_count; i++) {
        if (plan->components[i].slot_count == 0) continue;
        const mabd_dual_system system = mabd_affine_dual_system(&sim, i);
        mabd_dual_line line = describe(&plan->components[i], &system);
        mabd_dual_line* known = find(lines, *count, &line);
        if (known) {
            known->components++;
        } else if (*count == capacity) {
            (*left_out)++;
        } else {
            MABD_TRY(foresee(&model->allocator, &system, mabd_affine_dual_select(&sim, i), &line));
            lines[(*count)++] = line;
        }
    }
    return MABD_OK;
}
