// SPDX-License-Identifier: Apache-2.0
// Generators: whole structures from a few numbers. Each adds bodies and joints to a scene through
// the bulk calls of scene.h, in the order in which solvers like to walk them. Start poses have all
// joints closed to round-off, start velocities agree with the joints.
//
// A link is a body whose x axis runs from one joint to the next; its origin is its middle. The
// frame of a joint between links has z along the link that it holds and x, y across it (x level, so
// a hinge bends the chain up and down); joints that slide along one axis (prismatic, cylindrical,
// pin-in-slot, slot) have x along the link and y across.
//
// Names: `name` is the base of all names that a generator gives; null = no names.
//
// Generators return MABD_ERR_INPUT with a message for values out of range, MABD_ERR_ARG for null
// arguments and definitions that do not come from their default function, MABD_ERR_MEMORY. `error`
// may be null. Bodies and joints that a failing generator added before stay in the scene.
#pragma once

#include "mabd/scene.h"

/// Material and surface of links (see mabd_geom).
typedef struct mabd_material {
    mabd_real density;       // [kg/m^3], default 1000
    mabd_real young;         // Young's modulus [Pa]; default 0 = that of the scene
    mabd_real poisson;       // Poisson ratio, default 0.3
    mabd_real friction;      // default 0.5
    mabd_real restitution;   // default 0
    uint32_t category, mask; // default 1, all ones
} mabd_material;

/// Return the default material: density 1000 kg/m^3, young of the scene, poisson 0.3, friction 0.5,
/// restitution 0, category 1, mask all ones.
MABD_API mabd_material mabd_default_material(void);

// ---- chain -------------------------------------------------------------------------------------

#define MABD_CHAIN_START_LIST(X)                                                                   \
    X(LEVEL, "level")     /* along +x from the anchor */                                           \
    X(HANGING, "hanging") /* along -z */                                                           \
    X(COILED, "coiled")   /* level rows to and fro in the x-z plane, one link below the other */

typedef enum mabd_chain_start {
#define X(name, text) MABD_CHAIN_##name,
    MABD_CHAIN_START_LIST(X)
#undef X
        MABD_CHAIN_START_COUNT
} mabd_chain_start;

/// A chain. Bodies name/0, name/1, ... from the anchor on; a heavy (or light) end is name/end.
/// Joint name/i holds link i if the chain is pinned, else it joins links i and i + 1.
typedef struct mabd_chain_def {
    const char* name;
    int32_t links;    // bodies, the end included, >= 1
    mabd_real length; // of a link, from joint to joint [m]
    mabd_real radius; // of a link; half the width of a box [m]
    mabd_shape shape; // a sphere sits in the middle of its link
    mabd_joint joint; // any but free
    mabd_material material;
    mabd_real drag;           // of each body [N s/m]
    mabd_real end_mass_ratio; // mass of the last body / mass of a link; 0 or 1 = a plain link.
                              // Else a ball (a cube with boxes) of the same density, jointed at
                              // its surface
    mabd_chain_start start;
    mabd_real anchor[3];           // where the chain begins [m]
    bool pinned;                   // first link jointed to the world at the anchor
    mabd_real velocity[3];         // of all links [m/s]; not with pinned
    mabd_real angular_velocity[3]; // of all links, as one body about the anchor [rad/s]
    const mabd_axis_def* axes[MABD_AXIS_COUNT]; // on every joint, the pin included; null = nothing
    uint32_t cookie;
} mabd_chain_def;

/// Return the default chain: 100 capsules of 0.1 m, radius 0.01 m, ball joints, pinned at the
/// origin, level.
MABD_API mabd_chain_def mabd_default_chain_def(void);
/// Add a chain to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_chain(mabd_scene* scene, const mabd_chain_def* def,
                                         mabd_error* error);

// ---- net ---------------------------------------------------------------------------------------

#define MABD_NET_PIN_LIST(X)                                                                       \
    X(EDGE, "edge")       /* all hubs of the first row */                                          \
    X(CORNERS, "corners") /* the four corner hubs */                                               \
    X(NONE, "none")

typedef enum mabd_net_pin {
#define X(name, text) MABD_NET_PIN_##name,
    MABD_NET_PIN_LIST(X)
#undef X
        MABD_NET_PIN_COUNT
} mabd_net_pin;

