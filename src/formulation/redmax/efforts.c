// SPDX-License-Identifier: Apache-2.0
// Forces of servos and rate drives on axes at a state, and their derivatives.
//
// A servo with gains has kp (p - x) - kd x', a drive at its limit that limit. What holds its axis,
// a rigid servo, or a drive without gains below its limit, has what the wrench F of the link leaves
// besides spring, damper, friction and motor:
//
//   f = S'F + k (x - rest) + d x' + friction - motor
//
// and on a component of the rotation vector theta of a ball, with the torque t = F_w, or -R F_w of
// a joint that is reached from b, in the frame of b,
//
//   f = e'J(theta)'(t + D rho) + k (theta - rest) + side friction     J = N(theta)^-1
//
// F is without what accelerates the armature, so f is too. It is not told apart where armature,
// motors or smooth friction act on the same rotation, or a pin on the same axis.

#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_pins.h"
#include "formulation/redmax/redmax_tangent.h"
#include "rigid/user_change.h"

#include <math.h>
#include <string.h>

/// An axis that is held and moves by less than this many tolerances in a step rests.
#define RESTING_TOLERANCES 10

/// A force and its derivatives.
typedef struct effort {
    mabd_real force;
    mabd_real by_x, by_rate, by_target;
    mabd_real by_spring, by_rest, by_damping, by_friction;
    bool holds;   // derives from the wrench too
    bool by_turn; // rate is that of the rotation vector, else a component of rho
} effort;

static bool is_ball(const mabd_redmax_sim* sim, int32_t k) {
    return sim->links[sim->freedoms[k].link].kind == MABD_PRIMITIVE_BALL;
}

// True if a control has a servo or rate drive that holds its axis below its limit.
static bool holds_axis(const mabd_control* c) {
    const bool gains = c->drive_gain > 0 || c->drive_damping > 0;
    return c->rigid || (c->drive && !gains);
}

// True if the force of a drive that holds is not told apart from others on its axis.
static bool is_mixed(const mabd_redmax_sim* sim, int32_t k) {
    const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
    if (sim->freedoms[k].control->pin.friction > 0) return true;
    bool mixed = false;
    for (int32_t i = link->first; i < link->first + link->count && is_ball(sim, k); i++) {
        const mabd_redmax_freedom* f = &sim->freedoms[i];
        mixed |= f->engine != NULL;
        mixed |= f->control && (f->control->armature > 0 || f->control->friction_speed > 0 ||
                                f->control->pin.friction > 0);
    }
    return mixed;
}

static mabd_real target_at(const mabd_redmax_sim* sim, const mabd_redmax_freedom* f) {
    const mabd_signal* signal = f->control->drive ? f->control->drive : f->control->servo;
    const mabd_real h = sim->def.h;
    if (sim->inputs.target_set[f->coordinate]) return sim->inputs.target[f->coordinate];
    return mabd_rigid_signal(signal, sim->time - h, h, sim->time);
}

static mabd_real motor_at(const mabd_redmax_sim* sim, const mabd_redmax_freedom* f) {
    const mabd_real h = sim->def.h;
    if (!f->engine) return 0;
    const size_t at = (size_t)(sim->model->coordinate_count + f->motor);
    if (sim->inputs.target_set[at]) return sim->inputs.target[at];
    return mabd_rigid_signal(f->engine->force, sim->time - h, h, sim->time);
}

// ---- balls -------------------------------------------------------------------------------------

/// J(theta)'t and what it derives from, of a component of a ball.
typedef struct held_turn {
    mabd_redmax_ball_axes at;
    mabd_turn_chart chart; // at theta
    mabd_vec3 w, torque;   // F_w, and t + D rho
    mabd_mat3 R;           // t = R w
    mabd_vec3 D;
} held_turn;

