// SPDX-License-Identifier: Apache-2.0
// Which dual solver a component gets; the rule is told in docs/theory/solvers.md. Counts of the plan and of the
// factor's pattern decide, never times, so the choice is the same on every machine.

#include "formulation/affine/data.h"
#include "formulation/affine/limits.h"

// Components that an iterative solver may get: conjugate gradients need a definite matrix, and junctions make it
// quasi-definite.
static bool may_iterate(const mabd_plan_component* c) {
    return c->slot_count > 0 && c->kind != MABD_COMPONENT_CHAIN && c->junction_count == 0;
}

static bool may_be_too_large(const mabd_plan_component* c) {
    return may_iterate(c) && c->slot_count > MABD_DUAL_AUTO_MAX_SLOTS &&
           (c->kind == MABD_COMPONENT_LOOPS || c->kind == MABD_COMPONENT_GRAPH);
}

const mabd_dual_ops* mabd_affine_dual_select(const mabd_affine_sim* sim, int32_t component) {
    const mabd_plan_component* c = &sim->model->plan->components[component];
    const mabd_dual_ops* direct = mabd_affine_direct_dual(c);
    if (!may_iterate(c)) return direct;
    switch (sim->dual) {
    case MABD_DUAL_STALE:
        return &mabd_dual_stale;
    case MABD_DUAL_GS:
        return &mabd_dual_gs;
    case MABD_DUAL_PCG:
        return &mabd_dual_pcg;
    case MABD_DUAL_AUTO:
        if (may_be_too_large(c)) {
            const mabd_dual_system system = mabd_affine_dual_system(sim, component);
            const size_t bytes = direct->bytes_for(&sim->model->allocator, &system);
            if (bytes > MABD_DUAL_AUTO_MAX_BYTES) return &mabd_dual_pcg;
        }
        return direct;
    default:
        return direct;
    }
}

bool mabd_affine_may_iterate(const mabd_affine_sim* sim) {
    const mabd_plan* plan = sim->model->plan;
    const bool automatic = sim->dual == MABD_DUAL_AUTO;
    if (sim->dual == MABD_DUAL_DIRECT) return false;
    for (int32_t i = 0; i < plan->component_count; i++) {
        const mabd_plan_component* c = &plan->components[i];
        if (automatic ? may_be_too_large(c) : may_iterate(c)) return true;
    }
    return false;
}
