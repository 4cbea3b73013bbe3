// SPDX-License-Identifier: Apache-2.0
// Fields of the generators. Each struct of mabd/generate.h that a scene file can fill has a list of
// its members, generate/<name>.def. The list drives the default function, the JSON reader and the
// tables of docs/guide/scene-format.md; a test compares all of them with the struct.
//
//   FIELD(kind, field, default, unit, meaning)      a member
//   MATERIAL_VALUE(field, member, default)          a member of the material `field` whose default
//                                                   differs from mabd_default_material()
//
// The order of a list is that of the keys in messages and in the documentation. A struct may have
// another one; its cookie is not in the list.
#pragma once

#include "mabd/generate.h"

#include <stddef.h>

/// Kinds of fields: kind and type of the member.
#define MABD_FIELD_KIND_LIST(X)                                                                    \
    X(NAME, mabd_generate_field_name)                                                              \
    X(INT, int32_t)                                                                                \
    X(REAL, mabd_real)                                                                             \
    X(SCENE_REAL, mabd_real) /* > 0; 0 in C, or no key: the value of the scene */                  \
    X(BOOL, bool)                                                                                  \
    X(VEC3, mabd_generate_field_vec3)                                                              \
    X(SEED, uint64_t)                                                                              \
    X(BITS, uint32_t)                                                                              \
    X(SHAPE, mabd_shape) /* of a link: has mass */                                                 \
    X(JOINT, mabd_joint)                                                                           \
    X(CHAIN_START, mabd_chain_start)                                                               \
    X(NET_PIN, mabd_net_pin)                                                                       \
    X(ARRANGEMENT, mabd_pulley_arrangement)                                                        \
    X(PLANE, bool)             /* "vertical" or "horizontal"; its key is "plane" */                \
    X(MATERIAL, mabd_material) /* its keys are those of material.def */                            \
    X(SURFACE_REAL, mabd_real) /* in a material: mabd_json_surface reads these two kinds */        \
    X(SURFACE_BITS, uint32_t)                                                                      \
    X(SIGNAL, mabd_signal)                                                                         \
    X(AXES, mabd_generate_field_axes) /* at most one in a struct */                                \
    X(COUNT, int32_t)                 /* length of the list that follows; not a key */             \
    X(LEVELS, mabd_generate_field_levels)                                                          \
    X(JOINTS, mabd_generate_field_joints)

typedef const char* mabd_generate_field_name;
typedef mabd_real mabd_generate_field_vec3[3];
typedef const mabd_axis_def* mabd_generate_field_axes[MABD_AXIS_COUNT];
typedef mabd_branch_level mabd_generate_field_levels[MABD_BRANCH_LEVELS];
typedef mabd_joint mabd_generate_field_joints[MABD_JOINT_COUNT];

typedef enum mabd_generate_field_kind {
#define X(kind, type) MABD_FIELD_##kind,
    MABD_FIELD_KIND_LIST(X)
#undef X
} mabd_generate_field_kind;

/// A member of a struct.
typedef struct mabd_field {
    const char* name;
    mabd_generate_field_kind kind;
    size_t offset;    // in the struct [bytes]
    const char* unit; // "" = none
    const char* meaning;
} mabd_field;

/// The members of a struct, without its cookie.
typedef struct mabd_generate_field_list {
    const mabd_field* fields; // (count)
    int count;
} mabd_generate_field_list;

/// Generators: part of the names in C, "type" in JSON. The order is that of the types in messages.
#define MABD_GENERATOR_LIST(X)                                                                     \
    X(chain, "chain")                                                                              \
    X(net, "net")                                                                                  \
    X(joint_grid, "joint-grid")                                                                    \
    X(tree, "tree")                                                                                \
    X(ring, "ring")                                                                                \
    X(four_bar, "four-bar")                                                                        \
    X(double_four_bar, "double-four-bar")                                                          \
    X(four_bar_chain, "four-bar-chain")                                                            \
    X(jansen, "jansen")                                                                            \
    X(scissor_ring, "scissor-ring")                                                                \
    X(hoberman_sphere, "hoberman-sphere")                                                          \
    X(branching, "branching")                                                                      \
    X(backbone, "backbone")                                                                        \
    X(star, "star")                                                                                \
    X(pulley, "pulley")                                                                            \
    X(pile, "pile")                                                                                \
    X(pile_mixed, "pile-mixed")                                                                    \
    X(ragdoll, "ragdoll")

enum {
#define X(name, type) MABD_GENERATOR_##name,
    MABD_GENERATOR_LIST(X)
#undef X
        MABD_GENERATOR_COUNT
};

/// Memory for the definition of any generator.
typedef union mabd_generator_def {
#define X(name, type) mabd_##name##_def name;
    MABD_GENERATOR_LIST(X)
#undef X
} mabd_generator_def;

/// A generator as data.
typedef struct mabd_generator {
    const char* type; // in JSON
    mabd_generate_field_list list;
    void (*set_default)(mabd_generator_def*); // mabd_default_<name>_def
    mabd_status (*add)(mabd_scene*, const mabd_generator_def*, mabd_error*); // mabd_generate_<name>
} mabd_generator;

/// All generators (MABD_GENERATOR_COUNT), in the order of MABD_GENERATOR_LIST.
extern const mabd_generator mabd_generators[];
/// Members of mabd_material.
extern const mabd_generate_field_list mabd_generate_material_fields;
/// Members of mabd_branch_level.
extern const mabd_generate_field_list mabd_generate_branch_level_fields;

/// Return the key of a field in JSON; null if it has none of its own (COUNT, MATERIAL).
const char* mabd_generate_field_key(const mabd_field* field);
/// Return the names (*count) that a field can have in JSON, in the order of its values (PLANE:
/// true first); null and 0 if it does not choose from a list.
const char* const* mabd_generate_field_choices(mabd_generate_field_kind kind, int* count);
/// Return the default of an element of "levels" in JSON (branching.c).
mabd_branch_level mabd_generate_default_branch_level(void);
