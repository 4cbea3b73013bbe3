// SPDX-License-Identifier: Apache-2.0
// The command `mabd`: picks one of the commands of cli.h.
#include "cli/cli.h"
#include "cli/options.h"
#include "mabd/base.h"

#include <signal.h>
#include <string.h>

typedef struct command {
    const char* name;
    int (*run)(int argc, char** argv);
    const char* about;
} command;

static const command COMMANDS[] = {
    {"run", command_run, "simulate a scene"},
    {"batch", command_batch, "simulate many copies of a scene as one problem"},
    {"info", command_info, "what a scene holds: bodies, joints, rows, memory, parameters"},
    {"render", command_render, "draw a frame of a recording as a PNG picture"},
    {"bench", command_bench, "measure speed"},
};
#define COMMAND_COUNT (sizeof(COMMANDS) / sizeof(COMMANDS[0]))

static void print_help(FILE* out) {
    fprintf(out, "Usage: mabd COMMAND [options]\n\n"
                 "Simulates very large articulated systems with exact joints.\n\nCommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-8s  %s\n", COMMANDS[i].name, COMMANDS[i].about);
    }
    fprintf(out, "\nOptions:\n  --help     print this; mabd COMMAND --help tells more\n"
                 "  --version  print the version\n");
}

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
        print_help(stderr);
        return CLI_BAD_INPUT;
    }
    const char* name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
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
    signal(SIGXFSZ,
           SIG_IGN); // a limit on file sizes is a failed write, exit code 4, and not a kill
#endif
    int code = dispatch(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "mabd: cannot write to standard output\n");
    return code == CLI_OK ? CLI_CANNOT_WRITE : code;
}
