// SPDX-License-Identifier: Apache-2.0
// The step: every island by itself, in equal substeps of length h.
//
//   momenta    in = (P, L) + h/2 f0                      forces at the start
//   Newton     V and the impulses of the rows            newton.c
//   momenta    P = in + G0'l,  L = R1'R0 (in + G0'l)     that is (m v, Lm(w))
//   momenta    (P, L) += h/2 f1, dampers their half      forces at the end
//
// Momenta come from the impulses, not from V: they are conserved to round-off however far the
// iteration went. integrator symplectic-euler is the method of [VI] to the letter: the first step
// is z1 = z0 + h v0 without any force, all others take h f0 at their start, and dampers the coming
// velocity only. It is of first order; rattle, with halves at both nodes, of second.

#include "base/clock.h"
#include "base/error.h"
#include "formulation/variational/variational_body.h"
#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_sim.h"
#include "formulation/variational/variational_solve.h"
#include "rigid/row_error.h"
#include "rigid/script.h"

#include <math.h>
#include <string.h>

/// Parts of a step that are not halved once more.
#define PARTS_MAX (1 << 20)
/// Depth above which a warning says that other formulations suit the scene: 64 parts.
#define WARN_DEPTH 6

/// Times that a step is taken again because bodies met that were not expected to.
#define MAX_TRIES 3

static bool is_literal(const mabd_variational_sim* sim) {
    return sim->def.integrator == MABD_INTEGRATOR_SYMPLECTIC_EULER;
}

// ---- the start of a substep --------------------------------------------------------------------

// Poses and velocities of scripted bodies that springs of the island pull.
static void place_scripts(const mabd_variational_solve* s, mabd_rigid_pose* poses, mabd_real time) {
    mabd_variational_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < s->island->spring_count; i++) {
        const mabd_model_spring* own = &m->springs[s->island->springs[i]];
        for (int32_t k = 0; k < own->count; k++) {
            const int32_t body = m->spring_points[own->first + k].body;
            if (sim->body_script[body] < 0) continue;
            const mabd_rigid_script_motion at =
                mabd_rigid_script_at(m, &m->scripts[sim->body_script[body]], time);
            poses[body] = at.pose, sim->twist[body] = at.u;
        }
    }
}

static void take_forces(const mabd_variational_solve* s, mabd_rigid_pose* poses, const mabd_real* x,
                        mabd_real time, mabd_real share) {
    mabd_variational_sim* sim = s->sim;
    place_scripts(s, poses, time);
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        sim->twist[body] = sim->next[body].node;
    }
    mabd_variational_find_forces(s, poses, x, time, sim->twist, share);
}

// Part of h in which drag acts after the start: half, all of it if that is not stable.
static mabd_real drag_share(const mabd_variational_solve* s, const mabd_model_class* c) {
    const bool half = !is_literal(s->sim) && s->h * c->material.drag <= 2 * c->material.mass;
    return half ? s->h / 2 : s->h;
}

// First guess of the angular velocity, within what a substep can turn.
static mabd_vec3 bounded_turn(mabd_vec3 w, mabd_real h) {
    const mabd_real turn2 = h * h * mabd_v3_dot(w, w), most = MABD_VARIATIONAL_TURN2_MAX;
    return turn2 > most ? mabd_v3_scale((mabd_real)sqrt(most / (2 * turn2)), w) : w;
}

static void start_bodies(const mabd_variational_solve* s, mabd_real share) {
    mabd_variational_sim* sim = s->sim;
    const mabd_vec3 wind = mabd_rigid_wind(sim->model, s->time, s->h, s->time);
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        const mabd_variational_body* now = &sim->next[body];
        const mabd_model_class* c = mabd_variational_class(sim, body);
        mabd_variational_motion* motion = &sim->motion[body];
        motion->in.f = mabd_v3_axpy(share, sim->load[body].f, now->P);
        motion->in.t = mabd_v3_axpy(share, sim->load[body].t, now->L);
        motion->drag = drag_share(s, c) * c->material.drag;
        motion->wind = wind;
        motion->V.v = now->v, motion->V.w = bounded_turn(now->w, s->h);
    }
}

