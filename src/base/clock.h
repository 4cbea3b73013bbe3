// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Time of the monotonic wall clock [s], from an arbitrary start.
double mabd_clock(void);
