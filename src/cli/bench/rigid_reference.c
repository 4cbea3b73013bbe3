// SPDX-License-Identifier: Apache-2.0
// Reference motion of a scene for peers; see rigid_reference.h.
#include "cli/bench/rigid_reference.h"

#include "cli/bench/envelope.h"
#include "math/quat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX    5    // of a joint
#define SHIFT       1e-8 // of the diagonal, relative
#define REFINEMENTS 3

typedef struct twist {
    mabd_vec3 linear, angular; // world axes
} twist;

// A row of a joint: J = [a, b], right-hand side g.
typedef struct row {
    twist a, b;
    double g;
} row;

typedef struct joint_rows {
    int32_t count, first; // first: number of its first row in the system
    row rows[ROWS_MAX];
} joint_rows;

// Derivative of a peer_state.
typedef struct slope {
    mabd_vec3 x, v, w;
    mabd_quat q;
} slope;

typedef struct solver {
    const peer_scene* scene;
    int32_t* order;        // (joints) joints in the order of their rows
    joint_rows* joints;    // (joints)
    mabd_mat3* inverse;    // (bodies) inverse inertia, world axes
    twist* free;           // (bodies) acceleration: without joints, then with their forces
    envelope matrix;       //
    double* lambda;        // (rows) residual, then multipliers of a refinement
    peer_state *now, *mid; // (bodies)
    slope* slopes[4];      // (bodies) each
} solver;

// ---- paths -------------------------------------------------------------------------------------

bool rigid_path_create(const peer_scene* scene, double interval, int32_t count, rigid_path* path) {
    const size_t n = 3 * (size_t)count * (size_t)scene->body_count;
    *path = (rigid_path){.interval = interval, .count = count, .bodies = scene->body_count};
    path->positions = malloc(n * sizeof(double));
    for (size_t i = 0; path->positions != NULL && i < n; i++) path->positions[i] = NAN;
    return path->positions != NULL;
}

void rigid_path_destroy(rigid_path* path) {
    free(path->positions);
    *path = (rigid_path){0};
}

double rigid_path_distance(const rigid_path* a, const rigid_path* b) {
    const size_t points = (size_t)a->count * (size_t)a->bodies;
    double sum = 0;
    for (size_t i = 0; i < 3 * points; i++) {
        const double d = a->positions[i] - b->positions[i];
        sum += d * d;
    }
    return sqrt(sum / (double)points);
}

// ---- rows --------------------------------------------------------------------------------------

static mabd_vec3 arm_of(const peer_state* states, int32_t body, const double* anchor) {
    if (body == PEER_WORLD) return mabd_v3(0, 0, 0);
    return mabd_q_rotate(mabd_q_load(states[body].quaternion), mabd_v3_load(anchor));
}

static mabd_vec3 axis_of(const peer_state* states, int32_t body, const double* axis) {
    return body == PEER_WORLD ? mabd_v3_load(axis) : arm_of(states, body, axis);
}

static mabd_vec3 rate_of(const peer_state* states, int32_t body) {
    return body == PEER_WORLD ? mabd_v3(0, 0, 0) : mabd_v3_load(states[body].angular);
}

// Rows e . (a_b + alpha_b x r_b + w_b x (w_b x r_b) - the same of a) = 0 for e = x, y, z.
static void point_rows(const peer_joint* j, const peer_state* states, row* rows) {
    const mabd_vec3 ra = arm_of(states, j->a, j->anchor_a), rb = arm_of(states, j->b, j->anchor_b);
    const mabd_vec3 wa = rate_of(states, j->a), wb = rate_of(states, j->b);
    const mabd_vec3 ca = mabd_v3_cross(wa, mabd_v3_cross(wa, ra)),
                    cb = mabd_v3_cross(wb, mabd_v3_cross(wb, rb));
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 e = mabd_v3(k == 0, k == 1, k == 2);
        rows[k].a = (twist){mabd_v3_scale(-1, e), mabd_v3_scale(-1, mabd_v3_cross(ra, e))};
        rows[k].b = (twist){e, mabd_v3_cross(rb, e)};
        rows[k].g = mabd_v3_dot(e, mabd_v3_sub(ca, cb));
    }
}

