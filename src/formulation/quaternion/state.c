// SPDX-License-Identifier: Apache-2.0
// The start state, states that are set, states as bytes.
//
// A state must satisfy its joints: rigid rows open by more than 1e-6 are refused, or closed by the
// least motion if the scene allows it, and rows that are open by less are closed to round-off.
// Velocities across the rows are projected in the mass metric, with a warning if they are more than
// 1e-6 m/s or rad/s, relative to 1 + the speed.

#include "formulation/quaternion/quaternion_sim.h"

#include "base/error.h"
#include "formulation/quaternion/constrained.h"
#include "formulation/quaternion/drives.h"
#include "formulation/quaternion/elimination.h"
#include "formulation/quaternion/kinematics.h"
#include "rigid/frames.h"
#include "rigid/row_error.h"

#include <math.h>
#include <string.h>

#define START_TOLERANCE ((mabd_real)1e-6)

// ---- consistent states -------------------------------------------------------------------------

static void store_body(const mabd_rigid_state* s, mabd_real* row) {
    const mabd_vec3 om = mabd_q_rotate(mabd_q_conjugate(s->q), s->omega);
    mabd_v3_store(s->c, row), mabd_q_store(s->q, row + 3);
    mabd_v3_store(s->v, row + 7);
    mabd_q_store(mabd_rigid_h_tmul(s->q, mabd_v3_scale((mabd_real)0.5, om)), row + 10);
}

static mabd_quaternion_solve solve_at(mabd_quaternion_sim* sim, int32_t part,
                                      mabd_quaternion_report* report) {
    mabd_quaternion_solve s = {.sim = sim, .part = &sim->parts[part], .report = report};
    s.from = s.time = sim->time, s.h = sim->def.h, s.bh = sim->def.h;
    return s;
}

// Find the joint with the largest error at a node.
static mabd_real find_open(const mabd_quaternion_solve* s, int32_t* worst, bool* angle) {
    const mabd_quaternion_sim* sim = s->sim;
    mabd_real most = 0;
    *worst = -1;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const int32_t joint = sim->joints[s->part->joint_first + i].joint;
        const mabd_model_joint* own = &sim->model->joints[joint];
        const mabd_joint_view view = mabd_quaternion_view(sim, sim->pose, s->time, own);
        mabd_real gap, turn;
        mabd_rigid_joint_error(&view, &sim->model->row_sets[own->row_set], &gap, &turn);
        if (gap > most) most = gap, *worst = joint, *angle = false;
        if (turn > most) most = turn, *worst = joint, *angle = true;
    }
    return most;
}

static mabd_status refuse_open(const mabd_quaternion_solve* s, int32_t joint, mabd_real size,
                               bool angle, const char* why, mabd_error* error) {
    char label[160];
    mabd_model_joint_label(s->sim->model, joint, label, sizeof label);
    return mabd_fail_at(error, MABD_ERR_INPUT, -1, joint, s->time, "%s is open by %.4g %s%s", label,
                        (double)size, angle ? "rad" : "m", why);
}

// Close the rows of a part in sim->pose.
static mabd_status close_part(const mabd_quaternion_solve* s, mabd_error* error) {
    int32_t joint;
    bool angle = false;
    const mabd_real open = find_open(s, &joint, &angle);
    if (open > START_TOLERANCE && !s->sim->model->close_joints) {
        return refuse_open(s, joint, open, angle,
                           "; \"start\": {\"close\": true} in the scene, or --close-joints, "
                           "closes it",
                           error);
    }
    if (open == 0) return MABD_OK;
    mabd_quaternion_close(s, false);
    const mabd_real left = find_open(s, &joint, &angle);
    if (left <= START_TOLERANCE) return MABD_OK;
    return refuse_open(s, joint, left, angle, ": the joints cannot be closed", error);
}

// Turn w with q: the velocity of a body stays as it was while its pose is closed.
static void write_closed(const mabd_quaternion_solve* s, mabd_quaternion_node* node) {
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const size_t body = (size_t)s->sim->bodies[s->part->body_first + i];
        mabd_real* row = node->body + MABD_NODE_REALS * body;
        const mabd_quat old = mabd_q_load(row + 3);
        const mabd_vec3 om =
            mabd_q_rotate(old, mabd_rigid_spin(old, mabd_q_load(row + 10))); // world
        mabd_rigid_state state = {mabd_v3_load(s->sim->pose + 7 * body),
                                  mabd_q_load(s->sim->pose + 7 * body + 3), mabd_v3_load(row + 7),
                                  om};
        store_body(&state, row);
    }
}

