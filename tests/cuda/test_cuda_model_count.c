// SPDX-License-Identifier: Apache-2.0
// Counters of bytes and operations against counts by hand. Nothing here is measured: every number
// follows from the source of a kernel.
#include "bench/cuda-model/count.h"
#include "exec_kernels.h"
#include "model_kernels.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1000

static void* taken[4];
static int taken_count;

static void free_all(void) {
    while (taken_count > 0) cudaFree(taken[--taken_count]);
}

TestSuite(model_count, .init = model_count_install, .fini = free_all);

static void* device(size_t size) {
    void* at = NULL;
    cr_assert(eq(int, cudaMalloc(&at, size), cudaSuccess));
    return taken[taken_count++] = at;
}

static void upload(const void* from, size_t size, void* to) {
    cr_assert(eq(int, cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, NULL), cudaSuccess));
}

// The only launch since model_count_start.
static model_launch only_launch(void) {
    const model_counts counts = model_count_read();
    cr_assert(eq(sz, counts.launch_count, 1));
    return counts.launches[0];
}

static void expect_ops(const model_launch* l, uint64_t adds, uint64_t multiplies,
                       uint64_t comparisons, uint64_t divisions) {
    cr_expect(eq(u64, l->ops[MODEL_ADD], adds));
    cr_expect(eq(u64, l->ops[MODEL_MULTIPLY], multiplies));
    cr_expect(eq(u64, l->ops[MODEL_COMPARE], comparisons));
    cr_expect(eq(u64, l->ops[MODEL_DIVIDE], divisions));
    cr_expect(eq(u64, l->ops[MODEL_ROOT], 0));
    cr_expect(eq(u64, l->ops[MODEL_CALL], 0));
}

static void expect_bytes(const model_launch* l, uint64_t read, uint64_t written) {
    cr_expect(eq(u64, l->read, read));
    cr_expect(eq(u64, l->written, written));
}

static void expect_sectors(const model_launch* l, uint64_t read, uint64_t written,
                           uint64_t of_blocks) {
    cr_expect(eq(u64, l->sectors_read, read));
    cr_expect(eq(u64, l->sectors_written, written));
    cr_expect(eq(u64, l->block_sectors, of_blocks));
}

// y += a x: a sum and a product, 16 bytes in and 8 out. 1000 reals are 250 sectors, 1000 threads 32
// blocks of 8 sectors each of x and y (the last 2); 31 warps of two instructions in 32 lanes, and
// one with 8 threads at work.
Test(model_count, of_axpy) {
    double ones[COUNT], y[COUNT];
    double *dx = device(sizeof ones), *dy = device(sizeof ones);
    for (int i = 0; i < COUNT; i++) ones[i] = 1;
    upload(ones, sizeof ones, dx), upload(ones, sizeof ones, dy);
    model_count_start();
    exec_axpy(COUNT, 2, dx, dy, NULL);
    const model_launch l = only_launch();
    expect_ops(&l, COUNT, COUNT, 0, 0);
    expect_bytes(&l, 16 * COUNT, 8 * COUNT);
    expect_sectors(&l, 500, 250, 500);
    cr_expect(eq(u64, l.lanes, 32 * 32 * 2));
    cr_expect(eq(u64, model_count_read().touched, 500));
    cudaMemcpyAsync(y, dy, sizeof y, cudaMemcpyDeviceToHost, NULL);
    for (int i = 0; i < COUNT; i++) cr_expect(eq(dbl, y[i], 3));
}

// Block sums of 64 with barriers: 63 sums a block, those in shared memory are no bytes of the
// device. 1000 reals in 16 blocks, 128 bytes out in 4 sectors; each block writes one. The first
// warp of a block does 6 sums in its busiest thread, the second one: 1.
Test(model_count, of_block_sums) {
    double ones[COUNT];
    double *dx = device(sizeof ones), *dy = device(16 * sizeof(double));
    for (int i = 0; i < COUNT; i++) ones[i] = 1;
    upload(ones, sizeof ones, dx);
    const char* const orders[] = {"forward", "reverse", "random:7"};
    for (int k = 0; k < 3; k++) {
        setenv("MABD_EXEC_ORDER", orders[k], 1);
        model_count_start();
        exec_sum(COUNT, dx, dy, NULL);
        const model_launch l = only_launch();
        expect_ops(&l, 16 * 63, 0, 0, 0);
        expect_bytes(&l, 8 * COUNT, 16 * 8);
        expect_sectors(&l, 250, 4, 250 + 16);
        // thread 0 adds 32, 16, ... 1 apart: 6 times; threads 32 .. 63 never
        cr_expect(eq(u64, l.lanes, 16 * 32 * 6));
    }
}

