// SPDX-License-Identifier: Apache-2.0
// Terms of a loss: what each kind needs, and whether a model has it.
#pragma once

#include "gradient/parameter.h"

/// What a kind of loss term needs.
typedef struct mabd_loss_traits {
    mabd_gradient_owner owner;
    int32_t targets;      // numbers of `target` that count
    int64_t first;        // first state at which it exists
    bool point;           // `point` counts
    bool all_axes;        // axis -1 stands for all six, and any axis will do
    bool parameter, user; // the index is that of a parameter; needs user_fn
} mabd_loss_traits;
/// Traits of a kind; kind < MABD_LOSS_COUNT.
const mabd_loss_traits* mabd_loss_get_traits(mabd_loss_kind kind);

/// Refuse a term that a model does not have, that reaches beyond the states 0 .. steps, or whose
/// numbers are not finite. `user` says whether there is a user_fn. MABD_ERR_INPUT; the text names
/// the body, the joint or the number.
mabd_status mabd_loss_term_check(const mabd_model* model, int64_t steps, int32_t parameter_count,
                                 bool user, const mabd_loss_term* term, mabd_error* error);
