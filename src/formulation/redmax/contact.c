// SPDX-License-Identifier: Apache-2.0
// Contacts of shapes in joint coordinates.
//
// A part takes its step without contacts first. Points are found where it would end
// (contact_points.c); parts that have some take the step by implicit Euler, so that their rates are
// those of the whole step. Rounds from there find motion and forces together (contact_rounds.c). In
// each of them the points are found again where the bodies are then.
//
// A part with contacts has no history in the next step.

#include "formulation/redmax/redmax_contact.h"

#include "dual/cone_cg.h"
#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_motion.h"
#include "formulation/redmax/redmax_sim.h"

#include <math.h>
#include <string.h>

/// Distance from which points take no part in a round: falls in a step, and at least [m]. A body
/// that comes closer in it is found by the next one.
#define NEAR_FALLS 1
#define NEAR_LEAST ((mabd_real)1e-5)
/// Distance up to which points of contacts that open are found, in multiples of the opening.
#define OPENING_MARGIN ((mabd_real)1.5)

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

// Parts without borders respond to several rows at a time.
static int responses_of(const void* self, int32_t part) {
    const mabd_redmax_sim* sim = self;
    return sim->parts[part].border_count > 0 ? 1 : MABD_RESPONSES;
}

// The responses of a part to rows: with borders the variations are in sim->x.
static void respond(void* self, int32_t part, int count, const mabd_redmax_row* rows) {
    mabd_redmax_sim* sim = self;
    const mabd_redmax_solve* s = &sim->contact_solves[part];
    const mabd_redmax_contact* contact = rows->contact;
    const int r = rows->r;
    if (responses_of(sim, part) > 1) {
        mabd_redmax_clear_responses(s);
        for (int l = 0; l < count; l++) {
            const mabd_redmax_contact* own = rows[l].contact;
            for (int side = 0; side < 2; side++) {
                if (own->part[side] != part) continue;
                mabd_redmax_set_wrench(sim, own->link[side], l, own->row[side][rows[l].r]);
            }
        }
        mabd_redmax_find_responses(s);
        return;
    }
    memset(sim->step + s->part->freedom_first, 0,
           (size_t)s->part->freedom_count * sizeof *sim->step);
    for (int side = 0; side < 2; side++) {
        if (contact->part[side] != part) continue;
        mabd_redmax_pull_wrench(sim, contact->link[side], contact->row[side][r], sim->step);
    }
    mabd_redmax_respond(s, sim->step);
}

static mabd_spatial motion(const void* self, const mabd_redmax_contact* contact, int side,
                           int32_t part, int lane) {
    const mabd_redmax_sim* sim = self;
    if (responses_of(sim, part) > 1) return mabd_redmax_response(sim, contact->link[side], lane);
    return mabd_sp_load(sim->x + MABD_VARIATION * (size_t)contact->link[side] + 12);
}

mabd_redmax_contact_host mabd_redmax_contact_host_of(mabd_redmax_sim* sim) {
    return (mabd_redmax_contact_host){sim, set_side, respond, motion, responses_of};
}

mabd_status mabd_redmax_find_contacts(mabd_redmax_sim* sim) {
    mabd_redmax_contacts* c = sim->contacts;
    const mabd_redmax_contact_host host = mabd_redmax_contact_host_of(sim);
    MABD_TRY(mabd_redmax_take_responses(sim));
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

// Give a point the forces of the nearest one of its bodies before `count` that is not taken yet.
static void take_forces(mabd_redmax_contacts* c, mabd_redmax_contact* p, int32_t count) {
    mabd_redmax_contact *points = c->points.data, *best = NULL;
    mabd_real least = (mabd_real)INFINITY;
    for (int32_t i = 0; i < count; i++) {
        mabd_redmax_contact* old = &points[i];
        if (old->taken || old->body[0] != p->body[0] || old->body[1] != p->body[1]) continue;
        const mabd_real way = mabd_v3_norm(mabd_v3_sub(old->X[1], p->X[1]));
        if (way < least) least = way, best = old;
    }
    if (!best) return;
    best->taken = true;
    mabd_vec3 f = mabd_v3_scale(best->force[1], best->axis[1]);
    f = mabd_v3_axpy(best->force[2], best->axis[2], f);
    p->force[0] = best->force[0]; // it turns with the normal
    for (int k = 1; k < 3; k++) p->force[k] = mabd_v3_dot(f, p->axis[k]);
}

// Rows and gaps of a point that stays on its bodies where they are now.
static void shift(const mabd_redmax_sim* sim, mabd_redmax_contact* p) {
    mabd_vec3 way = mabd_v3(0, 0, 0);
    for (int side = 0; side < 2; side++) {
        if (p->part[side] < 0) continue;
        const mabd_vec3 x = set_rows(sim, side, p);
        way = mabd_v3_axpy(side ? 1 : -1, mabd_v3_sub(x, p->at[side]), way);
        p->at[side] = x;
    }
    for (int k = 0; k < 3; k++) p->start[k] += mabd_v3_dot(p->axis[k], way);
    p->distance += mabd_v3_dot(p->axis[0], way);
}

// Distance by which contacts that slide open with one convex problem [m].
static mabd_real opening_of(const mabd_redmax_sim* sim) {
    const mabd_redmax_contact* points = sim->contacts->points.data;
    mabd_real most = 0;
    if (sim->def.redmax.contacts != MABD_CONTACT_PROBLEM_ONE_QP) return 0;
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        const mabd_real slip = (mabd_real)hypot(points[i].start[1], points[i].start[2]);
        if (points[i].friction * slip > most) most = points[i].friction * slip;
    }
    return OPENING_MARGIN * most;
}

