// SPDX-License-Identifier: Apache-2.0
// Sheaves: solid cylinders about y of given mass, density m / (pi R^2 width). Free and driven
// sheaves turn on hinges, one set per strand. Fixed and scripted sheaves, which the chain cannot
// move, are shared by all strands:
//
//      y ^   |   |   |        one cylinder of width + (strands - 1) spacing
//        | ==============
//        |   |   |   |  strands
//
// The block of a tackle consists of two cheeks beside its sheaves, centred at the middle of their
// axes:
//
//       ________________
//      |  o    o    o   |     o axes of the lower sheaves, 4Q apart; runs pass between the cheeks
//       ----------------

#include "generate/pulley_sheaves.h"

mabd_status mabd_generate_pulley_bodies(mabd_scene* scene, mabd_body_def* body,
                                        const mabd_generate_body_batch* batch, int32_t* first,
                                        mabd_error* error) {
    if (batch->n > 1) return mabd_generate_body_batch_add(scene, body, batch, first, error);
    mabd_v3_store(mabd_v3_load(batch->position), body->position);
    return mabd_scene_add_body(scene, body, first, error);
}

mabd_status mabd_generate_pulley_joints(mabd_scene* scene, mabd_joint_def* joint,
                                        const mabd_generate_joint_batch* batch, mabd_error* error) {
    if (batch->n > 1) return mabd_generate_joint_batch_add(scene, joint, batch, error);
    joint->a = batch->a[0];
    joint->b = batch->b[0];
    mabd_v3_store(mabd_v3_load(batch->anchor), joint->anchor);
    mabd_q_store(mabd_q_load(batch->frame), joint->frame);
    return mabd_scene_add_joint(scene, joint, NULL, error);
}

// ---- the block of a tackle ---------------------------------------------------------------------

mabd_real mabd_generate_pulley_cheek(const mabd_pulley_def* def) {
    return def->width / 4;
}

/// Make both cheeks; their total mass is `load`.
static void make_cheeks(const mabd_generate_pulley_path* path, const mabd_material* sheave,
                        mabd_geom cheeks[2]) {
    const mabd_pulley_def* def = path->def;
    const mabd_real thickness = mabd_generate_pulley_cheek(def);
    const mabd_real size[3] = {4 * path->reach * (mabd_real)(def->pulleys - 1) +
                                   (mabd_real)1.2 * def->radius,
                               thickness, (mabd_real)0.6 * def->radius};
    mabd_material material = *sheave;
    material.density = def->load / (2 * size[0] * size[1] * size[2]);
    for (int side = 0; side < 2; side++) {
        cheeks[side] = mabd_generate_material_geom(MABD_SHAPE_BOX, size, &material);
        cheeks[side].position[1] = (side == 0 ? -1 : 1) * (def->width + thickness) / 2;
    }
}

