// SPDX-License-Identifier: Apache-2.0
// One gradient per copy of a batch: parameters and terms of a loss for each of its copies.
#pragma once

#include "mabd/gradient.h"

/// Parameters, terms and values for all copies; free with gradient_copies_free.
typedef struct gradient_copies {
    int32_t parameter_count, term_count;
    mabd_parameter* parameters;
    mabd_loss_term* terms;
    mabd_real* values;
} gradient_copies;

/// Repeat those of `from`, which name things of the first copy, for each of `count` copies of a
/// model: parameters of the first copy, of the second, ..., at last those that all copies share,
/// gravity and a spin of all bodies. values: those of `from`; where they are those of the scene,
/// each copy has its own. h: of a step [s]. MABD_ERR_UNAVAILABLE: springs; MABD_ERR_MEMORY.
mabd_status gradient_copies_make(const mabd_model* model, mabd_real h, int32_t count,
                                 const mabd_gradient_def* from, const mabd_real* values,
                                 gradient_copies* out);
void gradient_copies_free(gradient_copies* copies);
