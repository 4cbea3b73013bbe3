// SPDX-License-Identifier: Apache-2.0
// What the command asks the operating system: time, memory, the machine's name.
#pragma once

#include <stddef.h>

/// Monotonic wall clock [s].
double system_seconds(void);
/// Bytes a process may use: physical memory, or the limit of its control group if that is less. SIZE_MAX
/// if it is not known.
size_t system_memory(void);
/// Most bytes this process ever had resident.
size_t system_peak_resident(void);
/// Bytes of the largest cache level, 0 if it is not known.
size_t system_largest_cache(void);
/// Processors that are there to run threads, at least 1.
int system_processors(void);
/// Processor model and count, as one line ("... x 8"). Returns text.
const char* system_machine(char* text, size_t size);
/// Folder of the running program, without a slash at its end; "." if it is not known. Returns text.
const char* system_program_folder(char* text, size_t size);
/// "12.3 MB". Returns text.
const char* system_format_bytes(double bytes, char* text, size_t size);
