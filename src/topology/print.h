// SPDX-License-Identifier: Apache-2.0
// A plan as text and as a fingerprint.
#pragma once

#include "topology/plan.h"

/// Write one line for each class that occurs into text, at most size bytes with the terminating
/// zero:
///   chain: 2 components, 120 bodies, 121 joints, 363 rows, 119 couplings
/// classes with cycles add their number. Lines end in '\n'. Like snprintf, returns the length of
/// the whole text; text may be null if size is 0.
size_t mabd_plan_describe(const mabd_plan* plan, char* text, size_t size);

/// Fingerprint of everything in the plan: equal for equal plans, on every run and machine of one
/// byte order.
uint64_t mabd_plan_hash(const mabd_plan* plan);