/// A level net: hubs (balls) on a grid, rods (capsules) between neighbours, a ball joint at each
/// end of each rod, on the surface of the hub. rows x columns hubs, 3 rows columns - rows - columns
/// bodies and twice as many joints as rods. Bodies row by row: name/row3/hub/5, then the rods along
/// the row name/row3/along/5, then those to the next row name/row3/across/5. Joints 2i and 2i + 1
/// of name/row3/along are the two ends of rod i. Pins are ball joints name/pin/i at the hub
/// centres.
typedef struct mabd_net_def {
    const char* name;
    int32_t rows, columns; // >= 2; row r is at y = r spacing, column c at x = c spacing
    mabd_real spacing;     // between neighbouring hubs [m]
    mabd_real hub_radius;  // [m], < spacing / 2
    mabd_real rod_radius;  // [m]
    mabd_material material;
    mabd_real drag; // of each body [N s/m]
    mabd_net_pin pinned;
    mabd_real position[3]; // of the hub in row 0, column 0 [m]
    uint32_t cookie;
} mabd_net_def;

/// Return the default net: 10 x 10, spacing 0.1 m, hub radius 0.015 m, rod radius 0.006 m, pinned
/// edge.
MABD_API mabd_net_def mabd_default_net_def(void);
/// Add a net to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_net(mabd_scene* scene, const mabd_net_def* def,
                                       mabd_error* error);

// ---- joint grid --------------------------------------------------------------------------------

/// A grid of balls, a ball joint in the middle of each two neighbours: the benchmark joint_grid of
/// Box2D and Box3D. rows x columns balls, rows (columns - 1) + (rows - 1) columns joints less those
/// between two fixed balls. Bodies row by row, name/row3/5; in the first row name/row0/left/i,
/// name/row0/fixed/i, name/row0/right/i. Joints in the order of their first ball, name/row3/i:
/// along the row, then to the next row.
typedef struct mabd_joint_grid_def {
    const char* name;
    int32_t rows, columns; // >= 2; column c is at x = c spacing
    mabd_real spacing;     // between neighbouring balls [m]
    mabd_real radius;      // of a ball [m], < spacing / 2
    int32_t fixed;         // balls in the middle of the first row that are fixed
    bool vertical;         // true: row r is at z = -r spacing; false: at y = r spacing
    mabd_material material;
    mabd_real drag;        // of each ball [N s/m]
    mabd_real position[3]; // of the ball in row 0, column 0 [m]
    uint32_t cookie;
} mabd_joint_grid_def;

/// Return the default grid: 100 x 100 balls of radius 0.4 m, spacing 1 m, seven fixed, vertical.
MABD_API mabd_joint_grid_def mabd_default_joint_grid_def(void);
/// Add a grid to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_joint_grid(mabd_scene* scene, const mabd_joint_grid_def* def,
                                              mabd_error* error);

// ---- tree --------------------------------------------------------------------------------------

/// A tree of links. Full: every link of a level carries `branching` links of the next, `depth`
/// levels. Random (`links` > 0): level by level, every link carries 1 .. branching links, until
/// there are `links`; directions vary too. Bodies name/level3/i, joints name/level3/i hold them;
/// name/root is the pin.
typedef struct mabd_tree_def {
    const char* name;
    int32_t branching; // >= 1; the most links on one link if random
    int32_t depth;     // levels, >= 1; not used if random
    int32_t links;     // 0 = full tree
    uint64_t seed;     // of a random tree
    mabd_real length;  // of the first link [m]
    mabd_real radius;  // of the first link [m]
    mabd_real shrink;  // length of a link / length of the one that carries it, (0, 1]
    mabd_real taper;   // radius of a link / radius of the one that carries it, (0, 1]
    mabd_real spread;  // between a link and the one that carries it [rad], 0 .. pi
    mabd_shape shape;
    mabd_joint joint; // any but free
    mabd_joint root;  // of the first link to the world
    bool pinned;      // false = no joint to the world
    mabd_material material;
    mabd_real drag;         // of the first link [N s/m]; others in proportion to length x radius
    mabd_real direction[3]; // of the first link
    mabd_real anchor[3];    // where it begins [m]
    // On the joints of level 1 (not on the root); stiffness, damping, armature and servo gains of
    // later levels in proportion to radius^4 / length, as of an elastic rod.
    const mabd_axis_def* axes[MABD_AXIS_COUNT];
    uint32_t cookie;
} mabd_tree_def;

