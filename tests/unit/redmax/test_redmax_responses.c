// SPDX-License-Identifier: Apache-2.0
// Tests for src/formulation/redmax/responses.c: several responses at a time against one solve for
// each (factor.c), on random trees with forces, balls, springs of axes, stops and held axes.
#include "base/list.h"
#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_contact.h"
#include "support/redmax_case.h"
#include "support/sanitized.h"

#define GAMMA 0.05

static redmax_case case_of(uint64_t seed) {
    const random_scene_def def = {.seed = seed,
                                  .pattern = seed % 2 == 0 ? RANDOM_TREE : RANDOM_CHAIN,
                                  .bodies = 2 + (int32_t)(seed % 12),
                                  .grounded = seed % 3 != 0,
                                  .controls = true,
                                  .laws = seed % 4 != 0,
                                  .paths = seed % 5 == 0,
                                  .wide = true,
                                  .mass_range = 4};
    redmax_case c = redmax_case_make(&def, REDMAX_FORCES);
    redmax_case_draw(&c, (mabd_real)GAMMA);
    mabd_redmax_begin_branches(&c.solve, 0);
    mabd_redmax_start_axes(&c.solve);
    return c;
}

static mabd_spatial draw_wrench(uint64_t* state) {
    mabd_real F[6];
    for (int k = 0; k < 6; k++) F[k] = random_real(state);
    return mabd_sp_load(F);
}

// Largest difference of the motions of links by eight wrenches, relative; *held: held freedoms.
static double compare(redmax_case* c, int* held) {
    mabd_redmax_sim* sim = c->inside;
    const mabd_redmax_part* part = &sim->parts[0];
    mabd_spatial F[MABD_RESPONSES];
    int32_t at[MABD_RESPONSES], link;
    double most = 0, size = 1e-300;
    mabd_redmax_residual(&c->solve);
    cr_assert(eq(int, mabd_redmax_factor(&c->solve, mabd_redmax_stage_weights(GAMMA), &link), 0));
    mabd_redmax_clear_responses(&c->solve);
    for (int l = 0; l < MABD_RESPONSES; l++) {
        at[l] = part->link_first + l * part->link_count / MABD_RESPONSES,
        F[l] = draw_wrench(&c->state);
        mabd_redmax_set_wrench(sim, at[l], l, F[l]);
    }
    mabd_redmax_find_responses(&c->solve);
    for (int l = 0; l < MABD_RESPONSES; l++) {
        for (int32_t k = 0; k < sim->freedom_count; k++) sim->step[k] = 0;
        mabd_redmax_pull_wrench(sim, at[l], F[l], sim->step);
        mabd_redmax_apply(&c->solve, sim->step, sim->step);
        for (int32_t i = part->link_first; i < part->link_first + part->link_count; i++) {
            mabd_real own[6];
            const mabd_real* xi = sim->x + MABD_VARIATION * (size_t)i + 12;
            mabd_sp_store(mabd_redmax_response(sim, i, l), own);
            for (int k = 0; k < 6; k++) {
                most = fmax(most, fabs((double)(own[k] - xi[k])));
                size = fmax(size, fabs((double)xi[k]));
            }
        }
    }
    for (int32_t k = 0; k < part->freedom_count; k++) *held += sim->freedoms[k].held;
    return most / size;
}

Test(redmax_responses, are_those_of_single_solves) {
    double worst = 0;
    int held = 0;
    for (uint64_t seed = 1; seed <= AMOUNT(60, 12); seed++) {
        redmax_case c = case_of(seed);
        mabd_redmax_contacts contacts = {.allocator = c.inside->allocator};
        c.inside->contacts = &contacts;
        cr_assert(eq(int, mabd_redmax_take_responses(c.inside), MABD_OK));
        worst = fmax(worst, compare(&c, &held));
        mabd_list_free(&contacts.allocator, &contacts.responses,
                       MABD_RESPONSES * sizeof(mabd_real));
        c.inside->contacts = NULL;
        redmax_case_free(&c);
    }
    printf("%.1e, %d held freedoms\n", worst, held);
    cr_expect(lt(i32, 10, held));
    cr_expect(lt(dbl, worst, 1e-11));
}
