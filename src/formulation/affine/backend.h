// SPDX-License-Identifier: Apache-2.0
// The stages of a step on one backend: a table of functions, described in affine/data.h and in the
// headers of the functions on the CPU.
//
// The simulation on the host has the model, the arrays of the CPU and all decisions. A backend with
// a device has a copy of the arrays there (`device`), which is the state while the arrays of the
// host are outdated, until they are downloaded. A step waits for the device only where the host
// needs a number from it: a rotation, a joint error, whether a stop is met.
//
// Functions return MABD_ERR_DEVICE if the device fails, and `last_error` has the message.
#pragma once

#include "formulation/affine/data.h"

/// Outcome of the stages of an iteration.
typedef struct mabd_affine_update_report {
    mabd_affine_motion_report motion;
    int32_t joint;      // whose pivot failed in factor, -1 = none
    int32_t inside_out; // body whose matrix had no rotation at relinearization, -1 = none
} mabd_affine_update_report;

struct mabd_affine_backend_ops {
    bool has_device; // arrays of the host may be outdated
    /// True if some component may be solved iteratively. Needs model and dual only.
    bool (*may_iterate)(const mabd_affine_sim* sim);
    /// True if some component is solved iteratively.
    bool (*iterates)(const mabd_affine_sim* sim);
    /// Take the memory of the device and copy the arrays of the host, which lie in `arena`, there.
    /// After their reset. Sets sim->device. MABD_ERR_MEMORY, MABD_ERR_DEVICE.
    mabd_status (*create)(mabd_affine_sim* sim, const void* arena, size_t arena_size,
                          const mabd_allocator* allocator, mabd_error* error);
    void (*destroy)(mabd_affine_sim* sim, const mabd_allocator* allocator);
    /// Bytes held on the device.
    size_t (*bytes)(const mabd_affine_sim* sim);
    /// Copy the message of the last failure to *error and return its status.
    mabd_status (*last_error)(const mabd_affine_sim* sim, mabd_error* error);
    /// Copy the state of the host to the device, as after a reset.
    mabd_status (*upload)(mabd_affine_sim* sim);
    /// Copy the state of the device to the host if the state of the host is outdated.
    mabd_status (*download)(mabd_affine_sim* sim);

    // ---- the step ------------------------------------------------------------------------------
    /// Swap the arrays of multipliers: the current step overwrites those of the step before last.
    void (*swap_multipliers)(mabd_affine_sim* sim);
    /// Copy q, v, coordinates and stress to their history, or back from it.
    mabd_status (*copy_state)(mabd_affine_sim* sim, bool back);
    /// Set *meets if an axis will meet a stop within h seconds (affine/cpu/axes.h).
    mabd_status (*meets_stop)(mabd_affine_sim* sim, mabd_real h, mabd_real least, bool* meets);
    /// Set *changed if an axis has reached or left a stop in the current solve.
    mabd_status (*changed_stop)(mabd_affine_sim* sim, mabd_real least, bool* changed);
    /// Book the work of stops in the current solve (element/book_joint.h); `more`: of a step that
    /// has finished a solve. least: a smaller displacement into a stop is no impact [m], [rad].
    mabd_status (*book_stops)(mabd_affine_sim* sim, bool more, mabd_real least);
    /// Book the work of joints and of forces on bodies in a finished step. continued: the step is
    /// one solve that continues the step before.
    mabd_status (*book_step)(mabd_affine_sim* sim, bool continued);
    /// Compute the work of the forces for one step in a finished step [J].
    mabd_status (*book_applied)(mabd_affine_sim* sim, mabd_real* work);
    /// Save the contacts for the next step, compute rates, make q_new the state.
    mabd_status (*finish)(mabd_affine_sim* sim, bool keep_history);

