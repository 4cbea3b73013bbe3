// SPDX-License-Identifier: Apache-2.0
// Figures 7, 11 and 12 of [VI] as claims: energies that stay in a band, joints that do not drift,
// dampers at large steps, a half swing against elliptic functions. Published or measured numbers of
// the paper stand beside ours where they are used.
#include "support/elliptic.h"
#include "support/reference.h"
#include "support/rig.h"

#define G  9.81
#define PI 3.14159265358979323846

static mabd_sim_def variational_def(double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)h);
    def.formulation = MABD_FORMULATION_VARIATIONAL;
    return def;
}

// Text of a rod of length l and mass m = density l from (x, z) at an angle below the level, hinged
// about y.
static int add_rod(char* text, int at, const char* name, double x, double z, double angle,
                   double length, double mass) {
    const double inertia = mass * length * length / 12, thin = inertia / 1000;
    return at + sprintf(text + at,
                        "{\"name\": \"%s\", \"mass\": %.17g, \"inertia\": [%.17g, %.17g, %.17g], "
                        "\"position\": [%.17g, 0, %.17g], \"rotation\": {\"axis\": [0, 1, 0], "
                        "\"angle\": %.17g}}",
                        name, mass, thin, inertia, inertia, x + length / 2 * cos(angle),
                        z - length / 2 * sin(angle), angle);
}

// ---- figure 7a: joints of a loop do not drift --------------------------------------------------

// Three rods and the ground in a loop: 1, sqrt(1/2) and 1 m, 1 kg/m. The ground link is not given
// in the paper; here it is sqrt(1/2) as well. Bars begin parallel.
static mabd_model* loop_model(void) {
    char text[4096];
    const double s = sqrt(0.5), down = 0.4; // both bars: turned down, away from dead points
    const double x = cos(down), z = -sin(down);
    int at = sprintf(text, "{\"gravity\": [0, 0, -9.81], \"bodies\": [");
    at = add_rod(text, at, "crank", 0, 0, down, 1, 1);
    at += sprintf(text + at, ", ");
    at = add_rod(text, at, "coupler", x, z, 0, s, s);
    at += sprintf(text + at, ", ");
    at = add_rod(text, at, "rocker", s, 0, down, 1, 1);
    at += sprintf(text + at,
                  "], \"joints\": [{\"type\": \"hinge\", \"b\": \"crank\", \"anchor\": [0, 0, 0], "
                  "\"axis\": [0, 1, 0]}, {\"type\": \"hinge\", \"a\": \"crank\", \"b\": "
                  "\"coupler\", \"anchor\": [%.17g, 0, %.17g], \"axis\": [0, 1, 0]}, {\"type\": "
                  "\"hinge\", \"a\": \"coupler\", \"b\": \"rocker\", \"anchor\": [%.17g, 0, "
                  "%.17g], \"axis\": [0, 1, 0]}, {\"type\": \"hinge\", \"b\": \"rocker\", "
                  "\"anchor\": [%.17g, 0, 0], \"axis\": [0, 1, 0]}]}",
                  x, z, s + x, z, s);
    return rig_text_model(text);
}

// The same loop by accelerations: parallel bars have one angle a with the level, and accelerations
// of the joint between coupler and rocker are integrated as they come, by Runge-Kutta without
// projection. y: ends of both bars (x, z), their rates. Rods are 1 m: each end has its third of a
// rod and half the coupler as mass, and the rows keep both bars and the coupler rigid.
typedef struct loop_masses {
    double end;  // effective mass of an end of a bar about its hinge [kg]
    double load; // mass that its weight acts with
    double coupler, width;
} loop_masses;

