// SPDX-License-Identifier: Apache-2.0
// One step of two iterations on a device, for ThreadSanitizer to look at: every kernel of the stages, on a tree whose bodies are of
// several kinds. Ends with 0 whatever it says.
#include "state.h"

#include "formulation/mabd/affine_sim.h"
#include "support/random_scene.h"

#include <stdio.h>

static int fail(const mabd_error* error) {
    fprintf(stderr, "step_races: %s\n", error->text);
    return 1;
}

static mabd_status step(mabd_cuda_state* state, mabd_cpu_sim* host, mabd_error* error) {
    mabd_cuda_part part;
    mabd_cpu_begin(host, MABD_SCHEME_EULER, 0, (mabd_real)0.01);
    MABD_TRY(MABD_CUDA(state_begin)(state, host, error));
    MABD_TRY(MABD_CUDA(predict)(state, error));
    for (int i = 0; i < 2; i++) {
        if (i > 0) MABD_TRY(MABD_CUDA(refer)(state, error));
        MABD_TRY(MABD_CUDA(assemble)(state, i == 0 ? MABD_PASS_FIRST : MABD_PASS_NEXT, error));
        MABD_TRY(MABD_CUDA(factor)(state, error));
        MABD_TRY(MABD_CUDA(solve)(state, error));
        MABD_TRY(MABD_CUDA(update)(state, &part, error));
    }
    MABD_TRY(MABD_CUDA(check)(state, &part, error));
    MABD_TRY(MABD_CUDA(finish)(state, false, error));
    return MABD_CUDA(state_download)(state, host, error);
}

int main(void) {
    const random_scene_def scene_def = {
        .seed = 4, .pattern = RANDOM_TREE, .bodies = 24, .grounded = true, .mass_range = 3};
    const mabd_allocator allocator = mabd_default_allocator();
    const mabd_sim_def def = mabd_default_sim_def();
    mabd_scene* scene = random_scene(&scene_def);
    mabd_error error = {0};
    mabd_model* model = NULL;
    mabd_cuda_state state;
    void* self = NULL;
    if (mabd_model_build(scene, NULL, &model, &error) != MABD_OK) return fail(&error);
    if (mabd_formulation_affine.create(model, &def, &allocator, &self, &error) != MABD_OK) {
        return fail(&error);
    }
    mabd_affine_sim* sim = self;
    if (MABD_CUDA(state_create)(&sim->cpu, sim->memory, sim->memory_size, &allocator, &state,
                                &error) != MABD_OK ||
        step(&state, &sim->cpu, &error) != MABD_OK) {
        return fail(&error);
    }
    printf("%d bodies, %d levels, the last at %g m\n", mabd_model_body_count(model),
           (int)state.levels.level_count, (double)sim->cpu.q[12 * 23 + 11]);
    MABD_CUDA(state_destroy)(&allocator, &state);
    mabd_formulation_affine.destroy(self, &allocator);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    return 0;
}
