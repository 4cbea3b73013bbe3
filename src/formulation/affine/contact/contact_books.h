// SPDX-License-Identifier: Apache-2.0
// Work of contacts in one solve.
#pragma once

#include "formulation/affine/data.h"

/// Add the work of all contacts in a solve that is not finished to *work. Needs q, v, ref, q_new on
/// the host.
void mabd_affine_contacts_book(const mabd_affine_sim* sim, mabd_affine_contact_energy* work);
/// Compute the energy stored in the softness of all contacts: normal, tangential (2) [J].
void mabd_affine_contacts_stored(const mabd_affine_sim* sim, mabd_real* stored);
