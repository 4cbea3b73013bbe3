// SPDX-License-Identifier: Apache-2.0
// Work of contacts in one solve (energy_books.c).
//
// A contact has the force f on b and -f on a; d is the displacement of b over a in the solve, at
// the contact point. The bodies lose -f . d: its normal part is taken by impacts, its tangential
// part by friction. If a is scripted, the script does the work f . d_a.
//
// The contact point of bodies that roll or slide over round surfaces is another one in each step,
// and points approach along the normal before they touch and part after it. So the normal part is
// the change of the distance of the surfaces, which is 0 for a contact that stays closed; only a
// contact that did not press before has the displacement of its point. Across the normal d follows
// the arc on which b turns over a fixed body, as its row does (contact/rows.c); over a body that
// moves it is the difference of both chords, which is 0 if the two turn together.
//
// Bodies by BDF2. d is that displacement, and the force the mean of both ends of the step, which is
// of second order.
//
// Bodies by implicit Euler: those that were hit and those around them. Euler changes the kinetic
// energy by f . (v0 h + d)/2, v0 the velocity of b over a at the start: so a contact that ends a
// speed takes its energy, one that reverses the part e of it takes 1 - e^2. Along the normal of a
// contact that pressed before v0 is the rate of the distance in the solve before. Part of f carries
// the weight of the bodies, and a weight does the work of its displacement dt, not of the mean of
// both rates. While a contact takes the speed of a body, impacts are spared the difference
// m g . (v0 h - dt)/2:
//
//   ball, speed v at the distance s:   f h = m (v + w) + m g h      leaves with the speed w
//   (f h) (v - w)/2 - m g h (v + w)/2 = m (v^2 - w^2)/2 - m g h w
//
// which is the energy m (v^2/2 + g s) before the solve minus m (w^2/2 + g (s + h w)) after it.
//
// The surface of b moves over that of a by the belt s besides, in friction f . (d + s), so that the
// bodies lose -f . d and friction takes -f . (d + s): the difference is the work of the surfaces,
// -f . s. Rolling and spinning friction do the work of a torque and a turn, by the same rules.
//
// The point of a scripted body that turns by the vector p moves along an arc with the chord c; its
// velocity times h is c - p x c/2 at the start and c + p x c/2 at the end. A force of the end goes
// with the latter, the mean of both ends, which points halfway, with the chord.

#include "formulation/affine/contact/contact_books.h"

#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/element/turn_law.h"
#include "formulation/affine/limits.h"

static bool is_dynamic(const mabd_affine_sim* sim, int32_t body) {
    return sim->model->body_motion[body] == MABD_MOTION_DYNAMIC;
}

// Displacement of a point of a body between two states, world [m].
static mabd_vec3 path_of(const mabd_real* from, const mabd_real* to, int32_t body, mabd_vec3 X) {
    return mabd_v3_sub(mabd_affine_point_of(to, body, X), mabd_affine_point_of(from, body, X));
}

// Velocity of the point of a scripted body times h, at the end (part = 1), at the start (-1) or on
// the average (0) of the solve [m].
static mabd_vec3 script_path(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X, int part) {
    const size_t at = 12 * (size_t)body;
    const mabd_vec3 chord = path_of(sim->q, sim->q_new, body, X);
    if (sim->model->body_motion[body] != MABD_MOTION_SCRIPTED || part == 0) return chord;
    const mabd_vec3 turn = mabd_so3_log(mabd_m3_product(
        mabd_m3_load(sim->q_new + at), mabd_m3_transpose(mabd_m3_load(sim->q + at))));
    return mabd_v3_axpy((mabd_real)part / 2, mabd_v3_cross(turn, chord), chord);
}

// Velocity of a point at the start of the solve times its length [m].
static mabd_vec3 free_path(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X) {
    if (!is_dynamic(sim, body)) return script_path(sim, body, X, -1);
    const mabd_vec12 v = mabd_affine_body_rates(sim, body);
    const mabd_vec3 turn = mabd_m3_mul(mabd_m3(v.d1, v.d2, v.d3), X);
    return mabd_v3_scale(sim->step.lead, mabd_v3_add(turn, v.tau));
}

