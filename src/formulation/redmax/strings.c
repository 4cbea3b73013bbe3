// SPDX-License-Identifier: Apache-2.0
// Coordinates of a string from the poses of the two bodies of its joint.
//
// With F(q) = E_1(q_1) .. E_n(q_n), the frame of the last link in that before the first one, and F*
// that of the poses,
//
//   xi = log(F^-1 F*)     J_k = Ad((E_(i+1) .. E_n)^-1) S_k     J'J dq = J'xi
//
// repeated: Gauss-Newton, of second order where the joint allows the poses. Rates are those of
// J'J v = J'V, V the relative twist of the bodies.

#include "formulation/redmax/redmax_strings.h"

#include <math.h>
#include <string.h>

#define FREEDOMS       MABD_JOINT_MAX_FREEDOMS
#define ITERATIONS_MAX 30
/// Increments below which the fit has met round-off.
#define FIT_NOISE ((mabd_real)1e-13)

/// A string on the way to a pose.
typedef struct fit_work {
    const mabd_redmax_sim* sim;
    int32_t first, last, freedom; // links; first freedom
    int n;                        // freedoms
    mabd_real q[FREEDOMS];
    mabd_quat turn[FREEDOMS]; // of balls, by freedom
    mabd_frame F;
    mabd_spatial J[FREEDOMS];
} fit_work;

bool mabd_redmax_is_fitted(const mabd_redmax_sim* sim, int32_t joint) {
    return joint >= 0 && sim->model->joints[joint].type >= MABD_JOINT_COUNT;
}

void mabd_redmax_start_strings(const mabd_redmax_sim* sim, mabd_redmax_node* node) {
    for (int32_t i = 0; sim->model->piece_count > 0 && i < sim->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int32_t k = 0; link->path >= 0 && k < link->count; k++) {
            node->q[link->first + k] = link->piece->start[k];
        }
        if (link->ball >= 0 && mabd_redmax_is_fitted(sim, link->joint)) {
            mabd_q_store(mabd_q(1, 0, 0, 0), node->turn + 4 * (size_t)link->ball);
        }
    }
}

// Frame and columns (3) of a link at its coordinates.
static mabd_frame link_frame(const fit_work* w, const mabd_redmax_link* link, mabd_spatial* S) {
    const int own = link->first - w->freedom;
    const mabd_real* q = w->q + own;
    const mabd_vec3 zero = mabd_v3(0, 0, 0);
    mabd_frame Q = {mabd_m3_identity(), zero};
    if (link->kind == MABD_PRIMITIVE_SCREW) {
        Q = mabd_frame_exp(mabd_sp_scale(q[0], link->S)), S[0] = link->S;
    } else if (link->kind == MABD_PRIMITIVE_BALL) { // q is 0: the turn holds it
        Q.R = mabd_q_matrix(w->turn[own]);
        for (int k = 0; k < 3; k++) S[k] = mabd_sp(mabd_v3(k == 0, k == 1, k == 2), zero);
    } else if (link->kind == MABD_PRIMITIVE_TRANSLATION) {
        const mabd_real sign = link->S.v.x;
        Q.p = mabd_v3_scale(sign, mabd_v3_load(q));
        for (int k = 0; k < 3; k++) {
            S[k] = mabd_sp(zero, mabd_v3_scale(sign, mabd_v3(k == 0, k == 1, k == 2)));
        }
    } else if (link->path >= 0) {
        mabd_redmax_path path;
        Q = mabd_redmax_path_at(link->piece, w->sim->model->piece_values, q, link->reversed, &path);
        for (int k = 0; k < link->count; k++) S[k] = path.S[k];
    }
    return mabd_frame_product(&link->rest, &Q);
}

// F and J of the string.
static void place(fit_work* w) {
    for (int32_t i = w->first; i <= w->last; i++) {
        const mabd_redmax_link* link = &w->sim->links[i];
        const int own = link->first - w->freedom;
        mabd_spatial S[3];
        const mabd_frame E = link_frame(w, link, S);
        w->F = i == w->first ? E : mabd_frame_product(&w->F, &E);
        for (int k = 0; k < own; k++) w->J[k] = mabd_frame_to_child(&E, w->J[k]);
        for (int k = 0; k < link->count; k++) w->J[own + k] = S[k];
    }
}

