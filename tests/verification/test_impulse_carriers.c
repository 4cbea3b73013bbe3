// SPDX-License-Identifier: Apache-2.0
// Light bodies that carry heavy loads in the impulse formulation: scenes with rods, twigs and
// cables of grams hold with few substeps.
//
// A body whose joints carry more than its inertia holds in a substep is turned as one of more
// inertia. Without that the swing below, the figure, the tree, the net over a cylinder and the grid
// gain energy without bound.

#include "support/impulse_rig.h" // first: criterion defines I

#include "formulation/impulse/impulse_sim.h"
#include "math/eigen3.h"

// ---- the inertia -------------------------------------------------------------------------------

static double pick(uint32_t* seed) {
    *seed = *seed * 1664525U + 1013904223U;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

// Eigenvalues of L' A L for diagonal L.
static void scaled_eigenvalues(mabd_sym3 A, const double* L, mabd_real* values) {
    const mabd_real a[6] = {A.xx * L[0] * L[0], A.yy * L[1] * L[1], A.zz * L[2] * L[2],
                            A.xy * L[0] * L[1], A.xz * L[0] * L[2], A.yz * L[1] * L[2]};
    mabd_mat3 V;
    mabd_sym3_eigen(a, values, &V);
}

// x' A x
static double form(mabd_sym3 A, mabd_vec3 x) {
    return (double)mabd_v3_dot(x, mabd_sym3_mul(A, x));
}

// For any stiffness: the inertia raised is at least I and at least h^2 S (on 1000 directions), the
// inverse of a stable body is that of I to round-off, and the largest (h w)^2 is that of I^-1 S.
Test(impulse_carriers, inertia_is_raised_to_what_a_substep_holds) {
    uint32_t seed = 7;
    int raised = 0;
    for (int trial = 0; trial < 200; trial++) {
        const double h = 0.01;
        const mabd_real moments[3] = {(mabd_real)exp(3 * pick(&seed)),
                                      (mabd_real)exp(3 * pick(&seed)),
                                      (mabd_real)exp(3 * pick(&seed))};
        const double size = exp(4 * pick(&seed)) / (h * h);
        mabd_sym3 S, h2S;
        S.xx = (mabd_real)(size * pick(&seed)), S.yy = (mabd_real)(size * pick(&seed));
        S.zz = (mabd_real)(size * pick(&seed)), S.xy = (mabd_real)(size * pick(&seed));
        S.xz = (mabd_real)(size * pick(&seed)), S.yz = (mabd_real)(size * pick(&seed));
        h2S.xx = h * h * S.xx, h2S.yy = h * h * S.yy, h2S.zz = h * h * S.zz;
        h2S.xy = h * h * S.xy, h2S.xz = h * h * S.xz, h2S.yz = h * h * S.yz;
        const double over[3] = {1 / sqrt(moments[0]), 1 / sqrt(moments[1]), 1 / sqrt(moments[2])};
        const double root[3] = {sqrt(moments[0]), sqrt(moments[1]), sqrt(moments[2])};
        mabd_real most, rates[3], values[3];
        const mabd_sym3 A = mabd_impulse_raised_inverse(moments, S, (mabd_real)h, &most);
        scaled_eigenvalues(h2S, over, rates), scaled_eigenvalues(A, root, values);
        double highest = 0;
        for (int k = 0; k < 3; k++) {
            highest = fmax(highest, rates[k]);
            cr_expect(lt(dbl, values[k], 1 + 1e-12));
            // each is 1/max(1, (h w)^2)
            bool found = false;
            for (int i = 0; i < 3; i++) {
                found |= fabs((double)values[k] * fmax(1, (double)rates[i]) - 1) < 1e-10;
            }
            cr_expect(found, "trial %d: %g", trial, (double)values[k]);
        }
        cr_expect(lt(dbl, fabs((double)most - highest), 1e-9 * (1 + highest)));
        raised += highest > 1;
        for (int k = 0; k < 5;
             k++) { // z = A y for y = h^2 S x: x'h^2 S A h^2 S x <= x'h^2 S x if >= 0
            const mabd_vec3 x =
                mabd_v3((mabd_real)pick(&seed), (mabd_real)pick(&seed), (mabd_real)pick(&seed));
            const mabd_vec3 y = mabd_sym3_mul(A, x);
            cr_expect(lt(dbl, form(h2S, y), form(A, x) * (1 + 1e-9) + 1e-12));
        }
    }
    cr_expect(lt(int, 50, raised));
    cr_expect(lt(int, raised, 200));
}

// ---- a load on a rod of grams ------------------------------------------------------------------

#define LENGTH 0.05 // of the rod [m]

/// A rod of 50 g, and a cube of 1 kg whose centre is at its end by a ball joint.
typedef struct rod_and_load {
    mabd_scene* scene;
    int32_t rod;
} rod_and_load;

// The rod begins at the origin and goes along the direction of the given axis.
static rod_and_load hang(int axis, int sense) {
    mabd_error error = {0};
    const rod_and_load made = {rig_scene((mabd_real)-9.81), 0};
    const mabd_real rod_size[3] = {LENGTH, (mabd_real)0.01, (mabd_real)0.01};
    const mabd_real cube_size[3] = {(mabd_real)0.1, (mabd_real)0.1, (mabd_real)0.1};
    const mabd_geom rod = mabd_geom_make(MABD_SHAPE_BOX, rod_size, 10000);
    const mabd_geom cube = mabd_geom_make(MABD_SHAPE_BOX, cube_size, 1000);
    mabd_body_def a = mabd_default_body_def(), b = a;
    mabd_joint_def ball = mabd_default_joint_def();
    a.geom_count = b.geom_count = 1, a.geoms = &rod, b.geoms = &cube;
    a.position[axis] = sense * LENGTH / 2, b.position[axis] = sense * LENGTH;
    if (axis == 2) a.rotation[0] = a.rotation[2] = (mabd_real)sqrt(0.5); // along z
    ball.type = MABD_JOINT_BALL, ball.anchor[axis] = sense * LENGTH;
    ball.a = rig_add_body(made.scene, &a), ball.b = rig_add_body(made.scene, &b);
    rig_check(mabd_scene_add_joint(made.scene, &ball, NULL, &error), &error, "load");
    return made;
}

// Level, by a ball joint to the ground: the cube swings as a point, but for the mass of the rod.
static mabd_model* swing(void) {
    mabd_error error = {0};
    const rod_and_load made = hang(0, 1);
    mabd_joint_def pivot = mabd_default_joint_def();
    pivot.type = MABD_JOINT_BALL, pivot.a = MABD_WORLD, pivot.b = made.rod;
    rig_check(mabd_scene_add_joint(made.scene, &pivot, NULL, &error), &error, "pivot");
    return rig_model(made.scene);
}

// Angle below the level of a point that swings from rest, after `time`, by Runge-Kutta.
static double reference_angle(double time) {
    const double h = 1e-4, g = 9.81 * 1.025 / ((1 + 0.05 / 3) * LENGTH); // with the rod
    double x = 0, v = 0;
    for (int i = 0; i < (int)(time / h + 0.5); i++) {
        const double k1 = g * cos(x), x2 = x + h / 2 * v, v2 = v + h / 2 * k1;
        const double k2 = g * cos(x2), x3 = x + h / 2 * v2, v3 = v + h / 2 * k2;
        const double k3 = g * cos(x3), x4 = x + h * v3, v4 = v + h * k3, k4 = g * cos(x4);
        x += h / 6 * (v + 2 * v2 + 2 * v3 + v4), v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return x;
}

// Largest error of the angle in 0.4 s, and the most of carriers.
static double angle_error(int substeps, int* carriers, double* rise) {
    mabd_model* model = swing();
    mabd_sim_def def = impulse_def(0.02, substeps, 100, 1);
    def.impulse.correction = MABD_CORRECTION_BAUMGARTE; // soft rows open by more than the rod
    mabd_sim* sim = rig_sim(model, &def);
    const double start = (double)mabd_sim_measure(sim).energy;
    double most = 0;
    *carriers = 0, *rise = 0;
    for (int i = 0; i < 20; i++) {
        mabd_real x[6];
        const mabd_step_info info = rig_step(sim);
        if (info.impulse.carriers > *carriers) *carriers = info.impulse.carriers;
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        double angle = atan2(-(double)x[5], (double)x[3]);
        if (angle < -1) angle += 2 * MABD_PI;
        most = fmax(most, fabs(angle - reference_angle(0.02 * (i + 1))));
        *rise = fmax(*rise, (double)mabd_sim_measure(sim).energy - start);
    }
    rig_destroy(sim, model);
    return most;
}

// The cube swings as a point does, to the first order in h, whether the rod carries more than it
// holds (2 and 4 substeps: h w of 3.8 and 1.9 at the bottom) or not (32).
Test(impulse_carriers, a_load_on_a_rod_of_grams_swings_as_a_point) {
    const int substeps[] = {2, 4, 32};
    double error[3], rise;
    for (int k = 0; k < 3; k++) {
        int carriers;
        error[k] = angle_error(substeps[k], &carriers, &rise);
        printf("%2d substeps: %d carriers, angle off by %.2g rad, energy up by %.2g J\n",
               substeps[k], carriers, error[k], rise);
        cr_expect(eq(int, carriers, substeps[k] < 32), "%d", substeps[k]);
        cr_expect(lt(dbl, rise, 5e-3));
        cr_expect(lt(dbl, error[k], 0.3 / substeps[k] + 0.01), "%d", substeps[k]);
    }
}

// Torques of loads turn a carrier as impulses do: a motor of 0.02 N m on the pivot of the rod moves
// the load that hangs on it as a pendulum about the angle 0.02 N m/(m g l). Turned as a rod of its
// own inertia, which impulses then hold as one of more, it goes nearly three times as fast.
Test(impulse_carriers, motors_on_them_move_the_load) {
    double rate[2];
    for (int motor = 0; motor < 2; motor++) {
        mabd_error error = {0};
        const rod_and_load made = hang(2, -1);
        const mabd_axis_def torque = {.motor = mabd_signal_constant((mabd_real)(0.02 * motor))};
        mabd_joint_def hinge = mabd_default_joint_def();
        hinge.type = MABD_JOINT_HINGE, hinge.a = MABD_WORLD, hinge.b = made.rod;
        hinge.axes[3] = &torque;
        rig_check(mabd_scene_add_joint(made.scene, &hinge, NULL, &error), &error, "pivot");
        mabd_model* model = rig_model(made.scene);
        mabd_sim_def def = impulse_def(0.02, 2, 100, 1);
        def.impulse.correction = MABD_CORRECTION_BAUMGARTE;
        mabd_sim* sim = rig_sim(model, &def);
        mabd_step_info info = {0};
        mabd_real v[6];
        for (int i = 0; i < 2; i++) info = rig_step(sim);
        cr_expect(eq(int, info.impulse.carriers, 1));
        mabd_sim_get_state(sim, NULL, NULL, v, NULL);
        rate[motor] = hypot((double)v[4], (double)v[3]) / LENGTH;
        rig_destroy(sim, model);
    }
    const double inertia = (1 + 0.05 / 3) * LENGTH * LENGTH; // about the pivot
    const double w = sqrt(9.81 * 1.025 * LENGTH / inertia),
                 most = 0.02 / inertia / w * sin(w * 0.04);
    printf("rate after 0.04 s: %.4f without a motor, %.4f with one (%.4f rad/s)\n", rate[0],
           rate[1], most);
    cr_expect(lt(dbl, rate[0], 1e-3));
    cr_expect(lt(dbl, fabs(rate[1] / most - 1), 0.08));
}

// ---- scenes ------------------------------------------------------------------------------------

// Run a scene of the tree: no step fails, and no energy comes from nowhere: the rest of the balance
// is at most `gain` of the energy exchanged. Rows stay within `gap` [m] and `angle` [rad].
typedef struct scene_case {
    const char* path;
    int substeps, steps;
    double h, gap, angle, gain;
} scene_case;

static void expect_hold(const scene_case* c) {
    mabd_model* model = rig_file_model(c->path, NULL, NULL);
    const mabd_sim_def def = impulse_def(c->h, c->substeps, 1, 1);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    double gap = 0, angle = 0, moved = 0;
    int carriers = 0;
    for (int i = 0; i < c->steps; i++) {
        const mabd_step_info info = rig_step(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        gap = fmax(gap, (double)info.gap), angle = fmax(angle, (double)info.angle_error);
        moved = fmax(moved, fabs((double)(now.kinetic - start.kinetic)));
        moved = fmax(moved, fabs((double)(now.gravity - start.gravity)));
        if (info.impulse.carriers > carriers) carriers = info.impulse.carriers;
    }
    const double gain = -(double)mabd_sim_get_energy_balance(sim).integrator / moved;
    printf("%s, %d substeps: gap %.2g m, angle %.2g rad, gain %.2g, at most %d carriers\n", c->path,
           c->substeps, gap, angle, gain, carriers);
    cr_expect(lt(int, 0, carriers), "%s", c->path);
    cr_expect(lt(dbl, gap, c->gap), "%s", c->path);
    cr_expect(lt(dbl, angle, c->angle), "%s", c->path);
    cr_expect(lt(dbl, gain, c->gain), "%s", c->path);
    rig_destroy(sim, model);
}

// Each is lost, or has energy from nowhere, within these steps if bodies have their own inertia
// alone.
Test(impulse_carriers, scenes_of_light_parts_hold) {
    const scene_case cases[] = {
        {"scenes/tree.json", 4, 80, 0.01, 0.01, 0.02, 0.1},
        {"scenes/tree.json", 2, 80, 0.01, 0.01, 0.02, 0.5},
        {"scenes/figure.json", 4, 100, 0.033, 0.05, 0.3, 0.1},
        {"scenes/net-cylinder.json", 4, 60, 1 / 30.0, 0.1, 0.01, 0.1},
        {"scenes/joint-grid.json", 2, 120, 1 / 60.0, 1.2, 0.01, 0.1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) expect_hold(&cases[i]);
}
