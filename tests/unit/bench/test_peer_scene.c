// SPDX-License-Identifier: Apache-2.0
// Scenes for other engines: they equal the model, are read back bit for bit after writing, and
// broken texts are refused with their line.
#include "bench/peers/peer_measure.h"
#include "cli/bench/peer_import.c"
#include "cli/bench/peer_scenes.c"
#include "support/rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static peer_scene export_case(bench_peer_kind kind, int32_t size) {
    const bench_peer_case what = {.kind = kind, .size = size};
    mabd_error error = {0};
    mabd_model* model = NULL;
    peer_scene scene;
    rig_check(bench_peer_build(&what, &model, &error), &error, "model");
    rig_check(bench_peer_export_bare(model, 0.01, 7, &scene, &error), &error, "export");
    mabd_model_destroy(model);
    return scene;
}

static char* text_of(const peer_scene* scene) {
    char* text = NULL;
    size_t size = 0;
    FILE* out = open_memstream(&text, &size);
    peer_scene_write(scene, out);
    fclose(out);
    return text;
}

static bool read_text(const char* text, peer_scene* scene, char* message, size_t size) {
    FILE* in = fmemopen((void*)text, strlen(text), "r");
    const bool read = peer_scene_read(in, scene, message, size);
    fclose(in);
    return read;
}

// ---- files -------------------------------------------------------------------------------------

Test(peer_scene, comes_back_bit_for_bit) {
    const bench_peer_case cases[] = {{BENCH_PEER_CHAIN, 5}, {BENCH_PEER_HEAVY, 4},
                                     {BENCH_PEER_NET, 3},   {BENCH_PEER_GRID, 7},
                                     {BENCH_PEER_STACK, 3}, {BENCH_PEER_PILE, 9},
                                     {BENCH_PEER_BOWL, 5},  {BENCH_PEER_RAGDOLLS, 2}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        peer_scene scene = export_case(cases[i].kind, cases[i].size), back;
        char* text = text_of(&scene);
        char message[256] = "";
        cr_assert(read_text(text, &back, message, sizeof(message)), "%s", message);
        cr_expect(eq(str, back.name, scene.name));
        cr_expect(eq(int, back.body_count, scene.body_count));
        cr_expect(eq(int, back.joint_count, scene.joint_count));
        cr_expect(back.h == scene.h && back.steps == scene.steps);
        cr_expect_arr_eq(back.gravity, scene.gravity, sizeof(scene.gravity));
        cr_expect_arr_eq(back.bodies, scene.bodies, scene.body_count * sizeof(*scene.bodies));
        cr_expect_arr_eq(back.joints, scene.joints, scene.joint_count * sizeof(*scene.joints));
        cr_expect(eq(int, back.shape_count, scene.shape_count));
        cr_expect(eq(int, back.shape_count > 0, cases[i].kind >= BENCH_PEER_STACK));
        for (int32_t k = 0; k < back.shape_count; k++) { // members, for the padding between them
            const peer_shape *a = &back.shapes[k], *b = &scene.shapes[k];
            cr_expect(a->kind == b->kind && a->body == b->body && a->friction == b->friction);
            cr_expect_arr_eq(a->size, b->size, sizeof(a->size));
            cr_expect_arr_eq(a->position, b->position, sizeof(a->position));
            cr_expect_arr_eq(a->quaternion, b->quaternion, sizeof(a->quaternion));
        }
        peer_scene_destroy(&back);
        peer_scene_destroy(&scene);
        free(text);
    }
}

