// SPDX-License-Identifier: Apache-2.0
// Rows are polynomials of second degree in q once the axes of coordinate rows are frozen at the
// reference, so a central difference with any step is their exact derivative: steps of 1 lose no
// digits.

#include "support/kkt_scene.h"

#include "formulation/affine/element/joint_jacobian.h"
#include "support/kkt_oracle.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// H of one body in world coordinates: diag4(R) (M/bh^2 + K + T'GT) diag4(R').
static void body_matrix(const mabd_affine_sim* cpu, int32_t body, const mabd_real* stress,
                        double* H) {
    const mabd_model* m = cpu->model;
    const mabd_body_material* mat = &m->classes[m->body_class[body]].material;
    const mabd_real* ref = cpu->ref + 12 * (size_t)body;
    const double bh = (double)cpu->step.beta_h, w = 1 / (bh * bh), V = (double)mat->volume;
    double local[12][12] = {{0}};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) local[3 * k + i][3 * k + i] = (double)mat->s[k] * w;
        local[9 + k][9 + k] = (double)mat->mass * w + (double)mat->drag / bh;
    }
    // K: energy V (mu e:e + lambda/2 tr(e)^2) with e = sym(D): d2/dD_ij dD_kl, D_ij at 3 j + i
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            local[3 * j + i][3 * j + i] += V * (double)mat->mu;
            local[3 * j + i][3 * i + j] += V * (double)mat->mu;
        }
        for (int j = 0; j < 3; j++) local[4 * i][4 * j] += V * (double)mat->lambda;
    }
    // G = V/4 (tr(S) I - S) on the rotation, clamped as the solver does
    const mabd_real* s = stress + 6 * (size_t)body;
    const double trace = (double)(s[0] + s[1] + s[2]);
    mabd_sym3 G;
    G.xx = V / 4 * (trace - s[0]), G.yy = V / 4 * (trace - s[1]), G.zz = V / 4 * (trace - s[2]);
    G.xy = -V / 4 * s[3], G.xz = -V / 4 * s[4], G.yz = -V / 4 * s[5];
    const mabd_affine_block block = mabd_affine_block_make(mat, cpu->step.beta_h);
    if (!mabd_affine_geometric_is_safe(&block, G)) G = mabd_sym3_clamp(G);
    const double g[3][3] = {{G.xx, G.xy, G.xz}, {G.xy, G.yy, G.yz}, {G.xz, G.yz, G.zz}};
    double T[3][12] = {{0}};
    T[0][5] = 1, T[0][7] = -1, T[1][6] = 1, T[1][2] = -1, T[2][1] = 1, T[2][3] = -1;
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < 12; j++) {
            for (int k = 0; k < 9; k++) local[i][j] += T[k / 3][i] * g[k / 3][k % 3] * T[k % 3][j];
        }
    }
    // R columns at ref: world = R local, block by block
    for (int p = 0; p < 4; p++) {
        for (int o = 0; o < 4; o++) {
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++) {
                    double sum = 0;
                    for (int k = 0; k < 3; k++) {
                        for (int l = 0; l < 3; l++) {
                            sum += (double)ref[3 * k + i] * local[3 * p + k][3 * o + l] *
                                   (double)ref[3 * l + j];
                        }
                    }
                    H[12 * (3 * p + i) + 3 * o + j] = sum;
                }
            }
        }
    }
}

// A row as a polynomial in q: its axes are frozen at the reference.
typedef struct frozen_row {
    const mabd_row* row;
    int terms; // of (A_a u) . (A_b w)
    mabd_vec3 u[2], w[2];
} frozen_row;

// Freeze the axes of a row. A vector row rotates about n: half of (v1 of b on v2 of a) minus half
// of (v2 of b on v1 of a), v1 x v2 = n.
static frozen_row freeze(const mabd_joint_view* v, const mabd_row* row) {
    frozen_row f = {row, 1, {{0, 0, 0}}, {{0, 0, 0}}};
    if (row->kind <= MABD_ROW_SLIDE) return f;
    if (row->kind != MABD_ROW_VECTOR) {
        mabd_row_axes(v, row, &f.u[0], &f.w[0]);
        return f;
    }
    const mabd_vec3 n = mabd_affine_row_vector_axis(v, row);
    const mabd_vec3 other = fabs((double)n.x) < 0.6 ? mabd_v3(1, 0, 0) : mabd_v3(0, 1, 0);
    mabd_vec3 v1 = mabd_v3_cross(other, n);
    v1 = mabd_v3_scale(1 / mabd_v3_norm(v1), v1);
    const mabd_vec3 v2 = mabd_v3_cross(n, v1);
    f.terms = 2;
    f.u[0] = v2, f.u[1] = v1;
    f.w[0] = mabd_v3_scale((mabd_real)0.5, mabd_m3_tmul(v->Ab, mabd_m3_mul(v->Aa, v1)));
    f.w[1] = mabd_v3_scale((mabd_real)-0.5, mabd_m3_tmul(v->Ab, mabd_m3_mul(v->Aa, v2)));
    return f;
}

