// SPDX-License-Identifier: Apache-2.0
// Gradients of a run: creation, memory, runs in both directions.
//
// The run goes forward with a record of each state on the tape, then backwards from the last state:
//
//   for k = steps .. 1:  add derivatives of the loss by state k, go back over step k
//   state 0, then the projection of the start state, then the parameters of the start state
//
// If the tape may not hold all records, the run keeps a checkpoint every m = sqrt(steps) steps, a
// saved state with the records of that state and the one before, and the records of the current m
// steps. Going back, each group of m steps but the last is taken again from its checkpoint. The
// results are the same bits: a restored run equals the uninterrupted one.

#include "gradient/gradient_run.h"

#include "base/clock.h"
#include "base/error.h"
#include "gradient/gradient_defs.h"
#include "gradient/loss_term.h"
#include "gradient/parameter.h"

#include <math.h>
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

#define TAKE(field, n) g->field = mabd_arena_take(arena, (n), sizeof *g->field)

static bool has_kind(const mabd_gradient_def* def, mabd_loss_kind kind) {
    bool has = false;
    for (int32_t i = 0; i < def->term_count; i++) has |= def->terms[i].kind == kind;
    return has;
}

static void lay_out(mabd_gradient* g, const mabd_gradient_def* def, mabd_arena* arena) {
    const size_t bodies = (size_t)g->source->body_count, joints = (size_t)g->source->joint_count;
    TAKE(parameters, (size_t)def->parameter_count);
    TAKE(terms, (size_t)def->term_count);
    TAKE(values, (size_t)def->parameter_count);
    TAKE(start_change, 12 * bodies);
    TAKE(which, (size_t)g->source->control_count);
    TAKE(targets, (size_t)g->source->control_count);
    TAKE(frame.positions, 3 * bodies);
    TAKE(frame.quaternions, 4 * bodies);
    TAKE(frame.velocities, 3 * bodies);
    TAKE(frame.angular, 3 * bodies);
    TAKE(frame.state_bars, 12 * bodies);
    if (def->user_fn) TAKE(frame.user_bars, 12 * bodies);
    if (mabd_loss_needs_start(g->source, def)) {
        TAKE(frame.start_quaternions, 4 * bodies);
        TAKE(frame.start_bars, 3 * bodies);
    }
    if (has_kind(def, MABD_LOSS_JOINT_FORCE)) {
        TAKE(frame.forces, 6 * joints);
        TAKE(frame.force_bars, 6 * joints);
    }
    if (mabd_loss_needs_axes(g->source, def)) {
        TAKE(frame.axes, 12 * joints);
        TAKE(frame.axis_bars, 12 * joints);
    }
    if (has_kind(def, MABD_LOSS_CONTROL_EFFORT)) {
        TAKE(frame.efforts, 6 * joints);
        TAKE(frame.effort_bars, 6 * joints);
    }
}

static mabd_status take_memory(mabd_gradient* g, const mabd_gradient_def* def) {
    mabd_arena arena = {0};
    lay_out(g, def, &arena);
    MABD_TRY(mabd_arena_allocate(&g->allocator, &arena));
    lay_out(g, def, &arena);
    g->memory = arena.memory, g->memory_size = arena.size;
    if (def->parameter_count > 0) {
        memcpy(g->parameters, def->parameters,
               (size_t)def->parameter_count * sizeof *g->parameters);
    }
    if (def->term_count > 0) {
        memcpy(g->terms, def->terms, (size_t)def->term_count * sizeof *g->terms);
    }
    g->def = *def;
    g->def.parameters = g->parameters, g->def.terms = g->terms;
    return MABD_OK;
}

// Bytes of a tape with groups of `length` steps.
static size_t tape_bytes(const mabd_gradient* g, int64_t length) {
    const size_t records = mabd_bytes((size_t)length + 2, g->record_size);
    if (length >= g->def.steps) return records;
    const size_t groups = (size_t)((g->def.steps + length - 1) / length);
    const size_t own = mabd_bytes(1, g->state_size) + 2 * g->record_size;
    const size_t checkpoints = mabd_bytes(groups, own);
    return records > SIZE_MAX - checkpoints ? SIZE_MAX : records + checkpoints;
}

