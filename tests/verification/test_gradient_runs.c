// SPDX-License-Identifier: Apache-2.0
// Gradients of runs: by springs, dampers, controls and forces against differences; adjoint against
// forward mode; with checkpoints the same bits; bytes as the allocator counts them; a projectile in
// closed form.

#include "support/gradient_rig.h"

// An arm on a ball joint with springs and dampers, then a hinge with spring, damper, armature and
// motor.
static const char* const arm_text =
    "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
    " {\"name\": \"upper\", \"mass\": 1.2, \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, "
    "0.002],"
    "  \"position\": [0.25, 0, 0]},"
    " {\"name\": \"lower\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025],"
    "  \"position\": [0.75, 0.1, 0]}],"
    " \"joints\": [{\"type\": \"ball\", \"a\": \"world\", \"b\": \"upper\","
    "  \"anchor\": [0, 0, 0], \"axes\": {"
    "   \"rx\": {\"stiffness\": 2, \"rest\": 0.1, \"damping\": 0.1},"
    "   \"ry\": {\"stiffness\": 3, \"damping\": 0.2, \"armature\": 0.01},"
    "   \"rz\": {\"stiffness\": 4, \"rest\": -0.2, \"damping\": 0.3}}},"
    " {\"type\": \"hinge\", \"a\": \"upper\", \"b\": \"lower\", \"anchor\": [0.5, 0, 0],"
    "  \"axis\": [0, 1, 0], \"axes\": {\"rx\": {\"stiffness\": 5, \"rest\": 0.2,"
    "   \"damping\": 0.1, \"armature\": 0.02, \"motor\": 0.5}}}]}";

static mabd_model* arm(void) {
    return rig_text_model(arm_text);
}

static gradient_rig make_rig(mabd_integrator method) {
    gradient_rig rig = gradient_rig_make(method, 0.01, 10);
    const mabd_parameter_kind kinds[] = {MABD_PARAMETER_STIFFNESS, MABD_PARAMETER_REST,
                                         MABD_PARAMETER_DAMPING};
    for (int k = 0; k < 3; k++) {
        gradient_rig_axis(&rig, kinds[k], 0, MABD_AXIS_RX, 0.1);
        gradient_rig_axis(&rig, kinds[k], 1, MABD_AXIS_RX, 0.1);
        gradient_rig_add(&rig, MABD_PARAMETER_START_ANGULAR, 1, k)->scale = 0.1;
    }
    gradient_rig_axis(&rig, MABD_PARAMETER_ARMATURE, 0, MABD_AXIS_RY, 0.002);
    gradient_rig_axis(&rig, MABD_PARAMETER_ARMATURE, 1, MABD_AXIS_RX, 0.002);
    mabd_parameter* p = gradient_rig_add(&rig, MABD_PARAMETER_CONTROL, 0, 0);
    p->first = 3, p->last = 6;
    p = gradient_rig_add(&rig, MABD_PARAMETER_FORCE, 1, 1);
    p->first = 2, p->last = 5;
    p = gradient_rig_add(&rig, MABD_PARAMETER_FORCE, 0, 5);
    p->first = 4, p->last = 9;
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 1, 5, 10);
    t->point[0] = 0.2, t->target[2] = -0.3;
    t = gradient_rig_term(&rig, MABD_LOSS_ANGULAR, 1, 10, 10);
    t->weight = 0.01;
    t = gradient_rig_term(&rig, MABD_LOSS_ENERGY, 0, 10, 10);
    t->weight = 0.01;
    return rig;
}

Test(gradient, axes_and_inputs) {
    const mabd_integrator methods[] = {MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_BDF2,
                                       MABD_INTEGRATOR_TRBDF2};
    mabd_model* model = arm();
    for (int i = 0; i < 3; i++) {
        gradient_rig rig = make_rig(methods[i]);
        mabd_real p[GRADIENT_MAX];
        mabd_gradient* g = gradient_rig_create(&rig, model);
        gradient_rig_values(&rig, model, 0.1, p);
        const double error = gradient_rig_compare(&rig, g, p, 0.02, false);
        printf("%-15s error %.1e\n", mabd_integrator_name(methods[i]), error);
        cr_expect(error < 1e-6);
        mabd_gradient_destroy(g);
    }
    mabd_model_destroy(model);
}

