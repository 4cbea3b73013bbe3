// SPDX-License-Identifier: Apache-2.0
// Works of a step, for the energy balance (rigid/books.h).
//
// The impulse l of a row changes the kinetic energy by l (u0 + u1)/2, u0 and u1 its rates at the
// start and at the end of the substep, up to products of impulses and loads of the order h: what
// rests does no work. Contacts are booked by it: normals as impacts, tangents as friction; a script
// gets the part of its own surface. A stop takes what its impulse does; the rest of its axis is a
// force over a displacement, as in every formulation.

#include "formulation/impulse/impulse_contact.h"
#include "formulation/impulse/impulse_sim.h"

#include <math.h>
#include <string.h>

/// Distance to a stop that is round-off [m], [rad].
#define AT_STOP ((mabd_real)1e-9)

// ---- axes --------------------------------------------------------------------------------------

// Multiplier of the graph of an axis at D without its stops: at a stop a box pushes with its limit
// towards its own coordinate.
static mabd_real without_stops(const mabd_axis_law* law, mabd_real D) {
    mabd_real lambda = law->slope * D - law->level;
    for (int i = 0; i < MABD_AXIS_BOXES; i++) {
        const mabd_axis_box* box = &law->box[i];
        if (!(box->most > 0)) continue;
        const mabd_real off = D - box->at;
        const mabd_real limited = box->compliance > 0 ? off / box->compliance
                                  : off > 0           ? box->most
                                  : off < 0           ? -box->most
                                                      : 0;
        lambda += limited > box->most ? box->most : limited < -box->most ? -box->most : limited;
    }
    return lambda;
}

// Impulse of the stop of an axis in the substep; 0 between its stops. Relaxation slows down what
// would pass a stop in the next substep (axes.c).
static mabd_real stop_impulse(const mabd_impulse_sim* sim, const mabd_impulse_axis* axis,
                              mabd_real impulse) {
    const mabd_real D = axis->moved;
    const mabd_impulse_pair V = mabd_impulse_load(&sim->lines[axis->a], &sim->lines[axis->b]);
    const mabd_real last = sim->h * (mabd_impulse_rate(&axis->J, &V) + axis->shift);
    const bool low = D <= axis->lower + AT_STOP || last <= axis->law.lower + AT_STOP;
    const bool high = D >= axis->upper - AT_STOP || last >= axis->law.upper - AT_STOP;
    if (!low && !high) return 0;
    const mabd_real rest = -sim->h * without_stops(&axis->law, D), stop = impulse - rest;
    return isfinite(rest) && (low ? stop > 0 : stop < 0) ? stop : 0;
}

static void book_axes(mabd_impulse_sim* sim) {
    for (int32_t i = 0; i < sim->axis_count; i++) {
        const mabd_impulse_axis* axis = &sim->axes[i];
        const int32_t k = sim->model->joints[axis->joint].coordinate + axis->control;
        const mabd_impulse_pair V = mabd_impulse_load(&sim->lines[axis->a], &sim->lines[axis->b]);
        const mabd_real stop = stop_impulse(sim, axis, sim->axis_impulse[i]);
        const mabd_real mean = (axis->before + mabd_impulse_rate(&axis->J, &V)) / 2;
        sim->axis_work[k] += (sim->axis_impulse[i] - stop) / sim->h * axis->moved;
        sim->books.work.impacts -= stop * mean;
    }
}

// Rate that a rigid servo takes from its axis [m/s] or [rad/s].
static mabd_real servo_rate(const mabd_impulse_sim* sim, const mabd_model_joint* joint, int32_t r) {
    return -(mabd_impulse_input(sim, joint, r, 1) - mabd_impulse_input(sim, joint, r, 0)) / sim->h;
}

// Add the works of rigid servos in the substep.
void mabd_impulse_book_substep(mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; sim->firm && i < sim->joint_count; i++) {
        const mabd_impulse_joint* j = &sim->joints[i];
        if (!j->firm) continue;
        const mabd_model_joint* joint = &m->joints[j->joint];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        mabd_impulse_control more[MABD_IMPULSE_MAX_ROWS];
        const int32_t count = mabd_impulse_block_controls(set, more);
        for (int32_t k = 0, row = j->row + set->rigid_count; k < count; k++, row++) {
            if (more[k].kind != MABD_IMPULSE_SERVO) continue;
            sim->axis_work[joint->coordinate + more[k].control] -=
                sim->lambda[row] * servo_rate(sim, joint, more[k].control);
        }
    }
}

// ---- contacts ----------------------------------------------------------------------------------

