// SPDX-License-Identifier: Apache-2.0
// Sweeps over the links of one lean part.

#include "formulation/redmax/lean_text.h"

#include "base/isa.h"

#include <string.h>

static plain_tree tree_of(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_part* part = s->part;
    const size_t link = (size_t)part->link_first, freedom = (size_t)part->freedom_first;
    const size_t ball = (size_t)part->structure.ball_first;
    const mabd_redmax_link* first = &sim->links[link];
    const mabd_redmax_freedom* f = &sim->freedoms[freedom];
    const mabd_vec3 g = mabd_v3_load(sim->model->gravity);
    const bool ruled = part->structure.ruled;
    const mabd_real* rules = sim->lean_law + MABD_LEAN_LAW * freedom;
    const plain_tree t = {
        .links = sim->lean + link,
        .rest = {&first->rest, sizeof *first},
        .inertia = {&first->M, sizeof *first},
        .law = ruled ? (plain_constants){rules, MABD_LEAN_LAW * sizeof *rules}
                     : (plain_constants){&f->k, sizeof *f},
        .ruled = ruled,
        .fall = {-g.x, -g.y, -g.z},
        .q = sim->q + freedom,
        .v = sim->v + freedom,
        .a = sim->a + freedom,
        .r = sim->r + freedom,
        .base = sim->base_force + freedom,
        .E = (mabd_real*)(sim->E + link),
        .V = (mabd_real*)(sim->V + link),
        .A = (mabd_real*)(sim->A + link),
        .F = (mabd_real*)(sim->F + link),
        .XV = (mabd_real*)(sim->XV + link),
        .XA = (mabd_real*)(sim->XA + link),
        .Sv = (mabd_real*)(sim->Sv + link),
        .N = (mabd_quad*)(sim->N + MABD_LEAN_SLOT * (size_t)part->structure.slot_first),
        .B = sim->B + MABD_VARIATION * freedom,
        .K = sim->K + MABD_VARIATION * freedom,
        .G = (mabd_real*)(sim->G + freedom),
        .D = sim->D + 3 * freedom,
        .upper = sim->lean_upper + freedom,
        .stiff = sim->stiff + freedom,
        .column = MABD_VARIATION,
        .center = s->from_node ? s->from_node->turn + 4 * ball : NULL,
        .chart = sim->lean_chart + MABD_LEAN_CHART * ball,
        .up = sim->up + MABD_VARIATION * link,
        .x = sim->x + MABD_VARIATION * link,
        .u = sim->u + freedom};
    return t;
}

// ---- bars of rates and accelerations -----------------------------------------------------------
// mabd_redmax_pull_back (tangent_motion.c) of a lean part. With the bar (a, b) of a wrench, V =
// (w, v) and M V = (p, f), a link itself gives to the bars of (dV, dA)
//
//   N'(a, b) = ( (p x a + f x b; f x a) + M (a x w; a x v + b x w) ;  M (a; b) )
//
// Links are MABD_VARIATION reals apart, as parameters expect them (tangent_parameter.c).

static void pull_inertia(const mabd_real* M, const mabd_real* V, const mabd_real* bar,
                         mabd_real* up) {
    mabd_real h[6], turn[6], x[3], y[3];
    plain_momentum(M, V, h);
    plain_cross(bar, V, turn);
    plain_cross(bar, V + 3, turn + 3);
    plain_cross(bar + 3, V, x);
    for (int j = 0; j < 3; j++) turn[3 + j] += x[j];
    plain_momentum(M, turn, up);
    plain_cross(h, bar, x);
    plain_cross(h + 3, bar + 3, y);
    for (int j = 0; j < 3; j++) up[j] += x[j] + y[j];
    plain_cross(h + 3, bar, x);
    for (int j = 0; j < 3; j++) up[3 + j] += x[j];
    plain_momentum(M, bar, up + 6);
}

static void pull_down(const plain_tree* t, const mabd_real* z, int32_t from, int32_t to) {
    for (int32_t i = from; i < to; i++) {
        const mabd_lean_link* link = &t->links[i];
        mabd_real* up = t->up + MABD_VARIATION * (size_t)i;
        mabd_real* bar = t->x + MABD_VARIATION * (size_t)i;
        memset(up, 0, MABD_VARIATION * sizeof *up);
        if (link->parent >= 0) {
            const mabd_real* parent = t->x + MABD_VARIATION * (size_t)link->parent;
            plain_to_child(t->E + 12 * (size_t)i, parent, bar);
        } else {
            memset(bar, 0, 6 * sizeof *bar);
        }
        if (link->count == 1) bar[link->axis] += z[link->freedom] * link->sign;
        if (link->count == 3) plain_add_triple(t, link, z + link->freedom, bar);
        if (!link->body) continue;
        pull_inertia(plain_constant(&t->inertia, i), t->V + 6 * (size_t)i, bar, up);
    }
}

static void pull_push(const plain_tree* t, int32_t i) {
    plain_transfer_back(t, i, t->up + MABD_VARIATION * (size_t)i,
                        t->up + MABD_VARIATION * (size_t)t->links[i].parent);
}

