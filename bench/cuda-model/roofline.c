// SPDX-License-Identifier: Apache-2.0
// See roofline.h.
#include "bench/cuda-model/roofline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 10

void model_predict_launch(const model_gpu* gpu, const model_launch* l, double* memory,
                          double* arithmetic) {
    const double bytes = (double)MODEL_SECTOR * (double)(l->sectors_read + l->sectors_written);
    const double used = l->blocks < (uint32_t)gpu->sms ? (double)l->blocks / gpu->sms : 1;
    *memory = bytes / gpu->memory;
    *arithmetic = (double)l->lanes / (gpu->fp64 / 2 * used);
}

model_prediction model_predict(const model_gpu* gpu, const model_counts* counts) {
    model_prediction p = {0};
    for (size_t i = 0; i < counts->launch_count; i++) {
        double memory = 0, arithmetic = 0;
        model_predict_launch(gpu, &counts->launches[i], &memory, &arithmetic);
        if (memory >= arithmetic)
            p.memory += memory;
        else
            p.arithmetic += arithmetic;
    }
    p.latency = gpu->launch * (double)counts->launch_count;
    p.host = gpu->launch * (double)counts->copies + gpu->wait * (double)counts->waits +
             (double)(counts->copied_up + counts->copied_down) / gpu->host;
    p.total = p.memory + p.arithmetic + p.latency + p.host;
    return p;
}

// ---- the table of GPUs --------------------------------------------------------------------------

// The field at *text, in place, which may stand in quotes; *text moves behind its comma.
static char* take_field(char** text) {
    char* field = *text;
    const char end = *field == '"' ? '"' : ',';
    if (end == '"') field++;
    char* stop = field + strcspn(field, (char[]){end, '\n', '\0'});
    *text = *stop == '\0' || *stop == '\n' ? stop : stop + 1;
    if (end == '"' && **text == ',') ++*text;
    *stop = '\0';
    return field;
}

static bool read_gpu(char* line, model_gpu* gpu) {
    char* fields[FIELDS];
    double numbers[FIELDS] = {0};
    for (int k = 0; k < FIELDS; k++) {
        fields[k] = take_field(&line);
        if (fields[k][0] == '\0') return false;
        if (k == 0 || k == FIELDS - 1) continue;
        char* end = NULL;
        numbers[k] = strtod(fields[k], &end);
        if (*end != '\0' || !(numbers[k] > 0)) return false;
    }
    snprintf(gpu->name, sizeof(gpu->name), "%s", fields[0]);
    snprintf(gpu->source, sizeof(gpu->source), "%s", fields[FIELDS - 1]);
    gpu->architecture = (int32_t)numbers[1], gpu->sms = (int32_t)numbers[2];
    gpu->fp64 = 1e12 * numbers[3], gpu->memory = 1e9 * numbers[4], gpu->l2 = 1e6 * numbers[5];
    gpu->host = 1e9 * numbers[6], gpu->launch = 1e-6 * numbers[7], gpu->wait = 1e-6 * numbers[8];
    return true;
}

// Lines after comments and names.
static bool read_gpus(const char* path, FILE* file, model_gpu* gpus, int32_t* count, char* message,
                      size_t size) {
    char* line = NULL;
    size_t room = 0;
    bool good = true;
    for (int number = 1; good && getline(&line, &room, file) >= 0; number++) {
        if (line[0] == '#' || strncmp(line, "name,", 5) == 0) continue;
        good = *count < MODEL_GPUS_MAX && read_gpu(line, &gpus[*count]);
        if (good)
            ++*count;
        else
            snprintf(message, size, "%s:%d: expected ten fields, numbers > 0", path, number);
    }
    free(line);
    if (good && *count == 0) {
        snprintf(message, size, "%s: no GPU in it", path);
        return false;
    }
    return good;
}

bool model_gpus_read(const char* path, model_gpu* gpus, int32_t* count, char* message,
                     size_t size) {
    FILE* file = fopen(path, "r");
    *count = 0;
    if (file == NULL) {
        snprintf(message, size, "%s: cannot read: %s", path, strerror(errno));
        return false;
    }
    const bool good = read_gpus(path, file, gpus, count, message, size);
    fclose(file);
    return good;
}
