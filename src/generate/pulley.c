// SPDX-License-Identifier: Apache-2.0
// Pulleys: chains over sheaves, with loads. pulley_path.c computes the geometry; this file adds the
// bodies and their joints, for all strands at once:
//
//   sheaves, blocks    cylinders about y and their supports   (pulley_sheaves.c)
//   links              strand by strand, from the first end on
//   ends               cubes below the free ends, held by ball joints
//
// The angle of a sheave is positive where it moves the chain from its first to its last end: about
// +y if the chain runs over the sheave, about -y if it runs under it.

#include "generate/field_defaults.h"
#include "generate/pulley_sheaves.h"

#include <math.h>

static const char* const what = "pulley";
static const mabd_real iron = 7870; // [kg/m^3]

mabd_pulley_def mabd_default_pulley_def(void) {
    mabd_pulley_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/pulley.def"
    return def;
}

// ---- checks ------------------------------------------------------------------------------------

static mabd_status check_counts(const mabd_pulley_def* def, mabd_error* error) {
    const bool winch = def->arrangement == MABD_PULLEY_WINCH;
    if (!winch) MABD_TRY(mabd_generate_count(what, "pulleys", def->pulleys, 1, error));
    MABD_TRY(mabd_generate_count(what, "wrapped", def->wrapped, 2, error));
    MABD_TRY(mabd_generate_count(what, "left", def->left, winch ? 1 : 0, error));
    MABD_TRY(mabd_generate_count(what, "inner", def->inner, 0, error));
    MABD_TRY(mabd_generate_count(what, "right", def->right, 0, error));
    MABD_TRY(mabd_generate_count(what, "strands", def->strands, 1, error));
    MABD_TRY(mabd_generate_total(what, 2 * (int64_t)def->pulleys, error));
    MABD_TRY(mabd_generate_total(what, (int64_t)def->wrapped + def->inner, error));
    // Per strand: links, fewer sheaves than links, two ends, a block, and as many joints.
    const int64_t links = mabd_generate_pulley_links(def);
    MABD_TRY(mabd_generate_total(what, links, error));
    return mabd_generate_total(what, (2 * links + 8) * def->strands, error);
}

static mabd_status check_mass(const char* field, mabd_real value, mabd_error* error) {
    if (isfinite(value) && value >= 0) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG, "pulley: %s must not be negative, not %g", field,
                     (double)value);
}

static mabd_status check_sizes(const mabd_pulley_def* def, mabd_error* error) {
    MABD_TRY(mabd_generate_positive(what, "radius", def->radius, error));
    MABD_TRY(mabd_generate_positive(what, "width", def->width, error));
    MABD_TRY(mabd_generate_positive(what, "sheave_mass", def->sheave_mass, error));
    MABD_TRY(mabd_generate_positive(what, "link_radius", def->link_radius, error));
    MABD_TRY(mabd_generate_finite(what, "position", def->position, 3, error));
    MABD_TRY(check_mass("load", def->load, error));
    MABD_TRY(check_mass("counter", def->counter, error));
    if (def->width < 2 * def->link_radius) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "pulley: links of link_radius %g do not fit on sheaves of width %g",
                         (double)def->link_radius, (double)def->width);
    }
    if (def->arrangement == MABD_PULLEY_TACKLE) {
        MABD_TRY(mabd_generate_positive(what, "load, the mass of the block,", def->load, error));
    }
    return MABD_OK;
}

static mabd_status check_drive(const mabd_pulley_def* def, mabd_error* error) {
    const bool speed = def->speed.kind != MABD_SIGNAL_NONE;
    const bool torque = def->torque.kind != MABD_SIGNAL_NONE;
    const bool angle = def->angle.kind != MABD_SIGNAL_NONE;
    if (def->fixed + angle + speed + torque > 1) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "pulley: one of fixed, angle, speed and torque can be given");
    }
    if (def->arrangement == MABD_PULLEY_TACKLE && (def->fixed || angle)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "pulley: sheaves of a tackle move, they can be neither fixed nor turned "
                         "by an angle");
    }
    MABD_TRY(check_mass("max_torque", def->max_torque, error));
    if (def->max_torque > 0 && !speed) {
        return mabd_fail(error, MABD_ERR_ARG, "pulley: max_torque needs speed beside it");
    }
    const int32_t sheaves = mabd_generate_pulley_path_make(def).sheaves;
    MABD_TRY(mabd_generate_count(what, "driven", def->driven, 0, error));
    if (def->driven > 0 && !(speed || torque)) {
        return mabd_fail(error, MABD_ERR_ARG, "pulley: driven needs speed or torque beside it");
    }
    if (def->driven > sheaves) {
        return mabd_fail(error, MABD_ERR_ARG, "pulley: driven must be at most %d, not %d", sheaves,
                         def->driven);
    }
    return MABD_OK;
}

