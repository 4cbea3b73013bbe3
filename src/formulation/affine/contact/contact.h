// SPDX-License-Identifier: Apache-2.0
// Contacts of an affine simulation: found, turned into rows, solved.
//
// A contact point of bodies a and b with normal n (from a to b) and tangents t gives three rows,
// all linear in the increments from the reference; each body carries the point of its own surface:
//
//   g = gap + n . (dx_b - dx_a)       gap: value at the reference                              [m]
//   s = slip + t . (dx_b - dx_a)      slip: displacement of b over a in this step so far       [m]
//
//   l_n >= 0,  g + c l_n >= 0, one of them zero       c: softness x the row's own J H^-1 J'
//   |l_t| <= mu l_n;  s + s0 = -c l_t while smaller, else l_t = -mu l_n (s + s0)/|s + s0|
//
// s0 = -c l_t of the last step is the stick offset: friction that sticks is a spring that remembers
// where it was at rest, so nothing creeps under a constant load. (A normal force with such a memory
// would be unstable. So is friction with BDF2 on the links of a running chain: the links begin to
// roll about their axes.)
//
// A straight body across a round one (a link on a sheave) rolls over it: turned by phi about the
// axis across both, the point moves by Rc phi along the body and the gap falls by Rc phi^2/2, Rc
// the distance of their axes. A plane does not have this term, so the second derivative is put
// beside the rows, (l_n Rc) phi^2/2 with the force of the last solve (affine/element/eliminate.h):
// under the tension of a chain it is a hundred times the inertia against turning within a step.
// Like geometric stiffness it steers the iteration, not its result.
//
// Rolling and spinning friction are torques on b about t and n against the turn of b over a in the
// step, y (element/turn_law.h):
//
//   torque = -k y,   k = mu_r l_n/|y| where the contact rolls, at most 1/c where it sticks
//
// so for a given k a contact has up to three linear rows of turns besides. k is the secant of the
// law at the last reference. A torque against y takes energy whatever k is. As rows, the turns of a
// contact are an entry of their own behind it (rows.contacts: -1 - i for those of contact i), with
// turns as displacements at a lever (mabd_affine_turn_lever).
//
// A surface that moves over its body (a conveyor) adds its own displacement to the slip.
//
// Rows hold at the end of the step. The gap is that of the shapes at the reference, except:
//   - overlapping bodies are not thrown out: a row pushes by no more than
//     MABD_CONTACT_PUSH_SPEED_M_S h + |s|/2 in a step
//   - an impact with restitution e asks for the displacement e h v (v: speed of approach)
//   - bodies that move farther in a step than they are thick get the points of their start poses:
//     the row is linear in their displacement, so nothing passes through (speculative contact)
//
// Contacts are solved in one of two ways (affine/contact/classify.c).
//
// Eliminated. Rows of a body against fixed or scripted ones are eliminated in its block, H + j j'/c
// one after the other,
//   u = H^-1 j,  s = c + j . u,  H^-1 <- H^-1 - (u/sqrt(s))(u/sqrt(s))',  y <- y - u (j . y + g)/s
// so chains and trees keep their structure (affine/element/eliminate.h), and a million contacts
// cost no more than their bodies. Newton's method with a line search finds which rows hold and
// where friction slips (affine/contact/line_search.c). A moving body that is much heavier counts as
// fixed here: it is the support of a load (a pulley under a chain). Its motion is found by
// conjugate gradients over the few freedoms of supports, one structured solve of the loads per
// product (affine/contact/carriers.c).
//
// As rows (affine/contact/solve_rows.c): contacts of groups in which bodies of similar mass touch.
// If all components of a group are small, as single bodies and jointed pairs are, the matrix of its
// rows is assembled (affine/contact/delassus.c) and sweeps over the contacts find the forces; else
// projected CG does, with one structured solve per product. With many contacts both stop before
// they converge and the residual is reported. The residual differs from step to step, and BDF2
// would amplify it: such bodies take the next step by Euler.
//
// A body that is hit takes this step and the next two by implicit Euler (in the two solves of
// SDIRK2 as two parts of the step), and so do the bodies jointed to it: extrapolating the speed
// from before an impact throws bodies back. Jointed bodies that rest on others stay with Euler (a
// chain that runs over a pulley by BDF2 gains energy from the small impacts of its links), single
// ones return to BDF2.
#pragma once

