// SPDX-License-Identifier: Apache-2.0
// Segments of long chains (affine/cpu/segment.c): the dual system of block Thomas, eliminated in
// another order.

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/affine_step.h"
#include "formulation/affine/cpu/factor.h"
#include "formulation/affine/cpu/isa_table.h"
#include "formulation/affine/cpu/schedule.h"
#include "support/kkt_measure.h"
#include "support/rig.h"

#include <float.h>
#include <stdlib.h>

#define STEP ((mabd_real)0.005)

typedef struct long_chain {
    mabd_scene* scene;
    mabd_model* model;
    mabd_affine_sim* sim;
} long_chain;

// A swinging and rotating chain, released horizontally; `heavy`: mass of its end over that of a
// link.
static long_chain start(mabd_joint joint, int32_t links, bool pinned, mabd_real heavy,
                        int32_t steps) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_error error = {0};
    mabd_chain_def def = mabd_default_chain_def();
    mabd_sim_def sim_def = mabd_default_sim_def();
    void* self = NULL;
    long_chain c = {.scene = rig_scene(-9.81)};
    def.joint = joint, def.links = links, def.pinned = pinned, def.end_mass_ratio = heavy;
    if (joint == MABD_JOINT_BALL || !pinned) { // other pins cannot rotate about all axes
        def.angular_velocity[1] = (mabd_real)0.3;
        def.angular_velocity[2] = (mabd_real)0.2;
    }
    sim_def.h = STEP;
    sim_def.integrator = MABD_INTEGRATOR_BDF2_LINEAR; // whose right-hand side the oracle has
    def.material.young = (mabd_real)1e9;              // the condition that the tolerances belong to
    rig_check(mabd_generate_chain(c.scene, &def, &error), &error, "chain");
    rig_check(mabd_model_build(c.scene, NULL, &c.model, &error), &error, "model");
    rig_check(mabd_formulation_affine.create(c.model, &sim_def, &allocator, c.model->start, &self,
                                             &error),
              &error, "simulation");
    c.sim = self;
    for (int32_t i = 0; i < steps; i++) {
        rig_check(mabd_affine_step(c.sim, (mabd_real)i * STEP, NULL, &error), &error, "step");
    }
    return c;
}

static void stop(long_chain* c) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_formulation_affine.destroy(c->sim, &allocator);
    mabd_model_destroy(c->model);
    mabd_scene_destroy(c->scene);
}

static void solve_once(mabd_affine_sim* cpu, mabd_affine_scheme scheme, int32_t step) {
    int32_t joint = -1;
    mabd_affine_begin_solve(cpu, scheme, (mabd_real)step * STEP, STEP);
    mabd_affine_predict(cpu);
    mabd_affine_assemble(cpu, MABD_PASS_FIRST);
    cr_assert(eq(int, mabd_affine_factor(cpu, &joint), MABD_OK));
    mabd_affine_solve_dual(cpu);
    mabd_affine_update(cpu);
}

// Compare increments and multipliers of one solve with the whole KKT system.
static kkt_errors compare(const long_chain* c) {
    const mabd_affine_sim* cpu = c->sim;
    const mabd_plan* plan = c->model->plan;
    kkt_system kkt = kkt_solve(cpu, cpu->stress);
    mabd_real* dq = malloc(12 * cpu->sizes.bodies * sizeof *dq);
    mabd_real* lambda = malloc(cpu->sizes.rows * sizeof *lambda);
    cr_assert(dq != NULL && lambda != NULL);
    for (size_t i = 0; i < 12 * cpu->sizes.bodies; i++) dq[i] = cpu->q_new[i] - cpu->ref[i];
    for (int32_t i = 0; i < c->model->joint_count; i++) {
        const int32_t first = kkt.joint_row[i], row = plan->slot_row[plan->joint_slot[i]];
        for (int32_t r = 0; r < plan->slot_width[plan->joint_slot[i]]; r++) {
            lambda[first + r] = cpu->lambda[row + r];
        }
    }
    const kkt_errors errors = kkt_measure(&kkt, dq, lambda);
    kkt_free(&kkt);
    free(dq), free(lambda);
    return errors;
}

