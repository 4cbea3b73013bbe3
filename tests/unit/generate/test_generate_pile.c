// SPDX-License-Identifier: Apache-2.0
// Tests for src/generate/pile.c
#include "mabd/generate.h"
#include "scene/inertia.h"
#include "support/generate_checks.h"
#include "support/line_segments.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double tolerance = 1e-12;
static const double pi = 3.14159265358979323846;

static mabd_scene* build(const mabd_pile_def* def) {
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_generate_pile(scene, def, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    cr_assert(eq(i32, mabd_scene_body_count(scene), 2 * def->pairs));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), def->pairs));
    cr_assert(lt(dbl, scene_opening(scene), tolerance));
    cr_assert(lt(dbl, scene_misplaced(scene, def->length), tolerance));
    cr_assert(eq(i32, scene_wrong_names(scene), 0));
    return scene;
}

// Joint j of the i-th type connects the bodies of pair j joint_count + i, and no others.
Test(pile, types_of_joints_take_turns) {
    mabd_pile_def def = mabd_default_pile_def();
    mabd_scene* scene = build(&def);
    for (int32_t i = 0; i < 720; i++) {
        char name[64];
        snprintf(name, sizeof name, "pile/joint%d/%d", (int)(i % 4), (int)(i / 4));
        const mabd_scene_joint* joint = scene_joint(scene, mabd_scene_find_joint(scene, name));
        cr_assert(eq(int, joint->type, def.joints[i % 4]));
        snprintf(name, sizeof name, "pile/%d", (int)(2 * i));
        cr_assert(eq(i32, joint->a, mabd_scene_find_body(scene, name)));
        cr_assert(eq(i32, joint->b, joint->a + 1));
    }
    int counts[MABD_JOINT_COUNT] = {0};
    for (int32_t j = 0; j < 720; j++) counts[scene_joint(scene, j)->type]++;
    cr_assert(counts[MABD_JOINT_BALL] == 180 && counts[MABD_JOINT_UNIVERSAL] == 180);
    cr_assert(counts[MABD_JOINT_HINGE] == 180 && counts[MABD_JOINT_PRISMATIC] == 180);
    mabd_scene_destroy(scene);
}

// Return the distance of the farthest point of a geom from p, over the corners and ends of each
// shape.
static double farthest(const mabd_scene* scene, int32_t body, const double* p) {
    const mabd_geom* geom = scene_geom(scene, body);
    double from[3], to[3], most = 0;
    scene_segment(scene, body, from, to);
    for (int corner = 0; corner < 8 && geom->shape == MABD_SHAPE_BOX; corner++) {
        double half[3], turned[3];
        for (int k = 0; k < 3; k++) half[k] = geom->size[k] / 2 * (corner >> k & 1 ? 1 : -1);
        vector_rotate(scene_body(scene, body)->rotation, half, turned);
        for (int k = 0; k < 3; k++) turned[k] += scene_body(scene, body)->position[k] - p[k];
        most = fmax(most, vector_norm(turned));
    }
    if (geom->shape == MABD_SHAPE_BOX) return most;
    for (int k = 0; k < 3; k++) from[k] -= p[k], to[k] -= p[k];
    const double end = fmax(vector_norm(from), vector_norm(to)), r = geom->size[0];
    return geom->shape == MABD_SHAPE_CYLINDER ? hypot(end, r) : end + r;
}

