// SPDX-License-Identifier: Apache-2.0
// Tests for src/contact/contact_set.c
#include "contact/contact_set.h"

#include "support/counting_allocator.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define SPACE 512 // keys (i, j, feature) with i, j, feature < 8

static counting_allocator counter;
static mabd_allocator allocator;
static mabd_contact_set* set;

static void setup(void) {
    counter = (counting_allocator){.fail_at = -1};
    allocator = counting_allocator_make(&counter);
    cr_assert(eq(int, mabd_contact_set_create(&allocator, SPACE, &set), MABD_OK));
}

static void teardown(void) {
    mabd_contact_set_destroy(set);
    cr_assert(eq(i64, counter.live_blocks, 0));
    cr_assert(eq(i64, counter.wrong_frees, 0));
}

TestSuite(contact_set, .init = setup, .fini = teardown);

// The k-th key of all in their order.
static mabd_contact_key key_of(int k) {
    return (mabd_contact_key){.i = k / 64, .j = k / 8 % 8, .feature = k % 8 - 4};
}

Test(contact_set, random_sets_against_a_table) {
    static mabd_contact_key keys[SPACE];
    static int32_t from[SPACE];
    int place[SPACE], last[SPACE];
    uint64_t seed = 1;
    memset(last, -1, sizeof(last));
    const int64_t calls = counter.calls;
    for (int step = 0; step < 200; step++) {
        int32_t count = 0, shared = 0, kept = -1;
        for (int k = 0; k < SPACE; k++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            place[k] = (int)(seed >> 40 & 15) < step % 17 ? count : -1; // none .. all
            if (place[k] >= 0) keys[count++] = key_of(k);
            shared += place[k] >= 0 && last[k] >= 0;
        }
        cr_assert(eq(int, mabd_contact_set_advance(set, count, keys, from, &kept), MABD_OK));
        for (int k = 0; k < SPACE; k++) {
            if (place[k] >= 0) cr_assert(eq(i32, from[place[k]], last[k]));
        }
        cr_assert(eq(i32, kept, shared));
        memcpy(last, place, sizeof(last));
    }
    cr_assert(eq(i64, counter.calls, calls));
}

Test(contact_set, refused_steps_change_nothing) {
    mabd_contact_key keys[3] = {key_of(5), key_of(70), key_of(71)};
    int32_t from[3];
    cr_assert(eq(int, mabd_contact_set_advance(set, 3, keys, from, NULL), MABD_OK));
    const mabd_contact_key twice[2] = {key_of(5), key_of(5)}, falling[2] = {key_of(71), key_of(70)};
    cr_assert(eq(int, mabd_contact_set_advance(set, 2, twice, from, NULL), MABD_ERR_ARG));
    cr_assert(eq(int, mabd_contact_set_advance(set, 2, falling, from, NULL), MABD_ERR_ARG));
    cr_assert(eq(int, mabd_contact_set_advance(set, -1, keys, from, NULL), MABD_ERR_ARG));
    cr_assert(eq(int, mabd_contact_set_advance(set, SPACE + 1, keys, from, NULL), MABD_ERR_MEMORY));
    cr_assert(eq(int, mabd_contact_set_reserve(set, SPACE + 1), MABD_OK));
    cr_assert(eq(int, mabd_contact_set_advance(set, 2, keys + 1, from, NULL), MABD_OK));
    cr_assert(eq(i32, from[0], 1));
    cr_assert(eq(i32, from[1], 2));
    mabd_contact_set_clear(set);
    cr_assert(eq(int, mabd_contact_set_advance(set, 2, keys + 1, from, NULL), MABD_OK));
    cr_assert(eq(i32, from[0], -1));
}

Test(contact_set, every_allocation_failing_in_turn) {
    mabd_contact_set* other;
    const int64_t live = counter.live_blocks;
    int fails = 0;
    for (;; fails++) {
        counter.calls = 0, counter.fail_at = fails;
        mabd_status status = mabd_contact_set_create(&allocator, 4, &other);
        if (status == MABD_OK) {
            const size_t before = mabd_contact_set_bytes(other);
            status = mabd_contact_set_reserve(other, 1000);
            const size_t after = mabd_contact_set_bytes(other);
            cr_assert(status == MABD_OK ? after >= before + 996 * 12 - 64 : after == before);
        }
        mabd_contact_set_destroy(other);
        cr_assert(eq(i64, counter.live_blocks, live));
        if (status == MABD_OK) break;
        cr_assert(eq(int, status, MABD_ERR_MEMORY));
    }
    cr_assert(eq(int, fails, 3));
    counter.fail_at = -1;
    cr_assert(eq(int, mabd_contact_set_create(&allocator, -1, &other), MABD_ERR_ARG));
}
