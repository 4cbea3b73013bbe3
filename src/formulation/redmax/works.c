// SPDX-License-Identifier: Apache-2.0
// Works of a step for the energy books (rigid/books.h).
//
// The force through a freedom is f = S'F, on a ball the torque in the link frame. It does f . dq on
// the links behind it, dq the turn of the step on a ball. So scripts do the work of their own
// freedoms, and drives that are known by their force alone, f . dq without the motors of the axis.
// Means over the step: of both ends for bdf2, else the sum over the stages by the time over which
// their rates advance the step, because single stages of sdirk2 follow prescribed accelerations
// with order 1 only. So are those of friction, on the way of its axis. Springs between points and
// the ground have forces that follow from states, mean (F0 + F1)/2 . (x1 - x0): damping is what
// tension and normal force have beside the derivative of the stored energy.

#include "formulation/redmax/redmax_works.h"

#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_contact.h"
#include "formulation/redmax/redmax_pins.h"

#include <math.h>
#include <string.h>

/// Bodies that are worth a thread.
#define BODIES_OF_A_THREAD 1024

// True if a part has freedoms whose force does work that nothing else tells.
static bool is_booked(const mabd_redmax_part* part) {
    return part->driven || part->law_count > 0;
}

static void clear(const mabd_redmax_solve* s, mabd_real* forces) {
    memset(forces + s->part->freedom_first, 0, (size_t)s->part->freedom_count * sizeof *forces);
}

void mabd_redmax_clear_means(const mabd_redmax_solve* s) {
    clear(s, s->sim->mean_force);
    clear(s, s->sim->mean_friction);
}

void mabd_redmax_begin_stages(const mabd_redmax_solve* s) {
    clear(s, s->sim->stage_force);
    clear(s, s->sim->stage_friction);
}

// Force of a wrench through freedom k of a link.
static mabd_real force_of(const mabd_redmax_sim* sim, const mabd_redmax_link* link, int32_t k,
                          mabd_spatial F) {
    if (link->kind == MABD_PRIMITIVE_BALL) return mabd_v3_get(F.w, k - link->first);
    return mabd_sp_dot(sim->S[k], F);
}

// Friction of a freedom at the iterate: smooth friction, or the bound of dry one.
static mabd_real friction_of(const mabd_redmax_solve* s, int32_t k) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    mabd_real slope;
    if (!(f->control->friction_speed > 0)) return f->bound;
    return mabd_redmax_friction(f, mabd_redmax_axis_rate(s, k), &slope);
}

static bool has_friction(const mabd_redmax_freedom* f) {
    return f->control && (f->control->friction > 0 || f->control->pin.friction > 0);
}

// Add the friction of a stage: `part` of the step.
static void add_friction(const mabd_redmax_solve* s, mabd_real part, bool both_ends) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t end = s->part->freedom_first + s->part->freedom_count;
    for (int32_t k = s->part->freedom_first; s->part->frictions && k < end; k++) {
        if (!has_friction(&sim->freedoms[k])) continue;
        const mabd_spatial last = mabd_sp_load(sim->wrench + 6 * (size_t)sim->freedoms[k].link);
        mabd_real force = friction_of(s, k);
        if (both_ends) force = (force + mabd_redmax_friction_at(sim, &sim->now, k, last)) / 2;
        sim->stage_friction[k] += part * force;
    }
}

void mabd_redmax_add_stage(const mabd_redmax_solve* s, mabd_real share, bool both_ends) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_real part = share / sim->def.h;
    add_friction(s, part, both_ends);
    if (!is_booked(s->part)) return;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const mabd_spatial last = mabd_sp_load(sim->wrench + 6 * (size_t)i);
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            mabd_real force = force_of(sim, link, k, sim->F[i]);
            if (both_ends) force = (force + force_of(sim, link, k, last)) / 2;
            sim->stage_force[k] += part * force;
        }
    }
}

void mabd_redmax_keep_stages(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t end = s->part->freedom_first + s->part->freedom_count;
    for (int32_t k = s->part->freedom_first; k < end; k++) {
        sim->mean_force[k] += sim->stage_force[k];
        sim->mean_friction[k] += sim->stage_friction[k];
    }
}

// ---- the step ----------------------------------------------------------------------------------

