// SPDX-License-Identifier: Apache-2.0
// Positions of the chain and the sheaves of a pulley.
#pragma once

#include "generate/tools.h"

/// Quantities derived from a checked definition.
typedef struct mabd_generate_pulley_path {
    const mabd_pulley_def* def;
    int32_t sheaves; // of one strand
    int32_t links;   // of one strand
    mabd_real alpha; // turn from link to link on a sheave [rad]
    mabd_real pitch; // L: length of a link [m]
    mabd_real reach; // from the axis of a sheave to the runs beside it [m]: Q, of a drum Rc
    bool shared;     // one long cylinder serves all strands
    int32_t copies;  // of each sheave: strands, or 1 if shared
    int32_t driven;  // sheaves of a strand with speed or torque
} mabd_generate_pulley_path;

/// Return the number of links of one strand, for any definition without negative counts.
int64_t mabd_generate_pulley_links(const mabd_pulley_def* def);
/// Derive the path of a checked definition, which must outlive it.
mabd_generate_pulley_path mabd_generate_pulley_path_make(const mabd_pulley_def* def);
/// Return the y of a strand, relative to the first one [m].
mabd_real mabd_generate_pulley_strand(const mabd_generate_pulley_path* path, int32_t strand);
/// True if the chain runs under sheave i.
bool mabd_generate_pulley_lower(const mabd_generate_pulley_path* path, int32_t sheave);
/// Compute a point of the axis of a sheave in the plane of the first strand, world.
mabd_vec3 mabd_generate_pulley_axis(const mabd_generate_pulley_path* path, int32_t sheave);
/// Compute P_k, k = 0 .. links, in the plane of the first strand, world: link k runs from P_k to
/// P_{k+1}.
mabd_vec3 mabd_generate_pulley_point(const mabd_generate_pulley_path* path, int32_t k);
/// Compute the rotation of link k: x along the link, y along that of the world.
mabd_quat mabd_generate_pulley_rotation(const mabd_generate_pulley_path* path, int32_t k);
