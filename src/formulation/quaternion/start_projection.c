// SPDX-License-Identifier: Apache-2.0
// Projections of a start state for runs that are differentiated: rigid/start.h does the same for
// all other runs, on a plan of its own and without multipliers.
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
#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/start_hold.h"
#include "formulation/quaternion/tangent_joint.h"

#include <math.h>
#include <string.h>

/// Iterations that close rows; error, and change of the pose in an iteration, [m] or [rad], at
/// which they end; largest rotation of a body in one [rad].
#define CLOSE_MAX_ITERATIONS 50
#define CLOSE_GOAL           ((mabd_real)1e-13)
#define CLOSE_CHANGE         ((mabd_real)1e-12)
#define CLOSE_TURN_RAD       ((mabd_real)0.5)
/// Held axes go to their coordinates in parts of at most this angle, in more parts where the
/// iteration fails; error and change at which a part ends.
#define CLOSE_PART_RAD   ((mabd_real)0.3)
#define CLOSE_MOST_PARTS 64
#define CLOSE_ON_WAY     ((mabd_real)1e-4)

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

// Write -C of rigid rows, or -J u with a node, to the right-hand side; returns the largest, which
// *joint has.
static mabd_real set_rows(const mabd_quaternion_solve* s, const mabd_quaternion_node* node,
                          int32_t* joint) {
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
            if ((mabd_real)fabs(to[r]) <= largest) continue;
            largest = (mabd_real)fabs(to[r]), *joint = j->joint;
        }
    }
    return largest;
}

void mabd_start_store_project(const mabd_quaternion_solve* s) {
    mabd_quaternion_store_matrix(s);
    mabd_start_release(s);
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
    int32_t joint;
    set_rows(s, NULL, &joint);
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

// Coordinate of a held axis in part t of the way to its target.
static mabd_real aim_of(const mabd_start_hold* h, mabd_real t) {
    return h->begin + t * (h->target - h->begin);
}

// Largest error of the rigid rows and of the held axes, in part t of the way; *joint has it.
static mabd_real find_error(const mabd_quaternion_point* p, mabd_real t, int32_t* joint) {
    mabd_real error = set_rows(&p->s, NULL, joint);
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
    const mabd_real goal = t < 1 ? CLOSE_ON_WAY : CLOSE_GOAL;
    const mabd_real least = t < 1 ? CLOSE_ON_WAY : CLOSE_CHANGE;
    mabd_real change = (mabd_real)INFINITY;
    *left = find_error(p, t, joint);
    if (p->holds->count == 0 && !(*left > goal)) return MABD_OK; // closed as it is
    for (int k = 0; k < CLOSE_MAX_ITERATIONS; k++) {
        MABD_TRY(iterate(p, t, multiplier, error));
        const mabd_real moved = move_pose(&p->s), now = find_error(p, t, joint);
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
        h->f = dot6(&h->J.a, a.u) + dot6(&h->J.b, o.u) - h->target;
    }
}

// Add the changes y (6 per body) to the velocities of a node.
static void add_velocities(const mabd_quaternion_solve* s, const mabd_real* y,
                           mabd_quaternion_node* node) {
    for (int32_t i = 0; i < s->part->body_count; i++, y += 6) {
        mabd_real* row =
            node->body + MABD_NODE_REALS * (size_t)s->sim->bodies[s->part->body_first + i];
        const mabd_quat w = mabd_q_load(row + 10);
        const mabd_quat d = mabd_rigid_h_tmul(mabd_q_load(row + 3),
                                              mabd_v3_scale((mabd_real)0.5, mabd_v3_load(y + 3)));
        mabd_v3_store(mabd_v3_add(mabd_v3_load(row + 7), mabd_v3_load(y)), row + 7);
        mabd_q_store(mabd_q(w.w + d.w, w.x + d.x, w.y + d.y, w.z + d.z), row + 10);
    }
}

mabd_status mabd_start_project(const mabd_quaternion_point* p, mabd_quaternion_node* node,
                               mabd_real* multiplier, mabd_error* error) {
    const mabd_quaternion_part* part = p->s.part;
    const size_t bodies = 6 * (size_t)part->body_count, rows = (size_t)part->row_count;
    mabd_start_holds* holds = p->holds;
    int32_t joint;
    memset(multiplier + part->row_first, 0, rows * sizeof *multiplier);
    const mabd_real across = set_rows(&p->s, node, &joint);
    if (holds->count == 0 && across == 0) return MABD_OK;
    set_held_rates(p, node);
    for (size_t i = 0; i < bodies + rows; i++) {
        holds->b[i] = -p->s.sim->rhs[part->vector_first + i];
    }
    mabd_start_store_project(&p->s);
    MABD_TRY(mabd_tangent_factor(p, error));
    MABD_TRY(mabd_start_border(p, false, holds, error));
    mabd_start_solve(p, false, holds, holds->b, holds->y);
    add_velocities(&p->s, holds->y, node);
    memcpy(multiplier + part->row_first, holds->y + bodies, rows * sizeof *multiplier);
    for (int32_t i = 0; i < holds->count; i++) holds->hold[i].multiplier = holds->hold[i].f;
    return MABD_OK;
}
