// SPDX-License-Identifier: Apache-2.0
// Loads of a substep, and motion of bodies, 8 of them in lanes (bodies_lanes.c).
//
// Centres:   v += h (g + f/m),  c += h v
//            with drag d against the wind   v = (v + h (f/m + d/m wind))/(1 + h d/m)
//
// Rotation ([SI eq. 4, 12] have no gyroscopic term: a body keeps w there instead of its angular
// momentum). In the principal frame, by the implicit midpoint rule, without impulses,
//
//   I (w1 - w0) + h wm x I wm = h tau,   wm = (w0 + w1)/2
//
// and the body would turn with wm. Impulses change w1 to w1 + dw, and the body turns with wm + dw:
// rows have the rate J V + J g, g = wm - w1, for what moves, and J V for what stays afterwards. The
// angular velocity after the substep is that of the same rule from w0 + dw. So energy is kept, and
// angular momentum up to O(h^2). (The exact momentum, I^-1 exp(-theta) I (w0 + dw), is explicit in
// dw: 35 ragdolls gained energy without bound. q + h/2 w q in place of the exponential stretches q
// by (w h)^2/8.)

#include "formulation/impulse/impulse_limits.h"
#include "formulation/impulse/impulse_sim.h"
#include "formulation/impulse/impulse_sweep.h"
#include "rigid/body_load.h"
#include "rigid/script.h"
#include "rigid/twist.h"

#include <string.h>

// ---- poses -------------------------------------------------------------------------------------

static void set_script(mabd_impulse_sim* sim, int32_t body, mabd_real time) {
    const mabd_model* m = sim->model;
    const mabd_model_script* script = &m->scripts[sim->body_script[body]];
    const mabd_rigid_script_motion at = mabd_rigid_script_at(m, script, time);
    mabd_impulse_line* line = &sim->lines[body];
    sim->c[body] = at.pose.c, sim->q[body] = mabd_q_from_matrix(at.pose.R);
    sim->poses[body] = at.pose;
    mabd_v3_store(at.u.v, line->v);
    mabd_v3_store(mabd_m3_mul(at.pose.R, at.u.w), line->w);
}

// ---- loads -------------------------------------------------------------------------------------

mabd_real mabd_impulse_motor(const mabd_impulse_sim* sim, int32_t joint, int32_t r) {
    const mabd_row_set* set = &sim->model->row_sets[sim->model->joints[joint].row_set];
    const size_t k = mabd_rigid_motor_input(&sim->inputs, joint, r);
    if (sim->inputs.target_set[k]) return sim->inputs.target[k];
    return mabd_rigid_signal(set->motor[r].force, sim->from, sim->h, sim->from + sim->h / 2);
}

static void add_motors(mabd_impulse_sim* sim, int32_t index) {
    const mabd_model_joint* joint = &sim->model->joints[index];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    const mabd_joint_view view = mabd_rigid_view(sim->model, joint, sim->poses);
    mabd_rigid_wrench *a = &sim->load[joint->a], *b = &sim->load[joint->b];
    for (int32_t r = 0; r < set->motor_count; r++) {
        const mabd_real near = 0, force = mabd_impulse_motor(sim, index, r);
        mabd_real x;
        mabd_rigid_row J;
        mabd_rigid_joint_rows(&view, 1, &set->motor[r].row, &near, &x, &J);
        a->f = mabd_v3_axpy(force, J.a.f, a->f), a->t = mabd_v3_axpy(force, J.a.t, a->t);
        b->f = mabd_v3_axpy(force, J.b.f, b->f), b->t = mabd_v3_axpy(force, J.b.t, b->t);
    }
}

// True if nothing but gravity acts on the bodies.
static bool has_gravity_alone(const mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    bool motors = false;
    for (int32_t i = 0; i < m->row_set_count; i++) motors |= m->row_sets[i].motor_count > 0;
    return !motors && m->force_count == 0 && !sim->inputs.has_applied;
}

static void set_loads(mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    const bool alone = has_gravity_alone(sim);
    if (alone && sim->steady) return;
    sim->steady = alone;
    const mabd_rigid_moment at = {sim->from, sim->from + sim->h / 2, sim->h};
    for (int32_t i = 0; i < m->body_count; i++) {
        if (!(sim->lines[i].moves > 0)) continue;
        sim->load[i] =
            mabd_rigid_body_load(m, &sim->inputs, i, sim->body_force[i], sim->poses[i].R, &at);
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (m->row_sets[m->joints[i].row_set].motor_count > 0) add_motors(sim, i);
    }
}

