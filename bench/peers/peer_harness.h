// SPDX-License-Identifier: Apache-2.0
// The program around an engine, and the lines of its answers.
//
//   mabd-peer-NAME list                              version and variants
//       version TEXT
//       variant NAME SETTINGS...                     one line each
//   mabd-peer-NAME run VARIANT REPEATS SECONDS [EVERY COUNT]     scene on standard input
//       built                                        when steps begin
//       positions x y z x y z ...                    of all bodies, after EVERY steps, after 2
//       quaternions w x y z w x y z ...              EVERY, COUNT pairs of lines in all; nan where
//       ...                                          there is none
//       steps 200                                    the members of peer_result, one line each
//       ...
//       failure TEXT                                 rest of the line, may be empty; last line
//   Exit codes: 0 if there is an answer, also if the engine failed; 2 bad input; 3 out of memory.
#pragma once

#include "bench/peers/peer_measure.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The members of peer_result that are numbers: name, kind of number.
#define PEER_RESULT_LIST(X)                                                                        \
    X(steps, integer)                                                                              \
    X(seconds_per_step, real)                                                                      \
    X(build_seconds, real)                                                                         \
    X(max_gap, real)                                                                               \
    X(own_gap, real)                                                                               \
    X(energy_error, real)                                                                          \
    X(energy_end, real)                                                                            \
    X(energy_scale, real)                                                                          \
    X(rest_speed, real)                                                                            \
    X(apart_step, integer)                                                                         \
    X(failed_step, integer)                                                                        \
    X(stopped, flag)

/// The main() of a peer program. Returns an exit code.
int peer_program(const peer_engine* engine, int argc, char** argv);
/// Write the lines of the poses of a scene with `bodies` bodies; both kinds must be there.
void peer_samples_write(const peer_samples* samples, int32_t bodies, FILE* out);
/// Read the lines of poses from a text, the wanted ones. False if one is missing or damaged.
bool peer_samples_read(const char* text, int32_t bodies, const peer_samples* samples);
/// Write the lines of a result, and read them back from a text. Reading returns false if a line is
/// missing or damaged: message (size) names it.
void peer_result_write(const peer_result* result, FILE* out);
bool peer_result_read(const char* text, peer_result* result, char* message, size_t size);

#ifdef __cplusplus
}
#endif
