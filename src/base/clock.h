// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Monotonic wall clock [s].
double mabd_clock(void);