Test(peer_scene, refuses_broken_texts_with_their_line) {
    const char* head = "mabd-peers 3\nname x\ngravity 0 0 -9.81\ntime 0.01 10\n";
    const char* body = "1  1 1 1  0 0 0  1 0 0 0  0 0 0  0 0 0\n";
    const struct {
        const char *text, *message;
    } cases[] = {
        {"", "line 1: expected mabd-peers, found the end"},
        {"mabd-peers 1\n", "line 1: format 1 is not known"},
        {"mabd-peers 3\nname x\ngravity 0 0\n", "line 3: expected 3 finite numbers, found 2"},
        {"mabd-peers 3\nname x\ngravity 0 0 nan\n", "line 3: expected 3 finite numbers, found 2"},
        {"mabd-peers 3\nname x\ngravity 0 0 1\ntime 0 10\n", "line 4: time: expected a step > 0"},
        {"@bodies 0\n", "line 5: bodies: expected an integer from 1"},
        {"@bodies 2\n#", "line 7: expected a body, found the end"},
        {"@bodies 1\n1 1 1\n", "line 6: expected 17 finite numbers, found 3"},
        {"@bodies 1\n0  1 1 1  0 0 0  1 0 0 0  0 0 0  0 0 0\n", "line 6: mass and moments"},
        {"@bodies 1\n1  1 0 1  0 0 0  1 0 0 0  0 0 0  0 0 0\n", "line 6: mass and moments"},
        {"@bodies 1\n1  1 1 1  0 0 0  1 1 0 0  0 0 0  0 0 0\n", "line 6: the quaternion"},
        {"@bodies 1\n#joints 1\n-1 1  0 0 0  0 0 0  0 0 0  0 0 0\n", "line 8: there is no body 1"},
        {"@bodies 1\n#joints 1\n0 0  0 0 0  0 0 0  0 0 0  0 0 0\n",
         "line 8: a joint needs two bodies"},
        {"@bodies 1\n#joints 1\n-1 0  0 0 0  0 0 0  0 0 0  0 0 0 1\n",
         "line 8: expected 14 numbers, found more"},
        {"@bodies 1\n#joints 1\n-1 0  0 0 0  0 0 0  0 0 1  0 0 0\n", "line 8: the axes"},
        {"@bodies 1\n#joints 1\n-1 0  0 0 0  0 0 0  0 0 0  0 0 1\n", "line 8: the axes"},
        {"@bodies 1\n#joints 1\n-1 0  0 0 0  0 0 0  0 0 2  0 0 2\n", "line 8: the axes"},
        {"@bodies 1\n#joints 1\n-1 0  0 0 0  0 0 0", "line 8: the line is too long or has no end"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024] = "", message[256] = "";
        peer_scene scene;
        for (const char* c = cases[i].text; *c != '\0'; c++) { // @ = head, # = a body
            const char one[2] = {*c, '\0'};
            strcat(text, *c == '@' ? head : *c == '#' ? body : one);
        }
        if (text[0] == '\0') strcpy(text, "\n");
        const bool read = read_text(text, &scene, message, sizeof(message));
        cr_expect(not(read), "case %zu", i);
        if (cases[i].text[0] == '\0') continue; // a stream of no bytes cannot be made
        cr_expect_not_null(strstr(message, cases[i].message), "case %zu: %s", i, message);
    }
}

// ---- export ------------------------------------------------------------------------------------

Test(peer_scene, exports_closed_joints_and_the_masses_of_the_model) {
    peer_scene scene = export_case(BENCH_PEER_HEAVY, 6);
    peer_state states[6];
    for (int i = 0; i < 6; i++) states[i] = scene.bodies[i].start;
    cr_expect(lt(dbl, peer_gap(&scene, states), 1e-15));
    cr_expect(peer_scene_is_chain(&scene));
    cr_expect(epsilon_eq(dbl, scene.bodies[5].mass, 1000 * scene.bodies[0].mass, 1e-9));
    cr_expect(eq(int, scene.joints[0].a, PEER_WORLD));
    peer_scene_destroy(&scene);
    scene = export_case(BENCH_PEER_NET, 3); // 9 hubs, 12 rods, two joints a rod and three pins
    cr_expect(eq(int, scene.body_count, 21));
    cr_expect(eq(int, scene.joint_count, 27));
    cr_expect(not(peer_scene_is_chain(&scene)));
    peer_scene_destroy(&scene);
}

