// SPDX-License-Identifier: Apache-2.0
// Tests for src/generate/hoberman.c: counts, geometry, rank of all rows by dense singular values,
// the one internal freedom, mass and momentum.
#include "mabd/generate.h"
#include "scene/inertia.h"
#include "support/generate_checks.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void dgesdd_(const char* job, const int* m, const int* n, double* a, const int* lda,
                    double* s, double* u, const int* ldu, double* vt, const int* ldvt, double* work,
                    const int* lwork, int* iwork, int* info);

static const double tolerance = 1e-14;
static const double pi = 3.14159265358979323846;

static mabd_scene* sphere(const mabd_hoberman_sphere_def* def) {
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_hoberman_sphere(scene, def, &error), MABD_OK), "%s",
              error.text);
    return scene;
}

static mabd_scene* sphere_at(double angle, double speed) {
    mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
    def.angle = angle, def.speed = speed;
    return sphere(&def);
}

static double dot(const double* x, const double* y) {
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static double distance(const double* x, const double* y) {
    double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
    return vector_norm(d);
}

static int32_t row_count(const mabd_scene* scene) {
    int32_t rows = 0;
    for (int32_t i = 0; i < scene->joints.count; i++) {
        cr_assert(scene_joint(scene, i)->type == MABD_JOINT_HINGE ||
                  scene_joint(scene, i)->type == MABD_JOINT_BALL);
        rows += scene_joint(scene, i)->type == MABD_JOINT_HINGE ? 5 : 3;
    }
    return rows;
}

// ---- counts and geometry -----------------------------------------------------------------------

Test(hoberman, has_the_published_counts) {
    mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
    mabd_scene* scene = sphere(&def);
    cr_assert(eq(i32, mabd_scene_body_count(scene), 240));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), 420));
    cr_assert(eq(i32, row_count(scene), 1980));
    cr_assert(eq(i32, scene_wrong_names(scene), 0));
    cr_assert(le(i32, 0, mabd_scene_find_body(scene, "hoberman-sphere/ring5/b/19")));
    cr_assert(le(i32, 0, mabd_scene_find_joint(scene, "hoberman-sphere/ring5/middle/19")));
    cr_assert(le(i32, 0, mabd_scene_find_joint(scene, "hoberman-sphere/inner/29")));
    cr_assert(le(i32, 0, mabd_scene_find_joint(scene, "hoberman-sphere/outer/29")));
    mabd_scene_destroy(scene);
}

Test(hoberman, is_closed_for_every_angle) {
    static const int32_t rings[] = {3, 4, 6};
    for (int r = 0; r < 3; r++) {
        for (int i = 1; i < 12; i++) {
            mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
            def.rings = rings[r], def.pairs = 2 * (rings[r] - 1) * (1 + i % 3);
            const double a = 2 * pi / def.pairs;
            def.angle = a + (pi - a) * i / 12, def.speed = 0.7, def.spin = 1.1;
            def.velocity[1] = -0.4;
            mabd_scene* scene = sphere(&def);
            cr_assert(eq(i32, scene->bodies.count, 2 * def.rings * def.pairs));
            cr_assert(eq(i32, scene->joints.count,
                         3 * def.rings * def.pairs + 2 * def.rings * (def.rings - 1)));
            cr_assert(lt(dbl, scene_opening(scene), tolerance), "%d rings, angle %g", def.rings,
                      def.angle);
            mabd_scene_destroy(scene);
        }
    }
}

// Find the place of an anchor on a bent bar of arms l and bend a: 0 = pivot, 1 and 2 = its ends; -1
// if it is none of them.
static int place_on_bar(const double* anchor, double l, double a) {
    const double places[3][3] = {{0, 0, 0}, {l, 0, 0}, {-l * cos(a), l * sin(a), 0}};
    for (int i = 0; i < 3; i++) {
        if (distance(anchor, places[i]) < tolerance) return i;
    }
    return -1;
}

