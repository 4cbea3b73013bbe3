// SPDX-License-Identifier: Apache-2.0
// Stops, limited drives and dry friction under every integrator of the quaternion and redmax
// formulations: no rebound, orders, impacts through joints, rotation vectors, bits. Closed forms
// that hold in every formulation are in test_stops.c and test_drives.c.

#include "support/axis_rig.h"

#include <stdlib.h>
#include <string.h>

/// An integrator of a formulation; second: of second order on paths without jumps.
typedef struct method {
    mabd_formulation formulation;
    mabd_integrator integrator;
    bool second;
} method;

static const method methods[] = {
    {MABD_FORMULATION_QUATERNION, MABD_INTEGRATOR_EULER, false},
    {MABD_FORMULATION_QUATERNION, MABD_INTEGRATOR_BDF2, true},
    {MABD_FORMULATION_QUATERNION, MABD_INTEGRATOR_TRBDF2, true},
    {MABD_FORMULATION_QUATERNION, MABD_INTEGRATOR_SDIRK2, false},
    {MABD_FORMULATION_QUATERNION, MABD_INTEGRATOR_PARESCHI_RUSSO, false},
    {MABD_FORMULATION_REDMAX, MABD_INTEGRATOR_EULER, false},
    {MABD_FORMULATION_REDMAX, MABD_INTEGRATOR_BDF2, true},
    {MABD_FORMULATION_REDMAX, MABD_INTEGRATOR_SDIRK2, true},
};
#define METHODS ((int)(sizeof methods / sizeof methods[0]))

static const char* name_of(const method* m) {
    return mabd_integrator_name(m->integrator);
}

static mabd_sim_def def_of(const method* m, double h) {
    axis_formulation = m->formulation;
    mabd_sim_def def = axis_def(MABD_PRESET_EXACT, h);
    def.integrator = m->integrator;
    return def;
}

// ---- stops -------------------------------------------------------------------------------------

// A slide that meets its stop stands there from the step after on, whatever the method.
Test(rigid_laws, no_integrator_rebounds_from_a_stop) {
    const double speeds[] = {0.37, 1.9, -2.1, -11};
    for (int k = 0; k < METHODS * 4; k++) {
        const axis_case c = {.axis = {.limited = true, .lower = -0.3, .upper = 0.5},
                             .rate = speeds[k % 4],
                             .slide = true};
        const char* name = name_of(&methods[k / 4]);
        mabd_model* model = axis_model(&c);
        const mabd_sim_def def = def_of(&methods[k / 4], 0.01);
        mabd_sim* sim = rig_sim(model, &def);
        const double stop = c.rate > 0 ? c.axis.upper : c.axis.lower, arrival = stop / c.rate;
        while (mabd_sim_time(sim) < arrival + 0.3) {
            axis_step(sim);
            cr_assert(lt(dbl, (axis_x(sim, &c) - stop) * (c.rate > 0 ? 1 : -1), 1e-12), "%s", name);
            if (mabd_sim_time(sim) < arrival + 2 * (double)def.h) continue;
            // the tolerance of positions over h; no load holds the slide at its stop
            cr_assert(lt(dbl, fabs(axis_rate(sim, &c)), 1e-10), "%s: %g", name, axis_rate(sim, &c));
            cr_assert(lt(dbl, fabs(axis_x(sim, &c) - stop), 0.3 * 1e-10), "%s", name);
        }
        rig_destroy(sim, model);
    }
}

