// SPDX-License-Identifier: Apache-2.0
// From a node of a parsed document back to its line and column in the text. The parser keeps no
// positions, so the text, known to be valid, is scanned along the node's path: O(length), paid only
// by a scene that is in error.
#pragma once

#include "import/json/json_reader.h"

/// A place in a text. Lines and columns count from 1; columns count code points, as editors do.
typedef struct mabd_json_location {
    int32_t line, column;
} mabd_json_location;

/// Compute the place of byte `offset` of a text (length); an offset past the end gives the end.
mabd_json_location mabd_json_place_of_offset(const char* text, size_t length, size_t offset);
/// Compute the place where the value of a node starts. `text` (length) is the valid JSON that it
/// was parsed from.
mabd_json_location mabd_json_place_of_node(const char* text, size_t length,
                                           const mabd_json_node* node);
/// Compute the place of the key of a member; for other nodes the place of the value.
mabd_json_location mabd_json_place_of_key(const char* text, size_t length,
                                          const mabd_json_node* node);
