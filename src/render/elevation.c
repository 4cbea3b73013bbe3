// SPDX-License-Identifier: Apache-2.0
// Rays from the centres of items towards the eye are tested against bowls and height fields. The
// eye is far away compared with the size of the scene, so all rays of a camera are taken as
// parallel.
//
// A bowl is the lower half of the shell between two spheres about its origin: it stops a ray that
// crosses one of the spheres below the rim. A height field is sampled cell by cell along the ray:
// it stops a ray that is below the surface.
#include "render/elevation.h"

#include "render/piece.h"

#define STEP_RAD        0.0873 // 5 degrees
#define HIGHEST_RAD     1.396  // 80 degrees: the picture keeps a horizon
#define VISIBLE_SHARE   0.9    // of the items: enough to stop raising
#define SAMPLES_MAX     500    // items tested, evenly spaced in the list
#define FIELD_STEPS_MAX 10000

// True if the ray p + t d (t > 0) crosses a sphere of radius r about 0 below the plane z = 0.
static bool crosses_lower_half(mabd_vec3 p, mabd_vec3 d, mabd_real r) {
    const mabd_real b = mabd_v3_dot(p, d), c = mabd_v3_dot(p, p) - r * r, under = b * b - c;
    if (under <= 0) return false;
    const mabd_real root = (mabd_real)sqrt(under), ends[2] = {-b - root, -b + root};
    for (int k = 0; k < 2; k++) {
        if (ends[k] > 0 && p.z + ends[k] * d.z < 0) return true;
    }
    return false;
}

// Height of a field at (x, y) in its own frame [m]; the nearest node is enough here.
static bool height_at(const mabd_height_field* field, mabd_real x, mabd_real y, mabd_real* height) {
    const mabd_real i = (mabd_real)floor(x / field->dx + (mabd_real)(field->columns) / 2);
    const mabd_real j = (mabd_real)floor(y / field->dy + (mabd_real)(field->rows) / 2);
    if (!(i >= 0 && j >= 0 && i < (mabd_real)field->columns && j < (mabd_real)field->rows)) {
        return false;
    }
    *height = field->heights[(size_t)j * (size_t)field->columns + (size_t)i];
    return true;
}

// The test begins two cells away, because an item touches the surface.
static bool is_below_field(const mabd_height_field* field, mabd_vec3 p, mabd_vec3 d) {
    const mabd_real level = (mabd_real)sqrt(d.x * d.x + d.y * d.y);
    const mabd_real cell = field->dx < field->dy ? field->dx : field->dy;
    mabd_real height;
    if (level <= 0) return false;
    for (int k = 2; k < FIELD_STEPS_MAX; k++) {
        const mabd_vec3 x = mabd_v3_axpy((mabd_real)k * cell / level, d, p);
        if (!height_at(field, x.x, x.y, &height)) return false;
        if (x.z < height) return true;
    }
    return false;
}

// True if a sheet stops the ray from `point` along d (world axes, scene units).
static bool stops(const mabd_piece* sheet, mabd_vec3 point, mabd_vec3 d) {
    const mabd_vec3 origin = mabd_v3_axpy(-sheet->lift, sheet->axes.c3, sheet->center);
    const mabd_vec3 p = mabd_m3_tmul(sheet->axes, mabd_v3_sub(point, origin));
    const mabd_vec3 local = mabd_m3_tmul(sheet->axes, d);
    if (sheet->shape == MABD_SHAPE_BOWL) {
        const mabd_real inner = sheet->geom->size[0] * sheet->scale;
        const mabd_real outer = inner + sheet->geom->size[1] * sheet->scale;
        return crosses_lower_half(p, local, inner) || crosses_lower_half(p, local, outer);
    }
    return is_below_field(sheet->geom->field, mabd_v3_scale(1 / sheet->scale, p), local);
}

static bool is_cover(const mabd_render_item* item) {
    return item->geom.shape == MABD_SHAPE_BOWL || item->geom.shape == MABD_SHAPE_HEIGHT_FIELD;
}

static bool is_hidden(const mabd_frame* frame, int32_t n, const mabd_render_item* items,
                      mabd_vec3 point, mabd_vec3 d) {
    for (int32_t k = 0; k < n; k++) {
        if (!is_cover(&items[k])) continue;
        const mabd_piece sheet = mabd_piece_of(frame, &items[k]);
        if (stops(&sheet, point, d)) return true;
    }
    return false;
}

// Share of the tested items that are visible along d; 1 if there are none.
static double visible_share(const mabd_frame* frame, int32_t n, const mabd_render_item* items,
                            mabd_vec3 d) {
    const int32_t stride = n / SAMPLES_MAX + 1;
    int32_t tested = 0, seen = 0;
    for (int32_t i = 0; i < n; i += stride) {
        if (items[i].geom.shape >= MABD_SHAPE_PLANE) continue;
        const mabd_piece piece = mabd_piece_of(frame, &items[i]);
        tested++;
        seen += !is_hidden(frame, n, items, piece.center, d);
    }
    return tested > 0 ? (double)seen / tested : 1;
}

static bool has_cover(int32_t n, const mabd_render_item* items) {
    for (int32_t i = 0; i < n; i++) {
        if (is_cover(&items[i])) return true;
    }
    return false;
}

mabd_vec3 mabd_elevation_raise(const mabd_frame* frame, int32_t n, const mabd_render_item* items,
                               mabd_vec3 direction) {
    const mabd_real level = (mabd_real)sqrt(direction.x * direction.x + direction.y * direction.y);
    if (level < (mabd_real)1e-6 || !has_cover(n, items)) return direction;
    mabd_vec3 best = direction;
    double most = visible_share(frame, n, items, direction);
    const double start = atan2((double)direction.z, (double)level);
    for (int k = 1; most < VISIBLE_SHARE && start + k * STEP_RAD <= HIGHEST_RAD; k++) {
        const mabd_real angle = (mabd_real)(start + k * STEP_RAD),
                        c = (mabd_real)cos(angle) / level;
        const mabd_vec3 d = mabd_v3(c * direction.x, c * direction.y, (mabd_real)sin(angle));
        const double share = visible_share(frame, n, items, d);
        if (share <= most) continue;
        most = share;
        best = d;
    }
    return best;
}
