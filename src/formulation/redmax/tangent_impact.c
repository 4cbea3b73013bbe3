// SPDX-License-Identifier: Apache-2.0
// Derivatives of the impulses at the end of a step (axes.c): with M the mass matrix and y the jump
// of the rates,
//
//   held axes       x'(q, v + y) = rate        stops, drives without limit, rigid servos
//   all others      (M(q) y)_k = 0
//
// M y is the residual of the tree without rates, forces and gravity at the accelerations y, so its
// derivatives are those of any residual; forces on held components of rotation vectors are
// impulses. Charts are centred at the node, where q = 0 and J = 1: a turn rho of a ball turns the
// centre. With w the angular velocity after the impact, theta the rotation vector of
// the joint and y' = P w,
//
//   theta' = N(theta) P w,    P = 1, or -R where the tree reaches the joint from b
//   dtheta' = dN(N P rho) P w - N R (rho x w) + N P dw
//
//   N(theta) u = u + theta x u/2 + c theta x (theta x u)

#include "formulation/redmax/tangent_law.h"

#include "rigid/linear_pass.h"

static const mabd_redmax_weights by_q = {1, 0, 0};

/// The simulation as it is outside of the impact.
typedef struct impact_view {
    const mabd_model* model;
    mabd_redmax_freedom* freedoms;
    int32_t* body_force;
    bool has_applied;
    mabd_redmax_solve s;
} impact_view;

// ---- the residual ------------------------------------------------------------------------------

// Let a tree without forces stand at its node with accelerations y.
static void still(mabd_redmax_pass* r) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_sim* sim = g->sim;
    g->still = *sim->model;
    memset(g->still.gravity, 0, sizeof g->still.gravity);
    g->still.ground_count = 0, r->s.still = true;
    memcpy(g->still_freedoms, sim->freedoms, (size_t)sim->freedom_count * sizeof *sim->freedoms);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        mabd_redmax_freedom* f = &g->still_freedoms[k];
        f->k = f->d = f->push = 0;
        sim->force[k] = sim->motor[k] = 0;
        sim->v[k] = 0, sim->a[k] = sim->step[k];
    }
    sim->model = &g->still, sim->freedoms = g->still_freedoms;
    sim->body_force = g->still_force, sim->inputs.has_applied = false;
    r->s.wind = mabd_v3(0, 0, 0), r->s.from_node = &sim->next, r->s.in_charts = false;
}

static void leave(mabd_redmax_pass* r, const impact_view* v) {
    mabd_redmax_sim* sim = r->g->sim;
    sim->model = v->model, sim->freedoms = v->freedoms;
    sim->body_force = v->body_force, sim->inputs.has_applied = v->has_applied;
    r->s = v->s;
}

// Take the impact again: sim->next becomes the node after it.
static mabd_status enter(mabd_redmax_pass* r, impact_view* v) {
    mabd_redmax_sim* sim = r->g->sim;
    const mabd_redmax_weights mass = {0, 0, 1};
    int32_t link;
    if (!mabd_redmax_take_impacts(&r->s, &sim->next)) {
        return mabd_redmax_pass_fail(r, MABD_ERR_SINGULAR);
    }
    *v = (impact_view){sim->model, sim->freedoms, sim->body_force, sim->inputs.has_applied, r->s};
    still(r);
    r->s.loads = false;
    mabd_redmax_residual(&r->s);
    mabd_redmax_find_forces(&r->s);
    if (mabd_redmax_factor(&r->s, mass, &link) == MABD_OK) return MABD_OK;
    leave(r, v);
    return mabd_redmax_pass_fail(r, MABD_ERR_SINGULAR);
}

// ---- held axes ---------------------------------------------------------------------------------

// dN(d) u
static mabd_vec3 log_gradients_slope(mabd_vec3 x, mabd_vec3 d, mabd_vec3 u) {
    const mabd_real c = mabd_so3_gradient_factor(x), slope = mabd_so3_gradient_slope(x);
    const mabd_vec3 xu = mabd_v3_cross(x, u), du = mabd_v3_cross(d, u);
    mabd_vec3 out = mabd_v3_scale((mabd_real)0.5, du);
    out = mabd_v3_axpy(slope * mabd_v3_dot(x, d), mabd_v3_cross(x, xu), out);
    out = mabd_v3_axpy(c, mabd_v3_cross(d, xu), out);
    return mabd_v3_axpy(c, mabd_v3_cross(x, du), out);
}

