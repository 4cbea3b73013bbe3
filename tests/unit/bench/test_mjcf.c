// SPDX-License-Identifier: Apache-2.0
// Scenes as MJCF: a spanning tree nests the bodies, and every other joint is a constraint.
#include "bench/peers/mjcf.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

// Bodies in a ring: joint 0 holds body 0 in the world, joint i joins bodies i - 1 and i, and the
// last joint holds the last body in the world. All hinges are along y, or balls.
static peer_scene ring(int32_t bodies, bool hinges) {
    peer_scene scene;
    cr_assert(peer_scene_create(bodies, bodies + 1, 0, &scene));
    scene.h = 0.01, scene.steps = 1;
    for (int32_t i = 0; i < bodies; i++) {
        scene.bodies[i] = (peer_body){.mass = 1,
                                      .inertia = {1, 1, 1},
                                      .start = {.position = {i, 0, 0}, .quaternion = {1, 0, 0, 0}}};
    }
    for (int32_t i = 0; i <= bodies; i++) {
        peer_joint* joint = &scene.joints[i];
        joint->a = i - 1, joint->b = i < bodies ? i : PEER_WORLD;
        joint->axis_a[1] = joint->axis_b[1] = hinges ? 1 : 0;
    }
    return scene;
}

typedef struct files {
    int count;
    char *first, *last;
} files;

static bool take_file(void* context, const char* name, const char* text, size_t length) {
    files* f = context;
    cr_expect(eq(sz, length, strlen(text)));
    if (f->count == 0) cr_expect(eq(str, (char*)name, "scene.xml"));
    free(f->last);
    f->last = strdup(text);
    if (f->count++ == 0) f->first = strdup(text);
    return true;
}

static bool refuse_file(void* context, const char* name, const char* text, size_t length) {
    (void)context, (void)name, (void)text, (void)length;
    return false;
}

static files write_scene(const peer_scene* scene, bool tree) {
    const mjcf_options options = {.tree = tree, .integrator = "RK4", .time_constant = 0.02};
    files f = {0};
    mjcf_tree t;
    cr_assert(mjcf_tree_create(scene, tree, &t));
    cr_expect(mjcf_write(scene, &t, &options, take_file, &f));
    mjcf_tree_destroy(&t);
    return f;
}

static void free_files(files* f) {
    free(f->first);
    free(f->last);
}

static int count(const char* text, const char* what) {
    int n = 0;
    for (; (text = strstr(text, what)) != NULL; text++) n++;
    return n;
}

static void expect_counts(bool hinges, bool tree, int joints, int free_joints, int connects) {
    peer_scene scene = ring(3, hinges);
    files f = write_scene(&scene, tree);
    cr_expect(eq(int, f.count, 1));
    cr_expect(eq(int, count(f.first, "<body name"), 3));
    cr_expect(eq(int, count(f.first, "<joint"), joints), "%s", f.first);
    cr_expect(eq(int, count(f.first, "<freejoint"), free_joints));
    cr_expect(eq(int, count(f.first, "<connect"), connects), "%s", f.first);
    free_files(&f);
    peer_scene_destroy(&scene);
}

Test(mjcf, a_tree_has_a_joint_for_each_body_and_constraints_for_the_rest) {
    expect_counts(false, true, 3, 0, 1);
    expect_counts(true, true, 3, 0, 1); // parallel hinges: one point closes the loop
}

Test(mjcf, free_bodies_have_two_points_for_each_hinge) {
    expect_counts(false, false, 0, 3, 4);
    expect_counts(true, false, 0, 3, 8);
}

Test(mjcf, hinges_that_are_not_parallel_close_a_loop_by_two_points) {
    peer_scene scene = ring(3, true);
    peer_joint* joint = &scene.joints[1];
    joint->axis_a[1] = joint->axis_b[1] = 0, joint->axis_a[2] = joint->axis_b[2] = 1;
    files f = write_scene(&scene, true);
    cr_expect(eq(int, count(f.first, "<connect"), 2));
    free_files(&f);
    peer_scene_destroy(&scene);
}

// Breadth first from the world: bodies 0 and 2 hang on it, and body 1 on the first of them.
Test(mjcf, the_tree_is_the_flattest) {
    peer_scene scene = ring(3, false);
    mjcf_tree t;
    cr_assert(mjcf_tree_create(&scene, true, &t));
    const int32_t parents[] = {PEER_WORLD, 0, PEER_WORLD}, joints[] = {0, 1, 3};
    for (int i = 0; i < 3; i++) {
        cr_expect(eq(int, t.parent[i], parents[i]), "body %d", i);
        cr_expect(eq(int, t.joint[i], joints[i]), "body %d", i);
    }
    cr_expect(not(t.in_tree[2]));
    mjcf_tree_destroy(&t);
    peer_scene_destroy(&scene);
}

Test(mjcf, deep_trees_continue_in_other_files) {
    peer_scene scene = ring(1000, false);
    scene.joint_count--; // an open chain
    files f = write_scene(&scene, true);
    cr_expect(eq(int, f.count, 3)); // 400 levels each
    cr_expect(eq(int, count(f.first, "<body name"), 400));
    cr_expect(eq(int, count(f.first, "<include file=\"b400.xml\"/>"), 1));
    cr_expect(eq(int, count(f.last, "<body name"), 200));
    free_files(&f);
    peer_scene_destroy(&scene);
}

Test(mjcf, ends_with_the_file_that_is_refused) {
    peer_scene scene = ring(3, false);
    const mjcf_options options = {.tree = true, .integrator = "Euler"};
    mjcf_tree t;
    cr_assert(mjcf_tree_create(&scene, true, &t));
    cr_expect(not(mjcf_write(&scene, &t, &options, refuse_file, NULL)));
    mjcf_tree_destroy(&t);
    peer_scene_destroy(&scene);
}
