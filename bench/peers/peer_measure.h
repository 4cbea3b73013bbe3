// SPDX-License-Identifier: Apache-2.0
// Times and judges every engine in the same way. An engine is five functions; measures are computed
// from the poses and velocities that it reports, not by the engine itself:
//
//   gap      largest |x_b + R_b X_b - x_a - R_a X_a| of any joint after any step [m]
//   apart    the first step after which a gap is larger than the distance of the two centres of
//            mass in the closed joint: the bodies are no longer adjacent
//   energy   E = sum of m v^2 / 2 + w' R I R' w / 2 - m g x (for elastic bodies with their elastic
//            energy);  error = largest |E - E_0| after any step / scale
//   scale    sum of m |g| d + kinetic energy at the start, d: from the centre of mass to the
//            nearest anchor in the world (without one: to the centre of all); the energy that is
//            released if all bodies hang straight down
//   failed   a number that is not finite, |E - E_0| > 100 scale, or a failure of the engine
//   rest     largest distance that a body's centre moved in the last PEER_REST seconds, over that
//            time
//   time     processor time of the step alone; the fastest of the repeats of each step, which do
//            the same work, so that other load of the machine counts little; mean over the steps
//            after PEER_WARM_UP. The first repeat is judged
#pragma once

#include "bench/peers/peer_scene.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_WARM_UP    5   // steps that are not timed, if there are more
#define PEER_EXPLOSION  100 // energy gone astray, in units of the scale
#define PEER_REST       0.5 // [s]
#define PEER_TEXT_BYTES 256

/// A variant of an engine and its settings.
typedef struct peer_variant {
    const char* name;
    const char* settings;
} peer_variant;

/// An engine. `create` returns null with a message on failure; the message begins with PEER_SKIP if
/// the variant does not support such a scene.
typedef struct peer_engine {
    const char* name;
    const char* version;
    int32_t variant_count;
    const peer_variant* variants; // (variant_count)
    const void* context;          // data of the engine
    void* (*create)(const void* context, const peer_scene* scene, int32_t variant, char* message,
                    size_t size);
    /// Advance by scene->h. Returns null, or the reason of a failure.
    const char* (*step)(void* world);
    /// Write the states (body_count).
    void (*get)(const void* world, peer_state* states);
    void (*destroy)(void* world);
    /// Largest gap by the measure of the engine [m]; may be null.
    double (*own_gap)(const void* world);
    /// Energy of an engine whose bodies are not rigid and store more than poses show [J]; may be
    /// null.
    double (*own_energy)(const void* world);
} peer_engine;

#define PEER_SKIP "not run: "

/// Poses of the first repeat to be kept; NaN after the end of a run.
typedef struct peer_samples {
    int64_t every;       // steps between two of them, >= 1
    int32_t count;       //
    double* positions;   // (count x bodies x 3) centres of mass [m]
    double* quaternions; // (count x bodies x 4) principal frames; null = not wanted
} peer_samples;

typedef struct peer_limits {
    int32_t repeats;             // >= 1
    double seconds;              // no step begins later than this after the first one
    void (*on_built)(void);      // called when steps begin; may be null
    const peer_samples* samples; // filled by the first repeat; null = none
} peer_limits;

typedef struct peer_result {
    int64_t steps;           // done in the first repeat
    double seconds_per_step; // 0 = none timed
    double build_seconds;    // of the first create
    double max_gap;          // [m]
    double own_gap;          // [m]; negative = not reported
    double energy_error;     // largest |E - E_0| / scale
    double energy_end;       // (E - E_0) / scale at the end: > 0 gained
    double energy_scale;     // [J]
    double rest_speed;       // see `rest` [m/s]; negative: the run is not complete or too short
    int64_t apart_step;      // from 1; -1 = never
    int64_t failed_step;     // from 1; 0 = before the first one; -1 = none
    bool stopped;            // out of time before all steps were done
    char failure[PEER_TEXT_BYTES]; // "" = none; PEER_SKIP: scene not supported
} peer_result;

/// Largest gap of any joint [m].
double peer_gap(const peer_scene* scene, const peer_state* states);
/// True if a joint is apart, as defined in the head of the file.
bool peer_is_apart(const peer_scene* scene, const peer_state* states);
/// Energy E of the states [J], as defined in the head of the file.
double peer_energy(const peer_scene* scene, const peer_state* states);
/// Energy scale [J], as defined in the head of the file; NaN if memory is short.
double peer_energy_scale(const peer_scene* scene);
/// Set all wanted samples to NaN; null is allowed.
void peer_samples_clear(const peer_samples* samples, int32_t bodies);
/// Run one variant and judge it. False if memory is short.
bool peer_measure(const peer_engine* engine, int32_t variant, const peer_scene* scene,
                  const peer_limits* limits, peer_result* result);

#ifdef __cplusplus
}
#endif
