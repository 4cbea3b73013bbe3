// SPDX-License-Identifier: Apache-2.0
// `mabd info`: the contents of a scene, before a simulation.
#include "cli/backends.h"
#include "cli/cli.h"
#include "cli/formulations.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/path_use.h"
#include "cli/plan_table.h"
#include "cli/run_warnings.h"
#include "cli/summary.h"
#include "cli/system.h"
#include "cli/tree_table.h"

#include <string.h>

#define WIDEST 64 // larger than any block: blocks have at most 6 rows

typedef struct info_options {
    const char *scene, *json;
    bool plan, rank, backends, formulations, close_joints;
    int dual, formulation; // mabd_dual, mabd_formulation
    double young;          // [Pa], 0 = not given
    option_texts settings;
} info_options;

/// Joints by type and by block width, for --plan.
typedef struct joint_counts {
    int64_t joints[MABD_JOINT_TYPE_COUNT], rows[MABD_JOINT_TYPE_COUNT];
    int64_t widths[WIDEST]; // joints with this many rows
} joint_counts;

#define X(name, text) text,
static const char* const DUALS[] = {MABD_DUAL_LIST(X) NULL};
static const char* const FORMULATIONS[] = {MABD_FORMULATION_LIST(X) NULL};
#undef X

static const char NOTES[] = "Examples: mabd info scenes/chain.json --set links=1000000 --json -\n"
                            "          mabd info --backends\n"
                            "          mabd info --formulations";

static bool parse_options(int argc, char** argv, info_options* o, int* code) {
    const char* names[] = {"SCENE"};
    *o = (info_options){0};
    const option options[] = {
        option_list("set", "NAME=VALUE", &o->settings,
                    "change a parameter of the scene, repeatable"),
        option_young(&o->young),
        option_text("json", "FILE|-", &o->json,
                    "write the description as JSON; - = standard output"),
        option_flag("plan", &o->plan,
                    "print components by class, joints by type, and their solvers"),
        option_flag("rank", &o->rank,
                    "print how many rows are redundant at the start, their rank and the freedoms"),
        option_flag("close-joints", &o->close_joints,
                    "close joints at the start and print how far bodies move"),
        option_flag("backends", &o->backends,
                    "print which backends are built and present; needs no SCENE"),
        option_flag("formulations", &o->formulations,
                    "print formulations, features, integrators, backends; needs no SCENE"),
        option_choice("dual", DUALS, &o->dual,
                      "dual solvers for which memory and plan are computed"),
        option_alias(mabd_formulation_find,
                     option_choice("formulation", FORMULATIONS, &o->formulation,
                                   "formulation for which memory and plan are computed")),
    };
    const option_command command = {
        .name = "info",
        .about = "Describe a scene: bodies, joints, memory, solvers, parameters.",
        .argument_count = 1,
        .argument_names = names,
        .arguments = &o->scene,
        .alone = {&o->backends, &o->formulations},
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
        .notes = NOTES};
    return options_start(&command, argc, argv, code);
}

static joint_counts count_joints(const mabd_model* model) {
    joint_counts counts;
    memset(&counts, 0, sizeof(counts));
    for (int32_t i = 0; i < mabd_model_joint_count(model); i++) {
        int32_t a = 0, b = 0, compliant = 0;
        mabd_joint type = mabd_model_joint_type(model, i, &a, &b);
        int32_t rows = mabd_model_joint_rows(model, i, &compliant);
        counts.joints[type]++;
        counts.rows[type] += rows;
        if (rows >= 0 && rows < WIDEST) counts.widths[rows]++;
    }
    return counts;
}

// ---- text --------------------------------------------------------------------------------------

static void print_params(const json_t* params, FILE* out) {
    size_t i;
    json_t* param;
    if (json_array_size(params) == 0) return;
    fprintf(out, "parameters (change with --set NAME=VALUE)\n");
    json_array_foreach(params, i, param) {
        const char *name, *value, *fallback, *unit, *meaning;
        json_unpack(param, "{ss ss ss ss ss}", "name", &name, "value", &value, "default", &fallback,
                    "unit", &unit, "meaning", &meaning);
        bool has_unit = unit[0] != '\0' && strcmp(unit, "1") != 0;
        fprintf(out, "  %-16s = %s%s%s", name, value, has_unit ? " " : "", has_unit ? unit : "");
        if (strcmp(value, fallback) != 0) fprintf(out, " (default %s)", fallback);
        fprintf(out, "  (%s)\n", meaning);
    }
}

