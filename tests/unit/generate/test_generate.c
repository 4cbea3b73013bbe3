// SPDX-License-Identifier: Apache-2.0
// Tests for src/generate: chain, net, ring, tree and linkages
#include "base/clock.h"
#include "mabd/generate.h"
#include "scene/inertia.h"
#include "support/counting_allocator.h"
#include "support/generate_checks.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double tolerance = 1e-12;

// Check the properties of every generated scene; destroys it.
static void check_scene(mabd_scene* scene, mabd_status status, const mabd_error* error,
                        int32_t bodies, int32_t joints, double bead_length, const char* label) {
    cr_assert(eq(int, status, MABD_OK), "%s: %s", label, error->text);
    cr_assert(eq(i32, mabd_scene_body_count(scene), bodies), "%s", label);
    cr_assert(eq(i32, mabd_scene_joint_count(scene), joints), "%s", label);
    cr_assert(lt(dbl, scene_opening(scene), tolerance), "%s", label);
    cr_assert(lt(dbl, scene_misplaced(scene, bead_length), tolerance), "%s", label);
    cr_assert(eq(i32, scene_wrong_names(scene), 0), "%s", label);
    mabd_scene_destroy(scene);
}

// ---- chain -------------------------------------------------------------------------------------

Test(generate, chains_of_every_shape_joint_and_start_are_closed) {
    for (int shape = 0; shape < MABD_SHAPE_PLANE; shape++) {
        for (int joint = 0; joint < MABD_JOINT_COUNT; joint++) {
            if (joint == MABD_JOINT_FREE) continue; // holds nothing
            for (int start = 0; start < MABD_CHAIN_START_COUNT; start++) {
                for (int pinned = 0; pinned < 2; pinned++) {
                    mabd_chain_def def = mabd_default_chain_def();
                    mabd_error error = {0};
                    def.links = 23;
                    def.shape = (mabd_shape)shape;
                    def.joint = (mabd_joint)joint;
                    def.start = (mabd_chain_start)start;
                    def.pinned = pinned;
                    def.anchor[0] = 0.3, def.anchor[1] = -0.7, def.anchor[2] = 2;
                    mabd_scene* scene = new_scene();
                    mabd_status status = mabd_generate_chain(scene, &def, &error);
                    check_scene(scene, status, &error, 23, 22 + pinned, def.length, "chain");
                }
            }
        }
    }
}

// 100 links of 0.1 m; coiled in rows of 10 links and one down: P_99 is in row 9 (odd), k = 0, at x
// = 1 m.
Test(generate, chain_starts_at_its_given_start) {
    static const double ends[MABD_CHAIN_START_COUNT][3] = {
        {9.95, 0, 0}, {0, 0, -9.95}, {0.95, 0, -0.9}};
    for (int start = 0; start < MABD_CHAIN_START_COUNT; start++) {
        mabd_chain_def def = mabd_default_chain_def();
        def.start = (mabd_chain_start)start;
        mabd_scene* scene = new_scene();
        cr_assert(eq(int, mabd_generate_chain(scene, &def, NULL), MABD_OK));
        const double* last = scene_body(scene, 99)->position;
        for (int k = 0; k < 3; k++) cr_assert(lt(dbl, fabs(last[k] - ends[start][k]), tolerance));
        cr_assert(eq(i32, scene_joint(scene, 0)->a, MABD_WORLD));
        cr_assert(eq(i32, scene_joint(scene, 99)->b, 99));
        mabd_scene_destroy(scene);
    }
}

// Middles of links that are not neighbours stay a link length apart, and all fit a square.
Test(generate, coil_does_not_overlap) {
    mabd_chain_def def = mabd_default_chain_def();
    def.links = 400;
    def.start = MABD_CHAIN_COILED;
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_chain(scene, &def, NULL), MABD_OK));
    double nearest = 1e9, widest = 0;
    for (int32_t i = 0; i < 400; i++) {
        for (int32_t j = i + 2; j < 400; j++) {
            double d[3];
            for (int k = 0; k < 3; k++) {
                d[k] = scene_body(scene, i)->position[k] - scene_body(scene, j)->position[k];
            }
            nearest = fmin(nearest, vector_norm(d)), widest = fmax(widest, vector_norm(d));
        }
    }
    cr_assert(ge(dbl, nearest, 0.99 * def.length));
    cr_assert(lt(dbl, widest, 3.0));
    mabd_scene_destroy(scene);
}

