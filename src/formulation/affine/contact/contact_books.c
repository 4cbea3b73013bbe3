// SPDX-License-Identifier: Apache-2.0
// Work of contacts in one solve (energy_books.c).
//
// A contact has the force f on b and -f on a; d is the displacement of b over a in the solve, at
// the contact point, along the arcs on which bodies turn across the normal (contact/rows.c). The
// bodies lose -f . d: its normal part is taken by impacts, its tangential part by friction. If a is
// scripted, the script does the work f . d_a.
//
// Bodies by BDF2. d is that displacement, and friction the mean of both ends of the step, which is
// of second order. Normal rows stay closed there and do next to no work.
//
// Bodies by implicit Euler: those that were hit and those around them. Euler changes the kinetic
// energy by exactly f . (v0 h + d)/2, v0 the velocity of b over a at the start: so a contact that
// ends a speed takes its energy, one that reverses the part e of it takes 1 - e^2. Part of f
// carries the weight of the bodies, and a weight does the work of its displacement dt, not of the
// mean of both rates. While a body is hit, impacts are spared the difference m g . (v0 h - dt)/2:
//
//   ball, speed v at the distance s:   f h = m (v + w) + m g h      leaves with the speed w
//   (f h) (v - w)/2 - m g h (v + w)/2 = m (v^2 - w^2)/2 - m g h w
//
// which is the energy m (v^2/2 + g s) before the solve minus m (w^2/2 + g (s + h w)) after it.

#include "formulation/affine/contact/contact_books.h"

#include "formulation/affine/limits.h"

static bool is_dynamic(const mabd_affine_sim* sim, int32_t body) {
    return sim->model->body_motion[body] == MABD_MOTION_DYNAMIC;
}

// Displacement of a point of a body between two states, world [m].
static mabd_vec3 path_of(const mabd_real* from, const mabd_real* to, int32_t body, mabd_vec3 X) {
    return mabd_v3_sub(mabd_affine_point_of(to, body, X), mabd_affine_point_of(from, body, X));
}

// Velocity of a point at the start of the solve times its length; of a body that is not moved by
// forces its displacement [m].
static mabd_vec3 free_path(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X) {
    if (!is_dynamic(sim, body)) return path_of(sim->q, sim->q_new, body, X);
    return mabd_v3_scale(sim->step.lead, mabd_affine_point_of(sim->v, body, X));
}

static bool is_euler(const mabd_affine_sim* sim, const mabd_affine_contact* p) {
    return sim->step.w1 == 0 || mabd_affine_is_euler(sim, p->b) ||
           (p->moving && mabd_affine_is_euler(sim, p->a));
}

// Displacement of b over a along the normal and the tangents of a contact [m].
static void displacement(const mabd_affine_sim* sim, const mabd_affine_contact* p,
                         mabd_real along[3]) {
    mabd_vec3 move = path_of(sim->ref, sim->q_new, p->b, p->Xb);
    if (p->moving) move = mabd_v3_sub(move, path_of(sim->ref, sim->q_new, p->a, p->Xa));
    mabd_affine_contact_along(p, move, along);
    along[0] += mabd_v3_dot(p->n, p->displacement);
    along[1] += p->slip1, along[2] += p->slip2;
}

// Force of a contact over the solve along the normal and the tangents [N].
static void mean_force(const mabd_affine_contact* p, bool euler, mabd_real force[3]) {
    mabd_real last[3];
    mabd_affine_contact_along(p, p->last_friction, last);
    const bool known = !euler && mabd_v3_dot(p->last_friction, p->last_friction) > 0;
    for (int k = 0; k < 3; k++) {
        force[k] = known && k > 0 ? (last[k] + p->force[k]) / 2 : p->force[k];
    }
}

static void book_one(const mabd_affine_sim* sim, const mabd_affine_contact* p,
                     mabd_affine_contact_energy* work) {
    const bool euler = is_euler(sim, p);
    mabd_real d[3], force[3];
    displacement(sim, p, d);
    mean_force(p, euler, force);
    if (euler) {
        const mabd_vec3 free =
            mabd_v3_sub(free_path(sim, p->b, p->Xb), free_path(sim, p->a, p->Xa));
        mabd_real start[3];
        mabd_affine_contact_along(p, free, start);
        for (int k = 0; k < 3; k++) d[k] = (start[k] + d[k]) / 2;
    }
    work->impacts -= force[0] * d[0];
    work->friction -= force[1] * d[1] + force[2] * d[2];
    if (sim->model->body_motion[p->a] != MABD_MOTION_SCRIPTED) return;
    work->scripts +=
        mabd_v3_dot(mabd_affine_contact_vector(p, force), path_of(sim->q, sim->q_new, p->a, p->Xa));
}

// ---- weights -----------------------------------------------------------------------------------

// True if a body is hit in this solve or was in the last one, and was not counted yet.
static bool counts(const mabd_affine_sim* sim, int32_t body) {
    const mabd_affine_contacts_by_body* by = &sim->contacts->by_body;
    if (!is_dynamic(sim, body) || by->change[body] != 0) return false;
    by->change[body] = 1;
    return by->euler[body] == MABD_EULER_HIT ||
           (by->euler[body] != MABD_EULER_NOT && by->euler_steps[body] > 1);
}

// m g . (v0 h - dt)/2 of a body that counts.
static mabd_real weight_share(const mabd_affine_sim* sim, int32_t body) {
    const mabd_model* m = sim->model;
    const mabd_vec3 center = mabd_v3(0, 0, 0), g = mabd_v3_load(m->gravity);
    if (!counts(sim, body)) return 0;
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
        if (!(p->force[0] > 0)) continue;
        sum += weight_share(sim, p->b);
        if (p->moving) sum += weight_share(sim, p->a);
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
