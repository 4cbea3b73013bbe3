// SPDX-License-Identifier: Apache-2.0
// Contacts of shapes in the redmax formulation: points and laws that both sorts of coordinates
// share (contact_points.c, contact_forces.c), and those of joint coordinates (contact.c).
#pragma once

#include "collide/collide.h"
#include "contact/curvature.h"
#include "formulation/redmax/redmax_data.h"

/// One contact point in a step.
typedef struct mabd_redmax_contact {
    int32_t body[2], link[2], part[2]; // of a and b; link and part -1 = moves by no forces
    mabd_vec3 X[2];                    // the points on a and b, principal frames [m]
    mabd_vec3 at[2];                   // they where the contact was found, world [m]
    mabd_vec3 axis[3];                 // n from a to b, tangents; unit, world
    mabd_spatial row[2][3];            // wrenches of unit forces along them on a and b, link frames
    mabd_curvature bent[2];            // of the surfaces there, in the tangents
    mabd_real start[3];                // rows where it was found: gap and slips [m]
    mabd_real rest[3];                 // rows at the motion that forces are found for [m]
    mabd_real last[3];                 // forces that the last linear problem began with [N]
    mabd_real held[2];                 // stiffness that holds normal and tangents in H [N/m]
    mabd_real wanted[3];               // rows that the forces are to give [m]
    mabd_real distance;                // of the surfaces without forces [m]
    mabd_real friction;                // coefficient
    mabd_real force[3];                // on b along n and the tangents [N]
    mabd_real end;                     // distance with forces, as far as rows are linear [m]
    bool taken;                        // its forces are those of a point that was found again
} mabd_redmax_contact;

/// Contacts of a simulation.
typedef struct mabd_redmax_contacts {
    mabd_allocator allocator;
    const mabd_model* model;
    mabd_real h;        // of a step [s]
    int32_t part_count; // parts move independently of each other without contacts
    mabd_collide* geometry;
    mabd_list points;         // mabd_redmax_contact of the last step
    mabd_list reals;          // of the problem: mabd_real
    mabd_list columns, start; // int32_t
    mabd_list dense;          // of a direct solve: mabd_real
    mabd_list responses;      // of a part to several wrenches (responses.c)
    mabd_list chosen, taken;  // contacts in it: int32_t, bool
    mabd_real *from, *to;     // (bodies x 12) poses at the ends of the step
    mabd_vec3* velocity;      // (bodies x 2) of centres and angular, world, at its start
    bool* touches;            // (parts) has contact points in this step
    bool* weighed;            // (bodies) in the books of a step
    mabd_real opening;        // added to the distance up to which points are found [m]
    mabd_real hold;           // part of their curvature that contacts are held by (contact_push.c)
    bool direct;              // conjugate gradients have not converged in this step
    bool moves;               // axes still change the branches of their laws in a round
    mabd_real kinetic;        // larger of the energies at both ends without contacts [J]
    void* memory;
    size_t memory_size;
} mabd_redmax_contacts;

/// Most responses at a time.
#define MABD_RESPONSES 8
/// A row of a contact.
typedef struct mabd_redmax_row {
    const mabd_redmax_contact* contact;
    int r;
} mabd_redmax_row;

/// The coordinates in which the bodies move.
typedef struct mabd_redmax_contact_host {
    void* self;
    /// Set link, part and rows of a side of a contact at the world point x.
    void (*set_side)(void* self, int side, mabd_vec3 x, mabd_redmax_contact* contact);
    /// Compute the motions of a part in the step by unit forces along each of `count` rows of
    /// contacts; count is at most that of responses_of the part.
    void (*respond)(void* self, int32_t part, int count, const mabd_redmax_row* rows);
    /// The motion of the link of a side of a contact by row number `lane` of the last of these.
    mabd_spatial (*motion)(const void* self, const mabd_redmax_contact* contact, int side,
                           int32_t part, int lane);
    /// Rows that may be taken at once, 1 .. MABD_RESPONSES.
    int (*responses_of)(const void* self, int32_t part);
} mabd_redmax_contact_host;

/// Take the memory of responses (responses.c). MABD_ERR_MEMORY.
mabd_status mabd_redmax_take_responses(struct mabd_redmax_sim* sim);
/// Begin with no wrenches on a part (responses.c).
void mabd_redmax_clear_responses(const mabd_redmax_solve* s);
/// Add a wrench on a link to response number `lane` (responses.c).
void mabd_redmax_set_wrench(const struct mabd_redmax_sim* sim, int32_t link, int lane,
                            mabd_spatial F);
/// Compute the responses of a part without borders by its last factor (responses.c).
void mabd_redmax_find_responses(const mabd_redmax_solve* s);
/// Return the motion of a link in a response (responses.c).
mabd_spatial mabd_redmax_response(const struct mabd_redmax_sim* sim, int32_t link, int lane);

/// Take the memory of contacts in steps of h [s] between bodies that move in parts. *out is null if
/// the model has no contacts. MABD_ERR_MEMORY: destroy *out.
mabd_status mabd_redmax_contacts_create(const mabd_model* model, mabd_real h, int32_t part_count,
                                        const mabd_allocator* allocator,
                                        mabd_redmax_contacts** out);
