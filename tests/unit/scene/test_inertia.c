// SPDX-License-Identifier: Apache-2.0
// Tests for src/scene/inertia.c
//
// The oracle replaces each geom by point masses that integrate polynomials of second degree over it
// exactly: Gauss points in the box; for solids of revolution Gauss points along z, in r^2 and equal
// angles around z. The points are placed by a rotation built from axis and angle, and summed.
#include "scene/inertia.h"

#include "math/shared.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

typedef struct cloud { // sums over points of m, m x, m x x'
    double mass, first[3], second[3][3], volume;
} cloud;

typedef struct placement {
    double position[3], axis[3], angle;
} placement;

// Rodrigues: x cos + (axis x x) sin + axis (axis.x)(1 - cos)
static void place(const placement* at, const double* x, double* result) {
    const double *u = at->axis, c = cos(at->angle), s = sin(at->angle);
    double dot = u[0] * x[0] + u[1] * x[1] + u[2] * x[2];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double cross = u[i] * x[j] - u[j] * x[i];
        result[k] = at->position[k] + c * x[k] + s * cross + (1 - c) * dot * u[k];
    }
}

static void add_point(cloud* sum, const placement* at, double mass, double x, double y, double z) {
    const double local[3] = {x, y, z};
    double p[3];
    place(at, local, p);
    sum->mass += mass;
    for (int i = 0; i < 3; i++) {
        sum->first[i] += mass * p[i];
        for (int j = 0; j < 3; j++) sum->second[i][j] += mass * p[i] * p[j];
    }
}

static const double gauss_x[3] = {-0.774596669241483377, 0, 0.774596669241483377};
static const double gauss_w[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};

static void add_box(cloud* sum, const placement* at, double density, const double* size) {
    double half = 0.5 / sqrt(3), volume = size[0] * size[1] * size[2];
    sum->volume += volume;
    for (int k = 0; k < 8; k++) {
        add_point(sum, at, density * volume / 8, (k & 1 ? half : -half) * size[0],
                  (k & 2 ? half : -half) * size[1], (k & 4 ? half : -half) * size[2]);
    }
}

// the slice z0 <= z <= z1 of a solid with the squared radius r^2 = c0 + c1 z + c2 z^2
static void add_slice(cloud* sum, const placement* at, double density, double z0, double z1,
                      double c0, double c1, double c2) {
    for (int i = 0; i < 3; i++) {
        double z = (z0 + z1) / 2 + gauss_x[i] * (z1 - z0) / 2;
        double radius2 = c0 + c1 * z + c2 * z * z;
        double volume = gauss_w[i] * (z1 - z0) / 2 * MABD_PI * radius2;
        sum->volume += volume;
        for (int k = 0; k < 16; k++) {
            double u = radius2 * (0.5 + (k & 1 ? 0.5 : -0.5) / sqrt(3)); // r^2 of the point
            double angle = 2 * MABD_PI * (k / 2) / 8;
            add_point(sum, at, density * volume / 16, sqrt(u) * cos(angle), sqrt(u) * sin(angle),
                      z);
        }
    }
}

static void add_solid(cloud* sum, const placement* at, const mabd_geom* geom) {
    double r = geom->size[0], h = geom->size[1] / 2;
    if (geom->shape == MABD_SHAPE_BOX) add_box(sum, at, geom->density, geom->size);
    if (geom->shape == MABD_SHAPE_SPHERE) {
        add_slice(sum, at, geom->density, -r, r, r * r, 0, -1);
    }
    if (geom->shape == MABD_SHAPE_CYLINDER || geom->shape == MABD_SHAPE_CAPSULE) {
        add_slice(sum, at, geom->density, -h, h, r * r, 0, 0);
    }
    if (geom->shape == MABD_SHAPE_CAPSULE) { // r^2 - (z -+ h)^2
        add_slice(sum, at, geom->density, h, h + r, r * r - h * h, 2 * h, -1);
        add_slice(sum, at, geom->density, -h - r, -h, r * r - h * h, -2 * h, -1);
    }
}

