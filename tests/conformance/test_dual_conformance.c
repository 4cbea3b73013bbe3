// SPDX-License-Identifier: Apache-2.0
// Every dual solver on every scene class it accepts, against the full KKT matrix by UMFPACK.
//
// One iteration of a step is assembled; each solver gets the same dual system, the bodies are moved
// by its multipliers, and the increments of the bodies and the multipliers of the joints are
// compared with the oracle's, joint by joint. So the plan's order of rows and its additional
// unknowns do not matter here.
//
// The measure (support/kkt_measure.h): the largest entry of the difference over the largest entry
// of the oracle's solution, component by component. Entries have the units of the oracle: A is
// dimensionless and t in m, forces in N and torques in N m; bodies are 0.1 m to 1.5 m long, so
// neither kind hides the other. Increments are compared with the motion of the component's bodies
// in the whole step: q = q_ref + dq is rounded to 2e-16 |q|, and a dq that happens to be small has
// no more digits than that leaves.
//
// Direct solvers: 1e-9 in increments and in multipliers, near-singular poses and redundant rows
// included. Elasticity keeps K positive definite there, also 1e-6 rad from the singular pose: the
// links of a flat loop deform along the line instead, and the worst errors of these classes are
// 2e-10 and 2e-12. A light body among heavy ones does cost digits, because K is a sum of 1/m: with
// mass ratios of 1e6 and rigid rows across, two rounded copies of the same K can have solutions
// that differ by more than 1e-9. So a result beyond 1e-9 is compared with that effect: every entry
// of D and U is changed by at most one unit of round-off and the system solved again; if the
// solutions differ by s, the error may be ROUNDING s, and at most one scene in ILL_PART of a class
// may need this.
//
// Iterative solvers get a tolerance of the rows; the joint errors are measured on the rows of the
// oracle. A residual e changes the multipliers by K^-1 e and the increments by H^-1 J' K^-1 e: in
// regular classes by a lever ratio, at an angle a from a singular pose by 1/a more, which no solver
// with the tolerance e alone can avoid. The error in the norm of K, in which conjugate gradients
// and Gauss-Seidel converge, is bounded for any condition: |x|_K^2 = x'Kx, the work of the forces
// on the rows. So regular classes are compared as the direct solvers are, singular ones in this
// norm. Where rows are not closed within the iterations (Gauss-Seidel: nearly always across loops;
// conjugate gradients: a light junction of 36 heavy children), the error in this norm must have
// fallen, and by more than after half as many iterations, unless it is already within the
// tolerance.
//
// Bodies have 1e9 Pa, to which these tolerances belong. Where only elasticity closes rows against
// each other, the condition of K grows with Young's modulus: at 2e11 Pa, the default of scenes, the
// direct solvers may be off by 200 times as much.
//
// A failure names class and index; MABD_CASE=index in the environment runs that scene alone.
#include "formulation/affine/affine_layout.h"
#include "formulation/affine/affine_step.h"
#include "formulation/affine/cpu/schedule.h"
#include "formulation/affine/dual_select.h"
#include "support/conformance_class.h"
#include "support/given_velocities.h"
#include "support/kkt_measure.h"
#include "support/random_scene.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT(id)      (1u << CONFORMANCE_##id)
#define PLAIN_CHAINS (BIT(CHAINS) | BIT(MANY_CHAINS) | BIT(STRAIGHT_CHAINS))
#define ALL_CHAINS   (PLAIN_CHAINS | BIT(GROUNDED_LINKAGES))
#define TREES        (ALL_CHAINS | BIT(TREES) | BIT(STARS) | BIT(JUNCTIONS) | BIT(FORESTS))
#define ALL          ((1u << CONFORMANCE_CLASSES) - 1)
#define NO_JUNCTIONS (ALL & ~BIT(JUNCTIONS))
#define ROUNDING     8.0                // factor on the effect of one unit of round-off
#define ILL_PART     10                 // one in this many scenes of a class
#define STEP         ((mabd_real)0.004) // [s]
#define YOUNG        1e9                // [Pa], of the tolerances

