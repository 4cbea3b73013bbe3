// SPDX-License-Identifier: Apache-2.0
// Chains on a device give the bits of those on the CPU: the same text, the same order.
#include "chains.h"
#include "dual/chain_thomas.h"
#include "math/tiled.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 70 // chains: two tiles and a part of one
#define SLOTS 9

// One pattern of widths, and values for COUNT chains: one after the other, and tiled.
typedef struct chain_case {
    int32_t width[SLOTS], row[SLOTS];
    size_t block[SLOTS], edge_block[SLOTS];
    size_t D_reals, U_reals, x_reals;
    mabd_real *D, *U, *x; // (COUNT x reals)
} chain_case;

static mabd_real* reals(size_t count) {
    mabd_real* memory = calloc(count, sizeof *memory);
    cr_assert(memory != NULL);
    return memory;
}

// Widths are drawn; `most`: all of them, or the widest of mixed ones.
static chain_case make(uint64_t seed, int32_t most, bool mixed) {
    chain_case c = {0};
    uint64_t state = seed;
    int32_t rows = 0;
    for (int32_t i = 0; i < SLOTS; i++) {
        c.width[i] = mixed && i > 0 ? 1 + (int32_t)((draw_real(&state) + 1) / 2 * most) : most;
        if (c.width[i] > most) c.width[i] = most;
        c.row[i] = rows, c.block[i] = c.D_reals, c.edge_block[i] = c.U_reals;
        rows += c.width[i];
        c.D_reals += (size_t)(c.width[i] * c.width[i]);
        if (i > 0) {
            c.edge_block[i - 1] = c.U_reals;
            c.U_reals += (size_t)(c.width[i - 1] * c.width[i]);
        }
    }
    c.x_reals = (size_t)rows;
    c.D = reals(COUNT * c.D_reals), c.U = reals(COUNT * c.U_reals), c.x = reals(COUNT * c.x_reals);
    for (size_t k = 0; k < COUNT * c.U_reals; k++) c.U[k] = draw_real(&state) / 2;
    for (size_t k = 0; k < COUNT * c.x_reals; k++) c.x[k] = draw_real(&state) / 2;
    for (int32_t n = 0; n < COUNT; n++) {
        for (int32_t i = 0; i < SLOTS; i++) {
            const int32_t w = c.width[i];
            mabd_real* D = c.D + (size_t)n * c.D_reals + c.block[i];
            for (int32_t r = 0; r < w; r++) {
                for (int32_t k = 0; k < r; k++) D[r * w + k] = D[k * w + r] = draw_real(&state) / 2;
                D[r * w + r] = 12 + draw_real(&state); // dominant: positive definite
            }
        }
    }
    return c;
}

static void destroy(chain_case* c) {
    free(c->D), free(c->U), free(c->x);
}

static void check(cudaError_t error) {
    cr_assert(eq(int, error, cudaSuccess), "%s", cudaGetErrorString(error));
}

static void* upload(const void* from, size_t bytes) {
    void* to = NULL;
    check(cudaMalloc(&to, bytes));
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, NULL));
    check(cudaStreamSynchronize(NULL));
    return to;
}

static size_t tiles(size_t count) {
    return (COUNT + MABD_TILE - 1) / MABD_TILE * MABD_TILE * count;
}

// By the formula of math/tiled.h.
static size_t place(size_t count, int32_t chain, size_t k) {
    return ((size_t)(chain / MABD_TILE) * count + k) * MABD_TILE + (size_t)(chain % MABD_TILE);
}

static mabd_real* upload_tiled(const mabd_real* from, size_t count) {
    mabd_real* turned = reals(tiles(count));
    for (int32_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < count; k++) {
            turned[place(count, i, k)] = from[(size_t)i * count + k];
        }
    }
    mabd_real* to = upload(turned, tiles(count) * sizeof *turned);
    free(turned);
    return to;
}

typedef struct device_case {
    mabd_cuda_chains chains;
    void* parts[7];
} device_case;