/// Return the default tree: full, branching 2, depth 8, first link 1 m x 0.04 m upwards, shrink
/// 0.8, taper 0.75, spread 0.45 rad, capsules, ball joints, root fixed.
MABD_API mabd_tree_def mabd_default_tree_def(void);
/// Add a tree to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_tree(mabd_scene* scene, const mabd_tree_def* def,
                                        mabd_error* error);

// ---- ring --------------------------------------------------------------------------------------

/// A regular polygon of links name/0 ..., joint name/i between links i - 1 and i (joint 0 closes
/// it). Link 0 is the top one (vertical) or the one at +y (horizontal); name/pin holds its middle.
typedef struct mabd_ring_def {
    const char* name;
    int32_t links; // >= 3
    mabd_real length, radius;
    mabd_shape shape;
    mabd_joint joint; // any but free; hinge axes are normal to the plane of the ring
    mabd_material material;
    mabd_real drag; // of each body [N s/m]
    bool vertical;  // in the x-z plane, else x-y
    bool pinned;
    mabd_joint pin;        // any but free
    mabd_real position[3]; // of the middle of the ring [m]
    mabd_real spin; // about the ring's axis (-y vertical, +z horizontal) [rad/s]; not with pinned
    const mabd_axis_def* axes[MABD_AXIS_COUNT]; // on every joint but the pin
    uint32_t cookie;
} mabd_ring_def;

/// Return the default ring: 24 capsules of 0.1 m x 0.01 m, ball joints, vertical, pinned by a ball
/// joint.
MABD_API mabd_ring_def mabd_default_ring_def(void);
/// Add a ring to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_ring(mabd_scene* scene, const mabd_ring_def* def,
                                        mabd_error* error);

// ---- linkages ----------------------------------------------------------------------------------
// In the x-z plane. Angles are from +x towards +z: all hinge axes are -y.

/// A planar four-bar: ground pivots at `position` and `ground` m further along x; bars name/crank,
/// name/coupler, name/rocker, hinges name/crank, name/coupler, name/rocker (each at the near end of
/// that bar) and name/ground (rocker to the ground). The joint of coupler and rocker starts above
/// the line from the crank's end to the rocker's pivot.
typedef struct mabd_four_bar_def {
    const char* name;
    mabd_real crank, coupler, rocker, ground; // lengths between the hinges [m]
    mabd_real width;                          // of the square bars [m]
    mabd_material material;
    mabd_real angle;       // of the crank at the start [rad]
    mabd_real speed;       // of the crank at the start [rad/s]
    bool driven;           // the crank keeps `speed`, with unlimited torque
    mabd_signal torque;    // motor on the crank [N m]; NONE = no motor; not with driven
    mabd_real position[3]; // of the crank's pivot [m]
    uint32_t cookie;
} mabd_four_bar_def;

/// Return the default four-bar: crank 0.3, coupler 0.8, rocker 0.6, ground 0.8 m: the crank turns
/// fully. 6 rad/s, not driven.
MABD_API mabd_four_bar_def mabd_default_four_bar_def(void);
/// Add a four-bar to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_four_bar(mabd_scene* scene, const mabd_four_bar_def* def,
                                            mabd_error* error);

/// `loops` four-bars side by side, the benchmark of [VI fig. 12]: upright bars name/upright/i on
/// ground pivots one length apart, level bars name/level/i between their upper ends, 3 loops + 1
/// hinges. All bars are equal and uniform: moment mass length^2 / 12 about -y through the middle.
typedef struct mabd_double_four_bar_def {
    const char* name;
    int32_t loops;         // >= 1
    mabd_real length;      // of a bar [m]
    mabd_real mass;        // of a bar [kg]
    mabd_real width;       // of the square bars [m]
    mabd_real young;       // Young's modulus [Pa]; default 0 = that of the scene
    mabd_real poisson;     //
    mabd_real velocity;    // of the level bars along +x at the start [m/s]
    mabd_real position[3]; // of the first ground pivot [m]
    uint32_t cookie;
} mabd_double_four_bar_def;

