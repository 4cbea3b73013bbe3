// SPDX-License-Identifier: Apache-2.0
// Joints of the variational formulation: momenta of a free chain of all types, rows under forces,
// coordinates under rigid servos, springs between points, drag, and the same bits over threads,
// copies and checkpoints.
#include "mabd/batch.h"
#include "support/counting_allocator.h"
#include "support/joint_rig.h"
#include "support/rig.h"

#include <string.h>

#define G 9.81

static mabd_sim_def variational_def(double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, (mabd_real)h);
    def.formulation = MABD_FORMULATION_VARIATIONAL;
    return def;
}

// A number in -1 .. 1 from a counter.
static double noise(unsigned* at) {
    *at = *at * 1664525U + 1013904223U;
    return (double)(*at >> 8) / (1 << 23) - 1;
}

// ---- momenta -----------------------------------------------------------------------------------

// A chain of boxes in general position, each joined to the next by another type, without gravity.
static mabd_model* free_chain(void) {
    mabd_scene* scene = rig_scene(0);
    unsigned seed = 7;
    int32_t last = -1;
    for (int k = 0; k <= MABD_JOINT_COUNT; k++) {
        mabd_error error = {0};
        const mabd_real size[3] = {(mabd_real)(0.3 + 0.1 * noise(&seed)),
                                   (mabd_real)(0.2 + 0.1 * noise(&seed)),
                                   (mabd_real)(0.15 + 0.05 * noise(&seed))};
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
        const mabd_real axis[3] = {noise(&seed), noise(&seed), noise(&seed)};
        mabd_body_def body = mabd_default_body_def();
        body.geom_count = 1, body.geoms = &geom;
        body.position[0] = (mabd_real)(0.4 * k), body.position[1] = (mabd_real)(0.1 * noise(&seed));
        body.angular_velocity[k % 3] = k == 0 ? 1 : 0,
                                  body.velocity[1] = k == 0 ? (mabd_real)0.5 : 0;
        cr_assert(mabd_frame_from_axes(axis, NULL, body.rotation));
        const int32_t id = rig_add_body(scene, &body);
        mabd_joint_def joint = mabd_default_joint_def();
        joint.type = (mabd_joint)(k - 1), joint.a = last, joint.b = id;
        joint.anchor[0] = (mabd_real)(0.4 * k - 0.2);
        cr_assert(mabd_frame_from_axes(axis, NULL, joint.frame));
        if (k > 0) rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
        last = id;
    }
    return rig_model(scene);
}

// Angular velocity of one body is projected on the joints at the start: all bodies move. Momenta
// are those of the impulses, so they hold to round-off whatever the iteration leaves.
static void expect_momenta(mabd_newton newton, double h, int steps) {
    mabd_model* model = free_chain();
    mabd_sim_def def = variational_def(h);
    def.variational.newton = newton;
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_measure start = mabd_sim_measure(sim);
    const double p = rig_norm(start.linear_momentum), L = rig_norm(start.angular_momentum);
    double gap = 0;
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(info.converged);
        gap = fmax(gap, fmax(info.gap, info.angle_error));
    }
    const mabd_measure end = mabd_sim_measure(sim);
    const double dp = rig_distance(start.linear_momentum, end.linear_momentum);
    const double dL = rig_distance(start.angular_momentum, end.angular_momentum);
    const double path = h * steps * p; // the origin of moments moves along the path
    printf("%s: |p| %.3f kg m/s by %.1e, |L| %.3f kg m^2/s by %.1e, gap %.1e, energy %+.1e of %.3f "
           "J\n",
           mabd_newton_name(newton), p, dp, L, dL, gap, end.energy - start.energy, start.kinetic);
    cr_assert(lt(dbl, 0.1, L));
    cr_expect(lt(dbl, dp, 1e-12 * (1 + p)));
    cr_expect(lt(dbl, dL, 1e-12 * (1 + L + path)));
    cr_expect(lt(dbl, gap, 1e-9));
    cr_expect(lt(dbl, fabs(end.energy - start.energy), 1e-2 * start.kinetic));
    rig_destroy(sim, model);
}
Test(variational_joints, a_free_chain_of_all_types_keeps_its_momenta_frozen) {
    expect_momenta(MABD_NEWTON_FROZEN, 0.01, 10000);
}
Test(variational_joints, a_free_chain_of_all_types_keeps_its_momenta_exact) {
    expect_momenta(MABD_NEWTON_EXACT, 0.01, 2000);
}

