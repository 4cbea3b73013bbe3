// SPDX-License-Identifier: Apache-2.0
// Ragdolls: eleven bodies and ten joints, as two tables. The sizes belong to a figure of 1.83 m
// with its origin in the pelvis; x is its front, y its left, z up. The tables hold the left arm and
// leg; the right ones are mirror images (x, -y, z), which mirrors rotation vectors to
// (-rx, ry, -rz):
//
//                     O                head
//      o=====o=====o#####o=====o=====o arms: lower, upper; shoulders beside the torso
//                   #####              torso, waist below
//                   (===)              pelvis
//                   |   |              upper legs, knees, lower legs
//                   |   |
//
// Stops limit the coordinates of the joints, which are 0 in this pose: rotation vectors of ball
// joints in the axes of the figure, angles of hinges about their axes.

#include "generate/field_defaults.h"
#include "generate/tools.h"

#include <math.h>
#include <stdio.h>

static const char* const what = "ragdoll";
static const mabd_real drawn_height = (mabd_real)1.83; // height of the figure of the tables [m]

enum { PELVIS, TORSO, HEAD, UPPER_ARM, LOWER_ARM, UPPER_LEG, LOWER_LEG, PARTS };
enum { WAIST, NECK, SHOULDER, ELBOW, HIP, KNEE, JOINTS };
enum { MIDDLE, LEFT, RIGHT };

/// Sides of a part: the middle, or left and right.
static int first_side(int part) {
    return part <= HEAD ? MIDDLE : LEFT;
}

static int last_side(int part) {
    return part <= HEAD ? MIDDLE : RIGHT;
}

typedef struct figure_part {
    const char* name;
    mabd_shape shape;
    bool across;      // a capsule along y, else along z
    double size[3];   // see MABD_SHAPE_LIST [m]
    double centre[3]; // [m]
} figure_part;

typedef struct figure_joint {
    const char* name;
    int a, b;                  // parts
    double anchor[3];          // [m]
    double axis[3];            // axis of a hinge; zero: a ball joint
    double lower[3], upper[3]; // stops [rad]: rx, ry, rz of a ball, rx of a hinge
} figure_joint;

static const figure_part parts[PARTS] = {
    {"pelvis", MABD_SHAPE_CAPSULE, true, {0.09, 0.14, 0}, {0, 0, 0}},
    {"torso", MABD_SHAPE_BOX, false, {0.2, 0.32, 0.44}, {0, 0, 0.34}},
    {"head", MABD_SHAPE_SPHERE, false, {0.11, 0, 0}, {0, 0, 0.73}},
    {"upper-arm", MABD_SHAPE_CAPSULE, true, {0.045, 0.28, 0}, {0, 0.34, 0.5}},
    {"lower-arm", MABD_SHAPE_CAPSULE, true, {0.04, 0.28, 0}, {0, 0.62, 0.5}},
    {"upper-leg", MABD_SHAPE_CAPSULE, false, {0.065, 0.42, 0}, {0, 0.1, -0.31}},
    {"lower-leg", MABD_SHAPE_CAPSULE, false, {0.05, 0.42, 0}, {0, 0.1, -0.73}},
};

// Torso and head bend forward about +y, legs about -y. A left arm is raised about +x and moved
// forward about -z; a left leg is spread about +x.
static const figure_joint joints[JOINTS] = {
    {"waist", PELVIS, TORSO, {0, 0, 0.105}, {0}, {-0.4, -0.4, -0.6}, {0.4, 0.9, 0.6}},
    {"neck", TORSO, HEAD, {0, 0, 0.59}, {0}, {-0.5, -0.6, -1}, {0.5, 0.7, 1}},
    {"shoulder", TORSO, UPPER_ARM, {0, 0.2, 0.5}, {0}, {-1.4, -0.8, -1.6}, {1.2, 0.8, 0.6}},
    {"elbow", UPPER_ARM, LOWER_ARM, {0, 0.48, 0.5}, {0, 0, -1}, {-0.05}, {2.4}},
    {"hip", PELVIS, UPPER_LEG, {0, 0.1, -0.1}, {0}, {-0.2, -1.8, -0.5}, {0.8, 0.4, 0.5}},
    {"knee", UPPER_LEG, LOWER_LEG, {0, 0.1, -0.52}, {0, 1, 0}, {-0.05}, {2.3}},
};

