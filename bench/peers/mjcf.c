// SPDX-License-Identifier: Apache-2.0
// Writes a peer_scene as MJCF; see mjcf.h.
#include "bench/peers/mjcf.h"

#include "math/quat.h"

#include <math.h>
#include <stdlib.h>

#define LEVELS 400 // of bodies in one file

// ---- the tree ----------------------------------------------------------------------------------

void mjcf_tree_destroy(mjcf_tree* t) {
    free(t->joint);
    free(t->in_tree);
    free(t->done);
    *t = (mjcf_tree){0};
}

static bool allocate(const peer_scene* scene, mjcf_tree* t) {
    const size_t n = (size_t)scene->body_count;
    int32_t* memory = malloc(5 * n * sizeof(*memory));
    *t = (mjcf_tree){.joint = memory};
    t->in_tree = calloc((size_t)scene->joint_count + 1, sizeof(*t->in_tree));
    t->done = calloc(n, sizeof(*t->done));
    if (memory == NULL || t->in_tree == NULL || t->done == NULL) {
        mjcf_tree_destroy(t);
        return false;
    }
    t->parent = memory + n, t->depth = memory + 2 * n;
    t->first = memory + 3 * n, t->next = memory + 4 * n;
    for (size_t i = 0; i < n; i++) {
        t->joint[i] = t->first[i] = t->next[i] = -1;
        t->parent[i] = PEER_WORLD;
        t->depth[i] = -1; // not reached
    }
    return true;
}

static int32_t other_body(const peer_joint* joint, int32_t body) {
    return joint->a == body ? joint->b : joint->a;
}

// Hang on `parent` every body that a joint connects with it and that is not reached yet.
static void reach_from(const peer_scene* scene, mjcf_tree* t, int32_t parent) {
    for (int32_t j = 0; j < scene->joint_count; j++) {
        const peer_joint* joint = &scene->joints[j];
        if (joint->a != parent && joint->b != parent) continue;
        const int32_t body = other_body(joint, parent);
        if (body == PEER_WORLD || t->depth[body] >= 0) continue;
        t->joint[body] = j, t->parent[body] = parent, t->in_tree[j] = true;
        t->depth[body] = parent == PEER_WORLD ? 0 : t->depth[parent] + 1;
    }
}

// A chain in the order of its bodies is found directly: the search is quadratic.
static void reach_chain(const peer_scene* scene, mjcf_tree* t) {
    for (int32_t i = 0; i < scene->body_count; i++) {
        t->joint[i] = t->depth[i] = i, t->parent[i] = i - 1, t->in_tree[i] = true;
    }
}

// Reach what hangs on bodies of a level and deeper.
static void reach_below(const peer_scene* scene, mjcf_tree* t) {
    bool more = true;
    for (int32_t level = 0; more; level++) {
        more = false;
        for (int32_t i = 0; i < scene->body_count; i++) {
            if (t->depth[i] != level || t->done[i]) continue;
            reach_from(scene, t, i);
            t->done[i] = more = true;
        }
    }
}

// Trees on the world and on fixed bodies first; then every body that is left is a free root.
static void reach_all(const peer_scene* scene, mjcf_tree* t) {
    for (int32_t i = 0; i < scene->body_count; i++) {
        if (peer_body_is_fixed(&scene->bodies[i])) t->depth[i] = 0;
    }
    reach_from(scene, t, PEER_WORLD);
    reach_below(scene, t);
    for (int32_t i = 0; i < scene->body_count; i++) {
        if (t->depth[i] >= 0) continue;
        t->depth[i] = 0;
        reach_below(scene, t);
    }
}

static mabd_vec3 world_axis(const peer_scene* scene, const peer_joint* joint) {
    const mabd_vec3 axis = mabd_v3_load(joint->axis_b);
    if (joint->b == PEER_WORLD) return axis;
    return mabd_q_rotate(mabd_q_load(scene->bodies[joint->b].start.quaternion), axis);
}

static bool has_parallel_hinges(const peer_scene* scene) {
    for (int32_t i = 0; i < scene->joint_count; i++) {
        if (!peer_joint_is_hinge(&scene->joints[i])) return false;
        const mabd_vec3 cross = mabd_v3_cross(world_axis(scene, &scene->joints[0]),
                                              world_axis(scene, &scene->joints[i]));
        if (mabd_v3_norm(cross) > 1e-9) return false;
    }
    return true;
}

