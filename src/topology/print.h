// SPDX-License-Identifier: Apache-2.0
// A plan in figures: sums by class, and a fingerprint.
#pragma once

#include "topology/plan.h"

/// Sums over the components of one class.
mabd_plan_totals mabd_plan_sum(const mabd_plan* plan, mabd_component kind);

/// Fingerprint of everything in the plan: equal for equal plans, on every run and machine of one
/// byte order.
uint64_t mabd_plan_hash(const mabd_plan* plan);
