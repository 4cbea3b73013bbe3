// SPDX-License-Identifier: Apache-2.0
// Names of the kinds of parameters and losses, and the default definitions.
#include "gradient/gradient_defs.h"

#include <math.h>
#include <string.h>

#define X(name, text) text,
static const char* const parameters[] = {MABD_PARAMETER_LIST(X)};
static const char* const losses[] = {MABD_LOSS_LIST(X)};
static const char* const stops[] = {MABD_STOP_LIST(X)};
#undef X

static int find(const char* const* names, int count, const char* name) {
    for (int i = 0; name && i < count; i++) {
        if (strcmp(names[i], name) == 0) return i;
    }
    return -1;
}

const char* mabd_parameter_kind_name(mabd_parameter_kind kind) {
    return (unsigned)kind < MABD_PARAMETER_COUNT ? parameters[kind] : "unknown";
}
const char* mabd_loss_kind_name(mabd_loss_kind kind) {
    return (unsigned)kind < MABD_LOSS_COUNT ? losses[kind] : "unknown";
}
const char* mabd_stop_name(mabd_stop reason) {
    return (unsigned)reason < MABD_STOP_COUNT ? stops[reason] : "unknown";
}
int mabd_parameter_kind_find(const char* name) {
    return find(parameters, MABD_PARAMETER_COUNT, name);
}
int mabd_loss_kind_find(const char* name) {
    return find(losses, MABD_LOSS_COUNT, name);
}

mabd_parameter mabd_default_parameter(mabd_parameter_kind kind) {
    const mabd_parameter parameter = {.kind = kind,
                                      .first = 1,
                                      .last = 1,
                                      .lower = -(mabd_real)INFINITY,
                                      .upper = (mabd_real)INFINITY,
                                      .scale = 1};
    return parameter;
}

mabd_loss_term mabd_default_loss_term(mabd_loss_kind kind) {
    mabd_loss_term term = {.kind = kind, .weight = 1};
    if (kind == MABD_LOSS_ROTATION) term.target[0] = 1;
    return term;
}

mabd_gradient_def mabd_default_gradient_def(void) {
    const mabd_gradient_def def = {.steps = 1, .cookie = MABD_GRADIENT_COOKIE};
    return def;
}

mabd_optimize_def mabd_default_optimize_def(void) {
    const mabd_optimize_def def = {.max_iterations = 100,
                                   .memory = 10,
                                   .gradient_tolerance = (mabd_real)1e-8,
                                   .cookie = MABD_OPTIMIZE_COOKIE};
    return def;
}
