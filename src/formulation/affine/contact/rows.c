// SPDX-License-Identifier: Apache-2.0
// Contacts at the reference: points of collide/ turned into rows. Pairs of geoms are found once per
// solve, from start to prediction; their points are found at every new reference.

#include "formulation/affine/contact/contact_rows.h"

#include "formulation/affine/contact/contact_classify.h"
#include "formulation/affine/contact/contact_impacts.h"
#include "formulation/affine/contact/contact_loads.h"
#include "formulation/affine/contact/saved.h"
#include "formulation/affine/cpu/schedule.h"
#include "formulation/affine/data.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/element/joint_jacobian.h"
#include "formulation/affine/element/rebound.h"
#include "formulation/affine/element/turn_law.h"
#include "formulation/affine/limits.h"

#include "contact/bounds.h"
#include "contact/points.h"

#include <string.h>

// ---- motion ------------------------------------------------------------------------------------

// Bodies from the start of the step to the reference; `predicted`: it is the first of the solve.
static mabd_collide_motion motion_of(const mabd_affine_sim* sim, bool predicted) {
    const mabd_collide_motion motion = {.start = sim->q,
                                        .end = sim->ref,
                                        .strained = true,
                                        .predicted = predicted,
                                        .margin = sim->contacts->search.margin};
    return motion;
}

// Displacement of a point of a body from the start of the step to the reference along the arc on
// which the body turns, so that a rolling body does not slip: the chord is shorter by (angle)^2/6.
// Bodies whose rotation is not known, soft ones and those that do not move by forces, take the
// chord.
static mabd_vec3 point_arc(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X) {
    const size_t at = 12 * (size_t)body;
    if (sim->model->body_motion[body] != MABD_MOTION_DYNAMIC ||
        mabd_affine_block_of(sim, body)->soft) {
        return mabd_v3_sub(mabd_affine_point_of(sim->ref, body, X),
                           mabd_affine_point_of(sim->q, body, X));
    }
    const mabd_vec3 turn = mabd_v3_cross(mabd_v3_load(sim->spin_ref + 4 * (size_t)body), X);
    const mabd_vec3 shift =
        mabd_v3_sub(mabd_v3_load(sim->ref + at + 9), mabd_v3_load(sim->q + at + 9));
    return mabd_v3_add(shift, mabd_m3_mul(mabd_m3_load(sim->ref + at), turn));
}

// Displacement of b relative to a at a contact, along the arcs of both.
static mabd_vec3 arc_of(const mabd_affine_sim* sim, const mabd_affine_contact* p) {
    return mabd_v3_sub(point_arc(sim, p->b, p->Xb), point_arc(sim, p->a, p->Xa));
}

// Rotation of a body from the start of the step to the reference, world [rad].
static mabd_vec3 body_turn(const mabd_affine_sim* sim, int32_t body) {
    const size_t at = 12 * (size_t)body;
    const mabd_mat3 R = mabd_m3_load(sim->ref + at);
    mabd_mat3 start = mabd_m3_load(sim->q + at);
    if (sim->model->body_motion[body] == MABD_MOTION_FIXED) return mabd_v3(0, 0, 0);
    if (sim->model->body_motion[body] == MABD_MOTION_DYNAMIC &&
        !mabd_affine_block_of(sim, body)->soft) {
        return mabd_m3_mul(R, mabd_v3_load(sim->spin_ref + 4 * (size_t)body));
    }
    mabd_polar(start, &start);
    return mabd_so3_log(mabd_m3_product(R, mabd_m3_transpose(start)));
}

// Turn of b over a at a contact.
static mabd_vec3 turn_of(const mabd_affine_sim* sim, const mabd_affine_contact* p) {
    return mabd_v3_sub(body_turn(sim, p->b), body_turn(sim, p->a));
}

// ---- rows --------------------------------------------------------------------------------------

// J H^-1 J' of one body for a force along a direction at X, without geometric stiffness.
static mabd_real own_compliance(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X,
                                mabd_vec3 direction) {
    if (sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) return 0;
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    const mabd_vec12 J = mabd_vec12_at(X, mabd_m3_tmul(R, direction));
    return mabd_vec12_dot(J, mabd_affine_block_apply(mabd_affine_block_of(sim, body), J));
}

