// SPDX-License-Identifier: Apache-2.0
// Shared parts of the tests of gradients: short lists of parameters and terms, and comparisons.
#pragma once

#include "mabd/gradient.h"
#include "support/counting_allocator.h"
#include "support/rig.h"

#define GRADIENT_MAX 64

/// Parameters and terms of one gradient.
typedef struct gradient_rig {
    mabd_parameter parameters[GRADIENT_MAX];
    mabd_loss_term terms[GRADIENT_MAX];
    mabd_gradient_def def;
    mabd_sim_def sim;
} gradient_rig;

static inline gradient_rig gradient_rig_make(mabd_integrator integrator, mabd_real h,
                                             int64_t steps) {
    gradient_rig rig;
    memset(&rig, 0, sizeof rig);
    rig.def = mabd_default_gradient_def();
    rig.def.steps = steps;
    rig.sim = rig_def(MABD_PRESET_EXACT, h);
    rig.sim.formulation = MABD_FORMULATION_QUATERNION;
    rig.sim.integrator = integrator;
    return rig;
}

/// The rig of the redmax formulation.
static inline gradient_rig gradient_rig_redmax(mabd_integrator integrator, mabd_real h,
                                               int64_t steps) {
    gradient_rig rig = gradient_rig_make(integrator, h, steps);
    rig.sim.formulation = MABD_FORMULATION_REDMAX;
    return rig;
}

static inline mabd_parameter* gradient_rig_add(gradient_rig* rig, mabd_parameter_kind kind,
                                               int32_t index, int32_t component) {
    mabd_parameter* p = &rig->parameters[rig->def.parameter_count++];
    *p = mabd_default_parameter(kind);
    p->index = index, p->component = component;
    return p;
}
/// Add components 0 to 2 of a kind.
static inline void gradient_rig_three(gradient_rig* rig, mabd_parameter_kind kind, int32_t index,
                                      mabd_real scale) {
    for (int k = 0; k < 3; k++) gradient_rig_add(rig, kind, index, k)->scale = scale;
}
static inline void gradient_rig_axis(gradient_rig* rig, mabd_parameter_kind kind, int32_t joint,
                                     mabd_axis axis, mabd_real scale) {
    mabd_parameter* p = gradient_rig_add(rig, kind, joint, 0);
    p->axis = (int32_t)axis, p->scale = scale;
}

static inline mabd_loss_term* gradient_rig_term(gradient_rig* rig, mabd_loss_kind kind,
                                                int32_t index, int64_t first, int64_t last) {
    mabd_loss_term* t = &rig->terms[rig->def.term_count++];
    *t = mabd_default_loss_term(kind);
    t->index = index, t->first = first, t->last = last;
    return t;
}

/// Add terms of a point of body 1, and of the velocity and rotation of body 2.
static inline void gradient_rig_motion_terms(gradient_rig* rig) {
    const int64_t end = rig->def.steps;
    mabd_loss_term* t = gradient_rig_term(rig, MABD_LOSS_POINT, 1, end / 2, end);
    t->point[0] = (mabd_real)0.2, t->point[1] = (mabd_real)0.1, t->target[2] = (mabd_real)-0.3;
    t = gradient_rig_term(rig, MABD_LOSS_VELOCITY, 2, end, end);
    t->point[2] = (mabd_real)0.1, t->target[0] = 1, t->weight = (mabd_real)0.1;
    t = gradient_rig_term(rig, MABD_LOSS_ROTATION, 2, end, end);
    t->target[0] = (mabd_real)0.8, t->target[1] = (mabd_real)0.48, t->target[3] = (mabd_real)0.36;
}

/// Create the gradient; the rig's arrays are copied.
static inline mabd_gradient* gradient_rig_create(gradient_rig* rig, const mabd_model* model) {
    mabd_error error = {0};
    mabd_gradient* g;
    rig->def.parameters = rig->parameters, rig->def.terms = rig->terms;
    rig_check(mabd_gradient_create(model, &rig->sim, &rig->def, &g, &error), &error, "gradient");
    return g;
}

/// Write the values of the scene, each moved by `offset` scales.
static inline void gradient_rig_values(const gradient_rig* rig, const mabd_model* model,
                                       mabd_real offset, mabd_real* p) {
    for (int32_t i = 0; i < rig->def.parameter_count; i++) {
        p[i] = mabd_parameter_value(model, rig->sim.h, &rig->parameters[i]) +
               offset * rig->parameters[i].scale;
    }
}