// Two rods on hinges: the second one turns against the first and meets its stop, after which both
// turn at one rate o. With the angles p1, p2 of the rods, the energy at the time of the blow
//   T = (A p1'^2 + 2 B p1' p2' + C p2'^2)/2,   A = I + m l^2,  B = m l^2/2 cos(p2 - p1),  C = I
// and I the moment of a rod about its end, the momentum of the common rate is kept:
//   (A + 2 B + C) o = (A + B) p1' + (B + C) p2'
// The rates are those of the step before, so they are off by a part of its accelerations.
Test(rigid_laws, an_impact_at_a_stop_keeps_the_momentum_of_the_freedom_that_is_left) {
    const double l = AXIS_LENGTH, m = AXIS_MASS, w = 2, angle = 0.4, C = axis_inertia();
    const double A = C + m * l * l, B = m * l * l / 2 * cos(angle);
    for (int i = 0; i < METHODS; i++) {
        if (methods[i].integrator == MABD_INTEGRATOR_EULER) continue;
        mabd_scene* scene = rig_scene(0);
        const mabd_axis_def stop = {.limited = true, .lower = -1, .upper = angle};
        const mabd_axis_def weak = {.friction = 1e-9}; // a law that must not hold in the blow
        mabd_body_def body = mabd_default_body_def();
        const mabd_real size[3] = {AXIS_LENGTH, AXIS_WIDTH, AXIS_WIDTH};
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
        body.geom_count = 1, body.geoms = &geom;
        const int32_t first = rig_add_rod(scene, 0, AXIS_LENGTH, AXIS_WIDTH, 1e10);
        body.position[0] = 1.5, body.angular_velocity[1] = w, body.velocity[2] = -w * l / 2;
        const int32_t second = rig_add_body(scene, &body);
        axis_add_joint(scene, false, MABD_WORLD, first, 0, &weak);
        axis_add_joint(scene, false, first, second, 1, &stop);
        mabd_model* model = rig_model(scene);
        const mabd_sim_def def = def_of(&methods[i], 1e-4);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real x[MABD_AXIS_COUNT], before[6], after[6];
        do {
            mabd_sim_get_state(sim, NULL, NULL, NULL, before);
            rig_step(sim);
            mabd_sim_get_joint_coordinates(sim, 1, x);
        } while (x[MABD_AXIS_RX] < angle - 1e-10);
        rig_step(sim), rig_step(sim);
        mabd_sim_get_state(sim, NULL, NULL, NULL, after);
        const double p1 = before[1], p2 = before[4];
        const double o = ((A + B) * p1 + (B + C) * p2) / (A + 2 * B + C);
        printf("%-15s before %.5f, %.5f, after %.6f, %.6f of %.6f rad/s\n", name_of(&methods[i]),
               p1, p2, (double)after[1], (double)after[4], o);
        cr_expect(lt(dbl, fabs(after[1] - o), 2e-3 * o));
        cr_expect(lt(dbl, fabs(after[4] - o), 2e-3 * o));
        rig_destroy(sim, model);
    }
}

// ---- orders ------------------------------------------------------------------------------------

// Errors (4) at `seconds` of a case against a number, at h, h/2, h/4, h/8.
static void find_errors(const axis_case* c, const method* m, double seconds, double expected,
                        double* errors) {
    for (int k = 0; k < 4; k++) {
        mabd_model* model = axis_model(c);
        const mabd_sim_def def = def_of(m, ldexp(0.01, -k));
        mabd_sim* sim = rig_sim(model, &def);
        while (mabd_sim_time(sim) < seconds - 1e-9) axis_step(sim);
        errors[k] = fabs(axis_x(sim, c) - expected);
        rig_destroy(sim, model);
    }
}

static double square_bound(const axis_case* c, const method* m, double seconds, double expected) {
    double errors[4];
    find_errors(c, m, seconds, expected, errors);
    return rig_square_bound(name_of(m), 0.01, 4, errors);
}

// A slide of 10 kg at 1 m/s brakes by F = 7 N: it stands after m/(2 F) m.
Test(rigid_laws, the_braking_distance_of_friction_is_of_second_order) {
    const axis_case c = {.axis = {.friction = 7}, .rate = 1, .slide = true};
    for (int i = 0; i < METHODS; i++) {
        if (!methods[i].second) continue;
        const double bound = square_bound(&c, &methods[i], 2, AXIS_MASS / 14);
        cr_expect(lt(dbl, bound, 1), "%g m/s^2", bound); // the deceleration is 0.7 m/s^2
    }
}

// A spring of u^2 = k/m with friction F: half swings x = s F/k + A cos(u t) about -+ F/k, each
// shorter by 2 F/k than the last. From 1 m: after two and a quarter of them it is at
// (1 - 4 F/k - F/k) cos(u t) + F/k. Where it turns back friction jumps by 2 F inside a step, which
// has one value of it: the speed is off by up to 2 F h/m, and the error is of first order.
Test(rigid_laws, friction_that_turns_back_is_of_first_order) {
    const double k = 250, F = 20, u = sqrt(k / AXIS_MASS), d = F / k;
    const axis_case c = {.axis = {.friction = F, .stiffness = k, .rest = -1}, .slide = true};
    const double pi = 3.14159265358979323846, t = 2.25 * pi / u;
    const double steps = ceil(t / 0.01), seconds = 0.01 * steps;
    // about rest: starts at +1
    const double expected = -1 + d + (1 - 5 * d) * cos(u * seconds);
    for (int i = 0; i < METHODS; i++) {
        if (!methods[i].second) continue;
        double errors[4];
        find_errors(&c, &methods[i], seconds, expected, errors);
        rig_order(name_of(&methods[i]), 0.01, 4, errors);
        // two jumps, each for up to a quarter of a period
        for (int n = 0; n < 4; n++) {
            const double most = 2 * 2 * F / AXIS_MASS * ldexp(0.01, -n) * pi / (2 * u);
            cr_expect(lt(dbl, errors[n], most), "%g of %g", errors[n], most);
        }
        cr_expect(lt(dbl, errors[3], errors[0] / 6)); // 8 for order 1
    }
}

