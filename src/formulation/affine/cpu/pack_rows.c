// SPDX-License-Identifier: Apache-2.0
// Packs of bodies that carry joints with any rigid rows (affine/cpu/pack.h): assemble and update,
// all lanes at once. The mathematics is that of affine/element/assemble_rows.h for one body, with
// the rows of joint/rows.h. For every row after the point rows
//
//   J    on this body, from both references             Y = H^-1 J'
//   v    s R (Y X + tau): effect of Y on the point rows at X
//
//        | R c(X, X) R'    v   |               | s s R c(X_i, X_j) R'   s_i R (Y_j X_i + tau) |
//   D += |                     |,    U(i, j) = |                                              |
//        |      v'        J Y  |               |     its transpose            Y_i J_j         |
//
//   b += (s R (y X + tau), J y)
//
// The side that begins a joint adds C(ref) and the error of linearisation, both computed from the
// data of J. Joints with point rows only are assembled as in pack_balls.c: each side adds its own
// point.

#include "formulation/affine/cpu/segment.h"
#include "formulation/affine/element/joint_jacobian.h"

// Reals of a side: D, then the right-hand side, then C.
#define SIDE_REALS (MABD_PLAN_SLOT_ROWS * (MABD_PLAN_SLOT_ROWS + 2))

/// One row that is not a point row.
typedef struct row_lanes {
    mabd_lanes J[12], Y[12];
} row_lanes;

/// One joint of each body.
typedef struct side_lanes {
    row_lanes rows[MABD_JOINT_MAX_ROWS];
    mabd_lanes* out;               // (SIDE_REALS) D as in mabd_affine_segment_at
    int32_t points, others, width; // rows: 3 or 0, those after them, all
} side_lanes;

// ---- rows ----

static void gap_lanes(const mabd_lanes* MABD_RESTRICT here, const mabd_lanes* MABD_RESTRICT X,
                      const mabd_lanes* MABD_RESTRICT there, const mabd_lanes* MABD_RESTRICT Y,
                      mabd_real sign, mabd_lanes* MABD_RESTRICT gap) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 near = mabd_v3_add(mabd_m3_mul(mabd_lane_m3(here, l), mabd_lane_v3(X, l)),
                                           mabd_lane_v3(here + 9, l));
        const mabd_vec3 far = mabd_v3_add(mabd_m3_mul(mabd_lane_m3(there, l), mabd_lane_v3(Y, l)),
                                          mabd_lane_v3(there + 9, l));
        mabd_lane_put_v3(mabd_v3_scale(sign, mabd_v3_sub(near, far)), gap, l);
    }
}

// Compute P_b - P_a if the joint has slide rows or if `needed`.
static void find_gap(const mabd_affine_joint_ends* ends, const mabd_row_set* set, bool needed,
                     mabd_lanes* gap) {
    for (int32_t r = 0; r < set->rigid_count; r++) needed |= set->rigid[r].kind == MABD_ROW_SLIDE;
    if (!needed) return;
    gap_lanes(ends->here, ends->X, ends->there, ends->Y, ends->is_b ? 1 : -1, gap);
}

// Compute J of a cross row. x: axis of this body, z: of the other body.
static void cross_row(const mabd_lanes* MABD_RESTRICT here, const mabd_lanes* MABD_RESTRICT there,
                      const mabd_lanes* MABD_RESTRICT x, const mabd_lanes* MABD_RESTRICT z,
                      mabd_real sign, mabd_lanes* MABD_RESTRICT J) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 n =
            mabd_affine_row_seen(mabd_lane_m3(here, l), mabd_lane_m3(there, l), mabd_lane_v3(z, l));
        mabd_lane_put_vec12(mabd_affine_cross_jacobian(mabd_lane_v3(x, l), mabd_v3_scale(sign, n)),
                            J, l);
    }
}

