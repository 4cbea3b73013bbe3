// SPDX-License-Identifier: Apache-2.0
// Shared by the generators: checks, the body of a link, names, and the arrays of one bulk call.
#pragma once

#include "base/error.h"
#include "mabd/generate.h"
#include "math/quat.h"
#include "scene/scene_data.h"

#define MABD_GENERATE_COOKIE UINT32_C(0x6d616765)
#define MABD_GENERATE_NAME   128 // longest name of a generated structure, with its zero
#define MABD_PART_NAME       192 // longest base name of a part of it, with its zero

/// Refuse a missing scene, a def that was not made by its mabd_default_ function (or is null: pass
/// 0), and a name too long. `what` is the generator's name; it starts every message.
mabd_status mabd_generate_check(const mabd_scene* scene, uint32_t cookie, const char* name,
                                const char* what, mabd_error* error);
/// Refuse a value that is not finite or not > 0.
mabd_status mabd_generate_positive(const char* what, const char* field, mabd_real value,
                                   mabd_error* error);
/// Refuse values (n) that are not finite.
mabd_status mabd_generate_finite(const char* what, const char* field, const mabd_real* values,
                                 int n, mabd_error* error);
/// Refuse a count below `least`.
mabd_status mabd_generate_count(const char* what, const char* field, int64_t value, int64_t least,
                                mabd_error* error);
/// Refuse a total of bodies or joints that does not fit an index.
mabd_status mabd_generate_total(const char* what, int64_t total, mabd_error* error);
/// Refuse a joint type that holds nothing (free) or is none.
mabd_status mabd_generate_joint(const char* what, const char* field, mabd_joint type,
                                mabd_error* error);

/// Fail with MABD_ERR_MEMORY, naming the bytes, if the allocator cannot give the memory that
/// further bodies and joints need at the least in scene and model. Touches no memory.
mabd_status mabd_generate_probe(const mabd_scene* scene, int64_t bodies, int64_t joints,
                                mabd_error* error);
/// Reserve memory for further bodies and joints, so that a structure that is added in many calls
/// grows the lists of the scene only once.
mabd_status mabd_generate_reserve(mabd_scene* scene, int64_t bodies, int64_t joints,
                                  mabd_error* error);

/// Make a geom as mabd_geom_make does, with density and surface of a material.
mabd_geom mabd_generate_material_geom(mabd_shape shape, const mabd_real* size,
                                      const mabd_material* material);
/// Make the geom of a link of `length` and `radius` [m] along the body's x axis, centred at its
/// origin.
mabd_geom mabd_generate_link_geom(mabd_shape shape, mabd_real length, mabd_real radius,
                                  const mabd_material* material);
/// Make the definition of a body with one geom (which must outlive it), its material and drag
/// [N s/m].
mabd_body_def mabd_generate_link_body(const char* name, const mabd_geom* geom,
                                      mabd_material material, mabd_real drag);
/// Compute the world frame of a joint that holds a link of the given rotation, with the axes that
/// mabd/generate.h defines.
mabd_quat mabd_generate_link_joint_frame(mabd_joint type, mabd_quat link);
/// Compute the direction of a link in the world: R ex.
mabd_vec3 mabd_generate_link_direction(mabd_quat link);

/// Compute place i on a grid of columns x rows, layer upon layer, `spacing` [m] apart along x, y
/// and z; the lowest layer has its middle at `position` (3) [m].
mabd_vec3 mabd_generate_grid_point(const mabd_real* position, mabd_real spacing, int32_t columns,
                                   int32_t rows, int32_t i);

/// Draw the next 64 random bits of splitmix64.
uint64_t mabd_generate_random_bits(uint64_t* state);
/// Draw a random number, uniform in [0, 1).
mabd_real mabd_generate_random_real(uint64_t* state);

/// Draw a random rotation, uniform over all.
mabd_quat mabd_generate_random_rotation(uint64_t* state);

/// Write "name/part" into text (MABD_PART_NAME) and return it; null if name is null.
const char* mabd_generate_part_name(const char* name, const char* part, char* text);
/// Write "name/<part><number>/<tail>", or without "/<tail>" if tail is null, into text
/// (MABD_PART_NAME) and return it; null if name is null.
const char* mabd_generate_part_name_n(const char* name, const char* part, int32_t number,
                                      const char* tail, char* text);

/// Arrays for mabd_scene_add_body_n; arrays that were not requested are null.
typedef struct mabd_generate_body_batch {
    int32_t n;
    mabd_real* position; // (n x 3)
    mabd_real* rotation; // (n x 4)
    mabd_real* velocity; // (n x 3)
    mabd_real* angular;  // (n x 3)
    void* memory;
    size_t bytes;
} mabd_generate_body_batch;

/// Allocate zeroed arrays for n bodies: with rotations if `turned`, with velocities if `moving`.
mabd_status mabd_generate_body_batch_create(const mabd_scene* scene, int32_t n, bool turned,
                                            bool moving, mabd_generate_body_batch* batch,
                                            mabd_error* error);
/// Free the arrays of a batch of bodies.
void mabd_generate_body_batch_free(const mabd_scene* scene, mabd_generate_body_batch* batch);
/// Add the bodies of a batch to a scene; *first gets the index of the first one.
mabd_status mabd_generate_body_batch_add(mabd_scene* scene, const mabd_body_def* def,
                                         const mabd_generate_body_batch* batch, int32_t* first,
                                         mabd_error* error);

/// Arrays for mabd_scene_add_joint_n.
typedef struct mabd_generate_joint_batch {
    int32_t n;
    int32_t *a, *b;    // (n)
    mabd_real* anchor; // (n x 3)
    mabd_real* frame;  // (n x 4), null if not requested
    void* memory;
    size_t bytes;
} mabd_generate_joint_batch;

/// Allocate zeroed arrays for n joints, with frames if `framed`.
mabd_status mabd_generate_joint_batch_create(const mabd_scene* scene, int32_t n, bool framed,
                                             mabd_generate_joint_batch* batch, mabd_error* error);
/// Free the arrays of a batch of joints.
void mabd_generate_joint_batch_free(const mabd_scene* scene, mabd_generate_joint_batch* batch);
/// Set bodies and world anchor [m] of joint i of a batch.
void mabd_generate_joint_batch_set(mabd_generate_joint_batch* batch, int32_t i, int32_t a,
                                   int32_t b, mabd_vec3 anchor);
/// Add the joints of a batch to a scene.
mabd_status mabd_generate_joint_batch_add(mabd_scene* scene, const mabd_joint_def* def,
                                          const mabd_generate_joint_batch* batch,
                                          mabd_error* error);
