// SPDX-License-Identifier: Apache-2.0
// Whole steps on a device, through the executor: as on the CPU to 1e-12, and the same bits in any
// order of threads and blocks.
#include "support/axis_rig.h"
#include "support/backend_parity.h"
#include "support/random_scene.h"
#include "support/rig.h"

#include <stdlib.h>

#define PLAIN  ((mabd_real)1e2)
#define CLOSED ((mabd_real)1e6) // linkages whose hinges hold against each other
// Young's modulus of the factors above: they grow with it
#define CONDITION_YOUNG ((mabd_real)1e9)

// ---- random mechanisms --------------------------------------------------------------------------

static void expect_random(random_pattern pattern, bool balls, bool controls, int32_t bodies) {
    const bool closed = pattern != RANDOM_CHAIN && pattern != RANDOM_TREE && pattern != RANDOM_STAR;
    for (uint64_t seed = 11; seed < 13; seed++) {
        const random_scene_def def = {.seed = seed,
                                      .pattern = pattern,
                                      .bodies = bodies,
                                      .grounded = seed == 11,
                                      .balls_only = balls,
                                      .controls = controls,
                                      .wide = true,
                                      .mass_range = 5};
        mabd_scene* scene = random_scene(&def);
        cr_assert(eq(int, mabd_scene_set_young(scene, CONDITION_YOUNG, NULL), MABD_OK));
        mabd_model* model = rig_model(scene);
        expect_backend_parity(model, NULL, 1, closed ? CLOSED : PLAIN);
        mabd_model_destroy(model);
    }
}

Test(cuda_parity, chains_of_balls) {
    expect_random(RANDOM_CHAIN, true, false, 40);
}

Test(cuda_parity, chains_of_any_joints) {
    expect_random(RANDOM_CHAIN, false, true, 40);
}

Test(cuda_parity, trees_of_balls) {
    expect_random(RANDOM_TREE, true, false, 90);
}

Test(cuda_parity, trees_of_any_joints) {
    expect_random(RANDOM_TREE, false, true, 90);
}

Test(cuda_parity, stars) {
    expect_random(RANDOM_STAR, false, true, 30);
}

Test(cuda_parity, rings) {
    expect_random(RANDOM_RING, false, true, 12);
}

Test(cuda_parity, loops) {
    expect_random(RANDOM_LOOPS, false, true, 30);
}

Test(cuda_parity, ladders) {
    expect_random(RANDOM_LADDER, false, true, 24);
}

Test(cuda_parity, nets) {
    expect_random(RANDOM_NET, true, false, 30);
}

Test(cuda_parity, mixed) {
    expect_random(RANDOM_MIXED, false, true, 40);
}

// ---- scenes -------------------------------------------------------------------------------------

typedef struct scene_case {
    const char* name;
    int steps;
    mabd_setting settings[4]; // name null = end
} scene_case;

static mabd_scene* load_scene(const scene_case* c) {
    char path[512];
    mabd_error error = {0};
    mabd_scene* scene = NULL;
    int32_t count = 0;
    while (count < 4 && c->settings[count].name) count++;
    snprintf(path, sizeof path, "%s/scenes/%s.json", MABD_SOURCE_DIR, c->name);
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(mabd_scene_load(scene, path, count, c->settings, &error), &error, c->name);
    return scene;
}

static void expect_scene(const scene_case* c, mabd_real condition) {
    mabd_model* model = rig_model(load_scene(c));
    mabd_sim_def def = mabd_default_sim_def();
    const mabd_real h = mabd_model_suggested_h(model);
    if (h > 0) def.h = h;
    expect_backend_parity(model, &def, c->steps, condition);
    mabd_model_destroy(model);
}

static void expect_scenes(const scene_case* cases, mabd_real condition) {
    for (; cases->name; cases++) expect_scene(cases, condition);
}

