// SPDX-License-Identifier: Apache-2.0
// The dual solver of a component: the rule of rigid/component_dual.h with the analyses of the
// affine formulation.

#include "formulation/affine/dual_select.h"

#include "formulation/affine/dual_analysis.h"

#include <stdio.h>

mabd_dual_system mabd_affine_dual_system(const mabd_affine_sim* sim, int32_t component) {
    return mabd_rigid_dual_system(sim->model->plan, component, sim->D, sim->U);
}

const mabd_dual_ops* mabd_affine_dual_select(const mabd_affine_sim* sim, int32_t component) {
    const mabd_plan_component* c = &sim->model->plan->components[component];
    size_t bytes = 0;
    if (sim->dual == MABD_DUAL_AUTO && mabd_rigid_may_be_too_large(c)) {
        const mabd_dual_block_analysis* a = mabd_affine_analysis_of(sim, component);
        const mabd_dual_system system = mabd_affine_dual_system(sim, component);
        bytes = a ? mabd_rigid_direct_dual(c)->bytes_from(&system, a->symbolic) : SIZE_MAX;
    }
    return mabd_rigid_select_dual(c, sim->dual, bytes);
}

bool mabd_affine_may_iterate(const mabd_affine_sim* sim) {
    const mabd_plan* plan = sim->model->plan;
    const bool automatic = sim->dual == MABD_DUAL_AUTO;
    if (sim->dual == MABD_DUAL_DIRECT) return false;
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        if (automatic ? mabd_rigid_may_be_too_large(c) : mabd_rigid_may_iterate(c)) return true;
    }
    return false;
}

void mabd_affine_dual_warn(mabd_affine_sim* sim) {
    const mabd_plan* plan = sim->model->plan;
    int32_t first = -1, others = -1;
    char more[80] = "";
    if (sim->dual == MABD_DUAL_AUTO || sim->dual == MABD_DUAL_DIRECT) return;
    for (int32_t i = 0; i < plan->component_count; i++) {
        if (plan->components[i].junction_count == 0) continue;
        if (first < 0) first = i;
        others++;
    }
    if (first < 0) return;
    const mabd_plan_component* c = &plan->components[first];
    if (others > 0) {
        snprintf(more, sizeof more, "; %d more component%s with junctions %s a direct solver, too",
                 (int)others, others > 1 ? "s" : "", others > 1 ? "get" : "gets");
    }
    mabd_warn(&sim->warnings, -1, -1, 0,
              "component %d (%d bodies, %d junction%s) is solved by '%s': '%s' needs a definite "
              "matrix, and junctions make it indefinite%s",
              (int)first, (int)c->body_count, (int)c->junction_count,
              c->junction_count > 1 ? "s" : "", sim->duals[first]->name, mabd_dual_name(sim->dual),
              more);
}
