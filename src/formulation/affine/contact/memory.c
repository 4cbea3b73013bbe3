// SPDX-License-Identifier: Apache-2.0
// Memory of contacts: arrays known from the model are laid out once; lists of contacts grow and
// stay.

#include "formulation/affine/contact/contact_memory.h"
#include "formulation/affine/limits.h"

#include <string.h>

// The number of contacts changes from step to step: lists double when they are full.
#define FOR_SET(X, set)                                                                            \
    X(set.bodies, int32_t)                                                                         \
    X(set.sides, mabd_affine_body_side)                                                            \
    X(set.rows, mabd_vec12)                                                                        \
    X(set.components, int32_t)
#define FOR_LISTS(X)                                                                               \
    X(list.current, mabd_affine_contact)                                                           \
    X(list.before, mabd_affine_contact)                                                            \
    X(work.linear, bool)                                                                           \
    X(list.saved, mabd_affine_saved_contact)                                                       \
    X(list.start, mabd_affine_saved_contact)                                                       \
    X(list.last_reference, mabd_affine_saved_contact)                                              \
    X(by_body.next, int32_t)                                                                       \
    X(by_body.touched, int32_t)                                                                    \
    X(by_body.eliminated, mabd_vec12)                                                              \
    X(by_component.groups, int32_t)                                                                \
    X(rows.contacts, int32_t)                                                                      \
    X(rows.ranges, mabd_affine_contact_range)                                                      \
    X(rows.blocks.sides, mabd_affine_contact_side)                                                 \
    X(rows.blocks.duals, mabd_real)                                                                \
    X(rows.blocks.joints, int32_t)                                                                 \
    X(rows.blocks.start, int32_t)                                                                  \
    X(rows.blocks.end, int32_t)                                                                    \
    X(rows.blocks.column, int32_t)                                                                 \
    X(rows.blocks.place, int32_t)                                                                  \
    X(rows.blocks.block, mabd_real)                                                                \
    X(support.contacts, int32_t)                                                                   \
    X(work.bodies, mabd_vec12)                                                                     \
    X(work.reals, mabd_real)                                                                       \
    X(kept, mabd_vec12)                                                                            \
    X(work.duals, mabd_real)                                                                       \
    X(condensed.bodies, mabd_affine_condensed_body)                                                \
    X(condensed.sides, mabd_affine_condensed_side)                                                 \
    X(condensed.rows, mabd_vec12)                                                                  \
    X(condensed.turned, mabd_real)                                                                 \
    X(condensed.branches, mabd_affine_condensed_branch)                                            \
    X(condensed.shares, mabd_real)                                                                 \
    X(condensed.components, mabd_affine_condensed_component)                                       \
    X(condensed.groups, mabd_affine_condensed_group)                                               \
    X(condensed.runs, int32_t)                                                                     \
    X(condensed.slots, int32_t)                                                                    \
    X(condensed.width, int32_t)                                                                    \
    X(condensed.row, int32_t)                                                                      \
    X(condensed.block, size_t)                                                                     \
    X(condensed.edge, size_t)                                                                      \
    X(condensed.base, mabd_real)                                                                   \
    X(condensed.work, mabd_real)                                                                   \
    X(condensed.low, mabd_real)                                                                    \
    X(condensed.saved, mabd_affine_condensed_lanes)                                                \
    X(condensed.touched, uint8_t)                                                                  \
    X(condensed.of_body, int32_t)                                                                  \
    X(condensed.of_component, int32_t)                                                             \
    X(condensed.of_slot, int32_t)                                                                  \
    FOR_SET(X, rows.bodies)                                                                        \
    FOR_SET(X, support.loads)                                                                      \
    FOR_SET(X, support.supports)

static void lay_out(mabd_affine_contacts* c, const mabd_model* m, mabd_arena* arena) {
    const size_t bodies = (size_t)m->body_count;
    c->by_body.component = mabd_arena_take(arena, bodies, sizeof *c->by_body.component);
    c->by_body.head = mabd_arena_take(arena, bodies, sizeof *c->by_body.head);
    c->by_body.row_first = mabd_arena_take(arena, bodies, sizeof *c->by_body.row_first);
    c->by_body.row_count = mabd_arena_take(arena, bodies, sizeof *c->by_body.row_count);
    c->by_body.change = mabd_arena_take(arena, bodies, sizeof *c->by_body.change);
    c->by_body.euler = mabd_arena_take(arena, bodies, sizeof *c->by_body.euler);
    c->by_body.euler_steps = mabd_arena_take(arena, bodies, sizeof *c->by_body.euler_steps);
    c->by_body.start_euler_steps =
        mabd_arena_take(arena, bodies, sizeof *c->by_body.start_euler_steps);
    c->by_body.place = mabd_arena_take(arena, bodies, sizeof *c->by_body.place);
    const size_t components = (size_t)m->plan->component_count;
    c->by_component.role = mabd_arena_take(arena, components, sizeof *c->by_component.role);
    c->by_component.group = mabd_arena_take(arena, components, sizeof *c->by_component.group);
    c->by_component.line = mabd_arena_take(arena, components, sizeof *c->by_component.line);
    c->by_component.met = mabd_arena_take(arena, components, sizeof *c->by_component.met);
    c->by_component.free = mabd_arena_take(arena, components, sizeof *c->by_component.free);
    c->by_component.small = mabd_arena_take(arena, components, sizeof *c->by_component.small);
    c->by_component.side = mabd_arena_take(arena, components, sizeof *c->by_component.side);
}

