// SPDX-License-Identifier: Apache-2.0
// Friction of bearings in the redmax formulation: a pendulum, a slider and a ball against their
// equations of motion, integrated with small steps; sticking below the bound; loads of 1, 2 and 4;
// the energy that pins take; a door that rests on the ground.

#include "support/rig.h"

static mabd_sim_def def_of(mabd_integrator integrator, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX, def.integrator = integrator;
    return def;
}

static double coordinate(const mabd_sim* sim, mabd_axis axis) {
    mabd_real x[MABD_AXIS_COUNT];
    mabd_sim_get_joint_coordinates(sim, 0, x);
    return x[axis];
}

// Least order of a coordinate of joint 0 at h, h/2, h/4, h/8 after `seconds`.
static double order_of(const char* what, const mabd_model* model, mabd_integrator integrator,
                       double h, double seconds, mabd_axis axis, double exact) {
    double errors[4];
    for (int i = 0; i < 4; i++) {
        const mabd_sim_def def = def_of(integrator, ldexp(h, -i));
        mabd_sim* sim = rig_sim(model, &def);
        rig_run(sim, (int)lround(seconds / (double)def.h));
        errors[i] = fabs(coordinate(sim, axis) - exact);
        mabd_sim_destroy(sim);
    }
    char label[64];
    snprintf(label, sizeof label, "%s, %s", what, mabd_integrator_name(integrator));
    return rig_order(label, h, 4, errors);
}

// ---- one freedom -------------------------------------------------------------------------------

/// Acceleration of a coordinate at x, of rate v, given a guess of the acceleration.
typedef double own_acceleration(double x, double v, double guess);

static double settle(own_acceleration* f, double x, double v) {
    double a = 0;
    for (int i = 0; i < 200; i++) {
        const double next = f(x, v, a);
        if (fabs(next - a) < 1e-14 * (1 + fabs(a))) return next;
        a = next;
    }
    return a;
}

