// SPDX-License-Identifier: Apache-2.0
#include "cli/batch_vary.h"

#include "cli/batch_draw.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static int say(const char* command, const char* flag, const char* text, const char* what) {
    fprintf(stderr, "mabd %s: --%s: %s '%s'\nTry 'mabd %s --help'.\n", command, flag, text, what,
            command);
    return CLI_BAD_INPUT;
}

static bool parse_range(const char* text, batch_range* out) {
    const char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
    char low[64];
    if (colon == NULL || equals == text || (size_t)(equals - text) >= sizeof(out->name)) {
        return false;
    }
    const size_t length = (size_t)(colon - equals - 1);
    if (length >= sizeof(low)) return false;
    memcpy(low, equals + 1, length);
    low[length] = '\0';
    memcpy(out->name, text, (size_t)(equals - text));
    out->name[equals - text] = '\0';
    return options_real(low, &out->low) && options_real(colon + 1, &out->high) &&
           out->low <= out->high;
}

int batch_read_ranges(const char* command, const char* flag, const option_texts* texts,
                      batch_range* ranges, int32_t* count) {
    for (int32_t i = 0; i < texts->count; i++) {
        if (!parse_range(texts->items[i], &ranges[i])) {
            return say(command, flag, "expected NAME=LOW:HIGH, LOW <= HIGH, got", texts->items[i]);
        }
        for (int32_t k = 0; k < i; k++) {
            if (strcmp(ranges[k].name, ranges[i].name) == 0) {
                return say(command, flag, "given twice:", ranges[i].name);
            }
        }
    }
    *count = texts->count;
    return CLI_OK;
}

int batch_vary_read(batch_vary* v, const run_options* options) {
    const int code = batch_read_ranges(v->command, "vary", &v->texts, v->ranges, &v->count);
    for (int32_t i = 0; code == CLI_OK && i < v->count; i++) {
        const size_t length = strlen(v->ranges[i].name);
        for (int32_t k = 0; k < options->settings.count; k++) {
            const char* setting = options->settings.items[k];
            if (strncmp(setting, v->ranges[i].name, length) == 0 && setting[length] == '=') {
                return say(v->command, "vary", "also given by --set:", v->ranges[i].name);
            }
        }
    }
    return code;
}

double batch_vary_value(const batch_vary* v, int32_t i, int64_t copy) {
    const batch_range* r = &v->ranges[i];
    return r->low +
           (r->high - r->low) * batch_draw((uint64_t)v->seed, 2 * (uint64_t)i, (uint64_t)copy);
}

static void vary(void* context, int32_t copy, mabd_setting* settings) {
    batch_vary* v = context;
    for (int32_t i = 0; i < v->count; i++) {
        snprintf(v->values[i], sizeof(v->values[i]), "%.17g", batch_vary_value(v, i, copy));
        settings[i] = (mabd_setting){v->ranges[i].name, v->values[i]};
    }
}

int batch_vary_load(batch_vary* v, const run_options* o, loaded_scene* loaded) {
    const load_copies copies = {(int32_t)v->copies, v->count, vary, v};
    loaded->close_joints = o->close_joints;
    loaded->young = o->young;
    return load_batch(o->name, o->scene, &o->settings, &copies, o->memory_limit, loaded);
}
