// SPDX-License-Identifier: Apache-2.0
// The elements of "generators": {"type": "chain", "name": ..., fields of mabd_chain_def ...}. A
// missing field has the value of the generator's default function; the default name is the type.
//
// Keys and their kinds come from the lists of generate/fields.h, so a generator needs code here
// only for rules between its fields.
#include "generate/fields.h"
#include "import/json/json_internal.h"

#include <string.h>

#define MAX_KEYS 64

// ---- keys --------------------------------------------------------------------------------------

// Append the keys of a list of fields to `keys` (MAX_KEYS). A material adds density, young and
// poisson; its surface keys are those of bodies and follow at the end.
static void add_keys(const mabd_generate_field_list* list, const char** keys, int* count) {
    for (int i = 0; i < list->count; i++) {
        const mabd_field* field = &list->fields[i];
        if (field->kind == MABD_FIELD_MATERIAL)
            add_keys(&mabd_generate_material_fields, keys, count);
        if (field->kind == MABD_FIELD_SURFACE_REAL || field->kind == MABD_FIELD_SURFACE_BITS)
            continue;
        const char* key = mabd_generate_field_key(field);
        if (key && *count < MAX_KEYS - 1) keys[(*count)++] = key;
    }
}

static void add_surface_keys(const mabd_generate_field_list* list, const char** keys, int* count) {
    static const char* const surface[] = {MABD_JSON_SURFACE_KEYS};
    for (int i = 0; i < list->count; i++) {
        if (list->fields[i].kind != MABD_FIELD_MATERIAL) continue;
        for (size_t k = 0; k < sizeof surface / sizeof surface[0] && *count < MAX_KEYS - 1; k++) {
            keys[(*count)++] = surface[k];
        }
    }
}

// Fail unless all keys of an object are in a list of fields, or "type" if `typed`.
static mabd_status check_keys(mabd_json_reader* reader, const mabd_json_node* node,
                              const mabd_generate_field_list* list, bool typed) {
    const char* keys[MAX_KEYS];
    int count = 0;
    if (typed) keys[count++] = "type";
    add_keys(list, keys, &count);
    add_surface_keys(list, keys, &count);
    keys[count] = NULL;
    return mabd_json_only(reader, node, keys);
}

// ---- fields ------------------------------------------------------------------------------------

static mabd_status read_fields(mabd_json_reader* reader, const mabd_json_node* node,
                               const mabd_generate_field_list* list, mabd_axis_def* axes,
                               void* def);

static mabd_status read_material(mabd_json_reader* reader, const mabd_json_node* node,
                                 mabd_material* material) {
    MABD_TRY(read_fields(reader, node, &mabd_generate_material_fields, NULL, material));
    return mabd_json_surface(reader, node, &material->friction, &material->restitution,
                             &material->category, &material->mask);
}

static mabd_status read_seed(mabd_json_reader* reader, const mabd_json_node* node, const char* key,
                             uint64_t* seed) {
    int32_t value = (int32_t)(uint32_t)*seed;
    MABD_TRY(mabd_json_int(reader, node, key, &value));
    *seed = (uint64_t)(uint32_t)value;
    return MABD_OK;
}

// Read a field that is one of several names. All enumerations have the size of an int.
static mabd_status read_choice(mabd_json_reader* reader, const mabd_json_node* node,
                               const mabd_field* field, void* member) {
    int count, value = -1;
    const char* const* names = mabd_generate_field_choices(field->kind, &count);
    MABD_TRY(mabd_json_choice(reader, node, mabd_generate_field_key(field), names, count, &value));
    if (value < 0) return MABD_OK;
    if (field->kind == MABD_FIELD_PLANE) {
        *(bool*)member = value == 0;
    } else {
        _Static_assert(sizeof(mabd_shape) == sizeof value && sizeof(mabd_joint) == sizeof value &&
                           sizeof(mabd_chain_start) == sizeof value &&
                           sizeof(mabd_net_pin) == sizeof value &&
                           sizeof(mabd_pulley_arrangement) == sizeof value,
                       "an enumeration has the size of an int");
        memcpy(member, &value, sizeof value);
    }
    return MABD_OK;
}

