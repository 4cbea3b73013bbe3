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

#define HEAVY_MASS    1000 // of the end / of a link
#define RAGDOLL_YOUNG 1e7  // as in scenes/ragdolls.json [Pa]
#define WALL_DISTANCE 0.4  // of a pile from its middle, as in scenes/pile-mixed.json [m]
#define BOX_EDGE      0.2  // of a stack, as in scenes/stack.json [m]

/// Step and time of motion of a kind [s].
typedef struct timing {
    double h, duration;
} timing;

static const timing TIMINGS[] = {
    [BENCH_PEER_CHAIN] = {0.01, 2},   [BENCH_PEER_HEAVY] = {0.01, 2},
    [BENCH_PEER_NET] = {1 / 30.0, 2}, [BENCH_PEER_GRID] = {1 / 60.0, 2},
    [BENCH_PEER_STACK] = {0.01, 4},   [BENCH_PEER_RAGDOLLS] = {0.005, 4},
    [BENCH_PEER_PILE] = {0.01, 4},    [BENCH_PEER_BOWL] = {0.01, 4},
};

// ---- cases -------------------------------------------------------------------------------------

static mabd_status add_fixed(mabd_scene* scene, mabd_shape shape, const mabd_real* size,
                             mabd_vec3 position, mabd_quat rotation, mabd_error* error) {
    const mabd_geom geom = mabd_geom_make(shape, size, 0);
    mabd_body_def def = mabd_default_body_def();
    def.motion = MABD_MOTION_FIXED, def.geom_count = 1, def.geoms = &geom;
    mabd_v3_store(position, def.position);
    mabd_q_store(rotation, def.rotation);
    return mabd_scene_add_body(scene, &def, NULL, error);
}

static mabd_status add_floor(mabd_scene* scene, mabd_error* error) {
    return add_fixed(scene, MABD_SHAPE_PLANE, NULL, mabd_v3(0, 0, 0), mabd_q(1, 0, 0, 0), error);
}

// Four planes that look inwards.
static mabd_status add_walls(mabd_scene* scene, mabd_error* error) {
    for (int k = 0; k < 4; k++) {
        const mabd_real angle = k * MABD_PI / 2;
        const mabd_vec3 out = mabd_v3(cos(angle), sin(angle), 0);
        const mabd_vec3 axis = mabd_v3_cross(mabd_v3(0, 0, 1), mabd_v3_scale(-1, out));
        MABD_TRY(add_fixed(scene, MABD_SHAPE_PLANE, NULL, mabd_v3_scale(WALL_DISTANCE, out),
                           mabd_q_axis_angle(axis, MABD_PI / 2), error));
    }
    return MABD_OK;
}

static mabd_status add_stack(mabd_scene* scene, int32_t boxes, mabd_error* error) {
    const mabd_real size[3] = {BOX_EDGE, BOX_EDGE, BOX_EDGE};
    const mabd_geom box = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def def = mabd_default_body_def();
    def.geom_count = 1, def.geoms = &box;
    for (int32_t i = 0; i < boxes; i++) {
        def.position[2] = (i + 0.5) * BOX_EDGE;
        MABD_TRY(mabd_scene_add_body(scene, &def, NULL, error));
    }
    return add_floor(scene, error);
}

static mabd_status add_ragdolls(mabd_scene* scene, int32_t figures, mabd_error* error) {
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    def.copies = figures, def.columns = def.rows = 2, def.height = 1.1, def.spacing = 1.15;
    def.position[2] = 0.8, def.seed = 1;
    MABD_TRY(mabd_generate_ragdoll(scene, &def, error));
    return add_floor(scene, error);
}

static mabd_status add_pile(mabd_scene* scene, int32_t bodies, bool bowl, mabd_error* error) {
    const mabd_real size[3] = {0.8, 0.1};
    mabd_pile_mixed_def def = mabd_default_pile_mixed_def();
    def.count = bodies, def.seed = 1;
    def.position[2] = bowl ? 0 : 2 * def.size; // the rim of the bowl is at 0
    MABD_TRY(mabd_generate_pile_mixed(scene, &def, error));
    if (bowl) {
        return add_fixed(scene, MABD_SHAPE_BOWL, size, mabd_v3(0, 0, 0), mabd_q(1, 0, 0, 0), error);
    }
    MABD_TRY(add_floor(scene, error));
    return add_walls(scene, error);
}

static mabd_status add_chain(mabd_scene* scene, int32_t links, bool heavy, mabd_error* error) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = links;
    if (heavy) chain.end_mass_ratio = HEAVY_MASS;
    return mabd_generate_chain(scene, &chain, error);
}

