// SPDX-License-Identifier: Apache-2.0
// Bodies that turn in their own frame (integrator bdf2): steady spin is exact for any rotation per
// step, nutation keeps energy and momentum, a rolling ball keeps its speed. Step 10 ms unless a
// test says otherwise.
//
// Closed forms: a free body keeps L = R J o and E = o.J o/2, and about a principal axis it turns by
// o t; a ball that rolls without slip on a plane keeps v = o r; a wheel at a constant rate needs no
// torque; the centre of a thrown body moves on a parabola, whatever its spin.

#include "support/reference.h"
#include "support/rig.h"
#include "support/sanitized.h"

#include <string.h>

static const mabd_real h = 0.01;

static mabd_sim_def spin_def(void) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    def.integrator = MABD_INTEGRATOR_BDF2;
    return def;
}

// A free body without gravity; `shape` is its shape as text of a scene file.
static mabd_model* free_model(const char* shape, const mabd_real* rate) {
    char text[512];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", %s,"
             " \"angular_velocity\": [%.17g, %.17g, %.17g]}]}",
             shape, (double)rate[0], (double)rate[1], (double)rate[2]);
    return rig_text_model(text);
}

// Largest relative change of energy (above, and at the end) and of L over a run.
typedef struct drift {
    double above, energy, momentum;
} drift;

static drift run_free(const mabd_model* model, double seconds) {
    const mabd_sim_def def = spin_def();
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    drift d = {-1, 0, 0};
    for (int i = 0; i < (int)lround(seconds / h); i++) {
        rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        d.above = fmax(d.above, now.kinetic / start.kinetic - 1);
        d.energy = now.kinetic / start.kinetic - 1;
        d.momentum = rig_distance(now.angular_momentum, start.angular_momentum) /
                     rig_norm(start.angular_momentum);
    }
    mabd_sim_destroy(sim);
    return d;
}

static const char* const sphere = "\"shape\": \"sphere\", \"radius\": 0.1";
static const char* const box = "\"shape\": \"box\", \"size\": [0.1, 0.2, 0.3]";
static const char* const cylinder = "\"shape\": \"cylinder\", \"radius\": 0.05, \"length\": 0.3";

Test(spin, about_a_principal_axis_nothing_is_lost) {
    const double rates[4] = {1, 30, 100, 300};
    const char* const shapes[3] = {sphere, box, cylinder};
    for (int i = 0; i < 12; i++) {
        const mabd_real rate[3] = {0, 0, (mabd_real)rates[i % 4]};
        mabd_model* model = free_model(shapes[i / 4], rate);
        const drift d = run_free(model, AMOUNT(100, 10));
        cr_expect(fabs(d.energy) < 1e-9 && d.above < 1e-9, "shape %d, %g rad/s: energy %g", i / 4,
                  rates[i % 4], d.energy);
        cr_expect(d.momentum < 1e-9, "shape %d, %g rad/s: momentum %g", i / 4, rates[i % 4],
                  d.momentum);
        mabd_model_destroy(model);
    }
}

Test(spin, the_angle_is_the_rate_times_the_time) {
    const mabd_real rate[3] = {0, 0, 30};
    mabd_model* model = free_model(cylinder, rate);
    const mabd_sim_def def = spin_def();
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real q[4];
    rig_run(sim, 1000);
    mabd_sim_get_state(sim, NULL, q, NULL, NULL);
    const double angle = 2 * atan2(q[3], q[0]), expected = remainder(300, 2 * acos(-1));
    cr_expect(fabs(remainder(angle - expected, 2 * acos(-1))) < 1e-8, "%g for %g", angle, expected);
    rig_destroy(sim, model);
}

Test(spin, an_oblique_sphere_keeps_its_momentum) {
    const mabd_real rate[3] = {20, -30, 50};
    mabd_model* model = free_model(sphere, rate);
    const drift d = run_free(model, 20);
    cr_expect(d.momentum < 1e-9 && fabs(d.energy) < 1e-9, "%g, %g", d.momentum, d.energy);
    mabd_model_destroy(model);
}

