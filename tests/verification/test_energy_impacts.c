// SPDX-License-Identifier: Apache-2.0
// Energy by cause against closed forms: impacts, stops and contacts. Impacts happen within a step,
// so motion after them is of first order; what they take is that of the speed they meet.
//
//   ball        takes (1 - e^2) m g h at the first rebound, all of m g h without restitution
//   pendulum    its stop takes m g L/2 sin(angle)
//   drive       against a stop: the stop takes the work of the drive
//   box         friction takes mu m g d, all of m v^2/2 when it rests
//   bowl, roll  a smooth bowl and a rolling ball lose nothing to contacts
//   platform    a script that lifts a box by contact does m g z + m v^2/2

#include "support/axis_rig.h"
#include "support/balance_rig.h"
#include "support/contact_rig.h"

#include <math.h>

static mabd_energy_balance run(const mabd_model* model, mabd_integrator integrator, double h,
                               double time) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, h);
    def.integrator = integrator;
    mabd_sim* sim = rig_sim(model, &def);
    while (mabd_sim_time(sim) < time - h / 2) rig_step(sim);
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    balance_check(sim);
    mabd_sim_destroy(sim);
    return b;
}

// ---- balls -------------------------------------------------------------------------------------

// 1 m above the ground, 2 kg: the impact is at t = 0.4515 s, the second one with e = 0.5 at 0.903
// s.
static mabd_model* ball_model(double e) {
    const contact_body ball = {.shape = MABD_SHAPE_SPHERE,
                               .size = {0.1},
                               .mass = 2,
                               .young = 1e11,
                               .friction = 0.5,
                               .restitution = e,
                               .position = {0, 0, 1.1}};
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    contact_add(scene, &ball);
    contact_add_ground(scene, 0.5);
    return rig_model(scene);
}

// Errors: each step by Euler, the first one and a few after the impact, loses m g^2 h^2/2. The
// oscillations of the ball, omega = sqrt(E/rho)/R = 1e5/s, take 1/(omega h)^2 of the energy.
static void drop(double e) {
    mabd_model* model = ball_model(e);
    const double energy = 2 * CONTACT_GRAVITY, steps[] = {0.01, 0.004, 0.001};
    for (size_t k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) {
            const double h = steps[i];
            const mabd_energy_balance b = run(model, balance_integrators[k], h, 0.7);
            const double taken = (1 - e * e) * energy, lost = 2 * pow(CONTACT_GRAVITY * h, 2) / 2;
            printf("e %g, h %g ms: impacts %.6g of %.6g J, friction %.1e J, integrator %.2e J\n", e,
                   1e3 * h, (double)b.impacts, taken, (double)b.friction, (double)b.integrator);
            const double rings = 2 * energy / pow(1e5 * h, 2);
            cr_expect(fabs(b.impacts - taken) < 2 * lost + rings);
            cr_expect(fabs(b.integrator) < 6 * lost + rings);
            cr_expect(fabs(b.friction) < 1e-9);
        }
    }
    mabd_model_destroy(model);
}

Test(energy_impacts, a_ball_without_restitution_loses_its_fall) {
    drop(0);
}

Test(energy_impacts, a_ball_with_restitution_loses_the_part_that_is_not_returned) {
    drop(0.5);
    drop(0.8);
}

// Two equal balls, one at rest: with e = 0.4 the impact takes (1 - e^2) m v^2/4, without gravity.
Test(energy_impacts, a_collision_of_two_bodies_takes_the_energy_of_their_approach) {
    contact_body ball = {.shape = MABD_SHAPE_SPHERE,
                         .size = {0.1},
                         .mass = 2,
                         .young = 1e11,
                         .restitution = 0.4,
                         .position = {-0.3, 0, 0},
                         .velocity = {3, 0, 0}};
    mabd_scene* scene = contact_scene(0);
    contact_add(scene, &ball);
    ball.position[0] = ball.velocity[0] = 0;
    contact_add(scene, &ball);
    mabd_model* model = rig_model(scene);
    for (size_t k = 0; k < 2; k++) {
        const mabd_energy_balance b = run(model, balance_integrators[k], 0.004, 0.1);
        const double taken = (1 - 0.16) * 2 * 9 / 4.0;
        printf("collision: impacts %.6g of %.6g J, integrator %.2e J\n", (double)b.impacts, taken,
               (double)b.integrator);
        cr_expect(fabs(b.impacts - taken) < 2e-3 * taken);
        cr_expect(fabs(b.integrator) < 2e-3 * taken);
    }
    mabd_model_destroy(model);
}

