// SPDX-License-Identifier: Apache-2.0
// The exact matrix of a substep.
//
//   | A   -G' | | dV |   | -d |     A = diag(m I, dLp/dw), with drag and contacts on it
//   | G1   c  | | dl | = | -r |     G at the start, G1 = (rows at the end)(I, E), l impulses
//
// Unsymmetric: the impulses of a substep act along the rows at its start, and close those at its
// end. Slots of joints follow their bodies, where their pivot blocks are G1 A^-1 G'. (That is the
// elimination of [VI alg. 2].) Rows that may depend on each other get a shift of 1e-8 of
// their diagonal, whose effect is removed by refinement with the same factor (rigid/refine.h).

#include "formulation/variational/variational_system.h"

#include "formulation/variational/variational_body.h"
#include "rigid/refine.h"

#include <math.h>
#include <string.h>

/// Shift of rows that may depend on each other, relative to G M^-1 G'.
#define SHIFT ((mabd_real)1e-8)
/// Refinement of shifted rows: solves, size of the residual relative to the right-hand side that is
/// enough, ratio of residuals that is no progress.
#define REFINE_MAX  3
#define REFINE_GOAL ((mabd_real)1e-15)
#define REFINE_FALL ((mabd_real)0.9)

// ---- pattern -----------------------------------------------------------------------------------

typedef struct pattern_size {
    size_t slots, edges, rows, diagonal, upper;
    int32_t joints;
} pattern_size;

static void count_tie(const mabd_variational_sim* sim, int32_t a, int32_t b, int32_t width,
                      pattern_size* n) {
    const size_t sides =
        (size_t)mabd_variational_moves(sim, a) + (size_t)mabd_variational_moves(sim, b);
    n->slots++, n->rows += (size_t)width;
    n->edges += sides, n->upper += sides * 6 * (size_t)width;
    n->diagonal += (size_t)(width * width);
}

static int32_t width_of(const mabd_variational_sim* sim, int32_t joint) {
    const mabd_variational_range rows = mabd_variational_rows(sim, joint);
    return rows.end - rows.first;
}

static pattern_size count_pattern(const mabd_variational_sim* sim,
                                  const mabd_variational_island* island, int32_t pairs) {
    pattern_size n = {.slots = (size_t)island->body_count};
    n.rows = 6 * n.slots, n.diagonal = 36 * n.slots;
    for (int32_t i = 0; i < island->joint_count; i++) {
        const mabd_model_joint* joint = &sim->model->joints[island->joints[i]];
        const int32_t width = width_of(sim, island->joints[i]);
        if (width == 0) continue;
        n.joints++;
        count_tie(sim, joint->a, joint->b, width, &n);
    }
    n.edges += (size_t)pairs, n.upper += 36 * (size_t)pairs;
    return n;
}

/// Arrays of the pattern while it is filled.
typedef struct pattern_arrays {
    int32_t *width, *row, *from, *to;
    size_t *block, *edge_block;
    bool* late;
} pattern_arrays;

#define TAKE(field, n)      system->field = mabd_arena_take(arena, (n), sizeof *system->field)
#define TAKE_LIST(field, n) a->field = mabd_arena_take(arena, (n), sizeof *a->field)

static void lay_out(mabd_variational_system* system, pattern_arrays* a, const pattern_size* n,
                    int32_t pairs, mabd_arena* arena) {
    TAKE(joints, (size_t)n->joints);
    TAKE(pairs, (size_t)pairs);
    TAKE(pair_block, (size_t)pairs);
    TAKE_LIST(width, n->slots);
    TAKE_LIST(row, n->slots);
    TAKE_LIST(block, n->slots);
    TAKE_LIST(late, n->slots);
    TAKE_LIST(from, n->edges);
    TAKE_LIST(to, n->edges);
    TAKE_LIST(edge_block, n->edges);
    TAKE(D, n->diagonal);
    TAKE(U, n->upper);
    TAKE(lower, n->upper);
    TAKE(x, n->rows);
    TAKE(b, n->rows);
    TAKE(rest, n->rows);
    TAKE(shift, n->rows);
}

typedef struct pattern_cursor {
    int32_t slot, row, edge;
    size_t diagonal, upper;
} pattern_cursor;

