// SPDX-License-Identifier: Apache-2.0
#include "import/json/json_expression.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 100 // nested parentheses
#define PI        3.14159265358979323846264338327950288

typedef struct parser {
    const char* at;
    const mabd_json_param* params;
    int32_t param_count;
    int depth;
    char* message;
    size_t message_size;
} parser;

typedef enum function { F_NONE, F_MIN, F_MAX, F_FLOOR, F_SQRT, F_SIN, F_COS } function;

static bool parse_sum(parser* p, double* value);

// ---- letters -----------------------------------------------------------------------------------

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t name_length(const char* text) {
    size_t n = 0;
    if (is_letter(text[0])) {
        while (is_letter(text[n]) || is_digit(text[n])) n++;
    }
    return n;
}

static bool is_word(const char* text, size_t length, const char* word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static function find_function(const char* name, size_t length) {
    static const char* const names[] = {"", "min", "max", "floor", "sqrt", "sin", "cos"};
    for (int i = F_MIN; i <= F_COS; i++) {
        if (is_word(name, length, names[i])) return (function)i;
    }
    return F_NONE;
}

bool mabd_json_expression_is_name(const char* text) {
    size_t length = name_length(text);
    return length > 0 && text[length] == '\0' && !is_word(text, length, "pi") &&
           find_function(text, length) == F_NONE;
}

// ---- numbers -----------------------------------------------------------------------------------

const char* mabd_json_number_read(const char* text, double* number) {
    size_t n = 0, digits = 0;
    if (text[n] == '-' || text[n] == '+') n++;
    for (; is_digit(text[n]); n++) digits++;
    if (text[n] == '.') n++;
    for (; is_digit(text[n]); n++) digits++;
    if (digits == 0) return NULL;
    if (text[n] == 'e' || text[n] == 'E') {
        size_t sign = text[n + 1] == '-' || text[n + 1] == '+';
        if (is_digit(text[n + 1 + sign])) {
            n += 1 + sign;
            while (is_digit(text[n])) n++;
        }
    }
    char copy[64];
    if (n >= sizeof copy) return NULL;
    memcpy(copy, text, n);
    copy[n] = '\0';
    char* point = strchr(copy, '.');
    if (point) *point = *localeconv()->decimal_point;
    *number = strtod(copy, NULL);
    return text + n;
}

void mabd_json_number_write(double number, char* text, size_t size) {
    if (number == floor(number) && fabs(number) < 1e15) {
        snprintf(text, size, "%.0f", number);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, number);
        if (strtod(text, NULL) == number) break;
    }
    char* point = strchr(text, *localeconv()->decimal_point);
    if (point) *point = '.';
}

// ---- the parser --------------------------------------------------------------------------------

static bool complain(parser* p, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->message, p->message_size, format, arguments);
    va_end(arguments);
    return false;
}

static void skip_space(parser* p) {
    while (*p->at == ' ' || *p->at == '\t') p->at++;
}

static bool expected(parser* p, const char* what) {
    skip_space(p);
    if (*p->at == '\0') return complain(p, "expected %s, found the end", what);
    return complain(p, "expected %s, found '%.20s'", what, p->at);
}

static bool accept(parser* p, char mark) {
    skip_space(p);
    if (*p->at != mark) return false;
    p->at++;
    return true;
}

static const mabd_json_param* find_param(const parser* p, const char* name, size_t length) {
    for (int32_t i = 0; i < p->param_count; i++) {
        if (is_word(name, length, p->params[i].name)) return &p->params[i];
    }
    return NULL;
}

static bool unknown_name(parser* p, const char* name, size_t length) {
    char list[256] = "";
    size_t used = 0;
    for (int32_t i = 0; i < p->param_count && used < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                 p->params[i].name);
    }
    if (p->param_count == 0) snprintf(list, sizeof list, "none");
    return complain(p, "unknown name '%.*s'; declared params: %s", (int)(length < 64 ? length : 64),
                    name, list);
}

