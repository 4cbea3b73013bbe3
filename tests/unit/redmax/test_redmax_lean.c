// SPDX-License-Identifier: Apache-2.0
// Tests for src/formulation/redmax/lean.c: the sweeps of lean parts against those of motion.c and
// factor.c, on every instruction set and number of threads.
#include "base/isa.h"
#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_lanes.h"
#include "formulation/redmax/redmax_tangent.h"
#include "support/redmax_case.h"
#include "support/sanitized.h"

#include <mabd/generate.h>

#include <stddef.h>
#include <stdlib.h>

#define GAMMA 0.1

// Odd seeds: joints of all types, some of them from a body that floats. laws: with stops, limited
// and rigid drives, and friction.
static redmax_case lean_case(uint64_t seed, bool laws) {
    const random_scene_def def = {.seed = seed,
                                  .pattern = seed % 3 == 0 ? RANDOM_CHAIN : RANDOM_TREE,
                                  .bodies = 2 + (int32_t)(seed % 30),
                                  .grounded = seed % 4 != 3,
                                  .controls = true,
                                  .soft = !laws,
                                  .laws = laws,
                                  .single = seed % 2 == 0,
                                  .damped = true,
                                  .wide = true,
                                  .mass_range = 4};
    redmax_case c = redmax_case_make(&def, REDMAX_FREE);
    cr_assert(c.inside->parts[0].structure.lean, "seed %d", (int)seed);
    if (!laws)
        cr_assert(eq(int, c.inside->parts[0].structure.plain, seed % 2 == 0), "%d", (int)seed);
    return c;
}

/// What the sweeps of a part compute.
typedef struct results {
    mabd_real *r, *F, *x, *z;
    mabd_real *v, *a, *up; // bars of rates, accelerations, variations
    mabd_real* y;          // forces that hold freedoms
    int32_t freedoms, links, bars;
} results;

static mabd_real* copy(const mabd_real* from, int32_t n) {
    mabd_real* to = malloc((size_t)n * sizeof *to);
    memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

static results compute(redmax_case* c, bool lean) {
    mabd_redmax_sim* sim = c->inside;
    mabd_redmax_part* part = &sim->parts[0];
    const mabd_redmax_weights w = {1, 1 / GAMMA, 1 / (GAMMA * GAMMA)};
    const int32_t n = part->freedom_count;
    int32_t link;
    part->structure.lean = lean;
    if (lean) {
        mabd_redmax_lean_residual(&c->solve);
    } else {
        mabd_redmax_residual(&c->solve);
    }
    cr_assert(eq(int, mabd_redmax_factor(&c->solve, w, &link), MABD_OK));
    mabd_redmax_axes_rows(&c->solve);
    mabd_redmax_apply(&c->solve, sim->rows, sim->step);
    if (lean && part->structure.ruled) {
        mabd_redmax_lean_react(&c->solve, sim->step, sim->reaction);
    } else {
        mabd_redmax_multiply_forces(&c->solve, w, sim->step, sim->reaction);
    }
    for (int32_t k = 0; k < n; k++) sim->reaction[k] *= sim->freedoms[k].held ? 1 : 0;
    memset(sim->trial, 0, (size_t)n * sizeof *sim->trial);
    mabd_real *v = copy(sim->trial, n), *a = copy(sim->trial, n);
    mabd_redmax_apply_transposed(&c->solve, sim->r, sim->trial);
    mabd_real* z = copy(sim->trial, n);
    for (int32_t k = 0; k < n; k++) sim->trial[k] *= sim->freedoms[k].held ? 0 : 1; // no forces
    mabd_redmax_pull_rates(&c->solve, sim->trial, v, a);
    const int32_t bars = MABD_VARIATION * part->link_count;
    const results out = {.r = copy(sim->r, n),
                         .F = copy((mabd_real*)sim->F, 6 * part->link_count),
                         .x = copy(sim->step, n),
                         .z = z,
                         .y = copy(sim->reaction, n),
                         .v = v,
                         .a = a,
                         .up = copy(sim->up, bars),
                         .freedoms = n,
                         .links = 6 * part->link_count,
                         .bars = bars};
    part->structure.lean = true;
    return out;
}

static void free_results(results* r) {
    free(r->r), free(r->F), free(r->x), free(r->z), free(r->v), free(r->a), free(r->up), free(r->y);
}

static double difference(const mabd_real* a, const mabd_real* b, int32_t n) {
    double most = 0, size = 1e-300;
    for (int32_t i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i] - b[i])), size = fmax(size, fabs(b[i]));
    }
    return most / size;
}

