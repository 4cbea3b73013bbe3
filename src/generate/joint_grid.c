// SPDX-License-Identifier: Apache-2.0
// A grid of balls whose neighbours are jointed, without rods between them: the benchmark
// "joint_grid" of Box2D and Box3D.
//
//     o-x-o-x-#-x-o-x-o       o  ball       rows R, columns C
//     x   x   x   x   x       #  fixed      balls  R C
//     o-x-o-x-o-x-o-x-o       x  ball joint, in the middle of two neighbours
//
// R (C-1) + (R-1) C joints, less those between two fixed balls, which hold nothing. The fixed balls
// are columns C/2 - fixed/2 and following of the first row (integer division). A ball has 6
// freedoms and about two joints of 3 rows: nearly as many rows as freedoms, most of them in loops.
//
// Balls are stored row by row, joints in the order of their first ball: along the row, then to the
// next row.

#include "generate/field_defaults.h"
#include "generate/tools.h"

static const char* const what = "joint-grid";

mabd_joint_grid_def mabd_default_joint_grid_def(void) {
    mabd_joint_grid_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/joint_grid.def"
    return def;
}

static mabd_status check(const mabd_scene* scene, const mabd_joint_grid_def* def,
                         mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "rows", def->rows, 2, error));
    MABD_TRY(mabd_generate_count(what, "columns", def->columns, 2, error));
    MABD_TRY(mabd_generate_count(what, "fixed", def->fixed, 0, error));
    MABD_TRY(mabd_generate_positive(what, "spacing", def->spacing, error));
    MABD_TRY(mabd_generate_positive(what, "radius", def->radius, error));
    MABD_TRY(mabd_generate_finite(what, "position", def->position, 3, error));
    MABD_TRY(mabd_generate_total(what, 2 * (int64_t)def->rows * def->columns, error)); // < 2^63
    if (2 * def->radius >= def->spacing) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "joint-grid: balls of radius %g overlap at a spacing of %g",
                         (double)def->radius, (double)def->spacing);
    }
    if (def->fixed > def->columns) {
        return mabd_fail(error, MABD_ERR_ARG, "joint-grid: fixed must be at most %d, the columns",
                         (int)def->columns);
    }
    return MABD_OK;
}

/// Compute the world position of a point of the grid given in units of the spacing.
static mabd_vec3 grid_point(const mabd_joint_grid_def* def, mabd_real row, mabd_real column) {
    const mabd_vec3 at = def->vertical ? mabd_v3(column, 0, -row) : mabd_v3(column, row, 0);
    return mabd_v3_axpy(def->spacing, at, mabd_v3_load(def->position));
}

/// Compute the first fixed column of row 0.
static int32_t first_fixed(const mabd_joint_grid_def* def) {
    return def->columns / 2 - def->fixed / 2;
}

static bool is_fixed(const mabd_joint_grid_def* def, int32_t row, int32_t column) {
    return row == 0 && column >= first_fixed(def) && column < first_fixed(def) + def->fixed;
}

// ---- balls -------------------------------------------------------------------------------------

/// Add the balls of a row from column `begin` to before `end`, if there are any.
static mabd_status add_part(mabd_scene* scene, const mabd_joint_grid_def* def,
                            const mabd_body_def* ball, mabd_generate_body_batch* batch, int32_t row,
                            int32_t begin, int32_t end, mabd_error* error) {
    int32_t unused;
    if (end == begin) return MABD_OK;
    batch->n = end - begin;
    for (int32_t c = begin; c < end; c++) {
        mabd_v3_store(grid_point(def, row, c), batch->position + 3 * (size_t)(c - begin));
    }
    return mabd_generate_body_batch_add(scene, ball, batch, &unused, error);
}

