// SPDX-License-Identifier: Apache-2.0
// From the words of a command line to a model; see load.h.
#include "cli/load.h"

#include "cli/cli.h"
#include "cli/system.h"

#include <stdlib.h>
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

static void* budget_alloc(void* context, size_t bytes) {
    load_budget* budget = context;
    if (bytes > budget->limit - budget->held) {
        budget->refused = true;
        budget->wanted = bytes > SIZE_MAX - budget->held ? SIZE_MAX : budget->held + bytes;
        return NULL;
    }
    mabd_allocator base = mabd_default_allocator();
    void* memory = base.alloc(base.context, bytes);
    if (memory == NULL) return NULL;
    budget->held += bytes;
    if (budget->held > budget->peak) budget->peak = budget->held;
    return memory;
}

static void budget_free(void* context, void* memory, size_t bytes) {
    load_budget* budget = context;
    mabd_allocator base = mabd_default_allocator();
    if (memory == NULL) return;
    base.free(base.context, memory, bytes);
    budget->held -= bytes;
}

static int refuse_memory(const loaded_scene* loaded, const char* at_least, size_t bytes) {
    char wanted[32], limit[32];
    system_format_bytes((double)bytes, wanted, sizeof(wanted));
    system_format_bytes((double)loaded->budget.limit, limit, sizeof(limit));
    fprintf(stderr, "mabd %s: %s needs %s%s of memory and the limit is %s: use fewer bodies\n",
            loaded->command, loaded->path, at_least, wanted, limit);
    return CLI_BAD_INPUT;
}

// An allocation was refused by the limit, or by the system.
static int say_no_memory(const loaded_scene* loaded) {
    if (loaded->budget.refused) return refuse_memory(loaded, "at least ", loaded->budget.wanted);
    fprintf(stderr, "mabd %s: out of memory for %s\n", loaded->command, loaded->path);
    return CLI_FAILED;
}

int load_say_refused(const loaded_scene* loaded, const mabd_sim_def* def, mabd_status status,
                     const mabd_error* error) {
    fprintf(stderr, "mabd %s: cannot simulate %s: %s\n", loaded->command, loaded->path,
            error->text[0] != '\0' ? error->text : mabd_status_text(status));
    // A missing backend or device is no mistake of the input; a missing formulation or feature is.
    const uint32_t backends = mabd_formulation_get_info(def->formulation).backends;
    const bool missing =
        backends != 0 && def->backend != MABD_BACKEND_CPU &&
        !((backends >> def->backend & 1U) != 0 && mabd_backend_get_info(def->backend).present);
    const bool refused = status == MABD_ERR_UNAVAILABLE && !missing;
    const bool is_input = status == MABD_ERR_ARG || status == MABD_ERR_INPUT || refused;
    return is_input ? CLI_BAD_INPUT : CLI_FAILED;
}

int load_plan(loaded_scene* loaded, const mabd_sim_def* def) {
    mabd_error error = {0};
    const mabd_status status = mabd_sim_get_plan(loaded->model, def, &loaded->plan, &error);
    if (status == MABD_OK) return CLI_OK;
    if (loaded->budget.refused) return say_no_memory(loaded);
    return load_say_refused(loaded, def, status, &error);
}

int load_check_memory(const loaded_scene* loaded) {
    const mabd_sim_plan* plan = &loaded->plan;
    const bool countable = plan->bytes_sim <= SIZE_MAX - plan->bytes_model;
    size_t need = countable ? plan->bytes_model + plan->bytes_sim : SIZE_MAX;
    if (need <= loaded->budget.limit) return CLI_OK;
    return refuse_memory(loaded, "", need);
}

bool load_parse_size(const char* text, size_t* bytes) {
    const char* units = "kMGT";
    char number[32];
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof(number)) return false;
    memcpy(number, text, length + 1);
    double scale = 1, value = 0;
    const char* unit = strchr(units, number[length - 1]);
    if (unit != NULL) {
        for (long k = 0; k <= unit - units; k++) scale *= 1000;
        number[length - 1] = '\0';
    }
    if (!options_real(number, &value) || value <= 0 || value * scale > 1e18) return false;
    *bytes = (size_t)(value * scale);
    return true;
}

// ---- settings and parameters -------------------------------------------------------------------

// Split the "NAME=VALUE" texts into loaded->settings.
static int split_settings(const option_texts* texts, loaded_scene* loaded) {
    size_t total = 1;
    for (int32_t i = 0; i < texts->count; i++) total += strlen(texts->items[i]) + 1;
    loaded->setting_text = malloc(total);
    if (loaded->setting_text == NULL) return say_no_memory(loaded);
    char* at = loaded->setting_text;
    for (int32_t i = 0; i < texts->count; i++) {
        size_t length = strlen(texts->items[i]);
        memcpy(at, texts->items[i], length + 1);
        char* equals = strchr(at, '=');
        if (equals == NULL || equals == at) {
            fprintf(stderr, "mabd %s: --set: expected NAME=VALUE, got '%s'\n", loaded->command,
                    texts->items[i]);
            return CLI_BAD_INPUT;
        }
        *equals = '\0';
        loaded->settings[i].name = at;
        loaded->settings[i].value = equals + 1;
        at += length + 1;
    }
    loaded->setting_count = texts->count;
    return CLI_OK;
}

