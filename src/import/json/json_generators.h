// SPDX-License-Identifier: Apache-2.0
// Shared by the readers of "generators".
#pragma once

#include "import/json/json_reader.h"
#include "mabd/generate.h"

/// The members that mabd_json_material reads.
#define MABD_JSON_MATERIAL_KEYS "density", "young", "poisson", MABD_JSON_SURFACE_KEYS
/// Read material and surface of links (json_generators.c); absent members leave their value
/// unchanged.
mabd_status mabd_json_material(mabd_json_reader* reader, const mabd_json_node* node,
                               mabd_material* material);

/// Read the shape of a link: one of those before the plane, which have mass (json_generators.c).
mabd_status mabd_json_link_shape(mabd_json_reader* reader, const mabd_json_node* node,
                                 mabd_shape* shape);

/// Readers of single generators (json_generators_contact.c).
mabd_status mabd_json_pulley(mabd_json_reader* reader, const mabd_json_node* node);
mabd_status mabd_json_pile(mabd_json_reader* reader, const mabd_json_node* node);
mabd_status mabd_json_ragdoll(mabd_json_reader* reader, const mabd_json_node* node);
