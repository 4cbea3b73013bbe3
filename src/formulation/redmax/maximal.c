// SPDX-License-Identifier: Apache-2.0
// The redmax formulation with coordinates maximal [RM chapter 1], behind its table: creation, plan,
// memory, states. The equations are in maximal_step.c, maximal_rows.c, maximal_loads.c and
// maximal_contact.c.
//
// It exists to be compared with joint coordinates: rows drift open by what a linear step leaves,
// and are closed again by Baumgarte's stabilisation. Integrators:
//
//   semi-implicit    loads at the start of the step [RM eq. 1.28], the default
//   linear-implicit  springs and dampers of axes as in [RM eq. 2.84], all else at the start; of the
//                    derivatives of [RM eq. 2.86] those of gravity, loads and the Coriolis force
//                    are left out, which are not symmetric in the frames of the bodies
//
// Both are of order 1.

#include "formulation/redmax/maximal.h"

#include "base/error.h"
#include "model/first_force.h"
#include "rigid/component_dual.h"
#include "rigid/creation.h"

#include <string.h>

// ---- the definition ----------------------------------------------------------------------------

/// Largest b at level acceleration: above 0.828 errors grow.
#define ACCELERATION_MAX ((mabd_real)0.8)

static void apply_preset(mabd_sim_def* def, mabd_preset preset) {
    (void)preset;
    def->redmax.baumgarte = (mabd_real)0.5;
}

static void resolve(mabd_sim_def* def) {
    if (def->integrator == MABD_INTEGRATOR_AUTO) def->integrator = MABD_INTEGRATOR_SEMI_IMPLICIT;
    if (def->max_iterations == 0) def->max_iterations = 40; // one is enough
}

static mabd_status check(const mabd_model* m, const mabd_sim_def* def, mabd_error* error) {
    const bool acceleration = def->redmax.baumgarte_level == MABD_BAUMGARTE_ACCELERATION;
    const mabd_real most = acceleration ? ACCELERATION_MAX : 1;
    if ((unsigned)def->redmax.baumgarte_level >= MABD_BAUMGARTE_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "redmax.baumgarte_level must be one of enum mabd_baumgarte_level");
    }
    if (!(def->redmax.baumgarte >= 0 && def->redmax.baumgarte <= most)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "redmax.baumgarte must be 0 to %g at level '%s', and is %g", (double)most,
                         mabd_baumgarte_level_name(def->redmax.baumgarte_level),
                         (double)def->redmax.baumgarte);
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_row_set* set = &m->row_sets[m->joints[i].row_set];
        for (int32_t r = 0; r < set->control_count; r++) {
            char label[160];
            if (!(set->control[r].armature > 0)) continue;
            return mabd_fail_at(error, MABD_ERR_UNAVAILABLE, -1, i, 0,
                                "formulation 'redmax' with coordinates 'maximal' does not have "
                                "armature, which %s has",
                                mabd_model_joint_label(m, i, label, sizeof label));
        }
    }
    return MABD_OK;
}

// ---- memory ------------------------------------------------------------------------------------

#define TAKE(field, n) sim->field = mabd_arena_take(arena, (n), sizeof *sim->field)

static void take_node(const mabd_maximal_sim* sim, mabd_maximal_node* node, mabd_arena* arena) {
    const size_t bodies = (size_t)sim->model->body_count;
    node->body = mabd_arena_take(arena, bodies, sizeof *node->body);
    node->x = mabd_arena_take(arena, 2 * (size_t)sim->model->coordinate_count, sizeof *node->x);
}

static void lay_out_work(mabd_maximal_sim* sim, mabd_arena* arena) {
    const mabd_plan* plan = sim->plan;
    const size_t bodies = (size_t)sim->model->body_count + 1, rows = (size_t)plan->row_count;
    take_node(sim, &sim->next, arena);
    take_node(sim, &sim->last, arena);
    TAKE(poses, bodies);
    TAKE(u, bodies);
    TAKE(free, bodies);
    TAKE(load, bodies);
    TAKE(push_u, bodies);
    TAKE(J, rows);
    TAKE(goal, rows);
    TAKE(compliance, rows);
    TAKE(lambda, rows);
    TAKE(column, rows);
    TAKE(work, 2 * rows);
    TAKE(D, plan->slot_block[plan->slot_count]);
    TAKE(U, plan->edge_block[plan->edge_count]);
    TAKE(through, (size_t)sim->model->coordinate_count);
    TAKE(spring_ends, (size_t)sim->model->spring_count);
    TAKE(ground_ends, (size_t)sim->model->ground_point_count);
    TAKE(reports, (size_t)plan->component_count);
}

