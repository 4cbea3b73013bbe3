// SPDX-License-Identifier: Apache-2.0
// Borders that are eliminated along the tree, against the dense border: the same steps, responses
// and transposed solutions to round-off, of stages and of the mass matrix, on random mechanisms
// with redundant rows, springs and couplings.

#include "support/redmax_case.h"
#include "support/sanitized.h"
#include "support/small_sphere.h"

#include "formulation/redmax/redmax_bundles.h"
#include "formulation/redmax/redmax_loops.h"

#include <stdlib.h>
#include <string.h>

#define FREEDOMS 256
#define BORDERS  1024

/// Solutions of the systems of one factor.
typedef struct solutions {
    mabd_real step[FREEDOMS], answer[FREEDOMS], back[FREEDOMS], reaction[FREEDOMS];
    mabd_real x[FREEDOMS]; // of the step: the variation of the last link
} solutions;

static void factor(redmax_case* c, bool mass) {
    const mabd_redmax_weights none = {0, 0, 1};
    mabd_error error = {0};
    int32_t link;
    const mabd_redmax_weights w = mass ? none : mabd_redmax_stage_weights(c->solve.gamma);
    rig_check(mabd_redmax_factor(&c->solve, w, &link), &error, "factor");
    rig_check(mass ? mabd_redmax_mass_border(&c->solve) : mabd_redmax_border_factor(&c->solve),
              &error, "border");
}

static void solve(redmax_case* c, bool mass, const mabd_real* b, const mabd_real* rows,
                  solutions* out) {
    mabd_redmax_sim* sim = c->inside;
    const size_t bytes = (size_t)sim->parts[0].freedom_count * sizeof *b;
    const int32_t last = sim->parts[0].link_count - 1;
    mabd_real y[BORDERS] = {0};
    factor(c, mass);
    if (!mass) {
        memcpy(sim->step, b, bytes);
        mabd_redmax_border_solve(&c->solve);
        memcpy(out->step, sim->step, bytes);
        memcpy(out->x, sim->x + MABD_VARIATION * (size_t)last, MABD_VARIATION * sizeof *b);
    }
    memcpy(out->answer, b, bytes);
    memcpy(y, rows, (size_t)sim->parts[0].row_count * sizeof *y);
    if (mass) {
        mabd_redmax_mass_solve(&c->solve, out->answer, y);
    } else {
        mabd_redmax_stage_solve(&c->solve, out->answer, y);
    }
    memset(out->reaction, 0, bytes);
    mabd_redmax_subtract_border(&c->solve, mass, out->reaction);
    memcpy(out->back, b, bytes);
    if (mass) {
        mabd_redmax_mass_solve_transposed(&c->solve, out->back, NULL, y);
    } else {
        mabd_redmax_stage_solve_transposed(&c->solve, out->back, NULL, y);
    }
}

// Largest difference relative to the largest entry.
static double difference(int32_t n, const mabd_real* a, const mabd_real* b) {
    double most = 0, size = 0;
    for (int32_t i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i] - b[i])), size = fmax(size, fabs(b[i]));
    }
    return size > 0 ? most / size : most;
}

/// Largest differences of all cases.
typedef struct differences {
    double step, answer, back, reaction;
    int32_t cases, borders;
} differences;

static void compare(redmax_case* c, bool mass, differences* d) {
    static solutions dense, along;
    mabd_redmax_sim* sim = c->inside;
    mabd_redmax_part* part = &sim->parts[0];
    const int32_t n = part->freedom_count;
    mabd_error error = {0};
    mabd_real b[FREEDOMS], rows[BORDERS];
    for (int32_t k = 0; k < n; k++) b[k] = random_real(&c->state);
    for (int32_t r = 0; r < part->row_count; r++) {
        rows[r] = 0; // rows that contradict each other have no unique solution
        sim->loops.force[r] = random_real(&c->state);
    }
    mabd_redmax_residual(&c->solve);
    for (int32_t r = 0; r < part->row_count; r++) sim->loops.gap[r] = 0;
    memset(&dense, 0, sizeof dense), memset(&along, 0, sizeof along);
    part->structure.bundled = false;
    solve(c, mass, b, rows, &dense);
    if (!sim->bundles.memory[0]) {
        rig_check(mabd_redmax_bundles_create(sim, 0), &error, "bundles");
    }
    part->structure.bundled = true;
    solve(c, mass, b, rows, &along);
    d->step = fmax(d->step, difference(n, along.step, dense.step));
    d->step = fmax(d->step, difference(MABD_VARIATION, along.x, dense.x));
    d->answer = fmax(d->answer, difference(n, along.answer, dense.answer));
    d->back = fmax(d->back, difference(n, along.back, dense.back));
    d->reaction = fmax(d->reaction, difference(n, along.reaction, dense.reaction));
    d->cases++, d->borders += part->border_count;
}

// Forces of rows that nearly depend on others are known to the round-off over the shift, 1e-8.
static void check_all(bool mass, bool by_rate, redmax_loads loads, double bound) {
    const random_pattern patterns[3] = {RANDOM_RING, RANDOM_LOOPS, RANDOM_LADDER};
    differences d = {0};
    for (uint64_t seed = 0; seed < AMOUNT(30, 6); seed++) {
        const random_scene_def def = {.seed = seed,
                                      .pattern = patterns[seed % 3],
                                      .bodies = 6 + (int32_t)(seed % 5) * 3,
                                      .grounded = seed % 2 == 0,
                                      .wide = true,
                                      .mass_range = 3};
        redmax_case c = redmax_case_make(&def, loads);
        const mabd_redmax_part* part = &c.inside->parts[0];
        if (part->border_count > 0 && part->freedom_count <= FREEDOMS) {
            redmax_case_draw(&c, (mabd_real)0.01);
            c.solve.by_rate = by_rate;
            compare(&c, mass, &d);
        }
        redmax_case_free(&c);
    }
    printf("%d cases, %d borders: steps %.1e, answers %.1e, transposed %.1e, reactions %.1e\n",
           d.cases, d.borders, d.step, d.answer, d.back, d.reaction);
    cr_expect(ge(i32, d.cases, AMOUNT(20, 4)));
    cr_expect(lt(dbl, d.step, bound));
    cr_expect(lt(dbl, d.answer, bound));
    cr_expect(lt(dbl, d.back, bound));
    cr_expect(lt(dbl, d.reaction, 1e-7));
}

