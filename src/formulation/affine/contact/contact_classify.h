// SPDX-License-Identifier: Apache-2.0
// The way each contact is solved.
#pragma once

#include "formulation/affine/contact/contact.h"

/// Decide which contacts are eliminated and which are rows, and fill all lists that follow from it.
/// MABD_ERR_MEMORY.
mabd_status mabd_affine_contacts_classify(mabd_affine_contacts* contacts);