static held_turn held_turn_at(const mabd_redmax_sim* sim, const mabd_redmax_link* link) {
    const mabd_turn_kind exponential = {.number = MABD_TURN_EXPONENTIAL};
    const int32_t i = sim->freedoms[link->first].link;
    held_turn t = {.at = mabd_redmax_ball_axes_at(sim, link), .R = mabd_m3_identity()};
    mabd_real damping[3] = {0};
    for (int k = 0; k < 3; k++) {
        const mabd_control* c = sim->freedoms[link->first + k].control;
        if (c) damping[k] = c->damping;
    }
    if (link->reversed) {
        const mabd_mat3 R = mabd_q_matrix(mabd_q_load(sim->now.turn + 4 * (size_t)link->ball));
        t.R = mabd_m3_axpy(-2, R, R);
    }
    t.chart = mabd_turn_chart_at(exponential, t.at.theta);
    t.D = mabd_v3_load(damping);
    t.w = mabd_sp_load(sim->wrench + 6 * (size_t)i).w;
    t.torque = mabd_m3_mul(t.R, t.w);
    t.torque.x += t.D.x * t.at.rho.x, t.torque.y += t.D.y * t.at.rho.y;
    t.torque.z += t.D.z * t.at.rho.z;
    return t;
}

static mabd_vec3 unit(int k) {
    return mabd_v3(k == 0, k == 1, k == 2);
}

// Bars of the torque about component `own` of the rotation vector: of the wrench, and of the state.
static void held_turn_back(mabd_redmax_gradient* g, const mabd_redmax_link* link, int own,
                           mabd_real bar) {
    const mabd_redmax_sim* sim = g->sim;
    const held_turn t = held_turn_at(sim, link);
    const mabd_redmax_tangent now = g->directions[0].now;
    const mabd_vec3 y = mabd_v3_scale(bar, mabd_turn_mul(&t.chart, unit(own)));
    const mabd_vec3 w = mabd_m3_tmul(t.R, y);
    const int32_t i = sim->freedoms[link->first].link;
    mabd_real theta[3], rho[3];
    for (int k = 0; k < 3; k++) { // J varies with theta
        const mabd_vec3 slope = mabd_turn_slope(&t.chart, unit(k), unit(own));
        theta[k] = bar * mabd_v3_dot(t.torque, slope);
    }
    mabd_v3_store(mabd_v3(t.D.x * y.x, t.D.y * y.y, t.D.z * y.z), rho);
    mabd_pass_m3(true, 1, t.at.theta_turn, theta, now.q + link->first);
    mabd_pass_m3(true, 1, t.at.rho_turn, rho, now.q + link->first);
    mabd_pass_m3(true, 1, t.at.rho_rate, rho, now.v + link->first);
    g->wrench[i].w = mabd_v3_add(g->wrench[i].w, w);
    if (!link->reversed) return;
    mabd_real* turn = now.q + link->first; // d(R w) = R (turn x w)
    mabd_v3_store(mabd_v3_add(mabd_v3_load(turn), mabd_v3_cross(t.w, w)), turn);
}

// ---- an axis -----------------------------------------------------------------------------------

// Side of dry friction on an axis that is held: that of its motion. Its branch may be the other
// one, which changes nothing in a solve.
static int side_of_motion(const mabd_redmax_sim* sim, mabd_real rate) {
    const mabd_real way = sim->def.h * rate;
    if (fabs(way) <= RESTING_TOLERANCES * sim->def.redmax.newton_tolerance) return 0;
    return way > 0 ? 1 : -1;
}

