// SPDX-License-Identifier: Apache-2.0
// Copies of signals, height fields and names, and sharing of equal classes and axes. Classes are
// found through an open-addressed hash table of the bytes of their numbers, with linear probing;
// its size is a power of two and at least twice the number of classes.
#include "scene/store.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "math/quat.h"
#include "scene/signal.h"

#include <stdio.h>
#include <string.h>

// ---- signals -----------------------------------------------------------------------------------

static size_t table_bytes(int32_t count) {
    return mabd_bytes((size_t)count, 2 * sizeof(mabd_real));
}

mabd_status mabd_store_signal(mabd_scene* scene, const mabd_signal* signal, mabd_signal* owned) {
    mabd_signal clean = mabd_signal_clean(signal);
    if (mabd_signal_has_points(&clean)) {
        int32_t count = clean.point_count;
        size_t half = (size_t)count * sizeof(mabd_real);
        MABD_TRY(mabd_list_reserve(&scene->allocator, &scene->tables, sizeof(mabd_scene_table), 1));
        mabd_real* data = mabd_alloc(&scene->allocator, table_bytes(count));
        if (!data) return MABD_ERR_MEMORY;
        memcpy(data, clean.times, half);
        memcpy(data + count, clean.values, half);
        mabd_scene_table table = {data, count};
        ((mabd_scene_table*)scene->tables.data)[scene->tables.count++] = table;
        clean.times = data;
        clean.values = data + count;
    }
    *owned = clean;
    return MABD_OK;
}

void mabd_store_drop_tables(mabd_scene* scene, int32_t first) {
    mabd_scene_table* tables = (mabd_scene_table*)scene->tables.data;
    for (int32_t i = first; i < scene->tables.count; i++) {
        mabd_free(&scene->allocator, tables[i].data, table_bytes(tables[i].count));
    }
    if (scene->tables.count > first) scene->tables.count = first;
}

// ---- height fields -----------------------------------------------------------------------------

static size_t heights_bytes(const mabd_height_field* field) {
    return (size_t)field->columns * (size_t)field->rows * sizeof(mabd_real);
}

/// Compute the bytes of the block of a field: the struct, then the heights.
static size_t field_bytes(const mabd_height_field* field) {
    return mabd_bytes(1, sizeof *field) + heights_bytes(field);
}

static mabd_status own_field(mabd_scene* scene, const mabd_height_field** field) {
    MABD_TRY(mabd_list_reserve(&scene->allocator, &scene->fields, sizeof *field, 1));
    char* block = mabd_alloc(&scene->allocator, field_bytes(*field));
    if (!block) return MABD_ERR_MEMORY;
    mabd_height_field* owned = (mabd_height_field*)block;
    mabd_real* heights = (mabd_real*)(block + mabd_bytes(1, sizeof *owned));
    memcpy(heights, (*field)->heights, heights_bytes(*field));
    *owned = **field;
    owned->heights = heights;
    ((mabd_height_field**)scene->fields.data)[scene->fields.count++] = owned;
    *field = owned;
    return MABD_OK;
}

mabd_status mabd_store_own_fields(mabd_scene* scene, const mabd_scene_class* added) {
    mabd_geom* geoms = (mabd_geom*)scene->geoms.data + added->geom_first;
    for (int32_t i = 0; i < added->geom_count; i++) {
        if (geoms[i].field) MABD_TRY(own_field(scene, &geoms[i].field));
    }
    return MABD_OK;
}

void mabd_store_drop_fields(mabd_scene* scene, int32_t first) {
    mabd_height_field** fields = (mabd_height_field**)scene->fields.data;
    for (int32_t i = first; i < scene->fields.count; i++) {
        mabd_free(&scene->allocator, fields[i], field_bytes(fields[i]));
    }
    if (scene->fields.count > first) scene->fields.count = first;
}

// ---- classes -----------------------------------------------------------------------------------

