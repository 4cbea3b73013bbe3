// SPDX-License-Identifier: Apache-2.0
// Reads the reports of ptxas; see ptxas.h.
#include "bench/cuda-model/ptxas.h"

#include "bench/cuda-model/kernel_names.h"

#include <stdlib.h>
#include <string.h>

#define SYMBOL_SIZE 1024

static model_kernel* add_kernel(model_kernels* k, const char* symbol, int architecture) {
    if (k->count == k->room) {
        const size_t room = 2 * k->room + 64;
        model_kernel* items = realloc(k->items, room * sizeof(*items));
        if (items == NULL) return NULL;
        k->items = items, k->room = room;
    }
    model_kernel* kernel = &k->items[k->count++];
    memset(kernel, 0, sizeof(*kernel));
    kernel->architecture = architecture;
    model_kernel_name(symbol, kernel->name, sizeof(kernel->name));
    return kernel;
}

// The number before `unit` in a line, 0 if it is missing; several are added.
static int32_t number_before(const char* line, const char* unit) {
    int32_t sum = 0;
    for (const char* at = strstr(line, unit); at != NULL; at = strstr(at + 1, unit)) {
        const char* digit = at;
        while (digit > line && digit[-1] >= '0' && digit[-1] <= '9') digit--;
        sum += (int32_t)strtol(digit, NULL, 10);
    }
    return sum;
}

// Registers and memory of a kernel; its stack includes those of the functions it calls.
static void read_use(const char* line, model_kernel* kernel) {
    const char* registers = strstr(line, "Used ");
    kernel->registers = (int32_t)strtol(registers + strlen("Used "), NULL, 10);
    kernel->shared = number_before(line, " bytes smem");
    kernel->constant = strstr(line, " cmem[") ? number_before(line, " bytes cmem[") : -1;
    const int32_t stack = number_before(line, " bytes cumulative stack size");
    if (stack > kernel->stack) kernel->stack = stack;
}

static bool read_report_line(const char* line, model_kernels* kernels) {
    char symbol[SYMBOL_SIZE];
    int architecture = 0;
    if (sscanf(line, "ptxas info : Compiling entry function '%1023[^']' for 'sm_%d", symbol,
               &architecture) == 2) {
        return add_kernel(kernels, symbol, architecture) != NULL;
    }
    if (kernels->count == 0) return true;
    model_kernel* kernel = &kernels->items[kernels->count - 1];
    if (strstr(line, " bytes stack frame,") != NULL) {
        const int32_t stack = number_before(line, " bytes stack frame");
        if (stack > kernel->stack) kernel->stack = stack;
        kernel->spill_stores += number_before(line, " bytes spill stores");
        kernel->spill_loads += number_before(line, " bytes spill loads");
    } else if (strncmp(line, "ptxas info", 10) == 0 && strstr(line, ": Used ") != NULL) {
        read_use(line, kernel);
    }
    return true;
}

bool model_report_read(FILE* report, model_kernels* kernels) {
    char* line = NULL;
    size_t size = 0;
    bool good = true;
    while (good && getline(&line, &size, report) >= 0) good = read_report_line(line, kernels);
    free(line);
    return good;
}

static void set_bound(const char* symbol, int32_t bound, model_kernels* kernels) {
    char name[MODEL_NAME];
    model_kernel_name(symbol, name, sizeof(name));
    for (size_t i = 0; i < kernels->count; i++) {
        if (strcmp(kernels->items[i].name, name) == 0) kernels->items[i].bound = bound;
    }
}

//   .visible .entry SYMBOL(
//   ...
//   .maxntid 64
bool model_bounds_read(FILE* assembly, model_kernels* kernels) {
    char* line = NULL;
    size_t size = 0;
    char symbol[SYMBOL_SIZE] = "";
    while (getline(&line, &size, assembly) >= 0) {
        const char* entry = strstr(line, ".entry ");
        int bound = 0;
        if (entry != NULL) sscanf(entry, ".entry %1023[^(\n]", symbol);
        if (sscanf(line, ".maxntid %d", &bound) == 1) set_bound(symbol, bound, kernels);
    }
    free(line);
    return ferror(assembly) == 0;
}

static int by_name(const void* a, const void* b) {
    const model_kernel *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : x->architecture - y->architecture;
}

void model_kernels_sort(model_kernels* kernels) {
    if (kernels->count > 0) {
        qsort(kernels->items, kernels->count, sizeof(kernels->items[0]), by_name);
    }
}

const model_kernel* model_kernel_find(const model_kernels* kernels, const char* name,
                                      int32_t architecture) {
    for (size_t i = 0; i < kernels->count; i++) {
        const model_kernel* kernel = &kernels->items[i];
        if (kernel->architecture == architecture && strcmp(kernel->name, name) == 0) return kernel;
    }
    return NULL;
}
