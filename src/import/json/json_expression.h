// SPDX-License-Identifier: Apache-2.0
// Expressions over the params of a scene: the text after '=' in a string.
//
//   sum     = product { ("+" | "-") product }
//   product = factor { ("*" | "/") factor }
//   factor  = "-" factor | "+" factor | "(" sum ")" | number | name | function
//   function = ("min" | "max") "(" sum "," sum ")" | ("floor" | "sqrt" | "sin" | "cos") "(" sum ")"
//
// `pi` is always defined. A text param must be the whole expression. Angles are in radians.
#pragma once

#include "mabd/base.h"

/// A param in force: a text, or a number where text is null.
typedef struct mabd_json_param {
    const char* name;
    const char* text;
    double number;
} mabd_json_param;

/// Evaluate an expression (without its '='). On success value->text or value->number is set
/// (value->name is null) and a number is finite. On failure `message` (size) says what is wrong.
bool mabd_json_expression_evaluate(const char* expression, const mabd_json_param* params,
                                   int32_t count, mabd_json_param* value, char* message,
                                   size_t size);

/// True if a text can be the name of a param: a letter or '_', then letters, digits and '_', and
/// not one of the functions or `pi`.
bool mabd_json_expression_is_name(const char* text);

/// Read a decimal number from the start of a text, whatever the locale. Returns the end of what was
/// read, or null if there is no number or it has more than 63 characters. *number may be infinite.
const char* mabd_json_number_read(const char* text, double* number);
/// Write the shortest decimal text that reads back as `number`, whatever the locale; whole numbers
/// below 1e15 without exponent.
void mabd_json_number_write(double number, char* text, size_t size);
