// SPDX-License-Identifier: Apache-2.0
// Reals that count their operations. The compiler reads this file before the source of kernels
// (-include): first the standard headers, which must not see it, then a class of one double with
// the operators of doubles, which replaces `double` from there on. The source of the kernels is
// unchanged; so are layout and calls, as a class of one double is passed as a double (System V).
//
// A sum, product, quotient, root or comparison counts one each; a sign or a magnitude is free on a
// device. The increment of a counter is hidden from the compiler, which otherwise would load
// everything again after each operation; no code compiled here reads the counters.
//
// memcpy and memset are loops here, as the compiler's own versions have no calls before their loads
// and stores.
#pragma once

#include "bench/cuda-model/ops.h"

#ifdef __cplusplus

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <typeinfo>

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void model_count(model_op op) {
#if defined(__x86_64__)
    asm volatile("incq (%0)" : : "r"(&model_ops[op]) : "cc");
#else
    model_ops[op]++;
#endif
}

struct counted {
    double value;

    counted() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    constexpr counted(T other) : value((double)other) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>>>
    explicit constexpr operator T() const {
        return (T)value;
    }
    constexpr counted operator-() const {
        return counted(-value);
    }
    constexpr counted operator+() const {
        return *this;
    }
};

#define MODEL_OPERATOR(symbol, op)                                                                 \
    static inline counted operator symbol(counted a, counted b) {                                  \
        model_count(op);                                                                           \
        return counted(a.value symbol b.value);                                                    \
    }                                                                                              \
    static inline counted& operator symbol##=(counted& a, counted b) {                             \
        return a = a symbol b;                                                                     \
    }
MODEL_OPERATOR(+, MODEL_ADD)
MODEL_OPERATOR(-, MODEL_ADD)
MODEL_OPERATOR(*, MODEL_MULTIPLY)
MODEL_OPERATOR(/, MODEL_DIVIDE)

#define MODEL_COMPARISON(symbol)                                                                   \
    static inline bool operator symbol(counted a, counted b) {                                     \
        model_count(MODEL_COMPARE);                                                                \
        return a.value symbol b.value;                                                             \
    }
MODEL_COMPARISON(<)
MODEL_COMPARISON(>)
MODEL_COMPARISON(<=)
MODEL_COMPARISON(>=)
MODEL_COMPARISON(==)
MODEL_COMPARISON(!=)

#define MODEL_FUNCTION(name, op)                                                                   \
    static inline counted name(counted a) {                                                        \
        model_count(op);                                                                           \
        return counted(::name(a.value));                                                           \
    }
MODEL_FUNCTION(sqrt, MODEL_ROOT)
MODEL_FUNCTION(floor, MODEL_ADD)
MODEL_FUNCTION(ceil, MODEL_ADD)
MODEL_FUNCTION(round, MODEL_ADD)
MODEL_FUNCTION(sin, MODEL_CALL)
MODEL_FUNCTION(cos, MODEL_CALL)
MODEL_FUNCTION(tan, MODEL_CALL)
MODEL_FUNCTION(acos, MODEL_CALL)
MODEL_FUNCTION(asin, MODEL_CALL)
MODEL_FUNCTION(atan, MODEL_CALL)
MODEL_FUNCTION(exp, MODEL_CALL)
MODEL_FUNCTION(log, MODEL_CALL)

#define MODEL_FUNCTION_OF_TWO(name, op)                                                            \
    static inline counted name(counted a, counted b) {                                             \
        model_count(op);                                                                           \
        return counted(::name(a.value, b.value));                                                  \
    }
MODEL_FUNCTION_OF_TWO(fmin, MODEL_COMPARE)
MODEL_FUNCTION_OF_TWO(fmax, MODEL_COMPARE)
MODEL_FUNCTION_OF_TWO(atan2, MODEL_CALL)
MODEL_FUNCTION_OF_TWO(hypot, MODEL_CALL)
MODEL_FUNCTION_OF_TWO(pow, MODEL_CALL)

static inline counted fabs(counted a) {
    return counted(::fabs(a.value));
}
static inline counted copysign(counted a, counted b) {
    return counted(::copysign(a.value, b.value));
}
static inline bool model_isfinite(counted a) {
    model_count(MODEL_COMPARE);
    return std::isfinite(a.value);
}
static inline bool model_isnan(counted a) {
    model_count(MODEL_COMPARE);
    return std::isnan(a.value);
}

typedef uint64_t model_word __attribute__((may_alias, aligned(1)));

static inline void* model_copy(void* to, const void* from, size_t size) {
    size_t k = 0;
    for (; k + 8 <= size; k += 8) *(model_word*)((char*)to + k) = *(model_word*)((char*)from + k);
    for (; k < size; k++) ((char*)to)[k] = ((const char*)from)[k];
    return to;
}
static inline void* model_set(void* to, int value, size_t size) {
    const uint64_t word = 0x0101010101010101u * (unsigned char)value;
    size_t k = 0;
    for (; k + 8 <= size; k += 8) *(model_word*)((char*)to + k) = word;
    for (; k < size; k++) ((char*)to)[k] = (char)value;
    return to;
}

static_assert(sizeof(counted) == sizeof(double) && alignof(counted) == alignof(double));
static_assert(std::is_trivial_v<counted>);

#define memcpy   model_copy
#define memset   model_set
#define isfinite model_isfinite
#define isnan    model_isnan
#define double counted
#define MABD_COUNTED // the source as on a device (math/shared.h)

#endif // __cplusplus
