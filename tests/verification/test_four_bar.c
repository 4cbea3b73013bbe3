// SPDX-License-Identifier: Apache-2.0
// The planar four-bar of scenes/four-bar.json: four hinges in space, three of their rows redundant,
// crank driven at a constant speed w. Lengths a, b, c and ground d in the x-z plane, angles from +x
// to +z.
//
//   loop       B = a (cos p1, sin p1), p1 = p0 + w t;  C where the circles of b about B and of c
//              about D = (d, 0) meet
//   forces     Newton and Euler for the three bars: nine equations for the eight forces at the
//              hinges and the torque of the drive; accelerations by differences of the loop
//
// Bodies are elastic; at Young's modulus E bars deviate from the loop by up to F/(width^2 E) of
// their length. Redundant rows are about axes in the plane, where by symmetry there is no load:
// their forces must stay at zero.

#include "support/joint_rig.h"
#include "support/reference.h"
#include "support/rig.h"

#define BARS 3

static const double gravity = 9.81, width = 0.03, density = 1000;
static const double lengths[BARS] = {0.3, 0.8, 0.6}, ground = 0.8, speed = 6;
static const double start_angle = 3.14159265358979323846 / 3;

// Angle of each bar and its near hinge at a time.
typedef struct pose {
    double angle[BARS], x[BARS], z[BARS];
} pose;

static pose loop_at(double t) {
    const double a = lengths[0], b = lengths[1], c = lengths[2], p1 = start_angle + speed * t;
    const double bx = a * cos(p1), bz = a * sin(p1), ex = ground - bx, ez = -bz;
    const double e = hypot(ex, ez), u = (e * e + b * b - c * c) / (2 * e), v = sqrt(b * b - u * u);
    const double cx = bx + (u * ex - v * ez) / e, cz = bz + (u * ez + v * ex) / e;
    const pose p = {
        {p1, atan2(cz - bz, cx - bx), atan2(cz, cx - ground)}, {0, bx, ground}, {0, bz, 0}};
    return p;
}

static void center_at(const pose* p, int bar, double* x, double* z) {
    *x = p->x[bar] + lengths[bar] / 2 * cos(p->angle[bar]);
    *z = p->z[bar] + lengths[bar] / 2 * sin(p->angle[bar]);
}

// ---- forces in closed form ---------------------------------------------------------------------

// Accelerations of a bar's centre and angle, by fourth-order differences of the loop.
static void accelerations(double t, int bar, double* a) {
    static const double weights[5] = {-1.0 / 12, 16.0 / 12, -30.0 / 12, 16.0 / 12, -1.0 / 12};
    const double step = 1e-3, middle = loop_at(t).angle[bar];
    a[0] = a[1] = a[2] = 0;
    for (int i = 0; i < 5; i++) {
        const pose p = loop_at(t + (i - 2) * step);
        double x, z;
        center_at(&p, bar, &x, &z);
        const double w = weights[i] / (step * step);
        a[0] += w * x, a[1] += w * z, a[2] += w * remainder(p.angle[bar] - middle, 2 * acos(-1));
    }
}

// Solve 9 x 9 equations by Gaussian elimination with pivoting.
static void solve9(double A[9][10], double* x) {
    for (int k = 0; k < 9; k++) {
        int best = k;
        for (int i = k + 1; i < 9; i++) best = fabs(A[i][k]) > fabs(A[best][k]) ? i : best;
        for (int j = 0; j < 10; j++) {
            const double keep = A[k][j];
            A[k][j] = A[best][j], A[best][j] = keep;
        }
        for (int i = k + 1; i < 9; i++) {
            const double l = A[i][k] / A[k][k];
            for (int j = k; j < 10; j++) A[i][j] -= l * A[k][j];
        }
    }
    for (int i = 8; i >= 0; i--) {
        x[i] = A[i][9];
        for (int j = i + 1; j < 9; j++) x[i] -= A[i][j] * x[j];
        x[i] /= A[i][i];
    }
}

