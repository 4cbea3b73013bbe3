// SPDX-License-Identifier: Apache-2.0
#include "scene/builder_pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// Largest turn between neighbouring frames of a curve: its logarithm is unique.
#define TURN_MOST ((mabd_real)(MABD_PI - 1e-6))
/// Turns of a surface that are so large that the order of its rotations matters.
#define TURN_SMALL ((mabd_real)(MABD_PI / 4))

static const mabd_real identity[4] = {1, 0, 0, 0};

static bool has_pitch(mabd_joint type) {
    return type == MABD_JOINT_SCREW;
}

// A chart needs three free rotations. part: of a composite, -1 = the joint itself.
static mabd_status check_chart(const mabd_subject* s, int32_t part, mabd_joint type,
                               mabd_joint_chart chart) {
    const mabd_joint_piece plain = {.type = type};
    int quaternions = 0;
    char where[32] = "";
    if (part >= 0) snprintf(where, sizeof where, "part %d: ", (int)part);
    if ((unsigned)chart >= MABD_JOINT_CHART_COUNT) {
        return mabd_reject(s, "%sunknown chart %d", where, (int)chart);
    }
    if (chart == MABD_CHART_LOCAL) return MABD_OK;
    if ((unsigned)type < MABD_JOINT_TYPE_COUNT) mabd_piece_freedoms(&plain, &quaternions);
    if (quaternions > 0) return MABD_OK;
    return mabd_reject(s,
                       "%schart '%s' needs three free rotations (ball, slot, point-on-plane or "
                       "free), found type '%s'",
                       where, mabd_joint_chart_name(chart), mabd_joint_name(type));
}

// What belongs to one type must not be given for another.
static mabd_status check_strangers(const mabd_subject* s, const mabd_joint_def* def) {
    const char* type = mabd_joint_name(def->type);
    MABD_TRY(check_chart(s, -1, def->type, def->chart));
    if (!has_pitch(def->type) && def->pitch != 0) {
        return mabd_reject(s, "pitch belongs to a screw, not to type '%s'", type);
    }
    if ((def->type == MABD_JOINT_SPLINE_CURVE) != (def->curve != NULL)) {
        return mabd_reject(s,
                           def->curve ? "a curve belongs to a spline-curve, not to type '%s'"
                                      : "type '%s' needs the frames of its curve",
                           type);
    }
    if ((def->type == MABD_JOINT_SPLINE_SURFACE) != (def->surface != NULL)) {
        return mabd_reject(s,
                           def->surface ? "control values belong to a spline-surface, not to type "
                                          "'%s'"
                                        : "type '%s' needs control values",
                           type);
    }
    if ((def->type == MABD_JOINT_COMPOSITE) != (def->part_count > 0)) {
        return mabd_reject(s,
                           def->part_count > 0 ? "parts belong to a composite, not to type '%s'"
                                               : "type '%s' needs at least one part",
                           type);
    }
    if (def->local && def->type >= MABD_JOINT_COUNT) {
        return mabd_reject(s, "type '%s' needs its frame in world coordinates", type);
    }
    return MABD_OK;
}

// ---- splines -----------------------------------------------------------------------------------

static mabd_status check_start(const mabd_subject* s, const mabd_joint_piece* piece, int n) {
    MABD_TRY(mabd_check_finite(s, "start", n, piece->start));
    for (int k = 0; k < n; k++) {
        if (!mabd_piece_is_beyond(piece, k, piece->start[k])) continue;
        return mabd_reject(s, "the start %g is not on the spline, which goes from 0 to %d",
                           (double)piece->start[k], mabd_piece_segments(piece, k));
    }
    return MABD_OK;
}