static void slide_row_on_b(const mabd_lanes* MABD_RESTRICT here,
                           const mabd_lanes* MABD_RESTRICT there, const mabd_lanes* MABD_RESTRICT X,
                           const mabd_lanes* MABD_RESTRICT n, mabd_lanes* MABD_RESTRICT J) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 seen =
            mabd_affine_row_seen(mabd_lane_m3(here, l), mabd_lane_m3(there, l), mabd_lane_v3(n, l));
        mabd_lane_put_vec12(mabd_vec12_at(mabd_lane_v3(X, l), seen), J, l);
    }
}

static void slide_row_on_a(const mabd_lanes* MABD_RESTRICT here,
                           const mabd_lanes* MABD_RESTRICT gap, const mabd_lanes* MABD_RESTRICT X,
                           const mabd_lanes* MABD_RESTRICT n, mabd_lanes* MABD_RESTRICT J) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 d = mabd_m3_tmul(mabd_lane_m3(here, l), mabd_lane_v3(gap, l));
        mabd_lane_put_vec12(mabd_affine_slide_jacobian(mabd_lane_v3(X, l), mabd_lane_v3(n, l), d),
                            J, l);
    }
}

// Axes of a row: n or u of a; w of b without its sign.
static const mabd_lanes* axis_of_a(const mabd_affine_joint_ends* ends, const mabd_row* row) {
    return ends->F + 3 * (row->kind == MABD_ROW_SLIDE ? row->axis : row->other);
}
static const mabd_lanes* axis_of_b(const mabd_affine_joint_ends* ends, const mabd_row* row) {
    return ends->F + 9 + 3 * row->axis;
}

static void find_row(const mabd_affine_joint_ends* ends, const mabd_row* row, const mabd_lanes* gap,
                     mabd_lanes* J) {
    const bool is_b = ends->is_b;
    const mabd_lanes *a = axis_of_a(ends, row), *b = axis_of_b(ends, row);
    if (row->kind == MABD_ROW_CROSS) {
        cross_row(ends->here, ends->there, is_b ? b : a, is_b ? a : b, row->sign, J);
    } else if (is_b) {
        slide_row_on_b(ends->here, ends->there, ends->X, a, J);
    } else {
        slide_row_on_a(ends->here, gap, ends->X, a, J);
    }
}

// ---- beginning of a joint ----

void MABD_STAGE(lanes_strain)(const mabd_lanes* MABD_RESTRICT soft,
                              const mabd_lanes* MABD_RESTRICT share,
                              const mabd_lanes* MABD_RESTRICT S, mabd_lanes* MABD_RESTRICT e) {
    MABD_EACH_LANE(l) {
        mabd_lane_put_s3(mabd_affine_strain_of(soft->at[l], share->at[l], mabd_lane_s3(S, l)), e,
                         l);
    }
}

void MABD_STAGE(lanes_own_strain)(const mabd_affine_block* MABD_RESTRICT b,
                                  const mabd_lanes* MABD_RESTRICT S, mabd_lanes* MABD_RESTRICT e) {
    MABD_EACH_LANE(l) {
        mabd_lane_put_s3(mabd_affine_block_strain(b, mabd_lane_s3(S, l)), e, l);
    }
}

// Compute C of a cross row. u, w: axes, w without its sign. Ra .. eb: of a and b.
static void begin_cross(const mabd_lanes* MABD_RESTRICT Ra, const mabd_lanes* MABD_RESTRICT ea,
                        const mabd_lanes* MABD_RESTRICT u, const mabd_lanes* MABD_RESTRICT Rb,
                        const mabd_lanes* MABD_RESTRICT eb, const mabd_lanes* MABD_RESTRICT w,
                        mabd_real sign, mabd_lanes* MABD_RESTRICT C) {
    MABD_EACH_LANE(l) {
        const mabd_mat3 A = mabd_lane_m3(Ra, l), B = mabd_lane_m3(Rb, l);
        const mabd_vec3 x = mabd_lane_v3(u, l), z = mabd_v3_scale(sign, mabd_lane_v3(w, l));
        C->at[l] =
            mabd_cross_value(A, x, B, z) +
            mabd_affine_cross_remainder(A, mabd_lane_s3(ea, l), x, B, mabd_lane_s3(eb, l), z);
    }
}