static void book_point(mabd_impulse_sim* sim, const mabd_impulse_manifold* m,
                       const mabd_impulse_point* p) {
    const mabd_impulse_pair V = mabd_impulse_load(&sim->lines[m->a], &sim->lines[m->b]);
    const mabd_vec3 sum = mabd_v3_add(p->before, mabd_impulse_point_rate(p, &V));
    const mabd_vec3 along = mabd_v3_axpy(p->l2, p->t2, mabd_v3_scale(p->l1, p->t1));
    mabd_rigid_works* work = &sim->books.work;
    work->impacts -= p->l * mabd_v3_dot(p->normal, sum) / 2;
    work->friction -= mabd_v3_dot(along, sum) / 2;
    if (sim->body_script[m->a] < 0) return;
    const mabd_vec3 push = mabd_v3_axpy(p->l, p->normal, along);
    work->scripts += mabd_v3_dot(push, mabd_v3_add(V.va, mabd_v3_cross(V.wa, p->ra)));
}

static void book_contacts(mabd_impulse_sim* sim) {
    const mabd_impulse_contacts* c = sim->contacts;
    for (int32_t i = 0; c && i < c->manifolds.count; i++) {
        const mabd_impulse_manifold* m = mabd_impulse_manifold_at(c, i);
        for (int32_t k = m->first; k < m->first + m->count; k++) {
            const mabd_impulse_point* p = mabd_impulse_point_at(c, k);
            if (p->l > 0) book_point(sim, m, p);
        }
    }
}

void mabd_impulse_book_velocities(mabd_impulse_sim* sim) {
    book_axes(sim);
    book_contacts(sim);
}

// ---- the step ----------------------------------------------------------------------------------

// State of a body before or after the step that is booked.
static mabd_rigid_state state_at(const void* self, int32_t body, bool after) {
    const mabd_impulse_sim* sim = self;
    if (after) return mabd_impulse_state_of(sim, body);
    const mabd_impulse_line* line = &sim->last_lines[body];
    mabd_rigid_state s;
    s.c = sim->last_c[body], s.q = sim->last_q[body];
    s.v = mabd_v3_load(line->v), s.omega = mabd_v3_load(line->w);
    return s;
}

// Mean force on each row of a joint in the step: of the last substep for rigid rows.
static void row_forces(const mabd_impulse_sim* sim, const mabd_impulse_joint* j, mabd_real* force) {
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    for (int32_t r = 0; r < set->rigid_count; r++) force[r] = sim->lambda[j->row + r] / sim->part;
    mabd_impulse_control more[MABD_IMPULSE_MAX_ROWS];
    const int32_t count = mabd_impulse_block_controls(set, more);
    for (int32_t k = 0, at = j->row + set->rigid_count; k < count; k++, at++) {
        if (more[k].kind == MABD_IMPULSE_TURN) continue;
        force[set->rigid_count + more[k].control] = sim->lambda[at] / sim->part;
    }
    for (int32_t k = j->axis; k < j->axis + j->axis_count; k++) {
        force[set->rigid_count + sim->axes[k].control] = sim->axis_impulse[k] / sim->part;
    }
}

static void book_joint(mabd_impulse_sim* sim, const mabd_rigid_step* step, int32_t index) {
    const mabd_model* m = sim->model;
    const mabd_model_joint* joint = &m->joints[index];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    const bool works = mabd_rigid_books_joint(m, index);
    const bool scripted = mabd_rigid_has_script(m, index);
    const int32_t place = sim->joint_place[index];
    mabd_real force[2 * MABD_JOINT_MAX_ROWS] = {0};
    mabd_rigid_joint_step own = {.joint = index, .turns_in = true};
    if (!works && !scripted) return;
    if (place >= 0) row_forces(sim, &sim->joints[place], force);
    for (int32_t r = 0; r < set->control_count; r++) {
        const size_t k = (size_t)(joint->coordinate + r);
        memcpy(own.x[0] + 2 * r, sim->last_x + 2 * k, 2 * sizeof *sim->x);
        memcpy(own.x[1] + 2 * r, sim->x + 2 * k, 2 * sizeof *sim->x);
        own.through[r] = sim->axis_work[k];
    }
    if (works) mabd_rigid_book_joint(step, &own, &sim->books.work);
    if (scripted) mabd_rigid_book_script(step, &own, force, &sim->books.work);
}

void mabd_impulse_book_step(mabd_impulse_sim* sim, mabd_real time) {
    const mabd_rigid_step step = {.model = sim->model,
                                  .inputs = &sim->inputs,
                                  .time = time,
                                  .h = sim->def.h,
                                  .state = state_at,
                                  .self = sim};
    if (mabd_rigid_books_joints(sim->model)) {
        for (int32_t i = 0; i < sim->model->joint_count; i++) book_joint(sim, &step, i);
    }
    if (!mabd_rigid_books_bodies(&step)) return;
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        mabd_rigid_book_body(&step, i, &sim->books.work);
    }
}
