// SPDX-License-Identifier: Apache-2.0
// The locked axes of all fourteen joints are locked: 200 steps of 10 ms under gravity and constant
// forces and torques in general directions, at joints off the centres of mass, between two moving
// bodies and against the world.
//
//   locked coordinates and joint errors          1e-9 m, 1e-9 rad
//   Newton's law with the reported joint force   m (3 v - 4 v1 + v2)/2h = m g + F + joint force
//   no force along, no torque about free axes    on body b
//
// The poses that a user reads are rigid, the bodies are elastic. Values computed here from poses
// alone, without the library's own measures, contain the strain of a moment N = |torque| + |force|
// l of the joint and of the loads, times the lever l, from the centre to the
// farther anchor: bound 2 l N / (V mu), 1e-9 m for a moment of 10 Nm at Young's modulus 1e12 Pa.
// Multipliers belong to the axes of the last reference, forces are reported along those of the
// state: they differ by the remaining rotation, 1e-6 rad. So does Newton's law where body a
// rotates.

#include "support/joint_rig.h"
#include "support/reference.h"
#include "support/rig.h"

#define STEPS 200
#define H     0.01

static const double weight = 9.81;

typedef enum setup { WORLD_A, WORLD_B, PAIR, SETUPS } setup;
static const char* const setup_names[] = {"world to body", "body to world", "two bodies"};

static const block_def blocks[2] = {
    {.sides = {0.3, 0.2, 0.12}, .place = {0.2, -0.1, 0.15}, .young = 1e12},
    {.sides = {0.16, 0.24, 0.2}, .place = {-0.22, 0.12, -0.08}, .young = 1e12}};
static const double forces[2][3] = {{11, -7, 5}, {-6, 9, 14}};
static const double torques[2][3] = {{0.2, 0.3, -0.25}, {-0.3, 0.15, 0.2}};

typedef struct rig {
    mabd_model* model;
    mabd_sim* sim;
    int32_t a, b; // bodies, -1 = world
    int bodies;
} rig;

static rig make_rig(mabd_joint type, setup how) {
    mabd_scene* scene = rig_scene(-weight);
    const mabd_signal constant = {0};
    rig r = {.bodies = how == PAIR ? 2 : 1};
    for (int i = 0; i < r.bodies; i++) {
        const int32_t body = block_add(scene, &blocks[i]);
        block_push(scene, body, forces[i], torques[i], constant);
    }
    r.a = how == WORLD_A ? MABD_WORLD : 0;
    r.b = how == WORLD_A ? 0 : how == WORLD_B ? MABD_WORLD : 1;
    joint_add(scene, type, r.a, r.b, NULL);
    r.model = rig_model(scene);
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, H);
    def.affine.orbit = false; // the test computes accelerations by BDF2 from the velocities
    r.sim = rig_sim(r.model, &def);
    return r;
}

// ---- both sides of the joint from poses alone --------------------------------------------------

typedef struct side {
    double anchor[3], axes[3][3]; // world
} side;

// Return the joint frame and anchor that body i carries from the start pose on; the world's are
// fixed.
static side side_of(const rig* r, int32_t body) {
    side s;
    mabd_real position[6], rotation[8];
    mabd_geom geom;
    mabd_sim_get_state(r->sim, position, rotation, NULL, NULL);
    for (int k = 0; k < 3; k++) {
        const double unit[3] = {k == 0, k == 1, k == 2};
        joint_to_world(unit, s.axes[k]);
        s.anchor[k] = joint_anchor[k];
    }
    if (body < 0) return s;
    const mabd_body_def start = block_body(&blocks[body], &geom);
    double arm[3], local[3];
    for (int k = 0; k < 3; k++) {
        reference_unrotate(start.rotation, s.axes[k], local);
        reference_rotate(rotation + 4 * body, local, s.axes[k]);
        arm[k] = s.anchor[k] - start.position[k];
    }
    reference_unrotate(start.rotation, arm, local);
    reference_rotate(rotation + 4 * body, local, s.anchor);
    for (int k = 0; k < 3; k++) s.anchor[k] += position[3 * body + k];
    return s;
}