// Draw a state, in which laws are on branches of it.
static int32_t draw_laws(redmax_case* c) {
    int32_t held = 0;
    redmax_case_draw(c, (mabd_real)GAMMA);
    mabd_redmax_begin_branches(&c->solve, 0);
    c->inside->parts[0].has_branches = false;
    mabd_redmax_start_axes(&c->solve);
    for (int32_t k = 0; k < c->inside->freedom_count; k++) held += c->inside->freedoms[k].held;
    return held;
}

Test(redmax_lean, its_sweeps_are_those_of_parts_with_laws) {
    double worst[5] = {0};
    int32_t held = 0, ruled = 0;
    for (uint64_t seed = 0; seed < AMOUNT(60, 12); seed++) {
        redmax_case c = lean_case(seed, true);
        held += draw_laws(&c), ruled += c.inside->parts[0].structure.ruled;
        results other = compute(&c, false), own = compute(&c, true);
        worst[0] = fmax(worst[0], difference(own.r, other.r, own.freedoms));
        worst[1] = fmax(worst[1], difference(own.F, other.F, own.links));
        worst[2] = fmax(worst[2], difference(own.x, other.x, own.freedoms));
        worst[3] = fmax(worst[3], difference(own.y, other.y, own.freedoms));
        worst[4] = fmax(worst[4], difference(own.z, other.z, own.freedoms));
        worst[4] = fmax(worst[4], difference(own.a, other.a, own.freedoms));
        worst[4] = fmax(worst[4], difference(own.v, other.v, own.freedoms));
        free_results(&other), free_results(&own);
        redmax_case_free(&c);
    }
    printf("%d held freedoms in %d parts: r %.1e, F %.1e, x %.1e, forces that hold %.1e, "
           "backwards %.1e\n",
           (int)held, (int)ruled, worst[0], worst[1], worst[2], worst[3], worst[4]);
    cr_expect(lt(dbl, worst[4], 1e-11));
    cr_expect(lt(i32, AMOUNT(60, 6), held));
    cr_expect(lt(i32, AMOUNT(40, 8), ruled));
    cr_expect(lt(dbl, worst[0], 1e-13));
    cr_expect(lt(dbl, worst[1], 1e-13));
    cr_expect(lt(dbl, worst[2], 1e-11));
    cr_expect(lt(dbl, worst[3], 1e-11));
}

