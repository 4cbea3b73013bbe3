// SPDX-License-Identifier: Apache-2.0
// The lists of fields (generate/*.def) as tables.
#include "generate/fields.h"

// ---- members -----------------------------------------------------------------------------------

#define X(kind, type) typedef type type_of_##kind;
MABD_FIELD_KIND_LIST(X)
#undef X

// The offset of a member, which must have the type of its kind: the comparison of pointers to other
// types does not compile.
#define OFFSET(kind, field)                                                                        \
    (offsetof(OWNER, field) + 0 * sizeof(&((OWNER*)0)->field == (type_of_##kind*)0))
#define FIELD(kind, field, value, unit, meaning)                                                   \
    {#field, MABD_FIELD_##kind, OFFSET(kind, field), unit, meaning},
#define MATERIAL_VALUE(field, member, value)

// clang-format off
#define OWNER mabd_material
static const mabd_field material_fields[] = {
#include "generate/material.def"
};
#undef OWNER
#define OWNER mabd_branch_level
static const mabd_field branch_level_fields[] = {
#include "generate/branch_level.def"
};
#undef OWNER
#define OWNER mabd_chain_def
static const mabd_field chain_fields[] = {
#include "generate/chain.def"
};
#undef OWNER
#define OWNER mabd_net_def
static const mabd_field net_fields[] = {
#include "generate/net.def"
};
#undef OWNER
#define OWNER mabd_joint_grid_def
static const mabd_field joint_grid_fields[] = {
#include "generate/joint_grid.def"
};
#undef OWNER
#define OWNER mabd_tree_def
static const mabd_field tree_fields[] = {
#include "generate/tree.def"
};
#undef OWNER
#define OWNER mabd_ring_def
static const mabd_field ring_fields[] = {
#include "generate/ring.def"
};
#undef OWNER
#define OWNER mabd_four_bar_def
static const mabd_field four_bar_fields[] = {
#include "generate/four_bar.def"
};
#undef OWNER
#define OWNER mabd_double_four_bar_def
static const mabd_field double_four_bar_fields[] = {
#include "generate/double_four_bar.def"
};
#undef OWNER
#define OWNER mabd_four_bar_chain_def
static const mabd_field four_bar_chain_fields[] = {
#include "generate/four_bar_chain.def"
};
#undef OWNER
#define OWNER mabd_jansen_def
static const mabd_field jansen_fields[] = {
#include "generate/jansen.def"
};
#undef OWNER
#define OWNER mabd_scissor_ring_def
static const mabd_field scissor_ring_fields[] = {
#include "generate/scissor_ring.def"
};
#undef OWNER
#define OWNER mabd_hoberman_sphere_def
static const mabd_field hoberman_sphere_fields[] = {
#include "generate/hoberman.def"
};
#undef OWNER
#define OWNER mabd_branching_def
static const mabd_field branching_fields[] = {
#include "generate/branching.def"
};
#undef OWNER
#define OWNER mabd_backbone_def
static const mabd_field backbone_fields[] = {
#include "generate/backbone.def"
};
#undef OWNER
#define OWNER mabd_star_def
static const mabd_field star_fields[] = {
#include "generate/star.def"
};
#undef OWNER
#define OWNER mabd_pulley_def
static const mabd_field pulley_fields[] = {
#include "generate/pulley.def"
};
#undef OWNER
#define OWNER mabd_pile_def
static const mabd_field pile_fields[] = {
#include "generate/pile.def"
};
#undef OWNER
#define OWNER mabd_pile_mixed_def
static const mabd_field pile_mixed_fields[] = {
#include "generate/pile_mixed.def"
};
#undef OWNER
#define OWNER mabd_ragdoll_def
static const mabd_field ragdoll_fields[] = {
#include "generate/ragdoll.def"
};
#undef OWNER
// clang-format on

#define LIST_OF(fields)                                                                            \
    { fields, (int)(sizeof fields / sizeof fields[0]) }

const mabd_generate_field_list mabd_generate_material_fields = LIST_OF(material_fields);
const mabd_generate_field_list mabd_generate_branch_level_fields = LIST_OF(branch_level_fields);

// ---- generators --------------------------------------------------------------------------------

#define X(name, type)                                                                              \
    static void set_default_##name(mabd_generator_def* def) {                                      \
        def->name = mabd_default_##name##_def();                                                   \
    }                                                                                              \
    static mabd_status add_##name(mabd_scene* scene, const mabd_generator_def* def,                \
                                  mabd_error* error) {                                             \
        return mabd_generate_##name(scene, &def->name, error);                                     \
    }
MABD_GENERATOR_LIST(X)
#undef X

const mabd_generator mabd_generators[] = {
#define X(name, type) {type, LIST_OF(name##_fields), set_default_##name, add_##name},
    MABD_GENERATOR_LIST(X)
#undef X
};

// ---- keys and choices --------------------------------------------------------------------------

const char* mabd_generate_field_key(const mabd_field* field) {
    switch (field->kind) {
    case MABD_FIELD_COUNT:
    case MABD_FIELD_MATERIAL:
        return NULL;
    case MABD_FIELD_PLANE:
        return "plane";
    default:
        return field->name;
    }
}

#define X(name, text) text,
static const char* const shapes[] = {MABD_SHAPE_LIST(X)};
static const char* const chain_starts[] = {MABD_CHAIN_START_LIST(X)};
static const char* const net_pins[] = {MABD_NET_PIN_LIST(X)};
static const char* const arrangements[] = {MABD_PULLEY_ARRANGEMENT_LIST(X)};
#undef X
#define X(name, text, translations, rotations) text,
static const char* const joints[] = {MABD_JOINT_LIST(X)};
#undef X
static const char* const planes[] = {"vertical", "horizontal"}; // true, false

const char* const* mabd_generate_field_choices(mabd_generate_field_kind kind, int* count) {
    switch (kind) {
    case MABD_FIELD_SHAPE:
        *count = MABD_SHAPE_PLANE;
        return shapes; // those before it have mass
    case MABD_FIELD_JOINT:
        *count = MABD_JOINT_COUNT;
        return joints;
    case MABD_FIELD_CHAIN_START:
        *count = MABD_CHAIN_START_COUNT;
        return chain_starts;
    case MABD_FIELD_NET_PIN:
        *count = MABD_NET_PIN_COUNT;
        return net_pins;
    case MABD_FIELD_ARRANGEMENT:
        *count = MABD_PULLEY_ARRANGEMENT_COUNT;
        return arrangements;
    case MABD_FIELD_PLANE:
        *count = 2;
        return planes;
    default:
        *count = 0;
        return NULL;
    }
}
