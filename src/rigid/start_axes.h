// SPDX-License-Identifier: Apache-2.0
// Rigid servos and stops of axes in a start pose.
#pragma once

#include "rigid/start_work.h"

/// Check the rigid servos at the poses of s->start. A servo off its target is a warning; a target
/// beyond the stops of its axis, or one that the joints do not allow, is MABD_ERR_INPUT.
/// MABD_ERR_MEMORY.
mabd_status mabd_rigid_check_servos(mabd_rigid_start_work* s);
/// Check that all axes of s->start are between their stops, apart from the strain of the bodies at
/// the current state. MABD_ERR_INPUT names the axis.
mabd_status mabd_rigid_check_stops(const mabd_rigid_start_work* s);
