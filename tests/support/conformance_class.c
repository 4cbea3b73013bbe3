// SPDX-License-Identifier: Apache-2.0
#include "support/conformance_class.h"

#include "mabd/generate.h"
#include "support/linkage_scene.h"
#include "support/random_scene.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

static void check(mabd_status status, const mabd_error* error) {
    if (status != MABD_OK) cr_fatal("conformance scene: %s", error->text);
}

// Vary size, root, joints, controls and masses with the index; periods are coprime, so that all
// combinations occur.
static random_scene_def vary(random_pattern pattern, int32_t index, int32_t least, int32_t range) {
    const bool heavy = index % 5 == 4;
    const random_scene_def def = {
        .seed = (uint64_t)(10000 * (pattern + 1) + index),
        .pattern = pattern,
        .bodies = least + index * 7 % range,
        .grounded = index % 2,
        .on_fixed = index % 4 == 3,
        .balls_only = index % 7 == 0,
        .controls = index % 3 != 0,
        .soft = heavy,
        .wide = index % 2,
        .mass_range = (mabd_real)(heavy ? 1e6 : 10),
    };
    return def;
}

static mabd_scene* varied(random_pattern pattern, int32_t index, int32_t least, int32_t range) {
    const random_scene_def def = vary(pattern, index, least, range);
    return random_scene(&def);
}

static mabd_scene* chain(int32_t index) {
    return varied(RANDOM_CHAIN, index, 2, 23);
}

static mabd_scene* tree(int32_t index) {
    return varied(RANDOM_TREE, index, 3, 22);
}

static mabd_scene* star(int32_t index) {
    return varied(RANDOM_STAR, index, 4, 7);
}

static mabd_scene* junction(int32_t index) {
    return varied(RANDOM_STAR, index, 24, 25);
}

static mabd_scene* ring(int32_t index) {
    return varied(RANDOM_RING, index, 3, 18);
}

static mabd_scene* ladder(int32_t index) {
    return varied(RANDOM_LADDER, index, 4, 19);
}

static mabd_scene* net(int32_t index) {
    return varied(RANDOM_NET, index, 6, 16);
}

static mabd_scene* mixed(int32_t index) {
    return varied(RANDOM_MIXED, index, 6, 19);
}

// Make a scene of parts of the given patterns in sequence, a free body after each.
static mabd_scene* several(int32_t index, int32_t count, const random_pattern* patterns) {
    mabd_error error = {0};
    mabd_scene* scene;
    check(mabd_scene_create(NULL, &scene), &error);
    for (int32_t i = 0; i < count; i++) {
        random_scene_def def = vary(patterns[i], index + i, 3, 6);
        random_scene_def alone = {.seed = def.seed, .pattern = RANDOM_CHAIN, .bodies = 1};
        def.seed += 500000;
        alone.mass_range = 1;
        random_scene_add(&def, scene);
        random_scene_add(&alone, scene);
    }
    return scene;
}

static mabd_scene* many_chains(int32_t index) {
    const random_pattern patterns[] = {RANDOM_CHAIN, RANDOM_CHAIN, RANDOM_CHAIN};
    return several(index, 3, patterns);
}

static mabd_scene* forest(int32_t index) {
    const random_pattern patterns[] = {RANDOM_TREE, RANDOM_STAR, RANDOM_TREE};
    return several(index, 3, patterns);
}

static mabd_scene* many_parts(int32_t index) {
    const random_pattern patterns[] = {RANDOM_NET, RANDOM_CHAIN, RANDOM_RING, RANDOM_TREE};
    return several(index, 4, patterns);
}

// Return 1e-3, 1e-4, 1e-5, 1e-6 rad in turn.
static mabd_real near(int32_t index) {
    return (mabd_real)pow(10, -3 - index % 4);
}

static mabd_scene* straight_chain(int32_t index) {
    const linkage_def def = {(uint64_t)(200000 + index), LINKAGE_STRAIGHT, near(index),
                             2 + index * 5 % 19, index / 4 % 2 == 1};
    return linkage_scene(&def);
}

static mabd_scene* linkage(int32_t index, bool grounded) {
    const linkage_pose poses[] = {LINKAGE_CHANGE_POINT, LINKAGE_FLAT_LOOP, LINKAGE_PARALLEL_AXES};
    const linkage_def def = {(uint64_t)(210000 + index), poses[index % 3], near(index),
                             4 + index / 3 % 7, grounded};
    return linkage_scene(&def);
}

static mabd_scene* grounded_linkage(int32_t index) {
    return linkage(index, true);
}

static mabd_scene* floating_linkage(int32_t index) {
    return linkage(index, false);
}

// Rhombi in general position, nearly in line along the chain and nearly in line across it.
static mabd_scene* four_bars(int32_t index) {
    mabd_error error = {0};
    mabd_scene* scene;
    mabd_four_bar_chain_def def = mabd_default_four_bar_chain_def();
    const mabd_real across = (mabd_real)1.5707963267948966;
    const mabd_real angles[] = {(mabd_real)0.2 + (mabd_real)0.05 * (mabd_real)(index % 20),
                                near(index), across - near(index)};
    def.segments = 1 + index % 5;
    def.angle = angles[index % 3];
    def.width = (mabd_real)0.06;
    check(mabd_scene_create(NULL, &scene), &error);
    check(mabd_generate_four_bar_chain(scene, &def, &error), &error);
    return scene;
}

#define CHAIN (1u << MABD_COMPONENT_CHAIN)
#define TREE  (1u << MABD_COMPONENT_TREE)
#define LOOPS (1u << MABD_COMPONENT_LOOPS)
#define GRAPH (1u << MABD_COMPONENT_GRAPH)

const conformance_class conformance_classes[CONFORMANCE_CLASSES] = {
    [CONFORMANCE_CHAINS] = {"chains", 120, CHAIN, false, chain},
    [CONFORMANCE_MANY_CHAINS] = {"several chains", 36, CHAIN, false, many_chains},
    [CONFORMANCE_STRAIGHT_CHAINS] = {"straight chains", 32, CHAIN, true, straight_chain},
    [CONFORMANCE_GROUNDED_LINKAGES] = {"grounded linkages", 36, CHAIN, true, grounded_linkage},
    [CONFORMANCE_TREES] = {"trees", 42, CHAIN | TREE, false, tree},
    [CONFORMANCE_STARS] = {"stars", 28, TREE, false, star},
    [CONFORMANCE_JUNCTIONS] = {"junctions", 12, TREE, false, junction},
    [CONFORMANCE_FORESTS] = {"forests", 24, CHAIN | TREE, false, forest},
    [CONFORMANCE_RINGS] = {"rings", 28, LOOPS | GRAPH, false, ring},
    [CONFORMANCE_LADDERS] = {"ladders", 28, LOOPS | GRAPH, false, ladder},
    [CONFORMANCE_FOUR_BARS] = {"four-bar chains", 36, LOOPS | GRAPH, true, four_bars},
    [CONFORMANCE_NETS] = {"nets", 28, LOOPS | GRAPH, false, net},
    [CONFORMANCE_MIXED] = {"mixed graphs", 32, LOOPS | GRAPH, false, mixed},
    [CONFORMANCE_MANY_PARTS] = {"several parts", 24, CHAIN | TREE | LOOPS | GRAPH, false,
                                many_parts},
    [CONFORMANCE_FLOATING_LINKAGES] = {"floating linkages", 36, LOOPS | GRAPH, true,
                                       floating_linkage},
};
