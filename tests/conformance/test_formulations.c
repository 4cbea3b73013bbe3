// SPDX-License-Identifier: Apache-2.0
// Every formulation of the library over the scenes that it declares it can simulate: joints stay
// closed, energies and momenta obey their laws, closed forms hold, formulations agree with each
// other, and scenes beyond its features are refused by name. Each feature has closed forms of its
// own: contacts, loops, stops, scripts, batches. A new formulation adds a line to `trials`.
#include "mabd/batch.h"
#include "sim/sim_def.h"
#include "support/elliptic.h"
#include "support/rig.h"
#include "support/sanitized.h"

#include <stdlib.h>
#include <string.h>

#define G  9.81
#define PI 3.14159265358979323846

/// Allowed errors of a formulation, all with the preset exact.
typedef struct trial {
    mabd_formulation formulation;
    double gap;      // joint error after every step [m], [rad]
    double energy;   // drift over a run, relative to the kinetic energy reached
    double momentum; // relative error of linear momentum
    double fall;     // error of the closed form of free fall [m]
    double force;    // of a body at rest on a contact or a stop, relative to its weight
    double motion;   // error of a closed form at h = 1 ms, relative to the distance covered
    double braking;  // the same of a box that slides: with implicit Euler half its speed times h
    double copies;   // distance of a copy in a batch from the same scene alone [m]
    double poses;    // distance from the first formulation in a common scene [m]
} trial;
static const trial trials[] = {
    {MABD_FORMULATION_AFFINE, 1e-9, 5e-4, 1e-12, 1e-12, 1e-3, 5e-4, 5e-4, 0, 0},
    {MABD_FORMULATION_QUATERNION, 1e-11, 5e-4, 1e-12, 1e-12, 1e-3, 5e-4, 5e-4, 0, 1e-4},
    {MABD_FORMULATION_REDMAX, 1e-12, 5e-4, 1e-12, 1e-12, 1e-3, 5e-4, 3e-3, 0, 1e-4},
    {MABD_FORMULATION_VARIATIONAL, 1e-11, 5e-4, 1e-12, 1e-12, 1e-3, 5e-4, 3e-3, 0, 1e-4},
    {MABD_FORMULATION_IMPULSE, 1e-9, 1.5e-2, 1e-12, 5e-2, 1e-3, 5e-2, 4e-3, 0, 6e-3},
};
#define TRIALS ((int)(sizeof trials / sizeof trials[0]))

static mabd_sim_def def_of(const trial* t, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = t->formulation;
    return def;
}

// ---- the table ---------------------------------------------------------------------------------

Test(formulations, every_one_that_is_built_has_a_line) {
    for (int k = 0; k < MABD_FORMULATION_COUNT; k++) {
        const mabd_formulation_info info = mabd_formulation_get_info((mabd_formulation)k);
        int lines = 0;
        for (int i = 0; i < TRIALS; i++) lines += trials[i].formulation == (mabd_formulation)k;
        cr_expect(eq(int, lines, info.built), "%s", info.name);
        cr_expect(eq(int, mabd_formulation_find(info.name), k));
        if (!info.built) continue;
        cr_expect(info.paper_name[0] != '\0' && info.integrators != 0, "%s", info.name);
        cr_expect(info.backends & 1U << MABD_BACKEND_CPU, "%s", info.name);
        cr_expect(info.stage_count > 0 && info.stage_count <= MABD_MAX_STAGES, "%s", info.name);
        cr_expect(info.stages[info.stage_count] == NULL, "%s", info.name);
    }
}

Test(formulations, are_all_built) {
    for (int k = 0; k < MABD_FORMULATION_COUNT; k++) {
        const mabd_formulation_info info = mabd_formulation_get_info((mabd_formulation)k);
        cr_expect(info.built, "%s", info.name);
    }
}

// ---- features ----------------------------------------------------------------------------------

static void expect_refused(const trial* t, const mabd_model* model, const char* name) {
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    cr_expect(eq(int, mabd_sim_create(model, &def, &sim, &error), MABD_ERR_UNAVAILABLE), "%s",
              name);
    cr_expect(strstr(error.text, mabd_formulation_name(t->formulation)) != NULL, "%s", error.text);
}

