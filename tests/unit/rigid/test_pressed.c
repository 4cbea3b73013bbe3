// SPDX-License-Identifier: Apache-2.0
// Velocities with pressed contacts: the conditions of the least change, which have one solution,
// are looked at from outside; a box at rest, a box that leaves the ground, a chain that lies on it.
#include "rigid/pressed.h"
#include "support/draw.h"
#include "support/rig.h"

#define BODIES   4
#define JOINTS   3
#define ROWS     (3 * JOINTS)
#define CONTACTS 10

/// Bodies, rows of joints, contacts.
typedef struct pressed_case {
    mabd_model* m;
    mabd_rigid_row J[ROWS];
    int32_t a[ROWS], b[ROWS];
    int rows, count;
    mabd_rigid_pressed contacts[CONTACTS];
    int calls;
} pressed_case;

static const mabd_model_class* class_of(const mabd_model* m, int32_t body) {
    return &m->classes[m->body_class[body]];
}

static mabd_model* boxes(int n) {
    char text[2000] = "{\"bodies\": [";
    size_t at = strlen(text);
    for (int i = 0; i < n; i++) {
        at += (size_t)sprintf(text + at,
                              "%s{\"name\": \"%d\", \"shape\": \"box\", \"size\": [%g, "
                              "0.4, 0.3], \"position\": [%d, 0, 0]}",
                              i ? ", " : "", i, 0.5 + 0.2 * i, i);
    }
    sprintf(text + at, "]}");
    return rig_text_model(text);
}

static double rate_of(const mabd_rigid_pressed* c, const mabd_rigid_twist* u) {
    double sum = c->rate;
    if (c->a >= 0) sum += mabd_rigid_power(c->N.a, u[c->a]);
    if (c->b >= 0) sum += mabd_rigid_power(c->N.b, u[c->b]);
    return sum;
}

// w -= M^-1 J'(J M^-1 J')^-1 J w, by Gauss elimination.
static void allow(void* context, mabd_rigid_twist* w) {
    pressed_case* c = context;
    double K[ROWS][ROWS] = {{0}}, x[ROWS];
    c->calls++;
    for (int i = 0; i < c->rows; i++) {
        mabd_rigid_twist y[BODIES];
        memset(y, 0, sizeof y);
        y[c->a[i]] = mabd_rigid_accelerate(class_of(c->m, c->a[i]), c->J[i].a);
        y[c->b[i]] = mabd_rigid_accelerate(class_of(c->m, c->b[i]), c->J[i].b);
        for (int k = 0; k < c->rows; k++) {
            K[k][i] = mabd_rigid_row_rate(&c->J[k], y[c->a[k]], y[c->b[k]]);
        }
        x[i] = mabd_rigid_row_rate(&c->J[i], w[c->a[i]], w[c->b[i]]);
    }
    for (int k = 0; k < c->rows; k++) {
        for (int i = k + 1; i < c->rows; i++) {
            const double f = K[i][k] / K[k][k];
            for (int j = k; j < c->rows; j++) K[i][j] -= f * K[k][j];
            x[i] -= f * x[k];
        }
    }
    for (int i = c->rows - 1; i >= 0; i--) {
        for (int j = i + 1; j < c->rows; j++) x[i] -= K[i][j] * x[j];
        x[i] /= K[i][i];
    }
    for (int i = 0; i < c->rows; i++) {
        const int32_t a = c->a[i], b = c->b[i];
        w[a] =
            mabd_rigid_twist_axpy(-x[i], mabd_rigid_accelerate(class_of(c->m, a), c->J[i].a), w[a]);
        w[b] =
            mabd_rigid_twist_axpy(-x[i], mabd_rigid_accelerate(class_of(c->m, b), c->J[i].b), w[b]);
    }
}

static mabd_rigid_press_report press(pressed_case* c, mabd_rigid_twist* u, mabd_real* k) {
    mabd_rigid_twist w[BODIES];
    mabd_real* work = calloc(mabd_rigid_press_work(c->count), sizeof *work);
    const mabd_rigid_press p = {.m = c->m,
                                .count = c->count,
                                .contacts = c->contacts,
                                .allow = c->rows > 0 ? allow : NULL,
                                .context = c,
                                .tolerance = (mabd_real)1e-11,
                                .max_products = 2000};
    const mabd_rigid_press_report report = mabd_rigid_press_velocities(&p, u, k, w, work);
    free(work);
    return report;
}

