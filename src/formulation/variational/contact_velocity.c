// SPDX-License-Identifier: Apache-2.0
// Velocities at a node with contacts, stops and boxes: momenta lack half of their impulses.
//
//   boxes      half the force of the last substep
//   normals    v = argmin (v - u)' M (v - u), N v >= 0 of what pressed: a box at rest reads 0, not
//              -g h/2 (rigid/pressed.h)
//   friction   half of that of the last substep, times what the normals of its two bodies push now
//              over what they pushed then: an impact is not repeated. Then the normals once more
//
// No step depends on these velocities.

#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_sim.h"
#include "rigid/pressed.h"
#include "rigid/script.h"

#include <math.h>
#include <string.h>

/// Error of the rates of gaps [m/s] at which the normals are found, and the most products.
#define RATE_ERROR   ((mabd_real)1e-12)
#define MAX_PRODUCTS 400

mabd_status mabd_variational_reserve_press(mabd_variational_contacts* c, int64_t points) {
    const int64_t count = points + c->stop_count;
    const int64_t reals = count + (int64_t)mabd_rigid_press_work((int32_t)count);
    c->pressed.count = c->press_work.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->pressed, sizeof(mabd_rigid_pressed), count));
    return mabd_list_reserve(&c->allocator, &c->press_work, sizeof(mabd_real), reals);
}

// ---- rows at the state -------------------------------------------------------------------------

static int32_t side_of(const mabd_variational_sim* sim, int32_t body) {
    return mabd_variational_moves(sim, body) ? body : -1;
}

// Rate of a row by a side that does not move by forces.
static mabd_real given_rate(const mabd_variational_sim* sim, int32_t body, mabd_rigid_wrench w) {
    if (mabd_variational_moves(sim, body)) return 0;
    return mabd_rigid_power(w, sim->velocity[body]);
}

static mabd_rigid_pressed press_row(const mabd_variational_sim* sim, int32_t a, int32_t b,
                                    const mabd_rigid_row* row) {
    mabd_rigid_pressed p = {side_of(sim, a), side_of(sim, b), *row, 0};
    p.rate = given_rate(sim, a, row->a) + given_rate(sim, b, row->b);
    return p;
}

static mabd_rigid_wrench wrench_at(mabd_rigid_pose pose, mabd_vec3 p, mabd_vec3 e) {
    const mabd_vec3 arm = mabd_m3_tmul(pose.R, mabd_v3_sub(p, pose.c));
    const mabd_rigid_wrench w = {e, mabd_v3_cross(arm, mabd_m3_tmul(pose.R, e))};
    return w;
}

// Row of a point along one of its axes at the state.
static mabd_rigid_row point_row(const mabd_variational_sim* sim, const mabd_variational_known* k,
                                int axis) {
    const mabd_rigid_pose a = mabd_variational_pose_now(sim, k->a),
                          b = mabd_variational_pose_now(sim, k->b);
    const mabd_vec3 xa = mabd_v3_add(a.c, mabd_m3_mul(a.R, k->X[0])),
                    xb = mabd_v3_add(b.c, mabd_m3_mul(b.R, k->X[1]));
    const mabd_vec3 middle = mabd_v3_scale((mabd_real)0.5, mabd_v3_add(xa, xb));
    mabd_rigid_row row;
    row.a = wrench_at(a, middle, mabd_v3_scale(-1, k->axis[axis]));
    row.b = wrench_at(b, middle, k->axis[axis]);
    return row;
}

static void add_impulse(const mabd_variational_sim* sim, int32_t a, int32_t b,
                        const mabd_rigid_row* row, mabd_real impulse, mabd_rigid_twist* u) {
    const int32_t sides[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        if (!mabd_variational_moves(sim, sides[k])) continue;
        const mabd_rigid_twist by =
            mabd_rigid_accelerate(mabd_variational_class(sim, sides[k]), k ? row->b : row->a);
        u[sides[k]] = mabd_rigid_twist_axpy(impulse, by, u[sides[k]]);
    }
}

void mabd_variational_add_boxes(const mabd_variational_sim* sim, mabd_rigid_twist* u) {
    const mabd_variational_contacts* c = sim->contacts;
    for (int32_t i = 0; c && i < c->bound_count; i++) {
        if (c->bounds[i].kind <= MABD_VARIATIONAL_UPPER) continue;
        const mabd_model_joint* j = &sim->model->joints[c->bounds[i].joint];
        const mabd_rigid_row row = mabd_variational_bound_row(sim, &c->bounds[i]);
        add_impulse(sim, j->a, j->b, &row, c->bound[i].h / 2 * c->bound[i].force, u);
    }
}

// ---- what presses ------------------------------------------------------------------------------

