// SPDX-License-Identifier: Apache-2.0
// The co-rotated affine body: the mathematics of one body in a step, in the frame of the body.
//
// Kinematics     x = A X + t,  q = (a1, a2, a3, t), a_k the columns of A          [MABD eq. 1, 4]
// Body frame     at the centre of mass, along the principal axes: no mass coupling,
//                M = diag(s1 I3, s2 I3, s3 I3, m I3),  s_k = tr(I)/2 - I_k
// Increment      D = R' dA (columns d1 d2 d3), tau = R' dt;  D_ik is row i of column k
// Elasticity     Psi = V (mu e:e + lambda/2 tr(e)^2),  e = sym(R'A) - I               [MABD eq. 15]
//
// H = M/(bh)^2 + drag/(bh) on t + K is block diagonal (b = beta of the integrator):
//
//   (D11 D22 D33)  diag(s_i)/(bh)^2 + V (2 mu I + lambda 1 1')                 one 3x3 block
//   (D_ij, D_ji)   | s_j/(bh)^2 + V mu   V mu               |                  three 2x2 blocks
//                  | V mu                s_i/(bh)^2 + V mu  |
//   tau            m/(bh)^2 + drag/(bh)                                        one scalar
//
// Its inverse is constant: it is computed once per class of equal bodies and step size.
//
// Geometric stiffness: with stress S (body frame) the exact Hessian also has, on the rotation
// w = T D = (D32 - D23, D13 - D31, D21 - D12) = 2 x rotation, the block
//
//   G = V/4 (tr(S) I - S)      because  W : (W S) = w'(tr(S) I - S) w / 4,  W = skew(D).
//
// It is added to the constant inverse by the Woodbury identity; C = T H^-1 T' is diagonal:
//
//   (H + T'GT)^-1 = H^-1 - H^-1 T' Z T H^-1,   Z = (I + G C)^-1 G  (symmetric).
//
// Without it a chain with a heavy end diverges (docs/theory/notation.md). At the solution of a step
// w = 0, so G affects the convergence of the iteration but not its result: any G that keeps the sum
// positive definite is valid. Where the sum would lose definiteness, negative eigenvalues of G are
// set to zero (math/sym3.h).
#pragma once

#include "formulation/affine/body_types.h"
#include "formulation/affine/limits.h"
#include "math/sym3.h"
#include "model/material.h"

/// Invert 2x2 block k: masses mp on p, mq on q, coupling vmu. The determinant is expanded to
/// mp mq + vmu (mp + mq), which has no cancellation.
MABD_FN void mabd_affine_block_pair(mabd_affine_block* b, int k, mabd_real mp, mabd_real mq,
                                    mabd_real vmu) {
    mabd_real det = mp * mq + vmu * (mp + mq);
    b->pp[k] = (mq + vmu) / det;
    b->qq[k] = (mp + vmu) / det;
    b->pq[k] = -vmu / det;
    b->tp[k] = -(mq + 2 * vmu) / det;
    b->tq[k] = (mp + 2 * vmu) / det;
    b->c[k] = (mp + mq + 4 * vmu) / det;
    b->margin[k] = MABD_STIFFENING_MARGIN_PART / b->c[k];
}

/// Compute the constants of the rotation of a class of bodies, except `soft`.
MABD_FN void mabd_affine_block_spin(mabd_affine_block* b, const mabd_body_material* m) {
    int32_t least = 0, most = 0;
    b->J[0] = m->s[1] + m->s[2], b->J[1] = m->s[0] + m->s[2], b->J[2] = m->s[0] + m->s[1];
    for (int32_t k = 1; k < 3; k++) {
        if (b->J[k] < b->J[least]) least = k;
        if (b->J[k] > b->J[most]) most = k;
    }
    b->light = b->J[least] < MABD_SPIN_LIGHT_PART * b->J[most] ? least : -1;
    for (int32_t k = 0; k < 3; k++) b->on_light[k] = k == b->light ? 1 : 0;
    b->even = b->J[most] - b->J[least] <= MABD_SPIN_EVEN_PART * b->J[most];
    b->soft = false;
}