typedef struct solver {
    const mabd_dual_ops* ops;
    unsigned classes;   // bits 1 << conformance_id that it accepts
    double tolerance;   // tolerance of increments, multipliers and backward errors
    double gap;         // goal of iterative solvers [m, rad]
    int32_t iterations; // largest number of iterations
    double closes;      // fraction of the scenes of a class whose rows it must close
    double work;        // tolerance in the norm of K
} solver;

static const solver solvers[] = {
    {&mabd_dual_chain, ALL_CHAINS, 1e-9, 0, 0, 1, 0},
    {&mabd_dual_tree, TREES, 1e-9, 0, 0, 1, 0},
    {&mabd_dual_block, ALL, 1e-9, 0, 0, 1, 0},
    {&mabd_dual_direct, ALL, 1e-9, 0, 0, 1, 0},
    {&mabd_dual_stale, NO_JUNCTIONS, 1e-7, 1e-11, 2000, 0.9, 1e-6},
    {&mabd_dual_pcg, NO_JUNCTIONS, 1e-7, 1e-11, 2000, 0.9, 1e-6},
    {&mabd_dual_gs, NO_JUNCTIONS, 1e-6, 1e-10, 200, 0, 1e-4},
};
#define SOLVERS ((int)(sizeof solvers / sizeof solvers[0]))

// ---- one scene ---------------------------------------------------------------------------------

// The dual system of an iteration, stored while solvers overwrite it.
typedef struct system_copy {
    mabd_real *D, *U, *lambda, *q_new, *stress;
} system_copy;

typedef struct test_case {
    mabd_scene* scene;
    mabd_model* model;
    mabd_affine_sim* sim;
    system_copy older, now; // systems at the start and after the steps
    kkt_system kkt;
    mabd_real *dq, *lambda; // result of a solver, in the oracle's order
} test_case;

// Result of a solver.
typedef struct outcome {
    bool closed; // iterative: the goal is met
    double work; // |lambda - lambda*| / |lambda*| in the norm of K, the worst component
    kkt_errors errors;
} outcome;

static mabd_real* copy_of(const mabd_real* from, size_t n) {
    mabd_real* to = malloc((n + 1) * sizeof *to);
    cr_assert(to != NULL);
    if (n > 0) memcpy(to, from, n * sizeof *to);
    return to;
}

static system_copy copy_system(const mabd_affine_sim* cpu) {
    const mabd_affine_sizes* n = &cpu->sizes;
    const system_copy k = {copy_of(cpu->D, n->diagonal_reals), copy_of(cpu->U, n->edge_reals),
                           copy_of(cpu->lambda, n->rows), copy_of(cpu->q_new, 12 * (n->bodies + 1)),
                           copy_of(cpu->stress, 6 * n->bodies)};
    return k;
}

static void restore(mabd_affine_sim* cpu, const system_copy* k) {
    const mabd_affine_sizes* n = &cpu->sizes;
    memcpy(cpu->D, k->D, n->diagonal_reals * sizeof(mabd_real));
    memcpy(cpu->U, k->U, n->edge_reals * sizeof(mabd_real));
    memcpy(cpu->lambda, k->lambda, n->rows * sizeof(mabd_real));
    memcpy(cpu->q_new, k->q_new, 12 * (n->bodies + 1) * sizeof(mabd_real));
    memcpy(cpu->stress, k->stress, 6 * n->bodies * sizeof(mabd_real));
}

static void release(system_copy* k) {
    free(k->D), free(k->U), free(k->lambda), free(k->q_new), free(k->stress);
}

static system_copy assemble(mabd_affine_sim* cpu, mabd_affine_scheme scheme, int32_t step) {
    mabd_affine_begin_solve(cpu, scheme, (mabd_real)step * STEP, STEP);
    mabd_affine_predict(cpu);
    mabd_affine_assemble(cpu, MABD_PASS_FIRST);
    return copy_system(cpu);
}

