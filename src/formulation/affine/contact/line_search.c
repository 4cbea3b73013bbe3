// SPDX-License-Identifier: Apache-2.0
// Eliminated contacts: which rows hold, and where friction slips. With given bounds of friction, a
// solve minimizes a convex energy,
//
//   d'Hd/2 - r'd + sum over contacts of  max(0, -g)^2/2c_n + psi(|s|)      on the joints' rows,
//   psi = s^2/2c_t up to |s| = c_t bound, linear beyond                    (Huber's function)
//
// and each linear solve is a Newton step for the branches at the last point. The step may be too
// long while branches change: the point taken is the least on the line to it. On that line the
// energy follows from the contacts alone: a solution has H d - r = J'f with the forces f of its
// branches, for all motions that the joints allow, and points between two solutions have the
// interpolated forces (f0, search_force). So with the move m of each contact and its change dm
//
//   slope(t) = sum of (f0 + t (f - f0) - law(m + t dm)) . dm
//
// which rises with t. Axes with laws are part of it (line_search_axes.c). Components that touch
// each other are a group, and each group is searched by itself. A group has converged if the
// solution is on the branches it was computed with, within the contact tolerance; a force off its
// law counts as the displacement of its row under that force.
//
// Bounds of friction follow from the normal forces at the end of the last step (Tresca's law); for
// new contacts from the first solve, which is made without friction. Friction dissipates energy for
// any bound. Up to friction_updates times, once the search is close, bounds follow the normal
// forces of this step: Coulomb's law is the limit. The difference that remains is reported
// (friction_lag).

#include "formulation/affine/contact/line_search.h"

#include "formulation/affine/cpu/condense.h"
#include "formulation/affine/data.h"
#include "formulation/affine/element/affine_body.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/element/turn_law.h"
#include "formulation/affine/limits.h"

#include "contact/bounds.h"

#include <math.h>
#include <string.h>

typedef struct search_work {
    mabd_affine_sim* sim;
    mabd_affine_contacts* c;
    mabd_real softness;
    int32_t round;
    mabd_real bounds, behind; // sums for the lag [N]
    mabd_affine_contact_report report;
} search_work;

static mabd_vec3 moved(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X) {
    return mabd_v3_sub(mabd_affine_point_of(sim->q_new, body, X),
                       mabd_affine_point_of(sim->ref, body, X));
}

// Displacement of b over a from the reference to the solution.
static mabd_vec3 move_of(const mabd_affine_sim* sim, const mabd_affine_contact* p) {
    const mabd_vec3 move = moved(sim, p->b, p->Xb);
    return p->moving ? mabd_v3_sub(move, moved(sim, p->a, p->Xa)) : move;
}

static mabd_affine_contact_line* line_of(const search_work* w, const mabd_affine_contact* p) {
    return &w->c->by_component.line[w->c->by_component.group[w->c->by_body.component[p->b]]];
}

static mabd_affine_contact_line* group_line(const search_work* w, int32_t i) {
    return &w->c->by_component.line[((const int32_t*)w->c->by_component.groups.data)[i]];
}

// ---- the solution ------------------------------------------------------------------------------

// Displacement of a row under a force off its law [m]; 0 if the force is small relative to the
// whole.
static mabd_real displacement_of(const search_work* w, const mabd_affine_contact* p, mabd_vec3 off,
                                 mabd_vec3 whole) {
    if (mabd_v3_norm(off) <= w->c->search.force_tolerance * mabd_v3_norm(whole)) return 0;
    const mabd_real along = mabd_v3_dot(p->n, off);
    const mabd_real across = mabd_v3_norm(mabd_v3_axpy(-along, p->n, off));
    return (mabd_real)fmax(fabs(along) * p->own_n, across * p->own_t);
}

static mabd_real wanted_bound(const mabd_affine_contact* p) {
    return p->friction * (p->force[0] > 0 ? p->force[0] : 0);
}

