// SPDX-License-Identifier: Apache-2.0
// Laws on the axes of a ball.
//
// Dampers and armature act on the relative angular velocity rho = P v of body b, in the joint frame
// on b, and on rho'; springs, servos and motors on the rotation vector theta of the joint, from its
// frame on a to that on b, theta' = N(theta) rho (math/so3.h, N with columns n_k):
//
//   tau = P' y,   y = -D rho - I rho' + N' f(theta),   rho' = P a + (sum v_k dP_k) v
//   f = base + push - K theta - bound tanh(theta'/speed) for controls, theta followed over whole
//   turns; for motors it is constant and theta is at most pi
//
// If the tree reaches the joint from a, P = J(q). From b the ball turns a against b, by R = C
// exp[q] with C the centre of the chart, and P = -C exp([q]) J(q) = -C J(-q): the same functions of
// the chart at -q. Written with a sign e = +-1, turn C or 1 and chart at e q:
//
//   P u = e C J u     (sum w_k dP_k) u = C dJ(w) u     its derivative along d = e C d2J(d, w) u
//
// Euler angles, a string of screws, are reversed with the opposite axes: P = J of that string at q,
// with e = 1 either way.

#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/redmax_pins.h"

/// P and its derivatives at an iterate.
typedef struct ball_rate {
    mabd_turn_chart chart;
    mabd_mat3 C;
    mabd_real e;
} ball_rate;

static mabd_vec3 rate_mul(const ball_rate* p, mabd_vec3 u) {
    return mabd_v3_scale(p->e, mabd_m3_mul(p->C, mabd_turn_mul(&p->chart, u)));
}
static mabd_vec3 rate_slope(const ball_rate* p, mabd_vec3 w, mabd_vec3 u) {
    return mabd_m3_mul(p->C, mabd_turn_slope(&p->chart, w, u));
}
static mabd_vec3 rate_bend(const ball_rate* p, mabd_vec3 d, mabd_vec3 w, mabd_vec3 u) {
    return mabd_v3_scale(p->e, mabd_m3_mul(p->C, mabd_turn_bend(&p->chart, d, w, u)));
}

static mabd_vec3 unit(int k) {
    return mabd_v3(k == 0, k == 1, k == 2);
}
static mabd_vec3 scale_each(mabd_vec3 d, mabd_vec3 x) {
    return mabd_v3(d.x * x.x, d.y * x.y, d.z * x.z);
}

/// Forces on a rotation vector: f = base - K theta.
typedef struct turn_force {
    mabd_vec3 theta, f, K;
    mabd_mat3 N;
    mabd_real slope; // of the factor c of N
} turn_force;

static turn_force turn_force_at(mabd_vec3 theta, mabd_vec3 base, mabd_vec3 K) {
    turn_force t;
    t.theta = theta, t.K = K;
    t.f = mabd_v3_sub(base, scale_each(K, theta));
    t.N = mabd_so3_log_gradients(theta);
    t.slope = mabd_so3_gradient_slope(theta);
    return t;
}

// Derivative of N' f(theta) along dtheta; N' y = y - theta x y / 2 + c theta x (theta x y).
static mabd_vec3 turn_force_slope(const turn_force* t, mabd_vec3 d) {
    const mabd_vec3 y = t->f, x = t->theta, xy = mabd_v3_cross(x, y), dy = mabd_v3_cross(d, y);
    const mabd_real c = mabd_so3_gradient_factor(x);
    mabd_vec3 out = mabd_m3_tmul(t->N, mabd_v3_scale(-1, scale_each(t->K, d)));
    out = mabd_v3_axpy((mabd_real)-0.5, dy, out);
    out = mabd_v3_axpy(t->slope * mabd_v3_dot(x, d), mabd_v3_cross(x, xy), out);
    out = mabd_v3_axpy(c, mabd_v3_cross(d, xy), out);
    return mabd_v3_axpy(c, mabd_v3_cross(x, dy), out);
}

