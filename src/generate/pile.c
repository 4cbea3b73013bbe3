// SPDX-License-Identifier: Apache-2.0
// A pile before it falls: pairs of links on a grid in layers, each turned at random about its
// joint, which is its middle.
//
//     o====x====o      x joint, link 2i to the left, link 2i + 1 to the right, in line
//     |<-- 2 reach -->|
//
// A pair is inside a ball about its joint, of radius
//
//   capsule  L + r      box  sqrt(L^2 + 2 r^2)      cylinder  sqrt(L^2 + r^2)      sphere  L/2 + r
//
// so no two pairs touch in any orientation if the spacing is at least twice that.

#include "generate/field_defaults.h"
#include "generate/tools.h"

#include <math.h>
#include <string.h>

static const char* const what = "pile";

mabd_pile_def mabd_default_pile_def(void) {
    mabd_pile_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/pile.def"
    return def;
}

/// Compute the radius of the ball about the joint that contains a pair [m].
static mabd_real reach(const mabd_pile_def* def) {
    const mabd_real L = def->length, r = def->radius;
    if (def->shape == MABD_SHAPE_CAPSULE) return L + r;
    if (def->shape == MABD_SHAPE_SPHERE) return L / 2 + r;
    return (mabd_real)sqrt(L * L + (def->shape == MABD_SHAPE_BOX ? 2 : 1) * r * r);
}

static mabd_status check_joints(const mabd_pile_def* def, mabd_error* error) {
    MABD_TRY(mabd_generate_count(what, "joints", def->joint_count, 1, error));
    if (def->joint_count > MABD_JOINT_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "pile: joints must be at most %d, not %d",
                         (int)MABD_JOINT_COUNT, (int)def->joint_count);
    }
    for (int32_t i = 0; i < def->joint_count; i++) {
        MABD_TRY(mabd_generate_joint(what, "joints", def->joints[i], error));
    }
    if (!(isfinite(def->slide) && def->slide >= 0 && isfinite(def->bend) && def->bend >= 0)) {
        return mabd_fail(error, MABD_ERR_ARG, "pile: slide and bend must not be negative");
    }
    return MABD_OK;
}

static mabd_status check(const mabd_scene* scene, const mabd_pile_def* def, mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "pairs", def->pairs, 1, error));
    MABD_TRY(mabd_generate_total(what, 2 * (int64_t)def->pairs, error));
    MABD_TRY(mabd_generate_count(what, "columns", def->columns, 1, error));
    MABD_TRY(mabd_generate_count(what, "rows", def->rows, 1, error));
    MABD_TRY(mabd_generate_positive(what, "length", def->length, error));
    MABD_TRY(mabd_generate_positive(what, "radius", def->radius, error));
    MABD_TRY(mabd_generate_finite(what, "spacing", &def->spacing, 1, error));
    MABD_TRY(mabd_generate_finite(what, "position", def->position, 3, error));
    if ((unsigned)def->shape >= MABD_SHAPE_PLANE) {
        return mabd_fail(error, MABD_ERR_ARG, "pile: unknown shape");
    }
    if (def->spacing < 2 * reach(def)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "pile: spacing must be at least %g, the length of a pair, not %g",
                         (double)(2 * reach(def)), (double)def->spacing);
    }
    return check_joints(def, error);
}

static mabd_status add_links(mabd_scene* scene, const mabd_pile_def* def,
                             mabd_generate_body_batch* batch, int32_t* first, mabd_error* error) {
    uint64_t state = def->seed;
    for (int32_t i = 0; i < def->pairs; i++) {
        const mabd_vec3 joint =
            mabd_generate_grid_point(def->position, def->spacing, def->columns, def->rows, i);
        const mabd_quat rotation = mabd_generate_random_rotation(&state);
        const mabd_vec3 along = mabd_generate_link_direction(rotation);
        for (int side = 0; side < 2; side++) {
            const size_t at = 2 * (size_t)i + (size_t)side;
            const mabd_real way = (side == 0 ? -1 : 1) * def->length / 2;
            mabd_v3_store(mabd_v3_axpy(way, along, joint), batch->position + 3 * at);
            mabd_q_store(rotation, batch->rotation + 4 * at);
        }
    }
    mabd_geom geom = mabd_generate_link_geom(def->shape, def->length, def->radius, &def->material);
    mabd_body_def body = mabd_generate_link_body(def->name, &geom, def->material, 0);
    return mabd_generate_body_batch_add(scene, &body, batch, first, error);
}

/// Make the stops of the free axes of a joint type: `storage` (6) gets them, `axes` (6) pointers to
/// those with stops, null for the others.
static void make_stops(const mabd_pile_def* def, mabd_joint type, mabd_axis_def* storage,
                       const mabd_axis_def** axes) {
    static const char* const translations[] = {
#define X(name, text, free_translations, free_rotations) free_translations,
        MABD_JOINT_LIST(X)
#undef X
    };
    for (int k = 0; k < MABD_AXIS_COUNT; k++) {
        const bool slides = k < MABD_AXIS_RX && strchr(translations[type], "xyz"[k]);
        const bool bends = k == MABD_AXIS_RX && type == MABD_JOINT_HINGE;
        const mabd_real limit = slides ? def->slide : def->bend;
        storage[k] = (mabd_axis_def){.limited = true, .lower = -limit, .upper = limit};
        axes[k] = slides || bends ? &storage[k] : NULL;
    }
}

/// Add the joints of the pairs `turn`, `turn` + joint_count, ...
static mabd_status join_pairs(mabd_scene* scene, const mabd_pile_def* def,
                              const mabd_generate_body_batch* links, int32_t first, int32_t turn,
                              mabd_error* error) {
    const int32_t n = (def->pairs - turn + def->joint_count - 1) / def->joint_count;
    const mabd_joint type = def->joints[turn];
    char name[MABD_PART_NAME];
    mabd_joint_def joint = mabd_default_joint_def();
    mabd_axis_def stops[MABD_AXIS_COUNT];
    joint.name = mabd_generate_part_name_n(def->name, "joint", turn, NULL, name);
    joint.type = type;
    make_stops(def, type, stops, joint.axes);
    mabd_generate_joint_batch batch;
    MABD_TRY(mabd_generate_joint_batch_create(scene, n, true, &batch, error));
    for (int32_t j = 0; j < n; j++) {
        const int32_t i = turn + j * def->joint_count;
        mabd_generate_joint_batch_set(
            &batch, j, first + 2 * i, first + 2 * i + 1,
            mabd_generate_grid_point(def->position, def->spacing, def->columns, def->rows, i));
        const mabd_quat link = mabd_q_load(links->rotation + 8 * (size_t)i);
        mabd_q_store(mabd_generate_link_joint_frame(type, link), batch.frame + 4 * (size_t)j);
    }
    mabd_status status = mabd_generate_joint_batch_add(scene, &joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}

mabd_status mabd_generate_pile(mabd_scene* scene, const mabd_pile_def* def, mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    MABD_TRY(mabd_generate_reserve(scene, 2 * (int64_t)def->pairs, def->pairs, error));
    mabd_generate_body_batch links;
    MABD_TRY(mabd_generate_body_batch_create(scene, 2 * def->pairs, true, false, &links, error));
    int32_t first = 0;
    mabd_status status = add_links(scene, def, &links, &first, error);
    for (int32_t turn = 0; turn < def->joint_count && turn < def->pairs; turn++) {
        if (status == MABD_OK) status = join_pairs(scene, def, &links, first, turn, error);
    }
    mabd_generate_body_batch_free(scene, &links);
    return status;
}