static void begin_slide(const mabd_lanes* MABD_RESTRICT Ra, const mabd_lanes* MABD_RESTRICT ea,
                        const mabd_lanes* MABD_RESTRICT n, const mabd_lanes* MABD_RESTRICT Xa,
                        const mabd_lanes* MABD_RESTRICT Rb, const mabd_lanes* MABD_RESTRICT eb,
                        const mabd_lanes* MABD_RESTRICT Xb, const mabd_lanes* MABD_RESTRICT gap,
                        mabd_lanes* MABD_RESTRICT C) {
    MABD_EACH_LANE(l) {
        const mabd_mat3 A = mabd_lane_m3(Ra, l);
        const mabd_vec3 x = mabd_lane_v3(n, l);
        C->at[l] = mabd_slide_value(A, x, mabd_lane_v3(gap, l)) +
                   mabd_affine_slide_remainder(A, mabd_lane_s3(ea, l), x, mabd_lane_v3(Xa, l),
                                               mabd_lane_m3(Rb, l), mabd_lane_s3(eb, l),
                                               mabd_lane_v3(Xb, l));
    }
}

static void begin_rows(const mabd_affine_joint_ends* ends, const mabd_row* rows, int32_t count,
                       const mabd_lanes* gap, mabd_lanes* C) {
    const mabd_lanes *Ra = ends->here, *Rb = ends->there, *ea = ends->e, *eb = ends->f;
    const mabd_lanes *Xa = ends->X, *Xb = ends->Y;
    if (ends->is_b) {
        Ra = ends->there, Rb = ends->here, ea = ends->f, eb = ends->e;
        Xa = ends->Y, Xb = ends->X;
    }
    for (int32_t r = 0; r < count; r++) {
        const mabd_lanes* a = axis_of_a(ends, &rows[r]);
        if (rows[r].kind == MABD_ROW_CROSS) {
            begin_cross(Ra, ea, a, Rb, eb, axis_of_b(ends, &rows[r]), rows[r].sign, &C[r]);
        } else {
            begin_slide(Ra, ea, a, Xa, Rb, eb, Xb, gap, &C[r]);
        }
    }
}

// ---- blocks ----

// Compute s R (D X + tau), stored with stride `stride`.
static void move_points(const mabd_lanes* MABD_RESTRICT R,
                        const mabd_affine_pack_side* MABD_RESTRICT side,
                        const mabd_lanes* MABD_RESTRICT Y, int32_t stride,
                        mabd_lanes* MABD_RESTRICT v) {
    MABD_EACH_LANE(l) {
        const mabd_vec12 y = mabd_lane_vec12(Y, l);
        const mabd_vec3 move = mabd_vec12_move(&y, mabd_lane_v3(side->X, l));
        const mabd_vec3 at = mabd_v3_scale(side->sign.at[l], mabd_m3_mul(mabd_lane_m3(R, l), move));
        v[0].at[l] = at.x, v[stride].at[l] = at.y, v[2 * stride].at[l] = at.z;
    }
}

static void dot_rows(const mabd_lanes* MABD_RESTRICT J, const mabd_lanes* MABD_RESTRICT Y,
                     mabd_lanes* MABD_RESTRICT k) {
    MABD_EACH_LANE(l) {
        k->at[l] = mabd_vec12_dot(mabd_lane_vec12(J, l), mabd_lane_vec12(Y, l));
    }
}