// A rate motor of 40 N takes 10 kg to 1 m/s in 0.25 s: then x = t - 0.125.
Test(rigid_laws, a_limited_rate_motor_is_of_second_order) {
    const axis_case c = {.axis = {.motor_velocity = mabd_signal_constant(1), .max_force = 39},
                         .slide = true};
    const double arrival = AXIS_MASS / 39;
    for (int i = 0; i < METHODS; i++) {
        if (!methods[i].second) continue;
        const double bound = square_bound(&c, &methods[i], 0.5, 0.5 - arrival / 2);
        cr_expect(lt(dbl, bound, 4), "%g m/s^2", bound); // the acceleration is 3.9 m/s^2
    }
}

// ---- bits --------------------------------------------------------------------------------------

// Ten pendulums between stops with friction, each a part of its own, then a chain.
static mabd_model* many_model(void) {
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    for (int i = 0; i < 10; i++) {
        const mabd_axis_def axis = {
            .limited = true, .lower = -0.1 * (i + 1), .upper = 0.05 * (i + 1), .friction = 0.1 * i};
        const int32_t body = rig_add_rod(scene, 2 * i, 1, 0.1, 1e10);
        axis_add_joint(scene, false, MABD_WORLD, body, 2 * i, &axis);
        axis_add_joint(scene, false, body, rig_add_rod(scene, 2 * i + 1, 0.5, 0.1, 1e10), 2 * i + 1,
                       &axis);
    }
    return rig_model(scene);
}

Test(rigid_laws, threads_and_restored_states_give_the_same_bits) {
    for (int i = 0; i < METHODS; i++) {
        mabd_model* model = many_model();
        mabd_sim_def def = def_of(&methods[i], 0.01);
        mabd_sim* one = rig_sim(model, &def);
        def.threads = 3;
        mabd_sim* many = rig_sim(model, &def);
        const size_t size = mabd_sim_state_size(one);
        unsigned char *a = malloc(size), *b = malloc(size);
        for (int k = 0; k < 40; k++) {
            mabd_error error = {0};
            rig_step(one), rig_step(many);
            mabd_sim_save(one, a), mabd_sim_save(many, b);
            cr_assert(memcmp(a, b, size) == 0, "%s, step %d", name_of(&methods[i]), k);
            rig_step(many); // and back
            rig_check(mabd_sim_restore(many, a, size, &error), &error, "restore");
        }
        free(a), free(b);
        mabd_sim_destroy(many);
        rig_destroy(one, model);
    }
}

// ---- the same motion as in the affine formulation ----------------------------------------------

// A double pendulum with stops, friction and a limited servo.
static mabd_model* pendulums(void) {
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    const mabd_axis_def upper = {.limited = true, .lower = -1, .upper = 0.8, .friction = 2};
    const mabd_axis_def lower = {.servo = mabd_signal_constant(-0.5),
                                 .servo_stiffness = 200,
                                 .servo_damping = 5,
                                 .max_force = 12};
    const int32_t body = rig_add_rod(scene, 0, 1, 0.1, 2e11);
    axis_add_joint(scene, false, MABD_WORLD, body, 0, &upper);
    axis_add_joint(scene, false, body, rig_add_rod(scene, 1, 0.6, 0.1, 2e11), 1, &lower);
    return rig_model(scene);
}

