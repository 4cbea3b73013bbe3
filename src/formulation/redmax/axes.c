// SPDX-License-Identifier: Apache-2.0
// Axes with force laws: stops, limited drives, dry friction; rigid servos on rotation vectors.
//
// An axis is on one branch of its law at a time (rigid/axis_row.h). In joint coordinates a branch
// needs no row of its own:
//
//   sloped, flat   a spring, damper and constant force of the freedom: k, d, push
//   vertical       q = x_star in place of its equation of motion; the residual r left there is the
//                  force of the law
//
// A component of the rotation vector theta of a ball is held in the same way: dtheta = Y dq, and
// the equations of motion of the three freedoms are taken to forces on theta, Y^-T r (factor.c).
// Their force on the held component is `push` of its freedom, so that its geometric stiffness is in
// H.
//
// After each linear solve the branches move to those that the solution is on, and the solve is
// repeated at the same iterate: there the axes of a part are one linear complementarity problem.
//
// A step in which a force or a rate jumps - an axis meets a stop, sticks or turns back, a drive
// reaches its target - is taken by implicit Euler, and the next one has no history. After it, rates
// across stops and unlimited drives are taken away by impulses,
//
//   M dq' = 0,  dq'_k = to_k - q'_k of held axes,  stops that would pull let go
//
// as in the quaternion formulation (quaternion/axes.c), where the reasons are given.

#include "formulation/redmax/redmax_axes.h"

#include "formulation/redmax/lean.h"
#include "formulation/redmax/redmax_contact.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_sim.h"
#include "scene/signal.h"

#include <math.h>
#include <string.h>

/// An axis that moves by less than this many tolerances in a step has no impact and no jump.
#define IMPACT_TOLERANCES 10

static mabd_redmax_freedom* freedom_of(const mabd_redmax_sim* sim, const mabd_redmax_law* law) {
    return &sim->freedoms[law->freedom];
}
static bool is_ball(const mabd_redmax_sim* sim, const mabd_redmax_law* law) {
    return sim->links[freedom_of(sim, law)->link].kind == MABD_PRIMITIVE_BALL;
}
// Component of a law among the freedoms of its link.
static int own_of(const mabd_redmax_sim* sim, const mabd_redmax_law* law) {
    return law->freedom - sim->links[freedom_of(sim, law)->link].first;
}

// ---- laws --------------------------------------------------------------------------------------

static mabd_real target_of(const mabd_redmax_solve* s, const mabd_redmax_freedom* f) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_signal* signal = f->control->drive ? f->control->drive : f->control->servo;
    const size_t k = (size_t)f->coordinate;
    if (!sim->inputs.target_set[k]) return mabd_rigid_signal(signal, s->from, s->h, s->time);
    return mabd_rigid_held_target(&sim->inputs, k, mabd_axis_is_position(f->control),
                                  (s->time - sim->time + sim->begun) / sim->whole_h);
}

// Bound of the friction that is a part of the law; smooth friction is none.
static mabd_real dry_bound(const mabd_redmax_freedom* f) {
    return f->control->friction_speed > 0 ? 0 : f->bound;
}

// The law of an axis in a solve with the given past.
static mabd_axis_law law_with(const mabd_redmax_solve* s, const mabd_redmax_law* law,
                              const mabd_axis_past* past) {
    const mabd_redmax_freedom* f = freedom_of(s->sim, law);
    if (f->control->rigid) {
        const mabd_axis_law rigid = {.lower = -(mabd_real)INFINITY,
                                     .upper = (mabd_real)INFINITY,
                                     .box = {{.at = law->drive, .most = (mabd_real)INFINITY}}};
        return rigid;
    }
    mabd_axis_law own = mabd_axis_law_of(f->control, is_ball(s->sim, law), s->force[law->freedom],
                                         law->drive, past);
    own.box[1].most = dry_bound(f);
    return own;
}

static mabd_axis_law law_of(const mabd_redmax_solve* s, const mabd_redmax_law* law) {
    const mabd_redmax_sim* sim = s->sim;
    const bool ball = is_ball(sim, law);
    const mabd_axis_past past = {s->gamma, ball ? law->x_b : sim->q_b[law->freedom],
                                 ball ? 0 : sim->v_b[law->freedom]};
    return law_with(s, law, &past);
}

