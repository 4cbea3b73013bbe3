// SPDX-License-Identifier: Apache-2.0
// See count.h. The executor runs one thread at a time, so nothing here is locked. Never compiled
// with ThreadSanitizer's calls.
//
// A sector stores the number of the last launch, block and step that accessed it: the first access
// in a launch counts.
#include "bench/cuda-model/count.h"

#include "cuda/exec/watch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <vector>

long long model_ops[MODEL_OP_COUNT];

#define X(name, key, instructions) instructions,
static const uint64_t INSTRUCTIONS[] = {MODEL_OP_LIST(X)};
#undef X

uint64_t model_instructions(const uint64_t ops[MODEL_OP_COUNT]) {
    uint64_t sum = 0;
    for (int k = 0; k < MODEL_OP_COUNT; k++) sum += INSTRUCTIONS[k] * ops[k];
    return sum;
}

namespace {

#define WARP 32

struct sector {
    uint32_t read_launch, write_launch, block, step;
};

struct range {
    uintptr_t first, size;
    std::vector<sector> sectors;
};

using op_counts = std::array<uint64_t, MODEL_OP_COUNT>;

std::map<uintptr_t, range> memory;
range* recent; // of `memory`, null = none

std::vector<model_launch> launches;
model_counts totals;
model_launch now;                                  // the current launch
bool counting;                                     // in a launch
uint32_t launch_number, block_number, step_number; // 0 = never

op_counts seen;                   // when the thread that runs started
unsigned running;                 // that thread
std::vector<uint64_t> per_thread; // instructions, of the block that runs

// ---- operations ---------------------------------------------------------------------------------

op_counts ops_now() {
    op_counts ops;
    for (int k = 0; k < MODEL_OP_COUNT; k++) ops[(size_t)k] = (uint64_t)model_ops[k];
    return ops;
}

// Add the operations since the last switch to the thread that ran.
void settle_thread() {
    const op_counts ops = ops_now();
    op_counts done;
    for (size_t k = 0; k < ops.size(); k++) done[k] = ops[k] - seen[k], now.ops[k] += done[k];
    per_thread[running] += model_instructions(done.data());
    seen = ops;
}

void settle_block() {
    settle_thread();
    for (size_t i = 0; i < per_thread.size(); i += WARP) {
        const auto first = per_thread.begin() + (ptrdiff_t)i;
        const auto last = per_thread.begin() + (ptrdiff_t)std::min(i + WARP, per_thread.size());
        now.lanes += WARP * *std::max_element(first, last);
    }
    std::fill(per_thread.begin(), per_thread.end(), 0);
}

// ---- memory -------------------------------------------------------------------------------------

range* find(uintptr_t at) {
    if (recent && at - recent->first < recent->size) return recent;
    auto after = memory.upper_bound(at);
    if (after == memory.begin()) return nullptr;
    range* r = &std::prev(after)->second;
    if (at - r->first >= r->size) return nullptr;
    return recent = r;
}

void touch(sector* s, bool write) {
    uint32_t* launch = write ? &s->write_launch : &s->read_launch;
    uint64_t* count = write ? &now.sectors_written : &now.sectors_read;
    if (*launch != launch_number) *launch = launch_number, ++*count;
    if (s->block != block_number) s->block = block_number, now.block_sectors++;
    if (s->step != step_number) s->step = step_number, totals.touched++;
}

void access(const void* pointer, size_t size, bool write) {
    if (!counting || size == 0) return;
    const uintptr_t at = (uintptr_t)pointer;
    range* r = find(at);
    if (!r) return; // registers and shared memory of a device
    (write ? now.written : now.read) += size;
    const uintptr_t from = (at - r->first) / MODEL_SECTOR,
                    to = (at - r->first + size - 1) / MODEL_SECTOR;
    for (uintptr_t i = from; i <= to; i++) touch(&r->sectors[i], write);
}

// ---- callbacks of the executor ------------------------------------------------------------------

void begin(const mabd_exec::launch& l) {
    memset(&now, 0, sizeof now);
    now.type = l.type, now.blocks = l.blocks, now.threads = l.threads;
    per_thread.assign(l.threads, 0);
    running = 0, seen = ops_now();
    launch_number++;
    counting = true;
}

void block(unsigned) {
    settle_block();
    block_number++;
}

void thread(unsigned index) {
    settle_thread();
    running = index;
}

void end(const mabd_exec::launch&) {
    settle_block();
    counting = false;
    launches.push_back(now);
}

// A call of a library is one launch that has all multiprocessors and fuses what it can.
void library(const char* name, uint64_t fused, uint64_t read, uint64_t written) {
    model_launch l;
    memset(&l, 0, sizeof l);
    l.type = name, l.blocks = UINT32_MAX, l.threads = 0;
    l.ops[MODEL_ADD] = l.ops[MODEL_MULTIPLY] = l.lanes = fused;
    l.read = read, l.written = written;
    l.sectors_read = (read + MODEL_SECTOR - 1) / MODEL_SECTOR;
    l.sectors_written = (written + MODEL_SECTOR - 1) / MODEL_SECTOR;
    l.block_sectors = l.sectors_read + l.sectors_written;
    launches.push_back(l);
}

void copy(size_t size, bool to_host) {
    totals.copies++;
    (to_host ? totals.copied_down : totals.copied_up) += size;
}

void wait() {
    totals.waits++;
}

void change_memory(const void* pointer, size_t size) {
    const uintptr_t at = (uintptr_t)pointer;
    recent = nullptr;
    memory.erase(at);
    if (size == 0) return;
    memory[at] = range{at, size, std::vector<sector>((size + MODEL_SECTOR - 1) / MODEL_SECTOR)};
}

const mabd_exec::watcher WATCHER = {begin, block, thread, end, library, copy, wait, change_memory};

} // namespace

void model_count_install() {
    mabd_exec::watching = &WATCHER;
}

void model_count_start() {
    launches.clear();
    memset(&totals, 0, sizeof totals);
    step_number++;
}

model_counts model_count_read() {
    totals.launch_count = launches.size();
    totals.launches = launches.data();
    return totals;
}

// ---- calls of -fsanitize=thread -----------------------------------------------------------------

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define CALLS(size)                                                                                \
    void __tsan_read##size(void* at) {                                                             \
        access(at, size, false);                                                                   \
    }                                                                                              \
    void __tsan_write##size(void* at) {                                                            \
        access(at, size, true);                                                                    \
    }
#define UNALIGNED_CALLS(size)                                                                      \
    void __tsan_unaligned_read##size(void* at) {                                                   \
        access(at, size, false);                                                                   \
    }                                                                                              \
    void __tsan_unaligned_write##size(void* at) {                                                  \
        access(at, size, true);                                                                    \
    }
CALLS(1)
CALLS(2)
CALLS(4)
CALLS(8)
CALLS(16)
UNALIGNED_CALLS(2)
UNALIGNED_CALLS(4)
UNALIGNED_CALLS(8)
UNALIGNED_CALLS(16)

void __tsan_read_range(void* at, size_t size) {
    access(at, size, false);
}
void __tsan_write_range(void* at, size_t size) {
    access(at, size, true);
}

// Counts of shared pointers, on the host.
int __tsan_atomic32_fetch_add(volatile int* at, int value, int) {
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}

} // extern "C"