// RK4 with steps of 50 us.
static double integrate(own_acceleration* f, double seconds, double x, double v) {
    const double h = 5e-5;
    for (int i = 0; i < (int)lround(seconds / h); i++) {
        const double a1 = settle(f, x, v), v2 = v + h / 2 * a1;
        const double a2 = settle(f, x + h / 2 * v, v2), v3 = v + h / 2 * a2;
        const double a3 = settle(f, x + h / 2 * v2, v3), v4 = v + h * a3;
        const double a4 = settle(f, x + h * v3, v4);
        x += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
        v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
    return x;
}

static const double ring = 4 / 3.14159265358979323846;

// ---- the pendulum ------------------------------------------------------------------------------

// A cube of 0.2 m, its centre at (0.5, 0.1, 0) from a pin of 20 mm along y, 80 mm long, with a face
// of 30 mm, under gravity (0, -2, -9.81). Angle about +y.
#define PENDULUM                                                                                   \
    "{\"gravity\": [0, -2, -9.81], \"bodies\": [{\"name\": \"bob\", \"shape\": \"box\","           \
    " \"size\": [0.2, 0.2, 0.2], \"position\": [0.5, 0.1, 0]}], \"joints\": [{\"type\":"           \
    " \"hinge\", %s, \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"pin\":"     \
    " {\"friction\": 0.3, \"radius\": 0.02, \"length\": 0.08, \"face\": 0.03}%s}}}]}"

static double pendulum_speed;

static double pendulum_acceleration(double x, double v, double a) {
    const double m = 8, own = 8 * 0.04 / 6, c = cos(x), s = sin(x), l = 0.5;
    // centre l (c, -s) in x and z; force f = m (acceleration - g)
    const double fx = m * l * (-s * a - c * v * v), fz = m * (l * (-c * a + s * v * v) + 9.81);
    const double fy = m * 2;
    // moment of f about the pin, and B = M x y
    const double rx = l * c, ry = 0.1, rz = -l * s;
    const double mx = ry * fz - rz * fy, mz = rx * fy - ry * fx;
    const double bx = -mz / 0.08, bz = mx / 0.08;
    const double sum = hypot(fx / 2 + bx, fz / 2 + bz) + hypot(fx / 2 - bx, fz / 2 - bz);
    const double bound = 0.3 * (0.02 * ring * sum + 0.03 * fabs(fy));
    const double rubbing = pendulum_speed > 0 ? tanh(v / pendulum_speed) : v < 0 ? -1 : 1;
    return (m * 9.81 * l * c - bound * rubbing) / (m * l * l + own);
}

static mabd_model* pendulum(bool reversed, const char* more) {
    char text[1024];
    const char* sides = reversed ? "\"a\": \"bob\", \"b\": \"world\"" : "\"b\": \"bob\"";
    snprintf(text, sizeof text, PENDULUM, sides, more);
    return rig_text_model(text);
}

Test(redmax_pins, pendulum_with_smooth_friction) {
    pendulum_speed = 0.2;
    const double exact = integrate(pendulum_acceleration, 1, 0, 0);
    for (int reversed = 0; reversed < 2; reversed++) {
        mabd_model* model = pendulum(reversed, ", \"friction_speed\": 0.2");
        const double x = reversed ? -exact : exact; // the world turns against the bob
        const mabd_axis rx = MABD_AXIS_RX;
        cr_expect(order_of("pendulum", model, MABD_INTEGRATOR_BDF2, 0.01, 1, rx, x) > 1.8);
        cr_expect(order_of("pendulum", model, MABD_INTEGRATOR_SDIRK2, 0.005, 1, rx, x) > 1.8);
        cr_expect(order_of("pendulum", model, MABD_INTEGRATOR_EULER, 0.002, 1, rx, x) > 0.9);
        cr_expect(order_of("pendulum", model, MABD_INTEGRATOR_LINEAR_IMPLICIT, 0.002, 1, rx, x) >
                  0.9);
        cr_expect(order_of("pendulum", model, MABD_INTEGRATOR_SEMI_IMPLICIT, 0.002, 1, rx, x) >
                  0.9);
        mabd_sim_def def = def_of(MABD_INTEGRATOR_RK45, 0.02);
        def.redmax.newton_tolerance = (mabd_real)1e-9;
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < 50; i++) rig_step(sim);
        cr_expect(fabs(coordinate(sim, rx) - x) < 1e-7, "rk45: %g", coordinate(sim, rx) - x);
        rig_destroy(sim, model);
    }
}

Test(redmax_pins, pendulum_with_dry_friction) {
    pendulum_speed = 0;
    const double exact = integrate(pendulum_acceleration, 0.4, 0, 1e-15); // it does not turn back
    mabd_model* model = pendulum(false, "");
    const mabd_axis rx = MABD_AXIS_RX;
    cr_expect(order_of("dry pendulum", model, MABD_INTEGRATOR_BDF2, 0.01, 0.4, rx, exact) > 1.8);
    cr_expect(order_of("dry pendulum", model, MABD_INTEGRATOR_SDIRK2, 0.01, 0.4, rx, exact) > 1.8);
    mabd_model_destroy(model);
}

// ---- the slider --------------------------------------------------------------------------------

// A box of 4 kg on a guide of 0.5 m along x, its centre 0.1 m above the guide and 0.05 m beside it,
// pulled by a spring along the guide. The bearing is on b: on the box, or in the world.
#define SLIDER                                                                                     \
    "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"box\", \"shape\": \"box\","            \
    " \"size\": [0.2, 0.2, 0.1], \"position\": [0, 0.05, 0.1]}], \"joints\": [{\"type\":"          \
    " \"prismatic\", %s, \"anchor\": [0, 0, 0], \"axis\": [1, 0, 0], \"axes\": {\"tx\":"           \
    " {\"stiffness\": 100, \"rest\": 0.3, \"friction_speed\": 0.1,"                                \
    " \"pin\": {\"friction\": 0.2, \"length\": 0.5}}}}]}"

static int slider_on_world;