static void loop_rate(const void* context, const double* y, double* dy) {
    const loop_masses* m = context;
    const double s = m->width, *p = y, *v = y + 4;
    const double rows[3][4] = {{p[0], p[1], 0, 0},
                               {0, 0, p[2] - s, p[3]},
                               {p[0] - p[2], p[1] - p[3], p[2] - p[0], p[3] - p[1]}};
    const double dx = v[0] - v[2], dz = v[1] - v[3];
    const double bend[3] = {v[0] * v[0] + v[1] * v[1], v[2] * v[2] + v[3] * v[3],
                            dx * dx + dz * dz};
    // M = (end + coupler/3) I between ends, coupler/6 between both: a rigid rod by its ends
    const double a = m->end + m->coupler / 3, b = m->coupler / 6, det = a * a - b * b;
    double inverse[3][4], K[3][4], free[4] = {0, -m->load * G / (a + b), 0, -m->load * G / (a + b)};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++) {
            inverse[i][k] = (a * rows[i][k] - b * rows[i][(k + 2) % 4]) / det;
        }
    }
    for (int i = 0; i < 3; i++) {
        K[i][3] = -bend[i];
        for (int k = 0; k < 4; k++) K[i][3] -= rows[i][k] * free[k];
        for (int j = 0; j < 3; j++) {
            K[i][j] = 0;
            for (int k = 0; k < 4; k++) K[i][j] += rows[i][k] * inverse[j][k];
        }
    }
    for (int i = 0; i < 3; i++) { // Gauss-Jordan
        const double over = 1 / K[i][i];
        for (int j = 0; j < 4; j++) K[i][j] *= over;
        for (int k = 0; k < 3; k++) {
            const double f = k == i ? 0 : K[k][i];
            for (int j = 0; j < 4; j++) K[k][j] -= f * K[i][j];
        }
    }
    for (int k = 0; k < 4; k++) {
        dy[k] = v[k], dy[4 + k] = free[k];
        for (int i = 0; i < 3; i++) dy[4 + k] += inverse[i][k] * K[i][3];
    }
}

// Error of the lengths of the loop by accelerations [m].
static double loop_gap(const double* y, double s) {
    const double a = fabs(hypot(y[0], y[1]) - 1), b = fabs(hypot(y[2] - s, y[3]) - 1);
    return fmax(fmax(a, b), fabs(hypot(y[2] - y[0], y[3] - y[1]) - s));
}

Test(variational_long, a_loop_stays_closed_where_accelerations_drift) {
    const double s = sqrt(0.5), h = 0.01, x = cos(0.4), z = -sin(0.4);
    const loop_masses masses = {1.0 / 3, 0.5 + s / 2, s, s};
    double y[8] = {x, z, s + x, z, 0, 0, 0, 0}, gap = 0, drift = 0, early = 0;
    mabd_model* model = loop_model();
    const mabd_sim_def def = variational_def(h);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    for (int i = 0; i < 1000; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(info.converged && info.retries == 0);
        gap = fmax(gap, info.gap);
        drift = fmax(drift, fabs(mabd_sim_measure(sim).energy - start));
        if (i == 19) {
            // both are at the same place before accelerations have drifted
            mabd_real p[9];
            reference_rk4(loop_rate, &masses, 8, h / 64, 20 * 64, y);
            mabd_sim_get_state(sim, p, NULL, NULL, NULL);
            early = hypot(2 * p[0] - y[0], 2 * p[2] - y[1]);
        }
    }
    double by_accelerations = 0, w[8] = {x, z, s + x, z, 0, 0, 0, 0};
    for (int i = 0; i < 1000; i++) {
        reference_rk4(loop_rate, &masses, 8, h, 1, w);
        by_accelerations = fmax(by_accelerations, loop_gap(w, s));
    }
    printf("loop: gap %.1e m, energy within %.2e J; by accelerations (RK4) %.1e m\n", gap, drift,
           by_accelerations);
    cr_expect(lt(dbl, early, 1e-3));
    cr_expect(lt(dbl, gap, 1e-14));
    cr_expect(lt(dbl, 1e-7, by_accelerations));
    cr_expect(lt(dbl, drift, 2e-3 * fabs(start) + 5e-2));
    rig_destroy(sim, model);
}

// ---- figure 7b: energy in a band ---------------------------------------------------------------

static mabd_model* double_pendulum_model(void) {
    char text[4096];
    int at = sprintf(text, "{\"gravity\": [0, 0, -9.81], \"bodies\": [");
    at = add_rod(text, at, "upper", 0, 0, 0, 1, 1);
    at += sprintf(text + at, ", ");
    at = add_rod(text, at, "lower", 1, 0, 0, 1, 1);
    sprintf(text + at, "], \"joints\": [{\"type\": \"ball\", \"b\": \"upper\", \"anchor\": [0, 0, "
                       "0]}, {\"type\": \"ball\", \"a\": \"upper\", \"b\": \"lower\", \"anchor\": "
                       "[1, 0, 0]}]}");
    return rig_text_model(text);
}

