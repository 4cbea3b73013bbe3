// SPDX-License-Identifier: Apache-2.0
// Memory of derivatives, and what has none.

#include "formulation/quaternion/start_hold.h"

#include "base/error.h"

#include <string.h>

#define TAKE(field, n) g->field = mabd_arena_take(arena, (n), sizeof *g->field)

static mabd_quaternion_node take_node(const mabd_quaternion_sim* sim, mabd_arena* arena) {
    mabd_quaternion_node node;
    node.body =
        mabd_arena_take(arena, MABD_NODE_REALS * (size_t)sim->model->body_count, sizeof *node.body);
    node.x = mabd_arena_take(arena, 2 * (size_t)sim->model->coordinate_count, sizeof *node.x);
    return node;
}

static void lay_out(mabd_quaternion_gradient* g, mabd_arena* arena) {
    const mabd_quaternion_sim* sim = g->sim;
    const size_t bodies = (size_t)sim->model->body_count, rows = (size_t)sim->row_count;
    TAKE(parameter_part, (size_t)g->parameter_count);
    TAKE(directions, (size_t)g->direction_count);
    TAKE(lambda, rows);
    TAKE(F, sim->unknown_count);
    TAKE(dy, sim->unknown_count);
    TAKE(solution, sim->unknown_count);
    TAKE(xi, 6 * bodies);
    TAKE(eta, 6 * bodies);
    TAKE(open_pose, 7 * bodies);
    TAKE(placed, 12 * bodies);
    TAKE(start, 12 * bodies);
    TAKE(product, (size_t)g->parameter_count);
    TAKE(closing, rows);
    TAKE(projecting, rows);
    TAKE(least, rows);
    TAKE(force_bars, rows);
    TAKE(contradiction, rows);
    TAKE(holds, 2);
    for (int k = 0; k < 2; k++) {
        mabd_start_holds holds = {0};
        mabd_start_lay_out_holds(g, k == 0, &holds, arena);
        if (arena->memory) g->holds[k] = holds;
    }
    g->slope = take_node(sim, arena);
    g->begin = take_node(sim, arena);
    g->struck = take_node(sim, arena);
    TAKE(branch, (size_t)sim->model->coordinate_count);
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_quaternion_tangent t;
        t.now = take_node(sim, arena), t.last = take_node(sim, arena);
        t.slope = take_node(sim, arena), t.stage = take_node(sim, arena);
        t.fresh = take_node(sim, arena), t.past = take_node(sim, arena);
        if (arena->memory) g->directions[i] = t;
    }
}

// ---- what has no derivative --------------------------------------------------------------------

static mabd_status refuse(const char* kind, const char* why, mabd_error* error) {
    return mabd_fail(error, MABD_ERR_UNAVAILABLE, "formulation 'quaternion', %s: %s", kind, why);
}

static mabd_status check_control(const mabd_model* m, const mabd_parameter* p, const char* name,
                                 mabd_error* error) {
    int32_t k = 0;
    const mabd_control* c = mabd_rigid_axis_control(m, p, &k);
    if (!c) return refuse(name, "the axis has no control", error);
    const mabd_row_set* set = &m->row_sets[m->joints[p->index].row_set];
    const bool turns = mabd_quaternion_is_damped_turn(set, k);
    const bool spring = p->kind == MABD_PARAMETER_STIFFNESS || p->kind == MABD_PARAMETER_REST;
    if (c->rigid) return refuse(name, "a rigid servo overrules it", error);
    if (spring && turns && !c->law && !(c->stiffness > 0)) {
        return refuse(name, "a damped rotation without a spring has no derivative by it", error);
    }
    if (p->kind == MABD_PARAMETER_ARMATURE && !(c->armature > 0)) {
        return refuse(name, "an axis without armature has no derivative by it", error);
    }
    if (p->kind == MABD_PARAMETER_FRICTION && !(c->friction > 0)) {
        return refuse(name, "an axis without dry friction has no derivative by it", error);
    }
    return MABD_OK;
}

