// SPDX-License-Identifier: Apache-2.0
// Joints with springs on the rotation vector, eight at a time (affine/cpu/pack.h): the work done
// once per joint, not once per body. With B = A_a F_a and F = A_b F_b
//
//   start    phi = log(B'F) at the rigid reference, axes n = B grad phi,
//            x_ref = phi + 2 pi n phi/|phi| nearest to the prediction, right-hand side x_ref - x*
//            with x* = c (k rest + kp target); with dampers or armature the compliance matrix and
//            the right-hand side of element/turn_damper.h
//   finish   x = log(polar(B'F)) nearest to x_ref,  x' = (x - x_b)/bh, and the history of dampers
//
// Logarithms are those of joint/rows.h for angles up to a quarter turn. Joints with larger angles,
// or whose coordinates exceed 1 rad and may count whole turns, are processed one by one between the
// loops.

#include "formulation/affine/cpu/pack_lanes.h"
#include "formulation/affine/element/turn_joint.h"
#include "formulation/affine/limits.h"

#include "math/block.h"
#include "math/polar.h"

/// Joints of a group at one state.
typedef struct turn_lanes {
    mabd_lanes B[9];   // frame on a, world
    mabd_lanes Q[9];   // B'F
    mabd_lanes phi[3]; // rotation vector
    mabd_lanes c;      // of its gradients
} turn_lanes;

// ---- memory ----
// Data of a later group is prefetched a few cache lines at a time (pack_springs.c).

static const mabd_affine_spring_group* group_ahead(const mabd_affine_sim* sim,
                                                   const mabd_affine_spring_group* group) {
    const bool is_there =
        group - sim->packs->groups + MABD_PREFETCH_PACKS < sim->packs->group_count;
    return is_there ? group + MABD_PREFETCH_PACKS : NULL;
}

static void prefetch_bodies(const mabd_affine_spring_group* group, const mabd_real* q) {
    for (int l = 0; group && l < group->count; l++) {
        const mabd_real *a = q + 12 * (size_t)group->a[l], *b = q + 12 * (size_t)group->b[l];
        MABD_PREFETCH_FAR(a);
        MABD_PREFETCH_FAR(a + 8);
        MABD_PREFETCH_FAR(b);
        MABD_PREFETCH_FAR(b + 8);
    }
}

static void prefetch_frames(const mabd_affine_sim* sim, const mabd_affine_spring_group* group) {
    for (int l = 0; group && l < group->count; l++) {
        const mabd_real* frame = (const mabd_real*)&sim->model->frames[group->frame[l]];
        for (int k = 0; k < 18; k += 8) MABD_PREFETCH_FAR(frame + k);
    }
}

// Prefetch the coordinates, three numbers each: consecutive joints share a cache line.
static void prefetch_coordinates(const mabd_affine_sim* sim,
                                 const mabd_affine_spring_group* group) {
    for (int l = 0; group && l < group->count; l += 2) {
        const size_t at = (size_t)group->coordinate[l];
        MABD_PREFETCH_FAR(sim->x + at);
        MABD_PREFETCH_FAR(sim->x1 + at);
        MABD_PREFETCH_FAR(sim->xd + at);
        MABD_PREFETCH_FAR(sim->xd1 + at);
        MABD_PREFETCH_FAR(sim->x_ref + at);
        if (!group->damped) continue;
        for (int k = 0; k < 24; k += 8) MABD_PREFETCH_FAR(sim->turn + 4 * at + k);
        for (int k = 0; k < 18; k += 8) MABD_PREFETCH_FAR(sim->turn_compliance + 3 * at + k);
    }
}

static void prefetch_axes(const mabd_affine_sim* sim, const mabd_affine_spring_group* group) {
    for (int l = 0; group && l < group->count; l++) {
        MABD_PREFETCH_FAR(sim->turn_axes + 3 * (size_t)group->coordinate[l]);
        MABD_PREFETCH_FAR(sim->lambda + group->row[l]);
    }
}

// ---- joints ----

