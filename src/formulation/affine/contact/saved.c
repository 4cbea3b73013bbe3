// SPDX-License-Identifier: Apache-2.0
// State handed from one reference, and from one step, to the next: forces, branches and bounds of
// contacts, and the bodies that take the next step by Euler.

#include "formulation/affine/contact/saved.h"

#include "formulation/affine/data.h"
#include "formulation/affine/limits.h"

#include "contact/points.h"

#include <string.h>

// Turn a tangent vector with the normal from `from` to `to`.
static mabd_vec3 turn_tangent(mabd_vec3 from, mabd_vec3 to, mabd_vec3 x) {
    const mabd_vec3 w = mabd_v3_cross(from, to), wx = mabd_v3_cross(w, x);
    const mabd_real cosine = mabd_v3_dot(from, to);
    if (!(cosine > 0)) return mabd_v3(0, 0, 0); // another side of the body: forget it
    const mabd_vec3 y = mabd_v3_axpy(1 / (1 + cosine), mabd_v3_cross(w, wx), mabd_v3_add(x, wx));
    return mabd_v3_axpy(-mabd_v3_dot(to, y), to, y);
}

static void restore_forces(mabd_affine_contact* p, const mabd_affine_saved_contact* old) {
    const mabd_vec3 friction = turn_tangent(old->normal, p->n, old->friction);
    p->pressed = old->pressed != 0;
    p->friction_state = (mabd_affine_friction_state)old->friction_state;
    p->bound = old->bound;
    p->force[0] = old->pressure;
    p->stiffness = p->roll_radius * old->pressure;
    p->force[1] = mabd_v3_dot(p->t1, friction), p->force[2] = mabd_v3_dot(p->t2, friction);
    p->slip_length =
        mabd_unit(turn_tangent(old->normal, p->n, old->slip), p->t1, &p->slip_direction);
}

// Stick offset from the friction of the last step, the same in all iterations of this one. An
// impact leaves none.
static void set_stick_offset(const mabd_affine_sim* sim, mabd_affine_contact* p, mabd_vec3 push) {
    const mabd_real* calm = sim->contacts->by_body.euler_steps;
    if (calm[p->b] > 1 || (p->moving && calm[p->a] > 1)) return;
    const mabd_real c = mabd_affine_contact_softness(sim->model) * p->own_t;
    p->last_friction = push;
    p->stick_offset1 = -c * mabd_v3_dot(p->t1, push),
    p->stick_offset2 = -c * mabd_v3_dot(p->t2, push);
}

void mabd_affine_saved_take(const mabd_affine_sim* sim, const mabd_affine_saved_contact* old,
                            bool last_step, mabd_affine_contact* p) {
    restore_forces(p, old);
    if (last_step) p->bound = p->friction * old->pressure;
    const bool held = last_step && old->pressure > 0;
    p->start_gap = held ? old->end_gap : last_step ? (mabd_real)INFINITY : old->start_gap;
    p->start_rate = last_step ? old->end_rate : old->start_rate;
    p->start_pressure = last_step ? old->pressure : old->start_pressure;
    for (int k = 0; k < 2; k++) p->stiff[k] = last_step ? 0 : old->stiff[k]; // no torque yet
    set_stick_offset(
        sim, p, turn_tangent(old->normal, p->n, last_step ? old->friction : old->last_friction));
}

static mabd_affine_saved_contact save_one(const mabd_affine_contact* p, mabd_real lead) {
    mabd_affine_saved_contact kept;
    memset(&kept, 0, sizeof kept);
    kept.identity.key = p->key, kept.identity.X = p->Xb;
    kept.b = p->b;
    kept.pressed = p->pressed, kept.friction_state = (int16_t)p->friction_state;
    kept.bound = p->bound;
    kept.normal = p->n;
    kept.pressure = p->force[0] > 0 ? p->force[0] : 0;
    kept.friction = mabd_v3_axpy(p->force[2], p->t2, mabd_v3_scale(p->force[1], p->t1));
    kept.slip = mabd_v3_scale(p->slip_length, p->slip_direction);
    kept.last_friction = p->last_friction;
    kept.end_gap = p->end_distance, kept.end_rate = mabd_affine_contact_closing(p) / lead;
    kept.start_gap = p->start_gap, kept.start_rate = p->start_rate;
    kept.start_pressure = p->start_pressure;
    memcpy(kept.stiff, p->stiff, sizeof kept.stiff);
    return kept;
}

void mabd_affine_saved_write(const mabd_affine_contacts* c, mabd_real lead, mabd_list* list) {
    for (int32_t i = 0; i < c->list.current.count; i++) {
        ((mabd_affine_saved_contact*)list->data)[i] = save_one(mabd_affine_contacts_at(c, i), lead);
    }
    list->count = c->list.current.count;
}