// ---- velocities without impulses ---------------------------------------------------------------

// A script moves its body in a substep with the constant twist between the two poses.
static void start_script(mabd_impulse_sim* sim, int32_t body) {
    const mabd_model* m = sim->model;
    const mabd_model_script* script = &m->scripts[sim->body_script[body]];
    const mabd_rigid_pose to = mabd_rigid_script_pose(m, script, sim->from + sim->h);
    const mabd_rigid_twist u = mabd_rigid_mean_twist(&sim->poses[body], &to, sim->h);
    mabd_v3_store(u.v, sim->lines[body].v);
    mabd_v3_store(mabd_m3_mul(sim->poses[body].R, u.w), sim->lines[body].w);
}

// Some packs of bodies.
typedef struct bodies_job {
    mabd_impulse_bodies bodies;
    const mabd_impulse_lanes* lanes;
    mabd_impulse_body_task task;
} bodies_job;

static void do_packs(void* context, int32_t part, int32_t thread) {
    const bodies_job* job = context;
    const int32_t first = part * MABD_IMPULSE_BODY_PACKS, n = job->bodies.pack_count - first;
    (void)thread;
    for (int32_t k = 0; k < MABD_IMPULSE_BODY_PACKS && k < n; k++) {
        job->lanes->bodies(&job->bodies, job->task, first + k);
    }
}

static void do_bodies(mabd_impulse_sim* sim, mabd_impulse_body_task task, mabd_vec3 wind,
                      bool steady) {
    bodies_job job = {{.pack_count = sim->pack_count,
                       .moving = sim->moving,
                       .round = sim->round,
                       .made = sim->made,
                       .lines = sim->lines,
                       .poses = sim->poses,
                       .load = sim->load,
                       .spin = sim->spin,
                       .inertia = sim->inertia,
                       .shift = sim->shift,
                       .q = sim->q,
                       .c = sim->c,
                       .h = sim->h,
                       .wind = wind,
                       .steady = steady},
                      sim->lanes,
                      task};
    const int32_t parts = (sim->pack_count + MABD_IMPULSE_BODY_PACKS - 1) / MABD_IMPULSE_BODY_PACKS;
    mabd_pool_run(sim->pool, parts, do_packs, &job);
}

void mabd_impulse_add_loads(mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    if (sim->axis_count > 0 || sim->contacts) { // for their works
        memcpy(sim->begin_lines, sim->lines, ((size_t)m->body_count + 1) * sizeof *sim->lines);
    }
    const bool steady = sim->steady;
    set_loads(sim);
    mabd_impulse_take_loads(sim);
    for (int32_t i = 0; i < m->script_count; i++) start_script(sim, m->scripts[i].body);
    do_bodies(sim, MABD_IMPULSE_BODY_START,
              mabd_rigid_wind(m, sim->from, sim->h, sim->from + sim->h / 2), steady && sim->steady);
    mabd_impulse_raise_inertia(sim);
}

// ---- motion ------------------------------------------------------------------------------------

void mabd_impulse_move(mabd_impulse_sim* sim) {
    do_bodies(sim, MABD_IMPULSE_BODY_MOVE, mabd_v3(0, 0, 0), sim->steady);
}

void mabd_impulse_turn_velocities(mabd_impulse_sim* sim) {
    do_bodies(sim, MABD_IMPULSE_BODY_TURN, mabd_v3(0, 0, 0), sim->steady);
}

static void set_poses(mabd_impulse_sim* sim, mabd_real time, bool steady) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i <= m->body_count; i++) {
        if (m->body_motion[i] == MABD_MOTION_DYNAMIC || sim->body_script[i] >= 0) continue;
        sim->poses[i].c = sim->c[i], sim->poses[i].R = mabd_q_matrix(sim->q[i]);
    }
    for (int32_t i = 0; i < m->script_count; i++) set_script(sim, m->scripts[i].body, time);
    do_bodies(sim, MABD_IMPULSE_BODY_POSE, mabd_v3(0, 0, 0), steady);
}

void mabd_impulse_set_poses(mabd_impulse_sim* sim, mabd_real time) {
    set_poses(sim, time, false);
}

void mabd_impulse_end_poses(mabd_impulse_sim* sim) {
    set_poses(sim, sim->from + sim->h, sim->steady);
}
