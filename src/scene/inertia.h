// SPDX-License-Identifier: Apache-2.0
// Mass properties of bodies, in their user frame.
#pragma once

#include "scene/scene_data.h"

typedef struct mabd_inertia {
    mabd_real mass;      // [kg]
    mabd_real center[3]; // centre of mass, user frame [m]
    mabd_real tensor[6]; // about the centre, user axes: xx yy zz xy xz yz [kg m^2]
    mabd_real volume;    // [m^3]
} mabd_inertia;

/// Compute the volume of a checked geom [m^3].
mabd_real mabd_geom_volume(const mabd_geom* geom);
/// Compute the mass properties of a class of bodies. geoms (body_class->geom_count): its geoms,
/// with unit quaternions; null is allowed if there are none. In a finished scene they start at
/// (const mabd_geom*)scene->geoms.data + body_class->geom_first.
mabd_inertia mabd_class_inertia(const mabd_scene_class* body_class, const mabd_geom* geoms);
/// Compute the mass properties of class `index` of a finished scene.
mabd_inertia mabd_scene_class_inertia(const mabd_scene* scene, int32_t index);
