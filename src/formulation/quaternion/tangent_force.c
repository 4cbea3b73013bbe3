// SPDX-License-Identifier: Apache-2.0
// Derivatives of joint forces and of the forces of servos: of multipliers, least-norm ones where
// rows are redundant, and of the torques of dampers and armature on free rotations.
//
//   wrench of a joint = sum of lambda_i e_i,   e_i: J_b of a force row, R_b J_b of a torque row
//   lambda_ln = V J y with J' lambda_ln = J' lambda, V = W^-1                 (multipliers.c)
//
// lambda is that of the last solve, or of the accelerations at the state (output.c). With g the
// derivative of the loss by lambda_ln, z = (J' V J)^+ J' V g and r = V (g - J z),
//
//   by lambda    J z
//   by the pose  z' (G(lambda) - G(lambda_ln)) + sum_i r_i y' G_i
//
// G(lambda) and G(lambda_ln) differ although J' lambda does not: without this difference, as below
// [VQ eq. 41], the gradient of a tumbling mechanism with redundant rows is wrong. Parameters that
// move joint frames act in the same two products (tangent_parameter.c).

#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/multipliers.h"
#include "formulation/quaternion/quaternion_axes.h"
#include "formulation/quaternion/tangent_joint.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

/// Joint forces of a part at the state.
typedef struct force_point {
    mabd_quaternion_gradient* g;
    mabd_quaternion_point p; // accelerations, if the multipliers are theirs
    bool solved;             // the multipliers are those of the last solve
    mabd_real *any, *least;  // (rows of all parts) multipliers before and after the reduction
    mabd_real* bars;         // (rows of all parts) derivatives by the reduced ones
    mabd_real *y, *z;        // (6 per body of the part)
    int64_t step;
    mabd_real* gradient;
    const mabd_output_bars* outputs;
    bool turns; // torques with armature on free rotations have bars, which are in g->slope
} force_point;

// ---- effects of rows ---------------------------------------------------------------------------

/// A row with its multiplier, and the bars of the wrench in its frame.
typedef struct row_effect {
    mabd_rigid_row J;
    mabd_real G[4][36];
    mabd_vec3 bar; // of the force, world, or of the torque, frame of b
    bool force;
} row_effect;

static void find_effect(const mabd_tangent_joint* at, const mabd_row* row, const mabd_real* near,
                        const mabd_real* wrench, row_effect* e) {
    const mabd_rigid_joint own = mabd_rigid_joint_at(&at->view, 1, row, near);
    const mabd_rigid_blocks G = {e->G[0], e->G[1], e->G[2], e->G[3]};
    const mabd_real one = 1;
    e->J = mabd_rigid_row_jacobian(&own, row);
    e->force = row->kind == MABD_ROW_POINT || row->kind == MABD_ROW_SLIDE;
    e->bar = e->force ? mabd_v3_load(wrench) : mabd_m3_tmul(at->view.Ab, mabd_v3_load(wrench + 3));
    memset(e->G, 0, sizeof e->G);
    mabd_rigid_add_geometric(&own, 1, row, &one, &G);
}

static mabd_real effect_value(const row_effect* e) {
    return mabd_v3_dot(e->bar, e->force ? e->J.b.f : e->J.b.t);
}

// Derivative of the effect along a change (6) of a side: bar.(G change), and the turn of b.
static mabd_real effect_change(const row_effect* e, int side, const mabd_real* change) {
    const mabd_real* G = e->G[2 + side] + (e->force ? 0 : 18);
    mabd_real out[3] = {0};
    mabd_pass(false, 1, G, 3, 6, out, (mabd_real*)change);
    mabd_real sum = mabd_v3_dot(e->bar, mabd_v3_load(out));
    if (!e->force && side == 1) { // R_b t: turn x t in the frame of b
        sum += mabd_v3_dot(e->bar, mabd_v3_cross(mabd_v3_load(change + 3), e->J.b.t));
    }
    return sum;
}

