// SPDX-License-Identifier: Apache-2.0
// Parts of a step that keep it stable (rigid/stability.h): impulses act along the rows at the start
// of a substep, so a substep is explicit in the geometric stiffness of the joints, and it is
// explicit in springs.
//
// The depth of an island only grows in a run. It is taken from the forces of the last substep; a
// step that asks for more than it had is taken again.

#include "formulation/variational/variational_solve.h"
#include "rigid/rigid_springs.h"
#include "rigid/stability.h"

// Force of a row, its spring included: multiplier and stiffness.
static void add_row(const mabd_variational_sim* sim, const mabd_model_joint* j,
                    const mabd_joint_view* view, const mabd_rigid_row* G, mabd_real force) {
    const mabd_vec3 gap = mabd_joint_gap(view), f = mabd_v3_scale(force, G->b.f);
    if (mabd_variational_moves(sim, j->b)) {
        mabd_rigid_stability_add_force(&sim->stability[j->b], view->Xb, mabd_m3_tmul(view->Ab, f));
    }
    if (mabd_variational_moves(sim, j->a)) {
        const mabd_vec3 arm = mabd_v3_add(mabd_m3_tmul(view->Aa, gap), view->Xa);
        mabd_rigid_stability_add_force(&sim->stability[j->a], arm,
                                       mabd_m3_tmul(view->Aa, mabd_v3_scale(-1, f)));
    }
}

static void add_spring(const mabd_variational_sim* sim, const mabd_model_joint* j,
                       const mabd_rigid_row* G, mabd_real stiffness) {
    const int32_t bodies[2] = {j->a, j->b};
    mabd_real compliance = 0;
    for (int side = 0; side < 2; side++) {
        if (!mabd_variational_moves(sim, bodies[side])) continue;
        compliance += mabd_rigid_stability_compliance(mabd_variational_class(sim, bodies[side]),
                                                      side ? G->b : G->a);
    }
    for (int side = 0; side < 2; side++) {
        if (!mabd_variational_moves(sim, bodies[side])) continue;
        mabd_rigid_stability_add_spring(&sim->stability[bodies[side]], stiffness, compliance);
    }
}

static void add_joint(const mabd_variational_solve* s, int32_t joint) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_model_joint* j = &sim->model->joints[joint];
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    const int32_t first = mabd_variational_first_row(sim, joint);
    if (first < 0) return;
    const mabd_joint_view view = mabd_variational_view(sim, sim->from, s->time, joint);
    for (int32_t r = 0; r < set->rigid_count + set->control_count; r++) {
        add_row(sim, j, &view, &sim->G[first + r], sim->next_lambda[first + r]);
    }
    if (set->control_count == 0) return;
    const mabd_real* x = sim->x0 + j->coordinate;
    const mabd_rigid_joint at = mabd_rigid_joint_at(&view, set->control_count, set->control_row, x);
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        if (c->rigid || !(c->stiffness > 0)) continue;
        const mabd_rigid_row G = mabd_rigid_row_jacobian(&at, &set->control_row[r]);
        const mabd_real target = c->gain > 0 ? sim->input[j->coordinate + r] : 0;
        add_row(sim, j, &view, &G, c->offset + c->gain * target - c->stiffness * x[r]);
        add_spring(sim, j, &G, c->stiffness);
    }
}

int32_t mabd_variational_depth(const mabd_variational_solve* s, mabd_real h) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_variational_island* island = s->island;
    int32_t depth = island->depth;
    for (int32_t i = 0; i < island->body_count; i++) {
        sim->stability[island->bodies[i]] = mabd_rigid_stability_none();
    }
    for (int32_t i = 0; i < island->joint_count; i++) add_joint(s, island->joints[i]);
    for (int32_t i = 0; i < island->spring_count; i++) {
        const mabd_model_spring* own = &sim->model->springs[island->springs[i]];
        mabd_rigid_spring_stability(sim->model, own, sim->to, sim->twist, sim->stability);
    }
    for (int32_t i = 0; i < island->body_count; i++) {
        const int32_t body = island->bodies[i];
        const mabd_rigid_stability* own_forces = &sim->stability[body];
        const mabd_model_class* c = mabd_variational_class(sim, body);
        const mabd_real spin = mabd_v3_norm(sim->motion[body].V.w);
        const mabd_real bound2 = mabd_rigid_stability_bound2(own_forces, c);
        if (mabd_rigid_stability_depth(h, bound2, spin) <= depth) continue;
        const mabd_real rate2 = mabd_rigid_stability_rate2(own_forces, c);
        const int32_t own = mabd_rigid_stability_depth(h, rate2, spin);
        if (own > depth) depth = own;
    }
    return depth;
}
