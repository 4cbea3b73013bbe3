// SPDX-License-Identifier: Apache-2.0
// The scene seen along parallel rays, for shadows: depth for shadows that items cast on each other,
// and a pyramid of coverage for soft shadows on the ground.
#pragma once

#include "render/canvas.h"

#define MABD_LIGHT_LEVELS 12

typedef struct mabd_light_map {
    mabd_view view;
    int32_t size; // texels a side, a power of two
    int32_t levels;
    float* key; // nearest to the light (size x size)
    float*
        cover[MABD_LIGHT_LEVELS]; // level k: coverage and coverage times key (size/2^k squared, 2)
} mabd_light_map;

/// Take the buffers of a map from an arena; size is a power of two.
void mabd_light_map_take(mabd_arena* arena, int32_t size, mabd_light_map* map);
/// A canvas that draws into the map; call mabd_light_map_solid between its solid and its thin pass.
mabd_canvas mabd_light_map_canvas(mabd_light_map* map, const mabd_meshes* meshes,
                                  mabd_raster_vertex* vertices);
/// Compute the coverage of the items drawn so far.
void mabd_light_map_solid(mabd_light_map* map);
/// Fill the pyramid after the last pass.
void mabd_light_map_finish(mabd_light_map* map);

/// Share 0..1 of the light that reaches a surface point p with unit normal n (world axes, scene
/// units).
float mabd_light_map_lit(const mabd_light_map* map, mabd_vec3 p, mabd_vec3 n);
/// Share 0..1 of a light that is hidden at p. An occluder at distance d is blurred over about
/// blur + spread * d. `behind`: the map was taken from the far side of p, so smaller keys hide
/// the light.
float mabd_light_map_soft(const mabd_light_map* map, mabd_vec3 p, float blur, float spread,
                          bool behind);
