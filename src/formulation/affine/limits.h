// SPDX-License-Identifier: Apache-2.0
// All tuning numbers of the affine formulation, each with its reason. Tolerances that a user sets
// are in mabd_sim_def; sizes that follow from a data layout are beside that layout.
//
// A name says noun, quantity and unit: _RAD, _M, _M_S; _PART of a quantity named in the comment;
// plain counts have no unit.
#pragma once

#include "math/shared.h"

// ---- Newton iteration (affine/newton.c) --------------------------------------------------------

/// A step that used up its iterations is accepted, and reported as not converged, if no body turned
/// farther than this in the last one: the linearisation error is of second order, 5e-3 here [rad].
#define MABD_ACCEPT_ROTATION_RAD ((mabd_real)0.1)
/// Largest joint error, and distance of an axis or contact from its force law, of such a step [m],
/// [rad]: 0.1 mm cannot be seen, and the next step takes it back.
#define MABD_ACCEPT_JOINT_ERROR ((mabd_real)1e-4)
/// Solves that only change the active set, per allowed iteration. They cost no new reference.
#define MABD_ACTIVE_SET_SOLVES_PER_ITERATION 20
/// Solves at one reference in which eliminated contacts may change: an impact that runs through a
/// chain takes some tens.
#define MABD_SEARCH_MAX_ROUNDS 60
/// Iterations after which a step with contacts that still turns bodies farther than
/// MABD_ACCEPT_ROTATION_RAD is halved, unless the rotation still contracts.
#define MABD_HALVE_AFTER_ITERATIONS 5
/// Factor per iteration by which the rotation must fall to count as contracting.
#define MABD_MIN_CONTRACTION ((mabd_real)0.9)
/// Rotation in the first iteration from which a step with contacts as rows is halved at once: from
/// there references do not settle [rad].
#define MABD_HALVE_ROTATION_RAD ((mabd_real)0.4)
/// Part of def.h below which a step is not halved any more because of contacts.
#define MABD_HALVE_MIN_PART ((mabd_real)0.3)
/// References at which contacts are found from scratch. Corners come and go with the pose that they
/// lead to, which need not end; from then on contacts are only added.
#define MABD_FIND_MAX_REFERENCES 3
/// Contacts are planes at the reference where they were found: a point may leave its plane by this
/// many contact tolerances before contacts are found again.
#define MABD_BENDING_MAX_TOLERANCES 10
/// Part of the bending of contacts to which their branches are searched: the next reference moves
/// the planes by the bending anyway.
#define MABD_SEARCH_BENDING_PART ((mabd_real)0.1)

// ---- contacts: substeps and piles (affine/contact/parts.c, newton.c) ---------------------------

/// Largest rotation of a body in a substep that its contacts may cause, estimated for each body by
/// itself [rad]: bodies that touch others turn by a third of it. Of 0.15, 0.25, 0.4 and 0.7 the
/// smaller ones take up to twice the time, and with the larger ones more steps do not converge.
#define MABD_PART_RAD ((mabd_real)0.2)
/// Most substeps that contacts ask for before anything is solved.
#define MABD_MAX_PARTS 16
/// Contact rows beyond which a group is a pile, and affine.pile_tolerance counts: fewer are solved
/// accurately at every reference.
#define MABD_PILE_MIN_CONTACTS 64
/// Pile tolerances by which points of a pile may leave their planes.
#define MABD_PILE_BENDING_TOLERANCES 3
/// Part of the pile tolerance to which rows are solved in substeps: joints that close afterwards
/// move them.
#define MABD_PILE_GOAL_PART ((mabd_real)0.5)
/// References of a substep at which contacts of a pile are solved: then only joints are closed.
#define MABD_PILE_MAX_REFERENCES 4

// ---- sleep (affine/asleep.c) -------------------------------------------------------------------

/// Time between two looks whether everything rests [s]: a body that is thrown up by 1 mm is back
/// after 0.03 s, and velocities are looked at besides.
#define MABD_SLEEP_LOOK_S ((mabd_real)0.25)
/// Largest velocity of a point of a body at rest [m/s]: round bodies have no friction against
/// spinning and rolling, and capsules in a pile still rock with 1 mm/s after 4 s.
#define MABD_SLEEP_SPEED_M_S ((mabd_real)2e-3)
/// Calm looks in turn after which a scene sleeps.
#define MABD_SLEEP_CALM_LOOKS 2

