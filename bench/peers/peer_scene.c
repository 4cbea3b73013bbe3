// SPDX-License-Identifier: Apache-2.0
// A scene for every engine; see peer_scene.h.
#include "bench/peers/peer_scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 1024
#define BODY_NUMBERS   17
#define JOINT_NUMBERS  14
#define SHAPE_NUMBERS  12
#define FORMAT         3
#define COUNT_MAX      10000000

static const char* const SHAPES[] = {
#define X(name, text) text,
    PEER_SHAPE_LIST(X)
#undef X
};

bool peer_scene_create(int32_t bodies, int32_t joints, int32_t shapes, peer_scene* scene) {
    *scene = (peer_scene){.body_count = bodies, .joint_count = joints, .shape_count = shapes};
    scene->bodies = calloc((size_t)bodies + 1, sizeof(*scene->bodies));
    scene->joints = calloc((size_t)joints + 1, sizeof(*scene->joints));
    scene->shapes = calloc((size_t)shapes + 1, sizeof(*scene->shapes));
    if (scene->bodies != NULL && scene->joints != NULL && scene->shapes != NULL) return true;
    peer_scene_destroy(scene);
    return false;
}

void peer_scene_destroy(peer_scene* scene) {
    free(scene->bodies);
    free(scene->joints);
    free(scene->shapes);
    *scene = (peer_scene){0};
}

// ---- writing -----------------------------------------------------------------------------------

static void put(FILE* out, int n, const double* values) {
    for (int i = 0; i < n; i++) fprintf(out, " %.17g", values[i]);
}

void peer_scene_write(const peer_scene* scene, FILE* out) {
    fprintf(out, "mabd-peers %d\nname %s\ngravity", FORMAT, scene->name);
    put(out, 3, scene->gravity);
    fprintf(out, "\ntime %.17g %lld\nbodies %d\n", scene->h, (long long)scene->steps,
            (int)scene->body_count);
    for (int32_t i = 0; i < scene->body_count; i++) {
        const peer_body* body = &scene->bodies[i];
        fprintf(out, "%.17g", body->mass);
        put(out, 3, body->inertia);
        put(out, 3, body->start.position);
        put(out, 4, body->start.quaternion);
        put(out, 3, body->start.velocity);
        put(out, 3, body->start.angular);
        fputc('\n', out);
    }
    fprintf(out, "joints %d\n", (int)scene->joint_count);
    for (int32_t i = 0; i < scene->joint_count; i++) {
        const peer_joint* joint = &scene->joints[i];
        fprintf(out, "%d %d", (int)joint->a, (int)joint->b);
        put(out, 3, joint->anchor_a);
        put(out, 3, joint->anchor_b);
        put(out, 3, joint->axis_a);
        put(out, 3, joint->axis_b);
        fputc('\n', out);
    }
    fprintf(out, "shapes %d\n", (int)scene->shape_count);
    for (int32_t i = 0; i < scene->shape_count; i++) {
        const peer_shape* shape = &scene->shapes[i];
        fprintf(out, "%s %d", SHAPES[shape->kind], (int)shape->body);
        put(out, 3, shape->size);
        put(out, 3, shape->position);
        put(out, 4, shape->quaternion);
        put(out, 1, &shape->friction);
        fputc('\n', out);
    }
}

// ---- reading -----------------------------------------------------------------------------------

typedef struct reader {
    FILE* in;
    int64_t line;
    char text[LINE_MAX_BYTES];
    char* message;
    size_t size;
} reader;

static bool fail(const reader* r, const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    snprintf(r->message, r->size, "line %lld: %s", (long long)r->line, text);
    return false;
}

static bool next_line(reader* r, const char* expected) {
    r->line++;
    if (fgets(r->text, sizeof(r->text), r->in) == NULL) {
        return fail(r, "expected %s, found the end", expected);
    }
    if (strchr(r->text, '\n') == NULL) return fail(r, "the line is too long or has no end");
    return true;
}

// Read exactly n finite numbers from `text` to the end of the line.
static bool read_numbers(const reader* r, const char* text, int n, double* values) {
    for (int i = 0; i < n; i++) {
        char* end = NULL;
        values[i] = strtod(text, &end);
        if (end == text || !isfinite(values[i])) {
            return fail(r, "expected %d finite numbers, found %d", n, i);
        }
        text = end;
    }
    return text[strspn(text, " \t\r\n")] == '\0' || fail(r, "expected %d numbers, found more", n);
}

