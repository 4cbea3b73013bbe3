// SPDX-License-Identifier: Apache-2.0
// Completion of command lines by shells; see completion.h.
//
// In all scripts the key of a line is its command ("run"), or its command and topic ("bench plot").
#include "cli/completion.h"

#include <string.h>

// True if the value of an option is the name of a file or directory.
static bool takes_file(const option* o) {
    return o->value != NULL &&
           (strstr(o->value, "FILE") != NULL || strstr(o->value, "DIR") != NULL);
}

// The word of a topic, the name of a command.
static const char* last_word(const char* name) {
    const char* space = strchr(name, ' ');
    return space != NULL ? space + 1 : name;
}

// True if `topic` is a topic of `command`.
static bool is_topic_of(const help_command* topic, const help_command* command) {
    const size_t length = strlen(command->name);
    return strncmp(topic->name, command->name, length) == 0 && topic->name[length] == ' ';
}

static bool has_topics(const help_commands* commands, const help_command* command) {
    for (int32_t i = 0; i < commands->count; i++) {
        if (is_topic_of(&commands->items[i], command)) return true;
    }
    return false;
}

static void print_choices(const option* o, FILE* out) {
    for (int i = 0; o->choices[i] != NULL; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", o->choices[i]);
}

// Print the names of commands, or the topics of `of`, separated by blanks.
static void print_names(const help_commands* commands, const help_command* of, FILE* out) {
    const char* before = "";
    for (int32_t i = 0; i < commands->count; i++) {
        const help_command* command = &commands->items[i];
        const bool listed = of == NULL ? !help_is_topic(command) : is_topic_of(command, of);
        if (!listed) continue;
        fprintf(out, "%s%s", before, last_word(command->name));
        before = " ";
    }
}

// Print the words after which a line has a topic: "bench plot" | "bench broad".
static void print_topic_keys(const help_commands* commands, FILE* out) {
    const char* before = "";
    for (int32_t i = 0; i < commands->count; i++) {
        if (!help_is_topic(&commands->items[i])) continue;
        fprintf(out, "%s\"%s\"", before, commands->items[i].name);
        before = " | ";
    }
}

// ---- bash --------------------------------------------------------------------------------------

static void bash_values(const option_command* command, void* context) {
    FILE* out = context;
    for (int32_t i = 0; i < command->option_count; i++) {
        const option* o = &command->options[i];
        if (o->kind == OPTION_FLAG) continue;
        fprintf(out, "    \"%s --%s\"", command->name, o->name);
        if (o->letter != 0) fprintf(out, " | \"%s -%c\"", command->name, o->letter);
        if (o->choices != NULL) {
            fputs(") COMPREPLY=($(compgen -W \"", out);
            print_choices(o, out);
            fputs("\" -- \"$cur\")); return ;;\n", out);
        } else if (takes_file(o)) {
            fputs(") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", out);
        } else {
            fputs(") return ;;\n", out);
        }
    }
}

static void bash_options(const option_command* command, void* context) {
    FILE* out = context;
    fprintf(out, "    \"%s\") options=\"", command->name);
    for (int32_t i = 0; i < command->option_count; i++) {
        fprintf(out, "--%s ", command->options[i].name);
    }
    fputs("--help\" ;;\n", out);
}

static void print_bash(const help_commands* commands, FILE* out) {
    fputs("# bash completion of mabd\n"
          "_mabd() {\n"
          "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
          "    local key=\"${COMP_WORDS[1]}\" options=\"\" topics=\"\"\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          out);
    print_names(commands, NULL, out);
    fputs(" help --help --version\" -- \"$cur\"))\n        return\n    fi\n"
          "    if [ \"$COMP_CWORD\" -gt 2 ]; then\n"
          "        case \"$key ${COMP_WORDS[2]}\" in\n        ",
          out);
    print_topic_keys(commands, out);
    fputs(") key=\"$key ${COMP_WORDS[2]}\" ;;\n        esac\n    fi\n"
          "    case \"$key $prev\" in\n",
          out);
    help_visit(commands, bash_values, out);
    fputs("    esac\n    case \"$key\" in\n", out);
    help_visit(commands, bash_options, out);
    fputs("    esac\n", out);
    for (int32_t i = 0; i < commands->count; i++) {
        if (!has_topics(commands, &commands->items[i])) continue;
        fprintf(out, "    [ \"$key $COMP_CWORD\" = \"%s 2\" ] && topics=\"",
                commands->items[i].name);
        print_names(commands, &commands->items[i], out);
        fputs("\"\n", out);
    }
    fputs("    case \"$cur\" in\n"
          "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
          "    *) COMPREPLY=($(compgen -W \"$topics\" -- \"$cur\") $(compgen -f -- \"$cur\")) ;;\n"
          "    esac\n}\ncomplete -o filenames -F _mabd mabd\n",
          out);
}

// ---- zsh ---------------------------------------------------------------------------------------

// Print a text inside single quotes, with `special` characters escaped by a backslash.
static void print_quoted(const char* text, const char* special, FILE* out) {
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
        } else {
            if (strchr(special, *text) != NULL) fputc('\\', out);
            fputc(*text, out);
        }
    }
}

