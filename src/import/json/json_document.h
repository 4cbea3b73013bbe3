// SPDX-License-Identifier: Apache-2.0
// JSON documents as texts: read from a file or copied, parsed, with line and column of what is no
// JSON. `what` names the kind of document in messages: "scene".
#pragma once

#include "base/memory.h"
#include "import/json/json_reader.h"

/// A text in memory of an allocator.
typedef struct mabd_json_source {
    char* data;
    size_t length, capacity; // capacity > length; zero-terminated: memory is zeroed
} mabd_json_source;

/// Copy `length` bytes of text. MABD_ERR_MEMORY; MABD_ERR_INPUT if it is larger than 1 GB.
mabd_status mabd_json_source_copy(const mabd_allocator* allocator, const char* what,
                                  const char* text, size_t length, mabd_json_source* source,
                                  mabd_error* error);
/// Read a file. MABD_ERR_IO; MABD_ERR_MEMORY; MABD_ERR_INPUT if it is larger than 1 GB.
mabd_status mabd_json_source_read(const mabd_allocator* allocator, const char* what,
                                  const char* path, mabd_json_source* source, mabd_error* error);
/// Free a text.
void mabd_json_source_free(const mabd_allocator* allocator, mabd_json_source* source);

/// Parse the text of a reader. *root is to be released by json_decref. MABD_ERR_INPUT with the
/// place in the error of the reader; MABD_ERR_MEMORY.
mabd_status mabd_json_parse(mabd_json_reader* reader, json_t** root);
