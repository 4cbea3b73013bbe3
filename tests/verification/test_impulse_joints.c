// SPDX-License-Identifier: Apache-2.0
// All fourteen joints in the impulse formulation.
//
// Two free bodies that spin and part, held by a joint, without gravity: impulses of joints keep
// linear momentum to round-off, and angular momentum but for the rotation of free bodies, which is
// of second order in h; relaxation, which changes velocities after the poses have moved, makes it
// the first order. A rigid servo takes its axis along a ramp.

#include "support/impulse_rig.h"

static const block_def first = {.sides = {0.3, 0.2, 0.12}, .place = {0.02, -0.01, 0.03}};
static const block_def second = {.sides = {0.2, 0.25, 0.15},
                                 .place = {0.25, 0.02, -0.04},
                                 .velocity = {0, 0, 0},
                                 .spin = {1, 2, -1.5}};

// Change of the angular momentum of a tumbling pair over 1 s, relative to its size.
static double turned(mabd_joint type, double h) {
    mabd_scene* scene = rig_scene(0);
    const int32_t a = block_add(scene, &first), b = block_add(scene, &second);
    joint_add(scene, type, a, b, NULL);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = impulse_def(h, 1, 4, 0);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    for (int i = 0; i < (int)(1 / h + 0.5); i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(lt(dbl, fmax(info.gap, info.angle_error), 5e-3), "%s", mabd_joint_name(type));
    }
    const mabd_measure end = mabd_sim_measure(sim);
    cr_expect(lt(dbl, rig_distance(end.linear_momentum, start.linear_momentum), 1e-12), "%s",
              mabd_joint_name(type));
    rig_destroy(sim, model);
    return rig_distance(end.angular_momentum, start.angular_momentum) /
           rig_norm(start.angular_momentum);
}

Test(impulse_joints, keep_momenta) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        const double error[2] = {turned((mabd_joint)type, 0.004), turned((mabd_joint)type, 0.002)};
        printf("%-16s angular momentum off by %.2e, %.2e: order %.2f\n",
               mabd_joint_name((mabd_joint)type), error[0], error[1], log2(error[0] / error[1]));
        cr_expect(error[1] < 1e-10 || log2(error[0] / error[1]) > 1.8, "%s",
                  mabd_joint_name((mabd_joint)type));
    }
}

Test(impulse_joints, position_drives_of_all_axes_follow_their_targets) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int axis = 0; axis < MABD_AXIS_COUNT; axis++) {
            if (!joint_is_free((mabd_joint)type, axis)) continue;
            const mabd_axis_def drive = {
                .servo = {.kind = MABD_SIGNAL_RAMP, .value_end = 0.5, .end = 0.5},
                .servo_rigid = true};
            mabd_scene* scene = rig_scene((mabd_real)-9.81);
            joint_add_axis(scene, (mabd_joint)type, MABD_WORLD, block_add(scene, &first),
                           (mabd_axis)axis, &drive);
            mabd_model* model = rig_model(scene);
            const mabd_sim_def def = impulse_def(0.01, 4, 1, 1);
            mabd_sim* sim = rig_sim(model, &def);
            double worst = 0;
            for (int i = 0; i < 20; i++) {
                rig_step(sim);
                const double off = joint_coordinate(sim, 0, axis) - (double)mabd_sim_time(sim);
                worst = fmax(worst, fabs(off));
            }
            printf("%-16s axis %d: off its target by at most %.1e\n",
                   mabd_joint_name((mabd_joint)type), axis, worst);
            cr_expect(lt(dbl, worst, 2e-3), "%s axis %d", mabd_joint_name((mabd_joint)type), axis);
            rig_destroy(sim, model);
        }
    }
}

// ---- rows of a step ----------------------------------------------------------------------------

