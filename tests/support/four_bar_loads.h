// SPDX-License-Identifier: Apache-2.0
// The four-bar of one_freedom.h with laws on its hinges, and the equations of Newton and Euler of
// its bars for a crank angle p of rate w:
//
//   m_i c_i'' = sum of F + m_i g     J_i theta_i'' = sum of (P - c_i) x F + T     i = 1, 2, 3
//
// with c_i'' = c_i,p p'' + c_i,pp w^2: nine linear equations for the forces F_j of four hinges and
// p''. Torques T_j that depend on forces and accelerations are iterated.
#pragma once

#include "support/one_freedom.h"

/// What acts on a hinge, angle phi from the bar a to the bar b, positive from +x to +z:
///   T = -k phi - d phi' - arm phi'' + M - (4/pi) mu rho |F| tanh(phi'/speed)
/// with the sign of phi' in place of tanh if speed is 0.
typedef struct four_bar_axis {
    double k, d, arm, M, mu, rho, speed;
} four_bar_axis;

static const double four_bar_start = 1.0; // angle of the crank [rad]
static const int four_bar_sides[4][2] = {{-1, 0}, {0, 1}, {-1, 2}, {1, 2}};

/// Build the four-bar at rest at its start, with axis definitions at its hinges: world-crank,
/// crank-coupler, world-rocker, coupler-rocker. Their axis is +y: coordinates are -phi.
static inline mabd_model* four_bar_with(const mabd_axis_def* const axes[4]) {
    double at[3][3];
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    mabd_error error = {0};
    int32_t bars[3];
    four_bar_place(four_bar_start, at);
    for (int i = 0; i < 3; i++) {
        const mabd_real width = (mabd_real)0.03;
        const mabd_real size[3] = {(mabd_real)four_bar_lengths[i], width, width};
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
        mabd_body_def body = mabd_default_body_def();
        body.geom_count = 1, body.geoms = &geom;
        body.position[0] = (mabd_real)at[i][0], body.position[2] = (mabd_real)at[i][1];
        body.rotation[0] = (mabd_real)cos(at[i][2] / 2);
        body.rotation[2] = (mabd_real)-sin(at[i][2] / 2);
        bars[i] = rig_add_body(scene, &body);
    }
    const double corner[4][2] = {{0, 0},
                                 {2 * at[0][0], 2 * at[0][1]},
                                 {four_bar_ground, 0},
                                 {2 * at[2][0] - four_bar_ground, 2 * at[2][1]}};
    for (int j = 0; j < 4; j++) {
        mabd_joint_def def = mabd_default_joint_def();
        const mabd_real axis[3] = {0, 1, 0};
        const int* side = four_bar_sides[j];
        def.type = MABD_JOINT_HINGE;
        def.a = side[0] < 0 ? MABD_WORLD : bars[side[0]], def.b = bars[side[1]];
        def.anchor[0] = (mabd_real)corner[j][0], def.anchor[2] = (mabd_real)corner[j][1];
        cr_assert(mabd_frame_from_axes(axis, NULL, def.frame));
        def.axes[MABD_AXIS_RX] = axes[j];
        rig_check(mabd_scene_add_joint(scene, &def, NULL, &error), &error, "joint");
    }
    return rig_model(scene);
}

/// Build it with laws.
static inline mabd_model* four_bar_loaded(const four_bar_axis laws[4]) {
    mabd_axis_def defs[4];
    const mabd_axis_def* axes[4];
    for (int j = 0; j < 4; j++) {
        const four_bar_axis* own = &laws[j];
        defs[j] =
            (mabd_axis_def){.stiffness = (mabd_real)own->k,
                            .damping = (mabd_real)own->d,
                            .armature = (mabd_real)own->arm,
                            .friction_speed = (mabd_real)own->speed,
                            .pin = {.friction = (mabd_real)own->mu, .radius = (mabd_real)own->rho}};
        if (own->M != 0) defs[j].motor = mabd_signal_constant((mabd_real)-own->M);
        axes[j] = &defs[j];
    }
    return four_bar_with(axes);
}

/// Places of the bars with first and second derivatives by p.
typedef struct four_bar_motion {
    double at[3][3], by[3][3], twice[3][3];
} four_bar_motion;

static inline four_bar_motion four_bar_move(double p) {
    const double e = one_freedom_step;
    const double places[4] = {-2, -1, 1, 2}, first[4] = {1, -8, 8, -1},
                 second[4] = {-1, 16, 16, -1};
    four_bar_motion m;
    four_bar_place(p, m.at);
    for (int i = 0; i < 9; i++)
        m.by[i / 3][i % 3] = 0, m.twice[i / 3][i % 3] = -30 * m.at[i / 3][i % 3];
    for (int k = 0; k < 4; k++) {
        double there[3][3];
        four_bar_place(p + places[k] * e, there);
        for (int i = 0; i < 9; i++) {
            m.by[i / 3][i % 3] += first[k] * there[i / 3][i % 3];
            m.twice[i / 3][i % 3] += second[k] * there[i / 3][i % 3];
        }
    }
    for (int i = 0; i < 9; i++) m.by[i / 3][i % 3] /= 12 * e, m.twice[i / 3][i % 3] /= 12 * e * e;
    return m;
}

