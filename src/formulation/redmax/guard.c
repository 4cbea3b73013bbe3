// SPDX-License-Identifier: Apache-2.0
// The energy guard.
//
// Reduced coordinates turn the crack of a whip into very fast rotation, and an implicit step that
// converges there may still gain energy. A step, and each part of a halved one, may raise
//
//   E - work of drives, forces and scripts
//
// by at most energy_guard times its share of h times a scale, the largest kinetic energy so far
// plus weight times reach of the part. (With one budget for a whole step its first half uses it up,
// and no later part can pass.) Forces of servos, motors, loads and wind count with their means over
// the step as constant forces, which have a potential; what has none (torques and turning forces on
// bodies, prescribed freedoms) counts with its power at the end of the step; that of drives without
// limit with the power of the stages, that of limited ones with what it can be, limit times way.
// Stops and friction only take energy.
//
//   E = sum of V'MV/2 + I q'^2/2 + k q^2/2 - f q - m g.c - F.x + springs + ground
//
// Where the motion is resolved, an energy that comes back is an error of the method: bdf2 gives
// back after a fast swing what it took before, and a guard that refuses every gain and no loss is a
// brake. So a whole step may gain more by
//
//   sum over links of RESOLVED_SHARE |d|_M |V|_M     d = V_(n+1) - 2 V_n + V_(n-1)
//
// the work of a part of the second difference of the velocities, of all links with |d| below
// RESOLVED |V|, |V| the largest of the three. |d|/|V| is (w h)^2 for motion of frequency w: the
// error of a step is below it, and links that crack, where it is about 1, have no share. A free
// four-bar at 5 ms loses 0.8 % of its energy in 5 s this way, and 6.1 % if every gain above the
// first bound is taken in halves; whips of 10 to 1000 links at 10 and 20 ms stay below the energy
// of their start, and gain up to 0.6 % of it with links up to 0.1 |V| and a share of 0.2.

#include "formulation/redmax/lean.h"
#include "formulation/redmax/redmax_sim.h"

#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_springs.h"
#include "scene/signal.h"

#include <math.h>

/// Error of energies by round-off, relative to their size.
#define ENERGY_NOISE ((mabd_real)1e-12)
/// Largest second difference of a velocity over three steps, relative to the velocity, of motion
/// that the steps resolve: 28 steps a turn.
#define RESOLVED ((mabd_real)0.05)
/// Part of it that may be an error of the step; the four-bar above needs 0.1.
#define RESOLVED_SHARE ((mabd_real)0.15)

static mabd_real dot_world(const mabd_frame* W, mabd_vec3 point, mabd_vec3 force) {
    return mabd_v3_dot(force, mabd_v3_add(mabd_m3_mul(W->R, point), W->p));
}

static mabd_real signal_at(const mabd_redmax_solve* s, const mabd_model_force* own) {
    return own->signal ? mabd_signal_over(own->signal, s->from, s->h, s->time) : 1;
}

// Potential of gravity, of forces that are constant in the world, and of the wind on a body.
static mabd_real body_potential(const mabd_redmax_solve* s, int32_t i) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_frame W = mabd_frame_product(&sim->world[i], &link->principal);
    mabd_vec3 f = mabd_v3_scale(link->M.mass, mabd_v3_load(sim->model->gravity));
    mabd_real sum = 0;
    if (link->body < 0) return -mabd_v3_dot(f, W.p); // a share of a body
    f = mabd_v3_axpy(link->drag, s->wind, f);
    if (sim->inputs.has_applied)
        f = mabd_v3_add(f, mabd_v3_load(sim->inputs.applied + 6 * (size_t)link->body));
    sum -= mabd_v3_dot(f, W.p);
    for (int32_t k = sim->body_force[link->body]; k < sim->body_force[link->body + 1]; k++) {
        const mabd_model_force* own = &sim->model->forces[k];
        if (own->body_frame) continue;
        sum -= signal_at(s, own) * dot_world(&W, own->point, own->force);
    }
    return sum;
}

