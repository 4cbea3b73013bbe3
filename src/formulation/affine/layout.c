// SPDX-License-Identifier: Apache-2.0
// Memory, constants and start state of an affine simulation on the CPU.

#include "formulation/affine/affine_layout.h"
#include "formulation/affine/affine_sim.h"
#include "formulation/affine/asleep.h"
#include "formulation/affine/contact/contact_memory.h"
#include "formulation/affine/copies.h"
#include "formulation/affine/cpu/factor.h"
#include "formulation/affine/cpu/isa_table.h"
#include "formulation/affine/cpu/pack.h"
#include "formulation/affine/cpu/reduced_chain.h"
#include "formulation/affine/dual_analysis.h"
#include "formulation/affine/dual_select.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/element/joint_jacobian.h"
#include "formulation/affine/element/turn_joint.h"
#include "formulation/affine/energy_books.h"
#include "formulation/affine/jumps.h"
#include "formulation/affine/targets.h"

#include "math/polar.h"
#include "scene/signal.h"

#include <math.h>
#include <string.h>

// True if a joint has motors but holds nothing: it is in no component of the plan.
static bool is_motor_only(const mabd_model* model, int32_t joint) {
    return model->plan->joint_slot[joint] < 0 &&
           model->row_sets[model->joints[joint].row_set].motor_count > 0;
}

bool mabd_affine_turns_in_frame(const mabd_body_material* material, const mabd_sim_def* def) {
    return def->integrator != MABD_INTEGRATOR_BDF2_LINEAR && !mabd_affine_is_soft(material, def->h);
}

size_t mabd_affine_count_spins(const mabd_model* model, const mabd_sim_def* def) {
    mabd_sim_def resolved = *def;
    bool turns = false;
    mabd_affine_resolve(&resolved);
    for (int32_t i = 0; i < model->class_count; i++) {
        turns |= mabd_affine_turns_in_frame(&model->classes[i].material, &resolved);
    }
    return turns ? (size_t)model->body_count : 0;
}

mabd_affine_sizes mabd_affine_count(const mabd_model* model) {
    const mabd_plan* plan = model->plan;
    mabd_affine_sizes n;
    n.bodies = (size_t)model->body_count;
    n.coordinates = (size_t)model->coordinate_count;
    n.rows = (size_t)plan->row_count;
    n.diagonal_reals = plan->slot_block[plan->slot_count];
    n.edge_reals = plan->edge_block[plan->edge_count];
    n.classes = (size_t)model->class_count;
    n.row_sets = (size_t)model->row_set_count;
    n.forces = (size_t)model->force_count;
    n.components = (size_t)plan->component_count;
    n.copies = (size_t)model->copy_count;
    n.targets = (size_t)mabd_model_control_copies(model) * (size_t)model->control_count;
    n.by_copy = mabd_affine_settles_by_copy(model) ? n.bodies : 0;
    n.axes = model->laws ? n.coordinates : 0;
    n.turns = n.turn_laws = 0;
    for (int32_t i = 0; i < model->row_set_count; i++) {
        const mabd_row_set* set = &model->row_sets[i];
        if (set->damped) n.turns = n.coordinates;
        if (set->damped && set->nonlinear) n.turn_laws = n.coordinates;
    }
    n.motor_only = n.guess = n.rest = 0;
    n.threads = 1;
    n.groups = (size_t)mabd_affine_find_groups(plan, NULL);
    n.held = model->contact.enabled ? n.bodies : 0;
    n.sleeps = mabd_affine_may_sleep(model) ? n.bodies : 0;
    for (int32_t i = 0; i < model->joint_count; i++) n.motor_only += is_motor_only(model, i);
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        const mabd_dual_ops* ops = mabd_rigid_direct_dual(c);
        if (ops && ops->keeps_system) n.rest = n.rows;
    }
    n.widest_body = 1;
    for (int32_t i = 0; i < plan->body_count; i++) {
        if (plan->early[i] >= 0) continue; // a junction processes its joints one by one
        size_t sides = (size_t)(plan->side_start[i + 1] - plan->side_start[i]);
        if (sides > n.widest_body) n.widest_body = sides;
    }
    mabd_affine_books_count(model, &n);
    return n;
}