// Rows of points, then of stops, that pressed in the last substep; k gets half their impulses.
static void list_pressed(const mabd_variational_sim* sim, mabd_real* k) {
    mabd_variational_contacts* c = sim->contacts;
    const mabd_variational_known* known = c->known.data;
    mabd_rigid_pressed* to = c->pressed.data;
    c->pressed.count = 0;
    for (int32_t i = 0; i < c->known.count; i++) {
        if (!mabd_variational_presses(&known[i])) continue;
        const mabd_rigid_row row = point_row(sim, &known[i], 0);
        k[c->pressed.count] = known[i].h / 2 * known[i].memory.gamma;
        to[c->pressed.count++] = press_row(sim, known[i].a, known[i].b, &row);
    }
    for (int32_t i = 0; i < c->bound_count; i++) {
        const mabd_variational_bound* bound = &c->bounds[i];
        if (bound->kind > MABD_VARIATIONAL_UPPER || !c->bound[i].presses) continue;
        const mabd_model_joint* j = &sim->model->joints[bound->joint];
        const mabd_rigid_row row = mabd_variational_bound_row(sim, bound);
        k[c->pressed.count] = c->bound[i].h / 2 * c->bound[i].force;
        to[c->pressed.count++] = press_row(sim, j->a, j->b, &row);
    }
}

// Sums of the impulses of points of the two bodies of point i: now over then, at most 1.
static mabd_real pushed_part(const mabd_variational_sim* sim, int32_t first, int32_t end,
                             const mabd_real* k, int32_t at) {
    const mabd_variational_known* known = sim->contacts->known.data;
    mabd_real now = 0, then = 0;
    for (int32_t i = first; i < end; i++) {
        if (!mabd_variational_presses(&known[i])) continue;
        now += k[at++], then += known[i].h / 2 * known[i].memory.gamma;
    }
    return then > now ? now / then : 1;
}

static void add_friction(const mabd_variational_sim* sim, const mabd_real* k, mabd_rigid_twist* u) {
    const mabd_variational_contacts* c = sim->contacts;
    const mabd_variational_known* known = c->known.data;
    int32_t at = 0, end;
    for (int32_t first = 0; first < c->known.count; first = end) {
        for (end = first + 1; end < c->known.count; end++) {
            if (mabd_collide_compare(known[end].memory.id.key, known[first].memory.id.key)) break;
        }
        const mabd_real part = pushed_part(sim, first, end, k, at);
        for (int32_t i = first; i < end; i++) {
            if (!mabd_variational_presses(&known[i])) continue;
            at++;
            for (int axis = 0; axis < 2; axis++) {
                const mabd_rigid_row row = point_row(sim, &known[i], 1 + axis);
                add_impulse(sim, known[i].a, known[i].b, &row,
                            part * known[i].h / 2 * known[i].friction[axis], u);
            }
        }
    }
}

// Add the impulses k of the normals to velocities u.
static void add_normals(const mabd_variational_sim* sim, const mabd_real* k, mabd_rigid_twist* u) {
    const mabd_rigid_pressed* pressed = sim->contacts->pressed.data;
    for (int32_t i = 0; i < sim->contacts->pressed.count; i++) {
        const int32_t a = pressed[i].a < 0 ? sim->model->body_count : pressed[i].a;
        const int32_t b = pressed[i].b < 0 ? sim->model->body_count : pressed[i].b;
        add_impulse(sim, a, b, &pressed[i].N, k[i], u);
    }
}

bool mabd_variational_press(mabd_variational_sim* sim) {
    mabd_variational_contacts* c = sim->contacts;
    const size_t bytes = (size_t)sim->model->body_count * sizeof *c->velocity;
    if (!c || c->known.count + c->stop_count == 0) return false;
    mabd_real* k = c->press_work.data;
    list_pressed(sim, k);
    if (c->pressed.count == 0) return false;
    mabd_real* work = k + c->pressed.count;
    const mabd_rigid_press press = {.m = sim->model,
                                    .count = c->pressed.count,
                                    .contacts = c->pressed.data,
                                    .allow =
                                        sim->plan->row_count > 0 ? mabd_variational_allow : NULL,
                                    .context = sim,
                                    .tolerance = RATE_ERROR,
                                    .max_products = MAX_PRODUCTS};
    memcpy(c->velocity, sim->velocity, bytes);
    (void)mabd_rigid_press_velocities(&press, c->velocity, k, c->push, work);
    memset(c->push, 0, bytes);
    add_friction(sim, k, c->push);
    memcpy(c->velocity, c->push, bytes);
    if (press.allow) mabd_variational_allow(sim, c->push);
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        sim->velocity[i] = mabd_rigid_twist_axpy(1, c->push[i], sim->velocity[i]);
    }
    (void)mabd_rigid_press_velocities(&press, sim->velocity, k, c->push, work);
    memcpy(c->push, c->velocity, bytes);
    add_normals(sim, k, c->push);
    return true;
}