/// Refuse strands that overlap.
static mabd_status check_spacing(const mabd_pulley_def* def, mabd_error* error) {
    MABD_TRY(mabd_generate_finite(what, "spacing", &def->spacing, 1, error));
    mabd_real room = mabd_generate_pulley_path_make(def).shared ? 2 * def->link_radius : def->width;
    if (def->arrangement == MABD_PULLEY_TACKLE) room += 2 * mabd_generate_pulley_cheek(def);
    if (def->strands == 1 || def->spacing >= room) return MABD_OK;
    return mabd_fail(error, MABD_ERR_ARG, "pulley: spacing must be at least %g, not %g",
                     (double)room, (double)def->spacing);
}

static mabd_status check(const mabd_scene* scene, const mabd_pulley_def* def, mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    if ((unsigned)def->arrangement >= MABD_PULLEY_ARRANGEMENT_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "pulley: unknown arrangement");
    }
    MABD_TRY(check_counts(def, error));
    MABD_TRY(check_sizes(def, error));
    MABD_TRY(check_drive(def, error));
    return check_spacing(def, error);
}

// ---- links -------------------------------------------------------------------------------------

/// Compute point P_k of a strand [m].
static mabd_vec3 point(const mabd_generate_pulley_path* path, int32_t strand, int32_t k) {
    return mabd_v3_add(mabd_generate_pulley_point(path, k),
                       mabd_v3(0, mabd_generate_pulley_strand(path, strand), 0));
}

static mabd_status add_links(mabd_scene* scene, const mabd_generate_pulley_path* path,
                             int32_t* first, mabd_error* error) {
    const mabd_pulley_def* def = path->def;
    mabd_generate_body_batch batch;
    MABD_TRY(mabd_generate_body_batch_create(scene, path->links * def->strands, true, false, &batch,
                                             error));
    for (int32_t i = 0; i < batch.n; i++) {
        const int32_t strand = i / path->links, k = i % path->links;
        const mabd_vec3 sum = mabd_v3_add(point(path, strand, k), point(path, strand, k + 1));
        mabd_v3_store(mabd_v3_scale((mabd_real)0.5, sum), batch.position + 3 * (size_t)i);
        mabd_q_store(mabd_generate_pulley_rotation(path, k), batch.rotation + 4 * (size_t)i);
    }
    mabd_material material = def->material;
    if (def->self) material.mask |= material.category;
    char name[MABD_PART_NAME];
    mabd_geom geom =
        mabd_generate_link_geom(MABD_SHAPE_CAPSULE, path->pitch, def->link_radius, &material);
    mabd_body_def body = mabd_generate_link_body(mabd_generate_part_name(def->name, "link", name),
                                                 &geom, material, 0);
    mabd_status status = mabd_generate_body_batch_add(scene, &body, &batch, first, error);
    mabd_generate_body_batch_free(scene, &batch);
    return status;
}

