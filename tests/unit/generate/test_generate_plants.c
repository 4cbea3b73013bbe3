// SPDX-License-Identifier: Apache-2.0
// Tests for src/generate: branching, backbone, star
#include "mabd/generate.h"
#include "support/generate_checks.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double tolerance = 1e-12;
static const double pi = 3.14159265358979323846;

// ---- branching ---------------------------------------------------------------------------------

static mabd_scene* grow(const mabd_branching_def* def) {
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_generate_branching(scene, def, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    return scene;
}

// Each link is held by one joint, to a link added before it or, for the trunk, to the world.
Test(plants, branching_is_one_closed_tree) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        mabd_branching_def def = mabd_default_branching_def();
        def.seed = seed;
        def.anchor[0] = 3;
        mabd_scene* scene = grow(&def);
        const int32_t n = mabd_scene_body_count(scene);
        cr_assert(lt(i32, 50, n));
        cr_assert(lt(i32, n, 6 + 8 * 5 + 8 * 5 * 4)); // all branches full
        cr_assert(eq(i32, mabd_scene_joint_count(scene), n));
        cr_assert(lt(dbl, scene_opening(scene), tolerance));
        cr_assert(eq(i32, scene_wrong_names(scene), 0));
        cr_assert(eq(i32, scene_joint(scene, 0)->a, MABD_WORLD));
        for (int32_t i = 0; i < n; i++) {
            cr_assert(eq(i32, scene_joint(scene, i)->b, i));
            cr_assert(lt(i32, scene_joint(scene, i)->a, i));
            // attached by its near end to the axis of its parent link
            const mabd_scene_joint* joint = scene_joint(scene, i);
            double half = scene_geom(scene, i)->size[1] / 2;
            cr_assert(lt(dbl, fabs(joint->anchor_b[0] + half), tolerance));
            if (i == 0) continue;
            double carrier = scene_geom(scene, joint->a)->size[1] / 2;
            cr_assert(le(dbl, fabs(joint->anchor_a[0]), carrier + tolerance));
            cr_assert(lt(dbl, hypot(joint->anchor_a[1], joint->anchor_a[2]), tolerance));
        }
        mabd_scene_destroy(scene);
    }
}

Test(plants, branching_without_chance_has_the_requested_numbers) {
    mabd_branching_def def = mabd_default_branching_def();
    def.variation = 0;
    for (int i = 0; i < 3; i++) def.levels[i].shorten = 0;
    mabd_scene* scene = grow(&def);
    cr_assert(eq(i32, mabd_scene_body_count(scene), 6 + 8 * 5 + 8 * 5 * 4));
    cr_assert(ge(i32, mabd_scene_find_body(scene, "branching/level2/segment3/39"), 0));
    cr_assert(eq(i32, mabd_scene_find_body(scene, "branching/level2/segment3/40"), -1));
    mabd_scene_destroy(scene);
}

Test(plants, seed_decides_and_nothing_else) {
    mabd_branching_def def = mabd_default_branching_def();
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        def.seed = i == 2 ? 8 : 7;
        mabd_scene* scene = grow(&def);
        hashes[i] = scene_hash(scene);
        mabd_scene_destroy(scene);
    }
    cr_assert(eq(u64, hashes[0], hashes[1]));
    cr_assert(ne(u64, hashes[0], hashes[2]));
}

// Drooping branches end lower, rising ones higher.
Test(plants, droop_bends_towards_the_ground) {
    double lowest[3];
    for (int i = 0; i < 3; i++) {
        mabd_branching_def def = mabd_default_branching_def();
        def.level_count = 2, def.wiggle = 0, def.levels[1].droop = 2 * (i - 1);
        def.levels[1].spread = def.levels[1].spread_tip = pi / 2;
        mabd_scene* scene = grow(&def);
        lowest[i] = 1e9;
        for (int32_t b = 0; b < mabd_scene_body_count(scene); b++) {
            char name[64];
            snprintf(name, sizeof name, "branching/level1/segment4/%d", (int)b);
            int32_t body = mabd_scene_find_body(scene, name);
            if (body >= 0) lowest[i] = fmin(lowest[i], scene_body(scene, body)->position[2]);
        }
        mabd_scene_destroy(scene);
    }
    cr_assert(lt(dbl, lowest[2], lowest[1] - 0.1));
    cr_assert(lt(dbl, lowest[1] + 0.1, lowest[0]));
}