static mabd_status check_parameter(const mabd_quaternion_sim* sim, const mabd_parameter* p,
                                   mabd_error* error) {
    const mabd_model* m = sim->model;
    const char* name = mabd_parameter_kind_name(p->kind);
    switch (p->kind) {
    case MABD_PARAMETER_COORDINATE:
    case MABD_PARAMETER_RATE:
        return mabd_start_check_hold(sim, p, error);
    case MABD_PARAMETER_SPRING:
    case MABD_PARAMETER_GROUND:
    case MABD_PARAMETER_SPLINE:
        return refuse(name, "no derivatives by this kind", error);
    case MABD_PARAMETER_STIFFNESS:
    case MABD_PARAMETER_REST:
    case MABD_PARAMETER_DAMPING:
    case MABD_PARAMETER_ARMATURE:
    case MABD_PARAMETER_FRICTION:
        return check_control(m, p, name, error);
    case MABD_PARAMETER_AXIS_A:
    case MABD_PARAMETER_AXIS_B:
        if (m->joints[p->index].frame < 0) return refuse(name, "the joint has no axes", error);
        if (m->row_sets[m->joints[p->index].row_set].damped) {
            return refuse(name, "the joint has dampers on a free rotation", error);
        }
        return MABD_OK;
    default:
        return MABD_OK;
    }
}

static bool has_tableau(mabd_integrator i) {
    return i == MABD_INTEGRATOR_EULER || i == MABD_INTEGRATOR_BDF2 || i == MABD_INTEGRATOR_SDIRK2 ||
           i == MABD_INTEGRATOR_TRBDF2 || i == MABD_INTEGRATOR_PARESCHI_RUSSO;
}

// Accelerations of redundant rows, with which trbdf2 starts, need the graph of least-norm
// multipliers (tangent_redundant.c).
static mabd_status check_accelerations(const mabd_quaternion_sim* sim, mabd_error* error) {
    const mabd_integrator i = sim->def.integrator;
    const mabd_integrator start = i == MABD_INTEGRATOR_BDF2 ? sim->def.quaternion.bdf2_start : i;
    for (int32_t p = 0; p < sim->part_count; p++) {
        if (start != MABD_INTEGRATOR_TRBDF2 || !sim->parts[p].redundant || sim->parts[p].graph) {
            continue;
        }
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation 'quaternion': derivatives of 'trbdf2' with redundant rows "
                         "need multipliers 'least-norm'");
    }
    return MABD_OK;
}

// ---- open and close ----------------------------------------------------------------------------

// Part of a body or a joint, -1 = none.
static int32_t part_of(const mabd_quaternion_sim* sim, int32_t body, int32_t joint) {
    for (int32_t i = 0; i < sim->part_count; i++) {
        const mabd_quaternion_part* part = &sim->parts[i];
        for (int32_t k = 0; body >= 0 && k < part->body_count; k++) {
            if (sim->bodies[part->body_first + k] == body) return i;
        }
        const int32_t place = joint >= 0 ? sim->joint_place[joint] - part->joint_first : -1;
        if (place >= 0 && place < part->joint_count) return i;
    }
    return -1;
}

static void place_parameters(mabd_quaternion_gradient* g) {
    const mabd_model* m = g->sim->model;
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const mabd_parameter* p = &g->parameters[i];
        int32_t body = -1, joint = -1;
        switch (p->kind) {
        case MABD_PARAMETER_GRAVITY:
            break;
        case MABD_PARAMETER_CONTROL:
            joint = p->index / m->control_count * m->copy_joints +
                    m->controls[p->index % m->control_count].joint;
            break;
        case MABD_PARAMETER_COORDINATE:
        case MABD_PARAMETER_RATE:
        case MABD_PARAMETER_ANCHOR_A:
        case MABD_PARAMETER_ANCHOR_B:
        case MABD_PARAMETER_AXIS_A:
        case MABD_PARAMETER_AXIS_B:
        case MABD_PARAMETER_STIFFNESS:
        case MABD_PARAMETER_REST:
        case MABD_PARAMETER_DAMPING:
        case MABD_PARAMETER_ARMATURE:
        case MABD_PARAMETER_FRICTION:
            joint = p->index;
            break;
        default:
            body = p->index;
            break;
        }
        g->parameter_part[i] = part_of(g->sim, body, joint);
    }
}