mabd_ragdoll_def mabd_default_ragdoll_def(void) {
    mabd_ragdoll_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/ragdoll.def"
    return def;
}

static mabd_status check(const mabd_scene* scene, const mabd_ragdoll_def* def, mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "copies", def->copies, 1, error));
    MABD_TRY(mabd_generate_total(what, 11 * (int64_t)def->copies, error));
    MABD_TRY(mabd_generate_count(what, "columns", def->columns, 1, error));
    MABD_TRY(mabd_generate_count(what, "rows", def->rows, 1, error));
    MABD_TRY(mabd_generate_positive(what, "height", def->height, error));
    MABD_TRY(mabd_generate_finite(what, "spacing", &def->spacing, 1, error));
    MABD_TRY(mabd_generate_finite(what, "position", def->position, 3, error));
    if (def->spacing < def->height) { // the span of the arms is smaller
        return mabd_fail(error, MABD_ERR_ARG,
                         "ragdoll: spacing must be at least the height, %g, not %g",
                         (double)def->height, (double)def->spacing);
    }
    return MABD_OK;
}

/// Draw the rotation of figure i about z from the i-th number of the stream that starts at the
/// seed.
static mabd_quat figure_rotation(const mabd_ragdoll_def* def, int32_t i) {
    uint64_t state = def->seed + UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)i;
    return mabd_q_axis_angle(mabd_v3(0, 0, 1), 2 * MABD_PI * mabd_generate_random_real(&state));
}

/// Compute the world position of a point of the tables on figure i [m].
static mabd_vec3 figure_point(const mabd_ragdoll_def* def, int32_t i, const double* point,
                              int side) {
    const mabd_vec3 place =
        mabd_generate_grid_point(def->position, def->spacing, def->columns, def->rows, i);
    const double left = side == RIGHT ? -point[1] : point[1];
    const mabd_vec3 drawn = mabd_v3((mabd_real)point[0], (mabd_real)left, (mabd_real)point[2]);
    return mabd_v3_axpy(def->height / drawn_height, mabd_q_rotate(figure_rotation(def, i), drawn),
                        place);
}

/// Write the name of a part, such as "name/left-arm", and return it; null if name is null.
static const char* side_name(const char* name, const char* part, int side, char* text) {
    static const char* const sides[] = {"", "left-", "right-"};
    char whole[32];
    snprintf(whole, sizeof whole, "%s%s", sides[side], part);
    return mabd_generate_part_name(name, whole, text);
}

// ---- bodies ------------------------------------------------------------------------------------

static mabd_geom part_geom(const mabd_ragdoll_def* def, const figure_part* part) {
    mabd_real size[3];
    for (int k = 0; k < 3; k++) {
        size[k] = (mabd_real)part->size[k] * (def->height / drawn_height);
    }
    mabd_geom geom = mabd_generate_material_geom(part->shape, size, &def->material);
    if (part->across) {
        mabd_q_store(mabd_q_axis_angle(mabd_v3(1, 0, 0), -MABD_PI / 2), geom.rotation); // z -> y
    }
    return geom;
}

/// Add one part of all figures.
static mabd_status add_part(mabd_scene* scene, const mabd_ragdoll_def* def, const figure_part* part,
                            int side, mabd_generate_body_batch* batch, int32_t* first,
                            mabd_error* error) {
    for (int32_t i = 0; i < batch->n; i++) {
        mabd_v3_store(figure_point(def, i, part->centre, side), batch->position + 3 * (size_t)i);
        mabd_q_store(figure_rotation(def, i), batch->rotation + 4 * (size_t)i);
    }
    char name[MABD_PART_NAME];
    mabd_geom geom = part_geom(def, part);
    mabd_body_def body = mabd_generate_link_body(side_name(def->name, part->name, side, name),
                                                 &geom, def->material, 0);
    return mabd_generate_body_batch_add(scene, &body, batch, first, error);
}