// Every bar has one hinge at its pivot and one at each end; balls are at ends, between rings.
Test(hoberman, bars_are_held_at_pivot_and_ends) {
    for (double angle = 0.4; angle < 3; angle += 0.37) {
        mabd_scene* scene = sphere_at(angle, 0);
        int hinges[240][3] = {{0}}, balls[240][3] = {{0}}, crossings[6] = {0};
        for (int32_t i = 0; i < scene->joints.count; i++) {
            const mabd_scene_joint* j = scene_joint(scene, i);
            const int on_a = place_on_bar(j->anchor_a, 0.1, pi / 10);
            const int on_b = place_on_bar(j->anchor_b, 0.1, pi / 10);
            cr_assert(on_a >= 0 && on_b >= 0, "angle %g, joint %d", angle, (int)i);
            cr_assert(eq(int, on_a == 0, on_b == 0));
            const bool ball = j->type == MABD_JOINT_BALL;
            (ball ? balls : hinges)[j->a][on_a]++, (ball ? balls : hinges)[j->b][on_b]++;
            cr_assert(eq(int, j->a / 40 != j->b / 40, ball), "40 bars a ring");
            if (ball) crossings[j->a / 40]++, crossings[j->b / 40]++;
        }
        for (int b = 0; b < 240; b++) {
            for (int k = 0; k < 3; k++) cr_assert(eq(int, hinges[b][k], 1), "bar %d", b);
            cr_assert(eq(int, balls[b][0], 0));
        }
        for (int r = 0; r < 6; r++) cr_assert(eq(int, crossings[r], 20)); // 10 outer, 10 inner
        mabd_scene_destroy(scene);
    }
}

// The balls are at the corners of two icosidodecahedra, of radius |m er + l (cos psi, sin psi)| and
// of the same with the inner arm at pi + psi - a: 30 corners, each with four neighbours at 36 deg.
Test(hoberman, crossings_are_corners_of_an_icosidodecahedron) {
    const double l = 0.1, a = pi / 10, psi = 1, m = l * sin(psi - a / 2) / sin(a / 2);
    const double radius[2] = {sqrt(m * m + l * l - 2 * m * l * cos(psi - a)),
                              sqrt(m * m + l * l + 2 * m * l * cos(psi))};
    mabd_scene* scene = sphere_at(psi, 0);
    for (int outer = 0; outer < 2; outer++) {
        double points[30][3];
        for (int i = 0; i < 30; i++) {
            char name[64];
            snprintf(name, sizeof name, "hoberman-sphere/%s/%d", outer ? "outer" : "inner", i);
            joint_side at = scene_side_b(scene, mabd_scene_find_joint(scene, name));
            memcpy(points[i], at.point, sizeof at.point);
            cr_assert(lt(dbl, fabs(vector_norm(points[i]) - radius[outer]), tolerance));
        }
        const double edge = 2 * radius[outer] * sin(pi / 10);
        for (int i = 0; i < 30; i++) {
            int neighbours = 0;
            for (int j = 0; j < 30; j++) {
                const double d = distance(points[i], points[j]);
                cr_assert(i == j || d > edge - tolerance);
                neighbours += fabs(d - edge) < tolerance;
            }
            cr_assert(eq(int, neighbours, 4));
        }
    }
    mabd_scene_destroy(scene);
}

// At full expansion inner and outer balls meet; mirrored angles exchange them.
Test(hoberman, is_widest_where_inner_and_outer_hinges_meet) {
    const double a = pi / 10, widest = (pi + a) / 2;
    mabd_scene *full = sphere_at(widest, 0), *less = sphere_at(widest - 0.3, 0),
               *beyond = sphere_at(widest + 0.3, 0);
    for (int32_t i = 0; i < 30; i++) {
        const int32_t inner = 360 + i, outer = 390 + i;
        joint_side in = scene_side_a(full, inner), out = scene_side_a(full, outer);
        cr_assert(lt(dbl, distance(in.point, out.point), tolerance));
        joint_side in_less = scene_side_a(less, inner), out_less = scene_side_a(less, outer);
        joint_side in_beyond = scene_side_a(beyond, inner),
                   out_beyond = scene_side_a(beyond, outer);
        cr_assert(lt(dbl, distance(in_less.point, out_beyond.point), tolerance));
        cr_assert(lt(dbl, distance(out_less.point, in_beyond.point), tolerance));
        cr_assert(lt(dbl, 0.05, distance(in_less.point, out_less.point)));
    }
    cr_assert(lt(dbl, vector_norm(scene_body(less, 0)->position),
                 vector_norm(scene_body(full, 0)->position)));
    mabd_scene_destroy(full);
    mabd_scene_destroy(less);
    mabd_scene_destroy(beyond);
}

// ---- rows --------------------------------------------------------------------------------------

