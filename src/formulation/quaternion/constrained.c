// SPDX-License-Identifier: Apache-2.0
// Parts whose rows determine all poses: rank J = 6 bodies.
//
// Poses do not depend on loads. They follow from the rows by Gauss-Newton [VQ eq. 33],
//
//   J'J d = -J' C                 x <- x + d
//
// over the body graph (body_graph.h): a symmetric system of 6 unknowns per body, of full rank
// whether or not rows are redundant. Velocities follow from the history. Then the multipliers are
// the weighted least-norm ones of J' l = bh^2 E [VQ eq. 32], with E without multipliers.
//
// J and the factor of the first iteration are kept while each iteration divides the errors of the
// rows by FACTOR_FALL: with poses predicted to O(h^2) they give three or four digits an iteration,
// at the cost of the values of the rows. The factor also serves the multipliers unless weights
// differ: solutions are refined with J itself.

#include "formulation/quaternion/constrained.h"

#include "base/clock.h"
#include "base/error.h"
#include "formulation/quaternion/kinematics.h"
#include "formulation/quaternion/multipliers.h"

#include <math.h>
#include <string.h>

/// Least pivot of J'J, scaled to a unit diagonal, of a part whose rows determine its poses.
#define LEAST_PIVOT ((mabd_real)1e-9)
/// Fall of the errors of rows in an iteration with which a factor is kept.
#define FACTOR_FALL ((mabd_real)100)
/// Part of the tolerance at which the iteration ends. Errors fall linearly here, and accelerations
/// and multipliers have them over h^2; the exact Newton iteration overshoots its tolerance by more.
#define SPARE ((mabd_real)1e-3)
/// Largest rotation of a body in an iteration [rad].
#define TURN_MAX_RAD ((mabd_real)1)

// ---- which parts -------------------------------------------------------------------------------

static const mabd_row_set* set_of(const mabd_quaternion_sim* sim, const mabd_quaternion_joint* j) {
    return &sim->model->row_sets[sim->model->joints[j->joint].row_set];
}

bool mabd_quaternion_may_be_constrained(const mabd_quaternion_sim* sim,
                                        const mabd_quaternion_part* part) {
    for (int32_t i = 0; i < part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[part->joint_first + i];
        for (int32_t r = 0; r < j->width; r++) {
            if (!mabd_is_free_row(set_of(sim, j), r)) return false;
        }
    }
    return part->row_count >= 6 * part->body_count;
}

// Scale the system of a graph to a unit diagonal.
static void scale_system(mabd_body_graph* g) {
    const mabd_dual_system* system = &g->system;
    mabd_real* scale = g->rest;
    for (int32_t i = 0; i < 6 * system->slot_count; i++) {
        const mabd_real d = system->D[36 * (i / 6) + 7 * (i % 6)];
        scale[i] = d > 0 ? 1 / (mabd_real)sqrt(d) : 0;
    }
    for (int32_t b = 0; b < system->slot_count; b++) {
        for (int k = 0; k < 36; k++) {
            system->D[36 * b + k] *= scale[6 * b + k / 6] * scale[6 * b + k % 6];
        }
    }
    for (int32_t e = 0; e < system->edge_count; e++) {
        for (int k = 0; k < 36; k++) {
            system->U[36 * e + k] *= scale[6 * g->from[e] + k / 6] * scale[6 * g->to[e] + k % 6];
        }
    }
}

// Body whose pivot is least or fails, -1 = all are large enough.
static int32_t find_free_body(const mabd_quaternion_solve* s) {
    mabd_body_graph* g = s->part->graph;
    int32_t slot = 0;
    mabd_body_graph_set_equal(s);
    mabd_body_graph_assemble(s);
    scale_system(g);
    if (mabd_dual_block.factor(g->solver, &g->system, &slot) != MABD_OK) return slot;
    return mabd_dual_block_least_pivot(g->solver, &slot) < (double)LEAST_PIVOT ? slot : -1;
}

mabd_status mabd_quaternion_judge_constrained(const mabd_quaternion_solve* s,
                                              const mabd_quaternion_node* node, mabd_error* error) {
    const mabd_quaternion_sim* sim = s->sim;
    mabd_quaternion_part* part = s->part;
    const mabd_solver solver = sim->def.quaternion.solver;
    char label[160];
    int32_t slot = 0;
    part->constrained = false;
    if (solver == MABD_SOLVER_GENERAL) return MABD_OK;
    if (mabd_quaternion_may_be_constrained(sim, part)) {
        mabd_quaternion_take_pose(s, node);
        mabd_quaternion_store_rows(s);
        slot = find_free_body(s);
        part->constrained = slot < 0;
    }
    if (part->constrained || solver == MABD_SOLVER_AUTO) return MABD_OK;
    const int32_t body = sim->bodies[part->body_first + slot];
    mabd_model_body_label(sim->model, body, label, sizeof label);
    return mabd_fail_at(error, MABD_ERR_UNAVAILABLE, body, -1, s->time,
                        "solver 'fully-constrained': joints and rigid servos do not determine the "
                        "pose of %s and what is joined to it; use 'auto' or 'general'",
                        label);
}

// ---- poses -------------------------------------------------------------------------------------

