// SPDX-License-Identifier: Apache-2.0
// Tests for src/base/text.c and the texts of errors: no control character of the input gets
// through.
#include "base/error.h"
#include "base/text.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static const char* printable(const char* text, size_t size) {
    static char out[64];
    mabd_text_printable(text, out, size);
    return out;
}

Test(text, controls_are_found_and_other_characters_are_not) {
    cr_expect(eq(u32, mabd_text_control("a\x1b[31m"), 0x1B));
    cr_expect(eq(u32, mabd_text_control("a\x7f"), 0x7F));
    cr_expect(eq(u32, mabd_text_control("a\xC2\x9B"), 0x9B));
    cr_expect(eq(u32, mabd_text_control("plain \xC2\xA0\xC3\xA9\xF0\x9F\x98\x80 \xFF\xC2"), 0));
    cr_expect(eq(u32, mabd_text_control(""), 0));
}

Test(text, controls_are_escaped_as_in_json_and_broken_bytes_are_question_marks) {
    cr_expect(eq(str, (char*)printable("a\nb\tc\rd\x1b[0m\x7f\xC2\x85", 64),
                 "a\\nb\\tc\\rd\\u001b[0m\\u007f\\u0085"));
    cr_expect(eq(str, (char*)printable("\xC3\xA9 \xFF \xE2\x82", 64), "\xC3\xA9 ? ??"));
}

// Sizes 1 to 9 of "é" ESC "é": cut before the first character that does not fit.
Test(text, a_text_that_is_too_long_is_cut_at_a_whole_character) {
    const size_t lengths[] = {0, 0, 0, 2, 2, 2, 2, 2, 2, 8, 8, 10};
    for (size_t size = 1; size < 12; size++) {
        cr_expect(eq(sz, strlen(printable("\xC3\xA9\x1b\xC3\xA9", size)), lengths[size]));
    }
}

Test(text, an_error_is_one_printable_line_whatever_it_quotes) {
    mabd_error error;
    mabd_fail(&error, MABD_ERR_INPUT, "found '%s'", "\x1b[2J\n");
    cr_expect(eq(str, error.text, "found '\\u001b[2J\\n'"));
}
