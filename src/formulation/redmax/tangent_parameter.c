// SPDX-License-Identifier: Apache-2.0
// Derivatives of the residual by parameters of the model.
//
// A body:   mass, inertia   dF = dM A - ad(V)'dM V
//           center          the centre moves by d in the link frame: dM = (0, m d, -m ([d][c] +
//                           [c][d])), and forces at the centre get the arm d. A body without a
//                           joint has its link frame at the centre: there all that the link carries
//                           moves by -d besides
//           force           dF = -(c x l, l), l = R'f;   torque dF = -R't
// Gravity:  acceleration -g of the ground
// An axis:  dtau = rest - x, k, -x', -x'' by stiffness, rest, damping, armature; a servo: its
//           gain; a motor: 1
// A joint:  a shift s of its anchor and a turn t of its axes, in the axes of the joint frame, is
//           the twist (t, s) of that frame against its body. On the parent it moves the first link
//           of the string, on the child what the last link carries by the opposite. A joint that
//           is cut changes its rows and the wrenches of their forces (loops.c).
// Springs, ground: the forces on their points (springs.c, ground.c)
//
// The projections of the start state have the first and the last of these (start_pull.c).

#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_pins.h"
#include "formulation/redmax/redmax_tangent.h"

#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_springs.h"
#include "rigid/parameter_change.h"
#include "scene/signal.h"

/// A parameter in one residual.
typedef struct parameter_view {
    mabd_redmax_gradient* g;
    const mabd_redmax_solve* s;
    mabd_redmax_equation equation;
    const mabd_parameter* own;
    int32_t index;
    int64_t step;
    bool back;
    const mabd_real* z;             // back: bars of the residual, null = none
    mabd_real sum;                  // back: the product
    const mabd_redmax_cut* bar_cut; // back: the cut joint of `bar` of its sides, null = none
    mabd_spatial bar[2];
} parameter_view;

static mabd_vec3 unit(int k) {
    return mabd_v3(k == 0, k == 1, k == 2);
}

// ---- changes, or products with their bars ------------------------------------------------------

static void change_load(parameter_view* v, int32_t link, mabd_spatial dF) {
    if (v->back) {
        v->sum += mabd_sp_dot(mabd_redmax_load_bar(v->g->sim, link), dF);
    } else {
        v->g->changes.load[link] = mabd_sp_add(v->g->changes.load[link], dF);
    }
}

static void change_parent_side(parameter_view* v, int32_t link, mabd_spatial e) {
    if (v->back) {
        v->sum += mabd_sp_dot(mabd_redmax_parent_side_bar(v->g->sim, link), e);
    } else {
        v->g->changes.parent_side[link] = mabd_sp_add(v->g->changes.parent_side[link], e);
    }
}

static void change_body_side(parameter_view* v, int32_t link, mabd_spatial f) {
    if (v->back) {
        v->sum += mabd_sp_dot(mabd_redmax_body_side_bar(v->g->sim, link), f);
    } else {
        v->g->changes.body_side[link] = mabd_sp_add(v->g->changes.body_side[link], f);
    }
}

// Add a force on freedom k: the residual falls with it.
static void change_force(parameter_view* v, int32_t k, mabd_real tau) {
    if (v->g->sim->freedoms[k].prescribed) return;
    if (v->back) {
        if (v->z) v->sum -= v->z[k] * tau;
    } else {
        v->g->changes.r[k] -= tau;
    }
}

// ---- bodies ------------------------------------------------------------------------------------

// Wrench that a change of the inertia of a link needs at its motion.
static mabd_spatial inertia_wrench(const mabd_redmax_sim* sim, int32_t i,
                                   const mabd_spatial_inertia* dM) {
    return mabd_sp_sub(mabd_inertia_mul(dM, sim->A[i]),
                       mabd_sp_cross_wrench(sim->V[i], mabd_inertia_mul(dM, sim->V[i])));
}

