// SPDX-License-Identifier: Apache-2.0
// Contacts that are known from the last step, or the last reference: found by their geoms and by where they are on body b.
#pragma once

#include "formulation/affine/contact/contact.h"

/// By i, then by j: < 0, 0 or > 0.
int mabd_affine_contact_compare(const mabd_affine_contact_key* a, const mabd_affine_contact_key* b);
/// The known points of a pair in `from` (mabd_affine_saved_contact): *first .. the end that is returned. Keys rise, so does *first.
int32_t mabd_affine_match_find(const mabd_list* from, const mabd_affine_contact_key* key,
                               int32_t* first);
/// The one next to X (principal frame of b) that is not taken yet, -1 = none; bit k of `taken`: known[k] is.
int32_t mabd_affine_match_nearest(const mabd_affine_saved_contact* known, int32_t count,
                                  uint32_t taken, mabd_vec3 X);
/// Pieces, bound and force of an old contact, and what friction has bent before this step. last_step: it is of the last
/// step, not of the last reference.
void mabd_affine_match_take(const mabd_affine_sim* sim, const mabd_affine_saved_contact* old,
                            bool last_step, mabd_affine_contact* p);
/// Write all contacts to a list (mabd_affine_saved_contact) that has room for them (contact_sort.c).
void mabd_affine_match_write(const mabd_affine_contacts* contacts, mabd_list* list);
