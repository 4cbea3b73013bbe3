// SPDX-License-Identifier: Apache-2.0
// The tree of a plan as text and JSON: strings of its joints and what it cuts.
#pragma once

#include "mabd/sim.h"

#include <jansson.h>
#include <stdio.h>

/// Print the tree of a plan; nothing if its formulation has none.
void tree_table_print(const mabd_sim_plan* plan, FILE* out);
/// Add the key "tree" to a JSON object if the formulation has one.
void tree_table_add_json(const mabd_sim_plan* plan, json_t* object);