Test(generate, end_of_a_chain_has_the_requested_mass) {
    static const double ratios[] = {1e-6, 0.5, 2, 1000, 1e6};
    for (int r = 0; r < 5; r++) {
        for (int shape = 0; shape < 2; shape++) {
            for (int start = 0; start < MABD_CHAIN_START_COUNT; start++) {
                mabd_chain_def def = mabd_default_chain_def();
                mabd_error error = {0};
                def.links = 10;
                def.shape = shape == 0 ? MABD_SHAPE_BOX : MABD_SHAPE_CAPSULE;
                def.start = (mabd_chain_start)start;
                def.end_mass_ratio = ratios[r];
                mabd_scene* scene = new_scene();
                mabd_status status = mabd_generate_chain(scene, &def, &error);
                cr_assert(eq(int, status, MABD_OK), "%s", error.text);
                double link =
                    mabd_scene_class_inertia(scene, scene_body(scene, 0)->class_index).mass;
                double end =
                    mabd_scene_class_inertia(scene, scene_body(scene, 9)->class_index).mass;
                cr_assert(lt(dbl, fabs(end / (ratios[r] * link) - 1), tolerance));
                cr_assert(eq(i32, mabd_scene_find_body(scene, "chain/end"), 9));
                check_scene(scene, status, &error, 10, 10, 0, "end");
            }
        }
    }
}

Test(generate, ratio_of_0_or_1_is_a_plain_link_and_one_link_may_be_the_end) {
    for (int r = 0; r < 3; r++) {
        mabd_chain_def def = mabd_default_chain_def();
        mabd_error error = {0};
        def.links = r == 2 ? 1 : 5;
        def.end_mass_ratio = r;
        mabd_scene* scene = new_scene();
        mabd_status status = mabd_generate_chain(scene, &def, &error);
        cr_assert(eq(i32, mabd_scene_find_body(scene, "chain/end"), r == 2 ? 0 : -1));
        check_scene(scene, status, &error, def.links, def.links, 0, "plain");
    }
}

// Rigid motion: v = v0 + omega x r, checked through the joints and, absolutely, at one link.
Test(generate, moving_chains_agree_with_their_joints) {
    mabd_chain_def def = mabd_default_chain_def();
    mabd_error error = {0};
    def.links = 6;
    def.end_mass_ratio = 30;
    def.angular_velocity[2] = 2;
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_generate_chain(scene, &def, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    cr_assert(lt(dbl, fabs(scene_body(scene, 2)->velocity[1] - 2 * 0.25), tolerance));
    check_scene(scene, status, &error, 6, 6, 0, "ball");

    def.joint = MABD_JOINT_HINGE;
    cr_assert(eq(int, mabd_generate_chain(scene = new_scene(), &def, &error), MABD_ERR_ARG));
    cr_assert_not_null(strstr(error.text, "does not turn"));
    mabd_scene_destroy(scene);
    def.angular_velocity[2] = 0, def.angular_velocity[1] = -3;
    scene = new_scene();
    check_scene(scene, mabd_generate_chain(scene, &def, &error), &error, 6, 6, 0, "hinge");

    def.pinned = false, def.joint = MABD_JOINT_FIXED, def.velocity[0] = 7;
    scene = new_scene();
    check_scene(scene, mabd_generate_chain(scene, &def, &error), &error, 6, 5, 0, "free");
}

Test(generate, hinges_of_a_chain_bend_it_up_and_down) {
    for (int start = 0; start < MABD_CHAIN_START_COUNT; start++) {
        mabd_chain_def def = mabd_default_chain_def();
        def.joint = MABD_JOINT_HINGE;
        def.start = (mabd_chain_start)start;
        mabd_scene* scene = new_scene();
        cr_assert(eq(int, mabd_generate_chain(scene, &def, NULL), MABD_OK));
        for (int32_t i = 0; i < 100; i++) {
            joint_side b = scene_side_b(scene, i);
            cr_assert(lt(dbl, fabs(b.axes[0][1] - 1), tolerance), "joint %d", i);
        }
        mabd_scene_destroy(scene);
    }
}

Test(generate, springs_reach_every_joint) {
    mabd_axis_def spring = {.stiffness = 5, .damping = 0.1};
    mabd_chain_def def = mabd_default_chain_def();
    def.joint = MABD_JOINT_HINGE;
    def.axes[MABD_AXIS_RX] = &spring;
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_chain(scene, &def, NULL), MABD_OK));
    cr_assert(eq(i32, scene->axes.count, 1));
    for (int32_t i = 0; i < 100; i++) cr_assert(eq(i32, scene_joint(scene, i)->axes, 0));
    mabd_scene_destroy(scene);
}

