// SPDX-License-Identifier: Apache-2.0
// The plan of a model as tables: its components by class, and the solvers of each pattern of
// components.
#pragma once

#include "mabd/sim.h"

#include <jansson.h>
#include <stdio.h>

typedef struct plan_table {
    const mabd_sim_plan* plan;
    mabd_plan_totals totals[MABD_COMPONENT_COUNT];
} plan_table;

/// Table of a model and a plan of its simulation, which must outlive the table.
plan_table plan_table_make(const mabd_model* model, const mabd_sim_plan* plan);
/// Print the components by class, then the solvers of each pattern.
void plan_table_print(const plan_table* table, FILE* out);
/// Add the keys "classes" and "dual" to a JSON object.
void plan_table_add_json(const plan_table* table, json_t* object);
