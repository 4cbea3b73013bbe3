// SPDX-License-Identifier: Apache-2.0
// Weighted least-norm multipliers of the quaternion formulation.
//
// The oracle knows poses and joints only: the columns of A are the wrenches on all bodies (world
// axes, about their centres) of unit forces and torques along the locked and driven axes of each
// joint, in the joint frame on a. The reported joint forces, components c along these axes, must
// balance the same load as those without reduction, A c = A c', and be the solution of
//
//   minimise sum w c^2  with  A c = A c':    c = W^-1/2 x,  x of least norm with A W^-1/2 x = A c'
//
// which LAPACK's dgelsd computes from singular values.

#include "math/quat.h"
#include "support/rig.h"

#include <stdlib.h>

extern void dgelsd_(const int* m, const int* n, const int* nrhs, double* a, const int* lda,
                    double* b, const int* ldb, double* s, const double* rcond, int* rank,
                    double* work, const int* lwork, int* iwork, int* info);

#define BODIES_MAX 8
#define JOINTS_MAX 8

typedef struct test_joint {
    const char* type; // hinge or prismatic
    int a, b;         // -1 = world
    double anchor[3], axis[3], axis2[3];
    const char* drive; // target of a rigid servo on the free axis, null = passive
} test_joint;

typedef struct mechanism {
    const char* name;
    int body_count, joint_count;
    double body[BODIES_MAX][3];
    test_joint joint[JOINTS_MAX];
    int redundant;
    double weight[JOINTS_MAX][6]; // filled by weigh
} mechanism;

#define SIZE 40 // columns and rows of A at most: 5 bodies, 7 joints

// Bars AB, BC, CD between the ground hinges A and D, in the plane y = 0; axes along y.
static const mechanism four_bar = {
    .name = "four-bar",
    .body_count = 3,
    .joint_count = 4,
    .body = {{0.075, 0, 0.13}, {0.425, 0, 0.405}, {0.75, 0, 0.275}},
    .joint = {{"hinge", -1, 0, {0, 0, 0}, {0, 1, 0}, {1, 0, 0.3}, NULL},
              {"hinge", 0, 1, {0.15, 0, 0.26}, {0, 1, 0}, {-0.2, 0, 1}, NULL},
              {"hinge", 1, 2, {0.7, 0, 0.55}, {0, 1, 0}, {0, 0, 1}, NULL},
              {"hinge", 2, -1, {0.8, 0, 0}, {0, 1, 0}, {0.5, 0, -1}, NULL}},
    .redundant = 3};

// Two hinges on one axis that is not along any axis of the world.
static const mechanism door = {
    .name = "door",
    .body_count = 1,
    .joint_count = 2,
    .body = {{0.3, 0.1, 0.05}},
    .joint = {{"hinge", -1, 0, {0, 0, -0.4}, {0.1, 0.2, 1}, {1, 0, 0}, NULL},
              {"hinge", -1, 0, {0.08, 0.16, 0.4}, {0.1, 0.2, 1}, {0, 1, 0}, NULL}},
    .redundant = 5};

// A carriage on two parallel rails, one of them on a driven arm; the other slides freely.
static const mechanism carriage = {
    .name = "carriage",
    .body_count = 2,
    .joint_count = 3,
    .body = {{0.2, 0, 0}, {0.5, 0.3, 0.1}},
    .joint = {{"hinge",
               -1,
               0,
               {0, 0, 0},
               {1, 0, 0.2},
               {0, 1, 0},
               "{\"sine\": {\"amplitude\": 0.4, \"frequency\": 1}}"},
              {"prismatic", 0, 1, {0.4, 0.1, 0}, {1, 0, 0.2}, {0, 1, 0.3}, NULL},
              {"prismatic", 0, 1, {0.4, 0.5, 0.2}, {1, 0, 0.2}, {0, 1, 0}, NULL}},
    .redundant = 5};

// Weights 0.5 .. 5 on all axes, 1e5 on `heavy` of them.
static void weigh(mechanism* m, unsigned seed, int heavy) {
    for (int j = 0; j < m->joint_count; j++) {
        for (int k = 0; k < 6; k++) {
            seed = seed * 1664525U + 1013904223U;
            m->weight[j][k] = 0.5 + 4.5 * (double)(seed >> 8) / (1 << 24);
            if (heavy > 0 && (seed >> 12) % 3 == 0) m->weight[j][k] = 1e5, heavy--;
        }
    }
}

static bool is_locked(const test_joint* j, int axis) {
    const bool free = axis == (strcmp(j->type, "hinge") == 0 ? MABD_AXIS_RX : MABD_AXIS_TX);
    return !free || j->drive;
}

