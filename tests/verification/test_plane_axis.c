// SPDX-License-Identifier: Apache-2.0
// The joints `point-on-plane` and `axis` in every formulation, against equations of motion that
// are written and integrated here (Runge-Kutta), with their multipliers eliminated by hand.
//
// A point X of a rigid body (mass m, moments I, centre c) in a plane with the normal n:
//
//   m c'' = m g + l n,   I w' = (I w) x w + l X x (R'n)
//   n . (c'' + R (w' x X + w x (w x X))) = 0
//
// With u = X x R'n (body axes) and X' W = I^-1 ((I w) x w):
//
//   l (1/m + u . I^-1 u) = -n.g - R'n . (W x X + w x (w x X))
//
// No force lies in the plane: the centre moves along it by g t^2/2. Centres are coordinates of the
// quaternion formulation, whose BDF2 is exact for a parabola.
//
// Two bodies whose x axes stay parallel (`axis`): the rows are couples across the common axis e,
// so the centres move in parabolas, and with the couple T = e_1 t_1 + e_2 t_2 on b, -T on a,
//
//   I_a w_a' + w_a x I_a w_a = -T,   I_b w_b' + w_b x I_b w_b = T      (world)
//   (w_b - w_a) . e_i = 0   =>   (w_b' - w_a') . e_i + (w_b - w_a) . (w_a x e_i) = 0,  i = 1, 2
//
// Against the world the body turns at a constant rate s about e, and the joint carries the couple
// T = w x I w of the unbalanced rotor and no force.

#include "math/quat.h"
#include "support/reference.h"
#include "support/rig.h"

#define G 9.81

/// A way to simulate rigid joints, and its order.
typedef struct method {
    const char* name;
    mabd_formulation formulation;
    mabd_coordinates coordinates;
    mabd_integrator integrator;
    double order;
    bool exact; // a centre without forces moves in a parabola, to round-off and tolerances
} method;

static const method methods[] = {
    {"affine", MABD_FORMULATION_AFFINE, MABD_COORDINATES_REDUCED, MABD_INTEGRATOR_AUTO, 2, false},
    {"quaternion", MABD_FORMULATION_QUATERNION, MABD_COORDINATES_REDUCED, MABD_INTEGRATOR_AUTO, 2,
     true},
    {"redmax", MABD_FORMULATION_REDMAX, MABD_COORDINATES_REDUCED, MABD_INTEGRATOR_AUTO, 2, false},
    {"redmax sdirk2", MABD_FORMULATION_REDMAX, MABD_COORDINATES_REDUCED, MABD_INTEGRATOR_SDIRK2, 2,
     false},
    {"redmax maximal", MABD_FORMULATION_REDMAX, MABD_COORDINATES_MAXIMAL, MABD_INTEGRATOR_AUTO, 1,
     false}};
#define METHODS ((int)(sizeof methods / sizeof methods[0]))

static mabd_sim_def def_of(const method* m, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = m->formulation, def.integrator = m->integrator;
    if (m->coordinates == MABD_COORDINATES_MAXIMAL) def.redmax.coordinates = m->coordinates;
    return def;
}

// ---- rigid bodies here -------------------------------------------------------------------------

static const double mass = 3, moments[3] = {0.05, 0.11, 0.08};

static mabd_vec3 moment(const double* inertia, mabd_vec3 w) {
    return mabd_v3(inertia[0] * w.x, inertia[1] * w.y, inertia[2] * w.z);
}
static mabd_vec3 over_moment(const double* inertia, mabd_vec3 w) {
    return mabd_v3(w.x / inertia[0], w.y / inertia[1], w.z / inertia[2]);
}

// q' = q (0, w)/2, w in body axes.
static void turn_rate(const double* q, mabd_vec3 w, double* dq) {
    dq[0] = -(q[1] * w.x + q[2] * w.y + q[3] * w.z) / 2;
    dq[1] = (q[0] * w.x + q[2] * w.z - q[3] * w.y) / 2;
    dq[2] = (q[0] * w.y + q[3] * w.x - q[1] * w.z) / 2;
    dq[3] = (q[0] * w.z + q[1] * w.y - q[2] * w.x) / 2;
}

static mabd_mat3 rotation(const double* q) {
    return mabd_q_matrix(mabd_q_normalize(mabd_q_load(q)));
}

// Angle between two rotations [rad].
static double angle_between(const mabd_real* p, const double* q) {
    const mabd_quat d = mabd_q_product(mabd_q(p[0], -p[1], -p[2], -p[3]), mabd_q_load(q));
    return 2 * asin(fmin(1, sqrt(d.x * d.x + d.y * d.y + d.z * d.z)));
}

