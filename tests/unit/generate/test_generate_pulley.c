// SPDX-License-Identifier: Apache-2.0
// Tests for src/generate: pulley
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

static mabd_scene* build(const mabd_pulley_def* def) {
    mabd_error error = {0};
    mabd_scene* scene = new_scene();
    mabd_status status = mabd_generate_pulley(scene, def, &error);
    cr_assert(eq(int, status, MABD_OK), "%s", error.text);
    cr_assert(lt(dbl, scene_opening(scene), tolerance));
    cr_assert(eq(i32, scene_wrong_names(scene), 0));
    return scene;
}

static mabd_pulley_def make(mabd_pulley_arrangement arrangement, int32_t pulleys) {
    mabd_pulley_def def = mabd_default_pulley_def();
    def.arrangement = arrangement, def.pulleys = pulleys;
    def.wrapped = 7, def.left = 3, def.inner = 5, def.right = 4;
    def.position[0] = 0.3, def.position[1] = -2, def.position[2] = 1.5;
    return def;
}

static int32_t find_body(const mabd_scene* scene, const char* part, int32_t i) {
    char name[64];
    snprintf(name, sizeof name, i < 0 ? "pulley/%s" : "pulley/%s/%d", part, (int)i);
    return mabd_scene_find_body(scene, name);
}

static int32_t find_joint(const mabd_scene* scene, const char* part, int32_t i) {
    char name[64];
    snprintf(name, sizeof name, i < 0 ? "pulley/%s" : "pulley/%s/%d", part, (int)i);
    return mabd_scene_find_joint(scene, name);
}

static double body_mass(const mabd_scene* scene, int32_t body) {
    return mabd_scene_class_inertia(scene, scene_body(scene, body)->class_index).mass;
}

// Compute the distance of the surfaces of a link and a sheave: both axes are known, that of the
// sheave is along y.
static double clearance(const mabd_scene* scene, int32_t link, int32_t sheave) {
    double from[3], to[3], axis[3];
    scene_segment(scene, link, from, to);
    memcpy(axis, scene_body(scene, sheave)->position, sizeof axis);
    from[1] = to[1] = axis[1] = 0;
    return point_segment_distance(axis, from, to) - scene_geom(scene, link)->size[0] -
           scene_geom(scene, sheave)->size[0];
}

// ---- geometry ----------------------------------------------------------------------------------

// `wrapped` links touch each sheave, all others are clear of all sheaves. They touch in their
// middles: the middle is as near to the axis as the whole link.
static void check_touching(const mabd_scene* scene, const mabd_pulley_def* def, int32_t sheaves,
                           int32_t links) {
    for (int32_t s = 0; s < sheaves; s++) {
        const int32_t sheave = find_body(scene, "sheave", s);
        int32_t touching = 0;
        for (int32_t i = 0; i < links; i++) {
            const int32_t link = find_body(scene, "link", i);
            const double gap = clearance(scene, link, sheave);
            cr_assert(lt(dbl, -tolerance, gap), "link %d, sheave %d", i, s);
            if (gap > tolerance) continue;
            touching++;
            const double* p = scene_body(scene, link)->position;
            const double* c = scene_body(scene, sheave)->position;
            const double middle = hypot(p[0] - c[0], p[2] - c[2]);
            cr_assert(lt(dbl, fabs(middle - def->radius - def->link_radius), tolerance));
        }
        cr_assert(eq(i32, touching, def->wrapped), "sheave %d", s);
    }
}

// Joint i of the chain is the far end of link i and the near end of link i + 1, x = +-L/2.
static void check_chain(const mabd_scene* scene, const mabd_pulley_def* def, int32_t links) {
    const double pitch =
        // as documented in the header
        2 * (def->radius + def->link_radius) * tan(pi / def->wrapped / 2);
    for (int32_t i = 0; i + 1 < links; i++) {
        const mabd_scene_joint* joint = scene_joint(scene, find_joint(scene, "link", i));
        cr_assert(eq(i32, joint->a, find_body(scene, "link", i)));
        cr_assert(eq(i32, joint->b, find_body(scene, "link", i + 1)));
        cr_assert(eq(int, joint->type, MABD_JOINT_BALL));
        const double far[3] = {joint->anchor_a[0] - pitch / 2, joint->anchor_a[1],
                               joint->anchor_a[2]};
        const double near[3] = {joint->anchor_b[0] + pitch / 2, joint->anchor_b[1],
                                joint->anchor_b[2]};
        cr_assert(lt(dbl, fmax(vector_norm(far), vector_norm(near)), tolerance), "joint %d", i);
    }
    for (int32_t i = 0; i < links; i++) {
        const mabd_geom* geom = scene_geom(scene, find_body(scene, "link", i));
        cr_assert(lt(dbl, fabs(geom->size[1] - pitch), tolerance));
    }
}

