// SPDX-License-Identifier: Apache-2.0
// Loads of a step, at its start [RM sec. 1.8, 1.9].
//
//   M V~ = M V + h (ad(V)' M V + F)                                          [RM eq. 1.28]
//
// F: gravity, forces of the scene and applied ones, drag d (wind - v), springs between points and
// the ground (maximal_springs.c), and along the rows of axes
// the forces of motors, and of springs, dampers and servos that are no rows themselves. Explicit
// dampers on three free rotations act on the relative angular velocity r in the joint frame F on b:
//
//   t_b = -F D r      t_a = -R_a' R_b t_b
//
// Loads are forces in world axes and torques in the principal frame of their body.

#include "formulation/redmax/maximal.h"
#include "rigid/body_load.h"
#include "rigid/rigid_output.h"

#include <string.h>

// ---- inputs ------------------------------------------------------------------------------------

mabd_real mabd_maximal_input(const mabd_maximal_sim* sim, const mabd_model_joint* joint, int32_t r,
                             mabd_real part) {
    const mabd_control* c = &sim->model->row_sets[joint->row_set].control[r];
    const size_t k = (size_t)(joint->coordinate + r);
    const mabd_real h = sim->def.h;
    if (sim->inputs.target_set[k]) {
        return mabd_rigid_held_target(&sim->inputs, k, mabd_axis_is_position(c), part);
    }
    return mabd_rigid_signal(c->servo, sim->time, h, sim->time + part * h);
}

mabd_real mabd_maximal_motor(const mabd_maximal_sim* sim, int32_t joint, int32_t r) {
    const mabd_row_set* set = &sim->model->row_sets[sim->model->joints[joint].row_set];
    const size_t k = mabd_rigid_motor_input(&sim->inputs, joint, r);
    if (sim->inputs.target_set[k]) return sim->inputs.target[k];
    return mabd_rigid_signal(set->motor[r].force, sim->time, sim->def.h, sim->time);
}

static void add_torque(mabd_rigid_wrench* load, mabd_vec3 t) {
    load->t = mabd_v3_add(load->t, t);
}

// ---- axes --------------------------------------------------------------------------------------

static void add_row(mabd_maximal_sim* sim, const mabd_model_joint* joint, const mabd_rigid_row* J,
                    mabd_real force) {
    mabd_rigid_wrench *a = &sim->load[joint->a], *b = &sim->load[joint->b];
    a->f = mabd_v3_axpy(force, J->a.f, a->f), a->t = mabd_v3_axpy(force, J->a.t, a->t);
    b->f = mabd_v3_axpy(force, J->b.f, b->f), b->t = mabd_v3_axpy(force, J->b.t, b->t);
}

// Explicit force on control r of a joint, but for dampers of rotation vectors.
static mabd_real axis_force(const mabd_maximal_sim* sim, const mabd_model_joint* joint, int32_t r) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_control* c = &set->control[r];
    const mabd_real* x = sim->now.x + 2 * (size_t)(joint->coordinate + r);
    const bool turns = set->damped && set->control_row[r].kind == MABD_ROW_VECTOR;
    const mabd_real target = c->gain > 0 ? mabd_maximal_input(sim, joint, r, 0) : 0;
    return c->offset + c->gain * target - c->stiffness * x[0] - (turns ? 0 : c->damping * x[1]);
}

// True if dampers of a rotation vector are explicit.
static bool has_dampers(const mabd_maximal_sim* sim, const mabd_row_set* set) {
    return set->damped && sim->def.integrator != MABD_INTEGRATOR_LINEAR_IMPLICIT;
}

// Torque of the dampers of a rotation vector on b, joint frame on b.
static mabd_vec3 damper_torque(const mabd_maximal_sim* sim, const mabd_model_joint* joint) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real torque[3] = {0, 0, 0};
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_row* row = &set->control_row[r];
        if (row->kind != MABD_ROW_VECTOR) continue;
        torque[row->axis] =
            -set->control[r].damping * sim->now.x[2 * (size_t)(joint->coordinate + r) + 1];
    }
    return mabd_v3_load(torque);
}

static void add_dampers(mabd_maximal_sim* sim, const mabd_model_joint* joint,
                        const mabd_joint_view* view) {
    const mabd_vec3 on_b = mabd_m3_mul(view->Fb, damper_torque(sim, joint));
    add_torque(&sim->load[joint->b], on_b);
    add_torque(&sim->load[joint->a],
               mabd_v3_scale(-1, mabd_m3_tmul(view->Aa, mabd_m3_mul(view->Ab, on_b))));
}

