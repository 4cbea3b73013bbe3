// SPDX-License-Identifier: Apache-2.0
// Stops with rebound against closed forms: the energy after k impacts of a fall is e^(2 k) of that
// before, at the right times, and e = 1 never adds energy. Both backends agree.

#include "support/balance_rig.h"

#define G 9.81

// A box of 8 kg on a vertical slide, 1 m above its lower stop.
static mabd_model* slide_model(double e) {
    char text[700];
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": [0.2, 0.2, 0.2]}],"
             " \"joints\": [{\"type\": \"prismatic\", \"b\": \"b\", \"axis\": [0, 0, 1],"
             " \"axes\": {\"tx\": {\"lower\": -1, \"limit_restitution\": %.17g}}}]}",
             e);
    return rig_text_model(text);
}

static double height(const mabd_sim* sim) {
    mabd_real x[3];
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    return x[2] + 1;
}

// Highest point between the impacts number `first` and first + 1.
static double top(mabd_sim* sim, double e, int first) {
    const double fall = sqrt(2 / G);
    double from = fall, best = 0;
    for (int i = 1; i < first; i++) from += 2 * fall * pow(e, i);
    const double to = from + 2 * fall * pow(e, first);
    while (mabd_sim_time(sim) < to) {
        const mabd_step_info info = rig_step(sim);
        cr_expect(info.converged && info.retries == 0);
        const double z = height(sim);
        if (mabd_sim_time(sim) > from) best = fmax(best, z);
    }
    return best;
}

static void bounce(double e, double h) {
    mabd_model* model = slide_model(e);
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    mabd_sim* sim = rig_sim(model, &def);
    for (int k = 1; k <= 3; k++) {
        const double wanted = pow(e, 2 * k), z = top(sim, e, k);
        printf("e %g, h %g ms, bounce %d: %.5f of %.5f m\n", e, 1e3 * h, k, z, wanted);
        cr_expect(lt(dbl, fabs(z - wanted), 1e-4));
        cr_expect(lt(dbl, z, 1));
    }
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    // the run ends with the fourth impact
    const double taken = 8 * G * (1 - pow(e, 8));
    printf("  impacts %.4f of %.4f J, integrator %.4f J\n", (double)b.impacts, taken,
           (double)b.integrator);
    cr_expect(lt(dbl, fabs(b.impacts - taken), 1e-3 * taken));
    cr_expect(lt(dbl, fabs(b.integrator), 1e-3 * taken));
    balance_check(sim);
    rig_destroy(sim, model);
}

Test(stop_rebound, a_slide_bounces_to_the_square_of_its_restitution) {
    bounce(0.8, 0.004);
    bounce(0.8, 0.001);
    bounce(0.5, 0.001);
}

// 20 s of bounces without loss at the stop, at several steps: the energy falls, never rises.
Test(stop_rebound, full_restitution_never_adds_energy) {
    for (double h = 0.02; h > 0.002; h /= 2.7) {
        mabd_model* model = slide_model(1);
        mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
        mabd_sim* sim = rig_sim(model, &def);
        double energy = mabd_sim_measure(sim).energy, lowest = 0;
        const double start = energy;
        for (int i = 0; i * h < 20; i++) {
            rig_step(sim);
            const double now = mabd_sim_measure(sim).energy;
            cr_expect(lt(dbl, now, energy + 1e-9), "step %d: %.3e J more", i, now - energy);
            lowest = fmin(lowest, height(sim));
            energy = now;
        }
        printf("h %g ms: %.4f of the energy left after 20 s\n", 1e3 * h,
               (energy - start) / (8 * G) + 1);
        cr_expect(lt(dbl, -lowest, 1e-9));
        rig_destroy(sim, model);
    }
}

// A pendulum of a rod of 1 m, from the horizontal against a stop at the bottom: it swings back to
// cos b = 1 - e^2.
static double swing(mabd_backend backend) {
    const double e = 0.7;
    mabd_model* model = rig_text_model(
        "{\"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": [1, 0.1, 0.1], \"young\":"
        " 1e13, \"position\": [0.5, 0, 0]}], \"joints\": [{\"type\": \"hinge\", \"b\": \"b\","
        " \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"upper\":"
        " 1.5707963267948966, \"limit_restitution\": 0.7}}}]}");
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.002);
    def.backend = backend;
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real x[3];
    bool hit = false;
    double back = 0;
    for (int i = 0; i < 650; i++) {
        rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        hit |= x[2] < -0.4999;
        if (hit && x[2] + 0.5 > back) back = x[2] + 0.5;
    }
    printf("back by %.5f of %.5f m\n", back, e * e * 0.5);
    rig_destroy(sim, model);
    return back;
}

Test(stop_rebound, a_pendulum_swings_back_from_its_stop) {
    const double back = swing(MABD_BACKEND_CPU);
    cr_expect(lt(dbl, fabs(back - 0.245), 5e-3));
    if (!mabd_backend_get_info(MABD_BACKEND_EXECUTOR).built) return;
    cr_expect(lt(dbl, fabs(swing(MABD_BACKEND_EXECUTOR) - back), 1e-9));
}
