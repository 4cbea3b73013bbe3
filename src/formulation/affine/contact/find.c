// SPDX-License-Identifier: Apache-2.0
// Contacts at the reference: boxes, pairs, points, rows. Once a solve the pairs whose boxes meet are found, with boxes
// around start and prediction; at every new reference their points are.

#include "formulation/affine/contact/match.h"
#include "formulation/affine/data.h"

#include "contact/bounds.h"
#include "math/polar.h"

#include <string.h>

// Rods that are closer to parallel than this cosine do not roll over each other, but touch along their length.
#define MOST_ALONG ((mabd_real)0.5)
// Fastest that overlapping bodies are moved apart [m/s]: 4 mm take a tenth of a second and what is left of the speed is
// a hop of 0.1 mm.
#define PUSH_SPEED ((mabd_real)0.05)
// Contacts exist from this many times |g| h^2 on, unless the scene gives a margin.
#define MARGIN_FALLS 4
#define LEAST_MARGIN ((mabd_real)1e-3) // [m] without gravity
// A body is struck if its own share of the blow takes more than this part of |g| h^2 in a step.
#define LEAST_BLOW ((mabd_real)0.05)
// Part of the margin from which a new contact is taken to hold, until it is known better.
#define CLOSE ((mabd_real)0.05)
// Points of one pair closer than this part of the reach of a body are the same.
#define NEAR ((mabd_real)0.1)
// A body carries another if its part of what their contact gives way is at most this.
#define CARRIER ((mabd_real)0.25)

// ---- poses -----------------------------------------------------------------------------------------

static mabd_pose pose_of(const mabd_model_collider* collider, mabd_mat3 R, mabd_vec3 t) {
    mabd_pose pose;
    pose.rotation = mabd_m3_product(R, collider->pose.rotation);
    pose.position = mabd_v3_add(mabd_m3_mul(R, collider->pose.position), t);
    return pose;
}

// Of a geom at affine coordinates whose A is a rotation.
static mabd_pose rigid_pose(const mabd_affine_contacts* c, int32_t geom, const mabd_real* q) {
    q += 12 * (size_t)c->geoms[geom].body;
    return pose_of(c->collider[geom], mabd_m3_load(q), mabd_v3_load(q + 9));
}

// The same at any coordinates.
static mabd_pose strained_pose(const mabd_affine_contacts* c, int32_t geom, const mabd_real* q) {
    mabd_mat3 R = mabd_m3_identity();
    q += 12 * (size_t)c->geoms[geom].body;
    mabd_polar(mabd_m3_load(q), &R);
    return pose_of(c->collider[geom], R, mabd_v3_load(q + 9));
}

// Most that a point of a geom moves from the start of the step to the reference [m].
static mabd_real most_way(const mabd_affine_sim* sim, int32_t geom) {
    const mabd_affine_contacts* c = sim->contacts;
    const size_t at = 12 * (size_t)c->geoms[geom].body;
    const mabd_real *q = sim->q + at, *ref = sim->ref + at;
    mabd_real turn = 0, shift = 0;
    for (int k = 0; k < 9; k++) turn += (ref[k] - q[k]) * (ref[k] - q[k]);
    for (int k = 9; k < 12; k++) shift += (ref[k] - q[k]) * (ref[k] - q[k]);
    return (mabd_real)sqrt(shift) + c->reach[geom] * (mabd_real)sqrt(turn);
}

// ---- pairs -----------------------------------------------------------------------------------------

static void join_boxes(mabd_broad_box* box, const mabd_broad_box* other) {
    for (int k = 0; k < 3; k++) {
        if (other->lo[k] < box->lo[k]) box->lo[k] = other->lo[k];
        if (other->hi[k] > box->hi[k]) box->hi[k] = other->hi[k];
    }
}