/// Compute the inertia of the strain of a class, relative to its stiffness, in BDF2 at steps of h
/// [s].
MABD_FN mabd_real mabd_affine_strain_inertia(const mabd_body_material* m, mabd_real h) {
    const mabd_real bh = 2 * h / 3, one = m->s[0] > m->s[1] ? m->s[0] : m->s[1];
    return (one > m->s[2] ? one : m->s[2]) / (2 * m->volume * m->mu * bh * bh);
}

/// True if bodies of a class are soft at steps of h [s].
MABD_FN bool mabd_affine_is_soft(const mabd_body_material* m, mabd_real h) {
    return mabd_affine_strain_inertia(m, h) > MABD_SOFT_PART;
}

/// Compute the constants of a class of bodies for one beta h [s].
MABD_FN mabd_affine_block mabd_affine_block_make(const mabd_body_material* m, mabd_real bh) {
    mabd_affine_block b;
    mabd_affine_block_spin(&b, m);
    const mabd_real w = 1 / (bh * bh);
    const mabd_real vmu = m->volume * m->mu, vla = m->volume * m->lambda;
    for (int k = 0; k < 3; k++) b.sm[k] = m->s[k] * w;
    b.mm = m->mass * w;
    b.drag_rate = m->drag / bh;
    b.inv_t = 1 / (b.mm + b.drag_rate);

    // diag(e) + V lambda 1 1' with e_i = s_i/(bh)^2 + 2 V mu: inverse by Sherman-Morrison
    const mabd_real e1 = 1 / (b.sm[0] + 2 * vmu), e2 = 1 / (b.sm[1] + 2 * vmu),
                    e3 = 1 / (b.sm[2] + 2 * vmu);
    const mabd_real f = vla / (1 + vla * (e1 + e2 + e3));
    b.b11 = e1 - f * e1 * e1, b.b22 = e2 - f * e2 * e2, b.b33 = e3 - f * e3 * e3;
    b.b12 = -f * e1 * e2, b.b13 = -f * e1 * e3, b.b23 = -f * e2 * e3;

    // D_ij carries the mass of column j
    mabd_affine_block_pair(&b, 0, b.sm[2], b.sm[1], vmu);
    mabd_affine_block_pair(&b, 1, b.sm[0], b.sm[2], vmu);
    mabd_affine_block_pair(&b, 2, b.sm[1], b.sm[0], vmu);
    b.quarter_volume = m->volume / 4;
    b.two_mu = 2 * m->mu;
    b.lambda = m->lambda;
    return b;
}

/// Compute w = T D = (D32 - D23, D13 - D31, D21 - D12), twice the rotation of an increment [rad].
MABD_FN mabd_vec3 mabd_vec12_rotation(mabd_vec12 y) {
    return mabd_v3(y.d2.z - y.d3.y, y.d3.x - y.d1.z, y.d1.y - y.d2.x);
}

/// Compute M (t_hat - t)/bh^2 + force of a body, body frame. force [N]: world axes.
MABD_HOT mabd_vec3 mabd_affine_center_force(const mabd_affine_block* b, mabd_vec3 t_hat,
                                            mabd_vec12 ref, mabd_vec3 force) {
    const mabd_mat3 R = mabd_m3(ref.d1, ref.d2, ref.d3);
    return mabd_m3_tmul(R, mabd_v3_axpy(b->mm, mabd_v3_sub(t_hat, ref.tau), force));
}

/// Compute r = M (q_hat - ref)/(bh)^2 + weight in the body frame. q_hat and ref are coordinates
/// (a1, a2, a3, t), ref is rigid, weight [N] is in world axes.
MABD_FN mabd_vec12 mabd_affine_block_inertia(const mabd_affine_block* b, mabd_vec12 q_hat,
                                             mabd_vec12 ref, mabd_vec3 weight) {
    const mabd_mat3 R = mabd_m3(ref.d1, ref.d2, ref.d3);
    mabd_vec12 r;
    r.d1 = mabd_m3_tmul(R, q_hat.d1);
    r.d2 = mabd_m3_tmul(R, q_hat.d2);
    r.d3 = mabd_m3_tmul(R, q_hat.d3);
    r.d1.x -= 1, r.d2.y -= 1, r.d3.z -= 1;
    r.d1 = mabd_v3_scale(b->sm[0], r.d1);
    r.d2 = mabd_v3_scale(b->sm[1], r.d2);
    r.d3 = mabd_v3_scale(b->sm[2], r.d3);
    r.tau = mabd_affine_center_force(b, q_hat.tau, ref, weight);
    return r;
}

