// SPDX-License-Identifier: Apache-2.0
// Contacts as rows: forces by projected conjugate gradients (dual/projected_cg.h). A product with W = Jc A^-1 Jc' is
// one response of the bodies (cpu/respond.h) to the forces Jc' x, read off by Jc.

#include "cpu/assemble.h"
#include "cpu/respond.h"

#include <string.h>

// Products at the most: so many, and fewer if there are many contacts.
#define MOST_PRODUCTS  3000
#define LEAST_PRODUCTS 60
#define ALL_PRODUCTS   60000 // times contacts
// Of the contact tolerance. What projected CG leaves is noise, which differs from step to step and shakes stacks.
#define FINE ((mabd_real)0.1)

typedef struct rows_work {
    mabd_cpu_sim* sim;
    mabd_contacts* c;
    int32_t count;
    const int32_t* contacts;
    mabd_affine *y, *d; // by place of a body
} rows_work;

static const mabd_contact* contact_at(const rows_work* w, int32_t k) {
    return mabd_contacts_at(w->c, w->contacts[k]);
}

static mabd_mat3 rotation(const rows_work* w, int32_t body) {
    return mabd_m3_load(w->sim->ref + 12 * (size_t)body);
}

// y = Jc' x
static void push(const rows_work* w, const mabd_real* x, mabd_affine* y) {
    mabd_contacts* c = w->c;
    memset(y, 0, (size_t)c->frees.bodies.count * sizeof *y);
    for (int32_t k = 0; k < w->count; k++, x += 3) {
        const mabd_contact* p = contact_at(w, k);
        if (x[0] == 0 && x[1] == 0 && x[2] == 0) continue;
        mabd_vec3 f = mabd_v3_axpy(x[1], p->t1, mabd_v3_scale(x[0], p->n));
        f = mabd_v3_axpy(x[2], p->t2, f);
        mabd_affine* b = &y[c->place[p->b]];
        *b = mabd_affine_axpy(1, mabd_affine_at(p->Xb, mabd_m3_tmul(rotation(w, p->b), f)), *b);
        if (!p->moving) continue;
        mabd_affine* a = &y[c->place[p->a]];
        *a = mabd_affine_axpy(-1, mabd_affine_at(p->Xa, mabd_m3_tmul(rotation(w, p->a), f)), *a);
    }
}

// out = Jc d
static void read_rows(const rows_work* w, const mabd_affine* d, mabd_real* out) {
    for (int32_t k = 0; k < w->count; k++, out += 3) {
        const mabd_contact* p = contact_at(w, k);
        const mabd_vec3 b = mabd_affine_move(&d[w->c->place[p->b]], p->Xb);
        mabd_vec3 x = mabd_m3_mul(rotation(w, p->b), b);
        if (p->moving) {
            const mabd_vec3 a = mabd_affine_move(&d[w->c->place[p->a]], p->Xa);
            x = mabd_v3_sub(x, mabd_m3_mul(rotation(w, p->a), a));
        }
        out[0] = mabd_v3_dot(p->n, x);
        out[1] = mabd_v3_dot(p->t1, x);
        out[2] = mabd_v3_dot(p->t2, x);
    }
}

static void product(void* self, const mabd_real* x, mabd_real* out) {
    const rows_work* w = self;
    push(w, x, w->y);
    mabd_respond(w->sim, &w->c->frees, w->y, w->d);
    read_rows(w, w->d, out);
}

static void take_forces(const rows_work* w, const mabd_real* force) {
    for (int32_t k = 0; k < w->count; k++, force += 3) {
        mabd_contact* p = mabd_contacts_at(w->c, w->contacts[k]);
        memcpy(p->force, force, sizeof p->force);
        p->pressed = p->force[0] > 0;
        p->grip = p->pressed ? MABD_GRIP_STICK : MABD_GRIP_NONE;
        p->bound = p->friction * p->force[0];
    }
}