static mabd_status join_links(mabd_scene* scene, const mabd_generate_pulley_path* path,
                              int32_t first, mabd_error* error) {
    const int32_t inside = path->links - 1; // joints of a strand
    if (inside == 0) return MABD_OK;
    mabd_generate_joint_batch batch;
    MABD_TRY(
        mabd_generate_joint_batch_create(scene, inside * path->def->strands, false, &batch, error));
    for (int32_t i = 0; i < batch.n; i++) {
        const int32_t strand = i / inside, k = i % inside;
        const int32_t link = first + strand * path->links + k;
        mabd_generate_joint_batch_set(&batch, i, link, link + 1, point(path, strand, k + 1));
    }
    char name[MABD_PART_NAME];
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = mabd_generate_part_name(path->def->name, "link", name);
    mabd_status status = mabd_generate_joint_batch_add(scene, &joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}

// ---- ends --------------------------------------------------------------------------------------

/// Add ball joints named `part` at one end of the chains: for strand s between body `base` + s
/// `step` (the world if base is MABD_WORLD) and the end link.
static mabd_status hold_ends(mabd_scene* scene, const mabd_generate_pulley_path* path,
                             int32_t first, bool last_end, const char* part, int32_t base,
                             int32_t step, mabd_error* error) {
    const int32_t k = last_end ? path->links : 0, link = last_end ? path->links - 1 : 0;
    char name[MABD_PART_NAME];
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = mabd_generate_part_name(path->def->name, part, name);
    mabd_generate_joint_batch batch;
    MABD_TRY(mabd_generate_joint_batch_create(scene, path->def->strands, true, &batch, error));
    for (int32_t s = 0; s < batch.n; s++) {
        mabd_generate_joint_batch_set(&batch, s, base == MABD_WORLD ? MABD_WORLD : base + s * step,
                                      first + s * path->links + link, point(path, s, k));
        mabd_q_store(mabd_q(1, 0, 0, 0), batch.frame + 4 * (size_t)s);
    }
    mabd_status status = mabd_generate_pulley_joints(scene, &joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}

/// Add cubes of `mass` [kg] below one end of the chains; nothing if the mass is 0.
static mabd_status add_ends(mabd_scene* scene, const mabd_generate_pulley_path* path, int32_t first,
                            bool last_end, const char* part, mabd_real mass, mabd_error* error) {
    if (mass == 0) return MABD_OK;
    const mabd_real edge = (mabd_real)cbrt(mass / iron);
    const mabd_real size[3] = {edge, edge, edge};
    mabd_material material = path->def->material;
    material.density = iron;
    material.category = MABD_PULLEY_END;
    material.mask = path->def->end_mask;
    mabd_geom geom = mabd_generate_material_geom(MABD_SHAPE_BOX, size, &material);
    char name[MABD_PART_NAME];
    mabd_body_def body = mabd_generate_link_body(
        mabd_generate_part_name(path->def->name, part, name), &geom, material, 0);
    mabd_generate_body_batch batch;
    MABD_TRY(
        mabd_generate_body_batch_create(scene, path->def->strands, false, false, &batch, error));
    for (int32_t s = 0; s < batch.n; s++) {
        const mabd_vec3 end = point(path, s, last_end ? path->links : 0);
        mabd_v3_store(mabd_v3_axpy(-edge / 2, mabd_v3(0, 0, 1), end),
                      batch.position + 3 * (size_t)s);
    }
    int32_t base = 0;
    mabd_status status = mabd_generate_pulley_bodies(scene, &body, &batch, &base, error);
    mabd_generate_body_batch_free(scene, &batch);
    if (status != MABD_OK) return status;
    return hold_ends(scene, path, first, last_end, part, base, 1, error);
}

/// Join the two ends of the chains to loads, the drum or the world. `sheave` is the first sheave.
static mabd_status finish_ends(mabd_scene* scene, const mabd_generate_pulley_path* path,
                               int32_t first, int32_t sheave, mabd_error* error) {
    const mabd_pulley_def* def = path->def;
    if (def->arrangement == MABD_PULLEY_WINCH) {
        MABD_TRY(hold_ends(scene, path, first, false, "drum", sheave, path->shared ? 0 : 1, error));
        return add_ends(scene, path, first, true, "load", def->load, error);
    }
    if (def->arrangement == MABD_PULLEY_TACKLE) {
        MABD_TRY(hold_ends(scene, path, first, false, "anchor", MABD_WORLD, 0, error));
        return add_ends(scene, path, first, true, "counter", def->counter, error);
    }
    MABD_TRY(add_ends(scene, path, first, false, "load", def->load, error));
    if (mabd_generate_pulley_lower(path, path->sheaves - 1)) {
        return hold_ends(scene, path, first, true, "anchor", MABD_WORLD, 0, error);
    }
    return add_ends(scene, path, first, true, "counter", def->counter, error);
}

mabd_status mabd_generate_pulley(mabd_scene* scene, const mabd_pulley_def* def, mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    const mabd_generate_pulley_path path = mabd_generate_pulley_path_make(def);
    const int64_t links = (int64_t)path.links * def->strands;
    const int64_t others = (int64_t)path.sheaves * path.copies + 3 * (int64_t)def->strands;
    MABD_TRY(mabd_generate_reserve(scene, links + others, links + others, error));
    int32_t sheave = 0, first = 0;
    MABD_TRY(mabd_generate_pulley_sheaves(scene, &path, &sheave, error));
    MABD_TRY(add_links(scene, &path, &first, error));
    MABD_TRY(join_links(scene, &path, first, error));
    return finish_ends(scene, &path, first, sheave, error);
}
