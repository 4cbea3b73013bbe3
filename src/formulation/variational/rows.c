// SPDX-License-Identifier: Apache-2.0
// Rows of joints in a substep from node 0 to node 1.
//
//   held    rigid rows and rigid servos: C(z1) = target, impulses along G(z0)
//   axis    everything on a coordinate acts on its mean rate y = (x1 - x0)/h:
//             damper     -(h/2) d y before and after a node; if h d G M^-1 G' > 2, which these
//                        would turn round in every step, -(h/4) d y of the substep before the last
//                        one before it, and -(3h/4) d y after it
//             armature   I y is the momentum after the node, that before it is state
//             rate drive without limit: y is its rate in the middle of the substep
//           a servo or drive without limit between stops wants what the stops allow
//           together impulse = base - g y, the row y + (impulse - base)/g = 0
//   rate    the same on the relative angular velocity in the joint frame on b (three free
//           rotations), at node 0
//
// Both are of second order: the weights (1/2, 1/2) of the rates h/2 before and after a node have
// their mean at the node, and so have (1/4, 0, 3/4) of those 3h/2 and h/2 before and h/2 after it.
// The latter damp stiff dampers in full: the roots of 3/4 r^2 + 1/4 are 0.58 in magnitude, and
// with explicit springs up to h^2 k/m = 1 beside them no root exceeds 1. The coming velocity
// alone, as in [VI], is of first order (integrator symplectic-euler). The part after node 0 is
// implicit, in the row; that before node 1 is explicit, since its rate is known there (step.c).
// What a node still lacks of half the substep before it (`lack`) belongs to the part after it, so
// that substeps of other lengths and both kinds may follow each other.

#include "formulation/variational/variational_solve.h"
#include "rigid/script.h"
#include "rigid/stability.h"

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef MABD_SINGLE
#define ROUND_OFF ((mabd_real)(64 * FLT_EPSILON))
#else
#define ROUND_OFF ((mabd_real)(64 * DBL_EPSILON))
#endif

// ---- views -------------------------------------------------------------------------------------

mabd_rigid_pose mabd_variational_fixed_pose(const mabd_variational_sim* sim, int32_t body,
                                            mabd_real time) {
    const int32_t script = sim->body_script[body];
    if (script < 0) return sim->from[body];
    return mabd_rigid_script_pose(sim->model, &sim->model->scripts[script], time);
}

// Fill a view in place: copies of it cost as much as all rows of a ball joint.
MABD_HOT void look(const mabd_variational_sim* sim, const mabd_rigid_pose* poses, mabd_real time,
                   int32_t joint, mabd_joint_view* view) {
    const mabd_model_joint* j = &sim->model->joints[joint];
    mabd_rigid_pose fixed;
    mabd_model_joint_view(sim->model, j, view);
    if (mabd_variational_moves(sim, j->a)) {
        view->Aa = poses[j->a].R, view->ta = poses[j->a].c;
    } else {
        fixed = mabd_variational_fixed_pose(sim, j->a, time);
        view->Aa = fixed.R, view->ta = fixed.c;
    }
    if (mabd_variational_moves(sim, j->b)) {
        view->Ab = poses[j->b].R, view->tb = poses[j->b].c;
    } else {
        fixed = mabd_variational_fixed_pose(sim, j->b, time);
        view->Ab = fixed.R, view->tb = fixed.c;
    }
}

mabd_joint_view mabd_variational_view(const mabd_variational_sim* sim, const mabd_rigid_pose* poses,
                                      mabd_real time, int32_t joint) {
    mabd_joint_view view;
    look(sim, poses, time, joint, &view);
    return view;
}

mabd_rigid_row mabd_variational_turn_row(const mabd_joint_view* view, int k) {
    mabd_rigid_row J;
    J.a.f = J.b.f = mabd_v3(0, 0, 0);
    J.b.t = mabd_m3_column(&view->Fb, k);
    J.a.t = mabd_v3_scale(-1, mabd_m3_tmul(view->Aa, mabd_m3_mul(view->Ab, J.b.t)));
    return J;
}

void mabd_variational_read_axes(const mabd_variational_sim* sim, const mabd_rigid_pose* poses,
                                mabd_real time, int32_t joint, const mabd_real* near,
                                mabd_real* x) {
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    const mabd_joint_view view = mabd_variational_view(sim, poses, time, joint);
    mabd_joint_coordinates(&view, set->control_count, set->control_row, near, x);
}

// ---- at the start ------------------------------------------------------------------------------

mabd_real mabd_variational_own_compliance(const mabd_variational_sim* sim, int32_t joint,
                                          const mabd_rigid_row* G) {
    const mabd_model_joint* j = &sim->model->joints[joint];
    mabd_real sum = 0;
    if (mabd_variational_moves(sim, j->a)) {
        sum += mabd_rigid_stability_compliance(mabd_variational_class(sim, j->a), G->a);
    }
    if (mabd_variational_moves(sim, j->b)) {
        sum += mabd_rigid_stability_compliance(mabd_variational_class(sim, j->b), G->b);
    }
    return sum;
}

