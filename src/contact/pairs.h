// SPDX-License-Identifier: Apache-2.0
// The families of pairs behind mabd_narrow. Each takes its shapes in the order in which it names
// them and adds points with that a and b.
#pragma once

#include "contact/core.h"

/// a: sphere or capsule, b: sphere, capsule, box or cylinder.
void mabd_narrow_round(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                       const mabd_pose* pb, mabd_points* points);
/// a, b: box or cylinder.
void mabd_narrow_solid(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                       const mabd_pose* pb, mabd_points* points);
/// a: sphere, capsule, box or cylinder; b, a plane, is its pose alone.
void mabd_narrow_plane(const mabd_collider* a, const mabd_pose* pa, const mabd_pose* pb,
                       mabd_points* points);
/// a: sphere, capsule, box or cylinder; b: bowl.
void mabd_narrow_bowl(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                      const mabd_pose* pb, mabd_points* points);
/// a: sphere, capsule, box or cylinder; b: height field.
void mabd_narrow_height_field(const mabd_collider* a, const mabd_pose* pa, const mabd_collider* b,
                              const mabd_pose* pb, mabd_points* points);
