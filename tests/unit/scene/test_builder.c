// SPDX-License-Identifier: Apache-2.0
// Tests for src/scene/builder*.c, store.c, defs.c and params.c; refusals: test_builder_refusals.c
#include "math/quat.h"
#include "scene/scene_data.h"
#include "support/counting_allocator.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

static mabd_scene* scene;
static mabd_error error;

static void setup(void) {
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
}

static void teardown(void) {
    mabd_scene_destroy(scene);
}

TestSuite(builder, .init = setup, .fini = teardown);

static const double box_size[3] = {0.1, 0.2, 0.3};

/// A dynamic box; *geom is the storage of its only geom.
static mabd_body_def box_def(mabd_geom* geom) {
    mabd_body_def def = mabd_default_body_def();
    *geom = mabd_geom_make(MABD_SHAPE_BOX, box_size, 1000);
    def.geom_count = 1;
    def.geoms = geom;
    return def;
}

static const mabd_scene_body* body(int32_t i) {
    return (const mabd_scene_body*)scene->bodies.data + i;
}

static const mabd_scene_joint* joint(int32_t i) {
    return (const mabd_scene_joint*)scene->joints.data + i;
}

static int32_t add_box(const char* name, double x) {
    mabd_geom geom;
    mabd_body_def def = box_def(&geom);
    int32_t id = -7;
    def.name = name;
    def.position[0] = x;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, &id, &error), MABD_OK), "%s", error.text);
    return id;
}

Test(builder, a_new_scene_is_empty) {
    cr_assert(eq(i32, mabd_scene_body_count(scene), 0));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), 0));
    cr_assert(eq(i32, mabd_scene_param_count(scene), 0));
    cr_assert(eq(str, (char*)mabd_scene_text(scene), ""));
    cr_assert(eq(str, scene->name, ""));
    cr_assert(eq(dbl, scene->gravity[2], -9.81));
    cr_assert(eq(i32, mabd_scene_find_body(scene, "arm"), -1));
    cr_assert(eq(str, (char*)mabd_scene_param(scene, 0).name, ""));
}

Test(builder, a_body_is_stored_as_given) {
    mabd_geom geom;
    mabd_body_def def = box_def(&geom);
    def.name = "arm";
    def.position[1] = 2, def.velocity[2] = 3, def.angular_velocity[0] = 4;
    def.rotation[0] = 0, def.rotation[1] = 2; // made unit length
    def.drag = 0.5;
    int32_t id = -1;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, &id, &error), MABD_OK));
    cr_assert(eq(i32, id, 0));
    cr_assert(eq(i32, mabd_scene_find_body(scene, "arm"), 0));
    cr_assert(body(0)->position[1] == 2 && body(0)->velocity[2] == 3);
    cr_assert(body(0)->angular_velocity[0] == 4);
    cr_assert(body(0)->rotation[0] == 0 && body(0)->rotation[1] == 1);
    cr_assert(eq(i32, body(0)->script, -1));
    const mabd_scene_class* stored = scene->classes.data;
    cr_assert(stored->drag == 0.5 && stored->young == 0 && stored->poisson == 0.3);
    const mabd_geom* geoms = scene->geoms.data;
    geom.size[2] = 99; // the scene has its own copy
    cr_assert(eq(dbl, geoms[stored->geom_first].size[2], 0.3));
}

Test(builder, equal_bodies_share_a_class) {
    mabd_geom geom;
    mabd_body_def def = box_def(&geom);
    for (int i = 0; i < 100; i++) {
        def.position[0] = i;
        geom.density = i % 2 ? 1000 : 2000;
        cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
    }
    cr_assert(eq(i32, scene->classes.count, 2));
    cr_assert(eq(i32, scene->geoms.count, 2));
    for (int i = 0; i < 100; i++) cr_assert(eq(i32, body(i)->class_index, i % 2));
}

