// SPDX-License-Identifier: Apache-2.0
// From a command line to a model: scene file, --set values, memory budget, errors.
#pragma once

#include "cli/options.h"
#include "cli/scene_path.h"
#include "mabd/mabd.h"

#include <jansson.h>

/// Bytes held by the library. An allocation beyond the limit is refused, so that a scene that is
/// too large ends in a message instead of swapping.
typedef struct load_budget {
    size_t held, peak, limit;
    size_t wanted; // held and requested when an allocation was refused
    bool refused;  // an allocation was refused
} load_budget;

/// A scene and its model. Must not move while the model or a simulation exists.
typedef struct loaded_scene {
    const char* command; // "run", for messages
    bool close_joints;   // the caller sets it: close joints at the start, whatever the scene says
    double young;        // the caller sets it: scene-wide Young's modulus [Pa]; 0 = the scene's
    const char* path;    // where the scene was found
    char path_text[SCENE_PATH_MAX];
    mabd_setting settings[2 * OPTION_TEXTS_MAX]; // of all copies, then of the current copy
    int32_t setting_count;
    load_budget budget;
    mabd_allocator allocator; // counts in budget
    char* text;               // JSON of the scene
    json_t* params;           // array of {name, value, default, unit, meaning}
    json_t* warnings;         // texts of mabd_scene_warnings; of copies: those of the first one
    mabd_model* model;
    mabd_model_info info;
    mabd_sim_plan plan; // after load_plan
    double load_seconds, build_seconds;
    char* setting_text; // memory of settings
} loaded_scene;

/// Find the scene `path` (scene_path.h), load it with the "NAME=VALUE" texts and build its model.
/// memory_limit [bytes], 0 = the memory of the machine. The caller sets loaded->close_joints and
/// loaded->young before. Errors go to standard error as FILE:LINE:COLUMN: text. Returns 0 or an
/// exit code; call load_release in either case.
int load_scene(const char* command, const char* path, const option_texts* settings,
               size_t memory_limit, loaded_scene* loaded);
/// Copies of a scene that differ in some settings.
typedef struct load_copies {
    int32_t count;       // > 0
    int32_t extra_count; // settings of a copy besides the common ones
    /// Fill settings (extra_count) of a copy; the texts are valid until the next call.
    void (*vary)(void* context, int32_t copy, mabd_setting* settings);
    void* context;
} load_copies;
/// Find and load the scene `path` and build a model of its copies (mabd/batch.h). memory_limit,
/// errors and the return value are those of load_scene. settings and params of `loaded` are those
/// of the first copy, without the extra settings.
int load_batch(const char* command, const char* path, const option_texts* settings,
               const load_copies* copies, size_t memory_limit, loaded_scene* loaded);
/// Free the model and the texts of a scene, also after a failed load.
void load_release(loaded_scene* loaded);
/// Print the warnings about a loaded scene on standard error, as "mabd COMMAND: warning: text".
void load_say_warnings(const loaded_scene* loaded);
/// Plan a simulation of the model into loaded->plan. Returns 0 or an exit code, after a message.
int load_plan(loaded_scene* loaded, const mabd_sim_def* def);
/// Print why a definition or model was refused by the library; returns the exit code: 2 for bad
/// input, 3 if a backend or device is missing or memory ran out.
int load_say_refused(const loaded_scene* loaded, const mabd_sim_def* def, mabd_status status,
                     const mabd_error* error);
/// Refuse (message, CLI_BAD_INPUT) if the planned simulation exceeds the memory limit. Needs
/// load_plan.
int load_check_memory(const loaded_scene* loaded);
/// Print an error about a file as "mabd COMMAND: PATH: text", without PATH if the text has it.
void load_say_file(const char* command, const char* path, mabd_status status,
                   const mabd_error* error);
/// Write the components by class, such as "4 chain, 1 graph". Returns text.
const char* load_format_components(const mabd_model_info* info, char* text, size_t size);
/// Parse a size such as "500M", "2G", "1e9" into bytes; false if the text is no size > 0.
bool load_parse_size(const char* text, size_t* bytes);
/// Join a command line to one line that a shell reads back; `name` is the command. To be freed;
/// null if memory is short.
char* load_join_command(const char* name, int argc, char** argv);
