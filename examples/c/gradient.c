// SPDX-License-Identifier: Apache-2.0
// Aim a double pendulum: find the start speeds of its two rods that bring the free end to a point
// after 1 s, by the gradient of the distance.
// usage: gradient, from the root of the repository
#include <mabd/mabd.h>

#include <stdio.h>

static mabd_error error;

static int fail(void) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
}

int main(void) {
    mabd_scene* scene = NULL;
    mabd_model* model = NULL;
    mabd_gradient* gradient = NULL;
    if (mabd_scene_create(NULL, &scene) != MABD_OK) return 1;
    if (mabd_scene_load(scene, "scenes/double-pendulum.json", 0, NULL, &error)) return fail();
    if (mabd_model_build(scene, NULL, &model, &error)) return fail();
    const int32_t upper = mabd_model_find_body(model, "upper");
    const int32_t lower = mabd_model_find_body(model, "lower");

    mabd_parameter parameters[2] = {mabd_default_parameter(MABD_PARAMETER_START_ANGULAR),
                                    mabd_default_parameter(MABD_PARAMETER_START_ANGULAR)};
    parameters[0].index = upper, parameters[0].component = 1; // about y, the axis of the hinges
    parameters[1].index = lower, parameters[1].component = 1;

    mabd_loss_term term = mabd_default_loss_term(MABD_LOSS_POINT);
    term.index = lower;
    term.point[0] = 0.5; // the free end, in the frame of the rod
    term.target[0] = -1.8, term.target[2] = -0.84;
    term.first = term.last = 200; // the state after 200 steps

    mabd_sim_def sim = mabd_default_sim_def();
    sim.formulation = MABD_FORMULATION_QUATERNION;
    sim.h = 0.005;
    mabd_gradient_def def = mabd_default_gradient_def();
    def.parameter_count = 2, def.parameters = parameters;
    def.term_count = 1, def.terms = &term;
    def.steps = 200;
    if (mabd_gradient_create(model, &sim, &def, &gradient, &error)) return fail();

    mabd_real p[2] = {0, 0}, derivative[2];
    mabd_gradient_info info;
    if (mabd_gradient_run(gradient, p, derivative, &info, &error)) return fail();
    printf("at rest: loss %.4f m^2, derivatives %.4f and %.4f m^2 s/rad\n", info.loss,
           derivative[0], derivative[1]);

    mabd_optimize_info best;
    const mabd_optimize_def optimize = mabd_default_optimize_def();
    if (mabd_optimize(gradient, &optimize, p, &best, &error)) return fail();
    printf("at %.3f and %.3f rad/s: loss %.1e m^2 after %d runs: %s\n", p[0], p[1], best.loss,
           best.runs, best.loss < 1e-12 ? "the end is on the target" : "missed");

    mabd_gradient_destroy(gradient);
    mabd_model_destroy(model);
    mabd_scene_destroy(scene);
    return best.loss < 1e-12 ? 0 : 1;
}
