// SPDX-License-Identifier: Apache-2.0
// Tests for src/formulation/affine/contact/delassus.c: the blocks of W are the responses of the
// bodies to forces (affine/contact/response.h), on the jointed pairs of scenes/falling-joints.json
// as they land on each other.
#include "formulation/affine/contact/delassus.h"

#include "formulation/affine/affine_sim.h"
#include "formulation/affine/contact/response.h"
#include "formulation/affine/element/assembly.h"
#include "mabd/mabd.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#define H     ((mabd_real)0.01)
#define STEPS 80

typedef struct pile {
    mabd_scene* scene;
    mabd_model* model;
    void* self;
} pile;

static pile make_pile(void) {
    pile p = {0};
    mabd_error error = {0};
    const mabd_allocator allocator = mabd_default_allocator();
    const mabd_setting settings[] = {{"pairs", "98"}};
    const mabd_sim_def def = mabd_default_sim_def();
    cr_assert(eq(int, mabd_scene_create(NULL, &p.scene), MABD_OK));
    cr_assert(eq(int,
                 mabd_scene_load(p.scene, MABD_SOURCE_DIR "/scenes/falling-joints.json", 1,
                                 settings, &error),
                 MABD_OK),
              "%s", error.text);
    cr_assert(eq(int, mabd_model_build(p.scene, NULL, &p.model, &error), MABD_OK));
    cr_assert(eq(
        int,
        mabd_formulation_affine.create(p.model, &def, &allocator, p.model->start, &p.self, &error),
        MABD_OK));
    for (int i = 0; i < STEPS; i++) {
        cr_assert(
            eq(int, mabd_formulation_affine.step(p.self, (mabd_real)i * H, NULL, &error), MABD_OK),
            "%s", error.text);
    }
    return p;
}

static void free_pile(pile* p) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_formulation_affine.destroy(p->self, &allocator);
    mabd_model_destroy(p->model);
    mabd_scene_destroy(p->scene);
}

static const mabd_affine_contact* row_contact(const mabd_affine_contacts* c, int32_t k) {
    return mabd_affine_contacts_at(c, ((const int32_t*)c->rows.contacts.data)[k]);
}

static mabd_vec3 direction(const mabd_affine_contact* p, int k) {
    return k == 0 ? p->n : k == 1 ? p->t1 : p->t2;
}

// Displacement of the point of a contact on one body, world.
static mabd_vec3 displacement_of(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X,
                                 const mabd_vec12* d) {
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    return mabd_m3_mul(R, mabd_vec12_move(&d[sim->contacts->by_body.place[body]], X));
}

static void push_body(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X, mabd_vec3 f,
                      mabd_vec12* y) {
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    mabd_vec12* at = &y[sim->contacts->by_body.place[body]];
    *at = mabd_vec12_axpy(1, mabd_vec12_at(X, mabd_m3_tmul(R, f)), *at);
}

// A column of W from the bodies: the response to a unit force along direction k of contact i.
static void response_of(mabd_affine_sim* sim, int32_t i, int k, mabd_real* out) {
    mabd_affine_contacts* c = sim->contacts;
    const mabd_affine_contact* p = row_contact(c, i);
    mabd_vec12* y = calloc(2 * (size_t)c->rows.bodies.bodies.count, sizeof *y);
    mabd_vec12* d = y + c->rows.bodies.bodies.count;
    push_body(sim, p->b, p->Xb, direction(p, k), y);
    if (p->moving) push_body(sim, p->a, p->Xa, mabd_v3_scale(-1, direction(p, k)), y);
    mabd_affine_response(sim, &c->rows.bodies, y, d);
    for (int32_t j = 0; j < c->rows.contacts.count; j++) {
        const mabd_affine_contact* q = row_contact(c, j);
        mabd_vec3 moved = displacement_of(sim, q->b, q->Xb, d);
        if (q->moving) moved = mabd_v3_sub(moved, displacement_of(sim, q->a, q->Xa, d));
        for (int m = 0; m < 3; m++) out[3 * j + m] = mabd_v3_dot(direction(q, m), moved);
    }
    free(y);
}

