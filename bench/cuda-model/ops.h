// SPDX-License-Identifier: Apache-2.0
// Kinds of counted operations (counted.h, count.cpp).
#pragma once

/// X(name, key, instructions that one takes on a device)
///
/// Kernels are compiled without contraction, so a sum or a product is an instruction. Quotients and
/// roots are short programs: an estimate and two steps of Newton. How long they and the functions
/// are is an ASSUMPTION: it was not measured on a device.
#define MODEL_OP_LIST(X)                                                                           \
    X(ADD, "adds", 1)                                                                              \
    X(MULTIPLY, "multiplies", 1)                                                                   \
    X(COMPARE, "comparisons", 1)                                                                   \
    X(DIVIDE, "divisions", 8)                                                                      \
    X(ROOT, "roots", 8)                                                                            \
    X(CALL, "calls", 40) /* sine, arc tangent ... */

typedef enum model_op {
#define X(name, key, instructions) MODEL_##name,
    MODEL_OP_LIST(X)
#undef X
        MODEL_OP_COUNT
} model_op;

#ifdef __cplusplus
extern "C" {
#endif

/// So many since the program started.
extern long long model_ops[MODEL_OP_COUNT];

#ifdef __cplusplus
}
#endif
