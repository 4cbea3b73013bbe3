// SPDX-License-Identifier: Apache-2.0
// Gradients of losses on forces of servos and drives, on torques of damped rotations, and on
// coordinates of ball joints without axes of their own, against differences of fourth order; forces
// of servos in closed form.

#include "support/gradient_rig.h"

static const mabd_integrator methods[] = {MABD_INTEGRATOR_EULER, MABD_INTEGRATOR_BDF2,
                                          MABD_INTEGRATOR_TRBDF2};
static const mabd_integrator redmax_methods[] = {
    MABD_INTEGRATOR_EULER,           MABD_INTEGRATOR_BDF2,
    MABD_INTEGRATOR_SDIRK2,          MABD_INTEGRATOR_SEMI_IMPLICIT,
    MABD_INTEGRATOR_LINEAR_IMPLICIT, MABD_INTEGRATOR_RK45};

// An upper arm on a hinge with the given axis, a lower arm on a ball joint.
static mabd_model* arm(const char* axis, const char* ball) {
    char text[2048];
    snprintf(text, sizeof text,
             "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
             " {\"name\": \"upper\", \"mass\": 1.2,"
             "  \"inertia\": [0.03, 0.05, 0.06, 0.004, -0.003, 0.002],"
             "  \"position\": [0.25, 0, 0], \"velocity\": [0, 0, -0.25],"
             "  \"angular_velocity\": [0, 1, 0]},"
             " {\"name\": \"lower\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025],"
             "  \"center\": [0.01, -0.02, 0.03], \"position\": [0.75, 0.1, 0],"
             "  \"rotation\": [0.9, 0.1, -0.2, 0.3], \"velocity\": [0, 0, -0.75],"
             "  \"angular_velocity\": [1, 2, -1.5]}],"
             " \"joints\": [{\"name\": \"hinge\", \"type\": \"hinge\", \"a\": \"world\","
             "  \"b\": \"upper\", \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0],"
             "  \"axes\": {\"rx\": {%s}}},"
             " {\"name\": \"ball\", \"type\": \"ball\", \"a\": \"upper\", \"b\": \"lower\","
             "  \"anchor\": [0.5, 0, 0]%s}], \"start\": {\"close\": true}}",
             axis, ball);
    return rig_text_model(text);
}

static void add_parameters(gradient_rig* rig, const char* axis) {
    gradient_rig_add(rig, MABD_PARAMETER_START_ANGULAR, 0, 1)->scale = 0.1;
    gradient_rig_add(rig, MABD_PARAMETER_START_ANGULAR, 1, 2)->scale = 0.1;
    gradient_rig_add(rig, MABD_PARAMETER_START_ROTATION, 1, 0)->scale = 0.1;
    gradient_rig_add(rig, MABD_PARAMETER_START_ROTATION, 0, 1)->scale = 0.1;
    gradient_rig_add(rig, MABD_PARAMETER_MASS, 1, 0)->scale = 0.1;
    gradient_rig_add(rig, MABD_PARAMETER_INERTIA, 1, 3)->scale = 0.002;
    gradient_rig_add(rig, MABD_PARAMETER_CENTER, 1, 2)->scale = 0.01;
    gradient_rig_add(rig, MABD_PARAMETER_GRAVITY, 0, 2);
    gradient_rig_add(rig, MABD_PARAMETER_ANCHOR_B, 1, 0)->scale = 0.02;
    gradient_rig_add(rig, MABD_PARAMETER_AXIS_B, 0, 2)->scale = 0.05;
    mabd_parameter* force = gradient_rig_add(rig, MABD_PARAMETER_FORCE, 1, 1);
    force->first = 3, force->last = 5;
    const bool servo = strstr(axis, "servo") || strstr(axis, "motor");
    const bool rigid = strstr(axis, "rigid");
    const int64_t piece = rigid ? 1 : 3; // a position that is held for long stops the axis
    for (int64_t first = 2; servo && first + piece <= rig->def.steps; first += piece) {
        mabd_parameter* p = gradient_rig_add(rig, MABD_PARAMETER_CONTROL, 0, 0);
        p->first = first, p->last = first + piece - 1, p->scale = rigid ? 0.001 : 0.1;
    }
    if (strstr(axis, "\"stiffness\"") && !rigid) {
        gradient_rig_axis(rig, MABD_PARAMETER_STIFFNESS, 0, MABD_AXIS_RX, 0.1);
        gradient_rig_axis(rig, MABD_PARAMETER_REST, 0, MABD_AXIS_RX, 0.1);
    }
    if (strstr(axis, "\"damping\"") && !rigid) {
        gradient_rig_axis(rig, MABD_PARAMETER_DAMPING, 0, MABD_AXIS_RX, 0.05);
    }
    if (strstr(axis, "friction")) {
        gradient_rig_axis(rig, MABD_PARAMETER_FRICTION, 0, MABD_AXIS_RX, 0.05);
    }
}