// Evaluate the rows at sim->pose: errors into sim->residual. Returns the largest.
static mabd_real find_errors(const mabd_quaternion_solve* s, int32_t* joint) {
    mabd_quaternion_sim* sim = s->sim;
    mabd_real* out = sim->residual + s->part->vector_first + 6 * (size_t)s->part->body_count;
    mabd_real largest = 0;
    *joint = -1;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_quaternion_joint* j = &sim->joints[s->part->joint_first + i];
        const int32_t rigid = set_of(sim, j)->rigid_count;
        mabd_real* C = out + (j->row - s->part->row_first);
        if (j->slot < 0) continue;
        mabd_quaternion_row_values(s, j, C);
        for (int32_t r = 0; r < j->width; r++) {
            if (r >= rigid) {
                sim->row_x[j->row + r] = C[r];
                C[r] -= sim->input[sim->model->joints[j->joint].coordinate + r - rigid];
            }
            if ((mabd_real)fabs(C[r]) <= largest) continue; // a value that is not finite stays
            largest = (mabd_real)fabs(C[r]), *joint = j->joint;
        }
    }
    return largest;
}

// Move sim->pose by -motion; no body turns too far.
static void move(const mabd_quaternion_solve* s, const mabd_real* motion) {
    mabd_real most = TURN_MAX_RAD;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        most = (mabd_real)fmax(most, mabd_v3_norm(mabd_v3_load(motion + 6 * (size_t)i + 3)));
    }
    const mabd_real part = -TURN_MAX_RAD / most;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        mabd_real* row = s->sim->pose + 7 * (size_t)s->sim->bodies[s->part->body_first + i];
        const mabd_vec3 way = mabd_v3_load(motion + 6 * (size_t)i);
        const mabd_vec3 turn = mabd_v3_scale(part, mabd_v3_load(motion + 6 * (size_t)i + 3));
        mabd_v3_store(mabd_v3_axpy(part, way, mabd_v3_load(row)), row);
        mabd_q_store(mabd_rigid_turn(mabd_q_load(row + 3), turn), row + 3);
    }
}

// Factor J'J at sim->pose; J stays in the matrix.
static mabd_status factor(const mabd_quaternion_solve* s) {
    int32_t slot = -1;
    mabd_quaternion_store_rows(s);
    const double clock = mabd_clock();
    mabd_body_graph_set_equal(s);
    const mabd_status status = mabd_body_graph_factor(s, 0, &slot);
    s->report->factor_seconds += mabd_clock() - clock;
    if (status == MABD_OK) return MABD_OK;
    s->report->body = slot < 0 ? -1 : s->sim->bodies[s->part->body_first + slot];
    s->report->joint = -1, s->report->reason = "the rows do not determine the pose of";
    return status;
}

static mabd_status find_poses(const mabd_quaternion_solve* s) {
    mabd_quaternion_sim* sim = s->sim;
    mabd_body_graph* g = s->part->graph;
    const mabd_real tolerance = sim->def.quaternion.newton_tolerance;
    const mabd_real* C = sim->residual + s->part->vector_first + 6 * (size_t)s->part->body_count;
    int32_t joint;
    bool fresh = false;
    mabd_real error = find_errors(s, &joint);
    for (int32_t i = 0; i < sim->def.max_iterations; i++) {
        if (i > 0 && error <= SPARE * tolerance) return MABD_OK;
        if (!fresh) MABD_TRY(factor(s));
        const double clock = mabd_clock();
        mabd_body_graph_body_forces(s, C, g->motion);
        mabd_dual_block.solve(g->solver, &g->system, g->motion);
        s->report->solve_seconds += mabd_clock() - clock;
        move(s, g->motion);
        s->report->iterations++;
        const mabd_real now = find_errors(s, &joint);
        if (error <= tolerance && now > error / 2) return MABD_OK; // round-off
        fresh = now <= error / FACTOR_FALL || now <= tolerance;
        error = now;
    }
    if (error <= tolerance) return MABD_OK;
    s->report->body = -1, s->report->joint = joint;
    s->report->reason = "the rows cannot be closed at";
    return MABD_ERR_DIVERGED;
}

// ---- multipliers -------------------------------------------------------------------------------

// True if the multipliers depend on weights that are not 1.
static bool has_weights(const mabd_quaternion_solve* s) {
    const mabd_quaternion_sim* sim = s->sim;
    if (!s->part->redundant) return false;
    if (sim->def.quaternion.multipliers != MABD_MULTIPLIERS_LEAST_NORM) return false;
    for (int32_t i = 0; i < s->part->joint_count; i++) {
        const mabd_row_set* set = set_of(sim, &sim->joints[s->part->joint_first + i]);
        for (int k = 0; k < MABD_AXIS_COUNT; k++) {
            if (set->weight[k] != 1) return true;
        }
    }
    return false;
}

// J' l = bh^2 E, both at sim->pose.
static mabd_status find_multipliers(const mabd_quaternion_solve* s) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_real* E = sim->residual + s->part->vector_first;
    mabd_quaternion_evaluate_loads(s, sim->pose);
    mabd_quaternion_store_rows(s);
    if (has_weights(s)) MABD_TRY(mabd_quaternion_factor_weighted(s));
    const double clock = mabd_clock();
    s->report->refinements += mabd_body_graph_solve(s, E, s->part->graph->motion);
    mabd_body_graph_row_forces(s, s->part->graph->motion, sim->multiplier + s->part->row_first);
    s->report->solve_seconds += mabd_clock() - clock;
    return MABD_OK;
}

mabd_status mabd_quaternion_solve_constrained(mabd_quaternion_solve* s) {
    MABD_TRY(find_poses(s));
    MABD_TRY(find_multipliers(s));
    return mabd_quaternion_check_consistency(s);
}
