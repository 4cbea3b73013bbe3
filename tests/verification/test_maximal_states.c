// SPDX-License-Identifier: Apache-2.0
// What every formulation does, in maximal coordinates: the same bits on any number of threads, in
// copies and from saved states; memory; inputs; refusals by name.

#include "mabd/batch.h"
#include "mabd/gradient.h"
#include "support/counting_allocator.h"
#include "support/rig.h"

#define G 9.81

static mabd_sim_def maximal(double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX;
    def.redmax.coordinates = MABD_COORDINATES_MAXIMAL;
    return def;
}

// A chain, two boxes on the ground, an arm with a servo and a rigid one.
static mabd_model* crowd(void) {
    return rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"contact\": {\"enabled\": true}, \"generators\": ["
        "{\"type\": \"chain\", \"name\": \"long\", \"links\": 7, \"length\": 0.1, \"radius\": 0.01,"
        " \"joint\": \"hinge\"}], \"bodies\": ["
        "{\"name\": \"ground\", \"shape\": \"plane\", \"fixed\": true, \"position\": [0, 0, -3]},"
        "{\"name\": \"a\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"position\": [3, 0, "
        "-2.8],"
        " \"velocity\": [1, 0.5, 0]},"
        "{\"name\": \"b\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"position\": [4, 0, "
        "-2.7],"
        " \"angular_velocity\": [3, 1, 2]},"
        "{\"name\": \"arm\", \"shape\": \"box\", \"size\": [0.4, 0.1, 0.1], \"position\": [0.2, 2, "
        "0]},"
        "{\"name\": \"hand\", \"shape\": \"box\", \"size\": [0.4, 0.1, 0.1], \"position\": [0.6, "
        "2, 0]}],"
        "\"joints\": ["
        "{\"name\": \"shoulder\", \"type\": \"hinge\", \"a\": \"world\", \"b\": \"arm\", "
        "\"anchor\": [0, 2,"
        " 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"servo\": {\"sine\": {\"amplitude\": 0.5,"
        " \"frequency\": 1}}, \"servo_stiffness\": 50, \"servo_damping\": 1}}},"
        "{\"name\": \"elbow\", \"type\": \"hinge\", \"a\": \"arm\", \"b\": \"hand\", \"anchor\": "
        "[0.4, 2,"
        " 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"servo\": {\"sine\": {\"amplitude\": 0.3,"
        " \"frequency\": 2}}, \"servo_rigid\": true}}}]}");
}

static void* saved(const mabd_sim* sim, size_t* size) {
    *size = mabd_sim_state_size(sim);
    void* state = malloc(*size);
    mabd_sim_save(sim, state);
    return state;
}

// Asserts that two simulations are in the same state, to the bit.
static void expect_same(const mabd_sim* a, const mabd_sim* b, const char* what) {
    size_t n, m;
    void *x = saved(a, &n), *y = saved(b, &m);
    cr_expect(n == m && memcmp(x, y, n) == 0, "%s", what);
    free(x), free(y);
}

static void advance(mabd_sim* sim, int steps) {
    for (int i = 0; i < steps; i++) rig_step(sim);
}

Test(maximal_states, bits_do_not_depend_on_threads) {
    mabd_model* model = crowd();
    mabd_sim* sim[3];
    for (int i = 0; i < 3; i++) {
        mabd_sim_def def = maximal(0.002);
        def.threads = 1 << i;
        sim[i] = rig_sim(model, &def);
        advance(sim[i], 200);
    }
    expect_same(sim[0], sim[1], "2 threads");
    expect_same(sim[0], sim[2], "4 threads");
    for (int i = 0; i < 3; i++) mabd_sim_destroy(sim[i]);
    mabd_model_destroy(model);
}

Test(maximal_states, saved_cloned_and_reset_states_continue_with_the_same_bits) {
    mabd_model* model = crowd();
    const mabd_sim_def def = maximal(0.002);
    mabd_error error = {0};
    mabd_sim *sim = rig_sim(model, &def), *other = rig_sim(model, &def), *clone;
    size_t size;
    advance(sim, 80);
    void* state = saved(sim, &size);
    rig_check(mabd_sim_restore(other, state, size, &error), &error, "restore");
    rig_check(mabd_sim_clone(sim, &clone, &error), &error, "clone");
    advance(sim, 80), advance(other, 80), advance(clone, 80);
    expect_same(sim, other, "restored");
    expect_same(sim, clone, "cloned");
    mabd_sim_reset(sim);
    advance(sim, 160);
    expect_same(sim, other, "reset");
    free(state);
    mabd_sim_destroy(clone), mabd_sim_destroy(other);
    rig_destroy(sim, model);
}

