// SPDX-License-Identifier: Apache-2.0
// Tests for src/cli/options.c: every kind of option, every usage error, suggestions and help.
#include "cli/options.c"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

// One command with an option of each kind, and where their values go.
typedef struct parsed {
    const char* arguments[2];
    bool quiet, time_given;
    const char* out;
    int64_t steps, threads;
    double time, h, camera[3];
    int preset;
    option_texts settings;
    option_result result;
    char message[256];
} parsed;

static const char* const PRESETS[] = {"fast", "balanced", "exact", NULL};
static const char* const NAMES[] = {"SCENE", "OTHER"};

static void with_command(parsed* p, int32_t argument_count,
                         void (*use)(const option_command*, void*), void* context) {
    const option options[] = {
        option_flag("quiet", &p->quiet, "errors only"),
        option_short('o', option_text("out", "FILE", &p->out, "output")),
        option_integer("steps", "N", OPTION_NOT_NEGATIVE, 0, &p->steps, NULL, "steps"),
        option_integer("threads", "N", OPTION_POSITIVE, 64, &p->threads, NULL, "threads"),
        option_real("time", "T", OPTION_NOT_NEGATIVE, &p->time, &p->time_given, "end [s]"),
        option_real("h", "H", OPTION_POSITIVE, &p->h, NULL, "step [s]"),
        option_vector("camera", p->camera, NULL, "eye [m]"),
        option_choice("preset", PRESETS, &p->preset, "tolerances"),
        option_list("set", "NAME=VALUE", &p->settings, "parameter"),
    };
    const option_command command = {.name = "try",
                                    .about = "Try the parser.",
                                    .argument_count = argument_count,
                                    .argument_names = NAMES,
                                    .arguments = p->arguments,
                                    .option_count = sizeof(options) / sizeof(options[0]),
                                    .options = options,
                                    .notes = "The end."};
    use(&command, context);
}

typedef struct words {
    parsed* p;
    int argc;
    char* argv[400];
} words;

static void use_parse(const option_command* command, void* context) {
    words* w = context;
    w->p->result = options_parse(command, w->argc, w->argv, w->p->message, sizeof(w->p->message));
}

// Parse a line split at blanks, for a command with one argument.
static parsed* parse_line(const char* line) {
    static parsed p;
    static char copy[512];
    static words w;
    memset(&p, 0, sizeof(p));
    w = (words){.p = &p, .argc = 1};
    w.argv[0] = copy + sizeof(copy) - 1;
    snprintf(copy, sizeof(copy) - 1, "%s", line);
    for (char* word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        w.argv[w.argc++] = word;
    }
    with_command(&p, 1, use_parse, &w);
    return &p;
}

static void expect_error(const char* line, const char* message) {
    parsed* p = parse_line(line);
    cr_expect_eq(p->result, OPTIONS_BAD, "'%s' was taken", line);
    cr_expect_str_eq(p->message, message, "'%s' gave: %s", line, p->message);
}

Test(cli_options, takes_values_after_blank_or_equals) {
    parsed* p = parse_line("chain.json --time 2.5 --steps=100 -o a.h5 --preset exact --quiet");
    cr_assert(eq(int, p->result, OPTIONS_OK), "%s", p->message);
    cr_expect(eq(str, (char*)p->arguments[0], "chain.json"));
    cr_expect(eq(dbl, p->time, 2.5));
    cr_expect(p->time_given);
    cr_expect(eq(i64, p->steps, 100));
    cr_expect(eq(str, (char*)p->out, "a.h5"));
    cr_expect(eq(int, p->preset, 2));
    cr_expect(p->quiet);
}

Test(cli_options, options_not_given_keep_their_targets) {
    parsed* p = parse_line("chain.json");
    cr_expect(eq(int, p->result, OPTIONS_OK));
    cr_expect(not(p->time_given));
    cr_expect(not(p->quiet));
    cr_expect_null(p->out);
    cr_expect(eq(int, p->settings.count, 0));
}

Test(cli_options, arguments_may_come_anywhere) {
    parsed* p = parse_line("--quiet --time 1 chain.json --steps 3");
    cr_expect(eq(int, p->result, OPTIONS_OK), "%s", p->message);
    cr_expect(eq(str, (char*)p->arguments[0], "chain.json"));
    cr_expect(eq(i64, p->steps, 3));
}