// Compliance of one body against a torque about a direction, without geometric stiffness.
static mabd_real own_turning(const mabd_affine_sim* sim, int32_t body, mabd_vec3 direction) {
    if (sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) return 0;
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    const mabd_vec12 J = mabd_vec12_torque(mabd_m3_tmul(R, direction));
    return mabd_vec12_dot(J, mabd_affine_block_apply(mabd_affine_block_of(sim, body), J));
}

// Displacement by which the surface of b moves over that of a more than the bodies do.
static mabd_vec3 belt_of(const mabd_affine_sim* sim, const mabd_collide_pair* view) {
    const mabd_model_collider* const* collider = sim->contacts->geometry->collider;
    const mabd_mat3 Ra = mabd_m3_load(sim->ref + 12 * (size_t)view->a),
                    Rb = mabd_m3_load(sim->ref + 12 * (size_t)view->b);
    const mabd_vec3 velocity = mabd_v3_sub(mabd_m3_mul(Rb, collider[view->h]->surface),
                                           mabd_m3_mul(Ra, collider[view->g]->surface));
    return mabd_v3_scale(sim->step.lead, velocity);
}

mabd_vec3 mabd_affine_contacts_start_velocity(const mabd_affine_sim* sim, int32_t body,
                                              mabd_vec3 X) {
    if (sim->model->body_motion[body] == MABD_MOTION_DYNAMIC) {
        const mabd_vec12 v = mabd_affine_body_rates(sim, body);
        return mabd_v3_add(mabd_m3_mul(mabd_m3(v.d1, v.d2, v.d3), X), v.tau);
    }
    const mabd_vec3 displacement =
        mabd_v3_sub(mabd_affine_point_of(sim->ref, body, X), mabd_affine_point_of(sim->q, body, X));
    return mabd_v3_scale(1 / sim->step.lead, displacement);
}

// Fill gap and slip. *impact gets the speed of approach if the surfaces meet in this step, else 0
// [m/s].
static void fill_rows(const mabd_affine_sim* sim, const mabd_collide_motion* motion,
                      const mabd_collide_pair* view, mabd_affine_contact* p, mabd_real* impact) {
    const mabd_real h = sim->step.lead;
    const mabd_vec3 arc = p->arc = arc_of(sim, p);
    p->displacement = mabd_collide_displacement(motion, p->a, p->Xa, p->b, p->Xb);
    const mabd_real u = mabd_v3_dot(p->n, p->displacement);
    p->slip1 = mabd_v3_dot(p->t1, arc), p->slip2 = mabd_v3_dot(p->t2, arc);
    const mabd_real slip = (mabd_real)sqrt(p->slip1 * p->slip1 + p->slip2 * p->slip2);
    if (sim->model->contact.surfaces) {
        const mabd_vec3 belt = belt_of(sim, view);
        p->belt[0] = mabd_v3_dot(p->t1, belt), p->belt[1] = mabd_v3_dot(p->t2, belt);
        p->slip1 += p->belt[0], p->slip2 += p->belt[1];
    }
    const mabd_real start = p->distance - u;
    const mabd_real limited = u - (MABD_CONTACT_PUSH_SPEED_M_S * h + slip / 2);
    p->gap = p->distance > limited ? p->distance : limited;
    const mabd_vec3 v = mabd_v3_sub(mabd_affine_contacts_start_velocity(sim, p->b, p->Xb),
                                    mabd_affine_contacts_start_velocity(sim, p->a, p->Xa));
    const mabd_real approach = -mabd_v3_dot(p->n, v);
    p->approach = approach, p->restitution = view->surface.restitution;
    *impact = approach > 0 && start < h * approach ? approach : 0;
    if (!(view->surface.restitution > 0) || *impact == 0) return;
    const mabd_real g =
        p->moving ? 0 : (mabd_real)fmax(0, -mabd_v3_dot(p->n, mabd_v3_load(sim->model->gravity)));
    const mabd_real back = mabd_affine_rebound(view->surface.restitution, approach, start, g, h);
    // and the displacement of a soft row under the impact, of a body by itself
    const mabd_real soft = mabd_affine_contact_softness(sim->model) * (approach + back);
    const mabd_real wanted = u - h * (back + soft);
    if (back > 0 && wanted < p->gap) p->gap = wanted;
}