static double slider_acceleration(double x, double v, double a) {
    const double side = slider_on_world ? -1 : 1; // the box is at side x
    const double m = 4, fx = side * m * a, fz = m * 9.81;
    const double rx = slider_on_world ? -x : 0, ry = 0.05, rz = 0.1;
    const double my = rz * fx - rx * fz, mz = -ry * fx; // M = r x f
    const double by = mz / 0.5, bz = -my / 0.5;         // M x e
    const double sum = hypot(by, fz / 2 + bz) + hypot(-by, fz / 2 - bz);
    return (100 * (0.3 - x) - 0.2 * ring * sum * tanh(v / 0.1)) / m;
}

Test(redmax_pins, slider_with_smooth_friction) {
    for (slider_on_world = 0; slider_on_world < 2; slider_on_world++) {
        const double exact = integrate(slider_acceleration, 1, 0, 0);
        const mabd_axis tx = MABD_AXIS_TX;
        char text[1024];
        snprintf(text, sizeof text, SLIDER,
                 slider_on_world ? "\"a\": \"box\", \"b\": \"world\"" : "\"b\": \"box\"");
        mabd_model* model = rig_text_model(text);
        cr_expect(order_of("slider", model, MABD_INTEGRATOR_BDF2, 0.01, 1, tx, exact) > 1.8);
        cr_expect(order_of("slider", model, MABD_INTEGRATOR_SDIRK2, 0.01, 1, tx, exact) > 1.8);
        mabd_model_destroy(model);
    }
}

// ---- the ball ----------------------------------------------------------------------------------

// A cube of 0.2 m at 0.4 m from a ball of radius 30 mm with friction 0.4: rotation R by RK4 of its
// quaternion, torque N'(theta) f on the rotation vector theta = log R of the ball.
typedef struct ball_state {
    double q[4], w[3]; // body frame
} ball_state;

static const double ball_arm[3] = {0.4, 0, 0}, ball_gravity[3] = {0, 0, -9.81}, ball_mass = 8;

static void cross(const double* a, const double* b, double* out) {
    out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// R'v
static void turn_back(const double* q, const double* v, double* out) {
    const double u[3] = {-q[1], -q[2], -q[3]};
    double t[3], uu[3];
    cross(u, v, t);
    for (int k = 0; k < 3; k++) t[k] *= 2;
    cross(u, t, uu);
    for (int k = 0; k < 3; k++) out[k] = v[k] + q[0] * t[k] + uu[k];
}

static void ball_slope(const ball_state* s, double* out) {
    const double own = ball_mass * 0.04 / 6, far = own + ball_mass * 0.16;
    const double J[3] = {own, far, far};
    double g[3], L[3], torque[3], theta[3], tr[3], ttr[3], rate[3], a[3] = {0, 0, 0};
    const double size = sqrt(s->q[1] * s->q[1] + s->q[2] * s->q[2] + s->q[3] * s->q[3]);
    const double angle = 2 * atan2(size, s->q[0]);
    for (int k = 0; k < 3; k++) theta[k] = size > 0 ? angle / size * s->q[k + 1] : 0;
    const double half = angle / 2;
    const double c = angle < 1e-3 ? 1 / 12. : (1 - half * cos(half) / sin(half)) / (angle * angle);
    cross(theta, s->w, tr);
    cross(theta, tr, ttr);
    for (int k = 0; k < 3; k++) rate[k] = s->w[k] + tr[k] / 2 + c * ttr[k]; // theta' = N w
    turn_back(s->q, ball_gravity, g);
    for (int k = 0; k < 3; k++) L[k] = J[k] * s->w[k];
    for (int i = 0; i < 100; i++) {
        double wr[3], wwr[3], ar[3], force = 0, f[3], tf[3], ttf[3], gyro[3], weight[3], change = 0;
        cross(s->w, ball_arm, wr), cross(s->w, wr, wwr), cross(a, ball_arm, ar);
        for (int k = 0; k < 3; k++) force += pow(ball_mass * (ar[k] + wwr[k] - g[k]), 2);
        const double bound = 0.4 * 0.03 * ring * sqrt(force);
        for (int k = 0; k < 3; k++) f[k] = -bound * tanh(rate[k] / 0.5);
        cross(theta, f, tf), cross(theta, tf, ttf); // N'f = f - theta x f/2 + c theta x theta x f
        for (int k = 0; k < 3; k++) weight[k] = ball_mass * g[k];
        cross(ball_arm, weight, torque), cross(s->w, L, gyro);
        for (int k = 0; k < 3; k++) {
            const double next = (torque[k] + f[k] - tf[k] / 2 + c * ttf[k] - gyro[k]) / J[k];
            change = fmax(change, fabs(next - a[k]));
            a[k] = next;
        }
        if (change < 1e-14) break;
    }
    const double *q = s->q, *w = s->w;
    out[0] = (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]) / 2;
    out[1] = (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]) / 2;
    out[2] = (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]) / 2;
    out[3] = (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]) / 2;
    for (int k = 0; k < 3; k++) out[4 + k] = a[k];
}