bool mjcf_tree_create(const peer_scene* scene, bool tree, mjcf_tree* t) {
    if (!allocate(scene, t)) return false;
    if (tree && peer_scene_is_chain(scene)) {
        reach_chain(scene, t);
    } else if (tree) {
        reach_all(scene, t);
    }
    for (int32_t i = scene->body_count - 1; i >= 0; i--) {
        if (t->depth[i] < 0) t->depth[i] = 0;
        if (t->parent[i] == PEER_WORLD) continue;
        t->next[i] = t->first[t->parent[i]];
        t->first[t->parent[i]] = i;
    }
    t->parallel = tree && has_parallel_hinges(scene);
    return true;
}

// ---- bodies ------------------------------------------------------------------------------------

static void put(FILE* out, const char* name, int n, const double* values) {
    fprintf(out, " %s=\"", name);
    for (int i = 0; i < n; i++) fprintf(out, "%s%.17g", i > 0 ? " " : "", values[i]);
    fputc('"', out);
}

static void put_joint(FILE* out, const peer_joint* joint, int32_t body) {
    const bool first = joint->a == body, hinge = peer_joint_is_hinge(joint);
    fprintf(out, "<joint type=\"%s\"", hinge ? "hinge" : "ball");
    put(out, "pos", 3, first ? joint->anchor_a : joint->anchor_b);
    if (hinge) put(out, "axis", 3, first ? joint->axis_a : joint->axis_b);
    fputs("/>", out);
}

// Lengths of MJCF are half lengths. Masses are those of the bodies.
static void put_geom(FILE* out, const peer_shape* shape) {
    static const char* const TYPES[] = {"box", "sphere", "capsule", "cylinder", "plane"};
    static const int SIZES[] = {3, 1, 2, 2, 3};
    double size[3];
    for (int k = 0; k < 3; k++) size[k] = shape->size[k] / 2;
    if (shape->kind != PEER_SHAPE_BOX) size[0] = shape->size[0];
    if (shape->kind == PEER_SHAPE_PLANE) size[0] = size[1] = 0, size[2] = 1; // without end
    fprintf(out, "<geom type=\"%s\" mass=\"0\" friction=\"%.17g 0 0\"", TYPES[shape->kind],
            shape->friction);
    put(out, "size", SIZES[shape->kind], size);
    put(out, "pos", 3, shape->position);
    put(out, "quat", 4, shape->quaternion);
    fputs("/>\n", out);
}

// Write a body with its pose relative to its parent p: R_p' (x - x_p), R_p' R. The element is not
// closed.
static void open_body(FILE* out, const peer_scene* scene, const mjcf_tree* t, int32_t i) {
    const peer_body* body = &scene->bodies[i];
    double position[3], quaternion[4];
    mabd_vec3 x = mabd_v3_load(body->start.position);
    mabd_quat q = mabd_q_load(body->start.quaternion);
    if (t->parent[i] != PEER_WORLD) {
        const peer_state* p = &scene->bodies[t->parent[i]].start;
        const mabd_quat back = mabd_q_conjugate(mabd_q_load(p->quaternion));
        x = mabd_q_rotate(back, mabd_v3_sub(x, mabd_v3_load(p->position)));
        q = mabd_q_product(back, q);
    }
    mabd_v3_store(x, position);
    mabd_q_store(q, quaternion);
    fprintf(out, "<body name=\"b%d\"", (int)i);
    put(out, "pos", 3, position);
    put(out, "quat", 4, quaternion);
    fputc('>', out);
    for (int32_t k = 0; k < scene->shape_count; k++) {
        if (scene->shapes[k].body == i) put_geom(out, &scene->shapes[k]);
    }
    if (peer_body_is_fixed(body)) return;
    if (t->joint[i] < 0) fputs("<freejoint/>", out);
    if (t->joint[i] >= 0) put_joint(out, &scene->joints[t->joint[i]], i);
    fprintf(out, "<inertial pos=\"0 0 0\" mass=\"%.17g\"", body->mass);
    put(out, "diaginertia", 3, body->inertia);
    fputs("/>\n", out);
}

static bool begins_file(const mjcf_tree* t, int32_t i) {
    return t->depth[i] > 0 && t->depth[i] % LEVELS == 0;
}

// Write a body and all below it up to the end of its file.
static void put_bodies(FILE* out, const peer_scene* scene, const mjcf_tree* t, int32_t i) {
    open_body(out, scene, t, i);
    for (int32_t child = t->first[i]; child >= 0; child = t->next[child]) {
        if (begins_file(t, child)) {
            fprintf(out, "<include file=\"b%d.xml\"/>", (int)child);
        } else {
            put_bodies(out, scene, t, child);
        }
    }
    fputs("</body>", out);
}

// ---- constraints -------------------------------------------------------------------------------

