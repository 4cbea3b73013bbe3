// SPDX-License-Identifier: Apache-2.0
#include "support/dual_case.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern void dposv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda,
                   double* b, const int* ldb, int* info);
extern void dsysv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda,
                   int* ipiv, double* b, const int* ldb, double* work, const int* lwork, int* info);

double dual_epsilon(void) {
    return sizeof(mabd_real) == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON;
}

double dual_random(uint64_t* seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / 4503599627370496.0 - 1;
}

static int32_t random_below(uint64_t* seed, int32_t n) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int32_t)((*seed >> 33) % (uint64_t)n);
}

static int32_t pick_width(int32_t width, uint64_t* seed) {
    return width ? width : 1 + random_below(seed, 6);
}

static void* must(void* memory) {
    if (!memory) abort();
    return memory;
}

// ---- graphs ------------------------------------------------------------------------------------

dual_graph dual_graph_make(int32_t bodies, int32_t joints) {
    size_t bytes = ((size_t)joints + 1) * sizeof(int32_t);
    dual_graph graph = {bodies, 0, must(malloc(bytes)), must(malloc(bytes)), must(malloc(bytes))};
    return graph;
}

void dual_graph_join(dual_graph* graph, int32_t a, int32_t b, int32_t width) {
    int32_t joint = graph->joints++;
    graph->a[joint] = a, graph->b[joint] = b, graph->width[joint] = width;
}

void dual_graph_free(dual_graph* graph) {
    free(graph->a), free(graph->b), free(graph->width);
}

dual_graph dual_graph_chain(int32_t n, int32_t width, uint64_t seed) {
    dual_graph graph = dual_graph_make(n, n);
    for (int32_t i = 0; i < n; i++) dual_graph_join(&graph, i - 1, i, pick_width(width, &seed));
    return graph;
}

dual_graph dual_graph_ring(int32_t n, int32_t width, uint64_t seed) {
    dual_graph graph = dual_graph_make(n, n);
    for (int32_t i = 0; i < n; i++) {
        dual_graph_join(&graph, i, (i + 1) % n, pick_width(width, &seed));
    }
    return graph;
}

dual_graph dual_graph_net(int32_t m, int32_t n, int32_t width, uint64_t seed) {
    dual_graph graph = dual_graph_make(m * n, 2 * m * n);
    dual_graph_join(&graph, -1, 0, pick_width(width, &seed));
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < n; j++) {
            int32_t body = i * n + j;
            if (j + 1 < n) dual_graph_join(&graph, body, body + 1, pick_width(width, &seed));
            if (i + 1 < m) dual_graph_join(&graph, body, body + n, pick_width(width, &seed));
        }
    }
    return graph;
}

dual_graph dual_graph_random(int32_t n, int32_t more, int32_t width, uint64_t seed) {
    dual_graph graph = dual_graph_make(n, n + more);
    dual_graph_join(&graph, 0, -1, pick_width(width, &seed));
    for (int32_t i = 1; i < n; i++) {
        dual_graph_join(&graph, random_below(&seed, i), i, pick_width(width, &seed));
    }
    for (int32_t i = 0; i < more; i++) {
        int32_t a = random_below(&seed, n), b = random_below(&seed, n);
        int32_t like = random_below(&seed, graph.joints);
        if (i % 3 == 0) a = graph.b[like], b = graph.a[like]; // parallel to another joint
        dual_graph_join(&graph, a, a == b ? -1 : b, pick_width(width, &seed));
    }
    // a joint to the ground copied the other way round has its body at the end b
    for (int32_t i = 0; i < graph.joints; i++) {
        if (graph.a[i] < 0 && graph.b[i] < 0) graph.b[i] = 0;
    }
    return graph;
}

dual_graph dual_graph_tree(int32_t n, int32_t width, uint64_t seed) {
    return dual_graph_random(n, 0, width, seed);
}

dual_graph dual_graph_star(int32_t arms, int32_t length, int32_t held, int32_t width,
                           uint64_t seed) {
    dual_graph graph = dual_graph_make(1 + arms * length, arms * length + held);
    for (int32_t i = 0; i < held; i++) dual_graph_join(&graph, 0, -1, pick_width(width, &seed));
    for (int32_t i = 0; i < arms * length; i++) {
        const int32_t on = i % length ? i : 0;
        dual_graph_join(&graph, on, i + 1, pick_width(width, &seed));
    }
    return graph;
}

