// SPDX-License-Identifier: Apache-2.0
// Tests for src/generate/joint_grid.c
#include "mabd/generate.h"
#include "support/generate_checks.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>

static const double tolerance = 1e-12;

static mabd_scene* build(const mabd_joint_grid_def* def) {
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    const mabd_status status = mabd_generate_joint_grid(scene, def, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    cr_assert(lt(dbl, scene_opening(scene), tolerance));
    cr_assert(eq(i32, scene_wrong_names(scene), 0));
    return scene;
}

static mabd_scene* build_size(int32_t rows, int32_t columns, int32_t fixed, bool vertical) {
    mabd_joint_grid_def def = mabd_default_joint_grid_def();
    def.rows = rows, def.columns = columns, def.fixed = fixed, def.vertical = vertical;
    def.spacing = 0.5, def.radius = 0.2, def.position[1] = 3;
    return build(&def);
}

// rows (columns - 1) + (rows - 1) columns joints, 19,800 in the benchmark of 100 x 100, less the
// `fixed` - 1 between neighbours that are fixed.
Test(joint_grid, has_the_counts_of_the_benchmark) {
    const mabd_joint_grid_def def = mabd_default_joint_grid_def();
    mabd_scene* scene = build(&def);
    cr_expect(eq(i32, mabd_scene_body_count(scene), 10000));
    cr_expect(eq(i32, mabd_scene_joint_count(scene), 19800 - 6));
    mabd_scene_destroy(scene);
    static const int32_t sizes[][3] = {{2, 2, 0}, {2, 2, 2}, {3, 5, 4}, {6, 2, 1}, {4, 7, 7}};
    for (int i = 0; i < 5; i++) {
        const int32_t R = sizes[i][0], C = sizes[i][1], fixed = sizes[i][2];
        scene = build_size(R, C, fixed, true);
        cr_expect(eq(i32, mabd_scene_body_count(scene), R * C));
        cr_expect(eq(i32, mabd_scene_joint_count(scene),
                     R * (C - 1) + (R - 1) * C - (fixed > 1 ? fixed - 1 : 0)));
        mabd_scene_destroy(scene);
    }
}

// Every joint is a ball joint halfway between two balls a spacing apart; at least one of them
// moves, and every pair of neighbours of which one moves has exactly one.
Test(joint_grid, neighbours_are_jointed_halfway) {
    for (int vertical = 0; vertical < 2; vertical++) {
        mabd_scene* scene = build_size(4, 6, 3, vertical != 0);
        int joints[24][24] = {{0}};
        for (int32_t j = 0; j < mabd_scene_joint_count(scene); j++) {
            const mabd_scene_joint* joint = scene_joint(scene, j);
            const double *a = scene_body(scene, joint->a)->position,
                         *b = scene_body(scene, joint->b)->position;
            const joint_side side = scene_side_a(scene, j);
            double middle[3], way[3];
            for (int k = 0; k < 3; k++) {
                middle[k] = (a[k] + b[k]) / 2 - side.point[k], way[k] = b[k] - a[k];
            }
            cr_expect(eq(int, joint->type, MABD_JOINT_BALL));
            cr_expect(lt(dbl, vector_norm(middle), tolerance));
            cr_expect(lt(dbl, fabs(vector_norm(way) - 0.5), tolerance));
            joints[joint->a][joint->b]++, joints[joint->b][joint->a]++;
        }
        for (int i = 0; i < 24; i++) {
            for (int k = 0; k < i; k++) {
                const bool next = (i - k == 1 && i % 6 != 0) || i - k == 6;
                const bool held = scene_body(scene, i)->motion == MABD_MOTION_FIXED &&
                                  scene_body(scene, k)->motion == MABD_MOTION_FIXED;
                cr_expect(eq(int, joints[i][k], next && !held ? 1 : 0), "%d, %d", i, k);
            }
        }
        mabd_scene_destroy(scene);
    }
}

// Box2D fixes the columns 47 to 53 of its 100.
Test(joint_grid, the_middle_of_the_first_row_is_fixed) {
    const mabd_joint_grid_def def = mabd_default_joint_grid_def();
    mabd_scene* scene = build(&def);
    for (int32_t i = 0; i < 10000; i++) {
        const mabd_scene_body* body = scene_body(scene, i);
        cr_assert(eq(int, body->motion == MABD_MOTION_FIXED, i >= 47 && i <= 53), "%d", (int)i);
        cr_assert(eq(dbl, body->position[0], i % 100));
        cr_assert(eq(dbl, body->position[1], 0));
        cr_assert(eq(dbl, body->position[2], -(i / 100)));
    }
    cr_expect(eq(i32, mabd_scene_find_body(scene, "joint-grid/row0/fixed/0"), 47));
    cr_expect(eq(i32, mabd_scene_find_body(scene, "joint-grid/row0/right/0"), 54));
    cr_expect(eq(i32, mabd_scene_find_body(scene, "joint-grid/row3/5"), 305));
    mabd_scene_destroy(scene);
}

Test(joint_grid, a_horizontal_grid_lies_at_its_position) {
    mabd_scene* scene = build_size(3, 4, 0, false);
    const double* last = scene_body(scene, 11)->position;
    cr_expect(lt(dbl, fabs(last[0] - 1.5), tolerance));
    cr_expect(lt(dbl, fabs(last[1] - 4), tolerance));
    cr_expect(lt(dbl, fabs(last[2]), tolerance));
    mabd_scene_destroy(scene);
}

Test(joint_grid, refuses_what_it_cannot_build) {
    REFUSES(joint_grid, "rows must be at least 2", def.rows = 1);
    REFUSES(joint_grid, "columns must be at least 2", def.columns = 0);
    REFUSES(joint_grid, "fixed must be at least 0", def.fixed = -1);
    REFUSES(joint_grid, "fixed must be at most 100, the columns", def.fixed = 101);
    REFUSES(joint_grid, "overlap at a spacing of 1", def.radius = 0.5);
    REFUSES(joint_grid, "spacing", def.spacing = NAN);
    REFUSES(joint_grid, "position", def.position[2] = INFINITY);
    REFUSES(joint_grid, "", def.rows = def.columns = 40000);
    REFUSES(joint_grid, "", def.cookie = 0);
}

static mabd_status build_small(mabd_scene* scene, mabd_error* error) {
    mabd_joint_grid_def def = mabd_default_joint_grid_def();
    def.rows = 3, def.columns = 4, def.fixed = 2;
    return mabd_generate_joint_grid(scene, &def, error);
}

Test(joint_grid, every_allocation_failing_in_turn_leaks_nothing) {
    check_failing_allocations(build_small);
}
