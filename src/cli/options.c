// SPDX-License-Identifier: Apache-2.0
// Command lines by table; see options.h. No memory is allocated.
#include "cli/options.h"

#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LENGTH 64

// ---- numbers and lists -------------------------------------------------------------------------

bool options_real(const char* text, double* value) {
    char* end = NULL;
    if (text[0] == '\0' || strspn(text, " \t") > 0) return false;
    double x = strtod(text, &end);
    if (*end != '\0' || !isfinite(x)) return false;
    *value = x;
    return true;
}

bool options_integer(const char* text, int64_t* value) {
    char* end = NULL;
    if (text[0] == '\0' || strspn(text, " \t") > 0) return false;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    if (*end == '\0' && errno == 0) {
        *value = whole;
        return true;
    }
    double x = 0; // 1e6
    if (!options_real(text, &x) || x != floor(x) || fabs(x) > 9007199254740992.0) return false;
    *value = (int64_t)x;
    return true;
}

// Copy the part of *rest before the next comma; false at the end of the text or if it is too long.
static bool next_item(const char** rest, char* item, size_t size) {
    if (*rest == NULL) return false;
    size_t length = strcspn(*rest, ",");
    if (length >= size) return false;
    memcpy(item, *rest, length);
    item[length] = '\0';
    *rest = (*rest)[length] == ',' ? *rest + length + 1 : NULL;
    return true;
}

int32_t options_integers(const char* text, int32_t max, int64_t* values) {
    const char* rest = text;
    char item[NAME_MAX_LENGTH];
    int32_t count = 0;
    while (rest != NULL) {
        if (count == max || !next_item(&rest, item, sizeof(item))) return 0;
        if (!options_integer(item, &values[count]) || values[count] <= 0) return 0;
        count++;
    }
    return count;
}

int32_t options_reals(const char* text, int32_t max, double* values) {
    const char* rest = text;
    char item[NAME_MAX_LENGTH];
    int32_t count = 0;
    while (rest != NULL) {
        if (count == max || !next_item(&rest, item, sizeof(item))) return 0;
        if (!options_real(item, &values[count]) || values[count] <= 0) return 0;
        count++;
    }
    return count;
}

int32_t options_find_all(const char* text, int (*find)(const char*), int32_t max, int* values,
                         char* unknown, size_t size) {
    const char* rest = text;
    char item[NAME_MAX_LENGTH] = "";
    int32_t count = 0;
    while (rest != NULL) {
        const bool taken = next_item(&rest, item, sizeof(item));
        const int value = taken ? find(item) : -1;
        if (value < 0 || count == max) {
            snprintf(unknown, size, "%s", taken ? item : text);
            return 0;
        }
        values[count++] = value;
    }
    return count;
}

bool options_names(const char* text, const char* const* choices, bool* chosen, char* unknown,
                   size_t size) {
    const char* rest = text;
    char item[NAME_MAX_LENGTH] = "";
    for (int32_t i = 0; choices[i] != NULL; i++) chosen[i] = false;
    while (rest != NULL) {
        int32_t i = 0;
        const bool taken = next_item(&rest, item, sizeof(item));
        while (taken && choices[i] != NULL && strcmp(choices[i], item) != 0) i++;
        if (!taken || choices[i] == NULL) {
            snprintf(unknown, size, "%s", taken ? item : text);
            return false;
        }
        chosen[i] = true;
    }
    return true;
}

static bool parse_vector(const char* text, double* vector) {
    const char* rest = text;
    char item[NAME_MAX_LENGTH];
    double values[3];
    for (int k = 0; k < 3; k++) {
        if (!next_item(&rest, item, sizeof(item)) || !options_real(item, &values[k])) return false;
    }
    if (rest != NULL) return false;
    memcpy(vector, values, sizeof(values));
    return true;
}

// ---- near names --------------------------------------------------------------------------------

static int least(int a, int b) {
    return a < b ? a : b;
}

