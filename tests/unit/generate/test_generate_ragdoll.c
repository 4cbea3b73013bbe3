// SPDX-License-Identifier: Apache-2.0
// Tests for src/generate/ragdoll.c
#include "mabd/generate.h"
#include "math/quat.h"
#include "scene/inertia.h"
#include "support/convex.h"
#include "support/generate_checks.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double tolerance = 1e-12;
static const double pi = 3.14159265358979323846;

static const char* const body_names[] = {"pelvis",          "torso",           "head",
                                         "left-upper-arm",  "right-upper-arm", "left-lower-arm",
                                         "right-lower-arm", "left-upper-leg",  "right-upper-leg",
                                         "left-lower-leg",  "right-lower-leg"};
// name, hinge, the two bodies as numbers of the list above
static const struct {
    const char* name;
    bool hinge;
    int a, b;
} joint_names[] = {{"waist", false, 0, 1},         {"neck", false, 1, 2},
                   {"left-shoulder", false, 1, 3}, {"right-shoulder", false, 1, 4},
                   {"left-elbow", true, 3, 5},     {"right-elbow", true, 4, 6},
                   {"left-hip", false, 0, 7},      {"right-hip", false, 0, 8},
                   {"left-knee", true, 7, 9},      {"right-knee", true, 8, 10}};

static mabd_scene* build(const mabd_ragdoll_def* def) {
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_generate_ragdoll(scene, def, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    cr_assert(eq(i32, mabd_scene_body_count(scene), 11 * def->copies));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), 10 * def->copies));
    cr_assert(lt(dbl, scene_opening(scene), tolerance));
    cr_assert(eq(i32, scene_wrong_names(scene), 0));
    return scene;
}

static int32_t find_body(const mabd_scene* scene, const char* part, int32_t i) {
    char name[64];
    snprintf(name, sizeof name, "ragdoll/%s/%d", part, (int)i);
    return mabd_scene_find_body(scene, name);
}

static int32_t find_joint(const mabd_scene* scene, const char* part, int32_t i) {
    char name[64];
    snprintf(name, sizeof name, "ragdoll/%s/%d", part, (int)i);
    return mabd_scene_find_joint(scene, name);
}

Test(ragdoll, joints_join_the_right_bodies) {
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    mabd_scene* scene = build(&def);
    for (int32_t i = 0; i < 27; i++) {
        for (int j = 0; j < 10; j++) {
            const mabd_scene_joint* joint =
                scene_joint(scene, find_joint(scene, joint_names[j].name, i));
            cr_assert(eq(i32, joint->a, find_body(scene, body_names[joint_names[j].a], i)));
            cr_assert(eq(i32, joint->b, find_body(scene, body_names[joint_names[j].b], i)));
            cr_assert(eq(int, joint->type == MABD_JOINT_HINGE, joint_names[j].hinge));
        }
    }
    mabd_scene_destroy(scene);
}

// ---- geometry ----------------------------------------------------------------------------------

static mabd_pose geom_pose(const mabd_scene* scene, int32_t body) {
    const mabd_scene_body* b = scene_body(scene, body);
    const mabd_geom* geom = scene_geom(scene, body);
    mabd_pose pose;
    pose.rotation = mabd_m3_product(mabd_q_matrix(mabd_q_load(b->rotation)),
                                    mabd_q_matrix(mabd_q_load(geom->rotation)));
    pose.position = mabd_v3_load(b->position);
    return pose;
}

// Compute the distance of two bodies of one geom each by an independent method (support/convex.h);
// 0 if they overlap.
static double body_distance(const mabd_scene* scene, int32_t a, int32_t b) {
    static const mabd_collider_kind kinds[] = {
        [MABD_SHAPE_BOX] = MABD_COLLIDER_BOX,
        [MABD_SHAPE_SPHERE] = MABD_COLLIDER_SPHERE,
        [MABD_SHAPE_CAPSULE] = MABD_COLLIDER_CAPSULE,
    };
    const mabd_geom *ga = scene_geom(scene, a), *gb = scene_geom(scene, b);
    convex_pair pair = {.a = {.kind = kinds[ga->shape]}, .b = {.kind = kinds[gb->shape]}};
    memcpy(pair.a.size, ga->size, sizeof pair.a.size);
    memcpy(pair.b.size, gb->size, sizeof pair.b.size);
    pair.pa = geom_pose(scene, a), pair.pb = geom_pose(scene, b);
    double error = 0;
    double distance = convex_distance(&pair, &error);
    cr_assert(lt(dbl, error, 1e-3));
    return distance - error;
}

static bool share_joint(int a, int b) {
    for (int j = 0; j < 10; j++) {
        if (joint_names[j].a == a && joint_names[j].b == b) return true;
    }
    return false;
}

