// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients preconditioned by an older factor of the direct solver.
//
// From one iteration of a step to the next the dual matrix changes little: the factor of an earlier
// one is a preconditioner that needs few iterations, each as cheap as one direct solve. A new
// factor is made by the first system after a restart, after a solve that took more than
// REFACTOR_ITERATIONS iterations, and at once where the iteration with the old factor misses the
// goal. All of this is counted, never timed, and a restart at the start of every step makes a step
// independent of earlier steps: a restored state continues bit for bit.

#include "dual/graph_cg.h"

#include <string.h>

// A solve that takes more iterations than this shows that the factor is too old for the next one.
#define REFACTOR_ITERATIONS 12