// Number of edits (insert, drop, replace, swap of neighbours) between two texts; for texts that are
// too long, the largest number.
static int edit_distance(const char* a, const char* b) {
    size_t n = strlen(a), m = strlen(b);
    if (n >= NAME_MAX_LENGTH || m >= NAME_MAX_LENGTH) return NAME_MAX_LENGTH;
    int rows[3][NAME_MAX_LENGTH + 1];
    for (size_t j = 0; j <= m; j++) rows[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        const int *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        int* row = rows[i % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int change = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(last[j], row[j - 1]) + 1);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char* options_nearest(const char* text, const char* const* candidates) {
    const char* nearest = NULL;
    int length = (int)strlen(text);
    int limit = length < 3 ? 1 : 1 + length / 4; // edits that still count as near
    if (limit > length - 1) limit = length - 1;
    for (int i = 0; candidates[i] != NULL; i++) {
        int distance = edit_distance(text, candidates[i]);
        bool begins = length >= 3 && strncmp(text, candidates[i], (size_t)length) == 0;
        if (begins && distance > limit) distance = limit;
        if (distance < limit || (distance == limit && nearest == NULL)) {
            limit = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

// ---- parsing -----------------------------------------------------------------------------------

static option_result say_unknown(const option_command* command, const char* given, char* message,
                                 size_t size) {
    const char* names[NAME_MAX_LENGTH];
    int32_t count = 0;
    for (int32_t i = 0; i < command->option_count && count < NAME_MAX_LENGTH - 2; i++) {
        names[count++] = command->options[i].name;
    }
    names[count++] = "help";
    names[count] = NULL;
    char bare[NAME_MAX_LENGTH];
    const char* start = given + strspn(given, "-");
    size_t length = strcspn(start, "=");
    if (length >= sizeof(bare)) length = sizeof(bare) - 1;
    memcpy(bare, start, length);
    bare[length] = '\0';
    const char* near = options_nearest(bare, names);
    int shown = (int)strcspn(given, "=");
    if (near != NULL) {
        snprintf(message, size, "unknown option '%.*s': did you mean '--%s'?", shown, given, near);
    } else {
        snprintf(message, size, "unknown option '%.*s'", shown, given);
    }
    return OPTIONS_BAD;
}

static const char* range_text(option_range range) {
    switch (range) {
    case OPTION_POSITIVE:
        return " > 0";
    case OPTION_NOT_NEGATIVE:
        return " >= 0";
    default:
        return "";
    }
}

static bool in_range(option_range range, double x) {
    return range == OPTION_ANY || x > 0 || (range == OPTION_NOT_NEGATIVE && x == 0);
}

static option_result set_integer(const option* o, const char* text, char* message, size_t size) {
    int64_t value = 0;
    if (!options_integer(text, &value) || !in_range(o->range, (double)value)) {
        snprintf(message, size, "--%s: expected an integer%s, got '%s'", o->name,
                 range_text(o->range), text);
        return OPTIONS_BAD;
    }
    if (o->max > 0 && value > o->max) {
        snprintf(message, size, "--%s: at most %lld, got '%s'", o->name, (long long)o->max, text);
        return OPTIONS_BAD;
    }
    *o->to.integer = value;
    return OPTIONS_OK;
}

static option_result set_real(const option* o, const char* text, char* message, size_t size) {
    double value = 0;
    if (!options_real(text, &value) || !in_range(o->range, value)) {
        snprintf(message, size, "--%s: expected a number%s, got '%s'", o->name,
                 range_text(o->range), text);
        return OPTIONS_BAD;
    }
    *o->to.real = value;
    return OPTIONS_OK;
}

static option_result set_choice(const option* o, const char* text, char* message, size_t size) {
    for (int i = 0; o->choices[i] != NULL; i++) {
        if (strcmp(o->choices[i], text) == 0) {
            *o->to.choice = i;
            return OPTIONS_OK;
        }
    }
    const int other = o->find != NULL ? o->find(text) : -1;
    if (other >= 0) {
        *o->to.choice = other;
        return OPTIONS_OK;
    }
    int used = snprintf(message, size, "--%s: '%s' is none of", o->name, text);
    for (int i = 0; o->choices[i] != NULL && used >= 0 && (size_t)used < size; i++) {
        used +=
            snprintf(message + used, size - (size_t)used, "%s %s", i > 0 ? "," : "", o->choices[i]);
    }
    return OPTIONS_BAD;
}

static option_result add_text(const option* o, const char* text, char* message, size_t size) {
    option_texts* texts = o->to.texts;
    if (texts->count == OPTION_TEXTS_MAX) {
        snprintf(message, size, "--%s: given more than %d times", o->name, OPTION_TEXTS_MAX);
        return OPTIONS_BAD;
    }
    texts->items[texts->count++] = text;
    return OPTIONS_OK;
}

static option_result set_value(const option* o, const char* text, char* message, size_t size) {
    switch (o->kind) {
    case OPTION_INTEGER:
        return set_integer(o, text, message, size);
    case OPTION_REAL:
        return set_real(o, text, message, size);
    case OPTION_CHOICE:
        return set_choice(o, text, message, size);
    case OPTION_TEXTS:
        return add_text(o, text, message, size);
    case OPTION_VECTOR:
        if (parse_vector(text, o->to.real)) return OPTIONS_OK;
        snprintf(message, size, "--%s: expected three numbers x,y,z, got '%s'", o->name, text);
        return OPTIONS_BAD;
    default:
        if (text[0] == '\0') {
            snprintf(message, size, "--%s: expected %s, got nothing", o->name, o->value);
            return OPTIONS_BAD;
        }
        *o->to.text = text;
        return OPTIONS_OK;
    }
}

// Find the option that the word `given` names, and the value after '=' if there is one.
static const option* find_option(const option_command* command, const char* given,
                                 const char** value) {
    *value = NULL;
    for (int32_t i = 0; i < command->option_count; i++) {
        const option* o = &command->options[i];
        if (given[1] != '-') {
            if (o->letter != 0 && given[1] == o->letter && given[2] == '\0') return o;
            continue;
        }
        size_t length = strlen(o->name);
        if (strncmp(given + 2, o->name, length) != 0) continue;
        if (given[2 + length] == '=') *value = given + 2 + length + 1;
        if (given[2 + length] == '=' || given[2 + length] == '\0') return o;
    }
    return NULL;
}

// Take the option argv[*i] and its value; *i moves to the last word used.
static option_result parse_option(const option_command* command, int argc, char** argv, int* i,
                                  char* message, size_t size) {
    const char* value = NULL;
    const option* o = find_option(command, argv[*i], &value);
    if (o == NULL) return say_unknown(command, argv[*i], message, size);
    if (o->given != NULL) *o->given = true;
    if (o->kind == OPTION_FLAG) {
        if (value != NULL) {
            snprintf(message, size, "--%s takes no value", o->name);
            return OPTIONS_BAD;
        }
        *o->to.flag = true;
        return OPTIONS_OK;
    }
    if (value == NULL) {
        bool missing = *i + 1 >= argc || strncmp(argv[*i + 1], "--", 2) == 0;
        if (missing) {
            snprintf(message, size, "--%s needs a value: --%s %s", o->name, o->name, o->value);
            return OPTIONS_BAD;
        }
        value = argv[++*i];
    }
    return set_value(o, value, message, size);
}

// Store a word as argument number `found`, or as one of the rest.
static option_result add_argument(const option_command* command, int32_t found, const char* word,
                                  char* message, size_t size) {
    if (found < command->argument_count) {
        command->arguments[found] = word;
        return OPTIONS_OK;
    }
    if (command->rest_name == NULL || command->rest->count == OPTION_TEXTS_MAX) {
        snprintf(message, size, "unexpected argument '%s'", word);
        return OPTIONS_BAD;
    }
    command->rest->items[command->rest->count++] = word;
    return OPTIONS_OK;
}

option_result options_parse(const option_command* command, int argc, char** argv, char* message,
                            size_t size) {
    int32_t found = 0;
    bool only_arguments = false;
    for (int i = 1; i < argc; i++) {
        const char* word = argv[i];
        if (!only_arguments && strcmp(word, "--") == 0) {
            only_arguments = true;
        } else if (!only_arguments && strcmp(word, "--help") == 0) {
            return OPTIONS_HELP;
        } else if (!only_arguments && word[0] == '-' && word[1] != '\0') {
            option_result result = parse_option(command, argc, argv, &i, message, size);
            if (result != OPTIONS_OK) return result;
        } else {
            option_result result = add_argument(command, found++, word, message, size);
            if (result != OPTIONS_OK) return result;
        }
    }
    bool alone = false;
    for (int i = 0; i < 2; i++) alone |= command->alone[i] != NULL && *command->alone[i];
    if (found < command->argument_count && !alone) {
        snprintf(message, size, "%s is missing", command->argument_names[found]);
        return OPTIONS_BAD;
    }
    return OPTIONS_OK;
}

// Set while options_visit runs a command.
static struct {
    void (*visit)(const option_command* command, void* context);
    void* context;
} visitor;

void options_visit(int (*run)(int argc, char** argv),
                   void (*visit)(const option_command* command, void* context), void* context) {
    char name[] = "";
    char* argv[] = {name, NULL};
    visitor.visit = visit;
    visitor.context = context;
    run(1, argv);
    visitor.visit = NULL;
}

bool options_start(const option_command* command, int argc, char** argv, int* exit_code) {
    char message[512];
    *exit_code = CLI_OK;
    if (visitor.visit != NULL) {
        visitor.visit(command, visitor.context);
        return false;
    }
    switch (options_parse(command, argc, argv, message, sizeof(message))) {
    case OPTIONS_OK:
        return true;
    case OPTIONS_HELP:
        options_print_help(command, stdout);
        return false;
    default:
        fprintf(stderr, "mabd %s: %s\nTry 'mabd %s --help'.\n", command->name, message,
                command->name);
        *exit_code = CLI_BAD_INPUT;
        return false;
    }
}

// ---- help --------------------------------------------------------------------------------------

static void print_option(const option* o, FILE* out) {
    char left[NAME_MAX_LENGTH];
    int used = o->letter != 0 ? snprintf(left, sizeof(left), "-%c, --%s", o->letter, o->name)
                              : snprintf(left, sizeof(left), "--%s", o->name);
    if (o->value != NULL && used > 0 && (size_t)used < sizeof(left)) {
        snprintf(left + used, sizeof(left) - (size_t)used, " %s", o->value);
    }
    fprintf(out, "  %-26s  %s", left, o->help);
    for (int i = 0; o->choices != NULL && o->choices[i] != NULL; i++) {
        fprintf(out, "%s%s", i > 0 ? ", " : ": ", o->choices[i]);
    }
    fputc('\n', out);
}

void options_print_help(const option_command* command, FILE* out) {
    fprintf(out, "Usage: mabd %s", command->name);
    for (int32_t i = 0; i < command->argument_count; i++) {
        fprintf(out, " %s", command->argument_names[i]);
    }
    if (command->rest_name != NULL) fprintf(out, " [%s...]", command->rest_name);
    fprintf(out, " [options]\n\n%s\n\nOptions:\n", command->about);
    for (int32_t i = 0; i < command->option_count; i++) print_option(&command->options[i], out);
    fprintf(out, "  %-26s  %s\n", "--help", "print this");
    if (command->notes[0] != '\0') fprintf(out, "\n%s\n", command->notes);
}
