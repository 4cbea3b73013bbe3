// SPDX-License-Identifier: Apache-2.0
// The free axes of all fourteen joints are free: a constant force moves them by Newton's law.
//
//   along a free axis, force F through the centre     x = F t^2 / 2 m
//   about a free axis through the centre, torque T    angle = T t^2 / 2 I
//   between two moving bodies, by a motor             1/m = 1/m_a + 1/m_b, 1/I = 1/I_a + 1/I_b
//
// BDF2 and the SDIRK2 step at its start are exact for a parabola: along a line the result is known
// to round-off, and about an axis, where the step takes BDF2 on the angle, to 1e-7: the strain of
// the bodies.
//
// Two moving bodies are elastic: a motor that acts at a distance d from the centre of body a
// stretches it, and its axes, by F d / V E, which adds that fraction of x. Young's modulus is 1e12
// Pa there, the tolerance this stretch.
//
// Locked coordinates must not move, and the joint must not exert forces along or torques about free
// axes.

#include "support/joint_rig.h"
#include "support/rig.h"

#define STEPS 100 // one second
#define H     0.01

static const block_def block = {.sides = {0.3, 0.2, 0.12}, .place = {0.2, -0.1, 0.15}};

typedef struct moved {
    double x;      // coordinate of the moving axis
    double others; // largest other coordinate
} moved;

static moved measure(const mabd_sim* sim, int axis, bool bare) {
    double x[MABD_AXIS_COUNT];
    joint_coordinates(sim, 0, bare, x);
    moved m = {x[axis], 0};
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        if (k != axis) m.others = fmax(m.others, fabs(x[k]));
    }
    return m;
}

// Return the largest force (torque) of a joint along (about) the free axes of its frame. Frames
// have moved along and about the axis `moving` only; joint forces are in world axes.
static double free_push(const mabd_sim* sim, mabd_joint type, int moving) {
    mabd_real wrench[6];
    double worst = 0;
    mabd_sim_get_joint_forces(sim, wrench);
    for (int k = 0; k < 6; k++) {
        if (!joint_is_free(type, k)) continue;
        if (moving >= 3 && k % 3 != moving % 3 && type != MABD_JOINT_BALL) continue;
        worst = fmax(worst, fabs(joint_component(wrench + 3 * (k / 3), k % 3)));
    }
    return worst;
}

// ---- one body and the world --------------------------------------------------------------------

static void slide_against_world(mabd_joint type, int axis, bool reversed) {
    mabd_scene* scene = rig_scene(0);
    double force[3] = {0, 0, 0};
    force[axis] = 30;
    const int32_t body = block_add(scene, &block);
    joint_add(scene, type, reversed ? body : MABD_WORLD, reversed ? MABD_WORLD : body, NULL);
    const mabd_signal constant = {0};
    block_push(scene, body, force, NULL, constant);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, H);
    mabd_sim* sim = rig_sim(model, &def);
    joint_run(sim, STEPS);

    const double expected = (reversed ? -1 : 1) * 30 / block_mass(&block) / 2;
    const moved found = measure(sim, axis, true);
    cr_expect(fabs(found.x - expected) < 1e-11 * fabs(expected), "%s along %c%s: %.15g for %.15g",
              mabd_joint_name(type), "xyz"[axis], reversed ? " reversed" : "", found.x, expected);
    cr_expect(found.others < 1e-11, "%s along %c: others %g", mabd_joint_name(type), "xyz"[axis],
              found.others);
    cr_expect(free_push(sim, type, axis) < 1e-10, "%s along %c: joint pushes %g",
              mabd_joint_name(type), "xyz"[axis], free_push(sim, type, axis));
    rig_destroy(sim, model);
}

Test(joints_free, a_push_along_a_free_axis_moves_a_body_as_newton_says) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int axis = 0; axis < 3; axis++) {
            if (!joint_is_free((mabd_joint)type, axis)) continue;
            slide_against_world((mabd_joint)type, axis, false);
            slide_against_world((mabd_joint)type, axis, true);
        }
    }
}

// Return the error of the angle after a second, and check all other coordinates.
static double turn_against_world(mabd_joint type, int axis, bool reversed, double h) {
    mabd_scene* scene = rig_scene(0);
    block_def def = {.sides = {0.3, 0.2, 0.12}, .young = 1e12};
    double torque[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        // the axis passes through the centre
        def.place[k] = k == axis % 3 ? 0.15 : 0;
    torque[axis % 3] = 2 * 1.2 * block_inertia(&def, axis % 3); // 1.2 rad in a second
    const int32_t body = block_add(scene, &def);
    joint_add(scene, type, reversed ? body : MABD_WORLD, reversed ? MABD_WORLD : body, NULL);
    const mabd_signal constant = {0};
    block_push(scene, body, NULL, torque, constant);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def sim_def = rig_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &sim_def);
    joint_run(sim, (int)lround(1 / h));

    const moved found = measure(sim, axis, true);
    cr_expect(found.others < 1e-9, "%s about %c: others %g", mabd_joint_name(type), "xyz"[axis % 3],
              found.others);
    cr_expect(free_push(sim, type, axis) < 1e-9, "%s about %c: joint pushes %g",
              mabd_joint_name(type), "xyz"[axis % 3], free_push(sim, type, axis));
    rig_destroy(sim, model);
    return fabs(found.x - (reversed ? -1.2 : 1.2));
}

