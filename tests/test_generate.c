// SPDX-License-Identifier: Apache-2.0
// Tests for src/scene/generate_*.c and json_generators.c
#include "base/clock.h"
#include "base/hash.h"
#include "mabd/generate.h"
#include "scene/inertia.h"
#include "scene/scene.h"
#include "support/counting_allocator.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- measures of a scene, independent of the code that fills it -----------------------------------

static const double tolerance = 1e-12;

static const mabd_scene_body* body_at(const mabd_scene* scene, int32_t i) {
    return (const mabd_scene_body*)scene->bodies.data + i;
}

static const mabd_scene_joint* joint_at(const mabd_scene* scene, int32_t i) {
    return (const mabd_scene_joint*)scene->joints.data + i;
}

static const mabd_geom* geom_of(const mabd_scene* scene, int32_t body) {
    const mabd_scene_class* classes = scene->classes.data;
    return (const mabd_geom*)scene->geoms.data +
           classes[body_at(scene, body)->class_index].geom_first;
}

static void cross(const double* a, const double* b, double* c) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static double norm(const double* v) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// v + 2 u x (u x v + w v) for the quaternion (w, u)
static void rotate(const double* q, const double* v, double* out) {
    double t[3], s[3];
    cross(q + 1, v, t);
    for (int k = 0; k < 3; k++) t[k] += q[0] * v[k];
    cross(q + 1, t, s);
    for (int k = 0; k < 3; k++) out[k] = v[k] + 2 * s[k];
}

/// One side of a joint in the world: anchor, its velocity, angular velocity, axis k of the frame.
typedef struct side {
    double point[3], velocity[3], omega[3], axes[3][3];
} side;

static side side_of(const mabd_scene* scene, int32_t body, const double* anchor,
                    const double* frame) {
    side s = {0};
    for (int k = 0; k < 3; k++) {
        double unit[3] = {k == 0, k == 1, k == 2};
        rotate(frame, unit, s.axes[k]);
    }
    memcpy(s.point, anchor, sizeof s.point);
    if (body == MABD_WORLD) return s;
    const mabd_scene_body* b = body_at(scene, body);
    double arm[3];
    rotate(b->rotation, anchor, arm);
    memcpy(s.omega, b->angular_velocity, sizeof s.omega);
    cross(s.omega, arm, s.velocity);
    for (int k = 0; k < 3; k++) {
        double in_body[3];
        s.point[k] = b->position[k] + arm[k];
        s.velocity[k] += b->velocity[k];
        memcpy(in_body, s.axes[k], sizeof in_body);
        rotate(b->rotation, in_body, s.axes[k]);
    }
    return s;
}

// The largest of: distance of the anchors, their relative velocity, relative angular velocity about
// locked axes, difference of the frames' axes.
static double opening(const mabd_scene* scene) {
    static const char* const rotations[] = {
#define X(name, text, free_translations, free_rotations) free_rotations,
        MABD_JOINT_LIST(X)
#undef X
    };
    double worst = 0;
    for (int32_t i = 0; i < scene->joints.count; i++) {
        const mabd_scene_joint* j = joint_at(scene, i);
        side a = side_of(scene, j->a, j->anchor_a, j->frame_a);
        side b = side_of(scene, j->b, j->anchor_b, j->frame_b);
        double dp[3], dv[3], dw[3];
        for (int k = 0; k < 3; k++) {
            dp[k] = a.point[k] - b.point[k];
            dv[k] = a.velocity[k] - b.velocity[k];
            dw[k] = a.omega[k] - b.omega[k];
        }
        worst = fmax(worst, fmax(norm(dp), norm(dv)));
        for (int k = 0; k < 3; k++) {
            double da[3] = {a.axes[k][0] - b.axes[k][0], a.axes[k][1] - b.axes[k][1],
                            a.axes[k][2] - b.axes[k][2]};
            worst = fmax(worst, norm(da));
            double turn = a.axes[k][0] * dw[0] + a.axes[k][1] * dw[1] + a.axes[k][2] * dw[2];
            if (!strchr(rotations[j->type], "xyz"[k])) worst = fmax(worst, fabs(turn));
        }
    }
    return worst;
}

