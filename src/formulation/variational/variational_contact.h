// SPDX-License-Identifier: Apache-2.0
// Contacts of shapes, stops and boxes of axes in the variational formulation.
//
//   step.c      mabd_variational_find_contacts   pairs of geoms that may touch in the step
//                                                (contact.c), islands that they join
//   substep     mabd_variational_meet            points, rows, interior point, true distances
//                                                (contact_step.c)
//   end         mabd_variational_keep_contacts   forces and points become state (contact.c)
//
// Each element has rows on two bodies: contacts a normal and two tangents, stops and boxes one. The
// barrier (barrier.h) makes its forces functions of the motion, so it needs no unknowns: it adds to
// the blocks of its bodies, and to one that couples them if both move by forces.
#pragma once

#include "collide/collide.h"
#include "formulation/variational/interior_point.h"
#include "formulation/variational/variational_solve.h"
#include "rigid/pressed.h"

/// Pressure of a point that presses, over its weight: a point 0.1 mm off has this at a tolerance of
/// 1 um.
#define MABD_VARIATIONAL_PRESSED_PART ((mabd_real)1e-2)

/// A contact point or a stop in a substep. The entry of the same number in `barriers` is its
/// barrier.
typedef struct mabd_variational_touch {
    int32_t a, b;      // bodies, body_count = world
    int32_t bound;     // of a stop, -1 = a point
    int32_t meeting;   // of a point
    mabd_vec3 X[2];    // the point on a and b, principal frames [m]
    mabd_vec3 axis[3]; // n from a to b, tangents; unit, world
    mabd_real restitution;
    mabd_real start;       // distance at the start of the substep [m]
    mabd_real approach;    // speed at which the point closes there, before impulses [m/s]
    mabd_real rebound;     // mean rate of the substep after an impact there [m/s]
    mabd_real given[3];    // rates by sides that do not move by forces [m/s]
    mabd_real allowed;     // distance that is asked for: 0, less of bodies that overlap [m]
    bool bounces;          // the rate of an impact is asked for instead
    mabd_rigid_row row[3]; // n and tangents at the start, at one common point of the world
    mabd_rigid_row next;   // of the distance at the end, by V
} mabd_variational_touch;

/// A box in a substep. The entry of the same number in `boxes` is its barrier.
typedef struct mabd_variational_drive {
    int32_t a, b, bound;
    mabd_real rate; // that is wanted [m/s], [rad/s]
    mabd_rigid_row row, next;
} mabd_variational_drive;

/// What bounds an axis.
typedef enum mabd_variational_bound_kind {
    MABD_VARIATIONAL_LOWER, // stops
    MABD_VARIATIONAL_UPPER,
    MABD_VARIATIONAL_DRIVE,   // limited servo or rate
    MABD_VARIATIONAL_FRICTION // dry
} mabd_variational_bound_kind;

/// A stop or box of the scene.
typedef struct mabd_variational_bound {
    int32_t joint, control; // of the joint
    mabd_variational_bound_kind kind;
} mabd_variational_bound;

/// A bound after a substep: state.
typedef struct mabd_variational_bound_state {
    mabd_real force; // pressure of a stop, force of a box on the coordinate [N], [N m]
    mabd_real a, b;  // speeds of a box
    mabd_real h;     // of the substep [s]
    bool presses;    // of a stop
} mabd_variational_bound_state;

/// Forces of a point that was known before.
typedef struct mabd_variational_recall {
    mabd_collide_identity id;
    mabd_real gamma, psi; // [N], [m/s]
} mabd_variational_recall;

/// A pair of geoms with points.
typedef struct mabd_variational_meeting {
    mabd_collide_key key;
    int64_t pair; // of the geometry
    int32_t a, b, island;
    int32_t first, count;                                    // touches of the last search
    int32_t memory_count;                                    // of the last substep
    mabd_real h;                                             // of the last substep [s]
    mabd_variational_recall memory[MABD_CONTACT_MAX_POINTS]; // (memory_count)
} mabd_variational_meeting;

/// A point of the last step: state.
typedef struct mabd_variational_known {
    mabd_variational_recall memory; // force along the normal, over the last substep
    int32_t a, b;
    mabd_vec3 X[2], axis[3];
    mabd_real friction[2]; // on b along the tangents [N]
    mabd_real bound;       // c gamma [N]
    mabd_real weight;      // force that it is compared with [N]
    mabd_real h;           // of the substep [s]
    mabd_real distance;    // at the state [m]
} mabd_variational_known;

