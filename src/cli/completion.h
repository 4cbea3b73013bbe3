// SPDX-License-Identifier: Apache-2.0
// Completion of command lines by shells.
#pragma once

#include "cli/help.h"

#define COMPLETION_SHELL_LIST(X)                                                                   \
    X(BASH, "bash")                                                                                \
    X(ZSH, "zsh")                                                                                  \
    X(FISH, "fish")

typedef enum completion_shell {
#define X(name, text) COMPLETION_##name,
    COMPLETION_SHELL_LIST(X)
#undef X
} completion_shell;

/// Print the script that teaches a shell the commands, their options and the choices of options.
void completion_print(const help_commands* commands, completion_shell shell, FILE* out);
