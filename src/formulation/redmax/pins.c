// SPDX-License-Identifier: Apache-2.0
// Friction of bearings.
//
// Dry contact between a pin of radius rho and its hole is a ring of normal forces alpha. Of all
// that carry a load N across the pin, the one of least norm has sum |alpha| = (4/pi) N for a fine
// ring (8, 16, 64 points: 1.279, 1.281, 1.273; the bilateral staggered projections of [RM] come to
// the same). A pin of length L carries N and a moment M by rings at its ends, N/2 +- B/L with
// B = M x e across the axis e; a load A along the axis by a face:
//
//   tau_max = mu rho (4/pi) (|N/2 + B/L| + |N/2 - B/L|) + mu rho_face |A|   about the axis
//             mu (4/pi) (|N/2 + B/L| + |N/2 - B/L|)                 along a guide
//             mu rho (4/pi) |N|                                     about each axis of a ball
//
// N, A and M are the wrench F of the link of the axis, which the joint transmits, on b and about
// the joint frame on b: in a joint of many axes that of the part behind the axis. The bound is
// that of dry friction on a branch of the axis (axes.c), or of smooth friction
//
//   tau = -tau_max tanh(x'/speed)
//
// F depends on the motion, so the bound is an unknown besides. It stands still during Newton's
// method, and is set to that of the solution until it no longer changes: the map contracts by about
// mu rho over the arm of the load. A guide that is too short for its load jams; there it does not
// contract, and the step is reported as not converged. Contacts act at the end of a step, when its
// stage is solved (contact.c): bounds of a part that touches others are those of its last step.

#include "formulation/redmax/redmax_pins.h"

#include "formulation/redmax/redmax_axes.h"

#include <string.h>

/// Sum of the forces of a ring over the load that they carry.
#define RING ((mabd_real)(4 / MABD_PI))
/// Change of a bound that is none, relative to the largest bound; one that round-off of the
/// accelerations may leave.
#define SETTLED ((mabd_real)1e-9)
#define NOISE   ((mabd_real)1e-6)
/// Solves until bounds must have settled.
#define SOLVES 20

static int32_t end_of(const mabd_redmax_solve* s) {
    return s->part->freedom_first + s->part->freedom_count;
}

mabd_real mabd_redmax_bound(const mabd_redmax_sim* sim, int32_t k, mabd_spatial F, mabd_real q) {
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    const mabd_redmax_link* link = &sim->links[f->link];
    const mabd_pin_def* pin = &f->control->pin;
    const mabd_real constant = f->control->friction;
    if (!(pin->friction > 0)) return constant;
    if (link->kind == MABD_PRIMITIVE_BALL) {
        return constant + pin->friction * pin->radius * RING * mabd_v3_norm(F.v);
    }
    const bool turns = mabd_v3_dot(link->S.w, link->S.w) > 0;
    const mabd_vec3 e = turns ? link->S.w : link->S.v;
    const mabd_real along = mabd_v3_dot(F.v, e), over = pin->length > 0 ? 1 / pin->length : 0;
    const mabd_vec3 half = mabd_v3_scale((mabd_real)0.5, mabd_v3_axpy(-along, e, F.v));
    mabd_vec3 m = F.w;
    if (link->reversed) m = mabd_v3_axpy(q, mabd_v3_cross(link->S.v, F.v), m); // about b
    const mabd_vec3 B = mabd_v3_scale(over, mabd_v3_cross(m, e));
    const mabd_real sum =
        RING * (mabd_v3_norm(mabd_v3_add(half, B)) + mabd_v3_norm(mabd_v3_sub(half, B)));
    if (!turns) return constant + pin->friction * sum;
    return constant + pin->friction * (pin->radius * sum + pin->face * (mabd_real)fabs(along));
}

static bool has_pin(const mabd_redmax_freedom* f) {
    return f->control && f->control->pin.friction > 0;
}

void mabd_redmax_start_bounds(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t k = s->part->freedom_first; s->part->pins && k < end_of(s); k++) {
        mabd_redmax_freedom* f = &sim->freedoms[k];
        const mabd_spatial F = mabd_sp_load(sim->wrench + 6 * (size_t)f->link);
        if (has_pin(f)) f->bound = mabd_redmax_bound(sim, k, F, sim->now.q[k]);
    }
}

mabd_real mabd_redmax_update_bounds(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    mabd_real change = 0, most = 0;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        mabd_redmax_freedom* f = &sim->freedoms[k];
        if (!has_pin(f)) continue;
        const mabd_real bound = mabd_redmax_bound(sim, k, sim->F[f->link], sim->q[k]);
        const mabd_real by = (mabd_real)fabs(bound - f->bound);
        if (!(by <= change)) change = by;
        if (bound > most) most = bound;
        f->bound = bound;
    }
    return most > 0 ? change / most : change;
}

mabd_status mabd_redmax_with_bounds(const mabd_redmax_solve* s,
                                    mabd_status (*solve)(const mabd_redmax_solve*)) {
    mabd_real last = (mabd_real)INFINITY;
    for (int i = 1;; i++) {
        MABD_TRY(solve(s));
        if (!s->part->pins || s->part->touches) return MABD_OK;
        const mabd_real change = mabd_redmax_update_bounds(s);
        if (change <= SETTLED || (change <= NOISE && !(change < last / 2))) return MABD_OK;
        if (i == SOLVES) break;
        last = change;
    }
    s->report->converged = false;
    return MABD_OK;
}

mabd_real mabd_redmax_friction_at(const mabd_redmax_sim* sim, const mabd_redmax_node* node,
                                  int32_t k, mabd_spatial F) {
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    const mabd_real bound = mabd_redmax_bound(sim, k, F, node->q[k]);
    mabd_real x[2], slope;
    if (!(f->control->friction_speed > 0)) return bound;
    mabd_redmax_axis_state(sim, node, k, x);
    return mabd_redmax_smooth(bound, f->control->friction_speed, x[1], &slope);
}
