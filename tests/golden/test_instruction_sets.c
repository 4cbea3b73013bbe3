// SPDX-License-Identifier: Apache-2.0
// The stages give the same bits on every instruction set for which they are compiled.
#include "formulation/affine/affine_sim.h"
#include "support/axis_rig.h"
#include "support/contact_scene.h"
#include "support/random_scene.h"
#include "support/state_hash.h"

#include <mabd/generate.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static uint64_t run(const mabd_model* model, const mabd_affine_isa_table* stages) {
    mabd_sim_def def = mabd_default_sim_def();
    def.h = (mabd_real)0.004;
    return state_hash(model, &def, stages, 50, NULL);
}

Test(instruction_sets, give_the_same_bits) {
    for (int pattern = RANDOM_CHAIN; pattern <= RANDOM_TREE; pattern++) {
        for (int balls = 0; balls < 2; balls++) {
            const random_scene_def def = {.seed = 3,
                                          .pattern = (random_pattern)pattern,
                                          .bodies = 30,
                                          .grounded = true,
                                          .balls_only = balls,
                                          .controls = true,
                                          .wide = true,
                                          .mass_range = 10};
            mabd_error error = {0};
            mabd_scene* scene = random_scene(&def);
            mabd_model* model;
            cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK));
            const uint64_t expected = run(model, mabd_affine_isa_table_of(0));
            for (int32_t isa = 1; isa < mabd_isa_count(); isa++) {
                cr_expect(eq(u64, run(model, mabd_affine_isa_table_of(isa)), expected),
                          "%s, pattern %d, balls %d", mabd_isa_name(isa), pattern, balls);
            }
            mabd_model_destroy(model);
            mabd_scene_destroy(scene);
        }
    }
}

// Long enough for segments (affine/cpu/segment.h), with joints of three to six rows.
Test(instruction_sets, give_the_same_bits_with_long_chains) {
    const mabd_joint joints[4] = {MABD_JOINT_BALL, MABD_JOINT_UNIVERSAL, MABD_JOINT_HINGE,
                                  MABD_JOINT_FIXED};
    for (int i = 0; i < 4; i++) {
        mabd_error error = {0};
        mabd_scene* scene = rig_scene(-9.81);
        mabd_chain_def def = mabd_default_chain_def();
        def.links = MABD_SEGMENT_BODIES + 70, def.joint = joints[i];
        rig_check(mabd_generate_chain(scene, &def, &error), &error, "chain");
        mabd_model* model = rig_model(scene);
        const uint64_t expected = run(model, mabd_affine_isa_table_of(0));
        for (int32_t isa = 1; isa < mabd_isa_count(); isa++) {
            cr_expect(eq(u64, run(model, mabd_affine_isa_table_of(isa)), expected), "%s, joint %d",
                      mabd_isa_name(isa), (int)joints[i]);
        }
        mabd_model_destroy(model);
    }
}

// Links with stops and friction, the first one driven.
Test(instruction_sets, give_the_same_bits_with_stops_drives_and_friction) {
    const mabd_axis_def link = {.limited = true, .lower = -0.1, .upper = 0.15, .friction = 0.3};
    const mabd_axis_def first = {.motor_velocity = mabd_signal_constant(-2), .max_force = 60};
    mabd_scene* scene = rig_scene(-9.81);
    int32_t last = MABD_WORLD;
    for (int i = 0; i < 8; i++) {
        const int32_t body = rig_add_rod(scene, i * 0.2, 0.2, 0.05, 1e9);
        axis_add_joint(scene, false, last, body, i * 0.2, i == 0 ? &first : &link);
        last = body;
    }
    mabd_model* model = rig_model(scene);
    const uint64_t expected = run(model, mabd_affine_isa_table_of(0));
    for (int32_t isa = 1; isa < mabd_isa_count(); isa++) {
        cr_expect(eq(u64, run(model, mabd_affine_isa_table_of(isa)), expected), "%s",
                  mabd_isa_name(isa));
    }
    mabd_model_destroy(model);
}

Test(instruction_sets, give_the_same_bits_with_contacts) {
    for (int k = 0; k < CONTACT_SCENE_COUNT; k++) {
        mabd_model* model = contact_scene_model((contact_scene)k, NULL);
        const uint64_t expected = run(model, mabd_affine_isa_table_of(0));
        for (int32_t isa = 1; isa < mabd_isa_count(); isa++) {
            cr_expect(eq(u64, run(model, mabd_affine_isa_table_of(isa)), expected), "%s, %s",
                      mabd_isa_name(isa), contact_scene_name((contact_scene)k));
        }
        mabd_model_destroy(model);
    }
}

Test(instruction_sets, a_simulation_takes_the_last_that_the_processor_runs) {
    const mabd_allocator allocator = mabd_default_allocator();
    const random_scene_def def = {.seed = 3,
                                  .pattern = RANDOM_CHAIN,
                                  .bodies = 3,
                                  .grounded = true,
                                  .balls_only = 1,
                                  .controls = true,
                                  .mass_range = 10};
    const mabd_sim_def sim_def = mabd_default_sim_def();
    mabd_error error = {0};
    mabd_scene* scene = random_scene(&def);
    mabd_model* model;
    void* self = NULL;
    cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK));
    cr_assert(
        eq(int,
           mabd_formulation_affine.create(model, &sim_def, &allocator, model->start, &self, &error),
           MABD_OK));
    cr_assert(ge(i32, mabd_isa_count(), 1));
    cr_assert(eq(str, (char*)mabd_isa_name(0), "baseline"));
    const mabd_affine_sim* cpu = self;
    cr_assert(cpu->stages == mabd_affine_isa_table_of(mabd_isa_count() - 1));
    mabd_formulation_affine.destroy(self, &allocator);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
}
