// SPDX-License-Identifier: Apache-2.0
// Rows of cut joints.
//
// A joint that is not in the tree holds its bodies by its rigid rows C(q) = 0 (joint/rows.h), all
// of them, with forces +J'lambda on the bodies:
//
//   r(q) - G'lambda = 0,   C(q) = 0,   G = dC/dq
//
// The wrenches act on links like loads, so the wrenches that tree joints transmit contain them.
// ([RM sec. 2.8] holds two hand-picked directions at the level of velocities; a four-bar opens by
// 45 mm in 1 s at 10 ms.) With (dc, phi) = D xi of a link with frame (R, .) and principal frame
// (P, p) in it, rigid/row_jacobian.h gives in the link frame
//
//   D = [ -R[p]  R; P'  0 ]     W = D'(f, t) = (P t + p x l, l),  l = R'f,      dC = W . xi
//
// and rigid/geometric.h, with the turn of the link frame against a force that stays in the world,
//
//   dW_i = sum_j H_ij xi_j,   H_ij = D_i' G_ij D_j + [ [p][l]  0; [l]  0 ] if i = j
//
// Point rows have own terms H_aa, H_bb only, which go to N of the links. Slide and cross rows are
// functions of the relative pose, so both wrenches, each in its own link frame, vary with the
// relative twist alone, p = xi_b - Z xi_a in the frame of b:
//
//   dW_a = H_ab p,   dW_b = H_bb p
//
// p is one more unknown of the border, 3 turns if the joint has no slide rows, else 6. If one body
// is on the ground no p is needed.
//
// Stages of sdirk2 hold the rates of the rows instead, c = sum_i W_i . V_i (the order on loops is
// 0.8 with positions and 2 with rates), with dc = sum_i W_i . dV_i + sum_ij V_i' H_ij xi_j.

#include "formulation/redmax/redmax_loops.h"

#include "formulation/redmax/redmax_sim.h"
#include "formulation/redmax/redmax_tree.h"
#include "rigid/geometric.h"
#include "rigid/twist.h"

#include <math.h>
#include <string.h>

// ---- sides -------------------------------------------------------------------------------------

/// A body of a cut joint: its link or, on the ground, its given motion.
typedef struct loop_side {
    int32_t link;
    mabd_rigid_pose pose;
    mabd_rigid_twist u; // velocity of the centre, world; angular velocity, principal frame
    mabd_real D[36];    // (dc, phi) = D xi; zero on the ground
    bool moves;         // D is not zero:
    mabd_mat3 R;        // of the link frame
    mabd_frame P;       // principal frame in it
} loop_side;

static void set_part(mabd_real* D, int row, int column, mabd_real s, mabd_mat3 M) {
    mabd_rigid_add_part(D, row, column, s, M);
}

static loop_side side_of(const mabd_redmax_solve* s, int32_t link, int32_t body) {
    const mabd_redmax_sim* sim = s->sim;
    loop_side out;
    memset(&out, 0, sizeof out);
    out.link = link;
    if (link < 0) {
        const mabd_rigid_state state = mabd_redmax_ground_state(sim, body, s->time);
        out.pose.R = mabd_q_matrix(state.q), out.pose.c = state.c;
        if (s->rests) return out;
        out.u.v = state.v, out.u.w = mabd_m3_tmul(out.pose.R, state.omega);
        return out;
    }
    const mabd_frame *P = &sim->links[link].principal, W = mabd_frame_product(&sim->world[link], P);
    const mabd_mat3 R = sim->world[link].R;
    const mabd_spatial V = mabd_frame_to_child(P, sim->V[link]);
    out.pose.R = W.R, out.pose.c = W.p;
    out.u.v = mabd_m3_mul(W.R, V.v), out.u.w = V.w;
    out.moves = true, out.R = R, out.P = *P;
    set_part(out.D, 0, 0, -1, mabd_m3_product(R, mabd_m3_skew(P->p)));
    set_part(out.D, 0, 3, 1, R);
    set_part(out.D, 3, 0, 1, mabd_m3_transpose(P->R));
    return out;
}

