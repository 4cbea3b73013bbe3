// SPDX-License-Identifier: Apache-2.0
// Derivatives of the step of one part, in both directions: what the methods share. The mathematics
// is in redmax_tangent.h, tangent_stage.c and tangent_explicit.c.
#pragma once

#include "formulation/redmax/lean.h"
#include "formulation/redmax/redmax_tape.h"

#include <string.h>

/// One step of one part, for derivatives.
typedef struct mabd_redmax_pass {
    mabd_redmax_gradient* g;
    mabd_redmax_part* part;
    mabd_redmax_record after, before;
    const mabd_tape_step* step;
    mabd_redmax_report report;
    mabd_redmax_solve s;
    const mabd_real *stage_q, *end_q;                  // (freedoms) solutions of the stages
    const mabd_real *stage_force, *end_force;          // (rows) forces of the rows in them
    const mabd_axis_branch *stage_branch, *end_branch; // (laws) their branches
    bool impact;                                       // the step ends with impulses
    bool on_tape;                                      // the tape has its stages and its end
    bool back;
    mabd_error* error;
} mabd_redmax_pass;

/// First freedom of the part.
MABD_FN size_t mabd_redmax_pass_first(const mabd_redmax_pass* r) {
    return (size_t)r->part->freedom_first;
}
/// Bytes of a vector of the freedoms of the part.
MABD_FN size_t mabd_redmax_pass_bytes(const mabd_redmax_pass* r) {
    return (size_t)r->part->freedom_count * sizeof(mabd_real);
}
/// Freedom behind the last one of the part.
MABD_FN int32_t mabd_redmax_pass_end_freedom(const mabd_redmax_pass* r) {
    return r->part->freedom_first + r->part->freedom_count;
}
/// Link behind the last one of the part.
MABD_FN int32_t mabd_redmax_pass_end_link(const mabd_redmax_pass* r) {
    return r->part->link_first + r->part->link_count;
}
/// True if each freedom of the part is a turn or slide that forces alone move (lean.h): its changes
/// in a state are those in a stage, and no row of it is held.
MABD_FN bool mabd_redmax_pass_is_plain(const mabd_redmax_pass* r) {
    return r->part->structure.plain;
}
/// True if the stage of a backward step takes the sweeps of lean.h: nothing asks for the chart of
/// a ball at the iterate but its rotation, nor for wrenches.
MABD_FN bool mabd_redmax_pass_sweeps(const mabd_redmax_pass* r) {
    return r->back && !r->g->has_wrench && !r->g->asks_balls && mabd_redmax_may_sweep(&r->s);
}
/// Set the share of the part in a vector of freedoms to zero.
MABD_FN void mabd_redmax_pass_clear(const mabd_redmax_pass* r, mabd_real* x) {
    memset(x + mabd_redmax_pass_first(r), 0, mabd_redmax_pass_bytes(r));
}
/// Copy the share of the part in a vector of freedoms.
MABD_FN void mabd_redmax_pass_copy(const mabd_redmax_pass* r, mabd_real* to,
                                   const mabd_real* from) {
    memcpy(to + mabd_redmax_pass_first(r), from + mabd_redmax_pass_first(r),
           mabd_redmax_pass_bytes(r));
}
/// Set the changes of a node to zero.
MABD_FN void mabd_redmax_pass_clear_node(const mabd_redmax_pass* r, mabd_redmax_tangent t) {
    mabd_redmax_pass_clear(r, t.q), mabd_redmax_pass_clear(r, t.v);
}
/// Copy the changes of a node.
MABD_FN void mabd_redmax_pass_copy_node(const mabd_redmax_pass* r, mabd_redmax_tangent to,
                                        mabd_redmax_tangent from) {
    mabd_redmax_pass_copy(r, to.q, from.q), mabd_redmax_pass_copy(r, to.v, from.v);
}

// ---- charts (tangent_charts.c) -----------------------------------------------------------------

/// Of a ball at (q, v) in its chart in a step: J, J^-1, dJ.v and the rotation of the chart.
typedef struct mabd_redmax_ball_maps {
    mabd_mat3 J, inverse, K, Q;
} mabd_redmax_ball_maps;
/// Return the maps of a ball at q and v (3 each).
mabd_redmax_ball_maps mabd_redmax_ball_maps_at(const mabd_redmax_pass* r,
                                               const mabd_redmax_link* link, const mabd_real* q,
                                               const mabd_real* v);