Test(generate, a_million_links_build) {
    for (int start = 0; start < MABD_CHAIN_START_COUNT; start++) {
        counting_allocator counter = {.fail_at = -1};
        mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_scene* scene = NULL;
        cr_assert(eq(int, mabd_scene_create(&allocator, &scene), MABD_OK));
        mabd_chain_def def = mabd_default_chain_def();
        def.links = 1000000;
        def.start = (mabd_chain_start)start;
        double begin = mabd_clock();
        cr_assert(eq(int, mabd_generate_chain(scene, &def, NULL), MABD_OK));
        printf("chain of 1000000 links, start %d: %.3f s, %.0f MB in the scene, %.0f MB at most\n",
               start, mabd_clock() - begin, (double)counter.live_bytes / 1e6,
               (double)counter.peak_bytes / 1e6);
        cr_assert(eq(i32, mabd_scene_body_count(scene), 1000000));
        cr_assert(eq(i32, mabd_scene_find_body(scene, "chain/999999"), 999999));
        // coordinates reach 1e5 m: one unit in the last place there is 1.5e-11
        cr_assert(lt(dbl, scene_misplaced(scene, 0), 3e-11));
        mabd_scene_destroy(scene);
        cr_assert(eq(i64, counter.live_blocks, 0));
    }
}

// ---- net, ring, tree ----------------------------------------------------------------------------

Test(generate, nets_have_the_counts_of_the_formula) {
    static const int32_t sizes[][2] = {{2, 2}, {2, 5}, {7, 3}, {10, 10}, {31, 31}};
    for (int s = 0; s < 5; s++) {
        for (int pin = 0; pin < MABD_NET_PIN_COUNT; pin++) {
            mabd_net_def def = mabd_default_net_def();
            mabd_error error = {0};
            const int32_t R = def.rows = sizes[s][0], C = def.columns = sizes[s][1];
            def.pinned = (mabd_net_pin)pin;
            def.position[2] = 3;
            const int32_t rods = R * (C - 1) + C * (R - 1);
            const int32_t pins =
                pin == MABD_NET_PIN_EDGE ? C : (pin == MABD_NET_PIN_CORNERS ? 4 : 0);
            if (R == C) {
                cr_assert(eq(i32, R * C + rods, 3 * R * R - 2 * R));
                cr_assert(eq(i32, 2 * rods, 4 * R * (R - 1)));
            }
            mabd_scene* scene = new_scene();
            mabd_status status = mabd_generate_net(scene, &def, &error);
            for (int32_t i = 0; i < mabd_scene_body_count(scene); i++) {
                cr_assert(eq(dbl, scene_body(scene, i)->position[2], 3));
            }
            check_scene(scene, status, &error, R * C + rods, 2 * rods + pins, 0, "net");
        }
    }
}

// Every rod joins two hubs one spacing apart; hubs have 2 to 4 rods; pins are on the right hubs.
Test(generate, net_is_a_grid) {
    mabd_net_def def = mabd_default_net_def();
    def.rows = 4, def.columns = 6, def.pinned = MABD_NET_PIN_CORNERS;
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_net(scene, &def, NULL), MABD_OK));
    int32_t degree[128] = {0}, pinned[128] = {0}, hub_pairs = 0;
    for (int32_t i = 0; i < scene->joints.count; i++) {
        const mabd_scene_joint* j = scene_joint(scene, i);
        if (j->a == MABD_WORLD) {
            pinned[j->b]++;
            continue;
        }
        degree[j->a]++, degree[j->b]++;
        cr_assert(lt(i32, abs(j->a - j->b), 3 * def.columns));
        if (i % 2 == 1) { // the two ends of one rod are consecutive
            const mabd_scene_joint* near = scene_joint(scene, i - 1);
            cr_assert(eq(i32, near->b, j->a));
            double d[3];
            for (int k = 0; k < 3; k++) {
                d[k] =
                    scene_body(scene, near->a)->position[k] - scene_body(scene, j->b)->position[k];
            }
            cr_assert(lt(dbl, fabs(vector_norm(d) - def.spacing), tolerance));
            hub_pairs++;
        }
    }
    cr_assert(eq(i32, hub_pairs, 4 * 5 + 3 * 6));
    for (int32_t i = 0; i < scene->bodies.count; i++) {
        const double* p = scene_body(scene, i)->position;
        bool hub = scene_geom(scene, i)->shape == MABD_SHAPE_SPHERE;
        int sides_x = (p[0] < 0.01) + (p[0] > 0.49), sides_y = (p[1] < 0.01) + (p[1] > 0.29);
        cr_assert(eq(i32, degree[i], hub ? 4 - sides_x - sides_y : 2), "body %d", i);
        cr_assert(eq(i32, pinned[i], hub && sides_x && sides_y), "body %d", i);
    }
    mabd_scene_destroy(scene);
}

