// SPDX-License-Identifier: Apache-2.0
// Springs, nodes, the ground and couplings of a model.

#include "base/error.h"
#include "math/quat.h"
#include "model/build.h"

#include <string.h>

#define CORNERS 8

// Points of the ground on a body: all corners of its boxes, or the centre of a node.
static size_t corner_count(const mabd_scene* scene, int32_t body) {
    const mabd_scene_body* own = &((const mabd_scene_body*)scene->bodies.data)[body];
    const mabd_scene_class* c = &((const mabd_scene_class*)scene->classes.data)[own->class_index];
    const mabd_geom* geoms = (const mabd_geom*)scene->geoms.data + c->geom_first;
    size_t n = 0;
    if (own->motion != MABD_MOTION_DYNAMIC) return 0;
    if (mabd_scene_is_node(scene, body)) return 1;
    for (int32_t i = 0; i < c->geom_count; i++) {
        if (geoms[i].shape == MABD_SHAPE_BOX) n += CORNERS;
    }
    return n;
}

void mabd_builder_count_springs(const mabd_scene* scene, mabd_model_sizes* n) {
    n->springs = (size_t)scene->springs.count;
    n->spring_points = (size_t)scene->spring_points.count;
    n->nodes = (size_t)scene->nodes.count;
    n->couplings = (size_t)scene->couplings.count;
    n->coupling_axes = (size_t)scene->coupling_axes.count;
    n->grounds = scene->ground.cookie != 0;
    n->ground_points = (size_t)scene->ground_points.count;
    if (n->grounds == 0 || n->ground_points > 0) return;
    for (int32_t i = 0; i < scene->bodies.count; i++) n->ground_points += corner_count(scene, i);
}

static mabd_model_point point_of(const mabd_model* m, const mabd_spring_point* in) {
    const mabd_real identity[4] = {1, 0, 0, 0};
    mabd_model_point out = {.body = in->body, .X = mabd_v3_load(in->point)};
    mabd_mat3 ignored;
    if (in->body == MABD_WORLD) {
        out.body = m->body_count;
    } else {
        const mabd_model_class* c = &m->classes[m->body_class[in->body]];
        mabd_class_to_principal(c, in->point, identity, &out.X, &ignored);
    }
    return out;
}

// Write the corners of the boxes of a body, or the centre of a node; returns how many.
static int32_t write_corners(const mabd_scene* scene, const mabd_model* m, int32_t body,
                             mabd_model_point* out) {
    const mabd_model_class* c = &m->classes[m->body_class[body]];
    int32_t n = 0;
    if (corner_count(scene, body) == 0) return 0;
    if (mabd_scene_is_node(scene, body)) {
        out[0] = (mabd_model_point){.body = body, .X = mabd_v3(0, 0, 0)};
        return 1;
    }
    for (int32_t i = 0; i < c->geom_count; i++) {
        const mabd_geom* geom = &m->geoms[c->geom_first + i];
        if (geom->shape != MABD_SHAPE_BOX) continue;
        for (int k = 0; k < CORNERS; k++) {
            const mabd_vec3 x =
                mabd_v3((k & 1 ? 1 : -1) * geom->size[0] / 2, (k & 2 ? 1 : -1) * geom->size[1] / 2,
                        (k & 4 ? 1 : -1) * geom->size[2] / 2);
            const mabd_vec3 user = mabd_v3_add(mabd_q_rotate(mabd_q_load(geom->rotation), x),
                                               mabd_v3_load(geom->position));
            mabd_spring_point at = {.body = body};
            mabd_v3_store(user, at.point);
            out[n++] = point_of(m, &at);
        }
    }
    return n;
}

static void fill_ground(mabd_model_builder* builder) {
    const mabd_scene* scene = builder->scene;
    const mabd_spring_point* points = scene->ground_points.data;
    mabd_model* m = builder->model;
    if (scene->ground.cookie == 0) return;
    m->ground_count = 1;
    m->ground[0] = (mabd_model_ground){.point = mabd_v3_load(scene->ground.point),
                                       .normal = mabd_v3_load(scene->ground.normal),
                                       .stiffness = scene->ground.stiffness,
                                       .damping = scene->ground.damping,
                                       .tangent = scene->ground.tangent,
                                       .friction = scene->ground.friction};
    for (int32_t i = 0; i < scene->ground_points.count; i++) {
        m->ground_points[m->ground_point_count++] = point_of(m, &points[i]);
    }
    if (scene->ground_points.count > 0) return;
    for (int32_t i = 0; i < m->body_count; i++) {
        m->ground_point_count +=
            write_corners(scene, m, i, m->ground_points + m->ground_point_count);
    }
}

void mabd_builder_springs(mabd_model_builder* builder) {
    const mabd_scene* scene = builder->scene;
    const mabd_scene_spring* springs = scene->springs.data;
    const mabd_spring_point* points = scene->spring_points.data;
    const mabd_scene_coupling* couplings = scene->couplings.data;
    const mabd_coupling_axis* axes = scene->coupling_axes.data;
    mabd_model* m = builder->model;
    for (int32_t i = 0; i < scene->springs.count; i++) {
        m->springs[m->spring_count++] = (mabd_model_spring){.first = springs[i].first,
                                                            .count = springs[i].count,
                                                            .law = (int32_t)springs[i].law,
                                                            .stiffness = springs[i].stiffness,
                                                            .damping = springs[i].damping,
                                                            .length = springs[i].length};
    }
    for (int32_t i = 0; i < scene->spring_points.count; i++) {
        m->spring_points[m->spring_point_count++] = point_of(m, &points[i]);
    }
    if (scene->nodes.count > 0) {
        memcpy(m->nodes, scene->nodes.data, (size_t)scene->nodes.count * sizeof *m->nodes);
    }
    m->node_count = scene->nodes.count;
    for (int32_t i = 0; i < scene->couplings.count; i++) {
        m->couplings[m->coupling_count++] = (mabd_model_coupling){.first = couplings[i].first,
                                                                  .count = couplings[i].count,
                                                                  .offset = couplings[i].offset};
    }
    for (int32_t i = 0; i < scene->coupling_axes.count; i++) {
        m->coupling_axes[m->coupling_axis_count++] = axes[i];
    }
    fill_ground(builder);
}

mabd_status mabd_model_check_ground(const mabd_model* m, bool corners, mabd_error* error) {
    char label[160];
    if (m->ground_count == 0) return MABD_OK;
    for (int32_t i = 0; corners && i < m->body_count; i++) {
        const mabd_model_class* c = &m->classes[m->body_class[i]];
        if (m->body_motion[i] != MABD_MOTION_DYNAMIC || mabd_model_is_node(m, i)) continue;
        for (int32_t k = 0; k < c->geom_count; k++) {
            const mabd_shape shape = m->geoms[c->geom_first + k].shape;
            if (shape == MABD_SHAPE_BOX) continue;
            return mabd_fail_at(error, MABD_ERR_INPUT, i, -1, 0,
                                "ground: %s has a %s, and only boxes and nodes have corners; list "
                                "the points",
                                mabd_model_body_label(m, i, label, sizeof label),
                                mabd_shape_name(shape));
        }
    }
    if (m->ground_point_count > 0) return MABD_OK;
    return mabd_fail(error, MABD_ERR_INPUT, "ground: no body has a box, and no points are listed");
}

bool mabd_model_is_node(const mabd_model* m, int32_t body) {
    int32_t low = 0, high = m->node_count; // rising
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (m->nodes[middle] < body) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < m->node_count && m->nodes[low] == body;
}
