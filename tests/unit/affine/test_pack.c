// SPDX-License-Identifier: Apache-2.0
// Tiles and packs: how bodies and joints are grouped, and that grouping does not change the bits.
#include "formulation/affine/affine_sim.h"
#include "formulation/affine/cpu/pack.h"
#include "formulation/affine/cpu/reduced_chain.h"
#include "formulation/affine/cpu/schedule.h"
#include "formulation/affine/element/side_share.h"
#include "support/random_scene.h"
#include "support/rig.h"

#include <mabd/generate.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

// Longer than two tiles, so that some joints connect two tiles.
#define LINKS (2 * MABD_TILE_BODIES + 176)

static const mabd_joint types[] = {MABD_JOINT_BALL, MABD_JOINT_HINGE, MABD_JOINT_UNIVERSAL,
                                   MABD_JOINT_FIXED, MABD_JOINT_CYLINDRICAL};
#define TYPES (int)(sizeof types / sizeof types[0])

static mabd_model* chain_model(mabd_joint joint) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(-9.81);
    mabd_chain_def def = mabd_default_chain_def();
    def.links = LINKS;
    def.joint = joint;
    rig_check(mabd_generate_chain(scene, &def, &error), &error, "chain");
    return rig_model(scene);
}

// Bodies with springs, and an unpacked one at the root.
static mabd_model* plant_model(void) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(-9.81);
    mabd_branching_def def = mabd_default_branching_def();
    def.levels[0].segments = def.levels[0].children = 30; // no junctions
    def.levels[1].children = 10;
    rig_check(mabd_generate_branching(scene, &def, &error), &error, "branching");
    return rig_model(scene);
}

static mabd_model* random_model(random_pattern pattern, bool controls, int32_t bodies) {
    const random_scene_def def = {.seed = 7,
                                  .pattern = pattern,
                                  .bodies = bodies,
                                  .grounded = true,
                                  .controls = controls,
                                  .mass_range = 1};
    return rig_model(random_scene(&def));
}

static mabd_affine_sim* start(const mabd_model* model, int32_t threads) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_error error = {0};
    mabd_sim_def def = mabd_default_sim_def();
    void* self = NULL;
    def.h = (mabd_real)0.002;
    def.threads = threads;
    rig_check(mabd_formulation_affine.create(model, &def, &allocator, model->start, &self, &error),
              &error, "create");
    return self;
}

static void stop(mabd_affine_sim* sim) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_formulation_affine.destroy(sim, &allocator);
}

static void advance(mabd_affine_sim* sim, int steps) {
    mabd_error error = {0};
    for (int i = 0; i < steps; i++) {
        const mabd_real time = (mabd_real)(i * 0.002);
        rig_check(mabd_formulation_affine.step(sim, time, NULL, &error), &error, "step");
    }
}

// ---- grouping ----------------------------------------------------------------------------------

static void expect_all_once(const mabd_model* m, const mabd_affine_packs* packs) {
    int32_t* seen = calloc((size_t)m->body_count, sizeof *seen);
    for (int32_t t = 0; t < packs->tile_count; t++) {
        const mabd_affine_tile* tile = &packs->tiles[t];
        for (int32_t p = tile->pack_first; p < tile->pack_last; p++) {
            const mabd_affine_pack* pack = &packs->packs[p];
            cr_assert(pack->count >= 1 && pack->count <= MABD_LANES);
            for (int l = 0; l < MABD_LANES; l++) {
                const int32_t body = pack->body[l < pack->count ? l : pack->count - 1];
                cr_assert(eq(i32, pack->body[l], body));
                cr_assert(body >= tile->body_first && body < tile->body_last);
                if (l < pack->count) seen[body]++;
            }
        }
        for (int32_t i = tile->unpacked_first; i < tile->unpacked_last; i++)
            seen[packs->unpacked[i]]++;
        for (int32_t i = tile->body_first; i < tile->body_last && tile->segment >= 0; i++)
            seen[i]++;
    }
    for (int32_t i = 0; i < m->body_count; i++) {
        cr_assert(eq(i32, seen[i], m->body_motion[i] == MABD_MOTION_DYNAMIC), "body %d", i);
    }
    free(seen);
}

