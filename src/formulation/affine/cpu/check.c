// SPDX-License-Identifier: Apache-2.0
// Measure the errors of rigid rows at a state, and how far axes exceed their stops. The rows are
// evaluated directly; no result of the solver is used. Consecutive joints of one row set are
// processed in lanes (math/lanes.h) if they have rigid rows only; lanes and single joints give the
// same numbers.

#include "formulation/affine/cpu/affine_lanes.h"
#include "formulation/affine/cpu/isa_table.h"
#include "formulation/affine/element/joint_error.h"

// ---- in lanes ----

/// Consecutive joints of one row set.
typedef struct joint_lanes {
    mabd_lanes a[12], b[12]; // coordinates of their bodies
    mabd_lanes X[6];         // anchors, on a and then on b
    mabd_lanes F[18];        // axes, in the frame of a and then of b
    mabd_lanes P[3];         // P_b - P_a
    mabd_lanes gap, angle, nonlinear;
} joint_lanes;

static void find_gaps(joint_lanes* MABD_RESTRICT j, bool points) {
    MABD_EACH_LANE(l) {
        mabd_joint_view v;
        v.Aa = mabd_lane_m3(j->a, l), v.ta = mabd_lane_v3(j->a + 9, l);
        v.Ab = mabd_lane_m3(j->b, l), v.tb = mabd_lane_v3(j->b + 9, l);
        v.Xa = mabd_lane_v3(j->X, l), v.Xb = mabd_lane_v3(j->X + 3, l);
        const mabd_vec3 P = mabd_joint_gap(&v);
        mabd_lane_put_v3(P, j->P, l);
        j->gap.at[l] = points ? mabd_v3_norm(P) : 0;
        j->angle.at[l] = j->nonlinear.at[l] = 0;
    }
}

static void open_slides(joint_lanes* MABD_RESTRICT j, const mabd_lanes* MABD_RESTRICT n) {
    MABD_EACH_LANE(l) {
        const mabd_real c = (mabd_real)fabs(
            mabd_slide_value(mabd_lane_m3(j->a, l), mabd_lane_v3(n, l), mabd_lane_v3(j->P, l)));
        j->gap.at[l] = mabd_affine_check_larger(j->gap.at[l], c);
        j->nonlinear.at[l] = mabd_affine_check_larger(j->nonlinear.at[l], c);
    }
}

static void open_crosses(joint_lanes* MABD_RESTRICT j, const mabd_lanes* MABD_RESTRICT u,
                         const mabd_lanes* MABD_RESTRICT w) {
    MABD_EACH_LANE(l) {
        const mabd_real c = (mabd_real)fabs(mabd_cross_value(
            mabd_lane_m3(j->a, l), mabd_lane_v3(u, l), mabd_lane_m3(j->b, l), mabd_lane_v3(w, l)));
        j->angle.at[l] = mabd_affine_check_larger(j->angle.at[l], c);
        j->nonlinear.at[l] = mabd_affine_check_larger(j->nonlinear.at[l], c);
    }
}

// True if some lane exceeds the worst error found so far, which is rare.
static bool is_worse(const joint_lanes* MABD_RESTRICT j,
                     const mabd_affine_joint_error* MABD_RESTRICT worst) {
    int more = worst->joint < 0;
    for (int l = 0; l < MABD_LANES; l++) {
        more |= (j->gap.at[l] > worst->gap) | (j->angle.at[l] > worst->angle) |
                (j->nonlinear.at[l] > worst->nonlinear);
    }
    return more;
}

static void load_joints(const mabd_model* m, const mabd_real* q, int32_t first, joint_lanes* j) {
    const mabd_model_joint* joints = m->joints + first;
    int32_t a[MABD_LANES], b[MABD_LANES], frame[MABD_LANES];
    bool one_frame = true;
    for (int l = 0; l < MABD_LANES; l++) {
        a[l] = joints[l].a, b[l] = joints[l].b, frame[l] = joints[l].frame;
        one_frame &= frame[l] == frame[0];
        for (int k = 0; k < 3; k++) {
            j->X[k].at[l] = joints[l].Xa[k], j->X[3 + k].at[l] = joints[l].Xb[k];
        }
    }
    mabd_lanes_load(12, q, a, j->a);
    mabd_lanes_load(12, q, b, j->b);
    if (m->row_sets[joints->row_set].points_only) return;
    if (one_frame) {
        mabd_lanes_fill(18, (const mabd_real*)m->frames, frame[0], j->F);
    } else {
        mabd_lanes_load(18, (const mabd_real*)m->frames, frame, j->F);
    }
}

// Check joints first .. first + MABD_LANES - 1.
static void check_lanes(const mabd_affine_sim* sim, const mabd_real* q, int32_t first,
                        mabd_affine_joint_error* worst) {
    const mabd_model* m = sim->model;
    const mabd_row_set* set = &m->row_sets[m->joints[first].row_set];
    joint_lanes j;
    load_joints(m, q, first, &j);
    find_gaps(&j, set->rigid[0].kind == MABD_ROW_POINT);
    for (int32_t r = 0; r < set->rigid_count; r++) {
        const mabd_row* row = &set->rigid[r];
        if (row->kind == MABD_ROW_SLIDE) open_slides(&j, j.F + 3 * row->axis);
        if (row->kind == MABD_ROW_CROSS)
            open_crosses(&j, j.F + 3 * row->other, j.F + 9 + 3 * row->axis);
    }
    if (!is_worse(&j, worst)) return;
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_affine_joint_error one = {j.gap.at[l], j.angle.at[l], j.nonlinear.at[l],
                                             first + l};
        mabd_affine_joint_error_add(worst, &one);
    }
}

// True if only rigid rows have to be checked.
static bool is_plain(const mabd_row_set* set) {
    bool plain = set->rigid_count > 0 && !set->laws;
    for (int32_t r = 0; r < set->control_count; r++) plain &= !set->control[r].rigid;
    return plain;
}

static bool fit_lanes(const mabd_model* m, int32_t first, int32_t last) {
    const int32_t row_set = m->joints[first].row_set;
    if (last - first < MABD_LANES || !is_plain(&m->row_sets[row_set])) return false;
    bool fit = true;
    for (int32_t i = first; i < first + MABD_LANES; i++) {
        fit &= m->joints[i].row_set == row_set && m->plan->joint_slot[i] >= 0;
    }
    return fit;
}

void MABD_STAGE(check)(const mabd_affine_sim* sim, const mabd_real* q, int32_t first, int32_t last,
                       mabd_affine_joint_error* worst) {
    const mabd_model* m = sim->model;
    int32_t i = first;
    while (i < last) {
        if (fit_lanes(m, i, last)) {
            check_lanes(sim, q, i, worst);
            i += MABD_LANES;
        } else {
            if (m->plan->joint_slot[i] >= 0) mabd_affine_stage_check_joint(sim, q, i, worst);
            i++;
        }
    }
    MABD_STAGE_END();
}
