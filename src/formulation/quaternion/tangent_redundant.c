// SPDX-License-Identifier: Apache-2.0
// Accelerations of redundant rows that contradict each other.
//
// The velocities at the end of a step fulfil J u = 0 only up to the error of the integrator, so
// that redundant rows of J a = b, b = -u'G u, have no common solution. The refined solve (newton.c)
// then ends at the least squares,
//
//   M a - J' l = f,   J a + mu = b,   J' mu = 0                          mu: what no a takes away
//
// since the shift is the same number on all rows. mu is of the order of that error, and l has
// mu/shift in the null space of J', which the reduction of multipliers removes (multipliers.c). As
// the pose changes, J' mu = 0 makes mu leave its space: J' dmu = -G(mu) xi. With the least dmu the
// rows get
//
//   dF = J c,   (J'J) c = -G(mu) xi
//
// besides their derivatives at a fixed mu, and parameters that move joint frames act in J' mu as
// well. Without this term forces of a door on two hinges were wrong by 8e-4 with trbdf2.

#include "formulation/quaternion/multipliers.h"
#include "formulation/quaternion/tangent_axis.h"

#include <math.h>
#include <string.h>

/// Largest mu, relative to the right-hand sides of the rows, that is round-off.
#define AGREEING_PART ((mabd_real)1e-14)

// True if a row is one of those that the solve holds: rigid rows, and controls that are held.
static bool is_held(const mabd_quaternion_point* p, const mabd_tangent_joint* at, int32_t r) {
    const int32_t k = r - at->set->rigid_count;
    return k < 0 || mabd_tangent_axis_of(p, at, k).held;
}

// Factor J'J over the rows that are held, with J of the matrix.
static mabd_status factor(const mabd_quaternion_point* p) {
    mabd_body_graph* graph = p->s.part->graph;
    int32_t slot;
    mabd_body_graph_set_equal(&p->s);
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        mabd_tangent_joint at;
        mabd_real* V = graph->V + (size_t)i * MABD_GRAPH_WIDTH * MABD_GRAPH_WIDTH;
        mabd_tangent_joint_at(p, i, &at);
        for (int32_t r = at.set->rigid_count; r < at.j->width; r++) {
            V[r * (at.j->width + 1)] = is_held(p, &at, r) ? 1 : 0;
        }
    }
    return mabd_body_graph_factor(&p->s, MABD_MULTIPLIER_SHIFT, &slot);
}

mabd_status mabd_tangent_find_contradiction(mabd_quaternion_gradient* g, mabd_quaternion_point* p) {
    const mabd_quaternion_sim* sim = g->sim;
    const mabd_quaternion_part* part = p->s.part;
    const size_t first = part->vector_first + 6 * (size_t)part->body_count;
    mabd_real most = 0, size = 0, *mu = g->contradiction + part->row_first;
    p->contradiction = NULL;
    if (!part->redundant || !part->graph) return MABD_OK;
    memcpy(mu, sim->rest + first, (size_t)part->row_count * sizeof *mu);
    for (size_t r = 0; r < (size_t)part->row_count; r++) {
        most = (mabd_real)fmax(most, fabs(mu[r]));
        size = (mabd_real)fmax(size, fabs(sim->rhs[first + r]));
    }
    if (!(most > AGREEING_PART * size)) return MABD_OK;
    p->contradiction = g->contradiction;
    return factor(p);
}

// The point of J' mu for moves of joint frames and for G.
static mabd_quaternion_point point_of(const mabd_quaternion_point* p) {
    mabd_quaternion_point out = *p;
    out.function = MABD_FUNCTION_REDUCE, out.multiplier = p->contradiction, out.y = NULL;
    return out;
}

// v (6 per body) += s G(mu) xi; backwards xi += s G(mu)' v.
static void pass_geometric(const mabd_quaternion_point* own, bool back, mabd_real s, mabd_real* v,
                           mabd_real* xi) {
    for (int32_t i = 0; i < own->s.part->joint_count; i++) {
        mabd_tangent_joint at;
        mabd_real G[4][36];
        mabd_tangent_joint_at(own, i, &at);
        const int32_t slots[2] = {at.j->slot_a, at.j->slot_b};
        memset(G, 0, sizeof G);
        mabd_tangent_geometric(own, &at, G, NULL);
        for (int k = 0; k < 4; k++) {
            const int32_t on = slots[k / 2], of = slots[k % 2];
            if (on < 0 || of < 0) continue;
            mabd_pass(back, s, G[k], 6, 6, v + 6 * (size_t)on, xi + 6 * (size_t)of);
        }
    }
}

// F rows += s J t over the rows that are held; backwards t += s J' F.
static void pass_rows(const mabd_quaternion_point* p, bool back, mabd_real s, mabd_real* F,
                      mabd_real* t) {
    for (int32_t i = 0; i < p->s.part->joint_count; i++) {
        mabd_tangent_joint at;
        mabd_tangent_joint_at(p, i, &at);
        for (int32_t r = 0; r < at.j->width; r++) {
            if (is_held(p, &at, r)) {
                mabd_tangent_row(&at, &at.J[r], back, s, F + at.first_row + r, t);
            }
        }
    }
}

void mabd_tangent_contradict(mabd_quaternion_gradient* g, const mabd_quaternion_point* p,
                             int32_t parameter, int64_t step, mabd_real* F, mabd_real* xi) {
    const mabd_quaternion_part* part = p->s.part;
    const size_t bodies = 6 * (size_t)part->body_count;
    const bool back = parameter < 0;
    const mabd_quaternion_node none = {NULL, NULL};
    if (!p->contradiction) return;
    mabd_real *c = part->graph->motion, *v = g->sim->residual + part->vector_first;
    const mabd_quaternion_point own = point_of(p);
    mabd_real one = 1;
    memset(v, 0, (bodies + (size_t)part->row_count) * sizeof *v);
    if (!back) {
        pass_geometric(&own, false, -1, v, xi);
        mabd_tangent_parameter(g, &own, parameter, step, false, v, none, &one); // -d(J'mu)
        mabd_body_graph_solve(&p->s, v, c);
        pass_rows(p, false, 1, F, c);
        return;
    }
    pass_rows(p, true, 1, F, v);
    mabd_body_graph_solve(&p->s, v, c);
    memcpy(v, c, bodies * sizeof *v);
    pass_geometric(&own, true, -1, v, xi);
    for (int32_t i = 0; i < g->parameter_count; i++) {
        mabd_tangent_parameter(g, &own, i, step, true, v, none, &g->product[i]);
    }
}