static void lay_out(mabd_maximal_sim* sim, mabd_arena* arena) {
    const size_t bodies = (size_t)sim->model->body_count + 1;
    const size_t components = (size_t)sim->plan->component_count;
    take_node(sim, &sim->now, arena);
    TAKE(wrench, 6 * (size_t)sim->model->joint_count);
    mabd_rigid_inputs_lay_out(&sim->inputs, sim->model, arena);
    sim->state_bytes = arena->used;
    mabd_rigid_inputs_number(&sim->inputs, arena);
    TAKE(ops, components);
    TAKE(solvers, components);
    TAKE(body_component, bodies);
    TAKE(body_script, bodies);
    TAKE(body_force, bodies);
    lay_out_work(sim, arena);
}

static mabd_status build_plan(mabd_maximal_sim* sim) {
    const size_t joints = (size_t)sim->model->joint_count;
    int32_t* width = mabd_alloc(&sim->allocator, mabd_bytes(joints, sizeof *width));
    if (!width) return MABD_ERR_MEMORY;
    for (int32_t i = 0; i < sim->model->joint_count; i++) {
        width[i] = mabd_maximal_row_count(sim->model, &sim->def, i);
    }
    const mabd_status status =
        mabd_rigid_plan_build(&sim->allocator, sim->model, width, &sim->plan);
    mabd_free(&sim->allocator, width, mabd_bytes(joints, sizeof *width));
    return status;
}

static mabd_status create_solvers(mabd_maximal_sim* sim) {
    for (int32_t i = 0; i < sim->plan->component_count; i++) {
        const mabd_dual_system system = mabd_rigid_dual_system(sim->plan, i, sim->D, sim->U);
        const mabd_dual_ops* ops = mabd_rigid_direct_dual(&sim->plan->components[i]);
        if (!ops) continue;
        MABD_TRY(ops->create(&sim->allocator, &system, &sim->solvers[i]));
        sim->ops[i] = ops;
        sim->solver_bytes += ops->bytes(sim->solvers[i]);
    }
    return MABD_OK;
}

static void fill_bodies(mabd_maximal_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i <= m->body_count; i++) {
        sim->body_component[i] = sim->body_script[i] = -1;
        sim->body_force[i] = mabd_model_first_force(m, i);
    }
    for (int32_t i = 0; i < m->script_count; i++) sim->body_script[m->scripts[i].body] = i;
    for (int32_t i = 0; i < sim->plan->component_count; i++) {
        const mabd_plan_component* c = &sim->plan->components[i];
        for (int32_t k = c->body_first; k < c->body_first + c->body_count; k++) {
            sim->body_component[sim->plan->component_bodies[k]] = i;
        }
    }
}

static mabd_status prepare(void* self, const mabd_rigid_given* given) {
    mabd_maximal_sim* sim = self;
    mabd_arena arena = {0};
    sim->model = given->model, sim->start = given->start, sim->def = *given->def;
    sim->allocator = sim->warnings.allocator = *given->allocator;
    resolve(&sim->def);
    MABD_TRY(build_plan(sim));
    lay_out(sim, &arena);
    MABD_TRY(mabd_arena_allocate(&sim->allocator, &arena));
    sim->memory = arena.memory, sim->memory_size = arena.size;
    lay_out(sim, &arena);
    fill_bodies(sim);
    MABD_TRY(create_solvers(sim));
    MABD_TRY(mabd_redmax_contacts_create(sim->model, sim->def.h, sim->plan->component_count,
                                         &sim->allocator, &sim->contacts));
    return mabd_pool_create(&sim->allocator, sim->def.threads, &sim->pool);
}

static void destroy(void* self, const mabd_allocator* allocator) {
    mabd_maximal_sim* sim = self;
    for (int32_t i = 0; sim->memory && i < sim->plan->component_count; i++) {
        if (sim->ops[i]) sim->ops[i]->destroy(&sim->allocator, sim->solvers[i]);
    }
    mabd_pool_destroy(sim->pool);
    mabd_redmax_contacts_destroy(sim->contacts);
    mabd_plan_destroy(sim->plan);
    mabd_free(&sim->allocator, sim->memory, sim->memory_size);
    mabd_warnings_free(&sim->warnings);
    mabd_free(allocator, sim, sizeof *sim);
}

