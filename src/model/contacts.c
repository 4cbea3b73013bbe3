// SPDX-License-Identifier: Apache-2.0
// Geoms and contacts: height fields, colliders in the principal frames of their classes, pairs of
// bodies with surfaces of their own, pairs that never touch, groups of which no two bodies touch.
// Without contacts only geoms are stored.
//
// A point X of a geom with position p and rotation R is R X + p in the user frame, so in the
// principal frame (V, c: classes.c) it is V'R X + V'(p - c): the pose of the collider.

#include "contact/radix_sort.h"
#include "model/build.h"

#include <math.h>
#include <string.h>

// ---- geoms -------------------------------------------------------------------------------------

static size_t node_count(const mabd_height_field* field) {
    return (size_t)field->columns * (size_t)field->rows;
}

void mabd_builder_count_geoms(const mabd_scene* scene, mabd_model_sizes* n) {
    const size_t pairs = (size_t)scene->pairs.count;
    mabd_height_field* const* fields = (mabd_height_field* const*)scene->fields.data;
    n->geoms = (size_t)scene->geoms.count;
    n->fields = (size_t)scene->fields.count;
    for (int32_t i = 0; i < scene->fields.count; i++) n->heights += node_count(fields[i]);
    if (!scene->contact.enabled) return;
    n->collider_first = (size_t)scene->classes.count + 1;
    n->colliders = n->geoms;
    n->exclusions = (size_t)scene->joints.count + pairs;
    n->pairs = pairs;
    n->members = (size_t)scene->members.count;
    n->exceptions = n->members > 0 ? pairs : 0;
}

void mabd_builder_geoms(mabd_model_builder* builder) {
    mabd_model* m = builder->model;
    const mabd_geom* geoms = builder->scene->geoms.data;
    mabd_height_field* field = m->fields;
    mabd_real* heights = m->heights;
    for (int32_t i = 0; i < m->geom_count; i++) {
        m->geoms[i] = geoms[i];
        if (!geoms[i].field) continue;
        const size_t nodes = node_count(geoms[i].field);
        memcpy(heights, geoms[i].field->heights, nodes * sizeof *heights);
        *field = *geoms[i].field;
        field->heights = heights;
        m->geoms[i].field = field++;
        heights += nodes;
    }
}

// ---- colliders ---------------------------------------------------------------------------------

static mabd_model_collider make_collider(const mabd_model_class* c, const mabd_geom* geom) {
    static const mabd_collider_kind kinds[MABD_SHAPE_COUNT] = {
        [MABD_SHAPE_BOX] = MABD_COLLIDER_BOX,
        [MABD_SHAPE_SPHERE] = MABD_COLLIDER_SPHERE,
        [MABD_SHAPE_CAPSULE] = MABD_COLLIDER_CAPSULE,
        [MABD_SHAPE_CYLINDER] = MABD_COLLIDER_CYLINDER,
        [MABD_SHAPE_PLANE] = MABD_COLLIDER_PLANE,
        [MABD_SHAPE_BOWL] = MABD_COLLIDER_BOWL,
        [MABD_SHAPE_HEIGHT_FIELD] = MABD_COLLIDER_HEIGHT_FIELD};
    mabd_model_collider out = {.friction = geom->friction,
                               .restitution = geom->restitution,
                               .rolling = geom->rolling_friction,
                               .spinning = geom->spinning_friction,
                               .category = geom->category,
                               .mask = geom->mask};
    out.shape.kind = kinds[geom->shape];
    memcpy(out.shape.size, geom->size, sizeof out.shape.size);
    out.shape.field = geom->field;
    out.surface =
        mabd_m3_tmul(mabd_q_matrix(mabd_q_load(c->axes)), mabd_v3_load(geom->surface_velocity));
    mabd_class_to_principal(c, geom->position, geom->rotation, &out.pose.position,
                            &out.pose.rotation);
    return out;
}

static void fill_colliders(mabd_model* m) {
    mabd_model_contact* contact = &m->contact;
    for (int32_t i = 0; i < m->class_count; i++) {
        const mabd_model_class* c = &m->classes[i];
        contact->collider_first[i] = contact->collider_count;
        for (int32_t k = 0; k < c->geom_count; k++) {
            const mabd_geom* geom = &m->geoms[c->geom_first + k];
            if (geom->mask == 0) continue;
            const mabd_model_collider made = make_collider(c, geom);
            contact->rolls |= made.rolling > 0 || made.spinning > 0;
            contact->surfaces |= mabd_v3_dot(made.surface, made.surface) > 0;
            contact->colliders[contact->collider_count++] = made;
        }
    }
    contact->collider_first[m->class_count] = contact->collider_count;
}

