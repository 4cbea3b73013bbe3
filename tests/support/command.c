// SPDX-License-Identifier: Apache-2.0
// Run the built command in a temporary directory; see command.h.
#include "support/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 64
#define TEXT_MAX  ((size_t)1 << 20)

static char directory[64];
static char out_text[TEXT_MAX], err_text[TEXT_MAX];

static void fail(const char* what) {
    perror(what);
    abort();
}

void sandbox_enter(void) {
    snprintf(directory, sizeof(directory), "/tmp/mabd-test-XXXXXX");
    if (mkdtemp(directory) == NULL || chdir(directory) != 0) fail(directory);
}

void sandbox_leave(void) {
    char line[128];
    snprintf(line, sizeof(line), "rm -rf '%s'", directory);
    if (chdir("/") != 0 || system(line) != 0) fail(directory);
}

void sandbox_write(const char* name, const char* text) {
    FILE* file = fopen(name, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) fail(name);
}

bool sandbox_exists(const char* name) {
    return access(name, F_OK) == 0;
}

static void redirect(const char* name, int to) {
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, to) < 0) fail(name);
    close(file);
}

// Split `line` into argv; all memory is kept until the process ends.
static void split(const char* scene_dir, const char* line, char** argv) {
    int count = 1;
    char* copy = strdup(line);
    for (char* word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        if (count + 1 == WORDS_MAX) abort();
        argv[count] = word;
        if (word[0] == '@') {
            size_t size = strlen(scene_dir) + strlen(word) + 1;
            argv[count] = malloc(size);
            if (argv[count] == NULL) fail("malloc");
            snprintf(argv[count], size, "%s/%s", scene_dir, word + 1);
        }
        count++;
    }
    argv[count] = NULL;
}

pid_t command_start(const char* program, const char* scene_dir, const char* line) {
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child > 0) return child;
    char* argv[WORDS_MAX] = {strdup(program)};
    split(scene_dir, line, argv);
    redirect("stdout.txt", STDOUT_FILENO);
    redirect("stderr.txt", STDERR_FILENO);
    execv(program, argv);
    fail(program);
    return -1;
}

static const char* read_text(const char* name, char* text) {
    FILE* file = fopen(name, "r");
    if (file == NULL) fail(name);
    size_t length = fread(text, 1, TEXT_MAX - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

const char* sandbox_read(const char* name) {
    static char text[TEXT_MAX];
    return read_text(name, text);
}

command_result command_wait(pid_t child) {
    int status = 0;
    if (waitpid(child, &status, 0) != child) fail("waitpid");
    return (command_result){.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                            .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                            .out = read_text("stdout.txt", out_text),
                            .err = read_text("stderr.txt", err_text)};
}
