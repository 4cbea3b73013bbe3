// SPDX-License-Identifier: Apache-2.0
// Datasets of an HDF5 file that grow by one frame at a time, (frames x rows x columns) of 8-byte
// elements, written in place so that the file is a valid HDF5 file after every single write: a run
// killed at any moment leaves all committed frames, and readers may open the file at any moment.
//
// The HDF5 library creates the file (record/layout.h); frames are added here, in its oldest format:
// superblock 0, object headers 1, chunk index = B-tree 1. None of these has a checksum, and all
// fields that must change together are in the first page of the file.
//
//   page 0   superblock: end of file | object headers: extents, roots of the indices | ...
//   later    chunks of data, nodes of the indices, each within one page
//
//   write    data, then new nodes, then nodes that refer to them: beyond the extents, invisible
//   commit   page 0, one write: end of file, roots and extents of all datasets at once
//
// Entries are only appended to index nodes, and a full node is never split: leaves hold 64 chunks
// each, and a new root has the old root as its first child.
#pragma once

#include "base/list.h"

#define MABD_H5_PAGE       4096
#define MABD_H5_HEAD_MAX   (4 * MABD_H5_PAGE)
#define MABD_SERIES_LEVELS 8 // of an index: 64^8 chunks

/// An HDF5 file that grows.
typedef struct mabd_h5_file {
    int fd;
    const char* path; // for messages
    uint64_t end;     // first byte not in use
    size_t head_size; // bytes of head in use, 1 page if HDF5 put all headers there
    unsigned char head[MABD_H5_HEAD_MAX]; // start of the file after the next commit
} mabd_h5_file;

/// Read the start of the open file `fd`. MABD_ERR_INPUT if its format is not the expected one.
mabd_status mabd_h5_file_open(mabd_h5_file* file, int fd, const char* path, mabd_error* error);
/// Make all data written since the last commit visible, by one write.
mabd_status mabd_h5_file_commit(mabd_h5_file* file, mabd_error* error);
/// Release space at the end that was reserved and not used. Call after a commit.
mabd_status mabd_h5_file_trim(mabd_h5_file* file, mabd_error* error);

/// The last node of one level of an index.
typedef struct mabd_series_node {
    uint64_t address;
    int32_t used;
    unsigned char bytes[MABD_H5_PAGE];
} mabd_series_node;

/// One growing dataset.
typedef struct mabd_series {
    const char* name;
    int32_t rank;              // 1: (frames), 2: (frames x columns), 3: (frames x rows x columns)
    uint64_t rows, columns;    // of one frame
    uint64_t chunk_frames;     // of one chunk
    uint64_t chunk_rows;       // of one chunk; less than rows: chunk_frames = 1
    size_t extent_at, root_at; // in the head
    int32_t levels;            // of the index, 0 = no chunk yet
    uint64_t chunk_count;      // in the index
    uint64_t last_chunk, last_address;          // of the last chunk written
    uint64_t known_first;                       // chunk of known[0]
    mabd_list known;                            // uint64_t: addresses of chunks found in the file
    mabd_series_node nodes[MABD_SERIES_LEVELS]; // of each level, from the leaves
} mabd_series;

/// Find the dataset whose object header is at `address`. MABD_ERR_INPUT if its format is not the
/// expected one.
mabd_status mabd_series_open(mabd_series* series, mabd_h5_file* file, const char* name,
                             uint64_t address, mabd_error* error);
/// Read the index, so that chunks with `frame` and later frames are overwritten in place.
/// MABD_ERR_INPUT if the index is damaged.
mabd_status mabd_series_load(mabd_series* series, mabd_h5_file* file, uint64_t frame,
                             const mabd_allocator* allocator, mabd_error* error);
/// Free the addresses read by mabd_series_load.
void mabd_series_free(mabd_series* series, const mabd_allocator* allocator);

/// Number of frames that are visible after the next commit.
uint64_t mabd_series_frames(const mabd_series* series, const mabd_h5_file* file);
/// Set the number of frames that are visible after the next commit.
void mabd_series_set_frames(const mabd_series* series, mabd_h5_file* file, uint64_t frames);
/// Write a frame (rows x columns) of 8-byte elements. Frames must be written in order.
mabd_status mabd_series_write(mabd_series* series, mabd_h5_file* file, uint64_t frame,
                              const void* data, mabd_error* error);
