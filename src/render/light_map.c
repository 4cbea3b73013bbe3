// SPDX-License-Identifier: Apache-2.0
// Shadows between items compare depth keys over 4 x 4 texels, weighted as a 3 x 3 box of bilinear
// lookups. A thin line covers only part of a texel: it writes its depth into that part of its
// texels, chosen by a hash, and the filter turns the pattern into a half shadow.
//
// A soft shadow widens with the distance d between ground and occluder, about spread * d: the
// mean d comes from the pyramid at a coarse level, then decides the level that is read.

#include "render/light_map.h"

#define THIN_TEXELS 4.0f // thinner pieces cast their shadow as a flat band

void mabd_light_map_take(mabd_arena* arena, int32_t size, mabd_light_map* map) {
    map->size = size;
    map->key = mabd_arena_take(arena, (size_t)size * (size_t)size, sizeof(float));
    map->levels = 0;
    for (int32_t s = size; s >= 4 && map->levels < MABD_LIGHT_LEVELS; s /= 2) {
        map->cover[map->levels++] =
            mabd_arena_take(arena, 2 * (size_t)s * (size_t)s, sizeof(float));
    }
}

typedef struct thin_context {
    mabd_light_map* map;
    int32_t item;
} thin_context;

// Pseudo-random number in 0..1.
static float chance(int32_t item, int32_t x, int32_t y) {
    uint32_t h =
        (uint32_t)item * 0x9e3779b1u ^ (uint32_t)x * 0x85ebca6bu ^ (uint32_t)y * 0xc2b2ae35u;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (float)(h >> 8) / 16777216.0f;
}

static void visit_texel(void* context, int32_t x, int32_t y, float coverage, float key) {
    const thin_context* thin = context;
    mabd_light_map* map = thin->map;
    size_t at = (size_t)y * (size_t)map->size + (size_t)x;

    if (key > map->key[at] && chance(thin->item, x, y) < coverage) map->key[at] = key;

    float* cover = map->cover[0] + 2 * at;
    float more = coverage * (1 - cover[0]);
    cover[0] += more;
    cover[1] += more * key;
}

static void thin_texels(const mabd_canvas* canvas, const mabd_piece* piece, int32_t item,
                        const mabd_line* line) {
    (void)piece;
    thin_context context = {canvas->context, item};
    mabd_line_draw(line, context.map->size, context.map->size, visit_texel, &context);
}

mabd_canvas mabd_light_map_canvas(mabd_light_map* map, const mabd_meshes* meshes,
                                  mabd_raster_vertex* vertices) {
    mabd_canvas canvas = {.view = map->view,
                          .target = {map->size, map->size, map->key, NULL, NULL},
                          .samples = 1,
                          .error = 0.4f,
                          .thin_width = THIN_TEXELS,
                          .meshes = meshes,
                          .vertices = vertices,
                          .thin = thin_texels,
                          .context = map};
    return canvas;
}

void mabd_light_map_solid(mabd_light_map* map) {
    size_t count = (size_t)map->size * (size_t)map->size;
    for (size_t i = 0; i < count; i++) {
        if (map->key[i] <= 0) continue;
        map->cover[0][2 * i] = 1;
        map->cover[0][2 * i + 1] = map->key[i];
    }
}

void mabd_light_map_finish(mabd_light_map* map) {
    for (int32_t level = 1; level < map->levels; level++) {
        size_t size = (size_t)(map->size >> level);
        const float* from = map->cover[level - 1];
        float* to = map->cover[level];
        for (size_t y = 0; y < size; y++) {
            for (size_t x = 0; x < size; x++) {
                const float* a = from + 2 * (2 * y * 2 * size + 2 * x);
                const float* b = a + 4 * size;
                for (int k = 0; k < 2; k++) {
                    to[2 * (y * size + x) + (size_t)k] = (a[k] + a[k + 2] + b[k] + b[k + 2]) / 4;
                }
            }
        }
    }
}

// ---- shadows on items -------------------------------------------------------------------------

