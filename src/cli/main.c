// SPDX-License-Identifier: Apache-2.0
// The command `mabd`: chooses one of the commands in the table.
#include "cli/bench/command_bench.h"
#include "cli/cli.h"
#include "cli/compare/command_compare.h"
#include "cli/gradient/command_gradient.h"
#include "cli/help.h"
#include "cli/system.h"
#include "mabd/base.h"

#include <signal.h>
#include <string.h>

static const help_command COMMANDS[] = {
    {"run", command_run, "simulate a scene"},
    {"batch", command_batch, "simulate many copies of a scene as one problem"},
    {"info", command_info, "describe a scene: bodies, joints, rows, memory, parameters"},
    {"compare", command_compare, "compare formulations, integrators and steps on one scene"},
    {"gradient", command_gradient, "differentiate a loss over a run by its parameters"},
    {"optimize", command_optimize, "find parameters that make a loss small"},
    {"sensitivity", command_sensitivity, "differentiate the motion of a scene by its motors"},
    {"render", command_render, "draw a frame of a recording as a PNG picture"},
    {"bench", command_bench, "measure speed"},
    {"bench plot", command_bench_plot, "draw tables of results"},
    {"bench broad", command_bench_broad, "measure the broad phase of contacts"},
    {"bench dual", command_bench_dual, "measure the solver of systems that are not symmetric"},
    {"bench peers", command_bench_peers, "run other engines on the same scenes"},
    {"bench work-precision", command_bench_work, "measure error against processor time"},
};
#define COMMAND_COUNT (sizeof(COMMANDS) / sizeof(COMMANDS[0]))

static const help_commands ALL = {COMMAND_COUNT, COMMANDS};

static int say_unknown(const char* name) {
    const char* names[COMMAND_COUNT + 1] = {NULL};
    for (size_t i = 0; i < COMMAND_COUNT; i++) names[i] = COMMANDS[i].name;
    const char* near = options_nearest(name, names);
    fprintf(stderr, "mabd: unknown command '%s'", name);
    if (near != NULL) fprintf(stderr, ": did you mean '%s'?", near);
    fprintf(stderr, "\nTry 'mabd --help'.\n");
    return CLI_BAD_INPUT;
}

static int dispatch(int argc, char** argv) {
    if (argc < 2) {
        help_print(&ALL, stderr);
        return CLI_BAD_INPUT;
    }
    const char* name = argv[1];
    if (strcmp(name, "help") == 0) return help_run(&ALL, argc - 1, argv + 1);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help_print(&ALL, stdout);
        return CLI_OK;
    }
    if (strcmp(name, "--version") == 0) {
        printf("mabd %s\n", mabd_version());
        return CLI_OK;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, COMMANDS[i].name) == 0) return COMMANDS[i].run(argc - 1, argv + 1);
    }
    return say_unknown(name);
}

int main(int argc, char** argv) {
#ifdef SIGXFSZ
    // a limit on file sizes is a failed write, exit code 4, and does not kill the process
    signal(SIGXFSZ, SIG_IGN);
#endif
    system_tune_malloc();
    int code = dispatch(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "mabd: cannot write to standard output\n");
    return code == CLI_OK ? CLI_CANNOT_WRITE : code;
}