static void compare_by(const char* name, gradient_rig* rig, const mabd_model* model,
                       mabd_real step) {
    mabd_real p[GRADIENT_MAX];
    mabd_gradient* g = gradient_rig_create(rig, model);
    gradient_rig_values(rig, model, 0, p);
    const double error = gradient_rig_compare(rig, g, p, step, false);
    printf("%-28s %-15s error %.1e\n", name, mabd_integrator_name(rig->sim.integrator), error);
    cr_expect(error < 1e-6, "%s", name);
    mabd_gradient_destroy(g);
}

static void compare(const char* name, gradient_rig* rig, const mabd_model* model) {
    compare_by(name, rig, model, (mabd_real)0.025);
}

// True if an integrator of redmax takes the law of an axis.
static bool has_law(const char* axis, mabd_integrator method) {
    const bool held = strstr(axis, "rigid") || strstr(axis, "motor_velocity");
    const bool law = held || strstr(axis, "max_force") || strstr(axis, "friction");
    const bool limited = strstr(axis, "rigid") && strstr(axis, "max_force");
    const bool ball = strstr(axis, "\"ry\"") || strstr(axis, "\"rx\"");
    if (method == MABD_INTEGRATOR_RK45) return !law;
    // its first stage jumps to a target that begins to be set, up to the limit: an edge
    if (method == MABD_INTEGRATOR_SDIRK2 && limited) return false;
    if (method == MABD_INTEGRATOR_LINEAR_IMPLICIT && ball) return !law;
    return method != MABD_INTEGRATOR_SEMI_IMPLICIT || !law;
}

Test(gradient_losses, forces_of_servos) {
    static const char* const axes[][2] = {
        {"servo",
         "\"servo\": 0.4, \"servo_stiffness\": 30, \"servo_damping\": 2, \"damping\": 0.3"},
        {"servo and spring", "\"servo\": {\"sine\": {\"amplitude\": 0.3, \"frequency\": 2}},"
                             " \"servo_stiffness\": 30, \"stiffness\": 5, \"armature\": 0.1"},
        {"rigid servo", "\"servo\": {\"ramp\": {\"to\": 0.2, \"end\": 0.2}},"
                        " \"servo_rigid\": true, \"stiffness\": 3, \"damping\": 0.4"},
        {"limited servo", "\"servo\": 0.4, \"servo_stiffness\": 30, \"servo_damping\": 2,"
                          " \"max_force\": 200, \"damping\": 0.2"},
        {"servo at its limit", "\"servo\": 2, \"servo_stiffness\": 300, \"max_force\": 5,"
                               " \"damping\": 0.2"},
        {"limited rigid servo",
         "\"servo\": {\"ramp\": {\"to\": 0.2, \"end\": 0.2}}, \"friction\": 1,"
         " \"servo_rigid\": true, \"max_force\": 500"},
        {"rate motor", "\"motor_velocity\": 1.1, \"stiffness\": 4, \"damping\": 0.2,"
                       " \"friction\": 0.5"},
        {"motor", "\"motor\": {\"sine\": {\"amplitude\": 3, \"frequency\": 2}}, \"damping\": 0.1"},
    };
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        mabd_model* model = arm(axes[i][1], "");
        for (int k = 0; k < 3; k++) {
            gradient_rig rig = gradient_rig_make(methods[k], 0.01, 9);
            add_parameters(&rig, axes[i][1]);
            mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_CONTROL_EFFORT, 0, 4, 9);
            t->axis = MABD_AXIS_RX, t->target[0] = 1, t->weight = 0.01;
            t = gradient_rig_term(&rig, MABD_LOSS_POINT, 1, 9, 9); // limits have no derivatives
            t->target[2] = -0.2, t->weight = 0.1;
            compare(axes[i][0], &rig, model);
        }
        for (int k = 0; k < 6; k++) {
            gradient_rig rig = gradient_rig_redmax(redmax_methods[k], (mabd_real)0.01, 9);
            if (!has_law(axes[i][1], redmax_methods[k])) continue;
            add_parameters(&rig, axes[i][1]);
            mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_CONTROL_EFFORT, 0, 4, 9);
            t->axis = MABD_AXIS_RX, t->target[0] = 1, t->weight = (mabd_real)0.01;
            t = gradient_rig_term(&rig, MABD_LOSS_POINT, 1, 9, 9);
            t->target[2] = (mabd_real)-0.2, t->weight = (mabd_real)0.1;
            compare_by(axes[i][0], &rig, model, (mabd_real)0.002); // larger ones meet limits
        }
        mabd_model_destroy(model);
    }
}