static int32_t small_rows(const mabd_affine_contacts* c) {
    const mabd_affine_contact_range* ranges = c->rows.ranges.data;
    int32_t rows = 0;
    for (int32_t i = 0; i < c->rows.ranges.count && ranges[i].small; i++) {
        cr_expect(eq(i32, ranges[i].first, rows), "ranges follow each other");
        rows += ranges[i].count;
    }
    return rows;
}

// The product of W of a range alone with a unit force at one of its contacts.
static void multiply(const mabd_affine_contacts* c, const mabd_affine_contact_range* range,
                     int32_t i, int k, mabd_real* out) {
    mabd_cone_matrix W = mabd_affine_delassus_of(c, range);
    mabd_real* x = calloc(3 * (size_t)range->count, sizeof *x);
    x[3 * (i - range->first) + k] = 1;
    mabd_cone_matrix_product(&W, x, out);
    free(x);
}

Test(delassus, blocks_are_the_responses_of_bodies) {
    pile p = make_pile();
    mabd_affine_sim* sim = p.self;
    const mabd_affine_contacts* c = sim->contacts;
    const int32_t rows = small_rows(c);
    const size_t n = 3 * (size_t)c->rows.contacts.count;
    cr_assert(lt(i32, 100, rows));
    cr_expect(eq(i32, rows, c->rows.contacts.count), "pairs are small");
    cr_assert(eq(int, mabd_affine_response_open(sim, &sim->contacts->rows.bodies), MABD_OK));
    cr_assert(eq(int, mabd_affine_delassus_build(sim, rows), MABD_OK));
    mabd_real *expected = calloc(2 * n, sizeof *expected), *found = expected + n;
    const mabd_affine_contact_range* ranges = c->rows.ranges.data;
    bool coupled = false;
    for (int32_t r = 0; r < c->rows.ranges.count; r++) {
        for (int32_t i = ranges[r].first; i < ranges[r].first + ranges[r].count; i++) {
            const int k = i % 3;
            response_of(sim, i, k, expected);
            multiply(c, &ranges[r], i, k, found);
            const mabd_real size = expected[3 * i + k];
            for (int32_t j = 0; j < 3 * c->rows.contacts.count; j++) {
                const int32_t at = j - 3 * ranges[r].first;
                const bool inside = at >= 0 && at < 3 * ranges[r].count;
                const mabd_real value = inside ? found[at] : 0;
                cr_expect(epsilon_eq(dbl, value, expected[j], 1e-9 * size), "contact %d row %d", i,
                          j);
                coupled |= j / 3 != i && fabs(expected[j]) > 0.1 * size;
            }
        }
    }
    cr_expect(coupled);
    free(expected);
    free_pile(&p);
}

Test(delassus, is_symmetric) {
    pile p = make_pile();
    mabd_affine_sim* sim = p.self;
    const mabd_affine_contacts* c = sim->contacts;
    cr_assert(eq(int, mabd_affine_response_open(sim, &sim->contacts->rows.bodies), MABD_OK));
    cr_assert(eq(int, mabd_affine_delassus_build(sim, small_rows(c)), MABD_OK));
    const mabd_affine_contact_range whole = {0, small_rows(c), true};
    const mabd_cone_matrix W = mabd_affine_delassus_of(c, &whole);
    for (int32_t i = 0; i < W.count; i++) {
        for (int32_t k = W.start[i]; k < W.end[i]; k++) {
            const int32_t j = W.column[k];
            int32_t m = W.start[j];
            while (m < W.end[j] && W.column[m] != i) m++;
            cr_assert(lt(i32, m, W.end[j]), "block %d %d has no mirror", i, j);
            for (int r = 0; r < 9 && i != j; r++) {
                cr_expect(eq(dbl, W.block[9 * k + r], W.block[9 * m + 3 * (r % 3) + r / 3]));
            }
        }
    }
    free_pile(&p);
}
