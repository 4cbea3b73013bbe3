// SPDX-License-Identifier: Apache-2.0
// A ring of angulated scissors. Rays at angles k alpha, alpha = 2 pi / units; pair k lies between
// rays k and k + 1, its middle hinge on the bisector. With the angle phi of the arms, arm length p:
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
//
// The origin of a bar is its middle hinge, x runs along the arm that is named first here.

#include "generate/scissor.h"

#include <math.h>

mabd_real mabd_generate_scissor_alpha(const mabd_generate_scissor* ring) {
    return 2 * MABD_PI / (mabd_real)ring->units;
}

static mabd_real middle_radius(const mabd_generate_scissor* ring) {
    const mabd_real half = mabd_generate_scissor_alpha(ring) / 2;
    return ring->arm * (mabd_real)cos(ring->phi) / (mabd_real)sin(half);
}

/// Compute the direction at `angle` [rad] from ray 0 in the world.
static mabd_vec3 direction(const mabd_generate_scissor* ring, mabd_real angle) {
    return mabd_q_rotate(ring->rotation, mabd_v3((mabd_real)cos(angle), (mabd_real)sin(angle), 0));
}

mabd_vec3 mabd_generate_scissor_point(const mabd_generate_scissor* ring, mabd_scissor_circle circle,
                                      int32_t i) {
    const mabd_real alpha = mabd_generate_scissor_alpha(ring), half = alpha / 2;
    const mabd_real along = ring->arm * (mabd_real)sin(ring->phi);
    const mabd_real c = ring->arm * (mabd_real)cos(ring->phi) * (mabd_real)(cos(half) / sin(half));
    mabd_real radius = middle_radius(ring), angle = alpha * (mabd_real)i;
    if (circle == MABD_SCISSOR_MIDDLE)
        angle += half;
    else
        radius = circle == MABD_SCISSOR_INNER ? c - along : c + along;
    return mabd_v3_axpy(radius, direction(ring, angle), ring->position);
}

// ---- bars --------------------------------------------------------------------------------------

/// Make the two arms of a bar, along x and at the kink, `layer` (+-1/2) bar widths off the plane.
static void bar_geoms(const mabd_generate_scissor* ring, mabd_real layer, mabd_geom geoms[2]) {
    const mabd_real angles[2] = {0, MABD_PI - mabd_generate_scissor_alpha(ring)};
    for (int i = 0; i < 2; i++) {
        const mabd_real half = ring->arm / 2;
        geoms[i] =
            mabd_generate_link_geom(MABD_SHAPE_BOX, ring->arm, ring->width / 2, &ring->material);
        mabd_v3_store(mabd_v3(half * (mabd_real)cos(angles[i]), half * (mabd_real)sin(angles[i]),
                              layer * ring->width),
                      geoms[i].position);
        mabd_q_store(mabd_q_axis_angle(mabd_v3(0, 0, 1), angles[i]), geoms[i].rotation);
    }
}

/// Set pose and velocity of bar k of a kind: turn = -1 for a, +1 for b.
static void place_bar(const mabd_generate_scissor* ring, mabd_real turn, int32_t k,
                      mabd_generate_body_batch* bars) {
    const mabd_real alpha = mabd_generate_scissor_alpha(ring);
    const mabd_real outward =
        -ring->arm * (mabd_real)sin(ring->phi) * ring->rate / (mabd_real)sin(alpha / 2);
    const mabd_vec3 radial = direction(ring, alpha * ((mabd_real)k + (mabd_real)0.5));
    const mabd_vec3 arm = mabd_v3_scale(middle_radius(ring), radial);
    const mabd_vec3 z = mabd_q_rotate(ring->rotation, mabd_v3(0, 0, 1));
    const mabd_real heading = alpha * (mabd_real)(k + 1) + MABD_PI / 2 + turn * ring->phi;
    const mabd_quat in_ring = mabd_q_axis_angle(mabd_v3(0, 0, 1), heading);
    const mabd_vec3 moved = mabd_v3_add(ring->velocity, mabd_v3_cross(ring->spin, arm));
    const size_t at = (size_t)k;
    mabd_v3_store(mabd_v3_add(ring->position, arm), bars->position + 3 * at);
    mabd_q_store(mabd_q_product(ring->rotation, in_ring), bars->rotation + 4 * at);
    mabd_v3_store(mabd_v3_axpy(outward, radial, moved), bars->velocity + 3 * at);
    mabd_v3_store(mabd_v3_axpy(turn * ring->rate, z, ring->spin), bars->angular + 3 * at);
}

/// Add all bars of one kind: turn = -1 for a, +1 for b.
static mabd_status add_bars(mabd_scene* scene, const mabd_generate_scissor* ring, const char* part,
                            mabd_real turn, int32_t* first, mabd_error* error) {
    mabd_generate_body_batch bars;
    MABD_TRY(mabd_generate_body_batch_create(scene, ring->units, true, true, &bars, error));
    for (int32_t k = 0; k < ring->units; k++) place_bar(ring, turn, k, &bars);
    char name[MABD_PART_NAME];
    mabd_geom geoms[2];
    bar_geoms(ring, -turn / 2, geoms);
    mabd_body_def body = mabd_generate_link_body(mabd_generate_part_name(ring->name, part, name),
                                                 geoms, ring->material, ring->drag);
    body.geom_count = 2;
    mabd_status status = mabd_generate_body_batch_add(scene, &body, &bars, first, error);
    mabd_generate_body_batch_free(scene, &bars);
    return status;
}

mabd_status mabd_generate_scissor_bars(mabd_scene* scene, mabd_generate_scissor* ring,
                                       mabd_error* error) {
    MABD_TRY(add_bars(scene, ring, "a", -1, &ring->a, error));
    return add_bars(scene, ring, "b", 1, &ring->b, error);
}

// ---- hinges ------------------------------------------------------------------------------------

mabd_joint_def mabd_generate_scissor_hinge(const mabd_generate_scissor* ring, const char* name) {
    const mabd_real c = (mabd_real)0.70710678118654752440;
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = name;
    joint.type = MABD_JOINT_HINGE;
    mabd_q_store(mabd_q_product(ring->rotation, mabd_q(c, 0, -c, 0)), joint.frame); // x -> z
    return joint;
}

mabd_status mabd_generate_scissor_hinges(mabd_scene* scene, const mabd_generate_scissor* ring,
                                         mabd_scissor_circle circle, int32_t first,
                                         mabd_error* error) {
    static const char* const parts[] = {"middle", "inner", "outer"};
    mabd_generate_joint_batch batch;
    MABD_TRY(mabd_generate_joint_batch_create(scene, ring->units - first, false, &batch, error));
    for (int32_t i = first; i < ring->units; i++) {
        const int32_t before = i == 0 ? ring->units - 1 : i - 1;
        const mabd_vec3 at = mabd_generate_scissor_point(ring, circle, i);
        if (circle == MABD_SCISSOR_MIDDLE)
            mabd_generate_joint_batch_set(&batch, i - first, ring->a + i, ring->b + i, at);
        else if (circle == MABD_SCISSOR_INNER)
            mabd_generate_joint_batch_set(&batch, i - first, ring->b + before, ring->a + i, at);
        else
            mabd_generate_joint_batch_set(&batch, i - first, ring->a + before, ring->b + i, at);
    }
    char name[MABD_PART_NAME];
    mabd_joint_def joint =
        mabd_generate_scissor_hinge(ring, mabd_generate_part_name(ring->name, parts[circle], name));
    mabd_status status = mabd_generate_joint_batch_add(scene, &joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}
