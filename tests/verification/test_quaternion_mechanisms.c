// SPDX-License-Identifier: Apache-2.0
// Mechanisms in the quaternion formulation: rows closed to round-off at every step, redundant ones
// too; the same motion as the affine formulation up to O(h^2); same bits for any number of threads
// and after a restore; nothing allocated in a step.

#include "support/counting_allocator.h"
#include "support/rig.h"

#include <string.h>

static mabd_sim_def quaternion_def(mabd_integrator integrator, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_QUATERNION;
    def.integrator = integrator;
    return def;
}

// ---- closed rows -------------------------------------------------------------------------------

// Run a scene and expect every row to be closed after every step.
static void expect_closed(mabd_model* model, mabd_integrator integrator, double h, int steps) {
    const mabd_sim_def def = quaternion_def(integrator, h);
    mabd_sim* sim = rig_sim(model, &def);
    double gap = 0, angle = 0;
    int iterations = 0, unconverged = 0;
    for (int i = 0; i < steps; i++) {
        mabd_step_info info;
        mabd_error error = {0};
        cr_assert(mabd_sim_step(sim, &info, &error) == MABD_OK, "%s", error.text);
        const mabd_measure now = mabd_sim_measure(sim);
        gap = fmax(gap, now.gap), angle = fmax(angle, now.angle_error);
        iterations += info.iterations, unconverged += !info.converged;
    }
    printf("%s, %s, h %g: %.2f iterations, gap %.1e m, %.1e rad, %d unconverged\n",
           mabd_model_name(model), mabd_integrator_name(integrator), h, (double)iterations / steps,
           gap, angle, unconverged);
    // the tolerance holds for each row, a gap has three
    cr_expect(gap < 2e-12 && angle < 2e-12, "gap %g m, %g rad", gap, angle);
    cr_expect(unconverged == 0, "%d unconverged", unconverged);
    rig_destroy(sim, model);
}

Test(quaternion_mechanisms, keep_their_rows_closed) {
    static const struct {
        const char *scene, *name, *value;
    } cases[] = {{"scenes/four-bar.json", "driven", "0"},
                 {"scenes/scissor-ring.json", NULL, NULL},
                 {"scenes/double-pendulum.json", NULL, NULL},
                 {"scenes/t-handle.json", NULL, NULL},
                 {"scenes/heavy-top.json", NULL, NULL},
                 {"scenes/ring.json", NULL, NULL},
                 {"scenes/arm.json", NULL, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int k = 0; k < 2; k++) {
            expect_closed(rig_file_model(cases[i].scene, cases[i].name, cases[i].value),
                          k ? MABD_INTEGRATOR_TRBDF2 : MABD_INTEGRATOR_BDF2, 0.005, 100);
        }
    }
}

// 547 of its 1980 rows are redundant, and the number changes as it passes full expansion.
Test(quaternion_mechanisms, hobermans_sphere_passes_full_expansion) {
    expect_closed(rig_file_model("scenes/hoberman-sphere.json", NULL, NULL), MABD_INTEGRATOR_BDF2,
                  0.01, 60);
}

// ---- the same motion as the affine formulation -------------------------------------------------

static void positions_at(const mabd_model* model, const mabd_sim_def* def, double seconds,
                         mabd_real* x) {
    mabd_sim* sim = rig_sim(model, def);
    for (int i = 0; i < (int)lround(seconds / (double)def->h); i++) rig_step(sim);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    mabd_sim_destroy(sim);
}

static double difference(const mabd_model* model, double h) {
    mabd_real x[2][96];
    const int32_t n = mabd_model_get_info(model).bodies;
    double most = 0;
    mabd_sim_def def = quaternion_def(MABD_INTEGRATOR_BDF2, h);
    positions_at(model, &def, 0.3, x[0]);
    def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    positions_at(model, &def, 0.3, x[1]);
    cr_assert(n <= 32);
    for (int32_t i = 0; i < n; i++) most = fmax(most, rig_distance(x[0] + 3 * i, x[1] + 3 * i));
    return most;
}

