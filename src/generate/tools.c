// SPDX-License-Identifier: Apache-2.0
#include "generate/tools.h"
#include "generate/field_defaults.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

mabd_material mabd_default_material(void) {
    mabd_material def = {0};
#include "generate/material.def"
    return def;
}

// ---- checks ------------------------------------------------------------------------------------

mabd_status mabd_generate_check(const mabd_scene* scene, uint32_t cookie, const char* name,
                                const char* what, mabd_error* error) {
    if (!scene) return mabd_fail(error, MABD_ERR_ARG, "%s: no scene given", what);
    if (cookie != MABD_GENERATE_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG, "%s: the def does not come from its default function",
                         what);
    }
    if (name && (strlen(name) == 0 || strlen(name) >= MABD_GENERATE_NAME)) {
        return mabd_fail(error, MABD_ERR_ARG, "%s: name must have 1 to %d characters", what,
                         MABD_GENERATE_NAME - 1);
    }
    return MABD_OK;
}

mabd_status mabd_generate_positive(const char* what, const char* field, mabd_real value,
                                   mabd_error* error) {
    if (isfinite(value) && value > 0) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG, "%s: %s must be positive, not %g", what, field,
                     (double)value);
}

mabd_status mabd_generate_finite(const char* what, const char* field, const mabd_real* values,
                                 int n, mabd_error* error) {
    for (int i = 0; i < n; i++) {
        if (!isfinite(values[i])) {
            return mabd_fail(error, MABD_ERR_ARG, "%s: %s must be finite", what, field);
        }
    }
    return MABD_OK;
}

mabd_status mabd_generate_count(const char* what, const char* field, int64_t value, int64_t least,
                                mabd_error* error) {
    if (value >= least) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG, "%s: %s must be at least %lld, not %lld", what, field,
                     (long long)least, (long long)value);
}

mabd_status mabd_generate_total(const char* what, int64_t total, mabd_error* error) {
    if (total <= INT32_MAX) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG, "%s: too large, bodies and joints are limited to %d",
                     what, INT32_MAX);
}

mabd_status mabd_generate_joint(const char* what, const char* field, mabd_joint type,
                                mabd_error* error) {
    if ((unsigned)type >= MABD_JOINT_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "%s: %s is not a joint type: %d", what, field,
                         (int)type);
    }
    if (type == MABD_JOINT_FREE) {
        return mabd_fail(error, MABD_ERR_ARG, "%s: %s must hold something, not \"free\"", what,
                         field);
    }
    return MABD_OK;
}

// Fewer bytes are not probed: the allocation of the lists fails as early.
#define PROBE_FROM 1e9
// Lower bound of the bytes per body of a model with its topology; `mabd info` prints 271 for a
// chain.
#define MODEL_BYTES_PER_BODY 256

mabd_status mabd_generate_probe(const mabd_scene* scene, int64_t bodies, int64_t joints,
                                mabd_error* error) {
    const mabd_allocator* allocator = &scene->allocator;
    const double bytes = (double)bodies * (sizeof(mabd_scene_body) + MODEL_BYTES_PER_BODY) +
                         (double)joints * sizeof(mabd_scene_joint);
    void* memory = NULL;
    if (bytes < PROBE_FROM) return MABD_OK;
    if (bytes < 9e18) memory = allocator->alloc(allocator->context, (size_t)bytes & ~(size_t)63);
    if (!memory) {
        return mabd_fail(error, MABD_ERR_MEMORY,
                         "out of memory: %lld bodies and %lld joints need at least %.0f MB",
                         (long long)bodies, (long long)joints, bytes / 1e6);
    }
    allocator->free(allocator->context, memory, (size_t)bytes & ~(size_t)63);
    return MABD_OK;
}

mabd_status mabd_generate_reserve(mabd_scene* scene, int64_t bodies, int64_t joints,
                                  mabd_error* error) {
    MABD_TRY(mabd_generate_probe(scene, bodies, joints, error));
    const mabd_allocator* allocator = &scene->allocator;
    mabd_status status =
        mabd_list_reserve(allocator, &scene->bodies, sizeof(mabd_scene_body), bodies);
    if (status == MABD_OK) {
        status = mabd_list_reserve(allocator, &scene->joints, sizeof(mabd_scene_joint), joints);
    }
    return status == MABD_OK ? MABD_OK : mabd_fail_memory(error, "generating bodies and joints");
}

