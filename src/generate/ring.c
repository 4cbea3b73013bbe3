// SPDX-License-Identifier: Apache-2.0
// Rings: a regular polygon of n links of length L.
//
//   corner j at angle  phi_j = pi/2 + (2j - 1) pi / n, radius L / (2 sin(pi/n))
//   link j from corner j to corner j + 1, joint j at corner j between links j - 1 and j
//
// Every corner is computed once from its own angle and is the anchor of both its links, so joint 0
// closes as well as the others. Seen against the axis of the ring, links run counterclockwise; link
// 0 is the top one, running to -x.

#include "generate/field_defaults.h"
#include "generate/tools.h"

#include <math.h>

static const char* const what = "ring";

mabd_ring_def mabd_default_ring_def(void) {
    mabd_ring_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/ring.def"
    return def;
}

static mabd_status check(const mabd_scene* scene, const mabd_ring_def* def, mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "links", def->links, 3, error));
    MABD_TRY(mabd_generate_positive(what, "length", def->length, error));
    MABD_TRY(mabd_generate_positive(what, "radius", def->radius, error));
    MABD_TRY(mabd_generate_joint(what, "joint", def->joint, error));
    MABD_TRY(mabd_generate_joint(what, "pin", def->pin, error));
    MABD_TRY(mabd_generate_finite(what, "position", def->position, 3, error));
    MABD_TRY(mabd_generate_finite(what, "spin", &def->spin, 1, error));
    if ((unsigned)def->shape >= MABD_SHAPE_PLANE) {
        return mabd_fail(error, MABD_ERR_ARG, "ring: unknown shape");
    }
    if (def->pinned && def->spin != 0) {
        return mabd_fail(error, MABD_ERR_ARG, "ring: a pinned ring cannot spin");
    }
    return MABD_OK;
}

/// Turn a vector of the plane of the ring (x right, y up) into world axes.
static mabd_vec3 to_world(const mabd_ring_def* def, mabd_real x, mabd_real y) {
    return def->vertical ? mabd_v3(x, 0, y) : mabd_v3(x, y, 0);
}

static mabd_vec3 axis(const mabd_ring_def* def) {
    return def->vertical ? mabd_v3(0, -1, 0) : mabd_v3(0, 0, 1);
}

static mabd_real corner_angle(const mabd_ring_def* def, mabd_real j) {
    return MABD_PI / 2 + (2 * j - 1) * (MABD_PI / (mabd_real)def->links);
}

static mabd_vec3 corner(const mabd_ring_def* def, int32_t j) {
    const mabd_real distance = def->length / (2 * (mabd_real)sin(MABD_PI / (mabd_real)def->links));
    const mabd_real phi = corner_angle(def, j == def->links ? 0 : j);
    mabd_vec3 arm = to_world(def, (mabd_real)cos(phi), (mabd_real)sin(phi));
    return mabd_v3_axpy(distance, arm, mabd_v3_load(def->position));
}

/// Compute the rotation of link j: x along the link, y along the axis of the ring.
static mabd_quat link_rotation(const mabd_ring_def* def, int32_t j) {
    const mabd_real phi = corner_angle(def, (mabd_real)j + (mabd_real)0.5);
    mabd_vec3 along = to_world(def, -(mabd_real)sin(phi), (mabd_real)cos(phi));
    return mabd_q_from_matrix(mabd_m3(along, axis(def), mabd_v3_cross(along, axis(def))));
}

static mabd_vec3 link_middle(const mabd_ring_def* def, int32_t j) {
    return mabd_v3_scale((mabd_real)0.5, mabd_v3_add(corner(def, j), corner(def, j + 1)));
}

static mabd_status add_links(mabd_scene* scene, const mabd_ring_def* def, int32_t* first,
                             mabd_error* error) {
    const bool moving = def->spin != 0;
    const mabd_vec3 omega = mabd_v3_scale(def->spin, axis(def));
    mabd_generate_body_batch batch;
    MABD_TRY(mabd_generate_body_batch_create(scene, def->links, true, moving, &batch, error));
    for (int32_t j = 0; j < batch.n; j++) {
        mabd_vec3 middle = link_middle(def, j);
        mabd_v3_store(middle, batch.position + 3 * (size_t)j);
        mabd_q_store(link_rotation(def, j), batch.rotation + 4 * (size_t)j);
        if (moving) {
            mabd_vec3 arm = mabd_v3_sub(middle, mabd_v3_load(def->position));
            mabd_v3_store(mabd_v3_cross(omega, arm), batch.velocity + 3 * (size_t)j);
            mabd_v3_store(omega, batch.angular + 3 * (size_t)j);
        }
    }
    mabd_geom geom = mabd_generate_link_geom(def->shape, def->length, def->radius, &def->material);
    mabd_body_def body = mabd_generate_link_body(def->name, &geom, def->material, def->drag);
    mabd_status status = mabd_generate_body_batch_add(scene, &body, &batch, first, error);
    mabd_generate_body_batch_free(scene, &batch);
    return status;
}

static mabd_status add_joints(mabd_scene* scene, const mabd_ring_def* def, int32_t first,
                              mabd_error* error) {
    mabd_generate_joint_batch batch;
    MABD_TRY(mabd_generate_joint_batch_create(scene, def->links, true, &batch, error));
    for (int32_t j = 0; j < batch.n; j++) {
        int32_t before = j == 0 ? def->links - 1 : j - 1;
        mabd_generate_joint_batch_set(&batch, j, first + before, first + j, corner(def, j));
        mabd_q_store(mabd_generate_link_joint_frame(def->joint, link_rotation(def, j)),
                     batch.frame + 4 * (size_t)j);
    }
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = def->name;
    joint.type = def->joint;
    for (int k = 0; k < MABD_AXIS_COUNT; k++) joint.axes[k] = def->axes[k];
    mabd_status status = mabd_generate_joint_batch_add(scene, &joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}

static mabd_status pin(mabd_scene* scene, const mabd_ring_def* def, int32_t first,
                       mabd_error* error) {
    char name[MABD_PART_NAME];
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = mabd_generate_part_name(def->name, "pin", name);
    joint.type = def->pin;
    joint.a = MABD_WORLD;
    joint.b = first;
    mabd_v3_store(link_middle(def, 0), joint.anchor);
    mabd_q_store(mabd_generate_link_joint_frame(def->pin, link_rotation(def, 0)), joint.frame);
    return mabd_scene_add_joint(scene, &joint, NULL, error);
}

mabd_status mabd_generate_ring(mabd_scene* scene, const mabd_ring_def* def, mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    int32_t first = 0;
    MABD_TRY(add_links(scene, def, &first, error));
    MABD_TRY(add_joints(scene, def, first, error));
    return def->pinned ? pin(scene, def, first, error) : MABD_OK;
}
