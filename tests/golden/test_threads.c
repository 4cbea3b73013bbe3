// SPDX-License-Identifier: Apache-2.0
// The bits are the same for any number of threads, on every instruction set: scenes of several
// tiles and groups.
#include "support/contact_rig.h"
#include "support/random_scene.h"
#include "support/sanitized.h"
#include "support/state_hash.h"

#define MOST_THREADS 4
#define STEPS        AMOUNT(5, 3)
#define MORE_THREADS AMOUNT(1, 3) // between two runs

static int32_t pushing; // pressing contacts of the last run

static uint64_t run(const mabd_model* model, int32_t threads, int32_t isa, mabd_dual dual) {
    mabd_sim_def def = mabd_default_sim_def();
    mabd_step_info info = {0};
    def.h = (mabd_real)0.005;
    def.threads = threads;
    def.dual = dual;
    const uint64_t hash = state_hash(model, &def, mabd_affine_isa_table_of(isa), STEPS, &info);
    pushing = info.contacts;
    return hash;
}

// Takes ownership of the scene.
static void expect_same_with(mabd_scene* scene, int32_t least_bodies, mabd_dual dual) {
    mabd_error error = {0};
    mabd_model* model;
    cr_assert(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_OK), "%s", error.text);
    cr_assert(ge(i32, mabd_model_body_count(model), least_bodies));
    const uint64_t expected = run(model, 1, 0, dual);
    for (int32_t isa = 0; isa < mabd_isa_count(); isa++) {
        for (int32_t threads = 1; threads <= MOST_THREADS; threads += MORE_THREADS) {
            cr_expect(eq(u64, run(model, threads, isa, dual), expected), "%s, %d threads",
                      mabd_isa_name(isa), threads);
        }
    }
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
}

static void expect_same(mabd_scene* scene) {
    expect_same_with(scene, 2 * MABD_TILE_BODIES, MABD_DUAL_AUTO);
}

static mabd_scene* chains(int32_t count, int32_t links, mabd_joint joint) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_chain_def def = mabd_default_chain_def();
    mabd_error error = {0};
    char name[32];
    def.name = name;
    def.links = links;
    def.joint = joint;
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "chain%d", i);
        def.anchor[1] = i;
        def.material.density = 1000 + i % 3;
        rig_check(mabd_generate_chain(scene, &def, &error), &error, "chain");
    }
    return scene;
}

Test(threads, a_chain_of_ball_joints) {
    expect_same(chains(1, 5000, MABD_JOINT_BALL));
}

Test(threads, a_chain_of_hinges) {
    expect_same(chains(1, 1500, MABD_JOINT_HINGE));
}

Test(threads, many_robots) {
    expect_same(chains(300, 7, MABD_JOINT_HINGE));
}

Test(threads, chains_of_all_lengths) {
    mabd_scene* scene = chains(40, 25, MABD_JOINT_BALL);
    mabd_chain_def def = mabd_default_chain_def();
    mabd_error error = {0};
    def.links = 2000;
    def.anchor[1] = -1;
    rig_check(mabd_generate_chain(scene, &def, &error), &error, "chain");
    expect_same(scene);
}

// The links of this tree are numbered by levels.
Test(threads, a_tree_by_levels) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_tree_def def = mabd_default_tree_def();
    mabd_error error = {0};
    def.branching = 2, def.depth = 12;
    rig_check(mabd_generate_tree(scene, &def, &error), &error, "tree");
    expect_same(scene);
}

Test(threads, a_plant_with_springs) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_branching_def def = mabd_default_branching_def();
    mabd_error error = {0};
    def.levels[0].children = 12, def.levels[1].children = 12, def.levels[2].segments = 20;
    rig_check(mabd_generate_branching(scene, &def, &error), &error, "branching");
    expect_same(scene);
}

// Bodies hang on any earlier one, so that the subtrees of a slot and of those before it are mixed.
Test(threads, a_random_tree) {
    const random_scene_def def = {.seed = 5,
                                  .pattern = RANDOM_TREE,
                                  .bodies = 1800,
                                  .grounded = true,
                                  .balls_only = true,
                                  .mass_range = 3};
    expect_same(random_scene(&def));
}

// Arms of many links on one hub, which is a junction: its freedoms are unknowns.
Test(threads, a_star) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_star_def def = mabd_default_star_def();
    mabd_error error = {0};
    def.arms = 30, def.links = 60;
    rig_check(mabd_generate_star(scene, &def, &error), &error, "star");
    expect_same(scene);
}

static mabd_scene* net(int32_t side) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_net_def def = mabd_default_net_def();
    mabd_error error = {0};
    def.rows = def.columns = side;
    rig_check(mabd_generate_net(scene, &def, &error), &error, "net");
    return scene;
}

Test(threads, a_net) {
    expect_same(net(24));
}

Test(threads, a_net_with_an_old_factor) {
    expect_same_with(net(20), MABD_TILE_BODIES, MABD_DUAL_STALE);
}

Test(threads, a_net_by_iteration) {
    expect_same_with(net(20), MABD_TILE_BODIES, MABD_DUAL_PCG);
}

Test(threads, loops) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_four_bar_chain_def def = mabd_default_four_bar_chain_def();
    mabd_error error = {0};
    def.segments = 400;
    rig_check(mabd_generate_four_bar_chain(scene, &def, &error), &error, "four-bar chain");
    expect_same(scene);
}

// Redundant rows: many small components that are softened, and corrected in their own workspace.
Test(threads, many_redundant_linkages) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_double_four_bar_def def = mabd_default_double_four_bar_def();
    mabd_error error = {0};
    char name[32];
    def.name = name;
    for (int i = 0; i < 120; i++) {
        snprintf(name, sizeof name, "linkage%d", i);
        def.position[1] = i;
        rig_check(mabd_generate_double_four_bar(scene, &def, &error), &error, "double four-bar");
    }
    expect_same_with(scene, MABD_TILE_BODIES, MABD_DUAL_AUTO);
}

// A pile that comes down on the ground: its lowest bodies touch it from the start.
Test(threads, contacts) {
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    mabd_pile_def def = mabd_default_pile_def();
    mabd_error error = {0};
    contact_add_ground(scene, 0.4);
    def.pairs = 300, def.columns = def.rows = 12;
    def.position[2] = (mabd_real)0.08;
    rig_check(mabd_generate_pile(scene, &def, &error), &error, "pile");
    expect_same_with(scene, MABD_TILE_BODIES, MABD_DUAL_AUTO);
    cr_expect(ge(i32, pushing, 50));
}
