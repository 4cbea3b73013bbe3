// SPDX-License-Identifier: Apache-2.0
// Memory of derivatives, and what has none.

#include "formulation/redmax/redmax_tangent.h"

#include "base/error.h"
#include "formulation/redmax/redmax_loops.h"
#include "rigid/parameter_change.h"

#include <string.h>

#define TAKE(field, n) g->field = mabd_arena_take(arena, (n), sizeof *g->field)

static mabd_redmax_tangent take_tangent(const mabd_redmax_sim* sim, mabd_arena* arena) {
    mabd_redmax_tangent t;
    t.q = mabd_arena_take(arena, (size_t)sim->freedom_count, sizeof *t.q);
    t.v = mabd_arena_take(arena, (size_t)sim->freedom_count, sizeof *t.v);
    return t;
}

static void lay_out_links(mabd_redmax_gradient* g, mabd_arena* arena) {
    const size_t links = (size_t)g->sim->link_count, bodies = (size_t)g->sim->model->body_count;
    TAKE(changes.parent_side, links);
    TAKE(changes.body_side, links);
    TAKE(changes.load, links);
    TAKE(xi, links);
    TAKE(eta, links);
    TAKE(joint_xi, links);
    TAKE(wrench, links);
    TAKE(still_links, links);
    TAKE(still_freedoms, (size_t)g->sim->freedom_count);
    TAKE(still_force, bodies + 1);
    TAKE(still_poses, (size_t)g->sim->part_count);
    TAKE(force, (size_t)g->sim->loops.row_count);
    TAKE(changes.rows, (size_t)g->sim->loops.row_count);
    TAKE(mu, (size_t)g->border_count);
    TAKE(kept_bars, 2 * (size_t)g->sim->loops.cut_count);
    TAKE(way, g->projects ? MABD_REDMAX_CORRECTIONS * (size_t)g->sim->freedom_count : 0);
    TAKE(poses, 7 * bodies);
    TAKE(rates, 6 * bodies);
    TAKE(placed, 12 * bodies);
    TAKE(start, 12 * bodies);
}

static bool is_rk45(const mabd_redmax_gradient* g) {
    return g->sim->def.integrator == MABD_INTEGRATOR_RK45;
}

// Slopes of a part of a step, two reals a freedom.
static size_t slope_reals(const mabd_redmax_gradient* g) {
    return is_rk45(g) ? 2 * MABD_REDMAX_RK45_STAGES * (size_t)g->sim->freedom_count : 0;
}

static void lay_out_rk45(mabd_redmax_gradient* g, mabd_arena* arena) {
    const size_t freedoms = is_rk45(g) ? (size_t)g->sim->freedom_count : 0;
    const size_t balls = is_rk45(g) ? (size_t)g->sim->ball_count : 0;
    const size_t starts = is_rk45(g) ? MABD_REDMAX_RK45_STARTS : 0;
    TAKE(rk_nodes, starts);
    TAKE(rk_places, starts);
    TAKE(rk_bars, slope_reals(g));
    for (size_t i = 0; i < starts; i++) {
        mabd_redmax_node n;
        n.q = mabd_arena_take(arena, freedoms, sizeof *n.q);
        n.v = mabd_arena_take(arena, freedoms, sizeof *n.v);
        n.turn = mabd_arena_take(arena, 4 * balls, sizeof *n.turn);
        n.theta = mabd_arena_take(arena, 3 * balls, sizeof *n.theta);
        n.chart = mabd_arena_take(arena, balls, sizeof *n.chart);
        if (arena->memory) g->rk_nodes[i] = n;
    }
}

static void lay_out_lines(mabd_redmax_gradient* g, mabd_arena* arena) {
    const bool linear = g->sim->def.integrator == MABD_INTEGRATOR_LINEAR_IMPLICIT;
    const bool lines = linear || is_rk45(g);
    const size_t freedoms = lines ? (size_t)g->sim->freedom_count : 0;
    TAKE(line_q, freedoms);
    TAKE(line_v, freedoms);
    TAKE(line_z, freedoms);
    TAKE(line_mu, lines ? (size_t)g->border_count : 0);
    TAKE(line_force, lines ? (size_t)g->sim->loops.row_count : 0);
}

