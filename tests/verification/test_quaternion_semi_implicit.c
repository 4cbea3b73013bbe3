// SPDX-License-Identifier: Apache-2.0
// Semi-implicit Euler with Baumgarte's stabilisation [VQ App. D]: two steps of a pendulum by hand,
// drift, order, and what it refuses.

#include "support/rig.h"

#define MASS    2.0
#define INERTIA 0.3 // about the axis, at the centre
#define ARM     0.7 // from the centre to the hinge
#define G       9.81

static mabd_model* pendulum(double rate, double gravity, const char* axes) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, %.17g, 0], \"bodies\": [{\"name\": \"b\", \"mass\": %g,"
             " \"inertia\": [0.2, 0.25, %g], \"position\": [%g, 0, 0],"
             " \"velocity\": [0, %.17g, 0], \"angular_velocity\": [0, 0, %.17g]}], \"joints\": ["
             "{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"b\", \"anchor\": [0, 0, 0],"
             " \"axis\": [0, 0, 1]%s}]}",
             -gravity, MASS, INERTIA, ARM, rate * ARM, rate, axes);
    return rig_text_model(text);
}

static mabd_sim_def semi_def(double alpha, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_QUATERNION;
    def.integrator = MABD_INTEGRATOR_SEMI_IMPLICIT;
    def.quaternion.baumgarte = (mabd_real)alpha;
    return def;
}

// ---- by hand -----------------------------------------------------------------------------------

// The pendulum in its plane: centre, angle, velocities, force of the hinge.
typedef struct plane {
    double x[2], angle, v[2], rate, force[2];
} plane;

// With r from the centre to the hinge and n = (-r_y, r_x):
//   v+ = v + h (g + F/m),  o+ = o + h n.F/I,  v+ + o+ n = -alpha (x + r)/h
static void step_by_hand(plane* p, double alpha, double h, double gravity) {
    const double r[2] = {-ARM * cos(p->angle), -ARM * sin(p->angle)}, n[2] = {-r[1], r[0]};
    double K[2][2], b[2];
    for (int i = 0; i < 2; i++) {
        const double free = p->v[i] - (i == 1 ? h * gravity : 0) + p->rate * n[i];
        b[i] = -alpha * (p->x[i] + r[i]) / h - free;
        for (int k = 0; k < 2; k++) K[i][k] = h * ((i == k) / MASS + n[i] * n[k] / INERTIA);
    }
    const double det = K[0][0] * K[1][1] - K[0][1] * K[1][0];
    p->force[0] = (K[1][1] * b[0] - K[0][1] * b[1]) / det;
    p->force[1] = (K[0][0] * b[1] - K[1][0] * b[0]) / det;
    for (int i = 0; i < 2; i++) {
        p->v[i] += h * (p->force[i] / MASS - (i == 1 ? gravity : 0));
        p->rate += h * n[i] * p->force[i] / INERTIA;
        p->x[i] += h * p->v[i];
    }
    p->angle += h * p->rate;
}

Test(quaternion_semi_implicit, two_steps_of_a_pendulum_by_hand) {
    const double alphas[3] = {0, 0.3, 1}, h = 0.01;
    for (int k = 0; k < 3; k++) {
        mabd_model* model = pendulum(3, G, "");
        const mabd_sim_def def = semi_def(alphas[k], h);
        mabd_sim* sim = rig_sim(model, &def);
        plane p = {{ARM, 0}, 0, {0, 3 * ARM}, 3, {0, 0}};
        for (int i = 0; i < 2; i++) {
            mabd_real x[3], q[4], v[3], w[3], f[6];
            step_by_hand(&p, alphas[k], h, G);
            rig_step(sim);
            mabd_sim_get_state(sim, x, q, v, w);
            mabd_sim_get_joint_forces(sim, f);
            const double angle = 2 * atan2(q[3], q[0]);
            cr_expect(lt(dbl, hypot(x[0] - p.x[0], x[1] - p.x[1]), 1e-13), "step %d", i);
            cr_expect(lt(dbl, fabs(angle - p.angle), 1e-13), "step %d: %g", i, angle - p.angle);
            cr_expect(lt(dbl, hypot(v[0] - p.v[0], v[1] - p.v[1]), 1e-13), "step %d", i);
            cr_expect(lt(dbl, fabs(w[2] - p.rate), 1e-13), "step %d", i);
            // forces have the round-off of velocities over h
            cr_expect(lt(dbl, hypot(f[0] - p.force[0], f[1] - p.force[1]), 1e-11), "step %d", i);
        }
        rig_destroy(sim, model);
    }
}

// ---- drift -------------------------------------------------------------------------------------

// Largest gap in a second, and that of the last tenth.
static void find_gaps(double alpha, double h, double* most, double* last) {
    mabd_model* model = pendulum(4, G, "");
    const mabd_sim_def def = semi_def(alpha, h);
    mabd_sim* sim = rig_sim(model, &def);
    const int steps = (int)lround(2 / h);
    *most = *last = 0;
    for (int i = 0; i < steps; i++) {
        rig_step(sim);
        const double gap = mabd_sim_measure(sim).gap;
        *most = fmax(*most, gap);
        if (i > 0.9 * steps) *last = fmax(*last, gap);
    }
    printf("alpha %g, h %g ms: largest gap %.2e m, at the end %.2e m\n", alpha, 1e3 * h, *most,
           *last);
    rig_destroy(sim, model);
}

