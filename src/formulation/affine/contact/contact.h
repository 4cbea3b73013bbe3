// SPDX-License-Identifier: Apache-2.0
// Contacts of an M-ABD simulation on the CPU: found, turned into rows, solved.
//
// A contact point of bodies a and b with normal n (from a to b) and tangents t gives three rows, all linear in the
// increments from the reference; each body carries the point of its own surface:
//
//   g = gap + n . (dx_b - dx_a)       gap: what is left at the reference                [m]
//   s = slip + t . (dx_b - dx_a)      slip: how far b has moved over a in this step     [m]
//
//   l_n >= 0,  g + c l_n >= 0, one of them zero       c: softness x the row's own J H^-1 J'
//   |l_t| <= mu l_n;  s + lean = -c l_t while smaller, else l_t = -mu l_n (s + lean)/|s + lean|
//
// A straight body that lies across a round one (a link on a sheave) rolls over it: turned by phi about the axis across both, the
// point moves by Rc phi along it, and the gap falls by Rc phi^2/2, Rc the distance of their axes. No plane knows that, so the
// second derivative is put beside the rows, (l_n Rc) phi^2/2 of the force before (affine/element/eliminate.h): under the tension of a chain it is a
// hundred times what inertia has against turning in a step. Like geometric stiffness it steers the iteration, not its result.
//
// lean = -c l_t of the last step: what sticks is a spring that remembers where it was at rest, so nothing creeps under
// a constant load. (A normal force with a memory of that kind would be unstable, and so is friction with BDF2 on the links
// of a running chain: they begin to roll about their axes.)
//
// Rows hold at the end of the step. The gap is that of the shapes at the reference, but
//   - what is inside is not thrown out: a row asks for no more than PUSH_SPEED h + |s|/2 of way in a step
//   - after a blow with restitution e it asks for the way e h v (v: speed of approach)
//   - bodies that move farther in a step than they are thick are looked at where they start: the row is
//     linear in their way, so nothing passes through (speculative contact)
//
// Two ways to solve them:
//
// In blocks. Rows of a body against fixed or scripted ones are eliminated in its block, H + j j'/c one after the other:
//   u = H^-1 j,  s = c + j . u,   H^-1 <- H^-1 - (u/sqrt(s))(u/sqrt(s))',   y <- y - u (j . y + g)/s
// so chains and trees stay what they are (affine/element/eliminate.h), and a million contacts cost no more than their bodies. Which
// rows hold, and where friction slips, is found by Newton's method with a line search (affine/contact/line_search.c). A
// much heavier moving body counts as fixed for this, a carrier (a pulley under a chain); how it moves is found by
// conjugate gradients over the few freedoms of carriers, one structured solve of the riders a product (contact_carry.c).
//
// As rows (contact_solve.c): contacts of groups in which bodies of like mass touch. If all components of a group are small, as
// single bodies and jointed pairs are, the matrix of its rows is put together (contact_matrix.c) and forces are found by sweeps over
// the contacts; else by projected CG, a product of which is a structured solve. Both are stopped before they have arrived if
// there are many contacts, and what is left is reported. What they leave differs from step to step, and BDF2 would make more of
// it: such bodies take the next step by Euler.
//
// A body that is struck takes this step and the next two by implicit Euler, and so do those jointed to it: extrapolating
// the speed from before a blow throws bodies back. Jointed bodies that rest on others go on by Euler (a chain
// that runs over a pulley by BDF2 gains energy from the small blows of its links), single ones by BDF2.
#pragma once

#include "collide/collide.h"
#include "dual/cone_cg.h"
#include "mabd/sim.h"
#include "model/model_data.h"

typedef struct mabd_affine_sim mabd_affine_sim;

/// How a body takes the solve under way.
enum {
    MABD_EULER_NOT,    // as all others
    MABD_EULER_CALM,   // by implicit Euler: it was struck in the last step
    MABD_EULER_STRUCK, // the same: it is struck in this one
};

/// What friction of a contact does.
typedef enum mabd_affine_friction_state {
    MABD_GRIP_NONE,  // nothing
    MABD_GRIP_STICK, // holds both rows
    MABD_GRIP_SLIP,  // has its bound
} mabd_affine_friction_state;