/// Move q_hat by the displacement M^-1 f bh^2 of a force and a torque (6) [N], [N m] at the centre
/// of mass, world axes. A torque acts on the columns of the reference R as f_k = torque x r_k / 2.
MABD_FN void mabd_affine_block_apply_force(const mabd_affine_block* b, const mabd_real* wrench,
                                           mabd_mat3 R, mabd_vec12* q_hat) {
    const mabd_vec3 torque = mabd_v3_scale((mabd_real)0.5, mabd_v3_load(wrench + 3));
    q_hat->d1 = mabd_v3_axpy(1 / b->sm[0], mabd_v3_cross(torque, R.c1), q_hat->d1);
    q_hat->d2 = mabd_v3_axpy(1 / b->sm[1], mabd_v3_cross(torque, R.c2), q_hat->d2);
    q_hat->d3 = mabd_v3_axpy(1 / b->sm[2], mabd_v3_cross(torque, R.c3), q_hat->d3);
    q_hat->tau = mabd_v3_axpy(1 / b->mm, mabd_v3_load(wrench), q_hat->tau);
}

/// Compute H^-1 r without the geometric term.
MABD_FN mabd_vec12 mabd_affine_block_apply(const mabd_affine_block* b, mabd_vec12 r) {
    mabd_vec12 y;
    y.d1.x = b->b11 * r.d1.x + b->b12 * r.d2.y + b->b13 * r.d3.z;
    y.d2.y = b->b12 * r.d1.x + b->b22 * r.d2.y + b->b23 * r.d3.z;
    y.d3.z = b->b13 * r.d1.x + b->b23 * r.d2.y + b->b33 * r.d3.z;
    y.d3.y = b->pp[0] * r.d3.y + b->pq[0] * r.d2.z; // D23 = p1
    y.d2.z = b->pq[0] * r.d3.y + b->qq[0] * r.d2.z; // D32 = q1
    y.d1.z = b->pp[1] * r.d1.z + b->pq[1] * r.d3.x; // D31 = p2
    y.d3.x = b->pq[1] * r.d1.z + b->qq[1] * r.d3.x; // D13 = q2
    y.d2.x = b->pp[2] * r.d2.x + b->pq[2] * r.d1.y; // D12 = p3
    y.d1.y = b->pq[2] * r.d2.x + b->qq[2] * r.d1.y; // D21 = q3
    y.tau = mabd_v3_scale(b->inv_t, r.tau);
    return y;
}

/// Compute y <- y - H^-1 T' z.
MABD_FN void mabd_affine_block_unrotate(const mabd_affine_block* b, mabd_vec3 z, mabd_vec12* y) {
    y->d3.y -= b->tp[0] * z.x, y->d2.z -= b->tq[0] * z.x;
    y->d1.z -= b->tp[1] * z.y, y->d3.x -= b->tq[1] * z.y;
    y->d2.x -= b->tp[2] * z.z, y->d1.y -= b->tq[2] * z.z;
}

/// Compute (H + T'GT)^-1 r; Z of mabd_affine_block_woodbury.
MABD_FN mabd_vec12 mabd_affine_block_solve(const mabd_affine_block* b, mabd_sym3 Z, mabd_vec12 r) {
    mabd_vec12 y = mabd_affine_block_apply(b, r);
    mabd_affine_block_unrotate(b, mabd_sym3_mul(Z, mabd_vec12_rotation(y)), &y);
    return y;
}

/// True if G + diag(1/c)/10 is positive definite: then I + GC is too, with a margin, and G needs no
/// clamp.
MABD_FN bool mabd_affine_geometric_is_safe(const mabd_affine_block* b, mabd_sym3 G) {
    mabd_real xx = G.xx + b->margin[0], yy = G.yy + b->margin[1], zz = G.zz + b->margin[2];
    mabd_real minor = xx * yy - G.xy * G.xy;
    mabd_real det =
        zz * minor - G.yz * (xx * G.yz - G.xy * G.xz) + G.xz * (G.xy * G.yz - yy * G.xz);
    return xx > 0 && minor > 0 && det > 0;
}