Test(quaternion_mechanisms, move_as_in_the_affine_formulation) {
    static const struct {
        const char *scene, *name, *value;
    } cases[] = {{"scenes/four-bar.json", "driven", "0"},
                 {"scenes/double-pendulum.json", NULL, NULL},
                 {"scenes/arm.json", NULL, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mabd_model* model = rig_file_model(cases[i].scene, cases[i].name, cases[i].value);
        double d[3];
        for (int k = 0; k < 3; k++) d[k] = difference(model, 0.004 / (1 << k));
        printf("%s: %.2e, %.2e, %.2e m\n", cases[i].scene, d[0], d[1], d[2]);
        // affine bodies are strained: by less than half a micrometre
        cr_expect(d[1] < d[0] / 3 && d[2] < fmax(d[1] / 3, 5e-7), "%s: %g, %g, %g m",
                  cases[i].scene, d[0], d[1], d[2]);
        mabd_model_destroy(model);
    }
}

// ---- bits and memory ---------------------------------------------------------------------------

Test(quaternion_mechanisms, threads_and_restored_states_give_the_same_bits) {
    const mabd_integrator integrators[3] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_TRBDF2,
                                            MABD_INTEGRATOR_EULER};
    for (int i = 0; i < 3; i++) {
        mabd_model* model = rig_file_model("scenes/arm.json", NULL, NULL);
        mabd_sim_def def = quaternion_def(integrators[i], 0.01);
        mabd_sim* one = rig_sim(model, &def);
        def.threads = 3;
        mabd_sim* two = rig_sim(model, &def);
        rig_run(one, 30);
        const size_t size = mabd_sim_state_size(one);
        void* state = malloc(size);
        cr_assert(state != NULL);
        mabd_sim_save(one, state);
        cr_assert(mabd_sim_restore(two, state, size, NULL) == MABD_OK);
        rig_run(one, 30), rig_run(two, 30);
        mabd_real a[2][24], f[2][42];
        for (int k = 0; k < 2; k++) {
            mabd_sim_get_state(k ? two : one, a[k], NULL, NULL, NULL);
            mabd_sim_get_joint_forces(k ? two : one, f[k]);
        }
        cr_expect(memcmp(a[0], a[1], sizeof a[0]) == 0, "poses");
        cr_expect(memcmp(f[0], f[1], sizeof f[0]) == 0, "forces");
        free(state);
        mabd_sim_destroy(two);
        rig_destroy(one, model);
    }
}

Test(quaternion_mechanisms, a_step_allocates_nothing_and_the_plan_knows_the_bytes) {
    counting_allocator counter = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    mabd_model* model = rig_file_model("scenes/scissor-ring.json", NULL, NULL);
    mabd_sim_def def = quaternion_def(MABD_INTEGRATOR_TRBDF2, 0.005);
    def.allocator = &allocator;
    mabd_sim_plan plan;
    mabd_error error = {0};
    cr_assert(mabd_sim_get_plan(model, &def, &plan, &error) == MABD_OK, "%s", error.text);
    mabd_sim* sim = rig_sim(model, &def);
    cr_expect(plan.bytes_sim == mabd_sim_bytes(sim), "%zu planned, %zu held", plan.bytes_sim,
              mabd_sim_bytes(sim));
    const int64_t before = counter.calls;
    rig_run(sim, 20);
    cr_expect(counter.calls == before, "%lld allocations", (long long)(counter.calls - before));
    rig_destroy(sim, model);
}

// ---- drives ------------------------------------------------------------------------------------