static bool is_euler(const mabd_affine_sim* sim, const mabd_affine_contact* p) {
    return sim->step.w1 == 0 || mabd_affine_is_euler(sim, p->b) ||
           (p->moving && mabd_affine_is_euler(sim, p->a));
}

static bool was_held(const mabd_affine_contact* p) {
    return p->start_gap < (mabd_real)INFINITY;
}

// Displacement of b over a along the normal and the tangents of a contact [m].
static void displacement(const mabd_affine_sim* sim, const mabd_affine_contact* p,
                         mabd_real along[3]) {
    if (sim->model->body_motion[p->a] == MABD_MOTION_FIXED) {
        mabd_affine_contact_along(p, path_of(sim->ref, sim->q_new, p->b, p->Xb), along);
        along[1] += p->slip1 - p->belt[0], along[2] += p->slip2 - p->belt[1];
    } else {
        const mabd_vec3 on_b = path_of(sim->q, sim->q_new, p->b, p->Xb),
                        on_a = path_of(sim->q, sim->q_new, p->a, p->Xa);
        mabd_affine_contact_along(p, mabd_v3_sub(on_b, on_a), along);
    }
    along[0] = mabd_affine_contact_closing(p);
}

// The same at the velocities of the start of the solve [m].
static void free_displacement(const mabd_affine_sim* sim, const mabd_affine_contact* p,
                              mabd_real along[3]) {
    const mabd_vec3 free = mabd_v3_sub(free_path(sim, p->b, p->Xb), free_path(sim, p->a, p->Xa));
    mabd_affine_contact_along(p, free, along);
    if (was_held(p)) along[0] = sim->step.lead * p->start_rate;
}

// True if the friction of a contact at the start of the solve is known, too.
static bool has_mean_friction(const mabd_affine_contact* p, bool euler) {
    return !euler && mabd_v3_dot(p->last_friction, p->last_friction) > 0;
}

// Force of a contact over the solve along the normal and the tangents [N].
static void mean_force(const mabd_affine_contact* p, bool euler, mabd_real force[3]) {
    mabd_real last[3];
    mabd_affine_contact_along(p, p->last_friction, last);
    last[0] = p->start_pressure;
    for (int k = 0; k < 3; k++) {
        const bool mean = k > 0 ? has_mean_friction(p, euler) : !euler && was_held(p);
        force[k] = mean ? (last[k] + p->force[k]) / 2 : p->force[k];
    }
}

// Work of the script of body a.
static mabd_real script_work(const mabd_affine_sim* sim, const mabd_affine_contact* p, bool euler,
                             const mabd_real force[3]) {
    const mabd_real across[3] = {0, force[1], force[2]};
    const int part = has_mean_friction(p, euler) ? 0 : 1;
    return force[0] * mabd_v3_dot(p->n, script_path(sim, p->a, p->Xa, 1)) +
           mabd_v3_dot(mabd_affine_contact_vector(p, across), script_path(sim, p->a, p->Xa, part));
}

// Turn of b over a in the solve at the end (part = 1), and by the angular velocities of its start
// (part = -1), along n, t1, t2 [rad].
static void turn_path(const mabd_affine_sim* sim, const mabd_affine_contact* p, int part,
                      mabd_real along[3]) {
    mabd_vec3 turn = mabd_v3(0, 0, 0);
    for (int is_b = 0; is_b < 2; is_b++) {
        const size_t at = 12 * (size_t)(is_b ? p->b : p->a);
        const mabd_mat3 from = mabd_m3_load(sim->q + at), to = mabd_m3_load(sim->q_new + at);
        mabd_mat3 R = mabd_m3_product(to, mabd_m3_transpose(from));
        mabd_polar(R, &R);
        mabd_vec3 own = mabd_so3_log(R);
        if (part < 0 && is_dynamic(sim, is_b ? p->b : p->a)) {
            const mabd_vec12 v = mabd_affine_body_rates(sim, is_b ? p->b : p->a);
            mabd_mat3 start = from;
            mabd_polar(from, &start);
            const mabd_mat3 S =
                mabd_m3_product(mabd_m3_transpose(start), mabd_m3(v.d1, v.d2, v.d3));
            const mabd_vec12 rate = {S.c1, S.c2, S.c3, {0, 0, 0}};
            own = mabd_v3_scale(sim->step.lead, mabd_m3_mul(start, mabd_affine_turn_of(&rate)));
        }
        turn = mabd_v3_axpy(is_b ? 1 : -1, own, turn);
    }
    mabd_affine_contact_along(p, turn, along);
}

