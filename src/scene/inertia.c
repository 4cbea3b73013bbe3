// SPDX-License-Identifier: Apache-2.0
// Mass, centre and inertia of a body as the sum of its geoms.
//
//   box a b c       V = a b c             Ixx = m (b^2 + c^2) / 12, and in turn
//   sphere r        V = 4/3 pi r^3        Ixx = Iyy = Izz = 2/5 m r^2
//   cylinder r L    V = pi r^2 L          Izz = m r^2 / 2,  Ixx = Iyy = m (3 r^2 + L^2) / 12
//   capsule r L     a cylinder (mass m_c) and the two halves of a sphere (mass m_s):
//                   Izz = m_c r^2 / 2 + 2/5 m_s r^2
//                   Ixx = Iyy = m_c (3 r^2 + L^2) / 12 + m_s (2/5 r^2 + 3/8 r L + L^2 / 4)
//   plane, bowl, height field: V = 0, no mass
//
// A geom turned by R and with its centre at p adds, about the centre of mass c of the body,
//   R diag(Ixx, Iyy, Izz) R' + m (|d|^2 I - d d'),  d = p - c                (parallel axes)
// c is computed first, so that geoms far from the origin lose no digits.
//
// mass > 0 without explicit inertia scales mass and inertia by the same factor. The volume is that
// of the geoms; a body without geoms has mass / density.
#include "scene/inertia.h"

#include "math/quat.h"

mabd_real mabd_geom_volume(const mabd_geom* geom) {
    const mabd_real* size = geom->size;
    mabd_real disc = MABD_PI * size[0] * size[0];
    switch (geom->shape) {
    case MABD_SHAPE_BOX:
        return size[0] * size[1] * size[2];
    case MABD_SHAPE_SPHERE:
        return disc * size[0] * 4 / 3;
    case MABD_SHAPE_CAPSULE:
        return disc * (size[1] + size[0] * 4 / 3);
    case MABD_SHAPE_CYLINDER:
        return disc * size[1];
    case MABD_SHAPE_PLANE:
    case MABD_SHAPE_BOWL:
    case MABD_SHAPE_HEIGHT_FIELD:
    case MABD_SHAPE_COUNT:
        break;
    }
    return 0;
}

/// Compute the moments of a geom about its centre in its own axes, for density 1 [m^5].
static mabd_vec3 geom_moments(const mabd_geom* geom) {
    const mabd_real* size = geom->size;
    mabd_real volume = mabd_geom_volume(geom), r = size[0], length = size[1];
    switch (geom->shape) {
    case MABD_SHAPE_BOX: {
        mabd_real xx = size[0] * size[0], yy = size[1] * size[1], zz = size[2] * size[2];
        return mabd_v3_scale(volume / 12, mabd_v3(yy + zz, xx + zz, xx + yy));
    }
    case MABD_SHAPE_SPHERE: {
        mabd_real moment = volume * r * r * 2 / 5;
        return mabd_v3(moment, moment, moment);
    }
    case MABD_SHAPE_CAPSULE: {
        mabd_real tube = MABD_PI * r * r * length, ball = MABD_PI * r * r * r * 4 / 3;
        mabd_real along = tube * r * r / 2 + ball * r * r * 2 / 5;
        mabd_real across = tube * (3 * r * r + length * length) / 12 +
                           ball * (r * r * 2 / 5 + r * length * 3 / 8 + length * length / 4);
        return mabd_v3(across, across, along);
    }
    case MABD_SHAPE_CYLINDER: {
        mabd_real across = volume * (3 * r * r + length * length) / 12;
        return mabd_v3(across, across, volume * r * r / 2);
    }
    case MABD_SHAPE_PLANE:
    case MABD_SHAPE_BOWL:
    case MABD_SHAPE_HEIGHT_FIELD:
    case MABD_SHAPE_COUNT:
        break;
    }
    return mabd_v3(0, 0, 0);
}

/// Compute tensor += m (|d|^2 I - d d').
static void add_point(mabd_real mass, mabd_vec3 d, mabd_real* tensor) {
    tensor[0] += mass * (d.y * d.y + d.z * d.z);
    tensor[1] += mass * (d.x * d.x + d.z * d.z);
    tensor[2] += mass * (d.x * d.x + d.y * d.y);
    tensor[3] -= mass * d.x * d.y;
    tensor[4] -= mass * d.x * d.z;
    tensor[5] -= mass * d.y * d.z;
}

/// Compute tensor += R diag(moments) R'.
static void add_turned(mabd_mat3 R, mabd_vec3 moments, mabd_real* tensor) {
    const mabd_vec3 columns[3] = {R.c1, R.c2, R.c3};
    const mabd_real values[3] = {moments.x, moments.y, moments.z};
    for (int k = 0; k < 3; k++) {
        mabd_vec3 c = columns[k];
        tensor[0] += values[k] * c.x * c.x;
        tensor[1] += values[k] * c.y * c.y;
        tensor[2] += values[k] * c.z * c.z;
        tensor[3] += values[k] * c.x * c.y;
        tensor[4] += values[k] * c.x * c.z;
        tensor[5] += values[k] * c.y * c.z;
    }
}

static mabd_inertia sum_geoms(int32_t count, const mabd_geom* geoms) {
    mabd_inertia sum = {0};
    mabd_vec3 moment = mabd_v3(0, 0, 0);
    for (int32_t i = 0; i < count; i++) {
        mabd_real volume = mabd_geom_volume(&geoms[i]), mass = geoms[i].density * volume;
        sum.volume += volume;
        sum.mass += mass;
        moment = mabd_v3_axpy(mass, mabd_v3_load(geoms[i].position), moment);
    }
    if (!(sum.mass > 0)) return sum;
    mabd_vec3 center = mabd_v3_scale(1 / sum.mass, moment);
    mabd_v3_store(center, sum.center);
    for (int32_t i = 0; i < count; i++) {
        mabd_vec3 offset = mabd_v3_sub(mabd_v3_load(geoms[i].position), center);
        mabd_vec3 moments = mabd_v3_scale(geoms[i].density, geom_moments(&geoms[i]));
        add_turned(mabd_q_matrix(mabd_q_load(geoms[i].rotation)), moments, sum.tensor);
        add_point(geoms[i].density * mabd_geom_volume(&geoms[i]), offset, sum.tensor);
    }
    return sum;
}

mabd_inertia mabd_class_inertia(const mabd_scene_class* body_class, const mabd_geom* geoms) {
    mabd_inertia result = sum_geoms(body_class->geom_count, geoms);
    if (body_class->inertia_given) {
        result.mass = body_class->mass;
        for (int k = 0; k < 3; k++) result.center[k] = body_class->center[k];
        for (int k = 0; k < 6; k++) result.tensor[k] = body_class->inertia[k];
    } else if (body_class->mass > 0) {
        mabd_real factor = result.mass > 0 ? body_class->mass / result.mass : 0;
        for (int k = 0; k < 6; k++) result.tensor[k] *= factor;
        result.mass = body_class->mass;
    }
    if (body_class->geom_count == 0) result.volume = result.mass / body_class->density;
    return result;
}

mabd_inertia mabd_scene_class_inertia(const mabd_scene* scene, int32_t index) {
    const mabd_scene_class* body_class = (const mabd_scene_class*)scene->classes.data + index;
    const mabd_geom* geoms = (const mabd_geom*)scene->geoms.data;
    return mabd_class_inertia(body_class,
                              body_class->geom_count ? geoms + body_class->geom_first : NULL);
}