/// A claim about the motion of a model by one formulation.
typedef void claim(const trial* t, const mabd_model* model, const char* name);

// Check a claim for every formulation that has the features `needs`; the others must refuse the
// model, which is destroyed. `needs` follows from the text of the scene: the library must find the
// same in the model.
static void check_all(const char* name, uint32_t needs, mabd_model* model, claim* check) {
    cr_expect(eq(u32, mabd_model_needs(model), needs), "%s", name);
    for (int i = 0; i < TRIALS; i++) {
        const bool able = !(needs & ~mabd_formulation_get_info(trials[i].formulation).can);
        if (able) {
            check(&trials[i], model, name);
        } else {
            expect_refused(&trials[i], model, name);
        }
    }
    mabd_model_destroy(model);
}

// Check a claim about a scene of tests/conformance/scenes.
static void check_file(const char* name, uint32_t needs, claim* check) {
    char path[256];
    snprintf(path, sizeof path, "tests/conformance/scenes/%s.json", name);
    check_all(name, needs, rig_file_model(path, NULL, NULL), check);
}

// ---- scenes ------------------------------------------------------------------------------------

static const struct {
    const char* path;
    uint32_t needs;
    bool conservative;
    const char *name, *value; // a parameter of the scene
    /// Rods stretched between two pins carry their weight by strain alone: rigid bodies need
    /// infinite forces there, and their step fails.
    bool elastic;
} scenes[] = {
    {"scenes/pendulum.json", 0, true, NULL, NULL, false},
    {"scenes/double-pendulum.json", 0, true, NULL, NULL, false},
    {"scenes/chain.json", 0, true, NULL, NULL, false},
    {"scenes/tree.json", 0, false, NULL, NULL, false},
    {"scenes/t-handle.json", 0, true, NULL, NULL, false},
    {"scenes/heavy-top.json", 0, true, NULL, NULL, false},
    {"scenes/ring.json", MABD_CAN_LOOPS, true, NULL, NULL, false},
    {"scenes/net.json", MABD_CAN_LOOPS, true, "pinned", "none", false},
    {"scenes/net.json", MABD_CAN_LOOPS, true, "pinned", "edge", true},
    {"scenes/stack.json", MABD_CAN_CONTACTS, false, NULL, NULL, false},
    {"scenes/bounce.json", MABD_CAN_CONTACTS, false, NULL, NULL, false},
    {"scenes/arm.json", 0, false, NULL, NULL, false},
    {"scenes/strandbeest.json", MABD_CAN_LOOPS, false, NULL, NULL, false},
    {"scenes/winch.json", MABD_CAN_CONTACTS | MABD_CAN_STOPS, false, NULL, NULL, false},
};
#define SCENES ((int)(sizeof scenes / sizeof scenes[0]))

#define STEPS AMOUNT(100, 30)

// Return the energy drift of STEPS steps relative to the kinetic energy reached; joints stay
// closed. In a fall from rest an error of first order is h over the time, so bounds on 100 steps
// grow with 100 / STEPS.
static double drift_of(const trial* t, const mabd_model* model, const char* name) {
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    double gap = 0, kinetic = start.kinetic;
    for (int i = 0; i < STEPS; i++) {
        rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        gap = fmax(gap, fmax(now.gap, now.angle_error));
        kinetic = fmax(kinetic, now.kinetic);
    }
    const double drift = (mabd_sim_measure(sim).energy - start.energy) / kinetic;
    printf("%-12s %-28s gap %.1e, energy drift %+.1e\n", mabd_formulation_name(t->formulation),
           name, gap, drift);
    cr_expect(le(dbl, gap, t->gap), "%s", name);
    mabd_sim_destroy(sim);
    return drift;
}

static void joints_stay_closed(const trial* t, const mabd_model* model, const char* name) {
    drift_of(t, model, name);
}

static void energy_is_kept(const trial* t, const mabd_model* model, const char* name) {
    cr_expect(le(dbl, fabs(drift_of(t, model, name)), t->energy * 100 / STEPS), "%s", name);
}

