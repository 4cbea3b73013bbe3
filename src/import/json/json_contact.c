// SPDX-License-Identifier: Apache-2.0
// Read contacts: "contact", the elements of "pairs", and the surface members of bodies.
#include "import/json/json_internal.h"

static mabd_status read_restitution(mabd_json_reader* reader, const mabd_json_node* object,
                                    mabd_real* restitution) {
    mabd_json_node node;
    MABD_TRY(mabd_json_not_negative(reader, object, "restitution", restitution));
    if (*restitution <= 1 || !mabd_json_member(object, "restitution", &node)) return MABD_OK;
    return mabd_json_fail(reader, &node, "restitution must be <= 1, found %g",
                          (double)*restitution);
}

mabd_status mabd_json_surface(mabd_json_reader* reader, const mabd_json_node* object,
                              mabd_real* friction, mabd_real* restitution, uint32_t* category,
                              uint32_t* mask) {
    mabd_json_node node;
    MABD_TRY(mabd_json_not_negative(reader, object, "friction", friction));
    MABD_TRY(read_restitution(reader, object, restitution));
    MABD_TRY(mabd_json_bits(reader, object, "mask", mask));
    MABD_TRY(mabd_json_bits(reader, object, "category", category));
    if (*category != 0 || !mabd_json_member(object, "category", &node)) return MABD_OK;
    return mabd_json_fail(reader, &node, "category needs at least one bit");
}

mabd_status mabd_json_rolling(mabd_json_reader* reader, const mabd_json_node* object,
                              mabd_geom* geom) {
    MABD_TRY(mabd_json_not_negative(reader, object, "rolling_friction", &geom->rolling_friction));
    MABD_TRY(mabd_json_not_negative(reader, object, "spinning_friction", &geom->spinning_friction));
    return mabd_json_vec3(reader, object, "surface_velocity", geom->surface_velocity);
}

mabd_status mabd_json_contact(mabd_json_reader* reader, const mabd_json_node* root) {
    static const char* const keys[] = {"enabled", "neighbours", "margin", "compliance", NULL};
    mabd_json_node node, member;
    if (!mabd_json_member(root, "contact", &node)) return MABD_OK;
    MABD_TRY(mabd_json_only(reader, &node, keys));
    mabd_contact_def def = mabd_default_contact_def();
    def.enabled = true; // "contact" without "enabled" enables contacts
    MABD_TRY(mabd_json_bool(reader, &node, "enabled", &def.enabled));
    MABD_TRY(mabd_json_bool(reader, &node, "neighbours", &def.neighbours));
    MABD_TRY(mabd_json_not_negative(reader, &node, "margin", &def.margin));
    MABD_TRY(mabd_json_not_negative(reader, &node, "compliance", &def.compliance));
    if (def.compliance > 1 && mabd_json_member(&node, "compliance", &member)) {
        return mabd_json_fail(reader, &member, "compliance must be <= 1, found %g",
                              (double)def.compliance);
    }
    return mabd_json_place(reader, &node,
                           mabd_scene_set_contact(reader->scene, &def, &reader->error));
}

// ---- pairs -------------------------------------------------------------------------------------

// The name that the builder refused: the world, or the second one of the body of the error.
static mabd_json_node refused_name(const mabd_json_reader* reader, const mabd_json_node* names,
                                   size_t n, const int32_t* bodies) {
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        const bool named = bodies[i] == reader->error.body;
        if (bodies[i] == MABD_WORLD || (named && found)) return mabd_json_element(names, i);
        found |= named;
    }
    return *names;
}

// Exclude contacts between all bodies of the array.
static mabd_status exclude_all(mabd_json_reader* reader, const mabd_json_node* names) {
    MABD_TRY(mabd_json_array(reader, names));
    const size_t n = json_array_size(names->value);
    if (n < 2) return mabd_json_fail(reader, names, "expected the names of two bodies or more");
    int32_t* bodies = mabd_json_take(reader, mabd_bytes(n, sizeof *bodies));
    if (!bodies) return mabd_fail_memory(&reader->error, "reading a group of bodies");
    for (size_t i = 0; i < n; i++) {
        const mabd_json_node name = mabd_json_element(names, i);
        MABD_TRY(mabd_json_body_named(reader, &name, &bodies[i]));
    }
    const mabd_status status =
        mabd_scene_exclude(reader->scene, (int32_t)n, bodies, &reader->error);
    const mabd_json_node place =
        status == MABD_OK ? *names : refused_name(reader, names, n, bodies);
    return mabd_json_place(reader, &place, status);
}

mabd_status mabd_json_pair(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {
        "bodies",  "friction", "restitution", "rolling_friction", "spinning_friction",
        "exclude", NULL};
    static const char* const only[] = {"exclude", NULL};
    mabd_json_node bodies, member;
    MABD_TRY(mabd_json_only(reader, node, keys));
    if (mabd_json_member(node, "exclude", &bodies)) {
        MABD_TRY(mabd_json_only(reader, node, only));
        return exclude_all(reader, &bodies);
    }
    if (!mabd_json_member(node, "bodies", &bodies)) {
        return mabd_json_fail(reader, node, "a pair needs 'bodies' or 'exclude'");
    }
    if (!json_is_array(bodies.value) || json_array_size(bodies.value) != 2) {
        return mabd_json_expected(reader, &bodies, "the names of two bodies");
    }
    mabd_pair_def def = {0};
    const mabd_json_node first = mabd_json_element(&bodies, 0);
    const mabd_json_node second = mabd_json_element(&bodies, 1);
    MABD_TRY(mabd_json_body_named(reader, &first, &def.a));
    MABD_TRY(mabd_json_body_named(reader, &second, &def.b));
    def.friction_given = mabd_json_member(node, "friction", &member);
    def.restitution_given = mabd_json_member(node, "restitution", &member);
    def.rolling_friction_given = mabd_json_member(node, "rolling_friction", &member);
    def.spinning_friction_given = mabd_json_member(node, "spinning_friction", &member);
    MABD_TRY(mabd_json_not_negative(reader, node, "friction", &def.friction));
    MABD_TRY(read_restitution(reader, node, &def.restitution));
    MABD_TRY(mabd_json_not_negative(reader, node, "rolling_friction", &def.rolling_friction));
    MABD_TRY(mabd_json_not_negative(reader, node, "spinning_friction", &def.spinning_friction));
    return mabd_json_place(reader, &bodies,
                           mabd_scene_set_pair(reader->scene, &def, &reader->error));
}