// Read a line "KEY number ...".
static bool read_keyed(reader* r, const char* key, int n, double* values) {
    const size_t length = strlen(key);
    if (!next_line(r, key)) return false;
    if (strncmp(r->text, key, length) != 0 || r->text[length] != ' ') {
        return fail(r, "expected '%s'", key);
    }
    return read_numbers(r, r->text + length, n, values);
}

static bool read_count(reader* r, const char* key, int32_t least, int32_t* count) {
    double value = 0;
    if (!read_keyed(r, key, 1, &value)) return false;
    if (value < least || value > COUNT_MAX || value != floor(value)) {
        return fail(r, "%s: expected an integer from %d to %d", key, (int)least, COUNT_MAX);
    }
    *count = (int32_t)value;
    return true;
}

static bool read_head(reader* r, peer_scene* scene) {
    double version = 0, time[2];
    if (!read_keyed(r, "mabd-peers", 1, &version)) return false;
    if (version != FORMAT) return fail(r, "format %g is not known, expected %d", version, FORMAT);
    if (!next_line(r, "name")) return false;
    if (sscanf(r->text, "name %63s", scene->name) != 1) return fail(r, "expected 'name'");
    if (!read_keyed(r, "gravity", 3, scene->gravity)) return false;
    if (!read_keyed(r, "time", 2, time)) return false;
    if (!(time[0] > 0) || time[1] < 1 || time[1] > 1e9 || time[1] != floor(time[1])) {
        return fail(r, "time: expected a step > 0 and a number of steps");
    }
    scene->h = time[0];
    scene->steps = (int64_t)time[1];
    return true;
}

static bool is_unit(const double* q) {
    return fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) < 1e-9;
}

static bool read_body(reader* r, peer_body* body) {
    double n[BODY_NUMBERS];
    if (!next_line(r, "a body") || !read_numbers(r, r->text, BODY_NUMBERS, n)) return false;
    body->mass = n[0];
    memcpy(body->inertia, n + 1, sizeof(body->inertia));
    memcpy(body->start.position, n + 4, sizeof(body->start.position));
    memcpy(body->start.quaternion, n + 7, sizeof(body->start.quaternion));
    memcpy(body->start.velocity, n + 11, sizeof(body->start.velocity));
    memcpy(body->start.angular, n + 14, sizeof(body->start.angular));
    const bool fixed = n[0] == 0 && n[1] == 0 && n[2] == 0 && n[3] == 0;
    if (!fixed && !(n[0] > 0 && n[1] > 0 && n[2] > 0 && n[3] > 0)) {
        return fail(r, "mass and moments must be > 0, or all 0");
    }
    return is_unit(n + 7) || fail(r, "the quaternion is not of unit length");
}

// True for an axis of unit length; with `zero` only for three zeros.
static bool is_axis(const double* axis, bool zero) {
    const double square = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2];
    return zero ? square == 0 : fabs(square - 1) < 1e-9;
}

static bool read_joint(reader* r, int32_t bodies, peer_joint* joint) {
    double n[JOINT_NUMBERS];
    if (!next_line(r, "a joint") || !read_numbers(r, r->text, JOINT_NUMBERS, n)) return false;
    for (int k = 0; k < 2; k++) {
        if (n[k] < PEER_WORLD || n[k] >= bodies || n[k] != floor(n[k])) {
            return fail(r, "there is no body %g", n[k]);
        }
    }
    if (n[0] == n[1]) return fail(r, "a joint needs two bodies");
    joint->a = (int32_t)n[0], joint->b = (int32_t)n[1];
    memcpy(joint->anchor_a, n + 2, sizeof(joint->anchor_a));
    memcpy(joint->anchor_b, n + 5, sizeof(joint->anchor_b));
    memcpy(joint->axis_a, n + 8, sizeof(joint->axis_a));
    memcpy(joint->axis_b, n + 11, sizeof(joint->axis_b));
    const bool ball = is_axis(joint->axis_a, true);
    return (is_axis(joint->axis_a, ball) && is_axis(joint->axis_b, ball)) ||
           fail(r, "the axes are neither of unit length nor both zero");
}