static void print_joints(const mabd_model* model, FILE* out) {
    joint_counts counts = count_joints(model);
    fprintf(out, "joints by type\n");
    for (int k = 0; k < MABD_JOINT_TYPE_COUNT; k++) {
        if (counts.joints[k] == 0) continue;
        fprintf(out, "  %-12s %lld joints, %lld rows\n", mabd_joint_name((mabd_joint)k),
                (long long)counts.joints[k], (long long)counts.rows[k]);
    }
    fprintf(out, "joints by block width\n");
    for (int k = 0; k < WIDEST; k++) {
        if (counts.widths[k] == 0) continue;
        fprintf(out, "  %d rows: %lld joints\n", k, (long long)counts.widths[k]);
    }
}

// "3 box, 1 plane; 4 of them touch, 2 pairs of bodies never do"
static void print_geoms(const mabd_model_info* info, size_t bytes_per_contact, FILE* out) {
    const char* before = "";
    fprintf(out, "geoms         ");
    for (int k = 0; k < MABD_SHAPE_COUNT; k++) {
        if (info->geoms[k] == 0) continue;
        fprintf(out, "%s%d %s", before, (int)info->geoms[k], mabd_shape_name((mabd_shape)k));
        before = ", ";
    }
    fprintf(out, "%s\n", *before ? "" : "none");
    if (info->contacts) {
        fprintf(out,
                "contacts      on; %d geoms may touch, %d pairs of bodies never do, %zu bytes "
                "per contact\n",
                (int)info->colliders, (int)info->excluded_pairs, bytes_per_contact);
        if (info->excluded_groups > 0) {
            fprintf(out, "              no two bodies of a group touch: %d group%s, %d bodies\n",
                    (int)info->excluded_groups, info->excluded_groups == 1 ? "" : "s",
                    (int)info->grouped_bodies);
        }
    } else {
        fprintf(out, "contacts      off\n");
    }
}

static void print_info(const loaded_scene* loaded, const plan_table* plan,
                       const mabd_rank_info* rank, FILE* out) {
    const mabd_model_info* info = &loaded->info;
    char text[128], model[32], sim[32];
    fprintf(out, "scene         %s\n", mabd_model_name(loaded->model));
    fprintf(out, "bodies        %d, %d of them moving; %d kinds\n", (int)info->bodies,
            (int)info->dynamic_bodies, (int)info->classes);
    print_geoms(info, loaded->plan.bytes_per_contact, out);
    fprintf(out, "joints        %d\n", (int)info->joints);
    fprintf(out, "rows          %d, %d of them compliant, widest block %d\n", (int)info->rows,
            (int)info->compliant_rows, (int)info->widest_block);
    if (rank) {
        fprintf(out, "rank          %d of %d rigid rows, %d redundant; %d freedoms\n",
                (int)rank->rank, (int)rank->rows, (int)rank->redundant, (int)rank->freedoms);
    }
    if (info->weighted_joints > 0) {
        fprintf(out, "weights       of %d joints; only formulation quaternion reads them\n",
                (int)info->weighted_joints);
    }
    if (info->young_bodies > 0) {
        fprintf(out, "young         not steel, of %d bod%s; only formulation affine reads it\n",
                (int)info->young_bodies, info->young_bodies == 1 ? "y" : "ies");
    }
    if (info->charted_joints > 0) {
        fprintf(out, "charts        of %d joint%s; only formulation redmax reads them\n",
                (int)info->charted_joints, info->charted_joints == 1 ? "" : "s");
    }
    fprintf(out, "components    %s; %d loops\n", load_format_components(info, text, sizeof(text)),
            (int)info->loops);
    fprintf(out, "memory        model %s, simulation %s\n              ",
            system_format_bytes((double)info->bytes_model, model, sizeof(model)),
            system_format_bytes((double)loaded->plan.bytes_sim, sim, sizeof(sim)));
    summary_print_memory(loaded->plan.bytes, info->bodies, out);
    tree_table_print(&loaded->plan, out);
    double h = mabd_model_suggested_h(loaded->model);
    double duration = mabd_model_suggested_duration(loaded->model);
    if (h > 0) fprintf(out, "suggested h   %g s\n", h);
    if (duration > 0) fprintf(out, "duration      %g s\n", duration);
    if (plan) {
        print_joints(loaded->model, out);
        plan_table_print(plan, out);
    }
    print_params(loaded->params, out);
}

