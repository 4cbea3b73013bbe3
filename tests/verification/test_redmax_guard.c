// SPDX-License-Identifier: Apache-2.0
// The energy guard of the redmax formulation leaves motion alone that the steps resolve, where
// energy that comes back is an error of the method. Whips stay bounded: test_redmax_mechanisms.

#include "support/one_freedom.h"
#include "support/small_sphere.h"

#include <string.h>

/// What a run under the guard did.
typedef struct guarded_run {
    int32_t guarded, retries;
    double most, least; // largest gain and loss of energy, relative to that of the start
} guarded_run;

static void run(const mabd_model* model, mabd_real guard, double h, int steps, guarded_run* out) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX, def.redmax.energy_guard = guard;
    mabd_sim* sim = rig_sim(model, &def);
    const double start = (double)mabd_sim_measure(sim).energy;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        const double gain = (double)mabd_sim_measure(sim).energy / start - 1;
        out->guarded += info.redmax.guarded, out->retries += info.retries;
        if (gain > out->most) out->most = gain;
        if (-gain > out->least) out->least = -gain;
    }
    mabd_sim_destroy(sim);
}

// With a budget for every gain of a step, 31 of these steps are halved and 6.1 % of the energy that
// crank and rocker exchange are lost, instead of 0.8 %.
Test(redmax_guard, leaves_a_resolved_four_bar_alone) {
    mabd_model* model = four_bar_model();
    guarded_run free_run, guarded;
    run(model, 0, 0.005, 1000, &free_run);
    run(model, (mabd_real)1e-4, 0.005, 1000, &guarded);
    printf("four-bar: energy +%.2e -%.2e of its start\n", guarded.most, guarded.least);
    cr_expect(eq(i32, guarded.guarded, 0));
    cr_expect(lt(dbl, guarded.least, 0.02));
    cr_expect(eq(dbl, guarded.least, free_run.least));
    cr_expect(eq(dbl, guarded.most, free_run.most));
    mabd_model_destroy(model);
}

// The sphere opens until its scissors are stretched, for 0.15 s; steps of 10 ms gain up to 0.15 %
// of its energy each.
Test(redmax_guard, leaves_a_resolved_sphere_alone) {
    mabd_model* model = small_sphere_model();
    guarded_run guarded;
    run(model, (mabd_real)1e-4, 0.01, 12, &guarded);
    printf("sphere: energy +%.2e -%.2e of its start\n", guarded.most, guarded.least);
    cr_expect(eq(i32, guarded.guarded, 0));
    cr_expect(eq(i32, guarded.retries, 0));
    mabd_model_destroy(model);
}