// ---- pairs -------------------------------------------------------------------------------------

static uint64_t pair_key(int32_t a, int32_t b) {
    return a < b ? (uint64_t)(uint32_t)a << 32 | (uint32_t)b
                 : (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
}

static mabd_model_pair make_pair(const mabd_pair_def* def) {
    mabd_model_pair pair = {.a = def->a < def->b ? def->a : def->b,
                            .b = def->a < def->b ? def->b : def->a,
                            .excluded = def->excluded,
                            .friction = def->friction_given ? def->friction : -1,
                            .restitution = def->restitution_given ? def->restitution : -1,
                            .rolling = def->rolling_friction_given ? def->rolling_friction : -1,
                            .spinning = def->spinning_friction_given ? def->spinning_friction : -1};
    return pair;
}

// ---- sorting by 64-bit keys ----

typedef struct sort_work {
    char* memory;
    size_t bytes, keys, ids;
    uint64_t* key[2];
    int32_t* id[2];
} sort_work;

static mabd_status sort_reserve(sort_work* w, const mabd_allocator* allocator, size_t n) {
    w->keys = mabd_bytes(n, sizeof(uint64_t)), w->ids = mabd_bytes(n, sizeof(int32_t));
    w->bytes = 2 * w->keys + 2 * w->ids + mabd_radix_scratch_bytes();
    w->memory = mabd_alloc(allocator, w->bytes);
    if (!w->memory) return MABD_ERR_MEMORY;
    for (int k = 0; k < 2; k++) {
        w->key[k] = (uint64_t*)(w->memory + (size_t)k * w->keys);
        w->id[k] = (int32_t*)(w->memory + 2 * w->keys + (size_t)k * w->ids);
    }
    return MABD_OK;
}

// Sort key[0] and id[0] (n), stable. Returns the index of the sorted arrays.
static int sort(sort_work* w, size_t n) {
    return mabd_radix_sort((int64_t)n, 64, w->key, w->id, w->memory + 2 * w->keys + 2 * w->ids);
}

// ---- groups ----

// Sort the members of groups by body, then by group.
static mabd_status fill_members(const mabd_model_builder* builder) {
    const mabd_list* list = &builder->scene->members;
    const mabd_scene_member* from = list->data;
    mabd_model* m = builder->model;
    const size_t n = (size_t)list->count;
    sort_work w = {0};
    if (n == 0) return MABD_OK;
    MABD_TRY(sort_reserve(&w, &m->allocator, n));
    for (size_t i = 0; i < n; i++) {
        w.key[0][i] = (uint64_t)(uint32_t)from[i].body << 32 | (uint32_t)from[i].group;
        w.id[0][i] = (int32_t)i;
    }
    const int at = sort(&w, n);
    for (size_t i = 0; i < n; i++) {
        m->contact.members[i][0] = from[w.id[at][i]].body;
        m->contact.members[i][1] = from[w.id[at][i]].group;
    }
    m->contact.member_count = list->count;
    mabd_free(&m->allocator, w.memory, w.bytes);
    return MABD_OK;
}

// First member of a body, member_count if all bodies of members are smaller.
static int32_t first_member(const mabd_model_contact* contact, int32_t body) {
    int32_t low = 0, high = contact->member_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (contact->members[middle][0] < body) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The last group that holds both bodies, -1 = none.
static int32_t common_group(const mabd_model_contact* contact, int32_t a, int32_t b) {
    int32_t i = first_member(contact, a), k = first_member(contact, b), common = -1;
    while (i < contact->member_count && k < contact->member_count && contact->members[i][0] == a &&
           contact->members[k][0] == b) {
        const int32_t g = contact->members[i][1], h = contact->members[k][1];
        if (g == h) common = g;
        i += g <= h, k += h <= g;
    }
    return common;
}

// First pair, by index in the scene, that each group does not replace (group_count), to be freed.
static mabd_status find_replaced(const mabd_model_builder* builder, size_t bytes, int32_t** after) {
    const mabd_scene* scene = builder->scene;
    const mabd_scene_member* members = scene->members.data;
    *after = mabd_alloc(&builder->model->allocator, bytes);
    if (!*after) return MABD_ERR_MEMORY;
    for (int32_t i = 0; i < scene->members.count; i++)
        (*after)[members[i].group] = members[i].after;
    return MABD_OK;
}

// ---- pairs ----

static void add_exception(mabd_model_contact* contact, const mabd_pair_def* def) {
    contact->exceptions[contact->exception_count][0] = def->a;
    contact->exceptions[contact->exception_count++][1] = def->b;
}

// Sort the pairs by bodies and keep the last definition of each, since the sort is stable, unless a
// later group replaces it. after: first pair that a group does not replace.
static mabd_status fill_sorted_pairs(const mabd_model_builder* builder, const int32_t* after) {
    const mabd_list* list = &builder->scene->pairs;
    const mabd_pair_def* defs = list->data;
    mabd_model* m = builder->model;
    const size_t n = (size_t)list->count;
    sort_work w = {0};
    MABD_TRY(sort_reserve(&w, &m->allocator, n));
    for (size_t i = 0; i < n; i++) {
        w.key[0][i] = pair_key(defs[i].a, defs[i].b);
        w.id[0][i] = (int32_t)i;
    }
    const int at = sort(&w, n);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && w.key[at][i] == w.key[at][i + 1]) continue;
        const int32_t last = w.id[at][i];
        const int32_t group = common_group(&m->contact, defs[last].a, defs[last].b);
        if (group >= 0 && last < after[group]) continue;
        if (group >= 0 && !defs[last].excluded) add_exception(&m->contact, &defs[last]);
        m->contact.pairs[m->contact.pair_count++] = make_pair(&defs[last]);
    }
    mabd_free(&m->allocator, w.memory, w.bytes);
    return MABD_OK;
}