// A symmetric top 17 degrees off its axis, and a T-handle 1 % off its middle axis.
Test(spin, nutation_keeps_energy_and_momentum) {
    const char* const top = "\"mass\": 1, \"inertia\": [2e-3, 2e-3, 3.5e-3]";
    const char* const handle = "\"mass\": 1, \"inertia\": [3.5e-3, 2.5e-3, 1.4e-3]";
    const struct {
        const char* shape;
        mabd_real rate[3];
        double seconds, bound;
    } trials[3] = {{top, {(mabd_real)8.77, 0, (mabd_real)28.69}, 100, 1e-4},
                   {handle, {(mabd_real)0.1, 10, 0}, 100, 1e-5},
                   {handle, {(mabd_real)0.3, 30, 0}, 100, 1e-4}};
    for (int i = 0; i < 3; i++) {
        mabd_model* model = free_model(trials[i].shape, trials[i].rate);
        const drift d = run_free(model, trials[i].seconds);
        printf("nutation %d: energy %.2e, at most %.2e, momentum %.2e\n", i, d.energy, d.above,
               d.momentum);
        cr_expect(fabs(d.energy) < trials[i].bound && d.above < trials[i].bound,
                  "%d: energy %g, at most %g", i, d.energy, d.above);
        mabd_model_destroy(model);
    }
}

// Times at which a rate changes sign.
typedef struct sign_watch {
    double last, times[8];
    int count;
} sign_watch;

static void watch_sign(sign_watch* s, double time, double step, double w) {
    if (s->last * w < 0 && s->count < 8) s->times[s->count++] = time - step * w / (w - s->last);
    s->last = w;
}

// A T-handle at 10 rad/s about its middle axis, 1 % off: four flips in 10 s, when Runge and Kutta
// have them.
Test(spin, a_t_handle_flips_in_time) {
    const reference_top top = {.inertia = {3.5e-3, 2.5e-3, 1.4e-3}};
    double y[7] = {1, 0, 0, 0, 0.1, 10, 0};
    sign_watch expected = {.last = 10}, found = {.last = 10};
    for (int i = 1; i <= 1000000; i++) {
        reference_rk4(reference_top_rate, &top, 7, 1e-5, 1, y);
        watch_sign(&expected, i * 1e-5, 1e-5, y[5]);
    }
    const mabd_real rate[3] = {(mabd_real)0.1, 10, 0};
    mabd_model* model = free_model("\"mass\": 1, \"inertia\": [3.5e-3, 2.5e-3, 1.4e-3]", rate);
    const mabd_sim_def def = spin_def();
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 1; i <= 1000; i++) {
        mabd_real q[4], angular[3], w[3];
        rig_step(sim);
        mabd_sim_get_state(sim, NULL, q, NULL, angular);
        reference_unrotate(q, angular, w);
        watch_sign(&found, i * h, h, w[1]);
    }
    cr_assert(found.count == 4 && expected.count == 4, "%d, %d flips", found.count, expected.count);
    for (int i = 0; i < 4; i++) {
        printf("flip at %.4f s, expected %.4f s\n", found.times[i], expected.times[i]);
        cr_expect(fabs(found.times[i] - expected.times[i]) < 0.01, "flip %d", i);
    }
    rig_destroy(sim, model);
}