// ---- JSON --------------------------------------------------------------------------------------

static json_t* plan_json(const mabd_model* model, const plan_table* table) {
    joint_counts counts = count_joints(model);
    json_t *types = json_object(), *widths = json_object();
    for (int k = 0; k < MABD_JOINT_TYPE_COUNT; k++) {
        if (counts.joints[k] == 0) continue;
        json_object_set_new(types, mabd_joint_name((mabd_joint)k),
                            json_pack("{sI sI}", "joints", (json_int_t)counts.joints[k], "rows",
                                      (json_int_t)counts.rows[k]));
    }
    for (int k = 0; k < WIDEST; k++) {
        char width[16];
        if (counts.widths[k] == 0) continue;
        snprintf(width, sizeof(width), "%d", k);
        json_object_set_new(widths, width, json_integer((json_int_t)counts.widths[k]));
    }
    json_t* solvers = json_object();
    for (int k = 0; k < MABD_COMPONENT_COUNT; k++) {
        const char* text = table->plan->solvers[k];
        if (text[0]) summary_set_text(solvers, mabd_component_name((mabd_component)k), text);
    }
    json_t* root = json_pack("{so so so}", "joints_by_type", types, "joints_by_width", widths,
                             "dual_solvers", solvers);
    plan_table_add_json(table, root);
    return root;
}

static void add_geoms_json(const mabd_model_info* info, size_t bytes_per_contact, json_t* root) {
    json_t* shapes = json_object();
    for (int k = 0; k < MABD_SHAPE_COUNT; k++) {
        if (info->geoms[k] == 0) continue;
        json_object_set_new(shapes, mabd_shape_name((mabd_shape)k), json_integer(info->geoms[k]));
    }
    json_object_set_new(root, "geoms", shapes);
    json_object_set_new(root, "contacts", json_boolean(info->contacts));
    json_object_set_new(root, "colliders", json_integer(info->colliders));
    json_object_set_new(root, "excluded_pairs", json_integer(info->excluded_pairs));
    json_object_set_new(root, "excluded_groups", json_integer(info->excluded_groups));
    json_object_set_new(root, "grouped_bodies", json_integer(info->grouped_bodies));
    json_object_set_new(root, "bytes_per_contact", json_integer((json_int_t)bytes_per_contact));
}

// `warnings`: those of the start, null = the start was not computed.
static json_t* build_json(const loaded_scene* loaded, const plan_table* plan, json_t* warnings) {
    const mabd_model_info* info = &loaded->info;
    char hash[32];
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)info->hash);
    json_t* root = json_object();
    summary_set_text(root, "scene", loaded->path);
    summary_set_text(root, "scene_name", mabd_model_name(loaded->model));
    json_t* numbers = json_pack(
        "{ss si si si si si si si si sI sI ss}", "version", mabd_version(), "bodies",
        (int)info->bodies, "dynamic_bodies", (int)info->dynamic_bodies, "body_classes",
        (int)info->classes, "joints", (int)info->joints, "rows", (int)info->rows, "compliant_rows",
        (int)info->compliant_rows, "loops", (int)info->loops, "widest_block",
        (int)info->widest_block, "bytes_model", (json_int_t)info->bytes_model, "bytes_sim",
        (json_int_t)loaded->plan.bytes_sim, "hash", hash);
    json_object_update(root, numbers);
    json_decref(numbers);
    add_geoms_json(info, loaded->plan.bytes_per_contact, root);
    json_object_set_new(root, "weighted_joints", json_integer(info->weighted_joints));
    json_object_set_new(root, "young_bodies", json_integer(info->young_bodies));
    json_object_set_new(root, "charted_joints", json_integer(info->charted_joints));
    summary_set_components(root, "components", info);
    summary_set_real(root, "bytes_per_body", (double)loaded->plan.bytes_per_body);
    summary_set_real(root, "suggested_h", (double)mabd_model_suggested_h(loaded->model));
    summary_set_real(root, "suggested_duration",
                     (double)mabd_model_suggested_duration(loaded->model));
    summary_set_real(root, "scene_load_ms", 1e3 * loaded->load_seconds);
    summary_set_real(root, "model_build_ms", 1e3 * loaded->build_seconds);
    json_object_set(root, "params", loaded->params);
    if (plan) json_object_set_new(root, "plan", plan_json(loaded->model, plan));
    summary_set_memory(root, "memory_bytes", loaded->plan.bytes);
    tree_table_add_json(&loaded->plan, root);
    if (warnings) json_object_set(root, "warnings", warnings);
    return root;
}

