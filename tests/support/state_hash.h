// SPDX-License-Identifier: Apache-2.0
// A hash of all bits of a state.
#pragma once

#include "formulation/affine/cpu/isa_table.h"

/// Make `steps` steps of a new simulation with these stages; return the hash of its state, history
/// included. info: of the last step, may be null. A failing step fails the test.
uint64_t state_hash(const mabd_model* model, const mabd_sim_def* def,
                    const mabd_affine_isa_table* stages, int32_t steps, mabd_step_info* info);
