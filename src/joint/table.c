// SPDX-License-Identifier: Apache-2.0
#include "joint/table.h"

#include <string.h>

// clang-format off
#define X_ 0
#define Y_ 1
#define Z_ 2
#define POINT(i)           {MABD_ROW_POINT, i, 0, 1}
#define SLIDE(i)           {MABD_ROW_SLIDE, i, 0, 1}
#define CROSS(s, f, b)     {MABD_ROW_CROSS, f, b, s}
#define ANGLE_A(k)         {MABD_ROW_ANGLE_A, k, 0, 1}
#define ANGLE_B(k)         {MABD_ROW_ANGLE_B, k, 0, 1}
#define VECTOR(k)          {MABD_ROW_VECTOR, k, 0, 1}

#define NO_TRANSLATION     POINT(X_), POINT(Y_), POINT(Z_)
#define NO_ROTATION        CROSS(1, Y_, Z_), CROSS(1, Z_, X_), CROSS(1, X_, Y_)
#define ROTATION_ABOUT_X   CROSS(-1, X_, Z_), CROSS(1, X_, Y_)
#define ROTATION_ABOUT_Y   CROSS(1, Y_, Z_), CROSS(-1, Y_, X_)
#define ROTATION_ABOUT_Z   CROSS(-1, Z_, Y_), CROSS(1, Z_, X_)
#define ROTATION_ABOUT_XY  CROSS(-1, Y_, X_)

typedef struct joint_entry {
    int count;
    mabd_row rows[MABD_JOINT_MAX_ROWS];
} joint_entry;

static const joint_entry rigid[MABD_JOINT_TYPE_COUNT] = {
    [MABD_JOINT_FIXED]       = {6, {NO_TRANSLATION, NO_ROTATION}},
    [MABD_JOINT_PRISMATIC]   = {5, {SLIDE(Y_), SLIDE(Z_), NO_ROTATION}},
    [MABD_JOINT_HINGE]       = {5, {NO_TRANSLATION, ROTATION_ABOUT_X}},
    [MABD_JOINT_RECTANGULAR] = {4, {SLIDE(Z_), NO_ROTATION}},
    [MABD_JOINT_CYLINDRICAL] = {4, {SLIDE(Y_), SLIDE(Z_), ROTATION_ABOUT_X}},
    [MABD_JOINT_PIN_IN_SLOT] = {4, {SLIDE(Y_), SLIDE(Z_), ROTATION_ABOUT_Y}},
    [MABD_JOINT_UNIVERSAL]   = {4, {NO_TRANSLATION, ROTATION_ABOUT_XY}},
    [MABD_JOINT_CARTESIAN]   = {3, {NO_ROTATION}},
    [MABD_JOINT_PLANAR]      = {3, {SLIDE(Z_), ROTATION_ABOUT_Z}},
    [MABD_JOINT_BALL]        = {3, {NO_TRANSLATION}},
    [MABD_JOINT_SLOT]        = {2, {SLIDE(Y_), SLIDE(Z_)}},
    [MABD_JOINT_FREE]        = {0, {{0}}},
    [MABD_JOINT_AXIS]        = {2, {ROTATION_ABOUT_X}},
    [MABD_JOINT_POINT_ON_PLANE] = {1, {SLIDE(Z_)}},
    // a screw has one more, which ties its slide to its turn: no atomic row
    [MABD_JOINT_SCREW]       = {4, {SLIDE(Y_), SLIDE(Z_), ROTATION_ABOUT_X}},
};

// Rows that measure the rotation axes of a joint type; translations are always slides.
static const mabd_row turns[MABD_JOINT_TYPE_COUNT][3] = {
    [MABD_JOINT_HINGE]       = {ANGLE_A(X_)},
    [MABD_JOINT_CYLINDRICAL] = {ANGLE_A(X_)},
    [MABD_JOINT_PIN_IN_SLOT] = {{0}, ANGLE_A(Y_)},
    [MABD_JOINT_UNIVERSAL]   = {ANGLE_A(X_), ANGLE_B(Y_)},
    [MABD_JOINT_PLANAR]      = {{0}, {0}, ANGLE_A(Z_)},
    [MABD_JOINT_BALL]        = {VECTOR(X_), VECTOR(Y_), VECTOR(Z_)},
    [MABD_JOINT_SLOT]        = {VECTOR(X_), VECTOR(Y_), VECTOR(Z_)},
    [MABD_JOINT_FREE]        = {VECTOR(X_), VECTOR(Y_), VECTOR(Z_)},
    [MABD_JOINT_AXIS]        = {ANGLE_A(X_)},
    [MABD_JOINT_POINT_ON_PLANE] = {VECTOR(X_), VECTOR(Y_), VECTOR(Z_)},
    [MABD_JOINT_SCREW]       = {ANGLE_A(X_)},
};
// clang-format on

static const char* const free_translations[MABD_JOINT_TYPE_COUNT] = {
#define X(name, text, translations, rotations) translations,
    MABD_JOINT_LIST(X) MABD_PATH_JOINT_LIST(X)
#undef X
};

static const char* const free_rotations[MABD_JOINT_TYPE_COUNT] = {
#define X(name, text, translations, rotations) rotations,
    MABD_JOINT_LIST(X) MABD_PATH_JOINT_LIST(X)
#undef X
};

int mabd_joint_rigid_rows(mabd_joint type, mabd_row* rows) {
    memcpy(rows, rigid[type].rows, sizeof rigid[type].rows);
    return rigid[type].count;
}

bool mabd_joint_coordinate(mabd_joint type, mabd_axis axis, mabd_row* row) {
    const int letter = "xyzxyz"[axis];
    if (axis <= MABD_AXIS_TZ) {
        if (!strchr(free_translations[type], letter)) return false;
        const mabd_row slide = SLIDE((uint8_t)axis);
        *row = slide;
        return true;
    }
    if (!strchr(free_rotations[type], letter)) return false;
    *row = turns[type][axis - MABD_AXIS_RX];
    return true;
}
