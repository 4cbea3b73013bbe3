// SPDX-License-Identifier: Apache-2.0
// Memory of contacts: what is known from the model is laid out once; lists of contacts grow and stay.

#include "formulation/affine/contact/contact.h"

#include "contact/bounds.h"

#include <math.h>
#include <string.h>

// Bodies of a component up to which what contact forces do to it is put together as a matrix.
#define FEW_BODIES 16

// Contacts of a step may differ from those of the next by whatever comes near: lists double when they are full.
#define FOR_LISTS(X)                                                                               \
    X(found, mabd_broad_pair)                                                                      \
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

// Of bodies first .. last - 1.
static int32_t count_geoms(const mabd_model* m, int32_t first, int32_t last, int32_t* planes) {
    int32_t geoms = 0;
    *planes = 0;
    for (int32_t body = first; body < last; body++) {
        int32_t count;
        const mabd_model_collider* colliders = mabd_model_colliders(m, body, &count);
        geoms += count;
        for (int32_t k = 0; k < count; k++) {
            *planes += colliders[k].shape.kind == MABD_COLLIDER_PLANE;
        }
    }
    return geoms;
}

// Geoms of all bodies, and of the copy that has most: a model without copies is one.
static void count_all(mabd_affine_contacts* c, const mabd_model* m) {
    c->copy_count = m->copy_count > 0 ? m->copy_count : 1;
    c->copy_bodies = m->body_count / c->copy_count;
    c->geom_count = c->plane_count = c->copy_geoms = 0;
    for (int32_t i = 0; i < c->copy_count; i++) {
        int32_t planes;
        const int32_t first = i * c->copy_bodies;
        const int32_t geoms = count_geoms(m, first, first + c->copy_bodies, &planes);
        c->geom_count += geoms, c->plane_count += planes;
        if (geoms > c->copy_geoms) c->copy_geoms = geoms;
    }
}

static void lay_out(mabd_affine_contacts* c, const mabd_model* m, mabd_arena* arena) {
    const size_t geoms = (size_t)c->geom_count, bodies = (size_t)m->body_count;
    c->collider = mabd_arena_take(arena, geoms, sizeof *c->collider);
    c->geoms = mabd_arena_take(arena, geoms, sizeof *c->geoms);
    c->boxes = mabd_arena_take(arena, geoms, sizeof *c->boxes);
    c->planes = mabd_arena_take(arena, (size_t)c->plane_count, sizeof *c->planes);
    const size_t copies = (size_t)c->copy_count + 1;
    c->geom_first = mabd_arena_take(arena, copies, sizeof *c->geom_first);
    c->plane_first = mabd_arena_take(arena, copies, sizeof *c->plane_first);
    c->thickness = mabd_arena_take(arena, geoms, sizeof *c->thickness);
    c->reach = mabd_arena_take(arena, geoms, sizeof *c->reach);
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

static void fill_geoms(mabd_affine_contacts* c, const mabd_model* m) {
    int32_t geom = 0, plane = 0;
    c->thin = (mabd_real)INFINITY;
    for (int32_t body = 0; body < m->body_count; body++) {
        const int32_t copy = body / c->copy_bodies;
        int32_t count;
        const mabd_model_collider* colliders = mabd_model_colliders(m, body, &count);
        if (body % c->copy_bodies == 0) c->geom_first[copy] = geom, c->plane_first[copy] = plane;
        for (int32_t k = 0; k < count; k++, geom++) {
            const mabd_collider* shape = &colliders[k].shape;
            c->collider[geom] = &colliders[k];
            c->geoms[geom].body = body;
            c->geoms[geom].category = colliders[k].category;
            c->geoms[geom].mask = colliders[k].mask;
            c->geoms[geom].moving = m->body_motion[body] == MABD_MOTION_DYNAMIC;
            c->thickness[geom] = mabd_collider_thickness(shape);
            if (c->geoms[geom].moving && c->thickness[geom] < c->thin) c->thin = c->thickness[geom];
            c->reach[geom] = mabd_collider_reach(shape) + mabd_v3_norm(colliders[k].pose.position);
            if (shape->kind == MABD_COLLIDER_PLANE) {
                c->planes[plane++].geom = geom - c->geom_first[copy];
            }
        }
    }
    c->geom_first[c->copy_count] = geom, c->plane_first[c->copy_count] = plane;
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

// It looks at one copy at a time.
static mabd_broad_def broad_def(const mabd_model* m, const mabd_affine_contacts* c) {
    mabd_broad_def def = {.geom_capacity = c->copy_geoms, .body_count = m->body_count};
    def.exclusion_count = m->contact.exclusion_count;
    def.exclusions = (const int32_t(*)[2])m->contact.exclusions;
    return def;
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
    fill_geoms(c, m);
    fill_bodies(c, m);
    const mabd_broad_def def = broad_def(m, c);
    return mabd_broad_create(&c->allocator, &def, &c->broad);
}

mabd_status mabd_affine_contacts_create(const mabd_model* m, const mabd_allocator* allocator,
                                        mabd_affine_contacts** out) {
    *out = NULL;
    if (!m->contact.enabled) return MABD_OK;
    mabd_affine_contacts* c = mabd_alloc(allocator, sizeof *c);
    if (!c) return MABD_ERR_MEMORY;
    c->allocator = *allocator;
    count_all(c, m);
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
    mabd_broad_destroy(c->broad);
#define FREE(name, type) mabd_list_free(&allocator, &c->name, sizeof(type));
    FOR_LISTS(FREE)
#undef FREE
    mabd_free(&allocator, c->memory, c->memory_size);
    mabd_free(&allocator, c, sizeof *c);
}

size_t mabd_affine_contacts_bytes(const mabd_affine_contacts* c) {
    if (!c) return 0;
    size_t bytes = sizeof *c + c->memory_size + mabd_broad_bytes(c->broad);
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
    count_all(&c, m);
    lay_out(&c, m, &arena);
    const mabd_broad_def def = broad_def(m, &c);
    const size_t broad = mabd_broad_bytes_for(&def);
    if (arena.used == SIZE_MAX || broad == SIZE_MAX) return SIZE_MAX;
    return arena.used + broad + sizeof c;
}

void mabd_affine_contacts_forget(mabd_affine_contacts* c) {
    c->list.count = c->kept.count = c->former.count = 0;
    memset(&c->totals, 0, sizeof c->totals);
}