/// Everything that the laws of a ball need at an iterate.
typedef struct ball_laws {
    ball_rate P;
    mabd_vec3 v, a, D, I;
    mabd_vec3 y; // of the file head
    turn_force turn[2];
    bool smooth;        // has smooth friction
    mabd_vec3 friction; // minus its derivative by theta'
} ball_laws;

static mabd_vec3 gather(const mabd_redmax_sim* sim, const mabd_redmax_link* link, size_t offset) {
    mabd_real x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = *(const mabd_real*)((const char*)&sim->freedoms[link->first + k] + offset);
    }
    return mabd_v3_load(x);
}

// Add smooth friction to the forces on theta.
static void add_friction(const mabd_redmax_sim* sim, const mabd_redmax_link* link, mabd_vec3 rho,
                         ball_laws* l) {
    mabd_real force[3], slope[3], rate[3];
    mabd_v3_store(mabd_m3_mul(l->turn[0].N, rho), rate);
    l->smooth = false;
    for (int k = 0; k < 3; k++) {
        const mabd_redmax_freedom* f = &sim->freedoms[link->first + k];
        l->smooth |= f->control && f->control->friction_speed > 0;
        force[k] = mabd_redmax_friction(f, rate[k], &slope[k]);
    }
    l->friction = mabd_v3_load(slope);
    l->turn[0].f = mabd_v3_add(l->turn[0].f, mabd_v3_load(force));
}

// Derivative of the rates theta' = N rho for changes d of theta and drho of rho, by
// N rho = rho + theta x rho/2 + c theta x (theta x rho).
static mabd_vec3 rate_change(const ball_laws* l, mabd_vec3 d, mabd_vec3 drho) {
    const mabd_vec3 x = l->turn[0].theta, rho = rate_mul(&l->P, l->v);
    const mabd_real c = mabd_so3_gradient_factor(x);
    const mabd_vec3 xr = mabd_v3_cross(x, rho), dr = mabd_v3_cross(d, rho);
    mabd_vec3 rate = mabd_v3_axpy((mabd_real)0.5, dr, mabd_m3_mul(l->turn[0].N, drho));
    rate = mabd_v3_axpy(l->turn[0].slope * mabd_v3_dot(x, d), mabd_v3_cross(x, xr), rate);
    rate = mabd_v3_axpy(c, mabd_v3_cross(d, xr), rate);
    return mabd_v3_axpy(c, mabd_v3_cross(x, dr), rate);
}

// Derivative of N' f by the rates theta', for changes of theta and rho.
static mabd_vec3 friction_slope(const ball_laws* l, mabd_vec3 d, mabd_vec3 drho) {
    if (!l->smooth) return mabd_v3(0, 0, 0);
    const mabd_vec3 rate = rate_change(l, d, drho);
    return mabd_m3_tmul(l->turn[0].N, mabd_v3_scale(-1, scale_each(l->friction, rate)));
}

static ball_laws laws_at(const mabd_redmax_solve* s, const mabd_redmax_link* link) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_ball* ball = &sim->balls[link->ball];
    const mabd_vec3 zero = mabd_v3(0, 0, 0), all = mabd_v3(1, 1, 1);
    const mabd_vec3 K = gather(sim, link, offsetof(mabd_redmax_freedom, k));
    ball_laws l;
    l.P = (ball_rate){ball->chart, mabd_m3_identity(), 1};
    if (link->reversed) {
        const bool euler = mabd_turn_is_euler(&ball->chart);
        const mabd_turn_kind back = {ball->chart.kind.number, !ball->chart.kind.reversed};
        const mabd_vec3 q = mabd_v3_load(sim->q + link->first);
        l.P.e = euler ? 1 : -1;
        l.P.chart = mabd_turn_chart_at(back, mabd_v3_scale(l.P.e, q));
        l.P.C = mabd_q_matrix(mabd_redmax_center(s, link));
    }
    l.v = mabd_v3_load(sim->v + link->first), l.a = mabd_v3_load(sim->a + link->first);
    l.D = gather(sim, link, offsetof(mabd_redmax_freedom, d));
    l.I = gather(sim, link, offsetof(mabd_redmax_freedom, I));
    const mabd_mat3 R = link->reversed ? mabd_m3_transpose(ball->R) : ball->R;
    const mabd_vec3 phi = mabd_so3_log(R);
    const mabd_vec3 near = mabd_v3_load(s->from_node->theta + 3 * (size_t)link->ball);
    const mabd_vec3 push = gather(sim, link, offsetof(mabd_redmax_freedom, push));
    const mabd_vec3 base = mabd_v3_add(push, mabd_v3_load(s->force + link->first));
    l.turn[0] = turn_force_at(mabd_rotvec_unwrap(phi, near, all), base, K);
    l.turn[1] = turn_force_at(phi, mabd_v3_load(s->motor + link->first), zero);
    const mabd_vec3 rho = rate_mul(&l.P, l.v);
    add_friction(sim, link, rho, &l);
    const mabd_vec3 change = mabd_v3_add(rate_mul(&l.P, l.a), rate_slope(&l.P, l.v, l.v));
    l.y =
        mabd_v3_add(mabd_m3_tmul(l.turn[0].N, l.turn[0].f), mabd_m3_tmul(l.turn[1].N, l.turn[1].f));
    l.y = mabd_v3_sub(l.y, scale_each(l.D, rho));
    l.y = mabd_v3_sub(l.y, scale_each(l.I, change));
    return l;
}