#include "base/list.h"
#include "collide/collide.h"
#include "dual/cone_cg.h"
#include "formulation/affine/body_types.h"
#include "formulation/affine/limits.h"
#include "mabd/sim.h"
#include "model/model_data.h"

typedef struct mabd_affine_sim mabd_affine_sim;

/// Scheme of a body in the current solve.
enum {
    MABD_EULER_NOT,       // that of the solve
    MABD_EULER_AFTER_HIT, // implicit Euler: an earlier step asked for it (euler_steps)
    MABD_EULER_HIT,       // implicit Euler: the body is hit in this step
};

/// A contact in a chain of impacts (affine/contact/impacts.c).
typedef struct mabd_affine_contact_hit {
    mabd_real rate;    // of separation, in the end that after the step [m/s]
    mabd_real gap;     // distance when the last impact happens [m]
    mabd_real impulse; // sum of all [N s]
    bool passes;       // its row asks for that rate
} mabd_affine_contact_hit;

/// Branch of the friction law that a contact is on.
typedef enum mabd_affine_friction_state {
    MABD_FRICTION_NONE,  // no force
    MABD_FRICTION_STICK, // both tangential rows hold
    MABD_FRICTION_SLIP,  // the force has reached its bound
} mabd_affine_friction_state;

typedef struct mabd_affine_contact {
    mabd_collide_key key;
    int32_t a, b;                // bodies; b moves
    bool moving;                 // a moves, too
    bool eliminated;             // in the block of b, else a row
    bool light;                  // a is much heavier: it may support b
    mabd_vec3 Xa, Xb;            // the point, in the principal frames [m]
    mabd_vec3 displacement;      // of b over a, from the start of the step to the reference [m]
    mabd_vec3 arc;               // the same along the arcs on which the bodies turn [m]
    mabd_vec3 n, t1, t2;         // unit, world; n from a to b
    mabd_real distance;          // of the surfaces at the reference [m]
    mabd_real end_distance;      // the same after the solve, as far as rows are linear [m]
    mabd_real gap, slip1, slip2; // rows at the reference [m]
    mabd_real stick_offset1, stick_offset2; // s0 of the tangential rows [m]
    mabd_real friction, restitution;        // coefficients
    mabd_real approach;                     // speed at the start of the step [m/s]
    mabd_affine_contact_hit hit;
    mabd_real belt[2];           // displacement of the surface of b over that of a by which it is
                                 // more than that of the bodies, along t1 and t2, part of slip [m]
    mabd_real rolling, spinning; // friction [m]
    mabd_vec3 turn;              // of b over a from the start of the step to the reference [rad]
    mabd_real own_turn[2];       // compliance against rolling and spinning [rad/(N m)]
    mabd_real stiff[2];          // of the secants of both laws, 0 = no torque [N m/rad]
    mabd_real torque[3];         // on b about n, t1, t2 in the last solve [N m]
    mabd_vec3 roll_axis;         // turning b about it lets the point roll over a, unit, world
    mabd_real roll_radius;       // of that motion, 0 = it does not roll [m]
    mabd_real stiffness;         // against rolling: force of the last solve x roll_radius [N m]
    mabd_real own_n, own_t;      // compliance of normal and tangents by themselves [m/N]
    // from the last solve
    bool pressed; // the normal row holds
    mabd_affine_friction_state friction_state;
    mabd_real force[3];      // on b along n, t1, t2 [N]
    mabd_real bound;         // of friction [N]
    bool bound_unknown;      // until the first solve of a new contact
    mabd_vec3 last_friction; // of the last step, world [N]
    // of the same contact at the end of the last step, if it pressed then (contact_books.c)
    mabd_real start_gap;      // distance of the surfaces [m], infinite = it did not press
    mabd_real start_rate;     // rate of that distance in the last solve [m/s]
    mabd_real start_pressure; // normal force [N]
    mabd_vec3 slip_direction; // of s + s0, unit, world
    mabd_real slip_length;    // of s + s0 [m]
    // of the line search
    mabd_vec3 search_move;  // of b over a from the reference, at the best point so far [m]
    mabd_vec3 search_force; // H d - r there, as a force [N]
    bool bent;              // its law is not linear between the two ends of the line
    mabd_vec3 solved_move;  // of b over a from the reference, at the last solution [m]
    mabd_real bound_error;  // of the bound against the normal force, at the last update [N]
} mabd_affine_contact;