// Compute forces (9): x, z of the forces of hinges 0..3 on their second body, then the drive's
// torque (from +x to +z).
static void expected_forces(double t, double* forces) {
    // hinge at the near end (index, sign) and at the far end of each bar: crank 0 -1, coupler 1 -2,
    // rocker 3 +2
    static const int near[BARS] = {0, 1, 3}, far[BARS] = {1, 2, 2};
    static const double far_sign[BARS] = {-1, -1, 1};
    double A[9][10] = {{0}};
    const pose p = loop_at(t);
    for (int i = 0; i < BARS; i++) {
        const double mass = density * lengths[i] * width * width;
        const double inertia = mass * (lengths[i] * lengths[i] + width * width) / 12;
        const double rx = lengths[i] / 2 * cos(p.angle[i]), rz = lengths[i] / 2 * sin(p.angle[i]);
        double a[3];
        accelerations(t, i, a);
        for (int k = 0; k < 2; k++) {
            A[3 * i + k][2 * near[i] + k] += 1;
            A[3 * i + k][2 * far[i] + k] += far_sign[i];
        }
        // moment from +x to +z of (fx, fz) at (rx, rz): rx fz - rz fx
        A[3 * i + 2][2 * near[i]] += rz, A[3 * i + 2][2 * near[i] + 1] += -rx;
        A[3 * i + 2][2 * far[i]] += -far_sign[i] * rz,
            A[3 * i + 2][2 * far[i] + 1] += far_sign[i] * rx;
        A[3 * i][9] = mass * a[0], A[3 * i + 1][9] = mass * (a[1] + gravity),
              A[3 * i + 2][9] = inertia * a[2];
    }
    A[2][8] = 1;
    solve9(A, forces);
}

// ---- measured ----------------------------------------------------------------------------------

static mabd_model* driven_model(double young) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(-gravity);
    mabd_four_bar_def def = mabd_default_four_bar_def();
    def.driven = true;
    def.material.young = young;
    rig_check(mabd_generate_four_bar(scene, &def, &error), &error, "four-bar");
    return rig_model(scene);
}

// Return the largest distance of the bars' centres from the loop.
static double off_loop(const mabd_sim* sim) {
    mabd_real position[3 * BARS];
    const pose p = loop_at(mabd_sim_time(sim));
    double worst = 0;
    mabd_sim_get_state(sim, position, NULL, NULL, NULL);
    for (int i = 0; i < BARS; i++) {
        double x, z;
        center_at(&p, i, &x, &z);
        worst = fmax(worst, hypot(position[3 * i] - x, position[3 * i + 2] - z));
        worst = fmax(worst, fabs(position[3 * i + 1]));
    }
    return worst;
}

typedef struct force_error {
    double in_plane, redundant, largest;
} force_error;

static force_error forces_off(const mabd_sim* sim) {
    mabd_real wrench[24];
    double expected[9];
    force_error e = {0, 0, 0};
    mabd_sim_get_joint_forces(sim, wrench);
    expected_forces(mabd_sim_time(sim), expected);
    for (int j = 0; j < 4; j++) {
        const mabd_real *f = wrench + 6 * j, *m = f + 3;
        e.in_plane = fmax(e.in_plane, hypot(f[0] - expected[2 * j], f[2] - expected[2 * j + 1]));
        e.redundant = fmax(e.redundant, fmax(fabs(f[1]), hypot(m[0], m[2])));
        e.largest = fmax(e.largest, rig_norm(f));
        // +x to +z is a rotation about -y
        const double torque = -m[1] - (j == 0 ? expected[8] : 0);
        e.in_plane = fmax(e.in_plane, fabs(torque));
    }
    return e;
}