/// Return the default row of four-bars: two loops of 1 m, 1 kg bars, 1 m/s.
MABD_API mabd_double_four_bar_def mabd_default_double_four_bar_def(void);
/// Add a row of four-bars to a scene as `def` describes; new bodies and joints get the next
/// indices.
MABD_API mabd_status mabd_generate_double_four_bar(mabd_scene* scene,
                                                   const mabd_double_four_bar_def* def,
                                                   mabd_error* error);

/// Four-bars in series, the chain of 4-link segments of [VI fig. 9a]: rhombi corner to corner along
/// x, each of bars name/segment3/0 .. 3: upper near, lower near, upper far, lower far. Five joints
/// name/segment3/0 .. 4 each: at the near corner to the segment before (of the first: to the world)
/// and between the two near bars, at the upper, lower and far corner. All bars are equal and
/// uniform.
typedef struct mabd_four_bar_chain_def {
    const char* name;
    int32_t segments;      // >= 1
    mabd_real length;      // of a bar [m]
    mabd_real mass;        // of a bar [kg]
    mabd_real width;       // of the square bars [m]
    mabd_real angle;       // of the near upper bar above x at the start [rad], in (0, pi/2)
    mabd_real young;       // Young's modulus [Pa]; default 0 = that of the scene
    mabd_real poisson;     //
    mabd_real position[3]; // of the first corner [m]
    uint32_t cookie;
} mabd_four_bar_chain_def;

/// Return the default chain of four-bars: ten segments of 1 m, 1 kg bars, square at the start.
MABD_API mabd_four_bar_chain_def mabd_default_four_bar_chain_def(void);
/// Add a chain of four-bars to a scene as `def` describes; new bodies and joints get the next
/// indices.
MABD_API mabd_status mabd_generate_four_bar_chain(mabd_scene* scene,
                                                  const mabd_four_bar_chain_def* def,
                                                  mabd_error* error);

/// Legs of Jansen's Strandbeest on one crankshaft, on a fixed frame: `pairs` pairs of a left and a
/// right leg, pair i at y = i spacing on a throw turned by 2 pi i / pairs. The proportions are
/// Jansen's thirteen numbers; `scale` makes metres of them. Bodies name/shaft and, for leg l of 2
/// pairs (even = left), name/leg3/j, k, c, f (bars), upper and lower (triangles, the foot is a
/// corner of the lower one). Joints name/shaft and name/leg3/crank-j, crank-k, j-upper,
/// frame-upper, frame-c, k-lower, c-lower, upper-f, f-lower.
typedef struct mabd_jansen_def {
    const char* name;
    int32_t pairs;     // 1 .. 32
    mabd_real scale;   // [m] of the number 1
    mabd_real width;   // of the square bars [m]
    mabd_real spacing; // between pairs [m]
    mabd_material material;
    mabd_real angle;       // of the first throw at the start [rad]
    mabd_real speed;       // of the shaft at the start [rad/s]
    bool driven;           // the shaft keeps `speed`, with unlimited torque
    mabd_real position[3]; // of the middle of the shaft at the first pair [m]
    uint32_t cookie;
} mabd_jansen_def;

/// Return the default walking linkage: one pair, scale 0.01 m, 3 rad/s, driven.
MABD_API mabd_jansen_def mabd_default_jansen_def(void);
/// Add a walking linkage to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_jansen(mabd_scene* scene, const mabd_jansen_def* def,
                                          mabd_error* error);

/// Hoberman's ring: `units` pairs of equal angulated bars name/a/i, name/b/i, crossed at a middle
/// hinge (name/drive of pair 0, name/middle/i of pair i + 1); hinges name/inner/i and name/outer/i
/// join pairs i - 1 and i. In the x-y plane, hinge axes z; one degree of freedom, the angle phi
/// between an arm and the tangent: the middle hinges are at radius arm cos(phi) / sin(pi / units).
typedef struct mabd_scissor_ring_def {
    const char* name;
    int32_t units;   // >= 3
    mabd_real arm;   // from the middle hinge to an end [m]
    mabd_real width; // of the square bars [m]
    mabd_material material;
    mabd_real drag;        // of each body [N s/m]
    mabd_real angle;       // phi at the start [rad], in (0, pi/2)
    mabd_real speed;       // phi' at the start [rad/s]; not with driven
    bool driven;           // phi(t) = angle + swing sin(2 pi frequency t), by one rigid servo
    mabd_real swing;       // [rad]; angle -+ swing must stay in (0, pi/2)
    mabd_real frequency;   // [Hz]
    mabd_real position[3]; // of the middle of the ring [m]
    uint32_t cookie;
} mabd_scissor_ring_def;