// ---- a point on a tilted plane -----------------------------------------------------------------

static const double tip[3] = {0.05, -0.02, -0.3}; // X, body axes

typedef struct slope {
    mabd_vec3 n, along, across; // normal and two directions in the plane
} slope;

static slope tilted(void) {
    const mabd_vec3 n = mabd_v3(0.28, -0.15, 0), up = mabd_v3(0, 0, 1);
    slope s;
    s.n = mabd_v3_scale(1 / mabd_v3_norm(mabd_v3_add(n, up)), mabd_v3_add(n, up));
    s.along = mabd_v3_cross(s.n, mabd_v3(0, 1, 0));
    s.along = mabd_v3_scale(1 / mabd_v3_norm(s.along), s.along);
    s.across = mabd_v3_cross(s.n, s.along);
    return s;
}

// y: centre, rotation, velocity, angular velocity in body axes.
static void point_rate(const void* context, const double* y, double* dy) {
    const slope* s = context;
    const mabd_mat3 R = rotation(y + 3);
    const mabd_vec3 w = mabd_v3_load(y + 10), X = mabd_v3_load(tip);
    const mabd_vec3 nb = mabd_m3_tmul(R, s->n), u = mabd_v3_cross(X, nb);
    const mabd_vec3 free = over_moment(moments, mabd_v3_cross(moment(moments, w), w));
    const mabd_vec3 g = mabd_v3(0, 0, -G);
    const mabd_vec3 drift =
        mabd_v3_add(mabd_v3_cross(free, X), mabd_v3_cross(w, mabd_v3_cross(w, X)));
    const double held = 1 / mass + mabd_v3_dot(u, over_moment(moments, u));
    const double l = -(mabd_v3_dot(s->n, g) + mabd_v3_dot(nb, drift)) / held;
    const mabd_vec3 a = mabd_v3_axpy(l / mass, s->n, g);
    const mabd_vec3 spin = mabd_v3_axpy(l, over_moment(moments, u), free);
    for (int k = 0; k < 3; k++) dy[k] = y[7 + k];
    turn_rate(y + 3, w, dy + 3);
    mabd_v3_store(a, dy + 7);
    mabd_v3_store(spin, dy + 10);
}

// The body stands on its tip with a turn, a spin and a velocity that keeps the tip in the plane.
static void point_start(const slope* s, double* y) {
    const double start[13] = {0.1, -0.2, 0.4, 0.95, 0.2, -0.1, 0.15, 0, 0, 0, 1.5, -2, 6};
    memcpy(y, start, sizeof start);
    mabd_q_store(mabd_q_normalize(mabd_q_load(y + 3)), y + 3);
    const mabd_vec3 w = mabd_v3_load(y + 10), arm = mabd_v3_cross(w, mabd_v3_load(tip));
    const mabd_vec3 at_tip = mabd_v3_axpy(0.3, s->along, mabd_v3_scale(-0.4, s->across));
    mabd_v3_store(mabd_v3_sub(at_tip, mabd_m3_mul(rotation(y + 3), arm)), y + 7);
}

static int write_body(char* out, const char* name, const double* inertia, const double* y) {
    const mabd_vec3 w = mabd_m3_mul(rotation(y + 3), mabd_v3_load(y + 10));
    return sprintf(out,
                   "{\"name\": \"%s\", \"mass\": %.17g, \"inertia\": [%.17g, %.17g, %.17g, 0, 0, "
                   "0], \"young\": 1e12, \"position\": [%.17g, %.17g, %.17g], \"rotation\": "
                   "[%.17g, %.17g, %.17g, %.17g], \"velocity\": [%.17g, %.17g, %.17g], "
                   "\"angular_velocity\": [%.17g, %.17g, %.17g]}",
                   name, mass, inertia[0], inertia[1], inertia[2], y[0], y[1], y[2], y[3], y[4],
                   y[5], y[6], y[7], y[8], y[9], w.x, w.y, w.z);
}

static mabd_model* point_model(const slope* s, const double* y) {
    char text[2000];
    const mabd_vec3 foot =
        mabd_v3_add(mabd_v3_load(y), mabd_m3_mul(rotation(y + 3), mabd_v3_load(tip)));
    int at = sprintf(text, "{\"gravity\": [0, 0, -9.81], \"bodies\": [");
    at += write_body(text + at, "top", moments, y);
    sprintf(text + at,
            "], \"joints\": [{\"type\": \"point-on-plane\", \"b\": \"top\", \"anchor\": [%.17g, "
            "%.17g, %.17g], \"axis\": [%.17g, %.17g, %.17g], \"axis2\": [%.17g, %.17g, %.17g]}]}",
            foot.x, foot.y, foot.z, s->along.x, s->along.y, s->along.z, s->across.x, s->across.y,
            s->across.z);
    return rig_text_model(text);
}

