// SPDX-License-Identifier: Apache-2.0
// The linearisation of a step in joint states: a pendulum in closed form; a free body with a hinge
// and a ball joint that the tree reaches from b, against differences of fourth order over states
// that the test places by its own kinematics; a regulator that holds a pendulum upside down.

#include "mabd/gradient.h"
#include "math/quat.h"
#include "math/so3.h"
#include "support/rig.h"

static mabd_sim* redmax_sim(const mabd_model* model, mabd_integrator method, mabd_real h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    def.formulation = MABD_FORMULATION_REDMAX, def.integrator = method;
    return rig_sim(model, &def);
}

// A rod of mass m that hangs (up = 1: stands) at its end, with a motor.
#define MASS    0.8
#define CENTER  0.4
#define INERTIA 0.05
static mabd_model* pendulum(int up) {
    char text[600];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"rod\", \"mass\": %g,"
             " \"inertia\": [%g, %g, %g], \"position\": [0, 0, %g]}], \"joints\": [{\"type\":"
             " \"hinge\", \"b\": \"rod\", \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0],"
             " \"axes\": {\"rx\": {\"motor\": 0}}}]}",
             MASS, INERTIA, INERTIA, INERTIA, up ? CENTER : -CENTER);
    return rig_text_model(text);
}

// I x'' = -k x + u at x = 0, by implicit Euler: (1 + h^2 w) (x, v)+ = (x + h v + h^2 u/I,
// -h w x + v + h u/I), w = k/I.
Test(gradient_step, pendulum_in_closed_form) {
    const double h = 0.02, inertia = INERTIA + MASS * CENTER * CENTER;
    for (int up = 0; up < 2; up++) {
        mabd_model* model = pendulum(up);
        mabd_sim* sim = redmax_sim(model, MABD_INTEGRATOR_EULER, h);
        mabd_real A[4], B[2];
        mabd_error error = {0};
        rig_check(mabd_gradient_step(sim, A, B, &error), &error, "step");
        const double w = (up ? -1 : 1) * MASS * 9.81 * CENTER / inertia, s = 1 + h * h * w;
        const double a[4] = {1 / s, h / s, -h * w / s, 1 / s};
        for (int i = 0; i < 4; i++) cr_expect(fabs(A[i] - a[i]) < 1e-12, "%d %.15g", i, A[i]);
        cr_expect(fabs(B[0] - h * h / inertia / s) < 1e-12);
        cr_expect(fabs(B[1] - h / inertia / s) < 1e-12);
        rig_destroy(sim, model);
    }
}

// The gain of x' = A x + B u for the cost x'x + u^2: Riccati's iteration.
static void regulator(const double* A, const double* B, double* K) {
    double P[4] = {1, 0, 0, 1};
    for (int n = 0; n < 2000; n++) {
        const double PB[2] = {P[0] * B[0] + P[1] * B[1], P[2] * B[0] + P[3] * B[1]};
        const double over = 1 / (1 + B[0] * PB[0] + B[1] * PB[1]);
        double PA[4], next[4];
        for (int i = 0; i < 4; i++) {
            PA[i] = P[i / 2 * 2] * A[i % 2] + P[i / 2 * 2 + 1] * A[2 + i % 2];
        }
        for (int j = 0; j < 2; j++) K[j] = over * (B[0] * PA[j] + B[1] * PA[2 + j]);
        for (int i = 0; i < 4; i++) {
            const int r = i / 2, c = i % 2;
            const double APA = A[r] * PA[c] + A[2 + r] * PA[2 + c];
            const double APB = A[r] * PB[0] + A[2 + r] * PB[1];
            next[i] = (r == c) + APA - APB * K[c];
        }
        memcpy(P, next, sizeof P);
    }
}

Test(gradient_step, regulator_holds_a_pendulum_upside_down) {
    mabd_model* model = pendulum(1);
    mabd_sim* sim = redmax_sim(model, MABD_INTEGRATOR_SDIRK2, 0.02);
    mabd_real A[4], B[2], x[6], v[6], rate = 0.3, spin[3] = {0, 0.3, 0};
    mabd_real push[3] = {CENTER * 0.3, 0, 0};
    double K[2];
    mabd_error error = {0};
    rig_check(mabd_gradient_step(sim, A, B, &error), &error, "step");
    regulator(A, B, K);
    rig_check(mabd_sim_set_state(sim, NULL, NULL, push, spin, &error), &error, "push");
    for (int k = 0; k < 400; k++) {
        mabd_sim_get_joint_coordinates(sim, 0, x);
        mabd_sim_get_controls(sim, v, &rate);
        const mabd_real u = -(K[0] * x[MABD_AXIS_RX] + K[1] * rate);
        rig_check(mabd_sim_set_targets(sim, 0, 1, NULL, &u, &error), &error, "control");
        rig_step(sim);
    }
    printf("gain %.3f %.3f, angle %.1e, rate %.1e after 8 s\n", K[0], K[1], (double)x[MABD_AXIS_RX],
           (double)rate);
    cr_expect(fabs(x[MABD_AXIS_RX]) < 1e-6 && fabs(rate) < 1e-6);
    rig_destroy(sim, model);
}

