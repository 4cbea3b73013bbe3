// SPDX-License-Identifier: Apache-2.0
// MuJoCo as a peer, in the two ways that it has for a ball joint. The model is its own XML, made in memory.
//
//   tree      bodies nested, <joint type="ball">: reduced coordinates, no gap by construction
//   connect   free bodies and <equality><connect>: soft constraints by its convex optimisation
//
// Its manual: Newton's method is the solver to start with, 100 iterations are its default; Euler is the default
// integrator, "implicit" is for fast rotations, RK4 for energy. Constraints are as stiff as solref says; a time
// constant of 2 h is the least that it recommends, and solimp up to 0.9999 for joints that must hold. Tried on
// free bodies and not kept: CG and PGS (three times slower, gaps alike), implicit (twenty times slower).
#include "bench/peers/program.h"

#include "math/quat.h"

#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum {
    VARIANT_TREE,
    VARIANT_TREE_IMPLICIT,
    VARIANT_TREE_RK4,
    VARIANT_CONNECT,
    VARIANT_CONNECT_STIFF
};

static const peer_variant VARIANTS[] = {
    [VARIANT_TREE] = {"tree", "nested bodies, integrator Euler"},
    [VARIANT_TREE_IMPLICIT] = {"tree-implicit", "nested bodies, integrator implicit"},
    [VARIANT_TREE_RK4] = {"tree-rk4", "nested bodies, integrator RK4"},
    [VARIANT_CONNECT] = {"connect", "equality connect, integrator Euler, Newton, 100 iterations, "
                                    "tolerance 1e-10, solref 0.02 1, solimp 0.9 0.95"},
    [VARIANT_CONNECT_STIFF] = {"connect-stiff",
                               "equality connect, integrator Euler, Newton, 100 iterations, "
                               "tolerance 1e-10, solref 2h 1, solimp 0.99 0.9999"},
};

static const char* const INTEGRATORS[] = {
    [VARIANT_TREE] = "Euler",    [VARIANT_TREE_IMPLICIT] = "implicit", [VARIANT_TREE_RK4] = "RK4",
    [VARIANT_CONNECT] = "Euler", [VARIANT_CONNECT_STIFF] = "Euler",
};

typedef struct world {
    const peer_scene* scene;
    int32_t* parents; // (bodies) of a tree, null = free bodies
    mjModel* model;
    mjData* data;
} world;

// ---- errors ------------------------------------------------------------------------------------
// MuJoCo ends the process on an error unless a handler takes over; one that returns is not allowed.

static jmp_buf escape;
static char error_text[PEER_TEXT_BYTES];

static void on_error(const char* text) {
    snprintf(error_text, sizeof(error_text), "%s", text);
    longjmp(escape, 1);
}

static void on_warning(const char* text) {
    (void)text; // read from mjData
}

// ---- the model as XML --------------------------------------------------------------------------

static void put(FILE* out, const char* name, int n, const double* values) {
    fprintf(out, " %s=\"", name);
    for (int i = 0; i < n; i++) fprintf(out, "%s%.17g", i > 0 ? " " : "", values[i]);
    fputc('"', out);
}

static void put_inertial(FILE* out, const peer_body* body) {
    fprintf(out, "<inertial pos=\"0 0 0\" mass=\"%.17g\"", body->mass);
    put(out, "diaginertia", 3, body->inertia);
    fputs("/>", out);
}

static void put_free_body(FILE* out, int32_t i, const peer_body* body) {
    fprintf(out, "<body name=\"b%d\"", (int)i);
    put(out, "pos", 3, body->start.position);
    put(out, "quat", 4, body->start.quaternion);
    fputs("><freejoint/>", out);
    put_inertial(out, body);
    fputs("</body>\n", out);
}

