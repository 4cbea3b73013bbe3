// SPDX-License-Identifier: Apache-2.0
// Impacts that pass on through rows of bodies.
#pragma once

#include "formulation/affine/contact/contact.h"

/// Let impacts with restitution pass on to the other contacts of the bodies that they hit, and
/// change the gaps of their rows to what they ask for. Contacts that were found at the reference
/// and filled. True if some were changed: they have hit.passes.
bool mabd_affine_contacts_pass_on(mabd_affine_sim* sim);