static int32_t most_products(int32_t contacts) {
    const int32_t most = ALL_PRODUCTS / contacts;
    return most > MOST_PRODUCTS ? MOST_PRODUCTS : most < LEAST_PRODUCTS ? LEAST_PRODUCTS : most;
}

static void solve_rows(mabd_cpu_sim* sim, bool again, mabd_affine* bodies, mabd_real* kept,
                       mabd_real* reals) {
    mabd_contacts* c = sim->contacts;
    rows_work w = {.sim = sim, .c = c, .count = c->free.count, .contacts = c->free.data};
    const size_t n = (size_t)w.count;
    w.y = bodies, w.d = w.y + c->frees.bodies.count;
    mabd_real *rest = reals, *own = rest + 3 * n, *friction = own + 2 * n, *force = friction + n;
    mabd_real *rows = force + 3 * n, *work = rows + 3 * n;

    mabd_respond_read(sim, &c->frees, w.d);
    read_rows(&w, w.d, rest);
    for (size_t k = 0; k < n; k++) {
        const mabd_contact* p = contact_at(&w, (int32_t)k);
        rest[3 * k] += p->gap;
        rest[3 * k + 1] += p->slip1 + p->lean1, rest[3 * k + 2] += p->slip2 + p->lean2;
        own[2 * k] = p->own_n, own[2 * k + 1] = p->own_t;
        friction[k] = p->friction;
        memcpy(force + 3 * k, p->force, sizeof p->force);
    }
    const mabd_contact_problem problem = {.count = w.count,
                                          .rest = rest,
                                          .own = own,
                                          .softness = mabd_contact_softness(sim->model),
                                          .friction = friction,
                                          .product = product,
                                          .self = &w,
                                          .tolerance = FINE * c->tolerance,
                                          .max_products = most_products(w.count)};
    if (!again) {
        const mabd_contact_report report = mabd_projected_cg(&problem, force, rows, work);
        c->totals.products += report.products;
        c->totals.residual = report.residual;
    }
    take_forces(&w, force);
    push(&w, force, w.y);
    mabd_respond_finish(sim, &c->frees, w.y, kept);
}

// ---- both ways -------------------------------------------------------------------------------------

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

mabd_status mabd_contacts_solve(mabd_cpu_sim* sim, bool again) {
    mabd_contacts* c = sim->contacts;
    const int64_t n = c->free.count, frees = c->frees.bodies.count;
    const int64_t riders = c->riders.bodies.count, carriers = c->carriers.bodies.count;
    const int64_t free_rows = mabd_respond_rows(sim, &c->frees);
    const int64_t rider_rows = mabd_respond_rows(sim, &c->riders);
    const int64_t rows = free_rows + rider_rows + mabd_respond_rows(sim, &c->carriers);
    const int64_t bodies = larger(2 * frees, 2 * riders + 6 * carriers);
    const int64_t reals = 12 * n + (int64_t)mabd_projected_cg_work((int32_t)n);
    c->body_work.count = c->reals.count = c->dual_work.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->body_work, sizeof(mabd_affine), bodies));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->reals, sizeof(mabd_real), reals));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->dual_work, sizeof(mabd_real), rows));
    mabd_real *free_kept = c->dual_work.data, *rider_kept = free_kept + free_rows,
              *carrier_kept = rider_kept + rider_rows;
    MABD_TRY(mabd_respond_open(sim, &c->frees));
    MABD_TRY(mabd_respond_open(sim, &c->riders));
    MABD_TRY(mabd_respond_open(sim, &c->carriers));
    mabd_respond_keep(sim, &c->frees, free_kept);
    mabd_respond_keep(sim, &c->riders, rider_kept);
    mabd_respond_keep(sim, &c->carriers, carrier_kept);
    mabd_cpu_solve(sim);
    if (c->free.count > 0) solve_rows(sim, again, c->body_work.data, free_kept, c->reals.data);
    if (c->carried.count > 0) {
        mabd_contacts_carry(sim, c->body_work.data, rider_kept, carrier_kept);
    }
    return MABD_OK;
}
