// SPDX-License-Identifier: Apache-2.0
// Contacts of shapes in joint coordinates.
//
// A part takes its step without contacts first. Points are found where it would end
// (contact_points.c); parts that have some take the step by implicit Euler, so that their rates are
// those of the whole step. There
//
//   r(q) - N'l = 0,   l by the laws of contact_forces.c in   g = g(q)
//
// is solved in rounds: H of the stage with loops closed, W = N H^-1 N', forces l' by the rows
// g(q) + W (l' - l) at the poses q that hold for l, then Newton's method for q under l', with
// branches of axes and bounds of pins, until the rows are what the forces were to give. (One round
// is not enough: forces change the tension of chains, which is in H. A block and tackle gained
// 1e5 J in its first step.) In a round a force stays constant in the world and acts at the centre
// of its body; its moment about the centre turns with the body.
//
// Points are found once more after the first round, and are bound to their bodies otherwise. That
// they move along curved surfaces is explicit: a link of inertia I, length L and tension T that
// presses with f on a pulley of radius R is stable for f R < T L + I/h^2 only, so chains of short
// links over pulleys fail.
//
// A part with contacts has no history in the next step.

#include "formulation/redmax/redmax_contact.h"

#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_pins.h"
#include "formulation/redmax/redmax_sim.h"

#include <math.h>
#include <string.h>

/// Linearisations of a step; two are enough unless contacts change the tension of a chain.
#define ROUNDS_MAX 40
/// Rounds that take whole changes of forces; they converge quadratically while axes do not change.
#define WHOLE_ROUNDS 6
/// Error of rows after these that is enough: where an axis sticks the forces are not unique [m].
#define SETTLED ((mabd_real)1e-7)
/// Part of the tolerance of contacts to which rows and motion agree, if they improve so far.
#define PRECISE ((mabd_real)1e-2)
/// Kinetic energy of a motion that did not converge, relative to that without contacts.
#define VIOLENT_GAIN 2

// ---- poses -------------------------------------------------------------------------------------

// Place all links at a node. Returns their kinetic energy [J].
static mabd_real place(mabd_redmax_sim* sim, const mabd_redmax_node* node, mabd_real time) {
    mabd_real sum = 0;
    sim->placed = false;
    for (int32_t p = 0; p < sim->part_count; p++) {
        const mabd_redmax_solve s = {
            .sim = sim, .part = &sim->parts[p], .from_node = node, .time = time};
        mabd_redmax_load_node(&s, node);
        mabd_redmax_velocities(&s);
        sum += mabd_redmax_kinetic(&s);
    }
    return sum;
}

// Write the poses (12 per body) of the links where they are, and velocities if there is room.
static void write_poses(const mabd_redmax_sim* sim, mabd_real time, mabd_real* poses,
                        mabd_vec3* velocity) {
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const bool moves = sim->body_link[i] >= 0;
        const mabd_rigid_state s =
            moves ? mabd_redmax_body(sim, i) : mabd_redmax_ground_state(sim, i, time);
        mabd_redmax_contact_pose(mabd_q_matrix(s.q), s.c, i, poses);
        if (velocity) velocity[2 * i] = s.v, velocity[2 * i + 1] = s.omega;
    }
}

// ---- the host of points ------------------------------------------------------------------------

// The point of a side that moves by forces, in the frame of its link [m].
static mabd_vec3 arm_of(const mabd_redmax_sim* sim, int side, const mabd_redmax_contact* p) {
    const mabd_frame* P = &sim->links[p->link[side]].principal;
    return mabd_v3_add(mabd_m3_mul(P->R, p->X[side]), P->p);
}

// Set the wrenches of unit forces at the point of a side that moves by forces, at the frame of its
// link. Returns the point [m].
static mabd_vec3 set_rows(const mabd_redmax_sim* sim, int side, mabd_redmax_contact* p) {
    const mabd_frame* W = &sim->world[p->link[side]];
    const mabd_vec3 arm = arm_of(sim, side, p);
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 l = mabd_m3_tmul(W->R, mabd_v3_scale(side ? 1 : -1, p->axis[k]));
        p->row[side][k] = mabd_sp(mabd_v3_cross(arm, l), l);
    }
    return mabd_v3_add(mabd_m3_mul(W->R, arm), W->p);
}

