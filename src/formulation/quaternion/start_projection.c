// SPDX-License-Identifier: Apache-2.0
// Projections of a start state for runs that are differentiated. rigid/start.h checks and closes
// the states of all runs, on a plan of its own and without multipliers; here the least motion is an
// equation with multipliers, whose matrix is that of the derivatives.
//
//   close     [ M  -J' ] [ d  ]   [ -M (x - x0) ]     iterated; at the end M (x - x0) = J' mu, with
//             [ J   0  ] [ mu ] = [ -C          ]     the turn from q0 to q as 2 vec(q0* q)/(q0.q)
//   project   the same matrix with (0, -J u)
//
// Held axes (start_hold.h) are rows of both besides: x(q) = p, B u = p. Bodies that follow a
// coordinate may move far, where M alone is no good matrix: the iteration is then Newton's, with
// the second derivatives of the rows, and goes to the coordinates in parts.
//
// The end is the least motion from x0 in the mass metric, an implicit function of x0 that has
// derivatives wherever the start is open (tangent_start.c).

#include "formulation/quaternion/start_projection.h"

#include "base/error.h"
#include "formulation/quaternion/closing.h"
#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/start_hold.h"
#include "formulation/quaternion/tangent_joint.h"
#include "rigid/start.h"

#include <math.h>
#include <string.h>

/// Change of the pose in an iteration at which it ends [m] or [rad].
#define CLOSE_CHANGE ((mabd_real)1e-12)
/// Held axes go to their coordinates in parts of at most this angle, in more parts where the
/// iteration fails; error and change at which a part ends.
#define CLOSE_PART_RAD   ((mabd_real)0.3)
#define CLOSE_MOST_PARTS 64
#define CLOSE_ON_WAY     ((mabd_real)1e-4)

void mabd_start_store_project(const mabd_quaternion_solve* s) {
    mabd_quaternion_store_matrix(s);
    mabd_quaternion_release_controls(s, false);
}

// Write the geometric stiffness of the rows of joints and held axes, with their multipliers.
static void store_geometric(const mabd_quaternion_point* p) {
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        mabd_real minus[MABD_JOINT_MAX_ROWS];
        mabd_tangent_joint at;
        mabd_tangent_joint_at(p, i, &at);
        const mabd_rigid_blocks G = mabd_quaternion_blocks(&p->s, at.j);
        for (int32_t r = 0; r < at.set->rigid_count; r++) minus[r] = -p->multiplier[at.j->row + r];
        mabd_rigid_add_geometric(&at.rigid, at.set->rigid_count, at.set->rigid, minus, &G);
        for (int32_t k = 0; k < at.held_count; k++) {
            const mabd_start_hold* h = at.held[k];
            const mabd_rigid_joint own = mabd_rigid_joint_at(&at.view, 1, &h->row, &h->near);
            const mabd_real less = -h->multiplier;
            mabd_rigid_add_geometric(&own, 1, &h->row, &less, &G);
        }
    }
}

void mabd_start_store_close(const mabd_quaternion_point* p) {
    mabd_quaternion_sim* sim = p->s.sim;
    const mabd_model* m = sim->model;
    mabd_start_store_project(&p->s);
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const int32_t body = sim->bodies[p->s.part->body_first + i];
        const mabd_vec3 J = mabd_v3_load(m->classes[m->body_class[body]].principal);
        mabd_vec3 way, tau;
        mabd_rigid_way(sim->pose + 7 * (size_t)body, p->from + 7 * (size_t)body, &way, &tau);
        mabd_mat3 M = mabd_rigid_way_slope(J, tau, 1);
        M.c1.x -= J.x, M.c2.y -= J.y, M.c3.z -= J.z; // they are there
        mabd_rigid_add_part(sim->D + sim->slot_block[p->s.part->slot_first + i], MABD_RIGID_T,
                            MABD_RIGID_T, 1, M);
    }
    store_geometric(p);
}

// Write -M (x - x0) and -C to the right-hand side.
static void set_way(const mabd_quaternion_point* p) {
    const mabd_quaternion_solve* s = &p->s;
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    mabd_quaternion_set_rows(s, false, NULL, NULL);
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const int32_t body = sim->bodies[s->part->body_first + i];
        const mabd_model_class* c = &m->classes[m->body_class[body]];
        mabd_real* b = sim->rhs + s->part->vector_first + 6 * (size_t)i;
        mabd_vec3 way, turn;
        mabd_rigid_way(sim->pose + 7 * (size_t)body, p->from + 7 * (size_t)body, &way, &turn);
        mabd_v3_store(mabd_v3_scale(-c->material.mass, way), b);
        turn = mabd_rigid_diagonal_mul(mabd_v3_load(c->principal), turn);
        mabd_v3_store(mabd_v3_scale(-1, turn), b + 3);
    }
}