static bool parse_function(parser* p, function f, double* value) {
    double x, y = 0;
    if (!accept(p, '(')) return expected(p, "'('");
    if (!parse_sum(p, &x)) return false;
    if (f == F_MIN || f == F_MAX) {
        if (!accept(p, ',')) return expected(p, "','");
        if (!parse_sum(p, &y)) return false;
    }
    if (!accept(p, ')')) return expected(p, "')'");
    if (f == F_SQRT && x < 0) return complain(p, "sqrt of a negative number");
    switch (f) {
    case F_MIN:
        *value = x < y ? x : y;
        break;
    case F_MAX:
        *value = x > y ? x : y;
        break;
    case F_FLOOR:
        *value = floor(x);
        break;
    case F_SQRT:
        *value = sqrt(x);
        break;
    case F_SIN:
        *value = sin(x);
        break;
    case F_COS:
        *value = cos(x);
        break;
    case F_NONE:
        break;
    }
    return true;
}

static bool parse_name(parser* p, double* value) {
    const char* name = p->at;
    size_t length = name_length(name);
    p->at += length;
    function f = find_function(name, length);
    if (f != F_NONE) return parse_function(p, f, value);
    if (is_word(name, length, "pi")) {
        *value = PI;
        return true;
    }
    const mabd_json_param* param = find_param(p, name, length);
    if (!param) return unknown_name(p, name, length);
    if (param->text) return complain(p, "'%s' is text, expected a number", param->name);
    *value = param->number;
    return true;
}

static bool parse_factor(parser* p, double* value) {
    bool negative = false;
    for (;;) {
        if (accept(p, '-')) {
            negative = !negative;
        } else if (!accept(p, '+')) {
            break;
        }
    }
    if (accept(p, '(')) {
        if (!parse_sum(p, value)) return false;
        if (!accept(p, ')')) return expected(p, "')'");
    } else if (is_letter(*p->at)) {
        if (!parse_name(p, value)) return false;
    } else {
        const char* end = mabd_json_number_read(p->at, value);
        if (!end) return expected(p, "a number, a name or '('");
        p->at = end;
    }
    if (negative) *value = -*value;
    return true;
}

static bool parse_product(parser* p, double* value) {
    if (!parse_factor(p, value)) return false;
    for (;;) {
        double right;
        if (accept(p, '*')) {
            if (!parse_factor(p, &right)) return false;
            *value *= right;
        } else if (accept(p, '/')) {
            if (!parse_factor(p, &right)) return false;
            if (right == 0) return complain(p, "division by zero");
            *value /= right;
        } else {
            return true;
        }
    }
}

static bool parse_sum(parser* p, double* value) {
    if (++p->depth > MAX_DEPTH) return complain(p, "parentheses are nested too deeply");
    if (!parse_product(p, value)) return false;
    for (;;) {
        double right;
        if (accept(p, '+')) {
            if (!parse_product(p, &right)) return false;
            *value += right;
        } else if (accept(p, '-')) {
            if (!parse_product(p, &right)) return false;
            *value -= right;
        } else {
            p->depth--;
            return true;
        }
    }
}

// Find the param whose name is the whole expression; null if there is none.
static const mabd_json_param* lone_param(parser* p) {
    parser q = *p;
    skip_space(&q);
    const char* name = q.at;
    size_t length = name_length(name);
    q.at += length;
    skip_space(&q);
    return length > 0 && *q.at == '\0' ? find_param(p, name, length) : NULL;
}

bool mabd_json_expression_evaluate(const char* expression, const mabd_json_param* params,
                                   int32_t count, mabd_json_param* value, char* message,
                                   size_t size) {
    parser p = {expression, params, count, 0, message, size};
    value->name = value->text = NULL;
    value->number = 0;
    const mabd_json_param* lone = lone_param(&p);
    if (lone && lone->text) {
        value->text = lone->text;
        return true;
    }
    if (!parse_sum(&p, &value->number)) return false;
    skip_space(&p);
    if (*p.at != '\0') return expected(&p, "an operator or the end");
    if (!isfinite(value->number)) return complain(&p, "the result is not finite");
    return true;
}
