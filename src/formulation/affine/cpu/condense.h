// SPDX-License-Identifier: Apache-2.0
// Rounds of the search for eliminated contacts at one reference, for touched bodies only.
#pragma once

#include "formulation/affine/data.h"

/// What a linear solve does with a component.
typedef enum mabd_affine_condensed_part {
    MABD_CONDENSED_NOT,    // assemble, factor and solve it as without condensation
    MABD_CONDENSED_DONE,   // nothing: no contact touches it, and it was solved at this reference
    MABD_CONDENSED_COPY,   // restore its system (mabd_affine_condense_restore), factor and solve it
    MABD_CONDENSED_SOLVER, // restore touched slots; the solver has rounds (dual/dual.h)
    MABD_CONDENSED_CHAIN,  // factor and solve its kept slots (condense_chain.h)
} mabd_affine_condensed_part;

/// Decide whether linear solves at a reference whose contacts were just found are condensed, and
/// make the pattern. `first`: the first reference of a solve; the pattern stays at later ones while
/// no further body is touched. MABD_ERR_MEMORY.
mabd_status mabd_affine_condense_plan(mabd_affine_sim* sim, bool first);
/// Hide contacts from the assembly of a reference, or show them again.
void mabd_affine_condense_hide(mabd_affine_sim* sim, bool hide);
/// After the assembly of a reference without contacts: compute what rounds need of touched bodies.
void mabd_affine_condense_open(mabd_affine_sim* sim);
/// Begin a round: eliminate the contacts of touched bodies in their blocks, for the current
/// branches.
void mabd_affine_condense_round(mabd_affine_sim* sim);
/// What the linear solve of a round does with a component.
mabd_affine_condensed_part mabd_affine_condense_part(const mabd_affine_sim* sim, int32_t component);
/// Write the dual system of a component with the contacts of the round.
void mabd_affine_condense_restore(mabd_affine_sim* sim, int32_t component);
/// Restore and factor a component whose solver has rounds. MABD_ERR_SINGULAR: *bad gets the slot,
/// from 0; for the rest of this reference the component is one of MABD_CONDENSED_COPY.
mabd_status mabd_affine_condense_factor(mabd_affine_sim* sim, int32_t component,
                                        const mabd_dual_system* system, int32_t* bad);
/// Compute the new state of touched bodies.
mabd_affine_motion_report mabd_affine_condense_update(mabd_affine_sim* sim);
/// After the last round at a reference: compute the multipliers that rounds left out and the new
/// state of all bodies.
mabd_affine_motion_report mabd_affine_condense_complete(mabd_affine_sim* sim);
/// Move the best point of touched bodies and kept multipliers by the point of the line search of
/// their group; `whole`: to the solution.
void mabd_affine_condense_move_best(mabd_affine_sim* sim, bool whole);
/// Make the best point the state of all bodies of groups whose search is open.
void mabd_affine_condense_accept_best(mabd_affine_sim* sim);

/// The record of a component with touched bodies; null = none.
MABD_FN mabd_affine_condensed_component* mabd_affine_condensed_of(const mabd_affine_contacts* c,
                                                                  int32_t component) {
    const int32_t at = ((const int32_t*)c->condensed.of_component.data)[component];
    return at < 0 ? NULL : (mabd_affine_condensed_component*)c->condensed.components.data + at;
}
/// Subtract the eliminated rows of all touched bodies of a component from its dual system, and add
/// their effect to its right-hand side.
void mabd_affine_condense_subtract(mabd_affine_sim* sim, const mabd_affine_condensed_component* o);
