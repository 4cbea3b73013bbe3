// SPDX-License-Identifier: Apache-2.0
// Newton iteration of a part.
//
//   K (dx; l) = (-bh^2 E; -C + ...)        l: all of the scaled multipliers, not their change
//
// K holds every row, redundant ones too: its factor is that of K with e on the diagonal of the
// rows, and the solution is refined with K itself (proximal iteration). Started from zero, l is the
// least-norm solution where rows are redundant. Away from the solution redundant rows contradict
// each other at second order, and more refinement would only pump their null space into l: the
// refinement ends when the residual falls by less than 4.
//
// The step is halved while the sum of squares of the residual grows by more than GROWTH_MAX, each
// entry in metres or radians: |E_f| bh^2/m, |E_t| bh^2/J, |C|. No body turns by more than a radian
// at once. The iteration ends when every entry is below the tolerance; one norm over all entries
// would hide the errors of light bodies. Entries that round-off keeps above the tolerance end it as
// well (round_off.c).
//
// An iteration that stalls above that fails, and the step is taken in halves (step.c). There is one
// kind of stall that halves do not cure: rows that only an infinite force closes, such as those of
// a straight line of links between two fixed points under a load across it. The bodies balance
// then, and each row is a spring of the stiffness 1/(e bh^2): open by d with the force d/(e bh^2).
// Such a pose is accepted where the caller has no smaller step left, and reported.
//
// The order of pivots is fixed, and under compression the block of a body, bh^2 (A - G), may lose
// rank although K does not. The factor then fails, or it is inaccurate: the equations of bodies
// have a residual, which is round-off otherwise, since the shift is on rows only. The iteration is
// made with the symmetric part of the blocks of bodies instead, made definite (symmetric.c). Not
// as in the design: the growth of the factor says nothing here, because its entries J A^-1 J' have
// other units than K; it is 3e10 for a chain of light links whose residuals are round-off.

#include "formulation/quaternion/solve.h"

#include "base/clock.h"
#include "formulation/quaternion/quaternion_axes.h"
#include "formulation/quaternion/quaternion_layout.h"
#include "formulation/quaternion/round_off.h"
#include "formulation/quaternion/symmetric.h"
#include "formulation/quaternion/symmetric_turns.h"

#include <math.h>
#include <string.h>

/// Residual of a linear solve, relative to its right-hand side, at which refinement ends: where
/// rows are redundant, which makes multipliers those of least norm, and where they are not. Newton
/// corrects an error of 1e-7 in its next iteration: chains and trees take the same iterations as
/// with 1e-9 and 1e-13, and long chains one solve each instead of two.
#define REFINE_PART       ((mabd_real)1e-13)
#define REFINE_LOOSE_PART ((mabd_real)1e-7)
#define REFINE_MAX        20
/// Least fall of the residual per refinement.
#define REFINE_FALL ((mabd_real)4)
/// Largest residual of the equations of bodies after a linear solve, relative to the largest entry
/// of its right-hand side. That of an accurate factor is 1e-16 to 1e-13; Newton converges with an
/// error of a thousandth as well, and better than with the symmetric part: a limit of 1e-6 made
/// Hoberman's sphere take 6.3 iterations a step instead of 4.7.
#define ACCURATE_PART ((mabd_real)1e-3)
/// Largest growth of the sum of squares over its highest value in the last iterates, and the
/// halvings of a step that exceeds it. Multipliers in the null space of redundant rows make the sum
/// rise before it falls: with the rule of Armijo, which demands a fall, Hoberman's sphere took 26
/// iterations a step instead of 5, and 184 of 400 steps were halved.
#define GROWTH_MAX          ((mabd_real)1e4)
#define GROWTH_MEMORY       5
#define SEARCH_MAX_HALVINGS 8
/// Largest rotation of a body in an iteration [rad].
#define TURN_MAX_RAD ((mabd_real)1)
/// Turn of a body by one iteration below which joints are not asked whether they flip.
#define SMALL_TURN_RAD ((mabd_real)0.1)
/// Residual of the bodies, in tolerances, and errors of rows [m], [rad], of a solve that stalled
/// and may be accepted: openings up to which a start is taken as closed. Those of a net on an edge,
/// 10 x 10, h = 10 ms, are 1e-8 to 6e-8 m.
#define NEAR_TOLERANCES ((mabd_real)100)
#define NEAR_ROWS       ((mabd_real)1e-6)
/// An iteration stalls if its residual is the same in some iterations, to this part, or does not
/// halve in more of them. The symmetric Newton converges linearly, at worst as 0.93.
#define STILL_PART       ((mabd_real)1e-2)
#define STILL_ITERATIONS 2
#define SLOW_ITERATIONS  10
/// Residuals, in tolerances, that are compared with round-off: those that do not fall by the factor
/// beside it in an iteration, and all below NEAR_TOLERANCES. It spares the comparison of others.
#define ROUND_OFF_TOLERANCES ((mabd_real)1e4)
#define ROUND_OFF_FALL       ((mabd_real)0.1)
/// Largest rotation of a body in an iteration, in roots of the tolerance, after which the next
/// residual is expected to be below it: what is left is of second order. Only the residual is
/// evaluated there; the matrix would not be used.
#define LAST_TURN_ROOTS ((mabd_real)0.3)
/// Changes of branches of force laws at one pose, in iterations of a solve.
#define AXIS_CHANGES_PER_ITERATION 4
/// Least cosine of axes that a joint keeps parallel: below it the joint has flipped over.
#define CONSISTENT_COSINE ((mabd_real)0.5)

