// SPDX-License-Identifier: Apache-2.0
// Lines and the ground plane for pictures: what moves bodies and has no geom.
//
// A spline surface is shown by the lines on which one of its coordinates is a multiple of a half.

#include "math/quat.h"
#include "model/model_data.h"
#include "scene/joint_piece.h"

#include <string.h>

#define POINTS_PER_SEGMENT 8 // of a curve, and along lines of a surface
#define LINES_PER_SEGMENT  2 // of a surface

/// Lines so far, and where they go; both arrays null = only count.
typedef struct polyline_list {
    int32_t lines, points;
    mabd_polyline* line;
    mabd_spring_point* point;
} polyline_list;

static void begin_line(polyline_list* list, mabd_polyline_kind kind) {
    if (list->line) list->line[list->lines] = (mabd_polyline){kind, 0, list->point + list->points};
    list->lines++;
}

// Add a point, in the principal frame of its body, to the last line.
static void add_point(polyline_list* list, const mabd_model* m, int32_t body, mabd_vec3 X) {
    if (list->point) {
        mabd_spring_point* out = &list->point[list->points];
        out->body = body == m->body_count ? MABD_WORLD : body;
        mabd_model_to_user_frame(m, body, X, out->point);
        list->line[list->lines - 1].count++;
    }
    list->points++;
}

static void add_spring(polyline_list* list, const mabd_model* m, const mabd_model_spring* spring) {
    const bool cable = spring->law == MABD_SPRING_CABLE || spring->count > 2;
    begin_line(list, cable ? MABD_POLYLINE_CABLE : MABD_POLYLINE_SPRING);
    for (int32_t k = spring->first; k < spring->first + spring->count; k++) {
        add_point(list, m, m->spring_points[k].body, m->spring_points[k].X);
    }
}

// Add a line of a spline: coordinate `along` runs over all segments from q on.
static void add_path(polyline_list* list, const mabd_model* m, const mabd_model_joint* joint,
                     int along, const mabd_real* q) {
    const mabd_model_frame* frame = &m->frames[joint->frame];
    mabd_joint_piece piece = m->pieces[joint->piece_first];
    const int n = POINTS_PER_SEGMENT * mabd_piece_segments(&piece, along);
    begin_line(list, MABD_POLYLINE_CURVE);
    for (int i = 0; i <= n; i++) {
        piece.start[!along] = q[!along], piece.start[along] = (mabd_real)i / POINTS_PER_SEGMENT;
        const mabd_frame E = mabd_piece_start_frame(&piece, m->piece_values);
        add_point(list, m, joint->a,
                  mabd_v3_add(mabd_v3_load(joint->Xa), mabd_m3_mul(frame->a, E.p)));
    }
}

static void add_joint(polyline_list* list, const mabd_model* m, const mabd_model_joint* joint) {
    const mabd_real start[2] = {0, 0};
    if (joint->type == MABD_JOINT_SPLINE_CURVE) add_path(list, m, joint, 0, start);
    if (joint->type != MABD_JOINT_SPLINE_SURFACE) return;
    for (int across = 0; across < 2; across++) {
        const int n = mabd_piece_segments(&m->pieces[joint->piece_first], across);
        for (int i = 0; i <= LINES_PER_SEGMENT * n; i++) {
            mabd_real q[2] = {0, 0};
            q[across] = (mabd_real)i / LINES_PER_SEGMENT;
            add_path(list, m, joint, !across, q);
        }
    }
}

int32_t mabd_model_polylines(const mabd_model* model, mabd_polyline* lines,
                             mabd_spring_point* points, int32_t* point_count) {
    polyline_list list = {0, 0, points ? lines : NULL, lines ? points : NULL};
    for (int32_t i = 0; i < model->spring_count; i++) add_spring(&list, model, &model->springs[i]);
    for (int32_t i = 0; model->piece_count > 0 && i < model->joint_count; i++) {
        add_joint(&list, model, &model->joints[i]);
    }
    if (point_count) *point_count = list.points;
    return list.lines;
}

bool mabd_model_ground_plane(const mabd_model* model, mabd_real* point, mabd_real* normal) {
    if (model->ground_count == 0) return false;
    mabd_v3_store(model->ground->point, point);
    mabd_v3_store(model->ground->normal, normal);
    return true;
}
