// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

const char* mabd_status_text(mabd_status status) {
    static const char* const texts[] = {
#define X(code, text) text,
        MABD_STATUS_LIST(X)
#undef X
    };
    return (unsigned)status < MABD_STATUS_COUNT ? texts[status] : "unknown status";
}

const char* mabd_version(void) {
    return MABD_VERSION_TEXT;
}

static void fill(mabd_error* error, mabd_status status, int32_t body, int32_t joint, mabd_real time,
                 const char* format, va_list arguments) {
    if (!error) return;
    error->status = status;
    error->line = error->column = 0;
    error->body = body;
    error->joint = joint;
    error->time = time;
    char text[sizeof error->text]; // arguments may be error->text itself
    vsnprintf(text, sizeof text, format, arguments);
    mabd_text_printable(text, error->text, sizeof error->text);
}

mabd_status mabd_fail(mabd_error* error, mabd_status status, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, -1, -1, 0, format, arguments);
    va_end(arguments);
    return status;
}

mabd_status mabd_fail_at(mabd_error* error, mabd_status status, int32_t body, int32_t joint,
                         mabd_real time, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, body, joint, time, format, arguments);
    va_end(arguments);
    return status;
}

mabd_status mabd_fail_memory(mabd_error* error, const char* what) {
    return mabd_fail(error, MABD_ERR_MEMORY, "out of memory while %s", what);
}
