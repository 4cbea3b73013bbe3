// SPDX-License-Identifier: Apache-2.0
// Maximal coordinates of the redmax formulation against joint coordinates and closed forms: orders,
// drift and its stabilisation, laws of axes, prescribed motion, forces of joints, energy by cause.

#include "support/rig.h"

static mabd_sim_def maximal(double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX;
    def.redmax.coordinates = MABD_COORDINATES_MAXIMAL;
    return def;
}

// Joint coordinates, by a method of second order at small steps.
static mabd_sim* reference(const mabd_model* model, double h, double time) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX, def.integrator = MABD_INTEGRATOR_SDIRK2;
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < (int)lround(time / h); i++) rig_step(sim);
    return sim;
}

/// Result of a run.
typedef struct run_result {
    double error; // largest distance of a body from the reference [m]
    double gap;   // largest one over the run [m]
} run_result;

static run_result run(const mabd_model* model, const mabd_sim_def* def, const mabd_sim* exact,
                      double time) {
    mabd_sim* sim = rig_sim(model, def);
    run_result out = {0, 0};
    for (int i = 0; i < (int)lround(time / def->h); i++) {
        out.gap = fmax(out.gap, rig_step(sim).gap);
    }
    out.error = rig_apart(model, sim, exact);
    mabd_sim_destroy(sim);
    return out;
}

// ---- order -------------------------------------------------------------------------------------

typedef struct order_case {
    const char *scene, *integrator, *parameter, *value;
    double h, time;
    mabd_baumgarte_level level;
} order_case;

static void expect_order(const order_case* c) {
    mabd_model* model = rig_file_model(c->scene, c->parameter, c->value);
    mabd_sim* exact = reference(model, c->h, c->time);
    double errors[3], gaps[3];
    for (int i = 0; i < 3; i++) {
        mabd_sim_def def = maximal(ldexp(c->h, -i));
        def.integrator = (mabd_integrator)mabd_integrator_find(c->integrator);
        def.redmax.baumgarte_level = c->level;
        const run_result r = run(model, &def, exact, c->time);
        errors[i] = r.error, gaps[i] = r.gap;
    }
    const double order = rig_order(c->scene, c->h, 3, errors);
    printf("gaps %.2e %.2e %.2e m\n", gaps[0], gaps[1], gaps[2]);
    cr_expect(lt(dbl, 0.85, order), "%s, %s", c->scene, c->integrator);
    cr_expect(lt(dbl, log2(errors[1] / errors[2]), 1.15), "%s, %s", c->scene, c->integrator);
    rig_destroy(exact, model);
}

Test(redmax_maximal, a_thrown_box_converges_to_its_motion_with_order_1) {
    const order_case c = {"scenes/redmax/rigid.json", "auto", NULL, NULL, 5e-4, 0.3, 0};
    expect_order(&c);
}

// Two boxes; springs of all laws, also over points, and cables; the penalty ground, on which a box
// slides before others hit it.
Test(redmax_maximal, boxes_springs_and_ground_converge_to_joint_coordinates_with_order_1) {
    const order_case c[] = {
        {"scenes/redmax/springs.json", "semi-implicit", NULL, NULL, 1e-3, 0.2, 0},
        {"scenes/redmax/springs.json", "linear-implicit", NULL, NULL, 1e-3, 0.2, 0},
        {"scenes/redmax/ground.json", "semi-implicit", NULL, NULL, 1e-3, 0.2, 0},
        {"scenes/redmax/joint.json", "semi-implicit", NULL, NULL, 1e-3, 0.3, 0},
        {"scenes/redmax/joint.json", "linear-implicit", NULL, NULL, 1e-3, 0.3, 0},
        {"scenes/redmax/joint.json", "semi-implicit", NULL, NULL, 1e-3, 0.3, 1},
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) expect_order(&c[i]);
}

Test(redmax_maximal, loops_with_redundant_rows_converge_to_joint_coordinates_with_order_1) {
    const order_case c = {
        "tests/conformance/scenes/parallelogram.json", "auto", NULL, NULL, 1e-3, 0.3, 0};
    expect_order(&c);
}