// Box of a geom at a pose, or its half space; planes count up as geoms do.
static void fill_box(mabd_affine_contacts* c, int32_t geom, const mabd_pose* pose, mabd_real margin,
                     int32_t* plane) {
    const mabd_collider* shape = &c->collider[geom]->shape;
    c->boxes[geom] = mabd_collider_box(shape, pose, margin / 2);
    if (shape->kind != MABD_COLLIDER_PLANE) return;
    mabd_broad_plane* half_space = &c->planes[(*plane)++];
    mabd_v3_store(pose->rotation.c3, half_space->normal);
    half_space->offset = mabd_v3_dot(pose->rotation.c3, pose->position) + margin;
}

static void fill_boxes(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    int32_t plane = 0;
    for (int32_t i = 0; i < c->geom_count; i++) {
        const mabd_pose pose = rigid_pose(c, i, sim->ref);
        fill_box(c, i, &pose, c->margin, &plane);
        if (!(most_way(sim, i) > c->thickness[i] / 2)) continue;
        const mabd_pose start = strained_pose(c, i, sim->q);
        const mabd_broad_box box = mabd_collider_box(&c->collider[i]->shape, &start, c->margin / 2);
        join_boxes(&c->boxes[i], &box);
    }
}

// Pairs of geoms of one copy, counted from its first.
static mabd_status find_copy(mabd_affine_contacts* c, int32_t copy, mabd_broad_result* result) {
    const int32_t geom = c->geom_first[copy], plane = c->plane_first[copy];
    const mabd_broad_input input = {c->geom_first[copy + 1] - geom,
                                    c->plane_first[copy + 1] - plane, c->geoms + geom,
                                    c->boxes + geom, c->planes + plane};
    mabd_status status = mabd_broad_update(c->broad, &input, result, NULL);
    if (status == MABD_ERR_MEMORY) {
        MABD_TRY(mabd_broad_reserve(c->broad, result->count + result->count / 2));
        status = mabd_broad_update(c->broad, &input, result, NULL);
    }
    if (status != MABD_ERR_ARG) return status;
    c->bad_body = c->geoms[geom + result->bad_geom].body; // a box that is no number
    return MABD_ERR_DIVERGED;
}

// Copy by copy: what stands in the same place is no pair, and the broad phase never sees it.
static mabd_status find_pairs(mabd_affine_contacts* c) {
    mabd_broad_result result;
    c->pair_count = c->found.count = 0;
    for (int32_t copy = 0; copy < c->copy_count; copy++) {
        const int32_t first = c->geom_first[copy];
        MABD_TRY(find_copy(c, copy, &result));
        if (c->copy_count == 1) {
            c->pairs = result.pairs, c->pair_count = result.count;
            return MABD_OK;
        }
        MABD_TRY(mabd_list_reserve(&c->allocator, &c->found, sizeof *c->pairs, result.count));
        mabd_broad_pair* to = (mabd_broad_pair*)c->found.data + c->found.count;
        for (int64_t k = 0; k < result.count; k++) {
            to[k].i = first + result.pairs[k].i, to[k].j = first + result.pairs[k].j;
        }
        c->found.count += (int32_t)result.count;
    }
    c->pairs = c->found.data, c->pair_count = c->found.count;
    return MABD_OK;
}

// ---- points ----------------------------------------------------------------------------------------

// A pair under way: geoms g of a and h of b, b moves.
typedef struct pair_view {
    int32_t g, h, a, b;
    mabd_affine_contact_key key;
    mabd_real friction, restitution;
    bool from_start; // points were found where the step starts
} pair_view;

static mabd_real mass_of(const mabd_affine_sim* sim, int32_t body) {
    return sim->model->classes[sim->model->body_class[body]].material.mass;
}

static pair_view view_pair(const mabd_affine_sim* sim, const mabd_broad_pair* pair) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_broad_geom *i = &c->geoms[pair->i], *j = &c->geoms[pair->j];
    // b moves; of two that do it is the lighter one
    const bool turned = !j->moving || (i->moving && mass_of(sim, i->body) < mass_of(sim, j->body));
    pair_view view = {.g = turned ? pair->j : pair->i, .h = turned ? pair->i : pair->j};
    view.a = c->geoms[view.g].body, view.b = c->geoms[view.h].body;
    view.key.i = pair->i, view.key.j = pair->j;
    return view;
}

