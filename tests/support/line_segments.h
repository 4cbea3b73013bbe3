// SPDX-License-Identifier: Apache-2.0
// Distances of points and segments, and the axes of capsules and boxes of a scene as segments.
#pragma once

#include "scene/scene_data.h"

/// Return the distance of a point from the segment from a to b.
double point_segment_distance(const double* p, const double* a, const double* b);
/// Return the distance of the segments a b and c d.
double segment_distance(const double* a, const double* b, const double* c, const double* d);
/// Compute the ends of the axis of the first geom of a body in the world; both are its centre for a
/// sphere or box.
void scene_segment(const mabd_scene* scene, int32_t body, double* from, double* to);