// Servos on the rotation vector of a ball joint, given from a or from b, and followed over turns.
Test(gradient_losses, forces_of_servos_on_balls_of_redmax) {
    static const char* const balls[][2] = {
        {"servo", "\"rx\": {\"servo\": 0.4, \"servo_stiffness\": 3, \"servo_damping\": 0.2},"
                  " \"ry\": {\"servo_damping\": 0.2, \"servo\": 0, \"servo_stiffness\": 0.1},"
                  " \"rz\": {\"servo_damping\": 0.2, \"servo\": 0, \"servo_stiffness\": 0.1}"},
        {"limited servo", "\"rx\": {\"servo\": 0.4, \"servo_stiffness\": 3, \"servo_damping\":"
                          " 0.2, \"max_force\": 50}"},
        {"rigid servo", "\"rx\": {\"servo\": {\"ramp\": {\"to\": 0.2, \"end\": 0.2}},"
                        " \"servo_rigid\": true, \"stiffness\": 2},"
                        " \"ry\": {\"stiffness\": 1, \"damping\": 0.2},"
                        " \"rz\": {\"damping\": 0.1}"},
        {"rate drive", "\"rx\": {\"motor_velocity\": 1.1, \"damping\": 0.1},"
                       " \"ry\": {\"damping\": 0.2}, \"rz\": {\"damping\": 0.3}"},
    };
    for (size_t i = 0; i < sizeof balls / sizeof balls[0]; i++) {
        for (int k = 0; k < 6; k++) {
            char text[2048];
            const bool back = k % 2;
            if (!has_law(balls[i][1], redmax_methods[k])) continue;
            snprintf(text, sizeof text,
                     "{\"gravity\": [0.3, 0.1, -9.81], \"bodies\": ["
                     " {\"name\": \"upper\", \"mass\": 1.2, \"inertia\": [0.03, 0.05, 0.06],"
                     "  \"position\": [0.25, 0, 0], \"angular_velocity\": [0, 1, 0]},"
                     " {\"name\": \"lower\", \"mass\": 0.7, \"inertia\": [0.02, 0.03, 0.025],"
                     "  \"position\": [0.75, 0.1, 0], \"angular_velocity\": [0, 2, -1.5]}],"
                     " \"joints\": [{\"type\": \"hinge\", \"b\": \"upper\", \"anchor\":"
                     " [0, 0, 0], \"axis\": [0, 1, 0]},"
                     " {\"type\": \"ball\", \"a\": \"%s\", \"b\": \"%s\", \"anchor\":"
                     " [0.5, 0, 0], \"axes\": {%s}}], \"start\": {\"close\": true}}",
                     back ? "lower" : "upper", back ? "upper" : "lower", balls[i][1]);
            mabd_model* model = rig_text_model(text);
            gradient_rig rig = gradient_rig_redmax(redmax_methods[k], (mabd_real)0.01, 6);
            gradient_rig_three(&rig, MABD_PARAMETER_START_ANGULAR, 1, (mabd_real)0.1);
            gradient_rig_three(&rig, MABD_PARAMETER_AXIS_B, 1, (mabd_real)0.05);
            gradient_rig_three(&rig, MABD_PARAMETER_GRAVITY, 0, 1);
            gradient_rig_add(&rig, MABD_PARAMETER_MASS, 1, 0)->scale = (mabd_real)0.1;
            if (strstr(balls[i][1], "\"damping\"")) {
                gradient_rig_axis(&rig, MABD_PARAMETER_DAMPING, 1, MABD_AXIS_RZ, (mabd_real)0.05);
            }
            if (strstr(balls[i][1], "\"ry\": {\"stiffness\"")) {
                gradient_rig_axis(&rig, MABD_PARAMETER_STIFFNESS, 1, MABD_AXIS_RY, (mabd_real)0.1);
            }
            mabd_parameter* p = gradient_rig_add(&rig, MABD_PARAMETER_CONTROL, 0, 0);
            p->first = 2, p->last = 6, p->scale = (mabd_real)0.01;
            mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_CONTROL_EFFORT, 1, 2, 6);
            t->axis = MABD_AXIS_RX, t->target[0] = 1, t->weight = (mabd_real)0.1;
            compare(balls[i][0], &rig, model);
            mabd_model_destroy(model);
        }
    }
}

