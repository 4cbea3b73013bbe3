// SPDX-License-Identifier: Apache-2.0
// Tables and JSON; see model_report.h. Columns and keys are an interface: new ones are added at the
// end. Names of predicted values contain "prediction".
#include "bench/cuda-model/model_report.h"
#include "bench/cuda-model/occupancy.h"
#include "cli/bench/csv.h"
#include "cli/cli.h"
#include "cli/summary.h"

#define X(name, key, instructions) key,
static const char* const OPS[] = {MODEL_OP_LIST(X)};
#undef X

static void fill_head(const model_report* r, FILE* out) {
    fprintf(out, "# machine: %s, which counts; no GPU was there\n# version: mabd %s\n", r->machine,
            mabd_version());
    fprintf(out, "# compiler: %s, %s\n# command: %s\n", __VERSION__, r->compiler, r->command);
}

// ---- CSV ----------------------------------------------------------------------------------------

static void fill_kernels(const void* report, FILE* out) {
    const model_report* r = report;
    fill_head(r, out);
    fprintf(out, "kernel,architecture,registers,spill_stores,spill_loads,stack,shared,constant,"
                 "block,blocks_per_sm,warps_per_sm,occupancy,limit\n");
    for (size_t i = 0; i < r->kernels.count; i++) {
        const model_kernel* k = &r->kernels.items[i];
        const model_architecture* a = model_architecture_find(k->architecture);
        const int32_t block = model_block_of(r, k);
        csv_put_text(k->name, out);
        fprintf(out, ",sm_%d,%d,%d,%d,%d,%d,", (int)k->architecture, (int)k->registers,
                (int)k->spill_stores, (int)k->spill_loads, (int)k->stack, (int)k->shared);
        if (k->constant >= 0) fprintf(out, "%d", (int)k->constant);
        fprintf(out, ",%d", (int)block);
        if (a != NULL && block > 0) {
            const model_occupancy o = model_occupancy_of(a, k->registers, k->shared, block);
            fprintf(out, ",%d,%d,%.4g,%s\n", (int)o.blocks, (int)o.warps, o.share, o.limit);
        } else {
            fprintf(out, ",,,,\n");
        }
    }
}

static void fill_counts_row(const model_run* r, const char* name, const model_kernel_counts* k,
                            FILE* out) {
    csv_put_text(r->name, out);
    fprintf(out, ",%d,%d,%d,%.4g,", (int)r->links, (int)r->rows, (int)r->steps, r->iterations);
    csv_put_text(name, out);
    fprintf(out, ",%.6g,%.6g", (double)k->launches / r->steps, (double)k->threads / r->steps);
    for (int i = 0; i < MODEL_OP_COUNT; i++) fprintf(out, ",%.6g", model_per_link(r, k->ops[i]));
    fprintf(out, ",%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n",
            model_per_link(r, model_instructions(k->ops)), model_per_link(r, k->lanes),
            model_per_link(r, k->read), model_per_link(r, k->written),
            model_per_link(r, MODEL_SECTOR * k->block_sectors),
            model_per_link(r, MODEL_SECTOR * k->sectors_read),
            model_per_link(r, MODEL_SECTOR * k->sectors_written));
}

static void fill_counts(const void* report, FILE* out) {
    const model_report* r = report;
    fill_head(r, out);
    fprintf(out, "# launches and threads of a step, all others of a link and step; kernel (all) is "
                 "their sum\n");
    fprintf(out, "scene,links,rows,steps,iterations,kernel,launches,threads");
    for (int i = 0; i < MODEL_OP_COUNT; i++) fprintf(out, ",%s", OPS[i]);
    fprintf(out, ",instructions,lane_instructions,bytes_read,bytes_written,block_bytes,"
                 "memory_bytes_read,memory_bytes_written\n");
    for (int32_t i = 0; i < r->run_count; i++) {
        const model_run* run = &r->runs[i];
        if (run->missing[0] != '\0') continue;
        fill_counts_row(run, "(all)", &run->total, out);
        for (int32_t k = 0; k < run->kernel_count; k++) {
            fill_counts_row(run, run->kernels[k].name, &run->kernels[k], out);
        }
    }
}

static void fill_predictions(const void* report, FILE* out) {
    const model_report* r = report;
    fill_head(r, out);
    fprintf(out, "# every time is a prediction (bench/cuda-model/roofline.h): none was measured\n");
    fprintf(out, "scene,links,gpu,launches,waits,prediction_ms,prediction_ns_per_link,"
                 "prediction_memory_ms,prediction_arithmetic_ms,prediction_launches_ms,"
                 "prediction_host_ms,touched_bytes,fits_l2\n");
    for (int32_t i = 0; i < r->run_count; i++) {
        const model_run* run = &r->runs[i];
        if (run->missing[0] != '\0') continue;
        for (int32_t g = 0; g < r->gpu_count; g++) {
            const model_prediction* p = &run->predictions[g];
            const double touched = (double)MODEL_SECTOR * (double)run->touched;
            csv_put_text(run->name, out);
            fprintf(out, ",%d,%s,%.6g,%.6g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.0f,%s\n",
                    (int)run->links, r->gpus[g].name, (double)run->total.launches / run->steps,
                    (double)run->waits / run->steps, 1e3 * p->total, 1e9 * p->total / run->links,
                    1e3 * p->memory, 1e3 * p->arithmetic, 1e3 * p->latency, 1e3 * p->host, touched,
                    touched <= r->gpus[g].l2 ? "yes" : "no");
        }
    }
}

