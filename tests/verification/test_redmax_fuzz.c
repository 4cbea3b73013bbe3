// SPDX-License-Identifier: Apache-2.0
// Random mechanisms under redmax: trees, loops, nets of all joint types, with springs and dampers
// and no drives. Every step of every integrator ends closed, finite and without more energy than
// before, or with an error that says why. What bdf2 and sdirk2 may gain is the error of 5 ms:
// in 2000 mechanisms five exceed the bound, with 6 % of their motion at most.

#include "support/random_scene.h"
#include "support/rig.h"

#include <stdlib.h>

/// Mechanisms; the environment variable MABD_SCENES asks for more of them.
#define SCENES 60
#define STEPS  20

typedef struct fuzz_sums {
    int runs, refused, failed;
    double gained, gap; // largest, relative to the size of the energies; [m]
} fuzz_sums;

static const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2,
                                          MABD_INTEGRATOR_EULER};

static mabd_scene* scene_of(uint64_t seed) {
    const random_scene_def def = {.seed = seed,
                                  .pattern = (random_pattern)(seed % 8),
                                  .bodies = 4 + (int32_t)(seed / 8 % 8),
                                  .grounded = seed / 64 % 2 == 0,
                                  .controls = seed % 3 != 0,
                                  .passive = true,
                                  .paths = seed % 5 == 0 && seed % 8 < 2,
                                  .charts = seed % 7 == 0,
                                  .wide = true,
                                  .mass_range = 10};
    return random_scene(&def);
}

static void run(mabd_model* model, uint64_t seed, mabd_integrator method, fuzz_sums* sums) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.005);
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    def.formulation = MABD_FORMULATION_REDMAX, def.integrator = method;
    sums->runs++;
    if (mabd_sim_create(model, &def, &sim, &error) != MABD_OK) {
        cr_expect(error.text[0] != 0, "seed %d: an error without text", (int)seed);
        sums->refused++;
        return;
    }
    const mabd_measure start = mabd_sim_measure(sim);
    double size = fabs((double)start.kinetic) + 1e-3;
    for (int i = 0; i < STEPS; i++) {
        mabd_step_info info;
        const mabd_status status = mabd_sim_step(sim, &info, &error);
        if (status != MABD_OK) {
            cr_expect(error.text[0] != 0, "seed %d: an error without text", (int)seed);
            sums->failed++;
            break;
        }
        const mabd_measure now = mabd_sim_measure(sim);
        size = fmax(size, fabs((double)now.kinetic) + fabs((double)(now.gravity - start.gravity)) +
                              fabs((double)(now.spring - start.spring)));
        const double gained = (double)(now.energy - start.energy) / size;
        sums->gained = fmax(sums->gained, gained), sums->gap = fmax(sums->gap, (double)now.gap);
        cr_expect(isfinite((double)now.energy), "seed %d", (int)seed);
        cr_expect(lt(dbl, gained, 0.02), "seed %d, method %d, step %d: %g of %g J", (int)seed,
                  (int)method, i, gained, size);
        cr_expect(lt(dbl, (double)now.gap, 1e-8), "seed %d, method %d, step %d", (int)seed,
                  (int)method, i);
    }
    mabd_sim_destroy(sim);
}

Test(redmax_fuzz, random_mechanisms_stay_closed_and_gain_no_energy) {
    const char* wanted = getenv("MABD_SCENES");
    const uint64_t scenes = wanted ? (uint64_t)atoi(wanted) : SCENES;
    fuzz_sums sums = {0};
    for (uint64_t seed = 1; seed <= scenes; seed++) {
        mabd_model* model = rig_model(scene_of(seed));
        for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
            run(model, seed, methods[k], &sums);
        }
        mabd_model_destroy(model);
    }
    printf("%d runs: %d refused, %d failed by name, energy gained at most %.1e, gap %.1e m\n",
           sums.runs, sums.refused, sums.failed, sums.gained, sums.gap);
}