// Rods that lie across each other: b rolls over a.
static void set_roll(const mabd_collide* c, const mabd_collide_motion* motion,
                     const mabd_collide_pair* view, mabd_affine_contact* p) {
    const mabd_pose pa = mabd_collide_end_pose(c, motion, view->g),
                    pb = mabd_collide_end_pose(c, motion, view->h);
    const mabd_collider *a = &c->collider[view->g]->shape, *b = &c->collider[view->h]->shape;
    const mabd_vec3 n = mabd_v3_scale(-1, p->n);
    mabd_vec3 axis_a, axis_b;
    if (!mabd_collider_is_rod(a, mabd_m3_tmul(pa.rotation, p->n), &axis_a)) return;
    if (!mabd_collider_is_rod(b, mabd_m3_tmul(pb.rotation, n), &axis_b)) return;
    axis_a = mabd_m3_mul(pa.rotation, axis_a), axis_b = mabd_m3_mul(pb.rotation, axis_b);
    const mabd_real along = mabd_v3_dot(axis_a, axis_b);
    if (fabs(along) > MABD_ROLL_MAX_COSINE) return;
    mabd_unit(mabd_v3_cross(p->n, axis_b), axis_a, &p->roll_axis);
    p->roll_radius = a->size[0] + b->size[0];
}

// Turns of a contact with rolling or spinning friction.
static void set_turn(const mabd_affine_sim* sim, const mabd_collide_pair* view,
                     mabd_affine_contact* p) {
    p->rolling = view->surface.rolling, p->spinning = view->surface.spinning;
    p->turn = turn_of(sim, p);
    const mabd_real across = own_turning(sim, p->a, p->t1) + own_turning(sim, p->b, p->t1) +
                             own_turning(sim, p->a, p->t2) + own_turning(sim, p->b, p->t2);
    p->own_turn[0] = across / 2;
    p->own_turn[1] = own_turning(sim, p->a, p->n) + own_turning(sim, p->b, p->n);
}

static mabd_affine_contact make_contact(const mabd_affine_sim* sim,
                                        const mabd_collide_motion* motion,
                                        const mabd_collide_pair* view,
                                        const mabd_collide_point* point, mabd_real* impact) {
    mabd_affine_contact p;
    memset(&p, 0, sizeof p);
    p.key = view->key;
    p.a = view->a, p.b = view->b;
    p.moving = sim->model->body_motion[view->a] == MABD_MOTION_DYNAMIC;
    p.friction = view->surface.friction;
    p.Xa = point->Xa, p.Xb = point->Xb;
    p.n = point->normal;
    p.t1 = mabd_across(p.n), p.t2 = mabd_v3_cross(p.n, p.t1);
    p.start_gap = (mabd_real)INFINITY;
    p.distance = point->distance;
    fill_rows(sim, motion, view, &p, impact);
    const mabd_real own_a = own_compliance(sim, p.a, p.Xa, p.n);
    p.own_n = own_a + own_compliance(sim, p.b, p.Xb, p.n);
    p.light = own_a <= MABD_SUPPORT_MAX_COMPLIANCE_PART * p.own_n;
    p.own_t = own_compliance(sim, p.a, p.Xa, p.t1) + own_compliance(sim, p.b, p.Xb, p.t1) +
              own_compliance(sim, p.a, p.Xa, p.t2) + own_compliance(sim, p.b, p.Xb, p.t2);
    p.own_t /= 2;
    if (view->surface.rolling > 0 || view->surface.spinning > 0) set_turn(sim, view, &p);
    set_roll(sim->contacts->geometry, motion, view, &p);
    return p;
}

// ---- impacts -----------------------------------------------------------------------------------

