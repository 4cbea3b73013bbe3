// SPDX-License-Identifier: Apache-2.0
// `mabd bench broad`: times the broad phase of contacts and prints a table.
#include "cli/bench/bench_broad.h"
#include "cli/bench/command_bench.h"
#include "cli/cli.h"
#include "cli/options.h"

#define UPDATES 10 // timed in each repeat

int command_bench_broad(int argc, char** argv) {
    int code = CLI_OK;
    int64_t repeats = 3;
    const option options[] = {option_integer("repeat", "N", OPTION_POSITIVE, 1000, &repeats, NULL,
                                             "repeats of ten updates (default 3)")};
    const option_command command = {.name = "bench broad",
                                    .about = "Measure the broad phase of contacts.",
                                    .option_count = sizeof(options) / sizeof(options[0]),
                                    .options = options,
                                    .notes = ""};
    if (!options_start(&command, argc, argv, &code)) return code;
    const mabd_status status = bench_broad_report(stdout, UPDATES * (int32_t)repeats);
    if (status == MABD_OK) return CLI_OK;
    fprintf(stderr, "mabd bench broad: %s\n", mabd_status_text(status));
    return CLI_FAILED;
}
