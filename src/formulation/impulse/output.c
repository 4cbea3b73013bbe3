// SPDX-License-Identifier: Apache-2.0
// Results for a user: poses in user frames, energies, joint forces, coordinates, books.

#include "formulation/impulse/impulse_kernel.h"
#include "formulation/impulse/impulse_sim.h"
#include "rigid/joint_coordinates.h"
#include "rigid/measure.h"
#include "rigid/rigid_output.h"
#include "rigid/script.h"

#include <string.h>

// ---- bodies ------------------------------------------------------------------------------------

mabd_rigid_state mabd_impulse_state_of(const mabd_impulse_sim* sim, int32_t body) {
    const mabd_impulse_line* line = &sim->lines[body];
    mabd_rigid_state s;
    s.c = sim->c[body], s.q = sim->q[body];
    s.v = mabd_v3_load(line->v), s.omega = mabd_v3_load(line->w);
    return s;
}

void mabd_impulse_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                            mabd_real* velocities, mabd_real* angular) {
    const mabd_impulse_sim* sim = self;
    const mabd_model* m = sim->model;
    for (size_t i = 0; i < (size_t)m->body_count; i++) {
        const mabd_rigid_state s = mabd_impulse_state_of(sim, (int32_t)i);
        mabd_model_start user;
        mabd_rigid_to_user(&m->classes[m->body_class[i]], &s, &user);
        mabd_rigid_write_state(&user, i, positions, quaternions, velocities, angular);
    }
}

// ---- joints ------------------------------------------------------------------------------------

mabd_joint_view mabd_impulse_view(const mabd_impulse_sim* sim, const mabd_model_joint* joint) {
    return mabd_rigid_view(sim->model, joint, sim->poses);
}

static void add_torque(mabd_real* wrench, mabd_vec3 torque) {
    mabd_v3_store(mabd_v3_add(mabd_v3_load(wrench + 3), torque), wrench + 3);
}

// Add the forces of the block of a joint.
static void add_block(const mabd_impulse_sim* sim, const mabd_impulse_joint* j,
                      const mabd_joint_view* view, mabd_real* wrench) {
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_real* l = sim->lambda + j->row;
    const int32_t plain = set->rigid_count - (j->locked ? 3 : 0);
    for (int32_t r = 0; r < plain; r++) {
        mabd_rigid_add_row_force(view, &set->rigid[r], NULL, l[r] / sim->part, wrench);
    }
    if (j->locked) add_torque(wrench, mabd_v3_scale(1 / sim->part, mabd_v3_load(l + plain)));
    mabd_impulse_control more[MABD_IMPULSE_MAX_ROWS];
    const int32_t count = mabd_impulse_block_controls(set, more);
    for (int32_t k = 0, at = set->rigid_count; k < count; k++, at++) {
        const mabd_row* row = &set->control_row[more[k].control];
        const mabd_real* x = sim->x + 2 * (size_t)(joint->coordinate + more[k].control);
        const mabd_real force = l[at] / sim->part;
        if (more[k].kind == MABD_IMPULSE_TURN) {
            const mabd_vec3 n = mabd_m3_mul(view->Ab, mabd_m3_column(&view->Fb, row->axis));
            add_torque(wrench, mabd_v3_scale(force, n));
        } else {
            mabd_rigid_add_row_force(view, row, x, force, wrench);
        }
    }
}

static void add_axes(const mabd_impulse_sim* sim, const mabd_impulse_joint* j,
                     const mabd_joint_view* view, mabd_real* wrench) {
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    for (int32_t k = j->axis; k < j->axis + j->axis_count; k++) {
        const mabd_impulse_axis* axis = &sim->axes[k];
        const mabd_row* row = &set->control_row[axis->control];
        const mabd_real* x = sim->x + 2 * (size_t)(joint->coordinate + axis->control);
        mabd_rigid_add_row_force(view, row, x, sim->axis_impulse[k] / sim->part, wrench);
    }
}

