// SPDX-License-Identifier: Apache-2.0
// Steps that do not converge: halved until they do, or refused with an unchanged state.
//
// The hard start is a pinned chain of five rods that rotate by +-3 rad per step, each against the
// next: with a budget of three iterations the first step cannot converge, its halves or quarters
// can. A halved step is implicit Euler in equal parts, so it must have the bits of Euler at that
// smaller step; and implicit Euler only dissipates energy.

#include "support/rig.h"

#include <string.h>

#define LINKS 5

static const double h = 0.01;

// Rods of 0.1 m along +x from the world origin on hinges about y; rod i rotates by `spin` or -spin
// [rad/s].
static mabd_model* chain_model(double spin, const mabd_axis_def* first_axis) {
    const mabd_real size[3] = {0.1, 0.02, 0.02}, axis[3] = {0, 1, 0};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_scene* scene = rig_scene(-9.81);
    mabd_error error = {0};
    double rise = 0; // velocity of the joint along z
    for (int i = 0; i < LINKS; i++) {
        mabd_body_def body = mabd_default_body_def();
        mabd_joint_def joint = mabd_default_joint_def();
        char name[16];
        snprintf(name, sizeof name, "rod-%d", i);
        const double turn = i % 2 ? -spin : spin;
        body.name = joint.name = name;
        body.geom_count = 1;
        body.geoms = &geom;
        body.position[0] = 0.1 * i + 0.05;
        body.angular_velocity[1] = turn;
        body.velocity[2] = rise - 0.05 * turn;
        rise -= 0.1 * turn;
        joint.type = MABD_JOINT_HINGE;
        joint.a = i - 1;
        joint.b = rig_add_body(scene, &body);
        joint.anchor[0] = 0.1 * i;
        joint.axes[MABD_AXIS_RX] = i == 0 ? first_axis : NULL;
        cr_assert(mabd_frame_from_axes(axis, NULL, joint.frame));
        rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
    }
    return rig_model(scene);
}

static mabd_sim_def hard_def(int halvings) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    def.max_iterations = 3;
    def.max_halvings = halvings;
    return def;
}

typedef struct snapshot {
    mabd_real positions[LINKS * 3], quaternions[LINKS * 4], velocities[LINKS * 3];
    mabd_real angular[LINKS * 3], forces[LINKS * 6];
} snapshot;

static snapshot take(const mabd_sim* sim) {
    snapshot s;
    mabd_sim_get_state(sim, s.positions, s.quaternions, s.velocities, s.angular);
    mabd_sim_get_joint_forces(sim, s.forces);
    return s;
}

// Expect the next step to fail, to name a body or joint, and to change nothing visible.
static void expect_refusal(mabd_sim* sim) {
    const snapshot before = take(sim);
    const mabd_measure energy = mabd_sim_measure(sim);
    const int64_t steps = mabd_sim_step_count(sim);
    const double time = mabd_sim_time(sim);
    mabd_step_info info;
    mabd_error error = {.body = -1, .joint = -1};
    const mabd_status status = mabd_sim_step(sim, &info, &error);
    cr_assert(status == MABD_ERR_DIVERGED || status == MABD_ERR_SINGULAR, "%s",
              mabd_status_text(status));
    cr_expect(error.status == status);
    const int named = error.joint >= 0 ? error.joint : error.body;
    cr_expect(named >= 0 && named < LINKS);
    char name[16];
    snprintf(name, sizeof name, "rod-%d", named);
    cr_expect(strstr(error.text, name) != NULL, "'%s' does not name %s", error.text, name);
    cr_expect(error.time == time, "%g s, not %g s", (double)error.time, time);
    const snapshot after = take(sim);
    const mabd_measure energy_after = mabd_sim_measure(sim);
    cr_expect(memcmp(&before, &after, sizeof before) == 0, "the state has changed");
    cr_expect(energy.energy == energy_after.energy);
    cr_expect(mabd_sim_step_count(sim) == steps && mabd_sim_time(sim) == time);
    printf("%s (%s)\n", error.text, mabd_status_text(status));
}

Test(step_retry, a_hard_start_fails_without_halvings_and_leaves_the_state) {
    mabd_model* model = chain_model(3 / h, NULL);
    const mabd_sim_def def = hard_def(0);
    mabd_sim* sim = rig_sim(model, &def);
    expect_refusal(sim);
    expect_refusal(sim); // again: the result is the same
    rig_destroy(sim, model);
}

Test(step_retry, a_hard_start_passes_with_halvings_and_gains_no_energy) {
    mabd_model* model = chain_model(3 / h, NULL);
    const mabd_sim_def def = hard_def(6);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    int retries = 0;
    for (int i = 0; i < 200; i++) {
        const mabd_step_info info = rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        cr_assert(isfinite(now.energy));
        cr_expect(now.energy <= start.energy + 1e-3 * start.kinetic, "step %d: %g J above", i,
                  now.energy - start.energy);
        cr_expect(now.gap < 1e-12 && now.angle_error < 1e-4, "gap %g, angle %g", now.gap,
                  now.angle_error);
        if (i == 0) cr_expect(info.retries > 0);
        retries += info.retries;
    }
    printf("%d retries in 200 steps\n", retries);
    rig_destroy(sim, model);
}

Test(step_retry, a_halved_step_is_euler_at_the_smaller_step) {
    mabd_model* model = chain_model(3 / h, NULL);
    const mabd_sim_def def = hard_def(6);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_step_info info = rig_step(sim);
    cr_assert(info.retries > 0);
    mabd_sim_def euler = hard_def(0);
    euler.integrator = MABD_INTEGRATOR_EULER;
    euler.h = ldexp(h, -info.retries);
    mabd_sim* small = rig_sim(model, &euler);
    for (int i = 0; i < 1 << info.retries; i++) rig_step(small);
    const snapshot halved = take(sim), expected = take(small);
    cr_expect(memcmp(&halved, &expected, sizeof halved) == 0);
    mabd_sim_destroy(small);
    rig_destroy(sim, model);
}

Test(step_retry, too_few_halvings_fail_and_leave_the_state) {
    mabd_model* model = chain_model(30 / h, NULL);
    mabd_sim_def def = hard_def(1);
    def.max_iterations = 1;
    mabd_sim* sim = rig_sim(model, &def);
    expect_refusal(sim);
    expect_refusal(sim);
    rig_destroy(sim, model);
}

// A motor whose torque jumps to 1e300 N m after t = 0.05 s: the sixth step cannot be solved in any
// number of parts.
static void check_mad_motor(int halvings) {
    const mabd_real times[] = {0.051, 0.0511}, torques[] = {0, 1e300};
    mabd_axis_def axis = {0};
    axis.motor.kind = MABD_SIGNAL_TABLE;
    axis.motor.point_count = 2;
    axis.motor.times = times;
    axis.motor.values = torques;
    mabd_model* model = chain_model(0, &axis);
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    def.max_halvings = halvings;
    mabd_sim* sim = rig_sim(model, &def);
    rig_run(sim, 5);
    expect_refusal(sim);
    expect_refusal(sim);
    mabd_sim_reset(sim);
    rig_run(sim, 5); // a failure does not spoil the simulation
    expect_refusal(sim);
    rig_destroy(sim, model);
}

Test(step_retry, an_infinite_state_is_refused) {
    check_mad_motor(0);
    check_mad_motor(6);
}
