// SPDX-License-Identifier: Apache-2.0
// Results for a user: poses in user frames, energies, joint forces, coordinates.
//
// Poses and velocities of bodies follow from the coordinates by one sweep over the links, in the
// workspace of the simulation.

#include "formulation/redmax/redmax_sim.h"

#include "formulation/redmax/redmax_springs.h"
#include "rigid/joint_coordinates.h"
#include "rigid/measure.h"
#include "rigid/rigid_output.h"
#include "rigid/row_jacobian.h"
#include "rigid/script.h"

#include <math.h>
#include <string.h>

/// Joints that are worth a thread, and the most ranges of them.
#define JOINTS_OF_A_THREAD 1024
#define JOINT_RANGES       64

// ---- bodies ------------------------------------------------------------------------------------

void mabd_redmax_place_now(const mabd_redmax_sim* self) {
    mabd_redmax_sim* sim = (mabd_redmax_sim*)self; // its state does not change
    if (sim->placed) return;
    sim->placed = true;
    for (int32_t p = 0; p < sim->part_count; p++) {
        const mabd_redmax_solve s = {.sim = sim, .part = &sim->parts[p], .from_node = &sim->now};
        mabd_redmax_load_node(&s, &sim->now);
        mabd_redmax_velocities(&s);
    }
}

