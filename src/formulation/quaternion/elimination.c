// SPDX-License-Identifier: Apache-2.0
// Redundant rows that are left out [VQ App. B], as an option and to check the proximal solver,
// which keeps every row (newton.c).
//
// J of the free rows of a part, 6 columns per body, is analysed with its singular values
// (dual/row_rank.h): first the passive rows alone, then those that are kept together with the rows
// of rigid servos, of which only the latter may go. The order matters: a driven joint is the same
// as a fixed one, and its passive rows could go in place of the drive. The number of rows is kept
// from the first analysis, because a rank is unreliable near singular poses.
//
// Rows that are left out have the multiplier 0. After a step they are evaluated; if one is open,
// the analysis is made again at the end of the step, and the step is taken once more.

#include "formulation/quaternion/elimination.h"

#include "base/error.h"
#include "dual/row_rank.h"
#include "formulation/quaternion/body_graph.h"
#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/quaternion_sim.h"

#include <math.h>
#include <string.h>

/// Singular values above this part of the largest one count for the rank.
#define RANK_TOLERANCE 1e-9
/// Errors of rows that are left out, in row_tolerance and in errors of the others.
#define OPEN_FACTOR ((mabd_real)10)

struct mabd_elimination {
    mabd_row_rank* dense;
    int32_t count[2]; // rows left out: passive, driven
    int32_t* place;   // (rows of the part) row of a row of the matrix, from that of the part
    bool *may, *drop; // (rows of the part) of rows of the matrix
    void* memory;
    size_t memory_size;
};

static void lay_out(mabd_elimination* e, size_t rows, mabd_arena* arena) {
    e->place = mabd_arena_take(arena, rows, sizeof *e->place);
    e->may = mabd_arena_take(arena, rows, sizeof *e->may);
    e->drop = mabd_arena_take(arena, rows, sizeof *e->drop);
}

mabd_status mabd_elimination_create(const mabd_quaternion_sim* sim,
                                    const mabd_quaternion_part* part, bool vectors,
                                    mabd_elimination** out) {
    const size_t rows = (size_t)part->row_count;
    mabd_arena arena = {0};
    *out = NULL;
    mabd_elimination* e = mabd_alloc(&sim->allocator, sizeof *e);
    if (!e) return MABD_ERR_MEMORY;
    lay_out(e, rows, &arena);
    mabd_status status = mabd_arena_allocate(&sim->allocator, &arena);
    if (status == MABD_OK) {
        e->memory = arena.memory, e->memory_size = arena.size;
        lay_out(e, rows, &arena);
        status = mabd_row_rank_create(&sim->allocator, part->row_count, 6 * part->body_count,
                                      vectors, &e->dense);
    }
    if (status != MABD_OK) {
        mabd_elimination_destroy(&sim->allocator, e);
        return status;
    }
    *out = e;
    return MABD_OK;
}

void mabd_elimination_destroy(const mabd_allocator* allocator, mabd_elimination* elimination) {
    if (!elimination) return;
    mabd_row_rank_destroy(allocator, elimination->dense);
    mabd_free(allocator, elimination->memory, elimination->memory_size);
    mabd_free(allocator, elimination, sizeof *elimination);
}

size_t mabd_elimination_bytes(const mabd_elimination* elimination) {
    if (!elimination) return 0;
    return sizeof *elimination + elimination->memory_size + mabd_row_rank_bytes(elimination->dense);
}

// ---- the matrix --------------------------------------------------------------------------------

/// Rows of the matrix of an analysis.
enum { PASSIVE, KEPT_AND_DRIVEN, ALL };

static const mabd_row_set* set_of(const mabd_quaternion_sim* sim, const mabd_quaternion_joint* j) {
    return &sim->model->row_sets[sim->model->joints[j->joint].row_set];
}

static bool takes(const mabd_quaternion_sim* sim, const mabd_quaternion_joint* j, int32_t r,
                  int which) {
    const mabd_row_set* set = set_of(sim, j);
    if (!mabd_is_free_row(set, r)) return false;
    if (which == ALL) return true;
    if (r >= set->rigid_count) return which == KEPT_AND_DRIVEN;
    return which == PASSIVE || !sim->dropped[j->row + r];
}

// Number of rows of a matrix; *places, *driven: their rows in the part and whether they are driven.
static int32_t list_rows(const mabd_quaternion_solve* s, mabd_elimination* e, int which) {
    int32_t count = 0;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + i];
        for (int32_t r = 0; j->slot >= 0 && r < j->width; r++) {
            if (!takes(s->sim, j, r, which)) continue;
            e->may[count] = which == PASSIVE || r >= set_of(s->sim, j)->rigid_count;
            e->drop[count] = false;
            e->place[count++] = j->row + r - s->part->row_first;
        }
    }
    return count;
}

static void fill_matrix(const mabd_quaternion_solve* s, int which, int32_t rows,
                        mabd_row_rank* dense) {
    const mabd_quaternion_sim* sim = s->sim;
    const size_t width = 6 * (size_t)s->part->body_count;
    size_t at = 0;
    double* A = mabd_row_rank_begin(dense, rows, (int32_t)width);
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        const size_t blocks[2] = {j->block_a, j->block_b};
        const int32_t slots[2] = {j->slot_a, j->slot_b};
        for (int32_t r = 0; j->slot >= 0 && r < j->width; r++) {
            if (!takes(sim, j, r, which)) continue;
            for (int side = 0; side < 2; side++) {
                const mabd_real* J = sim->lower + blocks[side] + 6 * (size_t)r;
                double* to = A + at * width + 6 * (size_t)(slots[side] < 0 ? 0 : slots[side]);
                for (int k = 0; blocks[side] != SIZE_MAX && k < 6; k++) to[k] += (double)J[k];
            }
            at++;
        }
    }
}

