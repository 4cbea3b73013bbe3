// SPDX-License-Identifier: Apache-2.0
// Memory of contacts: what is known from the model is laid out once; lists of contacts grow and stay.

#include "formulation/affine/contact/contact.h"

#include <string.h>

// Bodies of a component up to which what contact forces do to it is put together as a matrix.
#define FEW_BODIES 16

// Contacts of a step may differ from those of the next by whatever comes near: lists double when they are full.
#define FOR_LISTS(X)                                                                               \
    X(list, mabd_affine_contact)                                                                   \
    X(before, mabd_affine_contact)                                                                 \
    X(kept, mabd_affine_saved_contact)                                                             \
    X(former, mabd_affine_saved_contact)                                                           \
    X(next, int32_t)                                                                               \
    X(touched, int32_t)                                                                            \
    X(rows, mabd_vec12)                                                                            \
    X(free, int32_t)                                                                               \
    X(runs, mabd_affine_contact_range)                                                             \
    X(blocks.sides, mabd_affine_contact_side)                                                      \
    X(blocks.duals, mabd_real)                                                                     \
    X(blocks.joints, int32_t)                                                                      \
    X(blocks.start, int32_t)                                                                       \
    X(blocks.end, int32_t)                                                                         \
    X(blocks.column, int32_t)                                                                      \
    X(blocks.place, int32_t)                                                                       \
    X(blocks.block, mabd_real)                                                                     \
    X(groups, int32_t)                                                                             \
    X(carried, int32_t)                                                                            \
    X(frees.bodies, int32_t)                                                                       \
    X(frees.sides, mabd_affine_body_side)                                                          \
    X(frees.rows, mabd_vec12)                                                                      \
    X(frees.components, int32_t)                                                                   \
    X(riders.bodies, int32_t)                                                                      \
    X(riders.sides, mabd_affine_body_side)                                                         \
    X(riders.rows, mabd_vec12)                                                                     \
    X(riders.components, int32_t)                                                                  \
    X(carriers.bodies, int32_t)                                                                    \
    X(carriers.sides, mabd_affine_body_side)                                                       \
    X(carriers.rows, mabd_vec12)                                                                   \
    X(carriers.components, int32_t)                                                                \
    X(body_work, mabd_vec12)                                                                       \
    X(reals, mabd_real)                                                                            \
    X(dual_work, mabd_real)

static void lay_out(mabd_affine_contacts* c, const mabd_model* m, mabd_arena* arena) {
    const size_t bodies = (size_t)m->body_count;
    c->component = mabd_arena_take(arena, bodies, sizeof *c->component);
    c->head = mabd_arena_take(arena, bodies, sizeof *c->head);
    c->row_first = mabd_arena_take(arena, bodies, sizeof *c->row_first);
    c->row_count = mabd_arena_take(arena, bodies, sizeof *c->row_count);
    c->change = mabd_arena_take(arena, bodies, sizeof *c->change);
    c->euler = mabd_arena_take(arena, bodies, sizeof *c->euler);
    c->calm = mabd_arena_take(arena, bodies, sizeof *c->calm);
    c->place = mabd_arena_take(arena, bodies, sizeof *c->place);
    const size_t components = (size_t)m->plan->component_count;
    c->role = mabd_arena_take(arena, components, sizeof *c->role);
    c->group = mabd_arena_take(arena, components, sizeof *c->group);
    c->line = mabd_arena_take(arena, components, sizeof *c->line);
    c->met = mabd_arena_take(arena, components, sizeof *c->met);
    c->small = mabd_arena_take(arena, components, sizeof *c->small);
    c->side = mabd_arena_take(arena, components, sizeof *c->side);
}

static void fill_bodies(mabd_affine_contacts* c, const mabd_model* m) {
    const mabd_plan* plan = m->plan;
    for (int32_t i = 0; i < m->body_count; i++) c->head[i] = c->place[i] = c->component[i] = -1;
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* component = &plan->components[i];
        c->side[i] = -1;
        c->small[i] = component->body_count <= FEW_BODIES && component->junction_count == 0;
        for (int32_t k = 0; k < component->body_count; k++) {
            c->component[plan->component_bodies[component->body_first + k]] = i;
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
    c->component_count = m->plan->component_count;
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
    c->list.count = c->kept.count = c->former.count = 0;
    memset(&c->totals, 0, sizeof c->totals);
}
