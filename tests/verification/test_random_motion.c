// SPDX-License-Identifier: Apache-2.0
// Random mechanisms without drives, over seconds at 10 ms: chains, trees, stars, ladders, rings and
// nets of bodies of random shape, mass and motion, joined by random joints of all types, with
// springs and dampers on some axes, fixed to the ground or floating.
//
// Nothing drives them, so their energy does not rise: E(t) <= E(0). The step may exceed it by its
// error. The bound is relative to the largest kinetic energy of the run.

#include "support/random_scene.h"
#include "support/rig.h"
#include "support/sanitized.h"

#define PATTERNS 8

// A mechanism without drives; all combinations of the options occur.
static mabd_model* mechanism(int32_t index) {
    const random_scene_def def = {
        .seed = (uint64_t)(700000 + index),
        .pattern = (random_pattern)(index % PATTERNS),
        .bodies = 3 + index * 7 % 17,
        .grounded = index / PATTERNS % 2 == 1,
        .on_fixed = index / PATTERNS % 4 == 3,
        .balls_only = index % 7 == 0,
        .controls = index % 3 == 1,
        .passive = true,
        .wide = index % 2,
        .mass_range = (mabd_real)(index % 5 == 4 ? 1e3 : 10),
    };
    return rig_model(random_scene(&def));
}

typedef struct outcome {
    double above;      // largest rise of the energy over its start, of the largest kinetic energy
    double iterations; // per step
    int failed, retries, unconverged;
} outcome;

typedef struct way {
    const char* name;
    mabd_integrator integrator;
    bool orbit;
} way;

static outcome run(const mabd_model* model, const way* how, double seconds) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    def.integrator = how->integrator;
    def.affine.orbit = how->orbit;
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    const int steps = (int)lround(seconds / 0.01);
    double rise = 0, kinetic = 1e-9;
    outcome out = {0};
    for (int i = 0; i < steps && !out.failed; i++) {
        mabd_step_info info;
        mabd_error error;
        out.failed = mabd_sim_step(sim, &info, &error) != MABD_OK;
        const mabd_measure now = mabd_sim_measure(sim);
        rise = fmax(rise, now.energy - start);
        kinetic = fmax(kinetic, now.kinetic);
        out.iterations += info.iterations / (double)steps;
        out.retries += info.retries, out.unconverged += !info.converged;
    }
    out.above = rise / kinetic;
    mabd_sim_destroy(sim);
    return out;
}

// The step with rotations in the body frame (bdf2), with and without the correction of orbits, is
// compared with BDF2 on the coordinates (bdf2-linear), which is robust and loses rotation: no
// mechanism may fail; all together may not halve more steps, may leave one more of 100,000
// unconverged, and their mean number of iterations may rise by 5 %.
Test(random_motion, energy_of_undriven_mechanisms_does_not_rise) {
    static const way ways[3] = {{"bdf2-linear", MABD_INTEGRATOR_BDF2_LINEAR, true},
                                {"bdf2", MABD_INTEGRATOR_BDF2, true},
                                {"bdf2, orbit off", MABD_INTEGRATOR_BDF2, false}};
    const int32_t count = AMOUNT(300, 24);
    const double seconds = AMOUNT(5, 0.5);
    outcome all[3] = {{0}};
    for (int32_t i = 0; i < count; i++) {
        mabd_model* model = mechanism(i);
        for (int k = 0; k < 3; k++) {
            const outcome one = run(model, &ways[k], seconds);
            all[k].above = fmax(all[k].above, one.above);
            all[k].iterations += one.iterations / count;
            all[k].retries += one.retries, all[k].unconverged += one.unconverged;
            cr_expect(one.failed == 0, "%s: mechanism %d fails", ways[k].name, i);
            cr_expect(one.above < 1e-3, "%s: energy of mechanism %d rises by %g", ways[k].name, i,
                      one.above);
        }
        mabd_model_destroy(model);
    }
    for (int k = 0; k < 3; k++) {
        printf("%d mechanisms, %s: %.4f iterations per step, energy rises by %.1e at most, %d "
               "retries, %d unconverged\n",
               count, ways[k].name, all[k].iterations, all[k].above, all[k].retries,
               all[k].unconverged);
        cr_expect(all[k].retries <= all[0].retries);
        cr_expect(all[k].unconverged <= all[0].unconverged + count * seconds / 0.01 / 1e5);
        cr_expect(all[k].iterations <= 1.05 * all[0].iterations);
    }
}