typedef struct mabd_affine_contact {
    mabd_collide_key key;
    int32_t a, b;                // bodies; b moves
    bool moving;                 // a moves, too
    bool in_block;               // eliminated in the block of b, else a row
    bool light;                  // a is much heavier: it may carry b
    mabd_vec3 Xa, Xb;            // the point, in the principal frames
    mabd_vec3 way;               // of b over a, from the start of the step to the reference [m]
    mabd_vec3 n, t1, t2;         // unit, world; n from a to b
    mabd_real distance;          // of the surfaces at the reference [m]
    mabd_real end;               // the same after the solve, as far as rows are linear [m]
    mabd_real gap, slip1, slip2; // rows at the reference [m]
    mabd_real lean1, lean2;      // what friction has bent before this step [m]
    mabd_real friction;          // coefficient
    mabd_vec3 rock;              // turning b about it lets the point roll over a, unit, world
    mabd_real roll;              // radius of that, 0 = it does not roll [m]
    mabd_real stiffness;         // against it: force of the last solve x roll [N m]
    mabd_real own_n, own_t;      // compliance of normal and tangents by themselves [m/N]
    // of the last solve, carried on
    bool pressed; // the normal row holds
    mabd_affine_friction_state grip;
    mabd_real force[3]; // on b along n, t1, t2 [N]
    mabd_real bound;    // of friction [N]
    bool fresh;         // the bound is not known yet
    mabd_vec3 push;     // friction of the last step, world [N]
    mabd_vec3 along;    // slip: its direction, unit, world
    mabd_real far;      // slip: its length [m]
    // of the line search: where b has come to over a [m], and what H d - r is there, as a force [N]
    mabd_vec3 move, hold;
    mabd_vec3 reached; // the same of the last solution [m]
    mabd_real off;     // of the bound from what the last solve but one told [N]
} mabd_affine_contact;

/// Bodies that contact forces act on, by rising index, and the components they are in.
typedef struct mabd_affine_body_set {
    mabd_list bodies, components; // int32_t
    mabd_list
        sides; // mabd_affine_body_side: joints on them, body by body (affine/contact/response.h)
    mabd_list rows; // mabd_vec12: J of these
} mabd_affine_body_set;

/// One joint on a body of a set.
typedef struct mabd_affine_body_side {
    int32_t place; // of the body in the set
    int32_t row;   // first of its rows in the dual vector
    int32_t count; // of them
} mabd_affine_body_side;

/// One side of a contact that is a row: what its forces do to the component of that body (affine/contact/delassus.c).
typedef struct mabd_affine_contact_side {
    int32_t contact;    // in the list of rows
    int32_t place;      // of the body in its set
    int32_t next;       // side on the same component, -1 = none
    int32_t row_count;  // of the component's dual system
    int64_t duals;      // where J u and K^-1 J u are kept, 3 times row_count each
    mabd_vec3 X;        // the point, in the frame of the body
    mabd_vec3 along[3]; // normal and tangents there; on side a against them
    mabd_vec12 u[3];    // H^-1 of unit forces along them
} mabd_affine_contact_side;

/// Contacts of a group that are rows, one after the other in the list of them.
typedef struct mabd_affine_contact_range {
    int32_t first, count;
    bool small; // W is put together, block by block
} mabd_affine_contact_range;

/// W of the contacts in small runs (dual/cone_gs.h), and what it is made of.
typedef struct mabd_affine_contact_blocks {
    mabd_list sides;         // mabd_affine_contact_side
    mabd_list duals;         // mabd_real
    mabd_list joints;        // int32_t: first joint and first row of each body of the set
    mabd_list start, end;    // int32_t by contact
    mabd_list column, place; // int32_t by block; by contact: its block in the row under way
    mabd_list block;         // mabd_real, 3 x 3 each
} mabd_affine_contact_blocks;

