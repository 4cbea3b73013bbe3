// SPDX-License-Identifier: Apache-2.0
// How engines are judged: gap, energy and failure of engines that move by a formula.
//
// The scene: a body of mass m at distance d from its anchor in the world, let go. Engines move it
// by
//   fall     x = x_0 - g t^2 / 2, v = -g t: no joint. Gap = g t^2 / 2, energy kept
//   stick    x as above, v = 0: energy lost = m g (g t^2 / 2), over the scale m g d
//   turn     about the anchor by angle w t, as a rigid body: no gap,
//            E - E_0 = I_a w^2 / 2 + m g d sin(w t)
#include "bench/peers/peer_harness.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define G     9.81
#define D     0.5
#define MASS  2.0
#define STEPS 40
#define H     0.01
#define RATE  3.0 // of turn [rad/s]
static const double INERTIA[3] = {0.1, 0.2, 0.15};

typedef enum motion { FALL, STICK, TURN, NOT_FINITE, EXPLODE, GIVE_UP, UNFIT } motion;

typedef struct fake {
    const motion* kind;
    int64_t step;
} fake;

static int created, destroyed, stepped;

static void* fake_create(const void* context, const peer_scene* scene, int32_t variant,
                         char* message, size_t size) {
    (void)scene, (void)variant;
    created++;
    if (*(const motion*)context == UNFIT) {
        snprintf(message, size, PEER_SKIP "does not suit");
        return NULL;
    }
    fake* f = malloc(sizeof(*f));
    *f = (fake){.kind = context};
    return f;
}

static const char* fake_step(void* world) {
    fake* f = world;
    f->step++, stepped++;
    return *f->kind == GIVE_UP && f->step == 7 ? "gave up" : NULL;
}

static void fake_get(const void* world, peer_state* s) {
    const fake* f = world;
    const double t = H * (double)f->step, angle = RATE * t;
    const motion kind = *f->kind;
    *s = (peer_state){.position = {D, 0, 0}, .quaternion = {1, 0, 0, 0}};
    if (kind == TURN) { // about -y, so that the centre goes up
        s->position[0] = D * cos(angle), s->position[2] = D * sin(angle);
        s->quaternion[0] = cos(angle / 2), s->quaternion[2] = -sin(angle / 2);
        s->velocity[0] = -D * RATE * sin(angle), s->velocity[2] = D * RATE * cos(angle);
        s->angular[1] = -RATE;
        return;
    }
    s->position[2] = -G * t * t / 2;
    if (kind != STICK) s->velocity[2] = -G * t;
    if (kind == NOT_FINITE && f->step == 5) s->angular[0] = NAN;
    if (kind == EXPLODE && f->step == 6) s->velocity[0] = 1000;
}

static void fake_destroy(void* world) {
    destroyed++;
    free(world);
}

static int64_t steps = STEPS; // of the scene

static peer_scene one_body(void) {
    peer_scene scene;
    cr_assert(peer_scene_create(1, 1, 0, &scene));
    scene.gravity[2] = -G, scene.h = H, scene.steps = steps;
    scene.bodies[0].mass = MASS;
    memcpy(scene.bodies[0].inertia, INERTIA, sizeof(INERTIA));
    scene.bodies[0].start = (peer_state){.position = {D, 0, 0}, .quaternion = {1, 0, 0, 0}};
    scene.joints[0] = (peer_joint){.a = PEER_WORLD, .b = 0, .anchor_b = {-D, 0, 0}};
    return scene;
}

static double half_a_joule(const void* world) {
    (void)world;
    return 0.5;
}

static const peer_samples* samples; // requested from the next runs; null = none

static peer_result judge_with(motion kind, int32_t repeats, double seconds,
                              double (*own)(const void* world)) {
    const peer_variant variant = {"fake", "none"};
    const peer_engine engine = {.name = "fake",
                                .version = "1",
                                .variant_count = 1,
                                .variants = &variant,
                                .context = &kind,
                                .create = fake_create,
                                .step = fake_step,
                                .get = fake_get,
                                .destroy = fake_destroy,
                                .own_gap = own,
                                .own_energy = own};
    const peer_limits limits = {.repeats = repeats, .seconds = seconds, .samples = samples};
    peer_scene scene = one_body();
    peer_result result;
    cr_assert(peer_measure(&engine, 0, &scene, &limits, &result));
    peer_scene_destroy(&scene);
    return result;
}

static peer_result judge(motion kind, int32_t repeats, double seconds) {
    return judge_with(kind, repeats, seconds, NULL);
}