// ---- links -------------------------------------------------------------------------------------

mabd_geom mabd_generate_material_geom(mabd_shape shape, const mabd_real* size,
                                      const mabd_material* material) {
    mabd_geom geom = mabd_geom_make(shape, size, material->density);
    geom.friction = material->friction;
    geom.restitution = material->restitution;
    geom.category = material->category;
    geom.mask = material->mask;
    return geom;
}

mabd_geom mabd_generate_link_geom(mabd_shape shape, mabd_real length, mabd_real radius,
                                  const mabd_material* material) {
    mabd_real size[3] = {radius, length, 0};
    if (shape == MABD_SHAPE_BOX) size[0] = length, size[1] = size[2] = 2 * radius;
    mabd_geom geom = mabd_generate_material_geom(shape, size, material);
    if (shape == MABD_SHAPE_CAPSULE || shape == MABD_SHAPE_CYLINDER) {
        mabd_q_store(mabd_q_axis_angle(mabd_v3(0, 1, 0), MABD_PI / 2), geom.rotation); // z -> x
    }
    return geom;
}

mabd_body_def mabd_generate_link_body(const char* name, const mabd_geom* geom,
                                      mabd_material material, mabd_real drag) {
    mabd_body_def def = mabd_default_body_def();
    def.name = name;
    def.geom_count = 1;
    def.geoms = geom;
    def.density = material.density;
    def.young = material.young;
    def.poisson = material.poisson;
    def.drag = drag;
    return def;
}

mabd_quat mabd_generate_link_joint_frame(mabd_joint type, mabd_quat link) {
    bool slides = type == MABD_JOINT_PRISMATIC || type == MABD_JOINT_CYLINDRICAL ||
                  type == MABD_JOINT_PIN_IN_SLOT || type == MABD_JOINT_SLOT;
    if (slides) return link;
    const mabd_real half = (mabd_real)0.5;
    return mabd_q_product(link, mabd_q(half, half, half, half)); // x y z -> y z x of the link
}

mabd_vec3 mabd_generate_link_direction(mabd_quat link) {
    return mabd_q_matrix(link).c1;
}

mabd_vec3 mabd_generate_grid_point(const mabd_real* position, mabd_real spacing, int32_t columns,
                                   int32_t rows, int32_t i) {
    const int64_t layer = i / ((int64_t)columns * rows);
    const int32_t row = (i / columns) % rows, column = i % columns;
    const mabd_vec3 place = mabd_v3((mabd_real)column - (mabd_real)(columns - 1) / 2,
                                    (mabd_real)row - (mabd_real)(rows - 1) / 2, (mabd_real)layer);
    return mabd_v3_axpy(spacing, place, mabd_v3_load(position));
}

// ---- random numbers ----------------------------------------------------------------------------

