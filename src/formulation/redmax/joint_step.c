// SPDX-License-Identifier: Apache-2.0
// The linearisation of one step in joint states: entry gradient_step of the table.
//
// Columns are directions of forward mode: 2 nv of the state, then one per control, GROUP of them at
// a time. A joint state (mabd_model_joint_layout) changes by 2 nv reals: velocities' places for the
// positions, where three free rotations turn by theta in the joint frame on b (in the user's frame
// of a free body), then the velocities. Coordinates of links change by the same reals but for
//
//   a ball of a joint that the tree reaches from b, R from b to a:
//     rho = -R'theta                          d omega = -R'dw - rho x omega
//   a free body, c = p + U center, R = U V, w its angular velocity in the user's frame:
//     rho = V'theta                           dc = dp + U (theta x center)
//     d omega = V'dw                          dv_c = dv + U (theta x (w x center) + dw x center)
//
// Where loops and couplings make coordinates depend on each other, a change stands for the nearest
// one, in the mass metric, that they allow (tangent_closing.c): A = A P, with the projection P.
// Columns of changes that they allow are those of the step itself.

#include "formulation/redmax/redmax_tangent.h"
#include "rigid/linear_pass.h"

#include "base/error.h"

#include <string.h>

#define GROUP 32

/// Work of one linearisation.
typedef struct joint_step {
    mabd_redmax_gradient* g;
    const mabd_model* model;
    mabd_joint_layout* layout; // (entries)
    mabd_parameter* controls;  // (controls)
    mabd_real* values;         // (controls)
    int32_t entries, velocities, control_count;
    void* memory;
    size_t memory_size;
    mabd_allocator allocator;
} joint_step;

// ---- changes of an entry -----------------------------------------------------------------------

// Reals x (2 nv) of a state, between them and the changes of a node; `node` is the state.
typedef struct entry_map {
    const mabd_redmax_sim* sim;
    const mabd_redmax_node* node;
    mabd_redmax_tangent t;
    mabd_real *q, *v; // (velocities) changes of positions and of velocities
    bool out;         // from the node to x, else from x to the node
} entry_map;

static void move_real(const entry_map* m, mabd_real* node, mabd_real* x) {
    if (m->out) {
        *x = *node;
    } else {
        *node = *x;
    }
}

static void map_ball(const entry_map* m, const mabd_redmax_link* link, mabd_real* q, mabd_real* v) {
    mabd_real *dq = m->t.q + link->first, *dv = m->t.v + link->first;
    if (!link->reversed) {
        for (int k = 0; k < 3; k++) move_real(m, dq + k, q + k), move_real(m, dv + k, v + k);
        return;
    }
    const mabd_mat3 R = mabd_q_matrix(mabd_q_load(m->node->turn + 4 * (size_t)link->ball));
    const mabd_vec3 omega = mabd_v3_load(m->node->v + link->first);
    if (m->out) {
        const mabd_vec3 rho = mabd_v3_load(dq);
        const mabd_vec3 w = mabd_v3_add(mabd_v3_load(dv), mabd_v3_cross(rho, omega));
        mabd_v3_store(mabd_v3_scale(-1, mabd_m3_mul(R, rho)), q);
        mabd_v3_store(mabd_v3_scale(-1, mabd_m3_mul(R, w)), v);
    } else {
        const mabd_vec3 rho = mabd_v3_scale(-1, mabd_m3_tmul(R, mabd_v3_load(q)));
        const mabd_vec3 w = mabd_v3_scale(-1, mabd_m3_tmul(R, mabd_v3_load(v)));
        mabd_v3_store(rho, dq);
        mabd_v3_store(mabd_v3_sub(w, mabd_v3_cross(rho, omega)), dv);
    }
}

// Place of an axis among the free axes of its joint.
static int32_t place_of(const mabd_redmax_sim* sim, int32_t joint, int32_t axis) {
    int32_t place = 0;
    for (int32_t k = 0; k < axis; k++) place += mabd_redmax_find_axis(sim, joint, k) >= 0;
    return place;
}

