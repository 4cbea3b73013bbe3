// SPDX-License-Identifier: Apache-2.0
// A symmetric system over the bodies of a part.
//
//   S = J' V J + shift,    y = (J' V J)^+ b:   y += S^-1 (b - J' V J y),  from y = 0
//
// Slots are bodies, 6 wide; two bodies are coupled if they share a joint. J' V J has a null space,
// the freedoms of the part; the shift, relative to the diagonal, gives it pivots. The iteration
// converges as shift/(sigma + shift) with sigma the eigenvalues of J' V J, and stays out of the
// null space, because b and the residuals are in the range of J'. The residual is computed with J
// itself, so that J' (V J y) = b to round-off.
//
// Cost: one factor of 6x6 blocks over the graph of the bodies, in the cheapest order of
// dual/block_order.h: 67,650 entries for the 240 bodies of Hoberman's sphere, against 1980 rows.

#include "formulation/quaternion/body_graph.h"

#include "formulation/quaternion/quaternion_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Refinements at most, the least fall of the residual with which they go on, and the part of the
/// largest force at which they end.
#define REFINE_MAX  60
#define REFINE_FALL ((mabd_real)2)
#define REFINE_PART ((mabd_real)1e-13)

#define BLOCK 36 // reals of a 6 x 6 block

// ---- pattern -----------------------------------------------------------------------------------

// The bodies of a joint as one number, the lower slot first; SIZE_MAX if one of them is prescribed.
// Every joint couples its bodies here, also where its forces do not: the Newton matrix has no block
// between the bodies of a ball joint (pattern.c).
static uint64_t key_of(const mabd_quaternion_joint* j) {
    const int32_t low = j->slot_a < j->slot_b ? j->slot_a : j->slot_b;
    const int32_t high = j->slot_a < j->slot_b ? j->slot_b : j->slot_a;
    return low < 0 ? UINT64_MAX : (uint64_t)(uint32_t)low << 32 | (uint32_t)high;
}

static int by_key(const void* a, const void* b) {
    const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

// A joint has at most one edge.
static void lay_out(mabd_body_graph* g, size_t bodies, size_t joints, mabd_arena* arena) {
    const size_t edges = joints;
    g->width = mabd_arena_take(arena, bodies, sizeof *g->width);
    g->row = mabd_arena_take(arena, bodies, sizeof *g->row);
    g->block = mabd_arena_take(arena, bodies, sizeof *g->block);
    g->from = mabd_arena_take(arena, edges, sizeof *g->from);
    g->to = mabd_arena_take(arena, edges, sizeof *g->to);
    g->edge_block = mabd_arena_take(arena, edges, sizeof *g->edge_block);
    g->key = mabd_arena_take(arena, joints, sizeof *g->key);
    g->pair = mabd_arena_take(arena, joints, sizeof *g->pair);
    g->V = mabd_arena_take(arena, joints * MABD_GRAPH_WIDTH * MABD_GRAPH_WIDTH, sizeof *g->V);
    g->mixed = mabd_arena_take(arena, joints, sizeof *g->mixed);
    g->force = mabd_arena_take(arena, 6 * bodies, sizeof *g->force);
    g->motion = mabd_arena_take(arena, 6 * bodies, sizeof *g->motion);
    g->rest = mabd_arena_take(arena, 6 * bodies, sizeof *g->rest);
    g->system.D = mabd_arena_take(arena, BLOCK * bodies, sizeof *g->system.D);
    g->system.U = mabd_arena_take(arena, BLOCK * edges, sizeof *g->system.U);
}

// Number of the edge of two bodies, from < to; they are sorted.
static size_t find_edge(const mabd_body_graph* g, int32_t from, int32_t to) {
    size_t low = 0, high = (size_t)g->system.edge_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const bool before =
            g->from[middle] < from || (g->from[middle] == from && g->to[middle] < to);
        if (before) low = middle + 1;
        if (!before) high = middle;
    }
    return low;
}