int model_write_tables(const model_report* report, const char* folder) {
    const struct {
        const char* name;
        void (*fill)(const void* report, FILE* out);
    } tables[] = {
        {"kernels", fill_kernels}, {"counts", fill_counts}, {"predictions", fill_predictions}};
    if (folder == NULL) return CLI_OK;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s.csv", folder, tables[i].name);
        const int code = csv_write("cuda-model", path, tables[i].fill, report);
        if (code != CLI_OK) return code;
    }
    return CLI_OK;
}

// ---- JSON ---------------------------------------------------------------------------------------

static json_t* kernel_json(const model_report* r, const model_kernel* k) {
    json_t* entry = json_pack("{si si si si si si si}", "architecture", (int)k->architecture,
                              "registers", (int)k->registers, "spill_stores", (int)k->spill_stores,
                              "spill_loads", (int)k->spill_loads, "stack", (int)k->stack, "shared",
                              (int)k->shared, "block", (int)model_block_of(r, k));
    const model_architecture* a = model_architecture_find(k->architecture);
    summary_set_text(entry, "name", k->name);
    if (k->constant >= 0) json_object_set_new(entry, "constant", json_integer(k->constant));
    if (a != NULL && model_block_of(r, k) > 0) {
        const model_occupancy o =
            model_occupancy_of(a, k->registers, k->shared, model_block_of(r, k));
        summary_set_real(entry, "occupancy", o.share);
        summary_set_text(entry, "limit", o.limit);
    }
    return entry;
}

static json_t* counts_json(const model_run* r, const model_kernel_counts* k) {
    json_t* entry = json_object();
    summary_set_text(entry, "name", k->name);
    summary_set_real(entry, "launches", (double)k->launches / r->steps);
    for (int i = 0; i < MODEL_OP_COUNT; i++) {
        summary_set_real(entry, OPS[i], model_per_link(r, k->ops[i]));
    }
    summary_set_real(entry, "lane_instructions", model_per_link(r, k->lanes));
    summary_set_real(entry, "bytes_read", model_per_link(r, k->read));
    summary_set_real(entry, "bytes_written", model_per_link(r, k->written));
    summary_set_real(entry, "block_bytes", model_per_link(r, MODEL_SECTOR * k->block_sectors));
    summary_set_real(entry, "memory_bytes",
                     model_per_link(r, MODEL_SECTOR * (k->sectors_read + k->sectors_written)));
    return entry;
}

static json_t* prediction_json(const model_run* r, const model_gpu* gpu,
                               const model_prediction* p) {
    json_t* entry = json_object();
    summary_set_text(entry, "gpu", gpu->name);
    summary_set_real(entry, "prediction_ms", 1e3 * p->total);
    summary_set_real(entry, "prediction_ns_per_link", 1e9 * p->total / r->links);
    summary_set_real(entry, "prediction_memory_ms", 1e3 * p->memory);
    summary_set_real(entry, "prediction_arithmetic_ms", 1e3 * p->arithmetic);
    summary_set_real(entry, "prediction_launches_ms", 1e3 * p->latency);
    summary_set_real(entry, "prediction_host_ms", 1e3 * p->host);
    return entry;
}

static json_t* run_json(const model_report* report, const model_run* r) {
    json_t *entry = json_object(), *kernels = json_array(), *predictions = json_array();
    summary_set_text(entry, "scene", r->name);
    json_object_set_new(entry, "links", json_integer(r->links));
    if (r->missing[0] != '\0') summary_set_text(entry, "missing", r->missing);
    for (int32_t k = 0; k < r->kernel_count; k++) {
        json_array_append_new(kernels, counts_json(r, &r->kernels[k]));
    }
    for (int32_t g = 0; g < report->gpu_count && r->missing[0] == '\0'; g++) {
        json_array_append_new(predictions,
                              prediction_json(r, &report->gpus[g], &r->predictions[g]));
    }
    summary_set_real(entry, "iterations_mean", r->iterations);
    json_object_set_new(entry, "per_link_and_step", kernels);
    json_object_set_new(entry, "prediction", predictions);
    return entry;
}

int model_write_json(const model_report* r, const char* path) {
    if (path == NULL) return CLI_OK;
    json_t *root = json_object(), *kernels = json_array(), *runs = json_array();
    summary_set_text(root, "version", mabd_version());
    summary_set_text(root, "machine", r->machine);
    summary_set_text(root, "compiler", r->compiler);
    summary_set_text(root, "command", r->command);
    for (size_t i = 0; i < r->kernels.count; i++) {
        json_array_append_new(kernels, kernel_json(r, &r->kernels.items[i]));
    }
    for (int32_t i = 0; i < r->run_count; i++) {
        json_array_append_new(runs, run_json(r, &r->runs[i]));
    }
    json_object_set_new(root, "kernels", kernels);
    json_object_set_new(root, "scenes", runs);
    const int code = summary_write("cuda-model", path, root);
    json_decref(root);
    return code;
}
