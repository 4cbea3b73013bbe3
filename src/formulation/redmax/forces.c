// SPDX-License-Identifier: Apache-2.0
// External wrenches on links and their derivatives by the motion of the link.
//
// A variation of a pose is the twist xi of the link in its own frame: dR = R [xi_w]. A force f that
// is constant in the world is seen as l = R'f in the link frame, dl = [l] xi_w, so that at x
//
//   F = (x x l, l)     dF = ([x][l], [l]) xi_w
//
// A wrench that turns with the body is constant. Drag of the centre c against a wind u,
//
//   f = -d (v + w x c - R'u)     df = -d (dv - c x dw) + d [R'u] xi_w

#include "formulation/redmax/redmax_springs.h"
#include "formulation/redmax/start_pull.h"
#include "rigid/geometric.h"
#include "scene/signal.h"

/// Loads of one link: a force at each of its points, in the link frame.
typedef struct load_sum {
    mabd_spatial F;          // wrench
    mabd_mat3 moment, force; // derivatives by xi_w
    bool derivatives;
} load_sum;

// Add a force l at x that is constant in the world.
static void add_force(load_sum* sum, mabd_vec3 x, mabd_vec3 l) {
    sum->F = mabd_sp_add(sum->F, mabd_sp(mabd_v3_cross(x, l), l));
    if (!sum->derivatives) return;
    sum->force = mabd_m3_axpy(1, mabd_m3_skew(l), sum->force);
    sum->moment = mabd_m3_axpy(1, mabd_m3_skew_product(x, mabd_m3_skew(l)), sum->moment);
}

// Add a torque that is constant in the world.
static void add_torque(load_sum* sum, mabd_vec3 m) {
    sum->F.w = mabd_v3_add(sum->F.w, m);
    if (sum->derivatives) sum->moment = mabd_m3_axpy(1, mabd_m3_skew(m), sum->moment);
}

static void add_scene_forces(const mabd_redmax_solve* s, const mabd_redmax_link* link, mabd_mat3 R,
                             load_sum* sum) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_frame* P = &link->principal;
    for (int32_t i = sim->body_force[link->body]; i < sim->body_force[link->body + 1]; i++) {
        const mabd_model_force* own = &sim->model->forces[i];
        const mabd_real k = own->signal ? mabd_signal_over(own->signal, s->from, s->h, s->time) : 1;
        const mabd_vec3 x = mabd_v3_add(mabd_m3_mul(P->R, own->point), P->p);
        const mabd_vec3 f = mabd_v3_scale(k, own->force), t = mabd_v3_scale(k, own->torque);
        if (own->body_frame) {
            const mabd_vec3 l = mabd_m3_mul(P->R, f);
            const mabd_vec3 m = mabd_v3_add(mabd_v3_cross(x, l), mabd_m3_mul(P->R, t));
            sum->F = mabd_sp_add(sum->F, mabd_sp(m, l));
        } else {
            add_force(sum, x, mabd_m3_tmul(R, f));
            add_torque(sum, mabd_m3_tmul(R, t));
        }
    }
}

// Forces on a link but for the part of drag that is proportional to its velocity.
static load_sum loads(const mabd_redmax_solve* s, int32_t i, bool derivatives) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_mat3 R = sim->world[i].R;
    const mabd_vec3 zero = mabd_v3(0, 0, 0), c = link->principal.p;
    load_sum sum = {mabd_sp_zero(), mabd_m3(zero, zero, zero), mabd_m3(zero, zero, zero),
                    derivatives};
    add_scene_forces(s, link, R, &sum);
    if (sim->inputs.has_applied) {
        const mabd_real* own = sim->inputs.applied + 6 * (size_t)link->body;
        add_force(&sum, c, mabd_m3_tmul(R, mabd_v3_load(own)));
        add_torque(&sum, mabd_m3_tmul(R, mabd_v3_load(own + 3)));
    }
    if (link->drag > 0) add_force(&sum, c, mabd_m3_tmul(R, mabd_v3_scale(link->drag, s->wind)));
    return sum;
}