Test(generate, rings_close) {
    static const int32_t sizes[] = {3, 4, 24, 1001};
    for (int s = 0; s < 4; s++) {
        for (int joint = 0; joint < MABD_JOINT_COUNT; joint++) {
            if (joint == MABD_JOINT_FREE) continue; // holds nothing
            for (int options = 0; options < 4; options++) {
                mabd_ring_def def = mabd_default_ring_def();
                mabd_error error = {0};
                def.links = sizes[s];
                def.joint = (mabd_joint)joint;
                def.vertical = options & 1;
                def.pinned = options & 2;
                def.pin = (mabd_joint)joint;
                def.spin = def.pinned ? 0 : 1.5;
                def.position[2] = 1;
                mabd_scene* scene = new_scene();
                mabd_status status = mabd_generate_ring(scene, &def, &error);
                cr_assert(eq(int, status, MABD_OK), "%s", error.text);
                const double* top = scene_body(scene, 0)->position;
                double apothem = def.length / (2 * tan(acos(-1.0) / def.links));
                cr_assert(lt(dbl, fabs(top[def.vertical ? 2 : 1] - apothem - def.vertical), 1e-12));
                check_scene(scene, status, &error, sizes[s], sizes[s] + def.pinned, 0, "ring");
            }
        }
    }
}

Test(generate, full_trees_have_the_counts_of_the_formula) {
    static const int32_t cases[][3] = {{1, 6, 6}, {2, 1, 1}, {2, 9, 511}, {3, 5, 121}, {5, 4, 156}};
    for (int c = 0; c < 5; c++) {
        for (int joint = 0; joint < MABD_JOINT_COUNT; joint++) {
            if (joint == MABD_JOINT_FREE) continue; // holds nothing
            mabd_tree_def def = mabd_default_tree_def();
            mabd_error error = {0};
            def.branching = cases[c][0], def.depth = cases[c][1];
            def.joint = def.root = (mabd_joint)joint;
            def.pinned = joint % 2;
            def.direction[0] = 0.3 * joint; // not of unit length
            mabd_scene* scene = new_scene();
            mabd_status status = mabd_generate_tree(scene, &def, &error);
            const int32_t links = cases[c][2];
            check_scene(scene, status, &error, links, links - 1 + def.pinned, 0, "tree");
        }
    }
}

Test(generate, deep_tree_of_131071_links_builds) {
    mabd_tree_def def = mabd_default_tree_def();
    def.depth = 17;
    mabd_scene* scene = new_scene();
    double begin = mabd_clock();
    cr_assert(eq(int, mabd_generate_tree(scene, &def, NULL), MABD_OK));
    printf("tree of 131071 links: %.3f s\n", mabd_clock() - begin);
    cr_assert(eq(i32, mabd_scene_body_count(scene), 131071));
    cr_assert(lt(dbl, scene_opening(scene), tolerance));
    cr_assert(lt(dbl, scene_misplaced(scene, 0), tolerance));
    mabd_scene_destroy(scene);
}