Test(spin, an_idle_motor_needs_no_torque) {
    const double rates[5] = {30, 100, 251, 300, 500};
    for (int i = 0; i < 5; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"w\", \"shape\": \"cylinder\","
                 " \"radius\": 0.1, \"length\": 0.05, \"angular_velocity\": [0, 0, %g]}],"
                 " \"joints\": [{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"w\","
                 " \"anchor\": [0, 0, 0], \"axis\": [0, 0, 1],"
                 " \"axes\": {\"rx\": {\"motor_velocity\": %g}}}]}",
                 rates[i], rates[i]);
        mabd_model* model = rig_text_model(text);
        const mabd_sim_def def = spin_def();
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real wrench[6], angular[3];
        rig_run(sim, 200);
        mabd_sim_get_joint_forces(sim, wrench);
        mabd_sim_get_state(sim, NULL, NULL, NULL, angular);
        cr_expect(fabs(wrench[5]) < 1e-6, "%g rad/s: %g N m", rates[i], wrench[5]);
        cr_expect(fabs(angular[2] - rates[i]) < 1e-6, "%g for %g rad/s", angular[2], rates[i]);
        rig_destroy(sim, model);
    }
}

// A motor of limited torque spins a wheel up, w = T t/J, and then holds its rate with nothing.
Test(spin, a_limited_motor_reaches_its_rate) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"w\", \"mass\": 1,"
        " \"inertia\": [0.003, 0.003, 0.005]}], \"joints\": [{\"type\": \"hinge\","
        " \"a\": \"world\", \"b\": \"w\", \"anchor\": [0, 0, 0], \"axis\": [0, 0, 1],"
        " \"axes\": {\"rx\": {\"motor_velocity\": 20, \"max_force\": 0.2}}}]}");
    mabd_sim_def def = spin_def();
    def.h = (mabd_real)0.005;
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real w[3], wrench[6];
    rig_run(sim, 80); // 0.4 s of the 0.5 s that the torque takes
    mabd_sim_get_state(sim, NULL, NULL, NULL, w);
    cr_expect(fabs(w[2] / 16 - 1) < 1e-3, "%.9g of 16 rad/s", (double)w[2]);
    rig_run(sim, 120);
    mabd_sim_get_state(sim, NULL, NULL, NULL, w);
    mabd_sim_get_joint_forces(sim, wrench);
    printf("limited motor: %.9g rad/s, %.1e N m\n", (double)w[2], (double)wrench[5]);
    cr_expect(fabs(w[2] / 20 - 1) < 1e-3, "%.9g of 20 rad/s", (double)w[2]);
    cr_expect(fabs(wrench[5]) < 1e-6, "%g N m", (double)wrench[5]);
    rig_destroy(sim, model);
}

// Implicit Euler turns bodies in their own frames too: it takes nothing from a steady spin, in
// steps at stops and after impacts as little as in a whole run.
Test(spin, euler_keeps_a_steady_spin) {
    const mabd_real rate[3] = {0, 0, 30};
    mabd_model* model = free_model(sphere, rate);
    mabd_sim_def def = spin_def();
    def.integrator = MABD_INTEGRATOR_EULER;
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real w[3];
    rig_run(sim, 100);
    mabd_sim_get_state(sim, NULL, NULL, NULL, w);
    cr_expect(fabs(w[2] / 30 - 1) < 1e-9, "%.12g of 30 rad/s", (double)w[2]);
    rig_destroy(sim, model);
}

// A slider that a motor drives from stop to stop ten times a second makes every fifth step one of
// implicit Euler, for all bodies, and restarts BDF2 after it.
Test(spin, steps_by_euler_between_those_of_bdf2_take_nothing) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"ball\", \"shape\": \"sphere\","
        " \"radius\": 0.1, \"angular_velocity\": [10, -20, 30]}, {\"name\": \"slider\","
        " \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], \"density\": 1000,"
        " \"position\": [1, 0, 0]}], \"joints\": [{\"type\": \"prismatic\", \"a\": \"world\","
        " \"b\": \"slider\", \"anchor\": [1, 0, 0], \"axis\": [1, 0, 0], \"axes\": {\"tx\":"
        " {\"lower\": -0.001, \"upper\": 0.001, \"motor\": {\"sine\": {\"amplitude\": 50,"
        " \"frequency\": 10}}}}}]}");
    const mabd_sim_def def = spin_def();
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real w[6], x[6];
    int changes = 0;
    double last = 0;
    for (int i = 0; i < 200; i++) {
        rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, NULL, w);
        const double side = x[3] > 1 + 9e-4 ? 1 : x[3] < 1 - 9e-4 ? -1 : 0;
        changes += side != last && side != 0;
        last = side;
    }
    printf("%d arrivals at stops in 200 steps\n", changes);
    cr_expect(changes >= 20, "%d arrivals", changes);
    const double start[3] = {10, -20, 30};
    for (int k = 0; k < 3; k++) {
        cr_expect(fabs(w[k] / start[k] - 1) < 1e-9, "%.12g of %g rad/s", (double)w[k], start[k]);
    }
    rig_destroy(sim, model);
}