Test(maximal_states, states_of_other_coordinates_are_refused) {
    mabd_model* model = rig_file_model("scenes/double-pendulum.json", NULL, NULL);
    mabd_sim_def def = maximal(0.002);
    mabd_error error = {0};
    mabd_sim* sim = rig_sim(model, &def);
    def.redmax.coordinates = MABD_COORDINATES_REDUCED;
    def.integrator = MABD_INTEGRATOR_SEMI_IMPLICIT;
    mabd_sim* other = rig_sim(model, &def);
    size_t size;
    void* state = saved(sim, &size);
    cr_expect(eq(int, mabd_sim_restore(other, state, size, &error), MABD_ERR_INPUT));
    cr_expect(strstr(error.text, "redmax.coordinates") != NULL, "%s", error.text);
    free(state);
    mabd_sim_destroy(other);
    rig_destroy(sim, model);
}

Test(maximal_states, a_state_that_is_set_is_read_back) {
    mabd_model* model = rig_file_model("scenes/double-pendulum.json", NULL, NULL);
    const mabd_sim_def def = maximal(0.002);
    mabd_error error = {0};
    mabd_sim *sim = rig_sim(model, &def), *other = rig_sim(model, &def);
    mabd_sim_def closed = def;
    mabd_real x[2][6], q[2][8], v[2][6], w[2][6];
    closed.redmax.coordinates = MABD_COORDINATES_REDUCED;
    closed.integrator = MABD_INTEGRATOR_EULER;
    mabd_sim* exact = rig_sim(model, &closed); // its joints are closed
    advance(exact, 100);
    mabd_sim_get_state(exact, x[0], q[0], v[0], w[0]);
    rig_check(mabd_sim_set_state(sim, x[0], q[0], v[0], w[0], &error), &error, "set");
    mabd_sim_get_state(sim, x[1], q[1], v[1], w[1]);
    for (int i = 0; i < 6; i++) {
        cr_expect(lt(dbl, fabs(x[1][i] - x[0][i]), 1e-13));
        cr_expect(lt(dbl, fabs(v[1][i] - v[0][i]), 1e-12));
        cr_expect(lt(dbl, fabs(w[1][i] - w[0][i]), 1e-12));
    }
    x[0][0] += 0.1; // opens the pivot
    cr_expect(eq(int, mabd_sim_set_state(other, x[0], q[0], v[0], w[0], &error), MABD_ERR_INPUT));
    cr_expect(strstr(error.text, "joint") != NULL, "%s", error.text);
    mabd_sim_destroy(exact), mabd_sim_destroy(other);
    rig_destroy(sim, model);
}

// Copies of a pendulum with other lengths move as each does alone.
Test(maximal_states, copies_move_as_their_scenes_do_alone) {
    const char* lengths[] = {"0.5", "1", "1.5"};
    mabd_error error = {0};
    mabd_scene* batch;
    const mabd_sim_def def = maximal(0.002);
    rig_check(mabd_scene_create(NULL, &batch), &error, "batch");
    for (int k = 0; k < 3; k++) {
        const mabd_setting setting = {"length", lengths[k]};
        mabd_scene* copy;
        rig_check(mabd_scene_create(NULL, &copy), &error, "scene");
        rig_check(mabd_scene_load(copy, MABD_SOURCE_DIR "/scenes/double-pendulum.json", 1, &setting,
                                  &error),
                  &error, "scene");
        rig_check(mabd_scene_add_copy(batch, copy, &error), &error, "copy");
        mabd_scene_destroy(copy);
    }
    mabd_model* model = rig_model(batch);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real x[18], y[6];
    advance(sim, 150);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    for (int k = 0; k < 3; k++) {
        mabd_model* one = rig_file_model("scenes/double-pendulum.json", "length", lengths[k]);
        mabd_sim* alone = rig_sim(one, &def);
        advance(alone, 150);
        mabd_sim_get_state(alone, y, NULL, NULL, NULL);
        cr_expect(memcmp(y, x + 6 * k, sizeof y) == 0, "copy %d", k);
        rig_destroy(alone, one);
    }
    rig_destroy(sim, model);
}

// ---- inputs ------------------------------------------------------------------------------------