// Point rows of a joint that also has others: R c(X, X) R' with off-diagonal entries at a, b, c,
// and s R (y X + tau).
static void solve_points(const mabd_affine_block* MABD_RESTRICT block,
                         const mabd_affine_pack_work* MABD_RESTRICT w,
                         const mabd_affine_pack_side* MABD_RESTRICT side, int32_t a, int32_t b,
                         int32_t c, mabd_lanes* MABD_RESTRICT D, mabd_lanes* MABD_RESTRICT rhs) {
    MABD_EACH_LANE(l) {
        const mabd_mat3 R = mabd_lane_m3(w->ref, l);
        const mabd_vec12 y = mabd_lane_vec12(w->y, l);
        const mabd_affine_attachment x =
            mabd_affine_block_attach(block, mabd_lane_s3(w->Z, l), mabd_lane_v3(side->X, l));
        const mabd_sym3 s = mabd_sym3_rotate(R, mabd_affine_block_self_compliance(block, &x));
        D[0].at[l] = s.xx, D[1].at[l] = s.yy, D[2].at[l] = s.zz;
        D[a].at[l] = s.xy, D[b].at[l] = s.xz, D[c].at[l] = s.yz;
        const mabd_vec3 at = mabd_m3_mul(R, mabd_vec12_move(&y, x.X));
        mabd_lane_put_v3(mabd_v3_scale(side->sign.at[l], at), rhs, l);
    }
}

// Compute Y, J Y and J y of a row; with point rows also s R (Y X + tau), at a, b, c.
MABD_HOT void solve_row(bool points, const mabd_affine_block* MABD_RESTRICT block,
                        const mabd_affine_pack_work* MABD_RESTRICT w,
                        const mabd_affine_pack_side* MABD_RESTRICT side,
                        const mabd_lanes* MABD_RESTRICT J, mabd_lanes* MABD_RESTRICT Y,
                        mabd_lanes* MABD_RESTRICT self, mabd_lanes* MABD_RESTRICT rhs,
                        mabd_lanes* MABD_RESTRICT a, mabd_lanes* MABD_RESTRICT b,
                        mabd_lanes* MABD_RESTRICT c) {
    MABD_EACH_LANE(l) {
        const mabd_vec12 j = mabd_lane_vec12(J, l);
        const mabd_vec12 y = mabd_affine_block_solve(block, mabd_lane_s3(w->Z, l), j);
        self->at[l] = mabd_vec12_dot(j, y);
        rhs->at[l] = mabd_vec12_dot(j, mabd_lane_vec12(w->y, l));
        mabd_lane_put_vec12(y, Y, l);
        if (!points) continue;
        const mabd_vec3 move = mabd_vec12_move(&y, mabd_lane_v3(side->X, l));
        const mabd_vec3 v =
            mabd_v3_scale(side->sign.at[l], mabd_m3_mul(mabd_lane_m3(w->ref, l), move));
        a->at[l] = v.x, b->at[l] = v.y, c->at[l] = v.z;
    }
}

// Add one row and its products with the rows before it.
static void compute_row(const mabd_affine_block* block, const mabd_affine_pack_work* w,
                        const mabd_affine_pack_side* side, int32_t r, side_lanes* s) {
    const int32_t n = s->width, at = s->points + r;
    row_lanes* row = &s->rows[r];
    mabd_lanes *D = s->out, *rhs = D + MABD_SEGMENT_SYMMETRIC(n) + at;
    if (s->points) {
        solve_row(true, block, w, side, row->J, row->Y, &D[at], rhs,
                  &D[mabd_affine_segment_at(n, 0, at)], &D[mabd_affine_segment_at(n, 1, at)],
                  &D[mabd_affine_segment_at(n, 2, at)]);
    } else {
        solve_row(false, block, w, side, row->J, row->Y, &D[at], rhs, NULL, NULL, NULL);
    }
    for (int32_t c = 0; c < r; c++) {
        dot_rows(s->rows[c].J, row->Y, &D[mabd_affine_segment_at(n, s->points + c, at)]);
    }
}