// ---- rows under forces -------------------------------------------------------------------------

// A block on each joint under changing pushes: rows stay closed to the tolerance.
Test(variational_joints, every_type_stays_closed_under_random_pushes) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        const block_def block = {.sides = {0.3, 0.2, 0.1}, .place = {0.1, -0.2, 0.05}};
        mabd_scene* scene = rig_scene(-G);
        const int32_t body = block_add(scene, &block);
        joint_add(scene, (mabd_joint)type, MABD_WORLD, body, NULL);
        mabd_model* model = rig_model(scene);
        const mabd_sim_def def = variational_def(0.005);
        mabd_sim* sim = rig_sim(model, &def);
        unsigned seed = 3;
        for (int i = 0; i < 1000; i++) {
            mabd_real wrench[6];
            mabd_error error = {0};
            for (int k = 0; k < 6; k++) wrench[k] = (mabd_real)((k < 3 ? 60 : 2) * noise(&seed));
            rig_check(mabd_sim_apply_force(sim, 1, &body, wrench, wrench + 3, &error), &error,
                      "push");
            const mabd_step_info info = rig_step(sim);
            cr_assert(info.converged && info.gap < 1e-9 && info.angle_error < 1e-9,
                      "%s, step %d: %g m, %g rad", mabd_joint_name((mabd_joint)type), i,
                      (double)info.gap, (double)info.angle_error);
        }
        rig_destroy(sim, model);
    }
}

// x = 0.3 sin 5 t on every free axis of every type that has coordinates, exactly.
Test(variational_joints, every_free_axis_follows_a_rigid_servo) {
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        for (int axis = 0; axis < MABD_AXIS_COUNT; axis++) {
            if (!joint_is_free((mabd_joint)type, axis)) continue;
            const block_def block = {.sides = {0.3, 0.2, 0.1}, .place = {0.1, -0.2, 0.05}};
            mabd_axis_def servo = {0};
            servo.servo = signal_sine(0, 0.3, 5 / (2 * acos(-1)), 0), servo.servo_rigid = true;
            mabd_scene* scene = rig_scene(-G);
            const int32_t body = block_add(scene, &block);
            joint_add_axis(scene, (mabd_joint)type, MABD_WORLD, body, (mabd_axis)axis, &servo);
            mabd_model* model = rig_model(scene);
            const mabd_sim_def def = variational_def(0.005);
            mabd_sim* sim = rig_sim(model, &def);
            double worst = 0;
            for (int i = 0; i < 60; i++) {
                rig_step(sim);
                const double target = 0.3 * sin(5 * (i + 1) * 0.005);
                worst = fmax(worst, fabs(joint_coordinate(sim, 0, axis) - target));
            }
            cr_expect(worst < 1e-9, "%s, axis %d: off by %g", mabd_joint_name((mabd_joint)type),
                      axis, worst);
            rig_destroy(sim, model);
        }
    }
}

