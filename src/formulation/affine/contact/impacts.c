// SPDX-License-Identifier: Apache-2.0
// Impacts that pass on through rows of bodies.
//
// A contact row with restitution asks for a separating displacement (rows.c). Rows that ask at the
// same time for what each would do alone smear an impact: of five equal balls in a row, hit by a
// sixth, several would leave. So where bodies that are hit touch, or reach, others within the step,
// impacts are taken one after the other, each as if the two bodies were alone,
//
//   repeat   find the pair that meets first, by the time s/-u, s distance at the start, u rate of
//            separation along the normal; of those that touch, the one that approaches fastest
//            give it the impulse p = -(1 + e) u/G with G = n'(M_a^-1 + M_b^-1)n, and all pairs on
//            the two bodies their new rates
//   until    s + h u >= 0 for all: none would overlap at the end of the step
//
// which keeps the momentum, and the energy if e = 1. It gives a rate u_i and a sum of impulses
// P_i >= 0 to each contact. The rows of all contacts that were hit then ask for
//
//   displacement  h u_i + c P_i/h         c: softness x own compliance, what the row gives way
//
// With these rows and no other forces the forces P_i/h are the solution: the implicit step ends
// with just these rates, for any h. What the step adds besides (gravity, joints, friction) acts as
// always. Joints count in the step, not in the order of impacts. Points of one pair of bodies share
// its impulses. Bodies that leave the ground rise by h u_i in the step, which the speed pays for.
//
// A single pair keeps its row, and so do pairs without restitution that are no part of such a row.
// If impacts do not end (a body between two others that close) the rows stay as they are.

#include "formulation/affine/contact/contact_impacts.h"

#include "formulation/affine/data.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/element/rebound.h"
#include "formulation/affine/limits.h"

#include <math.h>

typedef struct impact_work {
    const mabd_affine_sim* sim;
    mabd_affine_contacts* c;
    mabd_real h, least; // [s]; least rate that counts [m/s]
} impact_work;

static mabd_affine_contact* at(const impact_work* w, int32_t i) {
    return mabd_affine_contacts_at(w->c, i);
}

// End of the contacts from `first` on that are of the same two bodies.
static int32_t end_of(const impact_work* w, int32_t first) {
    int32_t end = first + 1;
    while (end < w->c->list.current.count && at(w, end)->a == at(w, first)->a &&
           at(w, end)->b == at(w, first)->b)
        end++;
    return end;
}

// Mean of the rates of separation of a pair.
static mabd_real rate_of(const impact_work* w, int32_t first, int32_t end) {
    mabd_real sum = 0;
    for (int32_t i = first; i < end; i++) sum += at(w, i)->hit.rate;
    return sum / (mabd_real)(end - first);
}

static mabd_real gap_of(const impact_work* w, int32_t first, int32_t end) {
    mabd_real least = at(w, first)->hit.gap;
    for (int32_t i = first; i < end; i++) {
        if (at(w, i)->hit.gap < least) least = at(w, i)->hit.gap;
    }
    return least > 0 ? least : 0;
}

// ---- impulses ----------------------------------------------------------------------------------

// Change the rates of all contacts on a body by an impulse at its point X along n.
static void push_body(const impact_work* w, int32_t body, mabd_vec3 X, mabd_vec3 n, mabd_real p) {
    const mabd_model* m = w->sim->model;
    if (m->body_motion[body] != MABD_MOTION_DYNAMIC) return;
    const mabd_model_class* of = &m->classes[m->body_class[body]];
    const mabd_mat3 R = mabd_m3_load(w->sim->ref + 12 * (size_t)body);
    const mabd_vec3 local = mabd_m3_tmul(R, n), lever = mabd_v3_cross(X, local);
    const mabd_vec3 turn = mabd_v3(p * lever.x / of->principal[0], p * lever.y / of->principal[1],
                                   p * lever.z / of->principal[2]);
    const mabd_vec3 shift = mabd_v3_scale(p / of->material.mass, local);
    for (int32_t i = 0; i < w->c->list.current.count; i++) {
        mabd_affine_contact* q = at(w, i);
        for (int is_b = 0; is_b < 2; is_b++) {
            if ((is_b ? q->b : q->a) != body) continue;
            const mabd_vec3 v = mabd_v3_add(shift, mabd_v3_cross(turn, is_b ? q->Xb : q->Xa));
            const mabd_real along = mabd_v3_dot(mabd_m3_tmul(R, q->n), v);
            q->hit.rate += is_b ? along : -along;
        }
    }
}

