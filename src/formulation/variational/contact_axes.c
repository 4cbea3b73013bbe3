// SPDX-License-Identifier: Apache-2.0
// Bounds of axes: stops, limited drives, dry friction.
//
//   stop   phi = x - lower, or upper - x, at the end of the substep; gamma along the coordinate
//   box    rate (x1 - x0)/h, force f along the coordinate at the start
//          limited rate          f in [-F, F], rate = target
//          limited servo         x1 = target(t1), or with gains f = kp (target - x1) - kd rate
//          dry friction          rate 0
//
// The boxes are those of joint/axis_law.h: at x = at, compliance c over the coordinate, so over the
// rate it is c/h and the rate that is wanted (at - x0)/h.

#include "formulation/variational/variational_contact.h"
#include "rigid/stability.h"

#include <math.h>
#include <string.h>

int32_t mabd_variational_list_bounds(const mabd_variational_sim* sim, int32_t joint,
                                     mabd_variational_bound* bounds, int32_t* stops) {
    const mabd_row_set* set = mabd_variational_set(sim, joint);
    int32_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t r = 0; r < set->control_count; r++) {
            const mabd_control* c = &set->control[r];
            const bool holds = mabd_variational_is_held(c) || mabd_variational_is_paced(c);
            const bool meets = c->limited && !holds; // else the target is between them
            const bool has[4] = {meets && c->lower > -(mabd_real)INFINITY,
                                 meets && c->upper<(mabd_real)INFINITY, c->max_force> 0 &&
                                     c->max_force<(mabd_real)INFINITY, c->friction> 0 &&
                                     !(c->friction_speed > 0)};
            for (int k = 2 * pass; k < 2 * pass + 2; k++) {
                if (!has[k]) continue;
                if (bounds) {
                    const mabd_variational_bound bound = {joint, r, (mabd_variational_bound_kind)k};
                    bounds[count] = bound;
                }
                count++;
            }
        }
        if (pass == 0) *stops = count;
    }
    return count;
}

// Row of the coordinate of a bound with poses at a time.
static mabd_rigid_row row_of(const mabd_variational_solve* s, const mabd_variational_bound* bound,
                             const mabd_rigid_pose* poses, mabd_real time, mabd_real* x) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_row_set* set = mabd_variational_set(sim, bound->joint);
    const mabd_joint_view view = mabd_variational_view(sim, poses, time, bound->joint);
    const mabd_real* x0 = sim->x0 + sim->model->joints[bound->joint].coordinate;
    mabd_real all[2 * MABD_JOINT_MAX_ROWS];
    const mabd_rigid_joint at =
        mabd_rigid_joint_at(&view, set->control_count, set->control_row, x0);
    mabd_joint_coordinates(&view, set->control_count, set->control_row, x0, all);
    *x = all[bound->control];
    return mabd_rigid_row_jacobian(&at, &set->control_row[bound->control]);
}

static mabd_rigid_wrench reversed(mabd_rigid_wrench w) {
    w.f = mabd_v3_scale(-1, w.f), w.t = mabd_v3_scale(-1, w.t);
    return w;
}

static const mabd_control* control_of(const mabd_variational_sim* sim,
                                      const mabd_variational_bound* bound) {
    return &mabd_variational_set(sim, bound->joint)->control[bound->control];
}

static mabd_real compliance_of(const mabd_variational_sim* sim, int32_t a, int32_t b,
                               const mabd_rigid_row* row) {
    mabd_real sum = 0;
    if (mabd_variational_moves(sim, a)) {
        sum += mabd_rigid_stability_compliance(mabd_variational_class(sim, a), row->a);
    }
    if (mabd_variational_moves(sim, b)) {
        sum += mabd_rigid_stability_compliance(mabd_variational_class(sim, b), row->b);
    }
    return sum;
}