// Energies of a run in `steps` steps: extremes, means of its quarters, and the slope of a line
// through all of it times its length.
typedef struct energy_band {
    double low, high, quarter[4], trend, gap;
} energy_band;

static energy_band band_of(const mabd_model* model, const mabd_sim_def* def, int steps) {
    mabd_sim* sim = rig_sim(model, def);
    const double start = mabd_sim_measure(sim).energy;
    energy_band band = {0};
    double moment = 0;
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        const double e = mabd_sim_measure(sim).energy - start, t = (i + 0.5) / steps - 0.5;
        band.gap = fmax(band.gap, info.gap);
        band.low = fmin(band.low, e), band.high = fmax(band.high, e);
        band.quarter[(int)(4LL * i / steps)] += 4 * e / steps;
        moment += t * e;
    }
    band.trend = 12 * moment / steps;
    mabd_sim_destroy(sim);
    printf("energy %.2e to %.2e J, quarters %.3e %.3e %.3e %.3e, trend %.2e, gap %.1e m\n",
           band.low, band.high, band.quarter[0], band.quarter[1], band.quarter[2], band.quarter[3],
           band.trend, band.gap);
    return band;
}

// 1/2 m g L is 9.81 J of both rods.
Test(variational_long, a_double_pendulum_keeps_its_energy_in_a_band_without_trend) {
    mabd_model* model = double_pendulum_model();
    mabd_sim_def def = variational_def(0.01);
    def.variational.newton = MABD_NEWTON_EXACT;
#ifdef MABD_LONG_TESTS
    const int steps = 400000;
    const double trend = 2e-3;
#else
    const int steps = 100000;
    const double trend = 0.02;
#endif
    const energy_band band = band_of(model, &def, steps);
    cr_expect(lt(dbl, band.high, 1e-2 * 2 * G));
    cr_expect(lt(dbl, -2e-2 * 2 * G, band.low));
    cr_expect(lt(dbl, fabs(band.trend), trend * (band.high - band.low)));
    cr_expect(lt(dbl, band.gap, 1e-12));
    mabd_model_destroy(model);
}

// ---- figure 7c: dampers at large steps ---------------------------------------------------------

// A pendulum of 1 m and 1 kg from level with a damper of 0.5 N m s/rad, y = angle, rate, work of
// the damper; the angle is from the level downwards.
static void damped_rate(const void* context, const double* y, double* dy) {
    const double inertia = 1.0 / 3, damping = *(const double*)context;
    dy[0] = y[1];
    dy[1] = (G / 2 * cos(y[0]) - damping * y[1]) / inertia;
    dy[2] = damping * y[1] * y[1];
}

static mabd_model* damped_model(double damping) {
    char text[2048];
    int at = sprintf(text, "{\"gravity\": [0, 0, -9.81], \"bodies\": [");
    at = add_rod(text, at, "rod", 0, 0, 0, 1, 1);
    sprintf(text + at,
            "], \"joints\": [{\"type\": \"hinge\", \"b\": \"rod\", \"anchor\": [0, 0, 0], "
            "\"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"damping\": %g}}}]}",
            damping);
    return rig_text_model(text);
}

Test(variational_long, a_damped_pendulum_at_a_tenth_of_a_second_has_a_tenth_of_eulers_error) {
    const double h = 0.1, damping = 0.5;
    double y[3] = {0, 0, 0}, euler[2] = {0, 0}, worst = 0, by_euler = 0;
    mabd_model* model = damped_model(damping);
    mabd_sim_def def = variational_def(h);
    def.variational.substeps = 1;
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 100; i++) {
        double dy[3];
        const double all[3] = {euler[0], euler[1], 0};
        damped_rate(&damping, all, dy);
        euler[0] += h * dy[0], euler[1] += h * dy[1];
        reference_rk4(damped_rate, &damping, 3, h / 100, 100, y);
        rig_step(sim);
        const double energy = y[1] * y[1] / 6 - G / 2 * sin(y[0]);
        worst = fmax(worst, fabs(mabd_sim_measure(sim).energy - energy));
        by_euler = fmax(by_euler, fabs(euler[1] * euler[1] / 6 - G / 2 * sin(euler[0]) - energy));
    }
    printf("damped pendulum, h = 0.1 s: energy off by %.3f J, explicit Euler %.3f J\n", worst,
           by_euler);
    cr_expect(lt(dbl, worst, 0.25));
    cr_expect(lt(dbl, worst, by_euler / 10));
    rig_destroy(sim, model);
}

