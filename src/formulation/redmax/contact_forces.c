// SPDX-License-Identifier: Apache-2.0
// Forces of contacts: g = W l + rest + c l of all contact points, rows normal and two tangents.
//
//   staggered   Coulomb's law. Normal forces and friction within given bounds are one convex
//               problem; the bounds then follow the normal forces, until they agree
//               (dual/cone_cg.h; [RM] alternates between a problem for either).
//   one-qp      the convex problem of all forces within their cones, |l_t| <= mu l_n:
//                 minimise l'(W + c)l/2 + rest'l
//               [RM] takes a pyramid in place of the cone. A contact that slides opens by mu times
//               its slip in this step, which Coulomb's law does not.
//
// W is by blocks of 3 x 3 of contacts that share a part: a solve in O(links) for each row and part,
// read at all contacts of that part. c is a small part of the row's own compliance; that of the
// scene steers the affine formulation only.
//
// One-qp by sweeps of projected Gauss-Seidel: l_i <- P(l_i - g_i/e_i), e_i the trace of the own
// block of W, which is above its largest eigenvalue, and P the projection onto the cone.
//
// One-qp is solved by an interior-point method first (dual/cone_ip.h), Coulomb's law by it where
// conjugate gradients have not converged: W of a chain on a pulley is nearly singular. The other
// problems of that step begin with it.

#include "dual/cone_gs.h"
#include "dual/cone_ip.h"
#include "formulation/redmax/redmax_contact.h"

#include <math.h>
#include <string.h>

/// Compliance c of a row relative to its own: forces of points of one face are unique by it, and a
/// block that sticks creeps by this part of its free fall in a step.
#define SOFTNESS ((mabd_real)1e-6)
/// Largest error of a contact law of forces that are used [m].
#define RESIDUAL_MAX ((mabd_real)1e-3)
/// Part of the tolerance that solves ask for: rounds begin with the forces of the last one.
#define CLOSER       ((mabd_real)1e-2)
#define PRODUCTS_MAX 2000
#define UPDATES_MAX  50
/// Least part of the compliance of a row that the stiffness that holds it leaves.
#define LEAST_FREE ((mabd_real)0.01)
/// Most contacts that are solved directly.
#define DIRECT_MAX 1000

/// The problem of one step.
typedef struct contact_problem {
    mabd_redmax_contacts* c;
    const mabd_redmax_contact_host* host;
    mabd_redmax_contact* points;
    int32_t count;
    mabd_cone_matrix W;
    mabd_real *block, *rest, *own, *force, *rows, *friction;
    mabd_real softness;
} contact_problem;

static bool shares_part(const mabd_redmax_contact* a, const mabd_redmax_contact* b) {
    for (int i = 0; i < 2; i++) {
        const int32_t part = a->part[i];
        if (part >= 0 && (part == b->part[0] || part == b->part[1])) return true;
    }
    return false;
}

// Pattern of W by rows of blocks.
static mabd_status fill_pattern(contact_problem* p) {
    mabd_redmax_contacts* c = p->c;
    const int32_t n = p->count;
    c->start.count = c->columns.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->start, sizeof(int32_t), (int64_t)n + 1));
    int32_t* start = c->start.data;
    for (int32_t i = 0; i < n; i++) {
        start[i] = c->columns.count;
        MABD_TRY(mabd_list_reserve(&c->allocator, &c->columns, sizeof(int32_t), n));
        for (int32_t k = 0; k < n; k++) {
            if (!shares_part(&p->points[i], &p->points[k])) continue;
            ((int32_t*)c->columns.data)[c->columns.count++] = k;
        }
    }
    start[n] = c->columns.count;
    return MABD_OK;
}

// Divide the reals of the problem: blocks, then vectors.
static mabd_status take_reals(contact_problem* p) {
    mabd_redmax_contacts* c = p->c;
    const int64_t n = p->count, blocks = c->columns.count,
                  work = (int64_t)mabd_cone_cg_work((int32_t)n);
    c->reals.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->reals, sizeof(mabd_real),
                               9 * blocks + (3 + 2 + 3 + 3 + 1) * n + work));
    p->block = c->reals.data;
    p->rest = p->block + 9 * blocks, p->own = p->rest + 3 * n, p->force = p->own + 2 * n;
    p->rows = p->force + 3 * n, p->friction = p->rows + 3 * n;
    const mabd_cone_matrix W = {.count = p->count,
                                .first = 0,
                                .start = c->start.data,
                                .end = (int32_t*)c->start.data + 1,
                                .column = c->columns.data,
                                .block = p->block};
    p->W = W;
    memset(p->block, 0, (size_t)(9 * blocks + 12 * n) * sizeof *p->block);
    return MABD_OK;
}