Test(builder, every_number_of_a_class_tells_it_apart) {
    mabd_geom geom;
    mabd_body_def def = box_def(&geom);
    double* const numbers[] = {&def.mass,         &def.density,      &def.young,
                               &def.poisson,      &def.drag,         &geom.size[0],
                               &geom.size[1],     &geom.size[2],     &geom.position[0],
                               &geom.position[2], &geom.rotation[3], &geom.density};
    mabd_scene_add_body(scene, &def, NULL, &error);
    for (int32_t i = 0; i < 12; i++) {
        double before = *numbers[i];
        *numbers[i] += 0.1;
        cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
        cr_assert(eq(i32, scene->classes.count, i + 2));
        *numbers[i] = before;
    }
    def.geom_count = 0, def.inertia_given = true, def.mass = 1;
    for (int k = 0; k < 3; k++) def.inertia[k] = 1;
    mabd_scene_add_body(scene, &def, NULL, &error);
    def.center[0] = 1;
    mabd_scene_add_body(scene, &def, NULL, &error);
    cr_assert(eq(i32, scene->classes.count, 15));
    for (int i = 0; i < 1000; i++) { // more classes than the first hash table holds
        def.mass = 2 + i;
        cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
        cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK));
    }
    cr_assert(eq(i32, scene->classes.count, 1015));
}

Test(builder, bulk_bodies) {
    mabd_geom geom;
    mabd_body_def def = box_def(&geom);
    add_box("first", 0);
    def.name = "chain";
    def.velocity[0] = 7;
    const double positions[] = {1, 0, 0, 2, 0, 0, 3, 0, 0};
    const double rotations[] = {1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, -1};
    const double angular[] = {0, 0, 1, 0, 0, 2, 0, 0, 3};
    int32_t first = -1;
    cr_assert(eq(
        int,
        mabd_scene_add_body_n(scene, &def, 3, positions, rotations, NULL, angular, &first, &error),
        MABD_OK));
    cr_assert(eq(i32, first, 1));
    cr_assert(eq(i32, mabd_scene_body_count(scene), 4));
    cr_assert(eq(i32, mabd_scene_find_body(scene, "chain/2"), 3));
    cr_assert(eq(i32, scene->classes.count, 1)); // the class of "first"
    for (int i = 0; i < 3; i++) {
        cr_assert(body(i + 1)->position[0] == i + 1);
        cr_assert(body(i + 1)->velocity[0] == 7);
        cr_assert(body(i + 1)->angular_velocity[2] == i + 1);
    }
    cr_assert(body(2)->rotation[2] == 1 && body(3)->rotation[3] == -1);
    cr_assert(eq(int, mabd_scene_add_body_n(scene, &def, 0, NULL, NULL, NULL, NULL, &first, NULL),
                 MABD_OK)); // no name is given: none is registered
    cr_assert(eq(i32, first, 4));
}

Test(builder, scripted_bodies_own_their_tables) {
    double times[] = {0, 1}, values[] = {2, 3};
    mabd_body_def def = mabd_default_body_def();
    def.motion = MABD_MOTION_SCRIPTED;
    def.script.translation = (mabd_signal){
        .kind = MABD_SIGNAL_TABLE, .point_count = 2, .times = times, .values = values};
    def.script.direction[0] = 2;
    def.script.angle = mabd_signal_constant(1);
    def.script.axis[2] = 4;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK), "%s", error.text);
    memset(times, 0, sizeof times), memset(values, 0, sizeof values);
    const mabd_script* stored = (const mabd_script*)scene->scripts.data + body(0)->script;
    cr_assert(stored->direction[0] == 2 && stored->axis[2] == 1);
    cr_assert(stored->translation.times[1] == 1 && stored->translation.values[1] == 3);
    cr_assert(eq(dbl, stored->angle.value, 1));
}

Test(builder, fixed_bodies_need_no_mass) {
    mabd_body_def def = mabd_default_body_def();
    def.motion = MABD_MOTION_FIXED;
    cr_assert(eq(int, mabd_scene_add_body(scene, &def, NULL, &error), MABD_OK), "%s", error.text);
}

// Expect R(q) anchor + x and q frame on both sides to equal the world anchor and frame.
static void assert_meets(const mabd_real* anchor, const mabd_real* frame, int32_t index,
                         const mabd_real* world_anchor, mabd_quat world_frame) {
    mabd_quat q = mabd_q(1, 0, 0, 0);
    mabd_vec3 x = mabd_v3(0, 0, 0);
    if (index >= 0) q = mabd_q_load(body(index)->rotation);
    if (index >= 0) x = mabd_v3_load(body(index)->position);
    mabd_vec3 point = mabd_v3_add(mabd_q_rotate(q, mabd_v3_load(anchor)), x);
    mabd_quat turned = mabd_q_product(q, mabd_q_load(frame));
    cr_assert(le(dbl, mabd_v3_norm(mabd_v3_sub(point, mabd_v3_load(world_anchor))),
                 4e-15)); // 16 eps of 1.6 m
    double same = turned.w * world_frame.w + turned.x * world_frame.x + turned.y * world_frame.y +
                  turned.z * world_frame.z;
    cr_assert(le(dbl, fabs(same - 1), 1e-15));
}