static void zsh_option(const option* o, const char* name, FILE* out) {
    fprintf(out, "            '%s%s[", o->kind == OPTION_TEXTS ? "*" : "", name);
    print_quoted(o->help, "[]:\\", out);
    fputc(']', out);
    if (o->kind != OPTION_FLAG) {
        fputc(':', out);
        print_quoted(o->value, "[]:\\", out);
        fputc(':', out);
        if (o->choices != NULL) {
            fputc('(', out);
            print_choices(o, out);
            fputc(')', out);
        } else if (takes_file(o)) {
            fputs("_files", out);
        }
    }
    fputs("' \\\n", out);
}

static void zsh_command(const option_command* command, void* context) {
    FILE* out = context;
    char name[64];
    fprintf(out, "    \"%s\")\n        _arguments -S \\\n", command->name);
    for (int32_t i = 0; i < command->option_count; i++) {
        const option* o = &command->options[i];
        snprintf(name, sizeof(name), "--%s", o->name);
        zsh_option(o, name, out);
        snprintf(name, sizeof(name), "-%c", o->letter);
        if (o->letter != 0) zsh_option(o, name, out);
    }
    fputs("            '--help[print the options of the command]' \\\n            '*:file:_files'\n"
          "        ;;\n",
          out);
}

// Print commands, or the topics of `of`, as 'name:about'.
static void zsh_names(const help_commands* commands, const help_command* of, FILE* out) {
    for (int32_t i = 0; i < commands->count; i++) {
        const help_command* command = &commands->items[i];
        const bool listed = of == NULL ? !help_is_topic(command) : is_topic_of(command, of);
        if (!listed) continue;
        fprintf(out, "\n        '%s:", last_word(command->name));
        print_quoted(command->about, ":\\", out);
        fputc('\'', out);
    }
}

// The topics of each command that has some, offered as its first word.
static void zsh_topics(const help_commands* commands, FILE* out) {
    fputs("    if (( CURRENT == 3 )); then\n        case \"$key\" in\n", out);
    for (int32_t i = 0; i < commands->count; i++) {
        if (!has_topics(commands, &commands->items[i])) continue;
        fprintf(out, "        \"%s\") topics=(", commands->items[i].name);
        zsh_names(commands, &commands->items[i], out);
        fputs(") ;;\n", out);
    }
    fputs("        \"help\") topics=($commands[1,-2]) ;;\n        esac\n"
          "        (( $#topics )) && _describe -t topics topic topics\n    else\n"
          "        case \"$key $words[3]\" in\n        ",
          out);
    print_topic_keys(commands, out);
    fputs(")\n            key=\"$key $words[3]\"\n            shift words\n"
          "            (( CURRENT-- ))\n            ;;\n        esac\n    fi\n",
          out);
}