void mabd_affine_layout(mabd_affine_sim* sim, mabd_arena* arena) {
    const mabd_affine_sizes* n = &sim->sizes;
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    sim->name = mabd_arena_take(arena, (size_t)(columns) * (count), sizeof(mabd_real));
#include "formulation/affine/fields.def"
#undef FIELD
    const size_t controls = n->row_sets * MABD_JOINT_MAX_ROWS;
    const size_t schemes = sim->model->contact.enabled ? 2 : 1;
    sim->blocks = mabd_arena_take(arena, schemes * n->classes, sizeof *sim->blocks);
    sim->controls = mabd_arena_take(arena, controls, sizeof *sim->controls);
    sim->motors = mabd_arena_take(arena, controls, sizeof *sim->motors);
    sim->target = mabd_arena_take(arena, n->targets, sizeof *sim->target);
    sim->target_set = mabd_arena_take(arena, n->targets, sizeof *sim->target_set);
    sim->last_target = mabd_arena_take(arena, n->targets, sizeof *sim->last_target);
    sim->last_set = mabd_arena_take(arena, n->targets, sizeof *sim->last_set);
    sim->older_target = mabd_arena_take(arena, n->targets, sizeof *sim->older_target);
    sim->older_set = mabd_arena_take(arena, n->targets, sizeof *sim->older_set);
    const size_t copies = (size_t)mabd_model_control_copies(sim->model);
    sim->jumps = mabd_arena_take(arena, copies, sizeof *sim->jumps);
    sim->applied_print = mabd_arena_take(arena, copies, sizeof *sim->applied_print);
    sim->applied = mabd_arena_take(arena, 6 * n->bodies, sizeof *sim->applied);
    sim->booked_joint = mabd_arena_take(arena, n->booked_joints, sizeof *sim->booked_joint);
    sim->booked_body = mabd_arena_take(arena, n->booked_bodies, sizeof *sim->booked_body);
    sim->controls_start = mabd_arena_take(arena, n->booked_controls, sizeof *sim->controls_start);
    sim->motors_start = mabd_arena_take(arena, n->booked_controls, sizeof *sim->motors_start);
    sim->force_start = mabd_arena_take(arena, n->forces, sizeof *sim->force_start);
    sim->copies = mabd_arena_take(arena, n->copies, sizeof *sim->copies);
    sim->axes = mabd_arena_take(arena, n->axes, sizeof *sim->axes);
    sim->force_scale = mabd_arena_take(arena, n->forces, sizeof *sim->force_scale);
    sim->body_kind = mabd_arena_take(arena, n->bodies, sizeof *sim->body_kind);
    sim->hangs_on_points = mabd_arena_take(arena, n->bodies, sizeof *sim->hangs_on_points);
    sim->turns_freely = mabd_arena_take(arena, n->bodies, sizeof *sim->turns_freely);
    sim->anchored = mabd_arena_take(arena, n->bodies, sizeof *sim->anchored);
    sim->motor_only = mabd_arena_take(arena, n->motor_only, sizeof *sim->motor_only);
    const size_t widest = n->threads * n->widest_body;
    sim->sides = mabd_arena_take(arena, widest, sizeof *sim->sides);
    sim->springs = mabd_arena_take(arena, widest, sizeof *sim->springs);
    sim->points = mabd_arena_take(arena, widest, sizeof *sim->points);
    sim->duals = mabd_arena_take(arena, n->components, sizeof *sim->duals);
    sim->solvers = mabd_arena_take(arena, n->components, sizeof *sim->solvers);
    sim->softened = mabd_arena_take(arena, n->components, sizeof *sim->softened);
    sim->groups = mabd_arena_take(arena, n->groups, sizeof *sim->groups);
}

