// SPDX-License-Identifier: Apache-2.0
// The velocities nearest to given ones that joints and contacts allow:
//
//   v = argmin (v - u)' M (v - u)/2,   J v = J u,   N v >= 0
//
// With P the projection onto the velocities with J w = 0 in the metric M, the conditions are
//
//   v = u + P M^-1 N' k,   0 <= k _|_ N v >= 0,   N v = W k + N u,   W = N P M^-1 N'
//
// k are impulses: a contact pushes while it presses, and one that opens does not pull. W is
// positive semidefinite; a product costs one solve with the rows of joints. Projected conjugate
// gradients (dual/cone_cg.h) without friction find k. Faces with more points than the bodies have
// freedoms make k not unique, v is.

#include "rigid/pressed.h"

#include "dual/cone_cg.h"

#include <string.h>

typedef struct press_work {
    const mabd_rigid_press* p;
    mabd_rigid_twist* w;
} press_work;

static const mabd_model_class* class_of(const mabd_model* m, int32_t body) {
    return &m->classes[m->body_class[body]];
}

static mabd_real gap_rate(const mabd_rigid_pressed* c, const mabd_rigid_twist* u) {
    mabd_real rate = 0;
    if (c->a >= 0) rate += mabd_rigid_power(c->N.a, u[c->a]);
    if (c->b >= 0) rate += mabd_rigid_power(c->N.b, u[c->b]);
    return rate;
}

static void push(const mabd_model* m, int32_t body, mabd_rigid_wrench N, mabd_real k,
                 mabd_rigid_twist* w) {
    if (body < 0) return;
    w[body] = mabd_rigid_twist_axpy(k, mabd_rigid_accelerate(class_of(m, body), N), w[body]);
}

// w = P M^-1 N' k, k at every third entry of x.
static void respond(const press_work* s, const mabd_real* x) {
    const mabd_rigid_press* p = s->p;
    memset(s->w, 0, (size_t)p->m->body_count * sizeof *s->w);
    for (int32_t i = 0; i < p->count; i++) {
        const mabd_rigid_pressed* c = &p->contacts[i];
        push(p->m, c->a, c->N.a, x[3 * i], s->w);
        push(p->m, c->b, c->N.b, x[3 * i], s->w);
    }
    if (p->allow) p->allow(p->context, s->w);
}

// y = W x on the normals; tangents have no rows.
static void product(void* self, const mabd_real* x, mabd_real* y) {
    const press_work* s = self;
    respond(s, x);
    memset(y, 0, 3 * (size_t)s->p->count * sizeof *y);
    for (int32_t i = 0; i < s->p->count; i++) y[3 * i] = gap_rate(&s->p->contacts[i], s->w);
}

static mabd_real own_compliance(const mabd_model* m, const mabd_rigid_pressed* c) {
    mabd_real sum = 0;
    if (c->a >= 0)
        sum += mabd_rigid_power(c->N.a, mabd_rigid_accelerate(class_of(m, c->a), c->N.a));
    if (c->b >= 0)
        sum += mabd_rigid_power(c->N.b, mabd_rigid_accelerate(class_of(m, c->b), c->N.b));
    return sum;
}

// Parts of the workspace: forces, rows and rest (3 each), own compliances (2), friction and bounds
// (1 each).
#define PARTS 13

size_t mabd_rigid_press_work(int32_t count) {
    return PARTS * (size_t)count + mabd_cone_cg_work(count);
}

mabd_rigid_press_report mabd_rigid_press_velocities(const mabd_rigid_press* p, mabd_rigid_twist* u,
                                                    mabd_real* impulses, mabd_rigid_twist* w,
                                                    mabd_real* work) {
    mabd_rigid_press_report out = {0, 0, true};
    const size_t n = (size_t)p->count;
    press_work s = {p, w};
    mabd_real *force = work, *rows = force + 3 * n, *rest = rows + 3 * n, *own = rest + 3 * n;
    mabd_real *friction = own + 2 * n, *bound = friction + n;
    if (n == 0) return out;
    memset(work, 0, PARTS * n * sizeof *work);
    for (int32_t i = 0; i < p->count; i++) {
        const mabd_rigid_pressed* c = &p->contacts[i];
        force[3 * i] = impulses[i] > 0 ? impulses[i] : 0;
        rest[3 * i] = gap_rate(c, u) + c->rate;
        own[2 * i] = own[2 * i + 1] = own_compliance(p->m, c);
    }
    const mabd_cone_problem problem = {.count = p->count,
                                       .rest = rest,
                                       .own = own,
                                       .friction = friction,
                                       .product = product,
                                       .self = &s,
                                       .tolerance = p->tolerance,
                                       .bound = bound,
                                       .updates = 0,
                                       .max_products = p->max_products};
    const mabd_cone_report report = mabd_cone_cg(&problem, force, rows, work + PARTS * n);
    respond(&s, force);
    for (int32_t i = 0; i < p->m->body_count; i++) u[i] = mabd_rigid_twist_axpy(1, w[i], u[i]);
    for (int32_t i = 0; i < p->count; i++) impulses[i] = force[3 * i];
    out.products = report.products, out.residual = report.residual;
    out.converged = report.converged;
    return out;
}