// ---- rotation over a step (affine/element/spin.h) ----------------------------------------------

/// Inertia of strain, relative to its stiffness, from which BDF2 acts on A itself: the turning
/// frame treats strain as quasi-static.
#define MABD_SOFT_PART ((mabd_real)1e-3)
/// Moment of a light axis relative to the largest one. Rods of 1 m x 2 cm spun up to 190 rad/s
/// about their axes without it; cubes and plates have none.
#define MABD_SPIN_LIGHT_PART ((mabd_real)0.25)
/// Moments that differ by less than this part are equal: the nutation of such a body is slower than
/// its spin by this factor.
#define MABD_SPIN_EVEN_PART ((mabd_real)1e-12)
/// Part of its momentum that the torque on a body changes in bh: below the first a body counts as
/// free, above the second as loaded.
#define MABD_SPIN_FREE_PART   ((mabd_real)0.05)
#define MABD_SPIN_LOADED_PART ((mabd_real)0.2)
/// Rotation of its momentum per step by the gyroscopic term from which a nearly free body is
/// corrected, and from which it is corrected in full [rad]: below the first the term changes by
/// less than 1e-8 of the momentum within the step.
#define MABD_SPIN_SLOW_RAD ((mabd_real)1e-4)
#define MABD_SPIN_FAST_RAD ((mabd_real)2e-4)
/// Square of the relative residual at which Newton's method for the free motion ends.
#define MABD_SPIN_ROUND_OFF ((mabd_real)1e-31)
/// Rotation from the reference up to which the series of the whole rotation is used: those of
/// converged steps are below; the terms left out are 4e-8 rad at this angle and 0.3 rad per step.
#define MABD_SPIN_NEAR_RAD ((mabd_real)0.01)
/// Rotation per step from which the rotation of a loaded body is damped, from which it is damped in
/// full [rad], and the part of its rate that it loses per step then. BDF2 on the coordinates takes
/// a third at 1 rad; without damping the last link of a whip of 100 gained energy from 2.5 rad on.
#define MABD_SPIN_CALM_RAD    ((mabd_real)0.7)
#define MABD_SPIN_WILD_RAD    ((mabd_real)1.2)
#define MABD_SPIN_DAMPED_PART ((mabd_real)0.7)
/// Rotation per step up to which nutation is resolved, and from which it is left to the damping of
/// the scheme [rad].
#define MABD_SPIN_RESOLVED_RAD   ((mabd_real)1.6)
#define MABD_SPIN_UNRESOLVED_RAD ((mabd_real)2.2)
/// Largest rotation of a part of the free motion: four Newton steps end at round-off [rad].
#define MABD_SPIN_FLOW_RAD ((mabd_real)0.6)
/// Newton steps on Euler's equations for the guess of a nearly free body.
#define MABD_SPIN_NEWTON_STEPS 3
/// Rotation vectors above this length are reduced by whole turns before their exponential, and are
/// continued beyond half a turn by adding rotations to them [rad].
#define MABD_SPIN_FAR_RAD ((mabd_real)2.5)
/// Distance from a whole turn below which such a sum has no axis of its own [rad].
#define MABD_SPIN_AXIS_RAD ((mabd_real)0.1)

/// Rotation per step from which a body whose moments of inertia differ by more than the part below
/// is reported [rad].
#define MABD_FAST_RAD        ((mabd_real)1.2)
#define MABD_FAST_EQUAL_PART ((mabd_real)0.01)
/// Part of the rate that a step takes by damping from which a body is reported.
#define MABD_FAST_DAMPED_PART ((mabd_real)0.05)
/// Bodies that are looked at after each step: about a microsecond.
#define MABD_FAST_BODIES_PER_STEP 512

// ---- orbits (affine/element/orbit.h) -----------------------------------------------------------