// Lengths, radii, drag and springs change from level to level as defined; children leave at
// `spread`.
Test(generate, tree_scales_with_its_levels) {
    mabd_axis_def spring = {.stiffness = 100, .damping = 3};
    mabd_tree_def def = mabd_default_tree_def();
    def.depth = 5, def.drag = 2;
    def.axes[MABD_AXIS_RX] = def.axes[MABD_AXIS_RY] = &spring;
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_tree(scene, &def, NULL), MABD_OK));
    for (int32_t i = 1; i < scene->joints.count; i++) {
        const mabd_scene_joint* j = scene_joint(scene, i);
        const mabd_geom *parent = scene_geom(scene, j->a), *child = scene_geom(scene, j->b);
        const mabd_scene_class* classes = scene->classes.data;
        const mabd_scene_axes* axes = (const mabd_scene_axes*)scene->axes.data + j->axes;
        double ex[3] = {1, 0, 0}, up[3], out[3];
        vector_rotate(scene_body(scene, j->a)->rotation, ex, up);
        vector_rotate(scene_body(scene, j->b)->rotation, ex, out);
        double cosine = up[0] * out[0] + up[1] * out[1] + up[2] * out[2];
        cr_assert(lt(dbl, fabs(cosine - cos(def.spread)), tolerance));
        cr_assert(lt(dbl, fabs(child->size[1] - def.shrink * parent->size[1]), tolerance));
        cr_assert(lt(dbl, fabs(child->size[0] - def.taper * parent->size[0]), tolerance));
        double area = child->size[0] * child->size[1] / (def.length * def.radius);
        double drag = classes[scene_body(scene, j->b)->class_index].drag;
        cr_assert(lt(dbl, fabs(drag - 2 * area), tolerance));
        double r = child->size[0] / (def.taper * def.radius);
        double stiffness = 100 * r * r * r * r * def.shrink * def.length / child->size[1];
        cr_assert(lt(dbl, fabs(axes->axis[MABD_AXIS_RX].stiffness / stiffness - 1), tolerance));
        cr_assert(
            lt(dbl, fabs(axes->axis[MABD_AXIS_RY].damping / (0.03 * stiffness) - 1), tolerance));
        cr_assert_not(axes->used[MABD_AXIS_RZ]);
    }
    cr_assert(eq(i32, scene_joint(scene, 0)->axes, -1)); // the root
    mabd_scene_destroy(scene);
}

static uint64_t random_tree_hash(uint64_t seed, int32_t links, int32_t branching) {
    mabd_tree_def def = mabd_default_tree_def();
    mabd_error error = {0};
    def.links = links, def.branching = branching, def.seed = seed;
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_generate_tree(scene, &def, &error);
    uint64_t hash = scene_hash(scene);
    int32_t children[5000] = {0}, most = 0;
    for (int32_t i = 1; i < scene->joints.count; i++) children[scene_joint(scene, i)->a]++;
    for (int32_t i = 0; i < links; i++) most = children[i] > most ? children[i] : most;
    cr_assert(eq(i32, most, branching));
    check_scene(scene, status, &error, links, links, 0, "random tree");
    return hash;
}

Test(generate, random_trees_depend_on_their_seed_only) {
    uint64_t first = random_tree_hash(7, 3000, 3);
    cr_assert(eq(u64, random_tree_hash(7, 3000, 3), first));
    cr_assert(ne(u64, random_tree_hash(8, 3000, 3), first));
    random_tree_hash(1, 4999, 5);
}

// ---- linkages ----------------------------------------------------------------------------------

Test(generate, four_bars_close_for_every_angle_of_a_turning_crank) {
    for (int i = 0; i < 360; i++) {
        mabd_four_bar_def def = mabd_default_four_bar_def();
        mabd_error error = {0};
        def.angle = i * acos(-1.0) / 180;
        def.position[0] = -0.4, def.position[2] = 1;
        mabd_scene* scene = new_scene();
        mabd_status status = mabd_generate_four_bar(scene, &def, &error);
        cr_assert(eq(int, status, MABD_OK), "%s", error.text);
        cr_assert(eq(dbl, scene_body(scene, 0)->angular_velocity[1], -6));
        for (int32_t j = 0; j < 4; j++) {
            joint_side a = scene_side_a(scene, j);
            cr_assert(lt(dbl, fabs(a.axes[0][1] + 1), tolerance)); // hinge axis -y
        }
        check_scene(scene, status, &error, 3, 4, 0, "four-bar");
    }
}

