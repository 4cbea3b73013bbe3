// SPDX-License-Identifier: Apache-2.0
// The elements of "generators": {"type": "chain", "name": ..., fields of mabd_chain_def ...}. A
// field that is not given has the value of the generator's default function; the name is the type
// then.
#include "import/json/json_generators.h"

typedef mabd_status (*read_function)(mabd_json_reader* reader, const mabd_json_node* node);

static const char* const shape_names[] = {
#define X(name, text) text,
    MABD_SHAPE_LIST(X)
#undef X
};
static const char* const joint_names[MABD_JOINT_COUNT] = {
#define X(name, text, translations, rotations) text,
    MABD_JOINT_LIST(X)
#undef X
};

// ---- fields that several generators have -------------------------------------------------------

mabd_status mabd_json_link_shape(mabd_json_reader* reader, const mabd_json_node* node,
                                 mabd_shape* shape) {
    int value = (int)*shape;
    MABD_TRY(mabd_json_choice(reader, node, "shape", shape_names, MABD_SHAPE_PLANE, &value));
    *shape = (mabd_shape)value;
    return MABD_OK;
}

static mabd_status read_joint(mabd_json_reader* reader, const mabd_json_node* node, const char* key,
                              mabd_joint* joint) {
    int value = (int)*joint;
    MABD_TRY(mabd_json_choice(reader, node, key, joint_names, MABD_JOINT_COUNT, &value));
    *joint = (mabd_joint)value;
    return MABD_OK;
}

mabd_status mabd_json_material(mabd_json_reader* reader, const mabd_json_node* node,
                               mabd_material* material) {
    MABD_TRY(mabd_json_real(reader, node, "density", &material->density));
    MABD_TRY(mabd_json_real(reader, node, "young", &material->young));
    MABD_TRY(mabd_json_real(reader, node, "poisson", &material->poisson));
    return mabd_json_surface(reader, node, &material->friction, &material->restitution,
                             &material->category, &material->mask);
}

// ---- the generators ----------------------------------------------------------------------------