static void memory(const void* self, size_t* out) {
    const mabd_maximal_sim* sim = self;
    out[MABD_MEMORY_STATE] = sim->state_bytes;
    out[MABD_MEMORY_WORKSPACE] =
        sim->memory_size - sim->state_bytes + sim->plan->bytes + mabd_bytes(1, sizeof *sim);
    out[MABD_MEMORY_CONTACTS] = mabd_redmax_contacts_bytes(sim->contacts);
    out[MABD_MEMORY_DUAL] = sim->solver_bytes;
}

// ---- states ------------------------------------------------------------------------------------

void mabd_maximal_set(mabd_maximal_sim* sim, const mabd_model_start* state, mabd_real time) {
    const mabd_model* m = sim->model;
    sim->time = time;
    for (int32_t i = 0; i < m->body_count; i++) {
        mabd_maximal_body* to = &sim->now.body[i];
        if (sim->body_component[i] < 0) continue;
        const mabd_rigid_state s = mabd_rigid_from_user(&m->classes[m->body_class[i]], &state[i]);
        to->c = s.c, to->q = s.q;
        to->V = mabd_sp(mabd_q_rotate(mabd_q_conjugate(s.q), s.omega),
                        mabd_q_rotate(mabd_q_conjugate(s.q), s.v));
    }
    memset(sim->wrench, 0, 6 * (size_t)m->joint_count * sizeof *sim->wrench);
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        if (joint->coordinate < 0) continue;
        mabd_real* x = sim->now.x + 2 * (size_t)joint->coordinate;
        mabd_real near[2 * MABD_JOINT_MAX_ROWS];
        memcpy(near, x, 2 * (size_t)m->row_sets[joint->row_set].control_count * sizeof *x);
        mabd_maximal_coordinates(sim, joint, &sim->now, time, near, x);
    }
}

static void reset(void* self) {
    mabd_maximal_sim* sim = self;
    mabd_rigid_inputs_clear(&sim->inputs);
    memset(sim->times, 0, sizeof sim->times);
    memset(sim->now.x, 0, 2 * (size_t)sim->model->coordinate_count * sizeof *sim->now.x);
    mabd_maximal_set(sim, sim->start, 0);
    const mabd_measure start = mabd_maximal_measure(sim);
    mabd_rigid_books_open(&sim->books, &start);
}

static mabd_status set_state(void* self, mabd_real time, const mabd_model_start* state, bool moved,
                             mabd_error* error) {
    mabd_maximal_sim* sim = self;
    (void)moved, (void)error;
    const mabd_measure before = mabd_maximal_measure(sim);
    mabd_maximal_set(sim, state, time);
    const mabd_measure after = mabd_maximal_measure(sim);
    mabd_rigid_books_carry(&sim->books, &before, &after);
    return MABD_OK;
}

// Visit every array of a state. A change of this order raises state_version.
static void visit(void* self, mabd_rigid_cursor* at) {
    mabd_maximal_sim* sim = self;
    const size_t real = sizeof(mabd_real);
    mabd_rigid_visit(at, sim->now.body, (size_t)sim->model->body_count * sizeof *sim->now.body);
    mabd_rigid_visit(at, sim->now.x, 2 * (size_t)sim->model->coordinate_count * real);
    mabd_rigid_visit(at, sim->wrench, 6 * (size_t)sim->model->joint_count * real);
    mabd_rigid_inputs_visit(&sim->inputs, at);
    mabd_rigid_visit(at, &sim->books, sizeof sim->books);
}

static size_t state_size(const void* self) {
    return mabd_rigid_state_size(self, visit);
}

static void save(const void* self, void* buffer) {
    mabd_rigid_save(self, visit, buffer);
}

static mabd_status restore(void* self, const void* buffer, size_t size, mabd_real time) {
    MABD_TRY(mabd_rigid_restore(self, visit, buffer, size));
    ((mabd_maximal_sim*)self)->time = time;
    return MABD_OK;
}

// ---- inputs ------------------------------------------------------------------------------------

static void restart_input(void* self, int32_t control, int32_t body) {
    mabd_rigid_restart_input(&((mabd_maximal_sim*)self)->inputs, control, body);
}

static void set_targets(void* self, int32_t first, int32_t count, const bool* which,
                        const mabd_real* values) {
    mabd_rigid_set_targets(&((mabd_maximal_sim*)self)->inputs, first, count, which, values);
}

