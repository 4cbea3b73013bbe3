// SPDX-License-Identifier: Apache-2.0
// Compare a model on two backends, step by step.
#pragma once

#include "base/hash.h"
#include "formulation/affine/affine_sim.h"
#include "mabd/mabd.h"
#include "sim/sim_object.h"
#include "support/given_velocities.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

typedef struct parity_snapshot {
    size_t bodies, joints;
    mabd_real *positions, *turns, *velocities, *spins, *forces;
    mabd_step_info info;
    uint64_t hash;
} parity_snapshot;

static inline mabd_real* parity_reals(size_t n) {
    mabd_real* x = calloc(n + 1, sizeof *x);
    cr_assert(ne(ptr, x, NULL));
    return x;
}

static inline void parity_take(const mabd_sim* sim, parity_snapshot* s) {
    const mabd_model* model = mabd_sim_model(sim);
    const size_t size = mabd_sim_state_size(sim);
    void* state = malloc(size);
    s->bodies = (size_t)mabd_model_body_count(model);
    s->joints = (size_t)mabd_model_joint_count(model);
    s->positions = parity_reals(3 * s->bodies), s->turns = parity_reals(4 * s->bodies);
    s->velocities = parity_reals(3 * s->bodies), s->spins = parity_reals(3 * s->bodies);
    s->forces = parity_reals(6 * s->joints);
    mabd_sim_get_state(sim, s->positions, s->turns, s->velocities, s->spins);
    mabd_sim_get_joint_forces(sim, s->forces);
    mabd_sim_save(sim, state);
    s->hash = mabd_hash(MABD_HASH_START, state, size);
    free(state);
}

static inline void parity_drop(parity_snapshot* s) {
    free(s->positions), free(s->turns), free(s->velocities), free(s->spins), free(s->forces);
}

// given: keep start velocities against the joints (support/given_velocities.h).
static inline parity_snapshot parity_run(const mabd_model* model, mabd_sim_def def, bool given,
                                         mabd_backend backend, int steps) {
    parity_snapshot s = {0};
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    def.backend = backend;
    cr_assert(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_OK), "%s", error.text);
    if (given) give_velocities(sim->self);
    for (int i = 0; i < steps; i++) {
        cr_assert(eq(int, mabd_sim_step(sim, &s.info, &error), MABD_OK), "step %d: %s", i,
                  error.text);
    }
    parity_take(sim, &s);
    mabd_sim_destroy(sim);
    return s;
}

static inline mabd_real parity_largest(size_t n, const mabd_real* x) {
    mabd_real most = 0;
    for (size_t i = 0; i < n; i++) most = (mabd_real)fmax(most, fabs(x[i]));
    return most;
}

// Return the largest difference, NaN if there is one.
static inline mabd_real parity_distance(size_t n, const mabd_real* a, const mabd_real* b) {
    mabd_real most = 0;
    for (size_t i = 0; i < n; i++) {
        const mabd_real d = (mabd_real)fabs(a[i] - b[i]);
        if (!(d <= most) && most == most) most = d;
    }
    return most;
}

static inline void parity_expect_near(const char* what, size_t n, const mabd_real* got,
                                      const mabd_real* expected, mabd_real tolerance) {
    cr_expect(le(dbl, parity_distance(n, got, expected), tolerance), "%s", what);
}

// q and -q are one rotation: choose the sign of the quaternion `like`.
static inline void parity_align(size_t n, const mabd_real* like, mabd_real* q) {
    for (size_t i = 0; i < n; i++, like += 4, q += 4) {
        const mabd_real dot = like[0] * q[0] + like[1] * q[1] + like[2] * q[2] + like[3] * q[3];
        for (int k = 0; k < 4 && dot < 0; k++) q[k] = -q[k];
    }
}

static inline void parity_expect_same(const parity_snapshot* got, const parity_snapshot* cpu,
                                      mabd_real condition, mabd_real h) {
    const size_t bodies = cpu->bodies;
    const mabd_real size = (mabd_real)fmax(1, parity_largest(3 * bodies, cpu->positions));
    const mabd_real near = (mabd_real)1e-12 * size;
    parity_expect_near("positions", 3 * bodies, got->positions, cpu->positions, near);
    parity_align(bodies, cpu->turns, got->turns);
    parity_expect_near("quaternions", 4 * bodies, got->turns, cpu->turns, near);
    parity_expect_near("velocities", 3 * bodies, got->velocities, cpu->velocities, near / h);
    parity_expect_near("angular velocities", 3 * bodies, got->spins, cpu->spins, near / h);
    const mabd_real force = (mabd_real)fmax(1e-2, parity_largest(6 * cpu->joints, cpu->forces));
    parity_expect_near("forces", 6 * cpu->joints, got->forces, cpu->forces,
                       (mabd_real)1e-12 * condition * force);
    cr_expect(eq(int, got->info.iterations, cpu->info.iterations));
    cr_expect(eq(int, got->info.converged, cpu->info.converged));
    cr_expect(eq(int, got->info.contacts, cpu->info.contacts));
    cr_expect(le(dbl, fabs(got->info.affine.rotation - cpu->info.affine.rotation), (double)near));
    cr_expect(le(dbl, fabs(got->info.gap - cpu->info.gap), (double)near));
}

