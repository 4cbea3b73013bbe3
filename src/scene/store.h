// SPDX-License-Identifier: Apache-2.0
// Storage behind the builder: owned copies of signal tables and height fields, classes
// that bodies share, sets of axes that joints share. Nothing here checks; nothing is committed on
// failure but tables and fields, which the caller drops with mabd_store_drop_tables and
// mabd_store_drop_fields.
#pragma once

#include "scene/check.h"
#include "scene/scene_data.h"

/// Copy `signal` to *owned, cleaned and with a table that belongs to the scene.
mabd_status mabd_store_signal(mabd_scene* scene, const mabd_signal* signal, mabd_signal* owned);
/// Free the signal tables from index `first` on.
void mabd_store_drop_tables(mabd_scene* scene, int32_t first);

/// Copy geoms to the end of scene->geoms, cleaned and with unit quaternions, without counting them;
/// *staged gets their place, null if count is 0. Height fields are still the caller's.
mabd_status mabd_store_stage_geoms(mabd_scene* scene, int32_t count, const mabd_geom* geoms,
                                   const mabd_geom** staged);
/// Make the class of a checked body, whose geoms were staged before.
mabd_scene_class mabd_store_make_class(const mabd_scene* scene, const mabd_body_def* def);
/// Find the index of an equal class, -1 if there is none.
int32_t mabd_store_find_class(const mabd_scene* scene, const mabd_scene_class* wanted);
/// Copy the height fields of the staged geoms of a new class into the scene.
mabd_status mabd_store_own_fields(mabd_scene* scene, const mabd_scene_class* added);
/// Free the height fields from index `first` on.
void mabd_store_drop_fields(mabd_scene* scene, int32_t first);
/// Reserve memory for one more class.
mabd_status mabd_store_reserve_class(mabd_scene* scene);
/// Add a class and its staged geoms, for which memory was reserved. Returns its index.
int32_t mabd_store_commit_class(mabd_scene* scene, const mabd_scene_class* added);

/// True if something acts on an axis; a weight alone does not.
bool mabd_store_axis_acts(const mabd_axis_def* def);
/// Make the set of axes of a checked joint, without axes that have no effect. False if none is left
/// and all weights are 1.
bool mabd_store_make_axes(const mabd_joint_def* def, mabd_scene_axes* axes);
/// True if two sets of axes are equal, signals included.
bool mabd_store_equal_axes(const mabd_scene_axes* a, const mabd_scene_axes* b);
/// True if the last set of axes of the scene equals `axes`.
bool mabd_store_is_last_axes(const mabd_scene* scene, const mabd_scene_axes* axes);
/// Copy the signal tables of a set of axes into the scene.
mabd_status mabd_store_own_axes(mabd_scene* scene, mabd_scene_axes* axes);

/// Add the name of a subject (null = no name) as mabd_names_add does. MABD_ERR_INPUT with a message
/// if it is taken, empty, reserved or has control characters.
mabd_status mabd_store_name(mabd_scene* scene, mabd_names* names, const mabd_subject* subject,
                            int32_t count);
/// Fail with MABD_ERR_ARG if the scene holds copies: it then takes no bodies or joints of its own.
mabd_status mabd_store_refuse_copies(const mabd_scene* scene, mabd_error* error);
/// Write "body 'arm'", "body 3" or "the world" into text (size), for messages. Returns text.
const char* mabd_store_body_label(const mabd_scene* scene, int32_t body, char* text, size_t size);
/// True if a servo, a motor or a motor_velocity acts on these axes: its target can be set from
/// outside.
bool mabd_store_is_controlled(const mabd_scene_axes* axes);
