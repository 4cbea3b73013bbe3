// SPDX-License-Identifier: Apache-2.0
// Forces of contacts that are rows, and of loads on their supports.
#pragma once

#include "formulation/affine/data.h"

/// After factor: solve the dual system with the forces of contacts that are rows or have supports.
/// lambda: right-hand side in, multipliers out; the response to the forces is added to q_new, as
/// assemble has left it. `again`: only eliminated contacts of other components have changed since
/// the last call at this reference, so the forces of rows stay. MABD_ERR_MEMORY.
mabd_status mabd_affine_contacts_solve(mabd_affine_sim* sim, bool again);