// d loss/dp = sum of derivatives of the loss by the last state and of that state by p.
Test(gradient, adjoint_equals_forward) {
    mabd_model* model = arm();
    mabd_error error = {0};
    gradient_rig rig = make_rig(MABD_INTEGRATOR_TRBDF2);
    mabd_real p[GRADIENT_MAX], own[GRADIENT_MAX], ds[2 * 24 * GRADIENT_MAX], position[6];
    const int32_t n = rig.def.parameter_count;
    rig.def.term_count = 0;
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 1, 10, 10);
    t->target[0] = 0.2, t->target[2] = -0.3;
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, 0.1, p);
    rig_check(mabd_gradient_run(g, p, own, NULL, &error), &error, "run");
    rig_check(mabd_gradient_forward(g, p, 10, ds, &error), &error, "forward");
    // the position from the loss itself: |x - a|^2 at three targets would do; here by its gradient
    double most = 0, worst = 0;
    for (int k = 0; k < 3; k++) { // one coordinate at a time: 2 (x - a) dx/dp
        gradient_rig one = make_rig(MABD_INTEGRATOR_TRBDF2);
        mabd_gradient_info info;
        one.def.term_count = 0, one.def.user_fn = NULL;
        t = gradient_rig_term(&one, MABD_LOSS_POINT, 1, 10, 10);
        mabd_gradient* h = gradient_rig_create(&one, model);
        rig_check(mabd_gradient_run(h, p, NULL, &info, &error), &error, "run");
        const double zero = info.loss;
        mabd_gradient_destroy(h);
        one.terms[0].target[k] = 1;
        h = gradient_rig_create(&one, model);
        rig_check(mabd_gradient_run(h, p, NULL, &info, &error), &error, "run");
        position[k] = (zero - info.loss + 1) / 2; // |x|^2 - |x - e|^2 = 2 x_k - 1
        mabd_gradient_destroy(h);
    }
    const double target[3] = {0.2, 0, -0.3};
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            sum += 2 * (position[k] - target[k]) * ds[(24 + 12 + k) * n + i];
        }
        most = fmax(most, fabs(sum)), worst = fmax(worst, fabs(sum - own[i]));
    }
    printf("adjoint against forward: %.1e of %.3g\n", worst / most, most);
    cr_expect(worst < 1e-11 * most);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

Test(gradient, checkpoints_give_the_same_bits) {
    mabd_model* model = arm();
    mabd_error error = {0};
    mabd_real p[GRADIENT_MAX], plain[GRADIENT_MAX], again[GRADIENT_MAX];
    mabd_gradient_info info;
    gradient_rig rig = make_rig(MABD_INTEGRATOR_BDF2);
    rig.def.steps = 60;
    gradient_rig_values(&rig, model, 0.1, p);
    mabd_gradient* g = gradient_rig_create(&rig, model);
    const size_t all = mabd_gradient_bytes(g);
    rig_check(mabd_gradient_run(g, p, plain, &info, &error), &error, "run");
    cr_expect(info.recomputed == 0);
    mabd_gradient_destroy(g);
    rig.def.tape_bytes = 1;
    rig.def.parameters = rig.parameters, rig.def.terms = rig.terms;
    cr_expect(mabd_gradient_create(model, &rig.sim, &rig.def, &g, &error) == MABD_ERR_MEMORY);
    size_t need = 0, full = 0;
    cr_expect(sscanf(error.text,
                     "tape_bytes is 1; a tape with checkpoints needs %zu, all of it %zu", &need,
                     &full) == 2);
    cr_assert(need > 0 && need < full);
    rig.def.tape_bytes = need;
    g = gradient_rig_create(&rig, model);
    rig_check(mabd_gradient_run(g, p, again, &info, &error), &error, "run");
    cr_expect(info.recomputed > 0 && mabd_gradient_bytes(g) < all);
    cr_expect(memcmp(plain, again, (size_t)rig.def.parameter_count * sizeof *p) == 0);
    mabd_gradient_destroy(g);
    printf("tape %zu bytes, with checkpoints %zu\n", full, need);
    mabd_model_destroy(model);
}