/// True if a link is a ball whose chart is centred at the start of the step, so that q = 0 there.
bool mabd_redmax_pass_is_centered(const mabd_redmax_pass* r, const mabd_redmax_link* link);
/// Compute the derivatives of the laws of charted balls at the last residual; others are those of
/// the last factor, which the chart at q = 0 does not need.
void mabd_redmax_pass_chart_laws(const mabd_redmax_pass* r);
/// Return the turn of a ball at the start of a step, or at the node before it, by the changes that
/// stand for it in a step: 1, or by those of coordinates in a chart that stays.
mabd_mat3 mabd_redmax_pass_turn_by_chart(const mabd_redmax_pass* r, const mabd_redmax_link* link,
                                         const mabd_redmax_node* node);
/// Turn changes or bars of the start of a step, and of the state before it (null = none), into
/// those of coordinates in charts that stay, or back.
void mabd_redmax_pass_charts(mabd_redmax_pass* r, bool into, mabd_redmax_tangent start,
                             const mabd_redmax_tangent* last);

// ---- a residual (tangent_stage.c) --------------------------------------------------------------

/// Fail: the step has no derivatives.
mabd_status mabd_redmax_pass_fail(const mabd_redmax_pass* r, mabd_status status);
/// Fail: bars are of forces that redundant rows share.
mabd_status mabd_redmax_pass_fail_shared(const mabd_redmax_pass* r);
/// Between the end (q, v) of a step in its chart, with changes g->q and g->v, and the state after
/// it; `start`: the state at which the charts are centred.
void mabd_redmax_pass_end(const mabd_redmax_pass* r, const mabd_real* q, const mabd_real* v,
                          mabd_redmax_tangent end, mabd_redmax_tangent start);
/// Between the base of a stage, g->base_q, base_v and base_theta, and s times a state (freedoms).
void mabd_redmax_pass_base(const mabd_redmax_pass* r, mabd_real s, mabd_redmax_tangent start);
/// y += s times the change of the value, or of the rate, of a prescribed freedom at the time of the
/// solve; x: change of its target. `begin`: the state before the step.
void mabd_redmax_pass_prescribed(const mabd_redmax_pass* r, int32_t k, bool rate, mabd_real s,
                                 mabd_real* y, mabd_redmax_tangent begin, mabd_real* x);
/// Backwards: add sign times the bars of turns of the centres of charts in a residual to `center`;
/// z null: of the wrenches.
void mabd_redmax_pass_centers_back(const mabd_redmax_pass* r, mabd_real sign, const mabd_real* z,
                                   mabd_real* center);
/// Forward: add what turns of the centres of charts change to g->changes.
void mabd_redmax_pass_centers_forward(const mabd_redmax_pass* r, const mabd_real* center);
/// Backwards, after mabd_redmax_pull_back with z (null = none): subtract the bars of a residual
/// from those of coordinates, rates (null = not), centres of charts and parameters.
void mabd_redmax_pass_collect(mabd_redmax_pass* r, mabd_redmax_equation equation,
                              const mabd_real* z, mabd_real* q, mabd_real* v, mabd_real* center);
/// Let the bounds of pins vary with the wrenches of the last residual in the solves of the pass.
void mabd_redmax_pass_loads(mabd_redmax_pass* r);
/// Set the changes of the part in g->changes to zero.
void mabd_redmax_pass_clear_changes(const mabd_redmax_pass* r);
/// Backwards: move the bars of the wrenches of joints to g->q, v, a, `center` and the parameters.
void mabd_redmax_pass_wrenches_back(mabd_redmax_pass* r, mabd_real* center);
/// Forward: set the target that the parameter of direction i changes; back to zero with value 0.
void mabd_redmax_pass_set_target(const mabd_redmax_pass* r, int32_t i, mabd_real value);
/// Forward: add the changes of the residual by the parameter of direction i to g->changes.
void mabd_redmax_pass_parameter(const mabd_redmax_pass* r, int32_t i);