// A force of one step changes the velocity of a free body by h f/m, a torque that of a sphere by
// h t/I.
Test(maximal_states, applied_forces_act_for_one_step) {
    mabd_model* model =
        rig_text_model("{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"a\", \"mass\": 2, "
                       "\"inertia\": [0.1, 0.1,"
                       " 0.1], \"rotation\": {\"axis\": [1, 2, 3], \"degrees\": 50}}]}");
    const mabd_sim_def def = maximal(0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    const int32_t body = 0;
    const mabd_real force[3] = {1, -2, 3}, torque[3] = {0.1, 0.2, -0.3};
    mabd_real v[3], w[3];
    rig_check(mabd_sim_apply_force(sim, 1, &body, force, torque, &error), &error, "force");
    advance(sim, 2);
    mabd_sim_get_state(sim, NULL, NULL, v, w);
    for (int k = 0; k < 3; k++) {
        cr_expect(lt(dbl, fabs(w[k] - 0.01 * torque[k] / 0.1), 1e-12));
        cr_expect(lt(dbl, fabs(v[k] - 0.01 * force[k] / 2), 1e-4)); // turned by the Coriolis force
    }
    rig_destroy(sim, model);
}

// A rigid servo turns a rod about its centre by a sine: theta'' = -a w^2 sin(w t) takes the torque
// I theta''.
Test(maximal_states, a_rigid_servo_follows_its_signal_and_reports_its_torque) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"rod\", \"mass\": 2, \"inertia\": [0.2, "
        "0.25,"
        " 0.3]}], \"joints\": [{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"rod\", \"anchor\": "
        "[0, 0,"
        " 0], \"axis\": [0, 0, 1], \"axes\": {\"rx\": {\"servo\": {\"sine\": {\"amplitude\": 0.4,"
        " \"frequency\": 1}}, \"servo_rigid\": true}}}]}");
    const double h = 1e-4, w = 2 * acos(-1);
    const mabd_sim_def def = maximal(h);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real x[6], force[6];
    advance(sim, 3000);
    mabd_sim_get_joint_coordinates(sim, 0, x);
    mabd_sim_get_joint_forces(sim, force);
    const double t = 0.3, torque = -0.3 * 0.4 * w * w * sin(w * (t - h / 2));
    cr_expect(lt(dbl, fabs(x[3] - 0.4 * sin(w * t)), 1e-10), "%g", x[3]);
    cr_expect(lt(dbl, fabs(force[5] - torque), 1e-3 * fabs(torque)), "%g, %g", force[5], torque);
    rig_destroy(sim, model);
}

// Works by cause agree with those of joint coordinates, but for the order of the method.
Test(maximal_states, the_energy_balance_is_that_of_joint_coordinates) {
    mabd_model* model = rig_file_model("scenes/arm.json", NULL, NULL);
    mabd_energy_balance b[2];
    for (int i = 0; i < 2; i++) {
        mabd_sim_def def = maximal(0.001);
        if (i == 1) def.redmax.coordinates = MABD_COORDINATES_REDUCED;
        mabd_sim* sim = rig_sim(model, &def);
        advance(sim, 300);
        b[i] = mabd_sim_get_energy_balance(sim);
        mabd_sim_destroy(sim);
    }
    printf("drives %g J, %g J; dampers %g J, %g J\n", b[0].drives, b[1].drives, b[0].dampers,
           b[1].dampers);
    cr_expect(lt(dbl, fabs(b[0].drives / b[1].drives - 1), 0.01));
    cr_expect(lt(dbl, fabs(b[0].dampers - b[1].dampers), 0.01 * fabs(b[1].drives)));
    mabd_model_destroy(model);
}

// ---- memory ------------------------------------------------------------------------------------

Test(maximal_states, bytes_are_those_of_the_plan_and_of_the_allocator_and_steps_take_none) {
    mabd_model* model = rig_file_model("scenes/four-bar.json", NULL, NULL);
    counting_allocator counter = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    mabd_sim_def def = maximal(0.002);
    mabd_error error = {0};
    mabd_sim_plan plan;
    rig_check(mabd_sim_get_plan(model, &def, &plan, &error), &error, "plan");
    def.allocator = &allocator;
    mabd_sim* sim = rig_sim(model, &def);
    cr_expect(eq(sz, mabd_sim_bytes(sim), (size_t)counter.live_bytes));
    cr_expect(eq(sz, plan.bytes_sim, mabd_sim_bytes(sim)));
    const int64_t calls = counter.calls;
    advance(sim, 50);
    cr_expect(eq(i64, counter.calls, calls));
    mabd_sim_destroy(sim);
    cr_expect(counter.live_blocks == 0 && counter.wrong_frees == 0);
    mabd_model_destroy(model);
}

Test(maximal_states, each_allocation_may_fail) {
    mabd_model* model = crowd();
    for (int64_t fails = 0;; fails++) {
        counting_allocator counter = {.fail_at = fails};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_sim_def def = maximal(0.002);
        mabd_error error = {0};
        mabd_sim* sim = NULL;
        def.allocator = &allocator;
        const mabd_status status = mabd_sim_create(model, &def, &sim, &error);
        mabd_sim_destroy(sim);
        cr_expect(counter.live_blocks == 0 && counter.wrong_frees == 0, "call %d", (int)fails);
        if (status == MABD_OK) break;
        cr_assert(eq(int, status, MABD_ERR_MEMORY), "call %d", (int)fails);
    }
    mabd_model_destroy(model);
}