// Bars of the rate and acceleration of freedom k of a link along an axis: Bv'x + d z, Ba'x + I z.
static void pull_freedom(const plain_tree* t, int32_t i, int axis, int32_t k, const mabd_real* z,
                         mabd_real* v, mabd_real* a) {
    const mabd_real sign = t->links[i].sign, *law = plain_constant(&t->law, k);
    const mabd_real* up = t->up + MABD_VARIATION * (size_t)i;
    mabd_real dV[6] = {0}, sum = sign * up[axis] + law[1] * z[k];
    plain_add_unit_cross(t->XV + 6 * (size_t)i, axis, sign, dV);
    for (int j = 0; j < 6; j++) sum += dV[j] * up[6 + j];
    v[k] = sum;
    a[k] = sign * up[6 + axis] + law[2] * z[k];
}

// Those of a ball: Bv = (J ; ad(XV) J + J' + dJ(.) v), Ba = (0 ; J), and its dampers D and armature
// I give J'(D w + I alpha) to r.
static void pull_ball(const plain_tree* t, int32_t i, const mabd_real* z, mabd_real* v,
                      mabd_real* a) {
    const mabd_lean_link* link = &t->links[i];
    const int32_t first = link->freedom;
    const plain_ball* x = plain_ball_of(t, link);
    const mabd_real *up = t->up + MABD_VARIATION * (size_t)i, *XV = t->XV + 6 * (size_t)i;
    plain_slopes d;
    mabd_real w[3];
    plain_slope_ball(x, t->q + first, t->v + first, t->a + first, &d);
    plain_turn(x->J, z + first, w);
    for (int k = 0; k < 3; k++) {
        const mabd_real *J = x->J + 3 * k, *rate = d.rate + 3 * k;
        mabd_real turn[3], push[3], by_v = 0, by_a = 0;
        plain_cross(XV, J, turn);
        plain_cross(XV + 3, J, push);
        for (int j = 0; j < 3; j++) {
            const mabd_real* law = plain_constant(&t->law, first + j);
            by_v += J[j] * up[j] + (turn[j] + rate[j]) * up[6 + j] + push[j] * up[9 + j];
            by_v += w[j] * (law[1] * J[j] + law[2] * rate[j]);
            by_a += J[j] * (up[6 + j] + law[2] * w[j]);
        }
        v[first + k] = by_v, a[first + k] = by_a;
    }
}

static void pull_up(const plain_tree* t, const mabd_real* z, mabd_real* v, mabd_real* a,
                    int32_t from, int32_t to) {
    for (int32_t i = to - 1; i >= from; i--) {
        const mabd_lean_link* link = &t->links[i];
        if (link->ball >= 0) {
            pull_ball(t, i, z, v, a);
        } else {
            for (int j = 0; j < link->count; j++) {
                pull_freedom(t, i, link->axis + j, link->freedom + j, z, v, a);
            }
        }
        if (t->links[i].parent >= from) pull_push(t, i);
    }
}

// ---- the table ---------------------------------------------------------------------------------

static void links(const mabd_lean_sweep* sweep, int32_t from, int32_t to, int32_t* bad) {
    const plain_tree t = tree_of(sweep->s);
    const plain_weights w = {sweep->w.q, sweep->w.v, sweep->w.a};
    const int32_t first = sweep->s->part->freedom_first;
    switch (sweep->phase) {
    case MABD_LEAN_RESIDUAL_DOWN:
        plain_residual_down(&t, from, to);
        break;
    case MABD_LEAN_RESIDUAL_UP:
        plain_residual_up(&t, from, to);
        break;
    case MABD_LEAN_FACTOR:
        plain_factor_up(&t, &w, from, to, bad);
        break;
    case MABD_LEAN_CLEAR:
        plain_clear_up(&t, from, to);
        break;
    case MABD_LEAN_SOLVE_UP:
        plain_solve_up(&t, sweep->in + first, from, to);
        break;
    case MABD_LEAN_SOLVE_DOWN:
        plain_solve_down(&t, sweep->out + first, from, to);
        break;
    case MABD_LEAN_REACT:
        plain_react(&t, sweep->in + first, sweep->out + first, from, to);
        break;
    case MABD_LEAN_BACK_UP:
        plain_back_up(&t, sweep->in + first, from, to);
        break;
    case MABD_LEAN_BACK_DOWN:
        plain_back_down(&t, sweep->out + first, from, to);
        break;
    case MABD_LEAN_PULL_DOWN:
        pull_down(&t, sweep->in + first, from, to);
        break;
    case MABD_LEAN_PULL_UP:
        pull_up(&t, sweep->in + first, sweep->out + first, sweep->more + first, from, to);
        break;
    }
}

static void push(const mabd_lean_sweep* sweep, int32_t i) {
    const plain_tree t = tree_of(sweep->s);
    switch (sweep->phase) {
    case MABD_LEAN_RESIDUAL_UP:
        plain_residual_push(&t, i);
        break;
    case MABD_LEAN_FACTOR:
        plain_factor_push(&t, i);
        break;
    case MABD_LEAN_SOLVE_UP:
        plain_solve_push(&t, i);
        break;
    case MABD_LEAN_BACK_UP:
        plain_back_push(&t, i);
        break;
    case MABD_LEAN_PULL_UP:
        pull_push(&t, i);
        break;
    default:
        break;
    }
}

#define TABLE_OF_(isa) mabd_lean_table_##isa
#define TABLE_OF(isa)  TABLE_OF_(isa)
extern const mabd_lean_table TABLE_OF(MABD_ISA);
const mabd_lean_table TABLE_OF(MABD_ISA) = {links, push};
