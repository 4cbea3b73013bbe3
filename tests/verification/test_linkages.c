// SPDX-License-Identifier: Apache-2.0
// Closed mechanisms: the double four-bar of [VI fig. 12], rings in free fall, beams clamped at both
// ends.
//
// Double four-bar: N + 1 equal uprights of mass m, length l on ground pivots, N level bars between
// their upper ends. The bars stay parallel, so it has one freedom, the angle p of the uprights from
// the vertical:
//
//   l (m (N + 1)/3 + m N) p'' = g (m (N + 1)/2 + m N) sin p
//
// When the bars are in line (p = +-90 degrees) the constraints do not determine the further motion:
// it could change to the other branch, the crossed bars. It passes this pose several times; the
// motion must be the one above. Near it a strain e allows the bars to separate by sqrt(e): Young's
// modulus is 1e14 Pa where the motion is compared, that of steel in the shipped scene.

#include "support/joint_rig.h"
#include "support/reference.h"
#include "support/rig.h"

#include <string.h>

static const double pi = 3.14159265358979323846, gravity = 9.81;

// ---- double four-bar ---------------------------------------------------------------------------

static mabd_model* linkage_model(int loops, double young) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(-gravity);
    mabd_double_four_bar_def def = mabd_default_double_four_bar_def();
    def.loops = loops;
    def.young = young;
    rig_check(mabd_generate_double_four_bar(scene, &def, &error), &error, "double four-bar");
    return rig_model(scene);
}

static double coefficient(int loops) { // p'' = k sin p, l = 1 m
    return gravity * ((loops + 1) / 2.0 + loops) / ((loops + 1) / 3.0 + loops);
}

static void linkage_rate(const void* context, const double* y, double* dy) {
    const int loops = *(const int*)context;
    dy[0] = y[1];
    dy[1] = coefficient(loops) * sin(y[0]);
}

// Return the angle of a bar from its reference line: uprights from the vertical (start pose: x axis
// up), level bars from x.
static double bar_angle(const mabd_real* q) {
    const double x[3] = {1, 0, 0};
    double line[3];
    reference_rotate(q, x, line);
    cr_assert(fabs(line[1]) < 1e-9, "out of the plane by %g", line[1]);
    return atan2(line[2], line[0]);
}

typedef struct linkage_run {
    double angle;    // largest error of an angle [rad]
    double parallel; // largest angle between bars that should be parallel [rad]
    double energy;   // largest relative change
    int passes;      // number of passages with all bars in line
} linkage_run;

static linkage_run run_linkage(const mabd_model* model, int loops, double duration, double h) {
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    linkage_run r = {0};
    double y[2] = {0, 1}; // 1 m/s at 1 m
    mabd_real q[4 * 32];
    for (int n = 1; n <= (int)lround(duration / h); n++) {
        const double side = cos(y[0]);
        joint_run(sim, 1);
        reference_rk4(linkage_rate, &loops, 2, h / 4, 4, y);
        r.passes += side * cos(y[0]) < 0;
        mabd_sim_get_state(sim, NULL, q, NULL, NULL);
        for (int i = 0; i < 2 * loops + 1; i++) {
            const double own = i <= loops ? pi / 2 - y[0] : 0; // uprights first
            const double miss = remainder(bar_angle(q + 4 * i) - own, 2 * pi);
            if (i <= loops) {
                r.angle = fmax(r.angle, fabs(miss));
                const double first = remainder(bar_angle(q + 4 * i) - bar_angle(q), 2 * pi);
                r.parallel = fmax(r.parallel, fabs(first));
            } else {
                r.parallel = fmax(r.parallel, fabs(miss));
            }
        }
        const mabd_measure now = mabd_sim_measure(sim);
        const double scale = start.kinetic + 2 * gravity * ((loops + 1) / 2.0 + loops);
        r.energy = fmax(r.energy, fabs(now.energy - start.energy) / scale);
    }
    mabd_sim_destroy(sim);
    return r;
}