Test(pulley, rows_touch_every_sheave_with_the_links_around_it) {
    for (int32_t pulleys = 1; pulleys <= 5; pulleys++) {
        for (int32_t inner = 0; inner <= 5; inner += 5) {
            mabd_pulley_def def = make(MABD_PULLEY_ROW, pulleys);
            def.inner = inner;
            const int32_t links = 3 + 4 + 7 * pulleys + inner * (pulleys - 1);
            mabd_scene* scene = build(&def);
            // with an odd number of sheaves two masses, else one and a joint to the world
            cr_assert(eq(i32, mabd_scene_body_count(scene), links + pulleys + 1 + pulleys % 2));
            cr_assert(eq(i32, mabd_scene_joint_count(scene), links - 1 + pulleys + 2));
            cr_assert(eq(i32, find_joint(scene, "anchor", -1) >= 0, pulleys % 2 == 0));
            check_touching(scene, &def, pulleys, links);
            check_chain(scene, &def, links);
            mabd_scene_destroy(scene);
        }
    }
}

Test(pulley, tackles_touch_every_sheave_with_the_links_around_it) {
    for (int32_t pulleys = 1; pulleys <= 3; pulleys++) {
        mabd_pulley_def def = make(MABD_PULLEY_TACKLE, pulleys);
        const int32_t links = 3 + 4 + 7 * 2 * pulleys + 5 * (2 * pulleys - 1);
        mabd_scene* scene = build(&def);
        cr_assert(eq(i32, mabd_scene_body_count(scene), links + 2 * pulleys + 2));
        cr_assert(eq(i32, mabd_scene_joint_count(scene), links - 1 + 2 * pulleys + 3));
        check_touching(scene, &def, 2 * pulleys, links);
        check_chain(scene, &def, links);
        mabd_scene_destroy(scene);
    }
}

// Half turns of very few and of very many links also close.
Test(pulley, any_number_of_links_closes_a_half_turn) {
    static const int32_t wrapped[] = {2, 3, 10, 1000};
    for (int i = 0; i < 4; i++) {
        mabd_pulley_def def = make(MABD_PULLEY_ROW, 3);
        def.wrapped = wrapped[i];
        mabd_scene* scene = build(&def);
        check_touching(scene, &def, 3, 3 + 4 + 3 * wrapped[i] + 2 * 5);
        mabd_scene_destroy(scene);
    }
}

// Runs are vertical, 2 Rc / cos(alpha/2) apart, starting at `position`; lower axes are `inner`
// links below it.
Test(pulley, runs_are_upright_beside_the_sheaves) {
    mabd_pulley_def def = make(MABD_PULLEY_ROW, 3);
    mabd_scene* scene = build(&def);
    const double alpha = pi / 7, Rc = def.radius + def.link_radius, Q = Rc / cos(alpha / 2);
    const int32_t begins[] = {0, 10, 22, 34}, lengths[] = {3, 5, 5, 4};
    for (int run = 0; run < 4; run++) {
        for (int32_t i = begins[run]; i < begins[run] + lengths[run]; i++) {
            double from[3], to[3];
            scene_segment(scene, find_body(scene, "link", i), from, to);
            cr_assert(lt(dbl, fabs(from[0] - 0.3 - 2 * Q * run), tolerance), "link %d", i);
            cr_assert(lt(dbl, fabs(to[0] - 0.3 - 2 * Q * run), tolerance), "link %d", i);
            cr_assert(lt(dbl, fabs(to[1] + 2), tolerance), "link %d", i);
            cr_assert(eq(int, to[2] > from[2], run % 2 == 0), "link %d", i);
        }
    }
    for (int32_t s = 0; s < 3; s++) {
        const double* c = scene_body(scene, find_body(scene, "sheave", s))->position;
        const double depth = s == 1 ? 5 * 2 * Rc * tan(alpha / 2) : 0;
        cr_assert(lt(dbl, fabs(c[0] - 0.3 - (2 * s + 1) * Q), tolerance));
        cr_assert(lt(dbl, fabs(c[1] + 2), tolerance));
        cr_assert(lt(dbl, fabs(c[2] - 1.5 + depth), tolerance));
    }
    mabd_scene_destroy(scene);
}