static ball_state ball_run(double seconds, ball_state s) {
    const double h = 2e-4;
    for (int i = 0; i < (int)lround(seconds / h); i++) {
        const double weights[4] = {1, 2, 2, 1}, ahead[4] = {0, 0.5, 0.5, 1};
        double k[7] = {0}, sum[7] = {0};
        for (int stage = 0; stage < 4; stage++) {
            ball_state at = s;
            for (int n = 0; n < 4; n++) at.q[n] += ahead[stage] * h * k[n];
            for (int n = 0; n < 3; n++) at.w[n] += ahead[stage] * h * k[4 + n];
            ball_slope(&at, k);
            for (int n = 0; n < 7; n++) sum[n] += h / 6 * weights[stage] * k[n];
        }
        for (int n = 0; n < 4; n++) s.q[n] += sum[n];
        for (int n = 0; n < 3; n++) s.w[n] += sum[4 + n];
    }
    return s;
}

Test(redmax_pins, ball_with_smooth_friction) {
    const char* const text =
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"bob\", \"shape\": \"box\","
        " \"size\": [0.2, 0.2, 0.2], \"position\": [0.4, 0, 0], \"angular_velocity\": [3, 0, 2],"
        " \"velocity\": [0, 0.8, 0]}], \"joints\": [{\"type\": \"ball\", %s, \"anchor\":"
        " [0, 0, 0], \"axes\": {%s}}]}";
    const char* const rubs = "{\"pin\": {\"friction\": 0.4, \"radius\": 0.03},"
                             " \"friction_speed\": 0.5}";
    char full[2048], axes[512];
    snprintf(axes, sizeof axes, "\"rx\": %s, \"ry\": %s, \"rz\": %s", rubs, rubs, rubs);
    const ball_state start = {{1, 0, 0, 0}, {3, 0, 2}}, end = ball_run(0.5, start);
    snprintf(full, sizeof full, text, "\"b\": \"bob\"", axes);
    mabd_model* model = rig_text_model(full);
    const mabd_integrator methods[2] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2};
    for (int n = 0; n < 2; n++) {
        double errors[3];
        for (int i = 0; i < 3; i++) {
            const mabd_sim_def def = def_of(methods[n], ldexp(0.004, -i));
            mabd_sim* sim = rig_sim(model, &def);
            mabd_real w[3];
            double back[3], out = 0;
            rig_run(sim, 125 << i);
            mabd_sim_get_state(sim, NULL, NULL, NULL, w);
            const double world[3] = {w[0], w[1], w[2]};
            turn_back(end.q, world, back);
            for (int k = 0; k < 3; k++) out = fmax(out, fabs(back[k] - end.w[k]));
            errors[i] = out;
            mabd_sim_destroy(sim);
        }
        cr_expect(rig_order(n ? "ball, sdirk2" : "ball, bdf2", 0.004, 3, errors) > 1.8);
    }
    mabd_model_destroy(model);
}

