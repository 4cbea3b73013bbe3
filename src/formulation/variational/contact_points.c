// SPDX-License-Identifier: Apache-2.0
// Points where shapes may touch in a substep, and their rows.
//
// A point is two material points X_a, X_b and a direction n, fixed in the world while it exists:
//
//   phi(z) = n.(x_b(z) - x_a(z))           the distance of the surfaces where it was found
//
// which is exact for corners on planes. Points are found at the poses that the last velocities
// predict, within a margin; fast bodies are looked at where the substep starts as well
// (collide/collide.h).
//
// Forces act at one point of the world on both bodies, the middle of the two material points at the
// start: p. With arms of their own to either surface two colliding spheres lost 2.9e-3 of their
// angular momentum, with one point 4e-15. So rows of forces and slips are
//
//   b: (e, (R_b'(p - c_b)) x R_b'e)     a: (-e, -(R_a'(p - c_a)) x R_a'e)      e = n, t1, t2
//
// and those of the distance at the end, by V, b: (n, E'(X_b x R_b'n)) etc., times h.

#include "contact/points.h"
#include "formulation/variational/variational_contact.h"
#include "rigid/stability.h"

#include <math.h>
#include <string.h>

/// Time in which the rate after an impact would make a gap [s]: the barrier, which makes gaps of
/// contact_tolerance, then changes heights by less than that.
#define BOUNCE_TIME ((mabd_real)1)
/// Distance by which the points of a direction may overlap at the start [m].
#define START_OVERLAP ((mabd_real)1e-5)
/// Speed at which overlapping bodies part [m/s].
#define PUSH_SPEED ((mabd_real)0.05)
/// Speed at which a body that starts in touch is lifted to its height at rest [m/s]: with a
/// coefficient of 1 the slip errs by as much.
#define LIFT_SPEED ((mabd_real)1e-5)
/// Least part of the tolerance that a substep lifts it by.
#define LIFT_LEAST ((mabd_real)0.01)
/// Speed whose loss in a substep is weight enough to compare products with where nothing falls
/// [m/s].
#define WEIGHT_SPEED ((mabd_real)1e-3)

// ---- poses -------------------------------------------------------------------------------------

static void store_pose(mabd_rigid_pose pose, int32_t body, mabd_real* poses) {
    mabd_m3_store(pose.R, poses + 12 * (size_t)body);
    mabd_v3_store(pose.c, poses + 12 * (size_t)body + 9);
}

static mabd_rigid_pose moved_pose(const mabd_variational_body* b, mabd_real h) {
    const mabd_real rate = mabd_v3_norm(b->w);
    mabd_rigid_pose pose;
    mabd_quat q = b->q;
    if (rate > 0) {
        const mabd_vec3 axis = mabd_v3_scale(1 / rate, b->w);
        q = mabd_q_product(q, mabd_q_axis_angle(axis, rate * h));
    }
    pose.R = mabd_q_matrix(q), pose.c = mabd_v3_axpy(h, b->v, b->c);
    return pose;
}

void mabd_variational_predict(mabd_variational_sim* sim, const mabd_variational_body* bodies,
                              const int32_t* list, int32_t count, mabd_real time, mabd_real h) {
    mabd_variational_contacts* c = sim->contacts;
    for (int32_t i = 0; i < count; i++) {
        const int32_t body = list ? list[i] : i;
        if (mabd_variational_moves(sim, body)) {
            store_pose(moved_pose(&bodies[body], 0), body, c->from);
            store_pose(moved_pose(&bodies[body], h), body, c->to);
        } else {
            store_pose(mabd_variational_fixed_pose(sim, body, time), body, c->from);
            store_pose(mabd_variational_fixed_pose(sim, body, time + h), body, c->to);
        }
    }
}

// Poses of the bodies of an island from sim->from and sim->to.
static void take_iterate(const mabd_variational_solve* s) {
    const mabd_variational_sim* sim = s->sim;
    for (int32_t i = 0; i < s->island->body_count; i++) {
        const int32_t body = s->island->bodies[i];
        store_pose(sim->from[body], body, sim->contacts->from);
        store_pose(sim->to[body], body, sim->contacts->to);
    }
}

