// SPDX-License-Identifier: Apache-2.0
#include "cli/run_warnings.h"

#include "cli/summary.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// `body`, `joint`: names, null = none.
static void append(run_warnings* warnings, const char* text, int64_t step, const char* body,
                   const char* joint) {
    fprintf(stderr, "mabd %s: warning: %s\n", warnings->command, text);
    if (warnings->list == NULL) warnings->list = json_array();
    json_t* entry = json_object();
    summary_set_text(entry, "text", text);
    json_object_set_new(entry, "step", json_integer((json_int_t)step));
    if (body != NULL) summary_set_text(entry, "body", body);
    if (joint != NULL) summary_set_text(entry, "joint", joint);
    json_array_append_new(warnings->list, entry);
}

void run_warnings_add(run_warnings* warnings, const char* format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    append(warnings, text, 0, NULL, NULL);
}

void run_warnings_collect(run_warnings* warnings, const mabd_sim* sim) {
    const mabd_model* model = mabd_sim_model(sim);
    const int32_t count = mabd_sim_warnings(sim, 0, NULL);
    if (count <= warnings->read) return;
    mabd_warning* all = malloc((size_t)count * sizeof(*all));
    if (all == NULL) return;
    mabd_sim_warnings(sim, count, all);
    for (int32_t i = warnings->read; i < count; i++) {
        char body[256], joint[256];
        if (all[i].body >= 0) mabd_model_body_name(model, all[i].body, body, sizeof(body));
        if (all[i].joint >= 0) mabd_model_joint_name(model, all[i].joint, joint, sizeof(joint));
        append(warnings, all[i].text, all[i].step, all[i].body >= 0 ? body : NULL,
               all[i].joint >= 0 ? joint : NULL);
    }
    warnings->read = count;
    free(all);
}

void run_warnings_release(run_warnings* warnings) {
    json_decref(warnings->list);
    warnings->list = NULL;
}
