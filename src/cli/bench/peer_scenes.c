// SPDX-License-Identifier: Apache-2.0
// The scenes on which engines are compared; see peer_scenes.h.
//
// From the user frame (x, q) of a body to its principal frame, with centre c and axes p in the user
// frame:
//   x_c = x + R(q) c,   q_p = q p,   v_c = v + w x R(q) c,   anchor_p = R(p)' (anchor - c)
#include "cli/bench/peer_scenes.h"

#include "base/error.h"
#include "mabd/generate.h"
#include "math/quat.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN_H    0.01       // [s]
#define NET_H      (1 / 30.0) // [s]
#define DURATION   2          // [s]
#define HEAVY_MASS 1000       // of the end / of a link

static mabd_status generate(const bench_peer_case* what, mabd_scene* scene, mabd_error* error) {
    mabd_chain_def chain = mabd_default_chain_def();
    mabd_net_def net = mabd_default_net_def();
    char name[48];
    if (what->kind == BENCH_PEER_NET) {
        snprintf(name, sizeof(name), "net-%dx%d", (int)what->size, (int)what->size);
        MABD_TRY(mabd_scene_set_name(scene, name));
        MABD_TRY(mabd_scene_set_time(scene, NET_H, DURATION, error));
        net.rows = net.columns = what->size;
        return mabd_generate_net(scene, &net, error);
    }
    const bool heavy = what->kind == BENCH_PEER_HEAVY;
    snprintf(name, sizeof(name), "%s-%d", heavy ? "heavy" : "chain", (int)what->size);
    MABD_TRY(mabd_scene_set_name(scene, name));
    MABD_TRY(mabd_scene_set_time(scene, CHAIN_H, DURATION, error));
    chain.links = what->size;
    if (heavy) chain.end_mass_ratio = HEAVY_MASS;
    return mabd_generate_chain(scene, &chain, error);
}

mabd_status bench_peer_build(const bench_peer_case* what, mabd_model** model, mabd_error* error) {
    mabd_scene* scene = NULL;
    MABD_TRY(mabd_scene_create(NULL, &scene));
    mabd_status status = generate(what, scene, error);
    if (status == MABD_OK) status = mabd_model_build(scene, NULL, model, error);
    mabd_scene_destroy(scene);
    return status;
}

// ---- states ------------------------------------------------------------------------------------

static void to_principal(const mabd_mass* mass, const mabd_real* position,
                         const mabd_real* rotation, const mabd_real* velocity,
                         const mabd_real* angular, peer_state* state) {
    const mabd_quat q = mabd_q_load(rotation);
    const mabd_vec3 arm = mabd_q_rotate(q, mabd_v3_load(mass->center));
    const mabd_vec3 w = mabd_v3_load(angular);
    mabd_v3_store(mabd_v3_add(mabd_v3_load(position), arm), state->position);
    mabd_q_store(mabd_q_product(q, mabd_q_load(mass->axes)), state->quaternion);
    mabd_v3_store(mabd_v3_add(mabd_v3_load(velocity), mabd_v3_cross(w, arm)), state->velocity);
    mabd_v3_store(w, state->angular);
}

mabd_status bench_peer_get(const mabd_sim* sim, peer_state* states) {
    const mabd_model* model = mabd_sim_model(sim);
    const int32_t n = mabd_model_body_count(model);
    mabd_real* memory = malloc(13 * (size_t)n * sizeof(*memory));
    if (memory == NULL) return MABD_ERR_MEMORY;
    mabd_real *x = memory, *q = x + 3 * n, *v = q + 4 * n, *w = v + 3 * n;
    mabd_sim_get_state(sim, x, q, v, w);
    for (int32_t i = 0; i < n; i++) {
        const mabd_mass mass = mabd_model_body_mass(model, i);
        to_principal(&mass, x + 3 * i, q + 4 * i, v + 3 * i, w + 3 * i, &states[i]);
    }
    free(memory);
    return MABD_OK;
}

// ---- export ------------------------------------------------------------------------------------