// ---- sticking ----------------------------------------------------------------------------------

// Holds 98 % of what the bound is, for 10 s; 2 % beyond it moves.
static void expect_stick(const char* what, const char* format, mabd_axis axis) {
    for (int slips = 0; slips < 2; slips++) {
        char text[1024];
        snprintf(text, sizeof text, format, slips ? 0.98 : 1.02);
        mabd_model* model = rig_text_model(text);
        const mabd_sim_def def = def_of(MABD_INTEGRATOR_BDF2, 0.02);
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < 500; i++) rig_step(sim);
        const double x = fabs(coordinate(sim, axis));
        cr_expect(slips ? x > 1e-3 : x < 1e-10, "%s, %d: %g", what, slips, x);
        rig_destroy(sim, model);
    }
}

Test(redmax_pins, stick_below_their_bound_and_slip_above) {
    // eccentricity e of a wheel of weight W against mu rho (4/pi) W
    expect_stick(
        "wheel",
        "{\"gravity\": [0, 0, -9.81], \"params\": {\"k\": {\"default\": %.3f}}, \"bodies\":"
        " [{\"name\": \"w\", \"shape\": \"sphere\", \"radius\": 0.1, \"position\":"
        " [0.005, 0, 0]}], \"joints\": [{\"type\": \"hinge\", \"b\": \"w\", \"anchor\":"
        " [0, 0, 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"pin\": {\"friction\":"
        " \"=k * 0.25\", \"radius\": \"=0.005 * pi / 4 / 0.25\"}}}}]}",
        MABD_AXIS_RX);
    expect_stick(
        "ball",
        "{\"gravity\": [0, 0, -9.81], \"params\": {\"k\": {\"default\": %.3f}}, \"bodies\":"
        " [{\"name\": \"w\", \"shape\": \"sphere\", \"radius\": 0.1, \"position\":"
        " [0.005, 0, 0]}], \"joints\": [{\"type\": \"ball\", \"b\": \"w\", \"anchor\":"
        " [0, 0, 0], \"axes\": {\"ry\": {\"pin\": {\"friction\":"
        " \"=k * 0.25\", \"radius\": \"=0.005 * pi / 4 / 0.25\"}}}}]}",
        MABD_AXIS_RY);
    // a slide on a guide at 30 degrees: tan(30) against mu (4/pi)
    expect_stick(
        "slide",
        "{\"gravity\": [-4.905, 0, -8.495709211125343], \"params\": {\"k\": {\"default\": %.3f}},"
        " \"bodies\": [{\"name\": \"w\", \"shape\": \"sphere\", \"radius\": 0.1}],"
        " \"joints\": [{\"type\": \"prismatic\", \"b\": \"w\", \"anchor\": [0, 0, 0],"
        " \"axis\": [1, 0, 0], \"axes\": {\"tx\": {\"pin\": {\"friction\":"
        " \"=k * 0.5773502691896258 * pi / 4\"}}}}]}",
        MABD_AXIS_TX);
}

// ---- loads -------------------------------------------------------------------------------------

static const char* const flywheel =
    "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"w\", \"shape\": \"sphere\","
    " \"radius\": 0.1, \"angular_velocity\": [0, 10, 0]}], \"forces\": [{\"body\": \"w\","
    " \"force\": [0, 0, %g]}], \"joints\": [{\"type\": \"hinge\", \"b\": \"w\", \"anchor\":"
    " [0, 0, 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"friction\": %g, \"pin\": {\"friction\":"
    " 0.2, \"radius\": 0.01}}}}]}";

