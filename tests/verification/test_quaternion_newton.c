// SPDX-License-Identifier: Apache-2.0
// The symmetric Newton of the quaternion formulation: the same poses as the exact one on chains,
// trees, stars, loops, redundant rows and nets, with every dual solver; its iterations; bits and
// memory; what is refused.

#include "formulation/quaternion/quaternion_data.h"
#include "sim/sim_object.h"
#include "support/counting_allocator.h"
#include "support/rig.h"
#include "support/sanitized.h"

#include <stdlib.h>
#include <string.h>

static mabd_sim_def newton_def(mabd_newton newton, double h) {
    mabd_sim_def def = rig_def(MABD_PRESET_EXACT, (mabd_real)h);
    def.formulation = MABD_FORMULATION_QUATERNION;
    def.quaternion.newton = newton;
    return def;
}

// ---- the same solution -------------------------------------------------------------------------

// Largest difference between the states of two simulations: positions [m], quaternions, and
// velocities times h.
static double difference(const mabd_sim* one, const mabd_sim* two, int32_t bodies, double h) {
    const size_t n = (size_t)bodies;
    mabd_real* x = malloc(2 * 13 * n * sizeof *x);
    double most = 0;
    cr_assert(x != NULL);
    mabd_sim_get_state(one, x, x + 3 * n, x + 7 * n, x + 10 * n);
    mabd_sim_get_state(two, x + 13 * n, x + 16 * n, x + 20 * n, x + 23 * n);
    for (size_t i = 0; i < 13 * n; i++) {
        most = fmax(most, fabs((double)(x[i] - x[13 * n + i])) * (i < 7 * n ? 1 : h));
    }
    free(x);
    return most;
}

typedef struct comparison {
    double difference;   // after the last step
    int iterations[2];   // exact, other
    mabd_step_info last; // of the other
} comparison;

// Run a model by the exact Newton and by another definition.
static comparison compare(const mabd_model* model, const mabd_sim_def* other, int steps) {
    mabd_sim_def def = *other;
    def.quaternion.newton = MABD_NEWTON_EXACT, def.dual = MABD_DUAL_AUTO;
    mabd_sim *exact = rig_sim(model, &def), *sim = rig_sim(model, other);
    comparison c = {0, {0, 0}, {0}};
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(exact);
        c.last = rig_step(sim);
        cr_expect(info.converged && c.last.converged && c.last.retries == 0, "%s, step %d",
                  mabd_model_name(model), i);
        c.iterations[0] += info.iterations, c.iterations[1] += c.last.iterations;
    }
    c.difference = difference(exact, sim, mabd_model_get_info(model).bodies, (double)def.h);
    printf("%-18s %-9s %.2f and %.2f iterations, difference %.1e\n", mabd_model_name(model),
           mabd_dual_name(other->dual), (double)c.iterations[0] / steps,
           (double)c.iterations[1] / steps, c.difference);
    mabd_sim_destroy(exact), mabd_sim_destroy(sim);
    return c;
}

// A net on one of its hubs.
static const char* const NET =
    "{\"name\": \"net\", \"generators\": [{\"type\": \"net\", \"name\": \"n\", \"rows\": 3,"
    " \"columns\": 4, \"spacing\": 0.1, \"hub_radius\": 0.015, \"rod_radius\": 0.006,"
    " \"pinned\": \"none\"}],"
    " \"joints\": [{\"type\": \"ball\", \"a\": \"world\", \"b\": \"n/row0/hub/0\"}]}";

static const char* const TREE =
    "{\"name\": \"tree\", \"generators\": [{\"type\": \"star\", \"name\": \"s\", \"arms\": 5,"
    " \"links\": 6, \"spin\": 5}]}";