static void pass_mass(parameter_view* v, int32_t i) {
    const mabd_redmax_sim* sim = v->g->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const int32_t body = mabd_redmax_carried(link);
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
    const mabd_frame* P = &link->principal;
    mabd_spatial_inertia dM = {0, mabd_v3(0, 0, 0), mabd_m3_axpy(-1, P->R, P->R)};
    mabd_mat3 dI;
    if (v->own->kind == MABD_PARAMETER_MASS) {
        const mabd_mat3 arm = mabd_m3_skew(P->p);
        dM.mass = 1, dM.mc = P->p;
        dM.Io = mabd_m3_axpy(-1, mabd_m3_product(arm, arm), dM.Io);
    } else {
        dI = mabd_rigid_inertia_change(c, v->own->component);
        dM.Io = mabd_m3_product(mabd_m3_product(P->R, dI), mabd_m3_transpose(P->R));
    }
    mabd_spatial dF = inertia_wrench(sim, i, &dM);
    if (v->s->pull) {
        const bool mass = v->own->kind == MABD_PARAMETER_MASS;
        dF = mabd_sp_sub(dF, mabd_redmax_pull_by_inertia(v->s, i, mass ? NULL : &dI));
    }
    change_load(v, i, mabd_sp_scale(mabd_redmax_share(sim, link), dF));
}

// True if a body hangs at the ground by the freedoms of its centre.
static bool is_free(const mabd_redmax_link* link) {
    return link->joint < 0;
}

// Forces at the centre of a link, link frame, without those that turn with their points.
static mabd_vec3 center_force(const parameter_view* v, int32_t i) {
    const mabd_redmax_sim* sim = v->g->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_mat3 R = sim->world[i].R;
    mabd_vec3 f = mabd_v3(0, 0, 0);
    if (sim->inputs.has_applied && link->body >= 0) {
        f = mabd_m3_tmul(R, mabd_v3_load(sim->inputs.applied + 6 * (size_t)link->body));
    }
    if (link->drag > 0) {
        const mabd_vec3 c = link->principal.p, V = sim->V[i].v;
        const mabd_vec3 speed = mabd_v3_add(V, mabd_v3_cross(sim->V[i].w, c));
        f = mabd_v3_axpy(-link->drag, mabd_v3_sub(speed, mabd_m3_tmul(R, v->s->wind)), f);
    }
    return f;
}

// The centre of a body moves by d against its joints.
static void pass_jointed_center(parameter_view* v, int32_t i, mabd_vec3 d) {
    const mabd_redmax_sim* sim = v->g->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_vec3 c = link->principal.p;
    const mabd_mat3 D = mabd_m3_skew(d), C = mabd_m3_skew(c);
    const mabd_real m = link->M.mass;
    const mabd_mat3 both = mabd_m3_axpy(1, mabd_m3_product(D, C), mabd_m3_product(C, D));
    const mabd_spatial_inertia dM = {0, mabd_v3_scale(m, d), mabd_m3_axpy(-m - 1, both, both)};
    mabd_spatial dF = inertia_wrench(sim, i, &dM);
    mabd_vec3 f, df; // at the centre
    if (v->s->pull) {
        f = mabd_redmax_pull_load(v->s, i).v;
        const mabd_vec3 spin = mabd_m3_tmul(sim->world[i].R, v->s->pull->spin);
        df = mabd_v3_scale(m,
                           v->s->pull->velocities ? mabd_v3_cross(spin, d) : mabd_v3_scale(-1, d));
    } else {
        f = center_force(v, i);
        df = mabd_v3_scale(-link->drag, mabd_v3_cross(sim->V[i].w, d));
    }
    const mabd_vec3 moment = mabd_v3_add(mabd_v3_cross(d, f), mabd_v3_cross(c, df));
    change_load(v, i, mabd_sp_sub(dF, mabd_sp(moment, df)));
}