static void lay_out(mabd_redmax_gradient* g, mabd_arena* arena) {
    const size_t n = (size_t)g->sim->freedom_count, parameters = (size_t)g->parameter_count;
    mabd_real** vectors[] = {&g->q,           &g->v,          &g->a,           &g->z,
                             &g->base_q,      &g->base_v,     &g->target,      &g->hold,
                             &g->last_target, &g->base_theta, &g->stage_theta, &g->changes.r,
                             &g->closed_q,    &g->closed_v,   &g->open_v};
    TAKE(parameter_part, parameters);
    TAKE(parameter_freedom, parameters);
    TAKE(parameter_cut, parameters);
    TAKE(sorted, parameters);
    TAKE(sorted_first, (size_t)g->sim->part_count + 2);
    TAKE(product, parameters);
    TAKE(directions, (size_t)g->direction_count);
    TAKE(branch, (size_t)g->sim->law_count);
    TAKE(sizes, (size_t)1 << g->sim->def.max_halvings);
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *vectors[i] = mabd_arena_take(arena, n, sizeof **vectors[i]);
    }
    lay_out_links(g, arena);
    lay_out_lines(g, arena);
    lay_out_rk45(g, arena);
    for (int32_t i = 0; i < g->direction_count; i++) {
        mabd_redmax_direction d;
        d.now = take_tangent(g->sim, arena), d.last = take_tangent(g->sim, arena);
        d.fresh = take_tangent(g->sim, arena);
        const mabd_redmax_tangent stage = take_tangent(g->sim, arena);
        d.stage_v = stage.q, d.stage_a = stage.v;
        d.stage_theta = mabd_arena_take(arena, n, sizeof *d.stage_theta);
        d.rows = mabd_arena_take(arena, (size_t)g->sim->loops.row_count, sizeof *d.rows);
        d.force = mabd_arena_take(arena, (size_t)g->sim->loops.row_count, sizeof *d.force);
        d.rk_slopes = mabd_arena_take(arena, slope_reals(g), sizeof *d.rk_slopes);
        if (arena->memory) g->directions[i] = d;
    }
}

// ---- what has no derivative --------------------------------------------------------------------

static mabd_status refuse(const char* what, const char* why, mabd_error* error) {
    return mabd_fail(error, MABD_ERR_UNAVAILABLE, "formulation 'redmax', %s: %s", what, why);
}

static mabd_status check_axis(const mabd_redmax_sim* sim, const mabd_parameter* p, const char* name,
                              mabd_error* error) {
    const int32_t k = mabd_redmax_find_axis(sim, p->index, p->axis);
    if (k < 0) return refuse(name, "the joint is not in the tree of joints", error);
    const mabd_redmax_freedom* f = &sim->freedoms[k];
    const bool start = p->kind == MABD_PARAMETER_COORDINATE || p->kind == MABD_PARAMETER_RATE;
    if (start && sim->links[f->link].kind == MABD_PRIMITIVE_BALL) {
        return refuse(name,
                      "an axis of three free rotations is none of its coordinates; use "
                      "start-rotation or start-angular",
                      error);
    }
    if (!start && !f->control) return refuse(name, "the axis has no control", error);
    if (!start && f->prescribed) return refuse(name, "a rigid servo overrules it", error);
    const bool smooth = f->control && f->control->friction_speed > 0;
    if (p->kind == MABD_PARAMETER_FRICTION && !smooth && !(f->control->friction > 0)) {
        return refuse(name, "the axis has none in the scene", error);
    }
    return MABD_OK;
}

static mabd_status check_parameter(const mabd_redmax_sim* sim, const mabd_parameter* p,
                                   mabd_error* error) {
    const char* name = mabd_parameter_kind_name(p->kind);
    switch (p->kind) {
    case MABD_PARAMETER_COORDINATE:
    case MABD_PARAMETER_RATE:
    case MABD_PARAMETER_STIFFNESS:
    case MABD_PARAMETER_REST:
    case MABD_PARAMETER_DAMPING:
    case MABD_PARAMETER_ARMATURE:
    case MABD_PARAMETER_FRICTION:
        return check_axis(sim, p, name, error);
    case MABD_PARAMETER_SPLINE:
        if (sim->joint_link[p->index] >= 0) return MABD_OK;
        return refuse(name, "the joint is not in the tree of joints", error);
    case MABD_PARAMETER_AXIS_A:
    case MABD_PARAMETER_AXIS_B:
        if (sim->model->joints[p->index].frame >= 0) return MABD_OK;
        return refuse(name, "the joint has no axes", error);
    case MABD_PARAMETER_CENTER:
    case MABD_PARAMETER_INERTIA:
        if (!mabd_model_is_node(sim->model, p->index)) return MABD_OK;
        return refuse(name, "a node has mass alone", error);
    default:
        return MABD_OK;
    }
}

