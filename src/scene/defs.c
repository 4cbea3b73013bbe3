// SPDX-License-Identifier: Apache-2.0
// Defaults of the definitions of a scene, and functions that make small ones.
#include "math/quat.h"
#include "scene/check.h"

#include <string.h>

mabd_body_def mabd_default_body_def(void) {
    mabd_body_def def = {.motion = MABD_MOTION_DYNAMIC,
                         .density = 1000,
                         .poisson = (mabd_real)0.3,
                         .rotation = {1, 0, 0, 0},
                         .cookie = MABD_BODY_COOKIE};
    return def;
}

mabd_geom mabd_geom_make(mabd_shape shape, const mabd_real* size, mabd_real density) {
    mabd_geom geom = {.shape = shape,
                      .rotation = {1, 0, 0, 0},
                      .density = density,
                      .friction = (mabd_real)0.5,
                      .category = 1,
                      .mask = UINT32_MAX};
    if (mabd_shape_is_massless(shape)) geom.density = 0;
    for (int k = 0; k < mabd_shape_size_count(shape); k++) geom.size[k] = size[k];
    return geom;
}

const char* mabd_shape_name(mabd_shape shape) {
    static const char* const names[] = {
#define X(name, text) text,
        MABD_SHAPE_LIST(X)
#undef X
    };
    return (unsigned)shape < MABD_SHAPE_COUNT ? names[shape] : "unknown";
}

mabd_contact_def mabd_default_contact_def(void) {
    mabd_contact_def def = {.compliance = (mabd_real)1e-3, .cookie = MABD_CONTACT_COOKIE};
    return def;
}

mabd_joint_def mabd_default_joint_def(void) {
    mabd_joint_def def = {.type = MABD_JOINT_BALL,
                          .a = MABD_WORLD,
                          .b = 0,
                          .frame = {1, 0, 0, 0},
                          .frame_a = {1, 0, 0, 0},
                          .frame_b = {1, 0, 0, 0},
                          .force_weight = 1,
                          .torque_weight = 1,
                          .cookie = MABD_JOINT_COOKIE};
    return def;
}

static const char* const joint_names[] = {
#define X(name, text, translations, rotations) text,
    MABD_JOINT_LIST(X) MABD_PATH_JOINT_LIST(X)
#undef X
};

const char* mabd_joint_name(mabd_joint type) {
    return (unsigned)type < MABD_JOINT_TYPE_COUNT ? joint_names[type] : "unknown";
}

mabd_joint_part mabd_default_joint_part(void) {
    const mabd_joint_part part = {.type = MABD_JOINT_HINGE, .frame = {1, 0, 0, 0}};
    return part;
}

int mabd_joint_find(const char* name) {
    for (int i = 0; name && i < MABD_JOINT_TYPE_COUNT; i++) {
        if (strcmp(joint_names[i], name) == 0) return i;
    }
    return -1;
}

static const char* const chart_names[] = {
#define X(name, text) text,
    MABD_JOINT_CHART_LIST(X)
#undef X
};

const char* mabd_joint_chart_name(mabd_joint_chart chart) {
    return (unsigned)chart < MABD_JOINT_CHART_COUNT ? chart_names[chart] : "unknown";
}

int mabd_joint_chart_find(const char* name) {
    for (int i = 0; name && i < MABD_JOINT_CHART_COUNT; i++) {
        if (strcmp(chart_names[i], name) == 0) return i;
    }
    return -1;
}

/// Compute *unit = v / |v| without overflow; false if v is zero or not finite.
static bool direction(mabd_vec3 v, mabd_vec3* unit) {
    mabd_real largest = (mabd_real)fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
    if (!(largest > 0) || !isfinite(v.x + v.y + v.z)) return false;
    v = mabd_v3(v.x / largest, v.y / largest, v.z / largest);
    *unit = mabd_v3_scale(1 / mabd_v3_norm(v), v);
    return true;
}

/// Return the coordinate axis that follows the one nearest to x. For x along a coordinate axis the
/// frame is then a cyclic permutation of the axes.
static mabd_vec3 any_other_axis(mabd_vec3 x) {
    mabd_real ax = (mabd_real)fabs(x.x), ay = (mabd_real)fabs(x.y), az = (mabd_real)fabs(x.z);
    if (ax >= ay && ax >= az) return mabd_v3(0, 1, 0);
    return ay >= az ? mabd_v3(0, 0, 1) : mabd_v3(1, 0, 0);
}

bool mabd_frame_from_axes(const mabd_real* x, const mabd_real* y, mabd_real* frame) {
    const mabd_real parallel = (mabd_real)1e-9;
    mabd_vec3 c1, c2;
    if (!direction(mabd_v3_load(x), &c1)) return false;
    if (!y) {
        c2 = any_other_axis(c1);
    } else if (!direction(mabd_v3_load(y), &c2)) {
        return false;
    }
    c2 = mabd_v3_axpy(-mabd_v3_dot(c1, c2), c1, c2);
    if (!(mabd_v3_norm(c2) > parallel)) return false;
    direction(c2, &c2);
    // Twice: the first pass leaves round-off if y is nearly parallel to x.
    c2 = mabd_v3_axpy(-mabd_v3_dot(c1, c2), c1, c2);
    direction(c2, &c2);
    mabd_q_store(mabd_q_from_matrix(mabd_m3(c1, c2, mabd_v3_cross(c1, c2))), frame);
    return true;
}