static effort effort_of_hold(const mabd_redmax_sim* sim, int32_t k, const mabd_real* x) {
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    const mabd_redmax_link* link = &sim->links[f->link];
    const mabd_control* c = f->control;
    const bool ball = is_ball(sim, k);
    effort e = {
        .holds = true, .by_x = c->spring, .by_spring = x[0] - c->rest, .by_rest = -c->spring};
    mabd_real slope = 0;
    e.force = c->spring * (x[0] - c->rest);
    if (ball) {
        const held_turn t = held_turn_at(sim, link);
        e.force += mabd_v3_dot(t.torque, mabd_turn_mul(&t.chart, unit(k - link->first)));
    } else {
        const mabd_spatial F = mabd_sp_load(sim->wrench + 6 * (size_t)f->link);
        e.by_rate = c->damping, e.by_damping = x[1];
        e.force += mabd_sp_dot(sim->S[k], F) + c->damping * x[1] - motor_at(sim, f);
        const mabd_real smooth = mabd_redmax_friction(f, x[1], &slope);
        e.force -= smooth, e.by_rate += slope;
        if (c->friction > 0 && c->friction_speed > 0) e.by_friction = -smooth / c->friction;
    }
    if (c->law && c->friction > 0 && !(c->friction_speed > 0)) {
        const int side = side_of_motion(sim, x[1]);
        e.force += (mabd_real)side * c->friction, e.by_friction = (mabd_real)side;
    }
    return e;
}

static effort effort_of(const mabd_redmax_sim* sim, int32_t k) {
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    const mabd_control* c = f->control;
    const mabd_axis_branch none = {0};
    const mabd_axis_branch branch = f->law >= 0 ? sim->branch[f->law] : none;
    const mabd_real gain = c->drive ? c->drive_gain : c->gain;
    const mabd_real damping = c->drive ? c->drive_damping : c->gain_damping;
    const bool holds = holds_axis(c);
    mabd_real x[2], axis[2];
    effort e = {.by_turn = c->drive != NULL};
    mabd_redmax_coordinate(sim, &sim->now, k, x);
    mabd_redmax_axis_state(sim, &sim->now, k, axis);
    if (e.by_turn) x[1] = axis[1]; // a limited servo has the rate of its coordinate
    const mabd_real target = target_at(sim, f), pull = gain * (target - x[0]) - damping * x[1];
    int side = c->drive ? branch.box[0] : 0;
    if (c->drive && branch.stop != 0) { // the law does not tell its parts apart at a stop
        const mabd_real ahead = c->drive_rate ? target : target - x[0];
        if (holds || fabs(pull) > c->max_force) side = (holds ? ahead : pull) > 0 ? -1 : 1;
    }
    if (side != 0) {
        e.force = -(mabd_real)side * c->max_force;
        return e;
    }
    if (holds) return effort_of_hold(sim, k, x);
    e.force = pull;
    e.by_x = -gain, e.by_rate = -damping, e.by_target = gain;
    return e;
}

// Joint of a freedom with a servo or rate drive, -1 = none.
static int32_t driven_joint(const mabd_redmax_sim* sim, int32_t k) {
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    if (!f->control || f->axis < 0) return -1;
    if (!f->control->servo && !f->control->drive && !f->control->rigid) return -1;
    return sim->links[f->link].joint;
}

void mabd_redmax_get_efforts(const void* self, mabd_real* efforts) {
    const mabd_redmax_sim* sim = self;
    memset(efforts, 0, 6 * (size_t)sim->model->joint_count * sizeof *efforts);
    mabd_redmax_place_now(sim);
    for (int32_t k = 0; k < sim->freedom_count; k++) {
        const int32_t joint = driven_joint(sim, k);
        if (joint < 0) continue;
        const bool mixed = holds_axis(sim->freedoms[k].control) && is_mixed(sim, k);
        efforts[6 * joint + sim->freedoms[k].axis] =
            mixed ? (mabd_real)NAN : effort_of(sim, k).force;
    }
}

// ---- derivatives -------------------------------------------------------------------------------