// Fill the edges, sorted by (from, to), and the block of each joint; returns how many edges.
static int32_t fill_pattern(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                            mabd_body_graph* g) {
    const mabd_quaternion_joint* joints = sim->joints + part->joint_first;
    int32_t at = 0;
    for (int32_t i = 0; i < part->body_count; i++) {
        g->width[i] = 6, g->row[i] = 6 * i, g->block[i] = BLOCK * (size_t)i;
    }
    for (int32_t i = 0; i < part->joint_count; i++) g->key[i] = key_of(joints + i);
    qsort(g->key, (size_t)part->joint_count, sizeof *g->key, by_key);
    for (int32_t i = 0; i < part->joint_count && g->key[i] != UINT64_MAX; i++) {
        if (i > 0 && g->key[i] == g->key[i - 1]) continue;
        g->from[at] = (int32_t)(g->key[i] >> 32), g->to[at] = (int32_t)(g->key[i] & UINT32_MAX);
        g->edge_block[at] = BLOCK * (size_t)at;
        at++;
    }
    g->system.edge_count = at;
    for (int32_t i = 0; i < part->joint_count; i++) {
        const uint64_t key = key_of(joints + i);
        const int32_t from = (int32_t)(key >> 32), to = (int32_t)(key & UINT32_MAX);
        g->pair[i] = key == UINT64_MAX ? SIZE_MAX : BLOCK * find_edge(g, from, to);
    }
    return at;
}

static void set_system(mabd_body_graph* g, int32_t bodies, int32_t edges) {
    mabd_dual_system* system = &g->system;
    system->slot_count = bodies, system->edge_count = edges, system->row_count = 6 * bodies;
    system->width = g->width, system->row = g->row, system->block = g->block;
    system->from = g->from, system->to = g->to, system->edge_block = g->edge_block;
}

mabd_status mabd_body_graph_create(const mabd_quaternion_sim* sim, const mabd_quaternion_part* part,
                                   mabd_body_graph** graph) {
    const size_t bodies = (size_t)part->body_count, joints = (size_t)part->joint_count;
    mabd_arena arena = {0};
    *graph = NULL;
    mabd_body_graph* g = mabd_alloc(&sim->allocator, sizeof *g);
    if (!g) return MABD_ERR_MEMORY;
    lay_out(g, bodies, joints, &arena);
    mabd_status status = mabd_arena_allocate(&sim->allocator, &arena);
    if (status == MABD_OK) {
        g->memory = arena.memory, g->memory_size = arena.size;
        lay_out(g, bodies, joints, &arena);
        set_system(g, part->body_count, fill_pattern(sim, part, g));
        status = mabd_dual_block.create(&sim->allocator, &g->system, &g->solver);
    }
    if (status != MABD_OK) {
        mabd_body_graph_destroy(&sim->allocator, g);
        return status;
    }
    *graph = g;
    return MABD_OK;
}

void mabd_body_graph_destroy(const mabd_allocator* allocator, mabd_body_graph* graph) {
    if (!graph) return;
    mabd_dual_block.destroy(allocator, graph->solver);
    mabd_free(allocator, graph->memory, graph->memory_size);
    mabd_free(allocator, graph, sizeof *graph);
}

size_t mabd_body_graph_bytes(const mabd_body_graph* graph) {
    if (!graph) return 0;
    return sizeof *graph + graph->memory_size + mabd_dual_block.bytes(graph->solver);
}

// ---- products ----------------------------------------------------------------------------------

/// Sides of a joint: J (width x 6) of each, null = it does not move by forces.
typedef struct joint_sides {
    const mabd_real* J[2];
    int32_t slot[2];
    int32_t width;
    const mabd_row_set* set;
    const mabd_real* V;
    bool mixed;
} joint_sides;

static joint_sides sides_of(const mabd_quaternion_solve* s, int32_t i) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
    joint_sides out = {.slot = {j->slot_a, j->slot_b}, .width = j->slot >= 0 ? j->width : 0};
    if (j->block_a != SIZE_MAX) out.J[0] = sim->lower + j->block_a;
    if (j->block_b != SIZE_MAX) out.J[1] = sim->lower + j->block_b;
    out.set = &sim->model->row_sets[sim->model->joints[j->joint].row_set];
    out.V = s->part->graph->V + (size_t)i * MABD_GRAPH_WIDTH * MABD_GRAPH_WIDTH;
    out.mixed = s->part->graph->mixed[i];
    return out;
}

