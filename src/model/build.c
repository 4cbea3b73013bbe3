// SPDX-License-Identifier: Apache-2.0
// Scene -> model: one arena, filled step by step. The scene is checked before; building fails only
// if memory runs out or the start pose lies beyond the stops of a joint.

#include "model/build.h"

#include "base/error.h"
#include "math/quat.h"
#include "model/model_analysis.h"
#include "scene/signal.h"

#include <string.h>

const mabd_signal* mabd_builder_signal(mabd_model_builder* builder, const mabd_signal* signal) {
    mabd_model* m = builder->model;
    if (signal->kind == MABD_SIGNAL_NONE) return NULL;
    mabd_signal* copy = &m->signals[m->signal_count++];
    *copy = *signal;
    if (mabd_signal_has_points(signal)) {
        const size_t n = (size_t)signal->point_count;
        mabd_real* times = m->tables + builder->table_used;
        memcpy(times, signal->times, n * sizeof *times);
        memcpy(times + n, signal->values, n * sizeof *times);
        copy->times = times, copy->values = times + n;
        builder->table_used += 2 * n;
    }
    return copy;
}

static bool needs_frame(const mabd_scene_joint* joint) {
    return joint->piece_count > 0 || joint->type != MABD_JOINT_BALL || joint->axes >= 0 ||
           joint->chart != MABD_CHART_LOCAL;
}

static size_t points(const mabd_signal* signal) {
    return mabd_signal_has_points(signal) ? 2 * (size_t)signal->point_count : 0;
}

static size_t is_there(const mabd_signal* signal) {
    return signal->kind != MABD_SIGNAL_NONE;
}

static mabd_model_sizes count(mabd_model_builder* builder) {
    const mabd_scene* scene = builder->scene;
    mabd_model_sizes n = {.bodies = (size_t)scene->bodies.count,
                          .joints = (size_t)scene->joints.count,
                          .classes = (size_t)scene->classes.count,
                          .forces = (size_t)scene->forces.count,
                          .controls = mabd_builder_control_limit(scene),
                          .name = strlen(scene->name) + 1,
                          .pieces = (size_t)scene->pieces.count,
                          .piece_values = (size_t)scene->piece_values.count};
    mabd_builder_count_geoms(scene, &n);
    mabd_builder_count_springs(scene, &n);
    const mabd_scene_joint* joints = scene->joints.data;
    for (int32_t i = 0; i < scene->joints.count; i++) n.frames += needs_frame(&joints[i]);
    n.row_sets = (size_t)mabd_builder_number_row_sets(builder);
    n.table_reals = points(&scene->wind_strength);
    const mabd_force_def* forces = scene->forces.data;
    for (int32_t i = 0; i < scene->forces.count; i++) n.table_reals += points(&forces[i].signal);
    const mabd_script* scripts = scene->scripts.data;
    const mabd_scene_body* bodies = scene->bodies.data;
    for (int32_t i = 0; i < scene->bodies.count; i++) { // bodies of a batch share one
        if (bodies[i].script < 0) continue;
        const mabd_script* script = &scripts[bodies[i].script];
        n.table_reals += points(&script->translation) + points(&script->angle);
        n.scripts++;
    }
    n.signals = 1 + (size_t)scene->forces.count + 2 * n.scripts;
    const mabd_scene_axes* axes = scene->axes.data;
    for (size_t set = 0; set < n.row_sets; set++) {
        const int32_t k = mabd_builder_axes_of(builder, (int32_t)set);
        if (mabd_builder_first_like(builder, (int32_t)set) < (int32_t)set) continue;
        for (int axis = 0; k >= 0 && axis < MABD_AXIS_COUNT; axis++) {
            const mabd_axis_def* def = &axes[k].axis[axis];
            n.table_reals +=
                points(&def->servo) + points(&def->motor) + points(&def->motor_velocity);
            n.signals +=
                is_there(&def->servo) + is_there(&def->motor) + is_there(&def->motor_velocity);
        }
    }
    return n;
}

// Take all arrays of model/fields.def from the arena (twice: measuring, then for real).
static void layout(mabd_model* m, const mabd_model_sizes* n, mabd_arena* arena) {
#define TAKE_VALUE(name, capacity)
#define TAKE_COUNT(name, capacity)
#define TAKE_SIGNAL(name, capacity)
#define TAKE_ARRAY(name, capacity) m->name = mabd_arena_take(arena, capacity, sizeof *m->name);
#define TAKE_RECORDS(record)       TAKE_ARRAY
#define TAKE_OPAQUE(name, capacity)
#define MODEL_FIELD(kind, name, count, capacity, role, unit, meaning) TAKE_##kind(name, capacity)
#include "model/fields.def"
}