/// Solve A x = b (9 x 10, the last column is b) with pivoting.
static inline void four_bar_eliminate(double A[9][10], double* x) {
    for (int c = 0; c < 9; c++) {
        int best = c;
        for (int r = c + 1; r < 9; r++) best = fabs(A[r][c]) > fabs(A[best][c]) ? r : best;
        for (int k = 0; k < 10; k++) {
            const double keep = A[c][k];
            A[c][k] = A[best][k], A[best][k] = keep;
        }
        for (int r = 0; r < 9; r++) {
            const double ratio = r == c ? 0 : A[r][c] / A[c][c];
            for (int k = c; k < 10 && ratio != 0; k++) A[r][k] -= ratio * A[c][k];
        }
    }
    for (int c = 0; c < 9; c++) x[c] = A[c][9] / A[c][c];
}

/// Forces of the hinges on their bars b (x, z) and p'' (last), under torques T.
static inline void four_bar_balance(const four_bar_motion* m, double w, const double T[4],
                                    double x[9]) {
    double A[9][10] = {{0}};
    for (int i = 0; i < 3; i++) {
        const double L = four_bar_lengths[i], mass = 1000 * L * 0.03 * 0.03;
        const double moment = mass * (L * L + 0.03 * 0.03) / 12;
        for (int k = 0; k < 3; k++) { // inertia on the left
            const double own = k == 2 ? moment : mass;
            A[3 * i + k][8] = own * m->by[i][k];
            A[3 * i + k][9] = -own * m->twice[i][k] * w * w;
        }
        A[3 * i + 1][9] -= mass * 9.81;
    }
    const double corner[4][2] = {{0, 0},
                                 {2 * m->at[0][0], 2 * m->at[0][1]},
                                 {four_bar_ground, 0},
                                 {2 * m->at[2][0] - four_bar_ground, 2 * m->at[2][1]}};
    for (int j = 0; j < 4; j++) {
        for (int side = 0; side < 2; side++) {
            const int i = four_bar_sides[j][side];
            const double sign = side ? 1 : -1;
            if (i < 0) continue;
            const double rx = corner[j][0] - m->at[i][0], rz = corner[j][1] - m->at[i][1];
            A[3 * i][2 * j] -= sign, A[3 * i + 1][2 * j + 1] -= sign;
            A[3 * i + 2][2 * j] += sign * rz, A[3 * i + 2][2 * j + 1] -= sign * rx;
            A[3 * i + 2][9] += sign * T[j];
        }
    }
    four_bar_eliminate(A, x);
}

/// Angle of hinge j, or a derivative of it, from those of the bars.
static inline double four_bar_angle(double at[3][3], int j) {
    const int a = four_bar_sides[j][0], b = four_bar_sides[j][1];
    return at[b][2] - (a < 0 ? 0 : at[a][2]);
}

static inline double four_bar_acceleration(const four_bar_axis laws[4], double p, double w) {
    four_bar_motion m = four_bar_move(p);
    double start[3][3], x[9] = {0}, T[4], last = 0;
    four_bar_place(four_bar_start, start);
    for (int i = 0; i < 200; i++) {
        for (int j = 0; j < 4; j++) {
            const four_bar_axis* own = &laws[j];
            const double by = four_bar_angle(m.by, j), rate = by * w;
            const double phi = four_bar_angle(m.at, j) - four_bar_angle(start, j);
            const double speeding = by * x[8] + four_bar_angle(m.twice, j) * w * w;
            const double bound = 4 / acos(-1) * own->mu * own->rho * hypot(x[2 * j], x[2 * j + 1]);
            const double side = own->speed > 0 ? tanh(rate / own->speed) : copysign(1, rate);
            T[j] = own->M - own->k * phi - own->d * rate - own->arm * speeding - bound * side;
        }
        four_bar_balance(&m, w, T, x);
        if (fabs(x[8] - last) < 1e-13 * (1 + fabs(last)) && i > 2) break;
        last = x[8];
    }
    return x[8];
}

/// Advance p and w by `seconds`, by RK4 with steps of 0.2 ms.
static inline void four_bar_run(const four_bar_axis laws[4], double seconds, double* p, double* w) {
    const double h = 2e-4;
    if (laws[0].mu > 0 && laws[0].speed == 0 && *w == 0) *w = -1e-12; // it falls this way
    for (int i = 0; i < (int)lround(seconds / h); i++) {
        const double a1 = four_bar_acceleration(laws, *p, *w), w2 = *w + h / 2 * a1;
        const double a2 = four_bar_acceleration(laws, *p + h / 2 * *w, w2), w3 = *w + h / 2 * a2;
        const double a3 = four_bar_acceleration(laws, *p + h / 2 * w2, w3), w4 = *w + h * a3;
        const double a4 = four_bar_acceleration(laws, *p + h * w3, w4);
        *p += h / 6 * (*w + 2 * w2 + 2 * w3 + w4);
        *w += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
}
