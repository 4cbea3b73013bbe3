// SPDX-License-Identifier: Apache-2.0
// Small scenes with contacts, one for each way of solving them.
#pragma once

#include "mabd/mabd.h"

#define CONTACT_SCENE_LIST(X)                                                                      \
    X(BOX, "box")        /* pushed over a plane: in blocks, against a fixed body */                \
    X(STACK, "stack")    /* three boxes: rows between moving bodies */                             \
    X(CYLINDER, "chain") /* a chain that falls over a fixed cylinder */                            \
    X(SHEAVE, "sheave")  /* a chain over a hinged sheave: carried by a heavier body that moves */

typedef enum contact_scene {
#define X(name, text) CONTACT_SCENE_##name,
    CONTACT_SCENE_LIST(X)
#undef X
        CONTACT_SCENE_COUNT
} contact_scene;

const char* contact_scene_name(contact_scene which);
/// Build a scene; a failure ends the test. `allocator` may be null.
mabd_model* contact_scene_model(contact_scene which, const mabd_allocator* allocator);