static json_t* rank_json(const mabd_rank_info* rank) {
    return json_pack("{si si si si}", "rows", (int)rank->rows, "rank", (int)rank->rank, "redundant",
                     (int)rank->redundant, "freedoms", (int)rank->freedoms);
}

static int report(const info_options* o, const loaded_scene* loaded, const mabd_rank_info* rank,
                  json_t* warnings) {
    const bool json_on_stdout = output_is_stdout(o->json);
    const plan_table table = plan_table_make(loaded->model, &loaded->plan);
    const plan_table* plan = o->plan ? &table : NULL;
    if (!json_on_stdout) print_info(loaded, plan, rank, stdout);
    if (o->json == NULL) return CLI_OK;
    json_t* root = build_json(loaded, plan, warnings);
    if (rank) json_object_set_new(root, "rank", rank_json(rank));
    const int code = summary_write("info", o->json, root);
    json_decref(root);
    return code;
}

static mabd_sim_def make_def(const info_options* o, const mabd_allocator* allocator) {
    mabd_sim_def def = mabd_default_sim_def();
    def.formulation = (mabd_formulation)o->formulation;
    def.dual = (mabd_dual)o->dual;
    def.allocator = allocator;
    return def;
}

// Create a simulation, which closes the joints, and report its warnings. A start that cannot be
// closed is refused as by `mabd run`.
static int close_joints(const loaded_scene* loaded, const mabd_sim_def* def,
                        run_warnings* warnings) {
    mabd_sim* sim = NULL;
    mabd_error error = {0};
    const int code = load_check_memory(loaded);
    if (code != CLI_OK) return code;
    const mabd_status status = mabd_sim_create(loaded->model, def, &sim, &error);
    if (status != MABD_OK) return load_say_refused(loaded, def, status, &error);
    warnings->list = json_array();
    run_warnings_collect(warnings, sim);
    mabd_sim_destroy(sim);
    return CLI_OK;
}

// Find the rank of the rows of the start state, as rigid bodies.
static int find_rank(const loaded_scene* loaded, mabd_rank_info* rank) {
    mabd_sim* sim = NULL;
    mabd_error error = {0};
    mabd_sim_def def = mabd_default_sim_def();
    def.formulation = MABD_FORMULATION_QUATERNION;
    def.allocator = &loaded->allocator;
    mabd_status status = mabd_sim_create(loaded->model, &def, &sim, &error);
    if (status == MABD_OK) status = mabd_sim_get_rank(sim, rank, &error);
    mabd_sim_destroy(sim);
    return status == MABD_OK ? CLI_OK : load_say_refused(loaded, &def, status, &error);
}

static int load_and_report(const info_options* o, loaded_scene* loaded) {
    run_warnings warnings = {.command = "info"};
    loaded->close_joints = o->close_joints;
    loaded->young = o->young;
    int code = load_scene("info", o->scene, &o->settings, 0, loaded);
    if (code != CLI_OK) return code;
    load_say_warnings(loaded);
    const mabd_sim_def def = make_def(o, &loaded->allocator);
    code = load_plan(loaded, &def);
    if (code == CLI_OK && o->close_joints) code = close_joints(loaded, &def, &warnings);
    mabd_rank_info rank;
    if (code == CLI_OK && o->rank) code = find_rank(loaded, &rank);
    if (code == CLI_OK) code = report(o, loaded, o->rank ? &rank : NULL, warnings.list);
    run_warnings_release(&warnings);
    return code;
}

int command_info(int argc, char** argv) {
    int code = CLI_OK;
    info_options options;
    loaded_scene loaded = {0};
    if (!parse_options(argc, argv, &options, &code)) return code;
    if ((options.backends || options.formulations) && options.scene != NULL) {
        fprintf(stderr, "mabd info: give a SCENE or %s, not both\n",
                options.backends ? "--backends" : "--formulations");
        return CLI_BAD_INPUT;
    }
    const path_use uses[] = {{PATH_SCENE, "SCENE", options.scene},
                             {PATH_WRITTEN, "--json", options.json}};
    code = path_use_check("info", sizeof(uses) / sizeof(uses[0]), uses);
    if (code != CLI_OK) return code;
    if (options.backends) return backends_report(options.json);
    if (options.formulations) return formulations_report(options.json);
    code = load_and_report(&options, &loaded);
    load_release(&loaded);
    return code;
}