static mabd_joint_view view_of(const mabd_redmax_solve* s, const mabd_redmax_cut* cut,
                               loop_side side[2]) {
    const mabd_model_joint* joint = &s->sim->model->joints[cut->joint];
    mabd_joint_view view;
    side[0] = side_of(s, cut->a, joint->a), side[1] = side_of(s, cut->b, joint->b);
    mabd_model_joint_view(s->sim->model, joint, &view);
    if (cut->weld) { // frames of the body, which its mass does not move, on both shares
        const int32_t body = mabd_redmax_cut_body(s->sim->model, joint);
        const mabd_model_class* c = &s->sim->model->classes[s->sim->model->body_class[body]];
        const mabd_mat3 A = mabd_q_matrix(mabd_q_load(c->axes));
        view.Fa = view.Fb = mabd_m3_transpose(A);
        view.Xa = view.Xb = mabd_v3_scale(-1, mabd_m3_tmul(A, mabd_v3_load(c->center)));
    }
    view.Aa = side[0].pose.R, view.ta = side[0].pose.c;
    view.Ab = side[1].pose.R, view.tb = side[1].pose.c;
    return view;
}

static const mabd_row_set* rows_of(const mabd_redmax_solve* s, const mabd_redmax_cut* cut) {
    if (cut->weld) return &s->sim->loops.weld;
    return &s->sim->model->row_sets[s->sim->model->joints[cut->joint].row_set];
}

// W = D'(f, t)
static mabd_spatial to_link(const loop_side* side, const mabd_rigid_wrench* w) {
    if (!side->moves) return mabd_sp_zero();
    const mabd_vec3 l = mabd_m3_tmul(side->R, w->f);
    return mabd_sp(mabd_v3_add(mabd_m3_mul(side->P.R, w->t), mabd_v3_cross(side->P.p, l)), l);
}

// ---- rows --------------------------------------------------------------------------------------

// Border of a row whose place in the rows of the part is `row`.
static mabd_redmax_border* border_of(const mabd_redmax_solve* s, int32_t row) {
    return mabd_redmax_borders(s) + (row - s->part->row_first);
}

static void write_row(const mabd_redmax_solve* s, const mabd_redmax_cut* cut,
                      const loop_side side[2], const mabd_rigid_row* J, int32_t r, mabd_real C) {
    mabd_redmax_border* border = border_of(s, cut->row_first + r);
    memset(border, 0, sizeof *border);
    border->a = cut->a, border->b = cut->b;
    border->on_a = to_link(&side[0], &J->a), border->on_b = to_link(&side[1], &J->b);
    s->sim->loops.gap[cut->row_first + r] =
        s->by_rate ? mabd_rigid_row_rate(J, side[0].u, side[1].u) : C;
    if (s->by_rate) {
        border->rate_a = border->on_a, border->rate_b = border->on_b;
    } else {
        border->pose_a = border->on_a, border->pose_b = border->on_b;
    }
}

void mabd_redmax_rows(const mabd_redmax_solve* s) {
    const mabd_redmax_loops* loops = &s->sim->loops;
    for (int32_t i = s->part->cut_first; i < s->part->cut_first + s->part->cut_count; i++) {
        const mabd_redmax_cut* cut = &loops->cuts[i];
        const mabd_row_set* set = rows_of(s, cut);
        loop_side side[2];
        const mabd_joint_view view = view_of(s, cut, side);
        mabd_real C[MABD_JOINT_MAX_ROWS];
        mabd_rigid_row J[MABD_JOINT_MAX_ROWS];
        mabd_rigid_joint_rows(&view, set->rigid_count, set->rigid, NULL, C, J);
        for (int32_t r = 0; r < cut->row_count; r++) write_row(s, cut, side, &J[r], r, C[r]);
    }
    mabd_redmax_coupling_rows(s);
}