// Add lambda times the derivatives of an effect by poses and by moves of the joint frame.
static void add_effect(const force_point* f, const mabd_tangent_joint* at, const row_effect* e,
                       mabd_real lambda) {
    const mabd_quaternion_gradient* g = f->g;
    const int32_t slots[2] = {at->j->slot_a, at->j->slot_b};
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < 6 && slots[side] >= 0; k++) {
            mabd_real change[6] = {0};
            change[k] = 1;
            g->xi[6 * (size_t)slots[side] + (size_t)k] += lambda * effect_change(e, side, change);
        }
        const mabd_mat3 R = side == 0 ? at->view.Aa : at->view.Ab;
        const mabd_vec3 X = side == 0 ? at->view.Xa : at->view.Xb;
        for (int32_t i = 0; i < g->parameter_count; i++) {
            mabd_vec3 shift, turn;
            mabd_real change[6];
            if (!mabd_tangent_move(g, i, at->joint, at->j->joint, side, &shift, &turn)) continue;
            mabd_v3_store(mabd_m3_mul(R, mabd_v3_sub(shift, mabd_v3_cross(turn, X))), change);
            mabd_v3_store(turn, change + 3);
            f->gradient[i] += lambda * effect_change(e, side, change);
        }
    }
}

// Derivative of the force of a motor by the parameters that set it.
static void add_motor_input(const force_point* f, const mabd_tangent_joint* at, int32_t row,
                            mabd_real bar) {
    const mabd_quaternion_gradient* g = f->g;
    const mabd_model* m = g->sim->model;
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const mabd_parameter* p = &g->parameters[i];
        if (p->kind != MABD_PARAMETER_CONTROL || f->step < p->first || f->step > p->last) continue;
        const mabd_copy_control* own = &m->controls[p->index % m->control_count];
        const int32_t joint = p->index / m->control_count * m->copy_joints + own->joint;
        if (joint == at->j->joint && own->kind == MABD_CONTROL_FORCE && own->row == row) {
            f->gradient[i] += bar;
        }
    }
}

// Torques of dampers and armature on free rotations: t = -R_b F (d x' + I x''), in the frame of b
// F'R_b't has the bars F'R_b' of those of t, and R_b turns.
static void add_damper(force_point* f, const mabd_tangent_joint* at, const mabd_real* wrench) {
    mabd_quaternion_gradient* g = f->g;
    const mabd_vec3 bar = mabd_m3_tmul(at->view.Ab, mabd_v3_load(wrench + 3));
    mabd_vec3 torque = mabd_v3(0, 0, 0);
    for (int32_t r = 0; r < at->set->control_count; r++) {
        if (!mabd_quaternion_is_damped_turn(at->set, r)) continue;
        const mabd_control* c = &at->set->control[r];
        const int axis = at->set->control_row[r].axis;
        const mabd_vec3 F = mabd_m3_column(&at->view.Fb, axis);
        const size_t rate = 2 * (size_t)(at->joint->coordinate + r) + 1;
        const mabd_real own = mabd_v3_dot(F, bar), x = g->sim->now.x[rate];
        const mabd_real bend = c->armature > 0 ? g->sim->next_slope.x[rate] : 0;
        g->directions[0].now.x[rate] -= c->damping * own;
        g->slope.x[rate] -= c->armature * own;
        f->turns |= c->armature * own != 0;
        torque = mabd_v3_axpy(-c->damping * x - c->armature * bend, F, torque);
        for (int32_t i = 0; i < g->parameter_count; i++) {
            const mabd_parameter* p = &g->parameters[i];
            if (p->index != at->j->joint || p->axis != MABD_AXIS_RX + axis) continue;
            if (p->kind == MABD_PARAMETER_DAMPING) f->gradient[i] -= own * x;
            if (p->kind == MABD_PARAMETER_ARMATURE) f->gradient[i] -= own * bend;
        }
    }
    if (at->j->slot_b < 0) return;
    mabd_real* phi = g->xi + 6 * (size_t)at->j->slot_b + 3; // d(R_b t) = R_b (phi x t)
    mabd_v3_store(mabd_v3_add(mabd_v3_load(phi), mabd_v3_cross(torque, bar)), phi);
}

