// SPDX-License-Identifier: Apache-2.0
// For a surface point p with normal n, surfaces at p + v above its tangent plane hide part of its
// surroundings:
//   open = 1 - strength mean( max(0, v.n - bias) / (v.v + small) )
// over a spiral of pixels around it. The spiral is turned from pixel to pixel in a 4 x 4 pattern,
// which a blur of that size removes.

#include "render/occlusion.h"

#define TAPS     14
#define STRENGTH 2.0f

#define TURNS 16

typedef struct field {
    const mabd_view* view;
    const mabd_target* target;
    int32_t samples, width, height;
    float radius;                   // [pixels]
    int32_t offset[TURNS][TAPS][2]; // of the spiral, turned [pixels]
} field;

static void set_spiral(field* f) {
    f->radius = 0.022f * (float)f->height + 2;
    for (int t = 0; t < TURNS; t++) {
        for (int k = 0; k < TAPS; k++) {
            float r = f->radius * ((float)k + 0.5f) / TAPS + 0.5f;
            float angle = 6.2832f / TURNS * (float)t + 2.4f * (float)k;
            f->offset[t][k][0] = (int32_t)lrintf(r * cosf(angle));
            f->offset[t][k][1] = (int32_t)lrintf(r * sinf(angle));
        }
    }
}

// The nearest sample of a pixel; its key may be 0.
static size_t nearest_sample(const field* f, int32_t x, int32_t y) {
    size_t row = (size_t)f->target->width, best = 0;
    float key = -1;
    for (int32_t j = 0; j < f->samples; j++) {
        for (int32_t i = 0; i < f->samples; i++) {
            size_t at = (size_t)(y * f->samples + j) * row + (size_t)(x * f->samples + i);
            if (f->target->key[at] > key) key = f->target->key[at], best = at;
        }
    }
    return best;
}

static void point_at(const field* f, size_t at, float* p) {
    const mabd_view* view = f->view;
    float z = 1 / f->target->key[at];
    float x = (float)(at % (size_t)f->target->width) + 0.5f;
    float y = (float)(at / (size_t)f->target->width) + 0.5f;
    p[0] = (x - (float)view->cx) * z / (float)view->focal;
    p[1] = ((float)view->cy - y) * z / (float)view->focal;
    p[2] = z;
}

// Occlusion of p by the surface in pixel (x, y).
static float occluded(const field* f, const float* p, const float* n, float reach, int32_t x,
                      int32_t y) {
    if (x < 0 || y < 0 || x >= f->width || y >= f->height) return 0;
    int32_t s = f->samples;
    size_t at = (size_t)(y * s + s / 2) * (size_t)f->target->width + (size_t)(x * s + s / 2);
    if (f->target->key[at] <= 0) return 0;
    float q[3], vn = 0, vv = 0;
    point_at(f, at, q);
    for (int k = 0; k < 3; k++) vn += (q[k] - p[k]) * n[k], vv += (q[k] - p[k]) * (q[k] - p[k]);
    float fade = 1 - vv / (4 * reach * reach);
    if (fade <= 0 || vn <= 0) return 0;
    float bias = 0.02f * reach;
    return vn > bias ? fade * (vn - bias) * reach / (vv + 0.02f * reach * reach) * 0.5f : 0;
}

static uint8_t openness(const field* f, int32_t x, int32_t y) {
    size_t at = nearest_sample(f, x, y);
    if (f->target->key[at] <= 0) return 255;
    float p[3], n[3], sum = 0;
    point_at(f, at, p);
    mabd_normal_unpack(f->target->normal[at], n);
    float reach = f->radius * (float)f->samples * p[2] / (float)f->view->focal;
    int turn = (x & 3) * 4 + (y & 3);
    for (int k = 0; k < TAPS; k++) {
        const int32_t* d = f->offset[turn][k];
        sum += occluded(f, p, n, reach, x + d[0], y + d[1]);
    }
    float open = 1 - STRENGTH * sum / TAPS;
    return (uint8_t)(255 * (open < 0.15f ? 0.15f : open));
}

// Mean of the 4 x 4 pixels around (x, y) at about the same depth.
static uint8_t blur(const field* f, const uint8_t* from, int32_t x, int32_t y) {
    float key = f->target->key[nearest_sample(f, x, y)];
    if (key <= 0) return 255;
    int sum = 0, count = 0;
    for (int32_t j = y - 2; j < y + 2; j++) {
        for (int32_t i = x - 2; i < x + 2; i++) {
            if (i < 0 || j < 0 || i >= f->width || j >= f->height) continue;
            float other = f->target->key[nearest_sample(f, i, j)];
            if (fabsf(other - key) > 0.02f * key) continue;
            sum += from[(size_t)j * (size_t)f->width + (size_t)i];
            count++;
        }
    }
    return (uint8_t)(count ? sum / count : from[(size_t)y * (size_t)f->width + (size_t)x]);
}

void mabd_occlusion(const mabd_view* view, const mabd_target* target, int32_t samples,
                    uint8_t* open, uint8_t* scratch) {
    field f = {view, target, samples, target->width / samples, target->height / samples,
               0,    {{{0}}}};
    set_spiral(&f);
    for (int32_t y = 0; y < f.height; y++) {
        for (int32_t x = 0; x < f.width; x++) {
            scratch[(size_t)y * (size_t)f.width + (size_t)x] = openness(&f, x, y);
        }
    }
    for (int32_t y = 0; y < f.height; y++) {
        for (int32_t x = 0; x < f.width; x++) {
            open[(size_t)y * (size_t)f.width + (size_t)x] = blur(&f, scratch, x, y);
        }
    }
}