// True for three point rows, and springs, dampers and servos without limits on the rotation vector
// only.
static bool is_sprung(const mabd_row_set* set) {
    bool sprung = set->rigid_count == 3 && set->motor_count == 0;
    for (int32_t r = 0; r < set->rigid_count; r++) sprung &= set->rigid[r].kind == MABD_ROW_POINT;
    for (int32_t r = 0; r < set->control_count; r++) {
        sprung &= set->control_row[r].kind == MABD_ROW_VECTOR && !set->control[r].law;
    }
    return sprung;
}

// Kind of a body according to its joints.
static mabd_affine_body_kind kind_by_joints(const mabd_model* m, int32_t body) {
    const mabd_plan* plan = m->plan;
    const bool drags = m->classes[m->body_class[body]].material.drag != 0;
    bool simple = !drags, sprung = true, rows = !drags;
    for (int32_t s = plan->side_start[body]; s < plan->side_start[body + 1]; s++) {
        const int32_t joint = plan->slot_joint[plan->sides[s].slot];
        if (joint < 0) return MABD_BODY_JUNCTION;
        const mabd_row_set* set = &m->row_sets[m->joints[joint].row_set];
        simple &= set->points_only;
        sprung &= is_sprung(set);
        rows &= set->control_count == 0 && set->motor_count == 0;
    }
    if (simple) return MABD_BODY_SIMPLE;
    return sprung ? MABD_BODY_SPRUNG : rows ? MABD_BODY_ROWS : MABD_BODY_GENERAL;
}

static void has_forces(const mabd_model* m, uint8_t* kinds, int32_t body) {
    if (body >= m->body_count) return;
    if (kinds[body] == MABD_BODY_SIMPLE) kinds[body] = MABD_BODY_SPRUNG;
    if (kinds[body] == MABD_BODY_ROWS) kinds[body] = MABD_BODY_GENERAL;
}

// Set mabd_affine_body_kind of every body.
static void find_body_kinds(const mabd_model* m, uint8_t* kinds) {
    for (int32_t i = 0; i < m->body_count; i++) kinds[i] = (uint8_t)kind_by_joints(m, i);
    for (int32_t i = 0; i < m->force_count; i++) has_forces(m, kinds, m->forces[i].body);
    for (int32_t i = 0; i < m->joint_count; i++) {
        if (!is_motor_only(m, i)) continue;
        has_forces(m, kinds, m->joints[i].a);
        has_forces(m, kinds, m->joints[i].b);
    }
}

// True if all rigid rows of a joint are of one of two kinds.
static bool has_rows_of(const mabd_row_set* set, mabd_row_kind kind, mabd_row_kind other) {
    bool all = true;
    for (int32_t r = 0; r < set->rigid_count; r++) {
        all &= set->rigid[r].kind == kind || set->rigid[r].kind == other;
    }
    return all;
}

static void find_points_only(mabd_affine_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->body_count; i++) {
        sim->turns_freely[i] = sim->hangs_on_points[i] = true;
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_row_set* set = &m->row_sets[m->joints[i].row_set];
        const bool shifts = has_rows_of(set, MABD_ROW_POINT, MABD_ROW_SLIDE);
        const bool plain =
            has_rows_of(set, MABD_ROW_POINT, MABD_ROW_POINT) && set->control_count == 0;
        const int32_t bodies[2] = {m->joints[i].a, m->joints[i].b};
        for (int k = 0; k < 2; k++) {
            if (bodies[k] >= m->body_count) continue;
            sim->turns_freely[bodies[k]] &= shifts;
            sim->hangs_on_points[bodies[k]] &= plain;
        }
    }
}

