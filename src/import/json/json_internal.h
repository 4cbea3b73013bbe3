// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the JSON importer: the reader itself and its less general functions.
#pragma once

#include "base/error.h"
#include "base/list.h"
#include "import/json/json_expression.h"
#include "import/json/json_reader.h"

struct mabd_json_reader {
    const char* what;  // kind of document, "scene"
    mabd_scene* scene; // null for other documents
    mabd_allocator allocator;
    mabd_error error;
    const char* text; // the document (length), valid JSON
    size_t length;
    mabd_list params; // mabd_json_param: in force, after the settings
    mabd_list geoms;  // mabd_geom: of the body being read
    mabd_list blocks; // mabd_json_block: signal tables, until the reader ends
};

/// Memory that lives as long as the reader.
typedef struct mabd_json_block {
    void* data;
    size_t bytes;
} mabd_json_block;

/// Allocate zeroed memory that lives as long as the reader; null if out of memory.
void* mabd_json_take(mabd_json_reader* reader, size_t bytes);
/// Free all memory that the reader holds.
void mabd_json_release(mabd_json_reader* reader);
/// Fail with MABD_ERR_MEMORY.
mabd_status mabd_json_no_memory(mabd_json_reader* reader);

/// Describe a value for messages: "a number", "an array of 2", "the text 'abc'". Returns
/// text.
const char* mabd_json_describe(const json_t* value, char* text, size_t size);
/// Fail at a node: "expected <what>, found <the value>".
mabd_status mabd_json_expected(mabd_json_reader* reader, const mabd_json_node* node,
                               const char* what);
/// Fail at an object that lacks a member: "<what> needs '<key>'".
mabd_status mabd_json_missing(mabd_json_reader* reader, const mabd_json_node* object,
                              const char* what, const char* key);

/// Read the value of a node itself as a finite number.
mabd_status mabd_json_number(mabd_json_reader* reader, const mabd_json_node* node,
                             mabd_real* value);
/// Fail if the text of a node, a string, has a control character.
mabd_status mabd_json_printable(mabd_json_reader* reader, const mabd_json_node* node);
/// Read the value of a node itself as text, without control characters.
mabd_status mabd_json_string(mabd_json_reader* reader, const mabd_json_node* node,
                             const char** value);
/// Read a member that is a finite number > 0; absent leaves *value unchanged.
mabd_status mabd_json_positive(mabd_json_reader* reader, const mabd_json_node* object,
                               const char* key, mabd_real* value);
/// Read a member that is a finite number >= 0; absent leaves *value unchanged.
mabd_status mabd_json_not_negative(mabd_json_reader* reader, const mabd_json_node* object,
                                   const char* key, mabd_real* value);
/// Read the member `key`, an array of n numbers; absent leaves the values unchanged.
mabd_status mabd_json_numbers(mabd_json_reader* reader, const mabd_json_node* object,
                              const char* key, size_t n, mabd_real* values);
/// Read the value of a node itself, which names a body or "world".
mabd_status mabd_json_body_named(mabd_json_reader* reader, const mabd_json_node* node,
                                 int32_t* body);
/// Read a member, which must be given, that names a body or "world".
mabd_status mabd_json_body_of(mabd_json_reader* reader, const mabd_json_node* object,
                              const char* key, int32_t* body);

/// Read the declared params and apply the settings (json_params.c). `root` is the document.
mabd_status mabd_json_params(mabd_json_reader* reader, const mabd_json_node* root,
                             int32_t setting_count, const mabd_setting* settings);
/// Add one body of the scene (json_body.c).
mabd_status mabd_json_body(mabd_json_reader* reader, const mabd_json_node* node);
/// Add one joint of the scene (json_joint.c).
mabd_status mabd_json_joint(mabd_json_reader* reader, const mabd_json_node* node);
/// Read the type of a joint, which must be given (json_joint.c).
mabd_status mabd_json_joint_type(mabd_json_reader* reader, const mabd_json_node* node,
                                 mabd_joint* type);
/// Read "anchor" (3) and the frame (4) of a joint, by "axis" and "axis2" or by "frame"; absent ones
/// leave their value unchanged (json_joint.c).
mabd_status mabd_json_joint_frame(mabd_json_reader* reader, const mabd_json_node* node,
                                  mabd_real* anchor, mabd_real* frame);
/// Members of a joint for mabd_json_path.
#define MABD_JSON_PATH_KEYS                                                                        \
    "chart", "pitch", "frames", "closed", "start", "joints", "x", "y", "z", "rx", "ry", "rz"
/// Read the members MABD_JSON_PATH_KEYS of a joint; what they point to lives as long as the reader
/// (json_path.c).
mabd_status mabd_json_path(mabd_json_reader* reader, const mabd_json_node* node,
                           mabd_joint_def* def);
/// Fill a geom from the members of a body or of an element of "shapes" (json_geom.c): shape, sizes
/// and surface. Its density and surface are those of the body before.
mabd_status mabd_json_geom(mabd_json_reader* reader, const mabd_json_node* node, mabd_geom* geom);
/// The members that mabd_json_geom reads beside "shape" and the surface.
#define MABD_JSON_SIZE_KEYS                                                                        \
    "size", "radius", "length", "thickness", "columns", "rows", "cell", "heights"
/// Read "contact" of the document (json_contact.c).
mabd_status mabd_json_contact(mabd_json_reader* reader, const mabd_json_node* root);
/// Set how the bodies of one element of "pairs" touch (json_contact.c).
mabd_status mabd_json_pair(mabd_json_reader* reader, const mabd_json_node* node);
/// Add one element of "springs", "nodes", "couplings" (json_springs.c).
mabd_status mabd_json_spring(mabd_json_reader* reader, const mabd_json_node* node);
mabd_status mabd_json_rope_node(mabd_json_reader* reader, const mabd_json_node* node);
mabd_status mabd_json_coupling(mabd_json_reader* reader, const mabd_json_node* node);
/// Read "ground" of the document (json_springs.c).
mabd_status mabd_json_ground(mabd_json_reader* reader, const mabd_json_node* root);
/// Add one force of the scene (json_forces.c).
mabd_status mabd_json_force(mabd_json_reader* reader, const mabd_json_node* node);
/// Read "gravity", "wind" and "time" of the document (json_forces.c).
mabd_status mabd_json_surroundings(mabd_json_reader* reader, const mabd_json_node* root);
