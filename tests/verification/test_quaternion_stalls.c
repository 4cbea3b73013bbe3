// SPDX-License-Identifier: Apache-2.0
// Newton iterations of the quaternion formulation that stall: at a singular pose, where halves of
// the step pass; at rows that no finite force closes, which are accepted and reported; at residuals
// that are round-off; and targets that are in concert at the ends of steps only. Iterations that
// would flip a joint over are shortened.

#include "support/rig.h"
#include "support/sanitized.h"

static mabd_sim_def stall_def(mabd_preset preset, double h) {
    mabd_sim_def def = rig_def(preset, (mabd_real)h);
    def.formulation = MABD_FORMULATION_QUATERNION;
    return def;
}

// At 6 rad/s and h = 5 ms the sphere is in full expansion at the end of a step, t = 0.19 s: 49
// freedoms open, and the rows stay open by 9e-9 m in iterations at that pose. In halves all rows
// close to round-off. At 20 rad/s, where the prototype of the design fails in step 25, no step of
// the passage needs them.
Test(quaternion_stalls, steps_at_a_singular_pose_are_halved) {
    const struct {
        const char* spin;
        int steps;
    } cases[2] = {{"6", 40}, {"20", 30}};
    for (int k = 0; k < 2; k++) {
        mabd_model* model = rig_file_model("scenes/hoberman-sphere.json", "spin", cases[k].spin);
        const mabd_sim_def def = stall_def(MABD_PRESET_BALANCED, 0.005);
        mabd_sim* sim = rig_sim(model, &def);
        int halved = 0, most = 0;
        double gap = 0;
        for (int i = 0; i < AMOUNT(cases[k].steps, 2); i++) {
            const mabd_step_info info = rig_step(sim);
            cr_expect(info.converged, "%s rad/s, step %d", cases[k].spin, i);
            gap = fmax(gap, fmax((double)info.gap, (double)info.angle_error));
            halved += info.substeps > 1;
            if (info.iterations > most) most = info.iterations;
        }
        printf("hoberman, %s rad/s: gap %.1e, %d steps halved, at most %d iterations\n",
               cases[k].spin, gap, halved, most);
        cr_expect(gap < 1e-13, "%g", gap);
        if (AMOUNT(1, 0)) cr_expect(halved == (k == 0), "%d", halved);
        cr_expect(most <= 40, "%d iterations", most);
        rig_destroy(sim, model);
    }
}

// Two rods of length l in a straight line between two fixed points, across gravity: at rest the
// force along them is infinite. Rows are springs then, and the line sags by d with d^2/l the sum of
// three gaps; the supports carry the weight.
Test(quaternion_stalls, rows_that_no_force_closes_are_accepted_and_reported) {
    const mabd_preset presets[2] = {MABD_PRESET_BALANCED, MABD_PRESET_EXACT};
    for (int k = 0; k < 2; k++) {
        const double l = 1, width = 0.1, weight = 2 * 1000 * l * width * width * 9.81;
        mabd_scene* scene = rig_scene((mabd_real)-9.81);
        const int32_t one = rig_add_rod(scene, 0, (mabd_real)l, (mabd_real)width, 0);
        const int32_t two = rig_add_rod(scene, (mabd_real)l, (mabd_real)l, (mabd_real)width, 0);
        rig_add_joint(scene, MABD_JOINT_BALL, MABD_WORLD, one, 0, 0);
        rig_add_joint(scene, MABD_JOINT_BALL, one, two, (mabd_real)l, 0);
        rig_add_joint(scene, MABD_JOINT_BALL, two, MABD_WORLD, (mabd_real)(2 * l), 0);
        mabd_model* model = rig_model(scene);
        const mabd_sim_def def = stall_def(presets[k], 0.01);
        mabd_sim* sim = rig_sim(model, &def);
        double gap = 0;
        int open = 0, iterations = 0;
        for (int i = 0; i < 60; i++) {
            const mabd_step_info info = rig_step(sim);
            gap = fmax(gap, (double)info.gap);
            open += !info.converged, iterations += info.iterations;
            if (!info.converged) cr_expect(info.worst_joint >= 0 && info.substeps == 1);
        }
        mabd_real forces[18], x[6];
        mabd_sim_get_joint_forces(sim, forces);
        mabd_sim_get_state(sim, x, NULL, NULL, NULL);
        const double held = (double)(forces[2] - forces[14]); // on rod one, on the world
        printf("line: gap %.1e m, %d steps not converged, %.1f iterations a step, sag %.1e m,"
               " supports carry %.6f of the weight\n",
               gap, open, iterations / 60.0, -2 * (double)x[2], held / weight);
        cr_expect(open > 0 && gap < 1e-6, "%d steps, gap %g", open, gap);
        cr_expect(fabs(2 * (double)x[2]) <= sqrt(3 * l * gap), "%g m", (double)x[2]);
        cr_expect(fabs(held / weight - 1) < 1e-3, "%g N of %g", held, weight);
        rig_destroy(sim, model);
    }
}