void mabd_body_graph_set_equal(const mabd_quaternion_solve* s) {
    const size_t size = MABD_GRAPH_WIDTH * MABD_GRAPH_WIDTH;
    mabd_real* V = s->part->graph->V;
    memset(s->part->graph->mixed, 0, (size_t)s->part->joint_count * sizeof(bool));
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const joint_sides j = sides_of(s, i);
        memset(V + (size_t)i * size, 0, (size_t)(j.width * j.width) * sizeof *V);
        for (int32_t r = 0; r < j.width; r++) {
            V[(size_t)i * size + (size_t)(r * (j.width + 1))] = mabd_is_free_row(j.set, r);
        }
    }
}

// x (width) = V J y of a joint
static void row_values(const joint_sides* j, const mabd_real* y, mabd_real* x) {
    mabd_real speed[MABD_GRAPH_WIDTH];
    for (int32_t r = 0; r < j->width; r++) {
        speed[r] = 0;
        for (int side = 0; side < 2; side++) {
            if (!j->J[side]) continue;
            const mabd_real *row = j->J[side] + 6 * r, *u = y + 6 * (size_t)j->slot[side];
            for (int k = 0; k < 6; k++) speed[r] += row[k] * u[k];
        }
    }
    for (int32_t r = 0; r < j->width; r++) {
        x[r] = j->V[r * (j->width + 1)] * speed[r];
        for (int32_t q = 0; j->mixed && q < j->width; q++) {
            if (q != r) x[r] += j->V[r * j->width + q] * speed[q];
        }
    }
}

// out += J' x of a joint
static void add_forces(const joint_sides* j, const mabd_real* x, mabd_real* out) {
    for (int side = 0; side < 2; side++) {
        if (!j->J[side]) continue;
        mabd_real* to = out + 6 * (size_t)j->slot[side];
        for (int32_t r = 0; r < j->width; r++) {
            for (int k = 0; k < 6; k++) to[k] += j->J[side][6 * r + k] * x[r];
        }
    }
}

void mabd_body_graph_multiply(const mabd_quaternion_solve* s, const mabd_real* x, mabd_real* out) {
    memset(out, 0, 6 * (size_t)s->part->body_count * sizeof *out);
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const joint_sides j = sides_of(s, i);
        mabd_real rows[MABD_GRAPH_WIDTH];
        row_values(&j, x, rows);
        add_forces(&j, rows, out);
    }
}

void mabd_body_graph_row_forces(const mabd_quaternion_solve* s, const mabd_real* y,
                                mabd_real* lambda) {
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const joint_sides j = sides_of(s, i);
        const int32_t first = s->sim->joints[s->part->joint_first + i].row - s->part->row_first;
        mabd_real rows[MABD_GRAPH_WIDTH];
        row_values(&j, y, rows);
        for (int32_t r = 0; r < j.width; r++) {
            if (mabd_is_free_row(j.set, r)) lambda[first + r] = rows[r];
        }
    }
}

void mabd_body_graph_body_forces(const mabd_quaternion_solve* s, const mabd_real* lambda,
                                 mabd_real* out) {
    memset(out, 0, 6 * (size_t)s->part->body_count * sizeof *out);
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const joint_sides j = sides_of(s, i);
        const int32_t first = s->sim->joints[s->part->joint_first + i].row - s->part->row_first;
        mabd_real rows[MABD_GRAPH_WIDTH];
        for (int32_t r = 0; r < j.width; r++) {
            rows[r] = mabd_is_free_row(j.set, r) ? lambda[first + r] : 0;
        }
        add_forces(&j, rows, out);
    }
}

// ---- factor and solve --------------------------------------------------------------------------

// row (6) = row r of V R
static void weigh_row(const joint_sides* j, int32_t r, const mabd_real* R, mabd_real* row) {
    const mabd_real* V = j->V + r * j->width;
    for (int k = 0; k < 6; k++) row[k] = V[r] * R[6 * r + k];
    for (int32_t q = 0; j->mixed && q < j->width; q++) {
        for (int k = 0; q != r && k < 6; k++) row[k] += V[q] * R[6 * q + k];
    }
}