static device_case to_device(const chain_case* c, int32_t most) {
    int32_t bad[COUNT];
    device_case d = {.chains = {.count = COUNT,
                                .slot_count = SLOTS,
                                .most = most,
                                .D_reals = c->D_reals,
                                .U_reals = c->U_reals,
                                .x_reals = c->x_reals}};
    memset(bad, 0, sizeof bad);
    d.chains.width = d.parts[0] = upload(c->width, sizeof c->width);
    d.chains.block = d.parts[1] = upload(c->block, sizeof c->block);
    d.chains.edge_block = d.parts[2] = upload(c->edge_block, sizeof c->edge_block);
    d.chains.D = d.parts[3] = upload_tiled(c->D, c->D_reals);
    d.chains.U = d.parts[4] = upload_tiled(c->U, c->U_reals);
    d.chains.x = d.parts[5] = upload_tiled(c->x, c->x_reals);
    d.chains.bad = d.parts[6] = upload(bad, sizeof bad);
    return d;
}

static void release(device_case* d) {
    for (int i = 0; i < 7; i++) check(cudaFree(d->parts[i]));
}

static void solve_on_device(const device_case* d, int32_t* bad, mabd_real* x) {
    check(MABD_CUDA(chains_factor)(&d->chains, 32, NULL));
    check(MABD_CUDA(chains_solve)(&d->chains, 32, NULL));
    check(cudaMemcpyAsync(bad, d->chains.bad, COUNT * sizeof *bad, cudaMemcpyDeviceToHost, NULL));
    check(cudaMemcpyAsync(x, d->chains.x, tiles(d->chains.x_reals) * sizeof *x,
                          cudaMemcpyDeviceToHost, NULL));
    check(cudaStreamSynchronize(NULL));
}

static mabd_dual_system system_of(chain_case* c, int32_t chain) {
    const mabd_dual_system system = {.slot_count = SLOTS,
                                     .edge_count = SLOTS - 1,
                                     .row_count = (int32_t)c->x_reals,
                                     .width = c->width,
                                     .row = c->row,
                                     .block = c->block,
                                     .edge_block = c->edge_block,
                                     .D = c->D + (size_t)chain * c->D_reals,
                                     .U = c->U + (size_t)chain * c->U_reals};
    return system;
}

static void expect_same_bits(int32_t most, bool mixed, const char* order) {
    chain_case c = make(7 + (uint64_t)most, most, mixed);
    setenv("MABD_EXEC_ORDER", order, 1);
    device_case d = to_device(&c, most);
    int32_t bad[COUNT];
    mabd_real* x = reals(tiles(c.x_reals));
    solve_on_device(&d, bad, x);
    for (int32_t i = 0; i < COUNT; i++) {
        const mabd_dual_system system = system_of(&c, i);
        mabd_real* expected = c.x + (size_t)i * c.x_reals;
        cr_assert(eq(int, mabd_chain_factor(&system, NULL), MABD_OK));
        mabd_chain_solve(&system, expected);
        cr_assert(eq(i32, bad[i], -1));
        for (size_t k = 0; k < c.x_reals; k++) {
            cr_assert(eq(dbl, x[place(c.x_reals, i, k)], expected[k]), "width %d, chain %d", most,
                      i);
        }
    }
    free(x);
    release(&d);
    destroy(&c);
}

Test(cuda_chains, have_the_bits_of_the_cpu) {
    for (int32_t most = 1; most <= 6; most++) expect_same_bits(most, false, "forward");
}

Test(cuda_chains, of_mixed_widths_in_any_order_of_threads) {
    for (int32_t most = 2; most <= 6; most++) {
        expect_same_bits(most, true, "reverse");
        expect_same_bits(most, true, "random:3");
    }
}

Test(cuda_chains, tell_the_slot_whose_pivot_fails) {
    chain_case c = make(3, 4, true);
    c.D[5 * c.D_reals + c.block[6]] = -1;
    device_case d = to_device(&c, 4);
    int32_t bad[COUNT];
    mabd_real* x = reals(tiles(c.x_reals));
    solve_on_device(&d, bad, x);
    for (int32_t i = 0; i < COUNT; i++) cr_expect(eq(i32, bad[i], i == 5 ? 6 : -1));
    free(x);
    release(&d);
    destroy(&c);
}