// Compare each joint with the data of its lane in a pack.
static void expect_like(const mabd_model* m, const mabd_affine_packs* packs,
                        const mabd_affine_pack* pack, int l) {
    const mabd_plan* plan = m->plan;
    const int32_t body = pack->body[l], first = plan->side_start[body];
    cr_assert(eq(i32, m->body_class[body], pack->body_class));
    cr_assert(eq(i32, plan->side_start[body + 1] - first, pack->side_count));
    for (int32_t i = 0; i < pack->side_count; i++) {
        const mabd_plan_side* side = &plan->sides[first + i];
        const mabd_model_joint* joint = &m->joints[plan->slot_joint[side->slot]];
        const mabd_affine_pack_side* at = &packs->sides[pack->side_first + i];
        cr_assert(eq(i32, at->row[l], plan->slot_row[side->slot]));
        cr_assert(eq(i32, at->mode[l], packs->shares.side_mode[first + i]));
        if (pack->kind != MABD_BODY_ROWS) continue;
        const mabd_affine_pack_other* far = &packs->others[pack->other_first + i];
        cr_assert(eq(i32, far->row_set, joint->row_set));
        cr_assert(eq(i32, far->is_b, side->is_b));
        cr_assert(eq(i32, far->body[l], side->is_b ? joint->a : joint->b));
        cr_assert(eq(i32, far->frame[l], joint->frame));
        cr_assert(far->frame[l] == far->frame[0] || !far->one_frame);
        const bool first_side = at->mode[l] == MABD_SIDE_FIRST || at->mode[l] == MABD_SIDE_GROUND;
        cr_assert(far->begins || !first_side);
    }
}

static void expect_all_alike(const mabd_affine_sim* sim, const mabd_model* m) {
    const mabd_affine_packs* packs = sim->packs;
    for (int32_t p = 0; p < packs->pack_count; p++) {
        const mabd_affine_pack* pack = &packs->packs[p];
        for (int l = 0; l < MABD_LANES; l++) {
            cr_assert(eq(i32, sim->body_kind[pack->body[l]], pack->kind));
            expect_like(m, packs, pack, l);
        }
    }
}

static int32_t tile_of(const mabd_affine_packs* packs, int32_t body) {
    int32_t t = 0;
    while (body >= packs->tiles[t].body_last) t++;
    return t;
}

// Every slot of a joint is begun once; a deferred side is in another tile than the one that begins.
// `in_order`: tiles are processed in order, and no side is deferred.
static void expect_modes(const mabd_model* m, const mabd_affine_packs* packs, bool in_order) {
    const mabd_plan* plan = m->plan;
    int32_t* tile = malloc((size_t)plan->slot_count * sizeof *tile);
    for (int32_t i = 0; i < plan->slot_count; i++) tile[i] = -1;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t body = 0; body < m->body_count; body++) {
            for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
                const int32_t slot = plan->sides[s].slot, mode = packs->shares.side_mode[s];
                if (plan->sides[s].is_b < 0) continue; // a junction's own
                const bool begins = mode == MABD_SIDE_FIRST || mode == MABD_SIDE_GROUND;
                if (pass == 0 && begins) {
                    cr_assert(eq(i32, tile[slot], -1), "slot %d is begun twice", slot);
                    tile[slot] = tile_of(packs, body);
                } else if (pass == 1 && !begins) {
                    const bool apart = !in_order && tile[slot] != tile_of(packs, body);
                    cr_assert(eq(i32, mode == MABD_SIDE_DEFERRED, apart));
                    cr_assert(eq(i32, mabd_affine_shares_find(&packs->shares, s) != NULL, apart));
                }
            }
        }
    }
    for (int32_t i = 0; i < plan->slot_count; i++) {
        cr_assert(plan->slot_joint[i] < 0 || tile[i] >= 0, "slot %d is not begun", i);
    }
    free(tile);
}

// Joints with coordinates are in one lane of one group of one tile, or among the ungrouped ones.
static void expect_coordinates_once(const mabd_model* m, const mabd_affine_packs* packs) {
    int32_t* seen = calloc((size_t)m->joint_count + 1, sizeof *seen);
    int32_t* joint_at = calloc((size_t)m->coordinate_count + 1, sizeof *joint_at);
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (m->joints[i].coordinate >= 0) joint_at[m->joints[i].coordinate] = i;
    }
    for (int32_t t = 0; t < packs->tile_count; t++) {
        for (int32_t g = packs->tiles[t].group_first; g < packs->tiles[t].group_last; g++) {
            const mabd_affine_spring_group* group = &packs->groups[g];
            for (int l = 0; l < group->count; l++) seen[joint_at[group->coordinate[l]]]++;
        }
    }
    for (int32_t i = 0; i < packs->ungrouped_count; i++) seen[packs->ungrouped[i]]++;
    for (int32_t i = 0; i < m->joint_count; i++) {
        cr_assert(eq(i32, seen[i], m->joints[i].coordinate >= 0), "joint %d", i);
    }
    free(joint_at);
    free(seen);
}

