// SPDX-License-Identifier: Apache-2.0
// The table of a formulation: everything that sim/ and the public API know about it. Each
// formulation lives in a folder of its own and fills one table; registry.c lists the tables.
#pragma once

#include "base/memory.h"
#include "base/warnings.h"
#include "mabd/gradient.h"
#include "model/model_data.h"

/// What derivatives of a run are taken by.
typedef struct mabd_gradient_setup {
    int32_t parameter_count;
    const mabd_parameter* parameters; // (parameter_count), checked against the model
    const mabd_real* values;          // (parameter_count), may change between runs
    bool forward;                     // for forward mode, else for adjoints
    bool forces;                      // some bars are by joint forces
} mabd_gradient_setup;

/// A step of a run with the records of its tape. Step 0 is the projection of the start state onto
/// the joints: it leads from the start state of the model to state 0.
typedef struct mabd_tape_step {
    const void *after, *before, *last; // states k, k - 1, k - 2; null if there is none
    int64_t step;                      // k, from 0
    mabd_real time;                    // [s] of state k - 1; 0 in step 0
} mabd_tape_step;

/// Derivatives of the loss by what a user sees of one state.
typedef struct mabd_output_bars {
    const mabd_real* state;  // (bodies x 12) by position, turn in the body frame, velocity, angular
                             // velocity
    const mabd_real* forces; // (joints x 6) by mabd_sim_get_joint_forces, null = none
    const mabd_real* efforts; // (joints x 6) by get_efforts, null = none
    const mabd_real* axes;    // (joints x 6 x 2) by get_axes, null = none
    mabd_real energy;         // by mabd_measure.energy
} mabd_output_bars;

typedef struct mabd_formulation_ops mabd_formulation_ops;

struct mabd_formulation_ops {
    const char* name;          // as in MABD_FORMULATION_LIST
    const char* alias;         // second name that mabd_formulation_find accepts, null = none
    const char* paper_name;    // its name in the literature
    uint32_t state_version;    // of the bytes that save writes
    uint32_t can;              // MABD_CAN_ bits
    uint32_t integrators;      // bit 1 << mabd_integrator for each one it accepts, not auto
    const char* const* stages; // names of its timers, at most MABD_MAX_STAGES, then null
    const char* const* unused; // common and own fields of mabd_sim_def that it does not use, then
                               // null
    const char* mode;          // after its name in messages, null = nothing
    bool exact_start;          // its rows hold to round-off, at the start as well (rigid/start.h)

    /// The table of the mode of the formulation that a def asks for; null: it has one mode.
    const mabd_formulation_ops* (*table_of)(const mabd_sim_def* def);
    /// True if the formulation is built for a backend, whether or not its device is present.
    bool (*has_backend)(mabd_backend backend);
    /// Write the formulation's own fields of a preset into def.
    void (*apply_preset)(mabd_sim_def* def, mabd_preset preset);
    /// Replace choices that are left to the formulation: integrator auto, max_iterations 0.
    void (*resolve)(mabd_sim_def* def);
    /// Refuse a resolved def or a model that the formulation cannot simulate, after the checks of
    /// sim/check.c: MABD_ERR_ARG, MABD_ERR_UNAVAILABLE; the text names the thing.
    mabd_status (*check)(const mabd_model* model, const mabd_sim_def* def, mabd_error* error);
    /// Fill the formulation's part of a plan: bytes from STATE on, bytes_per_contact, lines,
    /// solvers. The rest is zero or filled before. May leave its analysis in the model for create
    /// (model/model_analysis.h). MABD_ERR_MEMORY.
    mabd_status (*plan)(const mabd_model* model, const mabd_sim_def* def, mabd_sim_plan* plan,
                        mabd_error* error);

    /// Take all memory and set the start state. def is resolved and checked. start (bodies): a
    /// state that the joints allow (rigid/start.h); it outlives the simulation.
    mabd_status (*create)(const mabd_model* model, const mabd_sim_def* def,
                          const mabd_allocator* allocator, const mabd_model_start* start,
                          void** self, mabd_error* error);
    void (*destroy)(void* self, const mabd_allocator* allocator);
    /// Return to the start state.
    void (*reset)(void* self);
    /// Advance from `time` by def.h. On failure the state is that before the step. info may be
    /// null.
    mabd_status (*step)(void* self, mabd_real time, mabd_step_info* info, mabd_error* error);

