// SPDX-License-Identifier: Apache-2.0
// Chains. Link j begins at point P_j. Every P_j has a closed form, so errors do not accumulate
// along the chain:
//
//   level    P_j = anchor + j L ex
//   hanging  P_j = anchor - j L ez
//   coiled   rows of m links, one link down between them (here m = 4; in the code m^2 ~ links):
//
//            P_0 --- P_1 --- P_2 --- P_3 --- P_4      row r = j / (m+1), k = j mod (m+1)
//                                             |       x = k L in even rows, (m - k) L in odd ones
//            P_9 --- P_8 --- P_7 --- P_6 --- P_5      z = -r L
//             |
//
// Link j has its origin at (P_j + P_{j+1})/2 and its x axis along P_{j+1} - P_j, y along world y.

#include "generate/field_defaults.h"
#include "generate/tools.h"
#include "scene/inertia.h"

#include <math.h>

static const char* const what = "chain";

mabd_chain_def mabd_default_chain_def(void) {
    mabd_chain_def def = {.cookie = MABD_GENERATE_COOKIE};
#include "generate/chain.def"
    return def;
}

static int32_t row_links(const mabd_chain_def* def) {
    return (int32_t)ceil(sqrt((double)def->links));
}

/// Compute the point P_j [m].
static mabd_vec3 path_point(const mabd_chain_def* def, int32_t j) {
    const mabd_real L = def->length;
    mabd_vec3 anchor = mabd_v3_load(def->anchor);
    if (def->start == MABD_CHAIN_LEVEL) return mabd_v3_axpy(L, mabd_v3(j, 0, 0), anchor);
    if (def->start == MABD_CHAIN_HANGING) return mabd_v3_axpy(L, mabd_v3(0, 0, -j), anchor);
    const int32_t m = row_links(def), row = j / (m + 1), k = j % (m + 1);
    return mabd_v3_axpy(L, mabd_v3(row % 2 == 0 ? k : m - k, 0, -row), anchor);
}

static mabd_quat downward(void) {
    const mabd_real c = (mabd_real)0.70710678118654752440;
    return mabd_q(c, 0, c, 0);
}

/// Compute the rotation of link j of a path of plain links.
static mabd_quat path_rotation(const mabd_chain_def* def, int32_t j) {
    if (def->start == MABD_CHAIN_LEVEL) return mabd_q(1, 0, 0, 0);
    if (def->start == MABD_CHAIN_HANGING) return downward();
    const int32_t m = row_links(def), row = j / (m + 1), k = j % (m + 1);
    if (k == m) return downward();
    return row % 2 == 0 ? mabd_q(1, 0, 0, 0) : mabd_q(0, 0, 1, 0);
}

static bool has_end(const mabd_chain_def* def) {
    return def->end_mass_ratio != 0 && def->end_mass_ratio != 1;
}

/// Compute the rotation of body j; an end body hangs below a coil.
static mabd_quat body_rotation(const mabd_chain_def* def, int32_t j) {
    bool end_of_coil = has_end(def) && j == def->links - 1 && def->start == MABD_CHAIN_COILED;
    return end_of_coil ? downward() : path_rotation(def, j);
}

/// Compute the velocity of the point p [m/s]: v + omega x (p - anchor).
static mabd_vec3 velocity_at(const mabd_chain_def* def, mabd_vec3 p) {
    mabd_vec3 arm = mabd_v3_sub(p, mabd_v3_load(def->anchor));
    return mabd_v3_add(mabd_v3_load(def->velocity),
                       mabd_v3_cross(mabd_v3_load(def->angular_velocity), arm));
}

static bool is_zero(const mabd_real* v) {
    return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

/// Refuse velocities that the pin does not allow: a pinned chain turns about the free axes of its
/// pin only.
static mabd_status check_pin_motion(const mabd_chain_def* def, mabd_error* error) {
    static const char* const rotations[] = {
#define X(name, text, free_translations, free_rotations) free_rotations,
        MABD_JOINT_LIST(X)
#undef X
    };
    if (!def->pinned) return MABD_OK;
    if (!is_zero(def->velocity)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "chain: a pinned chain cannot have a velocity, only an angular_velocity");
    }
    mabd_vec3 omega = mabd_v3_load(def->angular_velocity);
    mabd_mat3 frame =
        mabd_q_matrix(mabd_generate_link_joint_frame(def->joint, body_rotation(def, 0)));
    mabd_vec3 part = mabd_m3_tmul(frame, omega);
    bool open[3] = {false, false, false};
    for (const char* axis = rotations[def->joint]; *axis; axis++) open[*axis - 'x'] = true;
    mabd_real tolerance = (mabd_real)1e-12 * mabd_v3_norm(omega);
    if ((!open[0] && fabs(part.x) > tolerance) || (!open[1] && fabs(part.y) > tolerance) ||
        (!open[2] && fabs(part.z) > tolerance)) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "chain: the pin is a %s joint and does not turn along angular_velocity",
                         mabd_joint_name(def->joint));
    }
    return MABD_OK;
}