// A body whose centre and principal axes are not those of its frame, turned, on its way. Seen from
// outside nothing depends on the frames: anchor and energy of the exported body are those of the
// simulation itself.
Test(peer_scene, moves_to_the_principal_frame) {
    const mabd_real anchor[3] = {0.3, -0.2, 0.5}, inertia[6] = {2, 3, 4, 0.3, 0.2, -0.1};
    mabd_error error = {0};
    mabd_scene* s = rig_scene(-9.81);
    mabd_body_def def = mabd_default_body_def();
    def.mass = 2, def.inertia_given = true;
    memcpy(def.inertia, inertia, sizeof(inertia));
    def.center[0] = 0.1, def.center[1] = -0.3, def.center[2] = 0.2;
    def.position[0] = 1, def.position[1] = 2, def.position[2] = 3;
    def.rotation[0] = 0.8, def.rotation[2] = 0.6;
    def.velocity[0] = 0.4, def.velocity[2] = -0.7;
    def.angular_velocity[0] = 1, def.angular_velocity[1] = -2, def.angular_velocity[2] = 0.5;
    rig_add_body(s, &def);
    mabd_joint_def joint = mabd_default_joint_def();
    memcpy(joint.anchor, anchor, sizeof(anchor));
    rig_check(mabd_scene_add_joint(s, &joint, NULL, &error), &error, "joint");
    mabd_model* model = NULL;
    mabd_sim* sim = NULL;
    peer_scene scene;
    rig_check(mabd_model_build(s, NULL, &model, &error), &error, "model");
    rig_check(bench_peer_export(model, 0.01, 1, &scene, &error), &error, "export");
    const mabd_sim_def sim_def = mabd_default_sim_def();
    rig_check(mabd_sim_create(model, &sim_def, &sim, &error), &error, "sim");
    const mabd_measure measure = mabd_sim_measure(sim);
    const peer_state* start = &scene.bodies[0].start;
    cr_expect(lt(dbl, peer_gap(&scene, start), 1e-14));
    cr_expect(epsilon_eq(dbl, peer_energy(&scene, start), measure.energy, 1e-12));
    for (int k = 0; k < 3; k++) cr_expect(eq(dbl, scene.joints[0].anchor_a[k], anchor[k]));
    peer_scene_destroy(&scene);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    mabd_scene_destroy(s);
}

Test(peer_scene, refuses_models_that_others_cannot_take) {
    mabd_error error = {0};
    mabd_scene* s = rig_scene(-9.81);
    mabd_chain_def chain = mabd_default_chain_def();
    mabd_model* model = NULL;
    peer_scene scene;
    chain.links = 3, chain.joint = MABD_JOINT_UNIVERSAL;
    rig_check(mabd_generate_chain(s, &chain, &error), &error, "chain");
    rig_check(mabd_model_build(s, NULL, &model, &error), &error, "model");
    cr_expect(eq(int, bench_peer_export(model, 0.01, 1, &scene, &error), MABD_ERR_ARG));
    cr_expect_not_null(strstr(error.text, "ball joints and hinges only"));
    mabd_model_destroy(model);
    mabd_scene_destroy(s);
}

// The axis of a hinge is exported in the principal frames: turned back to the world by the start
// poses, both sides are the axis that was given.
Test(peer_scene, exports_the_axes_of_hinges) {
    const mabd_real axis[3] = {0.48, -0.6, 0.64};
    mabd_error error = {0};
    mabd_scene* s = rig_scene(-9.81);
    mabd_body_def def = mabd_default_body_def();
    const mabd_real inertia[6] = {2, 3, 4, 0.3, 0.2, -0.1};
    def.mass = 2, def.inertia_given = true;
    memcpy(def.inertia, inertia, sizeof(inertia));
    rig_add_body(s, &def);
    def.rotation[0] = 0.8, def.rotation[2] = 0.6;
    rig_add_body(s, &def);
    mabd_joint_def joint = mabd_default_joint_def();
    joint.type = MABD_JOINT_HINGE, joint.a = 0, joint.b = 1;
    cr_assert(mabd_frame_from_axes(axis, NULL, joint.frame));
    rig_check(mabd_scene_add_joint(s, &joint, NULL, &error), &error, "joint");
    mabd_model* model = NULL;
    peer_scene scene;
    rig_check(mabd_model_build(s, NULL, &model, &error), &error, "model");
    rig_check(bench_peer_export(model, 0.01, 1, &scene, &error), &error, "export");
    const peer_joint* j = &scene.joints[0];
    cr_assert(peer_joint_is_hinge(j));
    const double* sides[2] = {j->axis_a, j->axis_b};
    for (int i = 0; i < 2; i++) {
        const mabd_quat q = mabd_q_load(scene.bodies[i].start.quaternion);
        const mabd_vec3 u = mabd_q_rotate(q, mabd_v3_load(sides[i]));
        cr_expect(lt(dbl, mabd_v3_norm(mabd_v3_sub(u, mabd_v3_load(axis))), 1e-14), "side %d", i);
    }
    peer_scene_destroy(&scene);
    mabd_model_destroy(model);
    mabd_scene_destroy(s);
}

