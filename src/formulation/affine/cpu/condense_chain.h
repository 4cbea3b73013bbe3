// SPDX-License-Identifier: Apache-2.0
// The kept slots of a chain with contacts, and the runs of untouched slots between them.
#pragma once

#include "formulation/affine/cpu/condense.h"

/// Least number of rows of the joints of a run.
#define MABD_CONDENSED_LEAST_ROWS 3

/// Choose the kept slots of a chain and form groups of the runs between them, in o; of_slot >= 0
/// marks the slots of touched bodies. MABD_ERR_MEMORY.
mabd_status mabd_affine_condense_chain_plan(mabd_affine_sim* sim,
                                            mabd_affine_condensed_component* o);
/// Factor the kept slots with the contacts of the round; the first round of a reference eliminates
/// the runs. MABD_ERR_SINGULAR: *bad gets the slot, counted from 0 in the component.
mabd_status mabd_affine_condense_chain_factor(mabd_affine_sim* sim, int32_t component,
                                              int32_t* bad);
/// Solve for the multipliers of kept slots, and write them to lambda.
void mabd_affine_condense_chain_solve(mabd_affine_sim* sim, int32_t component);
/// Write the multipliers of kept slots to lambda.
void mabd_affine_condense_chain_scatter(mabd_affine_sim* sim,
                                        const mabd_affine_condensed_component* o);
/// Compute the multipliers of the runs from those of the kept slots in lambda.
void mabd_affine_condense_chain_complete(mabd_affine_sim* sim,
                                         const mabd_affine_condensed_component* o);
