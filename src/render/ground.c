// SPDX-License-Identifier: Apache-2.0
// A studio floor: it fades into the background with distance, so it has no edge and no horizon.
// Grid lines are about a pixel wide at any distance and are filtered by the footprint of the pixel
// on the floor; where the footprint approaches the spacing they vanish.

#include "render/ground.h"

static const float floor_color[3] = {0.770f, 0.785f, 0.805f};
static const float horizon_color[3] = {0.905f, 0.920f, 0.940f};
static const float zenith_color[3] = {0.640f, 0.715f, 0.800f};
static const float line_color[3] = {0.36f, 0.41f, 0.48f};
static const float shadow_color[3] = {0.20f, 0.24f, 0.32f};

mabd_real mabd_ground_step(mabd_real length) {
    mabd_real power = (mabd_real)pow(10, floor(log10(length)));
    mabd_real digit = length / power * (mabd_real)(1 + 1e-12);
    return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

mabd_ground mabd_ground_make(const mabd_render_def* def, const mabd_frame* frame,
                             const mabd_view* view) {
    mabd_ground g = {.frame = frame, .view = view, .samples = def->samples};
    g.height = def->ground_auto ? frame->low.z - (mabd_real)0.004
                                : (def->ground_height - frame->origin.z) * frame->scale;
    g.drawn = def->ground && view->eye.z > g.height;

    // the part of the floor in view at the scene's distance
    mabd_vec3 middle =
        mabd_v3_axpy((mabd_real)0.5, mabd_v3_add(frame->low, frame->high), mabd_v3(0, 0, 0));
    mabd_real distance = mabd_v3_dot(view->forward, mabd_v3_sub(middle, view->eye));
    if (!def->camera.fit || distance <= 0) {
        mabd_vec3 target = mabd_v3_sub(mabd_v3_load(def->camera.target), frame->origin);
        middle = mabd_v3_scale(frame->scale, target);
        distance = mabd_v3_norm(mabd_v3_sub(middle, view->eye));
    }
    mabd_real high = 2 * distance * view->cy / view->focal;
    g.center = mabd_v3(middle.x, middle.y, g.height);
    g.reach = (mabd_real)1.1 * high * (mabd_real)fmax(1, view->cx / view->cy);
    g.cell = mabd_ground_step(high / frame->scale / 8);
    mabd_real digit = g.cell / (mabd_real)pow(10, floor(log10((double)g.cell * 1.0001)));
    g.major = digit > 4 ? 2 : digit > 1.5 ? 5 : 10;
    return g;
}

static float smooth(float low, float high, float x) {
    float t = (x - low) / (high - low);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

// Ray through (x, y) [samples], world axes, forward part 1.
static mabd_vec3 ray(const mabd_view* view, mabd_real x, mabd_real y) {
    mabd_vec3 d = mabd_v3_axpy((x - view->cx) / view->focal, view->right, view->forward);
    return mabd_v3_axpy((view->cy - y) / view->focal, view->up, d);
}

static void background(mabd_vec3 direction, float* rgb) {
    float elevation = (float)(direction.z / mabd_v3_norm(direction));
    float t = smooth(-0.45f, 0.75f, elevation);
    for (int k = 0; k < 3; k++)
        rgb[k] = horizon_color[k] + t * (zenith_color[k] - horizon_color[k]);
}

// Coverage of a pixel by the lines of one spacing: `at` [m] on an axis, `foot` = size of the
// pixel there [m].
static float line_cover(mabd_real at, mabd_real foot, mabd_real spacing, float width) {
    mabd_real nearest = at - spacing * (mabd_real)floor(at / spacing + (mabd_real)0.5);
    float distance = (float)(fabs(nearest) / foot), cover = 0.5f * (1 + width) - distance;
    cover = cover < 0 ? 0 : cover > 1 ? 1 : cover > width ? width : cover;
    return cover * (1 - smooth(0.10f, 0.45f, (float)(foot / spacing)));
}

// Strength of the grid at a floor point p [m], with the footprint fx, fy of the pixel [m].
static float grid(const mabd_ground* g, mabd_real x, mabd_real y, mabd_real fx, mabd_real fy) {
    mabd_real large = g->cell * (mabd_real)g->major;
    float minor = fmaxf(line_cover(x, fx, g->cell, 0.9f), line_cover(y, fy, g->cell, 0.9f));
    float major = fmaxf(line_cover(x, fx, large, 1.3f), line_cover(y, fy, large, 1.3f));
    return fmaxf(0.30f * minor, 0.62f * major);
}

static void darken(const mabd_ground* g, mabd_vec3 p, float* rgb) {
    float key = g->key ? mabd_light_map_soft(g->key, p, 0.002f, 0.05f, false) : 0;
    float sky = g->sky ? mabd_light_map_soft(g->sky, p, 0.05f, 0.9f, true) : 0;
    float shadow = 1 - (1 - 0.65f * key) * (1 - 0.55f * sky);
    for (int k = 0; k < 3; k++) rgb[k] += shadow * (shadow_color[k] - rgb[k]);
}

float mabd_ground_color(const mabd_ground* g, int32_t x, int32_t y, float* rgb) {
    const mabd_view* view = g->view;
    mabd_real s = g->samples, px = s * ((mabd_real)x + (mabd_real)0.5);
    mabd_real py = s * ((mabd_real)y + (mabd_real)0.5);
    mabd_vec3 d = ray(view, px, py), dx = ray(view, px + s, py), dy = ray(view, px, py + s);
    background(d, rgb);
    mabd_real drop = g->height - view->eye.z; // negative
    if (!g->drawn || d.z > -1e-6 || dx.z > -1e-6 || dy.z > -1e-6) return 0;

    mabd_real depth = drop / d.z;
    mabd_vec3 p = mabd_v3_axpy(depth, d, view->eye);
    mabd_vec3 q = mabd_v3_axpy(drop / dx.z, dx, view->eye),
              r = mabd_v3_axpy(drop / dy.z, dy, view->eye);
    mabd_real away = mabd_v3_norm(mabd_v3_sub(p, g->center)) / g->reach;
    float fade = 1 - smooth(0.35f, 2.2f, (float)away), lines = 1 - smooth(0.30f, 1.5f, (float)away);
    if (!(fade > 0)) return (float)(1 / depth);

    mabd_real unit = 1 / g->frame->scale;
    mabd_real fx =
        unit * (mabd_real)(fabs(q.x - p.x) + fabs(r.x - p.x)) + g->cell * (mabd_real)1e-9;
    mabd_real fy =
        unit * (mabd_real)(fabs(q.y - p.y) + fabs(r.y - p.y)) + g->cell * (mabd_real)1e-9;
    float line =
        lines * grid(g, g->frame->origin.x + unit * p.x, g->frame->origin.y + unit * p.y, fx, fy);
    float color[3];
    for (int k = 0; k < 3; k++) color[k] = floor_color[k] + line * (line_color[k] - floor_color[k]);
    darken(g, p, color);
    for (int k = 0; k < 3; k++) rgb[k] += fade * (color[k] - rgb[k]);
    return (float)(1 / depth);
}
