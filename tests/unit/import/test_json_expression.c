// SPDX-License-Identifier: Apache-2.0
// Tests for src/import/json/json_expression.c
#include "import/json/json_expression.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mabd_json_param params[] = {
    {"links", NULL, 100}, {"length", NULL, 0.25}, {"joint", "ball", 0}, {"min_gap", NULL, 3}};
#define PARAM_COUNT 4

static void gives(const char* expression, double expected) {
    char message[200] = "";
    mabd_json_param value;
    bool ok = mabd_json_expression_evaluate(expression, params, PARAM_COUNT, &value, message,
                                            sizeof message);
    cr_expect(ok, "%s: %s", expression, message);
    cr_expect(value.text == NULL);
    cr_expect(eq(dbl, value.number, expected), "%s", expression);
}

static void fails(const char* expression, const char* part) {
    char message[200] = "";
    mabd_json_param value;
    bool ok = mabd_json_expression_evaluate(expression, params, PARAM_COUNT, &value, message,
                                            sizeof message);
    cr_expect(not(ok), "%s", expression);
    cr_expect(strstr(message, part) != NULL, "%s: '%s' lacks '%s'", expression, message, part);
}

Test(json_expression, numbers) {
    gives("1", 1);
    gives("  1e3 ", 1000);
    gives(".5", 0.5);
    gives("2.", 2);
    gives("1.25E-2", 0.0125);
}

Test(json_expression, precedence_and_grouping) {
    gives("1+2*3", 7);
    gives("(1+2)*3", 9);
    gives("8-3-2", 3);
    gives("8/4/2", 1);
    gives("2-6/3", 0);
    gives("((((7))))", 7);
}

Test(json_expression, signs) {
    gives("-3", -3);
    gives("2*-3", -6);
    gives("--3", 3);
    gives("-(1+2)", -3);
    gives("+4 - -4", 8);
    gives("-2*-2", 4);
}

Test(json_expression, params_by_name) {
    gives("links", 100);
    gives("2*(links-1)", 198);
    gives("links*length/2", 12.5);
    gives("min_gap", 3);
}

Test(json_expression, functions) {
    gives("min(2, links)", 2);
    gives("max(2, links)", 100);
    gives("floor(2.7)", 2);
    gives("floor(-2.5)", -3);
    gives("sqrt(2.25)", 1.5);
    gives("sin(0)+cos(0)", 1);
    gives("pi", acos(-1.0));
    gives("min(max(1,2),3*floor(1.5))", 2);
}

Test(json_expression, a_text_param_cannot_be_part_of_an_expression) {
    char message[200];
    mabd_json_param value;
    cr_assert(mabd_json_expression_evaluate(" joint ", params, PARAM_COUNT, &value, message, 200));
    cr_assert(eq(str, (char*)value.text, "ball"));
    fails("joint+1", "'joint' is text");
    fails("(joint)", "'joint' is text");
}

Test(json_expression, says_what_was_expected) {
    fails("", "expected a number, a name or '(', found the end");
    fails("2*(links-1", "expected ')', found the end");
    fails("2 3", "expected an operator or the end, found '3'");
    fails("2links", "found 'links'");
    fails("1+*2", "found '*2'");
    fails("min(1)", "expected ','");
    fails("min 1", "expected '('");
    fails("sin(1,2)", "expected ')'");
    fails("link", "unknown name 'link'; declared params: links, length, joint, min_gap");
    fails("tan(1)", "unknown name 'tan'");
    fails("1)", "expected an operator");
    fails("2^3", "found '^3'");
}

Test(json_expression, refuses_what_is_not_finite) {
    fails("1/0", "division by zero");
    fails("1/(links-100)", "division by zero");
    fails("sqrt(-1)", "sqrt of a negative number");
    fails("1e308*10", "not finite");
    fails("1e999", "not finite");
    fails("1e308*10-1e308*10", "not finite");
}

Test(json_expression, depth_is_bounded) {
    char deep[40001];
    memset(deep, '(', 40000);
    deep[40000] = '\0';
    fails(deep, "nested too deeply");
    memset(deep, '-', 40000);
    fails(deep, "found the end");
    for (int i = 0; i + 4 <= 40000; i += 4) memcpy(deep + i, "sin(", 4);
    fails(deep, "nested too deeply");
    gives("((1))+((1))+((1))+(((1)))", 4);
}

Test(json_expression, sums_of_many_groups_do_not_count_as_depth) {
    char text[2001] = "0";
    for (int i = 0; i < 300; i++) strcat(text, "+(1)");
    gives(text, 300);
}

Test(json_expression, names_of_params) {
    cr_expect(mabd_json_expression_is_name("links"));
    cr_expect(mabd_json_expression_is_name("_x9"));
    cr_expect(mabd_json_expression_is_name("minimum"));
    cr_expect(not(mabd_json_expression_is_name("")));
    cr_expect(not(mabd_json_expression_is_name("9x")));
    cr_expect(not(mabd_json_expression_is_name("end-mass")));
    cr_expect(not(mabd_json_expression_is_name("pi")));
    cr_expect(not(mabd_json_expression_is_name("sqrt")));
    cr_expect(not(mabd_json_expression_is_name("h\xC3\xB6he")));
}

Test(json_expression, numbers_are_written_short_and_read_back_the_same) {
    static const double numbers[] = {0, 1, -1, 0.1, 1e6, 1.0 / 3, 6.02214076e23, 5e-324, 1e308};
    static const char* const texts[] = {"0", "1", "-1", "0.1"};
    char text[32];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double back = 0;
        mabd_json_number_write(numbers[i], text, sizeof text);
        const char* end = mabd_json_number_read(text, &back);
        cr_expect(end && *end == '\0');
        cr_expect(eq(dbl, back, numbers[i]));
        if (i < 4) cr_expect(eq(str, text, (char*)texts[i]));
    }
}

Test(json_expression, only_decimal_numbers_are_read) {
    double number;
    cr_expect(mabd_json_number_read("nan", &number) == NULL);
    cr_expect(mabd_json_number_read("inf", &number) == NULL);
    cr_expect(mabd_json_number_read("-", &number) == NULL);
    cr_expect(mabd_json_number_read(".", &number) == NULL);
    cr_expect(mabd_json_number_read("", &number) == NULL);
    cr_expect(eq(str, (char*)mabd_json_number_read("0x10", &number), "x10"));
    cr_expect(eq(str, (char*)mabd_json_number_read("1e", &number), "e"));
    char digits[200];
    memset(digits, '1', sizeof digits);
    digits[199] = '\0';
    cr_expect(mabd_json_number_read(digits, &number) == NULL);
}