/// Add the joints that let the blocks move along z.
static mabd_status guide_blocks(mabd_scene* scene, const mabd_generate_pulley_path* path,
                                const mabd_generate_body_batch* blocks, int32_t first,
                                mabd_error* error) {
    const mabd_real c45 = (mabd_real)0.70710678118654752440;
    char name[MABD_PART_NAME];
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = mabd_generate_part_name(path->def->name, "guide", name);
    joint.type = MABD_JOINT_PRISMATIC;
    mabd_generate_joint_batch batch;
    MABD_TRY(mabd_generate_joint_batch_create(scene, blocks->n, true, &batch, error));
    for (int32_t s = 0; s < batch.n; s++) {
        mabd_generate_joint_batch_set(&batch, s, MABD_WORLD, first + s,
                                      mabd_v3_load(blocks->position + 3 * (size_t)s));
        mabd_q_store(mabd_q(c45, 0, -c45, 0), batch.frame + 4 * (size_t)s); // x -> z
    }
    mabd_status status = mabd_generate_pulley_joints(scene, &joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}

static mabd_status add_blocks(mabd_scene* scene, const mabd_generate_pulley_path* path,
                              const mabd_material* material, int32_t* first, mabd_error* error) {
    const mabd_pulley_def* def = path->def;
    mabd_geom cheeks[2];
    make_cheeks(path, material, cheeks);
    char name[MABD_PART_NAME];
    mabd_body_def body = mabd_generate_link_body(mabd_generate_part_name(def->name, "block", name),
                                                 cheeks, *material, 0);
    body.geom_count = 2;
    const mabd_vec3 sum = mabd_v3_add(mabd_generate_pulley_axis(path, 0),
                                      mabd_generate_pulley_axis(path, path->sheaves - 2));
    mabd_generate_body_batch batch;
    MABD_TRY(mabd_generate_body_batch_create(scene, def->strands, false, false, &batch, error));
    for (int32_t s = 0; s < batch.n; s++) {
        const mabd_vec3 y = mabd_v3(0, mabd_generate_pulley_strand(path, s), 0);
        mabd_v3_store(mabd_v3_axpy((mabd_real)0.5, sum, y), batch.position + 3 * (size_t)s);
    }
    mabd_status status = mabd_generate_pulley_bodies(scene, &body, &batch, first, error);
    if (status == MABD_OK) status = guide_blocks(scene, path, &batch, *first, error);
    mabd_generate_body_batch_free(scene, &batch);
    return status;
}

// ---- sheaves -----------------------------------------------------------------------------------

static mabd_material sheave_material(const mabd_pulley_def* def) {
    mabd_material material = def->material;
    material.density = def->sheave_mass / (MABD_PI * def->radius * def->radius * def->width);
    material.category = MABD_PULLEY_SHEAVE;
    material.mask = def->material.category;
    return material;
}

/// Compute the middle of the axis of sheave i of a strand, or of a cylinder for all strands [m].
static mabd_vec3 sheave_centre(const mabd_generate_pulley_path* path, int32_t strand, int32_t i) {
    const mabd_real half = (mabd_real)0.5;
    const mabd_real y = path->shared
                            ? half * mabd_generate_pulley_strand(path, path->def->strands - 1)
                            : mabd_generate_pulley_strand(path, strand);
    return mabd_v3_add(mabd_generate_pulley_axis(path, i), mabd_v3(0, y, 0));
}

/// Reverse the script of every second of n scripted bodies.
static mabd_status alternate_script(mabd_scene* scene, int32_t first, int32_t n,
                                    mabd_error* error) {
    if (mabd_list_reserve(&scene->allocator, &scene->scripts, sizeof(mabd_script), 1) != MABD_OK) {
        return mabd_fail_memory(error, "generating bodies and joints");
    }
    mabd_script* scripts = scene->scripts.data;
    mabd_scene_body* bodies = (mabd_scene_body*)scene->bodies.data + first;
    const int32_t back = scene->scripts.count++;
    scripts[back] = scripts[bodies[0].script]; // signal tables belong to the scene
    scripts[back].axis[1] = -scripts[back].axis[1];
    for (int32_t i = 1; i < n; i += 2) bodies[i].script = back;
    return MABD_OK;
}

static mabd_status add_cylinders(mabd_scene* scene, const mabd_generate_pulley_path* path,
                                 const mabd_material* material, int32_t* first, mabd_error* error) {
    const mabd_pulley_def* def = path->def;
    const mabd_real more = path->shared ? mabd_generate_pulley_strand(path, def->strands - 1) : 0;
    const mabd_real size[3] = {def->radius, def->width + more, 0};
    mabd_geom geom = mabd_generate_material_geom(MABD_SHAPE_CYLINDER, size, material);
    mabd_q_store(mabd_q_axis_angle(mabd_v3(1, 0, 0), -MABD_PI / 2), geom.rotation); // z -> y
    char name[MABD_PART_NAME];
    mabd_body_def body = mabd_generate_link_body(mabd_generate_part_name(def->name, "sheave", name),
                                                 &geom, *material, 0);
    const bool scripted = def->angle.kind != MABD_SIGNAL_NONE;
    if (def->fixed) body.motion = MABD_MOTION_FIXED;
    if (scripted) {
        body.motion = MABD_MOTION_SCRIPTED;
        body.script.axis[1] = 1;
        body.script.angle = def->angle;
    }
    mabd_generate_body_batch batch;
    MABD_TRY(mabd_generate_body_batch_create(scene, path->sheaves * path->copies, false, false,
                                             &batch, error));
    for (int32_t i = 0; i < batch.n; i++) {
        mabd_v3_store(sheave_centre(path, i / path->sheaves, i % path->sheaves),
                      batch.position + 3 * (size_t)i);
    }
    mabd_status status = mabd_generate_body_batch_add(scene, &body, &batch, first, error);
    mabd_generate_body_batch_free(scene, &batch);
    if (status != MABD_OK || !scripted || path->sheaves == 1) return status;
    return alternate_script(scene, *first, path->sheaves, error);
}

/// Add the hinges of sheaves `from` to `to` - 1 of every strand, on the block or on the world.
static mabd_status add_hinges(mabd_scene* scene, const mabd_generate_pulley_path* path,
                              int32_t first, int32_t block, int32_t from, int32_t to,
                              mabd_joint_def* joint, mabd_error* error) {
    const mabd_real c45 = (mabd_real)0.70710678118654752440;
    const int32_t n = to - from;
    if (n == 0) return MABD_OK;
    joint->type = MABD_JOINT_HINGE;
    mabd_generate_joint_batch batch;
    MABD_TRY(mabd_generate_joint_batch_create(scene, n * path->copies, true, &batch, error));
    for (int32_t j = 0; j < batch.n; j++) {
        const int32_t strand = j / n, i = from + j % n;
        const bool lower = mabd_generate_pulley_lower(path, i);
        const int32_t base = lower && block != MABD_WORLD ? block + strand : MABD_WORLD;
        mabd_generate_joint_batch_set(&batch, j, base, first + strand * path->sheaves + i,
                                      sheave_centre(path, strand, i));
        const mabd_quat frame = mabd_q(c45, 0, 0, lower ? -c45 : c45); // x -> y, -y if lower
        mabd_q_store(frame, batch.frame + 4 * (size_t)j);
    }
    mabd_status status = mabd_generate_joint_batch_add(scene, joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}

mabd_status mabd_generate_pulley_sheaves(mabd_scene* scene, const mabd_generate_pulley_path* path,
                                         int32_t* first, mabd_error* error) {
    const mabd_pulley_def* def = path->def;
    const mabd_material material = sheave_material(def);
    int32_t block = MABD_WORLD;
    if (def->arrangement == MABD_PULLEY_TACKLE) {
        MABD_TRY(add_blocks(scene, path, &material, &block, error));
    }
    MABD_TRY(add_cylinders(scene, path, &material, first, error));
    if (path->shared) return MABD_OK;
    const mabd_axis_def drive = {
        .motor = def->torque, .motor_velocity = def->speed, .max_force = def->max_torque};
    char name[MABD_PART_NAME];
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = mabd_generate_part_name(def->name, "axle", name);
    MABD_TRY(add_hinges(scene, path, *first, block, path->driven, path->sheaves, &joint, error));
    joint.name = mabd_generate_part_name(def->name, "drive", name);
    joint.axes[MABD_AXIS_RX] = &drive;
    return add_hinges(scene, path, *first, block, 0, path->driven, &joint, error);
}