// Find link, part and rows of a side.
static void set_side(void* self, int side, mabd_vec3 x, mabd_redmax_contact* p) {
    const mabd_redmax_sim* sim = self;
    (void)x;
    const int32_t link = p->link[side] = sim->body_link[p->body[side]];
    p->part[side] = -1;
    if (link < 0) return;
    for (int32_t i = 0; i < sim->part_count; i++) {
        const mabd_redmax_part* part = &sim->parts[i];
        if (link >= part->link_first && link < part->link_first + part->link_count) {
            p->part[side] = i;
        }
    }
    set_rows(sim, side, p);
}

// The response of a part to a row: its variations are in sim->x.
static void respond(void* self, int32_t part, const mabd_redmax_contact* contact, int r) {
    mabd_redmax_sim* sim = self;
    const mabd_redmax_solve* s = &sim->contact_solves[part];
    memset(sim->step + s->part->freedom_first, 0,
           (size_t)s->part->freedom_count * sizeof *sim->step);
    for (int side = 0; side < 2; side++) {
        if (contact->part[side] != part) continue;
        mabd_redmax_pull_wrench(sim, contact->link[side], contact->row[side][r], sim->step);
    }
    mabd_redmax_respond(s, sim->step);
}

static mabd_spatial motion(const void* self, const mabd_redmax_contact* contact, int side) {
    const mabd_redmax_sim* sim = self;
    return mabd_sp_load(sim->x + MABD_VARIATION * (size_t)contact->link[side] + 12);
}

static mabd_redmax_contact_host host_of(mabd_redmax_sim* sim) {
    return (mabd_redmax_contact_host){sim, set_side, respond, motion};
}

mabd_status mabd_redmax_find_contacts(mabd_redmax_sim* sim) {
    mabd_redmax_contacts* c = sim->contacts;
    const mabd_redmax_contact_host host = host_of(sim);
    const mabd_real before = place(sim, &sim->now, sim->time);
    write_poses(sim, sim->time, c->from, c->velocity);
    const mabd_real after = place(sim, &sim->next, sim->time + sim->def.h);
    write_poses(sim, sim->time + sim->def.h, c->to, NULL);
    c->kinetic = before > after ? before : after;
    return mabd_redmax_find_points(c, &host);
}

// True if both bodies of a contact are parts of the problem.
static bool is_part(const mabd_redmax_contacts* c, const mabd_redmax_contact* p) {
    for (int i = 0; i < 2; i++) {
        if (p->part[i] >= 0 && !c->touches[p->part[i]]) return false;
    }
    return true;
}

// True if the two bodies of a point have another one behind `first`.
static bool is_found_again(const mabd_redmax_contacts* c, int32_t point, int32_t first) {
    const mabd_redmax_contact *points = c->points.data, *p = &points[point];
    for (int32_t i = first; i < c->points.count; i++) {
        if (points[i].body[0] == p->body[0] && points[i].body[1] == p->body[1]) return true;
    }
    return false;
}

// Find the points again where the parts with contacts are now. Bodies that have left each other, as
// after an impact, keep theirs.
static mabd_status find_again(mabd_redmax_sim* sim) {
    mabd_redmax_contacts* c = sim->contacts;
    const mabd_redmax_contact_host host = host_of(sim);
    mabd_redmax_contact* points;
    const int32_t before = c->points.count;
    int32_t kept = 0;
    write_poses(sim, sim->time + sim->def.h, c->to, NULL);
    MABD_TRY(mabd_redmax_add_points(c, &host));
    points = c->points.data;
    for (int32_t i = 0; i < c->points.count; i++) {
        const bool keeps = i < before ? !is_found_again(c, i, before) : is_part(c, &points[i]);
        if (keeps) points[kept++] = points[i];
    }
    c->points.count = kept;
    return MABD_OK;
}

// ---- parts -------------------------------------------------------------------------------------

// The stage of implicit Euler of a part, in charts that are centred at `next`.
static mabd_redmax_solve stage_of(mabd_redmax_sim* sim, int32_t index) {
    mabd_redmax_solve s = {.sim = sim,
                           .part = &sim->parts[index],
                           .report = &sim->reports[index],
                           .from = sim->time,
                           .h = sim->def.h,
                           .time = sim->time + sim->def.h,
                           .gamma = sim->def.h,
                           .force = sim->force,
                           .motor = sim->motor,
                           .from_node = &sim->next};
    mabd_redmax_set_inputs(&s);
    mabd_redmax_load_node(&s, &sim->next);
    for (int32_t i = s.part->link_first; i < s.part->link_first + s.part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->kind == MABD_PRIMITIVE_BALL) {
            mabd_redmax_local_past(link, &sim->next, &sim->now, sim->q_b, sim->v_b);
            continue;
        }
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            sim->q_b[k] = sim->now.q[k], sim->v_b[k] = sim->now.v[k];
        }
    }
    return s;
}