// Two rods of 1 m and 2 cm on a ball spin about it at 60 rad/s and turn by more than half a radian
// in a step of four substeps: their ball joint has other rows in each of them. Its impulses take no
// energy from nowhere, and the joint opens by no more than the way of a substep. With the K^-1 of
// the first substep in all of them the step diverges.
Test(impulse_joints, rods_that_spin_fast_stay_together) {
    const block_def rod = {.sides = {1, 0.02, 0.02}, .place = {0.5, 0, 0}, .spin = {0, 0, 60}};
    block_def other = rod;
    mabd_scene* scene = rig_scene(0);
    other.place[0] = -0.5;
    block_def ends[2] = {rod, other};
    for (int k = 0; k < 2; k++) ends[k].velocity[1] = 60 * ends[k].place[0];
    const int32_t a = block_add(scene, &ends[0]), b = block_add(scene, &ends[1]);
    joint_add(scene, MABD_JOINT_BALL, a, b, NULL);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = impulse_def(0.01, 4, 4, 4);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = (double)mabd_sim_measure(sim).kinetic;
    double most = 0, gap = 0;
    for (int i = 0; i < 100; i++) {
        gap = fmax(gap, (double)rig_step(sim).gap);
        most = fmax(most, (double)mabd_sim_measure(sim).kinetic / start);
    }
    printf("rods at 60 rad/s: gap %.2g m, energy at most %.4f of the start\n", gap, most);
    cr_expect(lt(dbl, most, 1.001));
    cr_expect(lt(dbl, gap, 0.1)); // a substep turns the rods by 0.15 rad
    rig_destroy(sim, model);
}

// ---- long runs ---------------------------------------------------------------------------------

static mabd_model* scene_model(const char* path, int32_t count, const mabd_setting* settings) {
    mabd_error error = {0};
    mabd_scene* scene = NULL;
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(mabd_scene_load(scene, path, count, settings, &error), &error, path);
    return rig_model(scene);
}

// A grid of 16 x 16 balls hung by its upper edge only sags and swings: no power acts on it, so its
// energy never rises above the start. With every sweep of a kind in one direction it rises to
// 1.7e5 J in 3 s, and explodes with more balls.
Test(impulse_joints, a_grid_of_ball_joints_never_gains_energy) {
    const mabd_setting size[] = {{"rows", "16"}, {"columns", "16"}};
    mabd_model* model = scene_model(MABD_SOURCE_DIR "/scenes/joint-grid.json", 2, size);
    mabd_sim_def def = impulse_def(1 / 60.0, 4, 1, 1);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_real start = mabd_sim_measure(sim).energy;
    for (int i = 0; i < 180; i++) {
        rig_step(sim);
        cr_assert(le(dbl, mabd_sim_measure(sim).energy, start), "step %d", i);
    }
    rig_destroy(sim, model);
}

// Servos of an arm, springs and dampers of 400 N m/rad in a chain of seven: the arm stays within 3
// cm of that of redmax, whose error is less than a tenth of it. If the rows of joints with servos
// do not give way, it is lost after 0.67 s.
Test(impulse_joints, a_chain_of_servos_follows_its_targets) {
    mabd_model* model = scene_model(MABD_SOURCE_DIR "/scenes/arm.json", 0, NULL);
    const int32_t n = mabd_model_body_count(model);
    mabd_sim_def def = impulse_def(0.01, 4, 1, 1), exact = rig_def(MABD_PRESET_BALANCED, 0.01);
    exact.formulation = MABD_FORMULATION_REDMAX;
    mabd_sim *sim = rig_sim(model, &def), *other = rig_sim(model, &exact);
    mabd_real x[64], y[64];
    cr_assert(le(int, 3 * n, 64));
    for (int i = 0; i < 300; i++) {
        rig_step(sim), rig_step(other);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        mabd_sim_get_state(other, y, NULL, NULL, NULL);
        for (int32_t k = 0; k < n; k++) {
            cr_assert(lt(dbl, rig_distance(x + 3 * k, y + 3 * k), 0.03), "step %d", i);
        }
    }
    mabd_sim_destroy(other);
    rig_destroy(sim, model);
}