dual_graph dual_graph_beside(dual_graph first, dual_graph second) {
    dual_graph graph = dual_graph_make(first.bodies + second.bodies, first.joints + second.joints);
    for (int32_t j = 0; j < first.joints; j++) {
        dual_graph_join(&graph, first.a[j], first.b[j], first.width[j]);
    }
    for (int32_t j = 0; j < second.joints; j++) {
        const int32_t a = second.a[j], b = second.b[j], more = first.bodies;
        dual_graph_join(&graph, a < 0 ? a : a + more, b < 0 ? b : b + more, second.width[j]);
    }
    dual_graph_free(&first), dual_graph_free(&second);
    return graph;
}

dual_graph dual_graph_without_junctions(dual_graph graph) {
    for (int32_t body = 0; body < graph.bodies; body++) {
        int32_t rows = 0;
        for (int32_t j = 0; j < graph.joints; j++) {
            const bool inner = graph.a[j] >= 0 && graph.b[j] >= 0;
            if (!inner || (graph.a[j] != body && graph.b[j] != body)) continue;
            if (rows + graph.width[j] > 16) graph.width[j] = 1;
            rows += graph.width[j];
        }
    }
    return graph;
}

// ---- systems -----------------------------------------------------------------------------------

// block (w x v) += scale G_i G_j', rows of G: w and v, `rank` columns
static void add_product(int w, int v, int rank, const double* Gi, const double* Gj,
                        mabd_real* block) {
    for (int r = 0; r < w; r++) {
        for (int c = 0; c < v; c++) {
            double sum = 0;
            for (int k = 0; k < rank; k++) sum += Gi[r * rank + k] * Gj[c * rank + k];
            block[r * v + c] += (mabd_real)sum;
        }
    }
}

// A junction: -H with a random H that is diagonally dominant, and its rows G as J.
static void add_junction(const mabd_plan* plan, int32_t body, int rank, uint64_t* seed,
                         dual_case* c) {
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    const int32_t first = sides[plan->early[body]].slot;
    double H[12][12], J[6][12] = {{0}};
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j <= i; j++) H[i][j] = H[j][i] = dual_random(seed) + (i == j ? 13 : 0);
    }
    for (int k = 0; k < 36; k++) {
        c->D[plan->slot_block[first] + (size_t)k] = (mabd_real)-H[k / 6][k % 6];
        c->D[plan->slot_block[first + 1] + (size_t)k] = (mabd_real)-H[6 + k / 6][6 + k % 6];
    }
    for (int32_t k = plan->pair_start[body]; k < plan->pair_start[body + 1]; k++) {
        const mabd_plan_pair pair = plan->pairs[k];
        mabd_real* U = c->U + plan->edge_block[pair.edge];
        const bool after = sides[pair.i].is_b < 0; // the junction's slot comes first
        const mabd_plan_side own = after ? sides[pair.i] : sides[pair.j];
        const mabd_plan_side other = after ? sides[pair.j] : sides[pair.i];
        const int half = 6 * (own.slot - first), w = plan->slot_width[other.slot];
        if (own.is_b >= 0) continue; // to be filled
        if (other.is_b < 0) {
            for (int e = 0; e < 36; e++) U[e] = (mabd_real)-H[e / 6][6 + e % 6];
            continue;
        }
        uint64_t rows = *seed + (uint64_t)other.slot; // the same rows for both halves
        for (int e = 0; e < 6 * rank; e++) J[e / rank][e % rank] = dual_random(&rows);
        for (int r = 0; r < w; r++) {
            for (int e = 0; e < 6; e++)
                U[after ? e * w + r : r * 6 + e] = (mabd_real)J[r][half + e];
        }
    }
}

static void add_body(const mabd_plan* plan, int32_t body, int rank, uint64_t* seed, dual_case* c) {
    if (plan->early[body] >= 0) {
        add_junction(plan, body, rank, seed, c);
        return;
    }
    const mabd_plan_side* sides = plan->sides + plan->side_start[body];
    int32_t degree = plan->side_start[body + 1] - plan->side_start[body];
    double* G = must(malloc((size_t)(degree * 6 * rank + 1) * sizeof(double)));
    for (int32_t k = 0; k < degree * 6 * rank; k++) G[k] = dual_random(seed);
    for (int32_t i = 0; i < degree; i++) {
        int w = plan->slot_width[sides[i].slot];
        const double* Gi = G + i * 6 * rank;
        add_product(w, w, rank, Gi, Gi, c->D + plan->slot_block[sides[i].slot]);
    }
    for (int32_t k = plan->pair_start[body]; k < plan->pair_start[body + 1]; k++) {
        mabd_plan_pair pair = plan->pairs[k];
        int w = plan->slot_width[sides[pair.i].slot], v = plan->slot_width[sides[pair.j].slot];
        add_product(w, v, rank, G + pair.i * 6 * rank, G + pair.j * 6 * rank,
                    c->U + plan->edge_block[pair.edge]);
    }
    free(G);
}