/// Make `steps` steps of a model on the CPU and by the executor, in three orders of its threads.
/// States agree to 1e-12 of the size of the scene, rates to that over h, forces to `condition`
/// times 1e-12 of the largest (they carry the condition of the dual matrix, which is large where
/// joints act against each other); orders agree bit for bit. def: null = default.
static inline void expect_backend_parity(const mabd_model* model, const mabd_sim_def* def,
                                         int steps, mabd_real condition) {
    static const char* const orders[] = {"forward", "reverse", "random:1"};
    const mabd_sim_def chosen = def ? *def : mabd_default_sim_def();
    uint64_t hash = 0;
    parity_snapshot cpu = parity_run(model, chosen, true, MABD_BACKEND_CPU, steps);
    for (int k = 0; k < 3; k++) {
        setenv("MABD_EXEC_ORDER", orders[k], 1);
        setenv("MABD_EXEC_ASYNC", k == 1 ? "1" : "0", 1); // streams that wait as long as possible
        parity_snapshot got = parity_run(model, chosen, true, MABD_BACKEND_EXECUTOR, steps);
        if (k == 0) hash = got.hash, parity_expect_same(&got, &cpu, condition, chosen.h);
        cr_expect(eq(u64, got.hash, hash), "order %s", orders[k]);
        parity_drop(&got);
    }
    parity_drop(&cpu);
}

// Return the largest difference of positions, and of rates times h, over the size of the scene.
static inline double parity_difference(parity_snapshot* a, const parity_snapshot* b, mabd_real h) {
    const size_t n = b->bodies;
    const mabd_real size = (mabd_real)fmax(1, parity_largest(3 * n, b->positions));
    parity_align(n, b->turns, a->turns);
    const mabd_real off[4] = {parity_distance(3 * n, a->positions, b->positions),
                              parity_distance(4 * n, a->turns, b->turns),
                              h * parity_distance(3 * n, a->velocities, b->velocities),
                              h * parity_distance(3 * n, a->spins, b->spins)};
    mabd_real most = 0;
    for (int k = 0; k < 4; k++) {
        if (!(off[k] <= most) && most == most) most = off[k];
    }
    return (double)(most / size);
}

#define PARITY_NEAR     1e-12
#define PARITY_ROUNDING 8.0 // factor on the effect of one unit of round-off

static inline mabd_sim* parity_create(const mabd_model* model, mabd_sim_def def,
                                      mabd_backend backend) {
    mabd_sim* sim = NULL;
    mabd_error error = {0};
    def.backend = backend;
    cr_assert(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_OK), "%s", error.text);
    return sim;
}

// Make a step from a saved state; if `rounded`, its positions are changed by one unit of round-off.
static inline parity_snapshot parity_step_from(mabd_sim* sim, const void* state, size_t size,
                                               bool rounded) {
    parity_snapshot s = {0};
    mabd_error error = {0};
    cr_assert(eq(int, mabd_sim_restore(sim, state, size, &error), MABD_OK), "%s", error.text);
    mabd_affine_sim* cpu = sim->self;
    for (size_t k = 0; rounded && k < 12 * cpu->sizes.bodies; k++) {
        cpu->q[k] *= 1 + (k % 2 ? 1 : -1) * (mabd_real)DBL_EPSILON;
    }
    cr_assert(eq(int, mabd_sim_step(sim, &s.info, &error), MABD_OK), "%s", error.text);
    parity_take(sim, &s);
    return s;
}

/// Compare step by step: the executor makes every step from the state from which the CPU made it,
/// so that events during the run (stops, contacts) are compared and no errors accumulate. The
/// results agree to 1e-12 or, where a step amplifies round-off, to PARITY_ROUNDING times the effect
/// of one unit of round-off in the start positions.
static inline void expect_backend_parity_on_the_way(const mabd_model* model,
                                                    const mabd_sim_def* def, int steps) {
    const mabd_sim_def chosen = def ? *def : mabd_default_sim_def();
    mabd_sim *cpu = parity_create(model, chosen, MABD_BACKEND_CPU),
             *other = parity_create(model, chosen, MABD_BACKEND_CPU),
             *device = parity_create(model, chosen, MABD_BACKEND_EXECUTOR);
    for (int i = 0; i < steps; i++) {
        const size_t size = mabd_sim_state_size(cpu);
        void* state = malloc(size);
        mabd_sim_save(cpu, state);
        parity_snapshot a = parity_step_from(cpu, state, size, false),
                        b = parity_step_from(device, state, size, false);
        const double off = parity_difference(&b, &a, chosen.h);
        if (!(off <= PARITY_NEAR)) {
            parity_snapshot c = parity_step_from(other, state, size, true);
            cr_expect(le(dbl, off, PARITY_ROUNDING * parity_difference(&c, &a, chosen.h)),
                      "step %d", i);
            parity_drop(&c);
        }
        parity_drop(&a), parity_drop(&b);
        free(state);
    }
    mabd_sim_destroy(cpu), mabd_sim_destroy(other), mabd_sim_destroy(device);
}