// True if the share of a body in an impact is large enough to leave BDF2.
static bool is_hit(const mabd_affine_sim* sim, const mabd_affine_contact* p, int32_t body,
                   mabd_vec3 X, mabd_real impact) {
    if (sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) return false;
    const mabd_real share = own_compliance(sim, body, X, p->n) / p->own_n, h = sim->step.lead;
    const mabd_real fall = mabd_v3_norm(mabd_v3_load(sim->model->gravity)) * h * h;
    return share * impact * h > MABD_IMPACT_MIN_FALLS * fall;
}

// The body and those jointed to it take this step by Euler: predict them again.
static void hit_body(mabd_affine_sim* sim, int32_t body) {
    const mabd_plan* plan = sim->model->plan;
    mabd_affine_contacts* c = sim->contacts;
    if (c->by_body.euler[body] == MABD_EULER_HIT || c->by_body.component[body] < 0) return;
    const mabd_plan_component* component = &plan->components[c->by_body.component[body]];
    for (int32_t k = 0; k < component->body_count; k++) {
        const int32_t i = plan->component_bodies[component->body_first + k];
        const bool predicted = c->by_body.euler[i] != MABD_EULER_NOT;
        c->by_body.euler[i] = MABD_EULER_HIT;
        if (!predicted) mabd_affine_predict_body(sim, i);
    }
}

// Bodies that impacts pass on to are hit, too. True if some body was predicted again.
static bool hit_rows(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    bool any = false;
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        for (int is_b = 0; is_b < 2 && p->hit.passes; is_b++) {
            const int32_t body = is_b ? p->b : p->a;
            if (sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) continue;
            any |= c->by_body.euler[body] != MABD_EULER_HIT;
            hit_body(sim, body);
        }
    }
    return any;
}

// ---- all together ------------------------------------------------------------------------------

// One walk over the pairs with the saved contacts.
typedef struct find_work {
    mabd_affine_sim* sim;
    mabd_affine_contacts* c;
    mabd_affine_find find;
    mabd_collide_motion motion;
    const mabd_list* from;    // mabd_affine_saved_contact
    mabd_collide_known known; // the same, while pairs are walked
    int32_t last;             // in c->list.before
    bool hit;
} find_work;

// Choose the secants of rolling and spinning friction with the normal force of the last solve.
static void choose_turns(mabd_affine_contact* p) {
    mabd_real off;
    if (!(p->rolling > 0) && !(p->spinning > 0)) return;
    mabd_affine_turn_choose(p, p->turn, p->force[0] > 0 ? p->force[0] : 0, &off);
}

static void start_contact(find_work* w, mabd_affine_contact* p, bool known, mabd_real impact) {
    mabd_affine_sim* sim = w->sim;
    const bool held = p->pressed;
    if (!held) {
        p->pressed = p->gap < (known ? 0 : MABD_CONTACT_CLOSE_PART * w->c->search.margin);
        p->friction_state = MABD_FRICTION_NONE;
        p->slip_length = 0, p->slip_direction = p->t1;
        p->bound_unknown = true;
    }
    if (w->find != MABD_FIND_FIRST || held || impact == 0) return;
    if (is_hit(sim, p, p->b, p->Xb, impact)) w->hit = true, hit_body(sim, p->b);
    if (is_hit(sim, p, p->a, p->Xa, impact)) w->hit = true, hit_body(sim, p->a);
}

static mabd_status add_points(find_work* w, const mabd_collide_pair* view, int32_t count,
                              const mabd_collide_point* points) {
    mabd_affine_contacts* c = w->c;
    const mabd_affine_saved_contact* saved = w->from->data;
    const int32_t known = mabd_collide_match_pair(&w->known, view->key);
    uint32_t taken = 0;
    MABD_TRY(
        mabd_list_reserve(&c->allocator, &c->list.current, sizeof(mabd_affine_contact), count));
    for (int32_t k = 0; k < count; k++) {
        mabd_affine_contact* p = mabd_affine_contacts_at(c, c->list.current.count++);
        mabd_real impact;
        *p = make_contact(w->sim, &w->motion, view, &points[k], &impact);
        const int32_t match = mabd_collide_match_nearest(&w->known, known, p->Xb, &taken);
        if (match >= 0) {
            mabd_affine_saved_take(w->sim, &saved[match], w->from == &c->list.saved, p);
        }
        start_contact(w, p, match >= 0, impact);
        choose_turns(p);
    }
    return MABD_OK;
}

