// SPDX-License-Identifier: Apache-2.0
// The end of a step that diverges.
//
// Rows without errors only take kinetic energy: V is projected, in the mass metric, onto what they
// allow. So bodies have at most the energy that they were given,
//
//   E = kinetic and spring energy at the start + the fall of gravity energy since
//       + works of drives, scripts, forces and wind                                 (rigid/books.h)
//
// the most of which in the run so far counts: where a swing turns, E is near 0 and errors are not;
// but for errors of positions that are taken away, and of the order h. Sweeps that do not converge
// add to it without bound, by a factor in each step. A step diverges if
//
//   the bodies that move further than a body is large, 1/2 m (|v| h)^2 + ... > 1/2 m r^2,
//
// have together more than MABD_IMPULSE_GAIN_MOST E: fast bodies alone may be shot, and gains while
// all move slowly are errors, which the energy balance tells. r: the largest radius of gyration of
// bodies that move, r^2 = tr(J)/(2 m).

#include "formulation/impulse/impulse_limits.h"
#include "formulation/impulse/impulse_sim.h"

#include "base/error.h"

#include <math.h>

static mabd_real kinetic(const mabd_model_class* c, const mabd_rigid_state* s) {
    const mabd_real* J = c->principal;
    const mabd_vec3 w = mabd_q_rotate(mabd_q_conjugate(s->q), s->omega);
    const mabd_real spin = J[0] * w.x * w.x + J[1] * w.y * w.y + J[2] * w.z * w.z;
    return (c->material.mass * mabd_v3_dot(s->v, s->v) + spin) / 2;
}

mabd_real mabd_impulse_largest_size2(const mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    mabd_real most = 0;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (!(sim->lines[i].moves > 0)) continue;
        const mabd_model_class* c = &m->classes[m->body_class[i]];
        const mabd_real* J = c->principal;
        most = (mabd_real)fmax(most, (J[0] + J[1] + J[2]) / (2 * c->material.mass));
    }
    return most;
}

// Return the gravity energy of bodies that move by forces.
static mabd_real gravity_energy(const mabd_impulse_sim* sim) {
    const mabd_model* m = sim->model;
    const mabd_vec3 g = mabd_v3_load(m->gravity);
    mabd_real sum = 0;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (!(sim->lines[i].moves > 0)) continue;
        sum -= m->classes[m->body_class[i]].material.mass * mabd_v3_dot(g, sim->c[i]);
    }
    return sum;
}

// Return the kinetic energy of bodies that move further than their size in a step, and the body
// that has most of it, -1 = none.
static mabd_real fast_energy(const mabd_impulse_sim* sim, int32_t* body) {
    const mabd_model* m = sim->model;
    const mabd_real fast2 = sim->size2 / (sim->def.h * sim->def.h);
    mabd_real sum = 0, most = 0;
    *body = -1;
    for (int32_t i = 0; i < m->body_count; i++) {
        if (!(sim->lines[i].moves > 0)) continue;
        const mabd_model_class* c = &m->classes[m->body_class[i]];
        const mabd_rigid_state s = mabd_impulse_state_of(sim, i);
        const mabd_real turn2 = 2 * sim->size2 * mabd_v3_dot(s.omega, s.omega);
        if (!(mabd_v3_dot(s.v, s.v) + turn2 > fast2)) continue; // tr(J) w^2 is at least w.J w
        const mabd_real own = kinetic(c, &s);
        if (!(own > c->material.mass * fast2 / 2)) continue;
        sum += own;
        if (own > most) most = own, *body = i;
    }
    return sum;
}

mabd_status mabd_impulse_check_gain(mabd_impulse_sim* sim, mabd_real time, mabd_error* error) {
    int32_t body;
    const mabd_rigid_books* books = &sim->books;
    const mabd_rigid_works* work = &books->work;
    const mabd_real fall = books->start[1] - gravity_energy(sim);
    const mabd_real now = fast_energy(sim, &body);
    sim->given =
        (mabd_real)fmax(sim->given, fabs(books->start[0]) + fabs(books->start[2]) + fmax(fall, 0) +
                                        fabs(work->drives) + fabs(work->scripts) +
                                        fabs(work->forces) + fmax(-work->drag, 0));
    if (!(now > MABD_IMPULSE_GAIN_MOST * sim->given)) return MABD_OK;
    char label[160];
    mabd_model_body_label(sim->model, body, label, sizeof label);
    return mabd_fail_at(error, MABD_ERR_DIVERGED, body, -1, time,
                        "the motion diverges at %s (t = %g s): bodies have %.3g J and were given "
                        "%.3g J; more substeps or sweeps, or joints 'direct', may help",
                        label, (double)time, (double)now, (double)sim->given);
}
