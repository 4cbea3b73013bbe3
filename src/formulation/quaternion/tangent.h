// SPDX-License-Identifier: Apache-2.0
// Derivatives of a step of the quaternion formulation.
//
// A step is a sequence of implicit functions: solves of the integrator (tableau.h), the
// accelerations that start trbdf2, and the two projections of the start state. Each is
//
//   F(inputs, y, p) = 0,   outputs = g(inputs, y)
//
// with one matrix K = dF/dy, and each derivative is a linear map that is written once and applied
// in both directions (mabd_pass): forward with tangents, or transposed with *bars*, derivatives of
// the loss by the same quantities,
//
//   forward    F' = F_in in' + F_p p'        y' = -K^-1 F'       out' = g_in in' + g_y y'
//   adjoint    y_bar = g_y' out_bar          F_bar = -K^-T y_bar
//              in_bar += g_in' out_bar + F_in' F_bar              p_bar += F_p' F_bar
//
// [VQ Alg. 1, 2]. K is rebuilt at the pose on the tape; nothing of the factors is stored. Poses
// change by (dc, phi) per body, nodes by 14 reals, T = dnode/d(dc, phi) = diag(I, H'/2).
#pragma once

#include "formulation/quaternion/quaternion_sim.h"
#include "formulation/quaternion/solve.h"
#include "mabd/gradient.h"
#include "rigid/linear_pass.h"
#include "rigid/parameter_change.h"
#include "rigid/user_change.h"

/// The implicit functions of a step.
typedef enum mabd_quaternion_function {
    MABD_FUNCTION_SOLVE,      // a solve of the integrator
    MABD_FUNCTION_ACCELERATE, // accelerations at a node
    MABD_FUNCTION_CLOSE,      // projection of the start pose
    MABD_FUNCTION_PROJECT,    // projection of the start velocities
    MABD_FUNCTION_REDUCE,     // least-norm multipliers: J' multiplier, J y
    MABD_FUNCTION_IMPACT,     // jump of the velocities at the end of a step
} mabd_quaternion_function;

struct mabd_start_holds;

/// An implicit function at its solution: sim->pose holds the pose, sim->past the history of a solve
/// and sim->input the controls.
typedef struct mabd_quaternion_point {
    mabd_quaternion_solve s;
    mabd_quaternion_function function;
    mabd_real scale;                  // of forces in F: bh^2 in a solve, else 1
    const mabd_real* multiplier;      // (rows) in the unit of F
    const mabd_real* y;               // (unknowns of the part) accelerations or changes of velocity
    const mabd_quaternion_node* node; // of accelerations and velocities: their state
    const mabd_real* from;            // (bodies x 7) poses before they are closed
    const mabd_real* contradiction;   // (rows) of accelerations (tangent_redundant.c), null = none
    struct mabd_start_holds* holds;   // held axes of a projection (start_hold.h), null = none
} mabd_quaternion_point;

/// Tangents or bars of one direction. Nodes as in mabd_quaternion_sim.
typedef struct mabd_quaternion_tangent {
    mabd_quaternion_node now, last, slope; // of the state
    mabd_quaternion_node stage, fresh;     // of the step: the first solve, the result
    mabd_quaternion_node past;             // of a solve
} mabd_quaternion_tangent;

/// Derivatives of a simulation: the object behind gradient_open.
typedef struct mabd_quaternion_gradient {
    mabd_quaternion_sim* sim;
    int32_t parameter_count;
    const mabd_parameter* parameters; // (parameter_count), of the caller
    const mabd_real* values;          // (parameter_count), of the caller
    bool has_forces;                  // some parameter is an applied force
    int32_t* parameter_part;          // (parameters) part that it belongs to, -1 = all
    int32_t direction_count;          // 1 for bars, or one per parameter
    mabd_quaternion_tangent* directions;
    mabd_real* lambda;                 // (rows) bars of the multipliers at the state
    mabd_real *F, *dy;                 // (unknowns)
    mabd_real *xi, *eta;               // (bodies x 6) by slot
    mabd_real* solution;               // (unknowns) of an implicit function
    mabd_real* open_pose;              // (bodies x 7) start poses before closing
    mabd_real* placed;                 // (bodies x 12) start state before closing
    mabd_real* start;                  // (bodies x 12) bars of the start state of the model
    mabd_real* product;                // (parameters) products with the derivatives by parameters
    mabd_real *closing, *projecting;   // (rows) multipliers of the projections
    mabd_real *least, *force_bars;     // (rows) least-norm multipliers and their bars
    mabd_quaternion_node slope, begin; // slope of a step; start before projection
    struct mabd_start_holds* holds;    // (2) held coordinates and rates of the start
    mabd_real* contradiction;          // (rows) of accelerations of redundant rows
    mabd_quaternion_node struck;       // before an impact
    mabd_axis_branch* branch;          // (coordinates) of a part of a halved step
    void* memory;
    size_t memory_size;
} mabd_quaternion_gradient;

// ---- linear algebra (tangent_linear.c) ----

/// Factor K of a point. MABD_ERR_SINGULAR: the error names the slot.
mabd_status mabd_tangent_factor(const mabd_quaternion_point* p, mabd_error* error);
/// x = -K^-1 b, or -K^-T b backwards, refined; b and x (unknowns of the part) may be equal.
void mabd_tangent_solve(const mabd_quaternion_point* p, bool back, mabd_real* b, mabd_real* x);

// ---- maps: vectors of unknowns are those of the part ----