// Jacobian of all rows of a scene over velocity and angular velocity times 0.1 m of each body, in
// world axes at the body's origin: for all joints v_a + w_a x r_a - v_b - w_b x r_b, for hinges
// also y . (w_a - w_b) and z . (w_a - w_b) with the axes y, z of the joint.
typedef struct jacobian {
    int rows, columns;
    double* data; // (rows x columns), row by row
} jacobian;

static const double length_unit = 0.1; // [m]

static void add_side(const jacobian* J, int row, int32_t body, const double* body_position,
                     const joint_side* side, const joint_side* axes_of, bool hinge, double sign) {
    double r[3];
    for (int k = 0; k < 3; k++) r[k] = side->point[k] - body_position[k];
    for (int k = 0; k < 3; k++) {
        double* line = J->data + (size_t)(row + k) * J->columns + 6 * (size_t)body;
        double unit[3] = {k == 0, k == 1, k == 2}, moment[3];
        vector_cross(r, unit, moment); // unit . (w x r) = w . (r x unit)
        line[k] += sign;
        for (int c = 0; c < 3; c++) line[3 + c] += sign * moment[c] / length_unit;
    }
    for (int k = 0; hinge && k < 2; k++) {
        double* line = J->data + (size_t)(row + 3 + k) * J->columns + 6 * (size_t)body;
        for (int c = 0; c < 3; c++) line[3 + c] += sign * axes_of->axes[1 + k][c];
    }
}

static jacobian scene_jacobian(const mabd_scene* scene) {
    jacobian J = {row_count(scene), 6 * scene->bodies.count, NULL};
    J.data = (double*)calloc((size_t)J.rows * J.columns, sizeof(double));
    cr_assert(J.data != NULL);
    int row = 0;
    for (int32_t i = 0; i < scene->joints.count; i++) {
        const mabd_scene_joint* j = scene_joint(scene, i);
        const bool hinge = j->type == MABD_JOINT_HINGE;
        joint_side a = scene_side_a(scene, i), b = scene_side_b(scene, i);
        add_side(&J, row, j->a, scene_body(scene, j->a)->position, &a, &a, hinge, 1);
        add_side(&J, row, j->b, scene_body(scene, j->b)->position, &b, &a, hinge, -1);
        row += hinge ? 5 : 3;
    }
    cr_assert(eq(int, row, J.rows));
    return J;
}

// Compute the singular values, falling. Destroys the matrix: LAPACK reads it as its transpose.
static double* singular_values(jacobian* J) {
    const int lwork = 40 * (J->rows + J->columns), one = 1;
    const int least = J->rows < J->columns ? J->rows : J->columns;
    double* values = (double*)malloc((size_t)least * sizeof(double));
    double* work = (double*)malloc((size_t)lwork * sizeof(double));
    int* iwork = (int*)malloc(8 * (size_t)least * sizeof(int));
    int info = -1;
    cr_assert(values && work && iwork);
    dgesdd_("N", &J->columns, &J->rows, J->data, &J->columns, values, NULL, &one, NULL, &one, work,
            &lwork, iwork, &info);
    cr_assert(eq(int, info, 0));
    free(work), free(iwork), free(J->data);
    J->data = NULL;
    return values;
}

// Expect that all rows leave `freedoms` and that `redundant` of them follow from the others: as
// many singular values as the rank are above round-off, with nothing between them and the rest.
static void expect_rank(const mabd_hoberman_sphere_def* def, int freedoms, int redundant) {
    mabd_scene* scene = sphere(def);
    jacobian J = scene_jacobian(scene);
    double* values = singular_values(&J);
    const int least = J.rows < J.columns ? J.rows : J.columns, rank = J.columns - freedoms;
    printf("%d rings x %d pairs, psi %g: %d rows of rank %d, %d freedoms; singular values %.2e ... "
           "%.2e | %.2e\n",
           def->rings, def->pairs, def->angle, J.rows, rank, J.columns - rank, values[0],
           values[rank - 1], rank < least ? values[rank] : 0);
    cr_expect(eq(int, J.rows - rank, redundant));
    cr_expect(lt(dbl, 1e-4 * values[0], values[rank - 1]));
    cr_expect(rank == least || values[rank] < 1e-13 * values[0], "%g", values[rank]);
    free(values);
    mabd_scene_destroy(scene);
}

Test(hoberman, rows_have_rank_1433_and_leave_seven_freedoms) {
    mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
    def.angle = 0.83;
    expect_rank(&def, 7, 547); // 240 * 6 - 7 = 1980 - 547 = 1433
}