static mabd_status take_tape(mabd_gradient* g, mabd_error* error) {
    const int64_t steps = g->def.steps;
    g->record_size = g->sim->ops->tape_size(g->sim->self, g->work);
    g->state_size = mabd_sim_state_size(g->sim);
    g->group = steps;
    if (g->def.tape_bytes > 0 && tape_bytes(g, steps) > g->def.tape_bytes) {
        g->group = (int64_t)ceil(sqrt((double)steps));
        if (tape_bytes(g, g->group) > g->def.tape_bytes) {
            return mabd_fail(error, MABD_ERR_MEMORY,
                             "tape_bytes is %zu; a tape with checkpoints needs %zu, all of it %zu",
                             g->def.tape_bytes, tape_bytes(g, g->group), tape_bytes(g, steps));
        }
    }
    g->tape_size = tape_bytes(g, g->group);
    g->tape = g->tape_size == SIZE_MAX ? NULL : mabd_alloc(&g->allocator, g->tape_size);
    return g->tape ? MABD_OK : mabd_fail_memory(error, "the tape of a gradient");
}

char* mabd_gradient_record(const mabd_gradient* g, int64_t k) {
    const int64_t place = k - g->group_first + 1; // that of the state before the group is 0
    return g->tape + (size_t)place * g->record_size;
}

char* mabd_gradient_checkpoint(const mabd_gradient* g, int64_t group) {
    const size_t own = mabd_bytes(1, g->state_size) + 2 * g->record_size;
    return g->tape + ((size_t)g->group + 2) * g->record_size + (size_t)group * own;
}

static mabd_tape_step tape_step_of(const mabd_gradient* g, int64_t k) {
    mabd_tape_step step = {.after = mabd_gradient_record(g, k), .step = k};
    if (k > 0) step.before = mabd_gradient_record(g, k - 1);
    if (k > 1) step.last = mabd_gradient_record(g, k - 2);
    if (k > 0) step.time = (mabd_real)(k - 1) * g->sim->def.h;
    return step;
}

// ---- create ------------------------------------------------------------------------------------

static mabd_status check_def(const mabd_model* model, const mabd_gradient_def* def,
                             mabd_error* error) {
    if (def->cookie != MABD_GRADIENT_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG, "start from mabd_default_gradient_def()");
    }
    if (def->steps < 1 || def->steps > INT64_C(1) << 40 || def->parameter_count < 0 ||
        def->term_count < 0) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "steps must be at least 1, and counts must not be negative");
    }
    if (model->contact.enabled) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "contacts of shapes are not smooth and have no derivatives");
    }
    for (int32_t i = 0; i < def->parameter_count; i++) {
        MABD_TRY(mabd_parameter_check(model, def->steps, &def->parameters[i], error));
    }
    for (int32_t i = 0; i < def->term_count; i++) {
        MABD_TRY(mabd_loss_term_check(model, def->steps, def->parameter_count, def->user_fn != NULL,
                                      &def->terms[i], error));
    }
    return MABD_OK;
}