// Energy by cause: that of joint coordinates, and a rest of first order.
Test(redmax_maximal, springs_and_ground_are_booked_by_cause) {
    static const char* const scenes[] = {"scenes/redmax/springs.json", "scenes/redmax/ground.json"};
    for (int s = 0; s < 2; s++) {
        mabd_model* model = rig_file_model(scenes[s], NULL, NULL);
        const double h = 2e-4, time = 0.2;
        mabd_sim* exact = reference(model, h, time);
        const mabd_energy_balance right = mabd_sim_get_energy_balance(exact);
        const double size = fabs((double)right.dampers) + fabs((double)right.friction);
        double rest[2];
        for (int i = 0; i < 2; i++) {
            const mabd_sim_def def = maximal(ldexp(h, -i));
            mabd_sim* sim = rig_sim(model, &def);
            for (int k = 0; k < (int)lround(time / (double)def.h); k++) rig_step(sim);
            const mabd_energy_balance own = mabd_sim_get_energy_balance(sim);
            printf("%s: dampers %g (%g), friction %g (%g), spring %g (%g), integrator %g J\n",
                   scenes[s], (double)own.dampers, (double)right.dampers, (double)own.friction,
                   (double)right.friction, (double)own.spring, (double)right.spring,
                   (double)own.integrator);
            cr_expect(lt(dbl, fabs((double)(own.dampers - right.dampers)), 0.02 * size));
            cr_expect(lt(dbl, fabs((double)(own.friction - right.friction)), 0.02 * size));
            cr_expect(lt(dbl, fabs((double)(own.spring - right.spring)), 0.02 * size));
            rest[i] = fabs((double)own.integrator);
            mabd_sim_destroy(sim);
        }
        cr_expect(lt(dbl, rest[0], 0.05 * size));
        cr_expect(lt(dbl, rest[1], 0.65 * rest[0]));
        rig_destroy(exact, model);
    }
}

// A script moves a carriage, which carries an oscillator along.
Test(redmax_maximal, scripts_carry_bodies_along) {
    mabd_model* model = rig_file_model("tests/conformance/scenes/carriage.json", NULL, NULL);
    mabd_sim* exact = reference(model, 1e-4, 1);
    double errors[3], gap = 0;
    for (int i = 0; i < 3; i++) {
        const mabd_sim_def def = maximal(ldexp(1e-3, -i));
        const run_result r = run(model, &def, exact, 1);
        errors[i] = r.error, gap = fmax(gap, r.gap);
    }
    const double order = rig_order("carriage", 1e-3, 3, errors);
    cr_expect(lt(dbl, 0.85, order));
    cr_expect(lt(dbl, gap, 1e-9), "%g", gap);
    rig_destroy(exact, model);
}

// ---- by hand -----------------------------------------------------------------------------------

#define MASS    2.0
#define INERTIA 0.3 // about the axis, at the centre
#define ARM     0.7 // from the centre to the hinge
#define G       9.81

// A rod on a hinge at the origin, along x, that turns about z.
static mabd_model* hinged(double rate, double gravity, const char* axes) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, %.17g, 0], \"bodies\": [{\"name\": \"b\", \"mass\": %g,"
             " \"inertia\": [0.2, 0.25, %g], \"position\": [%g, 0, 0],"
             " \"velocity\": [0, %.17g, 0], \"angular_velocity\": [0, 0, %.17g]}], \"joints\": ["
             "{\"name\": \"pivot\", \"type\": \"hinge\", \"a\": \"world\", \"b\": \"b\","
             " \"anchor\": [0, 0, 0], \"axis\": [0, 0, 1]%s}]}",
             -gravity, MASS, INERTIA, ARM, rate * ARM, rate, axes);
    return rig_text_model(text);
}

// The rod in its plane: centre, angle, velocity in its own frame, force of the hinge in the world.
typedef struct plane {
    double c[2], angle, v[2], rate, force[2];
} plane;

// R x for back false, R'x else.
static void turn_plane(double angle, bool back, const double* x, double* y) {
    const double s = back ? -sin(angle) : sin(angle), a = x[0], b = x[1];
    y[0] = cos(angle) * a - s * b, y[1] = s * a + cos(angle) * b;
}

