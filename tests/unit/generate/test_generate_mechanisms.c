// SPDX-License-Identifier: Apache-2.0
// Tests for src/generate: four-bar chain, Jansen linkage, scissor ring, points of the plane
#include "generate/planar.h"
#include "mabd/generate.h"
#include "support/generate_checks.h"
#include "support/scene_measures.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double tolerance = 1e-12;
static const double pi = 3.14159265358979323846;

// Check the properties of all mechanisms: the given numbers of bodies and joints, closed joints
// with agreeing velocities, names. Destroys the scene.
static void check_scene(mabd_scene* scene, mabd_status status, const mabd_error* error,
                        int32_t bodies, int32_t joints) {
    cr_assert(eq(int, status, MABD_OK), "%s", error->text);
    cr_assert(eq(i32, mabd_scene_body_count(scene), bodies));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), joints));
    cr_assert(lt(dbl, scene_opening(scene), tolerance));
    cr_assert(eq(i32, scene_wrong_names(scene), 0));
    mabd_scene_destroy(scene);
}

// Compute the ends of box geom g of a body in world coordinates.
static void bar_ends(const mabd_scene* scene, int32_t body, int g, double ends[2][3]) {
    const mabd_scene_body* b = scene_body(scene, body);
    const mabd_geom* geom = scene_geom(scene, body) + g;
    for (int side = 0; side < 2; side++) {
        double local[3] = {(side ? 0.5 : -0.5) * geom->size[0], 0, 0}, in_body[3];
        vector_rotate(geom->rotation, local, in_body);
        for (int k = 0; k < 3; k++) in_body[k] += geom->position[k];
        vector_rotate(b->rotation, in_body, ends[side]);
        for (int k = 0; k < 3; k++) ends[side][k] += b->position[k];
    }
}

// ---- points of the plane -----------------------------------------------------------------------

// Compare the velocity of the point where two rods meet with central differences of its position.
Test(mechanisms, point_of_two_rods_moves_as_its_place_does) {
    const double step = 1e-6;
    mabd_generate_plane_point a = {0.1, 0.2, 0.7, -0.3}, b = {1.3, -0.1, -0.2, 0.9}, at, sides[2];
    for (int left = -1; left <= 1; left += 2) {
        cr_assert(mabd_generate_plane_meet(&a, 1.1, &b, 0.8, left, &at));
        cr_assert(lt(dbl, fabs(hypot(at.x - a.x, at.z - a.z) - 1.1), tolerance));
        cr_assert(lt(dbl, fabs(hypot(at.x - b.x, at.z - b.z) - 0.8), tolerance));
        cr_assert(lt(dbl, 0, left * ((b.x - a.x) * (at.z - a.z) - (b.z - a.z) * (at.x - a.x))));
        for (int i = 0; i < 2; i++) {
            double t = i ? step : -step;
            mabd_generate_plane_point ta = {a.x + t * a.vx, a.z + t * a.vz, 0, 0};
            mabd_generate_plane_point tb = {b.x + t * b.vx, b.z + t * b.vz, 0, 0};
            cr_assert(mabd_generate_plane_meet(&ta, 1.1, &tb, 0.8, left, &sides[i]));
        }
        cr_assert(lt(dbl, fabs((sides[1].x - sides[0].x) / (2 * step) - at.vx), 1e-8));
        cr_assert(lt(dbl, fabs((sides[1].z - sides[0].z) / (2 * step) - at.vz), 1e-8));
    }
    cr_assert(not(mabd_generate_plane_meet(&a, 0.1, &b, 0.2, 1, &at)));
    cr_assert(not(mabd_generate_plane_meet(&a, 9, &b, 1, 1, &at)));
}

// ---- four-bar chain ----------------------------------------------------------------------------

