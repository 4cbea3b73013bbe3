// SPDX-License-Identifier: Apache-2.0
// Derivatives of a run in the redmax formulation.
//
// A step is a sequence of residuals r(q, v, a) = 0 of stages, with v = (q - q_b)/gamma and
// a = (v - v_b)/gamma. Going back over a stage with bars on its q, v, a:
//
//   vb' = vb + ab/gamma      H'z = qb + vb'/gamma        one factor, one transposed solve
//   q_b-bar = -vb'/gamma + ((dr/dv)'z + (dr/da)'z/gamma)/gamma
//   v_b-bar = -ab/gamma + (dr/da)'z/gamma                p-bar -= (dr/dp)'z
//
// and forward with changes of q_b, v_b and p:
//
//   H dq = -(dr/dp) p' + (dr/dv) q_b'/gamma + (dr/da)(q_b'/gamma + v_b')/gamma
//
// The state changes by 2 reals per freedom; a ball turns by rho in the link frame, R exp([rho]),
// and its angular velocity in the link frame changes. Everything is O(links) per stage. Nothing of
// the factors is stored: q of each stage is on the tape, v and a follow from it, to the bit.
#pragma once

#include "formulation/redmax/explicit.h"
#include "formulation/redmax/redmax_motion.h"
#include "formulation/redmax/redmax_sim.h"
#include "formulation/redmax/redmax_tree.h"
#include "formulation/redmax/start_pull.h"

/// Changes of a node, or bars.
typedef struct mabd_redmax_tangent {
    mabd_real *q, *v; // (freedoms); of a ball: turn and change of the angular velocity, link frame
} mabd_redmax_tangent;

/// One direction: bars, or changes by one parameter.
typedef struct mabd_redmax_direction {
    mabd_redmax_tangent now, last, fresh; // states k, k - 1, and a new one
    mabd_real *stage_v, *stage_a;         // (freedoms) of the first of two stages; of the end of a
                                          // step that a projection follows: of q and v
    mabd_real* rows;                      // (rows) of the rows in a projection
    mabd_real* stage_theta; // (freedoms) rates of rotation vectors of the first of two stages
    mabd_real* rk_slopes;   // (freedoms x 14) of the slopes of a part of rk45
    mabd_real* force;       // (rows) of the forces of rows at state k: a state of linear-implicit
} mabd_redmax_direction;

/// Starts of the parts of a step by rk45 that are kept at once.
#define MABD_REDMAX_RK45_STARTS 32

/// Changes of what a residual depends on besides the coordinates, or none of them.
typedef struct mabd_redmax_changes {
    mabd_real *q, *v, *a;      // (freedoms)
    mabd_spatial* parent_side; // (links) twist of the link against its parent, link frame
    mabd_spatial* body_side;   // (links) twist of what a link carries against it, link frame
    mabd_spatial* load;        // (links) of its own wrench
    mabd_real* r;              // (freedoms) of the residual itself
    mabd_real* rows;           // (rows) of the rows themselves
    mabd_vec3 fall;            // of the acceleration of the ground
    int32_t moved;             // link whose motion changes besides, -1 = none
    mabd_spatial dV, dA;       // by these
} mabd_redmax_changes;

