// SPDX-License-Identifier: Apache-2.0
// Axes of the impulse formulation: motors with limits, stops, friction, springs, dampers, angles.
//
// Where [SI] taken literally is wrong, the literal form stands here in a few lines beside the right
// result, and is seen to miss it.

#include "support/impulse_rig.h" // first: criterion defines I

#include "math/quat.h"
#include "support/axis_rig.h"
#include "support/draw.h"

static mabd_axis_def rate_axis(double rate, double most) {
    const mabd_axis_def axis = {.motor_velocity = mabd_signal_constant((mabd_real)rate),
                                .max_force = (mabd_real)most};
    return axis;
}

static mabd_sim* axis_start(const axis_case* c, mabd_sim_def def, mabd_model** model) {
    *model = axis_model(c);
    return rig_sim(*model, &def);
}

// Rate of the axis of joint 0.
static double rate_of(const mabd_sim* sim, bool slide) {
    mabd_real v[3], w[3];
    mabd_sim_get_state(sim, NULL, NULL, v, w);
    return slide ? v[0] : w[1];
}

// ---- motors ------------------------------------------------------------------------------------

// v = min(rate, F t/m) exactly, by impulses of at most F h. A cube of 8 kg on an axis through its
// centre: the rows of the joint do not disturb the motor.
Test(impulse_axes, motors_ramp_up_by_their_force_and_hold_their_rate) {
    for (int slide = 0; slide < 2; slide++) {
        const double inertia = slide ? 8 : 8 * 0.2 * 0.2 / 6, rate = slide ? 1 : 3;
        const double force = slide ? 20 : 0.4;
        const mabd_axis_def axis = rate_axis(rate, force);
        mabd_scene* scene = rig_scene(0);
        const int32_t body = rig_add_rod(scene, (mabd_real)-0.1, (mabd_real)0.2, (mabd_real)0.2, 0);
        axis_add_joint(scene, slide, MABD_WORLD, body, 0, &axis);
        mabd_model* model = rig_model(scene);
        const mabd_sim_def def = impulse_def(0.01, 4, 1, 1);
        mabd_sim* sim = rig_sim(model, &def);
        double worst = 0;
        for (int i = 1; i <= 200; i++) {
            mabd_real wrench[6];
            rig_step(sim);
            const double expected = fmin(rate, force * 0.01 * i / inertia);
            worst = fmax(worst, fabs(rate_of(sim, slide) - expected));
            mabd_sim_get_joint_forces(sim, wrench);
            cr_assert(le(dbl, fabs(slide ? wrench[0] : wrench[4]), force * (1 + 1e-14)));
        }
        printf("%s: ramp and rate to %.1e\n", slide ? "slider" : "hinge", worst);
        cr_expect(lt(dbl, worst, 1e-13));
        rig_destroy(sim, model);
    }
}

// A slider that is tilted by a: a motor at rate 1 m/s moves the load up if F > m g sin a, and is
// pushed back if F is less.
Test(impulse_axes, a_motor_on_an_incline_stalls_below_the_weight) {
    for (int k = 0; k < 2; k++) {
        const double weight = 9.81 * AXIS_MASS, force = (k ? 1.1 : 0.9) * weight;
        mabd_scene* scene = rig_scene((mabd_real)-9.81);
        const int32_t body = rig_add_rod(scene, 0, 1, (mabd_real)0.1, 0);
        const mabd_axis_def axis = rate_axis(1, force);
        mabd_joint_def def = mabd_default_joint_def();
        mabd_error error = {0};
        const mabd_real up[3] = {0, 0, 1};
        def.type = MABD_JOINT_PRISMATIC, def.a = MABD_WORLD, def.b = body;
        cr_assert(mabd_frame_from_axes(up, NULL, def.frame));
        def.axes[MABD_AXIS_TX] = &axis;
        rig_check(mabd_scene_add_joint(scene, &def, NULL, &error), &error, "joint");
        mabd_model* model = rig_model(scene);
        const mabd_sim_def how = impulse_def(0.01, 4, 1, 1);
        mabd_sim* sim = rig_sim(model, &how);
        mabd_real v[3];
        for (int i = 0; i < 100; i++) rig_step(sim);
        mabd_sim_get_state(sim, NULL, NULL, v, NULL);
        const double expected = (force - weight) / AXIS_MASS;
        cr_expect(lt(dbl, fabs(v[2] - expected), 1e-10), "%g", (double)v[2]);
        rig_destroy(sim, model);
    }
}