// One rotation of a ball follows a rigid servo, dampers act on the relative angular velocity about
// both other axes: the servo is met, and the rest of the energy balance is of second order.
Test(variational_joints, a_ball_takes_a_rigid_servo_beside_dampers) {
    mabd_axis_def servo = {0}, damper = {0};
    servo.servo = signal_sine(0, 0.3, 0.8, 0), servo.servo_rigid = true, damper.damping = 0.4;
    const mabd_axis_def* const axes[MABD_AXIS_COUNT] = {NULL, NULL, NULL, &servo, &damper, &damper};
    double rest[3], worst = 0;
    for (int k = 0; k < 3; k++) {
        const block_def block = {.sides = {0.3, 0.2, 0.1}, .place = {0.1, -0.2, 0.05}};
        const double h = ldexp(0.005, -k);
        mabd_scene* scene = rig_scene(-G);
        joint_add(scene, MABD_JOINT_BALL, MABD_WORLD, block_add(scene, &block), axes);
        mabd_model* model = rig_model(scene);
        const mabd_sim_def def = variational_def(h);
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < 200 << k; i++) {
            rig_step(sim);
            const double target = 0.3 * sin(2 * acos(-1) * 0.8 * (i + 1) * h);
            worst = fmax(worst, fabs(joint_coordinate(sim, 0, MABD_AXIS_RX) - target));
        }
        const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
        rest[k] = fabs(b.integrator);
        cr_expect(b.drives != 0 && b.dampers > 1);
        rig_destroy(sim, model);
    }
    cr_expect(lt(dbl, worst, 1e-9));
    cr_expect(lt(dbl, 1.8, rig_order("rest of the balance", 0.005, 3, rest)));
}

// ---- springs and drag --------------------------------------------------------------------------

// Two balls of 1 and 3 kg on a damped spring, pulled apart by 0.2 m: the distance obeys
// m r'' = -k r - d r' with m = 3/4 kg.
static double spring_error(double h) {
    const char* text =
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"a\", \"shape\": \"sphere\", "
        "\"radius\": 0.1, \"mass\": 1, \"position\": [-0.9, 0, 0]}, {\"name\": \"b\", "
        "\"shape\": \"sphere\", \"radius\": 0.1, \"mass\": 3, \"position\": [0.3, 0, 0]}], "
        "\"springs\": [{\"points\": [{\"body\": \"a\", \"point\": [0, 0, 0]}, {\"body\": \"b\", "
        "\"point\": [0, 0, 0]}], \"stiffness\": 40, \"damping\": 1.5, \"length\": 1}]}";
    mabd_model* model = rig_text_model(text);
    mabd_sim_def def = variational_def(h);
    mabd_real x[6];
    def.variational.substeps = 1;
    mabd_sim* sim = rig_sim(model, &def);
    for (long i = 0; i < lround(1 / h); i++) rig_step(sim);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    rig_destroy(sim, model);
    const double m = 0.75, a = 1.5 / (2 * m), w = sqrt(40 / m - a * a);
    const double r = 1 + exp(-a) * 0.2 * (cos(w) + a / w * sin(w));
    return fabs(rig_distance(x, x + 3) - r);
}

Test(variational_joints, a_damped_spring_between_bodies_is_of_second_order) {
    double errors[4];
    for (int i = 0; i < 4; i++) errors[i] = spring_error(ldexp(0.02, -i));
    const double order = rig_order("damped spring", 0.02, 4, errors);
    cr_expect(order > 1.8 && order < 2.2, "order %g", order);
}

// A ball falls through air: v = -(m g/d)(1 - exp(-d t/m)).
static double drag_error(double h, double drag) {
    char text[512];
    sprintf(text,
            "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", \"shape\": \"sphere\", "
            "\"radius\": 0.1, \"mass\": 2, \"drag\": %g}]}",
            drag);
    mabd_model* model = rig_text_model(text);
    const mabd_sim_def def = variational_def(h);
    mabd_real v[3];
    mabd_sim* sim = rig_sim(model, &def);
    for (long i = 0; i < lround(1 / h); i++) rig_step(sim);
    mabd_sim_get_state(sim, NULL, NULL, v, NULL);
    rig_destroy(sim, model);
    return fabs(v[2] + 2 * G / drag * (1 - exp(-drag / 2)));
}

