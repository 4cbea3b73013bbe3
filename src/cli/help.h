// SPDX-License-Identifier: Apache-2.0
// Help texts of the whole command, all made from the option tables: `mabd --help`, `mabd help`, the
// man page and the completions of shells.
#pragma once

#include "cli/options.h"

/// A command of `mabd`, or a topic of one ("bench plot").
typedef struct help_command {
    const char* name;
    int (*run)(int argc, char** argv); // argv[0] is the last word of its name
    const char* about;                 // one line, lower case, without full stop
} help_command;

/// All commands, in the order in which they are listed.
typedef struct help_commands {
    int32_t count;
    const help_command* items; // (count)
} help_commands;

#define HELP_ABOUT "simulate very large articulated systems with exact joints"

/// True for a topic of another command: its name has two words.
bool help_is_topic(const help_command* command);
/// Call `visit` with the option table of each command, in order.
void help_visit(const help_commands* commands,
                void (*visit)(const option_command* command, void* context), void* context);
/// Print the commands and the options of `mabd` itself.
void help_print(const help_commands* commands, FILE* out);
/// `mabd help [COMMAND] [--man | --completion SHELL]`. Returns an exit code.
int help_run(const help_commands* commands, int argc, char** argv);