// Compliance of the single coordinate over gamma. A damped rotation yields by at least the inverse
// of twice its damper: the others may move with it.
static mabd_real own_compliance(const mabd_redmax_solve* s, const mabd_redmax_law* law,
                                mabd_real gamma) {
    const mabd_control* c = freedom_of(s->sim, law)->control;
    const mabd_real bodies = gamma * gamma * law->yield;
    const mabd_real damper = (c->damping + c->armature / gamma) / gamma;
    return is_ball(s->sim, law) ? bodies / (1 + bodies * damper / 2) : bodies;
}

// Give a freedom the stiffness, damping and force of the branch of its law.
static void set_freedom(const mabd_redmax_solve* s, const mabd_redmax_law* law) {
    mabd_redmax_freedom* f = freedom_of(s->sim, law);
    const mabd_control* c = f->control;
    const mabd_axis_line* line = &law->search.line;
    const bool was = f->held;
    f->held = !line->flat && line->compliance == 0;
    f->hold = line->x_star;
    if (is_ball(s->sim, law)) {
        const mabd_real slope = line->flat || f->held ? 0 : 1 / line->compliance;
        f->k = slope;
        if (!f->held) f->push = (line->flat ? -line->lambda : line->x_star * slope);
        if (!f->held) f->push -= s->force[law->freedom];
        if (f->held && !was) f->push = 0;
        return;
    }
    f->k = c->stiffness, f->d = c->damping, f->push = 0;
    if (f->held) return;
    if (c->max_force > 0 && law->search.branch.box[0] != 0) {
        f->push -= (mabd_real)law->search.branch.box[0] * c->max_force;
    } else if (c->max_force > 0) {
        f->k += c->drive_gain, f->d += c->drive_damping;
        f->push += c->drive_gain * law->drive;
    }
    f->push -= (mabd_real)law->search.branch.box[1] * dry_bound(f);
}

// ---- states ------------------------------------------------------------------------------------

// Rotation vectors' rates at a node: N(theta) rho.
static mabd_vec3 turn_rates(const mabd_redmax_link* link, const mabd_redmax_node* node) {
    mabd_vec3 rho = mabd_v3_load(node->v + link->first);
    const mabd_vec3 theta = mabd_v3_load(node->theta + 3 * (size_t)link->ball);
    if (link->reversed) {
        const mabd_quat turn = mabd_q_load(node->turn + 4 * (size_t)link->ball);
        rho = mabd_v3_scale(-1, mabd_q_rotate(turn, rho));
    }
    return mabd_m3_mul(mabd_so3_log_gradients(theta), rho);
}

void mabd_redmax_axis_state(const mabd_redmax_sim* sim, const mabd_redmax_node* node, int32_t k,
                            mabd_real* x) {
    const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
    const int32_t own = k - link->first;
    x[0] = node->q[k], x[1] = node->v[k];
    if (link->kind != MABD_PRIMITIVE_BALL) return;
    x[0] = node->theta[3 * (size_t)link->ball + (size_t)own];
    x[1] = mabd_v3_get(turn_rates(link, node), own);
}

// Coordinate and rate of a law at a node.
static void state_of(const mabd_redmax_sim* sim, const mabd_redmax_law* law,
                     const mabd_redmax_node* node, mabd_real* x) {
    mabd_redmax_axis_state(sim, node, law->freedom, x);
}

// Coordinate of a law at the iterate; *rows gets dtheta/dq of a ball.
static mabd_real coordinate_of(const mabd_redmax_solve* s, const mabd_redmax_law* law,
                               mabd_mat3* rows) {
    mabd_vec3 theta;
    if (!is_ball(s->sim, law)) return s->sim->q[law->freedom];
    mabd_redmax_ball_turn(s, freedom_of(s->sim, law)->link, &theta, rows);
    return mabd_v3_get(theta, own_of(s->sim, law));
}

// ---- branches ----------------------------------------------------------------------------------

void mabd_redmax_take_branches(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        mabd_redmax_law* law = &sim->laws[i];
        mabd_real x[2];
        freedom_of(sim, law)->held = false;
        law->search.branch = sim->branch[i];
        if (s->part->has_branches) continue;
        state_of(sim, law, s->from_node, x);
        law->drive = target_of(s, freedom_of(sim, law));
        const mabd_axis_past past = {s->h, x[0], x[1]};
        const mabd_axis_law own = law_with(s, law, &past);
        law->search.branch = mabd_axis_find(&own, own_compliance(s, law, s->h), x[0] + s->h * x[1]);
    }
}