static void energy_is_kept_with_strain(const trial* t, const mabd_model* model, const char* name) {
    if (t->formulation == MABD_FORMULATION_AFFINE) energy_is_kept(t, model, name);
}

Test(formulations, each_simulates_the_scenes_within_its_features_and_refuses_the_others) {
    for (int k = 0; k < SCENES; k++) {
        mabd_model* model = rig_file_model(scenes[k].path, scenes[k].name, scenes[k].value);
        check_all(scenes[k].path, scenes[k].needs, model,
                  scenes[k].elastic        ? energy_is_kept_with_strain
                  : scenes[k].conservative ? energy_is_kept
                                           : joints_stay_closed);
    }
}

// ---- closed forms ------------------------------------------------------------------------------

static mabd_model* falling_box(bool ground) {
    mabd_error error = {0};
    const mabd_real size[3] = {(mabd_real)0.2, (mabd_real)0.2, (mabd_real)0.2}, flat[3] = {0};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    const mabd_geom plane = mabd_geom_make(MABD_SHAPE_PLANE, flat, 0);
    mabd_scene* scene = rig_scene((mabd_real)-G);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom;
    body.position[2] = (mabd_real)0.1;
    if (!ground) body.velocity[0] = 2, body.angular_velocity[1] = 3;
    rig_add_body(scene, &body);
    if (ground) {
        mabd_body_def floor = mabd_default_body_def();
        mabd_contact_def contact = mabd_default_contact_def();
        floor.motion = MABD_MOTION_FIXED;
        floor.geom_count = 1, floor.geoms = &plane;
        rig_add_body(scene, &floor);
        contact.enabled = true;
        rig_check(mabd_scene_set_contact(scene, &contact, &error), &error, "contact");
    }
    return rig_model(scene);
}

// z = z0 - g t^2 / 2, x = x0 + 2 t, p = m (2, 0, -g t) with m = 8 kg, for a box that spins.
Test(formulations, free_fall_follows_the_parabola) {
    for (int i = 0; i < TRIALS; i++) {
        mabd_model* model = falling_box(false);
        const mabd_sim_def def = def_of(&trials[i], 1e-2);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real x[3];
        for (int k = 0; k < 100; k++) rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        const mabd_real p[3] = {16, 0, (mabd_real)(-8 * G)};
        const mabd_measure measure = mabd_sim_measure(sim);
        const char* name = mabd_formulation_name(trials[i].formulation);
        cr_expect(le(dbl, fabs(x[2] - (0.1 - G / 2)), trials[i].fall), "%s", name);
        cr_expect(le(dbl, fabs(x[0] - 2), trials[i].fall), "%s", name);
        cr_expect(
            le(dbl, rig_distance(measure.linear_momentum, p), trials[i].momentum * rig_norm(p)),
            "%s", name);
        rig_destroy(sim, model);
    }
}

// Advance to `time` by steps of 1 ms; joints stay closed.
static void advance(const trial* t, mabd_sim* sim, double time) {
    while (mabd_sim_time(sim) < time - 1e-9) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(le(dbl, fmax(info.gap, info.angle_error), t->gap));
    }
}

// Return coordinate `axis` of the position of a body.
static double position_of(const mabd_sim* sim, int32_t body, int axis) {
    mabd_real x[3 * 8];
    cr_assert(mabd_model_body_count(mabd_sim_model(sim)) <= 8);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    return x[3 * body + axis];
}

// Expect a position to have its closed form within a part `t->motion` of the distance covered.
static void expect_at(const trial* t, const mabd_sim* sim, int32_t body, int axis, double expected,
                      double distance) {
    const double error = (position_of(sim, body, axis) - expected) / distance;
    printf("%-12s t %.3f s, body %d: error %+.1e\n", mabd_formulation_name(t->formulation),
           (double)mabd_sim_time(sim), (int)body, error);
    cr_expect(le(dbl, fabs(error), t->motion), "body %d at t = %g s", (int)body,
              (double)mabd_sim_time(sim));
}

// ---- contacts ----------------------------------------------------------------------------------

