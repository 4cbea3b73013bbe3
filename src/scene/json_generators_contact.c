// SPDX-License-Identifier: Apache-2.0
// Generators of what lives by touching: chains over sheaves.
#include "scene/json_generators.h"

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