// Bars of the forces of servos and rate drives.
static void add_efforts(const force_point* f, const mabd_tangent_joint* at) {
    const mabd_quaternion_gradient* g = f->g;
    const mabd_model* m = g->sim->model;
    for (int32_t k = 0; k < at->set->control_count; k++) {
        const int32_t row = at->j->row + at->set->rigid_count + k;
        const int32_t axis = (int32_t)mabd_quaternion_axis_of(&at->set->control_row[k]);
        const mabd_real bar = f->outputs->efforts[6 * at->j->joint + axis];
        const mabd_quaternion_effort e =
            mabd_quaternion_effort_of(g->sim, at->j->joint, k, f->least[row]);
        mabd_real* x = g->directions[0].now.x + 2 * (size_t)(at->joint->coordinate + k);
        f->bars[row] += e.by_lambda * bar;
        x[0] += e.by_x * bar, x[1] += e.by_rate * bar;
        for (int32_t i = 0; i < g->parameter_count; i++) {
            const mabd_parameter* p = &g->parameters[i];
            if (p->kind == MABD_PARAMETER_CONTROL) {
                const mabd_copy_control* own = &m->controls[p->index % m->control_count];
                const int32_t joint = p->index / m->control_count * m->copy_joints + own->joint;
                const bool set = own->kind != MABD_CONTROL_FORCE && own->row == k &&
                                 p->first <= f->step && f->step <= p->last;
                if (set && joint == at->j->joint) f->gradient[i] += e.by_target * bar;
            }
            if (p->index != at->j->joint || p->axis != axis) continue;
            if (p->kind == MABD_PARAMETER_STIFFNESS) f->gradient[i] += e.by_spring * bar;
            if (p->kind == MABD_PARAMETER_REST) f->gradient[i] += e.by_rest * bar;
            if (p->kind == MABD_PARAMETER_DAMPING) f->gradient[i] += e.by_damping * bar;
            if (p->kind == MABD_PARAMETER_FRICTION) f->gradient[i] += e.by_friction * bar;
        }
    }
}

static void add_joint(force_point* f, int32_t number) {
    const mabd_quaternion_sim* sim = f->g->sim;
    mabd_tangent_joint at;
    row_effect e;
    mabd_tangent_joint_at(&f->p, number, &at);
    for (int32_t r = 0; r < at.j->width; r++) f->bars[at.j->row + r] = 0;
    if (f->outputs->efforts) add_efforts(f, &at);
    if (!f->outputs->forces) return;
    const mabd_real *wrench = f->outputs->forces + 6 * (size_t)at.j->joint, near = 0;
    for (int32_t r = 0; r < at.j->width; r++) {
        find_effect(&at, mabd_tangent_row_of(&at, r), &at.x[r], wrench, &e);
        f->bars[at.j->row + r] += effect_value(&e);
        add_effect(f, &at, &e, f->least[at.j->row + r]);
    }
    if (at.set->damped) add_damper(f, &at, wrench);
    for (int32_t r = 0; r < at.set->motor_count; r++) {
        find_effect(&at, &at.set->motor[r].row, &near, wrench, &e);
        add_effect(f, &at, &e, sim->input[sim->model->coordinate_count + at.j->motor + r]);
        add_motor_input(f, &at, r, effect_value(&e));
    }
}

// ---- the reduction -----------------------------------------------------------------------------

static mabd_status refuse_weights(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                                  mabd_error* error) {
    for (int32_t i = 0; i < part->joint_count; i++) {
        const mabd_model_joint* joint =
            &sim->model->joints[sim->joints[part->joint_first + i].joint];
        const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
        if (set->weight[0] == set->weight[1] && set->weight[1] == set->weight[2]) continue;
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation 'quaternion': joint forces with weights that differ between "
                         "axes have no derivatives");
    }
    return MABD_OK;
}

