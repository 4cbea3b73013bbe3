// SPDX-License-Identifier: Apache-2.0
// Springs between points of rigid bodies: their forces against differences of lengths that are
// computed here, momentum, power of dampers, and the stability estimate against the eigenvalues of
// the stiffness by differences.
#include "math/quat.h"
#include "rigid/rigid_springs.h"
#include "support/draw.h"
#include "support/rig.h"

#define BODIES 3
#define SIDES  (BODIES + 1)
#define N      (6 * BODIES)

static mabd_model* make_model(const char* law) {
    char text[3000];
    snprintf(text, sizeof text,
             "{\"bodies\": ["
             "{\"name\": \"a\", \"mass\": 2, \"inertia\": [0.3, 0.4, 0.5, 0, 0, 0], \"position\": "
             "[0, 0, 0]},"
             "{\"name\": \"b\", \"mass\": 1, \"inertia\": [0.2, 0.1, 0.25, 0, 0, 0], \"position\": "
             "[1, 0, 0]},"
             "{\"name\": \"c\", \"mass\": 3, \"inertia\": [0.6, 0.5, 0.4, 0, 0, 0], \"position\": "
             "[0, 2, 0]}], \"springs\": ["
             "{\"law\": \"%s\", \"stiffness\": 40, \"damping\": 3, \"length\": 0.4, \"points\": ["
             "{\"body\": \"a\", \"point\": [0.1, 0.2, -0.1]}, {\"body\": \"b\", \"point\": [-0.2, "
             "0.1, 0.3]}]},"
             "{\"law\": \"%s\", \"stiffness\": 25, \"damping\": 2, \"length\": 0.7, \"points\": ["
             "{\"body\": \"world\", \"point\": [0.5, -1, 2]}, {\"body\": \"a\", \"point\": [0.3, "
             "0, 0.1]}, {\"body\": \"c\", \"point\": [0, 0.2, 0.1]}, {\"body\": \"a\", \"point\": "
             "[-0.2, 0.1, 0]}, {\"body\": \"b\", \"point\": [0.1, 0.1, 0.1]}]}]}",
             law, law);
    return rig_text_model(text);
}

static void draw_state(uint64_t* state, mabd_rigid_pose* poses, mabd_rigid_twist* u) {
    for (int i = 0; i < BODIES; i++) {
        poses[i].R = draw_rotation(state), poses[i].c = draw_vec3(state, 2);
        u[i].v = draw_vec3(state, 1), u[i].w = draw_vec3(state, 1);
    }
    poses[BODIES] = (mabd_rigid_pose){mabd_m3_identity(), {0, 0, 0}};
    u[BODIES] = (mabd_rigid_twist){{0, 0, 0}, {0, 0, 0}};
}

// Move bodies by s times the twists d.
static void move(const mabd_rigid_pose* from, const mabd_rigid_twist* d, double s,
                 mabd_rigid_pose* to) {
    for (int i = 0; i < SIDES; i++) {
        to[i].c = mabd_v3_axpy(s, d[i].v, from[i].c);
        to[i].R = mabd_m3_product(from[i].R, mabd_q_matrix(mabd_q_exp(mabd_v3_scale(s, d[i].w))));
    }
}

// Length of a spring, from its points alone.
static double length_at(const mabd_model* m, const mabd_model_spring* own,
                        const mabd_rigid_pose* poses) {
    double sum = 0;
    mabd_vec3 last = {0, 0, 0};
    for (int k = 0; k < own->count; k++) {
        const mabd_model_point* point = &m->spring_points[own->first + k];
        const mabd_rigid_pose* pose = &poses[point->body];
        const mabd_vec3 p = mabd_v3_add(pose->c, mabd_m3_mul(pose->R, point->X));
        if (k > 0) sum += mabd_v3_norm(mabd_v3_sub(p, last));
        last = p;
    }
    return sum;
}

static double tension_by_law(const mabd_model_spring* own, double length, double rate) {
    const double pull = own->stiffness * (length - own->length) + own->damping * rate;
    if (own->law == MABD_SPRING_LINEAR) return pull;
    if (own->law == MABD_SPRING_CABLE && (length <= own->length || pull <= 0)) return 0;
    return pull / own->length;
}

static mabd_rigid_twist unit_twist(int k) {
    const mabd_vec3 e = mabd_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2), none = mabd_v3(0, 0, 0);
    const mabd_rigid_twist d = {k < 3 ? e : none, k < 3 ? none : e};
    return d;
}

// Load component k of a body.
static double component(const mabd_rigid_wrench* w, int k) {
    return k < 3 ? mabd_v3_get(w->f, k) : mabd_v3_get(w->t, k - 3);
}

