// SPDX-License-Identifier: Apache-2.0
// One word, the ticket, holds the number of the job, the number of its parts and the next part to
// take, so a late worker cannot take a part of a job that it has not seen. The job is written
// before the ticket (release) and read after a part was taken (acquire). It changes only when all
// taken parts are done.
//
//   ticket   job (24 bits) | parts (20) | next (20)

#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>

// Reads of the ticket before a worker sleeps: about 50 microseconds.
#define POLLS_BEFORE_SLEEP 2000

typedef struct worker {
    mabd_pool* pool;
    int32_t thread;
    pthread_t handle;
} worker;

struct mabd_pool {
    mabd_allocator allocator;
    int32_t threads, started; // workers started
    mabd_pool_part part;
    void* context;
    _Atomic uint64_t ticket;
    _Atomic int32_t done;   // parts done
    _Atomic int32_t asleep; // workers that wait for `wake`
    _Atomic bool stop;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    worker workers[]; // (threads - 1)
};

static size_t pool_bytes(int32_t threads) {
    return mabd_bytes(sizeof(mabd_pool) + (size_t)(threads - 1) * sizeof(worker), 1);
}

static void relax(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
    __asm__ volatile("yield");
#endif
}

#define PART_BITS  20
#define MOST_PARTS ((int32_t)1 << PART_BITS)

static uint32_t job_of(uint64_t ticket) {
    return (uint32_t)(ticket >> 2 * PART_BITS);
}
static int32_t parts_of(uint64_t ticket) {
    return (int32_t)(ticket >> PART_BITS) & (MOST_PARTS - 1);
}
static int32_t next_of(uint64_t ticket) {
    return (int32_t)ticket & (MOST_PARTS - 1);
}

// Do parts of one job until none is left.
static void work(mabd_pool* pool, uint64_t ticket, int32_t thread) {
    const uint32_t job = job_of(ticket);
    while (job_of(ticket) == job && next_of(ticket) < parts_of(ticket)) {
        if (!atomic_compare_exchange_weak_explicit(&pool->ticket, &ticket, ticket + 1,
                                                   memory_order_acquire, memory_order_acquire)) {
            continue;
        }
        pool->part(pool->context, next_of(ticket), thread);
        atomic_fetch_add_explicit(&pool->done, 1, memory_order_release);
        ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
    }
}

// Wait for the ticket of a job after `last`.
static uint64_t wait_for_job(mabd_pool* pool, uint32_t last) {
    for (int i = 0; i < POLLS_BEFORE_SLEEP; i++) {
        const uint64_t ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
        if (job_of(ticket) != last || atomic_load(&pool->stop)) return ticket;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->asleep, 1);
    uint64_t ticket = atomic_load(&pool->ticket);
    while (job_of(ticket) == last && !atomic_load(&pool->stop)) {
        pthread_cond_wait(&pool->wake, &pool->lock);
        ticket = atomic_load(&pool->ticket);
    }
    atomic_fetch_sub(&pool->asleep, 1);
    pthread_mutex_unlock(&pool->lock);
    return ticket;
}

static void* run_worker(void* argument) {
    worker* self = argument;
    mabd_pool* pool = self->pool;
    uint32_t last = 0;
    for (;;) {
        const uint64_t ticket = wait_for_job(pool, last);
        if (atomic_load(&pool->stop)) return NULL;
        last = job_of(ticket);
        work(pool, ticket, self->thread);
    }
}

static void wake_all(mabd_pool* pool) {
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

void mabd_pool_destroy(mabd_pool* pool) {
    if (!pool) return;
    atomic_store(&pool->stop, true);
    wake_all(pool);
    for (int32_t i = 0; i < pool->started; i++) pthread_join(pool->workers[i].handle, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    const mabd_allocator allocator = pool->allocator;
    mabd_free(&allocator, pool, pool_bytes(pool->threads));
}

mabd_status mabd_pool_create(const mabd_allocator* allocator, int32_t threads, mabd_pool** out) {
    *out = NULL;
    if (threads < 2) return threads == 1 ? MABD_OK : MABD_ERR_ARG;
    mabd_pool* pool = mabd_alloc(allocator, pool_bytes(threads));
    if (!pool) return MABD_ERR_MEMORY;
    pool->allocator = *allocator;
    pool->threads = threads;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    for (int32_t i = 0; i + 1 < threads; i++, pool->started++) {
        worker* w = &pool->workers[i];
        w->pool = pool, w->thread = i + 1;
        if (pthread_create(&w->handle, NULL, run_worker, w) == 0) continue;
        mabd_pool_destroy(pool);
        return MABD_ERR_MEMORY;
    }
    *out = pool;
    return MABD_OK;
}

int32_t mabd_pool_threads(const mabd_pool* pool) {
    return pool ? pool->threads : 1;
}

// At most MOST_PARTS - 1 parts.
static void run_job(mabd_pool* pool, int32_t count, mabd_pool_part part, void* context) {
    pool->part = part, pool->context = context;
    atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
    const uint64_t job = (uint64_t)job_of(atomic_load(&pool->ticket)) + 1;
    const uint64_t ticket = job << 2 * PART_BITS | (uint64_t)count << PART_BITS;
    atomic_store(&pool->ticket, ticket);
    if (atomic_load(&pool->asleep) > 0) wake_all(pool);
    work(pool, ticket, 0);
    while (atomic_load_explicit(&pool->done, memory_order_acquire) < count) relax();
}

typedef struct later_parts {
    mabd_pool_part part;
    void* context;
    int32_t first;
} later_parts;

static void do_later(void* context, int32_t part, int32_t thread) {
    const later_parts* later = context;
    later->part(later->context, later->first + part, thread);
}

void mabd_pool_run(mabd_pool* pool, int32_t count, mabd_pool_part part, void* context) {
    if (!pool || count < 2) {
        for (int32_t i = 0; i < count; i++) part(context, i, 0);
        return;
    }
    later_parts later = {part, context, 0};
    for (; later.first < count; later.first += MOST_PARTS - 1) {
        const int32_t rest = count - later.first;
        run_job(pool, rest < MOST_PARTS ? rest : MOST_PARTS - 1, do_later, &later);
    }
}
