// SPDX-License-Identifier: Apache-2.0
// The graph of slots as a CHOLMOD matrix, for its ordering functions.
#pragma once

#include "dual/dual.h"

#include <cholmod.h>

/// Start CHOLMOD: silent, only its simplicial (LGPL) part.
void mabd_dual_cholmod_start(cholmod_common* common);

/// Build the symmetric pattern with the diagonal (lower triangle, one column per `from`); null if
/// memory is exhausted. Free with cholmod_free_sparse.
cholmod_sparse* mabd_dual_slot_pattern(const mabd_dual_system* system, cholmod_common* common);
