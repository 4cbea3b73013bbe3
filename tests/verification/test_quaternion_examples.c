// SPDX-License-Identifier: Apache-2.0
// The examples of [VQ sec. 6] in the quaternion formulation: T-handle, top, pendulum, satellite,
// walker, figure. The last three are stand-ins with the published numbers of bodies, joints, rows
// and controls. Oracles: conservation of energy and momentum, the closed form of a steady turn,
// counts, and the same motion with other multipliers.

#include "mabd/batch.h"
#include "support/rig.h"
#include "support/sanitized.h"

#include <stdlib.h>
#include <string.h>

static mabd_sim_def quaternion_def(mabd_integrator integrator, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_QUATERNION;
    def.integrator = integrator;
    return def;
}

// Build the model of a scene file with up to three parameters set, name null = none.
static mabd_model* model_of(const char* path, int count, const mabd_setting* settings) {
    mabd_error error = {0};
    mabd_scene* scene;
    char full[1024];
    snprintf(full, sizeof full, "%s/%s", MABD_SOURCE_DIR, path);
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(mabd_scene_load(scene, full, count, settings, &error), &error, path);
    return rig_model(scene);
}

// ---- T-handle: 15 rad/s about the intermediate axis, 0.1 about the others, no gravity ----------

typedef struct loss {
    double energy, momentum; // |E - E_0|/E_0, |L - L_0|/|L_0| at the end
} loss;

