// SPDX-License-Identifier: Apache-2.0
// The plan of a model as tables: its components by class, and how each pattern of component is solved.
#pragma once

#include "mabd/sim.h"

#include <jansson.h>
#include <stdio.h>

#define PLAN_LINES 32

typedef struct plan_table {
    mabd_dual dual;
    mabd_plan_totals totals[MABD_COMPONENT_COUNT];
    mabd_dual_line lines[PLAN_LINES];
    int32_t line_count, left_out; // components with patterns beyond PLAN_LINES
} plan_table;

/// How the model is solved with this choice of dual solvers. MABD_ERR_MEMORY.
mabd_status plan_table_make(const mabd_model* model, mabd_dual dual, plan_table* table);
void plan_table_print(const plan_table* table, FILE* out);
/// Add "classes" and "dual" to an object.
void plan_table_add_json(const plan_table* table, json_t* object);