// ---- stops -------------------------------------------------------------------------------------

// A rod of 1 m and 10 kg falls from the horizontal by 0.7 rad. It is so stiff that the impact
// leaves nothing in its oscillations.
Test(energy_impacts, the_stop_of_a_pendulum_takes_the_energy_of_its_fall) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": "
        "[1, "
        "0.1, 0.1], \"position\": [0.5, 0, 0], \"young\": 1e13}], \"joints\": [{\"type\": "
        "\"hinge\", "
        "\"b\": \"b\", \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"upper\": "
        "0.7}}}]}");
    const double fall = 10 * 9.81 * 0.5 * sin(0.7);
    for (size_t k = 0; k < 2; k++) {
        double errors[4];
        for (int i = 0; i < 4; i++) {
            const mabd_energy_balance b = run(model, balance_integrators[k], ldexp(0.01, -i), 1.5);
            errors[i] = fmax(fabs(b.impacts - fall), fabs(b.integrator)) / fall;
            cr_expect(b.drives == 0 && b.dampers == 0 && b.friction == 0);
        }
        rig_order("stop of a pendulum", 0.01, 4, errors);
        cr_expect(errors[0] < 5e-3 && errors[3] < 0.25 * errors[0]);
    }
    mabd_model_destroy(model);
}

// A slide of 10 kg with a drive of 2 m/s and at most 500 N: 500 N over 0.04 m are 20 J, and the
// stop at 0.5 m takes them. Afterwards the drive pushes against the stop without work.
Test(energy_impacts, the_stop_of_a_drive_takes_the_work_of_the_drive) {
    mabd_axis_def axis = {.limited = true, .lower = -1, .upper = 0.5};
    axis.max_force = 500;
    axis.motor_velocity = mabd_signal_constant(2);
    const axis_case c = {.axis = axis, .slide = true};
    mabd_model* model = axis_model(&c);
    for (size_t k = 0; k < 2; k++) {
        const mabd_energy_balance b = run(model, balance_integrators[k], 0.002, 0.6);
        printf("drive against a stop: drives %.6g, impacts %.6g of 20 J, integrator %.2e J\n",
               (double)b.drives, (double)b.impacts, (double)b.integrator);
        cr_expect(fabs(b.drives - 20) < 0.02 * 20);
        cr_expect(fabs(b.impacts - 20) < 0.01 * 20);
        cr_expect(fabs(b.integrator) < 0.02 * 20);
        cr_expect(b.friction == 0 && b.dampers == 0);
    }
    mabd_model_destroy(model);
}

// 1 kg at 2 m/s against a stop, without gravity: Euler takes the impact in two steps, and the stop
// takes 2 J however the distance to it divides them.
Test(energy_impacts, a_stop_takes_the_energy_of_a_speed_at_any_distance) {
    for (int i = 0; i < 5; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", "
            "\"size\": [0.1, 0.1, 0.1], \"mass\": 1, \"young\": 1e13, \"velocity\": [2, 0, 0]}], "
            "\"joints\": [{\"type\": \"prismatic\", \"b\": \"b\", \"axis\": [1, 0, 0], \"axes\": "
            "{\"tx\": {\"upper\": %g}}}]}",
            0.1 + 0.0043 * i);
        mabd_model* model = rig_text_model(text);
        const mabd_energy_balance b = run(model, balance_integrators[i % 2], 0.01, 0.2);
        cr_expect(fabs(b.impacts - 2) < 1e-6, "%.9g J", (double)b.impacts);
        cr_expect(fabs(b.integrator) < 1e-6, "%.3g J", (double)b.integrator);
        mabd_model_destroy(model);
    }
}

