// SPDX-License-Identifier: Apache-2.0
// The start state, states that are set, states as bytes.
//
// Coordinates follow from poses by the rows of joint/rows.h, and rates from velocities by their
// Jacobians. States are those that the joints allow (rigid/start.h).

#include "formulation/redmax/redmax_sim.h"

#include "base/error.h"
#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_motion.h"
#include "formulation/redmax/redmax_strings.h"
#include "rigid/row_jacobian.h"
#include "rigid/script.h"
#include "rigid/start_work.h"
#include "scene/signal.h"

#include <math.h>
#include <string.h>

// ---- coordinates from states -------------------------------------------------------------------

/// A state of all bodies that is turned into a node.
typedef struct placement {
    mabd_redmax_sim* sim;
    const mabd_model_start* state; // (bodies) user frames
    mabd_real time;
    mabd_redmax_node* to;
    bool nearest; // take the nearest state that joints allow, without a word
} placement;

// State of a side of a joint; bodies that do not move by forces are where their scripts are.
static mabd_rigid_state side_state(const placement* p, int32_t body) {
    const mabd_model* m = p->sim->model;
    mabd_rigid_state still = {{0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (body == m->body_count) return still;
    const int32_t at = p->sim->body_script[body];
    if (at >= 0) return mabd_rigid_script_state(m, &m->scripts[at], p->time);
    mabd_rigid_state s = mabd_rigid_from_user(&m->classes[m->body_class[body]], &p->state[body]);
    if (p->sim->body_link[body] < 0) s.v = s.omega = mabd_v3(0, 0, 0);
    return s;
}

static mabd_joint_view view_of(const placement* p, const mabd_model_joint* joint,
                               mabd_rigid_state* a, mabd_rigid_state* b) {
    mabd_joint_view view;
    *a = side_state(p, joint->a), *b = side_state(p, joint->b);
    mabd_model_joint_view(p->sim->model, joint, &view);
    view.Aa = mabd_q_matrix(a->q), view.Ab = mabd_q_matrix(b->q);
    view.ta = a->c, view.tb = b->c;
    return view;
}

// f.v + t.(R'omega)
static mabd_real rate_of(const mabd_rigid_wrench* w, const mabd_rigid_state* s) {
    const mabd_vec3 om = mabd_q_rotate(mabd_q_conjugate(s->q), s->omega);
    return mabd_v3_dot(w->f, s->v) + mabd_v3_dot(w->t, om);
}

static void place_ball(const placement* p, const mabd_redmax_link* link, mabd_mat3 R,
                       mabd_vec3 omega) {
    const size_t ball = (size_t)link->ball;
    const mabd_mat3 joint = link->reversed ? mabd_m3_transpose(R) : R;
    const mabd_vec3 near = mabd_v3_load(p->to->theta + 3 * ball);
    mabd_q_store(mabd_q_from_matrix(R), p->to->turn + 4 * ball);
    mabd_v3_store(mabd_rotvec_unwrap(mabd_so3_log(joint), near, mabd_v3(1, 1, 1)),
                  p->to->theta + 3 * ball);
    mabd_v3_store(mabd_v3(0, 0, 0), p->to->q + link->first);
    mabd_v3_store(omega, p->to->v + link->first);
}

// Ball of a joint: relative rotation and angular velocity of its child, in the link frame.
static void place_joint_ball(const placement* p, const mabd_redmax_link* link,
                             const mabd_joint_view* view, const mabd_rigid_state* a,
                             const mabd_rigid_state* b) {
    const mabd_mat3 on_a = mabd_m3_product(view->Aa, view->Fa);
    const mabd_mat3 on_b = mabd_m3_product(view->Ab, view->Fb);
    const mabd_vec3 turn = mabd_v3_sub(b->omega, a->omega);
    if (link->reversed) {
        place_ball(p, link, mabd_m3_tproduct(on_b, on_a),
                   mabd_v3_scale(-1, mabd_m3_tmul(on_a, turn)));
    } else {
        place_ball(p, link, mabd_m3_tproduct(on_a, on_b), mabd_m3_tmul(on_b, turn));
    }
}

static void place_joint(const placement* p, const mabd_redmax_link* link) {
    const mabd_model_joint* joint = &p->sim->model->joints[link->joint];
    mabd_rigid_state a, b;
    const mabd_joint_view view = view_of(p, joint, &a, &b);
    if (link->kind == MABD_PRIMITIVE_BALL) {
        place_joint_ball(p, link, &view, &a, &b);
        return;
    }
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        const int axis = p->sim->freedoms[k].axis;
        mabd_row row = {MABD_ROW_SLIDE, (uint8_t)(axis % 3), 0, 1};
        mabd_rigid_row J;
        const mabd_real near = p->to->q[k];
        mabd_joint_coordinate((mabd_joint)joint->type, (mabd_axis)axis, &row);
        mabd_rigid_joint_rows(&view, 1, &row, &near, &p->to->q[k], &J);
        p->to->v[k] = rate_of(&J.a, &a) + rate_of(&J.b, &b);
    }
}

// Links of a body without a joint.
static void place_free(const placement* p, int32_t index) {
    const mabd_redmax_sim* sim = p->sim;
    const mabd_redmax_link* ball = &sim->links[index];
    const bool node = ball->kind == MABD_PRIMITIVE_TRANSLATION;
    const mabd_redmax_link* slides = node ? ball : &sim->links[ball->parent];
    const mabd_rigid_state s = side_state(p, ball->body);
    mabd_v3_store(s.c, p->to->q + slides->first);
    mabd_v3_store(s.v, p->to->v + slides->first);
    if (node) return;
    const mabd_mat3 R = mabd_q_matrix(s.q);
    place_ball(p, ball, R, mabd_m3_tmul(R, s.omega));
}

// Fit the string of a joint; to: where its coordinates go, null = nowhere.
static mabd_redmax_fit fit_joint(const placement* p, int32_t joint, mabd_redmax_node* to) {
    mabd_rigid_state a, b;
    view_of(p, &p->sim->model->joints[joint], &a, &b);
    return mabd_redmax_fit_string(p->sim, joint, &a, &b, p->to, to);
}

static void place_fitted(const placement* p, const mabd_redmax_link* link) {
    const mabd_redmax_fit fit = fit_joint(p, link->joint, p->to);
    char label[160];
    if (p->nearest || !(fit.slip > MABD_START_TOLERANCE * (1 + fit.speed))) return;
    mabd_warn(&p->sim->warnings, -1, link->joint, 0,
              "velocities against %s, by %.3g m/s or rad/s, are replaced by the nearest that it "
              "allows",
              mabd_model_joint_label(p->sim->model, link->joint, label, sizeof label),
              (double)fit.slip);
}

// Refuse a state that a joint with pieces does not allow.
static mabd_status check_fits(const placement* p, mabd_error* error) {
    const mabd_redmax_sim* sim = p->sim;
    for (int32_t j = 0; j < sim->model->joint_count; j++) {
        if (!mabd_redmax_is_fitted(sim, j) || sim->joint_link[j] < 0) continue;
        const mabd_redmax_fit fit = fit_joint(p, j, NULL);
        char label[160];
        if (fit.opening <= MABD_START_TOLERANCE) continue;
        return mabd_fail_at(error, MABD_ERR_INPUT, -1, j, p->time, "%s is open by %.4g m or rad",
                            mabd_model_joint_label(sim->model, j, label, sizeof label),
                            (double)fit.opening);
    }
    return MABD_OK;
}

static void place_all(const placement* p) {
    const mabd_redmax_sim* sim = p->sim;
    for (int32_t i = 0; i < sim->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (mabd_redmax_is_fitted(sim, link->joint)) {
            if (link->last) place_fitted(p, link);
        } else if (link->joint >= 0) {
            place_joint(p, link);
        } else if (link->body >= 0) {
            place_free(p, i);
        } else if (link->count == 1) { // of a script
            const mabd_signal* signal = sim->freedoms[link->first].script;
            p->to->q[link->first] = mabd_signal_value(signal, p->time);
            p->to->v[link->first] = mabd_signal_rate(signal, p->time);
        }
    }
}

// ---- the start ---------------------------------------------------------------------------------

static void copy_node(const mabd_redmax_sim* sim, const mabd_redmax_node* from,
                      mabd_redmax_node* to) {
    const size_t freedoms = (size_t)sim->freedom_count * sizeof *to->q;
    memcpy(to->q, from->q, freedoms);
    memcpy(to->v, from->v, freedoms);
    memcpy(to->turn, from->turn, 4 * (size_t)sim->ball_count * sizeof *to->turn);
    memcpy(to->theta, from->theta, 3 * (size_t)sim->ball_count * sizeof *to->theta);
    memcpy(to->chart, from->chart, (size_t)sim->ball_count * sizeof *to->chart);
}

// Forget the history: the state is that of `now`.
static void forget_history(mabd_redmax_sim* sim) {
    sim->placed = false;
    mabd_redmax_find_charts(sim, &sim->now);
    copy_node(sim, &sim->now, &sim->last);
    memset(sim->wrench, 0, 6 * (size_t)sim->link_count * sizeof *sim->wrench);
    memset(sim->loops.lambda, 0, (size_t)sim->loops.row_count * sizeof *sim->loops.lambda);
    for (int32_t p = 0; p < sim->part_count; p++) {
        sim->parts[p].has_history = sim->parts[p].has_branches = false;
        sim->parts[p].touches = false;
    }
}

static void start_from(const placement* p) {
    mabd_redmax_sim* sim = p->sim;
    sim->time = 0;
    memset(sim->now.q, 0, (size_t)sim->freedom_count * sizeof *sim->now.q);
    memset(sim->now.theta, 0, 3 * (size_t)sim->ball_count * sizeof *sim->now.theta);
    mabd_rigid_inputs_clear(&sim->inputs);
    memset(sim->times, 0, sizeof sim->times);
    for (int32_t i = 0; i < sim->part_count; i++) sim->parts[i].peak = 0;
    mabd_redmax_start_strings(sim, &sim->now);
    place_all(p);
    if (mabd_redmax_check_couplings(sim, NULL) == MABD_OK) mabd_redmax_close_couplings(sim, 0);
    forget_history(sim);
    const mabd_measure start = mabd_redmax_measure(sim);
    mabd_rigid_books_open(&sim->books, &start);
}

void mabd_redmax_start(mabd_redmax_sim* sim) {
    const placement p = {sim, sim->start, 0, &sim->now, false};
    start_from(&p);
}

void mabd_redmax_start_nearest(mabd_redmax_sim* sim) {
    const placement p = {sim, sim->model->start, 0, &sim->now, true};
    start_from(&p);
}

mabd_status mabd_redmax_check_start(mabd_redmax_sim* sim, mabd_error* error) {
    const placement p = {sim, sim->start, 0, &sim->now, false};
    return check_fits(&p, error);
}

mabd_status mabd_redmax_set_state(void* self, mabd_real time, const mabd_model_start* state,
                                  bool moved, mabd_error* error) {
    mabd_redmax_sim* sim = self;
    const placement p = {sim, state, time, &sim->now, false};
    const mabd_measure before = mabd_redmax_measure(sim);
    (void)moved; // poses that did not move give their coordinates
    MABD_TRY(check_fits(&p, error));
    if (sim->model->coupling_count > 0) { // which may refuse the state
        copy_node(sim, &sim->now, &sim->base);
        place_all(&p);
        const mabd_status status = mabd_redmax_check_couplings(sim, error);
        if (status != MABD_OK) copy_node(sim, &sim->base, &sim->now);
        if (status != MABD_OK) return status;
    }
    sim->time = time;
    place_all(&p);
    mabd_redmax_close_couplings(sim, time);
    forget_history(sim);
    const mabd_measure after = mabd_redmax_measure(sim);
    mabd_rigid_books_carry(&sim->books, &before, &after);
    return MABD_OK;
}

// ---- states as bytes ---------------------------------------------------------------------------

static void visit_node(mabd_rigid_cursor* at, const mabd_redmax_sim* sim, mabd_redmax_node* node) {
    const size_t real = sizeof(mabd_real);
    mabd_rigid_visit(at, node->q, (size_t)sim->freedom_count * real);
    mabd_rigid_visit(at, node->v, (size_t)sim->freedom_count * real);
    mabd_rigid_visit(at, node->turn, 4 * (size_t)sim->ball_count * real);
    mabd_rigid_visit(at, node->theta, 3 * (size_t)sim->ball_count * real);
    mabd_rigid_visit(at, node->chart, (size_t)sim->ball_count * sizeof *node->chart);
}

// Visit every array of a state. A change of this order raises state_version.
static void visit(void* self, mabd_rigid_cursor* at) {
    mabd_redmax_sim* sim = self;
    visit_node(at, sim, &sim->now);
    visit_node(at, sim, &sim->last);
    mabd_rigid_visit(at, sim->wrench, 6 * (size_t)sim->link_count * sizeof *sim->wrench);
    mabd_rigid_visit(at, sim->branch, (size_t)sim->law_count * sizeof *sim->branch);
    mabd_rigid_visit(at, sim->loops.lambda,
                     (size_t)sim->loops.row_count * sizeof *sim->loops.lambda);
    mabd_rigid_inputs_visit(&sim->inputs, at);
    mabd_rigid_visit(at, &sim->books, sizeof sim->books);
    for (int32_t p = 0; p < sim->part_count; p++) {
        mabd_rigid_visit(at, &sim->parts[p].peak, sizeof sim->parts[p].peak);
        mabd_rigid_visit_flags(at, &sim->parts[p].has_history, 1);
        mabd_rigid_visit_flags(at, &sim->parts[p].has_branches, 1);
        mabd_rigid_visit_flags(at, &sim->parts[p].touches, 1);
    }
}

size_t mabd_redmax_state_size(const void* self) {
    return mabd_rigid_state_size(self, visit);
}

void mabd_redmax_save(const void* self, void* buffer) {
    mabd_rigid_save(self, visit, buffer);
}

mabd_status mabd_redmax_restore(void* self, const void* buffer, size_t size, mabd_real time) {
    mabd_redmax_sim* sim = self;
    MABD_TRY(mabd_rigid_restore(self, visit, buffer, size));
    sim->time = time, sim->placed = false;
    return MABD_OK;
}