// The first link hangs from the rim at the height of the axis, where it is tangential.
Test(pulley, chain_of_a_winch_begins_on_the_rim) {
    mabd_pulley_def def = make(MABD_PULLEY_WINCH, 1);
    def.left = 9;
    mabd_scene* scene = build(&def);
    cr_assert(eq(i32, mabd_scene_body_count(scene), 1 + 9 + 1));
    cr_assert(eq(i32, mabd_scene_joint_count(scene), 1 + 8 + 1 + 1));
    const int32_t drum = find_body(scene, "sheave", 0), joint = find_joint(scene, "drum", -1);
    cr_assert(eq(i32, scene_joint(scene, joint)->a, drum));
    cr_assert(eq(i32, scene_joint(scene, joint)->b, find_body(scene, "link", 0)));
    const double* anchor = scene_joint(scene, joint)->anchor_a;
    const double rim[3] = {anchor[0] + def.radius + def.link_radius, anchor[1], anchor[2]};
    cr_assert(lt(dbl, vector_norm(rim), tolerance));
    for (int32_t i = 0; i < 9; i++) {
        cr_assert(lt(dbl, fabs(scene_body(scene, find_body(scene, "link", i))->position[0] - 0.3),
                     tolerance));
        cr_assert(lt(dbl, -tolerance, clearance(scene, find_body(scene, "link", i), drum)));
    }
    check_chain(scene, &def, 9);
    mabd_scene_destroy(scene);
}

// ---- masses and ends ---------------------------------------------------------------------------

Test(pulley, masses_are_the_requested_ones) {
    mabd_pulley_def def = make(MABD_PULLEY_TACKLE, 2);
    def.material.density = 7000, def.load = 5, def.counter = 2, def.sheave_mass = 0.7;
    mabd_scene* scene = build(&def);
    const double r = def.link_radius, L = 2 * (def.radius + r) * tan(pi / 14);
    const double link = 7000 * (pi * r * r * L + 4 * pi * r * r * r / 3);
    cr_assert(lt(dbl, fabs(body_mass(scene, find_body(scene, "link", 11)) / link - 1), tolerance));
    cr_assert(lt(dbl, fabs(body_mass(scene, find_body(scene, "block", -1)) - 5), tolerance));
    cr_assert(lt(dbl, fabs(body_mass(scene, find_body(scene, "counter", -1)) - 2), tolerance));
    cr_assert(lt(dbl, fabs(body_mass(scene, find_body(scene, "sheave", 3)) - 0.7), tolerance));
    // a solid cylinder about y: m R^2 / 2
    mabd_inertia inertia = mabd_scene_class_inertia(
        scene, scene_body(scene, find_body(scene, "sheave", 0))->class_index);
    cr_assert(lt(dbl, fabs(inertia.tensor[1] - 0.7 * 0.1 * 0.1 / 2), tolerance));
    mabd_scene_destroy(scene);
}

