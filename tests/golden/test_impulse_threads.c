// SPDX-License-Identifier: Apache-2.0
// The impulse formulation gives the same bits for any number of threads, on every instruction set,
// and after a saved state.
#include "formulation/impulse/impulse_blocks.h"
#include "support/impulse_rig.h"
#include "support/random_scene.h"
#include "support/sanitized.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#define STEPS AMOUNT(5, 2)

static void step(mabd_impulse_sim* sim, int first, int count) {
    for (int i = first; i < first + count; i++) {
        mabd_error error = {0};
        rig_check(mabd_formulation_impulse.step(sim, i * sim->def.h, NULL, &error), &error, "step");
    }
}

static char* bytes_of(const mabd_impulse_sim* sim) {
    char* bytes = malloc(mabd_impulse_state_size(sim));
    mabd_impulse_save(sim, bytes);
    return bytes;
}

static mabd_sim_def choose(bool direct, int32_t threads) {
    mabd_sim_def def = impulse_def(0.005, 2, 2, 1);
    if (direct) def.impulse.joints = MABD_IMPULSE_JOINTS_DIRECT, def.impulse.substeps = 0;
    def.threads = threads;
    return def;
}

// State after some steps, with a break where it is saved and taken up by another simulation.
static char* run(const mabd_model* model, bool direct, int32_t threads, int32_t isa, bool resume) {
    mabd_impulse_sim* sim = impulse_inside(model, choose(direct, threads));
    sim->lanes = mabd_impulse_lanes_of(isa);
    step(sim, 0, STEPS / 2);
    if (resume) {
        char* half = bytes_of(sim);
        const size_t size = mabd_impulse_state_size(sim);
        impulse_inside_destroy(sim);
        sim = impulse_inside(model, choose(direct, threads));
        sim->lanes = mabd_impulse_lanes_of(isa);
        cr_assert(eq(int, mabd_impulse_restore(sim, half, size, STEPS / 2 * sim->def.h), MABD_OK));
        free(half);
    }
    step(sim, STEPS / 2, STEPS - STEPS / 2);
    char* end = bytes_of(sim);
    impulse_inside_destroy(sim);
    return end;
}

static void expect_same(mabd_scene* scene, bool direct) {
    mabd_model* model = rig_model(scene);
    mabd_impulse_sim* sim = impulse_inside(model, choose(direct, 1));
    const size_t size = mabd_impulse_state_size(sim);
    impulse_inside_destroy(sim);
    char* expected = run(model, direct, 1, 0, false);
    for (int32_t isa = 0; isa < mabd_isa_count(); isa++) {
        for (int32_t threads = 1; threads <= 4; threads++) {
            char* other = run(model, direct, threads, isa, threads == 2);
            cr_expect(eq(int, memcmp(expected, other, size), 0), "%s, %d threads",
                      mabd_isa_name(isa), threads);
            free(other);
        }
    }
    free(expected);
    mabd_model_destroy(model);
}

static mabd_scene* chain(int32_t links, mabd_joint joint, mabd_shape shape) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_error error = {0};
    mabd_chain_def def = mabd_default_chain_def();
    def.links = links, def.joint = joint, def.shape = shape;
    rig_check(mabd_generate_chain(scene, &def, &error), &error, "chain");
    return scene;
}

static mabd_scene* every_kind(random_pattern pattern, int32_t bodies, uint64_t seed) {
    const random_scene_def def = {.seed = seed,
                                  .pattern = pattern,
                                  .bodies = bodies,
                                  .grounded = true,
                                  .controls = true,
                                  .single = true,
                                  .wide = true,
                                  .mass_range = 3};
    return random_scene(&def);
}

Test(impulse_threads, a_chain_of_rods_and_one_of_hinges) {
    expect_same(chain(1500, MABD_JOINT_BALL, MABD_SHAPE_CAPSULE), false);
    expect_same(chain(1500, MABD_JOINT_HINGE, MABD_SHAPE_BOX), false);
}

Test(impulse_threads, a_grid_of_balls) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_error error = {0};
    mabd_joint_grid_def def = mabd_default_joint_grid_def();
    def.rows = def.columns = 30;
    rig_check(mabd_generate_joint_grid(scene, &def, &error), &error, "grid");
    expect_same(scene, false);
}

Test(impulse_threads, all_joints_with_controls) {
    expect_same(every_kind(RANDOM_NET, 900, 5), false);
}

Test(impulse_threads, joints_solved_at_once) {
    expect_same(every_kind(RANDOM_MIXED, 120, 5), true);
    expect_same(chain(300, MABD_JOINT_HINGE, MABD_SHAPE_BOX), true);
}
