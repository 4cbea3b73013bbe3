// SPDX-License-Identifier: Apache-2.0
// Runs another program to its end; see child.h. Texts pass through unnamed files, so no pipe can
// fill and no file is left. The program inherits an alarm as its clock, so no waiting loop disturbs
// its timing.
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_START 127

// Sanitizers reserve more addresses than any machine has memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_MEMORY false
#else
#define LIMITS_MEMORY true
#endif

static void limit(const child_limits* limits) {
    signal(SIGALRM, SIG_DFL);
    if (limits->seconds > 0) alarm((unsigned)fmin(ceil(limits->seconds), 1e6));
    if (limits->bytes > 0 && LIMITS_MEMORY) {
        const struct rlimit bytes = {.rlim_cur = limits->bytes, .rlim_max = limits->bytes};
        setrlimit(RLIMIT_AS, &bytes);
    }
}

// Replace the new process by the program; does not return.
static void become(char* const* argv, FILE* in, FILE* out, FILE* errors,
                   const child_limits* limits) {
    const int nothing = open("/dev/null", O_RDONLY);
    const int from = in != NULL ? fileno(in) : nothing;
    if (from >= 0 && lseek(from, 0, SEEK_SET) >= 0 && dup2(from, STDIN_FILENO) >= 0 &&
        dup2(fileno(out), STDOUT_FILENO) >= 0 && dup2(fileno(errors), STDERR_FILENO) >= 0) {
        limit(limits);
        execvp(argv[0], argv);
    }
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(CANNOT_START);
}

// Read a whole file as text, to be freed; null if memory is short.
static char* read_all(FILE* file) {
    const long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char* text = end >= 0 ? malloc((size_t)end + 1) : NULL;
    if (text == NULL) return NULL;
    rewind(file);
    text[fread(text, 1, (size_t)end, file)] = '\0';
    return text;
}

static void read_line(FILE* file, char* line, size_t size) {
    rewind(file);
    if (fgets(line, (int)size, file) == NULL) line[0] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
}

static void wait_for(pid_t child, child_result* result) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return;
    }
    result->started = !(WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_START);
    if (WIFEXITED(status)) result->code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result->signal = WTERMSIG(status);
    result->timeout = result->signal == SIGALRM;
}

child_result child_run(char* const* argv, FILE* in, const child_limits* limits) {
    child_result result = {.code = -1};
    FILE *out = tmpfile(), *errors = tmpfile();
    const bool ready = out != NULL && errors != NULL && fflush(NULL) == 0;
    const pid_t child = ready ? fork() : -1;
    if (child == 0) become(argv, in, out, errors, limits);
    if (child > 0) {
        wait_for(child, &result);
        result.out = read_all(out);
        read_line(errors, result.errors, sizeof(result.errors));
    } else {
        snprintf(result.errors, sizeof(result.errors), "%s: %s", argv[0], strerror(errno));
    }
    if (out != NULL) fclose(out);
    if (errors != NULL) fclose(errors);
    return result;
}