// dtheta' by a turn and by the angular velocity of a ball at a node.
static void theta_rate(const mabd_redmax_link* link, const mabd_redmax_node* node,
                       mabd_mat3* by_turn, mabd_mat3* by_rate) {
    const mabd_vec3 theta = mabd_v3_load(node->theta + 3 * (size_t)link->ball);
    const mabd_vec3 w = mabd_v3_load(node->v + link->first);
    const mabd_mat3 N = mabd_so3_log_gradients(theta);
    mabd_mat3 P = mabd_m3_identity();
    mabd_vec3 columns[3];
    if (link->reversed) {
        const mabd_mat3 R = mabd_q_matrix(mabd_q_load(node->turn + 4 * (size_t)link->ball));
        P = mabd_m3_axpy(-2, R, R);
    }
    *by_rate = mabd_m3_product(N, P);
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 rho = mabd_v3(k == 0, k == 1, k == 2);
        columns[k] = log_gradients_slope(theta, mabd_m3_mul(*by_rate, rho), mabd_m3_mul(P, w));
        if (!link->reversed) continue;
        columns[k] = mabd_v3_add(columns[k], mabd_m3_mul(*by_rate, mabd_v3_cross(rho, w)));
    }
    *by_turn = mabd_m3(columns[0], columns[1], columns[2]);
}

// y += the change of the rate that a held axis gets by the impact; t: changes of the node before.
static void pass_rate(const mabd_redmax_pass* r, const mabd_redmax_law* law, mabd_redmax_tangent t,
                      mabd_real* y) {
    const mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    const int32_t k = law->freedom;
    const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
    if (mabd_redmax_blocked_rate(&r->s, law)) {
        mabd_real last;
        const mabd_real share = mabd_redmax_target_share(&r->s, law, &last);
        mabd_pass_scaled(r->back, share, 1, y, g->target + k);
        mabd_pass_scaled(r->back, last, 1, y, g->last_target + k);
    }
    if (link->kind != MABD_PRIMITIVE_BALL) {
        mabd_pass_scaled(r->back, -1, 1, y, t.v + k);
        return;
    }
    mabd_mat3 by_turn, by_rate;
    theta_rate(link, &sim->next, &by_turn, &by_rate);
    for (int j = 0; j < 3; j++) {
        const mabd_vec3 turn = mabd_m3_column(&by_turn, j), rate = mabd_m3_column(&by_rate, j);
        const int own = k - link->first;
        mabd_pass_scaled(r->back, -mabd_v3_get(turn, own), 1, y, t.q + link->first + j);
        mabd_pass_scaled(r->back, -mabd_v3_get(rate, own), 1, y, t.v + link->first + j);
    }
}

static void pass_rates(const mabd_redmax_pass* r, mabd_redmax_tangent t) {
    const mabd_redmax_sim* sim = r->g->sim;
    for (int32_t i = r->part->law_first; i < r->part->law_first + r->part->law_count; i++) {
        const mabd_redmax_law* law = &sim->laws[i];
        if (!sim->freedoms[law->freedom].held) continue;
        pass_rate(r, law, t, r->g->hold + law->freedom);
    }
}

// ---- both directions ---------------------------------------------------------------------------

mabd_status mabd_redmax_impact_back(mabd_redmax_pass* r, mabd_redmax_tangent end) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_sim* sim = g->sim;
    impact_view kept;
    MABD_TRY(enter(r, &kept));
    mabd_redmax_pass_copy(r, g->z, end.v);
    mabd_redmax_apply_transposed(&r->s, g->z, g->z);
    mabd_redmax_split_rows(r);
    mabd_redmax_pull_back(&r->s, g->z, NULL);
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int k = 0; k < link->count && link->kind != MABD_PRIMITIVE_BALL; k++) {
            end.q[link->first + k] -= mabd_redmax_bar(sim, i, k, by_q, g->z);
        }
    }
    mabd_redmax_pass_centers_back(r, -1, g->z, end.q);
    mabd_redmax_parameter_products(g, &r->s, MABD_EQUATION_IMPACT, r->step->step, -1, g->z);
    pass_rates(r, end);
    leave(r, &kept);
    return MABD_OK;
}

static void direction_forward(mabd_redmax_pass* r, int32_t i) {
    mabd_redmax_gradient* g = r->g;
    const mabd_redmax_tangent t = g->directions[i].fresh;
    const int32_t index = i + g->direction_first;
    mabd_redmax_pass_set_target(r, i, 1);
    mabd_redmax_pass_clear_changes(r);
    if (index >= 0) {
        mabd_redmax_parameter_changes(g, &r->s, MABD_EQUATION_IMPACT, index, r->step->step);
    }
    mabd_redmax_pass_centers_forward(r, t.q);
    mabd_redmax_changes c = g->changes;
    c.q = g->q;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        const mabd_redmax_link* link = &g->sim->links[g->sim->freedoms[k].link];
        g->q[k] = mabd_redmax_pass_is_centered(r, link) ? 0 : t.q[k];
    }
    mabd_redmax_push(&r->s, &c, g->z, NULL);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        g->z[k] = -g->z[k], g->hold[k] = 0;
    }
    pass_rates(r, t);
    mabd_redmax_join_rows(r);
    mabd_redmax_apply(&r->s, g->z, g->z);
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        t.v[k] += g->z[k];
    }
    mabd_redmax_pass_set_target(r, i, 0);
}

mabd_status mabd_redmax_impact_forward(mabd_redmax_pass* r) {
    impact_view kept;
    MABD_TRY(enter(r, &kept));
    for (int32_t i = 0; i < r->g->direction_count; i++) direction_forward(r, i);
    leave(r, &kept);
    return MABD_OK;
}