static void start_substep(const mabd_variational_solve* s, mabd_real share) {
    mabd_variational_sim* sim = s->sim;
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        sim->from[body].R = mabd_q_matrix(sim->next[body].q);
        sim->from[body].c = sim->next[body].c;
    }
    for (int32_t i = 0; i < s->island->joint_count; i++) {
        const int32_t joint = s->island->joints[i], first = mabd_variational_first_row(sim, joint);
        const mabd_row_set* set = mabd_variational_set(sim, joint);
        for (int32_t r = 0; r < set->control_count; r++) {
            const int32_t k = m->joints[joint].coordinate + r;
            sim->x0[k] = sim->x1[k] = sim->next_axis[k].x;
        }
        for (int32_t r = 0; first >= 0 && r < set->rigid_count + set->control_count; r++) {
            sim->impulse[first + r] = s->h * sim->next_lambda[first + r];
        }
    }
    mabd_variational_set_inputs(s, s->time);
    take_forces(s, sim->from, sim->x0, s->time, share);
    start_bodies(s, share);
    mabd_variational_set_inputs(s, s->time + s->h);
    mabd_variational_start_rows(s);
}

// ---- the end of a substep ----------------------------------------------------------------------

static void end_body(const mabd_variational_solve* s, int32_t body) {
    mabd_variational_sim* sim = s->sim;
    const mabd_variational_motion* motion = &sim->motion[body];
    mabd_variational_body* next = &sim->next[body];
    const mabd_vec3 air = mabd_v3_sub(motion->V.v, motion->wind);
    const mabd_vec3 L = mabd_v3_add(motion->in.t, motion->given.t);
    next->P = mabd_v3_axpy(-motion->drag, air, mabd_v3_add(motion->in.f, motion->given.f));
    next->L = mabd_m3_tmul(sim->to[body].R, mabd_m3_mul(sim->from[body].R, L));
    next->q = mabd_variational_rotate(next->q, motion->V.w, s->h);
    next->c = sim->to[body].c;
    next->v = motion->V.v, next->w = motion->V.w;
}

// Velocities at the node, of second order, for dampers of springs: momenta there, a share of the
// last forces that lie ahead, and half the impulses of the rows, which those of the last node stand
// for.
static void estimate_nodes(const mabd_variational_solve* s, mabd_real share) {
    mabd_variational_sim* sim = s->sim;
    for (int32_t i = 0; sim->damped_springs && i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        const mabd_variational_motion* motion = &sim->motion[body];
        mabd_variational_body* next = &sim->next[body];
        mabd_rigid_wrench half;
        half.f = mabd_v3_axpy(share, sim->load[body].f, next->P);
        half.f = mabd_v3_axpy((mabd_real)0.5, motion->given.f, half.f);
        half.t = mabd_v3_axpy(share, sim->load[body].t, next->L);
        half.t = mabd_v3_axpy((mabd_real)0.5, motion->given.t, half.t);
        next->node = mabd_rigid_accelerate(mabd_variational_class(sim, body), half);
    }
}

// Add s times the row of a joint at the end to the momenta.
static void push_row(const mabd_variational_solve* s, const mabd_model_joint* j,
                     const mabd_rigid_row* J, mabd_real impulse) {
    mabd_variational_sim* sim = s->sim;
    if (mabd_variational_moves(sim, j->a)) {
        mabd_variational_body* a = &sim->next[j->a];
        a->P = mabd_v3_axpy(impulse, J->a.f, a->P), a->L = mabd_v3_axpy(impulse, J->a.t, a->L);
    }
    if (mabd_variational_moves(sim, j->b)) {
        mabd_variational_body* b = &sim->next[j->b];
        b->P = mabd_v3_axpy(impulse, J->b.f, b->P), b->L = mabd_v3_axpy(impulse, J->b.t, b->L);
    }
}

