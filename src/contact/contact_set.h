// SPDX-License-Identifier: Apache-2.0
// The contacts of a step matched with those of the step before, so that multipliers can be carried over.
//
// A contact is known by its key (i, j, feature): two geoms and a number that says which of their
// contacts it is. Both lists are sorted by key without repetition, so one walk along both finds what
// they share: O(old + new), no memory but the last list.
#pragma once

#include "mabd/base.h"

typedef struct mabd_contact_key {
    int32_t i, j; // geoms
    int32_t feature;
} mabd_contact_key;

typedef struct mabd_contact_set mabd_contact_set;

/// A set without contacts, with room for `capacity` of them. The allocator is copied.
mabd_status mabd_contact_set_create(const mabd_allocator* allocator, int32_t capacity,
                                    mabd_contact_set** set);
/// Null is allowed.
void mabd_contact_set_destroy(mabd_contact_set* set);
/// Room for at least `capacity` contacts; those of the last step are kept. On failure nothing changes.
mabd_status mabd_contact_set_reserve(mabd_contact_set* set, int32_t capacity);
/// Begin a step: `count` keys, rising by i, j, feature (copied). from (count) gets, for each, the place
/// that it had in the last step, -1 = new. kept gets how many are not new; may be null. Allocates
/// nothing. MABD_ERR_MEMORY: no room, reserve and repeat; MABD_ERR_ARG: keys do not rise. Then the set is
/// as before.
mabd_status mabd_contact_set_advance(mabd_contact_set* set, int32_t count,
                                     const mabd_contact_key* keys, int32_t* from, int32_t* kept);
/// Forget the last step: all contacts of the next one are new.
void mabd_contact_set_clear(mabd_contact_set* set);
/// Bytes held now.
size_t mabd_contact_set_bytes(const mabd_contact_set* set);
