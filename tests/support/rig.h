// SPDX-License-Identifier: Apache-2.0
// Shared parts of the verification tests: from a scene to a running simulation by the public API
// alone, and observed orders of convergence.
#pragma once

#include "mabd/generate.h"
#include "mabd/sim.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void rig_check(mabd_status status, const mabd_error* error, const char* what) {
    if (status != MABD_OK) cr_fatal("%s: %s (%s)", what, error->text, mabd_status_text(status));
}

static inline mabd_scene* rig_scene(mabd_real gravity_z) {
    mabd_error error = {0};
    mabd_scene* scene;
    const mabd_real gravity[3] = {0, 0, gravity_z};
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(mabd_scene_set_gravity(scene, gravity, &error), &error, "gravity");
    return scene;
}

static inline int32_t rig_add_body(mabd_scene* scene, const mabd_body_def* def) {
    mabd_error error = {0};
    int32_t id = -1;
    rig_check(mabd_scene_add_body(scene, def, &id, &error), &error, "body");
    return id;
}

/// Add a square rod of 1000 kg/m^3 along x from `x` to x + length at z = 0.
static inline int32_t rig_add_rod(mabd_scene* scene, mabd_real x, mabd_real length, mabd_real width,
                                  mabd_real young) {
    const mabd_real size[3] = {length, width, width};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1;
    body.geoms = &geom;
    body.young = young;
    body.position[0] = x + length / 2;
    return rig_add_body(scene, &body);
}

/// Add a joint of two bodies at a world point, hinge axis (joint x) along world y.
static inline void rig_add_joint(mabd_scene* scene, mabd_joint type, int32_t a, int32_t b,
                                 mabd_real x, mabd_real z) {
    mabd_error error = {0};
    mabd_joint_def def = mabd_default_joint_def();
    const mabd_real axis[3] = {0, 1, 0};
    def.type = type;
    def.a = a;
    def.b = b;
    def.anchor[0] = x;
    def.anchor[2] = z;
    cr_assert(mabd_frame_from_axes(axis, NULL, def.frame));
    rig_check(mabd_scene_add_joint(scene, &def, NULL, &error), &error, "joint");
}

/// Build the model of a scene, which is destroyed.
static inline mabd_model* rig_model(mabd_scene* scene) {
    mabd_error error = {0};
    mabd_model* model;
    rig_check(mabd_model_build(scene, NULL, &model, &error), &error, "model");
    mabd_scene_destroy(scene);
    return model;
}

static inline mabd_model* rig_chain_model(const mabd_chain_def* chain, mabd_real gravity_z) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(gravity_z);
    rig_check(mabd_generate_chain(scene, chain, &error), &error, "chain");
    return rig_model(scene);
}

/// Build the model of a scene file, `path` from the source root, with one parameter set (name null
/// = none).
static inline mabd_model* rig_file_model(const char* path, const char* name, const char* value) {
    mabd_error error = {0};
    mabd_scene* scene;
    char full[1024];
    snprintf(full, sizeof full, "%s/%s", MABD_SOURCE_DIR, path);
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    const mabd_setting setting = {name, value};
    rig_check(mabd_scene_load(scene, full, name ? 1 : 0, &setting, &error), &error, path);
    return rig_model(scene);
}

/// Build the model of a scene in JSON.
static inline mabd_model* rig_text_model(const char* text) {
    mabd_error error = {0};
    mabd_scene* scene;
    rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
    rig_check(mabd_scene_load_text(scene, text, strlen(text), 0, NULL, &error), &error, text);
    return rig_model(scene);
}

static inline mabd_sim_def rig_def(mabd_preset preset, mabd_real h) {
    mabd_sim_def def = mabd_default_sim_def();
    mabd_sim_def_apply_preset(&def, preset);
    def.h = h;
    return def;
}

static inline mabd_sim* rig_sim(const mabd_model* model, const mabd_sim_def* def) {
    mabd_error error = {0};
    mabd_sim* sim;
    rig_check(mabd_sim_create(model, def, &sim, &error), &error, "simulation");
    return sim;
}

static inline mabd_step_info rig_step(mabd_sim* sim) {
    mabd_error error = {0};
    mabd_step_info info;
    rig_check(mabd_sim_step(sim, &info, &error), &error, "step");
    return info;
}

/// Advance by `steps`; every step must meet its tolerances without a retry and leave joints closed.
static inline void rig_run(mabd_sim* sim, int steps) {
    for (int i = 0; i < steps; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(info.converged && info.retries == 0, "step %d: rotation %g, %d retries", i,
                  (double)info.affine.rotation, (int)info.retries);
        cr_assert(info.gap < 1e-12, "step %d: gap %g", i, (double)info.gap);
    }
}

static inline void rig_destroy(mabd_sim* sim, mabd_model* model) {
    mabd_sim_destroy(sim);
    mabd_model_destroy(model);
}

static inline double rig_norm(const mabd_real* v) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static inline double rig_distance(const mabd_real* a, const mabd_real* b) {
    const mabd_real d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return rig_norm(d);
}

/// Return the largest distance of a body of a model in two simulations of it [m].
static inline double rig_apart(const mabd_model* model, const mabd_sim* a, const mabd_sim* b) {
    const size_t n = (size_t)mabd_model_body_count(model);
    mabd_real* x = calloc(6 * n, sizeof *x);
    double worst = 0;
    mabd_sim_get_state(a, x, NULL, NULL, NULL);
    mabd_sim_get_state(b, x + 3 * n, NULL, NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, rig_distance(x + 3 * i, x + 3 * (n + i)));
    }
    free(x);
    return worst;
}

/// Return the least order log2(e_i / e_i+1) of errors (n) at step sizes h, h/2, h/4, ...; prints
/// them all.
static inline double rig_order(const char* what, double h, int n, const double* errors) {
    double least = INFINITY;
    for (int i = 0; i < n; i++) {
        const double order = i > 0 ? log2(errors[i - 1] / errors[i]) : NAN;
        printf("%-28s h %8.5f ms  error %.3e  order %5.2f\n", what, 1e3 * ldexp(h, -i), errors[i],
               order);
        if (i > 0) least = fmin(least, order);
        if (!isfinite(errors[i])) return NAN;
    }
    return least;
}

/// Return the largest errors[i]/(h/2^i)^2 of errors at steps h, h/2, ..., and print them: an error
/// of second order stays below this number times the square of the step, although its observed
/// order may vary where it changes sign or a correction of the step sets in.
static inline double rig_square_bound(const char* what, double h, int n, const double* errors) {
    double most = 0;
    rig_order(what, h, n, errors);
    for (int i = 0; i < n; i++) most = fmax(most, errors[i] / ldexp(h * h, -2 * i));
    return isfinite(most) ? most : INFINITY;
}
