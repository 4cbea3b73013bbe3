// SPDX-License-Identifier: Apache-2.0
// The analysis that planning a simulation of a model leaves for its creation, so that planning and
// creating analyse once. A formulation puts its own record behind this head. The model owns the
// analysis until somebody takes it; a model has at most one. Threads may share the model.
#pragma once

#include "model/model_data.h"

/// Head of an analysis.
typedef struct mabd_model_analysis {
    const void* owner; // identifies the formulation that made it
    /// Free the whole record.
    void (*destroy)(struct mabd_model_analysis* analysis);
} mabd_model_analysis;

/// Leave an analysis in a model, in place of an earlier one, which is destroyed. The record must
/// use an allocator that lives as long as the model: the model's own.
void mabd_model_leave_analysis(const mabd_model* m, mabd_model_analysis* analysis);
/// Take the analysis that `owner` left out of a model; null if there is none.
mabd_model_analysis* mabd_model_take_analysis(const mabd_model* m, const void* owner);
