// SPDX-License-Identifier: Apache-2.0
// One picture: check, frame, camera, memory, then
//   shadow maps -> solid items, front to back -> occlusion -> thin items, front to back -> pixels
// Solid items leave depth, normal and item in the sample buffers and are shaded once, at the end.
// Thin items are blended by coverage, pixel by pixel, in front of the samples. Memory: O(pixels),
// and six bytes per item for the order.

#include "base/error.h"
#include "render/ground.h"
#include "render/occlusion.h"
#include "render/shade.h"

#include <string.h>

#define SIZE_MAX_PIXELS 16384
#define BUCKETS         65536
#define THIN_PIXELS     1.5f // thinner items are blended by coverage

typedef struct picture {
    mabd_render_def def; // with the ground at the highest level plane
    int32_t n;
    const mabd_render_item* items;
    mabd_frame frame;
    mabd_lights lights;
    mabd_ground ground;
    mabd_meshes meshes;
    mabd_raster_vertex* vertices;
    mabd_canvas canvas;
    mabd_light_map key, sky;
    uint8_t *open, *scratch; // (height x width)
    float* layer;            // thin items: rgb times coverage, coverage (height x width x 4)
    int32_t* order;          // items, front to back (n)
    int32_t* buckets;        // (BUCKETS)
    uint16_t* depth;         // bucket of each item (n)
} picture;

mabd_render_def mabd_default_render_def(void) {
    mabd_render_def def = {
        .width = 1280,
        .height = 720,
        .camera = {.fit = true, .raise = true, .direction = {0.42, -1, 0.40}, .fov = 0.40},
        .ground = true,
        .ground_auto = true,
        .samples = 2};
    return def;
}

// ---- check ------------------------------------------------------------------------------------

static bool all_finite(const mabd_real* v, int n) {
    bool finite = true;
    for (int k = 0; k < n; k++) finite &= isfinite(v[k]) != 0;
    return finite;
}

static bool turned(const mabd_real* rotation) {
    mabd_real norm = mabd_q_norm(mabd_q_load(rotation));
    return norm > 1e-100 && isfinite(norm);
}

static const char* field_fault(const mabd_height_field* field) {
    if (!field || !field->heights || field->columns < 2 || field->rows < 2) {
        return "height field without nodes";
    }
    if (!(field->dx > 0 && field->dy > 0 && isfinite(field->dx) && isfinite(field->dy))) {
        return "cell of a height field is not positive or not finite";
    }
    const size_t nodes = (size_t)field->columns * (size_t)field->rows;
    for (size_t i = 0; i < nodes; i++) {
        if (!isfinite(field->heights[i])) return "height is not finite";
    }
    return NULL;
}

static const char* item_fault(const mabd_render_item* item) {
    const mabd_geom* geom = &item->geom;
    if ((unsigned)geom->shape >= MABD_SHAPE_COUNT) return "unknown shape";
    if (!all_finite(item->position, 3) || !all_finite(geom->position, 3)) {
        return "position is not finite";
    }
    if (!turned(item->rotation) || !turned(geom->rotation)) {
        return "rotation is not a quaternion";
    }
    static const int sizes[MABD_SHAPE_COUNT] = {3, 1, 2, 2, 0, 2, 0};
    if (geom->shape == MABD_SHAPE_HEIGHT_FIELD) {
        const char* fault = field_fault(geom->field);
        if (fault) return fault;
    }
    for (int k = 0; k < sizes[geom->shape]; k++) {
        if (!(geom->size[k] >= 0) || !isfinite(geom->size[k]))
            return "size is negative or not finite";
    }
    for (int k = 0; k < 3; k++) {
        if (!(item->color[k] >= 0) || !isfinite(item->color[k])) {
            return "color is negative or not finite";
        }
    }
    return NULL;
}

static mabd_status check(const mabd_render_def* def, int32_t n, const mabd_render_item* items,
                         const uint8_t* rgb, mabd_error* error) {
    if (!def || !rgb || n < 0 || (n > 0 && !items)) {
        return mabd_fail(error, MABD_ERR_ARG, "render: missing argument");
    }
    if (def->width < 1 || def->height < 1 || def->width > SIZE_MAX_PIXELS ||
        def->height > SIZE_MAX_PIXELS) {
        return mabd_fail(error, MABD_ERR_ARG, "picture of %d x %d pixels, expected 1 to %d each",
                         def->width, def->height, SIZE_MAX_PIXELS);
    }
    if (def->samples < 1 || def->samples > 3) {
        return mabd_fail(error, MABD_ERR_ARG, "samples = %d, expected 1, 2 or 3", def->samples);
    }
    if (!isfinite(def->ground_height)) {
        return mabd_fail(error, MABD_ERR_ARG, "ground height is not finite");
    }
    for (int32_t i = 0; i < n; i++) {
        const char* fault = item_fault(&items[i]);
        if (fault) return mabd_fail(error, MABD_ERR_ARG, "item %d: %s", i, fault);
    }
    return MABD_OK;
}

