// SPDX-License-Identifier: Apache-2.0
// Tests for src/scene/signal.c
#include "scene/signal.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

// ---- steps -------------------------------------------------------------------------------------

static const double step_times[] = {-1, 0.02, 0.5, 0.5625}, step_values[] = {3, 7, 7, -2};
static const mabd_signal steps = {
    .kind = MABD_SIGNAL_STEPS, .point_count = 4, .times = step_times, .values = step_values};

Test(signal, steps_are_constant_from_each_time_on) {
    cr_assert(mabd_signal_value(&steps, -9) == 3); // before the first time: the first value
    cr_assert(mabd_signal_value(&steps, -1) == 3);
    cr_assert(mabd_signal_value(&steps, nextafter(0.02, 0)) == 3);
    cr_assert(mabd_signal_value(&steps, 0.02) == 7);
    cr_assert(mabd_signal_value(&steps, 0.55) == 7);
    cr_assert(mabd_signal_value(&steps, 0.5625) == -2);
    cr_assert(mabd_signal_value(&steps, 1e9) == -2);
    cr_assert(mabd_signal_rate(&steps, 0.02) == 0);
}

// A change of value counts inside an interval, not at its ends, and a point without a change is
// none.
Test(signal, steps_jump_inside_an_interval) {
    cr_assert(mabd_signal_jumps(&steps, 0.01, 0.03));
    cr_assert(not(mabd_signal_jumps(&steps, 0.02, 0.04)));
    cr_assert(not(mabd_signal_jumps(&steps, 0, 0.02)));
    cr_assert(not(mabd_signal_jumps(&steps, 0.45, 0.55)));
    cr_assert(not(mabd_signal_jumps(&steps, -2, 0)));
    cr_assert(mabd_signal_jumps(&steps, 0.5, 3));
    const mabd_signal sine = {.kind = MABD_SIGNAL_SINE, .amplitude = 1, .frequency = 1};
    cr_assert(not(mabd_signal_jumps(&sine, 0, 1)));
}

// Ends of steps are n h: 3 x 0.1 is above 0.3 by one unit in the last place. Of every h and n, the
// step that ends at a jump has none, that with it inside, or at its beginning in the window of two
// steps, has one.
Test(signal, steps_forgive_the_round_off_of_times) {
    for (int decimal = 1; decimal < 2000; decimal++) {
        char text[32];
        snprintf(text, sizeof text, "%d.%02d", decimal / 100, decimal % 100);
        const double times[] = {0, strtod(text, NULL)}, values[] = {1, 2};
        const mabd_signal one = {
            .kind = MABD_SIGNAL_STEPS, .point_count = 2, .times = times, .values = values};
        for (int parts = 1; parts <= 32; parts *= 2) {
            const double h = 0.01 / parts, t = h * (decimal * parts);
            cr_assert(not(mabd_signal_jumps(&one, t - h, t)), "%s", text);
            cr_assert(not(mabd_signal_jumps(&one, t, t + h)), "%s", text);
            cr_assert(mabd_signal_jumps(&one, t - h, t + h), "%s", text);
            cr_assert(mabd_signal_mean(&one, t - h, t) == 1, "%s", text);
            cr_assert(mabd_signal_mean(&one, t, t + h) == 2, "%s", text);
        }
    }
}

Test(signal, the_mean_of_steps_is_their_integral) {
    cr_assert(mabd_signal_mean(&steps, -5, -3) == 3);
    cr_assert(le(dbl, fabs(mabd_signal_mean(&steps, 0, 0.04) - 5), 1e-14));
    cr_assert(le(dbl, fabs(mabd_signal_mean(&steps, 0.01, 0.05) - 6), 1e-14));
    // 3 over 0.02, 7 over 0.5425, -2 over 0.4375
    const double all = (3 * 0.02 + 7 * 0.5425 - 2 * 0.4375) / 1;
    cr_assert(le(dbl, fabs(mabd_signal_mean(&steps, 0, 1) - all), 1e-14));
}

Test(signal, steps_and_a_table_of_the_same_points_differ) {
    mabd_signal table = steps, clean = mabd_signal_clean(&steps);
    table.kind = MABD_SIGNAL_TABLE;
    cr_assert(not(mabd_signal_equal(&steps, &table)));
    cr_assert(mabd_signal_equal(&steps, &clean));
}

// x(t) + h x'(t + h), x = 2 sin t.
Test(signal, a_stage_has_the_rate_of_its_end) {
    const mabd_signal sine = {.kind = MABD_SIGNAL_SINE, .amplitude = 2, .frequency = 1 / (2 * pi)};
    cr_assert(
        le(dbl, fabs(mabd_signal_stage(&sine, 0.3, 0.1) - (2 * sin(0.3) + 0.2 * cos(0.4))), 1e-15));
    cr_assert(mabd_signal_stage(&steps, 0.1, 0.1) == 7);
}
