// SPDX-License-Identifier: Apache-2.0
// Newton's method in the redmax formulation where turns have long arms: backbones and chains of
// loops. Without lifted iterates their steps take ten times the iterations, most of them in parts.

#include "support/rig.h"
#include "support/sanitized.h"

/// What the steps of a run took.
typedef struct long_run {
    int32_t most, total, divided;
    double gap;
} long_run;

static long_run run(const mabd_model* model, mabd_integrator integrator, double h, int steps) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX, def.integrator = integrator;
    mabd_sim* sim = rig_sim(model, &def);
    long_run out = {0};
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_expect(info.converged, "step %d", i);
        out.total += info.iterations, out.divided += info.substeps > 1;
        if (info.iterations > out.most) out.most = info.iterations;
        out.gap = fmax(out.gap, (double)info.gap);
    }
    mabd_sim_destroy(sim);
    return out;
}

// 200 m of a curled backbone of balls let go at one end: 5 ms resolve the buckling of what is next
// to it.
Test(redmax_long, a_backbone_takes_few_iterations) {
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    mabd_backbone_def def = mabd_default_backbone_def();
    mabd_error error = {0};
    def.links = AMOUNT(2000, 400), def.length = (mabd_real)0.1, def.radius = (mabd_real)0.03;
    def.drag = (mabd_real)0.02;
    rig_check(mabd_generate_backbone(scene, &def, &error), &error, "backbone");
    mabd_model* model = rig_model(scene);
    const int steps = AMOUNT(12, 4);
    const long_run own = run(model, MABD_INTEGRATOR_SDIRK2, 0.005, steps);
    printf("backbone: %d iterations, at most %d a step, %d steps in parts\n", own.total, own.most,
           own.divided);
    cr_expect(eq(i32, own.divided, 0));
    cr_expect(le(i32, own.most, 12));
    mabd_model_destroy(model);
}

// 600 four-bars in series, 850 m long, fall from their first corner.
Test(redmax_long, a_chain_of_loops_takes_few_iterations) {
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    mabd_four_bar_chain_def def = mabd_default_four_bar_chain_def();
    mabd_error error = {0};
    def.segments = AMOUNT(600, 60);
    rig_check(mabd_generate_four_bar_chain(scene, &def, &error), &error, "chain");
    mabd_model* model = rig_model(scene);
    const long_run own = run(model, MABD_INTEGRATOR_BDF2, 0.01, AMOUNT(5, 3));
    printf("four-bars: %d iterations, at most %d a step, %d steps in parts, gap %.1e m\n",
           own.total, own.most, own.divided, own.gap);
    cr_expect(eq(i32, own.divided, 0));
    cr_expect(le(i32, own.most, 9));
    cr_expect(lt(dbl, own.gap, 1e-11));
    mabd_model_destroy(model);
}