/// Derivatives of a simulation: the object behind gradient_open.
typedef struct mabd_redmax_gradient {
    mabd_redmax_sim* sim;
    int32_t parameter_count;
    const mabd_parameter* parameters;      // (parameter_count), of the caller
    const mabd_real* values;               // (parameter_count), of the caller
    int32_t* parameter_part;               // (parameters) part that it belongs to, -1 = all
    int32_t* parameter_freedom;            // (parameters) of an axis or a control, -1 = none
    const mabd_redmax_cut** parameter_cut; // (parameters) of a joint that is cut, null = none
    int32_t* sorted;                       // (parameters) by part, those of all parts at the end
    int32_t* sorted_first;                 // (parts + 2) first of a part in `sorted`
    mabd_joint_tree graph;                 // to fill the tree again
    bool keeps_applied, keeps_wrench, keeps_stage; // on the tape
    bool projects;                                 // steps may end by a projection onto loops
    bool asks_balls;                               // parameters are those of axes of balls
    bool moves_cuts;                               // parameters move frames of joints that are cut
    int32_t border_count;                          // of all parts
    int32_t direction_count;                       // 1 for bars, or one per parameter
    int32_t direction_first; // parameter of the first direction; those before 0 have none
    mabd_redmax_direction* directions;
    mabd_real* product; // (parameters)
    mabd_real* start;   // (bodies x 12) bars of the start state of the model

    // workspace
    mabd_real *q, *v, *a, *z;   // (freedoms)
    mabd_real *base_q, *base_v; // (freedoms) of the base of a stage
    mabd_real* target;          // (freedoms) bars of the targets of prescribed freedoms and drives
    mabd_real* last_target;     // (freedoms) bars of those of the step before
    mabd_real* hold;            // (freedoms) bars of what held axes take
    mabd_real *base_theta, *stage_theta; // (freedoms) of histories of rotation vectors
    mabd_axis_branch* branch;            // (laws) at the end of a step that is taken again
    mabd_redmax_changes changes;         // of one direction
    mabd_spatial *xi, *eta;              // (links) changes of poses and velocities, or bars
    mabd_spatial* joint_xi;              // (links) bars of poses of joint frames, by wrenches
    mabd_spatial* wrench;                // (links) bars of the wrenches of a state
    bool has_wrench;                     // some are not zero
    mabd_real* force;                    // (rows) bars of the forces of rows
    mabd_real* mu;                       // (borders) bars of rows and of relative motions
    mabd_spatial* kept_bars;             // (cuts x 2) of their frames; by one sweep
    mabd_real* way; // (CORRECTIONS x freedoms) poses of the projection of a step
    mabd_real *closed_q, *closed_v, *open_v; // (freedoms) its ends and the rates before it
    int32_t* sizes;                          // (2^max_halvings) of a divided step
    // rk45 and linear-implicit: points on a line
    mabd_real *line_q, *line_v, *line_z; // (freedoms)
    mabd_real *line_mu, *line_force;     // (borders), (rows)
    // rk45: starts of parts, bars of slopes (freedoms x 14)
    mabd_redmax_node* rk_nodes; // (MABD_REDMAX_RK45_STARTS)
    mabd_redmax_rk45_place* rk_places;
    mabd_real* rk_bars;
    // the tree at the start: without laws, gravity and forces
    mabd_model still;
    mabd_redmax_link* still_links;
    mabd_redmax_freedom* still_freedoms;
    bool* still_poses;        // (parts) `poses` outside of the start
    int32_t* still_force;     // (bodies + 1) zeros
    mabd_real *poses, *rates; // (bodies x 7), (bodies x 6) of the start state
    mabd_real* placed;        // (bodies x 12)
    void* memory;
    size_t memory_size;
} mabd_redmax_gradient;

/// What a parameter acts on.
typedef enum mabd_redmax_equation {
    MABD_EQUATION_STEP,
    MABD_EQUATION_IMPACT,
    MABD_EQUATION_CLOSING, // inertia and rows alone (tangent_closing.c)
    MABD_EQUATION_POSE,
    MABD_EQUATION_VELOCITY
} mabd_redmax_equation;

// ---- residuals (tangent_motion.c) ----

/// Compute the change of the residual, and of the wrenches if not null (links), after
/// mabd_redmax_residual: rows of prescribed freedoms are left out.
void mabd_redmax_push(const mabd_redmax_solve* s, const mabd_redmax_changes* c, mabd_real* r,
                      mabd_spatial* wrench);
/// Prepare the bars of everything that the residual depends on, for z (freedoms; prescribed ones
/// are not read), and for bars of the wrenches of links (null = none), into sim->x and sim->up. z
/// null = none.
void mabd_redmax_pull_back(const mabd_redmax_solve* s, const mabd_real* z,
                           const mabd_spatial* wrench);
/// Bar of coordinate, rate or acceleration of freedom k of a link, by weights, after
/// mabd_redmax_pull_back.
mabd_real mabd_redmax_bar(const mabd_redmax_sim* sim, int32_t link, int k, mabd_redmax_weights w,
                          const mabd_real* z);
/// mabd_redmax_pull_back of z, and the bars of all rates and accelerations (freedoms).
void mabd_redmax_pull_rates(const mabd_redmax_solve* s, const mabd_real* z, mabd_real* v,
                            mabd_real* a);
/// Bars of mabd_redmax_changes of a link, after mabd_redmax_pull_back.
mabd_spatial mabd_redmax_parent_side_bar(const mabd_redmax_sim* sim, int32_t link);
mabd_spatial mabd_redmax_body_side_bar(const mabd_redmax_sim* sim, int32_t link);
mabd_spatial mabd_redmax_load_bar(const mabd_redmax_sim* sim, int32_t link);
/// Bar of the acceleration of the ground from the links of a part, after mabd_redmax_pull_back.
mabd_vec3 mabd_redmax_fall_bar(const mabd_redmax_sim* sim, const mabd_redmax_part* part);