// Largest distance of two bodies under bdf2 in a formulation from those in another one over 1 s.
static double difference(mabd_model* model, const mabd_formulation* two, double h) {
    mabd_sim* sims[2];
    double most = 0;
    for (int i = 0; i < 2; i++) {
        const method m = {two[i], MABD_INTEGRATOR_BDF2, true};
        const mabd_sim_def def = def_of(&m, h);
        sims[i] = rig_sim(model, &def);
    }
    while (mabd_sim_time(sims[0]) < 1 - 1e-9) {
        mabd_real x[6], y[6];
        rig_step(sims[0]), rig_step(sims[1]);
        mabd_sim_get_state(sims[0], x, NULL, NULL, NULL);
        mabd_sim_get_state(sims[1], y, NULL, NULL, NULL);
        most = fmax(most, fmax(rig_distance(x, y), rig_distance(x + 3, y + 3)));
    }
    mabd_sim_destroy(sims[0]), mabd_sim_destroy(sims[1]);
    return most;
}

// The rods meet stops within a step, whose place in it no formulation resolves: they differ by the
// way of the faster end in a step, at 4 m/s.
Test(rigid_laws, move_as_in_the_affine_formulation) {
    const mabd_formulation pairs[2][2] = {{MABD_FORMULATION_QUATERNION, MABD_FORMULATION_AFFINE},
                                          {MABD_FORMULATION_REDMAX, MABD_FORMULATION_AFFINE}};
    for (int i = 0; i < 2; i++) {
        mabd_model* model = pendulums();
        double d[2];
        for (int k = 0; k < 2; k++) {
            const double h = ldexp(0.004, -2 * k);
            d[k] = difference(model, pairs[i], h);
            printf("%s, h %g ms: %.2e m\n", mabd_formulation_name(pairs[i][0]), 1e3 * h, d[k]);
            cr_expect(lt(dbl, d[k], 4 * h));
        }
        cr_expect(lt(dbl, d[1], d[0] / 2));
        mabd_model_destroy(model);
    }
}

// ---- rotation vectors --------------------------------------------------------------------------

// Two rods on balls, the first one from b, with the given law on two axes of each.
static mabd_model* ball_model(const mabd_axis_def* law) {
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    const mabd_axis_def spring = {.stiffness = 3, .damping = (mabd_real)0.2};
    int32_t last = MABD_WORLD;
    for (int i = 0; i < 2; i++) {
        mabd_error error = {0};
        mabd_joint_def def = mabd_default_joint_def();
        const int32_t body = rig_add_rod(scene, i, 1, 0.1, 2e11);
        def.type = MABD_JOINT_BALL;
        def.a = i == 0 ? body : last, def.b = i == 0 ? last : body;
        def.anchor[0] = i;
        def.axes[MABD_AXIS_RX] = &spring;
        def.axes[MABD_AXIS_RY] = def.axes[MABD_AXIS_RZ] = law;
        rig_check(mabd_scene_add_joint(scene, &def, NULL, &error), &error, "joint");
        last = body;
    }
    return rig_model(scene);
}

// Stops, friction, limited drives and rigid servos on components of rotation vectors, in joint
// coordinates and by rows of rigid bodies: the same laws, in methods whose errors at a jump are of
// first order, and of second order where nothing jumps. The fastest end moves at 5 m/s.
Test(rigid_laws, on_rotation_vectors_are_those_of_the_rows_of_rigid_bodies) {
    const mabd_formulation two[2] = {MABD_FORMULATION_REDMAX, MABD_FORMULATION_QUATERNION};
    const mabd_signal wave = {
        .kind = MABD_SIGNAL_SINE, .amplitude = (mabd_real)0.3, .frequency = 1};
    const mabd_axis_def laws[] = {
        {.limited = true, .lower = (mabd_real)-0.3, .upper = (mabd_real)0.4},
        {.friction = 4, .stiffness = 10},
        {.servo = mabd_signal_constant((mabd_real)0.4),
         .servo_stiffness = 400,
         .servo_damping = 30,
         .max_force = 35},
        {.motor_velocity = mabd_signal_constant((mabd_real)0.5), .max_force = 300},
        {.servo = wave, .servo_rigid = true},
        {.servo = wave, .servo_rigid = true, .max_force = 60},
    };
    for (int i = 0; i < (int)(sizeof laws / sizeof laws[0]); i++) {
        mabd_model* model = ball_model(&laws[i]);
        double d[2];
        for (int k = 0; k < 2; k++) {
            d[k] = difference(model, two, ldexp(0.004, -2 * k));
            printf("law %d, h %g ms: %.2e m\n", i, ldexp(4, -2 * k), d[k]);
            cr_expect(lt(dbl, d[k], 5 * ldexp(0.004, -2 * k)));
        }
        cr_expect(lt(dbl, d[1], d[0] / 2));
        mabd_model_destroy(model);
    }
}