static bool read_shape(reader* r, int32_t bodies, peer_shape* shape) {
    double n[SHAPE_NUMBERS];
    int kind = 0;
    if (!next_line(r, "a shape")) return false;
    const size_t length = strcspn(r->text, " \n");
    while (kind < PEER_SHAPE_COUNT &&
           (strncmp(r->text, SHAPES[kind], length) != 0 || SHAPES[kind][length] != '\0')) {
        kind++;
    }
    if (kind == PEER_SHAPE_COUNT) return fail(r, "unknown shape");
    if (!read_numbers(r, r->text + length, SHAPE_NUMBERS, n)) return false;
    if (n[0] < 0 || n[0] >= bodies || n[0] != floor(n[0])) {
        return fail(r, "there is no body %g", n[0]);
    }
    shape->kind = (peer_shape_kind)kind, shape->body = (int32_t)n[0];
    memcpy(shape->size, n + 1, sizeof(shape->size));
    memcpy(shape->position, n + 4, sizeof(shape->position));
    memcpy(shape->quaternion, n + 7, sizeof(shape->quaternion));
    shape->friction = n[11];
    if (!is_unit(shape->quaternion)) return fail(r, "the quaternion is not of unit length");
    const int sizes[] = {3, 1, 2, 2, 0, 2};
    for (int k = 0; k < sizes[kind]; k++) {
        if (!(shape->size[k] > 0)) return fail(r, "sizes must be > 0");
    }
    return shape->friction >= 0 || fail(r, "friction must be >= 0");
}

// Read bodies, joints and shapes after the memory of the bodies was allocated; each number follows
// what comes before it.
static bool read_bodies(reader* r, peer_scene* scene) {
    for (int32_t i = 0; i < scene->body_count; i++) {
        if (!read_body(r, &scene->bodies[i])) return false;
    }
    if (!read_count(r, "joints", 0, &scene->joint_count)) return false;
    free(scene->joints);
    scene->joints = calloc((size_t)scene->joint_count + 1, sizeof(*scene->joints));
    if (scene->joints == NULL) return fail(r, "out of memory");
    for (int32_t i = 0; i < scene->joint_count; i++) {
        if (!read_joint(r, scene->body_count, &scene->joints[i])) return false;
    }
    if (!read_count(r, "shapes", 0, &scene->shape_count)) return false;
    free(scene->shapes);
    scene->shapes = calloc((size_t)scene->shape_count + 1, sizeof(*scene->shapes));
    if (scene->shapes == NULL) return fail(r, "out of memory");
    for (int32_t i = 0; i < scene->shape_count; i++) {
        if (!read_shape(r, scene->body_count, &scene->shapes[i])) return false;
    }
    return true;
}

bool peer_scene_read(FILE* in, peer_scene* scene, char* message, size_t size) {
    reader r = {.in = in, .message = message, .size = size};
    peer_scene head = {0};
    int32_t bodies = 0;
    *scene = (peer_scene){0};
    if (!read_head(&r, &head) || !read_count(&r, "bodies", 1, &bodies)) return false;
    if (!peer_scene_create(bodies, 0, 0, scene)) return fail(&r, "out of memory");
    memcpy(scene->name, head.name, sizeof(scene->name));
    memcpy(scene->gravity, head.gravity, sizeof(scene->gravity));
    scene->h = head.h, scene->steps = head.steps;
    if (read_bodies(&r, scene)) return true;
    peer_scene_destroy(scene);
    return false;
}

bool peer_joint_is_hinge(const peer_joint* joint) {
    return !is_axis(joint->axis_a, true);
}

bool peer_scene_has_bowl(const peer_scene* scene) {
    for (int32_t i = 0; i < scene->shape_count; i++) {
        if (scene->shapes[i].kind == PEER_SHAPE_BOWL) return true;
    }
    return false;
}

bool peer_body_is_fixed(const peer_body* body) {
    return body->mass == 0;
}

bool peer_scene_has_hinges(const peer_scene* scene) {
    for (int32_t i = 0; i < scene->joint_count; i++) {
        if (peer_joint_is_hinge(&scene->joints[i])) return true;
    }
    return false;
}

bool peer_scene_is_chain(const peer_scene* scene) {
    bool chain = scene->joint_count == scene->body_count;
    for (int32_t i = 0; chain && i < scene->joint_count; i++) {
        chain = scene->joints[i].b == i && scene->joints[i].a == i - 1 && // PEER_WORLD = -1
                !peer_body_is_fixed(&scene->bodies[i]);
    }
    return chain;
}