// A body inside its parent: pose relative to it, R_p' (x - x_p), R_p' R.
static void open_tree_body(FILE* out, const peer_scene* scene, int32_t i, int32_t parent) {
    const peer_body* body = &scene->bodies[i];
    double position[3], quaternion[4];
    mabd_vec3 x = mabd_v3_load(body->start.position);
    mabd_quat q = mabd_q_load(body->start.quaternion);
    if (parent != PEER_WORLD) {
        const peer_state* p = &scene->bodies[parent].start;
        const mabd_quat back = mabd_q_conjugate(mabd_q_load(p->quaternion));
        x = mabd_q_rotate(back, mabd_v3_sub(x, mabd_v3_load(p->position)));
        q = mabd_q_product(back, q);
    }
    mabd_v3_store(x, position);
    mabd_q_store(q, quaternion);
    fprintf(out, "<body name=\"b%d\"", (int)i);
    put(out, "pos", 3, position);
    put(out, "quat", 4, quaternion);
    fputs("><joint type=\"ball\"", out);
    put(out, "pos", 3, scene->joints[i].anchor_b);
    fputs("/>", out);
    put_inertial(out, body);
    fputc('\n', out);
}

// Bodies come after their parents; a body closes when the next one is not on it.
static void put_tree(FILE* out, const peer_scene* scene, const int32_t* parents) {
    int32_t open = PEER_WORLD;
    for (int32_t i = 0; i < scene->body_count; i++) {
        for (; open != parents[i]; open = parents[open]) fputs("</body>", out);
        open_tree_body(out, scene, i, parents[i]);
        open = i;
    }
    for (; open != PEER_WORLD; open = parents[open]) fputs("</body>", out);
}

static void put_connect(FILE* out, const peer_joint* joint) {
    const bool grounded = joint->a == PEER_WORLD;
    fprintf(out, "<connect body1=\"b%d\"", (int)(grounded ? joint->b : joint->a));
    if (!grounded && joint->b != PEER_WORLD) fprintf(out, " body2=\"b%d\"", (int)joint->b);
    put(out, "anchor", 3, grounded ? joint->anchor_b : joint->anchor_a);
    fputs("/>\n", out);
}

static void put_options(FILE* out, const peer_scene* scene, int32_t variant) {
    fprintf(out, "<option timestep=\"%.17g\" integrator=\"%s\" solver=\"Newton\"", scene->h,
            INTEGRATORS[variant]);
    fputs(" iterations=\"100\" tolerance=\"1e-10\"", out);
    put(out, "gravity", 3, scene->gravity);
    fputs("><flag contact=\"disable\"/></option>", out);
    fprintf(out, "<size njmax=\"%d\" nconmax=\"1\" nstack=\"%lld\"/>", 3 * scene->joint_count + 10,
            4000000 + 20000LL * scene->body_count);
    if (variant != VARIANT_CONNECT_STIFF) return;
    fprintf(out, "<default><equality solref=\"%.17g 1\" solimp=\"0.99 0.9999 0.001\"/></default>",
            2 * scene->h);
}

static void put_model(FILE* out, const world* w, int32_t variant) {
    const peer_scene* scene = w->scene;
    fputs("<mujoco><compiler boundmass=\"0\" boundinertia=\"0\"/>", out);
    put_options(out, scene, variant);
    fputs("<worldbody>\n", out);
    if (w->parents != NULL) put_tree(out, scene, w->parents);
    for (int32_t i = 0; w->parents == NULL && i < scene->body_count; i++) {
        put_free_body(out, i, &scene->bodies[i]);
    }
    fputs("</worldbody><equality>\n", out);
    for (int32_t i = 0; w->parents == NULL && i < scene->joint_count; i++) {
        put_connect(out, &scene->joints[i]);
    }
    fputs("</equality></mujoco>\n", out);
}

// MuJoCo reads files only: one without a name, that goes with its handle.
static mjModel* compile(const world* w, int32_t variant, char* message, size_t size) {
    char path[64];
    mjModel* model = NULL;
    FILE* file = tmpfile();
    if (file == NULL) return NULL;
    put_model(file, w, variant);
    if (fflush(file) == 0) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
        model = mj_loadXML(path, NULL, message, (int)size);
    }
    fclose(file);
    return model;
}

// ---- the engine --------------------------------------------------------------------------------

static void destroy(void* memory) {
    world* w = memory;
    if (w->data != NULL) mj_deleteData(w->data);
    if (w->model != NULL) mj_deleteModel(w->model);
    free(w->parents);
    free(w);
}