/// Free contacts; null is allowed.
void mabd_redmax_contacts_destroy(mabd_redmax_contacts* c);
/// Bytes held now; 0 of null.
size_t mabd_redmax_contacts_bytes(const mabd_redmax_contacts* c);
/// Write the pose of a body to poses (bodies x 12).
void mabd_redmax_contact_pose(mabd_mat3 R, mabd_vec3 center, int32_t body, mabd_real* poses);
/// Find the points of the step between the poses `from` and `to`, with `velocity` at its start, and
/// mark the parts that have some. MABD_ERR_MEMORY, MABD_ERR_DIVERGED.
mabd_status mabd_redmax_find_points(mabd_redmax_contacts* c, const mabd_redmax_contact_host* host);
/// Add the points of the step between the poses `from` and `to` to those that are there.
/// MABD_ERR_MEMORY, MABD_ERR_DIVERGED.
mabd_status mabd_redmax_add_points(mabd_redmax_contacts* c, const mabd_redmax_contact_host* host);
/// Compute the forces of all points by a problem with a tolerance [m], whose rows are `rest` under
/// the forces `last`; the first guess is `force`. They get force, wanted and end, and info their
/// report (contact_forces.c). MABD_ERR_MEMORY, MABD_ERR_DIVERGED.
mabd_status mabd_redmax_contact_forces(mabd_redmax_contacts* c,
                                       const mabd_redmax_contact_host* host,
                                       mabd_contact_problem problem, mabd_real tolerance,
                                       mabd_step_info* info);
/// Return the wrench of a contact on the link of a side.
mabd_spatial mabd_redmax_contact_wrench(const mabd_redmax_contact* contact, int side);
/// Report points, contacts and the deepest overlap of the step.
void mabd_redmax_count_contacts(const mabd_redmax_contacts* c, mabd_step_info* info);
/// Return the velocity of a point of a body at the start of the step. X: in its principal frame.
mabd_vec3 mabd_redmax_start_velocity(const mabd_redmax_contacts* c, int32_t body, mabd_vec3 X);
/// Book the works of all points in a step that succeeded (contact_works.c).
void mabd_redmax_book_contacts(mabd_redmax_contacts* c, const mabd_rigid_step* step,
                               mabd_rigid_works* work);
/// Entry get_contacts of the table. body: the state of a body of `self`; c may be null.
int32_t mabd_redmax_list_contacts(const mabd_redmax_contacts* c,
                                  mabd_rigid_state (*body)(const void* self, int32_t body),
                                  const void* self, int32_t capacity, mabd_contact_info* contacts);

/// Find the contacts of the step from `now` to `next`, and mark the parts that have some
/// (contact.c). MABD_ERR_MEMORY, MABD_ERR_DIVERGED.
mabd_status mabd_redmax_find_contacts(struct mabd_redmax_sim* sim);
/// Move `next` of the parts with contacts by the forces of the contacts, and report them in info.
/// MABD_ERR_MEMORY, MABD_ERR_SINGULAR, MABD_ERR_DIVERGED: *bad is the part (contact.c).
mabd_status mabd_redmax_close_contacts(struct mabd_redmax_sim* sim, mabd_step_info* info,
                                       int32_t* bad);
/// The coordinates of trees (contact.c).
mabd_redmax_contact_host mabd_redmax_contact_host_of(struct mabd_redmax_sim* sim);
/// Find the points again where the parts with contacts are now, with the forces that they have.
/// Bodies that have left each other, as after an impact, keep theirs (contact.c). MABD_ERR_MEMORY,
/// MABD_ERR_DIVERGED.
mabd_status mabd_redmax_find_again(struct mabd_redmax_sim* sim);
/// Move the iterates of the parts with contacts by the forces of their contacts (contact_rounds.c).
/// MABD_ERR_MEMORY, MABD_ERR_SINGULAR, MABD_ERR_DIVERGED: *bad is the part.
mabd_status mabd_redmax_contact_rounds(struct mabd_redmax_sim* sim, mabd_step_info* info,
                                       int32_t* bad);
/// Subtract the changes of the forces of contacts in the last problem of a part from `forces`
/// (freedoms) (contact_rounds.c).
void mabd_redmax_subtract_changes(const mabd_redmax_solve* s, mabd_real* forces);
/// Set the forces of the contacts on the links of a part where they are now (contact_push.c).
void mabd_redmax_set_pushes(struct mabd_redmax_sim* sim, int32_t part);
/// Wrench of sim->push on a link at its frame (contact_push.c).
mabd_spatial mabd_redmax_push_wrench(const struct mabd_redmax_sim* sim, int32_t link);
/// Subtract the derivatives of the wrench of sim->push on a link by its own motion from N (6 x 18)
/// (contact_push.c).
void mabd_redmax_subtract_push(const struct mabd_redmax_sim* sim, int32_t link, mabd_real* N);
/// Solve for the motion of a part under forces b (freedoms), loops closed: x out (border.c).
void mabd_redmax_respond(const mabd_redmax_solve* s, mabd_real* x);
/// Add the forces of a wrench on a link to the rows b (freedoms) of its part (border.c).
void mabd_redmax_pull_wrench(const mabd_redmax_sim* sim, int32_t link, mabd_spatial F,
                             mabd_real* b);

/// Entries of the table (contact.c).
int32_t mabd_redmax_get_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts);
mabd_status mabd_redmax_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b);
