// SPDX-License-Identifier: Apache-2.0
// The command line of `mabd run` and similar commands; see run_options.h.
#include "cli/run_options.h"

#include "cli/cli.h"
#include "cli/load.h"
#include "cli/path_use.h"
#include "cli/system.h"
#include "mabd/sim.h"

#include <string.h>

#define X(name, text) text,
static const char* const FORMULATIONS[] = {MABD_FORMULATION_LIST(X) NULL};
static const char* const BACKENDS[] = {MABD_BACKEND_LIST(X) NULL};
static const char* const INTEGRATORS[] = {MABD_INTEGRATOR_LIST(X) NULL};
static const char* const ON_OFF[] = {"on", "off", NULL};
static const char* const OFF_ON[] = {"off", "on", NULL};
static const char* const PRESETS[] = {MABD_PRESET_LIST(X) NULL};
static const char* const DUALS[] = {MABD_DUAL_LIST(X) NULL};
static const char* const CONTACT_PROBLEMS[] = {MABD_CONTACT_PROBLEM_LIST(X) NULL};
static const char* const COORDINATES[] = {MABD_COORDINATES_LIST(X) NULL};
static const char* const BAUMGARTE_LEVELS[] = {MABD_BAUMGARTE_LIST(X) NULL};
static const char* const IMPULSE_JOINTS[] = {MABD_IMPULSE_JOINTS_LIST(X) NULL};
static const char* const CORRECTIONS[] = {MABD_CORRECTION_LIST(X) NULL};
static const char* const REDUNDANCIES[] = {MABD_REDUNDANCY_LIST(X) NULL};
static const char* const SOLVERS[] = {MABD_SOLVER_LIST(X) NULL};
static const char* const MULTIPLIERS[] = {MABD_MULTIPLIERS_LIST(X) NULL};
static const char* const NEWTONS[] = {MABD_NEWTON_LIST(X) NULL};
static const char* const CONES[] = {MABD_CONE_LIST(X) NULL};
#undef X

#define OPTIONS_MAX 64

