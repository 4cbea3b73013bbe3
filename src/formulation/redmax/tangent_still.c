// SPDX-License-Identifier: Apache-2.0
// A tree that stands still: nothing but inertia, forces y of rows and held axes, for the changes of
// rates or coordinates x that end a step (tangent_closing.c, tangent_impact.c),
//
//   m(q, x, y) = M(q) x - G(q)'y = 0 off the held axes
//
// m is the residual of the tree at rates 0 and accelerations x, so it has the derivatives of any
// residual. On a held component of a rotation vector m is an impulse, which acts by Y(q) like the
// force of a law in a stage: it is `push` of its freedom, so that m = 0 there too and the rows that
// multiply m, Y^-T without the held ones, need no derivative.

#include "formulation/redmax/redmax_pass.h"

#include "formulation/redmax/redmax_axes.h"

mabd_redmax_moving mabd_redmax_still_enter(mabd_redmax_pass* r) {
    mabd_redmax_gradient* g = r->g;
    mabd_redmax_sim* sim = g->sim;
    const mabd_redmax_moving moving = {r->s, sim->model, sim->freedoms, sim->body_force,
                                       sim->inputs.has_applied};
    g->still = *sim->model;
    memset(g->still.gravity, 0, sizeof g->still.gravity);
    g->still.ground_count = 0;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        mabd_redmax_freedom* f = &g->still_freedoms[k];
        *f = sim->freedoms[k];
        f->k = f->d = f->push = f->bend = 0;
        sim->guard_force[k] = sim->guard_motor[k] = 0;
    }
    sim->model = &g->still, sim->freedoms = g->still_freedoms;
    sim->body_force = g->still_force, sim->inputs.has_applied = false;
    r->s.force = sim->guard_force, r->s.motor = sim->guard_motor;
    r->s.wind = mabd_v3(0, 0, 0), r->s.still = true, r->s.loads = false;
    return moving;
}

void mabd_redmax_still_leave(mabd_redmax_pass* r, const mabd_redmax_moving* moving) {
    mabd_redmax_sim* sim = r->g->sim;
    sim->model = moving->model, sim->freedoms = moving->freedoms;
    sim->body_force = moving->body_force, sim->inputs.has_applied = moving->has_applied;
    r->s = moving->s;
}

void mabd_redmax_still_residual(mabd_redmax_pass* r) {
    mabd_redmax_sim* sim = r->g->sim;
    for (int32_t k = r->part->freedom_first; k < mabd_redmax_pass_end_freedom(r); k++) {
        sim->freedoms[k].push = 0;
    }
    mabd_redmax_pass_clear(r, sim->v);
    r->s.by_rate = false;
    mabd_redmax_residual(&r->s);
    mabd_redmax_find_forces(&r->s);
    if (r->back) {
        mabd_redmax_derive_bars(&r->s);
    } else {
        mabd_redmax_derive_forces(&r->s);
    }
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        if (sim->links[i].ball >= 0 && sim->links[i].laws) mabd_redmax_ball_derivatives(&r->s, i);
    }
}
