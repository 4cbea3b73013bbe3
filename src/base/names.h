// SPDX-License-Identifier: Apache-2.0
// Names of bodies and joints. A million generated names cost one entry: a range "chain" with
// indices first .. first+count-1 has the names "chain/0", "chain/1", ...
#pragma once

#include "base/list.h"

typedef struct mabd_names {
    mabd_list ranges;  // of mabd_name_range, sorted by first index (they are added in index order)
    mabd_list text;    // chars: the base names, each ended by zero
    mabd_list buckets; // int32_t open-addressed hash of base names -> range, -1 = empty
} mabd_names;

typedef struct mabd_name_range {
    int32_t text;         // offset of the base name in text
    int32_t first, count; // indices; count = 0: one index that has the base name itself
} mabd_name_range;

/// Give the base name to index `first` (count = 0), or to the range first .. first+count-1.
/// MABD_ERR_ARG if the base name is in use, empty, or ends in '/' and digits (reserved for
/// generated names).
mabd_status mabd_names_add(const mabd_allocator* allocator, mabd_names* names, const char* base,
                           int32_t first, int32_t count);
/// True if a base name has the reserved form: it ends in '/' and digits.
bool mabd_names_reserved(const char* base);
/// Index of a name ("arm", "chain/12"); -1 if no index has it.
int32_t mabd_names_find(const mabd_names* names, const char* name);
/// Write the name of an index into text; false if the index has none. O(log ranges).
bool mabd_names_write(const mabd_names* names, int32_t index, char* text, size_t size);
mabd_status mabd_names_copy(const mabd_allocator* allocator, const mabd_names* from,
                            mabd_names* to);
void mabd_names_free(const mabd_allocator* allocator, mabd_names* names);
size_t mabd_names_bytes(const mabd_names* names);