// ---- three bodies ------------------------------------------------------------------------------

/// A joint state: hinge (arm against trunk), ball (arm seen from bob), and the arm, which is the
/// root of the tree.
typedef struct joint_state {
    mabd_real angle, angle_rate;
    mabd_quat ball, arm;
    mabd_vec3 ball_rate;          // of the arm against bob, frame of the arm
    mabd_vec3 position, velocity; // of the arm, world
    mabd_vec3 spin;               // of the arm, body frame
} joint_state;

#define FREEDOMS 10

static const mabd_vec3 hinge_axis = {0, 1, 0}, hinge_point = {0.25, 0, 0},
                       arm_place = {0.5, 0.1, 0}, ball_point = {0.8, 0, 0.1},
                       bob_place = {1, 0.1, 0.1};

static mabd_model* three(void) {
    return rig_text_model(
        "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
        " {\"name\": \"trunk\", \"mass\": 1.2, \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, "
        "0.002], \"center\": [0.02, 0.03, -0.01]},"
        " {\"name\": \"arm\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025, 0.001, 0.002, "
        "-0.003], \"center\": [-0.01, 0.02, 0.03], \"position\": [0.5, 0.1, 0]},"
        " {\"name\": \"bob\", \"mass\": 0.4, \"inertia\": [0.01, 0.02, 0.015],"
        "  \"position\": [1, 0.1, 0.1]}],"
        " \"joints\": ["
        " {\"type\": \"hinge\", \"a\": \"trunk\", \"b\": \"arm\", \"anchor\": [0.25, 0, 0],"
        "  \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"servo\": 0.2, \"servo_stiffness\": 3,"
        "   \"damping\": 0.1}}},"
        " {\"type\": \"ball\", \"a\": \"bob\", \"b\": \"arm\", \"anchor\": [0.8, 0, 0.1],"
        "  \"frame\": [1, 0, 0, 0], \"axes\": {\"ry\": {\"motor\": 0.1, \"stiffness\": 1,"
        "   \"damping\": 0.05}}}]}");
}

/// States of the three bodies as mabd_sim_get_state.
typedef struct body_states {
    mabd_real position[9], rotation[12], velocity[9], angular[9];
} body_states;

static mabd_vec3 add3(mabd_vec3 a, mabd_vec3 b, mabd_vec3 c) {
    return mabd_v3_add(a, mabd_v3_add(b, c));
}

static body_states place(const joint_state* s) {
    body_states out;
    const mabd_quat trunk = mabd_q_product(s->arm, mabd_q_axis_angle(hinge_axis, -s->angle));
    const mabd_quat bob = mabd_q_product(s->arm, mabd_q_conjugate(s->ball));
    const mabd_vec3 hinge = mabd_q_rotate(s->arm, mabd_v3_sub(hinge_point, arm_place));
    const mabd_vec3 ball = mabd_q_rotate(s->arm, mabd_v3_sub(ball_point, arm_place));
    const mabd_vec3 to_trunk = mabd_q_rotate(trunk, mabd_v3_scale(-1, hinge_point));
    const mabd_vec3 to_bob = mabd_q_rotate(bob, mabd_v3_sub(bob_place, ball_point));
    const mabd_vec3 w = mabd_q_rotate(s->arm, s->spin);
    const mabd_vec3 w_trunk = mabd_v3_axpy(-s->angle_rate, mabd_q_rotate(s->arm, hinge_axis), w);
    const mabd_vec3 w_bob = mabd_v3_sub(w, mabd_q_rotate(s->arm, s->ball_rate));
    const mabd_vec3 x[3] = {add3(s->position, hinge, to_trunk), s->position,
                            add3(s->position, ball, to_bob)};
    const mabd_vec3 v[3] = {
        add3(s->velocity, mabd_v3_cross(w, hinge), mabd_v3_cross(w_trunk, to_trunk)), s->velocity,
        add3(s->velocity, mabd_v3_cross(w, ball), mabd_v3_cross(w_bob, to_bob))};
    const mabd_vec3 spin[3] = {w_trunk, w, w_bob};
    const mabd_quat q[3] = {trunk, s->arm, bob};
    for (int i = 0; i < 3; i++) {
        mabd_v3_store(x[i], out.position + 3 * i), mabd_q_store(q[i], out.rotation + 4 * i);
        mabd_v3_store(v[i], out.velocity + 3 * i), mabd_v3_store(spin[i], out.angular + 3 * i);
    }
    return out;
}

