// SPDX-License-Identifier: Apache-2.0
// The scene classes that dual solvers are tested on. A class is a maker of scenes: the same scene
// for the same index on every run.
#pragma once

#include "mabd/model.h"
#include "mabd/scene.h"

typedef struct conformance_class {
    const char* name;
    int32_t count; // scenes
    // bits 1 << mabd_component that components may have, except single free bodies
    unsigned kinds;
    bool is_singular; // near-singular or with redundant rows: multipliers are ill-conditioned
    mabd_scene* (*make)(int32_t index);
} conformance_class;

typedef enum conformance_id {
    CONFORMANCE_CHAINS,
    CONFORMANCE_MANY_CHAINS,
    CONFORMANCE_STRAIGHT_CHAINS,
    CONFORMANCE_GROUNDED_LINKAGES,
    CONFORMANCE_TREES,
    CONFORMANCE_STARS,
    CONFORMANCE_JUNCTIONS,
    CONFORMANCE_FORESTS,
    CONFORMANCE_RINGS,
    CONFORMANCE_LADDERS,
    CONFORMANCE_FOUR_BARS,
    CONFORMANCE_NETS,
    CONFORMANCE_MIXED,
    CONFORMANCE_MANY_PARTS,
    CONFORMANCE_FLOATING_LINKAGES,
    CONFORMANCE_CLASSES,
} conformance_id;

extern const conformance_class conformance_classes[CONFORMANCE_CLASSES];