// Potential of the laws of a link, and kinetic energy of its armature.
static mabd_real law_potential(const mabd_redmax_solve* s, const mabd_redmax_node* node,
                               const mabd_redmax_link* link, mabd_real* kinetic) {
    const mabd_redmax_sim* sim = s->sim;
    const bool ball = link->kind == MABD_PRIMITIVE_BALL;
    const mabd_real* x = ball ? node->theta + 3 * (size_t)link->ball : node->q + link->first;
    mabd_real rho[3], sum = 0;
    for (int32_t k = 0; k < link->count; k++) rho[k] = node->v[link->first + k];
    if (ball && link->reversed) { // seen from b, in whose frame the joint's R takes those of a
        const mabd_mat3 R = mabd_q_matrix(mabd_q_load(node->turn + 4 * (size_t)link->ball));
        mabd_v3_store(mabd_m3_mul(R, mabd_v3_load(rho)), rho);
    }
    for (int32_t k = 0; k < link->count; k++) {
        const mabd_redmax_freedom* f = &sim->freedoms[link->first + k];
        const mabd_real force = s->force[link->first + k] + s->motor[link->first + k];
        *kinetic += f->I * rho[k] * rho[k] / 2;
        const mabd_real stiffness = f->control ? f->control->stiffness : 0;
        if (!f->prescribed) sum += stiffness * x[k] * x[k] / 2 - force * x[k];
    }
    return sum;
}

// Potential of loads and laws of links, and kinetic energy of armature.
static void add_potential(const mabd_redmax_solve* s, void* node, int32_t from, int32_t to,
                          mabd_real sum[2]) {
    for (int32_t i = from; i < to; i++) {
        const mabd_redmax_link* link = &s->sim->links[i];
        if (link->M.mass > 0) sum[0] += body_potential(s, i);
        sum[0] += law_potential(s, node, link, &sum[1]);
    }
}

mabd_real mabd_redmax_energy(mabd_redmax_solve* s, const mabd_redmax_node* node, mabd_real time,
                             mabd_real* kinetic) {
    mabd_redmax_sim* sim = s->sim;
    mabd_redmax_node own = *node;
    mabd_real sum[2];
    s->from_node = node, s->in_charts = false, s->stored = 0;
    mabd_redmax_load_node(s, node);
    mabd_redmax_velocities(s);
    mabd_redmax_each_range(s, add_potential, &own, sum);
    *kinetic = mabd_redmax_kinetic(s) + sum[1];
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        if (sim->model->ground_count > 0) s->stored += mabd_redmax_ground_energy(sim, i);
    }
    if (s->part->spring_count > 0) s->stored += mabd_redmax_spring_energy(sim, s->part, time);
    return sum[0] + s->stored + *kinetic;
}

// Power of the torques and turning forces on a link.
static mabd_real follower_power(const mabd_redmax_solve* s, int32_t i) {
    const mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_frame* P = &link->principal;
    mabd_real sum = 0;
    for (int32_t k = sim->body_force[link->body]; k < sim->body_force[link->body + 1]; k++) {
        const mabd_model_force* own = &sim->model->forces[k];
        const mabd_vec3 x = mabd_v3_add(mabd_m3_mul(P->R, own->point), P->p);
        const mabd_vec3 v = mabd_v3_add(sim->V[i].v, mabd_v3_cross(sim->V[i].w, x));
        const mabd_vec3 t = own->body_frame ? mabd_m3_mul(P->R, own->torque)
                                            : mabd_m3_tmul(sim->world[i].R, own->torque);
        mabd_real power = mabd_v3_dot(t, sim->V[i].w);
        if (own->body_frame) power += mabd_v3_dot(mabd_m3_mul(P->R, own->force), v);
        sum += signal_at(s, own) * power;
    }
    if (sim->inputs.has_applied) {
        const mabd_real* own = sim->inputs.applied + 6 * (size_t)link->body + 3;
        sum += mabd_v3_dot(mabd_m3_tmul(sim->world[i].R, mabd_v3_load(own)), sim->V[i].w);
    }
    return sum;
}

mabd_real mabd_redmax_work(const mabd_redmax_solve* s) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_real power = 0;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->body >= 0) power += follower_power(s, i);
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            if (sim->freedoms[k].prescribed) power += sim->r[k] * sim->v[k];
        }
    }
    return s->h * power + s->law_work;
}

// ---- the guard ---------------------------------------------------------------------------------

