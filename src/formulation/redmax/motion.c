// SPDX-License-Identifier: Apache-2.0
// Motion and residual of a tree of links, by one sweep from the ground to the leaves and one back:
//
//   V = X V_p + S v      A = X A_p + S a + S' v + ad(V) S v            S' = dS/dt
//   F = M A - ad(V)' M V - F_ext + sum_c X_c' F_c                      r = S'F - tau(q, v, a)
//
// Gravity is the acceleration (0, -g) of the ground: no force and no derivative of its own. F of
// the last link of a string is the wrench that its joint transmits. (The reaction of [RM eq. 2.124]
// leaves out what the motion of the links adds to the accelerations.)

#include "formulation/redmax/lean.h"
#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/redmax_contact.h"
#include "formulation/redmax/redmax_lift.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_pins.h"
#include "formulation/redmax/redmax_springs.h"

#include <string.h>

void mabd_redmax_rates(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t end = s->part->freedom_first + s->part->freedom_count;
    for (int32_t k = s->part->freedom_first; k < end; k++) {
        sim->v[k] = (sim->q[k] - sim->q_b[k]) / s->gamma;
        sim->a[k] = (sim->v[k] - sim->v_b[k]) / s->gamma;
    }
}

// ---- primitives --------------------------------------------------------------------------------

static mabd_mat3 columns(const mabd_turn_chart* x, mabd_vec3 u,
                         mabd_vec3 (*of)(const mabd_turn_chart*, mabd_vec3, mabd_vec3)) {
    return mabd_m3(of(x, mabd_v3(1, 0, 0), u), of(x, mabd_v3(0, 1, 0), u),
                   of(x, mabd_v3(0, 0, 1), u));
}

static mabd_vec3 slope_along(const mabd_turn_chart* x, mabd_vec3 e, mabd_vec3 v) {
    return mabd_turn_slope(x, v, e);
}
static mabd_vec3 bend_by(const mabd_turn_chart* x, mabd_vec3 e, mabd_vec3 v) {
    return mabd_turn_bend(x, e, v, v);
}

// Rotation of a ball: centre of its chart times that of the chart.
static mabd_mat3 ball_rotation(const mabd_redmax_solve* s, const mabd_redmax_link* link) {
    mabd_redmax_ball* ball = &s->sim->balls[link->ball];
    ball->chart = mabd_redmax_chart_at(s, link, mabd_v3_load(s->sim->q + link->first));
    const mabd_mat3 center = mabd_q_matrix(mabd_redmax_center(s, link));
    ball->R = mabd_m3_product(center, mabd_turn_rotation(&ball->chart));
    return ball->R;
}

// Columns S of a ball and the derivatives of J.
static void ball_columns(mabd_redmax_sim* sim, const mabd_redmax_link* link) {
    mabd_redmax_ball* ball = &sim->balls[link->ball];
    const mabd_vec3 v = mabd_v3_load(sim->v + link->first), a = mabd_v3_load(sim->a + link->first);
    const mabd_vec3 zero = mabd_v3(0, 0, 0);
    const mabd_mat3 J = mabd_turn_matrix(&ball->chart);
    for (int k = 0; k < 3; k++) {
        sim->S[link->first + k] = mabd_sp(mabd_m3_column(&J, k), zero);
    }
    ball->by_v = mabd_turn_slopes(&ball->chart, v);
    ball->by_a = mabd_turn_slopes(&ball->chart, a);
    ball->rate = columns(&ball->chart, v, slope_along);
    ball->bend = columns(&ball->chart, v, bend_by);
}

// Columns S of a path and what their derivatives add.
static void path_columns(mabd_redmax_sim* sim, const mabd_redmax_link* link) {
    mabd_redmax_path* path = &sim->paths[link->path];
    for (int k = 0; k < link->count; k++) sim->S[link->first + k] = path->S[k];
    mabd_redmax_path_rates(path, link->count, sim->v + link->first, sim->a + link->first);
}

// Rotation of a screw about a unit axis, or about none.
static mabd_mat3 screw_rotation(mabd_vec3 axis, mabd_real angle) {
    if (mabd_v3_dot(axis, axis) == 0) return mabd_m3_identity();
    return mabd_q_matrix(mabd_q_axis_angle(axis, angle));
}