Test(builder, world_anchors_become_local_ones) {
    mabd_geom geom;
    mabd_body_def bodies = box_def(&geom);
    const double positions[] = {0.5, -0.25, 0.125, -1, 0.75, 0.5};
    const double rotations[] = {0.5, 0.5, -0.5, 0.5, 1, 2, 3, 4};
    mabd_scene_add_body_n(scene, &bodies, 2, positions, rotations, NULL, NULL, NULL, &error);
    mabd_joint_def def = mabd_default_joint_def();
    const double anchor[3] = {0.2, 0.3, -0.4}, frame[4] = {2, -1, 0.5, 1};
    memcpy(def.anchor, anchor, sizeof anchor), memcpy(def.frame, frame, sizeof frame);
    mabd_quat unit = mabd_q_normalize(mabd_q_load(frame));
    const int32_t ends[][2] = {{0, 1}, {MABD_WORLD, 1}, {1, MABD_WORLD}};
    for (int32_t i = 0; i < 3; i++) {
        int32_t id = -1;
        def.a = ends[i][0], def.b = ends[i][1];
        cr_assert(eq(int, mabd_scene_add_joint(scene, &def, &id, &error), MABD_OK));
        cr_assert(eq(i32, id, i));
        assert_meets(joint(i)->anchor_a, joint(i)->frame_a, def.a, anchor, unit);
        assert_meets(joint(i)->anchor_b, joint(i)->frame_b, def.b, anchor, unit);
    }
}

Test(builder, local_anchors_are_stored) {
    add_box(NULL, 0), add_box(NULL, 1);
    mabd_joint_def def = mabd_default_joint_def();
    def.a = 0, def.b = 1, def.local = true, def.type = MABD_JOINT_HINGE;
    def.anchor_a[0] = 1, def.anchor_b[1] = 2, def.frame_a[0] = 3, def.frame_b[2] = 1;
    cr_assert(eq(int, mabd_scene_add_joint(scene, &def, NULL, &error), MABD_OK));
    cr_assert(eq(int, joint(0)->type, MABD_JOINT_HINGE));
    cr_assert(joint(0)->anchor_a[0] == 1 && joint(0)->anchor_b[1] == 2);
    cr_assert(eq(dbl, joint(0)->frame_a[0], 1));
    cr_assert(le(dbl, fabs(joint(0)->frame_b[2] - sqrt(0.5)), 2e-16));
}

Test(builder, bulk_joints) {
    for (int i = 0; i < 4; i++) add_box(NULL, i);
    mabd_joint_def def = mabd_default_joint_def();
    mabd_axis_def spring = {.stiffness = 5};
    def.name = "pin";
    def.type = MABD_JOINT_HINGE;
    def.axes[MABD_AXIS_RX] = &spring;
    const int32_t a[] = {MABD_WORLD, 0, 1}, b[] = {0, 1, 2};
    const double anchors[] = {0.5, 0, 0, 1.5, 0, 0, 2.5, 0, 0};
    int32_t first = -1;
    cr_assert(eq(int, mabd_scene_add_joint_n(scene, &def, 3, a, b, anchors, NULL, &first, &error),
                 MABD_OK));
    cr_assert(eq(i32, first, 0));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), 3));
    cr_assert(eq(i32, mabd_scene_find_joint(scene, "pin/2"), 2));
    cr_assert(eq(i32, scene->axes.count, 1));
    for (int i = 0; i < 3; i++) {
        cr_assert(joint(i)->a == a[i] && joint(i)->b == b[i] && joint(i)->axes == 0);
        cr_assert(eq(dbl, joint(i)->anchor_b[0], 0.5));
    }
    def.name = "next"; // the same axes again: still one set
    cr_assert(eq(int, mabd_scene_add_joint(scene, &def, NULL, &error), MABD_OK));
    cr_assert(eq(i32, scene->axes.count, 1));
    def.name = "other";
    spring.stiffness = 6;
    cr_assert(eq(int, mabd_scene_add_joint(scene, &def, NULL, &error), MABD_OK));
    cr_assert(eq(i32, joint(4)->axes, 1));
    def.name = "idle"; // an axis without any action is not stored
    spring.stiffness = 0;
    cr_assert(eq(int, mabd_scene_add_joint(scene, &def, NULL, &error), MABD_OK));
    cr_assert(eq(i32, joint(5)->axes, -1));
}