// Bodies that share no joint are at least 5 mm apart, in figures of any size.
Test(ragdoll, figures_do_not_overlap_themselves) {
    static const double heights[] = {0.9, 1.8};
    for (int h = 0; h < 2; h++) {
        mabd_ragdoll_def def = mabd_default_ragdoll_def();
        def.copies = 1, def.height = heights[h], def.seed = 3;
        mabd_scene* scene = build(&def);
        for (int a = 0; a < 11; a++) {
            for (int b = a + 1; b < 11; b++) {
                if (share_joint(a, b)) continue;
                const double distance = body_distance(scene, find_body(scene, body_names[a], 0),
                                                      find_body(scene, body_names[b], 0));
                cr_assert(lt(dbl, 0.005, distance), "%s, %s", body_names[a], body_names[b]);
            }
        }
        mabd_scene_destroy(scene);
    }
}

// Figures on the closest grid do not overlap.
Test(ragdoll, figures_do_not_overlap_one_another) {
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    def.copies = 8, def.columns = def.rows = 2, def.spacing = def.height * (1 + 1e-9);
    for (uint64_t seed = 0; seed < 3; seed++) {
        def.seed = seed;
        mabd_scene* scene = build(&def);
        for (int32_t i = 1; i < 8; i++) {
            for (int a = 0; a < 11; a++) {
                for (int b = 0; b < 11; b++) {
                    // figure i against figure 0: beside, behind, above and askew
                    const double distance = body_distance(scene, find_body(scene, body_names[a], 0),
                                                          find_body(scene, body_names[b], i));
                    cr_assert(lt(dbl, 0.005, distance), "%s, %s", body_names[a], body_names[b]);
                }
            }
        }
        mabd_scene_destroy(scene);
    }
}

// From the soles to the top of the head: `height`; the pelvis of the first layer is at `position`.
Test(ragdoll, figures_have_the_requested_height) {
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    def.copies = 2, def.columns = def.rows = 1, def.height = 1.5, def.spacing = 3;
    def.position[0] = 1, def.position[1] = 2, def.position[2] = 3;
    mabd_scene* scene = build(&def);
    for (int32_t i = 0; i < 2; i++) {
        const int32_t head = find_body(scene, "head", i),
                      leg = find_body(scene, "left-lower-leg", i);
        const double top = scene_body(scene, head)->position[2] + scene_geom(scene, head)->size[0];
        const double sole = scene_body(scene, leg)->position[2] -
                            scene_geom(scene, leg)->size[1] / 2 - scene_geom(scene, leg)->size[0];
        cr_assert(lt(dbl, fabs(top - sole - 1.5), tolerance));
        const double* p = scene_body(scene, find_body(scene, "pelvis", i))->position;
        const double d[3] = {p[0] - 1, p[1] - 2, p[2] - 3 - 3 * i};
        cr_assert(lt(dbl, vector_norm(d), tolerance));
    }
    mabd_scene_destroy(scene);
}

// Mirror images about the figure's plane y = 0, turned by one angle about z, another one for each.
Test(ragdoll, figures_are_symmetric_and_turned) {
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    def.seed = 5;
    mabd_scene* scene = build(&def);
    double angles[27];
    for (int32_t i = 0; i < 27; i++) {
        const mabd_scene_body* pelvis = scene_body(scene, find_body(scene, "pelvis", i));
        cr_assert(lt(dbl, hypot(pelvis->rotation[1], pelvis->rotation[2]), tolerance));
        angles[i] = 2 * atan2(pelvis->rotation[3], pelvis->rotation[0]);
        for (int32_t k = 0; k < i; k++) cr_assert(lt(dbl, 1e-6, fabs(angles[i] - angles[k])));
        const double left[3] = {-sin(angles[i]), cos(angles[i]), 0};
        for (int b = 3; b < 11; b += 2) {
            const double* p = scene_body(scene, find_body(scene, body_names[b], i))->position;
            const double* q = scene_body(scene, find_body(scene, body_names[b + 1], i))->position;
            const double* o = pelvis->position;
            double side = 0, error = 0;
            for (int k = 0; k < 3; k++) side += (p[k] - o[k]) * left[k];
            cr_assert(lt(dbl, 0.05, side));
            for (int k = 0; k < 3; k++) {
                error = fmax(error, fabs(p[k] - q[k] - 2 * side * left[k]));
            }
            cr_assert(lt(dbl, error, tolerance));
        }
    }
    mabd_scene_destroy(scene);
}

// ---- stops -------------------------------------------------------------------------------------

static const mabd_axis_def* stops_of(const mabd_scene* scene, const char* joint) {
    const int32_t axes = scene_joint(scene, find_joint(scene, joint, 0))->axes;
    cr_assert(ge(i32, axes, 0));
    return ((const mabd_scene_axes*)scene->axes.data)[axes].axis;
}

