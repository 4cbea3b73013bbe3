// SPDX-License-Identifier: Apache-2.0
// mabd_optimize and mabd_gradient_differences on a ball that flies straight: x(1 s) = v, so the
// loss |v - target|^2 has its minimum at the target and derivatives 2 (v - target).
#include "mabd/gradient.h"
#include "support/rig.h"

#define STEPS 20

static const mabd_real target[3] = {3, -2, 0.5};

static mabd_model* ball(void) {
    const mabd_real size[3] = {(mabd_real)0.1};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_SPHERE, size, 1000);
    mabd_body_def def = mabd_default_body_def();
    mabd_scene* scene = rig_scene(0);
    def.geom_count = 1, def.geoms = &geom;
    rig_add_body(scene, &def);
    return rig_model(scene);
}

// The gradient by the three start velocities; parameters (3) are copied.
static mabd_gradient* gradient_of(const mabd_model* model, const mabd_parameter* parameters) {
    mabd_error error = {0};
    mabd_gradient* gradient;
    mabd_loss_term term = mabd_default_loss_term(MABD_LOSS_POINT);
    for (int k = 0; k < 3; k++) term.target[k] = target[k];
    term.first = term.last = STEPS;
    mabd_sim_def sim = mabd_default_sim_def();
    sim.formulation = MABD_FORMULATION_QUATERNION;
    sim.h = (mabd_real)1 / STEPS;
    mabd_gradient_def def = mabd_default_gradient_def();
    def.parameter_count = 3, def.parameters = parameters;
    def.term_count = 1, def.terms = &term, def.steps = STEPS;
    rig_check(mabd_gradient_create(model, &sim, &def, &gradient, &error), &error, "gradient");
    return gradient;
}

static void make_parameters(mabd_parameter* parameters, const mabd_real* scale) {
    for (int k = 0; k < 3; k++) {
        parameters[k] = mabd_default_parameter(MABD_PARAMETER_START_VELOCITY);
        parameters[k].component = k, parameters[k].scale = scale[k];
    }
}

static bool stop_after_one(void* user, const mabd_optimize_step* step) {
    int* calls = user;
    cr_expect(step->iteration == (*calls)++ && step->parameters != NULL);
    return step->iteration < 1;
}

Test(optimize, reaches_the_target_with_any_scale) {
    const mabd_real scales[2][3] = {{1, 1, 1}, {10, (mabd_real)0.01, 3}};
    mabd_model* model = ball();
    for (int i = 0; i < 2; i++) {
        mabd_parameter parameters[3];
        mabd_real p[3] = {0, 0, 0};
        mabd_optimize_info info;
        mabd_error error = {0};
        make_parameters(parameters, scales[i]);
        mabd_gradient* gradient = gradient_of(model, parameters);
        const mabd_optimize_def def = mabd_default_optimize_def();
        rig_check(mabd_optimize(gradient, &def, p, &info, &error), &error, "optimise");
        for (int k = 0; k < 3; k++) cr_expect(fabs((double)(p[k] - target[k])) < 1e-5, "%g", p[k]);
        cr_expect(fabs((double)info.first_loss - 13.25) < 1e-9 && info.loss < 1e-9);
        mabd_gradient_destroy(gradient);
    }
    mabd_model_destroy(model);
}

Test(optimize, ends_at_bounds_exactly_and_at_the_wish_of_the_caller) {
    const mabd_real scale[3] = {3, 3, 3};
    mabd_model* model = ball();
    mabd_parameter parameters[3];
    mabd_error error = {0};
    make_parameters(parameters, scale);
    parameters[0].upper = (mabd_real)0.7, parameters[1].lower = (mabd_real)-0.1;
    mabd_gradient* gradient = gradient_of(model, parameters);
    mabd_real p[3] = {9, 0, 0};
    mabd_optimize_info info;
    mabd_optimize_def def = mabd_default_optimize_def();
    rig_check(mabd_optimize(gradient, &def, p, &info, &error), &error, "optimise");
    cr_expect(p[0] == (mabd_real)0.7 && p[1] == (mabd_real)-0.1);
    cr_expect(fabs((double)p[2] - 0.5) < 1e-6 && info.reason == MABD_STOP_GRADIENT);
    int calls = 0;
    mabd_real q[3] = {0, 0, 5};
    def.progress = stop_after_one, def.user = &calls;
    rig_check(mabd_optimize(gradient, &def, q, &info, &error), &error, "optimise");
    cr_expect(info.reason == MABD_STOP_USER && info.iterations == 1 && calls == 2);
    mabd_gradient_destroy(gradient);
    mabd_model_destroy(model);
}

Test(optimize, arguments_are_checked) {
    const mabd_real scale[3] = {1, 1, 1};
    mabd_model* model = ball();
    mabd_parameter parameters[3];
    mabd_error error = {0};
    make_parameters(parameters, scale);
    mabd_gradient* gradient = gradient_of(model, parameters);
    mabd_real p[3] = {0, 0, 0}, wrong[3] = {0, (mabd_real)NAN, 0};
    const mabd_optimize_def def = mabd_default_optimize_def();
    mabd_optimize_def bad = def;
    cr_expect_eq(mabd_optimize(NULL, &def, p, NULL, &error), MABD_ERR_ARG);
    cr_expect_eq(mabd_optimize(gradient, NULL, p, NULL, &error), MABD_ERR_ARG);
    cr_expect_eq(mabd_optimize(gradient, &def, wrong, NULL, &error), MABD_ERR_ARG);
    bad.cookie = 0;
    cr_expect_eq(mabd_optimize(gradient, &bad, p, NULL, &error), MABD_ERR_ARG);
    bad = def, bad.memory = 0;
    cr_expect_eq(mabd_optimize(gradient, &bad, p, NULL, &error), MABD_ERR_ARG);
    bad = def, bad.gradient_tolerance = (mabd_real)NAN;
    cr_expect_eq(mabd_optimize(gradient, &bad, p, NULL, &error), MABD_ERR_ARG);
    cr_expect_eq(mabd_optimize(gradient, &def, p, NULL, &error), MABD_OK);
    mabd_gradient_destroy(gradient);
    mabd_model_destroy(model);
}

Test(optimize, differences_are_those_of_the_closed_form) {
    const mabd_real scale[3] = {1, 10, (mabd_real)0.1};
    mabd_model* model = ball();
    mabd_parameter parameters[3];
    mabd_error error = {0};
    make_parameters(parameters, scale);
    mabd_gradient* gradient = gradient_of(model, parameters);
    const mabd_real p[3] = {1, 1, 1};
    mabd_real found[3];
    rig_check(mabd_gradient_differences(gradient, p, 0, found, &error), &error, "differences");
    for (int k = 0; k < 3; k++) {
        cr_expect(fabs((double)(found[k] - 2 * (p[k] - target[k]))) < 1e-8, "%g", found[k]);
    }
    cr_expect_eq(mabd_gradient_differences(gradient, p, -1, found, &error), MABD_ERR_ARG);
    cr_expect_eq(mabd_gradient_differences(NULL, p, 0, found, &error), MABD_ERR_ARG);
    mabd_gradient_destroy(gradient);
    mabd_model_destroy(model);
}