// J w^2/(2 tau) turns until it stops; the friction takes J w^2/2.
Test(redmax_pins, wheels_with_loads_of_1_2_and_4_stop_after_1_a_half_and_a_quarter_of_the_turns) {
    const double mass = 1000 * 4 / 3. * acos(-1) * 1e-3, energy = 0.4 * mass * 0.01 * 50;
    for (int i = 0; i < 4; i++) {
        char text[1024];
        const double load = 100 << i % 3, constant = i == 3 ? 0.5 : 0;
        const double bound = constant + 0.2 * 0.01 * ring * load;
        snprintf(text, sizeof text, flywheel, -load, constant);
        mabd_model* model = rig_text_model(text);
        const mabd_sim_def def = def_of(MABD_INTEGRATOR_BDF2, 0.01);
        mabd_sim* sim = rig_sim(model, &def);
        double last = 0;
        for (int n = 0; n < 900; n++) {
            rig_step(sim);
            if (n == 880) last = coordinate(sim, MABD_AXIS_RX);
        }
        const double turned = coordinate(sim, MABD_AXIS_RX);
        const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
        // it stops within a step: an angle of a h^2 and the energy of a rate of a h
        const double a = bound / (energy / 50), h = (double)def.h;
        cr_expect(fabs(turned - energy / bound) < a * h * h, "%g N: %g of %g rad", load, turned,
                  energy / bound);
        cr_expect(fabs((double)b.friction - energy) < energy / 100 * a * a * h * h, "%g J of %g",
                  (double)b.friction, energy);
        cr_expect(fabs(turned - last) < 1e-10);
        rig_destroy(sim, model);
    }
}

// What is left over by the works of smooth friction is the error of the method.
Test(redmax_pins, friction_takes_the_energy_that_the_pendulum_loses) {
    const mabd_integrator methods[2] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2};
    mabd_model* model = pendulum(false, ", \"friction_speed\": 0.2");
    for (int n = 0; n < 2; n++) {
        double rest[3];
        for (int i = 0; i < 3; i++) {
            const mabd_sim_def def = def_of(methods[n], ldexp(0.005, -i));
            mabd_sim* sim = rig_sim(model, &def);
            rig_run(sim, 200 << i);
            const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
            rest[i] = fabs((double)b.integrator);
            cr_expect(b.friction > 1, "%g J", (double)b.friction);
            mabd_sim_destroy(sim);
        }
        cr_expect(rig_order("energy", 0.005, 3, rest) > 1.8);
    }
    mabd_model_destroy(model);
}

// ---- contacts ----------------------------------------------------------------------------------

// A rod on a pin falls on the ground and stays there: the pin carries half of its weight then, and
// what friction may hold of it.
Test(redmax_pins, rod_with_a_pin_comes_to_rest_on_the_ground) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"contact\": {\"enabled\": true}, \"bodies\": ["
        "{\"name\": \"floor\", \"fixed\": true, \"shape\": \"plane\", \"position\": [0, 0,"
        " -0.3]}, {\"name\": \"rod\", \"shape\": \"box\", \"size\": [1, 0.04, 0.04], \"friction\": "
        "0, \"position\":"
        " [0.5, 0, 0]}], \"joints\": [{\"type\": \"hinge\", \"b\": \"rod\", \"anchor\": [0, 0, 0],"
        " \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"pin\": {\"friction\": 0.3, \"radius\":"
        " 0.03}}}}]}");
    const mabd_sim_def def = def_of(MABD_INTEGRATOR_BDF2, 0.005);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real force[6], w[6];
    for (int i = 0; i < 400; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(info.converged, "step %d", i);
    }
    mabd_sim_get_joint_forces(sim, force);
    mabd_sim_get_state(sim, NULL, NULL, NULL, w);
    const double weight = 1.6 * 9.81, bound = 0.3 * 0.03 * ring * hypot(force[0], force[2]);
    const double x = coordinate(sim, MABD_AXIS_RX);
    cr_expect(fabs((double)w[4]) < 1e-6, "%g rad/s", (double)w[4]);
    cr_expect(x > 0.27 && x < 0.31, "%g rad", x);
    // the torque about the pin is that of friction: weight l/2 = ground l + friction
    const double least = weight / 2 - 2 * bound, most = weight / 2 + 2 * bound;
    cr_expect(force[2] > least && force[2] < most, "%g N", (double)force[2]);
    rig_destroy(sim, model);
}