/// Return the default scissor ring: 12 units, arms of 0.2 m, phi = 0.7 rad, driven by 0.5 rad at
/// 0.5 Hz.
MABD_API mabd_scissor_ring_def mabd_default_scissor_ring_def(void);
/// Add a scissor ring to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_scissor_ring(mabd_scene* scene, const mabd_scissor_ring_def* def,
                                                mabd_error* error);

/// Hoberman's sphere: 3, 4 or 6 great circles, each a ring of `pairs` pairs of equal angulated bars
/// name/ring0/a/i, name/ring0/b/i with the bend a = 2 pi / pairs. Hinges name/ring0/middle/i are
/// the pivots of the pairs; name/ring0/inner/i and name/ring0/outer/i join pairs i - 1 and i. Where
/// two rings cross, the balls name/inner/i and name/outer/i hold their hinges together. One degree
/// of freedom besides those of a rigid body, the angle psi between the radius and an outer arm: the
/// pivots are at radius arm sin(psi - a/2) / sin(a/2). The default of 6 x 20 pairs has 240 bars,
/// 420 joints and 1980 rows, of which 547 are redundant.
typedef struct mabd_hoberman_sphere_def {
    const char* name;
    int32_t rings;   // 3, 4 or 6
    int32_t pairs;   // of a ring, a multiple of 2 (rings - 1), its crossings
    mabd_real arm;   // from the pivot of a pair to an end of its bars [m]
    mabd_real width; // of the square bars [m]
    mabd_material material;
    mabd_real drag;        // of each body [N s/m]
    mabd_real angle;       // psi at the start [rad], in (a, pi); fully expanded at (pi + a)/2
    mabd_real speed;       // psi' at the start [rad/s]
    mabd_real spin;        // of the whole sphere about +z through its middle at the start [rad/s]
    mabd_real velocity[3]; // of the middle at the start [m/s]
    mabd_real position[3]; // of the middle [m]
    uint32_t cookie;
} mabd_hoberman_sphere_def;

/// Return the default Hoberman sphere: 6 rings of 20 pairs, arms of 0.1 m, psi = 1 rad, at rest.
MABD_API mabd_hoberman_sphere_def mabd_default_hoberman_sphere_def(void);
/// Add a Hoberman sphere to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_hoberman_sphere(mabd_scene* scene,
                                                   const mabd_hoberman_sphere_def* def,
                                                   mabd_error* error);

// ---- branching ---------------------------------------------------------------------------------

#define MABD_BRANCH_LEVELS 8

/// Branches of one level (0 = the trunk). A full branch has `segments` links; shorter ones lack the
/// thickest, so they begin thinner and end alike.
typedef struct mabd_branch_level {
    int32_t segments;     // links of a full branch, >= 1
    int32_t children;     // branches of the next level on a full branch, >= 0; shorter ones carry
                          // fewer, in proportion
    mabd_real length;     // of a full branch [m]
    mabd_real radius;     // of its first link [m]
    mabd_real tip;        // radius of the last link / radius of the first one, (0, 1]
    mabd_real spread;     // angle to the carrying branch at its foot [rad], 0 .. pi
    mabd_real spread_tip; // angle to the carrying branch at its tip [rad]
    mabd_real droop;      // turn of a level full branch towards the ground [rad]; < 0: upwards
    mabd_real bare;       // part of the branch, from its foot, that carries nothing, [0, 1)
    mabd_real shorten;    // how much shorter a branch at the tip of its carrier is, [0, 1]
} mabd_branch_level;

/// A plant: branches of links on branches, with springs in their ball joints as in wood of Young's
/// modulus `bending`: E I / length about both bending axes, G J / length about the link. Bodies and
/// their joints name/level2/segment3/i, segment 0 the thickest; the first link is fixed to the
/// world by joint name/root.
typedef struct mabd_branching_def {
    const char* name;
    uint64_t seed;
    int32_t level_count; // 1 .. MABD_BRANCH_LEVELS
    mabd_branch_level levels[MABD_BRANCH_LEVELS];
    mabd_real phyllotaxis; // turn about the carrier from one branch to the next [rad]
    mabd_real wiggle;      // random turn from link to link, at most [rad]
    mabd_real variation;   // random part by which branches are shorter, at most, [0, 1)
    mabd_material material;
    mabd_real bending;   // Young's modulus of the springs [Pa]; 0 = no springs
    mabd_real damping;   // dampers / springs [s]
    mabd_real drag;      // per side area 2 radius length of a link [N s/m^3]
    mabd_real anchor[3]; // foot of the trunk [m]
    uint32_t cookie;
} mabd_branching_def;

