// SPDX-License-Identifier: Apache-2.0
// Rows of ball joints in lanes (impulse_packs.h), for the kinds BALL and POINT0. With r = R X from
// the centre of a body to its anchor, both forces at the anchor of b (rows.c):
//
//   C = c_b + r_b - c_a - R_a X_a,   r_a = R_a X_a + C
//   J V = v_b + w_b x r_b - v_a - w_a x r_a
//   K   = (1/m_a + 1/m_b) 1 + [r_a] I_a^-1 [r_a]' + [r_b] I_b^-1 [r_b]'
//   b   = rate C + g_b x r_b - g_a x r_a       g: rate of turning besides w (forces.c)
//
// K^-1 is that of the first substep of a step while no body turns by more than a quarter of a
// radian in it: it scales what one visit does, not what sweeps end at, and is off by a quarter at
// most (1 + m r^2/I is 5 for balls that touch), where factors below 2 converge.
//
// K is inverted by its cofactors: its eigenvalues lie between 1/m_a + 1/m_b and that times 1 + m
// r^2/I, which is far from singular.

#include "formulation/impulse/impulse_sweep.h"
#include "formulation/impulse/wide3.h"

// A symmetric matrix 3 x 3.
typedef struct wide6 {
    mabd_wide xx, yy, zz, xy, xz, yz;
} wide6;

// R X from the columns of a rotation.
MABD_HOT wide3 turned(const mabd_lanes* R, const mabd_lanes* X, int c) {
    const wide3 x = load3(X, c);
    return axpy3(x.z, load3(R + 6, c), axpy3(x.y, load3(R + 3, c), scale3(x.x, load3(R, c))));
}

// Write the inverse of K; 0 in lanes without an item, where K is 0.
MABD_HOT void put_inverse(wide6 K, mabd_lanes* to, int c) {
    const mabd_wide xx = K.yy * K.zz - K.yz * K.yz, xy = K.xz * K.yz - K.xy * K.zz,
                    xz = K.xy * K.yz - K.xz * K.yy;
    const mabd_wide det = K.xx * xx + K.xy * xy + K.xz * xz;
    const mabd_wide over = mabd_wide_where(det > all(0), 1 / det, all(0));
    AT(to, 0) = over * xx, AT(to, 1) = over * xy;
    AT(to, 2) = over * (K.xx * K.zz - K.xz * K.xz), AT(to, 3) = over * xz;
    AT(to, 4) = over * (K.xy * K.xz - K.xx * K.yz);
    AT(to, 5) = over * (K.xx * K.yy - K.xy * K.xy);
}

// Poses, rates g and arms of one side of a pack.
typedef struct side_lanes {
    mabd_lanes pose[12], shift[3];
} side_lanes;

// Arms of both sides.
typedef struct arms {
    wide3 a, b;
} arms;

// Compute the arms and write b: rate C + J g.
MABD_HOT arms put_bias(const mabd_impulse_placing* place, const side_lanes* a, const side_lanes* b,
                       const mabd_lanes* X, mabd_lanes* to, int c) {
    const wide3 on_a = turned(a->pose, X, c), on_b = turned(b->pose, X + 3, c);
    const wide3 C = sub3(add3(load3(b->pose + 9, c), on_b), add3(load3(a->pose + 9, c), on_a));
    const arms r = {add3(on_a, C), on_b};
    wide3 bias = scale3(all(place->rate), C);
    if (place->shifts) {
        bias = add3(bias, sub3(cross3(load3(b->shift, c), r.b), cross3(load3(a->shift, c), r.a)));
    }
    store3(bias, to, c);
    return r;
}

MABD_HOT void place_ball(const mabd_impulse_placing* place, const side_lanes* a,
                         const side_lanes* b, const mabd_lanes* X, mabd_lanes* d, int c) {
    const mabd_impulse_places at = mabd_impulse_places_of(MABD_IMPULSE_BALL);
    const arms r = put_bias(place, a, b, X, d + at.bias, c);
    const wide3 ra = r.a, rb = r.b;
    const mabd_wide m = AT(d, 0) + AT(d, 1), ia = AT(d, 2), ib = AT(d, 3);
    store3(ra, d + 4, c), store3(rb, d + 7, c);
    if (place->keep) return;
    const mabd_wide xx = ia * ra.x * ra.x + ib * rb.x * rb.x;
    const mabd_wide yy = ia * ra.y * ra.y + ib * rb.y * rb.y;
    const mabd_wide zz = ia * ra.z * ra.z + ib * rb.z * rb.z;
    const wide6 K = {m + (yy + zz),
                     m + (xx + zz),
                     m + (xx + yy),
                     -(ia * ra.x * ra.y + ib * rb.x * rb.y),
                     -(ia * ra.x * ra.z + ib * rb.x * rb.z),
                     -(ia * ra.y * ra.z + ib * rb.y * rb.z)};
    put_inverse(K, d + at.inverse, c);
}