Test(redmax_lean, its_sweeps_are_those_of_all_parts) {
    double worst[7] = {0};
    for (uint64_t seed = 0; seed < AMOUNT(60, 12); seed++) {
        redmax_case c = lean_case(seed, false);
        redmax_case_draw(&c, (mabd_real)GAMMA);
        results other = compute(&c, false), own = compute(&c, true);
        worst[0] = fmax(worst[0], difference(own.r, other.r, own.freedoms));
        worst[1] = fmax(worst[1], difference(own.F, other.F, own.links));
        worst[2] = fmax(worst[2], difference(own.x, other.x, own.freedoms));
        worst[3] = fmax(worst[3], difference(own.z, other.z, own.freedoms));
        worst[4] = fmax(worst[4], difference(own.v, other.v, own.freedoms));
        worst[5] = fmax(worst[5], difference(own.a, other.a, own.freedoms));
        worst[6] = fmax(worst[6], difference(own.up, other.up, own.bars));
        free_results(&other), free_results(&own);
        redmax_case_free(&c);
    }
    printf("r %.1e, F %.1e, x %.1e, z %.1e\n", worst[0], worst[1], worst[2], worst[3]);
    cr_expect(lt(dbl, worst[0], 1e-13));
    cr_expect(lt(dbl, worst[1], 1e-13));
    cr_expect(lt(dbl, worst[2], 1e-11));
    cr_expect(lt(dbl, worst[3], 1e-11));
    printf("bars of v %.1e, a %.1e, variations %.1e\n", worst[4], worst[5], worst[6]);
    for (int i = 4; i < 7; i++) cr_expect(lt(dbl, worst[i], 1e-11), "%d", i);
}

Test(redmax_lean, has_the_same_bits_on_every_instruction_set) {
    for (uint64_t seed = 0; seed < AMOUNT(20, 5); seed++) {
        redmax_case c = lean_case(seed, seed % 3 == 1);
        draw_laws(&c);
        c.inside->sweeps = mabd_lean_table_of(0);
        results first = compute(&c, true);
        for (int32_t isa = 1; isa < mabd_isa_count(); isa++) {
            c.inside->sweeps = mabd_lean_table_of(isa);
            results own = compute(&c, true);
            cr_expect(eq(int, memcmp(own.r, first.r, (size_t)own.freedoms * sizeof *own.r), 0));
            cr_expect(eq(int, memcmp(own.F, first.F, (size_t)own.links * sizeof *own.F), 0));
            cr_expect(eq(int, memcmp(own.x, first.x, (size_t)own.freedoms * sizeof *own.x), 0));
            cr_expect(eq(int, memcmp(own.z, first.z, (size_t)own.freedoms * sizeof *own.z), 0));
            cr_expect(eq(int, memcmp(own.v, first.v, (size_t)own.freedoms * sizeof *own.v), 0));
            cr_expect(eq(int, memcmp(own.up, first.up, (size_t)own.bars * sizeof *own.up), 0));
            free_results(&own);
        }
        free_results(&first);
        redmax_case_free(&c);
    }
}

// Turns of any size, reduced to a quarter turn: the frames of a hinge are rotations by its angle.
Test(redmax_lean, turns_by_any_angle) {
    redmax_case c = lean_case(6, false);
    mabd_redmax_sim* sim = c.inside;
    for (int i = 0; i < 400; i++) {
        redmax_case_draw(&c, (mabd_real)GAMMA);
        const double size = pow(10, -9 + 15.0 * i / 400);
        for (int32_t k = 0; k < sim->parts[0].freedom_count; k++) {
            if (sim->freedoms[k].axis >= MABD_AXIS_RX) sim->q[k] *= (mabd_real)size;
        }
        mabd_redmax_place(&c.solve);
        const size_t links = (size_t)sim->parts[0].link_count;
        mabd_real* E = copy((mabd_real*)sim->E, 12 * (int32_t)links);
        mabd_redmax_lean_residual(&c.solve);
        for (size_t k = 0; k < 12 * links; k++) {
            cr_assert(lt(dbl, fabs(E[k] - ((mabd_real*)sim->E)[k]), 1e-14 * (1 + fabs(E[k]))));
        }
        free(E);
    }
    redmax_case_free(&c);
}