static void map_joint(const entry_map* m, int32_t joint) {
    const mabd_redmax_sim* sim = m->sim;
    int32_t i = sim->joint_link[joint];
    for (; i >= 0 && sim->links[i].joint == joint; i = sim->links[i].parent) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->kind == MABD_PRIMITIVE_BALL) {
            const int32_t at = place_of(sim, joint, MABD_AXIS_RX);
            map_ball(m, link, m->q + at, m->v + at);
            continue;
        }
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            const int32_t at = place_of(sim, joint, sim->freedoms[k].axis);
            move_real(m, m->t.q + k, m->q + at), move_real(m, m->t.v + k, m->v + at);
        }
    }
}

// Position and velocity, then turn and angular velocity of a body without a joint.
static void map_free(const entry_map* m, int32_t body) {
    const mabd_redmax_sim* sim = m->sim;
    const mabd_redmax_link* ball = &sim->links[sim->body_link[body]];
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
    const int32_t slides = sim->links[ball->parent].first, turns = ball->first;
    const mabd_mat3 R = mabd_q_matrix(mabd_q_load(m->node->turn + 4 * (size_t)ball->ball));
    const mabd_mat3 V = mabd_q_matrix(mabd_q_load(c->axes));
    const mabd_mat3 U = mabd_m3_product(R, mabd_m3_transpose(V));
    const mabd_vec3 center = mabd_v3_load(c->center);
    const mabd_vec3 w = mabd_m3_mul(V, mabd_v3_load(m->node->v + turns));
    const mabd_real sign = m->out ? -1 : 1;
    if (m->out) {
        mabd_v3_store(mabd_m3_mul(V, mabd_v3_load(m->t.q + turns)), m->q + 3);
        mabd_v3_store(mabd_m3_mul(V, mabd_v3_load(m->t.v + turns)), m->v + 3);
    } else {
        mabd_v3_store(mabd_m3_tmul(V, mabd_v3_load(m->q + 3)), m->t.q + turns);
        mabd_v3_store(mabd_m3_tmul(V, mabd_v3_load(m->v + 3)), m->t.v + turns);
    }
    const mabd_vec3 theta = mabd_v3_load(m->q + 3), dw = mabd_v3_load(m->v + 3);
    const mabd_vec3 turned =
        mabd_v3_add(mabd_v3_cross(theta, mabd_v3_cross(w, center)), mabd_v3_cross(dw, center));
    const mabd_vec3 arm = mabd_m3_mul(U, mabd_v3_cross(theta, center));
    const mabd_vec3 rate = mabd_m3_mul(U, turned);
    mabd_real *from = m->out ? m->t.q + slides : m->q, *to = m->out ? m->q : m->t.q + slides;
    mabd_v3_store(mabd_v3_axpy(sign, arm, mabd_v3_load(from)), to);
    from = m->out ? m->t.v + slides : m->v, to = m->out ? m->v : m->t.v + slides;
    mabd_v3_store(mabd_v3_axpy(sign, rate, mabd_v3_load(from)), to);
}

// Position and velocity of a node.
static void map_node(const entry_map* m, int32_t body) {
    const int32_t first = m->sim->links[m->sim->body_link[body]].first;
    for (int k = 0; k < 3; k++) {
        move_real(m, m->t.q + first + k, m->q + k), move_real(m, m->t.v + first + k, m->v + k);
    }
}

// Map the changes x (2 nv) of a joint state to those of a node, or back.
static void map_state(const joint_step* w, const mabd_redmax_node* node, mabd_redmax_tangent t,
                      mabd_real* x, bool out) {
    for (int32_t i = 0; i < w->entries; i++) {
        const mabd_joint_layout* entry = &w->layout[i];
        mabd_real *q = x + entry->velocity_first, *v = q + w->velocities;
        const entry_map m = {w->g->sim, node, t, q, v, out};
        if (entry->joint >= 0) {
            map_joint(&m, entry->joint);
        } else if (mabd_model_is_node(w->model, entry->body)) {
            map_node(&m, entry->body);
        } else {
            map_free(&m, entry->body);
        }
    }
}

// ---- columns -----------------------------------------------------------------------------------