/// Bodies that contact forces act on, by rising index, and the components they are in.
typedef struct mabd_affine_body_set {
    mabd_list bodies, components; // int32_t
    mabd_list sides; // mabd_affine_body_side: joints on them, body by body (contact/response.h)
    mabd_list rows;  // mabd_vec12: J of these joints
} mabd_affine_body_set;

/// One joint on a body of a set.
typedef struct mabd_affine_body_side {
    int32_t place; // of the body in the set
    int32_t row;   // first of its rows in the dual vector
    int32_t count; // of rows
} mabd_affine_body_side;

/// One side of a contact that is a row, and the response of the component of that body to unit
/// forces (affine/contact/delassus.c).
typedef struct mabd_affine_contact_side {
    int32_t contact;    // in the list of rows
    bool turns;         // directions of torques
    int32_t place;      // of the body in its set
    int32_t next;       // side on the same component, -1 = none
    int32_t row_count;  // of the component's dual system
    int64_t duals;      // place of J u and K^-1 J u in `duals`, 3 times row_count each
    mabd_vec3 X;        // the point, in the frame of the body
    mabd_vec3 along[3]; // normal and tangents in that frame; on side a reversed
    mabd_vec12 u[3];    // H^-1 of unit forces along them
} mabd_affine_contact_side;

/// Contacts of a group that are rows, consecutive in the list of rows.
typedef struct mabd_affine_contact_range {
    int32_t first, count;
    bool small; // W is assembled, block by block
} mabd_affine_contact_range;

/// W of the contacts in small ranges (dual/cone_gs.h), and its ingredients.
typedef struct mabd_affine_contact_blocks {
    mabd_list sides;         // mabd_affine_contact_side
    mabd_list duals;         // mabd_real
    mabd_list joints;        // int32_t: first joint and first row of each body of the set
    mabd_list start, end;    // int32_t by contact
    mabd_list column, place; // int32_t by block; by contact: its block in the current row
    mabd_list block;         // mabd_real, 3 x 3 each
} mabd_affine_contact_blocks;

/// State of a contact that a step hands to the next one, and to checkpoints. Vectors in the world.
typedef struct mabd_affine_saved_contact {
    mabd_collide_identity identity;
    int32_t b;              // body
    int16_t pressed;        // bool
    int16_t friction_state; // mabd_affine_friction_state
    mabd_real bound;        // of friction [N]
    mabd_real pressure;     // normal force [N]
    mabd_vec3 normal;
    mabd_vec3 friction;          // on b, across the normal [N]
    mabd_vec3 last_friction;     // on b, across the normal, of the step before [N]
    mabd_vec3 slip;              // s + s0 of the last solve [m]
    mabd_real end_gap, end_rate; // of the surfaces in the last solve [m], [m/s]
    mabd_real start_gap, start_rate, start_pressure; // of mabd_affine_contact
    mabd_real stiff[2];                              // of the last solve
} mabd_affine_saved_contact;

/// Counts and sizes of one solve.
typedef struct mabd_affine_contact_totals {
    int32_t count, active; // contact points found, and those with a force
    int32_t products;      // of projected CG, and sweeps, over the solves
    mabd_real residual;    // of contacts that are rows [m]
    mabd_real penetration; // deepest overlap at the end, as far as rows are linear [m]
} mabd_affine_contact_totals;

/// The line search of one group: between the last point and the solution of the last solve.
typedef struct mabd_affine_contact_line {
    bool open;           // has contacts that are off their branch of the force law
    bool searched;       // open, and the least point is not known to be the end of the line
    mabd_real t;         // the point taken, 0 .. 1
    int32_t count;       // of contacts
    mabd_real low, high; // bracket of t
    mabd_real below, above, first; // slopes at low and high, and at t = 0
    bool rose;                     // the last slope was positive
    mabd_real straight[2];         // slope of contacts that are not bent, at t = 0 and 1
    mabd_real slope;               // of the energy at t
    mabd_real miss, lag; // farthest off a branch, and off the law with the bound that follows [m]
    int32_t updates;     // of bounds in this solve
    bool update;         // bounds change now
    mabd_real relax;     // factor of the change of bounds of friction
    mabd_real up, down;  // sums for relax
} mabd_affine_contact_line;

