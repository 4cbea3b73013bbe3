// SPDX-License-Identifier: Apache-2.0
// The blocks of a launch, one after the other. With ThreadSanitizer each block gets its own thread
// of the system: fresh shared memory, and no order between blocks.

#include "cuda/exec/exec.h"
#include "cuda/exec/watch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <pthread.h>

namespace mabd_exec {

const watcher* watching = nullptr;

std::vector<unsigned> order_of(unsigned n) {
    std::vector<unsigned> order(n);
    std::iota(order.begin(), order.end(), 0u);
    const char* how = getenv("MABD_EXEC_ORDER");
    if (how && strcmp(how, "reverse") == 0) std::reverse(order.begin(), order.end());
    if (how && strncmp(how, "random:", 7) == 0) {
        std::mt19937 numbers((unsigned)strtoul(how + 7, nullptr, 10) + n);
        std::shuffle(order.begin(), order.end(), numbers);
    }
    return order;
}

struct carrier {
    const launch* l;
    unsigned block;
};

static void* carry(void* context) {
    const carrier* c = (const carrier*)context;
    run_block(*c->l, c->block);
    return nullptr;
}

static void run_apart(const launch& l, unsigned block) {
    carrier c = {&l, block};
    pthread_t thread;
    if (pthread_create(&thread, nullptr, carry, &c) != 0) {
        fprintf(stderr, "mabd executor: no thread for a block\n");
        abort();
    }
    pthread_join(thread, nullptr);
}

void run_grid(const launch& l) {
    if (watching) watching->begin(l);
    for (unsigned block : order_of(l.blocks)) {
        if (watching) watching->block(block);
        if (has_tsan()) {
            run_apart(l, block);
        } else {
            run_block(l, block);
        }
    }
    end_blocks();
    if (watching) watching->end(l);
}

} // namespace mabd_exec
