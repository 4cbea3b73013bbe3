// SPDX-License-Identifier: Apache-2.0
// Loops of a part: rows of cut joints (loops.c), the bordered Newton system (border.c), and the
// projection onto closed loops (closing.c). Parts without cut joints need none of these calls.
#pragma once

#include "formulation/redmax/redmax_motion.h"

/// Index of the rows of a part in the borders of the simulation.
MABD_FN mabd_redmax_border* mabd_redmax_borders(const mabd_redmax_solve* s) {
    return s->sim->loops.borders + s->part->border_first;
}

/// Corrections of a pose by mabd_redmax_close_loops, at most; convergence is quadratic, from errors
/// of the step.
#define MABD_REDMAX_CORRECTIONS 24

/// Borders of a part in a solve: projections have none of springs.
MABD_FN int32_t mabd_redmax_border_size(const mabd_redmax_solve* s) {
    return s->still ? s->part->row_count + s->part->motion_count : s->part->border_count;
}

/// True if a border of a part is one of a solve: it is not left out, and not one of springs in a
/// projection; with the mass matrix rows alone are.
MABD_FN bool mabd_redmax_is_active(const mabd_redmax_solve* s, bool mass, int32_t border) {
    const int32_t rows = s->part->row_count;
    const bool all = mass && !s->ranks;
    if (border < rows) return all || !s->sim->loops.left_out[s->part->row_first + border];
    return !mass && border < mabd_redmax_border_size(s);
}

/// The cut of a joint, null = the joint is in the tree (loops.c).
const mabd_redmax_cut* mabd_redmax_find_cut(const mabd_redmax_sim* sim, int32_t joint);
/// Change the place of a cut joint on its body a (side 0) or b (side 1) by the twist f of its frame
/// against the body, in the frame of the link, or on the ground in the principal frame of the body,
/// at the motion of the last residual: changes of the rows (cut->row_count), and of the wrenches of
/// loops.force on both links (loops.c).
void mabd_redmax_move_cut(const mabd_redmax_solve* s, const mabd_redmax_cut* cut, int side,
                          mabd_spatial f, mabd_real* rows, mabd_spatial on[2]);
/// The bars of the twists f of mabd_redmax_move_cut on both sides by bars of the rows
/// (cut->row_count) and of the wrenches on both links; null = none (loops.c).
void mabd_redmax_cut_bars(const mabd_redmax_solve* s, const mabd_redmax_cut* cut,
                          const mabd_real* rows, const mabd_spatial* on, mabd_spatial bar[2]);
/// Add to sim->up the bars of variations of links by cut joints: with s->rates_at_once by rows that
/// are rates, of bars s->row_bars, and with s->forces_at_once and `loaded` by the forces of rows,
/// of bars of wrenches in the first six of sim->x, for which mabd_redmax_border_derivatives is not
/// needed. s->kept_bars (cuts x 2), if not null, gets what mabd_redmax_cut_bars gives (loops.c).
void mabd_redmax_pull_cuts(const mabd_redmax_solve* s, bool loaded);
/// Compute the rows of the cut joints of a part at the poses and velocities of its links: their
/// values (gap) and columns. Rows are rates if s->by_rate (loops.c).
void mabd_redmax_rows(const mabd_redmax_solve* s);
/// mabd_redmax_rows, and subtract the wrenches of the rows from those of the links (loops.c).
void mabd_redmax_pull_rows(const mabd_redmax_solve* s);
/// Complete the border at the motion of the last residual: derivatives of rows that are rates, and
/// of the forces of all rows by the motion of the bodies (loops.c).
void mabd_redmax_border_derivatives(const mabd_redmax_solve* s);
/// Its part that rows have which are rates: their derivatives (loops.c).
void mabd_redmax_row_rates(const mabd_redmax_solve* s);
/// Subtract the derivatives of the rows on a link by its own motion from N (6 x 18), after
/// mabd_redmax_border_derivatives (loops.c).
void mabd_redmax_subtract_own(const mabd_redmax_sim* sim, int32_t link, mabd_real* N);
/// Accelerations of the rows of a part at sim->v and a = 0, at the motion of the last residual
/// (loops.c). out: rows of the part.
void mabd_redmax_row_accelerations(const mabd_redmax_solve* s, mabd_real* out);
/// Largest magnitude of the values of the rows of a part; *joint names it (loops.c).
mabd_real mabd_redmax_largest_gap(const mabd_redmax_solve* s, int32_t* joint);

/// Sum of ratio x over the freedoms of a coupling (couplings.c).
mabd_real mabd_redmax_coupled(const mabd_redmax_sim* sim, const mabd_model_coupling* coupling,
                              const mabd_real* x);
/// The same without the freedoms that are held (couplings.c).
mabd_real mabd_redmax_coupled_free(const mabd_redmax_sim* sim, const mabd_model_coupling* coupling,
                                   const mabd_real* x);
/// b += ratio force of the freedoms of a coupling; rows: but for those that are held (couplings.c).
void mabd_redmax_pull_coupling(const mabd_redmax_sim* sim, const mabd_model_coupling* coupling,
                               mabd_real force, bool rows, mabd_real* b);
