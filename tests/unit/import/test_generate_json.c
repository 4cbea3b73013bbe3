// SPDX-License-Identifier: Apache-2.0
// Tests for src/import/json/json_generators.c and the shipped scenes
#include "mabd/generate.h"
#include "scene/inertia.h"
#include "support/generate_checks.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double tolerance = 1e-12;

// ---- shipped scenes ----------------------------------------------------------------------------

typedef struct scene_case {
    const char* file;
    mabd_setting settings[4];
    int32_t setting_count, bodies, joints;
} scene_case;

Test(generate_json, shipped_scenes_load_with_their_parameters) {
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
        {"joint-grid", {{0}}, 0, 10000, 19794},
        {"joint-grid", {{"rows", "3"}, {"columns", "4"}, {"fixed", "0"}}, 3, 12, 17},
        {"pile-mixed", {{0}}, 0, 105, 0},
        {"pile-mixed", {{"count", "7"}, {"size", "0.1"}}, 2, 12, 0},
        {"tree", {{0}}, 0, 255, 255},
        {"tree", {{"branching", "3"}, {"depth", "4"}}, 2, 40, 40},
        {"ring", {{0}}, 0, 24, 25},
        {"ring", {{"links", "9"}}, 1, 9, 10},
        {"four-bar", {{0}}, 0, 3, 4},
        {"four-bar", {{"driven", "0"}}, 1, 3, 4},
        {"double-four-bar", {{0}}, 0, 5, 7},
        {"four-bar-chain", {{0}}, 0, 40, 50},
        {"four-bar-chain", {{"segments", "3"}}, 1, 12, 15},
        {"strandbeest", {{0}}, 0, 37, 55},
        {"strandbeest", {{"pairs", "1"}, {"driven", "0"}}, 2, 13, 19},
        {"scissor-ring", {{0}}, 0, 24, 36},
        {"scissor-ring", {{"units", "30"}, {"swing", "0.2"}}, 2, 60, 90},
        {"hoberman-sphere", {{0}}, 0, 240, 420},
        {"hoberman-sphere", {{"rings", "3"}, {"pairs", "12"}}, 2, 72, 120},
        {"star", {{0}}, 0, 201, 201},
        {"star", {{"arms", "50"}, {"links", "3"}}, 2, 151, 151},
        {"protein", {{0}}, 0, 14000, 14000},
        {"protein", {{"links", "100"}, {"seed", "5"}}, 2, 100, 100},
        {"willow", {{0}}, 0, 21081, 21081},
        {"pear", {{0}}, 0, 28573, 28573},
        {"binary-tree", {{"depth", "10"}}, 1, 1023, 1023},
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
        cr_assert(lt(dbl, scene_opening(scene), tolerance), "%s", s->file);
        cr_assert(scene->h > 0 && scene->duration > 0, "%s", s->file);
        cr_assert(eq(str, scene->name, (char*)s->file));
        for (int32_t i = 0; i < mabd_scene_param_count(scene); i++) {
            cr_assert(lt(sz, 0, strlen(mabd_scene_param(scene, i).meaning)), "%s", s->file);
        }
        cr_assert(eq(i32, scene_wrong_names(scene), 0), "%s", s->file);
        mabd_scene_destroy(scene);
    }
}

// The stem of the T-handle is its intermediate axis, and its frame sits at the centre of mass.
Test(generate_json, t_handle_spins_about_its_intermediate_axis) {
    mabd_scene* scene = new_scene();
    cr_assert(eq(int,
                 mabd_scene_load(scene, MABD_SOURCE_DIR "/scenes/t-handle.json", 0, NULL, NULL),
                 MABD_OK));
    mabd_inertia inertia = mabd_scene_class_inertia(scene, 0);
    cr_assert(lt(dbl, vector_norm(inertia.center), tolerance));
    cr_assert(lt(dbl, 1.2 * inertia.tensor[1], inertia.tensor[0]));
    cr_assert(lt(dbl, 1.2 * inertia.tensor[0], inertia.tensor[2]));
    cr_assert(lt(dbl, fabs(scene_body(scene, 0)->angular_velocity[0] - 3), tolerance));
    mabd_scene_destroy(scene);
}