Test(four_bar, moves_as_the_loop_says_and_stays_closed_over_many_turns) {
    mabd_model* model = rig_file_model("scenes/four-bar.json", NULL, NULL);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.005);
    mabd_sim* sim = rig_sim(model, &def);
    double worst = 0, largest = 0, redundant = 0;
    for (int n = 1; n <= 4200; n++) { // 20 turns
        joint_run(sim, 1);
        const mabd_measure now = mabd_sim_measure(sim);
        cr_assert(now.gap < 1e-9 && now.angle_error < 1e-9, "step %d: %g m, %g rad", n, now.gap,
                  now.angle_error);
        worst = fmax(worst, off_loop(sim));
        if (n < 40) continue;
        const force_error e = forces_off(sim);
        largest = fmax(largest, e.largest);
        redundant = fmax(redundant, e.redundant);
        cr_assert(e.in_plane < 0.15, "step %d: forces off by %g N", n, e.in_plane);
    }
    printf("four-bar: %.1e m off the loop, forces up to %.1f N, redundant ones %.1e N\n", worst,
           largest, redundant);
    // bars stretch by F/(width^2 E) of their length
    cr_expect(worst < 2 * largest / (width * width * MABD_DEFAULT_YOUNG) * lengths[1], "%g m",
              worst);
    cr_expect(redundant < 1e-6, "%g N", redundant);
    rig_destroy(sim, model);
}

Test(four_bar, lies_on_the_loop_the_better_the_stiffer_it_is) {
    for (int decade = 7; decade <= 12; decade++) {
        mabd_model* model = driven_model(pow(10, decade));
        const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.005);
        mabd_sim* sim = rig_sim(model, &def);
        double worst = 0;
        for (int n = 1; n <= 210; n++) {
            joint_run(sim, 1);
            worst = fmax(worst, off_loop(sim));
        }
        printf("four-bar of 1e%d Pa: %.1e m off the loop\n", decade, worst);
        // the drive's torque, 3 N m, shears the crank by torque/(V mu): 3e-5 at 1e9 Pa
        cr_expect(worst < 5e-5 * pow(10, 9 - decade), "1e%d Pa: %g m", decade, worst);
        cr_expect(worst > 2e-5 * pow(10, 9 - decade), "1e%d Pa: %g m", decade, worst);
        rig_destroy(sim, model);
    }
}

Test(four_bar, hinge_forces_and_the_drives_torque_are_those_of_newton_and_euler) {
    mabd_model* model = driven_model(1e12);
    double errors[4];
    for (int k = 0; k < 4; k++) {
        const double h = ldexp(0.005, -k);
        const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
        mabd_sim* sim = rig_sim(model, &def);
        errors[k] = 0;
        for (int n = 1; n <= (int)lround(1.2 / h); n++) {
            joint_run(sim, 1);
            if (n * h >= 0.2) errors[k] = fmax(errors[k], forces_off(sim).in_plane);
        }
        mabd_sim_destroy(sim);
    }
    const double order = rig_order("forces of a four-bar", 0.005, 4, errors);
    cr_expect(order >= 1.8, "order %g", order);
    cr_expect(errors[3] < 3e-3, "%g N", errors[3]);
    mabd_model_destroy(model);
}

// Without a drive it has one freedom, and energy is constant except for BDF2's loss.
Test(four_bar, keeps_energy_with_second_order_when_it_runs_free) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(-gravity);
    const mabd_four_bar_def bars = mabd_default_four_bar_def();
    rig_check(mabd_generate_four_bar(scene, &bars, &error), &error, "four-bar");
    mabd_model* model = rig_model(scene);
    double loss[4];
    for (int k = 0; k < 4; k++) {
        const double h = ldexp(0.0025, -k);
        const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
        mabd_sim* sim = rig_sim(model, &def);
        const mabd_measure start = mabd_sim_measure(sim);
        loss[k] = 0;
        for (int n = 1; n <= (int)lround(1 / h); n++) {
            joint_run(sim, 1);
            loss[k] =
                fmax(loss[k], fabs(mabd_sim_measure(sim).energy - start.energy) / start.kinetic);
        }
        mabd_sim_destroy(sim);
    }
    const double order = rig_order("energy of a four-bar", 0.0025, 4, loss);
    cr_expect(order >= 1.8, "order %g", order);
    cr_expect(loss[3] < 1e-3, "%g", loss[3]);
    mabd_model_destroy(model);
}