static mabd_status check(const mabd_model* model, mabd_error* error) {
    const mabd_model_info info = mabd_model_get_info(model);
    int32_t a = 0, b = 0;
    if (info.contacts) return mabd_fail(error, MABD_ERR_ARG, "a scene for peers has no contacts");
    if (info.dynamic_bodies != info.bodies || info.bodies == 0) {
        return mabd_fail(error, MABD_ERR_ARG, "a scene for peers has dynamic bodies only");
    }
    if (info.compliant_rows != 0) {
        return mabd_fail(error, MABD_ERR_ARG, "a scene for peers has rigid joints only");
    }
    for (int32_t i = 0; i < info.joints; i++) {
        const mabd_joint type = mabd_model_joint_type(model, i, &a, &b);
        if (type == MABD_JOINT_BALL || type == MABD_JOINT_HINGE) continue;
        return mabd_fail(error, MABD_ERR_ARG, "a scene for peers has ball joints and hinges only");
    }
    return MABD_OK;
}

static void export_anchor(const mabd_model* model, int32_t body, mabd_real* anchor) {
    if (body == MABD_WORLD) return;
    const mabd_mass mass = mabd_model_body_mass(model, body);
    const mabd_vec3 arm = mabd_v3_sub(mabd_v3_load(anchor), mabd_v3_load(mass.center));
    mabd_v3_store(mabd_q_rotate(mabd_q_conjugate(mabd_q_load(mass.axes)), arm), anchor);
}

static void export_axis(const mabd_model* model, int32_t body, mabd_real* axis) {
    if (body == MABD_WORLD) return;
    const mabd_mass mass = mabd_model_body_mass(model, body);
    const mabd_quat back = mabd_q_conjugate(mabd_q_load(mass.axes));
    mabd_v3_store(mabd_q_rotate(back, mabd_v3_load(axis)), axis);
}

static void export_joint(const mabd_model* model, int32_t i, peer_joint* joint) {
    const mabd_joint type = mabd_model_joint_type(model, i, &joint->a, &joint->b);
    mabd_model_joint_anchors(model, i, joint->anchor_a, joint->anchor_b);
    export_anchor(model, joint->a, joint->anchor_a);
    export_anchor(model, joint->b, joint->anchor_b);
    if (type != MABD_JOINT_HINGE) return;
    mabd_model_joint_axes(model, i, joint->axis_a, joint->axis_b);
    export_axis(model, joint->a, joint->axis_a);
    export_axis(model, joint->b, joint->axis_b);
}

static mabd_status export_states(const mabd_model* model, peer_scene* scene, mabd_error* error) {
    const mabd_sim_def def = mabd_default_sim_def();
    mabd_sim* sim = NULL;
    peer_state* states = malloc((size_t)scene->body_count * sizeof(*states));
    mabd_status status = states != NULL ? MABD_OK : MABD_ERR_MEMORY;
    if (status == MABD_OK) status = mabd_sim_create(model, &def, &sim, error);
    if (status == MABD_OK) status = bench_peer_get(sim, states);
    for (int32_t i = 0; status == MABD_OK && i < scene->body_count; i++) {
        const mabd_mass mass = mabd_model_body_mass(model, i);
        peer_body* body = &scene->bodies[i];
        body->mass = mass.mass;
        memcpy(body->inertia, mass.principal, sizeof(body->inertia));
        body->start = states[i];
    }
    mabd_sim_destroy(sim);
    free(states);
    return status;
}

mabd_status bench_peer_export(const mabd_model* model, double h, int64_t steps, peer_scene* scene,
                              mabd_error* error) {
    MABD_TRY(check(model, error));
    const int32_t joints = mabd_model_joint_count(model);
    if (!peer_scene_create(mabd_model_body_count(model), joints, scene)) return MABD_ERR_MEMORY;
    snprintf(scene->name, sizeof(scene->name), "%s", mabd_model_name(model));
    memcpy(scene->gravity, mabd_model_gravity(model), sizeof(scene->gravity));
    scene->h = h, scene->steps = steps;
    for (int32_t i = 0; i < joints; i++) export_joint(model, i, &scene->joints[i]);
    const mabd_status status = export_states(model, scene, error);
    if (status != MABD_OK) peer_scene_destroy(scene);
    return status;
}
