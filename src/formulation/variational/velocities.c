// SPDX-License-Identifier: Apache-2.0
// Velocities as a user sees them: momenta lack the impulses of the rows at the node, so
//
//   v = M^-1 ((P, L) + G'k),   G v = rate of the rows (0; that of a servo's target)
//
// the projection of RATTLE: one solve with K = G M^-1 G' + c at the state. A row with armature I
// has the momentum p of the armature: k = p - I x', c = 1/I. What a damper has not given of its
// half before the node acts here: with y of the last substep, k = -lack d (4 x' - 3 y), so that
// the weights (1/4, -3/4, 1) of all rates have their mean at the node, as half the force there
// has. So does the half of drag that is not stable. Other rows have no impulse. The projection is
// taken when a getter asks, and no step depends on it.

#include "formulation/variational/variational_contact.h"
#include "formulation/variational/variational_sim.h"
#include "formulation/variational/variational_solve.h"
#include "rigid/script.h"

#include <string.h>

/// Step of the rate of a target [s]: targets have no derivative of their own.
#define RATE_STEP ((mabd_real)1e-6)

// Length of the substeps of an island [s].
static mabd_real substep_of(const mabd_variational_sim* sim, int32_t island) {
    const int32_t given = sim->def.variational.substeps;
    const int32_t parts = given > 0 ? given : (int32_t)1 << sim->depth[island];
    return sim->def.h / (mabd_real)parts;
}

static void drop(mabd_variational_sim* sim, int32_t row) {
    memset(&sim->G[row], 0, sizeof sim->G[row]);
    sim->compliance[row] = 1, sim->b[row] = 0;
}

static mabd_rigid_twist script_twist(const mabd_variational_sim* sim, int32_t body) {
    const mabd_rigid_twist none = {{0, 0, 0}, {0, 0, 0}};
    const int32_t script = sim->body_script[body];
    if (script < 0) return none;
    return mabd_rigid_script_at(sim->model, &sim->model->scripts[script], sim->time).u;
}

// Rate that a rigid servo or a drive by rate wants at the state: that of its signal from the right;
// 0 of one that a program holds.
static mabd_real target_rate(const mabd_variational_sim* sim, const mabd_control* c, int32_t k) {
    const mabd_signal* signal = c->drive ? c->drive : c->servo;
    const mabd_real t = sim->time, x = sim->axis[k].x;
    if (c->limited && (x <= c->lower || x >= c->upper)) return 0; // at a stop
    if (mabd_variational_is_paced(c)) {
        if (sim->inputs.target_set[k]) return sim->inputs.target[k];
        return signal ? mabd_signal_value(signal, t) : 0;
    }
    if (sim->inputs.target_set[k] || !signal) return 0;
    return (mabd_signal_value(signal, t + RATE_STEP) - mabd_signal_value(signal, t)) / RATE_STEP;
}

// Rows of a joint, and b = rate - G M^-1 (P, L).
static void take_joint(mabd_variational_sim* sim, const mabd_rigid_twist* u, int32_t joint) {
    const mabd_model_joint* j = &sim->model->joints[joint];
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    const int32_t first = mabd_variational_first_row(sim, joint), rigid = set->rigid_count;
    const mabd_joint_view view = mabd_variational_view(sim, sim->to, sim->time, joint);
    mabd_real C[2 * MABD_JOINT_MAX_ROWS], near[MABD_JOINT_MAX_ROWS] = {0};
    mabd_rigid_row* J = sim->G + first;
    if (first < 0) return;
    for (int32_t r = 0; r < set->control_count; r++) near[r] = sim->axis[j->coordinate + r].x;
    mabd_rigid_joint_rows(&view, rigid, set->rigid, NULL, C, J);
    mabd_rigid_joint_rows(&view, set->control_count, set->control_row, near, C, J + rigid);
    for (int32_t r = 0; r < rigid + set->control_count; r++) {
        const mabd_control* c = r < rigid ? NULL : &set->control[r - rigid];
        const int32_t k = r < rigid ? -1 : j->coordinate + r - rigid;
        mabd_real rate = 0;
        sim->compliance[first + r] = 0;
        if (c && mabd_variational_is_damped_turn(set, r - rigid)) {
            J[r] = mabd_variational_turn_row(&view, set->control_row[r - rigid].axis);
        }
        const bool held = c && (mabd_variational_is_held(c) || mabd_variational_is_paced(c));
        const mabd_real lack = c ? sim->axis[k].lack * c->damping : 0;
        const mabd_real g = c ? c->armature + 4 * lack : 0;
        if (c && !held && !(g > 0)) {
            drop(sim, first + r);
            continue;
        }
        if (held) rate = target_rate(sim, c, k);
        if (c && !held) {
            sim->compliance[first + r] = 1 / g;
            rate = (sim->axis[k].armature + 3 * lack * sim->axis[k].rate) / g;
        }
        sim->b[first + r] = rate - mabd_rigid_row_rate(&J[r], u[j->a], u[j->b]);
    }
}

