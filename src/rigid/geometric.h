// SPDX-License-Identifier: Apache-2.0
// Second derivatives of rows of rigid bodies: G = d(J' lambda)/dx, x = (dc, phi) of both bodies.
//
// J is the Jacobian of rigid/row_jacobian.h, taken at the moved pose with its torques in the moved
// frames. G is therefore not symmetric: the antisymmetric part of a body's own block is [t]/2 with
// its torque t. In G, `ba` is the block (wrench on b, by the increment of a), f and t
// its force and torque rows, and by dc and phi its columns; [x] is the cross matrix, Q = R_b' R_a.
// Because d(R y) = -R [y] phi and d(R'y) = [R'y] phi:
//
//   point i  bb_tt =  lambda [X_b][R_b'e]        aa_tt = -lambda [X_a][R_a'e]
//   slide n  bb_tt =  lambda [X_b][Q n]
//            ba_ft = -lambda R_a [n]             ba_tt = -lambda [X_b] Q [n]
//            aa_ft =  lambda R_a [n]             aa_tf = -lambda [n] R_a'
//            aa_tt =  lambda [n][R_a'd + X_a]
//            ab_tf =  lambda [n] R_a'            ab_tt = -lambda [n] Q' [X_b]
//   cross    bb_tt =  lambda [w][Q u]            ba_tt = -lambda [w] Q [u]
//            aa_tt =  lambda [u][Q'w]            ab_tt = -lambda [u] Q' [w]
//
// Angle x = atan2(s, c): with k = (s ds + c dc)/rho the gradient of ln r and J that of x,
//
//   ds = c J + s k,  dc = c k - s J,   dJ = (c d2s - s d2c)/rho - J k' - k J'
//
// The first term is the cross block of the axes u, w of row_jacobian.h, since s and c share an
// axis; the others vanish where the joint is closed, because rho is largest there.
//
// Vector rows together, l = sum lambda_k e_k: the torques are t_b = F_b N'l and t_a = -F_a N l with
// N = I + [phi]/2 + c [phi]^2. With c1 = (dc/dp)/p,
//
//   D = c ((phi.l) I + phi l' - 2 l phi') + c1 ([phi]^2 l) phi'
//   d(N'l) = (D + [l]/2) dphi,   d(N l) = (D - [l]/2) dphi,   dphi = N F_b' phi_b - N' F_a' phi_a
//
// All of it is linear in lambda: a caller that needs -bh^2 G passes -bh^2 lambda.
#pragma once

#include "rigid/row_jacobian.h"

/// Where G is added: 6 x 6 blocks, row-major, (wrench of the first side, by the second). A null
/// block is left out; a body whose motion is prescribed has none.
typedef struct mabd_rigid_blocks {
    mabd_real *aa, *ab, *ba, *bb;
} mabd_rigid_blocks;

enum { MABD_RIGID_F = 0, MABD_RIGID_T = 3 }; // first row or column of a 3 x 3 part

/// Add s M to the 3 x 3 part of a 6 x 6 block that begins at (row, column); nothing if block is
/// null.
MABD_FN void mabd_rigid_add_part(mabd_real* block, int row, int column, mabd_real s, mabd_mat3 M) {
    if (!block) return;
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 c = mabd_m3_column(&M, k);
        mabd_real* p = block + 6 * row + column + k;
        p[0] += s * c.x, p[6] += s * c.y, p[12] += s * c.z;
    }
}

/// [x][y] = y x' - (x.y) I
MABD_FN mabd_mat3 mabd_rigid_skew_skew(mabd_vec3 x, mabd_vec3 y) {
    const mabd_real dot = mabd_v3_dot(x, y);
    mabd_mat3 M = mabd_m3_outer(y, x);
    M.c1.x -= dot, M.c2.y -= dot, M.c3.z -= dot;
    return M;
}

/// M [x]
MABD_FN mabd_mat3 mabd_rigid_product_skew(mabd_mat3 M, mabd_vec3 x) {
    return mabd_m3_product(M, mabd_m3_skew(x));
}

/// Add G of a point row, world axis i.
MABD_FN void mabd_rigid_add_point(const mabd_joint_view* v, int i, mabd_real lambda,
                                  const mabd_rigid_blocks* G) {
    const mabd_vec3 e = mabd_v3(i == 0, i == 1, i == 2);
    const int t = MABD_RIGID_T;
    mabd_rigid_add_part(G->bb, t, t, lambda, mabd_rigid_skew_skew(v->Xb, mabd_m3_tmul(v->Ab, e)));
    mabd_rigid_add_part(G->aa, t, t, -lambda, mabd_rigid_skew_skew(v->Xa, mabd_m3_tmul(v->Aa, e)));
}