static void add_euler_step(mabd_affine_contacts* c, int32_t body) {
    if (c->by_body.euler_steps[body] < 1) c->by_body.euler_steps[body] = 1;
}

// Choose the bodies that take the next step by Euler: those that were hit, those with contacts that
// are rows, and whole components of jointed bodies that rest on others.
static void choose_euler_bodies(mabd_affine_sim* sim) {
    const mabd_plan* plan = sim->model->plan;
    mabd_affine_contacts* c = sim->contacts;
    const mabd_real part = sim->step.lead / c->search.h; // of a step
    const int32_t* frees = c->rows.bodies.bodies.data;
    for (size_t i = 0; i < sim->sizes.bodies; i++) {
        const mabd_real left =
            c->by_body.euler_steps[i] > part ? c->by_body.euler_steps[i] - part : 0;
        c->by_body.euler_steps[i] =
            c->by_body.euler[i] == MABD_EULER_HIT ? MABD_IMPACT_EULER_STEPS : left;
    }
    for (int32_t i = 0; i < c->rows.bodies.bodies.count; i++) add_euler_step(c, frees[i]);
    for (int32_t i = 0; i < c->list.current.count; i++) {
        c->by_component.line[c->by_body.component[mabd_affine_contacts_at(c, i)->b]].count = 0;
    }
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        const mabd_plan_component* component = &plan->components[c->by_body.component[p->b]];
        const int32_t* bodies = plan->component_bodies + component->body_first;
        const int32_t count = component->body_count;
        if (!(p->force[0] > 0) || count == 1 ||
            c->by_component.line[c->by_body.component[p->b]].count++ > 0)
            continue;
        for (int32_t k = 0; k < count; k++) add_euler_step(c, bodies[k]);
    }
}

// A contact that opens, or closes without an impact, is a jump of the acceleration: BDF2 would make
// a hop of it.
static void add_changed_contacts(const mabd_plan* plan, mabd_affine_contacts* c) {
    const mabd_affine_saved_contact* kept = c->list.saved.data;
    for (int32_t i = 0; i < c->list.saved.count; i++) c->by_body.change[kept[i].b] = 0;
    for (int32_t i = 0; i < c->list.current.count; i++)
        c->by_body.change[mabd_affine_contacts_at(c, i)->b] = 0;
    for (int32_t i = 0; i < c->list.saved.count; i++)
        c->by_body.change[kept[i].b] -= kept[i].pressure > 0;
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        c->by_body.change[p->b] += p->force[0] > 0;
    }
    for (int32_t i = 0; i < c->list.saved.count; i++) {
        if (c->by_body.change[kept[i].b] != 0)
            c->by_body.euler_steps[kept[i].b] = MABD_IMPACT_EULER_STEPS;
    }
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (c->by_body.change[p->b] == 0) continue;
        c->by_body.euler_steps[p->b] = MABD_IMPACT_EULER_STEPS;
        // both bodies, to conserve momentum; but a body with joints is held by them
        if (p->moving && plan->components[c->by_body.component[p->a]].slot_count == 0) {
            c->by_body.euler_steps[p->a] = MABD_IMPACT_EULER_STEPS;
        }
    }
}

void mabd_affine_contacts_save(mabd_affine_sim* sim) {
    if (!sim->contacts) return;
    choose_euler_bodies(sim);
    add_changed_contacts(sim->model->plan, sim->contacts);
    mabd_affine_saved_write(sim->contacts, sim->step.lead, &sim->contacts->list.saved);
}

// ---- a step that fails -------------------------------------------------------------------------

mabd_status mabd_affine_saved_keep(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    if (!c) return MABD_OK;
    c->list.start.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->list.start, sizeof(mabd_affine_saved_contact),
                               c->list.saved.count));
    c->list.start.count = c->list.saved.count;
    if (c->list.saved.count > 0) {
        memcpy(c->list.start.data, c->list.saved.data,
               (size_t)c->list.saved.count * sizeof(mabd_affine_saved_contact));
    }
    memcpy(c->by_body.start_euler_steps, c->by_body.euler_steps,
           sim->sizes.bodies * sizeof *c->by_body.euler_steps);
    return MABD_OK;
}

void mabd_affine_saved_return(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    if (!c) return;
    const mabd_list list = c->list.saved;
    c->list.saved = c->list.start, c->list.start = list;
    memcpy(c->by_body.euler_steps, c->by_body.start_euler_steps,
           sim->sizes.bodies * sizeof *c->by_body.euler_steps);
}