static mabd_status add_case(const bench_peer_case* what, mabd_scene* scene, mabd_error* error) {
    mabd_net_def net = mabd_default_net_def();
    mabd_joint_grid_def grid = mabd_default_joint_grid_def();
    net.rows = net.columns = grid.rows = grid.columns = what->size;
    if (grid.fixed > what->size) grid.fixed = what->size;
    switch (what->kind) {
    case BENCH_PEER_NET:
        return mabd_generate_net(scene, &net, error);
    case BENCH_PEER_GRID:
        return mabd_generate_joint_grid(scene, &grid, error);
    case BENCH_PEER_STACK:
        return add_stack(scene, what->size, error);
    case BENCH_PEER_RAGDOLLS:
        return add_ragdolls(scene, what->size, error);
    case BENCH_PEER_PILE:
    case BENCH_PEER_BOWL:
        return add_pile(scene, what->size, what->kind == BENCH_PEER_BOWL, error);
    default:
        return add_chain(scene, what->size, what->kind == BENCH_PEER_HEAVY, error);
    }
}

static mabd_status generate(const bench_peer_case* what, mabd_scene* scene, mabd_error* error) {
    static const char* const NAMES[] = {
#define X(name, text) text,
        BENCH_PEER_KIND_LIST(X)
#undef X
    };
    const bool square = what->kind == BENCH_PEER_NET || what->kind == BENCH_PEER_GRID;
    const timing time = TIMINGS[what->kind];
    mabd_contact_def contact = mabd_default_contact_def();
    char name[48];
    snprintf(name, sizeof(name), square ? "%s-%dx%d" : "%s-%d", NAMES[what->kind], (int)what->size,
             (int)what->size);
    MABD_TRY(mabd_scene_set_name(scene, name));
    MABD_TRY(mabd_scene_set_time(scene, time.h, time.duration, error));
    contact.enabled = what->kind >= BENCH_PEER_STACK;
    MABD_TRY(mabd_scene_set_contact(scene, &contact, error));
    if (what->kind == BENCH_PEER_RAGDOLLS) {
        MABD_TRY(mabd_scene_set_young(scene, RAGDOLL_YOUNG, error));
    }
    return add_case(what, scene, error);
}

mabd_status bench_peer_build(const bench_peer_case* what, mabd_model** model, mabd_error* error) {
    mabd_scene* scene = NULL;
    MABD_TRY(mabd_scene_create(NULL, &scene));
    mabd_status status = generate(what, scene, error);
    if (status == MABD_OK) status = mabd_model_build(scene, NULL, model, error);
    mabd_scene_destroy(scene);
    return status;
}

double bench_peer_young(bench_peer_kind kind) {
    return kind == BENCH_PEER_RAGDOLLS ? RAGDOLL_YOUNG : (double)MABD_DEFAULT_YOUNG;
}

// ---- frames ------------------------------------------------------------------------------------

// Mass and principal frame of a body; a fixed one keeps its own frame.
static mabd_mass frame_of(const mabd_model* model, int32_t body) {
    if (mabd_model_body_motion(model, body) == MABD_MOTION_DYNAMIC) {
        return mabd_model_body_mass(model, body);
    }
    return (mabd_mass){.axes = {1, 0, 0, 0}};
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
        const mabd_mass mass = frame_of(model, i);
        to_principal(&mass, x + 3 * i, q + 4 * i, v + 3 * i, w + 3 * i, &states[i]);
    }
    free(memory);
    return MABD_OK;
}

// ---- export ------------------------------------------------------------------------------------

static mabd_status check_geom(const mabd_geom* geom, mabd_error* error) {
    if (geom->shape > MABD_SHAPE_BOWL) {
        return mabd_fail(error, MABD_ERR_ARG, "a scene for peers has no %s",
                         mabd_shape_name(geom->shape));
    }
    if (geom->restitution != 0) {
        return mabd_fail(error, MABD_ERR_ARG, "a scene for peers has no rebound");
    }
    if (geom->category == 1 && geom->mask == UINT32_MAX) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG, "in a scene for peers all bodies touch");
}

static mabd_status check_geoms(const mabd_model* model, mabd_error* error) {
    for (int32_t i = 0; i < mabd_model_body_count(model); i++) {
        int32_t count = 0;
        const mabd_geom* geoms = mabd_model_body_geoms(model, i, &count);
        for (int32_t k = 0; k < count; k++) MABD_TRY(check_geom(&geoms[k], error));
    }
    return MABD_OK;
}