// Block (i, k) of W, null if there is none.
static mabd_real* block_of(const contact_problem* p, int32_t i, int32_t k) {
    int32_t from = p->W.start[i], to = p->W.end[i];
    while (from < to) {
        const int32_t middle = from + (to - from) / 2;
        if (p->W.column[middle] < k) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < p->W.end[i] && p->W.column[from] == k ? p->block + 9 * (size_t)from : NULL;
}

// Add the responses of a part to rows of contacts, at all its contacts.
static void add_columns(contact_problem* p, int32_t part, int count, const mabd_redmax_row* rows) {
    p->host->respond(p->host->self, part, count, rows);
    for (int32_t i = 0; i < p->count; i++) {
        for (int side = 0; side < 2; side++) {
            if (p->points[i].part[side] != part) continue;
            for (int l = 0; l < count; l++) {
                const int32_t k = (int32_t)(rows[l].contact - p->points);
                const mabd_spatial xi =
                    p->host->motion(p->host->self, &p->points[i], side, part, l);
                mabd_real* block = block_of(p, i, k);
                for (int c = 0; c < 3; c++) {
                    block[3 * c + rows[l].r] += mabd_sp_dot(p->points[i].row[side][c], xi);
                }
            }
        }
    }
}

// Add the responses of a part to all rows of its contacts.
static void add_part(contact_problem* p, int32_t part) {
    const int most = p->host->responses_of(p->host->self, part);
    mabd_redmax_row rows[MABD_RESPONSES];
    int count = 0;
    for (int32_t k = 0; k < p->count; k++) {
        if (p->points[k].part[0] != part && p->points[k].part[1] != part) continue;
        for (int r = 0; r < 3; r++) {
            rows[count++] = (mabd_redmax_row){&p->points[k], r};
            if (count < most) continue;
            add_columns(p, part, count, rows);
            count = 0;
        }
    }
    if (count > 0) add_columns(p, part, count, rows);
}

// Take the symmetric part of W: that of H is not quite symmetric, and the laws need a minimum.
static void make_symmetric(contact_problem* p) {
    for (int32_t i = 0; i < p->count; i++) {
        for (int32_t at = p->W.start[i]; at < p->W.end[i]; at++) {
            const int32_t k = p->W.column[at];
            mabd_real *B = p->block + 9 * (size_t)at, *C = block_of(p, k, i);
            for (int r = 0; k >= i && r < 9; r++) {
                const int other = 3 * (r % 3) + r / 3;
                B[r] = C[other] = (B[r] + C[other]) / 2;
            }
        }
    }
}

// Compliance of a row without the stiffness that holds it, as far as it is alone.
static mabd_real without_hold(mabd_real own, mabd_real held) {
    const mabd_real free = 1 - held * own;
    if (!(own > 0)) return 1;
    return own / (free > LEAST_FREE ? free : LEAST_FREE);
}

static void fill_matrix(contact_problem* p) {
    for (int32_t part = 0; part < p->c->part_count; part++) {
        if (p->c->touches[part]) add_part(p, part);
    }
    make_symmetric(p);
    for (int32_t i = 0; i < p->count; i++) {
        memcpy(p->force + 3 * i, p->points[i].last, 3 * sizeof *p->force);
    }
    mabd_cone_matrix_product(&p->W, p->force, p->rows);
    for (int32_t i = 0; i < p->count; i++) {
        const mabd_real* own = block_of(p, i, i);
        const mabd_real most = own[4] > own[8] ? own[4] : own[8];
        for (int r = 0; r < 3; r++) p->rest[3 * i + r] = p->points[i].rest[r] - p->rows[3 * i + r];
        p->own[2 * i] = without_hold(own[0], p->points[i].held[0]);
        p->own[2 * i + 1] = without_hold(most, p->points[i].held[1]);
        p->friction[i] = p->points[i].friction;
        memset(p->force + 3 * i, 0, 3 * sizeof *p->force);
    }
}

// ---- one-qp ------------------------------------------------------------------------------------

// Project l (3) onto the cone |l_t| <= mu l_n.
static void to_cone(mabd_real mu, mabd_real* l) {
    const mabd_real t = (mabd_real)sqrt(l[1] * l[1] + l[2] * l[2]);
    if (t <= mu * l[0]) return;
    if (l[0] <= -mu * t) {
        l[0] = l[1] = l[2] = 0;
        return;
    }
    const mabd_real n = (l[0] + mu * t) / (1 + mu * mu);
    l[1] *= mu * n / t, l[2] *= mu * n / t, l[0] = n;
}

// Rows of contact i at the forces, with its compliance.
static void rows_of(const contact_problem* p, int32_t i, mabd_real* g) {
    for (int r = 0; r < 3; r++) {
        const mabd_real c = p->softness * p->own[2 * i + (r > 0)];
        g[r] = p->rest[3 * i + r] + c * p->force[3 * i + r];
    }
    for (int32_t at = p->W.start[i]; at < p->W.end[i]; at++) {
        const mabd_real *B = p->block + 9 * (size_t)at, *l = p->force + 3 * p->W.column[at];
        for (int r = 0; r < 3; r++)
            g[r] += B[3 * r] * l[0] + B[3 * r + 1] * l[1] + B[3 * r + 2] * l[2];
    }
}

static mabd_cone_report solve_one_qp(contact_problem* p, mabd_real tolerance) {
    mabd_cone_report report = {0};
    for (report.products = 1; report.products <= PRODUCTS_MAX; report.products++) {
        report.residual = 0;
        for (int32_t i = 0; i < p->count; i++) {
            const mabd_real* own = block_of(p, i, i);
            const mabd_real e = (own[0] + own[4] + own[8]) * (1 + p->softness);
            mabd_real g[3], *l = p->force + 3 * i, before[3];
            if (!(e > 0)) continue;
            rows_of(p, i, g);
            memcpy(before, l, sizeof before);
            for (int r = 0; r < 3; r++) l[r] -= g[r] / e;
            to_cone(p->friction[i], l);
            for (int r = 0; r < 3; r++) {
                const mabd_real change = e * (mabd_real)fabs(l[r] - before[r]);
                if (!(change <= report.residual)) report.residual = change;
            }
        }
        report.converged = report.residual <= tolerance;
        if (report.converged) break;
    }
    return report;
}

// ---- direct ------------------------------------------------------------------------------------
//
// Contacts that may press are taken into a dense convex problem (dual/cone_ip.h), others come in
// where they would overlap. Coulomb's law is that problem with gaps that are larger by mu times the
// slip of its own solution [de Saxce]: g_n + mu |g_t| is what the cone asks for.

// Rows of the contacts `at` (n) as a dense problem.
static void fill_dense(const contact_problem* p, int32_t n, const int32_t* at, mabd_real* A) {
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k <= i; k++) {
            const mabd_real* B = block_of(p, at[i], at[k]);
            for (int r = 0; r < 9; r++) {
                const size_t row = 3 * (size_t)i + (size_t)(r / 3);
                A[row * 3 * (size_t)n + 3 * (size_t)k + (size_t)(r % 3)] = B ? B[r] : 0;
            }
        }
        for (int r = 0; r < 3; r++) {
            const size_t own = 3 * (size_t)i + (size_t)r;
            A[own * (3 * (size_t)n + 1)] += p->softness * p->own[2 * at[i] + (r > 0)];
        }
    }
}

