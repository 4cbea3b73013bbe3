// SPDX-License-Identifier: Apache-2.0
// MuJoCo as a peer, with its two kinds of joint (mjcf.h). The model is its own XML, made in memory.
//
//   tree      nested bodies along a spanning tree, loops closed by <equality><connect>
//   connect   free bodies and <equality><connect>: soft constraints by its convex optimisation
//
// Newton's method, 100 iterations and Euler are its defaults. "discrete" solves constraints and the
// step together, in the metric that holds the stiffness of springs. The stiffness of constraints is
// set by solref, with a time constant of at least 2 h, and by solimp, up to 0.9999: all variants
// but `connect` use both limits. "discrete" takes any time constant: of 2 h, h, 0.3 h and 0.01 h
// the last gave the smallest gaps and losses on the chain of 10 links, at 10 ms and at 1 ms. Tried
// and not kept: implicitfast with free bodies (as Euler).
#include "bench/peers/mjcf.h"
#include "bench/peers/peer_harness.h"

#include "math/quat.h"

#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define SOFT      0    // solref of constraints and contacts: MuJoCo's default
#define LOOPS_MAX 2000 // of a tree: beyond, a step takes many seconds

typedef struct mujoco_variant {
    peer_variant text;
    bool tree;
    const char* integrator;
    double stiffness; // time constant of the constraints / h; SOFT
} mujoco_variant;

#define TREE   "nested bodies, loops by equality connect, "
#define FREE   "free bodies, equality connect, "
#define SOLVER "Newton, 100 iterations, tolerance 1e-10, "
#define LIMIT  " 1, solimp 0.99 0.9999"
#define STIFF  "solref 2h" LIMIT
#define RIGID  "solref 0.01h" LIMIT

static const mujoco_variant VARIANTS[] = {
    {{"tree", TREE "integrator Euler, " SOLVER STIFF}, true, "Euler", 2},
    {{"tree-implicit", TREE "integrator implicit, " SOLVER STIFF}, true, "implicit", 2},
    {{"tree-implicitfast", TREE "integrator implicitfast, " SOLVER STIFF}, true, "implicitfast", 2},
    {{"tree-rk4", TREE "integrator RK4, " SOLVER STIFF}, true, "RK4", 2},
    {{"tree-discrete", TREE "integrator discrete, " SOLVER RIGID}, true, "discrete", 0.01},
    {{"connect", FREE "integrator Euler, " SOLVER "solref 0.02 1, solimp 0.9 0.95"},
     false,
     "Euler",
     SOFT},
    {{"connect-stiff", FREE "integrator Euler, " SOLVER STIFF}, false, "Euler", 2},
    {{"connect-discrete", FREE "integrator discrete, " SOLVER RIGID}, false, "discrete", 0.01},
};
#define VARIANT_COUNT (sizeof(VARIANTS) / sizeof(VARIANTS[0]))

typedef struct world {
    const peer_scene* scene;
    mjcf_tree tree;
    mjModel* model;
    mjData* data;
    int* bodies; // (body_count) of the scene: their numbers in the model
} world;

// ---- errors ------------------------------------------------------------------------------------
// MuJoCo ends the process on an error unless a handler takes over; the handler must not return.

static jmp_buf escape;
static char error_text[PEER_TEXT_BYTES];

static void on_error(const char* text) {
    snprintf(error_text, sizeof(error_text), "%s", text);
    longjmp(escape, 1);
}

static void on_warning(const char* text) {
    (void)text; // read from mjData
}

// ---- the model ---------------------------------------------------------------------------------

static bool add_file(void* context, const char* name, const char* text, size_t length) {
    return length < INT32_MAX && mj_addBufferVFS(context, name, text, (int)length) == 0;
}

static mjModel* compile(const world* w, const mujoco_variant* variant, char* message, size_t size) {
    const mjcf_options options = {.tree = variant->tree,
                                  .integrator = variant->integrator,
                                  .time_constant = variant->stiffness * w->scene->h};
    mjVFS files;
    mjModel* model = NULL;
    mj_defaultVFS(&files);
    if (mjcf_write(w->scene, &w->tree, &options, add_file, &files)) {
        model = mj_loadXML("scene.xml", &files, message, (int)size);
    }
    mj_deleteVFS(&files);
    return model;
}

static bool find_bodies(world* w) {
    w->bodies = calloc((size_t)w->scene->body_count, sizeof(*w->bodies));
    for (int32_t i = 0; w->bodies != NULL && i < w->scene->body_count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "b%d", (int)i);
        w->bodies[i] = mj_name2id(w->model, mjOBJ_BODY, name);
    }
    return w->bodies != NULL;
}

// ---- the engine --------------------------------------------------------------------------------

static void destroy(void* memory) {
    world* w = memory;
    if (w->data != NULL) mj_deleteData(w->data);
    if (w->model != NULL) mj_deleteModel(w->model);
    mjcf_tree_destroy(&w->tree);
    free(w->bodies);
    free(w);
}

// qvel of a free body: v, then w in its axes; of a ball joint: w - w_parent in the axes of the
// body; of a hinge: the part of that along its axis.
static void set_velocity(const world* w, int32_t i) {
    if (peer_body_is_fixed(&w->scene->bodies[i])) return;
    const peer_state* s = &w->scene->bodies[i].start;
    const int32_t parent = w->tree.parent[i], number = w->tree.joint[i];
    mjtNum* qvel = w->data->qvel + w->model->body_dofadr[w->bodies[i]];
    mabd_vec3 turn = mabd_v3_load(s->angular);
    if (parent != PEER_WORLD) {
        turn = mabd_v3_sub(turn, mabd_v3_load(w->scene->bodies[parent].start.angular));
    }
    turn = mabd_q_rotate(mabd_q_conjugate(mabd_q_load(s->quaternion)), turn);
    if (number >= 0 && peer_joint_is_hinge(&w->scene->joints[number])) {
        const peer_joint* joint = &w->scene->joints[number];
        *qvel = mabd_v3_dot(mabd_v3_load(joint->a == i ? joint->axis_a : joint->axis_b), turn);
        return;
    }
    if (number < 0) {
        memcpy(qvel, s->velocity, sizeof(s->velocity));
        qvel += 3;
    }
    mabd_v3_store(turn, qvel);
}