static void drop_row(mabd_variational_sim* sim, int32_t index) {
    mabd_variational_row* row = &sim->rows[index];
    memset(&sim->G[index], 0, sizeof *sim->G);
    memset(&sim->next_G[index], 0, sizeof *sim->next_G);
    row->kind = MABD_VARIATIONAL_NONE;
    row->own = row->c = 1, row->base = 0;
}

// Dampers and armature of a control on a row with G set; row->own is G M^-1 G'.
static void take_linear(const mabd_variational_solve* s, const mabd_control* c,
                        const mabd_variational_axis* axis, int32_t index) {
    mabd_variational_row* row = &s->sim->rows[index];
    const bool literal = s->sim->def.integrator == MABD_INTEGRATOR_SYMPLECTIC_EULER;
    const mabd_real time = literal ? s->h : axis->lack + s->h / 2;
    const mabd_real g = time * c->damping + c->armature;
    row->damping = literal ? 0 : c->damping;
    row->lagged = s->h * c->damping * row->own > 2;
    row->late = row->lagged ? s->h / 4 : s->h / 2;
    row->base = axis->armature;
    if (!(g > 0)) {
        drop_row(s->sim, index);
        return;
    }
    row->c = 1 / g;
    row->own += row->c;
}

static mabd_real between(mabd_real x, mabd_real lower, mabd_real upper) {
    return x < lower ? lower : x > upper ? upper : x;
}

// Coordinate that a rigid servo wants at the end, between the stops.
static mabd_real target_of(const mabd_variational_solve* s, const mabd_control* c, int32_t k) {
    const mabd_real target = s->sim->input[k];
    return c->limited ? between(target, c->lower, c->upper) : target;
}

// Rate that a drive wants over a substep, that of its middle, as far as stops allow it.
static mabd_real rate_of(const mabd_variational_solve* s, const mabd_control* c, int32_t k) {
    const mabd_rigid_inputs* in = &s->sim->inputs;
    const mabd_real x0 = s->sim->x0[k];
    mabd_real rate = in->target_set[k]
                         ? in->target[k]
                         : mabd_rigid_signal(c->drive, s->time, s->h, s->time + s->h / 2);
    if (c->limited) rate = between(rate, (c->lower - x0) / s->h, (c->upper - x0) / s->h);
    return rate;
}

static void start_control(const mabd_variational_solve* s, int32_t joint,
                          const mabd_joint_view* view, int32_t r, int32_t index) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    mabd_variational_row* row = &sim->rows[index];
    const mabd_control* c = &set->control[r];
    const int32_t k = sim->model->joints[joint].coordinate + r;
    row->kind = mabd_variational_is_held(c) ? MABD_VARIATIONAL_HELD : MABD_VARIATIONAL_AXIS;
    if (row->kind == MABD_VARIATIONAL_HELD) {
        row->target = target_of(s, c, k);
        return;
    }
    if (mabd_variational_is_damped_turn(set, r)) {
        row->kind = MABD_VARIATIONAL_RATE;
        sim->G[index] = mabd_variational_turn_row(view, set->control_row[r].axis);
        row->own = mabd_variational_own_compliance(sim, joint, &sim->G[index]);
    }
    if (mabd_variational_is_paced(c)) {
        row->target = rate_of(s, c, k);
        return;
    }
    take_linear(s, c, &sim->next_axis[k], index);
}

static void start_joint(const mabd_variational_solve* s, int32_t joint) {
    mabd_variational_sim* sim = s->sim;
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    const int32_t first = mabd_variational_first_row(sim, joint);
    const int32_t coordinate = sim->model->joints[joint].coordinate;
    const int32_t rigid = set->rigid_count, count = rigid + set->control_count;
    mabd_real C[2 * MABD_JOINT_MAX_ROWS];
    mabd_joint_view view;
    if (first < 0) return;
    mabd_rigid_row* J = sim->G + first;
    look(sim, sim->from, s->time, joint, &view);
    mabd_rigid_joint_rows(&view, rigid, set->rigid, NULL, C, J);
    if (set->control_count > 0) {
        mabd_rigid_joint_rows(&view, set->control_count, set->control_row, sim->x0 + coordinate,
                              C + rigid, J + rigid);
    }
    for (int32_t r = 0; r < count; r++) {
        mabd_variational_row* row = &sim->rows[first + r];
        row->kind = MABD_VARIATIONAL_HELD;
        row->c = row->base = row->target = row->damping = 0;
        row->own = mabd_variational_own_compliance(sim, joint, &J[r]);
        if (r >= rigid) start_control(s, joint, &view, r - rigid, first + r);
        if (!(row->own > 0)) drop_row(sim, first + r); // between bodies that do not turn by it
        sim->compliance[first + r] = row->c;
    }
}

void mabd_variational_start_rows(const mabd_variational_solve* s) {
    for (int32_t i = 0; i < s->island->joint_count; i++) start_joint(s, s->island->joints[i]);
}

// ---- at an iterate -----------------------------------------------------------------------------