mabd_rigid_state mabd_redmax_ground_state(const mabd_redmax_sim* sim, int32_t body,
                                          mabd_real time) {
    const mabd_model* m = sim->model;
    const mabd_rigid_state still = {{0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (body == m->body_count) return still;
    const int32_t at = sim->body_script[body];
    if (at >= 0) return mabd_rigid_script_state(m, &m->scripts[at], time);
    mabd_rigid_state s = mabd_rigid_from_user(&m->classes[m->body_class[body]], &m->start[body]);
    s.v = s.omega = mabd_v3(0, 0, 0);
    return s;
}

mabd_rigid_state mabd_redmax_body(const mabd_redmax_sim* sim, int32_t body) {
    const int32_t i = sim->body_link[body];
    if (i < 0) return mabd_redmax_ground_state(sim, body, sim->time);
    const mabd_frame* P = &sim->links[i].principal;
    const mabd_frame W = mabd_frame_product(&sim->world[i], P);
    const mabd_spatial V = mabd_frame_to_child(P, sim->V[i]);
    mabd_rigid_state s;
    s.c = W.p, s.q = mabd_q_from_matrix(W.R);
    s.v = mabd_m3_mul(W.R, V.v), s.omega = mabd_m3_mul(W.R, V.w);
    return s;
}

void mabd_redmax_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                           mabd_real* velocities, mabd_real* angular) {
    const mabd_redmax_sim* sim = self;
    const mabd_model* m = sim->model;
    mabd_redmax_place_now(sim);
    for (size_t i = 0; i < (size_t)m->body_count; i++) {
        const mabd_rigid_state s = mabd_redmax_body(sim, (int32_t)i);
        mabd_model_start user;
        mabd_rigid_to_user(&m->classes[m->body_class[i]], &s, &user);
        mabd_rigid_write_state(&user, i, positions, quaternions, velocities, angular);
    }
}

// ---- energies ----------------------------------------------------------------------------------

static void measure_body(const mabd_redmax_sim* sim, int32_t i, mabd_rigid_sum* sum) {
    const mabd_rigid_state s = mabd_redmax_body(sim, sim->links[i].body);
    mabd_rigid_sum_body(sim->model, sim->links[i].body, &s, sum);
}

// Joint with pieces whose coordinate a freedom is, -1 = none, or of a ball.
int32_t mabd_redmax_piece_joint(const mabd_redmax_sim* sim, int32_t k) {
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    const mabd_redmax_link* link = &sim->links[f->link];
    if (link->joint < 0 || f->axis < 0 || link->kind == MABD_PRIMITIVE_BALL) return -1;
    return sim->model->joints[link->joint].piece_count > 0 ? link->joint : -1;
}

void mabd_redmax_get_axes(const void* self, mabd_real* axes) {
    const mabd_redmax_sim* sim = self;
    for (size_t i = 0; i < 12 * (size_t)sim->model->joint_count; i++) axes[i] = (mabd_real)NAN;
    for (int32_t k = 0; k < sim->freedom_count; k++) {
        const int32_t joint = mabd_redmax_piece_joint(sim, k);
        if (joint < 0) continue;
        mabd_real* to = axes + 12 * (size_t)joint + 2 * (size_t)sim->freedoms[k].axis;
        to[0] = sim->now.q[k], to[1] = sim->now.v[k];
    }
}

void mabd_redmax_coordinate(const mabd_redmax_sim* sim, const mabd_redmax_node* node, int32_t k,
                            mabd_real* x) {
    const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
    const int32_t own = k - link->first;
    x[0] = node->q[k], x[1] = node->v[k];
    if (link->kind != MABD_PRIMITIVE_BALL) return;
    mabd_vec3 rho = mabd_v3_load(node->v + link->first);
    if (link->reversed) {
        const mabd_quat turn = mabd_q_load(node->turn + 4 * (size_t)link->ball);
        rho = mabd_v3_scale(-1, mabd_q_rotate(turn, rho));
    }
    x[0] = node->theta[3 * (size_t)link->ball + (size_t)own];
    x[1] = mabd_v3_get(rho, own);
}

static void measure_laws(const mabd_redmax_sim* sim, mabd_rigid_sum* sum) {
    for (int32_t k = 0; k < sim->freedom_count; k++) {
        const mabd_control* c = sim->freedoms[k].control;
        mabd_real x[2];
        if (!c) continue;
        mabd_redmax_coordinate(sim, &sim->now, k, x);
        mabd_rigid_sum_control(c, x[0], x[1], sum);
    }
}

// Pose of a side of a joint.
static void side(const mabd_redmax_sim* sim, int32_t body, mabd_mat3* R, mabd_vec3* c) {
    const int32_t i = sim->body_link[body];
    if (i >= 0) {
        const mabd_frame W = mabd_frame_product(&sim->world[i], &sim->links[i].principal);
        *R = W.R, *c = W.p;
    } else {
        const mabd_rigid_state s = mabd_redmax_ground_state(sim, body, sim->time);
        *R = mabd_q_matrix(s.q), *c = s.c;
    }
}

mabd_joint_view mabd_redmax_view(const mabd_redmax_sim* sim, const mabd_model_joint* joint) {
    mabd_joint_view view;
    mabd_model_joint_view(sim->model, joint, &view);
    side(sim, joint->a, &view.Aa, &view.ta);
    side(sim, joint->b, &view.Ab, &view.tb);
    return view;
}

/// Errors of a range of joints.
typedef struct joint_errors {
    mabd_real gap, angle;
    int32_t worst;
} joint_errors;

typedef struct joint_job {
    const mabd_redmax_sim* sim;
    int32_t count;
    joint_errors range[JOINT_RANGES];
} joint_job;

static void measure_range(void* context, int32_t index, int32_t thread) {
    joint_job* job = context;
    const mabd_redmax_sim* sim = job->sim;
    joint_errors* own = &job->range[index];
    const int64_t n = sim->model->joint_count;
    (void)thread;
    for (int64_t i = n * index / job->count; i < n * (index + 1) / job->count; i++) {
        const mabd_model_joint* joint = &sim->model->joints[i];
        const mabd_joint_view view = mabd_redmax_view(sim, joint);
        mabd_rigid_keep_error(&view, &sim->model->row_sets[joint->row_set], (int32_t)i, &own->gap,
                              &own->angle, &own->worst);
    }
}

// Errors of all joints at the poses in the workspace.
static void measure_joints(const mabd_redmax_sim* sim, mabd_real* gap, mabd_real* angle,
                           int32_t* worst) {
    joint_job job = {.sim = sim, .count = sim->model->joint_count / JOINTS_OF_A_THREAD + 1};
    if (job.count > JOINT_RANGES) job.count = JOINT_RANGES;
    for (int32_t k = 0; k < job.count; k++) job.range[k] = (joint_errors){.worst = -1};
    mabd_pool_run(sim->pool, job.count, measure_range, &job);
    for (int32_t k = 0; k < job.count; k++) {
        const joint_errors* own = &job.range[k];
        if (own->gap > *gap || own->angle > *angle || *worst < 0) *worst = own->worst;
        if (own->gap > *gap) *gap = own->gap;
        if (own->angle > *angle) *angle = own->angle;
    }
}

void mabd_redmax_measure_rows(const mabd_redmax_sim* sim, mabd_real* gap, mabd_real* angle,
                              int32_t* joint) {
    mabd_redmax_place_now(sim);
    measure_joints(sim, gap, angle, joint);
}

mabd_measure mabd_redmax_measure(const void* self) {
    const mabd_redmax_sim* sim = self;
    mabd_rigid_sum sum = mabd_rigid_sum_begin();
    mabd_redmax_place_now(sim);
    for (int32_t i = 0; i < sim->link_count; i++) {
        if (sim->links[i].body >= 0) measure_body(sim, i, &sum);
        if (sim->model->ground_count > 0) sum.out.spring += mabd_redmax_ground_energy(sim, i);
    }
    for (int32_t p = 0; p < sim->part_count; p++) {
        sum.out.spring += mabd_redmax_spring_energy(sim, &sim->parts[p], sim->time);
    }
    measure_laws(sim, &sum);
    measure_joints(sim, &sum.out.gap, &sum.out.angle_error, &sum.out.worst_joint);
    return mabd_rigid_sum_end(&sum);
}

mabd_energy_balance mabd_redmax_energy_balance(const void* self) {
    const mabd_redmax_sim* sim = self;
    const mabd_measure now = mabd_redmax_measure(self);
    return mabd_rigid_books_balance(&sim->books, sim->model, &now,
                                    MABD_BOOKED_STOPS | MABD_BOOKED_CONTACTS);
}

// ---- joints ------------------------------------------------------------------------------------

// Forces of cut joints, by their rows.
static void add_cut_forces(const mabd_redmax_sim* sim, mabd_real* forces) {
    for (int32_t i = 0; i < sim->loops.cut_count; i++) {
        const mabd_redmax_cut* cut = &sim->loops.cuts[i];
        const mabd_model_joint* joint = &sim->model->joints[cut->joint];
        const mabd_joint_view view = mabd_redmax_view(sim, joint);
        if (cut->weld) continue; // the wrench of its string
        for (int32_t r = 0; r < cut->row_count; r++) {
            mabd_rigid_add_row_force(&view, &sim->model->row_sets[joint->row_set].rigid[r], NULL,
                                     sim->loops.lambda[cut->row_first + r],
                                     forces + 6 * (size_t)cut->joint);
        }
    }
}

mabd_vec3 mabd_redmax_arm(const mabd_redmax_sim* sim, int32_t joint) {
    const mabd_joint_view view = mabd_redmax_view(sim, &sim->model->joints[joint]);
    const mabd_vec3 anchor = mabd_v3_add(view.tb, mabd_m3_mul(view.Ab, view.Xb));
    return mabd_v3_sub(anchor, sim->world[sim->joint_link[joint]].p);
}

void mabd_redmax_get_joint_forces(const void* self, mabd_real* forces) {
    const mabd_redmax_sim* sim = self;
    const mabd_model* m = sim->model;
    memset(forces, 0, 6 * (size_t)m->joint_count * sizeof *forces);
    mabd_redmax_place_now(sim);
    for (int32_t j = 0; j < m->joint_count; j++) {
        const int32_t i = sim->joint_link[j];
        if (i < 0) continue; // cut, or between bodies that do not move
        const mabd_redmax_link* link = &sim->links[i];
        const mabd_spatial F = mabd_sp_load(sim->wrench + 6 * (size_t)i);
        mabd_vec3 f = mabd_m3_mul(sim->world[i].R, F.v), t = mabd_m3_mul(sim->world[i].R, F.w);
        if (link->reversed) { // on b, about its anchor
            f = mabd_v3_scale(-1, f), t = mabd_v3_scale(-1, t);
            t = mabd_v3_sub(t, mabd_v3_cross(mabd_redmax_arm(sim, j), f));
        }
        mabd_v3_store(f, forces + 6 * (size_t)j);
        mabd_v3_store(t, forces + 6 * (size_t)j + 3);
    }
    add_cut_forces(sim, forces);
}

// True if a link belongs to the string of a joint; -1 = ground.
static bool in_string(const mabd_redmax_sim* sim, int32_t link, int32_t joint) {
    return link >= 0 && sim->links[link].joint == joint;
}

void mabd_redmax_get_joint_coordinates(const void* self, int32_t index, mabd_real* coordinates) {
    const mabd_redmax_sim* sim = self;
    const mabd_model_joint* joint = &sim->model->joints[index];
    mabd_real known[MABD_JOINT_MAX_ROWS] = {0};
    mabd_redmax_place_now(sim);
    for (int32_t i = sim->joint_link[index]; in_string(sim, i, index); i = sim->links[i].parent) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            const int32_t coordinate = sim->freedoms[k].coordinate;
            mabd_real x[2];
            if (coordinate < 0) continue;
            mabd_redmax_coordinate(sim, &sim->now, k, x);
            known[coordinate - joint->coordinate] = x[0];
        }
    }
    mabd_rigid_joint_coordinates(sim->model, index, mabd_redmax_view(sim, joint), sim->start, known,
                                 coordinates);
    if (joint->type > MABD_JOINT_SCREW) { // its freedoms, one after the other
        memset(coordinates, 0, MABD_AXIS_COUNT * sizeof *coordinates);
    }
    for (int32_t i = sim->joint_link[index]; in_string(sim, i, index); i = sim->links[i].parent) {
        const mabd_redmax_link* link = &sim->links[i]; // angles are unwrapped by nature
        const int32_t count = link->kind == MABD_PRIMITIVE_BALL ? 0 : link->count;
        for (int32_t k = link->first; k < link->first + count; k++) {
            coordinates[sim->freedoms[k].axis] = sim->now.q[k];
        }
        if (link->ball < 0 || joint->type <= MABD_JOINT_SCREW) continue;
        memcpy(coordinates + sim->freedoms[link->first].axis,
               sim->now.theta + 3 * (size_t)link->ball, 3 * sizeof *coordinates);
    }
}