// Poses of scripted bodies that the pairs of an island have.
static void predict_scripts(const mabd_variational_solve* s) {
    mabd_variational_contacts* c = s->sim->contacts;
    for (int32_t i = 0; i < s->island->meeting_count; i++) {
        const mabd_variational_meeting* m = mabd_variational_meeting_of(c, s->island, i);
        const int32_t both[2] = {m->a, m->b};
        for (int k = 0; k < 2; k++) {
            if (s->sim->body_script[both[k]] < 0) continue;
            mabd_variational_predict(s->sim, NULL, &both[k], 1, s->time, s->h);
        }
    }
}

static mabd_rigid_pose pose_at(const mabd_variational_solve* s, int32_t body, bool end) {
    const mabd_variational_sim* sim = s->sim;
    if (mabd_variational_moves(sim, body)) return end ? sim->to[body] : sim->from[body];
    return mabd_variational_fixed_pose(sim, body, end ? s->time + s->h : s->time);
}

static mabd_vec3 place(mabd_rigid_pose pose, mabd_vec3 X) {
    return mabd_v3_add(pose.c, mabd_m3_mul(pose.R, X));
}

// ---- points ------------------------------------------------------------------------------------

static void set_touch(const mabd_collide_pair* pair, const mabd_collide_point* at, int32_t meeting,
                      mabd_variational_touch* to) {
    memset(to, 0, sizeof *to);
    to->a = pair->a, to->b = pair->b, to->bound = -1, to->meeting = meeting;
    to->X[0] = at->Xa, to->X[1] = at->Xb;
    to->axis[0] = at->normal, to->axis[1] = mabd_across(at->normal);
    to->axis[2] = mabd_v3_cross(to->axis[0], to->axis[1]);
    to->restitution = pair->surface.restitution;
}

// Forces of the point of the last substep that is nearest on body b; without one, gamma = 0.
static void recall(const mabd_variational_meeting* m, mabd_vec3 X, uint32_t* taken,
                   mabd_barrier_contact* to) {
    const mabd_collide_known known = {m->memory, sizeof *m->memory, m->memory_count, 0};
    const int32_t i = mabd_collide_match_nearest(&known, m->memory_count, X, taken);
    to->gamma = i < 0 ? 0 : m->memory[i].gamma;
    to->psi = i < 0 ? 1 : m->memory[i].psi;
}

// Distance of a point along its normal at the start of a substep [m].
static mabd_real start_distance(const mabd_variational_contacts* c, const mabd_collide_pair* pair,
                                const mabd_collide_point* p) {
    const mabd_real *a = c->from + 12 * (size_t)pair->a, *b = c->from + 12 * (size_t)pair->b;
    const mabd_vec3 xa = mabd_v3_add(mabd_m3_mul(mabd_m3_load(a), p->Xa), mabd_v3_load(a + 9)),
                    xb = mabd_v3_add(mabd_m3_mul(mabd_m3_load(b), p->Xb), mabd_v3_load(b + 9));
    return mabd_v3_dot(p->normal, mabd_v3_sub(xb, xa));
}

// Upper bound of the relative displacement of two bodies between the ends of a motion [m].
static mabd_real way_of(const mabd_variational_contacts* c, const mabd_collide_pair* pair) {
    const mabd_real reach[2] = {c->geometry->reach[pair->g], c->geometry->reach[pair->h]};
    const int32_t bodies[2] = {pair->a, pair->b};
    mabd_real way = 0;
    for (int side = 0; side < 2; side++) {
        const mabd_real *from = c->from + 12 * (size_t)bodies[side],
                        *to = c->to + 12 * (size_t)bodies[side];
        mabd_real turn = 0, shift = 0;
        for (int k = 0; k < 9; k++) turn += (to[k] - from[k]) * (to[k] - from[k]);
        for (int k = 9; k < 12; k++) shift += (to[k] - from[k]) * (to[k] - from[k]);
        way += (mabd_real)sqrt(shift) + reach[side] * (mabd_real)sqrt(turn);
    }
    return way;
}