static bool load(world* w, const mujoco_variant* variant, char* message, size_t size) {
    snprintf(message, size, "out of memory");
    if (!mjcf_tree_create(w->scene, variant->tree, &w->tree)) return false;
    w->model = compile(w, variant, message, size);
    if (w->model == NULL || !find_bodies(w)) return false;
    w->data = mj_makeData(w->model);
    if (w->data == NULL) return false;
    for (int32_t i = 0; i < w->scene->body_count; i++) set_velocity(w, i);
    return true;
}

// Cut a text to one line without trailing blanks.
static void tidy(char* text) {
    char* end = text;
    for (; *text != '\0'; text++) {
        if (*text == '\n' || *text == '\r') *text = ' ';
        if (*text != ' ') end = text + 1;
    }
    *end = '\0';
}

// Load a model. An error of MuJoCo returns here from on_error; its memory is in an unknown state
// then and is not freed.
static bool load_or_escape(world* w, int32_t variant, char* message, size_t size) {
    if (setjmp(escape) != 0) {
        snprintf(message, size, "%s", error_text);
        w->model = NULL, w->data = NULL;
        return false;
    }
    return load(w, &VARIANTS[variant], message, size);
}

// MuJoCo takes the larger friction of two geoms; equal ones are as in other engines.
static bool is_suitable(const peer_scene* scene, bool tree, char* message, size_t size) {
    bool equal = true;
    for (int32_t i = 1; i < scene->shape_count; i++) {
        if (scene->shapes[i].friction != scene->shapes[0].friction) equal = false;
    }
    if (!equal) snprintf(message, size, PEER_SKIP "different coefficients of friction");
    const bool bowl = peer_scene_has_bowl(scene);
    if (bowl) snprintf(message, size, PEER_SKIP "bowls");
    const bool loops = tree && scene->joint_count - scene->body_count > LOOPS_MAX;
    if (loops) snprintf(message, size, PEER_SKIP "more than %d loops", LOOPS_MAX);
    return equal && !bowl && !loops;
}

static void* create(const void* context, const peer_scene* scene, int32_t variant, char* message,
                    size_t size) {
    (void)context;
    if (!is_suitable(scene, VARIANTS[variant].tree, message, size)) return NULL;
    world* w = calloc(1, sizeof(world));
    if (w == NULL) {
        snprintf(message, size, "out of memory");
        return NULL;
    }
    w->scene = scene;
    mju_user_error = on_error;
    mju_user_warning = on_warning;
    if (load_or_escape(w, variant, message, size)) return w;
    tidy(message);
    destroy(w);
    return NULL;
}

// MuJoCo resets a diverged state to the start and only issues a warning.
static const char* bad_state(const mjData* data) {
    if (data->warning[mjWARN_BADQPOS].number > 0) return "bad position (warning BADQPOS, reset)";
    if (data->warning[mjWARN_BADQVEL].number > 0) return "bad velocity (warning BADQVEL, reset)";
    if (data->warning[mjWARN_BADQACC].number > 0)
        return "bad acceleration (warning BADQACC, reset)";
    if (data->warning[mjWARN_INERTIA].number > 0)
        return "mass matrix not positive (warning INERTIA)";
    if (data->warning[mjWARN_CNSTRFULL].number > 0) return "constraints do not fit (CNSTRFULL)";
    return NULL;
}

static const char* step(void* memory) {
    const world* w = memory;
    if (setjmp(escape) != 0) return error_text;
    mj_step(w->model, w->data);
    return bad_state(w->data);
}

// Poses match qpos only after kinematics: mj_step leaves those of the previous step. The velocity
// of a centre of mass comes from cvel, which is at the centre of the tree, world axes.
static void get(const void* memory, peer_state* states) {
    const world* w = memory;
    mjData* data = w->data;
    mj_kinematics(w->model, data);
    mj_comPos(w->model, data);
    mj_comVel(w->model, data);
    for (int32_t i = 0; i < w->scene->body_count; i++) {
        const int body = w->bodies[i];
        mjtNum velocity[6];
        mj_objectVelocity(w->model, data, mjOBJ_BODY, body, velocity, 0);
        memcpy(states[i].position, data->xipos + 3 * body, sizeof(states[i].position));
        memcpy(states[i].quaternion, data->xquat + 4 * body, sizeof(states[i].quaternion));
        memcpy(states[i].angular, velocity, sizeof(states[i].angular));
        memcpy(states[i].velocity, velocity + 3, sizeof(states[i].velocity));
    }
}

int main(int argc, char** argv) {
    peer_variant variants[VARIANT_COUNT];
    for (size_t i = 0; i < VARIANT_COUNT; i++) variants[i] = VARIANTS[i].text;
    const peer_engine engine = {.name = "mujoco",
                                .version = mj_versionString(),
                                .variant_count = VARIANT_COUNT,
                                .variants = variants,
                                .create = create,
                                .step = step,
                                .get = get,
                                .destroy = destroy};
    return peer_program(&engine, argc, argv);
}
