// SPDX-License-Identifier: Apache-2.0
// Run the built command and read its standard output as JSON.
#pragma once

#include "support/command.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>

/// Run `mabd LINE`, which must succeed and print JSON. The caller releases the result.
static inline json_t* command_json(const char* line) {
    json_error_t error;
    const command_result r = mabd_call(line);
    cr_assert(eq(int, r.code, 0), "mabd %s\n%s", line, r.err);
    json_t* root = json_loads(r.out, 0, &error);
    cr_assert_not_null(root, "no JSON: %s\n%.500s", error.text, r.out);
    return root;
}
