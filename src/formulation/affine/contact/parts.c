// SPDX-License-Identifier: Apache-2.0
// Substeps of a step with contacts between moving bodies.
//
// A contact is linear in the motion of a solve: a plane at a point. A body that turns by theta
// moves its points off their planes by l theta^2/2, l the distance of a point from the centre of
// mass, and contacts that are found again at each reference bend by as much: such iterations
// contract slowly, if at all. In shorter steps they need not be repeated: eight times as many steps
// cost 0.3 of the time of a pile of links that falls with 9 m/s (720 pairs, h = 10 ms), and its
// deepest overlap is 13 times less.
//
// How far bodies will turn is known before anything is solved. A contact takes the speed of
// approach v_n away by an impulse, and friction up to mu of it across; with the lever X from the
// centre of mass, directions n and t, and moments I of the body by itself
//
//   P = v_n / (1/m + (X x n).I^-1 (X x n)),   w' = |I^-1 (X x n)| P + |I^-1 (X x t)| Q,
//   Q = min(mu P, v_t / (1/m + (X x t).I^-1 (X x t)))
//
//   theta = h (|w| + w'),    n = the least of 1, 2, 4, ... with theta/n <= MABD_PART_RAD
//
// over contacts of groups with contacts between moving bodies that press or meet in the step. It
// depends on the state alone, so a run that resumes from a checkpoint has the same parts.

#include "formulation/affine/contact/contact_parts.h"

#include "formulation/affine/contact/contact_rows.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/limits.h"

#include <math.h>

static mabd_real turn_rate(const mabd_affine_sim* sim, int32_t body) {
    if (sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) return 0;
    const mabd_vec12 v = mabd_affine_body_rates(sim, body);
    // A' = [w] A with A near a rotation: |A'|^2 = 2 |w|^2
    const mabd_real square =
        mabd_v3_dot(v.d1, v.d1) + mabd_v3_dot(v.d2, v.d2) + mabd_v3_dot(v.d3, v.d3);
    return (mabd_real)sqrt(square / 2);
}

// Rate at which a unit impulse along d (body frame) at X turns a body, and by how much it moves the
// point along d: *compliance [1/kg].
static mabd_real turn_of(const mabd_model_class* class, mabd_vec3 X, mabd_vec3 d,
                         mabd_real* compliance) {
    const mabd_vec3 arm = mabd_v3_cross(X, d);
    const mabd_vec3 rate = mabd_v3(arm.x / class->principal[0], arm.y / class->principal[1],
                                   arm.z / class->principal[2]);
    *compliance = 1 / class->material.mass + mabd_v3_dot(arm, rate);
    return mabd_v3_norm(rate);
}

// Rate of a body after an impact with the velocity v of approach [rad/s].
static mabd_real rate_after(const mabd_affine_sim* sim, const mabd_affine_contact* p, int32_t body,
                            mabd_vec3 X, mabd_vec3 v) {
    if (sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) return 0;
    const mabd_model_class* class = &sim->model->classes[sim->model->body_class[body]];
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    const mabd_real approach = -mabd_v3_dot(p->n, v);
    mabd_real rate = turn_rate(sim, body), compliance;
    if (!(approach > 0)) return rate;
    const mabd_real by_normal = turn_of(class, X, mabd_m3_tmul(R, p->n), &compliance);
    const mabd_real impulse = approach / compliance;
    rate += by_normal * impulse;
    const mabd_vec3 across = mabd_v3_axpy(approach, p->n, v);
    const mabd_real speed = mabd_v3_norm(across);
    if (!(speed > 0) || !(p->friction > 0)) return rate;
    const mabd_real by_friction =
        turn_of(class, X, mabd_m3_tmul(R, mabd_v3_scale(1 / speed, across)), &compliance);
    return rate + by_friction * (mabd_real)fmin(p->friction * impulse, speed / compliance);
}

// Rate at which bodies of a contact turn [rad/s]; 0 if it does not touch in a step of h.
static mabd_real rate_of(const mabd_affine_sim* sim, const mabd_affine_contact* p, mabd_real h) {
    const mabd_vec3 v = mabd_v3_sub(mabd_affine_contacts_start_velocity(sim, p->b, p->Xb),
                                    mabd_affine_contacts_start_velocity(sim, p->a, p->Xa));
    const mabd_real start = p->distance - mabd_v3_dot(p->n, p->displacement);
    if (!p->pressed && !(start < -h * mabd_v3_dot(p->n, v))) return 0;
    return (mabd_real)fmax(rate_after(sim, p, p->b, p->Xb, v), rate_after(sim, p, p->a, p->Xa, v));
}

int32_t mabd_affine_contacts_parts(const mabd_affine_sim* sim, mabd_real h, int32_t most) {
    const mabd_affine_contacts* c = sim->contacts;
    mabd_real rate = 0;
    int32_t n = 1;
    for (int32_t i = 0; c && i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (!c->by_component.free[c->by_component.group[c->by_body.component[p->b]]]) continue;
        rate = (mabd_real)fmax(rate, rate_of(sim, p, h));
    }
    while (n < most && rate * h > MABD_PART_RAD * (mabd_real)n) n *= 2;
    return n;
}

bool mabd_affine_contacts_are_pile(const mabd_affine_contacts* c) {
    if (!c) return false;
    if (c->rows.contacts.count > MABD_PILE_MIN_CONTACTS) return true;
    const mabd_affine_contact_range* ranges = c->rows.ranges.data;
    return c->search.parts > 1 && c->rows.ranges.count > 0 &&
           !ranges[c->rows.ranges.count - 1].small;
}

mabd_real mabd_affine_contacts_tolerance(const mabd_affine_sim* sim) {
    const mabd_real tolerance = sim->def.contact_tolerance, pile = sim->def.affine.pile_tolerance;
    return mabd_affine_contacts_are_pile(sim->contacts) && pile > tolerance ? pile : tolerance;
}