// Q of a link at q.
static mabd_frame primitive_frame(const mabd_redmax_solve* s, const mabd_redmax_link* link) {
    const mabd_real* q = s->sim->q + link->first;
    mabd_frame Q = {mabd_m3_identity(), mabd_v3(0, 0, 0)};
    switch (link->kind) {
    case MABD_PRIMITIVE_SCREW: // axes pass through the origin: w and v are parallel
        Q.R = screw_rotation(link->S.w, q[0]);
        Q.p = mabd_v3_scale(q[0], link->S.v);
        break;
    case MABD_PRIMITIVE_TRANSLATION:
        Q.p = mabd_v3_scale(link->S.v.x, mabd_v3_load(q));
        break;
    case MABD_PRIMITIVE_BALL:
        Q.R = ball_rotation(s, link);
        break;
    case MABD_PRIMITIVE_CURVE:
    case MABD_PRIMITIVE_SURFACE:
        return mabd_redmax_path_at(link->piece, s->sim->model->piece_values, q, link->reversed,
                                   &s->sim->paths[link->path]);
    default:
        break;
    }
    return Q;
}

static void write_columns(mabd_redmax_sim* sim, const mabd_redmax_link* link) {
    const mabd_vec3 zero = mabd_v3(0, 0, 0);
    const mabd_real sign = link->S.v.x;
    switch (link->kind) {
    case MABD_PRIMITIVE_SCREW:
        sim->S[link->first] = link->S;
        break;
    case MABD_PRIMITIVE_TRANSLATION:
        sim->S[link->first] = mabd_sp(zero, mabd_v3(sign, 0, 0));
        sim->S[link->first + 1] = mabd_sp(zero, mabd_v3(0, sign, 0));
        sim->S[link->first + 2] = mabd_sp(zero, mabd_v3(0, 0, sign));
        break;
    case MABD_PRIMITIVE_BALL:
        ball_columns(sim, link);
        break;
    case MABD_PRIMITIVE_CURVE:
    case MABD_PRIMITIVE_SURFACE:
        path_columns(sim, link);
        break;
    default:
        break;
    }
}

static void place_range(const mabd_redmax_solve* s, int32_t from, int32_t to) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t i = from; i < to; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const mabd_frame Q = primitive_frame(s, link);
        sim->E[i] = mabd_frame_product(&link->rest, &Q);
        const mabd_frame world = link->parent < 0
                                     ? sim->E[i]
                                     : mabd_frame_product(&sim->world[link->parent], &sim->E[i]);
        if (s->lifted && s->part->poses) {
            mabd_redmax_pose_defect(sim, i, &world);
        } else {
            sim->world[i] = world;
        }
    }
}

void mabd_redmax_place(const mabd_redmax_solve* s) {
    place_range(s, s->part->link_first, s->part->link_first + s->part->link_count);
}

// ---- from the ground to the leaves -------------------------------------------------------------

// sum_k S_k x_k
static mabd_spatial combine(const mabd_redmax_sim* sim, const mabd_redmax_link* link,
                            const mabd_real* x) {
    mabd_spatial sum = mabd_sp_zero();
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        sum = mabd_sp_axpy(x[k], sim->S[k], sum);
    }
    return sum;
}

static void move_link(const mabd_redmax_solve* s, int32_t i) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const bool root = link->parent < 0;
    write_columns(sim, link);
    sim->Sv[i] = combine(sim, link, sim->v);
    sim->XV[i] = root ? mabd_sp_zero() : mabd_frame_to_child(&sim->E[i], sim->V[link->parent]);
    const mabd_spatial V = mabd_sp_add(sim->XV[i], sim->Sv[i]);
    if (s->lifted) {
        mabd_redmax_rate_defect(sim, i, V);
    } else {
        sim->V[i] = V;
    }
}

static void accelerate_link(const mabd_redmax_solve* s, int32_t i) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_spatial fall =
        mabd_sp(mabd_v3(0, 0, 0), mabd_v3_scale(-1, mabd_v3_load(sim->model->gravity)));
    sim->XA[i] = mabd_frame_to_child(&sim->E[i], link->parent < 0 ? fall : sim->A[link->parent]);
    mabd_spatial A = mabd_sp_add(sim->XA[i], combine(sim, link, sim->a));
    A = mabd_sp_add(A, mabd_sp_cross(sim->V[i], sim->Sv[i]));
    if (link->kind == MABD_PRIMITIVE_BALL) { // S' v
        const mabd_vec3 v = mabd_v3_load(sim->v + link->first);
        A.w = mabd_v3_add(A.w, mabd_m3_mul(sim->balls[link->ball].rate, v));
    }
    for (int k = 0; link->path >= 0 && k < link->count; k++) {
        const mabd_spatial rate = sim->paths[link->path].rate[k];
        A = mabd_sp_axpy(sim->v[link->first + k], rate, A);
    }
    if (s->lifted) {
        mabd_redmax_acceleration_defect(sim, i, A);
    } else {
        sim->A[i] = A;
    }
}

