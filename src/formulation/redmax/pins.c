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
// F depends on the motion, so the bound b is an unknown besides. That of smooth friction is a
// function of the iterate, with its derivatives in H (below). That of dry friction, on whose size
// the search for branches relies, stands still during Newton's method, and is set to that of the
// solution until it no longer changes. The map contracts by about mu rho over the arm of the load;
// Aitken's rule, a rate from the last two misses, makes it faster where one pin rules. A guide that
// is too short for its load jams; there it does not contract, and the step is reported as not
// converged. Contacts act at the end of a step, when its stage is solved (contact.c): bounds of a
// part that touches others are those of its last step.
//
// Where b = b(F), r = S'F + t b(F) with t = tanh(x'/speed) has
//
//   dr = (S + t db/dF)'dF + b dt        db/dN = c (a + a')/2   db/dM = c e x (a - a')/L
//
// with the directions a, a' of N/2 +- B/L and c = (4/pi) mu rho. F is that of the tree behind the
// axis, so these columns `left` replace S on the left and H stays a recursion of O(links).

#include "formulation/redmax/redmax_pins.h"

#include "formulation/redmax/redmax_axes.h"

#include <string.h>

/// Sum of the forces of a ring over the load that they carry.
#define RING ((mabd_real)(4 / MABD_PI))
/// Misses of bounds, relative to the largest one: that are none; that round-off of accelerations
/// may leave after some solves, and after many.
#define SETTLED ((mabd_real)1e-11)
#define NOISE   ((mabd_real)1e-8)
#define ROUGH   ((mabd_real)1e-6)
/// Solves: some, many, and those until which bounds must have settled.
#define SOME   5
#define MANY   10
#define SOLVES 20
/// Rates at which bounds move to what they must be.
#define RATE_LEAST ((mabd_real)0.2)
#define RATE_MOST  ((mabd_real)5)

static int32_t end_of(const mabd_redmax_solve* s) {
    return s->part->freedom_first + s->part->freedom_count;
}

/// The load of a pin that is no ball's.
typedef struct pin_load {
    mabd_vec3 e, half, B;  // axis, N/2, B/L
    mabd_real along, over; // A; 1/L, 0 without a length
    bool turns;
} pin_load;

static pin_load load_of(const mabd_redmax_sim* sim, int32_t k, mabd_spatial F, mabd_real q) {
    const mabd_redmax_link* link = &sim->links[sim->freedoms[k].link];
    const mabd_real length = sim->freedoms[k].control->pin.length;
    mabd_vec3 m = F.w;
    pin_load p;
    if (link->reversed) m = mabd_v3_axpy(q, mabd_v3_cross(link->S.v, F.v), m); // about b
    p.turns = mabd_v3_dot(link->S.w, link->S.w) > 0;
    p.e = p.turns ? link->S.w : link->S.v;
    p.along = mabd_v3_dot(F.v, p.e), p.over = length > 0 ? 1 / length : 0;
    p.half = mabd_v3_scale((mabd_real)0.5, mabd_v3_axpy(-p.along, p.e, F.v));
    p.B = mabd_v3_scale(p.over, mabd_v3_cross(m, p.e));
    return p;
}

mabd_real mabd_redmax_bound(const mabd_redmax_sim* sim, int32_t k, mabd_spatial F, mabd_real q) {
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    const mabd_pin_def* pin = &f->control->pin;
    const mabd_real constant = f->control->friction;
    if (!(pin->friction > 0)) return constant;
    if (sim->links[f->link].kind == MABD_PRIMITIVE_BALL) {
        return constant + pin->friction * pin->radius * RING * mabd_v3_norm(F.v);
    }
    const pin_load p = load_of(sim, k, F, q);
    const mabd_real sum =
        RING * (mabd_v3_norm(mabd_v3_add(p.half, p.B)) + mabd_v3_norm(mabd_v3_sub(p.half, p.B)));
    if (!p.turns) return constant + pin->friction * sum;
    return constant + pin->friction * (pin->radius * sum + pin->face * (mabd_real)fabs(p.along));
}

static bool has_pin(const mabd_redmax_freedom* f) {
    return f->control && f->control->pin.friction > 0;
}