Test(spin, a_rolling_ball_keeps_its_speed) {
    const double speeds[3] = {1, 3, 10};
    for (int i = 0; i < 3; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"contact\": {\"enabled\": true}, \"bodies\": [{\"name\": \"g\","
                 " \"shape\": \"plane\", \"fixed\": true, \"friction\": 1}, {\"name\": \"b\","
                 " \"shape\": \"sphere\", \"radius\": 0.1, \"friction\": 1,"
                 " \"position\": [0, 0, 0.1], \"velocity\": [%g, 0, 0],"
                 " \"angular_velocity\": [0, %g, 0]}]}",
                 speeds[i], speeds[i] / 0.1);
        mabd_model* model = rig_text_model(text);
        const mabd_sim_def def = spin_def();
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real v[6], angular[6];
        rig_run(sim, 500);
        mabd_sim_get_state(sim, NULL, NULL, v, angular);
        cr_expect(fabs(v[3] / speeds[i] - 1) < 1e-9, "%g m/s: %g", speeds[i], v[3]);
        cr_expect(fabs(0.1 * angular[4] / speeds[i] - 1) < 1e-9, "%g m/s: %g", speeds[i],
                  0.1 * angular[4]);
        rig_destroy(sim, model);
    }
}

// A ball that rolls down a slope without slip has the acceleration 5/7 g sin.
Test(spin, a_ball_rolls_down_a_slope) {
    const double angle = 0.3;
    char text[1024];
    snprintf(text, sizeof text,
             "{\"gravity\": [%.17g, 0, %.17g], \"contact\": {\"enabled\": true}, \"bodies\":"
             " [{\"name\": \"g\", \"shape\": \"plane\", \"fixed\": true, \"friction\": 1},"
             " {\"name\": \"b\", \"shape\": \"sphere\", \"radius\": 0.1, \"friction\": 1,"
             " \"position\": [0, 0, 0.1]}]}",
             9.81 * sin(angle), -9.81 * cos(angle));
    mabd_model* model = rig_text_model(text);
    mabd_sim_def def = spin_def();
    def.h = (mabd_real)0.005;
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real v[6], w[6];
    rig_run(sim, 400);
    mabd_sim_get_state(sim, NULL, NULL, v, w);
    const double expected = 5.0 / 7 * 9.81 * sin(angle) * 2;
    printf("slope: v %.6f, w r %.6f of %.6f m/s\n", (double)v[3], 0.1 * (double)w[4], expected);
    cr_expect(fabs(v[3] / expected - 1) < 1e-3, "%g of %g m/s", (double)v[3], expected);
    cr_expect(fabs(0.1 * w[4] / expected - 1) < 1e-3, "%g of %g m/s", 0.1 * (double)w[4], expected);
    rig_destroy(sim, model);
}

Test(spin, a_thrown_spinning_ball_flies_on_a_parabola) {
    mabd_model* model =
        rig_text_model("{\"bodies\": [{\"name\": \"b\", \"shape\": \"sphere\", \"radius\": 0.1,"
                       " \"velocity\": [3, 0, 4], \"angular_velocity\": [0, 100, 300]}]}");
    const mabd_sim_def def = spin_def();
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real x[3];
    rig_run(sim, 100);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    const mabd_real expected[3] = {3, 0, (mabd_real)(4 - 9.81 / 2)};
    cr_expect(rig_distance(x, expected) < 1e-12, "%g m", rig_distance(x, expected));
    rig_destroy(sim, model);
}