static loss handle_loss(mabd_integrator integrator, double seconds) {
    const mabd_setting settings[3] = {
        {"spin", "15"}, {"disturbance", "0.1"}, {"disturbance_normal", "0.1"}};
    mabd_model* model = model_of("scenes/t-handle.json", 3, settings);
    const mabd_sim_def def = quaternion_def(integrator, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    for (int i = 0; i < (int)lround(seconds / 1e-3); i++) rig_step(sim);
    const mabd_measure end = mabd_sim_measure(sim);
    rig_destroy(sim, model);
    const loss out = {fabs(end.energy / start.energy - 1),
                      rig_distance(end.angular_momentum, start.angular_momentum) /
                          rig_norm(start.angular_momentum)};
    printf("t-handle, %s, %g s: |dE|/E %.2e, |dL|/L %.2e\n", mabd_integrator_name(integrator),
           seconds, out.energy, out.momentum);
    return out;
}

// [VQ fig. 4]: the loss of energy falls from euler over sdirk2 to bdf2. The numbers of bdf2 and
// trbdf2 are those of an implementation in another language, to a factor of two.
Test(quaternion_examples, t_handle_loses_energy_in_the_order_of_its_integrators) {
    const double seconds = AMOUNT(10.0, 1.0);
    const loss euler = handle_loss(MABD_INTEGRATOR_EULER, seconds);
    const loss sdirk2 = handle_loss(MABD_INTEGRATOR_SDIRK2, seconds);
    const loss bdf2 = handle_loss(MABD_INTEGRATOR_BDF2, seconds);
    const loss trbdf2 = handle_loss(MABD_INTEGRATOR_TRBDF2, seconds);
    const loss pareschi = handle_loss(MABD_INTEGRATOR_PARESCHI_RUSSO, seconds);
    cr_expect(euler.energy > 1.5 * sdirk2.energy && sdirk2.energy > 100 * bdf2.energy);
    cr_expect(pareschi.energy < sdirk2.energy / 100);
    cr_expect(bdf2.energy > 2 * trbdf2.energy);
    if (seconds < 10) return;
    cr_expect(bdf2.energy > 1.1e-4 / 2 && bdf2.energy < 1.1e-4 * 2, "bdf2 %g", bdf2.energy);
    cr_expect(trbdf2.energy > 1.5e-5 / 2 && trbdf2.energy < 1.5e-5 * 2, "trbdf2 %g", trbdf2.energy);
}

// ---- top: h = 0.1 ms, 10 s ---------------------------------------------------------------------

Test(quaternion_examples, top_keeps_its_rows_closed) {
    const mabd_integrator integrators[] = {MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_BDF2,
                                           MABD_INTEGRATOR_SDIRK2, MABD_INTEGRATOR_TRBDF2};
    for (size_t i = 0; i < sizeof integrators / sizeof integrators[0]; i++) {
        mabd_model* model = rig_file_model("scenes/heavy-top.json", NULL, NULL);
        const mabd_sim_def def = quaternion_def(integrators[i], 1e-4);
        mabd_sim* sim = rig_sim(model, &def);
        double gap = 0;
        const double start = mabd_sim_measure(sim).energy;
        for (int k = 0; k < AMOUNT(100000, 2000); k++) {
            rig_step(sim);
            gap = fmax(gap, mabd_sim_measure(sim).gap);
        }
        printf("top, %s: rows %.1e m, energy %+.1e\n", mabd_integrator_name(integrators[i]), gap,
               mabd_sim_measure(sim).energy / start - 1);
        cr_expect(gap <= 1e-10, "%g m", gap);
        rig_destroy(sim, model);
    }
}

// ---- pendulum without gravity: the angle after ten steps of 10 ms is 10 omega h ----------------

static double pendulum_error(mabd_integrator integrator, double baumgarte, const char* turn,
                             double* gap) {
    const mabd_setting setting = {"turn", turn};
    mabd_model* model = model_of("scenes/spin-pendulum.json", 1, &setting);
    mabd_sim_def def = quaternion_def(integrator, 0.01);
    if (integrator == MABD_INTEGRATOR_SEMI_IMPLICIT) def.quaternion.baumgarte = baumgarte;
    mabd_sim* sim = rig_sim(model, &def);
    double angle = 0;
    *gap = 0;
    for (int i = 0; i < 10; i++) {
        mabd_real q[4];
        rig_step(sim);
        const mabd_measure m = mabd_sim_measure(sim);
        *gap = fmax(*gap, fmax(m.gap, m.angle_error));
        mabd_sim_get_state(sim, NULL, q, NULL, NULL);
        angle +=
            remainder(2 * atan2(q[2], q[0]) - angle, 2 * acos(-1)); // less than half a turn a step
    }
    rig_destroy(sim, model);
    return fabs(angle - 10 * atof(turn));
}

Test(quaternion_examples, fast_pendulum_loses_its_angle_and_keeps_its_rows) {
    static const struct {
        const char* turn;
        double bdf2, trbdf2, euler; // [rad], of an implementation in another language
    } rows[] = {{"0.1", 2.5e-3, 3.3e-4, 3.9e-2},
                {"0.3", 8.0e-2, 1.1e-2, 6.8e-1},
                {"1.0", 2.7, 8.3e-1, 6.15}}; // euler: 1.3e-1 short of a turn
    const mabd_integrator methods[3] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_TRBDF2,
                                        MABD_INTEGRATOR_EULER};
    for (size_t i = 0; i < 3; i++) {
        const double expected[3] = {rows[i].bdf2, rows[i].trbdf2, rows[i].euler};
        for (int k = 0; k < 3; k++) {
            double gap;
            const double error = pendulum_error(methods[k], 0, rows[i].turn, &gap);
            printf("pendulum, omega h %s, %s: %.3e rad (%.1e), rows %.1e\n", rows[i].turn,
                   mabd_integrator_name(methods[k]), error, expected[k], gap);
            cr_expect(fabs(error / expected[k] - 1) < 0.1, "%g", error);
            cr_expect(gap <= 1e-12, "rows %g", gap);
        }
    }
}