/// Return the default plant: a small shrub of three levels, golden angle, density 800, springs of
/// 5e9 Pa.
MABD_API mabd_branching_def mabd_default_branching_def(void);
/// Add a plant to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_branching(mabd_scene* scene, const mabd_branching_def* def,
                                             mabd_error* error);

// ---- backbone ----------------------------------------------------------------------------------

/// A protein-like chain of links: alpha helices (100 degrees a residue, rise 1.5, radius 2.3 in
/// units in which a link is 3.83 long), up and down on a grid in layers, joined by arcs. Bodies
/// name/0 ..., joint name/i holds link i if the chain is pinned, else it joins links i and i + 1.
typedef struct mabd_backbone_def {
    const char* name;
    int32_t links;    // >= 1
    uint64_t seed;    // of the lengths and phases of the helices
    mabd_real length; // of a link [m]; everything scales with it
    mabd_real radius; // of a link [m]
    mabd_material material;
    mabd_real drag;                             // of each body [N s/m]
    mabd_real anchor[3];                        // where the chain begins [m]
    bool pinned;                                // first link jointed to the world at the anchor
    const mabd_axis_def* axes[MABD_AXIS_COUNT]; // on every joint, the pin included; null = nothing
    uint32_t cookie;
} mabd_backbone_def;

/// Return the default backbone: 1000 capsules of 0.1 m x 0.02 m, young 1e6, ball joints, pinned.
MABD_API mabd_backbone_def mabd_default_backbone_def(void);
/// Add a backbone to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_backbone(mabd_scene* scene, const mabd_backbone_def* def,
                                            mabd_error* error);

// ---- star --------------------------------------------------------------------------------------

/// A ball with `arms` chains of `links` links, ball joints on its surface, evenly spread over the
/// sphere. Bodies name/hub and name/arm/i, arm after arm, joints name/arm/i hold them; name/pin
/// holds the hub's centre.
typedef struct mabd_star_def {
    const char* name;
    int32_t arms;             // >= 1
    int32_t links;            // of an arm, >= 1
    mabd_real hub_radius;     // [m]
    mabd_real length, radius; // of a link [m]
    mabd_material material;
    mabd_real drag;        // of each body [N s/m]
    bool pinned;           // the centre of the hub is held by a ball joint
    mabd_real spin;        // of everything, as one body, about +z through the hub [rad/s]
    mabd_real position[3]; // of the hub [m]
    uint32_t cookie;
} mabd_star_def;

/// Return the default star: 200 arms of one capsule of 0.5 m x 0.01 m on a hub of 0.2 m, pinned.
MABD_API mabd_star_def mabd_default_star_def(void);
/// Add a star to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_star(mabd_scene* scene, const mabd_star_def* def,
                                        mabd_error* error);

// ---- pulley ------------------------------------------------------------------------------------

#define MABD_PULLEY_ARRANGEMENT_LIST(X)                                                            \
    X(ROW, "row")       /* over the first sheave, under the second, over the third ... */          \
    X(TACKLE, "tackle") /* under and over, the lower sheaves on a block that moves */              \
    X(WINCH, "winch")   /* hanging from the rim of one drum */

typedef enum mabd_pulley_arrangement {
#define X(name, text) MABD_PULLEY_##name,
    MABD_PULLEY_ARRANGEMENT_LIST(X)
#undef X
        MABD_PULLEY_ARRANGEMENT_COUNT
} mabd_pulley_arrangement;