// Solve K k = b of an island, whose K is factored, and add M^-1 J'k to velocities u, k to shares
// (rows) unless they are null.
static void add_response(mabd_variational_sim* sim, mabd_variational_island* island,
                         mabd_rigid_twist* u, mabd_real* shares) {
    mabd_variational_report report = {0};
    const mabd_variational_solve s = {
        .sim = sim, .island = island, .report = &report, .h = sim->def.h, .time = sim->time};
    mabd_variational_solve_rows(&s);
    for (int32_t i = 0; i < island->joint_count; i++) {
        const mabd_model_joint* j = &sim->model->joints[island->joints[i]];
        const mabd_variational_range rows = mabd_variational_rows(sim, island->joints[i]);
        for (int32_t r = rows.first; r < rows.end; r++) {
            const int32_t sides[2] = {j->a, j->b};
            if (shares) shares[r] += sim->b[r];
            for (int k = 0; k < 2; k++) {
                if (!mabd_variational_moves(sim, sides[k])) continue;
                const mabd_rigid_twist by = mabd_rigid_accelerate(
                    mabd_variational_class(sim, sides[k]), k ? sim->G[r].b : sim->G[r].a);
                u[sides[k]] = mabd_rigid_twist_axpy(sim->b[r], by, u[sides[k]]);
            }
        }
    }
}

static void allow_with(mabd_variational_sim* sim, mabd_rigid_twist* w, mabd_real* shares) {
    for (int32_t k = 0; k < sim->island_count; k++) {
        mabd_variational_island* island = &sim->islands[k];
        if (!island->has_rows) continue;
        for (int32_t i = 0; i < island->joint_count; i++) {
            const mabd_model_joint* j = &sim->model->joints[island->joints[i]];
            const mabd_row_set* set = mabd_variational_set(sim, island->joints[i]);
            const int32_t first = mabd_variational_first_row(sim, island->joints[i]);
            const mabd_rigid_twist none = {{0, 0, 0}, {0, 0, 0}};
            const mabd_rigid_twist a = mabd_variational_moves(sim, j->a) ? w[j->a] : none,
                                   b = mabd_variational_moves(sim, j->b) ? w[j->b] : none;
            for (int32_t r = 0; first >= 0 && r < set->rigid_count + set->control_count; r++) {
                sim->b[first + r] = -mabd_rigid_row_rate(&sim->G[first + r], a, b);
            }
        }
        add_response(sim, island, w, shares);
    }
}

void mabd_variational_allow(void* context, mabd_rigid_twist* w) {
    allow_with(context, w, NULL);
}

static void find_island(mabd_variational_sim* sim, mabd_variational_island* island) {
    mabd_variational_report report = {0};
    const mabd_variational_solve s = {
        .sim = sim, .island = island, .report = &report, .h = sim->def.h, .time = sim->time};
    mabd_rigid_twist* u = sim->velocity;
    int32_t joint;
    for (int32_t i = 0; i < island->component_count; i++) {
        const mabd_plan_component* c = &sim->plan->components[island->components[i]];
        const int32_t first = sim->plan->slot_row[c->slot_first];
        const int32_t end = sim->plan->slot_row[c->slot_first + c->slot_count];
        memset(sim->b + first, 0, (size_t)(end - first) * sizeof *sim->b);
    }
    for (int32_t i = 0; i < island->joint_count; i++) take_joint(sim, u, island->joints[i]);
    if (!island->has_rows || mabd_variational_factor(&s, &joint) != MABD_OK) return;
    add_response(sim, island, u, sim->share);
}

// m v = P - (h/2) d (v - wind) of drag that acts as a whole after a node.
static void take_drag(const mabd_variational_sim* sim, int32_t body, mabd_rigid_twist* u) {
    const mabd_real h = substep_of(sim, sim->body_island[body]);
    const mabd_body_material* material = &mabd_variational_class(sim, body)->material;
    if (!(h * material->drag > 2 * material->mass)) return;
    const mabd_vec3 wind = mabd_rigid_wind(sim->model, sim->time, h, sim->time);
    const mabd_real part = h / 2 * material->drag / material->mass;
    u->v = mabd_v3_scale(1 / (1 + part), mabd_v3_axpy(part, wind, u->v));
}

const mabd_rigid_twist* mabd_variational_velocities(const mabd_variational_sim* self) {
    mabd_variational_sim* sim = (mabd_variational_sim*)self; // its state does not change
    if (sim->velocity_known) return sim->velocity;
    for (int32_t i = 0; i <= sim->model->body_count; i++) {
        if (!mabd_variational_moves(sim, i)) {
            sim->velocity[i] = script_twist(sim, i);
            continue;
        }
        const mabd_variational_body* now = &sim->now[i];
        const mabd_rigid_wrench momentum = {now->P, now->L};
        sim->to[i].R = mabd_q_matrix(now->q), sim->to[i].c = now->c;
        sim->velocity[i] = mabd_rigid_accelerate(mabd_variational_class(sim, i), momentum);
        take_drag(sim, i, &sim->velocity[i]);
    }
    memset(sim->share, 0, (size_t)sim->plan->row_count * sizeof *sim->share);
    mabd_variational_add_boxes(sim, sim->velocity);
    for (int32_t k = 0; k < sim->island_count; k++) find_island(sim, &sim->islands[k]);
    if (mabd_variational_press(sim) && sim->plan->row_count > 0) {
        allow_with(sim, sim->contacts->push, sim->share);
    }
    sim->velocity_known = true;
    return sim->velocity;
}
