// SPDX-License-Identifier: Apache-2.0
// Help texts of the whole command; see help.h.
#include "cli/help.h"

#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/man_page.h"

#include <string.h>

typedef struct help_options {
    bool man, completion_given;
    int shell;
    option_texts words;
} help_options;

#define X(name, text) text,
static const char* const SHELLS[] = {COMPLETION_SHELL_LIST(X) NULL};
#undef X

bool help_is_topic(const help_command* command) {
    return strchr(command->name, ' ') != NULL;
}

void help_visit(const help_commands* commands,
                void (*visit)(const option_command* command, void* context), void* context) {
    for (int32_t i = 0; i < commands->count; i++) {
        options_visit(commands->items[i].run, visit, context);
    }
}

void help_print(const help_commands* commands, FILE* out) {
    fprintf(out, "Usage: mabd COMMAND [options]\n\n"
                 "Simulates very large articulated systems with exact joints.\n\nCommands:\n");
    for (int32_t i = 0; i < commands->count; i++) {
        const help_command* command = &commands->items[i];
        if (!help_is_topic(command)) fprintf(out, "  %-8s  %s\n", command->name, command->about);
    }
    fprintf(out, "\nOptions:\n  --help     print this; mabd COMMAND --help describes a command\n"
                 "  --version  print the version\n\n"
                 "Environment:\n"
                 "  MABD_SCENE_PATH  directories with scenes, separated by colons; a scene is "
                 "found there by its name\n");
}

static bool parse(int argc, char** argv, help_options* o, int* code) {
    const option options[] = {
        option_flag("man", &o->man, "print the man page"),
        option_given(&o->completion_given, option_choice("completion", SHELLS, &o->shell,
                                                         "print the completion of a shell")),
    };
    const option_command command = {.name = "help",
                                    .about = "Describe the commands.",
                                    .rest_name = "COMMAND",
                                    .rest = &o->words,
                                    .option_count = sizeof(options) / sizeof(options[0]),
                                    .options = options,
                                    .notes = ""};
    return options_start(&command, argc, argv, code);
}

// `mabd help bench plot` is `mabd bench plot --help`.
static int describe(const help_commands* commands, const option_texts* words) {
    char name[128], help[] = "--help";
    snprintf(name, sizeof(name), "%s%s%s", words->items[0], words->count > 1 ? " " : "",
             words->count > 1 ? words->items[1] : "");
    for (int32_t i = 0; i < commands->count; i++) {
        if (strcmp(commands->items[i].name, name) != 0) continue;
        char* argv[] = {name, help, NULL};
        return commands->items[i].run(2, argv);
    }
    fprintf(stderr, "mabd help: unknown command '%s'\nTry 'mabd --help'.\n", name);
    return CLI_BAD_INPUT;
}

int help_run(const help_commands* commands, int argc, char** argv) {
    help_options o = {0};
    int code = CLI_OK;
    if (!parse(argc, argv, &o, &code)) return code;
    if (o.man) {
        man_page_print(commands, stdout);
    } else if (o.completion_given) {
        completion_print(commands, (completion_shell)o.shell, stdout);
    } else if (o.words.count > 0) {
        return describe(commands, &o.words);
    } else {
        help_print(commands, stdout);
    }
    return CLI_OK;
}