// Each solve ends with residuals below 1e-12; 20 steps add up their errors and let them grow.
Test(quaternion_newton, symmetric_and_exact_have_the_same_solution) {
    static const struct {
        const char *scene, *name, *value; // file or text, and a parameter
        const char* solver;               // that the plan names
    } cases[] = {{"scenes/chain.json", "links", "30", "chain"},
                 {"scenes/double-pendulum.json", NULL, NULL, "chain"},
                 {TREE, NULL, NULL, "tree"},
                 {NET, NULL, NULL, "block"},
                 {"scenes/star.json", "arms", "12", "tree"}, // its hub is a junction
                 {"scenes/arm.json", NULL, NULL, "tree"},    // servos
                 {"scenes/four-bar.json", "driven", "0", "chain"},
                 {"scenes/double-four-bar.json", NULL, NULL, "block"},
                 {"scenes/scissor-ring.json", NULL, NULL, "block"},
                 {"scenes/ring.json", NULL, NULL, "block"},
                 {"scenes/hoberman-sphere.json", NULL, NULL, "block"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mabd_model* model = cases[i].scene[0] == '{'
                                ? rig_text_model(cases[i].scene)
                                : rig_file_model(cases[i].scene, cases[i].name, cases[i].value);
        const mabd_sim_def def = newton_def(MABD_NEWTON_SYMMETRIC, 0.005);
        const comparison c = compare(model, &def, AMOUNT(20, 4));
        cr_expect(c.difference < 1e-9, "%s: %g", cases[i].scene, c.difference);
        mabd_sim_plan plan;
        bool named = false;
        cr_assert(mabd_sim_get_plan(model, &def, &plan, NULL) == MABD_OK);
        for (int k = 0; k < MABD_COMPONENT_COUNT; k++) {
            named |= strstr(plan.solvers[k], cases[i].solver) != NULL;
        }
        cr_expect(named, "%s is not solved by %s", cases[i].scene, cases[i].solver);
        mabd_model_destroy(model);
    }
}

Test(quaternion_newton, every_dual_solver_has_the_same_solution) {
    const mabd_dual duals[] = {MABD_DUAL_DIRECT, MABD_DUAL_STALE, MABD_DUAL_GS, MABD_DUAL_PCG};
    mabd_model* model = rig_text_model(NET);
    for (size_t i = 0; i < sizeof duals / sizeof duals[0]; i++) {
        mabd_sim_def def = newton_def(MABD_NEWTON_SYMMETRIC, 0.005);
        def.dual = duals[i];
        const comparison c = compare(model, &def, AMOUNT(10, 2));
        cr_expect(c.difference < 1e-9, "%s: %g", mabd_dual_name(duals[i]), c.difference);
        cr_expect(eq(int, c.last.dual_iterations > 0, duals[i] != MABD_DUAL_DIRECT));
    }
    mabd_model_destroy(model);
}

// A joint without rows and with motors couples two chains in one part, which has two dual systems.
Test(quaternion_newton, motors_couple_components) {
    mabd_model* model = rig_text_model(
        "{\"name\": \"coupled\", \"gravity\": [0, 0, -9.81],"
        " \"generators\": [{\"type\": \"chain\", \"name\": \"one\", \"links\": 4},"
        "                  {\"type\": \"chain\", \"name\": \"two\", \"links\": 5,"
        "                   \"anchor\": [0, 1, 0]}],"
        " \"joints\": [{\"type\": \"free\", \"a\": \"one/2\", \"b\": \"two/3\","
        "               \"axes\": {\"tx\": {\"motor\": 0.3}, \"rz\": {\"motor\": 0.01}}}]}");
    const mabd_sim_def def = newton_def(MABD_NEWTON_SYMMETRIC, 0.005);
    const comparison c = compare(model, &def, 20);
    cr_expect(c.difference < 1e-10, "%g", c.difference);
    mabd_model_destroy(model);
}

// ---- iterations --------------------------------------------------------------------------------

// A chain of 20 links along x that hangs on a ball joint and spins about x at 20 rad/s; its joint
// axes alternate, and the last link has `ratio` times the mass of the others.
static mabd_model* spinning_chain(mabd_joint type, double ratio) {
    mabd_scene* scene = rig_scene((mabd_real)-9.81);
    mabd_error error = {0};
    for (int i = 0; i < 20; i++) {
        const mabd_real size[3] = {(mabd_real)0.1, (mabd_real)0.02, (mabd_real)0.03};
        const mabd_real density = (mabd_real)(i == 19 ? 1000 * ratio : 1000);
        const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, density);
        const mabd_real axis[3] = {0, (mabd_real)(i % 2), (mabd_real)(1 - i % 2)};
        mabd_body_def body = mabd_default_body_def();
        mabd_joint_def joint = mabd_default_joint_def();
        body.geom_count = 1, body.geoms = &geom;
        body.position[0] = (mabd_real)(0.1 * i + 0.05);
        body.angular_velocity[0] = 20;
        joint.type = i == 0 ? MABD_JOINT_BALL : type;
        joint.a = i - 1, joint.b = rig_add_body(scene, &body);
        joint.anchor[0] = (mabd_real)(0.1 * i);
        cr_assert(mabd_frame_from_axes(axis, NULL, joint.frame));
        rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
    }
    return rig_model(scene);
}

