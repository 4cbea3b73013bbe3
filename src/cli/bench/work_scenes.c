// SPDX-License-Identifier: Apache-2.0
// The scenes of `mabd bench work-precision`; see work_scenes.h.
#include "cli/bench/work_scenes.h"

#include "base/error.h"
#include "cli/bench/peer_scenes.h"
#include "mabd/generate.h"
#include "math/quat.h"

#include <math.h>
#include <string.h>

static const work_scene SCENES[] = {
#define X(name, text, duration, path, h) {text, duration, path, h},
    WORK_SCENE_LIST(X)
#undef X
};

work_scene work_scene_get(work_scene_id id) {
    return SCENES[id];
}

// A body of one geom that begins at `from` and is `along` long.
static mabd_status add_link(mabd_scene* scene, mabd_geom geom, mabd_vec3 from, mabd_vec3 along,
                            int32_t* id, mabd_error* error) {
    const mabd_vec3 z = mabd_v3(0, 0, 1);
    const mabd_real length = mabd_v3_norm(along);
    const mabd_vec3 axis = mabd_v3_cross(z, along);
    mabd_body_def def = mabd_default_body_def();
    def.geom_count = 1, def.geoms = &geom;
    mabd_v3_store(mabd_v3_axpy(0.5, along, from), def.position);
    if (mabd_v3_norm(axis) > 0) {
        const mabd_vec3 unit = mabd_v3_scale(1 / mabd_v3_norm(axis), axis);
        const mabd_real angle = atan2(mabd_v3_norm(axis), mabd_v3_dot(z, along));
        mabd_q_store(mabd_q_axis_angle(unit, angle), def.rotation);
    }
    return length > 0 ? mabd_scene_add_body(scene, &def, id, error) : MABD_ERR_ARG;
}

static mabd_status add_hinge(mabd_scene* scene, int32_t a, int32_t b, mabd_vec3 anchor,
                             mabd_vec3 axis, mabd_error* error) {
    mabd_joint_def def = mabd_default_joint_def();
    mabd_real x[3];
    def.type = MABD_JOINT_HINGE, def.a = a, def.b = b;
    mabd_v3_store(anchor, def.anchor);
    mabd_v3_store(axis, x);
    if (!mabd_frame_from_axes(x, NULL, def.frame)) return MABD_ERR_ARG;
    return mabd_scene_add_joint(scene, &def, NULL, error);
}

static mabd_status add_pendulum(mabd_scene* scene, mabd_error* error) {
    const mabd_real size[3] = {0.04, 0.04, 1};
    const mabd_geom rod = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    const mabd_vec3 origin = mabd_v3(0, 0, 0);
    int32_t id = 0;
    MABD_TRY(add_link(scene, rod, origin, mabd_v3(1, 0, 0), &id, error));
    return add_hinge(scene, MABD_WORLD, id, origin, mabd_v3(0, 1, 0), error);
}

static mabd_status add_four_bar(mabd_scene* scene, mabd_error* error) {
    const mabd_four_bar_def def = mabd_default_four_bar_def();
    return mabd_generate_four_bar(scene, &def, error);
}

// An arm as robots have them: the first hinge is upright, then each second one bends the arm and
// each other one turns along the link before it.
static mabd_status add_arm(mabd_scene* scene, mabd_error* error) {
    static const mabd_real LINKS[7][3] = {
        {0, 0, 0.3},          {0.12, 0.02, 0.16},  {0.16, 0.04, 0.1},   {0.18, -0.06, 0.02},
        {0.16, -0.08, -0.06}, {0.09, 0.04, -0.08}, {0.11, 0.03, -0.02},
    };
    static const mabd_real WIDTHS[7] = {0.14, 0.14, 0.12, 0.12, 0.1, 0.1, 0.16};
    mabd_vec3 at = mabd_v3(0, 0, 0), before = mabd_v3(0, 0, 1);
    int32_t last = MABD_WORLD;
    for (int i = 0; i < 7; i++) {
        const mabd_vec3 along = mabd_v3_load(LINKS[i]);
        const mabd_real size[3] = {WIDTHS[i], WIDTHS[i], mabd_v3_norm(along)};
        const mabd_geom link = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
        int32_t id = 0;
        MABD_TRY(add_link(scene, link, at, along, &id, error));
        const mabd_vec3 axis = i % 2 == 0 ? before : mabd_v3_cross(mabd_v3(0, 0, 1), along);
        MABD_TRY(add_hinge(scene, last, id, at, axis, error));
        at = mabd_v3_add(at, along), before = along, last = id;
    }
    return MABD_OK;
}

static mabd_status add_scene(work_scene_id id, mabd_scene* scene, mabd_error* error) {
    MABD_TRY(mabd_scene_set_name(scene, SCENES[id].name));
    if (id == WORK_SCENE_PENDULUM) return add_pendulum(scene, error);
    return id == WORK_SCENE_ARM ? add_arm(scene, error) : add_four_bar(scene, error);
}

mabd_status work_scene_build(work_scene_id id, mabd_model** model, mabd_error* error) {
    const bench_peer_case chain = {BENCH_PEER_CHAIN, 10}, net = {BENCH_PEER_NET, 10};
    if (id == WORK_SCENE_CHAIN) return bench_peer_build(&chain, model, error);
    if (id == WORK_SCENE_NET) return bench_peer_build(&net, model, error);
    mabd_scene* scene = NULL;
    MABD_TRY(mabd_scene_create(NULL, &scene));
    mabd_status status = add_scene(id, scene, error);
    if (status == MABD_OK) status = mabd_model_build(scene, NULL, model, error);
    mabd_scene_destroy(scene);
    return status;
}