void mabd_redmax_set_pasts(const mabd_redmax_solve* s, mabd_real rest,
                           const mabd_redmax_node* last) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        mabd_redmax_law* law = &sim->laws[i];
        if (!is_ball(sim, law)) continue;
        const size_t at =
            3 * (size_t)sim->links[freedom_of(sim, law)->link].ball + (size_t)own_of(sim, law);
        const mabd_real from = s->from_node->theta[at];
        mabd_mat3 rows;
        if (rest > 0) {
            law->x_b = from + rest * (coordinate_of(s, law, &rows) - law->x_b) / s->gamma;
        } else {
            law->x_b = last ? (4 * from - last->theta[at]) / 3 : from;
        }
    }
}

static void start_axis(const mabd_redmax_solve* s, mabd_redmax_law* law, mabd_axis_branch branch) {
    law->drive = target_of(s, freedom_of(s->sim, law));
    const mabd_axis_law own = law_of(s, law);
    mabd_axis_search_start(&own, own_compliance(s, law, s->gamma), branch, &law->search);
    set_freedom(s, law);
}

void mabd_redmax_start_axes(const mabd_redmax_solve* s) {
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        start_axis(s, &s->sim->laws[i], s->sim->laws[i].search.branch);
    }
}

void mabd_redmax_set_branches(const mabd_redmax_solve* s, const mabd_axis_branch* branch) {
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        mabd_redmax_law* law = &s->sim->laws[i];
        freedom_of(s->sim, law)->held = false;
        start_axis(s, law, branch[i]);
    }
}

void mabd_redmax_copy_branches(const mabd_redmax_solve* s, mabd_axis_branch* to) {
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        to[i] = s->sim->laws[i].search.branch;
    }
}

void mabd_redmax_reset_branches(const mabd_redmax_solve* s, const mabd_axis_branch* from) {
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        s->sim->laws[i].search.branch = from[i];
    }
}

void mabd_redmax_restore_laws(const mabd_redmax_solve* s, const mabd_redmax_law* from) {
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        s->sim->laws[i] = from[i];
        set_freedom(s, &s->sim->laws[i]);
    }
}

void mabd_redmax_find_forces(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        const mabd_redmax_law* law = &sim->laws[i];
        mabd_redmax_freedom* f = freedom_of(sim, law);
        mabd_mat3 Y;
        if (!f->held || !is_ball(sim, law)) continue;
        coordinate_of(s, law, &Y); // the rows do not depend on the forces
        const mabd_vec3 tau = mabd_v3_load(sim->r + sim->links[f->link].first);
        f->push += mabd_v3_get(mabd_redmax_ball_forces(Y, tau), own_of(sim, law));
    }
}

mabd_redmax_law_change mabd_redmax_law_change_of(const mabd_redmax_solve* s,
                                                 const mabd_redmax_law* law) {
    const mabd_control* c = freedom_of(s->sim, law)->control;
    const mabd_axis_branch branch = law->search.branch;
    const bool gains = c->drive_gain > 0 || c->drive_damping > 0;
    mabd_redmax_law_change out = {.held = false};
    if (c->rigid) return (mabd_redmax_law_change){.held = true, .by_target = 1};
    if (branch.stop != 0) return (mabd_redmax_law_change){.held = true};
    if (c->max_force > 0 && branch.box[0] == 0 && gains) {
        out.by_target = c->drive_gain;
        // on a coordinate of the tree the damper of a drive is one of its freedom
        out.by_past = is_ball(s->sim, law) ? c->drive_damping / s->gamma : 0;
    } else if (c->max_force > 0 && branch.box[0] == 0) {
        out.held = true;
        out.by_target = c->drive_rate ? s->gamma : 1, out.by_past = c->drive_rate ? 1 : 0;
    }
    if (out.held || !(dry_bound(freedom_of(s->sim, law)) > 0) || branch.box[1] != 0) return out;
    return (mabd_redmax_law_change){.held = true, .by_past = 1};
}