// Set the means of the inputs at the ends of a step.
static void set_mean_inputs(mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    s->time = s->from;
    mabd_redmax_set_inputs(s);
    for (int32_t k = s->part->freedom_first; k < s->part->freedom_first + s->part->freedom_count;
         k++) {
        sim->guard_force[k] = s->force[k] / 2, sim->guard_motor[k] = s->motor[k] / 2;
    }
    const mabd_vec3 wind = s->wind;
    s->time = s->from + s->h;
    mabd_redmax_set_inputs(s);
    for (int32_t k = s->part->freedom_first; k < s->part->freedom_first + s->part->freedom_count;
         k++) {
        sim->guard_force[k] += s->force[k] / 2, sim->guard_motor[k] += s->motor[k] / 2;
    }
    s->wind = mabd_v3_scale((mabd_real)0.5, mabd_v3_add(wind, s->wind));
}

// Twists of the links of a part at a node, to `at` of their reals of sim->x.
static void store_twists(const mabd_redmax_solve* own, const mabd_redmax_node* node, int at) {
    mabd_redmax_sim* sim = own->sim;
    mabd_redmax_solve s = *own;
    s.from_node = node, s.in_charts = false;
    mabd_redmax_load_node(&s, node);
    mabd_redmax_velocities(&s);
    for (int32_t i = s.part->link_first; i < s.part->link_first + s.part->link_count; i++) {
        mabd_sp_store(sim->V[i], sim->x + MABD_VARIATION * (size_t)i + at);
    }
}

static mabd_real weigh(const mabd_redmax_link* link, mabd_spatial V) {
    return mabd_sp_dot(V, mabd_inertia_mul(&link->M, V));
}

// What the error of a whole step may add to the energy where it resolves the motion [J].
static mabd_real resolved_error(const mabd_redmax_solve* s, const mabd_redmax_node* to) {
    const mabd_redmax_sim* sim = s->sim;
    mabd_real sum = 0;
    if (s->from_node != &sim->now || s->h != sim->def.h) return 0;
    store_twists(s, &sim->last, 0);
    store_twists(s, &sim->now, 6);
    store_twists(s, to, 12);
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        mabd_spatial d = mabd_sp_zero();
        mabd_real most = 0;
        for (int k = 0; k < 3; k++) {
            const mabd_spatial V = mabd_sp_load(sim->x + MABD_VARIATION * (size_t)i + 6 * k);
            const mabd_real size = weigh(link, V);
            d = mabd_sp_axpy(k == 1 ? -2 : 1, V, d);
            if (size > most) most = size;
        }
        const mabd_real size = weigh(link, d);
        if (size < RESOLVED * RESOLVED * most) sum += (mabd_real)sqrt(size * most);
    }
    return RESOLVED_SHARE * sum;
}

mabd_real mabd_redmax_excess(const mabd_redmax_solve* own, const mabd_redmax_node* to,
                             mabd_real* peak) {
    mabd_redmax_sim* sim = own->sim;
    mabd_redmax_solve s = *own;
    const mabd_real guard = sim->def.redmax.energy_guard;
    mabd_real before, after;
    const mabd_real work = mabd_redmax_work(own);
    set_mean_inputs(&s);
    s.force = sim->guard_force, s.motor = sim->guard_motor;
    s.time = s.from + s.h / 2;
    const mabd_real start = mabd_redmax_energy(&s, own->from_node, s.from, &before);
    const mabd_real stored = s.stored;
    const mabd_real end = mabd_redmax_energy(&s, to, s.from + s.h, &after);
    if (before > s.part->peak_after) s.part->peak_after = before;
    *peak = after > s.part->peak_after ? after : s.part->peak_after;
    const mabd_real scale = s.part->peak_after + s.part->reach + stored;
    const mabd_real allowed = guard * (s.h / sim->def.h) * scale + work + (mabd_real)fabs(work) +
                              mabd_redmax_drive_work(own, to) +
                              ENERGY_NOISE * ((mabd_real)fabs(start) + scale + *peak);
    return end - start - allowed;
}

bool mabd_redmax_gains_energy(const mabd_redmax_solve* s, const mabd_redmax_node* to) {
    mabd_real peak;
    if (!(s->sim->def.redmax.energy_guard > 0)) return false;
    const mabd_real excess = mabd_redmax_excess(s, to, &peak);
    if (!(excess <= 0) && !(excess <= resolved_error(s, to))) return true;
    s->part->peak_after = peak;
    return false;
}