mabd_status mabd_store_stage_geoms(mabd_scene* scene, int32_t count, const mabd_geom* geoms,
                                   const mabd_geom** staged) {
    *staged = NULL;
    if (count == 0) return MABD_OK;
    MABD_TRY(mabd_list_reserve(&scene->allocator, &scene->geoms, sizeof(mabd_geom), count));
    mabd_geom* place = (mabd_geom*)scene->geoms.data + scene->geoms.count;
    for (int32_t i = 0; i < count; i++) {
        place[i] = mabd_geom_make(geoms[i].shape, geoms[i].size, geoms[i].density);
        place[i].friction = geoms[i].friction;
        place[i].restitution = geoms[i].restitution;
        place[i].rolling_friction = geoms[i].rolling_friction;
        place[i].spinning_friction = geoms[i].spinning_friction;
        memcpy(place[i].surface_velocity, geoms[i].surface_velocity,
               sizeof place[i].surface_velocity);
        place[i].category = geoms[i].category;
        place[i].mask = geoms[i].mask;
        if (geoms[i].shape == MABD_SHAPE_HEIGHT_FIELD) place[i].field = geoms[i].field;
        memcpy(place[i].position, geoms[i].position, sizeof place[i].position);
        mabd_q_store(mabd_q_normalize(mabd_q_load(geoms[i].rotation)), place[i].rotation);
    }
    *staged = place;
    return MABD_OK;
}

mabd_scene_class mabd_store_make_class(const mabd_scene* scene, const mabd_body_def* def) {
    mabd_scene_class made = {.geom_first = scene->geoms.count,
                             .geom_count = def->geom_count,
                             .inertia_given = def->inertia_given,
                             .mass = def->mass,
                             .density = def->density,
                             .young = def->young,
                             .poisson = def->poisson,
                             .drag = def->drag};
    if (def->inertia_given) {
        memcpy(made.inertia, def->inertia, sizeof made.inertia);
        memcpy(made.center, def->center, sizeof made.center);
    }
    return made;
}

static const mabd_geom* class_geoms(const mabd_scene* scene, const mabd_scene_class* of) {
    return of->geom_count ? (const mabd_geom*)scene->geoms.data + of->geom_first : NULL;
}

/// All numbers of a class except its geoms, for comparison and hashing.
#define CLASS_REALS 14
static void class_reals(const mabd_scene_class* of, mabd_real* reals) {
    memcpy(reals, of->inertia, sizeof of->inertia);
    memcpy(reals + 6, of->center, sizeof of->center);
    reals[9] = of->mass;
    reals[10] = of->density;
    reals[11] = of->young;
    reals[12] = of->poisson;
    reals[13] = of->drag;
}

#define GEOM_REALS 18
static void geom_reals(const mabd_geom* of, mabd_real* reals) {
    memcpy(reals, of->size, sizeof of->size);
    memcpy(reals + 3, of->position, sizeof of->position);
    memcpy(reals + 6, of->rotation, sizeof of->rotation);
    reals[10] = of->density;
    reals[11] = of->friction;
    reals[12] = of->restitution;
    reals[13] = of->rolling_friction;
    reals[14] = of->spinning_friction;
    memcpy(reals + 15, of->surface_velocity, sizeof of->surface_velocity);
}

static bool field_equal(const mabd_height_field* a, const mabd_height_field* b) {
    if (a == b) return true;
    if (!a || !b || a->columns != b->columns || a->rows != b->rows) return false;
    return a->dx == b->dx && a->dy == b->dy &&
           memcmp(a->heights, b->heights, heights_bytes(a)) == 0;
}

static bool geom_equal(const mabd_geom* a, const mabd_geom* b) {
    mabd_real reals_a[GEOM_REALS], reals_b[GEOM_REALS];
    if (a->shape != b->shape || a->category != b->category || a->mask != b->mask) return false;
    geom_reals(a, reals_a), geom_reals(b, reals_b);
    return memcmp(reals_a, reals_b, sizeof reals_a) == 0 && field_equal(a->field, b->field);
}

static uint64_t class_hash(const mabd_scene* scene, const mabd_scene_class* of) {
    mabd_real reals[CLASS_REALS > GEOM_REALS ? CLASS_REALS : GEOM_REALS];
    class_reals(of, reals);
    uint64_t hash = mabd_hash(MABD_HASH_START, reals, CLASS_REALS * sizeof(mabd_real));
    const mabd_geom* geoms = class_geoms(scene, of);
    for (int32_t i = 0; i < of->geom_count; i++) {
        geom_reals(&geoms[i], reals);
        hash = mabd_hash(hash, &geoms[i].shape, sizeof geoms[i].shape);
        hash = mabd_hash(hash, &geoms[i].category, sizeof geoms[i].category);
        hash = mabd_hash(hash, &geoms[i].mask, sizeof geoms[i].mask);
        hash = mabd_hash(hash, reals, GEOM_REALS * sizeof(mabd_real));
    }
    return hash;
}