// (n . u)'' = (alpha_b - alpha_a) . (u x n) + (w_a x (w_a x n)) . u + 2 (w_a x n) . (w_b x u)
//             + n . (w_b x (w_b x u))
static void axis_row(mabd_vec3 n, mabd_vec3 u, mabd_vec3 wa, mabd_vec3 wb, row* out) {
    const mabd_vec3 zero = mabd_v3(0, 0, 0), c = mabd_v3_cross(u, n);
    const mabd_vec3 na = mabd_v3_cross(wa, n), ub = mabd_v3_cross(wb, u);
    out->a = (twist){zero, mabd_v3_scale(-1, c)};
    out->b = (twist){zero, c};
    out->g = -(mabd_v3_dot(mabd_v3_cross(wa, na), u) + 2 * mabd_v3_dot(na, ub) +
               mabd_v3_dot(n, mabd_v3_cross(wb, ub)));
}

// Two normals of an axis in the frame of body a, turned to the world.
static void hinge_rows(const peer_joint* j, const peer_state* states, row* rows) {
    const mabd_vec3 local = mabd_v3_load(j->axis_a), u = axis_of(states, j->b, j->axis_b);
    const bool along_x = fabs(local.x) > 0.6;
    mabd_vec3 n = mabd_v3_cross(local, mabd_v3(along_x ? 0 : 1, along_x ? 1 : 0, 0));
    n = mabd_v3_scale(1 / mabd_v3_norm(n), n);
    const mabd_vec3 m = mabd_v3_cross(local, n);
    const double first[3] = {n.x, n.y, n.z}, second[3] = {m.x, m.y, m.z};
    const mabd_vec3 wa = rate_of(states, j->a), wb = rate_of(states, j->b);
    axis_row(axis_of(states, j->a, first), u, wa, wb, &rows[0]);
    axis_row(axis_of(states, j->a, second), u, wa, wb, &rows[1]);
}

// ---- the system --------------------------------------------------------------------------------

static double dot(twist a, twist b) {
    return mabd_v3_dot(a.linear, b.linear) + mabd_v3_dot(a.angular, b.angular);
}

static twist inverse_mass(const solver* s, int32_t body, twist f) {
    return (twist){mabd_v3_scale(1 / s->scene->bodies[body].mass, f.linear),
                   mabd_m3_mul(s->inverse[body], f.angular)};
}

static int32_t side_body(const peer_joint* j, int side) {
    return side == 0 ? j->a : j->b;
}

static twist side_row(const row* r, int side) {
    return side == 0 ? r->a : r->b;
}

// Add J_i M^-1 J_k' through one body that both joints hold, the lower triangle only.
static void add_shared(solver* s, int32_t i, int side_i, int32_t k, int side_k, int32_t body) {
    const joint_rows *ri = &s->joints[i], *rk = &s->joints[k];
    for (int32_t c = 0; c < rk->count; c++) {
        const twist y = inverse_mass(s, body, side_row(&rk->rows[c], side_k));
        for (int32_t r = 0; r < ri->count; r++) {
            if (rk->first + c > ri->first + r) continue;
            *envelope_at(&s->matrix, ri->first + r, rk->first + c) +=
                dot(side_row(&ri->rows[r], side_i), y);
        }
    }
}

static void add_pair(solver* s, int32_t i, int32_t k) {
    const peer_joint *ji = &s->scene->joints[i], *jk = &s->scene->joints[k];
    for (int p = 0; p < 2; p++) {
        for (int q = 0; q < 2; q++) {
            const int32_t body = side_body(ji, p);
            if (body != PEER_WORLD && body == side_body(jk, q)) add_shared(s, i, p, k, q, body);
        }
    }
}