static double frozen_value(const mabd_joint_view* constants, const frozen_row* f,
                           const mabd_real* qa, const mabd_real* qb) {
    mabd_joint_view v = *constants;
    double sum = 0;
    v.Aa = mabd_m3_load(qa), v.ta = mabd_v3_load(qa + 9);
    v.Ab = mabd_m3_load(qb), v.tb = mabd_v3_load(qb + 9);
    if (f->row->kind <= MABD_ROW_SLIDE) {
        return (double)mabd_row_value(&v, f->row, mabd_joint_gap(&v));
    }
    for (int t = 0; t < f->terms; t++) {
        sum += (double)mabd_v3_dot(mabd_m3_mul(v.Aa, f->u[t]), mabd_m3_mul(v.Ab, f->w[t]));
    }
    return sum;
}

typedef struct triplets {
    int32_t count;
    int32_t *row, *column;
    mabd_real* value;
} triplets;

static void row_entries(const mabd_affine_sim* cpu, const mabd_model_joint* joint,
                        const mabd_row* kind, int32_t row, triplets* J) {
    const mabd_model* m = cpu->model;
    const int32_t bodies[2] = {joint->a, joint->b};
    mabd_joint_view view;
    mabd_real q[2][12];
    mabd_affine_view(cpu, joint, cpu->ref, &view);
    const frozen_row f = freeze(&view, kind);
    for (int side = 0; side < 2; side++) {
        memcpy(q[side], cpu->ref + 12 * (size_t)bodies[side], sizeof q[side]);
    }
    for (int side = 0; side < 2; side++) {
        if (m->body_motion[bodies[side]] != MABD_MOTION_DYNAMIC) continue;
        for (int k = 0; k < 12; k++) {
            const mabd_real keep = q[side][k];
            q[side][k] = keep + 1;
            const double up = frozen_value(&view, &f, q[0], q[1]);
            q[side][k] = keep - 1;
            const double down = frozen_value(&view, &f, q[0], q[1]);
            q[side][k] = keep;
            J->row[J->count] = row;
            J->column[J->count] = 12 * bodies[side] + k;
            J->value[J->count++] = (up - down) / 2;
        }
    }
}

// Compute the strain of the last iteration by the inverse of Hooke's law, from Young's modulus and
// Poisson's ratio.
static mabd_sym3 strain_of(const mabd_affine_sim* cpu, const mabd_real* stress, int32_t body) {
    const mabd_model* m = cpu->model;
    mabd_sym3 e = {0, 0, 0, 0, 0, 0};
    if (m->body_motion[body] != MABD_MOTION_DYNAMIC) return e;
    const mabd_body_material* mat = &m->classes[m->body_class[body]].material;
    const mabd_real young = mat->mu * (3 * mat->lambda + 2 * mat->mu) / (mat->lambda + mat->mu);
    const mabd_real poisson = mat->lambda / (2 * (mat->lambda + mat->mu));
    const mabd_real* s = stress + 6 * (size_t)body;
    e.xx = (s[0] - poisson * (s[1] + s[2])) / young;
    e.yy = (s[1] - poisson * (s[0] + s[2])) / young;
    e.zz = (s[2] - poisson * (s[0] + s[1])) / young;
    e.xy = (1 + poisson) * s[3] / young, e.xz = (1 + poisson) * s[4] / young;
    e.yz = (1 + poisson) * s[5] / young;
    return e;
}

