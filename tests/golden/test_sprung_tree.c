// SPDX-License-Identifier: Apache-2.0
// A tree with springs on the rotation vectors of its joints, larger than a tile: its bodies and
// joints are processed in lanes (src/formulation/affine/cpu/pack_springs.c, pack_turns.c). A motor
// without force on every joint makes its bodies general ones, which other source assembles row by
// row: the two must agree to rounding. Lanes must not change a bit, on any instruction set and with
// any number of threads.
#include "base/hash.h"
#include "formulation/affine/affine_sim.h"
#include "formulation/affine/cpu/isa_table.h"
#include "support/draw.h"
#include "support/rig.h"
#include "support/sanitized.h"

#include <stdlib.h>
#include <string.h>

#define BODIES 1300
#define STEPS  AMOUNT(20, 5)

// Rods of four classes, three to a branch; every ninth joint is a ball without springs.
typedef struct tree_def {
    bool motors; // without force
    bool loose;  // springs so weak that joints turn by more than a quarter turn
} tree_def;

static void add_link(mabd_scene* scene, const tree_def* def, int32_t i, mabd_vec3 start,
                     mabd_vec3 end) {
    mabd_error error = {0};
    const mabd_vec3 along = mabd_v3_sub(end, start), middle = mabd_v3_axpy(0.5, along, start);
    const mabd_real size[3] = {mabd_v3_norm(along), 0.02 + 0.005 * (i % 4), 0.02};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 700);
    const mabd_real k = def->loose ? 0.02 : 30;
    const mabd_signal none = mabd_signal_constant(0);
    mabd_axis_def axis[3] = {{.stiffness = k, .damping = 0.05 * k},
                             {.stiffness = 2 * k, .damping = 0.02 * k, .rest = 0.1},
                             {.stiffness = 3 * k, .armature = 1e-4}};
    mabd_body_def body = mabd_default_body_def();
    mabd_joint_def joint = mabd_default_joint_def();
    mabd_real direction[3], frame[4];
    mabd_v3_store(along, direction);
    cr_assert(mabd_frame_from_axes(direction, NULL, frame));
    body.geom_count = 1, body.geoms = &geom;
    body.drag = i % 4 == 3 ? 0.1 : 0;
    mabd_v3_store(middle, body.position);
    memcpy(body.rotation, frame, sizeof frame);
    joint.b = rig_add_body(scene, &body);
    joint.a = i == 0 ? MABD_WORLD : (i - 1) / 3;
    mabd_v3_store(start, joint.anchor);
    memcpy(joint.frame, frame, sizeof frame);
    for (int r = 0; r < 3 && (i % 9 != 8 || def->motors); r++) {
        if (i % 9 == 8) axis[r] = (mabd_axis_def){0};
        if (def->motors) axis[r].motor = none;
        joint.axes[MABD_AXIS_RX + r] = &axis[r];
    }
    rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
}

static mabd_model* make_tree(const tree_def* def) {
    static mabd_vec3 end[BODIES];
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(-9.81);
    const mabd_signal gust = mabd_signal_constant(3);
    const mabd_real wind[3] = {1, 0.3, 0};
    const mabd_force_def force = {.body = 700, .point = {0.1, 0, 0}, .force = {0, 4, 1}};
    uint64_t state = 5;
    for (int32_t i = 0; i < BODIES; i++) {
        const mabd_vec3 start = i == 0 ? mabd_v3(0, 0, 0) : end[(i - 1) / 3];
        end[i] = mabd_v3_axpy(0.3, draw_direction(&state), start);
        add_link(scene, def, i, start, end[i]);
    }
    rig_check(mabd_scene_set_wind(scene, wind, &gust, &error), &error, "wind");
    rig_check(mabd_scene_add_force(scene, &force, &error), &error, "force");
    return rig_model(scene);
}

typedef struct run_def {
    int32_t steps, threads, isa;
} run_def;

// Return the state after some steps; *lanes gets the number of bodies in packs and of groups of
// joints.
static void* run(const mabd_model* model, run_def how, size_t* size, int32_t* lanes) {
    mabd_error error = {0};
    const mabd_allocator allocator = mabd_default_allocator();
    const mabd_formulation_ops* ops = &mabd_formulation_affine;
    mabd_sim_def def = mabd_default_sim_def();
    void* self = NULL;
    def.h = (mabd_real)0.005;
    def.threads = how.threads;
    cr_assert(eq(int, ops->create(model, &def, &allocator, model->start, &self, &error), MABD_OK));
    mabd_affine_sim* cpu = self;
    cpu->stages = mabd_affine_isa_table_of(how.isa);
    *lanes = BODIES - cpu->packs->unpacked_count;
    for (int i = 0; i < how.steps; i++) {
        cr_assert(eq(int, ops->step(self, (mabd_real)i * def.h, NULL, &error), MABD_OK), "%s",
                  error.text);
    }
    *size = ops->state_size(self);
    void* state = malloc(*size);
    ops->save(self, state);
    ops->destroy(self, &allocator);
    return state;
}

static uint64_t hash_of(const mabd_model* model, run_def how) {
    size_t size;
    int32_t lanes;
    void* state = run(model, how, &size, &lanes);
    const uint64_t hash = mabd_hash(MABD_HASH_START, state, size);
    free(state);
    return hash;
}

Test(sprung_tree, gives_the_same_bits_on_all_threads_and_instruction_sets) {
    for (int loose = 0; loose < 2; loose++) {
        const tree_def def = {.loose = loose};
        mabd_model* model = make_tree(&def);
        const run_def first = {STEPS, 1, 0};
        const uint64_t expected = hash_of(model, first);
        for (int32_t isa = 0; isa < mabd_isa_count(); isa++) {
            for (int32_t threads = 1; threads <= 3; threads++) {
                const run_def how = {STEPS, threads, isa};
                cr_expect(eq(u64, hash_of(model, how), expected), "%s, %d threads",
                          mabd_isa_name(isa), threads);
            }
        }
        mabd_model_destroy(model);
    }
}

// States of both trees begin with q (bodies and world x 12).
Test(sprung_tree, moves_as_a_tree_of_general_bodies_does) {
    for (int loose = 0; loose < 2; loose++) {
        const tree_def def = {.loose = loose}, other = {.loose = loose, .motors = true};
        mabd_model *model = make_tree(&def), *general = make_tree(&other);
        const run_def how = {loose ? 60 : AMOUNT(100, 20), 1, mabd_isa_count() - 1};
        size_t size, size_general;
        int32_t lanes, lanes_general;
        mabd_real* q = run(model, how, &size, &lanes);
        mabd_real* expected = run(general, how, &size_general, &lanes_general);
        mabd_real worst = 0, way = 0;
        for (int i = 0; i < 12 * BODIES; i++) {
            worst = fmax(worst, fabs(q[i] - expected[i]));
            way = fmax(way, fabs(q[i]));
        }
        printf("lanes and rows differ by %.1e in %g\n", worst, way);
        cr_expect(eq(i32, lanes, BODIES));
        cr_expect(eq(i32, lanes_general, 0));
        cr_expect(lt(dbl, 1, way));
        cr_expect(lt(dbl, worst, 1e-9));
        free(q), free(expected);
        mabd_model_destroy(model), mabd_model_destroy(general);
    }
}