// The motor turns towards larger coordinates and so arrives at the upper stop, not at the lower one
// ([SI eq. 122] against [SI eq. 109]).
Test(impulse_axes, a_motor_runs_into_the_stop_of_its_sense) {
    for (int sense = -1; sense <= 1; sense += 2) {
        for (int slide = 0; slide < 2; slide++) {
            axis_case c = {.axis = rate_axis(sense * 2.0, 1000), .slide = slide};
            c.axis.limited = true, c.axis.lower = (mabd_real)-0.3, c.axis.upper = (mabd_real)0.5;
            mabd_model* model;
            mabd_sim* sim = axis_start(&c, impulse_def(0.01, 4, 1, 1), &model);
            for (int i = 0; i < 100; i++) rig_step(sim);
            const double x = joint_coordinate(sim, 0, slide ? MABD_AXIS_TX : MABD_AXIS_RX);
            cr_expect(lt(dbl, fabs(x - (sense > 0 ? 0.5 : -0.3)), 1e-12), "%d: %g", slide, x);
            rig_destroy(sim, model);
        }
    }
}

// ---- stops -------------------------------------------------------------------------------------

// [SI eq. 67, 107]: a limit acts once it is violated.
static double overshoot_literally(double x, double v, double limit, double h) {
    double most = 0;
    for (int i = 0; i < 200; i++) {
        if (x > limit && v > -0.2 / h * (x - limit)) v = -0.2 / h * (x - limit);
        x += h * v;
        most = fmax(most, x - limit);
    }
    return most;
}

// A base turned at random, an axis that moves freely at 1 m/s or rad/s to a stop, which may be
// beyond half a turn. Returns how far it passes it; *off gets how far from it it ends. A cube has
// its centre on the axis: no sweep over other rows disturbs it; a rod turns about its end.
static double run_into_stop(bool slide, bool upper, bool cube, double stop, uint64_t* state,
                            double* off) {
    mabd_scene* scene = rig_scene(0);
    const int32_t body = rig_add_rod(scene, cube ? (mabd_real)-0.05 : 0, cube ? (mabd_real)0.1 : 1,
                                     (mabd_real)0.1, 0);
    mabd_error error = {0};
    mabd_axis_def axis = {.limited = true};
    axis.lower = (mabd_real)(upper ? -100 : -stop), axis.upper = (mabd_real)(upper ? stop : 100);
    mabd_joint_def def = mabd_default_joint_def();
    def.type = slide ? MABD_JOINT_PRISMATIC : MABD_JOINT_HINGE;
    def.a = MABD_WORLD, def.b = body;
    const mabd_vec3 n = draw_direction(state);
    const mabd_real along[3] = {n.x, n.y, n.z};
    cr_assert(mabd_frame_from_axes(along, NULL, def.frame));
    def.axes[slide ? MABD_AXIS_TX : MABD_AXIS_RX] = &axis;
    rig_check(mabd_scene_add_joint(scene, &def, NULL, &error), &error, "joint");
    mabd_model* model = rig_model(scene);
    const mabd_sim_def how = cube ? impulse_def(0.01, 4, 1, 1) : impulse_def(0.01, 4, 50, 50);
    mabd_sim* sim = rig_sim(model, &how);
    const double sign = upper ? 1 : -1;
    double most = -1;
    mabd_real v[3], w[3];
    const mabd_vec3 u = mabd_v3_scale((mabd_real)sign, n);
    const mabd_vec3 arm = mabd_v3_cross(u, mabd_v3(cube ? 0 : (mabd_real)0.5, 0, 0));
    mabd_v3_store(slide ? u : arm, v), mabd_v3_store(slide ? mabd_v3(0, 0, 0) : u, w);
    rig_check(mabd_sim_set_state(sim, NULL, NULL, v, w, &error), &error, "state");
    const int axis_of = slide ? MABD_AXIS_TX : MABD_AXIS_RX;
    for (int i = 0; i < (int)(stop / 0.01) + 2; i++) {
        rig_step(sim);
        most = fmax(most, sign * joint_coordinate(sim, 0, axis_of) - stop);
    }
    *off = fabs(sign * joint_coordinate(sim, 0, axis_of) - stop);
    rig_destroy(sim, model);
    return most;
}

Test(impulse_axes, never_pass_a_stop) {
    uint64_t state = 11;
    for (int cube = 1; cube >= 0; cube--) {
        double most = -1, off = 0;
        for (int k = 0; k < 24; k++) {
            const bool slide = k % 2, upper = k % 4 < 2;
            const double stop = (slide ? 0.4 : k < 12 ? 0.7 : 5.0) + 0.037 * k;
            double end;
            most = fmax(most, run_into_stop(slide, upper, cube, stop, &state, &end));
            off = fmax(off, end);
        }
        printf("%s: overshoot %.1e, off %.1e; literally %.1e m\n", cube ? "cube" : "rod", most, off,
               overshoot_literally(0, 1, 0.405, 0.01));
        cr_expect(le(dbl, most, cube ? 1e-12 : 1e-6));
        cr_expect(le(dbl, off, cube ? 1e-12 : 1e-6));
    }
    cr_expect(lt(dbl, 4e-3, overshoot_literally(0, 1, 0.405, 0.01)));
}

