// SPDX-License-Identifier: Apache-2.0
// Hoberman's ring: one ring of angulated scissors (scissor.c) in the x-y plane, moved by a rigid
// servo in the middle hinge of pair 0. The bars of a pair turn against each other at 2 phi'.

#include "generate/field_defaults.h"
#include "generate/scissor.h"

static const char* const what = "scissor-ring";

mabd_scissor_ring_def mabd_default_scissor_ring_def(void) {
    mabd_scissor_ring_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/scissor_ring.def"
    return def;
}

static bool is_open(mabd_real phi) {
    return phi > 0 && phi < MABD_PI / 2;
}

static mabd_status check(const mabd_scene* scene, const mabd_scissor_ring_def* def,
                         mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "units", def->units, 3, error));
    MABD_TRY(mabd_generate_total(what, 3 * (int64_t)def->units, error));
    MABD_TRY(mabd_generate_positive(what, "arm", def->arm, error));
    MABD_TRY(mabd_generate_positive(what, "width", def->width, error));
    MABD_TRY(mabd_generate_finite(what, "position", def->position, 3, error));
    MABD_TRY(mabd_generate_finite(what, "speed", &def->speed, 1, error));
    MABD_TRY(mabd_generate_finite(what, "swing", &def->swing, 1, error));
    if (!is_open(def->angle)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "scissor-ring: angle must be between 0 and pi/2, not %g",
                         (double)def->angle);
    }
    if (!def->driven) return MABD_OK;
    MABD_TRY(mabd_generate_positive(what, "frequency", def->frequency, error));
    if (!is_open(def->angle - def->swing) || !is_open(def->angle + def->swing)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "scissor-ring: angle -+ swing must stay between 0 and pi/2");
    }
    if (def->speed != 0) {
        return mabd_fail(error, MABD_ERR_ARG, "scissor-ring: give driven or speed, not both");
    }
    return MABD_OK;
}

static mabd_generate_scissor ring_of(const mabd_scissor_ring_def* def) {
    const mabd_real rate = def->driven ? def->swing * 2 * MABD_PI * def->frequency : def->speed;
    return (mabd_generate_scissor){.name = def->name,
                                   .units = def->units,
                                   .arm = def->arm,
                                   .width = def->width,
                                   .phi = def->angle,
                                   .rate = rate,
                                   .drag = def->drag,
                                   .material = def->material,
                                   .position = mabd_v3_load(def->position),
                                   .rotation = mabd_q(1, 0, 0, 0)};
}

/// Add the middle hinge of pair 0, with the servo.
static mabd_status add_drive(mabd_scene* scene, const mabd_scissor_ring_def* def,
                             const mabd_generate_scissor* ring, mabd_error* error) {
    mabd_axis_def axis = {.servo_rigid = true,
                          .servo = {.kind = MABD_SIGNAL_SINE,
                                    .amplitude = 2 * def->swing,
                                    .frequency = def->frequency}};
    char name[MABD_PART_NAME];
    mabd_joint_def joint =
        mabd_generate_scissor_hinge(ring, mabd_generate_part_name(def->name, "drive", name));
    joint.a = ring->a;
    joint.b = ring->b;
    mabd_v3_store(mabd_generate_scissor_point(ring, MABD_SCISSOR_MIDDLE, 0), joint.anchor);
    if (def->driven) joint.axes[MABD_AXIS_RX] = &axis;
    return mabd_scene_add_joint(scene, &joint, NULL, error);
}

mabd_status mabd_generate_scissor_ring(mabd_scene* scene, const mabd_scissor_ring_def* def,
                                       mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    mabd_generate_scissor ring = ring_of(def);
    MABD_TRY(mabd_generate_scissor_bars(scene, &ring, error));
    MABD_TRY(add_drive(scene, def, &ring, error));
    MABD_TRY(mabd_generate_scissor_hinges(scene, &ring, MABD_SCISSOR_MIDDLE, 1, error));
    MABD_TRY(mabd_generate_scissor_hinges(scene, &ring, MABD_SCISSOR_INNER, 0, error));
    return mabd_generate_scissor_hinges(scene, &ring, MABD_SCISSOR_OUTER, 0, error);
}
