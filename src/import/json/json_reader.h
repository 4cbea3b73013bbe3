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

/// A value and its path. Lives on the caller's stack; the parent must outlive it.
typedef struct mabd_json_node {
    const json_t* value;
    const struct mabd_json_node* parent; // null at the root
    const char* key;                     // in an object, else null
    size_t index;                        // in an array
} mabd_json_node;

/// Fail with MABD_ERR_INPUT at a node: sets line and column. Text says what was expected or is
/// wrong.
mabd_status mabd_json_fail(mabd_json_reader* reader, const mabd_json_node* node, const char* format,
                           ...);
/// Pass on the failure of a builder call made for a node: MABD_ERR_INPUT and MABD_ERR_ARG get the
/// node's line and column (and become MABD_ERR_INPUT), others are passed as they are.
mabd_status mabd_json_place(mabd_json_reader* reader, const mabd_json_node* node,
                            mabd_status status);

/// Find the member `key` of an object; false if absent.
bool mabd_json_member(const mabd_json_node* object, const char* key, mabd_json_node* member);
/// Return element `index` of an array.
mabd_json_node mabd_json_element(const mabd_json_node* array, size_t index);
/// Fail unless node is an object whose keys are all in `keys` (ended by null); the message names
/// the unknown key, the allowed ones and, if one is near, "did you mean".
mabd_status mabd_json_only(mabd_json_reader* reader, const mabd_json_node* node,
                           const char* const* keys);
/// Fail unless node is an array.
mabd_status mabd_json_array(mabd_json_reader* reader, const mabd_json_node* node);
/// Call `read` for each element of the member `key`, an array, in order; nothing if it is absent.
mabd_status mabd_json_list(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           mabd_status (*read)(mabd_json_reader*, const mabd_json_node*));

// Members of an object: *value is left alone if the key is absent; wrong type or a number that is
// not finite fails.
/// Read a member that is a finite number.
mabd_status mabd_json_real(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           mabd_real* value);
/// Read a member that is a whole number below 2^31 in magnitude.
mabd_status mabd_json_int(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                          int32_t* value);
/// Read a member that holds 32 bits, given as a whole number from 0 to 2^32 - 1.
mabd_status mabd_json_bits(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           uint32_t* value);
/// Read a member that is true or false, or an expression that gives 1 or 0.
mabd_status mabd_json_bool(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           bool* value);
/// Read a member that is text. *value points into the reader and lives as long as it.
mabd_status mabd_json_text(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           const char** value);
/// Read a member that is one of `names` (count): *value gets its index.
mabd_status mabd_json_choice(mabd_json_reader* reader, const mabd_json_node* object,
                             const char* key, const char* const* names, int count, int* value);
/// Read a member that is a vector [x, y, z] into value (3).
mabd_status mabd_json_vec3(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           mabd_real* value);
/// Read a member that is a rotation into value (4), a unit quaternion. Forms: [w, x, y, z],
/// {"axis": [x,y,z], "angle": rad} or {"axis": ..., "degrees": deg}.
mabd_status mabd_json_rotation(mabd_json_reader* reader, const mabd_json_node* object,
                               const char* key, mabd_real* value);
/// Read a member that is a signal: a number, {"sine": {...}}, {"ramp": {...}}, {"table": {...}} or
/// {"steps": {...}}; see docs/guide/scene-format.md.
mabd_status mabd_json_signal(mabd_json_reader* reader, const mabd_json_node* object,
                             const char* key, mabd_signal* value);
/// Read the controls of axes, as springs, dampers, servos and motors: {"rx": {...}, "tx": {...}}.
/// `storage` (6) gets the values, `axes` (6) pointers to the given ones.
mabd_status mabd_json_axes(mabd_json_reader* reader, const mabd_json_node* object, const char* key,
                           mabd_axis_def* storage, const mabd_axis_def** axes);

/// Members for surfaces, which bodies, shapes and generators share.
#define MABD_JSON_SURFACE_KEYS "friction", "restitution", "category", "mask"
/// Read the members MABD_JSON_SURFACE_KEYS (json_contact.c); absent ones leave their value
/// unchanged.
mabd_status mabd_json_surface(mabd_json_reader* reader, const mabd_json_node* object,
                              mabd_real* friction, mabd_real* restitution, uint32_t* category,
                              uint32_t* mask);

/// Members for surfaces that bodies and shapes have besides.
#define MABD_JSON_ROLLING_KEYS "rolling_friction", "spinning_friction", "surface_velocity"
/// Read the members MABD_JSON_ROLLING_KEYS (json_contact.c); absent ones leave their value
/// unchanged.
mabd_status mabd_json_rolling(mabd_json_reader* reader, const mabd_json_node* object,
                              mabd_geom* geom);

/// Read the "generators" array (json_generators.c).
mabd_status mabd_json_generators(mabd_json_reader* reader, const mabd_json_node* array);