// Points of a pair: those at the end of the motion, but a shape that is deep in another there may
// have normals along which they overlap at the start already; such points are left out, and those
// of the start, where a direction separates the shapes, are taken besides.
static int32_t find_valid(const mabd_variational_contacts* c, const mabd_collide_motion* motion,
                          int64_t index, mabd_collide_pair* pair,
                          mabd_collide_point points[MABD_CONTACT_MAX_POINTS]) {
    mabd_collide_point found[MABD_CONTACT_MAX_POINTS];
    int32_t kept = 0;
    const int32_t count = mabd_collide_find_points(c->geometry, motion, index, pair, found);
    for (int32_t i = 0; i < count; i++) {
        if (!(start_distance(c, pair, &found[i]) < -START_OVERLAP)) points[kept++] = found[i];
    }
    if (kept == count) return count;
    const mabd_collide_motion still = {
        .start = c->from, .end = c->from, .margin = motion->margin + way_of(c, pair)};
    const int32_t more = mabd_collide_find_points(c->geometry, &still, index, pair, found);
    for (int32_t i = 0; i < more && kept < MABD_CONTACT_MAX_POINTS; i++) points[kept++] = found[i];
    return kept;
}

static void find_pair(const mabd_variational_solve* s, const mabd_collide_motion* motion,
                      int32_t place) {
    mabd_variational_contacts* c = s->sim->contacts;
    mabd_variational_island* island = s->island;
    mabd_variational_meeting* m = mabd_variational_meeting_of(c, island, place);
    mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
    mabd_collide_pair pair;
    uint32_t taken = 0;
    m->first = island->touch_first + island->touch_count;
    m->count = find_valid(c, motion, m->pair, &pair, points);
    for (int32_t i = 0; i < m->count; i++, island->touch_count++) {
        mabd_barrier_contact* p = mabd_variational_barriers(c, island) + island->touch_count;
        set_touch(&pair, &points[i], (int32_t)(m - (mabd_variational_meeting*)c->meetings.data),
                  mabd_variational_touches(c, island) + island->touch_count);
        memset(p, 0, sizeof *p);
        p->c = pair.surface.friction, p->sides = s->sim->def.variational.cone == MABD_CONE_PYRAMID
                                                     ? s->sim->def.variational.cone_sides
                                                     : 0;
        recall(m, points[i].Xb, &taken, p);
    }
}

void mabd_variational_find_points(const mabd_variational_solve* s, bool predicted) {
    mabd_variational_sim* sim = s->sim;
    mabd_variational_contacts* c = sim->contacts;
    mabd_variational_island* island = s->island;
    const mabd_collide_motion motion = {
        .start = c->from, .end = c->to, .predicted = predicted, .margin = c->margin};
    island->touch_count = island->stop_count;
    if (!c->geometry) return;
    if (predicted) {
        mabd_variational_predict(sim, sim->next, island->bodies, island->body_count, s->time, s->h);
        predict_scripts(s);
    } else {
        take_iterate(s);
    }
    for (int32_t i = 0; i < island->meeting_count; i++) find_pair(s, &motion, i);
}

void mabd_variational_remember(const mabd_variational_solve* s) {
    mabd_variational_contacts* c = s->sim->contacts;
    for (int32_t i = 0; i < s->island->meeting_count; i++) {
        mabd_variational_meeting* m = mabd_variational_meeting_of(c, s->island, i);
        m->memory_count = m->count, m->h = s->h;
        for (int32_t k = 0; k < m->count; k++) {
            const mabd_variational_touch* t =
                (mabd_variational_touch*)c->touches.data + m->first + k;
            const mabd_barrier_contact* p = (mabd_barrier_contact*)c->barriers.data + m->first + k;
            const mabd_variational_recall memory = {{m->key, t->X[1]}, p->gamma, p->psi};
            m->memory[k] = memory;
        }
    }
}

mabd_real mabd_variational_deepest(const mabd_variational_solve* s) {
    mabd_variational_contacts* c = s->sim->contacts;
    const mabd_collide_motion motion = {
        .start = c->from, .end = c->to, .predicted = false, .margin = c->margin};
    mabd_real deepest = 0;
    if (s->island->meeting_count == 0) return 0;
    take_iterate(s);
    for (int32_t i = 0; i < s->island->meeting_count; i++) {
        const mabd_variational_meeting* m = mabd_variational_meeting_of(c, s->island, i);
        mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
        mabd_collide_pair pair;
        const int32_t count =
            mabd_collide_find_points(c->geometry, &motion, m->pair, &pair, points);
        for (int32_t k = 0; k < count; k++) {
            if (-points[k].distance > deepest) deepest = -points[k].distance;
        }
    }
    return deepest;
}