Test(cli_options, repeated_texts_keep_their_order) {
    parsed* p = parse_line("s --set links=10 --set=joint=hinge --set a=b=c");
    cr_assert(eq(int, p->result, OPTIONS_OK), "%s", p->message);
    cr_assert(eq(int, p->settings.count, 3));
    cr_expect(eq(str, (char*)p->settings.items[0], "links=10"));
    cr_expect(eq(str, (char*)p->settings.items[1], "joint=hinge"));
    cr_expect(eq(str, (char*)p->settings.items[2], "a=b=c"));
}

Test(cli_options, too_many_repeats_are_refused) {
    static parsed p;
    static words w;
    static char option_word[] = "--set=a=1", scene[] = "s", name[] = "try";
    w = (words){.p = &p, .argc = OPTION_TEXTS_MAX + 3};
    w.argv[0] = name;
    w.argv[1] = scene;
    for (int i = 2; i < w.argc; i++) w.argv[i] = option_word;
    with_command(&p, 1, use_parse, &w);
    cr_expect(eq(int, p.result, OPTIONS_BAD));
    cr_expect(eq(str, p.message, "--set: given more than 256 times"));
    w.argc--;
    p.settings.count = 0;
    with_command(&p, 1, use_parse, &w);
    cr_expect(eq(int, p.result, OPTIONS_OK));
}

Test(cli_options, a_lone_dash_is_a_value_and_negative_numbers_are_numbers) {
    parsed* p = parse_line("s --out - --camera -1,2.5,-3e-1");
    cr_assert(eq(int, p->result, OPTIONS_OK), "%s", p->message);
    cr_expect(eq(str, (char*)p->out, "-"));
    cr_expect(eq(dbl, p->camera[0], -1));
    cr_expect(eq(dbl, p->camera[1], 2.5));
    cr_expect(eq(dbl, p->camera[2], -0.3));
}

Test(cli_options, two_dashes_end_the_options) {
    parsed* p = parse_line("--quiet -- --time");
    cr_assert(eq(int, p->result, OPTIONS_OK), "%s", p->message);
    cr_expect(eq(str, (char*)p->arguments[0], "--time"));
}

Test(cli_options, help_wins_over_what_is_missing) {
    cr_expect(eq(int, parse_line("--help")->result, OPTIONS_HELP));
    cr_expect(eq(int, parse_line("s --time 1 --help")->result, OPTIONS_HELP));
}

Test(cli_options, unknown_options_suggest_the_near_one) {
    expect_error("s --tiem 3", "unknown option '--tiem': did you mean '--time'?");
    expect_error("s --step=3", "unknown option '--step': did you mean '--steps'?");
    expect_error("s --quite", "unknown option '--quite': did you mean '--quiet'?");
    expect_error("s --cam 1,2,3", "unknown option '--cam': did you mean '--camera'?");
    expect_error("s -h 0.01", "unknown option '-h': did you mean '--h'?");
    expect_error("s --hlep", "unknown option '--hlep': did you mean '--help'?");
    expect_error("s --gravity 1", "unknown option '--gravity'");
    expect_error("s -x", "unknown option '-x'");
}

Test(cli_options, missing_and_extra_words_are_named) {
    expect_error("", "SCENE is missing");
    expect_error("--quiet", "SCENE is missing");
    expect_error("a b", "unexpected argument 'b'");
    expect_error("s --time", "--time needs a value: --time T");
    expect_error("s --time --quiet", "--time needs a value: --time T");
    expect_error("s -o", "--out needs a value: --out FILE");
    expect_error("s --out=", "--out: expected FILE, got nothing");
    expect_error("s --quiet=yes", "--quiet takes no value");
}

Test(cli_options, bad_numbers_are_refused) {
    expect_error("s --time abc", "--time: expected a number >= 0, got 'abc'");
    expect_error("s --time 1s", "--time: expected a number >= 0, got '1s'");
    expect_error("s --time -1", "--time: expected a number >= 0, got '-1'");
    expect_error("s --time nan", "--time: expected a number >= 0, got 'nan'");
    expect_error("s --time inf", "--time: expected a number >= 0, got 'inf'");
    expect_error("s --time 1e999", "--time: expected a number >= 0, got '1e999'");
    expect_error("s --time=", "--time: expected a number >= 0, got ''");
    expect_error("s --h 0", "--h: expected a number > 0, got '0'");
    expect_error("s --steps 1.5", "--steps: expected an integer >= 0, got '1.5'");
    expect_error("s --steps -3", "--steps: expected an integer >= 0, got '-3'");
    expect_error("s --steps 99999999999999999999",
                 "--steps: expected an integer >= 0, got '99999999999999999999'");
    expect_error("s --threads 0", "--threads: expected an integer > 0, got '0'");
    expect_error("s --threads 65", "--threads: at most 64, got '65'");
    expect_error("s --camera 1,2", "--camera: expected three numbers x,y,z, got '1,2'");
    expect_error("s --camera 1,2,3,4", "--camera: expected three numbers x,y,z, got '1,2,3,4'");
    expect_error("s --camera 1,,3", "--camera: expected three numbers x,y,z, got '1,,3'");
    expect_error("s --preset slow", "--preset: 'slow' is none of fast, balanced, exact");
}

