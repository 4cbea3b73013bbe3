// SPDX-License-Identifier: Apache-2.0
// Drawing pieces on a canvas: each is culled, drawn as triangles at a level of detail that fits its
// size on the screen, or passed on as a thin line.
#pragma once

#include "render/mesh.h"
#include "render/piece.h"
#include "render/raster.h"

/// Lines are at least this wide [pixels], so that they stay visible.
#define MABD_THIN_VISIBLE 0.75f

typedef enum mabd_canvas_pass { MABD_PASS_SOLID, MABD_PASS_THIN } mabd_canvas_pass;

typedef struct mabd_canvas mabd_canvas;
/// Called for a thin piece (camera coordinates); it covers `line`.
typedef void mabd_canvas_thin(const mabd_canvas* canvas, const mabd_piece* piece, int32_t item,
                              const mabd_line* line);

struct mabd_canvas {
    mabd_view view;
    mabd_target target;
    int32_t samples;  // per pixel and axis
    float error;      // largest distance of outlines from round ones [samples]
    float thin_width; // pieces thinner than this [pixels] are lines drawn by coverage
    const mabd_meshes* meshes;
    mabd_raster_vertex* vertices; // scratch (meshes->largest)
    mabd_canvas_thin* thin;
    void* context; // of thin
};

/// Draw a piece (world axes, scene units) if it belongs to the pass. Returns true if a part of it
/// belongs to the other pass.
bool mabd_canvas_draw(const mabd_canvas* canvas, mabd_canvas_pass pass, const mabd_piece* piece,
                      int32_t item);