mabd_real mabd_variational_bound_force(const mabd_variational_sim* sim, int32_t coordinate,
                                       bool drives) {
    const mabd_variational_contacts* c = sim->contacts;
    mabd_real force = 0;
    for (int kind = 0; c && c->bound_count > 0 && kind < 4; kind++) {
        const int32_t i = c->axis_bound[4 * (size_t)coordinate + (size_t)kind];
        if (i < 0 || (drives && kind != MABD_VARIATIONAL_DRIVE)) continue;
        force += kind == MABD_VARIATIONAL_UPPER ? -c->bound[i].force : c->bound[i].force;
    }
    return force;
}

mabd_rigid_row mabd_variational_bound_row(const mabd_variational_sim* sim,
                                          const mabd_variational_bound* bound) {
    const mabd_row_set* set = mabd_variational_set(sim, bound->joint);
    const mabd_model_joint* j = &sim->model->joints[bound->joint];
    const mabd_rigid_pose a = mabd_variational_pose_now(sim, j->a),
                          b = mabd_variational_pose_now(sim, j->b);
    mabd_real near[MABD_JOINT_MAX_ROWS];
    mabd_joint_view view;
    mabd_model_joint_view(sim->model, j, &view);
    view.Aa = a.R, view.ta = a.c, view.Ab = b.R, view.tb = b.c;
    for (int32_t r = 0; r < set->control_count; r++) near[r] = sim->axis[j->coordinate + r].x;
    const mabd_rigid_joint at =
        mabd_rigid_joint_at(&view, set->control_count, set->control_row, near);
    mabd_rigid_row row = mabd_rigid_row_jacobian(&at, &set->control_row[bound->control]);
    if (bound->kind == MABD_VARIATIONAL_UPPER) row.a = reversed(row.a), row.b = reversed(row.b);
    return row;
}

// Rate of a row by the velocities of the last substep.
static mabd_real rate_of(const mabd_variational_solve* s, int32_t a, int32_t b,
                         const mabd_rigid_row* row) {
    const mabd_variational_sim* sim = s->sim;
    mabd_real sum = 0;
    if (mabd_variational_moves(sim, a)) sum += mabd_rigid_power(row->a, sim->motion[a].V);
    if (mabd_variational_moves(sim, b)) sum += mabd_rigid_power(row->b, sim->motion[b].V);
    return sum;
}

// ---- the start ---------------------------------------------------------------------------------

// Distance of a stop at a coordinate.
static mabd_real stop_distance(const mabd_variational_sim* sim, const mabd_variational_bound* bound,
                               mabd_real x) {
    const mabd_control* c = control_of(sim, bound);
    return bound->kind == MABD_VARIATIONAL_LOWER ? x - c->lower : c->upper - x;
}

// Products of stops over those of contacts: they hold to the tolerance of rows.
static mabd_real stop_part(const mabd_sim_def* def) {
    const mabd_real part = def->row_tolerance / def->contact_tolerance;
    return part < 1 ? part : 1;
}

static void start_stop(const mabd_variational_solve* s, mabd_variational_touch* t,
                       mabd_barrier_contact* p) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_variational_contacts* c = sim->contacts;
    const mabd_variational_bound* bound = &c->bounds[t->bound];
    const mabd_model_joint* j = &sim->model->joints[bound->joint];
    mabd_real x;
    t->a = j->a, t->b = j->b;
    t->row[0] = row_of(s, bound, sim->from, s->time, &x);
    if (bound->kind == MABD_VARIATIONAL_UPPER) {
        t->row[0].a = reversed(t->row[0].a), t->row[0].b = reversed(t->row[0].b);
    }
    t->start = stop_distance(sim, bound, x);
    memset(p, 0, sizeof *p);
    const mabd_real own = compliance_of(sim, t->a, t->b, &t->row[0]);
    const mabd_real excess = -t->start / s->h - rate_of(s, t->a, t->b, &t->row[0]);
    p->mobility = s->h * own;
    p->weight = mabd_variational_weight(s, own, excess) * stop_part(&sim->def);
    p->lift = 1;
    p->gamma = c->next_bound[t->bound].force;
}