// The anchor that was given in the frames of the bodies, whatever their principal axes are.
Test(peer_scene, model_gives_the_anchors_of_joints) {
    const mabd_real xa[3] = {0.1, 0.2, 0.3}, xb[3] = {-0.4, 0.1, 0}, size[3] = {0.3, 0.5, 0.2};
    mabd_error error = {0};
    mabd_scene* s = rig_scene(0);
    mabd_geom geoms[2] = {mabd_geom_make(MABD_SHAPE_BOX, size, 1000),
                          mabd_geom_make(MABD_SHAPE_BOX, size, 700)};
    geoms[1].position[0] = 0.4, geoms[1].position[1] = 0.3;
    mabd_body_def def = mabd_default_body_def();
    def.geom_count = 2, def.geoms = geoms;
    rig_add_body(s, &def);
    for (int k = 0; k < 3; k++) def.position[k] = xa[k] - xb[k];
    rig_add_body(s, &def);
    mabd_joint_def joint = mabd_default_joint_def();
    joint.a = 0, joint.b = 1, joint.local = true;
    memcpy(joint.anchor_a, xa, sizeof(xa));
    memcpy(joint.anchor_b, xb, sizeof(xb));
    rig_check(mabd_scene_add_joint(s, &joint, NULL, &error), &error, "joint");
    mabd_model* model = NULL;
    mabd_real a[3], b[3];
    rig_check(mabd_model_build(s, NULL, &model, &error), &error, "model");
    mabd_model_joint_anchors(model, 0, a, b);
    for (int k = 0; k < 3; k++) {
        cr_expect(epsilon_eq(dbl, a[k], xa[k], 1e-15));
        cr_expect(epsilon_eq(dbl, b[k], xb[k], 1e-15));
    }
    mabd_model_destroy(model);
    mabd_scene_destroy(s);
}

// ---- import ------------------------------------------------------------------------------------

// A ragdoll twice through the text: bodies, joints and shapes are the same, what touched touches.
Test(peer_scene, a_model_from_a_scene_is_exported_as_that_scene) {
    const bench_peer_case cases[] = {
        {BENCH_PEER_RAGDOLLS, 2}, {BENCH_PEER_PILE, 8}, {BENCH_PEER_GRID, 9}, {BENCH_PEER_BOWL, 4}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        peer_scene scene = export_case(cases[c].kind, cases[c].size), back;
        mabd_error error = {0};
        mabd_model* model = NULL;
        rig_check(bench_peer_import(&scene, true, 1e9, &model, &error), &error, "import");
        rig_check(bench_peer_export(model, scene.h, scene.steps, &back, &error), &error, "export");
        cr_assert(back.body_count == scene.body_count && back.joint_count == scene.joint_count &&
                  back.shape_count == scene.shape_count);
        for (int32_t i = 0; i < scene.body_count; i++) {
            const peer_body *a = &scene.bodies[i], *b = &back.bodies[i];
            cr_expect(eq(int, peer_body_is_fixed(a), peer_body_is_fixed(b)));
            cr_expect(epsilon_eq(dbl, a->mass, b->mass, 1e-12 * a->mass + 1e-300));
            double sum = 0; // of the moments: their order is free
            for (int k = 0; k < 3; k++) sum += a->inertia[k] - b->inertia[k];
            cr_expect(lt(dbl, fabs(sum), 1e-12));
            for (int k = 0; k < 3; k++) {
                cr_expect(lt(dbl, fabs(a->start.position[k] - b->start.position[k]), 1e-12));
            }
        }
        for (int32_t i = 0; i < scene.joint_count; i++) {
            const peer_joint *a = &scene.joints[i], *b = &back.joints[i];
            cr_expect(a->a == b->a && a->b == b->b);
            cr_expect(eq(int, peer_joint_is_hinge(a), peer_joint_is_hinge(b)));
            cr_expect(lt(dbl,
                         fabs(mabd_v3_norm(mabd_v3_load(a->anchor_b)) -
                              mabd_v3_norm(mabd_v3_load(b->anchor_b))),
                         1e-12));
        }
        for (int32_t i = 0; i < scene.shape_count; i++) {
            const peer_shape *a = &scene.shapes[i], *b = &back.shapes[i];
            cr_expect(a->kind == b->kind && a->body == b->body && a->friction == b->friction);
            for (int k = 0; k < 3; k++) cr_expect(eq(dbl, a->size[k], b->size[k]));
        }
        mabd_model_destroy(model);
        peer_scene_destroy(&back);
        peer_scene_destroy(&scene);
    }
}

