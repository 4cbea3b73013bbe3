// SPDX-License-Identifier: Apache-2.0
// The graph of slots as CHOLMOD takes it, for its orders.
#pragma once

#include "dual/dual.h"

#include <cholmod.h>

/// Start CHOLMOD: silent, only its simplicial (LGPL) part.
void mabd_cholmod_start(cholmod_common* common);

/// Symmetric pattern with the diagonal (lower triangle, one column per `from`), null if there is no
/// memory. Free with cholmod_free_sparse.
cholmod_sparse* mabd_slot_pattern(const mabd_dual_system* system, cholmod_common* common);