// Twist of a side in a substep, for rows at its start.
static mabd_rigid_twist side_twist(const mabd_variational_solve* s, int32_t body) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_rigid_twist none = {{0, 0, 0}, {0, 0, 0}};
    if (mabd_variational_moves(sim, body)) return sim->motion[body].V;
    const int32_t script = sim->body_script[body];
    if (script < 0) return none;
    const mabd_real middle = s->time + s->h / 2;
    return mabd_rigid_script_at(sim->model, &sim->model->scripts[script], middle).u;
}

static void set_residual(const mabd_variational_solve* s, const mabd_model_joint* j, int32_t index,
                         mabd_real over_h, mabd_real C, mabd_real x0) {
    mabd_variational_row* row = &s->sim->rows[index];
    const mabd_real impulse = s->sim->impulse[index];
    mabd_real y = 0;
    switch (row->kind) {
    case MABD_VARIATIONAL_HELD:
        row->r = (C - row->target) * over_h;
        return;
    case MABD_VARIATIONAL_AXIS:
        y = (C - x0) * over_h;
        break;
    case MABD_VARIATIONAL_RATE:
        y = mabd_rigid_row_rate(&s->sim->G[index], side_twist(s, j->a), side_twist(s, j->b));
        break;
    case MABD_VARIATIONAL_NONE:
        row->r = impulse;
        return;
    }
    row->r = y - row->target + row->c * (impulse - row->base);
}

// Sum of magnitudes: at least the length.
static mabd_real size_of(mabd_vec3 x) {
    return (mabd_real)(fabs(x.x) + fabs(x.y) + fabs(x.z));
}

mabd_real mabd_variational_joint_error(const mabd_variational_solve* s, int32_t joint,
                                       bool slopes) {
    mabd_variational_sim* sim = s->sim;
    const mabd_model_joint* j = &sim->model->joints[joint];
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    const int32_t first = mabd_variational_first_row(sim, joint), rigid = set->rigid_count;
    mabd_joint_view view;
    look(sim, sim->to, s->time + s->h, joint, &view);
    const mabd_real size = size_of(view.ta) + size_of(view.tb) + 1, over_h = 1 / s->h;
    const mabd_real* x0 = sim->x0 + j->coordinate;
    mabd_real C[2 * MABD_JOINT_MAX_ROWS], most = 0;
    mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
    if (slopes) {
        mabd_rigid_joint_rows(&view, rigid, set->rigid, NULL, C, J);
    } else {
        const mabd_vec3 gap = mabd_joint_gap(&view);
        for (int32_t r = 0; r < rigid; r++) C[r] = mabd_row_value(&view, &set->rigid[r], gap);
    }
    if (set->control_count > 0) {
        if (slopes) {
            mabd_rigid_joint_rows(&view, set->control_count, set->control_row, x0, C + rigid,
                                  J + rigid);
        } else {
            mabd_joint_coordinates(&view, set->control_count, set->control_row, x0, C + rigid);
        }
        memcpy(sim->x1 + j->coordinate, C + rigid, (size_t)set->control_count * sizeof *C);
    }
    for (int32_t r = 0; r < rigid + set->control_count; r++) {
        mabd_variational_row* row = &sim->rows[first + r];
        set_residual(s, j, first + r, over_h, C[r], r < rigid ? 0 : x0[r - rigid]);
        const bool moving = row->kind <= MABD_VARIATIONAL_AXIS;
        if (slopes && moving) {
            sim->next_G[first + r].a = mabd_variational_by_velocity(sim, j->a, J[r].a);
            sim->next_G[first + r].b = mabd_variational_by_velocity(sim, j->b, J[r].b);
        }
        if (row->kind == MABD_VARIATIONAL_RATE) sim->next_G[first + r] = sim->G[first + r];
        const mabd_real error = (mabd_real)fabs(row->r) * s->h - ROUND_OFF * size;
        if (row->kind == MABD_VARIATIONAL_HELD && !(error <= most)) most = error;
    }
    return most;
}

// True if an axis that a joint keeps parallel is reversed. Axis k is kept if two cross rows of the
// joint have it, or all three axes are; of the axes of a universal joint none is.
static bool is_reversed(const mabd_variational_solve* s, int32_t joint) {
    const mabd_row_set* set = mabd_variational_set(s->sim, joint);
    int32_t rows[3] = {0, 0, 0}, count = 0;
    for (int32_t r = 0; r < set->rigid_count; r++) {
        if (set->rigid[r].kind != MABD_ROW_CROSS) continue;
        rows[set->rigid[r].axis]++;
        count++;
    }
    if (count < 2) return false;
    const mabd_joint_view view = mabd_variational_view(s->sim, s->sim->to, s->time + s->h, joint);
    const mabd_mat3 S = mabd_joint_frames(&view);
    const mabd_real cosine[3] = {S.c1.x, S.c2.y, S.c3.z};
    bool reversed = false;
    for (int k = 0; k < 3; k++) reversed |= (count == 3 || rows[k] == 2) && !(cosine[k] > 0);
    return reversed;
}

bool mabd_variational_is_reversed(const mabd_variational_solve* s, int32_t* joint) {
    for (int32_t i = 0; i < s->island->joint_count; i++) {
        *joint = s->island->joints[i];
        if (is_reversed(s, *joint)) return true;
    }
    return false;
}
