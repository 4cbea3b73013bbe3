// SPDX-License-Identifier: Apache-2.0
// Hoberman's ring of angulated scissors. Rays at angles k alpha, alpha = 2 pi / units; pair k lies
// between rays k and k + 1, its middle hinge on the bisector. With the angle phi of the arms, arm
// length p:
//
//   middle at radius m = p cos(phi) / sin(alpha / 2);
//   on the rays: inner ends at c - p sin(phi), outer ends at c + p sin(phi),
//   c = p cos(phi) cot(alpha / 2).
//
// Bar a has its arms at angles alpha (k + 1) + pi/2 - phi (outer end, ray k + 1) and
// alpha k - pi/2 - phi (inner end, ray k); bar b at alpha (k + 1) + pi/2 + phi (inner) and
// alpha k - pi/2 + phi (outer). Both bars have the kink pi - alpha for every phi: the ring has one
// degree of freedom; bars a turn at -phi', bars b at +phi'. It is overconstrained: 6 units planar
// freedoms, 6 units planar conditions.

#include "generate/field_defaults.h"
#include "generate/tools.h"

#include <math.h>

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

static mabd_real alpha_of(const mabd_scissor_ring_def* def) {
    return 2 * MABD_PI / (mabd_real)def->units;
}

static mabd_real start_speed(const mabd_scissor_ring_def* def) {
    return def->driven ? def->swing * 2 * MABD_PI * def->frequency : def->speed;
}

/// Compute the point at `radius` [m] in the direction `angle` [rad] from the middle of the ring.
static mabd_vec3 ring_point(const mabd_scissor_ring_def* def, mabd_real radius, mabd_real angle) {
    return mabd_v3_add(mabd_v3_load(def->position),
                       mabd_v3(radius * (mabd_real)cos(angle), radius * (mabd_real)sin(angle), 0));
}

/// Make the two arms of a bar, along x and at the kink, `layer` (+-1/2) bar widths off the plane.
static void bar_geoms(const mabd_scissor_ring_def* def, mabd_real layer, mabd_geom geoms[2]) {
    const mabd_real angles[2] = {0, MABD_PI - alpha_of(def)};
    for (int i = 0; i < 2; i++) {
        const mabd_real half = def->arm / 2;
        geoms[i] =
            mabd_generate_link_geom(MABD_SHAPE_BOX, def->arm, def->width / 2, &def->material);
        mabd_v3_store(mabd_v3(half * (mabd_real)cos(angles[i]), half * (mabd_real)sin(angles[i]),
                              layer * def->width),
                      geoms[i].position);
        mabd_q_store(mabd_q_axis_angle(mabd_v3(0, 0, 1), angles[i]), geoms[i].rotation);
    }
}

/// Add all bars of one kind: turn = -1 for a, +1 for b.
static mabd_status add_bars(mabd_scene* scene, const mabd_scissor_ring_def* def, const char* part,
                            mabd_real turn, int32_t* first, mabd_error* error) {
    const mabd_real alpha = alpha_of(def), phi = def->angle, speed = start_speed(def);
    const mabd_real sine = (mabd_real)sin(alpha / 2);
    const mabd_real m = def->arm * (mabd_real)cos(phi) / sine;
    const mabd_real outward = -def->arm * (mabd_real)sin(phi) * speed / sine;
    mabd_generate_body_batch bars;
    MABD_TRY(mabd_generate_body_batch_create(scene, def->units, true, true, &bars, error));
    for (int32_t k = 0; k < def->units; k++) {
        const size_t at = (size_t)k;
        const mabd_real middle = alpha * ((mabd_real)k + (mabd_real)0.5);
        const mabd_real heading = alpha * (mabd_real)(k + 1) + MABD_PI / 2 + turn * phi;
        mabd_v3_store(ring_point(def, m, middle), bars.position + 3 * at);
        mabd_q_store(mabd_q_axis_angle(mabd_v3(0, 0, 1), heading), bars.rotation + 4 * at);
        mabd_v3_store(
            mabd_v3(outward * (mabd_real)cos(middle), outward * (mabd_real)sin(middle), 0),
            bars.velocity + 3 * at);
        mabd_v3_store(mabd_v3(0, 0, turn * speed), bars.angular + 3 * at);
    }
    char name[MABD_PART_NAME];
    mabd_geom geoms[2];
    bar_geoms(def, -turn / 2, geoms);
    mabd_body_def body = mabd_generate_link_body(mabd_generate_part_name(def->name, part, name),
                                                 geoms, def->material, def->drag);
    body.geom_count = 2;
    mabd_status status = mabd_generate_body_batch_add(scene, &body, &bars, first, error);
    mabd_generate_body_batch_free(scene, &bars);
    return status;
}