static void find_frames(const mabd_lanes* MABD_RESTRICT a, const mabd_lanes* MABD_RESTRICT b,
                        const mabd_lanes* MABD_RESTRICT frames, turn_lanes* MABD_RESTRICT out) {
    MABD_EACH_LANE(l) {
        const mabd_mat3 B = mabd_m3_product(mabd_lane_m3(a, l), mabd_lane_m3(frames, l));
        const mabd_mat3 F = mabd_m3_product(mabd_lane_m3(b, l), mabd_lane_m3(frames + 9, l));
        mabd_lane_put_m3(B, out->B, l);
        mabd_lane_put_m3(mabd_m3_tproduct(B, F), out->Q, l);
    }
}

static void find_near_turns(const mabd_lanes* MABD_RESTRICT Q, mabd_lanes* MABD_RESTRICT phi,
                            mabd_lanes* MABD_RESTRICT c, mabd_lanes* MABD_RESTRICT cosine) {
    MABD_EACH_LANE(l) {
        const mabd_mat3 q = mabd_lane_m3(Q, l);
        const mabd_rotvec turn = mabd_so3_log_small(q);
        cosine->at[l] = mabd_so3_two_cosines(q);
        mabd_lane_put_v3(turn.phi, phi, l);
        c->at[l] = turn.c;
    }
}

// Compute phi and c of Q, which must be a rotation.
static void find_turns(turn_lanes* w) {
    mabd_lanes cosine;
    find_near_turns(w->Q, w->phi, &w->c, &cosine);
    for (int l = 0; l < MABD_LANES; l++) {
        if (cosine.at[l] >= 0) continue;
        const mabd_vec3 phi = mabd_so3_log(mabd_lane_m3(w->Q, l));
        mabd_lane_put_v3(phi, w->phi, l);
        w->c.at[l] = mabd_so3_gradient_factor(phi);
    }
}

static void find_axes(const turn_lanes* MABD_RESTRICT w, mabd_lanes* MABD_RESTRICT axes) {
    MABD_EACH_LANE(l) {
        mabd_rotvec turn;
        turn.phi = mabd_lane_v3(w->phi, l), turn.c = w->c.at[l];
        mabd_lane_put_m3(mabd_m3_product(mabd_lane_m3(w->B, l), mabd_rotvec_gradients(turn)), axes,
                         l);
    }
}

// Compute the frames of a group at affine coordinates q.
static void view_group(const mabd_affine_sim* sim, const mabd_affine_spring_group* group,
                       const mabd_real* q, turn_lanes* w) {
    mabd_lanes a[12], b[12], frames[18];
    mabd_lanes_load(12, q, group->a, a);
    mabd_lanes_load(12, q, group->b, b);
    mabd_lanes_load(18, (const mabd_real*)sim->model->frames, group->frame, frames);
    find_frames(a, b, frames, w);
}

// Replace `near` by the equivalent rotation vector nearest to it. Whole turns are counted beyond 1
// rad only (joint/rows.h).
MABD_HOT void unwrap_lane(const turn_lanes* w, int l, mabd_real* near) {
    const mabd_vec3 last = mabd_v3_load(near), all = mabd_v3(1, 1, 1);
    mabd_vec3 phi = mabd_lane_v3(w->phi, l);
    if (mabd_v3_dot(last, last) > MABD_UNWRAP_SQUARE_RAD2) phi = mabd_rotvec_unwrap(phi, last, all);
    mabd_v3_store(phi, near);
}

// ---- dampers ----

/// Joints of a damped group: gains, history and results.
typedef struct damper_lanes {
    mabd_lanes gains[12]; // as of mabd_turn_gains
    mabd_lanes old[12];   // history: sim->turn
    mabd_lanes x_ref[3];
    mabd_lanes C[6], rhs[3];
    mabd_lanes y[3], rate[3]; // turn of the step, new rate
} damper_lanes;

static void load_history(const mabd_affine_sim* sim, const mabd_affine_spring_group* group,
                         damper_lanes* w) {
    const mabd_real* p[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) p[l] = sim->turn + 4 * (size_t)group->coordinate[l];
    mabd_lanes_gather(12, p, w->old);
}