// Forces at the solution, their distance from the law, and from the law with the bound that follows
// from them.
static void evaluate(search_work* w, mabd_affine_contact* p) {
    const mabd_vec3 move = p->solved_move = move_of(w->sim, p);
    const mabd_vec3 linear = mabd_affine_law_linear(p, w->softness, move);
    mabd_affine_contact_along(p, linear, p->force);
    if (p->bound_unknown) p->bound = wanted_bound(p), p->bound_unknown = false;
    const mabd_vec3 law = mabd_affine_law_force(p, w->softness, move);
    const mabd_real miss = displacement_of(w, p, mabd_v3_sub(linear, law), linear), old = p->bound;
    p->bound = wanted_bound(p);
    const mabd_vec3 next = mabd_affine_law_force(p, w->softness, move);
    p->bound = old;
    const mabd_real lag = displacement_of(w, p, mabd_v3_sub(next, law), linear);
    mabd_affine_contact_line* line = line_of(w, p);
    if (miss > line->miss) line->miss = miss;
    if (lag > line->lag) line->lag = lag;
    w->bounds += wanted_bound(p) + old, w->behind += (mabd_real)fabs(wanted_bound(p) - old);
    w->report.changed += miss > MABD_LAW_ERROR_PART * w->c->search.tolerance;
    if (miss > w->report.miss) w->report.miss = miss, w->report.body = p->b;
}

static void evaluate_all(search_work* w) {
    mabd_affine_contacts* c = w->c;
    for (int32_t i = 0; i < c->by_component.groups.count; i++) {
        mabd_affine_contact_line* line = group_line(w, i);
        line->open = line->searched = line->update = false;
        line->t = line->high = 1, line->low = line->slope = line->up = line->down = 0;
        line->miss = line->lag = 0;
    }
    for (int32_t i = 0; i < c->list.current.count; i++) {
        mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (p->eliminated) evaluate(w, p);
    }
    const mabd_real little = MABD_LAW_ERROR_PART * c->search.tolerance;
    for (int32_t i = 0; i < c->by_component.groups.count; i++) {
        mabd_affine_contact_line* line = group_line(w, i);
        const bool late = line->lag > little && line->updates < c->search.friction_updates;
        line->update =
            late && line->miss <= (mabd_real)fmax(little, MABD_BOUND_UPDATE_PART * line->lag);
        line->open = late || line->miss > little;
        line->searched = line->open;
        line->updates += line->update;
        w->report.changed += line->update;
        if (line->update && line->lag > w->report.miss) w->report.miss = line->lag;
    }
    if (w->bounds > 0) w->report.lag = w->behind / w->bounds;
}

// ---- the line search ---------------------------------------------------------------------------

// True if the law of a contact is linear between two displacements: it presses at both or at none,
// and sticks at both.
static bool is_straight(const search_work* w, const mabd_affine_contact* p, mabd_vec3 from,
                        mabd_vec3 to) {
    const mabd_real stick = w->softness * p->own_t * p->bound;
    if ((p->gap + mabd_v3_dot(p->n, from) < 0) != (p->gap + mabd_v3_dot(p->n, to) < 0))
        return false;
    if (!(p->bound > 0)) return true;
    return mabd_v3_norm(mabd_affine_law_slip(p, from)) <= stick &&
           mabd_v3_norm(mabd_affine_law_slip(p, to)) <= stick;
}

// Slope of a contact at one end of the line: (force - law) . dm
static mabd_real end_slope(const search_work* w, const mabd_affine_contact* p, mabd_vec3 force,
                           mabd_vec3 at, mabd_vec3 step) {
    return mabd_v3_dot(mabd_v3_sub(force, mabd_affine_law_force(p, w->softness, at)), step);
}

