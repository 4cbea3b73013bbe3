// SPDX-License-Identifier: Apache-2.0
#include "cli/render_items.h"

#include "math/quat.h"

#include <string.h>

#define COILS          9
#define PARTS_PER_COIL 10
#define PARTS          (COILS * PARTS_PER_COIL + 2) // of a coiled spring, straight ends included
#define END_SHARE      ((mabd_real)0.12)            // of its length, each
#define COIL_RADIUS    ((mabd_real)4)               // in radii of the wire
#define COIL_SLENDER   ((mabd_real)0.12)            // most radius of a coil / its length
#define WIRE_SHARE     ((mabd_real)0.0022)          // radius of a wire / size of the scene

static const float wire_colors[][3] = {
    [MABD_POLYLINE_SPRING] = {0.60f, 0.16f, 0.03f},
    [MABD_POLYLINE_CABLE] = {0.05f, 0.05f, 0.06f},
    [MABD_POLYLINE_CURVE] = {0.30f, 0.31f, 0.33f},
};

size_t render_item_count(const mabd_recording* recording) {
    size_t n = 1; // ground
    int32_t lines, count;
    const mabd_polyline* line = mabd_recording_polylines(recording, &lines);
    for (int32_t i = 0; i < lines; i++) {
        n += line[i].kind == MABD_POLYLINE_SPRING ? PARTS : (size_t)line[i].count;
    }
    for (int32_t body = 0; body < mabd_recording_body_count(recording); body++) {
        mabd_recording_geoms(recording, body, &count);
        n += (size_t)count;
    }
    return n;
}

// Fade the color of an earlier exposure towards the light background.
static void fade(float share, float* color) {
    for (int k = 0; k < 3; k++) color[k] += share * (0.75f - color[k]);
}

/// A frame, and the items made so far.
typedef struct frame_items {
    const mabd_recording* recording;
    const mabd_real *positions, *quaternions; // of the bodies
    mabd_real radius;                         // of wires [m]
    float faded;
    mabd_render_item* items;
    int32_t n;
} frame_items;

// The next item, in the colour of an exposure.
static mabd_render_item* add(frame_items* f, const float* color) {
    mabd_render_item* item = &f->items[f->n++];
    *item = (mabd_render_item){.rotation = {1, 0, 0, 0}, .geom.rotation = {1, 0, 0, 0}};
    memcpy(item->color, color, sizeof item->color);
    fade(f->faded, item->color);
    return item;
}

static void add_bodies(frame_items* f) {
    for (int32_t body = 0; body < mabd_recording_body_count(f->recording); body++) {
        int32_t count = 0;
        const mabd_geom* geoms = mabd_recording_geoms(f->recording, body, &count);
        float color[3];
        mabd_render_color(body, mabd_recording_is_static(f->recording, body), color);
        for (int32_t k = 0; k < count; k++) {
            mabd_render_item* item = add(f, color);
            item->geom = geoms[k];
            memcpy(item->position, f->positions + 3 * (size_t)body, sizeof item->position);
            memcpy(item->rotation, f->quaternions + 4 * (size_t)body, sizeof item->rotation);
        }
    }
}

// The quaternion that turns z to the direction d.
static mabd_quat turn_of_z(mabd_vec3 d) {
    const mabd_vec3 z = mabd_v3(0, 0, 1), half = mabd_v3_add(d, z);
    const mabd_real n = mabd_v3_norm(half);
    if (!(n > (mabd_real)1e-9)) return mabd_q(0, 1, 0, 0); // half a turn about x
    const mabd_vec3 h = mabd_v3_scale(1 / n, half), v = mabd_v3_cross(z, h);
    return mabd_q(mabd_v3_dot(z, h), v.x, v.y, v.z);
}

// A wire from a to b.
static void add_wire(frame_items* f, const float* color, mabd_vec3 a, mabd_vec3 b) {
    const mabd_vec3 d = mabd_v3_sub(b, a);
    const mabd_real length = mabd_v3_norm(d);
    if (!(length > 0)) return;
    mabd_render_item* item = add(f, color);
    item->geom.shape = MABD_SHAPE_CAPSULE;
    item->geom.size[0] = f->radius, item->geom.size[1] = length;
    mabd_v3_store(mabd_v3_axpy((mabd_real)0.5, d, a), item->position);
    mabd_q_store(turn_of_z(mabd_v3_scale(1 / length, d)), item->rotation);
}