static mabd_status read_chain(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"type",
                                       "name",
                                       "links",
                                       "length",
                                       "radius",
                                       "shape",
                                       "joint",
                                       "density",
                                       "young",
                                       "poisson",
                                       "drag",
                                       "end_mass_ratio",
                                       "start",
                                       "anchor",
                                       "pinned",
                                       "velocity",
                                       "angular_velocity",
                                       "axes",
                                       MABD_JSON_SURFACE_KEYS,
                                       NULL};
    static const char* const starts[] = {
#define X(name, text) text,
        MABD_CHAIN_START_LIST(X)
#undef X
    };
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_chain_def def = mabd_default_chain_def();
    mabd_axis_def storage[MABD_AXIS_COUNT];
    int start = (int)def.start;
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "links", &def.links));
    MABD_TRY(mabd_json_real(reader, node, "length", &def.length));
    MABD_TRY(mabd_json_real(reader, node, "radius", &def.radius));
    MABD_TRY(mabd_json_link_shape(reader, node, &def.shape));
    MABD_TRY(read_joint(reader, node, "joint", &def.joint));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_real(reader, node, "drag", &def.drag));
    MABD_TRY(mabd_json_real(reader, node, "end_mass_ratio", &def.end_mass_ratio));
    MABD_TRY(mabd_json_choice(reader, node, "start", starts, MABD_CHAIN_START_COUNT, &start));
    def.start = (mabd_chain_start)start;
    MABD_TRY(mabd_json_vec3(reader, node, "anchor", def.anchor));
    MABD_TRY(mabd_json_bool(reader, node, "pinned", &def.pinned));
    MABD_TRY(mabd_json_vec3(reader, node, "velocity", def.velocity));
    MABD_TRY(mabd_json_vec3(reader, node, "angular_velocity", def.angular_velocity));
    MABD_TRY(mabd_json_axes(reader, node, "axes", storage, def.axes));
    return mabd_json_place(
        reader, node, mabd_generate_chain(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

static mabd_status read_net(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {
        "type",    "name",  "rows",    "columns", "spacing", "hub_radius", "rod_radius",
        "density", "young", "poisson", "drag",    "pinned",  "position",   MABD_JSON_SURFACE_KEYS,
        NULL};
    static const char* const pins[] = {
#define X(name, text) text,
        MABD_NET_PIN_LIST(X)
#undef X
    };
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_net_def def = mabd_default_net_def();
    int pinned = (int)def.pinned;
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "rows", &def.rows));
    MABD_TRY(mabd_json_int(reader, node, "columns", &def.columns));
    MABD_TRY(mabd_json_real(reader, node, "spacing", &def.spacing));
    MABD_TRY(mabd_json_real(reader, node, "hub_radius", &def.hub_radius));
    MABD_TRY(mabd_json_real(reader, node, "rod_radius", &def.rod_radius));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_real(reader, node, "drag", &def.drag));
    MABD_TRY(mabd_json_choice(reader, node, "pinned", pins, MABD_NET_PIN_COUNT, &pinned));
    def.pinned = (mabd_net_pin)pinned;
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    return mabd_json_place(
        reader, node, mabd_generate_net(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

/// "branching" and "depth", or "branching", "links" and "seed".
static mabd_status read_tree_size(mabd_json_reader* reader, const mabd_json_node* node,
                                  mabd_tree_def* def) {
    mabd_json_node links, other;
    bool random = mabd_json_member(node, "links", &links);
    if (random && mabd_json_member(node, "depth", &other)) {
        return mabd_json_fail(reader, &other,
                              "a tree has either 'depth' (full) or 'links' (random), not both");
    }
    if (!random && mabd_json_member(node, "seed", &other)) {
        return mabd_json_fail(reader, &other, "'seed' needs 'links' beside it: a random tree");
    }
    int32_t seed = 0;
    MABD_TRY(mabd_json_int(reader, node, "branching", &def->branching));
    MABD_TRY(mabd_json_int(reader, node, "depth", &def->depth));
    MABD_TRY(mabd_json_int(reader, node, "links", &def->links));
    if (random && def->links < 1) {
        return mabd_json_fail(reader, &links, "tree: links must be at least 1, not %d",
                              (int)def->links);
    }
    MABD_TRY(mabd_json_int(reader, node, "seed", &seed));
    def->seed = (uint64_t)(uint32_t)seed;
    return MABD_OK;
}

static mabd_status read_tree(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"type",
                                       "name",
                                       "branching",
                                       "depth",
                                       "links",
                                       "seed",
                                       "length",
                                       "radius",
                                       "shrink",
                                       "taper",
                                       "spread",
                                       "shape",
                                       "joint",
                                       "root",
                                       "pinned",
                                       "density",
                                       "young",
                                       "poisson",
                                       "drag",
                                       "direction",
                                       "anchor",
                                       "axes",
                                       MABD_JSON_SURFACE_KEYS,
                                       NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_tree_def def = mabd_default_tree_def();
    mabd_axis_def storage[MABD_AXIS_COUNT];
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(read_tree_size(reader, node, &def));
    MABD_TRY(mabd_json_real(reader, node, "length", &def.length));
    MABD_TRY(mabd_json_real(reader, node, "radius", &def.radius));
    MABD_TRY(mabd_json_real(reader, node, "shrink", &def.shrink));
    MABD_TRY(mabd_json_real(reader, node, "taper", &def.taper));
    MABD_TRY(mabd_json_real(reader, node, "spread", &def.spread));
    MABD_TRY(mabd_json_link_shape(reader, node, &def.shape));
    MABD_TRY(read_joint(reader, node, "joint", &def.joint));
    MABD_TRY(read_joint(reader, node, "root", &def.root));
    MABD_TRY(mabd_json_bool(reader, node, "pinned", &def.pinned));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_real(reader, node, "drag", &def.drag));
    MABD_TRY(mabd_json_vec3(reader, node, "direction", def.direction));
    MABD_TRY(mabd_json_vec3(reader, node, "anchor", def.anchor));
    MABD_TRY(mabd_json_axes(reader, node, "axes", storage, def.axes));
    return mabd_json_place(
        reader, node, mabd_generate_tree(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

static mabd_status read_ring(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {
        "type",   "name",    "links",    "length",  "radius", "shape",
        "joint",  "density", "young",    "poisson", "drag",   "plane",
        "pinned", "pin",     "position", "spin",    "axes",   MABD_JSON_SURFACE_KEYS,
        NULL};
    static const char* const planes[] = {"vertical", "horizontal"};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_ring_def def = mabd_default_ring_def();
    mabd_axis_def storage[MABD_AXIS_COUNT];
    int plane = 0;
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "links", &def.links));
    MABD_TRY(mabd_json_real(reader, node, "length", &def.length));
    MABD_TRY(mabd_json_real(reader, node, "radius", &def.radius));
    MABD_TRY(mabd_json_link_shape(reader, node, &def.shape));
    MABD_TRY(read_joint(reader, node, "joint", &def.joint));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_real(reader, node, "drag", &def.drag));
    MABD_TRY(mabd_json_choice(reader, node, "plane", planes, 2, &plane));
    def.vertical = plane == 0;
    MABD_TRY(mabd_json_bool(reader, node, "pinned", &def.pinned));
    MABD_TRY(read_joint(reader, node, "pin", &def.pin));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    MABD_TRY(mabd_json_real(reader, node, "spin", &def.spin));
    MABD_TRY(mabd_json_axes(reader, node, "axes", storage, def.axes));
    return mabd_json_place(
        reader, node, mabd_generate_ring(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

static mabd_status read_four_bar(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"type",   "name",    "crank",    "coupler",
                                       "rocker", "ground",  "width",    "density",
                                       "young",  "poisson", "angle",    "speed",
                                       "driven", "torque",  "position", MABD_JSON_SURFACE_KEYS,
                                       NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_four_bar_def def = mabd_default_four_bar_def();
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_real(reader, node, "crank", &def.crank));
    MABD_TRY(mabd_json_real(reader, node, "coupler", &def.coupler));
    MABD_TRY(mabd_json_real(reader, node, "rocker", &def.rocker));
    MABD_TRY(mabd_json_real(reader, node, "ground", &def.ground));
    MABD_TRY(mabd_json_real(reader, node, "width", &def.width));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_real(reader, node, "angle", &def.angle));
    MABD_TRY(mabd_json_real(reader, node, "speed", &def.speed));
    MABD_TRY(mabd_json_bool(reader, node, "driven", &def.driven));
    MABD_TRY(mabd_json_signal(reader, node, "torque", &def.torque));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    return mabd_json_place(
        reader, node,
        mabd_generate_four_bar(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

static mabd_status read_double_four_bar(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"type",  "name",    "loops",    "length",   "mass", "width",
                                       "young", "poisson", "velocity", "position", NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_double_four_bar_def def = mabd_default_double_four_bar_def();
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "loops", &def.loops));
    MABD_TRY(mabd_json_real(reader, node, "length", &def.length));
    MABD_TRY(mabd_json_real(reader, node, "mass", &def.mass));
    MABD_TRY(mabd_json_real(reader, node, "width", &def.width));
    MABD_TRY(mabd_json_real(reader, node, "young", &def.young));
    MABD_TRY(mabd_json_real(reader, node, "poisson", &def.poisson));
    MABD_TRY(mabd_json_real(reader, node, "velocity", &def.velocity));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    return mabd_json_place(
        reader, node,
        mabd_generate_double_four_bar(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

static mabd_status read_four_bar_chain(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"type",  "name",  "segments", "length",   "mass", "width",
                                       "angle", "young", "poisson",  "position", NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_four_bar_chain_def def = mabd_default_four_bar_chain_def();
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "segments", &def.segments));
    MABD_TRY(mabd_json_real(reader, node, "length", &def.length));
    MABD_TRY(mabd_json_real(reader, node, "mass", &def.mass));
    MABD_TRY(mabd_json_real(reader, node, "width", &def.width));
    MABD_TRY(mabd_json_real(reader, node, "angle", &def.angle));
    MABD_TRY(mabd_json_real(reader, node, "young", &def.young));
    MABD_TRY(mabd_json_real(reader, node, "poisson", &def.poisson));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    return mabd_json_place(
        reader, node,
        mabd_generate_four_bar_chain(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

static mabd_status read_jansen(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {
        "type",  "name",   "pairs",   "scale", "width",   "spacing",  "angle",
        "speed", "driven", "density", "young", "poisson", "position", MABD_JSON_SURFACE_KEYS,
        NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_jansen_def def = mabd_default_jansen_def();
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "pairs", &def.pairs));
    MABD_TRY(mabd_json_real(reader, node, "scale", &def.scale));
    MABD_TRY(mabd_json_real(reader, node, "width", &def.width));
    MABD_TRY(mabd_json_real(reader, node, "spacing", &def.spacing));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_real(reader, node, "angle", &def.angle));
    MABD_TRY(mabd_json_real(reader, node, "speed", &def.speed));
    MABD_TRY(mabd_json_bool(reader, node, "driven", &def.driven));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    return mabd_json_place(
        reader, node, mabd_generate_jansen(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

static mabd_status read_scissor_ring(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"type",  "name",      "units",    "arm",
                                       "width", "angle",     "speed",    "driven",
                                       "swing", "frequency", "drag",     "density",
                                       "young", "poisson",   "position", MABD_JSON_SURFACE_KEYS,
                                       NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_scissor_ring_def def = mabd_default_scissor_ring_def();
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "units", &def.units));
    MABD_TRY(mabd_json_real(reader, node, "arm", &def.arm));
    MABD_TRY(mabd_json_real(reader, node, "width", &def.width));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_real(reader, node, "drag", &def.drag));
    MABD_TRY(mabd_json_real(reader, node, "angle", &def.angle));
    MABD_TRY(mabd_json_real(reader, node, "speed", &def.speed));
    MABD_TRY(mabd_json_bool(reader, node, "driven", &def.driven));
    MABD_TRY(mabd_json_real(reader, node, "swing", &def.swing));
    MABD_TRY(mabd_json_real(reader, node, "frequency", &def.frequency));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    return mabd_json_place(
        reader, node,
        mabd_generate_scissor_ring(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

static mabd_status read_branch_level(mabd_json_reader* reader, const mabd_json_node* node,
                                     mabd_branch_level* level) {
    static const char* const keys[] = {"segments", "children", "length",     "radius",
                                       "tip",      "spread",   "spread_tip", "droop",
                                       "bare",     "shorten",  NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    *level = (mabd_branch_level){.segments = 1, .length = 1, .radius = (mabd_real)0.01, .tip = 1};
    MABD_TRY(mabd_json_int(reader, node, "segments", &level->segments));
    MABD_TRY(mabd_json_int(reader, node, "children", &level->children));
    MABD_TRY(mabd_json_real(reader, node, "length", &level->length));
    MABD_TRY(mabd_json_real(reader, node, "radius", &level->radius));
    MABD_TRY(mabd_json_real(reader, node, "tip", &level->tip));
    MABD_TRY(mabd_json_real(reader, node, "spread", &level->spread));
    level->spread_tip = level->spread;
    MABD_TRY(mabd_json_real(reader, node, "spread_tip", &level->spread_tip));
    MABD_TRY(mabd_json_real(reader, node, "droop", &level->droop));
    MABD_TRY(mabd_json_real(reader, node, "bare", &level->bare));
    return mabd_json_real(reader, node, "shorten", &level->shorten);
}

static mabd_status read_branch_levels(mabd_json_reader* reader, const mabd_json_node* node,
                                      mabd_branching_def* def) {
    mabd_json_node levels;
    if (!mabd_json_member(node, "levels", &levels)) return MABD_OK;
    MABD_TRY(mabd_json_array(reader, &levels));
    const size_t count = json_array_size(levels.value);
    if (count < 1 || count > MABD_BRANCH_LEVELS) {
        return mabd_json_fail(reader, &levels, "expected 1 to %d levels, found %zu",
                              MABD_BRANCH_LEVELS, count);
    }
    for (size_t i = 0; i < count; i++) {
        mabd_json_node element = mabd_json_element(&levels, i);
        MABD_TRY(read_branch_level(reader, &element, &def->levels[i]));
    }
    def->level_count = (int32_t)count;
    return MABD_OK;
}

static mabd_status read_branching(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {
        "type",    "name",      "seed",    "levels", "phyllotaxis",
        "wiggle",  "variation", "density", "young",  "poisson",
        "bending", "damping",   "drag",    "anchor", MABD_JSON_SURFACE_KEYS,
        NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_branching_def def = mabd_default_branching_def();
    int32_t seed = 0;
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "seed", &seed));
    def.seed = (uint64_t)(uint32_t)seed;
    MABD_TRY(read_branch_levels(reader, node, &def));
    MABD_TRY(mabd_json_real(reader, node, "phyllotaxis", &def.phyllotaxis));
    MABD_TRY(mabd_json_real(reader, node, "wiggle", &def.wiggle));
    MABD_TRY(mabd_json_real(reader, node, "variation", &def.variation));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_real(reader, node, "bending", &def.bending));
    MABD_TRY(mabd_json_real(reader, node, "damping", &def.damping));
    MABD_TRY(mabd_json_real(reader, node, "drag", &def.drag));
    MABD_TRY(mabd_json_vec3(reader, node, "anchor", def.anchor));
    return mabd_json_place(
        reader, node,
        mabd_generate_branching(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

static mabd_status read_backbone(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {
        "type",  "name",    "links", "seed",   "length", "radius", "density",
        "young", "poisson", "drag",  "anchor", "pinned", "axes",   MABD_JSON_SURFACE_KEYS,
        NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_backbone_def def = mabd_default_backbone_def();
    mabd_axis_def storage[MABD_AXIS_COUNT];
    int32_t seed = 0;
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "links", &def.links));
    MABD_TRY(mabd_json_int(reader, node, "seed", &seed));
    def.seed = (uint64_t)(uint32_t)seed;
    MABD_TRY(mabd_json_real(reader, node, "length", &def.length));
    MABD_TRY(mabd_json_real(reader, node, "radius", &def.radius));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_real(reader, node, "drag", &def.drag));
    MABD_TRY(mabd_json_vec3(reader, node, "anchor", def.anchor));
    MABD_TRY(mabd_json_bool(reader, node, "pinned", &def.pinned));
    MABD_TRY(mabd_json_axes(reader, node, "axes", storage, def.axes));
    return mabd_json_place(
        reader, node,
        mabd_generate_backbone(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

static mabd_status read_star(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {
        "type",   "name",   "arms",    "links",    "hub_radius",
        "length", "radius", "density", "young",    "poisson",
        "drag",   "pinned", "spin",    "position", MABD_JSON_SURFACE_KEYS,
        NULL};
    MABD_TRY(mabd_json_only(reader, node, keys));
    mabd_star_def def = mabd_default_star_def();
    MABD_TRY(mabd_json_text(reader, node, "name", &def.name));
    MABD_TRY(mabd_json_int(reader, node, "arms", &def.arms));
    MABD_TRY(mabd_json_int(reader, node, "links", &def.links));
    MABD_TRY(mabd_json_real(reader, node, "hub_radius", &def.hub_radius));
    MABD_TRY(mabd_json_real(reader, node, "length", &def.length));
    MABD_TRY(mabd_json_real(reader, node, "radius", &def.radius));
    MABD_TRY(mabd_json_material(reader, node, &def.material));
    MABD_TRY(mabd_json_real(reader, node, "drag", &def.drag));
    MABD_TRY(mabd_json_bool(reader, node, "pinned", &def.pinned));
    MABD_TRY(mabd_json_real(reader, node, "spin", &def.spin));
    MABD_TRY(mabd_json_vec3(reader, node, "position", def.position));
    return mabd_json_place(
        reader, node, mabd_generate_star(mabd_json_scene(reader), &def, mabd_json_error(reader)));
}

// ---- the list ----------------------------------------------------------------------------------

#define GENERATOR_LIST(X)                                                                          \
    X("chain", read_chain)                                                                         \
    X("net", read_net)                                                                             \
    X("tree", read_tree)                                                                           \
    X("ring", read_ring)                                                                           \
    X("four-bar", read_four_bar)                                                                   \
    X("double-four-bar", read_double_four_bar)                                                     \
    X("four-bar-chain", read_four_bar_chain)                                                       \
    X("jansen", read_jansen)                                                                       \
    X("scissor-ring", read_scissor_ring)                                                           \
    X("branching", read_branching)                                                                 \
    X("backbone", read_backbone)                                                                   \
    X("star", read_star)                                                                           \
    X("pulley", mabd_json_pulley)                                                                  \
    X("pile", mabd_json_pile)                                                                      \
    X("ragdoll", mabd_json_ragdoll)

static mabd_status read_generator(mabd_json_reader* reader, const mabd_json_node* node) {
#define X(type, read) type,
    static const char* const types[] = {GENERATOR_LIST(X)};
#undef X
#define X(type, read) read,
    static const read_function readers[] = {GENERATOR_LIST(X)};
#undef X
    const int count = (int)(sizeof types / sizeof types[0]);
    mabd_json_node type;
    if (!json_is_object(node->value)) {
        return mabd_json_fail(reader, node, "expected a generator {\"type\": ...}");
    }
    if (!mabd_json_member(node, "type", &type)) {
        return mabd_json_fail(reader, node, "a generator needs 'type', for instance \"chain\"");
    }
    int index = 0;
    MABD_TRY(mabd_json_choice(reader, node, "type", types, count, &index));
    return readers[index](reader, node);
}

mabd_status mabd_json_generators(mabd_json_reader* reader, const mabd_json_node* array) {
    MABD_TRY(mabd_json_array(reader, array));
    for (size_t i = 0; i < json_array_size(array->value); i++) {
        mabd_json_node element = mabd_json_element(array, i);
        MABD_TRY(read_generator(reader, &element));
    }
    return MABD_OK;
}