// Compute the rows of one joint and their shares of D and b; begins: also C.
static void compute_side(const mabd_row_set* set, const mabd_affine_block* block,
                         const mabd_affine_pack_work* w, const mabd_affine_pack_side* side,
                         const mabd_affine_joint_ends* ends, bool begins, side_lanes* s) {
    s->points = set->rigid[0].kind == MABD_ROW_POINT ? 3 : 0;
    s->others = set->rigid_count - s->points, s->width = set->rigid_count;
    if (s->others == 0) {
        MABD_STAGE(pack_side)(block, w, side, s->out);
        return;
    }
    const int32_t n = s->width;
    const mabd_row* rows = set->rigid + s->points;
    mabd_lanes gap[3], *rhs = s->out + MABD_SEGMENT_SYMMETRIC(n), *C = rhs + n;
    if (s->points) {
        solve_points(block, w, side, mabd_affine_segment_at(n, 0, 1),
                     mabd_affine_segment_at(n, 0, 2), mabd_affine_segment_at(n, 1, 2), s->out, rhs);
    }
    find_gap(ends, set, begins, gap);
    for (int32_t r = 0; r < s->others; r++) {
        find_row(ends, &rows[r], gap, s->rows[r].J);
        compute_row(block, w, side, r, s);
    }
    if (!begins) return;
    for (int32_t k = 0; k < s->points; k++) C[k] = gap[k];
    begin_rows(ends, rows, s->others, gap, C + s->points);
}

static void compute_pair(const mabd_affine_block* block, const mabd_affine_pack_work* w,
                         const mabd_affine_pack_side* side_i, const side_lanes* i,
                         const mabd_affine_pack_side* side_j, const side_lanes* j, mabd_lanes* U) {
    const int32_t width = j->width;
    if (i->points && j->points) {
        mabd_lanes K[9];
        MABD_STAGE(pack_pair)(block, w, side_i, side_j, K);
        for (int k = 0; k < 9; k++) U[k / 3 * width + k % 3] = K[k];
    }
    for (int32_t c = 0; i->points && c < j->others; c++) {
        move_points(w->ref, side_i, j->rows[c].Y, width, &U[j->points + c]);
    }
    for (int32_t r = 0; r < i->others; r++) {
        mabd_lanes* row = U + (i->points + r) * width;
        if (j->points) move_points(w->ref, side_j, i->rows[r].Y, 1, row);
        for (int32_t c = 0; c < j->others; c++) {
            dot_rows(i->rows[r].Y, j->rows[c].J, &row[j->points + c]);
        }
    }
}

void MABD_STAGE(lanes_row_link)(const mabd_row_set* set, const mabd_affine_block* block,
                                const mabd_affine_pack_work* w, const mabd_affine_pack_side* side,
                                const mabd_affine_joint_ends* ends, const bool* begins,
                                mabd_lanes* from, mabd_lanes* to, mabd_lanes* U) {
    side_lanes work[2];
    for (int i = 0; i < 2; i++) {
        work[i].out = i == 0 ? from : to;
        compute_side(set, block, w, &side[i], &ends[i], begins[i], &work[i]);
    }
    compute_pair(block, w, &side[0], &work[0], &side[1], &work[1], U);
}

// ---- from lanes to the dual system ----

/// Numbers of each lane, contiguous.
typedef struct lane_reals {
    alignas(64) mabd_real at[MABD_LANES][SIDE_REALS];
} lane_reals;

// Order of the entries of a side with `width` rows: D by rows, the right-hand side, C. Returns
// their count.
static int32_t find_order(int32_t width, int32_t* order) {
    int32_t count = 0;
    for (int32_t i = 0; i < width; i++) {
        for (int32_t j = 0; j < width; j++) order[count++] = mabd_affine_segment_at(width, i, j);
    }
    for (int32_t k = 0; k < 2 * width; k++) order[count++] = MABD_SEGMENT_SYMMETRIC(width) + k;
    return count;
}

