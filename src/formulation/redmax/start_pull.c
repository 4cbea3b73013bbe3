// SPDX-License-Identifier: Apache-2.0
// Projections of a start state onto the joints of a tree, as equilibria of the tree.
//
// A body with principal frame (c, R) that is to be at (c0, R0) with velocity v0 and angular
// velocity omega0 is pulled, in its principal frame, by the wrench
//
//   poses        -(diag(I) tau, m R'(c - c0))      tau = 2 vec(q0* q)/(q0.q)
//   velocities    (diag(I) R'omega0, m R'(v0 + w x (c - c0)))    w: spin of all bodies as one
//
// With rates and accelerations zero, the residual of the tree under the first is zero where the
// bodies are at the least distance from (c0, R0) in the mass metric. With rates zero, the residual
// under the second is J'M (J a - u0), zero where a are the rates of least distance from u0. Both
// are the projections of the other rigid formulations (rigid/start.h) without rows.

#include "formulation/redmax/start_pull.h"

#include "rigid/user_change.h"

/// A body at the iterate.
typedef struct pulled {
    mabd_vec3 J; // principal moments and mass of the body, or of the share of one
    mabd_real m;
    const mabd_frame* P;
    mabd_mat3 R;
    mabd_vec3 way, tau;   // of poses, world and principal frame
    mabd_vec3 v, w, spin; // R'(v0 + w x way), R'omega0, R'w
} pulled;

mabd_real mabd_redmax_share(const mabd_redmax_sim* sim, const mabd_redmax_link* link) {
    const int32_t main = sim->body_link[mabd_redmax_carried(link)];
    return 1 / (mabd_real)(1 + sim->links[main].shares);
}

static pulled pulled_at(const mabd_redmax_solve* s, int32_t i) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_frame W = mabd_frame_product(&sim->world[i], &link->principal);
    const size_t body = (size_t)mabd_redmax_carried(link);
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
    const mabd_real share = mabd_redmax_share(sim, link);
    pulled p = {.J = mabd_v3_scale(share, mabd_v3_load(c->principal)),
                .m = share * c->material.mass,
                .P = &link->principal,
                .R = W.R};
    if (s->pull->velocities) {
        p.way = mabd_v3_sub(W.p, mabd_v3_load(s->pull->poses + 7 * body));
        p.spin = mabd_m3_tmul(W.R, s->pull->spin);
        p.v = mabd_m3_tmul(W.R, mabd_v3_add(mabd_v3_load(s->pull->rates + 6 * body),
                                            mabd_v3_cross(s->pull->spin, p.way)));
        p.w = mabd_m3_tmul(W.R, mabd_v3_load(s->pull->rates + 6 * body + 3));
    } else {
        mabd_real to[7];
        mabd_v3_store(W.p, to), mabd_q_store(mabd_q_from_matrix(W.R), to + 3);
        mabd_rigid_way(to, s->pull->poses + 7 * body, &p.way, &p.tau);
    }
    return p;
}

mabd_spatial mabd_redmax_pull_load(const mabd_redmax_solve* s, int32_t i) {
    const pulled p = pulled_at(s, i);
    const mabd_vec3 J = p.J;
    const mabd_real m = p.m;
    mabd_spatial F;
    if (s->pull->velocities) {
        F = mabd_sp(mabd_rigid_diagonal_mul(J, p.w), mabd_v3_scale(m, p.v));
    } else {
        F = mabd_sp(mabd_v3_scale(-1, mabd_rigid_diagonal_mul(J, p.tau)),
                    mabd_v3_scale(-m, mabd_m3_tmul(p.R, p.way)));
    }
    return mabd_frame_to_parent(p.P, F);
}

// Change of the load by a twist of the body, both in its principal frame.
static mabd_spatial load_change(const mabd_redmax_solve* s, const pulled* p, mabd_spatial xi) {
    const mabd_vec3 J = p->J;
    const mabd_real m = p->m;
    if (s->pull->velocities) {
        return mabd_sp(
            mabd_rigid_diagonal_mul(J, mabd_v3_cross(p->w, xi.w)),
            mabd_v3_scale(m, mabd_v3_add(mabd_v3_cross(p->v, xi.w), mabd_v3_cross(p->spin, xi.v))));
    }
    const mabd_vec3 l = mabd_m3_tmul(p->R, p->way);
    return mabd_sp(mabd_v3_scale(-1, mabd_m3_mul(mabd_rigid_way_slope(J, p->tau, 1), xi.w)),
                   mabd_v3_scale(-m, mabd_v3_add(xi.v, mabd_v3_cross(l, xi.w))));
}

void mabd_redmax_pull_derivatives(const mabd_redmax_solve* s, int32_t i, mabd_real* N) {
    const pulled p = pulled_at(s, i);
    for (int k = 0; k < 6; k++) {
        mabd_real e[6] = {0}, column[6];
        e[k] = 1;
        const mabd_spatial xi = mabd_frame_to_child(p.P, mabd_sp_load(e));
        mabd_sp_store(mabd_frame_to_parent(p.P, load_change(s, &p, xi)), column);
        for (int r = 0; r < 6; r++) N[MABD_VARIATION * r + 12 + k] -= column[r];
    }
}

mabd_spatial mabd_redmax_pull_by_inertia(const mabd_redmax_solve* s, int32_t i,
                                         const mabd_mat3* dI) {
    const pulled p = pulled_at(s, i);
    const mabd_vec3 zero = mabd_v3(0, 0, 0);
    const mabd_vec3 turn = s->pull->velocities ? p.w : mabd_v3_scale(-1, p.tau);
    const mabd_vec3 way = s->pull->velocities ? p.v : mabd_v3_scale(-1, mabd_m3_tmul(p.R, p.way));
    const mabd_spatial F = dI ? mabd_sp(mabd_m3_mul(*dI, turn), zero) : mabd_sp(zero, way);
    return mabd_frame_to_parent(p.P, F);
}

mabd_spatial mabd_redmax_pull_by_spin(const mabd_redmax_solve* s, int32_t i, mabd_vec3 spin) {
    const pulled p = pulled_at(s, i);
    const mabd_vec3 v = mabd_m3_tmul(p.R, mabd_v3_cross(spin, p.way));
    return mabd_frame_to_parent(p.P, mabd_sp(mabd_v3(0, 0, 0), mabd_v3_scale(p.m, v)));
}

void mabd_redmax_pass_pull(const mabd_redmax_solve* s, int32_t i, bool back, mabd_real* out,
                           mabd_real* placed) {
    const pulled p = pulled_at(s, i);
    const mabd_vec3 J = p.J;
    const mabd_mat3 down = mabd_m3_transpose(p.R);
    const bool rates = s->pull->velocities;
    const mabd_mat3 turn =
        rates ? mabd_rigid_diagonal_product(J, down) : mabd_rigid_way_slope(J, p.tau, -1);
    mabd_real F[6] = {0}; // principal frame; back: its bars
    if (back) mabd_sp_store(mabd_frame_to_child(p.P, mabd_sp_load(out)), F);
    mabd_pass_m3(back, 1, turn, F, placed + (rates ? 9 : 3));
    mabd_pass_m3(back, p.m, down, F + 3, placed + (rates ? 6 : 0));
    if (rates) { // - w x dc0
        const mabd_mat3 carried = mabd_m3_product(down, mabd_m3_skew(s->pull->spin));
        mabd_pass_m3(back, -p.m, carried, F + 3, placed);
    }
    if (back) return;
    mabd_sp_store(mabd_sp_add(mabd_sp_load(out), mabd_frame_to_parent(p.P, mabd_sp_load(F))), out);
}
