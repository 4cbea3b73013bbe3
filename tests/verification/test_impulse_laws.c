// SPDX-License-Identifier: Apache-2.0
// Laws of the impulse formulation: spin, drift, momenta of pushes, the converged solution, bits.
//
// Where [SI] taken literally is wrong, the literal form stands here in a few lines beside the right
// result, and is seen to miss it.

#include "support/impulse_rig.h" // first: criterion defines I

#include "math/frame_exp.h"

// ---- spin --------------------------------------------------------------------------------------

#define SIDES                                                                                      \
    { 0.3, 0.2, 0.1 }

static const double sides[3] = SIDES;
static const double spin0[3] = {6, 0.1, 5};

static void box_inertia(double* moment) {
    for (int k = 0; k < 3; k++) {
        const double a = sides[(k + 1) % 3], b = sides[(k + 2) % 3];
        moment[k] = 1000 * sides[0] * sides[1] * sides[2] * (a * a + b * b) / 12;
    }
}

static void euler_rate(const double* moment, const double* w, double* rate) {
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        rate[k] = (moment[i] - moment[j]) * w[i] * w[j] / moment[k];
    }
}

// Angular velocity in the body after `time`, by Runge-Kutta.
static void reference_spin(double time, double* w) {
    const double h = 1e-4;
    double moment[3];
    box_inertia(moment);
    memcpy(w, spin0, sizeof spin0);
    for (int i = 0; i < (int)(time / h + 0.5); i++) {
        double k[4][3], at[3];
        euler_rate(moment, w, k[0]);
        for (int s = 1; s < 4; s++) {
            for (int c = 0; c < 3; c++) at[c] = w[c] + (s < 3 ? h / 2 : h) * k[s - 1][c];
            euler_rate(moment, at, k[s]);
        }
        for (int c = 0; c < 3; c++) {
            w[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
        }
    }
}

static mabd_model* spinning_box(void) {
    const mabd_real size[3] = SIDES;
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_scene* scene = rig_scene(0);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom;
    for (int k = 0; k < 3; k++) body.angular_velocity[k] = (mabd_real)spin0[k];
    rig_add_body(scene, &body);
    return rig_model(scene);
}

// Error of the angular velocity in the body after 2 s, and of the angular momentum.
static double spin_error(double h, double* momentum, double* energy) {
    mabd_model* model = spinning_box();
    const mabd_sim_def def = impulse_def(h, 1, 1, 0);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    mabd_real q[4], w[3];
    double expected[3];
    for (int i = 0; i < (int)(2 / h + 0.5); i++) rig_step(sim);
    mabd_sim_get_state(sim, NULL, q, NULL, w);
    reference_spin(2, expected);
    const mabd_measure end = mabd_sim_measure(sim);
    const mabd_vec3 body = mabd_q_rotate(mabd_q_conjugate(mabd_q_load(q)), mabd_v3_load(w));
    *momentum = rig_distance(end.angular_momentum, start.angular_momentum) /
                rig_norm(start.angular_momentum);
    *energy = fabs(end.kinetic / start.kinetic - 1);
    rig_destroy(sim, model);
    return hypot(hypot(body.x - expected[0], body.y - expected[1]), body.z - expected[2]);
}

// [SI eq. 4, 12]: w stays; the angular momentum R I R' w turns with the body.
static double literal_momentum(double h) {
    double moment[3];
    mabd_quat q = mabd_q(1, 0, 0, 0);
    const mabd_vec3 w = mabd_v3(spin0[0], spin0[1], spin0[2]);
    box_inertia(moment);
    const mabd_vec3 L0 = mabd_v3(moment[0] * w.x, moment[1] * w.y, moment[2] * w.z);
    for (int i = 0; i < (int)(2 / h + 0.5); i++) {
        q = mabd_q_normalize(mabd_q_product(mabd_q_exp(mabd_v3_scale((mabd_real)h, w)), q));
    }
    const mabd_vec3 own = mabd_q_rotate(mabd_q_conjugate(q), w);
    const mabd_vec3 L =
        mabd_q_rotate(q, mabd_v3(moment[0] * own.x, moment[1] * own.y, moment[2] * own.z));
    return mabd_v3_norm(mabd_v3_sub(L, L0)) / mabd_v3_norm(L0);
}

Test(impulse_laws, a_spinning_box_follows_euler_with_order_2) {
    double error[3], momentum[3], energy;
    for (int k = 0; k < 3; k++) {
        const double h = ldexp(0.004, -k);
        error[k] = spin_error(h, &momentum[k], &energy);
        printf("h %.4f: w off by %.2e rad/s, momentum %.2e, energy %.1e; literally %.2e\n", h,
               error[k], momentum[k], energy, literal_momentum(h));
        cr_expect(lt(dbl, energy, 1e-11));
    }
    for (int k = 0; k < 2; k++) {
        cr_expect(lt(dbl, fabs(log2(error[k] / error[k + 1]) - 2), 0.2));
        cr_expect(lt(dbl, fabs(log2(momentum[k] / momentum[k + 1]) - 2), 0.2));
    }
    cr_expect(lt(dbl, 0.01, literal_momentum(0.001))); // at every h
}

// ---- drift -------------------------------------------------------------------------------------

static double pendulum_gap(mabd_correction correction, bool direct) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 1, chain.length = (mabd_real)0.1;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-9.81);
    mabd_sim_def def = impulse_def(0.01, 1, 10, 0);
    def.impulse.correction = correction;
    if (direct) def.impulse.joints = MABD_IMPULSE_JOINTS_DIRECT;
    mabd_sim* sim = rig_sim(model, &def);
    double gap = 0;
    for (int i = 0; i < 1000; i++) gap = fmax(gap, rig_step(sim).gap);
    rig_destroy(sim, model);
    return gap;
}

