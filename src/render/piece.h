// SPDX-License-Identifier: Apache-2.0
// One item as a rounded solid: every shape is a core swept by a ball of radius `round`,
//   x = centre + axes (corner o half) + round normal
// where the core is a point (sphere), a segment (capsule), a box, or a round disc with height
// (cylinder). A bowl or height field is drawn as a sheet (sheet.h); its piece is its bounding box.
// A plane has no size here: it neither moves the camera nor casts shadows.
#pragma once

#include "render/view.h"

/// An item in world axes or in camera coordinates.
typedef struct mabd_piece {
    mabd_shape shape;
    mabd_vec3 center;      // scene units
    mabd_mat3 axes;        // columns: axes of the shape
    mabd_real half[3];     // half extents of the core [scene units]
    mabd_real round;       // radius of the ball [scene units]
    mabd_real lift;        // of the centre above the geom's origin, along the third axis
    mabd_real scale;       // scene units per metre
    const mabd_geom* geom; // of the item
} mabd_piece;

/// Make the piece of an item in world axes, scene units.
mabd_piece mabd_piece_of(const mabd_frame* frame, const mabd_render_item* item);
/// Transform a piece from world axes to camera coordinates.
mabd_piece mabd_piece_view(const mabd_view* view, const mabd_piece* piece);
/// Largest n . (x - centre) over the points x of a piece; n has any length.
mabd_real mabd_piece_reach(const mabd_piece* piece, mabd_vec3 n);
/// Radius of a ball about the centre that contains the piece.
mabd_real mabd_piece_radius(const mabd_piece* piece);
/// Return one half (side = -1 or 1) of a piece cut across axis k; both halves together are the
/// piece.
mabd_piece mabd_piece_half(const mabd_piece* piece, int k, int side);

/// True for planes, bowls and height fields.
static inline bool mabd_piece_is_sheet(const mabd_piece* piece) {
    return piece->shape >= MABD_SHAPE_PLANE;
}
/// Axis k (0, 1, 2) of a piece, unit length.
static inline mabd_vec3 mabd_piece_axis(const mabd_piece* piece, int k) {
    return k == 0 ? piece->axes.c1 : k == 1 ? piece->axes.c2 : piece->axes.c3;
}
