// SPDX-License-Identifier: Apache-2.0
// Hybrid dynamics in the redmax formulation: a double pendulum whose joints are prescribed, or the
// first one alone, against Newton and Euler's equations of its rods. [RM eq. 2.113] has the torque
// of a prescribed joint with the other sign, and [RM eq. 2.124] reactions without what the motion
// of the links adds to accelerations, M J' q'; both are far from what is found here.
//
// A rod i points along e(a_i) = (cos a, 0, -sin a), a about +y from the hinge before.

#include "support/rig.h"

#define G 9.81

static const double lengths[2] = {1, 0.8}, width = 0.05;

static double mass_of(int i) {
    return 1000 * lengths[i] * width * width;
}
static double moment_of(int i) {
    return mass_of(i) * (lengths[i] * lengths[i] + width * width) / 12;
}

/// Angles of the rods in space with rates and accelerations.
typedef struct motion {
    double a[2], w[2], b[2];
} motion;

/// Reactions: forces (x, z) and torques of both hinges on their outer rods; rate of the energy.
typedef struct reactions {
    double f[2][2], t[2], power;
} reactions;

// Newton and Euler from the outer rod in. still: leave accelerations by rates out.
static reactions reactions_of(const motion* m, bool still) {
    double acc[2][2], arm[2][2], base[2] = {0, 0}, v0[2] = {0, 0};
    reactions out = {.power = 0};
    for (int i = 0; i < 2; i++) {
        const double c = cos(m->a[i]), s = sin(m->a[i]), l = lengths[i], w2 = m->w[i] * m->w[i];
        const double e[2] = {c, -s}, n[2] = {-s, -c};
        for (int k = 0; k < 2; k++) {
            const double bend = m->b[i] * n[k] - (still ? 0 : w2 * e[k]);
            const double v = v0[k] + l / 2 * m->w[i] * n[k];
            arm[i][k] = l / 2 * e[k];
            acc[i][k] = base[k] + l / 2 * bend;
            out.power += mass_of(i) * v * (acc[i][k] + (k == 1 ? G : 0));
            base[k] += l * bend, v0[k] += l * m->w[i] * n[k];
        }
        out.power += moment_of(i) * m->w[i] * m->b[i];
    }
    for (int i = 1; i >= 0; i--) {
        const double fx = mass_of(i) * acc[i][0], fz = mass_of(i) * (acc[i][1] + G);
        out.f[i][0] = fx, out.f[i][1] = fz;
        out.t[i] = moment_of(i) * m->b[i] + arm[i][1] * fx - arm[i][0] * fz;
        if (i == 1) continue;
        out.f[0][0] += out.f[1][0], out.f[0][1] += out.f[1][1];
        out.t[0] += out.t[1] + 2 * (arm[0][1] * out.f[1][0] - arm[0][0] * out.f[1][1]);
    }
    return out;
}

// Rods along x with their angular velocities at the start.
static mabd_model* model_of(const mabd_axis_def* axes[2], const double rates[2]) {
    mabd_scene* scene = rig_scene((mabd_real)-G);
    mabd_error error = {0};
    int32_t before = MABD_WORLD;
    double x = 0, speed = 0;
    for (int i = 0; i < 2; i++) {
        const mabd_real size[3] = {(mabd_real)lengths[i], (mabd_real)width, (mabd_real)width};
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
        const mabd_real y[3] = {0, 1, 0};
        mabd_body_def body = mabd_default_body_def();
        mabd_joint_def joint = mabd_default_joint_def();
        body.geom_count = 1, body.geoms = &geom;
        body.position[0] = (mabd_real)(x + lengths[i] / 2);
        body.velocity[2] = (mabd_real)(speed - rates[i] * lengths[i] / 2);
        body.angular_velocity[1] = (mabd_real)rates[i];
        const int32_t rod = rig_add_body(scene, &body);
        joint.type = MABD_JOINT_HINGE, joint.a = before, joint.b = rod;
        joint.anchor[0] = (mabd_real)x;
        cr_assert(mabd_frame_from_axes(y, NULL, joint.frame));
        joint.axes[MABD_AXIS_RX] = axes[i];
        rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
        before = rod, x += lengths[i], speed -= rates[i] * lengths[i];
    }
    return rig_model(scene);
}

static mabd_sim* start(const mabd_model* model, mabd_integrator integrator, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_REDMAX, def.integrator = integrator;
    return rig_sim(model, &def);
}

static mabd_axis_def ramp(double rate) {
    mabd_axis_def axis = {.servo_rigid = true};
    axis.servo =
        (mabd_signal){.kind = MABD_SIGNAL_RAMP, .end = 10, .value_end = (mabd_real)(10 * rate)};
    return axis;
}