static void expect_oracle(mabd_joint joint, int32_t links, bool pinned, mabd_real heavy,
                          int32_t runs) {
    long_chain c = start(joint, links, pinned, heavy, 20);
    cr_assert(eq(i32, c.sim->packs->segment_count, runs), "joint %d, %d links", (int)joint,
              (int)links);
    solve_once(c.sim, MABD_SCHEME_BDF2, 20);
    const kkt_errors e = compare(&c);
    // a floating chain has small forces: round-off of positions 50 m away shows in them (block
    // Thomas: 3e-9)
    const double forces = pinned ? 1e-9 : 2e-8;
    cr_expect(lt(dbl, e.dq, 1e-9), "joint %d, %d links", (int)joint, (int)links);
    cr_expect(lt(dbl, e.lambda, forces), "joint %d, %d links", (int)joint, (int)links);
    stop(&c);
}

static void expect_oracles(mabd_joint joint) {
    // its frame differs from that of the others
    const int32_t pin = joint == MABD_JOINT_BALL ? 0 : 1;
    expect_oracle(joint, MABD_SEGMENT_BODIES + pin + 1, true, 0,
                  1);                                           // the last link has one joint only
    expect_oracle(joint, MABD_SEGMENT_BODIES + 2, false, 0, 1); // neither end is held
    expect_oracle(joint, 2 * MABD_SEGMENT_BODIES + 40, true, 0,
                  2); // consecutive segments, and a remainder
    expect_oracle(joint, MABD_SEGMENT_BODIES + 100, true, 1000, 1); // a heavy end
}

Test(segment, gives_what_the_whole_system_gives) {
    expect_oracles(MABD_JOINT_BALL);
}

Test(segment, gives_what_the_whole_system_gives_with_hinges) {
    expect_oracles(MABD_JOINT_HINGE);
}

// Four, five and six rows; with point rows and without, with slide rows and cross rows.
Test(segment, gives_what_the_whole_system_gives_with_other_joints) {
    const mabd_joint joints[4] = {MABD_JOINT_UNIVERSAL, MABD_JOINT_CYLINDRICAL,
                                  MABD_JOINT_PRISMATIC, MABD_JOINT_FIXED};
    for (int i = 0; i < 4; i++) {
        expect_oracle(joints[i], MABD_SEGMENT_BODIES + 60, true, 0, 1);
        expect_oracle(joints[i], MABD_SEGMENT_BODIES + 2, false, 0, 1);
    }
}

Test(segment, short_chains_have_none) {
    long_chain c = start(MABD_JOINT_BALL, MABD_SEGMENT_BODIES, true, 0, 0);
    cr_assert(eq(i32, c.sim->packs->segment_count, 0));
    stop(&c);
}

// The joint errors that update reports inside segments and check reports for all others equal those
// of all joints one by one.
static void expect_widest(const long_chain* c) {
    mabd_affine_sim* cpu = c->sim;
    mabd_affine_joint_error all = {0, 0, 0, -1};
    mabd_affine_update(cpu);
    const mabd_affine_joint_error found = mabd_affine_check_joints(cpu, cpu->q_new);
    cpu->stages->check(cpu, cpu->q_new, 0, c->model->joint_count, &all);
    cr_assert(lt(dbl, 1e-6, all.gap));
    cr_expect(epsilon_eq(dbl, found.gap, all.gap, 1e-12));
    cr_expect(eq(i32, found.joint, all.joint));
}

static void solve_again(mabd_affine_sim* cpu) {
    int32_t joint = -1;
    mabd_affine_assemble(cpu, MABD_PASS_FIRST);
    cr_assert(eq(int, mabd_affine_factor(cpu, &joint), MABD_OK));
    mabd_affine_solve_dual(cpu);
}