// Compute the right-hand side of a row from the definitions of src/formulation/affine/data.h.
static mabd_real row_target(const mabd_affine_sim* cpu, const mabd_model_joint* joint, int32_t r,
                            const mabd_real* stress, mabd_real* compliance) {
    const mabd_row_set* set = &cpu->model->row_sets[joint->row_set];
    const mabd_sym3 ea = strain_of(cpu, stress, joint->a), eb = strain_of(cpu, stress, joint->b);
    mabd_joint_view view;
    mabd_affine_view(cpu, joint, cpu->ref, &view);
    *compliance = 0;
    if (r < set->rigid_count) {
        return -(mabd_row_value(&view, &set->rigid[r], mabd_joint_gap(&view)) +
                 mabd_affine_row_remainder(&view, &set->rigid[r], ea, eb));
    }
    const int32_t k = r - set->rigid_count, i = joint->coordinate + k;
    const mabd_control* c = &set->control[k];
    const mabd_real bh = cpu->step.beta_h;
    const mabd_real w = cpu->step.w, w1 = cpu->step.w1;
    const mabd_real x_b = w * cpu->x[i] + w1 * cpu->x1[i];
    const mabd_real xd_b = w * cpu->xd[i] + w1 * cpu->xd1[i];
    const mabd_real target = c->servo ? c->servo->value : 0;
    if (c->rigid) {
        return target - cpu->x_ref[i] -
               mabd_affine_coordinate_remainder(&view, &set->control_row[k], &ea, &eb,
                                                cpu->x_ref[i]);
    }
    // force = k (rest - x) + kp (target - x) - d (x - x_b)/bh - I ((x - x_b)/bh - x'_b)/bh
    const mabd_real stiff = c->stiffness + c->damping / bh + c->armature / (bh * bh);
    const mabd_real push = c->spring * c->rest + c->gain * target + c->damping * x_b / bh +
                           c->armature * (x_b / bh + xd_b) / bh;
    *compliance = 1 / stiff;
    return push / stiff - cpu->x_ref[i];
}

// ---- damped rotations ---------------------------------------------------------------------------

// Invert a matrix (3 x 3) by Gauss-Jordan elimination with pivots.
static void invert(double (*m)[3], double (*out)[3]) {
    double w[3][6] = {{0}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) w[i][k] = m[i][k];
        w[i][3 + i] = 1;
    }
    for (int k = 0; k < 3; k++) {
        int best = k;
        for (int i = k; i < 3; i++) best = fabs(w[i][k]) > fabs(w[best][k]) ? i : best;
        for (int j = 0; j < 6; j++) {
            const double swap = w[k][j];
            w[k][j] = w[best][j], w[best][j] = swap;
        }
        for (int j = 5; j >= k; j--) w[k][j] /= w[k][k];
        for (int i = 0; i < 3; i++) {
            for (int j = 5; i != k && j >= k; j--) w[i][j] -= w[i][k] * w[k][j];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) out[i][k] = w[i][3 + k];
    }
}

// The rotation of the joint frames at q (bodies + 1 x 12).
static mabd_mat3 joint_turn(const mabd_affine_sim* cpu, const mabd_model_joint* joint,
                            const mabd_real* q) {
    mabd_joint_view view;
    mabd_affine_view(cpu, joint, q, &view);
    return mabd_joint_rotation(&view);
}

// The relative angular velocity at the reference by BDF2 in the frame on b, from q and q1.
static mabd_vec3 turn_rate(const mabd_affine_sim* cpu, const mabd_model_joint* joint) {
    const mabd_mat3 Q = joint_turn(cpu, joint, cpu->ref), Q0 = joint_turn(cpu, joint, cpu->q),
                    Q1 = joint_turn(cpu, joint, cpu->q1);
    const mabd_vec3 y = mabd_so3_log(mabd_m3_tproduct(Q0, Q));
    const mabd_vec3 d = mabd_so3_log(mabd_m3_tproduct(Q1, Q0));
    const mabd_vec3 last = mabd_v3_axpy((mabd_real)0.5, mabd_v3_cross(d, y), d);
    return mabd_v3_scale(1 / cpu->step.beta_h, mabd_v3_axpy(cpu->step.w1, last, y));
}

// Compute the map from torques about the axes of the frame on b to forces on the rotation vector:
// the inverse of the gradients in that frame.
static void force_map(const mabd_affine_sim* cpu, const mabd_model_joint* joint, double (*map)[3]) {
    mabd_joint_view view;
    double N[3][3];
    mabd_affine_view(cpu, joint, cpu->ref, &view);
    for (uint8_t k = 0; k < 3; k++) {
        const mabd_row row = {MABD_ROW_VECTOR, k, 0, 1};
        const mabd_vec3 world = mabd_m3_mul(view.Aa, mabd_affine_row_vector_axis(&view, &row));
        const mabd_vec3 n = mabd_m3_tmul(mabd_m3_product(view.Ab, view.Fb), world);
        N[0][k] = n.x, N[1][k] = n.y, N[2][k] = n.z;
    }
    invert(N, map);
}

