// SPDX-License-Identifier: Apache-2.0
// Signals of time t:
//   constant  value
//   sine      value + amplitude sin(2 pi frequency t + phase)
//   ramp      value for t <= start, value_end for t >= end, linear between
//   table     linear between the points (t_i, y_i), y_0 before the first, y_last after the last
//   steps     y_i for t_i <= t < t_{i+1}, y_0 before the first, y_last from the last on
//
// The mean of steps over [a, b] is sum y_i |[t_i, t_{i+1}] n [a, b]| / (b - a). Ends of time steps
// are multiples n h in floating point, which miss a jump at the same decimal number by a few units
// in the last place; a jump closer to an end than 64 such units is at the end. A jump that is
// misjudged for its larger round-off (times that were summed up) changes the mean by 1e-12 or so.
#include "scene/signal.h"

#include "math/shared.h"

#include <float.h>
#include <math.h>

/// Relative error by which the end of a step may miss a time that it means.
#ifdef MABD_SINGLE
#define TIME_ROUND_OFF ((mabd_real)(64 * FLT_EPSILON))
#else
#define TIME_ROUND_OFF ((mabd_real)(64 * DBL_EPSILON))
#endif

mabd_signal mabd_signal_constant(mabd_real value) {
    mabd_signal signal = {.kind = MABD_SIGNAL_CONSTANT, .value = value};
    return signal;
}

static mabd_real ramp_value(const mabd_signal* signal, mabd_real time) {
    if (time <= signal->start) return signal->value;
    if (time >= signal->end) return signal->value_end;
    mabd_real part = (time - signal->start) / (signal->end - signal->start);
    return signal->value + part * (signal->value_end - signal->value);
}