// Copy the frames of a curve to `values`.
static mabd_status write_curve(const mabd_subject* s, const mabd_joint_piece* piece,
                               const mabd_curve_def* curve, mabd_real* values) {
    for (int32_t i = 0; i < curve->count; i++) {
        const mabd_real* in = curve->frames + 7 * (size_t)i;
        mabd_real* out = values + 7 * (size_t)i;
        MABD_TRY(mabd_check_finite(s, "a position of the curve", 3, in));
        memcpy(out, in, 3 * sizeof *out);
        MABD_TRY(mabd_check_rotation(s, "a rotation of the curve", in + 3, out + 3));
    }
    for (int32_t i = piece->closed ? 0 : 1; i < curve->count; i++) {
        const int32_t before = (i + curve->count - 1) % curve->count;
        const mabd_quat a = mabd_q_load(values + 7 * (size_t)before + 3);
        const mabd_quat turn =
            mabd_q_product(mabd_q_conjugate(a), mabd_q_load(values + 7 * (size_t)i + 3));
        if (mabd_v3_norm(mabd_q_log(turn)) < TURN_MOST) continue;
        return mabd_reject(s, "frames %d and %d of the curve are half a turn apart", (int)before,
                           (int)i);
    }
    return MABD_OK;
}

static mabd_status stage_curve(const mabd_subject* s, const mabd_joint_def* def,
                               mabd_joint_piece* piece, mabd_real* values) {
    piece->closed = def->curve->closed;
    MABD_TRY(check_start(s, piece, 1));
    return write_curve(s, piece, def->curve, values);
}

static mabd_status stage_surface(mabd_scene* scene, const mabd_subject* s,
                                 const mabd_joint_def* def, const mabd_joint_piece* piece,
                                 mabd_real* values) {
    const size_t n = (size_t)piece->rows * (size_t)piece->columns;
    mabd_real most = 0;
    MABD_TRY(check_start(s, piece, 2));
    for (size_t k = 0; k < MABD_AXIS_COUNT; k++) {
        const mabd_real* in = def->surface->values[k];
        memset(values + k * n, 0, n * sizeof *values);
        if (!in) continue;
        MABD_TRY(mabd_check_finite(s, "control values", (int32_t)n, in));
        memcpy(values + k * n, in, n * sizeof *values);
        for (size_t i = 0; k >= MABD_AXIS_RX && i < n; i++) {
            if (fabs(in[i]) > most) most = (mabd_real)fabs(in[i]);
        }
    }
    if (most > TURN_SMALL) {
        mabd_warn(
            &scene->warnings, -1, s->index, 0,
            "joint %s: its surface turns by %.3g rad; beyond pi/4 the order of turns, about x, "
            "y, z, shapes it",
            s->name ? s->name : "without name", (double)most);
    }
    return MABD_OK;
}

// ---- parts -------------------------------------------------------------------------------------

static mabd_status stage_part(const mabd_subject* s, int32_t index, const mabd_joint_part* part,
                              mabd_joint_piece* piece) {
    if ((unsigned)part->type >= MABD_JOINT_TYPE_COUNT || part->type == MABD_JOINT_FIXED ||
        part->type == MABD_JOINT_FREE || part->type > MABD_JOINT_SCREW) {
        return mabd_reject(s, "part %d: type '%s' cannot be a part of a composite", (int)index,
                           mabd_joint_name(part->type));
    }
    if (!has_pitch(part->type) && part->pitch != 0) {
        return mabd_reject(s, "part %d: pitch belongs to a screw, not to type '%s'", (int)index,
                           mabd_joint_name(part->type));
    }
    MABD_TRY(check_chart(s, index, part->type, part->chart));
    MABD_TRY(mabd_check_finite(s, "pitch of a part", 1, &part->pitch));
    MABD_TRY(mabd_check_finite(s, "anchor of a part", 3, part->anchor));
    piece->type = (int32_t)part->type, piece->pitch = part->pitch;
    piece->chart = (int32_t)part->chart;
    memcpy(piece->position, part->anchor, sizeof piece->position);
    return mabd_check_rotation(s, "frame of a part", part->frame, piece->rotation);
}