// Keep the axes of a joint, and give the part of its dampers that lies before the node.
static void end_joint(const mabd_variational_solve* s, int32_t joint) {
    mabd_variational_sim* sim = s->sim;
    const mabd_model_joint* j = &sim->model->joints[joint];
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    const int32_t first = mabd_variational_first_row(sim, joint);
    if (first < 0) return;
    const mabd_real whole =
        mabd_variational_begins(s) ? 2 : 1; // impulses of a first node are halves
    for (int32_t r = 0; r < set->rigid_count + set->control_count; r++) {
        sim->next_lambda[first + r] = whole * sim->impulse[first + r] / s->h;
        sim->mean_lambda[first + r] += sim->impulse[first + r] / sim->def.h;
    }
    if (set->control_count == 0) return;
    const mabd_joint_view view = mabd_variational_view(sim, sim->to, s->time + s->h, joint);
    const mabd_real* x1 = sim->x1 + j->coordinate;
    const mabd_rigid_joint at =
        mabd_rigid_joint_at(&view, set->control_count, set->control_row, x1);
    for (int32_t r = 0; r < set->control_count; r++) {
        const int32_t row = first + set->rigid_count + r, k = j->coordinate + r;
        const mabd_variational_row* own = &sim->rows[row];
        mabd_variational_axis* axis = &sim->next_axis[k];
        const bool acts = own->c > 0 && (own->kind == MABD_VARIATIONAL_AXIS ||
                                         own->kind == MABD_VARIATIONAL_RATE);
        const mabd_real before = axis->rate;
        axis->rate = acts ? own->c * (own->base - sim->impulse[row]) : (x1[r] - axis->x) / s->h;
        axis->lack = 0;
        axis->x = x1[r];
        axis->armature = acts ? set->control[r].armature * axis->rate : 0;
        if (!acts || !(own->damping > 0)) continue;
        const mabd_rigid_row J = own->kind == MABD_VARIATIONAL_RATE
                                     ? mabd_variational_turn_row(&view, set->control_row[r].axis)
                                     : mabd_rigid_row_jacobian(&at, &set->control_row[r]);
        const mabd_real late = -own->late * own->damping * (own->lagged ? before : axis->rate);
        axis->lack = s->h / 2 - own->late;
        push_row(s, j, &J, late);
        sim->mean_lambda[row] += late / sim->def.h;
    }
}

static void end_substep(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    const mabd_real end = s->time + s->h;
    for (int32_t i = 0; i < s->island->body_count; i++) end_body(s, s->island->bodies[i]);
    for (int32_t i = 0; i < s->island->joint_count; i++) end_joint(s, s->island->joints[i]);
    const mabd_vec3 wind = mabd_rigid_wind(sim->model, s->time, s->h, end);
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        const mabd_model_class* c = mabd_variational_class(sim, body);
        mabd_variational_body* next = &sim->next[body];
        const mabd_real late = (s->h - drag_share(s, c)) * c->material.drag;
        next->P = mabd_v3_axpy(-late, mabd_v3_sub(next->v, wind), next->P);
    }
    const mabd_real share = is_literal(sim) ? 0 : s->h / 2;
    estimate_nodes(s, is_literal(sim) ? s->h : share);
    take_forces(s, sim->to, sim->x1, end, share);
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        mabd_variational_body* next = &sim->next[body];
        next->P = mabd_v3_axpy(share, sim->load[body].f, next->P);
        next->L = mabd_v3_axpy(share, sim->load[body].t, next->L);
    }
    estimate_nodes(s, 0);
}

// ---- the step of an island ---------------------------------------------------------------------

