// SPDX-License-Identifier: Apache-2.0
// The linearisation of a step in joint states that depend on each other, by a loop or a coupling:
// mechanisms of one freedom p in the x-z plane. With coordinates q(p) of the joints, t = dq/dp, the
// step takes (p, p') to the next state x, and a change (dq, dv) stands for the nearest one that the
// rows allow, in the metric of the mass matrix M of the tree,
//
//   a = t'M dq/(t'M t)     b = t'M (dv - t' a p')/(t'M t)     dx = a dx/dp + b dx/dp'
//
// The right-hand sides are differences of fourth order of steps from states that the test places by
// its own kinematics, so every column of A, and B, is compared with these.

#include "mabd/gradient.h"
#include "math/quat.h"
#include "support/rig.h"

#define BODIES_MAX 3
#define JOINTS_MAX 3

/// A mechanism at p: bodies (x, z, angle from +z to +x), joints of the tree (coordinate; x and z of
/// its axis), mass and moment of each body.
typedef struct place {
    double body[BODIES_MAX][3], q[JOINTS_MAX], axis[JOINTS_MAX][2];
} place;
typedef struct mechanism {
    const char* name;
    const char* text;
    int bodies, joints;
    double mass[BODIES_MAX], moment[BODIES_MAX];
    double moves[JOINTS_MAX][BODIES_MAX]; // by which a joint turns a body: 1, -1 or 0
    int against[JOINTS_MAX]; // body that a joint turns body number j against, -1 = the world
    void (*at)(double p, place* out);
    double p, rate;
    bool shares; // a body is cut: M has shares of it, and other changes are not compared
} mechanism;

// ---- a four-bar --------------------------------------------------------------------------------

// last: axes of the last hinge.
#define FOUR_BAR(last)                                                                             \
    "{\"gravity\": [0.3, 0, -9.81], \"bodies\": ["                                                 \
    "{\"name\": \"crank\", \"mass\": 0.4, \"inertia\": [0.02, 0.03, 0.02],"                        \
    " \"position\": [0, 0, 0.15]},"                                                                \
    "{\"name\": \"coupler\", \"mass\": 1.1, \"inertia\": [0.02, 0.09, 0.08],"                      \
    " \"position\": [0.5, 0, 0.45]},"                                                              \
    "{\"name\": \"rocker\", \"mass\": 0.7, \"inertia\": [0.03, 0.04, 0.02],"                       \
    " \"position\": [1, 0, 0.3]}], \"joints\": ["                                                  \
    "{\"type\": \"hinge\", \"b\": \"crank\", \"axis\": [0, 1, 0],"                                 \
    " \"axes\": {\"rx\": {\"stiffness\": 4, \"motor\": 0.5}}},"                                    \
    "{\"type\": \"hinge\", \"a\": \"crank\", \"b\": \"coupler\", \"anchor\": [0, 0, 0.3],"         \
    " \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"stiffness\": 2, \"damping\": 0.1}}},"             \
    "{\"type\": \"hinge\", \"a\": \"coupler\", \"b\": \"rocker\", \"anchor\": [1, 0, 0.6],"        \
    " \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"damping\": 0.05}}},"                              \
    "{\"type\": \"hinge\", \"b\": \"rocker\", \"anchor\": [1, 0, 0], \"axis\": [0, 1, 0]" last     \
    "}]}"

// Laws on all hinges: coupler or rocker is cut, and their hinge is in no joint state.
#define LAWS ", \"axes\": {\"rx\": {\"damping\": 0.1, \"stiffness\": 1}}"

// Crank from (0, 0) to (0, 0.3), rocker from (1, 0) to (1, 0.6), at p = 0; the last joint is cut.
static void four_bar(double p, place* out) {
    const double start = atan2(1, 0.3), length = sqrt(1.09);
    const double x = 0.3 * sin(p), z = 0.3 * cos(p), dx = 1 - x, dz = -z;
    const double d = hypot(dx, dz), along = (length * length - 0.36 + d * d) / (2 * d);
    const double across = sqrt(length * length - along * along);
    const double end_x = x + (along * dx - across * dz) / d;
    const double end_z = z + (along * dz + across * dx) / d;
    const double coupler = atan2(end_x - x, end_z - z) - start, rocker = atan2(end_x - 1, end_z);
    *out = (place){.body = {{x / 2, z / 2, p},
                            {(x + end_x) / 2, (z + end_z) / 2, coupler},
                            {(1 + end_x) / 2, end_z / 2, rocker}},
                   .q = {p, coupler - p, rocker - coupler},
                   .axis = {{0, 0}, {x, z}, {end_x, end_z}}};
}