Test(redmax_bundles, steps_of_closed_poses_are_those_of_the_dense_border) {
    check_all(false, false, REDMAX_FREE, 2e-9);
}

Test(redmax_bundles, steps_of_closed_rates_are_those_of_the_dense_border) {
    check_all(false, true, REDMAX_FORCES, 2e-9);
}

Test(redmax_bundles, springs_between_links_are_those_of_the_dense_border) {
    check_all(false, false, REDMAX_SPRINGS, 2e-9);
}

Test(redmax_bundles, projections_are_those_of_the_dense_border) {
    check_all(true, false, REDMAX_SPRINGS, 2e-9);
}

// ---- redundant rows ----------------------------------------------------------------------------

static mabd_sim* sphere_sim(const mabd_model* model, mabd_integrator integrator, int32_t most) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)0.01);
    mabd_error error = {0};
    def.formulation = MABD_FORMULATION_REDMAX, def.integrator = integrator;
    mabd_sim* sim = rig_sim(model, &def);
    mabd_redmax_sim* inside = sim->self;
    mabd_redmax_bundles_destroy(inside);
    rig_check(mabd_redmax_bundles_create(inside, most), &error, "bundles");
    return sim;
}

// The sphere has 165 rows of which 50 do not follow from others. Which of them stay depends on the
// order of elimination; their number does not, and the motion but for the errors of steps in rows
// that are left out.
Test(redmax_bundles, redundant_rows_are_left_out_and_the_motion_is_the_same) {
    static const mabd_integrator methods[] = {MABD_INTEGRATOR_SDIRK2, MABD_INTEGRATOR_BDF2};
    mabd_model* model = small_sphere_model();
    for (int i = 0; i < 2; i++) {
        mabd_sim* sims[2] = {sphere_sim(model, methods[i], 0), sphere_sim(model, methods[i], 0)};
        mabd_redmax_sim* dense = sims[1]->self;
        dense->parts[0].structure.bundled = false;
        mabd_redmax_loops* loops = &dense->loops;
        const size_t n = (size_t)dense->parts[0].border_count, bytes = n * n * sizeof(mabd_real);
        mabd_real *matrix = loops->matrix, *other = loops->factor;
        loops->matrix = malloc(bytes), loops->factor = malloc(bytes); // those of few borders
        int32_t stay[2] = {0, 0};
        for (int k = 0; k < 6; k++) {
            for (int j = 0; j < 2; j++) cr_expect(lt(dbl, rig_step(sims[j]).gap, 1e-12));
        }
        for (int j = 0; j < 2; j++) {
            const mabd_redmax_sim* own = sims[j]->self;
            for (int32_t r = 0; r < own->parts[0].row_count; r++)
                stay[j] += !own->loops.left_out[r];
        }
        const double apart = rig_apart(model, sims[0], sims[1]);
        printf("sphere: rows %d and %d, %.1e m apart\n", stay[0], stay[1], apart);
        cr_expect(eq(i32, stay[0], 50));
        cr_expect(eq(i32, stay[1], 50));
        cr_expect(lt(dbl, apart, 1e-8));
        free(loops->matrix), free(loops->factor);
        loops->matrix = matrix, loops->factor = other;
        for (int j = 0; j < 2; j++) mabd_sim_destroy(sims[j]);
    }
    mabd_model_destroy(model);
}

// ---- cost --------------------------------------------------------------------------------------

/// Operations of one factor and bytes of a chain of four-bars.
typedef struct chain_cost {
    double operations, bytes;
} chain_cost;

static chain_cost cost_of(int32_t segments) {
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    mabd_four_bar_chain_def chain = mabd_default_four_bar_chain_def();
    mabd_error error = {0};
    chain.segments = segments;
    rig_check(mabd_generate_four_bar_chain(scene, &chain, &error), &error, "chain");
    mabd_model* model = rig_model(scene);
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)0.01);
    def.formulation = MABD_FORMULATION_REDMAX;
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_redmax_sim* inside = sim->self;
    cr_expect(inside->parts[0].structure.bundled);
    cr_expect(lt(dbl, rig_step(sim).gap, 1e-11));
    const chain_cost out = {(double)inside->parts[0].structure.operations,
                            (double)mabd_redmax_bundles_bytes(inside)};
    rig_destroy(sim, model);
    return out;
}

// Every four-bar ends at the first bar of its own, whatever their number: each adds the same.
Test(redmax_bundles, cost_is_linear_in_the_number_of_loops) {
    const chain_cost a = cost_of(100), b = cost_of(200), c = cost_of(400);
    const double more[2] = {b.operations - a.operations, c.operations - b.operations};
    const double bytes[2] = {b.bytes - a.bytes, c.bytes - b.bytes};
    printf("a four-bar: %.0f operations, %.0f bytes\n", more[1] / 200, bytes[1] / 200);
    cr_expect(eq(dbl, more[1], 2 * more[0]));
    cr_expect(lt(dbl, fabs(bytes[1] - 2 * bytes[0]), 0.01 * bytes[1]));
}
