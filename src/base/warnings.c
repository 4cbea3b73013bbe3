// SPDX-License-Identifier: Apache-2.0
#include "base/warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_WARNINGS 1000

void mabd_warn(mabd_warnings* warnings, int32_t body, int32_t joint, int64_t step,
               const char* format, ...) {
    if (!warnings || warnings->list.count >= MOST_WARNINGS) return;
    const mabd_allocator* allocator = &warnings->allocator;
    if (mabd_list_reserve(allocator, &warnings->list, sizeof(mabd_warning), 1) != MABD_OK) return;
    mabd_warning* warning = (mabd_warning*)warnings->list.data + warnings->list.count++;
    memset(warning, 0, sizeof *warning);
    warning->body = body, warning->joint = joint, warning->step = step;
    if (warnings->list.count == MOST_WARNINGS) {
        warning->body = warning->joint = -1;
        snprintf(warning->text, sizeof warning->text, "further warnings are left out");
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(warning->text, sizeof warning->text, format, arguments);
    va_end(arguments);
}

int32_t mabd_warnings_read(const mabd_warnings* warnings, int32_t capacity, mabd_warning* out) {
    const int32_t count = warnings->list.count, copied = capacity < count ? capacity : count;
    if (copied > 0) memcpy(out, warnings->list.data, (size_t)copied * sizeof *out);
    return count;
}

mabd_status mabd_warnings_copy(const mabd_warnings* from, mabd_warnings* to) {
    to->list.count = 0;
    MABD_TRY(mabd_list_reserve(&to->allocator, &to->list, sizeof(mabd_warning), from->list.count));
    to->list.count = mabd_warnings_read(from, from->list.count, to->list.data);
    return MABD_OK;
}

void mabd_warnings_prepend(mabd_warnings* first, mabd_warnings* to) {
    const int32_t more = to->list.count;
    if (first->list.count == 0) return;
    if (more > 0 &&
        mabd_list_reserve(&first->allocator, &first->list, sizeof(mabd_warning), more) == MABD_OK) {
        mabd_warning* end = (mabd_warning*)first->list.data + first->list.count;
        first->list.count += mabd_warnings_read(to, more, end);
    }
    const mabd_list joined = first->list;
    first->list = to->list, to->list = joined;
    mabd_warnings_free(first);
}

void mabd_warnings_free(mabd_warnings* warnings) {
    mabd_list_free(&warnings->allocator, &warnings->list, sizeof(mabd_warning));
}