Test(generate, four_bar_can_be_driven) {
    mabd_four_bar_def def = mabd_default_four_bar_def();
    def.driven = true;
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_four_bar(scene, &def, NULL), MABD_OK));
    const mabd_scene_axes* axes = scene->axes.data;
    cr_assert(eq(i32, scene_joint(scene, 0)->axes, 0));
    cr_assert(eq(i32, scene_joint(scene, 1)->axes, -1));
    cr_assert(axes->used[MABD_AXIS_RX] && axes->axis[MABD_AXIS_RX].servo_rigid);
    const mabd_signal* servo = &axes->axis[MABD_AXIS_RX].servo;
    cr_assert(eq(dbl, (servo->value_end - servo->value) / (servo->end - servo->start), 6));
    mabd_scene_destroy(scene);

    def.driven = false, def.torque = mabd_signal_constant(0.25);
    cr_assert(eq(int, mabd_generate_four_bar(scene = new_scene(), &def, NULL), MABD_OK));
    axes = scene->axes.data;
    cr_assert(eq(dbl, axes->axis[MABD_AXIS_RX].motor.value, 0.25));
    mabd_scene_destroy(scene);
}

// Energies of the benchmark, by hand: 3 uprights rotate about their feet, m l^2/3 w^2/2 each, 2
// level bars move with m v^2/2: 0.5 + 1 J; uprights at l/2, level bars at l: 9.81 (1.5 + 2) J.
Test(generate, double_four_bar_has_the_energy_of_the_benchmark) {
    mabd_double_four_bar_def def = mabd_default_double_four_bar_def();
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_generate_double_four_bar(scene, &def, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    double kinetic = 0, potential = 0;
    for (int32_t i = 0; i < scene->bodies.count; i++) {
        const mabd_scene_body* b = scene_body(scene, i);
        mabd_inertia inertia = mabd_scene_class_inertia(scene, b->class_index);
        double w = vector_norm(b->angular_velocity), v = vector_norm(b->velocity);
        kinetic += 0.5 * inertia.mass * v * v + 0.5 * inertia.tensor[1] * w * w;
        potential += 9.81 * inertia.mass * b->position[2];
    }
    cr_assert(lt(dbl, fabs(kinetic - 1.5), tolerance));
    cr_assert(lt(dbl, fabs(potential - 34.335), tolerance));
    check_scene(scene, status, &error, 5, 7, 0, "double");

    def.loops = 40, def.velocity = 30, def.length = 0.5;
    scene = new_scene();
    status = mabd_generate_double_four_bar(scene, &def, &error);
    check_scene(scene, status, &error, 81, 121, 0, "40 loops");
}

// ---- refusals ----------------------------------------------------------------------------------

Test(generate, refuses_bad_chains) {
    REFUSES(chain, "links must be at least 1, not 0", def.links = 0);
    REFUSES(chain, "length must be positive", def.length = 0);
    REFUSES(chain, "length must be positive", def.length = NAN);
    REFUSES(chain, "radius must be positive", def.radius = -1);
    REFUSES(chain, "not \"free\"", def.joint = MABD_JOINT_FREE);
    REFUSES(chain, "not a joint type", def.joint = (mabd_joint)99);
    REFUSES(chain, "unknown shape", def.shape = (mabd_shape)9);
    REFUSES(chain, "unknown shape or start", def.start = (mabd_chain_start)9);
    REFUSES(chain, "end_mass_ratio", def.end_mass_ratio = -1);
    REFUSES(chain, "anchor must be finite", def.anchor[1] = INFINITY);
    REFUSES(chain, "cannot have a velocity", def.velocity[1] = 1);
    REFUSES(chain, "does not come from", def.cookie = 0);
    REFUSES(chain, "name must have", def.name = "");
    REFUSES(chain, "density", def.material.density = -1);
    REFUSES(chain, "poisson", def.material.poisson = 0.5);
    mabd_axis_def spring = {.stiffness = 1};
    REFUSES(chain, "tx", def.axes[MABD_AXIS_TX] = &spring);
    mabd_error error = {0};
    mabd_chain_def def = mabd_default_chain_def();
    cr_assert(eq(int, mabd_generate_chain(NULL, &def, &error), MABD_ERR_ARG));
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_chain(scene, NULL, NULL), MABD_ERR_ARG));
    cr_assert(eq(int, mabd_generate_chain(scene, &def, &error), MABD_OK));
    cr_assert(eq(int, mabd_generate_chain(scene, &def, &error), MABD_ERR_INPUT)); // name is taken
    mabd_scene_destroy(scene);
}

