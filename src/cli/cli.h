// SPDX-License-Identifier: Apache-2.0
// The commands and what they return to the shell.
#pragma once

/// Exit codes of every command.
typedef enum cli_exit {
    CLI_OK = 0,
    CLI_BAD_INPUT = 2,    // usage, scene, recording or checkpoint
    CLI_FAILED = 3,       // the simulation failed, or would not fit into memory
    CLI_CANNOT_WRITE = 4, // disk full, no permission
    CLI_INTERRUPTED = 128 // plus the number of the signal
} cli_exit;

/// Each command gets its own name as argv[0] ("run") and returns an exit code.
int command_run(int argc, char** argv);
int command_batch(int argc, char** argv);
int command_info(int argc, char** argv);
int command_render(int argc, char** argv);
int command_bench(int argc, char** argv);
/// Topics of `mabd bench` with a command line of their own; called with "plot", "broad", "peers" as argv[0].
int command_bench_plot(int argc, char** argv);
int command_bench_broad(int argc, char** argv);
int command_bench_peers(int argc, char** argv);
/// `mabd bench chain|tree|net|robots|scene`; called with "bench" as argv[0].
int command_bench_steps(int argc, char** argv);