static test_case case_make(const conformance_class* class, int32_t index, double young) {
    mabd_error error = {0};
    void* self = NULL;
    const mabd_allocator allocator = mabd_default_allocator();
    const int32_t steps = index % 4;
    mabd_sim_def def = mabd_default_sim_def();
    test_case c = {.scene = class->make(index)};
    def.h = STEP;
    def.integrator = MABD_INTEGRATOR_BDF2_LINEAR; // whose right-hand side the oracle has
    def.dual = MABD_DUAL_DIRECT;
    cr_assert(eq(int, mabd_scene_set_young(c.scene, (mabd_real)young, &error), MABD_OK));
    cr_assert(eq(int, mabd_model_build(c.scene, NULL, &c.model, &error), MABD_OK), "%s",
              error.text);
    cr_assert(
        eq(int,
           mabd_formulation_affine.create(c.model, &def, &allocator, c.model->start, &self, &error),
           MABD_OK));
    c.sim = self;
    give_velocities(c.sim);
    c.older = assemble(c.sim, MABD_SCHEME_EULER, 0);
    for (int32_t i = 0; i < steps; i++) {
        const mabd_status status = mabd_affine_step(c.sim, (mabd_real)i * STEP, NULL, &error);
        cr_assert(eq(int, status, MABD_OK), "%s %d: %s", class->name, (int)index, error.text);
    }
    c.now = assemble(c.sim, steps > 0 ? MABD_SCHEME_BDF2 : MABD_SCHEME_EULER, steps);
    c.kkt = kkt_solve(c.sim, c.now.stress);
    c.dq = malloc((12 * (size_t)c.kkt.bodies + 1) * sizeof *c.dq);
    c.lambda = malloc(((size_t)c.kkt.rows + 1) * sizeof *c.lambda);
    cr_assert(c.dq != NULL && c.lambda != NULL);
    return c;
}

static void case_free(test_case* c) {
    const mabd_allocator allocator = mabd_default_allocator();
    free(c->dq), free(c->lambda);
    kkt_free(&c->kkt);
    release(&c->older), release(&c->now);
    mabd_formulation_affine.destroy(c->sim, &allocator);
    mabd_model_destroy(c->model);
    mabd_scene_destroy(c->scene);
}

// ---- one solver on it --------------------------------------------------------------------------

// Compute x'Ky of a component, K of the stored system.
static double product(const mabd_dual_system* system, const system_copy* k, const mabd_real* x,
                      const mabd_real* y) {
    double sum = 0;
    for (int32_t s = 0; s < system->slot_count; s++) {
        const mabd_real* D = k->D + system->block[s];
        const int32_t row = system->row[s] - system->row_offset, w = system->width[s];
        for (int32_t i = 0; i < w * w; i++) {
            sum += (double)(x[row + i / w] * D[i] * y[row + i % w]);
        }
    }
    for (int32_t e = 0; e < system->edge_count; e++) {
        const mabd_real* U = k->U + system->edge_block[e];
        const int32_t from = system->from[e] - system->slot_offset;
        const int32_t to = system->to[e] - system->slot_offset, v = system->width[to];
        const int32_t row = system->row[from] - system->row_offset;
        const int32_t column = system->row[to] - system->row_offset;
        for (int32_t i = 0; i < system->width[from] * v; i++) {
            const int32_t r = row + i / v, c = column + i % v;
            sum += (double)(U[i] * (x[r] * y[c] + x[c] * y[r]));
        }
    }
    return sum;
}

// Copy the multipliers of the oracle in the order of the plan.
static void oracle_multipliers(const test_case* c, mabd_real* lambda) {
    const mabd_plan* plan = c->model->plan;
    for (int32_t i = 0; i < c->model->joint_count; i++) {
        const int32_t first = c->kkt.joint_row[i], slot = plan->joint_slot[i];
        for (int32_t k = first; k < c->kkt.joint_row[i + 1]; k++) {
            lambda[plan->slot_row[slot] + k - first] = c->kkt.lambda[k];
        }
    }
}

