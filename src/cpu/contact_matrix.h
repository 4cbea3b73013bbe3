// SPDX-License-Identifier: Apache-2.0
// W = Jc A^-1 Jc' of contacts between small components, block by block, for dual/contact_gs.h.
#pragma once

#include "cpu/sim.h"
#include "dual/contact_gs.h"

/// Put the rows of the first `count` contacts that are rows together, at this reference: after factor and
/// mabd_respond_open. Overwrites lambda of their components. MABD_ERR_MEMORY.
mabd_status mabd_contact_matrix_build(mabd_cpu_sim* sim, int32_t count);
/// The part of a run.
mabd_contact_matrix mabd_contact_matrix_of(const mabd_contacts* contacts,
                                           const mabd_contact_run* run);