// Solve J'J x = J'y by Cholesky; false if J has no full rank.
static bool least_squares(const fit_work* w, mabd_spatial y, mabd_real* x) {
    mabd_real L[FREEDOMS][FREEDOMS];
    for (int i = 0; i < w->n; i++) {
        x[i] = mabd_sp_dot(w->J[i], y);
        for (int j = 0; j <= i; j++) {
            mabd_real sum = mabd_sp_dot(w->J[i], w->J[j]);
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            if (i == j && !(sum > 0)) return false;
            L[i][j] = i == j ? (mabd_real)sqrt(sum) : sum / L[j][j];
        }
    }
    for (int i = 0; i < w->n; i++) {
        for (int k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
        x[i] /= L[i][i];
    }
    for (int i = w->n - 1; i >= 0; i--) {
        for (int k = i + 1; k < w->n; k++) x[i] -= L[k][i] * x[k];
        x[i] /= L[i][i];
    }
    return true;
}

static void move(fit_work* w, const mabd_real* dq) {
    for (int32_t i = w->first; i <= w->last; i++) {
        const mabd_redmax_link* link = &w->sim->links[i];
        const int own = link->first - w->freedom;
        if (link->kind == MABD_PRIMITIVE_BALL) {
            const mabd_vec3 turn = mabd_v3_load(dq + own);
            const mabd_real angle = mabd_v3_norm(turn);
            if (!(angle > 0)) continue;
            const mabd_quat step = mabd_q_axis_angle(mabd_v3_scale(1 / angle, turn), angle);
            w->turn[own] = mabd_q_normalize(mabd_q_product(w->turn[own], step));
            continue;
        }
        for (int k = 0; k < link->count; k++) w->q[own + k] += dq[own + k];
    }
}

static mabd_real largest(mabd_spatial x) {
    mabd_real e[6], most = 0;
    mabd_sp_store(x, e);
    for (int k = 0; k < 6; k++) {
        if (!(fabs(e[k]) <= most)) most = (mabd_real)fabs(e[k]);
    }
    return most;
}

static mabd_spatial remaining(const fit_work* w, const mabd_frame* goal) {
    const mabd_frame back = mabd_frame_inverse(&w->F), rest = mabd_frame_product(&back, goal);
    return mabd_frame_log(&rest);
}

static fit_work begin(const mabd_redmax_sim* sim, int32_t joint, const mabd_redmax_node* near) {
    fit_work w = {.sim = sim, .first = sim->joint_link[joint], .last = sim->joint_link[joint]};
    while (sim->links[w.first].parent >= 0 && sim->links[sim->links[w.first].parent].joint == joint)
        w.first = sim->links[w.first].parent;
    w.freedom = sim->links[w.first].first;
    for (int32_t i = w.first; i <= w.last; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        w.n += link->count;
        if (link->ball >= 0) {
            w.turn[link->first - w.freedom] = mabd_q_load(near->turn + 4 * (size_t)link->ball);
            continue;
        }
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            w.q[k - w.freedom] = near->q[k];
        }
    }
    return w;
}

static mabd_frame pose(const mabd_rigid_state* s) {
    const mabd_frame E = {mabd_q_matrix(s->q), s->c};
    return E;
}

// The frame that the poses give the last link, in that before the first one: the string begins at
// the frame rest = P X, X that of the joint on the body before it.
static mabd_frame goal_of(const fit_work* w, int32_t joint, const mabd_rigid_state* before,
                          const mabd_rigid_state* behind) {
    const mabd_model* m = w->sim->model;
    const mabd_redmax_link *first = &w->sim->links[w->first], *last = &w->sim->links[w->last];
    mabd_joint_view view;
    mabd_model_joint_view(m, &m->joints[joint], &view);
    mabd_frame X = {first->reversed ? view.Fb : view.Fa, first->reversed ? view.Xb : view.Xa};
    if (!first->reversed) {
        const mabd_frame own = {mabd_q_matrix(mabd_q_load(first->piece->rotation)),
                                mabd_v3_load(first->piece->position)};
        X = mabd_frame_product(&X, &own);
    }
    const mabd_frame body = pose(before), child = pose(behind);
    const mabd_frame start = mabd_frame_product(&body, &X), back = mabd_frame_inverse(&start);
    const mabd_frame principal = mabd_frame_inverse(&last->principal);
    mabd_frame goal = mabd_frame_product(&first->rest, &back);
    goal = mabd_frame_product(&goal, &child);
    return mabd_frame_product(&goal, &principal);
}