// One unit of a component of the centre of the body of a link, link frame.
static mabd_vec3 center_shift(const mabd_redmax_sim* sim, const mabd_redmax_link* link,
                              int component) {
    const int32_t body = mabd_redmax_carried(link);
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
    const mabd_vec3 own = mabd_m3_tmul(mabd_q_matrix(mabd_q_load(c->axes)), unit(component));
    return mabd_m3_mul(link->principal.R, own);
}

static void pass_center(parameter_view* v, int32_t i) {
    const mabd_redmax_link* link = &v->g->sim->links[i];
    const mabd_vec3 d = center_shift(v->g->sim, link, v->own->component);
    pass_jointed_center(v, i, d);
    if (!is_free(link)) return;
    const mabd_spatial back = mabd_sp(mabd_v3(0, 0, 0), mabd_v3_scale(-1, d));
    change_body_side(v, i, back);
}

static void pass_force(parameter_view* v, int32_t i) {
    const mabd_redmax_sim* sim = v->g->sim;
    const int k = v->own->component;
    if (v->step < v->own->first || v->step > v->own->last) return;
    const mabd_vec3 l = mabd_m3_tmul(sim->world[i].R, unit(k % 3)), zero = mabd_v3(0, 0, 0);
    const mabd_vec3 arm = mabd_v3_cross(sim->links[i].principal.p, l);
    change_load(v, i, mabd_sp_scale(-1, k < 3 ? mabd_sp(arm, l) : mabd_sp(l, zero)));
}

static void pass_gravity(parameter_view* v) {
    const mabd_vec3 g = mabd_v3_scale(-1, unit(v->own->component));
    if (v->back) {
        v->sum += mabd_v3_dot(mabd_redmax_fall_bar(v->g->sim, v->s->part), g);
    } else {
        v->g->changes.fall = mabd_v3_add(v->g->changes.fall, g);
    }
}

// ---- axes --------------------------------------------------------------------------------------

// Side on which the friction of a freedom acts, from -1 to 1.
static mabd_real side_of(const parameter_view* v, int32_t k) {
    const mabd_real speed = v->g->sim->freedoms[k].control->friction_speed;
    if (!(speed > 0)) return mabd_redmax_friction_side(v->g->sim, k);
    return (mabd_real)tanh(mabd_redmax_axis_rate(v->s, k) / speed);
}

// Forces on a freedom that is no ball's by one unit of a parameter.
static mabd_real axis_force(const parameter_view* v, int32_t k) {
    const mabd_redmax_sim* sim = v->g->sim;
    const mabd_control* c = sim->freedoms[k].control;
    switch (v->own->kind) {
    case MABD_PARAMETER_STIFFNESS:
        return c->rest - sim->q[k];
    case MABD_PARAMETER_REST:
        return c->spring;
    case MABD_PARAMETER_DAMPING:
        return -sim->v[k];
    case MABD_PARAMETER_FRICTION:
        return -side_of(v, k);
    default: // armature
        return -sim->a[k];
    }
}

static void pass_ball_axis(parameter_view* v, const mabd_redmax_link* link, int32_t k) {
    const mabd_redmax_sim* sim = v->g->sim;
    const mabd_control* c = sim->freedoms[k].control;
    const mabd_redmax_axis_change by =
        mabd_redmax_ball_axis(v->s, sim->freedoms[k].link, k - link->first);
    for (int j = 0; j < 3; j++) {
        mabd_real tau;
        switch (v->own->kind) {
        case MABD_PARAMETER_STIFFNESS:
            tau = by.force[j] * (c->rest - by.x);
            break;
        case MABD_PARAMETER_REST:
            tau = by.force[j] * c->spring;
            break;
        case MABD_PARAMETER_DAMPING:
            tau = by.damping[j];
            break;
        case MABD_PARAMETER_FRICTION:
            tau = -by.force[j] * side_of(v, k);
            break;
        default: // armature
            tau = by.armature[j];
            break;
        }
        change_force(v, link->first + j, tau);
    }
}

