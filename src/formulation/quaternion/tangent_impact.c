// SPDX-License-Identifier: Apache-2.0
// Derivatives of impacts (kinematics.c): the jump y of the velocities u at the end of a step in
// which an axis arrives at a stop or the force of an axis jumps,
//
//   F_body = M y - J' l
//   F_row  = J (u + y) - rate      rigid rows, stops, unlimited drives
//            J y + l/I             controls with armature I
//            l                     all others
//
//   node   v + y_v,  w + q (x) (0, y_t)/2,  rates x' + J y, zero at stops
//
// with the stops that push as they were found. M holds the armature of damped rotations:
// F (I) F'(y_b - Q y_a) on b, minus Q' of it on a, whose derivatives by the pose are those of a
// damper with the gains I and the velocities y (tangent_acceleration.c).

#include "formulation/quaternion/tangent_impact.h"

#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/quaternion_axes.h"

#include "base/error.h"

#include <string.h>

// ---- the point ---------------------------------------------------------------------------------

mabd_impact_row mabd_tangent_impact_row(const mabd_quaternion_point* p,
                                        const mabd_tangent_joint* at, int32_t r) {
    const int32_t k = r - at->set->rigid_count;
    mabd_real rate;
    if (k < 0) return MABD_IMPACT_HELD;
    const mabd_control* c = &at->set->control[k];
    if (mabd_quaternion_is_held(&p->s, c, at->joint->coordinate + k, &rate)) {
        return MABD_IMPACT_HELD;
    }
    const bool armed = c->armature > 0 && !mabd_quaternion_is_damped_turn(at->set, k);
    return armed ? MABD_IMPACT_ARMED : MABD_IMPACT_FREE;
}

static bool is_stopped(const mabd_quaternion_point* p, const mabd_tangent_joint* at, int32_t k) {
    return at->set->control[k].law && p->s.sim->axes[at->joint->coordinate + k].found.stop != 0;
}

mabd_status mabd_tangent_enter_impact(mabd_quaternion_gradient* g, const mabd_quaternion_solve* s,
                                      const mabd_quaternion_node* node,
                                      mabd_quaternion_node* scratch, mabd_quaternion_point* p,
                                      mabd_error* error) {
    mabd_quaternion_sim* sim = g->sim;
    const mabd_quaternion_part* part = s->part;
    const size_t bodies = 6 * (size_t)part->body_count, rows = (size_t)part->row_count;
    mabd_quaternion_take_pose(s, node);
    if (!mabd_quaternion_take_impacts(s, scratch)) {
        return mabd_fail(error, MABD_ERR_SINGULAR, "an impact has no derivatives (t = %g s)",
                         (double)s->time);
    }
    memcpy(g->solution, sim->y + part->vector_first, (bodies + rows) * sizeof *g->solution);
    memcpy(g->projecting + part->row_first, g->solution + bodies, rows * sizeof *g->solution);
    *p = (mabd_quaternion_point){.s = *s, .function = MABD_FUNCTION_IMPACT, .scale = 1};
    p->multiplier = g->projecting, p->y = g->solution, p->node = node;
    return MABD_OK;
}

// ---- the equations -----------------------------------------------------------------------------

// The motion of the sides with y in place of their velocities.
static mabd_tangent_motion jump_of(const mabd_tangent_motion* m) {
    mabd_tangent_motion out = *m;
    memcpy(out.u, m->a, sizeof out.u);
    memset(out.a, 0, sizeof out.a);
    return out;
}

static void pass_joint(const mabd_quaternion_point* p, const mabd_tangent_joint* at, bool back,
                       mabd_real* F, mabd_real* xi, mabd_real* eta) {
    const mabd_tangent_motion m = mabd_tangent_motion_of(p, at), jump = jump_of(&m);
    mabd_tangent_wrenches(p, at, back, F, xi);
    for (int32_t r = 0; r < at->j->width; r++) {
        const mabd_impact_row kind = mabd_tangent_impact_row(p, at, r);
        const mabd_tangent_motion* own = kind == MABD_IMPACT_HELD ? &m : &jump;
        mabd_real by[12], *row = F + at->first_row + r;
        if (kind == MABD_IMPACT_FREE) continue;
        mabd_tangent_rate_gradient(at, r, own->u[0], own->u[1], by);
        mabd_tangent_sides(at, by, back, 1, row, xi);
        if (kind == MABD_IMPACT_HELD) mabd_tangent_row(at, &at->J[r], back, 1, row, eta);
    }
    if (!at->set->damped) return;
    const mabd_ball_damper d = mabd_quaternion_damper(p->s.sim, at->joint, 0);
    mabd_tangent_damper(at, d.armature, mabd_v3(0, 0, 0), &jump, back, F, xi, NULL);
}