// Compute right-hand sides and compliances of the rows of a damped rotation from the definitions of
// src/formulation/affine/element/turn_damper.h. Rigid rows have theirs already.
static void turn_targets(const mabd_affine_sim* cpu, const mabd_model_joint* joint, int32_t first,
                         kkt_system* kkt) {
    const mabd_row_set* set = &cpu->model->row_sets[joint->row_set];
    const double bh = (double)cpu->step.beta_h;
    const int32_t row = first + set->rigid_count + set->turn, at = joint->coordinate + set->turn;
    const mabd_real* x = cpu->x_ref + at;
    double map[3][3], S[3][3] = {{0}}, M[3][3], C[3][3], force[3] = {0}, total = 0;
    mabd_real O[3];
    mabd_v3_store(turn_rate(cpu, joint), O);
    force_map(cpu, joint, map);
    for (int j = 0; j < 3; j++) {
        const mabd_control* c = &set->control[set->turn + j];
        const double O_b = (double)(cpu->step.w * cpu->turn[4 * at + 6 + j] +
                                    cpu->step.w1 * cpu->turn[4 * at + 9 + j]);
        const double g = (double)c->damping / bh + (double)c->armature / (bh * bh);
        const double torque =
            (double)c->damping * O[j] + (double)c->armature * ((double)O[j] - O_b) / bh;
        total += (double)c->stiffness + g;
        for (int i = 0; i < 3; i++) {
            force[i] += map[i][j] * torque;
            for (int k = 0; k < 3; k++) S[i][k] += map[i][j] * g * map[k][j];
        }
    }
    for (int i = 0; i < 3; i++) { // K, and what steers an axis without gains
        const mabd_control* c = &set->control[set->turn + i];
        const double target = c->servo ? (double)c->servo->value : 0;
        const double stiff = (double)c->stiffness, pull = c->spring * c->rest + c->gain * target;
        for (int k = 0; k < 3; k++) M[i][k] = S[i][k] + (i == k ? stiff + 1e-6 * total : 0);
        force[i] += stiff * (double)x[i] - pull;
    }
    for (int k = 0; k < 3; k++) { // rigid rows hold their coordinates
        const mabd_control* c = &set->control[set->turn + k];
        if (!c->rigid) continue;
        for (int i = 0; i < 3; i++) {
            force[i] += S[i][k] * ((double)c->servo->value - (double)x[k]);
            M[i][k] = M[k][i] = i == k;
        }
    }
    invert(M, C);
    for (int i = 0; i < 3; i++) {
        if (set->control[set->turn + i].rigid) continue;
        kkt->b[row + i] = 0;
        for (int k = 0; k < 3; k++) {
            const double c = set->control[set->turn + k].rigid ? 0 : C[i][k];
            kkt->c[KKT_JOINT_ROWS * (row + i) + (row - first) + k] = c;
            kkt->b[row + i] -= c * force[k];
        }
    }
}

static void body_force(const mabd_affine_sim* cpu, int32_t body, mabd_real* r) {
    const mabd_model* m = cpu->model;
    const mabd_body_material* mat = &m->classes[m->body_class[body]].material;
    const mabd_real bh2 = cpu->step.beta_h * cpu->step.beta_h;
    for (int k = 0; k < 12; k++) {
        const mabd_real mass = k < 9 ? mat->s[k / 3] : mat->mass;
        const size_t at = 12 * (size_t)body + (size_t)k;
        const mabd_real target =
            mabd_affine_step_target(&cpu->step, cpu->q[at], cpu->q1[at], cpu->v[at], cpu->v1[at]);
        r[at] += mass * (target - cpu->ref[at]) / bh2;
        if (k >= 9) r[at] += mat->mass * m->gravity[k - 9];
    }
}

// ---- the whole system ---------------------------------------------------------------------------

static void* array(size_t n, size_t size) {
    void* memory = calloc(n + 1, size);
    if (!memory) cr_fatal("out of memory");
    return memory;
}

static int32_t row_count_of(const mabd_model* m, int32_t joint) {
    const mabd_row_set* set = &m->row_sets[m->joints[joint].row_set];
    return m->plan->joint_slot[joint] < 0 ? 0 : set->rigid_count + set->control_count;
}