// Derivative of y by q along e_k.
static mabd_vec3 y_by_q(const ball_laws* l, mabd_vec3 e) {
    const mabd_vec3 turned = rate_mul(&l->P, e);
    mabd_vec3 dy = mabd_v3_scale(-1, scale_each(l->D, rate_slope(&l->P, e, l->v)));
    const mabd_vec3 change =
        mabd_v3_add(rate_slope(&l->P, e, l->a), rate_bend(&l->P, e, l->v, l->v));
    dy = mabd_v3_sub(dy, scale_each(l->I, change));
    for (int i = 0; i < 2; i++) {
        dy = mabd_v3_add(dy, turn_force_slope(&l->turn[i], mabd_m3_mul(l->turn[i].N, turned)));
    }
    const mabd_vec3 theta = mabd_m3_mul(l->turn[0].N, turned);
    return mabd_v3_add(dy, friction_slope(l, theta, rate_slope(&l->P, e, l->v)));
}

// Derivative of y by v along e_k.
static mabd_vec3 y_by_v(const ball_laws* l, mabd_vec3 e) {
    const mabd_vec3 change = mabd_v3_add(rate_slope(&l->P, e, l->v), rate_slope(&l->P, l->v, e));
    const mabd_vec3 turn = rate_mul(&l->P, e);
    const mabd_vec3 dy =
        mabd_v3_sub(mabd_v3_scale(-1, scale_each(l->D, turn)), scale_each(l->I, change));
    return mabd_v3_add(dy, friction_slope(l, mabd_v3(0, 0, 0), turn));
}

void mabd_redmax_ball_laws(const mabd_redmax_solve* s, int32_t i, mabd_real* tau) {
    const ball_laws l = laws_at(s, &s->sim->links[i]);
    for (int k = 0; k < 3; k++) tau[k] = mabd_v3_dot(rate_mul(&l.P, unit(k)), l.y);
}

void mabd_redmax_ball_turn(const mabd_redmax_solve* s, int32_t i, mabd_vec3* theta,
                           mabd_mat3* rows) {
    const ball_laws l = laws_at(s, &s->sim->links[i]);
    *theta = l.turn[0].theta;
    *rows = mabd_m3(mabd_m3_mul(l.turn[0].N, rate_mul(&l.P, unit(0))),
                    mabd_m3_mul(l.turn[0].N, rate_mul(&l.P, unit(1))),
                    mabd_m3_mul(l.turn[0].N, rate_mul(&l.P, unit(2))));
}

// Y^-T: the columns are cross products of those of Y over its determinant.
static mabd_mat3 inverse_transposed(mabd_mat3 Y) {
    const mabd_vec3 a = mabd_v3_cross(Y.c2, Y.c3), b = mabd_v3_cross(Y.c3, Y.c1),
                    c = mabd_v3_cross(Y.c1, Y.c2);
    const mabd_real over = 1 / mabd_v3_dot(Y.c1, a);
    return mabd_m3(mabd_v3_scale(over, a), mabd_v3_scale(over, b), mabd_v3_scale(over, c));
}