static mabd_status fill(mabd_gradient* g, const mabd_sim_def* sim_def, const mabd_gradient_def* def,
                        mabd_error* error) {
    mabd_sim_def own = *sim_def;
    if (take_memory(g, def) != MABD_OK) return mabd_fail_memory(error, "creating a gradient");
    if (mabd_variant_create(&g->allocator, g->source, def->parameter_count, g->parameters,
                            g->values, &g->variant) != MABD_OK) {
        return mabd_fail_memory(error, "creating a gradient");
    }
    own.allocator = &g->allocator;
    MABD_TRY(mabd_sim_create(&g->variant.model, &own, &g->sim, error));
    const mabd_formulation_ops* ops = g->sim->ops;
    if (!ops->adjoint_step) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE, "formulation '%s'%s has no gradients",
                         ops->name, ops->mode ? ops->mode : "");
    }
    g->frame.variant = &g->variant;
    for (int32_t i = 0; i < def->term_count; i++) {
        MABD_TRY(mabd_loss_refuse(&g->frame, g->sim, &def->terms[i], error));
    }
    const mabd_gradient_setup setup = {def->parameter_count, g->parameters, g->values, false,
                                       has_kind(def, MABD_LOSS_JOINT_FORCE) ||
                                           has_kind(def, MABD_LOSS_CONTROL_EFFORT)};
    MABD_TRY(ops->gradient_open(g->sim->self, &setup, &g->allocator, &g->work, error));
    g->frame.variant = &g->variant, g->frame.def = g->def, g->frame.h = g->sim->def.h;
    for (int32_t i = 0; i < def->parameter_count; i++) {
        g->values[i] = mabd_parameter_value(g->source, g->sim->def.h, &g->parameters[i]);
    }
    return take_tape(g, error);
}

mabd_status mabd_gradient_create(const mabd_model* model, const mabd_sim_def* sim_def,
                                 const mabd_gradient_def* def, mabd_gradient** gradient,
                                 mabd_error* error) {
    if (gradient) *gradient = NULL;
    if (!model || !sim_def || !def || !gradient) {
        return mabd_fail(error, MABD_ERR_ARG, "model, sim_def, def and gradient must not be null");
    }
    MABD_TRY(check_def(model, def, error));
    const mabd_allocator allocator =
        sim_def->allocator ? *sim_def->allocator : mabd_default_allocator();
    mabd_gradient* g = mabd_alloc(&allocator, sizeof *g);
    if (!g) return mabd_fail_memory(error, "creating a gradient");
    g->allocator = allocator, g->source = model;
    const mabd_status status = fill(g, sim_def, def, error);
    if (status != MABD_OK) {
        mabd_gradient_destroy(g);
        return status;
    }
    *gradient = g;
    return MABD_OK;
}

void mabd_gradient_destroy(mabd_gradient* g) {
    if (!g) return;
    const mabd_allocator allocator = g->allocator;
    if (g->work) g->sim->ops->gradient_close(g->work, &allocator);
    mabd_sim_destroy(g->sim);
    mabd_variant_free(&allocator, &g->variant);
    if (g->tape) mabd_free(&allocator, g->tape, g->tape_size);
    mabd_free(&allocator, g->memory, g->memory_size);
    mabd_free(&allocator, g, sizeof *g);
}

size_t mabd_gradient_bytes(const mabd_gradient* g) {
    return mabd_bytes(1, sizeof *g) + g->memory_size + g->variant.memory_size + g->tape_size +
           mabd_sim_bytes(g->sim) + g->sim->ops->gradient_bytes(g->work);
}

int32_t mabd_gradient_parameter_count(const mabd_gradient* g) {
    return g->def.parameter_count;
}

mabd_parameter mabd_gradient_parameter(const mabd_gradient* g, int32_t index) {
    return g->parameters[index];
}

// ---- the run -----------------------------------------------------------------------------------

static bool is_in(const mabd_parameter* p, int64_t step) {
    return p->first <= step && step <= p->last;
}

// Set or clear the control of a parameter before a step.
static void set_control(mabd_gradient* g, const mabd_parameter* p, int64_t step, mabd_real value) {
    const int32_t n = g->source->control_count, copy = p->index / n, control = p->index % n;
    const bool now = is_in(p, step);
    if (!now && !is_in(p, step - 1)) return;
    memset(g->which, 0, (size_t)n * sizeof *g->which);
    g->which[control] = true;
    g->targets[control] = value;
    g->sim->ops->set_targets(g->sim->self, copy, 1, g->which, now ? g->targets : NULL);
}