Test(generate, refuses_bad_nets_trees_and_rings) {
    REFUSES(net, "rows must be at least 2", def.rows = 1);
    REFUSES(net, "columns must be at least 2", def.columns = -5);
    REFUSES(net, "too large", def.rows = def.columns = 2000000000);
    REFUSES(net, "no room for rods", def.hub_radius = 0.05);
    REFUSES(net, "rod_radius must be positive", def.rod_radius = 0);
    REFUSES(net, "pinned", def.pinned = (mabd_net_pin)7);
    REFUSES(tree, "branching must be at least 1", def.branching = 0);
    REFUSES(tree, "depth must be at least 1", def.depth = 0);
    REFUSES(tree, "too large", def.depth = 40);
    REFUSES(tree, "too large", def.branching = 2000000000);
    REFUSES(tree, "links must be at least 0", def.links = -1);
    REFUSES(tree, "shrink must be above 0 and at most 1", def.shrink = 1.5);
    REFUSES(tree, "taper must be above 0", def.taper = 0);
    REFUSES(tree, "spread", def.spread = -1);
    REFUSES(tree, "millionth", def.shrink = 0.01);
    REFUSES(tree, "direction has no length", def.direction[2] = 0);
    REFUSES(tree, "not \"free\"", def.root = MABD_JOINT_FREE);
    REFUSES(ring, "links must be at least 3", def.links = 2);
    REFUSES(ring, "cannot spin", def.spin = 1);
    REFUSES(ring, "not \"free\"", def.pin = MABD_JOINT_FREE);
}

Test(generate, refuses_bad_linkages) {
    REFUSES(four_bar, "cannot meet", def.ground = 5);
    REFUSES(four_bar, "cannot meet", def.coupler = 5);
    REFUSES(four_bar, "crank must be positive", def.crank = 0);
    REFUSES(four_bar, "not both", def.driven = true, def.torque = mabd_signal_constant(1));
    // crank up, coupler and rocker stretched: 3-4-5 triangles
    REFUSES(four_bar, "in line", def.crank = 3, def.ground = 4, def.coupler = 2, def.rocker = 3,
            def.angle = acos(-1.0) / 2);
    REFUSES(double_four_bar, "loops must be at least 1", def.loops = 0);
    REFUSES(double_four_bar, "mass must be positive", def.mass = 0);
    REFUSES(double_four_bar, "too large", def.loops = INT32_MAX);
}

// ---- memory ------------------------------------------------------------------------------------

static mabd_status build_chain(mabd_scene* scene, mabd_error* error) {
    mabd_axis_def spring = {.stiffness = 5};
    mabd_chain_def def = mabd_default_chain_def();
    def.start = MABD_CHAIN_COILED, def.end_mass_ratio = 10, def.angular_velocity[1] = 1;
    def.axes[MABD_AXIS_RX] = &spring;
    return mabd_generate_chain(scene, &def, error);
}

static mabd_status build_net(mabd_scene* scene, mabd_error* error) {
    mabd_net_def def = mabd_default_net_def();
    return mabd_generate_net(scene, &def, error);
}

static mabd_status build_tree(mabd_scene* scene, mabd_error* error) {
    mabd_axis_def spring = {.stiffness = 5};
    mabd_tree_def def = mabd_default_tree_def();
    def.links = 500, def.branching = 3;
    def.axes[MABD_AXIS_RX] = &spring;
    return mabd_generate_tree(scene, &def, error);
}

static mabd_status build_ring(mabd_scene* scene, mabd_error* error) {
    mabd_ring_def def = mabd_default_ring_def();
    return mabd_generate_ring(scene, &def, error);
}

static mabd_status build_four_bar(mabd_scene* scene, mabd_error* error) {
    mabd_four_bar_def def = mabd_default_four_bar_def();
    def.driven = true;
    return mabd_generate_four_bar(scene, &def, error);
}

static mabd_status build_double_four_bar(mabd_scene* scene, mabd_error* error) {
    mabd_double_four_bar_def def = mabd_default_double_four_bar_def();
    return mabd_generate_double_four_bar(scene, &def, error);
}

Test(generate, every_allocation_may_fail) {
    static scene_builder* const builders[] = {build_chain, build_net,      build_tree,
                                              build_ring,  build_four_bar, build_double_four_bar};
    for (int b = 0; b < 6; b++) check_failing_allocations(builders[b]);
}
