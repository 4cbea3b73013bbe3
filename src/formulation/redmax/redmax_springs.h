// SPDX-License-Identifier: Apache-2.0
// Springs through points of links, and the ground that pushes points (springs.c, ground.c).
#pragma once

#include "formulation/redmax/redmax_motion.h"

/// Add the force of the ground on the points of a link to its external wrench, without derivatives
/// (ground.c).
mabd_spatial mabd_redmax_ground_load(const mabd_redmax_solve* s, int32_t link);
/// Subtract the derivatives of the force of the ground on a link from N (6 x 18) (ground.c).
void mabd_redmax_ground_derivatives(const mabd_redmax_solve* s, int32_t link, mabd_real* N);
/// Energy that the ground stores in the points of a link, at its frame [J] (ground.c).
mabd_real mabd_redmax_ground_energy(const mabd_redmax_sim* sim, int32_t link);

/// Subtract the wrenches of the springs of a part from those of its links, at the frames and
/// velocities of all of them (springs.c).
void mabd_redmax_pull_springs(const mabd_redmax_solve* s);
/// Compute the derivatives of the forces of springs at the motion of the last residual: by the
/// motion of single links into sim->springs.own, and the columns and rows of those that connect
/// links into the border (springs.c).
void mabd_redmax_spring_derivatives(const mabd_redmax_solve* s);
/// Subtract the derivatives of springs by the own motion of a link from N (6 x 18) (springs.c).
void mabd_redmax_subtract_springs(const mabd_redmax_sim* sim, int32_t link, mabd_real* N);
/// Energy of the springs of a part at the frames of its links [J]; scripts at `time` (springs.c).
mabd_real mabd_redmax_spring_energy(const mabd_redmax_sim* sim, const mabd_redmax_part* part,
                                    mabd_real time);
/// Add what the tensions of a spring over points between, by its place in sim->springs.springs,
/// adds to the block of its borders in a matrix with rows of n reals (springs.c).
void mabd_redmax_add_tensions(const mabd_redmax_solve* s, int32_t spring, int32_t n,
                              mabd_real* block);
/// Add the borders of springs between links, which depend on more than two of their points, to the
/// matrix of a border (n x n) (springs.c).
void mabd_redmax_spring_border(const mabd_redmax_solve* s, int32_t n, mabd_real* matrix);
/// Called for a link and a wrench on it.
typedef void mabd_redmax_wrench_fn(void* context, int32_t link, mabd_spatial F);
/// Visit the wrenches on links of the part by one unit of stiffness (component 0), damping (1) or
/// length (2) of a spring of the model, at the motion of the last residual (springs.c).
void mabd_redmax_spring_by(const mabd_redmax_solve* s, int32_t spring, int component,
                           mabd_redmax_wrench_fn* visit, void* context);
/// Visit the wrenches by one unit of stiffness (component 0), damping (1), tangent (2) or friction
/// (3) of the ground (ground.c).
void mabd_redmax_ground_by(const mabd_redmax_solve* s, int component, mabd_redmax_wrench_fn* visit,
                           void* context);
/// Visit the wrenches, minus the derivatives by the pose, of the energy of all springs; and return
/// the derivative of their energy by a component of one spring, -1 = none (springs.c).
mabd_real mabd_redmax_spring_energy_by(const mabd_redmax_sim* sim, int32_t spring, int component);
void mabd_redmax_spring_energy_pull(const mabd_redmax_sim* sim, mabd_redmax_wrench_fn* visit,
                                    void* context);
/// The same of the ground (ground.c).
mabd_real mabd_redmax_ground_energy_by(const mabd_redmax_sim* sim, int component);
void mabd_redmax_ground_energy_pull(const mabd_redmax_sim* sim, mabd_redmax_wrench_fn* visit,
                                    void* context);

/// Add to the changes of the forces of springs between links, y (borders of the part), what their
/// tensions have in common (springs.c).
void mabd_redmax_spread_tensions(const mabd_redmax_solve* s, mabd_real* y);
/// Its transpose: add to the bars of tensions what those of forces have in common (springs.c).
void mabd_redmax_gather_tensions(const mabd_redmax_solve* s, mabd_real* y);

/// Subtract the derivatives of a force from N (6 x 18) that is constant in the world and l in the
/// frame of the link, at its point x: it turns in that frame (forces.c).
void mabd_redmax_subtract_turn(mabd_vec3 x, mabd_vec3 l, mabd_real* N);
/// Subtract the derivatives of a force at a point x of a link from N (6 x 18). K and D: derivatives
/// of the force by position and velocity of the point, all in the link frame; V: twist of the link
/// (forces.c).
void mabd_redmax_subtract_point(mabd_vec3 x, mabd_spatial V, mabd_mat3 K, mabd_mat3 D,
                                mabd_real* N);