/// Add the blocks of a slide row along n (frame of a) that its force contributes: ft and tf.
MABD_FN void mabd_rigid_add_slide_force(const mabd_joint_view* v, mabd_vec3 n, mabd_real lambda,
                                        const mabd_rigid_blocks* G) {
    const mabd_mat3 turned = mabd_rigid_product_skew(v->Aa, n); // R_a [n]; [n] R_a' = -turned'
    const mabd_mat3 back = mabd_m3_transpose(turned);
    const int f = MABD_RIGID_F, t = MABD_RIGID_T;
    mabd_rigid_add_part(G->aa, f, t, lambda, turned);
    mabd_rigid_add_part(G->ba, f, t, -lambda, turned);
    mabd_rigid_add_part(G->aa, t, f, lambda, back);
    mabd_rigid_add_part(G->ab, t, f, -lambda, back);
}

/// Add G of a slide row along n (frame of a).
MABD_FN void mabd_rigid_add_slide(const mabd_rigid_joint* j, mabd_vec3 n, mabd_real lambda,
                                  const mabd_rigid_blocks* G) {
    const mabd_joint_view* v = j->v;
    const mabd_vec3 arm = mabd_v3_add(mabd_m3_tmul(v->Aa, j->gap), v->Xa);
    // ba_tt = -lambda [X_b] Q [n], ab_tt = -lambda [n] Q' [X_b] = its transpose
    const mabd_mat3 mixed = mabd_m3_skew_product(v->Xb, mabd_rigid_product_skew(j->Q, n));
    const int t = MABD_RIGID_T;
    mabd_rigid_add_slide_force(v, n, lambda, G);
    mabd_rigid_add_part(G->bb, t, t, lambda, mabd_rigid_skew_skew(v->Xb, mabd_m3_mul(j->Q, n)));
    mabd_rigid_add_part(G->aa, t, t, lambda, mabd_rigid_skew_skew(n, arm));
    mabd_rigid_add_part(G->ba, t, t, -lambda, mixed);
    mabd_rigid_add_part(G->ab, t, t, -lambda, mabd_m3_transpose(mixed));
}

/// Add G of (R_a u) . (R_b w): u in the frame of a, w in that of b.
MABD_FN void mabd_rigid_add_cross(const mabd_rigid_joint* j, mabd_vec3 u, mabd_vec3 w,
                                  mabd_real lambda, const mabd_rigid_blocks* G) {
    const mabd_mat3 mixed = mabd_m3_skew_product(w, mabd_rigid_product_skew(j->Q, u));
    const int t = MABD_RIGID_T;
    mabd_rigid_add_part(G->bb, t, t, lambda, mabd_rigid_skew_skew(w, mabd_m3_mul(j->Q, u)));
    mabd_rigid_add_part(G->aa, t, t, lambda, mabd_rigid_skew_skew(u, mabd_m3_tmul(j->Q, w)));
    mabd_rigid_add_part(G->ba, t, t, -lambda, mixed);
    mabd_rigid_add_part(G->ab, t, t, -lambda, mabd_m3_transpose(mixed));
}

/// Add s (x_row y_column' + y_row x_column') to the torque part of a block.
MABD_FN void mabd_rigid_add_pair(mabd_real* block, mabd_real s, mabd_vec3 x_row, mabd_vec3 y_row,
                                 mabd_vec3 x_column, mabd_vec3 y_column) {
    const int t = MABD_RIGID_T;
    mabd_rigid_add_part(block, t, t, s, mabd_m3_outer(x_row, y_column));
    mabd_rigid_add_part(block, t, t, s, mabd_m3_outer(y_row, x_column));
}

/// Add G of an angle row.
MABD_FN void mabd_rigid_add_angle(const mabd_rigid_joint* j, const mabd_row* row, mabd_real lambda,
                                  const mabd_rigid_blocks* G) {
    const mabd_rigid_axes x = mabd_rigid_angle_axes(j->v, row);
    const mabd_rigid_row J = mabd_rigid_cross_jacobian(j, x.u, x.w);
    const mabd_rigid_row k = mabd_rigid_cross_jacobian(j, x.radial_u, x.radial_w);
    mabd_rigid_add_cross(j, x.u, x.w, lambda, G);
    mabd_rigid_add_pair(G->aa, -lambda, J.a.t, k.a.t, J.a.t, k.a.t);
    mabd_rigid_add_pair(G->ab, -lambda, J.a.t, k.a.t, J.b.t, k.b.t);
    mabd_rigid_add_pair(G->ba, -lambda, J.b.t, k.b.t, J.a.t, k.a.t);
    mabd_rigid_add_pair(G->bb, -lambda, J.b.t, k.b.t, J.b.t, k.b.t);
}