void mabd_redmax_pull_rows(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    mabd_redmax_rows(s);
    for (int32_t r = s->part->row_first; r < s->part->row_first + s->part->row_count; r++) {
        const mabd_redmax_border* border = border_of(s, r);
        const mabd_real force = sim->loops.force[r];
        if (border->a >= 0) {
            sim->F[border->a] = mabd_sp_axpy(-force, border->on_a, sim->F[border->a]);
        }
        if (border->b >= 0) {
            sim->F[border->b] = mabd_sp_axpy(-force, border->on_b, sim->F[border->b]);
        }
    }
}

mabd_real mabd_redmax_largest_gap(const mabd_redmax_solve* s, int32_t* joint) {
    const mabd_redmax_loops* loops = &s->sim->loops;
    mabd_real most = mabd_redmax_coupling_gap(s, joint);
    for (int32_t i = s->part->cut_first; i < s->part->cut_first + s->part->cut_count; i++) {
        const mabd_redmax_cut* cut = &loops->cuts[i];
        for (int32_t r = cut->row_first; r < cut->row_first + cut->row_count; r++) {
            const mabd_real size = (mabd_real)fabs(loops->gap[r]);
            if (s->by_rate && loops->left_out[r]) continue;
            if (!(size <= most)) most = size, *joint = cut->joint;
        }
    }
    return most;
}

// ---- second derivatives ------------------------------------------------------------------------

/// H of a joint in link frames: (wrench of the first side, by the second), 6 x 6, row-major.
typedef struct link_blocks {
    mabd_real aa[36], ab[36], ba[36], bb[36];
} link_blocks;

// out (6 x 6) = D_i' G D_j; zero if a side does not move.
static void turn_block(bool moves, const mabd_real* Di, const mabd_real* G, const mabd_real* Dj,
                       mabd_real* out) {
    mabd_real GD[36] = {0};
    memset(out, 0, 36 * sizeof *out);
    for (int r = 0; moves && r < 6; r++) {
        for (int k = 0; k < 6; k++) {
            if (G[6 * r + k] == 0) continue;
            for (int c = 0; c < 6; c++) GD[6 * r + c] += G[6 * r + k] * Dj[6 * k + c];
        }
    }
    for (int k = 0; moves && k < 6; k++) {
        for (int r = 0; r < 6; r++) {
            for (int c = 0; c < 6; c++) out[6 * r + c] += Di[6 * k + r] * GD[6 * k + c];
        }
    }
}

// Add [ [p][l]  0; [l]  0 ], the turn of a link against a force l that stays in the world. The
// frame of a side on the ground is the principal frame of its body.
static void add_turn(const mabd_redmax_sim* sim, const loop_side* side, mabd_vec3 f, mabd_real* H) {
    const bool ground = side->link < 0;
    const mabd_mat3 R = ground ? side->pose.R : sim->world[side->link].R;
    const mabd_mat3 turn = mabd_m3_skew(mabd_m3_tmul(R, f));
    mabd_rigid_add_part(H, 3, 0, 1, turn);
    if (ground) return;
    mabd_rigid_add_part(H, 0, 0, 1, mabd_m3_skew_product(sim->links[side->link].principal.p, turn));
}

// x' [ [p][l]  0; [l]  0 ] of add_turn: (x_v + x_w x p) x l as a twist's turn.
static mabd_spatial turn_back(const mabd_redmax_sim* sim, const loop_side* side, mabd_vec3 f,
                              mabd_spatial x) {
    const bool ground = side->link < 0;
    const mabd_mat3 R = ground ? side->pose.R : sim->world[side->link].R;
    mabd_vec3 arm = x.v;
    if (!ground) {
        arm = mabd_v3_add(arm, mabd_v3_cross(x.w, sim->links[side->link].principal.p));
    }
    return mabd_sp(mabd_v3_cross(arm, mabd_m3_tmul(R, f)), mabd_v3(0, 0, 0));
}