/// F += F_past past of a solve (tangent_solve.c).
void mabd_tangent_past(const mabd_quaternion_point* p, bool back, mabd_quaternion_node past,
                       mabd_real* F);
/// node += the derivative of the node at the end of a solve by its unknowns and its past
/// (tangent_solve.c).
void mabd_tangent_node(const mabd_quaternion_point* p, bool back, mabd_quaternion_node node,
                       mabd_real* dy, mabd_quaternion_node past);
/// (xi, eta) += pose changes (dc, phi) and changes of (v, om) of the bodies of a part, of a node
/// whose poses, at unit length, are in sim->pose. Arrays (bodies x 6) (tangent_body.c).
void mabd_tangent_state(const mabd_quaternion_solve* s, bool back, const mabd_quaternion_node* node,
                        mabd_real* xi, mabd_real* eta, mabd_quaternion_node tangent);

/// F += F_in of accelerations by pose and velocity; node: tangents, for the rates of quaternions
/// (tangent_acceleration.c).
void mabd_tangent_acceleration(const mabd_quaternion_point* p, bool back, mabd_real* F,
                               mabd_real* xi, mabd_real* eta, mabd_quaternion_node node);
/// Find what redundant rows of the accelerations in sim->y, sim->rhs and sim->rest contradict each
/// other by (tangent_redundant.c). MABD_ERR_SINGULAR.
mabd_status mabd_tangent_find_contradiction(mabd_quaternion_gradient* g, mabd_quaternion_point* p);
/// F += the derivatives of these contradictions by the pose and by parameter number `parameter`;
/// -1 = backwards, with all parameters into g->product (tangent_redundant.c).
void mabd_tangent_contradict(mabd_quaternion_gradient* g, const mabd_quaternion_point* p,
                             int32_t parameter, int64_t step, mabd_real* F, mabd_real* xi);
/// slope += the derivative of the slope of a node by node and accelerations
/// (tangent_acceleration.c).
void mabd_tangent_slope(const mabd_quaternion_point* p, bool back, mabd_quaternion_node slope,
                        mabd_real* dy, mabd_real* xi, mabd_real* eta, mabd_quaternion_node node);

/// F += F_p p' and out += g_p p' of parameter number `index` in step `step`; out: node at the end
/// of a solve, slope of accelerations, else not read (tangent_parameter.c).
void mabd_tangent_parameter(const mabd_quaternion_gradient* g, const mabd_quaternion_point* p,
                            int32_t index, int64_t step, bool back, mabd_real* F,
                            mabd_quaternion_node out, mabd_real* value);
/// Move of the joint frame on a side (0 = a, 1 = b) by one unit of a parameter, principal frame;
/// false if the parameter does not move it (tangent_parameter.c).
bool mabd_tangent_move(const mabd_quaternion_gradient* g, int32_t index,
                       const mabd_model_joint* joint, int32_t number, int side, mabd_vec3* shift,
                       mabd_vec3* turn);

/// Add derivatives by the joint forces of the state in the simulation, forces (joints x 6), to the
/// bars and to gradient (tangent_force.c).
mabd_status mabd_tangent_forces(mabd_quaternion_gradient* g, const mabd_output_bars* bars,
                                mabd_real* gradient, mabd_error* error);

/// Set a node to zero (tangent_memory.c).
void mabd_tangent_clear(const mabd_quaternion_sim* sim, mabd_quaternion_node node);
/// Set all directions to zero (tangent_memory.c).
void mabd_quaternion_clear_directions(mabd_quaternion_gradient* g);

// ---- steps: the entries of the table pass these on ----

/// Add derivatives by the outputs of the state in the simulation to the bars and to g->product
/// (tangent_output.c).
mabd_status mabd_tangent_add_output(mabd_quaternion_gradient* g, const mabd_output_bars* bars,
                                    mabd_error* error);
/// Write the derivatives of the state in the simulation by a parameter into state (bodies x 12)
/// (tangent_output.c).
void mabd_tangent_write_output(const mabd_quaternion_gradient* g, int32_t parameter,
                               mabd_real* state);
/// Go back over the projection of the start state to g->start (tangent_start.c).
mabd_status mabd_tangent_start_back(mabd_quaternion_gradient* g, mabd_error* error);
/// Set the derivatives of the start by all parameters; start (parameters x bodies x 12) are those
/// of the start state of the model (tangent_start.c).
mabd_status mabd_tangent_start_forward(mabd_quaternion_gradient* g, const mabd_real* start,
                                       mabd_error* error);

// ---- entries of the table ----

mabd_status mabd_quaternion_gradient_open(void* self, const mabd_gradient_setup* setup,
                                          const mabd_allocator* allocator, void** work,
                                          mabd_error* error);
mabd_status mabd_quaternion_gradient_begin(void* self, void* work, mabd_error* error);
void mabd_quaternion_gradient_close(void* work, const mabd_allocator* allocator);
size_t mabd_quaternion_gradient_bytes(const void* work);
size_t mabd_quaternion_tape_size(const void* self, const void* work);
void mabd_quaternion_tape_write(const void* self, const void* work, void* record);
bool mabd_quaternion_tape_read(void* self, const void* work, const void* record, mabd_real time);
mabd_status mabd_quaternion_adjoint_step(void* self, void* work, const mabd_tape_step* step,
                                         const mabd_output_bars* bars, mabd_error* error);
mabd_status mabd_quaternion_forward_step(void* self, void* work, const mabd_tape_step* step,
                                         mabd_real* states, mabd_error* error);
mabd_real mabd_quaternion_parameter_product(const void* work, int32_t parameter,
                                            const mabd_real* start);