/// Chains over sheaves in the x-z plane: capsules and ball joints, cylinders about y. Links on a
/// half turn touch their sheave in their middles, runs between half turns are upright. With Rc =
/// radius + link_radius and alpha = pi / wrapped, links are 2 Rc tan(alpha/2) long and runs are 2 Q
/// apart, Q = Rc / cos(alpha/2): sheave i has its axis at x = (2 i + 1) Q behind the first run (a
/// drum at Rc), and lower sheaves are `inner` links below upper ones.
///
///   row      `left` links up from `load`, half turn over sheave 0, `inner` links, half turn under
///            sheave 1, ..., `right` links. They hang and carry `counter` if `pulleys` is odd; else
///            they lead upwards, and their end is held by joint name/anchor. One sheave: an Atwood
///            machine
///   tackle   `left` links down from joint name/anchor, under sheave 0, `inner` links, over sheave
///            1, ..., `right` links with `counter`. Lower sheaves turn on body name/block of mass
///            `load`, which joint name/guide lets move along z: 2 `pulleys` runs carry it
///   winch    `left` links with `load` down from joint name/drum on the rim of the drum
///
/// Bodies name/sheave/i, name/link/i from the first end of the chain on, name/load, name/counter
/// (cubes of the density of iron). Joints name/link/i between links i and i + 1, name/load,
/// name/counter, and the hinges of sheaves, name/drive/i and, of those that are not driven,
/// name/axle/i.
///
/// Strands are copies along y. Sheaves that are `fixed` or turned by `angle` are one long cylinder
/// for all strands, others are copied with them. Names are counted strand after strand: joint
/// name/link/i of strand s is name/link/(s (links - 1) + i); with several strands also name/load/s
/// and so on.
///
/// Contacts: links, of material.category, touch the sheaves and the block, of category 4, and with
/// `self` one another. Loads and counters are of category 8.
typedef struct mabd_pulley_def {
    const char* name;
    mabd_pulley_arrangement arrangement;
    int32_t pulleys;            // >= 1; winch: not used
    mabd_real radius, width;    // of a sheave [m]; width >= 2 link_radius
    mabd_real sheave_mass;      // of a sheave as wide as `width` [kg]
    int32_t wrapped;            // links on a half turn, >= 2
    mabd_real link_radius;      // [m]
    int32_t left, inner, right; // links of straight runs, >= 0; winch: left only, >= 1
    mabd_material material;     // of the links; friction, restitution, young and poisson of all
    bool self;                  // links touch one another
    uint32_t end_mask;          // bits: categories that loads and counters touch
    mabd_real load, counter;    // [kg], >= 0; 0 = none (not of a tackle's block)
    bool fixed;                 // sheaves never turn; this or one of the signals; not with a tackle
    // Turn of the sheaves, positive where it takes the chain from its first end to its last one
    // (a winch: upwards); at most one of the three, none = sheaves turn freely.
    mabd_signal angle;     // [rad], with unlimited torque; not with a tackle
    mabd_signal speed;     // [rad/s]
    mabd_signal torque;    // [N m]
    mabd_real max_torque;  // with speed: the most it takes [N m]; 0 = unlimited
    int32_t driven;        // sheaves with speed or torque, from the first on; 0 = all
    int32_t strands;       // >= 1
    mabd_real spacing;     // between strands [m]
    mabd_real position[3]; // first run (x), middle of the first strand (y), upper axes (z) [m]
    uint32_t cookie;
} mabd_pulley_def;

/// Return the default chain over sheaves, an Atwood machine: sheave of 0.1 m, 0.04 m wide, 1 kg, 16
/// links of radius 0.008 m around it, runs of 20 links, 1 kg at both ends, friction 0.5; links of
/// category 2 and mask 4.
MABD_API mabd_pulley_def mabd_default_pulley_def(void);
/// Add a chain over sheaves to a scene as `def` describes; new bodies and joints get the next
/// indices.
MABD_API mabd_status mabd_generate_pulley(mabd_scene* scene, const mabd_pulley_def* def,
                                          mabd_error* error);

// ---- pile --------------------------------------------------------------------------------------