static void add_slot(const pattern_arrays* a, pattern_cursor* at, int32_t width, bool late) {
    a->width[at->slot] = width, a->row[at->slot] = at->row, a->block[at->slot] = at->diagonal;
    a->late[at->slot] = late;
    at->slot++, at->row += width, at->diagonal += (size_t)(width * width);
}

static size_t add_edge(const pattern_arrays* a, pattern_cursor* at, int32_t body, int32_t slot,
                       int32_t width) {
    const size_t block = at->upper;
    a->from[at->edge] = body, a->to[at->edge] = slot, a->edge_block[at->edge] = block;
    at->edge++, at->upper += 6 * (size_t)width;
    return block;
}

// True if edge i comes before edge k, by (from, to).
static bool is_before(const pattern_arrays* a, int32_t i, int32_t k) {
    return a->from[i] != a->from[k] ? a->from[i] < a->from[k] : a->to[i] < a->to[k];
}

static void swap_edges(const pattern_arrays* a, int32_t i, int32_t k) {
    const int32_t from = a->from[i], to = a->to[i];
    const size_t block = a->edge_block[i];
    a->from[i] = a->from[k], a->to[i] = a->to[k], a->edge_block[i] = a->edge_block[k];
    a->from[k] = from, a->to[k] = to, a->edge_block[k] = block;
}

static void sink(const pattern_arrays* a, int32_t count, int32_t i) {
    for (int32_t child = 2 * i + 1; child < count; child = 2 * i + 1) {
        if (child + 1 < count && is_before(a, child, child + 1)) child++;
        if (!is_before(a, i, child)) return;
        swap_edges(a, i, child);
        i = child;
    }
}

// Sort the edges by (from, to), as the analysis expects them.
static void sort_edges(const pattern_arrays* a, int32_t count) {
    for (int32_t i = count / 2; i-- > 0;) sink(a, count, i);
    for (int32_t end = count - 1; end > 0; end--) {
        swap_edges(a, 0, end);
        sink(a, end, 0);
    }
}

static mabd_variational_tie add_tie(const mabd_variational_sim* sim, const pattern_arrays* p,
                                    pattern_cursor* at, int32_t index, int32_t a, int32_t b,
                                    int32_t width) {
    mabd_variational_tie tie = {index, at->slot, at->row, width, SIZE_MAX, SIZE_MAX};
    add_slot(p, at, width, true);
    if (mabd_variational_moves(sim, a)) {
        tie.a = add_edge(p, at, sim->body_slot[a], tie.slot, width);
    }
    if (mabd_variational_moves(sim, b)) {
        tie.b = add_edge(p, at, sim->body_slot[b], tie.slot, width);
    }
    return tie;
}

static void fill(const mabd_variational_sim* sim, const mabd_variational_island* island,
                 int32_t count, const mabd_variational_pair* pairs, mabd_variational_system* system,
                 const pattern_arrays* a) {
    pattern_cursor at = {0};
    system->body_count = island->body_count;
    for (int32_t i = 0; i < island->body_count; i++) add_slot(a, &at, 6, false);
    for (int32_t i = 0; i < island->joint_count; i++) {
        const int32_t joint = island->joints[i], width = width_of(sim, joint);
        const mabd_model_joint* own = &sim->model->joints[joint];
        if (width == 0) continue;
        system->joints[system->joint_count++] = add_tie(sim, a, &at, joint, own->a, own->b, width);
    }
    for (int32_t i = 0; i < count; i++) {
        system->pairs[i] = pairs[i];
        system->pair_block[i] =
            add_edge(a, &at, sim->body_slot[pairs[i].a], sim->body_slot[pairs[i].b], 6);
    }
    system->pair_count = count;
    sort_edges(a, at.edge);
    const mabd_dual_system blocks = {.slot_count = at.slot,
                                     .edge_count = at.edge,
                                     .row_count = at.row,
                                     .width = a->width,
                                     .row = a->row,
                                     .block = a->block,
                                     .from = a->from,
                                     .to = a->to,
                                     .edge_block = a->edge_block,
                                     .late = a->late,
                                     .D = system->D,
                                     .U = system->U};
    system->pattern = (mabd_dual_lu_system){blocks, system->lower};
}