static void assemble(solver* s) {
    envelope_clear(&s->matrix);
    for (int32_t at = 0; at < s->scene->joint_count; at++) {
        const int32_t i = s->order[at];
        const int32_t low = s->matrix.first[s->joints[i].first];
        for (int32_t before = at; before >= 0; before--) {
            const joint_rows* k = &s->joints[s->order[before]];
            if (k->first + k->count <= low) break;
            add_pair(s, i, s->order[before]);
        }
    }
}

static void shift(solver* s) {
    for (int32_t i = 0; i < s->matrix.count; i++) *envelope_at(&s->matrix, i, i) *= 1 + SHIFT;
}

static void evaluate_rows(solver* s, const peer_state* states) {
    for (int32_t i = 0; i < s->scene->joint_count; i++) {
        const peer_joint* j = &s->scene->joints[i];
        point_rows(j, states, s->joints[i].rows);
        if (s->joints[i].count > 3) hinge_rows(j, states, s->joints[i].rows + 3);
    }
}

// Accelerations without joints: gravity and -I^-1 (w x I w).
static void evaluate_free(solver* s, const peer_state* states) {
    for (int32_t i = 0; i < s->scene->body_count; i++) {
        const peer_body* body = &s->scene->bodies[i];
        const mabd_mat3 R = mabd_q_matrix(mabd_q_load(states[i].quaternion));
        const double* I = body->inertia;
        const mabd_mat3 scaled = {mabd_v3_scale(1 / I[0], R.c1), mabd_v3_scale(1 / I[1], R.c2),
                                  mabd_v3_scale(1 / I[2], R.c3)};
        const mabd_vec3 w = mabd_v3_load(states[i].angular), local = mabd_m3_tmul(R, w);
        const mabd_vec3 spin =
            mabd_m3_mul(R, mabd_v3(I[0] * local.x, I[1] * local.y, I[2] * local.z));
        s->inverse[i] = mabd_m3_product(scaled, mabd_m3_transpose(R));
        s->free[i].linear = mabd_v3_load(s->scene->gravity);
        s->free[i].angular = mabd_m3_mul(s->inverse[i], mabd_v3_cross(spin, w));
    }
}

// lambda = g - J a with the accelerations so far.
static void evaluate_right_side(solver* s) {
    for (int32_t i = 0; i < s->scene->joint_count; i++) {
        const peer_joint* j = &s->scene->joints[i];
        for (int32_t r = 0; r < s->joints[i].count; r++) {
            const row* at = &s->joints[i].rows[r];
            double value = at->g;
            if (j->a != PEER_WORLD) value -= dot(at->a, s->free[j->a]);
            if (j->b != PEER_WORLD) value -= dot(at->b, s->free[j->b]);
            s->lambda[s->joints[i].first + r] = value;
        }
    }
}

// free + M^-1 J' lambda in place of `free`.
static void add_joint_forces(solver* s) {
    for (int32_t i = 0; i < s->scene->joint_count; i++) {
        const joint_rows* rows = &s->joints[i];
        for (int side = 0; side < 2; side++) {
            const int32_t body = side_body(&s->scene->joints[i], side);
            for (int32_t r = 0; body != PEER_WORLD && r < rows->count; r++) {
                const twist y = inverse_mass(s, body, side_row(&rows->rows[r], side));
                const double force = s->lambda[rows->first + r];
                twist* a = &s->free[body];
                a->linear = mabd_v3_axpy(force, y.linear, a->linear);
                a->angular = mabd_v3_axpy(force, y.angular, a->angular);
            }
        }
    }
}

static void evaluate(solver* s, const peer_state* states, slope* out) {
    evaluate_free(s, states);
    evaluate_rows(s, states);
    assemble(s);
    shift(s);
    envelope_factor(&s->matrix);
    for (int k = 0; k <= REFINEMENTS; k++) {
        evaluate_right_side(s);
        envelope_solve(&s->matrix, s->lambda);
        add_joint_forces(s);
    }
    for (int32_t i = 0; i < s->scene->body_count; i++) {
        const mabd_vec3 w = mabd_v3_load(states[i].angular);
        out[i].x = mabd_v3_load(states[i].velocity);
        out[i].v = s->free[i].linear, out[i].w = s->free[i].angular;
        out[i].q =
            mabd_q_product(mabd_q(0, w.x / 2, w.y / 2, w.z / 2), mabd_q_load(states[i].quaternion));
    }
}

