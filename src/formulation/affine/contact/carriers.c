// SPDX-License-Identifier: Apache-2.0
// Loads and supports: eliminated contacts of light bodies against heavy ones that move, too.
//
// The blocks of the loads have rows g + j_b . d_b with force l = -(g + j_b . d_b - j_a . d_a)/c,
// where assemble has used d_a = 0. A motion x of the supports acts on the loads by j_b (j_a . x)/c,
// and they respond (affine/contact/response.h). The force of the rows on the supports is then
//
//   F(x) = F(0) - B x,    B = sum of j_a'j_a/c - (j_a'j_b/c) A_loads^-1 (j_b'j_a/c) >= 0
//
// and the supports respond by their own structure: A x = r + F(x). So (A + B) x = r + F(0) is
// solved by conjugate gradients preconditioned by A^-1. A pulley has one freedom besides its
// elasticity, which is stiff, so a few products per pulley suffice. A p follows from the
// recurrence: A z = residual for z = A^-1 residual.

#include "formulation/affine/contact/carriers.h"

#include "formulation/affine/contact/response.h"
#include "formulation/affine/element/assembly.h"
#include "formulation/affine/element/turn_law.h"
#include "formulation/affine/limits.h"

#include <string.h>

typedef struct support_work {
    mabd_affine_sim* sim;
    mabd_affine_contacts* c;
    mabd_real softness;
    int32_t loads, supports;
    mabd_vec12 *y, *d;                   // of loads, by place
    mabd_vec12 *x, *p, *Ap, *r, *z, *Bp; // of supports, by place
} support_work;

// Torque on b under a turn `more`; `whole`: with the turn at the reference.
static mabd_vec3 torque_of(const mabd_affine_contact* p, bool whole, mabd_vec3 more) {
    return mabd_affine_turn_torque(
        p, whole ? more : mabd_v3_sub(more, p->turn)); // that function adds p->turn
}

// y = sum of j_b (j_a . x)/c: forces on loads whose supports move by x.
static void force_on_loads(const support_work* w, const mabd_vec12* x, mabd_vec12* y) {
    const int32_t* contacts = w->c->support.contacts.data;
    memset(y, 0, (size_t)w->loads * sizeof *y);
    for (int32_t k = 0; k < w->c->support.contacts.count; k++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(w->c, contacts[k]);
        mabd_affine_law_row rows[3];
        const int count = mabd_affine_law_rows(p, w->softness, rows);
        if (count == 0) continue;
        const mabd_vec3 move = mabd_affine_response_move(w->sim, p->a, p->Xa, x);
        mabd_vec3 force = mabd_v3(0, 0, 0);
        for (int i = 0; i < count; i++) {
            const mabd_real pull = mabd_v3_dot(rows[i].direction, move) / rows[i].compliance;
            force = mabd_v3_axpy(pull, rows[i].direction, force);
        }
        mabd_affine_response_push(w->sim, p->b, p->Xb, force, y);
    }
    for (int32_t k = 0; k < w->c->support.contacts.count; k++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(w->c, contacts[k]);
        if (!mabd_affine_turn_acts(p)) continue;
        const mabd_vec3 turn = mabd_affine_response_turn(w->sim, p->a, x);
        mabd_affine_response_twist(w->sim, p->b, torque_of(p, false, mabd_v3_scale(-1, turn)), y);
    }
}

// out = forces of the rows on the supports, with loads at d and supports at x; `whole`: with gaps
// and slipping friction, else the linear part only.
static void force_on_supports(const support_work* w, const mabd_vec12* d, const mabd_vec12* x,
                              bool whole, mabd_vec12* out) {
    const int32_t* contacts = w->c->support.contacts.data;
    memset(out, 0, (size_t)w->supports * sizeof *out);
    for (int32_t k = 0; k < w->c->support.contacts.count; k++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(w->c, contacts[k]);
        mabd_affine_law_row rows[3];
        const int count = mabd_affine_law_rows(p, w->softness, rows);
        if (count == 0) continue;
        const mabd_vec3 move = mabd_v3_sub(mabd_affine_response_move(w->sim, p->b, p->Xb, d),
                                           mabd_affine_response_move(w->sim, p->a, p->Xa, x));
        mabd_vec3 force = whole ? mabd_affine_law_push(p) : mabd_v3(0, 0, 0);
        for (int i = 0; i < count; i++) {
            const mabd_real g = (whole ? rows[i].gap : 0) + mabd_v3_dot(rows[i].direction, move);
            force = mabd_v3_axpy(-g / rows[i].compliance, rows[i].direction, force);
        }
        mabd_affine_response_push(w->sim, p->a, p->Xa, mabd_v3_scale(-1, force), out);
    }
    for (int32_t k = 0; k < w->c->support.contacts.count; k++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(w->c, contacts[k]);
        if (!mabd_affine_turn_acts(p)) continue;
        const mabd_vec3 turn = mabd_v3_sub(mabd_affine_response_turn(w->sim, p->b, d),
                                           mabd_affine_response_turn(w->sim, p->a, x));
        const mabd_vec3 torque = torque_of(p, whole, turn);
        mabd_affine_response_twist(w->sim, p->a, mabd_v3_scale(-1, torque), out);
    }
}

