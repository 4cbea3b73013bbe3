// SPDX-License-Identifier: Apache-2.0
// Queries of the operating system: time, memory, name of the machine.
#pragma once

#include <stddef.h>

/// Time of the monotonic wall clock [s].
double system_seconds(void);
/// Processor time of this process, over all its threads [s].
double system_processor_seconds(void);
/// Bytes that a process may use: physical memory, or the limit of its control group if that is
/// less. SIZE_MAX if it is unknown.
size_t system_memory(void);
/// Peak resident bytes of this process.
size_t system_peak_resident(void);
/// Bytes of the largest cache level; 0 if it is unknown.
size_t system_largest_cache(void);
/// Number of processors that are online, at least 1.
int system_processors(void);
/// Write the processor model and count as one line ("... x 8"). Returns text.
const char* system_machine(char* text, size_t size);
/// Write the folder of the running program, without a final slash; "." if it is unknown. Returns
/// text.
const char* system_program_folder(char* text, size_t size);
/// Tune malloc for scene files: JSON is millions of small blocks, and with lists of free small
/// blocks every large allocation of glibc merges them, 17 % of the time to read 100 MB.
void system_tune_malloc(void);
/// Format bytes, such as "12.3 MB". Returns text.
const char* system_format_bytes(double bytes, char* text, size_t size);
