// SPDX-License-Identifier: Apache-2.0
// Changes of the state by a user: states that are set, forces for one step.

#include "formulation/affine/affine_sim.h"

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/affine_measure.h"
#include "formulation/affine/asleep.h"
#include "formulation/affine/contact/contact_memory.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/energy_books.h"

#include <string.h>

// ---- states that are set ----

// `moved`: poses were set; they have no strain.
static void commit_state(mabd_affine_sim* sim, bool moved) {
    const mabd_affine_sizes* n = &sim->sizes;
    const size_t bytes = 12 * n->bodies * sizeof(mabd_real);
    mabd_real energies[4];
    mabd_affine_energies(sim, energies);
    memcpy(sim->q, sim->q_new, bytes);
    memcpy(sim->q1, sim->q, bytes);
    memcpy(sim->v, sim->ref, bytes);
    memcpy(sim->v1, sim->v, bytes);
    memcpy(sim->ref, sim->q, bytes + 12 * sizeof(mabd_real));
    for (size_t i = 0; i < n->spins; i++) mabd_affine_stage_reset_spin(sim, (int32_t)i);
    if (moved) memset(sim->stress, 0, 6 * n->bodies * sizeof *sim->stress);
    memset(sim->lambda, 0, n->rows * sizeof *sim->lambda);
    mabd_affine_read_coordinates(sim);
    memcpy(sim->x1, sim->x, n->coordinates * sizeof *sim->x);
    memcpy(sim->xd1, sim->xd, n->coordinates * sizeof *sim->xd);
    if (sim->contacts) {
        mabd_affine_contacts_forget(sim->contacts);
        memset(sim->contacts->by_body.euler_steps, 0, n->bodies * sizeof(mabd_real));
        memset(sim->contacts->by_body.euler, 0, n->bodies);
    }
    sim->has_history = false;
    sim->is_start = true;
    mabd_affine_wake(sim);
    mabd_affine_books_skip(sim, energies);
}

mabd_status mabd_affine_set_state(void* self, mabd_real time, const mabd_model_start* state,
                                  bool moved, mabd_error* error) {
    mabd_affine_sim* sim = self;
    const mabd_model* m = sim->model;
    (void)time; // known from the last step
    mabd_affine_state(sim);
    // q_new and ref are unused between steps
    memcpy(sim->q_new, sim->q, 12 * (sim->sizes.bodies + 1) * sizeof *sim->q);
    memset(sim->ref, 0, 12 * sim->sizes.bodies * sizeof *sim->ref);
    for (size_t i = 0; i < sim->sizes.bodies; i++) {
        mabd_real pose[12];
        if (m->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        mabd_model_to_affine(&m->classes[m->body_class[i]], &state[i], pose, sim->ref + 12 * i);
        if (moved) memcpy(sim->q_new + 12 * i, pose, sizeof pose);
    }
    commit_state(sim, moved);
    return sim->backend->upload(sim) == MABD_OK ? MABD_OK : sim->backend->last_error(sim, error);
}

// ---- forces for one step ----

void mabd_affine_apply_force(void* self, int32_t n, const int32_t* bodies, const mabd_real* forces,
                             const mabd_real* torques) {
    mabd_affine_sim* sim = self;
    for (int32_t i = 0; i < n; i++) {
        mabd_real* wrench = sim->applied + 6 * (size_t)bodies[i];
        for (size_t k = 0; k < 3; k++) {
            if (forces) wrench[k] += forces[3 * (size_t)i + k];
            if (torques) wrench[3 + k] += torques[3 * (size_t)i + k];
        }
    }
    sim->has_applied |= n > 0;
}

void mabd_affine_clear_applied(mabd_affine_sim* sim) {
    if (!sim->has_applied) return;
    memset(sim->applied, 0, 6 * sim->sizes.bodies * sizeof *sim->applied);
    sim->has_applied = false;
}