// The baseline of [VQ App. D] leaves its rows open, the more the faster: by more than the largest
// single row of the other implementation, as a gap is the length of three.
Test(quaternion_examples, fast_pendulum_opens_its_rows_by_the_semi_implicit_baseline) {
    static const struct {
        const char* turn;
        double error[2], gap[2]; // baumgarte 0 and 1, of an implementation in another language
    } rows[] = {{"0.1", {1.6e-2, 5.4e-3}, {2e-2, 2e-3}},
                {"0.3", {3.5e-1, 1.5e-1}, {1e-1, 2e-2}},
                {"1.0", {4.88, 3.78}, {2e-1, 7e-2}}}; // 1.4 and 2.5 short of a turn
    for (size_t i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            double gap;
            const double error =
                pendulum_error(MABD_INTEGRATOR_SEMI_IMPLICIT, k, rows[i].turn, &gap);
            printf("pendulum, omega h %s, semi-implicit %d: %.3e rad (%.1e), rows %.1e (%.0e)\n",
                   rows[i].turn, k, error, rows[i].error[k], gap, rows[i].gap[k]);
            cr_expect(fabs(error / rows[i].error[k] - 1) < 0.1, "%g", error);
            cr_expect(gap > rows[i].gap[k], "rows %g", gap);
        }
    }
}

// ---- stand-ins: counts -------------------------------------------------------------------------

Test(quaternion_examples, stand_ins_have_the_published_counts) {
    static const struct {
        const char* scene;
        int32_t bodies, joints, rows, controls, world; // world: joints to the world
        int32_t loops;
    } cases[] = {{"scenes/satellite.json", 26, 37, 192, 7, 0, 12},
                 {"scenes/walker.json", 38, 45, 236, 22, 1, 7},
                 {"scenes/figure.json", 151, 198, 982, 27, 1, 47}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mabd_model* model = rig_file_model(cases[i].scene, NULL, NULL);
        const mabd_model_info info = mabd_model_get_info(model);
        int32_t world = 0;
        for (int32_t j = 0; j < info.joints; j++) {
            int32_t a = 0, b = 0;
            mabd_model_joint_type(model, j, &a, &b);
            world += a == MABD_WORLD || b == MABD_WORLD;
        }
        cr_expect(eq(i32, info.bodies, cases[i].bodies));
        cr_expect(eq(i32, info.joints, cases[i].joints));
        cr_expect(eq(i32, info.rows, cases[i].rows));
        cr_expect(eq(i32, mabd_model_control_count(model), cases[i].controls));
        cr_expect(eq(i32, world, cases[i].world));
        // all bodies are connected: loops = joints - (bodies - 1), or - bodies with the ground
        const int32_t tree = cases[i].bodies - (cases[i].world > 0 ? 0 : 1);
        cr_expect(eq(i32, info.joints - tree, cases[i].loops));
        mabd_model_destroy(model);
    }
}

// 6 per body less the freedoms is the rank: the satellite is free and its drives hold the rest, of
// the other two every freedom is driven.
Test(quaternion_examples, stand_ins_have_redundant_rows_and_no_freedom_of_their_own) {
    static const struct {
        const char* scene;
        int32_t redundant, freedoms;
    } cases[] = {{"scenes/satellite.json", 192 - (6 * 26 - 6), 6},
                 {"scenes/walker.json", 236 - 6 * 38, 0},
                 {"scenes/figure.json", 982 - 6 * 151, 0}};
    for (int i = 0; i < AMOUNT(3, 2); i++) {
        mabd_model* model = rig_file_model(cases[i].scene, NULL, NULL);
        const mabd_sim_def def = quaternion_def(MABD_INTEGRATOR_BDF2, 0.01);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_rank_info rank;
        mabd_error error = {0};
        rig_check(mabd_sim_get_rank(sim, &rank, &error), &error, "rank");
        cr_expect(eq(i32, rank.redundant, cases[i].redundant));
        cr_expect(eq(i32, rank.freedoms, cases[i].freedoms));
        rig_destroy(sim, model);
    }
}

// The heaviest body of the figure has 49.2 kg, the lightest 0.3 g.
Test(quaternion_examples, figure_has_the_published_range_of_masses) {
    mabd_model* model = rig_file_model("scenes/figure.json", NULL, NULL);
    double least = INFINITY, most = 0;
    for (int32_t i = 0; i < mabd_model_get_info(model).bodies; i++) {
        const double mass = mabd_model_body_mass(model, i).mass;
        least = fmin(least, mass), most = fmax(most, mass);
    }
    cr_expect(fabs(least - 0.3e-3) < 1e-12 && fabs(most - 49.2) < 1e-9, "%g, %g kg", least, most);
    mabd_model_destroy(model);
}