/// Contacts of the current solve and of earlier ones, each list by rising key.
typedef struct mabd_affine_contact_list {
    mabd_list current;        // mabd_affine_contact of the current solve
    mabd_list before;         // mabd_affine_contact of the last reference, while more are found
    mabd_list saved;          // mabd_affine_saved_contact of the last step
    mabd_list start;          // mabd_affine_saved_contact before the step
    mabd_list last_reference; // mabd_affine_saved_contact of the last reference
} mabd_affine_contact_list;

/// Arrays by body (bodies), and lists that follow from them.
typedef struct mabd_affine_contacts_by_body {
    int32_t* component;             // of a moving body in the plan, else -1
    int32_t* head;                  // its first eliminated contact, -1 = none
    mabd_list next;                 // int32_t by contact: the next one of the same body, -1 = none
    mabd_list touched;              // int32_t: bodies with eliminated contacts
    int32_t *row_first, *row_count; // its eliminated rows
    mabd_list eliminated;           // mabd_vec12 u/sqrt(s): the eliminated rows
    int32_t* change;                // of the number of contacts with a force on the body
    uint8_t* euler;                 // MABD_EULER_
    mabd_real* euler_steps;         // STATE: steps to be taken by Euler from now on
    mabd_real* start_euler_steps;   // the same before the step
    int32_t* place;                 // in its mabd_affine_body_set, -1 = none
} mabd_affine_contacts_by_body;

/// Arrays by component of the plan (count), and the list of groups. Components that touch each
/// other are a group, named by its lowest component.
typedef struct mabd_affine_contacts_by_component {
    int32_t count;                  // of components
    uint8_t* role;                  // bits of affine/contact/classify.c
    bool* met;                      // has contacts in this solve
    bool* free;                     // its group has contacts that are rows by themselves
    int32_t* group;                 // the lowest component of its group
    mabd_affine_contact_line* line; // of the line search, by group
    mabd_list groups;               // int32_t: the lowest components of the groups
    bool* small;                    // has few bodies and no junction
    int32_t* side;                  // first side of a row on it, -1 = none
} mabd_affine_contacts_by_component;

/// Tolerances and state of the search for contact forces.
typedef struct mabd_affine_contact_search {
    mabd_real h;               // of a whole step [s]
    mabd_real margin;          // distance up to which contacts exist [m]
    mabd_real tolerance;       // of rows [m]
    mabd_real goal;            // residual to which rows are solved at this reference [m]
    mabd_real force_tolerance; // of forces of eliminated contacts, relative
    int32_t friction_updates;  // of bounds in a solve, at most
    bool first;                // the reference is the first one of the solve
    int32_t parts;             // of the current step, 1 = not divided
    bool passes;               // another part of a step that contacts divided follows this one
    int32_t wanted;            // parts that contacts ask for, after a solve that they refused
} mabd_affine_contact_search;

/// Contacts that are rows.
typedef struct mabd_affine_row_contacts {
    mabd_list contacts; // int32_t: group by group, those of small ranges first; -1 - i: turns of i
    mabd_list ranges;   // mabd_affine_contact_range by group
    mabd_affine_body_set bodies;
    mabd_affine_contact_blocks blocks;
} mabd_affine_row_contacts;

/// Eliminated contacts whose body a moves: b is a load, a its support.
typedef struct mabd_affine_support_contacts {
    mabd_list contacts; // int32_t
    mabd_affine_body_set loads, supports;
} mabd_affine_support_contacts;

/// Work arrays of a solve with contacts that are rows, or with supports.
typedef struct mabd_affine_contact_work {
    mabd_list bodies; // mabd_vec12
    mabd_list reals;  // mabd_real
    mabd_list duals;  // mabd_real: right-hand sides without contact forces
    mabd_list linear; // bool: by entry of the list of rows, true for turns
} mabd_affine_contact_work;

/// Lanes of runs of slots (math/lanes.h).
#define MABD_CONDENSED_LANES 8
typedef struct mabd_affine_condensed_lanes {
    mabd_real at[MABD_CONDENSED_LANES];
} mabd_affine_condensed_lanes;

/// One joint on a condensed body: its rows on that body, in `rows`.
typedef struct mabd_affine_condensed_side {
    int32_t slot; // of the plan
    int32_t first, count;
} mabd_affine_condensed_side;

/// The branch of a contact as far as its rows depend on it.
typedef struct mabd_affine_condensed_branch {
    mabd_real state[8]; // pressed, friction state, stiffness; of a slipping one bound, length of
                        // the slip and its direction
} mabd_affine_condensed_branch;