// A rod that a servo holds against gravity: kp (p - x) = m g l cos x, whatever holds it.
Test(gradient_losses, a_servo_holds_a_rod) {
    static const struct {
        const char* axis;
        double force; // of the drive in rest
    } cases[] = {{"\"servo\": 0, \"servo_rigid\": true", -2 * 10 * 0.5},
                 {"\"servo\": 0, \"servo_rigid\": true, \"stiffness\": 8, \"rest\": -0.25", -8},
                 {"\"servo\": 0, \"servo_rigid\": true, \"max_force\": 50", -10},
                 {"\"motor_velocity\": 0", -10},
                 {"\"motor_velocity\": 0, \"motor\": -4", -10},
                 {"\"servo\": -0.5, \"servo_stiffness\": 20, \"servo_damping\": 3", -10}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"gravity\": [0, 0, -10], \"bodies\": [{\"name\": \"rod\", \"mass\": 2,"
                 " \"inertia\": [0.1, 0.1, 0.1], \"position\": [0.5, 0, 0]}],"
                 " \"joints\": [{\"type\": \"hinge\", \"a\": \"world\", \"b\": \"rod\","
                 " \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"axes\": {\"rx\": {%s}}}]}",
                 cases[i].axis);
        mabd_model* model = rig_text_model(text);
        for (int k = 0; k < 6; k++) {
            gradient_rig rig = k < 3 ? gradient_rig_make(methods[k], 0.01, 5)
                                     : gradient_rig_redmax(redmax_methods[k - 3], 0.01, 5);
            mabd_error error = {0};
            mabd_gradient_info info;
            mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_CONTROL_EFFORT, 0, 5, 5);
            t->axis = MABD_AXIS_RX, t->target[0] = (mabd_real)cases[i].force - 1;
            mabd_gradient* g = gradient_rig_create(&rig, model);
            rig_check(mabd_gradient_run(g, NULL, NULL, &info, &error), &error, "run");
            cr_expect(fabs(info.loss - 1) < 1e-9, "case %zu: %.12g", i, (double)info.loss);
            mabd_gradient_destroy(g);
        }
        mabd_model_destroy(model);
    }
}

Test(gradient_losses, torques_of_damped_rotations) {
    static const char* const balls[] = {
        ", \"axes\": {\"rx\": {\"damping\": 0.2}, \"ry\": {\"damping\": 0.1, \"stiffness\": 2}}",
        ", \"axes\": {\"rx\": {\"damping\": 0.2, \"stiffness\": 1}, \"ry\": {\"armature\": 0.02,"
        " \"damping\": 0.05}, \"rz\": {\"armature\": 0.01, \"stiffness\": 2}}"};
    for (int i = 0; i < 2; i++) {
        mabd_model* model = arm("\"damping\": 0.1", balls[i]);
        for (int k = 0; k < 3; k++) {
            gradient_rig rig = gradient_rig_make(methods[k], 0.01, 6);
            add_parameters(&rig, "\"damping\"");
            gradient_rig_axis(&rig, MABD_PARAMETER_DAMPING, 1, MABD_AXIS_RX, 0.05);
            if (i == 1) gradient_rig_axis(&rig, MABD_PARAMETER_ARMATURE, 1, MABD_AXIS_RZ, 0.002);
            for (int axis = 0; axis < 6; axis++) {
                mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_JOINT_FORCE, 1, 3, 6);
                t->axis = axis, t->weight = axis < 3 ? 1e-4 : 0.1, t->target[0] = 0.3 * axis - 1;
            }
            compare(i == 0 ? "dampers" : "dampers and armature", &rig, model);
        }
        mabd_model_destroy(model);
    }
}

// The axes of a plain ball joint are those of the world at the start: start rotations move them.
Test(gradient_losses, coordinates_of_plain_balls) {
    mabd_model* model = arm("\"damping\": 0.1", "");
    for (int k = 0; k < 3; k++) {
        gradient_rig rig = gradient_rig_make(methods[k], 0.01, 12);
        add_parameters(&rig, "\"damping\"");
        for (int axis = MABD_AXIS_RX; axis < MABD_AXIS_COUNT; axis++) {
            mabd_loss_term* t = gradient_rig_term(&rig, MABD_LOSS_COORDINATE, 1, 5, 12);
            t->axis = axis, t->target[0] = 0.1 * axis, t->weight = 1 + axis;
            t = gradient_rig_term(&rig, MABD_LOSS_RATE, 1, 8, 11);
            t->axis = axis, t->target[0] = 0.3, t->weight = 0.1;
        }
        compare("coordinates of a plain ball", &rig, model);
    }
    mabd_model_destroy(model);
}
