// SPDX-License-Identifier: Apache-2.0
// The summary of a run; see summary.h.
#include "cli/summary.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- JSON --------------------------------------------------------------------------------------

static void set_integer(json_t* object, const char* key, int64_t value) {
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

void summary_set_text(json_t* object, const char* key, const char* value) {
    json_t* text = json_string(value);
    if (text == NULL) text = json_string("(not valid UTF-8)");
    json_object_set_new(object, key, text);
}

static json_t* real_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

void summary_set_real(json_t* object, const char* key, double value) {
    json_object_set_new(object, key, real_or_null(value));
}

void summary_set_origin(json_t* object, const char* machine, const char* command) {
    summary_set_text(object, "version", mabd_version());
    summary_set_text(object, "compiler", __VERSION__);
    summary_set_text(object, "machine", machine);
    summary_set_text(object, "command", command);
}

void summary_set_reals(json_t* object, const char* key, const double* values, int n) {
    json_t* array = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(array, real_or_null(values[i]));
    json_object_set_new(object, key, array);
}

void summary_set_components(json_t* object, const char* key, const mabd_model_info* info) {
    json_t* counts = json_object();
    for (int k = 0; k < MABD_COMPONENT_COUNT; k++) {
        set_integer(counts, mabd_component_name((mabd_component)k), info->components[k]);
    }
    json_object_set_new(object, key, counts);
}

void summary_set_memory(json_t* object, const char* key, const size_t* bytes) {
    json_t* parts = json_object();
    for (int k = 0; k < MABD_MEMORY_COUNT; k++) {
        set_integer(parts, mabd_memory_name((mabd_memory)k), (int64_t)bytes[k]);
    }
    json_object_set_new(object, key, parts);
}

static mabd_real baumgarte_of(const mabd_sim_def* def) {
    switch (def->formulation) {
    case MABD_FORMULATION_REDMAX:
        return def->redmax.baumgarte;
    case MABD_FORMULATION_IMPULSE:
        return def->impulse.baumgarte;
    default:
        return def->quaternion.baumgarte;
    }
}

static int32_t substeps_of(const mabd_sim_def* def) {
    const bool impulse = def->formulation == MABD_FORMULATION_IMPULSE;
    return impulse ? def->impulse.substeps : def->variational.substeps;
}

static void add_impulse(json_t* root, const mabd_impulse_def* own) {
    set_integer(root, "sweeps", own->sweeps);
    set_integer(root, "relaxations", own->relaxations);
    summary_set_text(root, "impulse_joints", mabd_impulse_joints_name(own->joints));
    summary_set_text(root, "correction", mabd_correction_name(own->correction));
    summary_set_real(root, "slop", own->slop);
    summary_set_real(root, "contact_hertz", own->contact_hertz);
    summary_set_real(root, "joint_hertz", own->joint_hertz);
}

static void add_setup(json_t* root, const summary_source* s) {
    const mabd_model_info* info = &s->loaded->info;
    mabd_sim_def def = mabd_sim_get_def(s->sim);
    summary_set_text(root, "scene", s->loaded->path);
    summary_set_text(root, "scene_name", mabd_model_name(s->loaded->model));
    summary_set_text(root, "version", mabd_version());
    summary_set_text(root, "command", s->command);
    json_t* settings = json_object();
    for (int32_t i = 0; i < s->loaded->setting_count; i++) {
        summary_set_text(settings, s->loaded->settings[i].name, s->loaded->settings[i].value);
    }
    json_object_set_new(root, "settings", settings);
    summary_set_text(root, "formulation", mabd_formulation_name(def.formulation));
    summary_set_text(root, "backend", mabd_backend_name(def.backend));
    summary_set_text(root, "integrator", mabd_integrator_name(def.integrator));
    summary_set_text(root, "preset", s->preset);
    summary_set_text(root, "dual", mabd_dual_name(def.dual));
    summary_set_real(root, "gap_tolerance", def.gap_tolerance);
    summary_set_real(root, "contact_tolerance", def.contact_tolerance);
    summary_set_real(root, "pile_tolerance", def.affine.pile_tolerance);
    set_integer(root, "friction_updates", def.affine.friction_updates);
    json_object_set_new(root, "orbit", json_boolean(def.affine.orbit));
    json_object_set_new(root, "sleep", json_boolean(def.affine.sleep));
    summary_set_real(root, "newton_tolerance",
                     def.formulation == MABD_FORMULATION_REDMAX ? def.redmax.newton_tolerance
                                                                : def.quaternion.newton_tolerance);
    summary_set_real(root, "baumgarte", baumgarte_of(&def));
    summary_set_text(root, "baumgarte_level",
                     mabd_baumgarte_level_name(def.redmax.baumgarte_level));
    summary_set_text(root, "coordinates", mabd_coordinates_name(def.redmax.coordinates));
    summary_set_real(root, "energy_guard", def.redmax.energy_guard);
    summary_set_text(root, "bdf2_start", mabd_integrator_name(def.quaternion.bdf2_start));
    summary_set_text(root, "contacts_by", mabd_contact_problem_name(def.redmax.contacts));
    summary_set_text(root, "redundancy", mabd_redundancy_name(def.quaternion.redundancy));
    summary_set_text(root, "solver", mabd_solver_name(def.quaternion.solver));
    summary_set_text(root, "multipliers", mabd_multipliers_name(def.quaternion.multipliers));
    summary_set_text(root, "newton",
                     mabd_newton_name(def.formulation == MABD_FORMULATION_VARIATIONAL
                                          ? def.variational.newton
                                          : def.quaternion.newton));
    set_integer(root, "substeps", substeps_of(&def));
    summary_set_text(root, "cone", mabd_cone_name(def.variational.cone));
    set_integer(root, "cone_sides", def.variational.cone_sides);
    add_impulse(root, &def.impulse);
    set_integer(root, "threads", def.threads);
    set_integer(root, "bodies", info->bodies);
    set_integer(root, "dynamic_bodies", info->dynamic_bodies);
    set_integer(root, "joints", info->joints);
    set_integer(root, "rows", info->rows);
    set_integer(root, "compliant_rows", info->compliant_rows);
    summary_set_components(root, "components", info);
    set_integer(root, "steps", s->stats->steps);
    summary_set_real(root, "h", def.h);
    summary_set_real(root, "time", (double)s->stats->steps * def.h);
}

static void set_body(json_t* object, const char* key, const summary_source* s, int64_t body) {
    char name[256];
    summary_set_text(object, key,
                     mabd_model_body_name(s->loaded->model, (int32_t)body, name, sizeof(name)));
}

static void add_contacts(json_t* root, const summary_source* s) {
    const run_stats* stats = s->stats;
    const double steps = (double)stats->steps;
    set_integer(root, "contacts_max", stats->contacts_max);
    summary_set_real(root, "contacts_mean", summary_mean((double)stats->contacts, steps));
    summary_set_real(root, "penetration_max", stats->penetration_max);
    summary_set_real(root, "contact_iterations_mean",
                     summary_mean((double)stats->contact_iterations, steps));
    set_integer(root, "contact_iterations_max", stats->contact_iterations_max);
    summary_set_real(root, "contact_residual_max", stats->contact_residual_max);
    summary_set_real(root, "friction_lag_mean", summary_mean(stats->friction_lag, steps));
    json_t* overlap = json_null();
    if (stats->start_overlap > SUMMARY_OVERLAP) {
        overlap = json_object();
        summary_set_real(overlap, "depth", stats->start_overlap);
        set_body(overlap, "a", s, stats->overlap_a);
        set_body(overlap, "b", s, stats->overlap_b);
    }
    json_object_set_new(root, "start_overlap", overlap);
}

static void add_own(json_t* root, const summary_source* s) {
    const run_stats* stats = s->stats;
    json_t* own = json_object();
    switch (mabd_sim_get_def(s->sim).formulation) {
    case MABD_FORMULATION_AFFINE:
        summary_set_real(own, "rotation", stats->rotation_max);
        summary_set_real(own, "friction_lag", stats->friction_lag_max);
        summary_set_real(own, "tolerance_used", stats->tolerance_used_max);
        set_integer(own, "asleep", stats->asleep);
        break;
    case MABD_FORMULATION_QUATERNION:
        set_integer(own, "refinements", stats->refinements);
        set_integer(own, "redundant_rows", stats->redundant_rows_max);
        summary_set_real(own, "consistency", stats->consistency_min);
        summary_set_real(own, "round_off", stats->round_off_max);
        break;
    case MABD_FORMULATION_REDMAX:
        set_integer(own, "guarded", stats->guarded);
        set_integer(own, "chart_switches", stats->chart_switches);
        break;
    case MABD_FORMULATION_VARIATIONAL:
        set_integer(own, "barrier_iterations", stats->barrier_iterations);
        set_integer(own, "restarts", stats->restarts);
        break;
    case MABD_FORMULATION_IMPULSE:
        summary_set_real(own, "impulse_change", stats->impulse_change_max);
        set_integer(own, "colors", stats->colors_max);
        set_integer(own, "carriers", stats->carriers_max);
        summary_set_real(own, "carried", stats->carried_max);
        break;
    default:
        break;
    }
    json_object_set_new(root, "formulation_info", own);
}

static void add_balance(json_t* root, const mabd_sim* sim) {
    const mabd_energy_balance balance = mabd_sim_get_energy_balance(sim);
    json_t* accounts = json_object();
#define X(name, field, kind) summary_set_real(accounts, #field, (double)balance.field);
    MABD_ENERGY_LIST(X)
#undef X
    json_object_set_new(root, "energy_balance", accounts);
}

static void add_quality(json_t* root, const summary_source* s) {
    const run_stats* stats = s->stats;
    summary_set_real(root, "iterations_mean",
                     summary_mean((double)stats->iterations, (double)stats->steps));
    set_integer(root, "iterations_max", stats->iterations_max);
    summary_set_real(root, "dual_iterations_mean",
                     summary_mean((double)stats->dual_iterations, (double)stats->steps));
    set_integer(root, "dual_iterations_max", stats->dual_iterations_max);
    summary_set_real(root, "dual_residual_max", stats->dual_residual_max);
    add_contacts(root, s);
    add_own(root, s);
    set_integer(root, "retries", stats->retries);
    set_integer(root, "substeps_max", stats->substeps_max);
    set_integer(root, "unconverged_steps", stats->unconverged_steps);
    summary_set_real(root, "max_gap", stats->max_gap);
    summary_set_real(root, "max_angle_error", stats->max_angle_error);
    char name[256];
    if (stats->worst_joint >= 0) {
        summary_set_text(root, "worst_joint",
                         mabd_model_joint_name(s->loaded->model, (int32_t)stats->worst_joint, name,
                                               sizeof(name)));
    } else {
        json_object_set_new(root, "worst_joint", json_null());
    }
    summary_set_real(root, "energy_start", stats->energy_start);
    summary_set_real(root, "energy_end", stats->energy_end);
    summary_set_real(root, "energy_max", stats->energy_max);
    summary_set_real(root, "energy_scale", stats->energy_scale);
    set_integer(root, "energy_samples", stats->energy_samples);
    add_balance(root, s->sim);
    summary_set_reals(root, "linear_momentum_start", stats->linear_momentum_start, 3);
    summary_set_reals(root, "linear_momentum", stats->linear_momentum, 3);
    summary_set_reals(root, "angular_momentum_start", stats->angular_momentum_start, 3);
    summary_set_reals(root, "angular_momentum", stats->angular_momentum, 3);
}

static void add_cost(json_t* root, const summary_source* s) {
    const run_stats* stats = s->stats;
    double step_seconds = summary_mean(stats->step_seconds, (double)stats->steps);
    double simulated = (double)stats->steps * mabd_sim_get_def(s->sim).h;
    summary_set_real(root, "ms_per_step", 1e3 * step_seconds);
    summary_set_real(root, "ns_per_link", 1e9 * summary_mean(step_seconds, summary_links(s)));
    summary_set_real(
        root, "ns_per_link_iteration",
        1e9 * summary_mean(stats->step_seconds, summary_links(s) * (double)stats->iterations));
    summary_set_real(root, "first_step_ms", 1e3 * stats->first_step_seconds);
    summary_set_real(root, "real_time_factor", summary_mean(simulated, stats->step_seconds));
    json_t* stages = json_object();
    const mabd_formulation_info formulation =
        mabd_formulation_get_info(mabd_sim_get_def(s->sim).formulation);
    for (int k = 0; k < formulation.stage_count; k++) {
        summary_set_real(stages, formulation.stages[k],
                         1e3 * summary_mean(stats->stage_seconds[k], (double)stats->steps));
    }
    json_object_set_new(root, "stage_ms_per_step", stages);
    summary_set_real(root, "scene_load_ms", 1e3 * s->loaded->load_seconds);
    summary_set_real(root, "model_build_ms", 1e3 * s->loaded->build_seconds);
    summary_set_real(root, "sim_create_ms", 1e3 * s->sim_create_seconds);
    summary_set_real(root, "wall_seconds", s->wall_seconds);
    size_t held = s->loaded->info.bytes_model + mabd_sim_bytes(s->sim);
    size_t peak = s->loaded->budget.peak > held ? s->loaded->budget.peak : held;
    set_integer(root, "bytes_peak", (int64_t)peak);
    summary_set_real(root, "bytes_per_body", summary_mean((double)held, s->loaded->info.bodies));
    set_integer(root, "bytes_resident_peak", (int64_t)system_peak_resident());
}

json_t* summary_build(const summary_source* source) {
    json_t* root = json_object();
    if (root == NULL) return NULL;
    add_setup(root, source);
    add_quality(root, source);
    add_cost(root, source);
    json_object_set_new(root, "warnings",
                        source->warnings != NULL ? json_incref(source->warnings) : json_array());
    if (source->failed != NULL) summary_set_text(root, "failed", source->failed);
    if (source->signal != 0) set_integer(root, "interrupted_by_signal", source->signal);
    return root;
}

int summary_write(const char* command, const char* path, const json_t* object) {
    char message[512];
    char* text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    char* line = text != NULL ? realloc(text, strlen(text) + 2) : NULL;
    if (line == NULL) {
        free(text);
        fprintf(stderr, "mabd %s: out of memory for the summary\n", command);
        return CLI_FAILED;
    }
    strcat(line, "\n");
    bool written = output_write(path, line, message, sizeof(message));
    free(line);
    if (written) return CLI_OK;
    fprintf(stderr, "mabd %s: %s\n", command, message);
    return CLI_CANNOT_WRITE;
}
