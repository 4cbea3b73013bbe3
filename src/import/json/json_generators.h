// SPDX-License-Identifier: Apache-2.0
// What the readers of "generators" share.
#pragma once

#include "import/json/json_reader.h"
#include "mabd/generate.h"

/// The members that mabd_json_material reads.
#define MABD_JSON_MATERIAL_KEYS "density", "young", "poisson", MABD_JSON_SURFACE_KEYS
/// What links are made of (json_generators.c); those not given are left alone.
mabd_status mabd_json_material(mabd_json_reader* reader, const mabd_json_node* node,
                               mabd_material* material);

/// Shape of a link: one of those before the plane, which have mass (json_generators.c).
mabd_status mabd_json_link_shape(mabd_json_reader* reader, const mabd_json_node* node,
                                 mabd_shape* shape);

/// Readers of single generators (json_generators_contact.c).
mabd_status mabd_json_pulley(mabd_json_reader* reader, const mabd_json_node* node);
mabd_status mabd_json_pile(mabd_json_reader* reader, const mabd_json_node* node);
mabd_status mabd_json_ragdoll(mabd_json_reader* reader, const mabd_json_node* node);
