// SPDX-License-Identifier: Apache-2.0
#include "topology/print.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>

// Totals over the components of one class.
typedef struct class_totals {
    int64_t components, bodies, joints, rows, edges, loops, hubs;
} class_totals;

// Text that may be cut off: length counts what did not fit as well.
typedef struct writer {
    char* text;
    size_t size, length;
} writer;

static const char* const class_names[MABD_COMPONENT_COUNT] = {
#define X(name, text) text,
    MABD_COMPONENT_LIST(X)
#undef X
};

static void count(writer* out, int64_t number, const char* one, const char* many) {
    size_t left = out->length < out->size ? out->size - out->length : 0;
    int n = snprintf(left ? out->text + out->length : NULL, left, "%" PRId64 " %s", number,
                     number == 1 ? one : many);
    if (n > 0) out->length += (size_t)n;
}

static void append(writer* out, const char* text) {
    size_t left = out->length < out->size ? out->size - out->length : 0;
    int n = snprintf(left ? out->text + out->length : NULL, left, "%s", text);
    if (n > 0) out->length += (size_t)n;
}

static void add_up(const mabd_plan* plan, class_totals* totals) {
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        class_totals* t = &totals[c->kind];
        t->components++;
        t->bodies += c->body_count;
        t->joints += c->slot_count - 2 * c->hub_count;
        t->hubs += c->hub_count;
        t->edges += c->edge_count;
        t->loops += c->loops;
        t->rows += plan->slot_row[c->slot_first + c->slot_count] - plan->slot_row[c->slot_first];
        t->rows -= 2 * MABD_PLAN_SLOT_ROWS * (int64_t)c->hub_count;
    }
}

static void write_class(writer* out, const char* name, const class_totals* t) {
    append(out, name);
    append(out, ": ");
    count(out, t->components, "component, ", "components, ");
    count(out, t->bodies, "body", "bodies");
    if (t->joints) {
        append(out, ", ");
        count(out, t->joints, "joint, ", "joints, ");
        count(out, t->rows, "row, ", "rows, ");
        count(out, t->edges, "coupling", "couplings");
    }
    if (t->loops) {
        append(out, ", ");
        count(out, t->loops, "cycle", "cycles");
    }
    if (t->hubs) {
        append(out, ", ");
        count(out, t->hubs, "hub", "hubs");
    }
    append(out, "\n");
}

size_t mabd_plan_describe(const mabd_plan* plan, char* text, size_t size) {
    class_totals totals[MABD_COMPONENT_COUNT] = {{0, 0, 0, 0, 0, 0, 0}};
    writer out = {text, size, 0};
    if (size) text[0] = '\0';
    add_up(plan, totals);
    for (int kind = 0; kind < MABD_COMPONENT_COUNT; kind++) {
        if (totals[kind].components) write_class(&out, class_names[kind], &totals[kind]);
    }
    return out.length;
}

static uint64_t hash_ints(uint64_t hash, const int32_t* values, int64_t n) {
    return mabd_hash(hash, values, (size_t)n * sizeof(int32_t));
}

static uint64_t hash_components(uint64_t hash, const mabd_plan* plan) {
    int32_t moving = 0;
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        int32_t fields[] = {(int32_t)c->kind, c->loops,      c->hub_count,  c->ground_count,
                            c->slot_first,    c->slot_count, c->edge_first, c->edge_count,
                            c->body_first,    c->body_count};
        hash = hash_ints(hash, fields, sizeof(fields) / sizeof(fields[0]));
        moving += c->body_count;
    }
    return hash_ints(hash, plan->component_bodies, moving);
}

uint64_t mabd_plan_hash(const mabd_plan* plan) {
    int32_t counts[] = {plan->body_count, plan->joint_count, plan->slot_count,
                        plan->row_count,  plan->edge_count,  plan->component_count,
                        plan->widest,     plan->loops,       plan->hub_count};
    size_t slots = (size_t)plan->slot_count, edges = (size_t)plan->edge_count;
    uint64_t hash = hash_ints(MABD_HASH_START, counts, sizeof(counts) / sizeof(counts[0]));
    hash = hash_ints(hash, plan->counts, MABD_COMPONENT_COUNT);
    hash = hash_ints(hash, plan->slot_joint, plan->slot_count);
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