// The power of the force in a motion is -T dl, for all six motions of each body; the rate of the
// length is its derivative along the velocities; forces and torques of all sides cancel.
static void check_forces(const mabd_model* m, const mabd_model_spring* own, uint64_t* state) {
    mabd_rigid_pose poses[SIDES], moved[2][SIDES];
    mabd_rigid_twist u[SIDES];
    const double e = 1e-5;
    draw_state(state, poses, u);
    const mabd_rigid_spring now = mabd_rigid_spring_at(m, own, poses, u);
    move(poses, u, e, moved[1]), move(poses, u, -e, moved[0]);
    const double rate = (length_at(m, own, moved[1]) - length_at(m, own, moved[0])) / (2 * e);
    cr_assert(lt(dbl, fabs(now.length - length_at(m, own, poses)), 1e-13));
    cr_assert(lt(dbl, fabs(now.rate - rate), 1e-8));
    const double T = tension_by_law(own, now.length, rate), size = 1 + fabs(T);
    cr_assert(lt(dbl, fabs(now.t.T - T), 1e-6));
    cr_assert(lt(dbl, fabs(now.elastic - tension_by_law(own, now.length, 0)), 1e-12));
    mabd_rigid_wrench loads[SIDES] = {0};
    mabd_rigid_spring_pull(m, own, poses, now.t.T, loads);
    mabd_vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    for (int i = 0; i < SIDES; i++) {
        force = mabd_v3_add(force, loads[i].f);
        torque = mabd_v3_add(torque, mabd_v3_cross(poses[i].c, loads[i].f));
        torque = mabd_v3_add(torque, mabd_m3_mul(poses[i].R, loads[i].t));
        for (int k = 0; i < BODIES && k < 6; k++) {
            mabd_rigid_twist d[SIDES] = {0};
            d[i] = unit_twist(k);
            move(poses, d, e, moved[1]), move(poses, d, -e, moved[0]);
            const double by = (length_at(m, own, moved[1]) - length_at(m, own, moved[0])) / (2 * e);
            cr_assert(lt(dbl, fabs(component(&loads[i], k) + now.t.T * by), 1e-8 * size),
                      "body %d, %d", i, k);
        }
    }
    cr_assert(lt(dbl, mabd_v3_norm(force), 1e-12));
    cr_assert(lt(dbl, mabd_v3_norm(torque), 1e-12));
}

static const char* const laws[] = {"linear", "strain", "cable"};

Test(rigid_springs, forces_are_tension_times_the_gradient_of_the_length) {
    uint64_t state = 5;
    for (int law = 0; law < 3; law++) {
        mabd_model* m = make_model(laws[law]);
        for (int n = 0; n < 20; n++) {
            for (int i = 0; i < m->spring_count; i++) check_forces(m, &m->springs[i], &state);
        }
        mabd_model_destroy(m);
    }
}

Test(rigid_springs, the_energy_is_that_of_the_elastic_tension) {
    uint64_t state = 6;
    for (int law = 0; law < 3; law++) {
        mabd_model* m = make_model(laws[law]);
        for (int n = 0; n < 20; n++) {
            mabd_rigid_pose poses[SIDES], moved[2][SIDES];
            mabd_rigid_twist u[SIDES];
            const double e = 1e-5;
            draw_state(&state, poses, u);
            move(poses, u, e, moved[1]), move(poses, u, -e, moved[0]);
            for (int i = 0; i < m->spring_count; i++) {
                const mabd_model_spring* own = &m->springs[i];
                const mabd_rigid_spring now = mabd_rigid_spring_at(m, own, poses, u);
                const double by = (mabd_rigid_spring_energy(m, own, moved[1]) -
                                   mabd_rigid_spring_energy(m, own, moved[0])) /
                                  (2 * e);
                cr_assert(lt(dbl, fabs(by - now.elastic * now.rate), 1e-6 * (1 + fabs(by))));
            }
        }
        mabd_model_destroy(m);
    }
}

// A cable that is slack, or whose damper would push, does not pull.
Test(rigid_springs, cables_do_not_push) {
    const mabd_model_spring cable = {
        .law = MABD_SPRING_CABLE, .stiffness = 10, .damping = 4, .length = 2};
    const struct {
        double length, rate, T;
    } cases[] = {{1.9, 5, 0}, {2.5, 0, 2.5}, {2.5, 1, 4.5}, {2.5, -2, 0}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const mabd_rigid_spring_tension t = mabd_rigid_spring_tension_of(
            &cable, (mabd_real)cases[i].length, (mabd_real)cases[i].rate);
        cr_expect(lt(dbl, fabs(t.T - cases[i].T), 1e-14));
        cr_expect(eq(dbl, t.by_length, cases[i].T > 0 ? 5 : 0));
        cr_expect(eq(dbl, t.by_rate, cases[i].T > 0 ? 2 : 0));
    }
}

// ---- stability ---------------------------------------------------------------------------------