static void allocate(const mabd_model* m, kkt_system* kkt) {
    kkt->bodies = m->body_count;
    kkt->joint_row = array((size_t)m->joint_count + 1, sizeof *kkt->joint_row);
    for (int32_t i = 0; i < m->joint_count; i++) {
        kkt->joint_row[i] = kkt->rows;
        kkt->rows += row_count_of(m, i);
    }
    kkt->joint_row[m->joint_count] = kkt->rows;
    const size_t n = 12 * (size_t)kkt->bodies, rows = (size_t)kkt->rows;
    const size_t entries = 24 * rows + 24 * MABD_JOINT_MAX_ROWS;
    kkt->H = array(12 * n, sizeof *kkt->H);
    kkt->r = array(n, sizeof *kkt->r), kkt->dq = array(n, sizeof *kkt->dq);
    kkt->moved = array(n, sizeof *kkt->moved);
    kkt->b = array(rows, sizeof *kkt->b);
    kkt->c = array(KKT_JOINT_ROWS * rows, sizeof *kkt->c);
    kkt->joint_first = array(rows, sizeof *kkt->joint_first);
    kkt->lambda = array(rows, sizeof *kkt->lambda);
    kkt->row = array(entries, sizeof *kkt->row), kkt->column = array(entries, sizeof *kkt->column);
    kkt->value = array(entries, sizeof *kkt->value);
    kkt->body_part = array((size_t)kkt->bodies, sizeof *kkt->body_part);
    kkt->row_part = array(rows, sizeof *kkt->row_part);
}

// Label components: fixed bodies are in none (-1).
static void label_parts(const mabd_model* m, kkt_system* kkt) {
    const mabd_plan* plan = m->plan;
    kkt->parts = plan->component_count;
    for (int32_t i = 0; i < kkt->bodies; i++) kkt->body_part[i] = -1;
    for (int32_t p = 0; p < plan->component_count; p++) {
        const mabd_plan_component* part = &plan->components[p];
        for (int32_t k = 0; k < part->body_count; k++) {
            kkt->body_part[plan->component_bodies[part->body_first + k]] = p;
        }
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const int32_t a = joint->a < kkt->bodies ? kkt->body_part[joint->a] : -1;
        for (int32_t k = kkt->joint_row[i]; k < kkt->joint_row[i + 1]; k++) {
            kkt->row_part[k] = a >= 0 ? a : kkt->body_part[joint->b];
        }
    }
}

static void add_joint(const mabd_affine_sim* cpu, const mabd_real* stress, int32_t index,
                      kkt_system* kkt, triplets* J) {
    const mabd_model_joint* joint = &cpu->model->joints[index];
    const mabd_row_set* set = &cpu->model->row_sets[joint->row_set];
    const int32_t first = kkt->joint_row[index];
    for (int32_t k = 0; k < row_count_of(cpu->model, index); k++) {
        const mabd_row* kind =
            k < set->rigid_count ? &set->rigid[k] : &set->control_row[k - set->rigid_count];
        row_entries(cpu, joint, kind, first + k, J);
        kkt->joint_first[first + k] = first;
        kkt->b[first + k] =
            row_target(cpu, joint, k, stress, &kkt->c[KKT_JOINT_ROWS * (first + k) + k]);
    }
    if (set->damped && row_count_of(cpu->model, index) > 0) {
        turn_targets(cpu, joint, first, kkt);
    }
    for (int32_t k = 0; k < set->motor_count; k++) { // forces: J' f
        const int32_t before = J->count;
        row_entries(cpu, joint, &set->motor[k].row, 0, J);
        for (int32_t e = before; e < J->count; e++) {
            kkt->r[J->column[e]] += J->value[e] * set->motor[k].force->value;
        }
        J->count = before;
    }
}

// ---- compliances that are matrices --------------------------------------------------------------
// With C = G G' and lambda = G'^-1 mu the rows G^-1 J have the compliance 1. Rigid rows stay.

typedef struct normal_rows {
    mabd_real *value, *b, *c;    // of G^-1 J, G^-1 b; 1 or 0 (rows)
    double (*G)[KKT_JOINT_ROWS]; // (rows) lower triangles
} normal_rows;