/// Largest rotation per step of an acceleration that is corrected: beyond it orbits decay [rad].
#define MABD_ORBIT_MAX_RAD ((mabd_real)0.7)
/// Part of the change of f that a step takes: 1 lets the corrections alternate.
#define MABD_ORBIT_FILTER ((mabd_real)0.25)
/// Squares of the rotation of a body per step up to which its orbit is not corrected, and from
/// which it is corrected in full [rad^2]: bodies that hardly turn cost nothing. With 1e-3 rad the
/// observed orders of slow motions fell to 1.75 where the correction sets in.
#define MABD_ORBIT_SLOW_RAD2 ((mabd_real)1e-8)
#define MABD_ORBIT_FAST_RAD2 ((mabd_real)9e-8)
/// Added to a square of accelerations per second, so that the quotient is 0 where both are 0.
#define MABD_ORBIT_TINY ((mabd_real)1e-30)
/// Squares of the change of an acceleration in a step other than by turning, relative to itself, up
/// to which its orbit is corrected in full, and from which it is not.
#define MABD_ORBIT_STEADY_SQUARE   ((mabd_real)0.01)
#define MABD_ORBIT_UNSTEADY_SQUARE ((mabd_real)0.09)
// ---- the first step (affine/first_step.c) ------------------------------------------------------

/// Rotation of a body in the first step from which it is divided, and up to which [rad]: faster
/// bodies are not resolved by the steps that follow either.
#define MABD_START_SLOW_RAD ((mabd_real)0.03)
#define MABD_START_FAST_RAD ((mabd_real)1.2)
/// Most halvings, the shortest part [s], and the largest inertia of strain there, relative to its
/// stiffness: shorter parts show vibrations of the bodies. With parts of 0.04 ms a free box of
/// steel had 4 % too little acceleration in the first.
#define MABD_START_HALVINGS    5
#define MABD_START_MIN_PART_S  ((mabd_real)3e-4)
#define MABD_START_STRAIN_PART ((mabd_real)0.02)

// ---- axes with laws (affine/active_set.c, element/axis.h) --------------------------------------

/// An axis at a stop is there within the row tolerance: a displacement into the stop of this many
/// tolerances within a step is an impact.
#define MABD_STOP_IMPACT_TOLERANCES 10

/// Displacement of an axis in a step from which a stop with rebound counts [m], [rad]: slower ones
/// rest.
#define MABD_REBOUND_MIN_WAY ((mabd_real)1e-8)

// ---- targets from outside (affine/targets.c) ---------------------------------------------------

/// A solve that ends closer than this part of h to the end of its step ends there: ends of solves
/// are sums of times, with their round-off.
#define MABD_STEP_END_PART ((mabd_real)1e-6)

// ---- contacts: finding (affine/contact/rows.c, saved.c) ----------------------------------------

/// Contacts are created below a distance of this many |g| h^2, unless the scene gives a margin: a
/// body at rest that starts to fall needs two steps to cross it.
#define MABD_CONTACT_MARGIN_FALLS 4
/// Margin without gravity [m].
#define MABD_CONTACT_MIN_MARGIN_M ((mabd_real)1e-3)
/// Part of the margin below which a new contact is assumed to hold in its first solve.
#define MABD_CONTACT_CLOSE_PART ((mabd_real)0.05)
/// Points of one pair closer than this part of the reach of a body are the same.
#define MABD_CONTACT_SAME_POINT_PART ((mabd_real)0.1)
/// Fastest that overlapping bodies are moved apart [m/s]: 4 mm take a tenth of a second, and the
/// speed that remains is a hop of 0.1 mm.
#define MABD_CONTACT_PUSH_SPEED_M_S ((mabd_real)0.05)
/// Least softness of a row, relative to its own compliance: enough for rows that depend on each
/// other (four corners of a box).
#define MABD_CONTACT_MIN_SOFTNESS ((mabd_real)1e-9)
/// Compliance of rolling and spinning friction where bodies do not turn over each other, relative
/// to that of the bodies: with that of contacts, 1e-3, a ball crept down a slope with 1e-5 m/s.
#define MABD_TURN_SOFTNESS ((mabd_real)1e-6)
/// Compliance against turning where one of rolling and spinning friction has no torque, relative to
/// that of the bodies.
#define MABD_TURN_MAX_SOFTNESS ((mabd_real)1e6)
/// Torques of rolling friction may be off their bounds by this part while there are references left
/// that find contacts anew.
#define MABD_TURN_TORQUE_PART ((mabd_real)1e-3)
/// Rods whose axes have a larger cosine than this do not roll over each other, but touch along
/// their length.
#define MABD_ROLL_MAX_COSINE ((mabd_real)0.5)
/// A body is hit if its own share of an impact takes more than this part of |g| h^2 in a step.
#define MABD_IMPACT_MIN_FALLS ((mabd_real)0.05)
/// Speeds of approach in chains of impacts up to this many |g| h along the normal do not rebound:
/// they are the weight of bodies that rest on each other.
#define MABD_IMPACT_RESTS_FALLS ((mabd_real)2)
/// Speed of approach in a chain of impacts that counts, relative to the fastest.
#define MABD_IMPACT_LEAST_PART ((mabd_real)1e-9)
/// Impacts in a chain, per contact, until it counts as endless: five balls in a row take 2 each.
#define MABD_IMPACT_MAX_HITS 100
/// Steps by Euler after the step of an impact: the impact takes the speed away within two steps,
/// and BDF2 uses the last two.
#define MABD_IMPACT_EULER_STEPS 2
/// A body may support another if it has at most this part of the compliance of their contact.
#define MABD_SUPPORT_MAX_COMPLIANCE_PART ((mabd_real)0.25)
/// Relative accuracy of forces of eliminated contacts per contact tolerance [1/m]: 3e-3 with the
/// preset balanced.
#define MABD_CONTACT_FORCE_TOLERANCE ((mabd_real)3e3)
/// Friction within this part of its bound counts as slipping in the report: round-off of the solve.
#define MABD_SLIP_REPORT_PART ((mabd_real)1e-6)

