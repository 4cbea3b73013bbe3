// SPDX-License-Identifier: Apache-2.0
//
// The parts of the HDF5 file format that appending needs (all numbers little-endian):
//
//   superblock 0      8 version | 13 bytes of an address | 14 of a length | 32.. free space |
//                     40 end of file
//   object header 1   16 bytes, then messages: type 2, size 2, flags 1, 3 unused, data
//     dataspace 1     version, rank, flags, 5 unused, extents (8 each), maxima (8 each)
//     layout 3        version, class 2 = chunked, rank + 1, root of the index (8),
//                     chunk extents (4 each), size of an element (4)
//   B-tree 1 node     "TREE", type 1 = chunks, level, entries used (2), left and right sibling (8),
//                     key 0, child 0, key 1, child 1, ..., key n
//   key               bytes of the chunk (4), filters skipped (4), first element along each axis
//                     (8 each), 0 (8)
//
// Child i of a node holds the chunks from key i up to, but not including, key i + 1, in
// lexicographic order.

#include "record/series.h"

#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_OF_FILE_AT 40
#define NODE_ENTRIES   64 // twice the rank of chunk trees in a superblock of version 0
#define UNDEFINED      UINT64_MAX
#define RESERVE        (UINT64_C(1) << 20) // the file grows by at least this many bytes