// x = x0 + v t + g t^2/2 for trbdf2, which is exact for it: loss |x - a|^2.
Test(gradient, projectile) {
    mabd_model* model =
        rig_text_model("{\"gravity\": [0, 0, -10], \"bodies\": [{\"name\": \"ball\", \"mass\": 2,"
                       " \"inertia\": [1, 1, 1], \"velocity\": [3, 1, 4]}]}");
    mabd_error error = {0};
    gradient_rig rig = gradient_rig_make(MABD_INTEGRATOR_TRBDF2, 0.01, 50);
    mabd_real p[3], own[3];
    gradient_rig_add(&rig, MABD_PARAMETER_START_VELOCITY, 0, 0);
    gradient_rig_add(&rig, MABD_PARAMETER_GRAVITY, 0, 2);
    mabd_parameter* f = gradient_rig_add(&rig, MABD_PARAMETER_FORCE, 0, 1);
    f->first = 1, f->last = 50;
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_POINT, 0, 50, 50);
    t->target[0] = 1, t->target[1] = 2, t->target[2] = 3;
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, 0, p);
    rig_check(mabd_gradient_run(g, p, own, NULL, &error), &error, "run");
    const double x[3] = {1.5, 0.5, 2 - 1.25};
    cr_expect(fabs(own[0] - 2 * (x[0] - 1) * 0.5) < 1e-10, "%g", (double)own[0]);
    cr_expect(fabs(own[1] - 2 * (x[2] - 3) * 0.125) < 1e-10, "%g", (double)own[1]);
    cr_expect(fabs(own[2] - 2 * (x[1] - 2) * 0.125 / 2) < 1e-10, "%g", (double)own[2]);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

Test(gradient, bytes) {
    mabd_model* model = arm();
    const gradient_rig rig = make_rig(MABD_INTEGRATOR_BDF2);
    gradient_rig_expect_bytes(&rig, model);
    mabd_model_destroy(model);
}

Test(gradient, check_finds_the_error_of_the_gradient) {
    mabd_model* model = arm();
    mabd_error error = {0};
    gradient_rig rig = make_rig(MABD_INTEGRATOR_BDF2);
    mabd_real p[GRADIENT_MAX], own[GRADIENT_MAX], found[GRADIENT_MAX], worst = -1;
    double most = 0, expected = 0;
    int32_t which = -2, place = -1;
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, (mabd_real)0.1, p);
    const mabd_real step = (mabd_real)0.3; // large: differences are then off by 1e-6
    rig_check(mabd_gradient_check(g, p, step, &worst, &which, &error), &error, "check");
    rig_check(mabd_gradient_run(g, p, own, NULL, &error), &error, "run");
    rig_check(mabd_gradient_differences(g, p, step, found, &error), &error, "differences");
    for (int32_t i = 0; i < rig.def.parameter_count; i++) {
        const double scale = (double)rig.parameters[i].scale;
        most = fmax(most, scale * fmax(fabs((double)own[i]), fabs((double)found[i])));
    }
    for (int32_t i = 0; i < rig.def.parameter_count; i++) {
        const double off =
            (double)rig.parameters[i].scale * fabs((double)(own[i] - found[i])) / most;
        if (off > expected) expected = off, place = i;
    }
    cr_expect(which == place && fabs((double)worst - expected) < 1e-12, "%d %g, %d %g", (int)which,
              (double)worst, (int)place, expected);
    cr_expect(worst > 0 && worst < 1e-4);
    rig_check(mabd_gradient_check(g, p, 0, &worst, NULL, &error), &error, "check");
    cr_expect(worst < 1e-7, "%g", (double)worst);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

// ---- losses of parameters and of the user ------------------------------------------------------