static void fill_bodies(mabd_affine_contacts* c, const mabd_model* m) {
    const mabd_plan* plan = m->plan;
    for (int32_t i = 0; i < m->body_count; i++)
        c->by_body.head[i] = c->by_body.place[i] = c->by_body.component[i] = -1;
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* component = &plan->components[i];
        c->by_component.side[i] = -1;
        c->by_component.small[i] =
            component->body_count <= MABD_SMALL_MAX_BODIES && component->junction_count == 0;
        for (int32_t k = 0; k < component->body_count; k++) {
            c->by_body.component[plan->component_bodies[component->body_first + k]] = i;
        }
    }
}

static mabd_status fill(mabd_affine_contacts* c, const mabd_model* m) {
    mabd_arena arena = {0};
    lay_out(c, m, &arena);
    c->memory_size = arena.used;
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    c->memory = mabd_alloc(&c->allocator, arena.used);
    if (!c->memory) return MABD_ERR_MEMORY;
    arena = (mabd_arena){.memory = c->memory, .size = arena.used};
    lay_out(c, m, &arena);
    fill_bodies(c, m);
    return mabd_collide_create(m, &c->allocator, &c->geometry);
}

mabd_status mabd_affine_contacts_create(const mabd_model* m, const mabd_allocator* allocator,
                                        mabd_affine_contacts** out) {
    *out = NULL;
    if (!m->contact.enabled) return MABD_OK;
    mabd_affine_contacts* c = mabd_alloc(allocator, sizeof *c);
    if (!c) return MABD_ERR_MEMORY;
    c->allocator = *allocator;
    c->by_component.count = m->plan->component_count;
    if (fill(c, m) != MABD_OK) {
        mabd_affine_contacts_destroy(c);
        return MABD_ERR_MEMORY;
    }
    *out = c;
    return MABD_OK;
}

void mabd_affine_contacts_destroy(mabd_affine_contacts* c) {
    if (!c) return;
    const mabd_allocator allocator = c->allocator;
    mabd_collide_destroy(c->geometry);
#define FREE(name, type) mabd_list_free(&allocator, &c->name, sizeof(type));
    FOR_LISTS(FREE)
#undef FREE
    mabd_free(&allocator, c->memory, c->memory_size);
    mabd_free(&allocator, c, sizeof *c);
}

size_t mabd_affine_contacts_bytes(const mabd_affine_contacts* c) {
    if (!c) return 0;
    size_t bytes = sizeof *c + c->memory_size + mabd_collide_bytes(c->geometry);
#define ADD(name, type) bytes += mabd_bytes((size_t)c->name.capacity, sizeof(type));
    FOR_LISTS(ADD)
#undef ADD
    return bytes;
}

size_t mabd_affine_contacts_bytes_per_contact(void) {
    const size_t rows = 8 * sizeof(mabd_vec12), pair = 2 * sizeof(uint64_t);
    return sizeof(mabd_affine_contact) + 2 * sizeof(mabd_affine_saved_contact) + sizeof(int32_t) +
           rows + pair;
}

size_t mabd_affine_contacts_bytes_for(const mabd_model* m) {
    if (!m->contact.enabled) return 0;
    mabd_affine_contacts c = {0};
    mabd_arena arena = {0};
    lay_out(&c, m, &arena);
    const size_t geometry = mabd_collide_bytes_for(m);
    if (arena.used == SIZE_MAX || geometry == SIZE_MAX) return SIZE_MAX;
    return arena.used + geometry + sizeof c;
}

void mabd_affine_contacts_forget(mabd_affine_contacts* c) {
    c->list.current.count = c->list.saved.count = c->list.last_reference.count = 0;
    memset(&c->totals, 0, sizeof c->totals);
}