/// A cut joint at a motion.
typedef struct loop_joint {
    const mabd_redmax_solve* s;
    const mabd_row_set* set;
    loop_side side[2];
    mabd_joint_view view;
    mabd_rigid_joint at;
    mabd_rigid_row J[MABD_JOINT_MAX_ROWS];
} loop_joint;

static void loop_joint_at(const mabd_redmax_solve* s, const mabd_redmax_cut* cut, loop_joint* out) {
    mabd_real C[MABD_JOINT_MAX_ROWS];
    out->s = s, out->set = rows_of(s, cut);
    out->view = view_of(s, cut, out->side);
    out->at =
        mabd_rigid_joint_rows(&out->view, out->set->rigid_count, out->set->rigid, NULL, C, out->J);
}

/// Rows of a joint that vary with both of its bodies together, or with each one alone.
typedef enum row_group { ROWS_APART, ROWS_TOGETHER, ROWS_ALL } row_group;

static bool is_in(const loop_joint* j, const mabd_redmax_cut* cut, int32_t r, row_group group) {
    const bool apart = cut->turn_count == 0 || j->set->rigid[r].kind == MABD_ROW_POINT;
    return group == ROWS_ALL || apart == (group == ROWS_APART);
}

// H of a group of rows with their forces; blocks of sides on the ground are zero, but for their
// columns.
static void find_blocks(const loop_joint* j, const mabd_redmax_cut* cut, row_group group,
                        link_blocks* H) {
    link_blocks G;
    const mabd_rigid_blocks to = {G.aa, G.ab, G.ba, G.bb};
    const mabd_real *Da = j->side[0].D, *Db = j->side[1].D;
    mabd_vec3 f[2] = {mabd_v3(0, 0, 0), mabd_v3(0, 0, 0)};
    memset(&G, 0, sizeof G);
    for (int32_t r = 0; r < cut->row_count; r++) {
        const mabd_real lambda = j->s->sim->loops.force[cut->row_first + r];
        if (!is_in(j, cut, r, group)) continue;
        mabd_rigid_add_row(&j->at, &j->set->rigid[r], lambda, &to);
        f[0] = mabd_v3_axpy(lambda, j->J[r].a.f, f[0]);
        f[1] = mabd_v3_axpy(lambda, j->J[r].b.f, f[1]);
    }
    const bool on_a = j->side[0].moves, on_b = j->side[1].moves;
    turn_block(on_a, Da, G.aa, Da, H->aa), turn_block(on_a && on_b, Da, G.ab, Db, H->ab);
    turn_block(on_a && on_b, Db, G.ba, Da, H->ba), turn_block(on_b, Db, G.bb, Db, H->bb);
    add_turn(j->s->sim, &j->side[0], f[0], H->aa);
    add_turn(j->s->sim, &j->side[1], f[1], H->bb);
}

// Derivatives by the own motion of a link.
static mabd_real* own_of(const mabd_redmax_sim* sim, int32_t link) {
    return sim->loops.own + 36 * (size_t)sim->links[link].loop;
}

static void add_own(const mabd_redmax_sim* sim, int32_t link, const mabd_real* H) {
    if (link < 0) return;
    mabd_real* own = own_of(sim, link);
    for (int i = 0; i < 36; i++) own[i] += H[i];
}

static void clear_own(const mabd_redmax_sim* sim, int32_t link) {
    if (link >= 0) memset(own_of(sim, link), 0, 36 * sizeof(mabd_real));
}

void mabd_redmax_subtract_own(const mabd_redmax_sim* sim, int32_t link, mabd_real* N) {
    const mabd_real* own = own_of(sim, link);
    for (int i = 0; i < 36; i++) N[MABD_VARIATION * (i / 6) + 12 + i % 6] -= own[i];
}

static mabd_spatial column_of(const mabd_real* H, int k) {
    mabd_real out[6];
    for (int r = 0; r < 6; r++) out[r] = H[6 * r + k];
    return mabd_sp_load(out);
}

