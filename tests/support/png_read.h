// SPDX-License-Identifier: Apache-2.0
// A PNG reader that shares no code with the writer.
#pragma once

#include <stdint.h>

/// Return the pixels of an 8-bit RGB PNG file (height x width x 3); the caller frees. An invalid
/// file, or a wrong CRC of any chunk, fails the test. used[t] (5) counts the rows with filter t.
uint8_t* png_read(const char* path, uint32_t* width, uint32_t* height, int* used);
