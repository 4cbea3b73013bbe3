// SPDX-License-Identifier: Apache-2.0
// W = Jc A^-1 Jc' of contacts between small components, block by block, for dual/cone_gs.h.
#pragma once

#include "dual/cone_gs.h"
#include "formulation/affine/data.h"

/// Assemble W of the first `count` contacts that are rows, at this reference. After factor and
/// mabd_affine_response_open. Overwrites lambda of their components. MABD_ERR_MEMORY.
mabd_status mabd_affine_delassus_build(mabd_affine_sim* sim, int32_t count);
/// View of the part of W that belongs to a range.
mabd_cone_matrix mabd_affine_delassus_of(const mabd_affine_contacts* contacts,
                                         const mabd_affine_contact_range* range);