// Compute the error of the multipliers in lambda, in the norm of K.
static double work_error(const test_case* c, const system_copy* k, int32_t part) {
    const mabd_affine_sim* cpu = c->sim;
    const mabd_dual_system system = mabd_affine_dual_system(cpu, part);
    const size_t n = cpu->sizes.rows;
    mabd_real *x = copy_of(cpu->lambda, n), *error = copy_of(cpu->lambda, n);
    oracle_multipliers(c, x);
    for (size_t i = 0; i < n; i++) error[i] -= x[i];
    const mabd_real *e = error + system.row_offset, *y = x + system.row_offset;
    const double error2 = product(&system, k, e, e), size2 = product(&system, k, y, y);
    free(x), free(error);
    return size2 > 0 ? sqrt(fmax(error2, 0) / size2) : 0;
}

static void iterate(const solver* s, int32_t iterations, void* object,
                    const mabd_dual_system* system, mabd_real* lambda, outcome* out) {
    const mabd_dual_goal goal = {(mabd_real)s->gap, iterations};
    mabd_dual_report report = {0, 0};
    mabd_real* x = calloc((size_t)system->row_count, sizeof *x);
    cr_assert(x != NULL);
    s->ops->iterate(object, system, &goal, lambda, x, &report);
    memcpy(lambda, x, (size_t)system->row_count * sizeof *x);
    out->closed &= report.residual <= goal.tolerance;
    free(x);
}

// Solve one component of a stored system; its multipliers remain in lambda.
static void solve_part(const solver* s, const test_case* c, const system_copy* k,
                       int32_t iterations, int32_t part, outcome* out) {
    mabd_affine_sim* cpu = c->sim;
    const mabd_allocator allocator = mabd_default_allocator();
    const mabd_dual_system system = mabd_affine_dual_system(cpu, part);
    mabd_real* lambda = cpu->lambda + system.row_offset;
    void* object = NULL;
    int32_t bad = -1;
    cr_assert(eq(int, s->ops->create(&allocator, &system, &object), MABD_OK));
    if (s->ops->restart) { // a solver that keeps its factor: give it the factor of the start
        restore(cpu, &c->older);
        cr_assert(eq(int, s->ops->factor(object, &system, &bad), MABD_OK));
    }
    restore(cpu, k);
    const mabd_status status = s->ops->factor(object, &system, &bad);
    cr_assert(eq(int, status, MABD_OK), "%s, slot %d", s->ops->name, (int)bad);
    if (s->ops->iterate) {
        iterate(s, iterations, object, &system, lambda, out);
        out->work = fmax(out->work, work_error(c, k, part));
    } else {
        s->ops->solve(object, &system, lambda);
    }
    s->ops->destroy(&allocator, object);
}

// Solve a stored system; c->dq and c->lambda get the result.
static outcome run(const solver* s, const test_case* c, const system_copy* k, int32_t iterations) {
    mabd_affine_sim* cpu = c->sim;
    const mabd_plan* plan = c->model->plan;
    outcome out = {.closed = true};
    mabd_real* solved = copy_of(k->lambda, cpu->sizes.rows);
    for (int32_t p = 0; p < plan->component_count; p++) {
        const mabd_dual_system system = mabd_affine_dual_system(cpu, p);
        if (system.slot_count == 0) continue;
        solve_part(s, c, k, iterations, p, &out);
        memcpy(solved + system.row_offset, cpu->lambda + system.row_offset,
               (size_t)system.row_count * sizeof *solved);
    }
    restore(cpu, k);
    memcpy(cpu->lambda, solved, cpu->sizes.rows * sizeof *solved);
    free(solved);
    mabd_affine_update(cpu);
    for (size_t i = 0; i < 12 * cpu->sizes.bodies; i++) c->dq[i] = cpu->q_new[i] - cpu->ref[i];
    for (int32_t i = 0; i < c->model->joint_count; i++) {
        const int32_t first = c->kkt.joint_row[i], slot = plan->joint_slot[i];
        for (int32_t r = first; r < c->kkt.joint_row[i + 1]; r++) {
            c->lambda[r] = cpu->lambda[plan->slot_row[slot] + r - first];
        }
    }
    out.errors = kkt_measure(&c->kkt, c->dq, c->lambda);
    return out;
}