mabd_status mabd_quaternion_gradient_open(void* self, const mabd_gradient_setup* setup,
                                          const mabd_allocator* allocator, void** work,
                                          mabd_error* error) {
    mabd_quaternion_sim* sim = self;
    mabd_arena arena = {0};
    if (!has_tableau(sim->def.integrator)) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation 'quaternion': integrator '%s' has no derivatives",
                         mabd_integrator_name(sim->def.integrator));
    }
    if (sim->dual) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation 'quaternion': derivatives need the exact Newton, not "
                         "newton 'symmetric'");
    }
    MABD_TRY(check_accelerations(sim, error));
    for (int32_t i = 0; i < setup->parameter_count; i++) {
        MABD_TRY(check_parameter(sim, &setup->parameters[i], error));
    }
    mabd_quaternion_gradient* g = mabd_alloc(allocator, sizeof *g);
    if (!g) return mabd_fail_memory(error, "creating a gradient");
    g->sim = sim;
    g->parameter_count = setup->parameter_count;
    g->parameters = setup->parameters, g->values = setup->values;
    g->direction_count = setup->forward ? setup->parameter_count : 1;
    for (int32_t i = 0; i < g->parameter_count; i++) {
        g->has_forces |= g->parameters[i].kind == MABD_PARAMETER_FORCE;
    }
    lay_out(g, &arena);
    if (mabd_arena_allocate(allocator, &arena) != MABD_OK) {
        mabd_free(allocator, g, sizeof *g);
        return mabd_fail_memory(error, "creating a gradient");
    }
    lay_out(g, &arena);
    g->memory = arena.memory, g->memory_size = arena.size;
    place_parameters(g);
    *work = g;
    return MABD_OK;
}

void mabd_quaternion_gradient_close(void* work, const mabd_allocator* allocator) {
    mabd_quaternion_gradient* g = work;
    if (!g) return;
    mabd_free(allocator, g->memory, g->memory_size);
    mabd_free(allocator, g, sizeof *g);
}

size_t mabd_quaternion_gradient_bytes(const void* work) {
    const mabd_quaternion_gradient* g = work;
    return mabd_bytes(1, sizeof *g) + g->memory_size;
}

void mabd_tangent_clear(const mabd_quaternion_sim* sim, mabd_quaternion_node node) {
    const size_t bodies = (size_t)sim->model->body_count;
    const size_t coordinates = (size_t)sim->model->coordinate_count;
    memset(node.body, 0, MABD_NODE_REALS * bodies * sizeof *node.body);
    memset(node.x, 0, 2 * coordinates * sizeof *node.x);
}

void mabd_quaternion_clear_directions(mabd_quaternion_gradient* g) {
    for (int32_t i = 0; i < g->direction_count; i++) {
        const mabd_quaternion_tangent* t = &g->directions[i];
        mabd_tangent_clear(g->sim, t->now), mabd_tangent_clear(g->sim, t->last);
        mabd_tangent_clear(g->sim, t->slope);
    }
    memset(g->lambda, 0, (size_t)g->sim->row_count * sizeof *g->lambda);
    memset(g->product, 0, (size_t)g->parameter_count * sizeof *g->product);
}

mabd_real mabd_quaternion_parameter_product(const void* work, int32_t parameter,
                                            const mabd_real* start) {
    const mabd_quaternion_gradient* g = work;
    const size_t reals = 12 * (size_t)g->sim->model->body_count;
    mabd_real sum = g->product[parameter];
    for (size_t i = 0; start && i < reals; i++) sum += g->start[i] * start[i];
    return sum;
}
