// SPDX-License-Identifier: Apache-2.0
// Steps of the impulse formulation that diverge end with a named error, long before numbers end;
// bodies that are driven as fast by what acts on them do not.

#include "support/impulse_rig.h" // first: criterion defines I

// ---- sweeps that gain energy -------------------------------------------------------------------

// Run until a step fails: it names body and time, and leaves the state before it, whose kinetic
// energy is not a hundred times what drives, gravity and the start gave.
static void expect_failure(const char* path, const mabd_sim_def* def, int steps) {
    mabd_error error = {0};
    mabd_model* model = rig_file_model(path, NULL, NULL);
    mabd_sim* sim = rig_sim(model, def);
    const mabd_measure start = mabd_sim_measure(sim);
    double most = 0;
    int i = 0;
    while (i < steps && mabd_sim_step(sim, NULL, &error) == MABD_OK) {
        const mabd_energy_balance b = mabd_sim_get_energy_balance(sim);
        const mabd_measure now = mabd_sim_measure(sim);
        const double fall = (double)(start.gravity - now.gravity);
        const double given = fmax(fall, 0) + fabs((double)b.drives) + fabs((double)b.scripts);
        if (now.kinetic > 100) most = fmax(most, (double)now.kinetic / given);
        i++;
    }
    printf("%s: step %d of %d, %.3g times the energy given: %s\n", path, i, steps, most,
           error.text);
    cr_expect(lt(int, i, steps), "%s", path);
    cr_expect(eq(int, error.status, MABD_ERR_DIVERGED));
    cr_expect(strstr(error.text, "the motion diverges at body") != NULL);
    cr_expect(le(int, 0, error.body));
    cr_expect(lt(dbl, fabs((double)error.time - i * (double)def->h), 1e-9));
    cr_expect(lt(dbl, most, 100), "%s", path);
    rig_destroy(sim, model);
}

// Without relaxation errors of positions enter the impulses that the next substep begins with.
Test(impulse_divergence, sweeps_that_gain_energy_fail) {
    const mabd_sim_def figure = impulse_def(0.033, 4, 1, 0), tree = impulse_def(0.01, 4, 1, 0);
    expect_failure("scenes/figure.json", &figure, 100);
    expect_failure("scenes/tree.json", &tree, 200);
    expect_failure("scenes/walker.json", &tree, 100);
}

// ---- bodies that are driven --------------------------------------------------------------------

// A cube of 8 kg and 0.2 m, that moves 100 m in a step of 10 ms after ten steps: by what is set,
// gravity, an applied force, a motor, a spring, a rigid servo, the wind, a script that pulls it.
typedef enum cause { SET, GRAVITY, FORCE, MOTOR, SPRING, SERVO, WIND, SCRIPT, CAUSES } cause;

#define FAST   1e4 // [m/s]
#define WITHIN 0.1 // [s]

static mabd_axis_def axis_of(cause by) {
    const double load = 8 * FAST / WITHIN;
    mabd_axis_def axis = {.stiffness = 0};
    if (by == MOTOR) axis.motor = mabd_signal_constant((mabd_real)load);
    if (by == SPRING) axis.stiffness = 8, axis.rest = (mabd_real)FAST; // 1 rad/s
    if (by == SERVO) {
        axis.servo = (mabd_signal){
            .kind = MABD_SIGNAL_SINE, .amplitude = (mabd_real)FAST, .frequency = (mabd_real)0.2};
        axis.servo_rigid = true;
    }
    return axis;
}

static mabd_model* driven(cause by) {
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(by == GRAVITY ? (mabd_real)(-FAST / WITHIN) : 0);
    const mabd_real size[3] = {(mabd_real)0.2, (mabd_real)0.2, (mabd_real)0.2};
    const mabd_real along[3] = {1, 0, 0};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    body.geom_count = 1, body.geoms = &geom;
    if (by == WIND) body.drag = 800;
    const int32_t cube = rig_add_body(scene, &body);
    int32_t base = MABD_WORLD;
    if (by == WIND) {
        const mabd_signal strength = mabd_signal_constant((mabd_real)FAST);
        rig_check(mabd_scene_set_wind(scene, along, &strength, &error), &error, "wind");
    }
    if (by == SCRIPT) {
        body.motion = MABD_MOTION_SCRIPTED, body.script.direction[0] = 1;
        body.script.translation = (mabd_signal){.kind = MABD_SIGNAL_SINE,
                                                .value = (mabd_real)-FAST,
                                                .amplitude = (mabd_real)FAST,
                                                .frequency = (mabd_real)0.2,
                                                .phase = MABD_PI / 2};
        base = rig_add_body(scene, &body);
    }
    const mabd_axis_def axis = axis_of(by);
    if (by == MOTOR || by == SPRING || by == SERVO) {
        mabd_joint_def slide = mabd_default_joint_def();
        slide.type = MABD_JOINT_PRISMATIC, slide.a = MABD_WORLD, slide.b = cube;
        slide.axes[0] = &axis;
        rig_check(mabd_scene_add_joint(scene, &slide, NULL, &error), &error, "slide");
    }
    if (by == SCRIPT) rig_add_joint(scene, MABD_JOINT_FIXED, base, cube, 0, 0);
    return rig_model(scene);
}

Test(impulse_divergence, bodies_that_are_driven_fast_do_not_fail) {
    static const char* const names[CAUSES] = {"set",    "gravity", "force", "motor",
                                              "spring", "servo",   "wind",  "script"};
    for (int by = 0; by < CAUSES; by++) {
        mabd_error error = {0};
        mabd_model* model = driven((cause)by);
        const mabd_sim_def def = impulse_def(0.01, 4, 1, 1);
        mabd_sim* sim = rig_sim(model, &def);
        const mabd_real v[6] = {(mabd_real)FAST, 0, 0}, push[3] = {(mabd_real)(8 * FAST / WITHIN)};
        const int32_t cube = 0;
        double most = 0;
        for (int i = 0; i < 100; i++) {
            mabd_real u[6];
            if (by == SET && i == 5) {
                rig_check(mabd_sim_set_state(sim, NULL, NULL, v, NULL, &error), &error, "state");
            }
            if (by == FORCE && i < 10) {
                rig_check(mabd_sim_apply_force(sim, 1, &cube, push, NULL, &error), &error, "push");
            }
            rig_step(sim);
            mabd_sim_get_state(sim, NULL, NULL, u, NULL);
            most = fmax(most, rig_norm(u));
        }
        printf("%-8s %.3g m/s\n", names[by], most);
        cr_expect(lt(dbl, FAST / 2, most), "%s", names[by]);
        rig_destroy(sim, model);
    }
}
