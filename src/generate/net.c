// SPDX-License-Identifier: Apache-2.0
// Nets: hubs on a grid, rods between neighbours, a ball joint at each end of each rod.
//
//        hub(r,0) o===o hub(r,1) o===o hub(r,2)         rows R, columns C
//                 |            |            |           hubs   R C
//              across       across       across         rods   R (C-1) + (R-1) C
//                 |            |            |           joints 2 per rod
//      hub(r+1,0) o===o            o===o
//
// Bodies are stored row by row: C hubs, C-1 rods along the row, C rods to the next row. So
// neighbours are at most 3C bodies apart, and the joints, in the same order, pass over the bodies
// once.

#include "generate/field_defaults.h"
#include "generate/tools.h"

static const char* const what = "net";

mabd_net_def mabd_default_net_def(void) {
    mabd_net_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/net.def"
    return def;
}

static mabd_status check(const mabd_scene* scene, const mabd_net_def* def, mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "rows", def->rows, 2, error));
    MABD_TRY(mabd_generate_count(what, "columns", def->columns, 2, error));
    MABD_TRY(mabd_generate_positive(what, "spacing", def->spacing, error));
    MABD_TRY(mabd_generate_positive(what, "hub_radius", def->hub_radius, error));
    MABD_TRY(mabd_generate_positive(what, "rod_radius", def->rod_radius, error));
    MABD_TRY(mabd_generate_finite(what, "position", def->position, 3, error));
    // R, C < 2^31: 4 R C < 2^64 can overflow int64_t, so the product is bounded first.
    int64_t hubs = (int64_t)def->rows * def->columns;
    MABD_TRY(mabd_generate_total(what, hubs, error));
    MABD_TRY(mabd_generate_total(what, 4 * hubs, error));
    if (2 * def->hub_radius >= def->spacing) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "net: hub_radius %g leaves no room for rods between hubs %g apart",
                         (double)def->hub_radius, (double)def->spacing);
    }
    if ((unsigned)def->pinned >= MABD_NET_PIN_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "net: unknown value of pinned");
    }
    return MABD_OK;
}

/// Compute the world position of a point of the net given in units of the spacing.
static mabd_vec3 grid_point(const mabd_net_def* def, mabd_real row, mabd_real column) {
    return mabd_v3_axpy(def->spacing, mabd_v3(column, row, 0), mabd_v3_load(def->position));
}

/// Compute the index of the first body of a row: each row before it has C hubs and 2C - 1 rods.
static int32_t row_first(const mabd_net_def* def, int32_t first, int32_t row) {
    return first + row * (3 * def->columns - 1);
}

/// Add `batch->n` bodies, body i at column i + offset, row `row`.
static mabd_status add_line(mabd_scene* scene, const mabd_net_def* def, const mabd_body_def* body,
                            mabd_generate_body_batch* batch, mabd_real row, mabd_real offset,
                            int32_t* first, mabd_error* error) {
    for (int32_t i = 0; i < batch->n; i++) {
        mabd_v3_store(grid_point(def, row, i + offset), batch->position + 3 * (size_t)i);
    }
    return mabd_generate_body_batch_add(scene, body, batch, first, error);
}

/// Add the hubs and rods of one row.
static mabd_status add_row(mabd_scene* scene, const mabd_net_def* def, mabd_body_def* hub,
                           mabd_body_def* rod, mabd_generate_body_batch* batch, int32_t row,
                           int32_t* first, mabd_error* error) {
    const mabd_real half = (mabd_real)0.5, c45 = (mabd_real)0.70710678118654752440;
    char name[MABD_PART_NAME];
    int32_t unused;
    hub->name = mabd_generate_part_name_n(def->name, "row", row, "hub", name);
    batch->n = def->columns;
    MABD_TRY(add_line(scene, def, hub, batch, row, 0, first, error));

    rod->name = mabd_generate_part_name_n(def->name, "row", row, "along", name);
    mabd_q_store(mabd_q(1, 0, 0, 0), rod->rotation);
    batch->n = def->columns - 1;
    MABD_TRY(add_line(scene, def, rod, batch, row, half, &unused, error));

    if (row == def->rows - 1) return MABD_OK;
    rod->name = mabd_generate_part_name_n(def->name, "row", row, "across", name);
    mabd_q_store(mabd_q(c45, 0, 0, c45), rod->rotation); // x -> y
    batch->n = def->columns;
    return add_line(scene, def, rod, batch, row + half, 0, &unused, error);
}