/// What is kept of a contact from one step to the next, and in checkpoints. Vectors in the world.
typedef struct mabd_affine_saved_contact {
    mabd_collide_identity identity;
    int32_t b;          // body
    int16_t pressed;    // bool
    int16_t grip;       // mabd_affine_friction_state
    mabd_real bound;    // of friction [N]
    mabd_real pressure; // normal force [N]
    mabd_vec3 normal;
    mabd_vec3 friction; // on b, across the normal [N]
    mabd_vec3 push;     // the same, of the step before [N]
    mabd_vec3 slip;     // as far as it is known [m]
} mabd_affine_saved_contact;

/// Counts and sizes of one solve.
typedef struct mabd_affine_contact_totals {
    int32_t count, active; // contact points found, and those with a force
    int32_t products;      // of projected CG, and sweeps, over the solves
    mabd_real residual;    // what it left [m]
    mabd_real penetration; // deepest overlap at the end, as far as rows are linear [m]
} mabd_affine_contact_totals;

/// The line search of one group: between the last point and the solution of the last solve.
typedef struct mabd_affine_contact_line {
    bool open;           // has contacts that are off their pieces
    bool searched;       // the same, until the end of the way is known to be the least point
    mabd_real t;         // the point taken, 0 .. 1
    int32_t count;       // of contacts
    mabd_real low, high; // bracket
    mabd_real below, above, first; // slopes there, and at the start
    bool rose;                     // the last one rises
    mabd_real slope;               // of the energy
    mabd_real miss, lag; // farthest off a piece, and off the bound that it should have [m]
    int32_t updates;     // of bounds in this solve
    bool update;         // bounds change now
    mabd_real relax;     // of bounds of friction
    mabd_real up, down;  // sums for it
} mabd_affine_contact_line;

typedef struct mabd_affine_contacts {
    mabd_allocator allocator;
    mabd_collide* geometry;    // geoms, pairs, points (collide/collide.h)
    int32_t component_count;   // of the plan
    int32_t* component;        // of a moving body in the plan (bodies)
    mabd_real h;               // of a whole step [s]
    mabd_real margin;          // [m]
    mabd_real tolerance;       // of rows [m]
    mabd_real goal;            // to which rows are solved at this reference [m]
    mabd_real force_tolerance; // of forces in blocks, relative
    int32_t friction_updates;  // of bounds in a solve, at the most
    bool first;                // the reference is the first one of the solve
    // contacts of the solve under way, by rising key
    mabd_list list;    // mabd_affine_contact
    mabd_list before;  // mabd_affine_contact of the iteration before, while more are found
    mabd_list kept;    // mabd_affine_saved_contact of the last step
    mabd_list former;  // mabd_affine_saved_contact of the iteration before
    mabd_list next;    // int32_t by contact: the next one in the block of the same body, -1 = none
    mabd_list touched; // int32_t: bodies that have such rows
    int32_t* head;     // first contact in the block of a body, -1 = none (bodies)
    int32_t *row_first, *row_count; // its eliminated rows (bodies)
    mabd_list rows;                 // mabd_vec12 u/sqrt(s)
    int32_t* change;                // of the number of contacts that push a body (bodies)
    uint8_t* euler;  // this body takes the solve under way by implicit Euler (bodies)
    mabd_real* calm; // STATE: steps to be taken by Euler from now on (bodies)
    // by component of the plan
    uint8_t* role;                  // bits of contact_sort.c
    bool* met;                      // has contacts in this solve
    int32_t* group;                 // the lowest of those that touch each other
    mabd_affine_contact_line* line; // of the line search, by group
    mabd_list groups;               // int32_t: the lowest components of the groups
    bool* small;                    // has few bodies and no junction
    int32_t* side;                  // first side of a row on it, -1 = none
    mabd_list free; // int32_t: contacts that are rows, group by group, those of small runs first
    mabd_list runs; // mabd_affine_contact_range: the same, by group
    mabd_affine_contact_blocks blocks;
    mabd_list carried; // int32_t: contacts in blocks whose a moves
    mabd_affine_body_set frees, riders, carriers;
    int32_t* place;      // of a body in its set, -1 = none (bodies)
    mabd_list body_work; // mabd_vec12
    mabd_list reals;     // mabd_real
    mabd_list dual_work; // mabd_real: right-hand sides without contact forces
    mabd_affine_contact_totals totals;
    void* memory; // the arena behind the arrays of fixed size
    size_t memory_size;
} mabd_affine_contacts;