// Rows first .. first + count - 1 of one joint, whose entries begin at `entry`, each with `width`.
static void normalise_joint(const kkt_system* kkt, int32_t first, int32_t count, int32_t entry,
                            int32_t width, normal_rows* to) {
    for (int32_t i = 0; i < count; i++) {
        double* G = to->G[first + i];
        const mabd_real* c = kkt->c + KKT_JOINT_ROWS * (first + i);
        for (int32_t k = 0; k <= i; k++) {
            double sum = (double)c[k];
            for (int32_t j = 0; j < k; j++) sum -= G[j] * to->G[first + k][j];
            G[k] = i > k ? sum / to->G[first + k][k] : c[i] > 0 ? sqrt(sum) : 1;
        }
        to->c[first + i] = c[i] > 0;
        for (int32_t k = 0; k <= i; k++) {
            mabd_real *own = to->value + entry + i * width, *other = to->value + entry + k * width;
            for (int32_t e = 0; e < width; e++) {
                own[e] = i > k ? own[e] - G[k] * other[e] : own[e] / G[i];
            }
            to->b[first + i] =
                i > k ? to->b[first + i] - G[k] * to->b[first + k] : to->b[first + i] / G[i];
        }
    }
}

static normal_rows normalise(const mabd_model* m, const kkt_system* kkt) {
    const size_t rows = (size_t)kkt->rows;
    normal_rows to = {array((size_t)kkt->entries, sizeof *to.value), array(rows, sizeof *to.b),
                      array(rows, sizeof *to.c), array(rows, sizeof *to.G)};
    memcpy(to.value, kkt->value, (size_t)kkt->entries * sizeof *to.value);
    memcpy(to.b, kkt->b, rows * sizeof *to.b);
    int32_t entry = 0;
    for (int32_t i = 0; i < m->joint_count; i++) {
        const int32_t first = kkt->joint_row[i], count = kkt->joint_row[i + 1] - first;
        const int32_t begin = entry;
        while (entry < kkt->entries && kkt->row[entry] < first + count) entry++;
        if (count > 0) {
            normalise_joint(kkt, first, count, begin, (entry - begin) / count, &to);
        }
    }
    return to;
}

// lambda = G'^-1 mu, in place.
static void read_multipliers(const mabd_model* m, kkt_system* kkt, normal_rows* from) {
    for (int32_t i = 0; i < m->joint_count; i++) {
        const int32_t first = kkt->joint_row[i];
        for (int32_t r = kkt->joint_row[i + 1] - 1; r >= first; r--) {
            kkt->lambda[r] /= from->G[r][r - first];
            for (int32_t k = first; k < r; k++) {
                kkt->lambda[k] -= from->G[r][k - first] * kkt->lambda[r];
            }
        }
    }
    free(from->value), free(from->b), free(from->c), free(from->G);
}

kkt_system kkt_solve(const mabd_affine_sim* cpu, const mabd_real* stress) {
    const mabd_model* m = cpu->model;
    kkt_system kkt = {0};
    allocate(m, &kkt);
    label_parts(m, &kkt);
    triplets J = {0, kkt.row, kkt.column, kkt.value};
    for (int32_t i = 0; i < m->body_count; i++) {
        body_matrix(cpu, i, stress, kkt.H + 144 * (size_t)i);
        if (m->body_motion[i] == MABD_MOTION_DYNAMIC) body_force(cpu, i, kkt.r);
    }
    for (int32_t i = 0; i < m->joint_count; i++) add_joint(cpu, stress, i, &kkt, &J);
    kkt.entries = J.count;
    normal_rows normal = normalise(m, &kkt);
    const mabd_status status =
        mabd_kkt_solve(kkt.bodies, kkt.H, kkt.rows, kkt.entries, kkt.row, kkt.column, normal.value,
                       normal.c, kkt.r, normal.b, kkt.dq, kkt.lambda);
    if (status != MABD_OK) cr_fatal("KKT oracle: %s", mabd_status_text(status));
    read_multipliers(m, &kkt, &normal);
    for (size_t i = 0; i < 12 * (size_t)kkt.bodies; i++) {
        kkt.moved[i] = kkt.dq[i] + (cpu->ref[i] - cpu->q[i]);
    }
    return kkt;
}

void kkt_free(kkt_system* kkt) {
    free(kkt->joint_row), free(kkt->body_part), free(kkt->row_part);
    free(kkt->H), free(kkt->r), free(kkt->b), free(kkt->c), free(kkt->dq), free(kkt->lambda);
    free(kkt->row), free(kkt->column), free(kkt->value), free(kkt->moved);
    free(kkt->joint_first);
}
