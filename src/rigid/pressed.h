// SPDX-License-Identifier: Apache-2.0
// Velocities of bodies that press against each other (pressed.c).
#pragma once

#include "base/memory.h"
#include "rigid/twist.h"

/// A contact that may push: the rate of its gap is N u over both bodies, -1 = none on that side.
/// Scripted bodies and the world are sides without a body; their part of the rate is `rate`.
typedef struct mabd_rigid_pressed {
    int32_t a, b; // dynamic bodies
    mabd_rigid_row N;
    mabd_real rate; // of the gap by the motion of sides without a body [m/s]
} mabd_rigid_pressed;

/// Replace changes of velocities w (bodies) by the nearest in the mass metric that the joints
/// allow, whose rows then have the rate 0.
typedef void mabd_rigid_allow_fn(void* context, mabd_rigid_twist* w);

/// Pressed contacts at one state.
typedef struct mabd_rigid_press {
    const mabd_model* m;
    int32_t count;
    const mabd_rigid_pressed* contacts; // (count)
    mabd_rigid_allow_fn* allow;         // null: bodies without joints
    void* context;                      // of allow
    mabd_real tolerance;                // of the rates of gaps [m/s], > 0
    int32_t max_products;               // calls of allow
} mabd_rigid_press;

/// Result of mabd_rigid_press_velocities.
typedef struct mabd_rigid_press_report {
    int32_t products;
    mabd_real residual; // largest violation of the law of a contact [m/s]
    bool converged;
} mabd_rigid_press_report;

/// Return the reals of workspace for `count` contacts.
size_t mabd_rigid_press_work(int32_t count);
/// Change velocities u (bodies), which the joints allow, by the least change in the mass metric to
/// ones that close no contact. impulses (count): first guess in, [N s] out; w (bodies) and work
/// (mabd_rigid_press_work) are workspace.
mabd_rigid_press_report mabd_rigid_press_velocities(const mabd_rigid_press* p, mabd_rigid_twist* u,
                                                    mabd_real* impulses, mabd_rigid_twist* w,
                                                    mabd_real* work);