// Transpose lanes to contiguous numbers: entry k of a lane is from[order[k]]. count is rounded up
// to whole squares of 4.
static void turn_lanes(int32_t count, const mabd_lanes* from, const int32_t* order,
                       lane_reals* to) {
    for (int32_t k = 0; k < count; k += 4) {
        const mabd_lanes *a = from + order[k], *b = from + order[k + 1], *c = from + order[k + 2],
                         *d = from + order[k + 3];
        for (int l = 0; l < MABD_LANES; l += 4) {
            mabd_quad_turn(a->at + l, b->at + l, c->at + l, d->at + l, to->at[l] + k,
                           to->at[l + 1] + k, to->at[l + 2] + k, to->at[l + 3] + k);
        }
    }
}

// to <- in, or to <- to + in
MABD_HOT void put_reals(int32_t count, bool add, const mabd_real* MABD_RESTRICT in,
                        mabd_real* MABD_RESTRICT to) {
    for (int32_t k = 0; k < count; k++) to[k] = add ? to[k] + in[k] : in[k];
}

// Write the share of a side with n rows; n is a constant in the frequent cases.
MABD_HOT void put_side(int32_t n, const mabd_affine_side_place* to, bool begins,
                       const mabd_real* MABD_RESTRICT in) {
    const mabd_real *rhs = in + n * n, *C = rhs + n;
    const bool add = to->mode == MABD_SIDE_ADD;
    if (add) {
        put_reals(n * n, true, in, to->D);
    } else {
        put_reals(n * n, false, in, to->D);
    }
    for (int32_t k = 0; k < n; k++) {
        to->rhs[k] = (add ? to->rhs[k] : begins ? C[k] : 0) + rhs[k];
    }
}

static void store_side(mabd_affine_sim* sim, const mabd_affine_pack* pack, int32_t place, int l,
                       const side_lanes* s, const mabd_real* in) {
    const mabd_affine_pack_side* side = sim->packs->sides + pack->side_first + place;
    const mabd_affine_side_place to = mabd_affine_pack_place(sim, side, s->width, l);
    const bool first = to.mode == MABD_SIDE_FIRST || to.mode == MABD_SIDE_GROUND;
    const bool begins = first && s->others > 0;
    switch (s->width) {
    case 4:
        put_side(4, &to, begins, in);
        break;
    case 5:
        put_side(5, &to, begins, in);
        break;
    default:
        put_side(s->width, &to, begins, in);
        break;
    }
    if (to.mode != MABD_SIDE_GROUND || begins) return;
    mabd_affine_add_ground(sim, sim->model->plan->side_start[pack->body[l]] + place, to.rhs);
}

// Transpose all lanes of a full pack directly to their destination; the last square may overlap.
// Two joints of two rows have four numbers, and no rigid joint has fewer rows.
MABD_HOT void put_pairs(int32_t count, const mabd_lanes* U, const size_t* block, mabd_real* to) {
    for (int l = 0; l < MABD_LANES; l += 4) {
        mabd_real *p0 = to + block[l], *p1 = to + block[l + 1], *p2 = to + block[l + 2],
                  *p3 = to + block[l + 3];
        for (int32_t k = 0; k < count; k += 4) {
            const int32_t c = k + 4 <= count ? k : count - 4;
            mabd_quad_turn(U[c].at + l, U[c + 1].at + l, U[c + 2].at + l, U[c + 3].at + l, p0 + c,
                           p1 + c, p2 + c, p3 + c);
        }
    }
}

