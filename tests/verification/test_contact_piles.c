// SPDX-License-Identifier: Apache-2.0
// Substeps that contacts between moving bodies ask for, and piles: converged within the tolerance
// that is reported, as thin as shapes allow, with the same bits through a checkpoint.

#include "support/contact_rig.h"

#include <stdlib.h>
#include <string.h>

#define H 0.01

// ---- substeps ----------------------------------------------------------------------------------

// A sphere hits the end of a rod across it, at the lever l and with the speed v. By itself
// the rod turns at w = l P/I after P = v/(1/m + l^2/I), and the step is divided into the least
// power of 2 parts in which it turns by 0.2 rad at most. The rod is long and thin: of its moments
// only the one about z counts.
static int32_t parts_of_hit(double l, double v) {
    mabd_scene* scene = contact_scene(0);
    const contact_body rod = {.shape = MABD_SHAPE_BOX, .size = {1, 0.02, 0.02}, .mass = 1};
    const contact_body ball = {.shape = MABD_SHAPE_SPHERE,
                               .size = {0.1},
                               .mass = 0.5,
                               .position = {l, -0.11 - v * H / 2, 0},
                               .velocity = {0, v, 0}};
    contact_add(scene, &rod), contact_add(scene, &ball);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, H);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_step_info info = rig_step(sim);
    mabd_real v_rod[6];
    mabd_sim_get_state(sim, NULL, NULL, v_rod, NULL);
    cr_expect(lt(dbl, v / 100, v_rod[1]), "the sphere does not hit");
    rig_destroy(sim, model);
    return info.substeps;
}

static int32_t expected_parts(double l, double v) {
    const double moment = (1 + 0.02 * 0.02) / 12, turn = H * v * l / (moment + l * l);
    int32_t n = 1;
    while (turn / n > 0.2) n *= 2;
    return n;
}

Test(contact_piles, a_step_has_as_many_parts_as_its_hits_turn_bodies) {
    const double levers[] = {0, 0.05, 0.2, 0.45}, speeds[] = {1, 5, 20, 40};
    int32_t most = 1;
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 4; k++) {
            const int32_t expected = expected_parts(levers[i], speeds[k]);
            cr_expect(eq(int, parts_of_hit(levers[i], speeds[k]), expected), "l = %g, v = %g",
                      levers[i], speeds[k]);
            most = expected > most ? expected : most;
        }
    }
    cr_expect(ge(int, most, 4)); // else the test says nothing
}

// ---- piles -------------------------------------------------------------------------------------

static mabd_model* pile_model(const char* count) {
    const mabd_setting settings[] = {{"count", count}};
    mabd_error error = {0};
    mabd_scene* scene;
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(
        mabd_scene_load(scene, MABD_SOURCE_DIR "/scenes/pile-mixed.json", 1, settings, &error),
        &error, "pile-mixed");
    return rig_model(scene);
}

// The scene itself: at most a tenth of the steps may end unconverged, the overlap, measured by the
// shapes, is below 1 % of the smallest bodies, spheres of 0.06 m. After 4 s some still roll.
Test(contact_piles, a_pile_falls_within_the_tolerance_that_it_reports) {
    mabd_model* model = pile_model("100");
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, H);
    mabd_sim* sim = rig_sim(model, &def);
    double deepest = 0, fastest = 0;
    int32_t unconverged = 0, piles = 0, divided = 0, steps = 0;
    for (; steps < 400; steps++) {
        const mabd_step_info info = rig_step(sim);
        deepest = fmax(deepest, contact_depth(sim));
        unconverged += !info.converged;
        divided += info.substeps > 1;
        const bool pile = info.affine.tolerance_used > def.contact_tolerance;
        piles += pile;
        cr_expect(eq(dbl, info.affine.tolerance_used,
                     pile ? def.affine.pile_tolerance : def.contact_tolerance));
        if (!info.converged) continue;
        cr_expect(le(dbl, info.contact_residual, info.affine.tolerance_used), "step %d", steps);
    }
    const int32_t bodies = mabd_model_body_count(model);
    mabd_real* v = malloc(sizeof *v * 3 * (size_t)bodies);
    mabd_sim_get_state(sim, NULL, NULL, v, NULL);
    for (int32_t i = 0; i < bodies; i++) fastest = fmax(fastest, rig_norm(v + 3 * i));
    free(v);
    printf("pile of 100: %d of %d steps divided, %d judged as piles, %d not converged, deepest "
           "%.1e m, fastest at the end %.1e m/s\n",
           divided, steps, piles, unconverged, deepest, fastest);
    cr_expect(lt(int, 10, divided));
    cr_expect(lt(int, 100, piles));
    cr_expect(le(int, unconverged, 40));
    cr_expect(lt(dbl, deepest, 0.01 * 2 * 0.06));
    cr_expect(lt(dbl, fastest, 3e-3));
    rig_destroy(sim, model);
}