// Give a pair the impulse p, shared by its points.
static void push_pair(const impact_work* w, int32_t first, int32_t end, mabd_real p) {
    const mabd_real part = p / (mabd_real)(end - first);
    for (int32_t i = first; i < end; i++) {
        const mabd_affine_contact* q = at(w, i);
        push_body(w, q->b, q->Xb, q->n, part);
        push_body(w, q->a, q->Xa, q->n, -part);
    }
    for (int32_t i = first; i < end; i++) at(w, i)->hit.impulse += part;
}

// An impact of a pair. Rates that a weight makes in a step are no impacts: they do not rebound.
static void hit_pair(const impact_work* w, int32_t first, int32_t end) {
    const mabd_real before = rate_of(w, first, end);
    const mabd_real weight =
        (mabd_real)fabs(mabd_v3_dot(at(w, first)->n, mabd_v3_load(w->sim->model->gravity)));
    const bool rests = -before <= MABD_IMPACT_RESTS_FALLS * w->h * weight;
    const mabd_real e = rests ? 0 : at(w, first)->restitution;
    push_pair(w, first, end, 1);
    const mabd_real G = rate_of(w, first, end) - before;
    push_pair(w, first, end, G > 0 ? -(1 + e) * before / G - 1 : -1);
}

// ---- the order of impacts ----------------------------------------------------------------------

// Find the pair that meets first, of those that would overlap at the end of the step. -1 = none.
static int32_t next_pair(const impact_work* w) {
    int32_t best = -1;
    mabd_real fastest = 0, when = w->h;
    for (int32_t i = 0, end; i < w->c->list.current.count; i = end) {
        end = end_of(w, i);
        const mabd_real rate = rate_of(w, i, end);
        if (!(rate < -w->least)) continue;
        const mabd_real takes = gap_of(w, i, end) / -rate;
        if (takes > when || (takes == when && -rate <= fastest)) continue;
        best = i, when = takes, fastest = -rate;
    }
    return best;
}

// Take impacts until none is left. Returns false if they do not end.
static bool pass_on(const impact_work* w) {
    const int64_t most = MABD_IMPACT_MAX_HITS * (int64_t)w->c->list.current.count;
    for (int64_t hits = 0; hits < most; hits++) {
        const int32_t first = next_pair(w);
        if (first < 0) return true;
        hit_pair(w, first, end_of(w, first));
    }
    return false;
}

// ---- which rows change -------------------------------------------------------------------------

static bool share_body(const impact_work* w, const mabd_affine_contact* p,
                       const mabd_affine_contact* q) {
    const uint8_t* motion = w->sim->model->body_motion;
    const bool at_b = p->b == q->b || p->b == q->a;
    const bool at_a = (p->a == q->a || p->a == q->b) && motion[p->a] == MABD_MOTION_DYNAMIC;
    return at_a || at_b;
}

// Mark the contacts of rows of bodies in which an impact rebounds.
static bool mark_rows(const impact_work* w) {
    const int32_t count = w->c->list.current.count;
    bool any = false;
    for (bool more = true; more;) {
        more = false;
        for (int32_t i = 0; i < count; i++) {
            mabd_affine_contact* p = at(w, i);
            for (int32_t j = 0; j < count && !p->hit.passes && p->hit.impulse > 0; j++) {
                const mabd_affine_contact* q = at(w, j);
                const bool other = q->a != p->a || q->b != p->b;
                if (!other || !(q->hit.impulse > 0) || !share_body(w, p, q)) continue;
                p->hit.passes = q->hit.passes || p->restitution > 0 || q->restitution > 0;
                more |= p->hit.passes;
            }
            any |= p->hit.passes;
        }
    }
    return any;
}