static void store_pair(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                       const mabd_affine_pack_pair* pair, int32_t count, const mabd_lanes* U) {
    if (pack->count < MABD_LANES || sim->shared_edges) {
        lane_reals turned;
        int32_t order[SIDE_REALS];
        for (int32_t k = 0; k < SIDE_REALS; k++) order[k] = k;
        turn_lanes(count, U, order, &turned);
        for (int l = 0; l < pack->count; l++) {
            put_reals(count, sim->shared_edges, turned.at[l], sim->U + pair->block[l]);
        }
    } else if (count == 25) {
        put_pairs(25, U, pair->block, sim->U);
    } else {
        put_pairs(count, U, pair->block, sim->U);
    }
}

// Both ends of a joint of a pack, and the data they point to.
typedef struct pack_ends {
    mabd_affine_joint_ends ends;
    mabd_lanes there[12], F[18], f[6];
} pack_ends;

static void load_ends(const mabd_affine_sim* sim, const mabd_affine_pack_side* side,
                      const mabd_affine_pack_other* far, const mabd_lanes* here, pack_ends* to) {
    const mabd_real* frames = (const mabd_real*)sim->model->frames;
    mabd_lanes_load(12, sim->ref, far->body, to->there);
    if (far->one_frame) {
        mabd_lanes_fill(18, frames, far->frame[0], to->F);
    } else {
        mabd_lanes_load(18, frames, far->frame, to->F);
    }
    to->ends = (mabd_affine_joint_ends){
        .here = here, .there = to->there, .X = side->X, .Y = far->X, .F = to->F, .is_b = far->is_b};
}

// Compute the strain of the other bodies. For a body that does not move it is that of this body
// times zero.
static void find_far_strain(const mabd_affine_pack_other* far, const int32_t* here,
                            const mabd_real* stress, mabd_lanes* e) {
    mabd_lanes S[6];
    int32_t row[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) {
        row[l] = far->soft.at[l] > 0 ? far->body[l] : here[l];
    }
    mabd_lanes_load(6, stress, row, S);
    MABD_STAGE(lanes_strain)(&far->soft, &far->share, S, e);
}

static void compute_pack_side(const mabd_affine_sim* sim, const mabd_affine_pack* pack,
                              int32_t place, const mabd_affine_block* block,
                              const mabd_affine_pack_work* w, const mabd_lanes* strain,
                              const mabd_real* stress, side_lanes* s) {
    const mabd_affine_pack_side* side = &sim->packs->sides[pack->side_first + place];
    const mabd_affine_pack_other* far = &sim->packs->others[pack->other_first + place];
    const mabd_row_set* set = &sim->model->row_sets[far->row_set];
    pack_ends at;
    if (!set->points_only) {
        load_ends(sim, side, far, w->ref, &at);
        if (far->begins) find_far_strain(far, pack->body, stress, at.f);
        at.ends.e = strain, at.ends.f = at.f;
    }
    compute_side(set, block, w, side, &at.ends, far->begins, s);
}

void MABD_STAGE(assemble_pack_rows)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                    const mabd_real* stress, const mabd_lanes* S,
                                    const mabd_affine_pack_work* w) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, pack->body[0]);
    const mabd_affine_pack_side* sides = sim->packs->sides + pack->side_first;
    const mabd_affine_pack_pair* pair = sim->packs->pairs + pack->pair_first;
    side_lanes work[MABD_PACK_SIDES];
    mabd_lanes out[SIDE_REALS + 3]; // padded to whole squares
    lane_reals turned[MABD_PACK_SIDES];
    mabd_lanes strain[6], U[SIDE_REALS];
    MABD_STAGE(lanes_own_strain)(block, S, strain);
    for (int32_t i = 0; i < pack->side_count; i++) {
        work[i].out = out;
        compute_pack_side(sim, pack, i, block, w, strain, stress, &work[i]);
        int32_t order[SIDE_REALS] = {0};
        const int32_t count = find_order(work[i].width, order);
        turn_lanes(count, out, order, &turned[i]);
    }
    for (int l = 0; l < pack->count; l++) { // a body may add to a joint of the previous one
        for (int32_t i = 0; i < pack->side_count; i++) {
            store_side(sim, pack, i, l, &work[i], turned[i].at[l]);
        }
    }
    for (int32_t i = 0; i < pack->side_count; i++) {
        for (int32_t j = i + 1; j < pack->side_count; j++) {
            compute_pair(block, w, &sides[i], &work[i], &sides[j], &work[j], U);
            store_pair(sim, pack, pair++, work[i].width * work[j].width, U);
        }
    }
}