MABD_HOT mabd_turn_history history_lane(const damper_lanes* d, mabd_real per_bh, mabd_real w,
                                        mabd_real w1, int l) {
    mabd_turn_history h;
    h.x = mabd_lane_v3(d->old, l), h.turn = mabd_lane_v3(d->old + 3, l);
    h.rate_b = mabd_turn_rate_b(w, w1, mabd_lane_v3(d->old + 6, l), mabd_lane_v3(d->old + 9, l));
    h.per_bh = per_bh, h.w1 = w1;
    return h;
}

// Compute the compliances and right-hand sides of the rows of a damped group.
static void find_rows(const mabd_affine_step_scale* MABD_RESTRICT step,
                      const turn_lanes* MABD_RESTRICT t, damper_lanes* MABD_RESTRICT d) {
    const mabd_real per_bh = 1 / step->beta_h, w = step->w, w1 = step->w1;
    MABD_EACH_LANE(l) {
        mabd_turn_gains gains;
        mabd_rotvec turn;
        mabd_vec3 rhs;
        gains.stiffness = mabd_lane_v3(d->gains, l), gains.target = mabd_lane_v3(d->gains + 3, l);
        gains.damping = mabd_lane_v3(d->gains + 6, l);
        gains.armature = mabd_lane_v3(d->gains + 9, l);
        turn.phi = mabd_lane_v3(t->phi, l), turn.c = t->c.at[l];
        const mabd_turn_history h = history_lane(d, per_bh, w, w1, l);
        const mabd_turn_damper damper =
            mabd_turn_damper_at(&gains, &h, mabd_lane_m3(t->Q, l), turn);
        const mabd_sym3 C =
            mabd_turn_rows(&gains, per_bh, &damper, mabd_lane_v3(d->x_ref, l), &rhs);
        mabd_lane_put_s3(C, d->C, l);
        mabd_lane_put_v3(rhs, d->rhs, l);
    }
}

// Write compliances and right-hand sides of the dampers and springs of a group, after x_ref.
static void write_damped(mabd_affine_sim* sim, const mabd_affine_spring_group* group,
                         const turn_lanes* t) {
    static const int order[8] = {0, 1, 2, 3, 4, 5, 5, 5};
    damper_lanes d;
    mabd_real* p[MABD_LANES];
    mabd_lanes_load(12, sim->turn_gains, group->row_set, d.gains);
    load_history(sim, group, &d);
    mabd_lanes_pick(3, sim->x_ref, group->coordinate, d.x_ref);
    find_rows(&sim->step, t, &d);
    for (int l = 0; l < MABD_LANES; l++) { // lanes that repeat a joint write the same
        p[l] = sim->turn_compliance + 3 * (size_t)group->coordinate[l];
        mabd_v3_store(mabd_lane_v3(d.rhs, l), sim->lambda + group->row[l]);
    }
    mabd_lanes_turn(8, d.C, order, p);
}

// Compute the turns of the step and the new rates of a damped group. Q: new rotations.
static void find_rates(const mabd_affine_step_scale* MABD_RESTRICT step,
                       const mabd_lanes* MABD_RESTRICT Q, damper_lanes* MABD_RESTRICT d) {
    const mabd_real per_bh = 1 / step->beta_h, w = step->w, w1 = step->w1;
    MABD_EACH_LANE(l) {
        const mabd_turn_history h = history_lane(d, per_bh, w, w1, l);
        const mabd_vec3 y = mabd_turn_from(h.x, mabd_lane_m3(Q, l));
        mabd_lane_put_v3(y, d->y, l);
        mabd_lane_put_v3(mabd_turn_rate(&h, y), d->rate, l);
    }
}

// Join the turns of the steps before and of this one (y).
static void join_turns(damper_lanes* MABD_RESTRICT d) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 before = mabd_lane_v3(d->old + 3, l);
        mabd_lane_put_v3(mabd_turn_joined(before, mabd_lane_v3(d->y, l)), d->y, l);
    }
}

