// SPDX-License-Identifier: Apache-2.0
// Projection of poses onto the rows of joints. Velocities that the rows allow at the start of a
// substep leave them open by O(h^2) at its end: the error of 10 links in 5 s is 33 mm with an exact
// solution as with sweeps. One step of Newton's method takes it away, in the mass metric, of poses
// only:
//
//   K lambda = -C,   dx = M^-1 J' lambda,   K, J, C at the new poses
//
// A chain of light links that carries a load a thousand times theirs is so far from linear that the
// step may be too long: it is taken if |C| falls by it, else halved, 6 times at most. (Without that
// test 10 links opened by 1.55 m.) Velocities stay as they are.

#include "formulation/impulse/impulse_direct.h"
#include "formulation/impulse/impulse_limits.h"
#include "math/frame_exp.h"

#include <math.h>
#include <string.h>

// Rows of points as derivatives of their errors: forces act at the anchor of b (rows.c), where
// body a has no point of its own while the joint is open.
static void take_to_anchor(const mabd_impulse_sim* sim, const mabd_impulse_joint* j,
                           const mabd_real* C, mabd_impulse_row* J) {
    const mabd_row_set* set = &sim->model->row_sets[sim->model->joints[j->joint].row_set];
    if (set->rigid_count == 0 || set->rigid[0].kind != MABD_ROW_POINT) return;
    const mabd_vec3 gap = mabd_v3_load(C);
    for (int r = 0; r < 3; r++) J[r].ta = mabd_v3_add(J[r].ta, mabd_v3_cross(gap, J[r].f));
}

// Write the errors of the rows of a component to x, J if wanted. Returns their sum of squares.
static mabd_real set_errors(mabd_impulse_sim* sim, const mabd_plan_component* c, bool derivatives) {
    mabd_impulse_direct* d = sim->direct;
    const mabd_impulse_row none = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    mabd_real sum = 0;
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        mabd_impulse_row J[MABD_IMPULSE_MAX_ROWS];
        mabd_real C[MABD_IMPULSE_MAX_ROWS];
        const int32_t first = d->plan->slot_row[s], width = d->plan->slot_width[s];
        memset(d->x + first, 0, (size_t)width * sizeof *d->x);
        if (d->plan->slot_joint[s] < 0) continue;
        const mabd_impulse_joint* j = &sim->joints[sim->joint_place[d->plan->slot_joint[s]]];
        mabd_impulse_joint_rows(sim, j, C, J);
        mabd_impulse_position_errors(sim, j, C);
        if (derivatives) take_to_anchor(sim, j, C, J);
        for (int32_t r = 0; r < j->width; r++) d->x[first + r] = -C[r], sum += C[r] * C[r];
        for (int32_t r = 0; r < width && derivatives; r++) {
            mabd_impulse_direct_put(sim, j->a, j->b, r < j->width ? &J[r] : &none, 0, first + r);
        }
    }
    return sum;
}

static void keep_poses(mabd_impulse_sim* sim, const mabd_plan_component* c) {
    mabd_impulse_direct* d = sim->direct;
    const mabd_rigid_mobility k = {sim->model, d->plan, d->J, d->give, d->D, d->U};
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = d->plan->component_bodies[i];
        d->way[body] = mabd_rigid_mobility_response(&k, body, d->x);
        d->kept_c[body] = sim->c[body], d->kept_q[body] = sim->q[body];
    }
}

// Move the bodies of a component by a part of their way from where they were.
static void move_bodies(mabd_impulse_sim* sim, const mabd_plan_component* c, mabd_real part) {
    const mabd_impulse_direct* d = sim->direct;
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = d->plan->component_bodies[i];
        const mabd_rigid_twist* way = &d->way[body];
        mabd_quat q = d->kept_q[body];
        if (part > 0) {
            q = mabd_q_normalize(mabd_q_product(q, mabd_q_exp(mabd_v3_scale(part, way->w))));
        }
        sim->q[body] = q;
        sim->c[body] = mabd_v3_axpy(part, way->v, d->kept_c[body]);
        sim->poses[body].c = sim->c[body], sim->poses[body].R = mabd_q_matrix(q);
    }
}

static void project_component(mabd_impulse_sim* sim, int32_t component, mabd_pool* pool) {
    mabd_impulse_direct* d = sim->direct;
    const mabd_plan_component* c = &d->plan->components[component];
    const mabd_real before = set_errors(sim, c, true);
    const mabd_real least = MABD_IMPULSE_PROJECT_LEAST * MABD_IMPULSE_PROJECT_LEAST;
    const mabd_real much = MABD_IMPULSE_PROJECT_MUCH * MABD_IMPULSE_PROJECT_MUCH;
    d->bad[component] = -1;
    if (!(before > least)) return;
    mabd_impulse_direct_reduce(sim, component, pool);
    if (d->bad[component] >= 0) return;
    mabd_impulse_direct_apply(sim, component, pool);
    keep_poses(sim, c);
    mabd_real part = 1;
    for (int k = 0; k <= MABD_IMPULSE_PROJECT_HALVINGS; k++, part /= 2) {
        move_bodies(sim, c, part);
        const mabd_real after = set_errors(sim, c, false);
        if (!(after < before)) continue;
        d->refused[component] += after > much && after > before / 4;
        return;
    }
    move_bodies(sim, c, 0);
    d->refused[component] += before > much;
}

// Say it once if a projection took less than half of an error that counts.
static void tell(mabd_impulse_sim* sim) {
    mabd_impulse_direct* d = sim->direct;
    for (int32_t i = 0; i < d->plan->component_count && !d->told; i++) {
        if (d->refused[i] == 0) continue;
        int32_t s = d->plan->components[i].slot_first;
        while (d->plan->slot_joint[s] < 0) s++; // junctions have joints around them
        d->told = true;
        mabd_warn(
            &sim->warnings, -1, d->plan->slot_joint[s],
            (int64_t)((sim->time + sim->def.h / 2) / sim->def.h),
            "joints stay open: the projection of their poses takes less than half of the error "
            "away; more substeps help");
    }
}

mabd_status mabd_impulse_project(mabd_impulse_sim* sim, mabd_error* error) {
    mabd_impulse_each_component(sim, project_component);
    tell(sim);
    return mabd_impulse_direct_check(sim, error);
}
