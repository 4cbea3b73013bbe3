// SPDX-License-Identifier: Apache-2.0
// Tests for src/base/names.c
#include "base/names.h"

#include "support/counting_allocator.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static mabd_allocator allocator;
static counting_allocator counter;
static mabd_names names;

static void setup(void) {
    memset(&counter, 0, sizeof counter);
    counter.fail_at = -1;
    allocator = counting_allocator_make(&counter);
    memset(&names, 0, sizeof names);
}

static void teardown(void) {
    mabd_names_free(&allocator, &names);
    cr_assert(eq(i64, counter.live_blocks, 0));
    cr_assert(eq(i64, counter.wrong_frees, 0));
}

TestSuite(names, .init = setup, .fini = teardown);

static mabd_status add(const char* base, int32_t first, int32_t count) {
    return mabd_names_add(&allocator, &names, base, first, count);
}

static const char* name_of(int32_t index) {
    static char text[64];
    return mabd_names_write(&names, index, text, sizeof text) ? text : "(none)";
}

Test(names, single_names_and_ranges_are_found_both_ways) {
    cr_assert(eq(int, add("arm", 3, 0), MABD_OK));
    cr_assert(eq(int, add("chain", 5, 100), MABD_OK));
    cr_assert(eq(int, add("tip", 200, 0), MABD_OK));
    cr_assert(eq(i32, mabd_names_find(&names, "arm"), 3));
    cr_assert(eq(i32, mabd_names_find(&names, "chain/0"), 5));
    cr_assert(eq(i32, mabd_names_find(&names, "chain/99"), 104));
    cr_assert(eq(i32, mabd_names_find(&names, "tip"), 200));
    cr_assert(eq(str, (char*)name_of(3), "arm"));
    cr_assert(eq(str, (char*)name_of(5), "chain/0"));
    cr_assert(eq(str, (char*)name_of(104), "chain/99"));
    cr_assert(eq(str, (char*)name_of(200), "tip"));
    const int32_t unnamed[] = {0, 2, 4, 105, 199, 201};
    for (int i = 0; i < 6; i++) cr_assert(eq(str, (char*)name_of(unnamed[i]), "(none)"));
}

Test(names, missing_names_are_not_found) {
    cr_assert(eq(i32, mabd_names_find(&names, "arm"), -1));
    add("arm", 0, 0), add("chain", 1, 10);
    const char* const missing[] = {"",
                                   "chain",
                                   "chain/",
                                   "chain/10",
                                   "chain/01",
                                   "chain/-1",
                                   "chain/1x",
                                   "chain/ 1",
                                   "ar",
                                   "arms",
                                   "arm/0",
                                   "/0",
                                   "chain//1",
                                   "chain/00",
                                   "Chain/1",
                                   "chain/4294967297",
                                   "chain/99999999999999999999"};
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        cr_assert(eq(i32, mabd_names_find(&names, missing[i]), -1), "'%s'", missing[i]);
    }
}

Test(names, taken_empty_and_reserved_names_are_refused) {
    add("arm", 0, 0), add("chain", 1, 10);
    const char* const refused[] = {"arm", "chain", "", "chain/3", "other/12", "a/b/0", "x/007"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        cr_assert(eq(int, add(refused[i], 20, 0), MABD_ERR_ARG), "'%s'", refused[i]);
        cr_assert(eq(int, add(refused[i], 20, 5), MABD_ERR_ARG), "'%s'", refused[i]);
    }
    cr_assert(eq(i32, names.ranges.count, 2));
    cr_assert(eq(int, add("net/left", 20, 4), MABD_OK));
    cr_assert(eq(int, add("net/v2", 30, 0), MABD_OK));
    cr_assert(eq(i32, mabd_names_find(&names, "net/left/3"), 23));
    cr_assert(eq(i32, mabd_names_find(&names, "net/v2"), 30));
}

Test(names, many_single_names) {
    enum { count = 20000 };
    char text[32];
    for (int32_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "body%d", (int)i);
        cr_assert(eq(int, add(text, 2 * i, 0), MABD_OK));
    }
    for (int32_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "body%d", (int)i);
        cr_assert(eq(i32, mabd_names_find(&names, text), 2 * i));
        cr_assert(eq(str, (char*)name_of(2 * i), text));
        cr_assert(eq(str, (char*)name_of(2 * i + 1), "(none)"));
    }
}

Test(names, a_million_generated_names_cost_one_entry) {
    cr_assert(eq(int, add("link", 0, 1000000), MABD_OK));
    cr_assert(eq(i32, mabd_names_find(&names, "link/999999"), 999999));
    cr_assert(lt(sz, mabd_names_bytes(&names), 1024));
    cr_assert(eq(i64, (int64_t)mabd_names_bytes(&names), counter.live_bytes));
}

Test(names, long_names_are_cut_when_written) {
    char text[6];
    add("chain", 0, 100);
    cr_assert(mabd_names_write(&names, 42, text, sizeof text));
    cr_assert(eq(str, text, "chain"));
}

Test(names, copies_are_independent) {
    add("arm", 0, 0), add("chain", 1, 10);
    mabd_names copy = {0};
    cr_assert(eq(int, mabd_names_copy(&allocator, &names, &copy), MABD_OK));
    mabd_names_free(&allocator, &names);
    cr_assert(eq(i32, mabd_names_find(&copy, "arm"), 0));
    cr_assert(eq(i32, mabd_names_find(&copy, "chain/9"), 10));
    cr_assert(eq(int, mabd_names_add(&allocator, &copy, "tip", 11, 0), MABD_OK));
    cr_assert(eq(i32, mabd_names_find(&copy, "tip"), 11));
    mabd_names_free(&allocator, &copy);
}

Test(names, every_allocation_failing_in_turn_changes_nothing) {
    bool done = false;
    for (int64_t fail_at = 0; !done; fail_at++) {
        mabd_names copy = {0};
        counter.calls = 0, counter.fail_at = fail_at;
        mabd_status status = add("first", 0, 0);
        for (int32_t i = 1; status == MABD_OK && i < 40; i++) {
            char text[16];
            snprintf(text, sizeof text, "n%d", (int)i);
            int32_t before = names.ranges.count;
            status = add(text, i, 0);
            if (status == MABD_OK) continue;
            cr_assert(eq(i32, names.ranges.count, before));
            cr_assert(eq(i32, mabd_names_find(&names, text), -1));
            cr_assert(eq(i32, mabd_names_find(&names, "first"), 0));
        }
        if (status == MABD_OK) status = mabd_names_copy(&allocator, &names, &copy);
        done = status == MABD_OK;
        if (!done) cr_assert(eq(int, status, MABD_ERR_MEMORY));
        mabd_names_free(&allocator, &copy);
        mabd_names_free(&allocator, &names);
        cr_assert(eq(i64, counter.live_blocks, 0), "call %d", (int)fail_at);
        cr_assert(lt(i64, fail_at, 1000));
    }
    cr_assert(lt(i64, 8, counter.calls));
}
