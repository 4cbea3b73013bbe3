// SPDX-License-Identifier: Apache-2.0
// Text that comes from input and reaches a terminal: control characters in it could move the
// cursor, change colours or hide what was printed.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Find the first control character of a UTF-8 text: U+0000 excluded, U+0001 to U+001F, U+007F to
/// U+009F. Returns its code point, 0 if there is none.
uint32_t mabd_text_control(const char* text);

/// Copy `text` to `out` (size > 0) as one printable line of valid UTF-8. Control characters are
/// written as in JSON (\n, \t, \r, \u001b), bytes that are no UTF-8 as question marks. A text that
/// is too long is cut at a whole character. `out` must not overlap `text`.
void mabd_text_printable(const char* text, char* out, size_t size);