static int copy_params(const mabd_scene* scene, loaded_scene* loaded) {
    loaded->params = json_array();
    for (int32_t i = 0; loaded->params != NULL && i < mabd_scene_param_count(scene); i++) {
        mabd_param param = mabd_scene_param(scene, i);
        json_t* entry =
            json_pack("{ss ss ss ss ss}", "name", param.name, "value", param.value, "default",
                      param.fallback, "unit", param.unit, "meaning", param.meaning);
        if (json_array_append_new(loaded->params, entry) != 0) return say_no_memory(loaded);
    }
    return loaded->params != NULL ? CLI_OK : say_no_memory(loaded);
}

static int copy_warnings(const mabd_scene* scene, loaded_scene* loaded) {
    const int32_t count = mabd_scene_warnings(scene, 0, NULL);
    loaded->warnings = json_array();
    mabd_warning* all = malloc(((size_t)count + 1) * sizeof(*all));
    bool done = loaded->warnings != NULL && all != NULL;
    if (done) mabd_scene_warnings(scene, count, all);
    for (int32_t i = 0; done && i < count; i++) {
        done = json_array_append_new(loaded->warnings, json_string(all[i].text)) == 0;
    }
    free(all);
    return done ? CLI_OK : say_no_memory(loaded);
}

void load_say_warnings(const loaded_scene* loaded) {
    for (size_t i = 0; i < json_array_size(loaded->warnings); i++) {
        fprintf(stderr, "mabd %s: warning: %s\n", loaded->command,
                json_string_value(json_array_get(loaded->warnings, i)));
    }
}

// ---- scene and model ---------------------------------------------------------------------------

// Print an error about the scene file; returns its exit code.
static int say_error(const loaded_scene* loaded, const mabd_error* error) {
    if (loaded->budget.refused) return say_no_memory(loaded);
    if (error->line > 0) {
        fprintf(stderr, "%s:%d:%d: %s\n", loaded->path, (int)error->line, (int)error->column,
                error->text);
    } else {
        const char* text = error->text[0] != '\0' ? error->text : mabd_status_text(error->status);
        fprintf(stderr, "%s: %s\n", loaded->path, text);
    }
    return error->status == MABD_ERR_MEMORY ? CLI_FAILED : CLI_BAD_INPUT;
}

// Build the model of `scene`; text and params are those of `read`, which came from the file.
static int build_model(const mabd_scene* scene, const mabd_scene* read, loaded_scene* loaded) {
    mabd_error error = {0};
    double start = system_seconds();
    mabd_status status = mabd_model_build(scene, &loaded->allocator, &loaded->model, &error);
    loaded->build_seconds = system_seconds() - start;
    error.status = status;
    if (status != MABD_OK) return say_error(loaded, &error);
    loaded->info = mabd_model_get_info(loaded->model);
    const char* text = mabd_scene_text(read);
    size_t size = strlen(text) + 1;
    loaded->text = malloc(size);
    if (loaded->text == NULL) return say_no_memory(loaded);
    memcpy(loaded->text, text, size);
    const int code = copy_params(read, loaded);
    return code == CLI_OK ? copy_warnings(read, loaded) : code;
}

// Read the scene with its settings and the `extra` ones after them, from `text` if it is not null.
static int read_scene(loaded_scene* loaded, int32_t extra, const char* text, mabd_scene** scene) {
    mabd_error error = {0};
    *scene = NULL;
    if (mabd_scene_create(&loaded->allocator, scene) != MABD_OK) return say_no_memory(loaded);
    const int32_t count = loaded->setting_count + extra;
    const double start = system_seconds();
    const mabd_status status =
        text != NULL
            ? mabd_scene_load_text(*scene, text, strlen(text), count, loaded->settings, &error)
            : mabd_scene_load(*scene, loaded->path, count, loaded->settings, &error);
    loaded->load_seconds += system_seconds() - start;
    error.status = status;
    if (status != MABD_OK) return say_error(loaded, &error);
    if (loaded->close_joints) mabd_scene_set_close_joints(*scene, true, NULL);
    if (loaded->young > 0)
        error.status = mabd_scene_set_young(*scene, (mabd_real)loaded->young, &error);
    return error.status == MABD_OK ? CLI_OK : say_error(loaded, &error);
}

static int read_and_build(loaded_scene* loaded) {
    mabd_scene* scene = NULL;
    int code = read_scene(loaded, 0, NULL, &scene);
    if (code == CLI_OK) code = build_model(scene, scene, loaded);
    mabd_scene_destroy(scene);
    return code;
}

static int add_copy(mabd_scene* batch, const mabd_scene* copy, const loaded_scene* loaded) {
    mabd_error error = {0};
    error.status = mabd_scene_add_copy(batch, copy, &error);
    return error.status == MABD_OK ? CLI_OK : say_error(loaded, &error);
}