// ---- contacts: eliminated (affine/contact/line_search.c, carriers.c) ---------------------------

/// Points that the line search evaluates between its two ends: regula falsi halves the bracket at
/// least.
#define MABD_LINE_SEARCH_MAX_POINTS 12
/// Slope at which the line search stops, relative to that at its start.
#define MABD_LINE_SEARCH_SLOPE_PART ((mabd_real)1e-3)
/// Part of the contact tolerance that a force off its law may amount to, as displacement of its
/// row.
#define MABD_LAW_ERROR_PART ((mabd_real)0.1)
/// Bounds of friction are updated where branches are off by at most this part of the effect of the
/// update.
#define MABD_BOUND_UPDATE_PART ((mabd_real)0.3)
/// Range of the relaxation factor of updates of bounds: below it updates stall, above it they
/// oscillate.
#define MABD_BOUND_MIN_RELAX ((mabd_real)0.2)
#define MABD_BOUND_MAX_RELAX ((mabd_real)2)
/// Products of conjugate gradients over the degrees of freedom of supports. A pulley has one
/// besides its elasticity and takes a few.
#define MABD_SUPPORT_MAX_PRODUCTS 200
/// Energy of their residual at the end, relative to that at the start: 1e-10 of the residual
/// itself.
#define MABD_SUPPORT_ENERGY_PART ((mabd_real)1e-20)

// ---- contacts: under heavy bodies (affine/contact/loads.c) -------------------------------------

/// Loads up to this part of its mass leave the contacts of a body as they are: they sink in by
/// this many thousandths of its fall in a step, less than a hundredth of a body of 5 mm at 10 ms.
#define MABD_LOAD_PART ((mabd_real)30)
/// Cosine between normal and gravity from which a body counts as above the other one.
#define MABD_LOAD_MIN_COSINE ((mabd_real)0.3)
/// Part of half the thickness of a shape by which a loaded body overlaps another one before the
/// simulation warns of it: a hundredth of the body.
#define MABD_LOAD_SUNK_PART ((mabd_real)0.02)

// ---- contacts: as rows (affine/contact/solve_rows.c, classify.c) -------------------------------

/// Residual of small ranges with restitution, relative to the goal of the reference.
#define MABD_IMPACT_GOAL_PART ((mabd_real)1e-6)

