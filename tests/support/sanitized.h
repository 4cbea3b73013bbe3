// SPDX-License-Identifier: Apache-2.0
// The amount of work of a test in a plain and in a sanitized build, where the same code takes about
// ten times as long. Only the plain build runs the full amount: accuracy over long times, all cases
// of a large set, all numbers of threads. A smaller amount must reach the same code.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define AMOUNT(plain, sanitized) (sanitized)
#else
#define AMOUNT(plain, sanitized) (plain)
#endif