static double damped_error(const mabd_model* model, mabd_integrator integrator, double h,
                           double angle) {
    mabd_sim_def def = variational_def(h);
    mabd_real x[MABD_AXIS_COUNT];
    def.integrator = integrator, def.variational.substeps = 1;
    mabd_sim* sim = rig_sim(model, &def);
    for (long i = 0; i < lround(1 / h); i++) rig_step(sim);
    mabd_sim_get_joint_coordinates(sim, 0, x);
    mabd_sim_destroy(sim);
    return fabs(x[MABD_AXIS_RX] - angle);
}

// Halves before and after a node: order 2; the coming velocity alone, as in the paper: order 1.
Test(variational_long, dampers_are_of_second_order_and_the_literal_ones_of_first) {
    const double damping = 0.5;
    double y[3] = {0, 0, 0}, halves[3], literal[3];
    mabd_model* model = damped_model(damping);
    reference_rk4(damped_rate, &damping, 3, 1e-4, 10000, y);
    for (int i = 0; i < 3; i++) {
        halves[i] = damped_error(model, MABD_INTEGRATOR_RATTLE, ldexp(0.02, -i), y[0]);
        literal[i] = damped_error(model, MABD_INTEGRATOR_SYMPLECTIC_EULER, ldexp(0.02, -i), y[0]);
    }
    cr_expect(lt(dbl, 1.9, rig_order("halves", 0.02, 3, halves)));
    const double first = rig_order("literal", 0.02, 3, literal);
    cr_expect(first > 0.8 && first < 1.3, "order %g", first);
    mabd_model_destroy(model);
}

// ---- figure 11: half a swing -------------------------------------------------------------------

// A rod of scale^2 m and scale kg falls from level through half a swing, whose time is
// 4 sqrt(2 l/3 g) K(sin 45) / 2: it ends level on the other side, at rest. The paper takes the
// period of small swings, at whose half the pendulum is still 0.16 rad away.
static double swing_end(double scale, double half, int steps, double* iterations) {
    char text[2048];
    const double l = scale * scale;
    int at = sprintf(text, "{\"gravity\": [0, 0, -9.81], \"bodies\": [");
    at = add_rod(text, at, "rod", 0, 0, 0, l, scale);
    sprintf(text + at, "], \"joints\": [{\"type\": \"hinge\", \"b\": \"rod\", \"anchor\": [0, 0, "
                       "0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"stiffness\": 0, "
                       "\"damping\": 1e-300}}}]}");
    mabd_model* model = rig_text_model(text);
    mabd_sim_def def = variational_def(half / steps);
    mabd_real x[3];
    def.variational.substeps = 1, def.variational.newton = MABD_NEWTON_EXACT;
    mabd_sim* sim = rig_sim(model, &def);
    *iterations = 0;
    for (int i = 0; i < steps; i++) *iterations += rig_step(sim).iterations;
    *iterations /= steps;
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    rig_destroy(sim, model);
    return atan2(fabs(x[2]), -x[0]); // angle from the level
}

// Half of the period of a swing from level, and of small ones, of a rod of length l.
static double true_half(double l) {
    return 2 * sqrt(2 * l / (3 * G)) * elliptic_k(sqrt(0.5));
}
static double small_half(double l) {
    return acos(-1) * sqrt(2 * l / (3 * G));
}

static void swing_rate(const void* context, const double* y, double* rate) {
    (void)context;
    rate[0] = y[1], rate[1] = -1.5 * G * sin(y[0]); // from hanging, l = 1
}