/// Compare each derivative with its difference of fourth order: relative to itself, but to no less
/// than 1e-3 of the largest.
static inline double gradient_rig_compare(const gradient_rig* rig, mabd_gradient* g, mabd_real* p,
                                          mabd_real step, bool print) {
    mabd_error error = {0};
    mabd_gradient_info info;
    mabd_real own[GRADIENT_MAX], found[GRADIENT_MAX];
    double most = 0, worst = 0;
    rig_check(mabd_gradient_run(g, p, own, &info, &error), &error, "run");
    for (int32_t i = 0; i < rig->def.parameter_count; i++) {
        const mabd_real kept = p[i], h = step * rig->parameters[i].scale;
        mabd_real f[4];
        const int at[4] = {-2, -1, 1, 2};
        for (int k = 0; k < 4; k++) {
            p[i] = kept + at[k] * h;
            rig_check(mabd_gradient_run(g, p, NULL, &info, &error), &error, "run");
            f[k] = info.loss;
        }
        p[i] = kept;
        found[i] = (8 * (f[2] - f[1]) - (f[3] - f[0])) / 12 / step;
        own[i] *= rig->parameters[i].scale;
        most = fmax(most, fabs(found[i]));
    }
    for (int32_t i = 0; i < rig->def.parameter_count; i++) {
        const double e = fabs(own[i] - found[i]) / fmax(fabs(found[i]), 1e-3 * most);
        if (print || e > 1e-6) {
            printf("  %-15s %d/%d  adjoint %.12g  difference %.12g  error %.1e\n",
                   mabd_parameter_kind_name(rig->parameters[i].kind), rig->parameters[i].index,
                   rig->parameters[i].component, (double)own[i], (double)found[i], e);
        }
        worst = fmax(worst, e);
    }
    return worst;
}

/// Weight of entry i of a state in the loss of gradient_rig_forward_error: no pattern.
static inline mabd_real gradient_rig_weight(size_t i) {
    return (mabd_real)(0.3 + 0.7 * sin(1.7 * (double)i + 0.4));
}
static inline void gradient_rig_linear(void* user, int64_t step, const mabd_sim* sim,
                                       mabd_real* value, mabd_real* d_position,
                                       mabd_real* d_rotation, mabd_real* d_velocity,
                                       mabd_real* d_angular) {
    const size_t bodies = *(const size_t*)user;
    mabd_real* const parts[4] = {d_position, d_rotation, d_velocity, d_angular};
    (void)step, (void)sim;
    *value = 0;
    for (size_t i = 0; d_position && i < 12 * bodies; i++) {
        parts[i % 12 / 3][3 * (i / 12) + i % 3] = gradient_rig_weight(i);
    }
}

/// Compare the adjoint of a linear function of the last state with forward mode at p: the largest
/// difference, relative to the largest derivative.
static inline double gradient_rig_forward_error(const gradient_rig* from, const mabd_model* model,
                                                const mabd_real* p) {
    gradient_rig rig = *from;
    mabd_error error = {0};
    size_t bodies = (size_t)mabd_model_body_count(model);
    const size_t n = (size_t)rig.def.parameter_count, reals = 12 * bodies;
    mabd_real own[GRADIENT_MAX];
    double most = 0, worst = 0;
    mabd_real* ds = malloc(2 * reals * n * sizeof *ds);
    rig.def.term_count = 0, rig.def.user_fn = gradient_rig_linear, rig.def.user = &bodies;
    gradient_rig_term(&rig, MABD_LOSS_USER, 0, rig.def.steps, rig.def.steps);
    mabd_gradient* g = gradient_rig_create(&rig, model);
    rig_check(mabd_gradient_run(g, p, own, NULL, &error), &error, "adjoint");
    rig_check(mabd_gradient_forward(g, p, rig.def.steps, ds, &error), &error, "forward");
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < reals; k++) sum += gradient_rig_weight(k) * ds[(reals + k) * n + i];
        most = fmax(most, fabs(sum)), worst = fmax(worst, fabs(sum - own[i]));
    }
    mabd_gradient_destroy(g);
    free(ds);
    return most > 0 ? worst / most : 1;
}

/// Expect that a gradient takes the memory that it says, and a run none. The model must have no
/// warnings, which take memory as well.
static inline void gradient_rig_expect_bytes(const gradient_rig* from, const mabd_model* model) {
    counting_allocator counter = {.fail_at = -1};
    const mabd_allocator allocator = counting_allocator_make(&counter);
    gradient_rig rig = *from;
    rig.sim.allocator = &allocator;
    mabd_gradient* g = gradient_rig_create(&rig, model);
    const int64_t before = counter.live_bytes;
    cr_expect(before == (int64_t)mabd_gradient_bytes(g), "%lld live, %zu said", (long long)before,
              mabd_gradient_bytes(g));
    mabd_real p[GRADIENT_MAX], own[GRADIENT_MAX];
    mabd_error error = {0};
    gradient_rig_values(&rig, model, 0.1, p);
    rig_check(mabd_gradient_run(g, p, own, NULL, &error), &error, "run");
    cr_expect(counter.live_bytes == before);
    mabd_gradient_destroy(g);
    cr_expect(counter.live_blocks == 0 && counter.wrong_frees == 0);
}