float mabd_light_map_lit(const mabd_light_map* map, mabd_vec3 p, mabd_vec3 n) {
    // start off the surface by about the size of the filter, or it shadows itself
    mabd_real texel = 1 / map->view.focal;
    mabd_vec3 off = mabd_v3_axpy((mabd_real)1.5 * texel, n, p);
    mabd_vec3 s = mabd_view_project(&map->view, mabd_view_point(&map->view, off));
    float key = (float)(s.z + 2 * texel);
    float x = (float)s.x - 2, y = (float)s.y - 2;
    if (!(x >= 0 && y >= 0 && x < (float)(map->size - 4) && y < (float)(map->size - 4))) return 1;
    int32_t ix = (int32_t)x, iy = (int32_t)y;
    float fx = x - (float)ix, fy = y - (float)iy;
    float wx[4] = {1 - fx, 1, 1, fx}, wy[4] = {1 - fy, 1, 1, fy}, lit = 0;
    for (int j = 0; j < 4; j++) {
        const float* row = map->key + (size_t)(iy + j) * (size_t)map->size + ix;
        for (int i = 0; i < 4; i++) {
            if (row[i] <= key) lit += wx[i] * wy[j];
        }
    }
    return lit / 9;
}

// ---- shadows on the ground --------------------------------------------------------------------

// Weights of a quadratic B-spline on the texels around u; returns the first of the three.
static int32_t spline(float u, float* w) {
    float base = floorf(u), t = u - base - 0.5f;
    w[0] = 0.5f * (0.5f - t) * (0.5f - t);
    w[1] = 0.75f - t * t;
    w[2] = 0.5f * (0.5f + t) * (0.5f + t);
    return (int32_t)base - 1;
}

// Smooth value of one level at (x, y) [texels of level 0]; nothing is covered outside.
static void level_value(const mabd_light_map* map, int32_t level, float x, float y, float* value) {
    int32_t size = map->size >> level;
    float scale = 1 / (float)(1 << level), wx[3], wy[3];
    int32_t ix = spline(x * scale, wx), iy = spline(y * scale, wy);
    value[0] = value[1] = 0;
    for (int j = 0; j < 3; j++) {
        if (iy + j < 0 || iy + j >= size) continue;
        for (int i = 0; i < 3; i++) {
            if (ix + i < 0 || ix + i >= size) continue;
            const float* c = map->cover[level] + 2 * ((ptrdiff_t)(iy + j) * size + ix + i);
            value[0] += wx[i] * wy[j] * c[0];
            value[1] += wx[i] * wy[j] * c[1];
        }
    }
}

// Coverage averaged over about `radius` texels: between the two nearest levels.
static void blurred(const mabd_light_map* map, float x, float y, float radius, float* value) {
    float top = (float)(map->levels - 1), level = radius > 1 ? log2f(radius) : 0, fine[2];
    if (level > top) level = top;
    int32_t low = (int32_t)level, high = low + 1 < map->levels ? low + 1 : low;
    level_value(map, low, x, y, fine);
    level_value(map, high, x, y, value);
    for (int i = 0; i < 2; i++) value[i] = fine[i] + (level - (float)low) * (value[i] - fine[i]);
}

float mabd_light_map_soft(const mabd_light_map* map, mabd_vec3 p, float blur, float spread,
                          bool behind) {
    mabd_vec3 s = mabd_view_project(&map->view, mabd_view_point(&map->view, p));
    float x = (float)s.x, y = (float)s.y, key = (float)s.z, margin = (float)map->size / 2;
    if (!(x > -margin && y > -margin && x < 3 * margin && y < 3 * margin)) return 0;

    // where little is covered the coarser distance is kept, so the shadow is continuous
    const float few = 0.01f;
    float texel = (float)map->view.focal, distance = 1, value[2];
    for (int pass = 0; pass < 2; pass++) {
        blurred(map, x, y, texel * (blur + spread * distance), value);
        if (value[0] <= 0) return 0;
        float away = value[1] - value[0] * key;
        distance = ((behind ? -away : away) + few * distance) / (value[0] + few);
        if (distance < 0) distance = 0;
    }
    blurred(map, x, y, texel * (blur + spread * distance), value);
    float away = value[1] - value[0] * key;
    return (behind ? away < 0 : away > 0) ? value[0] : 0;
}
