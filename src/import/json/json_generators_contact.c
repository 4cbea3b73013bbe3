// SPDX-License-Identifier: Apache-2.0
// Generators of what lives by touching: chains over sheaves, piles of jointed pairs, ragdolls.
#include "import/json/json_generators.h"
#include "import/json/json_internal.h"

/// Masses, what turns the sheaves, strands.
static mabd_status read_pulley_drive(mabd_json_reader* reader, const mabd_json_node* node,
                                     mabd_pulley_def* def) {
    MABD_TRY(mabd_json_real(reader, node, "load", &def->load));
    MABD_TRY(mabd_json_real(reader, node, "counter", &def->counter));
    MABD_TRY(mabd_json_bool(reader, node, "fixed", &def->fixed));
    MABD_TRY(mabd_json_signal(reader, node, "angle", &def->angle));
    MABD_TRY(mabd_json_signal(reader, node, "speed", &def->speed));
    MABD_TRY(mabd_json_signal(reader, node, "torque", &def->torque));
    MABD_TRY(mabd_json_real(reader, node, "max_torque", &def->max_torque));
    MABD_TRY(mabd_json_int(reader, node, "driven", &def->driven));
    MABD_TRY(mabd_json_int(reader, node, "strands", &def->strands));
    return mabd_json_real(reader, node, "spacing", &def->spacing);
}

mabd_status mabd_json_pulley(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"type",        "name",
                                       "arrangement", "pulleys",
                                       "radius",      "width",
                                       "sheave_mass", "wrapped",
                                       "link_radius", "left",
                                       "inner",       "right",
                                       "self",        "end_mask",
                                       "load",        "counter",
                                       "fixed",       "angle",
                                       "speed",       "torque",
                                       "max_torque",  "driven",
                                       "strands",     "spacing",
                                       "position",    MABD_JSON_MATERIAL_KEYS,
                                       NULL};
    static const char* const arrangements[] = {
#define X(name, text) text,
        MABD_PULLEY_ARRANGEMENT_LIST(X)
#undef X
    };
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_pulley_def def = mabd_default_pulley_def();
    int arrangement = (int)def.arrangement;
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_choice(reader, node, "arrangement", arrangements,
                              MABD_PULLEY_ARRANGEMENT_COUNT, &arrangement));
    def.arrangement = (mabd_pulley_arrangement)arrangement;
    MABD_TRY(mabd_json_int(reader, node, "pulleys", &def.pulleys));
    MABD_TRY(mabd_json_real(reader, node, "radius", &def.radius));
    MABD_TRY(mabd_json_real(reader, node, "width", &def.width));
    MABD_TRY(mabd_json_real(reader, node, "sheave_mass", &def.sheave_mass));
    MABD_TRY(mabd_json_int(reader, node, "wrapped", &def.wrapped));
    MABD_TRY(mabd_json_real(reader, node, "link_radius", &def.link_radius));
    MABD_TRY(mabd_json_int(reader, node, "left", &def.left));
    MABD_TRY(mabd_json_int(reader, node, "inner", &def.inner));
    MABD_TRY(mabd_json_int(reader, node, "right", &def.right));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_bool(reader, node, "self", &def.self));
    MABD_TRY(mabd_json_bits(reader, node, "end_mask", &def.end_mask));
    MABD_TRY(read_pulley_drive(reader, node, &def));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    return mabd_json_place(
        reader, node, mabd_generate_pulley(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

/// "joints": an array of names of joint types.
static mabd_status read_pile_joints(mabd_json_reader* reader, const mabd_json_node* node,
                                    mabd_pile_def* def) {
    mabd_json_node joints;
    if (!mabd_json_member(node, "joints", &joints)) return MABD_OK;
    MABD_TRY(mabd_json_array(reader, &joints));
    const size_t count = json_array_size(joints.value);
    if (count < 1 || count > MABD_JOINT_COUNT) {
        return mabd_json_fail(reader, &joints, "expected 1 to %d joint types, found %zu",
                              (int)MABD_JOINT_COUNT, count);
    }
    for (size_t i = 0; i < count; i++) {
        const mabd_json_node element = mabd_json_element(&joints, i);
        const char* name = NULL;
        MABD_TRY(mabd_json_string(reader, &element, &name));
        const int type = mabd_joint_find(name);
        if (type < 0) {
            return mabd_json_fail(reader, &element, "'%.40s' is not the name of a joint type",
                                  name);
        }
        def->joints[i] = (mabd_joint)type;
    }
    def->joint_count = (int32_t)count;
    return MABD_OK;
}

mabd_status mabd_json_pile(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {
        "type",    "name",  "pairs", "columns",  "rows",
        "spacing", "seed",  "shape", "length",   "radius",
        "joints",  "slide", "bend",  "position", MABD_JSON_MATERIAL_KEYS,
        NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_pile_def def = mabd_default_pile_def();
    int32_t seed = 0;
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "pairs", &def.pairs));
    MABD_TRY(mabd_json_int(reader, node, "columns", &def.columns));
    MABD_TRY(mabd_json_int(reader, node, "rows", &def.rows));
    MABD_TRY(mabd_json_real(reader, node, "spacing", &def.spacing));
    MABD_TRY(mabd_json_int(reader, node, "seed", &seed));
    def.seed = (uint64_t)(uint32_t)seed;
    MABD_TRY(mabd_json_link_shape(reader, node, &def.shape));
    MABD_TRY(mabd_json_real(reader, node, "length", &def.length));
    MABD_TRY(mabd_json_real(reader, node, "radius", &def.radius));
    MABD_TRY(read_pile_joints(reader, node, &def));
    MABD_TRY(mabd_json_real(reader, node, "slide", &def.slide));
    MABD_TRY(mabd_json_real(reader, node, "bend", &def.bend));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    return mabd_json_place(
        reader, node, mabd_generate_pile(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

mabd_status mabd_json_ragdoll(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {
        "type",    "name",   "copies", "columns",  "rows",
        "spacing", "height", "seed",   "position", MABD_JSON_MATERIAL_KEYS,
        NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_ragdoll_def def = mabd_default_ragdoll_def();
    int32_t seed = 0;
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "copies", &def.copies));
    MABD_TRY(mabd_json_int(reader, node, "columns", &def.columns));
    MABD_TRY(mabd_json_int(reader, node, "rows", &def.rows));
    MABD_TRY(mabd_json_real(reader, node, "spacing", &def.spacing));
    MABD_TRY(mabd_json_real(reader, node, "height", &def.height));
    MABD_TRY(mabd_json_int(reader, node, "seed", &seed));
    def.seed = (uint64_t)(uint32_t)seed;
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    return mabd_json_place(
        reader, node,
        mabd_generate_ragdoll(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}