mabd_real mabd_redmax_friction_side(const mabd_redmax_sim* sim, int32_t freedom) {
    const int32_t law = sim->freedoms[freedom].law;
    return law < 0 ? 0 : (mabd_real)sim->laws[law].search.branch.box[1];
}

mabd_real mabd_redmax_target_share(const mabd_redmax_solve* s, const mabd_redmax_law* law,
                                   mabd_real* last) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_freedom* f = freedom_of(sim, law);
    const size_t k = (size_t)f->coordinate;
    *last = 0;
    if (!sim->inputs.target_set[k]) return 0;
    const mabd_real share =
        mabd_rigid_target_share(&sim->inputs, k, mabd_axis_is_position(f->control),
                                (s->time - sim->time + sim->begun) / sim->whole_h);
    *last = 1 - share;
    return share;
}

void mabd_redmax_axes_rows(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    if (s->part->structure.lean && !s->part->structure.ruled) { // the forces alone
        const size_t first = (size_t)s->part->freedom_first;
        memcpy(sim->rows + first, sim->r + first,
               (size_t)s->part->freedom_count * sizeof *sim->rows);
        return;
    }
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        bool holds = false;
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            const mabd_redmax_freedom* f = &sim->freedoms[k];
            sim->rows[k] = sim->r[k];
            if (f->prescribed) sim->rows[k] = 0;
            if (f->law >= 0 && f->held) sim->rows[k] = sim->q[k] - f->hold, holds = true;
        }
        if (link->kind != MABD_PRIMITIVE_BALL || !holds) continue;
        mabd_vec3 theta;
        mabd_mat3 Y;
        mabd_redmax_ball_turn(s, i, &theta, &Y);
        const mabd_vec3 f = mabd_redmax_ball_forces(Y, mabd_v3_load(sim->r + link->first));
        for (int k = 0; k < 3; k++) {
            const mabd_redmax_freedom* own = &sim->freedoms[link->first + k];
            sim->rows[link->first + k] =
                own->held ? mabd_v3_get(theta, k) - own->hold : mabd_v3_get(f, k);
        }
    }
}

// Coordinate and force of an axis after a linear solve, exact on its branch; y: the change of r.
static void read_axis(const mabd_redmax_solve* s, const mabd_redmax_law* law, const mabd_real* y,
                      mabd_real* x, mabd_real* force) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_freedom* f = freedom_of(sim, law);
    const int32_t first = sim->links[f->link].first;
    const mabd_axis_line* line = &law->search.line;
    mabd_mat3 Y;
    *x = coordinate_of(s, law, &Y);
    if (is_ball(sim, law)) {
        *x += mabd_v3_get(mabd_m3_mul(Y, mabd_v3_load(sim->step + first)), own_of(sim, law));
    } else {
        *x += sim->step[law->freedom];
    }
    if (line->flat) {
        *force = mabd_axis_flat_force(&law->search);
    } else if (!f->held) {
        *force = (line->x_star - *x) / line->compliance;
    } else {
        *x = line->x_star;
        *force = sim->r[law->freedom] + y[law->freedom];
        if (!is_ball(sim, law)) return;
        const mabd_vec3 tau = mabd_v3_add(mabd_v3_load(sim->r + first), mabd_v3_load(y + first));
        *force = s->force[law->freedom] + f->push +
                 mabd_v3_get(mabd_redmax_ball_forces(Y, tau), own_of(sim, law));
    }
}

static bool holds_some(const mabd_redmax_solve* s) {
    bool holds = false;
    for (int32_t i = 0; i < s->part->law_count; i++) {
        holds |= freedom_of(s->sim, &s->sim->laws[s->part->law_first + i])->held;
    }
    return holds;
}

static void move_axis(const mabd_redmax_solve* s, mabd_redmax_law* law) {
    const mabd_axis_law own = law_of(s, law);
    mabd_axis_search_move(&own, &law->search);
    set_freedom(s, law);
}

// Take the forces on held components of rotation vectors from the last solve.
static void keep_forces(const mabd_redmax_solve* s) {
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        const mabd_redmax_law* law = &s->sim->laws[i];
        mabd_redmax_freedom* f = freedom_of(s->sim, law);
        if (f->held && is_ball(s->sim, law)) {
            f->push = -law->search.lambda - s->force[law->freedom];
        }
    }
}