static mabd_inertia finish(const cloud* sum) {
    mabd_inertia result = {.mass = sum->mass, .volume = sum->volume};
    double c[3][3]; // central second moments
    for (int i = 0; i < 3; i++) result.center[i] = sum->first[i] / sum->mass;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c[i][j] = sum->second[i][j] - sum->mass * result.center[i] * result.center[j];
        }
    }
    const double tensor[6] = {c[1][1] + c[2][2], c[0][0] + c[2][2], c[0][0] + c[1][1],
                              -c[0][1],          -c[0][2],          -c[1][2]};
    memcpy(result.tensor, tensor, sizeof tensor);
    return result;
}

static void assert_near(const mabd_inertia* got, const mabd_inertia* expected, double bound) {
    double trace = expected->tensor[0] + expected->tensor[1] + expected->tensor[2];
    double size = sqrt(trace / expected->mass);
    cr_expect(le(dbl, fabs(got->mass / expected->mass - 1), bound));
    cr_expect(le(dbl, fabs(got->volume / expected->volume - 1), bound));
    for (int k = 0; k < 3; k++) {
        cr_expect(le(dbl, fabs(got->center[k] - expected->center[k]) / size, bound));
    }
    for (int k = 0; k < 6; k++) {
        double error = fabs(got->tensor[k] - expected->tensor[k]) / trace;
        cr_expect(le(dbl, error, bound), "tensor[%d]", k);
    }
}

static mabd_geom geom_at(mabd_shape shape, double x, double y, double z, double density,
                         const placement* at) {
    const double size[3] = {x, y, z};
    mabd_geom geom = mabd_geom_make(shape, size, density);
    double s = sin(at->angle / 2);
    memcpy(geom.position, at->position, sizeof geom.position);
    geom.rotation[0] = cos(at->angle / 2);
    for (int k = 0; k < 3; k++) geom.rotation[k + 1] = s * at->axis[k];
    return geom;
}

// the oracle subtracts m c c', up to 30 times the result: sums of 100 terms with 30 eps each
static const double tolerance = 1e-13;

static const placement home = {{0, 0, 0}, {0, 0, 1}, 0};
static const placement tilted = {{0.3, -0.2, 0.7}, {2.0 / 3, -1.0 / 3, 2.0 / 3}, 1.1};
static const placement turned = {{-1.1, 0.4, 0.2}, {0.6, 0, -0.8}, -2.3};

Test(inertia, each_shape_at_home_and_tilted) {
    const double sizes[][3] = {{0.3, 0.5, 0.9}, {0.4, 0, 0}, {0.2, 0.7, 0}, {0.3, 0.8, 0}};
    const placement* const places[] = {&home, &tilted, &turned};
    for (int shape = 0; shape < MABD_SHAPE_PLANE; shape++) {
        for (int p = 0; p < 3; p++) {
            const double* size = sizes[shape];
            mabd_geom geom = geom_at((mabd_shape)shape, size[0], size[1], size[2], 700, places[p]);
            mabd_scene_class body_class = {.geom_count = 1, .density = 1000};
            cloud sum = {0};
            add_solid(&sum, places[p], &geom);
            mabd_inertia got = mabd_class_inertia(&body_class, &geom), expected = finish(&sum);
            assert_near(&got, &expected, tolerance);
        }
    }
}

