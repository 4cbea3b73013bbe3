// SPDX-License-Identifier: Apache-2.0
// The camera and its fit. For a given orientation, a point (X, Y, Z) is between the left and
// right planes of an eye at (ex, ez) if |X - ex| <= t (Z - ez), t the tangent of half the field
// of view:
//   ex - t ez >= A = max(X - t Z),   -ex - t ez >= B = max(-X - t Z)
// The closest eye has ez = -(A + B) / 2t and ex = (A - B) / 2; likewise for Y. The larger
// distance of the two is taken; the centring holds at any larger distance. The maxima are the
// reach of each piece along a plane normal, so the fit is exact for every shape, in one pass.

#include "base/error.h"
#include "render/elevation.h"
#include "render/piece.h"

#define FIT_MARGIN 0.86 // share of the picture that the fitted scene may fill

void mabd_view_axes(mabd_vec3 forward, mabd_view* view) {
    mabd_vec3 f = mabd_v3_scale(1 / mabd_v3_norm(forward), forward);
    // straight up or down: y is up in the picture
    bool vertical = f.x * f.x + f.y * f.y < 1e-12;
    mabd_vec3 side = mabd_v3_cross(f, vertical ? mabd_v3(0, 1, 0) : mabd_v3(0, 0, 1));
    view->forward = f;
    view->right = mabd_v3_scale(1 / mabd_v3_norm(side), side);
    view->up = mabd_v3_cross(view->right, f);
}

static mabd_vec3 v3_min(mabd_vec3 a, mabd_vec3 b) {
    return mabd_v3((mabd_real)fmin(a.x, b.x), (mabd_real)fmin(a.y, b.y), (mabd_real)fmin(a.z, b.z));
}

static mabd_vec3 v3_max(mabd_vec3 a, mabd_vec3 b) {
    return mabd_v3((mabd_real)fmax(a.x, b.x), (mabd_real)fmax(a.y, b.y), (mabd_real)fmax(a.z, b.z));
}

static mabd_vec3 box_reach(const mabd_piece* piece) {
    return mabd_v3(mabd_piece_reach(piece, mabd_v3(1, 0, 0)),
                   mabd_piece_reach(piece, mabd_v3(0, 1, 0)),
                   mabd_piece_reach(piece, mabd_v3(0, 0, 1)));
}

mabd_frame mabd_frame_of(int32_t n, const mabd_render_item* items) {
    mabd_frame frame = {{0, 0, 0}, 1, {-1, -1, -1}, {1, 1, 1}};
    if (n == 0) return frame;

    // relative to the first item, so that a distant scene keeps its digits
    frame.origin = mabd_v3_load(items[0].position);
    bool any = false;
    for (int32_t i = 0; i < n; i++) {
        if (items[i].geom.shape == MABD_SHAPE_PLANE) continue;
        mabd_piece piece = mabd_piece_of(&frame, &items[i]);
        mabd_vec3 reach = box_reach(&piece);
        mabd_vec3 low = mabd_v3_sub(piece.center, reach), up = mabd_v3_add(piece.center, reach);
        frame.low = any ? v3_min(frame.low, low) : low;
        frame.high = any ? v3_max(frame.high, up) : up;
        any = true;
    }
    if (!any) return frame;

    mabd_vec3 extent = mabd_v3_sub(frame.high, frame.low);
    mabd_real size = (mabd_real)fmax(extent.x, fmax(extent.y, extent.z)) / 2;
    mabd_vec3 middle = mabd_v3_axpy((mabd_real)0.5, extent, frame.low);
    frame.origin = mabd_v3_add(frame.origin, middle);
    frame.scale = size > 1e-150 ? 1 / size : 1;
    frame.low = mabd_v3_scale(frame.scale, mabd_v3_sub(frame.low, middle));
    frame.high = mabd_v3_scale(frame.scale, mabd_v3_sub(frame.high, middle));
    return frame;
}

// reach[k] = the largest normals[k] . x over all items but planes; 1 if there are none
static void reach_all(const mabd_frame* frame, int32_t n, const mabd_render_item* items, int count,
                      const mabd_vec3* normals, mabd_real* reach) {
    for (int k = 0; k < count; k++) reach[k] = -INFINITY;
    for (int32_t i = 0; i < n; i++) {
        if (items[i].geom.shape == MABD_SHAPE_PLANE) continue;
        mabd_piece piece = mabd_piece_of(frame, &items[i]);
        for (int k = 0; k < count; k++) {
            mabd_real r =
                mabd_v3_dot(normals[k], piece.center) + mabd_piece_reach(&piece, normals[k]);
            if (r > reach[k]) reach[k] = r;
        }
    }
    for (int k = 0; k < count; k++) reach[k] = isinf(reach[k]) ? 1 : reach[k];
}