// Points where the step starts, if the pair comes closer in it by more than half its thickness; 0 else.
static int32_t look_at_start(const mabd_affine_sim* sim, const pair_view* view,
                             mabd_contact_point* out) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_real thin = (mabd_real)fmin(c->thickness[view->g], c->thickness[view->h]) / 2;
    const mabd_real way = most_way(sim, view->g) + most_way(sim, view->h);
    if (!(way > thin)) return 0;
    const mabd_pose pa = strained_pose(c, view->g, sim->q), pb = strained_pose(c, view->h, sim->q);
    const int32_t count = mabd_narrow(&c->collider[view->g]->shape, &pa,
                                      &c->collider[view->h]->shape, &pb, c->margin + way, out);
    mabd_real closer = 0;
    for (int32_t k = 0; k < count; k++) {
        mabd_mat3 A = mabd_m3_load(sim->q + 12 * (size_t)view->a);
        mabd_mat3 B = mabd_m3_load(sim->q + 12 * (size_t)view->b);
        const mabd_vec3 ta = mabd_v3_load(sim->q + 12 * (size_t)view->a + 9),
                        tb = mabd_v3_load(sim->q + 12 * (size_t)view->b + 9);
        const mabd_vec3 Xa = mabd_m3_tmul(A, mabd_v3_sub(out[k].on_a, ta)),
                        Xb = mabd_m3_tmul(B, mabd_v3_sub(out[k].on_b, tb));
        const mabd_vec3 between = mabd_v3_sub(mabd_affine_point_of(sim->ref, view->b, Xb),
                                              mabd_affine_point_of(sim->ref, view->a, Xa));
        const mabd_real way_k = out[k].distance - mabd_v3_dot(out[k].normal, between);
        if (way_k > closer) closer = way_k;
    }
    return closer > thin ? count : 0;
}

static int32_t look_at_reference(const mabd_affine_sim* sim, const pair_view* view,
                                 mabd_contact_point* out) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_pose pa = rigid_pose(c, view->g, sim->ref), pb = rigid_pose(c, view->h, sim->ref);
    mabd_real margin = c->margin; // what rebounds is looked at as far as it may have come
    if (view->restitution > 0) margin += most_way(sim, view->g) + most_way(sim, view->h);
    return mabd_narrow(&c->collider[view->g]->shape, &pa, &c->collider[view->h]->shape, &pb, margin,
                       out);
}

// The first reference is a prediction, where fast bodies may have passed each other; later ones are solutions, whose points are
// better known there, unless they are on the other side.
static int32_t find_points(const mabd_affine_sim* sim, bool predicted, pair_view* view,
                           mabd_contact_point* out) {
    mabd_contact_point start[MABD_CONTACT_MAX_POINTS];
    const int32_t count = look_at_start(sim, view, start);
    if (count == 0 || !predicted) {
        const int32_t there = look_at_reference(sim, view, out);
        if (count == 0) return there;
        if (there > 0 && mabd_v3_dot(start[0].normal, out[0].normal) > 0) return there;
    }
    memcpy(out, start, (size_t)count * sizeof *out);
    view->from_start = true;
    return count;
}

// ---- rows ------------------------------------------------------------------------------------------

// J H^-1 J' of one body for a force along a direction at X, without geometric stiffness.
static mabd_real own_compliance(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X,
                                mabd_vec3 direction) {
    if (sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) return 0;
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    const mabd_vec12 J = mabd_vec12_at(X, mabd_m3_tmul(R, direction));
    return mabd_vec12_dot(J, mabd_affine_block_apply(mabd_affine_block_of(sim, body), J));
}

// Way of the point in the step so far: b over a, from the start to the reference.
static mabd_vec3 way_of(const mabd_affine_sim* sim, const mabd_affine_contact* p) {
    const mabd_vec3 b = mabd_v3_sub(mabd_affine_point_of(sim->ref, p->b, p->Xb),
                                    mabd_affine_point_of(sim->q, p->b, p->Xb));
    const mabd_vec3 a = mabd_v3_sub(mabd_affine_point_of(sim->ref, p->a, p->Xa),
                                    mabd_affine_point_of(sim->q, p->a, p->Xa));
    return mabd_v3_sub(b, a);
}

