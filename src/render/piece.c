// SPDX-License-Identifier: Apache-2.0
#include "render/piece.h"

// Set the box of a height field.
static void set_field(mabd_piece* piece, const mabd_height_field* field, mabd_real scale) {
    const size_t nodes = (size_t)field->columns * (size_t)field->rows;
    mabd_real low = field->heights[0], high = low;
    for (size_t i = 1; i < nodes; i++) {
        low = field->heights[i] < low ? field->heights[i] : low;
        high = field->heights[i] > high ? field->heights[i] : high;
    }
    piece->half[0] = (mabd_real)(field->columns - 1) * field->dx * scale / 2;
    piece->half[1] = (mabd_real)(field->rows - 1) * field->dy * scale / 2;
    piece->half[2] = (high - low) * scale / 2;
    piece->lift = (high + low) * scale / 2;
}

static void set_size(mabd_piece* piece, const mabd_geom* geom, mabd_real scale) {
    mabd_real a = geom->size[0] * scale, b = geom->size[1] * scale;
    piece->half[0] = piece->half[1] = piece->half[2] = piece->round = piece->lift = 0;
    switch (geom->shape) {
    case MABD_SHAPE_BOX:
        for (int k = 0; k < 3; k++) piece->half[k] = geom->size[k] * scale / 2;
        break;
    case MABD_SHAPE_CYLINDER:
        piece->half[0] = piece->half[1] = a;
        piece->half[2] = b / 2;
        break;
    case MABD_SHAPE_CAPSULE:
        piece->round = a;
        piece->half[2] = b / 2;
        break;
    case MABD_SHAPE_BOWL:
        piece->half[0] = piece->half[1] = a + b;
        piece->half[2] = (a + b) / 2;
        piece->lift = -piece->half[2];
        break;
    case MABD_SHAPE_HEIGHT_FIELD:
        set_field(piece, geom->field, scale);
        break;
    case MABD_SHAPE_SPHERE:
        piece->round = a;
        break;
    case MABD_SHAPE_PLANE:
    case MABD_SHAPE_COUNT:
        break;
    }
}

mabd_piece mabd_piece_of(const mabd_frame* frame, const mabd_render_item* item) {
    mabd_piece piece;
    mabd_mat3 body = mabd_q_matrix(mabd_q_normalize(mabd_q_load(item->rotation)));
    mabd_quat local = mabd_q_load(item->geom.rotation);
    bool same = local.x == 0 && local.y == 0 && local.z == 0;
    mabd_vec3 offset = mabd_m3_mul(body, mabd_v3_load(item->geom.position));
    mabd_vec3 center = mabd_v3_sub(mabd_v3_load(item->position), frame->origin);

    piece.shape = item->geom.shape;
    piece.center = mabd_v3_scale(frame->scale, mabd_v3_add(center, offset));
    piece.axes = same ? body : mabd_m3_product(body, mabd_q_matrix(mabd_q_normalize(local)));
    piece.geom = &item->geom;
    piece.scale = frame->scale;
    set_size(&piece, &item->geom, frame->scale);
    piece.center = mabd_v3_axpy(piece.lift, piece.axes.c3, piece.center);
    return piece;
}

mabd_piece mabd_piece_view(const mabd_view* view, const mabd_piece* piece) {
    mabd_piece out = *piece;
    out.center = mabd_view_point(view, piece->center);
    out.axes.c1 = mabd_view_direction(view, piece->axes.c1);
    out.axes.c2 = mabd_view_direction(view, piece->axes.c2);
    out.axes.c3 = mabd_view_direction(view, piece->axes.c3);
    return out;
}

mabd_real mabd_piece_reach(const mabd_piece* piece, mabd_vec3 n) {
    mabd_vec3 d = mabd_m3_tmul(piece->axes, n);
    const mabd_real* half = piece->half;
    mabd_real side = piece->shape == MABD_SHAPE_CYLINDER
                         ? half[0] * (mabd_real)sqrt(d.x * d.x + d.y * d.y)
                         : half[0] * (mabd_real)fabs(d.x) + half[1] * (mabd_real)fabs(d.y);
    mabd_real round = piece->round > 0 ? piece->round * mabd_v3_norm(n) : 0;
    return side + half[2] * (mabd_real)fabs(d.z) + round;
}

mabd_real mabd_piece_radius(const mabd_piece* piece) {
    const mabd_real* half = piece->half;
    mabd_real y = piece->shape == MABD_SHAPE_CYLINDER ? 0 : half[1];
    return mabd_v3_norm(mabd_v3(half[0], y, half[2])) + piece->round;
}

mabd_piece mabd_piece_half(const mabd_piece* piece, int k, int side) {
    mabd_piece out = *piece;
    out.half[k] = piece->half[k] / 2;
    out.center =
        mabd_v3_axpy((mabd_real)side * out.half[k], mabd_piece_axis(piece, k), piece->center);
    return out;
}