uint64_t mabd_generate_random_bits(uint64_t* state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

mabd_real mabd_generate_random_real(uint64_t* state) {
    return (mabd_real)((double)(mabd_generate_random_bits(state) >> 40) / 16777216.0);
}

// With u, v, w uniform in [0, 1):
//   (sqrt(1-u) sin 2 pi v, sqrt(1-u) cos 2 pi v, sqrt(u) sin 2 pi w, sqrt(u) cos 2 pi w)
mabd_quat mabd_generate_random_rotation(uint64_t* state) {
    const mabd_real u = mabd_generate_random_real(state);
    const mabd_real v = 2 * MABD_PI * mabd_generate_random_real(state);
    const mabd_real w = 2 * MABD_PI * mabd_generate_random_real(state);
    const mabd_real a = (mabd_real)sqrt(1 - u), b = (mabd_real)sqrt(u);
    return mabd_q(a * (mabd_real)sin(v), a * (mabd_real)cos(v), b * (mabd_real)sin(w),
                  b * (mabd_real)cos(w));
}

// ---- names -------------------------------------------------------------------------------------

const char* mabd_generate_part_name(const char* name, const char* part, char* text) {
    if (!name) return NULL;
    snprintf(text, MABD_PART_NAME, "%s/%s", name, part);
    return text;
}

const char* mabd_generate_part_name_n(const char* name, const char* part, int32_t number,
                                      const char* tail, char* text) {
    if (!name) return NULL;
    snprintf(text, MABD_PART_NAME, "%s/%s%d%s%s", name, part, number, tail ? "/" : "",
             tail ? tail : "");
    return text;
}

// ---- batches -----------------------------------------------------------------------------------

static mabd_status take_memory(const mabd_scene* scene, size_t bytes, void** memory,
                               mabd_error* error) {
    *memory = bytes == SIZE_MAX ? NULL : mabd_alloc(&scene->allocator, bytes);
    return *memory ? MABD_OK : mabd_fail_memory(error, "generating bodies and joints");
}

static void layout_bodies(mabd_arena* arena, bool turned, bool moving,
                          mabd_generate_body_batch* batch) {
    size_t n = (size_t)batch->n;
    batch->position = mabd_arena_take(arena, 3 * n, sizeof(mabd_real));
    batch->rotation = turned ? mabd_arena_take(arena, 4 * n, sizeof(mabd_real)) : NULL;
    batch->velocity = moving ? mabd_arena_take(arena, 3 * n, sizeof(mabd_real)) : NULL;
    batch->angular = moving ? mabd_arena_take(arena, 3 * n, sizeof(mabd_real)) : NULL;
}

mabd_status mabd_generate_body_batch_create(const mabd_scene* scene, int32_t n, bool turned,
                                            bool moving, mabd_generate_body_batch* batch,
                                            mabd_error* error) {
    memset(batch, 0, sizeof *batch);
    MABD_TRY(mabd_generate_probe(scene, n, 0, error));
    batch->n = n;
    mabd_arena arena = {0};
    layout_bodies(&arena, turned, moving, batch);
    batch->bytes = arena.used;
    MABD_TRY(take_memory(scene, batch->bytes, &batch->memory, error));
    arena = (mabd_arena){batch->memory, batch->bytes, 0};
    layout_bodies(&arena, turned, moving, batch);
    return MABD_OK;
}

void mabd_generate_body_batch_free(const mabd_scene* scene, mabd_generate_body_batch* batch) {
    mabd_free(&scene->allocator, batch->memory, batch->bytes);
    memset(batch, 0, sizeof *batch);
}

mabd_status mabd_generate_body_batch_add(mabd_scene* scene, const mabd_body_def* def,
                                         const mabd_generate_body_batch* batch, int32_t* first,
                                         mabd_error* error) {
    return mabd_scene_add_body_n(scene, def, batch->n, batch->position, batch->rotation,
                                 batch->velocity, batch->angular, first, error);
}

static void layout_joints(mabd_arena* arena, bool framed, mabd_generate_joint_batch* batch) {
    size_t n = (size_t)batch->n;
    batch->a = mabd_arena_take(arena, n, sizeof(int32_t));
    batch->b = mabd_arena_take(arena, n, sizeof(int32_t));
    batch->anchor = mabd_arena_take(arena, 3 * n, sizeof(mabd_real));
    batch->frame = framed ? mabd_arena_take(arena, 4 * n, sizeof(mabd_real)) : NULL;
}

mabd_status mabd_generate_joint_batch_create(const mabd_scene* scene, int32_t n, bool framed,
                                             mabd_generate_joint_batch* batch, mabd_error* error) {
    memset(batch, 0, sizeof *batch);
    batch->n = n;
    mabd_arena arena = {0};
    layout_joints(&arena, framed, batch);
    batch->bytes = arena.used;
    MABD_TRY(take_memory(scene, batch->bytes, &batch->memory, error));
    arena = (mabd_arena){batch->memory, batch->bytes, 0};
    layout_joints(&arena, framed, batch);
    return MABD_OK;
}

void mabd_generate_joint_batch_free(const mabd_scene* scene, mabd_generate_joint_batch* batch) {
    mabd_free(&scene->allocator, batch->memory, batch->bytes);
    memset(batch, 0, sizeof *batch);
}

void mabd_generate_joint_batch_set(mabd_generate_joint_batch* batch, int32_t i, int32_t a,
                                   int32_t b, mabd_vec3 anchor) {
    batch->a[i] = a;
    batch->b[i] = b;
    mabd_v3_store(anchor, batch->anchor + 3 * (size_t)i);
}

mabd_status mabd_generate_joint_batch_add(mabd_scene* scene, const mabd_joint_def* def,
                                          const mabd_generate_joint_batch* batch,
                                          mabd_error* error) {
    return mabd_scene_add_joint_n(scene, def, batch->n, batch->a, batch->b, batch->anchor,
                                  batch->frame, NULL, error);
}