mabd_spatial mabd_redmax_load(const mabd_redmax_solve* s, int32_t i) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    if (s->pull) return mabd_redmax_pull_load(s, i);
    load_sum sum = loads(s, i, false);
    if (sim->model->ground_count > 0) sum.F = mabd_sp_add(sum.F, mabd_redmax_ground_load(s, i));
    if (!(link->drag > 0)) return sum.F;
    const mabd_vec3 c = link->principal.p;
    const mabd_vec3 v = mabd_v3_add(sim->V[i].v, mabd_v3_cross(sim->V[i].w, c));
    const mabd_vec3 f = mabd_v3_scale(-link->drag, v);
    return mabd_sp_add(sum.F, mabd_sp(mabd_v3_cross(c, f), f));
}

// Subtract a 3 x 3 block from N (6 x 18) at (row, column).
static void subtract(mabd_real* N, int row, int column, mabd_mat3 M) {
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 c = mabd_m3_column(&M, k);
        mabd_real* at = N + MABD_VARIATION * row + column + k;
        at[0] -= c.x, at[MABD_VARIATION] -= c.y, at[2 * MABD_VARIATION] -= c.z;
    }
}

void mabd_redmax_subtract_turn(mabd_vec3 x, mabd_vec3 l, mabd_real* N) {
    const mabd_mat3 turn = mabd_m3_skew(l);
    subtract(N, 0, 12, mabd_m3_skew_product(x, turn));
    subtract(N, 3, 12, turn);
}

// dl = K (xi_v - [x] xi_w) + D (dv - [x] dw - [v + w x x] xi_w) and its moment.
void mabd_redmax_subtract_point(mabd_vec3 x, mabd_spatial V, mabd_mat3 K, mabd_mat3 D,
                                mabd_real* N) {
    const mabd_mat3 arm = mabd_m3_skew(x);
    const mabd_mat3 speed = mabd_m3_skew(mabd_v3_add(V.v, mabd_v3_cross(V.w, x)));
    const mabd_mat3 none = mabd_m3_axpy(-1, arm, arm);
    const mabd_mat3 by_w = mabd_m3_axpy(-1, mabd_m3_product(D, arm), none);
    mabd_mat3 by_turn = mabd_m3_axpy(-1, mabd_m3_product(K, arm), none);
    by_turn = mabd_m3_axpy(-1, mabd_m3_product(D, speed), by_turn);
    const mabd_mat3 by[4] = {by_w, D, by_turn, K};
    const int at[4] = {0, 3, 12, 15};
    for (int k = 0; k < 4; k++) {
        subtract(N, 0, at[k], mabd_m3_product(arm, by[k]));
        subtract(N, 3, at[k], by[k]);
    }
}

void mabd_redmax_load_derivatives(const mabd_redmax_solve* s, int32_t i, mabd_real* N) {
    const mabd_redmax_link* link = &s->sim->links[i];
    if (s->pull) {
        mabd_redmax_pull_derivatives(s, i, N);
        return;
    }
    if (s->part->poses) {
        const load_sum sum = loads(s, i, true);
        subtract(N, 0, 12, sum.moment);
        subtract(N, 3, 12, sum.force);
    }
    if (s->sim->model->ground_count > 0) mabd_redmax_ground_derivatives(s, i, N);
    if (!(link->drag > 0)) return;
    const mabd_real d = link->drag;
    const mabd_mat3 c = mabd_m3_skew(link->principal.p), zero = mabd_m3_axpy(-1, c, c);
    const mabd_mat3 by_w = mabd_m3_axpy(d, c, zero);                   // df/dw = d [c]
    const mabd_mat3 by_v = mabd_m3_axpy(-d, mabd_m3_identity(), zero); // df/dv = -d
    subtract(N, 3, 0, by_w);
    subtract(N, 3, 3, by_v);
    subtract(N, 0, 0, mabd_m3_product(c, by_w));
    subtract(N, 0, 3, mabd_m3_product(c, by_v));
}
