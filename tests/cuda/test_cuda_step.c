// SPDX-License-Identifier: Apache-2.0
// Steps on a device, through the executor: the same as on the CPU to 1e-12, and the same bits in any order of threads and blocks.
#include "state.h"

#include "base/hash.h"
#include "formulation/mabd/affine_sim.h"
#include "support/random_scene.h"
#include "support/rig.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define STEPS 3

static mabd_model* random_model(random_pattern pattern, bool balls, int32_t bodies) {
    const random_scene_def def = {.seed = 11,
                                  .pattern = pattern,
                                  .bodies = bodies,
                                  .grounded = true,
                                  .balls_only = balls,
                                  .mass_range = 5};
    return rig_model(random_scene(&def));
}

static mabd_model* plant_model(void) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_branching_def def = mabd_default_branching_def();
    mabd_error error = {0};
    def.levels[0].children = 3, def.levels[1].children = 2, def.levels[2].segments = 2;
    rig_check(mabd_generate_branching(scene, &def, &error), &error, "branching");
    return rig_model(scene);
}

static mabd_model* star_model(void) {
    mabd_scene* scene = rig_scene(-9.81);
    mabd_star_def def = mabd_default_star_def();
    mabd_error error = {0};
    def.arms = 14, def.links = 3;
    rig_check(mabd_generate_star(scene, &def, &error), &error, "star");
    return rig_model(scene);
}

static mabd_affine_sim* create(const mabd_model* model) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_sim_def def = mabd_default_sim_def();
    mabd_error error = {0};
    void* self = NULL;
    def.threads = 1;
    cr_assert(
        eq(int, mabd_formulation_affine.create(model, &def, &allocator, &self, &error), MABD_OK));
    return self;
}

static void destroy(mabd_affine_sim* sim) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_formulation_affine.destroy(sim, &allocator);
}

static const mabd_real h = (mabd_real)0.004;

// Two iterations of implicit Euler.
static void step_on_cpu(mabd_cpu_sim* cpu, int step, mabd_motion_report* motion,
                        mabd_opening* opening) {
    int32_t bad = -1;
    mabd_cpu_begin(cpu, MABD_SCHEME_EULER, (mabd_real)step * h, h);
    mabd_cpu_predict(cpu);
    for (int i = 0; i < 2; i++) {
        if (i > 0) cr_assert(mabd_cpu_refer(cpu, &bad));
        mabd_cpu_assemble(cpu, i == 0 ? MABD_PASS_FIRST : MABD_PASS_NEXT);
        cr_assert(eq(int, mabd_cpu_factor(cpu, &bad), MABD_OK));
        mabd_cpu_solve(cpu);
        *motion = mabd_cpu_update(cpu);
    }
    *opening = mabd_cpu_check(cpu, cpu->q_new);
    mabd_cpu_finish(cpu, false);
}

#define TRY(call) cr_assert(eq(int, call, MABD_OK), "%s", error.text)

static void step_on_device(mabd_cuda_state* state, mabd_cpu_sim* host, int step,
                           mabd_motion_report* motion, mabd_opening* opening) {
    mabd_error error = {0};
    mabd_cuda_part part;
    mabd_cpu_begin(host, MABD_SCHEME_EULER, (mabd_real)step * h, h);
    TRY(MABD_CUDA(state_begin)(state, host, &error));
    TRY(MABD_CUDA(predict)(state, &error));
    for (int i = 0; i < 2; i++) {
        if (i > 0) TRY(MABD_CUDA(refer)(state, &error));
        TRY(MABD_CUDA(assemble)(state, i == 0 ? MABD_PASS_FIRST : MABD_PASS_NEXT, &error));
        TRY(MABD_CUDA(factor)(state, &error));
        TRY(MABD_CUDA(solve)(state, &error));
        TRY(MABD_CUDA(update)(state, &part, &error));
        cr_assert(eq(i32, part.bad, INT32_MAX));
        *motion = part.motion;
    }
    TRY(MABD_CUDA(check)(state, &part, &error));
    *opening = part.opening;
    TRY(MABD_CUDA(finish)(state, false, &error));
}