// ---- requirements ------------------------------------------------------------------------------

static void shake(mabd_real* values, size_t n, uint64_t* state) {
    for (size_t i = 0; i < n; i++) values[i] *= 1 + (mabd_real)DBL_EPSILON * random_real(state);
}

// Return the system with every entry changed by round-off; diagonal blocks stay symmetric.
static system_copy shaken(const test_case* c) {
    const mabd_plan* plan = c->model->plan;
    uint64_t state = 1;
    restore(c->sim, &c->now);
    system_copy k = copy_system(c->sim);
    shake(k.D, c->sim->sizes.diagonal_reals, &state);
    shake(k.U, c->sim->sizes.edge_reals, &state);
    for (int32_t s = 0; s < plan->slot_count; s++) {
        mabd_real* D = k.D + plan->slot_block[s];
        const int32_t w = plan->slot_width[s];
        for (int32_t i = 0; i < w * w; i++) D[i] = D[i % w * w + i / w];
    }
    return k;
}

// Measure the effect of round-off of the system on the result.
static kkt_errors sensitivity(const solver* s, const test_case* c) {
    mabd_real* dq = copy_of(c->dq, 12 * (size_t)c->kkt.bodies);
    mabd_real* lambda = copy_of(c->lambda, (size_t)c->kkt.rows);
    system_copy other = shaken(c);
    run(s, c, &other, s->iterations);
    const kkt_errors e = kkt_between(&c->kkt, c->dq, c->lambda, dq, lambda);
    release(&other);
    free(dq), free(lambda);
    return e;
}

// Results over the scenes of a class.
typedef struct tally {
    int32_t scenes, closed, ill;
    double dq, lambda, opening, work; // worst
} tally;

static void count_in(tally* t, const outcome* out) {
    t->closed++;
    t->dq = fmax(t->dq, out->errors.dq);
    t->lambda = fmax(t->lambda, out->errors.lambda);
    t->opening = fmax(t->opening, out->errors.opening);
    t->work = fmax(t->work, out->work);
}

static void check_direct(const solver* s, const test_case* c, double stiffness, const char* label,
                         tally* t) {
    const outcome out = run(s, c, &c->now, 0);
    double dq = stiffness * s->tolerance, lambda = stiffness * s->tolerance;
    if (out.errors.dq > dq || out.errors.lambda > lambda) {
        const kkt_errors rounding = sensitivity(s, c);
        dq = fmax(dq, ROUNDING * rounding.dq);
        lambda = fmax(lambda, ROUNDING * rounding.lambda);
        t->ill++;
    }
    cr_expect(le(dbl, out.errors.dq, dq), "dq, %s", label);
    cr_expect(le(dbl, out.errors.lambda, lambda), "lambda, %s", label);
    count_in(t, &out);
}

static void check_iterative(const solver* s, const test_case* c, bool is_singular,
                            const char* label, tally* t) {
    const outcome out = run(s, c, &c->now, s->iterations);
    if (!out.closed) {
        const outcome before = run(s, c, &c->now, s->iterations / 2);
        const bool falls = out.work < 1 && (out.work < before.work || out.work < s->work);
        cr_expect(falls, "work %g after %g, %s", out.work, before.work, label);
        return;
    }
    cr_expect(le(dbl, out.errors.opening, 2 * s->gap), "opening, %s", label);
    cr_expect(le(dbl, out.work, s->work), "work, %s", label);
    if (!is_singular) {
        cr_expect(le(dbl, out.errors.dq, s->tolerance), "dq, %s", label);
        cr_expect(le(dbl, out.errors.lambda, s->tolerance), "lambda, %s", label);
    }
    count_in(t, &out);
}

// ---- classes -----------------------------------------------------------------------------------

static void check_kinds(const conformance_class* class, const test_case* c, int32_t index) {
    const mabd_plan* plan = c->model->plan;
    for (int32_t p = 0; p < plan->component_count; p++) {
        if (plan->components[p].slot_count == 0) continue;
        const bool known = class->kinds >> plan->components[p].kind & 1;
        cr_expect(known, "%s %d is of kind %d", class->name, (int)index,
                  (int)plan->components[p].kind);
    }
}

