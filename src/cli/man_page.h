// SPDX-License-Identifier: Apache-2.0
// The man page mabd(1), in the macros of man(7).
#pragma once

#include "cli/help.h"

/// Print the page: a section for each command with its options and notes.
void man_page_print(const help_commands* commands, FILE* out);