// ---- rows --------------------------------------------------------------------------------------

// Wrench on a side of a force along e at the world point p.
static mabd_rigid_wrench wrench_at(mabd_rigid_pose pose, mabd_vec3 p, mabd_vec3 e) {
    const mabd_vec3 arm = mabd_m3_tmul(pose.R, mabd_v3_sub(p, pose.c));
    const mabd_rigid_wrench w = {e, mabd_v3_cross(arm, mabd_m3_tmul(pose.R, e))};
    return w;
}

static mabd_real compliance_of(const mabd_variational_sim* sim, int32_t body, mabd_rigid_wrench w) {
    if (!mabd_variational_moves(sim, body)) return 0;
    return mabd_rigid_stability_compliance(mabd_variational_class(sim, body), w);
}

// Rate of a row by the velocities of the last substep.
static mabd_real rate_of(const mabd_variational_sim* sim, int32_t body, mabd_rigid_wrench w) {
    const mabd_rigid_twist none = {{0, 0, 0}, {0, 0, 0}};
    return mabd_rigid_power(w, mabd_variational_moves(sim, body) ? sim->motion[body].V : none);
}

// Rate of a row by half the fall of a substep.
static mabd_real fall_of(const mabd_variational_solve* s, int32_t body, mabd_rigid_wrench w) {
    if (!mabd_variational_moves(s->sim, body)) return 0;
    return s->h / 2 * mabd_v3_dot(w.f, mabd_v3_load(s->sim->model->gravity));
}

// Mean velocity in the substep of the point of a side that is at p at its start.
static mabd_vec3 given_velocity(const mabd_variational_solve* s, int32_t body, mabd_vec3 p) {
    if (mabd_variational_moves(s->sim, body) || s->sim->body_script[body] < 0) {
        return mabd_v3(0, 0, 0);
    }
    const mabd_rigid_pose from = pose_at(s, body, false), to = pose_at(s, body, true);
    const mabd_vec3 X = mabd_m3_tmul(from.R, mabd_v3_sub(p, from.c));
    return mabd_v3_scale(1 / s->h, mabd_v3_sub(place(to, X), p));
}

// Mean rate of a substep after an impact with the speed u at its start, at the distance d: the
// point returns with e times the speed that it had at the ground, u^2 + 2 a d, a the closing
// acceleration by gravity. fall: a h/2, which ends a rate by half a substep.
static mabd_real rebound_of(const mabd_variational_touch* t, mabd_real fall, mabd_real h) {
    const mabd_real e2 = t->restitution * t->restitution, way = 4 * fall / h * t->start;
    const mabd_real square = e2 * (t->approach * t->approach + way) - way;
    const mabd_real rate = square > 0 ? (mabd_real)sqrt(square) - fall : 0;
    return rate > 0 ? rate : 0;
}

// Part of the target of a contact whose height at rest, target over pressure, is above the distance
// d at the start: the height that LIFT_SPEED reaches in the substep. At once it would be a blow: a
// block on an incline that starts in touch was lifted by 1 um in its first step, stuck for the
// impulse of it, and slid without that part of its friction while it came to rest. Bodies that
// meet faster than that blow get the whole target, which is easier to reach.
static mabd_real lift_of(const mabd_variational_solve* s, const mabd_variational_touch* t,
                         const mabd_barrier_contact* p, mabd_real fall) {
    const mabd_real tolerance = s->sim->def.contact_tolerance;
    const mabd_real pressure = p->gamma > p->weight ? p->gamma : p->weight;
    const mabd_real d = t->start - t->allowed;
    mabd_real rise = LIFT_SPEED * s->h;
    if (t->approach > 2 * fall + tolerance / s->h) return 1;
    if (rise < LIFT_LEAST * tolerance) rise = LIFT_LEAST * tolerance;
    const mabd_real part = ((d > 0 ? d : 0) + rise) * pressure / (tolerance * p->weight);
    return part < 1 ? part : 1;
}

