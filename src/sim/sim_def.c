// SPDX-License-Identifier: Apache-2.0
// The definition of a simulation: defaults, presets, and the checks that hold for all formulations.

#include "sim/sim_def.h"

#include "base/error.h"
#include "model/model_data.h"

#include <math.h>
#include <string.h>

#define SIM_COOKIE UINT32_C(0x6d616274)

mabd_sim_def mabd_default_sim_def(void) {
    mabd_sim_def def = {0};
    def.h = (mabd_real)0.01;
    def.max_halvings = 6;
    def.threads = 1;
    def.cookie = SIM_COOKIE;
    mabd_sim_def_apply_preset(&def, MABD_PRESET_BALANCED);
    return def;
}

void mabd_sim_def_apply_preset(mabd_sim_def* def, mabd_preset preset) {
    static const struct {
        mabd_real row, gap, contact;
    } tolerances[MABD_PRESET_COUNT] = {
        [MABD_PRESET_FAST] = {(mabd_real)1e-6, (mabd_real)1e-6, (mabd_real)1e-5},
        [MABD_PRESET_BALANCED] = {(mabd_real)1e-9, (mabd_real)1e-7, (mabd_real)1e-6},
        [MABD_PRESET_EXACT] = {(mabd_real)1e-12, (mabd_real)1e-10, (mabd_real)1e-9},
    };
    if ((unsigned)preset >= MABD_PRESET_COUNT) return;
    def->preset = preset;
    def->row_tolerance = tolerances[preset].row;
    def->gap_tolerance = tolerances[preset].gap;
    def->contact_tolerance = tolerances[preset].contact;
    def->max_iterations = 0;
    for (int i = 0; i < MABD_FORMULATION_COUNT; i++) {
        const mabd_formulation_ops* ops = mabd_formulation_ops_of((mabd_formulation)i);
        if (ops) ops->apply_preset(def, preset);
    }
}

// ---- fields ------------------------------------------------------------------------------------

static const struct {
    const char *owner, *name;
} fields[] = {
#define FIELD(owner, field) {#owner, #field},
#include "sim/def_fields.def"
#undef FIELD
};

void mabd_def_values(const mabd_sim_def* def, double* values) {
#define FIELD(owner, field) *values++ = (double)def->field;
#include "sim/def_fields.def"
#undef FIELD
}

const char* mabd_def_field_name(int field) {
    return fields[field].name;
}

// How the formulation is used, for messages: "" or " with coordinates 'maximal'".
static const char* mode_of(const mabd_formulation_ops* ops) {
    return ops->mode ? ops->mode : "";
}

static bool uses(const mabd_formulation_ops* ops, int field) {
    const bool common = strcmp(fields[field].owner, "common") == 0;
    if (!common && strcmp(fields[field].owner, ops->name) != 0) return false;
    for (const char* const* unused = ops->unused; *unused; unused++) {
        if (strcmp(*unused, fields[field].name) == 0) return false;
    }
    return true;
}

mabd_status mabd_def_check_unused(const mabd_formulation_ops* ops, const mabd_sim_def* def,
                                  mabd_error* error) {
    mabd_sim_def plain = mabd_default_sim_def();
    double given[MABD_DEF_FIELD_COUNT], preset[MABD_DEF_FIELD_COUNT];
    mabd_sim_def_apply_preset(&plain, def->preset);
    mabd_def_values(def, given);
    mabd_def_values(&plain, preset);
    for (int i = 0; i < MABD_DEF_FIELD_COUNT; i++) {
        if (uses(ops, i) || given[i] == preset[i]) continue;
        return mabd_fail(
            error, MABD_ERR_UNAVAILABLE,
            "formulation '%s'%s does not use %s: it must stay %g, as preset '%s' has it, "
            "and is %g",
            ops->name, mode_of(ops), fields[i].name, preset[i], mabd_preset_name(def->preset),
            given[i]);
    }
    return MABD_OK;
}

// ---- checks ------------------------------------------------------------------------------------

static mabd_status check_choices(const mabd_sim_def* def, mabd_error* error) {
    if (def->cookie != SIM_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG, "start from mabd_default_sim_def()");
    }
    if ((unsigned)def->formulation >= MABD_FORMULATION_COUNT) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE, "formulation %d does not exist",
                         (int)def->formulation);
    }
    if ((unsigned)def->backend >= MABD_BACKEND_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "backend must be one of enum mabd_backend");
    }
    if ((unsigned)def->integrator >= MABD_INTEGRATOR_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "integrator must be one of enum mabd_integrator");
    }
    if ((unsigned)def->preset >= MABD_PRESET_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "preset must be one of enum mabd_preset");
    }
    if ((unsigned)def->dual >= MABD_DUAL_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "dual must be one of enum mabd_dual");
    }
    return MABD_OK;
}

