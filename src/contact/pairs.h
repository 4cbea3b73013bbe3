// SPDX-License-Identifier: Apache-2.0
// Pair functions behind mabd_narrow. Each takes its shapes in the order of its comment and adds
// points with that a and b.
#pragma once

#include "contact/core.h"

/// Add the contacts of a: sphere or capsule, and b: sphere, capsule, box or cylinder.
void mabd_narrow_round(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                       const mabd_pose* pb, mabd_points* points);
/// Add the contacts of a and b: boxes or cylinders.
void mabd_narrow_solid(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                       const mabd_pose* pb, mabd_points* points);
/// Add the contacts of a: sphere, capsule, box or cylinder, and a plane with the pose pb.
void mabd_narrow_plane(const mabd_collider* a, const mabd_pose* pa, const mabd_pose* pb,
                       mabd_points* points);
/// Add the contacts of a: sphere, capsule, box or cylinder, and b: bowl.
void mabd_narrow_bowl(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                      const mabd_pose* pb, mabd_points* points);
/// Add the contacts of a: sphere, capsule, box or cylinder, and b: height field.
void mabd_narrow_height_field(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                              const mabd_pose* pb, mabd_points* points);