// ---- angles ------------------------------------------------------------------------------------

// [SI eq. 101-105]: the angle from the quaternion q2 q1^-1 in world axes, its sine a square root.
static double angle_literally(mabd_quat q1, mabd_quat q2) {
    const mabd_quat d = mabd_q_product(q2, mabd_q_conjugate(q1));
    const double sine = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    return 2 * atan2(sine, d.w);
}

// The angle is that of the axes of the joint, with its sign, and goes on beyond half a turn.
Test(impulse_axes, angles_are_those_of_the_joint_with_their_sign) {
    for (int sign = -1; sign <= 1; sign += 2) {
        axis_case c = {.axis = rate_axis(sign * 2.0, 1e6)};
        mabd_model* model;
        mabd_sim* sim = axis_start(&c, impulse_def(0.01, 4, 1, 1), &model);
        mabd_real q[4], x = 0;
        for (int i = 1; i <= 250; i++) {
            rig_step(sim);
            x = (mabd_real)joint_coordinate(sim, 0, MABD_AXIS_RX);
            cr_assert(lt(dbl, fabs(x - sign * 0.02 * i), 1e-9), "%d: %g", i, (double)x);
            if (i != 20) continue;
            mabd_sim_get_state(sim, NULL, q, NULL, NULL);
            const double literal = angle_literally(mabd_q(1, 0, 0, 0), mabd_q_load(q));
            cr_expect(lt(dbl, fabs(literal - 0.4), 1e-9)); // 0.4 in both senses
        }
        cr_expect(lt(dbl, fabs(x - sign * 5.0), 1e-9));
        rig_destroy(sim, model);
    }
    // base turned by 90 degrees, start angle 30 degrees: q2 = B R(30) R(40), q1 = B; the angle
    // beyond the start is taken in world axes
    const double degree = 0.0174532925199433;
    const mabd_quat base = mabd_q_axis_angle(mabd_v3(1, 0, 0), (mabd_real)(90 * degree));
    const mabd_quat start = mabd_q_axis_angle(mabd_v3(0, 1, 0), (mabd_real)(30 * degree));
    const mabd_quat more = mabd_q_axis_angle(mabd_v3(0, 1, 0), (mabd_real)(40 * degree));
    const mabd_quat turned = mabd_q_product(base, mabd_q_product(start, more));
    const mabd_quat world = mabd_q_product(start, base); // start angle kept in world axes
    cr_expect(lt(dbl, 5 * degree, fabs(angle_literally(world, turned) - 40 * degree)));
}

// ---- forces of axes ----------------------------------------------------------------------------

// Dry friction brakes with F/m and then holds: the way is v0^2/(2 a) up to v0 h/2.
Test(impulse_axes, dry_friction_brakes_and_holds) {
    const axis_case c = {.axis = {.friction = 20}, .rate = 2, .slide = true};
    mabd_model* model;
    mabd_sim* sim = axis_start(&c, impulse_def(0.01, 4, 1, 1), &model);
    for (int i = 0; i < 200; i++) rig_step(sim);
    const double a = 20 / AXIS_MASS, way = 2 * 2 / (2 * a);
    const double x = joint_coordinate(sim, 0, MABD_AXIS_TX);
    cr_expect(lt(dbl, fabs(x - way), 2 * 0.01 / 2), "%g of %g", x, way);
    rig_step(sim);
    cr_expect(eq(dbl, joint_coordinate(sim, 0, MABD_AXIS_TX), x)); // it does not creep
    rig_destroy(sim, model);
}

// One substep of a spring, damper and armature by implicit Euler, in closed form:
// (m + I + h d + h^2 k) v1 = (m + I) v0 - h k (x0 - rest).
Test(impulse_axes, springs_dampers_and_armature_are_implicit_euler) {
    const double k = 3000, d = 40, armature = 3, rest = 0.1, h = 0.01, m = AXIS_MASS;
    axis_case c = {.axis = {.stiffness = (mabd_real)k, .damping = (mabd_real)d}, .slide = true};
    c.axis.armature = (mabd_real)armature, c.axis.rest = (mabd_real)rest, c.rate = 1;
    mabd_model* model;
    mabd_sim* sim = axis_start(&c, impulse_def(h, 1, 1, 1), &model);
    double x = 0, v = 1;
    for (int i = 0; i < 50; i++) {
        rig_step(sim);
        v = ((m + armature) * v - h * k * (x - rest)) / (m + armature + h * d + h * h * k);
        x += h * v;
        cr_assert(lt(dbl, fabs(rate_of(sim, true) - v), 1e-11), "%d", i);
        cr_assert(lt(dbl, fabs(joint_coordinate(sim, 0, MABD_AXIS_TX) - x), 1e-12), "%d", i);
    }
    rig_destroy(sim, model);
}

