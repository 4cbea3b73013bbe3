// SPDX-License-Identifier: Apache-2.0
// Softness of contacts under bodies that are much heavier.
//
// The softness c of a contact is a part of the compliance of its bodies, own, which is that of the
// lighter one, h^2/m. So a body of mass M that rests on one of mass m sinks in by c M g = softness
// g h^2 M/m: with the default softness and h = 10 ms 1 cm at 10,000 : 1, and it falls through at a
// million. What a contact carries follows from the bodies above it,
//
//   load of a body = the largest mass of the bodies on it, and of their loads
//
// and contacts of a body with a load of more than MABD_LOAD_PART of its mass, with what it rests on
// and with what rests on it, are stiffer by MABD_LOAD_PART m/load: they sink in by MABD_LOAD_PART
// times as much as if the body were alone, 30 micrometres at h = 10 ms, whatever the masses. A body
// is on another one if the normal leans to gravity by more than MABD_LOAD_MIN_COSINE. Stick offsets
// are forces times the compliance and scale with it.
//
// Towers that this does not hold, such as 1,000,000 : 1 on two light boxes at 10 ms, are a warning
// with the pair: after a step a loaded body overlaps another one by more than
// MABD_LOAD_SUNK_PART. A simulation warns once.

#include "formulation/affine/contact/contact_loads.h"

#include "formulation/affine/data.h"
#include "formulation/affine/limits.h"

#include <math.h>

static bool is_dynamic(const mabd_affine_sim* sim, int32_t body) {
    return sim->model->body_motion[body] == MABD_MOTION_DYNAMIC;
}

static mabd_real mass_of(const mabd_affine_sim* sim, int32_t body) {
    return sim->model->classes[sim->model->body_class[body]].material.mass;
}

// The heaviest of a body and its loads; load: by body, -1 = none.
static int32_t heaviest(const mabd_affine_sim* sim, const int32_t* load, int32_t body) {
    const int32_t on = load[body];
    return on >= 0 && mass_of(sim, on) > mass_of(sim, body) ? on : body;
}

// Put the heaviest of `upper` on `lower`; true if that is more than before.
static bool put_on(const mabd_affine_sim* sim, int32_t* load, int32_t upper, int32_t lower) {
    const int32_t heavy = heaviest(sim, load, upper);
    if (heavy == lower || (load[lower] >= 0 && mass_of(sim, load[lower]) >= mass_of(sim, heavy)))
        return false;
    load[lower] = heavy;
    return true;
}

// Factor of the compliance of the contacts of a body.
static mabd_real factor_of(const mabd_affine_sim* sim, const int32_t* load, int32_t body) {
    if (!is_dynamic(sim, body) || load[body] < 0) return 1;
    const mabd_real factor = MABD_LOAD_PART * mass_of(sim, body) / mass_of(sim, load[body]);
    return factor < 1 ? factor : 1;
}

// Fill load of all bodies with contacts: the heaviest body that they carry, -1 = none. False if no
// contact is between bodies whose masses differ by more than MABD_LOAD_PART.
static bool find_loads(const mabd_affine_sim* sim, int32_t* load) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_vec3 gravity = mabd_v3_load(sim->model->gravity);
    const mabd_real least = MABD_LOAD_MIN_COSINE * mabd_v3_norm(gravity);
    bool any = false;
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        load[p->b] = -1;
        if (!p->moving) continue;
        load[p->a] = -1;
        any |= mass_of(sim, p->a) > MABD_LOAD_PART * mass_of(sim, p->b);
    }
    for (bool more = any; more;) { // a pass for each layer; loads only grow
        more = false;
        for (int32_t i = 0; i < c->list.current.count; i++) {
            const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
            const mabd_real down = mabd_v3_dot(p->n, gravity); // > 0: a is above b
            if (!p->moving || (down < least && -down < least)) continue;
            more |= put_on(sim, load, down > 0 ? p->a : p->b, down > 0 ? p->b : p->a);
        }
    }
    return any;
}

void mabd_affine_contacts_stiffen(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    int32_t* load = c->by_body.change;
    const bool any = find_loads(sim, load);
    for (int32_t i = 0; any && i < c->list.current.count; i++) {
        mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        const mabd_real of_b = factor_of(sim, load, p->b),
                        of_a = p->moving ? factor_of(sim, load, p->a) : 1;
        const mabd_real factor = of_a < of_b ? of_a : of_b;
        p->own_n *= factor, p->own_t *= factor;
        p->stick_offset1 *= factor, p->stick_offset2 *= factor;
    }
}

static void warn_of(mabd_affine_sim* sim, const mabd_affine_contact* p, int32_t body, int32_t load,
                    mabd_real time) {
    char label[160], other[160], heavy[160];
    const int64_t step = (int64_t)(time / sim->def.h + (mabd_real)1.5);
    mabd_model_body_label(sim->model, body, label, sizeof label);
    mabd_model_body_label(sim->model, body == p->a ? p->b : p->a, other, sizeof other);
    mabd_model_body_label(sim->model, load, heavy, sizeof heavy);
    mabd_warn(&sim->warnings, body, -1, step,
              "%s carries %s, %.2g times its mass, and overlaps %s by %.2g m: contacts do not hold "
              "such a load",
              label, heavy, (double)(mass_of(sim, load) / mass_of(sim, body)), other,
              -(double)p->end_distance);
}

void mabd_affine_contacts_watch_loads(mabd_affine_sim* sim, mabd_real time) {
    mabd_affine_contacts* c = sim->contacts;
    if (!c || sim->warned_load ||
        c->totals.penetration <= MABD_LOAD_SUNK_PART * c->geometry->thin) {
        return;
    }
    int32_t* load = c->by_body.change;
    if (!find_loads(sim, load)) return;
    for (int32_t i = 0; i < c->list.current.count && !sim->warned_load; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        const mabd_real of_b = factor_of(sim, load, p->b),
                        of_a = p->moving ? factor_of(sim, load, p->a) : 1;
        const mabd_real thin =
            (mabd_real)fmin(c->geometry->thickness[p->key.i], c->geometry->thickness[p->key.j]);
        if (!(fmin(of_a, of_b) < 1) || -p->end_distance <= MABD_LOAD_SUNK_PART * thin) continue;
        const int32_t body = of_a < of_b ? p->a : p->b;
        warn_of(sim, p, body, load[body], time);
        sim->warned_load = true;
    }
}