Test(joints_free, a_torque_about_a_free_axis_turns_a_body_as_euler_says) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int axis = 3; axis < 6; axis++) {
            if (!joint_is_free((mabd_joint)type, axis)) continue;
            for (int reversed = 0; reversed < 2; reversed++) {
                char what[64];
                double errors[3];
                for (int k = 0; k < 3; k++) {
                    errors[k] =
                        turn_against_world((mabd_joint)type, axis, reversed, ldexp(H, -1 - k));
                }
                snprintf(what, sizeof what, "%s about %c%s", mabd_joint_name((mabd_joint)type),
                         "xyz"[axis - 3], reversed ? ", reversed" : "");
                for (int k = 0; k < 3; k++) {
                    cr_expect(errors[k] < 1e-7, "%s: error %g", what, errors[k]);
                }
            }
        }
    }
}

// ---- two moving bodies -------------------------------------------------------------------------

typedef struct pair_result {
    double x, others, momentum;
} pair_result;

// Two blocks on the axis `axis` of the joint, pushed apart by its motor.
static pair_result push_pair(mabd_joint type, int axis, double size, double h, block_def* a,
                             block_def* b) {
    mabd_scene* scene = rig_scene(0);
    for (int k = 0; k < 3; k++) {
        a->place[k] = k == axis % 3 ? -0.25 : 0;
        b->place[k] = k == axis % 3 ? 0.3 : 0;
    }
    const int32_t first = block_add(scene, a), second = block_add(scene, b);
    const mabd_axis_def motor = {.motor = mabd_signal_constant(size)};
    joint_add_axis(scene, type, first, second, (mabd_axis)axis, &motor);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &def);
    joint_run(sim, (int)lround(1 / h));
    const mabd_measure end = mabd_sim_measure(sim);
    const moved found = measure(sim, axis, false);
    const pair_result result = {
        found.x, found.others,
        fmax(rig_norm(end.linear_momentum), rig_norm(end.angular_momentum)) / size};
    rig_destroy(sim, model);
    return result;
}

Test(joints_free, a_motor_pushes_two_bodies_apart_as_newton_says) {
    block_def a = {.sides = {0.3, 0.2, 0.12}, .young = 1e12},
              b = {.sides = {0.1, 0.25, 0.16}, .young = 1e12};
    const double rate = 1 / block_mass(&a) + 1 / block_mass(&b);
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int axis = 0; axis < 3; axis++) {
            if (!joint_is_free((mabd_joint)type, axis)) continue;
            const char* name = mabd_joint_name((mabd_joint)type);
            const pair_result r = push_pair((mabd_joint)type, axis, 5, H, &a, &b);
            const double expected = 5 * rate / 2;
            const double stretch = 5 * (0.25 + expected) / (block_mass(&a) / 1000 * 1e12);
            cr_expect(fabs(r.x - expected) < stretch * expected, "%s along %c: %.15g for %.15g",
                      name, "xyz"[axis], r.x, expected);
            cr_expect(r.others < 1e-9, "%s along %c: others %g", name, "xyz"[axis], r.others);
            cr_expect(r.momentum < 1e-10, "%s along %c: momentum %g", name, "xyz"[axis],
                      r.momentum);
        }
    }
}

Test(joints_free, a_motor_turns_two_bodies_against_each_other_as_euler_says) {
    block_def a = {.sides = {0.3, 0.2, 0.12}, .young = 1e12},
              b = {.sides = {0.1, 0.25, 0.16}, .young = 1e12};
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int axis = 3; axis < 6; axis++) {
            if (!joint_is_free((mabd_joint)type, axis)) continue;
            const double rate = 1 / block_inertia(&a, axis - 3) + 1 / block_inertia(&b, axis - 3);
            char what[64];
            double errors[3], momenta[3];
            snprintf(what, sizeof what, "%s about %c", mabd_joint_name((mabd_joint)type),
                     "xyz"[axis - 3]);
            for (int k = 0; k < 3; k++) {
                const pair_result r =
                    push_pair((mabd_joint)type, axis, 2 * 1.2 / rate, ldexp(H, -1 - k), &a, &b);
                errors[k] = fabs(r.x - 1.2);
                cr_expect(r.others < 1e-9, "%s: others %g", what, r.others);
                momenta[k] = r.momentum;
            }
            for (int k = 0; k < 3; k++) {
                cr_expect(errors[k] < 1e-7, "%s: error %g", what, errors[k]);
                cr_expect(momenta[k] < 1e-7, "%s: momentum %g", what, momenta[k]);
            }
        }
    }
}