// ---- rows at the published steps, and at ten times the step ------------------------------------

typedef struct course {
    double gap, iterations, linear, angular; // largest row; mean; momenta at the end
    int unconverged;
} course;

// By the general solver, with the tolerance of [VQ], 1e-10: that of the preset exact, 1e-12, is
// below the round-off of the figure, where 0.3 g hang on 49.2 kg.
static course run_scene(const char* path, double h, int steps) {
    mabd_model* model = rig_file_model(path, NULL, NULL);
    mabd_sim_def def = quaternion_def(MABD_INTEGRATOR_BDF2, h);
    mabd_sim_def_apply_preset(&def, MABD_PRESET_BALANCED);
    def.quaternion.solver = MABD_SOLVER_GENERAL;
    mabd_sim* sim = rig_sim(model, &def);
    course out = {0, 0, 0, 0, 0};
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        out.gap = fmax(out.gap, fmax(now.gap, now.angle_error));
        out.iterations += (double)info.iterations / steps;
        out.unconverged += !info.converged;
        out.linear = rig_norm(now.linear_momentum), out.angular = rig_norm(now.angular_momentum);
    }
    printf("%s, h %g: rows %.1e, %.2f iterations, momenta %.1e %.1e\n", path, h, out.gap,
           out.iterations, out.linear, out.angular);
    rig_destroy(sim, model);
    return out;
}

Test(quaternion_examples, stand_ins_keep_all_rows_closed) {
    static const struct {
        const char* scene;
        double h;
        int steps, sanitized;
    } cases[] = {{"scenes/satellite.json", 0.033, 300, 30},
                 {"scenes/walker.json", 0.01, 300, 30},
                 {"scenes/walker.json", 0.1, 98, 12},
                 {"scenes/figure.json", 0.033, 100, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const course c =
            run_scene(cases[i].scene, cases[i].h, AMOUNT(cases[i].steps, cases[i].sanitized));
        cr_expect(c.gap <= 1e-10, "%s, h %g: %g", cases[i].scene, cases[i].h, c.gap);
        cr_expect(eq(int, c.unconverged, 0));
    }
}

// The semi-implicit baseline opens the rows of the walker where the implicit methods keep them.
Test(quaternion_examples, walker_opens_its_rows_by_the_semi_implicit_baseline) {
    mabd_model* model = rig_file_model("scenes/walker.json", NULL, NULL);
    mabd_sim_def def = quaternion_def(MABD_INTEGRATOR_SEMI_IMPLICIT, 0.1);
    mabd_sim* sim = rig_sim(model, &def);
    double gap = 0;
    for (int i = 0; i < 24; i++) {
        if (mabd_sim_step(sim, NULL, NULL) != MABD_OK) break;
        const mabd_measure now = mabd_sim_measure(sim);
        gap = fmax(gap, fmax(now.gap, now.angle_error));
    }
    printf("walker, semi-implicit, h 0.1: rows %.1e\n", gap);
    cr_expect(gap > 1e-3, "%g", gap);
    rig_destroy(sim, model);
}

// Drives are internal forces: a free satellite at rest keeps its momenta of 0, the linear one to
// round-off. Its moments of inertia turn within a step, so the angular one is of the order of the
// steps.
Test(quaternion_examples, satellite_keeps_its_momenta) {
    const course coarse = run_scene("scenes/satellite.json", 0.066, AMOUNT(75, 20));
    const course fine = run_scene("scenes/satellite.json", 0.033, AMOUNT(150, 40));
    cr_expect(coarse.linear < 1e-10 && fine.linear < 1e-10, "%g", coarse.linear);
    cr_expect(fine.angular < coarse.angular / 3, "%g, %g", coarse.angular, fine.angular);
    cr_expect(fine.angular < 1e-3, "%g", fine.angular);
}

// ---- the same mechanism solved in another way --------------------------------------------------

// Poses (bodies x 3) and joint forces (joints x 6) after some steps.
static void solve_by(mabd_model* model, mabd_solver solver, double h, int steps, mabd_real* x,
                     mabd_real* forces) {
    mabd_sim_def def = quaternion_def(MABD_INTEGRATOR_BDF2, h);
    mabd_sim_def_apply_preset(&def, MABD_PRESET_BALANCED);
    def.quaternion.solver = solver;
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < steps; i++) rig_step(sim);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    mabd_sim_get_joint_forces(sim, forces);
    mabd_sim_destroy(sim);
}