// Read "levels": an array of objects with the fields of mabd_branch_level.
static mabd_status read_levels(mabd_json_reader* reader, const mabd_json_node* node,
                               const char* key, mabd_branch_level* levels, int32_t* level_count) {
    mabd_json_node array, other;
    if (!mabd_json_member(node, key, &array)) return MABD_OK;
    MABD_TRY(mabd_json_array(reader, &array));
    const size_t count = json_array_size(array.value);
    if (count < 1 || count > MABD_BRANCH_LEVELS) {
        return mabd_json_fail(reader, &array, "expected 1 to %d levels, found %zu",
                              MABD_BRANCH_LEVELS, count);
    }
    for (size_t i = 0; i < count; i++) {
        const mabd_json_node element = mabd_json_element(&array, i);
        MABD_TRY(check_keys(reader, &element, &mabd_generate_branch_level_fields, false));
        levels[i] = mabd_generate_default_branch_level();
        MABD_TRY(
            read_fields(reader, &element, &mabd_generate_branch_level_fields, NULL, &levels[i]));
        if (!mabd_json_member(&element, "spread_tip", &other))
            levels[i].spread_tip = levels[i].spread;
    }
    *level_count = (int32_t)count;
    return MABD_OK;
}

// Read "joints": an array of names of joint types.
static mabd_status read_joints(mabd_json_reader* reader, const mabd_json_node* node,
                               const char* key, mabd_joint* joints, int32_t* joint_count) {
    mabd_json_node array;
    if (!mabd_json_member(node, key, &array)) return MABD_OK;
    MABD_TRY(mabd_json_array(reader, &array));
    const size_t count = json_array_size(array.value);
    if (count < 1 || count > MABD_JOINT_COUNT) {
        return mabd_json_fail(reader, &array, "expected 1 to %d joint types, found %zu",
                              (int)MABD_JOINT_COUNT, count);
    }
    for (size_t i = 0; i < count; i++) {
        const mabd_json_node element = mabd_json_element(&array, i);
        const char* name = NULL;
        MABD_TRY(mabd_json_string(reader, &element, &name));
        const int type = mabd_joint_find(name);
        if (type < 0) {
            return mabd_json_fail(reader, &element, "'%.40s' is not the name of a joint type",
                                  name);
        }
        joints[i] = (mabd_joint)type;
    }
    *joint_count = (int32_t)count;
    return MABD_OK;
}

// Read one field into its member. `count` is the member of the field before, used by lists.
static mabd_status read_field(mabd_json_reader* reader, const mabd_json_node* node,
                              const mabd_field* field, mabd_axis_def* axes, void* member,
                              void* count) {
    const char* key = mabd_generate_field_key(field);
    switch (field->kind) {
    case MABD_FIELD_NAME:
        return mabd_json_text(reader, node, key, (const char**)member);
    case MABD_FIELD_INT:
        return mabd_json_int(reader, node, key, (int32_t*)member);
    case MABD_FIELD_REAL:
        return mabd_json_real(reader, node, key, (mabd_real*)member);
    case MABD_FIELD_SCENE_REAL:
        return mabd_json_positive(reader, node, key, (mabd_real*)member);
    case MABD_FIELD_BOOL:
        return mabd_json_bool(reader, node, key, (bool*)member);
    case MABD_FIELD_VEC3:
        return mabd_json_vec3(reader, node, key, (mabd_real*)member);
    case MABD_FIELD_SEED:
        return read_seed(reader, node, key, (uint64_t*)member);
    case MABD_FIELD_BITS:
        return mabd_json_bits(reader, node, key, (uint32_t*)member);
    case MABD_FIELD_SHAPE:
    case MABD_FIELD_JOINT:
    case MABD_FIELD_CHAIN_START:
    case MABD_FIELD_NET_PIN:
    case MABD_FIELD_ARRANGEMENT:
    case MABD_FIELD_PLANE:
        return read_choice(reader, node, field, member);
    case MABD_FIELD_MATERIAL:
        return read_material(reader, node, (mabd_material*)member);
    case MABD_FIELD_SIGNAL:
        return mabd_json_signal(reader, node, key, (mabd_signal*)member);
    case MABD_FIELD_AXES:
        return mabd_json_axes(reader, node, key, axes, (const mabd_axis_def**)member);
    case MABD_FIELD_LEVELS:
        return read_levels(reader, node, key, (mabd_branch_level*)member, (int32_t*)count);
    case MABD_FIELD_JOINTS:
        return read_joints(reader, node, key, (mabd_joint*)member, (int32_t*)count);
    case MABD_FIELD_SURFACE_REAL: // read_material reads these together
    case MABD_FIELD_SURFACE_BITS:
    case MABD_FIELD_COUNT:
        return MABD_OK;
    }
    return MABD_OK;
}

