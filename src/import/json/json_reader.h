// SPDX-License-Identifier: Apache-2.0
// Reading JSON with places: every value is reached through a node that knows its path, so that any
// complaint, however late, names line and column.
//
// A string that starts with '=' is an expression over the scene's params: "=links", "=2*(links-1)",
// "=joint" (text). All readers below evaluate it.
#pragma once

#include "mabd/scene.h"

#include <jansson.h>

typedef struct mabd_json_reader mabd_json_reader;

/// A value and the way to it. Lives on the caller's stack; the parent must outlive it.
typedef struct mabd_json_node {
    const json_t* value;
    const struct mabd_json_node* parent; // null at the root
    const char* key;                     // in an object, else null
    size_t index;                        // in an array
} mabd_json_node;

/// The scene being filled and the error to fill.
mabd_scene* mabd_json_scene(mabd_json_reader* reader);
mabd_error* mabd_json_error(mabd_json_reader* reader);

/// Fail with MABD_ERR_INPUT at a node: sets line and column. Text says what was expected or is
/// wrong.
mabd_status mabd_json_fail(mabd_json_reader* reader, const mabd_json_node* node, const char* format,
                           ...);
/// Pass on the failure of a builder call made for a node: MABD_ERR_INPUT and MABD_ERR_ARG get the
/// node's line and column (and become MABD_ERR_INPUT), others are passed as they are.
mabd_status mabd_json_place(mabd_json_reader* reader, const mabd_json_node* node,
                            mabd_status status);

/// The member `key` of an object; false if absent.
bool mabd_json_member(const mabd_json_node* object, const char* key, mabd_json_node* member);
/// Element i of an array.
mabd_json_node mabd_json_element(const mabd_json_node* array, size_t index);
/// Fail unless node is an object whose keys are all in `keys` (ended by null); the message names
/// the unknown key, the allowed ones and, if one is near, "did you mean".
mabd_status mabd_json_only(mabd_json_reader* reader, const mabd_json_node* node,
                           const char* const* keys);
mabd_status mabd_json_array(mabd_json_reader* reader, const mabd_json_node* node);

// Members of an object: *value is left alone if the key is absent; wrong type or a number that is
// not finite fails.
mabd_status mabd_json_real(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           mabd_real* value);
mabd_status mabd_json_int(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                          int32_t* value);
/// 32 bits, given as a whole number from 0 to 2^32 - 1.
mabd_status mabd_json_bits(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           uint32_t* value);
mabd_status mabd_json_bool(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           bool* value);
/// *value points into the reader and lives as long as it.
mabd_status mabd_json_text(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           const char** value);
/// One of `names` (count): *value gets its index.
mabd_status mabd_json_choice(mabd_json_reader* reader, const mabd_json_node* object,
                             const char* key, const char* const* names, int count, int* value);
/// [x, y, z]
mabd_status mabd_json_vec3(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           mabd_real* value);
/// [w, x, y, z], or {"axis": [x,y,z], "angle": rad} or {"axis": ..., "degrees": deg}; normalised.
mabd_status mabd_json_rotation(mabd_json_reader* reader, const mabd_json_node* object,
                               const char* key, mabd_real* value);
/// A number, {"sine": {...}}, {"ramp": {...}} or {"table": {...}}; see docs/guide/scene-format.md.
mabd_status mabd_json_signal(mabd_json_reader* reader, const mabd_json_node* object,
                             const char* key, mabd_signal* value);
/// Springs, dampers, armature, servo, motor of the axes: {"rx": {...}, "tx": {...}}. `storage` (6)
/// gets the values, `axes` (6) pointers to the ones given.
mabd_status mabd_json_axes(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           mabd_axis_def* storage, const mabd_axis_def** axes);

/// How a surface meets others: the members that bodies, shapes and generators share.
#define MABD_JSON_SURFACE_KEYS "friction", "restitution", "category", "mask"
/// Read them (json_contact.c); those not given are left alone.
mabd_status mabd_json_surface(mabd_json_reader* reader, const mabd_json_node* object,
                              mabd_real* friction, mabd_real* restitution, uint32_t* category,
                              uint32_t* mask);

/// Read the "generators" array (json_generators.c).
mabd_status mabd_json_generators(mabd_json_reader* reader, const mabd_json_node* array);
