// SPDX-License-Identifier: Apache-2.0
// Springs, nodes, the ground and couplings of a scene.
#include "math/quat.h"
#include "scene/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- points ------------------------------------------------------------------------------------

static bool is_dynamic(const mabd_scene* scene, int32_t body) {
    const mabd_scene_body* bodies = scene->bodies.data;
    return body != MABD_WORLD && bodies[body].motion == MABD_MOTION_DYNAMIC;
}

static mabd_status check_point(const mabd_scene* scene, const mabd_subject* subject,
                               const mabd_spring_point* point) {
    if (point->body != MABD_WORLD && (point->body < 0 || point->body >= scene->bodies.count)) {
        return mabd_reject(subject, "body %d does not exist (the scene has %d)", (int)point->body,
                           (int)scene->bodies.count);
    }
    return mabd_check_finite(subject, "point", 3, point->point);
}

// Place of a point in the start pose.
static mabd_vec3 place_of(const mabd_scene* scene, const mabd_spring_point* point) {
    const mabd_scene_body* bodies = scene->bodies.data;
    const mabd_vec3 x = mabd_v3_load(point->point);
    if (point->body == MABD_WORLD) return x;
    const mabd_scene_body* body = &bodies[point->body];
    return mabd_v3_add(mabd_q_rotate(mabd_q_load(body->rotation), x), mabd_v3_load(body->position));
}

// Append points to a list of them; *first gets the index of the first one.
static mabd_status add_points(mabd_scene* scene, mabd_list* list, int32_t count,
                              const mabd_spring_point* points, int32_t* first) {
    MABD_TRY(mabd_list_reserve(&scene->allocator, list, sizeof *points, count));
    mabd_spring_point* to = (mabd_spring_point*)list->data + list->count;
    for (int32_t i = 0; i < count; i++) to[i] = points[i];
    *first = list->count;
    return MABD_OK;
}

// ---- springs -----------------------------------------------------------------------------------

mabd_spring_def mabd_default_spring_def(void) {
    const mabd_spring_def def = {.law = MABD_SPRING_LINEAR, .cookie = MABD_SPRING_COOKIE};
    return def;
}

// Length through all points in the start pose. Points that follow each other must differ.
static mabd_status start_length(const mabd_scene* scene, const mabd_subject* subject,
                                const mabd_spring_def* def, mabd_real* length) {
    *length = 0;
    for (int32_t i = 1; i < def->point_count; i++) {
        const mabd_vec3 a = place_of(scene, &def->points[i - 1]);
        const mabd_vec3 b = place_of(scene, &def->points[i]);
        const mabd_real way = mabd_v3_norm(mabd_v3_sub(b, a));
        if (!(way > 0)) {
            return mabd_reject(subject, "points %d and %d coincide in the start pose", (int)(i - 1),
                               (int)i);
        }
        *length += way;
    }
    return MABD_OK;
}

static mabd_status check_spring(const mabd_scene* scene, const mabd_subject* subject,
                                const mabd_spring_def* def) {
    bool same = true, moves = false;
    if (def->point_count < 2 || !def->points) {
        return mabd_reject(subject, "needs at least two points");
    }
    for (int32_t i = 0; i < def->point_count; i++) {
        MABD_TRY(check_point(scene, subject, &def->points[i]));
        same &= def->points[i].body == def->points[0].body;
        moves |= is_dynamic(scene, def->points[i].body);
    }
    if (same) return mabd_reject(subject, "all points are on one body");
    if (!moves) return mabd_reject(subject, "no point is on a body that moves by forces");
    MABD_TRY(mabd_check_not_negative(subject, "stiffness", def->stiffness));
    MABD_TRY(mabd_check_not_negative(subject, "damping", def->damping));
    MABD_TRY(mabd_check_not_negative(subject, "length", def->length));
    if ((unsigned)def->law >= MABD_SPRING_LAW_COUNT) {
        return mabd_reject(subject, "unknown law %d", (int)def->law);
    }
    if (def->stiffness > 0 || def->damping > 0) return MABD_OK;
    return mabd_reject(subject, "needs a stiffness or damping above 0");
}

mabd_status mabd_scene_add_spring(mabd_scene* scene, const mabd_spring_def* def,
                                  mabd_error* error) {
    if (!scene || !def) return mabd_fail(error, MABD_ERR_ARG, "add_spring: null argument");
    MABD_TRY(mabd_store_refuse_copies(scene, error));
    if (def->cookie != MABD_SPRING_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "the spring definition does not come from mabd_default_spring_def");
    }
    char label[40];
    snprintf(label, sizeof label, "spring %d", (int)scene->springs.count);
    const mabd_subject subject = mabd_subject_other(label, error);
    mabd_scene_spring spring = {.count = def->point_count,
                                .law = def->law,
                                .stiffness = def->stiffness,
                                .damping = def->damping,
                                .length = def->length};
    mabd_real start;
    MABD_TRY(check_spring(scene, &subject, def));
    MABD_TRY(start_length(scene, &subject, def, &start));
    if (!(def->length > 0)) spring.length = start;
    if (mabd_list_reserve(&scene->allocator, &scene->springs, sizeof spring, 1) != MABD_OK ||
        add_points(scene, &scene->spring_points, def->point_count, def->points, &spring.first) !=
            MABD_OK) {
        return mabd_fail_memory(error, "adding a spring");
    }
    scene->spring_points.count += def->point_count;
    ((mabd_scene_spring*)scene->springs.data)[scene->springs.count++] = spring;
    return MABD_OK;
}

