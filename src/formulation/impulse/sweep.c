// SPDX-License-Identifier: Apache-2.0
// Sweeps over all rows, one after the other: the blocks of joints in lanes, or all at once, and the
// rows of axes; every second sweep goes backwards. ([SI] leaves order and accumulation open.)
// With one sweep and one relaxation each kind would go the same way for ever: then every second
// substep begins backwards, without which a grid of 100 x 100 ball joints at 1/60 s explodes at
// step 83, and a stack of ten boxes on a ground that comes last in the scene gains energy and
// falls.
// Impulses are accumulated and the sums are held to their bounds; a step begins with those of the
// last one.

#include "formulation/impulse/impulse_blocks.h"
#include "formulation/impulse/impulse_contact.h"
#include "formulation/impulse/impulse_direct.h"

#include <math.h>

static void push(mabd_impulse_sim* sim, int32_t a, int32_t b, mabd_impulse_pair* V, mabd_vec3 p,
                 mabd_vec3 on_a, mabd_vec3 on_b) {
    mabd_impulse_push(V, sim->lines[a].inverse_mass, &sim->inertia[a], sim->lines[b].inverse_mass,
                      &sim->inertia[b], p, on_a, on_b);
}

static void note(mabd_impulse_sim* sim, mabd_real change, mabd_real l) {
    sim->change = (mabd_real)fmax(sim->change, fabs(change));
    sim->largest = (mabd_real)fmax(sim->largest, fabs(l));
}

// ---- axes --------------------------------------------------------------------------------------

static void push_axis(mabd_impulse_sim* sim, const mabd_impulse_axis* axis, mabd_impulse_pair* V,
                      mabd_real dp) {
    push(sim, axis->a, axis->b, V, mabd_v3_scale(dp, axis->J.f), mabd_v3_scale(dp, axis->J.ta),
         mabd_v3_scale(dp, axis->J.tb));
}

static void sweep_axis(mabd_impulse_sim* sim, mabd_impulse_axis* axis, mabd_real* impulse) {
    mabd_impulse_line *a = &sim->lines[axis->a], *b = &sim->lines[axis->b];
    mabd_impulse_pair V = mabd_impulse_load(a, b);
    const mabd_real h = sim->h, w = h * h * axis->K;
    const mabd_real D = h * (mabd_impulse_rate(&axis->J, &V) + axis->shift);
    const mabd_real z = D - h * axis->K * *impulse; // D + w lambda
    const mabd_axis_branch branch = mabd_axis_find(&axis->law, w, z);
    const mabd_axis_line line = mabd_axis_row(&axis->law, branch);
    const mabd_real lambda = line.flat ? line.lambda : (z - mabd_axis_point(&line, w, z)) / w;
    const mabd_real dp = -h * lambda - *impulse;
    *impulse = -h * lambda;
    push_axis(sim, axis, &V, dp);
    mabd_impulse_store(&V, a, b);
    note(sim, dp, *impulse);
}

// ---- sweeps ------------------------------------------------------------------------------------

void mabd_impulse_warm_start(mabd_impulse_sim* sim, mabd_real scale) {
    if (sim->blocks) mabd_impulse_blocks_run(sim, MABD_IMPULSE_WARM, scale, false, false);
    for (int32_t i = 0; i < sim->axis_count; i++) {
        const mabd_impulse_axis* axis = &sim->axes[i];
        mabd_impulse_line *a = &sim->lines[axis->a], *b = &sim->lines[axis->b];
        mabd_impulse_pair V = mabd_impulse_load(a, b);
        sim->axis_impulse[i] *= scale;
        push_axis(sim, axis, &V, sim->axis_impulse[i]);
        mabd_impulse_store(&V, a, b);
    }
    if (sim->contacts) mabd_impulse_warm_contacts(sim, scale);
}

static void sweep_blocks(mabd_impulse_sim* sim, bool relax, bool back) {
    const mabd_impulse_change most =
        mabd_impulse_blocks_run(sim, MABD_IMPULSE_SOLVE, 1, relax, back);
    note(sim, most.change, most.largest);
}

void mabd_impulse_sweep(mabd_impulse_sim* sim, bool relax) {
    const bool back = (sim->sweep++ % 2 == 1) != sim->turned;
    sim->change = sim->largest = 0;
    if (sim->blocks) sweep_blocks(sim, relax, back);
    for (int32_t i = 0; i < sim->axis_count; i++) {
        const int32_t k = back ? sim->axis_count - 1 - i : i;
        sweep_axis(sim, &sim->axes[k], &sim->axis_impulse[k]);
    }
    if (sim->contacts) mabd_impulse_sweep_contacts(sim, back);
    if (sim->direct) mabd_impulse_direct_solve(sim, relax);
}