// Sum the slopes of contacts that are straight: they are linear in t.
static void sum_straight(const search_work* w) {
    mabd_affine_contacts* c = w->c;
    for (int32_t i = 0; i < c->by_component.groups.count; i++) {
        group_line(w, i)->straight[0] = group_line(w, i)->straight[1] = 0;
    }
    for (int32_t i = 0; i < c->list.current.count; i++) {
        mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        mabd_affine_contact_line* line = line_of(w, p);
        if (!p->eliminated || !line->searched) continue;
        const mabd_vec3 from = p->search_move, to = p->solved_move, step = mabd_v3_sub(to, from);
        p->bent = !is_straight(w, p, from, to);
        if (p->bent) continue;
        line->straight[0] += end_slope(w, p, p->search_force, from, step);
        line->straight[1] += end_slope(w, p, mabd_affine_contact_force(p), to, step);
    }
}

static void find_slopes(const search_work* w) {
    mabd_affine_contacts* c = w->c;
    for (int32_t i = 0; i < c->by_component.groups.count; i++) {
        mabd_affine_contact_line* line = group_line(w, i);
        line->slope = line->straight[0] + line->t * (line->straight[1] - line->straight[0]);
    }
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (!p->bent || !p->eliminated) continue;
        mabd_affine_contact_line* line = line_of(w, p);
        if (!line->searched) continue;
        const mabd_vec3 step = mabd_v3_sub(p->solved_move, p->search_move);
        mabd_vec3 force = mabd_v3_sub(mabd_affine_contact_force(p), p->search_force);
        force = mabd_v3_axpy(line->t, force, p->search_force);
        const mabd_vec3 at = mabd_v3_axpy(line->t, step, p->search_move);
        force = mabd_v3_sub(force, mabd_affine_law_force(p, w->softness, at));
        line->slope += mabd_v3_dot(force, step);
    }
    mabd_affine_axes_add_slopes(w->sim);
}

// Next estimate of the zero of a rising function between low and high, with the values below and
// above. The value at an end that stays for a second time counts half (Illinois).
static void next_point(mabd_affine_contact_line* line) {
    const bool rises = line->slope > 0;
    *(rises ? &line->high : &line->low) = line->t;
    *(rises ? &line->above : &line->below) = line->slope;
    if (rises == line->rose) *(rises ? &line->below : &line->above) /= 2;
    line->rose = rises;
    line->t = line->low + (line->high - line->low) * line->below / (line->below - line->above);
}

// Slopes at the end and at the start of the line; true if some group has its least point between.
static bool evaluate_ends(const search_work* w) {
    bool any = false;
    sum_straight(w);
    find_slopes(w);
    for (int32_t i = 0; i < w->c->by_component.groups.count; i++) {
        mabd_affine_contact_line* line = group_line(w, i);
        if (line->searched && !(line->slope > 0))
            line->searched = false; // the energy falls up to the end
        line->above = line->slope;
        if (line->searched) line->t = 0;
        any |= line->searched;
    }
    if (any) find_slopes(w);
    for (int32_t i = 0; any && i < w->c->by_component.groups.count; i++) {
        mabd_affine_contact_line* line = group_line(w, i);
        if (!line->searched) continue;
        line->below = line->first = line->slope;
        line->rose = false;
        if (!(line->slope < 0)) line->searched = false; // no motion, up to round-off
        line->t = line->low + (line->high - line->low) * line->below / (line->below - line->above);
    }
    return any;
}

// Search all groups at once, until the slope is MABD_LINE_SEARCH_SLOPE_PART of that at the start.
static void search(const search_work* w) {
    bool any = evaluate_ends(w);
    for (int k = 0; any && k < MABD_LINE_SEARCH_MAX_POINTS; k++) {
        find_slopes(w);
        any = false;
        for (int32_t i = 0; i < w->c->by_component.groups.count; i++) {
            mabd_affine_contact_line* line = group_line(w, i);
            if (!line->searched) continue;
            if (fabs(line->slope) <= -MABD_LINE_SEARCH_SLOPE_PART * line->first) {
                line->searched = false;
                continue;
            }
            next_point(line);
            any = true;
        }
    }
}

// ---- the next branches -------------------------------------------------------------------------