// Freedom of a control of a joint, -1 = none.
static int32_t find_freedom(const mabd_redmax_sim* sim, int32_t joint, int32_t coordinate,
                            int32_t motor) {
    int32_t i = sim->joint_link[joint];
    for (; in_string(sim, i, joint); i = sim->links[i].parent) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            const mabd_redmax_freedom* f = &sim->freedoms[k];
            if ((coordinate >= 0 && f->coordinate == coordinate) ||
                (motor >= 0 && f->motor == motor)) {
                return k;
            }
        }
    }
    return -1;
}

// Rotation vector and its rate of a motor on a ball: the vector is at most pi long.
static void motor_of_ball(const mabd_redmax_sim* sim, const mabd_redmax_link* link, int32_t own,
                          mabd_real* x) {
    mabd_real state[3][2];
    for (int32_t k = 0; k < 3; k++)
        mabd_redmax_coordinate(sim, &sim->now, link->first + k, state[k]);
    const mabd_mat3 R = mabd_q_matrix(mabd_q_load(sim->now.turn + 4 * (size_t)link->ball));
    const mabd_vec3 phi = mabd_so3_log(link->reversed ? mabd_m3_transpose(R) : R);
    const mabd_vec3 rho = mabd_v3(state[0][1], state[1][1], state[2][1]);
    x[0] = mabd_v3_get(phi, own);
    x[1] = mabd_v3_get(mabd_m3_mul(mabd_so3_log_gradients(phi), rho), own);
}

void mabd_redmax_control_state(const void* self, int32_t copy, int32_t control, mabd_real* x) {
    const mabd_redmax_sim* sim = self;
    const mabd_model* m = sim->model;
    const mabd_copy_control* own = &m->controls[control];
    const int32_t joint = copy * m->copy_joints + own->joint;
    const bool motor = own->kind == MABD_CONTROL_FORCE;
    const int32_t k = motor
                          ? find_freedom(sim, joint, -1, sim->inputs.joint_motor[joint] + own->row)
                          : find_freedom(sim, joint, m->joints[joint].coordinate + own->row, -1);
    x[0] = x[1] = 0;
    if (k < 0) return;
    const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
    mabd_redmax_coordinate(sim, &sim->now, k, x);
    if (!motor) return;
    if (link->kind == MABD_PRIMITIVE_BALL) {
        motor_of_ball(sim, link, k - link->first, x);
    } else if (sim->freedoms[k].coordinate < 0 && sim->freedoms[k].axis >= MABD_AXIS_RX) {
        x[0] = mabd_unwrap_angle(x[0], 0); // an axis with nothing but a motor is not followed
    }
}