static void slice(const mabd_plan* plan, int32_t component, dual_case* c) {
    const mabd_plan_component* part = &plan->components[component];
    mabd_dual_system* s = &c->system;
    s->slot_count = part->slot_count;
    s->edge_count = part->edge_count;
    s->width = plan->slot_width + part->slot_first;
    s->row = plan->slot_row + part->slot_first;
    s->row_offset = plan->slot_row[part->slot_first];
    s->row_count = plan->slot_row[part->slot_first + part->slot_count] - s->row_offset;
    s->block = plan->slot_block + part->slot_first;
    s->from = plan->edge_from + part->edge_first;
    s->to = plan->edge_to + part->edge_first;
    s->slot_offset = part->slot_first;
    s->elimination = part->loops > 0 ? plan->elimination + part->slot_first : NULL;
    s->negative = part->junction_count ? plan->slot_negative + part->slot_first : NULL;
    s->late = part->junction_count ? plan->slot_late + part->slot_first : NULL;
    s->edge_block = plan->edge_block + part->edge_first;
}

dual_case dual_case_make(dual_graph graph, int32_t component, int rank, double shift,
                         uint64_t seed) {
    dual_case c = {0};
    mabd_allocator allocator = mabd_default_allocator();
    bool* moving = must(malloc((size_t)graph.bodies));
    memset(moving, 1, (size_t)graph.bodies);
    if (mabd_plan_build(&allocator, graph.bodies, moving, graph.joints, graph.a, graph.b,
                        graph.width, MABD_PLAN_AFFINE_ROWS, &c.plan)) {
        abort();
    }
    size_t diagonal = c.plan->slot_block[c.plan->slot_count] * sizeof(mabd_real);
    size_t upper = c.plan->edge_block[c.plan->edge_count] * sizeof(mabd_real);
    c.D = must(calloc(1, diagonal)), c.system.D = must(malloc(diagonal));
    c.U = must(calloc(1, upper + 1)), c.system.U = must(malloc(upper + 1));
    for (int32_t i = 0; i < graph.bodies; i++) add_body(c.plan, i, rank, &seed, &c);
    for (int32_t s = 0; s < c.plan->slot_count; s++) {
        int32_t w = c.plan->slot_width[s];
        for (int32_t k = 0; k < w; k++) {
            c.D[c.plan->slot_block[s] + (size_t)(k * w + k)] +=
                (mabd_real)(c.plan->slot_negative[s] ? -shift : shift);
        }
    }
    slice(c.plan, component, &c);
    c.b = must(malloc((size_t)c.system.row_count * sizeof(mabd_real)));
    c.x = must(malloc((size_t)c.system.row_count * sizeof(mabd_real)));
    for (int32_t k = 0; k < c.system.row_count; k++) c.b[k] = (mabd_real)dual_random(&seed);
    dual_case_reset(&c);
    dual_graph_free(&graph);
    free(moving);
    return c;
}

static void negate(size_t n, mabd_real* block) {
    for (size_t i = 0; i < n; i++) block[i] = -block[i];
}

void dual_case_negate_some(dual_case* c, uint64_t seed) {
    const mabd_dual_system* s = &c->system;
    if (s->negative) return; // junctions: quasi-definite as it is
    c->negative = must(calloc((size_t)s->slot_count, sizeof(bool)));
    for (int32_t k = 0; k < s->slot_count; k++) {
        c->negative[k] = random_below(&seed, 3) == 0;
        if (c->negative[k]) negate((size_t)(s->width[k] * s->width[k]), c->D + s->block[k]);
    }
    for (int32_t e = 0; e < s->edge_count; e++) {
        const int32_t from = s->from[e] - s->slot_offset, to = s->to[e] - s->slot_offset;
        if (!c->negative[from] || !c->negative[to]) continue;
        negate((size_t)(s->width[from] * s->width[to]), c->U + s->edge_block[e]);
    }
    c->system.negative = c->negative;
    dual_case_reset(c);
}

void dual_case_reset(dual_case* c) {
    const mabd_plan* plan = c->plan;
    memcpy(c->system.D, c->D, plan->slot_block[plan->slot_count] * sizeof(mabd_real));
    memcpy(c->system.U, c->U, plan->edge_block[plan->edge_count] * sizeof(mabd_real));
    memcpy(c->x, c->b, (size_t)c->system.row_count * sizeof(mabd_real));
}

void dual_case_free(dual_case* c) {
    mabd_plan_destroy(c->plan);
    free(c->D), free(c->U), free(c->system.D), free(c->system.U), free(c->b), free(c->x);
    free(c->negative);
}