bool mabd_redmax_move_axes(const mabd_redmax_solve* s, bool first, int32_t* link) {
    mabd_redmax_sim* sim = s->sim;
    if (holds_some(s) && mabd_redmax_is_lean(s)) {
        mabd_redmax_lean_react(s, sim->step, sim->reaction);
    } else if (holds_some(s)) {
        mabd_redmax_multiply_forces(s, mabd_redmax_stage_weights(s->gamma), sim->step,
                                    sim->reaction);
        if (s->part->border_count > 0) mabd_redmax_subtract_border(s, false, sim->reaction);
        if (s->part->pushed) mabd_redmax_subtract_changes(s, sim->reaction);
    }
    return mabd_redmax_move_axes_by(s, first, link);
}

bool mabd_redmax_move_axes_by(const mabd_redmax_solve* s, bool first, int32_t* link) {
    mabd_redmax_sim* sim = s->sim;
    mabd_redmax_law* last = NULL;
    int32_t changed = 0;
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        mabd_redmax_law* law = &sim->laws[i];
        const mabd_axis_law own = law_of(s, law);
        mabd_real x, force;
        read_axis(s, law, sim->reaction, &x, &force);
        mabd_axis_search_by_force(&own, &law->search, x, force, 0);
        if (law->search.moves) changed++, last = law;
    }
    if (changed == 0) {
        keep_forces(s);
        return false;
    }
    *link = freedom_of(sim, last)->link;
    if (!mabd_axis_moves_all(&s->part->stalls, first, changed)) {
        move_axis(s, last);
        return true;
    }
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        if (sim->laws[i].search.moves) move_axis(s, &sim->laws[i]);
    }
    return true;
}

bool mabd_redmax_reverse_slips(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    bool reversed = false;
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        mabd_redmax_law* law = &sim->laws[i];
        mabd_axis_branch branch = law->search.branch;
        const int32_t k = law->freedom;
        const mabd_real way = sim->q[k] + sim->step[k] - sim->q_b[k];
        if (is_ball(sim, law) || !((mabd_real)branch.box[1] * way < 0)) continue;
        branch.box[1] = (int8_t)-branch.box[1];
        start_axis(s, law, branch);
        reversed = true;
    }
    return reversed;
}

// ---- steps -------------------------------------------------------------------------------------

static mabd_real least_way(const mabd_redmax_sim* sim) {
    return IMPACT_TOLERANCES * sim->def.redmax.newton_tolerance;
}

bool mabd_redmax_meets_stop(const mabd_redmax_sim* sim, const mabd_redmax_part* part) {
    for (int32_t i = part->law_first; i < part->law_first + part->law_count; i++) {
        const mabd_control* c = freedom_of(sim, &sim->laws[i])->control;
        mabd_real x[2];
        if (!c->limited) continue;
        state_of(sim, &sim->laws[i], &sim->now, x);
        if (mabd_axis_meets_stop(c, x[0], sim->def.h * x[1], least_way(sim))) return true;
    }
    return false;
}

bool mabd_redmax_stop_ends(const mabd_redmax_sim* sim, int32_t law) {
    const mabd_axis_branch branch = sim->branch[law];
    mabd_real x[2];
    if (branch.stop == 0) return false;
    state_of(sim, &sim->laws[law], &sim->last, x);
    return (mabd_real)branch.stop * sim->def.h * x[1] > least_way(sim);
}

bool mabd_redmax_changed_branch(const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t end = s->part->law_first + s->part->law_count;
    for (int32_t i = s->part->law_first; s->part->has_branches && i < end; i++) {
        const mabd_redmax_law* law = &sim->laws[i];
        const mabd_axis_law own = law_of(s, law);
        mabd_mat3 rows;
        mabd_real x[2];
        state_of(sim, law, &sim->now, x);
        if (fabs(coordinate_of(s, law, &rows) - x[0]) > least_way(sim) &&
            mabd_axis_jumps_between(&own, sim->branch[i], law->search.branch)) {
            return true;
        }
    }
    return false;
}

bool mabd_redmax_axes_kinked(const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        const mabd_redmax_law* law = &sim->laws[i];
        const mabd_axis_law own = law_of(s, law);
        const mabd_axis_branch now = law->search.branch, before = sim->branch[i];
        bool kinked = now.stop != before.stop;
        for (int k = 0; k < MABD_AXIS_BOXES; k++) kinked |= now.box[k] != before.box[k];
        kinked &= s->part->has_branches;
        mabd_mat3 rows;
        if (kinked || mabd_axis_is_edge(&own, law->search.own, coordinate_of(s, law, &rows),
                                        -law->search.lambda, least_way(sim))) {
            return true;
        }
    }
    return false;
}