static bool class_equal(const mabd_scene* scene, const mabd_scene_class* a,
                        const mabd_scene_class* b) {
    mabd_real reals_a[CLASS_REALS], reals_b[CLASS_REALS];
    if (a->inertia_given != b->inertia_given || a->geom_count != b->geom_count) return false;
    class_reals(a, reals_a), class_reals(b, reals_b);
    if (memcmp(reals_a, reals_b, CLASS_REALS * sizeof(mabd_real)) != 0) return false;
    const mabd_geom *geoms_a = class_geoms(scene, a), *geoms_b = class_geoms(scene, b);
    for (int32_t i = 0; i < a->geom_count; i++) {
        if (!geom_equal(&geoms_a[i], &geoms_b[i])) return false;
    }
    return true;
}

/// Find the bucket of an equal class, or the empty bucket where the class belongs.
static uint32_t class_bucket(const mabd_scene* scene, const mabd_list* buckets,
                             const mabd_scene_class* wanted) {
    const int32_t* slots = (const int32_t*)buckets->data;
    const mabd_scene_class* classes = (const mabd_scene_class*)scene->classes.data;
    uint32_t mask = (uint32_t)buckets->count - 1;
    uint32_t i = (uint32_t)class_hash(scene, wanted) & mask;
    while (slots[i] >= 0 && !class_equal(scene, &classes[slots[i]], wanted)) i = (i + 1) & mask;
    return i;
}

int32_t mabd_store_find_class(const mabd_scene* scene, const mabd_scene_class* wanted) {
    if (scene->class_buckets.count == 0) return -1;
    const int32_t* slots = (const int32_t*)scene->class_buckets.data;
    return slots[class_bucket(scene, &scene->class_buckets, wanted)];
}

mabd_status mabd_store_reserve_class(mabd_scene* scene) {
    MABD_TRY(mabd_list_reserve(&scene->allocator, &scene->classes, sizeof(mabd_scene_class), 1));
    mabd_list* buckets = &scene->class_buckets;
    if (2 * ((int64_t)scene->classes.count + 1) <= buckets->count) return MABD_OK;
    int64_t size = buckets->count ? 2 * (int64_t)buckets->count : 16;
    mabd_list larger = {0};
    MABD_TRY(mabd_list_reserve(&scene->allocator, &larger, sizeof(int32_t), size));
    larger.count = (int32_t)size;
    int32_t* slots = (int32_t*)larger.data;
    for (int64_t i = 0; i < size; i++) slots[i] = -1;
    const mabd_scene_class* classes = (const mabd_scene_class*)scene->classes.data;
    for (int32_t i = 0; i < scene->classes.count; i++) {
        slots[class_bucket(scene, &larger, &classes[i])] = i;
    }
    mabd_list_free(&scene->allocator, buckets, sizeof(int32_t));
    *buckets = larger;
    return MABD_OK;
}

int32_t mabd_store_commit_class(mabd_scene* scene, const mabd_scene_class* added) {
    int32_t index = scene->classes.count;
    int32_t* slots = (int32_t*)scene->class_buckets.data;
    slots[class_bucket(scene, &scene->class_buckets, added)] = index;
    ((mabd_scene_class*)scene->classes.data)[scene->classes.count++] = *added;
    scene->geoms.count += added->geom_count;
    return index;
}

// ---- axes --------------------------------------------------------------------------------------

bool mabd_store_axis_acts(const mabd_axis_def* def) {
    return def->stiffness > 0 || def->damping > 0 || def->armature > 0 ||
           def->servo.kind != MABD_SIGNAL_NONE || def->motor.kind != MABD_SIGNAL_NONE ||
           def->motor_velocity.kind != MABD_SIGNAL_NONE || def->limited || def->friction > 0 ||
           def->pin.friction > 0;
}

bool mabd_store_make_axes(const mabd_joint_def* def, mabd_scene_axes* axes) {
    const mabd_axis_def* const* defs = def->axes;
    bool any = false;
    memset(axes, 0, sizeof *axes);
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        axes->weight[k] = k < MABD_AXIS_RX ? def->force_weight : def->torque_weight;
        if (defs[k] && defs[k]->weight > 0) axes->weight[k] = defs[k]->weight;
        any |= axes->weight[k] != 1;
        if (!defs[k] || !mabd_store_axis_acts(defs[k])) continue;
        axes->used[k] = any = true;
        axes->axis[k] = *defs[k];
        axes->axis[k].weight = 0;
        axes->axis[k].servo = mabd_signal_clean(&defs[k]->servo);
        axes->axis[k].motor = mabd_signal_clean(&defs[k]->motor);
        axes->axis[k].motor_velocity = mabd_signal_clean(&defs[k]->motor_velocity);
        if (defs[k]->limited) continue;
        axes->axis[k].lower = axes->axis[k].upper = axes->axis[k].limit_restitution = 0;
    }
    return any;
}