/// A body whose contacts change from round to round.
typedef struct mabd_affine_condensed_body {
    int32_t body;
    int32_t next;                   // of the same component, -1 = none
    int32_t head;                   // its first contact, while contacts are hidden
    int32_t side_first, side_count; // in `sides`
    int32_t row_first, row_count;   // in `rows`
    int32_t eliminated;             // first of its rows in by_body.eliminated
    size_t share;                   // in `shares`: by side block and right-hand side, then pairs
    mabd_vec12 base, y;             // H^-1 r without its contacts, and with them
} mabd_affine_condensed_body;

/// Runs of untouched slots of a chain, one in each lane, between two kept slots each.
typedef struct mabd_affine_condensed_group {
    int32_t width;                       // rows of its slots and of the kept slots around them
    int32_t length;                      // of the longest run
    int32_t lane_count;                  // lanes in use
    int32_t first[MABD_CONDENSED_LANES]; // slot of the plan
    int32_t count[MABD_CONDENSED_LANES]; // slots, falling by lane
    int32_t left[MABD_CONDENSED_LANES];  // the kept slot before, from 0 in the component
    size_t saved;                        // in `saved`
    int32_t bad;                         // slot whose pivot failed, -1 = none
} mabd_affine_condensed_group;

/// A component with condensed bodies. A chain has a reduced chain of its kept slots; of others the
/// whole dual system is copied.
typedef struct mabd_affine_condensed_component {
    int32_t component;
    int32_t body; // first of its bodies
    bool chain;
    bool rounds;                      // its solver repeats touched slots only (dual/dual.h)
    bool known;                       // the base of this reference is computed
    int32_t slot_first, slot_count;   // kept slots, in `slots` and the lists beside it
    int32_t group_first, group_count; // in `groups`
    size_t D, U, x, end;              // in `base` and `work`
    size_t low;                       // in `low`: x at the best point of the search
} mabd_affine_condensed_component;

/// Elimination of all that contacts do not touch, once at a reference (affine/cpu/condense.h).
typedef struct mabd_affine_condensed {
    bool on;                     // linear solves of the current reference are condensed
    int32_t rounds;              // begun at this reference
    mabd_list bodies;            // mabd_affine_condensed_body by rising body
    mabd_list sides;             // mabd_affine_condensed_side, body by body
    mabd_list rows;              // mabd_vec12: J of these joints
    mabd_list turned;            // mabd_real by row: J u/sqrt(s) of one eliminated row
    mabd_list branches;          // mabd_affine_condensed_branch by contact: those of the last round
    mabd_list shares;            // mabd_real: what the contacts of the round subtract, body by body
    mabd_list components;        // mabd_affine_condensed_component
    mabd_list groups;            // mabd_affine_condensed_group
    mabd_list runs;              // int32_t: kept slots before runs, sorted, while groups are formed
    mabd_list slots, width, row; // int32_t by kept slot
    mabd_list block, edge;       // size_t by kept slot: offsets in D and U
    mabd_list base, work;        // mabd_real: systems without contacts, and with them
    mabd_list low;               // mabd_real
    mabd_list saved;             // mabd_affine_condensed_lanes: what elimination saves of runs
    mabd_list touched;           // uint8_t by slot of one component, while it is planned
    mabd_list of_body, of_component; // int32_t: place in `bodies`, in `components`, -1 = none
    mabd_list of_slot;               // int32_t: place of a kept slot in its component
} mabd_affine_condensed;

typedef struct mabd_affine_contacts {
    mabd_allocator allocator;
    mabd_collide* geometry; // geoms, pairs, points
    mabd_affine_contact_list list;
    mabd_affine_contacts_by_body by_body;
    mabd_affine_contacts_by_component by_component;
    mabd_affine_contact_search search;
    mabd_affine_row_contacts rows;
    mabd_affine_support_contacts support;
    mabd_affine_contact_work work;
    mabd_affine_condensed condensed;
    mabd_affine_contact_totals totals;
    mabd_list kept; // mabd_vec12: the state before a step that is divided (kept_state.c)
    void* memory;   // the arena behind the arrays of fixed size
    size_t memory_size;
} mabd_affine_contacts;

/// How contacts are found at a reference.
typedef enum mabd_affine_find {
    MABD_FIND_FIRST, // first reference of a solve: find pairs; bodies that are hit go to Euler, and
                     // their reference is predicted again
    MABD_FIND_ANEW,  // find the points of the same pairs
    MABD_FIND_MORE,  // keep the contacts of the last reference and add points that are new
} mabd_affine_find;

