// SPDX-License-Identifier: Apache-2.0
// Checks of a definition and of the features of a model, before a formulation sees them.
#pragma once

#include "formulation/formulation.h"

/// Names of the fields of def_fields.def, in its order.
#define FIELD(owner, field) +1
enum {
    MABD_DEF_FIELD_COUNT = 0
#include "sim/def_fields.def"
};
#undef FIELD

/// Value of every field of def_fields.def into values (MABD_DEF_FIELD_COUNT); exact.
void mabd_def_values(const mabd_sim_def* def, double* values);
/// Name of a field, "affine.rotation_tolerance".
const char* mabd_def_field_name(int field);

/// Refuse a field that a formulation does not use and that differs from the default definition with
/// def->preset applied. MABD_ERR_UNAVAILABLE; the text names formulation and field.
mabd_status mabd_def_check_unused(const mabd_formulation_ops* ops, const mabd_sim_def* def,
                                  mabd_error* error);
/// Features that a model needs, as MABD_CAN_ bits.
uint32_t mabd_model_needs(const mabd_model* model);
/// Find the table of def->formulation, write def with every choice resolved to *resolved, and check
/// both with the model. MABD_ERR_ARG, MABD_ERR_UNAVAILABLE.
mabd_status mabd_def_resolve(const mabd_model* model, const mabd_sim_def* def,
                             mabd_sim_def* resolved, const mabd_formulation_ops** ops,
                             mabd_error* error);