// Without stabilisation the hinge drifts open at first order of h; with it the gap is that of one
// step, h^2 o^2 ARM/2, and does not grow.
Test(quaternion_semi_implicit, stabilisation_stops_the_drift) {
    double most[2][2], last[2][2];
    for (int k = 0; k < 2; k++) {
        find_gaps(0, 0.01 / (1 + k), &most[0][k], &last[0][k]);
        find_gaps(1, 0.01 / (1 + k), &most[1][k], &last[1][k]);
        const double h = 0.01 / (1 + k),
                     rate = sqrt(16 + 4 * G * ARM * MASS / (INERTIA + MASS * ARM * ARM));
        cr_expect(lt(dbl, most[1][k], h * h * rate * rate * ARM), "h %g", h);
        cr_expect(lt(dbl, 10 * most[1][k], last[0][k]), "h %g: drifts", h);
    }
    cr_expect(lt(dbl, fabs(log2(most[1][0] / most[1][1]) - 2), 0.2));
    cr_expect(lt(dbl, fabs(log2(last[0][0] / last[0][1]) - 1), 0.3));
}

// ---- order -------------------------------------------------------------------------------------

// (I + m l^2) p'' = -m g l cos p by RK4 with steps of 10 us.
static double angle_at(double seconds) {
    const double h = 1e-5, k = MASS * G * ARM / (INERTIA + MASS * ARM * ARM);
    double p = 0, w = 3;
    for (int i = 0; i < (int)lround(seconds / h); i++) {
        const double a1 = -k * cos(p), w2 = w + h / 2 * a1, a2 = -k * cos(p + h / 2 * w);
        const double w3 = w + h / 2 * a2, a3 = -k * cos(p + h / 2 * w2);
        const double w4 = w + h * a3, a4 = -k * cos(p + h * w3);
        p += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
        w += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
    return p;
}

Test(quaternion_semi_implicit, is_of_first_order) {
    const double expected = angle_at(0.5);
    for (int a = 0; a < 2; a++) {
        double errors[4];
        for (int k = 0; k < 4; k++) {
            mabd_model* model = pendulum(3, G, "");
            const mabd_sim_def def = semi_def(a, 0.004 / (1 << k));
            mabd_sim* sim = rig_sim(model, &def);
            mabd_real q[4];
            for (int i = 0; i < 125 << k; i++) rig_step(sim);
            mabd_sim_get_state(sim, NULL, q, NULL, NULL);
            errors[k] = fabs(2 * atan2(q[3], q[0]) - expected);
            rig_destroy(sim, model);
        }
        rig_order(a ? "alpha 1" : "alpha 0", 0.004, 4, errors);
        for (int k = 1; k < 4; k++) {
            const double order = log2(errors[k - 1] / errors[k]);
            cr_expect(order > 0.9 && order < 1.2, "alpha %d: order %g", a, order);
        }
    }
}

// ---- what it refuses ---------------------------------------------------------------------------

static void expect_refused(const mabd_model* model, const mabd_sim_def* def, mabd_status status,
                           const char* what) {
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    cr_expect(eq(int, mabd_sim_create(model, def, &sim, &error), status), "%s", error.text);
    cr_expect(sim == NULL && strstr(error.text, what), "%s", error.text);
}

Test(quaternion_semi_implicit, compliant_rows_laws_and_other_integrators_are_refused) {
    static const char* const axes[] = {"\"stiffness\": 3",
                                       "\"damping\": 1",
                                       "\"armature\": 0.1",
                                       "\"friction\": 1",
                                       "\"lower\": -1, \"upper\": 1",
                                       "\"motor_velocity\": 1",
                                       "\"servo\": 0, \"servo_stiffness\": 10"};
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, ", \"axes\": {\"rx\": {%s}}", axes[i]);
        mabd_model* model = pendulum(0, G, text);
        const mabd_sim_def def = semi_def(1, 0.01);
        expect_refused(model, &def, MABD_ERR_UNAVAILABLE, "semi-implicit");
        mabd_model_destroy(model);
    }
    mabd_model* model = pendulum(0, G, ", \"axes\": {\"rx\": {\"motor\": 1}}");
    mabd_sim_def def = semi_def(1.5, 0.01);
    expect_refused(model, &def, MABD_ERR_ARG, "baumgarte");
    def.quaternion.baumgarte = -0.1;
    expect_refused(model, &def, MABD_ERR_ARG, "baumgarte");
    def.quaternion.baumgarte = 0.5, def.integrator = MABD_INTEGRATOR_BDF2;
    expect_refused(model, &def, MABD_ERR_ARG, "baumgarte");
    def.integrator = MABD_INTEGRATOR_SEMI_IMPLICIT;
    mabd_sim* sim = rig_sim(model, &def);
    rig_step(sim);
    rig_destroy(sim, model);
}

// ---- servos ------------------------------------------------------------------------------------

// A rigid servo that moves by a ramp of 2 rad/s is met exactly at every step.
Test(quaternion_semi_implicit, a_rigid_servo_follows_its_target) {
    mabd_model* model =
        pendulum(2, G,
                 ", \"axes\": {\"rx\": {\"servo\": {\"ramp\": {\"from\": 0, \"to\": 2,"
                 " \"start\": 0, \"end\": 1}}, \"servo_rigid\": true}}");
    const mabd_sim_def def = semi_def(1, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 50; i++) {
        mabd_real x[MABD_AXIS_COUNT];
        rig_step(sim);
        mabd_sim_get_joint_coordinates(sim, 0, x);
        cr_assert(lt(dbl, fabs(x[MABD_AXIS_RX] - 2 * mabd_sim_time(sim)), 1e-12), "%g",
                  x[MABD_AXIS_RX] - 2 * mabd_sim_time(sim));
    }
    rig_destroy(sim, model);
}
