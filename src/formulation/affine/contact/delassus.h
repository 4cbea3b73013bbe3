// SPDX-License-Identifier: Apache-2.0
// W = Jc A^-1 Jc' of contacts between small components, block by block, for dual/cone_gs.h.
#pragma once

#include "dual/cone_gs.h"
#include "formulation/affine/data.h"

/// Put the rows of the first `count` contacts that are rows together, at this reference: after factor and
/// mabd_affine_response_open. Overwrites lambda of their components. MABD_ERR_MEMORY.
mabd_status mabd_affine_delassus_build(mabd_affine_sim* sim, int32_t count);
/// The part of a run.
mabd_cone_matrix mabd_affine_delassus_of(const mabd_affine_contacts* contacts,
                                         const mabd_affine_contact_range* run);