// Loads hang by the middle of their upper face.
Test(pulley, ends_hang_below_the_last_links) {
    mabd_pulley_def def = make(MABD_PULLEY_ROW, 1);
    def.load = 3, def.counter = 0.5;
    mabd_scene* scene = build(&def);
    static const char* const ends[] = {"load", "counter"};
    const int32_t links[] = {find_body(scene, "link", 0), find_body(scene, "link", 13)};
    for (int i = 0; i < 2; i++) {
        const mabd_scene_joint* joint = scene_joint(scene, find_joint(scene, ends[i], -1));
        cr_assert(eq(i32, joint->a, find_body(scene, ends[i], -1)));
        cr_assert(eq(i32, joint->b, links[i]));
        const double edge = scene_geom(scene, joint->a)->size[0];
        const double top[3] = {joint->anchor_a[0], joint->anchor_a[1],
                               joint->anchor_a[2] - edge / 2};
        cr_assert(lt(dbl, vector_norm(top), tolerance));
        cr_assert(lt(dbl, fabs(pow(edge, 3) * 7870 - (i == 0 ? 3 : 0.5)), tolerance));
    }
    mabd_scene_destroy(scene);
    def.load = def.counter = 0;
    scene = build(&def);
    cr_assert(eq(i32, mabd_scene_body_count(scene), 1 + 14));
    cr_assert(eq(i32, find_body(scene, "load", -1), -1));
    mabd_scene_destroy(scene);
}

// The block moves up and down; lower sheaves rotate on it, upper ones on the world, where the chain
// begins.
Test(pulley, tackle_hangs_on_its_runs) {
    mabd_pulley_def def = make(MABD_PULLEY_TACKLE, 2);
    mabd_scene* scene = build(&def);
    const int32_t block = find_body(scene, "block", -1);
    const mabd_scene_joint* guide = scene_joint(scene, find_joint(scene, "guide", -1));
    cr_assert(eq(int, guide->type, MABD_JOINT_PRISMATIC));
    cr_assert(eq(i32, guide->b, block));
    const joint_side side = scene_side_b(scene, find_joint(scene, "guide", -1));
    cr_assert(lt(dbl, fabs(side.axes[0][2] - 1), tolerance));
    for (int32_t s = 0; s < 4; s++) {
        const mabd_scene_joint* axle = scene_joint(scene, find_joint(scene, "axle", s));
        cr_assert(eq(i32, axle->a, s % 2 == 0 ? block : MABD_WORLD), "sheave %d", s);
        cr_assert(eq(i32, axle->b, find_body(scene, "sheave", s)));
        cr_assert(lt(dbl, vector_norm(axle->anchor_b), tolerance));
    }
    const mabd_scene_joint* anchor = scene_joint(scene, find_joint(scene, "anchor", -1));
    cr_assert(eq(i32, anchor->a, MABD_WORLD));
    cr_assert(eq(i32, anchor->b, find_body(scene, "link", 0)));
    // links pass between the cheeks, which are beside the sheaves
    const mabd_geom* cheeks = scene_geom(scene, block);
    for (int i = 0; i < 2; i++) {
        const double inside = fabs(cheeks[i].position[1]) - cheeks[i].size[1] / 2;
        cr_assert(lt(dbl, fabs(inside - def.width / 2), tolerance));
    }
    mabd_scene_destroy(scene);
}

// ---- drives ------------------------------------------------------------------------------------

// A positive rotation moves the rim, where links touch it, in the direction of the chain: (axis x
// arm) . link > 0.
static void check_turn(const mabd_scene* scene, int32_t sheave, const double* axis, int32_t links) {
    int32_t touching = 0;
    for (int32_t i = 0; i < links; i++) {
        const int32_t link = find_body(scene, "link", i);
        if (clearance(scene, link, sheave) > tolerance) continue;
        double arm[3], rim[3], along[3];
        vector_rotate(scene_body(scene, link)->rotation, (double[3]){1, 0, 0}, along);
        for (int k = 0; k < 3; k++) {
            arm[k] = scene_body(scene, link)->position[k] - scene_body(scene, sheave)->position[k];
        }
        vector_cross(axis, arm, rim);
        const double speed = rim[0] * along[0] + rim[1] * along[1] + rim[2] * along[2];
        cr_assert(lt(dbl, 0, speed), "link %d", i);
        touching++;
    }
    cr_assert(lt(i32, 0, touching));
}