static void check_linkage(int loops) {
    mabd_model* model = linkage_model(loops, 1e14);
    double angle[4], energy[4];
    for (int k = 0; k < 4; k++) {
        const linkage_run r = run_linkage(model, loops, 2, ldexp(0.005, -k));
        angle[k] = r.angle;
        energy[k] = r.energy;
        printf("%d loops: %d singular positions, bars parallel to %.1e rad\n", loops, r.passes,
               r.parallel);
        cr_expect(r.passes >= 2, "%d", r.passes);
        cr_expect(r.parallel < 3e-5, // sqrt(100 N / (width^2 E))
                  "%d loops: %g rad apart", loops, r.parallel);
    }
    double order = rig_order("angle", 0.005, 4, angle);
    cr_expect(order >= 1.8, "%d loops: order %g of the angle", loops, order);
    cr_expect(angle[3] < 2e-3, "%g", angle[3]);
    order = rig_order("energy", 0.005, 4, energy);
    cr_expect(order >= 1.8, "%d loops: order %g of the energy", loops, order);
    mabd_model_destroy(model);
}

Test(linkages, a_double_four_bar_passes_its_singular_positions) {
    check_linkage(2);
}

Test(linkages, a_row_of_four_bars_passes_its_singular_positions) {
    check_linkage(8);
}

// The shipped scene, 10 s at 10 ms: many singular positions, joints always closed, no energy
// gained, and bars never crossed.
Test(linkages, the_shipped_double_four_bar_stays_closed_and_uncrossed) {
    mabd_model* model = rig_file_model("scenes/double-four-bar.json", NULL, NULL);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    double gap = 0, angle = 0, gain = 0, apart = 0;
    for (int n = 0; n < 1000; n++) {
        mabd_real q[4 * 5];
        rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        mabd_sim_get_state(sim, NULL, q, NULL, NULL);
        for (int i = 1; i < 3; i++) {
            apart = fmax(apart, fabs(remainder(bar_angle(q + 4 * i) - bar_angle(q), 2 * pi)));
        }
        gap = fmax(gap, now.gap), angle = fmax(angle, now.angle_error);
        gain = fmax(gain, now.energy - start.energy);
    }
    printf("double four-bar: gap %.1e m, %.1e rad, uprights apart by %.1e rad, gain %.1e J\n", gap,
           angle, apart, gain);
    cr_expect(gap < 1e-9 && angle < 1e-9, "%g m, %g rad", gap, angle);
    cr_expect(apart < 3e-4, "%g rad", apart);
    cr_expect(gain < 1e-3 * 7 * gravity, "%g J", gain);
    rig_destroy(sim, model);
}

// ---- rings -------------------------------------------------------------------------------------

// A falling, spinning ring: p = m (v - g t) to round-off, and L about its centre of mass is
// constant to second order.
static void ring_momenta(const mabd_sim* sim, double* p, double* L) {
    const mabd_model* model = mabd_sim_model(sim);
    const mabd_measure now = mabd_sim_measure(sim);
    mabd_real position[3 * 32], center[3] = {0, 0, 0};
    double mass = 0;
    mabd_sim_get_state(sim, position, NULL, NULL, NULL); // the origin of a link is its centre
    for (int i = 0; i < mabd_model_body_count(model); i++) {
        const double m = mabd_model_body_mass(model, i).mass;
        for (int k = 0; k < 3; k++) center[k] += m * position[3 * i + k];
        mass += m;
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        p[k] = now.linear_momentum[k];
        L[k] = now.angular_momentum[k] -
               (center[i] * now.linear_momentum[j] - center[j] * now.linear_momentum[i]) / mass;
    }
}

static void check_ring(mabd_joint joint) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(-gravity);
    mabd_ring_def def = mabd_default_ring_def();
    def.links = 12;
    def.joint = joint;
    def.pinned = false;
    def.spin = 4;
    def.material.young = 1e12; // the hoop tension starts suddenly; its energy is not a loss of BDF2
    def.position[0] = 0.3;
    rig_check(mabd_generate_ring(scene, &def, &error), &error, "ring");
    mabd_model* model = rig_model(scene);
    double mass = 0, loss[3];
    for (int i = 0; i < 12; i++) mass += mabd_model_body_mass(model, i).mass;
    for (int k = 0; k < 3; k++) {
        const double h = ldexp(0.005, -k);
        const mabd_sim_def sim_def = rig_def(MABD_PRESET_EXACT, h);
        mabd_sim* sim = rig_sim(model, &sim_def);
        double p[3], L[3], start[3], unused[3];
        ring_momenta(sim, unused, start);
        joint_run(sim, (int)lround(1 / h));
        ring_momenta(sim, p, L);
        const double fall[3] = {0, 0, -mass * gravity};
        cr_expect(rig_distance(p, fall) < 1e-10 * mass * gravity, "%s: momentum off by %g",
                  mabd_joint_name(joint), rig_distance(p, fall));
        loss[k] = rig_distance(L, start) / rig_norm(start);
        mabd_sim_destroy(sim);
    }
    const double order = rig_order(mabd_joint_name(joint), 0.005, 3, loss);
    cr_expect(order >= 1.8, "%s: order %g", mabd_joint_name(joint), order);
    cr_expect(loss[2] < 1e-3, "%s: %g", mabd_joint_name(joint), loss[2]);
    mabd_model_destroy(model);
}

