// SPDX-License-Identifier: Apache-2.0
// Contacts handed from one reference, and from one step, to the next.
#pragma once

#include "base/list.h"
#include "formulation/affine/data.h"

/// Restore branches, bound, force and stick offset of a contact from its saved state. last_step:
/// that is of the last step, else of the last reference.
void mabd_affine_saved_take(const mabd_affine_sim* sim, const mabd_affine_saved_contact* old,
                            bool last_step, mabd_affine_contact* p);
/// Write all contacts to a list of mabd_affine_saved_contact, for which classify has reserved room.
/// lead: length of the solve [s].
void mabd_affine_saved_write(const mabd_affine_contacts* contacts, mabd_real lead, mabd_list* list);
/// Save the contacts for the next step, and which bodies take it by Euler. After the last solve of
/// a step, before finish.
void mabd_affine_contacts_save(mabd_affine_sim* sim);

/// Keep the saved contacts and the bodies that take steps by Euler, before a step. MABD_ERR_MEMORY.
mabd_status mabd_affine_saved_keep(mabd_affine_sim* sim);
/// Return to what was kept, once, after a step that failed.
void mabd_affine_saved_return(mabd_affine_sim* sim);