// A tree with several tasks and links between them and the ground.
static void compare_threads(mabd_joint joint) {
    mabd_real *expected = NULL, *bars = NULL;
    mabd_measure measured[3];
    mabd_energy_balance balance[3];
    int run = 0;
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        mabd_error error = {0};
        mabd_scene* scene = rig_scene(-9.81);
        mabd_tree_def def = mabd_default_tree_def();
        const mabd_axis_def axis = {.damping = 1, .stiffness = 10, .armature = (mabd_real)0.01};
        def.depth = 12, def.joint = joint;
        if (joint == MABD_JOINT_HINGE) def.axes[MABD_AXIS_RX] = &axis;
        rig_check(mabd_generate_tree(scene, &def, &error), &error, "tree");
        mabd_model* model = rig_model(scene);
        mabd_sim_def d = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.005);
        d.formulation = MABD_FORMULATION_REDMAX, d.threads = threads;
        mabd_sim* sim = rig_sim(model, &d);
        const mabd_redmax_sim* inside = sim->self;
        cr_assert(inside->parts[0].structure.lean);
        cr_assert(lt(i32, 10, inside->parts[0].structure.range_count));
        for (int i = 0; i < 2; i++) {
            rig_check(mabd_sim_step(sim, NULL, &error), &error, "step");
        }
        const size_t bytes = (size_t)inside->freedom_count * sizeof(mabd_real);
        if (!expected) expected = copy(inside->now.v, inside->freedom_count);
        cr_expect(eq(int, memcmp(inside->now.v, expected, bytes), 0), "%d threads", (int)threads);
        measured[run] = mabd_sim_measure(sim);
        balance[run] = mabd_sim_get_energy_balance(sim);
        cr_expect(
            eq(int, memcmp(&measured[run], measured, offsetof(mabd_measure, worst_joint)), 0));
        cr_expect(eq(i32, measured[run].worst_joint, measured[0].worst_joint));
        cr_expect(eq(int, memcmp(&balance[run], balance, sizeof *balance), 0));
        run++;
        if (!inside->parts[0].structure.plain) {
            rig_destroy(sim, model);
            continue;
        }
        const mabd_redmax_solve solve = {.sim = sim->self, .part = &inside->parts[0]};
        mabd_redmax_pull_rates(&solve, inside->now.q, inside->step, inside->trial);
        if (!bars) bars = copy(inside->step, inside->freedom_count);
        cr_expect(eq(int, memcmp(inside->step, bars, bytes), 0), "%d threads", (int)threads);
        const int32_t variations = MABD_VARIATION * inside->link_count;
        mabd_real* up = copy(inside->up, variations);
        mabd_redmax_pull_back(&solve, inside->now.q, NULL);
        cr_expect(lt(dbl, difference(up, inside->up, variations), 1e-11));
        free(up);
        rig_destroy(sim, model);
    }
    free(expected), free(bars);
}

Test(redmax_lean, has_the_same_bits_for_any_number_of_threads) {
    compare_threads(MABD_JOINT_HINGE);
    compare_threads(MABD_JOINT_BALL);
}

// ---- lanes -------------------------------------------------------------------------------------

// 21 trees of two kinds, of different masses, with springs, dampers and servos on their axes; with
// joints of all types and from bodies that float if they are not plain; laws: with stops, limited
// and rigid drives, and friction.
static mabd_model* copies(bool plain, bool laws) {
    mabd_scene* scene = rig_scene(-9.81);
    for (int32_t i = 0; i < 21; i++) {
        const random_scene_def def = {.seed = (uint64_t)(i % 4 == 3 ? 5 : 4),
                                      .pattern = RANDOM_TREE,
                                      .bodies = 9,
                                      .grounded = plain || i % 4 == 3,
                                      .controls = true,
                                      .soft = !laws,
                                      .laws = laws,
                                      .single = plain,
                                      .damped = true,
                                      .wide = true,
                                      .mass_range = 4};
        random_scene_add(&def, scene);
    }
    mabd_model* model = rig_model(scene);
    for (int32_t i = 0; i < model->class_count; i++) {
        model->classes[i].material.mass *= 1 + (mabd_real)0.02 * (mabd_real)(i % 7);
    }
    return model;
}

static size_t state_bytes; // of the last run

