// SPDX-License-Identifier: Apache-2.0
// Every scene of the classes of the dual solver tests, one step on the CPU and on the kernels of
// the CUDA backend, run by the executor in their order and in a random one.
//
//   orders     the same bits
//   backends   states agree to 1e-12 of the size of the scene
//
// Where bodies of very different mass or nearly dependent rows cost digits, two roundings of the
// same step differ by more. So a result beyond 1e-12 is compared with that effect: the step is
// repeated on the CPU with an h that differs by one unit of round-off, and if the result changes by
// s, backends may differ by PARITY_ROUNDING s. At most one scene in ILL_PART of a class that is not
// singular may need it. Bodies have 1e9 Pa: stiffer ones cost digits, too, where rows close only
// by elasticity. Other tests compare backends at the default of scenes (test_cuda_parity.c).
//
// A failure names class and index; MABD_CASE=index in the environment runs that scene alone.
#include "support/backend_parity.h"
#include "support/conformance_class.h"
#include "support/rig.h"
#include "support/sanitized.h"

#define ILL_PART 10
#define STEP     ((mabd_real)0.004) // [s]

static mabd_sim_def def_of(mabd_real h) {
    mabd_sim_def def = mabd_default_sim_def();
    def.h = h;
    return def;
}

// Return the effect of one unit of round-off in h on a step.
static double rounding(const mabd_model* model, const parity_snapshot* cpu) {
    const mabd_real h = STEP * (1 + (mabd_real)DBL_EPSILON);
    parity_snapshot other = parity_run(model, def_of(h), false, MABD_BACKEND_CPU, 1);
    const double s = parity_difference(&other, cpu, STEP);
    parity_drop(&other);
    return s;
}

// Return true if the scene needed the tolerance of rounding.
static bool expect_conformance(const conformance_class* class, int32_t index) {
    mabd_scene* scene = class->make(index);
    cr_assert(eq(int, mabd_scene_set_young(scene, (mabd_real)1e9, NULL), MABD_OK));
    mabd_model* model = rig_model(scene);
    parity_snapshot cpu = parity_run(model, def_of(STEP), false, MABD_BACKEND_CPU, 1);
    setenv("MABD_EXEC_ORDER", "forward", 1);
    parity_snapshot got = parity_run(model, def_of(STEP), false, MABD_BACKEND_EXECUTOR, 1);
    setenv("MABD_EXEC_ORDER", "random:7", 1);
    parity_snapshot shuffled = parity_run(model, def_of(STEP), false, MABD_BACKEND_EXECUTOR, 1);
    cr_expect(eq(u64, shuffled.hash, got.hash), "%s %d", class->name, (int)index);
    const double off = parity_difference(&got, &cpu, STEP);
    const bool ill = !(off <= PARITY_NEAR);
    if (ill) {
        cr_expect(le(dbl, off, PARITY_ROUNDING * rounding(model, &cpu)), "%s %d", class->name,
                  (int)index);
    }
    parity_drop(&cpu), parity_drop(&got), parity_drop(&shuffled);
    mabd_model_destroy(model);
    return ill;
}

static void expect_class(conformance_id id) {
    const conformance_class* class = &conformance_classes[id];
    const char* only = getenv("MABD_CASE");
    int32_t ill = 0;
    for (int32_t i = 0; i < class->count; i += only ? 1 : AMOUNT(1, 3)) {
        if (!only || atoi(only) == i) ill += expect_conformance(class, i);
    }
    if (!class->is_singular) cr_expect(le(int, ILL_PART* ill, class->count), "%s", class->name);
}

#define CLASS(name, id)                                                                            \
    Test(backend_conformance, name) {                                                              \
        expect_class(CONFORMANCE_##id);                                                            \
    }
CLASS(chains, CHAINS)
CLASS(many_chains, MANY_CHAINS)
CLASS(straight_chains, STRAIGHT_CHAINS)
CLASS(grounded_linkages, GROUNDED_LINKAGES)
CLASS(trees, TREES)
CLASS(stars, STARS)
CLASS(junctions, JUNCTIONS)
CLASS(forests, FORESTS)
CLASS(rings, RINGS)
CLASS(ladders, LADDERS)
CLASS(four_bars, FOUR_BARS)
CLASS(nets, NETS)
CLASS(mixed, MIXED)
CLASS(many_parts, MANY_PARTS)
CLASS(floating_linkages, FLOATING_LINKAGES)
