// SPDX-License-Identifier: Apache-2.0
// Sheets, in the frame of their geom (scene units), counter-clockwise from outside:
//   plane          a square about the foot of the scene's middle on it
//   bowl           rings from the outer pole up to the rim, across it, down to the inner pole
//   height field   two triangles a cell; normals (-dz/dx, -dz/dy, 1) by central differences; a
//                  skirt from its border down to its lowest height
// The space below planes and height fields is solid, and their lower side is not drawn.

#include "render/sheet.h"

#define PLANE_HALF 2.5 // half edge of the part of a plane that is drawn [scene units]

/// A vertex at `local` of the piece's geom.
static mabd_raster_vertex vertex_at(const mabd_canvas* canvas, const mabd_piece* piece,
                                    mabd_vec3 local, mabd_vec3 normal) {
    mabd_raster_vertex v = {.normal = mabd_m3_mul(piece->axes, normal)};
    local.z -= piece->lift;
    v.point = mabd_v3_add(piece->center, mabd_m3_mul(piece->axes, local));
    mabd_raster_vertex_set(&canvas->view, &v);
    return v;
}

/// Corners a b c d, counter-clockwise.
static void draw_quad(const mabd_canvas* canvas, int32_t item, const mabd_raster_vertex* a,
                      const mabd_raster_vertex* b, const mabd_raster_vertex* c,
                      const mabd_raster_vertex* d) {
    mabd_raster_triangle(&canvas->view, &canvas->target, item, a, b, c);
    mabd_raster_triangle(&canvas->view, &canvas->target, item, a, c, d);
}

static void draw_plane(const mabd_canvas* canvas, const mabd_piece* piece, int32_t item) {
    if (!canvas->target.normal) return; // depth only
    const mabd_vec3 middle = mabd_view_point(&canvas->view, mabd_v3(0, 0, 0));
    const mabd_vec3 foot = mabd_m3_tmul(piece->axes, mabd_v3_sub(middle, piece->center));
    mabd_raster_vertex corner[4];
    for (int k = 0; k < 4; k++) {
        const mabd_real x = k == 1 || k == 2 ? 1 : -1, y = k >= 2 ? 1 : -1;
        const mabd_vec3 at = mabd_v3(foot.x + x * (mabd_real)PLANE_HALF,
                                     foot.y + y * (mabd_real)PLANE_HALF, piece->lift);
        corner[k] = vertex_at(canvas, piece, at, mabd_v3(0, 0, 1));
    }
    draw_quad(canvas, item, &corner[0], &corner[1], &corner[2], &corner[3]);
}

// ---- bowl --------------------------------------------------------------------------------------

/// Rings 0 .. arcs go up the outside from the pole, then come the two of the rim, then the inside
/// from the rim down.
static mabd_raster_vertex bowl_vertex(const mabd_canvas* canvas, const mabd_piece* piece,
                                      int32_t segments, int32_t ring, int32_t i) {
    const int32_t arcs = segments / 4;
    const bool outer = ring <= arcs + 1, rim = ring == arcs + 1 || ring == arcs + 2;
    const int32_t step = rim ? arcs : outer ? ring : 2 * arcs + 3 - ring; // from the pole
    const mabd_real latitude = MABD_PI / 2 * ((mabd_real)step / (mabd_real)arcs - 1);
    const mabd_real longitude = 2 * MABD_PI * (mabd_real)(i % segments) / (mabd_real)segments;
    const mabd_real c = step == arcs ? 1 : (mabd_real)cos(latitude);
    const mabd_real s = step == arcs ? 0 : (mabd_real)sin(latitude);
    const mabd_vec3 out = mabd_v3(c * (mabd_real)cos(longitude), c * (mabd_real)sin(longitude), s);
    const mabd_real* size = piece->geom->size;
    const mabd_real radius = (outer ? size[0] + size[1] : size[0]) * piece->scale;
    const mabd_vec3 normal = rim ? mabd_v3(0, 0, 1) : mabd_v3_scale(outer ? 1 : -1, out);
    return vertex_at(canvas, piece, mabd_v3_scale(radius, out), normal);
}

static void draw_bowl(const mabd_canvas* canvas, const mabd_piece* piece, int32_t item) {
    const mabd_view* view = &canvas->view;
    const mabd_real z = piece->center.z > view->near ? piece->center.z : view->near;
    const mabd_real radius = (piece->geom->size[0] + piece->geom->size[1]) * piece->scale;
    const int level = mabd_mesh_level(radius * mabd_view_scale(view, z), canvas->error);
    const int32_t segments = canvas->meshes->round[level].segments, rings = 2 * (segments / 4) + 4;
    for (int32_t ring = 0; ring + 1 < rings; ring++) {
        for (int32_t i = 0; i < segments; i++) {
            const mabd_raster_vertex a = bowl_vertex(canvas, piece, segments, ring, i);
            const mabd_raster_vertex b = bowl_vertex(canvas, piece, segments, ring, i + 1);
            const mabd_raster_vertex c = bowl_vertex(canvas, piece, segments, ring + 1, i + 1);
            const mabd_raster_vertex d = bowl_vertex(canvas, piece, segments, ring + 1, i);
            draw_quad(canvas, item, &a, &b, &c, &d);
        }
    }
}