// ---- measures ----------------------------------------------------------------------------------

Test(peer_measure, gap_of_a_body_that_falls_from_its_joint) {
    const peer_result r = judge(FALL, 1, 100);
    const double t = STEPS * H;
    cr_expect(eq(i64, r.steps, STEPS));
    cr_expect(epsilon_eq(dbl, r.max_gap, G * t * t / 2, 1e-14));
    cr_expect(lt(dbl, r.energy_error, 1e-14));
    cr_expect(epsilon_eq(dbl, r.energy_scale, MASS * G * D, 1e-13));
    cr_expect(eq(dbl, r.own_gap, -1));
    cr_expect(eq(i64, r.apart_step, (int64_t)ceil(sqrt(2 * D / G) / H))); // g t^2 / 2 > D
    cr_expect(eq(i64, r.failed_step, -1));
    cr_expect(not(r.stopped));
    cr_expect(eq(str, (char*)r.failure, ""));
}

Test(peer_measure, energy_that_is_lost) {
    const peer_result r = judge(STICK, 1, 100);
    const double t = STEPS * H, lost = G * t * t / 2 / D;
    cr_expect(epsilon_eq(dbl, r.energy_error, lost, 1e-14));
    cr_expect(epsilon_eq(dbl, r.energy_end, -lost, 1e-14));
}

Test(peer_measure, energy_of_a_body_that_turns_about_its_anchor) {
    const peer_result r = judge(TURN, 1, 100);
    const double about_anchor = INERTIA[1] + MASS * D * D;
    const double end = about_anchor * RATE * RATE / 2 + MASS * G * D * sin(RATE * STEPS * H);
    cr_expect(lt(dbl, r.max_gap, 1e-15));
    cr_expect(eq(i64, r.apart_step, -1));
    cr_expect(epsilon_eq(dbl, r.energy_end, end / (MASS * G * D), 1e-14));
    cr_expect(epsilon_eq(dbl, r.energy_error, end / (MASS * G * D), 1e-14)); // it rises all the way
}

Test(peer_measure, an_engine_may_report_its_own_gap_and_energy) {
    const peer_result r = judge_with(STICK, 1, 100, half_a_joule); // E_0 = 0
    const double t = STEPS * H;
    cr_expect(eq(dbl, r.own_gap, 0.5));
    cr_expect(epsilon_eq(dbl, r.max_gap, G * t * t / 2, 1e-14)); // is judged by poses all the same
    cr_expect(epsilon_eq(dbl, r.energy_end, 0.5 / (MASS * G * D), 1e-15));
}

Test(peer_measure, scale_without_an_anchor_is_about_the_centre_of_all) {
    peer_scene scene;
    cr_assert(peer_scene_create(2, 0, 0, &scene));
    scene.gravity[2] = -G;
    for (int i = 0; i < 2; i++) { // masses 1 and 3 at x = 0 and 4: the centre is at 3
        scene.bodies[i].mass = 1 + 2 * i;
        scene.bodies[i].start = (peer_state){.position = {4 * i}, .quaternion = {1}};
    }
    scene.bodies[1].start.velocity[1] = 2; // 3 * 2^2 / 2 = 6
    cr_expect(epsilon_eq(dbl, peer_energy_scale(&scene), G * (1 * 3 + 3 * 1) + 6, 1e-13));
    peer_scene_destroy(&scene);
}

// ---- rest --------------------------------------------------------------------------------------

// The way over the last half second, over this time: g (T^2 - (T - 0.5)^2) / 2 / 0.5 of a fall.
Test(peer_measure, rest_is_the_mean_speed_of_the_last_half_second) {
    const double T = 100 * H, before = T - PEER_REST;
    steps = 100;
    const peer_result r = judge(FALL, 2, 100);
    const double way = G * (T * T - before * before) / 2;
    cr_expect(epsilon_eq(dbl, r.rest_speed, way / PEER_REST, 1e-12));
    cr_expect(eq(dbl, judge(GIVE_UP, 1, 100).rest_speed, -1));
    steps = 40; // too short
    cr_expect(eq(dbl, judge(FALL, 1, 100).rest_speed, -1));
}

// ---- positions ---------------------------------------------------------------------------------