static mabd_real dot(int32_t n, const mabd_vec12* a, const mabd_vec12* b) {
    mabd_real sum = 0;
    for (int32_t i = 0; i < n; i++) sum += mabd_vec12_dot(a[i], b[i]);
    return sum;
}

// a <- a + s b
static void axpy(int32_t n, mabd_real s, const mabd_vec12* b, mabd_vec12* a) {
    for (int32_t i = 0; i < n; i++) a[i] = mabd_vec12_axpy(s, b[i], a[i]);
}

// z = A^-1 r
static void respond(const support_work* w) {
    memcpy(w->Bp, w->r, (size_t)w->supports * sizeof *w->r);
    mabd_affine_response(w->sim, &w->c->support.supports, w->Bp, w->z);
}

static int32_t conjugate_gradients(support_work* w) {
    const int32_t n = w->supports;
    respond(w);
    mabd_real energy = dot(n, w->r, w->z);
    const mabd_real goal = MABD_SUPPORT_ENERGY_PART * energy;
    memcpy(w->p, w->z, (size_t)n * sizeof *w->p);
    memcpy(w->Ap, w->r, (size_t)n * sizeof *w->p);
    int32_t products = 0;
    while (energy > goal && products < MABD_SUPPORT_MAX_PRODUCTS) {
        force_on_loads(w, w->p, w->y);
        mabd_affine_response(w->sim, &w->c->support.loads, w->y, w->d);
        force_on_supports(w, w->d, w->p, false, w->Bp); // -B p
        products++;
        const mabd_real bend = dot(n, w->p, w->Ap) - dot(n, w->p, w->Bp);
        if (!(bend > 0)) break;
        const mabd_real a = energy / bend;
        axpy(n, a, w->p, w->x);
        axpy(n, -a, w->Ap, w->r);
        axpy(n, a, w->Bp, w->r);
        respond(w);
        const mabd_real next = dot(n, w->r, w->z), turn = next / energy;
        for (int32_t i = 0; i < n; i++) {
            w->p[i] = mabd_vec12_axpy(turn, w->p[i], w->z[i]);
            w->Ap[i] = mabd_vec12_axpy(turn, w->Ap[i], w->r[i]);
        }
        energy = next;
    }
    return products;
}

void mabd_affine_contacts_solve_supports(mabd_affine_sim* sim, mabd_vec12* bodies,
                                         mabd_real* load_saved, mabd_real* support_saved) {
    mabd_affine_contacts* c = sim->contacts;
    support_work w = {.sim = sim, .c = c, .softness = mabd_affine_contact_softness(sim->model)};
    w.loads = c->support.loads.bodies.count, w.supports = c->support.supports.bodies.count;
    w.y = bodies, w.d = w.y + w.loads;
    w.x = w.d + w.loads, w.p = w.x + w.supports, w.Ap = w.p + w.supports;
    w.r = w.Ap + w.supports, w.z = w.r + w.supports, w.Bp = w.z + w.supports;

    // x: supports without their loads; the loads follow, and act back
    mabd_affine_response_read(sim, &c->support.supports, w.x);
    mabd_affine_response_read(sim, &c->support.loads, w.d);
    memcpy(w.y, w.d, (size_t)w.loads * sizeof *w.y);
    force_on_supports(&w, w.d, w.x, true, w.r); // loads at their positions with d_a = 0 ...
    force_on_loads(&w, w.x, w.y);
    mabd_affine_response(sim, &c->support.loads, w.y, w.d);
    memset(w.z, 0, (size_t)w.supports * sizeof *w.z);
    force_on_supports(&w, w.d, w.z, false, w.Bp); // ... and the change by x
    axpy(w.supports, 1, w.Bp, w.r);
    const int32_t products = conjugate_gradients(&w);
    c->totals.products += products;

    // the forces of x on both
    force_on_loads(&w, w.x, w.y);
    mabd_affine_response_finish(sim, &c->support.loads, w.y, load_saved);
    mabd_affine_response_read(sim, &c->support.loads, w.d);
    force_on_supports(&w, w.d, w.x, true, w.r);
    mabd_affine_response_finish(sim, &c->support.supports, w.r, support_saved);
}
