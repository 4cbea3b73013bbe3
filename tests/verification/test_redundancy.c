// SPDX-License-Identifier: Apache-2.0
// More rows than freedoms: redundant joints must neither fail nor yield, and together they carry
// what one joint alone would carry.
#include "support/rig.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define STEPS 200

typedef struct carried {
    mabd_real gap, angle; // largest over the run
    // sum over all joints on the block at the end: vertical force, torque about y
    mabd_real force, torque;
} carried;

// A block of 1 m x 0.2 m x 0.2 m is attached sideways to a fixed wall block by `welds` fixed joints
// across the 0.2 m of their common face.
static carried hold(int welds, mabd_real young) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    const mabd_real size[3] = {1, (mabd_real)0.2, (mabd_real)0.2};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def def = mabd_default_body_def();
    def.geoms = &geom;
    def.geom_count = 1;
    def.young = young;
    const int32_t a = rig_add_body(scene, &def);
    def.position[0] = 1;
    const int32_t b = rig_add_body(scene, &def);
    mabd_joint_def joint = mabd_default_joint_def();
    joint.type = MABD_JOINT_FIXED;
    joint.a = MABD_WORLD;
    joint.b = a;
    joint.anchor[0] = (mabd_real)-0.5;
    rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "wall");
    for (int i = 0; i < welds; i++) {
        joint.a = a;
        joint.b = b;
        joint.anchor[0] = (mabd_real)0.5;
        joint.anchor[1] = (mabd_real)0.08 * (mabd_real)(i - welds / 2);
        rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "weld");
    }
    mabd_model* model;
    mabd_sim* sim;
    mabd_sim_def sim_def = mabd_default_sim_def();
    rig_check(mabd_model_build(scene, NULL, &model, &error), &error, "model");
    rig_check(mabd_sim_create(model, &sim_def, &sim, &error), &error, "sim");
    carried c = {0};
    for (int i = 0; i < STEPS; i++) {
        mabd_step_info info;
        rig_check(mabd_sim_step(sim, &info, &error), &error, "step");
        c.gap = info.gap > c.gap ? info.gap : c.gap;
        c.angle = info.angle_error > c.angle ? info.angle_error : c.angle;
    }
    mabd_real forces[6 * 8];
    mabd_sim_get_joint_forces(sim, forces);
    for (int i = 1; i <= welds; i++) { // all anchors are at x = 0.5: torques about y add up
        c.force += forces[6 * i + 2];
        c.torque += forces[6 * i + 4];
    }
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    return c;
}

// Statics of the outer block: m g = 40 kg x 9.81, its moment about the joint m g x 0.5 m. After 2 s
// BDF2 has damped the vibration of the two blocks (some 100 Hz); the remainder is below 1e-3.
static void expect_statics(int welds, mabd_real young) {
    const carried c = hold(welds, young);
    const double weight = 40 * 9.81;
    cr_expect(lt(dbl, c.gap, 1e-9), "%d welds", welds);
    cr_expect(lt(dbl, c.angle, 1e-9), "%d welds", welds);
    cr_expect(epsilon_eq(dbl, c.force, weight, 1e-3 * weight), "%d welds", welds);
    cr_expect(epsilon_eq(dbl, fabs(c.torque), weight * 0.5, 1e-3 * weight), "%d welds", welds);
}

Test(redundancy, one_weld_carries_the_block) {
    expect_statics(1, (mabd_real)1e9);
}

Test(redundancy, two_welds_share_the_load) {
    expect_statics(2, (mabd_real)1e9);
}

// 18 rows between two bodies that have 12 relative freedoms: the dual matrix is singular.
Test(redundancy, three_and_five_welds_are_solved_too) {
    expect_statics(3, (mabd_real)1e9);
    expect_statics(5, (mabd_real)1e9);
}

Test(redundancy, stiff_bodies_as_well) {
    expect_statics(3, (mabd_real)2e11);
}