static void find_anchored(mabd_affine_sim* sim) {
    const mabd_plan* plan = sim->model->plan;
    memset(sim->anchored, 0, sim->sizes.bodies * sizeof *sim->anchored);
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* component = &plan->components[i];
        const int32_t* bodies = plan->component_bodies + component->body_first;
        for (int32_t k = 0; k < component->body_count; k++) {
            sim->anchored[bodies[k]] = component->ground_count > 0;
        }
    }
}

static void find_motor_only(mabd_affine_sim* sim) {
    size_t count = 0;
    for (int32_t i = 0; i < sim->model->joint_count; i++) {
        if (is_motor_only(sim->model, i)) sim->motor_only[count++] = i;
    }
}

size_t mabd_affine_schedule_bytes_for(const mabd_model* m) {
    const size_t bodies = (size_t)m->body_count;
    uint8_t* kinds = mabd_alloc(&m->allocator, bodies);
    if (!kinds) return SIZE_MAX;
    find_body_kinds(m, kinds);
    const size_t bytes = mabd_affine_packs_bytes_for(m, kinds);
    mabd_free(&m->allocator, kinds, bodies);
    return bytes;
}

static void find_steps(mabd_affine_sim* sim) {
    for (int32_t i = 0; i < sim->model->signal_count; i++) {
        sim->has_steps |= sim->model->signals[i].kind == MABD_SIGNAL_STEPS;
    }
}

static void find_shared_edges(mabd_affine_sim* sim) {
    const mabd_plan* plan = sim->model->plan;
    sim->shared_edges = plan->pair_start[plan->body_count] > plan->edge_count;
}

mabd_status mabd_affine_prepare(mabd_affine_sim* sim, const mabd_allocator* allocator) {
    sim->stages = mabd_affine_isa_table_of(mabd_isa_count() - 1);
    MABD_TRY(mabd_affine_contacts_create(sim->model, allocator, &sim->contacts));
    find_body_kinds(sim->model, sim->body_kind);
    find_points_only(sim);
    find_anchored(sim);
    find_motor_only(sim);
    mabd_affine_books_list(sim);
    find_shared_edges(sim);
    find_steps(sim);
    const bool in_order = sim->sizes.threads == 1 || sim->contacts || sim->shared_edges;
    mabd_affine_find_groups(sim->model->plan, sim->groups);
    MABD_TRY(
        mabd_affine_packs_create(allocator, sim->model, sim->body_kind, in_order, &sim->packs));
    sim->shares = &sim->packs->shares;
    MABD_TRY(mabd_affine_reduced_chain_create(sim, allocator));
    MABD_TRY(mabd_pool_create(allocator, (int32_t)sim->sizes.threads, &sim->pool));
    MABD_TRY(mabd_affine_analysis_begin(sim, allocator));
    for (int32_t i = 0; i < sim->model->plan->component_count; i++) {
        sim->duals[i] = mabd_affine_dual_select(sim, i);
        if (!sim->solvers_later) MABD_TRY(mabd_affine_make_solver(sim, allocator, i));
    }
    return MABD_OK;
}

mabd_status mabd_affine_make_solver(mabd_affine_sim* sim, const mabd_allocator* allocator,
                                    int32_t component) {
    const mabd_dual_ops* ops = sim->duals[component];
    if (!ops || sim->solvers[component]) return MABD_OK;
    const mabd_dual_system system = mabd_affine_dual_system(sim, component);
    mabd_dual_block_symbolic* symbolic =
        ops->create_from ? mabd_affine_analysis_take(sim, component) : NULL;
    return symbolic ? ops->create_from(allocator, &system, symbolic, &sim->solvers[component])
                    : ops->create(allocator, &system, &sim->solvers[component]);
}

void mabd_affine_release(mabd_affine_sim* sim, const mabd_allocator* allocator) {
    mabd_affine_contacts_destroy(sim->contacts);
    mabd_pool_destroy(sim->pool);
    mabd_affine_reduced_chain_destroy(sim, allocator);
    mabd_affine_packs_destroy(allocator, sim->packs);
    if (!sim->solvers) return;
    for (int32_t i = 0; i < sim->model->plan->component_count; i++) {
        const mabd_dual_ops* ops = sim->duals[i];
        if (ops && sim->solvers[i]) ops->destroy(allocator, sim->solvers[i]);
    }
}