// Factor a part at its iterate.
static mabd_status factor_part(mabd_redmax_solve* s) {
    int32_t link;
    mabd_redmax_rates(s);
    mabd_redmax_residual(s);
    MABD_TRY(mabd_redmax_factor(s, mabd_redmax_stage_weights(s->gamma), &link));
    return s->part->border_count > 0 ? mabd_redmax_border_factor(s) : MABD_OK;
}

// Motion of a part by the current forces of its contacts, into sim->step.
static void respond_to_pushes(mabd_redmax_sim* sim, const mabd_redmax_solve* s) {
    memset(sim->step + s->part->freedom_first, 0,
           (size_t)s->part->freedom_count * sizeof *sim->step);
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        mabd_redmax_pull_wrench(sim, i, mabd_redmax_push_wrench(sim, i), sim->step);
    }
    mabd_redmax_respond(s, sim->step);
}

// Take what the current forces of contacts do from the rows of a part, so that the next ones are
// whole forces.
static void take_pushes(mabd_redmax_sim* sim, const mabd_redmax_solve* s, int32_t index) {
    mabd_redmax_contact* points = sim->contacts->points.data;
    respond_to_pushes(sim, s);
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        mabd_redmax_contact* p = &points[i];
        for (int side = 0; side < 2; side++) {
            if (p->part[side] != index) continue;
            const size_t link = (size_t)p->link[side];
            const mabd_spatial xi = mabd_sp_load(sim->x + MABD_VARIATION * link + 12);
            for (int k = 0; k < 3; k++) p->rest[k] -= mabd_sp_dot(p->row[side][k], xi);
        }
    }
}

// Points, rows and gaps of all contacts at the iterates. Returns the largest error of the gaps and
// slips that the last forces were to give [m].
static mabd_real update_points(const mabd_redmax_sim* sim) {
    mabd_redmax_contact* points = sim->contacts->points.data;
    mabd_real most = 0;
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        mabd_redmax_contact* p = &points[i];
        mabd_vec3 way = mabd_v3(0, 0, 0);
        for (int side = 0; side < 2; side++) {
            if (p->part[side] < 0) continue;
            const mabd_vec3 x = set_rows(sim, side, p);
            way = mabd_v3_axpy(side ? 1 : -1, mabd_v3_sub(x, p->at[side]), way);
        }
        for (int k = 0; k < 3; k++) {
            const mabd_real moved = mabd_v3_dot(p->axis[k], way);
            const mabd_real error = (mabd_real)fabs(p->start[k] + moved - p->wanted[k]);
            if (!(error <= most)) most = error;
            p->rest[k] = p->start[k] + moved;
            if (k == 0) p->end = p->distance + moved;
        }
    }
    return most;
}

// Set the forces of the contacts on the links of a part.
static void push_part(mabd_redmax_sim* sim, int32_t index) {
    const mabd_redmax_part* part = &sim->parts[index];
    const mabd_redmax_contact* points = sim->contacts->points.data;
    for (int32_t i = part->link_first; i < part->link_first + part->link_count; i++) {
        memset(&sim->push[i], 0, sizeof *sim->push);
    }
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        const mabd_redmax_contact* p = &points[i];
        for (int side = 0; side < 2; side++) {
            if (p->part[side] != index) continue;
            mabd_redmax_thrust* push = &sim->push[p->link[side]];
            mabd_vec3 f = mabd_v3(0, 0, 0);
            for (int k = 0; k < 3; k++) f = mabd_v3_axpy(p->force[k], p->axis[k], f);
            f = mabd_v3_scale(side ? 1 : -1, f);
            push->f = mabd_v3_add(push->f, f);
            const mabd_vec3 arm = mabd_m3_mul(sim->links[p->link[side]].principal.R, p->X[side]);
            const mabd_vec3 l = mabd_m3_tmul(sim->world[p->link[side]].R, f);
            push->m = mabd_v3_add(push->m, mabd_v3_cross(arm, l));
        }
    }
}