// A smaller tolerance is met, not only reported.
Test(contact_piles, the_tolerance_of_piles_is_that_of_the_definition) {
    mabd_model* model = pile_model("30");
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, H);
    def.affine.pile_tolerance = (mabd_real)1e-5;
    mabd_sim* sim = rig_sim(model, &def);
    double largest = 0;
    int32_t converged = 0;
    for (int32_t i = 0; i < 60; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_expect(le(dbl, info.affine.tolerance_used, 1e-5));
        if (!info.converged || info.substeps == 1) continue;
        largest = fmax(largest, (double)info.contact_residual), converged++;
    }
    cr_expect(lt(int, 5, converged));
    cr_expect(le(dbl, largest, 1e-5));
    rig_destroy(sim, model);
}

// A run that is saved while the pile falls and goes on in another simulation, with another number
// of threads, ends with the same bits.
Test(contact_piles, a_checkpoint_in_the_middle_of_a_pile_changes_no_bit) {
    mabd_model* model = pile_model("30");
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, H);
    mabd_sim* sim = rig_sim(model, &def);
    const int32_t bodies = mabd_model_body_count(model);
    int32_t divided = 0;
    for (int32_t i = 0; i < 35; i++) rig_step(sim);
    const size_t size = mabd_sim_state_size(sim);
    void* saved = malloc(size);
    mabd_sim_save(sim, saved);
    for (int32_t i = 0; i < 15; i++) divided += rig_step(sim).substeps > 1;
    cr_expect(lt(int, 0, divided), "no step after the checkpoint is divided");
    mabd_real* p = malloc(sizeof *p * 6 * (size_t)bodies);
    mabd_sim_get_state(sim, p, NULL, p + 3 * bodies, NULL);
    mabd_sim_destroy(sim);
    mabd_error error = {0};
    for (int32_t threads = 1; threads <= 3; threads += 2) {
        mabd_real* q = malloc(sizeof *q * 6 * (size_t)bodies);
        def.threads = threads;
        sim = rig_sim(model, &def);
        rig_check(mabd_sim_restore(sim, saved, size, &error), &error, "restore");
        for (int32_t i = 0; i < 15; i++) rig_step(sim);
        mabd_sim_get_state(sim, q, NULL, q + 3 * bodies, NULL);
        cr_expect(eq(int, memcmp(p, q, sizeof *p * 6 * (size_t)bodies), 0), "%d threads", threads);
        mabd_sim_destroy(sim);
        free(q);
    }
    free(p), free(saved);
    mabd_model_destroy(model);
}

// ---- rest --------------------------------------------------------------------------------------

// Ten boxes on each other: their kinetic energy falls below 1e-12 of m g h within 5 s and stays.
static mabd_model* stack_model(void) {
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    for (int i = 0; i < 10; i++) {
        const contact_body box = {.shape = MABD_SHAPE_BOX,
                                  .size = {0.2, 0.2, 0.2},
                                  .mass = 4,
                                  .friction = 0.5,
                                  .position = {0, 0, 0.2 * (i + 0.5)}};
        contact_add(scene, &box);
    }
    contact_add_ground(scene, 0.5);
    return rig_model(scene);
}

#define STACK_ENERGY (10 * 4 * CONTACT_GRAVITY * 2)

static mabd_sim_def sleeping_def(void) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, H);
    def.affine.sleep = true;
    return def;
}

Test(contact_piles, a_stack_comes_to_rest_and_stays) {
    mabd_model* model = stack_model();
    const mabd_sim_def def = sleeping_def();
    mabd_sim* sim = rig_sim(model, &def);
    double after = 0;
    while (mabd_sim_time(sim) < 8) {
        contact_step(sim);
        if (mabd_sim_time(sim) > 5) after = fmax(after, mabd_sim_measure(sim).kinetic);
    }
    printf("stack: kinetic energy after 5 s at most %.1e of m g h\n", after / STACK_ENERGY);
    cr_expect(lt(dbl, after, 1e-12 * STACK_ENERGY));
    rig_destroy(sim, model);
}

