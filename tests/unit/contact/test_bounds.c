// SPDX-License-Identifier: Apache-2.0
// Tests for src/contact/bounds.h: against points of the surfaces, sampled so densely that the
// farthest one along any direction is off by less than 5e-5 m.
#include "contact/bounds.h"

#include "support/convex.h"
#include "support/draw.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define FINE  5e-5 // resolution of samples [m]; sizes are below 1 m
#define TURNS 360  // r (1 - cos(pi/TURNS)) < FINE
#define DRAWS 12

typedef void visit(void* context, mabd_vec3 x);

static mabd_vec3 on_circle(mabd_real r, int i, mabd_real z) {
    const double angle = 2 * MABD_PI * i / TURNS;
    return mabd_v3(r * (mabd_real)cos(angle), r * (mabd_real)sin(angle), z);
}

// Visit a ball of radius r about (0, 0, z): circles from the `first` of TURNS on, counted from the
// top.
static void visit_ball(mabd_real r, mabd_real z, int first, visit* see, void* context) {
    for (int k = first; k <= TURNS; k++) {
        const double fall = MABD_PI * k / TURNS; // from the top
        for (int i = 0; i < TURNS; i++) {
            see(context, on_circle(r * (mabd_real)sin(fall), i, z + r * (mabd_real)cos(fall)));
        }
    }
}

// Visit nodes, and the depth of the solid below them: half the longer side under the lowest.
static void visit_field(const mabd_height_field* f, visit* see, void* context) {
    const mabd_real i = (mabd_real)(f->columns - 1) / 2, j = (mabd_real)(f->rows - 1) / 2;
    mabd_real lowest = f->heights[0];
    for (int32_t k = 0; k < f->rows * f->columns; k++) {
        const mabd_real x = (mabd_real)(k % f->columns) - i, y = (mabd_real)(k / f->columns) - j;
        see(context, mabd_v3(x * f->dx, y * f->dy, f->heights[k]));
        lowest = (mabd_real)fmin(lowest, f->heights[k]);
    }
    see(context, mabd_v3(0, 0, lowest - (mabd_real)fmax(i * f->dx, j * f->dy)));
}

// Visit points of the surface of a shape in its frame.
static void visit_surface(const mabd_collider* shape, visit* see, void* context) {
    const mabd_real *s = shape->size, r = s[0];
    switch (shape->kind) {
    case MABD_COLLIDER_SPHERE:
        visit_ball(r, 0, 0, see, context);
        break;
    case MABD_COLLIDER_CAPSULE:
        visit_ball(r, s[1] / 2, 0, see, context);
        visit_ball(r, -s[1] / 2, 0, see, context);
        break;
    case MABD_COLLIDER_BOX:
        for (int i = 0; i < 8; i++) {
            see(context, mabd_v3((i & 1 ? s[0] : -s[0]) / 2, (i & 2 ? s[1] : -s[1]) / 2,
                                 (i & 4 ? s[2] : -s[2]) / 2));
        }
        break;
    case MABD_COLLIDER_CYLINDER:
        for (int i = 0; i < 2 * TURNS; i++) {
            see(context, on_circle(r, i / 2, (i & 1 ? s[1] : -s[1]) / 2));
        }
        break;
    case MABD_COLLIDER_BOWL:
        visit_ball(r + s[1], 0, TURNS / 2, see, context);
        break;
    default:
        visit_field(shape->field, see, context);
    }
}

typedef struct extent {
    mabd_pose pose;
    mabd_real lo[3], hi[3], far;
} extent;

static void extend(void* context, mabd_vec3 local) {
    extent* e = context;
    mabd_real x[3];
    mabd_v3_store(mabd_pose_point(&e->pose, local), x);
    for (int k = 0; k < 3; k++) {
        e->lo[k] = (mabd_real)fmin(e->lo[k], x[k]);
        e->hi[k] = (mabd_real)fmax(e->hi[k], x[k]);
    }
    e->far = (mabd_real)fmax(e->far, mabd_v3_norm(local));
}

static extent extent_of(const mabd_collider* shape, const mabd_pose* pose) {
    extent e = {*pose, {1e9, 1e9, 1e9}, {-1e9, -1e9, -1e9}, 0};
    visit_surface(shape, extend, &e);
    return e;
}

static mabd_pose draw_pose(uint64_t* state) {
    const mabd_mat3 R = draw_rotation(state);
    return (mabd_pose){draw_vec3(state, 2), R};
}