// Take steps with packs for an instruction set, -1 = none; returns the coordinates and rates.
static mabd_real* run_copies(const mabd_model* model, double h, mabd_integrator integrator,
                             int32_t isa, int32_t threads, mabd_step_info* info) {
    mabd_sim_def d = rig_def(MABD_PRESET_BALANCED, (mabd_real)h);
    d.formulation = MABD_FORMULATION_REDMAX, d.integrator = integrator, d.threads = threads;
    mabd_sim* sim = rig_sim(model, &d);
    mabd_redmax_sim* inside = sim->self;
    mabd_error error = {0};
    int32_t solved = 0;
    mabd_redmax_lanes_destroy(inside);
    cr_assert(eq(int, mabd_redmax_lanes_create(inside, isa < 0 ? 0 : isa), MABD_OK));
    cr_assert(ge(i32, inside->pack_count, 2));
    for (int32_t i = 0; isa < 0 && i < inside->part_count; i++)
        inside->parts[i].structure.pack = -1;
    if (isa < 0) inside->pack_count = 0;
    *info = (mabd_step_info){0};
    for (int i = 0; i < AMOUNT(20, 6); i++) {
        mabd_step_info own;
        rig_check(mabd_sim_step(sim, &own, &error), &error, "step");
        info->iterations += own.iterations, info->line_searches += own.line_searches;
        info->retries += own.retries;
        for (int32_t p = 0; p < inside->part_count; p++) solved += inside->parts[p].lane_taken;
    }
    const int32_t stages = integrator == MABD_INTEGRATOR_SDIRK2 ? 2 : 1;
    cr_expect(isa < 0 ? solved == 0 : solved > AMOUNT(3, 1) * 21 * stages, "%d stages in lanes",
              (int)solved);
    mabd_real* q = copy(inside->now.q, inside->freedom_count);
    const size_t freedoms = (size_t)inside->freedom_count, balls = 4 * (size_t)inside->ball_count;
    mabd_real* all = realloc(q, (2 * freedoms + balls) * sizeof *all);
    memcpy(all + freedoms, inside->now.v, freedoms * sizeof *all);
    memcpy(all + 2 * freedoms, inside->now.turn, balls * sizeof *all);
    state_bytes = (2 * freedoms + balls) * sizeof *all;
    rig_destroy(sim, NULL);
    return all;
}

static void compare_copies(bool plain, bool laws) {
    static const mabd_integrator methods[] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_EULER,
                                              MABD_INTEGRATOR_SDIRK2};
    const double h = laws ? 0.02 : 0.1;
    mabd_model* model = copies(plain, laws);
    for (int m = 0; m < 3; m++) {
        mabd_step_info alone, packed;
        mabd_real* expected = run_copies(model, h, methods[m], -1, 1, &alone);
        for (int32_t isa = 0; isa < mabd_isa_count(); isa++) {
            for (int32_t threads = 1; threads <= 4; threads += 3) {
                mabd_real* own = run_copies(model, h, methods[m], isa, threads, &packed);
                cr_expect(eq(int, memcmp(own, expected, state_bytes), 0), "%s, %d",
                          mabd_isa_name(isa), (int)threads);
                cr_expect(eq(i32, packed.iterations, alone.iterations));
                cr_expect(eq(i32, packed.line_searches, alone.line_searches));
                cr_expect(eq(i32, packed.retries, alone.retries));
                free(own);
            }
        }
        printf("%d iterations, %d searches, %d retries\n", (int)alone.iterations,
               (int)alone.line_searches, (int)alone.retries);
        free(expected);
    }
    mabd_model_destroy(model);
}

Test(redmax_lanes, give_the_bits_of_parts_alone) {
    compare_copies(true, false);
}

Test(redmax_lanes, give_the_bits_of_parts_with_balls_alone) {
    compare_copies(false, false);
}

Test(redmax_lanes, give_the_bits_of_parts_with_laws_alone) {
    compare_copies(true, true);
    compare_copies(false, true);
}
