// SPDX-License-Identifier: Apache-2.0
// Rolling and spinning friction, and surfaces that move over their bodies, against closed forms. A
// solid ball of radius r and mass m on a floor rolls with v = w r under the normal force N = m g.
//
//   rolls     m v' = -F, (2/5) m r^2 v'/r = F r - mu_r N:     v' = -(5/7) mu_r g/r
//             it stops after v^2/(2 |v'|), and rolling friction has taken 7/10 m v^2
//   slope     it stays where tan a < mu_r/r, else v' = 5/7 (g sin a - mu_r g cos a/r)
//   spins     (2/5) m r^2 w' = -mu_s m g
//   plank     free, mass M, without friction below: u = v - V, m' = m M/(m + M),
//             u' = -mu_r m g/((2/5) m r + m' r); both end with m v/(m + M)
//   belt      a box slides for v/(mu g) and ends with v: the belt does m v^2, friction takes half

#include "support/balance_rig.h"

#define G 9.81

static mabd_sim* start(const mabd_model* model, mabd_backend backend, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    def.backend = backend;
    return rig_sim(model, &def);
}

static void run(mabd_sim* sim, double time) {
    while (mabd_sim_time(sim) < time - 1e-9) {
        const mabd_step_info info = rig_step(sim);
        cr_expect(info.converged, "t = %g s", (double)mabd_sim_time(sim));
    }
    balance_check(sim);
}

// Position, velocity and angular velocity of a body.
typedef struct motion {
    double x[3], v[3], w[3];
} motion;

static motion motion_of(const mabd_sim* sim, int32_t body) {
    mabd_real x[3 * 4], v[3 * 4], w[3 * 4];
    motion m;
    cr_assert(le(int, mabd_model_body_count(mabd_sim_model(sim)), 4));
    mabd_sim_get_state(sim, x, NULL, v, w);
    for (int k = 0; k < 3; k++) {
        m.x[k] = x[3 * body + k], m.v[k] = v[3 * body + k], m.w[k] = w[3 * body + k];
    }
    return m;
}

#define FLOOR "{\"name\": \"floor\", \"shape\": \"plane\", \"fixed\": true}"
#define BALL                                                                                       \
    "{\"name\": \"ball\", \"shape\": \"sphere\", \"radius\": 0.1, \"density\": 1000, "             \
    "\"position\":"                                                                                \
    " [0, 0, 0.1], "
#define SCENE(bodies) "{\"contact\": {}, \"bodies\": [" FLOOR ", " bodies "]}"
#define BALL_MASS     (1000 * 4.0 / 3 * 3.14159265358979323846 * 1e-3)

// ---- rolling -----------------------------------------------------------------------------------

static const char rolling[] =
    SCENE(BALL "\"velocity\": [1, 0, 0], \"angular_velocity\": [0, 10, 0],"
               " \"rolling_friction\": 0.005}");