mabd_real mabd_affine_coordinate_rate(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                                      const mabd_joint_view* view, const mabd_row* row) {
    const mabd_vec3 gap = mabd_joint_gap(view);
    mabd_real rate = 0;
    for (int is_b = 0; is_b < 2; is_b++) {
        const int32_t body = is_b ? joint->b : joint->a;
        if (body == sim->model->body_count) continue;
        const mabd_mat3 R = is_b ? view->Ab : view->Aa;
        const mabd_vec12 w = mabd_affine_body_rates(sim, body);
        mabd_vec12 rates;
        rates.d1 = mabd_m3_tmul(R, w.d1), rates.d2 = mabd_m3_tmul(R, w.d2);
        rates.d3 = mabd_m3_tmul(R, w.d3), rates.tau = mabd_m3_tmul(R, w.tau);
        rate += mabd_vec12_dot(mabd_affine_row_jacobian(view, row, gap, is_b), rates);
    }
    return rate;
}

// Angular velocity of b against a at q and v, in the joint frame on b [rad/s].
static mabd_vec3 relative_rate(const mabd_affine_sim* sim, const mabd_model_joint* joint,
                               const mabd_joint_view* view) {
    mabd_vec3 sum = mabd_v3(0, 0, 0);
    for (int is_b = 0; is_b < 2; is_b++) {
        const int32_t body = is_b ? joint->b : joint->a;
        if (body == sim->model->body_count) continue;
        mabd_mat3 R = is_b ? view->Ab : view->Aa;
        const mabd_vec12 v = mabd_affine_body_rates(sim, body);
        mabd_vec12 rates = {mabd_v3(0, 0, 0), mabd_v3(0, 0, 0), mabd_v3(0, 0, 0), mabd_v3(0, 0, 0)};
        mabd_polar(R, &R);
        rates.d1 = mabd_m3_tmul(R, v.d1), rates.d2 = mabd_m3_tmul(R, v.d2);
        rates.d3 = mabd_m3_tmul(R, v.d3);
        const mabd_real sign = is_b ? (mabd_real)0.5 : (mabd_real)-0.5;
        sum = mabd_v3_axpy(sign, mabd_m3_mul(R, mabd_vec12_rotation(rates)), sum);
    }
    return mabd_m3_tmul(mabd_m3_product(view->Ab, view->Fb), sum);
}

void mabd_affine_read_coordinates(mabd_affine_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        mabd_real x[MABD_JOINT_MAX_ROWS];
        mabd_joint_view view;
        if (joint->coordinate < 0) continue;
        mabd_affine_view(sim, joint, sim->q, &view);
        mabd_joint_coordinates(&view, set->control_count, set->control_row,
                               sim->x + joint->coordinate, x);
        memcpy(sim->x + joint->coordinate, x, (size_t)set->control_count * sizeof *x);
        if (set->damped) mabd_affine_turn_start(sim, joint, relative_rate(sim, joint, &view));
        for (int32_t r = 0; r < set->control_count; r++) {
            sim->xd[joint->coordinate + r] =
                mabd_affine_coordinate_rate(sim, joint, &view, &set->control_row[r]);
        }
    }
}