// Iterations a step at h = 10 ms to 1e-10: the exact Newton converges quadratically, the symmetric
// one linearly with a small factor. The table of the design has 3.0 to 3.7 and 4.3 to 6.1.
Test(quaternion_newton, symmetric_takes_up_to_twice_the_iterations_of_exact) {
    const mabd_joint types[3] = {MABD_JOINT_BALL, MABD_JOINT_HINGE, MABD_JOINT_UNIVERSAL};
    for (int i = 0; i < 6; i++) {
        mabd_model* model = spinning_chain(types[i / 2], i % 2 ? 1000 : 1);
        mabd_sim_def def = newton_def(MABD_NEWTON_SYMMETRIC, 0.01);
        def.integrator = MABD_INTEGRATOR_EULER;
        def.quaternion.newton_tolerance = (mabd_real)1e-10;
        const int steps = 40;
        const comparison c = compare(model, &def, steps);
        const double exact = (double)c.iterations[0] / steps,
                     ratio = (double)c.iterations[1] / (double)c.iterations[0];
        cr_expect(exact >= 2 && exact <= 4.5, "%s, %d: %g iterations",
                  mabd_joint_name(types[i / 2]), i % 2, exact);
        cr_expect(ratio > 1.2 && ratio < 2.5, "%s, %d: %g times as many",
                  mabd_joint_name(types[i / 2]), i % 2, ratio);
        mabd_model_destroy(model);
    }
}

// Dampers, springs and armature on the rotations of balls couple two bodies: 0.1 N m s over 6.7 ms
// is 40 times the moment of a link, 1.7e-5 kg m^2. Blocks of single bodies would converge as 0.98
// an iteration; the rows of the axes carry them. Axes with friction keep those blocks: a weak
// damper, and few links, since sticking links choose between branches.
Test(quaternion_newton, symmetric_converges_with_stiff_dampers_on_balls) {
    static const char* const axes[] = {
        "\"rx\": {\"damping\": 0.1}, \"ry\": {\"damping\": 0.1}, \"rz\": {\"damping\": 0.1}",
        "\"rx\": {\"damping\": 0.1, \"stiffness\": 5}, \"ry\": {\"damping\": 0.02},"
        " \"rz\": {\"stiffness\": 3}",
        "\"rx\": {\"armature\": 0.001}, \"ry\": {\"armature\": 0.002, \"stiffness\": 5},"
        " \"rz\": {\"armature\": 0.001, \"damping\": 0.1}",
        "\"rx\": {\"damping\": 1e-4, \"friction\": 0.01}, \"ry\": {\"damping\": 0.1}"};
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        char text[500];
        snprintf(text, sizeof text,
                 "{\"name\": \"damped %d\", \"gravity\": [0, 3, -9.81], \"generators\": ["
                 "{\"type\": \"chain\", \"name\": \"c\", \"links\": %d, \"axes\": {%s}}]}",
                 (int)i, i == 3 ? 2 : 12, axes[i]);
        mabd_model* model = rig_text_model(text);
        const mabd_sim_def def = newton_def(MABD_NEWTON_SYMMETRIC, 0.01);
        const int steps = AMOUNT(30, 5);
        const comparison c = compare(model, &def, steps);
        cr_expect(c.difference < 1e-9, "%s: %g", axes[i], c.difference);
        cr_expect(c.iterations[1] < 15 * steps, "%s: %d iterations", axes[i], c.iterations[1]);
        mabd_model_destroy(model);
    }
}

// ---- blocks of bodies without full rank --------------------------------------------------------

