// SPDX-License-Identifier: Apache-2.0
// The amount of work of a test in a plain and in a sanitized build, where the same code takes about
// ten times as long. Amounts may differ where the full one proves accuracy or frequency, which the
// plain build tests; every code path and every claim is in both.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define AMOUNT(plain, sanitized) (sanitized)
#else
#define AMOUNT(plain, sanitized) (plain)
#endif
