// SPDX-License-Identifier: Apache-2.0
#include "render/sheet.h"

#define BEVEL     0.05 // of the smallest half edge
#define SPLIT_MAX 12   // halvings of a piece that is near at one end and far at the other

// Size of a piece on the screen, to first order about its centre.
typedef struct outline {
    mabd_real z_low, z_high; // depth range
    mabd_real width;         // across, at the centre's depth [samples]
    mabd_real length;        // half, along `axis`, at the centre's depth [samples]
    int axis;                // longest on the screen
} outline;

static mabd_real clamp_near(const mabd_view* view, mabd_real z) {
    return z > view->near ? z : view->near;
}

static void outline_of(const mabd_view* view, const mabd_piece* piece, outline* o) {
    mabd_vec3 c = piece->center;
    mabd_real depth = mabd_piece_reach(piece, mabd_v3(0, 0, 1));
    mabd_real z = clamp_near(view, c.z), s = mabd_view_scale(view, z);
    mabd_real px = view->parallel ? 0 : c.x / z, py = view->parallel ? 0 : c.y / z;
    o->z_low = c.z - depth, o->z_high = c.z + depth;

    mabd_vec3 arm[3]; // half axes on the screen [samples]
    o->axis = 2;
    o->length = -1;
    for (int k = 2; k >= 0; k--) {
        mabd_vec3 a = mabd_piece_axis(piece, k);
        mabd_real h = piece->half[k] * s;
        arm[k] = mabd_v3(h * (a.x - px * a.z), h * (a.y - py * a.z), 0);
        mabd_real length = mabd_v3_norm(arm[k]);
        if (length > o->length * (mabd_real)1.0001) o->length = length, o->axis = k;
    }
    mabd_vec3 e = arm[o->axis];
    mabd_real norm = o->length, across = 0;
    for (int k = 0; k < 3 && norm > 0; k++) {
        if (k != o->axis) across += (mabd_real)fabs(e.x * arm[k].y - e.y * arm[k].x) / norm;
    }
    o->width = 2 * (across + piece->round * s);
}

static bool outside(const mabd_view* view, const mabd_piece* piece) {
    mabd_real r = mabd_piece_radius(piece);
    mabd_vec3 c = piece->center;
    if (c.z + r < view->near) return true;
    if (view->parallel) return false;
    // distance to the side planes |X| focal = cx Z
    mabd_real f = view->focal, nx = (mabd_real)sqrt(f * f + view->cx * view->cx);
    mabd_real ny = (mabd_real)sqrt(f * f + view->cy * view->cy);
    return f * fabs(c.x) - view->cx * c.z > r * nx || f * fabs(c.y) - view->cy * c.z > r * ny;
}

// ---- triangles --------------------------------------------------------------------------------

// True if all samples in the square of the picture that the piece can touch are nearer than it.
static bool hidden(const mabd_canvas* canvas, const mabd_piece* piece, mabd_real z_low) {
    const mabd_view* view = &canvas->view;
    if (!(z_low > view->near)) return false;
    mabd_vec3 at = mabd_view_project(view, piece->center);
    mabd_real r = mabd_piece_radius(piece) * mabd_view_scale(view, z_low) + 2;
    if (r > 16) return false;
    float nearest = (float)(view->parallel ? view->far - z_low : 1 / z_low);
    int32_t x0 = (int32_t)fmax(at.x - r, 0), x1 = (int32_t)fmin(at.x + r, view->width - 1);
    int32_t y0 = (int32_t)fmax(at.y - r, 0), y1 = (int32_t)fmin(at.y + r, view->height - 1);
    for (int32_t y = y0; y <= y1; y++) {
        const float* row = canvas->target.key + (size_t)y * (size_t)view->width;
        for (int32_t x = x0; x <= x1; x++) {
            if (row[x] < nearest) return false;
        }
    }
    return true;
}

static const mabd_mesh* mesh_of(const mabd_canvas* canvas, const mabd_piece* piece,
                                mabd_real scale) {
    if (piece->shape == MABD_SHAPE_BOX) return &canvas->meshes->box;
    bool cylinder = piece->shape == MABD_SHAPE_CYLINDER;
    int level = mabd_mesh_level((cylinder ? piece->half[0] : piece->round) * scale, canvas->error);
    return cylinder ? &canvas->meshes->cylinder[level] : &canvas->meshes->round[level];
}

// Round the edges of boxes and cylinders a little where that is visible.
static mabd_piece bevelled(const mabd_piece* piece, mabd_real scale) {
    mabd_piece out = *piece;
    if (piece->shape != MABD_SHAPE_BOX && piece->shape != MABD_SHAPE_CYLINDER) return out;
    mabd_real least = (mabd_real)fmin(piece->half[0], fmin(piece->half[1], piece->half[2]));
    mabd_real bevel = (mabd_real)BEVEL * least;
    if (bevel * scale < 0.25) return out;
    for (int k = 0; k < 3; k++) out.half[k] -= bevel;
    out.round = bevel;
    return out;
}