// Twist of the body behind the joint against that before it, in the frame of the last link.
static mabd_spatial twist_of(const fit_work* w, const mabd_rigid_state* before,
                             const mabd_rigid_state* behind) {
    const mabd_frame principal = mabd_frame_inverse(&w->sim->links[w->last].principal);
    const mabd_frame child = pose(behind), W = mabd_frame_product(&child, &principal);
    const mabd_vec3 on =
        mabd_v3_add(behind->v, mabd_v3_cross(behind->omega, mabd_v3_sub(W.p, behind->c)));
    const mabd_vec3 off =
        mabd_v3_add(before->v, mabd_v3_cross(before->omega, mabd_v3_sub(W.p, before->c)));
    return mabd_sp(mabd_m3_tmul(W.R, mabd_v3_sub(behind->omega, before->omega)),
                   mabd_m3_tmul(W.R, mabd_v3_sub(on, off)));
}

static void write(const fit_work* w, const mabd_real* v, mabd_redmax_node* to) {
    for (int32_t i = w->first; i <= w->last; i++) {
        const mabd_redmax_link* link = &w->sim->links[i];
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            to->q[k] = link->ball >= 0 ? 0 : w->q[k - w->freedom];
            to->v[k] = v[k - w->freedom];
        }
        if (link->ball < 0) continue;
        const mabd_quat turn = w->turn[link->first - w->freedom];
        const mabd_quat joint = link->reversed ? mabd_q_conjugate(turn) : turn;
        mabd_real* theta = to->theta + 3 * (size_t)link->ball;
        mabd_q_store(turn, to->turn + 4 * (size_t)link->ball);
        mabd_v3_store(mabd_rotvec_unwrap(mabd_so3_log(mabd_q_matrix(joint)), mabd_v3_load(theta),
                                         mabd_v3(1, 1, 1)),
                      theta);
    }
}

mabd_redmax_fit mabd_redmax_fit_string(const mabd_redmax_sim* sim, int32_t joint,
                                       const mabd_rigid_state* a, const mabd_rigid_state* b,
                                       const mabd_redmax_node* near, mabd_redmax_node* to) {
    fit_work w = begin(sim, joint, near);
    const bool reversed = sim->links[w.first].reversed;
    const mabd_rigid_state *before = reversed ? b : a, *behind = reversed ? a : b;
    const mabd_frame goal = goal_of(&w, joint, before, behind);
    mabd_real x[FREEDOMS] = {0};
    place(&w);
    mabd_spatial xi = remaining(&w, &goal);
    for (int i = 0; i < ITERATIONS_MAX && largest(xi) > 0; i++) {
        mabd_real size = 0;
        if (!least_squares(&w, xi, x)) break;
        for (int k = 0; k < w.n; k++) size = (mabd_real)fmax(size, fabs(x[k]));
        if (!(size > FIT_NOISE)) break;
        move(&w, x);
        place(&w);
        xi = remaining(&w, &goal);
    }
    mabd_redmax_fit fit = {.opening = largest(xi)};
    const mabd_spatial V = twist_of(&w, before, behind);
    memset(x, 0, sizeof x);
    if (!least_squares(&w, V, x)) memset(x, 0, sizeof x);
    mabd_spatial slip = V;
    for (int k = 0; k < w.n; k++) slip = mabd_sp_axpy(-x[k], w.J[k], slip);
    fit.slip = largest(slip);
    fit.speed =
        mabd_v3_norm(a->v) + mabd_v3_norm(b->v) + mabd_v3_norm(a->omega) + mabd_v3_norm(b->omega);
    if (to) write(&w, x, to);
    return fit;
}