// One step in the frame of the rod: n = (0, -ARM) takes the rate to the velocity at the hinge,
//   v~ = v - h w x v + h R'g,  v+ + n w+ = goal,  goal by the level of the stabilisation with b
static void step_by_hand(plane* p, double b, bool accelerations, double h, double gravity) {
    const double n[2] = {0, -ARM}, w = p->rate, X[2] = {-ARM, 0}, g[2] = {0, -gravity};
    double down[2], at[2], error[2], goal[2], l[2];
    turn_plane(p->angle, true, g, down);
    turn_plane(p->angle, false, X, at);
    const double open[2] = {p->c[0] + at[0], p->c[1] + at[1]};
    const double u[2] = {p->v[0] + n[0] * w, p->v[1] + n[1] * w}, bias[2] = {-w * u[1], w * u[0]};
    turn_plane(p->angle, true, open, error);
    for (int i = 0; i < 2; i++) {
        goal[i] = -b * error[i] / h;
        if (accelerations) {
            goal[i] = (1 - 2 * b) * u[i] - h * bias[i] - b * b * error[i] / h;
        }
    }
    const double free[2] = {p->v[0] + h * (w * p->v[1] + down[0]),
                            p->v[1] + h * (-w * p->v[0] + down[1])};
    for (int i = 0; i < 2; i++) {
        l[i] = (goal[i] - free[i] - n[i] * w) / (1 / MASS + n[i] * n[i] / INERTIA);
        p->v[i] = free[i] + l[i] / MASS;
    }
    p->rate += (n[0] * l[0] + n[1] * l[1]) / INERTIA;
    const double force[2] = {l[0] / h, l[1] / h};
    turn_plane(p->angle, false, force, p->force);
    const double turn = h * p->rate, c = sin(turn) / turn, s = (1 - cos(turn)) / turn;
    const double way[2] = {h * (c * p->v[0] - s * p->v[1]), h * (s * p->v[0] + c * p->v[1])};
    double moved[2];
    turn_plane(p->angle, false, way, moved);
    p->c[0] += moved[0], p->c[1] += moved[1], p->angle += turn;
}

Test(redmax_maximal, two_steps_of_a_pendulum_by_hand) {
    const double parts[3] = {0, 0.3, 0.8}, h = 0.01;
    for (int k = 0; k < 6; k++) {
        mabd_model* model = hinged(3, G, "");
        mabd_sim_def def = maximal(h);
        def.redmax.baumgarte = (mabd_real)parts[k % 3];
        def.redmax.baumgarte_level = k < 3 ? MABD_BAUMGARTE_VELOCITY : MABD_BAUMGARTE_ACCELERATION;
        mabd_sim* sim = rig_sim(model, &def);
        plane p = {{ARM, 0}, 0, {0, 3 * ARM}, 3, {0, 0}};
        for (int i = 0; i < 3; i++) {
            mabd_real x[3], q[4], v[3], w[3], f[6];
            double speed[2];
            step_by_hand(&p, parts[k % 3], k >= 3, h, G);
            rig_step(sim);
            mabd_sim_get_state(sim, x, q, v, w);
            mabd_sim_get_joint_forces(sim, f);
            turn_plane(p.angle, false, p.v, speed);
            cr_expect(lt(dbl, hypot(x[0] - p.c[0], x[1] - p.c[1]), 1e-13), "%d, step %d", k, i);
            cr_expect(lt(dbl, fabs(2 * atan2(q[3], q[0]) - p.angle), 1e-13), "%d, step %d", k, i);
            cr_expect(lt(dbl, hypot(v[0] - speed[0], v[1] - speed[1]), 1e-13), "%d, step %d", k, i);
            cr_expect(lt(dbl, fabs(w[2] - p.rate), 1e-13), "%d, step %d", k, i);
            cr_expect(lt(dbl, hypot(f[0] - p.force[0], f[1] - p.force[1]), 1e-10), "%d", k);
        }
        rig_destroy(sim, model);
    }
}