Test(cuda_parity, scenes_of_chains_and_trees) {
    const scene_case cases[] = {{"chain", 2, {{"links", "60"}}},
                                {"pendulum", 2, {{0}}},
                                {"double-pendulum", 2, {{0}}},
                                {"heavy-top", 2, {{0}}},
                                {"spinning-box", 2, {{0}}},
                                {"t-handle", 2, {{0}}},
                                {"tree", 1, {{"depth", "5"}}},
                                {"binary-tree", 1, {{"depth", "6"}}},
                                {"protein", 1, {{"links", "300"}}},
                                {"star", 1, {{"arms", "40"}, {"links", "2"}}},
                                {NULL, 0, {{0}}}};
    expect_scenes(cases, PLAIN);
}

Test(cuda_parity, scenes_with_loops) {
    const scene_case cases[] = {{"ring", 1, {{0}}},
                                {"four-bar", 1, {{0}}},
                                {"double-four-bar", 1, {{0}}},
                                {"four-bar-chain", 1, {{"segments", "4"}}},
                                {"scissor-ring", 1, {{"units", "6"}}},
                                {"strandbeest", 1, {{"pairs", "2"}}},
                                {NULL, 0, {{0}}}};
    expect_scenes(cases, CLOSED);
}

Test(cuda_parity, scenes_with_contacts_on_fixed_bodies) {
    const scene_case cases[] = {{"incline", 3, {{0}}},
                                {"bounce", 3, {{0}}},
                                {"net-cylinder", 1, {{"rows", "4"}, {"columns", "4"}}},
                                {NULL, 0, {{0}}}};
    expect_scenes(cases, PLAIN);
}

Test(cuda_parity, scenes_with_contacts_of_moving_bodies) {
    const scene_case cases[] = {{"stack", 1, {{0}}},
                                {"atwood", 1, {{0}}},
                                {"winch", 1, {{0}}},
                                {"falling-joints", 1, {{"pairs", "12"}}},
                                {"ragdolls", 1, {{"copies", "2"}, {"hubs", "6"}}},
                                {NULL, 0, {{0}}}};
    expect_scenes(cases, PLAIN);
}

// ---- on the way ---------------------------------------------------------------------------------

static void follow_scene(const scene_case* c) {
    mabd_model* model = rig_model(load_scene(c));
    mabd_sim_def def = mabd_default_sim_def();
    const mabd_real h = mabd_model_suggested_h(model);
    if (h > 0) def.h = h;
    expect_backend_parity_on_the_way(model, &def, c->steps);
    mabd_model_destroy(model);
}

Test(cuda_parity, boxes_slide_and_balls_bounce) {
    const scene_case incline = {"incline", 40, {{"angle", "35"}}}, bounce = {"bounce", 60, {{0}}};
    follow_scene(&incline);
    follow_scene(&bounce);
}

Test(cuda_parity, a_net_falls_on_a_cylinder) {
    const scene_case net = {"net-cylinder", 25, {{"rows", "5"}, {"columns", "5"}}};
    follow_scene(&net);
}

Test(cuda_parity, linkages_are_driven) {
    const scene_case ring = {"scissor-ring", 20, {{"units", "6"}}},
                     beast = {"strandbeest", 10, {{"pairs", "1"}}};
    follow_scene(&ring);
    follow_scene(&beast);
}

// Rods on hinges that fall to their stops, with friction, driven with limits, and one on a slide.
static mabd_model* stopped_chain(void) {
    mabd_scene* scene = rig_scene(-9.81);
    int32_t last = MABD_WORLD;
    for (int i = 0; i < 8; i++) {
        const int32_t rod = rig_add_rod(scene, i, 1, (mabd_real)0.1, (mabd_real)1e10);
        mabd_axis_def axis = {0};
        axis.limited = i % 2 == 0;
        axis.lower = (mabd_real)-0.03, axis.upper = (mabd_real)0.02;
        axis.friction = i % 3 == 0 ? 20 : 0;
        axis.max_force = i == 5 ? 300 : 0;
        if (i == 5) axis.motor_velocity = mabd_signal_constant((mabd_real)-2);
        axis.damping = 1;
        axis_add_joint(scene, i == 7, last, rod, i, &axis);
        last = rod;
    }
    return rig_model(scene);
}

