// SPDX-License-Identifier: Apache-2.0
// Numbers that tune the interior point of contacts, stops and boxes, each with its reason.
#pragma once

#include "math/shared.h"

/// Part of the way to the boundary of the cones that a step takes.
#define MABD_INTERIOR_BOUNDARY_PART ((mabd_real)0.995)
/// Least part of the products that one iteration aims at: less jams.
#define MABD_INTERIOR_LEAST_SIGMA ((mabd_real)1e-3)
/// Least product of pressures over that of friction [s]: pressures that are ahead jam.
#define MABD_INTERIOR_PACE_S ((mabd_real)1e-3)
/// Products over their targets below which an iteration aims at the end, without second order: with
/// it the iteration circles there.
#define MABD_INTERIOR_NEAR_END ((mabd_real)10)
/// Least part that the smaller value of friction has of their mean in a second attempt; steps that
/// miss it are cut, at most that many times.
#define MABD_INTERIOR_CENTRAL      ((mabd_real)0.1)
#define MABD_INTERIOR_CENTRAL_CUT  ((mabd_real)0.8)
#define MABD_INTERIOR_CENTRAL_CUTS 10
/// Step below which the products are kept instead.
#define MABD_INTERIOR_SHORT_STEP ((mabd_real)0.3)
/// Part of the products to aim at after they were kept once.
#define MABD_INTERIOR_STAY_PART ((mabd_real)0.5)
/// Iterations that may not halve the residual; then part of the products to aim at, by first order.
#define MABD_INTERIOR_MAX_STALLS 2
#define MABD_INTERIOR_STALL_PART ((mabd_real)0.1)
/// Steps in a row below this are a jam, that many of them; then cold restarts, at most that many.
#define MABD_INTERIOR_JAM_STEP     ((mabd_real)0.02)
#define MABD_INTERIOR_MAX_JAMS     3
#define MABD_INTERIOR_MAX_RESTARTS 3
/// Gap and pressure over weight of a cold restart; the pressure is ten times that of the last one.
#define MABD_INTERIOR_COLD_GAP_M    ((mabd_real)0.05)
#define MABD_INTERIOR_COLD_PRESSURE ((mabd_real)0.2)
/// Largest error of products relative to their targets at the end.
#define MABD_INTERIOR_PRODUCT_ERROR ((mabd_real)0.5)
/// Last target of friction over the pressure [m/s]: a contact that sticks at 0.99 of its bound
/// creeps by 50 times this, over the coefficient. A product may be off by the factor below: it is
/// that of a speed far below all others.
#define MABD_INTERIOR_SLIDE_M_S    ((mabd_real)1e-12)
#define MABD_INTERIOR_SLIDE_FACTOR ((mabd_real)10)
/// Least compliance of a contact over that of its bodies. With 1e-12 the factor of heaps whose
/// bodies touch several others loses its last digits.
#define MABD_INTERIOR_SOFTNESS ((mabd_real)1e-10)
/// Part to which the target of friction falls when it is reached.
#define MABD_INTERIOR_TIGHTEN ((mabd_real)1e-3)
/// Products of friction that are round-off, relative to their two terms.
#define MABD_INTERIOR_ROUND_OFF ((mabd_real)1e-14)
/// Budget of one solve. The slowest of 1260 steps of random boxes took 38.
#define MABD_INTERIOR_MAX_ITERATIONS 60
/// Budget of a second attempt, whose steps are shorter.
#define MABD_INTERIOR_MAX_SECOND 150
