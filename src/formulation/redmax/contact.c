// SPDX-License-Identifier: Apache-2.0
// Contacts of shapes in joint coordinates.
//
// A part takes its step without contacts first. Points are found where it would end
// (contact_points.c); parts that have some take the step by implicit Euler, so that their rates are
// those of the whole step, and from there forces move them by
//
//   dq = H^-1 N'l      g = W l + rest,   W = N H^-1 N'
//
// H of the stage with loops closed, N the rows of gap and slips of all contacts (contact_forces.c
// has the laws). A part with contacts has no history in the next step.

#include "formulation/redmax/redmax_contact.h"

#include "formulation/redmax/redmax_loops.h"
#include "formulation/redmax/redmax_sim.h"

#include <string.h>

// ---- poses -------------------------------------------------------------------------------------

// Place all links at a node.
static void place(mabd_redmax_sim* sim, const mabd_redmax_node* node, mabd_real time) {
    sim->placed = false;
    for (int32_t p = 0; p < sim->part_count; p++) {
        const mabd_redmax_solve s = {
            .sim = sim, .part = &sim->parts[p], .from_node = node, .time = time};
        mabd_redmax_load_node(&s, node);
        mabd_redmax_velocities(&s);
    }
}

// Write the poses (12 per body) of a node, and velocities if there is room for them.
static void write_poses(mabd_redmax_sim* sim, const mabd_redmax_node* node, mabd_real time,
                        mabd_real* poses, mabd_vec3* velocity) {
    place(sim, node, time);
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const bool moves = sim->body_link[i] >= 0;
        const mabd_rigid_state s =
            moves ? mabd_redmax_body(sim, i) : mabd_redmax_ground_state(sim, i, time);
        mabd_redmax_contact_pose(mabd_q_matrix(s.q), s.c, i, poses);
        if (velocity) velocity[2 * i] = s.v, velocity[2 * i + 1] = s.omega;
    }
}

// ---- the host of points ------------------------------------------------------------------------

// Wrenches of unit forces at a world point x on the link of a side.
static void set_side(void* self, int side, mabd_vec3 x, mabd_redmax_contact* p) {
    const mabd_redmax_sim* sim = self;
    const int32_t link = p->link[side] = sim->body_link[p->body[side]];
    p->part[side] = -1;
    if (link < 0) return;
    for (int32_t i = 0; i < sim->part_count; i++) {
        const mabd_redmax_part* part = &sim->parts[i];
        if (link >= part->link_first && link < part->link_first + part->link_count) {
            p->part[side] = i;
        }
    }
    const mabd_frame* W = &sim->world[link];
    const mabd_vec3 arm = mabd_m3_tmul(W->R, mabd_v3_sub(x, W->p));
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 l = mabd_m3_tmul(W->R, mabd_v3_scale(side ? 1 : -1, p->axis[k]));
        p->row[side][k] = mabd_sp(mabd_v3_cross(arm, l), l);
    }
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
    write_poses(sim, &sim->now, sim->time, c->from, c->velocity);
    write_poses(sim, &sim->next, sim->time + sim->def.h, c->to, NULL);
    return mabd_redmax_find_points(c, &host);
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

static mabd_status factor_stage(mabd_redmax_solve* s) {
    int32_t link;
    s->part->poses = true; // rows are read from the variations of poses
    mabd_redmax_rates(s);
    mabd_redmax_residual(s);
    MABD_TRY(mabd_redmax_factor(s, mabd_redmax_stage_weights(s->gamma), &link));
    return s->part->border_count > 0 ? mabd_redmax_border_factor(s) : MABD_OK;
}

// Collect the forces of contacts on a part: as rows of H, and as wrenches on its links.
static void add_forces(mabd_redmax_sim* sim, int32_t part, mabd_real* b) {
    const mabd_redmax_contact* points = sim->contacts->points.data;
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        for (int side = 0; side < 2; side++) {
            if (points[i].part[side] != part) continue;
            const mabd_spatial F = mabd_redmax_contact_wrench(&points[i], side);
            const int32_t link = points[i].link[side];
            mabd_redmax_pull_wrench(sim, link, F, b);
            sim->push[link] = mabd_sp_add(sim->push[link], F);
        }
    }
}

// Move a part by the forces of its contacts, and compute its wrenches with them.
static mabd_status move_part(mabd_redmax_sim* sim, mabd_redmax_solve* s, int32_t index) {
    const int32_t first = s->part->freedom_first, end = first + s->part->freedom_count;
    memset(sim->step + first, 0, (size_t)s->part->freedom_count * sizeof *sim->step);
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        sim->push[i] = mabd_sp_zero();
    }
    add_forces(sim, index, sim->step);
    mabd_redmax_respond(s, sim->step);
    for (int32_t k = first; k < end; k++) sim->q[k] += sim->step[k];
    for (int32_t r = 0; r < s->part->row_count; r++) { // forces of loops with the contacts
        sim->loops.force[s->part->row_first + r] += sim->loops.y[s->part->border_first + r];
    }
    mabd_redmax_rates(s);
    s->part->pushed = true;
    mabd_redmax_residual(s);
    s->part->pushed = false;
    if (s->part->row_count > 0) MABD_TRY(mabd_redmax_close_loops(s));
    mabd_redmax_store_node(s, &sim->next);
    return MABD_OK;
}

mabd_status mabd_redmax_close_contacts(mabd_redmax_sim* sim, mabd_step_info* info, int32_t* bad) {
    mabd_redmax_contacts* c = sim->contacts;
    mabd_status status = MABD_OK;
    mabd_redmax_solve* solves = sim->contact_solves;
    for (int32_t i = 0; i < sim->part_count && status == MABD_OK; i++) {
        if (!c->touches[i]) continue;
        *bad = i, sim->contact_poses[i] = sim->parts[i].poses;
        solves[i] = stage_of(sim, i);
        status = factor_stage(&solves[i]);
    }
    if (status == MABD_OK) {
        const mabd_redmax_contact_host host = host_of(sim);
        status = mabd_redmax_contact_forces(c, &host, sim->def.redmax.contacts,
                                            sim->def.contact_tolerance, info);
        if (status != MABD_OK) sim->reports[*bad].reason = "the forces of contacts diverge near";
    }
    for (int32_t i = 0; i < sim->part_count; i++) {
        if (!c->touches[i]) continue;
        if (status == MABD_OK) *bad = i, status = move_part(sim, &solves[i], i);
        sim->parts[i].poses = sim->contact_poses[i];
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
    write_poses(sim, &sim->now, sim->time, sim->contacts->to, NULL);
    return mabd_collide_overlap(sim->contacts->geometry, sim->contacts->to, depth, a, b);
}