Test(builder, servo_and_motor_tables_are_copied) {
    add_box(NULL, 0);
    double times[] = {0, 1}, values[] = {2, 3};
    mabd_joint_def def = mabd_default_joint_def();
    mabd_axis_def axis = {.servo_rigid = true, .stiffness = 1};
    axis.servo = (mabd_signal){
        .kind = MABD_SIGNAL_TABLE, .point_count = 2, .times = times, .values = values};
    axis.motor = axis.servo;
    def.axes[MABD_AXIS_RZ] = &axis;
    cr_assert(eq(int, mabd_scene_add_joint(scene, &def, NULL, &error), MABD_OK), "%s", error.text);
    cr_assert(eq(int, mabd_scene_add_joint(scene, &def, NULL, &error), MABD_OK));
    cr_assert(eq(i32, scene->tables.count, 2)); // the second joint shares the set
    values[1] = 99;
    const mabd_scene_axes* stored = scene->axes.data;
    cr_assert(stored->used[MABD_AXIS_RZ] && !stored->used[MABD_AXIS_RX]);
    cr_assert(eq(dbl, stored->axis[MABD_AXIS_RZ].servo.values[1], 3));
    cr_assert(eq(dbl, stored->axis[MABD_AXIS_RZ].motor.values[1], 3));
}

Test(builder, settings_and_forces) {
    const double gravity[3] = {1, 2, 3}, direction[3] = {0, 4, 0};
    mabd_signal strength = mabd_signal_constant(5);
    cr_assert(eq(int, mabd_scene_set_gravity(scene, gravity, &error), MABD_OK));
    cr_assert(eq(int, mabd_scene_set_wind(scene, direction, &strength, &error), MABD_OK));
    cr_assert(eq(int, mabd_scene_set_time(scene, 0.01, 2, &error), MABD_OK));
    cr_assert(eq(int, mabd_scene_set_name(scene, "one"), MABD_OK));
    cr_assert(eq(int, mabd_scene_set_name(scene, "two"), MABD_OK));
    cr_assert(scene->gravity[1] == 2 && scene->wind_direction[1] == 1);
    cr_assert(scene->wind_strength.value == 5 && scene->h == 0.01 && scene->duration == 2);
    cr_assert(eq(str, scene->name, "two"));
    add_box(NULL, 0);
    mabd_force_def force = {.body = 0, .point = {1, 0, 0}, .force = {0, 0, 2}};
    cr_assert(eq(int, mabd_scene_add_force(scene, &force, &error), MABD_OK));
    const mabd_force_def* stored = scene->forces.data;
    cr_assert(stored->point[0] == 1 && stored->force[2] == 2);
    cr_assert(stored->signal.kind == MABD_SIGNAL_CONSTANT && stored->signal.value == 1);
    strength.kind = MABD_SIGNAL_NONE; // no signal again
    cr_assert(eq(int, mabd_scene_set_wind(scene, direction, &strength, &error), MABD_OK));
    cr_assert(eq(dbl, scene->wind_direction[1], 0));
}

Test(builder, joint_types_and_their_names) {
    cr_assert(eq(str, (char*)mabd_joint_name(MABD_JOINT_PIN_IN_SLOT), "pin-in-slot"));
    cr_assert(eq(int, mabd_joint_find("nonesuch"), -1));
    for (int i = 0; i < MABD_JOINT_COUNT; i++) {
        cr_assert(eq(int, mabd_joint_find(mabd_joint_name((mabd_joint)i)), i));
    }
}

