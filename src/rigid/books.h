// SPDX-License-Identifier: Apache-2.0
// Energy books of rigid bodies: energy by cause since the start (books.c).
#pragma once

#include "rigid/axis_row.h"
#include "rigid/inputs.h"
#include "rigid/measure.h"

/// Works since the start [J]: done by drives, scripts and forces, taken by the others.
typedef struct mabd_rigid_works {
    mabd_real drives, scripts, forces, dampers, friction, drag, impacts;
} mabd_rigid_works;

typedef struct mabd_rigid_books {
    mabd_real start[3]; // kinetic, gravity and spring energy at the start [J]
    mabd_rigid_works work;
} mabd_rigid_books;

/// Open the books at a start state.
void mabd_rigid_books_open(mabd_rigid_books* books, const mabd_measure* start);
/// A state was set from outside: its energies are no change.
void mabd_rigid_books_carry(mabd_rigid_books* books, const mabd_measure* before,
                            const mabd_measure* after);
/// What a formulation books besides forces on axes and bodies, as bits.
typedef enum mabd_rigid_booked {
    MABD_BOOKED_STOPS = 1,    // impacts at stops of axes
    MABD_BOOKED_CONTACTS = 2, // impacts and friction of contacts
} mabd_rigid_booked;

/// Return the energy balance; `booked` are bits of mabd_rigid_booked. What is not booked and the
/// model has lies in the integrator: impacts are NaN then, and friction too if bodies touch.
mabd_energy_balance mabd_rigid_books_balance(const mabd_rigid_books* books, const mabd_model* model,
                                             const mabd_measure* now, unsigned booked);

/// Return the state of a body before or after the step; body_count is the world.
typedef mabd_rigid_state mabd_rigid_state_reader(const void* self, int32_t body, bool after);

/// A step that succeeded, before its inputs are kept.
typedef struct mabd_rigid_step {
    const mabd_model* model;
    const mabd_rigid_inputs* inputs;
    mabd_real time, h; // of its start [s]
    mabd_rigid_state_reader* state;
    const void* self; // for `state`
} mabd_rigid_step;

/// A joint in a step.
typedef struct mabd_rigid_joint_step {
    int32_t joint;
    mabd_real x[2][2 * MABD_JOINT_MAX_ROWS]; // (controls x 2) coordinates and rates before, after
    /// Work of all that acts on each control, but motors and stops, on its coordinate [J]; needed
    /// if the joint has a held drive (mabd_rigid_has_held).
    mabd_real through[MABD_JOINT_MAX_ROWS];
    /// Work that friction takes from each control [J]; null: constant dry friction.
    const mabd_real* friction;
    bool turns_in;                    // `through` includes dampers and armature of rotation vectors
    int8_t stop[MABD_JOINT_MAX_ROWS]; // stop that a control is at after the step, 0 = none
    /// True if a stop ended the rate of a control in a step by implicit Euler. Then `mean` is the
    /// work of the force of `through`, and of the stop, on the mean of the rates of both ends [J].
    bool ends[MABD_JOINT_MAX_ROWS];
    mabd_real mean[MABD_JOINT_MAX_ROWS];
} mabd_rigid_joint_step;

/// True if forces, wind or drag act on some body in a step.
bool mabd_rigid_books_bodies(const mabd_rigid_step* step);
/// True if a joint has controls or motors that do work.
bool mabd_rigid_books_joint(const mabd_model* model, int32_t joint);
/// True if some joint of a model has such controls or motors, or a script moves a body.
bool mabd_rigid_books_joints(const mabd_model* model);
/// True if a joint has a drive that is known by its force alone: a rigid servo, a rate, a limited
/// servo without gains.
bool mabd_rigid_has_held(const mabd_row_set* set);
/// True if a script moves a side of a joint whose other side moves by forces.
bool mabd_rigid_has_script(const mabd_model* model, int32_t joint);

/// Book forces, drag and applied forces on a body.
void mabd_rigid_book_body(const mabd_rigid_step* step, int32_t body, mabd_rigid_works* work);
/// Return m g . (h v0 - dt)/2 [J] of a body with the velocity v0 before the step and the
/// displacement dt in it: what implicit Euler gives its speed beyond the work of its weight.
mabd_real mabd_rigid_weight_share(const mabd_rigid_step* step, int32_t body);
/// Return the work of motor r of a joint on its coordinate [J].
mabd_real mabd_rigid_motor_work(const mabd_rigid_step* step, int32_t joint, int32_t r);
/// Book the controls and motors of a joint.
void mabd_rigid_book_joint(const mabd_rigid_step* step, const mabd_rigid_joint_step* own,
                           mabd_rigid_works* work);
/// Book the scripts of the sides of a joint by the means of its forces over the step. force: of the
/// rigid rows and of the controls, on the value of the row, as in row_jacobian.h.
void mabd_rigid_book_script(const mabd_rigid_step* step, const mabd_rigid_joint_step* own,
                            const mabd_real* force, mabd_rigid_works* work);
