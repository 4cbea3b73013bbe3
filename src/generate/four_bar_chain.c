// SPDX-License-Identifier: Apache-2.0
// Four-bars in series: rhombus i has its near corner at 2 i l cos(angle), its upper and lower
// corners at +-l sin(angle). Each rhombus is one loop; hinge axes are -y.

#include "generate/field_defaults.h"
#include "generate/planar.h"

#include <math.h>

static const char* const what = "four-bar-chain";

enum { UPPER_NEAR, LOWER_NEAR, UPPER_FAR, LOWER_FAR, BARS };
enum { NEAR, TOP, BOTTOM, FAR, CORNERS };
#define HINGES 5

static const int bar_corners[BARS][2] = {{NEAR, TOP}, {NEAR, BOTTOM}, {TOP, FAR}, {BOTTOM, FAR}};
// Hinges 1 .. 4: their two bodies and their corner.
static const int hinge_bars[HINGES - 1][3] = {{UPPER_NEAR, LOWER_NEAR, NEAR},
                                              {UPPER_NEAR, UPPER_FAR, TOP},
                                              {LOWER_NEAR, LOWER_FAR, BOTTOM},
                                              {UPPER_FAR, LOWER_FAR, FAR}};

mabd_four_bar_chain_def mabd_default_four_bar_chain_def(void) {
    mabd_four_bar_chain_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/four_bar_chain.def"
    return def;
}

static mabd_status check(const mabd_scene* scene, const mabd_four_bar_chain_def* def,
                         mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "segments", def->segments, 1, error));
    MABD_TRY(mabd_generate_total(what, HINGES * (int64_t)def->segments, error));
    MABD_TRY(mabd_generate_positive(what, "length", def->length, error));
    MABD_TRY(mabd_generate_positive(what, "mass", def->mass, error));
    MABD_TRY(mabd_generate_positive(what, "width", def->width, error));
    if (!(def->angle > 0 && def->angle < MABD_PI / 2)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "four-bar-chain: angle must be between 0 and pi/2, not %g",
                         (double)def->angle);
    }
    return mabd_generate_finite(what, "position", def->position, 3, error);
}

static void place_corners(const mabd_four_bar_chain_def* def, int32_t segment,
                          mabd_generate_plane_point corners[CORNERS]) {
    const mabd_real c = def->length * (mabd_real)cos(def->angle);
    const mabd_real s = def->length * (mabd_real)sin(def->angle);
    const mabd_real x = 2 * c * (mabd_real)segment;
    corners[NEAR] = (mabd_generate_plane_point){.x = x};
    corners[TOP] = (mabd_generate_plane_point){.x = x + c, .z = s};
    corners[BOTTOM] = (mabd_generate_plane_point){.x = x + c, .z = -s};
    corners[FAR] = (mabd_generate_plane_point){.x = x + 2 * c};
}

static mabd_status add_bars(mabd_scene* scene, const mabd_four_bar_chain_def* def, const char* name,
                            const mabd_generate_plane_point corners[CORNERS], int32_t* first,
                            mabd_error* error) {
    const mabd_real volume = def->length * def->width * def->width;
    mabd_material material = mabd_default_material();
    material.density = def->mass / volume;
    material.young = def->young;
    material.poisson = def->poisson;
    mabd_geom geom =
        mabd_generate_link_geom(MABD_SHAPE_BOX, def->length, def->width / 2, &material);
    mabd_body_def body = mabd_generate_link_body(name, &geom, material, 0);
    mabd_real positions[BARS * 3], rotations[BARS * 4];
    for (int i = 0; i < BARS; i++) {
        mabd_generate_plane_place(def->position, &corners[bar_corners[i][0]],
                                  &corners[bar_corners[i][1]], (mabd_real)0.5, 0, &body);
        mabd_v3_store(mabd_v3_load(body.position), positions + 3 * i);
        mabd_q_store(mabd_q_load(body.rotation), rotations + 4 * i);
    }
    return mabd_scene_add_body_n(scene, &body, BARS, positions, rotations, NULL, NULL, first,
                                 error);
}

/// Add the hinges of a segment whose bars begin at body `first`; hinge 0 joins it to body `before`.
static mabd_status add_hinges(mabd_scene* scene, const mabd_four_bar_chain_def* def,
                              const char* name, const mabd_generate_plane_point corners[CORNERS],
                              int32_t before, int32_t first, mabd_error* error) {
    int32_t a[HINGES] = {before}, b[HINGES] = {first + UPPER_NEAR};
    mabd_real anchors[HINGES * 3];
    mabd_v3_store(mabd_generate_plane_world(def->position, &corners[NEAR], 0), anchors);
    for (int i = 1; i < HINGES; i++) {
        const int* hinge = hinge_bars[i - 1];
        a[i] = first + hinge[0];
        b[i] = first + hinge[1];
        mabd_v3_store(mabd_generate_plane_world(def->position, &corners[hinge[2]], 0),
                      anchors + 3 * i);
    }
    mabd_joint_def joint = mabd_generate_plane_hinge();
    joint.name = name;
    return mabd_scene_add_joint_n(scene, &joint, HINGES, a, b, anchors, NULL, NULL, error);
}

mabd_status mabd_generate_four_bar_chain(mabd_scene* scene, const mabd_four_bar_chain_def* def,
                                         mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    const int64_t n = def->segments;
    MABD_TRY(mabd_generate_reserve(scene, BARS * n, HINGES * n, error));
    int32_t before = MABD_WORLD;
    for (int32_t i = 0; i < def->segments; i++) {
        mabd_generate_plane_point corners[CORNERS];
        char text[MABD_PART_NAME];
        const char* name = mabd_generate_part_name_n(def->name, "segment", i, NULL, text);
        int32_t first = 0;
        place_corners(def, i, corners);
        MABD_TRY(add_bars(scene, def, name, corners, &first, error));
        MABD_TRY(add_hinges(scene, def, name, corners, before, first, error));
        before = first + UPPER_FAR;
    }
    return MABD_OK;
}