static bool get_target(const void* self, int32_t copy, int32_t control, mabd_real* target) {
    return mabd_rigid_get_target(&((const mabd_maximal_sim*)self)->inputs, copy, control, target);
}

static void get_controls(const void* self, mabd_real* coordinates, mabd_real* rates) {
    mabd_rigid_get_controls(((const mabd_maximal_sim*)self)->model, mabd_maximal_control_state,
                            self, coordinates, rates);
}

static void apply_force(void* self, int32_t n, const int32_t* bodies, const mabd_real* forces,
                        const mabd_real* torques) {
    mabd_rigid_apply_force(&((mabd_maximal_sim*)self)->inputs, n, bodies, forces, torques);
}

// ---- the table ---------------------------------------------------------------------------------

static mabd_status start(void* self, mabd_error* error) {
    (void)error;
    reset(self);
    return MABD_OK;
}

static const mabd_rigid_kind object = {sizeof(mabd_maximal_sim), prepare, start, destroy};

static mabd_status create(const mabd_model* model, const mabd_sim_def* def,
                          const mabd_allocator* allocator, const mabd_model_start* first,
                          void** self, mabd_error* error) {
    const mabd_rigid_given given = {model, def, allocator, first};
    return mabd_rigid_create(&object, &given, self, error);
}

static mabd_status plan(const mabd_model* model, const mabd_sim_def* def, mabd_sim_plan* plan_out,
                        mabd_error* error) {
    const mabd_rigid_given given = {model, def, &model->allocator, model->start};
    void* made = NULL;
    MABD_TRY(mabd_rigid_make(&object, &given, &made, error));
    const mabd_maximal_sim* sim = made;
    memory(sim, plan_out->bytes);
    for (int32_t i = 0; i < sim->plan->component_count; i++) {
        if (!sim->ops[i]) continue;
        mabd_rigid_add_solver_name(plan_out->solvers[sim->plan->components[i].kind],
                                   sim->ops[i]->name);
    }
    destroy(made, &model->allocator);
    return MABD_OK;
}

static mabd_warnings* warnings(void* self) {
    return &((mabd_maximal_sim*)self)->warnings;
}

static void get_times(const void* self, double* seconds) {
    const mabd_maximal_sim* sim = self;
    memcpy(seconds, sim->times, sizeof sim->times);
}

#define X(name, text) text,
static const char* const stage_names[] = {MABD_MAXIMAL_STAGE_LIST(X) NULL};
#undef X
static const char* const unused[] = {"dual",
                                     "row_tolerance",
                                     "gap_tolerance",
                                     "max_halvings",
                                     "redmax.newton_tolerance",
                                     "redmax.energy_guard",
                                     NULL};

const mabd_formulation_ops mabd_formulation_maximal = {
    .name = "redmax",
    .mode = " with coordinates 'maximal'",
    .paper_name = "RedMax, maximal coordinates",
    .state_version = 1,
    .can = MABD_CAN_CONTACTS | MABD_CAN_LOOPS | MABD_CAN_SCRIPTS | MABD_CAN_BATCH |
           MABD_CAN_SPRINGS | MABD_CAN_GROUND,
    .integrators = 1U << MABD_INTEGRATOR_SEMI_IMPLICIT | 1U << MABD_INTEGRATOR_LINEAR_IMPLICIT,
    .stages = stage_names,
    .unused = unused,
    .exact_start = true,
    .has_backend = mabd_rigid_on_cpu,
    .apply_preset = apply_preset,
    .resolve = resolve,
    .check = check,
    .plan = plan,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .step = mabd_maximal_step,
    .measure = mabd_maximal_measure,
    .get_energy_balance = mabd_maximal_energy_balance,
    .get_state = mabd_maximal_get_state,
    .get_joint_forces = mabd_maximal_get_joint_forces,
    .get_joint_coordinates = mabd_maximal_get_joint_coordinates,
    .set_state = set_state,
    .apply_force = apply_force,
    .warnings = warnings,
    .set_targets = set_targets,
    .restart_input = restart_input,
    .get_controls = get_controls,
    .get_target = get_target,
    .get_contacts = mabd_maximal_get_contacts,
    .overlap = mabd_maximal_overlap,
    .state_size = state_size,
    .save = save,
    .restore = restore,
    .device_bytes = mabd_rigid_no_device_bytes,
    .memory = memory,
    .get_times = get_times,
};