/// Expect the same bits from a tape with checkpoints as from one without, at `offset` scales from
/// the values of the scene.
static inline void gradient_rig_expect_same_bits(const gradient_rig* from, const mabd_model* model,
                                                 mabd_real offset) {
    gradient_rig rig = *from;
    mabd_error error = {0};
    mabd_real p[GRADIENT_MAX], plain[GRADIENT_MAX], again[GRADIENT_MAX];
    mabd_gradient_info info;
    size_t need = 0;
    gradient_rig_values(&rig, model, offset, p);
    mabd_gradient* g = gradient_rig_create(&rig, model);
    const size_t all = mabd_gradient_bytes(g);
    rig_check(mabd_gradient_run(g, p, plain, &info, &error), &error, "run");
    mabd_gradient_destroy(g);
    rig.def.tape_bytes = 1;
    cr_expect(mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error) == MABD_ERR_MEMORY);
    cr_expect(sscanf(error.text, "tape_bytes is 1; a tape with checkpoints needs %zu", &need) == 1);
    rig.def.tape_bytes = need;
    g = gradient_rig_create(&rig, model);
    rig_check(mabd_gradient_run(g, p, again, &info, &error), &error, "run");
    cr_expect(info.recomputed > 0 && mabd_gradient_bytes(g) < all);
    cr_expect(memcmp(plain, again, (size_t)rig.def.parameter_count * sizeof *p) == 0);
    mabd_gradient_destroy(g);
}

/// Expect a gradient at p that equals its differences to 1e-6 and forward mode to 1e-11.
static inline void gradient_rig_expect_derivatives(const char* name, const mabd_model* model,
                                                   gradient_rig* rig, mabd_real* p) {
    mabd_gradient* g = gradient_rig_create(rig, model);
    const double error = gradient_rig_compare(rig, g, p, 0.01, false);
    const double forward = gradient_rig_forward_error(rig, model, p);
    printf("%-20s %-14s error %.1e, forward %.1e\n", name,
           mabd_integrator_name(rig->sim.integrator), error, forward);
    cr_expect(error < 1e-6, "%s", name);
    cr_expect(forward < 1e-11, "%s", name);
    mabd_gradient_destroy(g);
}

/// Expect a gradient at the values of the scene that equals its differences, by `step` scales, to
/// 1e-6 and forward mode to 1e-11, and that steps are not smooth if `rough`, and only then.
static inline void gradient_rig_expect_branches(const char* name, const mabd_model* model,
                                                gradient_rig* rig, mabd_real step, bool rough) {
    mabd_real p[GRADIENT_MAX], own[GRADIENT_MAX];
    mabd_error error = {0};
    mabd_gradient_info info;
    mabd_gradient* g = gradient_rig_create(rig, model);
    gradient_rig_values(rig, model, 0, p);
    rig_check(mabd_gradient_run(g, p, own, &info, &error), &error, "run");
    const double worst = gradient_rig_compare(rig, g, p, step, false);
    const double forward = gradient_rig_forward_error(rig, model, p);
    printf("%-27s %-13s %d steps not smooth, error %.1e, forward %.1e\n", name,
           mabd_integrator_name(rig->sim.integrator), (int)info.non_smooth, worst, forward);
    cr_expect(worst < 1e-6 && forward < 1e-11, "%s", name);
    cr_expect(rough == (info.non_smooth > 0), "%s: %d", name, (int)info.non_smooth);
    mabd_gradient_destroy(g);
}

/// Expect that derivatives by the parameters of one of two copies have the bits of that copy alone.
/// empty: a rig without parameters and terms; add: adds those of a copy, as many for each; both:
/// gets the gradient.
static inline void gradient_rig_expect_copies(const gradient_rig* empty, const char* const* texts,
                                              void (*add)(gradient_rig*, int32_t copy),
                                              mabd_real* both) {
    mabd_scene* batch;
    mabd_real alone[2][GRADIENT_MAX], p[GRADIENT_MAX];
    mabd_error error = {0};
    gradient_rig all = *empty;
    rig_check(mabd_scene_create(NULL, &batch), &error, "scene");
    for (int copy = 0; copy < 2; copy++) {
        mabd_scene* scene;
        const char* own = texts[copy];
        rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
        rig_check(mabd_scene_load_text(scene, own, strlen(own), 0, NULL, &error), &error, own);
        rig_check(mabd_scene_add_copy(batch, scene, &error), &error, "copy");
        mabd_scene_destroy(scene);
        mabd_model* model = rig_text_model(own);
        gradient_rig one = *empty;
        add(&one, 0), add(&all, copy);
        gradient_rig_values(&one, model, 0, p);
        mabd_gradient* g = gradient_rig_create(&one, model);
        rig_check(mabd_gradient_run(g, p, alone[copy], NULL, &error), &error, "run");
        mabd_gradient_destroy(g);
        mabd_model_destroy(model);
    }
    mabd_model* model = rig_model(batch);
    gradient_rig_values(&all, model, 0, p);
    mabd_gradient* g = gradient_rig_create(&all, model);
    rig_check(mabd_gradient_run(g, p, both, NULL, &error), &error, "run");
    const int32_t count = all.def.parameter_count / 2;
    cr_expect(memcmp(both, alone[0], (size_t)count * sizeof *both) == 0);
    cr_expect(memcmp(both + count, alone[1], (size_t)count * sizeof *both) == 0);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}
