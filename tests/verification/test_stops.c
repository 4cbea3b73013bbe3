// SPDX-License-Identifier: Apache-2.0
// Stops of a joint: where they hold, with which force, and that they only dissipate energy.

#include "support/axis_rig.h"
#include "support/joint_rig.h"

#include <stdlib.h>
#include <string.h>

static const double weight = AXIS_MASS * 9.81;

AXIS_TEST(stops, a_pendulum_is_held_at_its_stop_with_the_moment_of_its_weight) {
    const axis_case c = {.axis = {.limited = true, .lower = -0.5, .upper = 0.7}, .gravity = -9.81};
    mabd_model* model = axis_model(&c);
    for (int k = 0; k < 2; k++) {
        const mabd_sim_def def = axis_def(MABD_PRESET_BALANCED, axis_steps[k]);
        mabd_sim* sim = rig_sim(model, &def);
        double highest = 0;
        for (int i = 0; i < (int)lround(2 / axis_steps[k]); i++) {
            axis_step(sim);
            highest = fmax(highest, axis_x(sim, &c));
            if (mabd_sim_time(sim) < 1) continue;
            cr_assert(lt(dbl, fabs(axis_x(sim, &c) - 0.7), 1e-9), "t %g", mabd_sim_time(sim));
            cr_assert(lt(dbl, fabs(axis_rate(sim, &c)), 1e-6));
        }
        const double moment = weight * AXIS_LENGTH / 2 * cos(0.7);
        printf("h %g ms: beyond the stop %.2e rad, moment %.12g of %.12g N m\n",
               1e3 * axis_steps[k], highest - 0.7, -axis_force(sim, &c), moment);
        cr_expect(lt(dbl, highest - 0.7, 1e-9));
        cr_expect(lt(dbl, fabs(axis_force(sim, &c) + moment), 1e-5 * moment));
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// Stops dissipate energy and never add it: over the whole run no energy exceeds the lowest before
// it, except by the integrator's error in free flight, and not at all in a step that ends at a
// stop.
static void check_energy(const char* what, const axis_case* c, double h, double duration,
                         double free_flight, int least_blows) {
    mabd_model* model = axis_model(c);
    const mabd_sim_def def = axis_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    const double scale = start.kinetic + start.spring + fabs(c->gravity) * AXIS_MASS * AXIS_LENGTH;
    double energy = start.energy, lowest = energy, gained = 0, worst = 0;
    int blows = 0;
    bool at_stop = false;
    for (int i = 0; i < (int)lround(duration / h); i++) {
        axis_step(sim);
        const double now = mabd_sim_measure(sim).energy, x = axis_x(sim, c);
        const bool held = x < c->axis.lower + 1e-9 || x > c->axis.upper - 1e-9;
        if (held) gained = fmax(gained, now - energy);
        blows += held && !at_stop;
        worst = fmax(worst, now - lowest);
        at_stop = held, energy = now, lowest = fmin(lowest, now);
    }
    printf("%s, h %g ms: %d blows, energy %.4g -> %.4g, gained at stops %.1e, at all %.1e\n", what,
           1e3 * h, blows, (double)start.energy, energy, gained / scale, worst / scale);
    cr_expect(ge(int, blows, least_blows));
    cr_expect(lt(dbl, gained, 1e-10 * scale));
    cr_expect(lt(dbl, worst, free_flight * scale));
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

AXIS_TEST_EXACT(stops, a_pendulum_between_stops_only_loses_energy) {
    const axis_case c = {.axis = {.limited = true, .lower = -0.2, .upper = 2.2, .stiffness = 1},
                         .gravity = -9.81,
                         .rate = 3};
    check_energy("pendulum", &c, 0.01, 5, 1e-3, 1);
    check_energy("pendulum", &c, 0.001, 5, 1e-5, 1);
}

// The spring pulls the slide from one stop to the other: 0.5, then -0.4; after that it oscillates
// freely.
AXIS_TEST_EXACT(stops, a_slide_goes_from_stop_to_stop_and_only_loses_energy) {
    const axis_case c = {.axis = {.limited = true, .lower = -0.4, .upper = 0.5, .stiffness = 1000},
                         .rate = 8,
                         .slide = true};
    check_energy("slide", &c, 0.01, 2, 1e-9, 2);
    check_energy("slide", &c, 0.001, 2, 1e-9, 2);
}

AXIS_TEST(stops, a_slide_without_a_spring_stays_where_it_was_stopped) {
    const double speeds[] = {0.37, 1.9, 7.3, -2.1, -11};
    for (int k = 0; k < 10; k++) {
        const axis_case c = {.axis = {.limited = true, .lower = -0.3, .upper = 0.5},
                             .rate = speeds[k % 5],
                             .slide = true};
        mabd_model* model = axis_model(&c);
        const mabd_sim_def def = axis_def(MABD_PRESET_EXACT, axis_steps[k / 5]);
        mabd_sim* sim = rig_sim(model, &def);
        const double stop = c.rate > 0 ? c.axis.upper : c.axis.lower, arrival = stop / c.rate;
        while (mabd_sim_time(sim) < arrival + 1) {
            axis_step(sim);
            if (mabd_sim_time(sim) < arrival + 2 * (double)def.h) continue;
            // except for the elastic rebound of the rod
            cr_assert(lt(dbl, fabs(axis_rate(sim, &c)), 2e-2 * fabs(c.rate)), "speed %g", c.rate);
            cr_assert(lt(dbl, fabs(axis_x(sim, &c) - stop), 2e-2 * fabs(c.rate)));
        }
        rig_destroy(sim, model);
    }
}

// A spring that is loaded beyond the stop: held at x = 0.2 the force of the joint is k (rest - x)
// of the spring minus that of the stop, and nothing else acts: 0. Against a motor it is that
// motor's force.
AXIS_TEST_EXACT(stops, a_stop_takes_what_spring_and_motor_leave) {
    for (int k = 0; k < 2; k++) {
        const axis_case c = {.axis = {.limited = true,
                                      .lower = -INFINITY,
                                      .upper = 0.2,
                                      .stiffness = 50,
                                      .rest = 1,
                                      .damping = 2,
                                      .motor = mabd_signal_constant(7)},
                             .slide = true};
        mabd_model* model = axis_model(&c);
        const mabd_sim_def def = axis_def(MABD_PRESET_BALANCED, axis_steps[k]);
        mabd_sim* sim = rig_sim(model, &def);
        while (mabd_sim_time(sim) < 2) axis_step(sim);
        cr_expect(lt(dbl, fabs(axis_x(sim, &c) - 0.2), 1e-12));
        cr_expect(lt(dbl, fabs(axis_force(sim, &c)), 1e-8), "%g", axis_force(sim, &c));
        rig_destroy(sim, model);
    }
}

AXIS_TEST_EXACT(stops, a_body_leaves_its_stop_when_the_load_turns) {
    const axis_case c = {.axis = {.limited = true,
                                  .lower = 0,
                                  .upper = 1,
                                  .motor = {.kind = MABD_SIGNAL_RAMP,
                                            .value = -10,
                                            .value_end = 10,
                                            .start = 0.0,
                                            .end = 1}},
                         .slide = true};
    mabd_model* model = axis_model(&c);
    for (int k = 0; k < 2; k++) {
        const mabd_sim_def def = axis_def(MABD_PRESET_BALANCED, axis_steps[k]);
        mabd_sim* sim = rig_sim(model, &def);
        while (mabd_sim_time(sim) < 0.8) {
            axis_step(sim);
            if (mabd_sim_time(sim) < 0.499) cr_assert(lt(dbl, fabs(axis_x(sim, &c)), 1e-12));
        }
        // x'' = 20 (t - 1/2)/m
        const double expected = 20.0 / 6 * pow(mabd_sim_time(sim) - 0.5, 3) / AXIS_MASS;
        cr_expect(lt(dbl, fabs(axis_x(sim, &c) - expected), 4 * pow(axis_steps[k], 2)), "%g of %g",
                  axis_x(sim, &c), expected);
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// Each free axis of each type is driven against its stop and held there, for any motion of the body
// about the others.
AXIS_TEST(stops, every_free_axis_of_every_joint_has_stops) {
    const block_def block = {.sides = {0.3, 0.2, 0.12}, .place = {0.02, -0.01, 0.03}};
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int axis = 0; axis < MABD_AXIS_COUNT; axis++) {
            if (!joint_is_free((mabd_joint)type, axis)) continue;
            const mabd_axis_def stop = {.limited = true,
                                        .lower = -0.1,
                                        .upper = 0.2,
                                        .damping = 0.5,
                                        .motor = mabd_signal_constant(axis < 3 ? 20 : 1)};
            mabd_scene* scene = rig_scene(0);
            joint_add_axis(scene, (mabd_joint)type, MABD_WORLD, block_add(scene, &block),
                           (mabd_axis)axis, &stop);
            mabd_model* model = rig_model(scene);
            const mabd_sim_def def = axis_def(MABD_PRESET_BALANCED, 0.01);
            mabd_sim* sim = rig_sim(model, &def);
            double highest = -1;
            for (int i = 0; i < 100; i++) {
                axis_step(sim);
                highest = fmax(highest, joint_coordinate(sim, 0, axis));
            }
            cr_expect(lt(dbl, fabs(highest - 0.2), 2e-9), "%s axis %d: %.12g",
                      mabd_joint_name((mabd_joint)type), axis, highest);
            rig_destroy(sim, model);
        }
    }
}

// ---- many at once -------------------------------------------------------------------------------

// A rope whose links rotate by no more than 0.2 rad against each other.
static mabd_model* rope_model(int links, const mabd_axis_def* axis) {
    mabd_scene* scene = rig_scene(-9.81);
    const double length = 0.1;
    int32_t last = MABD_WORLD;
    for (int i = 0; i < links; i++) {
        const int32_t body = rig_add_rod(scene, i * length, length, 0.02, 1e9);
        axis_add_joint(scene, false, last, body, i * length, axis);
        last = body;
    }
    return rig_model(scene);
}

static void run_rope(double h, double duration) {
    const mabd_axis_def axis = {.limited = true, .lower = -0.2, .upper = 0.2};
    mabd_model* model = rope_model(50, &axis);
    const mabd_sim_def def = axis_def(MABD_PRESET_BALANCED, h);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    double highest = start, gap = 0, beyond = 0;
    int iterations = 0, most = 0, retries = 0, unsettled = 0, steps = (int)lround(duration / h);
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        iterations += info.iterations, retries += info.retries, unsettled += !info.converged;
        most = info.iterations > most ? info.iterations : most;
        gap = fmax(gap, info.gap);
        highest = fmax(highest, mabd_sim_measure(sim).energy);
        for (int j = 0; j < 50; j++) {
            mabd_real x[MABD_AXIS_COUNT];
            mabd_sim_get_joint_coordinates(sim, j, x);
            beyond = fmax(beyond, fabs(x[MABD_AXIS_RX]) - 0.2);
        }
    }
    printf(
        "rope, h %g ms: %.2f iterations a step (at most %d), %d retries, %d unsettled, gap %.1e, "
        "beyond %.1e rad, energy %+.2e J of %.3g\n",
        1e3 * h, (double)iterations / steps, most, retries, unsettled, gap, beyond, highest - start,
        mabd_sim_measure(sim).energy - start);
    // rows of rigid bodies are closed to the tolerance of their Newton iteration, 1e-10 each
    cr_expect(lt(dbl, gap, axis_formulation == MABD_FORMULATION_AFFINE ? 1e-12 : 2e-10));
    cr_expect(lt(dbl, beyond, 1e-6));
    cr_expect(eq(int, unsettled, 0));
    // in joint coordinates the methods err in the energy by either sign: 1e-8 of weight times
    // length, which is 98 J
    const double gain = axis_formulation == MABD_FORMULATION_REDMAX ? 1e-6 : 1e-9;
    cr_expect(lt(dbl, highest, start + gain));
    rig_destroy(sim, model);
}

AXIS_TEST(stops, a_rope_of_fifty_links_stays_within_its_stops) {
    run_rope(0.01, 2);
    run_rope(0.001, 0.5);
}

// Arms that hang from one body at a hinge, each with a second link.
static mabd_model* arms_model(int arms, const mabd_axis_def* axis) {
    mabd_scene* scene = rig_scene(-9.81);
    const int32_t middle = rig_add_rod(scene, 0, 0.3, 0.05, 1e9);
    axis_add_joint(scene, false, MABD_WORLD, middle, 0, axis);
    for (int i = 0; i < arms; i++) {
        const double x = 0.3 * (i + 1) / arms, length = 0.1 + 0.01 * i;
        const int32_t arm = rig_add_rod(scene, x, length, 0.02, 1e9);
        const int32_t hand = rig_add_rod(scene, x + length, 0.1, 0.02, 1e9);
        axis_add_joint(scene, false, middle, arm, x, axis);
        axis_add_joint(scene, false, arm, hand, x + length, axis);
    }
    return rig_model(scene);
}

// Every solver of the dual system supports rows that are inactive, and so does a junction (10 arms:
// 60 rows on one body).
Test(stops, all_dual_solvers_agree) {
    const mabd_axis_def axis = {.limited = true, .lower = -0.1, .upper = 0.3, .friction = 0.02};
    for (int arms = 3; arms <= 10; arms += 7) {
        mabd_model* model = arms_model(arms, &axis);
        mabd_sim* sims[MABD_DUAL_COUNT];
        for (int d = 0; d < MABD_DUAL_COUNT; d++) {
            mabd_sim_def def = axis_def(MABD_PRESET_EXACT, 0.005);
            def.dual = (mabd_dual)d;
            sims[d] = rig_sim(model, &def);
        }
        int held = 0;
        for (int i = 0; i < 60; i++) {
            mabd_real x[MABD_DUAL_COUNT][MABD_AXIS_COUNT];
            for (int d = 0; d < MABD_DUAL_COUNT; d++) cr_assert(rig_step(sims[d]).converged);
            for (int j = 0; j < mabd_model_joint_count(model); j++) {
                for (int d = 0; d < MABD_DUAL_COUNT; d++) {
                    mabd_sim_get_joint_coordinates(sims[d], j, x[d]);
                    cr_assert(lt(dbl, fabs(x[d][MABD_AXIS_RX] - x[0][MABD_AXIS_RX]), 1e-6),
                              "%d arms, %s, step %d, joint %d: %g", arms,
                              mabd_dual_name((mabd_dual)d), i, j,
                              x[d][MABD_AXIS_RX] - x[0][MABD_AXIS_RX]);
                }
                held += fabs(x[0][MABD_AXIS_RX] - axis.upper) < 1e-9;
            }
        }
        cr_expect(lt(int, 20, held));
        for (int d = 0; d < MABD_DUAL_COUNT; d++) mabd_sim_destroy(sims[d]);
        mabd_model_destroy(model);
    }
}

// A saved state contains all that a step needs, also at a stop and in the step after an impact.
AXIS_TEST(stops, resumes_bit_for_bit) {
    const mabd_axis_def axis = {.limited = true, .lower = -0.2, .upper = 0.2, .friction = 0.05};
    mabd_model* model = rope_model(6, &axis);
    const mabd_sim_def def = axis_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim *sim = rig_sim(model, &def), *other = rig_sim(model, &def);
    const size_t size = mabd_sim_state_size(sim);
    void *saved = malloc(size), *expected = malloc(size), *found = malloc(size);
    for (int i = 0; i < 80; i++) {
        mabd_error error = {0};
        mabd_sim_save(sim, saved);
        rig_step(other); // another state
        rig_check(mabd_sim_restore(other, saved, size, &error), &error, "restore");
        rig_step(sim), rig_step(other);
        mabd_sim_save(sim, expected), mabd_sim_save(other, found);
        cr_assert(eq(int, memcmp(expected, found, size), 0), "step %d", i);
    }
    free(saved), free(expected), free(found);
    mabd_sim_destroy(other);
    rig_destroy(sim, model);
}

// ---- start poses --------------------------------------------------------------------------------

Test(stops, a_start_beyond_a_stop_is_reported_with_joint_and_amount) {
    const axis_case c = {.axis = {.limited = true, .lower = 0.25, .upper = 1}};
    mabd_scene* scene = rig_scene(0);
    mabd_error error = {0};
    mabd_model* model = NULL;
    axis_add_joint(scene, false, MABD_WORLD, rig_add_rod(scene, 0, 1, 0.1, 1e9), 0, &c.axis);
    cr_expect(eq(int, mabd_model_build(scene, NULL, &model, &error), MABD_ERR_INPUT));
    cr_expect(eq(i32, error.joint, 0));
    cr_expect(strstr(error.text, "joint 0: rx starts at 0 rad, 0.25 rad below its lower limit") !=
                  NULL,
              "%s", error.text);
    mabd_scene_destroy(scene);
}

// Frames are given on each body: the coordinate at the start is not 0.
Test(stops, the_start_of_a_joint_in_body_frames_counts) {
    for (int k = 0; k < 2; k++) {
        mabd_scene* scene = rig_scene(0);
        mabd_error error = {0};
        mabd_model* model = NULL;
        const mabd_axis_def axis = {.limited = true, .lower = 0, .upper = k ? 0.31 : 0.29};
        mabd_joint_def def = mabd_default_joint_def();
        def.name = "drawer";
        def.type = MABD_JOINT_PRISMATIC;
        def.b = rig_add_rod(scene, 0.3 - 0.5, 1, 0.1, 1e9); // its centre at x = 0.3
        def.local = true;
        def.axes[MABD_AXIS_TX] = &axis;
        rig_check(mabd_scene_add_joint(scene, &def, NULL, &error), &error, "joint");
        const mabd_status status = mabd_model_build(scene, NULL, &model, &error);
        cr_expect(eq(int, status, k ? MABD_OK : MABD_ERR_INPUT));
        if (!k) {
            cr_expect(strstr(error.text, "drawer: tx starts at 0.3 m, 0.01 m above its upper") !=
                          NULL,
                      "%s", error.text);
        }
        mabd_model_destroy(model);
        mabd_scene_destroy(scene);
    }
}