static void pass_axis(parameter_view* v, int32_t k) {
    const mabd_redmax_link* link = &v->g->sim->links[v->g->sim->freedoms[k].link];
    if (link->kind == MABD_PRIMITIVE_BALL) {
        pass_ball_axis(v, link, k);
    } else {
        change_force(v, k, axis_force(v, k));
    }
}

bool mabd_redmax_sets_control(const mabd_parameter* p, int64_t step) {
    return p->kind == MABD_PARAMETER_CONTROL && p->first <= step && step <= p->last;
}

bool mabd_redmax_sets_target(const mabd_redmax_gradient* g, int32_t index, int64_t step) {
    const mabd_parameter* p = &g->parameters[index];
    const mabd_model* m = g->sim->model;
    return mabd_redmax_sets_control(p, step) &&
           m->controls[p->index % m->control_count].kind != MABD_CONTROL_FORCE;
}

// Targets of prescribed freedoms and drives are no forces: tangent_step.c.
static void pass_control(parameter_view* v, int32_t k) {
    const mabd_redmax_sim* sim = v->g->sim;
    const mabd_model* m = sim->model;
    const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
    const bool motor = m->controls[v->own->index % m->control_count].kind == MABD_CONTROL_FORCE;
    if (!mabd_redmax_sets_control(v->own, v->step)) return;
    const mabd_real gain = motor ? 1 : sim->freedoms[k].control->gain;
    if (link->kind != MABD_PRIMITIVE_BALL) {
        change_force(v, k, gain);
        return;
    }
    const mabd_redmax_axis_change by =
        mabd_redmax_ball_axis(v->s, sim->freedoms[k].link, k - link->first);
    for (int j = 0; j < 3; j++) {
        change_force(v, link->first + j, gain * (motor ? by.motor[j] : by.force[j]));
    }
}

// ---- joint frames ------------------------------------------------------------------------------

// First link of the string whose last link is given.
static int32_t first_link(const mabd_redmax_sim* sim, int32_t last) {
    int32_t i = last;
    while (sim->links[i].parent >= 0 &&
           sim->links[sim->links[i].parent].joint == sim->links[i].joint) {
        i = sim->links[i].parent;
    }
    return i;
}

/// Twist of a link by a parameter.
typedef struct frame_move {
    int32_t link; // -1 = none
    bool parent_side;
    mabd_spatial twist;
} frame_move;

static frame_move move_of(const mabd_redmax_gradient* g, int32_t index) {
    const mabd_redmax_sim* sim = g->sim;
    const mabd_parameter* own = &g->parameters[index];
    const bool anchor =
        own->kind == MABD_PARAMETER_ANCHOR_A || own->kind == MABD_PARAMETER_ANCHOR_B;
    const bool axis = own->kind == MABD_PARAMETER_AXIS_A || own->kind == MABD_PARAMETER_AXIS_B;
    const bool on_b = own->kind == MABD_PARAMETER_ANCHOR_B || own->kind == MABD_PARAMETER_AXIS_B;
    frame_move out = {-1, false, mabd_sp_zero()};
    if (!anchor && !axis) return out;
    const mabd_model_joint* joint = &sim->model->joints[own->index];
    const int32_t body = on_b ? joint->b : joint->a, last = sim->joint_link[own->index];
    if (last < 0) return out; // between bodies that do not move
    mabd_joint_view view;
    mabd_mat3 F = mabd_m3_identity(); // from the user's axes to those of the joint
    mabd_model_joint_view(sim->model, joint, &view);
    if (body < sim->model->body_count) {
        F = mabd_q_matrix(mabd_q_load(sim->model->classes[sim->model->body_class[body]].axes));
    }
    F = mabd_m3_product(F, on_b ? view.Fb : view.Fa);
    if (anchor) {
        out.twist.v = mabd_m3_tmul(F, unit(own->component));
    } else {
        out.twist.w = mabd_m3_tmul(
            F, mabd_rigid_turn_change(g->parameter_count, g->parameters, g->values, index));
    }
    if (!on_b && joint->piece_count > 0) { // the frame of the first piece stands in that on a
        const mabd_joint_piece* piece = &sim->model->pieces[joint->piece_first];
        const mabd_frame first = {mabd_q_matrix(mabd_q_load(piece->rotation)),
                                  mabd_v3_load(piece->position)};
        out.twist = mabd_frame_to_child(&first, out.twist);
    }
    out.parent_side = sim->links[last].reversed == on_b;
    out.link = out.parent_side ? first_link(sim, last) : last;
    if (!out.parent_side) {
        out.twist = mabd_sp_scale(-1, out.twist);
        return out;
    }
    // from the rest frame to the link frame: E = rest Q
    const mabd_frame back = mabd_frame_inverse(&sim->links[out.link].rest);
    const mabd_frame Q = mabd_frame_product(&back, &sim->E[out.link]);
    out.twist = mabd_frame_to_child(&Q, out.twist);
    return out;
}