// Borders of the relative twist of a cut joint.
static void write_turns(const loop_joint* j, const mabd_redmax_cut* cut, const link_blocks* H) {
    const mabd_redmax_sim* sim = j->s->sim;
    const mabd_frame back = mabd_frame_inverse(&sim->world[cut->a]);
    const mabd_frame E = mabd_frame_product(&back, &sim->world[cut->b]);
    for (int k = 0; k < cut->turn_count; k++) {
        mabd_redmax_border* border = &sim->loops.borders[cut->turn_first + k];
        mabd_real unit[6] = {0};
        unit[k] = 1;
        memset(border, 0, sizeof *border);
        border->a = cut->a, border->b = cut->b;
        border->on_a = column_of(H->ab, k), border->on_b = column_of(H->bb, k);
        border->pose_b = mabd_sp_load(unit);
        border->pose_a = mabd_sp_scale(-1, mabd_frame_to_parent(&E, border->pose_b));
        border->own = -1;
    }
}

// Derivatives of the forces of a cut joint.
static void write_stiffness(const loop_joint* j, const mabd_redmax_cut* cut) {
    const mabd_redmax_sim* sim = j->s->sim;
    link_blocks H;
    find_blocks(j, cut, ROWS_APART, &H);
    add_own(sim, cut->a, H.aa);
    add_own(sim, cut->b, H.bb);
    if (cut->turn_count == 0) return;
    find_blocks(j, cut, ROWS_TOGETHER, &H);
    write_turns(j, cut, &H);
}

// Velocity (v, omega) of a side as 6 numbers.
static void store_twist(const loop_side* side, mabd_real* u) {
    mabd_v3_store(side->u.v, u), mabd_v3_store(side->u.w, u + 3);
}

// Twist of a side in its frame.
static mabd_spatial twist_of(const loop_joint* j, const loop_side* side) {
    if (side->link >= 0) return j->s->sim->V[side->link];
    return mabd_sp(side->u.w, mabd_m3_tmul(side->pose.R, side->u.v));
}

/// Twists of both sides of a joint: in the frame of the link, and (v of the centre, w) of D xi.
typedef struct loop_twists {
    mabd_spatial xi[2];
    mabd_real u[2][6];
} loop_twists;

static loop_twists own_twists(const loop_joint* j) {
    loop_twists t;
    for (int i = 0; i < 2; i++) {
        t.xi[i] = twist_of(j, &j->side[i]);
        store_twist(&j->side[i], t.u[i]);
    }
    return t;
}

static loop_twists given_twists(const loop_joint* j, const mabd_spatial* xi) {
    loop_twists t;
    for (int i = 0; i < 2; i++) {
        mabd_real x[6];
        mabd_sp_store(xi[i], x);
        t.xi[i] = xi[i];
        for (int r = 0; r < 6; r++) {
            t.u[i][r] = 0;
            for (int c = 0; c < 6; c++) t.u[i][r] += j->side[i].D[6 * r + c] * x[c];
        }
    }
    return t;
}

// sum_i V_i' H_ik of rows with multipliers (null = 1), by the twist of side k. H of geometric.h is
// taken to link frames on the right only: on the left stand the velocities of the centres.
static mabd_spatial contract(const loop_joint* j, int32_t first, int32_t end,
                             const mabd_real* multipliers, const loop_twists* V, int k) {
    const loop_side* side = &j->side[k];
    link_blocks G;
    const mabd_rigid_blocks to = {G.aa, G.ab, G.ba, G.bb};
    const mabd_real *one = k == 0 ? G.aa : G.ab, *other = k == 0 ? G.ba : G.bb;
    mabd_real sum[6] = {0}, out[6] = {0};
    mabd_vec3 f = mabd_v3(0, 0, 0);
    memset(&G, 0, sizeof G);
    for (int32_t r = first; r < end; r++) {
        const mabd_real own = multipliers ? multipliers[r] : 1;
        mabd_rigid_add_row(&j->at, &j->set->rigid[r], own, &to);
        f = mabd_v3_axpy(own, k == 0 ? j->J[r].a.f : j->J[r].b.f, f);
    }
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) {
            sum[c] += V->u[0][r] * one[6 * r + c] + V->u[1][r] * other[6 * r + c];
        }
    }
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) out[c] += sum[r] * side->D[6 * r + c];
    }
    return mabd_sp_add(mabd_sp_load(out), turn_back(j->s->sim, side, f, V->xi[k]));
}

