// SPDX-License-Identifier: Apache-2.0
// `mabd bench`: picks what is measured. Topics that have a command line of their own stand in the table; all
// others time steps.
#include "cli/cli.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char* topic;
    int (*run)(int argc, char** argv);
} COMMANDS[] = {
    {"plot", command_bench_plot},
    {"broad", command_bench_broad},
    {"peers", command_bench_peers},
};

int command_bench(int argc, char** argv) {
    for (size_t i = 0; argc > 1 && i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
        if (strcmp(argv[1], COMMANDS[i].topic) == 0) return COMMANDS[i].run(argc - 1, argv + 1);
    }
    return command_bench_steps(argc, argv);
}