void mabd_redmax_visit_moves(const mabd_redmax_gradient* g, int32_t index,
                             mabd_redmax_move_fn* visit, void* context) {
    const mabd_redmax_sim* sim = g->sim;
    const mabd_parameter* own = &g->parameters[index];
    const frame_move move = move_of(g, index);
    if (move.link >= 0) visit(context, move.link, move.parent_side, move.twist);
    if (own->kind != MABD_PARAMETER_CENTER) return;
    const int32_t i = sim->body_link[own->index];
    if (!is_free(&sim->links[i])) return;
    const mabd_vec3 d = center_shift(sim, &sim->links[i], own->component);
    const mabd_spatial shift = mabd_sp(mabd_v3(0, 0, 0), mabd_v3_scale(-1, d));
    const mabd_redmax_part* part = &sim->parts[g->parameter_part[index]];
    for (int32_t k = part->link_first; k < part->link_first + part->link_count; k++) {
        if (sim->links[k].parent != i) continue;
        visit(context, k, true, mabd_frame_to_child(&sim->E[k], shift));
    }
}

// Twist of the frame of a cut joint against one of its bodies, in the frame of the link, or on the
// ground in the principal frame of the body.
static mabd_spatial cut_twist(const mabd_redmax_gradient* g, int32_t index, int32_t link,
                              bool on_b) {
    const mabd_redmax_sim* sim = g->sim;
    const mabd_parameter* own = &g->parameters[index];
    const mabd_model_joint* joint = &sim->model->joints[own->index];
    const int32_t body = on_b ? joint->b : joint->a;
    const mabd_frame* P = link >= 0 ? &sim->links[link].principal : NULL;
    mabd_vec3 x = mabd_v3_load(on_b ? joint->Xb : joint->Xa); // of the anchor
    mabd_mat3 U = mabd_m3_identity();                         // from the user's axes
    if (body < sim->model->body_count) {
        const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
        U = mabd_m3_transpose(mabd_q_matrix(mabd_q_load(c->axes)));
    }
    if (P) U = mabd_m3_product(P->R, U), x = mabd_v3_add(mabd_m3_mul(P->R, x), P->p);
    if (own->kind == MABD_PARAMETER_ANCHOR_A || own->kind == MABD_PARAMETER_ANCHOR_B) {
        return mabd_sp(mabd_v3(0, 0, 0), mabd_m3_mul(U, unit(own->component)));
    }
    const mabd_vec3 turn =
        mabd_m3_mul(U, mabd_rigid_turn_change(g->parameter_count, g->parameters, g->values, index));
    return mabd_sp(turn, mabd_v3_cross(x, turn));
}