static mabd_vec3 direction_of(mabd_vec3 x) {
    const mabd_real size = mabd_v3_norm(x);
    return mabd_v3_scale(size > 0 ? 1 / size : 0, x);
}

// Derivative of the bound of a pin that is no ball's by the wrench F of its link; *by_q: by q.
static mabd_spatial bound_slope(const mabd_redmax_sim* sim, int32_t k, mabd_spatial F, mabd_real q,
                                mabd_real* by_q) {
    const pin_load load = load_of(sim, k, F, q);
    const mabd_pin_def* pin = &sim->freedoms[k].control->pin;
    const mabd_spatial S = sim->links[sim->freedoms[k].link].S;
    const bool reversed = sim->links[sim->freedoms[k].link].reversed;
    const mabd_vec3 a = direction_of(mabd_v3_add(load.half, load.B));
    const mabd_vec3 b = direction_of(mabd_v3_sub(load.half, load.B));
    const mabd_real ring = RING * pin->friction * (load.turns ? pin->radius : 1);
    const mabd_real face = load.turns ? pin->friction * pin->face : 0;
    mabd_spatial out;
    out.w = mabd_v3_scale(ring * load.over, mabd_v3_cross(load.e, mabd_v3_sub(a, b)));
    out.v = mabd_v3_scale(ring / 2, mabd_v3_add(a, b));
    out.v = mabd_v3_axpy(load.along < 0 ? -face : face, load.e, out.v);
    *by_q = 0;
    if (!reversed) return out;
    *by_q = mabd_v3_dot(out.w, mabd_v3_cross(S.v, F.v));
    out.v = mabd_v3_axpy(q, mabd_v3_cross(out.w, S.v), out.v);
    return out;
}

mabd_real mabd_redmax_axis_rate(const mabd_redmax_solve* s, int32_t k) {
    const mabd_redmax_sim* sim = s->sim;
    const int32_t i = sim->freedoms[k].link;
    const mabd_redmax_link* link = &sim->links[i];
    mabd_vec3 theta;
    mabd_mat3 Y;
    if (link->kind != MABD_PRIMITIVE_BALL) return sim->v[k];
    mabd_redmax_ball_turn(s, i, &theta, &Y);
    const mabd_vec3 rates = mabd_m3_mul(Y, mabd_v3_load(sim->v + link->first));
    return mabd_v3_get(rates, k - link->first);
}

// Columns of a ball: the forces on theta', -t b(F), act by the rows Y of dtheta/dq. dry: also where
// dry friction slides.
static void load_ball(const mabd_redmax_solve* s, const mabd_redmax_link* link, int32_t i,
                      bool dry) {
    mabd_redmax_sim* sim = s->sim;
    mabd_vec3 theta;
    mabd_mat3 Y;
    mabd_redmax_ball_turn(s, i, &theta, &Y);
    const mabd_vec3 rate = mabd_m3_mul(Y, mabd_v3_load(sim->v + link->first));
    const mabd_vec3 along = direction_of(sim->F[i].v);
    for (int j = 0; j < 3; j++) {
        const mabd_redmax_freedom* f = &sim->freedoms[link->first + j];
        const bool smooth = has_pin(f) && f->control->friction_speed > 0;
        if (!has_pin(f) || (!smooth && (!dry || f->held))) continue;
        const mabd_pin_def* pin = &f->control->pin;
        const mabd_real t = smooth
                                ? (mabd_real)tanh(mabd_v3_get(rate, j) / f->control->friction_speed)
                                : mabd_redmax_friction_side(sim, link->first + j);
        const mabd_real size = t * pin->friction * pin->radius * RING;
        for (int k = 0; k < 3; k++) {
            mabd_spatial* left = &sim->left[link->first + k];
            const mabd_vec3 column = mabd_m3_column(&Y, k);
            left->v = mabd_v3_axpy(size * mabd_v3_get(column, j), along, left->v);
        }
    }
}

static bool is_smooth(const mabd_redmax_freedom* f) {
    return has_pin(f) && f->control->friction_speed > 0;
}

