// SPDX-License-Identifier: Apache-2.0
// Contacts at the reference: points of collide/ turned into rows.
#pragma once

#include "formulation/affine/data.h"

/// Find the contacts at the reference. MABD_ERR_MEMORY; MABD_ERR_DIVERGED if the reference is not
/// finite: geometry->bad_body.
mabd_status mabd_affine_contacts_find(mabd_affine_sim* sim, mabd_affine_find find);
/// Move the rows of all contacts to a new reference that differs by little: points and normals
/// stay.
void mabd_affine_contacts_shift(mabd_affine_sim* sim);
/// Largest distance by which points have left the planes of their contacts between the start of the
/// step and the first reference [m]; surfaces are as round as the thinner of both geoms. 0 for
/// null.
mabd_real mabd_affine_contacts_slide(const mabd_affine_contacts* contacts);
/// Find the deepest overlap of two shapes at q (bodies x 12) [m]. *a, *b get the bodies, -1 = none.
/// MABD_ERR_MEMORY.
mabd_status mabd_affine_contacts_overlap(const mabd_affine_sim* sim, const mabd_real* q,
                                         mabd_real* depth, int32_t* a, int32_t* b);
/// Velocity of the point X (body frame) of a body at the start of the step [m/s], world axes; of a
/// scripted body the mean of the step.
mabd_vec3 mabd_affine_contacts_start_velocity(const mabd_affine_sim* sim, int32_t body,
                                              mabd_vec3 X);
