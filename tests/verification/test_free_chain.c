// SPDX-License-Identifier: Apache-2.0
// A coiled chain of ten links that floats: no gravity, no pin, thrown and spinning, so that it
// uncoils. Joint forces are pairs at one point: p and L about the world origin are constants.
//
// p: joint forces cancel to round-off. The remaining error: v = (x - x_b)/(2h/3) of positions x = v
// t known to eps x, which is 3/2 eps n of v after n steps, and accumulates as a random walk: 3/2
// eps n^1.5, 5e-12 at 1000. L: the error is that of the integrator. BDF2 is of second order: the
// loss over one second falls by 3.5 or more for each halving of the step.

#include "support/rig.h"

static mabd_model* floating_model(mabd_joint joint) {
    mabd_chain_def chain = mabd_default_chain_def();
    const mabd_real spin[3] = {0.3, -1, 4};
    chain.links = 10;
    chain.joint = joint;
    chain.start = MABD_CHAIN_COILED;
    chain.pinned = false;
    chain.velocity[0] = 1;
    chain.velocity[2] = 2;
    chain.anchor[1] = 0.5;
    for (int k = 0; k < 3; k++) chain.angular_velocity[k] = spin[k];
    return rig_chain_model(&chain, 0);
}

Test(free_chain, keeps_linear_momentum_to_round_off) {
    const mabd_joint joints[] = {MABD_JOINT_BALL, MABD_JOINT_HINGE, MABD_JOINT_UNIVERSAL};
    for (int j = 0; j < 3; j++) {
        mabd_model* model = floating_model(joints[j]);
        const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
        mabd_sim* sim = rig_sim(model, &def);
        const mabd_measure start = mabd_sim_measure(sim);
        double worst = 0;
        for (int i = 0; i < 1000; i++) {
            rig_step(sim);
            const mabd_measure now = mabd_sim_measure(sim);
            worst = fmax(worst, rig_distance(now.linear_momentum, start.linear_momentum));
        }
        worst /= rig_norm(start.linear_momentum);
        printf("%s: linear momentum changes by %.2e\n", mabd_joint_name(joints[j]), worst);
        cr_expect(worst < 1.5 * 1.1e-16 * pow(1000, 1.5), "%g", worst);
        rig_destroy(sim, model);
    }
}

// |L - L0| / |L0| after one second.
static double angular_loss(const mabd_model* model, int steps) {
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)1 / steps);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    rig_run(sim, steps);
    const mabd_measure end = mabd_sim_measure(sim);
    mabd_sim_destroy(sim);
    return rig_distance(start.angular_momentum, end.angular_momentum) /
           rig_norm(start.angular_momentum);
}

static void check_angular(mabd_joint joint) {
    mabd_model* model = floating_model(joint);
    double loss[4];
    for (int k = 0; k < 4; k++) loss[k] = angular_loss(model, 100 << k);
    const double order = rig_order(mabd_joint_name(joint), 0.01, 4, loss);
    cr_expect(order >= log2(3.5), "order %g", order);
    mabd_model_destroy(model);
}

Test(free_chain, ball_joints_keep_angular_momentum_with_second_order) {
    check_angular(MABD_JOINT_BALL);
}

Test(free_chain, hinges_keep_angular_momentum_with_second_order) {
    check_angular(MABD_JOINT_HINGE);
}