// 3 (p - 2)^2 counts once, at whatever states; another parameter has no part in it.
Test(gradient, loss_of_a_parameter) {
    mabd_model* model = arm();
    mabd_error error = {0};
    mabd_gradient_info info;
    gradient_rig rig = gradient_rig_make(MABD_INTEGRATOR_BDF2, (mabd_real)0.01, 5);
    mabd_real own[2], p[2] = {(mabd_real)1.5, 4};
    gradient_rig_add(&rig, MABD_PARAMETER_MASS, 0, 0);
    gradient_rig_axis(&rig, MABD_PARAMETER_STIFFNESS, 1, MABD_AXIS_RX, 1);
    mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_PARAMETER, 1, 0, 5);
    t->weight = 3, t->target[0] = 2;
    mabd_gradient* g = gradient_rig_create(&rig, model);
    rig_check(mabd_gradient_run(g, p, own, &info, &error), &error, "run");
    cr_expect(fabs((double)info.loss - 12) < 1e-14 && own[0] == 0);
    cr_expect(fabs((double)own[1] - 12) < 1e-13, "%g", (double)own[1]);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

/// What a loss of the user has seen.
typedef struct user_calls {
    int values, derivatives;
    int64_t last;
} user_calls;

// x1 y1 + sin(vz2) + omega1 . omega1 + the angle of body 2 from the identity, squared.
static void user_loss(void* user, int64_t step, const mabd_sim* sim, mabd_real* value,
                      mabd_real* d_position, mabd_real* d_rotation, mabd_real* d_velocity,
                      mabd_real* d_angular) {
    user_calls* calls = user;
    mabd_real x[6], q[8], v[6], w[6];
    mabd_sim_get_state(sim, x, q, v, w);
    const double k = 1 + (double)step;
    const double half = acos(fmin(1, fabs((double)q[4]))), angle = 2 * half;
    *value = (mabd_real)(k * (double)(x[0] * x[1]) + sin((double)v[5]) + angle * angle);
    for (int i = 0; i < 3; i++) *value += w[i] * w[i];
    calls->values++, calls->last = step;
    if (!d_position) return;
    calls->derivatives++;
    d_position[0] = (mabd_real)k * x[1], d_position[1] = (mabd_real)k * x[0];
    d_velocity[5] = (mabd_real)cos((double)v[5]);
    for (int i = 0; i < 3; i++) d_angular[i] = 2 * w[i];
    // d angle = axis . turn, the axis is the same in both frames
    const double sign = q[4] < 0 ? -1 : 1, size = sin(half);
    for (int i = 0; i < 3; i++) {
        d_rotation[3 + i] = (mabd_real)(2 * angle * sign * (double)q[5 + i] / size);
    }
}

Test(gradient, loss_of_the_user) {
    mabd_model* model = arm();
    user_calls calls = {0};
    mabd_real p[GRADIENT_MAX], own[GRADIENT_MAX];
    mabd_error error = {0};
    gradient_rig rig = make_rig(MABD_INTEGRATOR_TRBDF2);
    rig.def.term_count = 0;
    rig.def.user_fn = user_loss, rig.def.user = &calls;
    gradient_rig_term(&rig, MABD_LOSS_USER, 0, 6, 10)->weight = (mabd_real)0.7;
    mabd_gradient* g = gradient_rig_create(&rig, model);
    gradient_rig_values(&rig, model, (mabd_real)0.1, p);
    rig_check(mabd_gradient_run(g, p, own, NULL, &error), &error, "run");
    cr_expect(calls.derivatives == 5 && calls.values == 10 && calls.last == 6);
    const double off = gradient_rig_compare(&rig, g, p, (mabd_real)0.02, false);
    printf("loss of the user: error %.1e\n", off);
    cr_expect(off < 1e-6);
    mabd_gradient_destroy(g);
    mabd_model_destroy(model);
}

// ---- batches -----------------------------------------------------------------------------------