static void expect_order(mabd_model* model) {
    for (int32_t threads = 1; threads <= 2; threads++) {
        mabd_affine_sim* sim = start(model, threads);
        expect_all_once(model, sim->packs);
        expect_coordinates_once(model, sim->packs);
        expect_all_alike(sim, model);
        expect_modes(model, sim->packs, threads == 1 || sim->shared_edges);
        stop(sim);
    }
    mabd_model_destroy(model);
}

Test(pack, has_every_moving_body_once_and_with_its_like) {
    for (int i = 0; i < TYPES; i++) expect_order(chain_model(types[i]));
    expect_order(plant_model());
    for (int pattern = RANDOM_CHAIN; pattern <= RANDOM_MIXED; pattern++) {
        expect_order(random_model((random_pattern)pattern, true, 40));
        expect_order(random_model((random_pattern)pattern, false, 700));
    }
}

Test(pack, takes_all_links_of_a_chain_with_rigid_rows) {
    for (int i = 0; i < TYPES; i++) {
        mabd_model* model = chain_model(types[i]);
        mabd_affine_sim* sim = start(model, 1);
        // full packs, except at the two ends and at the end of a tile
        cr_expect(eq(i32, sim->packs->unpacked_count, 0));
        cr_expect(le(i32, sim->packs->pack_count, LINKS / MABD_LANES + 4));
        stop(sim);
        mabd_model_destroy(model);
    }
}

Test(pack, leaves_no_spring_of_a_plant_alone_but_that_at_its_root) {
    mabd_model* model = plant_model();
    mabd_affine_sim* sim = start(model, 1);
    cr_expect(eq(i32, sim->packs->ungrouped_count, 1));
    cr_expect(lt(i32, MABD_TILE_BODIES / MABD_LANES, sim->packs->group_count));
    stop(sim);
    mabd_model_destroy(model);
}

// ---- halo --------------------------------------------------------------------------------------

// Rows of a pack read references of bodies of their own tile, of its halo and of bodies that do not
// move.
static void expect_borders(const mabd_model* m, const mabd_affine_packs* packs) {
    uint8_t* border = calloc((size_t)m->body_count, 1);
    for (int32_t i = 0; i < packs->halo_count; i++) border[packs->halo[i]] = 1;
    for (int32_t p = 0; p < packs->pack_count; p++) {
        const mabd_affine_pack* pack = &packs->packs[p];
        const int32_t tile = tile_of(packs, pack->body[0]);
        for (int l = 0; l < pack->count; l++) {
            cr_assert(eq(i32, pack->halo >> l & 1, border[pack->body[l]]));
        }
        for (int32_t i = 0; i < pack->side_count && pack->kind == MABD_BODY_ROWS; i++) {
            cr_assert(packs->tiles[tile].looks);
            for (int l = 0; l < MABD_LANES; l++) {
                const int32_t other = packs->others[pack->other_first + i].body[l];
                if (m->body_motion[other] != MABD_MOTION_DYNAMIC) continue;
                cr_assert(border[other] || tile_of(packs, other) == tile);
            }
        }
    }
    for (int32_t r = 0; r < packs->segment_count; r++) {
        const mabd_affine_segment* run = &packs->segments[r];
        for (int32_t i = 0; i < MABD_SEGMENT_BODIES; i++) {
            const int32_t k = i % MABD_SEGMENT_LINKS, l = i / MABD_SEGMENT_LINKS;
            const int32_t mine = k == 0                        ? run->halo[0] >> l & 1
                                 : k == MABD_SEGMENT_LINKS - 1 ? run->halo[1] >> l & 1
                                                               : 0;
            cr_assert(eq(i32, mine, border[run->body + i]));
        }
        for (int l = 0; l < MABD_LANES && run->kind == MABD_BODY_ROWS; l++) {
            const int32_t before = run->before.body[l], after = run->after.body[l];
            cr_assert(m->body_motion[before] != MABD_MOTION_DYNAMIC || border[before]);
            cr_assert(m->body_motion[after] != MABD_MOTION_DYNAMIC || border[after]);
        }
    }
    free(border);
}

