// SPDX-License-Identifier: Apache-2.0
// `mabd bench`: chooses the topic. Topics with their own command line are in the table; all others
// time steps.
#include "cli/bench/command_bench.h"
#include "cli/bench/bench_options.h"
#include "cli/cli.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char* topic;
    int (*run)(int argc, char** argv);
} COMMANDS[] = {
    {"plot", command_bench_plot},           {"broad", command_bench_broad},
    {"dual", command_bench_dual},           {"peers", command_bench_peers},
    {"work-precision", command_bench_work},
};

#define DEFAULT_TOPIC "chain" // with --backend

static bool has_topic(int argc, char** argv) {
    for (int i = 1; i < argc; i++) {
        if (bench_options_is_topic(argv[i])) return true;
    }
    return false;
}

// `mabd bench --backend cpu,cuda`: backends are compared on chains.
static int compare_backends(int argc, char** argv) {
    char topic[] = DEFAULT_TOPIC;
    char** longer = calloc((size_t)argc + 2, sizeof(*longer));
    if (longer == NULL) {
        fprintf(stderr, "mabd bench: out of memory\n");
        return CLI_FAILED;
    }
    longer[0] = argv[0], longer[1] = topic;
    memcpy(longer + 2, argv + 1, (size_t)(argc - 1) * sizeof(*longer));
    const int code = command_bench_steps(argc + 1, longer);
    free(longer);
    return code;
}

int command_bench(int argc, char** argv) {
    for (size_t i = 0; argc > 1 && i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
        if (strcmp(argv[1], COMMANDS[i].topic) == 0) return COMMANDS[i].run(argc - 1, argv + 1);
    }
    if (argc > 1 && strncmp(argv[1], "--backend", strlen("--backend")) == 0 &&
        !has_topic(argc, argv)) {
        return compare_backends(argc, argv);
    }
    return command_bench_steps(argc, argv);
}