static void start_box(const mabd_variational_solve* s, mabd_variational_drive* d,
                      mabd_barrier_box* p) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_variational_bound* bound = &sim->contacts->bounds[d->bound];
    const mabd_variational_bound_state* state = &sim->contacts->next_bound[d->bound];
    const mabd_model_joint* j = &sim->model->joints[bound->joint];
    const mabd_control* c = control_of(sim, bound);
    mabd_real x;
    d->a = j->a, d->b = j->b;
    d->row = row_of(s, bound, sim->from, s->time, &x);
    const mabd_axis_past past = {s->h, x, 0};
    const mabd_real drive = sim->input[j->coordinate + bound->control];
    const mabd_axis_law law = mabd_axis_law_of(c, true, 0, drive, &past);
    const mabd_axis_box* box = &law.box[bound->kind == MABD_VARIATIONAL_FRICTION];
    memset(p, 0, sizeof *p);
    p->most = mabd_variational_begins(s) ? box->most / 2 : box->most;
    p->compliance = box->compliance / s->h;
    p->mobility = s->h * compliance_of(sim, d->a, d->b, &d->row);
    d->rate = (box->at - x) / s->h;
    p->force = mabd_variational_begins(s) ? state->force / 2 : state->force, p->a = state->a,
    p->b = state->b;
}

void mabd_variational_start_bounds(const mabd_variational_solve* s) {
    mabd_variational_contacts* c = s->sim->contacts;
    for (int32_t i = 0; i < s->island->stop_count; i++) {
        start_stop(s, mabd_variational_touches(c, s->island) + i,
                   mabd_variational_barriers(c, s->island) + i);
    }
    for (int32_t i = 0; i < s->island->box_count; i++) {
        start_box(s, mabd_variational_drives(c, s->island) + i,
                  mabd_variational_boxes(c, s->island) + i);
    }
}

// ---- at an iterate -----------------------------------------------------------------------------

static void end_row(const mabd_variational_solve* s, const mabd_model_joint* j,
                    mabd_rigid_row* row) {
    row->a = mabd_variational_by_velocity(s->sim, j->a, row->a);
    row->b = mabd_variational_by_velocity(s->sim, j->b, row->b);
}

void mabd_variational_bound_errors(const mabd_variational_solve* s, bool slopes) {
    const mabd_variational_sim* sim = s->sim;
    const mabd_variational_contacts* c = sim->contacts;
    for (int32_t i = 0; i < s->island->stop_count; i++) {
        mabd_variational_touch* t = mabd_variational_touches(c, s->island) + i;
        const mabd_variational_bound* bound = &c->bounds[t->bound];
        mabd_real x;
        mabd_rigid_row row = row_of(s, bound, sim->to, s->time + s->h, &x);
        mabd_variational_barriers(c, s->island)[i].phi = stop_distance(sim, bound, x);
        if (!slopes) continue;
        if (bound->kind == MABD_VARIATIONAL_UPPER) row.a = reversed(row.a), row.b = reversed(row.b);
        end_row(s, &sim->model->joints[bound->joint], &row);
        t->next = row;
    }
    for (int32_t i = 0; i < s->island->box_count; i++) {
        mabd_variational_drive* d = mabd_variational_drives(c, s->island) + i;
        const mabd_variational_bound* bound = &c->bounds[d->bound];
        const mabd_real x0 = sim->x0[sim->model->joints[bound->joint].coordinate + bound->control];
        mabd_real x;
        mabd_rigid_row row = row_of(s, bound, sim->to, s->time + s->h, &x);
        mabd_variational_boxes(c, s->island)[i].excess = (x - x0) / s->h - d->rate;
        if (!slopes) continue;
        end_row(s, &sim->model->joints[bound->joint], &row);
        d->next = row;
    }
}