// ---- nodes -------------------------------------------------------------------------------------

mabd_node_def mabd_default_node_def(void) {
    const mabd_node_def def = {.mass = 1, .cookie = MABD_NODE_COOKIE};
    return def;
}

bool mabd_scene_is_node(const mabd_scene* scene, int32_t body) {
    const int32_t* nodes = scene->nodes.data; // rising
    int32_t low = 0, high = scene->nodes.count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (nodes[middle] < body) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < scene->nodes.count && nodes[low] == body;
}

mabd_status mabd_scene_add_node(mabd_scene* scene, const mabd_node_def* def, int32_t* id,
                                mabd_error* error) {
    if (!scene || !def) return mabd_fail(error, MABD_ERR_ARG, "add_node: null argument");
    if (def->cookie != MABD_NODE_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "the node definition does not come from mabd_default_node_def");
    }
    const mabd_subject subject = {
        MABD_SUBJECT_BODY, def->name, scene->bodies.count, -1, NULL, -1, error};
    const mabd_real density = 1000;
    MABD_TRY(mabd_check_positive(&subject, "mass", def->mass));
    const mabd_real radius = (mabd_real)cbrt(3 * def->mass / (4 * MABD_PI * density));
    mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, &radius, density);
    mabd_body_def body = mabd_default_body_def();
    geom.mask = 0; // never touches
    body.name = def->name, body.geom_count = 1, body.geoms = &geom;
    memcpy(body.position, def->position, sizeof body.position);
    memcpy(body.velocity, def->velocity, sizeof body.velocity);
    if (mabd_list_reserve(&scene->allocator, &scene->nodes, sizeof(int32_t), 1) != MABD_OK) {
        return mabd_fail_memory(error, "adding a node");
    }
    int32_t index;
    MABD_TRY(mabd_scene_add_body(scene, &body, &index, error));
    ((int32_t*)scene->nodes.data)[scene->nodes.count++] = index;
    if (id) *id = index;
    return MABD_OK;
}

// ---- ground ------------------------------------------------------------------------------------

mabd_ground_def mabd_default_ground_def(void) {
    const mabd_ground_def def = {
        .normal = {0, 0, 1}, .stiffness = 100000, .damping = 100, .cookie = MABD_GROUND_COOKIE};
    return def;
}

static mabd_status check_ground(const mabd_scene* scene, const mabd_subject* subject,
                                const mabd_ground_def* def) {
    MABD_TRY(mabd_check_finite(subject, "point", 3, def->point));
    MABD_TRY(mabd_check_positive(subject, "stiffness", def->stiffness));
    MABD_TRY(mabd_check_not_negative(subject, "damping", def->damping));
    MABD_TRY(mabd_check_not_negative(subject, "tangent", def->tangent));
    MABD_TRY(mabd_check_not_negative(subject, "friction", def->friction));
    if ((def->friction > 0) != (def->tangent > 0)) {
        return mabd_reject(subject, "friction and tangent go together: both are 0 or both above");
    }
    for (int32_t i = 0; i < def->point_count; i++) {
        MABD_TRY(check_point(scene, subject, &def->points[i]));
        if (is_dynamic(scene, def->points[i].body)) continue;
        return mabd_reject(subject, "point %d is not on a body that moves by forces", (int)i);
    }
    return MABD_OK;
}

mabd_status mabd_scene_set_ground(mabd_scene* scene, const mabd_ground_def* def,
                                  mabd_error* error) {
    if (!scene || !def) return mabd_fail(error, MABD_ERR_ARG, "set_ground: null argument");
    MABD_TRY(mabd_store_refuse_copies(scene, error));
    if (def->cookie != MABD_GROUND_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "the ground definition does not come from mabd_default_ground_def");
    }
    if (def->point_count < 0 || (def->point_count > 0 && !def->points)) {
        return mabd_fail(error, MABD_ERR_ARG, "point_count does not fit points");
    }
    const mabd_subject subject = mabd_subject_other("ground", error);
    mabd_ground_def ground = *def;
    int32_t first;
    MABD_TRY(check_ground(scene, &subject, def));
    MABD_TRY(mabd_check_direction(&subject, "normal", def->normal, ground.normal));
    scene->ground_points.count = 0;
    if (add_points(scene, &scene->ground_points, def->point_count, def->points, &first) !=
        MABD_OK) {
        return mabd_fail_memory(error, "setting the ground");
    }
    scene->ground_points.count = def->point_count;
    ground.points = NULL;
    scene->ground = ground;
    return MABD_OK;
}