static mabd_spatial rates_by(const loop_joint* j, int32_t first, int32_t end,
                             const mabd_real* multipliers, int k) {
    const loop_twists V = own_twists(j);
    return contract(j, first, end, multipliers, &V, k);
}

static mabd_spatial row_rate_by(const loop_joint* j, int32_t r, int k) {
    return rates_by(j, r, r + 1, NULL, k);
}

// The same by the twists of both links.
static void add_row_rate(const loop_joint* j, int32_t r, mabd_spatial* by_a, mabd_spatial* by_b) {
    if (j->side[0].link >= 0) *by_a = row_rate_by(j, r, 0);
    if (j->side[1].link >= 0) *by_b = row_rate_by(j, r, 1);
}

// Derivatives of rows that are rates.
static void write_rates(const loop_joint* j, const mabd_redmax_cut* cut) {
    for (int32_t r = 0; r < cut->row_count; r++) {
        mabd_redmax_border* border = border_of(j->s, cut->row_first + r);
        add_row_rate(j, r, &border->pose_a, &border->pose_b);
    }
}

void mabd_redmax_border_derivatives(const mabd_redmax_solve* s) {
    for (int32_t i = s->part->cut_first; i < s->part->cut_first + s->part->cut_count; i++) {
        clear_own(s->sim, s->sim->loops.cuts[i].a);
        clear_own(s->sim, s->sim->loops.cuts[i].b);
    }
    for (int32_t i = s->part->cut_first; i < s->part->cut_first + s->part->cut_count; i++) {
        const mabd_redmax_cut* cut = &s->sim->loops.cuts[i];
        loop_joint j;
        loop_joint_at(s, cut, &j);
        write_stiffness(&j, cut);
        if (s->by_rate) write_rates(&j, cut);
    }
}

void mabd_redmax_row_rates(const mabd_redmax_solve* s) {
    for (int32_t i = s->part->cut_first; i < s->part->cut_first + s->part->cut_count; i++) {
        loop_joint j;
        loop_joint_at(s, &s->sim->loops.cuts[i], &j);
        write_rates(&j, &s->sim->loops.cuts[i]);
    }
}

// W . V' + (V' H) . V of one side; A of a link contains the acceleration -g of the ground.
static mabd_real side_acceleration(const mabd_redmax_sim* sim, int32_t link, mabd_spatial W,
                                   mabd_spatial by) {
    if (link < 0) return 0;
    const mabd_vec3 g = mabd_v3_load(sim->model->gravity);
    mabd_spatial A = sim->A[link];
    A.v = mabd_v3_add(A.v, mabd_m3_tmul(sim->world[link].R, g));
    return mabd_sp_dot(W, A) + mabd_sp_dot(by, sim->V[link]);
}

void mabd_redmax_row_accelerations(const mabd_redmax_solve* s, mabd_real* out) {
    const mabd_redmax_sim* sim = s->sim;
    for (int32_t r = 0; r < s->part->row_count; r++) out[r] = 0; // those of couplings stay
    for (int32_t i = s->part->cut_first; i < s->part->cut_first + s->part->cut_count; i++) {
        const mabd_redmax_cut* cut = &sim->loops.cuts[i];
        loop_joint j;
        loop_joint_at(s, cut, &j);
        for (int32_t r = 0; r < cut->row_count; r++) {
            const mabd_redmax_border* border = border_of(s, cut->row_first + r);
            mabd_spatial by_a = mabd_sp_zero(), by_b = mabd_sp_zero();
            add_row_rate(&j, r, &by_a, &by_b);
            out[cut->row_first - s->part->row_first + r] =
                side_acceleration(sim, cut->a, border->on_a, by_a) +
                side_acceleration(sim, cut->b, border->on_b, by_b);
        }
    }
}