// A column of rods on ball joints (1 kg, moments 0.5, 0.5, 0.25 kg m^2, 2 m), each pressed down at
// its top by P and pushed a little to the side.
static mabd_model* column(int rods, double P) {
    mabd_scene* scene = rig_scene(0);
    mabd_error error = {0};
    for (int i = 0; i < rods; i++) {
        const mabd_real moments[6] = {(mabd_real)0.5, (mabd_real)0.5, (mabd_real)0.25, 0, 0, 0};
        mabd_body_def body = mabd_default_body_def();
        mabd_joint_def joint = mabd_default_joint_def();
        mabd_force_def force = {0};
        body.mass = 1, body.inertia_given = true;
        memcpy(body.inertia, moments, sizeof moments);
        body.position[2] = (mabd_real)(2 * i + 1);
        joint.type = MABD_JOINT_BALL, joint.a = i - 1, joint.b = rig_add_body(scene, &body);
        joint.anchor[2] = (mabd_real)(2 * i);
        rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
        force.body = joint.b, force.point[2] = 1;
        force.force[0] = (mabd_real)0.5, force.force[2] = (mabd_real)-P;
        rig_check(mabd_scene_add_force(scene, &force, &error), &error, "force");
    }
    return rig_model(scene);
}

// Take one step; returns the fallbacks.
static int press(const mabd_model* model, mabd_real* x) {
    mabd_sim_def def = newton_def(MABD_NEWTON_EXACT, 0.125);
    def.integrator = MABD_INTEGRATOR_EULER;
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_step_info info = rig_step(sim);
    cr_expect(info.converged && info.retries == 0 && info.gap < 1e-12, "gap %g", (double)info.gap);
    cr_expect(info.iterations <= 6, "%d iterations", (int)info.iterations);
    mabd_sim_get_state(sim, x, NULL, NULL, NULL);
    const mabd_quaternion_sim* self = sim->self;
    const int fallbacks = self->reports[0].fallbacks;
    mabd_sim_destroy(sim);
    return fallbacks;
}

// Solve A x = b by elimination with pivots from the diagonal; A (n x n) and x = b are overwritten.
static void solve_dense(int n, double* A, double* x) {
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            const double l = A[n * i + k] / A[n * k + k];
            for (int j = k; j < n; j++) A[n * i + j] -= l * A[n * k + j];
            x[i] -= l * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) x[k] -= A[n * k + j] * x[j];
        x[k] /= A[n * k + k];
    }
}

// The step for small angles a_k of the rods: centres x_i = sum_{k<i} 2 a_k + a_i, tops
// sum_{k<=i} 2 a_k, and each load P sinks by a_k^2 for every rod below it:
//   sum_i (m x_i dx_i/da_k) + J a_k - h^2 (2 P n_k a_k + 2 f n_k) = 0,  n_k = rods from k on
static void small_step(int n, double P, double* x) {
    double A[25], a[5];
    for (int k = 0; k < n; k++) {
        for (int l = 0; l < n; l++) {
            A[n * k + l] = k == l ? 0.5 - 2 * P * (n - k) / 64 : 0;
            for (int i = 0; i < n; i++) {
                A[n * k + l] += (k < i ? 2 : k == i) * (l < i ? 2 : l == i);
            }
        }
        a[k] = 2 * 0.5 * (n - k) / 64;
    }
    solve_dense(n, A, a);
    for (int i = 0; i < n; i++) {
        x[i] = a[i];
        for (int k = 0; k < i; k++) x[i] += 2 * a[k];
    }
}

// About its lower end a rod has 1.5 kg m^2 - h^2 P 1 m = 0 at P = 96 N: the block of a rod and its
// joint, which are eliminated first, is singular at the first iterate, and K is not. Without the
// fallback the step takes 18 iterations.
Test(quaternion_newton, a_block_without_rank_under_compression_is_solved_by_its_symmetric_part) {
    mabd_real x[15];
    double expected[5];
    mabd_model* model = column(5, 96);
    cr_expect(eq(int, press(model, x), 1));
    small_step(5, 96, expected);
    for (int i = 0; i < 5; i++) { // up to squares of the angles, 4e-3
        cr_expect(fabs((double)x[3 * i] - expected[i]) < 2e-5, "%g and %g m", (double)x[3 * i],
                  expected[i]);
    }
    mabd_model_destroy(model);
}

// ---- cost --------------------------------------------------------------------------------------