// A rigid servo that moves by up to 3 rad in a step arrives at its target, not half a turn away.
Test(quaternion_mechanisms, a_rigid_servo_never_flips) {
    for (int i = 0; i < 4; i++) {
        const double jumps[4] = {0.5, 1.6, 2.5, 3.0};
        char text[512];
        snprintf(text, sizeof text,
                 "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"mass\": 1,"
                 " \"inertia\": [0.01, 0.02, 0.025]}], \"joints\": [{\"type\": \"hinge\","
                 " \"a\": \"world\", \"b\": \"b\", \"anchor\": [0, 0, 0], \"axis\": [0, 0, 1],"
                 " \"axes\": {\"rx\": {\"servo\": {\"table\": {\"times\": [0, 0.05, 0.051],"
                 " \"values\": [0, 0, %g]}}, \"servo_rigid\": true}}}]}",
                 jumps[i]);
        mabd_model* model = rig_text_model(text);
        const mabd_sim_def def = quaternion_def(MABD_INTEGRATOR_EULER, 0.01);
        mabd_sim* sim = rig_sim(model, &def);
        rig_run(sim, 10);
        mabd_real x[MABD_AXIS_COUNT];
        mabd_sim_get_joint_coordinates(sim, 0, x);
        cr_expect(fabs(x[MABD_AXIS_RX] - jumps[i]) < 1e-10, "%g for %g rad", x[MABD_AXIS_RX],
                  jumps[i]);
        rig_destroy(sim, model);
    }
}

// The joint of a hanging door on two hinges: 5 of 10 rows are redundant. Both hinges together carry
// the weight.
Test(quaternion_mechanisms, redundant_hinges_carry_the_weight) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -10], \"bodies\": [{\"name\": \"door\", \"mass\": 20,"
        " \"inertia\": [6, 8, 3], \"position\": [0.4, 0, 1]}], \"joints\": ["
        "{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"door\", \"anchor\": [0, 0, 0.3],"
        " \"axis\": [0, 0, 1]}, {\"type\": \"hinge\", \"a\": \"world\", \"b\": \"door\","
        " \"anchor\": [0, 0, 1.7], \"axis\": [0, 0, 1]}]}");
    const mabd_sim_def def = quaternion_def(MABD_INTEGRATOR_BDF2, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real w[12];
    rig_run(sim, 50);
    mabd_sim_get_joint_forces(sim, w);
    cr_expect(fabs(w[2] + w[8] - 200) < 1e-8, "%g + %g N", w[2], w[8]);
    cr_expect(fabs(w[2] - w[8]) < 2e-3, "least norm: %g and %g N", w[2],
              w[8]); // 1e-5 of the weight
    // moment about y at the centre: 0.7 (F_x2 - F_x1) + T_y = -0.4 m x 200 N
    const double moment = 0.7 * (w[6] - w[0]) + w[4] + w[10];
    cr_expect(fabs(moment + 80) < 1e-6, "%g N m", moment);
    rig_destroy(sim, model);
}

// A damped ball joint at the centre of a body: J o' + o x J o = -d o, integrated here by RK4.
static void damped_rate(const double* o, double* rate) {
    const double J[3] = {0.01, 0.02, 0.025}, d = 0.01;
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        rate[k] = ((J[i] - J[j]) * o[i] * o[j] - d * o[k]) / J[k];
    }
}