// With the joint of coupler and rocker cut.
static void rocker_apart(double p, place* out) {
    four_bar(p, out);
    out->q[2] = out->body[2][2], out->axis[2][0] = 1, out->axis[2][1] = 0;
}

// ---- two coupled arms --------------------------------------------------------------------------

#define ARMS                                                                                       \
    "{\"gravity\": [0.3, 0, -9.81], \"bodies\": ["                                                 \
    "{\"name\": \"upper\", \"mass\": 0.8, \"inertia\": [0.02, 0.03, 0.02],"                        \
    " \"position\": [0, 0, 0.2]},"                                                                 \
    "{\"name\": \"lower\", \"mass\": 0.5, \"inertia\": [0.03, 0.04, 0.02],"                        \
    " \"position\": [0, 0, 0.7]}], \"joints\": ["                                                  \
    "{\"type\": \"hinge\", \"name\": \"one\", \"b\": \"upper\", \"axis\": [0, 1, 0],"              \
    " \"axes\": {\"rx\": {\"motor\": 0.5, \"damping\": 0.1}}},"                                    \
    "{\"type\": \"hinge\", \"name\": \"two\", \"a\": \"upper\", \"b\": \"lower\", \"anchor\": "    \
    "[0, 0, 0.4],"                                                                                 \
    " \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"stiffness\": 2}}}],"                              \
    " \"couplings\": [{\"axes\": [{\"joint\": \"one\", \"axis\": \"rx\", \"ratio\": 1.5},"         \
    " {\"joint\": \"two\", \"axis\": \"rx\", \"ratio\": 1}]}]}"

static void arms(double p, place* out) {
    const double x = 0.4 * sin(p), z = 0.4 * cos(p), lower = p - 1.5 * p;
    *out = (place){.body = {{x / 2, z / 2, p}, {x + 0.3 * sin(lower), z + 0.3 * cos(lower), lower}},
                   .q = {p, -1.5 * p},
                   .axis = {{0, 0}, {x, z}}};
}

static const mechanism mechanisms[] = {{.name = "four-bar",
                                        .text = FOUR_BAR(""),
                                        .bodies = 3,
                                        .joints = 3,
                                        .mass = {0.4, 1.1, 0.7},
                                        .moment = {0.03, 0.09, 0.04},
                                        .moves = {{1, 1, 1}, {0, 1, 1}, {0, 0, 1}},
                                        .against = {-1, 0, 1},
                                        .at = four_bar,
                                        .p = 0.3,
                                        .rate = 1.5},
                                       {.name = "cut rocker",
                                        .text = FOUR_BAR(LAWS),
                                        .bodies = 3,
                                        .joints = 3,
                                        .mass = {0.4, 1.1, 0.7},
                                        .moment = {0.03, 0.09, 0.04},
                                        .moves = {{1, 1, 0}, {0, 1, 0}, {0, 0, 1}},
                                        .against = {-1, 0, -1},
                                        .at = rocker_apart,
                                        .p = 0.3,
                                        .rate = 1.5,
                                        .shares = true},
                                       {.name = "coupled arms",
                                        .text = ARMS,
                                        .bodies = 2,
                                        .joints = 2,
                                        .mass = {0.8, 0.5},
                                        .moment = {0.03, 0.04},
                                        .moves = {{1, 1}, {0, 1}},
                                        .against = {-1, 0},
                                        .at = arms,
                                        .p = 0.4,
                                        .rate = -2}};

// ---- states ------------------------------------------------------------------------------------

static const double steps[4] = {-2, -1, 1, 2}, weights[4] = {1 / 12., -8 / 12., 8 / 12., -1 / 12.};
#define STEP 1e-3

// The derivative of all numbers of a place.
static place slope(const mechanism* m, double p) {
    place sum = {{{0}}, {0}, {{0}}};
    double* to = (double*)&sum;
    for (int k = 0; k < 4; k++) {
        place at;
        m->at(p + steps[k] * STEP, &at);
        const double* from = (const double*)&at;
        for (size_t i = 0; i < sizeof at / sizeof *from; i++) to[i] += weights[k] * from[i] / STEP;
    }
    return sum;
}