static mabd_status fill_pairs(const mabd_model_builder* builder) {
    const size_t bytes = mabd_bytes((size_t)builder->scene->group_count, sizeof(int32_t));
    int32_t* after;
    if (builder->scene->pairs.count == 0) return MABD_OK;
    MABD_TRY(find_replaced(builder, bytes, &after));
    const mabd_status status = fill_sorted_pairs(builder, after);
    mabd_free(&builder->model->allocator, after, bytes);
    return status;
}

// The pair of two bodies, null = the scene has none.
static const mabd_model_pair* find_pair(const mabd_model_contact* contact, int32_t a, int32_t b) {
    const uint64_t wanted = pair_key(a, b);
    int32_t low = 0, high = contact->pair_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const mabd_model_pair* pair = &contact->pairs[middle];
        const uint64_t key = pair_key(pair->a, pair->b);
        if (key == wanted) return pair;
        if (key < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static void exclude(mabd_model_contact* contact, int32_t a, int32_t b) {
    contact->exclusions[contact->exclusion_count][0] = a < b ? a : b;
    contact->exclusions[contact->exclusion_count++][1] = a < b ? b : a;
}

static void fill_exclusions(mabd_model* m, bool neighbours) {
    mabd_model_contact* contact = &m->contact;
    for (int32_t i = 0; i < contact->pair_count; i++) {
        if (contact->pairs[i].excluded) exclude(contact, contact->pairs[i].a, contact->pairs[i].b);
    }
    for (int32_t i = 0; i < m->joint_count && !neighbours; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        if (joint->a == m->body_count || joint->b == m->body_count) continue; // no geoms there
        if (!find_pair(contact, joint->a, joint->b)) exclude(contact, joint->a, joint->b);
    }
}

mabd_status mabd_builder_contacts(mabd_model_builder* builder) {
    const mabd_contact_def* def = &builder->scene->contact;
    mabd_model* m = builder->model;
    if (!def->enabled) {
        m->contact = (mabd_model_contact){0}; // no pointers into the arena
        return MABD_OK;
    }
    m->contact.enabled = true;
    m->contact.margin = def->margin;
    m->contact.compliance = def->compliance;
    fill_colliders(m);
    MABD_TRY(fill_members(builder));
    MABD_TRY(fill_pairs(builder));
    fill_exclusions(m, def->neighbours);
    return MABD_OK;
}

static mabd_real larger(mabd_real a, mabd_real b) {
    return a > b ? a : b;
}

mabd_model_surfaces mabd_model_surface(const mabd_model* m, int32_t a,
                                       const mabd_model_collider* on_a, int32_t b,
                                       const mabd_model_collider* on_b) {
    const mabd_model_pair* pair = find_pair(&m->contact, a, b);
    mabd_model_surfaces s = {.friction = (mabd_real)sqrt(on_a->friction * on_b->friction),
                             .restitution = larger(on_a->restitution, on_b->restitution),
                             .rolling = larger(on_a->rolling, on_b->rolling),
                             .spinning = larger(on_a->spinning, on_b->spinning)};
    if (!pair) return s;
    if (pair->friction >= 0) s.friction = pair->friction;
    if (pair->restitution >= 0) s.restitution = pair->restitution;
    if (pair->rolling >= 0) s.rolling = pair->rolling;
    if (pair->spinning >= 0) s.spinning = pair->spinning;
    return s;
}