static mabd_real speed_of(const mabd_quaternion_solve* s, const mabd_quaternion_node* node) {
    mabd_real most = 0;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const size_t body = (size_t)s->sim->bodies[s->part->body_first + i];
        const mabd_real* row = node->body + MABD_NODE_REALS * body;
        const mabd_real speed =
            mabd_v3_norm(mabd_v3_load(row + 7)) + 2 * mabd_q_norm(mabd_q_load(row + 10));
        if (speed > most) most = speed;
    }
    return most;
}

static mabd_status project_part(const mabd_quaternion_solve* s, mabd_quaternion_node* node,
                                int64_t step, mabd_error* error) {
    mabd_real rate;
    int32_t joint;
    char label[160];
    if (mabd_quaternion_project(s, node, &rate, &joint) != MABD_OK) {
        return mabd_fail_at(error, MABD_ERR_INPUT, -1, joint, s->time,
                            "velocities against the joints cannot be projected");
    }
    if (!(rate > START_TOLERANCE * (1 + speed_of(s, node)))) return MABD_OK;
    mabd_warn(&s->sim->warnings, -1, joint, step,
              "velocities against the joints, at most %.4g m/s or rad/s at %s, were projected",
              (double)rate, mabd_model_joint_label(s->sim->model, joint, label, sizeof label));
    return MABD_OK;
}

// Make a node consistent with the joints of a part.
static mabd_status settle_part(mabd_quaternion_sim* sim, int32_t part, mabd_quaternion_node* node,
                               int64_t step, mabd_error* error) {
    mabd_quaternion_report report = {0};
    mabd_quaternion_solve s = solve_at(sim, part, &report);
    mabd_quaternion_take_pose(&s, node);
    MABD_TRY(close_part(&s, error));
    write_closed(&s, node);
    MABD_TRY(project_part(&s, node, step, error));
    mabd_quaternion_read_coordinates(&s, node);
    mabd_quaternion_set_inputs(&s);
    return mabd_quaternion_check_drives(&s, START_TOLERANCE, step, error);
}

static mabd_status settle(mabd_quaternion_sim* sim, mabd_quaternion_node* node, int64_t step,
                          mabd_error* error) {
    for (int32_t p = 0; p < sim->part_count; p++) {
        MABD_TRY(settle_part(sim, p, node, step, error));
    }
    return MABD_OK;
}

// Leave out the redundant rows at a node. On failure the choice is as before.
static mabd_status eliminate(mabd_quaternion_sim* sim, const mabd_quaternion_node* node, bool first,
                             mabd_error* error) {
    const size_t rows = (size_t)sim->row_count * sizeof *sim->dropped;
    memcpy(sim->last_dropped, sim->dropped, rows);
    for (int32_t p = 0; p < sim->part_count; p++) {
        mabd_quaternion_report report = {0};
        const mabd_quaternion_solve s = solve_at(sim, p, &report);
        if (!s.part->elimination) continue;
        mabd_quaternion_take_pose(&s, node);
        if (mabd_quaternion_eliminate(&s, first) == MABD_OK) continue;
        memcpy(sim->dropped, sim->last_dropped, rows);
        return mabd_fail(error, MABD_ERR_DIVERGED,
                         "redundant rows cannot be left out: singular values do not converge");
    }
    return MABD_OK;
}

// Decide which parts are fully constrained at a node.
static mabd_status judge_parts(mabd_quaternion_sim* sim, const mabd_quaternion_node* node,
                               mabd_error* error) {
    for (int32_t p = 0; p < sim->part_count; p++) {
        mabd_quaternion_report report = {0};
        const mabd_quaternion_solve s = solve_at(sim, p, &report);
        MABD_TRY(mabd_quaternion_judge_constrained(&s, node, error));
    }
    return MABD_OK;
}

// Forget the history: the state is that of `now`.
static void forget_history(mabd_quaternion_sim* sim) {
    const size_t bodies = MABD_NODE_REALS * (size_t)sim->model->body_count * sizeof(mabd_real);
    const size_t coordinates = 2 * (size_t)sim->model->coordinate_count * sizeof(mabd_real);
    mabd_quaternion_node* nodes[] = {&sim->last, &sim->next, &sim->base, &sim->stage, &sim->past};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        memcpy(nodes[i]->body, sim->now.body, bodies);
        memcpy(nodes[i]->x, sim->now.x, coordinates);
    }
    memset(sim->lambda, 0, (size_t)sim->row_count * sizeof *sim->lambda);
    for (int32_t p = 0; p < sim->part_count; p++) {
        sim->parts[p].has_history = sim->parts[p].has_slope = false;
    }
    sim->forces_known = false;
}

void mabd_quaternion_place_bodies(mabd_quaternion_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        mabd_rigid_state s = mabd_rigid_from_user(&m->classes[m->body_class[i]], &m->start[i]);
        if (sim->body_slot[i] < 0) s.v = s.omega = mabd_v3(0, 0, 0);
        store_body(&s, sim->now.body + MABD_NODE_REALS * (size_t)i);
    }
}

