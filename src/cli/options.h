// SPDX-License-Identifier: Apache-2.0
// Command lines by table: a command lists its options with targets and descriptions; parsing,
// checking, error texts, --help, the man page and completions are made from that list.
//   --name VALUE   --name=VALUE   -o VALUE   --flag   -- (the rest are arguments)
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPTION_TEXTS_MAX 256

/// Values of an option that may be repeated, in order. They point into argv.
typedef struct option_texts {
    int32_t count;
    const char* items[OPTION_TEXTS_MAX];
} option_texts;

typedef enum option_kind {
    OPTION_FLAG,    // no value; sets to.flag
    OPTION_TEXT,    // to.text
    OPTION_INTEGER, // to.integer; 1000000 or 1e6
    OPTION_REAL,    // to.real, finite
    OPTION_VECTOR,  // to.real (3), "x,y,z"
    OPTION_CHOICE,  // to.choice = index in choices
    OPTION_TEXTS,   // to.texts, may be repeated
} option_kind;

/// Accepted numbers.
typedef enum option_range {
    OPTION_ANY,
    OPTION_NOT_NEGATIVE,
    OPTION_POSITIVE,
} option_range;

typedef union option_target {
    bool* flag;
    const char** text;
    int64_t* integer;
    double* real;
    int* choice;
    option_texts* texts;
} option_target;

typedef struct option {
    const char* name; // long name without dashes
    char letter;      // short name, 0 = none
    option_kind kind;
    option_range range;         // of integers and reals
    int64_t max;                // largest integer, 0 = no limit
    const char* value;          // name of the value in --help, null for flags
    const char* const* choices; // (null-terminated) with OPTION_CHOICE
    int (*find)(const char*);   // index for other names of choices, -1 = none; may be null
    option_target to;
    bool* given; // set to true if the option was given; may be null
    const char* help;
} option;

// Entries of the table. `given` may be null; texts are those of `option`.
static inline option option_flag(const char* name, bool* to, const char* help) {
    return (option){.name = name, .kind = OPTION_FLAG, .to.flag = to, .help = help};
}

static inline option option_text(const char* name, const char* value, const char** to,
                                 const char* help) {
    return (option){.name = name, .kind = OPTION_TEXT, .value = value, .to.text = to, .help = help};
}

/// The entry with *given set to true if the option is given.
static inline option option_given(bool* given, option entry) {
    entry.given = given;
    return entry;
}

/// The entry with a short name in addition.
static inline option option_short(char letter, option entry) {
    entry.letter = letter;
    return entry;
}

static inline option option_list(const char* name, const char* value, option_texts* to,
                                 const char* help) {
    return (option){
        .name = name, .kind = OPTION_TEXTS, .value = value, .to.texts = to, .help = help};
}

static inline option option_choice(const char* name, const char* const* choices, int* to,
                                   const char* help) {
    return (option){.name = name,
                    .kind = OPTION_CHOICE,
                    .value = "NAME",
                    .choices = choices,
                    .to.choice = to,
                    .help = help};
}

/// A choice whose values have additional names: `find` returns their index, -1 for no name.
static inline option option_alias(int (*find)(const char*), option entry) {
    entry.find = find;
    return entry;
}

static inline option option_integer(const char* name, const char* value, option_range range,
                                    int64_t max, int64_t* to, bool* given, const char* help) {
    return (option){.name = name,
                    .kind = OPTION_INTEGER,
                    .range = range,
                    .max = max,
                    .value = value,
                    .to.integer = to,
                    .given = given,
                    .help = help};
}

static inline option option_real(const char* name, const char* value, option_range range,
                                 double* to, bool* given, const char* help) {
    return (option){.name = name,
                    .kind = OPTION_REAL,
                    .range = range,
                    .value = value,
                    .to.real = to,
                    .given = given,
                    .help = help};
}

/// --young of the commands that load a scene; *young stays 0 if it is not given.
static inline option option_young(double* young) {
    return option_real("young", "PA", OPTION_POSITIVE, young, NULL,
                       "Young's modulus of bodies without their own [Pa] (default: the scene's, "
                       "else 2e11)");
}

static inline option option_vector(const char* name, double* to, bool* given, const char* help) {
    return (option){.name = name,
                    .kind = OPTION_VECTOR,
                    .value = "X,Y,Z",
                    .to.real = to,
                    .given = given,
                    .help = help};
}

/// A command. All its arguments are required; further ones are stored in `rest`.
typedef struct option_command {
    const char* name;  // "run"
    const char* about; // one line
    int32_t argument_count;
    const char* const* argument_names; // (argument_count), "SCENE"
    const char** arguments;            // (argument_count), filled by options_parse
    const bool* alone[2];              // flags that make them optional, null = none
    const char* rest_name;             // "FILE"; null = no further arguments
    option_texts* rest;                // filled by options_parse, with rest_name
    int32_t option_count;
    const option* options; // (option_count)
    const char* notes;     // end of --help, may be ""
} option_command;

typedef enum option_result { OPTIONS_OK, OPTIONS_HELP, OPTIONS_BAD } option_result;

/// Parse argv[1 .. argc-1]. Returns OPTIONS_HELP at the first --help. OPTIONS_BAD: message (size
/// bytes) describes the error in one line without full stop. Values point into argv.
option_result options_parse(const option_command* command, int argc, char** argv, char* message,
                            size_t size);
/// Parse the command line. Returns true if the command should run. On --help or an error, print the
/// help or the message and set *exit_code (0 or 2).
bool options_start(const option_command* command, int argc, char** argv, int* exit_code);
/// Call `visit` with the table of the command that `run` parses, instead of running it. `run` gets
/// no arguments and must call options_start before it does anything else.
void options_visit(int (*run)(int argc, char** argv),
                   void (*visit)(const option_command* command, void* context), void* context);
/// Print the usage, arguments and options of a command.
void options_print_help(const option_command* command, FILE* out);

/// Parse a whole text as a finite number; false if it is none.
bool options_real(const char* text, double* value);
/// Parse a whole text as an integer, "1000000" or "1e6"; false if it is none.
bool options_integer(const char* text, int64_t* value);
/// Parse a list "1,2,3" of at most `max` integers > 0; returns their number, 0 if it is no such
/// list.
int32_t options_integers(const char* text, int32_t max, int64_t* values);
/// Parse a list "0.1,0.01" of at most `max` numbers > 0; returns their number, 0 if it is no such
/// list.
int32_t options_reals(const char* text, int32_t max, double* values);
/// Parse a list "a,b" of at most `max` names, in order: values[i] = find(name). Returns their
/// number, 0 if `find` returns -1 for a name or there are too many; unknown (size bytes) gets it.
int32_t options_find_all(const char* text, int (*find)(const char*), int32_t max, int* values,
                         char* unknown, size_t size);
/// Parse a list "a,b" of names: chosen[i] is true for each choice (null-terminated list) in it.
/// Returns false if a name is no choice; unknown (size bytes) gets it.
bool options_names(const char* text, const char* const* choices, bool* chosen, char* unknown,
                   size_t size);
/// Find the candidate (null-terminated list) nearest to text by edit distance; null if none is
/// near.
const char* options_nearest(const char* text, const char* const* candidates);