// ---- a tree that stands still (tangent_still.c) ------------------------------------------------

/// What a simulation and a pass are outside of a tree that stands still.
typedef struct mabd_redmax_moving {
    mabd_redmax_solve s;
    const mabd_model* model;
    mabd_redmax_freedom* freedoms;
    int32_t* body_force;
    bool has_applied;
} mabd_redmax_moving;

/// Leave nothing of a part but inertia, rows and held axes: no gravity, forces, laws and springs.
mabd_redmax_moving mabd_redmax_still_enter(mabd_redmax_pass* r);
/// Undo mabd_redmax_still_enter.
void mabd_redmax_still_leave(mabd_redmax_pass* r, const mabd_redmax_moving* moving);
/// Compute the residual of a tree that stands still, at the accelerations in sim->a and the forces
/// of the rows, the forces on held components of rotation vectors there, and the derivatives of the
/// forces of rows and balls.
void mabd_redmax_still_residual(mabd_redmax_pass* r);

// ---- the projection at the end of a step (tangent_closing.c) -----------------------------------

/// Go back over the projection onto loops that has ended a step: bars of `end` -> g->q and g->v of
/// the iterate in sim->q and sim->v, which changes, and of `start`, at which charts are centred.
mabd_status mabd_redmax_closing_back(mabd_redmax_pass* r, mabd_integrator method,
                                     mabd_redmax_tangent end, mabd_redmax_tangent start);
/// Go forward over it in all directions: changes of the iterate in stage_v (q) and stage_a (v) ->
/// fresh.
mabd_status mabd_redmax_closing_forward(mabd_redmax_pass* r, mabd_integrator method,
                                        mabd_redmax_direction* from);

/// Project the changes `now` of a closed state, in all directions, onto those that the rows allow,
/// in the mass metric: coordinates, then rates.
mabd_status mabd_redmax_close_changes(mabd_redmax_pass* r);

// ---- methods -----------------------------------------------------------------------------------

/// Go back over a step by an implicit method: bars of `end` -> those of `start`, of `last` if the
/// method has a history, and of `begin`, the state before all parts of the step (tangent_stage.c).
mabd_status mabd_redmax_implicit_back(mabd_redmax_pass* r, mabd_integrator method,
                                      mabd_redmax_tangent end, mabd_redmax_tangent start,
                                      mabd_redmax_tangent last, mabd_redmax_tangent begin);
/// Go forward over it in all directions: now, last -> fresh. halves: `last` is the state before all
/// parts of the step (tangent_stage.c).
mabd_status mabd_redmax_implicit_forward(mabd_redmax_pass* r, mabd_integrator method,
                                         mabd_redmax_direction* from, bool halves);
/// The same of semi-implicit (tangent_explicit.c).
mabd_status mabd_redmax_explicit_back(mabd_redmax_pass* r, mabd_redmax_tangent end,
                                      mabd_redmax_tangent start, mabd_redmax_tangent begin);
mabd_status mabd_redmax_explicit_forward(mabd_redmax_pass* r, mabd_redmax_direction* from,
                                         bool halves);
/// The same of linear-implicit; bars of the forces of rows are in g->force (tangent_linear.c).
mabd_status mabd_redmax_linear_back(mabd_redmax_pass* r, mabd_redmax_tangent end,
                                    mabd_redmax_tangent start, mabd_redmax_tangent begin);
mabd_status mabd_redmax_linear_forward(mabd_redmax_pass* r, bool halves);
/// Solve for g->z from the bars g->a of accelerations, at the factored mass matrix, and for the
/// g->mu of rows; bars of their forces, in g->force, are used up (tangent_explicit.c).
mabd_status mabd_redmax_pass_accelerations_back(mabd_redmax_pass* r);
/// Go back over a whole step by rk45: bars of `end`, which are used up, to those of `begin`
/// (tangent_rk45.c).
mabd_status mabd_redmax_rk45_back(mabd_redmax_pass* r, mabd_redmax_tangent end,
                                  mabd_redmax_tangent begin);
/// Go forward over it in all directions: `now` becomes the state after it (tangent_rk45.c).
mabd_status mabd_redmax_rk45_forward(mabd_redmax_pass* r);