static mabd_rigid_state state_at(const void* self, int32_t body, bool after) {
    const mabd_redmax_sim* sim = self;
    const mabd_rigid_state still = {{0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (body == sim->model->body_count) return still;
    return after ? mabd_redmax_body(sim, body) : sim->before[body];
}

// Write the way of the freedoms of a link in the step, and the rates before it times h.
static void ways_of(const mabd_redmax_sim* sim, const mabd_redmax_link* link, mabd_real dq[3],
                    mabd_real start[3]) {
    for (int32_t k = 0; k < link->count; k++) {
        dq[k] = sim->now.q[link->first + k] - sim->last.q[link->first + k];
        start[k] = sim->def.h * sim->last.v[link->first + k];
    }
    if (link->kind != MABD_PRIMITIVE_BALL) return;
    const size_t at = 4 * (size_t)link->ball;
    const mabd_quat turn = mabd_q_product(mabd_q_conjugate(mabd_q_load(sim->last.turn + at)),
                                          mabd_q_load(sim->now.turn + at));
    mabd_v3_store(mabd_so3_log(mabd_q_matrix(turn)), dq);
}

// Work through the freedoms of a link, motors included. *mean gets that on the mean of the rates
// before the step and over it.
static mabd_real work_through(const mabd_redmax_sim* sim, const mabd_redmax_link* link,
                              mabd_real* mean) {
    mabd_real dq[3] = {0, 0, 0}, start[3] = {0, 0, 0}, work = 0;
    ways_of(sim, link, dq, start);
    *mean = 0;
    for (int32_t k = 0; k < link->count; k++) {
        const mabd_real force = sim->mean_force[link->first + k];
        work += force * dq[k];
        *mean += force * (start[k] + dq[k]) / 2;
    }
    return work;
}

// Work that friction takes from a freedom.
static mabd_real friction_work(const mabd_redmax_sim* sim, int32_t k) {
    mabd_real before[2], after[2];
    mabd_redmax_axis_state(sim, &sim->last, k, before);
    mabd_redmax_axis_state(sim, &sim->now, k, after);
    const mabd_real dx = after[0] - before[0];
    if (sim->freedoms[k].control->friction_speed > 0) return -sim->mean_friction[k] * dx;
    return sim->mean_friction[k] * (mabd_real)fabs(dx);
}

// Write coordinates and works of the controls of a link.
static void read_link(const mabd_redmax_sim* sim, const mabd_redmax_link* link, int32_t first,
                      mabd_real* friction, mabd_rigid_joint_step* own) {
    bool told = false, ends = false;
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        const int32_t law = sim->freedoms[k].law;
        ends |= law >= 0 && sim->laws[law].ends;
    }
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        const mabd_redmax_freedom* f = &sim->freedoms[k];
        const int32_t r = f->coordinate - first;
        if (!f->control) continue;
        friction[r] = has_friction(f) ? friction_work(sim, k) : 0;
        if (f->law >= 0) own->stop[r] = (int8_t)sim->branch[f->law].stop;
        mabd_redmax_coordinate(sim, &sim->last, k, own->x[0] + 2 * r);
        mabd_redmax_coordinate(sim, &sim->now, k, own->x[1] + 2 * r);
        own->ends[r] = ends;
        if (told) continue;
        own->through[r] = work_through(sim, link, &own->mean[r]);
        told = true; // of a ball: all components together
    }
}

// Leave the works of motors out of those through the controls of their joint: they are booked by
// themselves.
static void leave_motors(const mabd_rigid_step* step, const mabd_row_set* set,
                         mabd_rigid_joint_step* own) {
    for (int32_t r = 0; r < set->motor_count; r++) {
        const mabd_row* row = &set->motor[r].row;
        for (int32_t k = 0; k < set->control_count; k++) {
            const mabd_row* other = &set->control_row[k];
            if (other->kind != row->kind || other->axis != row->axis) continue;
            const mabd_real work = mabd_rigid_motor_work(step, own->joint, r);
            own->through[k] -= work, own->mean[k] -= work;
        }
    }
}

// Book the joint whose string has the links from `from` to `end`.
static void book_joint(mabd_redmax_sim* sim, const mabd_rigid_step* step, int32_t from,
                       int32_t end) {
    const mabd_model* m = sim->model;
    const int32_t joint = sim->links[from].joint;
    const mabd_row_set* set = &m->row_sets[m->joints[joint].row_set];
    mabd_real friction[MABD_JOINT_MAX_ROWS] = {0};
    mabd_rigid_joint_step own = {.joint = joint, .turns_in = true, .friction = friction};
    if (!mabd_rigid_books_joint(m, joint)) return;
    for (int32_t i = from; i < end; i++) {
        read_link(sim, &sim->links[i], m->joints[joint].coordinate, friction, &own);
    }
    if (set->control_count > 0) leave_motors(step, set, &own);
    mabd_rigid_book_joint(step, &own, &sim->books.work);
}

