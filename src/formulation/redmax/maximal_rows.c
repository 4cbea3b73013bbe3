// SPDX-License-Identifier: Apache-2.0
// Rows of joints in maximal coordinates.
//
// [RM sec. 1.10] takes the twist of body b relative to a in the frame of the joint and drops the
// rows of its free axes. At a closed joint the rows of joint/rows.h span the same space, and they
// have values g where it is open. The velocities after a step obey, with the part b of the error
// that a step takes away [RM eq. 1.97, gamma = b/h and alpha = beta = b/h],
//
//   velocity      G V+ = -b g/h
//   acceleration  G (V+ - V)/h = -G' V - 2 (b/h) G V - (b/h)^2 g
//
// so the errors of one step follow from those of the last one by g+ = (1 - b) g, which decays for
// b < 2, and by a matrix of trace 2 - 2b - b^2 and determinant 1 - 2b, whose eigenvalues are in the
// unit circle for 0 < b < 0.828.
//
//   rigid servo   G V+ = (theta+ - theta)/h + b (theta - x)/h, at both levels
//
// Integrator linear-implicit has rows for springs and dampers of axes [RM eq. 2.84]: the impulse
// l = h (f - k (x + h x'+) - d x'+) is that of a row with a compliance,
//
//   x'+ + l/(h (h k + d)) = (f - k x)/(h k + d)
//
// Springs on rotation vectors act on another rate than dampers beside them, which act on the
// relative angular velocity r in the joint frame on b. There the force of the spring at the start
// stays explicit, and the row has the rest of it as if it acted on r, which is the same to first
// order:
//
//   r+ + l/(h (h k + d)) = 0

#include "formulation/redmax/maximal.h"
#include "formulation/redmax/maximal_bias.h"
#include "rigid/joint_coordinates.h"
#include "rigid/script.h"

#include <string.h>

// ---- which rows --------------------------------------------------------------------------------

bool mabd_maximal_is_row(const mabd_sim_def* def, const mabd_row_set* set, int32_t r) {
    const mabd_control* c = &set->control[r];
    if (c->rigid) return true;
    return def->integrator == MABD_INTEGRATOR_LINEAR_IMPLICIT &&
           (c->stiffness > 0 || c->damping > 0);
}

bool mabd_maximal_is_turn(const mabd_row_set* set, int32_t r) {
    return set->control_row[r].kind == MABD_ROW_VECTOR && !set->control[r].rigid;
}

int32_t mabd_maximal_row_count(const mabd_model* m, const mabd_sim_def* def, int32_t index) {
    const mabd_model_joint* joint = &m->joints[index];
    const mabd_row_set* set = &m->row_sets[joint->row_set];
    int32_t count = set->rigid_count;
    if (m->body_motion[joint->a] != MABD_MOTION_DYNAMIC &&
        m->body_motion[joint->b] != MABD_MOTION_DYNAMIC) {
        return 0;
    }
    for (int32_t r = 0; r < set->control_count; r++) count += mabd_maximal_is_row(def, set, r);
    return count;
}

// ---- bodies ------------------------------------------------------------------------------------

void mabd_maximal_place(mabd_maximal_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i <= m->body_count; i++) {
        const mabd_rigid_state s = mabd_maximal_state_of(sim, &sim->now, sim->time, i);
        const int32_t script = sim->body_script[i];
        mabd_rigid_pose* pose = &sim->poses[i];
        pose->R = mabd_q_matrix(s.q), pose->c = s.c;
        sim->u[i].v = s.v, sim->u[i].w = mabd_m3_tmul(pose->R, s.omega);
        if (script >= 0) {
            const mabd_rigid_pose to =
                mabd_rigid_script_pose(m, &m->scripts[script], sim->time + sim->def.h);
            sim->u[i] = mabd_rigid_mean_twist(pose, &to, sim->def.h);
        }
        sim->free[i] = sim->u[i];
    }
}

static mabd_spatial twist_in_body(const mabd_maximal_sim* sim, int32_t body) {
    return mabd_sp(sim->u[body].w, mabd_m3_tmul(sim->poses[body].R, sim->u[body].v));
}

// ---- rows --------------------------------------------------------------------------------------

