// SPDX-License-Identifier: Apache-2.0
// A pile of mixed shapes before it falls: bodies on a grid in layers, each turned at random.
//
// With the size s every shape is inside a ball of radius s about its centre:
//
//   sphere   s                                  capsule   s/2 + s/2
//   box      s/2 sqrt(1.2^2 + 1 + 0.8^2) = 0.877 s        cylinder  s sqrt(0.6^2 + 0.7^2) = 0.922 s
//
// so no two bodies touch in any orientation if the spacing is at least 2 s.

#include "generate/field_defaults.h"
#include "generate/tools.h"

static const char* const what = "pile-mixed";

typedef struct piece {
    mabd_shape shape;
    const char* name;
    double size[3]; // as in MABD_SHAPE_LIST, in units of the size
} piece;

static const piece pieces[] = {{MABD_SHAPE_SPHERE, "sphere", {1}},
                               {MABD_SHAPE_CAPSULE, "capsule", {0.5, 1}},
                               {MABD_SHAPE_BOX, "box", {1.2, 1, 0.8}},
                               {MABD_SHAPE_CYLINDER, "cylinder", {0.6, 1.4}}};
enum { PIECES = sizeof(pieces) / sizeof(pieces[0]) };

mabd_pile_mixed_def mabd_default_pile_mixed_def(void) {
    mabd_pile_mixed_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/pile_mixed.def"
    return def;
}

static mabd_status check(const mabd_scene* scene, const mabd_pile_mixed_def* def,
                         mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "count", def->count, 1, error));
    MABD_TRY(mabd_generate_total(what, def->count, error));
    MABD_TRY(mabd_generate_count(what, "columns", def->columns, 1, error));
    MABD_TRY(mabd_generate_count(what, "rows", def->rows, 1, error));
    MABD_TRY(mabd_generate_positive(what, "size", def->size, error));
    MABD_TRY(mabd_generate_finite(what, "spacing", &def->spacing, 1, error));
    MABD_TRY(mabd_generate_finite(what, "position", def->position, 3, error));
    if (def->spacing < 2 * def->size) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "pile-mixed: spacing must be at least %g, twice the size, not %g",
                         (double)(2 * def->size), (double)def->spacing);
    }
    return MABD_OK;
}

/// Draw the rotation at a place of the grid, from the numbers of a stream of its own.
static mabd_quat rotation_at(const mabd_pile_mixed_def* def, int32_t place) {
    uint64_t state = def->seed + UINT64_C(0x9e3779b97f4a7c15) * 3 * (uint64_t)place;
    return mabd_generate_random_rotation(&state);
}

/// Add the bodies of one shape.
static mabd_status add_pieces(mabd_scene* scene, const mabd_pile_mixed_def* def, int32_t kind,
                              mabd_generate_body_batch* batch, mabd_error* error) {
    char name[MABD_PART_NAME];
    mabd_real size[3];
    int32_t unused;
    batch->n = 0;
    for (int32_t place = kind; place < def->count; place += PIECES) {
        const size_t i = (size_t)batch->n++;
        mabd_v3_store(
            mabd_generate_grid_point(def->position, def->spacing, def->columns, def->rows, place),
            batch->position + 3 * i);
        mabd_q_store(rotation_at(def, place), batch->rotation + 4 * i);
    }
    if (batch->n == 0) return MABD_OK;
    for (int k = 0; k < 3; k++) size[k] = (mabd_real)pieces[kind].size[k] * def->size;
    const mabd_geom geom = mabd_generate_material_geom(pieces[kind].shape, size, &def->material);
    const mabd_body_def body = mabd_generate_link_body(
        mabd_generate_part_name(def->name, pieces[kind].name, name), &geom, def->material, 0);
    return mabd_generate_body_batch_add(scene, &body, batch, &unused, error);
}

mabd_status mabd_generate_pile_mixed(mabd_scene* scene, const mabd_pile_mixed_def* def,
                                     mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    MABD_TRY(mabd_generate_reserve(scene, def->count, 0, error));
    const int32_t most = (def->count - 1) / PIECES + 1;
    mabd_generate_body_batch batch;
    MABD_TRY(mabd_generate_body_batch_create(scene, most, true, false, &batch, error));
    mabd_status status = MABD_OK;
    for (int32_t kind = 0; kind < PIECES && status == MABD_OK; kind++) {
        status = add_pieces(scene, def, kind, &batch, error);
    }
    mabd_generate_body_batch_free(scene, &batch);
    return status;
}
