// SPDX-License-Identifier: Apache-2.0
// A star: arms in the directions of a Fibonacci lattice on the sphere,
//
//   d_i = (sqrt(1 - z^2) cos(i g), sqrt(1 - z^2) sin(i g), z),  z = 1 - (2 i + 1) / arms,
//
// g the golden angle. Link k of an arm has its middle at hub_radius + (k + 1/2) length.

#include "generate/field_defaults.h"
#include "generate/tools.h"

#include <math.h>

static const char* const what = "star";
static const mabd_real golden_angle = (mabd_real)2.39996322972865332223;

mabd_star_def mabd_default_star_def(void) {
    mabd_star_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/star.def"
    return def;
}

static mabd_status check(const mabd_scene* scene, const mabd_star_def* def, mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "arms", def->arms, 1, error));
    MABD_TRY(mabd_generate_count(what, "links", def->links, 1, error));
    MABD_TRY(mabd_generate_total(what, (int64_t)def->arms * def->links + 1, error));
    MABD_TRY(mabd_generate_positive(what, "hub_radius", def->hub_radius, error));
    MABD_TRY(mabd_generate_positive(what, "length", def->length, error));
    MABD_TRY(mabd_generate_positive(what, "radius", def->radius, error));
    MABD_TRY(mabd_generate_finite(what, "spin", &def->spin, 1, error));
    return mabd_generate_finite(what, "position", def->position, 3, error);
}

static mabd_status add_hub(mabd_scene* scene, const mabd_star_def* def, int32_t* hub,
                           mabd_error* error) {
    char name[MABD_PART_NAME];
    mabd_geom geom = mabd_generate_link_geom(MABD_SHAPE_SPHERE, 0, def->hub_radius, &def->material);
    mabd_body_def body = mabd_generate_link_body(mabd_generate_part_name(def->name, "hub", name),
                                                 &geom, def->material, def->drag);
    mabd_v3_store(mabd_v3_load(def->position), body.position);
    body.angular_velocity[2] = def->spin;
    MABD_TRY(mabd_scene_add_body(scene, &body, hub, error));
    if (!def->pinned) return MABD_OK;
    mabd_joint_def pin = mabd_default_joint_def();
    pin.name = mabd_generate_part_name(def->name, "pin", name);
    pin.b = *hub;
    mabd_v3_store(mabd_v3_load(def->position), pin.anchor);
    return mabd_scene_add_joint(scene, &pin, NULL, error);
}

static mabd_vec3 arm_direction(int32_t i, int32_t arms) {
    const mabd_real z = 1 - (mabd_real)(2 * (int64_t)i + 1) / (mabd_real)arms;
    const mabd_real across = (mabd_real)sqrt(1 - z * z), turn = golden_angle * (mabd_real)i;
    return mabd_v3(across * (mabd_real)cos(turn), across * (mabd_real)sin(turn), z);
}

/// Compute the poses and joints of arm i; body `first` of the scene will be its first.
static void place_arm(const mabd_star_def* def, int32_t i, int32_t hub, int32_t first,
                      mabd_generate_body_batch* links, mabd_generate_joint_batch* joints) {
    const mabd_vec3 direction = arm_direction(i, def->arms);
    const mabd_vec3 centre = mabd_v3_load(def->position);
    const mabd_real x[3] = {direction.x, direction.y, direction.z};
    mabd_real frame[4];
    (void)mabd_frame_from_axes(x, NULL, frame);
    for (int32_t k = 0; k < def->links; k++) {
        const int32_t at = i * def->links + k;
        const mabd_real near = def->hub_radius + def->length * (mabd_real)k;
        const mabd_vec3 arm = mabd_v3_scale(near + def->length / 2, direction);
        const mabd_vec3 spin = mabd_v3(0, 0, def->spin);
        mabd_v3_store(mabd_v3_add(centre, arm), links->position + 3 * (size_t)at);
        mabd_q_store(mabd_q_load(frame), links->rotation + 4 * (size_t)at);
        mabd_v3_store(mabd_v3_cross(spin, arm), links->velocity + 3 * (size_t)at);
        mabd_v3_store(spin, links->angular + 3 * (size_t)at);
        mabd_generate_joint_batch_set(joints, at, k == 0 ? hub : first + at - 1, first + at,
                                      mabd_v3_axpy(near, direction, centre));
    }
}

static mabd_status add_arms(mabd_scene* scene, const mabd_star_def* def, int32_t hub,
                            mabd_generate_body_batch* links, mabd_generate_joint_batch* joints,
                            mabd_error* error) {
    const int32_t first = mabd_scene_body_count(scene);
    for (int32_t i = 0; i < def->arms; i++) place_arm(def, i, hub, first, links, joints);
    char name[MABD_PART_NAME];
    mabd_geom geom =
        mabd_generate_link_geom(MABD_SHAPE_CAPSULE, def->length, def->radius, &def->material);
    mabd_body_def body = mabd_generate_link_body(mabd_generate_part_name(def->name, "arm", name),
                                                 &geom, def->material, def->drag);
    MABD_TRY(mabd_generate_body_batch_add(scene, &body, links, NULL, error));
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = name;
    if (!def->name) joint.name = NULL;
    return mabd_generate_joint_batch_add(scene, &joint, joints, error);
}

mabd_status mabd_generate_star(mabd_scene* scene, const mabd_star_def* def, mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    const int32_t n = def->arms * def->links;
    int32_t hub = 0;
    MABD_TRY(mabd_generate_reserve(scene, (int64_t)n + 1, (int64_t)n + 1, error));
    MABD_TRY(add_hub(scene, def, &hub, error));
    mabd_generate_body_batch links;
    mabd_generate_joint_batch joints;
    MABD_TRY(mabd_generate_body_batch_create(scene, n, true, true, &links, error));
    mabd_status status = mabd_generate_joint_batch_create(scene, n, false, &joints, error);
    if (status == MABD_OK) {
        status = add_arms(scene, def, hub, &links, &joints, error);
        mabd_generate_joint_batch_free(scene, &joints);
    }
    mabd_generate_body_batch_free(scene, &links);
    return status;
}