static void set_inputs(mabd_gradient* g, int64_t step) {
    for (int pass = 0; pass < 2; pass++) { // what ends is cleared before what begins is set
        for (int32_t i = 0; i < g->def.parameter_count; i++) {
            const mabd_parameter* p = &g->parameters[i];
            if (p->kind == MABD_PARAMETER_CONTROL && is_in(p, step) == (pass == 1)) {
                set_control(g, p, step, g->values[i]);
            }
        }
    }
    for (int32_t i = 0; i < g->def.parameter_count; i++) {
        const mabd_parameter* p = &g->parameters[i];
        mabd_real wrench[6] = {0};
        if (p->kind != MABD_PARAMETER_FORCE || !is_in(p, step)) continue;
        wrench[p->component] = g->values[i];
        g->sim->ops->apply_force(g->sim->self, 1, &p->index, wrench, wrench + 3);
    }
}

mabd_status mabd_gradient_begin(mabd_gradient* g, const mabd_real* p, mabd_error* error) {
    for (int32_t i = 0; i < g->def.parameter_count; i++) {
        if (!isfinite(p[i])) {
            return mabd_fail(error, MABD_ERR_ARG, "value %d is not finite", (int)i);
        }
        g->values[i] = p[i];
    }
    MABD_TRY(mabd_variant_update(&g->variant, error));
    MABD_TRY(g->sim->ops->gradient_begin(g->sim->self, g->work, error));
    g->sim->steps = 0;
    return MABD_OK;
}

// Let inputs that begin or end with a parameter jump, also where their values are equal: by default
// those of a parameter are, and a loss would change by the error of the integrator as soon as they
// differ.
static void restart_inputs(mabd_gradient* g, int64_t step) {
    for (int32_t i = 0; i < g->def.parameter_count; i++) {
        const mabd_parameter* p = &g->parameters[i];
        const bool control = p->kind == MABD_PARAMETER_CONTROL;
        if (!control && p->kind != MABD_PARAMETER_FORCE) continue;
        if (step != p->first && step != p->last + 1) continue;
        g->sim->ops->restart_input(g->sim->self, control ? p->index : -1, control ? -1 : p->index);
    }
}

mabd_status mabd_gradient_advance(mabd_gradient* g, int64_t step, mabd_error* error) {
    set_inputs(g, step);
    if (g->sim->ops->restart_input) restart_inputs(g, step);
    return mabd_sim_step(g->sim, NULL, error);
}

// Keep the state before step k as the checkpoint of its group, and begin the group.
static void begin_group(mabd_gradient* g, int64_t k) {
    char* to = mabd_gradient_checkpoint(g, k / g->group);
    mabd_sim_save(g->sim, to);
    to += mabd_bytes(1, g->state_size);
    memcpy(to, mabd_gradient_record(g, k), g->record_size);
    if (k > 0) memcpy(to + g->record_size, mabd_gradient_record(g, k - 1), g->record_size);
    g->group_first = k;
    memcpy(mabd_gradient_record(g, k), to, g->record_size);
    memcpy(mabd_gradient_record(g, k - 1), to + g->record_size, g->record_size);
}

static mabd_status run_forward(mabd_gradient* g, bool record, mabd_gradient_info* info,
                               mabd_error* error) {
    const mabd_formulation_ops* ops = g->sim->ops;
    const bool grouped = g->group < g->def.steps;
    g->group_first = 0;
    mabd_loss_start(&g->frame, g->sim);
    if (record) ops->tape_write(g->sim->self, g->work, mabd_gradient_record(g, 0));
    for (int64_t k = 0; k <= g->def.steps; k++) {
        if (mabd_loss_active(&g->frame, k)) {
            mabd_loss_evaluate(&g->frame, g->sim, k, &info->loss, NULL);
        }
        if (k == g->def.steps) break;
        if (record && grouped && k % g->group == 0) begin_group(g, k);
        MABD_TRY(mabd_gradient_advance(g, k + 1, error));
        if (record) ops->tape_write(g->sim->self, g->work, mabd_gradient_record(g, k + 1));
    }
    mabd_loss_parameters(&g->frame, &info->loss, NULL);
    return MABD_OK;
}

