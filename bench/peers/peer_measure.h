// SPDX-License-Identifier: Apache-2.0
// One way to time and to judge every engine. An engine is five functions; what is measured comes from the poses
// and velocities that it reports, never from its own opinion:
//
//   gap      largest |x_b + R_b X_b - x_a - R_a X_a| of any joint after any step [m]
//   apart    the first step after which a gap is larger than the distance of the two centres of mass in the closed
//            joint: the bodies are no longer beside each other
//   energy   E = sum of m v^2 / 2 + w' R I R' w / 2 - m g x (of bodies that are elastic: with what they store);  error = largest |E - E_0| after any step / scale
//   scale    sum of m |g| d + kinetic energy at the start, d: from the centre of mass to the nearest anchor in
//            the world (without one: to the centre of all); what would be set free if all hung straight down
//   failed   a number that is not finite, |E - E_0| > 100 scale, or a failure that the engine itself tells
//   time     wall clock around the step alone; of each step the fastest of the repeats, which do the same work,
//            so that what else the machine does counts little; mean over the steps after PEER_WARM_UP. The
//            first repeat is the one that is judged
#pragma once

#include "bench/peers/peer_scene.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_WARM_UP    5   // steps that are not timed, if there are more
#define PEER_EXPLOSION  100 // energy gone astray, in units of the scale
#define PEER_TEXT_BYTES 256

/// What a variant of an engine does, and with which settings.
typedef struct peer_variant {
    const char* name;
    const char* settings;
} peer_variant;

/// One engine. `create` returns null with a message: one that begins with PEER_SKIP if the variant is not made for
/// such a scene.
typedef struct peer_engine {
    const char* name;
    const char* version;
    int32_t variant_count;
    const peer_variant* variants; // (variant_count)
    const void* context;          // the engine's own
    void* (*create)(const void* context, const peer_scene* scene, int32_t variant, char* message,
                    size_t size);
    /// Advance by scene->h. Null, or why it failed.
    const char* (*step)(void* world);
    /// states (body_count)
    void (*get)(const void* world, peer_state* states);
    void (*destroy)(void* world);
    /// The largest gap by the engine's own measure [m]; may be null.
    double (*own_gap)(const void* world);
    /// The energy of an engine whose bodies are not rigid and hold more than poses tell [J]; may be null.
    double (*own_energy)(const void* world);
} peer_engine;

#define PEER_SKIP "not run: "

typedef struct peer_limits {
    int32_t repeats;        // >= 1
    double seconds;         // no step begins later than this after the first one
    void (*on_built)(void); // the world is there, steps begin; may be null
} peer_limits;

typedef struct peer_result {
    int64_t steps;                 // done in the first repeat
    double seconds_per_step;       // 0 = none was timed
    double build_seconds;          // of the first create
    double max_gap;                // [m]
    double own_gap;                // [m]; negative = not told
    double energy_error;           // largest |E - E_0| / scale
    double energy_end;             // (E - E_0) / scale at the end: > 0 gained
    double energy_scale;           // [J]
    int64_t apart_step;            // from 1; -1 = never
    int64_t failed_step;           // from 1; 0 = before the first one; -1 = none
    bool stopped;                  // out of time before all steps were done
    char failure[PEER_TEXT_BYTES]; // "" = none; with PEER_SKIP: not made for such a scene
} peer_result;

/// Largest opening of any joint [m].
double peer_gap(const peer_scene* scene, const peer_state* states);
/// True if a joint is apart, see the head of the file.
bool peer_is_apart(const peer_scene* scene, const peer_state* states);
/// E [J].
double peer_energy(const peer_scene* scene, const peer_state* states);
/// See the head of the file [J]; NaN without memory.
double peer_energy_scale(const peer_scene* scene);
/// Run one variant. False without memory.
bool peer_measure(const peer_engine* engine, int32_t variant, const peer_scene* scene,
                  const peer_limits* limits, peer_result* result);

#ifdef __cplusplus
}
#endif