/// Add the first row: balls before the fixed ones, these, balls after them.
static mabd_status add_first_row(mabd_scene* scene, const mabd_joint_grid_def* def,
                                 mabd_body_def ball, mabd_generate_body_batch* batch,
                                 mabd_error* error) {
    const int32_t from = first_fixed(def), to = from + def->fixed;
    char name[MABD_PART_NAME];
    ball.name = mabd_generate_part_name_n(def->name, "row", 0, "left", name);
    MABD_TRY(add_part(scene, def, &ball, batch, 0, 0, from, error));
    ball.name = mabd_generate_part_name_n(def->name, "row", 0, "fixed", name);
    ball.motion = MABD_MOTION_FIXED;
    MABD_TRY(add_part(scene, def, &ball, batch, 0, from, to, error));
    ball.name = mabd_generate_part_name_n(def->name, "row", 0, "right", name);
    ball.motion = MABD_MOTION_DYNAMIC;
    return add_part(scene, def, &ball, batch, 0, to, def->columns, error);
}

static mabd_status add_balls(mabd_scene* scene, const mabd_joint_grid_def* def, mabd_error* error) {
    mabd_geom geom = mabd_generate_link_geom(MABD_SHAPE_SPHERE, 0, def->radius, &def->material);
    mabd_body_def ball = mabd_generate_link_body(NULL, &geom, def->material, def->drag);
    mabd_generate_body_batch batch;
    MABD_TRY(mabd_generate_body_batch_create(scene, def->columns, false, false, &batch, error));
    mabd_status status = add_first_row(scene, def, ball, &batch, error);
    for (int32_t row = 1; row < def->rows && status == MABD_OK; row++) {
        char name[MABD_PART_NAME];
        ball.name = mabd_generate_part_name_n(def->name, "row", row, NULL, name);
        status = add_part(scene, def, &ball, &batch, row, 0, def->columns, error);
    }
    mabd_generate_body_batch_free(scene, &batch);
    return status;
}

// ---- joints ------------------------------------------------------------------------------------

/// Append a joint unless both balls are fixed. Balls are counted from row 0, column 0.
static void join(const mabd_joint_grid_def* def, mabd_generate_joint_batch* batch, int32_t first,
                 int32_t row, int32_t column, int32_t next_row, int32_t next_column) {
    const mabd_real half = (mabd_real)0.5;
    if (is_fixed(def, row, column) && is_fixed(def, next_row, next_column)) return;
    mabd_generate_joint_batch_set(
        batch, batch->n++, first + row * def->columns + column,
        first + next_row * def->columns + next_column,
        grid_point(def, half * (row + next_row), half * (column + next_column)));
}

/// Add the joints whose first ball is in a row.
static mabd_status join_row(mabd_scene* scene, const mabd_joint_grid_def* def, int32_t first,
                            int32_t row, mabd_generate_joint_batch* batch, mabd_error* error) {
    mabd_joint_def joint = mabd_default_joint_def();
    char name[MABD_PART_NAME];
    batch->n = 0;
    for (int32_t c = 0; c < def->columns; c++) {
        if (c + 1 < def->columns) join(def, batch, first, row, c, row, c + 1);
        if (row + 1 < def->rows) join(def, batch, first, row, c, row + 1, c);
    }
    joint.name = mabd_generate_part_name_n(def->name, "row", row, NULL, name);
    return mabd_generate_joint_batch_add(scene, &joint, batch, error);
}

mabd_status mabd_generate_joint_grid(mabd_scene* scene, const mabd_joint_grid_def* def,
                                     mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    const int64_t balls = (int64_t)def->rows * def->columns;
    const int32_t first = mabd_scene_body_count(scene);
    mabd_generate_joint_batch batch;
    MABD_TRY(mabd_generate_reserve(scene, balls, 2 * balls, error));
    MABD_TRY(add_balls(scene, def, error));
    MABD_TRY(mabd_generate_joint_batch_create(scene, 2 * def->columns, false, &batch, error));
    mabd_status status = MABD_OK;
    for (int32_t row = 0; row < def->rows && status == MABD_OK; row++) {
        status = join_row(scene, def, first, row, &batch, error);
    }
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}
