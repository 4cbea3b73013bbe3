// SPDX-License-Identifier: Apache-2.0
// Sensitivity of poses to a motor [VQ Fig. 12]: two designs of one four-bar linkage,
// scenes/driven-four-bar.json, which start alike and differ in the driven joint. The oracle is
// differences of fourth order of whole runs with another torque in the scene.
#include "mabd/gradient.h"
#include "support/rig.h"

#define BODIES 3
#define STATE  12
#define STEPS  40
#define STEP   0.01

static mabd_model* model_with(const char* motor, double torque) {
    mabd_error error = {0};
    mabd_scene* scene;
    char value[32];
    snprintf(value, sizeof value, "%.17g", torque);
    const mabd_setting setting = {motor, value};
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(
        mabd_scene_load(scene, MABD_SOURCE_DIR "/scenes/driven-four-bar.json", 1, &setting, &error),
        &error, "load");
    return rig_model(scene);
}

static mabd_sim_def definition(void) {
    mabd_sim_def def = mabd_default_sim_def();
    def.formulation = MABD_FORMULATION_QUATERNION;
    def.h = (mabd_real)STEP;
    mabd_sim_def_apply_preset(&def, MABD_PRESET_EXACT);
    return def;
}

// Positions (BODIES x 3) at the end of a run.
static void end_of_run(const char* motor, double torque, mabd_real* positions) {
    mabd_error error = {0};
    mabd_sim* sim;
    const mabd_sim_def def = definition();
    mabd_model* model = model_with(motor, torque);
    rig_check(mabd_sim_create(model, &def, &sim, &error), &error, "sim");
    for (int k = 0; k < STEPS; k++) rig_check(mabd_sim_step(sim, NULL, &error), &error, "step");
    mabd_sim_get_state(sim, positions, NULL, NULL, NULL);
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

// Derivatives of all states by control number `control`, and their largest pose entry.
static double sensitivity(const char* motor, int32_t control, mabd_real* ds_dp) {
    mabd_error error = {0};
    mabd_gradient* gradient;
    mabd_model* model = model_with(motor, 0);
    const mabd_sim_def sim = definition();
    mabd_parameter p = mabd_default_parameter(MABD_PARAMETER_CONTROL);
    p.index = control, p.last = STEPS;
    mabd_gradient_def def = mabd_default_gradient_def();
    def.parameter_count = 1, def.parameters = &p, def.steps = STEPS;
    rig_check(mabd_gradient_create(model, &sim, &def, &gradient, &error), &error, "gradient");
    const mabd_real zero = 0;
    rig_check(mabd_gradient_forward(gradient, &zero, 1, ds_dp, &error), &error, "forward");
    mabd_gradient_destroy(gradient);
    mabd_model_destroy(model);
    double peak = 0;
    for (int i = 0; i < (STEPS + 1) * BODIES * STATE; i++) {
        if (i % STATE < 6) peak = fmax(peak, fabs((double)ds_dp[i]));
    }
    return peak;
}

Test(sensitivity, of_two_designs_is_that_of_differences) {
    static mabd_real ds_dp[(STEPS + 1) * BODIES * STATE];
    const char* const motors[] = {"crank", "rocker"};
    double peaks[2];
    for (int k = 0; k < 2; k++) {
        const double d = 1e-3;
        mabd_real at[4][3 * BODIES];
        peaks[k] = sensitivity(motors[k], k, ds_dp);
        end_of_run(motors[k], -2 * d, at[0]);
        end_of_run(motors[k], -d, at[1]);
        end_of_run(motors[k], d, at[2]);
        end_of_run(motors[k], 2 * d, at[3]);
        for (int i = 0; i < 3 * BODIES; i++) {
            const double difference =
                (at[0][i] - 8 * at[1][i] + 8 * at[2][i] - at[3][i]) / (12 * d);
            const double found = (double)ds_dp[(STEPS * BODIES + i / 3) * STATE + i % 3];
            cr_expect(fabs(found - difference) < 1e-6 * peaks[k], "%s: %g, %g", motors[k], found,
                      difference);
        }
    }
    cr_log_info("peak by crank %g, by rocker %g", peaks[0], peaks[1]);
    // the rocker is twice as long, so a torque on it moves the bars less
    cr_expect(peaks[0] > 1.5 * peaks[1], "%g, %g", peaks[0], peaks[1]);
}