// Velocity of b over a where the step starts [m/s]; scripted bodies have that of their way.
static mabd_vec3 start_velocity(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X) {
    if (sim->model->body_motion[body] == MABD_MOTION_DYNAMIC)
        return mabd_affine_point_of(sim->v, body, X);
    const mabd_vec3 way =
        mabd_v3_sub(mabd_affine_point_of(sim->ref, body, X), mabd_affine_point_of(sim->q, body, X));
    return mabd_v3_scale(1 / sim->step.lead, way);
}

// Speed at which b leaves a after a blow with speed v from the distance d, both along the normal, g: what gravity
// pulls b back with. So that the rebound has e^2 of the energy where the step ends:
//   w^2/2 + g (d + h w) = e^2 (v^2/2 + g d)
static mabd_real rebound(mabd_real e, mabd_real v, mabd_real d, mabd_real g, mabd_real h) {
    if (d < 0) d = 0;
    const mabd_real square = e * e * (v * v + 2 * g * d) - 2 * g * d + g * h * g * h;
    const mabd_real w = square > 0 ? (mabd_real)sqrt(square) - g * h : 0;
    return w > g * h ? w : 0; // a hop that ends in the next step is none
}

// gap, slip; sets *blow to the speed of approach if the point meets in this step.
static void fill_rows(const mabd_affine_sim* sim, const pair_view* view, mabd_affine_contact* p,
                      mabd_real* blow) {
    const mabd_real h = sim->step.lead;
    const mabd_vec3 way = p->way = way_of(sim, p);
    const mabd_real u = mabd_v3_dot(p->n, way);
    p->slip1 = mabd_v3_dot(p->t1, way), p->slip2 = mabd_v3_dot(p->t2, way);
    const mabd_real slip = (mabd_real)sqrt(p->slip1 * p->slip1 + p->slip2 * p->slip2);
    const mabd_real start = p->distance - u;
    const mabd_real limited = u - (PUSH_SPEED * h + slip / 2);
    p->gap = p->distance > limited ? p->distance : limited;
    const mabd_vec3 v =
        mabd_v3_sub(start_velocity(sim, p->b, p->Xb), start_velocity(sim, p->a, p->Xa));
    const mabd_real approach = -mabd_v3_dot(p->n, v);
    *blow = approach > 0 && start < h * approach ? approach : 0;
    if (!(view->restitution > 0) || *blow == 0) return;
    const mabd_real g =
        p->moving ? 0 : (mabd_real)fmax(0, -mabd_v3_dot(p->n, mabd_v3_load(sim->model->gravity)));
    const mabd_real back = rebound(view->restitution, approach, start, g, h);
    // and what the row gives way under the blow, of a body by itself
    const mabd_real soft = mabd_affine_contact_softness(sim->model) * (approach + back);
    const mabd_real wanted = u - h * (back + soft);
    if (back > 0 && wanted < p->gap) p->gap = wanted;
}

// Rods that lie across each other: b rolls over a.
static void set_roll(const mabd_affine_sim* sim, const pair_view* view, mabd_affine_contact* p) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_pose pa = rigid_pose(c, view->g, sim->ref), pb = rigid_pose(c, view->h, sim->ref);
    const mabd_collider *a = &c->collider[view->g]->shape, *b = &c->collider[view->h]->shape;
    const mabd_vec3 n = mabd_v3_scale(-1, p->n);
    mabd_vec3 axis_a, axis_b;
    if (!mabd_collider_is_rod(a, mabd_m3_tmul(pa.rotation, p->n), &axis_a)) return;
    if (!mabd_collider_is_rod(b, mabd_m3_tmul(pb.rotation, n), &axis_b)) return;
    axis_a = mabd_m3_mul(pa.rotation, axis_a), axis_b = mabd_m3_mul(pb.rotation, axis_b);
    const mabd_real along = mabd_v3_dot(axis_a, axis_b);
    if (fabs(along) > MOST_ALONG) return;
    mabd_unit(mabd_v3_cross(p->n, axis_b), axis_a, &p->rock);
    p->roll = a->size[0] + b->size[0];
}