/// Errors at the end of a run.
typedef struct run_errors {
    double pose;  // distance of the centre [m] plus angle [rad]
    double plane; // motion of the centre in the plane against the parabola [m]
    double gap;   // largest of the run [m]
} run_errors;

static run_errors point_run(const method* m, double h, double time, const double* start,
                            const double* end) {
    const slope s = tilted();
    mabd_model* model = point_model(&s, start);
    const mabd_sim_def def = def_of(m, h);
    mabd_sim* sim = rig_sim(model, &def);
    run_errors out = {0, 0, 0};
    mabd_real x[3], q[4];
    for (int i = 0; i < (int)lround(time / h); i++) out.gap = fmax(out.gap, rig_step(sim).gap);
    mabd_sim_get_state(sim, x, q, NULL, NULL);
    out.pose = rig_distance(x, end) + angle_between(q, end + 3);
    const mabd_vec3 moved = mabd_v3_sub(mabd_v3_load(x), mabd_v3_load(start));
    const mabd_vec3 free =
        mabd_v3_axpy(time, mabd_v3_load(start + 7), mabd_v3(0, 0, -G * time * time / 2));
    const mabd_vec3 off = mabd_v3_sub(moved, free);
    out.plane = hypot(mabd_v3_dot(off, s.along), mabd_v3_dot(off, s.across));
    rig_destroy(sim, model);
    return out;
}

Test(plane_axis, a_body_on_a_point_slides_and_tumbles_as_its_equations_say) {
    const double h = 0.004, time = 0.6;
    const slope s = tilted();
    double start[13], end[13];
    point_start(&s, start);
    memcpy(end, start, sizeof end);
    reference_rk4(point_rate, &s, 13, time / 6000, 6000, end);
    cr_assert(lt(dbl, 0.5, angle_between(start + 3, end + 3))); // it has left its start
    for (int i = 0; i < METHODS; i++) {
        const method* m = &methods[i];
        double errors[3];
        for (int k = 0; k < 3; k++) {
            const run_errors e = point_run(m, ldexp(h, -k), time, start, end);
            errors[k] = e.pose;
            if (m->exact) cr_expect(lt(dbl, e.plane, 1e-8), "%s", m->name);
            if (m->order == 2) cr_expect(lt(dbl, e.gap, 1e-11), "%s", m->name);
        }
        const double order = rig_order(m->name, h, 3, errors);
        cr_expect(lt(dbl, m->order - 0.2, order), "%s", m->name);
        cr_expect(lt(dbl, errors[2], m->order == 1 ? 0.1 : 4e-3), "%s", m->name);
    }
}

// ---- two bodies on a common axis ---------------------------------------------------------------

static const double rotor[3] = {0.03, 0.07, 0.055}; // moments of b

// Solve A x = b (n <= 8) by elimination with pivots; b becomes x.
static void solve_dense(int n, double A[8][8], double* b) {
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++) {
            if (fabs(A[i][k]) > fabs(A[pivot][k])) pivot = i;
        }
        for (int j = 0; j < n; j++) {
            const double swap = A[k][j];
            A[k][j] = A[pivot][j], A[pivot][j] = swap;
        }
        const double swap = b[k];
        b[k] = b[pivot], b[pivot] = swap;
        for (int i = k + 1; i < n; i++) {
            const double f = A[i][k] / A[k][k];
            for (int j = k; j < n; j++) A[i][j] -= f * A[k][j];
            b[i] -= f * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
}

static void store_column(double A[8][8], int row, int column, mabd_vec3 v) {
    A[row][column] = v.x, A[row + 1][column] = v.y, A[row + 2][column] = v.z;
}