static void choose_branch(const search_work* w, mabd_affine_contact* p) {
    const mabd_real g = p->gap + mabd_v3_dot(p->n, p->search_move);
    const mabd_vec3 s = mabd_affine_law_slip(p, p->search_move);
    p->slip_length = mabd_v3_norm(s);
    if (p->slip_length > 0) p->slip_direction = mabd_v3_scale(1 / p->slip_length, s);
    const bool sticks = p->slip_length <= w->softness * p->own_t * p->bound;
    p->pressed = g < 0;
    p->friction_state = !(p->bound > 0) ? MABD_FRICTION_NONE
                        : sticks        ? MABD_FRICTION_STICK
                                        : MABD_FRICTION_SLIP;
}

// Relaxation of bounds from their last changes: with off = wanted - bound now and before,
// relax <- -relax (before . change)/|change|^2 over the contacts of a group (Irons and Tuck).
static void relax_bounds(const search_work* w) {
    mabd_affine_contacts* c = w->c;
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (!p->eliminated || !line_of(w, p)->update || line_of(w, p)->updates < 2) continue;
        const mabd_real scale = p->own_t * p->own_t;
        const mabd_real change = wanted_bound(p) - p->bound - p->bound_error;
        line_of(w, p)->up -= p->bound_error * change * scale;
        line_of(w, p)->down += change * change * scale;
    }
    for (int32_t i = 0; i < c->by_component.groups.count; i++) {
        mabd_affine_contact_line* line = group_line(w, i);
        if (!(line->down > 0)) continue;
        line->relax *= line->up / line->down;
        if (!(line->relax > MABD_BOUND_MIN_RELAX)) line->relax = MABD_BOUND_MIN_RELAX;
        if (line->relax > MABD_BOUND_MAX_RELAX) line->relax = MABD_BOUND_MAX_RELAX;
    }
}

static void advance(const search_work* w) {
    mabd_affine_contacts* c = w->c;
    relax_bounds(w);
    for (int32_t i = 0; i < c->list.current.count; i++) {
        mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (!p->eliminated) continue;
        const mabd_real t = w->round == 0 ? 1 : line_of(w, p)->t;
        const mabd_vec3 force = mabd_affine_contact_force(p);
        if (w->round == 0) p->search_force = force, p->search_move = p->solved_move;
        p->search_force = mabd_v3_axpy(t, mabd_v3_sub(force, p->search_force), p->search_force);
        p->search_move =
            mabd_v3_axpy(t, mabd_v3_sub(p->solved_move, p->search_move), p->search_move);
        if (line_of(w, p)->update) {
            p->bound_error = wanted_bound(p) - p->bound;
            p->bound += line_of(w, p)->relax * p->bound_error;
            if (!(p->bound > 0)) p->bound = 0;
        }
        if (w->report.changed > 0) choose_branch(w, p);
    }
}

// Move the best point of the bodies.
static void move_best(const search_work* w) {
    const mabd_plan* plan = w->sim->model->plan;
    if (w->c->condensed.on) {
        mabd_affine_condense_move_best(w->sim, w->round == 0);
        return;
    }
    for (int32_t i = 0; i < plan->component_count; i++) {
        if (!w->c->by_component.met[i]) continue;
        const mabd_affine_contact_line* line =
            &w->c->by_component.line[w->c->by_component.group[i]];
        const mabd_real t = w->round == 0 ? 1 : line->t;
        const mabd_plan_component* component = &plan->components[i];
        for (int32_t k = 0; k < component->body_count; k++) {
            const size_t at = 12 * (size_t)plan->component_bodies[component->body_first + k];
            mabd_real *low = w->sim->q_low + at, *q = w->sim->q_new + at;
            for (int j = 0; j < 12; j++) low[j] = t == 1 ? q[j] : low[j] + t * (q[j] - low[j]);
        }
    }
}