Test(pulley, positive_turns_take_the_chain_onwards) {
    for (int tackle = 0; tackle < 2; tackle++) {
        mabd_pulley_def def = make(tackle ? MABD_PULLEY_TACKLE : MABD_PULLEY_ROW, tackle ? 2 : 4);
        const int32_t links = 3 + 4 + 4 * 7 + 3 * 5;
        def.speed = mabd_signal_constant(2), def.driven = 3, def.max_torque = 5;
        mabd_scene* scene = build(&def);
        for (int32_t s = 0; s < 4; s++) {
            const int32_t joint = find_joint(scene, s < 3 ? "drive" : "axle", s < 3 ? s : 0);
            cr_assert(eq(i32, scene_joint(scene, joint)->b, find_body(scene, "sheave", s)));
            const joint_side side = scene_side_b(scene, joint);
            check_turn(scene, find_body(scene, "sheave", s), side.axes[0], links);
            const int32_t axes = scene_joint(scene, joint)->axes;
            cr_assert(eq(int, axes >= 0, s < 3));
            if (s == 3) continue;
            const mabd_axis_def* drive =
                &((const mabd_scene_axes*)scene->axes.data + axes)->axis[MABD_AXIS_RX];
            cr_assert(drive->motor_velocity.value == 2 && drive->max_force == 5);
        }
        mabd_scene_destroy(scene);
    }
}

Test(pulley, scripted_sheaves_turn_the_same_way_as_driven_ones) {
    const double times[2] = {0, 1}, values[2] = {0, 4};
    mabd_pulley_def def = make(MABD_PULLEY_ROW, 5);
    def.angle = (mabd_signal){
        .kind = MABD_SIGNAL_TABLE, .point_count = 2, .times = times, .values = values};
    const int32_t links = 3 + 4 + 5 * 7 + 4 * 5;
    mabd_scene* scene = build(&def);
    cr_assert(eq(i32, mabd_scene_joint_count(scene), links - 1 + 2)); // no hinges
    for (int32_t s = 0; s < 5; s++) {
        const mabd_scene_body* sheave = scene_body(scene, find_body(scene, "sheave", s));
        cr_assert(eq(int, sheave->motion, MABD_MOTION_SCRIPTED));
        const mabd_script* script = (const mabd_script*)scene->scripts.data + sheave->script;
        cr_assert(script->angle.point_count == 2 && script->angle.values[1] == 4);
        check_turn(scene, find_body(scene, "sheave", s), script->axis, links);
    }
    mabd_scene_destroy(scene);
}

// The rim to which a winch's chain is tied moves up.
Test(pulley, positive_turns_of_a_winch_lift) {
    mabd_pulley_def def = make(MABD_PULLEY_WINCH, 1);
    def.torque = mabd_signal_constant(3);
    mabd_scene* scene = build(&def);
    const joint_side side = scene_side_b(scene, find_joint(scene, "drive", 0));
    double rim[3];
    vector_cross(side.axes[0], scene_joint(scene, find_joint(scene, "drum", -1))->anchor_a, rim);
    cr_assert(lt(dbl, 0, rim[2]));
    const mabd_scene_axes* axes = scene->axes.data;
    cr_assert(axes->axis[MABD_AXIS_RX].motor.value == 3);
    mabd_scene_destroy(scene);
}

// ---- strands -----------------------------------------------------------------------------------

