// SPDX-License-Identifier: Apache-2.0
// Derivatives of axes with force laws in a stage (axes.c), on the branches on which it ended.
//
// A sloped or flat branch is a force f on the coordinate, besides the spring and damper that are in
// the residual; a vertical one is the row x = x_star. With the target p of the drive and the
// history x_b of the coordinate,
//
//   servo with gains   df = kp dp, on a rotation vector + kd/gamma dx_b
//   servo, rigid       dx_star = dp
//   rate               dx_star = dx_b + gamma dp
//   friction           dx_star = dx_b where it sticks, df = -side dmu where it slides
//   stop               dx_star = 0
//
// The history of a coordinate of the tree is q_b. That of a rotation vector theta with a turn rho
// of its ball, dtheta_n = T rho_n, is
//
//   euler, first stage of sdirk2   dtheta_n
//   bdf2                           (4 dtheta_n - dtheta_(n-1))/3
//   second stage of sdirk2         dtheta_n + (1-alpha) h (dtheta_al - dx_b)/gamma
//
// and in a stage dtheta = Y dq + Z rho_n, rho_n the turn of the centre of the chart.
//
// Rows of a ball with held components are L r = 0, L = Y^-T without the held ones, and theta =
// x_star (factor.c). The forces on held components make r = 0, so the derivative of L drops out,
// and L takes theirs out of r: z on the rows is L'z on r.

#include "formulation/redmax/tangent_law.h"

#include "rigid/linear_pass.h"

static bool is_ball(const mabd_redmax_link* link) {
    return link->kind == MABD_PRIMITIVE_BALL;
}

static bool holds_theta(const mabd_redmax_sim* sim, const mabd_redmax_link* link) {
    return is_ball(link) && sim->balls[link->ball].holds;
}

// ---- rows --------------------------------------------------------------------------------------

void mabd_redmax_split_rows(const mabd_redmax_pass* r) {
    const mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            g->hold[k] = sim->freedoms[k].held ? g->z[k] : 0;
        }
        if (holds_theta(sim, link)) {
            mabd_real* z = g->z + link->first;
            mabd_v3_store(mabd_m3_tmul(sim->balls[link->ball].forces, mabd_v3_load(z)), z);
            continue;
        }
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            if (sim->freedoms[k].held) g->z[k] = 0;
        }
    }
}

void mabd_redmax_join_rows(const mabd_redmax_pass* r) {
    const mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        mabd_real* z = g->z + link->first;
        if (holds_theta(sim, link)) {
            mabd_v3_store(mabd_m3_mul(sim->balls[link->ball].forces, mabd_v3_load(z)), z);
        }
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            if (sim->freedoms[k].held) g->z[k] = g->hold[k];
        }
    }
}

// ---- rotation vectors --------------------------------------------------------------------------

// T of a ball at a node.
static mabd_mat3 theta_by_turn(const mabd_redmax_link* link, const mabd_redmax_node* node) {
    const mabd_mat3 N = mabd_so3_log_gradients(mabd_v3_load(node->theta + 3 * (size_t)link->ball));
    if (!link->reversed) return N;
    const mabd_mat3 R = mabd_q_matrix(mabd_q_load(node->turn + 4 * (size_t)link->ball));
    return mabd_m3_product(N, mabd_m3_axpy(-2, R, R));
}

void mabd_redmax_pass_theta(const mabd_redmax_pass* r, mabd_real s, const mabd_redmax_node* node,
                            mabd_redmax_tangent t) {
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &r->g->sim->links[i];
        if (!is_ball(link) || !link->laws) continue;
        const mabd_mat3 T = theta_by_turn(link, node);
        const mabd_mat3 by_q = mabd_m3_product(T, mabd_redmax_pass_turn_by_chart(r, link, node));
        mabd_pass_m3(r->back, s, by_q, r->g->base_theta + link->first, t.q + link->first);
    }
}

void mabd_redmax_pass_theta_rate(const mabd_redmax_pass* r, mabd_real* rate, mabd_real* center) {
    const mabd_redmax_gradient* g = r->g;
    const mabd_real s = 1 / r->s.gamma;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        const int32_t at = link->first;
        mabd_vec3 theta;
        mabd_mat3 Y;
        if (!is_ball(link) || !link->laws) continue;
        mabd_redmax_ball_turn(&r->s, i, &theta, &Y);
        mabd_pass_m3(r->back, s, Y, rate + at, g->q + at);
        mabd_pass_m3(r->back, s, mabd_redmax_ball_turn_by_center(&r->s, i), rate + at, center + at);
        mabd_pass_scaled(r->back, -s, 3, rate + at, g->base_theta + at);
    }
}

