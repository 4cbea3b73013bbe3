// SPDX-License-Identifier: Apache-2.0
#include "cli/backends.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/summary.h"
#include "cli/system.h"
#include "mabd/sim.h"

static void print_backend(mabd_backend backend, const mabd_backend_info* info, FILE* out) {
    char memory[32], spare[32];
    fprintf(out, "%-9s %-8s %-8s", mabd_backend_name(backend), info->built ? "built" : "-",
            info->present ? "present" : "-");
    if (info->present) {
        fprintf(out, " %s", info->device);
        if (info->memory > 0) {
            fprintf(out, ", %s, %s free",
                    system_format_bytes((double)info->memory, memory, sizeof(memory)),
                    system_format_bytes((double)info->spare, spare, sizeof(spare)));
        }
    } else {
        fprintf(out, " %s", info->missing);
    }
    if (info->target[0] != '\0') fprintf(out, " (for %s)", info->target);
    fputc('\n', out);
}

static json_t* backend_json(const mabd_backend_info* info) {
    json_t* entry = json_object();
    json_object_set_new(entry, "built", json_boolean(info->built));
    json_object_set_new(entry, "present", json_boolean(info->present));
    summary_set_text(entry, "target", info->target);
    summary_set_text(entry, "device", info->device);
    summary_set_text(entry, "missing", info->missing);
    json_object_set_new(entry, "memory_bytes", json_integer((json_int_t)info->memory));
    json_object_set_new(entry, "free_bytes", json_integer((json_int_t)info->spare));
    return entry;
}

int backends_report(const char* json) {
    json_t* all = json_object();
    const bool quiet = output_is_stdout(json);
    for (int k = 0; k < MABD_BACKEND_COUNT; k++) {
        const mabd_backend_info info = mabd_backend_get_info((mabd_backend)k);
        if (!quiet) print_backend((mabd_backend)k, &info, stdout);
        json_object_set_new(all, mabd_backend_name((mabd_backend)k), backend_json(&info));
    }
    int code = CLI_OK;
    if (json != NULL) {
        json_t* root = json_object();
        json_object_set(root, "backends", all);
        code = summary_write("info", json, root);
        json_decref(root);
    }
    json_decref(all);
    return code;
}