// The figure of the paper to the letter: at half the period of small swings the pendulum itself is
// 0.16 rad from the level, so no method has less than that as its error.
Test(variational_long, half_a_small_swing_ends_elsewhere) {
    double y[2] = {acos(0), 0}, iterations;
    reference_rk4(swing_rate, NULL, 2, small_half(1) / 10000, 10000, y);
    const double off = y[0] + acos(0), error = swing_end(1, small_half(1), 1000, &iterations);
    printf("half a small swing: %.4f rad off, %.4f by theory\n", error, off);
    cr_expect(lt(dbl, fabs(off - 0.1604), 1e-4));
    cr_expect(lt(dbl, fabs(error - off), 1e-5));
}

Test(variational_long, half_a_swing_ends_where_elliptic_functions_say) {
    const double scales[3] = {1, 0.5, 0.1};
    double last[3] = {0};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 4; i++) {
            const int steps = (int)lround(pow(10, i + 1));
            double iterations;
            const double half = true_half(scales[k] * scales[k]);
            const double error = swing_end(scales[k], half, steps, &iterations);
            printf("scale %.1f, %5d steps: error %.2e rad, %.2f iterations\n", scales[k], steps,
                   error, iterations);
            cr_expect(le(dbl, iterations, 4));
            // at the turning point the error of the phase enters squared
            if (i == 1 || i == 2) {
                const double order = log10(last[k] / error);
                cr_expect(order > 3.7 && order < 4.3, "order %g", order);
            }
            if (i == 3) cr_expect(lt(dbl, error, 1e-12));
            last[k] = error;
        }
    }
}

// ---- figure 12: through dead points at two steps -----------------------------------------------

Test(variational_long, the_double_four_bar_moves_alike_at_10_and_1_ms) {
    mabd_model* model = rig_file_model("scenes/double-four-bar.json", NULL, NULL);
    const mabd_sim_def coarse = variational_def(0.01), fine = variational_def(0.001);
    mabd_sim *a = rig_sim(model, &coarse), *b = rig_sim(model, &fine);
    const double start = mabd_sim_measure(a).energy;
    double apart = 0, off[2] = {0, 0}, gap = 0;
    for (int i = 0; i < 1000; i++) {
        gap = fmax(gap, rig_step(a).gap);
        for (int k = 0; k < 10; k++) gap = fmax(gap, rig_step(b).gap);
        off[0] = fmax(off[0], fabs(mabd_sim_measure(a).energy - start));
        off[1] = fmax(off[1], fabs(mabd_sim_measure(b).energy - start));
        apart = fmax(apart, rig_apart(model, a, b));
    }
    printf("double four-bar: E0 %.3f J within %.1e and %.1e J, %.1e m apart, gap %.1e m\n", start,
           off[0], off[1], apart, gap);
    cr_expect(lt(dbl, fabs(start - 35.835), 1e-3));
    cr_expect(lt(dbl, off[0], 0.045));
    cr_expect(lt(dbl, off[1], 5e-4));
    cr_expect(lt(dbl, apart, 1e-2));
    cr_expect(lt(dbl, gap, 1e-14));
    mabd_sim_destroy(a);
    rig_destroy(b, model);
}

// ---- figures 8a, 9a and 10: cost ---------------------------------------------------------------

// Iterations of a step and bytes of a body of a scene of some size.
static void cost_of(const char* path, const char* name, const char* size, mabd_preset preset,
                    double h, double* iterations, double* bytes) {
    mabd_model* model = rig_file_model(path, name, size);
    mabd_sim_def def = variational_def(h);
    mabd_sim_def_apply_preset(&def, preset);
    def.variational.substeps = 1;
    mabd_sim* sim = rig_sim(model, &def);
    *iterations = 0;
    for (int i = 0; i < 10; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(info.converged && info.gap <= def.row_tolerance);
        *iterations += info.iterations / 10.0;
    }
    *bytes = (double)mabd_sim_bytes(sim) / mabd_model_body_count(model);
    rig_destroy(sim, model);
}