static mabd_status stage_parts(const mabd_subject* s, const mabd_joint_def* def,
                               mabd_joint_piece* pieces) {
    int sum = 0;
    for (int32_t i = 0; i < def->part_count; i++) {
        int quaternions;
        MABD_TRY(stage_part(s, i, &def->parts[i], &pieces[i]));
        sum += mabd_piece_freedoms(&pieces[i], &quaternions);
    }
    if (sum <= MABD_JOINT_MAX_FREEDOMS) return MABD_OK;
    return mabd_reject(s, "its parts have %d freedoms; a joint has at most %d", sum,
                       MABD_JOINT_MAX_FREEDOMS);
}

// ---- all ---------------------------------------------------------------------------------------

// Grid of a spline; 0 of others.
static mabd_status measure_grid(const mabd_subject* s, const mabd_joint_def* def, int32_t* rows,
                                int32_t* columns) {
    *rows = *columns = 0;
    if (def->curve) *rows = def->curve->count, *columns = 7;
    if (def->surface) *rows = def->surface->rows, *columns = def->surface->columns;
    if (!def->curve && !def->surface) return MABD_OK;
    if (*rows < 4 || *columns < 4) {
        return mabd_reject(s,
                           def->curve ? "a curve needs at least 4 frames, found %d"
                                      : "a surface needs a grid of at least 4 x 4, found %d x %d",
                           (int)*rows, (int)*columns);
    }
    if ((int64_t)*rows * *columns > MABD_FIELD_NODES) {
        return mabd_reject(s, "a spline has at most %d control values", MABD_FIELD_NODES);
    }
    if (def->curve && !def->curve->frames) return mabd_reject(s, "the curve has no frames");
    return MABD_OK;
}

static bool is_plain(const mabd_joint_def* def) {
    return def->type < MABD_JOINT_COUNT;
}

mabd_status mabd_stage_pieces(mabd_scene* scene, const mabd_subject* s, const mabd_joint_def* def,
                              int32_t* count, int32_t* reals) {
    int32_t rows, columns;
    *count = *reals = 0;
    MABD_TRY(check_strangers(s, def));
    if (is_plain(def)) return MABD_OK;
    if (def->part_count > MABD_JOINT_MAX_FREEDOMS || (def->part_count > 0 && !def->parts)) {
        return mabd_reject(s, "a composite has 1 .. %d parts, found %d", MABD_JOINT_MAX_FREEDOMS,
                           def->parts ? (int)def->part_count : 0);
    }
    MABD_TRY(mabd_check_finite(s, "pitch", 1, &def->pitch));
    MABD_TRY(measure_grid(s, def, &rows, &columns));
    *count = def->part_count > 0 ? def->part_count : 1;
    *reals = rows * columns * (def->surface ? MABD_AXIS_COUNT : 1);
    MABD_TRY(
        mabd_list_reserve(&scene->allocator, &scene->pieces, sizeof(mabd_joint_piece), *count));
    MABD_TRY(mabd_list_reserve(&scene->allocator, &scene->piece_values, sizeof(mabd_real), *reals));
    mabd_joint_piece* pieces = (mabd_joint_piece*)scene->pieces.data + scene->pieces.count;
    memset(pieces, 0, (size_t)*count * sizeof *pieces);
    if (def->part_count > 0) return stage_parts(s, def, pieces);
    *pieces = (mabd_joint_piece){.type = (int32_t)def->type,
                                 .rows = rows,
                                 .columns = columns,
                                 .first = scene->piece_values.count,
                                 .pitch = def->pitch,
                                 .start = {def->start[0], def->start[1]}};
    memcpy(pieces->rotation, identity, sizeof identity);
    mabd_real* values = (mabd_real*)scene->piece_values.data + scene->piece_values.count;
    if (def->curve) return stage_curve(s, def, pieces, values);
    if (def->surface) return stage_surface(scene, s, def, pieces, values);
    return MABD_OK;
}