// ---- linear algebra ----------------------------------------------------------------------------

// y (rows) += M x, M row-major, rows x columns; most have the 6 columns of a body
static void add_product(const mabd_real* M, int32_t rows, int32_t columns, const mabd_real* x,
                        mabd_real* y) {
    for (int32_t i = 0; columns == 6 && i < rows; i++, M += 6) {
        y[i] += ((M[0] * x[0] + M[1] * x[1]) + (M[2] * x[2] + M[3] * x[3])) +
                (M[4] * x[4] + M[5] * x[5]);
    }
    for (int32_t i = 0; columns != 6 && i < rows; i++) {
        mabd_real sum = 0;
        for (int32_t k = 0; k < columns; k++) sum += M[i * columns + k] * x[k];
        y[i] += sum;
    }
}

// out = K x of a part, with the shift that is in D at the moment.
static void multiply(const mabd_quaternion_solve* s, const mabd_real* x, mabd_real* out) {
    const mabd_dual_lu_system system = mabd_quaternion_system(s->sim, s->part);
    const mabd_dual_system* b = &system.blocks;
    memset(out, 0, (size_t)b->row_count * sizeof *out);
    for (int32_t i = 0; i < b->slot_count; i++) {
        add_product(b->D + b->block[i], b->width[i], b->width[i], x + b->row[i], out + b->row[i]);
    }
    for (int32_t i = 0; i < b->edge_count; i++) {
        const int32_t from = b->from[i], to = b->to[i], n = b->width[from], m = b->width[to];
        add_product(b->U + b->edge_block[i], n, m, x + b->row[to], out + b->row[from]);
        add_product(system.lower + b->edge_block[i], m, n, x + b->row[from], out + b->row[to]);
    }
}

// Add `shift` to the diagonal of the rows.
static void shift_rows(const mabd_quaternion_solve* s, mabd_real shift) {
    const mabd_quaternion_part* part = s->part;
    for (int32_t i = part->body_count; i < part->slot_count; i++) {
        const int32_t width = s->sim->width[part->slot_first + i];
        mabd_real* D = s->sim->D + s->sim->slot_block[part->slot_first + i];
        for (int32_t r = 0; r < width; r++) D[r * (width + 1)] += shift;
    }
}

// *bad: slot of the part whose pivot failed.
static mabd_status factor_matrix(const mabd_quaternion_solve* s, int32_t* bad) {
    if (s->sim->dual) return mabd_quaternion_dual_factor(s, bad);
    const mabd_dual_lu_system system = mabd_quaternion_system(s->sim, s->part);
    mabd_dual_lu_report report;
    const mabd_status status = mabd_dual_lu_factor(s->part->lu, &system, &report);
    *bad = report.bad;
    return status;
}

