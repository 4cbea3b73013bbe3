// SPDX-License-Identifier: Apache-2.0
// Friction of axes: bearings whose bound follows their load, and smooth friction (pins.c).
#pragma once

#include "formulation/redmax/redmax_motion.h"

#include <math.h>

/// Compute the smooth friction -bound tanh(rate/speed) on an axis; *slope gets minus its derivative
/// by the rate.
MABD_FN mabd_real mabd_redmax_smooth(mabd_real bound, mabd_real speed, mabd_real rate,
                                     mabd_real* slope) {
    const mabd_real t = (mabd_real)tanh(rate / speed);
    *slope = bound * (1 - t * t) / speed;
    return -bound * t;
}

/// Smooth friction of a freedom that is no ball's, 0 if it has none; *slope as above.
MABD_FN mabd_real mabd_redmax_friction(const mabd_redmax_freedom* f, mabd_real rate,
                                       mabd_real* slope) {
    *slope = 0;
    if (!f->control || !(f->control->friction_speed > 0)) return 0;
    return mabd_redmax_smooth(f->bound, f->control->friction_speed, rate, slope);
}

/// Compute the bound of the friction of a freedom with a control: constant friction, and that of
/// its pin under the wrench F of its link; q: its coordinate [N] or [N m] (pins.c).
mabd_real mabd_redmax_bound(const mabd_redmax_sim* sim, int32_t freedom, mabd_spatial F,
                            mabd_real q);
/// Set the bounds of the pins of a part to those of the wrenches of the last step (pins.c).
void mabd_redmax_start_bounds(const mabd_redmax_solve* s);
/// Set the bounds of the pins of a part to those of the wrenches of the last residual (pins.c).
void mabd_redmax_update_bounds(const mabd_redmax_solve* s);
/// Repeat a solve of a part until the bounds of its pins are those of its own wrenches. Where they
/// do not settle the report says that the step did not converge (pins.c).
mabd_status mabd_redmax_with_bounds(const mabd_redmax_solve* s,
                                    mabd_status (*solve)(const mabd_redmax_solve*));
/// Set the bounds of smooth pins of a link to those of its wrench F (pins.c).
void mabd_redmax_smooth_bounds(const mabd_redmax_solve* s, int32_t link);
/// Set the columns by which wrenches enter the last residual, sim->left, with the derivatives of
/// the bounds of pins: for the solves of `s` with s->loads. dry: also of dry friction that slides,
/// else its bounds stand still (pins.c).
void mabd_redmax_load_columns(const mabd_redmax_solve* s, bool dry);
/// Rate of an axis at the iterate; of a ball, of a component of its rotation vector (pins.c).
mabd_real mabd_redmax_axis_rate(const mabd_redmax_solve* s, int32_t freedom);
/// Force of friction of a freedom at a node under the wrench F of its link: smooth friction, or the
/// bound of dry friction [N] or [N m] (pins.c).
mabd_real mabd_redmax_friction_at(const mabd_redmax_sim* sim, const mabd_redmax_node* node,
                                  int32_t freedom, mabd_spatial F);