Test(variational_joints, drag_is_of_second_order_and_stable_beyond) {
    double errors[3];
    for (int i = 0; i < 3; i++) errors[i] = drag_error(ldexp(0.04, -i), 3);
    const double order = rig_order("drag", 0.04, 3, errors);
    cr_expect(order > 1.9 && order < 2.1, "order %g", order);
    cr_expect(lt(dbl, drag_error(0.04, 1000), 1e-12)); // terminal speed, h d/m = 20
}

// ---- scenes without a rigid motion -------------------------------------------------------------

// Two rods of 1 m between two pins that are `span` apart, under gravity. In line (span 2 m) their
// middle is free to fall to first order, and falls by g h^2/2, and no impulse along the line closes
// the ends, which part by the square of that: a step has no solution, however short it is.
static mabd_status hang_between_pins(double span, mabd_error* error) {
    char text[1024];
    const double z = -sqrt(fmax(0, 1 - span * span / 4)), turn = asin(-z) * 180 / acos(-1);
    sprintf(text,
            "{\"bodies\": [{\"name\": \"left\", \"shape\": \"box\", \"size\": [1, 0.05, 0.05], "
            "\"mass\": 1, \"position\": [%.17g, 0, %.17g], \"rotation\": {\"axis\": [0, 1, 0], "
            "\"degrees\": %.17g}}, {\"name\": \"right\", \"shape\": \"box\", \"size\": [1, 0.05, "
            "0.05], \"mass\": 1, \"position\": [%.17g, 0, %.17g], \"rotation\": {\"axis\": [0, 1, "
            "0], \"degrees\": %.17g}}], \"joints\": [{\"type\": \"ball\", \"a\": \"world\", \"b\": "
            "\"left\", \"anchor\": [0, 0, 0]}, {\"type\": \"ball\", \"a\": \"left\", \"b\": "
            "\"right\", \"anchor\": [%.17g, 0, %.17g]}, {\"type\": \"ball\", \"a\": \"right\", "
            "\"b\": \"world\", \"anchor\": [%.17g, 0, 0]}]}",
            span / 4, z / 2, turn, 0.75 * span, z / 2, -turn, span / 2, z, span);
    mabd_model* model = rig_text_model(text);
    const mabd_sim_def def = variational_def(0.005);
    mabd_sim* sim = rig_sim(model, &def);
    mabd_step_info info;
    mabd_status status = MABD_OK;
    for (int i = 0; i < 10 && status == MABD_OK; i++) status = mabd_sim_step(sim, &info, error);
    rig_destroy(sim, model);
    return status;
}

Test(variational_joints, rods_in_line_between_pins_have_no_motion_and_the_error_says_so) {
    mabd_error error = {0};
    cr_expect(eq(int, hang_between_pins(2, &error), MABD_ERR_DIVERGED));
    cr_expect_not_null(strstr(error.text, "have no rigid motion"), "%s", error.text);
    cr_expect_not_null(strstr(error.text, "affine"), "%s", error.text);
    cr_expect(eq(int, hang_between_pins(1.9, &error), MABD_OK), "%s", error.text);
}

// ---- same bits ---------------------------------------------------------------------------------

static void states_of(const mabd_sim* sim, size_t n, mabd_real* out) {
    mabd_sim_get_state(sim, out, out + 3 * n, out + 7 * n, out + 10 * n);
}

static const char* const scenes[] = {"scenes/double-four-bar.json", "scenes/arm.json",
                                     "scenes/strandbeest.json", "scenes/ring.json"};

Test(variational_joints, threads_give_the_same_bits) {
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        mabd_model* model = rig_file_model(scenes[k], NULL, NULL);
        const size_t n = (size_t)mabd_model_body_count(model);
        mabd_real* state = calloc(2 * 13 * n, sizeof *state);
        for (int threads = 1; threads <= 4; threads += 3) {
            mabd_sim_def def = variational_def(0.005);
            def.threads = threads;
            mabd_sim* sim = rig_sim(model, &def);
            for (int i = 0; i < 10; i++) rig_step(sim);
            states_of(sim, n, state + (threads > 1 ? 13 * n : 0));
            mabd_sim_destroy(sim);
        }
        cr_expect(memcmp(state, state + 13 * n, 13 * n * sizeof *state) == 0, "%s", scenes[k]);
        free(state);
        mabd_model_destroy(model);
    }
}

