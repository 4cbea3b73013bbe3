// SPDX-License-Identifier: Apache-2.0
// The man page and the completions hold every option that --help lists, and the programs that read
// them accept them.
#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

TestSuite(cli_help, .init = sandbox_enter, .fini = sandbox_leave, .timeout = 120);

static const char* const COMMANDS[] = {"run",        "batch",       "info",       "compare",
                                       "render",     "bench",       "bench plot", "bench broad",
                                       "bench dual", "bench peers", NULL};

// The output of a command, to be freed.
static char* output_of(const char* line) {
    command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, 0), "mabd %s\n%s", line, r.err);
    return strdup(r.out);
}

// Call use for the long name of every option in the --help of a command; returns how many.
static int for_options(const char* command, void (*use)(const char*, const char*, const char*),
                       const char* text) {
    char line[64];
    int count = 0;
    snprintf(line, sizeof(line), "%s --help", command);
    char *help = output_of(line), *at = strstr(help, "\nOptions:\n");
    cr_assert_not_null(at, "%s", help);
    for (char* row = strtok(at, "\n"); row != NULL; row = strtok(NULL, "\n")) {
        const char* dashes = strstr(row, "--");
        const bool option = strncmp(row, "  --", 4) == 0 || strncmp(row, "  -", 3) == 0;
        if (!option || dashes == NULL || dashes - row > 8) continue;
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(dashes + 2, " "), dashes + 2);
        use(command, name, text);
        count++;
    }
    free(help);
    return count;
}

// ---- man page ----------------------------------------------------------------------------------

// The option is in the section of its command.
static void expect_in_man(const char* command, const char* name, const char* man) {
    char head[64], option[160] = "\\fB\\-\\-";
    snprintf(head, sizeof(head), "\n.SS mabd %s", command);
    const char *section = strstr(man, head), *end = NULL;
    cr_assert_not_null(section, "no section of %s", command);
    end = strstr(section + 1, "\n.SS ");
    size_t used = strlen(option);
    for (const char* c = name; *c != '\0'; c++) {
        if (*c == '-') option[used++] = '\\';
        option[used++] = *c;
    }
    snprintf(option + used, sizeof(option) - used, "\\fR");
    const char* found = strstr(section, option);
    cr_expect(found != NULL && (end == NULL || found < end), "--%s of %s", name, command);
}

Test(cli_help, the_man_page_has_every_option_of_every_command) {
    char* man = output_of("help --man");
    int count = 0;
    for (int i = 0; COMMANDS[i] != NULL; i++) count += for_options(COMMANDS[i], expect_in_man, man);
    cr_expect(lt(int, 60, count), "%d options", count);
    free(man);
}

Test(cli_help, groff_reads_the_man_page_without_warnings) {
    if (system("groff --version > /dev/null 2>&1") != 0) cr_skip("no groff here");
    char* man = output_of("help --man");
    sandbox_write("mabd.1", man);
    free(man);
    cr_assert(eq(int, system("groff -man -ww -Tutf8 mabd.1 > page.txt 2> warnings.txt"), 0));
    cr_expect(eq(int, system("test ! -s warnings.txt"), 0));
    cr_expect(eq(int, system("grep -q 'record every K-th step' page.txt"), 0));
}

// ---- completions -------------------------------------------------------------------------------

static void expect_in_bash(const char* command, const char* name, const char* script) {
    char head[64], option[80];
    snprintf(head, sizeof(head), "\"%s\") options=\"", command);
    snprintf(option, sizeof(option), "--%s", name);
    const char* line = strstr(script, head);
    cr_assert_not_null(line, "%s", command);
    const char *found = strstr(line, option), *end = strchr(line, '\n');
    cr_expect(found != NULL && found < end, "--%s of %s", name, command);
}

static void expect_in_zsh(const char* command, const char* name, const char* script) {
    char head[64], option[80];
    snprintf(head, sizeof(head), "\n    \"%s\")\n", command);
    snprintf(option, sizeof(option), "--%s[", name);
    const char* part = strstr(script, head);
    cr_assert_not_null(part, "%s", command);
    const char *found = strstr(part, option), *end = strstr(part, ";;");
    cr_expect(found != NULL && found < end, "--%s of %s", name, command);
}

static void expect_in_fish(const char* command, const char* name, const char* script) {
    char line[200];
    if (strcmp(name, "help") == 0) return;
    snprintf(line, sizeof(line), "__mabd_is \"%s\"' -l %s ", command, name);
    cr_expect_not_null(strstr(script, line), "--%s of %s", name, command);
}

Test(cli_help, completions_have_every_option_of_every_command) {
    void (*const expect[])(const char*, const char*, const char*) = {expect_in_bash, expect_in_zsh,
                                                                     expect_in_fish};
    const char* shells[] = {"bash", "zsh", "fish"};
    for (int k = 0; k < 3; k++) {
        char line[64], check[160];
        snprintf(line, sizeof(line), "help --completion %s", shells[k]);
        char* script = output_of(line);
        for (int i = 0; COMMANDS[i] != NULL; i++) for_options(COMMANDS[i], expect[k], script);
        sandbox_write("script", script);
        free(script);
        snprintf(check, sizeof(check), "! command -v %s > /dev/null || %s -n script", shells[k],
                 shells[k]);
        cr_expect(eq(int, system(check), 0), "%s refuses its script", shells[k]);
    }
}

