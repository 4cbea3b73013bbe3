// SPDX-License-Identifier: Apache-2.0
// Small random joint graphs, for tests that enumerate all subsets of their joints.
#pragma once

#include "topology/graph.h"

#define GRAPH_BODIES 8
#define GRAPH_JOINTS 10

/// A small graph with its own arrays.
typedef struct graph_sample {
    bool moving[GRAPH_BODIES];
    int32_t a[GRAPH_JOINTS], b[GRAPH_JOINTS], width[GRAPH_JOINTS];
    mabd_graph graph;
    int32_t inner[GRAPH_JOINTS], inner_count; // joints with rows between two moving bodies
} graph_sample;

static inline uint32_t random_below(uint64_t* seed, uint32_t n) {
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((*seed >> 33) % n);
}

static inline bool moves(const graph_sample* s, int32_t body) {
    return body >= 0 && s->moving[body];
}

/// Draw a graph. Every fifth body does not move; some joints lead to the ground, are parallel, or
/// have no rows.
static inline void draw_graph(graph_sample* s, uint64_t seed) {
    uint64_t r = seed * 7919 + 1;
    const int32_t bodies = 1 + (int32_t)random_below(&r, GRAPH_BODIES);
    const int32_t joints = (int32_t)random_below(&r, GRAPH_JOINTS + 1);
    s->inner_count = 0;
    for (int32_t i = 0; i < bodies; i++) s->moving[i] = random_below(&r, 5) != 0;
    for (int32_t j = 0; j < joints; j++) {
        const int32_t a = (int32_t)random_below(&r, (uint32_t)bodies + 1) - 1;
        const int32_t b = (int32_t)random_below(&r, (uint32_t)bodies + 1) - 1;
        s->a[j] = a, s->b[j] = b, s->width[j] = (int32_t)random_below(&r, 7);
        if (a == b || (!moves(s, a) && !moves(s, b))) s->width[j] = 0;
        if (s->width[j] > 0 && moves(s, a) && moves(s, b)) s->inner[s->inner_count++] = j;
    }
    s->graph = (mabd_graph){.body_count = bodies,
                            .joint_count = joints,
                            .moving = s->moving,
                            .a = s->a,
                            .b = s->b,
                            .width = s->width};
}