// Update the history of the dampers of a group. t: new rotations and their vectors.
static void finish_dampers(mabd_affine_sim* sim, bool keep_history,
                           const mabd_affine_spring_group* group, const turn_lanes* t) {
    static const int order[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    damper_lanes d;
    mabd_lanes new[12];
    mabd_real* p[MABD_LANES];
    load_history(sim, group, &d);
    find_rates(&sim->step, t->Q, &d);
    if (keep_history) join_turns(&d);
    for (int k = 0; k < 3; k++) {
        new[k] = t->phi[k], new[3 + k] = d.y[k], new[6 + k] = d.rate[k];
        new[9 + k] = d.old[(keep_history ? 9 : 6) + k];
    }
    for (int l = 0; l < MABD_LANES; l++) p[l] = sim->turn + 4 * (size_t)group->coordinate[l];
    mabd_lanes_turn(12, new, order, p); // lanes that repeat a joint write the same
}

// ---- start ----

// Write the right-hand sides of the springs of one joint without dampers.
static void write_rhs(mabd_affine_sim* sim, const mabd_affine_spring_group* group, int l) {
    const size_t at = (size_t)group->coordinate[l];
    const mabd_affine_control_value* value =
        sim->controls + (size_t)group->row_set[l] * MABD_JOINT_MAX_ROWS;
    mabd_real* rhs = sim->lambda + group->row[l];
    for (size_t k = 0; k < 3; k++) {
        rhs[k] = sim->x_ref[at + k] - value[k].compliance * value[k].target;
    }
}

void MABD_STAGE(start_group)(mabd_affine_sim* sim, const mabd_affine_spring_group* group) {
    alignas(32) mabd_real spare[MABD_LANES][12];
    mabd_real* axes_at[MABD_LANES];
    mabd_lanes axes[9];
    turn_lanes w;
    const mabd_affine_spring_group* next = group_ahead(sim, group);
    prefetch_bodies(next, sim->ref);
    view_group(sim, group, sim->ref, &w);
    prefetch_frames(sim, next);
    find_turns(&w);
    prefetch_coordinates(sim, next);
    find_axes(&w, axes);
    prefetch_axes(sim, next);
    for (int l = 0; l < MABD_LANES; l++) axes_at[l] = spare[l];
    static const int order[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8};
    mabd_lanes_turn(12, axes, order, axes_at);
    for (int l = 0; l < group->count; l++) {
        const size_t at = (size_t)group->coordinate[l];
        mabd_reals_copy(9, spare[l], sim->turn_axes + 3 * at);
        // only contacts read rows of these joints one by one
        if (sim->contacts) mabd_v3_store(mabd_lane_v3(w.phi, l), sim->phi + 3 * at);
        unwrap_lane(&w, l, sim->x_ref + at);
        if (!group->damped) write_rhs(sim, group, l);
    }
    if (group->damped) write_damped(sim, group, &w);
}

// ---- finish ----

static void finish_joint(mabd_affine_sim* sim, bool keep_history, size_t at, mabd_real rate,
                         const mabd_real* x_new) {
    const mabd_real w = sim->step.w, w1 = sim->step.w1;
    for (size_t k = at; k < at + 3; k++) {
        const mabd_real x = sim->x[k], xd = sim->xd[k];
        const mabd_real x_b = w * x + w1 * sim->x1[k];
        sim->x[k] = x_new[k - at];
        sim->xd[k] = rate * (x_new[k - at] - x_b);
        if (!keep_history) sim->x1[k] = x, sim->xd1[k] = xd;
    }
}

void MABD_STAGE(finish_group)(mabd_affine_sim* sim, bool keep_history,
                              const mabd_affine_spring_group* group) {
    const mabd_real rate = 1 / sim->step.beta_h;
    turn_lanes w;
    mabd_lanes R[9];
    bool turned[MABD_LANES];
    const mabd_affine_spring_group* next = group_ahead(sim, group);
    prefetch_bodies(next, sim->q_new);
    view_group(sim, group, sim->q_new, &w);
    prefetch_frames(sim, next);
    MABD_STAGE(turn_pack)(w.Q, R, turned);
    prefetch_coordinates(sim, next);
    for (int k = 0; k < 9; k++) w.Q[k] = R[k];
    find_turns(&w);
    if (group->damped) finish_dampers(sim, keep_history, group, &w);
    for (int l = 0; l < group->count; l++) {
        const size_t at = (size_t)group->coordinate[l];
        mabd_real x[3];
        mabd_v3_store(mabd_v3_load(sim->x_ref + at), x);
        unwrap_lane(&w, l, x);
        finish_joint(sim, keep_history, at, rate, x);
    }
}