// Slip of contact i at the forces [m].
static mabd_real slip_of(const contact_problem* p, int32_t i) {
    mabd_real g[3];
    rows_of(p, i, g);
    return (mabd_real)hypot(g[1], g[2]);
}

// Solve for the forces of the contacts `at` with the slips that they have, until these agree.
static bool solve_dense(contact_problem* p, bool coulomb, int32_t n, const int32_t* at,
                        mabd_real* work, mabd_real tolerance, mabd_cone_report* report) {
    mabd_real *A = work, *b = A + 9 * (size_t)n * (size_t)n, *slip = b + 3 * (size_t)n;
    mabd_real *mu = slip + n, *force = mu + n, *rest = force + 3 * (size_t)n;
    fill_dense(p, n, at, A);
    for (int32_t i = 0; i < n; i++) mu[i] = p->friction[at[i]], slip[i] = 0;
    for (int k = 0; k < UPDATES_MAX; k++) {
        mabd_real most = 0;
        for (int32_t i = 0; i < n; i++) {
            for (int r = 0; r < 3; r++) b[3 * i + r] = p->rest[3 * at[i] + r];
            b[3 * i] += mu[i] * slip[i];
        }
        const bool good = mabd_cone_ip(n, A, b, mu, tolerance, force, rest, &report->products);
        for (int32_t i = 0; i < n; i++) memcpy(p->force + 3 * at[i], force + 3 * i, 3 * sizeof *b);
        if (!good) return false;
        if (!coulomb) return true;
        for (int32_t i = 0; i < n; i++) {
            const mabd_real own = slip_of(p, at[i]);
            const mabd_real change = mu[i] * (mabd_real)fabs(own - slip[i]);
            if (force[3 * i] > 0 && !(change <= most)) most = change;
            slip[i] = own;
        }
        report->passes++;
        if (most <= tolerance) return true;
    }
    return false;
}