// Boxes of 0.2 m one on the other: lowering box i by i d leaves each d inside the one below.
Test(peer_scene, overlaps_are_those_of_the_poses) {
    peer_scene scene = export_case(BENCH_PEER_STACK, 3);
    mabd_error error = {0};
    double positions[2 * 4 * 3] = {0}, quaternions[2 * 4 * 4] = {0}, depth = -1;
    for (int k = 0; k < 8; k++) {
        const double down = k < 4 ? 0.0 : 0.003;
        memcpy(positions + 3 * k, scene.bodies[k % 4].start.position, 3 * sizeof(double));
        memcpy(quaternions + 4 * k, scene.bodies[k % 4].start.quaternion, 4 * sizeof(double));
        if (k % 4 < 3) positions[3 * k + 2] -= down * (k % 4);
    }
    peer_samples samples = {
        .every = 1, .count = 1, .positions = positions, .quaternions = quaternions};
    rig_check(bench_peer_overlap(&scene, &samples, &depth, &error), &error, "overlap");
    cr_expect(lt(dbl, depth, 1e-12));
    samples.count = 2;
    rig_check(bench_peer_overlap(&scene, &samples, &depth, &error), &error, "overlap");
    cr_expect(epsilon_eq(dbl, depth, 0.003, 1e-12));
    positions[20] = NAN;
    rig_check(bench_peer_overlap(&scene, &samples, &depth, &error), &error, "overlap");
    cr_expect(isnan(depth));
    peer_scene_destroy(&scene);
}

// Bodies that share a joint overlap by design, whatever became of the joint.
Test(peer_scene, joined_bodies_do_not_touch) {
    peer_scene scene = export_case(BENCH_PEER_RAGDOLLS, 1);
    mabd_error error = {0};
    const int32_t n = scene.body_count;
    double *positions = calloc(3 * n, sizeof(double)), *quaternions = calloc(4 * n, sizeof(double)),
           depth = -1;
    for (int32_t i = 0; i < n; i++) {
        memcpy(positions + 3 * i, scene.bodies[i].start.position, 3 * sizeof(double));
        memcpy(quaternions + 4 * i, scene.bodies[i].start.quaternion, 4 * sizeof(double));
    }
    const peer_joint* joint = &scene.joints[0];
    positions[3 * joint->b] += 0.01; // opens it by 1 cm
    const peer_samples samples = {
        .every = 1, .count = 1, .positions = positions, .quaternions = quaternions};
    rig_check(bench_peer_overlap(&scene, &samples, &depth, &error), &error, "overlap");
    cr_expect(eq(dbl, depth, 0));
    free(positions);
    free(quaternions);
    peer_scene_destroy(&scene);
}

Test(peer_scene, refuses_surfaces_that_others_cannot_take) {
    mabd_error error = {0};
    const mabd_real size[3] = {0.1, 0.1, 0.1};
    for (int k = 0; k < 3; k++) {
        mabd_scene* s = rig_scene(-9.81);
        mabd_contact_def contact = mabd_default_contact_def();
        mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
        mabd_body_def def = mabd_default_body_def();
        mabd_model* model = NULL;
        peer_scene scene;
        contact.enabled = true;
        rig_check(mabd_scene_set_contact(s, &contact, &error), &error, "contact");
        if (k == 0) geom.restitution = 0.5;
        if (k == 1) geom.mask = 2;
        if (k == 2) def.motion = MABD_MOTION_SCRIPTED;
        def.geom_count = 1, def.geoms = &geom;
        rig_add_body(s, &def);
        rig_check(mabd_model_build(s, NULL, &model, &error), &error, "model");
        cr_expect(eq(int, bench_peer_export(model, 0.01, 1, &scene, &error), MABD_ERR_ARG), "%d",
                  k);
        const char* const reasons[] = {"no rebound", "all bodies touch", "no scripted bodies"};
        cr_expect_not_null(strstr(error.text, reasons[k]), "%s", error.text);
        mabd_model_destroy(model);
        mabd_scene_destroy(s);
    }
}