// ---- couplings ---------------------------------------------------------------------------------

mabd_coupling_def mabd_default_coupling_def(void) {
    const mabd_coupling_def def = {.cookie = MABD_COUPLING_COOKIE};
    return def;
}

static bool same_axis(const mabd_coupling_axis* a, const mabd_coupling_axis* b) {
    return a->joint == b->joint && a->axis == b->axis;
}

static mabd_status check_axis(const mabd_scene* scene, const mabd_subject* subject,
                              const mabd_coupling_axis* own) {
    const mabd_scene_joint* joints = scene->joints.data;
    if (own->joint < 0 || own->joint >= scene->joints.count) {
        return mabd_reject(subject, "joint %d does not exist (the scene has %d)", (int)own->joint,
                           (int)scene->joints.count);
    }
    const mabd_joint type = joints[own->joint].type;
    if (own->axis < 0 || own->axis >= MABD_AXIS_COUNT || !mabd_check_is_free(type, own->axis)) {
        return mabd_reject(subject, "this axis of a %s joint is locked", mabd_joint_name(type));
    }
    if (mabd_check_is_vector(type, own->axis)) {
        return mabd_reject(subject, "a rotation of a %s joint is a component of a rotation vector",
                           mabd_joint_name(type));
    }
    MABD_TRY(mabd_check_finite(subject, "ratio", 1, &own->ratio));
    return own->ratio != 0 ? MABD_OK : mabd_reject(subject, "the ratio is 0");
}

// The first axis of a coupling follows the others: it has nothing else that determines it.
static mabd_status check_first(const mabd_scene* scene, const mabd_subject* subject,
                               const mabd_coupling_axis* own) {
    const mabd_scene_coupling* couplings = scene->couplings.data;
    const mabd_coupling_axis* others = scene->coupling_axes.data;
    const mabd_scene_joint* joints = scene->joints.data;
    const mabd_scene_axes* axes = scene->axes.data;
    for (int32_t i = 0; i < scene->couplings.count; i++) {
        if (!same_axis(&others[couplings[i].first], own)) continue;
        return mabd_reject(subject, "its first axis is the first one of coupling %d too", (int)i);
    }
    const int32_t k = joints[own->joint].axes;
    if (k >= 0 && axes[k].axis[own->axis].servo_rigid) {
        return mabd_reject(subject, "its first axis has a rigid servo");
    }
    return MABD_OK;
}

static mabd_status check_coupling(const mabd_scene* scene, mabd_subject* subject,
                                  const mabd_coupling_def* def) {
    if (def->axis_count < 2 || def->axis_count > MABD_COUPLING_MAX_AXES || !def->axes) {
        return mabd_reject(subject, "needs 2 to %d axes", MABD_COUPLING_MAX_AXES);
    }
    MABD_TRY(mabd_check_finite(subject, "offset", 1, &def->offset));
    for (int32_t i = 0; i < def->axis_count; i++) {
        subject->part = "axis", subject->part_index = i;
        MABD_TRY(check_axis(scene, subject, &def->axes[i]));
        for (int32_t k = 0; k < i; k++) {
            if (!same_axis(&def->axes[i], &def->axes[k])) continue;
            return mabd_reject(subject, "it is axis %d too", (int)k);
        }
    }
    subject->part = NULL;
    return check_first(scene, subject, &def->axes[0]);
}

mabd_status mabd_scene_add_coupling(mabd_scene* scene, const mabd_coupling_def* def,
                                    mabd_error* error) {
    if (!scene || !def) return mabd_fail(error, MABD_ERR_ARG, "add_coupling: null argument");
    MABD_TRY(mabd_store_refuse_copies(scene, error));
    if (def->cookie != MABD_COUPLING_COOKIE) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "the coupling definition does not come from mabd_default_coupling_def");
    }
    char label[120];
    if (def->name) {
        snprintf(label, sizeof label, "coupling '%.100s'", def->name);
    } else {
        snprintf(label, sizeof label, "coupling %d", (int)scene->couplings.count);
    }
    mabd_subject subject = mabd_subject_other(label, error);
    MABD_TRY(check_coupling(scene, &subject, def));
    const mabd_scene_coupling coupling = {scene->coupling_axes.count, def->axis_count, def->offset};
    if (mabd_list_reserve(&scene->allocator, &scene->couplings, sizeof coupling, 1) != MABD_OK ||
        mabd_list_reserve(&scene->allocator, &scene->coupling_axes, sizeof *def->axes,
                          def->axis_count) != MABD_OK) {
        return mabd_fail_memory(error, "adding a coupling");
    }
    mabd_coupling_axis* axes = scene->coupling_axes.data;
    for (int32_t i = 0; i < def->axis_count; i++) axes[scene->coupling_axes.count++] = def->axes[i];
    ((mabd_scene_coupling*)scene->couplings.data)[scene->couplings.count++] = coupling;
    return MABD_OK;
}