// Compute the stress and the rotation of the new coordinates of a body, from D = R'A - I at the
// reference R.
static void find_stress(mabd_affine_sim* sim, int32_t body) {
    const mabd_real *q = sim->q_new + 12 * (size_t)body, *ref = sim->ref + 12 * (size_t)body;
    const mabd_mat3 S = mabd_m3_product(mabd_m3_transpose(mabd_m3_load(ref)), mabd_m3_load(q));
    mabd_vec12 d = {S.c1, S.c2, S.c3, {0, 0, 0}};
    d.d1.x -= 1, d.d2.y -= 1, d.d3.z -= 1;
    mabd_sym3_store(mabd_affine_block_stress(mabd_affine_block_of(sim, body), d),
                    sim->stress_new + 6 * (size_t)body);
    if (mabd_affine_turns(sim, body)) {
        mabd_affine_store_spin_step(sim, body, mabd_m3(d.d1, d.d2, d.d3), NULL);
    }
}

void mabd_affine_contacts_accept_best(mabd_affine_sim* sim) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_affine_contacts* c = sim->contacts;
    const int32_t* condensed = c->condensed.on ? c->condensed.of_body.data : NULL;
    if (condensed) mabd_affine_condense_accept_best(sim);
    for (int32_t i = 0; i < plan->component_count; i++) {
        if (!c->by_component.met[i] || !c->by_component.line[c->by_component.group[i]].open)
            continue;
        const mabd_plan_component* component = &plan->components[i];
        for (int32_t k = 0; k < component->body_count; k++) {
            const int32_t body = plan->component_bodies[component->body_first + k];
            const size_t at = 12 * (size_t)body;
            if (condensed && condensed[body] < 0) continue;
            memcpy(sim->q_new + at, sim->q_low + at, 12 * sizeof(mabd_real));
            find_stress(sim, body);
        }
    }
}

// ---- totals ------------------------------------------------------------------------------------

// Displacement of a point by translation and rotation to first order, without strain: the next
// reference does not remove strain.
static mabd_vec3 turned(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X) {
    const mabd_real *q = sim->q_new + 12 * (size_t)body, *ref = sim->ref + 12 * (size_t)body;
    const mabd_mat3 R = mabd_m3_load(ref),
                    D = mabd_m3_product(mabd_m3_transpose(R), mabd_m3_load(q));
    const mabd_vec3 half =
        mabd_v3((D.c2.z - D.c3.y) / 2, (D.c3.x - D.c1.z) / 2, (D.c1.y - D.c2.x) / 2);
    const mabd_vec3 shift = mabd_v3_sub(mabd_v3_load(q + 9), mabd_v3_load(ref + 9));
    return mabd_v3_add(mabd_m3_mul(R, mabd_v3_cross(half, X)), shift);
}

// Displacement of the centre of curvature of the surface of a geom, and the radius of curvature.
static mabd_vec3 core_move(const search_work* w, const mabd_affine_contact* p, bool is_b,
                           mabd_real* radius) {
    const mabd_affine_contacts* c = w->c;
    const int32_t body = is_b ? p->b : p->a;
    const int32_t geom = c->geometry->geoms[p->key.i].body == body ? p->key.i : p->key.j;
    const mabd_mat3 R = mabd_m3_load(w->sim->ref + 12 * (size_t)body);
    const mabd_vec3 n = mabd_m3_tmul(R, is_b ? mabd_v3_scale(-1, p->n) : p->n);
    *radius = mabd_collider_roundness(&c->geometry->collider[geom]->shape,
                                      mabd_m3_tmul(c->geometry->collider[geom]->pose.rotation, n));
    return turned(w->sim, body, mabd_v3_axpy(-*radius, n, is_b ? p->Xb : p->Xa));
}

// Distance of a contact from the plane that it was found with: the surfaces are as round as the
// distance of their centres, or as the thinner of both.
static mabd_real bending_of(const search_work* w, const mabd_affine_contact* p) {
    const mabd_affine_contacts* c = w->c;
    mabd_real radius_a = 0, radius_b;
    mabd_vec3 move = core_move(w, p, true, &radius_b);
    if (p->moving) move = mabd_v3_sub(move, core_move(w, p, false, &radius_a));
    const mabd_real along = mabd_v3_dot(p->n, move);
    const mabd_real aside = mabd_v3_dot(move, move) - along * along;
    const mabd_real thin =
        (mabd_real)fmin(c->geometry->thickness[p->key.i], c->geometry->thickness[p->key.j]);
    return aside / (2 * (mabd_real)fmax(thin, radius_a + radius_b));
}

