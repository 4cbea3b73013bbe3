// SPDX-License-Identifier: Apache-2.0
// Energy by cause of what only the redmax formulation has: springs between points, the penalty
// ground, laws on joints that close loops. Closed forms, and a rest `integrator` of second order.

#include "support/balance_rig.h"
#include "support/four_bar_loads.h"

static const balance_method methods[2] = {{MABD_FORMULATION_REDMAX, MABD_INTEGRATOR_BDF2},
                                          {MABD_FORMULATION_REDMAX, MABD_INTEGRATOR_SDIRK2}};

static double order_of(const char* what, double h, int n, const double* errors) {
    rig_order(what, h, n, errors);
    return log2(errors[1] / errors[n - 1]) / (n - 2);
}

// A body on a slide and a spring of points to the world or to a script that stands still, damped:
// the damper takes k x0^2/2 less what is left. m x'' + d x' + k x = 0, x0 = 0.2 m.
Test(redmax_balance, the_damper_of_a_spring_between_points_takes_its_energy) {
    const double m = 2, k = 80, d = 3, w = sqrt(k / m - d * d / (4 * m * m)), t = 1;
    const double decay = exp(-d * t / (2 * m)), c = cos(w * t), s = sin(w * t);
    const double x = 0.2 * decay * (c + d / (2 * m * w) * s);
    const double v = -0.2 * decay * (k / (m * w)) * s;
    const double taken = k * 0.04 / 2 - k * x * x / 2 - m * v * v / 2;
    const balance_case run = {
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": "
        "[0.1, 0.1, 0.1], \"mass\": 2, \"position\": [1.2, 0, 0]}], \"joints\": [{\"type\": "
        "\"prismatic\", \"b\": \"b\", \"axis\": [1, 0, 0]}], \"springs\": [{\"points\": "
        "[{\"body\": \"b\"}, {\"body\": \"world\", \"point\": [0, 0, 0]}], \"stiffness\": 80, "
        "\"damping\": 3, \"length\": 1}]}",
        1};
    for (int n = 0; n < 2; n++) {
        double works[4], rests[4];
        for (int i = 0; i < 4; i++) {
            const mabd_energy_balance b = balance_run(&run, methods[n], ldexp(0.01, -i));
            works[i] = fabs((double)b.dampers - taken), rests[i] = fabs((double)b.integrator);
            cr_expect(b.friction == 0 && b.scripts == 0 && b.drives == 0);
        }
        cr_expect(lt(dbl, 1.8, order_of("damper", 0.01, 4, works)));
        cr_expect(lt(dbl, 1.8, order_of("integrator", 0.01, 4, rests)));
    }
}

// A script that pulls a weight up by a spring of points does its work; damped, on a curved way.
Test(redmax_balance, a_script_works_through_a_spring) {
    const balance_case run = {
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"hook\", \"shape\": \"box\","
        " \"size\": [0.1, 0.1, 0.1], \"position\": [0, 0, 2], \"script\": {\"direction\":"
        " [0.6, 0, 0.8], \"translation\": {\"sine\": {\"amplitude\": 0.3, \"frequency\": 0.5}}}},"
        " {\"name\": \"b\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1], \"mass\": 2,"
        " \"position\": [0.2, 0, 1]}], \"springs\": [{\"points\": [{\"body\": \"hook\"},"
        " {\"body\": \"b\", \"point\": [0, 0, 0.05]}], \"stiffness\": 200, \"damping\": 2,"
        " \"length\": 0.9, \"law\": \"cable\"}]}",
        0.5};
    for (int n = 0; n < 2; n++) {
        double rests[4];
        for (int i = 0; i < 4; i++) {
            const mabd_energy_balance b = balance_run(&run, methods[n], ldexp(0.005, -i));
            rests[i] = fabs((double)b.integrator);
            cr_expect(fabs((double)b.scripts) > 1 && b.dampers > 0.01, "%g J, %g J",
                      (double)b.scripts, (double)b.dampers);
        }
        cr_expect(lt(dbl, 1.8, order_of("integrator", 0.005, 4, rests)));
    }
}