static mabd_status add_bodies(mabd_scene* scene, const mabd_net_def* def, int32_t* first,
                              mabd_error* error) {
    mabd_geom ball = mabd_generate_link_geom(MABD_SHAPE_SPHERE, 0, def->hub_radius, &def->material);
    mabd_geom bar = mabd_generate_link_geom(MABD_SHAPE_CAPSULE, def->spacing - 2 * def->hub_radius,
                                            def->rod_radius, &def->material);
    mabd_body_def hub = mabd_generate_link_body(NULL, &ball, def->material, def->drag);
    mabd_body_def rod = mabd_generate_link_body(NULL, &bar, def->material, def->drag);
    mabd_generate_body_batch batch;
    MABD_TRY(mabd_generate_body_batch_create(scene, def->columns, false, false, &batch, error));
    mabd_status status = MABD_OK;
    for (int32_t row = 0; row < def->rows && status == MABD_OK; row++) {
        int32_t begin = 0;
        status = add_row(scene, def, &hub, &rod, &batch, row, &begin, error);
        if (row == 0) *first = begin;
    }
    mabd_generate_body_batch_free(scene, &batch);
    return status;
}

/// Add the joints of the rods of one row: two per rod, near end first.
static mabd_status join_row(mabd_scene* scene, const mabd_net_def* def, int32_t first, int32_t row,
                            mabd_joint_def* joint, mabd_generate_joint_batch* batch,
                            mabd_error* error) {
    const mabd_real reach = def->hub_radius / def->spacing; // hub surface, in units of the spacing
    const int32_t C = def->columns;
    const int32_t hubs = row_first(def, first, row), along = hubs + C, across = along + C - 1;
    const int32_t next = row_first(def, first, row + 1);
    char name[MABD_PART_NAME];

    batch->n = 2 * (C - 1);
    for (int32_t c = 0; c + 1 < C; c++) {
        mabd_vec3 near = grid_point(def, row, c + reach), far = grid_point(def, row, c + 1 - reach);
        mabd_generate_joint_batch_set(batch, 2 * c, hubs + c, along + c, near);
        mabd_generate_joint_batch_set(batch, 2 * c + 1, along + c, hubs + c + 1, far);
    }
    joint->name = mabd_generate_part_name_n(def->name, "row", row, "along", name);
    MABD_TRY(mabd_generate_joint_batch_add(scene, joint, batch, error));

    if (row == def->rows - 1) return MABD_OK;
    batch->n = 2 * C;
    for (int32_t c = 0; c < C; c++) {
        mabd_vec3 near = grid_point(def, row + reach, c), far = grid_point(def, row + 1 - reach, c);
        mabd_generate_joint_batch_set(batch, 2 * c, hubs + c, across + c, near);
        mabd_generate_joint_batch_set(batch, 2 * c + 1, across + c, next + c, far);
    }
    joint->name = mabd_generate_part_name_n(def->name, "row", row, "across", name);
    return mabd_generate_joint_batch_add(scene, joint, batch, error);
}

/// Add the ball joints that pin hubs to the world.
static mabd_status pin(mabd_scene* scene, const mabd_net_def* def, int32_t first,
                       mabd_joint_def* joint, mabd_generate_joint_batch* batch, mabd_error* error) {
    if (def->pinned == MABD_NET_PIN_NONE) return MABD_OK;
    const int32_t last_row = def->rows - 1, last_column = def->columns - 1;
    char name[MABD_PART_NAME];
    joint->name = mabd_generate_part_name(def->name, "pin", name);
    batch->n = def->pinned == MABD_NET_PIN_EDGE ? def->columns : 4;
    for (int32_t i = 0; i < batch->n; i++) {
        bool edge = def->pinned == MABD_NET_PIN_EDGE;
        int32_t row = edge || i < 2 ? 0 : last_row;
        int32_t column = edge ? i : (i % 2 == 0 ? 0 : last_column);
        mabd_generate_joint_batch_set(batch, i, MABD_WORLD, row_first(def, first, row) + column,
                                      grid_point(def, row, column));
    }
    return mabd_generate_joint_batch_add(scene, joint, batch, error);
}

mabd_status mabd_generate_net(mabd_scene* scene, const mabd_net_def* def, mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    const int64_t R = def->rows, C = def->columns, rods = R * (C - 1) + (R - 1) * C;
    MABD_TRY(mabd_generate_reserve(scene, R * C + rods, 2 * rods + C + 4, error));
    int32_t first = 0;
    MABD_TRY(add_bodies(scene, def, &first, error));
    mabd_generate_joint_batch batch; // 2C >= 4: room for any row and for the pins
    MABD_TRY(mabd_generate_joint_batch_create(scene, 2 * def->columns, false, &batch, error));
    mabd_joint_def joint = mabd_default_joint_def();
    mabd_status status = MABD_OK;
    for (int32_t row = 0; row < def->rows && status == MABD_OK; row++) {
        status = join_row(scene, def, first, row, &joint, &batch, error);
    }
    if (status == MABD_OK) status = pin(scene, def, first, &joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}
