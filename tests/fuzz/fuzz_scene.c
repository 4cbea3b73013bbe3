// SPDX-License-Identifier: Apache-2.0
// A target for libFuzzer; not part of the test suite. Build it with the sources of the library and
//   clang -std=c17 -D_POSIX_C_SOURCE=200809L -g -O1 -fsanitize=fuzzer,address,undefined
//       -Iinclude -Isrc -Itests
// and start it in the root of the sources: fuzz_scene -max_len=4096 NEW_INPUTS tests/broken scenes
#include "fuzz/feed.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    feed_result result = feed((const char*)data, size);
    if (result.leaked) abort();
    bool reported = result.error.text[0] != '\0' && !strpbrk(result.error.text, "\r\n");
    if ((result.load != MABD_OK || result.build != MABD_OK) && !reported) abort();
    if (result.load == MABD_ERR_INPUT && (result.error.line < 1 || result.error.column < 1)) {
        abort();
    }
    return 0;
}