Test(variational_joints, a_restored_run_goes_on_bit_for_bit) {
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        mabd_model* model = rig_file_model(scenes[k], NULL, NULL);
        const size_t n = (size_t)mabd_model_body_count(model);
        mabd_real* state = calloc(2 * 13 * n, sizeof *state);
        const mabd_sim_def def = variational_def(0.005);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_error error = {0};
        for (int i = 0; i < 5; i++) rig_step(sim);
        const size_t size = mabd_sim_state_size(sim);
        void* saved = malloc(size);
        mabd_sim_save(sim, saved);
        for (int i = 0; i < 5; i++) rig_step(sim);
        states_of(sim, n, state);
        mabd_sim* other = rig_sim(model, &def);
        rig_check(mabd_sim_restore(other, saved, size, &error), &error, "restore");
        for (int i = 0; i < 5; i++) rig_step(other);
        states_of(other, n, state + 13 * n);
        cr_expect(memcmp(state, state + 13 * n, 13 * n * sizeof *state) == 0, "%s", scenes[k]);
        free(saved), free(state);
        mabd_sim_destroy(other);
        rig_destroy(sim, model);
    }
}

// ---- memory ------------------------------------------------------------------------------------

static const char* const memory_scenes[] = {"scenes/double-four-bar.json", "scenes/arm.json",
                                            "scenes/chain.json", "scenes/variational/swing.json"};

Test(variational_joints, a_step_allocates_nothing_and_the_plan_knows_the_bytes) {
    for (size_t k = 0; k < sizeof memory_scenes / sizeof memory_scenes[0]; k++) {
        counting_allocator counter = {.fail_at = -1};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_model* model = rig_file_model(memory_scenes[k], NULL, NULL);
        mabd_sim_def def = variational_def(0.005);
        mabd_sim_plan plan;
        mabd_error error = {0};
        def.allocator = &allocator;
        cr_assert(mabd_sim_get_plan(model, &def, &plan, &error) == MABD_OK, "%s", error.text);
        mabd_sim* sim = rig_sim(model, &def);
        cr_expect(plan.bytes_sim == mabd_sim_bytes(sim), "%s: %zu planned, %zu held",
                  memory_scenes[k], plan.bytes_sim, mabd_sim_bytes(sim));
        const int64_t before = counter.calls;
        for (int i = 0; i < 20; i++) rig_step(sim), (void)mabd_sim_measure(sim);
        cr_expect(counter.calls == before, "%s: %lld allocations", memory_scenes[k],
                  (long long)(counter.calls - before));
        rig_destroy(sim, model);
        cr_expect(eq(i64, counter.live_blocks, 0));
    }
}

Test(variational_joints, every_allocation_may_fail) {
    mabd_model* model = rig_file_model("scenes/double-four-bar.json", NULL, NULL);
    for (int64_t fail = 0;; fail++) {
        counting_allocator counter = {.fail_at = fail};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_sim_def def = variational_def(0.005);
        mabd_error error = {0};
        mabd_sim* sim = NULL;
        def.allocator = &allocator;
        const mabd_status status = mabd_sim_create(model, &def, &sim, &error);
        if (status == MABD_OK) {
            cr_expect(lt(i64, 5, fail));
            mabd_sim_destroy(sim);
            break;
        }
        cr_expect(eq(int, status, MABD_ERR_MEMORY), "allocation %lld", (long long)fail);
        cr_expect(sim == NULL && counter.live_blocks == 0 && counter.wrong_frees == 0,
                  "allocation %lld: %lld blocks", (long long)fail, (long long)counter.live_blocks);
    }
    mabd_model_destroy(model);
}