// Coordinate of a held axis in part t of the way to its target.
static mabd_real aim_of(const mabd_start_hold* h, mabd_real t) {
    return h->begin + t * (h->target - h->begin);
}

// Largest error of the rigid rows and of the held axes, in part t of the way; *joint has it.
static mabd_real find_error(const mabd_quaternion_point* p, mabd_real t, int32_t* joint) {
    mabd_real error = mabd_quaternion_set_rows(&p->s, false, NULL, joint);
    mabd_start_hold_rows(&p->s, p->holds);
    for (int32_t i = 0; i < p->holds->count; i++) {
        const mabd_start_hold* h = &p->holds->hold[i];
        const mabd_real off = (mabd_real)fabs(h->x - aim_of(h, t));
        if (!(off <= error)) error = off, *joint = p->s.sim->joints[h->place].joint;
    }
    return error;
}

// One iteration: sim->y gets the increment of the pose, multiplier and those of the held axes the
// new multipliers. Without held axes the matrix has no second derivatives.
static mabd_status iterate(const mabd_quaternion_point* p, mabd_real t, mabd_real* multiplier,
                           mabd_error* error) {
    const mabd_quaternion_part* part = p->s.part;
    const size_t bodies = 6 * (size_t)part->body_count, n = bodies + (size_t)part->row_count;
    mabd_start_holds* holds = p->holds;
    if (holds->count > 0) {
        mabd_start_store_close(p);
    } else {
        mabd_start_store_project(&p->s);
    }
    MABD_TRY(mabd_tangent_factor(p, error));
    mabd_start_hold_rows(&p->s, holds);
    MABD_TRY(mabd_start_border(p, false, holds, error));
    set_way(p);
    for (size_t i = 0; i < n; i++) holds->b[i] = -p->s.sim->rhs[part->vector_first + i];
    for (int32_t i = 0; i < holds->count; i++) {
        holds->hold[i].f = holds->hold[i].x - aim_of(&holds->hold[i], t);
    }
    mabd_start_solve(p, false, holds, holds->b, holds->y);
    memcpy(p->s.sim->y + part->vector_first, holds->y, n * sizeof *holds->y);
    memcpy(multiplier + part->row_first, holds->y + bodies,
           (size_t)part->row_count * sizeof *multiplier);
    for (int32_t i = 0; i < holds->count; i++) holds->hold[i].multiplier = holds->hold[i].f;
    return MABD_OK;
}

// Close the rows with the held axes in part t of their way. *left gets the largest error.
static mabd_status close_at(const mabd_quaternion_point* p, mabd_real t, mabd_real* multiplier,
                            mabd_real* left, int32_t* joint, mabd_error* error) {
    const mabd_real goal = t < 1 ? CLOSE_ON_WAY : MABD_CLOSE_GOAL;
    const mabd_real least = t < 1 ? CLOSE_ON_WAY : CLOSE_CHANGE;
    mabd_real change = (mabd_real)INFINITY;
    *left = find_error(p, t, joint);
    if (p->holds->count == 0 && !(*left > goal)) return MABD_OK; // closed as it is
    for (int k = 0; k < MABD_CLOSE_MAX_ITERATIONS; k++) {
        MABD_TRY(iterate(p, t, multiplier, error));
        const mabd_real moved = mabd_quaternion_move_pose(&p->s), now = find_error(p, t, joint);
        const bool falls = now < *left / 2 || moved < change / 2;
        *left = now, change = moved;
        if (!(*left > goal) && change < least) break;
        if (!falls && *left < (mabd_real)1e-9) break; // round-off
        if (!isfinite(*left)) break;
    }
    return MABD_OK;
}

