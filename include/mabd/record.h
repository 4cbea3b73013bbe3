// SPDX-License-Identifier: Apache-2.0
// Files: recordings (HDF5) and checkpoints.
#pragma once

#include "mabd/sim.h"

// ---- recordings --------------------------------------------------------------------------------

/// Writer of one recording.
typedef struct mabd_recorder mabd_recorder;

/// An array of numbers in a file: in a recording it is dataset `batch/NAME`.
typedef struct mabd_record_array {
    const char* name;
    int32_t rank;       // 1 to 3
    int64_t extents[3]; // (rank)
    const double* data; // (extents[0] x ...), row-major
} mabd_record_array;

/// Contents of a recording besides the state.
typedef struct mabd_record_def {
    const char* scene_text; // JSON of the scene, "" = none
    int32_t setting_count;  // parameters of the scene that were changed
    const mabd_setting* settings;
    const char* command; // command line that made it, "" = unknown
    int32_t array_count; // for batches
    const mabd_record_array* arrays;
    bool contacts; // with the contacts of each frame
    bool controls; // with coordinates and rates of all controls (mabd/batch.h) in each frame
} mabd_record_def;

/// Create a recording of a simulation. An existing file is replaced as a whole.
/// docs/guide/recordings.md lists the datasets. No argument but `error` may be null. MABD_ERR_IO
/// with path and reason if the file cannot be written or another recorder writes it. No frame is
/// written. The recorder uses the allocator of the simulation's definition.
MABD_API mabd_status mabd_recorder_create(const char* path, const mabd_sim* sim,
                                          const mabd_record_def* def, mabd_recorder** recorder,
                                          mabd_error* error);
/// Open an existing recording to append frames after a resume. Frames later than the current step
/// of the simulation are dropped. MABD_ERR_INPUT if the file is no recording, or is one of another
/// model or step size; MABD_ERR_IO if it cannot be written.
MABD_API mabd_status mabd_recorder_reopen(const char* path, const mabd_sim* sim,
                                          mabd_recorder** recorder, mabd_error* error);
/// Append the current state as one frame and write it to the file: the frame survives a kill of the
/// process. MABD_ERR_ARG if the simulation has another model than the recorder; MABD_ERR_IO if the
/// frame cannot be written, and then for every later frame.
MABD_API mabd_status mabd_recorder_append(mabd_recorder* recorder, const mabd_sim* sim,
                                          mabd_error* error);
/// Sync and close the file and free the recorder, also on failure. Null is allowed. MABD_ERR_IO if
/// the file is incomplete.
MABD_API mabd_status mabd_recorder_close(mabd_recorder* recorder, mabd_error* error);

/// Reader of one recording.
typedef struct mabd_recording mabd_recording;

/// Open a recording for reading, also one that is still written: it has the frames that it had when
/// it was opened. MABD_ERR_IO if it cannot be read, MABD_ERR_INPUT if it is no recording.
MABD_API mabd_status mabd_recording_open(const char* path, mabd_recording** recording,
                                         mabd_error* error);
/// Close the file and free the reader. Null is allowed.
MABD_API void mabd_recording_close(mabd_recording* recording);
/// Number of frames.
MABD_API int32_t mabd_recording_frame_count(const mabd_recording* recording);
/// Number of bodies in each frame.
MABD_API int32_t mabd_recording_body_count(const mabd_recording* recording);
/// Simulated time of a frame [s], frame from 0 to frame_count - 1.
MABD_API mabd_real mabd_recording_time(const mabd_recording* recording, int32_t frame);
/// Geoms of a body in its user frame; *count gets their number. The array belongs to the recording.
MABD_API const mabd_geom* mabd_recording_geoms(const mabd_recording* recording, int32_t body,
                                               int32_t* count);
/// Lines that show springs, cables and splines of joints; *count gets their number. The array
/// belongs to the recording.
MABD_API const mabd_polyline* mabd_recording_polylines(const mabd_recording* recording,
                                                       int32_t* count);
/// True if the scene had a penalty ground; point and normal (3 each) get a point of its plane [m]
/// and its unit normal, world.
MABD_API bool mabd_recording_ground_plane(const mabd_recording* recording, mabd_real* point,
                                          mabd_real* normal);
/// True if a body is fixed or scripted, so that the simulation does not move it.
MABD_API bool mabd_recording_is_static(const mabd_recording* recording, int32_t body);
/// Read the positions (bodies x 3) [m] and quaternions (bodies x 4) of a frame. MABD_ERR_ARG if
/// there is no such frame, MABD_ERR_IO if it cannot be read.
MABD_API mabd_status mabd_recording_read(mabd_recording* recording, int32_t frame,
                                         mabd_real* positions, mabd_real* quaternions,
                                         mabd_error* error);

// ---- arrays ------------------------------------------------------------------------------------

/// A list of texts in a file.
typedef struct mabd_record_texts {
    const char* name;
    int32_t count;
    const char* const* texts; // (count)
} mabd_record_texts;
/// Write arrays (array_count) and lists of texts (text_count) as datasets of one HDF5 file, with
/// the attributes `created-by`, `version` and `command` (null = ""). An existing file is replaced
/// as a whole. MABD_ERR_ARG, MABD_ERR_IO with path and reason, MABD_ERR_MEMORY.
MABD_API mabd_status mabd_arrays_write(const char* path, const char* command, int32_t array_count,
                                       const mabd_record_array* arrays, int32_t text_count,
                                       const mabd_record_texts* texts, mabd_error* error);

// ---- checkpoints -------------------------------------------------------------------------------

/// Write the complete state of a simulation, and `extra_size` bytes of the caller, as a checkpoint.
/// At any moment `path` is the complete old or the complete new file, also after a kill or a power
/// failure. `extra` may be null if extra_size is 0. MABD_ERR_IO with path and reason.
MABD_API mabd_status mabd_checkpoint_write(const char* path, const mabd_sim* sim, const void* extra,
                                           size_t extra_size, mabd_error* error);
/// Restore a simulation, and `extra_size` bytes of the caller, from a checkpoint. MABD_ERR_INPUT if
/// the file is damaged, has other extra bytes, or is from another model, definition, precision or
/// byte order; then simulation and extra are unchanged. MABD_ERR_IO if it cannot be read.
MABD_API mabd_status mabd_checkpoint_read(const char* path, mabd_sim* sim, void* extra,
                                          size_t extra_size, mabd_error* error);
