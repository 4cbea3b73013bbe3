// SPDX-License-Identifier: Apache-2.0
// Names of the choices of a simulation, and the properties of formulations.

#include "formulation/formulation.h"
#include "mabd/sim.h"

#include <string.h>

#define X(name, text) text,
static const char* const formulations[] = {MABD_FORMULATION_LIST(X)};
static const char* const backends[] = {MABD_BACKEND_LIST(X)};
static const char* const integrators[] = {MABD_INTEGRATOR_LIST(X)};
static const char* const presets[] = {MABD_PRESET_LIST(X)};
static const char* const newtons[] = {MABD_NEWTON_LIST(X)};
static const char* const duals[] = {MABD_DUAL_LIST(X)};
static const char* const contact_problems[] = {MABD_CONTACT_PROBLEM_LIST(X)};
static const char* const coordinates[] = {MABD_COORDINATES_LIST(X)};
static const char* const baumgarte_levels[] = {MABD_BAUMGARTE_LIST(X)};
static const char* const impulse_joints[] = {MABD_IMPULSE_JOINTS_LIST(X)};
static const char* const corrections[] = {MABD_CORRECTION_LIST(X)};
static const char* const redundancies[] = {MABD_REDUNDANCY_LIST(X)};
static const char* const solvers[] = {MABD_SOLVER_LIST(X)};
static const char* const multipliers[] = {MABD_MULTIPLIERS_LIST(X)};
static const char* const cones[] = {MABD_CONE_LIST(X)};
static const char* const orders[] = {MABD_ORDER_LIST(X)};
static const char* const memories[] = {MABD_MEMORY_LIST(X)};
static const char* const features[] = {MABD_CAN_LIST(X)};
#undef X
#define X(name, field, kind) #field,
static const char* const energies[] = {MABD_ENERGY_LIST(X)};
#undef X
#define X(name, field, kind) MABD_ENERGY_IS_##kind,
static const mabd_energy_kind energy_kinds[] = {MABD_ENERGY_LIST(X)};
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
const char* mabd_newton_name(mabd_newton value) {
    return name_of(newtons, MABD_NEWTON_COUNT, value);
}
const char* mabd_dual_name(mabd_dual value) {
    return name_of(duals, MABD_DUAL_COUNT, value);
}
const char* mabd_contact_problem_name(mabd_contact_problem value) {
    return name_of(contact_problems, MABD_CONTACT_PROBLEM_COUNT, value);
}
const char* mabd_coordinates_name(mabd_coordinates value) {
    return name_of(coordinates, MABD_COORDINATES_COUNT, value);
}
const char* mabd_baumgarte_level_name(mabd_baumgarte_level value) {
    return name_of(baumgarte_levels, MABD_BAUMGARTE_COUNT, value);
}
const char* mabd_impulse_joints_name(mabd_impulse_joints value) {
    return name_of(impulse_joints, MABD_IMPULSE_JOINTS_COUNT, value);
}
const char* mabd_correction_name(mabd_correction value) {
    return name_of(corrections, MABD_CORRECTION_COUNT, value);
}
const char* mabd_redundancy_name(mabd_redundancy value) {
    return name_of(redundancies, MABD_REDUNDANCY_COUNT, value);
}
const char* mabd_solver_name(mabd_solver value) {
    return name_of(solvers, MABD_SOLVER_COUNT, value);
}
const char* mabd_multipliers_name(mabd_multipliers value) {
    return name_of(multipliers, MABD_MULTIPLIERS_COUNT, value);
}
const char* mabd_cone_name(mabd_cone value) {
    return name_of(cones, MABD_CONE_COUNT, value);
}
const char* mabd_order_name(mabd_order value) {
    return name_of(orders, MABD_ORDER_COUNT, value);
}
const char* mabd_memory_name(mabd_memory part) {
    return name_of(memories, MABD_MEMORY_COUNT, part);
}
const char* mabd_can_name(mabd_can_index index) {
    return name_of(features, MABD_CAN_COUNT, index);
}
const char* mabd_energy_name(mabd_energy account) {
    return name_of(energies, MABD_ENERGY_COUNT, account);
}
mabd_energy_kind mabd_energy_get_kind(mabd_energy account) {
    return (unsigned)account < MABD_ENERGY_COUNT ? energy_kinds[account] : MABD_ENERGY_IS_REST;
}
int mabd_formulation_find(const char* name) {
    for (int i = 0; i < MABD_FORMULATION_COUNT; i++) {
        const mabd_formulation_ops* ops = mabd_formulation_ops_of((mabd_formulation)i);
        if (ops && ops->alias && strcmp(ops->alias, name) == 0) return i;
    }
    return find(formulations, MABD_FORMULATION_COUNT, name);
}
int mabd_backend_find(const char* name) {
    return find(backends, MABD_BACKEND_COUNT, name);
}
int mabd_integrator_find(const char* name) {
    if (strcmp(name, "bdf1") == 0) return MABD_INTEGRATOR_EULER;
    return find(integrators, MABD_INTEGRATOR_COUNT, name);
}
int mabd_preset_find(const char* name) {
    return find(presets, MABD_PRESET_COUNT, name);
}
int mabd_newton_find(const char* name) {
    return find(newtons, MABD_NEWTON_COUNT, name);
}
int mabd_dual_find(const char* name) {
    return find(duals, MABD_DUAL_COUNT, name);
}

mabd_formulation_info mabd_formulation_get_info(mabd_formulation formulation) {
    static const char* const none[] = {NULL};
    const mabd_formulation_ops* ops = mabd_formulation_ops_of(formulation);
    mabd_formulation_info info = {0};
    info.built = ops != NULL;
    info.name = mabd_formulation_name(formulation);
    info.paper_name = ops ? ops->paper_name : "";
    info.stages = ops ? ops->stages : none;
    if (!ops) return info;
    info.can = ops->can;
    info.integrators = ops->integrators;
    for (int k = 0; k < MABD_BACKEND_COUNT; k++) {
        if (ops->has_backend((mabd_backend)k)) info.backends |= 1U << k;
    }
    while (info.stages[info.stage_count]) info.stage_count++;
    return info;
}