mabd_spatial mabd_redmax_push_wrench(const mabd_redmax_sim* sim, int32_t link) {
    const mabd_mat3 R = sim->world[link].R;
    const mabd_vec3 l = mabd_m3_tmul(R, sim->push[link].f);
    const mabd_vec3 m = mabd_v3_cross(sim->links[link].principal.p, l);
    return mabd_sp(mabd_v3_add(m, sim->push[link].m), l);
}

void mabd_redmax_subtract_push(const mabd_redmax_sim* sim, int32_t link, mabd_real* N) {
    const mabd_mat3 R = sim->world[link].R;
    const mabd_mat3 l = mabd_m3_skew(mabd_m3_tmul(R, sim->push[link].f));
    const mabd_mat3 m = mabd_m3_skew_product(sim->links[link].principal.p, l);
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 by_m = mabd_m3_column(&m, k), by_l = mabd_m3_column(&l, k);
        for (int r = 0; r < 3; r++) {
            N[MABD_VARIATION * r + 12 + k] -= mabd_v3_get(by_m, r);
            N[MABD_VARIATION * (r + 3) + 12 + k] -= mabd_v3_get(by_l, r);
        }
    }
}

// Keep the iterates of the parts with contacts, or return to them.
static void keep_or_return(mabd_redmax_sim* sim, bool keep) {
    for (int32_t i = 0; i < sim->part_count; i++) {
        const mabd_redmax_part* part = &sim->parts[i];
        const size_t first = (size_t)part->freedom_first;
        const size_t bytes = (size_t)part->freedom_count * sizeof *sim->q;
        if (!sim->contacts->touches[i]) continue;
        memcpy((keep ? sim->stage_q : sim->q) + first, (keep ? sim->q : sim->stage_q) + first,
               bytes);
    }
}

// Solve the stage of a part under the forces of its contacts.
static mabd_status move_part(mabd_redmax_sim* sim, mabd_redmax_solve* s, int32_t index) {
    push_part(sim, index);
    return mabd_redmax_with_bounds(s, mabd_redmax_newton);
}

// Move a part from its end pose without contacts as far as the forces are linear: where Newton's
// method fails, as after violent impacts.
static mabd_status move_once(mabd_redmax_sim* sim, mabd_redmax_solve* s, int32_t index) {
    const int32_t first = s->part->freedom_first, end = first + s->part->freedom_count;
    s->part->pushed = false;
    MABD_TRY(factor_part(s));
    s->part->pushed = true;
    push_part(sim, index);
    respond_to_pushes(sim, s);
    for (int32_t k = first; k < end; k++) sim->q[k] += sim->step[k];
    for (int32_t r = 0; r < s->part->row_count; r++) { // forces of loops with the contacts
        sim->loops.force[s->part->row_first + r] += sim->loops.y[s->part->border_first + r];
    }
    mabd_redmax_rates(s);
    mabd_redmax_residual(s);
    s->report->converged = false;
    return s->part->row_count > 0 ? mabd_redmax_close_loops(s) : MABD_OK;
}

static void keep_forces(mabd_redmax_contacts* c) {
    mabd_redmax_contact* points = c->points.data;
    for (int32_t i = 0; i < c->points.count; i++) {
        memcpy(points[i].last, points[i].force, sizeof points[i].last);
    }
}

// Go half way to the new forces: where axes stick and slip by them in turn, whole steps cycle.
static void damp_forces(mabd_redmax_contacts* c) {
    mabd_redmax_contact* points = c->points.data;
    for (int32_t i = 0; i < c->points.count; i++) {
        for (int r = 0; r < 3; r++) {
            points[i].force[r] = (points[i].force[r] + points[i].last[r]) / 2;
        }
    }
}

// One round: rows and H at the iterates, forces, and the motion under them.
static mabd_status take_round(mabd_redmax_sim* sim, int k, mabd_step_info* info, int32_t* bad) {
    mabd_redmax_contacts* c = sim->contacts;
    const mabd_redmax_contact_host host = host_of(sim);
    if (k == 1) MABD_TRY(find_again(sim));
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!c->touches[i]) continue;
        *bad = i;
        MABD_TRY(factor_part(&sim->contact_solves[i]));
        if (k == 1) take_pushes(sim, &sim->contact_solves[i], i);
    }
    keep_forces(c);
    const mabd_status status = mabd_redmax_contact_forces(c, &host, sim->def.redmax.contacts,
                                                          sim->def.contact_tolerance, k > 1, info);
    if (status == MABD_ERR_DIVERGED) {
        sim->reports[*bad].reason = "the forces of contacts diverge near";
    }
    MABD_TRY(status);
    if (k >= WHOLE_ROUNDS) damp_forces(c);
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!c->touches[i]) continue;
        *bad = i;
        MABD_TRY(move_part(sim, &sim->contact_solves[i], i));
    }
    return MABD_OK;
}