Test(builder, frames_from_axes) {
    const double axes[][3] = {{1, 0, 0},      {0, 2, 0},         {0, 0, -3},  {1, -1, 1},
                              {1e-200, 0, 0}, {1e200, 2e200, 0}, {0.1, 5, 1}, {0, 1e-9, 1}};
    double frame[4];
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        for (size_t j = 0; j <= sizeof axes / sizeof axes[0]; j++) {
            const double* y = j < i ? axes[j] : NULL;
            if (i == 4 && j == 0) continue; // parallel
            if (i == 7 && j == 2) continue; // parallel to 1e-9
            cr_assert(mabd_frame_from_axes(axes[i], y, frame));
            mabd_mat3 R = mabd_q_matrix(mabd_q_load(frame));
            double size = fmax(fabs(axes[i][0]), fmax(fabs(axes[i][1]), fabs(axes[i][2])));
            mabd_vec3 x = mabd_v3(axes[i][0] / size, axes[i][1] / size, axes[i][2] / size);
            x = mabd_v3_scale(1 / mabd_v3_norm(x), x);
            cr_assert(le(dbl, mabd_v3_norm(mabd_v3_sub(x, R.c1)), 1e-15));
            cr_assert(le(dbl, fabs(mabd_v3_dot(R.c1, R.c2)), 1e-15));
            if (y) { // y is in the plane of c1 and c2, on the side of c2
                mabd_vec3 w = mabd_v3(y[0], y[1], y[2]);
                double length = fmax(fabs(w.x), fmax(fabs(w.y), fabs(w.z)));
                cr_assert(le(dbl, fabs(mabd_v3_dot(R.c3, w)) / length, 1e-15));
                cr_assert(lt(dbl, 0, mabd_v3_dot(R.c2, w)));
            }
        }
    }
    cr_assert(mabd_frame_from_axes(axes[0], NULL, frame));
    cr_assert(frame[0] == 1 && frame[1] == 0 && frame[2] == 0 && frame[3] == 0);
    const double zero[3] = {0, 0, 0}, bad[3] = {NAN, 1, 0}, along[3] = {-2, 0, 0};
    cr_assert(not(mabd_frame_from_axes(zero, NULL, frame)));
    cr_assert(not(mabd_frame_from_axes(axes[0], zero, frame)));
    cr_assert(not(mabd_frame_from_axes(bad, NULL, frame)));
    cr_assert(not(mabd_frame_from_axes(axes[0], along, frame)));
}

Test(builder, params_are_read_back) {
    mabd_param_entry entry = {0};
    entry.name = mabd_scene_copy_text(scene, "links");
    entry.value = mabd_scene_copy_text(scene, "20");
    entry.fallback = mabd_scene_copy_text(scene, "10");
    cr_assert(
        eq(int, mabd_list_reserve(&scene->allocator, &scene->params, sizeof entry, 1), MABD_OK));
    ((mabd_param_entry*)scene->params.data)[scene->params.count++] = entry;
    cr_assert(eq(i32, mabd_scene_param_count(scene), 1));
    mabd_param param = mabd_scene_param(scene, 0);
    cr_assert(eq(str, (char*)param.name, "links"));
    cr_assert(eq(str, (char*)param.value, "20"));
    cr_assert(eq(str, (char*)param.fallback, "10"));
    cr_assert(eq(str, (char*)param.unit, ""));
}

// ---- memory ------------------------------------------------------------------------------------

/// Call everything that allocates, once.
static mabd_status build_all(mabd_scene* made, mabd_error* failure) {
    const double times[] = {0, 1}, values[] = {2, 3}, positions[60] = {0}, up[3] = {0, 0, 1};
    mabd_signal table = {
        .kind = MABD_SIGNAL_TABLE, .point_count = 2, .times = times, .values = values};
    mabd_geom geom;
    mabd_body_def bodies = box_def(&geom), scripted = mabd_default_body_def();
    bodies.name = "chain";
    MABD_TRY(mabd_scene_add_body_n(made, &bodies, 20, positions, NULL, NULL, NULL, NULL, failure));
    bodies.name = "tip";
    geom.density = 500;
    MABD_TRY(mabd_scene_add_body(made, &bodies, NULL, failure));
    scripted.motion = MABD_MOTION_SCRIPTED;
    scripted.script.translation = scripted.script.angle = table;
    scripted.script.direction[0] = scripted.script.axis[1] = 1;
    MABD_TRY(mabd_scene_add_body(made, &scripted, NULL, failure));

    mabd_joint_def joints = mabd_default_joint_def();
    mabd_axis_def axis = {.servo = table, .servo_stiffness = 1, .motor = table};
    joints.name = "pin";
    joints.axes[MABD_AXIS_RX] = joints.axes[MABD_AXIS_RZ] = &axis;
    const int32_t a[] = {0, 1, 2}, b[] = {1, 2, 21};
    MABD_TRY(mabd_scene_add_joint_n(made, &joints, 3, a, b, positions, NULL, NULL, failure));
    mabd_force_def force = {.signal = table};
    force.signal.kind = MABD_SIGNAL_STEPS;
    MABD_TRY(mabd_scene_add_force(made, &force, failure));
    MABD_TRY(mabd_scene_set_wind(made, up, &table, failure));
    return mabd_scene_set_name(made, "all");
}