// One Newton iteration with bounds that follow the loads of pins, and with forces that hold
// components of rotation vectors: these are functions of the end of the step.
static mabd_status check_linear(const mabd_redmax_sim* sim, mabd_error* error) {
    const char* name = mabd_integrator_name(sim->def.integrator);
    if (sim->def.integrator != MABD_INTEGRATOR_LINEAR_IMPLICIT) return MABD_OK;
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (sim->parts[i].pins) return refuse(name, "pins have no derivatives", error);
    }
    for (int32_t i = 0; i < sim->law_count; i++) {
        const mabd_redmax_freedom* f = &sim->freedoms[sim->laws[i].freedom];
        if (sim->links[f->link].kind != MABD_PRIMITIVE_BALL) continue;
        return refuse(name,
                      "stops, rigid servos, limited drives and dry friction on three free "
                      "rotations have no derivatives",
                      error);
    }
    return MABD_OK;
}

// ---- parameters --------------------------------------------------------------------------------

int32_t mabd_redmax_find_axis(const mabd_redmax_sim* sim, int32_t joint, int32_t axis) {
    int32_t i = sim->joint_link[joint];
    for (; i >= 0 && sim->links[i].joint == joint; i = sim->links[i].parent) {
        const mabd_redmax_link* link = &sim->links[i];
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            if (sim->freedoms[k].axis == axis) return k;
        }
    }
    return -1;
}

// Freedom of a control of all copies, and its joint.
static int32_t control_freedom(const mabd_redmax_sim* sim, int32_t index, int32_t* joint) {
    const mabd_model* m = sim->model;
    const mabd_copy_control* own = &m->controls[index % m->control_count];
    *joint = index / m->control_count * m->copy_joints + own->joint;
    const mabd_row_set* set = &m->row_sets[m->joints[*joint].row_set];
    const mabd_row* row =
        own->kind == MABD_CONTROL_FORCE ? &set->motor[own->row].row : &set->control_row[own->row];
    return mabd_redmax_find_axis(sim, *joint,
                                 row->kind == MABD_ROW_SLIDE ? row->axis : row->axis + 3);
}

static int32_t part_of(const mabd_redmax_sim* sim, int32_t link) {
    for (int32_t p = 0; p < sim->part_count; p++) {
        const mabd_redmax_part* part = &sim->parts[p];
        if (link >= part->link_first && link < part->link_first + part->link_count) return p;
    }
    return -1;
}

// A link of a joint: the last of its string, or one that it holds if it is cut; -1 = none.
static int32_t joint_link_of(const mabd_redmax_sim* sim, int32_t joint) {
    const mabd_redmax_cut* cut = mabd_redmax_find_cut(sim, joint);
    if (cut && !cut->weld) return cut->a >= 0 ? cut->a : cut->b;
    return sim->joint_link[joint];
}

// A link that a spring pulls.
static int32_t spring_link_of(const mabd_redmax_sim* sim, int32_t spring) {
    const mabd_model_spring* own = &sim->model->springs[spring];
    const mabd_redmax_point* points = sim->springs.points + own->first;
    int32_t i = 0;
    while (i < own->count - 1 && points[i].link < 0) i++;
    return points[i].link;
}