// The bar of a twist of the frame of a cut joint on one of its bodies; both are kept for other
// parameters.
static mabd_spatial cut_bar(parameter_view* v, const mabd_redmax_cut* cut, bool on_b) {
    const mabd_redmax_sim* sim = v->g->sim;
    const mabd_real* rows = v->s->row_bars;
    mabd_spatial on[2] = {mabd_sp_zero(), mabd_sp_zero()};
    if (v->s->kept_bars && (v->s->forces_at_once || v->s->rates_at_once)) {
        return v->s->kept_bars[2 * (cut - sim->loops.cuts) + on_b];
    }
    if (v->bar_cut == cut) return v->bar[on_b];
    if (rows) rows += cut->row_first - v->s->part->row_first;
    if (cut->a >= 0) on[0] = mabd_sp_scale(-1, mabd_redmax_load_bar(sim, cut->a));
    if (cut->b >= 0) on[1] = mabd_sp_scale(-1, mabd_redmax_load_bar(sim, cut->b));
    v->bar_cut = cut;
    mabd_redmax_cut_bars(v->s, cut, rows, v->z || !rows ? on : NULL, v->bar);
    return v->bar[on_b];
}

static void pass_cut(parameter_view* v, const mabd_redmax_cut* cut) {
    const mabd_parameter_kind kind = v->own->kind;
    const bool on_b = kind == MABD_PARAMETER_ANCHOR_B || kind == MABD_PARAMETER_AXIS_B;
    mabd_real rows[MABD_JOINT_MAX_ROWS];
    mabd_spatial on[2];
    const mabd_spatial f = cut_twist(v->g, v->index, on_b ? cut->b : cut->a, on_b);
    if (v->back) {
        v->sum += mabd_sp_dot(cut_bar(v, cut, on_b), f);
        return;
    }
    mabd_redmax_move_cut(v->s, cut, on_b, f, rows, on);
    for (int32_t r = 0; r < cut->row_count; r++) {
        v->g->changes.rows[cut->row_first + r] += rows[r];
    }
    if (cut->a >= 0) change_load(v, cut->a, mabd_sp_scale(-1, on[0]));
    if (cut->b >= 0) change_load(v, cut->b, mabd_sp_scale(-1, on[1]));
}

// A load of a spring or of the ground.
static void add_load(void* context, int32_t link, mabd_spatial F) {
    change_load(context, link, mabd_sp_scale(-1, F));
}

static void pass_move(void* context, int32_t link, bool parent_side, mabd_spatial twist) {
    parameter_view* v = context;
    if (parent_side) {
        change_parent_side(v, link, twist);
    } else {
        change_body_side(v, link, twist);
    }
}

// A control value of a spline.
static void pass_spline(parameter_view* v) {
    mabd_redmax_gradient* g = v->g;
    const mabd_redmax_sim* sim = g->sim;
    mabd_redmax_spline by;
    if (!mabd_redmax_spline_change(g, v->index, &by)) return;
    const mabd_redmax_link* link = &sim->links[by.link];
    change_parent_side(v, by.link, by.xi);
    for (int k = 0; k < link->count; k++) change_force(v, link->first + k, -by.r[k]);
    if (v->back) {
        mabd_spatial dV, dA;
        mabd_redmax_motion_bar(sim, by.link, &dV, &dA);
        v->sum += mabd_sp_dot(dV, by.dV) + mabd_sp_dot(dA, by.dA);
    } else {
        g->changes.moved = by.link, g->changes.dV = by.dV, g->changes.dA = by.dA;
    }
}

// The spin of all bodies as one: what it adds where the start was closed.
static void pass_common_spin(parameter_view* v) {
    const mabd_redmax_part* part = v->s->part;
    for (int32_t i = part->link_first; i < part->link_first + part->link_count; i++) {
        if (mabd_redmax_carried(&v->g->sim->links[i]) < 0) continue;
        const mabd_spatial load = mabd_redmax_pull_by_spin(v->s, i, unit(v->own->component));
        change_load(v, i, mabd_sp_scale(-1, load));
    }
}

// ---- the whole ---------------------------------------------------------------------------------

