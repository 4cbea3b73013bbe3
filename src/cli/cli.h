// SPDX-License-Identifier: Apache-2.0
// The commands and their exit codes.
#pragma once

/// Exit codes of every command.
typedef enum cli_exit {
    CLI_OK = 0,
    CLI_BAD_INPUT = 2,    // usage, scene, recording or checkpoint
    CLI_FAILED = 3,       // the simulation failed or does not fit into memory
    CLI_CANNOT_WRITE = 4, // disk full, no permission
    CLI_INTERRUPTED = 128 // plus the number of the signal
} cli_exit;

/// Each command gets its own name as argv[0] ("run") and returns an exit code.
int command_run(int argc, char** argv);
int command_batch(int argc, char** argv);
int command_info(int argc, char** argv);
int command_render(int argc, char** argv);