// Contacts of the last reference stay; new points are added if none of those is close.
static mabd_status add_more(find_work* w, const mabd_collide_pair* view, int32_t count,
                            const mabd_collide_point* points) {
    mabd_affine_contacts* c = w->c;
    const mabd_affine_contact* before = c->list.before.data;
    const int32_t first = c->list.current.count;
    while (w->last < c->list.before.count &&
           mabd_collide_compare(before[w->last].key, view->key) < 0)
        w->last++;
    for (; w->last < c->list.before.count &&
           mabd_collide_compare(before[w->last].key, view->key) == 0;
         w->last++) {
        MABD_TRY(
            mabd_list_reserve(&c->allocator, &c->list.current, sizeof(mabd_affine_contact), 1));
        *mabd_affine_contacts_at(c, c->list.current.count++) = before[w->last];
    }
    const mabd_real near = MABD_CONTACT_SAME_POINT_PART * c->geometry->reach[view->h];
    for (int32_t k = 0; k < count; k++) {
        mabd_real impact;
        mabd_affine_contact p = make_contact(w->sim, &w->motion, view, &points[k], &impact);
        bool known = false;
        for (int32_t i = first; i < c->list.current.count; i++) {
            const mabd_vec3 d = mabd_v3_sub(mabd_affine_contacts_at(c, i)->Xb, p.Xb);
            known |= mabd_v3_norm(d) < near;
        }
        if (known) continue;
        MABD_TRY(
            mabd_list_reserve(&c->allocator, &c->list.current, sizeof(mabd_affine_contact), 1));
        start_contact(w, &p, false, impact);
        *mabd_affine_contacts_at(c, c->list.current.count++) = p;
    }
    return MABD_OK;
}

static mabd_status find_all(find_work* w) {
    mabd_affine_contacts* c = w->c;
    c->list.current.count = w->last = 0;
    w->known = (mabd_collide_known){.data = w->from->data,
                                    .stride = sizeof(mabd_affine_saved_contact),
                                    .count = w->from->count};
    for (int64_t i = 0; i < c->geometry->pair_count; i++) {
        mabd_collide_point points[MABD_CONTACT_MAX_POINTS];
        mabd_collide_pair pair;
        const int32_t count = mabd_collide_find_points(c->geometry, &w->motion, i, &pair, points);
        if (w->find == MABD_FIND_MORE) {
            MABD_TRY(add_more(w, &pair, count, points));
        } else if (count > 0) {
            MABD_TRY(add_points(w, &pair, count, points));
        }
    }
    if (w->find != MABD_FIND_MORE) mabd_affine_contacts_stiffen(w->sim);
    return MABD_OK;
}