void mabd_impulse_get_joint_forces(const void* self, mabd_real* forces) {
    const mabd_impulse_sim* sim = self;
    const mabd_model* m = sim->model;
    memset(forces, 0, 6 * (size_t)m->joint_count * sizeof *forces);
    for (int32_t i = 0; sim->part > 0 && i < sim->joint_count; i++) {
        const mabd_impulse_joint* j = &sim->joints[i];
        const mabd_joint_view view = mabd_impulse_view(sim, &m->joints[j->joint]);
        add_block(sim, j, &view, forces + 6 * (size_t)j->joint);
        add_axes(sim, j, &view, forces + 6 * (size_t)j->joint);
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_row_set* set = &m->row_sets[m->joints[i].row_set];
        const mabd_joint_view view = mabd_impulse_view(sim, &m->joints[i]);
        const mabd_real zero = 0;
        for (int32_t r = 0; sim->part > 0 && r < set->motor_count; r++) {
            mabd_rigid_add_row_force(&view, &set->motor[r].row, &zero,
                                     mabd_impulse_motor(sim, i, r), forces + 6 * (size_t)i);
        }
    }
}

void mabd_impulse_get_joint_coordinates(const void* self, int32_t index, mabd_real* coordinates) {
    const mabd_impulse_sim* sim = self;
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real known[MABD_JOINT_MAX_ROWS] = {0};
    for (int32_t r = 0; r < set->control_count; r++) {
        known[r] = sim->x[2 * (size_t)(joint->coordinate + r)];
    }
    mabd_rigid_joint_coordinates(sim->model, index, mabd_impulse_view(sim, joint), sim->start,
                                 known, coordinates);
}

void mabd_impulse_control_state(const void* self, int32_t copy, int32_t control, mabd_real* x) {
    const mabd_impulse_sim* sim = self;
    const mabd_model* m = sim->model;
    const mabd_copy_control* own = &m->controls[control];
    const mabd_model_joint* joint = &m->joints[copy * m->copy_joints + own->joint];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    if (own->kind != MABD_CONTROL_FORCE) {
        memcpy(x, sim->x + 2 * (size_t)(joint->coordinate + own->row), 2 * sizeof *x);
        return;
    }
    const mabd_joint_view view = mabd_impulse_view(sim, joint);
    const mabd_impulse_pair V = mabd_impulse_load(&sim->lines[joint->a], &sim->lines[joint->b]);
    const mabd_real near = 0;
    mabd_rigid_row J;
    mabd_rigid_joint_rows(&view, 1, &set->motor[own->row].row, &near, x, &J);
    const mabd_impulse_row row = mabd_impulse_world_row(sim, joint->a, joint->b, &J);
    x[1] = mabd_impulse_rate(&row, &V);
}

// ---- energies ----------------------------------------------------------------------------------

mabd_measure mabd_impulse_measure(const void* self) {
    const mabd_impulse_sim* sim = self;
    const mabd_model* m = sim->model;
    mabd_rigid_sum sum = mabd_rigid_sum_begin();
    for (int32_t i = 0; i < m->body_count; i++) {
        const mabd_rigid_state s = mabd_impulse_state_of(sim, i);
        if (sim->lines[i].moves > 0) mabd_rigid_sum_body(m, i, &s, &sum);
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        const mabd_joint_view view = mabd_impulse_view(sim, joint);
        for (int32_t r = 0; joint->coordinate >= 0 && r < set->control_count; r++) {
            const mabd_real* x = sim->x + 2 * (size_t)(joint->coordinate + r);
            mabd_rigid_sum_control(&set->control[r], x[0], x[1], &sum);
        }
        mabd_rigid_sum_joint(m, i, &view, &sum);
    }
    return mabd_rigid_sum_end(&sum);
}

mabd_energy_balance mabd_impulse_energy_balance(const void* self) {
    const mabd_impulse_sim* sim = self;
    const mabd_measure now = mabd_impulse_measure(self);
    return mabd_rigid_books_balance(&sim->books, sim->model, &now,
                                    MABD_BOOKED_STOPS | MABD_BOOKED_CONTACTS);
}