static void roll(mabd_backend backend) {
    mabd_model* model = rig_text_model(rolling);
    const double a = 5.0 / 7 * 0.005 * G / 0.1, way = 1 / (2 * a), energy = 0.7 * BALL_MASS;
    for (double h = 0.01; h > 0.002; h /= 2) {
        mabd_sim* sim = start(model, backend, h);
        run(sim, 1);
        const motion middle = motion_of(sim, 1);
        run(sim, 1.1 / a);
        const motion end = motion_of(sim, 1);
        run(sim, 1.1 / a + 1);
        const motion later = motion_of(sim, 1);
        const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
        const double error = fabs(end.x[0] - way);
        printf("h %g ms: v(1 s) %.3e off, stops %.2e m off %.4f m, then %.1e m; rolling %.6f of "
               "%.6f J, friction %.1e J, integrator %.1e J\n",
               1e3 * h, middle.v[0] - (1 - a), end.x[0] - way, way, later.x[0] - end.x[0],
               (double)b.rolling, energy, (double)b.friction, (double)b.integrator);
        cr_expect(lt(dbl, fabs(middle.v[0] - (1 - a)), 5 * h * h));
        cr_expect(lt(dbl, error, 5 * h * h));
        cr_expect(lt(dbl, fabs(later.x[0] - end.x[0]), 1e-9));
        cr_expect(lt(dbl, fabs(b.rolling - energy), 2 * h * energy));
        cr_expect(lt(dbl, fabs(b.friction), 2 * h * energy));
        cr_expect(lt(dbl, fabs(b.integrator), 2 * h * energy));
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

Test(contact_rolling, a_ball_rolls_as_far_as_its_rolling_friction_lets_it) {
    roll(MABD_BACKEND_CPU);
}

Test(contact_rolling, the_kernels_roll_the_ball_as_far) {
    if (!mabd_backend_get_info(MABD_BACKEND_EXECUTOR).built) cr_skip("without the executor");
    roll(MABD_BACKEND_EXECUTOR);
}

// ---- slope -------------------------------------------------------------------------------------

// mu_r/r = 0.1: the ball stays at tan a = 0.09, and at 0.2 it rolls.
static void slope(double tangent) {
    char text[600];
    const double angle = atan(tangent);
    snprintf(text, sizeof text,
             "{\"gravity\": [%.17g, 0, %.17g], \"contact\": {}, \"bodies\": [" FLOOR ", " BALL
             "\"rolling_friction\": 0.01}]}",
             G * sin(angle), -G * cos(angle));
    mabd_model* model = rig_text_model(text);
    const double a = tangent < 0.1 ? 0 : 5.0 / 7 * G * (sin(angle) - 0.1 * cos(angle));
    mabd_sim* sim = start(model, MABD_BACKEND_CPU, 0.01);
    run(sim, 2);
    const motion m = motion_of(sim, 1);
    printf("tan a = %g: v %.9f m/s of %.9f, x %.3e of %.3e m\n", tangent, m.v[0], 2 * a, m.x[0],
           2 * a);
    cr_expect(lt(dbl, fabs(m.v[0] - 2 * a), a > 0 ? 0.01 * a : 1e-6));
    if (a == 0) cr_expect(lt(dbl, fabs(m.x[0]), 1e-6));
    rig_destroy(sim, model);
}

Test(contact_rolling, a_ball_stays_on_a_slope_that_rolling_friction_holds) {
    slope(0.09);
    slope(0.2);
}

// ---- spinning ----------------------------------------------------------------------------------

Test(contact_rolling, a_ball_spins_as_long_as_its_spinning_friction_lets_it) {
    mabd_model* model = rig_text_model(
        SCENE(BALL "\"angular_velocity\": [0, 0, 5], \"spinning_friction\": 0.002}"));
    const double rate = 0.002 * G / (0.4 * 0.01), energy = 0.2 * BALL_MASS * 0.01 * 25;
    mabd_sim* sim = start(model, MABD_BACKEND_CPU, 0.01);
    run(sim, 0.5);
    const motion middle = motion_of(sim, 1);
    run(sim, 5 / rate + 0.1);
    const motion end = motion_of(sim, 1);
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    printf("w(0.5 s) %.6f of %.6f, end %.1e rad/s; rolling %.6f of %.6f J\n", middle.w[2],
           5 - 0.5 * rate, end.w[2], (double)b.rolling, energy);
    cr_expect(lt(dbl, fabs(middle.w[2] - (5 - 0.5 * rate)), 0.01 * rate));
    cr_expect(lt(dbl, fabs(end.w[2]), 1e-6));
    cr_expect(lt(dbl, fabs(b.rolling - energy), 0.02 * energy));
    rig_destroy(sim, model);
}

// ---- bodies that move --------------------------------------------------------------------------

// A plank of the mass of the ball, which slides without friction: their contact is a row.
Test(contact_rolling, a_ball_on_a_free_plank_shares_its_speed_with_it) {
    mabd_model* model = rig_text_model(
        "{\"contact\": {}, \"bodies\": [{\"name\": \"floor\", \"shape\": \"plane\", \"fixed\": "
        "true,"
        " \"friction\": 0}, {\"name\": \"plank\", \"shape\": \"box\", \"size\": [6, 0.4, 0.1],"
        " \"mass\": 4, \"position\": [0, 0, 0.05]}, {\"name\": \"ball\", \"shape\": \"sphere\","
        " \"radius\": 0.1, \"mass\": 5, \"position\": [-0.5, 0, 0.2], \"velocity\": [1, 0, 0],"
        " \"angular_velocity\": [0, 10, 0], \"rolling_friction\": 0.01}]}");
    const double m = 5, M = 4, r = 0.1, reduced = m * M / (m + M);
    const double a = 0.01 * m * G / (0.4 * m * r + reduced * r);
    const double energy = 0.7 * m - m * m / (m + M) / 2;
    mabd_sim* sim = start(model, MABD_BACKEND_CPU, 0.005);
    run(sim, 0.5);
    const motion p = motion_of(sim, 1), b = motion_of(sim, 2);
    run(sim, 1 / a + 0.3);
    const motion q = motion_of(sim, 1), c = motion_of(sim, 2);
    const mabd_energy_balance books = mabd_sim_get_energy_balance(sim);
    printf("u(0.5 s) %.6f of %.6f; end %.9f %.9f of %.9f m/s; rolling %.5f of %.5f J\n",
           b.v[0] - p.v[0], 1 - 0.5 * a, q.v[0], c.v[0], m / (m + M), (double)books.rolling,
           energy);
    cr_expect(lt(dbl, fabs(b.v[0] - p.v[0] - (1 - 0.5 * a)), 0.02 * a));
    cr_expect(lt(dbl, fabs(m * c.v[0] + M * q.v[0] - m), 1e-9));
    cr_expect(lt(dbl, fabs(c.v[0] - q.v[0]), 1e-5));
    cr_expect(lt(dbl, fabs(books.rolling - energy), 0.02 * energy));
    rig_destroy(sim, model);
}

// ---- belts -------------------------------------------------------------------------------------

// The belt turned by 90 degrees about z: it moves along y. mu = sqrt(0.5 0.5).
Test(contact_rolling, a_belt_carries_a_box_at_its_speed) {
    mabd_model* model = rig_text_model(
        "{\"contact\": {}, \"bodies\": [{\"name\": \"belt\", \"shape\": \"box\", \"size\": [20, 1,"
        " 0.2], \"fixed\": true, \"position\": [0, 0, -0.1], \"rotation\": {\"axis\": [0, 0, 1],"
        " \"degrees\": 90}, \"surface_velocity\": [2, 0, 0]}, {\"name\": \"box\", \"shape\":"
        " \"box\", \"size\": [0.2, 0.2, 0.2], \"position\": [0, 0, 0.1]}]}");
    const double v = 2, a = 0.5 * G, energy = 8 * v * v;
    for (double h = 0.01; h > 0.002; h /= 2) {
        mabd_sim* sim = start(model, MABD_BACKEND_CPU, h);
        run(sim, 0.2);
        const motion middle = motion_of(sim, 1);
        run(sim, 1);
        const motion end = motion_of(sim, 1);
        const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
        printf("h %g ms: v(0.2 s) %.5f of %.5f, end %.9f; surfaces %.4f of %.4f J, friction %.4f\n",
               1e3 * h, middle.v[1], 0.2 * a, end.v[1], (double)b.surfaces, energy,
               (double)b.friction);
        cr_expect(lt(dbl, fabs(middle.v[1] - 0.2 * a), 2 * a * h));
        cr_expect(lt(dbl, hypot(end.v[1] - v, end.v[0]), 1e-6));
        cr_expect(lt(dbl, fabs(end.x[1] - (v * 1 - v * v / (2 * a))), 2 * v * h));
        cr_expect(lt(dbl, fabs(b.surfaces - energy), 2 * a * h / v * energy));
        cr_expect(lt(dbl, fabs(b.friction - energy / 2), 2 * a * h / v * energy));
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}
