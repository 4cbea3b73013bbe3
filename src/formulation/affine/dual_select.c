// SPDX-License-Identifier: Apache-2.0
// The dual solver of a component; docs/theory/solvers.md has the rule. Counts of the plan and of
// the pattern of the factor decide, never times, so the choice is the same on every machine.

#include "formulation/affine/dual_select.h"

#include "formulation/affine/dual_analysis.h"
#include "formulation/affine/limits.h"

#include <stdio.h>

const mabd_dual_ops* mabd_affine_direct_dual(const mabd_plan_component* c) {
    if (c->slot_count == 0) return NULL;
    // Rows of one or two bodies held at both ends may depend on each other (a door on two hinges, a
    // shaft in three bearings), and so may those of a branched tree held in several places. Solvers
    // in place do not handle that: they keep nothing to try again with.
    const bool loose_chain = c->body_count > 2 || c->slot_count <= c->body_count;
    if (c->kind == MABD_COMPONENT_CHAIN && loose_chain) return &mabd_dual_chain;
    if (c->kind == MABD_COMPONENT_TREE && c->ground_count <= 1) return &mabd_dual_tree;
    return &mabd_dual_block;
}

mabd_dual_system mabd_affine_dual_system(const mabd_affine_sim* sim, int32_t component) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_plan_component* c = &plan->components[component];
    mabd_dual_system system;
    system.elimination = c->loops > 0 ? plan->elimination + c->slot_first : NULL;
    system.negative = c->junction_count ? plan->slot_negative + c->slot_first : NULL;
    system.late = c->junction_count ? plan->slot_late + c->slot_first : NULL;
    system.slot_count = c->slot_count;
    system.edge_count = c->edge_count;
    system.row_offset = plan->slot_row[c->slot_first];
    system.row_count = plan->slot_row[c->slot_first + c->slot_count] - system.row_offset;
    system.width = plan->slot_width + c->slot_first;
    system.row = plan->slot_row + c->slot_first;
    system.block = plan->slot_block + c->slot_first;
    system.from = plan->edge_from + c->edge_first;
    system.to = plan->edge_to + c->edge_first;
    system.slot_offset = c->slot_first;
    system.edge_block = plan->edge_block + c->edge_first;
    system.D = sim->D;
    system.U = sim->U;
    system.pool = NULL;
    return system;
}

// Components that an iterative solver may get: conjugate gradients need a definite matrix, and
// junctions make it quasi-definite.
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
            const mabd_dual_block_analysis* a = mabd_affine_analysis_of(sim, component);
            const mabd_dual_system system = mabd_affine_dual_system(sim, component);
            const size_t bytes = a ? direct->bytes_from(&system, a->symbolic) : SIZE_MAX;
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