/// Compute the geometric stiffness G of a stress [Pa], not clamped [N m].
MABD_FN mabd_sym3 mabd_affine_block_stiffness(const mabd_affine_block* b, mabd_sym3 stress) {
    const mabd_real v = b->quarter_volume, trace = stress.xx + stress.yy + stress.zz;
    mabd_sym3 G;
    G.xx = v * (trace - stress.xx), G.yy = v * (trace - stress.yy), G.zz = v * (trace - stress.zz);
    G.xy = -v * stress.xy, G.xz = -v * stress.xz, G.yz = -v * stress.yz;
    return G;
}

/// Compute the geometric stiffness G of a stress [Pa], clamped where H + T'GT would lose
/// definiteness [N m].
MABD_CALL mabd_sym3 mabd_affine_block_geometric(const mabd_affine_block* b, mabd_sym3 stress) {
    const mabd_sym3 G = mabd_affine_block_stiffness(b, stress);
    if (mabd_affine_geometric_is_safe(b, G)) return G;
    const mabd_sym3 clamped = mabd_sym3_positive(G);
    return mabd_affine_geometric_is_safe(b, clamped) ? clamped : mabd_sym3_clamp(G);
}

/// Compute Z = (I + GC)^-1 G.
MABD_FN mabd_sym3 mabd_affine_block_woodbury(const mabd_affine_block* b, mabd_sym3 G) {
    // N = I + GC, columns; its inverse by cofactors
    const mabd_real* c = b->c;
    mabd_vec3 n1 = mabd_v3(1 + G.xx * c[0], G.xy * c[0], G.xz * c[0]);
    mabd_vec3 n2 = mabd_v3(G.xy * c[1], 1 + G.yy * c[1], G.yz * c[1]);
    mabd_vec3 n3 = mabd_v3(G.xz * c[2], G.yz * c[2], 1 + G.zz * c[2]);
    mabd_vec3 r1 = mabd_v3_cross(n2, n3), r2 = mabd_v3_cross(n3, n1), r3 = mabd_v3_cross(n1, n2);
    mabd_real inverse = 1 / mabd_v3_dot(n1, r1);
    mabd_vec3 g1 = mabd_v3(G.xx, G.xy, G.xz), g2 = mabd_v3(G.xy, G.yy, G.yz),
              g3 = mabd_v3(G.xz, G.yz, G.zz);
    mabd_sym3 Z;
    Z.xx = inverse * mabd_v3_dot(r1, g1), Z.xy = inverse * mabd_v3_dot(r1, g2);
    Z.xz = inverse * mabd_v3_dot(r1, g3), Z.yy = inverse * mabd_v3_dot(r2, g2);
    Z.yz = inverse * mabd_v3_dot(r2, g3), Z.zz = inverse * mabd_v3_dot(r3, g3);
    return Z;
}

/// Write H + T'GT as a matrix (12 x 12, row-major, symmetric), for bodies whose degrees of freedom
/// are unknowns of the dual system.
MABD_FN void mabd_affine_block_matrix(const mabd_affine_block* b, mabd_sym3 G, mabd_real* H) {
    const int p[3] = {7, 2, 3}, q[3] = {5, 6, 1}; // indices of the pairs: D23 D31 D12, D32 D13 D21
    const mabd_real volume = 4 * b->quarter_volume;
    const mabd_real vmu = volume * b->two_mu / 2, vla = volume * b->lambda;
    const mabd_real g[9] = {G.xx, G.xy, G.xz, G.xy, G.yy, G.yz, G.xz, G.yz, G.zz};
    for (int k = 0; k < 144; k++) H[k] = 0;
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) H[13 * (3 * j + i)] = b->sm[j] + (i == j ? 2 * vmu : vmu);
        for (int i = 0; i < 3; i++) H[12 * (4 * i) + 4 * j] += vla;
        H[13 * (9 + j)] = b->mm + b->drag_rate;
        H[12 * p[j] + q[j]] = H[12 * q[j] + p[j]] = vmu;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const mabd_real e = g[3 * i + j];
            H[12 * q[i] + q[j]] += e, H[12 * p[i] + p[j]] += e;
            H[12 * q[i] + p[j]] -= e, H[12 * p[i] + q[j]] -= e;
        }
    }
}

