// SPDX-License-Identifier: Apache-2.0
// From affine coordinates to results for a user: poses in user frames, joint forces, coordinates.
//
//   rotation            R = polar(A) V',  V the principal axes in the user frame
//   position            t - R c,  c the centre of mass in the user frame
//   angular velocity    axial of skew(A' A^-1); with A = R S, S nearly I: axial(skew(A' R'))
//   force of a row      -J' lambda: on body b, -lambda N at its anchor, or the torque -lambda W x U

#include "formulation/affine/affine_output.h"

#include "formulation/affine/affine_sim.h"
#include "formulation/affine/contact/contact_rows.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/element/joint_jacobian.h"
#include "formulation/affine/limits.h"

#include "math/polar.h"
#include "math/quat.h"
#include "rigid/joint_coordinates.h"
#include "rigid/rigid_output.h"

#include <string.h>

typedef struct user_pose {
    mabd_mat3 R; // of the user frame
    mabd_vec3 position, velocity, omega;
} user_pose;

// Pose of the user frame from rotation R, centre t, velocity v and angular velocity omega of the
// principal frame. Needs no affine coordinates.
static user_pose user_pose_of(const mabd_model_class* c, mabd_mat3 R, mabd_vec3 t, mabd_vec3 v,
                              mabd_vec3 omega) {
    user_pose pose;
    pose.R = mabd_m3_product(R, mabd_m3_transpose(mabd_q_matrix(mabd_q_load(c->axes))));
    const mabd_vec3 arm = mabd_m3_mul(pose.R, mabd_v3_load(c->center));
    pose.position = mabd_v3_sub(t, arm);
    pose.velocity = mabd_v3_sub(v, mabd_v3_cross(omega, arm));
    pose.omega = omega;
    return pose;
}

static user_pose pose_of(const mabd_affine_sim* sim, size_t body) {
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
    const mabd_vec12 q = mabd_vec12_load(sim->q + 12 * body);
    const mabd_vec12 v = mabd_affine_body_rates(sim, (int32_t)body);
    mabd_mat3 R = mabd_m3(q.d1, q.d2, q.d3);
    mabd_polar(R, &R);
    // W = A' R' column by column: W = sum a_k' r_k'; omega = axial of its skew part
    mabd_vec3 omega = mabd_v3_cross(R.c1, v.d1);
    omega = mabd_v3_add(omega, mabd_v3_cross(R.c2, v.d2));
    omega = mabd_v3_scale((mabd_real)0.5, mabd_v3_add(omega, mabd_v3_cross(R.c3, v.d3)));
    return user_pose_of(c, R, q.tau, v.tau, omega);
}

static void body_state(const mabd_affine_sim* sim, size_t body, mabd_model_start* state) {
    user_pose pose = pose_of(sim, body);
    if (sim->model->body_motion[body] == MABD_MOTION_FIXED) {
        pose.velocity = pose.omega = mabd_v3(0, 0, 0);
    }
    mabd_v3_store(pose.position, state->position);
    mabd_q_store(mabd_q_from_matrix(pose.R), state->rotation);
    mabd_v3_store(pose.velocity, state->velocity);
    mabd_v3_store(pose.omega, state->angular_velocity);
}

void mabd_affine_get_state(const void* self, mabd_real* positions, mabd_real* quaternions,
                           mabd_real* velocities, mabd_real* angular) {
    const mabd_affine_sim* sim = mabd_affine_state(self);
    for (size_t i = 0; i < sim->sizes.bodies; i++) {
        mabd_model_start own;
        body_state(sim, i, &own);
        mabd_rigid_write_state(&own, i, positions, quaternions, velocities, angular);
    }
}