// Largest error of the law of all contacts [m].
static mabd_real residual_of(const contact_problem* p, bool coulomb) {
    mabd_real most = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const mabd_real own[2] = {p->own[2 * i], p->own[2 * i + 1]}, *l = p->force + 3 * i;
        mabd_real g[3];
        rows_of(p, i, g);
        if (!coulomb && l[0] > 0) g[0] -= p->friction[i] * (mabd_real)hypot(g[1], g[2]);
        const mabd_real off = mabd_cone_off_law(own, p->friction[i] * l[0], l, g);
        if (!(off <= most)) most = off;
    }
    return most;
}

// Take contacts in that would overlap; returns their number.
static int32_t add_contacts(const contact_problem* p, mabd_real tolerance, bool* taken, int32_t* at,
                            int32_t n) {
    for (int32_t i = 0; i < p->count; i++) {
        mabd_real g[3];
        if (taken[i]) continue;
        rows_of(p, i, g);
        if (!(g[0] < -tolerance) && !(p->points[i].last[0] > 0)) continue;
        taken[i] = true, at[n++] = i;
    }
    return n;
}

static mabd_status solve_direct(contact_problem* p, bool coulomb, mabd_real tolerance,
                                mabd_cone_report* report) {
    mabd_redmax_contacts* c = p->c;
    const size_t m = (size_t)p->count;
    const int64_t size = (int64_t)(9 * m * m + 11 * m + mabd_cone_ip_work(p->count));
    int32_t n = 0;
    c->dense.count = c->chosen.count = c->taken.count = 0;
    memset(p->force, 0, 3 * m * sizeof *p->force);
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->dense, sizeof(mabd_real), size));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->chosen, sizeof(int32_t), p->count));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->taken, sizeof(bool), p->count));
    memset(c->taken.data, 0, m * sizeof(bool));
    for (int k = 0; k < p->count; k++) {
        const int32_t more = add_contacts(p, tolerance, c->taken.data, c->chosen.data, n);
        if (more == n) break;
        n = more;
        if (!solve_dense(p, coulomb, n, c->chosen.data, c->dense.data, tolerance, report)) break;
    }
    report->residual = residual_of(p, coulomb);
    return MABD_OK;
}

// ---- the solve ---------------------------------------------------------------------------------

static mabd_cone_report solve_staggered(contact_problem* p, mabd_real tolerance) {
    const mabd_cone_problem problem = {.count = p->count,
                                       .rest = p->rest,
                                       .own = p->own,
                                       .softness = p->softness,
                                       .friction = p->friction,
                                       .product = mabd_cone_matrix_product,
                                       .self = &p->W,
                                       .tolerance = tolerance,
                                       .updates = UPDATES_MAX,
                                       .max_products = PRODUCTS_MAX};
    return mabd_cone_cg(&problem, p->force, p->rows, p->friction + p->count);
}

mabd_status mabd_redmax_contact_forces(mabd_redmax_contacts* c,
                                       const mabd_redmax_contact_host* host,
                                       mabd_contact_problem problem, mabd_real tolerance,
                                       mabd_step_info* info) {
    contact_problem p = {.c = c, .host = host, .points = c->points.data, .count = c->points.count};
    if (p.count == 0) return MABD_OK;
    p.softness = SOFTNESS;
    MABD_TRY(fill_pattern(&p));
    MABD_TRY(take_reals(&p));
    fill_matrix(&p);
    const mabd_real goal = CLOSER * tolerance;
    const bool coulomb = problem == MABD_CONTACT_PROBLEM_STAGGERED;
    mabd_cone_report report = {0};
    report.residual = (mabd_real)INFINITY;
    const bool direct = (!coulomb || c->direct) && p.count <= DIRECT_MAX;
    if (direct) MABD_TRY(solve_direct(&p, coulomb, goal, &report));
    if (!(report.residual <= tolerance)) {
        memset(p.force, 0, 3 * (size_t)p.count * sizeof *p.force);
        report = coulomb ? solve_staggered(&p, goal) : solve_one_qp(&p, goal);
    }
    if (coulomb && !direct && !(report.residual <= tolerance) && p.count <= DIRECT_MAX) {
        MABD_TRY(solve_direct(&p, coulomb, goal, &report));
        c->direct = true;
    }
    info->contact_iterations += report.products;
    info->contact_residual = report.residual;
    if (!(report.residual <= RESIDUAL_MAX)) return MABD_ERR_DIVERGED;
    for (int32_t i = 0; i < p.count; i++) {
        mabd_real g[3];
        memcpy(p.points[i].force, p.force + 3 * i, 3 * sizeof(mabd_real));
        rows_of(&p, i, g);
        for (int r = 0; r < 3; r++) {
            const mabd_real soft = p.softness * p.own[2 * i + (r > 0)];
            p.points[i].wanted[r] = g[r] - soft * p.force[3 * i + r];
        }
        p.points[i].end = p.points[i].distance + p.points[i].wanted[0] - p.points[i].start[0];
    }
    return MABD_OK;
}
