// SPDX-License-Identifier: Apache-2.0
// The reference of `mabd bench work-precision` against closed forms and conservation laws:
//   pendulum   theta(t) = pi/2 - 2 asin(k sn(K(k) - w t, k)), k = sin(45 deg), w^2 = m g c / I
//   free body  kinetic energy and angular momentum are constant
//   linkages   energy is constant, joints stay closed, and halving the step takes the error to 1/16
#include "cli/bench/rigid_reference.c"

#include "bench/peers/peer_measure.h"
#include "cli/bench/envelope.c"
#include "cli/bench/peer_scenes.c"
#include "cli/bench/work_scenes.c"
#include "math/quat.h"
#include "support/elliptic.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static peer_scene scene_of(work_scene_id id) {
    mabd_error error = {0};
    mabd_model* model = NULL;
    peer_scene scene;
    cr_assert(eq(int, work_scene_build(id, &model, &error), MABD_OK), "%s", error.text);
    cr_assert(eq(int, bench_peer_export(model, 0.01, 1, &scene, &error), MABD_OK), "%s",
              error.text);
    mabd_model_destroy(model);
    return scene;
}

// Integrate over `count` tenths of a second.
static rigid_path integrate(const peer_scene* scene, double h, int32_t count, peer_state* states) {
    rigid_path path;
    cr_assert(rigid_path_create(scene, 0.1, count, &path));
    cr_assert(rigid_reference_run(scene, h, &path, states));
    return path;
}

Test(rigid_reference, pendulum_is_the_elliptic_function) {
    peer_scene scene = scene_of(WORK_SCENE_PENDULUM);
    rigid_path path = integrate(&scene, 1e-3, 20, NULL);
    const double m = 1000 * 0.04 * 0.04, g = 9.81, c = 0.5, k = sqrt(0.5);
    const double w = sqrt(m * g * c / (m * (1 + 0.04 * 0.04) / 12 + m * c * c));
    for (int i = 0; i < 20; i++) {
        const double sn = elliptic_sn(elliptic_k(k) - w * 0.1 * (i + 1), k);
        const double angle = MABD_PI / 2 - 2 * asin(k * sn); // below level
        const double* x = path.positions + 3 * i;
        cr_expect(lt(dbl, hypot(x[0] - c * cos(angle), x[2] + c * sin(angle)), 1e-10), "time %d",
                  i);
        cr_expect(lt(dbl, fabs(x[1]), 1e-12));
    }
    rigid_path_destroy(&path);
    peer_scene_destroy(&scene);
}

static mabd_vec3 momentum(const peer_body* body, const peer_state* s) {
    const mabd_quat q = mabd_q_load(s->quaternion);
    const mabd_vec3 w = mabd_q_rotate(mabd_q_conjugate(q), mabd_v3_load(s->angular));
    const double* m = body->inertia;
    return mabd_q_rotate(q, mabd_v3(m[0] * w.x, m[1] * w.y, m[2] * w.z));
}

Test(rigid_reference, free_body_keeps_energy_and_momentum) {
    peer_scene scene;
    cr_assert(peer_scene_create(1, 0, 0, &scene));
    scene.bodies[0] = (peer_body){
        .mass = 2,
        .inertia = {0.01, 0.02, 0.025},
        .start = {.quaternion = {1, 0, 0, 0}, .velocity = {1, 2, 3}, .angular = {3, 10, 1}}};
    peer_state end;
    rigid_path path = integrate(&scene, 1e-3, 10, &end);
    const peer_body* body = &scene.bodies[0];
    const mabd_vec3 L = momentum(body, &body->start);
    cr_expect(lt(dbl, mabd_v3_norm(mabd_v3_sub(momentum(body, &end), L)), 1e-8 * mabd_v3_norm(L)));
    cr_expect(epsilon_eq(dbl, peer_energy(&scene, &end), peer_energy(&scene, &body->start), 1e-8));
    cr_expect(epsilon_eq(dbl, end.position[1], 2, 1e-12));
    cr_expect(lt(dbl, 1e-2, fabs(end.angular[0] - 3))); // it tumbles
    rigid_path_destroy(&path);
    peer_scene_destroy(&scene);
}

// The four-bar has redundant rows, the arm hinges in all directions, the chain ball joints.
Test(rigid_reference, linkages_keep_energy_and_joints_at_order_four) {
    const work_scene_id ids[] = {WORK_SCENE_FOUR_BAR, WORK_SCENE_ARM, WORK_SCENE_CHAIN};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        peer_scene scene = scene_of(ids[i]);
        peer_state start[16], end[16];
        for (int32_t k = 0; k < scene.body_count; k++) start[k] = scene.bodies[k].start;
        rigid_path coarse = integrate(&scene, 2e-3, 4, NULL);
        rigid_path middle = integrate(&scene, 1e-3, 4, NULL);
        rigid_path fine = integrate(&scene, 5e-4, 4, end);
        const double change = peer_energy(&scene, end) - peer_energy(&scene, start);
        cr_expect(lt(dbl, fabs(change), 1e-7 * peer_energy_scale(&scene)), "scene %zu", i);
        cr_expect(lt(dbl, peer_gap(&scene, end), 1e-7), "scene %zu", i);
        const double first = rigid_path_distance(&coarse, &middle);
        const double second = rigid_path_distance(&middle, &fine);
        cr_expect(lt(dbl, 3.5, log2(first / second)), "scene %zu: %g %g", i, first, second);
        rigid_path_destroy(&coarse);
        rigid_path_destroy(&middle);
        rigid_path_destroy(&fine);
        peer_scene_destroy(&scene);
    }
}

// A = B B' with a banded B of a fixed pattern: the solution of A x = A y is y.
Test(envelope, solves_in_its_envelope) {
    enum { N = 12, BAND = 3 };
    double B[N][N] = {0}, A[N][N] = {0}, x[N] = {0}, y[N];
    int32_t first[N];
    envelope m;
    for (int i = 0; i < N; i++) {
        first[i] = i > BAND ? i - BAND : 0, y[i] = sin(3 * i);
        for (int k = first[i]; k <= i; k++) B[i][k] = i == k ? 3 + 0.1 * i : cos(5 * i + k);
    }
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            for (int j = 0; j < N; j++) A[i][k] += B[i][j] * B[k][j];
            x[i] += A[i][k] * y[k];
        }
    }
    cr_assert(envelope_create(N, first, &m));
    for (int i = 0; i < N; i++) {
        for (int k = first[i]; k <= i; k++) *envelope_at(&m, i, k) = A[i][k];
    }
    envelope_factor(&m);
    envelope_solve(&m, x);
    for (int i = 0; i < N; i++) cr_expect(epsilon_eq(dbl, x[i], y[i], 1e-13), "row %d", i);
    envelope_destroy(&m);
}