static mabd_status check(const mabd_scene* scene, const mabd_chain_def* def, mabd_error* error) {
    MABD_TRY(
        mabd_generate_check(scene, def ? def->cookie : 0, def ? def->name : NULL, what, error));
    MABD_TRY(mabd_generate_count(what, "links", def->links, 1, error));
    MABD_TRY(mabd_generate_positive(what, "length", def->length, error));
    MABD_TRY(mabd_generate_positive(what, "radius", def->radius, error));
    MABD_TRY(mabd_generate_joint(what, "joint", def->joint, error));
    MABD_TRY(mabd_generate_finite(what, "anchor", def->anchor, 3, error));
    MABD_TRY(mabd_generate_finite(what, "velocity", def->velocity, 3, error));
    MABD_TRY(mabd_generate_finite(what, "angular_velocity", def->angular_velocity, 3, error));
    if ((unsigned)def->shape >= MABD_SHAPE_PLANE ||
        (unsigned)def->start >= MABD_CHAIN_START_COUNT) {
        return mabd_fail(error, MABD_ERR_ARG, "chain: unknown shape or start");
    }
    if (!isfinite(def->end_mass_ratio) || def->end_mass_ratio < 0) {
        return mabd_fail(error, MABD_ERR_ARG, "chain: end_mass_ratio must not be negative, not %g",
                         (double)def->end_mass_ratio);
    }
    return check_pin_motion(def, error);
}

/// Add the plain links: all bodies except an end body.
static mabd_status add_links(mabd_scene* scene, const mabd_chain_def* def, const mabd_geom* geom,
                             int32_t* first, mabd_error* error) {
    const int32_t n = def->links - (has_end(def) ? 1 : 0);
    const bool turned = def->start == MABD_CHAIN_COILED;
    const bool moving = !is_zero(def->velocity) || !is_zero(def->angular_velocity);
    mabd_generate_body_batch batch;
    MABD_TRY(mabd_generate_body_batch_create(scene, n, turned, moving, &batch, error));
    for (int32_t i = 0; i < n; i++) {
        mabd_vec3 sum = mabd_v3_add(path_point(def, i), path_point(def, i + 1));
        mabd_vec3 middle = mabd_v3_scale((mabd_real)0.5, sum);
        mabd_v3_store(middle, batch.position + 3 * (size_t)i);
        if (turned) mabd_q_store(path_rotation(def, i), batch.rotation + 4 * (size_t)i);
        if (moving) {
            mabd_v3_store(velocity_at(def, middle), batch.velocity + 3 * (size_t)i);
            mabd_v3_store(mabd_v3_load(def->angular_velocity), batch.angular + 3 * (size_t)i);
        }
    }
    mabd_body_def body = mabd_generate_link_body(def->name, geom, def->material, def->drag);
    mabd_q_store(path_rotation(def, 0), body.rotation);
    mabd_status status = mabd_generate_body_batch_add(scene, &body, &batch, first, error);
    mabd_generate_body_batch_free(scene, &batch);
    return status;
}

/// Add the end body, a ball or a cube of end_mass_ratio times the volume of a link, behind its
/// joint.
static mabd_status add_end(mabd_scene* scene, const mabd_chain_def* def, const mabd_geom* link,
                           mabd_error* error) {
    const mabd_real volume = def->end_mass_ratio * mabd_geom_volume(link);
    const bool box = def->shape == MABD_SHAPE_BOX;
    const mabd_real half =
        box ? (mabd_real)cbrt(volume) / 2 : (mabd_real)cbrt(3 * volume / (4 * MABD_PI));
    mabd_geom geom = mabd_generate_link_geom(box ? MABD_SHAPE_BOX : MABD_SHAPE_SPHERE, 2 * half,
                                             half, &def->material);
    mabd_quat rotation = body_rotation(def, def->links - 1);
    mabd_vec3 middle =
        mabd_v3_axpy(half, mabd_generate_link_direction(rotation), path_point(def, def->links - 1));
    char name[MABD_PART_NAME];
    mabd_body_def body = mabd_generate_link_body(mabd_generate_part_name(def->name, "end", name),
                                                 &geom, def->material, def->drag);
    mabd_v3_store(middle, body.position);
    mabd_q_store(rotation, body.rotation);
    mabd_v3_store(velocity_at(def, middle), body.velocity);
    mabd_v3_store(mabd_v3_load(def->angular_velocity), body.angular_velocity);
    return mabd_scene_add_body(scene, &body, NULL, error);
}

static mabd_status add_joints(mabd_scene* scene, const mabd_chain_def* def, int32_t first,
                              mabd_error* error) {
    const int32_t skip = def->pinned ? 0 : 1;
    const bool framed = def->start == MABD_CHAIN_COILED;
    mabd_generate_joint_batch batch;
    MABD_TRY(mabd_generate_joint_batch_create(scene, def->links - skip, framed, &batch, error));
    for (int32_t i = 0; i < batch.n; i++) {
        const int32_t j = i + skip;
        mabd_generate_joint_batch_set(&batch, i, j == 0 ? MABD_WORLD : first + j - 1, first + j,
                                      path_point(def, j));
        if (framed) {
            mabd_q_store(mabd_generate_link_joint_frame(def->joint, body_rotation(def, j)),
                         batch.frame + 4 * (size_t)i);
        }
    }
    mabd_joint_def joint = mabd_default_joint_def();
    joint.name = def->name;
    joint.type = def->joint;
    mabd_q_store(mabd_generate_link_joint_frame(def->joint, body_rotation(def, 0)), joint.frame);
    for (int k = 0; k < MABD_AXIS_COUNT; k++) joint.axes[k] = def->axes[k];
    mabd_status status = mabd_generate_joint_batch_add(scene, &joint, &batch, error);
    mabd_generate_joint_batch_free(scene, &batch);
    return status;
}

mabd_status mabd_generate_chain(mabd_scene* scene, const mabd_chain_def* def, mabd_error* error) {
    MABD_TRY(check(scene, def, error));
    mabd_geom geom = mabd_generate_link_geom(def->shape, def->length, def->radius, &def->material);
    int32_t first = 0;
    MABD_TRY(add_links(scene, def, &geom, &first, error));
    if (has_end(def)) MABD_TRY(add_end(scene, def, &geom, error));
    return add_joints(scene, def, first, error);
}