// y: rotation and angular velocity (body axes) of a, then of b; x axes of both are parallel.
// Unknowns: w_a', w_b' (world), t_1, t_2.
static void pair_rate(const void* context, const double* y, double* dy) {
    const double* const inertia[2] = {moments, rotor};
    double A[8][8] = {{0}}, x[8];
    mabd_mat3 R[2];
    mabd_vec3 w[2];
    (void)context;
    for (int i = 0; i < 2; i++) {
        const mabd_vec3 own = mabd_v3_load(y + 7 * i + 4);
        R[i] = rotation(y + 7 * i), w[i] = mabd_m3_mul(R[i], own);
        for (int k = 0; k < 3; k++) { // R I R'
            const mabd_vec3 e = mabd_v3(k == 0, k == 1, k == 2);
            const mabd_vec3 c = mabd_m3_mul(R[i], moment(inertia[i], mabd_m3_tmul(R[i], e)));
            store_column(A, 3 * i, 3 * i + k, c);
        }
        const mabd_vec3 gyro = mabd_v3_cross(moment(inertia[i], own), own);
        mabd_v3_store(mabd_m3_mul(R[i], gyro), x + 3 * i);
    }
    for (int k = 0; k < 2; k++) {
        const mabd_vec3 e = k == 0 ? R[0].c2 : R[0].c3;
        const double row[3] = {e.x, e.y, e.z};
        store_column(A, 0, 6 + k, e), store_column(A, 3, 6 + k, mabd_v3_scale(-1, e));
        for (int j = 0; j < 3; j++) A[6 + k][j] = -row[j], A[6 + k][3 + j] = row[j];
        x[6 + k] = -mabd_v3_dot(mabd_v3_sub(w[1], w[0]), mabd_v3_cross(w[0], e));
    }
    solve_dense(8, A, x);
    for (int i = 0; i < 2; i++) { // the rate in body axes is that in the world, turned
        turn_rate(y + 7 * i, mabd_v3_load(y + 7 * i + 4), dy + 7 * i);
        mabd_v3_store(mabd_m3_tmul(R[i], mabd_v3_load(x + 3 * i)), dy + 7 * i + 4);
    }
}

// Body a tumbles, body b spins on its x axis besides; y as in pair_rate.
static void pair_start(double* y) {
    const mabd_quat q =
        mabd_q_normalize(mabd_q((mabd_real)0.9, (mabd_real)0.3, (mabd_real)-0.2, (mabd_real)0.1));
    const mabd_quat turn = mabd_q_axis_angle(mabd_v3(1, 0, 0), (mabd_real)0.7);
    const mabd_vec3 w = mabd_v3((mabd_real)0.5, (mabd_real)1.2, (mabd_real)-0.8);
    mabd_q_store(q, y);
    mabd_v3_store(w, y + 4);
    mabd_q_store(mabd_q_product(q, turn), y + 7);
    mabd_v3_store(mabd_v3_add(mabd_m3_tmul(mabd_q_matrix(turn), w), mabd_v3(9, 0, 0)), y + 11);
}

static const double places[2][3] = {{0.2, 0.1, 1}, {-0.4, 0.3, 1.5}};
static const double speeds[2][3] = {{1, 0, 0.5}, {-0.3, 0.6, 2}};

static mabd_model* pair_model(const double* y) {
    char text[3000];
    const mabd_vec3 e = rotation(y).c1;
    int at = sprintf(text, "{\"gravity\": [0, 0, -9.81], \"bodies\": [");
    for (int i = 0; i < 2; i++) {
        double state[13];
        memcpy(state, places[i], sizeof places[i]), memcpy(state + 7, speeds[i], sizeof speeds[i]);
        memcpy(state + 3, y + 7 * i, 4 * sizeof *y);
        memcpy(state + 10, y + 7 * i + 4, 3 * sizeof *y);
        if (i > 0) at += sprintf(text + at, ", ");
        at += write_body(text + at, i ? "b" : "a", i ? rotor : moments, state);
    }
    sprintf(text + at,
            "], \"joints\": [{\"type\": \"axis\", \"a\": \"a\", \"b\": \"b\", \"axis\": [%.17g, "
            "%.17g, %.17g]}]}",
            e.x, e.y, e.z);
    return rig_text_model(text);
}