// How far an anchor is from where it belongs on its body: the end of a link (x = +-half its length), the
// surface of a ball; for a joint to the world also the middle.
static double misplacement(const mabd_scene* scene, int32_t body, const double* anchor, bool pin,
                           double bead_length) {
    if (body == MABD_WORLD) return 0;
    const mabd_geom* geom = geom_of(scene, body);
    double half = geom->shape == MABD_SHAPE_BOX ? geom->size[0] / 2 : geom->size[1] / 2;
    if (geom->shape == MABD_SHAPE_SPHERE) half = bead_length > 0 ? bead_length / 2 : geom->size[0];
    double error = fabs(norm(anchor) - half);
    if (geom->shape != MABD_SHAPE_SPHERE) error = fmax(error, hypot(anchor[1], anchor[2]));
    return pin ? fmin(error, norm(anchor)) : error;
}

static double misplaced(const mabd_scene* scene, double bead_length) {
    double worst = 0;
    for (int32_t i = 0; i < scene->joints.count; i++) {
        const mabd_scene_joint* j = joint_at(scene, i);
        bool pin = j->a == MABD_WORLD;
        worst = fmax(worst, misplacement(scene, j->a, j->anchor_a, pin, bead_length));
        worst = fmax(worst, misplacement(scene, j->b, j->anchor_b, pin, bead_length));
    }
    return worst;
}

static void check_names(const mabd_scene* scene) {
    char name[256];
    for (int32_t i = 0; i < scene->bodies.count; i++) {
        cr_assert(mabd_names_write(&scene->body_names, i, name, sizeof name), "body %d", i);
        cr_assert(eq(i32, mabd_scene_find_body(scene, name), i), "body %s", name);
    }
    for (int32_t i = 0; i < scene->joints.count; i++) {
        cr_assert(mabd_names_write(&scene->joint_names, i, name, sizeof name), "joint %d", i);
        cr_assert(eq(i32, mabd_scene_find_joint(scene, name), i), "joint %s", name);
    }
}

static uint64_t pose_hash(const mabd_scene* scene) {
    uint64_t hash = MABD_HASH_START;
    for (int32_t i = 0; i < scene->bodies.count; i++) {
        const mabd_scene_body* b = body_at(scene, i);
        hash = mabd_hash(hash, b->position, sizeof b->position);
        hash = mabd_hash(hash, b->rotation, sizeof b->rotation);
    }
    for (int32_t i = 0; i < scene->joints.count; i++) {
        hash = mabd_hash(hash, &joint_at(scene, i)->a, sizeof(int32_t));
    }
    return hash;
}

static mabd_scene* new_scene(void) {
    mabd_scene* scene = NULL;
    cr_assert(eq(int, mabd_scene_create(NULL, &scene), MABD_OK));
    return scene;
}

// Everything that holds for every generated scene; destroys it.
static void check_scene(mabd_scene* scene, mabd_status status, const mabd_error* error,
                        int32_t bodies, int32_t joints, double bead_length, const char* label) {
    cr_assert(eq(int, status, MABD_OK), "%s: %s", label, error->text);
    cr_assert(eq(i32, mabd_scene_body_count(scene), bodies), "%s", label);
    cr_assert(eq(i32, mabd_scene_joint_count(scene), joints), "%s", label);
    cr_assert(lt(dbl, opening(scene), tolerance), "%s", label);
    cr_assert(lt(dbl, misplaced(scene, bead_length), tolerance), "%s", label);
    check_names(scene);
    mabd_scene_destroy(scene);
}

// ---- chain -------------------------------------------------------------------------------------