mabd_status mabd_quaternion_start(mabd_quaternion_sim* sim, mabd_error* error) {
    const mabd_model* m = sim->model;
    const size_t inputs = (size_t)(m->coordinate_count + sim->motor_count);
    const size_t applied = 6 * (size_t)m->body_count * sizeof *sim->applied;
    sim->time = 0;
    mabd_quaternion_place_bodies(sim);
    memset(sim->now.x, 0, 2 * (size_t)m->coordinate_count * sizeof *sim->now.x);
    memset(sim->target_set, 0, inputs * sizeof *sim->target_set);
    memset(sim->last_set, 0, inputs * sizeof *sim->last_set);
    memset(sim->applied, 0, applied);
    memset(sim->last_applied, 0, applied);
    sim->has_applied = sim->had_applied = false;
    memset(sim->times, 0, sizeof sim->times);
    MABD_TRY(settle(sim, &sim->now, 0, error));
    MABD_TRY(eliminate(sim, &sim->now, true, error));
    MABD_TRY(judge_parts(sim, &sim->now, error));
    forget_history(sim);
    for (size_t i = 0; i < (size_t)m->body_count; i++) {
        memcpy(sim->start_turn + 4 * i, sim->now.body + MABD_NODE_REALS * i + 3,
               4 * sizeof *sim->start_turn);
    }
    const mabd_measure start = mabd_quaternion_measure(sim);
    sim->start_energy[0] = start.kinetic, sim->start_energy[1] = start.gravity;
    sim->start_energy[2] = start.spring;
    return MABD_OK;
}

// ---- states that are set -----------------------------------------------------------------------

/// Arrays of a state in user frames; null = unchanged.
typedef struct user_state {
    const mabd_real *positions, *quaternions, *velocities, *angular;
} user_state;

static bool is_finite(const mabd_real* values, size_t at, int count) {
    bool finite = true;
    for (int k = 0; values && k < count; k++) {
        finite &= isfinite(values[at * (size_t)count + (size_t)k]) != 0;
    }
    return finite;
}

// The part of a state that is not a number or no rotation; null = all is good.
static const char* find_bad(const user_state* user, size_t i) {
    if (!is_finite(user->positions, i, 3)) return "position is not finite, that";
    if (!is_finite(user->quaternions, i, 4) ||
        (user->quaternions && !(mabd_q_norm(mabd_q_load(user->quaternions + 4 * i)) > 0))) {
        return "quaternion is no rotation, that";
    }
    if (!is_finite(user->velocities, i, 3)) return "velocity is not finite, that";
    if (!is_finite(user->angular, i, 3)) return "angular velocity is not finite, that";
    return NULL;
}

static void place_body(const mabd_quaternion_sim* sim, const user_state* user, int32_t body,
                       mabd_real* row) {
    const mabd_model* m = sim->model;
    const size_t i = (size_t)body;
    mabd_model_start own;
    mabd_quaternion_body_state(sim, body, &own);
    if (user->positions) memcpy(own.position, user->positions + 3 * i, sizeof own.position);
    if (user->quaternions) {
        const mabd_quat turn = mabd_q_load(user->quaternions + 4 * i);
        mabd_q_store(mabd_q_normalize(turn), own.rotation);
    }
    if (user->velocities) memcpy(own.velocity, user->velocities + 3 * i, sizeof own.velocity);
    if (user->angular) {
        memcpy(own.angular_velocity, user->angular + 3 * i, sizeof own.angular_velocity);
    }
    const mabd_rigid_state s = mabd_rigid_from_user(&m->classes[m->body_class[body]], &own);
    store_body(&s, row);
}

mabd_status mabd_quaternion_set_state(void* self, mabd_real time, int64_t step,
                                      const mabd_real* positions, const mabd_real* quaternions,
                                      const mabd_real* velocities, const mabd_real* angular,
                                      mabd_error* error) {
    mabd_quaternion_sim* sim = self;
    const mabd_model* m = sim->model;
    const user_state user = {positions, quaternions, velocities, angular};
    sim->time = time;
    memcpy(sim->next.x, sim->now.x, 2 * (size_t)m->coordinate_count * sizeof *sim->now.x);
    for (int32_t i = 0; i < m->body_count; i++) {
        mabd_real* row = sim->next.body + MABD_NODE_REALS * (size_t)i;
        memcpy(row, sim->now.body + MABD_NODE_REALS * (size_t)i, MABD_NODE_REALS * sizeof *row);
        if (sim->body_slot[i] < 0) continue;
        const char* bad = find_bad(&user, (size_t)i);
        if (bad) {
            char label[160];
            mabd_model_body_label(m, i, label, sizeof label);
            return mabd_fail_at(error, MABD_ERR_INPUT, i, -1, 0, "set_state: the %s of %s", bad,
                                label);
        }
        place_body(sim, &user, i, row);
    }
    MABD_TRY(settle(sim, &sim->next, step, error));
    MABD_TRY(eliminate(sim, &sim->next, false, error));
    const mabd_measure before = mabd_quaternion_measure(sim);
    const mabd_quaternion_node now = sim->now;
    sim->now = sim->next, sim->next = now;
    forget_history(sim);
    const mabd_measure after = mabd_quaternion_measure(sim);
    sim->start_energy[0] += after.kinetic - before.kinetic;
    sim->start_energy[1] += after.gravity - before.gravity;
    sim->start_energy[2] += after.spring - before.spring;
    return MABD_OK;
}