// Add s times the force and torque of a unit multiplier of a row on body b, world axes.
static void add_row(const mabd_joint_view* view, const mabd_row* row, mabd_real s,
                    mabd_real* wrench) {
    mabd_vec3 effect, u, w;
    if (row->kind == MABD_ROW_POINT) {
        wrench[row->axis] += s;
        return;
    }
    if (row->kind == MABD_ROW_SLIDE) {
        effect = mabd_m3_mul(view->Aa, mabd_m3_column(&view->Fa, row->axis));
    } else if (row->kind == MABD_ROW_VECTOR) {
        effect = mabd_m3_mul(view->Aa, mabd_affine_row_vector_axis(view, row));
        wrench += 3;
    } else {
        mabd_row_axes(view, row, &u, &w);
        effect = mabd_v3_cross(mabd_m3_mul(view->Ab, w), mabd_m3_mul(view->Aa, u));
        wrench += 3;
    }
    mabd_v3_store(mabd_v3_axpy(s, effect, mabd_v3_load(wrench)), wrench);
}

void mabd_affine_get_joint_forces(const void* self, mabd_real* forces) {
    const mabd_affine_sim* sim = mabd_affine_state(self);
    const mabd_model* m = sim->model;
    memset(forces, 0, 6 * (size_t)m->joint_count * sizeof *forces);
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        const int32_t slot = m->plan->joint_slot[i];
        mabd_real* wrench = forces + 6 * (size_t)i;
        mabd_joint_view view;
        mabd_affine_view(sim, joint, sim->q, &view);
        for (int32_t r = 0; r < set->motor_count; r++) {
            add_row(&view, &set->motor[r].row,
                    sim->motors[(size_t)joint->row_set * MABD_JOINT_MAX_ROWS + r], wrench);
        }
        if (slot < 0) continue;
        const mabd_real* lambda = sim->lambda + m->plan->slot_row[slot];
        for (int32_t r = 0; r < set->rigid_count; r++) {
            add_row(&view, &set->rigid[r], -lambda[r], wrench);
        }
        for (int32_t r = 0; r < set->control_count; r++) {
            add_row(&view, &set->control_row[r], -lambda[set->rigid_count + r], wrench);
        }
    }
}

void mabd_affine_get_joint_coordinates(const void* self, int32_t index, mabd_real* coordinates) {
    const mabd_affine_sim* sim = mabd_affine_state(self);
    const mabd_model_joint* joint = &sim->model->joints[index];
    mabd_joint_view view;
    mabd_affine_view(sim, joint, sim->q, &view);
    mabd_rigid_joint_coordinates(sim->model, index, view, sim->start,
                                 joint->coordinate < 0 ? NULL : sim->x + joint->coordinate,
                                 coordinates);
}

// ---- contacts ----------------------------------------------------------------------------------

int32_t mabd_affine_get_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts) {
    const mabd_affine_sim* sim = mabd_affine_state(self);
    const mabd_affine_contacts* c = sim->contacts;
    int32_t count = 0;
    for (int32_t i = 0; c && i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (!(p->force[0] > 0)) continue;
        if (count++ >= capacity) continue;
        mabd_contact_info* out = &contacts[count - 1];
        const mabd_real* q = sim->q + 12 * (size_t)p->b;
        const mabd_vec3 x = mabd_v3_add(mabd_m3_mul(mabd_m3_load(q), p->Xb), mabd_v3_load(q + 9));
        const mabd_real friction =
            (mabd_real)sqrt(p->force[1] * p->force[1] + p->force[2] * p->force[2]);
        out->a = p->a, out->b = p->b;
        mabd_v3_store(x, out->point);
        mabd_v3_store(p->n, out->normal);
        mabd_v3_store(mabd_affine_contact_force(p), out->force);
        out->distance = p->end_distance;
        out->slips = friction >= p->friction * p->force[0] * (1 - MABD_SLIP_REPORT_PART);
    }
    return count;
}

mabd_status mabd_affine_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b) {
    const mabd_affine_sim* sim = mabd_affine_state(self);
    return mabd_affine_contacts_overlap(sim, sim->q, depth, a, b);
}