// zsh runs the file as the body of _mabd at the first completion: it defines _mabd and calls it.
static void print_zsh(const help_commands* commands, FILE* out) {
    fputs("#compdef mabd\n_mabd() {\n    local -a commands options topics\n    commands=(", out);
    zsh_names(commands, NULL, out);
    fputs("\n        'help:describe the commands'\n    )\n"
          "    options=('--help:print the commands' '--version:print the version')\n"
          "    if (( CURRENT == 2 )); then\n        _describe -t commands command commands\n"
          "        _describe -o -t options option options\n        return\n    fi\n"
          "    local key=\"$words[2]\"\n",
          out);
    zsh_topics(commands, out);
    fputs("    shift words\n    (( CURRENT-- ))\n    case \"$key\" in\n", out);
    help_visit(commands, zsh_command, out);
    fputs("    esac\n}\nif [[ \"$funcstack[1]\" = _mabd ]]; then\n    _mabd \"$@\"\nelse\n"
          "    compdef _mabd mabd\nfi\n",
          out);
}

// ---- fish --------------------------------------------------------------------------------------

// Print a text inside single quotes of fish.
static void print_fish_quoted(const char* text, FILE* out) {
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\') fputc('\\', out);
        fputc(*text, out);
    }
}

static void fish_command(const option_command* command, void* context) {
    FILE* out = context;
    for (int32_t i = 0; i < command->option_count; i++) {
        const option* o = &command->options[i];
        fprintf(out, "complete -c mabd -n '__mabd_is \"%s\"' -l %s", command->name, o->name);
        if (o->letter != 0) fprintf(out, " -s %c", o->letter);
        if (o->choices != NULL) {
            fputs(" -x -a '", out);
            print_choices(o, out);
            fputc('\'', out);
        } else if (o->kind != OPTION_FLAG) {
            fputs(takes_file(o) ? " -r -F" : " -x", out);
        }
        fputs(" -d '", out);
        print_fish_quoted(o->help, out);
        fputs("'\n", out);
    }
}

// __mabd_is KEY: the line has this command, or command and topic. __mabd_words N: it has N words
// before the current one.
static void fish_functions(const help_commands* commands, FILE* out) {
    fputs("# fish completion of mabd\n"
          "function __mabd_is\n    set -l words (commandline -opc)\n    set -l key $words[2]\n"
          "    if contains -- \"$words[2] $words[3]\"",
          out);
    for (int32_t i = 0; i < commands->count; i++) {
        if (help_is_topic(&commands->items[i])) fprintf(out, " '%s'", commands->items[i].name);
    }
    fputs("\n        set key \"$words[2] $words[3]\"\n    end\n    test \"$key\" = $argv[1]\nend\n"
          "function __mabd_words\n    test (count (commandline -opc)) -eq $argv[1]\nend\n",
          out);
}

static void print_fish(const help_commands* commands, FILE* out) {
    fish_functions(commands, out);
    for (int32_t i = 0; i < commands->count; i++) {
        const help_command* command = &commands->items[i];
        if (help_is_topic(command)) {
            fprintf(out, "complete -c mabd -n '__mabd_words 2; and __mabd_is %.*s'",
                    (int)strcspn(command->name, " "), command->name);
        } else {
            fputs("complete -c mabd -n '__mabd_words 1; or __mabd_is help' -f", out);
        }
        fprintf(out, " -a %s -d '", last_word(command->name));
        print_fish_quoted(command->about, out);
        fputs("'\n", out);
    }
    fputs("complete -c mabd -n '__mabd_words 1' -f -a help -d 'describe the commands'\n"
          "complete -c mabd -n '__mabd_words 1' -l version -d 'print the version'\n"
          "complete -c mabd -l help -d 'print the options'\n",
          out);
    help_visit(commands, fish_command, out);
}

void completion_print(const help_commands* commands, completion_shell shell, FILE* out) {
    switch (shell) {
    case COMPLETION_BASH:
        print_bash(commands, out);
        break;
    case COMPLETION_ZSH:
        print_zsh(commands, out);
        break;
    case COMPLETION_FISH:
        print_fish(commands, out);
        break;
    }
}
