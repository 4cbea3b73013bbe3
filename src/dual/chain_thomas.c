// SPDX-License-Identifier: Apache-2.0
// Chains on the CPU: chain_kernel.h on plain arrays.

#include "dual/chain_thomas.h"

#include "dual/chain_kernel.h"

static mabd_dual_chain_arrays chain_of(const mabd_dual_system* system) {
    const mabd_dual_chain_arrays chain = {system->slot_count, system->width, system->block,
                                          system->edge_block, system->D,     system->U};
    return chain;
}

mabd_status mabd_dual_chain_factor(const mabd_dual_system* system, int32_t* bad) {
    const mabd_dual_chain_arrays chain = chain_of(system);
    const int32_t failed = mabd_dual_chain_kernel_factor(MABD_BLOCK_MAX, &chain);
    if (failed < 0) return MABD_OK;
    if (bad) *bad = failed;
    return MABD_ERR_SINGULAR;
}

void mabd_dual_chain_solve(const mabd_dual_system* system, mabd_real* x) {
    const mabd_dual_chain_arrays chain = chain_of(system);
    mabd_dual_chain_kernel_solve(MABD_BLOCK_MAX, &chain, x);
}

// ---- mabd_dual_chain ---------------------------------------------------------------------------

static mabd_status chain_create(const mabd_allocator* allocator, const mabd_dual_system* system,
                                void** solver) {
    (void)allocator, (void)system;
    *solver = NULL;
    return MABD_OK;
}

static mabd_status chain_factor(void* solver, const mabd_dual_system* system, int32_t* bad) {
    (void)solver;
    return mabd_dual_chain_factor(system, bad);
}

static void chain_solve(void* solver, const mabd_dual_system* system, mabd_real* x) {
    (void)solver;
    mabd_dual_chain_solve(system, x);
}

static void chain_destroy(const mabd_allocator* allocator, void* solver) {
    (void)allocator, (void)solver;
}

static size_t chain_bytes(const void* solver) {
    (void)solver;
    return 0;
}

static size_t chain_bytes_for(const mabd_allocator* allocator, const mabd_dual_system* system) {
    (void)allocator, (void)system;
    return 0;
}

const mabd_dual_ops mabd_dual_chain = {
    .name = "chain",
    .create = chain_create,
    .factor = chain_factor,
    .solve = chain_solve,
    .destroy = chain_destroy,
    .bytes = chain_bytes,
    .bytes_for = chain_bytes_for,
};