// The balls around the joints that contain each pair do not overlap, and touch if the grid is as
// close as allowed.
Test(pile, no_two_pairs_overlap) {
    const double reach[MABD_SHAPE_PLANE] = {sqrt(0.01 + 2 * 0.0009), 0.08, 0.13,
                                            sqrt(0.01 + 0.0009)};
    for (int shape = 0; shape < MABD_SHAPE_PLANE; shape++) {
        mabd_pile_def def = mabd_default_pile_def();
        def.shape = (mabd_shape)shape, def.pairs = 100, def.columns = 3, def.rows = 5;
        def.spacing = 2 * reach[shape] * (1 + 1e-14), def.seed = (uint64_t)shape;
        mabd_scene* scene = build(&def);
        double nearest = 1e9, largest = 0;
        for (int32_t i = 0; i < 100; i++) {
            const joint_side p = scene_side_a(scene, i);
            for (int32_t j = 0; j < 100; j++) {
                const joint_side q = scene_side_a(scene, j);
                double d[3];
                for (int k = 0; k < 3; k++) d[k] = p.point[k] - q.point[k];
                if (j != i) nearest = fmin(nearest, vector_norm(d));
            }
            largest = fmax(largest, farthest(scene, scene_joint(scene, i)->a, p.point));
            largest = fmax(largest, farthest(scene, scene_joint(scene, i)->b, p.point));
        }
        cr_assert(lt(dbl, 2 * largest, nearest + tolerance), "shape %d", shape);
        cr_assert(lt(dbl, nearest, 2 * largest + tolerance), "shape %d", shape);
        mabd_scene_destroy(scene);
    }
}

// 100 pairs in layers of 3 x 5: the seventh layer begins with the pair 90.
Test(pile, layers_begin_at_the_position) {
    mabd_pile_def def = mabd_default_pile_def();
    def.pairs = 100, def.columns = 3, def.rows = 5, def.spacing = 0.5, def.joint_count = 1;
    def.position[0] = 1, def.position[1] = 2, def.position[2] = 3;
    mabd_scene* scene = build(&def);
    static const int32_t pairs[] = {0, 14, 90, 91, 93};
    static const double places[][3] = {
        {0.5, 1, 3}, {1.5, 3, 3}, {0.5, 1, 6}, {1, 1, 6}, {0.5, 1.5, 6}};
    for (int i = 0; i < 5; i++) {
        const joint_side side = scene_side_a(scene, pairs[i]);
        double d[3];
        for (int k = 0; k < 3; k++) d[k] = side.point[k] - places[i][k];
        cr_assert(lt(dbl, vector_norm(d), tolerance), "pair %d", pairs[i]);
    }
    mabd_scene_destroy(scene);
}

// Directions of links of uniform rotations have mean 0 and mean square 1/3 each way; standard
// deviations of the means over n are 1 / sqrt(3 n) and sqrt(4 / 45 n).
Test(pile, rotations_are_uniform_and_the_seed_decides) {
    mabd_pile_def def = mabd_default_pile_def();
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        def.seed = i == 2 ? 8 : 7;
        mabd_scene* scene = build(&def);
        hashes[i] = scene_hash(scene);
        for (int axis = 0; axis < 3; axis++) {
            double sum[3] = {0}, squares[3] = {0};
            for (int32_t b = 0; b < 1440; b += 2) {
                double along[3], unit[3] = {axis == 0, axis == 1, axis == 2};
                vector_rotate(scene_body(scene, b)->rotation, unit, along);
                for (int k = 0; k < 3; k++) sum[k] += along[k], squares[k] += along[k] * along[k];
            }
            for (int k = 0; k < 3; k++) {
                cr_assert(lt(dbl, fabs(sum[k] / 720), 5 / sqrt(3 * 720.0)));
                cr_assert(lt(dbl, fabs(squares[k] / 720 - 1.0 / 3), 5 * sqrt(4 / (45 * 720.0))));
            }
        }
        mabd_scene_destroy(scene);
    }
    cr_assert(eq(u64, hashes[0], hashes[1]));
    cr_assert(ne(u64, hashes[0], hashes[2]));
}

