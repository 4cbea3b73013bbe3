// SPDX-License-Identifier: Apache-2.0
#include "cli/formulations.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/summary.h"
#include "mabd/sim.h"

#include <string.h>

static const char* integrator_name(int value) {
    return mabd_integrator_name((mabd_integrator)value);
}
static const char* backend_name(int value) {
    return mabd_backend_name((mabd_backend)value);
}
static const char* feature_name(int value) {
    return mabd_can_name((mabd_can_index)value);
}

// ---- text --------------------------------------------------------------------------------------

static void print_head(FILE* out) {
    fprintf(out, "%-12s %-7s", "formulation", "paper");
    for (int k = 0; k < MABD_CAN_COUNT; k++) fprintf(out, " %s", feature_name(k));
    fprintf(out, "  integrators; backends\n");
}

static void print_names(uint32_t bits, int count, const char* (*name)(int), FILE* out) {
    const char* before = "";
    for (int k = 0; k < count; k++) {
        if (!(bits >> k & 1U)) continue;
        fprintf(out, "%s%s", before, name(k));
        before = ", ";
    }
}

static void print_formulation(const mabd_formulation_info* info, FILE* out) {
    fprintf(out, "%-12s %-7s", info->name, info->paper_name);
    if (!info->built) {
        fprintf(out, " not built\n");
        return;
    }
    for (int k = 0; k < MABD_CAN_COUNT; k++) {
        const int width = (int)strlen(feature_name(k));
        fprintf(out, " %-*s", width, info->can >> k & 1U ? "yes" : "-");
    }
    fprintf(out, "  ");
    print_names(info->integrators, MABD_INTEGRATOR_COUNT, integrator_name, out);
    fprintf(out, "; ");
    print_names(info->backends, MABD_BACKEND_COUNT, backend_name, out);
    fputc('\n', out);
}

// ---- JSON --------------------------------------------------------------------------------------

static json_t* names_json(uint32_t bits, int count, const char* (*name)(int)) {
    json_t* names = json_array();
    for (int k = 0; k < count; k++) {
        if (bits >> k & 1U) json_array_append_new(names, json_string(name(k)));
    }
    return names;
}

static json_t* formulation_json(const mabd_formulation_info* info) {
    json_t *entry = json_object(), *can = json_object(), *stages = json_array();
    json_object_set_new(entry, "built", json_boolean(info->built));
    summary_set_text(entry, "paper_name", info->paper_name);
    for (int k = 0; k < MABD_CAN_COUNT; k++) {
        json_object_set_new(can, feature_name(k), json_boolean(info->can >> k & 1U));
    }
    json_object_set_new(entry, "can", can);
    json_object_set_new(entry, "integrators",
                        names_json(info->integrators, MABD_INTEGRATOR_COUNT, integrator_name));
    json_object_set_new(entry, "backends",
                        names_json(info->backends, MABD_BACKEND_COUNT, backend_name));
    for (int32_t k = 0; k < info->stage_count; k++) {
        json_array_append_new(stages, json_string(info->stages[k]));
    }
    json_object_set_new(entry, "stages", stages);
    return entry;
}

int formulations_report(const char* json) {
    const bool quiet = output_is_stdout(json);
    json_t *root = json_object(), *all = json_object();
    if (!quiet) print_head(stdout);
    for (int k = 0; k < MABD_FORMULATION_COUNT; k++) {
        const mabd_formulation_info info = mabd_formulation_get_info((mabd_formulation)k);
        if (!quiet) print_formulation(&info, stdout);
        json_object_set_new(all, info.name, formulation_json(&info));
    }
    json_object_set_new(root, "formulations", all);
    const int code = json != NULL ? summary_write("info", json, root) : CLI_OK;
    json_decref(root);
    return code;
}