/// Outcome of a search for the branches of contacts.
typedef struct mabd_affine_contact_report {
    int32_t changed; // contacts that were on the wrong branch
    mabd_real miss;  // farthest that one was off its law [m]
    mabd_real lag;   // of bounds of friction behind the normal forces, relative to the sum of both
    mabd_real rolling; // farthest that a torque was off its law, relative to its bound
    mabd_real bending; // most that a point has moved off the plane it was found with [m]
    int32_t body;      // of the miss, -1 = none
} mabd_affine_contact_report;

/// Most eliminated rows of a contact: three and that of rolling bodies, besides those of turns; on
/// a junction twice as many.
MABD_FN int32_t mabd_affine_most_rows(const mabd_model* model) {
    return model->contact.rolls ? 14 : 8;
}
/// Length at which turns are displacements where contacts are rows [m].
MABD_FN mabd_real mabd_affine_turn_lever(const mabd_affine_contacts* c) {
    return c->geometry->thin > 0 && c->geometry->thin < (mabd_real)INFINITY ? c->geometry->thin : 1;
}
/// Compliance of a contact row relative to its own: that of the scene, at least
/// MABD_CONTACT_MIN_SOFTNESS.
MABD_FN mabd_real mabd_affine_contact_softness(const mabd_model* model) {
    const mabd_real least = MABD_CONTACT_MIN_SOFTNESS;
    return model->contact.compliance > least ? model->contact.compliance : least;
}
/// Contact of an entry of the list of rows; *turns: the entry is of its turns.
MABD_FN int32_t mabd_affine_row_entry(const mabd_affine_contacts* c, int32_t k, bool* turns) {
    const int32_t entry = ((const int32_t*)c->rows.contacts.data)[k];
    *turns = entry < 0;
    return entry < 0 ? -1 - entry : entry;
}
/// Vector with components x along n, t1 and t2 of a contact, world.
MABD_FN mabd_vec3 mabd_affine_contact_vector(const mabd_affine_contact* p, const mabd_real x[3]) {
    const mabd_vec3 v = mabd_v3_axpy(x[1], p->t1, mabd_v3_scale(x[0], p->n));
    return mabd_v3_axpy(x[2], p->t2, v);
}
/// Components of a world vector v along n, t1 and t2 of a contact.
MABD_FN void mabd_affine_contact_along(const mabd_affine_contact* p, mabd_vec3 v,
                                       mabd_real along[3]) {
    along[0] = mabd_v3_dot(p->n, v);
    along[1] = mabd_v3_dot(p->t1, v), along[2] = mabd_v3_dot(p->t2, v);
}
/// Force of a contact on b, world [N].
MABD_FN mabd_vec3 mabd_affine_contact_force(const mabd_affine_contact* p) {
    return mabd_affine_contact_vector(p, p->force);
}
/// Change of the distance of the surfaces of a contact in the current solve [m]. Of a contact that
/// pressed before it is free of the curvature of the surfaces; of a new one it is the displacement
/// along the normal.
MABD_FN mabd_real mabd_affine_contact_closing(const mabd_affine_contact* p) {
    const mabd_real start = p->distance - mabd_v3_dot(p->n, p->displacement);
    return p->end_distance - (p->start_gap < (mabd_real)INFINITY ? p->start_gap : start);
}
/// Add the energy stored in the softness of a contact to stored (2): of its normal row and of its
/// tangential rows [J].
MABD_FN void mabd_affine_contact_add_stored(const mabd_affine_contact* p, mabd_real softness,
                                            mabd_real* stored) {
    const mabd_real *f = p->force, across = f[1] * f[1] + f[2] * f[2];
    if (!(f[0] > 0) || !(p->end_distance < 0)) return; // not a rebound
    const mabd_real soft = softness * p->own_n,
                    deep = p->end_distance * p->end_distance / (2 * soft);
    // less than `deep` while overlapping bodies are pushed apart
    const mabd_real pressed = soft * f[0] * f[0] / 2;
    stored[0] += pressed < deep ? pressed : deep;
    stored[1] += softness * p->own_t * across / 2;
}
/// Contact i of the current list.
MABD_FN mabd_affine_contact* mabd_affine_contacts_at(const mabd_affine_contacts* c, int32_t i) {
    return (mabd_affine_contact*)c->list.current.data + i;
}
