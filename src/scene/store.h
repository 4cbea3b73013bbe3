// SPDX-License-Identifier: Apache-2.0
// What the builder keeps of definitions: owned copies of signal tables and height fields, classes
// that bodies share, sets of axes that joints share. Nothing here checks; nothing is committed on
// failure but tables and fields, which the caller drops with mabd_store_drop_tables and
// mabd_store_drop_fields.
#pragma once

#include "scene/check.h"
#include "scene/scene_data.h"

/// *owned = a clean copy of `signal` whose table belongs to the scene.
mabd_status mabd_store_signal(mabd_scene* scene, const mabd_signal* signal, mabd_signal* owned);
/// Free the signal tables from index `first` on.
void mabd_store_drop_tables(mabd_scene* scene, int32_t first);

/// Copy geoms to the end of scene->geoms, cleaned and with unit quaternions, without counting them;
/// *staged gets their place, null if count is 0. Height fields are still the caller's.
mabd_status mabd_store_stage_geoms(mabd_scene* scene, int32_t count, const mabd_geom* geoms,
                                   const mabd_geom** staged);
/// The class of a checked body; its geom_first is that of geoms staged before.
mabd_scene_class mabd_store_make_class(const mabd_scene* scene, const mabd_body_def* def);
/// Index of an equal class, -1 if there is none.
int32_t mabd_store_find_class(const mabd_scene* scene, const mabd_scene_class* wanted);
/// Make the height fields of a new class's staged geoms the scene's.
mabd_status mabd_store_own_fields(mabd_scene* scene, const mabd_scene_class* added);
/// Free the height fields from index `first` on.
void mabd_store_drop_fields(mabd_scene* scene, int32_t first);
/// Room for one more class.
mabd_status mabd_store_reserve_class(mabd_scene* scene);
/// Add the class and its staged geoms; needs the room. Returns its index.
int32_t mabd_store_commit_class(mabd_scene* scene, const mabd_scene_class* added);

/// The set of axes of a checked joint: without those that do nothing. False if none is left.
bool mabd_store_make_axes(const mabd_axis_def* const* defs, mabd_scene_axes* axes);
/// True if two sets say the same.
bool mabd_store_equal_axes(const mabd_scene_axes* a, const mabd_scene_axes* b);
/// True if the last set of the scene is this one.
bool mabd_store_is_last_axes(const mabd_scene* scene, const mabd_scene_axes* axes);
/// Make the tables of the set's signals the scene's.
mabd_status mabd_store_own_axes(mabd_scene* scene, mabd_scene_axes* axes);

/// Add a name (null = none: nothing to do) as mabd_names_add does; MABD_ERR_INPUT with a message if
/// it is taken, empty or reserved.
mabd_status mabd_store_name(mabd_scene* scene, mabd_names* names, const mabd_subject* subject,
                            int32_t count);
/// MABD_ERR_ARG if the scene holds copies: it takes nothing of its own.
mabd_status mabd_store_refuse_copies(const mabd_scene* scene, mabd_error* error);
/// "body 'arm'", "body 3" or "the world", for messages. Returns text.
const char* mabd_store_body_label(const mabd_scene* scene, int32_t body, char* text, size_t size);