// Contact forces on a box of 8 kg at rest carry its weight.
static void weight_is_carried(const trial* t, const mabd_model* model, const char* name) {
    const mabd_sim_def def = def_of(t, 1e-2);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_contact_info contacts[16];
    double force = 0;
    for (int k = 0; k < 100; k++) rig_step(sim);
    const int32_t count = mabd_sim_get_contacts(sim, 16, contacts);
    for (int32_t k = 0; k < count && k < 16; k++) force += fabs(contacts[k].force[2]);
    cr_expect(le(dbl, fabs(force / (8 * G) - 1), t->force), "%s: %g N, %d contacts", name, force,
              (int)count);
    mabd_sim_destroy(sim);
}

Test(formulations, contact_forces_carry_the_weight) {
    check_all("box on a plane", MABD_CAN_CONTACTS, falling_box(true), weight_is_carried);
}

// A box that slides at v0 = 1 m/s stops after v0^2 / (2 mu g), at t = v0 / (mu g) = 0.34 s.
static void friction_brakes(const trial* t, const mabd_model* model, const char* name) {
    trial own = *t;
    own.motion = t->braking;
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    const double a = 0.3 * G, distance = 1 / (2 * a);
    (void)name;
    advance(t, sim, 0.2);
    expect_at(&own, sim, 1, 0, 0.2 - a * 0.2 * 0.2 / 2, distance);
    advance(t, sim, 0.6);
    expect_at(&own, sim, 1, 0, distance, distance);
    mabd_sim_destroy(sim);
}

Test(formulations, contact_friction_stops_a_sliding_box_after_its_braking_distance) {
    check_file("sliding-box", MABD_CAN_CONTACTS, friction_brakes);
}

// Rolling friction of 0.01 m slows a ball of 0.1 m by a = 5/7 g 0.01/0.1.
static void rolling_brakes(const trial* t, const mabd_model* model, const char* name) {
    const double a = 5.0 / 7 * G * 0.1;
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    (void)name;
    advance(t, sim, 0.5);
    expect_at(t, sim, 1, 0, 0.5 - a * 0.5 * 0.5 / 2, 0.5 / a);
    advance(t, sim, 2);
    expect_at(t, sim, 1, 0, 0.5 / a, 0.5 / a);
    mabd_sim_destroy(sim);
}

Test(formulations, rolling_friction_stops_a_ball_after_its_braking_distance) {
    check_file("rolling-ball", MABD_CAN_CONTACTS | MABD_CAN_ROLLING, rolling_brakes);
}

// mu g = 0.3 g brings the box to the 1 m/s of the belt.
static void belt_carries(const trial* t, const mabd_model* model, const char* name) {
    const double a = 0.3 * G;
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    (void)name;
    advance(t, sim, 0.2);
    expect_at(t, sim, 1, 0, a * 0.2 * 0.2 / 2, 0.5 / a);
    advance(t, sim, 1);
    expect_at(t, sim, 1, 0, 1 - 0.5 / a, 1);
    mabd_sim_destroy(sim);
}

Test(formulations, a_conveyor_takes_a_box_along) {
    check_file("conveyor", MABD_CAN_CONTACTS | MABD_CAN_SURFACES, belt_carries);
}

// ---- loops -------------------------------------------------------------------------------------

// Two cranks of length l and a coupler form a parallelogram; the coupler moves without rotation, so
// that one angle p from straight down describes all:
//   J p'' = -(m + M) g l sin p,  J = 2 I + M l^2
// with m and I (about its pivot) of a crank and M of the coupler. Released at 60 degrees it is at
// the bottom after a quarter of the period, K(sin 30 degrees) / w with w^2 = (m + M) g l / J.
static void quarter_period(const trial* t, const mabd_model* model, const char* name) {
    const double l = 0.4, w = 0.02, m = 1000 * w * w * l, M = 1000 * w * w * 0.5;
    const double inertia = 2 * (m * (l * l + w * w) / 12 + m * l * l / 4) + M * l * l;
    const double quarter = elliptic_k(sin(PI / 6)) / sqrt((m + M) * G * l / inertia);
    const mabd_sim_def def = def_of(t, quarter / 300);
    mabd_sim* sim = rig_sim(model, &def);
    (void)name;
    advance(t, sim, quarter);
    expect_at(t, sim, 2, 0, 0.25, l);
    expect_at(t, sim, 2, 2, -l, l);
    mabd_sim_destroy(sim);
}

