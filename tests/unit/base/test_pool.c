// SPDX-License-Identifier: Apache-2.0
// Tests of the thread pool: every part is done once by a thread of the pool, for any number of
// parts.
#include "base/pool.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct tally {
    int32_t count, threads;
    _Atomic uint8_t* done;  // (count) times that a part was done
    _Atomic int32_t beyond; // parts that are none, and threads
} tally;

static void tick(void* context, int32_t part, int32_t thread) {
    tally* t = context;
    if (part < 0 || part >= t->count || thread < 0 || thread >= t->threads) {
        atomic_fetch_add(&t->beyond, 1);
        return;
    }
    atomic_fetch_add_explicit(&t->done[part], 1, memory_order_relaxed);
}

static mabd_pool* start(int32_t threads) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_pool* pool = NULL;
    cr_assert(eq(int, mabd_pool_create(&allocator, threads, &pool), MABD_OK));
    cr_assert(eq(i32, mabd_pool_threads(pool), threads));
    return pool;
}

static void expect_once(mabd_pool* pool, int32_t count) {
    tally t = {.count = count, .threads = mabd_pool_threads(pool)};
    t.done = calloc((size_t)count + 1, sizeof *t.done);
    mabd_pool_run(pool, count, tick, &t);
    int32_t wrong = 0;
    for (int32_t i = 0; i < count; i++) wrong += t.done[i] != 1;
    cr_expect(eq(i32, wrong, 0), "%d parts, %d threads", count, t.threads);
    cr_expect(eq(i32, t.beyond, 0), "%d parts, %d threads", count, t.threads);
    free((void*)t.done);
}

static void rest(long microseconds) {
    const struct timespec time = {0, 1000 * microseconds};
    nanosleep(&time, NULL);
}

Test(pool, does_every_part_once) {
    const int32_t counts[] = {0, 1, 2, 3, 7, 64, 1000, 12345};
    for (int32_t threads = 1; threads <= 5; threads++) {
        mabd_pool* pool = start(threads);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) expect_once(pool, counts[i]);
        mabd_pool_destroy(pool);
    }
}

// A ticket counts to 2^20 - 1.
Test(pool, does_more_parts_than_one_ticket_holds) {
    const int32_t counts[] = {(1 << 20) - 2, (1 << 20) - 1, 1 << 20, (1 << 21) + 5};
    mabd_pool* pool = start(3);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) expect_once(pool, counts[i]);
    mabd_pool_destroy(pool);
}

static void add_one(void* context, int32_t part, int32_t thread) {
    int64_t* sums = context;
    (void)thread;
    sums[part]++; // by one thread after the other
}

// What one job has written the next one sees, without a lock of its own.
Test(pool, jobs_follow_each_other) {
    for (int32_t threads = 2; threads <= 4; threads++) {
        mabd_pool* pool = start(threads);
        int64_t sums[16] = {0};
        for (int i = 0; i < 20000; i++) mabd_pool_run(pool, 1 + i % 16, add_one, sums);
        for (int k = 0; k < 16; k++) cr_expect(eq(i64, sums[k], 20000 - 1250 * k));
        mabd_pool_destroy(pool);
    }
}

// Jobs after pauses of all lengths: workers look for work, are about to sleep, or sleep.
Test(pool, wakes_those_that_sleep) {
    mabd_pool* pool = start(4);
    for (int i = 0; i < 300; i++) {
        rest(i % 100 * 5);
        expect_once(pool, 1 + i % 9);
    }
    mabd_pool_destroy(pool);
}

Test(pool, ends_while_its_threads_sleep_work_or_start) {
    for (int i = 0; i < 50; i++) {
        mabd_pool* pool = start(4);
        if (i % 5 > 1) expect_once(pool, 40);
        if (i % 5 > 2) rest(2000);
        mabd_pool_destroy(pool);
    }
    mabd_pool_destroy(NULL);
}

static void run_inner(void* context, int32_t part, int32_t thread) {
    mabd_pool** inner = context;
    (void)thread;
    expect_once(inner[part], 100 + part);
}

// Simulations of their own in the parts of a job: each has its own pool.
Test(pool, pools_do_not_know_of_each_other) {
    mabd_pool *outer = start(3), *inner[4];
    for (int k = 0; k < 4; k++) inner[k] = start(2 + k % 2);
    for (int i = 0; i < 50; i++) mabd_pool_run(outer, 4, run_inner, inner);
    for (int k = 0; k < 4; k++) mabd_pool_destroy(inner[k]);
    mabd_pool_destroy(outer);
}

Test(pool, of_one_thread_is_nothing) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_pool* pool = NULL;
    cr_expect(eq(int, mabd_pool_create(&allocator, 1, &pool), MABD_OK));
    cr_expect(pool == NULL);
    cr_expect(eq(i32, mabd_pool_threads(NULL), 1));
    expect_once(NULL, 1000);
    cr_expect(eq(int, mabd_pool_create(&allocator, 0, &pool), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_pool_create(&allocator, -3, &pool), MABD_ERR_ARG));
}
