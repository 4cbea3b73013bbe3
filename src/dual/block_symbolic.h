// SPDX-License-Identifier: Apache-2.0
// Symbolic analysis of a sparse block factorisation: integers only, made once for a pattern and an
// order.
//
// The slots of a dual system are eliminated in some order. Slots that follow each other and have
// (nearly) the same rows below them form a node (a supernode); nodes form a forest, and the rows
// below a node belong to its ancestors. Numerically each node is one dense front:
//
//          width    below
//        +--------+
//        | D11    |            rows of its own slots, padded to a multiple of 8
//        +--------+-------+
//        | L21    | update |   rows below, padded to a multiple of 8
//        +--------+-------+
//
// "Local row" = row of a front: own rows from 0, rows below from the padded width on.
//
// Parts are groups of whole subtrees of the forest, of about equal work; they are independent of
// each other. Nodes in no part form the top and come last: nodes of part 0, of part 1, .., of the
// top.
#pragma once

#include "dual/dual.h"

#define MABD_BLOCK_TILE   8
#define MABD_BLOCK_PAD(n) (((n) + MABD_BLOCK_TILE - 1) / MABD_BLOCK_TILE * MABD_BLOCK_TILE)

/// Rows below a node that follow each other.
typedef struct mabd_dual_block_run {
    int32_t row;    // first of them, in elimination order
    int32_t at;     // its local row in the parent
    int32_t length; // none crosses the end of the parent's own rows
} mabd_dual_block_run;

/// Data of a slot for assembly, in the order of assembly: the system's own arrays are in another
/// order, and four of five dependent loads would miss the cache.
typedef struct mabd_dual_block_slot {
    size_t block;  // offset in D
    int32_t slot;  // in the system
    int32_t row;   // its first row there
    int32_t first; // its first row in elimination order
    int32_t width;
} mabd_dual_block_slot;

/// Where the block of an edge goes in its node's front.
typedef struct mabd_dual_block_place {
    size_t block;          // offset in U
    int32_t row, column;   // local
    int16_t rows, columns; // of the block as it is in U
    int32_t transposed;    // 1: the block is (column slot) x (row slot)
} mabd_dual_block_place;

typedef struct mabd_dual_block_node {
    int32_t row, width, below;  // first own row in elimination order; rows
    int32_t slot, slot_count;   // its slots, in `slots`
    int32_t run, run_count;     // rows below
    int32_t place, place_count; // its edges
    int32_t child, child_count; // in `children`
    int16_t inherits;           // 1 if some child adds to the rows below
    int16_t kept;               // 1 if it is of a part and its parent of the top
    int64_t panel;              // offset of its columns in the factor [doubles]
    int64_t update; // offset of its update matrix in the stack, or in the kept matrices [doubles]
} mabd_dual_block_node;

/// Nodes that one thread works on, and the memory it needs for that.
typedef struct mabd_dual_block_part {
    int32_t first, last;     // nodes first .. last - 1
    int32_t widest, deepest; // largest padded width, largest padded rows below
    int64_t front_size;      // of the largest front's own columns [doubles]
} mabd_dual_block_part;

/// Largest number of parts.
#define MABD_BLOCK_PARTS 64

typedef struct mabd_dual_block_symbolic {
    int32_t slot_count, row_count, node_count;
    int32_t part_count;          // without the top, which is the part after the last
    int32_t top_row;             // first row of the top
    mabd_dual_block_part* parts; // (part_count + 1)
    mabd_dual_block_slot* slots; // in elimination order (slot_count)
    mabd_dual_block_node* nodes; // children before parents (node_count)
    int32_t* children;           // (node_count)
    mabd_dual_block_run* runs;
    mabd_dual_block_place* places; // (edge_count)
    int64_t panel_size;            // of the factor [doubles]
    int64_t stack_size; // of the update matrices alive at once, of any one part [doubles]
    int64_t top_size;   // of those of the top
    int64_t kept_size;  // of those that the parts leave for the top
    double flops;       // of the numeric factorisation, padding left out
    size_t bytes;       // of this object
} mabd_dual_block_symbolic;

/// Analyse a system symbolically. order (slot_count): slots in the order to eliminate them; the
/// analysis may change it to an equivalent one (same fill). Destroy with
/// mabd_dual_block_symbolic_destroy.
mabd_status mabd_dual_block_analyse(const mabd_allocator* allocator, const mabd_dual_system* system,
                                    const int32_t* order, mabd_dual_block_symbolic** symbolic);
void mabd_dual_block_symbolic_destroy(const mabd_allocator* allocator,
                                      mabd_dual_block_symbolic* symbolic);

/// Cost of elimination in some order, without amalgamation.
typedef struct mabd_dual_block_count {
    double flops;   // floating-point operations
    double entries; // of the factor, the diagonal included
} mabd_dual_block_count;

/// Count the cost of an order (slot_count). Counting stops when the operations pass `limit`; then
/// flops is `limit` and entries 0.
mabd_status mabd_dual_block_cost(const mabd_allocator* allocator, const mabd_dual_system* system,
                                 const int32_t* order, double limit, mabd_dual_block_count* count);
