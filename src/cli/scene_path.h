// SPDX-License-Identifier: Apache-2.0
// Where the command finds scenes: a path, or the name of a scene such as `net`.
//
//   1. the path as given
//   2. NAME and NAME.json in each directory of the environment variable MABD_SCENE_PATH (a:b:c)
//   3. NAME and NAME.json in the installed data directory, relative to the program
//   4. NAME and NAME.json in scenes/ of the source tree, if the program is in its build directory
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SCENE_PATH_MAX 4096

/// Find a scene. True: path (size bytes) gets its path. False: path gets the name as given.
/// Names that begin with "/", "./" or "../" are paths and are not looked up elsewhere.
bool scene_path_find(const char* name, char* path, size_t size);
/// Print "NAME: no such scene; looked in: ..." to standard error.
void scene_path_say_missing(const char* name);
