// SPDX-License-Identifier: Apache-2.0
// The commands on derivatives of a run. Each gets its own name as argv[0] and returns an exit code.
#pragma once

int command_gradient(int argc, char** argv);
int command_optimize(int argc, char** argv);
int command_sensitivity(int argc, char** argv);