// ---- the step ----------------------------------------------------------------------------------

static void add_scaled(int n, double h, const double* slope_of, double* values) {
    for (int k = 0; k < n; k++) values[k] += h * slope_of[k];
}

static void advance(int32_t n, const peer_state* from, double h, const slope* along,
                    peer_state* to) {
    for (int32_t i = 0; i < n; i++) {
        const slope* d = &along[i];
        const double x[3] = {d->x.x, d->x.y, d->x.z}, v[3] = {d->v.x, d->v.y, d->v.z},
                     w[3] = {d->w.x, d->w.y, d->w.z}, q[4] = {d->q.w, d->q.x, d->q.y, d->q.z};
        to[i] = from[i];
        add_scaled(3, h, x, to[i].position);
        add_scaled(3, h, v, to[i].velocity);
        add_scaled(3, h, w, to[i].angular);
        add_scaled(4, h, q, to[i].quaternion);
    }
}

static void normalize(int32_t n, peer_state* states) {
    for (int32_t i = 0; i < n; i++) {
        const mabd_quat q = mabd_q_normalize(mabd_q_load(states[i].quaternion));
        mabd_q_store(q, states[i].quaternion);
    }
}

static void step(solver* s, double h) {
    static const double AT[4] = {0, 0.5, 0.5, 1}, WEIGHT[4] = {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0};
    const int32_t n = s->scene->body_count;
    evaluate(s, s->now, s->slopes[0]);
    for (int k = 1; k < 4; k++) {
        advance(n, s->now, AT[k] * h, s->slopes[k - 1], s->mid);
        normalize(n, s->mid);
        evaluate(s, s->mid, s->slopes[k]);
    }
    for (int k = 0; k < 4; k++) advance(n, s->now, WEIGHT[k] * h, s->slopes[k], s->now);
    normalize(n, s->now);
}

// ---- the order of joints -----------------------------------------------------------------------

static double start_coordinate(const peer_scene* scene, int32_t joint, int axis) {
    const peer_joint* j = &scene->joints[joint];
    if (j->b == PEER_WORLD) return j->anchor_b[axis];
    const peer_state* s = &scene->bodies[j->b].start;
    const mabd_vec3 x =
        mabd_v3_add(mabd_v3_load(s->position),
                    mabd_q_rotate(mabd_q_load(s->quaternion), mabd_v3_load(j->anchor_b)));
    return axis == 0 ? x.x : axis == 1 ? x.y : x.z;
}

// Sort by the anchors along an axis; insertion keeps the order of equal ones. axis = 3: as given.
static void sort_joints(const peer_scene* scene, int axis, double* keys, int32_t* order) {
    for (int32_t i = 0; i < scene->joint_count; i++) {
        const double key = axis == 3 ? 0 : start_coordinate(scene, i, axis);
        int32_t at = i;
        for (; at > 0 && keys[at - 1] > key + 1e-9; at--) {
            keys[at] = keys[at - 1], order[at] = order[at - 1];
        }
        keys[at] = key, order[at] = i;
    }
}

static bool share_body(const peer_joint* i, const peer_joint* k) {
    return (i->a != PEER_WORLD && (i->a == k->a || i->a == k->b)) ||
           (i->b != PEER_WORLD && (i->b == k->a || i->b == k->b));
}