Test(impulse_laws, each_correction_bounds_the_drift_of_a_pendulum) {
    const double none = pendulum_gap(MABD_CORRECTION_NONE, false);
    const double baumgarte = pendulum_gap(MABD_CORRECTION_BAUMGARTE, false);
    const double direct = pendulum_gap(MABD_CORRECTION_SOFT, true);
    printf("gap after 10 s: none %.2g m, baumgarte %.2g m, direct %.2g m\n", none, baumgarte,
           direct);
    cr_expect(lt(dbl, 0.05, none));
    cr_expect(lt(dbl, baumgarte, 0.004));
    cr_expect(lt(dbl, direct, 1e-7));
}

// ---- the converged solution --------------------------------------------------------------------

#define LINKS    4
#define UNKNOWNS (6 * LINKS + 3 * LINKS)

// Solve A x = b by elimination with pivots.
static void solve_dense(double A[UNKNOWNS][UNKNOWNS + 1], double* x) {
    for (int k = 0; k < UNKNOWNS; k++) {
        int best = k;
        for (int i = k; i < UNKNOWNS; i++) {
            if (fabs(A[i][k]) > fabs(A[best][k])) best = i;
        }
        for (int c = 0; c <= UNKNOWNS; c++) {
            const double t = A[k][c];
            A[k][c] = A[best][c], A[best][c] = t;
        }
        for (int i = 0; i < UNKNOWNS; i++) {
            if (i == k) continue;
            const double f = A[i][k] / A[k][k];
            for (int c = k; c <= UNKNOWNS; c++) A[i][c] -= f * A[k][c];
        }
    }
    for (int k = 0; k < UNKNOWNS; k++) x[k] = A[k][UNKNOWNS] / A[k][k];
}