// L d L' of 3 x 3, by the text of math/block.h: columns 0 and 1 at once, then 2.
//   m = s S11 - e^2, r = 1/s, q = 1/m         2 products, 1 sum, 2 quotients
//   m_2 = s S21 - S20 e                       2, 1
//   S22 - (S20 r) S20 - (m_2 q)(m_2 r)        5, 2
//   e r, s q; S20 r, m_2 q; s q once more     5
//   1/S22                                     1 quotient
//   three pivots, each > 0 and < infinity     6 comparisons
// It reads the lower triangle (6 reals) and writes it, two entries of it twice unless the compiler
// sees that the first is in vain; 4 bytes say whether it went well.
Test(model_count, of_a_factor) {
    enum { N = 40 };
    double S[9 * N];
    double* dS = device(sizeof S);
    int* good = device(N * sizeof(int));
    const double one[9] = {4, 0, 0, 1, 5, 0, 2, 1, 6};
    for (int i = 0; i < N; i++) memcpy(S + 9 * i, one, sizeof one);
    upload(S, sizeof S, dS);
    model_count_start();
    model_factor(N, dS, good, NULL);
    const model_launch l = only_launch();
    expect_ops(&l, 4 * N, 14 * N, 6 * N, 3 * N);
    cr_expect(eq(u64, l.read, 6 * 8 * N));
    cr_expect(le(u64, (6 * 8 + 4) * N, l.written));
    cr_expect(le(u64, l.written, (8 * 8 + 4) * N));
    cr_expect(eq(u64, l.sectors_written, 9 * N * 8 / 32 + N * 4 / 32));
    // two warps, the second with 8 threads at work; quotients count as 8 instructions
    cr_expect(eq(u64, l.lanes, 2 * 32 * (4 + 14 + 6 + 3 * 8)));
    cudaMemcpyAsync(S, dS, sizeof S, cudaMemcpyDeviceToHost, NULL);
    cr_expect(epsilon_eq(dbl, S[0], 0.25, 1e-15));
}

// The rotation of a matrix that is one (math/polar.h), as in predict:
//   det > 0                                        9 products, 5 sums, 1 comparison
//   E = X'X - I, |E|^2 < 1e-15                     25, 20, 1
//   X (I - E/2)                                    36, 27
// 9 reals in, 9 out. Predict of a body that is one as well (affine/element/predict.h) has 24
// products and 36 sums more, for q + lead (v + curve (v - v1)) of 12 coordinates: 94 products, 88
// sums, 2 comparisons, 36 reals in, 12 out.
Test(model_count, of_a_rotation) {
    enum { N = 64 };
    double A[9 * N];
    double *dA = device(sizeof A), *dR = device(sizeof A);
    const double one[9] = {0, 1, 0, -1, 0, 0, 0, 0, 1};
    for (int i = 0; i < N; i++) memcpy(A + 9 * i, one, sizeof one);
    upload(A, sizeof A, dA);
    model_count_start();
    model_turn(N, dA, dR, NULL);
    const model_launch l = only_launch();
    expect_ops(&l, 52 * N, 70 * N, 2 * N, 0);
    expect_bytes(&l, 72 * N, 72 * N);
    expect_sectors(&l, 72 * N / 32, 72 * N / 32, 2 * 72 * N / 32);
}

// 96 threads that add 0, 1, 2 ... times: warps wait for 31, 63 and 95; the fourth warp does
// nothing.
Test(model_count, of_warps_whose_threads_part) {
    double* dx = device(96 * sizeof(double));
    model_count_start();
    model_ladder(96, dx, NULL);
    const model_launch l = only_launch();
    cr_expect(eq(u64, l.ops[MODEL_ADD], 95 * 96 / 2));
    cr_expect(eq(u64, l.lanes, 32 * (31 + 63 + 95)));
}

// What all blocks read counts once for the launch, once for each block; registers and shared memory
// not at all.
Test(model_count, of_what_blocks_share) {
    enum { N = 256 };
    double x[N] = {7};
    double* dx = device(sizeof x);
    upload(x, sizeof x, dx);
    model_count_start();
    model_spread(N, dx, NULL);
    const model_launch l = only_launch();
    expect_bytes(&l, 4 * 8, 8 * N);
    expect_sectors(&l, 1, 64, 64 + 3); // the first block writes what it has read
    cr_expect(eq(u64, l.blocks, 4));
}

// Structures, memcpy, memset, and loops that compilers make one of the two.
Test(model_count, of_copies_in_kernels) {
    enum { N = 100 };
    char zero[40 * N] = {0};
    void *from = device(sizeof zero), *to = device(sizeof zero);
    upload(zero, sizeof zero, from);
    model_count_start();
    model_move(N, from, to, NULL);
    const model_launch moved = only_launch();
    expect_bytes(&moved, 40 * N, 40 * N);
    model_count_start();
    model_copy_three(N, from, to, NULL);
    const model_launch copied = only_launch();
    expect_bytes(&copied, 24 * N, 24 * N);
    model_count_start();
    model_loop_twelve(N / 3, from, to, NULL);
    const model_launch looped = only_launch();
    expect_bytes(&looped, 96 * (N / 3), 96 * (N / 3));
    model_count_start();
    model_clear(N, 5, to, NULL);
    const model_launch cleared = only_launch();
    expect_bytes(&cleared, 0, 40 * N);
    expect_sectors(&cleared, 0, 40 * N / 32, cleared.block_sectors);
}

Test(model_count, of_the_host) {
    double x[4] = {0};
    double* dx = device(sizeof x);
    model_count_start();
    upload(x, sizeof x, dx);
    cudaMemcpyAsync(x, dx, 8, cudaMemcpyDeviceToHost, NULL);
    cudaStreamSynchronize(NULL);
    const model_counts counts = model_count_read();
    cr_expect(eq(u64, counts.copies, 2));
    cr_expect(eq(u64, counts.copied_up, 32));
    cr_expect(eq(u64, counts.copied_down, 8));
    cr_expect(eq(u64, counts.waits, 1));
    cr_expect(eq(sz, counts.launch_count, 0));
}
