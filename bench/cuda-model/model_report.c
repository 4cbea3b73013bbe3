// SPDX-License-Identifier: Apache-2.0
// Tables as text; see model_report.h.
#include "bench/cuda-model/model_report.h"

#include "bench/cuda-model/occupancy.h"

#include <string.h>

int32_t model_block_of(const model_report* report, const model_kernel* kernel) {
    uint32_t block = 0;
    for (int32_t r = 0; r < report->run_count; r++) {
        const model_run* run = &report->runs[r];
        for (int32_t k = 0; k < run->kernel_count; k++) {
            if (strcmp(run->kernels[k].name, kernel->name) != 0) continue;
            if (run->kernels[k].block > block) block = run->kernels[k].block;
        }
    }
    return block > 0 ? (int32_t)block : kernel->bound;
}

double model_per_link(const model_run* run, uint64_t count) {
    return (double)count / ((double)run->steps * run->links);
}

// One line: registers on each architecture, the worst of the rest, occupancy on each. Kernels are
// sorted by name, then architecture.
static void print_kernel(const model_report* report, const model_kernel* k, size_t count,
                         FILE* out) {
    int32_t spills = 0, stack = 0, shared = 0;
    const int32_t block = model_block_of(report, k);
    fprintf(out, "%-32s", k->name);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, " %5d", (int)k[i].registers);
        spills += k[i].spill_stores + k[i].spill_loads;
        if (k[i].stack > stack) stack = k[i].stack;
        if (k[i].shared > shared) shared = k[i].shared;
    }
    fprintf(out, " %7d %6d %7d %6d ", (int)spills, (int)stack, (int)shared, (int)block);
    for (size_t i = 0; i < count && block > 0; i++) {
        const model_architecture* a = model_architecture_find(k[i].architecture);
        if (a == NULL) continue;
        const model_occupancy o = model_occupancy_of(a, k[i].registers, k[i].shared, block);
        fprintf(out, " %3.0f %% %-9s", 100 * o.share, o.limit);
    }
    fputc('\n', out);
}

void model_print_kernels(const model_report* report, FILE* out) {
    const model_kernels* all = &report->kernels;
    if (all->count == 0) {
        fprintf(out, "\nno report of a compiler of kernels\n");
        return;
    }
    fprintf(out,
            "\nkernels, as %s tells of them, and their occupancy in theory, on each "
            "architecture:",
            report->compiler);
    for (size_t i = 0; i < all->count && strcmp(all->items[i].name, all->items[0].name) == 0; i++) {
        fprintf(out, " sm_%d", (int)all->items[i].architecture);
    }
    fprintf(out, "\n%-32s %-17s %7s %6s %7s %6s  %s\n", "kernel", "registers", "spills", "stack",
            "shared", "block", "occupancy and what limits it");
    for (size_t i = 0, count = 0; i < all->count; i += count) {
        const model_kernel* k = &all->items[i];
        for (count = 1; i + count < all->count; count++) {
            if (strcmp(k[count].name, k->name) != 0) break;
        }
        print_kernel(report, k, count, out);
    }
}

void model_print_counts(const model_report* report, FILE* out) {
    fprintf(out, "\ncounted by the executor, of a link and step\n");
    fprintf(out, "%-24s %8s %6s %9s %6s %10s %10s %9s %9s %9s\n", "scene", "links", "iter",
            "launches", "waits", "operations", "in lanes", "asked B", "blocks B", "memory B");
    for (int32_t i = 0; i < report->run_count; i++) {
        const model_run* r = &report->runs[i];
        const model_kernel_counts* t = &r->total;
        uint64_t ops = 0;
        fprintf(out, "%-24s %8d", r->name, (int)r->links);
        if (r->missing[0] != '\0') {
            fprintf(out, " %s\n", r->missing);
            continue;
        }
        for (int k = 0; k < MODEL_OP_COUNT; k++) ops += t->ops[k];
        fprintf(out, " %6.2f %9.0f %6.0f %10.0f %10.0f %9.0f %9.0f %9.0f\n", r->iterations,
                (double)t->launches / r->steps, (double)r->waits / r->steps, model_per_link(r, ops),
                model_per_link(r, t->lanes), model_per_link(r, t->read + t->written),
                model_per_link(r, MODEL_SECTOR * t->block_sectors),
                model_per_link(r, MODEL_SECTOR * (t->sectors_read + t->sectors_written)));
    }
}

void model_print_predictions(const model_report* report, FILE* out) {
    fprintf(out,
            "\nPREDICTION of a step, from the counts and published figures of GPUs; nothing of "
            "it was measured\n");
    fprintf(out, "%-24s %-24s %13s %13s %8s %10s %8s %6s %7s\n", "scene", "GPU", "prediction ms",
            "prediction ns", "memory", "arithmetic", "launches", "host", "in L2");
    fprintf(out, "%-24s %-24s %13s %13s\n", "", "", "of a step", "of a link");
    for (int32_t i = 0; i < report->run_count; i++) {
        const model_run* r = &report->runs[i];
        if (r->missing[0] != '\0') continue;
        for (int32_t g = 0; g < report->gpu_count; g++) {
            const model_gpu* gpu = &report->gpus[g];
            const model_prediction* p = &r->predictions[g];
            const double fits = (double)MODEL_SECTOR * (double)r->touched;
            fprintf(out, "%-24s %-24s %13.4g %13.4g %6.1f %% %8.1f %% %6.1f %% %4.1f %% %7s\n",
                    r->name, gpu->name, 1e3 * p->total, 1e9 * p->total / r->links,
                    100 * p->memory / p->total, 100 * p->arithmetic / p->total,
                    100 * p->latency / p->total, 100 * p->host / p->total,
                    fits <= gpu->l2 ? "yes" : "no");
        }
    }
}