static mabd_status check_numbers(const mabd_sim_def* def, mabd_error* error) {
    if (!(def->h > 0) || !isfinite(def->h)) {
        return mabd_fail(error, MABD_ERR_ARG, "h must be a positive number of seconds");
    }
    if (!(def->row_tolerance > 0) || !(def->gap_tolerance > 0) || !(def->contact_tolerance > 0)) {
        return mabd_fail(error, MABD_ERR_ARG, "tolerances must be positive");
    }
    if (def->max_iterations < 0) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "max_iterations must be at least 1, or 0 for the formulation's own");
    }
    if (def->max_halvings < 0 || def->max_halvings > 20 || def->threads < 1) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "max_halvings must be 0 to 20 and threads at least 1");
    }
    return MABD_OK;
}

static mabd_status check_support(const mabd_formulation_ops* ops, const mabd_sim_def* def,
                                 mabd_error* error) {
    if (!ops) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation '%s' is not built into this library",
                         mabd_formulation_name(def->formulation));
    }
    if (!ops->has_backend(def->backend)) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "backend '%s' of formulation '%s' is not built into this library",
                         mabd_backend_name(def->backend), ops->name);
    }
    if (def->integrator != MABD_INTEGRATOR_AUTO && !(ops->integrators & 1U << def->integrator)) {
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation '%s'%s does not have integrator '%s'", ops->name,
                         mode_of(ops), mabd_integrator_name(def->integrator));
    }
    return mabd_def_check_unused(ops, def, error);
}

// True if joints close a cycle; the world and all bodies that are not dynamic count as one node.
static bool has_loops(const mabd_plan* plan) {
    if (plan->loops > 0) return true;
    for (int32_t i = 0; i < plan->component_count; i++) {
        if (plan->components[i].ground_count > 1) return true;
    }
    return false;
}

// First joint without atomic rows, -1 = none.
static int32_t first_curve(const mabd_model* m) {
    for (int32_t i = 0; i < m->joint_count && m->piece_count > 0; i++) {
        if (m->joints[i].type >= MABD_JOINT_COUNT) return i;
    }
    return -1;
}

uint32_t mabd_model_needs(const mabd_model* m) {
    uint32_t needs = 0;
    if (m->contact.enabled) needs |= MABD_CAN_CONTACTS;
    if (has_loops(m->plan)) needs |= MABD_CAN_LOOPS;
    if (m->laws) needs |= MABD_CAN_STOPS;
    if (m->script_count > 0) needs |= MABD_CAN_SCRIPTS;
    if (m->copy_count > 0) needs |= MABD_CAN_BATCH;
    if (m->spring_count > 0) needs |= MABD_CAN_SPRINGS;
    if (m->node_count > 0) needs |= MABD_CAN_NODES;
    if (m->ground_count > 0) needs |= MABD_CAN_GROUND;
    if (m->coupling_count > 0) needs |= MABD_CAN_COUPLINGS;
    if (m->pins) needs |= MABD_CAN_PINS;
    if (m->rebounds) needs |= MABD_CAN_REBOUND;
    if (m->contact.rolls) needs |= MABD_CAN_ROLLING;
    if (m->contact.surfaces) needs |= MABD_CAN_SURFACES;
    if (first_curve(m) >= 0) needs |= MABD_CAN_CURVES;
    return needs;
}

// Joints without atomic rows are refused by name.
static mabd_status check_curves(const mabd_formulation_ops* ops, const mabd_model* m,
                                mabd_error* error) {
    const int32_t joint = first_curve(m);
    char label[160];
    if (joint < 0 || (ops->can & MABD_CAN_CURVES)) return MABD_OK;
    return mabd_fail_at(error, MABD_ERR_UNAVAILABLE, -1, joint, 0,
                        "formulation '%s'%s does not have joints of type '%s', as %s", ops->name,
                        mode_of(ops), mabd_joint_name((mabd_joint)m->joints[joint].type),
                        mabd_model_joint_label(m, joint, label, sizeof label));
}

static mabd_status check_features(const mabd_formulation_ops* ops, const mabd_model* model,
                                  mabd_error* error) {
    const uint32_t missing = mabd_model_needs(model) & ~ops->can;
    for (int i = 0; i < MABD_CAN_COUNT; i++) {
        if (!(missing & 1U << i)) continue;
        return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                         "formulation '%s'%s does not have %s, which this model needs", ops->name,
                         mode_of(ops), mabd_can_name((mabd_can_index)i));
    }
    return MABD_OK;
}

mabd_status mabd_def_resolve(const mabd_model* model, const mabd_sim_def* def,
                             mabd_sim_def* resolved, const mabd_formulation_ops** ops,
                             mabd_error* error) {
    MABD_TRY(check_choices(def, error));
    MABD_TRY(check_numbers(def, error));
    *ops = mabd_formulation_ops_of(def->formulation);
    if (*ops && (*ops)->table_of) *ops = (*ops)->table_of(def);
    MABD_TRY(check_support(*ops, def, error));
    MABD_TRY(check_curves(*ops, model, error));
    MABD_TRY(check_features(*ops, model, error));
    *resolved = *def;
    (*ops)->resolve(resolved);
    return (*ops)->check(model, resolved, error);
}
