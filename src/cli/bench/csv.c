// SPDX-License-Identifier: Apache-2.0
// Tables of results as files; see csv.h.
#include "cli/bench/csv.h"

#include "cli/cli.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

void csv_put_text(const char* text, FILE* out) {
    if (text[strcspn(text, ",\"\r\n#")] == '\0') {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
    }
    fputc('"', out);
}

int csv_write(const char* command, const char* path, void (*fill)(const void* report, FILE* out),
              const void* report) {
    char* text = NULL;
    size_t size = 0;
    char message[512];
    FILE* memory = open_memstream(&text, &size);
    if (memory != NULL) fill(report, memory);
    if (memory == NULL || fclose(memory) != 0) {
        free(text);
        fprintf(stderr, "mabd %s: out of memory\n", command);
        return CLI_FAILED;
    }
    const bool written = output_write(path, text, message, sizeof(message));
    free(text);
    if (written) return CLI_OK;
    fprintf(stderr, "mabd %s: %s\n", command, message);
    return CLI_CANNOT_WRITE;
}

// Read the field at *text in place; *text moves past its comma, or becomes null at the end of the
// line. A field in quotes may contain commas, and "" for a quote. Null if a quote is not closed.
static char* take_field(char** text) {
    char *from = *text, *to = *text, *const field = *text;
    if (*from != '"') {
        to = from += strcspn(from, ",");
    } else {
        for (from++; *from != '\0' && (*from != '"' || from[1] == '"'); from++) {
            from += *from == '"';
            *to++ = *from;
        }
        if (*from++ != '"') return NULL;
    }
    if (*from != ',' && *from != '\0') return NULL;
    *text = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return field;
}

int csv_split(char* text, int max, char** fields) {
    int count = 0;
    while (text != NULL && count < max) {
        fields[count] = take_field(&text);
        if (fields[count++] == NULL) return -1;
    }
    return text == NULL ? count : -1;
}