static mabd_model* whip(int links, double young, double length, double radius) {
    char text[512];
    snprintf(text, sizeof text,
             "{\"generators\": [{\"type\": \"chain\", \"name\": \"c\", \"links\": %d,"
             " \"length\": %g, \"radius\": %g, \"young\": %g}]}",
             links, length, radius, young);
    return rig_text_model(text);
}

// Energy of a whip never rises: at the crack the last link turns by more than a radian in a step.
Test(spin, a_whip_never_gains_energy) {
    const struct {
        int links;
        double length, radius;
    } whips[2] = {{100, 0.1, 0.01}, {30, 1, 0.01}};
    for (int i = 0; i < 2; i++) {
        mabd_model* model = whip(whips[i].links, 2e11, whips[i].length, whips[i].radius);
        const mabd_sim_def def = spin_def();
        mabd_sim* sim = rig_sim(model, &def);
        const double start = mabd_sim_measure(sim).energy;
        double most = 0, scale = 0;
        long iterations = 0;
        for (int k = 0; k < 1000; k++) {
            iterations += rig_step(sim).iterations;
            const mabd_measure now = mabd_sim_measure(sim);
            most = fmax(most, now.energy - start);
            scale = fmax(scale, now.kinetic);
        }
        printf("whip of %d: %.2f iterations, energy at most %.1e of %.1f J above\n", whips[i].links,
               (double)iterations / 1000, most, scale);
        cr_expect(most < 1e-3 * scale, "%g of %g J", most, scale);
        cr_expect(iterations < 1400, "%ld iterations", iterations);
        rig_destroy(sim, model);
    }
}

// Rods on ball joints are not spun about their axes by rotations that a solve leaves open.
Test(spin, rods_of_a_whip_do_not_spin_about_their_axes) {
    enum { links = 30 };
    mabd_model* model = whip(links, 2e11, 1, 0.01);
    const mabd_sim_def def = spin_def();
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real q[4 * links], w[3 * links];
    double worst = 0;
    for (int k = 0; k < 1000; k++) {
        rig_step(sim);
        mabd_sim_get_state(sim, NULL, q, NULL, w);
        for (int i = 0; i < links; i++) {
            const mabd_real *p = q + 4 * i, *o = w + 3 * i;
            const double axis[3] = {1 - 2 * (p[2] * p[2] + p[3] * p[3]),
                                    2 * (p[1] * p[2] + p[0] * p[3]),
                                    2 * (p[1] * p[3] - p[0] * p[2])};
            worst = fmax(worst, fabs(axis[0] * o[0] + axis[1] * o[1] + axis[2] * o[2]));
        }
    }
    cr_expect(worst < 1, "%g rad/s", worst);
    rig_destroy(sim, model);
}

// ---- bits --------------------------------------------------------------------------------------

static void expect_same(mabd_sim* a, mabd_sim* b, int bodies, const char* what) {
    mabd_real* x = calloc(14 * (size_t)bodies, sizeof *x);
    mabd_real* y = x + 7 * (size_t)bodies;
    mabd_sim_get_state(a, x, x + 3 * bodies, NULL, NULL);
    mabd_sim_get_state(b, y, y + 3 * bodies, NULL, NULL);
    cr_expect(memcmp(x, y, 7 * (size_t)bodies * sizeof *x) == 0, "%s", what);
    free(x);
}

Test(spin, a_soft_body_takes_the_old_step) {
    mabd_model* model = whip(20, 1e5, 0.1, 0.01);
    mabd_sim_def def = spin_def();
    mabd_sim* now = rig_sim(model, &def);
    def.integrator = MABD_INTEGRATOR_BDF2_LINEAR;
    mabd_sim* old = rig_sim(model, &def);
    rig_run(now, 100);
    rig_run(old, 100);
    expect_same(now, old, 20, "soft");
    mabd_sim_destroy(old);
    rig_destroy(now, model);
}