// At full expansion the two bars of a pair lie on each other and arms at a ray are in line. Their
// mean motion is that of a loop of 20 hinged links: 20 freedoms in the plane, 3 out of it; 30
// crossings hold it by 3 rows each: 6 (20 + 3) - 90 = 48. Their difference is one rotation for all.
Test(hoberman, full_expansion_leaves_49_freedoms) {
    mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
    def.angle = (pi + pi / 10) / 2;
    expect_rank(&def, 49, 589);
}

Test(hoberman, smaller_spheres_have_seven_freedoms_too) {
    static const int32_t counts[][2] = {{3, 4}, {3, 8}, {3, 12}, {4, 6}, {4, 12}, {6, 10}};
    for (int i = 0; i < 6; i++) {
        mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
        def.rings = counts[i][0], def.pairs = counts[i][1];
        def.angle = 1.9;
        const int rows = 15 * def.rings * def.pairs + 6 * def.rings * (def.rings - 1);
        expect_rank(&def, 7, rows - (12 * def.rings * def.pairs - 7));
    }
}

// Compute the largest row of J v for the start velocities v of a scene.
static double row_velocity(const mabd_scene* scene) {
    jacobian J = scene_jacobian(scene);
    double worst = 0;
    for (int r = 0; r < J.rows; r++) {
        const double* line = J.data + (size_t)r * J.columns;
        double sum = 0;
        for (int32_t b = 0; b < scene->bodies.count; b++) {
            const mabd_scene_body* body = scene_body(scene, b);
            sum += dot(line + 6 * b, body->velocity);
            sum += length_unit * dot(line + 6 * b + 3, body->angular_velocity);
        }
        worst = fmax(worst, fabs(sum));
    }
    free(J.data);
    return worst;
}

Test(hoberman, opening_satisfies_all_rows) {
    for (double angle = 0.4; angle < 3; angle += 0.5) {
        mabd_scene* scene = sphere_at(angle, 1);
        double speed = 0;
        for (int32_t b = 0; b < scene->bodies.count; b++) {
            speed = fmax(speed, vector_norm(scene_body(scene, b)->angular_velocity));
        }
        cr_assert(lt(dbl, fabs(speed - 1), tolerance));
        cr_assert(lt(dbl, row_velocity(scene), tolerance), "angle %g", angle);
        mabd_scene_destroy(scene);
    }
}

// Compare velocities with central differences of poses.
Test(hoberman, opening_velocity_is_the_derivative_of_the_pose) {
    const double step = 1e-5, angle = 1.2;
    mabd_scene *at = sphere_at(angle, 1),
               *sides[2] = {sphere_at(angle - step, 0), sphere_at(angle + step, 0)};
    for (int32_t b = 0; b < 240; b++) {
        const mabd_scene_body* body = scene_body(at, b);
        for (int axis = 0; axis < 3; axis++) {
            double unit[3] = {axis == 0, axis == 1, axis == 2}, x[3], x0[3], x1[3], turned[3];
            vector_rotate(body->rotation, unit, x);
            vector_rotate(scene_body(sides[0], b)->rotation, unit, x0);
            vector_rotate(scene_body(sides[1], b)->rotation, unit, x1);
            vector_cross(body->angular_velocity, x, turned);
            for (int k = 0; k < 3; k++) {
                cr_assert(lt(dbl, fabs((x1[k] - x0[k]) / (2 * step) - turned[k]), 1e-9));
            }
        }
        for (int k = 0; k < 3; k++) {
            const double slope =
                scene_body(sides[1], b)->position[k] - scene_body(sides[0], b)->position[k];
            cr_assert(lt(dbl, fabs(slope / (2 * step) - body->velocity[k]), 1e-9));
        }
    }
    mabd_scene_destroy(at);
    for (int i = 0; i < 2; i++) mabd_scene_destroy(sides[i]);
}