// Two particles of 2 kg and 1 kg on a spring of 40 N/m at rest: w^2 = k (1/2 + 1); a damper d adds
// (d (1/2 + 1))^2; neither body turns.
Test(rigid_springs, two_particles_have_the_rate_of_their_closed_form) {
    mabd_model* m = make_model("linear");
    mabd_model_spring own = m->springs[0];
    mabd_rigid_pose poses[SIDES];
    mabd_rigid_twist u[SIDES] = {0};
    for (int i = 0; i < SIDES; i++) poses[i] = (mabd_rigid_pose){mabd_m3_identity(), {i, 0, 0}};
    m->spring_points[own.first].X = m->spring_points[own.first + 1].X = mabd_v3(0, 0, 0);
    own.length = 1;
    for (int damped = 0; damped < 2; damped++) {
        mabd_rigid_stability s[BODIES];
        own.damping = damped ? 3 : 0;
        for (int i = 0; i < BODIES; i++) s[i] = mabd_rigid_stability_none();
        mabd_rigid_spring_stability(m, &own, poses, u, s);
        for (int i = 0; i < BODIES; i++) {
            const double rate2 = mabd_rigid_stability_rate2(&s[i], &m->classes[m->body_class[i]]);
            const double want = i == 2 ? 0 : 60 + (damped ? 4.5 * 4.5 : 0);
            cr_expect(lt(dbl, fabs(rate2 - want), 1e-12), "body %d: %g", i, rate2);
        }
    }
    mabd_model_destroy(m);
}

// Largest eigenvalue of M^-1 A, A symmetric, by iteration: with a shift by its norm all
// eigenvalues of the iterated matrix are positive.
static double highest(const mabd_model* m, double A[N][N]) {
    double x[N], y[N], w[N], shift = 0, value = 0;
    for (int i = 0; i < N; i++) {
        const mabd_model_class* c = &m->classes[m->body_class[i / 6]];
        w[i] = sqrt(i % 6 < 3 ? c->material.mass : c->principal[i % 6 - 3]), x[i] = 1 + 0.1 * i;
    }
    for (int i = 0; i < N; i++) {
        double row = 0;
        for (int k = 0; k < N; k++) A[i][k] /= w[i] * w[k], row += fabs(A[i][k]);
        shift = fmax(shift, row);
    }
    for (int n = 0; n < 3000; n++) {
        double norm = 0;
        for (int i = 0; i < N; i++) {
            y[i] = shift * x[i];
            for (int k = 0; k < N; k++) y[i] += A[i][k] * x[k];
            norm += y[i] * y[i];
        }
        norm = sqrt(norm), value = norm - shift;
        for (int i = 0; i < N; i++) x[i] = y[i] / norm;
    }
    return value;
}

// The estimate bounds the highest rate of the bodies on one spring at rest, and is no more than 8
// times its square where springs are taut.
Test(rigid_springs, the_estimate_bounds_the_highest_rate) {
    uint64_t state = 7;
    double loosest = 0, tightest = INFINITY;
    for (int law = 0; law < 3; law++) {
        mabd_model* m = make_model(laws[law]);
        for (int n = 0; n < 40; n++) {
            const mabd_model_spring* own = &m->springs[n % 2];
            mabd_rigid_pose poses[SIDES];
            mabd_rigid_twist u[SIDES], rest[SIDES] = {0};
            mabd_rigid_stability s[BODIES];
            double A[N][N], bound = 0;
            draw_state(&state, poses, u);
            if (!(mabd_rigid_spring_at(m, own, poses, rest).t.T > 0)) continue;
            for (int i = 0; i < BODIES; i++) s[i] = mabd_rigid_stability_none();
            mabd_model_spring undamped = *own;
            undamped.damping = 0;
            mabd_rigid_spring_stability(m, &undamped, poses, rest, s);
            for (int i = 0; i < BODIES; i++) {
                const mabd_model_class* c = &m->classes[m->body_class[i]];
                bound = fmax(bound, mabd_rigid_stability_rate2(&s[i], c));
            }
            for (int k = 0; k < N; k++) { // -d load/d motion, symmetric part
                mabd_rigid_wrench loads[2][SIDES];
                memset(loads, 0, sizeof loads);
                for (int side = 0; side < 2; side++) {
                    mabd_rigid_pose moved[SIDES];
                    mabd_rigid_twist d[SIDES] = {0};
                    d[k / 6] = unit_twist(k % 6);
                    move(poses, d, side ? 1e-5 : -1e-5, moved);
                    const mabd_rigid_spring at = mabd_rigid_spring_at(m, own, moved, rest);
                    mabd_rigid_spring_pull(m, own, moved, at.elastic, loads[side]);
                }
                for (int i = 0; i < N; i++) {
                    A[i][k] =
                        -(component(&loads[1][i / 6], i % 6) - component(&loads[0][i / 6], i % 6)) /
                        2e-5;
                }
            }
            for (int i = 0; i < N; i++) {
                for (int k = 0; k < i; k++) A[i][k] = A[k][i] = (A[i][k] + A[k][i]) / 2;
            }
            const double rate2 = highest(m, A);
            cr_expect(ge(dbl, bound, 0.999 * rate2));
            loosest = fmax(loosest, bound / rate2), tightest = fmin(tightest, bound / rate2);
        }
        mabd_model_destroy(m);
    }
    printf("estimate over square of the highest rate: %.2f to %.2f\n", tightest, loosest);
    cr_expect(lt(dbl, loosest, 8));
}