// Run the solvers on one scene; iterative ones only at the modulus of their tolerances.
static void run_scene(conformance_id id, int32_t index, double young, tally* tallies) {
    const conformance_class* class = &conformance_classes[id];
    test_case c = case_make(class, index, young);
    check_kinds(class, &c, index);
    for (int i = 0; i < SOLVERS; i++) {
        const solver* s = &solvers[i];
        char label[96];
        if (!(s->classes >> id & 1)) continue;
        // they need a definite K
        if (s->ops->iterate && c.model->plan->junction_count > 0) continue;
        if (s->ops->iterate && young != YOUNG) continue;
        snprintf(label, sizeof label, "%s on %s, MABD_CASE=%d", s->ops->name, class->name,
                 (int)index);
        tallies[i].scenes++;
        if (s->ops->iterate) {
            check_iterative(s, &c, class->is_singular, label, &tallies[i]);
        } else {
            check_direct(s, &c, young / YOUNG, label, &tallies[i]);
        }
    }
    case_free(&c);
}

static void run_class(conformance_id id, double young) {
    const conformance_class* class = &conformance_classes[id];
    const char* only = getenv("MABD_CASE");
    tally tallies[SOLVERS] = {{0}};
    for (int32_t i = 0; i < class->count; i++) {
        if (!only || atoi(only) == i) run_scene(id, i, young, tallies);
    }
    for (int i = 0; i < SOLVERS; i++) {
        const tally* t = &tallies[i];
        if (t->scenes == 0) continue;
        printf(
            "%-18s %-8s %3d of %3d closed, %d ill  dq %.1e  lambda %.1e  opening %.1e  work %.1e\n",
            class->name, solvers[i].ops->name, (int)t->closed, (int)t->scenes, (int)t->ill, t->dq,
            t->lambda, t->opening, t->work);
        cr_expect(only || ILL_PART * t->ill <= t->scenes, "%d ill-conditioned", (int)t->ill);
        cr_expect(only || t->closed >= solvers[i].closes * t->scenes, "%d not closed",
                  t->scenes - t->closed);
    }
}

#define CLASS(name, id)                                                                            \
    Test(dual_conformance, name) {                                                                 \
        run_class(CONFORMANCE_##id, YOUNG);                                                        \
    }
CLASS(chains, CHAINS)
CLASS(several_chains_and_free_bodies, MANY_CHAINS)
CLASS(straight_chains, STRAIGHT_CHAINS)
CLASS(linkages_closed_through_the_ground, GROUNDED_LINKAGES)
CLASS(trees, TREES)
CLASS(stars, STARS)
CLASS(junctions, JUNCTIONS)
CLASS(several_trees_and_free_bodies, FORESTS)
CLASS(rings, RINGS)
CLASS(ladders, LADDERS)
CLASS(chains_of_four_bars, FOUR_BARS)
CLASS(nets, NETS)
CLASS(mixed_graphs, MIXED)
CLASS(several_parts_and_free_bodies, MANY_PARTS)
CLASS(floating_linkages, FLOATING_LINKAGES)

Test(dual_conformance, every_solver_has_200_scenes) {
    for (int i = 0; i < SOLVERS; i++) {
        int32_t count = 0;
        for (int id = 0; id < CONFORMANCE_CLASSES; id++) {
            if (solvers[i].classes >> id & 1) count += conformance_classes[id].count;
        }
        cr_expect(ge(i32, count, 200), "%s", solvers[i].ops->name);
    }
}

Test(dual_conformance, chains_trees_loops_and_nets_of_steel) {
    static const conformance_id ids[] = {
        CONFORMANCE_CHAINS, CONFORMANCE_GROUNDED_LINKAGES, CONFORMANCE_TREES, CONFORMANCE_JUNCTIONS,
        CONFORMANCE_RINGS,  CONFORMANCE_FOUR_BARS,         CONFORMANCE_NETS,  CONFORMANCE_MIXED};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) run_class(ids[i], MABD_DEFAULT_YOUNG);
}