// Compliance of a contact as of rigid bodies for an impulse along its normal [1/kg].
static mabd_real rigid_compliance(const impact_work* w, const mabd_affine_contact* p) {
    const mabd_model* m = w->sim->model;
    mabd_real sum = 0;
    for (int is_b = 0; is_b < 2; is_b++) {
        const int32_t body = is_b ? p->b : p->a;
        if (m->body_motion[body] != MABD_MOTION_DYNAMIC) continue;
        const mabd_model_class* of = &m->classes[m->body_class[body]];
        const mabd_mat3 R = mabd_m3_load(w->sim->ref + 12 * (size_t)body);
        const mabd_vec3 lever = mabd_v3_cross(is_b ? p->Xb : p->Xa, mabd_m3_tmul(R, p->n));
        sum += 1 / of->material.mass + lever.x * lever.x / of->principal[0] +
               lever.y * lever.y / of->principal[1] + lever.z * lever.z / of->principal[2];
    }
    return sum;
}

// Energy that the forces of the impacts leave in strained bodies, the part of own that is not of
// rigid bodies; the speeds of those that leave pay for it, twice since the step changes it, too.
static mabd_real strain_share(const impact_work* w) {
    mabd_real energy = 0;
    int32_t leaving = 0;
    for (int32_t i = 0; i < w->c->list.current.count; i++) {
        const mabd_affine_contact* p = at(w, i);
        if (!p->hit.passes) continue;
        const mabd_real strain = p->own_n - w->h * w->h * rigid_compliance(w, p);
        const mabd_real force = p->hit.impulse / w->h;
        if (strain > 0) energy += strain * force * force;
        leaving += p->hit.rate > w->least;
    }
    return leaving > 0 ? energy / (mabd_real)leaving : 0;
}

static void ask(const impact_work* w, mabd_affine_contact* p, mabd_real share) {
    const mabd_real g =
        p->moving ? 0
                  : (mabd_real)fmax(0, -mabd_v3_dot(p->n, mabd_v3_load(w->sim->model->gravity)));
    mabd_real rate = p->hit.rate > w->least ? p->hit.rate : 0;
    if (rate > 0) rate -= share * rigid_compliance(w, p) / rate;
    if (!(rate > 0)) rate = 0;
    const mabd_real back = mabd_affine_rebound(1, rate, 0, g, w->h);
    const mabd_real soft =
        mabd_affine_contact_softness(w->sim->model) * p->own_n * p->hit.impulse / w->h;
    p->gap = mabd_v3_dot(p->n, p->displacement) - (w->h * back + soft);
}

bool mabd_affine_contacts_pass_on(mabd_affine_sim* sim) {
    impact_work w = {.sim = sim, .c = sim->contacts, .h = sim->step.lead};
    mabd_real fastest = 0;
    bool rebounds = false;
    for (int32_t i = 0; i < w.c->list.current.count; i++) {
        mabd_affine_contact* p = at(&w, i);
        const mabd_real start = p->distance - mabd_v3_dot(p->n, p->displacement);
        p->hit.gap = start, p->hit.rate = -p->approach, p->hit.impulse = 0, p->hit.passes = false;
        const bool hits = p->approach > 0 && start < w.h * p->approach;
        rebounds |= hits && p->restitution > 0;
        if (hits && p->approach > fastest) fastest = p->approach;
    }
    w.least = MABD_IMPACT_LEAST_PART * fastest;
    if (!rebounds || !pass_on(&w) || !mark_rows(&w)) return false;
    const mabd_real share = strain_share(&w);
    for (int32_t i = 0; i < w.c->list.current.count; i++) {
        if (at(&w, i)->hit.passes) ask(&w, at(&w, i), share);
    }
    return true;
}
