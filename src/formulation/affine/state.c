// SPDX-License-Identifier: Apache-2.0
// Changes of the state by a user: the start state, states that are set, forces for one step.

#include "formulation/affine/affine_sim.h"

#include "base/error.h"
#include "formulation/affine/affine_layout.h"
#include "formulation/affine/affine_measure.h"
#include "formulation/affine/contact/contact_memory.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/energy_books.h"
#include "formulation/affine/start.h"
#include "math/polar.h"
#include "math/quat.h"

#include <string.h>

// ---- the start ----

static size_t start_bytes(const mabd_affine_sim* sim) {
    return mabd_bytes(24 * sim->sizes.bodies, sizeof *sim->start);
}

size_t mabd_affine_start_bytes(const mabd_affine_sim* sim) {
    return sim->start ? start_bytes(sim) : 0;
}

void mabd_affine_start_free(mabd_affine_sim* sim, const mabd_allocator* allocator) {
    mabd_free(allocator, sim->start, start_bytes(sim));
    sim->start = NULL;
}

mabd_status mabd_affine_start_create(mabd_affine_sim* sim, const mabd_allocator* allocator,
                                     mabd_error* error) {
    const size_t n = 12 * sim->sizes.bodies;
    mabd_affine_start start = {.q = sim->q, .v = sim->v};
    start.pose = start.is_initial = true;
    start.close = sim->model->close_joints;
    MABD_TRY(mabd_affine_start_settle(sim, allocator, &start, &sim->warnings, error));
    if (!start.changed) return MABD_OK;
    sim->start = mabd_alloc(allocator, start_bytes(sim));
    if (!sim->start) return mabd_fail_memory(error, "keeping the start state");
    memcpy(sim->start, sim->q, n * sizeof *sim->start);
    memcpy(sim->start + n, sim->v, n * sizeof *sim->start);
    return MABD_OK;
}

// ---- states that are set ----

/// Arrays of a state in user frames; null = unchanged.
typedef struct user_state {
    const mabd_real *positions, *quaternions, *velocities, *angular;
} user_state;

static mabd_status refuse(const mabd_affine_sim* sim, size_t body, mabd_error* error,
                          const char* what) {
    char label[160];
    mabd_model_body_label(sim->model, (int32_t)body, label, sizeof label);
    return mabd_fail_at(error, MABD_ERR_INPUT, (int32_t)body, -1, 0, "set_state: the %s of %s",
                        what, label);
}

static bool is_finite(const mabd_real* values, size_t at, int count) {
    bool finite = true;
    for (int k = 0; values && k < count; k++)
        finite &= isfinite(values[at * (size_t)count + k]) != 0;
    return finite;
}

static mabd_status check_body(const mabd_affine_sim* sim, const user_state* user, size_t body,
                              mabd_error* error) {
    if (!is_finite(user->positions, body, 3)) {
        return refuse(sim, body, error, "position is not finite, that");
    }
    if (!is_finite(user->quaternions, body, 4) ||
        (user->quaternions && !(mabd_q_norm(mabd_q_load(user->quaternions + 4 * body)) > 0))) {
        return refuse(sim, body, error, "quaternion is no rotation, that");
    }
    if (!is_finite(user->velocities, body, 3)) {
        return refuse(sim, body, error, "velocity is not finite, that");
    }
    if (!is_finite(user->angular, body, 3)) {
        return refuse(sim, body, error, "angular velocity is not finite, that");
    }
    return MABD_OK;
}

// Compute the state of a body with the new values, as affine coordinates and rates.
static void place_body(const mabd_affine_sim* sim, const user_state* user, size_t body,
                       mabd_real* q, mabd_real* v) {
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
    mabd_model_start own;
    mabd_real pose[12];
    mabd_affine_body_state(sim, body, &own);
    if (user->positions) memcpy(own.position, user->positions + 3 * body, sizeof own.position);
    if (user->quaternions) {
        const mabd_quat turn = mabd_q_load(user->quaternions + 4 * body);
        mabd_q_store(mabd_q_normalize(turn), own.rotation);
    }
    if (user->velocities) memcpy(own.velocity, user->velocities + 3 * body, sizeof own.velocity);
    if (user->angular) {
        memcpy(own.angular_velocity, user->angular + 3 * body, sizeof own.angular_velocity);
    }
    mabd_model_to_affine(c, &own, pose, v);
    const bool moved = user->positions || user->quaternions;
    memcpy(q, moved ? pose : sim->q + 12 * body, sizeof pose);
}

// Write the new state to q_new and ref, which are unused between steps, until it is known to be
// good.
static mabd_status stage_state(mabd_affine_sim* sim, const user_state* user, mabd_error* error) {
    for (size_t i = 0; i < sim->sizes.bodies; i++) {
        mabd_real *q = sim->q_new + 12 * i, *v = sim->ref + 12 * i;
        memcpy(q, sim->q + 12 * i, 12 * sizeof *q);
        memset(v, 0, 12 * sizeof *v);
        if (sim->model->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        MABD_TRY(check_body(sim, user, i, error));
        place_body(sim, user, i, q, v);
    }
    memcpy(sim->q_new + 12 * sim->sizes.bodies, sim->q + 12 * sim->sizes.bodies,
           12 * sizeof(mabd_real));
    return MABD_OK;
}

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
    mabd_affine_books_skip(sim, energies);
}

mabd_status mabd_affine_set_state(void* self, mabd_real time, int64_t step,
                                  const mabd_real* positions, const mabd_real* quaternions,
                                  const mabd_real* velocities, const mabd_real* angular,
                                  mabd_error* error) {
    mabd_affine_sim* sim = self;
    const user_state user = {positions, quaternions, velocities, angular};
    mabd_affine_state(sim);
    MABD_TRY(stage_state(sim, &user, error));
    mabd_affine_start start = {.q = sim->q_new, .v = sim->ref, .time = time, .step = step};
    start.pose = start.stops = positions || quaternions;
    start.close = sim->model->close_joints;
    MABD_TRY(
        mabd_affine_start_settle(sim, &sim->warnings.allocator, &start, &sim->warnings, error));
    commit_state(sim, start.pose);
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