typedef struct mabd_variational_contacts {
    mabd_allocator allocator;
    mabd_collide* geometry; // null: no shapes touch
    mabd_real margin;       // [m]
    bool scripts;           // some scripted body has shapes
    mabd_real *from, *to;   // (bodies x 12) poses of a motion
    int32_t bound_count, stop_count;
    mabd_variational_bound* bounds;                   // (bound_count) by island
    int32_t* bound_first;                             // (islands + 1)
    int32_t* axis_bound;                              // (coordinates x 4) bounds by kind, -1 = none
    mabd_variational_bound_state *bound, *next_bound; // (bound_count)

    // step
    int32_t group_count;              // islands of the step
    mabd_variational_island** groups; // (islands)
    int32_t* joined;                  // (islands) lowest island that it is joined with
    int32_t* work;                    // (islands) next island that it is joined with, -1 = none
    int32_t* count;                   // (islands)
    /// Islands that contacts join, in this step and in the one before, with their lists.
    struct mabd_variational_joined {
        int32_t count;
        mabd_variational_island* islands;                // (islands)
        int32_t *bodies, *joints, *components, *springs; // as those of the simulation
    } now, before;
    mabd_list meetings;          // mabd_variational_meeting, by key
    mabd_list order;             // int32_t: meetings by island
    mabd_list touches, barriers; // by island: stops, then room for all points of its meetings
    mabd_list drives, boxes;     // by island
    mabd_list known, next_known; // mabd_variational_known, by key
    mabd_list forced;            // mabd_collide_key: pairs that a first try has missed, rising
    mabd_real reach;             // by which bodies came elsewhere than predicted in that try [m]
    mabd_list pairs;             // mabd_variational_pair of an island
    mabd_list pressed;           // mabd_rigid_pressed at the state
    mabd_list press_work;        // mabd_real
    mabd_rigid_twist *velocity, *push; // (bodies)
    void* memory;
    size_t memory_size, system_bytes;
} mabd_variational_contacts;

/// Meeting i of an island.
MABD_FN mabd_variational_meeting* mabd_variational_meeting_of(const mabd_variational_contacts* c,
                                                              const mabd_variational_island* island,
                                                              int32_t i) {
    const int32_t* order = (const int32_t*)c->order.data + island->meeting_first;
    return (mabd_variational_meeting*)c->meetings.data + order[i];
}
/// First touch of an island.
MABD_FN mabd_variational_touch* mabd_variational_touches(const mabd_variational_contacts* c,
                                                         const mabd_variational_island* island) {
    return (mabd_variational_touch*)c->touches.data + island->touch_first;
}
/// Barrier of the first touch of an island.
MABD_FN mabd_barrier_contact* mabd_variational_barriers(const mabd_variational_contacts* c,
                                                        const mabd_variational_island* island) {
    return (mabd_barrier_contact*)c->barriers.data + island->touch_first;
}
/// First box of an island.
MABD_FN mabd_variational_drive* mabd_variational_drives(const mabd_variational_contacts* c,
                                                        const mabd_variational_island* island) {
    return (mabd_variational_drive*)c->drives.data + island->box_first;
}
/// Barrier of the first box of an island.
MABD_FN mabd_barrier_box* mabd_variational_boxes(const mabd_variational_contacts* c,
                                                 const mabd_variational_island* island) {
    return (mabd_barrier_box*)c->boxes.data + island->box_first;
}

// ---- contact.c ---------------------------------------------------------------------------------

/// Take the memory of contacts and bounds of the axes of a simulation whose islands are known.
/// sim->contacts stays null if it has none. MABD_ERR_MEMORY.
mabd_status mabd_variational_contacts_create(mabd_variational_sim* sim);
/// Null is allowed.
void mabd_variational_contacts_destroy(mabd_variational_contacts* c);
/// Bytes held; 0 for null.
size_t mabd_variational_contacts_bytes(const mabd_variational_contacts* c);
/// again: with the pairs that mabd_variational_find_missed has found. Find the pairs that may touch
/// in the step and the islands of the step: contacts->groups, or those of the simulation if it has
/// no contacts. MABD_ERR_MEMORY; MABD_ERR_DIVERGED: *body has no pose.
mabd_status mabd_variational_find_contacts(mabd_variational_sim* sim, bool again, int32_t* body);
/// Look for pairs that overlap at the end of a step and were none of its meetings: bodies that
/// contacts have moved elsewhere. *missed: deepest of these overlaps [m], 0 = none; else the step
/// is to be taken again, with them. MABD_ERR_MEMORY, MABD_ERR_DIVERGED as
/// mabd_variational_find_contacts.
mabd_status mabd_variational_find_missed(mabd_variational_sim* sim, mabd_real* missed);
/// Make room for the points of a step. MABD_ERR_MEMORY.
mabd_status mabd_variational_reserve_known(mabd_variational_contacts* c);
/// Make the touches and boxes of the last substep the state.
void mabd_variational_keep_contacts(mabd_variational_sim* sim);
/// Bytes of the state of contacts; 0 for null.
size_t mabd_variational_contacts_state_size(const mabd_variational_contacts* c);
void mabd_variational_save_contacts(const mabd_variational_contacts* c, void* buffer);
/// Restore a state of `size` bytes. check: only make room for it. MABD_ERR_INPUT if it is none,
/// MABD_ERR_MEMORY; then nothing has changed.
mabd_status mabd_variational_restore_contacts(mabd_variational_contacts* c, const void* buffer,
                                              size_t size, bool check);
/// Forget points and forces: at the start of a run.
void mabd_variational_reset_contacts(mabd_variational_sim* sim);

// ---- contact_islands.c -------------------------------------------------------------------------