mabd_status mabd_quaternion_factor(const mabd_quaternion_solve* s, int32_t* body, int32_t* joint) {
    const mabd_quaternion_part* part = s->part;
    const double clock = mabd_clock();
    int32_t bad = -1;
    shift_rows(s, part->shift);
    const mabd_status status = factor_matrix(s, &bad);
    shift_rows(s, -part->shift);
    s->report->factor_seconds += mabd_clock() - clock;
    if (status == MABD_OK) return MABD_OK;
    *body = *joint = -1;
    if (bad < part->body_count) *body = s->sim->bodies[part->body_first + bad];
    for (int32_t i = 0; i < part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[part->joint_first + i];
        if (j->slot == bad) *joint = j->joint;
    }
    return status;
}

void mabd_quaternion_apply_factor(const mabd_quaternion_solve* s, mabd_real* x) {
    if (s->sim->dual) {
        mabd_quaternion_dual_solve(s, x);
    } else {
        mabd_dual_lu_solve(s->part->lu, x);
    }
}

// Solve, refined until the residual is `enough` of the right-hand side; returns the refinements.
static int32_t solve_refined(const mabd_quaternion_solve* s, mabd_real enough) {
    mabd_quaternion_sim* sim = s->sim;
    const size_t at = s->part->vector_first;
    const size_t n = 6 * (size_t)s->part->body_count + (size_t)s->part->row_count;
    mabd_real *y = sim->y + at, *rest = sim->rest + at;
    const mabd_real* rhs = sim->rhs + at;
    const mabd_real goal = enough * mabd_quaternion_size_of(sim, s->part, rhs).largest;
    const double clock = mabd_clock();
    mabd_real last = (mabd_real)INFINITY;
    int32_t count = 0;
    memset(y, 0, n * sizeof *y);
    memcpy(rest, rhs, n * sizeof *rest);
    for (;; count++) {
        mabd_quaternion_apply_factor(s, rest);
        for (size_t i = 0; i < n; i++) y[i] += rest[i];
        multiply(s, y, rest);
        for (size_t i = 0; i < n; i++) rest[i] = rhs[i] - rest[i];
        const mabd_real now = mabd_quaternion_size_of(sim, s->part, rest).largest;
        if (!(now > goal) || now > last / REFINE_FALL || count == REFINE_MAX) break;
        last = now;
    }
    s->report->solve_seconds += mabd_clock() - clock;
    return count;
}

int32_t mabd_quaternion_solve_linear(const mabd_quaternion_solve* s) {
    return solve_refined(s, REFINE_PART);
}

// ---- the iteration -----------------------------------------------------------------------------

// Solve for (dx; l) with the right-hand side K (0; l) - residual: all of the multipliers, started
// from zero, for those of least norm. Without redundant rows (dx; dl) from -residual is the same
// and saves a product.
static void solve_for_all(const mabd_quaternion_solve* s) {
    mabd_quaternion_sim* sim = s->sim;
    const size_t at = s->part->vector_first, bodies = 6 * (size_t)s->part->body_count;
    const size_t rows = (size_t)s->part->row_count, end = at + bodies + rows;
    const mabd_real* l = sim->multiplier + s->part->row_first;
    const bool whole = s->part->redundant;
    memset(sim->rhs + at, 0, (bodies + rows) * sizeof *sim->rhs);
    if (whole) {
        memset(sim->y + at, 0, bodies * sizeof *sim->y);
        memcpy(sim->y + at + bodies, l, rows * sizeof *sim->y);
        multiply(s, sim->y + at, sim->rhs + at);
    }
    for (size_t i = at; i < end; i++) sim->rhs[i] -= sim->residual[i];
    if (sim->dual) mabd_quaternion_scale_turns(s);
    s->report->refinements += solve_refined(s, whole ? REFINE_PART : REFINE_LOOSE_PART);
    for (size_t i = 0; !whole && i < rows; i++) sim->y[at + bodies + i] += l[i];
    if (sim->dual) mabd_quaternion_finish_turns(s);
}