// Implicit Euler on m v' = -d v, d h = m/2 (steps far too large for the motion): the damper takes
// exactly what the body loses, so that nothing is left for the integrator.
Test(energy_impacts, a_damper_takes_all_that_an_euler_step_loses) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"shape\": \"box\", \"size\": "
        "[0.1, "
        "0.1, 0.1], \"mass\": 1, \"velocity\": [2, 0, 0]}], \"joints\": [{\"type\": \"prismatic\", "
        "\"b\": \"b\", \"axis\": [1, 0, 0], \"axes\": {\"tx\": {\"damping\": 50}}}]}");
    const mabd_energy_balance b = run(model, MABD_INTEGRATOR_EULER, 0.01, 0.03);
    cr_expect(fabs(b.dampers - 2 * (1 - pow(1 / 1.5, 6))) < 1e-9, "%.12g J", (double)b.dampers);
    cr_expect(fabs(b.integrator) < 1e-9, "%.3g J", (double)b.integrator);
    mabd_model_destroy(model);
}

// ---- contacts ----------------------------------------------------------------------------------

// 2 kg at 1 m/s on ground with mu = 0.3
static mabd_model* sliding_box(void) {
    const contact_body box = {.shape = MABD_SHAPE_BOX,
                              .size = {0.2, 0.2, 0.02},
                              .mass = 2,
                              .friction = 0.3,
                              .position = {0, 0, 0.01},
                              .velocity = {1, 0, 0}};
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    contact_add(scene, &box);
    contact_add_ground(scene, 0.3);
    return rig_model(scene);
}

// mu = 0.3, v = 1 m/s: at rest after d = v^2/(2 mu g) = 0.1699 m, in 0.34 s.
Test(energy_impacts, friction_of_a_sliding_box_takes_its_energy) {
    mabd_model* model = sliding_box();
    const double t = 0.2, mu = 0.3, d = t - mu * CONTACT_GRAVITY * t * t / 2;
    for (size_t k = 0; k < 2; k++) {
        const mabd_energy_balance slides = run(model, balance_integrators[k], 0.002, t);
        const mabd_energy_balance rests = run(model, balance_integrators[k], 0.002, 0.5);
        printf("sliding box: friction %.6g of %.6g J, at rest %.6g of 1 J; impacts %.1e J, "
               "integrator %.1e J\n",
               (double)slides.friction, mu * 2 * CONTACT_GRAVITY * d, (double)rests.friction,
               (double)rests.impacts, (double)rests.integrator);
        cr_expect(fabs(slides.friction - mu * 2 * CONTACT_GRAVITY * d) < 5e-3);
        cr_expect(fabs(rests.friction - 1) < 1e-3);
        cr_expect(fabs(rests.impacts) < 1e-3 && fabs(rests.integrator) < 5e-3);
    }
    mabd_model_destroy(model);
}

// m v^2/2 = 1 J of a sliding box is friction in every formulation, or it is told that friction is
// not booked: then it lies in the integrator, with what the balance has beside it.
Test(energy_impacts, friction_is_booked_or_said_to_be_unknown_in_every_formulation) {
    mabd_model* model = sliding_box();
    for (int f = 0; f < MABD_FORMULATION_COUNT; f++) {
        const mabd_formulation_info info = mabd_formulation_get_info((mabd_formulation)f);
        if (!info.built || (info.can & MABD_CAN_CONTACTS) == 0) continue;
        mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.002);
        def.formulation = (mabd_formulation)f;
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < 250; i++) rig_step(sim);
        const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
        printf("%s: friction %.4g J, impacts %.2g J, integrator %.4g J\n", info.name,
               (double)b.friction, (double)b.impacts, (double)b.integrator);
        const bool told = !isnan(b.friction);
        cr_expect(eq(int, told, !isnan(b.impacts)));
        cr_expect(lt(dbl, fabs((told ? b.friction : b.integrator) - 1), 0.02), "%s", info.name);
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// A ball slides in a smooth bowl of 1 m: the normal force, up to three weights, does no work.
Test(energy_impacts, a_smooth_bowl_takes_nothing) {
    const char* text =
        "{\"gravity\": [0, 0, -9.81], \"contact\": {}, \"bodies\": [{\"name\": \"bowl\", "
        "\"shape\": "
        "\"bowl\", \"radius\": 1, \"thickness\": 0.1, \"fixed\": true, \"friction\": 0}, "
        "{\"name\": "
        "\"ball\", \"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 2, \"friction\": 0, "
        "\"position\": [0.63639610306789274, 0, -0.63639610306789274]}]}";
    mabd_model* model = rig_text_model(text);
    const double exchanged = 2 * 9.81 * 0.9 * (1 - sqrt(0.5));
    for (size_t k = 0; k < 2; k++) {
        const mabd_energy_balance b = run(model, balance_integrators[k], 0.002, 2);
        printf("bowl: impacts %.2e, friction %.1e, integrator %.2e of %.3g J\n", (double)b.impacts,
               (double)b.friction, (double)b.integrator, exchanged);
        cr_expect(fabs(b.impacts) < 0.01 * exchanged);
        cr_expect(fabs(b.friction) < 1e-9);
    }
    mabd_model_destroy(model);
}

