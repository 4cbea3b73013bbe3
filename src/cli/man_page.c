// SPDX-License-Identifier: Apache-2.0
// The man page; see man_page.h.
#include "cli/man_page.h"

#include "mabd/base.h"

#include <stdlib.h>
#include <string.h>

// Print text with the characters escaped that roff would read as its own. At the start of a line a
// dot or quote would be a request.
static void print_escaped(const char* text, size_t length, FILE* out) {
    for (size_t i = 0; i < length; i++) {
        const bool starts = i == 0 || text[i - 1] == '\n';
        if (starts && (text[i] == '.' || text[i] == '\'')) fputs("\\&", out);
        switch (text[i]) {
        case '\\':
            fputs("\\e", out);
            break;
        case '-':
            fputs("\\-", out);
            break;
        case '\'':
            fputs("\\(aq", out);
            break;
        case '`':
            fputs("\\(ga", out);
            break;
        case '^':
            fputs("\\(ha", out);
            break;
        case '~':
            fputs("\\(ti", out);
            break;
        default:
            fputc(text[i], out);
        }
    }
}

static void print_text(const char* text, FILE* out) {
    print_escaped(text, strlen(text), out);
}

static void print_option(const option* o, FILE* out) {
    fputs(".TP\n", out);
    if (o->letter != 0) fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", out);
    print_text(o->name, out);
    fputs("\\fR", out);
    if (o->value != NULL) {
        fputs(" \\fI", out);
        print_text(o->value, out);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    print_text(o->help, out);
    for (int i = 0; o->choices != NULL && o->choices[i] != NULL; i++) {
        fputs(i > 0 ? ", " : ": ", out);
        print_text(o->choices[i], out);
    }
    fputc('\n', out);
}

// Notes: paragraphs between blank lines; those of examples keep their lines.
static void print_notes(const char* notes, FILE* out) {
    while (*notes != '\0') {
        const char* end = strstr(notes, "\n\n");
        const size_t length = end != NULL ? (size_t)(end - notes) : strlen(notes);
        const bool example = strncmp(notes, "Example", 7) == 0;
        fputs(example ? ".PP\n.nf\n" : ".PP\n", out);
        print_escaped(notes, length, out);
        fputs(example ? "\n.fi\n" : "\n", out);
        notes += length + strspn(notes + length, "\n");
    }
}

static void print_command(const option_command* command, void* context) {
    FILE* out = context;
    fputs(".SS mabd ", out);
    print_text(command->name, out);
    for (int32_t i = 0; i < command->argument_count; i++) {
        fputc(' ', out);
        print_text(command->argument_names[i], out);
    }
    if (command->rest_name != NULL) {
        fputs(" [", out);
        print_text(command->rest_name, out);
        fputs("...]", out);
    }
    fputs(" [options]\n", out);
    print_text(command->about, out);
    fputc('\n', out);
    for (int32_t i = 0; i < command->option_count; i++) print_option(&command->options[i], out);
    fputs(".TP\n\\fB\\-\\-help\\fR\nprint the options of the command\n", out);
    print_notes(command->notes, out);
}

void man_page_print(const help_commands* commands, FILE* out) {
    fprintf(out, ".TH MABD 1 \"\" \"mabd %s\" \"User Commands\"\n.nh\n.ad l\n", mabd_version());
    fputs(".SH NAME\nmabd \\- " HELP_ABOUT "\n", out);
    fputs(".SH SYNOPSIS\n\\fBmabd\\fR \\fICOMMAND\\fR [options]\n", out);
    fputs(".SH DESCRIPTION\n.nf\n", out);
    char* text = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&text, &size);
    if (memory != NULL) {
        help_print(commands, memory);
        fclose(memory);
        print_text(text, out);
        free(text);
    }
    fputs(".fi\n.SH COMMANDS\n", out);
    help_visit(commands, print_command, out);
}