// A sleeping top is stable if spin^2 I3^2 > 4 I1 m g l (moments about the tip).
Test(generate_json, heavy_top_spins_fast_enough_to_stay_up) {
    mabd_scene* scene = new_scene();
    cr_assert(eq(int,
                 mabd_scene_load(scene, MABD_SOURCE_DIR "/scenes/heavy-top.json", 0, NULL, NULL),
                 MABD_OK));
    mabd_inertia inertia = mabd_scene_class_inertia(scene, 0);
    const mabd_scene_body* top = scene_body(scene, 0);
    double l = inertia.center[2], I3 = inertia.tensor[2];
    double I1 = inertia.tensor[0] + inertia.mass * l * l, spin = vector_norm(top->angular_velocity);
    cr_assert(lt(dbl, fabs(spin - 10), tolerance));
    cr_assert(lt(dbl, 1.2 * 4 * I1 * inertia.mass * 9.81 * l, spin * spin * I3 * I3));
    double ez[3] = {0, 0, 1}, axis[3], across[3];
    vector_rotate(top->rotation, ez, axis);
    vector_cross(axis, top->angular_velocity, across);
    cr_assert(lt(dbl, vector_norm(across), 1e-11));
    cr_assert(lt(dbl, fabs(axis[2] - cos(5 * acos(-1.0) / 180)), tolerance));
    mabd_scene_destroy(scene);
}

// ---- JSON --------------------------------------------------------------------------------------