/// Compute the stress [Pa] of an increment from a rigid reference: 2 mu e + lambda tr(e) I, e =
/// sym(D).
MABD_FN mabd_sym3 mabd_affine_block_stress(const mabd_affine_block* b, mabd_vec12 y) {
    const mabd_real half = b->two_mu / 2, pressure = b->lambda * (y.d1.x + y.d2.y + y.d3.z);
    mabd_sym3 s;
    s.xx = b->two_mu * y.d1.x + pressure;
    s.yy = b->two_mu * y.d2.y + pressure;
    s.zz = b->two_mu * y.d3.z + pressure;
    s.xy = half * (y.d2.x + y.d1.y);
    s.xz = half * (y.d3.x + y.d1.z);
    s.yz = half * (y.d3.y + y.d2.z);
    return s;
}

/// Compute the strain e = (S - share tr(S) I) soft of a stress S [Pa], with soft = 1/(2 mu) and
/// share = lambda/(2 mu + 3 lambda).
MABD_FN mabd_sym3 mabd_affine_strain_of(mabd_real soft, mabd_real share, mabd_sym3 stress) {
    const mabd_real pressure = share * (stress.xx + stress.yy + stress.zz);
    mabd_sym3 e;
    e.xx = soft * (stress.xx - pressure), e.yy = soft * (stress.yy - pressure);
    e.zz = soft * (stress.zz - pressure), e.xy = soft * stress.xy;
    e.xz = soft * stress.xz, e.yz = soft * stress.yz;
    return e;
}
/// Compute the strain of a body with this block under a stress [Pa].
MABD_FN mabd_sym3 mabd_affine_block_strain(const mabd_affine_block* b, mabd_sym3 stress) {
    return mabd_affine_strain_of(1 / b->two_mu, b->lambda / (b->two_mu + 3 * b->lambda), stress);
}

/// Compute P(X) and W(X) of an attachment point X, body frame [m].
MABD_FN mabd_affine_attachment mabd_affine_block_attach(const mabd_affine_block* b, mabd_sym3 Z,
                                                        mabd_vec3 X) {
    mabd_affine_attachment a;
    a.X = X;
    a.p12 = b->tq[1] * X.z, a.p13 = b->tp[2] * X.y;
    a.p21 = b->tp[0] * X.z, a.p23 = b->tq[2] * X.x;
    a.p31 = b->tq[0] * X.y, a.p32 = b->tp[1] * X.x;
    a.W.c1 = mabd_v3(Z.xy * a.p12 + Z.xz * a.p13, Z.yy * a.p12 + Z.yz * a.p13,
                     Z.yz * a.p12 + Z.zz * a.p13);
    a.W.c2 = mabd_v3(Z.xx * a.p21 + Z.xz * a.p23, Z.xy * a.p21 + Z.yz * a.p23,
                     Z.xz * a.p21 + Z.zz * a.p23);
    a.W.c3 = mabd_v3(Z.xx * a.p31 + Z.xy * a.p32, Z.xy * a.p31 + Z.yy * a.p32,
                     Z.xz * a.p31 + Z.yz * a.p32);
    return a;
}

