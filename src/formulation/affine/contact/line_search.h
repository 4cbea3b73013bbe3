// SPDX-License-Identifier: Apache-2.0
// Branches of eliminated contacts after a solve.
#pragma once

#include "formulation/affine/data.h"

/// After update: compute forces of contacts, and choose the branch of each eliminated one for the
/// next solve. round: solves before this one at the same reference.
mabd_affine_contact_report mabd_affine_contacts_line_search(mabd_affine_sim* sim, int32_t round);
/// Give up the search: move bodies whose contacts are off their branches to the best point of the
/// search. Energy has fallen on the way there and joints are closed, but forces do not balance.
void mabd_affine_contacts_accept_best(mabd_affine_sim* sim);

/// Add the share of axes with laws to the slope of the energy of every group
/// (affine/contact/line_search_axes.c).
void mabd_affine_axes_add_slopes(mabd_affine_sim* sim);
/// Move axes with laws to the point of the search; `first`: to the solution.
void mabd_affine_axes_move(mabd_affine_sim* sim, bool first);