Test(cuda_parity, axes_meet_their_stops_and_stick) {
    mabd_model* model = stopped_chain();
    expect_backend_parity(model, NULL, 1, PLAIN);
    expect_backend_parity_on_the_way(model, NULL, 60);
    mabd_model_destroy(model);
}

// Rods on ball joints that tumble: dampers and armature about some axes, beside springs, stops and
// friction.
static mabd_model* damped_balls(void) {
    mabd_scene* scene = rig_scene(-9.81);
    const mabd_axis_def damper = {.damping = (mabd_real)0.05};
    const mabd_axis_def sprung = {
        .stiffness = 2, .damping = (mabd_real)0.02, .armature = (mabd_real)0.001};
    const mabd_axis_def stopped = {.damping = (mabd_real)0.01,
                                   .limited = true,
                                   .lower = (mabd_real)-0.1,
                                   .upper = (mabd_real)0.2,
                                   .friction = (mabd_real)0.01};
    const mabd_axis_def* const kinds[4][3] = {{NULL, &damper, NULL},
                                              {&sprung, &sprung, &damper},
                                              {&stopped, &damper, NULL},
                                              {&stopped, &stopped, &stopped}};
    int32_t last = MABD_WORLD;
    for (int i = 0; i < 12; i++) {
        mabd_error error = {0};
        const mabd_real size[3] = {(mabd_real)0.3, (mabd_real)0.1, (mabd_real)0.06};
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
        mabd_body_def body = mabd_default_body_def();
        body.geom_count = 1, body.geoms = &geom;
        body.position[0] = (mabd_real)(0.15 + 0.3 * i);
        body.angular_velocity[0] = 3 - i % 4;
        mabd_joint_def joint = mabd_default_joint_def();
        joint.a = last, joint.b = last = rig_add_body(scene, &body);
        joint.anchor[0] = (mabd_real)(0.3 * i);
        for (int k = 0; k < 3; k++) joint.axes[MABD_AXIS_RX + k] = kinds[i % 4][k];
        rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
    }
    return rig_model(scene);
}

Test(cuda_parity, damped_balls_tumble_between_their_stops) {
    mabd_model* model = damped_balls();
    expect_backend_parity(model, NULL, 1, PLAIN);
    expect_backend_parity_on_the_way(model, NULL, 60);
    mabd_model_destroy(model);
}

// ---- solvers ------------------------------------------------------------------------------------

// Three welds between two bodies have 18 rows, more than the 12 freedoms of the second one: K is
// singular, the component goes to the host and is softened there. Both bodies add to the blocks
// between the welds.
Test(cuda_parity, welds_that_hold_against_each_other) {
    mabd_scene* scene = rig_scene(-9.81);
    const int32_t a = rig_add_rod(scene, 0, 1, (mabd_real)0.1, (mabd_real)1e9),
                  b = rig_add_rod(scene, 1, 1, (mabd_real)0.1, (mabd_real)1e9);
    rig_add_joint(scene, MABD_JOINT_HINGE, MABD_WORLD, a, 0, 0);
    for (int k = -1; k < 2; k++) rig_add_joint(scene, MABD_JOINT_FIXED, a, b, 1, 0.04 * k);
    mabd_model* model = rig_model(scene);
    expect_backend_parity_on_the_way(model, NULL, 10);
    mabd_model_destroy(model);
}

// Conjugate gradients to a gap of 1e-14 m against the factor of the CPU.
Test(cuda_parity, a_net_by_iteration_against_its_factor) {
    const scene_case net = {"net", 0, {{"rows", "6"}, {"columns", "6"}}};
    mabd_scene* scene = load_scene(&net);
    cr_assert(eq(int, mabd_scene_set_young(scene, CONDITION_YOUNG, NULL), MABD_OK));
    mabd_model* model = rig_model(scene);
    mabd_sim_def def = mabd_default_sim_def();
    def.gap_tolerance = (mabd_real)1e-14;
    parity_snapshot cpu = parity_run(model, def, true, MABD_BACKEND_CPU, 1);
    def.dual = MABD_DUAL_PCG;
    parity_snapshot got = parity_run(model, def, true, MABD_BACKEND_EXECUTOR, 1);
    cr_expect(lt(int, 0, got.info.dual_iterations));
    cr_expect(le(dbl, got.info.gap, def.gap_tolerance));
    cr_expect(le(dbl, parity_difference(&got, &cpu, def.h), PARITY_NEAR));
    parity_drop(&got);
    parity_drop(&cpu);
    mabd_model_destroy(model);
}