void mabd_tangent_impact(const mabd_quaternion_point* p, bool back, mabd_real* F, mabd_real* xi,
                         mabd_real* eta) {
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        mabd_tangent_joint at;
        mabd_tangent_joint_at(p, i, &at);
        pass_joint(p, &at, back, F, xi, eta);
    }
}

mabd_real mabd_tangent_impact_moved(const mabd_quaternion_point* p, const mabd_tangent_joint* at,
                                    int32_t r, const mabd_tangent_motion* m, int side,
                                    mabd_vec3 shift, mabd_vec3 turn) {
    const mabd_impact_row kind = mabd_tangent_impact_row(p, at, r);
    const mabd_tangent_motion jump = jump_of(m);
    if (kind == MABD_IMPACT_FREE) return 0;
    return mabd_tangent_moved(at, r, MABD_ROW_RATE, kind == MABD_IMPACT_HELD ? m : &jump, side,
                              shift, turn);
}

mabd_real mabd_tangent_impact_rate_moved(const mabd_quaternion_point* p,
                                         const mabd_tangent_joint* at, int32_t k,
                                         const mabd_tangent_motion* m, int side, mabd_vec3 shift,
                                         mabd_vec3 turn) {
    const mabd_tangent_motion jump = jump_of(m);
    if (is_stopped(p, at, k) || mabd_quaternion_is_damped_turn(at->set, k)) return 0;
    return mabd_tangent_moved(at, at->set->rigid_count + k, MABD_ROW_RATE, &jump, side, shift,
                              turn);
}

// ---- the node ----------------------------------------------------------------------------------

static void pass_end_body(const mabd_quaternion_point* p, int32_t slot, bool back, mabd_real* node,
                          mabd_real* dy) {
    const int32_t body = p->s.sim->bodies[p->s.part->body_first + slot];
    const mabd_quat q = mabd_q_load(p->s.sim->pose + 7 * (size_t)body + 3);
    mabd_pass_scaled(back, 1, 3, node + 7, dy);
    mabd_tangent_turn(back, 1, q, node + 10, dy + 3);
    mabd_tangent_spin(back, mabd_v3_load(p->y + 6 * (size_t)slot + 3), node + 10, node + 3);
}

static void pass_end_joint(const mabd_quaternion_point* p, const mabd_tangent_joint* at, bool back,
                           mabd_quaternion_node node, mabd_real* dy, mabd_real* xi,
                           mabd_real* eta) {
    const mabd_tangent_motion m = mabd_tangent_motion_of(p, at), jump = jump_of(&m);
    for (int32_t k = 0; k < at->set->control_count; k++) {
        const int32_t r = at->set->rigid_count + k;
        mabd_real by[12], *rate = node.x + 2 * (size_t)(at->joint->coordinate + k) + 1;
        const bool turns = mabd_quaternion_is_damped_turn(at->set, k);
        if (turns && back) continue; // below
        if (turns || is_stopped(p, at, k)) {
            *rate = 0;
            continue;
        }
        mabd_tangent_rate_gradient(at, r, jump.u[0], jump.u[1], by);
        mabd_tangent_sides(at, by, back, 1, rate, xi);
        mabd_tangent_row(at, &at->J[r], back, 1, rate, dy);
    }
    if (!at->set->damped) return;
    mabd_tangent_turn_rates(at, &m, back, node, xi, eta);
    mabd_tangent_turn_rates(at, &m, back, node, NULL, dy);
    for (int32_t k = 0; back && k < at->set->control_count; k++) { // replaced by those above
        if (!mabd_quaternion_is_damped_turn(at->set, k)) continue;
        node.x[2 * (size_t)(at->joint->coordinate + k) + 1] = 0;
    }
}

void mabd_tangent_impact_end(const mabd_quaternion_point* p, bool back, mabd_quaternion_node node,
                             mabd_real* dy, mabd_real* xi, mabd_real* eta) {
    const mabd_quaternion_sim* sim = p->s.sim;
    for (int32_t i = 0; i < p->s.part->body_count; i++) {
        const size_t place = MABD_NODE_REALS * (size_t)sim->bodies[p->s.part->body_first + i];
        pass_end_body(p, i, back, node.body + place, dy + 6 * (size_t)i);
    }
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        mabd_tangent_joint at;
        mabd_tangent_joint_at(p, i, &at);
        pass_end_joint(p, &at, back, node, dy, xi, eta);
    }
}
