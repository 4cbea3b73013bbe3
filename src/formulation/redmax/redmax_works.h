// SPDX-License-Identifier: Apache-2.0
// Works of a step for the energy books (works.c).
#pragma once

#include "formulation/redmax/redmax_sim.h"

/// Forget the mean forces of a part: a step begins, or begins again.
void mabd_redmax_clear_means(const mabd_redmax_solve* s);
/// Begin a method of a part: forget the forces of its stages.
void mabd_redmax_begin_stages(const mabd_redmax_solve* s);
/// Add the forces of a stage whose rates advance the step over `share` seconds. both_ends: the mean
/// with those of the last step.
void mabd_redmax_add_stage(const mabd_redmax_solve* s, mabd_real share, bool both_ends);
/// Add the forces of the stages to the means: the method succeeded.
void mabd_redmax_keep_stages(const mabd_redmax_solve* s);
/// Read the springs of all parts at the frames and velocities of their links; scripts at `time`. Of
/// a second reading, after the step, book the works since the first one (springs.c).
void mabd_redmax_book_springs(const mabd_redmax_sim* sim, mabd_real time, bool after,
                              mabd_rigid_works* work);
/// State of the ground at a point p of a body with the velocity u: height, friction and damping;
/// *F gets the whole force on it, world (ground.c).
mabd_redmax_end mabd_redmax_ground_end(const mabd_model_ground* g, mabd_vec3 p, mabd_vec3 u,
                                       mabd_vec3* F);
/// Book what damping and friction of the ground take from a point between two states of it
/// (ground.c).
void mabd_redmax_book_ground_end(const mabd_redmax_end* from, const mabd_redmax_end* to,
                                 mabd_rigid_works* work);
/// The same for the penalty ground (ground.c).
void mabd_redmax_book_ground(const mabd_redmax_sim* sim, bool after, mabd_rigid_works* work);
/// Book the step from sim->last at sim->time to sim->now, before its inputs are kept.
void mabd_redmax_book_step(mabd_redmax_sim* sim);
