// SPDX-License-Identifier: Apache-2.0
// Contacts of shapes in the redmax formulation: found and closed at the end of a step (contact.c),
// forces by one of two problems over all contacts (contact_forces.c).
#pragma once

#include "collide/collide.h"
#include "formulation/redmax/redmax_data.h"

/// One contact point in a step.
typedef struct mabd_redmax_contact {
    int32_t body[2], link[2], part[2]; // of a and b; link and part -1 = moves by no forces
    mabd_vec3 Xb;                      // the point on b, principal frame [m]
    mabd_vec3 axis[3];                 // n from a to b, tangents; unit, world
    mabd_spatial row[2][3];            // wrenches of unit forces along them on a and b, link frames
    mabd_real rest[3];                 // rows without forces: gap and slips [m]
    mabd_real distance;                // of the surfaces without forces [m]
    mabd_real friction;                // coefficient
    mabd_real force[3];                // on b along n and the tangents [N]
    mabd_real end;                     // distance with forces, as far as rows are linear [m]
} mabd_redmax_contact;

/// Contacts of a simulation.
typedef struct mabd_redmax_contacts {
    mabd_allocator allocator;
    mabd_collide* geometry;
    mabd_list points;          // mabd_redmax_contact of the last step
    mabd_list reals;           // of the problem: mabd_real
    mabd_list columns, start;  // int32_t
    mabd_real *from, *to;      // (bodies x 12) poses at the ends of the step
    mabd_vec3* velocity;       // (bodies x 2) of centres and angular, world, at its start
    bool* touches;             // (parts) has contact points in this step
    bool* poses;               // (parts) value of the part's own
    mabd_redmax_solve* solves; // (parts) stages of parts with contacts
    void* memory;
    size_t memory_size;
} mabd_redmax_contacts;

/// Take the memory of the contacts of a simulation whose parts are there. MABD_ERR_MEMORY.
mabd_status mabd_redmax_contacts_create(struct mabd_redmax_sim* sim);
/// Free the contacts of a simulation; null is allowed.
void mabd_redmax_contacts_destroy(struct mabd_redmax_sim* sim);
/// Bytes held now.
size_t mabd_redmax_contacts_bytes(const struct mabd_redmax_sim* sim);

/// Find the contacts of the step from `now` to `next`, and mark the parts that have some. margin:
/// automatic or that of the scene. MABD_ERR_MEMORY, MABD_ERR_DIVERGED.
mabd_status mabd_redmax_find_contacts(struct mabd_redmax_sim* sim);
/// Move `next` of the parts with contacts by the forces of the contacts, and report them in info.
/// MABD_ERR_MEMORY, MABD_ERR_SINGULAR, MABD_ERR_DIVERGED: *bad is the part.
mabd_status mabd_redmax_close_contacts(struct mabd_redmax_sim* sim, mabd_step_info* info,
                                       int32_t* bad);
/// Compute the forces of all contacts, whose parts are factored: sim->contacts->points get force
/// and end (contact_forces.c). MABD_ERR_MEMORY, MABD_ERR_DIVERGED.
mabd_status mabd_redmax_contact_forces(struct mabd_redmax_sim* sim, mabd_redmax_solve* solves,
                                       mabd_step_info* info);
/// Solve for the motion of a part under forces b (freedoms), loops closed: x out (border.c).
void mabd_redmax_respond(const mabd_redmax_solve* s, mabd_real* x);
/// Add the forces of a wrench on a link to the rows b (freedoms) of its part (border.c).
void mabd_redmax_pull_wrench(const mabd_redmax_sim* sim, int32_t link, mabd_spatial F,
                             mabd_real* b);

/// Entries of the table (contact.c).
int32_t mabd_redmax_get_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts);
mabd_status mabd_redmax_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b);