/// Compute the compliance between points X and Y of one body, body frame: J(X) (H + T'GT)^-1 J(Y)'
/// (3 x 3). Dual blocks of ball joints consist of these:
///   ii   1/t + B_ii X_i Y_i + sum_k inv(D_ik) X_k Y_k - (P(X) W(Y))_ii
///   ij   B_ij X_i Y_j + inv(D_ij, D_ji) X_j Y_i - (P(X) W(Y))_ij
MABD_FN mabd_mat3 mabd_affine_block_compliance(const mabd_affine_block* b,
                                               const mabd_affine_attachment* x,
                                               const mabd_affine_attachment* y) {
    const mabd_vec3 X = x->X, Y = y->X;
    const mabd_mat3* W = &y->W;
    const mabd_real xx = X.x * Y.x, yy = X.y * Y.y, zz = X.z * Y.z;
    const mabd_real xy = X.x * Y.y, yx = X.y * Y.x, xz = X.x * Y.z, zx = X.z * Y.x, yz = X.y * Y.z,
                    zy = X.z * Y.y;
    mabd_mat3 c;
    c.c1.x = (b->inv_t + b->b11 * xx) + (b->pp[2] * yy + b->qq[1] * zz) -
             (x->p12 * W->c1.y + x->p13 * W->c1.z);
    c.c2.y = (b->inv_t + b->b22 * yy) + (b->pp[0] * zz + b->qq[2] * xx) -
             (x->p21 * W->c2.x + x->p23 * W->c2.z);
    c.c3.z = (b->inv_t + b->b33 * zz) + (b->pp[1] * xx + b->qq[0] * yy) -
             (x->p31 * W->c3.x + x->p32 * W->c3.y);
    c.c2.x = (b->b12 * xy + b->pq[2] * yx) - (x->p12 * W->c2.y + x->p13 * W->c2.z);
    c.c1.y = (b->b12 * yx + b->pq[2] * xy) - (x->p21 * W->c1.x + x->p23 * W->c1.z);
    c.c3.x = (b->b13 * xz + b->pq[1] * zx) - (x->p12 * W->c3.y + x->p13 * W->c3.z);
    c.c1.z = (b->b13 * zx + b->pq[1] * xz) - (x->p31 * W->c1.x + x->p32 * W->c1.y);
    c.c3.y = (b->b23 * yz + b->pq[0] * zy) - (x->p21 * W->c3.x + x->p23 * W->c3.z);
    c.c2.z = (b->b23 * zy + b->pq[0] * yz) - (x->p31 * W->c2.x + x->p32 * W->c2.y);
    return c;
}

/// Compute the compliance J(X) (H + T'GT)^-1 J(X)' of one point, body frame.
MABD_FN mabd_sym3 mabd_affine_block_self_compliance(const mabd_affine_block* b,
                                                    const mabd_affine_attachment* x) {
    const mabd_vec3 X = x->X;
    const mabd_mat3* W = &x->W;
    const mabd_real xx = X.x * X.x, yy = X.y * X.y, zz = X.z * X.z;
    mabd_sym3 c;
    c.xx = (b->inv_t + b->b11 * xx) + (b->pp[2] * yy + b->qq[1] * zz) -
           (x->p12 * W->c1.y + x->p13 * W->c1.z);
    c.yy = (b->inv_t + b->b22 * yy) + (b->pp[0] * zz + b->qq[2] * xx) -
           (x->p21 * W->c2.x + x->p23 * W->c2.z);
    c.zz = (b->inv_t + b->b33 * zz) + (b->pp[1] * xx + b->qq[0] * yy) -
           (x->p31 * W->c3.x + x->p32 * W->c3.y);
    c.xy = (b->b12 + b->pq[2]) * (X.x * X.y) - (x->p12 * W->c2.y + x->p13 * W->c2.z);
    c.xz = (b->b13 + b->pq[1]) * (X.x * X.z) - (x->p12 * W->c3.y + x->p13 * W->c3.z);
    c.yz = (b->b23 + b->pq[0]) * (X.y * X.z) - (x->p21 * W->c3.x + x->p23 * W->c3.z);
    return c;
}

/// Compute the compliance of the rotation: T (H + T'GT)^-1 T' = C - C Z C.
MABD_FN mabd_sym3 mabd_affine_block_turn_compliance(const mabd_affine_block* b, mabd_sym3 Z) {
    const mabd_real* c = b->c;
    mabd_sym3 S;
    S.xx = c[0] - c[0] * c[0] * Z.xx, S.yy = c[1] - c[1] * c[1] * Z.yy;
    S.zz = c[2] - c[2] * c[2] * Z.zz, S.xy = -(c[0] * c[1] * Z.xy);
    S.xz = -(c[0] * c[2] * Z.xz), S.yz = -(c[1] * c[2] * Z.yz);
    return S;
}