static void start_point(const mabd_variational_solve* s, mabd_variational_touch* t,
                        mabd_barrier_contact* p) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_rigid_pose a = pose_at(s, t->a, false), b = pose_at(s, t->b, false);
    const mabd_vec3 xa = place(a, t->X[0]), xb = place(b, t->X[1]);
    const mabd_vec3 middle = mabd_v3_scale((mabd_real)0.5, mabd_v3_add(xa, xb));
    const mabd_vec3 given =
        mabd_v3_sub(given_velocity(s, t->b, middle), given_velocity(s, t->a, middle));
    const mabd_real least = -PUSH_SPEED * s->h;
    for (int k = 0; k < 3; k++) {
        t->row[k].a = wrench_at(a, middle, mabd_v3_scale(-1, t->axis[k]));
        t->row[k].b = wrench_at(b, middle, t->axis[k]);
    }
    t->start = mabd_v3_dot(t->axis[0], mabd_v3_sub(xb, xa));
    t->allowed = t->start < least ? t->start - least : 0;
    for (int k = 0; k < 3; k++) t->given[k] = mabd_v3_dot(t->axis[k], given);
    const mabd_real closes =
        -t->given[0] - rate_of(sim, t->a, t->row[0].a) - rate_of(sim, t->b, t->row[0].b);
    const mabd_real fall = -fall_of(s, t->a, t->row[0].a) - fall_of(s, t->b, t->row[0].b);
    t->approach = closes + fall;
    t->rebound = rebound_of(t, fall, s->h);
    const mabd_real own =
        compliance_of(sim, t->a, t->row[0].a) + compliance_of(sim, t->b, t->row[0].b);
    p->mobility = s->h * own;
    p->weight = mabd_variational_weight(s, own, closes - (t->start - t->allowed) / s->h);
    p->lift = lift_of(s, t, p, fall);
}

mabd_real mabd_variational_weight(const mabd_variational_solve* s, mabd_real compliance,
                                  mabd_real excess) {
    const mabd_real g = mabd_v3_norm(mabd_v3_load(s->sim->model->gravity));
    const mabd_real speed = excess > WEIGHT_SPEED ? excess : WEIGHT_SPEED;
    return (g + speed / s->h) / compliance;
}

void mabd_variational_start_points(const mabd_variational_solve* s) {
    mabd_variational_contacts* c = s->sim->contacts;
    for (int32_t i = s->island->stop_count; i < s->island->touch_count; i++) {
        start_point(s, mabd_variational_touches(c, s->island) + i,
                    mabd_variational_barriers(c, s->island) + i);
    }
}

mabd_rigid_row mabd_variational_scaled(mabd_rigid_row row, mabd_real s) {
    row.a.f = mabd_v3_scale(s, row.a.f), row.a.t = mabd_v3_scale(s, row.a.t);
    row.b.f = mabd_v3_scale(s, row.b.f), row.b.t = mabd_v3_scale(s, row.b.t);
    return row;
}

void mabd_variational_point_errors(const mabd_variational_solve* s, mabd_variational_touch* t,
                                   mabd_barrier_contact* p, bool slopes) {
    const mabd_rigid_pose a = pose_at(s, t->a, true), b = pose_at(s, t->b, true);
    const mabd_vec3 gap = mabd_v3_sub(place(b, t->X[1]), place(a, t->X[0]));
    const mabd_rigid_twist none = {{0, 0, 0}, {0, 0, 0}};
    const mabd_rigid_twist va =
                               mabd_variational_moves(s->sim, t->a) ? s->sim->motion[t->a].V : none,
                           vb =
                               mabd_variational_moves(s->sim, t->b) ? s->sim->motion[t->b].V : none;
    p->phi = mabd_v3_dot(t->axis[0], gap) - t->allowed;
    for (int k = 0; k < 2; k++) {
        p->slip[k] = mabd_rigid_row_rate(&t->row[1 + k], va, vb) + t->given[1 + k];
    }
    if (t->bounces) {
        const mabd_real rate = mabd_rigid_row_rate(&t->row[0], va, vb);
        p->phi = BOUNCE_TIME * (rate + t->given[0] - t->rebound);
    }
    if (!slopes) return;
    t->next.a = mabd_variational_by_velocity(
        s->sim, t->a, wrench_at(a, place(a, t->X[0]), mabd_v3_scale(-1, t->axis[0])));
    t->next.b =
        mabd_variational_by_velocity(s->sim, t->b, wrench_at(b, place(b, t->X[1]), t->axis[0]));
    if (t->bounces) t->next = mabd_variational_scaled(t->row[0], BOUNCE_TIME / s->h);
}
