// SPDX-License-Identifier: Apache-2.0
// Run the built command in a temporary directory and read its output.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/// How a command ended. Texts are valid until the next call of command_wait.
typedef struct command_result {
    int code;   // exit code, -1 if it was killed
    int signal; // signal that killed it, 0 = none
    const char* out;
    const char* err;
} command_result;

/// Make a temporary directory and change to it; a failure ends the test.
void sandbox_enter(void);
/// Remove the temporary directory with all its content.
void sandbox_leave(void);
/// Write a text file in the working directory.
void sandbox_write(const char* name, const char* text);
/// Read a text file of the working directory; valid until the next call.
const char* sandbox_read(const char* name);
bool sandbox_exists(const char* name);

/// Start `program` with the words of `line` (split at blanks). A word "@chain.json" becomes the
/// path of that file in scene_dir. Output goes to files in the working directory.
pid_t command_start(const char* program, const char* scene_dir, const char* line);
/// Wait for a started command and return its result.
command_result command_wait(pid_t child);

/// Start, or start and wait for, `mabd LINE` with the scenes of the source tree.
#define mabd_start(line) command_start(MABD_COMMAND, MABD_SOURCE_DIR "/scenes", line)
#define mabd_call(line)  command_wait(mabd_start(line))