// Loops of constant size: iterations and memory of a body do not grow with their number.
Test(variational_long, a_chain_of_four_bars_costs_in_proportion_to_its_loops) {
    double first, last, small, large;
    cost_of("scenes/four-bar-chain.json", "segments", "10", MABD_PRESET_BALANCED, 0.01, &first,
            &small);
    cost_of("scenes/four-bar-chain.json", "segments", "300", MABD_PRESET_BALANCED, 0.01, &last,
            &large);
    printf("four-bars: %.2f and %.2f iterations, %.0f and %.0f bytes a body\n", first, last, small,
           large);
    cr_expect(lt(dbl, fmax(first, last), 3.2));
    cr_expect(lt(dbl, large, small));
}

// Every tolerance is met by chains of any length, with the same iterations.
Test(variational_long, chains_meet_every_tolerance) {
    const mabd_preset presets[3] = {MABD_PRESET_FAST, MABD_PRESET_BALANCED, MABD_PRESET_EXACT};
    for (int k = 0; k < 3; k++) {
        double few, many, small, large;
        cost_of("scenes/chain.json", "links", "10", presets[k], 5e-4, &few, &small);
        cost_of("scenes/chain.json", "links", "1000", presets[k], 5e-4, &many, &large);
        printf("chain, %s: %.2f and %.2f iterations, %.0f and %.0f bytes a body\n",
               mabd_preset_name(presets[k]), few, many, small, large);
        cr_expect(lt(dbl, many, few + 0.5));
        cr_expect(lt(dbl, many, 5));
        cr_expect(lt(dbl, large, small));
    }
}

// ---- figure 14: an exoskeleton on a spastic arm ------------------------------------------------

// Largest torque of the elbow of scenes/variational/exoskeleton.json in 12.5 s.
static double elbow_torque(const char* scale) {
    mabd_model* model = rig_file_model("scenes/variational/exoskeleton.json", "scale", scale);
    const mabd_sim_def def = variational_def(0.005);
    mabd_sim* sim = rig_sim(model, &def);
    double most = 0;
    for (int i = 0; i < 2500; i++) {
        mabd_real wrench[36];
        rig_step(sim);
        mabd_sim_get_joint_forces(sim, wrench);
        most = fmax(most, fabs(wrench[6 + 4])); // joint 1: about y
    }
    rig_destroy(sim, model);
    return most;
}

Test(variational_long, tuned_drives_spare_a_spastic_elbow) {
    const double full = elbow_torque("1"), tuned = elbow_torque("0.25");
    printf("elbow: %.2f N m with whole gains, %.2f N m with a quarter\n", full, tuned);
    cr_expect(lt(dbl, 5, full));
    cr_expect(le(dbl, tuned, 5));
    cr_expect(lt(dbl, 4, tuned));
}

// ---- figures 7d and 13: contacts ---------------------------------------------------------------

// A cube that falls from 0.4 m rests above the ground, lower than the 43 um of the paper.
Test(variational_long, a_dropped_box_rests_at_the_height_of_the_barrier) {
    mabd_model* model = rig_file_model("scenes/variational/box-drop.json", NULL, NULL);
    const mabd_sim_def def = variational_def(0.01);
    mabd_sim* sim = rig_sim(model, &def);
    double lowest = 1, height = 1;
    for (int i = 0; i < 200; i++) {
        mabd_real x[6];
        rig_step(sim);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        height = x[5] - 0.25, lowest = fmin(lowest, height);
    }
    printf("box: rests %.3e m above the ground, lowest %.3e m\n", height, lowest);
    cr_expect(lt(dbl, 0, lowest));
    cr_expect(lt(dbl, height, 43e-6));
    cr_expect(lt(dbl, height, 2e-6));
    rig_destroy(sim, model);
}

Test(variational_long, a_robot_on_four_legs_trots) {
    mabd_model* model = rig_file_model("scenes/variational/gait.json", NULL, NULL);
    const mabd_sim_def def = variational_def(0.001);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real x[42];
    for (int i = 0; i < 1500; i++) rig_step(sim);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    printf("gait: %.2f m in 1.5 s, %.3f m high\n", x[3], x[5]);
    cr_expect(lt(dbl, 1.2, x[3])); // 12 m in 10 s need 1.2 m/s; it begins at rest
    cr_expect(lt(dbl, 0.25, x[5]));
    rig_destroy(sim, model);
}
