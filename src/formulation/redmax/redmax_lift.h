// SPDX-License-Identifier: Apache-2.0
// Lifted iterates of Newton's method (lift.c).
#pragma once

#include "formulation/redmax/redmax_motion.h"

/// The defect of the pose of a link: of the pose `world`, which its parent and coordinates give it,
/// against its own one (lift.c).
void mabd_redmax_pose_defect(mabd_redmax_sim* sim, int32_t link, const mabd_frame* world);
/// The defect of the velocity of a link, which its parent and rates give as V (lift.c).
void mabd_redmax_rate_defect(mabd_redmax_sim* sim, int32_t link, mabd_spatial V);
/// The defect of the acceleration of a link, after mabd_redmax_rate_defect (lift.c).
void mabd_redmax_acceleration_defect(mabd_redmax_sim* sim, int32_t link, mabd_spatial A);
/// Add the defect of a link to its variation in sim->x (lift.c).
void mabd_redmax_add_defect(const mabd_redmax_sim* sim, int32_t link);

/// Largest entry of sim->step, as an angle; *link names it (newton.c).
mabd_real mabd_redmax_step_size(const mabd_redmax_solve* s, int32_t* link);

/// Merit of an iterate: residuals and rows (newton.c).
mabd_real mabd_redmax_merit(const mabd_redmax_solve* s);

/// Keep what the velocities of links would be after alpha times the last step if they changed by
/// its variations (lift.c).
void mabd_redmax_predict(const mabd_redmax_solve* s, mabd_real alpha);
/// Distance of the velocities from those of mabd_redmax_predict, relative to the change, by masses
/// (lift.c).
mabd_real mabd_redmax_deviation(const mabd_redmax_solve* s, mabd_real alpha);
/// Solve a stage from sim->q and loops.force on by lifted iterates; first: the last step is that of
/// the first one. True if they converge: then the
/// motion is that of the solution, and of its coordinates alone; else nothing is kept (lift.c).
bool mabd_redmax_solve_lifted(const mabd_redmax_solve* s, bool first);