// ---- measures ----------------------------------------------------------------------------------

// Call visit for every entry of K, both triangles.
typedef void visit_entry(void* context, int32_t row, int32_t column, double value);

static void for_each_entry(const dual_case* c, visit_entry* visit, void* context) {
    const mabd_dual_system* s = &c->system;
    for (int32_t k = 0; k < s->slot_count; k++) {
        int32_t row = s->row[k] - s->row_offset, w = s->width[k];
        const mabd_real* D = c->D + s->block[k];
        for (int32_t i = 0; i < w * w; i++) visit(context, row + i / w, row + i % w, (double)D[i]);
    }
    for (int32_t e = 0; e < s->edge_count; e++) {
        int32_t from = s->from[e] - s->slot_offset, to = s->to[e] - s->slot_offset;
        int32_t row = s->row[from] - s->row_offset, column = s->row[to] - s->row_offset;
        int32_t w = s->width[from], v = s->width[to];
        const mabd_real* U = c->U + s->edge_block[e];
        for (int32_t i = 0; i < w * v; i++) {
            visit(context, row + i / v, column + i % v, (double)U[i]);
            visit(context, column + i % v, row + i / v, (double)U[i]);
        }
    }
}

typedef struct residual {
    const mabd_real* x;
    double *rest, *sum; // b - K x, and row sums of |K|
} residual;

static void visit_residual(void* context, int32_t row, int32_t column, double value) {
    residual* r = context;
    r->rest[row] -= value * (double)r->x[column];
    r->sum[row] += fabs(value);
}

double dual_case_backward_error(const dual_case* c) {
    size_t n = (size_t)c->system.row_count;
    residual r = {c->x, must(calloc(n, sizeof(double))), must(calloc(n, sizeof(double)))};
    double rest = 0, norm = 0, x = 0, b = 0;
    for (size_t i = 0; i < n; i++) r.rest[i] = (double)c->b[i];
    for_each_entry(c, visit_residual, &r);
    for (size_t i = 0; i < n; i++) {
        // a NaN must not be lost in fmax
        rest = isnan(r.rest[i]) ? INFINITY : fmax(rest, fabs(r.rest[i]));
        norm = fmax(norm, r.sum[i]);
        x = fmax(x, fabs((double)c->x[i]));
        b = fmax(b, fabs((double)c->b[i]));
    }
    free(r.rest), free(r.sum);
    return rest / (norm * x + b);
}

typedef struct dense {
    size_t n;
    double* K;
} dense;

static void visit_dense(void* context, int32_t row, int32_t column, double value) {
    dense* d = context;
    d->K[(size_t)row * d->n + (size_t)column] += value;
}

double* dual_case_dense(const dual_case* c) {
    size_t n = (size_t)c->system.row_count;
    dense d = {n, must(calloc(n * n, sizeof(double)))};
    for_each_entry(c, visit_dense, &d);
    return d.K;
}

double dual_case_slot_residual(const dual_case* c) {
    const int32_t n = c->system.row_count;
    double *K = dual_case_dense(c), largest = 0;
    for (int32_t s = 0; s < c->system.slot_count; s++) {
        const int32_t first = c->system.row[s] - c->system.row_offset;
        double square = 0;
        for (int32_t i = first; i < first + c->system.width[s]; i++) {
            double r = (double)c->b[i];
            for (int32_t j = 0; j < n; j++) r -= K[(size_t)i * (size_t)n + (size_t)j] * c->x[j];
            square += r * r;
        }
        largest = fmax(largest, sqrt(square));
    }
    free(K);
    return largest;
}

double dual_case_dense_difference(const dual_case* c) {
    int n = c->system.row_count, one = 1, info = -1;
    double *K = dual_case_dense(c), *y = must(malloc((size_t)n * sizeof(double)));
    double largest = 0, difference = 0;
    for (int i = 0; i < n; i++) y[i] = (double)c->b[i];
    if (c->system.negative) {
        const int room = 64 * n;
        int* pivots = must(malloc((size_t)n * sizeof(int)));
        double* work = must(malloc((size_t)room * sizeof(double)));
        dsysv_("L", &n, &one, K, &n, pivots, y, &n, work, &room, &info);
        free(pivots), free(work);
    } else {
        dposv_("L", &n, &one, K, &n, y, &n, &info);
    }
    for (int i = 0; i < n; i++) {
        double d = fabs((double)c->x[i] - y[i]);
        difference = isnan(d) ? INFINITY : fmax(difference, d);
        largest = fmax(largest, fabs(y[i]));
    }
    free(K), free(y);
    return info ? INFINITY : difference / largest;
}
