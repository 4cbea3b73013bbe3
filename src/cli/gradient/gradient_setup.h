// SPDX-License-Identifier: Apache-2.0
// What `mabd gradient`, `mabd optimize` and `mabd sensitivity` share: from a command line to a
// gradient of a run, names of parameters, messages.
#pragma once

#include "cli/batch_vary.h"
#include "cli/gradient/gradient_copies.h"
#include "cli/load.h"
#include "cli/run_options.h"
#include "mabd/gradient.h"

/// One command line with its scene and gradient. Zero before gradient_run_start.
typedef struct gradient_run {
    run_options options;
    loaded_scene loaded;
    mabd_sim_def def;
    int64_t steps;
    char* command; // command line
    mabd_gradient* gradient;
    // of commands on a loss
    const char *loss_file, *out; // options --loss and --out, null = not given
    mabd_loss* loss;             // null: none was read
    mabd_gradient_def losses;    // its parameters and terms
    batch_vary batch;            // copies 0: the scene alone
    gradient_copies copies;      // of a batch: those of `losses`
    mabd_real* values;           // (parameters) where it starts
} gradient_run;

/// Options of `mabd run` that these commands lack, then null.
extern const char* const gradient_run_without[];

/// First formulation that has gradients.
mabd_formulation gradient_run_formulation(void);
/// Read the command line, load the scene and count the steps. Returns an exit code; *go is false if
/// the command should end with it (--help, or a failure that was reported).
int gradient_run_start(gradient_run* run, const run_command* command, int argc, char** argv,
                       bool* go);
/// Run a command on a loss: read the command line, whose options fill run->loss_file and run->out,
/// load scene and loss, create the gradient, call body(user), and free everything. Returns an exit
/// code.
int gradient_run_on_loss(gradient_run* run, const run_command* command, int argc, char** argv,
                         int (*body)(void* user), void* user);
/// Create the gradient of a definition. Returns an exit code, after a message.
int gradient_run_create(gradient_run* run, const mabd_gradient_def* def);
/// Print scene, formulation, integrator and steps.
void gradient_run_print(const gradient_run* run, FILE* out);
/// Print why a run of the simulation failed; returns the exit code.
int gradient_run_failed(const gradient_run* run, mabd_status status, const mabd_error* error);
/// Free everything.
void gradient_run_release(gradient_run* run);

/// Write the name of a parameter, such as "start-velocity of 'ball', x". Returns text.
const char* gradient_parameter_name(const mabd_model* model, const mabd_parameter* parameter,
                                    char* text, size_t size);