/// Residual of contact rows at the end, relative to the contact tolerance: the residual is noise
/// that differs from step to step and shakes stacks.
#define MABD_ROW_GOAL_TOLERANCE_PART ((mabd_real)0.1)
/// Residual before the end, relative to the expected motion of the points at the next reference.
#define MABD_ROW_GOAL_MOTION_PART ((mabd_real)0.05)
/// Largest residual before the end [m].
#define MABD_ROW_GOAL_MAX_M ((mabd_real)1e-4)
/// With at most this many rows, solve contact forces accurately at every reference: a residual
/// would spoil the next one.
#define MABD_ROW_GOAL_MIN_CONTACTS 300
/// Products of projected CG over all contacts: this number divided by the contacts, within the two
/// bounds.
#define MABD_ROW_PRODUCTS_TIMES_CONTACTS 60000
#define MABD_ROW_MIN_PRODUCTS            60
#define MABD_ROW_MAX_PRODUCTS            3000
/// Sweeps over a small range where the forces are those of the end.
#define MABD_ROW_MAX_SWEEPS 200
/// Sweeps before the end: the first few make most of the change, and planes of contacts still
/// bend.
#define MABD_ROW_MAX_EARLY_SWEEPS 50
/// Contacts of a small range up to which projected CG is tried first: ten boxes on each other take
/// a third of the time of sweeps.
#define MABD_ROW_CG_MAX_CONTACTS 64
/// Products in that attempt: a range that needs more is swept.
#define MABD_ROW_CG_MAX_PRODUCTS 100
/// Bodies of a component up to which its part of W is assembled.
#define MABD_SMALL_MAX_BODIES 16
/// Contacts on a component up to which its part of W is assembled: the cost grows with their
/// square.
#define MABD_SMALL_MAX_CONTACTS 64

// ---- dual solvers (cpu/factor.c) ---------------------------------------------------------------

/// Goal of iterative solvers relative to the gap tolerance: leaves room for round-off between
/// residual and gap.
#define MABD_DUAL_GOAL_PART ((mabd_real)0.5)
/// Iterations of an iterative solver.
#define MABD_DUAL_MAX_ITERATIONS 2000
/// Compliance added to rows of a singular component, relative to their own: enough for positive
/// pivots, and 1e-10 of a correction is round-off of a position. Forces of redundant rows against
/// each other are known to round-off over this number: at 1e-12 they reached three times the weight
/// of a door.
#define MABD_REDUNDANT_SOFTNESS ((mabd_real)1e-10)
/// Rows of components that one thread factors as one task: some 100 microseconds of work.
#define MABD_GROUP_ROWS 1024
/// All threads share a component with at least this many rows and at least 1/MABD_SHARED_SHARE of
/// all rows.
#define MABD_SHARED_ROWS  4096
#define MABD_SHARED_SHARE 16

// ---- memory order on the CPU (affine/cpu) ------------------------------------------------------

/// Bodies of a tile: about 1 kB each in the cache while a step passes over them.
#define MABD_TILE_BODIES 512
/// Largest distance of the bodies of a pack: bounds the search in a tile whose bodies all differ.
#define MABD_PACK_MAX_SPREAD 128
/// Links of one lane of a segment: odd, so that rows of 12 reals of bodies this far apart do not
/// meet in one set of the cache.
#define MABD_SEGMENT_LINKS 63
/// Tiles predict while they assemble if at most one body in this many is in the halo.
#define MABD_HALO_SHARE 8
/// Consecutive tiles go to one thread, which prefetches the next one; this many batches per thread
/// balance other load of the machine.
#define MABD_BATCHES_PER_THREAD 8
/// Distance of the prefetch in packs or groups of springs.
#define MABD_PREFETCH_PACKS 2
/// Distance of the prefetch of factors of a segment, in joints. At a larger distance they would
/// evict the bodies of the next segment from the second-level cache.
#define MABD_PREFETCH_JOINTS 4
/// Distance of the prefetch at the end of a step, in bodies: 400 bytes each.
#define MABD_PREFETCH_FINISH 64

// ---- bodies (affine/element/affine_body.h, cpu/pack_balls.c, cpu/pack_turns.c) -----------------

/// Part of the diagonal 1/c by which G may be negative before its negative eigenvalues are set to
/// zero: I + G C keeps a tenth of its pivots, and G affects only the convergence.
#define MABD_STIFFENING_MARGIN_PART ((mabd_real)0.1)
/// |X'X - I|^2 above which the polar decomposition of a lane is computed again without lanes: two
/// iterations of Newton-Schulz left an error above round-off, 1e-14.
#define MABD_POLAR_LANE_SQUARE ((mabd_real)1e-28)
/// Square of a rotation vector below which it is not unwrapped [rad^2]: whole turns are counted
/// beyond 1 rad only, so unwrapping does nothing there; 1 % is for round-off.
#define MABD_UNWRAP_SQUARE_RAD2 ((mabd_real)0.99)

// ---- sanity of numbers -------------------------------------------------------------------------

/// Square of an increment from which a state counts as not finite: its next square would overflow
/// in single precision.
#define MABD_BROKEN_SQUARE ((mabd_real)1e30)