/// Add all parts of all figures; first[part][side] gets the first body of each.
static mabd_status add_bodies(mabd_scene* scene, const mabd_ragdoll_def* def, int32_t first[][3],
                              mabd_error* error) {
    mabd_generate_body_batch batch;
    MABD_TRY(mabd_generate_body_batch_create(scene, def->copies, true, false, &batch, error));
    mabd_status status = MABD_OK;
    for (int p = 0; p < PARTS; p++) {
        for (int side = first_side(p); side <= last_side(p); side++) {
            if (status != MABD_OK) break;
            status = add_part(scene, def, &parts[p], side, &batch, &first[p][side], error);
        }
        if (p <= HEAD) first[p][LEFT] = first[p][RIGHT] = first[p][MIDDLE];
    }
    mabd_generate_body_batch_free(scene, &batch);
    return status;
}

// ---- joints ------------------------------------------------------------------------------------

static bool is_hinge(const figure_joint* row) {
    return row->axis[0] != 0 || row->axis[1] != 0 || row->axis[2] != 0;
}

/// Make the stops of a joint: `storage` (3) gets them, `axes` pointers to them.
static void make_stops(const figure_joint* row, int side, mabd_axis_def* storage,
                       const mabd_axis_def** axes) {
    for (int k = 0; k < (is_hinge(row) ? 1 : 3); k++) {
        const bool mirrored = side == RIGHT && !is_hinge(row) && k != 1; // (-rx, ry, -rz)
        const double lower = mirrored ? -row->upper[k] : row->lower[k];
        const double upper = mirrored ? -row->lower[k] : row->upper[k];
        storage[k] =
            (mabd_axis_def){.limited = true, .lower = (mabd_real)lower, .upper = (mabd_real)upper};
        axes[MABD_AXIS_RX + k] = &storage[k];
    }
}

/// Compute the frame of a joint in the axes of the figure; x is along the axis of a hinge.
static mabd_quat joint_frame(const figure_joint* row, int side) {
    if (!is_hinge(row)) return mabd_q(1, 0, 0, 0);
    const double mirror = side == RIGHT ? -1 : 1;
    const mabd_real axis[3] = {(mabd_real)(mirror * row->axis[0]), (mabd_real)row->axis[1],
                               (mabd_real)(mirror * row->axis[2])};
    mabd_real frame[4];
    (void)mabd_frame_from_axes(axis, NULL, frame);
    return mabd_q_load(frame);
}

/// Add one joint of all figures.
static mabd_status add_joint(mabd_scene* scene, const mabd_ragdoll_def* def,
                             const figure_joint* row, int side, int32_t first[][3],
                             mabd_generate_joint_batch* batch, mabd_error* error) {
    const mabd_quat frame = joint_frame(row, side);
    for (int32_t i = 0; i < batch->n; i++) {
        mabd_generate_joint_batch_set(batch, i, first[row->a][side] + i, first[row->b][side] + i,
                                      figure_point(def, i, row->anchor, side));
        mabd_q_store(mabd_q_product(figure_rotation(def, i), frame), batch->frame + 4 * (size_t)i);
    }
    char name[MABD_PART_NAME];
    mabd_axis_def stops[3];
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = side_name(def->name, row->name, side, name);
    joint.type = is_hinge(row) ? MABD_JOINT_HINGE : MABD_JOINT_BALL;
    make_stops(row, side, stops, joint.axes);
    return mabd_generate_joint_batch_add(scene, &joint, batch, error);
}

static mabd_status add_joints(mabd_scene* scene, const mabd_ragdoll_def* def, int32_t first[][3],
                              mabd_error* error) {
    mabd_generate_joint_batch batch;
    MABD_TRY(mabd_generate_joint_batch_create(scene, def->copies, true, &batch, error));
    mabd_status status = MABD_OK;
    for (int j = 0; j < JOINTS; j++) {
        for (int side = first_side(joints[j].b); side <= last_side(joints[j].b); side++) {
            if (status != MABD_OK) break;
            status = add_joint(scene, def, &joints[j], side, first, &batch, error);
        }
    }
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}

mabd_status mabd_generate_ragdoll(mabd_scene* scene, const mabd_ragdoll_def* def,
                                  mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    const int64_t n = def->copies;
    MABD_TRY(mabd_generate_reserve(scene, 11 * n, 10 * n, error));
    int32_t first[PARTS][3] = {{0}};
    MABD_TRY(add_bodies(scene, def, first, error));
    return add_joints(scene, def, first, error);
}