// The same stack without sleep ends at the same place, within the tolerance.
Test(contact_piles, sleep_changes_no_pose_by_more_than_the_tolerance) {
    mabd_model* model = stack_model();
    mabd_sim_def def = sleeping_def();
    mabd_sim* sleeper = rig_sim(model, &def);
    def.affine.sleep = false;
    mabd_sim* waker = rig_sim(model, &def);
    int32_t asleep = 0;
    for (int i = 0; i < 400; i++) {
        asleep += contact_step(sleeper).affine.asleep;
        cr_expect(not(contact_step(waker).affine.asleep));
    }
    mabd_real p[33], q[33];
    double farthest = 0;
    mabd_sim_get_state(sleeper, p, NULL, NULL, NULL);
    mabd_sim_get_state(waker, q, NULL, NULL, NULL);
    for (size_t i = 0; i < 10; i++) {
        farthest = fmax(farthest, rig_distance(p + 3 * i, q + 3 * i));
    }
    printf("stack: asleep for %d of 400 steps, off by %.1e m\n", asleep, farthest);
    cr_expect(lt(int, 200, asleep));
    cr_expect(le(dbl, farthest, def.affine.pile_tolerance));
    mabd_sim_destroy(sleeper);
    rig_destroy(waker, model);
}

static mabd_sim* sleeping_stack(mabd_model* model) {
    const mabd_sim_def def = sleeping_def();
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 200; i++) contact_step(sim);
    cr_assert(contact_step(sim).affine.asleep);
    return sim;
}

// A force of twice the weight lifts the top box: it rises by a h^2 in the first step of implicit
// Euler, a = g. In the next steps it flies and falls back.
Test(contact_piles, a_force_wakes) {
    mabd_model* model = stack_model();
    mabd_sim* sim = sleeping_stack(model);
    mabd_real before[33], after[33];
    mabd_error error = {0};
    const int32_t top = 9;
    const mabd_real force[3] = {0, 0, (mabd_real)(2 * 4 * CONTACT_GRAVITY)};
    mabd_sim_get_state(sim, before, NULL, NULL, NULL);
    rig_check(mabd_sim_apply_force(sim, 1, &top, force, NULL, &error), &error, "force");
    cr_expect(not(rig_step(sim).affine.asleep));
    mabd_sim_get_state(sim, after, NULL, NULL, NULL);
    const double rise = after[29] - before[29];
    cr_expect(lt(dbl, fabs(rise - CONTACT_GRAVITY * H * H), 0.1 * CONTACT_GRAVITY * H * H));
    for (int i = 0; i < 200; i++) rig_step(sim);
    cr_expect(rig_step(sim).affine.asleep);
    rig_destroy(sim, model);
}

// The top box is set 0.1 m higher: it falls by g t^2/2 (implicit Euler and BDF2: within g t h).
Test(contact_piles, a_state_that_is_set_wakes) {
    mabd_model* model = stack_model();
    mabd_sim* sim = sleeping_stack(model);
    mabd_real p[33], q[44];
    mabd_error error = {0};
    mabd_sim_get_state(sim, p, q, NULL, NULL);
    p[29] += (mabd_real)0.1;
    const double start = p[29];
    rig_check(mabd_sim_set_state(sim, p, q, NULL, NULL, &error), &error, "state");
    for (int i = 0; i < 10; i++) cr_expect(not(rig_step(sim).affine.asleep));
    mabd_sim_get_state(sim, p, NULL, NULL, NULL);
    const double fall = CONTACT_GRAVITY * 0.1 * 0.1 / 2;
    cr_expect(lt(dbl, fabs(start - p[29] - fall), CONTACT_GRAVITY * 0.1 * H));
    rig_destroy(sim, model);
}

// A ball that drifts without gravity, and one that falls: neither rests on anything.
Test(contact_piles, what_rests_on_nothing_does_not_sleep) {
    mabd_scene* scene = contact_scene(0);
    const contact_body ball = {
        .shape = MABD_SHAPE_SPHERE, .size = {0.1}, .mass = 1, .velocity = {1e-5, 0, 0}};
    contact_add(scene, &ball);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = sleeping_def();
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 200; i++) cr_expect(not(rig_step(sim).affine.asleep));
    mabd_real p[3];
    mabd_sim_get_state(sim, p, NULL, NULL, NULL);
    cr_expect(lt(dbl, fabs(p[0] - 2e-5), 1e-12));
    rig_destroy(sim, model);
    scene = contact_scene(CONTACT_GRAVITY);
    const contact_body thrown = {.shape = MABD_SHAPE_SPHERE, .size = {0.1}, .mass = 1};
    contact_add(scene, &thrown);
    model = rig_model(scene);
    sim = rig_sim(model, &def);
    for (int i = 0; i < 100; i++) cr_expect(not(rig_step(sim).affine.asleep));
    rig_destroy(sim, model);
}