// K += [r] I^-1 [r]', its columns r x e_k
MABD_HOT void add_arm(const mabd_lanes* I, wide3 r, wide6* K, int c) {
    const mabd_wide xx = AT((mabd_lanes*)I, 0), yy = AT((mabd_lanes*)I, 1),
                    zz = AT((mabd_lanes*)I, 2), xy = AT((mabd_lanes*)I, 3),
                    xz = AT((mabd_lanes*)I, 4), yz = AT((mabd_lanes*)I, 5);
    // t_x = (0, r_z, -r_y), t_y = (-r_z, 0, r_x), t_z = (r_y, -r_x, 0);  y_k = I^-1 t_k
    const wide3 yx = {xy * r.z - xz * r.y, yy * r.z - yz * r.y, yz * r.z - zz * r.y};
    const wide3 yy3 = {xz * r.x - xx * r.z, yz * r.x - xy * r.z, zz * r.x - xz * r.z};
    const wide3 yz3 = {xx * r.y - xy * r.x, xy * r.y - yy * r.x, xz * r.y - yz * r.x};
    K->xx += r.z * yx.y - r.y * yx.z, K->xy += r.x * yx.z - r.z * yx.x;
    K->xz += r.y * yx.x - r.x * yx.y, K->yy += r.x * yy3.z - r.z * yy3.x;
    K->yz += r.y * yy3.x - r.x * yy3.y, K->zz += r.y * yz3.x - r.x * yz3.y;
}

MABD_HOT void place_point(const mabd_impulse_placing* place, const side_lanes* a,
                          const side_lanes* b, const mabd_lanes* X, mabd_lanes* d, int c) {
    const mabd_impulse_places at = mabd_impulse_places_of(MABD_IMPULSE_POINT0);
    const arms r = put_bias(place, a, b, X, d + at.bias, c);
    const mabd_wide m = AT(d, 0) + AT(d, 1);
    store3(r.a, d + MABD_IMPULSE_SIDES, c), store3(r.b, d + MABD_IMPULSE_SIDES + 3, c);
    if (place->keep) return;
    wide6 K = {m, m, m, all(0), all(0), all(0)};
    add_arm(d + 2, r.a, &K, c), add_arm(d + 8, r.b, &K, c);
    put_inverse(K, d + at.inverse, c);
}

static void load_side(const mabd_impulse_placing* place, const int32_t* body, side_lanes* side,
                      mabd_lanes* inertia) {
    int32_t row[MABD_LANES], at[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) {
        row[l] = body[l] >= 0 ? body[l] : place->world;
        at[l] = 3 * row[l];
    }
    mabd_lanes_load_at_once(12, &place->poses->R.c1.x, row, side->pose);
    if (place->shifts) mabd_lanes_pick(3, &place->shift->x, at, side->shift);
    if (inertia) mabd_lanes_load(6, &place->inertia->xx, row, inertia);
}

static void gap_pack(const mabd_impulse_placing* place, int32_t pack, mabd_lanes* gaps) {
    const mabd_impulse_packs* packs = place->packs;
    const mabd_lanes* X = packs->arms + packs->arm[pack];
    side_lanes a, b;
    load_side(place, packs->body[pack][0], &a, NULL);
    load_side(place, packs->body[pack][1], &b, NULL);
    for (int c = 0; c < MABD_LANES; c += MABD_WIDE) {
        const wide3 on_a = turned(a.pose, X, c), on_b = turned(b.pose, X + 3, c);
        const wide3 C = sub3(add3(load3(b.pose + 9, c), on_b), add3(load3(a.pose + 9, c), on_a));
        AT(gaps, 0) = dot3(C, C);
    }
}

// Inverse moments of round bodies, of which some may carry loads (carriers.c).
static void load_moments(const mabd_impulse_placing* place, const int32_t* body, mabd_lanes* to) {
    for (int l = 0; l < MABD_LANES; l++) {
        if (body[l] >= 0) to->at[l] = place->inertia[body[l]].xx;
    }
}

static void place_pack(const mabd_impulse_placing* place, int32_t pack) {
    const mabd_impulse_packs* packs = place->packs;
    const bool iso = packs->order.pack_kind[pack] == MABD_IMPULSE_BALL;
    mabd_lanes *d = packs->data + packs->first[pack], *X = packs->arms + packs->arm[pack];
    side_lanes a, b;
    load_side(place, packs->body[pack][0], &a, iso ? NULL : d + 2);
    load_side(place, packs->body[pack][1], &b, iso ? NULL : d + 8);
    for (int k = 0; iso && place->carrying && k < 2; k++) {
        load_moments(place, packs->body[pack][k], d + 2 + k);
    }
    for (int c = 0; c < MABD_LANES; c += MABD_WIDE) {
        if (iso) {
            place_ball(place, &a, &b, X, d, c);
        } else {
            place_point(place, &a, &b, X, d, c);
        }
    }
}

void MABD_IMPULSE_ISA(gaps)(const mabd_impulse_placing* place, int32_t pack, mabd_lanes* gaps) {
    gap_pack(place, pack, gaps);
}

void MABD_IMPULSE_ISA(place)(const mabd_impulse_placing* place, int32_t pack) {
    place_pack(place, pack);
}
