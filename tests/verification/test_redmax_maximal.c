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
    cr_expect(gt(dbl, order, 0.85), "%s, %s", c->scene, c->integrator);
    cr_expect(lt(dbl, log2(errors[1] / errors[2]), 1.15), "%s, %s", c->scene, c->integrator);
    rig_destroy(exact, model);
}

Test(redmax_maximal, a_thrown_box_converges_to_its_motion_with_order_1) {
    const order_case c = {"scenes/redmax/rigid.json", "auto", NULL, NULL, 5e-4, 0.3, 0};
    expect_order(&c);
}

Test(redmax_maximal, two_boxes_converge_to_joint_coordinates_with_order_1) {
    const order_case c[] = {
        {"scenes/redmax/joint.json", "semi-implicit", NULL, NULL, 1e-3, 0.3, 0},
        {"scenes/redmax/joint.json", "linear-implicit", NULL, NULL, 1e-3, 0.3, 0},
        {"scenes/redmax/joint.json", "semi-implicit", NULL, NULL, 1e-3, 0.3, 1},
    };
    for (int i = 0; i < 3; i++) expect_order(&c[i]);
}

Test(redmax_maximal, loops_with_redundant_rows_converge_to_joint_coordinates_with_order_1) {
    const order_case c = {"scenes/four-bar.json", "semi-implicit", NULL, NULL, 1e-3, 0.3, 0};
    expect_order(&c);
}