// Wrench that the motion of a link itself needs.
static mabd_spatial own_wrench(const mabd_redmax_solve* s, int32_t i) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    if (!(link->M.mass > 0)) return mabd_sp_zero();
    const mabd_spatial momentum = mabd_inertia_mul(&link->M, sim->V[i]);
    const mabd_spatial F = mabd_sp_sub(mabd_inertia_mul(&link->M, sim->A[i]),
                                       mabd_sp_cross_wrench(sim->V[i], momentum));
    return mabd_redmax_is_loaded(s, link) ? mabd_sp_sub(F, mabd_redmax_load(s, i)) : F;
}

// ---- from the leaves to the ground -------------------------------------------------------------

// lean_text.h has the law of springs, dampers and drives once more.
static void write_residual(const mabd_redmax_solve* s, int32_t i) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    mabd_real tau[3] = {0, 0, 0}, slope;
    if (s->loads) mabd_redmax_smooth_bounds(s, i);
    if (link->kind == MABD_PRIMITIVE_BALL) {
        if (link->laws) mabd_redmax_ball_laws(s, i, tau);
    } else {
        for (int32_t k = 0; k < link->count; k++) {
            const int32_t at = link->first + k;
            const mabd_redmax_freedom* f = &sim->freedoms[at];
            if (f->prescribed) continue; // r is all that holds it
            tau[k] = s->motor[at] + mabd_redmax_friction(f, sim->v[at], &slope);
            if (f->held) continue; // r is the force of the law
            tau[k] +=
                s->force[at] + f->push - f->k * sim->q[at] - f->d * sim->v[at] - f->I * sim->a[at];
        }
    }
    for (int32_t k = 0; k < link->count; k++) {
        sim->r[link->first + k] = mabd_sp_dot(sim->S[link->first + k], sim->F[i]) - tau[k];
    }
}

static void move_range(const mabd_redmax_solve* s, void* context, int32_t from, int32_t to,
                       mabd_real sum[2]) {
    (void)context, (void)sum;
    place_range(s, from, to);
    for (int32_t i = from; i < to; i++) move_link(s, i);
}

void mabd_redmax_velocities(const mabd_redmax_solve* s) {
    mabd_real none[2];
    mabd_redmax_each_range(s, move_range, NULL, none);
}

void mabd_redmax_residual(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const int32_t first = s->part->link_first, end = first + s->part->link_count;
    s->part->structure.swept = false;
    mabd_redmax_place(s);
    for (int32_t i = first; i < end; i++) {
        move_link(s, i);
        accelerate_link(s, i);
        sim->F[i] = own_wrench(s, i);
    }
    if (s->part->row_count > 0) mabd_redmax_pull_rows(s);
    if (s->part->spring_count > 0 && !s->still) mabd_redmax_pull_springs(s);
    for (int32_t i = first; s->part->pushed && i < end; i++) {
        sim->F[i] = mabd_sp_sub(sim->F[i], mabd_redmax_push_wrench(sim, i));
    }
    for (int32_t i = end - 1; i >= first; i--) {
        const int32_t parent = sim->links[i].parent;
        write_residual(s, i);
        if (parent < 0) continue;
        sim->F[parent] = mabd_sp_add(sim->F[parent], mabd_frame_to_parent(&sim->E[i], sim->F[i]));
    }
    mabd_redmax_pull_couplings(s);
}

void mabd_redmax_residual_of_links(const mabd_redmax_solve* s) {
    if (mabd_redmax_may_sweep(s)) {
        mabd_redmax_lean_residual(s);
    } else {
        mabd_redmax_residual(s);
    }
}

static void add_kinetic(const mabd_redmax_solve* s, void* context, int32_t from, int32_t to,
                        mabd_real sum[2]) {
    const mabd_redmax_sim* sim = s->sim;
    (void)context;
    for (int32_t i = from; i < to; i++) {
        if (!(sim->links[i].M.mass > 0)) continue;
        sum[0] += mabd_sp_dot(sim->V[i], mabd_inertia_mul(&sim->links[i].M, sim->V[i])) / 2;
    }
}

mabd_real mabd_redmax_kinetic(const mabd_redmax_solve* s) {
    mabd_real sum[2];
    mabd_redmax_each_range(s, add_kinetic, NULL, sum);
    return sum[0];
}