static mabd_affine_contact make_contact(const mabd_affine_sim* sim, const pair_view* view,
                                        const mabd_contact_point* point, mabd_real* blow) {
    const mabd_real* at = view->from_start ? sim->q : sim->ref;
    const mabd_real *qa = at + 12 * (size_t)view->a, *qb = at + 12 * (size_t)view->b;
    mabd_affine_contact p;
    memset(&p, 0, sizeof p);
    p.key = view->key;
    p.a = view->a, p.b = view->b;
    p.moving = sim->model->body_motion[view->a] == MABD_MOTION_DYNAMIC;
    p.friction = view->friction;
    p.Xa = mabd_m3_tmul(mabd_m3_load(qa), mabd_v3_sub(point->on_a, mabd_v3_load(qa + 9)));
    p.Xb = mabd_m3_tmul(mabd_m3_load(qb), mabd_v3_sub(point->on_b, mabd_v3_load(qb + 9)));
    p.n = point->normal;
    p.t1 = mabd_across(p.n), p.t2 = mabd_v3_cross(p.n, p.t1);
    p.distance = point->distance;
    if (view->from_start) p.distance += mabd_v3_dot(p.n, way_of(sim, &p));
    fill_rows(sim, view, &p, blow);
    const mabd_real own_a = own_compliance(sim, p.a, p.Xa, p.n);
    p.own_n = own_a + own_compliance(sim, p.b, p.Xb, p.n);
    p.light = own_a <= CARRIER * p.own_n;
    p.own_t = own_compliance(sim, p.a, p.Xa, p.t1) + own_compliance(sim, p.b, p.Xb, p.t1) +
              own_compliance(sim, p.a, p.Xa, p.t2) + own_compliance(sim, p.b, p.Xb, p.t2);
    p.own_t /= 2;
    set_roll(sim, view, &p);
    return p;
}

// ---- blows -----------------------------------------------------------------------------------------

// The part of a blow that body takes is enough to leave BDF2.
static bool is_struck(const mabd_affine_sim* sim, const mabd_affine_contact* p, int32_t body,
                      mabd_vec3 X, mabd_real blow) {
    if (sim->model->body_motion[body] != MABD_MOTION_DYNAMIC) return false;
    const mabd_real share = own_compliance(sim, body, X, p->n) / p->own_n, h = sim->step.lead;
    const mabd_real fall = mabd_v3_norm(mabd_v3_load(sim->model->gravity)) * h * h;
    return share * blow * h > LEAST_BLOW * fall;
}

// The body and those jointed to it go on by Euler.
static void strike(mabd_affine_sim* sim, int32_t body) {
    const mabd_plan* plan = sim->model->plan;
    mabd_affine_contacts* c = sim->contacts;
    if (c->euler[body] == MABD_EULER_STRUCK || c->component[body] < 0) return;
    const mabd_plan_component* component = &plan->components[c->component[body]];
    for (int32_t k = 0; k < component->body_count; k++) {
        const int32_t i = plan->component_bodies[component->body_first + k];
        const bool predicted = c->euler[i] != MABD_EULER_NOT;
        c->euler[i] = MABD_EULER_STRUCK;
        if (!predicted) mabd_affine_predict_body(sim, i);
    }
}

// ---- all together ----------------------------------------------------------------------------------

// One walk over the pairs, and what is known of them.
typedef struct find_work {
    mabd_affine_sim* sim;
    mabd_affine_contacts* c;
    mabd_affine_find find;
    const mabd_list* from; // mabd_affine_saved_contact
    int32_t place;         // in `from`
    int32_t last;          // in c->before
    bool struck;
    bool predicted; // the reference is no solution yet
} find_work;

