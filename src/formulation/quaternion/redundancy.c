// SPDX-License-Identifier: Apache-2.0
// Shift of the rows of a part.
//
// The matrix of a solve has a shift e on the diagonal of the rows, and its solutions are refined
// with the matrix itself (newton.c). Every row is kept, whatever the shift: it decides about cost
// only. Rows that are redundant at the start need one that is large enough for their pivots. For
// all others it is as small as round-off allows, because refinement converges as e/(e + s), with s
// the least eigenvalue of J M^-1 J', and s of a long net is small.
//
// Rows are redundant if the solution for a right-hand side without a pattern is of the size 1/e.

#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/symmetric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Shift of the rows relative to the median of J M^-1 J'. Rows that contradict each other by d, at
/// second order away from the solution, leave multipliers of d/shift in the null space of J', which
/// are not null at the next pose; and rank decides at the size of the shift, which must stay below
/// that of a mechanism near a singular pose. Hoberman's sphere, 10 ms, 200 steps through full
/// expansion: iterations a step and halved steps 5.4 and 1 with 1e-8, 4.8 and 0 with 1e-7; with
/// 1e-6 and 1e-5 it fails at a passage.
#define SHIFT_PART ((mabd_real)1e-7)
/// Shift where rows are not redundant.
#define SMALL_SHIFT_PART ((mabd_real)1e-13)
/// Multipliers of a solve with the small shift, times the median of J M^-1 J' and over the size of
/// the right-hand side, from which rows are redundant.
#define REDUNDANT_SIZE ((mabd_real)1e10)

static int compare(const void* a, const void* b) {
    const mabd_real x = *(const mabd_real*)a, y = *(const mabd_real*)b;
    return (x > y) - (x < y);
}

// Row r of J M^-1 J' of one side, J in `lower` at `block`.
static mabd_real side_compliance(const mabd_quaternion_solve* s, int32_t slot, size_t block,
                                 int32_t r) {
    const mabd_model* m = s->sim->model;
    if (block == SIZE_MAX) return 0;
    const int32_t body = s->sim->bodies[s->part->body_first + slot];
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    const mabd_real* J = s->sim->lower + block + 6 * (size_t)r;
    mabd_real sum = 0;
    for (int k = 0; k < 6; k++) {
        sum += J[k] * J[k] / (k < 3 ? c->material.mass : c->principal[k - 3]);
    }
    return sum;
}

// The median of J M^-1 J' over the rows of a part; 0 without rows.
static mabd_real median_compliance(const mabd_quaternion_solve* s) {
    const mabd_quaternion_part* part = s->part;
    mabd_real* values = s->sim->rest + part->vector_first;
    int32_t count = 0;
    for (int32_t i = 0; i < part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[part->joint_first + i];
        for (int32_t r = 0; r < j->width; r++) {
            values[count++] = side_compliance(s, j->slot_a, j->block_a, r) +
                              side_compliance(s, j->slot_b, j->block_b, r);
        }
    }
    if (count == 0) return 0;
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

// Fill the right-hand side with numbers in (-1, 1) without a pattern, the same in every run.
static void fill_rows(const mabd_quaternion_solve* s) {
    mabd_real* b = s->sim->rhs + s->part->vector_first;
    const size_t bodies = 6 * (size_t)s->part->body_count;
    uint32_t state = 1;
    memset(b, 0, bodies * sizeof *b);
    for (size_t i = 0; i < (size_t)s->part->row_count; i++) {
        state = state * 1664525U + 1013904223U;
        b[bodies + i] = (mabd_real)(state >> 8) / (mabd_real)(1 << 23) - 1;
    }
}

void mabd_quaternion_judge_rows(mabd_quaternion_sim* sim, int32_t index) {
    mabd_quaternion_report report = {0};
    mabd_quaternion_solve s = {.sim = sim, .part = &sim->parts[index], .report = &report};
    mabd_quaternion_part* part = s.part;
    const mabd_real* y = sim->y + part->vector_first + 6 * (size_t)part->body_count;
    int32_t body, joint;
    mabd_real largest = 0;
    mabd_quaternion_take_pose(&s, &sim->now);
    mabd_quaternion_store_matrix(&s);
    const mabd_real median = median_compliance(&s);
    part->shift = SMALL_SHIFT_PART * median;
    fill_rows(&s);
    if (sim->dual && mabd_quaternion_dual_iterates(sim, part)) { // a shift helps it to converge
        part->shift = SHIFT_PART * median;
        return;
    }
    const mabd_status status = mabd_quaternion_factor(&s, &body, &joint);
    if (status == MABD_OK) {
        const size_t n = 6 * (size_t)part->body_count + (size_t)part->row_count;
        memcpy(sim->y + part->vector_first, sim->rhs + part->vector_first, n * sizeof *y);
        mabd_quaternion_apply_factor(&s, sim->y + part->vector_first);
    }
    for (int32_t i = 0; status == MABD_OK && i < part->row_count; i++) {
        if (!(fabs(y[i]) <= largest)) largest = (mabd_real)fabs(y[i]);
    }
    part->redundant = status != MABD_OK || !(median * largest < REDUNDANT_SIZE);
    if (part->redundant) part->shift = SHIFT_PART * median;
}
