// SPDX-License-Identifier: Apache-2.0
// MuJoCo as a peer, with its two kinds of ball joint. The model is its own XML, made in memory.
//
//   tree      nested bodies, <joint type="ball">: reduced coordinates, no gap by construction;
//             chains only here. Its reader takes a hundred levels per file: deeper chains
//             continue in included files
//   connect   free bodies and <equality><connect>: soft constraints by its convex optimisation
//
// Newton's method, 100 iterations and Euler are its defaults; "implicit" and RK4 are the other
// integrators of this version. The stiffness of constraints is set by solref, with a time constant
// of at least 2 h, and by solimp, up to 0.9999: `connect-stiff` uses both limits. Tried on a free
// chain of 100 links and not kept: CG and PGS (about three times slower, equal gaps), implicit
// (twenty times slower).
#include "bench/peers/peer_harness.h"

#include "math/quat.h"

#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 80 // of bodies in one file

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
    bool tree; // bodies are nested, else free
    mjModel* model;
    mjData* data;
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

// Write a body on its predecessor: relative pose R_p' (x - x_p), R_p' R. The element is not closed.
static void open_link(FILE* out, const peer_scene* scene, int32_t i) {
    const peer_body* body = &scene->bodies[i];
    double position[3], quaternion[4];
    mabd_vec3 x = mabd_v3_load(body->start.position);
    mabd_quat q = mabd_q_load(body->start.quaternion);
    if (i > 0) {
        const peer_state* p = &scene->bodies[i - 1].start;
        const mabd_quat back = mabd_q_conjugate(mabd_q_load(p->quaternion));
        x = mabd_q_rotate(back, mabd_v3_sub(x, mabd_v3_load(p->position)));
        q = mabd_q_product(back, q);
    }
    mabd_v3_store(x, position);
    mabd_q_store(q, quaternion);
    fputs("<body", out);
    put(out, "pos", 3, position);
    put(out, "quat", 4, quaternion);
    fputs("><joint type=\"ball\"", out);
    put(out, "pos", 3, scene->joints[i].anchor_b);
    fputs("/>", out);
    put_inertial(out, body);
    fputc('\n', out);
}

// Write LEVELS links from `first` on, and the rest of the chain inside the last of them.
static void put_links(FILE* out, const peer_scene* scene, int32_t first) {
    const int32_t left = scene->body_count - first, count = left < LEVELS ? left : LEVELS;
    for (int32_t i = first; i < first + count; i++) open_link(out, scene, i);
    if (left > count) fprintf(out, "<include file=\"links%d.xml\"/>", (int)(first + count));
    for (int32_t i = 0; i < count; i++) fputs("</body>", out);
}

static void put_connect(FILE* out, const peer_joint* joint) {
    const bool grounded = joint->a == PEER_WORLD;
    fprintf(out, "<connect body1=\"b%d\"", (int)(grounded ? joint->b : joint->a));
    if (!grounded && joint->b != PEER_WORLD) fprintf(out, " body2=\"b%d\"", (int)joint->b);
    put(out, "anchor", 3, grounded ? joint->anchor_b : joint->anchor_a);
    fputs("/>\n", out);
}

// Memory for the dense matrices of a step; unused memory is never touched.
static int64_t stack_size(const world* w) {
    const int64_t freedoms = (w->tree ? 3 : 6) * (int64_t)w->scene->body_count;
    const int64_t size = 3 * freedoms * freedoms + 1000 * freedoms + 1000000;
    return size < INT32_MAX ? size : INT32_MAX;
}

static void put_options(FILE* out, const world* w, int32_t variant) {
    const peer_scene* scene = w->scene;
    fprintf(out, "<option timestep=\"%.17g\" integrator=\"%s\" solver=\"Newton\"", scene->h,
            INTEGRATORS[variant]);
    fputs(" iterations=\"100\" tolerance=\"1e-10\"", out);
    put(out, "gravity", 3, scene->gravity);
    fputs("><flag contact=\"disable\"/></option>", out);
    fprintf(out, "<size njmax=\"%d\" nconmax=\"1\" nstack=\"%lld\"/>",
            3 * (int)scene->joint_count + 10, (long long)stack_size(w));
    if (variant != VARIANT_CONNECT_STIFF) return;
    fprintf(out, "<default><equality solref=\"%.17g 1\" solimp=\"0.99 0.9999 0.001\"/></default>",
            2 * scene->h);
}