// ---- floor ------------------------------------------------------------------------------------

// Height of a level plane that faces up [m]; false for all other items.
static bool floor_height(const mabd_frame* frame, const mabd_render_item* item, mabd_real* height) {
    if (item->geom.shape != MABD_SHAPE_PLANE) return false;
    const mabd_piece piece = mabd_piece_of(frame, item);
    *height = frame->origin.z + piece.center.z / frame->scale;
    return piece.axes.c3.z > 1 - (mabd_real)1e-9;
}

// The ground replaces the highest level plane.
static void find_floor(picture* p) {
    if (!p->def.ground || !p->def.ground_auto) return;
    for (int32_t i = 0; i < p->n; i++) {
        mabd_real height;
        if (!floor_height(&p->frame, &p->items[i], &height)) continue;
        if (p->def.ground_auto || height > p->def.ground_height) p->def.ground_height = height;
        p->def.ground_auto = false;
    }
}

static bool is_under_ground(const picture* p, int32_t item) {
    mabd_real height;
    return p->ground.drawn && floor_height(&p->frame, &p->items[item], &height) &&
           height <= p->def.ground_height;
}

// ---- memory -----------------------------------------------------------------------------------

static int32_t map_size(const picture* p) {
    int32_t larger = p->def.width > p->def.height ? p->def.width : p->def.height, size = 256;
    while (size < larger && size < 2048) size *= 2;
    return size;
}

static void layout(mabd_arena* arena, picture* p) {
    size_t samples = (size_t)p->def.samples;
    size_t pixels = (size_t)p->def.width * (size_t)p->def.height;
    size_t count = pixels * samples * samples;
    mabd_meshes_make(arena, &p->meshes);
    p->vertices = mabd_arena_take(arena, (size_t)p->meshes.largest, sizeof *p->vertices);
    p->canvas.target.key = mabd_arena_take(arena, count, sizeof(float));
    p->canvas.target.normal = mabd_arena_take(arena, count, sizeof(uint32_t));
    p->canvas.target.item = mabd_arena_take(arena, count, sizeof(int32_t));
    p->open = mabd_arena_take(arena, pixels, 1);
    p->scratch = mabd_arena_take(arena, pixels, 1);
    p->layer = mabd_arena_take(arena, 4 * pixels, sizeof(float));
    p->order = mabd_arena_take(arena, (size_t)p->n, sizeof(int32_t));
    p->buckets = mabd_arena_take(arena, BUCKETS, sizeof(int32_t));
    p->depth = mabd_arena_take(arena, (size_t)p->n, sizeof(uint16_t));
    mabd_light_map_take(arena, map_size(p), &p->key);
    if (p->ground.drawn) mabd_light_map_take(arena, map_size(p) / 2, &p->sky);
}

// ---- drawing ----------------------------------------------------------------------------------

static uint16_t bucket_of(const picture* p, int32_t item, mabd_real low, mabd_real high) {
    mabd_piece piece = mabd_piece_of(&p->frame, &p->items[item]);
    mabd_real z = mabd_view_point(&p->canvas.view, piece.center).z;
    mabd_real t = (z - low) / (high - low);
    return (uint16_t)((BUCKETS - 1) * (t > 0 ? t < 1 ? t : 1 : 0));
}

// Sort items by the depth of their centres, by counting: equal input gives equal order.
static void sort_items(picture* p) {
    const mabd_view* view = &p->canvas.view;
    mabd_vec3 half = mabd_v3_scale((mabd_real)0.5, mabd_v3_sub(p->frame.high, p->frame.low));
    mabd_vec3 middle = mabd_v3_add(p->frame.low, half);
    mabd_real z = mabd_view_point(view, middle).z, reach = mabd_v3_norm(half) + (mabd_real)1e-3;
    for (int32_t i = 0; i < p->n; i++) {
        p->depth[i] = bucket_of(p, i, z - reach, z + reach);
        p->buckets[p->depth[i]]++;
    }
    int32_t start = 0;
    for (int32_t b = 0; b < BUCKETS; b++) {
        int32_t count = p->buckets[b];
        p->buckets[b] = start;
        start += count;
    }
    for (int32_t i = 0; i < p->n; i++) p->order[p->buckets[p->depth[i]]++] = i;
}