Test(segment, finds_the_widest_gap) {
    long_chain c = start(MABD_JOINT_BALL, 2 * MABD_SEGMENT_BODIES + 50, true, 0, 5);
    mabd_affine_sim* cpu = c.sim;
    const mabd_plan* plan = c.model->plan;
    solve_once(cpu, MABD_SCHEME_BDF2, 5);
    solve_again(cpu);
    for (int32_t k = 0; k < MABD_SEGMENT_SAVED(3);
         k++) { // data of one joint after elimination is off
        cpu->packs->saved[MABD_SEGMENT_SAVED(3) * 40 + k].at[3] += (mabd_real)0.5;
    }
    expect_widest(&c);
    const int32_t cuts[3] = {MABD_SEGMENT_LINKS, 7 * MABD_SEGMENT_LINKS, MABD_SEGMENT_BODIES};
    for (int32_t i = 0; i < 3; i++) { // multipliers of a cut are off
        solve_again(cpu);
        cpu->lambda[plan->slot_row[cpu->packs->segments[0].slot + cuts[i]]] += 1;
        expect_widest(&c);
    }
    stop(&c);
}

// The bits do not depend on which thread processes which tile.
static void expect_same_bits(mabd_joint joint) {
    const mabd_allocator allocator = mabd_default_allocator();
    long_chain one = start(joint, 3 * MABD_SEGMENT_BODIES + 77, true, 0, 0);
    const size_t reals = 12 * one.sim->sizes.bodies;
    mabd_real* expected = malloc(reals * sizeof *expected);
    cr_assert(expected != NULL);
    for (int32_t threads = 1; threads <= 4; threads++) {
        mabd_error error = {0};
        mabd_sim_def def = mabd_default_sim_def();
        void* self = NULL;
        def.h = STEP, def.threads = threads;
        rig_check(mabd_formulation_affine.create(one.model, &def, &allocator, one.model->start,
                                                 &self, &error),
                  &error, "simulation");
        mabd_affine_sim* sim = self;
        for (int32_t i = 0; i < 30; i++) {
            rig_check(mabd_affine_step(sim, (mabd_real)i * STEP, NULL, &error), &error, "step");
        }
        if (threads == 1) memcpy(expected, sim->q, reals * sizeof *expected);
        cr_expect(eq(int, memcmp(expected, sim->q, reals * sizeof *expected), 0),
                  "joint %d, %d threads", (int)joint, (int)threads);
        mabd_formulation_affine.destroy(sim, &allocator);
    }
    free(expected);
    stop(&one);
}

Test(segment, does_not_depend_on_threads) {
    expect_same_bits(MABD_JOINT_BALL);
    expect_same_bits(MABD_JOINT_HINGE);
}

// A pivot that is not positive is found and its joint named: here the mass of all links is
// negative.
static void expect_failing_joint(mabd_joint type) {
    long_chain c = start(type, MABD_SEGMENT_BODIES + 10, true, 0, 0);
    mabd_affine_sim* cpu = c.sim;
    int32_t joint = -1;
    mabd_affine_begin_solve(cpu, MABD_SCHEME_EULER, 0, STEP);
    cpu->blocks[c.model->body_class[5]].inv_t *= -100;
    mabd_affine_predict(cpu);
    mabd_affine_assemble(cpu, MABD_PASS_FIRST);
    cr_assert(eq(int, mabd_affine_factor(cpu, &joint), MABD_ERR_SINGULAR));
    const int32_t cut = cpu->packs->segments[0].slot;
    cr_assert(eq(i32, joint, c.model->plan->slot_joint[cut + 1]));
    stop(&c);
}

Test(segment, reports_the_failing_joint) {
    expect_failing_joint(MABD_JOINT_BALL);
    expect_failing_joint(MABD_JOINT_HINGE);
}