static joint_state read_state(const mabd_sim* sim) {
    body_states b;
    joint_state s;
    mabd_sim_get_state(sim, b.position, b.rotation, b.velocity, b.angular);
    const mabd_quat trunk = mabd_q_load(b.rotation), bob = mabd_q_load(b.rotation + 8);
    const mabd_vec3 w = mabd_v3_load(b.angular + 3);
    s.arm = mabd_q_load(b.rotation + 4);
    s.ball = mabd_q_product(mabd_q_conjugate(bob), s.arm);
    const mabd_quat back = mabd_q_conjugate(s.arm);
    s.angle = mabd_so3_log(mabd_q_matrix(mabd_q_product(mabd_q_conjugate(trunk), s.arm))).y;
    s.angle_rate = mabd_q_rotate(back, mabd_v3_sub(w, mabd_v3_load(b.angular))).y;
    s.spin = mabd_q_rotate(back, w);
    s.ball_rate = mabd_q_rotate(back, mabd_v3_sub(w, mabd_v3_load(b.angular + 6)));
    s.position = mabd_v3_load(b.position + 3), s.velocity = mabd_v3_load(b.velocity + 3);
    return s;
}

static mabd_quat turned(mabd_quat q, mabd_vec3 theta) {
    const double angle = mabd_v3_norm(theta);
    if (angle == 0) return q;
    return mabd_q_product(q, mabd_q_axis_angle(mabd_v3_scale(1 / angle, theta), angle));
}

// The state moved by x (20): hinge, ball, the arm's position and turn; then their rates.
static joint_state moved(const joint_state* from, const mabd_real* x) {
    joint_state s = *from;
    s.angle += x[0], s.angle_rate += x[FREEDOMS];
    s.ball = turned(s.ball, mabd_v3_load(x + 1));
    s.ball_rate = mabd_v3_add(s.ball_rate, mabd_v3_load(x + FREEDOMS + 1));
    s.position = mabd_v3_add(s.position, mabd_v3_load(x + 4));
    s.arm = turned(s.arm, mabd_v3_load(x + 7));
    s.velocity = mabd_v3_add(s.velocity, mabd_v3_load(x + FREEDOMS + 4));
    s.spin = mabd_v3_add(s.spin, mabd_v3_load(x + FREEDOMS + 7));
    return s;
}

// The move from one state to another.
static void way(const joint_state* from, const joint_state* to, mabd_real* x) {
    const mabd_quat ball = mabd_q_product(mabd_q_conjugate(from->ball), to->ball);
    const mabd_quat arm = mabd_q_product(mabd_q_conjugate(from->arm), to->arm);
    x[0] = to->angle - from->angle, x[FREEDOMS] = to->angle_rate - from->angle_rate;
    mabd_v3_store(mabd_so3_log(mabd_q_matrix(ball)), x + 1);
    mabd_v3_store(mabd_v3_sub(to->ball_rate, from->ball_rate), x + FREEDOMS + 1);
    mabd_v3_store(mabd_v3_sub(to->position, from->position), x + 4);
    mabd_v3_store(mabd_so3_log(mabd_q_matrix(arm)), x + 7);
    mabd_v3_store(mabd_v3_sub(to->velocity, from->velocity), x + FREEDOMS + 4);
    mabd_v3_store(mabd_v3_sub(to->spin, from->spin), x + FREEDOMS + 7);
}

// The state after a step from a state with controls.
static joint_state advance(mabd_sim* sim, const joint_state* from, const mabd_real* controls) {
    const body_states b = place(from);
    mabd_error error = {0};
    rig_check(mabd_sim_set_state(sim, b.position, b.rotation, b.velocity, b.angular, &error),
              &error, "state");
    rig_check(mabd_sim_set_targets(sim, 0, 1, NULL, controls, &error), &error, "controls");
    rig_step(sim);
    return read_state(sim);
}