// Strand s is the single chain moved by s spacing along y. Fixed sheaves serve all strands and are
// as long as the strands are wide; free ones are copied.
Test(pulley, strands_are_copies_along_y) {
    for (int fixed = 0; fixed < 2; fixed++) {
        mabd_pulley_def def = make(MABD_PULLEY_ROW, 3);
        def.fixed = fixed, def.spacing = 0.05;
        mabd_scene* one = build(&def);
        def.strands = 4;
        mabd_scene* scene = build(&def);
        const int32_t links = 3 + 4 + 3 * 7 + 2 * 5, sheaves = fixed ? 3 : 12;
        cr_assert(eq(i32, mabd_scene_body_count(scene), 4 * (links + 2) + sheaves));
        cr_assert(eq(i32, mabd_scene_joint_count(scene), 4 * (links + 1) + (fixed ? 0 : 12)));
        for (int32_t i = 0; i < 4 * links; i++) {
            const double* p = scene_body(scene, find_body(scene, "link", i))->position;
            const double* q = scene_body(one, find_body(one, "link", i % links))->position;
            const double d[3] = {p[0] - q[0], p[1] - q[1] - 0.05 * (i / links), p[2] - q[2]};
            cr_assert(lt(dbl, vector_norm(d), tolerance), "link %d", i);
        }
        for (int32_t s = 0; s < 4; s++) {
            const mabd_scene_joint* joint = scene_joint(scene, find_joint(scene, "load", s));
            cr_assert(eq(i32, joint->a, find_body(scene, "load", s)));
            cr_assert(eq(i32, joint->b, find_body(scene, "link", s * links)));
        }
        for (int32_t i = 0; i < sheaves; i++) {
            const int32_t sheave = find_body(scene, "sheave", i);
            const double y = fixed ? 0.05 * 1.5 : 0.05 * (i / 3);
            cr_assert(lt(dbl, fabs(scene_body(scene, sheave)->position[1] + 2 - y), tolerance));
            const double width = scene_geom(scene, sheave)->size[1];
            cr_assert(lt(dbl, fabs(width - 0.04 - (fixed ? 0.15 : 0)), tolerance));
            cr_assert(eq(int, scene_body(scene, sheave)->motion,
                         fixed ? MABD_MOTION_FIXED : MABD_MOTION_DYNAMIC));
        }
        mabd_scene_destroy(one);
        mabd_scene_destroy(scene);
    }
}

Test(pulley, strands_of_tackles_and_winches_have_their_own_ends) {
    mabd_pulley_def def = make(MABD_PULLEY_TACKLE, 2);
    def.strands = 3;
    mabd_scene* scene = build(&def);
    for (int32_t s = 0; s < 3; s++) {
        const mabd_scene_joint* axle = scene_joint(scene, find_joint(scene, "axle", 4 * s + 2));
        cr_assert(eq(i32, axle->a, find_body(scene, "block", s)));
        cr_assert(eq(i32, axle->b, find_body(scene, "sheave", 4 * s + 2)));
        cr_assert(ge(i32, find_joint(scene, "guide", s), 0));
        cr_assert(ge(i32, find_joint(scene, "anchor", s), 0));
        cr_assert(ge(i32, find_body(scene, "counter", s), 0));
    }
    mabd_scene_destroy(scene);
    for (int fixed = 0; fixed < 2; fixed++) {
        def = make(MABD_PULLEY_WINCH, 1);
        def.strands = 3, def.fixed = fixed;
        scene = build(&def);
        for (int32_t s = 0; s < 3; s++) {
            const mabd_scene_joint* drum = scene_joint(scene, find_joint(scene, "drum", s));
            cr_assert(eq(i32, drum->a, find_body(scene, "sheave", fixed ? 0 : s)));
            cr_assert(eq(i32, drum->b, find_body(scene, "link", 3 * s)));
        }
        mabd_scene_destroy(scene);
    }
}

// ---- contact filters ---------------------------------------------------------------------------

static bool may_touch(const mabd_geom* a, const mabd_geom* b) {
    return (a->category & b->mask) != 0 && (b->category & a->mask) != 0;
}

Test(pulley, links_touch_sheaves_and_loads_touch_what_their_filters_allow) {
    for (int self = 0; self < 2; self++) {
        mabd_pulley_def def = make(MABD_PULLEY_ROW, 1);
        def.self = self, def.material.friction = 0.3, def.end_mask = self ? 1 : 0;
        mabd_scene* scene = build(&def);
        const mabd_geom* link = scene_geom(scene, find_body(scene, "link", 0));
        const mabd_geom* sheave = scene_geom(scene, find_body(scene, "sheave", 0));
        const mabd_geom* load = scene_geom(scene, find_body(scene, "load", -1));
        const mabd_geom floor = mabd_geom_make(MABD_SHAPE_PLANE, NULL, 1);
        cr_assert(may_touch(link, sheave));
        cr_assert(eq(int, may_touch(link, link), self));
        cr_assert(may_touch(sheave, sheave) == false);
        cr_assert(may_touch(load, link) == false);
        cr_assert(may_touch(load, sheave) == false);
        cr_assert(eq(int, may_touch(load, &floor), self));
        cr_assert(may_touch(link, &floor) == false);
        cr_assert(link->friction == 0.3 && sheave->friction == 0.3);
        mabd_scene_destroy(scene);
    }
}