// The point i with times[i] <= time < times[i + 1], for times[0] <= time < times[last].
static int32_t table_interval(const mabd_signal* signal, mabd_real time) {
    int32_t low = 0, high = signal->point_count - 1;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (signal->times[middle] <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static mabd_real table_value(const mabd_signal* signal, mabd_real time) {
    const mabd_real *times = signal->times, *values = signal->values;
    const int32_t last = signal->point_count - 1;
    if (time <= times[0]) return values[0];
    if (time >= times[last]) return values[last];
    const int32_t i = table_interval(signal, time);
    mabd_real part = (time - times[i]) / (times[i + 1] - times[i]);
    return values[i] + part * (values[i + 1] - values[i]);
}

static mabd_real table_rate(const mabd_signal* signal, mabd_real time) {
    const mabd_real *times = signal->times, *values = signal->values;
    if (time < times[0] || time >= times[signal->point_count - 1]) return 0;
    const int32_t i = table_interval(signal, time);
    return (values[i + 1] - values[i]) / (times[i + 1] - times[i]);
}

// The last point i with times[i] <= time, 0 if there is none.
static int32_t steps_interval(const mabd_signal* signal, mabd_real time) {
    const int32_t last = signal->point_count - 1;
    if (time < signal->times[0]) return 0;
    return time >= signal->times[last] ? last : table_interval(signal, time);
}

// Shrink the interval by the round-off of its ends.
static void leave_ends(mabd_real* from, mabd_real* to) {
    const mabd_real largest = (mabd_real)(fmax(fabs(*from), fabs(*to)) + (*to - *from));
    const mabd_real slack = TIME_ROUND_OFF * largest;
    *from += slack, *to -= slack;
}

mabd_real mabd_signal_mean(const mabd_signal* signal, mabd_real from, mabd_real to) {
    const mabd_real *times = signal->times, *values = signal->values, middle = (from + to) / 2;
    mabd_real inner_from = from, inner_to = to;
    leave_ends(&inner_from, &inner_to);
    if (!(inner_to > inner_from)) return values[steps_interval(signal, middle)];
    int32_t i = steps_interval(signal, inner_from);
    const int32_t last = steps_interval(signal, inner_to);
    if (i == last) return values[i];
    mabd_real sum = 0, at = from;
    for (; i < last; i++) {
        sum += values[i] * (times[i + 1] - at);
        at = times[i + 1];
    }
    return (sum + values[last] * (to - at)) / (to - from);
}

bool mabd_signal_jumps(const mabd_signal* signal, mabd_real from, mabd_real to) {
    if (signal->kind != MABD_SIGNAL_STEPS) return false;
    leave_ends(&from, &to);
    if (!(to > from)) return false;
    const int32_t last = steps_interval(signal, to);
    for (int32_t i = steps_interval(signal, from); i < last; i++) {
        if (signal->values[i] != signal->values[i + 1]) return true;
    }
    return false;
}

mabd_real mabd_signal_over(const mabd_signal* signal, mabd_real time, mabd_real h, mabd_real end) {
    return signal->kind == MABD_SIGNAL_STEPS ? mabd_signal_mean(signal, time, time + h)
                                             : mabd_signal_value(signal, end);
}

bool mabd_signal_has_points(const mabd_signal* signal) {
    return signal->kind == MABD_SIGNAL_TABLE || signal->kind == MABD_SIGNAL_STEPS;
}

mabd_real mabd_signal_value(const mabd_signal* signal, mabd_real time) {
    switch (signal->kind) {
    case MABD_SIGNAL_NONE:
        return 0;
    case MABD_SIGNAL_CONSTANT:
        return signal->value;
    case MABD_SIGNAL_SINE: {
        mabd_real angle = 2 * MABD_PI * signal->frequency * time + signal->phase;
        return signal->value + signal->amplitude * (mabd_real)sin(angle);
    }
    case MABD_SIGNAL_RAMP:
        return ramp_value(signal, time);
    case MABD_SIGNAL_TABLE:
        return table_value(signal, time);
    case MABD_SIGNAL_STEPS:
        return signal->values[steps_interval(signal, time)];
    }
    return 0;
}

mabd_real mabd_signal_rate(const mabd_signal* signal, mabd_real time) {
    const mabd_real omega = 2 * MABD_PI * signal->frequency;
    switch (signal->kind) {
    case MABD_SIGNAL_NONE:
    case MABD_SIGNAL_CONSTANT:
    case MABD_SIGNAL_STEPS:
        return 0;
    case MABD_SIGNAL_SINE:
        return signal->amplitude * omega * (mabd_real)cos(omega * time + signal->phase);
    case MABD_SIGNAL_RAMP:
        if (time < signal->start || time >= signal->end) return 0;
        return (signal->value_end - signal->value) / (signal->end - signal->start);
    case MABD_SIGNAL_TABLE:
        return table_rate(signal, time);
    }
    return 0;
}

mabd_real mabd_signal_bend(const mabd_signal* signal, mabd_real time) {
    const mabd_real omega = 2 * MABD_PI * signal->frequency;
    if (signal->kind != MABD_SIGNAL_SINE) return 0; // piecewise linear
    return -signal->amplitude * omega * omega * (mabd_real)sin(omega * time + signal->phase);
}

mabd_real mabd_signal_stage(const mabd_signal* signal, mabd_real time, mabd_real h) {
    return mabd_signal_value(signal, time) + h * mabd_signal_rate(signal, time + h);
}

mabd_signal mabd_signal_clean(const mabd_signal* signal) {
    mabd_signal clean = {.kind = signal->kind};
    if (signal->kind == MABD_SIGNAL_CONSTANT || signal->kind == MABD_SIGNAL_SINE ||
        signal->kind == MABD_SIGNAL_RAMP) {
        clean.value = signal->value;
    }
    if (signal->kind == MABD_SIGNAL_SINE) {
        clean.amplitude = signal->amplitude;
        clean.frequency = signal->frequency;
        clean.phase = signal->phase;
    }
    if (signal->kind == MABD_SIGNAL_RAMP) {
        clean.start = signal->start;
        clean.end = signal->end;
        clean.value_end = signal->value_end;
    }
    if (mabd_signal_has_points(signal)) {
        clean.point_count = signal->point_count;
        clean.times = signal->times;
        clean.values = signal->values;
    }
    return clean;
}

bool mabd_signal_equal(const mabd_signal* a, const mabd_signal* b) {
    if (a->kind != b->kind || a->value != b->value || a->amplitude != b->amplitude ||
        a->frequency != b->frequency || a->phase != b->phase || a->start != b->start ||
        a->end != b->end || a->value_end != b->value_end || a->point_count != b->point_count) {
        return false;
    }
    for (int32_t i = 0; i < a->point_count; i++) {
        if (a->times[i] != b->times[i] || a->values[i] != b->values[i]) return false;
    }
    return true;
}