Test(spin, threads_clones_and_saved_states_give_the_same_bits) {
    mabd_model* model = whip(1200, 2e11, 0.1, 0.01);
    mabd_sim_def def = spin_def();
    mabd_error error = {0};
    mabd_sim* one = rig_sim(model, &def);
    def.threads = 2;
    mabd_sim* two = rig_sim(model, &def);
    rig_run(one, 40);
    rig_run(two, 40);
    expect_same(one, two, 1200, "threads");
    mabd_sim* clone = NULL;
    rig_check(mabd_sim_clone(one, &clone, &error), &error, "clone");
    rig_run(one, 40);
    rig_run(clone, 40);
    expect_same(one, clone, 1200, "clone");
    mabd_sim_destroy(clone);
    mabd_sim_destroy(two);
    rig_destroy(one, model);
}

// Warnings about bodies that turn too far in a step: text with the body and its rate, once.
static int fast_warnings(const mabd_model* model, int steps, mabd_warning* first) {
    const mabd_sim_def def = spin_def();
    mabd_sim* sim = rig_sim(model, &def);
    const int before = mabd_sim_warnings(sim, 0, NULL);
    rig_run(sim, steps);
    const int after = mabd_sim_warnings(sim, 0, NULL);
    mabd_warning all[8];
    mabd_sim_warnings(sim, 8, all);
    if (after > before) *first = all[before];
    mabd_sim_destroy(sim);
    return after - before;
}

Test(spin, warns_once_of_a_body_that_turns_too_far) {
    const struct {
        const char* shape;
        mabd_real rate;
        int warnings;
        const char* reason;
    } trials[5] = {{box, 100, 0, ""},
                   {box, 130, 1, "its nutation is not resolved"},
                   {sphere, 130, 0, ""},
                   {sphere, 330, 1, "more than half a turn"},
                   {cylinder, 30, 0, ""}};
    for (int i = 0; i < 5; i++) {
        const mabd_real rate[3] = {0, 0, trials[i].rate};
        mabd_model* model = free_model(trials[i].shape, rate);
        mabd_warning warning = {0};
        cr_expect(fast_warnings(model, 20, &warning) == trials[i].warnings, "trial %d", i);
        if (trials[i].warnings == 1) {
            printf("%s\n", warning.text);
            cr_expect(warning.body == 0 && warning.step == 1);
            cr_expect(strstr(warning.text, "body 'b' turns at ") != NULL);
            cr_expect(strstr(warning.text, trials[i].reason) != NULL);
        }
        mabd_model_destroy(model);
    }
}

Test(spin, warns_of_a_whip_whose_end_is_damped) {
    mabd_chain_def chain = mabd_default_chain_def();
    mabd_warning warning = {0};
    chain.links = 100;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-9.81);
    cr_expect(fast_warnings(model, 600, &warning) == 1);
    printf("%s\n", warning.text);
    mabd_model_destroy(model);
}

// A motor with a constant torque spins a wheel up far beyond the rate from which bodies with a
// torque that varies are damped: w = torque t/J.
Test(spin, a_motor_spins_a_wheel_up_as_its_torque_says) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"w\", \"mass\": 1,"
        " \"inertia\": [0.003, 0.003, 0.005]}], \"joints\": [{\"type\": \"hinge\","
        " \"a\": \"world\", \"b\": \"w\", \"anchor\": [0, 0, 0], \"axis\": [0, 0, 1],"
        " \"axes\": {\"rx\": {\"motor\": 10}}}]}");
    const mabd_sim_def def = spin_def();
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real w[3];
    rig_run(sim, 12); // 240 rad/s, 2.4 rad in a step
    mabd_sim_get_state(sim, NULL, NULL, NULL, w);
    cr_expect(fabs(w[2] / (10 / 0.005 * 0.12) - 1) < 1e-4, "%g rad/s", (double)w[2]);
    rig_destroy(sim, model);
}