static void rigid_rows(mabd_maximal_sim* sim, const mabd_model_joint* joint,
                       const mabd_joint_view* view, int32_t first) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_real b = sim->def.redmax.baumgarte, h = sim->def.h;
    const bool by_rate = sim->def.redmax.baumgarte_level == MABD_BAUMGARTE_VELOCITY;
    const mabd_spatial Va = twist_in_body(sim, joint->a), Vb = twist_in_body(sim, joint->b);
    mabd_real C[MABD_JOINT_MAX_ROWS];
    mabd_rigid_joint_rows(view, set->rigid_count, set->rigid, NULL, C, sim->J + first);
    for (int32_t r = 0; r < set->rigid_count; r++) {
        sim->goal[first + r] = -b * C[r] / h;
        if (by_rate) continue;
        const mabd_real rate =
            mabd_rigid_row_rate(&sim->J[first + r], sim->u[joint->a], sim->u[joint->b]);
        const mabd_real bias = mabd_maximal_bias(view, &set->rigid[r], Va, Vb);
        sim->goal[first + r] = (1 - 2 * b) * rate - h * bias - b * b * C[r] / h;
    }
}

// Set the goal of the row of control r at coordinate x.
static void control_goal(mabd_maximal_sim* sim, const mabd_model_joint* joint, int32_t r,
                         mabd_real x, int32_t row) {
    const mabd_control* c = &sim->model->row_sets[joint->row_set].control[r];
    const mabd_real h = sim->def.h, end = mabd_maximal_input(sim, joint, r, 1);
    if (c->rigid) {
        const mabd_real start = mabd_maximal_input(sim, joint, r, 0);
        sim->goal[row] = (end - start + sim->def.redmax.baumgarte * (start - x)) / h;
        return;
    }
    const mabd_real stiff = h * c->stiffness + c->damping;
    sim->goal[row] = (c->offset + c->gain * end - c->stiffness * x) / stiff;
    sim->compliance[row] = 1 / (h * stiff);
}

// Set the row of control r, a spring or damper of a rotation vector.
static void turn_row(mabd_maximal_sim* sim, const mabd_row_set* set, const mabd_joint_view* v,
                     int32_t r, int32_t row) {
    const mabd_control* c = &set->control[r];
    const mabd_real h = sim->def.h;
    mabd_rigid_row* J = &sim->J[row];
    memset(J, 0, sizeof *J);
    J->b.t = mabd_m3_column(&v->Fb, set->control_row[r].axis);
    J->a.t = mabd_v3_scale(-1, mabd_m3_tmul(v->Aa, mabd_m3_mul(v->Ab, J->b.t)));
    sim->compliance[row] = 1 / (h * (h * c->stiffness + c->damping));
}

static void control_rows(mabd_maximal_sim* sim, const mabd_model_joint* joint,
                         const mabd_joint_view* view, int32_t row) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    mabd_real near[MABD_JOINT_MAX_ROWS] = {0}, x[MABD_JOINT_MAX_ROWS];
    mabd_rigid_row J[MABD_JOINT_MAX_ROWS];
    for (int32_t r = 0; r < set->control_count; r++) {
        near[r] = sim->now.x[2 * (size_t)(joint->coordinate + r)];
    }
    mabd_rigid_joint_rows(view, set->control_count, set->control_row, near, x, J);
    for (int32_t r = 0; r < set->control_count; r++) {
        if (!mabd_maximal_is_row(&sim->def, set, r)) continue;
        if (mabd_maximal_is_turn(set, r)) {
            turn_row(sim, set, view, r, row++);
            continue;
        }
        sim->J[row] = J[r];
        control_goal(sim, joint, r, x[r], row++);
    }
}

void mabd_maximal_rows(mabd_maximal_sim* sim, int32_t component) {
    const mabd_plan* plan = sim->plan;
    const mabd_plan_component* c = &plan->components[component];
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        const int32_t first = plan->slot_row[s];
        memset(sim->goal + first, 0, (size_t)plan->slot_width[s] * sizeof *sim->goal);
        memset(sim->compliance + first, 0, (size_t)plan->slot_width[s] * sizeof *sim->compliance);
        if (plan->slot_joint[s] < 0) continue;
        const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[s]];
        const int32_t rigid = sim->model->row_sets[joint->row_set].rigid_count;
        const mabd_joint_view view = mabd_rigid_view(sim->model, joint, sim->poses);
        rigid_rows(sim, joint, &view, first);
        if (plan->slot_width[s] > rigid) control_rows(sim, joint, &view, first + rigid);
    }
}

// ---- coordinates -------------------------------------------------------------------------------

void mabd_maximal_coordinates(const mabd_maximal_sim* sim, const mabd_model_joint* joint,
                              const mabd_maximal_node* node, mabd_real time, const mabd_real* near,
                              mabd_real* x) {
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_maximal_view(sim, joint, node, time);
    const mabd_rigid_state a = mabd_maximal_state_of(sim, node, time, joint->a);
    const mabd_rigid_state b = mabd_maximal_state_of(sim, node, time, joint->b);
    mabd_rigid_control_coordinates(set, &view, mabd_rigid_twist_of(&a), mabd_rigid_twist_of(&b),
                                   near, x);
}
