// SPDX-License-Identifier: Apache-2.0
// Tests for src/rigid/script.h
//
// Oracle: fourth-order differences of the poses that scripts prescribe, x(t +- d), x(t +- 2d) with
// d = 1e-3 s: truncation 1e-12 of the derivatives for signals of 1 Hz, round-off 1e-10 in second
// derivatives.
#include "rigid/script.h"

#include "math/so3.h"
#include "rigid/frames.h"
#include "support/rig.h"

#define STEP 1e-3

// A lopsided body: centre of mass and principal axes off its frame.
static const char* const scene =
    "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"arm\", \"position\": [0.4, -0.7, 1.1],"
    " \"rotation\": {\"axis\": [1, 2, -1], \"angle\": 0.8}, \"shapes\": ["
    " {\"shape\": \"box\", \"size\": [0.5, 0.2, 0.1], \"density\": 1000, \"position\": [0.3, 0, "
    "0.1]},"
    " {\"shape\": \"sphere\", \"radius\": 0.2, \"density\": 2000, \"position\": [-0.1, 0.4, 0]}],"
    " \"script\": {\"direction\": [0.6, 0, 0.8], \"translation\": {\"sine\": {\"amplitude\": 0.3,"
    " \"frequency\": 0.7, \"phase\": 0.4}}, \"axis\": [0, 0.6, -0.8],"
    " \"angle\": {\"sine\": {\"amplitude\": 1.2, \"frequency\": 0.5}}}}]}";

// Positions and rotation vectors from the pose at t, at t + k STEP, k = -2 .. 2.
static void sample(const mabd_model* m, double t, mabd_vec3* c, mabd_vec3* phi) {
    const mabd_mat3 R = mabd_rigid_script_pose(m, &m->scripts[0], t).R;
    for (int k = 0; k < 5; k++) {
        const mabd_rigid_pose at = mabd_rigid_script_pose(m, &m->scripts[0], t + (k - 2) * STEP);
        c[k] = at.c, phi[k] = mabd_so3_log(mabd_m3_tproduct(R, at.R));
    }
}

static void expect_derivatives(const mabd_vec3* x, mabd_vec3 rate, mabd_vec3 bend) {
    for (int i = 0; i < 3; i++) {
        double y[5];
        for (int k = 0; k < 5; k++) y[k] = mabd_v3_get(x[k], i);
        const double d1 = (8 * (y[3] - y[1]) - (y[4] - y[0])) / (12 * STEP);
        const double d2 = (16 * (y[3] + y[1]) - (y[4] + y[0]) - 30 * y[2]) / (12 * STEP * STEP);
        cr_expect(epsilon_eq(dbl, mabd_v3_get(rate, i), d1, 1e-9));
        cr_expect(epsilon_eq(dbl, mabd_v3_get(bend, i), d2, 1e-7));
    }
}

Test(script, velocity_and_acceleration_are_the_derivatives_of_the_pose) {
    mabd_model* m = rig_text_model(scene);
    for (int i = 0; i < 20; i++) {
        const double t = 0.173 * i;
        mabd_vec3 c[5], phi[5];
        const mabd_rigid_script_motion at = mabd_rigid_script_at(m, &m->scripts[0], t);
        sample(m, t, c, phi);
        expect_derivatives(c, at.u.v, at.a.v);
        // phi' and phi'' at phi = 0 are the angular velocity and acceleration in the body
        expect_derivatives(phi, at.u.w, at.a.w);
    }
    mabd_model_destroy(m);
}