// True if the parts with contacts have far more kinetic energy than without: contacts give none,
// so forces that do are none.
static bool is_violent(const mabd_redmax_sim* sim) {
    const mabd_redmax_contacts* c = sim->contacts;
    mabd_real sum = 0;
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (c->touches[i]) sum += mabd_redmax_kinetic(&sim->contact_solves[i]);
    }
    return !(sum <= VIOLENT_GAIN * c->kinetic);
}

// The last round failed: return to the motion before, or move once.
static mabd_status give_up(mabd_redmax_sim* sim, int k, int32_t* bad) {
    mabd_redmax_contacts* c = sim->contacts;
    keep_or_return(sim, false);
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!c->touches[i]) continue;
        *bad = i;
        if (k == 0) MABD_TRY(move_once(sim, &sim->contact_solves[i], i));
        mabd_redmax_rates(&sim->contact_solves[i]);
        mabd_redmax_residual(&sim->contact_solves[i]);
    }
    if (!is_violent(sim)) return MABD_OK;
    sim->reports[*bad].reason = "the forces of contacts diverge near";
    return MABD_ERR_DIVERGED;
}

// Forces by the rows at the iterates, and the motion by these forces, until they agree.
static mabd_status iterate(mabd_redmax_sim* sim, mabd_step_info* info, int32_t* bad) {
    const mabd_real goal = sim->def.contact_tolerance;
    mabd_real error = (mabd_real)INFINITY;
    for (int k = 0; k < ROUNDS_MAX; k++) {
        const mabd_real last = error;
        keep_or_return(sim, true);
        const mabd_status status = take_round(sim, k, info, bad);
        if (status == MABD_ERR_MEMORY) return status;
        if (status != MABD_OK) {
            info->converged = false;
            return give_up(sim, k, bad);
        }
        error = update_points(sim);
        const bool exact = error <= PRECISE * goal || (error <= goal && error > last / 2);
        if (exact && k > 0) return MABD_OK;
        if (k >= WHOLE_ROUNDS && error <= SETTLED) return MABD_OK;
    }
    info->converged = false;
    if (error > info->contact_residual) info->contact_residual = error;
    return MABD_OK;
}

mabd_status mabd_redmax_close_contacts(mabd_redmax_sim* sim, mabd_step_info* info, int32_t* bad) {
    mabd_redmax_contacts* c = sim->contacts;
    if (c->points.count == 0) return MABD_OK;
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!c->touches[i]) continue;
        sim->contact_poses[i] = sim->parts[i].poses;
        sim->contact_solves[i] = stage_of(sim, i);
        push_part(sim, i);
        sim->parts[i].poses = true; // rows are read from the variations of poses
        sim->parts[i].pushed = true;
    }
    const mabd_status status = iterate(sim, info, bad);
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!c->touches[i]) continue;
        if (status == MABD_OK) mabd_redmax_store_node(&sim->contact_solves[i], &sim->next);
        sim->parts[i].poses = sim->contact_poses[i], sim->parts[i].pushed = false;
        sim->parts[i].history_after = false;
    }
    mabd_redmax_count_contacts(c, info);
    return status;
}

// ---- results -----------------------------------------------------------------------------------

static mabd_rigid_state body_of(const void* self, int32_t body) {
    return mabd_redmax_body(self, body);
}

int32_t mabd_redmax_get_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts) {
    const mabd_redmax_sim* sim = self;
    if (sim->contacts) mabd_redmax_place_now(sim);
    return mabd_redmax_list_contacts(sim->contacts, body_of, sim, capacity, contacts);
}

mabd_status mabd_redmax_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b) {
    mabd_redmax_sim* sim = (mabd_redmax_sim*)self; // its state does not change
    *depth = 0, *a = *b = -1;
    if (!sim->contacts) return MABD_OK;
    place(sim, &sim->now, sim->time);
    write_poses(sim, sim->time, sim->contacts->to, NULL);
    return mabd_collide_overlap(sim->contacts->geometry, sim->contacts->to, depth, a, b);
}
