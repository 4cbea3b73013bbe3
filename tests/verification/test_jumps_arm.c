// SPDX-License-Identifier: Apache-2.0
// Controls that are held, as a policy holds them: an arm of 7 hinges with stiff servos whose
// targets jump every 20 ms, against a run with a small step. The error is the root of the mean
// square of all angles at the ends of all periods.

#include "support/arm_rig.h"

#define VALUES (ARM_PERIODS * ARM_JOINTS)
/// Step of the reference [s]: its error is 1/100 of that at 1 ms.
#define FINE 1e-4

static double rms_error(const mabd_real* a, const mabd_real* b) {
    double sum = 0;
    for (int i = 0; i < VALUES; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum / VALUES);
}

// Errors with steps of 1, 2, 5 and 10 ms.
static void measure(const char* what, const mabd_model* model, mabd_integrator integrator,
                    bool outside, double errors[4]) {
    static const double h[] = {0.001, 0.002, 0.005, 0.01};
    mabd_real fine[VALUES], path[VALUES];
    arm_run(model, integrator, FINE, outside, fine);
    printf("%s:", what);
    for (int i = 0; i < 4; i++) {
        arm_run(model, integrator, h[i], outside, path);
        errors[i] = rms_error(path, fine);
        printf(" %g ms %.2e (at most %.2e)", 1e3 * h[i], errors[i], arm_error(path, fine));
    }
    printf(" rad, order %.2f\n", log(errors[2] / errors[0]) / log(5));
}

// BDF2 with its history over the jumps: 1.19e-3, 2.5e-3, 6.7e-3 and 1.3e-2 rad, of first order.
static void expect_second_order(const double errors[4]) {
    cr_expect(lt(dbl, 1.7, log(errors[2] / errors[0]) / log(5)));
    cr_expect(lt(dbl, 1.7, log(errors[1] / errors[0]) / log(2)));
    cr_expect(lt(dbl, errors[2], 5e-4));
    cr_expect(lt(dbl, errors[3], 2.0e-3));
}

Test(jumps_arm, held_targets_from_outside_are_of_second_order) {
    const arm_case c = {0};
    mabd_model* model = rig_model(arm_scene(&c));
    double errors[4];
    measure("bdf2", model, MABD_INTEGRATOR_BDF2, true, errors);
    expect_second_order(errors);
    measure("bdf2-linear", model, MABD_INTEGRATOR_BDF2_LINEAR, true, errors);
    expect_second_order(errors);
    mabd_model_destroy(model);
}

// Signals of steps act like the same targets from outside, bit for bit.
Test(jumps_arm, steps_are_held_targets) {
    const arm_case from_outside = {0}, by_steps = {.steps = true};
    mabd_model* models[] = {rig_model(arm_scene(&from_outside)), rig_model(arm_scene(&by_steps))};
    static const double h[] = {0.001, 0.002, 0.004, 0.005, 0.01, 0.02};
    mabd_real paths[2][VALUES];
    double errors[4];
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 2; k++) {
            arm_run(models[k], MABD_INTEGRATOR_BDF2, h[i], k == 0, paths[k]);
        }
        cr_expect(eq(int, memcmp(paths[0], paths[1], sizeof paths[0]), 0), "h = %g", h[i]);
    }
    measure("steps", models[1], MABD_INTEGRATOR_BDF2, false, errors);
    expect_second_order(errors);
    mabd_model_destroy(models[0]);
    mabd_model_destroy(models[1]);
}

// With a limit of the torques the servos have a law, and most are at their limit after a jump. The
// history over jumps gave 1.07e-3, 2.1e-3, 4.6e-3 and 7.9e-3 rad.
Test(jumps_arm, limited_servos_gain_too) {
    const arm_case c = {.max_force = 100};
    mabd_model* model = rig_model(arm_scene(&c));
    double errors[4];
    measure("at most 100 N m", model, MABD_INTEGRATOR_BDF2, true, errors);
    cr_expect(lt(dbl, 1.7, log(errors[2] / errors[0]) / log(5)));
    cr_expect(lt(dbl, errors[0], 2e-4));
    cr_expect(lt(dbl, errors[3], 7.9e-3));
    mabd_model_destroy(model);
}

// ---- contacts ----------------------------------------------------------------------------------

// Contacts that are possible but do not occur. The history over jumps gave 1.19e-3 .. 1.28e-2 rad.
Test(jumps_arm, an_arm_that_may_touch_gains_as_much) {
    const arm_case c = {.wall = 3};
    mabd_model* model = rig_model(arm_scene(&c));
    double errors[4];
    measure("with contacts", model, MABD_INTEGRATOR_BDF2, true, errors);
    expect_second_order(errors);
    mabd_model_destroy(model);
}

// An arm that hits a wall 2 cm beside it many times; the history over jumps gave 1.19e-3 .. 1.27e-2
// rad. Touching bodies stay with implicit Euler, which is of first order.
Test(jumps_arm, an_arm_that_touches_loses_nothing) {
    static const double before[] = {1.207e-3, 2.551e-3, 6.674e-3, 1.270e-2};
    const arm_case c = {.wall = 0.02};
    mabd_model* model = rig_model(arm_scene(&c));
    double errors[4];
    measure("at a wall", model, MABD_INTEGRATOR_BDF2, true, errors);
    for (int i = 0; i < 4; i++) cr_expect(lt(dbl, errors[i], 0.7 * before[i]), "%d", i);
    mabd_model_destroy(model);
}