// qvel of a ball joint: w - w_parent in the axes of the body; of a free body: v, then w in its axes.
static void set_velocities(const world* w) {
    for (int32_t i = 0; i < w->scene->body_count; i++) {
        const peer_state* s = &w->scene->bodies[i].start;
        mjtNum* qvel = w->data->qvel + w->model->body_dofadr[i + 1];
        mabd_vec3 turn = mabd_v3_load(s->angular);
        if (w->parents == NULL) {
            memcpy(qvel, s->velocity, sizeof(s->velocity));
            qvel += 3;
        } else if (w->parents[i] != PEER_WORLD) {
            const peer_state* parent = &w->scene->bodies[w->parents[i]].start;
            turn = mabd_v3_sub(turn, mabd_v3_load(parent->angular));
        }
        const mabd_quat back = mabd_q_conjugate(mabd_q_load(s->quaternion));
        mabd_v3_store(mabd_q_rotate(back, turn), qvel);
    }
}

static bool load(world* w, int32_t variant, char* message, size_t size) {
    snprintf(message, size, "no memory or no temporary file");
    w->model = compile(w, variant, message, size);
    if (w->model == NULL) return false;
    w->data = mj_makeData(w->model);
    if (w->data == NULL) return false;
    set_velocities(w);
    return true;
}

static void one_line(char* text) {
    for (; *text != '\0'; text++) {
        if (*text == '\n' || *text == '\r') *text = ' ';
    }
}

static void* create(const void* context, const peer_scene* scene, int32_t variant, char* message,
                    size_t size) {
    (void)context;
    world* volatile w = calloc(1, sizeof(world));
    int32_t* parents = calloc((size_t)scene->body_count, sizeof(*parents));
    mju_user_error = on_error;
    mju_user_warning = on_warning;
    if (w == NULL || parents == NULL) {
        snprintf(message, size, "out of memory");
        free(w);
        free(parents);
        return NULL;
    }
    *w = (world){.scene = scene, .parents = parents};
    if (variant == VARIANT_CONNECT || variant == VARIANT_CONNECT_STIFF) {
        free(parents);
        w->parents = NULL;
    } else if (!peer_scene_is_tree(scene, parents)) {
        snprintf(message, size, PEER_SKIP "not a tree");
        destroy(w);
        return NULL;
    }
    const bool escaped = setjmp(escape) != 0;
    if (!escaped && load(w, variant, message, size)) return w;
    if (escaped) snprintf(message, size, "%s", error_text);
    one_line(message);
    if (!escaped) destroy(w); // after an error its memory is in no known state
    return NULL;
}

// MuJoCo puts a state that went astray back to the start and says so in a warning only.
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

// Poses belong to qpos only after kinematics: mj_step leaves those of the step before. The velocity of a centre
// of mass comes from cvel, which is at the centre of the tree, world axes.
static void get(const void* memory, peer_state* states) {
    const world* w = memory;
    mjData* data = w->data;
    mj_kinematics(w->model, data);
    mj_comPos(w->model, data);
    mj_comVel(w->model, data);
    for (int32_t i = 0; i < w->scene->body_count; i++) {
        mjtNum velocity[6];
        mj_objectVelocity(w->model, data, mjOBJ_BODY, i + 1, velocity, 0);
        memcpy(states[i].position, data->xipos + 3 * (i + 1), sizeof(states[i].position));
        memcpy(states[i].quaternion, data->xquat + 4 * (i + 1), sizeof(states[i].quaternion));
        memcpy(states[i].angular, velocity, sizeof(states[i].angular));
        memcpy(states[i].velocity, velocity + 3, sizeof(states[i].velocity));
    }
}

int main(int argc, char** argv) {
    const peer_engine engine = {.name = "mujoco",
                                .version = mj_versionString(),
                                .variant_count = sizeof(VARIANTS) / sizeof(VARIANTS[0]),
                                .variants = VARIANTS,
                                .create = create,
                                .step = step,
                                .get = get,
                                .destroy = destroy};
    return peer_program(&engine, argc, argv);
}