// Both hinges turn at constant rates: no acceleration of a coordinate, but those of the rods.
Test(redmax_hybrid, forces_and_power_of_prescribed_motion_are_those_of_inverse_dynamics) {
    const double rates[2] = {2, 2 - 5};
    const mabd_axis_def first = ramp(rates[0]), second = ramp(rates[1] - rates[0]);
    const mabd_axis_def* axes[2] = {&first, &second};
    mabd_model* model = model_of(axes, rates);
    mabd_sim* sim = start(model, MABD_INTEGRATOR_BDF2, 0.01);
    for (int step = 0; step < 50; step++) {
        rig_step(sim);
        const double t = mabd_sim_time(sim);
        const motion m = {.a = {rates[0] * t, rates[1] * t}, .w = {rates[0], rates[1]}};
        const reactions right = reactions_of(&m, false), still = reactions_of(&m, true);
        mabd_real found[12];
        double worst = 0, printed = 0;
        mabd_sim_get_joint_forces(sim, found);
        for (int i = 0; i < 2; i++) {
            const mabd_real* own = found + 6 * i;
            worst = fmax(worst, fabs(own[0] - right.f[i][0]));
            worst = fmax(worst, fabs(own[2] - right.f[i][1]));
            worst = fmax(worst, fabs(own[4] - right.t[i]));
            printed = fmax(printed, fabs(own[0] - still.f[i][0]));
            cr_expect(fabs(own[4] + right.t[i]) > 0.1 * fabs(right.t[i])); // F6
        }
        cr_expect(lt(dbl, worst, 1e-9), "t = %g: %g N", t, worst);
        const double power = found[4] * rates[0] + found[10] * (rates[1] - rates[0]);
        cr_expect(lt(dbl, fabs(power - right.power), 1e-9 * (1 + fabs(power))));
        if (step == 49) {
            printf("force %.4f, %.4f N (without M J'q' %.4f, %.4f), torque %.4f N m\n",
                   (double)found[0], (double)found[2], still.f[0][0], still.f[0][1],
                   (double)found[4]);
            cr_expect(lt(dbl, 1, printed)); // F7
        }
    }
    rig_destroy(sim, model);
}

// ---- a driven base and a free arm --------------------------------------------------------------

static const double amplitude = 0.8, frequency = 4; // [rad], [rad/s]

// The outer rod turns freely: its torque vanishes.
static void drive(double t, double a, double w, motion* m) {
    *m = (motion){.a = {amplitude * sin(frequency * t), a},
                  .w = {amplitude * frequency * cos(frequency * t), w},
                  .b = {-amplitude * frequency * frequency * sin(frequency * t), 0}};
    const double without = reactions_of(m, false).t[1];
    m->b[1] = 1;
    m->b[1] = -without / (reactions_of(m, false).t[1] - without);
}

static motion arm_after(double seconds) {
    const double h = 1e-4;
    double a = 0, w = 0;
    motion m;
    for (int i = 0; i < (int)lround(seconds / h); i++) {
        const double t = i * h, w1 = w;
        drive(t, a, w, &m);
        const double b1 = m.b[1], w2 = w + h / 2 * b1;
        drive(t + h / 2, a + h / 2 * w1, w2, &m);
        const double b2 = m.b[1], w3 = w + h / 2 * b2;
        drive(t + h / 2, a + h / 2 * w2, w3, &m);
        const double b3 = m.b[1], w4 = w + h * b3;
        drive(t + h, a + h * w3, w4, &m);
        a += h / 6 * (w1 + 2 * w2 + 2 * w3 + w4), w += h / 6 * (b1 + 2 * b2 + 2 * b3 + m.b[1]);
    }
    drive(seconds, a, w, &m);
    return m;
}

Test(redmax_hybrid, a_free_arm_on_a_driven_base_and_the_torque_of_its_drive) {
    mabd_axis_def sine = {.servo_rigid = true};
    sine.servo = (mabd_signal){.kind = MABD_SIGNAL_SINE,
                               .amplitude = (mabd_real)amplitude,
                               .frequency = (mabd_real)(frequency / (2 * acos(-1)))};
    const mabd_axis_def* axes[2] = {&sine, NULL};
    const double rates[2] = {amplitude * frequency, 0};
    const mabd_integrator methods[2] = {MABD_INTEGRATOR_BDF2, MABD_INTEGRATOR_SDIRK2};
    const motion end = arm_after(0.8);
    const reactions right = reactions_of(&end, false);
    mabd_model* model = model_of(axes, rates);
    for (int n = 0; n < 2; n++) {
        double angle[3], torque[3], rest[3];
        for (int i = 0; i < 3; i++) {
            mabd_sim* sim = start(model, methods[n], ldexp(0.0025, -i));
            mabd_real x[MABD_AXIS_COUNT], forces[12];
            rig_run(sim, 320 << i);
            mabd_sim_get_joint_coordinates(sim, 1, x);
            mabd_sim_get_joint_forces(sim, forces);
            const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
            angle[i] = fabs(x[MABD_AXIS_RX] - (end.a[1] - end.a[0]));
            torque[i] = fabs(forces[4] - right.t[0]);
            rest[i] = fabs((double)b.integrator);
            cr_expect(lt(dbl, 1, fabs((double)b.drives)));
            mabd_sim_destroy(sim);
        }
        cr_expect(lt(dbl, 1.8, rig_order("arm", 0.0025, 3, angle)));
        // the accelerations of prescribed joints are of first order in the stages of sdirk2
        cr_expect(lt(dbl, n ? 0.8 : 1.8, rig_order("torque", 0.0025, 3, torque)));
        cr_expect(lt(dbl, 1.8, rig_order("energy", 0.0025, 3, rest)));
    }
    mabd_model_destroy(model);
}