static mabd_status check(const mabd_model* model, bool bare, mabd_error* error) {
    const mabd_model_info info = mabd_model_get_info(model);
    int32_t a = 0, b = 0;
    if (info.bodies == 0) return mabd_fail(error, MABD_ERR_ARG, "a scene for peers has bodies");
    for (int32_t i = 0; i < info.bodies; i++) {
        if (mabd_model_body_motion(model, i) != MABD_MOTION_SCRIPTED) continue;
        return mabd_fail(error, MABD_ERR_ARG, "a scene for peers has no scripted bodies");
    }
    if (info.compliant_rows != 0 && !bare) {
        return mabd_fail(error, MABD_ERR_ARG, "a scene for peers has rigid joints only");
    }
    for (int32_t i = 0; i < info.joints; i++) {
        const mabd_joint type = mabd_model_joint_type(model, i, &a, &b);
        if (type == MABD_JOINT_BALL || type == MABD_JOINT_HINGE) continue;
        return mabd_fail(error, MABD_ERR_ARG, "a scene for peers has ball joints and hinges only");
    }
    return info.contacts ? check_geoms(model, error) : MABD_OK;
}

static void export_anchor(const mabd_model* model, int32_t body, mabd_real* anchor) {
    if (body == MABD_WORLD) return;
    const mabd_mass mass = frame_of(model, body);
    const mabd_vec3 arm = mabd_v3_sub(mabd_v3_load(anchor), mabd_v3_load(mass.center));
    mabd_v3_store(mabd_q_rotate(mabd_q_conjugate(mabd_q_load(mass.axes)), arm), anchor);
}

static void export_axis(const mabd_model* model, int32_t body, mabd_real* axis) {
    if (body == MABD_WORLD) return;
    const mabd_mass mass = frame_of(model, body);
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
        const mabd_mass mass = frame_of(model, i);
        peer_body* body = &scene->bodies[i];
        body->mass = mass.mass;
        memcpy(body->inertia, mass.principal, sizeof(body->inertia));
        body->start = states[i];
    }
    mabd_sim_destroy(sim);
    free(states);
    return status;
}

static int32_t count_shapes(const mabd_model* model) {
    int32_t sum = 0, count = 0;
    if (!mabd_model_get_info(model).contacts) return 0;
    for (int32_t i = 0; i < mabd_model_body_count(model); i++) {
        mabd_model_body_geoms(model, i, &count);
        sum += count;
    }
    return sum;
}

static void export_shape(const mabd_geom* geom, const mabd_mass* mass, int32_t body,
                         peer_shape* shape) {
    static const int SIZES[] = {
        [MABD_SHAPE_BOX] = 3,      [MABD_SHAPE_SPHERE] = 1, [MABD_SHAPE_CAPSULE] = 2,
        [MABD_SHAPE_CYLINDER] = 2, [MABD_SHAPE_PLANE] = 0,  [MABD_SHAPE_BOWL] = 2};
    const mabd_quat back = mabd_q_conjugate(mabd_q_load(mass->axes));
    const mabd_vec3 arm = mabd_v3_sub(mabd_v3_load(geom->position), mabd_v3_load(mass->center));
    *shape = (peer_shape){.kind = (peer_shape_kind)geom->shape, .body = body};
    for (int k = 0; k < SIZES[geom->shape]; k++) shape->size[k] = (double)geom->size[k];
    mabd_v3_store(mabd_q_rotate(back, arm), shape->position);
    mabd_q_store(mabd_q_product(back, mabd_q_load(geom->rotation)), shape->quaternion);
    shape->friction = (double)geom->friction;
}

static void export_shapes(const mabd_model* model, peer_scene* scene) {
    int32_t count = 0;
    peer_shape* shape = scene->shapes;
    for (int32_t i = 0; i < scene->body_count && scene->shape_count > 0; i++) {
        const mabd_geom* geoms = mabd_model_body_geoms(model, i, &count);
        const mabd_mass mass = frame_of(model, i);
        for (int32_t k = 0; k < count; k++) export_shape(&geoms[k], &mass, i, shape++);
    }
}

static mabd_status export_model(const mabd_model* model, bool bare, double h, int64_t steps,
                                peer_scene* scene, mabd_error* error) {
    MABD_TRY(check(model, bare, error));
    const int32_t joints = mabd_model_joint_count(model);
    if (!peer_scene_create(mabd_model_body_count(model), joints, count_shapes(model), scene)) {
        return MABD_ERR_MEMORY;
    }
    snprintf(scene->name, sizeof(scene->name), "%s", mabd_model_name(model));
    memcpy(scene->gravity, mabd_model_gravity(model), sizeof(scene->gravity));
    scene->h = h, scene->steps = steps;
    for (int32_t i = 0; i < joints; i++) export_joint(model, i, &scene->joints[i]);
    export_shapes(model, scene);
    const mabd_status status = export_states(model, scene, error);
    if (status != MABD_OK) peer_scene_destroy(scene);
    return status;
}

mabd_status bench_peer_export(const mabd_model* model, double h, int64_t steps, peer_scene* scene,
                              mabd_error* error) {
    return export_model(model, false, h, steps, scene, error);
}

mabd_status bench_peer_export_bare(const mabd_model* model, double h, int64_t steps,
                                   peer_scene* scene, mabd_error* error) {
    return export_model(model, true, h, steps, scene, error);
}
