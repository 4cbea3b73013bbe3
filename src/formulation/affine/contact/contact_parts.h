// SPDX-License-Identifier: Apache-2.0
// Substeps of a step with contacts between moving bodies, and the tolerances of piles.
#pragma once

#include "formulation/affine/data.h"

/// Number of equal parts, a power of 2, in which contacts ask for a step of h [s]: after the first
/// contacts of its solve were found, from the state at its start. At most `most`; 1 without
/// contacts.
int32_t mabd_affine_contacts_parts(const mabd_affine_sim* sim, mabd_real h, int32_t most);
/// True if the contacts of the current solve are a pile: more rows than are solved accurately at
/// every reference, or a divided step with a large component among them. False for null.
bool mabd_affine_contacts_are_pile(const mabd_affine_contacts* contacts);
/// Tolerance of the contacts of the current solve [m].
mabd_real mabd_affine_contacts_tolerance(const mabd_affine_sim* sim);