mabd_status mabd_variational_system_create(const mabd_variational_sim* sim,
                                           const mabd_variational_island* island, int32_t count,
                                           const mabd_variational_pair* pairs,
                                           mabd_variational_system** out) {
    const mabd_allocator* allocator = &sim->allocator;
    const pattern_size n = count_pattern(sim, island, count);
    mabd_arena arena = {0};
    pattern_arrays arrays;
    *out = NULL;
    mabd_variational_system* system = mabd_alloc(allocator, sizeof *system);
    if (!system) return MABD_ERR_MEMORY;
    lay_out(system, &arrays, &n, count, &arena);
    mabd_status status = mabd_arena_allocate(allocator, &arena);
    if (status == MABD_OK) {
        lay_out(system, &arrays, &n, count, &arena);
        system->memory = arena.memory, system->memory_size = arena.size;
        fill(sim, island, count, pairs, system, &arrays);
        status = mabd_dual_lu_create(allocator, &system->pattern, NULL, &system->lu);
    }
    if (status == MABD_OK && mabd_dual_lu_count(system->lu).stored > MABD_VARIATIONAL_MAX_ENTRIES) {
        status = MABD_ERR_MEMORY;
    }
    if (status != MABD_OK) {
        mabd_variational_system_destroy(allocator, system);
        return status;
    }
    *out = system;
    return MABD_OK;
}

void mabd_variational_system_destroy(const mabd_allocator* allocator,
                                     mabd_variational_system* system) {
    if (!system) return;
    mabd_dual_lu_destroy(allocator, system->lu);
    mabd_free(allocator, system->memory, system->memory_size);
    mabd_free(allocator, system, sizeof *system);
}

bool mabd_variational_system_has_pairs(const mabd_variational_system* system, int32_t count,
                                       const mabd_variational_pair* pairs) {
    if (system->pair_count != count) return false;
    return count == 0 || memcmp(system->pairs, pairs, (size_t)count * sizeof *pairs) == 0;
}

size_t mabd_variational_system_bytes(const mabd_variational_system* system) {
    if (!system) return 0;
    return sizeof *system + system->memory_size + mabd_dual_lu_bytes(system->lu);
}

// ---- numbers -----------------------------------------------------------------------------------

static mabd_real* system_block(const mabd_variational_system* system, int32_t slot) {
    return system->D + system->pattern.blocks.block[slot];
}

static void write_body(const mabd_variational_solve* s, int32_t slot) {
    const mabd_variational_sim* sim = s->sim;
    mabd_variational_system* system = s->island->system;
    const int32_t body = s->island->bodies[slot];
    const mabd_variational_motion* motion = &sim->motion[body];
    const mabd_model_class* c = mabd_variational_class(sim, body);
    const mabd_mat3 L = mabd_variational_slope(c->principal, motion->V.w, s->h);
    mabd_real* A = system_block(system, slot);
    memset(A, 0, 36 * sizeof *A);
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 column = mabd_m3_column(&L, k);
        A[7 * k] = c->material.mass + motion->drag;
        A[18 + 3 + k] = column.x, A[24 + 3 + k] = column.y, A[30 + 3 + k] = column.z;
    }
}

static void store_wrench(mabd_rigid_wrench w, mabd_real s, mabd_real* out, int32_t stride) {
    const mabd_real all[6] = {w.f.x, w.f.y, w.f.z, w.t.x, w.t.y, w.t.z};
    for (int32_t k = 0; k < 6; k++) out[k * stride] = s * all[k];
}

static void write_joint(const mabd_variational_solve* s, const mabd_variational_tie* tie) {
    const mabd_variational_sim* sim = s->sim;
    mabd_variational_system* system = s->island->system;
    const int32_t first = mabd_variational_first_row(sim, tie->index), n = tie->width;
    mabd_real* D = system_block(system, tie->slot);
    memset(D, 0, (size_t)(n * n) * sizeof *D);
    for (int32_t r = 0; r < n; r++) {
        const mabd_variational_row* row = &sim->rows[first + r];
        const mabd_rigid_row *G = &sim->G[first + r], *next = &sim->next_G[first + r];
        mabd_real* shift = &system->shift[tie->row + r];
        const bool shifts = s->island->shifted && row->kind == MABD_VARIATIONAL_HELD;
        *shift = shifts ? SHIFT * row->own : 0;
        D[r * n + r] = row->c + *shift;
        if (tie->a != SIZE_MAX) {
            store_wrench(G->a, -1, system->U + tie->a + r, n);
            store_wrench(next->a, 1, system->lower + tie->a + 6 * r, 1);
        }
        if (tie->b != SIZE_MAX) {
            store_wrench(G->b, -1, system->U + tie->b + r, n);
            store_wrench(next->b, 1, system->lower + tie->b + 6 * r, 1);
        }
    }
}