// ---- the place of a cut joint on its bodies ----------------------------------------------------

const mabd_redmax_cut* mabd_redmax_find_cut(const mabd_redmax_sim* sim, int32_t joint) {
    for (int32_t i = 0; i < sim->loops.cut_count; i++) {
        if (sim->loops.cuts[i].joint == joint) return &sim->loops.cuts[i];
    }
    return NULL;
}

static mabd_spatial times(const mabd_real* H, mabd_spatial x) {
    mabd_real in[6], out[6] = {0};
    mabd_sp_store(x, in);
    for (int i = 0; i < 36; i++) out[i / 6] += H[i] * in[i % 6];
    return mabd_sp_load(out);
}

// Let the frame of a side on the ground move as well.
static void enter_ground(loop_side* own) {
    if (own->link >= 0) return;
    set_part(own->D, 0, 3, 1, own->pose.R);
    set_part(own->D, 3, 0, 1, mabd_m3_identity());
    own->moves = true, own->R = own->pose.R;
    own->P = (mabd_frame){mabd_m3_identity(), mabd_v3(0, 0, 0)};
}

// A cut joint whose frame moves on one side; that of a side on the ground as well.
static loop_side* enter_side(const mabd_redmax_solve* s, const mabd_redmax_cut* cut, int side,
                             loop_joint* j) {
    loop_joint_at(s, cut, j);
    loop_side* own = &j->side[side];
    enter_ground(own);
    return own;
}

// The frame of the joint is one of a body that is fixed to the link and moves by f against it: rows
// and wrenches change as by a motion of the link, and the wrench on the link itself is seen from
// there, W - ad(f)'W.
void mabd_redmax_move_cut(const mabd_redmax_solve* s, const mabd_redmax_cut* cut, int side,
                          mabd_spatial f, mabd_real* rows, mabd_spatial on[2]) {
    loop_joint j;
    link_blocks H;
    loop_side* own = enter_side(s, cut, side, &j);
    const mabd_spatial rate = mabd_sp_cross(twist_of(&j, own), f);
    mabd_spatial W = mabd_sp_zero();
    for (int32_t r = 0; r < cut->row_count; r++) {
        const mabd_spatial unit = to_link(own, side == 0 ? &j.J[r].a : &j.J[r].b);
        W = mabd_sp_axpy(s->sim->loops.force[cut->row_first + r], unit, W);
        rows[r] = s->by_rate ? mabd_sp_dot(unit, rate) + mabd_sp_dot(row_rate_by(&j, r, side), f)
                             : mabd_sp_dot(unit, f);
    }
    find_blocks(&j, cut, ROWS_ALL, &H);
    on[side] = mabd_sp_sub(times(side == 0 ? H.aa : H.bb, f), mabd_sp_cross_wrench(f, W));
    on[1 - side] = times(side == 0 ? H.ba : H.ab, f);
}

/// What cut_bars adds up of one side.
typedef struct side_bars {
    mabd_spatial rows, turned;  // bars of the rows on the link, and by its pose
    mabd_spatial force, forced; // wrench of the rows, and bars of its derivatives
} side_bars;

static side_bars side_bars_of(const loop_joint* j, const mabd_redmax_cut* cut, int k,
                              const loop_twists* V, const mabd_real* rows, const loop_twists* by) {
    const mabd_real* force = j->s->sim->loops.force + cut->row_first;
    const mabd_spatial zero = mabd_sp_zero();
    side_bars out = {zero, zero, zero, zero};
    for (int32_t r = 0; r < cut->row_count; r++) {
        const mabd_spatial unit = to_link(&j->side[k], k == 0 ? &j->J[r].a : &j->J[r].b);
        if (by) out.force = mabd_sp_axpy(force[r], unit, out.force);
        if (rows) out.rows = mabd_sp_axpy(rows[r], unit, out.rows);
    }
    if (rows && j->s->by_rate) out.turned = contract(j, 0, cut->row_count, rows, V, k);
    if (by) out.forced = contract(j, 0, cut->row_count, force, by, k);
    return out;
}