static uint64_t get(const unsigned char* bytes, int size) {
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

static void put(unsigned char* bytes, int size, uint64_t value) {
    for (int i = 0; i < size; i++) bytes[i] = (unsigned char)(value >> 8 * i);
}

static mabd_status fail_format(const mabd_h5_file* file, const char* what, mabd_error* error) {
    return mabd_fail(error, MABD_ERR_INPUT, "cannot append to %.300s: %s", file->path, what);
}

// ---- the file ----------------------------------------------------------------------------------

mabd_status mabd_h5_file_open(mabd_h5_file* file, int fd, const char* path, mabd_error* error) {
    static const unsigned char start[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 0};
    file->fd = fd;
    file->path = path;
    size_t got = 0;
    MABD_TRY(mabd_file_read(fd, path, file->head, sizeof file->head, 0, &got, error));
    file->head_size = MABD_H5_PAGE;
    if (got < MABD_H5_PAGE || memcmp(file->head, start, sizeof start) != 0 || file->head[13] != 8 ||
        file->head[14] != 8) {
        return fail_format(file, "it is not a recording, or another program rewrote it", error);
    }
    struct stat info;
    if (fstat(fd, &info) != 0) return mabd_file_fail(error, "read", path, errno);
    file->end = get(file->head + END_OF_FILE_AT, 8);
    if (file->end > (uint64_t)info.st_size) {
        return fail_format(file, "it is shorter than its recorded end", error);
    }
    return MABD_OK;
}

mabd_status mabd_h5_file_commit(mabd_h5_file* file, mabd_error* error) {
    return mabd_file_write(file->fd, file->path, file->head, file->head_size, 0, error);
}

mabd_status mabd_h5_file_trim(mabd_h5_file* file, mabd_error* error) {
    put(file->head + END_OF_FILE_AT, 8, file->end);
    MABD_TRY(mabd_h5_file_commit(file, error));
    if (ftruncate(file->fd, (off_t)file->end) != 0) {
        return mabd_file_fail(error, "write", file->path, errno);
    }
    return MABD_OK;
}

// Write only `size` bytes of the head at `at`: uncommitted data stay invisible.
static mabd_status write_head(mabd_h5_file* file, size_t at, size_t size, mabd_error* error) {
    return mabd_file_write(file->fd, file->path, file->head + at, size, at, error);
}

// Allocate whole pages. The file and its recorded end grow before anything refers to the pages.
static mabd_status take(mabd_h5_file* file, uint64_t size, uint64_t* address, mabd_error* error) {
    const uint64_t page = MABD_H5_PAGE;
    *address = (file->end + page - 1) / page * page;
    file->end = *address + (size + page - 1) / page * page;
    if (file->end <= get(file->head + END_OF_FILE_AT, 8)) return MABD_OK;

    uint64_t end = size > RESERVE ? file->end : *address + RESERVE;
    if (ftruncate(file->fd, (off_t)end) != 0) {
        return mabd_file_fail(error, "write", file->path, errno);
    }
    put(file->head + END_OF_FILE_AT, 8, end);
    return write_head(file, END_OF_FILE_AT, 8, error);
}

// ---- datasets ----------------------------------------------------------------------------------

static int32_t key_size(const mabd_series* series) {
    return 8 + 8 * (series->rank + 1);
}

static int32_t entry_at(const mabd_series* series, int32_t entry) {
    return 24 + entry * (key_size(series) + 8);
}

static size_t node_size(const mabd_series* series) {
    return (size_t)(entry_at(series, NODE_ENTRIES) + key_size(series));
}

static uint64_t chunks_per_frame(const mabd_series* series) {
    return (series->rows + series->chunk_rows - 1) / series->chunk_rows;
}

static uint64_t chunk_bytes(const mabd_series* series) {
    return series->chunk_frames * series->chunk_rows * series->columns * 8;
}

static bool read_dataspace(mabd_series* series, const unsigned char* message, size_t size) {
    series->rank = message[1];
    if (message[0] != 1 || series->rank < 1 || series->rank > 3) return false;
    if (size < 8 + 8 * (size_t)series->rank) return false;
    const unsigned char* extents = message + 8;
    series->rows = series->rank == 3 ? get(extents + 8, 8) : 1;
    series->columns = series->rank == 1 ? 1 : get(extents + 8 * (series->rank - 1), 8);
    return series->columns > 0;
}

// Read the layout, after the dataspace; the last axis is never divided into chunks.
static bool read_layout(mabd_series* series, const unsigned char* message, size_t size) {
    if (series->rank == 0 || size < 11 + 4 * ((size_t)series->rank + 1)) return false;
    if (message[0] != 3 || message[1] != 2 || message[2] != series->rank + 1) return false;
    const unsigned char* extents = message + 11;
    series->chunk_frames = get(extents, 4);
    series->chunk_rows = series->rank == 3 ? get(extents + 4, 4) : 1;
    uint64_t columns = series->rank == 1 ? 1 : get(extents + 4 * (series->rank - 1), 4);
    if (series->chunk_frames == 0 || series->chunk_rows == 0 || columns != series->columns) {
        return false;
    }
    if (get(extents + 4 * series->rank, 4) != 8) return false;
    return series->chunk_frames == 1 || series->chunk_rows >= series->rows;
}

mabd_status mabd_series_open(mabd_series* series, mabd_h5_file* file, const char* name,
                             uint64_t address, mabd_error* error) {
    series->name = name;
    series->rank = 0;
    series->extent_at = series->root_at = 0;
    series->last_chunk = UNDEFINED;
    const size_t room = sizeof file->head;
    bool known = address + 16 <= room && file->head[address] == 1;
    size_t end = known ? (size_t)address + 16 + get(file->head + address + 8, 4) : 0;
    known = known && end <= room;
    size_t at = (size_t)address + 16;
    while (known && at + 8 <= end) {
        const unsigned char* data = file->head + at + 8;
        size_t type = get(file->head + at, 2), size = get(file->head + at + 2, 2);
        if (at + 8 + size > end) break;
        if (type == 1) {
            known = read_dataspace(series, data, size);
            series->extent_at = at + 8 + 8;
        } else if (type == 8) {
            known = read_layout(series, data, size);
            series->root_at = at + 8 + 3;
        }
        at += 8 + size;
    }
    if (!known || series->extent_at == 0 || series->root_at == 0) {
        return fail_format(file, "its datasets are not as expected; another program rewrote it",
                           error);
    }
    while (file->head_size < end) file->head_size += MABD_H5_PAGE;
    return MABD_OK;
}

void mabd_series_free(mabd_series* series, const mabd_allocator* allocator) {
    mabd_list_free(allocator, &series->known, sizeof(uint64_t));
}

uint64_t mabd_series_frames(const mabd_series* series, const mabd_h5_file* file) {
    return get(file->head + series->extent_at, 8);
}

void mabd_series_set_frames(const mabd_series* series, mabd_h5_file* file, uint64_t frames) {
    put(file->head + series->extent_at, 8, frames);
}

// ---- the index ---------------------------------------------------------------------------------

// Make the key of the chunk of `size` bytes that starts at a frame and a row.
static void put_key(const mabd_series* series, unsigned char* key, uint64_t size, uint64_t frame,
                    uint64_t row) {
    memset(key, 0, (size_t)key_size(series));
    put(key, 4, size);
    put(key + 8, 8, frame);
    if (series->rank == 3) put(key + 16, 8, row);
}

static uint64_t chunk_of_key(const mabd_series* series, const unsigned char* key) {
    uint64_t frame = get(key + 8, 8), row = series->rank == 3 ? get(key + 16, 8) : 0;
    return frame / series->chunk_frames * chunks_per_frame(series) + row / series->chunk_rows;
}

static void start_node(mabd_series_node* node, int32_t level, uint64_t address, uint64_t left) {
    memset(node, 0, sizeof *node);
    node->address = address;
    memcpy(node->bytes, "TREE\1", 5);
    node->bytes[5] = (unsigned char)level;
    put(node->bytes + 8, 8, left);
    put(node->bytes + 16, 8, UNDEFINED);
}

static void append_entry(const mabd_series* series, mabd_series_node* node,
                         const unsigned char* key, uint64_t child) {
    unsigned char* entry = node->bytes + entry_at(series, node->used);
    memcpy(entry, key, (size_t)key_size(series));
    put(entry + key_size(series), 8, child);
    node->used++;
    put(node->bytes + 6, 2, (uint64_t)node->used);
}

// Write a node; it ends with the key after its last chunk.
static mabd_status write_node(mabd_series* series, mabd_h5_file* file, int32_t level,
                              const unsigned char* bound, mabd_error* error) {
    mabd_series_node* node = &series->nodes[level];
    memcpy(node->bytes + entry_at(series, node->used), bound, (size_t)key_size(series));
    return mabd_file_write(file->fd, file->path, node->bytes, node_size(series), node->address,
                           error);
}

// Add a root above all levels, with the old root as its first child.
static mabd_status grow_root(mabd_series* series, mabd_h5_file* file, mabd_error* error) {
    const int32_t top = series->levels;
    if (top == MABD_SERIES_LEVELS) return fail_format(file, "it has too many chunks", error);
    uint64_t address;
    MABD_TRY(take(file, node_size(series), &address, error));
    start_node(&series->nodes[top], top, address, UNDEFINED);
    if (top > 0) {
        unsigned char first[40];
        put_key(series, first, chunk_bytes(series), 0, 0);
        append_entry(series, &series->nodes[top], first, series->nodes[top - 1].address);
    }
    series->levels++;
    put(file->head + series->root_at, 8, address);
    return MABD_OK;
}

// Append a chunk to the index. Levels below `top` are full: each gets a new node.
static mabd_status insert(mabd_series* series, mabd_h5_file* file, const unsigned char* key,
                          const unsigned char* bound, uint64_t address, mabd_error* error) {
    int32_t top = 0;
    while (top < series->levels && series->nodes[top].used == NODE_ENTRIES) top++;
    if (top == series->levels) MABD_TRY(grow_root(series, file, error));

    uint64_t old[MABD_SERIES_LEVELS], child = address;
    for (int32_t level = 0; level <= top; level++) {
        mabd_series_node* node = &series->nodes[level];
        if (level < top) {
            old[level] = node->address;
            uint64_t fresh;
            MABD_TRY(take(file, node_size(series), &fresh, error));
            start_node(node, level, fresh, old[level]);
        }
        append_entry(series, node, key, child);
        child = node->address;
    }
    // Write the bound of the levels above `top` first, so that every chunk of the tree is found;
    // then new nodes before the nodes that refer to them.
    for (int32_t level = top + 1; level < series->levels; level++) {
        MABD_TRY(write_node(series, file, level, bound, error));
    }
    for (int32_t level = 0; level <= top; level++) {
        MABD_TRY(write_node(series, file, level, bound, error));
        if (level == top) break;
        unsigned char right[8];
        put(right, 8, series->nodes[level].address);
        MABD_TRY(mabd_file_write(file->fd, file->path, right, 8, old[level] + 16, error));
    }
    return MABD_OK;
}

// Find the address of a chunk; the chunk after the last one is created.
static mabd_status locate(mabd_series* series, mabd_h5_file* file, uint64_t chunk,
                          mabd_error* error) {
    if (chunk == series->last_chunk) return MABD_OK;
    if (chunk < series->chunk_count) {
        series->last_address = ((const uint64_t*)series->known.data)[chunk - series->known_first];
    } else {
        const uint64_t frame = chunk / chunks_per_frame(series) * series->chunk_frames;
        const uint64_t row = chunk % chunks_per_frame(series) * series->chunk_rows;
        unsigned char key[40], bound[40];
        put_key(series, key, chunk_bytes(series), frame, row);
        put_key(series, bound, 0, frame + series->chunk_frames, 0);
        MABD_TRY(take(file, chunk_bytes(series), &series->last_address, error));
        MABD_TRY(insert(series, file, key, bound, series->last_address, error));
        series->chunk_count++;
    }
    series->last_chunk = chunk;
    return MABD_OK;
}

mabd_status mabd_series_write(mabd_series* series, mabd_h5_file* file, uint64_t frame,
                              const void* data, mabd_error* error) {
    const uint64_t row_bytes = series->columns * 8;
    const uint64_t first = frame / series->chunk_frames * chunks_per_frame(series);
    const uint64_t inside = frame % series->chunk_frames * series->chunk_rows * row_bytes;
    const char* from = data;
    for (uint64_t row = 0, chunk = first; row < series->rows; chunk++) {
        uint64_t rows = series->rows - row;
        if (rows > series->chunk_rows) rows = series->chunk_rows;
        MABD_TRY(locate(series, file, chunk, error));
        MABD_TRY(mabd_file_write(file->fd, file->path, from + row * row_bytes,
                                 (size_t)(rows * row_bytes), series->last_address + inside, error));
        row += rows;
    }
    return MABD_OK;
}

// ---- reading an index --------------------------------------------------------------------------

typedef struct walk {
    mabd_series* series;
    mabd_h5_file* file;
    const mabd_allocator* allocator;
    uint64_t first; // first chunk whose address is kept
    mabd_error* error;
} walk;

static mabd_status fail_index(const walk* w) {
    return fail_format(w->file, "the index of a dataset is damaged", w->error);
}

static mabd_status read_node(const walk* w, uint64_t address, mabd_series_node* node) {
    size_t got = 0, size = node_size(w->series);
    if (address % MABD_H5_PAGE != 0 || address >= w->file->end) return fail_index(w);
    MABD_TRY(
        mabd_file_read(w->file->fd, w->file->path, node->bytes, size, address, &got, w->error));
    node->address = address;
    node->used = (int32_t)get(node->bytes + 6, 2);
    bool known = got == size && memcmp(node->bytes, "TREE\1", 5) == 0;
    return known && node->used >= 1 && node->used <= NODE_ENTRIES ? MABD_OK : fail_index(w);
}

// The chunks of a leaf must follow each other without a gap.
static mabd_status keep_chunks(walk* w, const mabd_series_node* leaf) {
    mabd_series* series = w->series;
    if (mabd_list_reserve(w->allocator, &series->known, sizeof(uint64_t), leaf->used) != MABD_OK) {
        return mabd_fail_memory(w->error, "reading the index of a recording");
    }
    for (int32_t i = 0; i < leaf->used; i++) {
        const unsigned char* key = leaf->bytes + entry_at(series, i);
        uint64_t chunk = chunk_of_key(series, key), address = get(key + key_size(series), 8);
        if (series->chunk_count > 0 && chunk != series->chunk_count) return fail_index(w);
        if (get(key, 4) != chunk_bytes(series) || get(key + 4, 4) != 0) return fail_index(w);
        if (address > w->file->end || chunk_bytes(series) > w->file->end - address) {
            return fail_index(w);
        }
        series->chunk_count = chunk + 1;
        if (chunk < w->first) continue;
        ((uint64_t*)series->known.data)[series->known.count++] = address;
    }
    return MABD_OK;
}

// Visit the leaves with chunks from `first` on. The last node of each level is kept in
// series->nodes.
static mabd_status walk_level(walk* w, int32_t level, uint64_t address) {
    mabd_series* series = w->series;
    mabd_series_node* node = &series->nodes[level];
    MABD_TRY(read_node(w, address, node));
    if (node->bytes[5] != level) return fail_index(w);
    if (level == 0) return keep_chunks(w, node);
    for (int32_t i = 0; i < node->used; i++) {
        const unsigned char* next = node->bytes + entry_at(series, i + 1);
        if (i + 1 < node->used && chunk_of_key(series, next) <= w->first) continue;
        uint64_t child = get(node->bytes + entry_at(series, i) + key_size(series), 8);
        MABD_TRY(walk_level(w, level - 1, child));
    }
    return MABD_OK;
}

mabd_status mabd_series_load(mabd_series* series, mabd_h5_file* file, uint64_t frame,
                             const mabd_allocator* allocator, mabd_error* error) {
    series->known_first = frame / series->chunk_frames * chunks_per_frame(series);
    walk w = {series, file, allocator, series->known_first, error};
    uint64_t root = get(file->head + series->root_at, 8);
    if (root != UNDEFINED) {
        MABD_TRY(read_node(&w, root, &series->nodes[0]));
        series->levels = series->nodes[0].bytes[5] + 1;
        if (series->levels > MABD_SERIES_LEVELS) return fail_index(&w);
        MABD_TRY(walk_level(&w, series->levels - 1, root));
    }
    const uint64_t needed = (frame + series->chunk_frames - 1) / series->chunk_frames;
    return series->chunk_count >= needed * chunks_per_frame(series) ? MABD_OK : fail_index(&w);
}
