// SPDX-License-Identifier: Apache-2.0
#include "support/linkage_scene.h"

#include "support/random_scene.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

#define MOST_CORNERS 32
#define WIDTH        ((mabd_real)0.05)

typedef struct corner {
    mabd_real x, z;
} corner;

static void check(mabd_status status, const mabd_error* error) {
    if (status != MABD_OK) cr_fatal("linkage: %s", error->text);
}

static mabd_real between(uint64_t* state, double least, double most) {
    return (mabd_real)(least + (most - least) * ((double)random_real(state) + 1) / 2);
}

static void place_straight(const linkage_def* def, uint64_t* state, corner* p) {
    p[0] = (corner){0, 0};
    for (int32_t i = 1; i < def->corners; i++) {
        const mabd_real l = between(state, 0.3, 0.8), turn = def->distance * random_real(state);
        p[i].x = p[i - 1].x + l * (mabd_real)cos((double)turn);
        p[i].z = p[i - 1].z + l * (mabd_real)sin((double)turn);
    }
}

static void place_parallelogram(const linkage_def* def, uint64_t* state, corner* p) {
    const mabd_real crank = between(state, 0.3, 0.8), coupler = between(state, 0.9, 1.5);
    p[0] = (corner){0, 0};
    p[1].x = crank * (mabd_real)cos((double)def->distance);
    p[1].z = crank * (mabd_real)sin((double)def->distance);
    p[2] = (corner){p[1].x + coupler, p[1].z};
    p[3] = (corner){coupler, 0};
}

static void place_flat(const linkage_def* def, uint64_t* state, corner* p) {
    const int32_t half = def->corners / 2;
    for (int32_t i = 0; i < def->corners; i++) {
        const int32_t column = i <= half ? i : def->corners - i;
        p[i].x = (mabd_real)0.5 * (mabd_real)column + (mabd_real)0.1 * random_real(state);
        p[i].z = (mabd_real)0.5 * def->distance * random_real(state);
    }
}

static void place_four_bar(uint64_t* state, corner* p) {
    p[0] = (corner){0, 0};
    p[1] = (corner){between(state, -0.2, 0.2), between(state, 0.3, 0.6)};
    p[2] = (corner){between(state, 0.6, 1.2), between(state, 0.4, 0.9)};
    p[3] = (corner){between(state, 0.7, 1.2), between(state, -0.1, 0.1)};
}

static int32_t place(const linkage_def* def, uint64_t* state, corner* p) {
    if (def->corners < 2 || def->corners > MOST_CORNERS) cr_fatal("linkage: too many corners");
    switch (def->pose) {
    case LINKAGE_STRAIGHT:
        place_straight(def, state, p);
        return def->corners;
    case LINKAGE_FLAT_LOOP:
        place_flat(def, state, p);
        return def->corners;
    case LINKAGE_CHANGE_POINT:
        place_parallelogram(def, state, p);
        return 4;
    default:
        place_four_bar(state, p);
        return 4;
    }
}

static void add_bar(mabd_scene* scene, uint64_t* state, corner p, corner q) {
    mabd_error error = {0};
    const double length = hypot((double)(q.x - p.x), (double)(q.z - p.z));
    const double angle = atan2((double)(q.z - p.z), (double)(q.x - p.x));
    const mabd_real size[3] = {(mabd_real)length, WIDTH, WIDTH};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.geoms = &geom;
    body.geom_count = 1;
    body.position[0] = (p.x + q.x) / 2, body.position[2] = (p.z + q.z) / 2;
    body.rotation[0] = (mabd_real)cos(angle / 2); // about -y
    body.rotation[2] = (mabd_real)-sin(angle / 2);
    for (int k = 0; k < 3; k++) {
        body.velocity[k] = random_real(state);
        body.angular_velocity[k] = 2 * random_real(state);
    }
    check(mabd_scene_add_body(scene, &body, NULL, &error), &error);
}

// Add a hinge whose axis is the y axis to `distance`.
static void add_hinge(mabd_scene* scene, const linkage_def* def, uint64_t* state, corner p,
                      int32_t a, int32_t b) {
    mabd_error error = {0};
    mabd_joint_def joint = mabd_default_joint_def();
    const mabd_real axis[3] = {def->distance * random_real(state), 1,
                               def->distance * random_real(state)};
    joint.type = MABD_JOINT_HINGE;
    joint.a = a;
    joint.b = b;
    joint.anchor[0] = p.x, joint.anchor[2] = p.z;
    if (!mabd_frame_from_axes(axis, NULL, joint.frame)) cr_fatal("linkage: no frame");
    check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error);
}

mabd_scene* linkage_scene(const linkage_def* def) {
    mabd_error error = {0};
    mabd_scene* scene;
    corner p[MOST_CORNERS];
    uint64_t state = def->seed * 0x9e3779b97f4a7c15ull + 1;
    const int32_t n = place(def, &state, p);
    const bool open = def->pose == LINKAGE_STRAIGHT;
    const int32_t bars = open || def->grounded ? n - 1 : n;
    check(mabd_scene_create(NULL, &scene), &error);
    for (int32_t i = 0; i < bars; i++) add_bar(scene, &state, p[i], p[(i + 1) % n]);
    for (int32_t i = 1; i < bars; i++) add_hinge(scene, def, &state, p[i], i - 1, i);
    if (def->grounded) add_hinge(scene, def, &state, p[0], MABD_WORLD, 0);
    if (!open && def->grounded) add_hinge(scene, def, &state, p[n - 1], bars - 1, MABD_WORLD);
    if (!open && !def->grounded) add_hinge(scene, def, &state, p[0], bars - 1, 0);
    return scene;
}