// Leave out rows of one kind.
static mabd_status analyse(const mabd_quaternion_solve* s, int which, bool first) {
    mabd_elimination* e = s->part->elimination;
    const int32_t rows = list_rows(s, e, which);
    int32_t* count = &e->count[which];
    if (!first && *count == 0) return MABD_OK;
    fill_matrix(s, which, rows, e->dense);
    const int32_t rank = mabd_row_rank_find(e->dense, RANK_TOLERANCE);
    if (rank < 0) return MABD_ERR_DIVERGED;
    if (first) *count = rows - rank;
    if (!mabd_row_rank_choose(e->dense, *count, e->may, e->drop)) return MABD_ERR_DIVERGED;
    for (int32_t i = 0; i < rows; i++) {
        if (e->drop[i]) s->sim->dropped[s->part->row_first + e->place[i]] = true;
    }
    return MABD_OK;
}

mabd_status mabd_quaternion_eliminate(const mabd_quaternion_solve* s, bool first) {
    const mabd_quaternion_part* part = s->part;
    if (!part->elimination) return MABD_OK;
    memset(s->sim->dropped + part->row_first, 0, (size_t)part->row_count * sizeof(bool));
    mabd_quaternion_store_rows(s);
    MABD_TRY(analyse(s, PASSIVE, first));
    return analyse(s, KEPT_AND_DRIVEN, first);
}

int32_t mabd_quaternion_dropped_count(const mabd_quaternion_sim* sim,
                                      const mabd_quaternion_part* part) {
    int32_t count = 0;
    for (int32_t r = part->row_first; r < part->row_first + part->row_count; r++) {
        count += sim->dropped[r];
    }
    return count;
}

bool mabd_quaternion_dropped_open(const mabd_quaternion_solve* s, int32_t* joint) {
    const mabd_quaternion_sim* sim = s->sim;
    mabd_real dropped = 0, kept = sim->def.row_tolerance;
    *joint = -1;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        mabd_real C[2 * MABD_JOINT_MAX_ROWS];
        mabd_rigid_row J[2 * MABD_JOINT_MAX_ROWS];
        if (j->slot < 0) continue;
        mabd_quaternion_rows(s, j, C, J);
        for (int32_t r = 0; r < j->width; r++) {
            const int32_t control = r - set_of(sim, j)->rigid_count;
            if (!mabd_is_free_row(set_of(sim, j), r)) continue;
            if (control >= 0) C[r] -= sim->input[sim->model->joints[j->joint].coordinate + control];
            const mabd_real error = (mabd_real)fabs(C[r]);
            if (!sim->dropped[j->row + r]) kept = error > kept ? error : kept;
            if (!sim->dropped[j->row + r] || error <= dropped) continue;
            dropped = error, *joint = j->joint;
        }
    }
    return dropped > OPEN_FACTOR * kept;
}

// ---- rank --------------------------------------------------------------------------------------

static mabd_status add_rank(mabd_quaternion_sim* sim, int32_t p, mabd_rank_info* rank) {
    mabd_quaternion_part* part = &sim->parts[p];
    mabd_quaternion_report report = {0};
    const mabd_quaternion_solve s = {
        .sim = sim, .part = part, .time = sim->time, .report = &report};
    mabd_elimination* e;
    rank->freedoms += 6 * part->body_count;
    if (part->row_count == 0) return MABD_OK;
    MABD_TRY(mabd_elimination_create(sim, part, false, &e));
    mabd_quaternion_take_pose(&s, &sim->now);
    mabd_quaternion_store_rows(&s);
    const int32_t rows = list_rows(&s, e, ALL);
    fill_matrix(&s, ALL, rows, e->dense);
    const int32_t own = mabd_row_rank_find(e->dense, RANK_TOLERANCE);
    mabd_elimination_destroy(&sim->allocator, e);
    if (own < 0) return MABD_ERR_DIVERGED;
    rank->rows += rows, rank->rank += own, rank->redundant += rows - own, rank->freedoms -= own;
    return MABD_OK;
}

mabd_status mabd_quaternion_get_rank(void* self, mabd_rank_info* rank, mabd_error* error) {
    mabd_quaternion_sim* sim = self;
    memset(rank, 0, sizeof *rank);
    for (int32_t p = 0; p < sim->part_count; p++) {
        if (sim->parts[p].row_count > MABD_DENSE_ROWS) {
            return mabd_fail(error, MABD_ERR_UNAVAILABLE,
                             "the rank of %d coupled rows is not computed: at most %d",
                             (int)sim->parts[p].row_count, MABD_DENSE_ROWS);
        }
        const mabd_status status = add_rank(sim, p, rank);
        if (status == MABD_ERR_MEMORY) return mabd_fail_memory(error, "finding the rank");
        if (status != MABD_OK) {
            return mabd_fail(error, status, "the singular values of the rows do not converge");
        }
    }
    return MABD_OK;
}