mabd_vec3 mabd_redmax_ball_forces(mabd_mat3 rows, mabd_vec3 tau) {
    return mabd_m3_mul(inverse_transposed(rows), tau);
}

// Rows of the held components of theta (factor.c).
static void write_holds(const mabd_redmax_solve* s, int32_t i) {
    const mabd_redmax_link* link = &s->sim->links[i];
    mabd_redmax_ball* ball = &s->sim->balls[link->ball];
    mabd_vec3 theta;
    ball->holds = false;
    for (int32_t k = 0; k < 3; k++) ball->holds |= s->sim->freedoms[link->first + k].held;
    if (!ball->holds) return;
    mabd_redmax_ball_turn(s, i, &theta, &ball->rows);
    const mabd_mat3 over = inverse_transposed(ball->rows);
    mabd_real left[3];
    for (int k = 0; k < 3; k++) left[k] = s->sim->freedoms[link->first + k].held ? 0 : 1;
    const mabd_vec3 mask = mabd_v3_load(left);
    ball->forces =
        mabd_m3(scale_each(mask, over.c1), scale_each(mask, over.c2), scale_each(mask, over.c3));
}

void mabd_redmax_ball_derivatives(const mabd_redmax_solve* s, int32_t i) {
    const mabd_redmax_link* link = &s->sim->links[i];
    mabd_redmax_ball* ball = &s->sim->balls[link->ball];
    const ball_laws l = laws_at(s, link);
    write_holds(s, i);
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 e = unit(k), by_q = y_by_q(&l, e), by_v = y_by_v(&l, e);
        const mabd_vec3 by_a = mabd_v3_scale(-1, scale_each(l.I, rate_mul(&l.P, e)));
        for (int j = 0; j < 3; j++) { // row j, column k; P'y varies with P too
            const mabd_vec3 P = rate_mul(&l.P, unit(j));
            ball->k[3 * j + k] =
                -mabd_v3_dot(P, by_q) - mabd_v3_dot(rate_slope(&l.P, e, unit(j)), l.y);
            ball->d[3 * j + k] = -mabd_v3_dot(P, by_v);
            ball->inertia[3 * j + k] = -mabd_v3_dot(P, by_a);
        }
    }
}

// ---- derivatives by other things than the motion -----------------------------------------------

mabd_redmax_axis_change mabd_redmax_ball_axis(const mabd_redmax_solve* s, int32_t i, int axis) {
    const ball_laws l = laws_at(s, &s->sim->links[i]);
    const mabd_vec3 e = unit(axis), rho = rate_mul(&l.P, l.v);
    const mabd_vec3 change = mabd_v3_add(rate_mul(&l.P, l.a), rate_slope(&l.P, l.v, l.v));
    const mabd_vec3 force = mabd_m3_tmul(l.turn[0].N, e), motor = mabd_m3_tmul(l.turn[1].N, e);
    mabd_redmax_axis_change c;
    c.x = mabd_v3_get(l.turn[0].theta, axis);
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 P = rate_mul(&l.P, unit(k));
        c.force[k] = mabd_v3_dot(P, force), c.motor[k] = mabd_v3_dot(P, motor);
        c.damping[k] = -mabd_v3_get(P, axis) * mabd_v3_get(rho, axis);
        c.armature[k] = -mabd_v3_get(P, axis) * mabd_v3_get(change, axis);
    }
    return c;
}

// In a local chart: a turn d of the centre C, C exp([d]): the joint of a tree that reaches it from
// a turns by exp([q])'d in the frame of b. From b, the joint turns by -C d, and P by [C d].
static mabd_vec3 turn_of_center(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                                const ball_laws* l, mabd_vec3 d) {
    if (link->reversed) return mabd_v3_scale(-1, mabd_m3_mul(l->P.C, d));
    return mabd_m3_tmul(mabd_turn_rotation(&s->sim->balls[link->ball].chart), d);
}