Test(cli_options, integers_may_be_written_with_an_exponent) {
    cr_expect(eq(i64, parse_line("s --steps 1e6")->steps, 1000000));
    cr_expect(eq(i64, parse_line("s --steps 2.5e3")->steps, 2500));
    int64_t values[3] = {0};
    cr_expect(eq(int, options_integers("10,1e3,7", 3, values), 3));
    cr_expect(eq(i64, values[1], 1000));
    cr_expect(eq(int, options_integers("10,1e3,7", 2, values), 0));
    cr_expect(eq(int, options_integers("10,,7", 3, values), 0));
    cr_expect(eq(int, options_integers("10,-1", 3, values), 0));
    cr_expect(eq(int, options_integers("10,", 3, values), 0));
    cr_expect(eq(int, options_integers("", 3, values), 0));
}

Test(cli_options, the_last_of_two_values_counts) {
    cr_expect(eq(dbl, parse_line("s --time 1 --time 2")->time, 2));
}

Test(cli_options, nearest_wants_a_near_name) {
    const char* const names[] = {"run", "render", "bench", NULL};
    cr_expect(eq(str, (char*)options_nearest("rnu", names), "run"));
    cr_expect(eq(str, (char*)options_nearest("rendr", names), "render"));
    cr_expect_null(options_nearest("simulate", names));
    cr_expect_null(options_nearest("", names));
    char text[200];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    cr_expect_null(options_nearest(text, names));
}

static void use_help(const option_command* command, void* context) {
    options_print_help(command, context);
}

Test(cli_options, help_lists_every_option) {
    static parsed p;
    char text[4096] = "";
    FILE* memory = fmemopen(text, sizeof(text) - 1, "w");
    cr_assert_not_null(memory);
    with_command(&p, 2, use_help, memory);
    fclose(memory);
    const char* expected[] = {"Usage: mabd try SCENE OTHER [options]",
                              "Try the parser.",
                              "-o, --out FILE",
                              "--time T",
                              "--set NAME=VALUE",
                              "tolerances: fast, balanced, exact",
                              "--help",
                              "The end."};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        cr_expect_not_null(strstr(text, expected[i]), "help lacks '%s':\n%s", expected[i], text);
    }
}

// ---- arguments after the required ones ---------------------------------------------------------

Test(cli_options, takes_any_number_of_arguments_after_the_required_ones) {
    static option_texts rest;
    const char* arguments[1] = {NULL};
    const option_command command = {.name = "try",
                                    .about = "Try the parser.",
                                    .argument_count = 1,
                                    .argument_names = NAMES,
                                    .arguments = arguments,
                                    .rest_name = "FILE",
                                    .rest = &rest,
                                    .notes = ""};
    char* few[] = {"try", "a"};
    char* some[] = {"try", "a", "b", "--", "-c"};
    static char* many[OPTION_TEXTS_MAX + 3];
    char message[128];
    cr_expect(eq(int, options_parse(&command, 1, few, message, sizeof(message)), OPTIONS_BAD));
    cr_expect(eq(str, message, "SCENE is missing"));
    cr_expect(eq(int, options_parse(&command, 2, few, message, sizeof(message)), OPTIONS_OK));
    cr_expect(eq(int, rest.count, 0));
    cr_expect(eq(int, options_parse(&command, 5, some, message, sizeof(message)), OPTIONS_OK));
    cr_expect(eq(str, (char*)arguments[0], "a"));
    cr_assert(eq(int, rest.count, 2));
    cr_expect(eq(str, (char*)rest.items[0], "b"));
    cr_expect(eq(str, (char*)rest.items[1], "-c"));
    rest.count = 0;
    for (int i = 0; i < OPTION_TEXTS_MAX + 3; i++) many[i] = "x";
    cr_expect(eq(int, options_parse(&command, OPTION_TEXTS_MAX + 3, many, message, sizeof(message)),
                 OPTIONS_BAD));
    cr_expect(eq(str, message, "unexpected argument 'x'"));
}
