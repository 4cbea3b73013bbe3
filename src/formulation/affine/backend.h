// SPDX-License-Identifier: Apache-2.0
// Where the stages of a step run: one table of functions, as affine/data.h describes them. The simulation on the host has the
// model, the arrays of the CPU and all that is decided; a backend with a device has a copy of the arrays there (`device`), which is the state
// while the arrays of the host are old, until they are downloaded.
//
// Functions that can fail return MABD_ERR_DEVICE, and `last_error` says which. What is asked for in a step (a rotation, an opening, whether
// a stop is met) is all that a device is waited for.
#pragma once

#include "formulation/affine/data.h"

/// What an iteration has found out when its stages are done.
typedef struct mabd_affine_update_report {
    mabd_affine_motion_report motion;
    int32_t joint;      // whose pivot failed in factor, -1 = none
    int32_t inside_out; // body that had no rotation when it was referred to, -1 = none
} mabd_affine_update_report;

struct mabd_affine_backend_ops {
    bool has_device; // arrays of the host may be old
    /// True if some component may be, or is, solved iteratively there. may_iterate: needs model and dual only.
    bool (*may_iterate)(const mabd_affine_sim* sim);
    bool (*iterates)(const mabd_affine_sim* sim);
    /// After reset of the host's arrays, which lie in `arena`: take the device's memory, copy everything there. Sets sim->device.
    mabd_status (*create)(mabd_affine_sim* sim, const void* arena, size_t arena_size,
                          const mabd_allocator* allocator, mabd_error* error);
    void (*destroy)(mabd_affine_sim* sim, const mabd_allocator* allocator);
    /// Bytes that it holds on the device.
    size_t (*bytes)(const mabd_affine_sim* sim);
    /// Copy the text of the last failure to *error and return its status.
    mabd_status (*last_error)(const mabd_affine_sim* sim, mabd_error* error);
    /// Copy the state of the host to the device, as after a reset.
    mabd_status (*upload)(mabd_affine_sim* sim);
    /// Copy the state of the device to the host if the host's is old.
    mabd_status (*download)(mabd_affine_sim* sim);

    // ---- the step ----
    /// The step under way writes its multipliers over those of the step before last.
    void (*swap_multipliers)(mabd_affine_sim* sim);
    /// q, v and coordinates into their history, or back from it; stress becomes 0.
    mabd_status (*copy_state)(mabd_affine_sim* sim, bool back);
    mabd_status (*meets_stop)(mabd_affine_sim* sim, mabd_real h, mabd_real least, bool* meets);
    mabd_status (*changed_stop)(mabd_affine_sim* sim, mabd_real least, bool* changed);
    /// With what is kept of contacts.
    mabd_status (*finish)(mabd_affine_sim* sim, bool keep_history);

    // ---- a solve ----
    mabd_status (*begin)(mabd_affine_sim* sim, mabd_affine_scheme scheme, mabd_real time,
                         mabd_real h);
    mabd_status (*predict)(mabd_affine_sim* sim);
    mabd_status (*find_contacts)(mabd_affine_sim* sim, mabd_affine_find find);
    mabd_status (*shift_contacts)(mabd_affine_sim* sim);
    mabd_status (*restart)(mabd_affine_sim* sim);
    mabd_status (*assemble)(mabd_affine_sim* sim, mabd_affine_pass pass);
    /// MABD_ERR_SINGULAR where it is known at once: *joint.
    mabd_status (*factor)(mabd_affine_sim* sim, int32_t* joint);
    mabd_status (*solve)(mabd_affine_sim* sim);
    /// Instead of solve, with contacts that are rows.
    mabd_status (*solve_contacts)(mabd_affine_sim* sim, bool again);
    mabd_status (*update)(mabd_affine_sim* sim, mabd_affine_update_report* report);
    mabd_status (*update_axes)(mabd_affine_sim* sim, bool anew, mabd_real slack,
                               mabd_affine_axis_report* report);
    mabd_status (*search_contacts)(mabd_affine_sim* sim, int32_t round,
                                   mabd_affine_contact_report* report);
    mabd_status (*accept_best)(mabd_affine_sim* sim);
    /// At q_new.
    mabd_status (*check)(mabd_affine_sim* sim, mabd_affine_joint_error* open);
    /// Copies of a batch that settle one by one (affine/data.h); null: all go on until all are good.
    mabd_status (*settle_copies)(mabd_affine_sim* sim, const mabd_affine_copy_goal* goal,
                                 int32_t* left);
    mabd_status (*close_copies)(mabd_affine_sim* sim);
    /// *body: one that has no rotation, -1 = none.
    mabd_status (*relinearize)(mabd_affine_sim* sim, int32_t* body);
};

/// The table of a backend, null if it is not built.
const mabd_affine_backend_ops* mabd_affine_backend_ops_of(mabd_backend backend);
extern const mabd_affine_backend_ops mabd_affine_backend_cpu;

/// Parts of the CPU's stages that a backend with a device runs on the host.
typedef struct mabd_affine_host_ops {
    /// Poses of scripted bodies (q_new, ref) and coordinates of joints at the end of the solve.
    void (*predict_rest)(mabd_affine_sim* sim);
    /// Save what the next step needs of the contacts, before finish.
    void (*save_contacts)(mabd_affine_sim* sim);
    /// True if all axes on a wrong branch move, false if the last one only (active_set.h). `first`: the
    /// first solve at this reference. changed: number of axes on a wrong branch.
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