static mabd_status take_substep(const mabd_variational_solve* s, bool first) {
    mabd_variational_sim* sim = s->sim;
    if (!is_literal(sim)) {
        start_substep(s, s->h / 2);
        MABD_TRY(sim->contacts ? mabd_variational_meet(s) : mabd_variational_newton(s));
    } else if (!first) {
        start_substep(s, s->h);
        MABD_TRY(sim->contacts ? mabd_variational_meet(s) : mabd_variational_newton(s));
    } else {
        start_substep(s, 0);
        mabd_variational_drift(s);
    }
    end_substep(s);
    return MABD_OK;
}

// Write the state at the start of the step.
static void rewind_island(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        sim->next[s->island->bodies[i]] = sim->now[s->island->bodies[i]];
    }
    for (int32_t i = 0; i < s->island->joint_count; i++) {
        const int32_t joint = s->island->joints[i], first = mabd_variational_first_row(sim, joint);
        const mabd_row_set* set = mabd_variational_set(sim, joint);
        for (int32_t r = 0; r < set->control_count; r++) {
            const int32_t k = sim->model->joints[joint].coordinate + r;
            sim->next_axis[k] = sim->axis[k];
            sim->mean_force[k] = 0;
        }
        for (int32_t r = 0; first >= 0 && r < set->rigid_count + set->control_count; r++) {
            sim->next_lambda[first + r] = sim->lambda[first + r];
            sim->mean_lambda[first + r] = 0;
        }
    }
}

static mabd_status take_parts(mabd_variational_solve* s, int32_t parts) {
    mabd_variational_sim* sim = s->sim;
    rewind_island(s);
    s->report->penetration = s->report->friction = s->report->impacts = s->report->scripts = 0;
    s->h = sim->def.h / (mabd_real)parts;
    s->report->substeps = parts;
    for (int32_t i = 0; i < parts; i++) {
        s->time = sim->time + (mabd_real)i * s->h;
        MABD_TRY(take_substep(s, i == 0 && !sim->begun));
    }
    return MABD_OK;
}

static void measure_rows(const mabd_variational_solve* s) {
    mabd_variational_sim* sim = s->sim;
    mabd_variational_report* report = s->report;
    for (int32_t i = 0; i < s->island->joint_count; i++) {
        const int32_t joint = s->island->joints[i];
        const mabd_joint_view view =
            mabd_variational_view(sim, sim->to, sim->time + sim->def.h, joint);
        mabd_rigid_keep_error(&view, mabd_variational_set(sim, joint), joint, &report->gap,
                              &report->angle_error, &report->worst_joint);
    }
}

// Name the cause of a step that does not converge, where it has no solution, nor would have in one
// part.
static void explain(mabd_variational_solve* s) {
    mabd_variational_report* report = s->report;
    int32_t joint = -1;
    if (report->status != MABD_ERR_DIVERGED) return;
    rewind_island(s);
    s->h = s->sim->def.h, s->time = s->sim->time;
    start_substep(s, s->h / 2);
    if (!mabd_variational_has_conflict(s, &joint)) return;
    report->body = -1, report->joint = joint;
    report->reason = "bodies stretched between joints have no rigid motion (formulation 'affine' "
                     "strains them): rows contradict each other at";
}

// The step in as many parts as its forces allow. A step whose own forces ask for more is taken
// again, and so is one that fails; both keep their depth, because every change of it ends the
// conservation of energy. A given number of parts is halved for one step only.
static void step_island(void* context, int32_t index, int32_t thread) {
    mabd_variational_sim* sim = context;
    mabd_variational_island* island =
        sim->contacts ? sim->contacts->groups[index] : &sim->islands[index];
    mabd_variational_report* report = &sim->reports[index];
    const int32_t given = sim->def.variational.substeps;
    mabd_variational_solve s = {.sim = sim, .island = island, .report = report};
    (void)thread;
    *report =
        (mabd_variational_report){.body = -1, .joint = -1, .worst_joint = -1, .converged = true};
    island->depth = mabd_variational_least_depth(sim, island);
    for (int32_t halved = 0;;) {
        const int32_t parts = (given > 0 ? given : (int32_t)1 << island->depth) << halved;
        report->status = take_parts(&s, parts);
        if (report->status == MABD_OK) {
            const int32_t depth = given > 0 ? 0 : mabd_variational_depth(&s, sim->def.h);
            if (depth <= island->depth) break;
            island->depth = depth;
            continue;
        }
        if (report->retries == sim->def.max_halvings || parts >= PARTS_MAX) {
            explain(&s);
            return;
        }
        report->retries++, halved++;
        if (given > 0 || island->touch_count > 0) continue; // of contacts, for this time only
        island->depth++, halved--;
    }
    measure_rows(&s);
}