// Expect the box to contain the shape and to be no larger than the margin requires; `tight` false:
// larger.
static void expect_box(const mabd_collider* shape, const mabd_pose* pose, bool tight) {
    const mabd_real margin = (mabd_real)0.03;
    const mabd_broad_box box = mabd_collider_box(shape, pose, margin);
    const extent e = extent_of(shape, pose);
    for (int k = 0; k < 3; k++) {
        const mabd_real below = e.lo[k] - margin - box.lo[k], above = box.hi[k] - e.hi[k] - margin;
        cr_expect(ge(dbl, fmin(below, above), -1e-12), "kind %d axis %d", shape->kind, k);
        if (tight) cr_expect(le(dbl, fmax(below, above), FINE), "kind %d axis %d", shape->kind, k);
    }
}

Test(bounds, boxes_are_the_least_around_convex_shapes) {
    uint64_t state = 3;
    for (int kind = MABD_COLLIDER_SPHERE; kind <= MABD_COLLIDER_CYLINDER; kind++) {
        for (int n = 0; n < DRAWS; n++) {
            const mabd_collider shape = convex_draw_shape((mabd_collider_kind)kind, &state);
            mabd_pose pose = draw_pose(&state);
            if (n == 0) pose.rotation = mabd_m3_identity();
            expect_box(&shape, &pose, true);
        }
    }
}

// A bowl has the box of its whole ball, a height field that of the box around it: tight if it is
// not rotated.
Test(bounds, boxes_hold_bowls_and_height_fields) {
    uint64_t state = 4;
    for (int kind = MABD_COLLIDER_BOWL; kind <= MABD_COLLIDER_HEIGHT_FIELD; kind++) {
        for (int n = 0; n < DRAWS; n++) {
            const mabd_collider shape = convex_draw_shape((mabd_collider_kind)kind, &state);
            mabd_pose pose = draw_pose(&state);
            if (n == 0) pose.rotation = mabd_m3_identity();
            expect_box(&shape, &pose, n == 0 && kind == MABD_COLLIDER_HEIGHT_FIELD);
        }
    }
}

Test(bounds, planes_have_no_end) {
    uint64_t state = 5;
    const mabd_collider plane = {.kind = MABD_COLLIDER_PLANE};
    const mabd_pose pose = draw_pose(&state);
    const mabd_broad_box box = mabd_collider_box(&plane, &pose, 0);
    for (int k = 0; k < 3; k++) {
        cr_expect(lt(dbl, box.lo[k], -1e300));
        cr_expect(lt(dbl, 1e300, box.hi[k]));
    }
    cr_expect(lt(dbl, 1e300, mabd_collider_thickness(&plane)));
}

// Half the least width of a convex shape over directions, and half the shell of a bowl.
Test(bounds, thickness_is_half_the_least_width) {
    uint64_t state = 6;
    for (int kind = MABD_COLLIDER_SPHERE; kind <= MABD_COLLIDER_CYLINDER; kind++) {
        for (int n = 0; n < DRAWS; n++) {
            const mabd_collider shape = convex_draw_shape((mabd_collider_kind)kind, &state);
            const mabd_real thickness = mabd_collider_thickness(&shape);
            mabd_real least = (mabd_real)1e9;
            for (int turns = 0; turns < 4; turns++) {
                mabd_pose pose = {mabd_v3(0, 0, 0), mabd_m3_identity()};
                if (turns > 0) pose.rotation = draw_rotation(&state);
                const extent e = extent_of(&shape, &pose);
                for (int k = 0; k < 3; k++) least = (mabd_real)fmin(least, e.hi[k] - e.lo[k]);
            }
            cr_expect(epsilon_eq(dbl, 2 * thickness, least, 2 * FINE), "kind %d", kind);
        }
    }
    const mabd_collider bowl = convex_draw_shape(MABD_COLLIDER_BOWL, &state);
    cr_expect(eq(dbl, mabd_collider_thickness(&bowl), bowl.size[1] / 2));
    const mabd_collider field = convex_draw_shape(MABD_COLLIDER_HEIGHT_FIELD, &state);
    cr_expect(lt(dbl, 1e300, mabd_collider_thickness(&field)));
}

Test(bounds, reach_is_the_farthest_point_of_what_may_move) {
    uint64_t state = 7;
    const mabd_pose here = {mabd_v3(0, 0, 0), mabd_m3_identity()};
    for (int kind = MABD_COLLIDER_SPHERE; kind <= MABD_COLLIDER_HEIGHT_FIELD; kind++) {
        for (int n = 0; n < DRAWS; n++) {
            const mabd_collider shape = convex_draw_shape((mabd_collider_kind)kind, &state);
            const mabd_real reach = mabd_collider_reach(&shape);
            if (kind > MABD_COLLIDER_CYLINDER) {
                cr_expect(eq(dbl, reach, 0), "kind %d", kind);
            } else {
                cr_expect(epsilon_eq(dbl, reach, extent_of(&shape, &here).far, FINE), "%d", kind);
            }
        }
    }
}