// Close the rows on a way of `parts` parts.
static mabd_status close_in_parts(const mabd_quaternion_point* p, int32_t parts,
                                  mabd_real* multiplier, mabd_real* left, int32_t* joint,
                                  mabd_error* error) {
    const mabd_quaternion_part* part = p->s.part;
    for (int32_t i = 0; i < part->body_count; i++) {
        const size_t at = 7 * (size_t)p->s.sim->bodies[part->body_first + i];
        memcpy(p->s.sim->pose + at, p->from + at, 7 * sizeof *p->from);
    }
    memset(multiplier + part->row_first, 0, (size_t)part->row_count * sizeof *multiplier);
    mabd_start_hold_rows(&p->s, p->holds);
    for (int32_t i = 0; i < p->holds->count; i++) {
        mabd_start_hold* h = &p->holds->hold[i];
        h->begin = h->x, h->multiplier = 0;
    }
    for (int32_t k = 1; k <= parts; k++) {
        const mabd_real t = (mabd_real)k / (mabd_real)parts;
        MABD_TRY(close_at(p, t, multiplier, left, joint, error));
        if (!(*left <= (t < 1 ? CLOSE_ON_WAY : MABD_START_TOLERANCE))) break;
    }
    return MABD_OK;
}

// Parts of a way on which no angle moves by more than CLOSE_PART_RAD in a part.
static int32_t count_parts(const mabd_quaternion_point* p) {
    mabd_real most = CLOSE_PART_RAD;
    mabd_start_hold_rows(&p->s, p->holds);
    for (int32_t i = 0; i < p->holds->count; i++) {
        const mabd_start_hold* h = &p->holds->hold[i];
        if (h->row.kind == MABD_ROW_SLIDE) continue;
        most = (mabd_real)fmax(most, fabs(h->target - h->x));
    }
    return (int32_t)ceil(most / CLOSE_PART_RAD);
}

mabd_status mabd_start_close(const mabd_quaternion_point* p, mabd_real* multiplier,
                             mabd_error* error) {
    mabd_real left = 0;
    int32_t joint = -1, parts = count_parts(p);
    char label[160];
    mabd_status status = close_in_parts(p, parts, multiplier, &left, &joint, error);
    while (p->holds->count > 0 && parts < CLOSE_MOST_PARTS &&
           (status != MABD_OK || !(left <= MABD_START_TOLERANCE))) {
        parts *= 4;
        status = close_in_parts(p, parts, multiplier, &left, &joint, error);
    }
    if (status != MABD_OK || left <= MABD_START_TOLERANCE) return status;
    return mabd_fail_at(error, MABD_ERR_INPUT, -1, joint, 0,
                        "%s cannot be closed at these parameters: it is open by %.4g",
                        mabd_model_joint_label(p->s.sim->model, joint, label, sizeof label),
                        (double)left);
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

// Write B u - p of the held axes at a node to their f.
static void set_held_rates(const mabd_quaternion_point* p, const mabd_quaternion_node* node) {
    mabd_start_hold_rows(&p->s, p->holds);
    for (int32_t i = 0; i < p->holds->count; i++) {
        mabd_start_hold* h = &p->holds->hold[i];
        const mabd_model_joint* own = &p->s.sim->model->joints[p->s.sim->joints[h->place].joint];
        const mabd_side_motion a = mabd_quaternion_side_motion(&p->s, node, own->a);
        const mabd_side_motion o = mabd_quaternion_side_motion(&p->s, node, own->b);
        h->f =
            mabd_rigid_wrench_dot(&h->J.a, a.u) + mabd_rigid_wrench_dot(&h->J.b, o.u) - h->target;
    }
}

mabd_status mabd_start_project(const mabd_quaternion_point* p, mabd_quaternion_node* node,
                               mabd_real* multiplier, mabd_error* error) {
    const mabd_quaternion_part* part = p->s.part;
    const size_t bodies = 6 * (size_t)part->body_count, rows = (size_t)part->row_count;
    mabd_start_holds* holds = p->holds;
    memset(multiplier + part->row_first, 0, rows * sizeof *multiplier);
    const mabd_real across = mabd_quaternion_set_rows(&p->s, false, node, NULL);
    if (holds->count == 0 && across == 0) return MABD_OK;
    set_held_rates(p, node);
    for (size_t i = 0; i < bodies + rows; i++) {
        holds->b[i] = -p->s.sim->rhs[part->vector_first + i];
    }
    mabd_start_store_project(&p->s);
    MABD_TRY(mabd_tangent_factor(p, error));
    MABD_TRY(mabd_start_border(p, false, holds, error));
    mabd_start_solve(p, false, holds, holds->b, holds->y);
    mabd_quaternion_add_velocities(&p->s, holds->y, node);
    memcpy(multiplier + part->row_first, holds->y + bodies, rows * sizeof *multiplier);
    for (int32_t i = 0; i < holds->count; i++) holds->hold[i].multiplier = holds->hold[i].f;
    return MABD_OK;
}