Test(mechanisms, four_bar_chains_are_closed_rhombi) {
    for (int32_t n = 1; n <= 40; n += 13) {
        mabd_four_bar_chain_def def = mabd_default_four_bar_chain_def();
        mabd_error error = {0};
        def.segments = n, def.angle = 0.3 + 0.02 * n;
        def.position[0] = -1, def.position[1] = 0.5, def.position[2] = 4;
        mabd_scene* scene = new_scene();
        mabd_status status = mabd_generate_four_bar_chain(scene, &def, &error);
        cr_assert(eq(int, status, MABD_OK), "%s", error.text);
        joint_side last = scene_side_b(scene, 5 * n - 1);
        cr_assert(lt(dbl, fabs(last.point[0] - (-1 + 2 * n * cos(def.angle))), 1e-11));
        cr_assert(lt(dbl, fabs(last.point[2] - 4), 1e-11));
        cr_assert(eq(i32, mabd_scene_find_body(scene, "four-bar-chain/segment0/3"), 3));
        check_scene(scene, status, &error, 4 * n, 5 * n);
    }
}

// ---- jansen ------------------------------------------------------------------------------------

Test(mechanisms, jansen_legs_close_at_every_angle_of_the_shaft) {
    for (int32_t i = 0; i < 36; i++) {
        mabd_jansen_def def = mabd_default_jansen_def();
        mabd_error error = {0};
        def.pairs = 1 + i % 3, def.angle = 2 * pi * i / 36;
        def.position[2] = 1;
        mabd_scene* scene = new_scene();
        mabd_status status = mabd_generate_jansen(scene, &def, &error);
        check_scene(scene, status, &error, 1 + 12 * def.pairs, 1 + 18 * def.pairs);
    }
}

// The corner of the drawn triangles is at the joint of the bar that ends there.
Test(mechanisms, jansen_triangles_are_drawn_where_their_joints_are) {
    mabd_jansen_def def = mabd_default_jansen_def();
    def.angle = 0.8;
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_jansen(scene, &def, NULL), MABD_OK));
    for (int leg = 0; leg < 2; leg++) {
        char body[64], joint[64];
        snprintf(body, sizeof body, "jansen/leg%d/upper", leg);
        snprintf(joint, sizeof joint, "jansen/leg%d/upper-f", leg);
        double d_bar[2][3], e_bar[2][3];
        bar_ends(scene, mabd_scene_find_body(scene, body), 1, d_bar);
        bar_ends(scene, mabd_scene_find_body(scene, body), 2, e_bar);
        joint_side at = scene_side_a(scene, mabd_scene_find_joint(scene, joint));
        for (int k = 0; k < 3; k += 2) {
            cr_assert(lt(dbl, fabs(d_bar[1][k] - at.point[k]), tolerance), "leg %d", leg);
            cr_assert(lt(dbl, fabs(e_bar[1][k] - at.point[k]), tolerance), "leg %d", leg);
        }
        // the foot is the lowest point, about 0.9 m below the shaft
        double foot[2][3];
        snprintf(body, sizeof body, "jansen/leg%d/lower", leg);
        bar_ends(scene, mabd_scene_find_body(scene, body), 1, foot);
        cr_assert(lt(dbl, foot[1][2], -0.7), "leg %d: %g", leg, foot[1][2]);
        cr_assert(lt(dbl, 0, (leg ? 1 : -1) * foot[1][0]), "leg %d: %g", leg, foot[1][0]);
    }
    mabd_scene_destroy(scene);
}

// ---- scissor ring ------------------------------------------------------------------------------

Test(mechanisms, scissor_rings_are_closed_for_every_angle) {
    static const int32_t units[] = {3, 4, 12, 101};
    for (int u = 0; u < 4; u++) {
        for (int i = 1; i < 10; i++) {
            mabd_scissor_ring_def def = mabd_default_scissor_ring_def();
            mabd_error error = {0};
            def.units = units[u], def.angle = 0.05 * pi * i;
            def.driven = false, def.speed = 1.3;
            def.position[0] = 2;
            mabd_scene* scene = new_scene();
            mabd_status status = mabd_generate_scissor_ring(scene, &def, &error);
            check_scene(scene, status, &error, 2 * units[u], 3 * units[u]);
        }
    }
}