Test(formulations, a_parallelogram_swings_with_the_period_of_its_pendulum) {
    check_file("parallelogram", MABD_CAN_LOOPS, quarter_period);
}

// ---- stops -------------------------------------------------------------------------------------

// A box of 2 kg falls along a slider and is held at -0.2 m with its weight.
static void stop_holds(const trial* t, const mabd_model* model, const char* name) {
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real force[6];
    advance(t, sim, 0.15);
    expect_at(t, sim, 0, 2, -G * 0.15 * 0.15 / 2, 0.2);
    while (mabd_sim_time(sim) < 1) {
        rig_step(sim);
        cr_assert(le(dbl, -0.2 - position_of(sim, 0, 2), t->gap), "%s", name);
    }
    mabd_sim_get_joint_forces(sim, force);
    cr_expect(le(dbl, fabs(position_of(sim, 0, 2) + 0.2), t->gap), "%s", name);
    cr_expect(le(dbl, fabs(force[2] / (2 * G) - 1), t->force), "%s: %g N", name, (double)force[2]);
    mabd_sim_destroy(sim);
}

Test(formulations, a_stop_holds_a_falling_box_with_its_weight) {
    check_file("stop", MABD_CAN_STOPS, stop_holds);
}

// The box comes back to a quarter of its height, half the time of its fall after the impact.
static void stop_returns(const trial* t, const mabd_model* model, const char* name) {
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    const double fall = sqrt(2 * 0.2 / G);
    double top = -0.2;
    while (mabd_sim_time(sim) < 2 * fall) {
        rig_step(sim);
        if (mabd_sim_time(sim) > fall) top = fmax(top, position_of(sim, 0, 2));
        cr_assert(le(dbl, -0.2 - position_of(sim, 0, 2), t->gap), "%s", name);
    }
    cr_expect(le(dbl, fabs(top + 0.15), 0.2 * t->motion), "%s: %g m", name, top);
    mabd_sim_destroy(sim);
}

Test(formulations, a_stop_with_rebound_returns_a_part_of_the_speed) {
    check_file("stop-rebound", MABD_CAN_STOPS | MABD_CAN_REBOUND, stop_returns);
}

// Dry friction of 4 N stops 2 kg at v0 = 1 m/s after v0^2 / (2 a) = 0.25 m, at t = v0 / a = 0.5 s.
static void axis_brakes(const trial* t, const mabd_model* model, const char* name) {
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    (void)name;
    advance(t, sim, 0.3);
    expect_at(t, sim, 0, 0, 0.3 - 0.3 * 0.3, 0.25);
    advance(t, sim, 1);
    expect_at(t, sim, 0, 0, 0.25, 0.25);
    mabd_sim_destroy(sim);
}

Test(formulations, dry_friction_stops_a_slider_after_its_braking_distance) {
    check_file("axis-friction", MABD_CAN_STOPS, axis_brakes);
}

// ---- scripts -----------------------------------------------------------------------------------

// A carriage moves by s = A - A cos(w t) and pulls 2 kg by a spring of k = 200 N/m. The coordinate
// x of the spring obeys x'' + u^2 x = -s'' with u^2 = k / m, from rest:
//   x = C (cos(w t) - cos(u t)), C = -A w^2 / (u^2 - w^2)
static void carriage_pulls(const trial* t, const mabd_model* model, const char* name) {
    const double A = 0.1, w = 2 * PI, u = 10, C = -A * w * w / (u * u - w * w);
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    for (double time = 0.25; time < 1.6; time += 0.25) {
        advance(t, sim, time);
        const double s = A - A * cos(w * time), x = C * (cos(w * time) - cos(u * time));
        cr_expect(le(dbl, fabs(position_of(sim, 0, 0) - s), t->gap), "%s", name);
        expect_at(t, sim, 1, 0, s + x, A);
    }
    mabd_sim_destroy(sim);
}

Test(formulations, a_scripted_carriage_excites_an_oscillator) {
    check_file("carriage", MABD_CAN_SCRIPTS, carriage_pulls);
}

// ---- batches -----------------------------------------------------------------------------------