// A ball of 0.1 m rolls at 1 m/s: in 2 s it loses nothing to friction and to impacts. Its first two
// steps do not count: a new contact has the displacement of its point, which comes down by
// R (w h)^2/2.
Test(energy_impacts, a_rolling_ball_loses_nothing_to_its_contact) {
    const contact_body ball = {.shape = MABD_SHAPE_SPHERE,
                               .size = {0.1},
                               .mass = 2,
                               .friction = 0.5,
                               .position = {0, 0, 0.1},
                               .velocity = {1, 0, 0},
                               .angular = {0, 10, 0}};
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    contact_add(scene, &ball);
    contact_add_ground(scene, 0.5);
    mabd_model* model = rig_model(scene);
    const mabd_energy_balance first = run(model, MABD_INTEGRATOR_BDF2, 0.005, 0.01);
    const mabd_energy_balance last = run(model, MABD_INTEGRATOR_BDF2, 0.005, 2);
    const double impacts = last.impacts - first.impacts, friction = last.friction - first.friction;
    printf("rolling: impacts %.2e, friction %.2e, integrator %.2e of 1.4 J\n", impacts, friction,
           (double)last.integrator - first.integrator);
    cr_expect(fabs(impacts) < 1e-5 && fabs(friction) < 1e-5);
    mabd_model_destroy(model);
}

// A box of 2 kg sinks into contacts of a compliance of 0.05: of its weight's work m g d the
// softness stores a half, and the other half is taken where the contacts stop it.
Test(energy_impacts, soft_contacts_store_half_of_the_work_of_a_weight) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"contact\": {\"compliance\": 0.05}, \"bodies\": [{\"name\": "
        "\"g\", \"shape\": \"plane\", \"fixed\": true}, {\"name\": \"b\", \"shape\": \"box\", "
        "\"size\": [0.2, 0.2, 0.2], \"mass\": 2, \"position\": [0, 0, 0.1]}]}");
    for (size_t k = 0; k < 2; k++) {
        const mabd_energy_balance b = run(model, balance_integrators[k], 0.01, 0.5);
        printf("soft contacts: gravity %.4g, spring %.4g, impacts %.4g, integrator %.1e J\n",
               (double)b.gravity, (double)b.spring, (double)b.impacts, (double)b.integrator);
        cr_expect(b.spring > 1e-4 && fabs(b.spring + b.gravity / 2) < 0.05 * b.spring);
        cr_expect(fabs(b.impacts - b.spring) < 0.05 * b.spring);
        cr_expect(fabs(b.integrator) < 0.02 * b.spring);
    }
    mabd_model_destroy(model);
}

// A platform rises by 0.2 (1 - cos 4t) under a box of 2 kg.
Test(energy_impacts, a_script_that_lifts_by_contact_does_the_work) {
    const char* text =
        "{\"gravity\": [0, 0, -9.81], \"contact\": {}, \"bodies\": [{\"name\": \"s\", \"shape\": "
        "\"box\", \"size\": [1, 1, 0.1], \"script\": {\"direction\": [0, 0, 1], \"translation\": "
        "{\"sine\": {\"offset\": 0.2, \"amplitude\": -0.2, \"frequency\": 0.63661977236758138, "
        "\"phase\": 1.5707963267948966}}}}, {\"name\": \"b\", \"shape\": \"box\", \"size\": [0.2, "
        "0.2, 0.2], \"mass\": 2, \"position\": [0, 0, 0.15]}]}";
    mabd_model* model = rig_text_model(text);
    const double z = 0.2 * (1 - cos(2.0)), v = 0.8 * sin(2.0), work = 2 * 9.81 * z + v * v;
    for (size_t k = 0; k < 2; k++) {
        double errors[4];
        for (int i = 0; i < 4; i++) {
            const mabd_energy_balance b = run(model, balance_integrators[k], ldexp(0.01, -i), 0.5);
            errors[i] = fabs(b.scripts - work) / work;
            cr_expect(fabs(b.integrator) < 2e-3 * work && fabs(b.impacts) < 2e-3 * work);
        }
        rig_order("platform", 0.01, 4, errors);
        cr_expect(errors[0] < 2e-3 && errors[3] < errors[0] / 20);
    }
    mabd_model_destroy(model);
}