    // ---- a solve -------------------------------------------------------------------------------
    /// Compute the constants of a solve of the step from `time` by h [s].
    mabd_status (*begin_solve)(mabd_affine_sim* sim, mabd_affine_scheme scheme, mabd_real time,
                               mabd_real h);
    /// Predict the first reference.
    mabd_status (*predict)(mabd_affine_sim* sim);
    /// Find the contacts at the reference (affine/contact/contact_rows.h).
    mabd_status (*find_contacts)(mabd_affine_sim* sim, mabd_affine_find find);
    /// Move the rows of contacts to a reference that differs by little.
    mabd_status (*shift_contacts)(mabd_affine_sim* sim);
    /// Reset iterative dual solvers to the multipliers before the step.
    mabd_status (*restart)(mabd_affine_sim* sim);
    /// Assemble the dual system at the reference.
    mabd_status (*assemble)(mabd_affine_sim* sim, mabd_affine_pass pass);
    /// Factor the dual system. MABD_ERR_SINGULAR if that is known at once: *joint.
    mabd_status (*factor)(mabd_affine_sim* sim, int32_t* joint);
    /// Solve the dual system without coupled contacts.
    mabd_status (*solve)(mabd_affine_sim* sim);
    /// Solve the dual system with contacts that are rows or have supports
    /// (affine/contact/solve_rows.h).
    mabd_status (*solve_contacts)(mabd_affine_sim* sim, bool again);
    /// Compute q_new and stress from the multipliers.
    mabd_status (*update)(mabd_affine_sim* sim, mabd_affine_update_report* report);
    /// Complete the linear solves at a reference: `update` may have left out bodies without
    /// contacts. *report: the motion of all bodies, unchanged if nothing was left out. Null: update
    /// leaves nothing out.
    mabd_status (*complete)(mabd_affine_sim* sim, mabd_affine_motion_report* report);
    /// Move axes to the branches that the solution is on (affine/cpu/axes.h).
    mabd_status (*update_axes)(mabd_affine_sim* sim, bool first, mabd_real slack,
                               mabd_affine_axis_report* report);
    /// Choose the branches of eliminated contacts (affine/contact/line_search.h).
    mabd_status (*search_contacts)(mabd_affine_sim* sim, int32_t round,
                                   mabd_affine_contact_report* report);
    /// Move bodies to the best point of the search for contacts.
    mabd_status (*accept_best)(mabd_affine_sim* sim);
    /// Measure the joint error at q_new.
    mabd_status (*check)(mabd_affine_sim* sim, mabd_affine_joint_error* error);
    /// Save the result of converged copies (affine/copies.h). *left: copies that continue. Null:
    /// all copies continue until all have converged.
    mabd_status (*settle_copies)(mabd_affine_sim* sim, const mabd_affine_copy_goal* goal,
                                 int32_t* left);
    /// Make the saved results of copies the result.
    mabd_status (*close_copies)(mabd_affine_sim* sim);
    /// Keep, exchange or take the results of copies without a jump (element/copy.h). Null as
    /// settle_copies.
    mabd_status (*steady_copies)(mabd_affine_sim* sim, mabd_affine_steady_part part);
    /// Make the rotation of q_new the reference. *body: a body without a rotation, -1 = none.
    mabd_status (*relinearize)(mabd_affine_sim* sim, int32_t* body);
};

/// The table of a backend, null if it is not built.
const mabd_affine_backend_ops* mabd_affine_backend_ops_of(mabd_backend backend);
extern const mabd_affine_backend_ops mabd_affine_backend_cpu;

/// Parts of the CPU's stages that a backend with a device runs on the host.
typedef struct mabd_affine_host_ops {
    /// Poses of scripted bodies (q_new, ref) and coordinates of joints at the end of the solve.
    void (*predict_rest)(mabd_affine_sim* sim);
    /// Save the contact data that the next step needs, before finish.
    void (*save_contacts)(mabd_affine_sim* sim);
    /// True if all axes on a wrong branch move, false if the last one only (affine/cpu/axes.h).
    /// `first`: the first solve at this reference. changed: number of axes on a wrong branch.
    bool (*moves_all_axes)(mabd_affine_sim* sim, bool first, int32_t changed);
    /// Direct dual solver of a component, null without rows.
    const mabd_dual_ops* (*direct_dual)(const mabd_plan_component* component);
    /// Create the dual solver of a component unless it exists. MABD_ERR_MEMORY.
    mabd_status (*make_solver)(mabd_affine_sim* sim, const mabd_allocator* allocator,
                               int32_t component);
    /// Factor and solve one component. Its part of lambda: right-hand side in, multipliers out.
    /// MABD_ERR_SINGULAR: *joint is the joint whose pivot failed.
    mabd_status (*solve_component)(mabd_affine_sim* sim, int32_t component, int32_t* joint);
} mabd_affine_host_ops;
extern const mabd_affine_host_ops mabd_affine_host;
