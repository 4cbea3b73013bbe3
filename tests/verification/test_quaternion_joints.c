// SPDX-License-Identifier: Apache-2.0
// Every free axis of the fourteen joints in the quaternion formulation, driven by position and by
// force.
//
// A rigid servo moves the axis along a ramp against gravity: the coordinate is the target at the
// end of every step. A motor with the force p between two free bodies does the work p dx and leaves
// momenta: without gravity their sums about the origin stay zero, and the kinetic energy is p x for
// a constant p, up to the error of the integrator, O(h^2).

#include "support/joint_rig.h"
#include "support/rig.h"

static mabd_sim_def quaternion_def(double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_QUATERNION;
    return def;
}

static const block_def first = {.sides = {0.3, 0.2, 0.12}, .place = {0.02, -0.01, 0.03}};
static const block_def second = {.sides = {0.2, 0.25, 0.15}, .place = {0.05, 0.02, -0.04}};

Test(quaternion_joints, position_drives_of_all_axes_reach_their_targets) {
    int cases = 0;
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
            const mabd_sim_def def = quaternion_def(0.01);
            mabd_sim* sim = rig_sim(model, &def);
            for (int i = 0; i < 20; i++) {
                const mabd_step_info info = rig_step(sim);
                const double off = joint_coordinate(sim, 0, axis) - (double)mabd_sim_time(sim);
                cr_assert(lt(dbl, fabs(off), 1e-10), "%s axis %d: %g",
                          mabd_joint_name((mabd_joint)type), axis, off);
                cr_assert(lt(dbl, fmax(info.gap, info.angle_error), 1e-11));
            }
            rig_destroy(sim, model);
            cases++;
        }
    }
    cr_expect(eq(int, cases,
                 0 + 1 + 1 + 2 + 2 + 2 + 2 + 3 + 3 + 3 + 4 + 6 + 4 + 5)); // freedoms of the list
}

Test(quaternion_joints, motors_of_all_axes_do_the_work_of_their_force_and_keep_momenta) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int axis = 0; axis < MABD_AXIS_COUNT; axis++) {
            if (!joint_is_free((mabd_joint)type, axis)) continue;
            const double p = axis < 3 ? 20 : 1;
            const mabd_axis_def motor = {.motor = mabd_signal_constant((mabd_real)p)};
            double error[2];
            for (int k = 0; k < 2; k++) {
                mabd_scene* scene = rig_scene(0);
                const int32_t a = block_add(scene, &first), b = block_add(scene, &second);
                joint_add_axis(scene, (mabd_joint)type, a, b, (mabd_axis)axis, &motor);
                mabd_model* model = rig_model(scene);
                const mabd_sim_def def = quaternion_def(0.004 / (1 << k));
                mabd_sim* sim = rig_sim(model, &def);
                for (int i = 0; i < 25 << k; i++) rig_step(sim);
                const mabd_measure now = mabd_sim_measure(sim);
                const double work = p * joint_coordinate(sim, 0, axis);
                const double impulse = p * 0.1;
                error[k] = fabs(now.kinetic / work - 1);
                cr_expect(lt(dbl, rig_norm(now.linear_momentum), 1e-9 * impulse), "%s axis %d",
                          mabd_joint_name((mabd_joint)type), axis);
                cr_expect(lt(dbl, rig_norm(now.angular_momentum), 1e-3 * impulse), "%s axis %d: %g",
                          mabd_joint_name((mabd_joint)type), axis,
                          rig_norm(now.angular_momentum) / impulse);
                cr_expect(lt(dbl, 0, work));
                rig_destroy(sim, model);
            }
            printf("%-14s axis %d: energy and work differ by %.1e, %.1e\n",
                   mabd_joint_name((mabd_joint)type), axis, error[0], error[1]);
            cr_expect(error[1] < 1e-9 || error[1] < 0.3 * error[0], "%s axis %d: %g, %g",
                      mabd_joint_name((mabd_joint)type), axis, error[0], error[1]);
        }
    }
}