// Velocities after a substep of a chain that moves, against
//   [ M  -J' ] [ V ]   [ M V* ]
//   [ J   0  ] [ l ] = [ -b   ]     b: rate C + J g, here of correction baumgarte
Test(impulse_laws, sweeps_converge_to_the_solution_of_all_rows) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = LINKS;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-9.81);
    for (int direct = 0; direct < 2; direct++) {
        mabd_sim_def def = impulse_def(0.01, 1, direct ? 1 : 3000, 0);
        def.impulse.correction = MABD_CORRECTION_BAUMGARTE;
        if (direct) def.impulse.joints = MABD_IMPULSE_JOINTS_DIRECT;
        mabd_impulse_sim* sim = impulse_inside(model, def);
        mabd_error error = {0};
        for (int i = 0; i < 40; i++) {
            rig_check(mabd_impulse_step(sim, 0.01 * i, NULL, &error), &error, "step");
        }
        static double A[UNKNOWNS][UNKNOWNS + 1];
        double x[UNKNOWNS];
        memset(A, 0, sizeof A);
        // the next substep by hand: loads, rows, solution
        mabd_impulse_keep(sim);
        sim->from = sim->time, sim->h = (mabd_real)0.01;
        mabd_impulse_add_loads(sim);
        for (int i = 0; i < LINKS; i++) {
            const mabd_model_class* c = &model->classes[model->body_class[i]];
            const mabd_mat3 R = sim->poses[i].R;
            for (int k = 0; k < 3; k++) {
                A[6 * i + k][6 * i + k] = c->material.mass;
                A[6 * i + k][UNKNOWNS] = c->material.mass * sim->lines[i].v[k];
                const mabd_vec3 e = mabd_v3(k == 0, k == 1, k == 2), t = mabd_m3_tmul(R, e);
                const mabd_vec3 It =
                    mabd_m3_mul(R, mabd_v3(c->principal[0] * t.x, c->principal[1] * t.y,
                                           c->principal[2] * t.z));
                for (int r = 0; r < 3; r++) A[6 * i + 3 + r][6 * i + 3 + k] = mabd_v3_get(It, r);
                A[6 * i + 3 + k][UNKNOWNS] = mabd_v3_dot(It, mabd_v3_load(sim->lines[i].w));
            }
        }
        for (int i = 0; i < sim->joint_count; i++) {
            const mabd_impulse_joint* j = &sim->joints[i];
            mabd_real C[MABD_IMPULSE_MAX_ROWS];
            mabd_impulse_row J[MABD_IMPULSE_MAX_ROWS];
            mabd_impulse_joint_rows(sim, j, C, J);
            for (int r = 0; r < 3; r++) {
                const int row = 6 * LINKS + 3 * i + r;
                const mabd_real g =
                    mabd_v3_dot(J[r].ta, sim->shift[j->a]) + mabd_v3_dot(J[r].tb, sim->shift[j->b]);
                A[row][UNKNOWNS] = -(direct ? g : 0.2 / 0.01 * C[r] + g); // direct: projection
                for (int k = 0; k < 3; k++) {
                    const double f = mabd_v3_get(J[r].f, k);
                    if (j->a < LINKS) A[row][6 * j->a + k] = -f;
                    if (j->a < LINKS) A[row][6 * j->a + 3 + k] = mabd_v3_get(J[r].ta, k);
                    if (j->b < LINKS) A[row][6 * j->b + k] = f;
                    if (j->b < LINKS) A[row][6 * j->b + 3 + k] = mabd_v3_get(J[r].tb, k);
                }
                for (int k = 0; k < 6 * LINKS; k++) A[k][row] = -A[row][k];
            }
        }
        solve_dense(A, x);
        mabd_impulse_undo(sim);
        // one step: velocities of centres are not turned afterwards
        rig_check(mabd_impulse_step(sim, sim->time, NULL, &error), &error, "step");
        double worst = 0;
        for (int i = 0; i < LINKS; i++) {
            for (int k = 0; k < 3; k++) {
                worst = fmax(worst, fabs(sim->lines[i].v[k] - x[6 * i + k]));
            }
        }
        printf("%s: velocities off by %.1e m/s\n", direct ? "direct" : "3000 sweeps", worst);
        cr_expect(lt(dbl, worst, direct ? 1e-11 : 1e-10));
        impulse_inside_destroy(sim);
    }
    mabd_model_destroy(model);
}

// ---- rest --------------------------------------------------------------------------------------

// A chain of 100 links that falls: gaps of the prototype as upper bounds.
Test(impulse_laws, long_chains_stay_together) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 100, chain.length = (mabd_real)0.1;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-9.81);
    double gap[2] = {0, 0};
    for (int direct = 0; direct < 2; direct++) {
        mabd_sim_def def = impulse_def(0.01, direct ? 0 : 4, 1, 1);
        if (direct) def.impulse.joints = MABD_IMPULSE_JOINTS_DIRECT;
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < 200; i++) gap[direct] = fmax(gap[direct], rig_step(sim).gap);
        mabd_sim_destroy(sim);
    }
    printf("chain of 100, 2 s: sweeps open by %.2g m, direct by %.2g m\n", gap[0], gap[1]);
    cr_expect(lt(dbl, gap[0], 0.1));
    cr_expect(lt(dbl, gap[1], 1e-5));
    mabd_model_destroy(model);
}