static double pair_error(const method* m, double h, double time, const double* start,
                         const double* end) {
    mabd_model* model = pair_model(start);
    const mabd_sim_def def = def_of(m, h);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_real x[6], q[8], angle[MABD_AXIS_COUNT];
    double error = 0;
    for (int i = 0; i < (int)lround(time / h); i++) {
        const mabd_step_info info = rig_step(sim);
        if (m->order == 2) cr_expect(lt(dbl, info.angle_error, 1e-11), "%s", m->name);
    }
    mabd_sim_get_state(sim, x, q, NULL, NULL);
    mabd_sim_get_joint_coordinates(sim, 0, angle);
    for (int i = 0; i < 2; i++) {
        error += angle_between(q + 4 * i, end + 7 * i);
        for (int k = 0; k < 3; k++) { // the centres fly
            const double gravity = k == 2 ? -G : 0;
            const double want = places[i][k] + time * speeds[i][k] + gravity * time * time / 2;
            if (m->exact) cr_expect(lt(dbl, fabs(x[3 * i + k] - want), 1e-9), "%s", m->name);
        }
    }
    const mabd_quat back = mabd_q(end[0], -end[1], -end[2], -end[3]);
    const mabd_quat turn = mabd_q_product(back, mabd_q_load(end + 7));
    const double off = angle[MABD_AXIS_RX] - (2 * atan2(turn.x, turn.w) - 0.7);
    cr_expect(lt(dbl, fabs(remainder(off, 2 * MABD_PI)), error + 1e-9), "%s", m->name);
    rig_destroy(sim, model);
    return error;
}

Test(plane_axis, two_bodies_on_an_axis_turn_as_a_gyrostat) {
    const double h = 0.002, time = 1;
    double start[14], end[14];
    pair_start(start);
    memcpy(end, start, sizeof end);
    reference_rk4(pair_rate, NULL, 14, time / 4000, 4000, end);
    for (int i = 0; i < METHODS; i++) {
        const method* m = &methods[i];
        double errors[3];
        for (int k = 0; k < 3; k++) {
            errors[k] = pair_error(m, ldexp(h, -k), time, start, end);
        }
        cr_expect(lt(dbl, m->order - 0.2, rig_order(m->name, h, 3, errors)), "%s", m->name);
        cr_expect(lt(dbl, errors[2], m->order == 1 ? 0.05 : 1e-3), "%s", m->name);
    }
}

// ---- an unbalanced rotor on the axis of the world ----------------------------------------------

Test(plane_axis, an_unbalanced_rotor_loads_its_axis_by_a_couple_alone) {
    const double s = 5, h = 0.001;
    const mabd_quat q =
        mabd_q_normalize(mabd_q((mabd_real)0.8, (mabd_real)0.1, (mabd_real)0.5, (mabd_real)0.3));
    const mabd_vec3 e = mabd_v3(0, (mabd_real)0.6, (mabd_real)0.8);
    const mabd_vec3 w = mabd_m3_tmul(mabd_q_matrix(q), mabd_v3_scale((mabd_real)s, e));
    for (int i = 0; i < METHODS; i++) {
        double y[13] = {0.3, 0.2, 1, 0, 0, 0, 0, 0.5, -1, 2};
        char text[1500];
        mabd_real wrench[6], now[4], angle[MABD_AXIS_COUNT];
        mabd_q_store(q, y + 3), mabd_v3_store(w, y + 10);
        int at = sprintf(text, "{\"gravity\": [0, 0, -9.81], \"bodies\": [");
        at += write_body(text + at, "rotor", moments, y);
        sprintf(text + at, "], \"joints\": [{\"type\": \"axis\", \"b\": \"rotor\", \"axis\": [0, "
                           "0.6, 0.8]}]}");
        mabd_model* model = rig_text_model(text);
        const mabd_sim_def def = def_of(&methods[i], h);
        mabd_sim* sim = rig_sim(model, &def);
        for (int n = 0; n < 300; n++) rig_step(sim);
        mabd_sim_get_joint_forces(sim, wrench);
        mabd_sim_get_state(sim, NULL, now, NULL, NULL);
        mabd_sim_get_joint_coordinates(sim, 0, angle);
        const mabd_mat3 R = mabd_q_matrix(mabd_q_load(now));
        const mabd_vec3 spin = mabd_v3_scale((mabd_real)s, e);
        const mabd_vec3 L = mabd_m3_mul(R, moment(moments, mabd_m3_tmul(R, spin)));
        const mabd_vec3 want = mabd_v3_cross(spin, L);
        const mabd_vec3 off = mabd_v3_sub(mabd_v3_load(wrench + 3), want);
        // forces of a step belong to its end for methods of second order, and to within s h else
        const double part = methods[i].order == 1 ? 2 * s * h : 2e-3;
        cr_expect(lt(dbl, mabd_v3_norm(off), part * mabd_v3_norm(want)), "%s", methods[i].name);
        cr_expect(lt(dbl, rig_norm(wrench), 1e-9), "%s", methods[i].name);
        cr_expect(lt(dbl, fabs(angle[MABD_AXIS_RX] - s * 0.3), methods[i].order == 1 ? 1e-2 : 1e-4),
                  "%s", methods[i].name);
        rig_destroy(sim, model);
    }
}
