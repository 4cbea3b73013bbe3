// SPDX-License-Identifier: Apache-2.0
// Other engines simulate the scene that they are given: masses, moments, sizes, friction and joints
// against closed forms. Engines whose programs are not built are left out.
//
//   slide   distance v^2 / (2 mu g) of a box, an upright cylinder, and a capsule along its axis
//   roll    a ball that slides at v rolls from t = 2 v / (7 mu g) on, at 5/7 v: 2/5 m r^2
//   rest    a shape lies with its centre at half its height, upright and lying
//   swing   a rod on a hinge or a ball joint: theta = theta_0 cos(w t), w^2 = m g c / I_a; at
//           theta_0 = 0.05 rad w is right to theta_0^2 / 16 = 1.6e-4
#include "bench/peers/peer_harness.h"
#include "math/quat.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define G 9.81

// Engines, and a variant of each: those with iterations as they come.
static const char* const ENGINES[][2] = {
    {"mujoco", "tree"}, {"ode", "quickstep"}, {"bullet", "impulse"}};
enum { ENGINE_COUNT = 3 };

static const double NO_TURN[4] = {1, 0, 0, 0};

static bool find_program(int engine, char* path, size_t size) {
    const char* slash = strrchr(MABD_COMMAND, '/');
    snprintf(path, size, "%.*s/mabd-peer-%s", (int)(slash - MABD_COMMAND), MABD_COMMAND,
             ENGINES[engine][0]);
    return access(path, X_OK) == 0;
}

// Let an engine run a scene; positions (count x bodies x 3) after every `every` steps.
static void run(const char* path, const char* variant, const peer_scene* scene, int every,
                int count, double* positions) {
    char name[] = "/tmp/mabd-peer-XXXXXX", command[8192], *text = NULL;
    size_t length = 0;
    const int file = mkstemp(name);
    cr_assert(ge(int, file, 0));
    FILE* out = fdopen(file, "w");
    peer_scene_write(scene, out);
    fclose(out);
    snprintf(command, sizeof(command), "%s run %s 1 100 %d %d <%s", path, variant, every, count,
             name);
    FILE* pipe = popen(command, "r");
    FILE* all = open_memstream(&text, &length);
    for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) fputc(c, all);
    fclose(all);
    cr_assert(eq(int, pclose(pipe), 0));
    const peer_samples samples = {.every = every, .count = count, .positions = positions};
    cr_assert(peer_samples_read(text, scene->body_count, &samples), "%.300s", text);
    unlink(name);
    free(text);
}

// A scene of `bodies` bodies on the plane z = 0, which is the last body.
static peer_scene on_a_plane(int32_t bodies, double mu, double h, int64_t steps) {
    peer_scene scene;
    cr_assert(peer_scene_create(bodies + 1, 0, bodies + 1, &scene));
    strcpy(scene.name, "plane");
    scene.gravity[2] = -G, scene.h = h, scene.steps = steps;
    memcpy(scene.bodies[bodies].start.quaternion, NO_TURN, sizeof(NO_TURN));
    scene.shapes[bodies] = (peer_shape){
        .kind = PEER_SHAPE_PLANE, .body = bodies, .quaternion = {1, 0, 0, 0}, .friction = mu};
    return scene;
}

// Body i: a shape of mass 2 kg with the moments of a full body.
static void put_body(peer_scene* scene, int32_t i, peer_shape_kind kind, const double* size,
                     double height, double friction) {
    peer_body* body = &scene->bodies[i];
    const double m = 2, r = size[0];
    *body = (peer_body){.mass = m,
                        .start = {.position = {0, 2.0 * i, height}, .quaternion = {1, 0, 0, 0}}};
    for (int k = 0; k < 3; k++) {
        const double a = size[(k + 1) % 3], b = size[(k + 2) % 3];
        body->inertia[k] = kind == PEER_SHAPE_BOX      ? m / 12 * (a * a + b * b)
                           : kind == PEER_SHAPE_SPHERE ? 0.4 * m * r * r
                           : k == 2                    ? m * r * r / 2
                                                       : m / 12 * (3 * r * r + size[1] * size[1]);
    }
    scene->shapes[i] =
        (peer_shape){.kind = kind, .body = i, .quaternion = {1, 0, 0, 0}, .friction = friction};
    memcpy(scene->shapes[i].size, size, 3 * sizeof(double));
}

static void turn_body(peer_scene* scene, int32_t i, mabd_vec3 axis) {
    mabd_q_store(mabd_q_axis_angle(axis, acos(-1) / 2), scene->bodies[i].start.quaternion);
}

static void for_engines(void (*check)(const char* name, const double* x), const peer_scene* scene,
                        int every, int count) {
    double* x = malloc(3 * (size_t)count * (size_t)scene->body_count * sizeof(double));
    char path[4096];
    int found = 0;
    for (int i = 0; i < ENGINE_COUNT; i++) {
        if (!find_program(i, path, sizeof(path))) continue;
        run(path, ENGINES[i][1], scene, every, count, x);
        check(ENGINES[i][0], x);
        found++;
    }
    free(x);
    if (found == 0) cr_skip_test("no other engine is built");
}

// ---- contacts ----------------------------------------------------------------------------------

#define MU    0.3
#define SPEED 2.0
#define SLIDE (SPEED * SPEED / (2 * MU * G))

static void check_slide(const char* name, const double* x) {
    static const char* const shapes[] = {"box", "cylinder", "capsule"};
    for (int i = 0; i < 3; i++) {
        cr_expect(lt(dbl, fabs(x[3 * i] - SLIDE), 0.04 * SLIDE), "%s: %s slides %.4f m, not %.4f",
                  name, shapes[i], x[3 * i], SLIDE);
    }
}