// A free rod on a spring and damper of its turn: explicit, and with both linearly implicit. With
// the signs of the derivatives the other way round it would gain energy (F10).
Test(redmax_maximal, springs_and_dampers_of_axes_by_hand) {
    const double k = 40, d = 0.6, h = 0.01, J = INERTIA + MASS * ARM * ARM;
    for (int implicit = 0; implicit < 2; implicit++) {
        mabd_model* model =
            hinged(2, 0, ", \"axes\": {\"rx\": {\"stiffness\": 40, \"damping\": 0.6}}");
        mabd_sim_def def = maximal(h);
        if (implicit) def.integrator = MABD_INTEGRATOR_LINEAR_IMPLICIT;
        def.redmax.baumgarte = 0;
        mabd_sim* sim = rig_sim(model, &def);
        // without stabilisation the rod goes on about its hinge, but for the Coriolis force, which
        // the row takes: the rate is that of one degree of freedom
        double x = 0, w = 2;
        for (int i = 0; i < 3; i++) {
            mabd_real omega[3], angle[6];
            w = implicit ? (J * w - h * k * x) / (J + h * d + h * h * k)
                         : w - h * (k * x + d * w) / J;
            x += h * w;
            rig_step(sim);
            mabd_sim_get_state(sim, NULL, NULL, NULL, omega);
            mabd_sim_get_joint_coordinates(sim, 0, angle);
            cr_expect(lt(dbl, fabs(omega[2] - w), 1e-13), "implicit %d, step %d", implicit, i);
            cr_expect(lt(dbl, fabs(angle[3] - x), 1e-13), "implicit %d, step %d", implicit, i);
        }
        rig_destroy(sim, model);
    }
}

// A damper that stops the rod in less than a step.
Test(redmax_maximal, stiff_dampers_need_linear_implicit) {
    mabd_model* model = hinged(2, 0, ", \"axes\": {\"rx\": {\"damping\": 500}}");
    mabd_sim_def def = maximal(0.01);
    mabd_real omega[3];
    def.integrator = MABD_INTEGRATOR_LINEAR_IMPLICIT;
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 20; i++) rig_step(sim);
    mabd_sim_get_state(sim, NULL, NULL, NULL, omega);
    cr_expect(lt(dbl, fabs(omega[2]), 1e-8));
    rig_destroy(sim, model);
}

// Such a damper ends runs of explicit methods by an error with a name, whatever the coordinates:
// from 2 rad/s, h^2 a is 0.08 rad, and hd/J - 1 = 2.9 times as much in each further step.
Test(redmax_maximal, explicit_methods_that_diverge_say_where) {
    static const char* const names[] = {"at joint 'pivot'", "at body 'b'"};
    mabd_model* model = hinged(2, 0, ", \"axes\": {\"rx\": {\"damping\": 500}}");
    for (int k = 0; k < 2; k++) {
        mabd_sim_def def = maximal(0.01);
        mabd_error error = {0};
        mabd_status status = MABD_OK;
        mabd_real omega[3];
        def.integrator = MABD_INTEGRATOR_SEMI_IMPLICIT;
        def.redmax.coordinates = k ? MABD_COORDINATES_MAXIMAL : MABD_COORDINATES_REDUCED;
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < 20 && status == MABD_OK; i++) status = mabd_sim_step(sim, NULL, &error);
        mabd_sim_get_state(sim, NULL, NULL, NULL, omega);
        cr_expect(eq(int, status, MABD_ERR_DIVERGED));
        cr_expect(strstr(error.text, "the step diverges") && strstr(error.text, names[k]), "%s",
                  error.text);
        cr_expect(lt(dbl, fabs(omega[2]), 200)); // of the last step that was taken
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// Steady turning has no limit in joint coordinates: ten radians a step.
Test(redmax_maximal, steady_turning_does_not_diverge) {
    mabd_model* model = hinged(1000, 0, "");
    mabd_sim_def def = maximal(0.01);
    mabd_real omega[3];
    def.integrator = MABD_INTEGRATOR_SEMI_IMPLICIT;
    def.redmax.coordinates = MABD_COORDINATES_REDUCED;
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 20; i++) rig_step(sim);
    mabd_sim_get_state(sim, NULL, NULL, NULL, omega);
    cr_expect(epsilon_eq(dbl, omega[2], 1000, 1e-8));
    rig_destroy(sim, model);
}

