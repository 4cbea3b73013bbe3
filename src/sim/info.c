// SPDX-License-Identifier: Apache-2.0
// Names of the choices, and what is known of a model before it runs.

#include "formulation/affine/data.h"
#include "formulation/formulation.h"
#include "mabd/sim.h"
#include "model/model_data.h"
#include "sim/memory_parts.h"

#include <stdio.h>
#include <string.h>

#define X(name, text) text,
static const char* const formulations[] = {MABD_FORMULATION_LIST(X)};
static const char* const backends[] = {MABD_BACKEND_LIST(X)};
static const char* const integrators[] = {MABD_INTEGRATOR_LIST(X)};
static const char* const presets[] = {MABD_PRESET_LIST(X)};
static const char* const duals[] = {MABD_DUAL_LIST(X)};
static const char* const stages[] = {MABD_STAGE_LIST(X)};
static const char* const components[] = {MABD_COMPONENT_LIST(X)};
static const char* const orders[] = {MABD_ORDER_LIST(X)};
static const char* const memories[] = {MABD_MEMORY_LIST(X)};
#undef X

static const char* name_of(const char* const* names, unsigned count, unsigned value) {
    return value < count ? names[value] : "unknown";
}

static int find(const char* const* names, int count, const char* name) {
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) return i;
    }
    return -1;
}

const char* mabd_formulation_name(mabd_formulation value) {
    return name_of(formulations, MABD_FORMULATION_COUNT, value);
}
const char* mabd_backend_name(mabd_backend value) {
    return name_of(backends, MABD_BACKEND_COUNT, value);
}
const char* mabd_integrator_name(mabd_integrator value) {
    return name_of(integrators, MABD_INTEGRATOR_COUNT, value);
}
const char* mabd_preset_name(mabd_preset value) {
    return name_of(presets, MABD_PRESET_COUNT, value);
}
const char* mabd_dual_name(mabd_dual value) {
    return name_of(duals, MABD_DUAL_COUNT, value);
}
const char* mabd_order_name(mabd_order value) {
    return name_of(orders, MABD_ORDER_COUNT, value);
}
const char* mabd_stage_name(mabd_stage stage) {
    return name_of(stages, MABD_STAGE_COUNT, stage);
}
const char* mabd_memory_name(mabd_memory part) {
    return name_of(memories, MABD_MEMORY_COUNT, part);
}
const char* mabd_component_name(mabd_component kind) {
    return name_of(components, MABD_COMPONENT_COUNT, kind);
}
int mabd_formulation_find(const char* name) {
    return find(formulations, MABD_FORMULATION_COUNT, name);
}
int mabd_backend_find(const char* name) {
    return find(backends, MABD_BACKEND_COUNT, name);
}
int mabd_integrator_find(const char* name) {
    return find(integrators, MABD_INTEGRATOR_COUNT, name);
}
int mabd_preset_find(const char* name) {
    return find(presets, MABD_PRESET_COUNT, name);
}

int mabd_dual_find(const char* name) {
    return find(duals, MABD_DUAL_COUNT, name);
}

const char* mabd_model_dual_solvers(const mabd_model* model, mabd_dual dual, mabd_component kind,
                                    char* text, size_t size) {
    const mabd_plan* plan = model->plan;
    const mabd_affine_sim sim = {.model = model, .dual = dual};
    size_t length = 0;
    if (size > 0) text[0] = '\0';
    for (int32_t i = 0; i < plan->component_count; i++) {
        if (plan->components[i].kind != kind) continue;
        const mabd_dual_ops* ops = mabd_affine_dual_select(&sim, i);
        if (!ops || length >= size || strstr(text, ops->name)) continue;
        const int n = snprintf(text + length, size - length, "%s%s", length ? ", " : "", ops->name);
        if (n > 0) length += (size_t)n;
    }
    return text;
}

size_t mabd_model_sim_bytes(const mabd_model* model, mabd_dual dual) {
    return mabd_formulation_affine.bytes_for(model, dual);
}

static void count_geoms(const mabd_model* model, mabd_model_info* info) {
    for (int32_t i = 0; i < model->body_count; i++) {
        int32_t count;
        const mabd_geom* geoms = mabd_model_body_geoms(model, i, &count);
        for (int32_t k = 0; k < count; k++) info->geoms[geoms[k].shape]++;
        mabd_model_colliders(model, i, &count);
        info->colliders += count;
    }
    info->contacts = model->contact.enabled;
    info->excluded_pairs = model->contact.exclusion_count;
    info->bytes_per_contact = info->contacts ? mabd_affine_contacts_bytes_per_contact() : 0;
}

mabd_model_info mabd_model_get_info(const mabd_model* model) {
    const mabd_plan* plan = model->plan;
    mabd_model_info info = {0};
    info.bodies = model->body_count;
    for (int32_t i = 0; i < model->body_count; i++) {
        info.dynamic_bodies += model->body_motion[i] == MABD_MOTION_DYNAMIC;
    }
    info.joints = model->joint_count;
    info.rows = mabd_plan_joint_rows(plan);
    info.compliant_rows = info.rows - model->rigid_row_count;
    info.classes = model->class_count;
    count_geoms(model, &info);
    for (int k = 0; k < MABD_COMPONENT_COUNT; k++) info.components[k] = plan->counts[k];
    info.loops = plan->loops;
    info.widest_block = plan->widest;
    info.bytes_model = mabd_memory_of_model(model) + plan->bytes;
    info.bytes_sim = mabd_model_sim_bytes(model, MABD_DUAL_AUTO);
    info.bytes_per_body =
        (mabd_real)(info.bytes_model + info.bytes_sim) / (mabd_real)model->body_count;
    info.hash = model->hash;
    return info;
}
