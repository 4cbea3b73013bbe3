// SPDX-License-Identifier: Apache-2.0
// Files: recordings (HDF5) and checkpoints. Uses the public API of model and sim only.
#pragma once

#include "mabd/sim.h"

// ---- recordings --------------------------------------------------------------------------------

typedef struct mabd_recorder mabd_recorder;

/// An array that a recording keeps as dataset `batch/NAME`.
typedef struct mabd_record_array {
    const char* name;
    int32_t rank; // 1 to 3
    int64_t extents[3];
    const double* data;
} mabd_record_array;

/// What a recording keeps beside the state.
typedef struct mabd_record_def {
    const char* scene_text; // JSON of the scene, "" = none
    int32_t setting_count;  // --set values in force
    const mabd_setting* settings;
    const char* command; // how it was made, "" = not known
    int32_t array_count; // of a batch only
    const mabd_record_array* arrays;
} mabd_record_def;

/// Create FILE.h5 for a simulation (an existing file is replaced). docs/guide/recordings.md lists the datasets.
MABD_API mabd_status mabd_recorder_create(const char* path, const mabd_sim* sim,
                                          const mabd_record_def* def, mabd_recorder** recorder,
                                          mabd_error* error);
/// Open an existing recording of an equal model to go on after a resume: frames later than the
/// simulation's current step are dropped, the rest is kept.
MABD_API mabd_status mabd_recorder_reopen(const char* path, const mabd_sim* sim,
                                          mabd_recorder** recorder, mabd_error* error);
/// Append the current state as one frame and flush it: a run killed afterwards keeps it.
MABD_API mabd_status mabd_recorder_append(mabd_recorder* recorder, const mabd_sim* sim,
                                          mabd_error* error);
/// Flush, close, free. Safe on null.
MABD_API mabd_status mabd_recorder_close(mabd_recorder* recorder, mabd_error* error);

typedef struct mabd_recording mabd_recording;

/// Open a recording for reading.
MABD_API mabd_status mabd_recording_open(const char* path, mabd_recording** recording,
                                         mabd_error* error);
MABD_API void mabd_recording_close(mabd_recording* recording);
MABD_API int32_t mabd_recording_frame_count(const mabd_recording* recording);
MABD_API int32_t mabd_recording_body_count(const mabd_recording* recording);
/// Time of a frame [s].
MABD_API mabd_real mabd_recording_time(const mabd_recording* recording, int32_t frame);
/// Geoms of a body, user frame; *count gets how many.
MABD_API const mabd_geom* mabd_recording_geoms(const mabd_recording* recording, int32_t body,
                                               int32_t* count);
/// True if the body is fixed or scripted.
MABD_API bool mabd_recording_is_static(const mabd_recording* recording, int32_t body);
/// Read positions (bodies x 3) and quaternions (bodies x 4) of a frame.
MABD_API mabd_status mabd_recording_read(mabd_recording* recording, int32_t frame,
                                         mabd_real* positions, mabd_real* quaternions,
                                         mabd_error* error);

// ---- checkpoints -------------------------------------------------------------------------------

/// Write the complete state, and `extra_size` bytes of the caller's, to a temporary file beside `path`,
/// sync it and rename it: at any moment `path` is the old or the new checkpoint, whole.
MABD_API mabd_status mabd_checkpoint_write(const char* path, const mabd_sim* sim, const void* extra,
                                           size_t extra_size, mabd_error* error);
/// Restore it. MABD_ERR_INPUT with a message if the file is damaged or of another model or def.
MABD_API mabd_status mabd_checkpoint_read(const char* path, mabd_sim* sim, void* extra,
                                          size_t extra_size, mabd_error* error);