// List the options of all such commands; *memory gets the text of --memory-limit. Returns their
// number.
static int32_t list_options(run_options* o, const char** memory, option* list) {
    const option options[] = {
        option_real("time", "T", OPTION_NOT_NEGATIVE, &o->time, &o->time_given,
                    "simulate until this time [s]"),
        option_integer("steps", "N", OPTION_NOT_NEGATIVE, 0, &o->steps, &o->steps_given,
                       "simulate this many steps"),
        option_real("h", "H", OPTION_POSITIVE, &o->h, &o->h_given,
                    "time step [s] (default: the scene's, else 0.01)"),
        option_alias(mabd_integrator_find,
                     option_choice("integrator", INTEGRATORS, &o->integrator,
                                   "time integration (default: the formulation's own)")),
        option_choice("sleep", OFF_ON, &o->sleep,
                      "do not step a scene in which everything rests (affine; default off)"),
        option_choice("orbit", ON_OFF, &o->orbit,
                      "correct the paths of centres that whirl (default on)"),
        option_real("newton-tolerance", "M", OPTION_POSITIVE, &o->newton_tolerance,
                    &o->newton_tolerance_given,
                    "largest residual of a Newton iteration [m], [rad] (quaternion), or its last "
                    "increment [rad] (redmax; default: the preset's)"),
        option_real("energy-guard", "E", OPTION_NOT_NEGATIVE, &o->energy_guard,
                    &o->energy_guard_given,
                    "energy that a step may gain, relative (redmax; 0 = off, default 1e-4)"),
        option_real(
            "baumgarte", "A", OPTION_NOT_NEGATIVE, &o->baumgarte, &o->baumgarte_given,
            "part of the row errors that a step takes away, 0 to 1 (quaternion with "
            "semi-implicit, default 1; redmax with maximal, default 0.5), or a substep (impulse "
            "with correction baumgarte, default 0.2)"),
        option_choice("baumgarte-level", BAUMGARTE_LEVELS, &o->baumgarte_level,
                      "where it acts (redmax with maximal; default velocity)"),
        option_choice("coordinates", COORDINATES, &o->coordinates,
                      "those of joints, or six velocities of each body (redmax; default reduced)"),
        option_choice("bdf2-start", INTEGRATORS, &o->bdf2_start,
                      "first step of bdf2: trbdf2, sdirk2, euler (quaternion; default trbdf2)"),
        option_choice("contacts", CONTACT_PROBLEMS, &o->contacts,
                      "forces of contacts: Coulomb's law, or one convex problem (redmax; default "
                      "staggered)"),
        option_choice("redundancy", REDUNDANCIES, &o->redundancy,
                      "redundant rows: kept, or left out after a dense analysis (quaternion; "
                      "default proximal)"),
        option_choice("solver", SOLVERS, &o->solver,
                      "equations for poses (quaternion; default auto: from the rows alone where "
                      "every axis is driven)"),
        option_choice("multipliers", MULTIPLIERS, &o->multipliers,
                      "joint forces where rows are redundant (quaternion; default least-norm)"),
        option_choice(
            "newton", NEWTONS, &o->newton,
            "matrix of the Newton iteration: exact, symmetric (quaternion; default exact), exact, "
            "frozen (variational; default by the joints)"),
        option_integer("substeps", "N", OPTION_NOT_NEGATIVE, 0, &o->substeps, &o->substeps_given,
                       "equal parts of every step, 0 = as its forces need (variational, default 0; "
                       "impulse, default: the preset's)"),
        option_choice("cone", CONES, &o->cone,
                      "cone of friction: circular, pyramid (variational; default circular)"),
        option_integer("cone-sides", "N", OPTION_POSITIVE, 0, &o->cone_sides, &o->cone_sides_given,
                       "sides of a pyramid: 4, 6, 8 (variational; default 4)"),
        option_integer("sweeps", "N", OPTION_NOT_NEGATIVE, 0, &o->sweeps, &o->sweeps_given,
                       "over all rows in a substep (impulse; default: the preset's)"),
        option_integer("relaxations", "N", OPTION_NOT_NEGATIVE, 0, &o->relaxations,
                       &o->relaxations_given,
                       "sweeps that end the velocities of corrections (impulse; default 1)"),
        option_choice("joints", IMPULSE_JOINTS, &o->joints,
                      "rows of joints: in sweeps, or all at once (impulse; default: the preset's)"),
        option_choice("correction", CORRECTIONS, &o->correction,
                      "of errors of positions: soft rows, rigid rows, or none (impulse; default "
                      "soft)"),
        option_real("slop", "M", OPTION_NOT_NEGATIVE, &o->slop, &o->slop_given,
                    "overlap of contacts that is left alone [m] (impulse; default 5e-4)"),
        option_real("contact-hertz", "F", OPTION_POSITIVE, &o->contact_hertz,
                    &o->contact_hertz_given, "of soft contacts [1/s] (impulse; default 30)"),
        option_real("joint-hertz", "F", OPTION_POSITIVE, &o->joint_hertz, &o->joint_hertz_given,
                    "of soft joints [1/s] (impulse; default 60)"),
        option_choice("preset", PRESETS, &o->preset, "tolerances (default balanced)"),
        option_choice("dual", DUALS, &o->dual, "solver of branches and cycles (default auto)"),
        option_real("gap-tolerance", "M", OPTION_POSITIVE, &o->gap_tolerance,
                    &o->gap_tolerance_given,
                    "largest joint gap left by an iterative solver [m] (default: the preset's)"),
        option_real("contact-tolerance", "M", OPTION_POSITIVE, &o->contact_tolerance,
                    &o->contact_tolerance_given,
                    "largest residual of the contact law [m] (default: the preset's)"),
        option_real(
            "pile-tolerance", "M", OPTION_POSITIVE, &o->pile_tolerance, &o->pile_tolerance_given,
            "the same of piles of bodies, where larger [m] (affine; default: the preset's)"),
        option_integer(
            "friction-updates", "N", OPTION_NOT_NEGATIVE, 0, &o->friction_updates,
            &o->friction_updates_given,
            "updates of friction bounds by normal forces per step (default: the preset's)"),
        option_alias(mabd_formulation_find,
                     option_choice("formulation", FORMULATIONS, &o->formulation,
                                   "equations of motion and method (mabd info --formulations)")),
        option_choice("backend", BACKENDS, &o->backend, "where it runs (default cpu)"),
        option_list("set", "NAME=VALUE", &o->settings,
                    "change a parameter of the scene, repeatable (mabd info lists them)"),
        option_young(&o->young),
        option_flag("close-joints", &o->close_joints,
                    "move bodies by the least motion that closes all joints at the start"),
        option_short('o', option_text("out", "FILE.h5", &o->out, "record the motion (HDF5)")),
        option_text("record", "LIST", &o->record,
                    "what to record besides states: contacts, controls, or both with a comma"),
        option_integer("every", "K", OPTION_POSITIVE, 0, &o->every, NULL,
                       "record every K-th step (default 1)"),
        option_text("json", "FILE|-", &o->json, "write the summary as JSON; - = standard output"),
        option_text("checkpoint", "FILE", &o->checkpoint,
                    "write checkpoints, from which a run can continue"),
        option_integer("checkpoint-every", "K", OPTION_POSITIVE, 0, &o->checkpoint_every, NULL,
                       "steps between checkpoints (default 1000)"),
        option_text("resume", "FILE", &o->resume, "continue from a checkpoint of the same command"),
        option_integer("threads", "N", OPTION_POSITIVE, 4096, &o->threads, NULL,
                       "threads (default: all processors); results do not depend on it"),
        option_text("memory-limit", "SIZE", memory,
                    "largest memory, such as 500M or 2G (default: that of the machine)"),
        option_flag("quiet", &o->quiet, "print only errors and warnings"),
    };
    const size_t count = sizeof(options) / sizeof(options[0]);
    _Static_assert(sizeof(options) / sizeof(options[0]) < OPTIONS_MAX,
                   "room for the options of other commands");
    memcpy(list, options, sizeof(options));
    return (int32_t)count;
}