// ---- refusals ----------------------------------------------------------------------------------

static void expect_refused(const mabd_model* model, const mabd_sim_def* def, mabd_status status,
                           const char* text) {
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    cr_expect(eq(int, mabd_sim_create(model, def, &sim, &error), status), "%s", text);
    cr_expect(sim == NULL && strstr(error.text, text) != NULL, "%s", error.text);
}

static void expect_scene_refused(const char* joint, const char* more, const char* text) {
    char scene[1024];
    snprintf(scene, sizeof scene,
             "{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": ["
             "{\"name\": \"j\", \"type\": \"hinge\", \"a\": \"world\", \"b\": \"b\", \"anchor\": "
             "[0, 0, 0],"
             " \"axis\": [0, 0, 1]%s}]%s}",
             joint, more);
    mabd_model* model = rig_text_model(scene);
    const mabd_sim_def def = maximal(0.01);
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE, text);
    mabd_model_destroy(model);
}

Test(maximal_states, what_is_not_there_is_refused_by_name) {
    expect_scene_refused(", \"axes\": {\"rx\": {\"armature\": 1}}", "",
                         "armature, which joint 'j'");
    expect_scene_refused(", \"axes\": {\"rx\": {\"lower\": -1}}", "",
                         "'maximal' does not have stops");
    expect_scene_refused(", \"axes\": {\"rx\": {\"friction\": 1}}", "", "stops");
    expect_scene_refused(
        "", ", \"nodes\": [{\"name\": \"n\", \"position\": [1, 1, 1], \"mass\": 1}]", "nodes");
}

Test(maximal_states, fields_and_integrators_of_other_coordinates_are_refused_by_name) {
    mabd_model* model = rig_file_model("scenes/pendulum.json", NULL, NULL);
    const mabd_sim_def plain = maximal(0.01);
    mabd_sim_def def = plain;
    def.integrator = MABD_INTEGRATOR_BDF2;
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE,
                   "with coordinates 'maximal' does not have integrator 'bdf2'");
    def = plain, def.redmax.energy_guard = 0;
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE, "redmax.energy_guard");
    def = plain, def.redmax.newton_tolerance = 1;
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE, "redmax.newton_tolerance");
    def = plain, def.dual = MABD_DUAL_PCG;
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE, "dual");
    def = plain, def.max_halvings = 2;
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE, "max_halvings");
    def = plain, def.redmax.baumgarte = (mabd_real)1.1;
    expect_refused(model, &def, MABD_ERR_ARG, "redmax.baumgarte must be 0 to 1 ");
    def = plain, def.redmax.baumgarte_level = MABD_BAUMGARTE_ACCELERATION;
    def.redmax.baumgarte = 1;
    expect_refused(model, &def, MABD_ERR_ARG, "redmax.baumgarte must be 0 to 0.8 ");
    def = plain, def.redmax.coordinates = MABD_COORDINATES_REDUCED;
    def.redmax.baumgarte = 1;
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE, "redmax.baumgarte");
    def.redmax.baumgarte = plain.redmax.baumgarte;
    def.redmax.baumgarte_level = MABD_BAUMGARTE_ACCELERATION;
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE, "redmax.baumgarte_level");
    def.redmax.baumgarte_level = MABD_BAUMGARTE_VELOCITY;
    def.redmax.coordinates = (mabd_coordinates)7;
    expect_refused(model, &def, MABD_ERR_ARG, "redmax.coordinates");
    mabd_model_destroy(model);
}

Test(maximal_states, gradients_are_refused_by_name) {
    mabd_model* model = rig_file_model("scenes/pendulum.json", NULL, NULL);
    const mabd_sim_def def = maximal(0.01);
    mabd_error error = {0};
    mabd_gradient* gradient = NULL;
    mabd_gradient_def own = mabd_default_gradient_def();
    const mabd_parameter parameter = {.kind = MABD_PARAMETER_MASS, .scale = 1};
    const mabd_loss_term term = {.kind = MABD_LOSS_ENERGY, .weight = 1, .first = 1, .last = 1};
    own.parameters = &parameter, own.parameter_count = 1;
    own.terms = &term, own.term_count = 1, own.steps = 5;
    cr_expect(
        eq(int, mabd_gradient_create(model, &def, &own, &gradient, &error), MABD_ERR_UNAVAILABLE));
    cr_expect(strstr(error.text, "'maximal' has no gradients") != NULL, "%s", error.text);
    mabd_model_destroy(model);
}