// ---- random mechanisms -------------------------------------------------------------------------

static mabd_rigid_wrench draw_wrench(uint64_t* state, mabd_vec3 n) {
    const mabd_vec3 X = draw_vec3(state, (mabd_real)0.4);
    const mabd_rigid_wrench w = {n, mabd_v3_cross(X, mabd_m3_tmul(draw_rotation(state), n))};
    return w;
}

// Rows of ball joints between neighbours, and contacts between any two bodies and with the ground.
static void draw_rows(pressed_case* c, uint64_t* state) {
    c->rows = 0;
    for (int j = 0; j < JOINTS; j++) {
        for (int k = 0; k < 3; k++) {
            const mabd_vec3 e = mabd_v3(k == 0, k == 1, k == 2);
            c->a[c->rows] = j, c->b[c->rows] = j + 1;
            c->J[c->rows].a = draw_wrench(state, mabd_v3_scale(-1, e));
            c->J[c->rows++].b = draw_wrench(state, e);
        }
    }
    for (int i = 0; i < c->count; i++) {
        const mabd_vec3 n = draw_direction(state);
        mabd_rigid_pressed* own = &c->contacts[i];
        own->a = i % 3 == 0 ? -1 : i % BODIES, own->b = (i + 1 + i / BODIES) % BODIES;
        if (own->a == own->b) own->a = -1;
        own->N.a = draw_wrench(state, mabd_v3_scale(-1, n)), own->N.b = draw_wrench(state, n);
        own->rate = own->a < 0 ? draw_real(state) / 4 : 0;
    }
}

// 0 <= k, 0 <= N v, one of them 0; J v = J u; and M (v - u) is a sum of the wrenches of the rows:
// without those of the contacts the rest is of joints alone, so allow() leaves nothing of it.
static void check_conditions(const pressed_case* c, const mabd_rigid_twist* u,
                             const mabd_rigid_twist* v, const mabd_real* k) {
    mabd_rigid_twist rest[BODIES];
    for (int i = 0; i < BODIES; i++) rest[i] = mabd_rigid_twist_axpy(-1, u[i], v[i]);
    for (int i = 0; i < c->count; i++) {
        const mabd_rigid_pressed* own = &c->contacts[i];
        const double rate = rate_of(own, v);
        cr_assert(ge(dbl, k[i], 0));
        cr_assert(lt(dbl, -1e-9, rate));
        cr_assert(k[i] == 0 || fabs(rate) < 1e-8, "impulse %g, rate %g", k[i], rate);
        const int32_t sides[2] = {own->a, own->b};
        for (int s = 0; s < 2; s++) {
            if (sides[s] < 0) continue;
            const mabd_rigid_wrench N = s ? own->N.b : own->N.a;
            rest[sides[s]] = mabd_rigid_twist_axpy(
                -k[i], mabd_rigid_accelerate(class_of(c->m, sides[s]), N), rest[sides[s]]);
        }
    }
    for (int r = 0; r < c->rows; r++) {
        const double was = mabd_rigid_row_rate(&c->J[r], u[c->a[r]], u[c->b[r]]);
        const double is = mabd_rigid_row_rate(&c->J[r], v[c->a[r]], v[c->b[r]]);
        cr_assert(lt(dbl, fabs(is - was), 1e-10));
    }
    pressed_case joints = *c;
    if (c->rows > 0) allow(&joints, rest);
    for (int i = 0; i < BODIES; i++) {
        cr_assert(lt(dbl, mabd_v3_norm(rest[i].v) + mabd_v3_norm(rest[i].w), 1e-9));
    }
}