// out (6 x 6) += L' V R, with L and R (width x 6); about half of the entries of L are zero
static void add_block(const joint_sides* j, const mabd_real* L, const mabd_real* R,
                      mabd_real* out) {
    for (int32_t r = 0; r < j->width; r++) {
        mabd_real row[6];
        weigh_row(j, r, R, row);
        for (int i = 0; i < 6; i++) {
            const mabd_real x = L[6 * r + i];
            if (x == 0) continue;
            for (int k = 0; k < 6; k++) out[6 * i + k] += x * row[k];
        }
    }
}

void mabd_body_graph_assemble(const mabd_quaternion_solve* s) {
    mabd_body_graph* g = s->part->graph;
    memset(g->system.D, 0, BLOCK * (size_t)g->system.slot_count * sizeof(mabd_real));
    memset(g->system.U, 0, BLOCK * (size_t)g->system.edge_count * sizeof(mabd_real));
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const joint_sides j = sides_of(s, i);
        for (int side = 0; side < 2; side++) {
            if (!j.J[side]) continue;
            add_block(&j, j.J[side], j.J[side], g->system.D + BLOCK * (size_t)j.slot[side]);
        }
        if (g->pair[i] == SIZE_MAX || !j.J[0] || !j.J[1]) continue;
        const int low = j.slot[0] < j.slot[1] ? 0 : 1;
        add_block(&j, j.J[low], j.J[1 - low], g->system.U + g->pair[i]);
    }
}

// Sum of the diagonal of the 3 x 3 part of a block from row `first` on.
static mabd_real trace(const mabd_real* D, int first) {
    return D[7 * first] + D[7 * (first + 1)] + D[7 * (first + 2)];
}

// Add `shift` times the mean diagonal of translations, and of rotations, to each block; a body that
// no row holds gets that of the others.
static void shift_diagonal(mabd_body_graph* g, mabd_real shift) {
    for (int first = 0; shift > 0 && first < 6; first += 3) {
        mabd_real most = 0;
        for (int32_t i = 0; i < g->system.slot_count; i++) {
            const mabd_real own = trace(g->system.D + g->block[i], first);
            if (own > most) most = own;
        }
        for (int32_t i = 0; i < g->system.slot_count; i++) {
            mabd_real* D = g->system.D + g->block[i];
            const mabd_real own = trace(D, first), size = own > 0 ? own : most > 0 ? most : 1;
            for (int k = first; k < first + 3; k++) D[7 * k] += shift * size / 3;
        }
    }
}

mabd_status mabd_body_graph_factor(const mabd_quaternion_solve* s, mabd_real shift, int32_t* slot) {
    mabd_body_graph* g = s->part->graph;
    mabd_body_graph_assemble(s);
    shift_diagonal(g, shift);
    return mabd_dual_block.factor(g->solver, &g->system, slot);
}

int32_t mabd_body_graph_solve(const mabd_quaternion_solve* s, const mabd_real* b, mabd_real* y) {
    mabd_body_graph* g = s->part->graph;
    const size_t n = 6 * (size_t)s->part->body_count;
    mabd_real *rest = g->rest, last = (mabd_real)INFINITY, goal = 0;
    int32_t count = 0;
    for (size_t i = 0; i < n; i++) goal = (mabd_real)fmax(goal, REFINE_PART * fabs(b[i]));
    memset(y, 0, n * sizeof *y);
    memcpy(rest, b, n * sizeof *rest);
    for (;; count++) {
        mabd_real largest = 0;
        mabd_dual_block.solve(g->solver, &g->system, rest);
        for (size_t i = 0; i < n; i++) y[i] += rest[i];
        mabd_body_graph_multiply(s, y, rest);
        for (size_t i = 0; i < n; i++) {
            rest[i] = b[i] - rest[i];
            largest = (mabd_real)fmax(largest, fabs(rest[i]));
        }
        if (!(largest > goal) || largest > last / REFINE_FALL || count == REFINE_MAX) return count;
        last = largest;
    }
}