void mabd_variational_system_residuals(const mabd_variational_solve* s) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_variational_system* system = s->island->system;
    for (int32_t i = 0; i < system->body_count; i++) {
        const mabd_variational_motion* motion = &sim->motion[s->island->bodies[i]];
        mabd_v3_store(mabd_v3_scale(-1, motion->d.f), system->x + 6 * (size_t)i);
        mabd_v3_store(mabd_v3_scale(-1, motion->d.t), system->x + 6 * (size_t)i + 3);
    }
    for (int32_t i = 0; i < system->joint_count; i++) {
        const mabd_variational_tie* tie = &system->joints[i];
        const int32_t first = mabd_variational_first_row(sim, tie->index);
        for (int32_t r = 0; r < tie->width; r++) system->x[tie->row + r] = -sim->rows[first + r].r;
    }
}

void mabd_variational_system_assemble(const mabd_variational_solve* s) {
    mabd_variational_system* system = s->island->system;
    for (int32_t i = 0; i < system->body_count; i++) write_body(s, i);
    for (int32_t i = 0; i < system->joint_count; i++) write_joint(s, &system->joints[i]);
    for (int32_t i = 0; i < system->pair_count; i++) {
        memset(system->U + system->pair_block[i], 0, 36 * sizeof *system->U);
        memset(system->lower + system->pair_block[i], 0, 36 * sizeof *system->lower);
    }
    mabd_variational_system_residuals(s);
}