// Two blocks that tumble on a hinge with armature, and a stop that they never meet or none: with it
// the armature is in the row of the axis, without it in the block of the joint. The motion is the
// same one. Armature that resists the gyroscopic part of the motion takes the first of them 0.05
// rad away.
Test(impulse_axes, armature_is_the_same_with_a_stop_and_without) {
    const block_def first = {.sides = {0.3, 0.2, 0.1}, .place = {0, 0, -0.15}, .spin = {4, 3, -2}};
    const block_def second = {.sides = {0.1, 0.3, 0.2}, .place = {0, 0, 0.15}, .spin = {-1, 3, -2}};
    double angle[2];
    for (int stop = 0; stop < 2; stop++) {
        mabd_axis_def axis = {.armature = (mabd_real)0.3};
        if (stop) axis.limited = true, axis.lower = -1000, axis.upper = 1000;
        mabd_scene* scene = rig_scene(0);
        const int32_t a = block_add(scene, &first), b = block_add(scene, &second);
        joint_add_axis(scene, MABD_JOINT_HINGE, a, b, MABD_AXIS_RX, &axis);
        mabd_model* model = rig_model(scene);
        mabd_sim_def def = impulse_def(0.005, 1, 300, 300);
        def.impulse.correction = MABD_CORRECTION_NONE; // the two rows give way differently
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < 100; i++) rig_step(sim);
        angle[stop] = joint_coordinate(sim, 0, MABD_AXIS_RX);
        rig_destroy(sim, model);
    }
    printf("angle %.9f without a stop, %.9f with one\n", angle[0], angle[1]);
    cr_expect(lt(dbl, 0.1, fabs(angle[0])));
    cr_expect(lt(dbl, fabs(angle[1] - angle[0]), 1e-6));
}

// A servo with a limit pushes with it and no more: weight below the limit is held at the target.
Test(impulse_axes, a_limited_servo_holds_what_it_can) {
    for (int k = 0; k < 2; k++) {
        const double torque = 9.81 * AXIS_MASS * AXIS_LENGTH / 2;
        axis_case c = {.gravity = -9.81};
        c.axis.servo = mabd_signal_constant(0), c.axis.servo_rigid = true;
        c.axis.max_force = (mabd_real)((k ? 0.8 : 1.2) * torque);
        mabd_model* model;
        mabd_sim* sim = axis_start(&c, impulse_def(0.01, 4, 1, 1), &model);
        for (int i = 0; i < 30; i++) rig_step(sim);
        const double x = joint_coordinate(sim, 0, MABD_AXIS_RX);
        const double fall = 0.2 * torque / axis_inertia() * 0.3 * 0.3 / 2;
        cr_expect(k ? fabs(x - fall) < 0.1 * fall : fabs(x) < 1e-12, "%g, %g", x, fall);
        rig_destroy(sim, model);
    }
}

// The motor of scenes/slider.json pushes 2 kg with 4 N over 0.25 m to 1 m/s, and the stop takes
// that away: work of drives F x, of impacts m v^2/2.
Test(impulse_axes, the_books_tell_drives_and_stops) {
    mabd_model* model = rig_file_model("scenes/slider.json", NULL, NULL);
    const mabd_sim_def def = impulse_def(0.01, 4, 1, 1);
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 200; i++) rig_step(sim);
    const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
    cr_expect(lt(dbl, fabs(b.drives - 1), 0.02), "%g", (double)b.drives);
    cr_expect(lt(dbl, fabs(b.impacts - 1), 0.02), "%g", (double)b.impacts);
    rig_destroy(sim, model);
}

// An arm of seven servos and a walking linkage with a rigid servo follow the default sweeps without
// gaining energy.
Test(impulse_axes, servos_do_not_gain_energy) {
    static const char* const scenes[] = {"scenes/arm.json", "scenes/driven-four-bar.json"};
    for (int k = 0; k < 2; k++) {
        mabd_model* model = rig_file_model(scenes[k], NULL, NULL);
        const mabd_sim_def def = impulse_def(0.01, 4, 1, 1);
        mabd_sim* sim = rig_sim(model, &def);
        double gap = 0;
        for (int i = 0; i < 300; i++) gap = fmax(gap, rig_step(sim).gap);
        cr_expect(lt(dbl, gap, 3e-3), "%s: %g", scenes[k], gap);
        cr_expect(lt(dbl, mabd_sim_measure(sim).kinetic, 10), "%s", scenes[k]);
        rig_destroy(sim, model);
    }
}
