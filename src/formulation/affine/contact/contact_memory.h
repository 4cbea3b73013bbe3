// SPDX-License-Identifier: Apache-2.0
// Memory of contacts: arrays known from the model, lists that grow and stay.
#pragma once

#include "formulation/affine/contact/contact.h"

/// Take the memory for the contacts of a model. *out is null if the model has none. The model must
/// outlive *out, the allocator is copied. MABD_ERR_MEMORY.
mabd_status mabd_affine_contacts_create(const mabd_model* model, const mabd_allocator* allocator,
                                        mabd_affine_contacts** out);
/// Null is allowed.
void mabd_affine_contacts_destroy(mabd_affine_contacts* contacts);
/// Bytes held now; 0 for null.
size_t mabd_affine_contacts_bytes(const mabd_affine_contacts* contacts);
/// Bytes that create takes for a model; SIZE_MAX if too many.
size_t mabd_affine_contacts_bytes_for(const mabd_model* model);
/// Bytes of the lists per contact point against a fixed body.
size_t mabd_affine_contacts_bytes_per_contact(void);
/// Forget all contacts, saved ones too.
void mabd_affine_contacts_forget(mabd_affine_contacts* contacts);
