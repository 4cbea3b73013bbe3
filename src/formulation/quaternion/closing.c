// SPDX-License-Identifier: Apache-2.0
// Rows closed by the least motion in the mass metric, over the matrix of a part:
//
//   [ M  -J' ] [ d  ]   [ 0  ]
//   [ J   0  ] [ mu ] = [ -C ]      iterated for poses; with -J u once for velocities

#include "formulation/quaternion/closing.h"

#include "formulation/quaternion/kinematics.h"
#include "rigid/start.h"

#include <math.h>
#include <string.h>

static const mabd_row_set* set_of(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j) {
    return &s->sim->model->row_sets[s->sim->model->joints[j->joint].row_set];
}

static bool is_held(const mabd_row_set* set, int32_t r, bool servos) {
    return r < set->rigid_count || (servos && set->control[r - set->rigid_count].rigid);
}

void mabd_quaternion_release_controls(const mabd_quaternion_solve* s, bool servos) {
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + i];
        const mabd_row_set* set = set_of(s, j);
        for (int32_t r = set->rigid_count; j->slot >= 0 && r < j->width; r++) {
            if (!is_held(set, r, servos)) mabd_quaternion_release_row(s, j, r, 1, false);
        }
    }
}

// Write the held rows of a joint to its part of the right-hand side; returns the largest.
static mabd_real set_joint_rows(const mabd_quaternion_solve* s, const mabd_quaternion_joint* j,
                                bool servos, const mabd_quaternion_node* node, mabd_real* to) {
    const mabd_model_joint* joint = &s->sim->model->joints[j->joint];
    const mabd_row_set* set = set_of(s, j);
    mabd_real C[2 * MABD_JOINT_MAX_ROWS], largest = 0;
    mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
    mabd_quaternion_rows(s, j, C, J);
    for (int32_t r = 0; r < j->width; r++) {
        if (!is_held(set, r, servos)) continue;
        to[r] = -C[r];
        if (node) {
            const mabd_side_motion a = mabd_quaternion_side_motion(s, node, joint->a);
            const mabd_side_motion b = mabd_quaternion_side_motion(s, node, joint->b);
            to[r] = -mabd_rigid_wrench_dot(&J[r].a, a.u) - mabd_rigid_wrench_dot(&J[r].b, b.u);
        } else if (r >= set->rigid_count) {
            to[r] += s->sim->input[joint->coordinate + r - set->rigid_count];
        }
        if (!((mabd_real)fabs(to[r]) <= largest)) largest = (mabd_real)fabs(to[r]);
    }
    return largest;
}

mabd_real mabd_quaternion_set_rows(const mabd_quaternion_solve* s, bool servos,
                                   const mabd_quaternion_node* node, int32_t* joint) {
    const mabd_quaternion_part* part = s->part;
    mabd_real *b = s->sim->rhs + part->vector_first, largest = 0;
    memset(b, 0, (6 * (size_t)part->body_count + (size_t)part->row_count) * sizeof *b);
    b += 6 * (size_t)part->body_count;
    for (int32_t i = 0; i < part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[part->joint_first + i];
        if (j->slot < 0) continue;
        const mabd_real own = set_joint_rows(s, j, servos, node, b + (j->row - part->row_first));
        if (own <= largest) continue;
        largest = own;
        if (joint) *joint = j->joint;
    }
    return largest;
}

mabd_status mabd_quaternion_solve_rows(const mabd_quaternion_solve* s, bool servos) {
    int32_t body, joint;
    mabd_quaternion_store_matrix(s);
    mabd_quaternion_release_controls(s, servos);
    MABD_TRY(mabd_quaternion_factor(s, &body, &joint));
    mabd_quaternion_solve_linear(s);
    return MABD_OK;
}

mabd_real mabd_quaternion_move_pose(const mabd_quaternion_solve* s) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_real* y = sim->y + s->part->vector_first;
    mabd_real most = MABD_START_TURN_RAD, change = 0;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const mabd_real way = mabd_v3_norm(mabd_v3_load(y + 6 * (size_t)i));
        const mabd_real turn = mabd_v3_norm(mabd_v3_load(y + 6 * (size_t)i + 3));
        most = (mabd_real)fmax(most, turn);
        change = (mabd_real)fmax(change, fmax(way, turn));
    }
    const mabd_real part = MABD_START_TURN_RAD / most;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        mabd_real* row = sim->pose + 7 * (size_t)sim->bodies[s->part->body_first + i];
        const mabd_vec3 way = mabd_v3_load(y + 6 * (size_t)i);
        const mabd_vec3 turn = mabd_v3_scale(part, mabd_v3_load(y + 6 * (size_t)i + 3));
        mabd_v3_store(mabd_v3_axpy(part, way, mabd_v3_load(row)), row);
        mabd_q_store(mabd_rigid_turn(mabd_q_load(row + 3), turn), row + 3);
    }
    return change;
}

void mabd_quaternion_add_velocities(const mabd_quaternion_solve* s, const mabd_real* y,
                                    mabd_quaternion_node* node) {
    for (int32_t i = 0; i < s->part->body_count; i++, y += 6) {
        const size_t body = (size_t)s->sim->bodies[s->part->body_first + i];
        mabd_real* row = node->body + MABD_NODE_REALS * body;
        const mabd_quat q = mabd_q_load(row + 3), w = mabd_q_load(row + 10);
        const mabd_quat d =
            mabd_rigid_h_tmul(q, mabd_v3_scale((mabd_real)0.5, mabd_v3_load(y + 3)));
        mabd_v3_store(mabd_v3_add(mabd_v3_load(row + 7), mabd_v3_load(y)), row + 7);
        mabd_q_store(mabd_q(w.w + d.w, w.x + d.x, w.y + d.y, w.z + d.z), row + 10);
    }
}

mabd_real mabd_quaternion_close(const mabd_quaternion_solve* s) {
    mabd_real error = mabd_quaternion_set_rows(s, true, NULL, NULL);
    for (int k = 0; k < MABD_CLOSE_MAX_ITERATIONS && error > MABD_CLOSE_GOAL; k++) {
        if (mabd_quaternion_solve_rows(s, true) != MABD_OK) return error;
        mabd_quaternion_move_pose(s);
        const mabd_real now = mabd_quaternion_set_rows(s, true, NULL, NULL);
        const bool falls = now < error / 2;
        error = now;
        if (!falls && error < (mabd_real)1e-9) break; // round-off
    }
    return error;
}