// Difference of fourth order of the next state by column c of the state, or by control c - 20.
static void difference(mabd_sim* sim, const joint_state* from, const joint_state* next, int c,
                       mabd_real* out) {
    const double h = 1e-3, weight[4] = {1, -8, 8, -1};
    memset(out, 0, 2 * FREEDOMS * sizeof *out);
    for (int k = 0; k < 4; k++) {
        mabd_real x[2 * FREEDOMS] = {0}, u[2] = {0.2, 0.1}, y[2 * FREEDOMS];
        const double by = h * (k < 2 ? k - 2 : k - 1);
        if (c < 2 * FREEDOMS) {
            x[c] = by;
        } else {
            u[c - 2 * FREEDOMS] += by;
        }
        const joint_state s = moved(from, x), end = advance(sim, &s, u);
        way(next, &end, y);
        for (int i = 0; i < 2 * FREEDOMS; i++) out[i] += weight[k] * y[i] / (12 * h);
    }
}

Test(gradient_step, three_bodies_against_differences) {
    const mabd_integrator methods[] = {
        MABD_INTEGRATOR_SDIRK2,          MABD_INTEGRATOR_BDF2,
        MABD_INTEGRATOR_EULER,           MABD_INTEGRATOR_SEMI_IMPLICIT,
        MABD_INTEGRATOR_LINEAR_IMPLICIT, MABD_INTEGRATOR_RK45};
    mabd_model* model = three();
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        mabd_sim* sim = redmax_sim(model, methods[m], 0.01);
        mabd_real A[4 * FREEDOMS * FREEDOMS], B[4 * FREEDOMS], found[2 * FREEDOMS], x[2 * FREEDOMS];
        const mabd_real u[2] = {0.2, 0.1};
        mabd_error error = {0};
        double worst = 0;
        const joint_state rest = read_state(sim);
        for (int i = 0; i < 2 * FREEDOMS; i++) x[i] = sin(2.3 * i + 1) / 2;
        const joint_state from = moved(&rest, x), next = advance(sim, &from, u);
        const body_states b = place(&from);
        rig_check(mabd_sim_set_state(sim, b.position, b.rotation, b.velocity, b.angular, &error),
                  &error, "state");
        rig_check(mabd_gradient_step(sim, A, B, &error), &error, "step");
        const joint_state kept = read_state(sim);
        way(&from, &kept, x);
        for (int i = 0; i < 2 * FREEDOMS; i++) cr_expect(fabs(x[i]) < 1e-12); // it has not moved
        for (int c = 0; c < 2 * FREEDOMS + 2; c++) {
            difference(sim, &from, &next, c, found);
            for (int i = 0; i < 2 * FREEDOMS; i++) {
                const double own =
                    c < 2 * FREEDOMS ? A[i * 2 * FREEDOMS + c] : B[i * 2 + c - 2 * FREEDOMS];
                worst = fmax(worst, fabs(own - found[i]));
            }
        }
        printf("%-14s error %.1e\n", mabd_integrator_name(methods[m]), worst);
        cr_expect(worst < 1e-7);
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

Test(gradient_step, refusals) {
    mabd_model* model = pendulum(0);
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, 0.01);
    mabd_real A[4];
    mabd_error error = {0};
    def.formulation = MABD_FORMULATION_QUATERNION;
    mabd_sim* sim = rig_sim(model, &def);
    cr_expect(mabd_gradient_step(sim, A, NULL, &error) == MABD_ERR_UNAVAILABLE);
    cr_expect(strstr(error.text, "'quaternion'") != NULL, "%s", error.text);
    mabd_sim_destroy(sim);
    sim = redmax_sim(model, MABD_INTEGRATOR_BDF2, 0.01);
    cr_expect(mabd_gradient_step(sim, NULL, NULL, &error) == MABD_ERR_ARG);
    cr_expect(mabd_gradient_step(NULL, A, NULL, &error) == MABD_ERR_ARG);
    rig_destroy(sim, model);
}

// A node in free fall: p+ = p + h v + h^2 g, v+ = v + h g, without rotations among its freedoms.
Test(gradient_step, a_node_has_three_freedoms) {
    const double h = 0.02;
    mabd_model* model = rig_text_model(
        "{\"nodes\": [{\"name\": \"n\", \"mass\": 2, \"position\": [1, 0, 0], \"velocity\": "
        "[0, 3, 0]}]}");
    mabd_sim* sim = redmax_sim(model, MABD_INTEGRATOR_EULER, h);
    mabd_real A[36];
    mabd_error error = {0};
    rig_check(mabd_gradient_step(sim, A, NULL, &error), &error, "step");
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) {
            const double wanted = r == c ? 1 : c == r + 3 ? h : 0;
            cr_expect(fabs(A[6 * r + c] - wanted) < 1e-12, "%d %d: %g", r, c, (double)A[6 * r + c]);
        }
    }
    rig_destroy(sim, model);
}