static void add_axes(mabd_maximal_sim* sim, int32_t index) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_rigid_view(sim->model, joint, sim->poses);
    mabd_real near[MABD_JOINT_MAX_ROWS] = {0}, x[MABD_JOINT_MAX_ROWS];
    mabd_rigid_row J[MABD_JOINT_MAX_ROWS];
    for (int32_t r = 0; r < set->motor_count; r++) {
        mabd_rigid_joint_rows(&view, 1, &set->motor[r].row, near, x, J);
        add_row(sim, joint, J, mabd_maximal_motor(sim, index, r));
    }
    for (int32_t r = 0; r < set->control_count; r++) {
        near[r] = sim->now.x[2 * (size_t)(joint->coordinate + r)];
    }
    mabd_rigid_joint_rows(&view, set->control_count, set->control_row, near, x, J);
    for (int32_t r = 0; r < set->control_count; r++) {
        if (mabd_maximal_is_row(&sim->def, set, r) && !mabd_maximal_is_turn(set, r)) continue;
        const size_t k = (size_t)(joint->coordinate + r);
        sim->through[k] = axis_force(sim, joint, r);
        add_row(sim, joint, &J[r], sim->through[k]);
    }
    if (has_dampers(sim, set)) add_dampers(sim, joint, &view);
}

void mabd_maximal_set_loads(mabd_maximal_sim* sim) {
    const mabd_model* m = sim->model;
    const mabd_vec3 wind = mabd_rigid_wind(m, sim->time, sim->def.h, sim->time);
    memset(sim->load, 0, ((size_t)m->body_count + 1) * sizeof *sim->load);
    for (int32_t i = 0; i < m->body_count; i++) {
        if (sim->body_component[i] < 0) continue;
        const mabd_rigid_moment at = {sim->time, sim->time, sim->def.h};
        const mabd_real drag = m->classes[m->body_class[i]].material.drag;
        mabd_rigid_wrench* load = &sim->load[i];
        *load = mabd_rigid_body_load(m, &sim->inputs, i, sim->body_force[i], sim->poses[i].R, &at);
        if (drag > 0) load->f = mabd_v3_axpy(drag, mabd_v3_sub(wind, sim->u[i].v), load->f);
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_row_set* set = &m->row_sets[m->joints[i].row_set];
        if (set->control_count > 0 || set->motor_count > 0) add_axes(sim, i);
    }
    mabd_maximal_add_springs(sim);
}

mabd_rigid_twist mabd_maximal_free_twist(const mabd_maximal_sim* sim, int32_t body) {
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
    const mabd_real *I = c->principal, h = sim->def.h;
    const mabd_mat3 R = sim->poses[body].R;
    const mabd_spatial V = sim->now.body[body].V;
    const mabd_spatial P = mabd_sp(mabd_v3(I[0] * V.w.x, I[1] * V.w.y, I[2] * V.w.z),
                                   mabd_v3_scale(c->material.mass, V.v));
    const mabd_spatial coriolis = mabd_sp_cross_wrench(V, P); // ad(V)' M V
    mabd_rigid_wrench F;
    F.t = mabd_v3_add(coriolis.w, sim->load[body].t);
    F.f = mabd_v3_add(mabd_m3_mul(R, coriolis.v), sim->load[body].f);
    return mabd_rigid_twist_axpy(h, mabd_rigid_accelerate(c, F), sim->u[body]);
}

// ---- wrenches of joints ------------------------------------------------------------------------

// Add a torque about an axis of the joint frame on b to a wrench.
static void add_turn(const mabd_joint_view* view, int axis, mabd_real torque, mabd_real* wrench) {
    const mabd_vec3 n = mabd_m3_mul(view->Ab, mabd_m3_column(&view->Fb, axis));
    mabd_v3_store(mabd_v3_axpy(torque, n, mabd_v3_load(wrench + 3)), wrench + 3);
}

void mabd_maximal_write_wrench(mabd_maximal_sim* sim, int32_t index) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_rigid_view(sim->model, joint, sim->poses);
    const int32_t slot = sim->plan->joint_slot[index];
    const mabd_real* l = slot < 0 ? NULL : sim->lambda + sim->plan->slot_row[slot];
    mabd_real *wrench = sim->wrench + 6 * (size_t)index, zero = 0;
    int32_t row = set->rigid_count;
    memset(wrench, 0, 6 * sizeof *wrench);
    for (int32_t r = 0; l && r < set->rigid_count; r++) {
        mabd_rigid_add_row_force(&view, &set->rigid[r], NULL, l[r] / sim->def.h, wrench);
    }
    for (int32_t r = 0; r < set->control_count; r++) {
        const size_t k = (size_t)(joint->coordinate + r);
        if (l && mabd_maximal_is_row(&sim->def, set, r)) {
            const mabd_real force = l[row++] / sim->def.h;
            if (mabd_maximal_is_turn(set, r)) {
                add_turn(&view, set->control_row[r].axis, force, wrench);
            } else {
                sim->through[k] = force;
            }
        }
        mabd_rigid_add_row_force(&view, &set->control_row[r], &sim->now.x[2 * k], sim->through[k],
                                 wrench);
    }
    for (int32_t r = 0; r < set->motor_count; r++) {
        mabd_rigid_add_row_force(&view, &set->motor[r].row, &zero,
                                 mabd_maximal_motor(sim, index, r), wrench);
    }
    if (has_dampers(sim, set)) {
        const mabd_vec3 t = mabd_m3_mul(view.Fb, damper_torque(sim, joint));
        mabd_v3_store(mabd_v3_add(mabd_v3_load(wrench + 3), mabd_m3_mul(view.Ab, t)), wrench + 3);
    }
}