/// Pairs of links in line, a joint between them, to be dropped [MABD fig. 20]: each turned at
/// random, on a grid of `columns` x `rows` in as many layers as it takes, apart from one another.
/// Types of joints are taken in turn from `joints`: pair i has joints[i % joint_count]. Free
/// translations have stops at -+slide, hinges at -+bend, so that pairs stay together. Pair i are
/// bodies name/2i and name/(2i + 1); joint name/joint3/i is that of the i-th pair with joints[3].
typedef struct mabd_pile_def {
    const char* name;
    int32_t pairs;         // >= 1
    int32_t columns, rows; // along x and y, >= 1
    mabd_real spacing;     // of the grid [m]; pairs must fit whichever way they are turned
    uint64_t seed;
    mabd_shape shape;
    mabd_real length, radius;            // of a link [m]; radius is half the width of a box
    int32_t joint_count;                 // 1 .. MABD_JOINT_COUNT
    mabd_joint joints[MABD_JOINT_COUNT]; // any but free
    mabd_real slide;                     // [m], >= 0
    mabd_real bend;                      // [rad], >= 0
    mabd_material material;
    mabd_real position[3]; // of the middle of the lowest layer [m]
    uint32_t cookie;
} mabd_pile_def;

/// Return the default pile of jointed pairs: 720 pairs of capsules of 0.1 m x 0.03 m, 7 x 7 in a
/// layer, 0.27 m apart; ball, universal, hinge, prismatic in turn; slide 0.03 m, bend 2 rad.
MABD_API mabd_pile_def mabd_default_pile_def(void);
/// Add a pile of jointed pairs to a scene as `def` describes; new bodies and joints get the next
/// indices.
MABD_API mabd_status mabd_generate_pile(mabd_scene* scene, const mabd_pile_def* def,
                                        mabd_error* error);

// ---- mixed pile --------------------------------------------------------------------------------

/// Bodies of four shapes, to be dropped: sphere, capsule, box and cylinder in turn, each turned at
/// random, on a grid of `columns` x `rows` in as many layers as it takes, apart from one another.
/// With the size s:
///   sphere of radius s; capsule of radius s/2, s between its centres; box 1.2 s x s x 0.8 s;
///   cylinder of radius 0.6 s, 1.4 s long
/// Place i of the grid has shape i % 4: bodies name/sphere/0, 1, ..., then name/capsule/...,
/// name/box/... and name/cylinder/....
typedef struct mabd_pile_mixed_def {
    const char* name;
    int32_t count;         // of bodies, >= 1
    int32_t columns, rows; // along x and y, >= 1
    mabd_real spacing;     // of the grid [m], >= 2 size
    mabd_real size;        // [m]
    uint64_t seed;
    mabd_material material;
    mabd_real position[3]; // of the middle of the lowest layer [m]
    uint32_t cookie;
} mabd_pile_mixed_def;

/// Return the default pile: 100 bodies of size 0.06 m, 5 x 5 in a layer, 0.15 m apart.
MABD_API mabd_pile_mixed_def mabd_default_pile_mixed_def(void);
/// Add a pile to a scene as `def` describes; new bodies get the next indices.
MABD_API mabd_status mabd_generate_pile_mixed(mabd_scene* scene, const mabd_pile_mixed_def* def,
                                              mabd_error* error);

// ---- ragdoll -----------------------------------------------------------------------------------

/// Figures of eleven bodies with arms stretched out, on a grid of `columns` x `rows` in as many
/// layers as it takes, each turned about z at random. Bodies name/pelvis/i (a capsule),
/// name/torso/i (a box), name/head/i (a ball) and, with left- and right- before them, capsules
/// name/left-upper-arm/i, lower-arm, upper-leg, lower-leg; all with the axes of the figure, x to
/// its front, y to its left. Ball joints name/waist/i, name/neck/i, name/left-shoulder/i,
/// name/left-hip/i, hinges name/left-elbow/i, name/left-knee/i, all with stops. Bodies that share
/// no joint do not touch at the start.
typedef struct mabd_ragdoll_def {
    const char* name;
    int32_t copies;        // >= 1
    int32_t columns, rows; // along x and y, >= 1
    mabd_real spacing;     // of the grid [m], >= height
    mabd_real height;      // of a figure [m]
    uint64_t seed;
    mabd_material material;
    mabd_real position[3]; // of the middle of the lowest layer, at the height of the pelvises [m]
    uint32_t cookie;
} mabd_ragdoll_def;

/// Return the default set of ragdolls: 27 figures of 1.8 m, 3 x 3 in a layer, 2 m apart.
MABD_API mabd_ragdoll_def mabd_default_ragdoll_def(void);
/// Add a set of ragdolls to a scene as `def` describes; new bodies and joints get the next indices.
MABD_API mabd_status mabd_generate_ragdoll(mabd_scene* scene, const mabd_ragdoll_def* def,
                                           mabd_error* error);