// Link that a parameter belongs to, -1 = none; *freedom of an axis or control.
static int32_t link_of(const mabd_redmax_sim* sim, const mabd_parameter* p, int32_t* freedom) {
    int32_t joint = p->index;
    *freedom = -1;
    switch (p->kind) {
    case MABD_PARAMETER_GRAVITY:
    case MABD_PARAMETER_GROUND:
        return -1;
    case MABD_PARAMETER_SPRING:
        return spring_link_of(sim, p->index);
    case MABD_PARAMETER_CONTROL:
        *freedom = control_freedom(sim, p->index, &joint);
        return sim->joint_link[joint];
    case MABD_PARAMETER_ANCHOR_A:
    case MABD_PARAMETER_ANCHOR_B:
    case MABD_PARAMETER_AXIS_A:
    case MABD_PARAMETER_AXIS_B:
    case MABD_PARAMETER_SPLINE:
        return joint_link_of(sim, joint);
    case MABD_PARAMETER_COORDINATE:
    case MABD_PARAMETER_RATE:
    case MABD_PARAMETER_STIFFNESS:
    case MABD_PARAMETER_REST:
    case MABD_PARAMETER_DAMPING:
    case MABD_PARAMETER_ARMATURE:
    case MABD_PARAMETER_FRICTION:
        *freedom = mabd_redmax_find_axis(sim, joint, p->axis);
        return sim->joint_link[joint];
    default:
        return p->index < 0 ? -1 : sim->body_link[p->index];
    }
}

static bool is_place(mabd_parameter_kind kind) {
    return kind >= MABD_PARAMETER_ANCHOR_A && kind <= MABD_PARAMETER_AXIS_B;
}

static bool is_ball_axis(const mabd_redmax_sim* sim, int32_t freedom) {
    if (freedom < 0) return false;
    return sim->links[sim->freedoms[freedom].link].kind == MABD_PRIMITIVE_BALL;
}

static void place_parameters(mabd_redmax_gradient* g) {
    const mabd_redmax_sim* sim = g->sim;
    int32_t count = 0;
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const int32_t link = link_of(sim, &g->parameters[i], &g->parameter_freedom[i]);
        g->parameter_part[i] = link < 0 ? -1 : part_of(sim, link);
        g->parameter_cut[i] = NULL;
        g->asks_balls |= is_ball_axis(sim, g->parameter_freedom[i]);
        if (is_place(g->parameters[i].kind)) {
            const mabd_redmax_cut* cut = mabd_redmax_find_cut(sim, g->parameters[i].index);
            if (cut && !cut->weld) g->parameter_cut[i] = cut, g->moves_cuts = true;
        }
    }
    for (int32_t part = 0; part <= sim->part_count; part++) {
        g->sorted_first[part] = count;
        for (int32_t i = 0; i < g->parameter_count; i++) {
            const int32_t own = g->parameter_part[i];
            if (own == part || (own < 0 && part == sim->part_count)) g->sorted[count++] = i;
        }
    }
    g->sorted_first[sim->part_count + 1] = count;
}

// ---- open and close ----------------------------------------------------------------------------

static void release(mabd_redmax_gradient* g, const mabd_allocator* allocator) {
    mabd_joint_tree_free(allocator, &g->graph);
    mabd_free(allocator, g->memory, g->memory_size);
    mabd_free(allocator, g, sizeof *g);
}

static mabd_status take_memory(mabd_redmax_gradient* g, const mabd_allocator* allocator) {
    mabd_arena arena = {0};
    MABD_TRY(mabd_joint_tree_init(allocator, g->sim->model, &g->graph));
    mabd_redmax_count_springs(g->sim->model, &g->graph.tree);
    lay_out(g, &arena);
    MABD_TRY(mabd_arena_allocate(allocator, &arena));
    lay_out(g, &arena);
    g->memory = arena.memory, g->memory_size = arena.size;
    return MABD_OK;
}

