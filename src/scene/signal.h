// SPDX-License-Identifier: Apache-2.0
// Signals: a number as a function of time (see mabd_signal in mabd/scene.h).
#pragma once

#include "mabd/scene.h"

/// Compute the value of a signal at `time` [s]; 0 for MABD_SIGNAL_NONE. The signal must be a
/// checked one. O(log points).
mabd_real mabd_signal_value(const mabd_signal* signal, mabd_real time);
/// Compute the mean of a signal of kind MABD_SIGNAL_STEPS over from <= t <= to, from < to [s].
/// Jumps at the ends, up to round-off of times, are not inside. O(log points + jumps inside).
mabd_real mabd_signal_mean(const mabd_signal* signal, mabd_real from, mabd_real to);
/// True if a signal of kind MABD_SIGNAL_STEPS changes its value inside from < t < to [s]; at the
/// ends, up to round-off of times, does not count. False for other kinds. O(log points + jumps).
bool mabd_signal_jumps(const mabd_signal* signal, mabd_real from, mabd_real to);
/// Compute the value of a signal for a solve that ends at `end`, in a step from `time` over `h`
/// [s]: its value at the end, but the mean over the step for MABD_SIGNAL_STEPS, whose impulse is
/// exact then. The signal must be a checked one.
mabd_real mabd_signal_over(const mabd_signal* signal, mabd_real time, mabd_real h, mabd_real end);
/// True if the kind of a signal has points: times and values.
bool mabd_signal_has_points(const mabd_signal* signal);
/// Compute the rate of a signal at `time` [s], from the right, in its unit per second; 0 for
/// MABD_SIGNAL_NONE. The signal must be a checked one. O(log points).
mabd_real mabd_signal_rate(const mabd_signal* signal, mabd_real time);
/// Compute the second derivative of a signal at `time` [s], from the right, in its unit per second
/// squared; 0 for all kinds but MABD_SIGNAL_SINE. The signal must be a checked one.
mabd_real mabd_signal_bend(const mabd_signal* signal, mabd_real time);
/// Compute x(t) + h x'(t + h) of a signal x: the value at the end of an implicit Euler solve from
/// t = `time` over `h` [s] whose rate is that of the signal. The signal must be a checked one.
mabd_real mabd_signal_stage(const mabd_signal* signal, mabd_real time, mabd_real h);
/// Return a signal with every field that its kind does not use set to zero or null.
mabd_signal mabd_signal_clean(const mabd_signal* signal);
/// True if two clean signals are the same function, tables compared point by point.
bool mabd_signal_equal(const mabd_signal* a, const mabd_signal* b);