static int write_joint(const mechanism* m, int index, char* text, size_t size) {
    static const char* const words[6] = {"tx", "ty", "tz", "rx", "ry", "rz"};
    const test_joint* j = &m->joint[index];
    char name[2][16], axes[512] = "";
    for (int side = 0; side < 2; side++) {
        const int body = side ? j->b : j->a;
        if (body < 0) snprintf(name[side], sizeof name[side], "world");
        if (body >= 0) snprintf(name[side], sizeof name[side], "b%d", body);
    }
    for (int k = 0; k < 6; k++) {
        const size_t used = strlen(axes);
        const bool driven = j->drive && k == (j->type[0] == 'h' ? MABD_AXIS_RX : MABD_AXIS_TX);
        snprintf(axes + used, sizeof axes - used, "%s\"%s\": {\"weight\": %.17g%s%s%s}",
                 k ? ", " : "", words[k], m->weight[index][k], driven ? ", \"servo\": " : "",
                 driven ? j->drive : "", driven ? ", \"servo_rigid\": true" : "");
    }
    return snprintf(text, size,
                    "%s{\"type\": \"%s\", \"a\": \"%s\", \"b\": \"%s\", \"anchor\": [%g, %g, %g],"
                    " \"axis\": [%g, %g, %g], \"axis2\": [%g, %g, %g], \"axes\": {%s}}",
                    index ? ", " : "", j->type, name[0], name[1], j->anchor[0], j->anchor[1],
                    j->anchor[2], j->axis[0], j->axis[1], j->axis[2], j->axis2[0], j->axis2[1],
                    j->axis2[2], axes);
}

static mabd_model* build(const mechanism* m) {
    char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "{\"gravity\": [1, 2, -9], \"bodies\": [");
    for (int i = 0; i < m->body_count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s{\"name\": \"b%d\", \"shape\": \"box\", \"size\": [0.3, 0.05,"
                                 " %g], \"position\": [%g, %g, %g]}",
                                 i ? ", " : "", i, 0.1 + 0.05 * i, m->body[i][0], m->body[i][1],
                                 m->body[i][2]);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "], \"joints\": [");
    for (int i = 0; i < m->joint_count; i++) {
        used += (size_t)write_joint(m, i, text + used, sizeof text - used);
    }
    snprintf(text + used, sizeof text - used, "]}");
    return rig_text_model(text);
}

// ---- the oracle --------------------------------------------------------------------------------

/// Poses of all bodies; bodies begin without rotation.
typedef struct state {
    mabd_real position[3 * BODIES_MAX], rotation[4 * BODIES_MAX];
} state;

static mabd_vec3 center(const state* s, int body) {
    return body < 0 ? mabd_v3(0, 0, 0) : mabd_v3_load(s->position + 3 * body);
}
static mabd_mat3 turn(const state* s, int body) {
    return body < 0 ? mabd_m3_identity() : mabd_q_matrix(mabd_q_load(s->rotation + 4 * body));
}

// Joint axes on a, columns, world.
static mabd_mat3 base_axes(const state* s, const test_joint* j) {
    mabd_real frame[4], x[3], y[3];
    for (int k = 0; k < 3; k++) x[k] = (mabd_real)j->axis[k], y[k] = (mabd_real)j->axis2[k];
    cr_assert(mabd_frame_from_axes(x, y, frame));
    return mabd_m3_product(turn(s, j->a), mabd_q_matrix(mabd_q_load(frame)));
}

// Where the forces of a joint act: its anchor on b.
static mabd_vec3 point_of(const mechanism* m, const state* s, const test_joint* j) {
    const mabd_vec3 anchor =
        mabd_v3((mabd_real)j->anchor[0], (mabd_real)j->anchor[1], (mabd_real)j->anchor[2]);
    if (j->b < 0) return anchor;
    const double* c = m->body[j->b];
    const mabd_vec3 start = mabd_v3((mabd_real)c[0], (mabd_real)c[1], (mabd_real)c[2]);
    return mabd_v3_add(center(s, j->b), mabd_m3_mul(turn(s, j->b), mabd_v3_sub(anchor, start)));
}

// Add a wrench of a joint on one body to a column.
static void add_wrench(const state* s, int body, double sign, mabd_vec3 f, mabd_vec3 t,
                       mabd_vec3 point, double* column) {
    if (body < 0) return;
    const mabd_vec3 arm = mabd_v3_sub(point, center(s, body));
    const mabd_vec3 torque = mabd_v3_add(t, mabd_v3_cross(arm, f));
    for (int k = 0; k < 3; k++) {
        column[6 * body + k] += sign * (double)mabd_v3_get(f, k);
        column[6 * body + 3 + k] += sign * (double)mabd_v3_get(torque, k);
    }
}