void mabd_affine_reset(mabd_affine_sim* sim) {
    const mabd_model* m = sim->model;
    const mabd_affine_sizes* n = &sim->sizes;
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    memset(sim->name, 0, (size_t)(columns) * (count) * sizeof(mabd_real));
#include "formulation/affine/fields.def"
#undef FIELD
    for (int32_t i = 0; i < m->body_count; i++) {
        const mabd_model_class* c = &m->classes[m->body_class[i]];
        mabd_model_to_affine(c, &sim->start[i], sim->q + 12 * (size_t)i, sim->v + 12 * (size_t)i);
        if (m->body_motion[i] != MABD_MOTION_DYNAMIC) {
            memset(sim->v + 12 * (size_t)i, 0, 12 * sizeof(mabd_real));
        }
    }
    const mabd_vec12 world = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
    mabd_vec12_store(world, sim->q + 12 * n->bodies);
    memcpy(sim->q1, sim->q, 12 * (n->bodies + 1) * sizeof(mabd_real));
    memcpy(sim->q_new, sim->q, 12 * (n->bodies + 1) * sizeof(mabd_real));
    memcpy(sim->ref, sim->q, 12 * (n->bodies + 1) * sizeof(mabd_real));
    memcpy(sim->v1, sim->v, 12 * n->bodies * sizeof(mabd_real));
    for (size_t i = 0; i < n->spins; i++) mabd_affine_stage_reset_spin(sim, (int32_t)i);
    memset(sim->target_set, 0, n->targets * sizeof *sim->target_set);
    memset(sim->times, 0, sizeof sim->times);
    if (sim->contacts) {
        mabd_affine_contacts_forget(sim->contacts);
        memset(sim->contacts->by_body.euler_steps, 0, n->bodies * sizeof(mabd_real));
        memset(sim->contacts->by_body.euler, 0, n->bodies);
    }
    memset(sim->applied, 0, 6 * n->bodies * sizeof *sim->applied);
    sim->has_applied = false;
    mabd_affine_forget_inputs(sim);
    mabd_affine_read_coordinates(sim);
}

/// The step of a solve.
typedef struct solve_span {
    mabd_real time, h, end; // [s]
    bool stage;             // prescribed positions are those of the first solve of SDIRK2
} solve_span;

static mabd_real value_of(const mabd_signal* signal, const solve_span* s, mabd_real fallback) {
    return signal ? mabd_signal_over(signal, s->time, s->h, s->end) : fallback;
}

// Target of a servo; one of a rigid servo is a prescribed position.
static mabd_real target_of(const mabd_control* c, const mabd_signal* signal, const solve_span* s) {
    if (!signal || !s->stage || !mabd_axis_is_position(c)) return value_of(signal, s, 0);
    return mabd_signal_stage(signal, s->time, s->end - s->time);
}

static void set_scheme(mabd_affine_step_scale* step, mabd_affine_scheme scheme, mabd_real time,
                       mabd_real h) {
    const mabd_real g = 1 - (mabd_real)sqrt(0.5), k = (1 - g) / g;
    step->beta_h = step->lead = h;
    step->w = 1;
    step->w1 = step->curve = step->back = 0;
    step->time_end = time + h;
    step->saves_start = scheme == MABD_SCHEME_SDIRK_FIRST;
    switch (scheme) {
    case MABD_SCHEME_EULER:
        break;
    case MABD_SCHEME_BDF2:
    case MABD_SCHEME_START:
        step->beta_h = 2 * h / 3;
        step->w = (mabd_real)4 / 3, step->w1 = (mabd_real)-1 / 3;
        step->curve = (mabd_real)0.5;
        step->back = h;
        break;
    case MABD_SCHEME_SDIRK_FIRST:
        step->beta_h = step->lead = g * h;
        step->time_end = time + g * h;
        break;
    case MABD_SCHEME_SDIRK_SECOND:
        step->beta_h = g * h;
        step->w = k, step->w1 = 1 - k;
        step->lead = (1 - g) * h;
        step->curve = k / 2; // half of the lead divided by the distance to q1
        step->back = g * h;
        break;
    }
}