// The completion of the last word, by bash itself.
static void expect_completion(const char* words, int last, const char* expected) {
    char line[512];
    snprintf(line, sizeof(line),
             "bash -c 'source ./script; COMP_WORDS=(%s); COMP_CWORD=%d; _mabd; "
             "[ \"${COMPREPLY[*]}\" = \"%s\" ] || { echo \"${COMPREPLY[*]}\"; exit 1; }'",
             words, last, expected);
    cr_expect(eq(int, system(line), 0), "%s", words);
}

Test(cli_help, bash_completes_commands_options_and_choices) {
    if (system("bash --version > /dev/null 2>&1") != 0) cr_skip("no bash here");
    char* script = output_of("help --completion bash");
    sandbox_write("script", script);
    free(script);
    expect_completion("mabd re", 1, "render");
    expect_completion("mabd run --pres", 2, "--preset");
    expect_completion("mabd run x --preset b", 4, "balanced");
    expect_completion("mabd bench pl", 2, "plot");
    expect_completion("mabd bench plot --q", 3, "--quantity");
    expect_completion("mabd run scr", 2, "script");
    expect_completion("mabd run x --out scr", 4, "script");
    expect_completion("mabd run x --time s", 4, "");
}

// The completions of a line, by fish itself, without their descriptions.
static void expect_in_shell_of_fish(const char* words, const char* expected) {
    char line[512];
    snprintf(line, sizeof(line),
             "fish --no-config -c 'source ./script; set got (complete -C \"%s\" | string split -f1 "
             "\\t); test \"$got\" = \"%s\"; or begin; echo $got; exit 1; end'",
             words, expected);
    cr_expect(eq(int, system(line), 0), "%s", words);
}

Test(cli_help, fish_completes_commands_options_and_choices) {
    if (system("fish --version > /dev/null 2>&1") != 0) cr_skip("no fish here");
    char* script = output_of("help --completion fish");
    sandbox_write("script", script);
    free(script);
    expect_in_shell_of_fish("mabd re", "render");
    expect_in_shell_of_fish("mabd he", "help");
    expect_in_shell_of_fish("mabd --v", "--version");
    expect_in_shell_of_fish("mabd run --pres", "--preset");
    expect_in_shell_of_fish("mabd run x --preset b", "balanced");
    expect_in_shell_of_fish("mabd bench pl", "plot");
    expect_in_shell_of_fish("mabd bench plot --q", "--quantity");
    expect_in_shell_of_fish("mabd bench plot --ba", ""); // an option of bench
    expect_in_shell_of_fish("mabd run bench pl", "");
    expect_in_shell_of_fish("mabd run scr", "script");
    expect_in_shell_of_fish("mabd run x --out scr", "script");
    expect_in_shell_of_fish("mabd run x --time s", "");
}

// What the function of zsh offers at its first call, which loads it: functions of the completion
// system print their arguments. `part` must be there, or must not.
static void expect_in_shell_of_zsh(const char* words, int last, const char* part, bool offered) {
    char line[512];
    snprintf(
        line, sizeof(line),
        "zsh -f -c '_describe() { print -l -- ${(P)@[-1]}; }; _arguments() { print -l -- $@; }; "
        "fpath=(.); autoload -U _mabd; words=(%s); CURRENT=%d; _mabd' | grep -q -- '%s'",
        words, last, part);
    cr_expect(eq(int, system(line) == 0, offered), "%s: %s", words, part);
}

Test(cli_help, zsh_completes_commands_and_options_at_the_first_call) {
    if (system("zsh --version > /dev/null 2>&1") != 0) cr_skip("no zsh here");
    char* script = output_of("help --completion zsh");
    sandbox_write("_mabd", script);
    free(script);
    expect_in_shell_of_zsh("mabd re", 2, "^render:", true);
    expect_in_shell_of_zsh("mabd he", 2, "^help:", true);
    expect_in_shell_of_zsh("mabd --v", 2, "^--version:", true);
    expect_in_shell_of_zsh("mabd run --pres", 3, "^--preset\\[.*(fast balanced exact)$", true);
    expect_in_shell_of_zsh("mabd bench pl", 3, "^plot:", true);
    expect_in_shell_of_zsh("mabd bench --ba", 3, "^--backend\\[", true);
    expect_in_shell_of_zsh("mabd bench plot --q", 4, "^--quantity\\[", true);
    expect_in_shell_of_zsh("mabd bench plot --ba", 4, "^--backend\\[", false);
    expect_in_shell_of_zsh("mabd run pl", 3, "^plot:", false);
    expect_in_shell_of_zsh("mabd help re", 3, "^render:", true);
}

Test(cli_help, help_describes_a_command) {
    char *one = output_of("help run"), *other = output_of("run --help");
    cr_expect(eq(str, one, other));
    free(one), free(other);
    one = output_of("help bench plot"), other = output_of("bench plot --help");
    cr_expect(eq(str, one, other));
    free(one), free(other);
    command_result r = mabd_call("help nothing");
    cr_expect(eq(int, r.code, 2));
    r = mabd_call("help --completion csh");
    cr_expect(eq(int, r.code, 2));
    cr_expect_not_null(strstr(r.err, "bash, zsh, fish"), "%s", r.err);
}
