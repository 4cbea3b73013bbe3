// SPDX-License-Identifier: Apache-2.0
// Contacts of shapes in maximal coordinates.
//
// All bodies move without contacts first. Where they touch at the end, forces f along the rows N of
// the contact points change the velocities [RM eq. 1.95, 1.103, 2.120, 2.121]:
//
//   dV = h A^-1 N'f      A^-1 = M^-1 - M^-1 G' K^-1 G M^-1, joints closed (maximal_step.c)
//
// which moves the end poses by h dV. So W = h^2 N A^-1 N' of the laws (contact_forces.c), with rows
// and velocities in the frames of the bodies. ([RM eq. 1.99] has N'alpha with the other sign: a
// body that falls on the ground would leave downwards. Forces push along +N' here, f_n >= 0, and
// friction is bounded by mu |f_n|.)

#include "formulation/redmax/maximal.h"

#include "base/clock.h"

#include <string.h>

// ---- poses -------------------------------------------------------------------------------------

static void write_poses(const mabd_maximal_sim* sim, const mabd_maximal_node* node, mabd_real time,
                        mabd_real* poses, mabd_vec3* velocity) {
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        const mabd_rigid_state s = mabd_maximal_state_of(sim, node, time, i);
        mabd_redmax_contact_pose(mabd_q_matrix(s.q), s.c, i, poses);
        if (velocity) velocity[2 * i] = s.v, velocity[2 * i + 1] = s.omega;
    }
}

// ---- the host of points ------------------------------------------------------------------------

// Wrenches of unit forces at a world point x on the body of a side, in its frame at the end.
static void set_side(void* self, int side, mabd_vec3 x, mabd_redmax_contact* p) {
    const mabd_maximal_sim* sim = self;
    const int32_t body = p->body[side];
    p->part[side] = sim->body_component[body];
    p->link[side] = p->part[side] < 0 ? -1 : body;
    if (p->part[side] < 0) return;
    const mabd_real* pose = sim->contacts->to + 12 * (size_t)body;
    const mabd_mat3 R = mabd_m3_load(pose);
    const mabd_vec3 arm = mabd_m3_tmul(R, mabd_v3_sub(x, mabd_v3_load(pose + 9)));
    for (int k = 0; k < 3; k++) {
        const mabd_vec3 l = mabd_m3_tmul(R, mabd_v3_scale(side ? 1 : -1, p->axis[k]));
        p->row[side][k] = mabd_sp(mabd_v3_cross(arm, l), l);
    }
}

// h M^-1 of a wrench in the frame of a body.
static mabd_rigid_twist impulse(const mabd_maximal_sim* sim, int32_t body, mabd_spatial F) {
    const mabd_model_class* c = &sim->model->classes[sim->model->body_class[body]];
    const mabd_rigid_wrench world = {mabd_m3_mul(sim->poses[body].R, F.v), F.w};
    const mabd_rigid_twist zero = {{0, 0, 0}, {0, 0, 0}};
    return mabd_rigid_twist_axpy(sim->def.h, mabd_rigid_accelerate(c, world), zero);
}

// Write -G dV of the bodies of a component to sim->column.
static void set_column(mabd_maximal_sim* sim, int32_t component) {
    const mabd_plan* plan = sim->plan;
    const mabd_plan_component* c = &plan->components[component];
    for (int32_t s = c->slot_first; s < c->slot_first + c->slot_count; s++) {
        const int32_t first = plan->slot_row[s], joint = plan->slot_joint[s];
        for (int32_t r = first; r < first + plan->slot_width[s]; r++) {
            sim->column[r] = 0;
            if (joint < 0) continue;
            const int32_t a = sim->model->joints[joint].a, b = sim->model->joints[joint].b;
            sim->column[r] = -mabd_rigid_row_rate(&sim->J[r], sim->push_u[a], sim->push_u[b]);
        }
    }
}

