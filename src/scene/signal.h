// SPDX-License-Identifier: Apache-2.0
// Signals: a number as a function of time (see mabd_signal in mabd/scene.h).
#pragma once

#include "mabd/scene.h"

/// Compute the value of a signal at `time` [s]; 0 for MABD_SIGNAL_NONE. The signal must be a
/// checked one. O(log points).
mabd_real mabd_signal_value(const mabd_signal* signal, mabd_real time);
/// Compute the rate of a signal at `time` [s], from the right, in its unit per second; 0 for
/// MABD_SIGNAL_NONE. The signal must be a checked one. O(log points).
mabd_real mabd_signal_rate(const mabd_signal* signal, mabd_real time);
/// Return a signal with every field that its kind does not use set to zero or null.
mabd_signal mabd_signal_clean(const mabd_signal* signal);
/// True if two clean signals are the same function, tables compared point by point.
bool mabd_signal_equal(const mabd_signal* a, const mabd_signal* b);