// Every arm is drawn from a middle hinge to an end hinge.
Test(mechanisms, scissor_arms_are_drawn_from_hinge_to_hinge) {
    mabd_scissor_ring_def def = mabd_default_scissor_ring_def();
    mabd_scene* scene = new_scene();
    cr_assert(eq(int, mabd_generate_scissor_ring(scene, &def, NULL), MABD_OK));
    for (int32_t i = 0; i < def.units; i++) {
        char name[64];
        snprintf(name, sizeof name, "scissor-ring/outer/%d", (int)i);
        int32_t joint = mabd_scene_find_joint(scene, name);
        joint_side at = scene_side_a(scene, joint);
        double ends[2][3];
        bar_ends(scene, scene_joint(scene, joint)->a, 0, ends);
        cr_assert(lt(dbl, hypot(ends[1][0] - at.point[0], ends[1][1] - at.point[1]), tolerance));
        bar_ends(scene, scene_joint(scene, joint)->b, 1, ends);
        cr_assert(lt(dbl, hypot(ends[1][0] - at.point[0], ends[1][1] - at.point[1]), tolerance));
    }
    mabd_scene_destroy(scene);
}

// ---- refusals ----------------------------------------------------------------------------------

Test(mechanisms, refuses_bad_mechanisms) {
    REFUSES(four_bar_chain, "segments must be at least 1", def.segments = 0);
    REFUSES(four_bar_chain, "too large", def.segments = INT32_MAX);
    REFUSES(four_bar_chain, "angle must be between", def.angle = 0);
    REFUSES(four_bar_chain, "angle must be between", def.angle = 2);
    REFUSES(four_bar_chain, "mass must be positive", def.mass = -1);
    REFUSES(four_bar_chain, "default function", def.cookie = 0);
    REFUSES(jansen, "pairs must be at least 1", def.pairs = 0);
    REFUSES(jansen, "pairs must be at most 32", def.pairs = 33);
    REFUSES(jansen, "scale must be positive", def.scale = 0);
    REFUSES(jansen, "speed must be finite", def.speed = INFINITY);
    REFUSES(scissor_ring, "units must be at least 3", def.units = 2);
    REFUSES(scissor_ring, "too large", def.units = INT32_MAX);
    REFUSES(scissor_ring, "angle must be between", def.angle = 1.6);
    REFUSES(scissor_ring, "angle -+ swing", def.swing = 0.8);
    REFUSES(scissor_ring, "frequency must be positive", def.frequency = 0);
    REFUSES(scissor_ring, "not both", def.speed = 1);
    REFUSES(scissor_ring, "arm must be positive", def.arm = NAN);
}

// ---- memory ------------------------------------------------------------------------------------

static mabd_status build_four_bar_chain(mabd_scene* scene, mabd_error* error) {
    mabd_four_bar_chain_def def = mabd_default_four_bar_chain_def();
    return mabd_generate_four_bar_chain(scene, &def, error);
}

static mabd_status build_jansen(mabd_scene* scene, mabd_error* error) {
    mabd_jansen_def def = mabd_default_jansen_def();
    return mabd_generate_jansen(scene, &def, error);
}

static mabd_status build_scissor_ring(mabd_scene* scene, mabd_error* error) {
    mabd_scissor_ring_def def = mabd_default_scissor_ring_def();
    return mabd_generate_scissor_ring(scene, &def, error);
}

Test(mechanisms, every_allocation_may_fail) {
    static scene_builder* const builders[] = {build_four_bar_chain, build_jansen,
                                              build_scissor_ring};
    for (int b = 0; b < 3; b++) check_failing_allocations(builders[b]);
}