static void start_contact(find_work* w, mabd_affine_contact* p, bool known, mabd_real blow) {
    mabd_affine_sim* sim = w->sim;
    const bool held = p->pressed;
    if (!held) {
        p->pressed = p->gap < (known ? 0 : CLOSE * w->c->margin);
        p->grip = MABD_GRIP_NONE;
        p->far = 0, p->along = p->t1;
        p->fresh = true;
    }
    if (w->find != MABD_FIND_FIRST || held || blow == 0) return;
    if (is_struck(sim, p, p->b, p->Xb, blow)) w->struck = true, strike(sim, p->b);
    if (is_struck(sim, p, p->a, p->Xa, blow)) w->struck = true, strike(sim, p->a);
}

static mabd_status add_points(find_work* w, const pair_view* view, int32_t count,
                              const mabd_contact_point* points) {
    mabd_affine_contacts* c = w->c;
    const int32_t end = mabd_affine_match_find(w->from, &view->key, &w->place);
    const mabd_affine_saved_contact* known =
        (const mabd_affine_saved_contact*)w->from->data + w->place;
    uint32_t taken = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->list, sizeof(mabd_affine_contact), count));
    for (int32_t k = 0; k < count; k++) {
        mabd_affine_contact* p = mabd_affine_contacts_at(c, c->list.count++);
        mabd_real blow;
        *p = make_contact(w->sim, view, &points[k], &blow);
        const int32_t match = mabd_affine_match_nearest(known, end - w->place, taken, p->Xb);
        if (match >= 0) {
            const mabd_affine_saved_contact* old = &known[match];
            taken |= 1u << match;
            mabd_affine_match_take(w->sim, old, w->from == &c->kept, p);
        }
        start_contact(w, p, match >= 0, blow);
    }
    return MABD_OK;
}

// Contacts of the iteration before stay where they are; of the new points those that are next to none of them are added.
static mabd_status add_more(find_work* w, const pair_view* view, int32_t count,
                            const mabd_contact_point* points) {
    mabd_affine_contacts* c = w->c;
    const mabd_affine_contact* before = c->before.data;
    const int32_t first = c->list.count;
    while (w->last < c->before.count &&
           mabd_affine_contact_compare(&before[w->last].key, &view->key) < 0)
        w->last++;
    for (; w->last < c->before.count &&
           mabd_affine_contact_compare(&before[w->last].key, &view->key) == 0;
         w->last++) {
        MABD_TRY(mabd_list_reserve(&c->allocator, &c->list, sizeof(mabd_affine_contact), 1));
        *mabd_affine_contacts_at(c, c->list.count++) = before[w->last];
    }
    const mabd_real near = NEAR * c->reach[view->h];
    for (int32_t k = 0; k < count; k++) {
        mabd_real blow;
        mabd_affine_contact p = make_contact(w->sim, view, &points[k], &blow);
        bool known = false;
        for (int32_t i = first; i < c->list.count; i++) {
            const mabd_vec3 d = mabd_v3_sub(mabd_affine_contacts_at(c, i)->Xb, p.Xb);
            known |= mabd_v3_norm(d) < near;
        }
        if (known) continue;
        MABD_TRY(mabd_list_reserve(&c->allocator, &c->list, sizeof(mabd_affine_contact), 1));
        start_contact(w, &p, false, blow);
        *mabd_affine_contacts_at(c, c->list.count++) = p;
    }
    return MABD_OK;
}

static mabd_status find_all(find_work* w) {
    mabd_affine_contacts* c = w->c;
    c->list.count = w->place = w->last = 0;
    for (int64_t i = 0; i < c->pair_count; i++) {
        mabd_contact_point points[MABD_CONTACT_MAX_POINTS];
        pair_view view = view_pair(w->sim, &c->pairs[i]);
        mabd_model_surface(w->sim->model, view.a, c->collider[view.g], view.b, c->collider[view.h],
                           &view.friction, &view.restitution);
        const int32_t count = find_points(w->sim, w->predicted, &view, points);
        if (w->find == MABD_FIND_MORE) {
            MABD_TRY(add_more(w, &view, count, points));
        } else if (count > 0) {
            MABD_TRY(add_points(w, &view, count, points));
        }
    }
    return MABD_OK;
}