// E pi r^4 / (4 length) about x and y of the joint, over 1 + poisson about z.
Test(plants, springs_are_those_of_round_rods) {
    mabd_branching_def def = mabd_default_branching_def();
    mabd_scene* scene = grow(&def);
    for (int32_t i = 1; i < mabd_scene_joint_count(scene); i++) {
        const mabd_geom* geom = scene_geom(scene, i);
        double k = def.bending * pi * pow(geom->size[0], 4) / (4 * geom->size[1]);
        const mabd_scene_axes* axes =
            (const mabd_scene_axes*)scene->axes.data + scene_joint(scene, i)->axes;
        cr_assert(lt(dbl, fabs(axes->axis[MABD_AXIS_RX].stiffness / k - 1), tolerance));
        cr_assert(lt(dbl, fabs(axes->axis[MABD_AXIS_RY].stiffness / k - 1), tolerance));
        cr_assert(lt(dbl, fabs(axes->axis[MABD_AXIS_RZ].stiffness * 1.3 / k - 1), tolerance));
        cr_assert(
            lt(dbl, fabs(axes->axis[MABD_AXIS_RX].damping / (k * def.damping) - 1), tolerance));
    }
    mabd_scene_destroy(scene);
}

// ---- backbone ----------------------------------------------------------------------------------

Test(plants, backbone_is_a_closed_chain_of_helices) {
    for (uint64_t seed = 0; seed < 10; seed++) {
        mabd_backbone_def def = mabd_default_backbone_def();
        mabd_error error = {0};
        def.links = 700 + 100 * (int32_t)seed, def.seed = seed, def.pinned = seed % 2;
        mabd_scene* scene = new_scene();
        mabd_status status = mabd_generate_backbone(scene, &def, &error);
        cr_assert(eq(int, status, MABD_OK), "%s", error.text);
        cr_assert(eq(i32, mabd_scene_body_count(scene), def.links));
        cr_assert(eq(i32, mabd_scene_joint_count(scene), def.links - !def.pinned));
        cr_assert(lt(dbl, scene_opening(scene), tolerance));
        cr_assert(lt(dbl, scene_misplaced(scene, 0), tolerance));
        cr_assert(eq(i32, scene_wrong_names(scene), 0));
        cr_assert(eq(i32, scene->classes.count, 1));
        mabd_scene_destroy(scene);
    }
}

// Residue 0 and residue 3.6 k lie above one another: 18 residues are 5 turns and 27 units of rise,
// in units in which a link is 3.83.
Test(plants, backbone_helices_have_the_pitch_of_alpha_helices) {
    mabd_backbone_def def = mabd_default_backbone_def();
    def.links = 13; // within the first helix
    def.length = sqrt(1.5 * 1.5 + pow(2 * 2.3 * sin(50 * pi / 180), 2));
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_backbone(scene, &def, NULL), MABD_OK));
    double first[3], last[3];
    memcpy(first, scene_side_b(scene, 0).point, sizeof first);
    memcpy(last, scene_side_b(scene, 9).point, sizeof last); // 900 degrees: half a turn off
    cr_assert(lt(dbl, fabs(last[2] - first[2] - 9 * 1.5), 1e-10));
    cr_assert(lt(dbl, fabs(hypot(last[0] - first[0], last[1] - first[1]) - 2 * 2.3), 1e-10));
    mabd_scene_destroy(scene);
}

// Middles of links that are not neighbours keep a distance, and all fit a small box.
Test(plants, backbone_is_compact_and_hardly_meets_itself) {
    enum { LINKS = 3000 };
    mabd_backbone_def def = mabd_default_backbone_def();
    def.links = LINKS, def.seed = 3;
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_backbone(scene, &def, NULL), MABD_OK));
    double widest = 0;
    int close = 0;
    for (int32_t i = 0; i < LINKS; i++) {
        for (int32_t j = i + 2; j < LINKS; j++) {
            double d[3];
            for (int k = 0; k < 3; k++) {
                d[k] = scene_body(scene, i)->position[k] - scene_body(scene, j)->position[k];
            }
            close += vector_norm(d) < 0.5 * def.length;
            widest = fmax(widest, vector_norm(d));
        }
    }
    cr_assert(lt(int, close, LINKS / 50), "%d pairs", close);
    cr_assert(lt(dbl, widest, 5)); // 300 m long if stretched
    mabd_scene_destroy(scene);
}