static mabd_real largest(size_t count, const mabd_real* x) {
    mabd_real size = 0;
    for (size_t i = 0; i < count; i++) {
        if (fabs(x[i]) > size) size = (mabd_real)fabs(x[i]);
    }
    return size;
}

// To 1e-12 of `size`. Rates are differences of places over h: round-off of places is that of h v.
static void expect_near(const char* what, size_t count, const mabd_real* got,
                        const mabd_real* expected, mabd_real scale, mabd_real size) {
    mabd_real off = 0;
    for (size_t i = 0; i < count; i++) {
        const mabd_real d = scale * (mabd_real)fabs(got[i] - expected[i]);
        if (!(d <= off)) off = d;
    }
    cr_expect(le(dbl, off, 1e-12 * size), "%s", what);
}

// STEPS steps on both; the hash of what the device has at the end. Takes the model.
static uint64_t compare(const mabd_model* model, const char* order) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_affine_sim *reference = create(model), *host = create(model);
    mabd_cuda_state state;
    mabd_error error = {0};
    mabd_motion_report motion[2];
    mabd_opening opening[2];
    setenv("MABD_EXEC_ORDER", order, 1);
    TRY(MABD_CUDA(state_create)(&host->cpu, host->memory, host->memory_size, &allocator, &state,
                                &error));
    for (int i = 0; i < STEPS; i++) {
        step_on_cpu(&reference->cpu, i, &motion[0], &opening[0]);
        step_on_device(&state, &host->cpu, i, &motion[1], &opening[1]);
        cr_expect(le(dbl, fabs(motion[1].twist - motion[0].twist), 1e-12));
        cr_expect(eq(i32, motion[1].broken_body, -1));
        cr_expect(le(dbl, fabs(opening[1].gap - opening[0].gap), 1e-12));
        cr_expect(le(dbl, fabs(opening[1].angle - opening[0].angle), 1e-12));
    }
    TRY(MABD_CUDA(state_download)(&state, &host->cpu, &error));
    const mabd_cpu_sizes* n = &host->cpu.sizes;
    const size_t reals = 12 * n->bodies;
    const mabd_real size = largest(reals, reference->cpu.q);
    expect_near("q", reals, host->cpu.q, reference->cpu.q, 1, size);
    expect_near("q1", reals, host->cpu.q1, reference->cpu.q1, 1, size);
    expect_near("v", reals, host->cpu.v, reference->cpu.v, h, size);
    // multipliers carry the condition of the dual matrix
    expect_near("lambda", n->rows, host->cpu.lambda, reference->cpu.lambda, 1,
                100 * largest(n->rows, reference->cpu.lambda));
    uint64_t hash = mabd_hash(MABD_HASH_START, host->cpu.q, 12 * n->bodies * sizeof(mabd_real));
    hash = mabd_hash(hash, host->cpu.lambda, n->rows * sizeof(mabd_real));
    MABD_CUDA(state_destroy)(&allocator, &state);
    destroy(reference), destroy(host);
    return hash;
}

static void expect_parity(mabd_model* model) {
    const uint64_t expected = compare(model, "forward");
    cr_expect(eq(u64, compare(model, "reverse"), expected));
    cr_expect(eq(u64, compare(model, "random:1"), expected));
    mabd_model_destroy(model);
}

Test(cuda_step, of_chains_of_balls) {
    expect_parity(random_model(RANDOM_CHAIN, true, 40));
}

Test(cuda_step, of_chains_of_any_joints) {
    expect_parity(random_model(RANDOM_CHAIN, false, 40));
}

Test(cuda_step, of_trees_of_balls) {
    expect_parity(random_model(RANDOM_TREE, true, 90));
}

Test(cuda_step, of_trees_of_any_joints) {
    expect_parity(random_model(RANDOM_TREE, false, 90));
}

Test(cuda_step, of_a_plant_with_springs_in_the_wind) {
    expect_parity(plant_model());
}

Test(cuda_step, of_a_star_whose_hub_is_solved_for) {
    expect_parity(star_model());
}