static void fill_bodies(mabd_model_builder* builder) {
    const mabd_scene_body* bodies = builder->scene->bodies.data;
    const mabd_script* scripts = builder->scene->scripts.data;
    mabd_model* m = builder->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        const mabd_scene_body* body = &bodies[i];
        mabd_model_start* start = &m->start[i];
        m->body_class[i] = body->class_index;
        m->body_motion[i] = (uint8_t)body->motion;
        memcpy(start->position, body->position, sizeof start->position);
        memcpy(start->rotation, body->rotation, sizeof start->rotation);
        memcpy(start->velocity, body->velocity, sizeof start->velocity);
        memcpy(start->angular_velocity, body->angular_velocity, sizeof start->angular_velocity);
        if (body->script < 0) continue;
        const mabd_script* in = &scripts[body->script];
        mabd_model_script* out = &m->scripts[m->script_count++];
        out->body = i;
        out->direction = mabd_v3_load(in->direction);
        out->pivot = mabd_v3_load(body->position);
        out->axis = mabd_v3_load(in->axis);
        mabd_real length = mabd_v3_norm(out->axis);
        if (length > 0) out->axis = mabd_v3_scale(1 / length, out->axis);
        out->translation = mabd_builder_signal(builder, &in->translation);
        out->angle = mabd_builder_signal(builder, &in->angle);
    }
    m->body_motion[m->body_count] = MABD_MOTION_FIXED; // the world
}

// Anchor and frame of one side, from the user frame to the principal frame.
static void to_principal(const mabd_model* m, int32_t body, const mabd_real* anchor,
                         const mabd_real* frame, mabd_real* X, mabd_mat3* F) {
    mabd_vec3 p = mabd_v3_load(anchor);
    if (body != MABD_WORLD) {
        mabd_class_to_principal(&m->classes[m->body_class[body]], anchor, frame, &p, F);
    } else {
        *F = mabd_q_matrix(mabd_q_load(frame));
    }
    mabd_v3_store(p, X);
}

// Find or add a frame. Joints of a mechanism made of equal parts have equal axes, so the last few
// frames are compared.
static int32_t share_frame(mabd_model* m, const mabd_model_frame* frame) {
    const int32_t first = m->frame_count > 4 ? m->frame_count - 4 : 0;
    for (int32_t i = m->frame_count - 1; i >= first; i--) {
        if (memcmp(&m->frames[i], frame, sizeof *frame) == 0) return i;
    }
    m->frames[m->frame_count] = *frame;
    return m->frame_count++;
}

static void fill_pieces(mabd_model_builder* builder) {
    const mabd_scene* scene = builder->scene;
    mabd_model* m = builder->model;
    const size_t pieces = (size_t)scene->pieces.count, reals = (size_t)scene->piece_values.count;
    m->piece_count = scene->pieces.count, m->piece_value_count = scene->piece_values.count;
    if (pieces > 0) memcpy(m->pieces, scene->pieces.data, pieces * sizeof *m->pieces);
    if (reals > 0) memcpy(m->piece_values, scene->piece_values.data, reals * sizeof(mabd_real));
}

static void fill_joints(mabd_model_builder* builder) {
    const mabd_scene_joint* joints = builder->scene->joints.data;
    mabd_model* m = builder->model;
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_scene_joint* in = &joints[i];
        mabd_model_joint* out = &m->joints[i];
        mabd_model_frame frame;
        out->a = in->a == MABD_WORLD ? m->body_count : in->a;
        out->b = in->b == MABD_WORLD ? m->body_count : in->b;
        out->type = (int32_t)in->type;
        out->piece_first = in->piece_first, out->piece_count = in->piece_count;
        out->chart = (int32_t)in->chart;
        out->row_set = builder->joint_set[i];
        to_principal(m, in->a, in->anchor_a, in->frame_a, out->Xa, &frame.a);
        to_principal(m, in->b, in->anchor_b, in->frame_b, out->Xb, &frame.b);
        out->frame = needs_frame(in) ? share_frame(m, &frame) : -1;
        const mabd_row_set* set = &m->row_sets[out->row_set];
        out->coordinate = -1;
        if (set->control_count > 0) {
            out->coordinate = m->coordinate_count;
            m->coordinate_count += set->control_count;
        }
        m->rigid_row_count += set->rigid_count;
    }
}