#define COPIES 3

static const char* const speeds[COPIES] = {"1", "0.5", "-2"};
static const char* const lengths[COPIES] = {"0.5", "0.8", "0.3"};
static const char pendulum[] = "scenes/double-pendulum.json";

// Build a model of copies of a scene file; a param of it has another value in each.
static mabd_model* batch_model(const char* path, const char* param, const char* const* values) {
    mabd_error error = {0};
    mabd_scene *batch, *copy;
    char full[1024];
    snprintf(full, sizeof full, "%s/%s", MABD_SOURCE_DIR, path);
    rig_check(mabd_scene_create(NULL, &batch), &error, "batch");
    for (int k = 0; k < COPIES; k++) {
        const mabd_setting setting = {param, values[k]};
        rig_check(mabd_scene_create(NULL, &copy), &error, "scene");
        rig_check(mabd_scene_load(copy, full, 1, &setting, &error), &error, path);
        rig_check(mabd_scene_add_copy(batch, copy, &error), &error, "copy");
        mabd_scene_destroy(copy);
    }
    return rig_model(batch);
}

// A motor pushes the box of copy 1 with 6 N, a = 3 m/s^2; the others keep their speeds.
static void targets_move_one_copy(const trial* t, const mabd_model* model, const char* name) {
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_error error = {0};
    const mabd_real force = 6;
    rig_check(mabd_sim_set_targets(sim, 1, 1, NULL, &force, &error), &error, name);
    advance(t, sim, 0.5);
    for (int k = 0; k < COPIES; k++) {
        const double expected = (k == 1 ? 3 * 0.5 * 0.5 / 2 : 0) + 0.5 * atof(speeds[k]);
        expect_at(t, sim, k, 0, expected, 1);
    }
    mabd_sim_destroy(sim);
}

Test(formulations, targets_of_one_copy_move_that_copy_alone) {
    check_all("motors", MABD_CAN_BATCH,
              batch_model("tests/conformance/scenes/motor.json", "speed", speeds),
              targets_move_one_copy);
}

// Each copy moves as its own scene does without the others.
static void copies_move_as_alone(const trial* t, const mabd_model* model, const char* name) {
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    advance(t, sim, 0.3);
    for (int k = 0; k < COPIES; k++) {
        mabd_model* one = rig_file_model(pendulum, "length", lengths[k]);
        mabd_sim* alone = rig_sim(one, &def);
        advance(t, alone, 0.3);
        for (int i = 0; i < 6; i++) {
            const double x = position_of(sim, 2 * k + i / 3, i % 3);
            const double expected = position_of(alone, i / 3, i % 3);
            cr_expect(le(dbl, fabs(x - expected), t->copies), "%s: copy %d", name, k);
        }
        rig_destroy(alone, one);
    }
    mabd_sim_destroy(sim);
}

Test(formulations, copies_move_as_their_scenes_do_alone) {
    check_all("double pendulums", MABD_CAN_BATCH, batch_model(pendulum, "length", lengths),
              copies_move_as_alone);
}

// ---- agreement ---------------------------------------------------------------------------------

#define LINKS 4

static void swing(const trial* t, const mabd_model* model, mabd_real* positions) {
    const mabd_sim_def def = def_of(t, 1e-3);
    mabd_sim* sim = rig_sim(model, &def);
    for (int k = 0; k < 300; k++) rig_step(sim);
    mabd_sim_get_state(sim, positions, NULL, NULL, NULL);
    mabd_sim_destroy(sim);
}

Test(formulations, agree_on_a_swinging_chain) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = LINKS;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-G);
    mabd_real first[3 * LINKS], other[3 * LINKS];
    swing(&trials[0], model, first);
    cr_expect(first[3 * LINKS - 1] < -0.05); // the last link has fallen
    for (int i = 1; i < TRIALS; i++) {
        swing(&trials[i], model, other);
        for (int k = 0; k < LINKS; k++) {
            cr_expect(le(dbl, rig_distance(first + 3 * k, other + 3 * k), trials[i].poses), "%s",
                      mabd_formulation_name(trials[i].formulation));
        }
    }
    mabd_model_destroy(model);
}