// Read the states of a range of bodies.
static void read_range(void* context, int32_t index, int32_t thread) {
    mabd_redmax_sim* sim = context;
    const int32_t from = index * BODIES_OF_A_THREAD, left = sim->model->body_count - from;
    const int32_t count = left < BODIES_OF_A_THREAD ? left : BODIES_OF_A_THREAD;
    (void)thread;
    for (int32_t i = from; i < from + count; i++) sim->before[i] = mabd_redmax_body(sim, i);
}

// Keep the states of all bodies before the step.
static void read_before(mabd_redmax_sim* sim) {
    for (int32_t p = 0; p < sim->part_count; p++) {
        const mabd_redmax_solve s = {.sim = sim, .part = &sim->parts[p], .from_node = &sim->last};
        mabd_redmax_load_node(&s, &sim->last);
        mabd_redmax_velocities(&s);
    }
    mabd_pool_run(sim->pool, sim->model->body_count / BODIES_OF_A_THREAD + 1, read_range, sim);
}

// Read what acts on points of links, at one end of the step.
static void book_points(mabd_redmax_sim* sim, bool after) {
    if (sim->model->spring_count > 0) {
        mabd_redmax_book_springs(sim, sim->time, after, &sim->books.work);
    }
    if (sim->model->ground_count > 0) mabd_redmax_book_ground(sim, after, &sim->books.work);
}

// Book what stops take by impulses, mark those that end rates by implicit Euler, and spare them the
// weights (rigid/books.h). A step that contacts changed has forces of stops that nothing keeps.
static void book_stops(mabd_redmax_sim* sim, const mabd_rigid_step* step,
                       const mabd_redmax_part* part) {
    const bool euler = part->taken == MABD_INTEGRATOR_EULER && !part->divided && !part->touches;
    bool ends = false;
    for (int32_t i = part->law_first; i < part->law_first + part->law_count; i++) {
        sim->laws[i].ends = euler && mabd_redmax_stop_ends(sim, i);
        ends |= sim->laws[i].ends;
    }
    if (!part->touches) sim->books.work.impacts += part->stopped;
    for (int32_t i = part->link_first; ends && i < part->link_first + part->link_count; i++) {
        const int32_t body = sim->links[i].body;
        if (body >= 0) sim->books.work.impacts -= mabd_rigid_weight_share(step, body);
    }
}

void mabd_redmax_book_step(mabd_redmax_sim* sim) {
    const mabd_rigid_step step = {.model = sim->model,
                                  .inputs = &sim->inputs,
                                  .time = sim->time,
                                  .h = sim->def.h,
                                  .state = state_at,
                                  .self = sim};
    const bool bodies = mabd_rigid_books_bodies(&step);
    const bool points = sim->model->spring_count + sim->model->ground_count > 0;
    mabd_real mean;
    const bool touch = sim->contacts && sim->contacts->points.count > 0;
    if (!bodies && !points && !touch && !mabd_rigid_books_joints(sim->model)) return;
    read_before(sim);
    book_points(sim, false);
    sim->time += sim->def.h; // of scripts, for the states after the step
    sim->placed = false;
    mabd_redmax_place_now(sim);
    book_points(sim, true);
    for (int32_t i = 0; i < sim->part_count; i++) book_stops(sim, &step, &sim->parts[i]);
    for (int32_t i = 0, from = 0; i < sim->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->joint != sim->links[from].joint) from = i;
        if (link->last && link->joint >= 0) book_joint(sim, &step, from, i + 1);
        if (link->last) from = i + 1;
        if (link->count == 1 && sim->freedoms[link->first].script) {
            sim->books.work.scripts += work_through(sim, link, &mean);
        }
    }
    if (touch) mabd_redmax_book_contacts(sim->contacts, &step, &sim->books.work);
    for (int32_t i = 0; bodies && i < sim->model->body_count; i++) {
        mabd_rigid_book_body(&step, i, &sim->books.work);
    }
}