Test(generate, chains_of_every_shape_joint_and_start_are_closed) {
    for (int shape = 0; shape < MABD_SHAPE_COUNT; shape++) {
        for (int joint = 0; joint < MABD_JOINT_FREE; joint++) {
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

Test(generate, chain_starts_where_it_is_told) {
    static const double ends[MABD_CHAIN_START_COUNT][3] = {
        {9.95, 0, 0}, {0, 0, -9.95}, {0, 0, -0.85}};
    for (int start = 0; start < MABD_CHAIN_START_COUNT; start++) {
        mabd_chain_def def = mabd_default_chain_def();
        def.start = (mabd_chain_start)start;
        mabd_scene* scene = new_scene();
        cr_assert(eq(int, mabd_generate_chain(scene, &def, NULL), MABD_OK));
        const double* last = body_at(scene, 99)->position;
        if (start != MABD_CHAIN_COILED) {
            for (int k = 0; k < 3; k++)
                cr_assert(lt(dbl, fabs(last[k] - ends[start][k]), tolerance));
        }
        cr_assert(eq(i32, joint_at(scene, 0)->a, MABD_WORLD));
        cr_assert(eq(i32, joint_at(scene, 99)->b, 99));
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
                d[k] = body_at(scene, i)->position[k] - body_at(scene, j)->position[k];
            }
            nearest = fmin(nearest, norm(d)), widest = fmax(widest, norm(d));
        }
    }
    cr_assert(ge(dbl, nearest, 0.99 * def.length));
    cr_assert(lt(dbl, widest, 3.0));
    mabd_scene_destroy(scene);
}

Test(generate, end_of_a_chain_has_the_mass_asked_for) {
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
                double link = mabd_scene_class_inertia(scene, body_at(scene, 0)->class_index).mass;
                double end = mabd_scene_class_inertia(scene, body_at(scene, 9)->class_index).mass;
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
    cr_assert(lt(dbl, fabs(body_at(scene, 2)->velocity[1] - 2 * 0.25), tolerance));
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
            const mabd_scene_joint* j = joint_at(scene, i);
            side b = side_of(scene, j->b, j->anchor_b, j->frame_b);
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
    for (int32_t i = 0; i < 100; i++) cr_assert(eq(i32, joint_at(scene, i)->axes, 0));
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
        cr_assert(lt(dbl, misplaced(scene, 0), 3e-11));
        mabd_scene_destroy(scene);
        cr_assert(eq(i64, counter.live_blocks, 0));
    }
}

// ---- net, ring, tree -----------------------------------------------------------------------------

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
                cr_assert(eq(dbl, body_at(scene, i)->position[2], 3));
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
        const mabd_scene_joint* j = joint_at(scene, i);
        if (j->a == MABD_WORLD) {
            pinned[j->b]++;
            continue;
        }
        degree[j->a]++, degree[j->b]++;
        cr_assert(lt(i32, abs(j->a - j->b), 3 * def.columns));
        if (i % 2 == 1) { // the two ends of one rod follow each other
            const mabd_scene_joint* near = joint_at(scene, i - 1);
            cr_assert(eq(i32, near->b, j->a));
            double d[3];
            for (int k = 0; k < 3; k++) {
                d[k] = body_at(scene, near->a)->position[k] - body_at(scene, j->b)->position[k];
            }
            cr_assert(lt(dbl, fabs(norm(d) - def.spacing), tolerance));
            hub_pairs++;
        }
    }
    cr_assert(eq(i32, hub_pairs, 4 * 5 + 3 * 6));
    for (int32_t i = 0; i < scene->bodies.count; i++) {
        const double* p = body_at(scene, i)->position;
        bool hub = geom_of(scene, i)->shape == MABD_SHAPE_SPHERE;
        int sides_x = (p[0] < 0.01) + (p[0] > 0.49), sides_y = (p[1] < 0.01) + (p[1] > 0.29);
        cr_assert(eq(i32, degree[i], hub ? 4 - sides_x - sides_y : 2), "body %d", i);
        cr_assert(eq(i32, pinned[i], hub && sides_x && sides_y), "body %d", i);
    }
    mabd_scene_destroy(scene);
}