// Columns first .. first + count - 1: those of the state, then those of the controls.
static mabd_status find_columns(const joint_step* w, int32_t first, int32_t count,
                                mabd_real* dnext_dstate, mabd_real* dnext_dcontrol, mabd_real* x,
                                mabd_error* error) {
    mabd_redmax_gradient* g = w->g;
    const int32_t states = 2 * w->velocities;
    mabd_redmax_clear_directions(g);
    g->direction_first = first - states;
    g->direction_count = count;
    for (int32_t i = 0; i < count && first + i < states; i++) {
        memset(x, 0, (size_t)states * sizeof *x);
        x[first + i] = 1;
        map_state(w, &g->sim->now, g->directions[i].now, x, false);
    }
    MABD_TRY(mabd_redmax_pass_fresh_step(g, error));
    for (int32_t i = 0; i < count; i++) {
        const int32_t column = first + i, control = column - states;
        mabd_real* to = control < 0 ? dnext_dstate : dnext_dcontrol;
        const int32_t width = control < 0 ? states : w->control_count;
        map_state(w, &g->sim->next, g->directions[i].now, x, true);
        for (int32_t k = 0; to && k < states; k++) {
            to[(size_t)k * (size_t)width + (size_t)(control < 0 ? column : control)] = x[k];
        }
    }
    return MABD_OK;
}

static mabd_status run(const joint_step* w, mabd_real* dnext_dstate, mabd_real* dnext_dcontrol,
                       mabd_real* x, mabd_error* error) {
    const int32_t states = 2 * w->velocities;
    const int32_t first = dnext_dstate ? 0 : states;
    const int32_t end = dnext_dcontrol ? states + w->control_count : states;
    for (int32_t at = first; at < end; at += GROUP) {
        const int32_t count = end - at < GROUP ? end - at : GROUP;
        MABD_TRY(find_columns(w, at, count, dnext_dstate, dnext_dcontrol, x, error));
    }
    return MABD_OK;
}

// ---- memory ------------------------------------------------------------------------------------

static mabd_status fill(joint_step* w, mabd_redmax_sim* sim, mabd_real** x, mabd_error* error) {
    mabd_joint_layout_info info;
    mabd_arena arena = {0};
    MABD_TRY(mabd_model_joint_layout(w->model, 0, NULL, &info, error));
    w->entries = info.entries, w->velocities = info.velocities;
    w->control_count = w->model->control_count;
    for (int pass = 0; pass < 2; pass++) {
        w->layout = mabd_arena_take(&arena, (size_t)w->entries, sizeof *w->layout);
        w->controls = mabd_arena_take(&arena, (size_t)w->control_count, sizeof *w->controls);
        w->values = mabd_arena_take(&arena, (size_t)w->control_count, sizeof *w->values);
        *x = mabd_arena_take(&arena, 2 * (size_t)w->velocities, sizeof **x);
        if (pass == 0 && mabd_arena_allocate(&w->allocator, &arena) != MABD_OK) {
            return mabd_fail_memory(error, "the derivatives of a step");
        }
    }
    w->memory = arena.memory, w->memory_size = arena.size;
    MABD_TRY(mabd_model_joint_layout(w->model, w->entries, w->layout, &info, error));
    for (int32_t i = 0; i < w->control_count; i++) {
        w->controls[i] = (mabd_parameter){
            .kind = MABD_PARAMETER_CONTROL, .index = i, .first = 1, .last = 1, .scale = 1};
    }
    const mabd_gradient_setup setup = {w->control_count, w->controls, w->values, true, false};
    return mabd_redmax_gradient_make(sim, &setup, GROUP, &w->allocator, &w->g, error);
}

mabd_status mabd_redmax_gradient_step(void* self, const mabd_allocator* allocator,
                                      mabd_real* dnext_dstate, mabd_real* dnext_dcontrol,
                                      mabd_error* error) {
    mabd_redmax_sim* sim = self;
    joint_step w = {.model = sim->model, .allocator = *allocator};
    mabd_real* x = NULL;
    mabd_status status = fill(&w, sim, &x, error);
    if (status == MABD_OK) status = run(&w, dnext_dstate, dnext_dcontrol, x, error);
    mabd_redmax_gradient_close(w.g, allocator);
    mabd_free(allocator, w.memory, w.memory_size);
    return status;
}