    /// The getters are those of mabd/sim.h and mabd/batch.h with the same arrays.
    mabd_measure (*measure)(const void* self);
    /// Energy by cause since the start of the run; NaN where causes are not told apart.
    mabd_energy_balance (*get_energy_balance)(const void* self);
    void (*get_state)(const void* self, mabd_real* positions, mabd_real* quaternions,
                      mabd_real* velocities, mabd_real* angular);
    /// Set the state of dynamic bodies at `time`: `state` (bodies) is one that the joints allow.
    /// `moved`: false if poses are those of the current state; only velocities change then.
    /// History restarts. A failure leaves the state as it was, unless a device has failed.
    mabd_status (*set_state)(void* self, mabd_real time, const mabd_model_start* state, bool moved,
                             mabd_error* error);
    /// Add forces and torques (n x 3, either null) on dynamic bodies for the next step; indices and
    /// values are checked before.
    void (*apply_force)(void* self, int32_t n, const int32_t* bodies, const mabd_real* forces,
                        const mabd_real* torques);
    /// Take the target of a control (copy * controls + control, -1 = none) and the force on a body
    /// (-1 = none) as jumping at the start of the next step, whatever their values are: a run then
    /// depends smoothly on inputs that are equal by chance. Null: inputs have no history.
    void (*restart_input)(void* self, int32_t control, int32_t body);
    /// The list of warnings, from creation on.
    mabd_warnings* (*warnings)(void* self);
    void (*get_joint_forces)(const void* self, mabd_real* forces);
    /// Write the forces of servos and rate drives on the axes of joints (joints x 6) at the state
    /// [N], [N m], 0 where there is none; motors are not in them. Null: they are not known.
    void (*get_efforts)(const void* self, mabd_real* efforts);
    /// Write coordinates and rates (joints x 6 x 2) of joints with pieces, by their numbers; NaN
    /// where a joint has none of that number which is a length or an angle. Null: no such joints.
    void (*get_axes)(const void* self, mabd_real* axes);
    void (*get_joint_coordinates)(const void* self, int32_t joint, mabd_real* coordinates);
    /// Find the rank of the rows at the state. Null: the formulation has none.
    mabd_status (*get_rank)(void* self, mabd_rank_info* rank, mabd_error* error);
    int32_t (*get_contacts)(const void* self, int32_t capacity, mabd_contact_info* contacts);
    mabd_status (*overlap)(const void* self, mabd_real* depth, int32_t* a, int32_t* b);
    /// Set the targets of copies first .. first + count - 1. which (controls): null = all. values
    /// (count x controls): null = return to the signals of the scene.
    void (*set_targets)(void* self, int32_t first, int32_t count, const bool* which,
                        const mabd_real* values);
    void (*get_controls)(const void* self, mabd_real* coordinates, mabd_real* rates);
    /// True if a program has set the target of a control of a copy; *target gets it. Null: targets
    /// cannot be set.
    bool (*get_target)(const void* self, int32_t copy, int32_t control, mabd_real* target);

    /// The formulation's own block of a saved state.
    size_t (*state_size)(const void* self);
    void (*save)(const void* self, void* buffer);
    /// `time` [s] is that of the saved state. MABD_ERR_INPUT if `size` bytes are no state of this
    /// model, MABD_ERR_MEMORY; then nothing has changed.
    mabd_status (*restore)(void* self, const void* buffer, size_t size, mabd_real time);

    size_t (*device_bytes)(const void* self);
    /// Write the bytes that the formulation holds, by use, from STATE on, into bytes
    /// (MABD_MEMORY_COUNT).
    void (*memory)(const void* self, size_t* bytes);
    /// Write the seconds of each stage into seconds (MABD_MAX_STAGES); unused entries stay 0.
    void (*get_times)(const void* self, double* seconds);

    /// Derivatives of a run (mabd/gradient.h); all null = MABD_ERR_UNAVAILABLE. `work` holds those
    /// of one simulation: its memory between open and close. open refuses what has no derivative
    /// here: MABD_ERR_UNAVAILABLE, the text names it.
    mabd_status (*gradient_open)(void* self, const mabd_gradient_setup* setup,
                                 const mabd_allocator* allocator, void** work, mabd_error* error);
    void (*gradient_close)(void* work, const mabd_allocator* allocator);
    size_t (*gradient_bytes)(const void* work);
    /// Return to the start state of the model, whose numbers have changed since create, closed and
    /// projected on its joints, and set all derivatives to zero. MABD_ERR_INPUT names the joint
    /// that cannot be closed.
    mabd_status (*gradient_begin)(void* self, void* work, mabd_error* error);
    /// Bytes of the record of one state, the same for all.
    size_t (*tape_size)(const void* self, const void* work);
    /// Write the record of the state: at the start, and after each step.
    void (*tape_write)(const void* self, const void* work, void* record);
    /// Put the state of a record, at `time` [s], into the simulation, for its getters: losses read
    /// it there. True if the step to it was not smooth: halved, or a law changed its piece.
    bool (*tape_read)(void* self, const void* work, const void* record, mabd_real time);
    /// Add the derivatives by the outputs of state k, which tape_read has put into the simulation
    /// (bars null = none), then go back over step k. Called for k = steps .. 0. The products with
    /// the derivatives by parameters are summed up for parameter_product.
    mabd_status (*adjoint_step)(void* self, void* work, const mabd_tape_step* step,
                                const mabd_output_bars* bars, mabd_error* error);
    /// Go forward over step k with the derivatives by all parameters; k = 0 .. steps. states
    /// (parameters x bodies x 12), as in mabd_output_bars: in step 0 it has the derivatives of the
    /// start state of the model; it gets those of state k, null = not wanted. The simulation is in
    /// state k.
    mabd_status (*forward_step)(void* self, void* work, const mabd_tape_step* step,
                                mabd_real* states, mabd_error* error);
    /// After adjoint_step 0: the derivative of the loss by a parameter that changes the start state
    /// of the model by start (bodies x 12), null = not at all.
    mabd_real (*parameter_product)(const void* work, int32_t parameter, const mabd_real* start);
    /// Derivatives of the next joint state by the joint state and the controls, as
    /// mabd_gradient_step; its state stays. Null: the formulation has no joint states.
    mabd_status (*gradient_step)(void* self, const mabd_allocator* allocator,
                                 mabd_real* dnext_dstate, mabd_real* dnext_dcontrol,
                                 mabd_error* error);
};

/// The table of a formulation; null if it is not built or no formulation at all.
const mabd_formulation_ops* mabd_formulation_ops_of(mabd_formulation formulation);
