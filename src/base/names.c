// SPDX-License-Identifier: Apache-2.0
// Names as ranges over base names; buckets is an open-addressed table with linear probing, its size
// a power of two and at least twice the number of ranges.
#include "base/names.h"

#include "base/hash.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const mabd_name_range* range_at(const mabd_names* names, int32_t i) {
    return (const mabd_name_range*)names->ranges.data + i;
}

static const char* base_of(const mabd_names* names, const mabd_name_range* range) {
    return (const char*)names->text.data + range->text;
}

/// Length of the base in "base/123"; 0 if the name has another form. *number gets the value of the
/// digits, or -1 if no range has such a number (a leading zero, too large).
static size_t split_generated(const char* name, int64_t* number) {
    const char* slash = strrchr(name, '/');
    if (!slash || slash == name) return 0;
    const char* digits = slash + 1;
    size_t count = strlen(digits);
    if (count == 0 || strspn(digits, "0123456789") != count) return 0;
    *number = -1;
    if (count <= 10 && (digits[0] != '0' || count == 1)) {
        *number = 0;
        for (size_t i = 0; i < count; i++) *number = 10 * *number + (digits[i] - '0');
    }
    return (size_t)(slash - name);
}

bool mabd_names_reserved(const char* base) {
    int64_t number;
    return split_generated(base, &number) > 0;
}

/// The bucket that holds a base name, or the empty bucket where it belongs.
static int32_t bucket_of(const mabd_names* names, const mabd_list* buckets, const char* base,
                         size_t length) {
    const int32_t* slots = (const int32_t*)buckets->data;
    uint32_t mask = (uint32_t)buckets->count - 1;
    uint32_t i = (uint32_t)mabd_hash(MABD_HASH_START, base, length) & mask;
    while (slots[i] >= 0) {
        const char* other = base_of(names, range_at(names, slots[i]));
        if (strncmp(other, base, length) == 0 && other[length] == '\0') break;
        i = (i + 1) & mask;
    }
    return (int32_t)i;
}

/// Range of a base name; null if there is none.
static const mabd_name_range* find_range(const mabd_names* names, const char* base, size_t length) {
    if (names->buckets.count == 0) return NULL;
    int32_t bucket = bucket_of(names, &names->buckets, base, length);
    int32_t range = ((const int32_t*)names->buckets.data)[bucket];
    return range < 0 ? NULL : range_at(names, range);
}

/// Make room for one more range in the hash table.
static mabd_status grow_buckets(const mabd_allocator* allocator, mabd_names* names) {
    int64_t needed = 2 * ((int64_t)names->ranges.count + 1);
    if (needed <= names->buckets.count) return MABD_OK;
    int64_t size = names->buckets.count ? 2 * (int64_t)names->buckets.count : 16;
    mabd_list larger = {0};
    MABD_TRY(mabd_list_reserve(allocator, &larger, sizeof(int32_t), size));
    larger.count = (int32_t)size;
    int32_t* slots = (int32_t*)larger.data;
    for (int64_t i = 0; i < size; i++) slots[i] = -1;
    for (int32_t i = 0; i < names->ranges.count; i++) {
        const char* base = base_of(names, range_at(names, i));
        slots[bucket_of(names, &larger, base, strlen(base))] = i;
    }
    mabd_list_free(allocator, &names->buckets, sizeof(int32_t));
    names->buckets = larger;
    return MABD_OK;
}

mabd_status mabd_names_add(const mabd_allocator* allocator, mabd_names* names, const char* base,
                           int32_t first, int32_t count) {
    if (!base || base[0] == '\0' || first < 0 || count < 0) return MABD_ERR_ARG;
    size_t length = strlen(base);
    if (mabd_names_reserved(base) || find_range(names, base, length)) return MABD_ERR_ARG;
    if (length >= INT32_MAX) return MABD_ERR_MEMORY;
    MABD_TRY(mabd_list_reserve(allocator, &names->ranges, sizeof(mabd_name_range), 1));
    MABD_TRY(mabd_list_reserve(allocator, &names->text, 1, (int64_t)length + 1));
    MABD_TRY(grow_buckets(allocator, names));

    int32_t index = names->ranges.count;
    mabd_name_range* range = (mabd_name_range*)names->ranges.data + index;
    assert(index == 0 || first >= range[-1].first + (range[-1].count ? range[-1].count : 1));
    ((int32_t*)names->buckets.data)[bucket_of(names, &names->buckets, base, length)] = index;
    range->text = names->text.count;
    range->first = first;
    range->count = count;
    memcpy((char*)names->text.data + names->text.count, base, length + 1);
    names->text.count += (int32_t)length + 1;
    names->ranges.count++;
    return MABD_OK;
}

int32_t mabd_names_find(const mabd_names* names, const char* name) {
    int64_t number = -1;
    size_t base_length = split_generated(name, &number);
    if (base_length == 0) {
        const mabd_name_range* range = find_range(names, name, strlen(name));
        return range && range->count == 0 ? range->first : -1;
    }
    const mabd_name_range* range = find_range(names, name, base_length);
    if (!range || number < 0 || number >= range->count) return -1;
    return range->first + (int32_t)number;
}

bool mabd_names_write(const mabd_names* names, int32_t index, char* text, size_t size) {
    int32_t low = 0, high = names->ranges.count; // the last range with first <= index
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (range_at(names, middle)->first <= index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) return false;
    const mabd_name_range* range = range_at(names, low - 1);
    const char* base = base_of(names, range);
    int32_t offset = index - range->first;
    if (offset >= (range->count ? range->count : 1)) return false;
    if (range->count == 0) {
        snprintf(text, size, "%s", base);
    } else {
        snprintf(text, size, "%s/%d", base, (int)offset);
    }
    return true;
}

static mabd_status copy_list(const mabd_allocator* allocator, const mabd_list* from, size_t element,
                             mabd_list* to) {
    if (from->count == 0) return MABD_OK;
    MABD_TRY(mabd_list_reserve(allocator, to, element, from->count));
    memcpy(to->data, from->data, (size_t)from->count * element);
    to->count = from->count;
    return MABD_OK;
}

mabd_status mabd_names_copy(const mabd_allocator* allocator, const mabd_names* from,
                            mabd_names* to) {
    mabd_names copy = {0};
    mabd_status status = copy_list(allocator, &from->ranges, sizeof(mabd_name_range), &copy.ranges);
    if (status == MABD_OK) status = copy_list(allocator, &from->text, 1, &copy.text);
    if (status == MABD_OK) {
        status = copy_list(allocator, &from->buckets, sizeof(int32_t), &copy.buckets);
    }
    if (status != MABD_OK) {
        mabd_names_free(allocator, &copy);
        return status;
    }
    *to = copy;
    return MABD_OK;
}

void mabd_names_free(const mabd_allocator* allocator, mabd_names* names) {
    mabd_list_free(allocator, &names->ranges, sizeof(mabd_name_range));
    mabd_list_free(allocator, &names->text, 1);
    mabd_list_free(allocator, &names->buckets, sizeof(int32_t));
}

size_t mabd_names_bytes(const mabd_names* names) {
    return mabd_bytes((size_t)names->ranges.capacity, sizeof(mabd_name_range)) +
           mabd_bytes((size_t)names->text.capacity, 1) +
           mabd_bytes((size_t)names->buckets.capacity, sizeof(int32_t));
}
