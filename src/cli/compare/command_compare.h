// SPDX-License-Identifier: Apache-2.0
// `mabd compare`.
#pragma once

/// Simulate one scene with several formulations, integrators and steps, and print how their motions
/// differ. argv[0] is "compare". Returns an exit code: 0 also if some cannot do the scene, 3 if
/// none can.
int command_compare(int argc, char** argv);