// Boxes of Bullet stop 3 % early. Friction of the bodies and of the plane are equal; a product of
// both would let them slide 3.3 times as far, their sum half as far.
Test(peer_engines, shapes_slide_as_far_as_friction_lets_them) {
    const double box[3] = {0.4, 0.3, 0.1}, cylinder[3] = {0.2, 0.1}, capsule[3] = {0.05, 0.4};
    peer_scene scene = on_a_plane(3, MU, 0.002, 500);
    put_body(&scene, 0, PEER_SHAPE_BOX, box, 0.05, MU);
    put_body(&scene, 1, PEER_SHAPE_CYLINDER, cylinder, 0.05, MU);
    put_body(&scene, 2, PEER_SHAPE_CAPSULE, capsule, 0.05, MU);
    turn_body(&scene, 2, mabd_v3(0, 1, 0)); // along x
    for (int i = 0; i < 3; i++) scene.bodies[i].start.velocity[0] = SPEED;
    for_engines(check_slide, &scene, 500, 1);
    peer_scene_destroy(&scene);
}

static void check_roll(const char* name, const double* x) {
    const double t = 1, rolls = 2 * SPEED / (7 * MU * G);
    const double at = SPEED * rolls - MU * G * rolls * rolls / 2 + SPEED * 5 / 7 * (t - rolls);
    cr_expect(lt(dbl, fabs(x[0] - at), 0.01 * at), "%s rolls to %.4f m, not %.4f", name, x[0], at);
}

Test(peer_engines, a_sliding_ball_begins_to_roll) {
    const double ball[3] = {0.2};
    peer_scene scene = on_a_plane(1, MU, 0.002, 500);
    put_body(&scene, 0, PEER_SHAPE_SPHERE, ball, 0.2, MU);
    scene.bodies[0].start.velocity[0] = SPEED;
    for_engines(check_roll, &scene, 500, 1);
    peer_scene_destroy(&scene);
}

static const double HEIGHTS[] = {0.25, 0.2, 0.15, 0.06, 0.12, 0.1, 0.14};

static void check_rest(const char* name, const double* x) {
    for (int i = 0; i < 7; i++) {
        cr_expect(lt(dbl, fabs(x[3 * i + 2] - HEIGHTS[i]), 0.002),
                  "%s: body %d at %.4f m, not %.4f", name, i, x[3 * i + 2], HEIGHTS[i]);
    }
}

Test(peer_engines, shapes_have_their_sizes) {
    const double box[3] = {0.3, 0.4, 0.5}, ball[3] = {0.2}, capsule[3] = {0.06, 0.18},
                 cylinder[3] = {0.1, 0.24}, plate[3] = {0.28, 0.3, 0.3};
    peer_scene scene = on_a_plane(7, MU, 0.002, 300);
    put_body(&scene, 0, PEER_SHAPE_BOX, box, 0.252, MU);
    put_body(&scene, 1, PEER_SHAPE_SPHERE, ball, 0.202, MU);
    put_body(&scene, 2, PEER_SHAPE_CAPSULE, capsule, 0.152, MU); // 0.18 / 2 + 0.06
    put_body(&scene, 3, PEER_SHAPE_CAPSULE, capsule, 0.062, MU);
    put_body(&scene, 4, PEER_SHAPE_CYLINDER, cylinder, 0.122, MU);
    put_body(&scene, 5, PEER_SHAPE_CYLINDER, cylinder, 0.102, MU);
    put_body(&scene, 6, PEER_SHAPE_BOX, plate, 0.142, MU);
    turn_body(&scene, 3, mabd_v3(0, 1, 0));
    turn_body(&scene, 5, mabd_v3(1, 0, 0));
    turn_body(&scene, 6, mabd_v3(0, 1, 0)); // x up
    for_engines(check_rest, &scene, 300, 1);
    peer_scene_destroy(&scene);
}

// ---- joints ------------------------------------------------------------------------------------

#define TILT   0.05
#define LENGTH 0.8

// Four eighths of a second from the start: the rod's centre is half its length from the anchor.
static void check_swing(const char* name, const double* x) {
    const double w = sqrt(1.5 * G / LENGTH); // I_a = m L^2 / 3
    for (int k = 0; k < 4; k++) {
        const double at = LENGTH / 2 * TILT * cos(w * 0.125 * (k + 1));
        cr_expect(lt(dbl, fabs(x[3 * k] - at), 0.01 * LENGTH / 2 * TILT),
                  "%s swings to %.6f, not %.6f", name, x[3 * k], at);
    }
}

static void swing(bool hinge) {
    const double m = 2, tiny = 1e-4;
    peer_scene scene;
    cr_assert(peer_scene_create(1, 1, 0, &scene));
    strcpy(scene.name, "swing");
    scene.gravity[2] = -G, scene.h = 0.0005, scene.steps = 1000;
    scene.bodies[0] =
        (peer_body){.mass = m,
                    .inertia = {m * LENGTH * LENGTH / 12, m * LENGTH * LENGTH / 12, tiny},
                    .start.position = {LENGTH / 2 * sin(TILT), 0, -LENGTH / 2 * cos(TILT)}};
    mabd_q_store(mabd_q_axis_angle(mabd_v3(0, -1, 0), TILT), scene.bodies[0].start.quaternion);
    scene.joints[0] = (peer_joint){.a = PEER_WORLD, .b = 0, .anchor_b = {0, 0, LENGTH / 2}};
    if (hinge) scene.joints[0].axis_a[1] = scene.joints[0].axis_b[1] = 1;
    for_engines(check_swing, &scene, 250, 4);
    peer_scene_destroy(&scene);
}

Test(peer_engines, a_rod_swings_on_a_hinge) {
    swing(true);
}

Test(peer_engines, a_rod_swings_on_a_ball_joint) {
    swing(false);
}