// Bars of coordinate and rate of an axis.
static void state_back(const mabd_redmax_gradient* g, int32_t k, const effort* e, mabd_real bar) {
    const mabd_redmax_sim* sim = g->sim;
    const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
    const mabd_redmax_tangent now = g->directions[0].now;
    if (!is_ball(sim, k)) {
        now.q[k] += e->by_x * bar, now.v[k] += e->by_rate * bar;
        return;
    }
    const mabd_redmax_ball_axes b = mabd_redmax_ball_axes_at(sim, link);
    mabd_real theta[3] = {0}, rho[3] = {0};
    theta[k - link->first] = e->by_x * bar, rho[k - link->first] = e->by_rate * bar;
    if (e->by_turn) { // theta' = N(theta) rho = J(theta)^-1 rho
        const mabd_turn_kind exponential = {.number = MABD_TURN_EXPONENTIAL};
        const mabd_turn_chart chart = mabd_turn_chart_at(exponential, b.theta);
        const mabd_mat3 N = mabd_so3_log_gradients(b.theta);
        const mabd_vec3 rate = mabd_m3_mul(N, b.rho);
        const mabd_vec3 back = mabd_m3_tmul(N, mabd_v3_load(rho));
        for (int m = 0; m < 3; m++) { // d(J^-1 rho) = -J^-1 dJ J^-1 rho
            theta[m] -= mabd_v3_dot(back, mabd_turn_slope(&chart, unit(m), rate));
        }
        mabd_v3_store(back, rho);
    }
    mabd_pass_m3(true, 1, b.theta_turn, theta, now.q + link->first);
    mabd_pass_m3(true, 1, b.rho_turn, rho, now.q + link->first);
    mabd_pass_m3(true, 1, b.rho_rate, rho, now.v + link->first);
}

// Bars of the motor that a held force is without, and of the parameters of an axis.
static void parameters_back(mabd_redmax_gradient* g, int32_t k, const effort* e, int64_t step,
                            mabd_real bar) {
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const mabd_parameter* p = &g->parameters[i];
        if (g->parameter_freedom[i] != k) continue;
        if (mabd_redmax_sets_control(p, step)) {
            const bool target = mabd_redmax_sets_target(g, i, step);
            g->product[i] += target ? e->by_target * bar : e->holds ? -bar : 0;
        }
        if (p->kind == MABD_PARAMETER_STIFFNESS) g->product[i] += e->by_spring * bar;
        if (p->kind == MABD_PARAMETER_REST) g->product[i] += e->by_rest * bar;
        if (p->kind == MABD_PARAMETER_DAMPING) g->product[i] += e->by_damping * bar;
        if (p->kind == MABD_PARAMETER_FRICTION) g->product[i] += e->by_friction * bar;
    }
}

// Dampers on the other rotations of a ball act on a held one too.
static void dampers_back(mabd_redmax_gradient* g, const mabd_redmax_link* link, int own,
                         mabd_real bar) {
    const held_turn t = held_turn_at(g->sim, link);
    const mabd_vec3 y = mabd_v3_scale(bar, mabd_turn_mul(&t.chart, unit(own)));
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const int32_t axis = g->parameter_freedom[i] - link->first;
        if (g->parameters[i].kind != MABD_PARAMETER_DAMPING || axis < 0 || axis > 2) continue;
        g->product[i] += mabd_v3_get(y, axis) * mabd_v3_get(t.at.rho, axis);
    }
}

void mabd_redmax_add_effort_bars(mabd_redmax_gradient* g, int64_t step, const mabd_real* bars) {
    const mabd_redmax_sim* sim = g->sim;
    for (int32_t k = 0; k < sim->freedom_count; k++) {
        const int32_t joint = driven_joint(sim, k);
        const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
        const mabd_real bar = joint < 0 ? 0 : bars[6 * joint + sim->freedoms[k].axis];
        if (bar == 0) continue;
        const effort e = effort_of(sim, k);
        state_back(g, k, &e, bar);
        parameters_back(g, k, &e, step, bar);
        if (!e.holds) continue;
        g->has_wrench = true;
        if (is_ball(sim, k)) {
            held_turn_back(g, link, k - link->first, bar);
            dampers_back(g, link, k - link->first, bar);
        } else {
            const int32_t i = sim->freedoms[k].link;
            g->wrench[i] = mabd_sp_axpy(bar, sim->S[k], g->wrench[i]);
        }
    }
}