Test(linkages, a_falling_ring_of_ball_joints_keeps_its_momenta) {
    check_ring(MABD_JOINT_BALL);
}

Test(linkages, a_falling_ring_of_hinges_keeps_its_momenta) {
    check_ring(MABD_JOINT_HINGE);
}

// ---- beams clamped at both ends ----------------------------------------------------------------

// Rods in a row, every joint a weld: 6 redundant rows in all. At rest the walls carry the weight
// and its moment about the left anchor: left + right = W,  M_left + M_right - L right + W L/2 = 0
// (on the beam; about y). The stiffness determines how they share it.
Test(linkages, a_beam_clamped_at_both_ends_is_closed_and_carried_by_both_walls) {
    const int rods[] = {1, 2, 5, 20};
    for (int c = 0; c < 4; c++) {
        const int n = rods[c];
        const double length = 0.2, width = 0.05,
                     weight = n * 1000 * length * width * width * gravity;
        mabd_scene* scene = rig_scene(-gravity);
        mabd_real wrench[6 * 21];
        for (int i = 0; i < n; i++) {
            const int32_t body = rig_add_rod(scene, i * length, length, width, 1e9);
            rig_add_joint(scene, MABD_JOINT_FIXED, i == 0 ? MABD_WORLD : body - 1, body, i * length,
                          0);
        }
        rig_add_joint(scene, MABD_JOINT_FIXED, n - 1, MABD_WORLD, n * length, 0);
        mabd_model* model = rig_model(scene);
        const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
        mabd_sim* sim = rig_sim(model, &def);
        joint_run(sim, 200);
        const mabd_measure now = mabd_sim_measure(sim);
        mabd_sim_get_joint_forces(sim, wrench);
        const mabd_real *left = wrench,
                        *right = wrench + 6 * n; // the force of the right one is that on the world
        const double sum = left[2] - right[2] - weight, span = n * length;
        const double moment = left[4] - right[4] + span * right[2] + weight * span / 2;
        printf("beam of %d rods: gap %.1e m, %.1e rad, walls %.4f and %.4f of %.4f N\n", n, now.gap,
               now.angle_error, left[2], -right[2], weight);
        cr_expect(now.gap < 1e-9 && now.angle_error < 1e-9, "%d rods: %g m", n, now.gap);
        cr_expect(fabs(sum) < 1e-6 * weight, "%d rods: forces off by %g N", n, sum);
        cr_expect(fabs(moment) < 1e-6 * weight * span, "%d rods: moments off by %g N m", n, moment);
        rig_destroy(sim, model);
    }
}

// ---- redundant bearings ------------------------------------------------------------------------