static void fit(const mabd_frame* frame, int32_t n, const mabd_render_item* items,
                mabd_view* view) {
    mabd_real tx = (mabd_real)FIT_MARGIN * view->cx / view->focal;
    mabd_real ty = (mabd_real)FIT_MARGIN * view->cy / view->focal;
    mabd_vec3 normals[6] = {mabd_v3_axpy(-tx, view->forward, view->right),
                            mabd_v3_axpy(tx, view->forward, view->right),
                            mabd_v3_axpy(-ty, view->forward, view->up),
                            mabd_v3_axpy(ty, view->forward, view->up),
                            mabd_v3_scale(-1, view->forward),
                            view->forward};
    normals[1] = mabd_v3_scale(-1, normals[1]);
    normals[3] = mabd_v3_scale(-1, normals[3]);

    mabd_real r[6];
    reach_all(frame, n, items, 6, normals, r);
    mabd_real ex = (r[0] - r[1]) / 2, ey = (r[2] - r[3]) / 2;
    mabd_real ez = (mabd_real)fmin(-(r[0] + r[1]) / (2 * tx), -(r[2] + r[3]) / (2 * ty));
    // a rod that points at the eye: keep a distance, or its near end fills the picture
    mabd_real front = -r[4], depth = r[5] + r[4];
    ez = (mabd_real)fmin(ez, front - depth / 2);
    // a scene without extent: show a metre around it
    if (front - ez < 1e-6) ez = front - 1 / ty;

    view->eye =
        mabd_v3_axpy(ex, view->right, mabd_v3_axpy(ey, view->up, mabd_v3_scale(ez, view->forward)));
    view->near = (front - ez) / 100;
}

mabd_status mabd_view_camera(const mabd_render_def* def, const mabd_frame* frame, int32_t n,
                             const mabd_render_item* items, mabd_view* view, mabd_error* error) {
    const mabd_camera* camera = &def->camera;
    mabd_vec3 position = mabd_v3_load(camera->position), target = mabd_v3_load(camera->target);
    mabd_vec3 direction =
        camera->fit ? mabd_v3_load(camera->direction) : mabd_v3_sub(position, target);
    mabd_real length = mabd_v3_norm(direction);
    if (!(length > 0) || !isfinite(length)) {
        return mabd_fail(error, MABD_ERR_ARG, "the camera's viewing direction has no length");
    }
    if (!(camera->fov > 1e-3 && camera->fov < 3.1)) {
        return mabd_fail(error, MABD_ERR_ARG, "camera fov = %g rad, expected 0.001 to 3.1",
                         (double)camera->fov);
    }

    view->parallel = false;
    view->width = def->width * def->samples;
    view->height = def->height * def->samples;
    view->cx = (mabd_real)view->width / 2;
    view->cy = (mabd_real)view->height / 2;
    view->focal = view->cy / (mabd_real)tan(camera->fov / 2);
    view->far = 0;
    direction = mabd_v3_scale(1 / length, direction);
    if (camera->fit && camera->raise) {
        direction = mabd_elevation_raise(frame, n, items, direction);
    }
    mabd_view_axes(mabd_v3_scale(-1, direction), view);
    if (camera->fit) {
        fit(frame, n, items, view);
    } else {
        view->eye = mabd_v3_scale(frame->scale, mabd_v3_sub(position, frame->origin));
        view->near = (mabd_real)fmin(1e-3, length * frame->scale / 100);
    }
    if (!isfinite(mabd_v3_norm(view->eye))) {
        return mabd_fail(error, MABD_ERR_ARG, "the camera is too far from the scene");
    }
    return MABD_OK;
}

void mabd_view_parallel(const mabd_frame* frame, mabd_vec3 forward, int32_t size, mabd_view* view) {
    mabd_view_axes(forward, view);
    mabd_vec3 half = mabd_v3_scale((mabd_real)0.5, mabd_v3_sub(frame->high, frame->low));
    mabd_piece box = {.axes = mabd_m3_identity(), .half = {half.x, half.y, half.z}};
    mabd_real x = mabd_piece_reach(&box, view->right), y = mabd_piece_reach(&box, view->up);
    mabd_real z = mabd_piece_reach(&box, view->forward) + (mabd_real)0.01;
    mabd_real reach = (mabd_real)fmax(fmax(x, y), 1e-3) * (mabd_real)1.02;

    view->eye =
        mabd_v3_axpy((mabd_real)0.5, mabd_v3_add(frame->low, frame->high), mabd_v3(0, 0, 0));
    view->eye = mabd_v3_axpy(-2 * z, view->forward, view->eye);
    view->parallel = true;
    view->width = view->height = size;
    view->cx = view->cy = (mabd_real)size / 2;
    view->focal = view->cx / reach;
    view->near = 0;
    view->far = 4 * z;
}