// A coil of COILS turns from a to b, with straight ends.
static void add_coil(frame_items* f, const float* color, mabd_vec3 a, mabd_vec3 b) {
    const mabd_vec3 d = mabd_v3_sub(b, a);
    const mabd_real length = mabd_v3_norm(d);
    if (!(length > 0)) return;
    const mabd_quat turn = turn_of_z(mabd_v3_scale(1 / length, d));
    const mabd_vec3 x = mabd_q_rotate(turn, mabd_v3(1, 0, 0));
    const mabd_vec3 y = mabd_q_rotate(turn, mabd_v3(0, 1, 0));
    mabd_real radius = COIL_RADIUS * f->radius;
    if (radius > COIL_SLENDER * length) radius = COIL_SLENDER * length;
    mabd_vec3 last = a;
    for (int i = 0; i <= COILS * PARTS_PER_COIL; i++) {
        const mabd_real share = (mabd_real)i / (COILS * PARTS_PER_COIL);
        const mabd_real angle = (mabd_real)6.283185307179586 * COILS * share;
        mabd_vec3 next = mabd_v3_axpy(END_SHARE + (1 - 2 * END_SHARE) * share, d, a);
        next = mabd_v3_axpy(radius * (mabd_real)cos(angle), x, next);
        next = mabd_v3_axpy(radius * (mabd_real)sin(angle), y, next);
        add_wire(f, color, last, next);
        last = next;
    }
    add_wire(f, color, last, b);
}

static mabd_vec3 place(const frame_items* f, const mabd_spring_point* point) {
    const mabd_vec3 x = mabd_v3_load(point->point);
    if (point->body == MABD_WORLD) return x;
    const mabd_quat q = mabd_q_load(f->quaternions + 4 * (size_t)point->body);
    return mabd_v3_add(mabd_v3_load(f->positions + 3 * (size_t)point->body), mabd_q_rotate(q, x));
}

// True if a line never moves; then only the last exposure, which is not faded, has it.
static bool stands_still(const mabd_polyline* line) {
    for (int32_t k = 0; k < line->count; k++) {
        if (line->points[k].body != MABD_WORLD) return false;
    }
    return true;
}

static void add_lines(frame_items* f) {
    int32_t lines;
    const mabd_polyline* line = mabd_recording_polylines(f->recording, &lines);
    for (int32_t i = 0; i < lines; i++) {
        const float* color = wire_colors[line[i].kind];
        if (f->faded > 0 && stands_still(&line[i])) continue;
        mabd_vec3 last = place(f, &line[i].points[0]);
        if (line[i].kind == MABD_POLYLINE_SPRING) {
            add_coil(f, color, last, place(f, &line[i].points[1]));
            continue;
        }
        for (int32_t k = 1; k < line[i].count; k++) {
            const mabd_vec3 next = place(f, &line[i].points[k]);
            add_wire(f, color, last, next);
            last = next;
        }
    }
}

static void add_ground(frame_items* f) {
    mabd_real point[3], normal[3];
    float color[3];
    if (f->faded > 0 || !mabd_recording_ground_plane(f->recording, point, normal)) return;
    mabd_render_color(-1, true, color);
    mabd_render_item* item = add(f, color);
    item->geom.shape = MABD_SHAPE_PLANE;
    memcpy(item->position, point, sizeof item->position);
    mabd_q_store(turn_of_z(mabd_v3_load(normal)), item->rotation);
}

// Diagonal of the box that holds the bodies and the points of all lines [m].
static mabd_real scene_size(const frame_items* f) {
    mabd_vec3 low = mabd_v3(INFINITY, INFINITY, INFINITY), high = mabd_v3_scale(-1, low);
    const int32_t bodies = mabd_recording_body_count(f->recording);
    int32_t lines;
    const mabd_polyline* line = mabd_recording_polylines(f->recording, &lines);
    for (int32_t i = -1; i < lines; i++) {
        const int32_t n = i < 0 ? bodies : line[i].count;
        for (int32_t k = 0; k < n; k++) {
            const mabd_vec3 x =
                i < 0 ? mabd_v3_load(f->positions + 3 * (size_t)k) : place(f, &line[i].points[k]);
            low = mabd_v3((mabd_real)fmin(low.x, x.x), (mabd_real)fmin(low.y, x.y),
                          (mabd_real)fmin(low.z, x.z));
            high = mabd_v3((mabd_real)fmax(high.x, x.x), (mabd_real)fmax(high.y, x.y),
                           (mabd_real)fmax(high.z, x.z));
        }
    }
    return mabd_v3_norm(mabd_v3_sub(high, low));
}

int32_t render_items_fill(const mabd_recording* recording, const mabd_real* positions,
                          const mabd_real* quaternions, float faded, mabd_render_item* items) {
    frame_items f = {.recording = recording,
                     .positions = positions,
                     .quaternions = quaternions,
                     .faded = faded,
                     .items = items};
    f.radius = WIRE_SHARE * scene_size(&f);
    add_bodies(&f);
    add_lines(&f);
    add_ground(&f);
    return f.n;
}
