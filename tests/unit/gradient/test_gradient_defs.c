// SPDX-License-Identifier: Apache-2.0
// Names of kinds and default definitions of mabd/gradient.h.
#include "mabd/gradient.h"

#include <criterion/criterion.h>
#include <math.h>

Test(gradient_defs, every_kind_is_found_by_its_name) {
    for (int k = 0; k < MABD_PARAMETER_COUNT; k++) {
        cr_assert_eq(mabd_parameter_kind_find(mabd_parameter_kind_name((mabd_parameter_kind)k)), k);
    }
    for (int k = 0; k < MABD_LOSS_COUNT; k++) {
        cr_assert_eq(mabd_loss_kind_find(mabd_loss_kind_name((mabd_loss_kind)k)), k);
    }
}

// The names of loss files: those of the lists in lower case, with '-' for '_'.
static void expect_spelling(const char* name, const char* text) {
    for (; *name; name++, text++) {
        const char want = *name == '_' ? '-' : (char)(*name - 'A' + 'a');
        cr_assert_eq(*text, want, "%s", text);
    }
    cr_assert_eq(*text, '\0');
}

Test(gradient_defs, names_are_spelled_as_in_the_list) {
#define X(name, text) expect_spelling(#name, text);
    MABD_PARAMETER_LIST(X)
    MABD_LOSS_LIST(X)
    MABD_STOP_LIST(X)
#undef X
}

Test(gradient_defs, other_values_and_names_are_unknown) {
    cr_assert_str_eq(mabd_parameter_kind_name(MABD_PARAMETER_COUNT), "unknown");
    cr_assert_str_eq(mabd_loss_kind_name(MABD_LOSS_COUNT), "unknown");
    cr_assert_str_eq(mabd_stop_name(MABD_STOP_COUNT), "unknown");
    cr_assert_str_eq(mabd_stop_name(MABD_STOP_FLAT), "flat");
    cr_assert_eq(mabd_parameter_kind_find("weight"), -1);
    cr_assert_eq(mabd_parameter_kind_find(NULL), -1);
    cr_assert_eq(mabd_loss_kind_find("start-velocity"), -1);
    cr_assert_eq(mabd_loss_kind_find(NULL), -1);
}

Test(gradient_defs, defaults_are_those_of_the_header) {
    const mabd_parameter p = mabd_default_parameter(MABD_PARAMETER_MASS);
    cr_assert(p.kind == MABD_PARAMETER_MASS && p.index == 0 && p.axis == 0 && p.component == 0);
    cr_assert(p.first == 1 && p.last == 1 && p.scale == 1);
    cr_assert(isinf(p.lower) && p.lower < 0 && isinf(p.upper) && p.upper > 0);
    const mabd_loss_term turn = mabd_default_loss_term(MABD_LOSS_ROTATION);
    cr_assert(turn.kind == MABD_LOSS_ROTATION && turn.target[0] == 1 && turn.weight == 1);
    cr_assert_eq(mabd_default_loss_term(MABD_LOSS_POINT).target[0], 0);
    cr_assert_eq(mabd_default_gradient_def().steps, 1);
    cr_assert_neq(mabd_default_gradient_def().cookie, 0);
    const mabd_optimize_def o = mabd_default_optimize_def();
    cr_assert(o.max_iterations == 100 && o.memory == 10 && o.loss_tolerance == 0 && !o.progress);
    cr_assert_neq(o.cookie, 0);
}