// A box of 2 kg at 0.4 m from the axis of a turntable that turns by 1.5 (1 - cos 2t), held by
// friction: the script does the work of its kinetic energy. Friction points to the axis, and the
// table does not move that way.
Test(energy_impacts, a_turntable_does_the_work_of_the_speed_of_its_load) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"contact\": {}, \"bodies\": [{\"name\": \"s\", \"shape\": "
        "\"box\", \"size\": [1, 1, 0.1], \"friction\": 1.5, \"script\": {\"axis\": [0, 0, 1], "
        "\"angle\": {\"sine\": {\"offset\": 1.5, \"amplitude\": -1.5, \"frequency\": "
        "0.31830988618379069, \"phase\": 1.5707963267948966}}}}, {\"name\": \"b\", \"shape\": "
        "\"box\", \"size\": [0.1, 0.1, 0.1], \"mass\": 2, \"friction\": 1.5, \"position\": [0.4, "
        "0, "
        "0.1]}]}");
    const double w = 3 * sin(2 * 0.78), work = w * w * (0.16 + 0.01 / 6);
    for (size_t k = 0; k < 2; k++) {
        const mabd_energy_balance b = run(model, balance_integrators[k], 0.01, 0.78);
        printf("turntable: scripts %.5g of %.5g J, friction %.1e, integrator %.1e J\n",
               (double)b.scripts, work, (double)b.friction, (double)b.integrator);
        // with bdf2 the corners of the box slip a little: arcs against the chords of the table
        cr_expect(fabs(b.scripts - work) < 0.015 * work);
        cr_expect(fabs(b.integrator) < 3e-3 * work && fabs(b.friction) < 0.01 * work);
    }
    mabd_model_destroy(model);
}

// The same with walls instead of friction: one behind the box pushes it, one outside keeps it on
// its circle. The force of the outer wall is across the path of the wall and does no work.
Test(energy_impacts, a_wall_that_turns_does_no_work_across_its_path) {
    mabd_model* model = rig_text_model(
        "{\"gravity\": [0, 0, -9.81], \"contact\": {}, \"bodies\": [{\"name\": \"s\", "
        "\"friction\": 0,"
        " \"shapes\": [{\"shape\": \"box\", \"size\": [1.2, 1.2, 0.1]}, {\"shape\": \"box\", "
        "\"size\":"
        " [0.05, 0.4, 0.2], \"position\": [0.475, 0, 0.15]}, {\"shape\": \"box\", \"size\": [0.1, "
        "0.05, 0.2], \"position\": [0.4, -0.075, 0.15]}], \"script\": {\"axis\": [0, 0, 1], "
        "\"angle\": {\"sine\": {\"offset\": 1.5, \"amplitude\": -1.5, \"frequency\": "
        "0.31830988618379069, \"phase\": 1.5707963267948966}}}}, {\"name\": \"b\", \"shape\": "
        "\"box\", \"size\": [0.1, 0.1, 0.1], \"mass\": 2, \"friction\": 0, \"position\": [0.4, 0, "
        "0.1]}]}");
    const double w = 3 * sin(2 * 0.7), work = w * w * (0.16 + 0.01 / 6);
    for (size_t k = 0; k < 2; k++) {
        const mabd_energy_balance b = run(model, balance_integrators[k], 0.01, 0.7);
        printf("walls: scripts %.5g of %.5g J, impacts %.1e, integrator %.1e J\n",
               (double)b.scripts, work, (double)b.impacts, (double)b.integrator);
        cr_expect(fabs(b.scripts - work) < 0.015 * work);
        cr_expect(fabs(b.integrator) < 0.01 * work);
    }
    mabd_model_destroy(model);
}