// Largest rotation of a body by the increment [rad].
static mabd_real largest_turn(const mabd_quaternion_solve* s) {
    mabd_real most = 0;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const mabd_vec3 phi = mabd_v3_load(s->sim->y + s->part->vector_first + 6 * (size_t)i + 3);
        const mabd_real square = mabd_v3_dot(phi, phi);
        if (square > most) most = square;
    }
    return (mabd_real)sqrt(most);
}

// Move the iterate by a part of the increment into trial and trial_multiplier.
static void try_part(const mabd_quaternion_solve* s, mabd_real part) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_real* y = sim->y + s->part->vector_first;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const size_t row = 7 * (size_t)sim->bodies[s->part->body_first + i];
        const mabd_vec3 way = mabd_v3_load(y + 6 * (size_t)i);
        const mabd_vec3 phi = mabd_v3_scale(part, mabd_v3_load(y + 6 * (size_t)i + 3));
        mabd_v3_store(mabd_v3_axpy(part, way, mabd_v3_load(sim->pose + row)), sim->trial + row);
        mabd_q_store(mabd_rigid_turn(mabd_q_load(sim->pose + row + 3), phi), sim->trial + row + 3);
    }
    y += 6 * (size_t)s->part->body_count;
    for (int32_t r = 0; r < s->part->row_count; r++) {
        const mabd_real l = sim->multiplier[s->part->row_first + r];
        sim->trial_multiplier[s->part->row_first + r] = l + part * (y[r] - l);
    }
}

static void accept(const mabd_quaternion_solve* s) {
    mabd_quaternion_sim* sim = s->sim;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const size_t row = 7 * (size_t)sim->bodies[s->part->body_first + i];
        memcpy(sim->pose + row, sim->trial + row, 7 * sizeof *sim->pose);
    }
    const size_t first = (size_t)s->part->row_first;
    memcpy(sim->multiplier + first, sim->trial_multiplier + first,
           (size_t)s->part->row_count * sizeof *sim->multiplier);
}

// Least cosine between like axes that a joint keeps parallel, 1 if it has none.
static mabd_real consistency_of(const mabd_quaternion_solve* s, const mabd_real* pose,
                                const mabd_quaternion_joint* j) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_model_joint* joint = &sim->model->joints[j->joint];
    const mabd_row_set* set = &sim->model->row_sets[joint->row_set];
    int32_t locked = 0;
    mabd_real least = 1;
    for (int32_t r = 0; r < set->rigid_count; r++) {
        const mabd_row* row = &set->rigid[r];
        if (row->kind == MABD_ROW_CROSS) locked |= 1 << (3 - row->axis - row->other);
    }
    if (locked != 7 && locked != 6 && locked != 5 && locked != 3) return 1;
    const mabd_joint_view view = mabd_quaternion_view(sim, pose, s->time, joint);
    const mabd_mat3 S = mabd_joint_frames(&view);
    const mabd_real cosines[3] = {S.c1.x, S.c2.y, S.c3.z};
    for (int k = 0; k < 3; k++) {
        const bool parallel = locked == 7 || !(locked & 1 << k);
        if (parallel && cosines[k] < least) least = cosines[k];
    }
    return least;
}

// True if sim->trial flips no joint that is not flipped at the iterate.
static bool keeps_sides(const mabd_quaternion_solve* s) {
    const mabd_quaternion_sim* sim = s->sim;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        if (consistency_of(s, sim->trial, j) < CONSISTENT_COSINE &&
            consistency_of(s, sim->pose, j) >= CONSISTENT_COSINE) {
            return false;
        }
    }
    return true;
}