// Balls with springs and dampers that take 0.05 ms to relax, at steps of 2 ms.
Test(redmax_maximal, stiff_balls_need_linear_implicit) {
    mabd_model* model = rig_file_model("scenes/tree.json", NULL, NULL);
    mabd_sim_def def = maximal(0.002);
    mabd_error error = {0};
    def.integrator = MABD_INTEGRATOR_LINEAR_IMPLICIT;
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    double gap = 0;
    for (int i = 0; i < 200; i++) gap = fmax(gap, rig_step(sim).gap);
    const mabd_measure end = mabd_sim_measure(sim);
    printf("tree: gap %g m, energy %+g J\n", gap, end.energy - start.energy);
    cr_expect(lt(dbl, gap, 1e-6));
    cr_expect(lt(dbl, fabs(end.energy - start.energy), 0.1)); // of 1.4 J exchanged
    mabd_sim_destroy(sim);
    def.integrator = MABD_INTEGRATOR_SEMI_IMPLICIT;
    sim = rig_sim(model, &def);
    mabd_status status = MABD_OK;
    for (int i = 0; i < 50 && status == MABD_OK; i++) status = mabd_sim_step(sim, NULL, &error);
    cr_expect(eq(int, status, MABD_ERR_DIVERGED));
    cr_expect(strstr(error.text, "the step diverges") && strstr(error.text, "at body"), "%s",
              error.text);
    rig_destroy(sim, model);
}

// ---- drift -------------------------------------------------------------------------------------

Test(redmax_maximal, stabilisation_keeps_joints_closed_that_drift_open_without) {
    mabd_model* model = rig_file_model("scenes/redmax/joint.json", NULL, NULL);
    double gap[3];
    for (int i = 0; i < 3; i++) {
        mabd_sim_def def = maximal(0.002);
        if (i == 0) def.redmax.baumgarte = 0;
        if (i == 2) def.redmax.baumgarte_level = MABD_BAUMGARTE_ACCELERATION;
        mabd_sim* sim = rig_sim(model, &def);
        gap[i] = 0;
        for (int k = 0; k < 1000; k++) gap[i] = fmax(gap[i], rig_step(sim).gap);
        mabd_sim_destroy(sim);
    }
    printf("gap %.2e m, at velocities %.2e m, at accelerations %.2e m\n", gap[0], gap[1], gap[2]);
    cr_expect(lt(dbl, 50 * gap[1], gap[0]));
    cr_expect(lt(dbl, 10 * gap[2], gap[0]));
    mabd_model_destroy(model);
}

// ---- joints ------------------------------------------------------------------------------------

// Every type of joint with atomic rows, with gravity, springs and dampers on its free axes.
Test(redmax_maximal, every_joint_converges_to_joint_coordinates) {
    const char* free_axes[] = {"", "tx", "rx", "ty", "tx", "tx", "rx", "tx", "rz", "ry", "tx", ""};
    for (int type = 0; type < 12; type++) {
        mabd_joint joint = (mabd_joint)type;
        char text[1024], axis[128] = "";
        if (free_axes[type][0]) {
            snprintf(axis, sizeof axis,
                     ", \"axes\": {\"%s\": {\"stiffness\": 5, \"damping\": 0.1}}", free_axes[type]);
        }
        snprintf(text, sizeof text,
                 "{\"gravity\": [1, 2, -9.81], \"bodies\": ["
                 "{\"name\": \"a\", \"shape\": \"box\", \"size\": [0.2, 0.1, 0.05]},"
                 "{\"name\": \"b\", \"shape\": \"box\", \"size\": [0.1, 0.2, 0.05],"
                 " \"position\": [0.2, 0.1, 0]}], \"joints\": ["
                 "{\"type\": \"ball\", \"a\": \"world\", \"b\": \"a\", \"anchor\": [-0.1, 0, 0]},"
                 "{\"type\": \"%s\", \"a\": \"a\", \"b\": \"b\", \"anchor\": [0.1, 0.05, 0]%s}]}",
                 mabd_joint_name(joint), axis);
        mabd_model* model = rig_text_model(text);
        mabd_sim* exact = reference(model, 1e-3, 0.2);
        for (int implicit = 0; implicit < 2; implicit++) {
            double errors[2];
            for (int i = 0; i < 2; i++) {
                mabd_sim_def def = maximal(ldexp(1e-3, -i));
                if (implicit) def.integrator = MABD_INTEGRATOR_LINEAR_IMPLICIT;
                errors[i] = run(model, &def, exact, 0.2).error;
            }
            const double order = rig_order(mabd_joint_name(joint), 1e-3, 2, errors);
            cr_expect(lt(dbl, 0.8, order), "%s, %d", mabd_joint_name(joint), implicit);
            cr_expect(lt(dbl, order, 1.2), "%s, %d", mabd_joint_name(joint), implicit);
        }
        rig_destroy(exact, model);
    }
}