static double damped_energy(double seconds) {
    const double h = 1e-4;
    double o[3] = {10, 3, 5};
    for (int n = 0; n < (int)lround(seconds / h); n++) {
        double k[4][3], at[3];
        damped_rate(o, k[0]);
        for (int s = 1; s < 4; s++) {
            for (int i = 0; i < 3; i++) at[i] = o[i] + (s == 3 ? h : h / 2) * k[s - 1][i];
            damped_rate(at, k[s]);
        }
        for (int i = 0; i < 3; i++) {
            o[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
        }
    }
    return (0.01 * o[0] * o[0] + 0.02 * o[1] * o[1] + 0.025 * o[2] * o[2]) / 2;
}

Test(quaternion_mechanisms, a_damper_of_a_ball_acts_on_the_angular_velocity) {
    const char* text =
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"mass\": 1,"
        " \"inertia\": [0.01, 0.02, 0.025], \"angular_velocity\": [10, 3, 5]}], \"joints\": ["
        "{\"type\": \"ball\", \"a\": \"world\", \"b\": \"b\", \"anchor\": [0, 0, 0],"
        " \"axes\": {\"rx\": {\"damping\": 0.01}, \"ry\": {\"damping\": 0.01},"
        " \"rz\": {\"damping\": 0.01}}}]}";
    const mabd_integrator integrators[2] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_TRBDF2};
    for (int i = 0; i < 2; i++) {
        double error[3];
        for (int k = 0; k < 3; k++) {
            mabd_model* model = rig_text_model(text);
            const mabd_sim_def def = quaternion_def(integrators[i], 0.01 / (1 << k));
            mabd_sim* sim = rig_sim(model, &def);
            for (int n = 0; n < 100 << k; n++) rig_step(sim);
            error[k] = fabs(mabd_sim_measure(sim).kinetic - damped_energy(1));
            mabd_real wrench[6], w[3];
            mabd_sim_get_joint_forces(sim, wrench);
            mabd_sim_get_state(sim, NULL, NULL, NULL, w);
            for (int c = 0; c < 3; c++) { // the joint carries the torque of its damper
                cr_expect(fabs(wrench[3 + c] + 0.01 * w[c]) < 1e-12, "%g N m at %g rad/s",
                          (double)wrench[3 + c], (double)w[c]);
            }
            rig_destroy(sim, model);
        }
        const double order = log2(error[1] / error[2]);
        printf("%s: %.1e, %.1e, %.1e J of %.4f J, order %.2f\n",
               mabd_integrator_name(integrators[i]), error[0], error[1], error[2], damped_energy(1),
               order);
        cr_expect(order > 1.7 && order < 2.6, "order %g", order);
        cr_expect(error[2] < 1e-3, "%g J", error[2]);
    }
}

// Body inertia and armature of a ball add up: a torque M turns a sphere of inertia J on a ball
// joint with armature I at M/(J + I).
Test(quaternion_mechanisms, armature_of_a_ball_is_inertia) {
    const char* text = "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"mass\": 1,"
                       " \"inertia\": [0.02, 0.02, 0.02]}], \"joints\": [{\"type\": \"ball\","
                       " \"a\": \"world\", \"b\": \"b\", \"anchor\": [0, 0, 0], \"axes\": {"
                       "\"rx\": {\"armature\": 0.03}, \"ry\": {\"armature\": 0.03},"
                       " \"rz\": {\"armature\": 0.03}}}], \"forces\": [{\"body\": \"b\","
                       " \"torque\": [0.1, 0.2, 0.3]}]}";
    const mabd_integrator integrators[2] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_TRBDF2};
    for (int i = 0; i < 2; i++) {
        mabd_model* model = rig_text_model(text);
        const mabd_sim_def def = quaternion_def(integrators[i], 0.001);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real w[3];
        for (int n = 0; n < 100; n++) rig_step(sim);
        mabd_real wrench[6];
        mabd_sim_get_state(sim, NULL, NULL, NULL, w);
        mabd_sim_get_joint_forces(sim, wrench);
        for (int k = 0; k < 3; k++) {
            const double torque = -0.03 * 0.1 * (k + 1) / 0.05; // -I M/(J + I)
            cr_expect(fabs(wrench[3 + k] / torque - 1) < 1e-6, "%g of %g N m",
                      (double)wrench[3 + k], torque);
            const double expected = 0.1 * (k + 1) / 0.05 * 0.1;
            cr_expect(fabs(w[k] / expected - 1) < 1e-6, "%s: %.9g for %g rad/s",
                      mabd_integrator_name(integrators[i]), (double)w[k], expected);
        }
        rig_destroy(sim, model);
    }
}