// ---- states as bytes ---------------------------------------------------------------------------
//
// Nodes now, last, slope; multipliers; rows left out; targets and applied forces of this step and
// the last one; start energies; flags of the parts (bit 0: history, bit 1: slope), then one byte:
// bit 0: forces are applied, bit 1: were applied. A change of this order raises state_version.

// Visit every array of a state: copy it out of the simulation, or into it.
typedef struct state_cursor {
    unsigned char* out;
    const unsigned char* in;
    size_t size;
} state_cursor;

static void visit(state_cursor* at, void* array, size_t bytes) {
    if (at->out) memcpy(at->out + at->size, array, bytes);
    if (at->in) memcpy(array, at->in + at->size, bytes);
    at->size += bytes;
}

static void visit_arrays(mabd_quaternion_sim* sim, state_cursor* at) {
    const mabd_model* m = sim->model;
    const size_t bodies = (size_t)m->body_count, real = sizeof(mabd_real);
    const size_t inputs = (size_t)(m->coordinate_count + sim->motor_count);
    mabd_quaternion_node* nodes[] = {&sim->now, &sim->last, &sim->slope};
    for (int i = 0; i < 3; i++) {
        visit(at, nodes[i]->body, MABD_NODE_REALS * bodies * real);
        visit(at, nodes[i]->x, 2 * (size_t)m->coordinate_count * real);
    }
    visit(at, sim->lambda, (size_t)sim->row_count * real);
    visit(at, sim->dropped, (size_t)sim->row_count * sizeof(bool));
    visit(at, sim->target, inputs * real);
    visit(at, sim->last_target, inputs * real);
    visit(at, sim->target_set, inputs * sizeof(bool));
    visit(at, sim->last_set, inputs * sizeof(bool));
    visit(at, sim->applied, 6 * bodies * real);
    visit(at, sim->last_applied, 6 * bodies * real);
    visit(at, sim->start_energy, sizeof sim->start_energy);
}

size_t mabd_quaternion_state_size(const void* self) {
    mabd_quaternion_sim* sim = (mabd_quaternion_sim*)self; // counted, not changed
    state_cursor at = {0};
    visit_arrays(sim, &at);
    return at.size + (size_t)sim->part_count + 1;
}

void mabd_quaternion_save(const void* self, void* buffer) {
    mabd_quaternion_sim* sim = (mabd_quaternion_sim*)self; // read, not changed
    state_cursor at = {.out = buffer};
    visit_arrays(sim, &at);
    for (int32_t p = 0; p < sim->part_count; p++) {
        at.out[at.size++] = (unsigned char)((sim->parts[p].has_history ? 1 : 0) |
                                            (sim->parts[p].has_slope ? 2 : 0));
    }
    at.out[at.size] = (unsigned char)((sim->has_applied ? 1 : 0) | (sim->had_applied ? 2 : 0));
}

mabd_status mabd_quaternion_restore(void* self, const void* buffer, size_t size, mabd_real time) {
    mabd_quaternion_sim* sim = self;
    state_cursor at = {.in = buffer};
    if (size != mabd_quaternion_state_size(self)) return MABD_ERR_INPUT;
    visit_arrays(sim, &at);
    for (int32_t p = 0; p < sim->part_count; p++) {
        const unsigned char flags = at.in[at.size++];
        sim->parts[p].has_history = (flags & 1) != 0, sim->parts[p].has_slope = (flags & 2) != 0;
    }
    sim->has_applied = (at.in[at.size] & 1) != 0, sim->had_applied = (at.in[at.size] & 2) != 0;
    sim->time = time;
    sim->forces_known = false;
    for (int32_t p = 0; p < sim->part_count; p++) { // motors at the state, for joint forces
        mabd_quaternion_report report = {0};
        mabd_quaternion_solve s = solve_at(sim, p, &report);
        mabd_quaternion_set_inputs(&s);
    }
    return MABD_OK;
}