// All links with shares of a body.
static void pass_body(parameter_view* v, void (*pass)(parameter_view* v, int32_t link)) {
    const mabd_redmax_sim* sim = v->g->sim;
    const mabd_redmax_part* part = v->s->part;
    const int32_t body = v->own->index, main = sim->body_link[body];
    pass(v, main);
    if (sim->links[main].shares == 0) return;
    for (int32_t i = part->link_first; i < part->link_first + part->link_count; i++) {
        if (sim->links[i].share_of == body) pass(v, i);
    }
}

static void pass_parameter(parameter_view* v) {
    const mabd_redmax_sim* sim = v->g->sim;
    const int32_t part = v->g->parameter_part[v->index];
    const bool motion = v->equation == MABD_EQUATION_STEP;
    const bool closing = v->equation == MABD_EQUATION_CLOSING;
    if (part >= 0 && &sim->parts[part] != v->s->part) return;
    switch (v->own->kind) {
    case MABD_PARAMETER_MASS:
    case MABD_PARAMETER_INERTIA:
        pass_body(v, pass_mass);
        break;
    case MABD_PARAMETER_CENTER:
        pass_body(v, pass_center);
        break;
    case MABD_PARAMETER_SPRING:
        if (motion) mabd_redmax_spring_by(v->s, v->own->index, v->own->component, add_load, v);
        break;
    case MABD_PARAMETER_GROUND:
        if (motion) mabd_redmax_ground_by(v->s, v->own->component, add_load, v);
        break;
    case MABD_PARAMETER_GRAVITY:
        if (motion) pass_gravity(v);
        break;
    case MABD_PARAMETER_FORCE:
        if (motion) pass_force(v, sim->body_link[v->own->index]);
        break;
    case MABD_PARAMETER_START_ANGULAR:
        if (v->equation == MABD_EQUATION_VELOCITY && v->own->index < 0) pass_common_spin(v);
        break;
    case MABD_PARAMETER_STIFFNESS:
    case MABD_PARAMETER_REST:
    case MABD_PARAMETER_DAMPING:
    case MABD_PARAMETER_FRICTION:
        if (motion) pass_axis(v, v->g->parameter_freedom[v->index]);
        break;
    case MABD_PARAMETER_ARMATURE:
        if (motion || closing || v->equation == MABD_EQUATION_IMPACT)
            pass_axis(v, v->g->parameter_freedom[v->index]);
        break;
    case MABD_PARAMETER_CONTROL:
        if (motion) pass_control(v, v->g->parameter_freedom[v->index]);
        break;
    case MABD_PARAMETER_SPLINE:
        pass_spline(v);
        break;
    default:
        mabd_redmax_visit_moves(v->g, v->index, pass_move, v);
        if (v->g->parameter_cut[v->index]) pass_cut(v, v->g->parameter_cut[v->index]);
        break;
    }
}

void mabd_redmax_parameter_changes(mabd_redmax_gradient* g, const mabd_redmax_solve* s,
                                   mabd_redmax_equation equation, int32_t index, int64_t step) {
    parameter_view v = {.g = g, .s = s, .equation = equation, .own = &g->parameters[index]};
    v.index = index, v.step = step;
    pass_parameter(&v);
}

static void add_products(mabd_redmax_gradient* g, parameter_view v, int32_t part, mabd_real sign) {
    for (int32_t k = g->sorted_first[part]; k < g->sorted_first[part + 1]; k++) {
        v.index = g->sorted[k], v.own = &g->parameters[v.index], v.sum = 0;
        pass_parameter(&v);
        g->product[v.index] += sign * v.sum;
    }
}

void mabd_redmax_parameter_products(mabd_redmax_gradient* g, const mabd_redmax_solve* s,
                                    mabd_redmax_equation equation, int64_t step, mabd_real sign,
                                    const mabd_real* z) {
    const parameter_view v = {
        .g = g, .s = s, .equation = equation, .step = step, .back = true, .z = z};
    add_products(g, v, (int32_t)(s->part - g->sim->parts), sign);
    add_products(g, v, g->sim->part_count, sign);
}