// Torques of rolling and spinning friction.
static void book_turns(const mabd_affine_sim* sim, const mabd_affine_contact* p,
                       mabd_affine_contact_energy* work) {
    mabd_real turn[3], start[3];
    turn_path(sim, p, 1, turn);
    if (is_euler(sim, p)) turn_path(sim, p, -1, start);
    for (int k = 0; k < 3; k++) {
        const mabd_real way = is_euler(sim, p) ? (start[k] + turn[k]) / 2 : turn[k];
        work->rolling -= p->torque[k] * way;
    }
}

static void book_one(const mabd_affine_sim* sim, const mabd_affine_contact* p,
                     mabd_affine_contact_energy* work) {
    const bool euler = is_euler(sim, p);
    mabd_real d[3], force[3];
    displacement(sim, p, d);
    mean_force(p, euler, force);
    if (euler) {
        mabd_real start[3];
        free_displacement(sim, p, start);
        for (int k = 0; k < 3; k++) d[k] = (start[k] + d[k]) / 2;
    }
    const mabd_real pull = force[1] * p->belt[0] + force[2] * p->belt[1];
    work->impacts -= force[0] * d[0];
    work->friction -= force[1] * d[1] + force[2] * d[2] + pull;
    work->surfaces -= pull;
    if (mabd_affine_turn_acts(p)) book_turns(sim, p, work);
    if (sim->model->body_motion[p->a] == MABD_MOTION_SCRIPTED) {
        work->scripts += script_work(sim, p, euler, force);
    }
}

// ---- weights -----------------------------------------------------------------------------------

// True if a contact by Euler takes a speed away that counts as an impact (contact/rows.c).
static bool takes_speed(const mabd_affine_sim* sim, const mabd_affine_contact* p) {
    const mabd_real h = sim->step.lead;
    const mabd_real fall = mabd_v3_norm(mabd_v3_load(sim->model->gravity)) * h * h;
    mabd_real start[3];
    if (!(p->force[0] > 0) || !is_euler(sim, p)) return false;
    free_displacement(sim, p, start);
    return -start[0] > MABD_IMPACT_MIN_FALLS * fall;
}

// m g . (v0 h - dt)/2 of a body that was not counted yet.
static mabd_real weight_share(const mabd_affine_sim* sim, int32_t body) {
    const mabd_model* m = sim->model;
    const mabd_vec3 center = mabd_v3(0, 0, 0), g = mabd_v3_load(m->gravity);
    if (!is_dynamic(sim, body) || sim->contacts->by_body.change[body] != 0) return 0;
    sim->contacts->by_body.change[body] = 1;
    const mabd_vec3 more =
        mabd_v3_sub(free_path(sim, body, center), path_of(sim->q, sim->q_new, body, center));
    return m->classes[m->body_class[body]].material.mass / 2 * mabd_v3_dot(g, more);
}

// `change` is rebuilt by the next mabd_affine_contacts_save.
static mabd_real weight_shares(const mabd_affine_sim* sim) {
    const mabd_affine_contacts* c = sim->contacts;
    mabd_real sum = 0;
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        c->by_body.change[p->b] = 0;
        if (p->moving) c->by_body.change[p->a] = 0;
    }
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (takes_speed(sim, p)) sum += weight_share(sim, p->b) + weight_share(sim, p->a);
    }
    return sum;
}

// ---- all contacts ------------------------------------------------------------------------------

void mabd_affine_contacts_book(const mabd_affine_sim* sim, mabd_affine_contact_energy* work) {
    const mabd_affine_contacts* c = sim->contacts;
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (p->force[0] > 0 || p->force[1] != 0 || p->force[2] != 0) book_one(sim, p, work);
    }
    work->impacts -= weight_shares(sim);
}

void mabd_affine_contacts_stored(const mabd_affine_sim* sim, mabd_real* stored) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_real softness = mabd_affine_contact_softness(sim->model);
    stored[0] = stored[1] = 0;
    for (int32_t i = 0; i < c->list.current.count; i++) {
        mabd_affine_contact_add_stored(mabd_affine_contacts_at(c, i), softness, stored);
    }
}
