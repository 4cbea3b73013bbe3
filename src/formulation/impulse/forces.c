// SPDX-License-Identifier: Apache-2.0
// Loads of a substep, and motion of bodies.
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
#include "math/frame_exp.h"
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

void mabd_impulse_set_poses(mabd_impulse_sim* sim, mabd_real time) {
    for (int32_t i = 0; i <= sim->model->body_count; i++) {
        if (sim->body_script[i] >= 0) {
            set_script(sim, i, time);
        } else {
            sim->poses[i].c = sim->c[i], sim->poses[i].R = mabd_q_matrix(sim->q[i]);
        }
    }
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

static void set_loads(mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
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

// Solve M x = y by Cramer's rule.
static mabd_vec3 solve3(mabd_mat3 M, mabd_vec3 y) {
    const mabd_vec3 n = mabd_v3_cross(M.c2, M.c3);
    const mabd_real over = 1 / mabd_v3_dot(M.c1, n);
    return mabd_v3(over * mabd_v3_dot(y, n), over * mabd_v3_dot(M.c1, mabd_v3_cross(y, M.c3)),
                   over * mabd_v3_dot(M.c1, mabd_v3_cross(M.c2, y)));
}

static mabd_vec3 diagonal(const mabd_real* I, mabd_vec3 x) {
    return mabd_v3(I[0] * x.x, I[1] * x.y, I[2] * x.z);
}

// I (w1 - w0) + h wm x I wm - h tau
static mabd_vec3 spin_residual(const mabd_real* I, const mabd_impulse_spin* s, mabd_vec3 tau,
                               mabd_real h) {
    const mabd_vec3 torque = mabd_v3_sub(tau, mabd_v3_cross(s->mean, diagonal(I, s->mean)));
    return mabd_v3_axpy(-h, torque, diagonal(I, mabd_v3_sub(s->end, s->start)));
}

static void set_end(mabd_impulse_spin* s, mabd_vec3 end) {
    s->end = end;
    s->mean = mabd_v3_scale((mabd_real)0.5, mabd_v3_add(s->start, end));
}

mabd_impulse_spin mabd_impulse_free_spin(const mabd_real* I, mabd_vec3 w0, mabd_vec3 tau,
                                         mabd_real h) {
    const mabd_mat3 inertia =
        mabd_m3(mabd_v3(I[0], 0, 0), mabd_v3(0, I[1], 0), mabd_v3(0, 0, I[2]));
    mabd_impulse_spin s = {w0, w0, w0};
    for (int k = 0; k < MABD_IMPULSE_SPIN_ITERATIONS; k++) {
        const mabd_vec3 off = spin_residual(I, &s, tau, h);
        mabd_mat3 by_w = mabd_m3_skew_product(s.mean, inertia);
        by_w = mabd_m3_axpy(-1, mabd_m3_skew(diagonal(I, s.mean)), by_w);
        set_end(&s, mabd_v3_sub(s.end, solve3(mabd_m3_axpy(h / 2, by_w, inertia), off)));
    }
    const mabd_real off = mabd_v3_norm(spin_residual(I, &s, tau, h));
    const mabd_real size = mabd_v3_norm(diagonal(I, w0)) + h * mabd_v3_norm(tau);
    if (!(off <= MABD_IMPULSE_SPIN_RESIDUAL * size)) { // turns too fast for the substep
        set_end(&s,
                mabd_v3(w0.x + h * tau.x / I[0], w0.y + h * tau.y / I[1], w0.z + h * tau.z / I[2]));
    }
    return s;
}

static void start_body(mabd_impulse_sim* sim, int32_t body, mabd_vec3 wind) {
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
    const mabd_rigid_wrench* load = &sim->load[body];
    mabd_impulse_line* line = &sim->lines[body];
    const mabd_mat3 R = sim->poses[body].R;
    const mabd_real h = sim->h, mass = c->material.mass, drag = c->material.drag;
    mabd_vec3 v = mabd_v3_axpy(h / mass, load->f, mabd_v3_load(line->v));
    if (drag > 0) {
        v = mabd_v3_scale(1 / (1 + h * drag / mass), mabd_v3_axpy(h * drag / mass, wind, v));
    }
    mabd_v3_store(v, line->v);
    const mabd_sym3 over = {1 / c->principal[0], 1 / c->principal[1], 1 / c->principal[2], 0, 0, 0};
    sim->inertia[body] = mabd_sym3_rotate(R, over);
    const mabd_vec3 w0 = mabd_m3_tmul(R, mabd_v3_load(line->w));
    sim->spin[body] = mabd_impulse_free_spin(c->principal, w0, load->t, h);
    mabd_v3_store(mabd_m3_mul(R, sim->spin[body].end), line->w);
    sim->shift[body] = mabd_m3_mul(R, mabd_v3_sub(sim->spin[body].mean, sim->spin[body].end));
}

// A script moves its body in a substep with the constant twist between the two poses.
static void start_script(mabd_impulse_sim* sim, int32_t body) {
    const mabd_model* m = sim->model;
    const mabd_model_script* script = &m->scripts[sim->body_script[body]];
    const mabd_rigid_pose to = mabd_rigid_script_pose(m, script, sim->from + sim->h);
    const mabd_rigid_twist u = mabd_rigid_mean_twist(&sim->poses[body], &to, sim->h);
    mabd_v3_store(u.v, sim->lines[body].v);
    mabd_v3_store(mabd_m3_mul(sim->poses[body].R, u.w), sim->lines[body].w);
}

void mabd_impulse_add_loads(mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    const mabd_vec3 wind = mabd_rigid_wind(m, sim->from, sim->h, sim->from + sim->h / 2);
    memcpy(sim->begin_lines, sim->lines, ((size_t)m->body_count + 1) * sizeof *sim->lines);
    set_loads(sim);
    for (int32_t i = 0; i < m->body_count; i++) {
        if (sim->body_script[i] >= 0) {
            start_script(sim, i);
        } else if (sim->lines[i].moves > 0) {
            start_body(sim, i, wind);
        }
    }
}

// ---- motion ------------------------------------------------------------------------------------

void mabd_impulse_move(mabd_impulse_sim* sim) {
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const mabd_impulse_line* line = &sim->lines[i];
        if (!(line->moves > 0)) continue;
        const mabd_vec3 w = mabd_v3_add(mabd_v3_load(line->w), sim->shift[i]);
        const mabd_vec3 theta = mabd_v3_scale(sim->h, mabd_m3_tmul(sim->poses[i].R, w));
        sim->q[i] = mabd_q_normalize(mabd_q_product(sim->q[i], mabd_q_exp(theta)));
        sim->c[i] = mabd_v3_axpy(sim->h, mabd_v3_load(line->v), sim->c[i]);
    }
}

void mabd_impulse_turn_velocities(mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        mabd_impulse_line* line = &sim->lines[i];
        if (!(line->moves > 0)) continue;
        const mabd_real* I = m->classes[m->body_class[i]].principal;
        const mabd_impulse_spin* s = &sim->spin[i];
        const mabd_vec3 now = mabd_m3_tmul(sim->poses[i].R, mabd_v3_load(line->w));
        const mabd_vec3 pushed = mabd_v3_add(s->start, mabd_v3_sub(now, s->end));
        const mabd_vec3 w = mabd_impulse_free_spin(I, pushed, sim->load[i].t, sim->h).end;
        mabd_v3_store(mabd_q_rotate(sim->q[i], w), line->w);
    }
}
