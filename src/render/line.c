// SPDX-License-Identifier: Apache-2.0
// Thin bands drawn by coverage. In the axes of the band (u along, v across, both in pixels) a pixel
// is treated as a unit square aligned with the band, so its coverage is a product of two overlaps
// of intervals,
//   coverage = |[u - 1/2, u + 1/2] n [0, length]| * |[v - 1/2, v + 1/2] n [-width/2, width/2]|
// Bands that are laid end to end add up to one band, however short they are.

#include "render/raster.h"

static float overlap(float x, float low, float high) {
    float a = x - 0.5f > low ? x - 0.5f : low, b = x + 0.5f < high ? x + 0.5f : high;
    return b > a ? b - a : 0;
}

typedef struct band {
    float ux, uy, length;
    const mabd_line* line;
} band;

static void visit_pixel(const band* b, int32_t x, int32_t y, mabd_line_visit* visit,
                        void* context) {
    const mabd_line* line = b->line;
    float dx = (float)x + 0.5f - line->x0, dy = (float)y + 0.5f - line->y0;
    float u = dx * b->ux + dy * b->uy, v = dy * b->ux - dx * b->uy;
    float half = line->width / 2;
    float coverage = overlap(u, 0, b->length) * overlap(v, -half, half);
    if (coverage <= 0) return;
    float t = b->length > 0 ? u / b->length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    visit(context, x, y, coverage, line->key0 + t * (line->key1 - line->key0));
}

static int32_t clamp_pixel(float x, int32_t size) {
    return x < 0 ? 0 : x >= (float)size ? size - 1 : (int32_t)x;
}

void mabd_line_draw(const mabd_line* line, int32_t width, int32_t height, mabd_line_visit* visit,
                    void* context) {
    float dx = line->x1 - line->x0, dy = line->y1 - line->y0;
    band b = {1, 0, sqrtf(dx * dx + dy * dy), line};
    if (b.length > 0) b.ux = dx / b.length, b.uy = dy / b.length;

    // step along the steeper axis, and across over the width of the band there
    bool steep = fabsf(b.uy) > fabsf(b.ux);
    int32_t along = steep ? height : width, across = steep ? width : height;
    float a0 = steep ? line->y0 : line->x0, a1 = steep ? line->y1 : line->x1;
    float c0 = steep ? line->x0 : line->y0;
    float slope = steep ? b.ux / b.uy : b.uy / b.ux;
    float thick = line->width / 2 + 0.5f, side = thick * sqrtf(1 + slope * slope);
    float reach = 1.42f * thick, low = fminf(a0, a1) - reach, high = fmaxf(a0, a1) + reach;
    if (!(high >= 0 && low < (float)along)) return;

    // pixels whose centres are within reach
    int32_t last = clamp_pixel(high - 0.5f, along);
    for (int32_t i = clamp_pixel(low + 0.5f, along); i <= last; i++) {
        float c = c0 + slope * ((float)i + 0.5f - a0);
        if (!(c + side >= 0 && c - side < (float)across)) continue;
        int32_t end = clamp_pixel(c + side - 0.5f, across);
        for (int32_t j = clamp_pixel(c - side + 0.5f, across); j <= end; j++) {
            visit_pixel(&b, steep ? j : i, steep ? i : j, visit, context);
        }
    }
}