void mabd_redmax_keep_branches(mabd_redmax_sim* sim) {
    for (int32_t i = 0; i < sim->law_count; i++) sim->branch[i] = sim->laws[i].search.branch;
    for (int32_t p = 0; p < sim->part_count; p++) {
        sim->parts[p].has_branches = sim->parts[p].law_count > 0;
    }
}

// ---- impacts -----------------------------------------------------------------------------------

// Rate of the target of a rigid servo or drive.
static mabd_real target_rate(const mabd_redmax_solve* s, const mabd_redmax_law* law) {
    const mabd_redmax_freedom* f = freedom_of(s->sim, law);
    const mabd_signal* signal = f->control->drive ? f->control->drive : f->control->servo;
    if (f->control->drive_rate) return law->drive;
    if (!signal || s->sim->inputs.target_set[f->coordinate]) return 0;
    return mabd_signal_rate(signal, s->time);
}

// True if unlimited force determines the rate of an axis: a stop, a rigid servo or a drive without
// limit and gains.
static bool is_blocked(const mabd_redmax_solve* s, const mabd_redmax_law* law, mabd_real* to) {
    const mabd_control* c = freedom_of(s->sim, law)->control;
    *to = 0;
    if (law->search.found.stop != 0) return true;
    const bool gains = c->drive_gain > 0 || c->drive_damping > 0;
    if (!c->rigid && (gains || c->max_force < (mabd_real)INFINITY)) return false;
    *to = target_rate(s, law);
    return true;
}

bool mabd_redmax_starts_drive(const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t end = s->part->law_first + s->part->law_count;
    for (int32_t i = s->part->law_first; !s->part->has_branches && i < end; i++) {
        mabd_redmax_law* law = &sim->laws[i];
        mabd_real x[2], to;
        law->search.found = law->search.branch;
        state_of(sim, law, &sim->now, x);
        if (is_blocked(s, law, &to) && fabs(sim->def.h * (to - x[1])) > least_way(sim)) return true;
    }
    return false;
}

// The rows of an impact, and what they must change the rates by, into sim->step.
static void set_impact(const mabd_redmax_solve* s, const mabd_redmax_node* node) {
    mabd_redmax_sim* sim = s->sim;
    const size_t first = (size_t)s->part->freedom_first;
    memset(sim->step + first, 0, (size_t)s->part->freedom_count * sizeof *sim->step);
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        const mabd_redmax_law* law = &sim->laws[i];
        mabd_redmax_freedom* f = freedom_of(sim, law);
        mabd_real x[2], to;
        f->held = is_blocked(s, law, &to);
        state_of(sim, law, node, x);
        if (f->held) sim->step[law->freedom] = to - x[1];
    }
}

// Impulse on the axis of a law; y: impulses on freedoms.
static mabd_real impulse_of(const mabd_redmax_solve* s, const mabd_redmax_law* law,
                            const mabd_real* y) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t first = sim->links[freedom_of(sim, law)->link].first;
    mabd_mat3 rows;
    if (!is_ball(sim, law)) return y[law->freedom];
    coordinate_of(s, law, &rows);
    return mabd_v3_get(mabd_redmax_ball_forces(rows, mabd_v3_load(y + first)), own_of(sim, law));
}

// Let go of stops that would pull; y: impulses. True if there are some.
static bool release_pulling(const mabd_redmax_solve* s, const mabd_real* y) {
    mabd_redmax_sim* sim = s->sim;
    bool found = false;
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        mabd_redmax_law* law = &sim->laws[i];
        if (law->search.found.stop == 0) continue;
        if (!((mabd_real)law->search.found.stop * impulse_of(s, law, y) > 0)) continue;
        law->search.found.stop = 0, found = true;
    }
    return found;
}