// The bar of a twist of the frame of a joint on one of its bodies.
static mabd_spatial frame_bar(const loop_joint* j, int k, const side_bars* own,
                              const loop_twists* V, const loop_twists* by) {
    mabd_spatial bar = own->rows;
    if (j->s->by_rate) {
        bar = mabd_sp_add(mabd_sp_cross_wrench(V->xi[k], own->rows), own->turned);
    }
    if (!by) return bar;
    // on . (H f - ad(f)'W) = f . (H'on + ad(on)'W)
    const mabd_spatial sum = mabd_sp_add(own->forced, mabd_sp_cross_wrench(by->xi[k], own->force));
    return mabd_sp_add(bar, sum);
}

void mabd_redmax_cut_bars(const mabd_redmax_solve* s, const mabd_redmax_cut* cut,
                          const mabd_real* rows, const mabd_spatial* on, mabd_spatial bar[2]) {
    loop_joint j;
    loop_joint_at(s, cut, &j);
    for (int k = 0; k < 2; k++) enter_ground(&j.side[k]);
    const loop_twists V = own_twists(&j), by = given_twists(&j, on ? on : V.xi);
    for (int k = 0; k < 2; k++) {
        const side_bars own = side_bars_of(&j, cut, k, &V, rows, on ? &by : NULL);
        bar[k] = frame_bar(&j, k, &own, &V, on ? &by : NULL);
    }
}

// Bars of wrenches on the links of a cut joint, as dF = -d(W lambda).
static void wrench_bars(const mabd_redmax_solve* s, const mabd_redmax_cut* cut,
                        mabd_spatial on[2]) {
    const int32_t links[2] = {cut->a, cut->b};
    for (int k = 0; k < 2; k++) {
        on[k] = mabd_sp_zero();
        if (links[k] < 0) continue;
        const mabd_real* w = s->sim->x + MABD_VARIATION * (size_t)links[k];
        on[k] = mabd_sp_scale(-1, mabd_sp_load(w));
    }
}

void mabd_redmax_pull_cuts(const mabd_redmax_solve* s, bool loaded) {
    const bool rates = s->rates_at_once, forces = s->forces_at_once && loaded;
    for (int32_t i = s->part->cut_first; i < s->part->cut_first + s->part->cut_count; i++) {
        const mabd_redmax_cut* cut = &s->sim->loops.cuts[i];
        const mabd_real* rows = s->row_bars;
        mabd_spatial on[2];
        loop_joint j;
        loop_joint_at(s, cut, &j);
        wrench_bars(s, cut, on);
        if (rows) rows += cut->row_first - s->part->row_first;
        for (int k = 0; k < 2 && s->kept_bars; k++) enter_ground(&j.side[k]);
        const loop_twists V = own_twists(&j), by = given_twists(&j, on);
        for (int k = 0; k < 2; k++) {
            const int32_t link = j.side[k].link;
            if (link < 0 && !s->kept_bars) continue;
            const side_bars own = side_bars_of(&j, cut, k, &V, rows, forces ? &by : NULL);
            if (s->kept_bars) {
                s->kept_bars[2 * i + k] = frame_bar(&j, k, &own, &V, forces ? &by : NULL);
            }
            if (rates) mabd_redmax_add_bar(s->sim, link, 0, 1, own.rows);
            if (rates) mabd_redmax_add_bar(s->sim, link, 12, 1, own.turned);
            if (forces) mabd_redmax_add_bar(s->sim, link, 12, 1, own.forced);
        }
    }
}