static double largest_difference(const mabd_real* a, const mabd_real* b, int count, double* size) {
    double most = 0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(a[i] - b[i])), *size = fmax(*size, fabs(a[i]));
    }
    return most;
}

Test(quaternion_examples, driven_stand_ins_move_the_same_by_rows_alone) {
    static mabd_real x[2][3 * 151], forces[2][6 * 198];
    const char* scenes[] = {"scenes/walker.json", "scenes/figure.json"};
    const double h[] = {0.01, 0.033};
    for (int i = 0; i < 2; i++) {
        mabd_model* model = rig_file_model(scenes[i], NULL, NULL);
        const mabd_model_info info = mabd_model_get_info(model);
        const int steps = AMOUNT(20, 5);
        solve_by(model, MABD_SOLVER_GENERAL, h[i], steps, x[0], forces[0]);
        solve_by(model, MABD_SOLVER_FULLY_CONSTRAINED, h[i], steps, x[1], forces[1]);
        double place = 0, force = 0;
        const double d = largest_difference(x[0], x[1], 3 * info.bodies, &place);
        const double f = largest_difference(forces[0], forces[1], 6 * info.joints, &force);
        printf("%s: poses differ by %.1e m, forces by %.1e of %.3g\n", scenes[i], d, f, force);
        cr_expect(d < 1e-12, "%g m", d);
        cr_expect(f < 1e-8 * force, "%g of %g", f, force);
        mabd_model_destroy(model);
    }
}

// ---- weights -----------------------------------------------------------------------------------

// True for a drive of a leg; axis (3) gets its direction in the start pose, world.
static bool leg_drive(const mabd_model* model, int32_t joint, double* axis) {
    char name[128];
    mabd_model_joint_name(model, joint, name, sizeof name);
    const char* part = strchr(name, '/');
    if (part == NULL) return false;
    axis[0] = strstr(part, "roll") != NULL, axis[2] = strcmp(part, "/yaw") == 0;
    axis[1] = 1 - axis[0] - axis[2];
    return true;
}

// x turned by q and back by p: q conj(p) x p conj(q).
static void carry(const mabd_real* q, const mabd_real* p, const double* x, double* y) {
    double in[3] = {x[0], x[1], x[2]};
    for (int pass = 0; pass < 2; pass++) {
        const mabd_real* r = pass ? q : p;
        const double s = pass ? 1 : -1, v[3] = {s * r[1], s * r[2], s * r[3]};
        const double t[3] = {2 * (v[1] * in[2] - v[2] * in[1]), 2 * (v[2] * in[0] - v[0] * in[2]),
                             2 * (v[0] * in[1] - v[1] * in[0])};
        y[0] = in[0] + r[0] * t[0] + v[1] * t[2] - v[2] * t[1];
        y[1] = in[1] + r[0] * t[1] + v[2] * t[0] - v[0] * t[2];
        y[2] = in[2] + r[0] * t[2] + v[0] * t[1] - v[1] * t[0];
        memcpy(in, y, sizeof in);
    }
}

#define WALKER_BODIES   38
#define WALKER_JOINTS   45
#define WALKER_CONTROLS 22

