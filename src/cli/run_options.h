// SPDX-License-Identifier: Apache-2.0
// The command line of `mabd run`, and of commands with the same options and more.
#pragma once

#include "cli/options.h"

/// A command: its name, texts of --help, and options besides those of `mabd run`.
typedef struct run_command {
    const char *name, *about, *notes;
    int32_t more_count;
    const option* more;         // (more_count)
    const char* const* without; // options of `mabd run` that it lacks, then null; may be null
    int formulation;            // default of --formulation
} run_command;

typedef struct run_options {
    const char* name; // of the command
    const char* scene;
    double time, h;                                          // [s]
    double young;                                            // [Pa], 0 = not given
    double gap_tolerance, contact_tolerance, pile_tolerance; // [m]
    int64_t friction_updates;
    int orbit; // 0 = on, 1 = off
    int sleep; // 0 = off, 1 = on
    double newton_tolerance, energy_guard, baumgarte;
    int bdf2_start;                                        // mabd_integrator, auto = not given
    int coordinates, baumgarte_level;                      // values of the enums of sim.h
    int contacts, redundancy, solver, multipliers, newton; // values of the enums of sim.h
    int cone;                                              // mabd_cone
    int64_t substeps, cone_sides;
    int64_t sweeps, relaxations;
    int joints, correction; // of the impulse formulation, -1 = not given
    double slop, contact_hertz, joint_hertz;
    bool sweeps_given, relaxations_given, slop_given, contact_hertz_given, joint_hertz_given;
    int64_t steps, every, checkpoint_every, threads;
    bool time_given, steps_given, h_given, gap_tolerance_given, contact_tolerance_given,
        pile_tolerance_given, friction_updates_given, newton_tolerance_given, energy_guard_given,
        baumgarte_given, close_joints, quiet, substeps_given, cone_sides_given;
    int integrator, preset, formulation, backend, dual; // values of the enums of sim.h
    const char *out, *json, *checkpoint, *resume;       // files, null = not given
    const char* record;                                 // "contacts,controls", null = not given
    bool record_contacts, record_controls;              // named in it
    size_t memory_limit;                                // bytes, 0 = memory of the machine
    option_texts settings;                              // "NAME=VALUE"
} run_options;

/// Read and check a command line, and check that its output files can be written and overwrite no
/// input. Returns false if the command should not run but return *exit_code: --help or an error was
/// printed.
bool run_options_read(const run_command* command, int argc, char** argv, run_options* options,
                      int* exit_code);
/// Print a usage error; returns its exit code.
int run_options_say(const run_options* options, const char* text);