// ---- update ----

static void pull_cross(const mabd_lanes* MABD_RESTRICT here, const mabd_lanes* MABD_RESTRICT there,
                       const mabd_lanes* MABD_RESTRICT x, const mabd_lanes* MABD_RESTRICT z,
                       mabd_real sign, const mabd_lanes* MABD_RESTRICT lambda,
                       mabd_lanes* MABD_RESTRICT f) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 n =
            mabd_affine_row_seen(mabd_lane_m3(here, l), mabd_lane_m3(there, l), mabd_lane_v3(z, l));
        const mabd_vec3 pull = mabd_v3_scale(sign * lambda->at[l], n);
        const mabd_mat3 D = mabd_lane_m3(f, l);
        mabd_lane_put_m3(mabd_m3(mabd_v3_axpy(x[0].at[l], pull, D.c1),
                                 mabd_v3_axpy(x[1].at[l], pull, D.c2),
                                 mabd_v3_axpy(x[2].at[l], pull, D.c3)),
                         f, l);
    }
}

static void pull_row(const mabd_lanes* MABD_RESTRICT J, const mabd_lanes* MABD_RESTRICT lambda,
                     mabd_lanes* MABD_RESTRICT f) {
    MABD_EACH_LANE(l) {
        mabd_lane_put_vec12(
            mabd_vec12_axpy(lambda->at[l], mabd_lane_vec12(J, l), mabd_lane_vec12(f, l)), f, l);
    }
}

void MABD_STAGE(lanes_pull_rows)(const mabd_row_set* set, const mabd_affine_pack_side* side,
                                 const mabd_affine_joint_ends* ends, const mabd_lanes* lambda,
                                 mabd_lanes* f) {
    const int32_t points = set->rigid[0].kind == MABD_ROW_POINT ? 3 : 0;
    mabd_lanes gap[3], J[12];
    if (points) MABD_STAGE(lanes_pull)(ends->here, side, lambda, f);
    if (points == set->rigid_count) return;
    find_gap(ends, set, false, gap);
    for (int32_t r = points; r < set->rigid_count; r++) {
        const mabd_row* row = &set->rigid[r];
        const mabd_lanes *a = axis_of_a(ends, row), *b = axis_of_b(ends, row);
        if (row->kind == MABD_ROW_CROSS) {
            pull_cross(ends->here, ends->there, ends->is_b ? b : a, ends->is_b ? a : b, row->sign,
                       &lambda[r], f);
        } else {
            find_row(ends, row, gap, J);
            pull_row(J, &lambda[r], f);
        }
    }
}

void MABD_STAGE(pull_pack_rows)(const mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                const mabd_lanes* ref, mabd_lanes* f) {
    for (int32_t i = 0; i < pack->side_count; i++) {
        const mabd_affine_pack_side* side = &sim->packs->sides[pack->side_first + i];
        const mabd_affine_pack_other* far = &sim->packs->others[pack->other_first + i];
        const mabd_row_set* set = &sim->model->row_sets[far->row_set];
        mabd_lanes lambda[MABD_JOINT_MAX_ROWS];
        pack_ends at;
        mabd_lanes_pick(set->rigid_count, sim->lambda, side->row, lambda);
        if (set->points_only) {
            at.ends.here = ref;
        } else {
            load_ends(sim, side, far, ref, &at);
        }
        MABD_STAGE(lanes_pull_rows)(set, side, &at.ends, lambda, f);
    }
}