Test(pile, sliding_and_bending_joints_have_stops) {
    mabd_pile_def def = mabd_default_pile_def();
    def.joint_count = 0, def.pairs = 40, def.slide = 0.02, def.bend = 1;
    for (int i = 0; i < MABD_JOINT_COUNT; i++) {
        if (i != MABD_JOINT_FREE) def.joints[def.joint_count++] = (mabd_joint)i;
    }
    // free translations of each type in the order of the list, as in docs/guide/scene-format.md
    static const char* const slides[] = {"",    "x",  "", "xy", "x", "x",   "",
                                         "xyz", "xy", "", "x",  "",  "xyz", "xy"};
    mabd_scene* scene = build(&def);
    for (int32_t j = 0; j < 40; j++) {
        const mabd_scene_joint* joint = scene_joint(scene, j);
        static const mabd_scene_axes none;
        const mabd_scene_axes* axes =
            joint->axes < 0 ? &none : (const mabd_scene_axes*)scene->axes.data + joint->axes;
        for (int k = 0; k < MABD_AXIS_COUNT; k++) {
            const bool slide = k < 3 && strchr(slides[joint->type], "xyz"[k]) != NULL;
            const bool bend = k == MABD_AXIS_RX && joint->type == MABD_JOINT_HINGE;
            cr_assert(eq(int, axes->used[k], slide || bend), "type %d axis %d", joint->type, k);
            if (!axes->used[k]) continue;
            const double limit = slide ? 0.02 : 1;
            cr_assert(axes->axis[k].limited && axes->axis[k].lower == -limit);
            cr_assert(axes->axis[k].upper == limit);
        }
    }
    mabd_scene_destroy(scene);
}

Test(pile, links_have_the_mass_of_capsules) {
    mabd_pile_def def = mabd_default_pile_def();
    mabd_scene* scene = build(&def);
    const double volume = pi * 0.03 * 0.03 * 0.1 + 4 * pi * pow(0.03, 3) / 3;
    cr_assert(eq(i32, scene->classes.count, 1));
    cr_assert(
        lt(dbl, fabs(mabd_scene_class_inertia(scene, 0).mass / (1000 * volume) - 1), tolerance));
    mabd_scene_destroy(scene);
}

Test(pile, refuses_what_cannot_be) {
    REFUSES(pile, "pairs must be at least 1", def.pairs = 0);
    REFUSES(pile, "too large", def.pairs = INT32_MAX);
    REFUSES(pile, "columns must be at least 1", def.columns = 0);
    REFUSES(pile, "rows must be at least 1", def.rows = -3);
    REFUSES(pile, "length must be positive", def.length = 0);
    REFUSES(pile, "radius must be positive", def.radius = NAN);
    REFUSES(pile, "spacing must be at least 0.26", def.spacing = 0.25);
    REFUSES(pile, "spacing must be finite", def.spacing = NAN);
    REFUSES(pile, "position must be finite", def.position[2] = INFINITY);
    REFUSES(pile, "unknown shape", def.shape = MABD_SHAPE_BOWL);
    REFUSES(pile, "joints must be at least 1", def.joint_count = 0);
    REFUSES(pile, "joints must be at most 14", def.joint_count = 15);
    REFUSES(pile, "must hold something", def.joints[2] = MABD_JOINT_FREE);
    REFUSES(pile, "slide and bend", def.slide = -1);
    REFUSES(pile, "slide and bend", def.bend = NAN);
    REFUSES(pile, "default function", def.cookie = 0);
}

static mabd_status build_pile(mabd_scene* scene, mabd_error* error) {
    mabd_pile_def def = mabd_default_pile_def();
    def.pairs = 9;
    return mabd_generate_pile(scene, &def, error);
}

Test(pile, every_allocation_may_fail) {
    check_failing_allocations(build_pile);
}

// Fewer pairs than types of joints, and pairs without names.
Test(pile, few_pairs_and_no_names) {
    mabd_pile_def def = mabd_default_pile_def();
    def.pairs = 2;
    mabd_scene_destroy(build(&def));
    def.name = NULL;
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_pile(scene, &def, NULL), MABD_OK));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), 2));
    mabd_scene_destroy(scene);
}