// Leave out the options that a command lacks; returns how many are left.
static int32_t leave_out(const char* const* names, int32_t count, option* list) {
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        size_t k = 0;
        while (names != NULL && names[k] != NULL && strcmp(names[k], list[i].name) != 0) k++;
        if (names == NULL || names[k] == NULL) list[kept++] = list[i];
    }
    return kept;
}

static bool parse(const run_command* of, int argc, char** argv, run_options* o, const char** memory,
                  int* code) {
    const char* names[] = {"SCENE"};
    option options[OPTIONS_MAX];
    int32_t count = 0;
    for (; count < of->more_count; count++) options[count] = of->more[count];
    count += leave_out(of->without, list_options(o, memory, options + count), options + count);
    const option_command command = {.name = of->name,
                                    .about = of->about,
                                    .argument_count = 1,
                                    .argument_names = names,
                                    .arguments = &o->scene,
                                    .option_count = count,
                                    .options = options,
                                    .notes = of->notes};
    return options_start(&command, argc, argv, code);
}

int run_options_say(const run_options* options, const char* text) {
    fprintf(stderr, "mabd %s: %s\nTry 'mabd %s --help'.\n", options->name, text, options->name);
    return CLI_BAD_INPUT;
}

// A file that cannot be written, or that would overwrite another one, is refused before the run. A
// run may replace the checkpoint that it resumes from.
static int check_files(const run_options* o) {
    const bool same =
        o->resume != NULL && o->checkpoint != NULL && path_use_same(o->resume, o->checkpoint);
    const path_use uses[] = {
        {PATH_SCENE, "SCENE", o->scene},   {PATH_READ, "--resume", same ? NULL : o->resume},
        {PATH_WRITTEN, "--json", o->json}, {PATH_WRITTEN, "--checkpoint", o->checkpoint},
        {PATH_WRITTEN, "--out", o->out},
    };
    return path_use_check(o->name, sizeof(uses) / sizeof(uses[0]), uses);
}

// Read the list of --record; false if it has another word.
static bool read_record(run_options* o) {
    for (const char* at = o->record; at != NULL && *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (length == 8 && strncmp(at, "contacts", length) == 0) {
            o->record_contacts = true;
        } else if (length == 8 && strncmp(at, "controls", length) == 0) {
            o->record_controls = true;
        } else {
            return false;
        }
        at += length;
        at += *at == ',';
    }
    return o->record == NULL || o->record_contacts || o->record_controls;
}

bool run_options_read(const run_command* command, int argc, char** argv, run_options* options,
                      int* exit_code) {
    const char* memory = NULL;
    *options = (run_options){.every = 1, .checkpoint_every = 1000, .threads = system_processors()};
    options->preset = MABD_PRESET_BALANCED;
    options->joints = options->correction = -1;
    options->formulation = command->formulation;
    options->name = command->name;
    if (!parse(command, argc, argv, options, &memory, exit_code)) return false;
    if (options->time_given && options->steps_given) {
        *exit_code = run_options_say(options, "give --time or --steps, not both");
    } else if (memory != NULL && !load_parse_size(memory, &options->memory_limit)) {
        *exit_code =
            run_options_say(options, "--memory-limit: expected a size > 0 such as 500M or 2G");
    } else if (!read_record(options)) {
        *exit_code =
            run_options_say(options, "--record: expected contacts, controls, or contacts,controls");
    } else if (options->record != NULL && options->out == NULL) {
        *exit_code = run_options_say(options, "--record needs --out");
    } else {
        *exit_code = check_files(options);
    }
    return *exit_code == CLI_OK;
}
