// SPDX-License-Identifier: Apache-2.0
// Queries of the operating system; see system.h.
#include "cli/system.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void system_tune_malloc(void) {
#ifdef __GLIBC__
    mallopt(M_MXFAST, 0);
#endif
}

double system_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double system_processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Read the first number of a file; SIZE_MAX if there is none ("max").
static size_t read_limit(const char* path) {
    FILE* file = fopen(path, "r");
    if (file == NULL) return SIZE_MAX;
    unsigned long long value = 0;
    int found = fscanf(file, "%llu", &value);
    fclose(file);
    return found == 1 && value > 0 && value < SIZE_MAX ? (size_t)value : SIZE_MAX;
}

size_t system_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    size_t memory = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX;
    const char* limits[] = {"/sys/fs/cgroup/memory.max",
                            "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        size_t limit = read_limit(limits[i]);
        if (limit < memory) memory = limit;
    }
    return memory;
}

size_t system_peak_resident(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (size_t)usage.ru_maxrss * 1024; // Linux counts kilobytes
}

size_t system_largest_cache(void) {
    size_t largest = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const int levels[] = {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE};
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        long bytes = sysconf(levels[i]);
        if (bytes > 0 && (size_t)bytes > largest) largest = (size_t)bytes;
    }
#endif
    return largest;
}

// Read the value of the first "model name" line; false if there is none, as on some architectures.
static bool read_processor(char* text, size_t size) {
    FILE* file = fopen("/proc/cpuinfo", "r");
    if (file == NULL) return false;
    char line[256];
    bool found = false;
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "model name", 10) != 0) continue;
        const char* value = strchr(line, ':');
        if (value == NULL) continue;
        value += 1 + strspn(value + 1, " \t");
        snprintf(text, size, "%.*s", (int)strcspn(value, "\n"), value);
        found = true;
    }
    fclose(file);
    return found;
}

int system_processors(void) {
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

const char* system_machine(char* text, size_t size) {
    struct utsname name;
    if (!read_processor(text, size)) {
        snprintf(text, size, "%s", uname(&name) == 0 ? name.machine : "unknown processor");
    }
    size_t used = strlen(text);
    snprintf(text + used, size - used, " x %d", system_processors());
    return text;
}

const char* system_program_folder(char* text, size_t size) {
    const ssize_t length = readlink("/proc/self/exe", text, size);
    if (length > 0 && (size_t)length < size) {
        text[length] = '\0';
        char* slash = strrchr(text, '/');
        if (slash != NULL) *slash = '\0';
        return text;
    }
    snprintf(text, size, ".");
    return text;
}

const char* system_format_bytes(double bytes, char* text, size_t size) {
    const char* units[] = {"B", "kB", "MB", "GB", "TB"};
    size_t k = 0;
    while (bytes >= 1000 && k + 1 < sizeof(units) / sizeof(units[0])) {
        bytes /= 1000;
        k++;
    }
    snprintf(text, size, bytes < 10 && k > 0 ? "%.2f %s" : "%.0f %s", bytes, units[k]);
    return text;
}