// Each copy has its own parameters and terms: the gradient of both is that of each alone.
Test(gradient, of_a_batch_is_one_for_each_copy) {
    mabd_error error = {0};
    mabd_scene *batch, *scene;
    mabd_model* one = arm();
    mabd_model* both;
    mabd_gradient_info info;
    mabd_real p[GRADIENT_MAX], q[GRADIENT_MAX], own[GRADIENT_MAX], single[2][GRADIENT_MAX];
    mabd_real loss = 0;
    rig_check(mabd_scene_create(NULL, &batch), &error, "batch");
    for (int k = 0; k < 2; k++) {
        rig_check(mabd_scene_create(NULL, &scene), &error, "scene");
        rig_check(mabd_scene_load_text(scene, arm_text, strlen(arm_text), 0, NULL, &error), &error,
                  "load");
        rig_check(mabd_scene_add_copy(batch, scene, &error), &error, "copy");
        mabd_scene_destroy(scene);
    }
    both = rig_model(batch);
    gradient_rig rig = make_rig(MABD_INTEGRATOR_BDF2);
    const int32_t n = rig.def.parameter_count, terms = rig.def.term_count;
    for (int k = 0; k < 2; k++) { // the second copy with other values
        gradient_rig alone = make_rig(MABD_INTEGRATOR_BDF2);
        alone.def.term_count = terms - 1; // the energy is that of all copies
        mabd_gradient* g = gradient_rig_create(&alone, one);
        gradient_rig_values(&alone, one, (mabd_real)(0.1 + 0.2 * k), q);
        rig_check(mabd_gradient_run(g, q, single[k], &info, &error), &error, "run");
        loss += info.loss;
        mabd_gradient_destroy(g);
        for (int32_t i = 0; i < n; i++) p[k * n + i] = q[i];
    }
    rig.def.term_count = terms - 1;
    for (int32_t i = 0; i < n; i++) {
        rig.parameters[n + i] = rig.parameters[i];
        const bool of_body = rig.parameters[i].kind == MABD_PARAMETER_START_ANGULAR ||
                             rig.parameters[i].kind == MABD_PARAMETER_FORCE;
        rig.parameters[n + i].index += of_body                                            ? 2
                                       : rig.parameters[i].kind == MABD_PARAMETER_CONTROL ? 1
                                                                                          : 2;
    }
    for (int32_t i = 0; i < terms - 1; i++) {
        rig.terms[terms - 1 + i] = rig.terms[i];
        rig.terms[terms - 1 + i].index += 2;
    }
    rig.def.parameter_count = 2 * n, rig.def.term_count = 2 * (terms - 1);
    mabd_gradient* g = gradient_rig_create(&rig, both);
    rig_check(mabd_gradient_run(g, p, own, &info, &error), &error, "run");
    cr_expect(fabs((double)(info.loss - loss)) < 1e-14 * fabs((double)loss));
    for (int32_t i = 0; i < 2 * n; i++) {
        cr_expect(own[i] == single[i / n][i % n], "%d: %.17g, %.17g", (int)i, (double)own[i],
                  (double)single[i / n][i % n]);
    }
    mabd_gradient_destroy(g);
    mabd_model_destroy(one);
    mabd_model_destroy(both);
}

// ---- halved steps ------------------------------------------------------------------------------

// Three iterations do not suffice for all of the long steps of an arm: it takes them in parts, and
// the gradient goes back over the parts.
Test(gradient, through_halved_steps) {
    const mabd_integrator methods[] = {MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_BDF2,
                                       MABD_INTEGRATOR_TRBDF2};
    mabd_model* model = arm();
    for (int i = 0; i < 3; i++) {
        gradient_rig rig = make_rig(methods[i]);
        mabd_real p[GRADIENT_MAX], own[GRADIENT_MAX];
        mabd_error error = {0};
        mabd_gradient_info info;
        rig.sim.max_iterations = 3, rig.sim.h = (mabd_real)0.12;
        mabd_gradient* g = gradient_rig_create(&rig, model);
        gradient_rig_values(&rig, model, (mabd_real)0.1, p);
        rig_check(mabd_gradient_run(g, p, own, &info, &error), &error, "run");
        const double off = gradient_rig_compare(&rig, g, p, (mabd_real)0.002, false);
        printf("%-15s %d steps in parts, error %.1e\n", mabd_integrator_name(methods[i]),
               (int)info.non_smooth, off);
        cr_expect(info.non_smooth > 0 && off < 1e-6);
        mabd_gradient_destroy(g);
    }
    mabd_model_destroy(model);
}
