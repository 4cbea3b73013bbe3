// SPDX-License-Identifier: Apache-2.0
// Orders of the integrators of the redmax formulation, energies, and forces of joints.
//
// References: Lagrange's equations of a double pendulum and Euler's equations of a free body and of
// a top (support/reference.c), RK4 at 1e-4 s. Forces of the upper hinge of the pendulum are
// sum m (c'' - g) with accelerations of the reference.

#include "support/reference.h"
#include "support/rig.h"
#include "support/sanitized.h"

#define G     9.81
#define WIDTH 0.04
#define MASS  (1000 * WIDTH * WIDTH)

static mabd_sim_def def_of(mabd_integrator integrator, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX;
    def.integrator = integrator;
    return def;
}

static void run_to(mabd_sim* sim, double time) {
    while (mabd_sim_time(sim) < time - 1e-9) rig_step(sim);
}

// ---- double pendulum ---------------------------------------------------------------------------

static reference_double_pendulum pendulum(void) {
    const double inertia = MASS * (1 + WIDTH * WIDTH) / 12;
    const reference_double_pendulum p = {.mass = {MASS, MASS},
                                         .center = {0.5, 0.5},
                                         .inertia = {inertia, inertia},
                                         .length = 1,
                                         .gravity = G};
    return p;
}

// reversed: joints lead from the lower body to the upper one, and to the world.
static mabd_model* pendulum_model(bool reversed) {
    mabd_scene* scene = rig_scene((mabd_real)-G);
    const int32_t upper = rig_add_rod(scene, 0, 1, (mabd_real)WIDTH, 1e12);
    const int32_t lower = rig_add_rod(scene, 1, 1, (mabd_real)WIDTH, 1e12);
    rig_add_joint(scene, MABD_JOINT_HINGE, reversed ? upper : MABD_WORLD,
                  reversed ? MABD_WORLD : upper, 0, 0);
    rig_add_joint(scene, MABD_JOINT_HINGE, reversed ? lower : upper, reversed ? upper : lower, 1,
                  0);
    return rig_model(scene);
}

// Largest error of the two angles at the time that the reference y belongs to.
static double pendulum_error(const mabd_sim* sim, const double* y) {
    const double x[3] = {1, 0, 0};
    mabd_real q[8];
    double worst = 0;
    mabd_sim_get_state(sim, NULL, q, NULL, NULL);
    for (int k = 0; k < 2; k++) {
        double axis[3];
        reference_rotate(q + 4 * k, x, axis);
        const double miss = atan2(axis[0], -axis[2]) - y[k];
        worst = fmax(worst, fabs(remainder(miss, 2 * acos(-1))));
    }
    return worst;
}

// Force of the upper hinge on the upper rod (x, z), from the reference state.
static void hinge_force(const double* y, double* force) {
    const reference_double_pendulum p = pendulum();
    double dy[4], along[2][2], across[2][2];
    reference_double_pendulum_rate(&p, y, dy);
    for (int k = 0; k < 2; k++) { // second derivative of (sin, -cos) of an angle
        across[k][0] = cos(y[k]), across[k][1] = sin(y[k]);
        along[k][0] = -sin(y[k]), along[k][1] = cos(y[k]);
    }
    for (int c = 0; c < 2; c++) {
        const double first = dy[2] * across[0][c] + y[2] * y[2] * along[0][c];
        const double second = dy[3] * across[1][c] + y[3] * y[3] * along[1][c];
        force[c] =
            MASS * (0.5 * first) + MASS * (first + 0.5 * second) + (c == 1 ? 2 * MASS * G : 0);
    }
}

static void pendulum_reference(double time, double* y) {
    const reference_double_pendulum p = pendulum();
    y[0] = y[1] = acos(-1) / 2, y[2] = y[3] = 0;
    reference_rk4(reference_double_pendulum_rate, &p, 4, 1e-4, lround(time / 1e-4), y);
}

#define LEVELS 4