// ---- height field ------------------------------------------------------------------------------

/// Node (i, j) in the frame of the geom [scene units].
static mabd_vec3 field_node(const mabd_piece* piece, int32_t i, int32_t j) {
    const mabd_height_field* f = piece->geom->field;
    const mabd_real x = ((mabd_real)i - (mabd_real)(f->columns - 1) / 2) * f->dx;
    const mabd_real y = ((mabd_real)j - (mabd_real)(f->rows - 1) / 2) * f->dy;
    const mabd_real z = f->heights[(size_t)j * (size_t)f->columns + (size_t)i];
    return mabd_v3_scale(piece->scale, mabd_v3(x, y, z));
}

static mabd_raster_vertex field_vertex(const mabd_canvas* canvas, const mabd_piece* piece,
                                       int32_t i, int32_t j) {
    const mabd_height_field* f = piece->geom->field;
    const mabd_real* at = f->heights + (size_t)j * (size_t)f->columns + i;
    const int32_t left = i > 0, right = i + 1 < f->columns;
    const ptrdiff_t back = j > 0 ? f->columns : 0, front = j + 1 < f->rows ? f->columns : 0;
    const mabd_real slope_x = (at[right] - at[-left]) / ((mabd_real)(left + right) * f->dx);
    const mabd_real slope_y =
        (at[front] - at[-back]) / ((mabd_real)((back > 0) + (front > 0)) * f->dy);
    return vertex_at(canvas, piece, field_node(piece, i, j), mabd_v3(-slope_x, -slope_y, 1));
}

/// Draw the skirt between two neighbours of the border, b after a counter-clockwise from above.
static void draw_skirt(const mabd_canvas* canvas, const mabd_piece* piece, int32_t item,
                       mabd_vec3 a, mabd_vec3 b) {
    const mabd_vec3 out = mabd_v3(b.y - a.y, a.x - b.x, 0);
    const mabd_real low = piece->lift - piece->half[2];
    const mabd_raster_vertex top_a = vertex_at(canvas, piece, a, out);
    const mabd_raster_vertex top_b = vertex_at(canvas, piece, b, out);
    const mabd_raster_vertex low_a = vertex_at(canvas, piece, mabd_v3(a.x, a.y, low), out);
    const mabd_raster_vertex low_b = vertex_at(canvas, piece, mabd_v3(b.x, b.y, low), out);
    draw_quad(canvas, item, &low_a, &low_b, &top_b, &top_a);
}

static void draw_skirts(const mabd_canvas* canvas, const mabd_piece* piece, int32_t item) {
    const mabd_height_field* f = piece->geom->field;
    const int32_t right = f->columns - 1, back = f->rows - 1;
    for (int32_t i = 0; i < right; i++) {
        draw_skirt(canvas, piece, item, field_node(piece, i, 0), field_node(piece, i + 1, 0));
        draw_skirt(canvas, piece, item, field_node(piece, i + 1, back), field_node(piece, i, back));
    }
    for (int32_t j = 0; j < back; j++) {
        draw_skirt(canvas, piece, item, field_node(piece, right, j),
                   field_node(piece, right, j + 1));
        draw_skirt(canvas, piece, item, field_node(piece, 0, j + 1), field_node(piece, 0, j));
    }
}

static void draw_field(const mabd_canvas* canvas, const mabd_piece* piece, int32_t item) {
    const mabd_height_field* f = piece->geom->field;
    for (int32_t j = 0; j + 1 < f->rows; j++) {
        for (int32_t i = 0; i + 1 < f->columns; i++) {
            const mabd_raster_vertex a = field_vertex(canvas, piece, i, j);
            const mabd_raster_vertex b = field_vertex(canvas, piece, i + 1, j);
            const mabd_raster_vertex c = field_vertex(canvas, piece, i + 1, j + 1);
            const mabd_raster_vertex d = field_vertex(canvas, piece, i, j + 1);
            draw_quad(canvas, item, &a, &b, &c, &d);
        }
    }
    draw_skirts(canvas, piece, item);
}

void mabd_sheet_draw(const mabd_canvas* canvas, const mabd_piece* piece, int32_t item) {
    if (piece->shape == MABD_SHAPE_PLANE) {
        draw_plane(canvas, piece, item);
    } else if (piece->shape == MABD_SHAPE_BOWL) {
        draw_bowl(canvas, piece, item);
    } else {
        draw_field(canvas, piece, item);
    }
}