Test(generate_json, json_mistakes_are_named_with_their_line) {
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

// Build the scene of the text below from its defs.
static mabd_status build_all(mabd_scene* scene, mabd_error* error) {
    mabd_axis_def bend = {.stiffness = 2}, damp = {.damping = 2},
                  bent = {.stiffness = 1, .rest = 1};
    mabd_material wood = mabd_default_material();
    wood.density = 500, wood.young = 2e9, wood.poisson = 0.2;
    mabd_chain_def a = mabd_default_chain_def();
    a.name = "a", a.links = 4, a.length = 0.2, a.radius = 0.02, a.shape = MABD_SHAPE_BOX;
    a.joint = MABD_JOINT_HINGE, a.material = wood, a.drag = 0.5, a.end_mass_ratio = 3;
    a.start = MABD_CHAIN_HANGING, a.anchor[1] = 1, a.anchor[2] = 2, a.pinned = false;
    a.velocity[0] = 1, a.angular_velocity[1] = 1, a.axes[MABD_AXIS_RX] = &bend;
    MABD_TRY(mabd_generate_chain(scene, &a, error));
    mabd_net_def b = mabd_default_net_def();
    b.name = "b", b.rows = 2, b.columns = 3, b.spacing = 0.3, b.hub_radius = 0.05;
    b.rod_radius = 0.01, b.material = wood, b.drag = 0.25, b.pinned = MABD_NET_PIN_NONE;
    b.position[1] = 3, b.position[2] = 2;
    MABD_TRY(mabd_generate_net(scene, &b, error));
    mabd_tree_def c = mabd_default_tree_def();
    c.name = "c", c.branching = 2, c.links = 9, c.seed = 5, c.length = 2, c.radius = 0.1;
    c.shrink = 0.7, c.taper = 0.6, c.spread = 0.3, c.shape = MABD_SHAPE_CYLINDER;
    c.joint = MABD_JOINT_UNIVERSAL, c.root = MABD_JOINT_BALL, c.material = wood, c.drag = 0.5;
    c.direction[2] = -1, c.anchor[0] = 5, c.axes[MABD_AXIS_RY] = &damp;
    MABD_TRY(mabd_generate_tree(scene, &c, error));
    mabd_ring_def d = mabd_default_ring_def();
    d.name = "d", d.links = 5, d.length = 0.2, d.radius = 0.02, d.shape = MABD_SHAPE_CYLINDER;
    d.joint = MABD_JOINT_HINGE, d.material = wood, d.drag = 0.5, d.vertical = false;
    d.pinned = false, d.position[0] = 9, d.spin = 3, d.axes[MABD_AXIS_RX] = &bent;
    MABD_TRY(mabd_generate_ring(scene, &d, error));
    d.name = "ring", d.pinned = true, d.pin = MABD_JOINT_FIXED, d.spin = 0, d.vertical = true;
    MABD_TRY(mabd_generate_ring(scene, &d, error));
    mabd_four_bar_def e = mabd_default_four_bar_def();
    e.name = "e", e.crank = 0.2, e.coupler = 0.5, e.rocker = 0.4, e.ground = 0.5, e.width = 0.02;
    e.material = wood, e.angle = 0.3, e.speed = 2, e.torque = mabd_signal_constant(1);
    e.position[1] = -3;
    MABD_TRY(mabd_generate_four_bar(scene, &e, error));
    mabd_double_four_bar_def f = mabd_default_double_four_bar_def();
    f.name = "f", f.loops = 3, f.length = 2, f.mass = 4, f.width = 0.1, f.young = 2e9;
    f.poisson = 0.2, f.velocity = 2, f.position[1] = -6;
    return mabd_generate_double_four_bar(scene, &f, error);
}

#define WOOD " \"density\": 500, \"young\": 2e9, \"poisson\": 0.2,"
#define RING                                                                                       \
    "{\"type\": \"ring\", \"links\": 5, \"length\": 0.2, \"radius\": 0.02,"                        \
    " \"shape\": \"cylinder\", \"joint\": \"hinge\"," WOOD                                         \
    " \"drag\": 0.5, \"position\": [9, 0, 0], \"axes\": {\"rx\": {\"rest\": 1, \"stiffness\": "    \
    "1}},"

Test(generate_json, json_reads_every_field) {
    static const char text[] =
        "{\"generators\": ["
        "{\"type\": \"chain\", \"name\": \"a\", \"links\": 4, \"length\": 0.2, \"radius\": 0.02,"
        " \"shape\": \"box\", \"joint\": \"hinge\"," WOOD " \"drag\": 0.5,"
        " \"end_mass_ratio\": 3, \"start\": \"hanging\", \"anchor\": [0, 1, 2], \"pinned\": false,"
        " \"velocity\": [1, 0, 0], \"angular_velocity\": [0, 1, 0],"
        " \"axes\": {\"rx\": {\"stiffness\": 2}}},"
        "{\"type\": \"net\", \"name\": \"b\", \"rows\": 2, \"columns\": 3, \"spacing\": 0.3,"
        " \"hub_radius\": 0.05, \"rod_radius\": 0.01," WOOD
        " \"drag\": 0.25, \"pinned\": \"none\", \"position\": [0, 3, 2]},"
        "{\"type\": \"tree\", \"name\": \"c\", \"branching\": 2, \"links\": 9, \"seed\": 5,"
        " \"length\": 2, \"radius\": 0.1, \"shrink\": 0.7, \"taper\": 0.6, \"spread\": 0.3,"
        " \"shape\": \"cylinder\", \"joint\": \"universal\", \"root\": \"ball\", \"pinned\": "
        "true," WOOD " \"drag\": 0.5, \"direction\": [0, 0, -1], \"anchor\": [5, 0, 0],"
        " \"axes\": {\"ry\": {\"damping\": 2}}}," RING
        " \"name\": \"d\", \"plane\": \"horizontal\", \"pinned\": false, \"spin\": 3}," RING
        " \"pin\": \"fixed\"},"
        "{\"type\": \"four-bar\", \"name\": \"e\", \"crank\": 0.2, \"coupler\": 0.5,"
        " \"rocker\": 0.4, \"ground\": 0.5, \"width\": 0.02," WOOD
        " \"angle\": 0.3, \"speed\": 2, \"driven\": false, \"torque\": 1,"
        " \"position\": [0, -3, 0]},"
        "{\"type\": \"double-four-bar\", \"name\": \"f\", \"loops\": 3, \"length\": 2,"
        " \"mass\": 4, \"width\": 0.1, \"young\": 2e9, \"poisson\": 0.2, \"velocity\": 2,"
        " \"position\": [0, -6, 0]}]}";
    mabd_error error = {0};
    mabd_scene *scene = new_scene(), *twin = new_scene();
    mabd_status status = mabd_scene_load_text(scene, text, sizeof text - 1, 0, NULL, &error);
    cr_assert(eq(int, status, MABD_OK), "%d:%d: %s", error.line, error.column, error.text);
    cr_assert(eq(int, build_all(twin, &error), MABD_OK), "%s", error.text);
    cr_assert(eq(i32, mabd_scene_body_count(scene), mabd_scene_body_count(twin)));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), mabd_scene_joint_count(twin)));
    cr_assert(eq(u64, scene_hash(scene), scene_hash(twin)));
    static const char* const names[] = {"a/end",  "b/row0/hub/1", "c/level0/0", "d/4",
                                        "ring/4", "e/rocker",     "f/level/2"};
    for (int i = 0; i < 7; i++) {
        int32_t body = mabd_scene_find_body(scene, names[i]);
        cr_assert(ge(i32, body, 0), "%s", names[i]);
        cr_assert(eq(i32, body, mabd_scene_find_body(twin, names[i])));
    }
    mabd_scene_destroy(scene);
    mabd_scene_destroy(twin);
}

Test(generate_json, what_is_written_out_may_use_what_was_generated) {
    static const char text[] =
        "{\"generators\": [{\"type\": \"chain\", \"links\": 3}, {\"type\": \"net\"}],"
        "\"joints\": [{\"type\": \"ball\", \"a\": \"chain/2\", \"b\": \"net/row0/hub/1\"}]}";
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_scene_load_text(scene, text, sizeof text - 1, 0, NULL, &error);
    cr_assert(eq(int, status, MABD_OK), "%d:%d: %s", error.line, error.column, error.text);
    const mabd_scene_joint* last = scene_joint(scene, mabd_scene_joint_count(scene) - 1);
    cr_assert(eq(i32, last->a, 2));
    cr_assert(eq(i32, last->b, 4));
    mabd_scene_destroy(scene);
}