static void draw_solid(const mabd_canvas* canvas, const mabd_piece* piece, const outline* o,
                       int32_t item) {
    const mabd_view* view = &canvas->view;
    if (hidden(canvas, piece, o->z_low)) return;
    mabd_real scale = mabd_view_scale(view, clamp_near(view, o->z_low));
    const mabd_mesh* mesh = mesh_of(canvas, piece, scale);
    const mabd_piece p = bevelled(piece, scale);

    mabd_raster_vertex* v = canvas->vertices;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        const float *c = mesh->vertices[i].corner, *n = mesh->vertices[i].normal;
        mabd_vec3 local =
            mabd_v3(c[0] * p.half[0] + n[0] * p.round, c[1] * p.half[1] + n[1] * p.round,
                    c[2] * p.half[2] + n[2] * p.round);
        v[i].point = mabd_v3_add(p.center, mabd_m3_mul(p.axes, local));
        v[i].normal = mabd_m3_mul(p.axes, mabd_v3(n[0], n[1], n[2]));
        mabd_raster_vertex_set(view, &v[i]);
    }
    const uint16_t* t = mesh->triangles;
    for (int32_t i = 0; i < mesh->triangle_count; i++, t += 3) {
        mabd_raster_triangle(view, &canvas->target, item, &v[t[0]], &v[t[1]], &v[t[2]]);
    }
}

// ---- lines ------------------------------------------------------------------------------------

static void draw_thin(const mabd_canvas* canvas, const mabd_piece* piece, const outline* o,
                      int32_t item) {
    const mabd_view* view = &canvas->view;
    // a ball of the same area: a square pi/4 as long
    mabd_real half = piece->half[o->axis] + piece->round * MABD_PI / 4;
    mabd_vec3 arm = mabd_v3_scale(half, mabd_piece_axis(piece, o->axis));
    mabd_vec3 a = mabd_view_project(view, mabd_v3_sub(piece->center, arm));
    mabd_vec3 b = mabd_view_project(view, mabd_v3_add(piece->center, arm));
    float s = 1 / (float)canvas->samples;
    mabd_line line = {(float)a.x * s, (float)a.y * s, (float)a.z,         (float)b.x * s,
                      (float)b.y * s, (float)b.z,     (float)o->width * s};

    float dx = line.x1 - line.x0, dy = line.y1 - line.y0, length = sqrtf(dx * dx + dy * dy);
    bool dot = length < 3 * line.width || length == 0;
    if (line.width < MABD_THIN_VISIBLE) line.width = MABD_THIN_VISIBLE;
    if (dot && length < MABD_THIN_VISIBLE) {
        float grow = (MABD_THIN_VISIBLE - length) / 2;
        float ux = length > 0 ? dx / length : 1, uy = length > 0 ? dy / length : 0;
        line.x0 -= grow * ux, line.y0 -= grow * uy;
        line.x1 += grow * ux, line.y1 += grow * uy;
    }
    canvas->thin(canvas, piece, item, &line);
}

// ---- choice -----------------------------------------------------------------------------------

// The axis along which the piece reaches deepest; a cylinder can only be cut across its own.
static int deepest(const mabd_piece* piece) {
    int best = 2;
    mabd_real most = -1;
    for (int k = piece->shape == MABD_SHAPE_CYLINDER ? 2 : 0; k < 3; k++) {
        mabd_real reach = piece->half[k] * (mabd_real)fabs(mabd_piece_axis(piece, k).z);
        if (reach > most) most = reach, best = k;
    }
    return best;
}

static bool draw(const mabd_canvas* canvas, mabd_canvas_pass pass, const mabd_piece* piece,
                 int32_t item, int splits);

static bool draw_halves(const mabd_canvas* canvas, mabd_canvas_pass pass, const mabd_piece* piece,
                        int32_t item, int splits, int k) {
    bool more = false;
    for (int side = -1; side <= 1; side += 2) {
        mabd_piece half = mabd_piece_half(piece, k, side);
        more |= draw(canvas, pass, &half, item, splits - 1);
    }
    return more;
}

static bool draw(const mabd_canvas* canvas, mabd_canvas_pass pass, const mabd_piece* piece,
                 int32_t item, int splits) {
    const mabd_view* view = &canvas->view;
    if (outside(view, piece)) return false;
    outline o;
    outline_of(view, piece, &o);
    mabd_real limit = canvas->thin_width * (mabd_real)canvas->samples;
    mabd_real z = clamp_near(view, piece->center.z), low = clamp_near(view, o.z_low);
    mabd_real grow = view->parallel ? 1 : z / low; // of sizes, at the near end
    bool cut = splits > 0 && (piece->shape != MABD_SHAPE_CYLINDER || o.axis == 2);
    if (o.width * grow < limit && o.z_low > view->near) {
        // much longer than the picture: draw only the parts in view, or the line loses precision
        if (cut && o.length * grow > 4 * (mabd_real)(view->width + view->height)) {
            return draw_halves(canvas, pass, piece, item, splits, o.axis);
        }
        if (pass == MABD_PASS_THIN) draw_thin(canvas, piece, &o, item);
        return pass != MABD_PASS_THIN;
    }
    if (splits > 0 && !view->parallel && o.z_high > 1.3 * low && o.width * z / o.z_high < limit) {
        return draw_halves(canvas, pass, piece, item, splits, deepest(piece));
    }
    if (pass == MABD_PASS_SOLID) draw_solid(canvas, piece, &o, item);
    return pass != MABD_PASS_SOLID;
}

bool mabd_canvas_draw(const mabd_canvas* canvas, mabd_canvas_pass pass, const mabd_piece* piece,
                      int32_t item) {
    mabd_piece seen = mabd_piece_view(&canvas->view, piece);
    if (mabd_piece_is_sheet(&seen)) {
        if (pass == MABD_PASS_SOLID) mabd_sheet_draw(canvas, &seen, item);
        return false;
    }
    return draw(canvas, pass, &seen, item, SPLIT_MAX);
}