// Draw the items of a pass, in `order` or as listed if it is null. Returns true if the other pass
// has items to draw.
static bool draw_items(const picture* p, const mabd_canvas* canvas, mabd_canvas_pass pass,
                       const int32_t* order) {
    bool more = false;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t item = order ? order[i] : i;
        if (is_under_ground(p, item)) continue;
        mabd_piece piece = mabd_piece_of(&p->frame, &p->items[item]);
        more |= mabd_canvas_draw(canvas, pass, &piece, item);
    }
    return more;
}

static void draw_map(const picture* p, mabd_light_map* map, mabd_vec3 forward) {
    mabd_view_parallel(&p->frame, forward, map->size, &map->view);
    mabd_canvas canvas = mabd_light_map_canvas(map, &p->meshes, p->vertices);
    bool thin = draw_items(p, &canvas, MABD_PASS_SOLID, NULL);
    mabd_light_map_solid(map);
    if (thin) draw_items(p, &canvas, MABD_PASS_THIN, NULL);
    mabd_light_map_finish(map);
}

static mabd_vec3 to_world(const mabd_view* view, mabd_vec3 p) {
    mabd_vec3 w = mabd_v3_axpy(p.x, view->right, mabd_v3_scale(p.z, view->forward));
    return mabd_v3_axpy(p.y, view->up, w);
}

typedef struct thin_context {
    const picture* p;
    float rgb[3];
} thin_context;

// Blend one pixel of a thin item under the items in front of it.
static void visit_pixel(void* context, int32_t x, int32_t y, float coverage, float key) {
    const thin_context* thin = context;
    const picture* p = thin->p;
    int32_t s = p->def.samples, seen = 0;
    float* layer = p->layer + 4 * ((size_t)y * (size_t)p->def.width + (size_t)x);
    if (layer[3] > 0.996f) return;
    for (int32_t j = 0; j < s; j++) {
        const float* row = p->canvas.target.key + (size_t)(y * s + j) * (size_t)(p->def.width * s);
        for (int32_t i = 0; i < s; i++) seen += row[x * s + i] < key;
    }
    float weight = coverage * (1 - layer[3]) * (float)seen / (float)(s * s);
    for (int k = 0; k < 3; k++) layer[k] += weight * thin->rgb[k];
    layer[3] += weight;
}

static void unit_to_eye(mabd_vec3 point, float* to_eye) {
    mabd_real s = -1 / mabd_v3_norm(point);
    to_eye[0] = (float)(s * point.x), to_eye[1] = (float)(s * point.y),
    to_eye[2] = (float)(s * point.z);
}

static int longest_axis(const mabd_piece* piece) {
    int k = piece->half[1] > piece->half[2] ? 1 : 2;
    return piece->half[0] > piece->half[k] ? 0 : k;
}

static void thin_pixels(const mabd_canvas* canvas, const mabd_piece* piece, int32_t item,
                        const mabd_line* line) {
    const picture* p = canvas->context;
    thin_context context = {.p = p};
    mabd_vec3 a = mabd_piece_axis(piece, longest_axis(piece));
    float axis[3] = {(float)a.x, (float)a.y, (float)a.z}, to_eye[3];
    unit_to_eye(piece->center, to_eye);

    // its own thickness must not shadow it
    mabd_vec3 world = mabd_v3_add(to_world(&canvas->view, piece->center), canvas->view.eye);
    mabd_real out =
        mabd_piece_reach(piece, mabd_view_direction(&canvas->view, p->lights.key_world));
    world = mabd_v3_axpy(out + 1 / p->key.view.focal, p->lights.key_world, world);
    float lit = mabd_light_map_lit(&p->key, world, p->lights.key_world);

    mabd_shade_rod(&p->lights, p->items[item].color, axis, to_eye, lit, context.rgb);
    mabd_line_draw(line, p->def.width, p->def.height, visit_pixel, &context);
}

// ---- pixels -----------------------------------------------------------------------------------

static void shade_sample(const picture* p, size_t at, float open, float* rgb) {
    const mabd_view* view = &p->canvas.view;
    const mabd_target* target = &p->canvas.target;
    mabd_real z = 1 / (mabd_real)target->key[at];
    mabd_real x = (mabd_real)(at % (size_t)target->width) + (mabd_real)0.5;
    mabd_real y = (mabd_real)(at / (size_t)target->width) + (mabd_real)0.5;
    mabd_vec3 point =
        mabd_v3((x - view->cx) * z / view->focal, (view->cy - y) * z / view->focal, z);
    float n[3], to_eye[3];
    mabd_normal_unpack(target->normal[at], n);
    unit_to_eye(point, to_eye);

    mabd_vec3 world = mabd_v3_add(to_world(view, point), view->eye);
    mabd_vec3 normal = to_world(view, mabd_v3(n[0], n[1], n[2]));
    float lit = mabd_v3_dot(normal, p->lights.key_world) > 0
                    ? mabd_light_map_lit(&p->key, world, normal)
                    : 0;
    mabd_shade(&p->lights, p->items[target->item[at]].color, n, to_eye, lit, open, rgb);
}