void mabd_redmax_pass_held_rates(const mabd_redmax_pass* r, const mabd_real* v, mabd_real* q,
                                 mabd_real* center) {
    const mabd_redmax_gradient* g = r->g;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &g->sim->links[i];
        const int32_t at = link->first;
        mabd_mat3 by_q, by_center;
        if (!holds_theta(g->sim, link)) continue;
        mabd_redmax_ball_rate_changes(&r->s, i, v + at, &by_q, &by_center);
        for (int j = 0; j < 3; j++) {
            const mabd_vec3 own = mabd_m3_column(&by_q, j), turn = mabd_m3_column(&by_center, j);
            for (int k = 0; k < 3; k++) {
                mabd_real* y = g->hold + at + k;
                if (!g->sim->freedoms[at + k].held) continue;
                if (q) mabd_pass_scaled(r->back, -mabd_v3_get(own, k), 1, y, q + at + j);
                mabd_pass_scaled(r->back, -mabd_v3_get(turn, k), 1, y, center + at + j);
            }
        }
    }
}

// ---- laws --------------------------------------------------------------------------------------

// y += the change of the force or coordinate of a branch; backwards y is its bar.
static void pass_value(const mabd_redmax_pass* r, const mabd_redmax_law* law,
                       mabd_redmax_law_change by, mabd_real* center, mabd_real* y) {
    const mabd_redmax_gradient* g = r->g;
    const int32_t k = law->freedom, i = g->sim->freedoms[k].link;
    const mabd_redmax_link* link = &g->sim->links[i];
    mabd_real last;
    const mabd_real share = mabd_redmax_target_share(&r->s, law, &last);
    mabd_pass_scaled(r->back, by.by_target * share, 1, y, g->target + k);
    mabd_pass_scaled(r->back, by.by_target * last, 1, y, g->last_target + k);
    mabd_pass_scaled(r->back, by.by_past, 1, y, (is_ball(link) ? g->base_theta : g->base_q) + k);
    if (!by.held || !is_ball(link)) return;
    const mabd_mat3 Z = mabd_redmax_ball_turn_by_center(&r->s, i);
    for (int j = 0; j < 3; j++) {
        const mabd_real own = mabd_v3_get(mabd_m3_column(&Z, j), k - link->first);
        mabd_pass_scaled(r->back, -own, 1, y, center + link->first + j);
    }
}

// dtau of a force on the axis of a law: how many freedoms, and their first.
static int force_on(const mabd_redmax_pass* r, const mabd_redmax_law* law, int32_t* first,
                    mabd_real* tau) {
    const mabd_redmax_sim* sim = r->g->sim;
    const int32_t i = sim->freedoms[law->freedom].link;
    *first = law->freedom, tau[0] = 1;
    if (!is_ball(&sim->links[i])) return 1;
    *first = sim->links[i].first;
    const mabd_redmax_axis_change by =
        mabd_redmax_ball_axis(&r->s, i, law->freedom - sim->links[i].first);
    for (int j = 0; j < 3; j++) tau[j] = by.force[j];
    return 3;
}

void mabd_redmax_pass_laws(const mabd_redmax_pass* r, mabd_real* center) {
    const mabd_redmax_gradient* g = r->g;
    for (int32_t i = r->part->law_first; i < r->part->law_first + r->part->law_count; i++) {
        const mabd_redmax_law* law = &g->sim->laws[i];
        const mabd_redmax_law_change by = mabd_redmax_law_change_of(&r->s, law);
        mabd_real tau[3], f = 0;
        int32_t first;
        if (by.held) {
            if (!r->back) g->hold[law->freedom] = 0;
            pass_value(r, law, by, center, g->hold + law->freedom);
            continue;
        }
        const int n = force_on(r, law, &first, tau);
        if (!r->back) pass_value(r, law, by, center, &f);
        for (int j = 0; j < n; j++) {
            if (r->back) {
                f += tau[j] * g->z[first + j];
            } else {
                g->changes.r[first + j] -= tau[j] * f;
            }
        }
        if (r->back) pass_value(r, law, by, center, &f);
    }
}