Test(inertia, a_compound_of_all_shapes) {
    const placement* const places[] = {&tilted, &turned, &home, &tilted};
    const mabd_geom geoms[] = {geom_at(MABD_SHAPE_CAPSULE, 0.2, 0.7, 0, 500, places[0]),
                               geom_at(MABD_SHAPE_BOX, 0.3, 0.5, 0.9, 2000, places[1]),
                               geom_at(MABD_SHAPE_SPHERE, 0.4, 0, 0, 800, places[2]),
                               geom_at(MABD_SHAPE_CYLINDER, 0.3, 0.8, 0, 3000, places[3])};
    mabd_scene_class body_class = {.geom_count = 4, .density = 1000};
    cloud sum = {0};
    for (int i = 0; i < 4; i++) add_solid(&sum, places[i], &geoms[i]);
    mabd_inertia got = mabd_class_inertia(&body_class, geoms), expected = finish(&sum);
    assert_near(&got, &expected, tolerance);

    // scaled to a mass: the same centre and volume, the tensor in proportion
    body_class.mass = 10;
    mabd_inertia scaled = mabd_class_inertia(&body_class, geoms);
    double factor = 10 / expected.mass;
    expected.mass *= factor;
    for (int k = 0; k < 6; k++) expected.tensor[k] *= factor;
    assert_near(&scaled, &expected, tolerance);
    cr_assert(eq(dbl, scaled.mass, 10));
}

Test(inertia, known_closed_forms) {
    const double sphere_size[1] = {2};
    mabd_geom sphere = mabd_geom_make(MABD_SHAPE_SPHERE, sphere_size, 3);
    mabd_scene_class body_class = {.geom_count = 1, .density = 1000};
    mabd_inertia got = mabd_class_inertia(&body_class, &sphere);
    double mass = 3 * 32 * MABD_PI / 3; // rho 4/3 pi 8
    cr_assert(ieee_ulp_eq(dbl, got.mass, mass, 4));
    for (int k = 0; k < 3; k++) cr_assert(ieee_ulp_eq(dbl, got.tensor[k], 0.4 * mass * 4, 4));

    // a capsule of length 0 is a sphere
    const double capsule_size[2] = {2, 0};
    mabd_geom capsule = mabd_geom_make(MABD_SHAPE_CAPSULE, capsule_size, 3);
    mabd_inertia same = mabd_class_inertia(&body_class, &capsule);
    assert_near(&same, &got, 1e-15);
}

// Two balls on a line, by hand: about the centre between them m d^2 for each, d half their distance
Test(inertia, parallel_axes) {
    const double size[1] = {0.5};
    mabd_geom balls[2] = {mabd_geom_make(MABD_SHAPE_SPHERE, size, 6 / MABD_PI), {0}};
    balls[1] = balls[0];                                            // 6/pi 4/3 pi / 8 = 1 kg each
    balls[0].position[0] = 1000000, balls[1].position[0] = 1000004; // far away: no digits are lost
    mabd_scene_class body_class = {.geom_count = 2, .density = 1000};
    mabd_inertia got = mabd_class_inertia(&body_class, balls);
    cr_assert(le(dbl, fabs(got.mass - 2), 1e-14));
    cr_assert(le(dbl, fabs(got.center[0] - 1000002), 1e-9));
    double own = 2 * 0.4 * 0.25, expected[6] = {own, own + 8, own + 8, 0, 0, 0};
    for (int k = 0; k < 6; k++) cr_assert(le(dbl, fabs(got.tensor[k] - expected[k]), 1e-8));
}

Test(inertia, explicit_values_are_taken_as_they_are) {
    mabd_scene_class body_class = {.inertia_given = true,
                                   .mass = 5,
                                   .inertia = {3, 4, 5, 0.1, 0.2, 0.3},
                                   .center = {1, 2, 3},
                                   .density = 2000};
    mabd_inertia got = mabd_class_inertia(&body_class, NULL);
    cr_assert(eq(dbl, got.mass, 5));
    cr_assert(eq(dbl, got.volume, 5.0 / 2000));
    cr_assert(eq(int, memcmp(got.tensor, body_class.inertia, sizeof got.tensor), 0));
    cr_assert(eq(int, memcmp(got.center, body_class.center, sizeof got.center), 0));

    const double size[3] = {1, 2, 3}; // geoms then give the volume only
    mabd_geom box = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    body_class.geom_count = 1;
    got = mabd_class_inertia(&body_class, &box);
    cr_assert(eq(dbl, got.volume, 6));
    cr_assert(eq(dbl, got.mass, 5));
}
