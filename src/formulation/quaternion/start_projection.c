// SPDX-License-Identifier: Apache-2.0
// Projections of a start state for runs that are differentiated: rigid/start.h does the same for
// all other runs, on a plan of its own and without multipliers.
//
//   close     [ M  -J' ] [ d  ]   [ -M (x - x0) ]     iterated; at the end M (x - x0) = J' mu, with
//             [ J   0  ] [ mu ] = [ -C          ]     the turn from q0 to q as 2 vec(q0* q)/(q0.q)
//   project   the same matrix with (0, -J u)
//
// The end is the least motion from x0 in the mass metric, an implicit function of x0 that has
// derivatives wherever the start is open (tangent_start.c).

#include "formulation/quaternion/start_projection.h"

#include "formulation/quaternion/kinematics.h"

#include <math.h>
#include <string.h>

/// Iterations that close rows; error, and change of the pose in an iteration, [m] or [rad], at
/// which they end; largest rotation of a body in one [rad].
#define CLOSE_MAX_ITERATIONS 50
#define CLOSE_GOAL           ((mabd_real)1e-13)
#define CLOSE_CHANGE         ((mabd_real)1e-12)
#define CLOSE_TURN_RAD       ((mabd_real)0.5)

void mabd_start_release(const mabd_quaternion_solve* s) {
    const mabd_quaternion_sim* sim = s->sim;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        const mabd_row_set* set = &sim->model->row_sets[sim->model->joints[j->joint].row_set];
        const size_t blocks[2] = {j->block_a, j->block_b};
        if (j->slot < 0) continue;
        mabd_real* D = sim->D + sim->slot_block[s->part->slot_first + j->slot];
        for (int32_t r = set->rigid_count; r < j->width; r++) {
            D[(size_t)(r * (j->width + 1))] = 1;
            for (int k = 0; k < 2; k++) {
                if (blocks[k] != SIZE_MAX) memset(sim->lower + blocks[k] + 6 * r, 0, 6 * sizeof *D);
            }
        }
    }
}

static mabd_real dot6(const mabd_rigid_wrench* w, const mabd_real* u) {
    return mabd_v3_dot(w->f, mabd_v3_load(u)) + mabd_v3_dot(w->t, mabd_v3_load(u + 3));
}

// Write -C of rigid rows, or -J u with a node, to the right-hand side; returns the largest.
static mabd_real set_rows(const mabd_quaternion_solve* s, const mabd_quaternion_node* node) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_quaternion_part* part = s->part;
    mabd_real* b = sim->rhs + part->vector_first;
    mabd_real largest = 0;
    memset(b, 0, (6 * (size_t)part->body_count + (size_t)part->row_count) * sizeof *b);
    for (int32_t i = 0; i < part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[part->joint_first + i];
        const mabd_model_joint* own = &sim->model->joints[j->joint];
        mabd_real* to = b + 6 * (size_t)part->body_count + (j->row - part->row_first);
        mabd_real C[2 * MABD_JOINT_MAX_ROWS];
        mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
        if (j->slot < 0) continue;
        mabd_quaternion_rows(s, j, C, J);
        for (int32_t r = 0; r < sim->model->row_sets[own->row_set].rigid_count; r++) {
            to[r] = -C[r];
            if (node) {
                const mabd_side_motion a = mabd_quaternion_side_motion(s, node, own->a);
                const mabd_side_motion o = mabd_quaternion_side_motion(s, node, own->b);
                to[r] = -dot6(&J[r].a, a.u) - dot6(&J[r].b, o.u);
            }
            if ((mabd_real)fabs(to[r]) > largest) largest = (mabd_real)fabs(to[r]);
        }
    }
    return largest;
}

static mabd_status solve_rows(const mabd_quaternion_solve* s) {
    int32_t body, joint;
    mabd_quaternion_store_matrix(s);
    mabd_start_release(s);
    MABD_TRY(mabd_quaternion_factor(s, &body, &joint));
    mabd_quaternion_solve_linear(s);
    return MABD_OK;
}

mabd_status mabd_start_close_step(const mabd_quaternion_solve* s, const mabd_real* from) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    set_rows(s, NULL);
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const int32_t body = sim->bodies[s->part->body_first + i];
        const mabd_model_class* c = &m->classes[m->body_class[body]];
        mabd_real* b = sim->rhs + s->part->vector_first + 6 * (size_t)i;
        mabd_vec3 way, turn;
        mabd_rigid_way(sim->pose + 7 * (size_t)body, from + 7 * (size_t)body, &way, &turn);
        mabd_v3_store(mabd_v3_scale(-c->material.mass, way), b);
        turn = mabd_rigid_diagonal_mul(mabd_v3_load(c->principal), turn);
        mabd_v3_store(mabd_v3_scale(-1, turn), b + 3);
    }
    return solve_rows(s);
}

