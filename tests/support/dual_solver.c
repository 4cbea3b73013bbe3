// SPDX-License-Identifier: Apache-2.0
#include "support/dual_solver.h"

#include <SuiteSparse_config.h>
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void* dual_solver_create(const mabd_dual_ops* ops, const dual_case* c) {
    mabd_allocator allocator = mabd_default_allocator();
    void* solver = NULL;
    cr_assert(ops->create(&allocator, &c->system, &solver) == MABD_OK);
    return solver;
}

void dual_solver_destroy(const mabd_dual_ops* ops, void* solver) {
    mabd_allocator allocator = mabd_default_allocator();
    ops->destroy(&allocator, solver);
}

void dual_solver_run(const mabd_dual_ops* ops, void* solver, dual_case* c) {
    int32_t bad = -1;
    cr_assert(ops->factor(solver, &c->system, &bad) == MABD_OK, "slot %d", bad);
    ops->solve(solver, &c->system, c->x);
}

mabd_real* dual_solver_reference(dual_case* c) {
    const size_t bytes = (size_t)c->system.row_count * sizeof(mabd_real);
    mabd_real* x = malloc(bytes);
    cr_assert(x != NULL);
    void* block = dual_solver_create(&mabd_dual_block, c);
    dual_case_reset(c);
    dual_solver_run(&mabd_dual_block, block, c);
    memcpy(x, c->x, bytes);
    dual_solver_destroy(&mabd_dual_block, block);
    dual_case_reset(c);
    return x;
}

// ---- SuiteSparse --------------------------------------------------------------------------------

#define HEAD 16 // bytes before each block for its size

int64_t suite_calls, suite_bytes, suite_fail_at = -1;

static void* suite_malloc(size_t bytes) {
    if (suite_calls++ == suite_fail_at) return NULL;
    char* memory = malloc(bytes + HEAD);
    if (!memory) return NULL;
    memcpy(memory, &bytes, sizeof(bytes));
    suite_bytes += (int64_t)bytes;
    return memory + HEAD;
}

static void* suite_calloc(size_t n, size_t size) {
    void* memory = suite_malloc(n * size);
    if (memory) memset(memory, 0, n * size);
    return memory;
}

static void suite_free(void* memory) {
    if (!memory) return;
    size_t bytes;
    memcpy(&bytes, (char*)memory - HEAD, sizeof(bytes));
    suite_bytes -= (int64_t)bytes;
    free((char*)memory - HEAD);
}

static void* suite_realloc(void* memory, size_t bytes) {
    size_t old = 0;
    if (memory) memcpy(&old, (char*)memory - HEAD, sizeof(old));
    void* moved = suite_malloc(bytes);
    if (!moved) return NULL;
    if (memory) memcpy(moved, memory, old < bytes ? old : bytes);
    suite_free(memory);
    return moved;
}

// CHOLMOD loads the library that holds these pointers; the test does not link to it.
void suite_count(void) {
    void* program = dlopen(NULL, RTLD_NOW);
    struct SuiteSparse_config_struct* config = dlsym(program, "SuiteSparse_config");
    cr_assert(config != NULL);
    config->malloc_func = suite_malloc;
    config->calloc_func = suite_calloc;
    config->realloc_func = suite_realloc;
    config->free_func = suite_free;
    suite_calls = suite_bytes = 0;
    suite_fail_at = -1;
    dlclose(program);
}