// Index in the model's list, which is sorted by body, of the first force of each body (body_count).
static void first_forces(const mabd_scene* scene, int32_t* first) {
    const mabd_force_def* forces = scene->forces.data;
    for (int32_t i = 0; i < scene->forces.count; i++) first[forces[i].body]++;
    for (int32_t body = 0, sum = 0; body < scene->bodies.count; body++) {
        const int32_t count = first[body];
        first[body] = sum;
        sum += count;
    }
}

// Forces sorted by body, those of one body in the order of the scene; O(forces + bodies). `next`
// (body_count) holds the index that the next force of a body gets.
static void fill_forces(mabd_model_builder* builder, int32_t* next) {
    const mabd_force_def* forces = builder->scene->forces.data;
    mabd_model* m = builder->model;
    m->force_count = builder->scene->forces.count;
    for (int32_t i = 0; i < builder->scene->forces.count; i++) {
        const mabd_force_def* in = &forces[i];
        mabd_model_force f;
        mabd_mat3 ignored;
        mabd_real X[3];
        const mabd_real identity[4] = {1, 0, 0, 0};
        to_principal(m, in->body, in->point, identity, X, &ignored);
        f.body = in->body;
        f.body_frame = in->body_frame;
        f.point = mabd_v3_load(X);
        f.force = mabd_v3_load(in->force), f.torque = mabd_v3_load(in->torque);
        if (in->body_frame) {
            const mabd_model_class* c = &m->classes[m->body_class[in->body]];
            const mabd_mat3 axes = mabd_q_matrix(mabd_q_load(c->axes));
            f.force = mabd_m3_tmul(axes, f.force), f.torque = mabd_m3_tmul(axes, f.torque);
        }
        f.signal = mabd_builder_signal(builder, &in->signal);
        m->forces[next[in->body]++] = f;
    }
}

static mabd_status build_forces(mabd_model_builder* builder) {
    const mabd_scene* scene = builder->scene;
    if (scene->forces.count == 0) return MABD_OK;
    const mabd_allocator* allocator = &builder->model->allocator;
    const size_t bytes = (size_t)scene->bodies.count * sizeof(int32_t);
    int32_t* next = mabd_alloc(allocator, bytes);
    if (!next) return MABD_ERR_MEMORY;
    first_forces(scene, next);
    fill_forces(builder, next);
    mabd_free(allocator, next, bytes);
    return MABD_OK;
}

static mabd_status fill(mabd_model_builder* builder) {
    const mabd_scene* scene = builder->scene;
    mabd_model* m = builder->model;
    memcpy(m->gravity, scene->gravity, sizeof m->gravity);
    memcpy(m->wind_direction, scene->wind_direction, sizeof m->wind_direction);
    m->wind = mabd_builder_signal(builder, &scene->wind_strength);
    m->h = scene->h, m->duration = scene->duration;
    m->close_joints = scene->close_joints;
    memcpy(m->name, scene->name, strlen(scene->name) + 1);
    mabd_builder_geoms(builder);
    mabd_builder_classes(builder);
    mabd_builder_row_sets(builder);
    fill_bodies(builder);
    fill_pieces(builder);
    fill_joints(builder);
    MABD_TRY(build_forces(builder));
    mabd_builder_springs(builder);
    mabd_builder_copies(builder);
    return MABD_OK;
}

static mabd_status build_plan(mabd_model* m) {
    const size_t bodies = (size_t)m->body_count, joints = (size_t)m->joint_count;
    mabd_arena arena = {0};
    for (int pass = 0;; pass++) {
        bool* moving = mabd_arena_take(&arena, bodies, sizeof *moving);
        int32_t* a = mabd_arena_take(&arena, joints, sizeof *a);
        int32_t* b = mabd_arena_take(&arena, joints, sizeof *b);
        int32_t* width = mabd_arena_take(&arena, joints, sizeof *width);
        if (pass == 0) {
            arena.size = arena.used;
            arena.used = 0;
            arena.memory = mabd_alloc(&m->allocator, arena.size);
            if (!arena.memory) return MABD_ERR_MEMORY;
            continue;
        }
        for (size_t i = 0; i < bodies; i++) moving[i] = m->body_motion[i] == MABD_MOTION_DYNAMIC;
        for (size_t i = 0; i < joints; i++) {
            const mabd_model_joint* joint = &m->joints[i];
            const mabd_row_set* set = &m->row_sets[joint->row_set];
            a[i] = joint->a == m->body_count ? -1 : joint->a;
            b[i] = joint->b == m->body_count ? -1 : joint->b;
            width[i] = set->rigid_count + set->control_count;
        }
        mabd_status status = mabd_plan_build(&m->allocator, m->body_count, moving, m->joint_count,
                                             a, b, width, MABD_PLAN_AFFINE_ROWS, &m->plan);
        mabd_free(&m->allocator, arena.memory, arena.size);
        return status;
    }
}

