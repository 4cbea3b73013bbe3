// SPDX-License-Identifier: Apache-2.0
// Tests for the mechanisms and plants of src/import/json/json_generators.c
#include "mabd/generate.h"
#include "support/generate_checks.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define WOOD " \"density\": 500, \"young\": 2e9, \"poisson\": 0.2,"

// Build the scene of the text below from its defs.
static mabd_status build_all(mabd_scene* scene, mabd_error* error) {
    mabd_axis_def bend = {.stiffness = 2};
    mabd_material wood = mabd_default_material();
    wood.density = 500, wood.young = 2e9, wood.poisson = 0.2;
    mabd_four_bar_chain_def a = mabd_default_four_bar_chain_def();
    a.name = "a", a.segments = 3, a.length = 2, a.mass = 4, a.width = 0.1, a.angle = 0.5;
    a.young = 2e9, a.poisson = 0.2, a.position[1] = 1;
    MABD_TRY(mabd_generate_four_bar_chain(scene, &a, error));
    mabd_jansen_def b = mabd_default_jansen_def();
    b.name = "b", b.pairs = 2, b.scale = 0.02, b.width = 0.03, b.spacing = 0.5, b.material = wood;
    b.angle = 0.3, b.speed = 2, b.driven = false, b.position[2] = 3;
    MABD_TRY(mabd_generate_jansen(scene, &b, error));
    mabd_scissor_ring_def c = mabd_default_scissor_ring_def();
    c.name = "c", c.units = 7, c.arm = 0.3, c.width = 0.03, c.material = wood, c.drag = 0.5;
    c.angle = 0.6, c.swing = 0.4, c.frequency = 2, c.position[0] = 9;
    MABD_TRY(mabd_generate_scissor_ring(scene, &c, error));
    c.name = "scissor-ring", c.driven = false, c.speed = 2;
    MABD_TRY(mabd_generate_scissor_ring(scene, &c, error));
    mabd_branching_def d = mabd_default_branching_def();
    d.name = "d", d.seed = 5, d.level_count = 2;
    d.levels[0] = (mabd_branch_level){3, 4, 2, 0.1, 0.5, 0, 0, 0.1, 0.2, 0};
    d.levels[1] = (mabd_branch_level){2, 0, 1, 0.05, 1, 0.7, 0.4, -1, 0.1, 0.5};
    d.phyllotaxis = 2, d.wiggle = 0.1, d.variation = 0.2, d.material = wood, d.bending = 1e8;
    d.damping = 0.1, d.drag = 3, d.anchor[1] = 7;
    MABD_TRY(mabd_generate_branching(scene, &d, error));
    mabd_backbone_def e = mabd_default_backbone_def();
    e.name = "e", e.links = 50, e.seed = 9, e.length = 0.2, e.radius = 0.03, e.material = wood;
    e.drag = 0.1, e.anchor[2] = 5, e.pinned = false, e.axes[MABD_AXIS_RY] = &bend;
    MABD_TRY(mabd_generate_backbone(scene, &e, error));
    mabd_star_def f = mabd_default_star_def();
    f.name = "f", f.arms = 5, f.links = 2, f.hub_radius = 0.3, f.length = 0.4, f.radius = 0.02;
    f.material = wood, f.drag = 0.2, f.pinned = false, f.spin = 3, f.position[0] = -5;
    return mabd_generate_star(scene, &f, error);
}