// Write a constraint of the points `arm` along the axis from the anchor.
static void put_connect(FILE* out, const peer_joint* joint, double arm) {
    const bool grounded = joint->a == PEER_WORLD;
    const double *from = grounded ? joint->anchor_b : joint->anchor_a,
                 *axis = grounded ? joint->axis_b : joint->axis_a;
    const double anchor[3] = {from[0] + arm * axis[0], from[1] + arm * axis[1],
                              from[2] + arm * axis[2]};
    fprintf(out, "<connect body1=\"b%d\"", (int)(grounded ? joint->b : joint->a));
    if (!grounded && joint->b != PEER_WORLD) fprintf(out, " body2=\"b%d\"", (int)joint->b);
    put(out, "anchor", 3, anchor);
    fputs("/>\n", out);
}

static void put_constraints(FILE* out, const peer_scene* scene, const mjcf_tree* t) {
    for (int32_t i = 0; i < scene->joint_count; i++) {
        const peer_joint* joint = &scene->joints[i];
        if (t->in_tree[i]) continue;
        put_connect(out, joint, 0);
        if (peer_joint_is_hinge(joint) && !t->parallel) put_connect(out, joint, MJCF_HINGE_ARM);
    }
}

static void put_exclusions(FILE* out, const peer_scene* scene) {
    for (int32_t i = 0; i < scene->joint_count; i++) {
        const peer_joint* joint = &scene->joints[i];
        if (joint->a == PEER_WORLD || joint->b == PEER_WORLD) continue;
        fprintf(out, "<exclude body1=\"b%d\" body2=\"b%d\"/>\n", (int)joint->a, (int)joint->b);
    }
}

// ---- files -------------------------------------------------------------------------------------

// Kilobytes for the matrices of a step, dense at worst; unused memory is never touched.
static long long memory_size(const peer_scene* scene, const mjcf_options* options) {
    const double freedoms = (options->tree ? 3 : 6) * (double)scene->body_count;
    return (long long)fmin((3 * freedoms * freedoms + 3000 * freedoms + 1e6) / 128, 8e6);
}

static void put_options(FILE* out, const peer_scene* scene, const mjcf_options* options) {
    fprintf(out, "<option timestep=\"%.17g\" integrator=\"%s\" solver=\"Newton\"", scene->h,
            options->integrator);
    fputs(" iterations=\"100\" tolerance=\"1e-10\"", out);
    put(out, "gravity", 3, scene->gravity);
    fprintf(out, "><flag contact=\"%s\"/></option>", scene->shape_count > 0 ? "enable" : "disable");
    fprintf(out, "<size memory=\"%lldK\"/>", memory_size(scene, options));
    if (options->time_constant <= 0) return;
    fprintf(out,
            "<default><equality solref=\"%.17g 1\" solimp=\"0.99 0.9999 0.001\"/>"
            "<geom solref=\"%.17g 1\" solimp=\"0.99 0.9999 0.001\"/></default>",
            options->time_constant, options->time_constant);
}

static void put_model(FILE* out, const peer_scene* scene, const mjcf_tree* t,
                      const mjcf_options* options) {
    fputs("<mujoco><compiler boundmass=\"0\" boundinertia=\"0\"/>", out);
    put_options(out, scene, options);
    fputs("<worldbody>\n", out);
    for (int32_t i = 0; i < scene->body_count; i++) {
        if (t->parent[i] == PEER_WORLD) put_bodies(out, scene, t, i);
    }
    fputs("</worldbody><equality>\n", out);
    put_constraints(out, scene, t);
    fputs("</equality>", out);
    if (scene->shape_count > 0) {
        fputs("<contact>\n", out);
        put_exclusions(out, scene);
        fputs("</contact>", out);
    }
    fputs("</mujoco>\n", out);
}

// Write the model (body = -1), or the bodies from `body` on, as one file.
static bool add_file(const peer_scene* scene, const mjcf_tree* t, const mjcf_options* options,
                     int32_t body, mjcf_add_file add, void* context) {
    char name[32] = "scene.xml", *text = NULL;
    size_t length = 0;
    FILE* out = open_memstream(&text, &length);
    if (out == NULL) return false;
    if (body < 0) {
        put_model(out, scene, t, options);
    } else {
        snprintf(name, sizeof(name), "b%d.xml", (int)body);
        fputs("<mujocoinclude>", out);
        put_bodies(out, scene, t, body);
        fputs("</mujocoinclude>\n", out);
    }
    const bool added = fclose(out) == 0 && add(context, name, text, length);
    free(text);
    return added;
}

bool mjcf_write(const peer_scene* scene, const mjcf_tree* tree, const mjcf_options* options,
                mjcf_add_file add, void* context) {
    bool added = add_file(scene, tree, options, -1, add, context);
    for (int32_t i = 0; added && i < scene->body_count; i++) {
        if (begins_file(tree, i)) added = add_file(scene, tree, options, i, add, context);
    }
    return added;
}