// ---- rows, relative motions, springs between links (tangent_border.c) ----

/// Subtract the wrenches that variations of links, in sim->x, give to relative motions and springs
/// from the first six of sim->up.
void mabd_redmax_push_motions(const mabd_redmax_solve* s);
/// Add what they give to bars of wrenches, in the first six of sim->x, to the bars of variations in
/// sim->up.
void mabd_redmax_pull_motions(const mabd_redmax_solve* s);
/// Add the bars s->row_bars of the rows to the bars of variations in sim->up.
void mabd_redmax_pull_row_bars(const mabd_redmax_solve* s);
/// Prepare pull-backs at the motion of the last residual, in place of mabd_redmax_derive_forces,
/// which costs more: nothing may be factored or pushed until s->forces_at_once is false again.
void mabd_redmax_derive_bars(mabd_redmax_solve* s);
/// Add the changes of the rows of a part by the variations in sim->x, after mabd_redmax_push of c,
/// to `rows` (rows of the part).
void mabd_redmax_add_row_changes(const mabd_redmax_solve* s, const mabd_redmax_changes* c,
                                 mabd_real* rows);
/// Add sign times the bars of the coordinates, or rates, in rows of couplings to `to` (freedoms).
void mabd_redmax_add_coupling_bars(const mabd_redmax_solve* s, mabd_real sign, mabd_real* to);
/// Add the bars of the forces of the rows to `rows` (rows of the part), after mabd_redmax_pull_back
/// of bars of wrenches.
void mabd_redmax_add_force_bars(const mabd_redmax_solve* s, mabd_real* rows);
/// Move to rates w (freedoms) in place of sim->v and evaluate the rows as rates there.
void mabd_redmax_enter_rows(mabd_redmax_solve* s, const mabd_real* w);
/// Move to rates w (freedoms) in place of sim->v, and prepare the bars of what the rows as rates
/// there depend on, for bars mu of them (rows of the part), as mabd_redmax_pull_back; sets
/// s->by_rate, row_bars and rates_at_once.
void mabd_redmax_pull_rate_rows(mabd_redmax_solve* s, const mabd_real* w, const mabd_real* mu);

// ---- parameters (tangent_parameter.c) ----

/// Forward: add the changes of a residual by one unit of parameter number `index` in step `step` to
/// g->changes.
void mabd_redmax_parameter_changes(mabd_redmax_gradient* g, const mabd_redmax_solve* s,
                                   mabd_redmax_equation equation, int32_t index, int64_t step);
/// Backwards: add sign times the products of the bars with the changes by all parameters to
/// g->product, after mabd_redmax_pull_back with z (null = none).
void mabd_redmax_parameter_products(mabd_redmax_gradient* g, const mabd_redmax_solve* s,
                                    mabd_redmax_equation equation, int64_t step, mabd_real sign,
                                    const mabd_real* z);
/// Called for a link that a parameter moves by a twist, link frame: against its parent, or what it
/// carries against it.
typedef void mabd_redmax_move_fn(void* context, int32_t link, bool parent_side, mabd_spatial twist);
/// Visit the links that one unit of a parameter moves, in the frames in sim->E.
void mabd_redmax_visit_moves(const mabd_redmax_gradient* g, int32_t index,
                             mabd_redmax_move_fn* visit, void* context);
/// True if parameter number `index` sets a control in a step.
bool mabd_redmax_sets_control(const mabd_parameter* p, int64_t step);
/// True if parameter number `index` sets the target of a servo or drive in a step.
bool mabd_redmax_sets_target(const mabd_redmax_gradient* g, int32_t index, int64_t step);

/// Change of a spline by one unit of a control value.
typedef struct mabd_redmax_spline {
    int32_t link;
    mabd_spatial xi;     // twist of the link against its parent, link frame
    mabd_spatial dV, dA; // of its motion besides
    mabd_real r[2];      // of its residual besides
} mabd_redmax_spline;
/// Compute the change by parameter number `index` at the motion of the links; false if it is no
/// control value (tangent_spline.c).
bool mabd_redmax_spline_change(const mabd_redmax_gradient* g, int32_t index,
                               mabd_redmax_spline* out);
/// Bars of the motion of a link, dV and dA, after mabd_redmax_pull_back (tangent_motion.c).
void mabd_redmax_motion_bar(const mabd_redmax_sim* sim, int32_t link, mabd_spatial* dV,
                            mabd_spatial* dA);

// ---- pieces of the entries ----