// A thousand links go in segments.
Test(cuda_parity, a_long_chain) {
    const scene_case chain = {"chain", 1, {{"links", "1000"}}};
    expect_scene(&chain, CLOSED);
    const scene_case hinges = {"chain", 1, {{"links", "700"}, {"joint", "hinge"}}};
    expect_scene(&hinges, CLOSED);
}

// ---- batches ------------------------------------------------------------------------------------

// Copies of a scene of which one parameter differs: from low in equal steps.
static mabd_model* copies_of(const char* name, const char* parameter, double low, double step,
                             int copies) {
    mabd_error error = {0};
    mabd_scene* batch = NULL;
    rig_check(mabd_scene_create(NULL, &batch), &error, "scene");
    for (int i = 0; i < copies; i++) {
        char value[32];
        snprintf(value, sizeof value, "%.17g", low + step * i);
        const scene_case one = {name, 0, {{parameter, value}}};
        mabd_scene* scene = load_scene(&one);
        rig_check(mabd_scene_add_copy(batch, scene, &error), &error, name);
        mabd_scene_destroy(scene);
    }
    return rig_model(batch);
}

Test(cuda_parity, copies_of_an_arm_settle_one_by_one) {
    mabd_model* model = copies_of("arm", "load", 0.1, 2.5, 12);
    mabd_sim_def def = mabd_default_sim_def();
    def.h = (mabd_real)0.02;
    expect_backend_parity(model, &def, 3, PLAIN);
    mabd_model_destroy(model);
}

// ---- rotation in the frame of the body (affine/element/spin.h) ----------------------------------

static void follow_spin(const scene_case* c) {
    mabd_model* model = rig_model(load_scene(c));
    mabd_sim_def def = mabd_default_sim_def();
    const mabd_real h = mabd_model_suggested_h(model);
    if (h > 0) def.h = h;
    def.integrator = MABD_INTEGRATOR_BDF2;
    expect_backend_parity_on_the_way(model, &def, c->steps);
    mabd_model_destroy(model);
}

Test(cuda_parity, bodies_turn_in_their_own_frames) {
    const scene_case cases[] = {{"chain", 10, {{"links", "60"}}},
                                {"heavy-top", 20, {{0}}},
                                {"spinning-box", 20, {{0}}},
                                {"t-handle", 20, {{0}}},
                                {"double-four-bar", 10, {{0}}},
                                {"bounce", 40, {{0}}},
                                {NULL, 0, {{0}}}};
    for (const scene_case* c = cases; c->name; c++) follow_spin(c);
}

Test(cuda_parity, copies_settle_one_by_one_in_their_own_frames) {
    mabd_model* model = copies_of("arm", "load", 0.1, 2.5, 12);
    mabd_sim_def def = mabd_default_sim_def();
    def.h = (mabd_real)0.02;
    def.integrator = MABD_INTEGRATOR_BDF2;
    expect_backend_parity(model, &def, 3, PLAIN);
    mabd_model_destroy(model);
}

// Forty chains of one pattern go to the solver that has a thread for each.
Test(cuda_parity, copies_of_a_chain) {
    mabd_model* model = copies_of("chain", "radius", 0.005, 0.001, 40);
    expect_backend_parity(model, NULL, 1, PLAIN);
    mabd_model_destroy(model);
}

Test(cuda_parity, copies_of_a_linkage) {
    mabd_model* model = copies_of("double-four-bar", "velocity", 0.5, 1, 5);
    expect_backend_parity(model, NULL, 1, CLOSED);
    mabd_model_destroy(model);
}