Test(pressed, velocities_are_the_nearest_that_joints_and_contacts_allow) {
    uint64_t state = 3;
    int pressed = 0, open = 0, most = 0;
    pressed_case c = {.m = boxes(BODIES)};
    for (int n = 0; n < 200; n++) {
        mabd_rigid_twist u[BODIES], v[BODIES];
        mabd_real k[CONTACTS] = {0};
        c.count = 1 + n % CONTACTS;
        draw_rows(&c, &state);
        if (n % 4 == 3) c.rows = 0;
        for (int i = 0; i < BODIES; i++) {
            u[i].v = draw_vec3(&state, 1), u[i].w = draw_vec3(&state, 2);
        }
        memcpy(v, u, sizeof u);
        const mabd_rigid_press_report report = press(&c, v, k);
        cr_assert(report.converged, "case %d: %g", n, (double)report.residual);
        check_conditions(&c, u, v, k);
        for (int i = 0; i < c.count; i++) pressed += k[i] > 0, open += k[i] == 0;
        if (report.products > most) most = report.products;
        memcpy(v, u, sizeof u); // the solution is its own guess
        const mabd_rigid_press_report again = press(&c, v, k);
        cr_assert(le(i32, again.products, 2));
    }
    printf("%d contacts press, %d open; at most %d products\n", pressed, open, most);
    cr_expect(pressed > 200 && open > 200);
    mabd_model_destroy(c.m);
}

// ---- a box on the ground -----------------------------------------------------------------------

// Contacts of the lower corners of a box with the ground.
static pressed_case box_on_ground(void) {
    pressed_case c = {.m = boxes(1), .count = 4};
    for (int i = 0; i < 4; i++) {
        const mabd_vec3 X = mabd_v3(i & 1 ? 0.25 : -0.25, i & 2 ? 0.2 : -0.2, (mabd_real)-0.15);
        const mabd_vec3 n = mabd_v3(0, 0, 1);
        c.contacts[i] = (mabd_rigid_pressed){.a = -1, .b = 0};
        c.contacts[i].N.b.f = n, c.contacts[i].N.b.t = mabd_v3_cross(X, n);
    }
    return c;
}

// A resting box whose momentum is half a step of gravity comes to rest; four corners share the
// impulse m g h/2. One that rises keeps its velocity; one that tips stops at one edge only.
Test(pressed, a_box_at_rest_reads_zero) {
    const double g = 9.81, h = 0.01;
    pressed_case c = box_on_ground();
    const double mass = class_of(c.m, 0)->material.mass;
    mabd_real k[4] = {0};
    mabd_rigid_twist u[1] = {{{0.2, 0, -g * h / 2}, {0, 0, 0.3}}};
    cr_assert(press(&c, u, k).converged);
    cr_expect(lt(dbl, fabs(u[0].v.z), 1e-11));
    cr_expect(eq(dbl, u[0].v.x, 0.2));
    cr_expect(eq(dbl, u[0].w.z, 0.3));
    cr_expect(lt(dbl, fabs(k[0] + k[1] + k[2] + k[3] - mass * g * h / 2), 1e-10));

    mabd_rigid_twist rises[1] = {{{0, 0, 0.5}, {0, 0, 0}}};
    memset(k, 0, sizeof k);
    cr_assert(press(&c, rises, k).converged);
    cr_expect(eq(dbl, rises[0].v.z, 0.5));
    for (int i = 0; i < 4; i++) cr_expect(eq(dbl, k[i], 0));

    // about the y axis: the corners at x = 0.25 go down, those at -0.25 up; the edge at 0.25 stops
    mabd_rigid_twist tips[1] = {{{0, 0, 0}, {0, 1, 0}}};
    memset(k, 0, sizeof k);
    cr_assert(press(&c, tips, k).converged);
    const double turn = class_of(c.m, 0)->principal[1], x = 0.25;
    const double impulse = x / (1 / mass + x * x / turn); // of both corners: x w = (1/m + x^2/I) k
    cr_expect(lt(dbl, fabs(tips[0].v.z - impulse / mass), 1e-10), "%g", tips[0].v.z);
    cr_expect(lt(dbl, fabs(k[1] + k[3] - impulse), 1e-10));
    cr_expect(eq(dbl, k[0] + k[2], 0));
    mabd_model_destroy(c.m);
}

// The ground moves up at 0.4 m/s: the box goes with it.
Test(pressed, a_moving_ground_takes_the_box_along) {
    pressed_case c = box_on_ground();
    mabd_real k[4] = {0};
    mabd_rigid_twist u[1] = {{{0, 0, 0}, {0, 0, 0}}};
    for (int i = 0; i < 4; i++) c.contacts[i].rate = (mabd_real)-0.4;
    cr_assert(press(&c, u, k).converged);
    cr_expect(lt(dbl, fabs(u[0].v.z - 0.4), 1e-11));
    mabd_model_destroy(c.m);
}