// Distance of a contact row from its law with its current force [m].
static mabd_real off_law(const search_work* w, const mabd_affine_contact* p, mabd_vec3 move) {
    const mabd_real own[2] = {p->own_n, p->own_t}, *l = p->force, c = w->softness;
    const mabd_real g[3] = {
        p->gap + mabd_v3_dot(p->n, move) + c * (own[0] * l[0]),
        p->slip1 + p->stick_offset1 + mabd_v3_dot(p->t1, move) + c * (own[1] * l[1]),
        p->slip2 + p->stick_offset2 + mabd_v3_dot(p->t2, move) + c * (own[1] * l[2]),
    };
    return mabd_cone_off_law(own, p->bound, l, g);
}

// Rotation of a body from the reference to the solution, world [rad].
static mabd_vec3 turn_to(const mabd_affine_sim* sim, int32_t body) {
    const mabd_real *q = sim->q_new + 12 * (size_t)body, *ref = sim->ref + 12 * (size_t)body;
    const mabd_mat3 R = mabd_m3_load(ref),
                    S = mabd_m3_product(mabd_m3_transpose(R), mabd_m3_load(q));
    const mabd_vec12 d = {S.c1, S.c2, S.c3, {0, 0, 0}};
    return mabd_m3_mul(R, mabd_affine_turn_of(&d));
}

// Torques of rolling and spinning friction, and how far they are off their laws.
static void evaluate_turns(search_work* w, mabd_affine_contact* p) {
    mabd_affine_contact next = *p;
    mabd_real off;
    mabd_vec3 more = turn_to(w->sim, p->b);
    if (p->moving) more = mabd_v3_sub(more, turn_to(w->sim, p->a));
    mabd_affine_contact_along(p, mabd_affine_turn_torque(p, more), p->torque);
    mabd_affine_turn_choose(&next, mabd_v3_add(p->turn, more), p->force[0] > 0 ? p->force[0] : 0,
                            &off);
    if (off > w->report.rolling) w->report.rolling = off;
}

static void add_totals(search_work* w) {
    mabd_affine_contacts* c = w->c;
    c->totals.active = 0;
    c->totals.penetration = 0;
    c->totals.residual = 0;
    for (int32_t i = 0; i < c->list.current.count; i++) {
        mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        const mabd_vec3 move = p->eliminated ? p->solved_move : move_of(w->sim, p);
        const mabd_real along = mabd_v3_dot(p->n, move);
        if (p->rolling > 0 || p->spinning > 0) evaluate_turns(w, p);
        p->end_distance = p->distance + along;
        const mabd_real off = p->eliminated ? 0 : off_law(w, p, move);
        if (!(off <= c->totals.residual)) c->totals.residual = off;
        if (-p->end_distance > c->totals.penetration) {
            c->totals.penetration = -p->end_distance;
        }
        if (!(p->force[0] > 0)) continue;
        c->totals.active++;
        const mabd_real bending = bending_of(w, p);
        if (bending > w->report.bending) w->report.bending = bending;
    }
}

mabd_affine_contact_report mabd_affine_contacts_line_search(mabd_affine_sim* sim, int32_t round) {
    search_work w = {.sim = sim, .c = sim->contacts, .round = round};
    w.report.body = -1;
    if (!w.c) return w.report;
    w.softness = mabd_affine_contact_softness(sim->model);
    evaluate_all(&w);
    if (w.report.changed > 0 && round > 0) search(&w);
    advance(&w);
    mabd_affine_axes_move(sim, round == 0);
    // if nothing changed, only axes can cause another solve at this reference
    if (w.report.changed > 0 || sim->sizes.axes > 0) move_best(&w);
    add_totals(&w);
    return w.report;
}
