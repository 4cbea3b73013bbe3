// SPDX-License-Identifier: Apache-2.0
// Softness of contacts under bodies that are much heavier.
#pragma once

#include "formulation/affine/contact/contact.h"

/// Make the contacts of bodies that carry much heavier ones as stiff as their loads ask for.
/// Contacts that were found at the reference. Uses by_body.change.
void mabd_affine_contacts_stiffen(mabd_affine_sim* sim);
/// Warn once if a body that carries a much heavier one overlaps another body by more than a
/// hundredth of the thinner of both at the end of the step at `time` [s]. Uses by_body.change.
/// Does nothing without contacts.
void mabd_affine_contacts_watch_loads(mabd_affine_sim* sim, mabd_real time);
