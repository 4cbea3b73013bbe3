// SPDX-License-Identifier: Apache-2.0
// The threads of one block, on stacks that are switched at barriers.
//
// Threads are started in order on one stack until one waits at a barrier; it keeps this stack, and
// the rest continues on another. When all threads that have not ended wait, they continue in order.
// This file is never compiled with ThreadSanitizer: its fiber interface is used instead, with one
// fiber for each thread, ordered by barriers only.

#include "cuda/exec/exec.h"
#include "cuda/exec/watch.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#define WEAK __attribute__((weak))
extern "C" {
void* __tsan_get_current_fiber(void) WEAK;
void* __tsan_create_fiber(unsigned flags) WEAK;
void __tsan_destroy_fiber(void* fiber) WEAK;
void __tsan_switch_to_fiber(void* fiber, unsigned flags) WEAK;
void __tsan_set_fiber_name(void* fiber, const char* name) WEAK;
void __tsan_acquire(void* edge) WEAK;
void __tsan_release(void* edge) WEAK;
void __asan_init(void) WEAK;
void __sanitizer_start_switch_fiber(void** save, const void* stack, size_t size) WEAK;
void __sanitizer_finish_switch_fiber(void* saved, const void** stack, size_t* size) WEAK;
}

__thread mabd_exec_index threadIdx, blockIdx, blockDim, gridDim;

namespace mabd_exec {

bool has_tsan() {
    return __tsan_create_fiber != nullptr;
}
bool has_asan() {
    return __asan_init != nullptr && __sanitizer_start_switch_fiber != nullptr;
}

// ---- stacks -------------------------------------------------------------------------------------

#define STACK_SIZE ((size_t)256 * 1024) // pages that are never written cost nothing
#define GUARD_SIZE ((size_t)4096)

struct context {
#if defined(__x86_64__)
    void* top = nullptr;
#else
    ucontext_t machine;
#endif
    char* stack = nullptr; // null = the stack of a thread of the system
    const void* bottom = nullptr;
    size_t size = 0;
    void* fiber = nullptr; // of ThreadSanitizer
    void* fake = nullptr;  // of AddressSanitizer
};

#if defined(__x86_64__)
extern "C" void mabd_exec_switch(void** save, void* to);
asm(".text\n"
    ".globl mabd_exec_switch\n"
    ".type mabd_exec_switch,@function\n"
    "mabd_exec_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp,(%rdi)\n"
    "movq %rsi,%rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\n"
    "ret\n"
    ".size mabd_exec_switch,.-mabd_exec_switch\n");
#endif

static void switch_to(context* from, context* to) {
    if (has_tsan()) __tsan_switch_to_fiber(to->fiber, 1); // 1: no happens-before edge
    if (has_asan()) __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->size);
#if defined(__x86_64__)
    mabd_exec_switch(&from->top, to->top);
#else
    swapcontext(&from->machine, &to->machine);
#endif
    if (has_asan()) __sanitizer_finish_switch_fiber(from->fake, nullptr, nullptr);
}

static context* new_stack(void (*start)()) {
    context* c = new context;
    c->stack = (char*)mmap(nullptr, GUARD_SIZE + STACK_SIZE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c->stack == MAP_FAILED) {
        perror("mabd executor: no memory for a stack");
        abort();
    }
    mprotect(c->stack, GUARD_SIZE, PROT_NONE); // an overflow faults
    c->bottom = c->stack + GUARD_SIZE, c->size = STACK_SIZE;
    if (has_tsan()) c->fiber = __tsan_create_fiber(0);
#if defined(__x86_64__)
    void** top = (void**)(c->stack + GUARD_SIZE + STACK_SIZE - 64);
    *top = (void*)start;
    c->top = top - 6; // registers that mabd_exec_switch pops first
#else
    getcontext(&c->machine);
    c->machine.uc_stack.ss_sp = c->stack + GUARD_SIZE;
    c->machine.uc_stack.ss_size = STACK_SIZE;
    c->machine.uc_link = nullptr;
    makecontext(&c->machine, start, 0);
#endif
    return c;
}

// ---- blocks -------------------------------------------------------------------------------------

struct thread_state {
    context* at;      // where it waits, null = it does not wait
    const char* file; // of the barrier
    int line;
};

struct block {
    const launch* l = nullptr;
    unsigned next = 0;    // place in `order` of the next one to start
    unsigned limit = 0;   // end of the threads that start on the current stack
    unsigned alive = 0;   // not ended
    unsigned current = 0; // thread that runs
    unsigned phase = 0;   // barriers passed
    char edge[2] =
        {}; // sync objects of barriers for ThreadSanitizer; threads are one barrier apart at most
    std::vector<unsigned> order;
    std::vector<thread_state> threads;
    context scheduler;
    context* running = nullptr;
    std::vector<context*> all, idle;

    ~block();
};

static __thread block* now;