static void put_model(FILE* out, const world* w, int32_t variant) {
    const peer_scene* scene = w->scene;
    fputs("<mujoco><compiler boundmass=\"0\" boundinertia=\"0\"/>", out);
    put_options(out, w, variant);
    fputs("<worldbody>\n", out);
    if (w->tree) put_links(out, scene, 0);
    for (int32_t i = 0; !w->tree && i < scene->body_count; i++) {
        put_free_body(out, i, &scene->bodies[i]);
    }
    fputs("</worldbody><equality>\n", out);
    for (int32_t i = 0; !w->tree && i < scene->joint_count; i++) {
        put_connect(out, &scene->joints[i]);
    }
    fputs("</equality></mujoco>\n", out);
}

// Write the model (first = 0), or the links from `first` on, as a file in memory.
static bool add_file(mjVFS* files, const world* w, int32_t variant, int32_t first) {
    char name[32] = "scene.xml", *text = NULL;
    size_t length = 0;
    FILE* out = open_memstream(&text, &length);
    if (out == NULL) return false;
    if (first == 0) {
        put_model(out, w, variant);
    } else {
        snprintf(name, sizeof(name), "links%d.xml", (int)first);
        fputs("<mujocoinclude>", out);
        put_links(out, w->scene, first);
        fputs("</mujocoinclude>\n", out);
    }
    const bool added = fclose(out) == 0 && length < INT32_MAX &&
                       mj_makeEmptyFileVFS(files, name, (int)length) == 0;
    if (added) memcpy(files->filedata[mj_findFileVFS(files, name)], text, length);
    free(text);
    return added;
}

static mjModel* compile(const world* w, int32_t variant, char* message, size_t size) {
    mjVFS* files = malloc(sizeof(*files)); // megabytes: not for the stack
    mjModel* model = NULL;
    if (files == NULL) return NULL;
    mj_defaultVFS(files);
    bool added = add_file(files, w, variant, 0);
    for (int32_t i = LEVELS; added && w->tree && i < w->scene->body_count; i += LEVELS) {
        added = add_file(files, w, variant, i);
    }
    if (added) model = mj_loadXML("scene.xml", files, message, (int)size);
    mj_deleteVFS(files);
    free(files);
    return model;
}

// ---- the engine --------------------------------------------------------------------------------

static void destroy(void* memory) {
    world* w = memory;
    if (w->data != NULL) mj_deleteData(w->data);
    if (w->model != NULL) mj_deleteModel(w->model);
    free(w);
}

// qvel of a ball joint: w - w_parent in the axes of the body; of a free body: v, then w in its
// axes.
static void set_velocities(const world* w) {
    for (int32_t i = 0; i < w->scene->body_count; i++) {
        const peer_state* s = &w->scene->bodies[i].start;
        mjtNum* qvel = w->data->qvel + w->model->body_dofadr[i + 1];
        mabd_vec3 turn = mabd_v3_load(s->angular);
        if (!w->tree) {
            memcpy(qvel, s->velocity, sizeof(s->velocity));
            qvel += 3;
        } else if (i > 0) {
            turn = mabd_v3_sub(turn, mabd_v3_load(w->scene->bodies[i - 1].start.angular));
        }
        const mabd_quat back = mabd_q_conjugate(mabd_q_load(s->quaternion));
        mabd_v3_store(mabd_q_rotate(back, turn), qvel);
    }
}

static bool load(world* w, int32_t variant, char* message, size_t size) {
    snprintf(message, size, "out of memory");
    w->model = compile(w, variant, message, size);
    if (w->model == NULL) return false;
    w->data = mj_makeData(w->model);
    if (w->data == NULL) return false;
    set_velocities(w);
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

static void* create(const void* context, const peer_scene* scene, int32_t variant, char* message,
                    size_t size) {
    (void)context;
    const bool tree = variant <= VARIANT_TREE_RK4;
    if (tree && !peer_scene_is_chain(scene)) {
        snprintf(message, size, PEER_SKIP "not a chain");
        return NULL;
    }
    world* w = calloc(1, sizeof(world));
    if (w == NULL) {
        snprintf(message, size, "out of memory");
        return NULL;
    }
    *w = (world){.scene = scene, .tree = tree};
    mju_user_error = on_error;
    mju_user_warning = on_warning;
    if (setjmp(escape) != 0) { // memory of MuJoCo is in an unknown state and is not freed
        snprintf(message, size, "%s", error_text);
        free(w);
        return NULL;
    }
    if (load(w, variant, message, size)) return w;
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