Test(peer_measure, keeps_positions_until_the_run_ends) {
    double positions[3 * 5], quaternions[4 * 5];
    const peer_samples wanted = {
        .every = 3, .count = 5, .positions = positions, .quaternions = quaternions};
    samples = &wanted;
    judge(GIVE_UP, 2, 100); // falls, and gives up at step 7
    for (int k = 0; k < 5; k++) {
        const double t = 3 * (k + 1) * H;
        if (k < 2) cr_expect(epsilon_eq(dbl, positions[3 * k + 2], -G * t * t / 2, 1e-15));
        if (k < 2) cr_expect(eq(dbl, quaternions[4 * k], 1));
        if (k >= 2) cr_expect(isnan(positions[3 * k + 2]) && isnan(quaternions[4 * k]));
    }
}

// Positions in 12 numbers, quaternions in 16.
Test(peer_measure, poses_are_read_as_they_were_written) {
    double written[28], read[28];
    for (int i = 0; i < 28; i++) written[i] = i != 9 && i < 25 ? 1.0 / (i + 3) : NAN;
    const peer_samples out = {
        .every = 1, .count = 2, .positions = written, .quaternions = written + 12};
    const peer_samples in = {.every = 1, .count = 2, .positions = read, .quaternions = read + 12};
    char* text = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&text, &size);
    fputs("built\n", file);
    peer_samples_write(&out, 2, file);
    fputs("steps 1\n", file);
    fclose(file);
    cr_assert(peer_samples_read(text, 2, &in));
    for (int i = 0; i < 28; i++) {
        cr_expect(written[i] == read[i] || (isnan(written[i]) && isnan(read[i])), "number %d", i);
    }
    const peer_samples places = {.every = 1, .count = 2, .positions = read}; // these alone
    memset(read, 0, sizeof(read));
    cr_assert(peer_samples_read(text, 2, &places));
    cr_expect(eq(dbl, read[11], written[11]));
    cr_expect(eq(dbl, read[12], 0));
    cr_expect(not(peer_samples_read(text, 3, &in)));                             // too few numbers
    cr_expect(not(peer_samples_read("built\npositions 1 2 3 4 5 6\n", 2, &in))); // too few lines
    free(text);
}

// ---- failures ----------------------------------------------------------------------------------

static void expect_failure(motion kind, int64_t step, const char* text) {
    const peer_result r = judge(kind, 1, 100);
    cr_expect(eq(i64, r.failed_step, step), "%s", r.failure);
    cr_expect(eq(str, (char*)r.failure, (char*)text));
    cr_expect(eq(i64, r.steps, step));
    cr_expect(isfinite(r.max_gap) && isfinite(r.energy_error) && isfinite(r.energy_end));
}

Test(peer_measure, reports_the_step_of_a_failure) {
    expect_failure(NOT_FINITE, 5, "not finite");
    expect_failure(EXPLODE, 6, "exploded");
    expect_failure(GIVE_UP, 7, "gave up");
    expect_failure(UNFIT, 0, PEER_SKIP "does not suit");
}

Test(peer_measure, repeats_do_the_steps_of_the_first) {
    judge(NOT_FINITE, 4, 100);
    cr_expect(eq(int, created, 4));
    cr_expect(eq(int, destroyed, 4));
    cr_expect(eq(int, stepped, 4 * 5));
}

Test(peer_measure, stops_when_out_of_time) {
    const peer_result r = judge(FALL, 3, 1e-12);
    cr_expect(r.stopped);
    cr_expect(lt(i64, r.steps, STEPS));
    cr_expect(eq(i64, r.failed_step, -1));
    cr_expect(eq(int, created, destroyed));
}

// ---- answers -----------------------------------------------------------------------------------

Test(peer_measure, answers_come_back_and_broken_ones_do_not) {
    peer_result r = judge(STICK, 1, 100), back;
    char *text = NULL, message[256];
    size_t size = 0;
    snprintf(r.failure, sizeof(r.failure), "with a reason");
    FILE* out = open_memstream(&text, &size);
    peer_result_write(&r, out);
    fclose(out);
    cr_assert(peer_result_read(text, &back, message, sizeof(message)));
    cr_expect(eq(str, back.failure, r.failure));
#define X(name, kind) cr_expect(back.name == r.name, #name);
    PEER_RESULT_LIST(X)
#undef X
    char* gap = strstr(text, "max_gap ");
    memcpy(gap, "max_gap nan\n", 12);
    cr_expect(not(peer_result_read(text, &back, message, sizeof(message))));
    cr_expect_not_null(strstr(message, "'max_gap'"));
    cr_expect(not(peer_result_read("", &back, message, sizeof(message))));
    free(text);
}