/// Null in *out if the model has no contacts. MABD_ERR_MEMORY.
mabd_status mabd_affine_contacts_create(const mabd_model* model, const mabd_allocator* allocator,
                                        mabd_affine_contacts** out);
/// Null is allowed.
void mabd_affine_contacts_destroy(mabd_affine_contacts* contacts);
/// Bytes held now (null: 0), and what create will take for a model.
size_t mabd_affine_contacts_bytes(const mabd_affine_contacts* contacts);
size_t mabd_affine_contacts_bytes_for(const mabd_model* model);
/// What the lists hold for each contact point against a fixed body.
size_t mabd_affine_contacts_bytes_per_contact(void);

/// How contacts are found at a reference.
typedef enum mabd_affine_find {
    MABD_FIND_FIRST, // of a solve: pairs are found anew, and bodies that are struck are turned over to Euler (their
                     // reference is predicted again)
    MABD_FIND_ANEW, // points of the same pairs
    MABD_FIND_MORE, // the same, and those before stay
} mabd_affine_find;
/// Find the contacts at the reference. MABD_ERR_MEMORY.
mabd_status mabd_affine_contacts_find(mabd_affine_sim* sim, mabd_affine_find find);
/// Lists by body, and which way each contact is solved (contact_sort.c). MABD_ERR_MEMORY.
mabd_status mabd_affine_contacts_classify(mabd_affine_contacts* contacts);
/// The same contacts at a new reference, points and normals as they were: for references that have moved by little.
void mabd_affine_contacts_shift(mabd_affine_sim* sim);
/// How far points have left the planes of their contacts on the way to the first reference, at most: surfaces are as round
/// as the thinner of both geoms. 0 without contacts [m].
mabd_real mabd_affine_contacts_slide(const mabd_affine_contacts* contacts);
/// Keep what the next step starts from. After the last solve of a step, before finish.
void mabd_affine_contacts_save(mabd_affine_sim* sim);
/// Forget all of it.
void mabd_affine_contacts_forget(mabd_affine_contacts* contacts);

/// Deepest overlap at q (bodies + 1 x 12) by the shapes themselves; *a, *b get the bodies, -1 = none [m].
/// MABD_ERR_MEMORY.
mabd_status mabd_affine_contacts_overlap(const mabd_affine_sim* sim, const mabd_real* q,
                                         mabd_real* depth, int32_t* a, int32_t* b);

/// c / own of a row: what the scene says, but enough for rows that depend on each other (four corners of a box).
MABD_FN mabd_real mabd_affine_contact_softness(const mabd_model* model) {
    const mabd_real least = (mabd_real)1e-9;
    return model->contact.compliance > least ? model->contact.compliance : least;
}
/// x along n, t1 and t2 of a contact, world.
MABD_FN mabd_vec3 mabd_affine_contact_vector(const mabd_affine_contact* p, const mabd_real x[3]) {
    const mabd_vec3 v = mabd_v3_axpy(x[1], p->t1, mabd_v3_scale(x[0], p->n));
    return mabd_v3_axpy(x[2], p->t2, v);
}
/// The other way: along[3] of a vector v.
MABD_FN void mabd_affine_contact_along(const mabd_affine_contact* p, mabd_vec3 v,
                                       mabd_real along[3]) {
    along[0] = mabd_v3_dot(p->n, v);
    along[1] = mabd_v3_dot(p->t1, v), along[2] = mabd_v3_dot(p->t2, v);
}
/// Force of a contact on b, world [N].
MABD_FN mabd_vec3 mabd_affine_contact_force(const mabd_affine_contact* p) {
    return mabd_affine_contact_vector(p, p->force);
}
MABD_FN mabd_affine_contact* mabd_affine_contacts_at(const mabd_affine_contacts* c, int32_t i) {
    return (mabd_affine_contact*)c->list.data + i;
}