// ---- refusals and memory -----------------------------------------------------------------------

Test(pulley, refuses_what_cannot_be) {
    REFUSES(pulley, "unknown arrangement", def.arrangement = (mabd_pulley_arrangement)9);
    REFUSES(pulley, "pulleys must be at least 1", def.pulleys = 0);
    REFUSES(pulley, "wrapped must be at least 2", def.wrapped = 1);
    REFUSES(pulley, "left must be at least 0", def.left = -1);
    REFUSES(pulley, "left must be at least 1", (def.arrangement = MABD_PULLEY_WINCH, def.left = 0));
    REFUSES(pulley, "inner must be at least 0", def.inner = -1);
    REFUSES(pulley, "right must be at least 0", def.right = -1);
    REFUSES(pulley, "strands must be at least 1", def.strands = 0);
    REFUSES(pulley, "too large", def.pulleys = INT32_MAX);
    REFUSES(pulley, "too large", def.inner = INT32_MAX);
    REFUSES(pulley, "too large", def.left = def.right = INT32_MAX);
    REFUSES(pulley, "too large", def.strands = INT32_MAX);
    REFUSES(pulley, "radius must be positive", def.radius = 0);
    REFUSES(pulley, "width must be positive", def.width = NAN);
    REFUSES(pulley, "link_radius must be positive", def.link_radius = -1);
    REFUSES(pulley, "sheave_mass must be positive", def.sheave_mass = 0);
    REFUSES(pulley, "do not fit on sheaves", def.link_radius = 0.03);
    REFUSES(pulley, "load must not be negative", def.load = -1);
    REFUSES(pulley, "counter must not be negative", def.counter = INFINITY);
    REFUSES(pulley, "mass of the block", (def.arrangement = MABD_PULLEY_TACKLE, def.load = 0));
    REFUSES(pulley, "one of fixed, angle, speed and torque",
            (def.fixed = true, def.speed = mabd_signal_constant(1)));
    REFUSES(pulley, "one of fixed, angle, speed and torque",
            def.torque = def.angle = mabd_signal_constant(1));
    REFUSES(pulley, "sheaves of a tackle move",
            (def.arrangement = MABD_PULLEY_TACKLE, def.fixed = true));
    REFUSES(pulley, "max_torque needs speed", def.max_torque = 1);
    REFUSES(pulley, "max_torque must not be negative", def.max_torque = -1);
    REFUSES(pulley, "driven needs speed or torque", def.driven = 1);
    REFUSES(pulley, "driven must be at most 1",
            (def.driven = 2, def.speed = mabd_signal_constant(1)));
    REFUSES(pulley, "spacing must be at least 0.04", (def.strands = 2, def.spacing = 0.03));
    REFUSES(pulley, "spacing must be at least 0.016",
            (def.strands = 2, def.spacing = 0.01, def.fixed = true));
    REFUSES(pulley, "position must be finite", def.position[1] = NAN);
    REFUSES(pulley, "default function", def.cookie = 1);
}

static mabd_status build_tackle(mabd_scene* scene, mabd_error* error) {
    mabd_pulley_def def = make(MABD_PULLEY_TACKLE, 2);
    def.strands = 2, def.torque = mabd_signal_constant(1), def.driven = 1;
    return mabd_generate_pulley(scene, &def, error);
}

static mabd_status build_scripted(mabd_scene* scene, mabd_error* error) {
    mabd_pulley_def def = make(MABD_PULLEY_ROW, 3);
    def.angle = mabd_signal_constant(1);
    return mabd_generate_pulley(scene, &def, error);
}

static mabd_status build_winch(mabd_scene* scene, mabd_error* error) {
    mabd_pulley_def def = make(MABD_PULLEY_WINCH, 1);
    def.name = NULL; // no names at all
    return mabd_generate_pulley(scene, &def, error);
}

Test(pulley, every_allocation_may_fail) {
    static scene_builder* const builders[] = {build_tackle, build_scripted, build_winch};
    for (int b = 0; b < 3; b++) check_failing_allocations(builders[b]);
}