// Move along the increment. False if the residual grows too far above `highest`. *matrix: K at the
// new iterate is known.
static bool search_line(const mabd_quaternion_solve* s, mabd_real highest,
                        mabd_quaternion_size* size, bool* matrix) {
    const mabd_real tolerance = s->sim->def.quaternion.newton_tolerance, turn = largest_turn(s);
    mabd_real part = turn > TURN_MAX_RAD ? TURN_MAX_RAD / turn : 1;
    *matrix = turn > LAST_TURN_ROOTS * (mabd_real)sqrt(tolerance);
    for (int k = 0; k <= SEARCH_MAX_HALVINGS; k++, part /= 2) {
        try_part(s, part);
        const mabd_quaternion_size next =
            mabd_quaternion_evaluate(s, s->sim->trial, s->sim->trial_multiplier, *matrix);
        const bool falls = next.merit <= GROWTH_MAX * highest ||
                           (isfinite(next.merit) && next.largest <= tolerance);
        if (falls && (part * turn <= SMALL_TURN_RAD || keeps_sides(s))) {
            *size = next;
            accept(s);
            return true;
        }
        s->report->line_searches++;
    }
    return false;
}

static mabd_status fail(const mabd_quaternion_solve* s, mabd_status status, int32_t body,
                        int32_t joint, const char* reason) {
    s->report->body = body, s->report->joint = joint, s->report->reason = reason;
    return status;
}

mabd_status mabd_quaternion_check_consistency(const mabd_quaternion_solve* s) {
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &s->sim->joints[s->part->joint_first + i];
        const mabd_real least = consistency_of(s, s->sim->pose, j);
        if (least < s->report->consistency) s->report->consistency = least;
        if (least < CONSISTENT_COSINE) {
            return fail(s, MABD_ERR_DIVERGED, -1, j->joint, "the joint has flipped over at");
        }
    }
    return MABD_OK;
}

// True if the last linear solve met the equations of the bodies; sim->rest is its residual.
static bool is_accurate(const mabd_quaternion_solve* s) {
    const mabd_quaternion_sim* sim = s->sim;
    const size_t at = s->part->vector_first;
    const mabd_real scale = mabd_quaternion_size_of(sim, s->part, sim->rhs + at).largest;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const int32_t body = sim->bodies[s->part->body_first + i];
        const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
        for (int k = 0; k < 6; k++) {
            const mabd_real mass = k < 3 ? c->material.mass : c->principal[k - 3];
            const mabd_real rest = sim->rest[at + 6 * (size_t)i + (size_t)k] / mass;
            if (!(fabs(rest) <= ACCURATE_PART * scale)) return false;
        }
    }
    return true;
}

static mabd_status solve_iterate(const mabd_quaternion_solve* s) {
    int32_t body, joint;
    const mabd_status status = mabd_quaternion_factor(s, &body, &joint);
    if (status != MABD_OK) return fail(s, status, body, joint, "the matrix is singular at");
    solve_for_all(s);
    s->report->iterations++;
    return MABD_OK;
}

// Solve for the increment; with the symmetric part of the matrix if its own factor is no good.
static mabd_status find_increment(const mabd_quaternion_solve* s) {
    const mabd_status status = solve_iterate(s);
    if (s->sim->dual || (status == MABD_OK && is_accurate(s))) return status;
    s->report->fallbacks++;
    mabd_quaternion_make_symmetric(s);
    return solve_iterate(s);
}

static mabd_status fail_axes(const mabd_quaternion_solve* s, int32_t joint) {
    return fail(s, MABD_ERR_DIVERGED, -1, joint, "stops, drives and friction do not settle at");
}

static mabd_status iterate(const mabd_quaternion_solve* s, mabd_real highest,
                           mabd_quaternion_size* size, bool* matrix, bool* stalls) {
    int32_t joint, changes = 0;
    if (s->sim->dual) mabd_quaternion_make_symmetric(s);
    MABD_TRY(find_increment(s));
    while (s->part->laws && mabd_quaternion_move_axes(s, changes == 0, &joint)) {
        if (++changes > AXIS_CHANGES_PER_ITERATION * s->sim->def.max_iterations) {
            return fail_axes(s, joint);
        }
        *size = mabd_quaternion_evaluate(s, s->sim->pose, s->sim->multiplier, true);
        if (s->sim->dual) mabd_quaternion_make_symmetric(s);
        if (size->merit > highest) highest = size->merit;
        MABD_TRY(find_increment(s));
    }
    *stalls = !search_line(s, highest, size, matrix);
    return MABD_OK;
}