static void set_state(const mechanism* m, mabd_sim* sim, double p, double rate) {
    mabd_real x[3 * BODIES_MAX] = {0}, q[4 * BODIES_MAX], v[3 * BODIES_MAX] = {0};
    mabd_real w[3 * BODIES_MAX] = {0};
    const place by = slope(m, p);
    mabd_error error = {0};
    place at;
    m->at(p, &at);
    for (int i = 0; i < m->bodies; i++) {
        for (int k = 0; k < 2; k++) {
            x[3 * i + 2 * k] = at.body[i][k], v[3 * i + 2 * k] = by.body[i][k] * rate;
        }
        mabd_q_store(mabd_q_axis_angle(mabd_v3(0, 1, 0), at.body[i][2]), q + 4 * i);
        w[3 * i + 1] = by.body[i][2] * rate;
    }
    rig_check(mabd_sim_set_state(sim, x, q, v, w, &error), &error, "state");
}

// The joint state of a simulation (2 joints): coordinates from the angles of the bodies.
static void read_state(const mechanism* m, const mabd_sim* sim, double* x) {
    mabd_real q[4 * BODIES_MAX], w[3 * BODIES_MAX];
    mabd_sim_get_state(sim, NULL, q, NULL, w);
    for (int j = 0; j < m->joints; j++) {
        const int a = m->against[j];
        const double own = 2 * atan2(q[4 * j + 2], q[4 * j]);
        const double base = a >= 0 ? 2 * atan2(q[4 * a + 2], q[4 * a]) : 0;
        x[j] = remainder(own - base, 2 * acos(-1));
        x[m->joints + j] = w[3 * j + 1] - (a >= 0 ? w[3 * a + 1] : 0);
    }
}

static void advance(const mechanism* m, mabd_sim* sim, double p, double rate, mabd_real torque,
                    double* x) {
    mabd_error error = {0};
    set_state(m, sim, p, rate);
    rig_check(mabd_sim_set_targets(sim, 0, 1, NULL, &torque, &error), &error, "controls");
    rig_step(sim);
    read_state(m, sim, x);
}

// dx/dp, dx/dp' and dx/dtorque of the next state.
static void next_slopes(const mechanism* m, mabd_sim* sim, double out[3][2 * JOINTS_MAX]) {
    for (int c = 0; c < 3; c++) {
        memset(out[c], 0, sizeof out[c]);
        for (int k = 0; k < 4; k++) {
            const double by = steps[k] * STEP;
            double x[2 * JOINTS_MAX];
            advance(m, sim, m->p + (c == 0 ? by : 0), m->rate + (c == 1 ? by : 0),
                    (mabd_real)(0.5 + (c == 2 ? by : 0)), x);
            for (int i = 0; i < 2 * m->joints; i++) out[c][i] += weights[k] * x[i] / STEP;
        }
    }
}

// ---- the projection ----------------------------------------------------------------------------

// y = M x of the tree at p.
static void multiply(const mechanism* m, const double* x, double* y) {
    place at;
    m->at(m->p, &at);
    memset(y, 0, JOINTS_MAX * sizeof *y);
    for (int i = 0; i < m->bodies; i++) {
        double v[3] = {0}, by[JOINTS_MAX][3]; // x, z, angle
        for (int j = 0; j < m->joints; j++) {
            by[j][0] = m->moves[j][i] * (at.body[i][1] - at.axis[j][1]);
            by[j][1] = -m->moves[j][i] * (at.body[i][0] - at.axis[j][0]);
            by[j][2] = m->moves[j][i];
            for (int k = 0; k < 3; k++) v[k] += by[j][k] * x[j];
        }
        for (int j = 0; j < m->joints; j++) {
            y[j] +=
                m->mass[i] * (by[j][0] * v[0] + by[j][1] * v[1]) + m->moment[i] * by[j][2] * v[2];
        }
    }
}

static double dot(const mechanism* m, const double* a, const double* b) {
    double sum = 0;
    for (int j = 0; j < m->joints; j++) sum += a[j] * b[j];
    return sum;
}

