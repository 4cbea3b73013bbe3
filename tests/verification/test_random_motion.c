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
        .mass_range = (mabd_real)(index % 5 == 4 ? 1e3 : 10),
    };
    return rig_model(random_scene(&def));
}

typedef struct outcome {
    double above;      // largest rise of the energy over its start, of the largest kinetic energy
    double iterations; // per step
    int failed, retries, unconverged;
} outcome;

static outcome run(const mabd_model* model, mabd_integrator integrator, double seconds) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    def.integrator = integrator;
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

// The step with rotations in the body frame (bdf2) is compared with BDF2 on the coordinates
// (bdf2-linear), which is robust and loses rotation: no mechanism may fail, halve steps or leave
// them unconverged more often, and the mean number of iterations may rise by 5 %.
Test(random_motion, energy_of_undriven_mechanisms_does_not_rise) {
    const int32_t count = AMOUNT(300, 24);
    const double seconds = AMOUNT(5, 0.5);
    double iterations[2] = {0, 0}, above[2] = {0, 0};
    for (int32_t i = 0; i < count; i++) {
        mabd_model* model = mechanism(i);
        const outcome linear = run(model, MABD_INTEGRATOR_BDF2_LINEAR, seconds);
        const outcome turning = run(model, MABD_INTEGRATOR_BDF2, seconds);
        iterations[0] += linear.iterations, iterations[1] += turning.iterations;
        above[0] = fmax(above[0], linear.above), above[1] = fmax(above[1], turning.above);
        cr_expect(turning.failed == 0, "mechanism %d fails", i);
        cr_expect(turning.above < 1e-3, "mechanism %d: energy rises by %g", i, turning.above);
        cr_expect(turning.retries <= linear.retries, "mechanism %d: %d retries, %d", i,
                  turning.retries, linear.retries);
        cr_expect(turning.unconverged <= linear.unconverged, "mechanism %d: %d unconverged, %d", i,
                  turning.unconverged, linear.unconverged);
        mabd_model_destroy(model);
    }
    printf(
        "%d mechanisms: iterations per step %.4f, rise of energy %.1e (bdf2-linear %.4f, %.1e)\n",
        count, iterations[1] / count, above[1], iterations[0] / count, above[0]);
    cr_expect(iterations[1] <= 1.05 * iterations[0]);
}