// Remember the sum of squares of iterate i; returns the largest of the last ones.
static mabd_real remember(mabd_real* merits, int32_t i, mabd_real merit) {
    mabd_real most = merits[i % GROWTH_MEMORY] = merit;
    for (int32_t k = 0; k < GROWTH_MEMORY && k <= i; k++) {
        if (merits[k] > most) most = merits[k];
    }
    return most;
}

/// How the residual falls.
typedef struct progress {
    mabd_real last, balance; // largest of the last iterate, and that of its bodies
    mabd_real mark;          // largest when it last halved
    int32_t still, slow;     // iterates since then
} progress;

// Note the residual of an iterate; returns whether the iteration stalls. Where rows stay open the
// balance of the bodies goes on to converge.
static bool note_progress(progress* p, const mabd_quaternion_size* size, mabd_real tolerance) {
    const mabd_real largest = size->largest;
    const bool balanced = size->balance <= tolerance || size->balance > p->balance / 2;
    p->still = balanced && fabs(largest - p->last) <= STILL_PART * p->last ? p->still + 1 : 0;
    p->slow = largest <= p->mark / 2 ? 0 : p->slow + 1;
    if (p->slow == 0) p->mark = largest;
    p->last = largest, p->balance = size->balance;
    return p->still >= STILL_ITERATIONS || p->slow >= SLOW_ITERATIONS;
}

// Judge an iteration that ended above the tolerance; sim->residual is that of the iterate.
static mabd_status judge_stall(const mabd_quaternion_solve* s, const mabd_quaternion_size* size) {
    const mabd_real tolerance = s->sim->def.quaternion.newton_tolerance;
    int32_t joint = -1;
    if (!mabd_quaternion_axes_settled(s, s->sim->multiplier, &joint)) return fail_axes(s, joint);
    s->report->near = size->balance <= NEAR_TOLERANCES * tolerance && size->largest <= NEAR_ROWS;
    if (s->accepts && s->report->near) {
        s->report->converged = false;
        return mabd_quaternion_check_consistency(s);
    }
    return fail(s, MABD_ERR_DIVERGED, size->body, size->joint, "the equations do not converge at");
}

// True if the iterate solves the equations, to the tolerance or to round-off. last: residual of the
// iterate before it.
static bool is_solved(const mabd_quaternion_solve* s, const mabd_quaternion_size* size,
                      mabd_real last) {
    const mabd_real tolerance = s->sim->def.quaternion.newton_tolerance;
    const mabd_real falls =
        size->largest <= ROUND_OFF_FALL * last ? NEAR_TOLERANCES : ROUND_OFF_TOLERANCES;
    if (size->largest <= tolerance) return true;
    if (!(size->largest <= falls * tolerance)) return false;
    if (!mabd_quaternion_is_round_off(s)) return false;
    if (size->largest > s->report->round_off) s->report->round_off = size->largest;
    return true;
}

mabd_status mabd_quaternion_newton(mabd_quaternion_solve* s) {
    mabd_real merits[GROWTH_MEMORY];
    mabd_quaternion_sim* sim = s->sim;
    const mabd_real far = (mabd_real)INFINITY;
    progress so_far = {far, far, far, 0, 0};
    bool stalls = false, matrix = true;
    int32_t joint;
    if (s->part->laws) mabd_quaternion_start_axes(s);
    mabd_quaternion_size size = mabd_quaternion_evaluate(s, sim->pose, sim->multiplier, true);
    for (int32_t i = 0; i < sim->def.max_iterations && !stalls; i++) {
        if (!matrix) mabd_quaternion_evaluate(s, sim->pose, sim->multiplier, true);
        MABD_TRY(iterate(s, remember(merits, i, size.merit), &size, &matrix, &stalls));
        if (!stalls && is_solved(s, &size, so_far.last)) {
            if (mabd_quaternion_axes_settled(s, sim->multiplier, &joint)) {
                return mabd_quaternion_check_consistency(s);
            }
        } else {
            stalls |= note_progress(&so_far, &size, sim->def.quaternion.newton_tolerance);
        }
    }
    return judge_stall(s, &size);
}