// The poses of one angle close the joints of another: the bars that open are the same rigid bars.
Test(hoberman, opens_without_deforming_a_bar) {
    mabd_scene *from = sphere_at(0.5, 0), *to = sphere_at(2.2, 0);
    for (int32_t i = 0; i < 420; i++) {
        const mabd_scene_joint *j = scene_joint(from, i), *k = scene_joint(to, i);
        cr_assert(j->a == k->a && j->b == k->b);
        double at[2][3], axis[2][3], ex[3] = {1, 0, 0}, in_body[3];
        for (int side = 0; side < 2; side++) {
            const mabd_scene_body* body = scene_body(to, side ? j->b : j->a);
            vector_rotate(body->rotation, side ? j->anchor_b : j->anchor_a, at[side]);
            for (int c = 0; c < 3; c++) at[side][c] += body->position[c];
            vector_rotate(side ? j->frame_b : j->frame_a, ex, in_body);
            vector_rotate(body->rotation, in_body, axis[side]);
        }
        cr_assert(lt(dbl, distance(at[0], at[1]), tolerance), "joint %d", (int)i);
        if (j->type != MABD_JOINT_HINGE) continue;
        cr_assert(lt(dbl, distance(axis[0], axis[1]), tolerance), "joint %d", (int)i);
    }
    mabd_scene_destroy(from);
    mabd_scene_destroy(to);
}

// ---- mass and momentum -------------------------------------------------------------------------

typedef struct momentum {
    double mass, linear[3], angular[3]; // about the point `about`
} momentum;

static void add_body_momentum(const mabd_scene* scene, int32_t b, const double* about,
                              momentum* sum) {
    const mabd_scene_body* body = scene_body(scene, b);
    const mabd_inertia in = mabd_scene_class_inertia(scene, body->class_index);
    const double* t = in.tensor;
    double center[3], v[3], arm[3], w[3], spin[3], orbit[3], back[4];
    memcpy(back, body->rotation, sizeof back);
    for (int k = 1; k < 4; k++) back[k] = -back[k];
    vector_rotate(body->rotation, in.center, center);
    vector_cross(body->angular_velocity, center, v);
    vector_rotate(back, body->angular_velocity, w);
    const double Iw[3] = {t[0] * w[0] + t[3] * w[1] + t[4] * w[2],
                          t[3] * w[0] + t[1] * w[1] + t[5] * w[2],
                          t[4] * w[0] + t[5] * w[1] + t[2] * w[2]};
    vector_rotate(body->rotation, Iw, spin);
    for (int k = 0; k < 3; k++) {
        v[k] += body->velocity[k];
        arm[k] = body->position[k] + center[k] - about[k];
    }
    vector_cross(arm, v, orbit);
    sum->mass += in.mass;
    for (int k = 0; k < 3; k++) {
        sum->linear[k] += in.mass * v[k];
        sum->angular[k] += in.mass * orbit[k] + spin[k];
    }
}

static momentum scene_momentum(const mabd_scene* scene, const double* about) {
    momentum sum = {0};
    for (int32_t b = 0; b < scene->bodies.count; b++) add_body_momentum(scene, b, about, &sum);
    return sum;
}

// The symmetry of the polyhedron makes the inertia that of a ball: I = 2/3 of the sum of m |x|^2.
// A box l x w x w at c has m (|c|^2 + (l^2 + 2 w^2) / 12); the arms of a bar have their middles at
// m er + l/2 (cos, sin)(psi), and with pi + psi - a, w/2 off the plane of the ring.
static double ball_inertia(const mabd_hoberman_sphere_def* def) {
    const double l = def->arm, w = def->width, a = 2 * pi / def->pairs, psi = def->angle;
    const double m = l * sin(psi - a / 2) / sin(a / 2), arm = def->material.density * l * w * w;
    const double own = (l * l + 2 * w * w) / 12 + w * w / 4;
    const double outer = m * m + l * l / 4 + m * l * cos(psi);
    const double inner = m * m + l * l / 4 - m * l * cos(psi - a);
    return 2.0 / 3 * 2 * def->rings * def->pairs * arm * (outer + inner + 2 * own);
}

Test(hoberman, has_mass_and_momentum_of_its_bars) {
    static const int32_t counts[][2] = {{6, 20}, {4, 12}, {3, 4}};
    for (int i = 0; i < 3; i++) {
        mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
        def.rings = counts[i][0], def.pairs = counts[i][1];
        def.angle = 2.1, def.arm = 0.2, def.width = 0.03, def.material.density = 700;
        def.position[0] = 0.5, def.position[2] = -1;
        def.velocity[0] = 3, def.velocity[1] = -2, def.velocity[2] = 1;
        def.spin = 6, def.speed = 2; // opening has neither momentum
        mabd_scene* scene = sphere(&def);
        momentum p = scene_momentum(scene, def.position);
        const double mass = 2 * def.rings * def.pairs * 2 * 0.2 * 0.03 * 0.03 * 700;
        const double L[3] = {0, 0, ball_inertia(&def) * 6};
        cr_assert(lt(dbl, fabs(p.mass - mass), 1e-13 * mass));
        for (int k = 0; k < 3; k++) {
            cr_assert(lt(dbl, fabs(p.linear[k] - mass * def.velocity[k]), 1e-13 * mass));
            cr_assert(lt(dbl, fabs(p.angular[k] - L[k]), 1e-13 * L[2]), "%d rings: %g, not %g",
                      def.rings, p.angular[k], L[k]);
        }
        mabd_scene_destroy(scene);
    }
}

