// SPDX-License-Identifier: Apache-2.0
// Energy by cause since the start of the run.
//
//   change of kinetic + gravity + elastic + spring
//       = drives + scripts + forces + surfaces
//         - dampers - friction - rolling - drag - impacts - integrator
//
// The energies are those of measure.c. The work of each cause is the integral of its force over its
// displacement, by sums that do not know the scheme; what is left of the identity is what the
// integrator took. So a cause is right as far as the motion is, and `integrator` tells how far.
//
//   drives     servos, rigid or with gains, motors, rates                 element/book_joint.h
//   scripts    joints with scripted bodies, contacts with them            book_joint.h, contacts
//   forces     forces of the scene, forces for one step                   element/book_body.h
//   dampers    axes, servos, damped rotations                             book_joint.h
//   friction   axes; contacts                                             book_joint.h, contacts
//   surfaces   friction on surfaces that move over their bodies           contacts
//   rolling    rolling and spinning friction of contacts                  contacts
//   drag       drag (v - wind) of bodies: wind that drives a body is < 0  book_body.h
//   impacts    stops; normal forces of contacts                           book_joint.h, contacts
//
// A servo with gains is a drive, not a spring: its energy kp (x - target)^2/2 is in no account.
//
// Order. Over a step of h from t0 to t1 a smooth force does (F0 + F1)/2 . (x1 - x0) + O(h^3), and
// state and rates of the scheme are of order two: all works are of order two, and so is
// `integrator`. F0 is the force right after t0, with controls at t0 (mabd_affine_set_values), so a
// target that jumps between steps does no harm. In a step of several solves (SDIRK2, parts of a
// halved step) x1, q1, v1 are the state before the step: its work is that of one step.
//
// Contacts and stops are booked solve by solve, since impulses differ from solve to solve
// (contact/contact_books.c). They wait in `pending`, and in two columns of work_joint, until the
// step is finished; a step that fails leaves no trace. The energy stored in the softness of
// contacts is part of `spring`: its change is not taken by impacts and friction.
//
// Sums are in a fixed order: each joint and body has a row of its own, added up by the getter.
// Models without such joints, bodies or contacts have empty lists. A batch has the sums over its
// copies.

#include "formulation/affine/energy_books.h"

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/affine_measure.h"
#include "formulation/affine/affine_sim.h"
#include "formulation/affine/contact/contact_books.h"
#include "formulation/affine/limits.h"
#include "formulation/affine/newton.h"

#include <math.h>
#include <string.h>

// ---- what is booked ----------------------------------------------------------------------------

static bool does_work(const mabd_control* c) {
    return c->rigid || c->law || c->gain > 0 || c->damping > 0;
}

static bool is_booked_joint(const mabd_model* m, const mabd_model_joint* joint) {
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    const uint8_t a = m->body_motion[joint->a], b = m->body_motion[joint->b];
    if (a != MABD_MOTION_DYNAMIC && b != MABD_MOTION_DYNAMIC) return false;
    if (a == MABD_MOTION_SCRIPTED || b == MABD_MOTION_SCRIPTED) return true;
    bool works = set->motor_count > 0;
    for (int32_t r = 0; r < set->control_count; r++) works |= does_work(&set->control[r]);
    return works;
}

// *force: the next one of the model, from 0 on for body 0.
static bool is_booked_body(const mabd_model* m, int32_t body, int32_t* force) {
    bool pushed = false;
    while (*force < m->force_count && m->forces[*force].body <= body) {
        pushed |= m->forces[(*force)++].body == body;
    }
    if (m->body_motion[body] != MABD_MOTION_DYNAMIC) return false;
    return pushed || m->classes[m->body_class[body]].material.drag > 0;
}

static void list_booked(const mabd_model* m, mabd_affine_sizes* n, int32_t* joints,
                        int32_t* bodies) {
    int32_t force = 0;
    n->booked_joints = n->booked_bodies = 0;
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (!is_booked_joint(m, &m->joints[i])) continue;
        if (joints) joints[n->booked_joints] = i;
        n->booked_joints++;
    }
    for (int32_t i = 0; i < m->body_count; i++) {
        if (!is_booked_body(m, i, &force)) continue;
        if (bodies) bodies[n->booked_bodies] = i;
        n->booked_bodies++;
    }
    n->booked_controls =
        n->booked_joints + n->booked_bodies > 0 ? n->row_sets * MABD_JOINT_MAX_ROWS : 0;
}

void mabd_affine_books_count(const mabd_model* model, mabd_affine_sizes* n) {
    list_booked(model, n, NULL, NULL);
}

void mabd_affine_books_list(mabd_affine_sim* sim) {
    list_booked(sim->model, &sim->sizes, sim->booked_joint, sim->booked_body);
}

// ---- the start ---------------------------------------------------------------------------------

// Energy stored in contacts. A restored state has it before its contacts are found again.
static mabd_real stored_energy(const mabd_affine_books* books) {
    return books->stored[0] + books->stored[1];
}

void mabd_affine_books_open(mabd_affine_sim* sim) {
    memset(&sim->books, 0, sizeof sim->books);
    mabd_affine_energies(sim, sim->books.start);
}