// Read the fields of a list into the struct `def`; missing ones leave their member unchanged.
// `axes` (6) gets the controls of axes; null if the list has none.
static mabd_status read_fields(mabd_json_reader* reader, const mabd_json_node* node,
                               const mabd_generate_field_list* list, mabd_axis_def* axes,
                               void* def) {
    void* before = NULL;
    for (int i = 0; i < list->count; i++) {
        void* member = (char*)def + list->fields[i].offset;
        MABD_TRY(read_field(reader, node, &list->fields[i], axes, member, before));
        before = member;
    }
    return MABD_OK;
}

// ---- rules between fields ----------------------------------------------------------------------

// A tree has "branching" and "depth", or "branching", "links" and "seed".
static mabd_status check_tree(mabd_json_reader* reader, const mabd_json_node* node) {
    mabd_json_node other;
    const bool random = mabd_json_member(node, "links", &other);
    if (random && mabd_json_member(node, "depth", &other)) {
        return mabd_json_fail(reader, &other,
                              "a tree has either 'depth' (full) or 'links' (random), not both");
    }
    if (!random && mabd_json_member(node, "seed", &other)) {
        return mabd_json_fail(reader, &other, "'seed' needs 'links' beside it: a random tree");
    }
    return MABD_OK;
}

// 0 links make a full tree in C; in a scene the absence of "links" does.
static mabd_status check_tree_links(mabd_json_reader* reader, const mabd_json_node* node,
                                    const mabd_tree_def* def) {
    mabd_json_node links;
    if (def->links >= 1 || !mabd_json_member(node, "links", &links)) return MABD_OK;
    return mabd_json_fail(reader, &links, "tree: links must be at least 1, not %d",
                          (int)def->links);
}

// ---- generators --------------------------------------------------------------------------------

static mabd_status add_generator(mabd_json_reader* reader, const mabd_json_node* node, int index) {
    const mabd_generator* generator = &mabd_generators[index];
    mabd_generator_def def;
    mabd_axis_def axes[MABD_AXIS_COUNT];
    MABD_TRY(check_keys(reader, node, &generator->list, true));
    if (index == MABD_GENERATOR_tree) MABD_TRY(check_tree(reader, node));
    generator->set_default(&def);
    MABD_TRY(read_fields(reader, node, &generator->list, axes, &def));
    if (index == MABD_GENERATOR_tree) MABD_TRY(check_tree_links(reader, node, &def.tree));
    return mabd_json_place(reader, node, generator->add(reader->scene, &def, &reader->error));
}

static mabd_status read_generator(mabd_json_reader* reader, const mabd_json_node* node) {
    const char* types[MABD_GENERATOR_COUNT];
    for (int i = 0; i < MABD_GENERATOR_COUNT; i++) types[i] = mabd_generators[i].type;
    mabd_json_node type;
    if (!json_is_object(node->value)) {
        return mabd_json_fail(reader, node, "expected a generator {\"type\": ...}");
    }
    if (!mabd_json_member(node, "type", &type)) {
        return mabd_json_fail(reader, node, "a generator needs 'type', for instance \"chain\"");
    }
    int index = 0;
    MABD_TRY(mabd_json_choice(reader, node, "type", types, MABD_GENERATOR_COUNT, &index));
    return add_generator(reader, node, index);
}

mabd_status mabd_json_generators(mabd_json_reader* reader, const mabd_json_node* array) {
    MABD_TRY(mabd_json_array(reader, array));
    for (size_t i = 0; i < json_array_size(array->value); i++) {
        mabd_json_node element = mabd_json_element(array, i);
        MABD_TRY(read_generator(reader, &element));
    }
    return MABD_OK;
}
