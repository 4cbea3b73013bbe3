// SPDX-License-Identifier: Apache-2.0
// The variational formulation [VI] against references in minimal coordinates and conservation laws.
// Where the method of the paper to the letter has a fault, the test shows that fault as well
// (integrator symplectic-euler, or one substep), so that it cannot pass by chance.
#include "support/reference.h"
#include "support/rig.h"

#define G 9.81

static mabd_sim_def variational_def(mabd_real h) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    def.formulation = MABD_FORMULATION_VARIATIONAL;
    return def;
}

// ---- order -------------------------------------------------------------------------------------

#define SECONDS 1.0
#define WIDTH   0.04

// Height and place of the tip of the double pendulum of scenes/double-pendulum.json after SECONDS,
// by Lagrange's equations.
static void reference_tip(double* x, double* z) {
    const double inertia = (1 + WIDTH * WIDTH) / 12, mass = 1000 * WIDTH * WIDTH;
    const reference_double_pendulum rods = {
        {mass, mass}, {0.5, 0.5}, {mass * inertia, mass * inertia}, 1, G};
    double y[4] = {acos(0), acos(0), 0, 0}; // level: a quarter turn from straight down
    const double h = 2.5e-3 / 64;
    reference_rk4(reference_double_pendulum_rate, &rods, 4, h, lround(SECONDS / h), y);
    *x = sin(y[0]) + sin(y[1]) / 2, *z = -cos(y[0]) - cos(y[1]) / 2;
}

static double tip_error(const mabd_model* model, mabd_integrator integrator, double h, double x,
                        double z) {
    mabd_sim_def def = variational_def(h);
    mabd_real p[6];
    def.integrator = integrator;
    mabd_sim* sim = rig_sim(model, &def);
    for (long i = 0; i < lround(SECONDS / h); i++) rig_step(sim);
    mabd_sim_get_state(sim, p, NULL, NULL, NULL);
    mabd_sim_destroy(sim);
    return hypot(p[3] - x, p[5] - z);
}

Test(variational, a_double_pendulum_is_of_second_order_and_the_literal_method_of_first) {
    mabd_model* model = rig_file_model("scenes/double-pendulum.json", NULL, NULL);
    double x, z, halves[3], literal[3];
    reference_tip(&x, &z);
    for (int i = 0; i < 3; i++) {
        const double h = ldexp(0.01, -i);
        halves[i] = tip_error(model, MABD_INTEGRATOR_RATTLE, h, x, z);
        literal[i] = tip_error(model, MABD_INTEGRATOR_SYMPLECTIC_EULER, h, x, z);
    }
    const double order = rig_order("rattle", 0.01, 3, halves);
    const double first = rig_order("symplectic-euler", 0.01, 3, literal);
    cr_expect(order > 1.9 && order < 2.1, "order %g", order);
    cr_expect(first > 0.8 && first < 1.2, "literal: order %g", first);
    cr_expect(lt(dbl, 10 * halves[0], literal[0]));
    mabd_model_destroy(model);
}

// ---- dead points -------------------------------------------------------------------------------

// The double four-bar has 35 rows on 30 freedoms, and its matrix is singular at every position; at
// dead points, all bars level, one more freedom opens.
static void expect_through_dead_points(const char* loops, double seconds, double most) {
    mabd_model* model = rig_file_model("scenes/double-four-bar.json", "loops", loops);
    const mabd_sim_def def = variational_def(0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    double gap = 0, drift = 0, iterations = 0;
    const int steps = (int)(seconds / 0.01);
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(info.converged && info.retries == 0, "step %d", i);
        gap = fmax(gap, info.gap), iterations += info.iterations;
        drift = fmax(drift, fabs(mabd_sim_measure(sim).energy - start));
    }
    printf("%s loops: E0 %.4f J, drift %.2e J, gap %.1e m, %.2f iterations\n", loops, start, drift,
           gap, iterations / steps);
    cr_expect(lt(dbl, gap, 1e-12));
    cr_expect(lt(dbl, drift, 0.045 / 35.835 * start));
    cr_expect(lt(dbl, iterations / steps, most));
    rig_destroy(sim, model);
}
Test(variational, the_double_four_bar_passes_its_dead_points) {
    expect_through_dead_points("2", 60, 3.2);
}
Test(variational, three_four_bars_pass_their_dead_points) {
    expect_through_dead_points("3", 20, 3.6);
}

// ---- substeps ----------------------------------------------------------------------------------

// Ten rods of 0.1 m swing from level, 10 ms a step: the lowest rod carries the weight of all others
// at a rate far beyond 2/h. Returns the largest energy less that of the start [J].
static double whip_gain(int32_t substeps, double seconds) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 10, chain.length = (mabd_real)0.1;
    mabd_model* model = rig_chain_model(&chain, -G);
    mabd_sim_def def = variational_def(0.01);
    def.variational.substeps = substeps;
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    double gain = 0;
    for (int i = 0; i < (int)(seconds / 0.01) && gain < 100; i++) {
        mabd_error error;
        if (mabd_sim_step(sim, NULL, &error) != MABD_OK) {
            gain = INFINITY;
            break;
        }
        gain = fmax(gain, mabd_sim_measure(sim).energy - start);
    }
    rig_destroy(sim, model);
    return gain;
}

Test(variational, sticky_substeps_keep_a_whip_below_its_first_energy) {
    const double sticky = whip_gain(0, 60), single = whip_gain(1, 60);
    printf("whip: gain %.2e J with substeps, %.2e J without\n", sticky, single);
    cr_expect(lt(dbl, sticky, 1e-6));
    cr_expect(lt(dbl, 1e-2, single));
}