static mabd_joint_def hinge_def(const char* name) {
    const mabd_real c = (mabd_real)0.70710678118654752440;
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = name;
    joint.type = MABD_JOINT_HINGE;
    mabd_q_store(mabd_q(c, 0, -c, 0), joint.frame); // x -> z
    return joint;
}

/// Add the middle hinge of pair 0, with the servo.
static mabd_status add_drive(mabd_scene* scene, const mabd_scissor_ring_def* def, int32_t a,
                             int32_t b, mabd_error* error) {
    const mabd_real m = def->arm * (mabd_real)(cos(def->angle) / sin(alpha_of(def) / 2));
    mabd_axis_def axis = {.servo_rigid = true,
                          .servo = {.kind = MABD_SIGNAL_SINE,
                                    .amplitude = 2 * def->swing,
                                    .frequency = def->frequency}};
    char name[MABD_PART_NAME];
    mabd_joint_def joint = hinge_def(mabd_generate_part_name(def->name, "drive", name));
    joint.a = a;
    joint.b = b;
    mabd_v3_store(ring_point(def, m, alpha_of(def) / 2), joint.anchor);
    if (def->driven) joint.axes[MABD_AXIS_RX] = &axis;
    return mabd_scene_add_joint(scene, &joint, NULL, error);
}

typedef enum ring_of { MIDDLE, INNER, OUTER } ring_of;

/// Add the hinges of one ring: the middles except the first, or the inner or outer ends on all
/// rays.
static mabd_status add_hinges(mabd_scene* scene, const mabd_scissor_ring_def* def, ring_of ring,
                              int32_t a, int32_t b, mabd_error* error) {
    static const char* const parts[] = {"middle", "inner", "outer"};
    const mabd_real alpha = alpha_of(def), half = alpha / 2;
    const mabd_real across = def->arm * (mabd_real)cos(def->angle);
    const mabd_real along = def->arm * (mabd_real)sin(def->angle);
    const mabd_real c = across * (mabd_real)(cos(half) / sin(half));
    const int32_t n = def->units - (ring == MIDDLE);
    mabd_generate_joint_batch batch;
    MABD_TRY(mabd_generate_joint_batch_create(scene, n, false, &batch, error));
    for (int32_t i = 0; i < n; i++) {
        const int32_t before = i == 0 ? def->units - 1 : i - 1;
        const mabd_real ray = alpha * (mabd_real)i;
        if (ring == MIDDLE) {
            mabd_generate_joint_batch_set(
                &batch, i, a + i + 1, b + i + 1,
                ring_point(def, across / (mabd_real)sin(half), ray + alpha + half));
        } else if (ring == INNER) {
            mabd_generate_joint_batch_set(&batch, i, b + before, a + i,
                                          ring_point(def, c - along, ray));
        } else {
            mabd_generate_joint_batch_set(&batch, i, a + before, b + i,
                                          ring_point(def, c + along, ray));
        }
    }
    char name[MABD_PART_NAME];
    mabd_joint_def joint = hinge_def(mabd_generate_part_name(def->name, parts[ring], name));
    mabd_status status = mabd_generate_joint_batch_add(scene, &joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}

mabd_status mabd_generate_scissor_ring(mabd_scene* scene, const mabd_scissor_ring_def* def,
                                       mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    int32_t a = 0, b = 0;
    MABD_TRY(add_bars(scene, def, "a", -1, &a, error));
    MABD_TRY(add_bars(scene, def, "b", 1, &b, error));
    MABD_TRY(add_drive(scene, def, a, b, error));
    MABD_TRY(add_hinges(scene, def, MIDDLE, a, b, error));
    MABD_TRY(add_hinges(scene, def, INNER, a, b, error));
    return add_hinges(scene, def, OUTER, a, b, error);
}