// V g of the rows of a part into `out` (rows of the part): rows that are not free get 0.
static void weigh(const mabd_quaternion_solve* s, const mabd_real* g, mabd_real* out) {
    const mabd_quaternion_part* part = s->part;
    for (int32_t i = 0; i < part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[part->joint_first + i];
        const mabd_real* V = part->graph->V + (size_t)i * MABD_GRAPH_WIDTH * MABD_GRAPH_WIDTH;
        for (int32_t r = 0; r < j->width; r++) {
            mabd_real sum = 0;
            for (int32_t q = 0; q < j->width; q++) sum += V[r * j->width + q] * g[j->row + q];
            out[j->row - part->row_first + r] = sum;
        }
    }
}

// Go back over the reduction: bars of the reduced multipliers become those of the ones before.
static void adjoint_reduction(force_point* f) {
    mabd_quaternion_gradient* g = f->g;
    const mabd_quaternion_solve* s = &f->p.s;
    const mabd_quaternion_part* part = s->part;
    const size_t bodies = 6 * (size_t)part->body_count;
    mabd_real *r = g->F + bodies, *own = g->dy + bodies; // rows of the part: V g and V J z
    mabd_quaternion_point p = f->p;
    memset(own, 0, (size_t)part->row_count * sizeof *own);
    weigh(s, f->bars, r);
    mabd_body_graph_body_forces(s, r, part->graph->force);
    mabd_quaternion_least_norm(s, part->graph->force, own);
    memcpy(f->z, part->graph->motion, bodies * sizeof *f->z);
    for (int32_t k = 0; k < part->row_count; k++) {
        r[k] -= own[k];
        f->any[part->row_first + k] -= f->least[part->row_first + k];
    }
    p.function = MABD_FUNCTION_REDUCE, p.multiplier = f->any, p.y = f->y, p.scale = 1;
    for (int32_t i = 0; i < part->joint_count; i++) {
        mabd_tangent_joint at;
        mabd_real G[4][36];
        mabd_tangent_joint_at(&p, i, &at);
        const mabd_tangent_motion m = mabd_tangent_motion_of(&p, &at);
        const int32_t slots[2] = {at.j->slot_a, at.j->slot_b};
        memset(G, 0, sizeof G);
        mabd_tangent_geometric(&p, &at, G, NULL);
        for (int k = 0; k < 4; k++) { // z' G
            const int32_t on = slots[k / 2], of = slots[k % 2];
            if (on < 0 || of < 0) continue;
            mabd_pass(true, 1, G[k], 6, 6, f->z + 6 * (size_t)on, g->xi + 6 * (size_t)of);
        }
        for (int32_t k = 0; k < at.j->width; k++) {
            mabd_real rate[12];
            if (!mabd_is_free_row(at.set, k)) continue;
            mabd_real* bar = &f->bars[at.j->row + k];
            mabd_tangent_rate_gradient(&at, k, m.u[0], m.u[1], rate);
            mabd_tangent_sides(&at, rate, true, 1, &r[at.j->row - part->row_first + k], g->xi);
            *bar = 0; // J z
            mabd_tangent_row(&at, &at.J[k], false, 1, bar, f->z);
        }
    }
    for (size_t k = 0; k < bodies; k++) g->F[k] = -f->z[k]; // F = (-z, r): see PROJECT
    const mabd_quaternion_node none = {NULL, NULL};
    for (int32_t i = 0; i < g->parameter_count; i++) {
        mabd_tangent_parameter(g, &p, i, f->step, true, g->F, none, &f->gradient[i]);
    }
}

// ---- a part ------------------------------------------------------------------------------------