// Error of a column of A: that of the change `column` of the state.
static double column_error(const mechanism* m, const mabd_real* A, int column,
                           double slopes[3][2 * JOINTS_MAX]) {
    const int n = m->joints;
    const place t = slope(m, m->p);
    double dq[JOINTS_MAX] = {0}, dv[JOINTS_MAX] = {0}, metric[JOINTS_MAX], worst = 0;
    if (column < n) dq[column] = 1;
    if (column >= n) dv[column - n] = 1;
    multiply(m, t.q, metric);
    const double size = dot(m, metric, t.q), a = dot(m, metric, dq) / size;
    for (int k = 0; k < 4; k++) {
        const place near = slope(m, m->p + steps[k] * STEP);
        for (int j = 0; j < n; j++) dv[j] -= weights[k] * near.q[j] / STEP * a * m->rate;
    }
    const double b = dot(m, metric, dv) / size;
    for (int i = 0; i < 2 * n; i++) {
        const double wanted = a * slopes[0][i] + b * slopes[1][i];
        worst = fmax(worst, fabs((double)A[i * 2 * n + column] - wanted));
    }
    return worst;
}

// Error of A at the changes by p and p', which the rows allow.
static double motion_error(const mechanism* m, const mabd_real* A,
                           double slopes[3][2 * JOINTS_MAX]) {
    const int n = m->joints;
    const place t = slope(m, m->p);
    double x[2][2 * JOINTS_MAX] = {{0}}, worst = 0;
    for (int j = 0; j < n; j++) x[0][j] = x[1][n + j] = t.q[j];
    for (int k = 0; k < 4; k++) {
        const place near = slope(m, m->p + steps[k] * STEP);
        for (int j = 0; j < n; j++) x[0][n + j] += weights[k] * near.q[j] / STEP * m->rate;
    }
    for (int c = 0; c < 2; c++) {
        for (int i = 0; i < 2 * n; i++) {
            double sum = 0;
            for (int j = 0; j < 2 * n; j++) sum += (double)A[i * 2 * n + j] * x[c][j];
            worst = fmax(worst, fabs(sum - slopes[c][i]));
        }
    }
    return worst;
}

static void check(const mechanism* m, mabd_integrator method) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.005);
    mabd_real A[4 * JOINTS_MAX * JOINTS_MAX], B[2 * JOINTS_MAX], torque = 0.5;
    double slopes[3][2 * JOINTS_MAX], worst = 0, control = 0;
    mabd_joint_layout_info info;
    mabd_error error = {0};
    def.formulation = MABD_FORMULATION_REDMAX, def.integrator = method;
    mabd_model* model = rig_text_model(m->text);
    rig_check(mabd_model_joint_layout(model, 0, NULL, &info, &error), &error, "layout");
    cr_assert(info.velocities == m->joints);
    mabd_sim* sim = rig_sim(model, &def);
    next_slopes(m, sim, slopes);
    set_state(m, sim, m->p, m->rate);
    rig_check(mabd_sim_set_targets(sim, 0, 1, NULL, &torque, &error), &error, "controls");
    rig_check(mabd_gradient_step(sim, A, B, &error), &error, "step");
    worst = motion_error(m, A, slopes);
    for (int c = 0; c < 2 * m->joints && !m->shares; c++) {
        worst = fmax(worst, column_error(m, A, c, slopes));
    }
    for (int i = 0; i < 2 * m->joints; i++) control = fmax(control, fabs(B[i] - slopes[2][i]));
    printf("%-13s %-15s A %.1e, B %.1e\n", m->name, mabd_integrator_name(method), worst, control);
    cr_expect(worst < 1e-8 && control < 1e-8, "%s", m->name);
    rig_destroy(sim, model);
}

Test(gradient_step_loops, columns_are_those_of_the_nearest_changes) {
    const mabd_integrator methods[] = {
        MABD_INTEGRATOR_SDIRK2,          MABD_INTEGRATOR_BDF2,
        MABD_INTEGRATOR_EULER,           MABD_INTEGRATOR_SEMI_IMPLICIT,
        MABD_INTEGRATOR_LINEAR_IMPLICIT, MABD_INTEGRATOR_RK45};
    for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++) {
        for (size_t k = 0; k < 6; k++) check(&mechanisms[i], methods[k]);
    }
}