// Every free axis has stops that allow the start pose; ball joints of the right side are those of
// the left with rx and rz reversed.
Test(ragdoll, joints_have_stops) {
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    mabd_scene* scene = build(&def);
    for (int j = 0; j < 10; j++) {
        const mabd_axis_def* stops = stops_of(scene, joint_names[j].name);
        for (int k = 0; k < (joint_names[j].hinge ? 1 : 3); k++) {
            const mabd_axis_def* axis = &stops[MABD_AXIS_RX + k];
            cr_assert(axis->limited, "%s", joint_names[j].name);
            cr_assert(axis->lower < 0 && axis->upper > 0 && axis->upper < pi);
            if (j < 2 || j % 2 == 1 || joint_names[j].hinge) continue;
            const mabd_axis_def* right =
                &stops_of(scene, joint_names[j + 1].name)[MABD_AXIS_RX + k];
            const double lower = k == 1 ? axis->lower : -axis->upper;
            const double upper = k == 1 ? axis->upper : -axis->lower;
            cr_assert(right->lower == lower && right->upper == upper);
        }
    }
    mabd_scene_destroy(scene);
}

// The direction in which the far end of a limb moves when its hinge opens, axis x arm: lower arms
// to the front, lower legs to the back; the range is open to that side and almost closed to the
// other.
Test(ragdoll, elbows_bend_to_the_front_and_knees_to_the_back) {
    static const struct {
        const char *joint, *body;
        double front;
    } limbs[] = {{"left-elbow", "left-lower-arm", 1},
                 {"right-elbow", "right-lower-arm", 1},
                 {"left-knee", "left-lower-leg", -1},
                 {"right-knee", "right-lower-leg", -1}};
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    def.seed = 9;
    mabd_scene* scene = build(&def);
    for (int i = 0; i < 4; i++) {
        const joint_side side = scene_side_a(scene, find_joint(scene, limbs[i].joint, 0));
        const mabd_scene_body* limb = scene_body(scene, find_body(scene, limbs[i].body, 0));
        double front[3], arm[3], way[3], ex[3] = {1, 0, 0};
        vector_rotate(limb->rotation, ex, front);
        for (int k = 0; k < 3; k++) arm[k] = limb->position[k] - side.point[k];
        vector_cross(side.axes[0], arm, way);
        const double along = way[0] * front[0] + way[1] * front[1] + way[2] * front[2];
        cr_assert(lt(dbl, fabs(along - limbs[i].front * vector_norm(arm)), tolerance));
        const mabd_axis_def* stops = &stops_of(scene, limbs[i].joint)[MABD_AXIS_RX];
        cr_assert(stops->lower > -0.1 && stops->upper > 2);
    }
    mabd_scene_destroy(scene);
}

// ---- masses, refusals, memory ------------------------------------------------------------------

// Volumes of the shapes, summed here: capsules pi r^2 l + 4 pi r^3 / 3.
Test(ragdoll, a_figure_weighs_what_its_shapes_do) {
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    def.copies = 1, def.material.density = 1100;
    mabd_scene* scene = build(&def);
    double volume = 0, mass = 0;
    for (int32_t b = 0; b < 11; b++) {
        const double* s = scene_geom(scene, b)->size;
        const double ball = 4 * pi * pow(s[0], 3) / 3;
        const mabd_shape shape = scene_geom(scene, b)->shape;
        volume += shape == MABD_SHAPE_BOX      ? s[0] * s[1] * s[2]
                  : shape == MABD_SHAPE_SPHERE ? ball
                                               : ball + pi * s[0] * s[0] * s[1];
        mass += mabd_scene_class_inertia(scene, scene_body(scene, b)->class_index).mass;
    }
    cr_assert(lt(dbl, fabs(mass / (1100 * volume) - 1), tolerance));
    cr_assert(mass > 60 && mass < 90); // that of an adult
    mabd_scene_destroy(scene);
}

Test(ragdoll, refuses_what_cannot_be) {
    REFUSES(ragdoll, "copies must be at least 1", def.copies = 0);
    REFUSES(ragdoll, "too large", def.copies = INT32_MAX / 10);
    REFUSES(ragdoll, "columns must be at least 1", def.columns = 0);
    REFUSES(ragdoll, "rows must be at least 1", def.rows = 0);
    REFUSES(ragdoll, "height must be positive", def.height = -1);
    REFUSES(ragdoll, "spacing must be at least the height, 1.8, not 1.7", def.spacing = 1.7);
    REFUSES(ragdoll, "spacing must be finite", def.spacing = NAN);
    REFUSES(ragdoll, "position must be finite", def.position[0] = NAN);
    REFUSES(ragdoll, "default function", def.cookie = 0);
}

static mabd_status build_ragdoll(mabd_scene* scene, mabd_error* error) {
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    def.copies = 2;
    return mabd_generate_ragdoll(scene, &def, error);
}

Test(ragdoll, every_allocation_may_fail) {
    check_failing_allocations(build_ragdoll);
}