/// Compute the rows of the couplings of a part, as mabd_redmax_rows (couplings.c).
void mabd_redmax_coupling_rows(const mabd_redmax_solve* s);
/// Subtract the forces of couplings from the residual (couplings.c).
void mabd_redmax_pull_couplings(const mabd_redmax_solve* s);
/// Largest magnitude of the rows of couplings; *joint gets a joint of it (couplings.c).
mabd_real mabd_redmax_coupling_gap(const mabd_redmax_solve* s, int32_t* joint);
/// Check that couplings hold in `now` (couplings.c). MABD_ERR_INPUT names one that does not.
mabd_status mabd_redmax_check_couplings(const mabd_redmax_sim* sim, mabd_error* error);
/// Move `now` of parts with couplings or welds onto their rows in the mass metric, coordinates and
/// rates (couplings.c).
void mabd_redmax_close_couplings(mabd_redmax_sim* sim, mabd_real time);

/// Build and factor the border over the factored H of a stage (border.c). MABD_ERR_SINGULAR.
mabd_status mabd_redmax_border_factor(const mabd_redmax_solve* s);
/// Set the weights of the rows in the merit, of the last factor (border.c).
void mabd_redmax_set_row_weights(const mabd_redmax_solve* s);
/// Solve for the step of q into sim->step, with -r in it, and for that of the forces of the rows
/// (border.c).
void mabd_redmax_border_solve(const mabd_redmax_solve* s);
/// Solve M x = b + G'y with G x = c: b (freedoms) in, x out; c (rows of the part) in, y out. Needs
/// the factor of the mass matrix and mabd_redmax_mass_border (border.c).
void mabd_redmax_mass_solve(const mabd_redmax_solve* s, mabd_real* x, mabd_real* c);
/// Subtract the forces U y of the last bordered solve, of a stage or of the mass matrix, from
/// `forces` (freedoms) (border.c).
void mabd_redmax_subtract_border(const mabd_redmax_solve* s, bool mass, mabd_real* forces);
/// Compute G M^-1 G' (rows x rows, row-major) over the factored mass matrix, in the memory of the
/// border (border.c).
mabd_real* mabd_redmax_mass_matrix(const mabd_redmax_solve* s);
/// Find the rows that follow from others at s->from_node, which stages by rates leave out, and
/// clear their forces; the iterate is lost (redundancy.c).
void mabd_redmax_leave_out_rows(const mabd_redmax_solve* s);
/// Diagonal entry of G M^-1 G' below which a row has no effect; 0 of couplings (redundancy.c).
mabd_real mabd_redmax_least_effect(const mabd_redmax_solve* s, int32_t r);
/// Let the stage hold all rows again; false if none was left out (redundancy.c).
bool mabd_redmax_take_rows_back(const mabd_redmax_solve* s);
/// mabd_redmax_mass_solve of a stage: c (borders) in, y out (border.c).
void mabd_redmax_stage_solve(const mabd_redmax_solve* s, mabd_real* x, mabd_real* c);
/// Solve H'z + L'mu = z, -U'z + e'mu = bars of a factored stage: z (freedoms) in and out; bars
/// (rows of the part): of their forces, null = 0; mu (borders of the part) out. False if bars ask
/// for forces that redundant rows share (border.c).
bool mabd_redmax_stage_solve_transposed(const mabd_redmax_solve* s, mabd_real* z,
                                        const mabd_real* bars, mabd_real* mu);
/// The same of the mass matrix: M'z + G'mu = z, -U'z = bars; mu (rows of the part) (border.c).
bool mabd_redmax_mass_solve_transposed(const mabd_redmax_solve* s, mabd_real* z,
                                       const mabd_real* bars, mabd_real* mu);
/// Row of a border, of a stage or of the mass matrix, at the variations of links in sim->x and the
/// step dq (border.c).
mabd_real mabd_redmax_row_change(const mabd_redmax_solve* s, bool mass,
                                 const mabd_redmax_border* border, const mabd_real* dq);
/// Row of a border that is no coupling at the variations of links in sim->x (border.c).
mabd_real mabd_redmax_read_row(const mabd_redmax_sim* sim, const mabd_redmax_border* border);
/// U'w of a border that is no coupling, with twists w in the first six of sim->x (border.c).
mabd_real mabd_redmax_read_column(const mabd_redmax_sim* sim, const mabd_redmax_border* border);
/// Add s times a bar to the six reals of sim->up from `at` on of a link, -1 = none (border.c).
void mabd_redmax_add_bar(const mabd_redmax_sim* sim, int32_t link, int at, mabd_real s,
                         mabd_spatial bar);
/// Add s times the row of a border that is no coupling to the bars of variations in sim->up
/// (border.c).
void mabd_redmax_push_row(const mabd_redmax_sim* sim, const mabd_redmax_border* border,
                          mabd_real s);
/// Factor G M^-1 G' over the factored mass matrix (border.c). MABD_ERR_SINGULAR.
mabd_status mabd_redmax_mass_border(const mabd_redmax_solve* s);

/// Close rows that a stage which holds poses has left open, in the mass metric; rates stay
/// (closing.c). Errors are those of mabd_redmax_close_loops.
mabd_status mabd_redmax_close_poses(const mabd_redmax_solve* s);
/// Compute the correction of the pose of the iterate, or of its rates if s->by_rate: it goes to
/// sim->step, its forces to loops.step, and the mass matrix and its border are factored
/// (closing.c).
mabd_status mabd_redmax_find_correction(const mabd_redmax_solve* s);
/// Move the iterate to closed loops in the mass metric, first its coordinates, then its rates
/// (closing.c). MABD_ERR_SINGULAR, MABD_ERR_DIVERGED: the report names the joint.
mabd_status mabd_redmax_close_loops(const mabd_redmax_solve* s);