// Bodies of 0.3 g carry 49 kg in the figure: 1e-12 is below the round-off of their torques, which
// is reported. All steps converge, by both matrices.
Test(quaternion_stalls, residuals_at_round_off_end_the_iteration) {
    const mabd_newton newtons[2] = {MABD_NEWTON_EXACT, MABD_NEWTON_SYMMETRIC};
    mabd_model* model = rig_file_model("scenes/figure.json", NULL, NULL);
    for (int k = 0; k < 2; k++) {
        mabd_sim_def def = stall_def(MABD_PRESET_EXACT, 0.033);
        def.quaternion.newton = newtons[k], def.quaternion.solver = MABD_SOLVER_GENERAL;
        mabd_sim* sim = rig_sim(model, &def);
        double gap = 0, round_off = 0;
        int iterations = 0;
        const int steps = AMOUNT(40, 3);
        for (int i = 0; i < steps; i++) {
            const mabd_step_info info = rig_step(sim);
            cr_expect(info.converged && info.retries == 0, "step %d", i);
            gap = fmax(gap, (double)info.gap), iterations += info.iterations;
            round_off = fmax(round_off, (double)info.quaternion.round_off);
        }
        printf("figure: gap %.1e m, residual %.1e, %.2f iterations a step\n", gap, round_off,
               (double)iterations / steps);
        cr_expect(gap < 1e-13, "%g", gap);
        if (AMOUNT(1, 0)) cr_expect(round_off > 1e-12 && round_off < 1e-9, "%g", round_off);
        cr_expect(iterations <= 5 * steps, "%d iterations", iterations);
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// A parallel crank: crank and rocker, 0.2 m, turn alike. Both are driven; the rocker follows the
// crank at the ends of steps, through a table whose lines between them miss it by p'' h^2/8, 6e-4
// rad: the first solve of trbdf2, which starts BDF2, has no pose. Oracle: the angles at the ends of
// steps, p = 0.3 - 0.3 cos(4 pi t) of both.
Test(quaternion_stalls, targets_in_concert_at_ends_of_steps_start_by_euler) {
    enum { STEPS = 20 };
    const double h = 0.01, pi = 3.14159265358979323846;
    char text[4000], table[1500] = "", times[700] = "";
    for (int i = 0; i <= STEPS; i++) {
        char one[40];
        snprintf(one, sizeof one, "%s%.17g", i ? ", " : "", 0.3 - 0.3 * cos(4 * pi * i * h));
        strcat(table, one);
        snprintf(one, sizeof one, "%s%.17g", i ? ", " : "", i * h);
        strcat(times, one);
    }
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, 0], \"bodies\": ["
             "{\"name\": \"crank\", \"shape\": \"box\", \"size\": [0.02, 0.02, 0.2],"
             " \"position\": [0, 0, 0.1]},"
             "{\"name\": \"rod\", \"shape\": \"box\", \"size\": [0.5, 0.02, 0.02],"
             " \"position\": [0.25, 0, 0.2]},"
             "{\"name\": \"rocker\", \"shape\": \"box\", \"size\": [0.02, 0.02, 0.2],"
             " \"position\": [0.5, 0, 0.1]}], \"joints\": ["
             "{\"type\": \"hinge\", \"name\": \"drive\", \"b\": \"crank\", \"axis\": [0, 1, 0],"
             " \"anchor\": [0, 0, 0], \"axes\": {\"rx\": {\"servo_rigid\": true, \"servo\":"
             " {\"sine\": {\"offset\": 0.3, \"amplitude\": 0.3, \"frequency\": 2,"
             " \"phase\": -1.5707963267948966}}}}},"
             "{\"type\": \"hinge\", \"a\": \"crank\", \"b\": \"rod\", \"axis\": [0, 1, 0],"
             " \"anchor\": [0, 0, 0.2]},"
             "{\"type\": \"hinge\", \"a\": \"rod\", \"b\": \"rocker\", \"axis\": [0, 1, 0],"
             " \"anchor\": [0.5, 0, 0.2]},"
             "{\"type\": \"hinge\", \"name\": \"follow\", \"b\": \"rocker\", \"axis\": [0, 1, 0],"
             " \"anchor\": [0.5, 0, 0], \"axes\": {\"rx\": {\"servo_rigid\": true, \"servo\":"
             " {\"table\": {\"times\": [%s], \"values\": [%s]}}}}}]}",
             times, table);
    mabd_model* model = rig_text_model(text);
    for (int solver = 0; solver < 2; solver++) {
        mabd_sim_def def = stall_def(MABD_PRESET_BALANCED, h);
        def.quaternion.solver = solver ? MABD_SOLVER_AUTO : MABD_SOLVER_GENERAL;
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < STEPS; i++) {
            const mabd_step_info info = rig_step(sim);
            cr_expect(info.converged && info.substeps == 1, "step %d", i);
            cr_expect(eq(int, info.retries, i == 0));
            cr_expect(info.gap < 1e-10, "step %d: %g", i, (double)info.gap);
        }
        mabd_real q[12];
        mabd_sim_get_state(sim, NULL, q, NULL, NULL);
        const double p = 0.3 - 0.3 * cos(4 * pi * STEPS * h);
        for (int b = 0; b < 3; b += 2) {
            const double angle = 2 * atan2((double)q[4 * b + 2], (double)q[4 * b]);
            cr_expect(fabs(angle - p) < 1e-9, "%g and %g rad", angle, p);
        }
        mabd_sim_destroy(sim);
    }
    mabd_model_destroy(model);
}