// Add the copies in order; if no parameter varies, all are copies of the first one.
static int add_copies(loaded_scene* loaded, const load_copies* copies, const mabd_scene* first,
                      mabd_scene* batch) {
    int code = add_copy(batch, first, loaded);
    for (int32_t i = 1; code == CLI_OK && i < copies->count; i++) {
        if (copies->extra_count == 0) {
            code = add_copy(batch, first, loaded);
            continue;
        }
        mabd_scene* copy = NULL;
        copies->vary(copies->context, i, loaded->settings + loaded->setting_count);
        code = read_scene(loaded, copies->extra_count, mabd_scene_text(first), &copy);
        if (code == CLI_OK) code = add_copy(batch, copy, loaded);
        mabd_scene_destroy(copy);
    }
    return code;
}

static int read_and_build_copies(loaded_scene* loaded, const load_copies* copies) {
    mabd_scene *first = NULL, *batch = NULL;
    if (copies->extra_count > 0) {
        copies->vary(copies->context, 0, loaded->settings + loaded->setting_count);
    }
    int code = read_scene(loaded, copies->extra_count, NULL, &first);
    if (code == CLI_OK && mabd_scene_create(&loaded->allocator, &batch) != MABD_OK) {
        code = say_no_memory(loaded);
    }
    if (code == CLI_OK) code = add_copies(loaded, copies, first, batch);
    if (code == CLI_OK) code = build_model(batch, first, loaded);
    mabd_scene_destroy(batch);
    mabd_scene_destroy(first);
    return code;
}

static int start_loading(const char* command, const char* path, const option_texts* settings,
                         size_t memory_limit, loaded_scene* loaded) {
    const bool close_joints = loaded->close_joints;
    const double young = loaded->young;
    memset(loaded, 0, sizeof(*loaded));
    loaded->close_joints = close_joints;
    loaded->young = young;
    loaded->command = command;
    loaded->path = loaded->path_text;
    loaded->budget.limit = memory_limit > 0 ? memory_limit : system_memory();
    loaded->allocator = (mabd_allocator){budget_alloc, budget_free, &loaded->budget};
    if (!scene_path_find(path, loaded->path_text, sizeof(loaded->path_text))) {
        scene_path_say_missing(path);
        return CLI_BAD_INPUT;
    }
    return split_settings(settings, loaded);
}

int load_scene(const char* command, const char* path, const option_texts* settings,
               size_t memory_limit, loaded_scene* loaded) {
    const int code = start_loading(command, path, settings, memory_limit, loaded);
    return code == CLI_OK ? read_and_build(loaded) : code;
}

int load_batch(const char* command, const char* path, const option_texts* settings,
               const load_copies* copies, size_t memory_limit, loaded_scene* loaded) {
    const int code = start_loading(command, path, settings, memory_limit, loaded);
    return code == CLI_OK ? read_and_build_copies(loaded, copies) : code;
}

void load_release(loaded_scene* loaded) {
    if (loaded->model != NULL) mabd_model_destroy(loaded->model);
    json_decref(loaded->params);
    json_decref(loaded->warnings);
    free(loaded->text);
    free(loaded->setting_text);
    memset(loaded, 0, sizeof(*loaded));
}

// ---- texts -------------------------------------------------------------------------------------

void load_say_file(const char* command, const char* path, mabd_status status,
                   const mabd_error* error) {
    const char* text = error->text[0] != '\0' ? error->text : mabd_status_text(status);
    if (strstr(text, path) != NULL) {
        fprintf(stderr, "mabd %s: %s\n", command, text);
    } else {
        fprintf(stderr, "mabd %s: %s: %s\n", command, path, text);
    }
}

const char* load_format_components(const mabd_model_info* info, char* text, size_t size) {
    size_t used = 0;
    snprintf(text, size, "none");
    for (int k = 0; k < MABD_COMPONENT_COUNT; k++) {
        if (info->components[k] == 0 || used >= size) continue;
        int n = snprintf(text + used, size - used, "%s%d %s", used > 0 ? ", " : "",
                         (int)info->components[k], mabd_component_name((mabd_component)k));
        if (n > 0) used += (size_t)n;
    }
    return text;
}

// Append a word, in single quotes if a shell would change it; each quote inside becomes '\''.
static char* append_word(char* at, const char* word) {
    const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
    size_t length = strlen(word);
    if (length > 0 && strspn(word, plain) == length) {
        memcpy(at, word, length);
        return at + length;
    }
    *at++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(at, "'\\''", 4);
            at += 4;
        } else {
            *at++ = *word;
        }
    }
    *at++ = '\'';
    return at;
}

char* load_join_command(const char* name, int argc, char** argv) {
    size_t size = strlen("mabd ") + strlen(name) + 1;
    for (int i = 1; i < argc; i++) size += 4 * strlen(argv[i]) + 3;
    char* line = malloc(size);
    if (line == NULL) return NULL;
    char* at = line + sprintf(line, "mabd %s", name);
    for (int i = 1; i < argc; i++) {
        *at++ = ' ';
        at = append_word(at, argv[i]);
    }
    *at = '\0';
    return line;
}