// A door of 0.8 x 0.04 x 2 m on hinges at x = 0, spread over its height, pushed at its centre
// normal to its plane: it rotates by I p'' = F c, and the hinges together carry weight, push and
// centripetal force.
static void check_door(int hinges, double young) {
    const mabd_real size[3] = {0.8, 0.04, 2}, axis[3] = {0, 0, 1};
    const double mass = 500 * 0.8 * 0.04 * 2, c = 0.4, push = 6;
    const double inertia = mass * (0.8 * 0.8 + 0.04 * 0.04) / 12 + mass * c * c;
    mabd_error error = {0};
    double angle[3], force[3];
    for (int k = 0; k < 3; k++) {
        const double h = ldexp(0.005, -k);
        mabd_scene* scene = rig_scene(-gravity);
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 500);
        mabd_body_def body = mabd_default_body_def();
        body.geom_count = 1;
        body.geoms = &geom;
        body.young = young;
        body.position[0] = c;
        mabd_joint_def joint = mabd_default_joint_def();
        joint.type = MABD_JOINT_HINGE;
        joint.b = rig_add_body(scene, &body);
        cr_assert(mabd_frame_from_axes(axis, NULL, joint.frame));
        for (int i = 0; i < hinges; i++) {
            joint.anchor[2] = -0.8 + 1.6 * i / (hinges - 1);
            rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "hinge");
        }
        const mabd_force_def across = {.body = joint.b, .force = {0, push, 0}, .body_frame = true};
        rig_check(mabd_scene_add_force(scene, &across, &error), &error, "push");
        mabd_model* model = rig_model(scene);
        const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_real q[4], wrench[6 * 4];
        joint_run(sim, (int)lround(1 / h));
        mabd_sim_get_state(sim, NULL, q, NULL, NULL);
        mabd_sim_get_joint_forces(sim, wrench);
        const double p = push * c / inertia / 2, rate = 2 * p, speed = rate;
        const double tangential = mass * c * rate - push, radial = -mass * c * speed * speed;
        const double expected[3] = {radial * cos(p) - tangential * sin(p),
                                    radial * sin(p) + tangential * cos(p), mass * gravity};
        double sum[3] = {0, 0, 0};
        for (int i = 0; i < 6 * hinges; i++) {
            cr_expect(fabs(wrench[i]) < 2 * mass * gravity, "%d hinges: a force of %g", hinges,
                      wrench[i]);
            if (i % 6 < 3) sum[i % 6] += wrench[i];
        }
        angle[k] = fabs(2 * atan2(q[3], q[0]) - p);
        force[k] = rig_distance(sum, expected);
        rig_destroy(sim, model);
    }
    // second order, and the strain of the door, whose momentum the step leaves out: 1e-8
    for (int k = 0; k < 3; k++) angle[k] = fmax(0, angle[k] - 1e-8);
    const double factor = rig_square_bound("door", 0.005, 3, angle);
    cr_expect(factor < 0.0125, "%d hinges: %g rad/s^2", hinges, factor);
    const double order = rig_order("its hinges", 0.005, 3, force);
    cr_expect(order >= 1.8, "%d hinges: order %g of the force", hinges, order);
    cr_expect(force[2] < 1e-3, "%d hinges: %g N", hinges, force[2]);
}

Test(linkages, a_door_on_two_hinges_swings_as_on_one) {
    check_door(2, 1e12);
}

Test(linkages, a_door_on_three_and_four_hinges_swings_as_on_one) {
    check_door(3, 1e12);
    check_door(4, 1e12);
}

// Two boxes on one shaft in three bearings, with the ground on either side of a joint: closed under
// load.
Test(linkages, a_shaft_in_three_bearings_is_closed) {
    for (int c = 0; c < 4; c++) {
        const mabd_joint types[] = {MABD_JOINT_HINGE, MABD_JOINT_FIXED, MABD_JOINT_CYLINDRICAL,
                                    MABD_JOINT_UNIVERSAL};
        for (int flipped = 0; flipped < 2; flipped++) {
            const mabd_real axis[3] = {0, 1, 0};
            mabd_error error = {0};
            mabd_scene* scene = rig_scene(-gravity);
            for (int i = 0; i < 2; i++) {
                const int32_t body = rig_add_rod(scene, 0.5 * i, 0.5, 0.1, 1e9);
                const mabd_force_def load = {
                    .body = body, .force = {0, 20 * i, 5}, .point = {0, 0, 0.05}};
                rig_check(mabd_scene_add_force(scene, &load, &error), &error, "load");
            }
            mabd_joint_def joint = mabd_default_joint_def();
            joint.type = types[c];
            cr_assert(mabd_frame_from_axes((const mabd_real[3]){1, 0, 0}, axis, joint.frame));
            for (int i = 0; i < 3; i++) {
                joint.anchor[0] = 0.5 * i;
                joint.a = i - 1;
                joint.b = i < 2 ? i : MABD_WORLD;
                if (i == 2 && flipped) joint.a = MABD_WORLD, joint.b = 1;
                rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "bearing");
            }
            mabd_model* model = rig_model(scene);
            const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.01);
            mabd_sim* sim = rig_sim(model, &def);
            joint_run(sim, 200); // 1e-9 in every step
            rig_destroy(sim, model);
        }
    }
}