// ---- refusals, JSON, memory --------------------------------------------------------------------

Test(hoberman, refuses_bad_spheres) {
    REFUSES(hoberman_sphere, "rings must be 3, 4 or 6, not 5", def.rings = 5);
    REFUSES(hoberman_sphere, "rings must be 3, 4 or 6, not 0", def.rings = 0);
    REFUSES(hoberman_sphere, "pairs must be a multiple of 10", def.pairs = 24);
    REFUSES(hoberman_sphere, "pairs must be a multiple of 10", def.pairs = 0);
    REFUSES(hoberman_sphere, "pairs must be a multiple of 6", def.rings = 4);
    REFUSES(hoberman_sphere, "too large", def.pairs = 2147483640);
    REFUSES(hoberman_sphere, "angle must be between", def.angle = pi / 10 - 1e-9);
    REFUSES(hoberman_sphere, "angle must be between", def.angle = pi);
    REFUSES(hoberman_sphere, "angle must be between", def.angle = NAN);
    REFUSES(hoberman_sphere, "arm must be positive", def.arm = 0);
    REFUSES(hoberman_sphere, "width must be positive", def.width = -1);
    REFUSES(hoberman_sphere, "speed must be finite", def.speed = INFINITY);
    REFUSES(hoberman_sphere, "spin must be finite", def.spin = NAN);
    REFUSES(hoberman_sphere, "velocity must be finite", def.velocity[2] = NAN);
    REFUSES(hoberman_sphere, "position must be finite", def.position[1] = NAN);
    REFUSES(hoberman_sphere, "default function", def.cookie = 0);
    expect_message("{\"generators\": [\n{\"type\": \"hoberman-sphere\", \"rings\": 7}]}", 2,
                   "rings must be 3, 4 or 6");
    expect_message("{\"generators\": [\n{\"type\": \"hoberman-sphere\", \"pair\": 20}]}", 2,
                   "pairs");
}

Test(hoberman, json_reads_every_field) {
    static const char text[] =
        "{\"generators\": [{\"type\": \"hoberman-sphere\", \"name\": \"h\", \"rings\": 4,"
        " \"pairs\": 12, \"arm\": 0.3, \"width\": 0.02, \"angle\": 1.5, \"speed\": -2,"
        " \"spin\": 5, \"velocity\": [1, 2, 3], \"drag\": 0.1, \"density\": 500, \"young\": 2e9,"
        " \"poisson\": 0.2, \"position\": [4, 5, 6]}]}";
    mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
    def.name = "h", def.rings = 4, def.pairs = 12, def.arm = 0.3, def.width = 0.02;
    def.angle = 1.5, def.speed = -2, def.spin = 5, def.drag = 0.1;
    def.material.density = 500, def.material.young = 2e9, def.material.poisson = 0.2;
    for (int k = 0; k < 3; k++) def.velocity[k] = 1 + k, def.position[k] = 4 + k;
    mabd_error error = {0};
    mabd_scene *scene = new_scene(), *twin = sphere(&def);
    mabd_status status = mabd_scene_load_text(scene, text, sizeof text - 1, 0, NULL, &error);
    cr_assert(eq(int, status, MABD_OK), "%d:%d: %s", error.line, error.column, error.text);
    cr_assert(eq(i32, mabd_scene_find_body(scene, "h/ring3/b/11"), 95));
    cr_assert(eq(u64, scene_hash(scene), scene_hash(twin)));
    mabd_scene_destroy(scene);
    mabd_scene_destroy(twin);
}

static mabd_status build_small(mabd_scene* scene, mabd_error* error) {
    mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
    def.rings = 3, def.pairs = 4, def.angle = 2;
    return mabd_generate_hoberman_sphere(scene, &def, error);
}

Test(hoberman, every_allocation_may_fail) {
    check_failing_allocations(build_small);
}