// Errors of the angles after 1 s, and of the force of the upper hinge.
static void pendulum_errors(mabd_integrator integrator, bool reversed, double h, double* errors,
                            double* force_errors) {
    mabd_model* model = pendulum_model(reversed);
    double y[4], force[2];
    pendulum_reference(1, y);
    hinge_force(y, force);
    for (int i = 0; i < LEVELS; i++) {
        const mabd_sim_def def = def_of(integrator, ldexp(h, -i));
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real forces[12];
        run_to(sim, 1);
        errors[i] = pendulum_error(sim, y);
        mabd_sim_get_joint_forces(sim, forces);
        const double sign = reversed ? -1 : 1; // on b
        force_errors[i] = hypot(sign * forces[0] - force[0], sign * forces[2] - force[1]);
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

static void expect_order(const char* what, double h, const double* errors, double expected) {
    const double order = rig_order(what, h, LEVELS, errors);
    cr_expect(ge(dbl, order, expected - 0.15), "%s: order %g", what, order);
}

Test(redmax_order, of_a_double_pendulum_and_of_its_joint_forces) {
    const struct {
        mabd_integrator integrator;
        const char* name;
        double h, order;
    } cases[] = {{MABD_INTEGRATOR_EULER, "euler", 0.0025, 1},
                 {MABD_INTEGRATOR_BDF2, "bdf2", 0.01, 2},
                 {MABD_INTEGRATOR_SDIRK2, "sdirk2", 0.02, 2},
                 {MABD_INTEGRATOR_LINEAR_IMPLICIT, "linear-implicit", 0.0025, 1},
                 {MABD_INTEGRATOR_SEMI_IMPLICIT, "semi-implicit", 0.0025, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int reversed = 0; reversed < 2; reversed++) {
            double errors[LEVELS], forces[LEVELS];
            pendulum_errors(cases[i].integrator, reversed, cases[i].h, errors, forces);
            expect_order(cases[i].name, cases[i].h, errors, cases[i].order);
            expect_order("  force of the hinge [N]", cases[i].h, forces, cases[i].order);
        }
    }
}

// Bdf2 starts by sdirk2. A first step by implicit Euler makes 8 to 38 times the error on the
// pendulum, 1.1e-3 rad at 10 ms.
Test(redmax_order, bdf2_starts_at_second_order) {
    mabd_scene* scene = rig_scene((mabd_real)-G);
    rig_add_joint(scene, MABD_JOINT_HINGE, MABD_WORLD,
                  rig_add_rod(scene, 0, 1, (mabd_real)WIDTH, 1e12), 0, 0);
    mabd_model* model = rig_model(scene);
    double angle[2];
    for (int i = 0; i < 2; i++) { // i = 1: the reference
        mabd_sim_def def = def_of(i ? MABD_INTEGRATOR_RK45 : MABD_INTEGRATOR_BDF2, 0.01);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real x[3];
        run_to(sim, 1);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        angle[i] = atan2(x[0], -x[2]);
        mabd_sim_destroy(sim);
    }
    printf("bdf2, pendulum, 10 ms: %.1e rad\n", fabs(angle[0] - angle[1]));
    cr_expect(lt(dbl, fabs(angle[0] - angle[1]), 2e-4));
    mabd_model_destroy(model);
}

// Four links on balls, let go level with a push sideways, against steps of rk45 with a tolerance of
// 1e-11.
Test(redmax_order, of_a_chain_of_balls) {
    const mabd_integrator methods[] = {MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_BDF2,
                                       MABD_INTEGRATOR_SDIRK2};
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 4, chain.length = (mabd_real)0.25, chain.angular_velocity[2] = 2;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-G);
    mabd_real exact[12], x[12];
    for (int k = -1; k < 3; k++) {
        const double order = k > 0 ? 2 : 1, h = k < 0 ? 0.01 : order < 2 ? 0.00125 : 0.005;
        double errors[LEVELS];
        for (int i = 0; i < (k < 0 ? 1 : LEVELS); i++) {
            const mabd_sim_def def =
                def_of(k < 0 ? MABD_INTEGRATOR_RK45 : methods[k], ldexp(h, -i));
            mabd_sim* sim = rig_sim(model, &def);
            run_to(sim, 0.3);
            mabd_sim_get_state(sim, k < 0 ? exact : x, NULL, NULL, NULL);
            errors[i] = 0;
            for (int b = 0; b < 4 && k >= 0; b++) {
                errors[i] = fmax(errors[i], rig_distance(x + 3 * b, exact + 3 * b));
            }
            mabd_sim_destroy(sim);
        }
        if (k >= 0) expect_order(mabd_integrator_name(methods[k]), h, errors, order);
    }
    mabd_model_destroy(model);
}

// Rk45 meets its tolerance on the double pendulum, within a factor of 10 after 1 s.
Test(redmax_order, rk45_meets_its_tolerance) {
    mabd_model* model = pendulum_model(false);
    double y[4];
    pendulum_reference(1, y);
    for (double tolerance = 1e-4; tolerance > 1e-11; tolerance /= 100) {
        mabd_sim_def def = def_of(MABD_INTEGRATOR_RK45, 0.1);
        def.redmax.newton_tolerance = (mabd_real)tolerance;
        mabd_sim* sim = rig_sim(model, &def);
        run_to(sim, 1);
        const double error = pendulum_error(sim, y);
        printf("rk45 tolerance %.0e: error %.1e\n", tolerance, error);
        cr_expect(lt(dbl, error, 10 * tolerance));
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// Largest loss and gain of energy over 10 s of h = 10 ms, relative to the largest kinetic energy.
static void energy_range(mabd_integrator integrator, double* loss, double* gain) {
    mabd_model* model = pendulum_model(false);
    const mabd_sim_def def = def_of(integrator, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    double kinetic = 0;
    *loss = *gain = 0;
    for (int i = 0; i < AMOUNT(1000, 300); i++) {
        rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        kinetic = fmax(kinetic, now.kinetic);
        *loss = fmax(*loss, start - now.energy), *gain = fmax(*gain, now.energy - start);
    }
    *loss /= kinetic, *gain /= kinetic;
    printf("%-16s loses %.1e, gains %.1e of the energy\n", mabd_integrator_name(integrator), *loss,
           *gain);
    rig_destroy(sim, model);
}

Test(redmax_order, sdirk2_keeps_the_energy_best) {
    double euler[2], bdf2[2], sdirk2[2];
    energy_range(MABD_INTEGRATOR_EULER, &euler[0], &euler[1]);
    energy_range(MABD_INTEGRATOR_BDF2, &bdf2[0], &bdf2[1]);
    energy_range(MABD_INTEGRATOR_SDIRK2, &sdirk2[0], &sdirk2[1]);
    cr_expect(lt(dbl, 10 * sdirk2[0], bdf2[0]));
    cr_expect(lt(dbl, bdf2[0], 0.05));
    cr_expect(lt(dbl, 0.1, euler[0]));
    cr_expect(lt(dbl, sdirk2[1], 1e-3));
}

// ---- free body and top -------------------------------------------------------------------------

// A box, free or on a ball joint at the world's origin, which is `arm` away from its centre.
static mabd_model* top_model(const double* arm, const double* spin, bool joined, bool reversed,
                             reference_top* reference) {
    const mabd_real size[3] = {(mabd_real)0.3, (mabd_real)0.2, (mabd_real)0.1};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(joined ? (mabd_real)-G : 0);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom;
    const double m = 6, sq[3] = {0.09, 0.04, 0.01};
    *reference = (reference_top){.weight = {0, 0, joined ? -m * G : 0}};
    const double r2 = arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2];
    for (int k = 0; k < 3; k++) {
        body.angular_velocity[k] = (mabd_real)spin[k];
        body.position[k] = (mabd_real)arm[k];
        reference->inertia[k] = m * (sq[(k + 1) % 3] + sq[(k + 2) % 3]) / 12 +
                                (joined ? m * (r2 - arm[k] * arm[k]) : 0);
        reference->arm[k] = arm[k];
    }
    for (int k = 0; k < 3; k++) { // velocity of the centre: spin x arm
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        body.velocity[k] = (mabd_real)(joined ? spin[i] * arm[j] - spin[j] * arm[i] : 0);
    }
    const int32_t id = rig_add_body(scene, &body);
    if (joined) {
        mabd_joint_def joint = mabd_default_joint_def();
        joint.a = reversed ? id : MABD_WORLD, joint.b = reversed ? MABD_WORLD : id;
        rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
    }
    return rig_model(scene);
}

// Angle between the body and the reference after `time`.
static void top_errors(const mabd_model* model, const reference_top* reference, const double* spin,
                       mabd_integrator integrator, double h, double* errors) {
    double y[7] = {1, 0, 0, 0, spin[0], spin[1], spin[2]};
    reference_rk4(reference_top_rate, reference, 7, 1e-4, 10000, y);
    const double norm = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]);
    for (int i = 0; i < LEVELS; i++) {
        const mabd_sim_def def = def_of(integrator, ldexp(h, -i));
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real q[4];
        run_to(sim, 1);
        mabd_sim_get_state(sim, NULL, q, NULL, NULL);
        const double dot = (q[0] * y[0] + q[1] * y[1] + q[2] * y[2] + q[3] * y[3]) / norm;
        errors[i] = 2 * sqrt(fmax(0, 2 - 2 * fmin(1, fabs(dot)))); // 2 |q - y|: the angle
        mabd_sim_destroy(sim);
    }
}

static void check_top(const char* what, const double* arm, const double* spin, bool joined,
                      bool reversed, double h) {
    const struct {
        mabd_integrator integrator;
        double order;
    } cases[] = {
        {MABD_INTEGRATOR_EULER, 1}, {MABD_INTEGRATOR_BDF2, 2}, {MABD_INTEGRATOR_SDIRK2, 2}};
    reference_top reference;
    mabd_model* model = top_model(arm, spin, joined, reversed, &reference);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double errors[LEVELS];
        char text[64];
        snprintf(text, sizeof text, "%s, %s", what, mabd_integrator_name(cases[i].integrator));
        const double step = cases[i].order < 2 ? h / 4 : h;
        top_errors(model, &reference, spin, cases[i].integrator, step, errors);
        expect_order(text, step, errors, cases[i].order);
    }
    mabd_model_destroy(model);
}

Test(redmax_order, of_a_free_body) {
    const double arm[3] = {0, 0, 0}, spin[3] = {0.3, 5, 0.4}; // about its intermediate axis
    check_top("free body", arm, spin, false, false, 0.01);
}

Test(redmax_order, of_a_top_on_a_ball_joint_in_both_directions) {
    const double along[3] = {0, 0, 0.2}, spin[3] = {1, 2, 10};
    check_top("top", along, spin, true, false, 0.005);
    check_top("top, from b", along, spin, true, true, 0.005);
}
