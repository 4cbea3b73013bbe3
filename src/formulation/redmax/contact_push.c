// SPDX-License-Identifier: Apache-2.0
// Forces of contacts on links of trees, and how they change as the links move.
//
// A force f at a contact point is seen in the frame of its link as l = R'f at x. If the link moves
// by xi = (w, u0), the point moves by s along the surfaces and f turns with their normal by r
// (contact/curvature.h), the other body at rest:
//
//   u = u0 + w x x,  y = w x n     s = P y + slide u,  dn = turn y + bend u,  r = n x dn
//   dl = l x w + r x l             d(x x l) = (s - w x x - u0) x l + x x dl
//
// With points that stay on the link a rod that is pressed on a pulley would be an inverted
// pendulum: its true stiffness is f R, hundreds of times its inertia against turning within a step.
//
// The rows of pressed contacts hold their points, so H need not be positive along them, but W of
// nearly singular H has no minimum. So H gets a stiffness `hold` along the rows that hold, in
// proportion to force and curvature: it slows the motion of the iterates, not that of the solution.

#include "formulation/redmax/redmax_contact.h"
#include "formulation/redmax/redmax_sim.h"

#include <math.h>
#include <string.h>

/// Curvature from which a surface counts as an edge [1/m].
#define EDGE_LEAST ((mabd_real)1e6)
/// Part of the bound from which friction counts as slipping.
#define SLIPS_PART ((mabd_real)1e-6)

/// One side of a contact, in the frame of its link.
typedef struct contact_side {
    mabd_vec3 x, l, n, t[2]; // n towards the link
    mabd_contact_motion motion;
    mabd_real hold; // stiffness of the rows that hold [N/m]
    bool sticks;
} contact_side;

static contact_side side_of(const mabd_redmax_sim* sim, const mabd_redmax_contact* p, int side) {
    const mabd_mat3 R = sim->world[p->link[side]].R;
    const mabd_frame* P = &sim->links[p->link[side]].principal;
    contact_side own;
    const mabd_curvature a = p->bent[0], b = p->bent[1];
    const mabd_real bend = (mabd_real)fmax(fabs(a.uu + b.uu), fabs(a.vv + b.vv));
    const mabd_real tangent = (mabd_real)hypot(p->force[1], p->force[2]);
    own.hold = bend < EDGE_LEAST ? sim->contacts->hold * p->force[0] * bend : 0;
    own.sticks = tangent < p->friction * p->force[0] * (1 - SLIPS_PART);
    mabd_vec3 f = mabd_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) f = mabd_v3_axpy(p->force[k], p->axis[k], f);
    own.l = mabd_m3_tmul(R, mabd_v3_scale(side ? 1 : -1, f));
    own.n = mabd_m3_tmul(R, mabd_v3_scale(side ? 1 : -1, p->axis[0]));
    for (int k = 0; k < 2; k++) own.t[k] = mabd_m3_tmul(R, p->axis[k + 1]);
    own.x = mabd_v3_add(mabd_m3_mul(P->R, p->X[side]), P->p);
    own.motion = mabd_contact_motion_of(p->bent[side], p->bent[1 - side]);
    return own;
}

// A y + B u in the tangents.
static mabd_vec3 moved(const contact_side* c, const mabd_real* A, const mabd_real* B, mabd_vec3 y,
                       mabd_vec3 u) {
    const mabd_real y1 = mabd_v3_dot(c->t[0], y), y2 = mabd_v3_dot(c->t[1], y);
    const mabd_real u1 = mabd_v3_dot(c->t[0], u), u2 = mabd_v3_dot(c->t[1], u);
    const mabd_vec3 a = mabd_v3_scale(A[0] * y1 + A[1] * y2 + (B[0] * u1 + B[1] * u2), c->t[0]);
    return mabd_v3_axpy(A[2] * y1 + A[3] * y2 + (B[2] * u1 + B[3] * u2), c->t[1], a);
}

// Change of the wrench of a side by the motion xi of its link.
static mabd_spatial change_by(const contact_side* c, mabd_spatial xi) {
    const mabd_vec3 by_turn = mabd_v3_cross(xi.w, c->x);
    const mabd_vec3 u = mabd_v3_add(xi.v, by_turn), y = mabd_v3_cross(xi.w, c->n);
    const mabd_vec3 s = moved(c, c->motion.P, c->motion.slide, y, u);
    const mabd_vec3 dn = moved(c, c->motion.turn, c->motion.bend, y, u);
    const mabd_vec3 r = mabd_v3_cross(c->n, dn);
    mabd_vec3 dl = mabd_v3_add(mabd_v3_cross(c->l, xi.w), mabd_v3_cross(r, c->l));
    const mabd_vec3 held = c->sticks ? u : mabd_v3_scale(mabd_v3_dot(c->n, u), c->n);
    dl = mabd_v3_axpy(-c->hold, held, dl);
    const mabd_vec3 dx = mabd_v3_sub(s, u);
    return mabd_sp(mabd_v3_add(mabd_v3_cross(dx, c->l), mabd_v3_cross(c->x, dl)), dl);
}

static void add_side(const mabd_redmax_sim* sim, mabd_redmax_contact* p, int side,
                     mabd_redmax_thrust* push) {
    const contact_side c = side_of(sim, p, side);
    p->held[0] = c.hold, p->held[1] = c.sticks ? c.hold : 0;
    push->F = mabd_sp_add(push->F, mabd_sp(mabd_v3_cross(c.x, c.l), c.l));
    for (int k = 0; k < 6; k++) {
        const mabd_real unit[6] = {k == 0, k == 1, k == 2, k == 3, k == 4, k == 5};
        mabd_real column[6];
        mabd_sp_store(change_by(&c, mabd_sp_load(unit)), column);
        for (int r = 0; r < 6; r++) push->K[6 * r + k] += column[r];
    }
}

void mabd_redmax_set_pushes(mabd_redmax_sim* sim, int32_t index) {
    const mabd_redmax_part* part = &sim->parts[index];
    mabd_redmax_contact* points = sim->contacts->points.data;
    memset(&sim->push[part->link_first], 0, (size_t)part->link_count * sizeof *sim->push);
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        mabd_redmax_contact* p = &points[i];
        for (int side = 0; side < 2; side++) {
            if (p->part[side] == index) add_side(sim, p, side, &sim->push[p->link[side]]);
        }
    }
}

mabd_spatial mabd_redmax_push_wrench(const mabd_redmax_sim* sim, int32_t link) {
    return sim->push[link].F;
}

void mabd_redmax_subtract_push(const mabd_redmax_sim* sim, int32_t link, mabd_real* N) {
    const mabd_real* K = sim->push[link].K;
    for (int r = 0; r < 6; r++) {
        for (int k = 0; k < 6; k++) N[MABD_VARIATION * r + 12 + k] -= K[6 * r + k];
    }
}