void mabd_affine_books_skip(mabd_affine_sim* sim, const mabd_real* before) {
    mabd_real now[4];
    mabd_affine_energies(sim, now);
    for (int k = 0; k < 4; k++) sim->books.start[k] += now[k] - before[k];
    sim->books.start[3] -= stored_energy(&sim->books);
    sim->books.stored[0] = sim->books.stored[1] = 0; // contacts are found again
}

// ---- solves and steps --------------------------------------------------------------------------

void mabd_affine_books_begin(mabd_affine_sim* sim) {
    memset(&sim->books.pending, 0, sizeof sim->books.pending);
    sim->books.solved = false;
}

mabd_status mabd_affine_books_add_solve(mabd_affine_sim* sim) {
    const mabd_real least = MABD_STOP_IMPACT_TOLERANCES * mabd_affine_row_tolerance(sim);
    const bool more = sim->books.solved;
    sim->books.solved = true;
    if (sim->contacts) mabd_affine_contacts_book(sim, &sim->books.pending);
    if (sim->sizes.axes == 0) return MABD_OK;
    return sim->backend->book_stops(sim, more, least);
}

// Compute controls, motors, forces and wind at the start of a step.
static void set_start(mabd_affine_sim* sim, mabd_real time) {
    mabd_affine_control_value* controls = sim->controls;
    mabd_real *motors = sim->motors, *forces = sim->force_scale;
    sim->controls = sim->controls_start, sim->motors = sim->motors_start;
    sim->force_scale = sim->force_start;
    sim->wind_start = mabd_affine_set_values(sim, time);
    sim->controls = controls, sim->motors = motors, sim->force_scale = forces;
}

static void commit_contacts(mabd_affine_sim* sim) {
    mabd_affine_books* books = &sim->books;
    mabd_real stored[2];
    mabd_affine_contacts_stored(sim, stored);
    books->contact.impacts += books->pending.impacts - (stored[0] - books->stored[0]);
    books->contact.friction += books->pending.friction - (stored[1] - books->stored[1]);
    books->contact.scripts += books->pending.scripts;
    books->contact.surfaces += books->pending.surfaces;
    books->contact.rolling += books->pending.rolling;
    memcpy(books->stored, stored, sizeof stored);
}

mabd_status mabd_affine_books_add_step(mabd_affine_sim* sim, mabd_real time, bool continued) {
    mabd_real applied = 0;
    if (sim->sizes.booked_joints + sim->sizes.booked_bodies > 0) {
        set_start(sim, time);
        MABD_TRY(sim->backend->book_step(sim, continued));
    }
    if (sim->has_applied) MABD_TRY(sim->backend->book_applied(sim, &applied));
    sim->books.applied += applied;
    if (sim->contacts) commit_contacts(sim);
    return MABD_OK;
}

// ---- the balance -------------------------------------------------------------------------------

// Sum of a column of a table with `rows` rows.
static mabd_real sum(const mabd_real* table, size_t rows, size_t columns, size_t column) {
    mabd_real total = 0;
    for (size_t i = 0; i < rows; i++) total += table[columns * i + column];
    return total;
}

static mabd_real sum_joints(const mabd_affine_sim* sim, size_t column) {
    return sum(sim->work_joint, sim->sizes.booked_joints, MABD_BOOK_JOINT_COLUMNS, column);
}

static mabd_real sum_bodies(const mabd_affine_sim* sim, size_t column) {
    return sum(sim->work_body, sim->sizes.booked_bodies, MABD_BOOK_BODY_COLUMNS, column);
}

mabd_energy_balance mabd_affine_energy_balance(const void* self) {
    const mabd_affine_sim* sim = mabd_affine_state(self);
    const mabd_affine_books* books = &sim->books;
    mabd_real now[4];
    mabd_energy_balance b;
    mabd_affine_energies(sim, now);
    b.kinetic = now[0] - books->start[0];
    b.gravity = now[1] - books->start[1];
    b.elastic = now[2] - books->start[2];
    b.spring = now[3] + stored_energy(books) - books->start[3];
    b.drives = sum_joints(sim, MABD_BOOK_DRIVES);
    b.scripts = sum_joints(sim, MABD_BOOK_SCRIPTS) + books->contact.scripts;
    b.forces = sum_bodies(sim, MABD_BOOK_FORCES) + books->applied;
    b.dampers = sum_joints(sim, MABD_BOOK_DAMPERS);
    b.friction = sum_joints(sim, MABD_BOOK_FRICTION) + books->contact.friction;
    b.surfaces = books->contact.surfaces;
    b.rolling = books->contact.rolling;
    b.drag = sum_bodies(sim, MABD_BOOK_DRAG);
    b.impacts = sum_joints(sim, MABD_BOOK_IMPACTS) + books->contact.impacts;
    b.integrator = b.drives + b.scripts + b.forces + b.surfaces - b.dampers - b.friction -
                   b.rolling - b.drag - b.impacts - (b.kinetic + b.gravity + b.elastic + b.spring);
    return b;
}