// Fibers and stacks are freed after the grid: a reused fiber number hides races with its previous
// owner, and freeing a stack orders blocks.
static std::mutex kept_mutex;
static std::vector<context*> kept;
static char end_edge;

static void free_stack(context* c) {
    if (c->fiber) __tsan_destroy_fiber(c->fiber);
    munmap(c->stack, GUARD_SIZE + STACK_SIZE);
    delete c;
}

static void drop_stacks(block* b) {
    if (has_tsan()) {
        std::lock_guard<std::mutex> guard(kept_mutex);
        kept.insert(kept.end(), b->all.begin(), b->all.end());
    } else {
        for (context* c : b->all) free_stack(c);
    }
    b->all.clear(), b->idle.clear();
}

block::~block() {
    drop_stacks(this);
}

void end_blocks() {
    if (!has_tsan()) return;
    __tsan_acquire(&end_edge);
    for (context* c : kept) free_stack(c);
    kept.clear();
}

bool next_thread() {
    block* b = now;
    if (b->next >= b->limit) return false;
    b->current = b->order[b->next++];
    threadIdx.x = b->current;
    if (watching) watching->thread(b->current);
    return true;
}

void end_thread() {
    now->alive--;
    if (has_tsan()) __tsan_release(&end_edge);
}

void barrier(const char* file, int line) {
    block* b = now;
    char* edge = &b->edge[b->phase & 1];
    thread_state* t = &b->threads[b->current];
    t->at = b->running, t->file = file, t->line = line;
    if (has_tsan()) __tsan_release(edge);
    switch_to(b->running, &b->scheduler);
    if (has_tsan()) __tsan_acquire(edge);
}

// Entry of a stack: runs thread after thread, block after block.
static void work() {
    block* b = now;
    context* me = b->running;
    if (has_asan()) {
        __sanitizer_finish_switch_fiber(nullptr, &b->scheduler.bottom, &b->scheduler.size);
    }
    for (;;) {
        b->l->body(b->l->arguments.get());
        if (!has_tsan()) b->idle.push_back(me);
        switch_to(me, &b->scheduler);
    }
}

static void name_fiber(const block* b, const context* c) {
    char name[64];
    if (!has_tsan() || !__tsan_set_fiber_name) return;
    snprintf(name, sizeof name, "block %u thread %u", blockIdx.x, b->order[b->next]);
    __tsan_set_fiber_name(c->fiber, name);
}

static void start_threads(block* b, unsigned count) {
    if (b->idle.empty()) {
        b->all.push_back(new_stack(work));
        b->idle.push_back(b->all.back());
    }
    b->running = b->idle.back();
    b->idle.pop_back();
    name_fiber(b, b->running);
    b->limit = has_tsan() ? b->next + 1 : count;
    switch_to(&b->scheduler, b->running);
}

// True if all threads that wait do so at one barrier.
static bool is_one_barrier(const block* b) {
    const thread_state* first = nullptr;
    for (const thread_state& t : b->threads) {
        if (!t.at) continue;
        if (!first) first = &t;
        if (t.line == first->line && strcmp(t.file, first->file) == 0) continue;
        fprintf(stderr,
                "mabd executor: kernel %s of %s:%d, block %u: thread %u waits at %s:%d and thread "
                "%u at %s:%d\n",
                b->l->name, b->l->file, b->l->line, blockIdx.x,
                (unsigned)(first - b->threads.data()), first->file, first->line,
                (unsigned)(&t - b->threads.data()), t.file, t.line);
        return false;
    }
    return true;
}

static void pass_barrier(block* b) {
    b->phase++;
    for (unsigned i : b->order) {
        thread_state* t = &b->threads[i];
        if (!t->at) continue;
        b->running = t->at, b->current = i;
        t->at = nullptr;
        threadIdx.x = i;
        if (watching) watching->thread(i);
        switch_to(&b->scheduler, b->running);
    }
}

static void open_block(block* b, const launch& l, unsigned index) {
    if (b->order.size() != l.threads) b->order = order_of(l.threads);
    b->threads.assign(l.threads, thread_state{nullptr, nullptr, 0});
    b->l = &l, b->next = 0, b->alive = l.threads;
    blockIdx.x = index, blockDim.x = l.threads, gridDim.x = l.blocks;
    if (has_tsan()) b->scheduler.fiber = __tsan_get_current_fiber();
    now = b;
}

static void run(block* b, const launch& l, unsigned index) {
    open_block(b, l, index);
    while (b->next < l.threads) start_threads(b, l.threads);
    while (b->alive > 0) {
        if (!is_one_barrier(b)) {
            set_error(cudaErrorLaunchFailure);
            drop_stacks(b); // threads that wait never end
            break;
        }
        pass_barrier(b);
    }
}

void run_block(const launch& l, unsigned index) {
    static thread_local std::unique_ptr<block> own; // its stacks are reused by the next block
    if (!own || has_tsan()) own = std::make_unique<block>();
    run(own.get(), l, index);
    if (has_tsan()) drop_stacks(own.get());
}

} // namespace mabd_exec