static double dot(const double* a, const double* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Return how far the locked axes have moved: translations in the frame of a, rotations as cosines
// of axes that are orthogonal (or parallel) in every admissible state of the joint.
static double opening(mabd_joint type, const side* a, const side* b) {
    const double gap[3] = {b->anchor[0] - a->anchor[0], b->anchor[1] - a->anchor[1],
                           b->anchor[2] - a->anchor[2]};
    double worst = 0;
    int free_turns = 0, turn = -1;
    for (int k = 0; k < 3; k++) {
        if (!joint_is_free(type, k)) worst = fmax(worst, fabs(dot(gap, a->axes[k])));
        if (joint_is_free(type, 3 + k)) free_turns++, turn = k;
    }
    for (int k = 0; k < 3; k++) {
        if (free_turns == 0) { // equal frames
            const int j = (k + 1) % 3;
            worst = fmax(worst, fabs(dot(a->axes[k], b->axes[j])));
        } else if (free_turns == 1 && k != turn) { // the axis is fixed
            worst = fmax(worst, fabs(dot(a->axes[k], b->axes[turn])));
        }
    }
    if (type == MABD_JOINT_UNIVERSAL) worst = fmax(worst, fabs(dot(a->axes[0], b->axes[1])));
    return worst;
}

// Return the joint error that strain may cause between the poses, by the formula at the top of this
// file.
static double elastic_opening(const rig* r, const side* a, const side* b, const double* wrench) {
    double bound = 0;
    for (int i = 0; i < r->bodies; i++) {
        const double lever = rig_norm(blocks[i].place) + rig_distance(a->anchor, b->anchor);
        const double loads = rig_norm(torques[i]) + rig_norm(forces[i]) * lever;
        const double moment = rig_norm(wrench + 3) + rig_norm(wrench) * lever + loads;
        bound += 2 * lever * moment / (block_mass(&blocks[i]) / 1000 * 1e12 / 2.6);
    }
    return bound;
}

// Return the largest part of the wrench on b that would do work on a free motion.
static double working_push(mabd_joint type, const side* a, const side* b, const double* wrench) {
    double worst = 0;
    for (int k = 0; k < 3; k++) {
        const double* axis = type == MABD_JOINT_UNIVERSAL && k == 1 ? b->axes[1] : a->axes[k];
        if (joint_is_free(type, k)) worst = fmax(worst, fabs(dot(wrench, a->axes[k])));
        if (joint_is_free(type, 3 + k)) worst = fmax(worst, fabs(dot(wrench + 3, axis)));
    }
    return worst;
}

// ---- Newton's law ------------------------------------------------------------------------------

// Compute the velocity of the centre of mass of body i.
static void center_velocity(const mabd_sim* sim, int i, double* v) {
    mabd_real rotation[8], velocity[6], angular[6];
    double arm[3];
    mabd_sim_get_state(sim, NULL, rotation, velocity, angular);
    reference_rotate(rotation + 4 * i, block_center, arm);
    for (int k = 0; k < 3; k++) {
        const int m = (k + 1) % 3, n = (k + 2) % 3;
        v[k] = velocity[3 * i + k] + angular[3 * i + m] * arm[n] - angular[3 * i + n] * arm[m];
    }
}

// Return |m a - m g - F - joint force| over the largest of them; v, v1, v2: current and previous
// velocities.
static double newton_error(const rig* r, int i, const double* wrench, const double* v,
                           const double* v1, const double* v2) {
    const double mass = block_mass(&blocks[i]), sign = i == r->b ? 1 : -1;
    double force[3], rest[3];
    joint_to_world(forces[i], force);
    for (int k = 0; k < 3; k++) {
        const double acceleration = (3 * v[k] - 4 * v1[k] + v2[k]) / (2 * H);
        rest[k] = mass * acceleration - force[k] - sign * wrench[k] + (k == 2) * mass * weight;
    }
    return rig_norm(rest) / (mass * weight + rig_norm(force) + rig_norm(wrench));
}

// ---- the tests ---------------------------------------------------------------------------------

typedef struct worst {
    double open, coordinates, push, newton, wrench;
    double poses; // relative to its bound
} worst;

static worst load(mabd_joint type, setup how) {
    rig r = make_rig(type, how);
    worst w = {0};
    double v[3][2][3] = {{{0}}};
    for (int n = 1; n <= STEPS; n++) {
        mabd_real wrench[6], x[MABD_AXIS_COUNT];
        joint_run(r.sim, 1);
        mabd_sim_get_joint_forces(r.sim, wrench);
        mabd_sim_get_joint_coordinates(r.sim, 0, x);
        const mabd_measure now = mabd_sim_measure(r.sim);
        w.open = fmax(w.open, fmax(now.gap, now.angle_error));
        for (int k = 0; k < MABD_AXIS_COUNT; k++) {
            if (!joint_is_free(type, k)) w.coordinates = fmax(w.coordinates, fabs(x[k]));
        }
        const side a = side_of(&r, r.a), b = side_of(&r, r.b);
        const double bound = 1e-12 + elastic_opening(&r, &a, &b, wrench);
        w.poses = fmax(w.poses, opening(type, &a, &b) / bound);
        w.push = fmax(w.push, working_push(type, &a, &b, wrench));
        w.wrench = fmax(w.wrench, rig_norm(wrench) + rig_norm(wrench + 3));
        for (int i = 0; i < r.bodies; i++) {
            center_velocity(r.sim, i, v[n % 3][i]);
            if (n < 3) continue;
            w.newton = fmax(w.newton, newton_error(&r, i, wrench, v[n % 3][i], v[(n + 2) % 3][i],
                                                   v[(n + 1) % 3][i]));
        }
    }
    rig_destroy(r.sim, r.model);
    return w;
}

static void check(mabd_joint type, setup how) {
    const char* name = mabd_joint_name(type);
    const worst w = load(type, how);
    printf("%-12s %-14s open %.1e  poses %.2f of bound  push %.1e of %.0f  Newton %.1e\n", name,
           setup_names[how], w.open, w.poses, w.push, w.wrench, w.newton);
    cr_expect(w.open < 1e-9, "%s, %s: open by %g", name, setup_names[how], w.open);
    cr_expect(w.coordinates < 1e-9, "%s, %s: moved by %g", name, setup_names[how], w.coordinates);
    cr_expect(w.poses < 1, "%s, %s: poses apart by %g of the bound", name, setup_names[how],
              w.poses);
    cr_expect(w.push <= 1e-6 * w.wrench, "%s, %s: pushes by %g", name, setup_names[how], w.push);
    cr_expect(w.newton < 1e-6, "%s, %s: Newton's law %g", name, setup_names[how], w.newton);
}

Test(joints_locked, hold_a_body_against_the_world) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) check((mabd_joint)type, WORLD_A);
}