// Torques of the drives of the legs by control: components of the joint wrenches along the axes
// that body a carries. 0 for the carrier. start: quaternions of the start pose.
static void drive_torques(const mabd_sim* sim, const mabd_real* start, double* torques) {
    static mabd_real q[4 * WALKER_BODIES], forces[6 * WALKER_JOINTS];
    const mabd_model* model = mabd_sim_model(sim);
    mabd_sim_get_state(sim, NULL, q, NULL, NULL);
    mabd_sim_get_joint_forces(sim, forces);
    for (int32_t i = 0; i < WALKER_CONTROLS; i++) {
        const int32_t joint = mabd_model_control(model, i).joint;
        int32_t a = 0, b = 0;
        double axis[3], now[3];
        torques[i] = 0;
        if (!leg_drive(model, joint, axis)) continue;
        mabd_model_joint_type(model, joint, &a, &b);
        carry(q + 4 * a, start + 4 * a, axis, now);
        for (int k = 0; k < 3; k++) torques[i] += now[k] * forces[6 * joint + 3 + k];
    }
}

// Root mean square of the torques of the drives of the legs over a step of the walker.
static double rms_torque(const char* weight, int steps) {
    static mabd_real start[4 * WALKER_BODIES];
    const mabd_setting setting = {"weight", weight};
    mabd_model* model = model_of("scenes/walker.json", 1, &setting);
    const mabd_sim_def def = quaternion_def(MABD_INTEGRATOR_BDF2, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    double sum = 0, torques[WALKER_CONTROLS];
    mabd_sim_get_state(sim, NULL, start, NULL, NULL);
    for (int i = 0; i < steps; i++) {
        rig_step(sim);
        drive_torques(sim, start, torques);
        for (int k = 0; k < WALKER_CONTROLS; k++) sum += torques[k] * torques[k];
    }
    rig_destroy(sim, model);
    return sqrt(sum / steps / (WALKER_CONTROLS - 6));
}

// Uniform weights leave the load to the drives that need no force in a rod; 1e5 on the torques of
// the drives shares it among those that act in concert ([VQ]: 63 % more torque on their robot).
Test(quaternion_examples, uniform_weights_need_more_torque_of_the_walker) {
    const int steps = AMOUNT(120, 20);
    const double uniform = rms_torque("1", steps), weighted = rms_torque("1e5", steps);
    printf("walker: rms torque %.3f N m uniform, %.3f weighted, ratio %.2f\n", uniform, weighted,
           uniform / weighted);
    cr_expect(uniform > 1.2 * weighted, "%g, %g", uniform, weighted);
}

// ---- replay ------------------------------------------------------------------------------------

#define DAMPING     5
#define DRIVE_RIGID "\"servo_rigid\": true, \"weight\""
#define DRIVE_PD    "\"servo_stiffness\": 100, \"servo_damping\": 5, \"motor\": 0, \"weight\""

// The walker with motors and servos of 100 N m/rad and 5 N m s/rad in place of the rigid servos of
// its legs.
static mabd_model* walker_by_torque(void) {
    static char text[1 << 16], changed[1 << 16];
    FILE* file = fopen(MABD_SOURCE_DIR "/scenes/walker.json", "r");
    cr_assert_not_null(file);
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    cr_assert(length < sizeof text - 1);
    text[length] = '\0';
    char* to = changed;
    int count = 0;
    for (const char* at = text; *at != '\0';) {
        if (strncmp(at, DRIVE_RIGID, strlen(DRIVE_RIGID)) == 0) {
            to += sprintf(to, "%s", DRIVE_PD);
            at += strlen(DRIVE_RIGID), count++;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
    cr_assert(eq(int, count, WALKER_CONTROLS - 6));
    return rig_text_model(changed);
}

// Set the motors of the walker by torque to the torques (WALKER_CONTROLS) of the rigid drives.
static void set_motors(mabd_sim* sim, const mabd_model* rigid, const double* torques) {
    enum { MOST = 2 * WALKER_CONTROLS };
    const mabd_model* model = mabd_sim_model(sim);
    const int32_t count = mabd_model_control_count(model);
    bool which[MOST] = {false};
    mabd_real values[MOST] = {0};
    mabd_error error = {0};
    cr_assert(eq(i32, count, 2 * WALKER_CONTROLS - 6));
    for (int32_t i = 0; i < count; i++) {
        const mabd_control_info control = mabd_model_control(model, i);
        if (control.kind != MABD_CONTROL_FORCE) continue;
        which[i] = true;
        for (int32_t k = 0; k < WALKER_CONTROLS; k++) {
            if (mabd_model_control(rigid, k).joint == control.joint) values[i] = torques[k];
        }
    }
    rig_check(mabd_sim_set_targets(sim, 0, 1, which, values, &error), &error, "targets");
}

// Add DAMPING times the rates of the rigid drives: dampers of servos act on the rate, and a
// position control needs the error of the rate.
static void add_rates(const mabd_sim* rigid, double* torques) {
    mabd_real rates[WALKER_CONTROLS];
    mabd_sim_get_controls(rigid, NULL, rates);
    for (int32_t i = 0; i < WALKER_CONTROLS; i++) torques[i] += DAMPING * rates[i];
}

// Largest difference of the coordinates of the leg drives of both walkers [rad]; adds their sum.
static double replay_error(const mabd_sim* rigid, const mabd_sim* free, double* sum) {
    mabd_real a[WALKER_CONTROLS], b[2 * WALKER_CONTROLS];
    const mabd_model *from = mabd_sim_model(rigid), *to = mabd_sim_model(free);
    double most = 0;
    mabd_sim_get_controls(rigid, a, NULL);
    mabd_sim_get_controls(free, b, NULL);
    for (int32_t i = 0; i < mabd_model_control_count(to); i++) {
        const mabd_control_info control = mabd_model_control(to, i);
        if (control.kind != MABD_CONTROL_FORCE) continue;
        for (int32_t k = 0; k < WALKER_CONTROLS; k++) {
            if (mabd_model_control(from, k).joint != control.joint) continue;
            most = fmax(most, fabs(a[k] - b[i]));
            *sum += fabs(a[k] - b[i]);
        }
    }
    return most;
}

// Torques of the rigid drives, replayed as motors that hold the mean over each step with a weak
// position control beside them, move the walker in the same way ([VQ]: 0.03 degrees mean, 1.44
// peak).
static void replay(bool feed_forward, int steps, double* mean, double* peak) {
    static mabd_real start[4 * WALKER_BODIES];
    mabd_model* models[2] = {rig_file_model("scenes/walker.json", NULL, NULL), walker_by_torque()};
    const mabd_sim_def def = quaternion_def(MABD_INTEGRATOR_TRBDF2, 0.01);
    mabd_sim *rigid = rig_sim(models[0], &def), *free = rig_sim(models[1], &def);
    double before[WALKER_CONTROLS] = {0}, now[WALKER_CONTROLS], held[WALKER_CONTROLS], sum = 0;
    mabd_sim_get_state(rigid, NULL, start, NULL, NULL);
    *peak = 0;
    for (int i = 0; i < steps; i++) {
        rig_step(rigid);
        memset(now, 0, sizeof now);
        if (feed_forward) drive_torques(rigid, start, now);
        add_rates(rigid, now);
        for (int k = 0; k < WALKER_CONTROLS; k++)
            held[k] = ((i > 0 ? before : now)[k] + now[k]) / 2;
        memcpy(before, now, sizeof before);
        set_motors(free, models[0], held);
        rig_step(free);
        *peak = fmax(*peak, replay_error(rigid, free, &sum));
    }
    *mean = sum / steps / (WALKER_CONTROLS - 6);
    rig_destroy(rigid, models[0]);
    rig_destroy(free, models[1]);
}

Test(quaternion_examples, torques_of_the_walker_replay_its_motion) {
    const double degrees = 180 / acos(-1);
    double mean, peak, without, ignored;
    const int steps = AMOUNT(240, 20);
    replay(true, steps, &mean, &peak);
    replay(false, steps, &without, &ignored);
    printf("walker: replay off by %.2e degrees mean, %.2e peak; %.2e mean without torques\n",
           mean * degrees, peak * degrees, without * degrees);
    cr_expect(mean * degrees <= 0.03, "%g", mean * degrees);
    cr_expect(peak * degrees <= 1.44, "%g", peak * degrees);
    cr_expect(mean < without / 10, "%g, %g", mean, without);
}