// Work that the impulses y of stops take: on the mean of the rates before, at a node, and after, 0.
static mabd_real stopped_work(const mabd_redmax_solve* s, const mabd_redmax_node* node,
                              const mabd_real* y) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_real sum = 0;
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        const mabd_redmax_law* law = &sim->laws[i];
        mabd_real x[2];
        if (law->search.found.stop == 0) continue;
        state_of(sim, law, node, x);
        const mabd_real own = is_ball(sim, law) ? 0 : freedom_of(sim, law)->I; // y has it of balls
        sum -= (impulse_of(s, law, y) - own * x[1]) * x[1] / 2;
    }
    return sum;
}

// Solve for the change of the rates, after which loops are closed in rates too.
static mabd_status solve_impact(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    mabd_real* rows = sim->loops.step + s->part->row_first;
    if (s->part->row_count == 0) {
        mabd_redmax_apply(s, sim->step, sim->step);
        return MABD_OK;
    }
    MABD_TRY(mabd_redmax_mass_border(s));
    for (int32_t r = 0; r < s->part->row_count; r++) {
        rows[r] = -sim->loops.gap[s->part->row_first + r];
    }
    mabd_redmax_mass_solve(s, sim->step, rows);
    return MABD_OK;
}

bool mabd_redmax_take_impacts(const mabd_redmax_solve* own, mabd_redmax_node* node) {
    mabd_redmax_solve s = *own;
    mabd_redmax_sim* sim = s.sim;
    const mabd_redmax_weights mass = {0, 0, 1};
    int32_t link;
    s.from_node = node, s.in_charts = false;
    s.by_rate = true; // loops: rates of rows
    mabd_redmax_load_node(&s, node);
    mabd_redmax_velocities(&s);
    s.part->structure.swept = false; // they are not of lean sweeps
    for (int32_t i = s.part->law_first; i < s.part->law_first + s.part->law_count; i++) {
        sim->laws[i].search.found = sim->laws[i].search.branch;
    }
    do {
        set_impact(&s, node);
        if (s.part->row_count > 0) mabd_redmax_rows(&s);
        if (mabd_redmax_factor(&s, mass, &link) != MABD_OK) return false; // the next step goes on
        if (solve_impact(&s) != MABD_OK) return false;
        mabd_redmax_multiply_forces(&s, mass, sim->step, sim->reaction);
        if (s.part->row_count > 0) mabd_redmax_subtract_border(&s, true, sim->reaction);
    } while (release_pulling(&s, sim->reaction));
    s.part->stopped = stopped_work(&s, node, sim->reaction);
    const int32_t end = s.part->freedom_first + s.part->freedom_count;
    for (int32_t k = s.part->freedom_first; k < end; k++) node->v[k] += sim->step[k];
    return true;
}

bool mabd_redmax_blocked_rate(const mabd_redmax_solve* s, const mabd_redmax_law* law) {
    const mabd_control* c = freedom_of(s->sim, law)->control;
    return c->drive_rate && law->search.found.stop == 0;
}

mabd_real mabd_redmax_law_power(const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_real sum = 0;
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        const mabd_redmax_law* law = &sim->laws[i];
        const mabd_redmax_freedom* f = freedom_of(sim, law);
        const mabd_control* c = f->control;
        const int32_t k = law->freedom;
        mabd_mat3 rows;
        if (!f->held || law->search.branch.stop != 0) continue;
        if (!c->rigid && c->max_force < (mabd_real)INFINITY) continue;
        const mabd_real x = coordinate_of(s, law, &rows);
        if (is_ball(sim, law)) {
            sum += (f->push + c->stiffness * x) * (x - law->x_b) / s->gamma;
        } else {
            const mabd_real own = s->force[k] - c->stiffness * x - c->damping * sim->v[k];
            sum += (sim->r[k] - own + c->armature * sim->a[k]) * sim->v[k];
        }
    }
    return sum;
}

mabd_real mabd_redmax_drive_work(const mabd_redmax_solve* s, const mabd_redmax_node* to) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_real sum = 0;
    for (int32_t i = s->part->law_first; i < s->part->law_first + s->part->law_count; i++) {
        const mabd_control* c = freedom_of(sim, &sim->laws[i])->control;
        mabd_real before[2], after[2];
        if (!(c->max_force > 0) || c->max_force == (mabd_real)INFINITY) continue;
        state_of(sim, &sim->laws[i], s->from_node, before);
        state_of(sim, &sim->laws[i], to, after);
        sum += c->max_force * (mabd_real)fabs(after[0] - before[0]);
    }
    return sum;
}