// Four boxes on hinges turn by 4 to 20 rad a step. Full increments of the iteration flip hinges
// over, from where it takes long ways back: 63 iterations in ten steps if they are accepted.
static const char tumbling[] =
    "{'gravity': [0, 0, 0], 'bodies': ["
    "{'name': 'a', 'shape': 'box', 'size': [0.2, 0.03, 0.05], 'position': [0, 0, 0],"
    " 'angular_velocity': [-67, 38, 27]},"
    "{'name': 'b', 'shape': 'box', 'size': [0.2, 0.03, 0.05], 'position': [0.2, 0, 0],"
    " 'angular_velocity': [-4, -57, 59]},"
    "{'name': 'c', 'shape': 'box', 'size': [0.2, 0.03, 0.05], 'position': [0.4, 0, 0],"
    " 'angular_velocity': [-99, -26, 17]},"
    "{'name': 'd', 'shape': 'box', 'size': [0.2, 0.03, 0.05], 'position': [0.6, 0, 0],"
    " 'angular_velocity': [-54, -53, -92]}], 'joints': ["
    "{'type': 'hinge', 'a': 'a', 'b': 'b', 'anchor': [0.1, 0, 0], 'axis': [0.4, -1.1, -0.7]},"
    "{'type': 'hinge', 'a': 'b', 'b': 'c', 'anchor': [0.3, 0, 0], 'axis': [0, 1.6, 0.7]},"
    "{'type': 'hinge', 'a': 'c', 'b': 'd', 'anchor': [0.5, 0, 0], 'axis': [1.6, 0, 1]}]}";

Test(quaternion_stalls, iterations_do_not_flip_joints) {
    char text[sizeof tumbling];
    memcpy(text, tumbling, sizeof text);
    for (char* c = text; *c; c++) *c = *c == '\'' ? '"' : *c;
    mabd_model* model = rig_text_model(text);
    mabd_sim_def def = stall_def(MABD_PRESET_BALANCED, 0.2);
    def.integrator = MABD_INTEGRATOR_EULER;
    mabd_sim* sim = rig_sim(model, &def);
    int iterations = 0;
    for (int i = 0; i < 10; i++) {
        const mabd_step_info info = rig_step(sim);
        iterations += info.iterations;
        cr_expect(info.converged && (double)info.quaternion.consistency > 1 - 1e-12, "step %d", i);
    }
    printf("tumbling hinges: %d iterations\n", iterations);
    cr_expect(iterations <= 58, "%d", iterations);
    rig_destroy(sim, model);
}