// Velocities of the bodies of a component by unit forces along a row: sim->push_u.
static void respond(void* self, int32_t component, int count, const mabd_redmax_row* rows) {
    mabd_maximal_sim* sim = self;
    const mabd_redmax_contact* contact = rows->contact;
    const int r = rows->r;
    (void)count; // 1
    const mabd_plan_component* c = &sim->plan->components[component];
    const mabd_rigid_mobility K = mabd_maximal_mobility(sim);
    const mabd_rigid_twist zero = {{0, 0, 0}, {0, 0, 0}};
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        sim->push_u[sim->plan->component_bodies[i]] = zero;
    }
    for (int side = 0; side < 2; side++) {
        const int32_t body = contact->body[side];
        if (contact->part[side] != component) continue;
        sim->push_u[body] =
            mabd_rigid_twist_axpy(1, impulse(sim, body, contact->row[side][r]), sim->push_u[body]);
    }
    if (!sim->ops[component]) return;
    const mabd_dual_system system = mabd_maximal_system(sim, component);
    set_column(sim, component);
    mabd_rigid_mobility_solve(&K, component, sim->ops[component], sim->solvers[component], &system,
                              sim->column, sim->work);
    for (int32_t i = c->body_first; i < c->body_first + c->body_count; i++) {
        const int32_t body = sim->plan->component_bodies[i];
        const mabd_rigid_twist more = mabd_rigid_mobility_response(&K, body, sim->column);
        sim->push_u[body] = mabd_rigid_twist_axpy(1, more, sim->push_u[body]);
    }
}

static int responses_of(const void* self, int32_t component) {
    (void)self, (void)component;
    return 1;
}

static mabd_spatial motion(const void* self, const mabd_redmax_contact* contact, int side,
                           int32_t component, int lane) {
    const mabd_maximal_sim* sim = self;
    (void)component, (void)lane;
    const int32_t body = contact->body[side];
    const mabd_rigid_twist* u = &sim->push_u[body];
    return mabd_sp_scale(sim->def.h, mabd_sp(u->w, mabd_m3_tmul(sim->poses[body].R, u->v)));
}

// ---- the step ----------------------------------------------------------------------------------

// Move the components that touch by the forces of their contacts.
static void move_components(mabd_maximal_sim* sim) {
    const mabd_redmax_contact* points = sim->contacts->points.data;
    for (int32_t i = 0; i < sim->contacts->points.count; i++) {
        for (int side = 0; side < 2; side++) {
            const int32_t body = points[i].body[side];
            if (points[i].part[side] < 0) continue;
            const mabd_spatial F = mabd_redmax_contact_wrench(&points[i], side);
            sim->free[body] = mabd_rigid_twist_axpy(1, impulse(sim, body, F), sim->free[body]);
        }
    }
    for (int32_t i = 0; i < sim->plan->component_count; i++) {
        if (sim->contacts->touches[i]) mabd_maximal_move(sim, i);
    }
}

mabd_status mabd_maximal_meet(mabd_maximal_sim* sim, mabd_step_info* info) {
    mabd_redmax_contacts* c = sim->contacts;
    const mabd_redmax_contact_host host = {sim, set_side, respond, motion, responses_of};
    const double clock = mabd_clock();
    write_poses(sim, &sim->now, sim->time, c->from, c->velocity);
    write_poses(sim, &sim->next, sim->time + sim->def.h, c->to, NULL);
    c->direct = false;
    MABD_TRY(mabd_redmax_find_points(c, &host));
    MABD_TRY(mabd_redmax_contact_forces(c, &host, sim->def.redmax.contacts,
                                        sim->def.contact_tolerance, info));
    info->converged &= info->contact_residual <= sim->def.contact_tolerance;
    move_components(sim);
    mabd_redmax_count_contacts(c, info);
    sim->contact_seconds = mabd_clock() - clock;
    return MABD_OK;
}

// ---- results -----------------------------------------------------------------------------------

static mabd_rigid_state body_of(const void* self, int32_t body) {
    const mabd_maximal_sim* sim = self;
    return mabd_maximal_state_of(sim, &sim->now, sim->time, body);
}

int32_t mabd_maximal_get_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts) {
    const mabd_maximal_sim* sim = self;
    return mabd_redmax_list_contacts(sim->contacts, body_of, sim, capacity, contacts);
}

mabd_status mabd_maximal_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b) {
    const mabd_maximal_sim* sim = self;
    *depth = 0, *a = *b = -1;
    if (!sim->contacts) return MABD_OK;
    write_poses(sim, &sim->now, sim->time, sim->contacts->to, NULL);
    return mabd_collide_overlap(sim->contacts->geometry, sim->contacts->to, depth, a, b);
}