static bool axis_equal(const mabd_axis_def* a, const mabd_axis_def* b) {
    return a->stiffness == b->stiffness && a->rest == b->rest && a->damping == b->damping &&
           a->armature == b->armature && a->servo_rigid == b->servo_rigid &&
           a->servo_stiffness == b->servo_stiffness && a->servo_damping == b->servo_damping &&
           a->limited == b->limited && a->lower == b->lower && a->upper == b->upper &&
           a->limit_restitution == b->limit_restitution && a->max_force == b->max_force &&
           a->friction == b->friction && a->friction_speed == b->friction_speed &&
           a->pin.friction == b->pin.friction && a->pin.radius == b->pin.radius &&
           a->pin.length == b->pin.length && a->pin.face == b->pin.face &&
           mabd_signal_equal(&a->servo, &b->servo) && mabd_signal_equal(&a->motor, &b->motor) &&
           mabd_signal_equal(&a->motor_velocity, &b->motor_velocity);
}

bool mabd_store_equal_axes(const mabd_scene_axes* a, const mabd_scene_axes* b) {
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        if (a->used[k] != b->used[k] || !axis_equal(&a->axis[k], &b->axis[k])) return false;
        if (a->weight[k] != b->weight[k]) return false;
    }
    return true;
}

bool mabd_store_is_last_axes(const mabd_scene* scene, const mabd_scene_axes* axes) {
    const mabd_scene_axes* sets = scene->axes.data;
    const int32_t count = scene->axes.count;
    return count > 0 && mabd_store_equal_axes(&sets[count - 1], axes);
}

mabd_status mabd_store_own_axes(mabd_scene* scene, mabd_scene_axes* axes) {
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        mabd_axis_def* axis = &axes->axis[k];
        MABD_TRY(mabd_store_signal(scene, &axis->servo, &axis->servo));
        MABD_TRY(mabd_store_signal(scene, &axis->motor, &axis->motor));
        MABD_TRY(mabd_store_signal(scene, &axis->motor_velocity, &axis->motor_velocity));
    }
    return MABD_OK;
}

// ---- names -------------------------------------------------------------------------------------

mabd_status mabd_store_name(mabd_scene* scene, mabd_names* names, const mabd_subject* subject,
                            int32_t count) {
    const char* name = subject->name;
    if (!name) return MABD_OK;
    const uint32_t control = mabd_text_control(name);
    if (control) {
        return mabd_reject(subject, "the name has the control character U+%04X", (unsigned)control);
    }
    mabd_status status = mabd_names_add(&scene->allocator, names, name, subject->index, count);
    if (status != MABD_ERR_ARG) return status;
    if (name[0] == '\0') return mabd_reject(subject, "the name is empty");
    if (mabd_names_reserved(name)) {
        return mabd_reject(subject, "names that end in '/' and a number are made by the scene");
    }
    return mabd_reject(subject, "the name is taken");
}

mabd_status mabd_store_refuse_copies(const mabd_scene* scene, mabd_error* error) {
    if (scene->copies == 0) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG, "a scene that holds copies takes copies only");
}

const char* mabd_store_body_label(const mabd_scene* scene, int32_t body, char* text, size_t size) {
    char name[101];
    if (body == MABD_WORLD) {
        snprintf(text, size, "the world");
    } else if (mabd_names_write(&scene->body_names, body, name, sizeof name)) {
        snprintf(text, size, "body '%s'", name);
    } else {
        snprintf(text, size, "body %d", (int)body);
    }
    return text;
}

bool mabd_store_is_controlled(const mabd_scene_axes* axes) {
    bool controlled = false;
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        const mabd_axis_def* axis = &axes->axis[k];
        controlled |= axes->used[k] && (axis->servo.kind != MABD_SIGNAL_NONE ||
                                        axis->motor.kind != MABD_SIGNAL_NONE ||
                                        axis->motor_velocity.kind != MABD_SIGNAL_NONE);
    }
    return controlled;
}