/// Set all directions and products to zero (tangent_memory.c).
void mabd_redmax_clear_directions(mabd_redmax_gradient* g);
/// Freedom of an axis of a joint; -1 if the tree has none there (tangent_memory.c).
int32_t mabd_redmax_find_axis(const mabd_redmax_sim* sim, int32_t joint, int32_t axis);

/// Go over a step in one direction (tangent_step.c).
mabd_status mabd_redmax_pass_step(mabd_redmax_gradient* g, const mabd_tape_step* step, bool back,
                                  mabd_error* error);
/// Go forward over the step that the simulation would take next if it had no history, with the
/// nearest changes of the state that loops and couplings allow; the result is in sim->next, and the
/// state stays (tangent_step.c).
mabd_status mabd_redmax_pass_fresh_step(mabd_redmax_gradient* g, mabd_error* error);
/// Go back over the projections of the start state: bars of state 0 -> g->start, product
/// (tangent_start.c).
mabd_status mabd_redmax_start_back(mabd_redmax_gradient* g, mabd_error* error);
/// Go forward over them: start (parameters x bodies x 12) -> changes of state 0 (tangent_start.c).
mabd_status mabd_redmax_start_forward(mabd_redmax_gradient* g, const mabd_real* start,
                                      mabd_error* error);
/// Compute the changes g->xi of the poses and g->eta of the velocities of links of a part by those
/// of a state and of frames, after mabd_redmax_place_now (tangent_output.c).
void mabd_redmax_link_changes(const mabd_redmax_gradient* g, const mabd_redmax_part* part,
                              mabd_redmax_tangent t);
/// Let the coordinates of joints where a body is cut follow the changes `now` of all others, in all
/// directions (tangent_welds.c).
void mabd_redmax_follow_welds(mabd_redmax_gradient* g, const mabd_redmax_part* part);
/// Coordinates theta and rates rho of the controls of a ball at a state, and the maps of a turn and
/// of a change of the angular velocity of the link to them.
typedef struct mabd_redmax_ball_axes {
    mabd_vec3 theta, rho;
    mabd_mat3 theta_turn, rho_turn, rho_rate;
} mabd_redmax_ball_axes;
/// Return those of a ball at sim->now (tangent_output.c).
mabd_redmax_ball_axes mabd_redmax_ball_axes_at(const mabd_redmax_sim* sim,
                                               const mabd_redmax_link* link);
/// Add the bars of outputs of state `step` to those of the state in the simulation
/// (tangent_output.c).
void mabd_redmax_add_output(mabd_redmax_gradient* g, const mabd_output_bars* bars, int64_t step);
/// Add the bars (joints x 6) of the forces of servos and rate drives at state `step`, after
/// mabd_redmax_place_now (efforts.c).
void mabd_redmax_add_effort_bars(mabd_redmax_gradient* g, int64_t step, const mabd_real* bars);
/// Write the change of the user's states (bodies x 12) by a parameter (tangent_output.c).
void mabd_redmax_write_output(mabd_redmax_gradient* g, int32_t parameter, mabd_real* state);

// ---- entries of the table ----

/// Create the object behind gradient_open with a number of directions (tangent_memory.c).
mabd_status mabd_redmax_gradient_make(mabd_redmax_sim* sim, const mabd_gradient_setup* setup,
                                      int32_t direction_count, const mabd_allocator* allocator,
                                      mabd_redmax_gradient** out, mabd_error* error);
mabd_status mabd_redmax_gradient_open(void* self, const mabd_gradient_setup* setup,
                                      const mabd_allocator* allocator, void** work,
                                      mabd_error* error);
void mabd_redmax_gradient_close(void* work, const mabd_allocator* allocator);
size_t mabd_redmax_gradient_bytes(const void* work);
mabd_status mabd_redmax_gradient_begin(void* self, void* work, mabd_error* error);
size_t mabd_redmax_tape_size(const void* self, const void* work);
void mabd_redmax_tape_write(const void* self, const void* work, void* record);
bool mabd_redmax_tape_read(void* self, const void* work, const void* record, mabd_real time);
mabd_status mabd_redmax_adjoint_step(void* self, void* work, const mabd_tape_step* step,
                                     const mabd_output_bars* bars, mabd_error* error);
mabd_status mabd_redmax_forward_step(void* self, void* work, const mabd_tape_step* step,
                                     mabd_real* states, mabd_error* error);
mabd_status mabd_redmax_gradient_step(void* self, const mabd_allocator* allocator,
                                      mabd_real* dnext_dstate, mabd_real* dnext_dcontrol,
                                      mabd_error* error);
mabd_real mabd_redmax_parameter_product(const void* work, int32_t parameter,
                                        const mabd_real* start);