// True if some free rotation of a part has armature, whose torque needs accelerations.
static bool has_turns(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < part->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[sim->joints[part->joint_first + i].joint];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        for (int32_t r = 0; set->damped && r < set->control_count; r++) {
            if (mabd_quaternion_is_damped_turn(set, r) && set->control[r].armature > 0) return true;
        }
    }
    return false;
}

// Compute the accelerations at the state, with their factor, as the getters do (output.c).
static mabd_status accelerate(force_point* f, mabd_error* error) {
    mabd_quaternion_gradient* g = f->g;
    mabd_quaternion_sim* sim = g->sim;
    const mabd_quaternion_part* part = f->p.s.part;
    const size_t n = 6 * (size_t)part->body_count + (size_t)part->row_count;
    mabd_quaternion_set_inputs(&f->p.s);
    if (mabd_quaternion_accelerate(&f->p.s, &sim->now) != MABD_OK) {
        return mabd_fail(error, MABD_ERR_SINGULAR, "joint forces have no derivatives");
    }
    memcpy(g->solution, sim->y + part->vector_first, n * sizeof *g->solution);
    memcpy(g->projecting + part->row_first, g->solution + 6 * (size_t)part->body_count,
           (size_t)part->row_count * sizeof *g->solution);
    return MABD_OK;
}

// Multipliers of the state before and after the reduction.
static mabd_status find_multipliers(force_point* f, mabd_error* error) {
    mabd_quaternion_gradient* g = f->g;
    mabd_quaternion_sim* sim = g->sim;
    const mabd_quaternion_solve* s = &f->p.s;
    const mabd_quaternion_part* part = s->part;
    const size_t bodies = 6 * (size_t)part->body_count, rows = (size_t)part->row_count;
    const mabd_real* known = sim->lambda + part->row_first;
    if (!f->solved || has_turns(sim, part)) {
        MABD_TRY(accelerate(f, error));
        mabd_quaternion_write_slope(s, &sim->now, &sim->next_slope);
        if (!f->solved) known = g->solution + bodies;
    }
    memcpy(f->any + part->row_first, known, rows * sizeof *known);
    memcpy(f->least + part->row_first, known, rows * sizeof *known);
    if (part->redundant) {
        mabd_quaternion_reduce(s, &sim->now, f->least + part->row_first);
        memcpy(f->y, part->graph->motion, bodies * sizeof *f->y);
    }
    mabd_quaternion_take_pose(s, &sim->now);
    return MABD_OK;
}

// Go back over the accelerations, whose multipliers have the bars, or whose slopes have.
static mabd_status adjoint_acceleration(force_point* f, mabd_error* error) {
    mabd_quaternion_gradient* g = f->g;
    const mabd_quaternion_part* part = f->p.s.part;
    const size_t bodies = 6 * (size_t)part->body_count, rows = (size_t)part->row_count;
    const mabd_quaternion_node now = g->directions[0].now;
    MABD_TRY(accelerate(f, error)); // for its factor
    f->p.y = g->solution, f->p.multiplier = g->projecting;
    if (mabd_tangent_find_contradiction(g, &f->p) != MABD_OK) {
        return mabd_fail(error, MABD_ERR_SINGULAR, "joint forces have no derivatives");
    }
    memset(g->dy, 0, (bodies + rows) * sizeof *g->dy);
    if (!f->solved) memcpy(g->dy + bodies, f->bars + part->row_first, rows * sizeof *g->dy);
    if (f->turns) mabd_tangent_slope(&f->p, true, g->slope, g->dy, g->xi, g->eta, now);
    mabd_tangent_solve(&f->p, true, g->dy, g->F);
    mabd_tangent_contradict(g, &f->p, -1, f->step, g->F, g->xi);
    mabd_tangent_acceleration(&f->p, true, g->F, g->xi, g->eta, now);
    for (int32_t i = 0; i < g->parameter_count; i++) {
        if (g->parameters[i].kind == MABD_PARAMETER_FORCE) continue; // they end with their step
        mabd_tangent_parameter(g, &f->p, i, f->step, true, g->F, g->slope, &f->gradient[i]);
    }
    return MABD_OK;
}

