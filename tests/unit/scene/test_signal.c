// SPDX-License-Identifier: Apache-2.0
// Tests for src/scene/signal.c
#include "scene/signal.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

static const double pi = 3.14159265358979323846;

Test(signal, absent_is_zero_and_constant_is_constant) {
    mabd_signal none = {.kind = MABD_SIGNAL_NONE, .value = 7};
    mabd_signal constant = mabd_signal_constant(2.5);
    cr_assert(mabd_signal_value(&none, 3) == 0);
    cr_assert(mabd_signal_value(&constant, -1e9) == 2.5);
    cr_assert(mabd_signal_value(&constant, 1e9) == 2.5);
}

Test(signal, sine_has_offset_amplitude_frequency_and_phase) {
    mabd_signal sine = {
        .kind = MABD_SIGNAL_SINE, .value = 1, .amplitude = 2, .frequency = 0.5, .phase = pi / 6};
    cr_assert(le(dbl, fabs(mabd_signal_value(&sine, 0) - 2), 1e-15)); // 1 + 2 sin 30 deg
    cr_assert(le(dbl, fabs(mabd_signal_value(&sine, 1) - 0), 1e-15)); // half a turn later
    cr_assert(le(dbl, fabs(mabd_signal_value(&sine, 1.0 / 3) - 3), 1e-15));
    cr_assert(le(dbl, fabs(mabd_signal_value(&sine, 2) - 2), 1e-14)); // one period
}

Test(signal, ramp_is_linear_between_and_flat_outside) {
    mabd_signal ramp = {
        .kind = MABD_SIGNAL_RAMP, .value = 1, .value_end = -3, .start = 2, .end = 4};
    cr_assert(mabd_signal_value(&ramp, 0) == 1);
    cr_assert(mabd_signal_value(&ramp, 2) == 1);
    cr_assert(mabd_signal_value(&ramp, 2.5) == 0);
    cr_assert(mabd_signal_value(&ramp, 3) == -1);
    cr_assert(mabd_signal_value(&ramp, 4) == -3);
    cr_assert(mabd_signal_value(&ramp, 9) == -3);
}

Test(signal, table_of_one_point_is_constant) {
    const double time = 1, value = 4;
    mabd_signal table = {
        .kind = MABD_SIGNAL_TABLE, .point_count = 1, .times = &time, .values = &value};
    for (double t = 0; t < 3; t += 0.5) cr_assert(mabd_signal_value(&table, t) == 4);
}

// the points lie on t^2, so each interval [i, i+1] is the chord (2 i + 1) t - i (i + 1)
Test(signal, table_finds_its_interval) {
    enum { count = 100 };
    double times[count], values[count];
    for (int i = 0; i < count; i++) times[i] = i, values[i] = i * i;
    mabd_signal table = {
        .kind = MABD_SIGNAL_TABLE, .point_count = count, .times = times, .values = values};
    cr_assert(mabd_signal_value(&table, -5) == 0);
    cr_assert(mabd_signal_value(&table, 1000) == 99 * 99);
    for (int i = 0; i < count; i++) cr_assert(mabd_signal_value(&table, i) == i * i);
    for (int n = 1; n < count; n++) { // tables of every length: the search terminates correctly
        table.point_count = n + 1;
        for (int i = 0; i < n; i++) {
            for (double t = i + 0.125; t < i + 1; t += 0.25) {
                double chord = (2 * i + 1) * t - i * (i + 1);
                cr_assert(le(dbl, fabs(mabd_signal_value(&table, t) - chord), 1e-11), "at %g", t);
            }
        }
    }
}

Test(signal, clean_drops_what_the_kind_does_not_use) {
    const double times[] = {0, 1}, values[] = {5, 6};
    mabd_signal full = {MABD_SIGNAL_CONSTANT, 1, 2, 3, 4, 5, 6, 7, 2, times, values};
    mabd_signal constant = mabd_signal_constant(1), clean = mabd_signal_clean(&full);
    cr_assert(mabd_signal_equal(&clean, &constant));
    cr_assert(not(mabd_signal_equal(&full, &constant)));
    cr_assert(zero(ptr, (void*)clean.times));
    full.kind = MABD_SIGNAL_RAMP;
    clean = mabd_signal_clean(&full);
    cr_assert(clean.value == 1 && clean.start == 5 && clean.end == 6 && clean.value_end == 7);
    cr_assert(clean.amplitude == 0 && clean.frequency == 0 && clean.phase == 0);
    full.kind = MABD_SIGNAL_SINE;
    clean = mabd_signal_clean(&full);
    cr_assert(clean.amplitude == 2 && clean.frequency == 3 && clean.phase == 4 && clean.end == 0);
}

Test(signal, tables_are_compared_by_their_points) {
    const double times[] = {0, 1}, values[] = {5, 6}, same[] = {5, 6}, other[] = {5, 6.5};
    mabd_signal a = {.kind = MABD_SIGNAL_TABLE, .point_count = 2, .times = times, .values = values};
    mabd_signal b = a, c = a;
    b.values = same;
    c.values = other;
    cr_assert(mabd_signal_equal(&a, &b));
    cr_assert(not(mabd_signal_equal(&a, &c)));
    c = a;
    c.point_count = 1;
    cr_assert(not(mabd_signal_equal(&a, &c)));
}