// Compute the blocks of all classes for one beta h, unless they exist.
static void make_blocks(mabd_affine_sim* sim, size_t scheme, mabd_real beta_h) {
    const mabd_model* m = sim->model;
    if (sim->blocks_beta_h[scheme] == beta_h) return;
    for (size_t i = 0; i < sim->sizes.classes; i++) {
        sim->blocks[scheme * sim->sizes.classes + i] =
            mabd_affine_block_make(&m->classes[i].material, beta_h);
        sim->blocks[scheme * sim->sizes.classes + i].soft =
            !mabd_affine_turns_in_frame(&m->classes[i].material, &sim->def);
    }
    sim->blocks_beta_h[scheme] = beta_h;
}

// Compute the controls of a row set and its motors at a time; the compliances of controls are those
// of the current solve.
static void set_row_set(mabd_affine_sim* sim, int32_t index, const solve_span* span) {
    const mabd_row_set* set = &sim->model->row_sets[index];
    const size_t at = (size_t)index * MABD_JOINT_MAX_ROWS;
    const mabd_real rate = 1 / sim->step.beta_h;
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        mabd_affine_control_value* value = &sim->controls[at + (size_t)r];
        const mabd_real target = target_of(c, c->servo, span);
        // k + d/bh + I/bh^2
        const mabd_real k = c->stiffness + rate * (c->damping + rate * c->armature);
        // an axis of a damped rotation may have no gains
        value->compliance = c->rigid || c->law || !(k > 0) ? 0 : 1 / k;
        value->target = mabd_affine_control_target(c, target);
        value->drive = target_of(c, c->drive, span);
    }
    for (int32_t r = 0; r < set->motor_count; r++) {
        sim->motors[at + (size_t)r] = value_of(set->motor[r].force, span, 0);
    }
}

// Set controls, motors and forces of a solve; returns the wind [m/s].
static mabd_vec3 set_values(mabd_affine_sim* sim, const solve_span* span) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->row_set_count; i++) set_row_set(sim, i, span);
    for (int32_t i = 0; i < m->force_count; i++) {
        sim->force_scale[i] = value_of(m->forces[i].signal, span, 1);
    }
    mabd_affine_apply_targets(sim);
    return mabd_v3_scale(value_of(m->wind, span, 0), mabd_v3_load(m->wind_direction));
}

mabd_vec3 mabd_affine_set_values(mabd_affine_sim* sim, mabd_real time) {
    const solve_span span = {time, sim->def.h, time, false};
    sim->is_stage = false;
    return set_values(sim, &span);
}

void mabd_affine_begin_solve(mabd_affine_sim* sim, mabd_affine_scheme scheme, mabd_real time,
                             mabd_real h) {
    const mabd_model* m = sim->model;
    mabd_affine_step_scale* step = &sim->step;
    set_scheme(step, scheme, time, h);
    const bool orbits = sim->sizes.spins > 0 && sim->def.affine.orbit;
    step->orbits = orbits && scheme == MABD_SCHEME_BDF2;
    step->starts_orbits = orbits && scheme == MABD_SCHEME_START;
    sim->is_stage = scheme == MABD_SCHEME_SDIRK_FIRST;
    const solve_span span = {time, h, step->time_end, sim->is_stage && sim->restarts};
    make_blocks(sim, 0, step->beta_h);
    if (sim->contacts) {
        // from where q is to the end: in both solves of SDIRK2 a part of the step
        const bool second = scheme == MABD_SCHEME_SDIRK_SECOND;
        set_scheme(&sim->euler, MABD_SCHEME_EULER, second ? time + step->back : time, step->lead);
        sim->euler.saves_start = step->saves_start;
        make_blocks(sim, 1, sim->euler.beta_h);
    }
    step->wind = set_values(sim, &span);
    for (int32_t i = 0; i < m->row_set_count; i++) {
        if (!m->row_sets[i].damped) continue;
        const mabd_turn_gains gains = mabd_affine_turn_gains(sim, i);
        mabd_real* to = sim->turn_gains + 12 * (size_t)i;
        mabd_v3_store(gains.stiffness, to), mabd_v3_store(gains.target, to + 3);
        mabd_v3_store(gains.damping, to + 6), mabd_v3_store(gains.armature, to + 9);
    }
}
