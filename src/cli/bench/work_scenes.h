// SPDX-License-Identifier: Apache-2.0
// The scenes of `mabd bench work-precision`: small, without drives and losses, with ball joints and
// hinges only, so that other engines and an independent reference can run them too.
#pragma once

#include "mabd/model.h"

/// Scenes: name; simulated time [s], over which energy is compared; time to which positions are
/// compared [s], before errors grow too fast for any reference; step of the reference [s].
#define WORK_SCENE_LIST(X)                                                                         \
    X(PENDULUM, "pendulum", 2, 2, 2e-4) /* a rod of 1 m on a hinge, let go level */                \
    X(CHAIN, "chain-10", 2, 1, 5e-5)    /* ten links of 0.1 m, ball joints, let go level */        \
    X(FOUR_BAR, "four-bar", 2, 2, 1e-4) /* crank 0.3, coupler 0.8, rocker 0.6 m, 6 rad/s, free */  \
    X(ARM, "arm", 2, 1, 5e-5)           /* seven hinges and links, bent, let go */                 \
    X(NET, "net-10x10", 2, 0.5, 5e-4)   /* 100 hubs, 180 rods, hung by one edge, let go level */

typedef enum work_scene_id {
#define X(name, text, duration, path, h) WORK_SCENE_##name,
    WORK_SCENE_LIST(X)
#undef X
        WORK_SCENE_COUNT
} work_scene_id;

typedef struct work_scene {
    const char* name;
    double duration, path; // [s]
    double reference_h;    // [s]
} work_scene;

/// Properties of a scene.
work_scene work_scene_get(work_scene_id id);
/// Build the model of a scene, to be destroyed.
mabd_status work_scene_build(work_scene_id id, mabd_model** model, mabd_error* error);