// ---- star --------------------------------------------------------------------------------------

Test(plants, stars_are_closed_and_spread_evenly) {
    static const int32_t arms[] = {1, 2, 7, 300};
    for (int i = 0; i < 4; i++) {
        mabd_star_def def = mabd_default_star_def();
        mabd_error error = {0};
        def.arms = arms[i], def.links = 1 + i, def.spin = 3, def.pinned = i % 2;
        def.position[1] = -2;
        mabd_scene* scene = new_scene();
        mabd_status status = mabd_generate_star(scene, &def, &error);
        cr_assert(eq(int, status, MABD_OK), "%s", error.text);
        const int32_t n = arms[i] * def.links;
        cr_assert(eq(i32, mabd_scene_body_count(scene), n + 1));
        cr_assert(eq(i32, mabd_scene_joint_count(scene), n + def.pinned));
        cr_assert(lt(dbl, scene_opening(scene), tolerance));
        cr_assert(lt(dbl, scene_misplaced(scene, 0), tolerance));
        cr_assert(eq(i32, scene_wrong_names(scene), 0));
        mabd_scene_destroy(scene);
    }
    // neighbours on a unit sphere of 300 points are at least 3.09 / sqrt(300) apart
    mabd_star_def def = mabd_default_star_def();
    def.arms = 300;
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_star(scene, &def, NULL), MABD_OK));
    double nearest = 1e9;
    for (int32_t i = 1; i <= 300; i++) {
        for (int32_t j = i + 1; j <= 300; j++) {
            double d[3];
            for (int k = 0; k < 3; k++) {
                d[k] = scene_body(scene, i)->position[k] - scene_body(scene, j)->position[k];
            }
            nearest = fmin(nearest, vector_norm(d) / (def.hub_radius + def.length / 2));
        }
    }
    cr_assert(lt(dbl, 0.9 * 3.09 / sqrt(300), nearest));
    mabd_scene_destroy(scene);
}

// ---- refusals ----------------------------------------------------------------------------------

Test(plants, refuses_bad_plants) {
    REFUSES(branching, "levels must be 1 to 8", def.level_count = 0);
    REFUSES(branching, "levels must be 1 to 8", def.level_count = 9);
    REFUSES(branching, "segments must be at least 1", def.levels[1].segments = 0);
    REFUSES(branching, "children must be at least 0", def.levels[1].children = -1);
    REFUSES(branching, "too large", def.levels[0].children = def.levels[1].children = 100000);
    REFUSES(branching, "length must be positive", def.levels[2].length = 0);
    REFUSES(branching, "tip must be in", def.levels[2].tip = 0);
    REFUSES(branching, "bare must be in", def.levels[0].bare = 1);
    REFUSES(branching, "variation must be in", def.variation = 1);
    REFUSES(branching, "bending must be in", def.bending = -1);
    REFUSES(branching, "droop must be finite", def.levels[0].droop = NAN);
    REFUSES(branching, "default function", def.cookie = 1);
    REFUSES(backbone, "links must be at least 1", def.links = 0);
    REFUSES(backbone, "too large", def.links = INT32_MAX);
    REFUSES(backbone, "radius must be positive", def.radius = -1);
    REFUSES(star, "arms must be at least 1", def.arms = 0);
    REFUSES(star, "links must be at least 1", def.links = 0);
    REFUSES(star, "too large", def.arms = def.links = 100000);
    REFUSES(star, "hub_radius must be positive", def.hub_radius = 0);
}

// ---- memory ------------------------------------------------------------------------------------

static mabd_status build_branching(mabd_scene* scene, mabd_error* error) {
    mabd_branching_def def = mabd_default_branching_def();
    return mabd_generate_branching(scene, &def, error);
}

static mabd_status build_backbone(mabd_scene* scene, mabd_error* error) {
    mabd_backbone_def def = mabd_default_backbone_def();
    return mabd_generate_backbone(scene, &def, error);
}

static mabd_status build_star(mabd_scene* scene, mabd_error* error) {
    mabd_star_def def = mabd_default_star_def();
    return mabd_generate_star(scene, &def, error);
}

Test(plants, every_allocation_may_fail) {
    static scene_builder* const builders[] = {build_branching, build_backbone, build_star};
    for (int b = 0; b < 3; b++) check_failing_allocations(builders[b]);
}