static void set_margin(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    const mabd_real h = sim->step.lead;
    const mabd_real fall = mabd_v3_norm(mabd_v3_load(sim->model->gravity)) * h * h;
    c->margin = sim->model->contact.margin;
    if (c->margin > 0) return;
    c->margin = MARGIN_FALLS * fall;
    if (c->margin < LEAST_MARGIN) c->margin = LEAST_MARGIN;
}

mabd_status mabd_affine_contacts_find(mabd_affine_sim* sim, mabd_affine_find find) {
    mabd_affine_contacts* c = sim->contacts;
    if (!c) return MABD_OK;
    find_work w = {.sim = sim, .c = c, .find = find, .from = &c->kept};
    c->first = false;
    if (find == MABD_FIND_FIRST) {
        w.predicted = c->first = true;
        c->totals.products = 0, c->totals.residual = 0;
        for (int32_t i = 0; i < c->component_count; i++)
            c->line[i].updates = 0, c->line[i].relax = 1;
        set_margin(sim);
        fill_boxes(sim);
        MABD_TRY(find_pairs(c));
        MABD_TRY(find_all(&w));
        w.find = MABD_FIND_ANEW;
        if (w.struck) MABD_TRY(find_all(&w)); // what is struck has another reference now
    } else if (find == MABD_FIND_ANEW) {
        mabd_affine_match_write(c, &c->former);
        w.from = &c->former;
        MABD_TRY(find_all(&w));
    } else {
        mabd_affine_contacts_shift(sim);
        const mabd_list list = c->list;
        c->list = c->before, c->before = list;
        MABD_TRY(find_all(&w));
    }
    c->totals.count = c->list.count;
    return mabd_affine_contacts_classify(c);
}

void mabd_affine_contacts_shift(mabd_affine_sim* sim) {
    mabd_affine_contacts* c = sim->contacts;
    for (int32_t i = 0; c && i < c->list.count; i++) {
        mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        const mabd_vec3 way = way_of(sim, p), more = mabd_v3_sub(way, p->way);
        p->way = way;
        p->gap += mabd_v3_dot(p->n, more), p->distance += mabd_v3_dot(p->n, more);
        p->slip1 += mabd_v3_dot(p->t1, more), p->slip2 += mabd_v3_dot(p->t2, more);
    }
}

mabd_real mabd_affine_contacts_slide(const mabd_affine_contacts* c) {
    mabd_real most = 0;
    for (int32_t i = 0; c && i < c->list.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        const mabd_real thin = (mabd_real)fmin(c->thickness[p->key.i], c->thickness[p->key.j]);
        const mabd_real slide = (p->slip1 * p->slip1 + p->slip2 * p->slip2) / (2 * thin);
        if (slide > most) most = slide;
    }
    return most;
}

// ---- overlap of a state ----------------------------------------------------------------------------

mabd_status mabd_affine_contacts_overlap(const mabd_affine_sim* sim, const mabd_real* q,
                                         mabd_real* depth, int32_t* a, int32_t* b) {
    mabd_affine_contacts* c = sim->contacts;
    *depth = 0, *a = *b = -1;
    if (!c) return MABD_OK;
    int32_t plane = 0;
    for (int32_t i = 0; i < c->geom_count; i++) {
        const mabd_pose pose = strained_pose(c, i, q);
        fill_box(c, i, &pose, 0, &plane);
    }
    MABD_TRY(find_pairs(c));
    for (int64_t i = 0; i < c->pair_count; i++) {
        const int32_t g = c->pairs[i].i, h = c->pairs[i].j;
        mabd_contact_point points[MABD_CONTACT_MAX_POINTS];
        const mabd_pose pa = strained_pose(c, g, q), pb = strained_pose(c, h, q);
        const int32_t count =
            mabd_narrow(&c->collider[g]->shape, &pa, &c->collider[h]->shape, &pb, 0, points);
        for (int32_t k = 0; k < count; k++) {
            if (!(-points[k].distance > *depth)) continue;
            *depth = -points[k].distance;
            *a = c->geoms[g].body, *b = c->geoms[h].body;
        }
    }
    c->pair_count = 0; // the next step finds its own
    return MABD_OK;
}