/// Join the islands that meetings connect, and give every island of the step its meetings, room for
/// touches, and its matrix. MABD_ERR_MEMORY.
mabd_status mabd_variational_join_islands(mabd_variational_sim* sim);
/// Create the matrix of an island that has none, with the pairs that its touches and bounds couple.
/// MABD_ERR_MEMORY.
mabd_status mabd_variational_give_system(mabd_variational_sim* sim,
                                         mabd_variational_island* island);
/// Depth of an island at the start of a step: the largest of those that it joins.
int32_t mabd_variational_least_depth(const mabd_variational_sim* sim,
                                     const mabd_variational_island* island);
/// Forget matrices of islands that contacts have joined.
void mabd_variational_drop_systems(mabd_variational_contacts* c);

// ---- contact_points.c --------------------------------------------------------------------------

/// Write the poses of a motion in h [s] from `time` on: of `count` bodies, from a list or all
/// (null), from their states and velocities in `bodies`, which may be null if none of them moves by
/// forces.
void mabd_variational_predict(mabd_variational_sim* sim, const mabd_variational_body* bodies,
                              const int32_t* list, int32_t count, mabd_real time, mabd_real h);
/// Find the points of an island in a substep. predicted: at the poses that its velocities predict,
/// else at sim->to. Points that were known before keep their forces.
void mabd_variational_find_points(const mabd_variational_solve* s, bool predicted);
/// Keep the forces of the points of an island for the next search.
void mabd_variational_remember(const mabd_variational_solve* s);
/// Return the deepest overlap of the pairs of an island at sim->to [m], 0 = none.
mabd_real mabd_variational_deepest(const mabd_variational_solve* s);
/// Compute the rows of the points of an island at the start of a substep.
void mabd_variational_start_points(const mabd_variational_solve* s);
/// Compute distance and slip of a point at the iterate, and with `slopes` its row there.
void mabd_variational_point_errors(const mabd_variational_solve* s, mabd_variational_touch* t,
                                   mabd_barrier_contact* p, bool slopes);
/// Return s times a row.
mabd_rigid_row mabd_variational_scaled(mabd_rigid_row row, mabd_real s);
/// Force that products of a row are compared with: the weight that rests on it and the force that
/// ends a speed in a substep. compliance: G M^-1 G' of the row; excess: speed beyond that of
/// arrival at the end [m/s].
mabd_real mabd_variational_weight(const mabd_variational_solve* s, mabd_real compliance,
                                  mabd_real excess);

// ---- contact_axes.c ----------------------------------------------------------------------------

/// Write the bounds of the axes of a joint to `bounds`, null = count them. Returns their number;
/// *stops gets how many of them are stops, which come first.
int32_t mabd_variational_list_bounds(const mabd_variational_sim* sim, int32_t joint,
                                     mabd_variational_bound* bounds, int32_t* stops);
/// Force of the stops and boxes of a control on its coordinate in the last substep, or of its
/// limited drive alone [N], [N m].
mabd_real mabd_variational_bound_force(const mabd_variational_sim* sim, int32_t coordinate,
                                       bool drives);
/// Row of the coordinate of a bound at the state; of an upper stop reversed.
mabd_rigid_row mabd_variational_bound_row(const mabd_variational_sim* sim,
                                          const mabd_variational_bound* bound);
/// Compute the rows and laws of the stops and boxes of an island at the start of a substep.
void mabd_variational_start_bounds(const mabd_variational_solve* s);
/// Compute distances of stops and rates of boxes of an island at the iterate, and with `slopes`
/// their rows there.
void mabd_variational_bound_errors(const mabd_variational_solve* s, bool slopes);

// ---- contact_step.c ----------------------------------------------------------------------------

/// Find V, impulses and forces of a substep of an island with touches or boxes.
/// MABD_ERR_SINGULAR, MABD_ERR_DIVERGED: the report names the joint or body.
mabd_status mabd_variational_meet(const mabd_variational_solve* s);

// ---- contact_velocity.c ------------------------------------------------------------------------

/// Make room for velocities with that many points. MABD_ERR_MEMORY.
mabd_status mabd_variational_reserve_press(mabd_variational_contacts* c, int64_t points);
/// Add half the impulses of the boxes of the last substep to velocities u (bodies).
void mabd_variational_add_boxes(const mabd_variational_sim* sim, mabd_rigid_twist* u);
/// Change sim->velocity, which the joints allow, by the impulses of contacts and stops that pressed
/// in the last substep. True if some pressed: contacts->push has what their impulses would give the
/// bodies without joints.
bool mabd_variational_press(mabd_variational_sim* sim);

// ---- contact_output.c --------------------------------------------------------------------------

/// Entries get_contacts and overlap of the table.
int32_t mabd_variational_get_contacts(const void* self, int32_t capacity,
                                      mabd_contact_info* contacts);
mabd_status mabd_variational_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b);
/// Pose of a body at the state.
mabd_rigid_pose mabd_variational_pose_now(const mabd_variational_sim* sim, int32_t body);
/// True if a point presses.
bool mabd_variational_presses(const mabd_variational_known* k);
/// Add the contacts of the last step to a report.
void mabd_variational_count_contacts(const mabd_variational_sim* sim, mabd_step_info* info);