// Number the rows in an order of joints and find the first column of each. Returns the size.
static size_t find_envelope(const peer_scene* scene, const int32_t* order, joint_rows* joints,
                            int32_t* first) {
    int32_t rows = 0;
    size_t size = 0;
    for (int32_t at = 0; at < scene->joint_count; at++) {
        joint_rows* j = &joints[order[at]];
        int32_t low = at;
        j->count = peer_joint_is_hinge(&scene->joints[order[at]]) ? 5 : 3;
        j->first = rows;
        for (int32_t before = 0; before < low; before++) {
            if (share_body(&scene->joints[order[at]], &scene->joints[order[before]])) low = before;
        }
        for (int32_t r = 0; r < j->count; r++, rows++) {
            first[rows] = joints[order[low]].first;
            size += (size_t)(rows - first[rows] + 1);
        }
    }
    return size;
}

static void choose_order(solver* s, double* keys, int32_t* first) {
    size_t least = SIZE_MAX;
    int best = 3;
    for (int axis = 0; axis < 5; axis++) { // the last time with the best
        sort_joints(s->scene, axis < 4 ? axis : best, keys, s->order);
        const size_t size = find_envelope(s->scene, s->order, s->joints, first);
        if (axis < 4 && size < least) least = size, best = axis;
    }
}

// ---- memory ------------------------------------------------------------------------------------

static void destroy(solver* s) {
    envelope_destroy(&s->matrix);
    free(s->order);
    free(s->joints);
    free(s->inverse);
    free(s->free);
    free(s->lambda);
    free(s->now);
    free(s->mid);
    for (int k = 0; k < 4; k++) free(s->slopes[k]);
}

static bool create_matrix(solver* s) {
    const size_t n = (size_t)s->scene->joint_count + 1;
    double* keys = malloc(n * sizeof(*keys));
    int32_t* first = malloc(ROWS_MAX * n * sizeof(*first));
    bool ready = keys != NULL && first != NULL;
    if (ready) {
        int32_t rows = 0;
        choose_order(s, keys, first);
        for (int32_t i = 0; i < s->scene->joint_count; i++) rows += s->joints[i].count;
        ready = envelope_create(rows, first, &s->matrix);
    }
    free(keys);
    free(first);
    return ready;
}

static bool create(const peer_scene* scene, solver* s) {
    const size_t n = (size_t)scene->body_count, m = (size_t)scene->joint_count + 1;
    *s = (solver){.scene = scene};
    s->order = calloc(m, sizeof(*s->order));
    s->joints = calloc(m, sizeof(*s->joints));
    s->inverse = calloc(n, sizeof(*s->inverse));
    s->free = calloc(n, sizeof(*s->free));
    s->lambda = calloc(ROWS_MAX * m, sizeof(*s->lambda));
    s->now = calloc(n, sizeof(*s->now));
    s->mid = calloc(n, sizeof(*s->mid));
    bool ready = s->order != NULL && s->joints != NULL && s->inverse != NULL && s->free != NULL &&
                 s->lambda != NULL && s->now != NULL && s->mid != NULL;
    for (int k = 0; k < 4; k++) {
        s->slopes[k] = calloc(n, sizeof(*s->slopes[k]));
        ready = ready && s->slopes[k] != NULL;
    }
    return ready && create_matrix(s);
}

bool rigid_reference_run(const peer_scene* scene, double h, rigid_path* path, peer_state* states) {
    solver s;
    const int32_t n = scene->body_count;
    const bool ready = create(scene, &s);
    const int32_t steps = (int32_t)ceil(path->interval / h - 1e-9);
    for (int32_t i = 0; ready && i < n; i++) s.now[i] = scene->bodies[i].start;
    for (int32_t k = 0; ready && k < path->count; k++) {
        for (int32_t i = 0; i < steps; i++) step(&s, path->interval / steps);
        for (int32_t i = 0; i < n; i++) {
            memcpy(path->positions + 3 * ((size_t)k * (size_t)n + (size_t)i), s.now[i].position,
                   sizeof(s.now[i].position));
        }
    }
    if (ready && states != NULL) memcpy(states, s.now, (size_t)n * sizeof(*states));
    destroy(&s);
    return ready;
}