Test(generate, rings_close) {
    static const int32_t sizes[] = {3, 4, 24, 1001};
    for (int s = 0; s < 4; s++) {
        for (int joint = 0; joint < MABD_JOINT_FREE; joint++) {
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
                const double* top = body_at(scene, 0)->position;
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
        for (int joint = 0; joint < MABD_JOINT_FREE; joint++) {
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
    cr_assert(lt(dbl, opening(scene), tolerance));
    cr_assert(lt(dbl, misplaced(scene, 0), tolerance));
    mabd_scene_destroy(scene);
}

// Lengths, radii, drag and springs change from level to level as told; children leave at `spread`.
Test(generate, tree_scales_with_its_levels) {
    mabd_axis_def spring = {.stiffness = 100, .damping = 3};
    mabd_tree_def def = mabd_default_tree_def();
    def.depth = 5, def.drag = 2;
    def.axes[MABD_AXIS_RX] = def.axes[MABD_AXIS_RY] = &spring;
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_tree(scene, &def, NULL), MABD_OK));
    for (int32_t i = 1; i < scene->joints.count; i++) {
        const mabd_scene_joint* j = joint_at(scene, i);
        const mabd_geom *parent = geom_of(scene, j->a), *child = geom_of(scene, j->b);
        const mabd_scene_class* classes = scene->classes.data;
        const mabd_scene_axes* axes = (const mabd_scene_axes*)scene->axes.data + j->axes;
        double ex[3] = {1, 0, 0}, up[3], out[3];
        rotate(body_at(scene, j->a)->rotation, ex, up);
        rotate(body_at(scene, j->b)->rotation, ex, out);
        double cosine = up[0] * out[0] + up[1] * out[1] + up[2] * out[2];
        cr_assert(lt(dbl, fabs(cosine - cos(def.spread)), tolerance));
        cr_assert(lt(dbl, fabs(child->size[1] - def.shrink * parent->size[1]), tolerance));
        cr_assert(lt(dbl, fabs(child->size[0] - def.taper * parent->size[0]), tolerance));
        double area = child->size[0] * child->size[1] / (def.length * def.radius);
        double drag = classes[body_at(scene, j->b)->class_index].drag;
        cr_assert(lt(dbl, fabs(drag - 2 * area), tolerance));
        double r = child->size[0] / (def.taper * def.radius);
        double stiffness = 100 * r * r * r * r * def.shrink * def.length / child->size[1];
        cr_assert(lt(dbl, fabs(axes->axis[MABD_AXIS_RX].stiffness / stiffness - 1), tolerance));
        cr_assert(
            lt(dbl, fabs(axes->axis[MABD_AXIS_RY].damping / (0.03 * stiffness) - 1), tolerance));
        cr_assert_not(axes->used[MABD_AXIS_RZ]);
    }
    cr_assert(eq(i32, joint_at(scene, 0)->axes, -1)); // the root
    mabd_scene_destroy(scene);
}

static uint64_t random_tree_hash(uint64_t seed, int32_t links, int32_t branching) {
    mabd_tree_def def = mabd_default_tree_def();
    mabd_error error = {0};
    def.links = links, def.branching = branching, def.seed = seed;
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_generate_tree(scene, &def, &error);
    uint64_t hash = pose_hash(scene);
    int32_t children[5000] = {0}, most = 0;
    for (int32_t i = 1; i < scene->joints.count; i++) children[joint_at(scene, i)->a]++;
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
        cr_assert(eq(dbl, body_at(scene, 0)->angular_velocity[1], -6));
        for (int32_t j = 0; j < 4; j++) {
            const mabd_scene_joint* joint = joint_at(scene, j);
            side a = side_of(scene, joint->a, joint->anchor_a, joint->frame_a);
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
    cr_assert(eq(i32, joint_at(scene, 0)->axes, 0));
    cr_assert(eq(i32, joint_at(scene, 1)->axes, -1));
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

// Energies of the benchmark, by hand: 3 uprights turn about their feet, m l^2/3 w^2/2 each, 2 level bars move
// with m v^2/2: 0.5 + 1 J; uprights at l/2, level bars at l: 9.81 (1.5 + 2) J.
Test(generate, double_four_bar_has_the_energy_of_the_benchmark) {
    mabd_double_four_bar_def def = mabd_default_double_four_bar_def();
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_generate_double_four_bar(scene, &def, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    double kinetic = 0, potential = 0;
    for (int32_t i = 0; i < scene->bodies.count; i++) {
        const mabd_scene_body* b = body_at(scene, i);
        mabd_inertia inertia = mabd_scene_class_inertia(scene, b->class_index);
        double w = norm(b->angular_velocity), v = norm(b->velocity);
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

#define REFUSES(kind, expected, ...)                                                               \
    do {                                                                                           \
        mabd_##kind##_def def = mabd_default_##kind##_def();                                       \
        mabd_error error = {0};                                                                    \
        mabd_scene* scene = new_scene();                                                           \
        __VA_ARGS__;                                                                               \
        mabd_status status = mabd_generate_##kind(scene, &def, &error);                            \
        cr_expect(status == MABD_ERR_ARG || status == MABD_ERR_INPUT, #__VA_ARGS__ ": accepted");  \
        cr_expect(error.status == status && strstr(error.text, expected), "%s: '%s'",              \
                  #__VA_ARGS__, error.text);                                                       \
        mabd_scene_destroy(scene);                                                                 \
    } while (0)

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
    static mabd_status (*const builders[])(mabd_scene*, mabd_error*) = {
        build_chain, build_net, build_tree, build_ring, build_four_bar, build_double_four_bar};
    for (int b = 0; b < 6; b++) {
        int64_t failures = 0;
        for (bool done = false; !done; failures++) {
            counting_allocator counter = {.fail_at = -1};
            mabd_allocator allocator = counting_allocator_make(&counter);
            mabd_scene* scene = NULL;
            mabd_error error = {0};
            cr_assert(eq(int, mabd_scene_create(&allocator, &scene), MABD_OK));
            counter.fail_at = counter.calls + failures;
            mabd_status status = builders[b](scene, &error);
            done = status == MABD_OK;
            if (!done) {
                cr_assert(eq(int, status, MABD_ERR_MEMORY), "%s", error.text);
                cr_assert(eq(int, error.status, MABD_ERR_MEMORY));
            }
            mabd_scene_destroy(scene);
            cr_assert(eq(i64, counter.live_blocks, 0));
            cr_assert(eq(i64, counter.wrong_frees, 0));
        }
        cr_assert(gt(i64, failures, 4));
    }
}

// ---- shipped scenes ----------------------------------------------------------------------------

typedef struct scene_case {
    const char* file;
    mabd_setting settings[4];
    int32_t setting_count, bodies, joints;
} scene_case;

Test(generate, shipped_scenes_load_with_their_parameters) {
    static const scene_case cases[] = {
        {"chain", {{0}}, 0, 100, 100},
        {"chain",
         {{"links", "7"}, {"joint", "hinge"}, {"end_mass_ratio", "1000"}, {"start", "coiled"}},
         4,
         7,
         7},
        {"chain", {{"start", "hanging"}, {"joint", "fixed"}}, 2, 100, 100},
        {"net", {{0}}, 0, 280, 370},
        {"net", {{"rows", "3"}, {"columns", "4"}, {"pinned", "corners"}}, 3, 29, 38},
        {"tree", {{0}}, 0, 255, 255},
        {"tree", {{"branching", "3"}, {"depth", "4"}}, 2, 40, 40},
        {"ring", {{0}}, 0, 24, 25},
        {"ring", {{"links", "9"}}, 1, 9, 10},
        {"four-bar", {{0}}, 0, 3, 4},
        {"four-bar", {{"driven", "0"}}, 1, 3, 4},
        {"double-four-bar", {{0}}, 0, 5, 7},
        {"t-handle", {{0}}, 0, 1, 0},
        {"heavy-top", {{0}}, 0, 1, 1},
        {"pendulum", {{0}}, 0, 1, 1},
        {"double-pendulum", {{0}}, 0, 2, 2},
        {"spinning-box", {{0}}, 0, 1, 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const scene_case* s = &cases[c];
        char path[4096];
        snprintf(path, sizeof path, "%s/scenes/%s.json", MABD_SOURCE_DIR, s->file);
        mabd_error error = {0};
        mabd_scene* scene = new_scene();
        mabd_status status = mabd_scene_load(scene, path, s->setting_count, s->settings, &error);
        cr_assert(eq(int, status, MABD_OK), "%s:%d:%d: %s", path, error.line, error.column,
                  error.text);
        cr_assert(eq(i32, mabd_scene_body_count(scene), s->bodies), "%s", s->file);
        cr_assert(eq(i32, mabd_scene_joint_count(scene), s->joints), "%s", s->file);
        cr_assert(lt(dbl, opening(scene), tolerance), "%s", s->file);
        cr_assert(scene->h > 0 && scene->duration > 0, "%s", s->file);
        cr_assert(eq(str, scene->name, (char*)s->file));
        for (int32_t i = 0; i < mabd_scene_param_count(scene); i++) {
            cr_assert(gt(sz, strlen(mabd_scene_param(scene, i).meaning), 0), "%s", s->file);
        }
        check_names(scene);
        mabd_scene_destroy(scene);
    }
}

// The stem of the T-handle is its intermediate axis, and its frame sits at the centre of mass.
Test(generate, t_handle_spins_about_its_intermediate_axis) {
    mabd_scene* scene = new_scene();
    cr_assert(eq(int,
                 mabd_scene_load(scene, MABD_SOURCE_DIR "/scenes/t-handle.json", 0, NULL, NULL),
                 MABD_OK));
    mabd_inertia inertia = mabd_scene_class_inertia(scene, 0);
    cr_assert(lt(dbl, norm(inertia.center), tolerance));
    cr_assert(lt(dbl, 1.2 * inertia.tensor[1], inertia.tensor[0]));
    cr_assert(lt(dbl, 1.2 * inertia.tensor[0], inertia.tensor[2]));
    cr_assert(lt(dbl, fabs(body_at(scene, 0)->angular_velocity[0] - 3), tolerance));
    mabd_scene_destroy(scene);
}

// A sleeping top is stable if spin^2 I3^2 > 4 I1 m g l (moments about the tip).
Test(generate, heavy_top_spins_fast_enough_to_stay_up) {
    mabd_scene* scene = new_scene();
    cr_assert(eq(int,
                 mabd_scene_load(scene, MABD_SOURCE_DIR "/scenes/heavy-top.json", 0, NULL, NULL),
                 MABD_OK));
    mabd_inertia inertia = mabd_scene_class_inertia(scene, 0);
    const mabd_scene_body* top = body_at(scene, 0);
    double l = inertia.center[2], I3 = inertia.tensor[2];
    double I1 = inertia.tensor[0] + inertia.mass * l * l, spin = norm(top->angular_velocity);
    cr_assert(lt(dbl, fabs(spin - 10), tolerance));
    cr_assert(gt(dbl, spin * spin * I3 * I3, 1.2 * 4 * I1 * inertia.mass * 9.81 * l));
    double ez[3] = {0, 0, 1}, axis[3], across[3];
    rotate(top->rotation, ez, axis);
    cross(axis, top->angular_velocity, across);
    cr_assert(lt(dbl, norm(across), 1e-11));
    cr_assert(lt(dbl, fabs(axis[2] - cos(5 * acos(-1.0) / 180)), tolerance));
    mabd_scene_destroy(scene);
}

// ---- JSON --------------------------------------------------------------------------------------

static void expect_message(const char* text, int32_t line, const char* expected) {
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_scene_load_text(scene, text, strlen(text), 0, NULL, &error);
    cr_expect(eq(int, status, MABD_ERR_INPUT), "%s", text);
    cr_expect(strstr(error.text, expected) != NULL, "%s: '%s'", text, error.text);
    cr_expect(eq(i32, error.line, line), "%s: '%s'", text, error.text);
    mabd_scene_destroy(scene);
}

Test(generate, json_mistakes_are_named_with_their_line) {
    expect_message("{\"generators\": [\n{}]}", 2, "type");
    expect_message("{\"generators\": [\n3]}", 2, "generator");
    expect_message("{\"generators\":\n {}}", 2, "array");
    expect_message("{\"generators\": [{\"type\":\n \"chian\"}]}", 2, "chain");
    expect_message("{\"generators\": [{\"type\": \"chain\",\n \"link\": 5}]}", 2, "links");
    expect_message("{\"generators\": [\n{\"type\": \"chain\", \"links\": 0}]}", 2, "at least 1");
    expect_message("{\"generators\": [{\"type\": \"chain\",\n \"joint\": \"bal\"}]}", 2, "ball");
    expect_message("{\"generators\": [{\"type\": \"chain\",\n \"start\": 5}]}", 2, "start");
    expect_message("{\"generators\": [{\"type\": \"net\",\n \"rows\": 2.5}]}", 2, "rows");
    expect_message("{\"generators\": [{\"type\": \"net\",\n \"pinned\": \"side\"}]}", 2, "corners");
    expect_message("{\"generators\": [{\"type\": \"tree\", \"links\": 5,\n \"depth\": 3}]}", 2,
                   "not both");
    expect_message("{\"generators\": [{\"type\": \"tree\",\n \"seed\": 3}]}", 2, "random");
    expect_message("{\"generators\": [{\"type\": \"tree\",\n \"links\": 0}]}", 2, "at least 1");
    expect_message("{\"generators\": [{\"type\": \"ring\",\n \"plane\": \"flat\"}]}", 2,
                   "vertical");
    expect_message("{\"generators\": [\n{\"type\": \"four-bar\", \"ground\": 9}]}", 2,
                   "cannot meet");
    expect_message("{\"generators\": [\n{\"type\": \"double-four-bar\", \"mass\": 0}]}", 2,
                   "positive");
    expect_message("{\"generators\": [{\"type\": \"ring\"},\n{\"type\": \"ring\"}]}", 2, "ring");
}

// What is written beside a generator may use its bodies, and every field of every type is read.
Test(generate, json_reads_every_field) {
    static const char text[] =
        "{\"generators\": ["
        "{\"type\": \"chain\", \"name\": \"a\", \"links\": 4, \"length\": 0.2, \"radius\": 0.02,"
        " \"shape\": \"box\", \"joint\": \"hinge\", \"density\": 500, \"young\": 2e9,"
        " \"poisson\": 0.2, \"drag\": 0.5, \"end_mass_ratio\": 3, \"start\": \"hanging\","
        " \"anchor\": [0, 1, 2], \"pinned\": false, \"velocity\": [1, 0, 0],"
        " \"angular_velocity\": [0, 1, 0], \"axes\": {\"rx\": {\"stiffness\": 2}}},"
        "{\"type\": \"net\", \"name\": \"b\", \"rows\": 2, \"columns\": 2, \"spacing\": 0.3,"
        " \"hub_radius\": 0.05, \"rod_radius\": 0.01, \"density\": 500, \"young\": 2e9,"
        " \"poisson\": 0.2, \"drag\": 0.5, \"pinned\": \"none\", \"position\": [0, 3, 2]},"
        "{\"type\": \"tree\", \"name\": \"c\", \"branching\": 2, \"links\": 9, \"seed\": 5,"
        " \"length\": 2, \"radius\": 0.1, \"shrink\": 0.7, \"taper\": 0.6, \"spread\": 0.3,"
        " \"shape\": \"cylinder\", \"joint\": \"universal\", \"root\": \"ball\", \"pinned\": true,"
        " \"density\": 500, \"young\": 2e9, \"poisson\": 0.2, \"drag\": 0.5,"
        " \"direction\": [0, 0, -1], \"anchor\": [5, 0, 0], \"axes\": {\"ry\": {\"damping\": 2}}},"
        "{\"type\": \"ring\", \"name\": \"d\", \"links\": 5, \"length\": 0.2, \"radius\": 0.02,"
        " \"shape\": \"cylinder\", \"joint\": \"hinge\", \"density\": 500, \"young\": 2e9,"
        " \"poisson\": 0.2, \"drag\": 0.5, \"plane\": \"horizontal\", \"pinned\": false,"
        " \"pin\": \"ball\", \"position\": [9, 0, 0], \"spin\": 3, \"axes\": {\"rx\": {\"rest\": 1,"
        " \"stiffness\": 1}}},"
        "{\"type\": \"four-bar\", \"name\": \"e\", \"crank\": 0.2, \"coupler\": 0.5,"
        " \"rocker\": 0.4, \"ground\": 0.5, \"width\": 0.02, \"density\": 500, \"young\": 2e9,"
        " \"poisson\": 0.2, \"angle\": 0.3, \"speed\": 2, \"driven\": false, \"torque\": 1,"
        " \"position\": [0, -3, 0]},"
        "{\"type\": \"double-four-bar\", \"name\": \"f\", \"loops\": 3, \"length\": 2,"
        " \"mass\": 4, \"width\": 0.1, \"young\": 2e9, \"poisson\": 0.2, \"velocity\": 2,"
        " \"position\": [0, -6, 0]}],"
        "\"joints\": [{\"type\": \"ball\", \"a\": \"a/0\", \"b\": \"b/row0/hub/1\"}]}";
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_scene_load_text(scene, text, sizeof text - 1, 0, NULL, &error);
    cr_assert(eq(int, status, MABD_OK), "%d:%d: %s", error.line, error.column, error.text);
    cr_assert(eq(i32, mabd_scene_body_count(scene), 4 + 8 + 9 + 5 + 3 + 7));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), 3 + 8 + 9 + 5 + 4 + 10 + 1));
    const mabd_scene_class* classes = scene->classes.data;
    for (int32_t i = 0; i < mabd_scene_body_count(scene); i++) {
        const mabd_scene_class* k = &classes[body_at(scene, i)->class_index];
        cr_assert(eq(dbl, k->young, 2e9));
        cr_assert(eq(dbl, k->poisson, 0.2));
        if (i < 26) cr_assert(gt(dbl, k->drag, 0));
        if (i < 29) cr_assert(eq(dbl, k->density, 500));
    }
    int32_t end = mabd_scene_find_body(scene, "a/end"), ring = mabd_scene_find_body(scene, "d/0");
    int32_t root = mabd_scene_find_body(scene, "c/level0/0");
    cr_assert(eq(i32, end, 3));
    cr_assert(eq(dbl, body_at(scene, end)->angular_velocity[1], 1));
    cr_assert(lt(dbl, fabs(body_at(scene, 0)->velocity[0] - 0.9), tolerance));
    cr_assert(lt(dbl, fabs(body_at(scene, 0)->position[2] - 1.9), tolerance));
    cr_assert(lt(dbl, fabs(body_at(scene, root)->position[2] + 1), tolerance));
    cr_assert(eq(dbl, body_at(scene, ring)->angular_velocity[2], 3));
    cr_assert(eq(i32, scene->axes.count >= 4, 1));
    mabd_scene_destroy(scene);
}