Test(joints_locked, hold_the_world_as_their_second_body) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) check((mabd_joint)type, WORLD_B);
}

Test(joints_locked, hold_two_moving_bodies_together) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) check((mabd_joint)type, PAIR);
}

// The default material and preset close joints as tightly.
Test(joints_locked, hold_bodies_of_the_default_material_with_the_default_preset) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        mabd_scene* scene = rig_scene(-weight);
        const mabd_signal constant = {0};
        for (int i = 0; i < 2; i++) {
            block_def def = blocks[i];
            def.young = 0;
            block_push(scene, block_add(scene, &def), forces[i], torques[i], constant);
        }
        joint_add(scene, (mabd_joint)type, 0, 1, NULL);
        mabd_model* model = rig_model(scene);
        const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, H);
        mabd_sim* sim = rig_sim(model, &def);
        double open = 0;
        for (int n = 0; n < STEPS; n++) {
            joint_run(sim, 1);
            const mabd_measure now = mabd_sim_measure(sim);
            open = fmax(open, fmax(now.gap, now.angle_error));
        }
        cr_expect(open < 1e-9, "%s: %g", mabd_joint_name((mabd_joint)type), open);
        rig_destroy(sim, model);
    }
}

Test(joints_locked, have_six_rows_less_their_free_axes) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        rig r = make_rig((mabd_joint)type, PAIR);
        int32_t compliant = -1, expected = 0;
        for (int k = 0; k < 6; k++) expected += !joint_is_free((mabd_joint)type, k);
        const int32_t rows = mabd_model_joint_rows(r.model, 0, &compliant);
        cr_expect(eq(i32, rows, expected), "%s", mabd_joint_name((mabd_joint)type));
        cr_expect(eq(i32, compliant, 0), "%s", mabd_joint_name((mabd_joint)type));
        rig_destroy(r.sim, r.model);
    }
}

// A clamped body at rest: the wall carries its weight and all loads, and their moments about the
// anchor.
//   force = -(m g + F),  torque = -T - r x (m g + F),  r from the anchor to the centre
Test(joints_locked, a_clamp_carries_force_and_moment) {
    rig r = make_rig(MABD_JOINT_FIXED, WORLD_A);
    mabd_real wrench[6];
    double load_force[3], load_torque[3], arm[3];
    joint_run(r.sim, 20);
    mabd_sim_get_joint_forces(r.sim, wrench);
    joint_to_world(forces[0], load_force);
    joint_to_world(torques[0], load_torque);
    joint_to_world(blocks[0].place, arm);
    load_force[2] -= block_mass(&blocks[0]) * weight;
    for (int k = 0; k < 3; k++) {
        const int m = (k + 1) % 3, n = (k + 2) % 3;
        const double moment = arm[m] * load_force[n] - arm[n] * load_force[m];
        cr_expect(fabs(wrench[k] + load_force[k]) < 1e-7, "force %c: %.12g for %.12g", "xyz"[k],
                  wrench[k], -load_force[k]);
        cr_expect(fabs(wrench[3 + k] + load_torque[k] + moment) < 1e-7,
                  "torque %c: %.12g for %.12g", "xyz"[k], wrench[3 + k], -load_torque[k] - moment);
    }
    rig_destroy(r.sim, r.model);
}