// Move the poses of a part by sim->y. Returns the largest change [m] or [rad].
static mabd_real move_pose(const mabd_quaternion_solve* s) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_real* y = sim->y + s->part->vector_first;
    mabd_real most = CLOSE_TURN_RAD, change = 0;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const mabd_real way = mabd_v3_norm(mabd_v3_load(y + 6 * (size_t)i));
        const mabd_real turn = mabd_v3_norm(mabd_v3_load(y + 6 * (size_t)i + 3));
        most = (mabd_real)fmax(most, turn);
        change = (mabd_real)fmax(change, fmax(way, turn));
    }
    const mabd_real part = CLOSE_TURN_RAD / most;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        mabd_real* row = sim->pose + 7 * (size_t)sim->bodies[s->part->body_first + i];
        const mabd_vec3 way = mabd_v3_load(y + 6 * (size_t)i);
        const mabd_vec3 turn = mabd_v3_scale(part, mabd_v3_load(y + 6 * (size_t)i + 3));
        mabd_v3_store(mabd_v3_axpy(part, way, mabd_v3_load(row)), row);
        mabd_q_store(mabd_rigid_turn(mabd_q_load(row + 3), turn), row + 3);
    }
    return change;
}

mabd_real mabd_start_close(const mabd_quaternion_solve* s) {
    mabd_quaternion_sim* sim = s->sim;
    mabd_real error = set_rows(s, NULL), change = (mabd_real)INFINITY;
    for (int32_t i = 0; i < s->part->body_count; i++) { // where it begins
        const size_t at = 7 * (size_t)sim->bodies[s->part->body_first + i];
        memcpy(sim->trial + at, sim->pose + at, 7 * sizeof *sim->pose);
    }
    if (!(error > CLOSE_GOAL)) return error;
    for (int k = 0; k < CLOSE_MAX_ITERATIONS; k++) {
        if (mabd_start_close_step(s, sim->trial) != MABD_OK) return error;
        const mabd_real moved = move_pose(s), now = set_rows(s, NULL);
        const bool falls = now < error / 2 || moved < change / 2;
        error = now, change = moved;
        if (!(error > CLOSE_GOAL) && change < CLOSE_CHANGE) break;
        if (!falls && error < (mabd_real)1e-9) break; // round-off
    }
    return error;
}

void mabd_start_write(const mabd_quaternion_solve* s, mabd_quaternion_node* node) {
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const size_t body = (size_t)s->sim->bodies[s->part->body_first + i];
        mabd_real* row = node->body + MABD_NODE_REALS * body;
        const mabd_quat old = mabd_q_load(row + 3), q = mabd_q_load(s->sim->pose + 7 * body + 3);
        const mabd_vec3 world = mabd_q_rotate(old, mabd_rigid_spin(old, mabd_q_load(row + 10)));
        const mabd_vec3 om = mabd_q_rotate(mabd_q_conjugate(q), world);
        memcpy(row, s->sim->pose + 7 * body, 7 * sizeof *row);
        mabd_q_store(mabd_rigid_h_tmul(q, mabd_v3_scale((mabd_real)0.5, om)), row + 10);
    }
}

mabd_status mabd_start_project(const mabd_quaternion_solve* s, mabd_quaternion_node* node) {
    mabd_quaternion_sim* sim = s->sim;
    mabd_real* y = sim->y + s->part->vector_first;
    const size_t n = 6 * (size_t)s->part->body_count + (size_t)s->part->row_count;
    memset(y, 0, n * sizeof *y);
    if (set_rows(s, node) == 0) return MABD_OK;
    MABD_TRY(solve_rows(s));
    for (int32_t i = 0; i < s->part->body_count; i++) {
        mabd_real* row =
            node->body + MABD_NODE_REALS * (size_t)sim->bodies[s->part->body_first + i];
        const mabd_quat w = mabd_q_load(row + 10);
        const mabd_vec3 turn = mabd_v3_load(y + 6 * (size_t)i + 3);
        const mabd_quat d =
            mabd_rigid_h_tmul(mabd_q_load(row + 3), mabd_v3_scale((mabd_real)0.5, turn));
        mabd_v3_store(mabd_v3_add(mabd_v3_load(row + 7), mabd_v3_load(y + 6 * (size_t)i)), row + 7);
        mabd_q_store(mabd_q(w.w + d.w, w.x + d.x, w.y + d.y, w.z + d.z), row + 10);
    }
    return MABD_OK;
}