Test(json_mechanisms, json_reads_every_field) {
    static const char text[] =
        "{\"generators\": ["
        "{\"type\": \"four-bar-chain\", \"name\": \"a\", \"segments\": 3, \"length\": 2,"
        " \"mass\": 4, \"width\": 0.1, \"angle\": 0.5, \"young\": 2e9, \"poisson\": 0.2,"
        " \"position\": [0, 1, 0]},"
        "{\"type\": \"jansen\", \"name\": \"b\", \"pairs\": 2, \"scale\": 0.02, \"width\": 0.03,"
        " \"spacing\": 0.5," WOOD " \"angle\": 0.3, \"speed\": 2, \"driven\": false,"
        " \"position\": [0, 0, 3]},"
        "{\"type\": \"scissor-ring\", \"name\": \"c\", \"units\": 7, \"arm\": 0.3, \"width\": "
        "0.03," WOOD " \"drag\": 0.5, \"angle\": 0.6, \"swing\": 0.4, \"frequency\": 2,"
        " \"position\": [9, 0, 0]},"
        "{\"type\": \"scissor-ring\", \"units\": 7, \"arm\": 0.3, \"width\": 0.03," WOOD
        " \"drag\": 0.5, \"angle\": 0.6, \"driven\": false, \"speed\": 2,"
        " \"position\": [9, 0, 0]},"
        "{\"type\": \"branching\", \"name\": \"d\", \"seed\": 5, \"levels\": ["
        "{\"segments\": 3, \"children\": 4, \"length\": 2, \"radius\": 0.1, \"tip\": 0.5,"
        " \"droop\": 0.1, \"bare\": 0.2},"
        "{\"segments\": 2, \"radius\": 0.05, \"spread\": 0.7, \"spread_tip\": 0.4, \"droop\": -1,"
        " \"bare\": 0.1, \"shorten\": 0.5}],"
        " \"phyllotaxis\": 2, \"wiggle\": 0.1, \"variation\": 0.2," WOOD " \"bending\": 1e8,"
        " \"damping\": 0.1, \"drag\": 3, \"anchor\": [0, 7, 0]},"
        "{\"type\": \"backbone\", \"name\": \"e\", \"links\": 50, \"seed\": 9, \"length\": 0.2,"
        " \"radius\": 0.03," WOOD " \"drag\": 0.1, \"anchor\": [0, 0, 5], \"pinned\": false,"
        " \"axes\": {\"ry\": {\"stiffness\": 2}}},"
        "{\"type\": \"star\", \"name\": \"f\", \"arms\": 5, \"links\": 2, \"hub_radius\": 0.3,"
        " \"length\": 0.4, \"radius\": 0.02," WOOD " \"drag\": 0.2, \"pinned\": false,"
        " \"spin\": 3, \"position\": [-5, 0, 0]}]}";
    mabd_error error = {0};
    mabd_scene *scene = new_scene(), *twin = new_scene();
    mabd_status status = mabd_scene_load_text(scene, text, sizeof text - 1, 0, NULL, &error);
    cr_assert(eq(int, status, MABD_OK), "%d:%d: %s", error.line, error.column, error.text);
    cr_assert(eq(int, build_all(twin, &error), MABD_OK), "%s", error.text);
    cr_assert(eq(i32, mabd_scene_body_count(scene), mabd_scene_body_count(twin)));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), mabd_scene_joint_count(twin)));
    cr_assert(eq(u64, scene_hash(scene), scene_hash(twin)));
    mabd_scene_destroy(scene);
    mabd_scene_destroy(twin);
}

Test(json_mechanisms, mistakes_are_named_with_their_line) {
    expect_message("{\"generators\": [{\"type\": \"branching\",\n \"levels\": []}]}", 2, "1 to 8");
    expect_message("{\"generators\": [{\"type\": \"branching\",\n \"levels\": 3}]}", 2, "array");
    expect_message("{\"generators\": [{\"type\": \"branching\", \"levels\": [{},\n"
                   "{\"length\": 1,\n \"drop\": 1}]}]}",
                   3, "droop");
    expect_message("{\"generators\": [\n{\"type\": \"star\", \"arms\": 0}]}", 2, "at least 1");
    expect_message("{\"generators\": [{\"type\":\n \"scissorring\"}]}", 2, "scissor-ring");
    expect_message("{\"generators\": [\n{\"type\": \"jansen\", \"pairs\": 40}]}", 2, "at most 32");
}