// ---- the step ----------------------------------------------------------------------------------

static void add_report(const mabd_variational_report* r, mabd_step_info* info) {
    info->iterations += r->iterations;
    info->retries += r->retries;
    if (r->substeps > info->substeps) info->substeps = r->substeps;
    info->line_searches += r->line_searches;
    info->converged &= r->converged;
    if (r->gap > info->gap || r->angle_error > info->angle_error || info->worst_joint < 0) {
        if (r->worst_joint >= 0) info->worst_joint = r->worst_joint;
    }
    if (r->gap > info->gap) info->gap = r->gap;
    if (r->angle_error > info->angle_error) info->angle_error = r->angle_error;
    info->dual_iterations += r->dual_iterations;
    if (r->dual_residual > info->dual_residual) info->dual_residual = r->dual_residual;
    info->variational.barrier_iterations += r->barrier_iterations;
    info->variational.restarts += r->restarts;
    if (r->penetration > info->penetration) info->penetration = r->penetration;
}

static mabd_status report_failure(const mabd_variational_sim* sim, const mabd_variational_report* r,
                                  mabd_error* error) {
    char label[160];
    if (r->joint >= 0) {
        mabd_model_joint_label(sim->model, r->joint, label, sizeof label);
    } else {
        mabd_model_body_label(sim->model, r->body < 0 ? 0 : r->body, label, sizeof label);
    }
    return mabd_fail_at(error, r->status, r->joint >= 0 ? -1 : r->body, r->joint, sim->time,
                        "%s %s (t = %g s)", r->reason, label, (double)sim->time);
}

// Tell that a motion needs many substeps: where its body is, and what has none.
static void warn_depth(mabd_variational_sim* sim, const mabd_variational_island* island) {
    char label[160];
    const int32_t body = island->bodies[0];
    mabd_warn(&sim->warnings, body, -1, (int64_t)((sim->time + sim->def.h / 2) / sim->def.h),
              "forces of joints at %s and what moves with it ask for %d substeps: formulations "
              "affine and redmax are implicit in them",
              mabd_model_body_label(sim->model, body, label, sizeof label), 1 << island->depth);
}

// Keep the depths of the islands of a step.
static void keep_depths(mabd_variational_sim* sim) {
    const mabd_variational_contacts* c = sim->contacts;
    const int32_t count = c ? c->group_count : sim->island_count;
    for (int32_t g = 0; g < count; g++) {
        const mabd_variational_island* island = c ? c->groups[g] : &sim->islands[g];
        if (sim->depth[island->first] <= WARN_DEPTH && island->depth > WARN_DEPTH) {
            warn_depth(sim, island);
        }
        for (int32_t i = island->first; i >= 0; i = c ? c->work[i] : -1) {
            sim->depth[i] = island->depth;
        }
    }
}

// The state after the step becomes that of the simulation; that before it stays in `next` until the
// next step, for the books.
static void commit(mabd_variational_sim* sim) {
    mabd_variational_body* body = sim->now;
    mabd_variational_axis* axis = sim->axis;
    mabd_real* lambda = sim->lambda;
    sim->now = sim->next, sim->next = body;
    sim->axis = sim->next_axis, sim->next_axis = axis;
    sim->lambda = sim->next_lambda, sim->next_lambda = lambda;
    keep_depths(sim);
    mabd_variational_keep_contacts(sim);
    sim->begun = true;
    sim->velocity_known = false;
    sim->time += sim->def.h;
    mabd_variational_book_step(sim);
    mabd_rigid_inputs_keep(&sim->inputs);
}