/// Compute the compliance between a point and the rotation: J(X) (H + T'GT)^-1 T' = P(X) - W(X)' C.
MABD_FN mabd_mat3 mabd_affine_block_point_turn(const mabd_affine_block* b,
                                               const mabd_affine_attachment* x) {
    const mabd_real* c = b->c;
    const mabd_mat3* W = &x->W;
    return mabd_m3(mabd_v3(-(W->c1.x * c[0]), x->p21 - W->c2.x * c[0], x->p31 - W->c3.x * c[0]),
                   mabd_v3(x->p12 - W->c1.y * c[1], -(W->c2.y * c[1]), x->p32 - W->c3.y * c[1]),
                   mabd_v3(x->p13 - W->c1.z * c[2], x->p23 - W->c2.z * c[2], -(W->c3.z * c[2])));
}

/// Compute the inner product (D, tau) . (E, sigma).
MABD_FN mabd_real mabd_vec12_dot(mabd_vec12 a, mabd_vec12 b) {
    return mabd_v3_dot(a.d1, b.d1) + mabd_v3_dot(a.d2, b.d2) + mabd_v3_dot(a.d3, b.d3) +
           mabd_v3_dot(a.tau, b.tau);
}
/// Compute a + s b.
MABD_FN mabd_vec12 mabd_vec12_axpy(mabd_real s, mabd_vec12 b, mabd_vec12 a) {
    mabd_vec12 c;
    c.d1 = mabd_v3_axpy(s, b.d1, a.d1), c.d2 = mabd_v3_axpy(s, b.d2, a.d2);
    c.d3 = mabd_v3_axpy(s, b.d3, a.d3), c.tau = mabd_v3_axpy(s, b.tau, a.tau);
    return c;
}
/// Compute D X + tau, the displacement of a point X by an increment, body frame.
MABD_FN mabd_vec3 mabd_vec12_move(const mabd_vec12* y, mabd_vec3 X) {
    const mabd_vec3 move = mabd_v3_add(mabd_v3_scale(X.x, y->d1), mabd_v3_scale(X.y, y->d2));
    return mabd_v3_add(mabd_v3_axpy(X.z, y->d3, move), y->tau);
}
/// Compute t + R (X + D X + tau), the position of a point X after an increment, world.
MABD_FN mabd_vec3 mabd_vec12_end(mabd_mat3 R, mabd_vec3 t, const mabd_vec12* y, mabd_vec3 X) {
    return mabd_v3_add(t, mabd_m3_mul(R, mabd_v3_add(X, mabd_vec12_move(y, X))));
}
/// Compute the coordinates (a1, a2, a3, t) after an increment d from a rigid reference:
/// A = R (I + D), t + R tau.
MABD_FN mabd_vec12 mabd_vec12_place(mabd_vec12 ref, mabd_vec12 d) {
    const mabd_mat3 R = mabd_m3(ref.d1, ref.d2, ref.d3);
    mabd_vec12 q;
    q.d1 = mabd_v3_add(R.c1, mabd_m3_mul(R, d.d1));
    q.d2 = mabd_v3_add(R.c2, mabd_m3_mul(R, d.d2));
    q.d3 = mabd_v3_add(R.c3, mabd_m3_mul(R, d.d3));
    q.tau = mabd_v3_add(ref.tau, mabd_m3_mul(R, d.tau));
    return q;
}

/// Compute the force n at point X as a force on (D, tau): (X (x) n, n).
MABD_FN mabd_vec12 mabd_vec12_at(mabd_vec3 X, mabd_vec3 n) {
    mabd_vec12 J;
    J.d1 = mabd_v3_scale(X.x, n), J.d2 = mabd_v3_scale(X.y, n), J.d3 = mabd_v3_scale(X.z, n);
    J.tau = n;
    return J;
}

/// Compute a torque as a force on (D, tau): T' torque / 2, because w = T D is twice the rotation.
MABD_FN mabd_vec12 mabd_vec12_torque(mabd_vec3 torque) {
    const mabd_vec3 h = mabd_v3_scale((mabd_real)0.5, torque);
    mabd_vec12 J;
    J.d1 = mabd_v3(0, h.z, -h.y), J.d2 = mabd_v3(-h.z, 0, h.x), J.d3 = mabd_v3(h.y, -h.x, 0);
    J.tau = mabd_v3(0, 0, 0);
    return J;
}