// Take the steps of an earlier group again.
static mabd_status repeat_group(mabd_gradient* g, int64_t group, mabd_gradient_info* info,
                                mabd_error* error) {
    const char* from = mabd_gradient_checkpoint(g, group);
    MABD_TRY(mabd_sim_restore(g->sim, from, g->state_size, error));
    from += mabd_bytes(1, g->state_size);
    g->group_first = group * g->group;
    memcpy(mabd_gradient_record(g, g->group_first), from, g->record_size);
    memcpy(mabd_gradient_record(g, g->group_first - 1), from + g->record_size, g->record_size);
    for (int64_t k = g->group_first; k < g->group_first + g->group; k++) {
        MABD_TRY(mabd_gradient_advance(g, k + 1, error));
        g->sim->ops->tape_write(g->sim->self, g->work, mabd_gradient_record(g, k + 1));
        info->recomputed++;
    }
    return MABD_OK;
}

// Add the derivatives of the loss by state k and go back over step k.
static mabd_status step_back(mabd_gradient* g, int64_t k, mabd_real* out, mabd_gradient_info* info,
                             mabd_error* error) {
    const mabd_formulation_ops* ops = g->sim->ops;
    const mabd_tape_step step = tape_step_of(g, k);
    mabd_real unused = 0;
    const bool rough =
        ops->tape_read(g->sim->self, g->work, step.after, (mabd_real)k * g->sim->def.h);
    if (rough && k > 0) info->non_smooth++;
    if (!mabd_loss_active(&g->frame, k)) {
        return ops->adjoint_step(g->sim->self, g->work, &step, NULL, error);
    }
    g->sim->steps = k;
    mabd_loss_evaluate(&g->frame, g->sim, k, &unused, out);
    const mabd_output_bars bars = {g->frame.state_bars, g->frame.force_bars, g->frame.effort_bars,
                                   g->frame.axis_bars, g->frame.energy_bar};
    return ops->adjoint_step(g->sim->self, g->work, &step, &bars, error);
}

static mabd_status run_back(mabd_gradient* g, mabd_real* out, mabd_gradient_info* info,
                            mabd_error* error) {
    memset(out, 0, (size_t)g->def.parameter_count * sizeof *out);
    for (int64_t k = g->def.steps; k >= 0; k--) {
        if (k == g->group_first && k > 0) { // of the group before it, this is the end
            MABD_TRY(repeat_group(g, (k - 1) / g->group, info, error));
        }
        MABD_TRY(step_back(g, k, out, info, error));
    }
    for (int32_t i = 0; i < g->def.parameter_count; i++) {
        const bool starts = mabd_variant_start_change(&g->variant, i, g->start_change);
        out[i] += g->sim->ops->parameter_product(g->work, i, starts ? g->start_change : NULL);
    }
    mabd_real unused = 0;
    mabd_loss_parameters(&g->frame, &unused, out);
    return MABD_OK;
}

mabd_status mabd_gradient_run(mabd_gradient* g, const mabd_real* p, mabd_real* out,
                              mabd_gradient_info* info, mabd_error* error) {
    mabd_gradient_info local;
    if (!g || (!p && g->def.parameter_count > 0)) {
        return mabd_fail(error, MABD_ERR_ARG, "gradient and p must not be null");
    }
    if (!info) info = &local;
    memset(info, 0, sizeof *info);
    info->steps = g->def.steps;
    double clock = mabd_clock();
    MABD_TRY(mabd_gradient_begin(g, p, error));
    MABD_TRY(run_forward(g, out != NULL, info, error));
    info->forward_seconds = mabd_clock() - clock;
    if (!out) return MABD_OK;
    clock = mabd_clock();
    MABD_TRY(run_back(g, out, info, error));
    info->backward_seconds = mabd_clock() - clock;
    return MABD_OK;
}