// Farthest that a body may be sent within the step by an impact with restitution, at most half of
// the thinnest body; 0 without restitution. Contacts that it may reach are found beforehand.
static mabd_real reach_of_impacts(const mabd_affine_sim* sim) {
    const mabd_model_contact* contact = &sim->model->contact;
    bool rebounds = false;
    mabd_real fastest = 0;
    for (int32_t i = 0; i < contact->collider_count; i++)
        rebounds |= contact->colliders[i].restitution > 0;
    for (int32_t i = 0; i < contact->pair_count; i++) rebounds |= contact->pairs[i].restitution > 0;
    for (int32_t i = 0; rebounds && i < sim->model->body_count; i++) {
        if (sim->model->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        const mabd_real speed = mabd_v3_norm(mabd_affine_body_rates(sim, i).tau);
        if (speed > fastest) fastest = speed;
    }
    const mabd_real way = sim->step.lead * fastest, thin = sim->contacts->geometry->thin / 2;
    return way < thin ? way : thin;
}

static void set_margin(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    const mabd_real h = sim->step.lead;
    const mabd_real fall = mabd_v3_norm(mabd_v3_load(sim->model->gravity)) * h * h;
    c->search.margin = sim->model->contact.margin;
    if (c->search.margin > 0) return;
    c->search.margin = MABD_CONTACT_MARGIN_FALLS * fall;
    if (c->search.margin < MABD_CONTACT_MIN_MARGIN_M) c->search.margin = MABD_CONTACT_MIN_MARGIN_M;
    const mabd_real reach = reach_of_impacts(sim);
    if (c->search.margin < reach) c->search.margin = reach;
}

mabd_status mabd_affine_contacts_find(mabd_affine_sim* sim, mabd_affine_find find) {
    mabd_affine_contacts* c = sim->contacts;
    if (!c) return MABD_OK;
    find_work w = {.sim = sim, .c = c, .find = find, .from = &c->list.saved};
    c->search.first = find == MABD_FIND_FIRST;
    if (c->search.first) set_margin(sim);
    w.motion = motion_of(sim, c->search.first);
    if (find == MABD_FIND_FIRST) {
        c->totals.products = 0, c->totals.residual = 0;
        for (int32_t i = 0; i < c->by_component.count; i++)
            c->by_component.line[i].updates = 0, c->by_component.line[i].relax = 1;
        MABD_TRY(mabd_collide_find_pairs(c->geometry, &w.motion));
        MABD_TRY(find_all(&w));
        w.find = MABD_FIND_ANEW;
        if (w.hit) MABD_TRY(find_all(&w)); // bodies that are hit have another reference now
        if (mabd_affine_contacts_pass_on(sim) && hit_rows(sim)) {
            MABD_TRY(find_all(&w));
            mabd_affine_contacts_pass_on(sim);
        }
    } else if (find == MABD_FIND_ANEW) {
        mabd_affine_saved_write(c, sim->step.lead, &c->list.last_reference);
        w.from = &c->list.last_reference;
        MABD_TRY(find_all(&w));
        mabd_affine_contacts_pass_on(sim);
    } else {
        mabd_affine_contacts_shift(sim);
        const mabd_list list = c->list.current;
        c->list.current = c->list.before, c->list.before = list;
        MABD_TRY(find_all(&w));
    }
    c->totals.count = c->list.current.count;
    return mabd_affine_contacts_classify(c);
}

void mabd_affine_contacts_shift(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    if (!c) return;
    const mabd_collide_motion motion = motion_of(sim, false);
    for (int32_t i = 0; i < c->list.current.count; i++) {
        mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        const mabd_vec3 displacement = mabd_collide_displacement(&motion, p->a, p->Xa, p->b, p->Xb),
                        arc = arc_of(sim, p);
        const mabd_vec3 more = mabd_v3_sub(displacement, p->displacement),
                        slide = mabd_v3_sub(arc, p->arc);
        p->displacement = displacement, p->arc = arc;
        p->gap += mabd_v3_dot(p->n, more), p->distance += mabd_v3_dot(p->n, more);
        p->slip1 += mabd_v3_dot(p->t1, slide), p->slip2 += mabd_v3_dot(p->t2, slide);
        if (!(p->rolling > 0) && !(p->spinning > 0)) continue;
        p->turn = turn_of(sim, p);
        choose_turns(p);
    }
}

mabd_real mabd_affine_contacts_slide(const mabd_affine_contacts* c) {
    mabd_real most = 0;
    for (int32_t i = 0; c && i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        const mabd_real thin =
            (mabd_real)fmin(c->geometry->thickness[p->key.i], c->geometry->thickness[p->key.j]);
        const mabd_real slide = (p->slip1 * p->slip1 + p->slip2 * p->slip2) / (2 * thin);
        if (slide > most) most = slide;
    }
    return most;
}

// ---- overlap of a state ------------------------------------------------------------------------

mabd_status mabd_affine_contacts_overlap(const mabd_affine_sim* sim, const mabd_real* q,
                                         mabd_real* depth, int32_t* a, int32_t* b) {
    *depth = 0, *a = *b = -1;
    return sim->contacts ? mabd_collide_overlap(sim->contacts->geometry, q, depth, a, b) : MABD_OK;
}
