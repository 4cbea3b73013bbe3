// SPDX-License-Identifier: Apache-2.0
// States as bytes: one function of a formulation visits every array of its state, and counting,
// saving and restoring all follow from it, so that they cannot disagree.
#pragma once

#include "mabd/base.h"

/// Where a visit is. All null: bytes are counted.
typedef struct mabd_rigid_cursor {
    unsigned char* out;      // the state is copied to here
    const unsigned char* in; // or from here
    size_t size;             // bytes so far
} mabd_rigid_cursor;

/// Visit `bytes` bytes of a state.
void mabd_rigid_visit(mabd_rigid_cursor* at, void* array, size_t bytes);
/// Visit n flags: one byte each, of which 0 is false and everything else true.
void mabd_rigid_visit_flags(mabd_rigid_cursor* at, bool* flags, size_t n);

/// Visit every array of a state, always in the same order and with the same sizes.
typedef void mabd_rigid_visitor(void* self, mabd_rigid_cursor* at);

/// Bytes of a state.
size_t mabd_rigid_state_size(const void* self, mabd_rigid_visitor* visit);
/// Copy a state to a buffer of that size.
void mabd_rigid_save(const void* self, mabd_rigid_visitor* visit, void* buffer);
/// Copy a state back. MABD_ERR_INPUT if the size is not that of a state: nothing is changed.
mabd_status mabd_rigid_restore(void* self, mabd_rigid_visitor* visit, const void* buffer,
                               size_t size);