void mabd_redmax_smooth_bounds(const mabd_redmax_solve* s, int32_t i) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    for (int32_t k = link->first; k < link->first + link->count; k++) {
        mabd_redmax_freedom* f = &sim->freedoms[k];
        if (is_smooth(f)) f->bound = mabd_redmax_bound(sim, k, sim->F[i], sim->q[k]);
    }
}

void mabd_redmax_load_columns(const mabd_redmax_solve* s, bool dry) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            mabd_redmax_freedom* f = &sim->freedoms[k];
            const mabd_real speed = f->control ? f->control->friction_speed : 0;
            mabd_real by_q;
            sim->left[k] = sim->S[k], f->bend = 0;
            if (!has_pin(f) || f->prescribed || link->kind == MABD_PRIMITIVE_BALL) continue;
            if (!(speed > 0) && (!dry || f->held)) continue; // held: it sticks
            const mabd_spatial slope = bound_slope(sim, k, sim->F[i], sim->q[k], &by_q);
            const mabd_real t =
                speed > 0 ? (mabd_real)tanh(sim->v[k] / speed) : mabd_redmax_friction_side(sim, k);
            sim->left[k] = mabd_sp_axpy(t, slope, sim->S[k]);
            f->bend = t * by_q;
        }
        if (link->kind == MABD_PRIMITIVE_BALL && link->laws) load_ball(s, link, i, dry);
    }
}

void mabd_redmax_start_bounds(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t k = s->part->freedom_first; s->part->pins && k < end_of(s); k++) {
        mabd_redmax_freedom* f = &sim->freedoms[k];
        const mabd_spatial F = mabd_sp_load(sim->wrench + 6 * (size_t)f->link);
        f->bend = 0;
        if (has_pin(f)) f->bound = mabd_redmax_bound(sim, k, F, sim->now.q[k]);
    }
}

void mabd_redmax_update_bounds(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        mabd_redmax_freedom* f = &sim->freedoms[k];
        if (has_pin(f)) f->bound = mabd_redmax_bound(sim, k, sim->F[f->link], sim->q[k]);
    }
}

// Move the bounds by `rate` times what they miss, the rate by that of the last move. Returns what
// they missed at most, relative to the largest bound.
static mabd_real relax_bounds(const mabd_redmax_solve* s, mabd_real* rate) {
    mabd_redmax_sim* sim = s->sim;
    mabd_real worst = 0, most = 0, by = 0, square = 0;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        mabd_redmax_freedom* f = &sim->freedoms[k];
        if (!has_pin(f)) continue;
        const mabd_real bound = mabd_redmax_bound(sim, k, sim->F[f->link], sim->q[k]);
        const mabd_real miss = bound - f->bound, change = miss - f->miss;
        by += f->miss * change, square += change * change;
        f->miss = miss;
        if (!(fabs(miss) <= worst)) worst = (mabd_real)fabs(miss);
        if (bound > most) most = bound;
    }
    const mabd_real wanted = square > 0 ? -*rate * by / square : 1;
    *rate = *rate == 0            ? 1
            : wanted < RATE_LEAST ? RATE_LEAST
            : wanted > RATE_MOST  ? RATE_MOST
                                  : wanted;
    for (int32_t k = s->part->freedom_first; k < end_of(s); k++) {
        mabd_redmax_freedom* f = &sim->freedoms[k];
        if (!has_pin(f)) continue;
        f->bound += *rate * f->miss;
        if (f->bound < 0) f->bound = 0;
    }
    return most > 0 ? worst / most : worst;
}

mabd_status mabd_redmax_with_bounds(const mabd_redmax_solve* s,
                                    mabd_status (*solve)(const mabd_redmax_solve*)) {
    mabd_real last = (mabd_real)INFINITY, rate = 0;
    for (int i = 1;; i++) {
        MABD_TRY(solve(s));
        if (!s->part->pins || s->part->touches) return MABD_OK;
        const mabd_real miss = relax_bounds(s, &rate);
        const mabd_real enough = i < SOME ? SETTLED : i < MANY ? NOISE : ROUGH;
        if (miss <= SETTLED || (miss <= enough && !(miss < last / 2))) return MABD_OK;
        if (i == SOLVES) break;
        last = miss;
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