// Fill A (6 bodies x columns, by columns), the weights and the components of `forces`; returns the
// number of columns.
static int fill(const mechanism* m, const state* s, const mabd_real* forces, double* A, double* w,
                double* c) {
    int n = 0;
    memset(A, 0, SIZE * SIZE * sizeof *A);
    for (int i = 0; i < m->joint_count; i++) {
        const test_joint* j = &m->joint[i];
        const mabd_mat3 B = base_axes(s, j);
        for (int k = 0; k < 6; k++) {
            if (!is_locked(j, k)) continue;
            const mabd_vec3 axis = mabd_m3_column(&B, k % 3), zero = mabd_v3(0, 0, 0);
            const mabd_vec3 f = k < 3 ? axis : zero, t = k < 3 ? zero : axis;
            const mabd_vec3 point = point_of(m, s, j);
            add_wrench(s, j->b, 1, f, t, point, A + 6 * m->body_count * n);
            add_wrench(s, j->a, -1, f, t, point, A + 6 * m->body_count * n);
            c[n] = (double)mabd_v3_dot(axis, mabd_v3_load(forces + 6 * i + 3 * (k / 3)));
            w[n++] = m->weight[i][k];
        }
    }
    return n;
}

// b (6 bodies) = A c
static void load_of(const mechanism* m, const double* A, int n, const double* c, double* b) {
    for (int i = 0; i < 6 * m->body_count; i++) {
        b[i] = 0;
        for (int k = 0; k < n; k++) b[i] += A[6 * m->body_count * k + i] * c[k];
    }
}

// c of least weighted norm with A c = b; returns the rank of A.
static int least_norm(const mechanism* m, const double* A, int n, const double* w, const double* b,
                      double* c) {
    const int rows = 6 * m->body_count, one = 1, ld = SIZE, size = 20000;
    static double scaled[SIZE * SIZE], work[20000], values[SIZE];
    double x[SIZE] = {0};
    const double tolerance = 1e-12;
    int rank, info, integers[3000];
    for (int i = 0; i < rows * n; i++) scaled[i] = A[i] / sqrt(w[i / rows]);
    memcpy(x, b, (size_t)rows * sizeof *x);
    dgelsd_(&rows, &n, &one, scaled, &rows, x, &ld, values, &tolerance, &rank, work, &size,
            integers, &info);
    cr_assert(eq(int, info, 0));
    for (int k = 0; k < n; k++) c[k] = x[k] / sqrt(w[k]);
    return rank;
}

static void run(const mabd_model* model, mabd_integrator integrator, mabd_multipliers multipliers,
                state* s, mabd_real* forces) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)0.005);
    def.formulation = MABD_FORMULATION_QUATERNION;
    def.integrator = integrator;
    def.quaternion.multipliers = multipliers;
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 12; i++) rig_step(sim);
    mabd_sim_get_state(sim, s->position, s->rotation, NULL, NULL);
    mabd_sim_get_joint_forces(sim, forces);
    mabd_sim_destroy(sim);
}

static double largest(int n, const double* a, const double* b) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - (b ? b[i] : 0)));
    return most;
}

static void expect_least(mechanism m, mabd_integrator integrator, unsigned seed, int heavy) {
    static double A[SIZE * SIZE];
    double w[SIZE], c[SIZE], any[SIZE], b[SIZE], b_any[SIZE], best[SIZE];
    mabd_real forces[6 * JOINTS_MAX], other[6 * JOINTS_MAX];
    state s, s_any;
    weigh(&m, seed, heavy);
    mabd_model* model = build(&m);
    run(model, integrator, MABD_MULTIPLIERS_LEAST_NORM, &s, forces);
    run(model, integrator, MABD_MULTIPLIERS_ANY, &s_any, other);
    cr_expect(memcmp(&s.position, &s_any.position, 3 * (size_t)m.body_count * sizeof(mabd_real)) ==
                  0,
              "weights change no motion");
    fill(&m, &s, other, A, w, any);
    const int n = fill(&m, &s, forces, A, w, c);
    load_of(&m, A, n, c, b), load_of(&m, A, n, any, b_any);
    const int rank = least_norm(&m, A, n, w, b, best);
    const double size = largest(n, best, NULL), load = largest(6 * m.body_count, b_any, NULL);
    printf("%s, %s, %d heavy: %d redundant, error %.1e, balance %.1e, any %.1e of %.1f N\n", m.name,
           mabd_integrator_name(integrator), heavy, n - rank, largest(n, c, best) / size,
           largest(6 * m.body_count, b, b_any) / load, largest(n, any, best) / size, size);
    cr_expect(eq(int, n - rank, m.redundant));
    cr_expect(largest(n, c, best) < 1e-10 * size, "%s: %g", m.name, largest(n, c, best) / size);
    cr_expect(largest(6 * m.body_count, b, b_any) < 1e-10 * load, "%s", m.name);
    mabd_model_destroy(model);
}

Test(quaternion_multipliers, are_those_of_least_weighted_norm) {
    const mechanism* all[] = {&four_bar, &door, &carriage};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (unsigned seed = 1; seed <= 3; seed++) {
            expect_least(*all[i], MABD_INTEGRATOR_BDF2, seed, 0);
            expect_least(*all[i], MABD_INTEGRATOR_EULER, seed, 4);
        }
        expect_least(*all[i], MABD_INTEGRATOR_TRBDF2, 7, 2);
    }
}
