// SPDX-License-Identifier: Apache-2.0
// The polyline of a chain over sheaves. On a half turn of n links the middle of each touches the
// circle of radius Rc = R + r, on which a capsule of radius r touches a cylinder of radius R:
//
//         P_1 ___ P_2         corner k of the half turn at angle theta = k alpha, alpha = pi / n,
//          /       \          at the distance Q = Rc / cos(alpha/2) from the axis C; links are
//     P_0 |    C    | P_3     L = 2 Rc tan(alpha/2) long and turn by alpha from one to the next
//         |         |
//         |<-- 2Q ->|         over:   P_k = C + Q (-cos theta,  sin theta)
//         |         |         under:  P_k = C + Q (-cos theta, -sin theta)
//
// The first and the last corner are at the height of the axis. Upright runs begin there, turned by
// alpha/2 from the link on the sheave. This is the rest shape of a chain under tension: joint
// forces are along the tangents at the corners, and on an upright run along that run. So runs are
// 2Q apart, not 2 Rc, and the axes of consecutive sheaves are 2Q apart in x and `inner` L in z.
//
// Every point has a closed form, so errors do not accumulate along the chain.

#include "generate/pulley_path.h"

#include <math.h>

/// Place of point or link k: `step` links behind the first corner of `sheave`; `sheave` is -1 on
/// the run before the first sheave.
typedef struct chain_place {
    int32_t sheave, step;
} chain_place;

static bool is_winch(const mabd_pulley_def* def) {
    return def->arrangement == MABD_PULLEY_WINCH;
}

static int32_t sheave_count(const mabd_pulley_def* def) {
    if (is_winch(def)) return 1;
    return def->arrangement == MABD_PULLEY_TACKLE ? 2 * def->pulleys : def->pulleys;
}

int64_t mabd_generate_pulley_links(const mabd_pulley_def* def) {
    if (is_winch(def)) return def->left;
    const int64_t sheaves = sheave_count(def);
    return (int64_t)def->left + def->right + sheaves * def->wrapped + (sheaves - 1) * def->inner;
}

mabd_generate_pulley_path mabd_generate_pulley_path_make(const mabd_pulley_def* def) {
    const mabd_real alpha = MABD_PI / (mabd_real)def->wrapped, Rc = def->radius + def->link_radius;
    const bool motor = def->speed.kind != MABD_SIGNAL_NONE || def->torque.kind != MABD_SIGNAL_NONE;
    mabd_generate_pulley_path path = {
        .def = def,
        .sheaves = sheave_count(def),
        .links = (int32_t)mabd_generate_pulley_links(def),
        .alpha = alpha,
        .pitch = 2 * Rc * (mabd_real)tan(alpha / 2),
        .reach = is_winch(def) ? Rc : Rc / (mabd_real)cos(alpha / 2),
        .shared = def->fixed || def->angle.kind != MABD_SIGNAL_NONE,
    };
    path.copies = path.shared ? 1 : def->strands;
    path.driven = !motor ? 0 : def->driven > 0 ? def->driven : path.sheaves;
    return path;
}

mabd_real mabd_generate_pulley_strand(const mabd_generate_pulley_path* path, int32_t strand) {
    return path->def->spacing * (mabd_real)strand;
}

bool mabd_generate_pulley_lower(const mabd_generate_pulley_path* path, int32_t sheave) {
    return (sheave % 2 == 1) != (path->def->arrangement == MABD_PULLEY_TACKLE);
}

mabd_vec3 mabd_generate_pulley_axis(const mabd_generate_pulley_path* path, int32_t sheave) {
    const mabd_real x = (2 * (mabd_real)sheave + 1) * path->reach;
    const mabd_real depth = path->pitch * (mabd_real)path->def->inner;
    return mabd_v3_add(mabd_v3_load(path->def->position),
                       mabd_v3(x, 0, mabd_generate_pulley_lower(path, sheave) ? -depth : 0));
}

static chain_place place_of(const mabd_generate_pulley_path* path, int32_t k) {
    const mabd_pulley_def* def = path->def;
    const int32_t behind = k - def->left, last = path->sheaves - 1;
    const int32_t period = def->wrapped + def->inner;
    if (behind < 0) return (chain_place){-1, k};
    const int32_t sheave = behind / period < last ? behind / period : last;
    return (chain_place){sheave, behind - sheave * period};
}

/// Compute corner k of a half turn, 0 .. wrapped.
static mabd_vec3 corner(const mabd_generate_pulley_path* path, int32_t sheave, int32_t k) {
    const mabd_real theta = path->alpha * (mabd_real)k;
    const mabd_real x = -(mabd_real)cos(theta), z = (mabd_real)sin(theta);
    const mabd_vec3 arm = mabd_v3(x, 0, mabd_generate_pulley_lower(path, sheave) ? -z : z);
    return mabd_v3_axpy(path->reach, arm, mabd_generate_pulley_axis(path, sheave));
}

mabd_vec3 mabd_generate_pulley_point(const mabd_generate_pulley_path* path, int32_t k) {
    const mabd_pulley_def* def = path->def;
    if (is_winch(def)) {
        const mabd_real depth = path->pitch * (mabd_real)k;
        return mabd_v3_sub(mabd_v3_load(def->position), mabd_v3(0, 0, depth));
    }
    const chain_place place = place_of(path, k);
    if (place.sheave < 0) { // runs to an upper sheave come from below, to a lower one from above
        const mabd_real way = path->pitch * (mabd_real)(def->left - k);
        const mabd_real sign = mabd_generate_pulley_lower(path, 0) ? 1 : -1;
        return mabd_v3_axpy(sign * way, mabd_v3(0, 0, 1), corner(path, 0, 0));
    }
    if (place.step <= def->wrapped) return corner(path, place.sheave, place.step);
    const mabd_real way = path->pitch * (mabd_real)(place.step - def->wrapped);
    const mabd_real sign = mabd_generate_pulley_lower(path, place.sheave) ? 1 : -1;
    return mabd_v3_axpy(sign * way, mabd_v3(0, 0, 1), corner(path, place.sheave, def->wrapped));
}

/// Compute the angle of link k above x, in the x-z plane [rad].
static mabd_real elevation(const mabd_generate_pulley_path* path, int32_t k) {
    const mabd_pulley_def* def = path->def;
    if (is_winch(def)) return -MABD_PI / 2;
    const chain_place place = place_of(path, k);
    const mabd_real half = (mabd_real)0.5;
    mabd_real theta = 0; // angle of the tangent: 0 at the start of the half turn, pi at its end
    if (place.sheave >= 0 && place.step >= def->wrapped) theta = MABD_PI;
    if (place.sheave >= 0 && place.step < def->wrapped) {
        theta = path->alpha * ((mabd_real)place.step + half);
    }
    const bool lower = mabd_generate_pulley_lower(path, place.sheave < 0 ? 0 : place.sheave);
    return lower ? theta - MABD_PI / 2 : MABD_PI / 2 - theta;
}

mabd_quat mabd_generate_pulley_rotation(const mabd_generate_pulley_path* path, int32_t k) {
    return mabd_q_axis_angle(mabd_v3(0, -1, 0), elevation(path, k));
}