// Find contacts and make room for them.
static mabd_status find_contacts(mabd_variational_sim* sim, bool again, mabd_error* error) {
    char label[160];
    int32_t body;
    if (!sim->contacts) return MABD_OK;
    mabd_status status = mabd_variational_find_contacts(sim, again, &body);
    if (status == MABD_OK) status = mabd_variational_reserve_known(sim->contacts);
    if (status == MABD_OK) return status;
    if (status == MABD_ERR_DIVERGED) {
        return mabd_fail_at(error, status, body, -1, sim->time, "%s has no pose (t = %g s)",
                            mabd_model_body_label(sim->model, body, label, sizeof label),
                            (double)sim->time);
    }
    return mabd_fail_at(error, status, -1, -1, sim->time,
                        "contacts at t = %g s need too much memory: formulations 'impulse' and "
                        "'affine' need less",
                        (double)sim->time);
}

static void move_islands(mabd_variational_sim* sim) {
    const int32_t count = sim->contacts ? sim->contacts->group_count : sim->island_count;
    const bool serial = sim->model->spring_count > 0 || (sim->contacts && sim->contacts->scripts);
    mabd_pool_run(serial ? NULL : sim->pool, count, step_island, sim);
}

static bool is_bad(const mabd_variational_sim* sim) {
    const int32_t count = sim->contacts ? sim->contacts->group_count : sim->island_count;
    bool bad = false;
    for (int32_t i = 0; i < count; i++) bad |= sim->reports[i].status != MABD_OK;
    return bad;
}

mabd_status mabd_variational_step(void* self, mabd_real time, mabd_step_info* info,
                                  mabd_error* error) {
    mabd_variational_sim* sim = self;
    mabd_step_info local;
    double clock = mabd_clock();
    if (!info) info = &local;
    memset(info, 0, sizeof *info);
    info->converged = true, info->worst_joint = -1;
    sim->time = time;
    mabd_variational_begin_books(sim);
    mabd_real missed = 0;
    for (int32_t tries = 0;; tries++) {
        MABD_TRY(find_contacts(sim, tries > 0, error));
        sim->times[MABD_VARIATIONAL_CONTACT] += mabd_clock() - clock;
        clock = mabd_clock();
        move_islands(sim);
        if (is_bad(sim)) break;
        if (mabd_variational_find_missed(sim, &missed) != MABD_OK) {
            return mabd_fail_at(error, MABD_ERR_MEMORY, -1, -1, sim->time,
                                "not enough memory for contacts (t = %g s)", (double)sim->time);
        }
        if (tries == MAX_TRIES || !(missed > 0)) break;
    }
    if (missed > 0) info->converged = false, info->penetration = missed;
    const int32_t count = sim->contacts ? sim->contacts->group_count : sim->island_count;
    double factor = 0, solve = 0;
    const mabd_variational_report* bad = NULL;
    for (int32_t i = 0; i < count; i++) {
        const mabd_variational_report* r = &sim->reports[i];
        if (r->status != MABD_OK && !bad) bad = r;
        factor += r->factor_seconds, solve += r->solve_seconds;
        add_report(r, info);
    }
    sim->times[MABD_VARIATIONAL_FACTOR] += factor, sim->times[MABD_VARIATIONAL_SOLVE] += solve;
    sim->times[MABD_VARIATIONAL_STEP] += mabd_clock() - clock - factor - solve;
    if (bad) return report_failure(sim, bad, error);
    commit(sim);
    mabd_variational_count_contacts(sim, info);
    return MABD_OK;
}