static mabd_status build(mabd_model_builder* builder) {
    const mabd_scene* scene = builder->scene;
    mabd_model* m = builder->model;
    const mabd_model_sizes n = count(builder);
    mabd_arena arena = {0};
    layout(m, &n, &arena);
    if (arena.used == SIZE_MAX) return MABD_ERR_MEMORY;
    m->memory_size = arena.size = arena.used;
    m->memory = arena.memory = mabd_alloc(&m->allocator, arena.size);
    if (!m->memory) return MABD_ERR_MEMORY;
    arena.used = 0;
    layout(m, &n, &arena);

    m->body_count = scene->bodies.count, m->joint_count = scene->joints.count;
    m->class_count = scene->classes.count, m->geom_count = scene->geoms.count;
    m->row_set_count = (int32_t)n.row_sets;
    MABD_TRY(fill(builder));
    MABD_TRY(mabd_builder_contacts(builder));
    MABD_TRY(mabd_names_copy(&m->allocator, &scene->body_names, &m->body_names));
    MABD_TRY(mabd_names_copy(&m->allocator, &scene->joint_names, &m->joint_names));
    MABD_TRY(build_plan(m));
    m->info = mabd_model_count(m);
    m->info.hash = mabd_model_compute_hash(m);
    return MABD_OK;
}

mabd_status mabd_model_build(const mabd_scene* scene, const mabd_allocator* allocator,
                             mabd_model** model, mabd_error* error) {
    if (!scene || !model) return mabd_fail(error, MABD_ERR_ARG, "scene and model must be given");
    *model = NULL;
    if (scene->bodies.count == 0)
        return mabd_fail(error, MABD_ERR_INPUT, "the scene has no bodies");
    const mabd_allocator memory = allocator ? *allocator : mabd_default_allocator();
    mabd_model* m = mabd_alloc(&memory, sizeof *m);
    if (!m) return mabd_fail_memory(error, "building the model");
    m->allocator = memory;

    const size_t places = (size_t)(scene->axes.count + 1) * MABD_JOINT_TYPE_COUNT;
    const size_t joints = (size_t)scene->joints.count;
    const size_t bytes = mabd_bytes(places + 2 * joints, sizeof(int32_t));
    mabd_model_builder builder = {.scene = scene, .model = m};
    builder.row_set_of = mabd_alloc(&memory, bytes);
    mabd_status status = builder.row_set_of ? MABD_OK : MABD_ERR_MEMORY;
    if (status == MABD_OK) {
        builder.joint_set = builder.row_set_of + places;
        builder.pair_of = builder.joint_set + joints;
        for (size_t i = 0; i < places; i++) builder.row_set_of[i] = -1;
        status = build(&builder);
    }
    mabd_free(&memory, builder.row_set_of, bytes);
    if (status != MABD_OK) {
        mabd_model_destroy(m);
        return mabd_fail_memory(error, "building the model");
    }
    status = mabd_model_check_copies(m, error);
    if (status == MABD_OK) status = mabd_model_check_limits(m, error);
    if (status == MABD_OK) {
        status = mabd_model_check_ground(m, scene->ground_points.count == 0, error);
    }
    if (status != MABD_OK) {
        mabd_model_destroy(m);
        return status;
    }
    *model = m;
    return MABD_OK;
}

void mabd_model_destroy(mabd_model* model) {
    if (!model) return;
    const mabd_allocator memory = model->allocator;
    mabd_model_leave_analysis(model, NULL);
    mabd_plan_destroy(model->plan);
    mabd_names_free(&memory, &model->body_names);
    mabd_names_free(&memory, &model->joint_names);
    mabd_free(&memory, model->memory, model->memory_size);
    mabd_free(&memory, model, sizeof *model);
}