mabd_mat3 mabd_redmax_ball_turn_by_center(const mabd_redmax_solve* s, int32_t i) {
    const mabd_redmax_link* link = &s->sim->links[i];
    const mabd_vec3 zero = mabd_v3(0, 0, 0);
    if (mabd_redmax_is_charted(s, link)) return mabd_m3(zero, zero, zero);
    const ball_laws l = laws_at(s, link);
    const mabd_mat3 turns =
        mabd_m3(turn_of_center(s, link, &l, unit(0)), turn_of_center(s, link, &l, unit(1)),
                turn_of_center(s, link, &l, unit(2)));
    return mabd_m3_product(l.turn[0].N, turns);
}

// Change of rho by a turn d of the centre of the chart.
static mabd_vec3 rate_by_center(const mabd_redmax_link* link, const ball_laws* l, mabd_vec3 d) {
    if (!link->reversed) return mabd_v3(0, 0, 0);
    return mabd_v3_cross(mabd_m3_mul(l->P.C, d), rate_mul(&l->P, l->v));
}

void mabd_redmax_ball_rate_changes(const mabd_redmax_solve* s, int32_t i, const mabd_real* v,
                                   mabd_mat3* by_q, mabd_mat3* by_center) {
    const mabd_redmax_link* link = &s->sim->links[i];
    const bool charted = mabd_redmax_is_charted(s, link);
    ball_laws l = laws_at(s, link);
    mabd_vec3 columns[3], turned[3];
    l.v = mabd_v3_load(v);
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 e = unit(k), theta = mabd_m3_mul(l.turn[0].N, rate_mul(&l.P, e));
        columns[k] = rate_change(&l, theta, rate_slope(&l.P, e, l.v));
        turned[k] = mabd_v3(0, 0, 0);
        if (charted) continue;
        const mabd_vec3 joint = turn_of_center(s, link, &l, e);
        turned[k] = rate_change(&l, mabd_m3_mul(l.turn[0].N, joint), rate_by_center(link, &l, e));
    }
    *by_q = mabd_m3(columns[0], columns[1], columns[2]);
    *by_center = mabd_m3(turned[0], turned[1], turned[2]);
}

mabd_mat3 mabd_redmax_ball_center(const mabd_redmax_solve* s, int32_t i) {
    const mabd_redmax_link* link = &s->sim->links[i];
    const ball_laws l = laws_at(s, link);
    const mabd_vec3 rho = rate_mul(&l.P, l.v);
    const mabd_vec3 change = mabd_v3_add(rate_mul(&l.P, l.a), rate_slope(&l.P, l.v, l.v));
    mabd_vec3 columns[3];
    for (int m = 0; m < 3; m++) {
        const mabd_vec3 t = mabd_m3_mul(l.P.C, unit(m));
        const mabd_vec3 joint = turn_of_center(s, link, &l, unit(m));
        mabd_real by[3];
        mabd_vec3 dy = mabd_v3(0, 0, 0);
        for (int k = 0; k < 2; k++) {
            const mabd_vec3 theta = mabd_m3_mul(l.turn[k].N, joint);
            dy = mabd_v3_add(dy, turn_force_slope(&l.turn[k], theta));
        }
        dy = mabd_v3_add(dy, friction_slope(&l, mabd_m3_mul(l.turn[0].N, joint),
                                            rate_by_center(link, &l, unit(m))));
        if (link->reversed) {
            dy = mabd_v3_sub(dy, scale_each(l.D, mabd_v3_cross(t, rho)));
            dy = mabd_v3_sub(dy, scale_each(l.I, mabd_v3_cross(t, change)));
        }
        for (int k = 0; k < 3; k++) {
            const mabd_vec3 P = rate_mul(&l.P, unit(k));
            by[k] = mabd_v3_dot(P, dy);
            if (link->reversed) by[k] += mabd_v3_dot(mabd_v3_cross(t, P), l.y);
        }
        columns[m] = mabd_v3_load(by);
    }
    return mabd_m3(columns[0], columns[1], columns[2]);
}