mabd_status mabd_redmax_gradient_make(mabd_redmax_sim* sim, const mabd_gradient_setup* setup,
                                      int32_t direction_count, const mabd_allocator* allocator,
                                      mabd_redmax_gradient** out, mabd_error* error) {
    MABD_TRY(check_linear(sim, error));
    if (sim->contacts) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation 'redmax': contacts of shapes are not smooth and have no "
                         "derivatives");
    }
    for (int32_t i = 0; i < setup->parameter_count; i++) {
        MABD_TRY(check_parameter(sim, &setup->parameters[i], error));
    }
    mabd_redmax_gradient* g = mabd_alloc(allocator, sizeof *g);
    if (!g) return mabd_fail_memory(error, "creating a gradient");
    g->sim = sim;
    g->parameter_count = setup->parameter_count;
    g->parameters = setup->parameters, g->values = setup->values;
    g->direction_count = direction_count;
    g->keeps_wrench = setup->forces;
    g->keeps_stage = sim->def.integrator == MABD_INTEGRATOR_SDIRK2;
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const mabd_parameter_kind kind = g->parameters[i].kind;
        g->keeps_applied |= kind == MABD_PARAMETER_FORCE;
        g->keeps_stage |= sim->def.integrator == MABD_INTEGRATOR_BDF2 &&
                          (kind == MABD_PARAMETER_FORCE || kind == MABD_PARAMETER_CONTROL);
    }
    for (int32_t i = 0; i < sim->part_count; i++) g->border_count += sim->parts[i].border_count;
    g->projects = sim->loops.row_count > 0;
    if (take_memory(g, allocator) != MABD_OK) {
        release(g, allocator);
        return mabd_fail_memory(error, "creating a gradient");
    }
    place_parameters(g);
    *out = g;
    return MABD_OK;
}

mabd_status mabd_redmax_gradient_open(void* self, const mabd_gradient_setup* setup,
                                      const mabd_allocator* allocator, void** work,
                                      mabd_error* error) {
    mabd_redmax_gradient* g = NULL;
    const int32_t directions = setup->forward ? setup->parameter_count : 1;
    MABD_TRY(mabd_redmax_gradient_make(self, setup, directions, allocator, &g, error));
    *work = g;
    return MABD_OK;
}

void mabd_redmax_gradient_close(void* work, const mabd_allocator* allocator) {
    if (work) release(work, allocator);
}

size_t mabd_redmax_gradient_bytes(const void* work) {
    const mabd_redmax_gradient* g = work;
    return mabd_bytes(1, sizeof *g) + g->memory_size + mabd_joint_tree_bytes(&g->graph);
}

void mabd_redmax_clear_directions(mabd_redmax_gradient* g) {
    const size_t bytes = (size_t)g->sim->freedom_count * sizeof(mabd_real);
    for (int32_t i = 0; i < g->direction_count; i++) {
        const mabd_redmax_direction* d = &g->directions[i];
        memset(d->now.q, 0, bytes), memset(d->now.v, 0, bytes);
        memset(d->last.q, 0, bytes), memset(d->last.v, 0, bytes);
        memset(d->force, 0, (size_t)g->sim->loops.row_count * sizeof *d->force);
    }
    memset(g->product, 0, (size_t)g->parameter_count * sizeof *g->product);
    memset(g->wrench, 0, (size_t)g->sim->link_count * sizeof *g->wrench);
    memset(g->target, 0, bytes), memset(g->last_target, 0, bytes);
    memset(g->force, 0, (size_t)g->sim->loops.row_count * sizeof *g->force);
    g->has_wrench = false;
}

// ---- entries -----------------------------------------------------------------------------------

mabd_status mabd_redmax_adjoint_step(void* self, void* work, const mabd_tape_step* step,
                                     const mabd_output_bars* bars, mabd_error* error) {
    (void)self;
    if (bars) mabd_redmax_add_output(work, bars, step->step);
    return step->step == 0 ? mabd_redmax_start_back(work, error)
                           : mabd_redmax_pass_step(work, step, true, error);
}

mabd_status mabd_redmax_forward_step(void* self, void* work, const mabd_tape_step* step,
                                     mabd_real* states, mabd_error* error) {
    mabd_redmax_gradient* g = work;
    const size_t reals = 12 * (size_t)g->sim->model->body_count;
    (void)self;
    if (step->step == 0) {
        MABD_TRY(mabd_redmax_start_forward(g, states, error));
    } else {
        MABD_TRY(mabd_redmax_pass_step(g, step, false, error));
    }
    for (int32_t i = 0; states && i < g->parameter_count; i++) {
        mabd_redmax_write_output(g, i, states + (size_t)i * reals);
    }
    return MABD_OK;
}

mabd_real mabd_redmax_parameter_product(const void* work, int32_t parameter,
                                        const mabd_real* start) {
    const mabd_redmax_gradient* g = work;
    mabd_real sum = g->product[parameter];
    for (size_t i = 0; start && i < 12 * (size_t)g->sim->model->body_count; i++) {
        sum += g->start[i] * start[i];
    }
    return sum;
}
