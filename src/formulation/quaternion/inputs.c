// SPDX-License-Identifier: Apache-2.0
// Controls, motors and forces of a step.
//
// sim->input holds the values of the inputs (rigid/inputs.h) in a solve.

#include "formulation/quaternion/quaternion_sim.h"
#include "formulation/quaternion/solve.h"

static mabd_real signal_value(const mabd_quaternion_solve* s, const mabd_signal* signal) {
    return mabd_rigid_signal(signal, s->from, s->h, s->time);
}

void mabd_quaternion_set_inputs(mabd_quaternion_solve* s) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    const mabd_rigid_inputs* in = &sim->inputs;
    const mabd_real part = (s->time - sim->time) / sim->def.h;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        const mabd_model_joint* joint = &m->joints[j->joint];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            const size_t k = (size_t)(joint->coordinate + r);
            const bool moves = s->h > 0 && mabd_axis_is_position(c);
            sim->input[k] = in->target_set[k] ? mabd_rigid_held_target(in, k, moves, part)
                                              : signal_value(s, c->drive ? c->drive : c->servo);
        }
        for (int32_t r = 0; r < set->motor_count; r++) {
            const size_t k = mabd_rigid_motor_input(in, j->joint, r);
            sim->input[k] =
                in->target_set[k] ? in->target[k] : signal_value(s, set->motor[r].force);
        }
    }
    s->wind = mabd_rigid_wind(m, s->from, s->h, s->time);
}

bool mabd_quaternion_jumps(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                           mabd_real time) {
    bool jumps = mabd_rigid_signal_jumps(sim->model, time, sim->def.h);
    for (int32_t i = 0; i < part->joint_count && !jumps; i++) {
        jumps = mabd_rigid_joint_jumps(&sim->inputs, sim->joints[part->joint_first + i].joint);
    }
    for (int32_t i = 0; i < part->body_count && !jumps; i++) {
        jumps = mabd_rigid_force_jumps(&sim->inputs, sim->bodies[part->body_first + i]);
    }
    return jumps;
}

// ---- entries of the table ----------------------------------------------------------------------

void mabd_quaternion_restart_input(void* self, int32_t control, int32_t body) {
    mabd_rigid_restart_input(&((mabd_quaternion_sim*)self)->inputs, control, body);
}

void mabd_quaternion_set_targets(void* self, int32_t first, int32_t count, const bool* which,
                                 const mabd_real* values) {
    mabd_rigid_set_targets(&((mabd_quaternion_sim*)self)->inputs, first, count, which, values);
}

bool mabd_quaternion_get_target(const void* self, int32_t copy, int32_t control,
                                mabd_real* target) {
    return mabd_rigid_get_target(&((const mabd_quaternion_sim*)self)->inputs, copy, control,
                                 target);
}

void mabd_quaternion_get_controls(const void* self, mabd_real* coordinates, mabd_real* rates) {
    const mabd_quaternion_sim* sim = self;
    mabd_rigid_get_controls(sim->model, mabd_quaternion_control_state, sim, coordinates, rates);
}

void mabd_quaternion_apply_force(void* self, int32_t n, const int32_t* bodies,
                                 const mabd_real* forces, const mabd_real* torques) {
    mabd_rigid_apply_force(&((mabd_quaternion_sim*)self)->inputs, n, bodies, forces, torques);
}