static void shade_pixel(const picture* p, int32_t x, int32_t y, uint8_t* out) {
    int32_t s = p->def.samples;
    size_t pixel = (size_t)y * (size_t)p->def.width + (size_t)x, row = (size_t)(p->def.width * s);
    float behind[3], sum[3] = {0, 0, 0};
    float floor_key = mabd_ground_color(&p->ground, x, y, behind);
    float open = (float)p->open[pixel] / 255;
    for (int32_t j = 0; j < s; j++) {
        for (int32_t i = 0; i < s; i++) {
            size_t at = (size_t)(y * s + j) * row + (size_t)(x * s + i);
            float rgb[3] = {behind[0], behind[1], behind[2]}, key = p->canvas.target.key[at];
            if (key > 0) {
                float surface[3], mix = key < floor_key ? 0.35f : 1; // seen through the floor
                shade_sample(p, at, open, surface);
                for (int k = 0; k < 3; k++) rgb[k] += mix * (surface[k] - rgb[k]);
            }
            for (int k = 0; k < 3; k++) sum[k] += rgb[k];
        }
    }
    const float* layer = p->layer + 4 * pixel;
    for (int k = 0; k < 3; k++) {
        out[k] = mabd_srgb(layer[k] + (1 - layer[3]) * sum[k] / (float)(s * s));
    }
}

static void draw(picture* p, uint8_t* rgb) {
    mabd_canvas* canvas = &p->canvas;
    canvas->target.width = canvas->view.width;
    canvas->target.height = canvas->view.height;
    canvas->samples = p->def.samples;
    canvas->error = 0.1f * (float)p->def.samples;
    canvas->thin_width = THIN_PIXELS;
    canvas->meshes = &p->meshes;
    canvas->vertices = p->vertices;
    canvas->thin = thin_pixels;
    canvas->context = p;

    sort_items(p);
    draw_map(p, &p->key, mabd_v3_scale(-1, p->lights.key_world));
    p->ground.key = &p->key;
    if (p->ground.drawn) {
        draw_map(p, &p->sky, mabd_v3(0, 0, 1));
        p->ground.sky = &p->sky;
    }
    bool thin = draw_items(p, canvas, MABD_PASS_SOLID, p->order);
    mabd_occlusion(&canvas->view, &canvas->target, p->def.samples, p->open, p->scratch);
    if (thin) draw_items(p, canvas, MABD_PASS_THIN, p->order);

    for (int32_t y = 0; y < p->def.height; y++) {
        for (int32_t x = 0; x < p->def.width; x++) {
            shade_pixel(p, x, y, rgb + 3 * ((size_t)y * (size_t)p->def.width + (size_t)x));
        }
    }
}

mabd_status mabd_render_draw(const mabd_render_def* def, int32_t n, const mabd_render_item* items,
                             const mabd_allocator* allocator, uint8_t* rgb, mabd_error* error) {
    MABD_TRY(check(def, n, items, rgb, error));
    const mabd_allocator fallback = mabd_default_allocator();
    if (!allocator) allocator = &fallback;

    picture p;
    memset(&p, 0, sizeof p);
    p.def = *def, p.n = n, p.items = items;
    p.frame = mabd_frame_of(n, items);
    if (!isfinite(mabd_v3_norm(p.frame.origin)) || !isfinite(p.frame.scale) || p.frame.scale == 0) {
        return mabd_fail(error, MABD_ERR_ARG, "the items are too far apart to draw");
    }
    MABD_TRY(mabd_view_camera(def, &p.frame, n, items, &p.canvas.view, error));
    p.lights = mabd_lights_make(&p.canvas.view);
    find_floor(&p);
    p.ground = mabd_ground_make(&p.def, &p.frame, &p.canvas.view);

    mabd_arena arena = {NULL, 0, 0};
    layout(&arena, &p);
    arena.size = arena.used;
    arena.memory = arena.size == SIZE_MAX ? NULL : mabd_alloc(allocator, arena.size);
    if (!arena.memory) return mabd_fail_memory(error, "drawing a picture");
    arena.used = 0;
    layout(&arena, &p);
    draw(&p, rgb);
    mabd_free(allocator, arena.memory, arena.size);
    return MABD_OK;
}
