// SPDX-License-Identifier: Apache-2.0
// The view of a picture. Camera coordinates: X right, Y up, Z forward (the depth).
//   perspective   x = cx + focal X / Z    y = cy - focal Y / Z    key = 1 / Z
//   parallel      x = cx + focal X        y = cy - focal Y        key = far - Z
// The key is linear on the screen and grows towards the eye, so one depth test serves both.
// Lengths are in scene units: the scene's origin is subtracted and its size divided out first
// (mabd_frame), so that pictures of a grain and of a galaxy use the same numbers.
#pragma once

#include "mabd/render.h"
#include "math/quat.h"

/// World to scene units: (x - origin) * scale.
typedef struct mabd_frame {
    mabd_vec3 origin;    // [m]
    mabd_real scale;     // [1/m]
    mabd_vec3 low, high; // corners of the scene's box, scene units
} mabd_frame;

/// A perspective or parallel camera.
typedef struct mabd_view {
    mabd_vec3 eye;                // scene units
    mabd_vec3 right, up, forward; // orthonormal, world
    mabd_real focal;              // [samples], or [samples per scene unit] if parallel
    mabd_real cx, cy;             // centre of the picture [samples]
    mabd_real near, far;          // smallest depth that is drawn, zero of a parallel key
    int32_t width, height;        // [samples]
    bool parallel;
} mabd_view;

/// Set orthonormal axes that look along `forward` (any length > 0), with z up where possible.
void mabd_view_axes(mabd_vec3 forward, mabd_view* view);

/// Transform a world point (scene units) to camera coordinates.
static inline mabd_vec3 mabd_view_point(const mabd_view* view, mabd_vec3 p) {
    mabd_vec3 d = mabd_v3_sub(p, view->eye);
    return mabd_v3(mabd_v3_dot(view->right, d), mabd_v3_dot(view->up, d),
                   mabd_v3_dot(view->forward, d));
}
/// Transform a world direction to camera axes.
static inline mabd_vec3 mabd_view_direction(const mabd_view* view, mabd_vec3 d) {
    return mabd_v3(mabd_v3_dot(view->right, d), mabd_v3_dot(view->up, d),
                   mabd_v3_dot(view->forward, d));
}
/// Samples per scene unit at depth z.
static inline mabd_real mabd_view_scale(const mabd_view* view, mabd_real z) {
    return view->parallel ? view->focal : view->focal / z;
}
/// Project camera coordinates with depth >= near to (x, y) [samples] and the key.
static inline mabd_vec3 mabd_view_project(const mabd_view* view, mabd_vec3 p) {
    mabd_real s = mabd_view_scale(view, p.z);
    return mabd_v3(view->cx + s * p.x, view->cy - s * p.y,
                   view->parallel ? view->far - p.z : 1 / p.z);
}

/// Compute origin, size and box of n items that were checked.
mabd_frame mabd_frame_of(int32_t n, const mabd_render_item* items);
/// Set the camera of the picture: fitted to the items, or as given. MABD_ERR_ARG if the direction
/// has no length, the field of view is out of range, or the camera is too far away.
mabd_status mabd_view_camera(const mabd_render_def* def, const mabd_frame* frame, int32_t n,
                             const mabd_render_item* items, mabd_view* view, mabd_error* error);
/// Set a parallel view of size x size samples along `forward` that contains the box of the scene.
void mabd_view_parallel(const mabd_frame* frame, mabd_vec3 forward, int32_t size, mabd_view* view);