// The bits are the same if all bodies are predicted before all tiles.
static void expect_same_if_predicted_before(const mabd_model* model, int32_t threads) {
    mabd_affine_sim *fused = start(model, threads), *before = start(model, threads);
    expect_borders(model, fused->packs);
    cr_assert(mabd_affine_fuses_predict(fused));
    before->packs->halo_count = model->body_count; // larger than any halo
    cr_assert(mabd_affine_fuses_predict(before) == false);
    advance(fused, 5), advance(before, 5);
    const size_t bytes = 12 * (size_t)model->body_count * sizeof(mabd_real);
    cr_expect(memcmp(fused->q, before->q, bytes) == 0);
    cr_expect(memcmp(fused->ref, before->ref, bytes) == 0);
    stop(fused);
    stop(before);
}

Test(pack, predicts_on_its_way_what_it_predicts_before) {
    for (int i = 0; i < TYPES; i++) {
        mabd_model* model = chain_model(types[i]);
        for (int32_t threads = 1; threads <= 2; threads++) {
            expect_same_if_predicted_before(model, threads);
        }
        mabd_model_destroy(model);
    }
}

// ---- results -----------------------------------------------------------------------------------

Test(pack, chains_across_tiles_are_the_same_with_any_number_of_threads) {
    for (int i = 0; i < TYPES; i++) {
        mabd_model* model = chain_model(types[i]);
        mabd_affine_sim* expected = start(model, 1);
        advance(expected, 5);
        for (int32_t threads = 2; threads <= 3; threads++) {
            mabd_affine_sim* sim = start(model, threads);
            advance(sim, 5);
            const size_t bodies = 12 * (size_t)LINKS * sizeof(mabd_real),
                         rows = expected->sizes.rows * sizeof(mabd_real);
            cr_expect(memcmp(sim->q, expected->q, bodies) == 0, "joint %d", types[i]);
            cr_expect(memcmp(sim->lambda, expected->lambda, rows) == 0);
            stop(sim);
        }
        stop(expected);
        mabd_model_destroy(model);
    }
}

// Make the simulation process all bodies one by one, without packs.
static void unpack(mabd_affine_sim* sim, const mabd_model* model) {
    const mabd_allocator allocator = mabd_default_allocator();
    for (int32_t i = 0; i < model->body_count; i++) {
        uint8_t* kind = &sim->body_kind[i];
        if (*kind == MABD_BODY_SIMPLE || *kind == MABD_BODY_ROWS) *kind = MABD_BODY_GENERAL;
    }
    mabd_affine_reduced_chain_destroy(sim, &allocator); // no segments are left
    sim->reduced_chains = NULL;
    mabd_affine_packs_destroy(&allocator, sim->packs);
    cr_assert(eq(int,
                 mabd_affine_packs_create(&allocator, model, sim->body_kind, false, &sim->packs),
                 MABD_OK));
    sim->shares = &sim->packs->shares;
    cr_assert(eq(i32, sim->packs->pack_count, 0));
}

static void expect_near(const mabd_real* a, const mabd_real* b, size_t count, double tolerance,
                        const char* name, int which) {
    double far = 0, size = 1;
    for (size_t k = 0; k < count; k++) {
        far = fmax(far, fabs((double)(a[k] - b[k])));
        size = fmax(size, fabs((double)b[k]));
    }
    cr_expect(le(dbl, far, tolerance * size), "%s, %d", name, which);
}

static void expect_same_one_by_one(mabd_model* model, int which) {
    mabd_affine_sim *lanes = start(model, 1), *single = start(model, 1);
    unpack(single, model);
    advance(lanes, 3), advance(single, 3);
    const size_t bodies = 12 * (size_t)model->body_count;
    expect_near(lanes->q, single->q, bodies, 1e-10, "q", which);
    expect_near(lanes->lambda, single->lambda, lanes->sizes.rows, 1e-6, "lambda", which);
    stop(lanes);
    stop(single);
    mabd_model_destroy(model);
}

Test(pack, gives_what_bodies_one_by_one_give) {
    for (int i = 0; i < TYPES; i++) expect_same_one_by_one(chain_model(types[i]), types[i]);
    for (int pattern = RANDOM_CHAIN; pattern <= RANDOM_TREE; pattern++) {
        expect_same_one_by_one(random_model((random_pattern)pattern, false, 30), pattern);
        expect_same_one_by_one(random_model((random_pattern)pattern, true, 30), pattern);
    }
}