static bool has_bars(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                     const mabd_real* bars) {
    for (int32_t i = 0; bars && i < part->joint_count; i++) {
        const mabd_real* own = bars + 6 * (size_t)sim->joints[part->joint_first + i].joint;
        for (int k = 0; k < 6; k++) {
            if (own[k] != 0) return true;
        }
    }
    return false;
}

static mabd_status adjoint_part(force_point* f, mabd_error* error) {
    mabd_quaternion_gradient* g = f->g;
    mabd_quaternion_sim* sim = g->sim;
    const mabd_quaternion_part* part = f->p.s.part;
    const size_t bytes = 6 * (size_t)part->body_count * sizeof *g->xi;
    if (part->redundant && sim->def.quaternion.multipliers != MABD_MULTIPLIERS_LEAST_NORM) {
        return mabd_fail(
            error, MABD_ERR_UNAVAILABLE,
            "formulation 'quaternion': joint forces of redundant rows have derivatives "
            "with multipliers 'least-norm' only");
    }
    if (part->redundant && sim->def.integrator == MABD_INTEGRATOR_PARESCHI_RUSSO) {
        // it leaves rows open by O(h^2): redundant ones become independent with singular values of
        // this size, and their multipliers grow as 1/h^2
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation 'quaternion': joint forces of redundant rows have no "
                         "derivatives with integrator 'pareschi-russo', which leaves rows open");
    }
    MABD_TRY(find_multipliers(f, error));
    f->p.multiplier = f->least;
    memset(g->xi, 0, bytes), memset(g->eta, 0, bytes);
    f->turns = false;
    mabd_tangent_clear(sim, g->slope);
    for (int32_t i = 0; i < part->joint_count; i++) add_joint(f, i);
    if (part->redundant) {
        MABD_TRY(refuse_weights(sim, part, error));
        adjoint_reduction(f);
    }
    if (f->solved) {
        for (int32_t r = part->row_first; r < part->row_first + part->row_count; r++) {
            g->lambda[r] += f->bars[r];
        }
    }
    if (!f->solved || f->turns) MABD_TRY(adjoint_acceleration(f, error));
    mabd_quaternion_take_pose(&f->p.s, &sim->now);
    mabd_tangent_state(&f->p.s, true, &sim->now, g->xi, g->eta, g->directions[0].now);
    return MABD_OK;
}

mabd_status mabd_tangent_forces(mabd_quaternion_gradient* g, const mabd_output_bars* bars,
                                mabd_real* gradient, mabd_error* error) {
    mabd_quaternion_sim* sim = g->sim;
    const mabd_integrator i = sim->def.integrator;
    mabd_quaternion_report report = {0};
    force_point f = {.g = g, .any = g->closing, .least = g->least, .bars = g->force_bars};
    f.solved = i == MABD_INTEGRATOR_EULER || i == MABD_INTEGRATOR_BDF2;
    f.y = g->placed, f.z = g->placed + 6 * (size_t)sim->model->body_count;
    f.outputs = bars;
    f.step = (int64_t)floor((double)(sim->time / sim->def.h) + 0.5), f.gradient = gradient;
    for (int32_t k = 0; k < sim->part_count; k++) {
        mabd_quaternion_solve s = {.sim = sim, .part = &sim->parts[k], .report = &report};
        if (!has_bars(sim, s.part, bars->forces) && !has_bars(sim, s.part, bars->efforts)) continue;
        s.from = s.time = sim->time, s.h = sim->def.h;
        f.p = (mabd_quaternion_point){.s = s, .function = MABD_FUNCTION_ACCELERATE, .scale = 1};
        f.p.node = &sim->now;
        MABD_TRY(adjoint_part(&f, error));
    }
    return MABD_OK;
}