mabd_status mabd_redmax_find_again(mabd_redmax_sim* sim) {
    mabd_redmax_contacts* c = sim->contacts;
    const mabd_redmax_contact_host host = mabd_redmax_contact_host_of(sim);
    mabd_redmax_contact* points;
    const int32_t before = c->points.count;
    int32_t kept = 0;
    const mabd_real g = mabd_v3_norm(mabd_v3_load(sim->model->gravity));
    const mabd_real near = NEAR_FALLS * g * sim->def.h * sim->def.h + NEAR_LEAST;
    write_poses(sim, sim->time + sim->def.h, c->to, NULL);
    c->opening = opening_of(sim);
    MABD_TRY(mabd_redmax_add_points(c, &host));
    points = c->points.data;
    for (int32_t i = 0; i < before; i++) points[i].taken = false;
    for (int32_t i = before; i < c->points.count; i++) take_forces(c, &points[i], before);
    for (int32_t i = 0; i < c->points.count; i++) {
        const bool pressed = points[i].force[0] > 0;
        const bool close = points[i].distance < near + c->opening;
        const bool keeps = i < before ? pressed && !is_found_again(c, i, before)
                                      : (pressed || close) && is_part(c, &points[i]);
        if (i < before && keeps) shift(sim, &points[i]);
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

// True if a script moves a body that touches another one: it does work there.
static bool is_driven(const mabd_redmax_contacts* c) {
    for (int32_t i = 0; i < c->points.count; i++) {
        const mabd_redmax_contact* p = (const mabd_redmax_contact*)c->points.data + i;
        for (int side = 0; side < 2; side++) {
            if (c->model->body_motion[p->body[side]] == MABD_MOTION_SCRIPTED) return true;
        }
    }
    return false;
}

// The energy guard of all parts that touch others, which exchange energy: such a step is divided,
// or counts as not converged where it cannot be.
static mabd_status guard_contacts(mabd_redmax_sim* sim, mabd_step_info* info, int32_t* bad) {
    mabd_real sum = 0;
    if (!(sim->def.redmax.energy_guard > 0) || is_driven(sim->contacts)) return MABD_OK;
    for (int32_t i = 0; i < sim->part_count; i++) {
        mabd_redmax_solve s = sim->contact_solves[i];
        mabd_real peak;
        if (!sim->contacts->touches[i]) continue;
        s.law_work = s.h * mabd_redmax_law_power(&s);
        s.from_node = &sim->now;
        sum += mabd_redmax_excess(&s, &sim->next, &peak);
        s.part->peak_after = peak;
        *bad = i;
    }
    if (sum <= 0) return MABD_OK;
    info->redmax.guarded++;
    if (!sim->divides) info->converged = false;
    if (!sim->divides) return MABD_OK;
    sim->reports[*bad].reason = "contacts gain energy near";
    return MABD_ERR_DIVERGED;
}

mabd_status mabd_redmax_close_contacts(mabd_redmax_sim* sim, mabd_step_info* info, int32_t* bad) {
    mabd_redmax_contacts* c = sim->contacts;
    if (c->points.count == 0) return MABD_OK;
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!c->touches[i]) continue;
        sim->contact_poses[i] = sim->parts[i].poses;
        sim->contact_solves[i] = stage_of(sim, i);
        sim->parts[i].poses = true; // rows are read from the variations of poses
        sim->parts[i].pushed = true;
    }
    const mabd_status status = mabd_redmax_contact_rounds(sim, info, bad);
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!c->touches[i]) continue;
        if (status == MABD_OK) mabd_redmax_store_node(&sim->contact_solves[i], &sim->next);
        sim->parts[i].poses = sim->contact_poses[i], sim->parts[i].pushed = false;
        sim->parts[i].history_after = false;
    }
    mabd_redmax_count_contacts(c, info);
    return status == MABD_OK ? guard_contacts(sim, info, bad) : status;
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