Test(builder, every_allocation_failing_in_turn_leaks_nothing) {
    int64_t needed = -1;
    for (int64_t fail_at = 0; needed < 0; fail_at++) {
        counting_allocator counter = {.fail_at = fail_at};
        mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_scene* made = NULL;
        mabd_status status = mabd_scene_create(&allocator, &made);
        if (status == MABD_OK) {
            status = build_all(made, &error);
        } else {
            cr_assert(zero(ptr, made));
        }
        if (status == MABD_OK) {
            needed = counter.calls;
        } else {
            cr_assert(eq(int, status, MABD_ERR_MEMORY), "call %d", (int)fail_at);
        }
        mabd_scene_destroy(made);
        cr_assert(eq(i64, counter.live_blocks, 0), "call %d", (int)fail_at);
        cr_assert(eq(i64, counter.live_bytes, 0));
        cr_assert(eq(i64, counter.wrong_frees, 0));
    }
    cr_assert(lt(i64, 20, needed));
}

typedef struct counts {
    int32_t bodies, joints, classes, geoms, scripts, axes, forces, tables, names, joint_names;
} counts;

static counts count_all(const mabd_scene* of) {
    counts c = {of->bodies.count,
                of->joints.count,
                of->classes.count,
                of->geoms.count,
                of->scripts.count,
                of->axes.count,
                of->forces.count,
                of->tables.count,
                of->body_names.ranges.count,
                of->joint_names.ranges.count};
    return c;
}

Test(builder, a_call_that_runs_out_of_memory_leaves_the_scene_as_it_was) {
    const double times[] = {0, 1}, values[] = {2, 3};
    mabd_signal table = {
        .kind = MABD_SIGNAL_TABLE, .point_count = 2, .times = times, .values = values};
    mabd_geom geom;
    mabd_body_def scripted = box_def(&geom);
    scripted.name = "lift";
    scripted.motion = MABD_MOTION_SCRIPTED;
    scripted.script.translation = scripted.script.angle = table;
    scripted.script.direction[0] = scripted.script.axis[1] = 1;
    mabd_status status = MABD_ERR_MEMORY;
    for (int64_t fail_at = 0; status != MABD_OK; fail_at++) {
        counting_allocator counter = {.fail_at = -1};
        mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_scene* made = NULL;
        cr_assert(eq(int, mabd_scene_create(&allocator, &made), MABD_OK));
        counts before = count_all(made);
        counter.calls = 0, counter.fail_at = fail_at;
        status = mabd_scene_add_body(made, &scripted, NULL, &error);
        if (status != MABD_OK) {
            counts after = count_all(made);
            cr_assert(eq(int, status, MABD_ERR_MEMORY));
            cr_assert(eq(int, error.status, MABD_ERR_MEMORY));
            cr_assert(eq(int, memcmp(&before, &after, sizeof before), 0), "call %d", (int)fail_at);
            cr_assert(eq(i32, mabd_scene_find_body(made, "lift"), -1));
            cr_assert(eq(int, mabd_scene_add_body(made, &scripted, NULL, &error), MABD_OK));
        }
        mabd_scene_destroy(made);
        cr_assert(eq(i64, counter.live_blocks, 0));
    }
}

Test(builder, a_million_links_in_bulk) {
    enum { n = 1000000 };
    double* positions = calloc(3 * (size_t)n, sizeof(double));
    int32_t* ends = malloc(2 * sizeof(int32_t) * n);
    for (int32_t i = 0; i < n; i++) positions[3 * i] = i, ends[i] = i - 1, ends[n + i] = i;
    mabd_geom geom;
    mabd_body_def def = box_def(&geom);
    mabd_joint_def pins = mabd_default_joint_def();
    def.name = "link", pins.name = "pin";
    cr_assert(eq(int,
                 mabd_scene_add_body_n(scene, &def, n, positions, NULL, NULL, NULL, NULL, &error),
                 MABD_OK));
    cr_assert(eq(
        int, mabd_scene_add_joint_n(scene, &pins, n, ends, ends + n, positions, NULL, NULL, &error),
        MABD_OK));
    cr_assert(eq(i32, mabd_scene_find_body(scene, "link/999999"), 999999));
    cr_assert(eq(i32, mabd_scene_find_joint(scene, "pin/999999"), 999999));
    cr_assert(eq(i32, scene->classes.count, 1));
    cr_assert(eq(dbl, joint(n - 1)->anchor_a[0], 1));
    free(positions), free(ends);
}
