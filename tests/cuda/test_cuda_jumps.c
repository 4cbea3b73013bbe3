// SPDX-License-Identifier: Apache-2.0
// Jumps of controls and forces (src/formulation/affine/jumps.c): kernels on the executor against
// the CPU, and a copy of a batch against itself alone.

#include "support/arm_rig.h"
#include "support/backend_parity.h"

#define COPIES 6
#define PLAIN  1e3 // condition of the dual matrix of an arm

static mabd_sim_def bdf2(double h) {
    mabd_sim_def def = mabd_default_sim_def();
    def.h = h, def.integrator = MABD_INTEGRATOR_BDF2;
    return def;
}

static arm_case copy_of(int i) {
    return (arm_case){.mass = 1 + 0.1 * i, .steps = true, .delay = 0.005 * (i % 3)};
}

// Arms whose targets jump at three different times.
static mabd_model* arms(void) {
    mabd_error error = {0};
    mabd_scene* batch = NULL;
    rig_check(mabd_scene_create(NULL, &batch), &error, "scene");
    for (int i = 0; i < COPIES; i++) {
        const arm_case c = copy_of(i);
        mabd_scene* scene = arm_scene(&c);
        rig_check(mabd_scene_add_copy(batch, scene, &error), &error, "copy");
        mabd_scene_destroy(scene);
    }
    return rig_model(batch);
}

Test(cuda_jumps, copies_that_jump_at_different_times) {
    mabd_model* model = arms();
    mabd_sim_def def = bdf2(0.005);
    expect_backend_parity(model, &def, 9, PLAIN);
    def.integrator = MABD_INTEGRATOR_BDF2_LINEAR;
    expect_backend_parity(model, &def, 9, PLAIN);
    mabd_model_destroy(model);
}

Test(cuda_jumps, an_arm_with_limits_and_one_at_a_wall) {
    const arm_case cases[] = {{.steps = true, .max_force = 100}, {.steps = true, .wall = 0.02}};
    for (int k = 0; k < 2; k++) {
        mabd_model* model = rig_model(arm_scene(&cases[k]));
        const mabd_sim_def def = bdf2(0.005);
        expect_backend_parity_on_the_way(model, &def, 30);
        mabd_model_destroy(model);
    }
}

// Targets of copy i change every i + 2 steps; copy 2 is pushed by forces that change.
static void act(mabd_sim* sim, int i, int32_t at, int step) {
    mabd_error error = {0};
    arm_set(sim, at, 1, step / (i + 2));
    if (i != 2 || step < 3 || step > 7) return;
    const int32_t body = ARM_JOINTS * at + 4;
    const mabd_real force[3] = {step < 5 ? 30 : 50, 0, 0};
    rig_check(mabd_sim_apply_force(sim, 1, &body, force, NULL, &error), &error, "force");
}

// On the executor too, a copy has its bits alone.
Test(cuda_jumps, a_copy_has_its_bits_alone) {
    mabd_model *model = arms(), *models[COPIES];
    mabd_sim_def def = bdf2(0.01);
    def.backend = MABD_BACKEND_EXECUTOR;
    mabd_sim *batch = rig_sim(model, &def), *alone[COPIES];
    for (int i = 0; i < COPIES; i++) {
        const arm_case c = copy_of(i);
        models[i] = rig_model(arm_scene(&c)), alone[i] = rig_sim(models[i], &def);
    }
    for (int step = 0; step < 12; step++) {
        mabd_real all[3 * ARM_JOINTS * COPIES], own[3 * ARM_JOINTS];
        for (int i = 0; i < COPIES; i++) act(batch, i, i, step);
        rig_step(batch);
        mabd_sim_get_state(batch, NULL, NULL, NULL, all);
        for (int i = 0; i < COPIES; i++) {
            act(alone[i], i, 0, step);
            rig_step(alone[i]);
            mabd_sim_get_state(alone[i], NULL, NULL, NULL, own);
            cr_assert(eq(int, memcmp(all + 3 * ARM_JOINTS * i, own, sizeof own), 0),
                      "copy %d, step %d", i, step);
        }
    }
    for (int i = 0; i < COPIES; i++) rig_destroy(alone[i], models[i]);
    rig_destroy(batch, model);
}
