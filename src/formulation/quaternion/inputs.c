// SPDX-License-Identifier: Apache-2.0
// Controls, motors and forces of a step.
//
// sim->input holds one value per controlled coordinate, then one per motor. A value that a program
// has set replaces that of the signal. It is held during the step; the target of a rigid servo is
// a position, which the axis reaches at the end of the step, along a line from the last one.
//
// An input that jumps at the start of a step ends the history of its part: the step is taken by a
// method without history (step.c), so that held controls are of second order.

#include "formulation/quaternion/quaternion_sim.h"
#include "formulation/quaternion/solve.h"

#include "scene/signal.h"

#include <string.h>

static mabd_real signal_value(const mabd_quaternion_solve* s, const mabd_signal* signal) {
    return signal ? mabd_signal_over(signal, s->from, s->h, s->time) : 0;
}

static mabd_real held_value(const mabd_quaternion_solve* s, size_t k, bool rigid) {
    const mabd_quaternion_sim* sim = s->sim;
    if (!rigid || !sim->last_set[k] || !(s->h > 0)) return sim->target[k];
    const mabd_real part = (s->time - sim->time) / sim->def.h;
    return sim->last_target[k] + part * (sim->target[k] - sim->last_target[k]);
}

void mabd_quaternion_set_inputs(mabd_quaternion_solve* s) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        const mabd_model_joint* joint = &m->joints[j->joint];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            const size_t k = (size_t)(joint->coordinate + r);
            sim->input[k] = sim->target_set[k] ? held_value(s, k, mabd_axis_is_position(c))
                                               : signal_value(s, c->drive ? c->drive : c->servo);
        }
        for (int32_t r = 0; r < set->motor_count; r++) {
            const size_t k = (size_t)(m->coordinate_count + j->motor + r);
            sim->input[k] =
                sim->target_set[k] ? sim->target[k] : signal_value(s, set->motor[r].force);
        }
    }
    s->wind = mabd_v3_scale(signal_value(s, m->wind), mabd_v3_load(m->wind_direction));
}

// ---- jumps -------------------------------------------------------------------------------------

static bool differs(const mabd_quaternion_sim* sim, size_t k) {
    return sim->target_set[k] != sim->last_set[k] ||
           (sim->target_set[k] && sim->target[k] != sim->last_target[k]);
}

static bool joint_jumps(const mabd_quaternion_sim* sim, const mabd_quaternion_joint* j) {
    const mabd_model* m = sim->model;
    const mabd_model_joint* joint = &m->joints[j->joint];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    bool jumps = false;
    for (int32_t r = 0; r < set->control_count; r++) {
        jumps |= !mabd_axis_is_position(&set->control[r]) &&
                 differs(sim, (size_t)(joint->coordinate + r));
    }
    for (int32_t r = 0; r < set->motor_count; r++) {
        jumps |= differs(sim, (size_t)(m->coordinate_count + j->motor + r));
    }
    return jumps;
}

bool mabd_quaternion_jumps(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                           mabd_real time) {
    const mabd_model* m = sim->model;
    bool jumps = false;
    for (int32_t i = 0; i < m->signal_count; i++) {
        jumps |= mabd_signal_jumps(&m->signals[i], time - sim->def.h, time + sim->def.h);
    }
    for (int32_t i = 0; i < part->joint_count && !jumps; i++) {
        jumps = joint_jumps(sim, &sim->joints[part->joint_first + i]);
    }
    for (int32_t i = 0; i < part->body_count && !jumps; i++) {
        const size_t at = 6 * (size_t)sim->bodies[part->body_first + i];
        jumps = memcmp(sim->applied + at, sim->last_applied + at, 6 * sizeof(mabd_real)) != 0;
    }
    return jumps;
}

void mabd_quaternion_keep_inputs(mabd_quaternion_sim* sim) {
    const size_t n = (size_t)(sim->model->coordinate_count + sim->motor_count);
    const size_t bytes = 6 * (size_t)sim->model->body_count * sizeof *sim->applied;
    memcpy(sim->last_target, sim->target, n * sizeof *sim->target);
    memcpy(sim->last_set, sim->target_set, n * sizeof *sim->target_set);
    if (!sim->has_applied && !sim->had_applied) return;
    memcpy(sim->last_applied, sim->applied, bytes);
    memset(sim->applied, 0, bytes);
    sim->had_applied = sim->has_applied, sim->has_applied = false;
}

// ---- entries of the table ----------------------------------------------------------------------

// Place of a control of a copy in sim->input.
static size_t place_of(const mabd_quaternion_sim* sim, int32_t copy, int32_t control) {
    const mabd_model* m = sim->model;
    const mabd_copy_control* own = &m->controls[control];
    const int32_t joint = copy * m->copy_joints + own->joint;
    if (own->kind != MABD_CONTROL_FORCE) return (size_t)(m->joints[joint].coordinate + own->row);
    return (size_t)(m->coordinate_count + sim->joints[sim->joint_place[joint]].motor + own->row);
}

void mabd_quaternion_set_targets(void* self, int32_t first, int32_t count, const bool* which,
                                 const mabd_real* values) {
    mabd_quaternion_sim* sim = self;
    const int32_t n = sim->model->control_count;
    for (int32_t i = 0; i < count * n; i++) {
        if (which && !which[i % n]) continue;
        const size_t k = place_of(sim, first + i / n, i % n);
        sim->target[k] = values ? values[i] : 0;
        sim->target_set[k] = values != NULL;
    }
}

bool mabd_quaternion_get_target(const void* self, int32_t copy, int32_t control,
                                mabd_real* target) {
    const mabd_quaternion_sim* sim = self;
    const size_t k = place_of(sim, copy, control);
    *target = sim->target[k];
    return sim->target_set[k];
}

void mabd_quaternion_get_controls(const void* self, mabd_real* coordinates, mabd_real* rates) {
    const mabd_quaternion_sim* sim = self;
    const mabd_model* m = sim->model;
    size_t at = 0;
    for (int32_t copy = 0; copy < mabd_model_control_copies(m); copy++) {
        for (int32_t k = 0; k < m->control_count; k++, at++) {
            mabd_real x[2];
            mabd_quaternion_control_state(sim, copy, k, x);
            if (coordinates) coordinates[at] = x[0];
            if (rates) rates[at] = x[1];
        }
    }
}

void mabd_quaternion_apply_force(void* self, int32_t n, const int32_t* bodies,
                                 const mabd_real* forces, const mabd_real* torques) {
    mabd_quaternion_sim* sim = self;
    for (int32_t i = 0; i < n; i++) {
        mabd_real* wrench = sim->applied + 6 * (size_t)bodies[i];
        for (size_t k = 0; k < 3; k++) {
            if (forces) wrench[k] += forces[3 * (size_t)i + k];
            if (torques) wrench[3 + k] += torques[3 * (size_t)i + k];
        }
    }
    sim->has_applied |= n > 0;
}