// Offset of the block of two slots, a < b.
static size_t find_block(const mabd_variational_sim* sim, const mabd_variational_system* system,
                         int32_t a, int32_t b) {
    int32_t low = 0, high = system->pair_count - 1;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        const int32_t first = sim->body_slot[system->pairs[middle].a];
        const int32_t second = sim->body_slot[system->pairs[middle].b];
        if (first < a || (first == a && second < b)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return system->pair_block[low];
}

// block += s g'k
static void add_product(mabd_rigid_wrench g, mabd_rigid_wrench k, mabd_real s, mabd_real* block) {
    const mabd_real column[6] = {g.f.x, g.f.y, g.f.z, g.t.x, g.t.y, g.t.z};
    const mabd_real row[6] = {k.f.x, k.f.y, k.f.z, k.t.x, k.t.y, k.t.z};
    for (int32_t i = 0; i < 6; i++) {
        const mabd_real f = s * column[i];
        for (int32_t j = 0; j < 6; j++) block[6 * i + j] += f * row[j];
    }
}

void mabd_variational_system_add(const mabd_variational_sim* sim, mabd_variational_system* system,
                                 int32_t a, int32_t b, const mabd_rigid_row* G,
                                 const mabd_rigid_row* K, mabd_real s) {
    const bool first = mabd_variational_moves(sim, a), second = mabd_variational_moves(sim, b);
    if (first) {
        add_product(G->a, K->a, s, system_block(system, sim->body_slot[a]));
    }
    if (second) {
        add_product(G->b, K->b, s, system_block(system, sim->body_slot[b]));
    }
    if (!first || !second) return;
    const int32_t i = sim->body_slot[a], k = sim->body_slot[b];
    const size_t block = i < k ? find_block(sim, system, i, k) : find_block(sim, system, k, i);
    add_product(G->a, K->b, s, (i < k ? system->U : system->lower) + block);
    add_product(G->b, K->a, s, (i < k ? system->lower : system->U) + block);
}

static void load_side(const mabd_variational_sim* sim, mabd_variational_system* system,
                      int32_t body, mabd_rigid_wrench w, mabd_real s) {
    if (!mabd_variational_moves(sim, body)) return;
    mabd_real* x = system->x + 6 * (size_t)sim->body_slot[body];
    mabd_v3_store(mabd_v3_axpy(s, w.f, mabd_v3_load(x)), x);
    mabd_v3_store(mabd_v3_axpy(s, w.t, mabd_v3_load(x + 3)), x + 3);
}

void mabd_variational_system_load(const mabd_variational_sim* sim, mabd_variational_system* system,
                                  int32_t a, int32_t b, const mabd_rigid_row* G, mabd_real s) {
    load_side(sim, system, a, G->a, s);
    load_side(sim, system, b, G->b, s);
}

mabd_status mabd_variational_system_factor(const mabd_variational_solve* s, int32_t* body,
                                           int32_t* joint) {
    mabd_variational_system* system = s->island->system;
    mabd_dual_lu_report report;
    *body = *joint = -1;
    const mabd_status status = mabd_dual_lu_factor(system->lu, &system->pattern, &report);
    if (status == MABD_OK) return MABD_OK;
    const int32_t k = report.bad - system->body_count;
    if (k >= 0 && k < system->joint_count) {
        *joint = system->joints[k].index;
    } else {
        *body = s->island->bodies[k < 0 ? report.bad : 0];
    }
    return status;
}

// ---- solution ----------------------------------------------------------------------------------

static void apply(void* context, mabd_real* x) {
    mabd_dual_lu_solve(((mabd_variational_system*)context)->lu, x);
}

// y = K x, without the shift.
static void multiply(void* context, const mabd_real* x, mabd_real* y) {
    const mabd_variational_system* system = context;
    const mabd_dual_system* p = &system->pattern.blocks;
    for (int32_t i = 0; i < p->slot_count; i++) {
        const mabd_real* D = system->D + p->block[i];
        for (int32_t r = 0, n = p->width[i]; r < n; r++) {
            mabd_real sum = -system->shift[p->row[i] + r] * x[p->row[i] + r];
            for (int32_t k = 0; k < n; k++) sum += D[r * n + k] * x[p->row[i] + k];
            y[p->row[i] + r] = sum;
        }
    }
    for (int32_t e = 0; e < p->edge_count; e++) {
        const int32_t from = p->from[e], to = p->to[e], n = p->width[to];
        const mabd_real *U = system->U + p->edge_block[e], *L = system->lower + p->edge_block[e];
        for (int32_t r = 0; r < 6; r++) {
            for (int32_t k = 0; k < n; k++) {
                y[p->row[from] + r] += U[r * n + k] * x[p->row[to] + k];
                y[p->row[to] + k] += L[6 * k + r] * x[p->row[from] + r];
            }
        }
    }
}

static mabd_real size_of(void* context, const mabd_real* x) {
    const mabd_variational_system* system = context;
    mabd_real most = 0;
    for (int32_t i = 0; i < system->pattern.blocks.row_count; i++) {
        const mabd_real size = (mabd_real)fabs(x[i]);
        if (size > most) most = size;
    }
    return most;
}

void mabd_variational_system_solve(const mabd_variational_solve* s) {
    const mabd_variational_sim* sim = s->sim;
    mabd_variational_system* system = s->island->system;
    const size_t n = (size_t)system->pattern.blocks.row_count;
    if (s->island->shifted) {
        memcpy(system->b, system->x, n * sizeof *system->b);
        const mabd_rigid_system refined = {n, system, apply, multiply, size_of};
        const mabd_real size = size_of(system, system->b);
        const mabd_rigid_refinement until = {REFINE_GOAL * size, size, REFINE_FALL,
                                             size > 0 ? REFINE_MAX : 0};
        mabd_rigid_refine(&refined, &until, system->b, system->x, system->rest);
    } else {
        mabd_dual_lu_solve(system->lu, system->x);
    }
    for (int32_t i = 0; i < system->body_count; i++) {
        mabd_rigid_twist* change = &sim->motion[s->island->bodies[i]].change;
        change->v = mabd_v3_load(system->x + 6 * (size_t)i);
        change->w = mabd_v3_load(system->x + 6 * (size_t)i + 3);
    }
    for (int32_t i = 0; i < system->joint_count; i++) {
        const mabd_variational_tie* tie = &system->joints[i];
        const int32_t first = mabd_variational_first_row(sim, tie->index);
        memcpy(sim->change + first, system->x + tie->row, (size_t)tie->width * sizeof *system->x);
    }
}