// A box slides on the penalty ground from 1 m/s to rest: friction takes m v^2/2.
Test(redmax_balance, friction_of_the_ground_takes_the_energy_of_a_box) {
    const balance_case run = {
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\":"
        " [0.4, 0.4, 0.02], \"mass\": 2, \"position\": [0, 0, 0.0095095], \"velocity\": [1, 0, 0]"
        "}], \"ground\": {\"stiffness\": 10000, \"damping\": 100, \"tangent\": 4000,"
        " \"friction\": 0.3, \"points\": \"corners\"}}",
        1};
    mabd_model* model = rig_text_model(run.text);
    mabd_sim* sim = balance_start(model, methods[0], 0.002);
    for (int i = 0; i < 500; i++) rig_step(sim);
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    balance_check(sim);
    printf("box: friction %.5g of 1 J, dampers %.2e J, integrator %.2e J\n", (double)b.friction,
           (double)b.dampers, (double)b.integrator);
    cr_expect(fabs((double)b.friction - 1) < 5e-3);
    cr_expect(fabs((double)b.integrator) < 5e-3);
    rig_destroy(sim, model);
}

// A mass of 2 kg dropped on the ground by 0.1 m, which does not let it off again: dampers take
// m g h.
Test(redmax_balance, damping_of_the_ground_takes_the_energy_of_a_fall) {
    const balance_case run = {
        "{\"gravity\": [0, 0, -9.81], \"nodes\": [{\"name\": \"n\", \"mass\": 2, \"position\":"
        " [0, 0, 0.1]}], \"ground\": {\"stiffness\": 20000, \"damping\": 400, \"points\":"
        " [{\"body\": \"n\"}]}}",
        1};
    const double rest = 2 * 9.81 / 20000, fall = 2 * 9.81 * (0.1 + rest) - 10000 * rest * rest;
    double errors[3];
    for (int i = 0; i < 3; i++) {
        const mabd_energy_balance b = balance_run(&run, methods[1], ldexp(0.0005, -i));
        errors[i] = fmax(fabs((double)b.dampers - fall), fabs((double)b.integrator)) / fall;
    }
    rig_order("fall", 0.0005, 3, errors); // the force, c v, begins within a step: c h/m of the fall
    for (int i = 0; i < 3; i++) cr_expect(errors[i] < 200 * ldexp(0.0005, -i));
}

// All hinges of a four-bar with springs, dampers, a motor and friction: one of them is cut.
Test(redmax_balance, laws_on_all_hinges_of_a_loop) {
    const four_bar_axis axes[4] = {{.k = 3, .d = 0.2, .arm = 0.002, .M = 1},
                                   {.k = 2, .d = 0.2, .mu = 0.3, .rho = 0.02, .speed = 0.5},
                                   {.k = 1, .d = 0.1, .M = -2},
                                   {.k = 2, .d = 0.3, .mu = 0.3, .rho = 0.02, .speed = 0.5}};
    mabd_model* model = four_bar_loaded(axes);
    for (int n = 0; n < 2; n++) {
        double rests[4];
        for (int i = 0; i < 4; i++) {
            mabd_sim* sim = balance_start(model, methods[n], ldexp(0.004, -i));
            rig_run(sim, 100 << i);
            const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
            balance_check(sim);
            rests[i] = fabs((double)b.integrator);
            cr_expect(fabs((double)b.drives) > 0.02 && b.dampers > 0.01 && b.friction > 0.003,
                      "%g %g %g J", (double)b.drives, (double)b.dampers, (double)b.friction);
            mabd_sim_destroy(sim);
        }
        cr_expect(lt(dbl, 1.8, order_of("integrator", 0.004, 4, rests)));
    }
    mabd_model_destroy(model);
}
