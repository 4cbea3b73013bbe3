// SPDX-License-Identifier: Apache-2.0
// Forces that follow from poses and time: loads of bodies, springs and servos with gains on axes,
// motors, springs between points. A step takes half of them at each of its nodes.

#include "formulation/variational/variational_solve.h"
#include "rigid/body_load.h"
#include "rigid/rigid_springs.h"
#include "rigid/script.h"

#include <string.h>

void mabd_variational_set_inputs(const mabd_variational_solve* s, mabd_real time) {
    mabd_variational_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    const mabd_rigid_inputs* in = &sim->inputs;
    const mabd_real part = (time - sim->time) / sim->def.h;
    for (int32_t i = 0; i < s->island->joint_count; i++) {
        const int32_t joint = s->island->joints[i];
        const mabd_row_set* set = mabd_variational_set(sim, joint);
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            const size_t k = (size_t)(m->joints[joint].coordinate + r);
            const mabd_signal* signal = c->drive ? c->drive : c->servo;
            sim->input[k] = in->target_set[k]
                                ? mabd_rigid_held_target(in, k, mabd_axis_is_position(c), part)
                                : mabd_rigid_signal(signal, s->time, s->h, time);
        }
        for (int32_t r = 0; r < set->motor_count; r++) {
            const size_t k = mabd_rigid_motor_input(in, joint, r);
            sim->input[k] = in->target_set[k]
                                ? in->target[k]
                                : mabd_rigid_signal(set->motor[r].force, s->time, s->h, time);
        }
    }
}

// loads += force along a row.
static void push(const mabd_variational_sim* sim, const mabd_model_joint* j,
                 const mabd_rigid_row* J, mabd_real force) {
    mabd_rigid_wrench *a = &sim->load[j->a], *b = &sim->load[j->b];
    if (mabd_variational_moves(sim, j->a)) {
        a->f = mabd_v3_axpy(force, J->a.f, a->f), a->t = mabd_v3_axpy(force, J->a.t, a->t);
    }
    if (mabd_variational_moves(sim, j->b)) {
        b->f = mabd_v3_axpy(force, J->b.f, b->f), b->t = mabd_v3_axpy(force, J->b.t, b->t);
    }
}

static void add_joint(const mabd_variational_solve* s, const mabd_rigid_pose* poses,
                      const mabd_real* all_x, mabd_real time, int32_t joint, mabd_real share) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_model_joint* j = &sim->model->joints[joint];
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    bool acts = set->motor_count > 0;
    for (int32_t r = 0; r < set->control_count; r++) {
        acts |= !set->control[r].rigid && set->control[r].stiffness > 0;
    }
    if (!acts) return;
    const mabd_joint_view view = mabd_variational_view(sim, poses, time, joint);
    if (set->control_count > 0) {
        const mabd_real* x = all_x + j->coordinate;
        const mabd_rigid_joint at =
            mabd_rigid_joint_at(&view, set->control_count, set->control_row, x);
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            if (c->rigid || !(c->stiffness > 0)) continue;
            const mabd_rigid_row J = mabd_rigid_row_jacobian(&at, &set->control_row[r]);
            const mabd_real target = c->gain > 0 ? sim->input[j->coordinate + r] : 0;
            const mabd_real force = c->offset + c->gain * target - c->stiffness * x[r];
            sim->mean_force[j->coordinate + r] += share / sim->def.h * force;
            push(sim, j, &J, force);
        }
    }
    for (int32_t r = 0; r < set->motor_count; r++) {
        const mabd_real near = 0;
        const mabd_rigid_joint at = mabd_rigid_joint_at(&view, 1, &set->motor[r].row, &near);
        const mabd_rigid_row J = mabd_rigid_row_jacobian(&at, &set->motor[r].row);
        push(sim, j, &J, sim->input[mabd_rigid_motor_input(&sim->inputs, joint, r)]);
    }
}

void mabd_variational_find_forces(const mabd_variational_solve* s, const mabd_rigid_pose* poses,
                                  const mabd_real* x, mabd_real time, const mabd_rigid_twist* u,
                                  mabd_real share) {
    mabd_variational_sim* sim = s->sim;
    const mabd_variational_island* island = s->island;
    const mabd_rigid_moment at = {s->time, time, s->h};
    for (int32_t i = 0; i < island->body_count; i++) {
        const int32_t body = island->bodies[i];
        sim->load[body] = mabd_rigid_body_load(sim->model, &sim->inputs, body,
                                               sim->body_force[body], poses[body].R, &at);
    }
    for (int32_t i = 0; i < island->joint_count; i++) {
        add_joint(s, poses, x, time, island->joints[i], share);
    }
    for (int32_t i = 0; i < island->spring_count; i++) {
        const mabd_model_spring* own = &sim->model->springs[island->springs[i]];
        const mabd_rigid_spring spring = mabd_rigid_spring_at(sim->model, own, poses, u);
        mabd_rigid_spring_pull(sim->model, own, poses, spring.t.T, sim->load);
    }
}