// Entries of L and U of the factor of a model with one part, less those of its matrix: the fill.
static int64_t count_fill(const mabd_model* model, int64_t* entries) {
    const mabd_sim_def def = newton_def(MABD_NEWTON_EXACT, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    const mabd_quaternion_sim* self = sim->self;
    const mabd_quaternion_part* part = &self->parts[0];
    int64_t matrix = 0;
    cr_assert(eq(i32, self->part_count, 1));
    for (int32_t i = 0; i < part->slot_count; i++) {
        matrix += self->width[part->slot_first + i] * self->width[part->slot_first + i];
    }
    for (int32_t i = 0; i < part->edge_count; i++) {
        const int32_t edge = part->edge_first + i;
        matrix += 2 * self->width[part->slot_first + self->edge_from[edge]] *
                  self->width[part->slot_first + self->edge_to[edge]];
    }
    *entries = mabd_dual_lu_count(part->lu).pattern;
    mabd_sim_destroy(sim);
    return *entries - matrix;
}

// A link has its block (36), that of its joint (9) and four of 18 between them: 117 entries. The
// only fill is that of the joint to the ground with the next joint.
#define FILL (2 * 9)
Test(quaternion_newton, chains_have_the_same_entries_for_every_link_and_no_fill_along_it) {
    for (int32_t links = 100; links <= AMOUNT(100000, 10000); links *= 10) {
        mabd_chain_def chain = mabd_default_chain_def();
        chain.links = links;
        mabd_model* model = rig_chain_model(&chain, (mabd_real)-9.81);
        int64_t entries;
        cr_expect(eq(i64, count_fill(model, &entries), FILL));
        cr_expect(eq(i64, entries, 117 * (int64_t)links - 36 + FILL)); // a joint has one body
        mabd_model_destroy(model);
    }
}

Test(quaternion_newton, trees_have_no_fill) {
    for (int32_t arms = 3; arms <= 300; arms *= 10) {
        char text[200];
        snprintf(text, sizeof text,
                 "{\"name\": \"tree\", \"generators\": [{\"type\": \"star\", \"name\": \"s\","
                 " \"arms\": %d, \"links\": 6}]}",
                 (int)arms);
        mabd_model* model = rig_text_model(text);
        int64_t entries;
        cr_expect(eq(i64, count_fill(model, &entries), 0));
        mabd_model_destroy(model);
    }
}

// ---- bits and memory ---------------------------------------------------------------------------

// Several parts side by side: chains, trees, four-bars; states saved by one simulation go on in
// another with other threads.
Test(quaternion_newton, threads_and_restored_states_give_the_same_bits) {
    const char* text = "{\"name\": \"parts\", \"gravity\": [0, 0, -9.81], \"generators\": ["
                       "{\"type\": \"chain\", \"name\": \"a\", \"links\": 7},"
                       "{\"type\": \"chain\", \"name\": \"b\", \"links\": 12,"
                       " \"anchor\": [0, 1, 0]},"
                       "{\"type\": \"net\", \"name\": \"n\", \"rows\": 3, \"columns\": 4,"
                       " \"pinned\": \"none\", \"position\": [0, 2, 0]},"
                       "{\"type\": \"star\", \"name\": \"s\", \"arms\": 9, \"links\": 2,"
                       " \"position\": [0, 5, 0]}]}";
    mabd_model* model = rig_text_model(text);
    const int32_t n = mabd_model_get_info(model).bodies;
    for (int newton = 0; newton < 2; newton++) {
        for (int dual = 0; dual < (newton ? 2 : 1); dual++) {
            mabd_sim_def def =
                newton_def(newton ? MABD_NEWTON_SYMMETRIC : MABD_NEWTON_EXACT, 0.005);
            def.dual = dual ? MABD_DUAL_STALE : MABD_DUAL_AUTO;
            mabd_sim* one = rig_sim(model, &def);
            const size_t size = mabd_sim_state_size(one);
            void* state = malloc(size);
            cr_assert(state != NULL);
            rig_run(one, 5);
            mabd_sim_save(one, state);
            rig_run(one, 5);
            for (def.threads = 1; def.threads <= 5; def.threads++) {
                mabd_sim* other = rig_sim(model, &def);
                cr_assert(mabd_sim_restore(other, state, size, NULL) == MABD_OK);
                rig_run(other, 5);
                cr_expect(difference(one, other, n, 1) == 0, "newton %d, dual %d, %d threads",
                          newton, dual, (int)def.threads);
                mabd_sim_destroy(other);
            }
            free(state);
            mabd_sim_destroy(one);
        }
    }
    mabd_model_destroy(model);
}

Test(quaternion_newton, a_symmetric_step_allocates_nothing_and_the_plan_knows_the_bytes) {
    counting_allocator counter = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    mabd_model* model = rig_file_model("scenes/scissor-ring.json", NULL, NULL);
    mabd_sim_def def = newton_def(MABD_NEWTON_SYMMETRIC, 0.005);
    def.allocator = &allocator;
    mabd_sim_plan plan;
    cr_assert(mabd_sim_get_plan(model, &def, &plan, NULL) == MABD_OK);
    mabd_sim* sim = rig_sim(model, &def);
    cr_expect(plan.bytes_sim == mabd_sim_bytes(sim), "%zu planned, %zu held", plan.bytes_sim,
              mabd_sim_bytes(sim));
    const int64_t before = counter.calls;
    rig_run(sim, 20);
    cr_expect(counter.calls == before, "%lld allocations", (long long)(counter.calls - before));
    rig_destroy(sim, model);
}

Test(quaternion_newton, every_allocation_may_fail) {
    mabd_model* model = rig_file_model("scenes/star.json", "arms", "9");
    for (int64_t fails = 0;; fails++) {
        counting_allocator counter = {.fail_at = fails};
        const mabd_allocator allocator = counting_allocator_make(&counter);
        mabd_sim_def def = newton_def(MABD_NEWTON_SYMMETRIC, 0.005);
        def.allocator = &allocator;
        mabd_sim* sim = NULL;
        const mabd_status status = mabd_sim_create(model, &def, &sim, NULL);
        if (status == MABD_OK) mabd_sim_destroy(sim);
        cr_assert(counter.live_blocks == 0 && counter.wrong_frees == 0, "failure %d", (int)fails);
        if (status == MABD_OK) {
            cr_assert(fails > 5);
            break;
        }
        cr_assert(status == MABD_ERR_MEMORY);
    }
    mabd_model_destroy(model);
}

// ---- refusals ----------------------------------------------------------------------------------

static void expect_refused(const mabd_model* model, const mabd_sim_def* def, mabd_status status,
                           const char* word) {
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    cr_expect(mabd_sim_create(model, def, &sim, &error) == status, "%s", word);
    cr_expect(sim == NULL && strstr(error.text, word), "'%s' lacks '%s'", error.text, word);
}

Test(quaternion_newton, what_it_cannot_do_is_refused_by_name) {
    mabd_model* model = rig_file_model("scenes/double-pendulum.json", NULL, NULL);
    mabd_sim_def def = newton_def(MABD_NEWTON_FROZEN, 0.01);
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE, "newton 'frozen'");
    def.quaternion.newton = MABD_NEWTON_COUNT;
    expect_refused(model, &def, MABD_ERR_ARG, "mabd_newton");
    def.quaternion.newton = MABD_NEWTON_AUTO, def.dual = MABD_DUAL_PCG;
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE, "dual");
    def = mabd_default_sim_def();
    def.quaternion.newton = MABD_NEWTON_SYMMETRIC;
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE, "quaternion.newton"); // affine
    mabd_model_destroy(model);
    model = rig_text_model(
        "{\"name\": \"heavy\", \"generators\": [{\"type\": \"chain\", \"name\": \"c\","
        " \"links\": 3, \"axes\": {\"rx\": {\"armature\": 0.1, \"friction\": 1}}}]}");
    def = newton_def(MABD_NEWTON_SYMMETRIC, 0.01);
    expect_refused(model, &def, MABD_ERR_UNAVAILABLE, "'symmetric'");
    mabd_model_destroy(model);
}

Test(quaternion_newton, auto_means_exact) {
    mabd_model* model = rig_file_model("scenes/double-pendulum.json", NULL, NULL);
    const mabd_sim_def def = newton_def(MABD_NEWTON_AUTO, 0.01);
    mabd_sim* sim = rig_sim(model, &def);
    cr_expect(mabd_sim_get_def(sim).quaternion.newton == MABD_NEWTON_EXACT);
    rig_destroy(sim, model);
}
