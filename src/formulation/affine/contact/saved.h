// SPDX-License-Identifier: Apache-2.0
// Contacts that are known from the last step, or the last reference: found by their geoms and by where they are on body b.
#pragma once

#include "base/list.h"
#include "formulation/affine/contact/contact.h"

/// Pieces, bound and force of an old contact, and what friction has bent before this step. last_step: it is of the last
/// step, not of the last reference.
void mabd_affine_saved_take(const mabd_affine_sim* sim, const mabd_affine_saved_contact* old,
                            bool last_step, mabd_affine_contact* p);
/// Write all contacts to a list (mabd_affine_saved_contact) that has room for them (contact_sort.c).
void mabd_affine_saved_write(const mabd_affine_contacts* contacts, mabd_list* list);