/// Compute D of the file head, the part that d(N l)/dphi and d(N'l)/dphi have in common.
MABD_FN mabd_mat3 mabd_rigid_vector_curvature(mabd_vec3 phi, mabd_vec3 l) {
    const mabd_real c = mabd_so3_gradient_factor(phi), dot = c * mabd_v3_dot(phi, l);
    const mabd_vec3 twice = mabd_v3_cross(phi, mabd_v3_cross(phi, l));
    const mabd_vec3 along = mabd_v3_axpy(-2 * c, l, // factor of phi'
                                         mabd_v3_scale(mabd_so3_gradient_slope(phi), twice));
    mabd_mat3 D = mabd_m3_axpy(c, mabd_m3_outer(phi, l), mabd_m3_outer(along, phi));
    D.c1.x += dot, D.c2.y += dot, D.c3.z += dot;
    return D;
}

/// Add G of the vector rows of a joint, l = sum lambda_k e_k.
MABD_FN void mabd_rigid_add_vector(const mabd_rigid_joint* j, mabd_vec3 l,
                                   const mabd_rigid_blocks* G) {
    const mabd_mat3 D = mabd_rigid_vector_curvature(j->phi, l), half = mabd_m3_skew(l);
    const mabd_mat3 Fa = j->v->Fa, Fb = j->v->Fb;
    // dphi = to_b phi_b - to_a phi_a; on_b and on_a: derivatives of t_b and -t_a by phi
    const mabd_mat3 to_b = mabd_m3_product(j->N, mabd_m3_transpose(Fb));
    const mabd_mat3 to_a = mabd_m3_tproduct(j->N, mabd_m3_transpose(Fa));
    const mabd_mat3 on_b = mabd_m3_product(Fb, mabd_m3_axpy((mabd_real)0.5, half, D));
    const mabd_mat3 on_a = mabd_m3_product(Fa, mabd_m3_axpy((mabd_real)-0.5, half, D));
    const int t = MABD_RIGID_T;
    mabd_rigid_add_part(G->bb, t, t, 1, mabd_m3_product(on_b, to_b));
    mabd_rigid_add_part(G->ba, t, t, -1, mabd_m3_product(on_b, to_a));
    mabd_rigid_add_part(G->ab, t, t, -1, mabd_m3_product(on_a, to_b));
    mabd_rigid_add_part(G->aa, t, t, 1, mabd_m3_product(on_a, to_a));
}

/// Add G of one row of a prepared joint that is no vector row.
MABD_CALL void mabd_rigid_add_row(const mabd_rigid_joint* j, const mabd_row* row, mabd_real lambda,
                                  const mabd_rigid_blocks* G) {
    if (row->kind == MABD_ROW_POINT) {
        mabd_rigid_add_point(j->v, row->axis, lambda, G);
    } else if (row->kind == MABD_ROW_SLIDE) {
        mabd_rigid_add_slide(j, mabd_m3_column(&j->v->Fa, row->axis), lambda, G);
    } else if (row->kind == MABD_ROW_CROSS) {
        const mabd_rigid_axes x = mabd_rigid_row_axes(j->v, row);
        mabd_rigid_add_cross(j, x.u, x.w, lambda, G);
    } else {
        mabd_rigid_add_angle(j, row, lambda, G);
    }
}

/// Add G of the rows of one joint with multipliers lambda (count) to the blocks. j: result of
/// mabd_rigid_joint_rows or mabd_rigid_joint_at for the same rows.
MABD_CALL void mabd_rigid_add_geometric(const mabd_rigid_joint* j, int count, const mabd_row* rows,
                                        const mabd_real* lambda, const mabd_rigid_blocks* G) {
    mabd_real l[3] = {0, 0, 0};
    for (int r = 0; r < count; r++) {
        if (rows[r].kind == MABD_ROW_VECTOR) {
            l[rows[r].axis] += lambda[r];
        } else {
            mabd_rigid_add_row(j, rows + r, lambda[r], G);
        }
    }
    if (mabd_rigid_has_vector(count, rows)) mabd_rigid_add_vector(j, mabd_v3_load(l), G);
}
